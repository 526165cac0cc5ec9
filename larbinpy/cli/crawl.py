"""``larbinpy [OPTIONS] [URL]...``: crawl as a configuration file says."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from larbinpy import __version__
from larbinpy.cli.arguments import configure, invoke
from larbinpy.cli.dispatch import is_url, what_was_meant
from larbinpy.errors import ConfigError

if TYPE_CHECKING:
    from larbinpy.config import Config

HELP = """Crawl the web as a configuration file says.

URLs are added to its first URLs (startUrl).
A crawl that was stopped, however it was stopped, is continued by the same command.

\b
Other commands (COMMAND --help tells more):
  larbinpy check-config [FILE]   say what is wrong, or print what is in effect
  larbinpy robots URL            say what a robots.txt allows, and by which line
  larbinpy audit [STATE]         prove that nobody was asked faster than promised
  larbinpy demo                  crawl a synthetic web on this machine
  larbinpy import-larbin DIR     continue a real larbin's crawl
  larbinpy bench                 measure
  larbinpy state DIR             what a state holds, and whether it is sound
  larbinpy urls                  what waits
  larbinpy why URL               what became of a URL, and why
  larbinpy links --url URL FILE  what a parser sees, and what it follows

\b
Exit codes: 0 finished, 1 fault, 2 usage or configuration,
3 limit reached (resumable), 130 stopped by the operator.
"""


def crawl(arguments: list[str]) -> int:
    """Run the crawl that the arguments describe and return its exit code."""
    return invoke(_crawl, "larbinpy", arguments)


@click.command(help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-c", "path", metavar="FILE", type=click.Path(path_type=Path),
    help="Configuration file (default: larbin.conf here, else the built-in defaults).",
)  # fmt: skip
@click.option("--scratch", "-scratch", is_flag=True, help="Delete the state and start afresh.")
@click.option("--reload", "-reload", is_flag=True, help="Continue; an error without a state.")
@click.option(
    "--set", "overrides", metavar="KEY=VALUE", multiple=True,
    help="Replace a key of the file; may be repeated.",
)  # fmt: skip
@click.option("--seeds", metavar="FILE", help="File of first URLs, one a line (- = stdin).")
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.pass_obj
def _crawl(
    arguments: list[str],
    path: Path | None,
    overrides: tuple[str, ...],
    seeds: str | None,
    urls: tuple[str, ...],
    *,
    scratch: bool,
    reload: bool,
) -> int:
    if scratch and reload:
        raise ConfigError("--scratch and --reload exclude each other")
    for word in urls:
        if not is_url(word):
            raise ConfigError(what_was_meant(word))
    if seeds is not None:
        overrides = (*overrides, f"seedFile={seeds}")

    def read() -> Config:
        return configure(path, overrides, [os.fsencode(url) for url in urls]).config

    config = read()

    from larbinpy.cli.contact import check_contact
    from larbinpy.running import crawl as supervise

    check_contact(config)
    command = shlex.join(["larbinpy", *arguments])
    return supervise(config, scratch=scratch, reload=reload, command=command, reread=read)
