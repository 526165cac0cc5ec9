"""``larbinpy import-larbin DIR``: make a state from a real larbin's, so that its crawl goes on."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from larbinpy.cli.arguments import configure, invoke

if TYPE_CHECKING:
    from larbinpy.importing import Imported

REPORTED_LINES: Final = 20


def import_larbin(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    return invoke(_import_larbin, "larbinpy import-larbin", arguments)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-c", "path", metavar="FILE", type=click.Path(path_type=Path),
    help="Configuration file (default: larbin.conf here, else the built-in defaults).",
)  # fmt: skip
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Replace a key.")
@click.argument("source", metavar="DIR", type=click.Path(path_type=Path))
def _import_larbin(path: Path | None, overrides: tuple[str, ...], source: Path) -> int:
    """Continue the crawl of a larbin that ran in DIR.

    Reads its fifo and fifowait files and its hashtable.bin, which stay as they are, and makes the
    state that stateDir names. URLs of the files are queued; all others that the table knows count
    as seen. Give larbin's own larbin.conf with -c: useCookies tells how the files are to be read.
    """
    from larbinpy.importing import import_larbin as run

    config = configure(path, overrides).config
    faults = _Faults()
    result = run(source, config, faults.tell)
    faults.sum_up()
    _show(result, source)
    options = ["-c", str(path)] if path else []
    options += [word for pair in overrides for word in ("--set", pair)]
    click.echo(f"The crawl is continued by: {shlex.join(['larbinpy', *options])}")
    return 0


class _Faults:
    """Prints the first lines that cannot be used, and counts the others."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def tell(self, text: str) -> None:
        self._count += 1
        if self._count <= REPORTED_LINES:
            print(f"larbinpy: passed over: {text}", file=sys.stderr)

    def sum_up(self) -> None:
        more = self._count - REPORTED_LINES
        if more > 0:
            print(f"larbinpy: passed over: {more} more lines", file=sys.stderr)


def _show(result: Imported, source: Path) -> None:
    click.echo(
        f"{result.queued} URLs queued from {result.files} files of {source}"
        f" ({result.repeated} repeated, {result.bad} bad lines)"
    )
    if result.table:
        click.echo(f"{result.known} bits of {result.table} say what was seen before")
    else:
        click.echo("there is no hashtable.bin: only the queued URLs count as seen")
    if result.cookies:
        click.echo(f"{result.cookies} cookies were left out")
