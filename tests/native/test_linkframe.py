"""What is asked of LINKS payloads, held to the reference."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import linkframe
from tests.native.linkpayloads import groups, u8
from tests.reference import linkframe as reference
from tests.reference.linkbuffers import FORCE, Link, group_of

SEED = 2


@settings(max_examples=30, deadline=None)
@given(groups(), st.data())
def test_groups_are_walked_as_the_reference_does(payload: bytes, data: st.DataObject) -> None:
    """Bare links, fingerprints, and which links are queued in any case."""
    assert linkframe.bare_links(payload) == reference.bare_links(payload)
    assert linkframe.fingerprints(payload) == reference.fingerprints(payload)
    count = len(reference.fingerprints(payload)) // 8
    mask = data.draw(st.binary(min_size=count, max_size=count))
    assert linkframe.with_forced(payload, mask) == reference.with_forced(payload, mask)


@settings(max_examples=60, deadline=None)
@given(groups(), st.data())
def test_malformed_groups_are_refused(payload: bytes, data: st.DataObject) -> None:
    """Whatever byte is changed or cut: refused exactly when the reference refuses."""
    damaged = bytearray(payload + data.draw(st.binary(max_size=3)))
    if damaged:
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at] = data.draw(u8)
        del damaged[data.draw(st.integers(at, len(damaged))) :]
    try:
        expected = reference.bare_links(bytes(damaged))
    except ValueError:
        with_forced = partial(linkframe.with_forced, mask=b"")
        for function in (linkframe.bare_links, linkframe.fingerprints, with_forced):
            with pytest.raises(ValueError, match="malformed"):
                function(bytes(damaged))
    else:
        assert expected == linkframe.bare_links(bytes(damaged))


def test_forced_links_are_new() -> None:
    """The mask is 1 for each link with the flag, over all groups, and stays for the others."""
    links = [Link(b"u", flags=flags) for flags in (FORCE, 0, FORCE | SEED, SEED)]
    payload = group_of(links[0], via=b"http://a/") + group_of() + group_of(*links[1:], tag=b"t")
    assert linkframe.with_forced(payload, bytes(4)) == bytes([1, 0, 1, 0])
    assert linkframe.with_forced(payload, bytes([1, 1, 1, 0])) == bytes([1, 1, 1, 0])


def test_one_forced_link_changes_nothing_else() -> None:
    """All slices of one byte are one object: to write into it would change them all."""
    shared = b"\0\1"[:1]
    assert linkframe.with_forced(group_of(Link(b"u", flags=FORCE)), shared) == bytes([1])
    assert shared[0] == 0


def test_the_mask_covers_all_links() -> None:
    """One of another length is refused."""
    with pytest.raises(ValueError, match="1 links, but a mask of 2 bytes"):
        linkframe.with_forced(group_of(Link(b"u")), b"\0\0")
