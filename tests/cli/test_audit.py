"""``larbinpy audit`` against crawls of the synthetic web, and against logs with a breach."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections import Counter
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from larbinpy import promises
from larbinpy.cli import main
from larbinpy.config import Config
from larbinpy.stateparts import PROMISES
from larbinpy.testing.web import WebProcess, WebSpec
from tests.differences import differences
from tests.patience import wait_until
from tests.politeness.hosts import Crawl

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.testing.web.process import Request

WAIT_S = 0.1
FEW_ADDRESSES = WebSpec(
    hosts=24, pages=6, chain=0, notes=0, named=1.0, names_per_address=6, layered=False,
    off_scope=0.0, roots=24, page_bytes=2000, page_spread=500, links=8,
)  # fmt: skip
MOST_AT_A_TIME = 15
"""Requests under way, one for each address, and those that a busy parser has not yet logged."""
FIRST_US = 1_767_225_600_000_000
"""The time of ``LINE``."""
LINE = {"ts": "2026-01-01T00:00:00.000000Z", "url": "http://a.org/", "outcome": "success",
        "status": 200, "ip": "192.0.2.1", "duration_ms": 7}  # fmt: skip


def url_of(web: WebProcess, request: Request) -> str:
    """The URL of a request."""
    return f"http://{web.web.host(request.host).name.decode()}:{web.port}{request.path.decode()}"


def nearest_s(web: WebProcess, crawl: Crawl, requests: list[Request]) -> float:
    """The shortest time between two requests to one address, as the server saw them.

    A busy server reads a request late: then it was made at the time that its line has.
    """
    gone_s = time.time() - time.monotonic()
    sent: dict[str, list[float]] = {}
    for line in crawl.log():
        at_s = datetime.fromisoformat(line["ts"]).timestamp() - gone_s
        sent.setdefault(line["url"], []).append(at_s)
    times: dict[bytes, list[tuple[float, float]]] = {}
    for request in requests:
        read_s = request.start_ns / 1e9
        made = [at_s for at_s in sent.get(url_of(web, request), ()) if at_s < read_s]
        times.setdefault(request.address, []).append((read_s, max(made, default=read_s)))
    return min(b[0] - a[1] for at in times.values() for a, b in pairwise(sorted(at)))


@pytest.mark.slow
@pytest.mark.parametrize("shards", ["1", "2", "4"])
def test_the_log_tells_what_the_server_saw(
    tmp_path: Path, shards: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """scrapy/scrapyd#221: every request is in both; with many hosts on few addresses nobody was
    asked too soon."""
    with WebProcess(FEW_ADDRESSES, tmp_path / "web") as web:
        crawl = Crawl(
            tmp_path, [url.decode() for url in web.seeds], hostsFile=str(web.hosts_file),
            waitDuration=f"{WAIT_S}", fetchProcesses=shards, limitPage="100",
        )  # fmt: skip
        assert crawl.run() == 3
        seen = web.requests()
    assert main(["audit", str(crawl.state)]) == 0
    assert "24 hosts and 4 addresses: none too soon" in capsys.readouterr().out
    logged = Counter(line["url"] for line in crawl.log() if line["ip"] and line["status"])
    assert differences(logged, (url_of(web, one) for one in seen)) == []
    assert nearest_s(web, crawl, seen) > WAIT_S * 0.9


@pytest.mark.slow
@pytest.mark.crash
@pytest.mark.parametrize("shards", ["1", "2", "4"])
def test_kills_make_nobody_faster_and_hide_nothing(tmp_path: Path, shards: str) -> None:
    """Over two kills the server saw no more than the log tells and what was under way then."""
    kills = 2
    with WebProcess(FEW_ADDRESSES, tmp_path / "web") as web:
        crawl = Crawl(
            tmp_path, [url.decode() for url in web.seeds], hostsFile=str(web.hosts_file),
            waitDuration=f"{WAIT_S}", fetchProcesses=shards, limitPage="60",
        )  # fmt: skip
        for kill in range(1, kills + 1):
            child = crawl.start(is_group=True)
            is_far = wait_until(partial(has_lines, crawl, 30 * kill))
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            assert is_far
        assert crawl.run() == 3
        seen = web.requests()
    assert main(["audit", str(crawl.state)]) == 0
    assert len(promises.kept(crawl.state)) == 1
    logged = Counter(line["url"] for line in crawl.log() if line["ip"] and line["status"])
    asked = Counter(url_of(web, one) for one in seen)
    assert not logged - asked
    assert (asked - logged).total() <= kills * MOST_AT_A_TIME
    assert nearest_s(web, crawl, seen) > WAIT_S * 0.9
    assert main(["audit", str(hastened(crawl))]) == 1


def has_lines(crawl: Crawl, count: int) -> bool:
    """Whether a crawl has logged so many requests."""
    path = crawl.state / "crawl.log"
    return path.exists() and path.read_bytes().count(b"\n") >= count


def hastened(crawl: Crawl) -> Path:
    """A copy of the log in which one request came 50 ms before its host's time."""
    lines = [line for line in crawl.log() if line["ip"] and line["status"]]
    lines.sort(key=lambda line: line["ts"])
    first = lines[len(lines) // 2]
    last = next(line for line in lines if line["ts"] > first["ts"] and line["ip"] == first["ip"])
    moment = datetime.fromisoformat(first["ts"]) + timedelta(seconds=WAIT_S - 0.05)
    last["ts"] = moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
    state = crawl.directory / "hastened"
    state.mkdir()
    (state / "crawl.log").write_text("".join(json.dumps(line) + "\n" for line in lines))
    shutil.copy(crawl.state / PROMISES, state)
    return state


def log(tmp_path: Path, *changes: dict[str, str]) -> str:
    """A state with such a log."""
    lines = "".join(json.dumps({**LINE, **change}) + "\n" for change in changes)
    (tmp_path / "crawl.log").write_text(lines)
    return str(tmp_path)


def test_a_breach_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With who, when and by how much; exit code 1."""
    state = log(tmp_path, {}, {"ts": "2026-01-01T00:00:00.950000Z"})
    promises.keep(tmp_path, Config(), FIRST_US)
    assert main(["audit", state]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{who}: 2026-01-01T00:00:00.950000Z 50.0 ms too soon"
        " (the one before: 2026-01-01T00:00:00.000000Z)"
        for who in ("a.org", "192.0.2.1")
    ] + [
        "promised since 2026-01-01T00:00:00.000000Z: waitDuration 1, waitDurationIP 1,"
        " connectionsPerIp 1",
        "2 requests to 1 hosts and 1 addresses: 2 too soon",
    ]


@pytest.mark.parametrize(("wait_s", "expected"), [(0.05, 0), (0.95, 0), (1.0, 1), (60.0, 1)])
def test_a_crawl_is_judged_by_what_it_promised(
    tmp_path: Path, wait_s: float, expected: int
) -> None:
    """No configuration is needed for that."""
    state = log(tmp_path, {}, {"ts": "2026-01-01T00:00:00.950000Z"})
    promises.keep(tmp_path, Config(wait_duration_s=wait_s), FIRST_US)
    assert main(["audit", state]) == expected


def test_addresses_behind_a_proxy_were_promised_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hosts were."""
    moments = ("2026-01-01T00:00:00.100000Z", "2026-01-01T00:00:00.200000Z")
    state = log(tmp_path, {}, *({"ts": ts, "url": f"http://{ts[20]}.org/"} for ts in moments))
    promises.keep(tmp_path, Config(proxy="proxy.test 8080"), FIRST_US)
    assert main(["audit", state]) == 0
    assert ": waitDuration 1; behind a proxy\n" in capsys.readouterr().out


def test_a_configuration_that_is_given_goes_before_what_was_promised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By ``-c`` or by ``--set``."""
    state = log(tmp_path, {}, {"ts": "2026-01-01T00:00:00.950000Z"})
    promises.keep(tmp_path, Config(), FIRST_US)
    (tmp_path / "conf").write_text("waitDuration 900ms")
    for given in (["-c", str(tmp_path / "conf")], ["--set", "waitDuration=900ms"]):
        assert main(["audit", state, *given]) == 0
        assert capsys.readouterr().out.splitlines()[0] == (
            "judged by the configuration given: waitDuration 0.9, waitDurationIP 0.9,"
            " connectionsPerIp 1"
        )


def test_what_was_promised_may_not_be_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For a crawl of an older version, as far as it went: that is said."""
    state = log(tmp_path, {}, {"ts": "2026-01-01T00:00:00.950000Z"})
    assert main(["audit", state]) == 1
    assert capsys.readouterr().out.splitlines()[-2] == (
        "promises.log does not tell what was promised; judged by larbin.conf here, else the"
        " defaults (-c FILE: by that): waitDuration 1, waitDurationIP 1, connectionsPerIp 1"
    )
    promises.keep(tmp_path, Config(wait_duration_s=0.05), FIRST_US + 60_000_000)
    assert main(["audit", state]) == 1
    *_, before, since, _ = capsys.readouterr().out.splitlines()
    assert before.startswith(
        "promises.log does not tell what was promised before 2026-01-01T00:01:00.000000Z; judged"
    )
    assert since.startswith("promised since 2026-01-01T00:01:00.000000Z: waitDuration 0.05, ")


def test_a_crawl_that_changed_its_pace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each request is judged by the promise of its time."""
    moments = ("00:00.000000", "00:00.500000", "01:00.000000", "01:00.100000", "01:00.110000")
    state = log(tmp_path, *({"ts": f"2026-01-01T00:{moment}Z"} for moment in moments))
    promises.keep(tmp_path, Config(), FIRST_US)
    promises.keep(tmp_path, Config(wait_duration_s=0.1), FIRST_US + 60_000_000)
    assert main(["audit", state]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[:4]] == [
        "2026-01-01T00:00:00.500000Z", "2026-01-01T00:01:00.110000Z",
    ] * 2  # fmt: skip
    assert [line.split(":")[-1] for line in lines[4:6]] == [
        " waitDuration 1, waitDurationIP 1, connectionsPerIp 1",
        " waitDuration 0.1, waitDurationIP 0.1, connectionsPerIp 1",
    ]


def test_many_breaches_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first ones are listed."""
    state = log(tmp_path, *({"ts": f"2026-01-01T00:00:00.{n:06}Z"} for n in range(0, 90000, 1000)))
    assert main(["audit", state]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert (len(lines), lines[-1]) == (22, "90 requests to 1 hosts and 1 addresses: 178 too soon")


def test_a_torn_last_line_is_passed_over(tmp_path: Path) -> None:
    """The next writer cuts it."""
    state = log(tmp_path, {})
    with (tmp_path / "crawl.log").open("ab") as file:
        file.write(b'{"ts":"2026')
    assert main(["audit", state]) == 0


def test_a_log_that_cannot_be_read_proves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Missing, which is no breach, or with a line that is none."""
    assert main(["audit", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"larbinpy: {tmp_path}/crawl.log: No such file or directory\n"
    log(tmp_path, {}, {"ts": "gestern"})
    assert main(["audit", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith(f"larbinpy: {tmp_path}/crawl.log:2: ")
