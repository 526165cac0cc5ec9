"""``larbinpy state DIR``: what a state holds, whether it is sound, and for how many shards."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from larbinpy.cli.arguments import invoke
from larbinpy.errors import ConfigError, FormatError, StorageError
from larbinpy.frontier.inspect import LogState, LogView
from larbinpy.frontier.verify import Fault
from larbinpy.manifest import parse_manifest
from larbinpy.state import is_locked
from larbinpy.stateparts import RESHARD, SUFFIX_LIST, is_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.manifest import Manifest

MANIFEST: Final = "MANIFEST"


@dataclass(slots=True)
class StateView:
    """A state as one look found it."""

    path: Path
    manifest: Manifest | None
    is_running: bool
    shards: dict[int, LogState] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    """All there are; files are named from the state directory on."""


def state(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    return invoke(_state, "larbinpy state", arguments)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--verify", is_flag=True, help="Check every checksum; exit 1 when one is wrong.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
@click.option(
    "--reshard", "shards", metavar="N", type=click.IntRange(1, 256),
    help="Write the state again for N fetch processes (the crawl must not run).",
)  # fmt: skip
@click.argument("path", metavar="DIR", type=click.Path(path_type=Path))
def _state(path: Path, shards: int | None, *, verify: bool, is_json: bool) -> int:
    """Show what the state in DIR holds; nothing is changed, and a crawl may run.

    Segments and seen files of each shard, URLs that wait and that are done, how much no sync has
    covered yet, and damage.
    """
    if shards is not None:
        from larbinpy.reshard import reshard

        for line in reshard(path, shards):
            click.echo(line)
        return 0
    view = look(path, is_thorough=verify)
    click.echo(json.dumps(_as_json(view), indent=1) if is_json else "\n".join(_lines(view)))
    return 1 if verify and view.faults else 0


def look(path: Path, *, is_thorough: bool) -> StateView:
    """Look at all of a state.

    Raises:
        ConfigError: there is no state.
    """
    if not is_state(path):
        raise ConfigError(f"{path} is not a larbinpy state")
    view = StateView(path.absolute(), None, is_locked(path))
    try:
        view.manifest = parse_manifest((path / MANIFEST).read_bytes(), path / MANIFEST)
    except FileNotFoundError:
        view.faults.append(Fault(MANIFEST, 0, "missing"))
    except FormatError:
        view.faults.append(Fault(MANIFEST, 0, "checksum"))
    if view.manifest is not None:
        _look_at_shards(view, view.manifest, is_thorough=is_thorough)
        view.faults += _suffix_list_faults(path, view.manifest)
    return view


def _look_at_shards(view: StateView, manifest: Manifest, *, is_thorough: bool) -> None:
    for index in range(manifest.fetch_processes):
        name = f"shard-{index:02d}"
        if not (view.path / name).is_dir():
            is_begun = manifest.clean or any(view.path.glob("shard-*"))
            view.faults += [Fault(name, 0, "missing")] if is_begun else []
            continue
        log = LogView(view.path / name, manifest.key, is_thorough=is_thorough).state
        view.shards[index] = log
        view.faults += [Fault(f"{name}/{one.file}", one.offset, one.kind) for one in log.faults]
        if manifest.clean and log.torn_bytes:
            view.faults.append(Fault(name, 0, "torn though the crawl was stopped in order"))


def _suffix_list_faults(path: Path, manifest: Manifest) -> Iterator[Fault]:
    try:
        data = (path / SUFFIX_LIST).read_bytes()
    except FileNotFoundError:
        yield Fault(SUFFIX_LIST, 0, "missing")
    except OSError as error:
        raise StorageError(f"{path / SUFFIX_LIST}: {error.strerror}") from error
    else:
        if hashlib.sha256(data).hexdigest() != manifest.suffix_list:
            yield Fault(SUFFIX_LIST, 0, "checksum")


def _as_json(view: StateView) -> dict[str, object]:
    manifest = view.manifest
    return {
        "path": str(view.path),
        "running": view.is_running,
        "manifest": asdict(manifest) if manifest else None,
        "shards": [
            {"shard": index, **asdict(log), "unsynced_since": _unsynced_since(log)}
            for index, log in view.shards.items()
        ],
        "faults": [asdict(fault) for fault in view.faults],
    }


def _unsynced_since(log: LogState) -> float | None:
    """Seconds since 1970: nothing that is not on the medium is older; None when all is there."""
    return log.synced_us / 1e6 if log.unsynced and log.synced_us else None


def _lines(view: StateView) -> Iterator[str]:
    manifest = view.manifest
    yield f"{view.path}: {_status(view)}"
    if manifest:
        yield (
            f"version {manifest.version}, {manifest.fetch_processes} shards, seenSet"
            f" {manifest.seen_set}, urlMode {manifest.url_mode}"
        )
    for left in view.path.glob(f"{RESHARD}*"):
        yield f"{left.name}: a reshard was broken off; the next start deletes or finishes it"
    for index, log in view.shards.items():
        yield (
            f"shard {index}: {log.live:,} URLs wait ({log.retries:,} of them again),"
            f" {log.done:,} done; {log.segments} segments ({log.bytes:,} bytes),"
            f" {log.seen_files} seen files ({log.seen:,} URLs); {_sync_text(log)}"
        )
        if log.torn_bytes:
            yield f"shard {index}: {log.torn_bytes} bytes at the end are cut by the next start"
        if log.quarantined:
            yield f"shard {index}: {log.quarantined} damaged ranges or files in quarantine"
    for fault in view.faults:
        yield f"damaged: {fault.file} at {fault.offset}: {fault.kind}"
    yield f"{len(view.faults)} faults" if view.faults else "no damage"


def _status(view: StateView) -> str:
    if view.is_running:
        return "a crawl runs"
    return "stopped in order" if view.manifest and view.manifest.clean else "not stopped in order"


def _sync_text(log: LogState) -> str:
    if not log.unsynced:
        return "all synced"
    since = _unsynced_since(log)
    if since is None:
        return f"{log.unsynced:,} records not synced"
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(since))
    return f"{log.unsynced:,} records not synced, the oldest of {when} or later"
