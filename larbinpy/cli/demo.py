"""``larbinpy demo``: crawl a synthetic web on loopback with the ordinary command."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from larbinpy.testing.crawls import crawl_command, crawl_keys, write_config
from larbinpy.testing.web import WebProcess, WebSpec
from larbinpy.testing.web.process import command

if TYPE_CHECKING:
    from collections.abc import Iterator

DIRECTORY: Final = "larbinpy-demo"
COUNTERS: Final = ("pages", "success", "urls", "hosts", "robots_good", "links_found", "bytes_read")


def demo(argv: list[str]) -> int:
    """Start a synthetic web, crawl it, print a summary; returns the exit code of the crawl."""
    given = _arguments(argv)
    given.dir.mkdir(parents=True, exist_ok=True)
    spec = WebSpec(hosts=given.hosts, pages=given.pages)
    try:
        with WebProcess(spec, given.dir / "web") as web:
            return _crawl(web, given.dir)
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        print(f"larbinpy demo: {error}", file=sys.stderr)
        return 1


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="larbinpy demo", description=__doc__)
    parser.add_argument("--dir", type=Path, default=Path(DIRECTORY), help="for all files")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--pages", type=int, default=100, help="pages of each host")
    return parser.parse_args(argv)


def _crawl(web: WebProcess, directory: Path) -> int:
    config = directory / "larbin.conf"
    keys = {**crawl_keys(web, directory), "outputMode": "1", "printStats": ""}
    write_config(config, keys, title="A crawl of the synthetic web; written by larbinpy demo.")
    words = crawl_command(config)
    print("web:  ", shlex.join(command(web.spec, web.directory)))
    print("crawl:", shlex.join(words), flush=True)
    ended = subprocess.run(words, check=False).returncode
    print("\n".join(_summary(directory, config)))
    return ended


def _summary(directory: Path, config: Path) -> Iterator[str]:
    """Lines that tell what the crawl did and where its files lie."""
    path = directory / "crawl" / "report.json"
    try:
        report: dict[str, Any] = json.loads(path.read_bytes())  # Any: what JSON holds
    except (OSError, ValueError) as error:
        yield f"no report: {error}"
        return
    yield f"\nended: {report.get('exit')}, after {report.get('seconds', 0):.1f} s"
    counters = report.get("counters", {})
    yield "counters: " + ", ".join(f"{name} {counters.get(name, 0):,}" for name in COUNTERS)
    yield "outcomes: " + _pairs(report.get("outcomes", {}))
    yield "filtered: " + _pairs(report.get("filtered", {}))
    yield f"pages:    {directory / 'save'}"
    yield f"log:      {directory / 'crawl' / 'crawl.log'}"
    yield f"report:   {path}"
    yield f"config:   {config}"


def _pairs(counts: dict[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {count:,}" for name, count in ordered if count) or "none"
