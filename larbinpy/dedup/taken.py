"""Which table takes a URL that was never queued for one that was seen.

Tables of bits do so for a part of all URLs (``dedup.seen``), and the table of a larbin whose crawl
is continued for all that it had seen. Nothing is changed: a running crawl's tables are looked at
as they lie on disk, which for ``seen.bits`` is how they were up to a minute ago.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy._native.larbinhash import BitTable, url_codes
from larbinpy._native.linkgroups import link_groups
from larbinpy.dedup.bitsfile import LARBIN_NAME, NAME, BitsFile
from larbinpy.dedup.larbinbits import ContinuedSeen
from larbinpy.dedup.seen import ExactSeen

if TYPE_CHECKING:
    from pathlib import Path

_FINGERPRINT: Final = slice(0, 8)
"""Of a ``link_entry``."""


def table_with(
    directory: Path,
    key: bytes,
    link: bytes,
    *,
    seen_set: str,
    is_larbin_form: bool,
    boot_id: str,
) -> Path | None:
    """Find the table, in the directory of the URL's shard, that has a link's URL.

    Args:
        key: uuid of the crawl.
        link: one ``link_entry`` with its URL.
        seen_set, is_larbin_form: of the crawl; see ``ContinuedSeen``.
        boot_id: of the machine as it runs now.

    Raises:
        StorageError: a file cannot be read.

    Cost: reading 8 MB for each table of larbin's size.
    """
    if seen_set == "bits" and _is_in_bits(directory, key, link):
        return directory / NAME
    if seen_set == "bloom":
        from larbinpy.dedup.bloom import filter_with  # noqa: PLC0415 - only who uses it pays for it

        found = filter_with(directory, link[_FINGERPRINT], boot_id)
        if found is not None:
            return found
    has_it = _larbin_has(directory, key, link, is_larbin_form=is_larbin_form)
    return directory / LARBIN_NAME if has_it else None


def _is_in_bits(directory: Path, key: bytes, link: bytes) -> bool:
    raw = BitsFile(directory, key).load()
    if not raw:
        return False
    table = BitTable()
    table.load(raw)
    return 1 in table.contains_many(url_codes(link))


def _larbin_has(directory: Path, key: bytes, link: bytes, *, is_larbin_form: bool) -> bool:
    raw = BitsFile(directory, key, name=LARBIN_NAME).load()
    if not raw:
        return False
    seen = ContinuedSeen(ExactSeen(), raw, is_larbin_form=is_larbin_form)
    (group,) = link_groups(b"", b"", link, 1)
    return 1 not in seen.add_links(group, link[_FINGERPRINT])
