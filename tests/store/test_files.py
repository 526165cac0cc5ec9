"""Pages as larbin saves them: 2,000 a directory, an index line for each complete file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy.errors import StorageError
from larbinpy.store import files
from larbinpy.store.files import Files
from tests.records import page

if TYPE_CHECKING:
    from pathlib import Path


def put(store: Files, number: int) -> None:
    store.put(page(b"http://a.test/%d" % number), b"body %d" % number, b"text/html")


def tree(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_pages_are_larbins_files(tmp_path: Path) -> None:
    """Names, and lines ``%4u URL``."""
    store = Files(tmp_path / "deep" / "save")
    put(store, 0)
    put(store, 1)
    store.close()
    assert tree(tmp_path / "deep" / "save") == {
        "d00000/f00000": b"body 0",
        "d00000/f00001": b"body 1",
        "d00000/index": b"   0 http://a.test/0\n   1 http://a.test/1\n",
    }


def test_nothing_is_made_before_the_first_page(tmp_path: Path) -> None:
    """A parser that stores nothing leaves no empty directory."""
    Files(tmp_path / "save").close()
    assert list(tmp_path.iterdir()) == []


def test_a_full_directory_is_followed_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly ``PAGES_PER_DIRECTORY`` pages, then numbers begin again."""
    monkeypatch.setattr(files, "PAGES_PER_DIRECTORY", 3)
    store = Files(tmp_path)
    for number in range(7):
        put(store, number)
    store.close()
    indexes = [(tmp_path / f"d0000{n}" / "index").read_bytes() for n in range(3)]
    assert [index.count(b"\n") for index in indexes] == [3, 3, 1]
    assert indexes[1].startswith(b"   0 http://a.test/3\n")
    assert (tmp_path / "d00002" / "f00000").read_bytes() == b"body 6"


def test_parsers_never_share_a_directory(tmp_path: Path) -> None:
    """Each claims its own, also beside those of an earlier run."""
    (tmp_path / "d00001").mkdir()
    stores = [Files(tmp_path) for _ in range(3)]
    for number, store in enumerate(stores):
        put(store, number)
    for store in stores:
        store.close()
    assert [path.parent.name for path in sorted(tmp_path.rglob("index"))] == [
        "d00000",
        "d00002",
        "d00003",
    ]


def test_a_body_of_any_bytes(tmp_path: Path) -> None:
    """Bodies are not changed, and may be empty."""
    store = Files(tmp_path)
    body = bytes(range(256)) * 10_000
    store.put(page(), body, b"")
    store.put(page(), b"", b"")
    store.close()
    assert (tmp_path / "d00000" / "f00000").read_bytes() == body
    assert (tmp_path / "d00000" / "f00001").read_bytes() == b""


def test_a_refusal_of_the_disk_is_a_storage_error(tmp_path: Path) -> None:
    """It names the path, and the index has no line for the page."""
    store = Files(tmp_path)
    put(store, 0)
    (tmp_path / "d00000" / "f00001").write_bytes(b"in the way")
    with pytest.raises(StorageError, match="f00001: File exists"):
        put(store, 1)
    store.close()
    assert (tmp_path / "d00000" / "index").read_bytes().count(b"\n") == 1


def test_an_output_that_cannot_be_made(tmp_path: Path) -> None:
    """A file stands where the directory should be."""
    (tmp_path / "save").write_bytes(b"")
    with pytest.raises(StorageError, match="save"):
        put(Files(tmp_path / "save"), 0)
