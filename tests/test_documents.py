"""What the documents name is there: files, modules, commands with their options, keys."""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from larbinpy.cli import dispatch
from larbinpy.config.schema import find_key
from larbinpy.frontier.novelty import SAME_HOSTS
from larbinpy.records import Filtered, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT: Final = Path(__file__).parents[1]
DOCUMENTS: Final = tuple(
    path.relative_to(ROOT)
    for pattern in ("[ARC]*.md", "docs/*.md", "docs/decisions/*.md")
    for path in sorted(ROOT.glob(pattern))
    if path.name != "CHANGELOG.md"  # which tells of what is gone, too
)
SOURCES: Final = tuple(
    path
    for pattern in ("ext/*", "larbinpy/**/*.py*", "tests/**/*.py", "larbin.conf", "Makefile")
    for path in sorted(ROOT.glob(pattern))
    if path.suffix not in (".so", ".pyc") and path.is_file()
)
SUFFIXES: Final = (".py", ".pyx", ".pxd", ".pyi", ".h", ".md")
PACKAGE: Final = Path("larbinpy")
TREE: Final = ("larbinpy/", "ext/", "tests/", "docs/", ".ci/")
SPAN: Final = re.compile(r"`([^`\n]+)`")
BLOCK: Final = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
PATH: Final = re.compile(
    r"(?<![\w/.-])(?:docs|ext|larbinpy|tests)/[\w/-]+\.(?:md|py|pyx|pxd|pyi|h)\b"
)
OPTION: Final = re.compile(r"--[a-z][a-z-]*")
FIELD: Final = re.compile(r"^    (\w+): ", re.MULTILINE)
MODULE: Final = re.compile(r"\b(?:python -m |(?=larbinpy\.))((?:larbinpy|tests)[\w.]+)")
PLACEHOLDER: Final = re.compile(r"[._]\w*NAME$")
CAMEL: Final = re.compile(r"[a-z]+[A-Z]\w*")


def pieces(document: Path) -> list[str]:
    """What stands in a document as code: spans, and lines of blocks."""
    text = (ROOT / document).read_text()
    lines = [line for block in BLOCK.findall(text) for line in block.splitlines()]
    return [*SPAN.findall(BLOCK.sub("", text)), *lines]


def is_there(word: str, places: Iterable[Path]) -> bool:
    """Whether a file, or one of a pattern, is in one of these places."""
    return any(list((ROOT / place).glob(word)) for place in places)


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_files_are_there(document: Path) -> None:
    """Where the document says, beside it, beside the file named before, or in the package."""
    missing = []
    for piece in pieces(document):
        beside = Path()
        for word in piece.split():
            if word.startswith(TREE) or word.endswith(SUFFIXES):
                if not is_there(word, (Path(), beside, document.parent, PACKAGE)):
                    missing.append(word)
                beside = Path(word).parent if "/" in word else beside
    assert missing == []


def test_files_that_sources_name_are_there() -> None:
    """In comments and docstrings, which nothing else would read."""
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        for name in PATH.findall(path.read_text())
        if not (ROOT / name).exists()
    }
    assert missing == set()


def test_the_map_has_every_module() -> None:
    """The code map of ARCHITECTURE.md leaves nothing of the package out."""
    named: dict[Path, set[str]] = defaultdict(set)
    for piece in pieces(Path("ARCHITECTURE.md")):
        if piece.startswith("larbinpy/"):
            first, *others = piece.split()
            named[Path(first).parent].update(
                word.rstrip("/") for word in (Path(first).name, *others)
            )
    for package in (PACKAGE, PACKAGE / "shard"):
        there = {path.name for path in (ROOT / package).glob("[a-z]*.py")}
        there |= {path.parent.name for path in (ROOT / package).glob("[a-z]*/__init__.py")}
        assert there - named[package] == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_commands_are_there(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With their options."""
    for piece in pieces(document):
        first, *words = piece.split() or [""]
        if first != "larbinpy" or not words:
            continue
        is_crawl = not words[0][0].isalpha() or dispatch.is_url(words[0])
        command = [] if is_crawl else words[: 2 if words[0] == "bench" else 1]
        with contextlib.suppress(SystemExit):  # of argparse, which bench has
            dispatch.run([*command, "--help"])
        assert set(OPTION.findall(piece)) <= set(OPTION.findall(capsys.readouterr().out)), piece


def options_of(text: str) -> list[str]:
    """Options that a module has, and those that it may make of the fields of a class."""
    return [*OPTION.findall(text), *("--" + name.replace("_", "-") for name in FIELD.findall(text))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_modules_are_there(document: Path) -> None:
    """Those that are run, with their options, and those that are imported."""
    for piece in pieces(document):
        for name in MODULE.findall(piece):
            path = ROOT / PLACEHOLDER.sub("", name.rstrip(".")).replace(".", "/")
            texts = [part.read_text() for part in (path.with_suffix(".py"), *path.glob("*.py"))
                     if part.exists()]  # fmt: skip
            assert texts, piece
            if piece.startswith("python -m "):
                known = {option for text in texts for option in options_of(text)}
                assert set(OPTION.findall(piece)) <= known, piece


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_targets_are_there(document: Path) -> None:
    """Of the Makefile."""
    makefile = (ROOT / "Makefile").read_text()
    for piece in pieces(document):
        if target := re.match(r"make ([a-z-]+)", piece):
            assert f"\n{target[1]}:" in makefile, piece


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_names_in_larbins_spelling_are_known(document: Path) -> None:
    """Keys, and what becomes of URLs and links."""
    codes = {SAME_HOSTS.lower()}
    codes |= {code.name.lower().replace("_", "") for code in (*Outcome, *Filtered)}
    names = {piece for piece in pieces(document) if CAMEL.fullmatch(piece)}
    assert {name for name in names if not find_key(name) and name.lower() not in codes} == set()
