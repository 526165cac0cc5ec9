"""``crawl.log``: every field as ``docs/crawl-log.md`` says, and no byte from the web breaks it."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native.logline import LineMaker
from larbinpy.errors import StorageError
from larbinpy.records import Directive, Kind, Outcome, ParsedPage, Reading
from larbinpy.store.crawllog import CrawlLog
from tests.patience import PATIENCE_S
from tests.records import page

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.records import Page

KEY = bytes(16)
FIELDS = [
    "ts", "kind", "id", "attempt", "url", "outcome", "status", "bytes", "mime", "depth", "via",
    "ip", "duration_ms", "digest", "simhash", "near", "robots", "canonical",
    "etag", "modified", "reason",
]  # fmt: skip


def read(page_: Page, parsed: ParsedPage | None = None, mime: bytes = b"text/html") -> Any:
    """The line of a page, taken apart."""
    parsed = parsed or ParsedPage(1, 1, Outcome.SUCCESS)
    line = LineMaker().lines([Reading(page_, parsed, mime)])
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    return json.loads(line)


# --- fields --------------------------------------------------------------------------------------


def test_every_field() -> None:
    """Names, order and types."""
    given_ = page(
        id=1 << 56 | 7, attempt=2, kind=Kind.PAGE, start_us=1_700_000_000_000_123, depth=3,
        duration_us=1_499, status=404, via=b"http://v.test/", reason=b"r",
    )  # fmt: skip
    parsed = ParsedPage(1, 1, Outcome.ERR_40X, body_bytes=12, digest=bytes(range(16)), near=9,
                        simhash=1 << 52 | 10)  # fmt: skip
    parsed.directives = Directive.NOFOLLOW | Directive.NOINDEX
    parsed.canonical = b"http://a.test/c"
    line = read(given_, parsed)
    assert list(line) == FIELDS
    assert line == {
        "ts": "2023-11-14T22:13:20.000123Z",
        "kind": "page",
        "id": 1 << 56 | 7,
        "attempt": 2,
        "url": "http://a.test/",
        "outcome": "err40X",
        "status": 404,
        "bytes": 12,
        "mime": "text/html",
        "depth": 3,
        "via": "http://v.test/",
        "ip": "127.0.0.1",
        "duration_ms": 1,
        "digest": "xxh3-128:000102030405060708090a0b0c0d0e0f",
        "simhash": "001000000000000a",
        "near": 9,
        "robots": "noindex,nofollow",
        "canonical": "http://a.test/c",
        "etag": None,
        "modified": None,
        "reason": "r",
    }


def test_what_is_not_known_is_null() -> None:
    """Status 0, no address, no type, no page before it, no digest or simhash, no reason."""
    line = read(page(status=0, ip=b""), mime=b"")
    assert [name for name, value in line.items() if value is None] == [
        "status",
        "mime",
        "via",
        "ip",
        "digest",
        "simhash",
        "near",
        "robots",
        "canonical",
        "etag",
        "modified",
        "reason",
    ]


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_its_name(outcome: Outcome) -> None:
    """That of ``report.json``."""
    assert read(page(), ParsedPage(1, 1, outcome))["outcome"] == outcome.label


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_its_name(kind: Kind) -> None:
    """In lower case; a page's kind comes as a plain number."""
    assert read(page(kind=int(kind)))["kind"] == kind.name.lower()


def test_addresses_are_written_as_people_do() -> None:
    """IPv4 and IPv6."""
    assert read(page(ip=bytes([10, 0, 0, 1])))["ip"] == "10.0.0.1"
    assert read(page(ip=bytes(15) + b"\1"))["ip"] == "::1"


@pytest.mark.parametrize(("us", "ms"), [(0, 0), (499, 0), (500, 1), (2_499_999, 2500)])
def test_durations_are_rounded(us: int, ms: int) -> None:
    """To the nearest millisecond."""
    assert read(page(duration_us=us))["duration_ms"] == ms


def test_one_maker_for_many_seconds() -> None:
    """The second that is kept is not used for another one."""
    maker = LineMaker()
    parsed = ParsedPage(1, 1, Outcome.SUCCESS)
    times = [0, 999_999, 1_000_000, 5, 86_400_000_000]
    lines = (maker.lines([Reading(page(start_us=us), parsed)]) for us in times)
    got = [json.loads(line)["ts"] for line in lines]
    assert got == [
        "1970-01-01T00:00:00.000000Z",
        "1970-01-01T00:00:00.999999Z",
        "1970-01-01T00:00:01.000000Z",
        "1970-01-01T00:00:00.000005Z",
        "1970-01-02T00:00:00.000000Z",
    ]


