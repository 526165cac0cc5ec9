"""What is asked of LINKS payloads, held to the reference."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import linkframe
from tests.native.linkpayloads import groups, u8
from tests.reference import linkframe as reference


@settings(max_examples=30, deadline=None)
@given(groups())
def test_groups_are_split_as_the_reference_does(payload: bytes) -> None:
    """Bare links and fingerprints."""
    assert linkframe.bare_links(payload) == reference.bare_links(payload)
    assert linkframe.fingerprints(payload) == reference.fingerprints(payload)


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
        for function in (linkframe.bare_links, linkframe.fingerprints):
            with pytest.raises(ValueError, match="malformed"):
                function(bytes(damaged))
    else:
        assert expected == linkframe.bare_links(bytes(damaged))
