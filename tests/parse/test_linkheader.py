"""The canonical URL of the header field Link, and nothing else in it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larbinpy.parse.linkheader import canonical_of

URL = b"http://a.test/x?y"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"<http://b.test/c>; rel=canonical", b"http://b.test/c"),
        (b'</c>;rel="Canonical"', b"/c"),
        (b'<c> ; title="a, <b>; rel=x" ; rel = "up  CANONICAL next"', b"c"),
        (b"</s>; rel=shortlink, </c>; rel=canonical", b"/c"),
        (b",, </s>,</c>; REL=canonical", b"/c"),
        (b"</1>; rel=canonical, </2>; rel=canonical", b"/1"),
        (b'</c>; title="a\\"; rel=x"; rel=canonical', b"/c"),
        (b'</a,b;c="d>; rel=canonical', b'/a,b;c="d'),
        (b"<>; rel=canonical", b""),
        (b"</c>; rel=canonical; rel=next", b"/c"),
        (b"</c>; rel=next; rel=canonical", None),
        (b"</c>; rel=canonicalx, </d>; xrel=canonical", None),
        (b"</canonical>; rel=next", None),
        (b"/c; rel=canonical", None),
        (b"</c; rel=canonical", None),
        (b'</b>; title="canonical; rel=x, </c>; rel=canonical', None),
        (b"</b> canonical, </c>; rel=canonical", None),
        (b"", None),
    ],
)
def test_the_first_canonical_link_is_given(value: bytes, expected: bytes | None) -> None:
    """By its rel, of several the first; in quotes or not; what is malformed ends the field."""
    assert canonical_of(value, URL) == expected


@pytest.mark.parametrize(
    ("anchor", "is_ours"),
    [
        (b"", True),
        (b"?y", True),
        (b"http://A.test:80/x?y", True),
        (b"/x", False),
        (b"data:", False),
    ],
)
def test_an_anchor_says_whose_link_it_is(anchor: bytes, is_ours: bool) -> None:
    """Only the page's own count."""
    value = b'</c>; rel=canonical; anchor="%b"' % anchor
    assert canonical_of(value, URL) == (b"/c" if is_ours else None)


PIECES = [b"<", b">", b";", b",", b'"', b"\\", b"=", b" ", b"rel", b"canonical", b"anchor", b"\xff"]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join))
def test_whatever_it_says_a_target_stands_in_it(value: bytes) -> None:
    """Nothing raises; a target is a part of the field without a closing bracket."""
    target = canonical_of(value, URL)
    assert target is None or (target in value and b">" not in target)


@pytest.mark.parametrize(
    "unit",
    [b"<", b"<>", b"<>,", b";", b'<>;a="', b'<>;a="\\', b"<>;a= ", b'<>;"', b" ", b"\\", b"<>;;"],
)
def test_a_hostile_field_takes_linear_time(unit: bytes) -> None:
    """As many bytes as a header may have, of whatever nests or repeats."""
    value = unit * (65_536 // len(unit)) + b"canonical"
    began = time.process_time()
    assert canonical_of(value, URL) is None
    assert time.process_time() - began < 2
