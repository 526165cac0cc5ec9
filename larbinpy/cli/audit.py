"""``larbinpy audit [STATE]``: was anybody asked faster than was promised?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from larbinpy.cli.arguments import configure, invoke
from larbinpy.errors import ConfigError, StorageError
from larbinpy.politeness.audit import Audit, Breach, Promise, request_of
from larbinpy.report import timestamp

if TYPE_CHECKING:
    from larbinpy.config import Config

SHOWN: Final = 20
NOTHING: Final = Promise(0, sys.maxsize)
"""What is promised to addresses behind a proxy, which chooses them."""


def audit(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    return invoke(_audit, "larbinpy audit", arguments)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-c", "path", metavar="FILE", type=click.Path(path_type=Path),
    help="Configuration of the crawl (default: larbin.conf here, else the built-in defaults).",
)  # fmt: skip
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Replace a key.")
@click.argument("state", metavar="[STATE]", required=False, type=click.Path(path_type=Path))
def _audit(path: Path | None, overrides: tuple[str, ...], state: Path | None) -> int:
    """Prove from crawl.log that nobody was asked faster than promised, or list where it was.

    STATE is the directory of a crawl (default: stateDir).  What was promised are waitDuration,
    waitDurationIP and connectionsPerIp of the configuration.

    Exit codes: 0 nobody was, 1 somebody was, 2 usage or configuration.
    """
    config = configure(path, overrides).config
    log = (state or config.state_dir) / "crawl.log"
    seen = _read(log)
    count = 0
    for breach in seen.breaches(*_promises(config)):
        count += 1
        if count <= SHOWN:
            click.echo(_line(breach))
    asked = f"{seen.requests:,} requests to {seen.hosts:,} hosts and {seen.ips:,} addresses"
    click.echo(f"{asked}: {f'{count:,} too soon' if count else 'none too soon'}")
    return 1 if count else 0


def _promises(config: Config) -> tuple[Promise, Promise]:
    host = Promise(round(config.wait_duration_s * 1e6))
    if config.proxy:
        return host, NOTHING
    return host, Promise(round(config.ip_wait_s * 1e6), config.connections_per_ip)


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
