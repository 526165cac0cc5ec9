"""``larbinpy audit [STATE]``: was anybody asked faster than was promised?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from larbinpy import promises
from larbinpy.cli.arguments import configure, invoke
from larbinpy.errors import ConfigError, StorageError
from larbinpy.politeness.audit import Audit, Breach, request_of
from larbinpy.politeness.promise import NOTHING, Timeline
from larbinpy.report import timestamp
from larbinpy.stateparts import PROMISES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.politeness.promise import Promised

SHOWN: Final = 20


def audit(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    return invoke(_audit, "larbinpy audit", arguments)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-c", "path", metavar="FILE", type=click.Path(path_type=Path),
    help="Judge by this configuration (default: by what the crawl promised).",
)  # fmt: skip
@click.option(
    "--set", "overrides", metavar="KEY=VALUE", multiple=True,
    help="Judge by the configuration with this key replaced.",
)  # fmt: skip
@click.argument("state", metavar="[STATE]", required=False, type=click.Path(path_type=Path))
def _audit(path: Path | None, overrides: tuple[str, ...], state: Path | None) -> int:
    """Prove from crawl.log that nobody was asked faster than promised, or list where it was.

    STATE is the directory of a crawl (default: stateDir).  What was promised are waitDuration,
    waitDurationIP and connectionsPerIp; the crawl has kept them in promises.log.

    Exit codes: 0 nobody was, 1 somebody was, 2 usage or configuration.
    """
    config = configure(path, overrides).config
    directory = state or config.state_dir
    seen = _read(directory / "crawl.log")
    given = promises.of(config)
    is_given = path is not None or bool(overrides)
    history = [given] if is_given else _history(directory, given, seen.first_us)
    count = _show_breaches(seen, history)
    for line in _basis(history, is_given=is_given):
        click.echo(line)
    asked = f"{seen.requests:,} requests to {seen.hosts:,} hosts and {seen.ips:,} addresses"
    click.echo(f"{asked}: {f'{count:,} too soon' if count else 'none too soon'}")
    return 1 if count else 0


def _history(directory: Path, here: Promised, first_us: int) -> list[Promised]:
    """What a crawl has promised; ``here`` is put for what it did not keep, being of an older
    version."""
    kept = promises.kept(directory)
    is_whole = bool(kept) and kept[0].since_us <= first_us
    return kept if is_whole else [here, *kept]


def _basis(history: list[Promised], *, is_given: bool) -> Iterator[str]:
    """What the requests were judged by, the last ``SHOWN`` promises."""
    if is_given:
        yield f"judged by the configuration given: {_terms(history[0])}"
        return
    if not history[0].since_us:
        before = f" before {timestamp(history[1].since_us)}" if len(history) > 1 else ""
        yield (
            f"{PROMISES} does not tell what was promised{before}; judged by larbin.conf here, else"
            f" the defaults (-c FILE: by that): {_terms(history[0])}"
        )
    for promised in [one for one in history if one.since_us][-SHOWN:]:
        yield f"promised since {timestamp(promised.since_us)}: {_terms(promised)}"


def _terms(promised: Promised) -> str:
    host, ip = promised.host, promised.ip
    wait = f"waitDuration {host.wait_us / 1e6:g}"
    if ip == NOTHING:
        return f"{wait}; behind a proxy"
    return f"{wait}, waitDurationIP {ip.wait_us / 1e6:g}, connectionsPerIp {ip.at_a_time}"


def _show_breaches(seen: Audit, history: list[Promised]) -> int:
    """Print the first ``SHOWN`` breaches; returns how many there are."""
    hosts = Timeline((one.since_us, one.host) for one in history)
    ips = Timeline((one.since_us, one.ip) for one in history)
    count = 0
    for breach in seen.breaches(hosts, ips):
        count += 1
        if count <= SHOWN:
            click.echo(_line(breach))
    return count


def _read(log: Path) -> Audit:
    seen = Audit()
    try:
        with log.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                _add(seen, line, f"{log}:{number}")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ConfigError(f"{log}: {error.strerror}") from error
    except OSError as error:
        raise StorageError(f"{log}: {error.strerror}") from error
    return seen


def _add(seen: Audit, line: bytes, place: str) -> None:
    if not line.endswith(b"\n"):
        return  # a writer was killed in it
    try:
        request = request_of(line)
    except ValueError as error:
        raise StorageError(f"{place}: {error}") from error
    if request is not None:
        seen.add(request)


def _line(breach: Breach) -> str:
    what = "while another was under way" if breach.is_overlap else "too soon"
    return (
        f"{breach.who}: {timestamp(breach.start_us)} {breach.missing_us / 1000:.1f} ms {what}"
        f" (the one before: {timestamp(breach.before_us)})"
    )
