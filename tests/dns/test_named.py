"""Named hosts are kept, whole, whatever the disk does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from larbinpy.dns.named import NamedHosts
from larbinpy.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path


def test_hosts_are_kept_once(tmp_path: Path) -> None:
    """And known in the next run, without their numbers."""
    path = tmp_path / "named"
    hosts = NamedHosts(path)
    for host in (b"a", b"b", b"a"):
        hosts.remember(host)
        hosts.commit()
    hosts.commit()
    assert path.read_bytes() == b"a\nb\n"
    again = NamedHosts(path)
    assert [again.has(7, host) for host in (b"a", b"b", b"c")] == [True, True, False]


def test_a_full_disk_cuts_no_name_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be written whole is taken back, and written by the next call."""
    path = tmp_path / "named"
    hosts = NamedHosts(path)
    hosts.remember(b"a.test")
    write = os.write
    with monkeypatch.context() as full:
        full.setattr("os.write", lambda fd, data: write(fd, data[:3]))
        with pytest.raises(StorageError, match="No space left"):
            hosts.commit()
    assert path.read_bytes() == b""
    hosts.commit()
    assert path.read_bytes() == b"a.test\n"
