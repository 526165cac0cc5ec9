"""What a user or a machine does wrong gets one clear line and the right exit code, no traceback."""

from __future__ import annotations

import os
import socket
import subprocess
from typing import TYPE_CHECKING, Final

import pytest

from larbinpy.testing.dns import DnsServer
from larbinpy.testing.servers import Silent
from larbinpy.testing.web import Scope, WebProcess, WebSpec
from tests.integration.crawl import (
    Crawl,
    Ended,
    crawl_of,
    finish,
    silent_crawl,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SMALL = WebSpec(hosts=12, pages=15, notes=3)
USAGE: Final = 2
FAULT: Final = 1


@pytest.fixture
def web(tmp_path: Path) -> Iterator[WebProcess]:
    """A small web."""
    with WebProcess(SMALL, tmp_path / "web") as running:
        yield running


def complaint(ended: Ended) -> str:
    """The one line that says what is wrong."""
    assert "Traceback" not in ended.stderr
    lines = [line for line in ended.stderr.splitlines() if line.startswith("larbinpy: ")]
    lines = [line for line in lines if not line.startswith("larbinpy: warning: ")]
    assert len(lines) == 1, ended.stderr
    return lines[0].removeprefix("larbinpy: ")


# --- before it begins ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nmaxPages 5\n", "FILE:2: maxPages: unknown key"),
        ("depthInSite deep", "FILE:1: depthInSite: "),
        ("depthInSite 1\ndepthInSite 2", "FILE:2: depthInSite: "),
        ("limitToDomain .fr", "FILE:1: limitToDomain: "),
        ('From "me', "FILE:1: "),
        ("startUrl ftp://a/", "FILE:1: startUrl: "),
        ("stayAlive", "FILE:1: stayAlive: not in this version"),
    ],
)
def test_a_broken_configuration_exits_2(tmp_path: Path, text: str, message: str) -> None:
    """File, line, key, and what is wrong; nothing is begun."""
    crawl = Crawl(tmp_path, {})
    file = tmp_path / "broken.conf"
    file.write_text(text)
    ended = crawl.run("-c", str(file))
    assert ended.code == USAGE
    assert complaint(ended).startswith(message.replace("FILE", str(file)))
    assert ended.stderr.count("\n") == 1
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize("key", ["seedFile", "hostsFile", "caFile"])
@pytest.mark.parametrize("way", ["missing", "directory"])
def test_an_unreadable_file_exits_2(tmp_path: Path, key: str, way: str) -> None:
    """It is named, and so is its key."""
    path = tmp_path / "list"
    if way == "directory":
        path.mkdir()
    keys = {"stateDir": str(tmp_path / "crawl"), "startUrl": "http://127.0.0.1:9/"}
    ended = Crawl(tmp_path, {**keys, "allowPrivateAddresses": "", key: str(path)}).run()
    assert ended.code == USAGE, ended.stderr
    said = complaint(ended)
    assert key in said
    assert str(path) in said


def test_a_state_directory_that_is_a_file_exits_1(tmp_path: Path) -> None:
    """Nothing is deleted to make room."""
    path = tmp_path / "crawl"
    path.write_text("mine")
    ended = Crawl(tmp_path, {"stateDir": str(path)}).run("http://127.0.0.1:9/")
    assert ended.code == FAULT
    assert complaint(ended).startswith(f"{path}: ")
    assert path.read_text() == "mine"


@pytest.mark.slow
def test_a_state_in_use_exits_1(tmp_path: Path) -> None:
    """After a short wait for a crawl that is just ending; the other one is named and goes on."""
    with socket.create_server(("", 0), backlog=64) as silent:
        crawl = silent_crawl(tmp_path, silent.getsockname()[1])
        crawl.keys["limitTime"] = "1h"
        first = crawl.start()
        connection, _ = silent.accept()
        with connection:
            for option in ((), ("--scratch",)):
                ended = crawl.run(*option)
                assert ended.code == FAULT
                lock = crawl.state / "LOCK"
                said = f"{lock}: in use by another crawl (process {first.pid})"
                assert complaint(ended) == said
            assert first.poll() is None
            first.terminate()
            first.terminate()
            finish(first)


