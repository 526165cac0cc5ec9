"""Fixtures of the tests of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import states
from tests.cli.asking import SHARDS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A state without URLs."""
    path = tmp_path / "crawl"
    states.make_state(path, SHARDS)
    return path
