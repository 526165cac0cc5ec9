"""What URLs cost that wait: many hosts in their delay, a host alone, a host with millions.

    delay   URLS (10 million) on HOSTS (1 million) hosts, all of them in their delay after a
            restart (waitDuration 3600): percent of a core that the shard takes, over 20 s, when
            all hosts have their addresses
    alone   one host, waitDuration 0, latency 0: how long the host is idle between the end of an
            answer and the next request, by the web's access log
    large   one host with URLS (5 million), 200 others with 500 each, waitDuration 0.2: requests a
            second of the large host and of the others, together and each without the other

Command: python -m tests.bench.waiting delay|alone|large [URLS [HOSTS]]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from larbinpy.testing.crawls import crawl_keys, write_config
from larbinpy.testing.web import WebProcess, WebSpec
from tests import states
from tests.crawldirs import ENVIRONMENT
from tests.reference import logcodec as reference

if TYPE_CHECKING:
    from collections.abc import Iterable

    from larbinpy.frontier.log import PersistentFifo

BATCH: Final = 900
SETTLE_S: Final = 40.0
ADDRESSES_PER_S: Final = 4000
"""At least; a shard takes so many new hosts a second."""
LOOK_S: Final = 20.0
LARGE: Final = b"127.3.0.1"
OTHERS: Final = 200
URLS_OF_OTHERS: Final = 500
WAIT_S: Final = 0.2


def host_of(number: int) -> bytes:
    """An address of its own."""
    return b"127.%d.%d.%d" % (64 + (number >> 16), number >> 8 & 255, number & 255)


def fill(path: Path, urls: Iterable[tuple[bytes, bytes]], port: int) -> None:
    """A state of one shard in which these hosts and paths wait."""
    states.make_state(path, 1)
    fifo = states.open_shard(path, 0, segment_bytes=64 << 20)
    links, number = [], 0
    for number, (host, tail) in enumerate(urls, 1):
        url = b"http://%b:%d/%b" % (host, port, tail)
        fields = (number * 0x9E3779B97F4A7C15 % 2**64, len(url), 2, 3, port, 7, len(host))
        links.append(reference.LINK.pack(*fields, 0, 0, 0, 0, 0, 0.5, 0.5) + url)
        if number % BATCH == 0:
            _put(fifo, links)
            links = []
    _put(fifo, links)
    fifo.close()
    print(f"{number:,} URLs wait", flush=True)


def _put(fifo: PersistentFifo, links: list[bytes]) -> None:
    data = b"".join(links)
    fifo.put(reference.GROUP.pack(0, 0, len(links), len(data)) + data, b"\1" * len(links))
    fifo.flush()


def start(web: WebProcess, directory: Path, **keys: str) -> subprocess.Popen[bytes]:
    """Begin, or go on with, a crawl in this directory; without seeds where it has a state."""
    directory.mkdir(exist_ok=True)
    every = crawl_keys(web, directory) | keys
    if (directory / "crawl" / "MANIFEST").exists():
        del every["seedFile"]
    write_config(directory / "larbin.conf", every, title="A crawl that waits.")
    words = [sys.executable, "-m", "larbinpy", "-c", str(directory / "larbin.conf")]
    return subprocess.Popen(words, env=ENVIRONMENT, cwd=directory, start_new_session=True)


def stop(crawl: subprocess.Popen[bytes]) -> None:
    """End a crawl; what it fetched is in the web's log."""
    crawl.terminate()
    crawl.wait()


def cpu_s(crawl: subprocess.Popen[bytes], role: str) -> float:
    """Processor time of the children of a role so far."""
    total = 0.0
    children = Path(f"/proc/{crawl.pid}/task/{crawl.pid}/children").read_text().split()
    for pid in children:
        if f"larbinpy.{role}" in Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " "):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / 100
    return total


def delay(directory: Path, urls: int, hosts: int) -> None:
    """CPU of a shard whose hosts are all in their delay."""
    with WebProcess(WebSpec(hosts=4, pages=20), directory / "web") as web:
        state = directory / "crawl"
        fill(state, ((host_of(n % hosts), b"%d" % n) for n in range(urls)), web.port)
        crawl = start(web, directory, waitDuration="3600")
        time.sleep(SETTLE_S + hosts / ADDRESSES_PER_S)
        before = cpu_s(crawl, "shard")
        time.sleep(LOOK_S)
        used = (cpu_s(crawl, "shard") - before) / LOOK_S
        stop(crawl)
        asked = len(web.requests())
    print(f"delay: {urls:,} URLs on {hosts:,} hosts: {used:.2%} of a core, {asked} requests")


def alone(directory: Path, pages: int) -> None:
    """Idle time of a host that may be asked all the time."""
    spec = WebSpec(hosts=1, roots=1, pages=pages, page_bytes=3000, links=30)
    with WebProcess(spec, directory / "web") as web:
        crawl = start(web, directory, waitDuration="0", pagesConnexions="20")
        crawl.wait()
        asked = sorted((r for r in web.requests() if not r.is_robots), key=lambda r: r.start_ns)
    gaps_us = sorted((after.start_ns - before.end_ns) / 1000 for before, after in pairwise(asked))
    seconds = (asked[-1].start_ns - asked[0].start_ns) / 1e9
    late = sum(gap > 10_000 for gap in gaps_us)
    print(
        f"alone: {len(asked):,} requests, {len(asked) / seconds:,.0f}/s; from an answer to the next"
        f" request {median(gaps_us):.0f} us in the median, {gaps_us[len(gaps_us) * 99 // 100]:.0f}"
        f" at the 99th percentile, {gaps_us[-1]:.0f} at most; {late} over 10 ms"
    )


def large(directory: Path, urls: int) -> None:
    """Rates of one host with many URLs and of others with few, with and without each other."""
    many = [(LARGE, n) for n in range(urls)]
    few = [(host_of(n % OTHERS), n) for n in range(OTHERS * URLS_OF_OTHERS)]
    for name, waiting in (("others alone", few), ("large alone", many), ("both", many + few)):
        place = directory / name.replace(" ", "-")
        with WebProcess(WebSpec(hosts=4, pages=20), place / "web") as web:
            work = ((host, b"%d" % n) for host, n in waiting)
            fill(place / "crawl", work, web.port)
            crawl = start(web, place, waitDuration=str(WAIT_S), pagesConnexions="500")
            while not web.requests():
                time.sleep(0.5)
            time.sleep(SETTLE_S / 8)
            began = len(web.requests())
            time.sleep(LOOK_S / 2)
            asked = [r for r in web.requests()[began:] if not r.is_robots]
            stop(crawl)
        seconds = (asked[-1].start_ns - asked[0].start_ns) / 1e9
        own = sum(r.address == LARGE for r in asked)
        print(
            f"large, {name}: the host with {urls:,} URLs {own / seconds:.1f} requests/s,"
            f" the others {(len(asked) - own) / seconds:,.0f} together",
            flush=True,
        )


def main() -> None:
    """The workload that is asked for."""
    name, *numbers = sys.argv[1:]
    given = [int(number) for number in numbers]
    with tempfile.TemporaryDirectory() as directory:
        if name == "delay":
            delay(Path(directory), *(given + [10_000_000, 1_000_000][len(given) :]))
        elif name == "alone":
            alone(Path(directory), *(given or [5_000]))
        else:
            large(Path(directory), *(given or [5_000_000]))


if __name__ == "__main__":
    main()
