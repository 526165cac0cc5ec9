"""The output of ``outputMode 0``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.store.base import Nothing
from tests.records import page

if TYPE_CHECKING:
    from larbinpy.store.base import Store


def test_nothing_is_a_store_that_keeps_nothing() -> None:
    """It takes pages and closes, any number of times."""
    store: Store = Nothing()
    store.put(page(), b"body", b"text/html")
    store.close()
    store.close()
