"""``larbinpy check-config [FILE]``: say what is wrong, or print the effective configuration."""

from __future__ import annotations

from pathlib import Path

import click

from larbinpy.cli.arguments import configure, invoke
from larbinpy.config import dump


def check_config(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    return invoke(_check_config, "larbinpy check-config", arguments)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Replace a key.")
@click.argument("path", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
def _check_config(path: Path | None, overrides: tuple[str, ...]) -> int:
    """Say what is wrong with FILE, or print the effective configuration as a file.

    It is what a crawl from here would use: FILE (default: larbin.conf here, else the built-in
    defaults), then LARBINPY_KEY variables, then --set.
    Warnings go to standard error.
    """
    text = dump(configure(path, overrides).config)
    click.echo(text.encode("utf-8", "surrogateescape"), nl=False)
    return 0
