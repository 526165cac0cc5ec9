"""``larbinpy bench fetch``: what a shard costs, as a ratio to bare pycurl in the same run.

A shard is the fetch process of an ordinary crawl: robots.txt, delays, seen set, URL log, and a
parser that gets every page.  Bare pycurl (``larbinpy.testing.barecurl``) fetches the same pages
from the same web over as many connections, one request at a time to each host.  Runs go A B A B;
the result is the median of the pairs' ratios of CPU time for each page.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from larbinpy.cli.bench_memory import host_bytes
from larbinpy.cli.bench_runs import (
    STOP_S,
    Cost,
    RunFailed,
    child_with,
    cost,
    cpu_seconds,
    tree,
    watched,
)
from larbinpy.testing.crawls import crawl_command, crawl_keys, write_config
from larbinpy.testing.tlsweb import TlsWeb, is_available
from larbinpy.testing.web import Place, WebProcess, WebSpec

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

SHARD: Final = "larbinpy.shard"
IDLE_HOSTS: Final = 1000
IDLE_WAIT_S: Final = 5
"""By then all hosts of the idle crawl have been asked once, and wait for an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One web and how hard it is asked."""

    hosts: int
    pages: int
    """Of each host: more than can be fetched in a run."""
    connections: int
    latency: int = 0
    """Milliseconds."""
    keep_alive: bool = True
    is_https: bool = False


# Where connections grow, the latency grows with them: the web offers 10,000 pages a second to all.
CASES: Final = {
    "keep-alive": Case(hosts=1000, pages=1000, connections=200),
    "no-keep-alive": Case(hosts=1000, pages=500, connections=200, keep_alive=False),
    "B": Case(hosts=4000, pages=100, connections=3000, latency=200),
    "connections-100": Case(hosts=6000, pages=50, connections=100, latency=10),
    "connections-1000": Case(hosts=6000, pages=50, connections=1000, latency=100),
    "connections-5000": Case(hosts=6000, pages=50, connections=5000, latency=500),
    "https": Case(hosts=500, pages=100, connections=100, keep_alive=False, is_https=True),
}
ALONE: Final = ("idle", "memory")
"""What is measured without bare pycurl beside it."""


def add_fetch_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``bench fetch``."""
    names = (*CASES, *ALONE)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(names)}; all")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--seconds", type=int, default=10, help="of each run")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="sets")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there too")


def bench_fetch(given: argparse.Namespace) -> dict[str, Any]:  # Any: for JSON
    """Measure the cases that the arguments name, and print them.

    Raises:
        RunFailed: a case is not known, or a run ended badly.
    """
    unknown = [name for name in given.cases if name not in CASES and name not in ALONE]
    if unknown:
        raise RunFailed(f"no case {unknown[0]}; there are {', '.join((*CASES, *ALONE))}")
    results: dict[str, Any] = {}
    for name in given.cases or (*CASES, *ALONE):
        if name == "idle":
            results[name] = {"cpu_percent": _idle(given.seconds)}
            print(
                f"idle: {results[name]['cpu_percent']:.2f} % of a core, all processes", flush=True
            )
        elif name == "memory":
            results[name] = host_bytes()
            idle, ruled = results[name]["idle"], results[name]["ruled"]
            print(f"memory: {idle:.0f} bytes a host when idle, {ruled:.0f} with rules and state")
        elif CASES[name].is_https and not is_available():
            print(f"{name}: left out, it needs nginx and openssl", flush=True)
        else:
            results[name] = _case(name, CASES[name], given)
    return {"seconds": given.seconds, "set": given.sets, "cases": results}


