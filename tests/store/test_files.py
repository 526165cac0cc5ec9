"""``outputMode 1``: whatever happens, a line has its whole file, and a page is there once."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from larbinpy.errors import StorageError
from larbinpy.records import Page
from larbinpy.store import files as module
from larbinpy.store.files import Files
from larbinpy.store.transaction import StoredPages

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

WINDOW = 5


def page(number: int, *, attempt: int = 0) -> Page:
    """A page whose URL tells its number."""
    return Page(
        number, 1, attempt, 0, 0, 0, 200, 0, 0, 0, 0, 0.0, 0.0, 0, 0, b"",
        b"http://a.example/%d" % number, b"", b"", b"", b"", b"",
    )  # fmt: skip


def output(tmp_path: Path, index: int = 0) -> Files:
    """The output of a parser."""
    return Files(tmp_path / "save", StoredPages(tmp_path / "stored", index, WINDOW))


def put(store: Files, numbers: Iterable[int], *, version: int = 1, attempt: int = 0) -> None:
    """Store pages; their bodies tell number and version."""
    for number in numbers:
        store.put(page(number, attempt=attempt), body(number, version), b"text/html")


def body(number: int, version: int = 1) -> bytes:
    """What is stored for a page."""
    return b"page %d, version %d" % (number, version)


def stored(tmp_path: Path) -> dict[str, bytes]:
    """URL -> body by the indexes; fails unless files and lines belong to each other."""
    found = {}
    for directory in sorted((tmp_path / "save").glob("d*")):
        if not any(directory.iterdir()):
            continue  # a kill came before its first page
        lines = (directory / "index").read_bytes().splitlines()
        names = [f"f{number:05d}" for number in range(len(lines))]
        assert sorted(path.name for path in directory.iterdir()) == [*names, "index"]
        for name, line in zip(names, lines, strict=True):
            number, url = line.split()
            assert int(number) == int(name[1:])
            assert url not in found, f"{url!r} is there twice"
            found[url.decode()] = (directory / name).read_bytes()
    return found


def expected(numbers: Iterable[int], version: int = 1) -> dict[str, bytes]:
    """What ``stored`` should find."""
    return {f"http://a.example/{number}": body(number, version) for number in numbers}


@pytest.fixture(autouse=True)
def _small_and_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small directories, and a medium that is not waited for."""
    monkeypatch.setattr(module, "PAGES_PER_DIRECTORY", 4)
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, lambda _fd: None)


def test_pages_are_numbered_files_with_an_index(tmp_path: Path) -> None:
    """In directories of so many."""
    store = output(tmp_path)
    put(store, range(6))
    store.close()
    assert stored(tmp_path) == expected(range(6))
    assert (tmp_path / "save/d00001/index").read_bytes() == (
        b"   0 http://a.example/4\n   1 http://a.example/5\n"
    )


def test_a_restart_goes_on_in_the_same_directory(tmp_path: Path) -> None:
    """After a kill as after an orderly end; each parser in its own."""
    for start in range(0, 6, 2):
        stores = [output(tmp_path, index) for index in range(2)]
        for index, store in enumerate(stores):
            put(store, range(100 * index + start, 100 * index + start + 2))
    assert stored(tmp_path) == expected([*range(6), *range(100, 106)])
    names = sorted(path.name for path in (tmp_path / "save").iterdir())
    assert names == [f"d{number:05d}" for number in range(4)]


@pytest.mark.parametrize("leftover", ["file", "torn line", "temporary"])
def test_what_a_kill_left_is_removed(leftover: str, tmp_path: Path) -> None:
    """A file without its line, half a line, a copy that did not get its name."""
    put(output(tmp_path), range(3))
    directory = tmp_path / "save/d00000"
    if leftover == "temporary":
        (directory / ".f00001.tmp").write_bytes(b"half")
    else:
        (directory / "f00003").write_bytes(b"half")
    if leftover == "torn line":
        with (directory / "index").open("ab") as index:
            index.write(b"   3 http://a.exa")
    put(output(tmp_path), range(3, 4))
    assert stored(tmp_path) == expected(range(4))


def test_a_page_that_comes_again_replaces_its_copy(tmp_path: Path) -> None:
    """After a kill, whichever parser gets it, also a page that was noted and never stored."""
    store = output(tmp_path)
    put(store, range(6))
    store._stored.note(50, module._PLACE.pack(1, 2))
    after = [output(tmp_path, index) for index in range(2)]
    put(after[0], [1, 5], version=2)
    put(after[1], [4, 50], version=2)
    put(after[0], [7])
    assert stored(tmp_path) == {
        **expected([0, 2, 3, 7]),
        **expected([1, 4, 5, 50], version=2),
    }


def test_a_page_sent_again_after_its_parser_died_replaces_its_copy(tmp_path: Path) -> None:
    """The other parser reads what the dead one noted since."""
    dead, other = output(tmp_path), output(tmp_path, 1)
    put(other, [100])
    put(dead, [1])
    put(other, [1], version=2, attempt=1)
    assert stored(tmp_path) == {**expected([100]), **expected([1], version=2)}


