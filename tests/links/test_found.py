"""Links that Python makes are read by the URL kernel like those of the scanner."""

from __future__ import annotations

from larbinpy import url as urls
from larbinpy.links.found import ELEMENT_REDIRECT, ELEMENT_SEED, found_link
from tests.reference.linkbuffers import read_resolved


def test_bytes_of_the_protocol() -> None:
    """docs/protocol.md, section 6: element, attribute (href), rel, reserved, length, value."""
    assert found_link(ELEMENT_REDIRECT, b"/to").hex() == "0b010000030000002f746f"


def test_the_kernel_resolves_them() -> None:
    """The element is carried through."""
    found = found_link(ELEMENT_SEED, b"http://b.test/") + found_link(ELEMENT_REDIRECT, b"x")
    links = read_resolved(urls.resolve(urls.Base(b"http://a.test/d/"), found))
    assert [(link.element, link.url) for link in links] == [
        (ELEMENT_SEED, b"http://b.test/"),
        (ELEMENT_REDIRECT, b"http://a.test/d/x"),
    ]
