"""Groups of links: those of their specification, and nothing is read behind a buffer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy import url as urls
from larbinpy._native import linkgroups
from larbinpy._native.linkfilter import LinkFilter
from larbinpy.links.found import ELEMENT_SEED, found_link
from larbinpy.records import Kind, Outcome, ParsedPage, Reading
from tests.records import page
from tests.reference import linkgroups as reference
from tests.reference.linkbuffers import Link

SHARDS = 3
FILTER = LinkFilter(key=bytes(16), shards=SHARDS, domain_of=lambda host: host, external=True)
TEXT = st.binary(max_size=20)


@st.composite
def readings(draw: st.DrawFn) -> Reading:
    """A page with some links, or with none that are told."""
    kind = draw(st.sampled_from(Kind))
    got = page(kind=kind, tag=draw(TEXT))
    reading = Reading(got, ParsedPage(1, 1, Outcome.SUCCESS), via=draw(TEXT))
    if draw(st.booleans()):
        hosts = draw(st.lists(st.integers(0, 20), max_size=8))
        found = b"".join(found_link(ELEMENT_SEED, b"http://h%d.test/" % host) for host in hosts)
        resolved = urls.resolve(urls.Base(b"http://a.test/"), found)
        reading.links = FILTER.run(resolved, host=b"a.test", depth=0, left=5)
    return reading


@settings(max_examples=150)
@given(st.lists(readings(), max_size=6))
def test_groups_of_pages_are_those_of_the_specification(batch: list[Reading]) -> None:
    """For each shard, in the order of the pages; with the fingerprints of all."""
    assert reference.groups_of(batch, SHARDS) == linkgroups.groups_of(batch, SHARDS)


@pytest.mark.parametrize("size", [10, 500, 2000])
@pytest.mark.parametrize("count", [0, 1, 260, 270, 2000])
def test_many_links_make_more_groups(count: int, size: int) -> None:
    """Cut where the specification cuts."""
    links = Link(b"http://b/".ljust(size, b"x")).pack() * count
    expected = list(reference.link_groups(b"http://a/", b"t", links, count))
    assert expected == linkgroups.link_groups(b"http://a/", b"t", links, count)


@pytest.mark.parametrize("cut", [1, 40, 2031])
def test_links_that_are_cut_short_are_refused(cut: int) -> None:
    """Where they are walked, by their lengths."""
    links = Link(b"http://b/".ljust(2000, b"x")).pack() * 600
    with pytest.raises(ValueError, match="do not fill"):
        linkgroups.link_groups(b"", b"", links[:-cut], 600)


def test_a_tag_must_fit_its_length() -> None:
    """Of 16 bits."""
    with pytest.raises(ValueError, match="no room"):
        linkgroups.link_groups(b"", b"t" * 65_536, b"", 0)
