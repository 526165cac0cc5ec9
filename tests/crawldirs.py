"""What crawls in a directory of their own share: where things lie, and the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import larbinpy

ENVIRONMENT: Final = {
    **{name: value for name, value in os.environ.items() if not name.startswith("LARBINPY_")},
    "PYTHONPATH": str(Path(larbinpy.__file__).parents[1]),
}
"""The command runs in another directory, and larbinpy need not be installed."""


class CrawlDirectory:
    """The paths of a crawl whose keys are ``testing.crawls.crawl_keys``."""

    __slots__ = ()
    directory: Path

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.directory / "larbin.conf"

    @property
    def state(self) -> Path:
        """``stateDir``."""
        return self.directory / "crawl"

    @property
    def output(self) -> Path:
        """``outputDir``."""
        return self.directory / "save"
