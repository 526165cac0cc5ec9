"""What ``larbinpy why`` says of a URL that was never queued."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy._native.larbinhash import BitTable, url_code
from larbinpy.dedup.bitsfile import LARBIN_NAME, NAME, BitsFile
from larbinpy.dedup.bloom import BloomFiles
from larbinpy.manifest import boot_id
from tests import states
from tests.cli.asking import SHARDS, ask

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = """
def accept(link):
    assert (link.text, link.rel, link.parent, link.depth) == ("", "", "http://www.h5.example/", 1)
    if "7" in link.url: raise ValueError("no sevens")
    return link.url.endswith("5")
"""


def shard_of(crawl: Path, number: int) -> Path:
    directory = crawl / f"shard-{states.shard_of(number, SHARDS):02d}"
    directory.mkdir(exist_ok=True)
    return directory


def keep_bits(crawl: Path, number: int, name: str) -> None:
    """Save a table of larbin's that has one URL."""
    table = BitTable()
    table.add(url_code(states.host_of(number), b"/%d" % number, 80))
    file = BitsFile(shard_of(crawl, number), states.KEY, name=name)
    file.save(table.to_bytes(), 1)
    file.settle(wait=True)


def test_the_operators_function_is_asked(
    crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """About a link without text and rel, which the answer says."""
    (tmp_path / "mine.py").write_text(PLUGIN)
    options = ["--set", f"pluginPath={tmp_path}", "--set", "accept=mine:accept"]
    told = "mine:accept was asked about a link without text and rel"
    answer = ask(crawl, 5, capsys, *options)
    assert (answer["state"], answer["accept"]) == ("unknown", told)
    answer = ask(crawl, 16, capsys, *options)
    assert (answer["decided"], answer["accept"]) == ("filter notAccepted (accept)", told)
    assert ask(crawl, 27, capsys, *options)["decided"] == "filter acceptError (accept)"
    assert ask(crawl, 5, capsys)["accept"] is None


def test_a_function_that_cannot_be_asked_is_told(
    crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other filters are asked all the same."""
    (tmp_path / "mine.py").write_text("raise RuntimeError('not today')")
    options = ["--set", f"pluginPath={tmp_path}", "--set", "accept=mine:accept"]
    answer = ask(crawl, 5, capsys, *options)
    assert answer["state"] == "unknown"
    assert answer["accept"].startswith("mine:accept could not be asked: mine:accept: ")
    assert "not today" in answer["accept"]


@pytest.mark.parametrize(("seen_set", "name"), [("bits", NAME), ("exact", LARBIN_NAME)])
def test_a_table_of_bits_explains_what_was_not_queued(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seen_set: str, name: str
) -> None:
    """A link to it counts as seen, by the seen set or by the larbin whose crawl this is."""
    crawl = tmp_path / "crawl"
    states.make_state(crawl, SHARDS, seen_set=seen_set)
    keep_bits(crawl, 5, name)
    answer = ask(crawl, 5, capsys)
    assert (answer["state"], answer["now"]) == (
        "unknown", "nothing: a link to it counts as seen"
    )  # fmt: skip
    assert answer["decided"] == f"no link to it was queued: by {name} it counts as seen"
    assert answer["record"] == f"{shard_of(crawl, 5).name}/{name}"
    assert answer["when"].endswith("Z")
    assert ask(crawl, 16, capsys)["decided"] == "no link to it was queued"
    assert ask(crawl, "http://www.h5.example/5?x", capsys)["state"] == "refused"


def test_a_bloom_filter_explains_what_was_not_queued(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While it is believed; it may belong to a crawl that runs."""
    crawl = tmp_path / "crawl"
    states.make_state(crawl, SHARDS, seen_set="bloom")
    files = BloomFiles(shard_of(crawl, 5), capacity=1000, rate=0.001, boot_id=boot_id())
    files.add(states.fingerprint(5).to_bytes(8, "little"))
    assert ask(crawl, 5, capsys)["record"] is None
    files.trust()
    assert ask(crawl, 5, capsys)["record"] == f"{shard_of(crawl, 5).name}/seen-0.bloom"
    assert ask(crawl, 16, capsys)["record"] is None
    files.close()
