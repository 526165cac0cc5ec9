"""The rim to the operating system: what it refuses comes out as one error that names the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy.errors import StorageError
from larbinpy.frontier.disk import Disk, write_file

if TYPE_CHECKING:
    from pathlib import Path


def test_what_an_earlier_attempt_left_cannot_be_removed(tmp_path: Path) -> None:
    """An error of removing it is like any other of the disk; the file is as it was."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    (tmp_path / "file.tmp" / "in the way").mkdir(parents=True)
    with pytest.raises(StorageError, match=str(path)):
        write_file(Disk(), path, b"new", is_synced=False)
    assert path.read_bytes() == b"old"
