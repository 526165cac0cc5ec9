"""The output of a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy import wiring
from larbinpy.store.base import Nothing
from larbinpy.store.files import Files
from tests.starts import start

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("mode", "kind"), [(0, Nothing), (1, Files), (2, Files)])
def test_outputs(tmp_path: Path, mode: int, kind: type) -> None:
    """By ``outputMode``."""
    store = wiring.make_store(start(tmp_path, output_mode=mode, output_dir=tmp_path / "save"))
    assert isinstance(store, kind)
    store.close()
