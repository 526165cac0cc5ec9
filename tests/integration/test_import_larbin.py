"""A real larbin's crawl goes on: import, then the ordinary command on the same web."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from larbinpy._native.larbinhash import url_code
from larbinpy.seeds.larbinstate import parse_line
from larbinpy.testing.crawls import crawl_keys, write_config
from larbinpy.testing.web import WebProcess, WebSpec
from tests.larbinstate import lines, unpack

if TYPE_CHECKING:
    from pathlib import Path

SPECS = {
    "fifo": WebSpec.plain(named=0.0, cross=0.3, hosts=60, pages=100, roots=60, port=21180),
    "fifowait": WebSpec.plain(named=0.0, cross=0.3, hosts=16, pages=300, roots=16, port=21181),
}
"""The webs that the states were crawled on; the port is part of every URL."""

LIMIT_REACHED = 3


def crawl_on(name: str, directory: Path, *, stops: bool, **keys: str) -> Counter[bytes]:
    """Import a state and crawl on; how often each URL was asked for.

    Args:
        stops: the crawl is stopped by a limit, and started again.
    """
    source = unpack(name, directory)
    try:
        web = WebProcess(SPECS[name], directory / "web")
    except OSError:
        pytest.skip(f"port {SPECS[name].port}, which larbin's state names, is in use")
    with web:
        config = directory / "larbin.conf"
        given = {**crawl_keys(web, directory), "depthInSite": "20", "limitTime": "10m", **keys}
        write_config(config, given, title="Continues a larbin's crawl.")
        program = [sys.executable, "-m", "larbinpy"]
        commands = [
            (["import-larbin", "-c", str(config), str(source)], 0),
            (["-c", str(config)], 0),
        ]
        if stops:
            commands.insert(1, (["-c", str(config), "--set", "limitPage=500"], LIMIT_REACHED))
        for command, code in commands:
            ended = subprocess.run([*program, *command], check=False, capture_output=True)
            assert code == ended.returncode, ended.stderr
        hosts = [web.web.host(number).name for number in range(web.spec.hosts)]
        return Counter(
            b"http://%b:%d%b" % (hosts[request.host], web.port, request.path)
            for request in web.requests()
            if not request.is_robots
        )


def queued(state: Path) -> set[bytes]:
    """The URLs of a larbin's queue."""
    return {b"http://" + line.split(b" ", 1)[1] for line in lines(state, "fifo*")}


def is_set(raw: bytes, url: bytes) -> bool:
    """Whether larbin's table knows a URL."""
    item = parse_line(b"0 " + url.removeprefix(b"http://"), has_cookies=False)
    assert item is not None
    code = url_code(item.host, item.file, item.port)
    return bool(raw[code >> 3] & 1 << (code & 7))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seen_set", "url_mode", "stops"),
    [
        ("fifo", "exact", "larbin", True),
        ("fifowait", "exact", "whatwg", False),
        ("fifowait", "bloom", "larbin", True),
        ("fifowait", "bits", "larbin", True),
    ],
)
def test_larbins_crawl_goes_on(
    name: str, seen_set: str, url_mode: str, stops: bool, tmp_path: Path
) -> None:
    """All that larbin had queued is fetched, nothing that it had fetched, and what is new."""
    asked = crawl_on(name, tmp_path, stops=stops, seenSet=seen_set, urlMode=url_mode)
    state = tmp_path / f"larbin-{name}"
    raw = (state / "hashtable.bin").read_bytes()
    waited = queued(state)
    again = {url for url in asked if is_set(raw, url)} - waited
    assert waited - set(asked) == set()
    assert again == set()
    assert len(set(asked) - waited) > 100
    assert set(asked.values()) == {1}
