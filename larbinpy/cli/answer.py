"""What ``larbinpy why`` answers: the fate of a URL in words. Pure, but for the time of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from larbinpy.cli.fate import LOG
from larbinpy.records import Filtered
from larbinpy.report import timestamp

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.cli.fate import Fate, LogLine, Target
    from larbinpy.cli.newlink import NewLink
    from larbinpy.frontier.search import Place

Answer = dict[str, Any]  # what JSON can say

KEYS: Final = {
    Filtered.OUT_SITE: "noExternalLinks, limitToDomain, lockSite",
    Filtered.EXTENSION: "forbiddenExtensions",
    Filtered.CGI: "getCGI",
    Filtered.TOO_DEEP: "depthInSite",
    Filtered.LINKS_PER_PAGE: "linksPerPage",
    Filtered.PATH_SEGMENTS: "maxPathSegments",
    Filtered.SEGMENT_REPEATS: "maxSegmentRepeats",
    Filtered.QUERY: "maxQueryParameters, maxQuerySize",
    Filtered.NOFOLLOW: "ignoreNofollow, ignoreRel",
    Filtered.REDIRECTS: "maxRedirects",
    Filtered.NOT_INCLUDED: "include",
    Filtered.EXCLUDED: "exclude",
    Filtered.NOT_ACCEPTED: "accept",
    Filtered.ACCEPT_ERROR: "accept",
}
"""Keys of the configuration that a filter obeys."""


def answer_of(fate: Fate, directory: Path, *, now_us: int) -> Answer:
    """The answer, field by field; see ``docs/why.md``.

    Args:
        directory: of the state; the files of records are named from there.
        now_us: wall clock, microseconds since 1970.
    """
    where = {
        "normal": fate.url.url.decode("ascii"),
        "shard": fate.shard,
        "fingerprint": f"{fate.fingerprint:016x}",
        "host": fate.url.host.decode("ascii"),
        "domain": fate.domain.decode("ascii", "replace"),
        "crawl": "running" if fate.is_running else "stopped",
    }
    decided = decision(fate, directory, now_us)
    return where | decided | history(fate) | {"now": prospect(fate, now_us)}


# --- what decided --------------------------------------------------------------------------------


def decision(fate: Fate, directory: Path, now_us: int) -> Answer:
    """State, what decided it, when, and the record that says so."""
    found, end = fate.found, fate.end
    if end is not None:
        return _ended(end)
    if found.is_waiting:
        return _waits(fate, directory, now_us)
    if found.is_seen:
        record = _record(found.done_at or found.url_at or found.seen, directory)
        return _decided("done", "its line in crawl.log is lost", None, record)
    state, decided = _unqueued(fate.link)
    table = fate.link.table if fate.link else None
    if table is None:
        return _decided(state, decided, None, None)
    saved = moment(table.stat().st_mtime_ns // 1000)
    return _decided(state, decided, saved, str(table.relative_to(directory)))


def _unqueued(link: NewLink | None) -> tuple[str, str]:
    """State of a URL that no link to was queued, and why none was, as far as it is known."""
    if link is not None and link.refusal is not None:
        return "refused", f"filter {filter_name(link.refusal)}"
    if link is not None and link.table is not None:
        return "unknown", f"no link to it was queued: by {link.table.name} it counts as seen"
    return "unknown", "no link to it was queued"


def _decided(state: str, decided: str, when: str | None, record: str | None) -> Answer:
    return {"state": state, "decided": decided, "when": when, "record": record}


def _ended(end: LogLine) -> Answer:
    return _decided("done", _outcome(end), end.fields["ts"], f"{LOG} at byte {end.offset}")


def _outcome(end: LogLine) -> str:
    fields = end.fields
    status = f", status {fields['status']}" if fields["status"] else ""
    reason = f": {fields['reason']}" if fields["reason"] else ""
    digest = f", digest {fields['digest']}" if fields["outcome"] == "duplicate" else ""
    return f"{fields['outcome']}{reason}{status}{digest}"


def _waits(fate: Fate, directory: Path, now_us: int) -> Answer:
    found = fate.found
    record = _record(found.url_at, directory)
    if found.retry is not None and found.retry.attempt:
        last = fate.tries[-1].fields if fate.tries else {}
        cause = f": {last['outcome']}" if last else ""
        decided = f"tried in vain {found.retry.attempt} times{cause}"
        return _decided("waiting", decided, last.get("ts"), _record(found.retry_at, directory))
    if is_left_alone(fate, now_us):
        record = _record(found.host_at, directory)
        return _decided("waiting", "its host is left alone (back-off)", None, record)
    return _decided("waiting", "its host's turn has not come", None, record)


def _record(place: Place | None, directory: Path) -> str | None:
    if place is None:
        return None
    return f"{place.path.relative_to(directory)} at byte {place.offset}"


def filter_name(refusal: Filtered) -> str:
    """A filter by the name that ``report.json`` has for it, and the keys it obeys."""
    keys = KEYS.get(refusal)
    return f"{refusal.label} ({keys})" if keys else refusal.label


# --- what is known beside it ---------------------------------------------------------------------


def history(fate: Fate) -> Answer:
    """How the URL was found and tried, what explains its end, and what is known of its host."""
    found, retry = fate.found, fate.found.retry
    return {
        **_origin(fate),
        "repeats": _repeats(fate),
        "leads_to": _leads_to(fate.target) if fate.target else None,
        "accept": (fate.link.accept or None) if fate.link else None,
        "queued": _queued(fate),
        "ahead": found.ahead if found.is_waiting else None,
        "tries": len(fate.tries) or None,
        "next_try": moment(retry.not_before_us) if retry and found.is_waiting else None,
        "backoff": _backoff(fate),
        "robots": _robots(fate.robots),
    }


def _origin(fate: Fate) -> Answer:
    """Depth, and the page that the URL was found on."""
    if fate.found.url is not None:
        url = fate.found.url
        return {"depth": url[8], "via": url[3].decode("ascii", "replace") or None}
    for line in (fate.ends + fate.tries)[-1:]:
        return {"depth": line.fields["depth"], "via": line.fields["via"]}
    return {}


def _repeats(fate: Fate) -> Answer | None:
    """The page that a duplicate repeats; its table of pages knows digests only."""
    if fate.original is None:
        return None
    fields, offset = fate.original.fields, fate.original.offset
    return {"url": fields["url"], "fetched": fields["ts"], "record": f"{LOG} at byte {offset}"}


def _leads_to(target: Target) -> Answer:
    """The target of a redirection, and what became of it."""
    if target.end is not None:
        state, decided = "done", _outcome(target.end)
    elif target.is_queued:
        state, decided = "waiting", "it was queued"
    else:
        state, decided = _unqueued(target.link)
    return {"url": target.url.decode("ascii"), "state": state, "decided": decided}


def _queued(fate: Fate) -> Answer | None:
    if fate.found.url is None or fate.found.url_at is None:
        return None
    place = fate.found.url_at
    url = fate.found.url
    return {"id": url[0], "level": url[10], "record": f"{place.path.name} at byte {place.offset}"}


def _backoff(fate: Fate) -> Answer | None:
    host = fate.found.host
    if host is None:
        return None
    return {"until": moment(host.until_us), "level": host.level, "failures": host.failures}


def _robots(line: LogLine | None) -> Answer | None:
    if line is None:
        return None
    fields = line.fields
    return {"asked": fields["ts"], "outcome": fields["outcome"], "status": fields["status"]}


def moment(us: int) -> str | None:
    """A time in microseconds since 1970; None for 0."""
    return timestamp(us) if us else None


def is_left_alone(fate: Fate, now_us: int) -> bool:
    """Whether the host of a URL is in a back-off now."""
    host = fate.found.host
    return host is not None and host.until_us > now_us


# --- what would happen now -----------------------------------------------------------------------


def prospect(fate: Fate, now_us: int) -> str:
    """What would happen to the URL from now on."""
    found = fate.found
    if found.is_waiting and fate.end is not None:
        return "its end is being noted; after a kill before that it would be fetched again"
    if fate.refusal is not None:
        return f"once the crawl goes on, it ends as outSite by {filter_name(fate.refusal)}"
    if found.is_waiting:
        return _next_fetch(fate, now_us)
    if found.is_seen or fate.ends:
        return "nothing: a link to it counts as a duplicate"
    if fate.link is not None and fate.link.refusal is not None:
        return f"a link to it would be refused by {filter_name(fate.link.refusal)}"
    if fate.link is not None and fate.link.table is not None:
        return "nothing: a link to it counts as seen"
    return f"a link to it would be queued by shard {fate.shard}"


def _next_fetch(fate: Fate, now_us: int) -> str:
    begin = "it is fetched" if fate.is_running else "once the crawl goes on, it is fetched"
    conditions = []
    if fate.found.retry is not None and fate.found.retry.not_before_us > now_us:
        conditions.append(f"not before {moment(fate.found.retry.not_before_us)}")
    if is_left_alone(fate, now_us) and fate.found.host is not None:
        conditions.append(f"not before {moment(fate.found.host.until_us)}")
    turn = "when its host's turn comes"
    if fate.found.ahead:
        turn += f", behind {fate.found.ahead} other URLs of its host"
    conditions.append(f"{turn}, if robots.txt and budgets allow it then")
    return f"{begin} {', '.join(conditions)}"
