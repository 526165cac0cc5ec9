"""What is written of pages: the output, and the lines of ``crawl.log``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy._native.logline import LineMaker
from larbinpy.stateparts import STORED
from larbinpy.store.base import Nothing
from larbinpy.store.files import Files
from larbinpy.store.transaction import StoredPages

if TYPE_CHECKING:
    from larbinpy.config import Config
    from larbinpy.store.base import Store
    from larbinpy.wiring.start import Start

CREDIT_PER_CONNECTION: Final = 2
SPARE_CREDIT: Final = 100
"""Requests and unanswered pages of a crawl: so many a connection, and these."""


def make_store(start: Start) -> Store:
    """The output of ``outputMode``; what is not built yet is warned of by the configuration.

    Raises:
        StorageError: it cannot be opened.
    """
    config = start.config
    if config.output_mode not in (1, 2):
        return Nothing()
    window = CREDIT_PER_CONNECTION * config.pages_connexions + SPARE_CREDIT
    stored = StoredPages(start.state / STORED, start.index, window)
    return Files(config.output_dir.absolute(), stored)


def make_lines(config: Config) -> LineMaker:
    """The maker of log lines."""
    return LineMaker("larbin" if config.page_digest == "larbin" else "xxh3-128")
