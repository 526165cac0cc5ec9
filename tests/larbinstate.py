"""The states of ``tests/data/larbin-state``, unpacked as a real larbin left them."""

from __future__ import annotations

import lzma
import tarfile
from pathlib import Path

DATA = Path(__file__).parent / "data" / "larbin-state"
NAMES = ("fifo", "fifowait")


def unpack(name: str, directory: Path) -> Path:
    """Unpack a state into a new directory inside of ``directory``."""
    state = directory / f"larbin-{name}"
    state.mkdir()
    with tarfile.open(DATA / name / "fifos.tar.xz") as tar:
        tar.extractall(state, filter="data")
    packed = (DATA / name / "hashtable.bin.xz").read_bytes()
    (state / "hashtable.bin").write_bytes(lzma.decompress(packed))
    return state


def lines(state: Path, pattern: str) -> list[bytes]:
    """The lines of all files that match, in the order of their names."""
    return b"".join(path.read_bytes() for path in sorted(state.glob(pattern))).splitlines()
