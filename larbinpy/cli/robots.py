"""``larbinpy robots``: what a robots.txt allows, and by which line."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from larbinpy.cli.arguments import configure, invoke
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
    help="Read this robots.txt instead of asking for one.",
)  # fmt: skip
@click.option(
    "--agent", metavar="NAME",
    help="Agent to answer for: what stands before its / or blank (default: UserAgent).",
)  # fmt: skip
@click.option(
    "-c", "path", metavar="FILE", type=click.Path(path_type=Path),
    help="Configuration of the crawl (default: larbin.conf here, else the built-in defaults).",
)  # fmt: skip
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Replace a key.")
@click.argument("words", nargs=-1, required=True, metavar="URL|PATH...")
def _robots(
    file: Path | None,
    agent: str | None,
    path: Path | None,
    overrides: tuple[str, ...],
    words: tuple[str, ...],
) -> int:
    """Say what a robots.txt allows.

    URL: its host's robots.txt is asked for, once, as a crawl would; nothing is kept of it.
    With --file, PATH is path and query as a URL holds them, percent-encoded.
    - reads them from standard input, one a line.

    Prints "allowed" or "disallowed", the number of the line that decides (0 = none does), and URL
    or path, with tabs between.  Below a URL, with a blank before, stand the answer, that line, whom
    it names, Crawl-delay and sitemaps.
    """
    asked = _all(words)
    if file is None:
        from larbinpy.cli.robots_url import explain

        config = configure(path, overrides).config
        explain(asked, config, _token(agent) or config.user_agent_token)
        return 0
    token = _token(agent) or configure(path, overrides).config.user_agent_token
    _decide(Rules.parse(_read(file), token), asked)
    return 0


def _decide(rules: Rules, asked: Iterator[bytes]) -> None:
    """A line for each path."""
    for path in asked:
        if not path.startswith(b"/"):
            raise ConfigError(f"{os.fsdecode(path)!r} is not a path: it must begin with /")
        allowed, number = rules.match(path)
        sys.stdout.buffer.write(verdict_line(path, number, is_allowed=allowed))
    sys.stdout.buffer.flush()


def verdict_line(asked: bytes, number: int, *, is_allowed: bool) -> bytes:
    """The line of one verdict."""
    return b"%b\t%d\t%b\n" % (b"allowed" if is_allowed else b"disallowed", number, asked)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error


def _token(agent: str | None) -> bytes:
    """The product token of an agent; empty means ours."""
    if agent is None:
        return b""
    match = TOKEN.match(agent)
    if match is None:
        raise ConfigError(f"--agent {agent!r}: must begin with a letter, _ or -")
    return match[0].encode()


def _all(words: tuple[str, ...]) -> Iterator[bytes]:
    """The words, and in the place of ``-`` the lines of standard input."""
    for word in words:
        if word == STANDARD_INPUT:
            lines = (line.rstrip(b"\r\n") for line in sys.stdin.buffer)
            yield from (line for line in lines if line)
        else:
            yield os.fsencode(word)
