"""Bloom filters in files, one behind the other, and whether they may be believed.

Bits are set through a shared mapping: they survive the death of the process, not of the machine,
for nothing orders their way to the disk. So a small file names the boot of the machine under which
the filters were complete, and up to which segment of the log; under another boot they are thrown
away and made again from the seen files.

1. The boot file is written only when all that is known was added (``trust``), and removed before
   filters are made anew: filters that were being filled when the process died are not trusted.
2. A filter that has its capacity of entries gets no more; another of the same capacity is begun.
   The package itself never refuses, and its rate of errors would rise without a word.
3. The blocks of a file are allocated before its first bit is set: a full disk is an error here and
   not a SIGBUS later.
"""

from __future__ import annotations

import logging
import os
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

from pybloomfilter import BloomFilter

from larbinpy.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

log = logging.getLogger(__name__)

_BOOT_FILE: Final = "seen-bloom.boot"
_FILE_MODE: Final = 0o644


def filter_with(directory: Path, entry: bytes, boot_id: str) -> Path | None:
    """Give the file of the filter that has an entry, or takes it for one; it may be in use.

    Args:
        boot_id: of the machine as it runs now; filters of another boot are not believed.

    Raises:
        StorageError: a file cannot be read.
    """
    try:
        if _boot_of(directory)[0] != boot_id:
            return None
        for path in sorted(directory.glob("seen-*.bloom")):
            with suppress(ValueError), closing(BloomFilter.open(os.fspath(path), "r")) as one:
                if entry in one:
                    return path
    except OSError as error:
        raise StorageError(f"{directory}: Bloom filter: {error}") from error
    return None


def _boot_of(directory: Path) -> tuple[str, str]:
    """The boot under which the filters are complete, and up to which segment; empty = none."""
    path = directory / _BOOT_FILE
    boot_id, _, below = (path.read_text() if path.exists() else "").partition("\n")
    return boot_id, below.strip()


class BloomFiles:
    """A set of byte strings in Bloom filters ``seen-N.bloom`` of one directory.

    Process/thread: the directory belongs to one process; not for several threads.
    """

    __slots__ = (
        "_boot_id",
        "_capacity",
        "_counts",
        "_directory",
        "_filters",
        "_rate",
        "is_trusted",
        "trusted_below",
    )

    def __init__(self, directory: Path, *, capacity: int, rate: float, boot_id: str) -> None:
        """Open the filters of this boot, or begin with an empty one.

        Args:
            capacity: entries a filter.
            rate: of new entries taken for seen, once a filter is full.
            boot_id: name of this run of the machine, ``/proc/sys/kernel/random/boot_id``.

        Raises:
            StorageError: the directory or the disk refuses.
        """
        self._directory = directory
        self._capacity = capacity
        self._rate = rate
        self._boot_id = boot_id
        self._filters: list[BloomFilter] = []
        self._counts: list[int] = []
        self.trusted_below = 0
        """Entries of the log's segments below this one are here, if the filters are trusted."""
        try:
            self.is_trusted = self._open()
            """Whether what an earlier process added is here; else everything must be added."""
            if not self.is_trusted:
                self._begin()
        except OSError as error:
            raise StorageError(f"{directory}: Bloom filter: {error}") from error

    @property
    def nbytes(self) -> int:
        """Bytes of the filters' bits."""
        return sum(one.num_bits // 8 for one in self._filters)

    def __len__(self) -> int:
        """Return the number of entries; an estimate for those of an earlier process."""
        return sum(self._counts)

    def __contains__(self, entry: bytes) -> bool:
        """Return whether an entry was added, or is taken for one."""
        return any(entry in one for one in self._filters)

    def add(self, entry: bytes) -> None:
        """Add an entry; one that is known already costs no capacity.

        Raises:
            StorageError: the filters are full and the disk refuses another.
        """
        if entry in self:
            return
        if self._counts[-1] >= self._filters[-1].capacity:
            self._extend()
        self._filters[-1].add(entry)
        self._counts[-1] += 1

    def trust(self, below: int = 0) -> None:
        """Declare what was added: the next process of this boot believes it.

        Args:
            below: all entries of the log's segments below this one are here.

        Raises:
            StorageError: the disk refuses.
        """
        temporary = self._directory / f"{_BOOT_FILE}.tmp"
        try:
            temporary.write_text(f"{self._boot_id}\n{below}\n")
            temporary.replace(self._directory / _BOOT_FILE)
        except OSError as error:
            raise StorageError(f"{temporary}: {error}") from error
        self.is_trusted = True
        self.trusted_below = below

    def distrust(self) -> None:
        """Throw everything away: it must be added again.

        Raises:
            StorageError: the disk refuses.
        """
        self.is_trusted = False
        self.trusted_below = 0
        try:
            self._begin()
        except OSError as error:
            raise StorageError(f"{self._directory}: Bloom filter: {error}") from error

    def close(self) -> None:
        """Unmap the filters; the set must not be used any more."""
        for one in self._filters:
            one.close()
        self._filters.clear()

    def _open(self) -> bool:
        """Open what an earlier process of this boot left; False when there is nothing to trust."""
        boot_id, below = _boot_of(self._directory)
        if boot_id != self._boot_id or not below.isdecimal():
            return False
        self.trusted_below = int(below)
        while (path := self._path(len(self._filters))).exists():
            try:
                self._filters.append(BloomFilter.open(os.fspath(path)))
            except ValueError as error:
                log.warning("%s: %s; the seen set is made again", path, error)
                return False
        # The package forgets its own count when it is killed: count from the bits.
        self._counts = [one.approx_len for one in self._filters]
        return bool(self._filters)

    def _begin(self) -> None:
        """Throw away what is there, and start with one empty filter."""
        self.close()
        self._counts.clear()
        (self._directory / _BOOT_FILE).unlink(missing_ok=True)
        for path in self._directory.glob("seen-*.bloom*"):
            path.unlink()
        self._create()

    def _extend(self) -> None:
        log.warning(
            "%s: %d Bloom filters of %d URLs are full, another is begun; raise bloomCapacity",
            self._directory,
            len(self._filters),
            self._capacity,
        )
        try:
            self._create()
        except OSError as error:
            raise StorageError(f"{self._directory}: Bloom filter: {error}") from error

    def _create(self) -> None:
        """Add an empty filter; its file has its name only when it is whole."""
        path = self._path(len(self._filters))
        temporary = path.with_suffix(".bloom.tmp")
        one = BloomFilter(self._capacity, self._rate, os.fspath(temporary), perm=_FILE_MODE)
        try:
            os.posix_fallocate(one.fileno(), 0, temporary.stat().st_size)
            temporary.replace(path)
        except OSError:
            one.close()
            temporary.unlink()
            raise
        self._filters.append(one)
        self._counts.append(0)

    def _path(self, number: int) -> Path:
        return self._directory / f"seen-{number}.bloom"
