"""How long ``larbinpy why`` takes on a state of ten million URLs, and what its index costs a crawl.

Workload: URLS URLs (default 10 million) on HOSTS hosts (default 1 million) in one shard, every
second one done with its line in crawl.log; then ``larbinpy why``, a process for each question, for
URLs that are done, that wait, and that nobody has seen, for duplicates, and for redirections to
URLs that wait. The page cache is warm, as a crawl leaves it. And lines appended to crawl.log with
and without the index, in pairs.

Command: python -m tests.bench.why [URLS [HOSTS]]
"""

from __future__ import annotations

import json
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from larbinpy._native.linkentry import fingerprint_of
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.payloads import done_entry
from larbinpy.frontier.settings import Settings
from larbinpy.records import Outcome, ParsedPage
from larbinpy.store import crawlindex
from larbinpy.store.crawllog import CrawlLog
from tests.states import KEY, make_state

BATCH = 900
PAGE = 30
MASK = b"\1" * BATCH
QUESTIONS = 9
PAIRS = 6
_LINK = struct.Struct("<QHHHHBBBBBBHff")
_GROUP = struct.Struct("<HHII")
LINE = (
    b'{"ts":"2026-01-02T03:04:05.123456Z","kind":"page","id":%d,"attempt":0,"url":"%b",'
    b'"outcome":"%b","status":200,"bytes":7600,"mime":"text/html","depth":2,'
    b'"via":"http://www.host1.example/","ip":"127.0.0.1","duration_ms":3,'
    b'"digest":"xxh3-128:%032x","canonical":%b,"reason":null}\n'
)


def url_of(number: int, hosts: int) -> tuple[bytes, bytes]:
    """The URL of a number, and its host."""
    host = b"www.host%d.example" % (number * 7919 % hosts)
    return b"http://%b/section/page%d.html" % (host, number), host


def links(start: int, hosts: int) -> bytes:
    """A LINKS payload of a batch of URLs."""
    payload = []
    for page in range(start, start + BATCH, PAGE):
        via = b"http://www.host%d.example/section/page%d.html" % (page % hosts, page)
        bare = []
        for number in range(page, page + PAGE):
            url, host = url_of(number, hosts)
            fingerprint = fingerprint_of(KEY, host.removeprefix(b"www."), url)
            fields = (fingerprint, len(url), 2, 3, 80, 7, len(host), 0, 0, 0, 0, 0, 0.5, 0.5)
            bare.append(_LINK.pack(*fields) + url)
        data = b"".join(bare)
        payload.append(_GROUP.pack(len(via), 0, PAGE, len(data)) + via + data)
    return b"".join(payload)


def line(number: int, hosts: int, outcome: bytes = b"success", page: int = 0) -> bytes:
    """The line of a URL, and of a duplicate of a page or of a redirection to it."""
    to = b'"%b"' % url_of(page, hosts)[0] if outcome == b"err30X" else b"null"
    return LINE % (number, url_of(number, hosts)[0], outcome, page or number, to)


def write(state: Path, urls: int, hosts: int) -> None:
    """Write the state, with the odd URLs done."""
    make_state(state, 1)
    fifo, _ = PersistentFifo.open(state / "shard-00", uuid=KEY, settings=Settings(64 << 20))
    log = CrawlLog(state / "crawl.log", KEY)
    for start in range(0, urls, BATCH):
        put = fifo.put(links(start, hosts), MASK)
        places = list(memoryview(put.positions).cast("Q"))
        ended = range(1, BATCH, 2)
        log.append(b"".join(line(start + n, hosts) for n in ended))
        pages = [ParsedPage(put.first_lsn + n, 1, Outcome.SUCCESS, 200) for n in ended]
        fifo.done(b"".join(map(done_entry, pages)), [places[n] for n in ended])
        fifo.flush()
    fifo.collect(wait=True)
    fifo.flush()
    for n in range(QUESTIONS):
        page = urls // QUESTIONS // 2 * 2 * n
        log.append(line(urls + n, hosts, b"duplicate", page + 1))
        log.append(line(urls + QUESTIONS + n, hosts, b"err30X", page))
    log.close()


def ask(state: Path, url: bytes) -> tuple[float, float, dict[str, Any]]:
    """Seconds of a question by the clock and of CPU, and the answer."""
    words = [sys.executable, "-m", "larbinpy", "why", "--json", "--state", str(state), url.decode()]
    began, used = time.perf_counter(), cpu_s()
    shown = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    seconds = time.perf_counter() - began
    return seconds, cpu_s() - used, json.loads(shown)


def cpu_s() -> float:
    """CPU seconds of all processes that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(state: Path, urls: int, hosts: int) -> None:
    """Ask for URLs from all over the state."""
    size = sum(path.stat().st_size for path in state.rglob("*") if path.is_file())
    print(f"{urls:,} URLs, {size / 1e9:.2f} GB")
    step = urls // QUESTIONS // 2 * 2
    for kind, expected, numbers in (
        ("done", {}, range(1, urls, step)),
        ("waiting", {}, range(0, urls, step)),
        ("unknown", {}, range(urls + 2 * QUESTIONS, 2 * urls, step)),
        ("done", {"repeats"}, range(urls, urls + QUESTIONS)),
        ("done", {"leads_to"}, range(urls + QUESTIONS, urls + 2 * QUESTIONS)),
    ):
        answers = [ask(state, url_of(number, hosts)[0]) for number in numbers[:QUESTIONS]]
        seconds, cpu, found = zip(*answers, strict=True)
        for answer in found:
            told = {name for name in ("repeats", "leads_to") if answer[name]}
            assert (answer["state"], told) == (kind, set(expected)), answer
        print(
            f"{kind:8} {' '.join(expected):8} median {statistics.median(seconds):.2f} s,"
            f" worst {max(seconds):.2f} s; {statistics.median(cpu):.2f} s of CPU"
        )


class NoIndex:
    """What an index would do, without it."""

    def appended(self, *_: int) -> None: ...
    def close(self) -> None: ...


def measure_appends(directory: Path) -> None:
    """A line with and without the index."""
    lines = [line(n, 1000) for n in range(64)]
    logs = [CrawlLog(directory / name, KEY) for name in ("a", "b")]
    crawlindex.CrawlIndex.close(logs[1]._index)
    logs[1]._index = NoIndex()  # type: ignore[assignment]
    pairs = []
    for _ in range(PAIRS):
        pair = []
        for log in logs:
            began = time.perf_counter()
            for _ in range(1000):
                log.append(b"".join(lines))
            pair.append((time.perf_counter() - began) / 64_000 * 1e6)
        pairs.append(pair)
    more = statistics.median(first - second for first, second in pairs)
    plain = statistics.median(second for _, second in pairs)
    print(f"a line appended: {plain:.2f} us, its index {more:.2f} us more")


def main() -> None:
    """Write in one process, ask in others."""
    urls = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    hosts = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    urls -= urls % BATCH
    if len(sys.argv) > 3:
        write(Path(sys.argv[3]), urls, hosts)
        return
    with tempfile.TemporaryDirectory() as directory:
        measure_appends(Path(directory))
        state = Path(directory) / "crawl"
        state.mkdir()
        words = [sys.executable, "-m", "tests.bench.why", str(urls), str(hosts), str(state)]
        subprocess.run(words, check=True)
        measure(state, urls, hosts)


if __name__ == "__main__":
    main()