def test_a_page_asked_for_again_after_its_shard_died_replaces_its_copy(tmp_path: Path) -> None:
    """Its first copy was answered, but the shard did not live to write that."""
    stores = [output(tmp_path, index) for index in range(2)]
    put(stores[1], [100])
    put(stores[0], range(1, 4))
    stores[0].answered(range(1, 4))
    for store in stores:
        store.left(0)
    put(stores[0], range(4, 20))
    stores[0].answered(range(4, 20))
    put(stores[1], [1], version=2)
    put(stores[0], [2], version=2)
    assert stored(tmp_path) == {
        **expected([100, *range(3, 20)]),
        **expected([1, 2], version=2),
    }


def test_places_of_done_pages_are_forgotten(tmp_path: Path) -> None:
    """So that notes do not grow with the crawl."""
    store = output(tmp_path)
    put(store, range(40))
    store.answered(range(40))
    assert set(store._stored._notes.places) == set(range(35, 40))


def test_full_directories_may_be_moved_away(tmp_path: Path) -> None:
    """Their numbers are not used again, and a page that was in them is stored anew."""
    put(output(tmp_path), range(6))
    (tmp_path / "save/d00000").rename(tmp_path / "away")
    store = output(tmp_path)
    put(store, [0, *range(6, 9)])
    names = sorted(path.name for path in (tmp_path / "save").iterdir())
    assert names == ["d00001", "d00002"]
    assert stored(tmp_path) == expected([0, *range(4, 9)])


def test_also_the_open_directory_may_be_moved_away(tmp_path: Path) -> None:
    """The next page begins another one, now and after a restart."""
    store = output(tmp_path)
    put(store, [0])
    shutil.move(tmp_path / "save", tmp_path / "away 1")
    put(store, [1])
    shutil.move(tmp_path / "save", tmp_path / "away 2")
    put(output(tmp_path), [2])
    assert [path.name for path in (tmp_path / "save").iterdir()] == ["d00002"]
    assert stored(tmp_path) == expected([2])


@pytest.mark.parametrize("at", range(1, 9))
@pytest.mark.parametrize("takes", [0, 3])
def test_a_full_disk_leaves_no_half_page(
    at: int, takes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever write it meets: the page is not there, and can be stored when there is space."""
    store = output(tmp_path)
    put(store, range(3))
    writes, write = [0], os.write

    def refuse(fd: int, data: bytes | memoryview) -> int:
        writes[0] += 1
        if writes[0] < at:
            return write(fd, data)
        if takes and writes[0] == at:
            return write(fd, data[:takes])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", refuse)
    done = 3
    with pytest.raises(StorageError, match=r"No space left|were written"):  # noqa: PT012
        for number in range(3, 6):
            put(store, [number])
            done = number + 1
    assert stored(tmp_path) == expected(range(done))
    monkeypatch.setattr(os, "write", write)
    put(store, range(done, 6))
    assert stored(tmp_path) == expected(range(6))


class Killed(BaseException):
    """Stands in for SIGKILL: no handler of ours catches it."""


@pytest.mark.parametrize("is_done", [False, True])
def test_a_kill_at_any_write_leaves_every_page_once(
    is_done: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before or after each ``write``; the pages without an answer come again, and one more."""
    write, calls = os.write, [0]

    def kill(fd: int, data: bytes | memoryview) -> int:
        calls[0] -= 1
        if calls[0] == 0:
            if is_done:
                write(fd, data)
            raise Killed
        return write(fd, data)

    monkeypatch.setattr(os, "write", kill)
    for at in range(1, 40):
        place = tmp_path / str(at)
        place.mkdir()
        calls[0] = at
        answered = 0
        with suppress(Killed):
            store = output(place)
            for number in range(10):
                put(store, [number])
                store.answered([number])
                answered = number
        calls[0] = 0
        put(output(place), range(answered, 10), version=2)
        assert stored(place) == {
            **expected(range(answered)),
            **expected(range(answered, 10), version=2),
        }


def test_a_disk_that_is_not_there_is_a_storage_error(tmp_path: Path) -> None:
    """The message names the path."""
    (tmp_path / "save").write_bytes(b"")
    with pytest.raises(StorageError, match="save"):
        put(output(tmp_path), [1])


def test_notes_are_compacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others go on reading them, and a restart finds what matters."""
    monkeypatch.setattr("larbinpy.store.transaction.COMPACT_BYTES", 400)
    store, other = output(tmp_path), output(tmp_path, 1)
    put(store, range(50))
    store.answered(range(50))
    put(other, [100, 47], version=2, attempt=1)
    for number in range(50, 100):
        put(store, [number])
        store.answered([number])
    assert (tmp_path / "stored/000.notes").stat().st_size < 1000
    put(other, [99, 98], version=2, attempt=1)
    assert stored(tmp_path) == {
        **expected(number for number in range(100) if number not in (47, 98, 99)),
        **expected([47, 98, 99, 100], version=2),
    }
