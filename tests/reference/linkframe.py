"""What is asked of a LINKS payload, by its groups."""

from __future__ import annotations

from tests.reference.linkbuffers import FORCE, read_links
from tests.reference.logcodec import LINK, groups_of


def bare_links(groups: bytes) -> bytes:
    """The links without what stands around them."""
    return b"".join(
        LINK.pack(*fields) + url for _, _, links in groups_of(groups) for fields, url in links
    )


def fingerprints(groups: bytes) -> bytes:
    """The fingerprints of all links."""
    return b"".join(
        fields[0].to_bytes(8, "little") for _, _, links in groups_of(groups) for fields, _ in links
    )


def with_forced(groups: bytes, mask: bytes) -> bytes:
    """The mask with 1 for every link that is queued even if seen."""
    links = read_links(bare_links(groups))
    return bytes(1 if link.flags & FORCE else new for link, new in zip(links, mask, strict=True))
