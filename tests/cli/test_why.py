"""What ``larbinpy why`` says of states that a crawl leaves only now and then."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from larbinpy.cli import main
from larbinpy.frontier.payloads import HostState, Retry
from tests import states
from tests.cli.asking import ask, log_line, shard_with

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

LATER_US = 4_000_000_000_000_000


def test_a_url_that_waits_between_two_tries(
    crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """How often it was tried, what failed, until when it and its host are left alone."""
    fifo = shard_with(crawl, 5)
    states.put(fifo, [5])
    id_lsn = fifo.next_lsn - 1
    fifo.retry(Retry(id_lsn, 2, LATER_US))
    fifo.host(HostState(states.host_of(5), LATER_US, 3, 4))
    fifo.close()
    log_line(crawl, 5, id_lsn, "retry", outcome="timeout", status=None)
    answer = ask(crawl, 5, capsys)
    assert (answer["state"], answer["decided"]) == ("waiting", "tried in vain 2 times: timeout")
    assert answer["when"] == "2026-01-02T03:04:05.000006Z"
    assert answer["backoff"] == {"until": "2096-10-02T07:06:40.000000Z", "level": 3, "failures": 4}
    assert answer["next_try"] == "2096-10-02T07:06:40.000000Z"
    assert answer["now"].count("not before 2096-10-02T07:06:40.000000Z") == 2
    assert re.fullmatch(r"shard-0\d/q-0{7}1-0{15}1\.seg at byte \d+", answer["record"])


def test_a_url_whose_host_is_left_alone(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The HOST record decides, while its time has not passed."""
    for number, until_us in ((5, LATER_US), (6, 1_000_000)):
        fifo = shard_with(crawl, number)
        states.put(fifo, [number])
        fifo.host(HostState(states.host_of(number), until_us, 1, 1))
        fifo.close()
    assert ask(crawl, 5, capsys)["decided"] == "its host is left alone (back-off)"
    assert ask(crawl, 6, capsys)["decided"] == "its host's turn has not come"


def test_a_page_whose_done_was_not_written(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The log line comes before DONE: it has ended, and a kill would fetch it again."""
    fifo = shard_with(crawl, 5)
    states.put(fifo, [5])
    id_lsn = fifo.next_lsn - 1
    fifo.close()
    log_line(crawl, 5, id_lsn)
    answer = ask(crawl, 5, capsys)
    assert (answer["state"], answer["decided"]) == ("done", "success, status 200")
    assert answer["now"].startswith("its end is being noted")


def test_a_page_that_was_queued_again(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line of an earlier id does not end what waits now."""
    fifo = shard_with(crawl, 5)
    places = states.put(fifo, [5])
    first = fifo.next_lsn - 1
    states.finish(fifo, places)
    states.put(fifo, [5])
    fifo.close()
    log_line(crawl, 5, first)
    assert ask(crawl, 5, capsys)["state"] == "waiting"


def test_a_page_whose_line_is_lost(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its DONE says that it has ended."""
    fifo = shard_with(crawl, 5)
    states.finish(fifo, states.put(fifo, [5]))
    fifo.close()
    answer = ask(crawl, 5, capsys)
    assert (answer["state"], answer["decided"]) == ("done", "its line in crawl.log is lost")
    assert answer["record"].startswith("shard-")


def test_a_running_crawl_is_read_without_its_lock(
    crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing waits for it, and nothing of it is changed."""
    from larbinpy.state import StateDirectory  # noqa: PLC0415 - only here

    fifo = shard_with(crawl, 5)
    states.put(fifo, [5])
    fifo.flush()
    directory = StateDirectory(crawl)
    before = {path: path.read_bytes() for path in crawl.rglob("*") if path.is_file()}
    answer = ask(crawl, 5, capsys)
    assert (answer["crawl"], answer["state"]) == ("running", "waiting")
    assert answer["now"].startswith("it is fetched when its host's turn comes")
    assert before == {path: path.read_bytes() for path in crawl.rglob("*") if path.is_file()}
    directory.close()
    fifo.close()


def test_a_url_is_known_by_the_form_that_was_queued(
    crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the configuration takes URLs for one, unless just this one was queued."""
    fifo = shard_with(crawl, 5)
    states.put(fifo, [5])
    fifo.close()
    options = ["--state", str(crawl), "--json", "--set", "ignoreTrailingSlash"]
    for more, expected in (("/", "waiting"), ("", "waiting"), ("/x/", "unknown")):
        url = states.url_of(5).decode()
        assert main(["why", *options, url + more]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert (answer["state"], answer["normal"]) == (expected, url + more.rstrip("/"))


def test_text_leaves_out_what_is_not_known(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each thing that is known."""
    assert main(["why", "--state", str(crawl), "http://x.example/a"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.partition(":")[0] for line in lines]
    assert names == [
        "url", "normal", "shard", "fingerprint", "host", "domain", "crawl", "state", "decided",
        "now",
    ]  # fmt: skip


def test_without_a_state_there_is_no_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A clear word, and the code of a usage error."""
    assert main(["why", "--state", str(tmp_path / "none"), "http://x.example/"]) == 2
    assert "is not a larbinpy state" in capsys.readouterr().err
