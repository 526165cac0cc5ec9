"""What is asked of a LINKS payload, by its groups."""

from __future__ import annotations

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
