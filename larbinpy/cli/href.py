"""Links written out in full, as the URL standard serialises them: with fragment and user info, and
of any scheme; what a crawl queues is less than that."""

from __future__ import annotations

from typing import Final

import ada_url

from larbinpy.query import encode_query, is_utf8

_LEGACY_QUERIES: Final = frozenset({"http:", "https:", "ftp:", "file:"})
"""Schemes whose queries are written in the encoding of the document."""
_BREAKS: Final = str.maketrans("", "", "\t\n\r")


def href(value: str, base: str, encoding: str) -> str | None:
    """A link in full; None when it does not parse.

    Args:
        value: as a parser sees it.
        base: of its document, absolute.
        encoding: of its document, by the name in the encoding standard.
    """
    try:
        if not is_utf8(encoding) and ada_url.URL(value, base=base).protocol in _LEGACY_QUERIES:
            value = _with_query_in(encoding, value)
        return str(ada_url.join_url(base, value))
    except ValueError:
        return None


def _with_query_in(encoding: str, value: str) -> str:
    """The link with its query in the encoding of its document."""
    rest, hash_mark, fragment = value.translate(_BREAKS).partition("#")
    path, mark, query = rest.partition("?")
    return path + mark + encode_query(query, encoding).decode() + hash_mark + fragment
