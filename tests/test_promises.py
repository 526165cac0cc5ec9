"""What a crawl promised stands in its state, as long as it holds and afterwards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from larbinpy import promises
from larbinpy.config import Config
from larbinpy.errors import FormatError, StorageError
from larbinpy.politeness.promise import NOTHING, Promise, Promised
from larbinpy.stateparts import PROMISES

if TYPE_CHECKING:
    from pathlib import Path

FIRST_US = 1_767_225_600_000_000
LATER_US = FIRST_US + 5_000_001


def test_a_promise_comes_back_to_the_microsecond(tmp_path: Path) -> None:
    """Whatever of it is configured."""
    promises.keep(tmp_path, Config(wait_duration_s=0.05), FIRST_US)
    config = Config(wait_duration_s=60.0, wait_duration_ip_s=1.25, connections_per_ip=4)
    promises.keep(tmp_path, config, LATER_US)
    assert promises.kept(tmp_path) == [
        Promised(FIRST_US, Promise(50_000), Promise(50_000)),
        Promised(LATER_US, Promise(60_000_000), Promise(1_250_000, 4)),
    ]


def test_the_form_of_a_line(tmp_path: Path) -> None:
    """As docs/crawl-log.md has it; the proxy's password is not in it."""
    promises.keep(tmp_path, Config(proxy="http://user:secret@proxy.test:8080"), FIRST_US)
    (line,) = (tmp_path / PROMISES).read_text().splitlines()
    assert json.loads(line) == {
        "since": "2026-01-01T00:00:00.000000Z", "waitDuration": 1.0, "waitDurationIP": 1.0,
        "connectionsPerIp": 1, "proxy": True,
    }  # fmt: skip
    assert [(one.host, one.ip) for one in promises.kept(tmp_path)] == [
        (Promise(1_000_000), NOTHING)
    ]


def test_a_promise_is_written_once(tmp_path: Path) -> None:
    """A crawl that goes on as before adds nothing; one that returns to an earlier pace does."""
    for number, wait_s in enumerate((1.0, 1.0, 11.0, 1.0, 1.0)):
        promises.keep(tmp_path, Config(wait_duration_s=wait_s), FIRST_US + number)
    assert [one.since_us - FIRST_US for one in promises.kept(tmp_path)] == [0, 2, 3]


def test_a_state_of_an_older_version_kept_nothing(tmp_path: Path) -> None:
    """Its promises are not known."""
    assert promises.kept(tmp_path) == []


@pytest.mark.parametrize("line", ["{}", "[]", "half a li", '{"since": 7}', '{"since": "now"}'])
def test_a_damaged_line_is_named_and_stops_no_crawl(tmp_path: Path, line: str) -> None:
    """The proof would not hold; the crawl goes on behind it."""
    (tmp_path / PROMISES).write_text(line + "\n")
    with pytest.raises(FormatError, match=rf"{PROMISES}:1: not a promise"):
        promises.kept(tmp_path)
    promises.keep(tmp_path, Config(), FIRST_US)
    assert (tmp_path / PROMISES).read_text().startswith(f'{line}\n{{"since": "2026-')


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """Is a fault of the disk."""
    (tmp_path / PROMISES).mkdir()
    with pytest.raises(StorageError, match=PROMISES):
        promises.kept(tmp_path)
    with pytest.raises(StorageError, match=PROMISES):
        promises.keep(tmp_path, Config(), FIRST_US)
