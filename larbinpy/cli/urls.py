"""``larbinpy urls``: what waits."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from larbinpy import url as urls_of
from larbinpy.cli.arguments import configure, invoke
from larbinpy.errors import ConfigError
from larbinpy.frontier.inspect import QUEUES, LogView
from larbinpy.manifest import parse_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator


def urls(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    return invoke(_urls, "larbinpy urls", arguments)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--queue", metavar="NAME", type=click.Choice(QUEUES), default="all",
    help="all; new: not tried yet; again: tried, to be tried again.",
)  # fmt: skip
@click.option("--host", metavar="HOST", help="Only URLs of this host.")
@click.option(
    "-c", "path", metavar="FILE|DIR", type=click.Path(path_type=Path),
    help="Configuration that names the state, or the state itself (default: as for a crawl).",
)  # fmt: skip
def _urls(queue: str, host: str | None, path: Path | None) -> int:
    """Print the URLs that wait or are being fetched, one a line, in the order of their discovery.

    Shard by shard; a crawl may run. Nothing is locked or changed.
    """
    directory = path if path and path.is_dir() else configure(path).config.state_dir
    wanted = None if host is None else os.fsencode(host.lower())
    try:
        for view in _views(directory):
            for url in view.urls(queue):
                if wanted is None or urls_of.host_of(url[2]) == wanted:
                    sys.stdout.buffer.write(url[2] + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _views(directory: Path) -> Iterator[LogView]:
    manifest_path = directory / "MANIFEST"
    if not manifest_path.exists():
        raise ConfigError(f"{directory} is not a larbinpy state")
    manifest = parse_manifest(manifest_path.read_bytes(), manifest_path)
    for shard in range(manifest.fetch_processes):
        if (directory / f"shard-{shard:02d}").is_dir():
            yield LogView(directory / f"shard-{shard:02d}", manifest.key)
