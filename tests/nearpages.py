"""Near-duplicates for tests."""

from __future__ import annotations

from larbinpy._native.neartable import NearTable
from larbinpy.dedup.near import NearPages


def near_pages(**more: bool) -> NearPages:
    """With domains of two labels, and room for few hosts."""
    table = NearTable(bytearray(1 << 20), bytes(16), 10)
    return NearPages(table, lambda host: b".".join(host.split(b".")[-2:]), **more)
