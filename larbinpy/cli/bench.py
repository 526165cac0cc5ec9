"""``larbinpy bench web | fetch | kernels``: the crawler beside bare pycurl, and the compiled part.

``web`` runs the ordinary command with an ordinary configuration file on a synthetic web, and a
bare pycurl loop over the same URLs, in pairs A B A B. The web counts the pages, from the first
request to the end of the last response. Compare the ratio: a machine's speed drifts.
``fetch`` measures a shard alone: its CPU per page beside bare pycurl's, see ``bench_fetch``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from larbinpy.cli.bench_fetch import add_fetch_arguments, bench_fetch
from larbinpy.cli.bench_runs import RunFailed
from larbinpy.testing.crawls import crawl_command, crawl_keys, write_config
from larbinpy.testing.web import Place, WebProcess, WebSpec

if TYPE_CHECKING:
    from larbinpy.testing.web import Request

SERVER_CPU: Final = 0
LIMIT_REACHED: Final = 3


@dataclass(frozen=True, slots=True)
class Workload:
    """One synthetic web and how hard it is asked."""

    hosts: int
    pages: int
    connections: int
    latency: int
    """Milliseconds."""
    seconds: int = 60


WORKLOADS: Final = {
    "A": Workload(hosts=1000, pages=100, connections=200, latency=0),
    "B": Workload(hosts=4000, pages=50, connections=3000, latency=200),
}


@dataclass(slots=True)
class Run:
    """What one crawl took, as the web saw it."""

    pages: int
    seconds: float
    cpu_us: dict[str, float]
    """Process name to CPU microseconds for each page of the run."""

    @property
    def pages_per_s(self) -> float:
        """Pages by the time from the first request to the last response."""
        return self.pages / self.seconds if self.seconds else 0.0


def bench(argv: list[str]) -> int:
    """Run the benchmark that the arguments name; returns the exit code."""
    given = _arguments(argv)
    if given.what == "kernels":
        return _bench_kernels(given.names)
    try:
        if given.what == "fetch":
            result = {"machine": _machine(), **bench_fetch(given)}
        else:
            result = _bench_web(given)
    except (RunFailed, OSError) as error:
        print(f"larbinpy bench: {error}", file=sys.stderr)
        return 1
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")
    return 0


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="larbinpy bench", description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    web = commands.add_parser("web", help="crawl a synthetic web beside bare pycurl")
    web.add_argument("workload", nargs="?", choices=sorted(WORKLOADS), default="A")
    for name in ("hosts", "pages", "connections", "latency", "seconds"):
        web.add_argument(f"--{name}", type=int, help="instead of the workload's")
    web.add_argument("--pairs", type=int, default=6)
    web.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="sets")
    web.add_argument("--json", type=Path, metavar="FILE", help="write the result there too")
    add_fetch_arguments(commands.add_parser("fetch", help="a shard's CPU beside bare pycurl's"))
    kernels = commands.add_parser("kernels", help="compiled code beside its plain reference")
    kernels.add_argument("names", nargs="*", help="kernels; default all")
    return parser.parse_args(argv)


# --- the web ----------------------------------------------------------------------------------


def _bench_web(given: argparse.Namespace) -> dict[str, Any]:  # Any: for JSON
    names = ("hosts", "pages", "connections", "latency", "seconds")
    changes = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    workload = replace(WORKLOADS[given.workload], **changes)
    pairs: list[tuple[Run, Run]] = []
    for number in range(given.pairs):
        pairs.append((_run_curl(workload), run_larbinpy(workload, given.sets)))
        _print_pair(number, *pairs[-1])
    ratio = median(ours.pages_per_s / bare.pages_per_s for bare, ours in pairs)
    print(f"median ratio of {len(pairs)} pairs: {ratio:.3f} of bare pycurl")
    return {
        "machine": _machine(),
        "workload": {"name": given.workload, **asdict(workload), "set": given.sets},
        "pairs": [{"pycurl": _numbers(bare), "larbinpy": _numbers(ours)} for bare, ours in pairs],
        "median_ratio": ratio,
    }


def _print_pair(number: int, bare: Run, ours: Run) -> None:
    if number == 0:
        print(f"{'pair':>4} {'pycurl/s':>10} {'larbinpy/s':>10} {'ratio':>6}  CPU us per page")
    cpu = {**bare.cpu_us, **ours.cpu_us}
    print(
        f"{number + 1:>4} {bare.pages_per_s:>10,.0f} {ours.pages_per_s:>10,.0f}"
        f" {ours.pages_per_s / bare.pages_per_s:>6.3f}  "
        + ", ".join(f"{name} {value:.1f}" for name, value in cpu.items()),
        flush=True,
    )


def _numbers(run: Run) -> dict[str, Any]:  # Any: for JSON
    return {**asdict(run), "pages_per_s": run.pages_per_s}


def _web(workload: Workload, directory: Path) -> WebProcess:
    spec = WebSpec.plain(
        hosts=workload.hosts,
        roots=workload.hosts,
        pages=workload.pages,
        latency_ms=workload.latency,
    )
    is_alone = (os.cpu_count() or 1) > 1
    return WebProcess(spec, directory, cpu=SERVER_CPU if is_alone else None)


def _run_curl(workload: Workload) -> Run:
    with tempfile.TemporaryDirectory(prefix="larbinpy-bench-") as name:
        directory = Path(name)
        with _web(workload, directory) as web:
            urls = directory / "urls"
            places = (
                Place(host, 0, page)
                for page in range(workload.pages)
                for host in range(workload.hosts)
            )
            model = web.web
            urls.write_bytes(b"".join(model.url(place) + b"\n" for place in places))
            words = [sys.executable, "-m", "larbinpy.testing.barecurl", str(urls)]
            words += [str(web.hosts_file), "--connections", str(workload.connections)]
            words += ["--seconds", str(workload.seconds)]
            ended = subprocess.run(words, stdout=subprocess.PIPE, check=False)
            if ended.returncode:
                raise RunFailed(f"bare pycurl ended with {ended.returncode}")
            cpu_s = float(json.loads(ended.stdout)["cpu_seconds"])
            return _measured(web.requests(), {"pycurl": cpu_s})


def run_larbinpy(workload: Workload, sets: list[str]) -> Run:
    """Crawl the web of a workload with the keys of ``sets`` (KEY=VALUE).

    Raises:
        RunFailed: the crawl ended badly.
    """
    with tempfile.TemporaryDirectory(prefix="larbinpy-bench-") as name:
        directory = Path(name)
        with _web(workload, directory / "web") as web:
            config = directory / "larbin.conf"
            keys = {
                **crawl_keys(web, directory),
                "pagesConnexions": str(workload.connections),
                "limitTime": f"{workload.seconds}s",
            }
            write_config(config, keys, title="Written by larbinpy bench web.")
            more = [word for pair in sets for word in ("--set", pair)]
            ended = subprocess.run(
                crawl_command(config, *more), stdout=subprocess.DEVNULL, check=False
            )
            if ended.returncode not in (0, LIMIT_REACHED):
                raise RunFailed(f"the crawl ended with {ended.returncode}")
            report = json.loads((directory / "crawl" / "report.json").read_bytes())
            return _measured(web.requests(), process_cpu(report["processes"]))


def process_cpu(processes: Any) -> dict[str, float]:  # Any: what JSON holds
    """Name to CPU seconds, of the ``processes`` of a report: a list or an object of records."""
    if isinstance(processes, dict):
        return {name: float(record["cpu_seconds"]) for name, record in processes.items()}
    return {record["name"]: float(record["cpu_seconds"]) for record in processes}


def _measured(requests: list[Request], cpu_s: dict[str, float]) -> Run:
    """What the access log tells, robots.txt not counted as pages."""
    pages = sum(r.status == 200 and r.end_ns > 0 and not r.is_robots for r in requests)
    if not pages:
        raise RunFailed("nothing was fetched")
    nanoseconds = max(r.end_ns for r in requests) - requests[0].start_ns
    cpu_us = {name: seconds * 1e6 / pages for name, seconds in cpu_s.items()}
    return Run(pages=pages, seconds=nanoseconds / 1e9, cpu_us=cpu_us)


def _machine() -> dict[str, Any]:  # Any: for JSON
    import pycurl

    from larbinpy import __version__

    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "pycurl": pycurl.version,
        "larbinpy": __version__,
        "commit": _commit(),
    }


def _cpu_name() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "")


def _commit() -> str:
    words = ["git", "-C", str(_checkout()), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""


# --- kernels ----------------------------------------------------------------------------------


def _checkout() -> Path:
    return Path(__file__).parents[2]


def _bench_kernels(names: list[str]) -> int:
    found = {
        path.stem.removeprefix("micro_"): f"tests.bench.{path.stem}"
        for path in sorted((_checkout() / "tests" / "bench").glob("micro_*.py"))
    }
    if not found:
        print("larbinpy bench kernels: only in a checkout, where tests/bench is", file=sys.stderr)
        return 1
    unknown = [name for name in names if name not in found]
    if unknown:
        print(
            f"larbinpy bench kernels: no {unknown[0]}; there are {', '.join(found)}",
            file=sys.stderr,
        )
        return 2
    sys.path.insert(0, str(_checkout()))
    for name in names or found:
        print(f"== {name}", flush=True)
        importlib.import_module(found[name]).main()
    return 0