def _case(name: str, case: Case, given: argparse.Namespace) -> dict[str, Any]:  # Any: for JSON
    pairs = []
    for number in range(given.pairs):
        bare = _bare(case, given.seconds)
        shard = _shard(case, given.seconds, given.sets)
        pairs.append((bare, shard))
        print(
            f"{name} {number + 1}: pycurl {bare.cpu_us:.1f} us ({bare.pages_per_s:,.0f}/s),"
            f" shard {shard.cpu_us:.1f} us ({shard.pages_per_s:,.0f}/s),"
            f" ratio {shard.cpu_us / bare.cpu_us:.2f}",
            flush=True,
        )
    ratio = median(shard.cpu_us / bare.cpu_us for bare, shard in pairs)
    bare_us, shard_us = (median(run.cpu_us for run in runs) for runs in zip(*pairs, strict=True))
    print(
        f"{name}: median of {len(pairs)} pairs: ratio {ratio:.2f}"
        f" (pycurl {bare_us:.1f} us, shard {shard_us:.1f} us)",
        flush=True,
    )
    return {
        "case": asdict(case),
        "pairs": [{"pycurl": asdict(bare), "shard": asdict(shard)} for bare, shard in pairs],
        "median_ratio": ratio,
        "median_us": {"pycurl": bare_us, "shard": shard_us},
    }


@contextmanager
def _web(case: Case) -> Iterator[tuple[WebProcess | TlsWeb, Path]]:
    """A fresh web and a directory for the run."""
    with tempfile.TemporaryDirectory(prefix="larbinpy-bench-") as name:
        directory = Path(name)
        spec = WebSpec.plain(
            hosts=case.hosts,
            roots=case.hosts,
            pages=case.pages,
            latency_ms=case.latency,
            keep_alive=case.keep_alive,
        )
        web: WebProcess | TlsWeb
        if case.is_https:
            web = TlsWeb(case.hosts, case.pages, directory / "web")
        else:
            web = WebProcess(spec, directory / "web")
        with web:
            yield web, directory


def _bare(case: Case, seconds: int) -> Cost:
    with _web(case) as (web, directory):
        urls = directory / "urls"
        if isinstance(web, TlsWeb):
            urls.write_bytes(web.seeds_file.read_bytes())
        else:
            model = web.web
            urls.write_bytes(
                b"".join(
                    model.url(Place(host, 0, page)) + b"\n"
                    for page in range(case.pages)
                    for host in range(case.hosts)
                )
            )
        words = [sys.executable, "-m", "larbinpy.testing.barecurl", str(urls)]
        words += [str(web.hosts_file), "--connections", str(case.connections)]
        words += ["--seconds", str(seconds)]
        if isinstance(web, TlsWeb):
            words += ["--ca", str(web.certificate)]
        return cost(watched(words, lambda pid: pid), web.page_ends(), warm_up=case.hosts)


def _shard(case: Case, seconds: int, sets: list[str]) -> Cost:
    with _web(case) as (web, directory):
        config = directory / "larbin.conf"
        keys = {
            **crawl_keys(web, directory),
            "pagesConnexions": str(case.connections),
            "fetchProcesses": "1",
            "limitTime": f"{seconds}s",
        }
        if isinstance(web, TlsWeb):
            keys["caFile"] = f'"{web.certificate}"'
        write_config(config, keys, title="Written by larbinpy bench fetch.")
        more = [word for pair in sets for word in ("--set", pair)]
        samples = watched(crawl_command(config, *more), lambda pid: child_with(pid, SHARD))
        return cost(samples, web.page_ends(), warm_up=case.hosts)


def _idle(seconds: int) -> float:
    """CPU of a crawl whose hosts all wait, in percent of a core."""
    case = Case(hosts=IDLE_HOSTS, pages=5, connections=200)
    with _web(case) as (web, directory):
        config = directory / "larbin.conf"
        keys = {**crawl_keys(web, directory), "waitDuration": "3600"}
        write_config(config, keys, title="Written by larbinpy bench fetch.")
        with subprocess.Popen(crawl_command(config), stdout=subprocess.DEVNULL) as crawl:
            time.sleep(IDLE_WAIT_S)
            pids = tree(crawl.pid)
            before_s = sum(map(cpu_seconds, pids))
            time.sleep(seconds)
            used_s = sum(map(cpu_seconds, pids)) - before_s
            for _ in range(2):  # the second one: at once
                crawl.send_signal(signal.SIGINT)
                time.sleep(0.5)
            crawl.wait(STOP_S)
    return 100 * used_s / seconds
