"""``larbinpy why URL``: what became of a URL, by which record, and what would happen now."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from larbinpy.cli.answer import answer_of
from larbinpy.cli.arguments import configure, invoke
from larbinpy.cli.fate import fate_of, forms_of
from larbinpy.errors import ConfigError
from larbinpy.manifest import parse_manifest

if TYPE_CHECKING:
    from larbinpy.cli.answer import Answer


def why(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    return invoke(_why, "larbinpy why", arguments)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-c", "--config", "path", metavar="FILE", type=click.Path(path_type=Path),
    help="Configuration of the crawl (default: larbin.conf here, else the built-in defaults).",
)  # fmt: skip
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Replace a key.")
@click.option(
    "--state", metavar="DIR", type=click.Path(path_type=Path), help="The state (default: stateDir)."
)
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
@click.argument("url", metavar="URL")
def _why(
    path: Path | None, overrides: tuple[str, ...], state: Path | None, url: str, *, is_json: bool
) -> int:
    """Say what became of URL in a crawl, and why.

    Whether it was fetched or not, and whether the crawl runs or not: its normal form and shard,
    what decided, when, in which record, and what would happen now.
    Nothing is locked, changed or asked for.
    """
    config = configure(path, overrides).config
    directory = state or config.state_dir
    forms = forms_of(os.fsencode(url), config)
    if not forms:
        answer: Answer = {
            "url": url,
            "state": "invalid",
            "decided": "it is no http or https URL that could be fetched",
            "now": "a link to it would be refused",
        }
    else:
        manifest_path = directory / "MANIFEST"
        if not manifest_path.exists():
            raise ConfigError(f"{directory} is not a larbinpy state")
        manifest = parse_manifest(manifest_path.read_bytes(), manifest_path)
        fate = fate_of(forms, config, directory, manifest)
        now_us = time.time_ns() // 1000
        answer = {"url": url, **answer_of(fate, directory, now_us=now_us)}
    click.echo(json.dumps(answer) if is_json else "\n".join(lines_of(answer)))
    return 0


def lines_of(answer: Answer) -> list[str]:
    """The answer for people: what is not known is left out."""
    return [
        f"{name + ':':<13}{_shown(value)}" for name, value in answer.items() if value is not None
    ]


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {one}" for name, one in value.items() if one is not None)
    return str(value)
