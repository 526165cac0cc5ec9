"""LINKS payloads of all kinds, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.reference.logcodec import GROUP, LINK

urls = st.binary(min_size=1, max_size=50)
u64 = st.integers(0, 2**64 - 1)
u16 = st.integers(0, 2**16 - 1)
u8 = st.integers(0, 255)


@st.composite
def links(draw: st.DrawFn) -> bytes:
    """One link entry with its URL."""
    url = draw(urls)
    start = draw(st.integers(0, min(len(url), 255)))
    size = draw(st.integers(0, min(len(url) - start, 255)))
    return LINK.pack(
        draw(u64), len(url), draw(u16), draw(u16), draw(u16), start, size,
        draw(u8), draw(u8), draw(u8), draw(u8), 0, draw(st.floats(0, 1, width=32)), 0.5,
    ) + url  # fmt: skip


@st.composite
def groups(draw: st.DrawFn) -> bytes:
    """A LINKS payload of up to three groups."""
    payload = b""
    for found in draw(st.lists(st.lists(links(), max_size=3), max_size=3)):
        via, tag = draw(st.binary(max_size=40)), draw(st.binary(max_size=9))
        is_shared: bool = draw(st.booleans())
        if found and is_shared:  # a via that shares its start with a URL
            via = found[0][32:][: draw(st.integers(0, 60))] + via
        bare = b"".join(found)
        payload += GROUP.pack(len(via), len(tag), len(found), len(bare))
        payload += via + tag + bare
    return payload
