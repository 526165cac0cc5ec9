"""``larbinpy robots --file FILE PATH...``: what a robots.txt allows, and by which line."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from larbinpy.cli.arguments import DEFAULT_FILE, invoke
from larbinpy.config import load
from larbinpy.config.schema import TOKEN
from larbinpy.errors import ConfigError
from larbinpy.politeness.robots import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDARD_INPUT: Final = "-"


def robots(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    return invoke(_robots, "larbinpy robots", arguments)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--file", "file", metavar="FILE", type=click.Path(path_type=Path),
    help="The robots.txt (fetching one is not in this version).",
)  # fmt: skip
@click.option(
    "--agent", metavar="NAME",
    help="Agent to answer for: what stands before its / or blank (default: UserAgent).",
)  # fmt: skip
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
def _robots(file: Path | None, agent: str | None, paths: tuple[str, ...]) -> int:
    """Say what a robots.txt allows.

    Prints "allowed" or "disallowed", the number of the line that decides (0 = none does), and the
    path, with tabs between.

    PATH is path and query as a URL holds them, percent-encoded; - reads them from standard input,
    one a line.
    """
    if file is None:
        raise ConfigError("--file FILE is needed: fetching a robots.txt is not in this version")
    rules = Rules.parse(_read(file), _token(agent))
    for asked in _all(paths):
        allowed, line = rules.decide(asked)
        verdict = b"allowed" if allowed else b"disallowed"
        sys.stdout.buffer.write(b"%b\t%d\t%b\n" % (verdict, line, asked))
    sys.stdout.buffer.flush()
    return 0


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error


def _token(agent: str | None) -> bytes:
    """The product token of an agent; None means ours, as a crawl from here would have it."""
    if agent is None:
        path = DEFAULT_FILE if DEFAULT_FILE.exists() else None
        return load(path, (), os.environ).config.user_agent_token
    match = TOKEN.match(agent)
    if match is None:
        raise ConfigError(f"--agent {agent!r}: must begin with a letter, _ or -")
    return match[0].encode()


def _all(paths: tuple[str, ...]) -> Iterator[bytes]:
    """The paths of the arguments, and in the place of ``-`` those of standard input."""
    for path in paths:
        if path == STANDARD_INPUT:
            lines = (line.rstrip(b"\r\n") for line in sys.stdin.buffer)
            yield from (_checked(line) for line in lines if line)
        else:
            yield _checked(os.fsencode(path))


def _checked(path: bytes) -> bytes:
    if not path.startswith(b"/"):
        raise ConfigError(f"{os.fsdecode(path)!r} is not a path: it must begin with /")
    return path