def test_a_damaged_manifest_exits_1(tmp_path: Path, web: WebProcess) -> None:
    """It is never guessed what stood there."""
    crawl = crawl_of(web, tmp_path, Scope(depth_in_site=0))
    assert crawl.run().code == 0
    manifest = crawl.state / "MANIFEST"
    text = bytearray(manifest.read_bytes())
    text[20] ^= 1
    manifest.write_bytes(bytes(text))
    ended = crawl.run()
    assert ended.code == FAULT
    assert complaint(ended).startswith(f"{manifest}: damaged; ")


# --- while it runs ------------------------------------------------------------------------------


def test_an_output_directory_that_cannot_be_made_exits_1(tmp_path: Path, web: WebProcess) -> None:
    """And the crawl goes on when it can: no page is missing in the output."""
    crawl = crawl_of(web, tmp_path, Scope(depth_in_site=1), outputMode="1")
    crawl.output.write_text("in the way")
    ended = crawl.run()
    assert ended.code == FAULT
    assert str(crawl.output) in complaint(ended)
    assert crawl.report()["exit"] == "fault"
    assert str(crawl.output) in crawl.report()["error"]
    crawl.output.unlink()
    assert crawl.run().code == 0
    indexes = [index.read_bytes() for index in crawl.output.glob("d*/index")]
    assert b"".join(indexes).count(b"\n") == crawl.report()["counters"]["success"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MiB; needs root."""
    path = tmp_path / "disk"
    path.mkdir()
    if os.geteuid():
        pytest.skip("only root can mount a small disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", str(path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def test_a_state_cannot_begin_on_a_full_disk(tmp_path: Path, small_disk: Path) -> None:
    """The file that there was no room for is named."""
    (small_disk / "ballast").write_bytes(bytes(900_000))
    ended = Crawl(tmp_path, {"stateDir": str(small_disk / "crawl")}).run("http://127.0.0.1:9/")
    assert ended.code == FAULT
    said = complaint(ended)
    assert said.startswith(str(small_disk / "crawl"))
    assert said.endswith(": No space left on device")


# --- a crawl that fetched nothing ---------------------------------------------------------------


def nothing(crawl: Crawl, *more: str) -> str:
    """Why a crawl fetched nothing: the line that says so."""
    ended = crawl.run(*more)
    assert ended.code == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    lines = [line for line in ended.stderr.splitlines() if line.startswith("nothing was fetched")]
    assert len(lines) == 1, ended.stderr
    return lines[0].removeprefix("nothing was fetched: ")


@pytest.fixture
def bare(tmp_path: Path) -> Crawl:
    """A crawl without start URLs."""
    keys = {
        "From": "operator@web.test",
        "stateDir": str(tmp_path / "crawl"),
        "allowPrivateAddresses": "",
        "ignoreRobots": "",
        "maxTries": "1",
    }
    return Crawl(tmp_path, keys)


def test_no_seeds(bare: Crawl) -> None:
    """It says where seeds come from."""
    assert nothing(bare) == "there is no new start URL (startUrl, seedFile, command line)"


def test_no_host_has_an_address(bare: Crawl) -> None:
    """All hosts are unknown to the name server."""
    with DnsServer({}) as server:
        bare.keys["nameServer"] = server.address
        said = nothing(bare, "http://one.example/", "http://two.example/", "http://two.example/b")
    assert "noDNS" in said
    assert "of 3 URLs" in said


def test_all_connections_are_refused(bare: Crawl) -> None:
    """Nobody listens there."""
    with Silent() as closed:
        said = nothing(bare, *(f"http://127.0.0.{n}:{closed.port}/" for n in (1, 2)))
    assert said == "2 of 2 URLs ended as noConnection"


def test_addresses_that_are_not_allowed(bare: Crawl) -> None:
    """Our own ports are nobody's, not even the operator's."""
    bare.keys["inputPort"] = "9"
    assert nothing(bare, "http://127.0.0.1:9/") == "1 of 1 URLs ended as forbiddenAddress"


def test_all_seeds_are_bad(bare: Crawl) -> None:
    """None of the file is a URL."""
    seeds = bare.directory / "seeds"
    seeds.write_text("no url\nnor this\n")
    ended = bare.run("--seeds", str(seeds))
    assert ended.code == 0
    assert f"{seeds}:2: not an http or https URL: nor this\n" in ended.stderr
    assert "2 of 2 start URLs could not be used\n" in ended.stderr
    assert "nothing was fetched: " in ended.stderr
