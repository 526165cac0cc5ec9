"""The disk of any moment of a crawl, as a failure of the power would leave it.

``record.c`` notes what all processes do to the crawl's files.  A ``Medium`` takes that in, call by
call, and knows what a sync has brought to the medium and what only the system's memory holds: of
the latter anything may be lost, by POSIX, and ``image`` draws what.

    lost      all that was not synced: bytes and names
    prefix    each file keeps what was written to it up to some moment, each directory likewise
    blocks    of the bytes any 4 KiB blocks are kept, of the names any; lost blocks are zeros
    kept      nothing is lost, as when the processes alone die
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from pathlib import Path

MODES: Final = ("lost", "prefix", "blocks", "kept")
BLOCK: Final = 4096
(
    CREATE,
    WRITE,
    TRUNCATE,
    SYNC_BEGIN,
    SYNC_END,
    RENAME,
    UNLINK,
    MKDIR,
    RMDIR,
    ALL_BEGIN,
    ALL_END,
) = range(1, 12)
_HEAD: Final = struct.Struct("<IB3xQQQHHI")
_DIRECTORY: Final = -1


@dataclass(frozen=True, slots=True)
class Call:
    """One call that has returned."""

    what: int
    time_ns: int
    inode: int
    offset: int
    """Or size of a truncation, or thread of a sync."""
    path: str
    second: str
    data: bytes


def read_journal(path: Path) -> list[Call]:
    """What ``record.c`` has noted."""
    return list(_calls(path.read_bytes()))


def _calls(data: bytes) -> Iterator[Call]:
    at = 0
    while at < len(data):
        size, what, time_ns, inode, offset, path, second, more = _HEAD.unpack_from(data, at)
        start = at + _HEAD.size
        ends = start + path, start + path + second
        yield Call(
            what, time_ns, inode, offset, data[start : ends[0]].decode(),
            data[ends[0] : ends[1]].decode(), data[ends[1] : ends[1] + more],
        )  # fmt: skip
        at += size


@dataclass(slots=True)
class _File:
    """Bytes on the medium, and what was done to the file since: (number of the call, offset or
    new size, data or None)."""

    synced: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, int, bytes | None]] = field(default_factory=list)

    def sync(self, before: int) -> None:
        """All up to this call is on the medium."""
        rest = [one for one in self.pending if one[0] >= before]
        for one in self.pending:
            if one[0] < before:
                _apply(self.synced, *one[1:])
        self.pending = rest

    def image(self, rng: random.Random, mode: str) -> bytes:
        """What is there when the power comes back."""
        result = bytearray(self.synced)
        if mode == "lost" or not self.pending:
            return bytes(result)
        kept = rng.randint(0, len(self.pending)) if mode == "prefix" else len(self.pending)
        for _, offset, data in self.pending[:kept]:
            if mode != "blocks" or data is None:
                if mode != "blocks" or rng.random() < 0.5:
                    _apply(result, offset, data)
                continue
            for start, block in _blocks(offset, data):
                if rng.random() < 0.5:
                    _apply(result, start, block)
        return bytes(result)


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        content.extend(bytes(offset - len(content)))
    else:
        content.extend(bytes(max(offset - len(content), 0)))
        content[offset : offset + len(data)] = data


def _blocks(offset: int, data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        size = BLOCK - (offset + at) % BLOCK
        yield offset + at, data[at : at + size]
        at += size


@dataclass(frozen=True, slots=True)
class _Names:
    """A change of names that happens as a whole: path -> inode, None where a name is gone."""

    number: int
    directories: frozenset[str]
    changes: tuple[tuple[str, int | None], ...]


class Medium:
    """A disk to which the calls of a journal happen; nothing is synced at first."""

    def __init__(self) -> None:
        self._files: dict[int, _File] = {}
        self._live: dict[str, int] = {}
        self._durable: dict[str, int] = {}
        self._pending: list[_Names] = []
        self._begun: dict[tuple[int, int], int] = {}
        self._number = 0

    def happen(self, call: Call) -> None:
        """Take in the next call."""
        self._number += 1
        if call.what in (WRITE, TRUNCATE):
            data = call.data if call.what == WRITE else None
            file = self._files.setdefault(call.inode, _File())
            file.pending.append((self._number, call.offset, data))
        elif call.what == CREATE:
            self._files[call.inode] = _File()
            self._name((call.path, call.inode))
        elif call.what == MKDIR:
            self._name((call.path, _DIRECTORY))
        elif call.what in (UNLINK, RMDIR):
            self._name((call.path, None))
        elif call.what == RENAME:
            self._name((call.second, self._live[call.path]), (call.path, None))
        elif call.what in (SYNC_BEGIN, ALL_BEGIN):
            self._begun[call.offset, call.inode] = self._number
        else:
            self._sync(call, self._begun.pop((call.offset, call.inode)))

    def _name(self, *changes: tuple[str, int | None]) -> None:
        for path, inode in changes:
            if inode is None:
                self._live.pop(path, None)
            else:
                self._live[path] = inode
        directories = frozenset(str(PurePosixPath(path).parent) for path, _ in changes)
        self._pending.append(_Names(self._number, directories, changes))

    def _sync(self, call: Call, before: int) -> None:
        is_all = call.what == ALL_END
        for inode, file in self._files.items():
            if is_all or inode == call.inode:
                file.sync(before)
        rest = []
        for names in self._pending:
            if names.number < before and (is_all or call.path in names.directories):
                _rename(self._durable, names)
            else:
                rest.append(names)
        self._pending = rest

    def image(self, rng: random.Random, mode: str) -> dict[str, bytes | None]:
        """Path -> bytes (None: a directory) of all that is there when the power comes back."""
        names = dict(self._durable)
        for one in self._kept(rng, mode):
            _rename(names, one)
        return {
            path: None if inode == _DIRECTORY else self._files[inode].image(rng, mode)
            for path, inode in sorted(names.items())
            if self._has_parents(path, names)
        }

    def _kept(self, rng: random.Random, mode: str) -> list[_Names]:
        if mode in ("lost", "kept"):
            return self._pending if mode == "kept" else []
        if mode == "blocks":
            return [one for one in self._pending if rng.random() < 0.5]
        ends = {
            directory: rng.randint(0, self._number)
            for directory in sorted({d for one in self._pending for d in one.directories})
        }
        return [one for one in self._pending if all(one.number <= ends[d] for d in one.directories)]

    def _has_parents(self, path: str, names: dict[str, int]) -> bool:
        """Whether all directories above are there; those that nobody made were there before."""
        made = {one for one, inode in {**names, **self._live}.items() if inode == _DIRECTORY}
        return all(str(up) in names for up in PurePosixPath(path).parents if str(up) in made)


def _rename(names: dict[str, int], change: _Names) -> None:
    for path, inode in change.changes:
        if inode is None:
            names.pop(path, None)
        else:
            names[path] = inode