HOSTILE = st.one_of(
    st.binary(max_size=60),
    st.text(alphabet='"\\\n\r\t\x00\x1b\x7f\x85\u2028\u2029\ud7ff😀aé', max_size=30).map(
        lambda text: text.encode("utf-8", "surrogatepass")
    ),
)


@settings(max_examples=150)
@given(url=HOSTILE, via=HOSTILE, mime=HOSTILE, reason=HOSTILE)
def test_hostile_bytes_never_break_a_line(
    url: bytes, via: bytes, mime: bytes, reason: bytes
) -> None:
    """One line of printable ASCII, whatever came; what is UTF-8 is read back as it was."""
    maker = LineMaker()
    parsed = ParsedPage(1, 1, Outcome.SUCCESS)
    line = maker.lines([Reading(page(url, via=via, reason=reason), parsed, mime)])
    assert line[-1:] == b"\n"
    assert all(0x20 <= byte < 0x7F for byte in line[:-1])
    got = json.loads(line)
    for name, given_ in (("url", url), ("via", via), ("mime", mime), ("reason", reason)):
        shown = given_.decode("utf-8", "backslashreplace")
        assert got[name] == shown or (got[name] is None and not given_)


# --- the file ------------------------------------------------------------------------------------


def log_with(path: Path, lines: bytes) -> None:
    log = CrawlLog(path, KEY)
    log.append(lines)
    log.close()


def test_lines_are_appended(tmp_path: Path) -> None:
    """A log that exists is gone on with."""
    path = tmp_path / "crawl.log"
    log_with(path, b"1\n2\n")
    log_with(path, b"")
    log_with(path, b"3\n")
    assert path.read_bytes() == b"1\n2\n3\n"


@pytest.mark.parametrize("whole", [b"", b"1\n2\n"])
@pytest.mark.parametrize("size", [1, 65_535, 65_536, 65_537, 200_000])
def test_a_torn_line_is_cut(tmp_path: Path, whole: bytes, size: int) -> None:
    """Whatever a dead writer left behind the last line end, however long it is."""
    path = tmp_path / "crawl.log"
    path.write_bytes(whole + b"x" * size)
    log_with(path, b"next\n")
    assert path.read_bytes() == whole + b"next\n"


def test_a_line_that_another_tore_meanwhile_is_cut(tmp_path: Path) -> None:
    """Looked for at each append, not only when the log is opened."""
    path = tmp_path / "crawl.log"
    log = CrawlLog(path, KEY)
    log.append(b"1\n")
    with path.open("ab") as other:
        other.write(b"torn")
    log.append(b"2\n")
    log.close()
    assert path.read_bytes() == b"1\n2\n"


def test_a_short_write_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All lines of a batch or none; and the lock is free again."""
    path = tmp_path / "crawl.log"
    log = CrawlLog(path, KEY)
    log.append(b"1\n")
    write, left = os.write, [3]

    def write_a_part(fd: int, data: memoryview) -> int:
        """A disk that takes three bytes more."""
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken = write(fd, data[: left[0]])
        left[0] -= taken
        return taken

    monkeypatch.setattr(os, "write", write_a_part)
    with pytest.raises(StorageError, match="No space left"):
        log.append(b"2\n3\n")
    monkeypatch.undo()
    log_with(path, b"4\n")
    log.close()
    assert path.read_bytes() == b"1\n4\n"


def test_a_log_that_cannot_be_opened(tmp_path: Path) -> None:
    """The text names it."""
    with pytest.raises(StorageError, match="missing"):
        CrawlLog(tmp_path / "missing" / "crawl.log", KEY)


WRITER = """
import sys
from pathlib import Path
from larbinpy.store.crawllog import CrawlLog
log = CrawlLog(Path(sys.argv[1]), bytes(16))
name = sys.argv[2].encode()
for batch in range(150):
    lines = [b"%b %d %b\\n" % (name, batch * 3 + n, name * 200) for n in range(3)]
    log.append(b"".join(lines))
"""


def test_two_processes_append_whole_lines(tmp_path: Path) -> None:
    """No line is lost, torn or mixed, and each writer's stand in its order."""
    path = tmp_path / "crawl.log"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in ("a", "b")
    ]
    assert [writer.wait(PATIENCE_S) for writer in writers] == [0, 0]
    lines = path.read_bytes().splitlines()
    for name in (b"a", b"b"):
        own = [line for line in lines if line.startswith(name)]
        assert own == [b"%b %d %b" % (name, number, name * 200) for number in range(450)]
    assert len(lines) == 900
