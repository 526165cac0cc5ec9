"""What the filters say now: of a link to a URL that was never queued, and of one that waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from larbinpy import url as urls
from larbinpy import wiring
from larbinpy.dedup.taken import table_with
from larbinpy.errors import ConfigError
from larbinpy.links.choice import ACCEPTED
from larbinpy.links.found import found_link
from larbinpy.manifest import boot_id
from larbinpy.records import Filtered

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy._native.linkfilter import LinkBatch
    from larbinpy.frontier.payloads import LoggedUrl
    from larbinpy.links.choice import Acceptance
    from larbinpy.manifest import Manifest
    from larbinpy.url import Url

ELEMENT_A: Final = 1


@dataclass(slots=True)
class NewLink:
    """The answer."""

    refusal: Filtered | None = None
    """The filter that would refuse it."""
    accept: str = ""
    """How the operator's function was asked, or why it was not; empty where there is none."""
    table: Path | None = None
    """Takes the URL for one that was seen."""


def new_link(
    url: Url,
    start: wiring.Start,
    manifest: Manifest,
    domains: urls.Domains,
    *,
    via: bytes = b"",
    flags: int = 0,
) -> NewLink:
    """Have the filters judge a link, and look it up where URLs count as seen without a record.

    Args:
        start: of the shard that the URL belongs to.
        via: the page of the link; none = it stands on the first page of the URL's own host.
        flags: ``LINK_*`` bits.

    Cost: milliseconds, and what the operator's function takes.
    """
    answer = NewLink()
    acceptance = _acceptance(start, answer)
    page = via or url.url[: url.url.index(b"/", url.host_start) + 1]
    batch = _run(url, start, domains, page, flags, acceptance)
    if batch.filtered:
        answer.refusal = Filtered(next(iter(batch.filtered)))
    else:
        answer.table = table_with(
            start.directory,
            start.uuid,
            batch.entries[0],
            seen_set=manifest.seen_set,
            is_larbin_form=manifest.url_mode == "larbin",
            boot_id=boot_id(),
        )
    return answer


def _acceptance(start: wiring.Start, answer: NewLink) -> Acceptance | None:
    """The operator's function, and how it is asked."""
    config = start.config
    if not config.accept:
        return None
    try:
        acceptance = wiring.make_acceptance(config, lambda text: click.echo(text, err=True))
    except ConfigError as error:
        answer.accept = f"{config.accept} could not be asked: {error}"
        return None
    answer.accept = f"{config.accept} was asked about a link without text and rel"
    return acceptance


def _run(
    url: Url,
    start: wiring.Start,
    domains: urls.Domains,
    page: bytes,
    flags: int,
    acceptance: Acceptance | None,
) -> LinkBatch:
    """Run the link through a parser's filter; whoever it belongs to, it is the first shard's."""
    return wiring.make_links(_alone(start), domains).run(
        urls.resolve(wiring.base_maker(start.config)(url.url), found_link(ELEMENT_A, url.url)),
        host=urls.host_of(page),
        depth=0,
        left=start.config.depth_in_site,
        flags=flags,
        choose=acceptance.on_page(page, 1) if acceptance else None,
    )


def refused_now(url: LoggedUrl, start: wiring.Start, domains: urls.Domains) -> Filtered | None:
    """Judge a URL that waits as a shard does that goes on with this configuration."""
    links = wiring.make_links(_alone(start), domains)
    _, _, text, via, _, host, *_ = url
    (code,) = links.judge([(text, host, via, url[14], url[11])])
    return None if code == ACCEPTED else Filtered(code)


def _alone(start: wiring.Start) -> wiring.Start:
    return wiring.Start(start.config, 0, start.state, start.uuid, 1, 1)
