"""Hold a crawl that was killed again and again to what its web saw and what it must leave behind.

The web's access log and page list are the truth; the crawl's own files are checked against them.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from larbinpy.testing.web import Place, Scope, expected

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.testing.web import Expected, Request, SyntheticWeb, WebProcess
    from tests.chaos.life import Victim

LATE_NS: Final = 1_000_000_000
"""A busy web may read a request so long after the kill of whoever sent it."""
ID_SHARD_SHIFT: Final = 56

AGAIN: Final = "fetched again without a kill"
"""How the fault begins that a page was asked for twice and no kill is to blame."""
_BAD_WORDS: Final = (" damaged in ", "were lost", "internal error", "Traceback", "start afresh")


@dataclass(frozen=True, slots=True)
class Kill:
    """One SIGKILL."""

    at_ns: int
    target: str
    phase: str
    shard: int | None = None
    """Of a killed shard, if it could be told."""

    def may_repeat(self, shard: int) -> bool:
        """Whether it may make pages of this shard be fetched again.

        A shard that dies while the crawl stops has no successor, so that pages of other shards
        whose links it did not write cannot be finished.
        """
        if self.target == "shard":
            return self.shard in (None, shard) or self.phase == "drain"
        return self.target in ("group", "supervisor")


@dataclass(slots=True)
class Verdict:
    """What became of one crawl."""

    faults: list[str] = field(default_factory=list)
    """Every violation, in words."""
    requests: int = 0
    lost: int = 0
    refetched: list[int] = field(default_factory=list)
    """Pages fetched again because of each kill."""
    without_kill: int = 0
    """Pages fetched again that no kill is to blame for."""
    torn: int = 0
    """Records, lines and pages that are damaged or half there."""
    stored: int = 0
    stored_again: int = 0
    """Pages that stand in the output more than once."""
    without_index: int = 0
    """Page files that no index names."""
    restarts_s: list[float] = field(default_factory=list)
    """From the command to its first request."""


def judge(
    victim: Victim,
    kills: list[Kill],
    spawned_ns: list[int],
    *,
    requests: list[Request] | None = None,
    answer: Expected | None = None,
) -> Verdict:
    """Check a crawl that has finished.

    Args:
        spawned_ns: when each of its runs began.
        requests: that the crawl made, if others were made of this web too.
        answer: what it had to ask for, if that has been computed before.
    """
    verdict = Verdict()
    web = victim.web
    answer = answer or expected(web.spec, Scope())
    if requests is None:
        requests = web.requests()
    lines, extras = _log_lines(victim, verdict)
    shards = {line["url"].encode(): line["id"] >> ID_SHARD_SHIFT for line in lines}
    _check_requests(verdict, requests, answer, web.web, kills, shards, extras)
    _check_lines(verdict, lines, answer)
    _check_pages(verdict, victim.output, answer, web)
    _check_report(verdict, victim.state, answer, lines)
    _check_messages(verdict, victim.messages)
    said = victim.verify()
    if said:
        verdict.faults.append(f"state --verify: {said}")
    verdict.restarts_s = _restarts(requests, spawned_ns, kills)
    return verdict


# --- the web's access log -------------------------------------------------------------------


def _check_requests(
    verdict: Verdict,
    requests: list[Request],
    answer: Expected,
    web: SyntheticWeb,
    kills: list[Kill],
    shards: dict[bytes, int],
    extras: Counter[bytes],
) -> None:
    """Nothing is lost, nothing is invented, nothing is asked for twice without a kill."""
    names = {host: web.host(host).name for host in {r.host for r in requests} if host >= 0}
    times: dict[bytes, list[int]] = defaultdict(list)
    for request in requests:
        if not request.is_robots:
            url = b"http://%b:%d%b" % (names.get(request.host, b"?"), web.spec.port, request.path)
            times[url].append(request.start_ns)
    verdict.requests = sum(map(len, times.values()))
    lost, extra = answer.requests - times.keys(), times.keys() - answer.requests
    verdict.lost = len(lost)
    if lost:
        verdict.faults.append(f"lost: {len(lost)} pages, as {sorted(lost)[:3]}")
    if extra:
        verdict.faults.append(f"invented: {len(extra)} pages, as {sorted(extra)[:3]}")
    _check_repeats(verdict, times, answer, kills, shards, extras)


def _check_repeats(
    verdict: Verdict,
    times: dict[bytes, list[int]],
    answer: Expected,
    kills: list[Kill],
    shards: dict[bytes, int],
    extras: Counter[bytes],
) -> None:
    """Find the kill to blame for each page that was asked for again."""
    verdict.refetched = [0] * len(kills)
    causes = _Causes(kills)
    without = []
    for url, moments in times.items():
        if answer.statuses.get(url, 0) >= 500:
            continue  # these are tried again by rule, killed or not
        for before, after in pairwise(moments):
            cause = causes.of(before, after, shards.get(url, 0))
            if cause is not None:
                verdict.refetched[cause] += 1
            elif extras[url]:
                extras[url] -= 1
            else:
                without.append((url, before, after))
    verdict.without_kill = len(without)
    if without:
        verdict.faults.append(f"{AGAIN}: {len(without)} pages, as {without[:3]}")


class _Causes:
    """Finds the kill to blame for a page that was fetched again."""

    def __init__(self, kills: list[Kill]) -> None:
        self._kills = kills
        self._times = [kill.at_ns for kill in kills]

    def of(self, before_ns: int, after_ns: int, shard: int) -> int | None:
        """The first kill between two requests that could forget the first one."""
        for index in range(bisect_left(self._times, before_ns - LATE_NS), len(self._kills)):
            if self._times[index] > after_ns:
                return None
            if self._kills[index].may_repeat(shard):
                return index
        return None


def _restarts(requests: list[Request], spawned_ns: list[int], kills: list[Kill]) -> list[float]:
    """Seconds from each command to its first request, unless it was killed before."""
    starts = sorted(request.start_ns for request in requests)
    ends = [kill.at_ns for kill in kills]
    result = []
    for spawned in spawned_ns:
        at = bisect_left(starts, spawned)
        end = bisect_left(ends, spawned)
        if at < len(starts) and (end == len(ends) or starts[at] < ends[end]):
            result.append((starts[at] - spawned) / 1e9)
    return result


# --- what the crawl left ------------------------------------------------------------------------


def _log_lines(victim: Victim, verdict: Verdict) -> tuple[list[dict[str, Any]], Counter[bytes]]:
    """Lines of crawl.log about pages, and how often a URL was asked for besides (a probe)."""
    text = (victim.state / "crawl.log").read_bytes()
    lines = []
    for raw in text.split(b"\n")[:-1]:
        try:
            lines.append(json.loads(raw))
        except ValueError:
            verdict.torn += 1
            verdict.faults.append(f"crawl.log: torn line {raw[:60]!r}")
    if not text.endswith(b"\n"):
        verdict.torn += 1
        verdict.faults.append("crawl.log: torn last line")
    extras = Counter(line["url"].encode() for line in lines if line["kind"] == "retry")
    return [line for line in lines if line["kind"] == "page"], extras


def _check_lines(verdict: Verdict, lines: list[dict[str, Any]], answer: Expected) -> None:
    """Every URL has a line, all lines of a URL say the same, and what the web says."""
    outcomes: dict[bytes, set[str]] = defaultdict(set)
    for line in lines:
        outcomes[line["url"].encode()].add(line["outcome"])
    urls = answer.requests | answer.forbidden | answer.unresolvable
    if outcomes.keys() != urls:
        missing, extra = urls - outcomes.keys(), outcomes.keys() - urls
        verdict.faults.append(
            f"crawl.log: {len(missing)} URLs missing {sorted(missing)[:2]},"
            f" {len(extra)} too many {sorted(extra)[:2]}"
        )
    for url, names in sorted(outcomes.items()):
        is_success = url in answer.success
        if len(names) > 1 or ("success" in names) != is_success:
            verdict.faults.append(f"crawl.log: {url!r} ended as {sorted(names)}")


def _check_pages(verdict: Verdict, output: Path, answer: Expected, web: WebProcess) -> None:
    """Every good page is stored, byte by byte as the web has it."""
    stored: Counter[bytes] = Counter()
    model = web.web
    for index in sorted(output.glob("d*/index")):
        text = index.read_bytes()
        if text and not text.endswith(b"\n"):
            verdict.torn += 1
            verdict.faults.append(f"{index.parent.name}/index: torn last line")
        named = set()
        for line in text.split(b"\n")[:-1]:
            number, _, url = line.strip().partition(b" ")
            if not number.isdigit():
                verdict.torn += 1
                verdict.faults.append(f"{index.parent.name}/index: torn line {line[:60]!r}")
                continue
            name = f"f{int(number):05d}"
            named.add(name)
            place = model.find(url)
            path = index.parent / name
            if place is None or not path.exists() or path.read_bytes() != _body(web, place):
                verdict.torn += 1
                verdict.faults.append(f"{index.parent.name}/{name}: not the page {url!r}")
                continue
            stored[url] += 1
        verdict.without_index += len({path.name for path in index.parent.glob("f*")} - named)
    verdict.stored = len(stored)
    verdict.stored_again = stored.total() - len(stored)
    if verdict.stored_again:
        twice = [url for url, count in stored.items() if count > 1]
        verdict.faults.append(f"output: {len(twice)} pages stored more than once, as {twice[:3]}")
    missing, extra = answer.success - stored.keys(), stored.keys() - answer.success
    if missing or extra:
        verdict.faults.append(
            f"output: {len(missing)} pages missing {sorted(missing)[:2]},"
            f" {len(extra)} too many {sorted(extra)[:2]}"
        )


def _body(web: WebProcess, place: Place) -> bytes:
    return web.web.native.body(*place)


def _check_report(
    verdict: Verdict, state: Path, answer: Expected, lines: list[dict[str, Any]]
) -> None:
    """Our own counters say what the web says."""
    report = json.loads((state / "report.json").read_text())
    counters, identity = report["counters"], report["identity"]
    by_url = {line["url"]: line["outcome"] for line in lines}
    urls = len(answer.requests | answer.forbidden | answer.unresolvable)
    for name, found, right in (
        ("exit", report["exit"], "finished"),
        ("urls", counters["urls"], urls),
        ("pages", counters["pages"], len(answer.requests)),
        ("success", counters["success"], len(answer.success)),
        ("outcomes", report["outcomes"], dict(Counter(by_url.values()))),
        ("identity", identity, dict.fromkeys(identity, 0) | {"accepted": urls, "done": urls}),
    ):
        if found != right:
            verdict.faults.append(f"report.json: {name} is {found}, not {right}")


def check_identity(state: Path) -> str | None:
    """The fault of a report that does not add up, None for a good or missing one."""
    try:
        identity = json.loads((state / "report.json").read_text())["identity"]
    except FileNotFoundError:
        return None
    except ValueError:
        return "report.json: torn"
    rest = sum(identity[name] for name in ("done", "waiting", "ready", "in_flight", "parsing"))
    return None if identity["accepted"] == rest else f"report.json: identity {identity}"


def _check_messages(verdict: Verdict, path: Path) -> None:
    """No run spoke of damage or of a fault of its own."""
    for line in path.read_text(errors="replace").splitlines():
        if any(word in line for word in _BAD_WORDS):
            verdict.torn += " damaged in " in line
            verdict.faults.append(f"said: {line}")
