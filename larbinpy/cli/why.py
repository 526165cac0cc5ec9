"""``larbinpy why URL``: what became of a URL, by which record, and what would happen now."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from larbinpy.cli.arguments import configure, invoke
from larbinpy.cli.fate import LOG, fate_of, forms_of
from larbinpy.errors import ConfigError
from larbinpy.manifest import parse_manifest
from larbinpy.records import Filtered
from larbinpy.report import timestamp

if TYPE_CHECKING:
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


def why(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    return invoke(_why, "larbinpy why", arguments)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-c", "--config", "path", metavar="FILE", type=click.Path(path_type=Path),
    help="Configuration of the crawl (default: larbin.conf here, else the built-in defaults).",
)  # fmt: skip
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Replace a key.")
@click.option(
    "--state", metavar="DIR", type=click.Path(path_type=Path), help="The state (default: stateDir)."
)
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
@click.argument("url", metavar="URL")
def _why(
    path: Path | None, overrides: tuple[str, ...], state: Path | None, url: str, *, is_json: bool
) -> int:
    """Say what became of URL in a crawl, and why.

    Whether it was fetched or not, and whether the crawl runs or not: its normal form and shard,
    what decided, when, in which record, and what would happen now.
    Nothing is locked, changed or asked for.
    """
    config = configure(path, overrides).config
    directory = state or config.state_dir
    forms = forms_of(os.fsencode(url), config)
    if not forms:
        answer: Answer = {
            "url": url,
            "state": "invalid",
            "decided": "it is no http or https URL that could be fetched",
            "now": "a link to it would be refused",
        }
    else:
        manifest_path = directory / "MANIFEST"
        if not manifest_path.exists():
            raise ConfigError(f"{directory} is not a larbinpy state")
        manifest = parse_manifest(manifest_path.read_bytes(), manifest_path)
        answer = {"url": url, **answer_of(fate_of(forms, config, directory, manifest), directory)}
    click.echo(json.dumps(answer) if is_json else "\n".join(lines_of(answer)))
    return 0


def lines_of(answer: Answer) -> list[str]:
    """The answer for people: what is not known is left out."""
    return [
        f"{name + ':':<13}{_shown(value)}" for name, value in answer.items() if value is not None
    ]


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {one}" for name, one in value.items() if one is not None)
    return str(value)


def answer_of(fate: Fate, directory: Path) -> Answer:
    """The answer, field by field."""
    where = {
        "normal": fate.url.url.decode("ascii"),
        "shard": fate.shard,
        "fingerprint": f"{fate.fingerprint:016x}",
        "host": fate.url.host.decode("ascii"),
        "domain": fate.domain.decode("ascii", "replace"),
        "crawl": "running" if fate.is_running else "stopped",
    }
    return where | decision(fate, directory) | history(fate) | {"now": prospect(fate)}


# --- what decided --------------------------------------------------------------------------------


def decision(fate: Fate, directory: Path) -> Answer:
    """State, what decided it, when, and the record that says so."""
    found, end = fate.found, fate.end
    if end is not None:
        return _ended(end)
    if found.is_waiting:
        return _waits(fate, directory)
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


def _waits(fate: Fate, directory: Path) -> Answer:
    found = fate.found
    record = _record(found.url_at, directory)
    if found.retry is not None and found.retry.attempt:
        last = fate.tries[-1].fields if fate.tries else {}
        cause = f": {last['outcome']}" if last else ""
        decided = f"tried in vain {found.retry.attempt} times{cause}"
        return _decided("waiting", decided, last.get("ts"), _record(found.retry_at, directory))
    if is_left_alone(fate):
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


def is_left_alone(fate: Fate) -> bool:
    """Whether the host of a URL is in a back-off now."""
    host = fate.found.host
    return host is not None and host.until_us > time.time() * 1e6


# --- what would happen now -----------------------------------------------------------------------


def prospect(fate: Fate) -> str:
    """What would happen to the URL from now on."""
    found = fate.found
    if found.is_waiting and fate.end is not None:
        return "its end is being noted; after a kill before that it would be fetched again"
    if fate.refusal is not None:
        return f"once the crawl goes on, it ends as outSite by {filter_name(fate.refusal)}"
    if found.is_waiting:
        return _next_fetch(fate)
    if found.is_seen or fate.ends:
        return "nothing: a link to it counts as a duplicate"
    if fate.link is not None and fate.link.refusal is not None:
        return f"a link to it would be refused by {filter_name(fate.link.refusal)}"
    if fate.link is not None and fate.link.table is not None:
        return "nothing: a link to it counts as seen"
    return f"a link to it would be queued by shard {fate.shard}"


def _next_fetch(fate: Fate) -> str:
    begin = "it is fetched" if fate.is_running else "once the crawl goes on, it is fetched"
    conditions = []
    if fate.found.retry is not None and fate.found.retry.not_before_us > time.time() * 1e6:
        conditions.append(f"not before {moment(fate.found.retry.not_before_us)}")
    if is_left_alone(fate) and fate.found.host is not None:
        conditions.append(f"not before {moment(fate.found.host.until_us)}")
    turn = "when its host's turn comes"
    if fate.found.ahead:
        turn += f", behind {fate.found.ahead} other URLs of its host"
    conditions.append(f"{turn}, if robots.txt and budgets allow it then")
    return f"{begin} {', '.join(conditions)}"
