"""Where the conformance data lies: beside the checkout, or where LARBINPY_SHARED says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("LARBINPY_SHARED", Path(__file__).parents[2].parent / "shared"))


def data(name: str) -> Path:
    """Path of a file of the conformance data; skips the test when there is none."""
    path = ROOT / "data" / name
    if not path.exists():
        pytest.skip(f"no conformance data at {path}")
    return path
