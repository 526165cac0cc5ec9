"""Asking ``larbinpy why`` about URLs of a state that a test has written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from larbinpy._native.linkentry import shard
from larbinpy.cli import main
from larbinpy.store.crawllog import CrawlLog
from tests import states

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from larbinpy.frontier.log import PersistentFifo

SHARDS = 2


def log_line(path: Path, number: int, id_lsn: int, kind: str = "page", **more: object) -> None:
    """Append a line for a URL."""
    fields = {
        "ts": "2026-01-02T03:04:05.000006Z", "kind": kind, "id": id_lsn, "attempt": 0,
        "url": states.url_of(number).decode(), "outcome": "success", "status": 200, "depth": 1,
        "via": None, "digest": None, "canonical": None, "reason": None, **more,
    }  # fmt: skip
    log = CrawlLog(path / "crawl.log", states.KEY)
    log.append(json.dumps(fields, separators=(",", ":")).encode() + b"\n")
    log.close()


def ask(
    path: Path, url: int | str, capsys: pytest.CaptureFixture[str], *options: str
) -> dict[str, Any]:
    """The JSON of an answer; ``url`` may be the number of one."""
    capsys.readouterr()
    text = states.url_of(url).decode() if isinstance(url, int) else url
    assert main(["why", "--state", str(path), "--json", *options, text]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def shard_with(path: Path, number: int) -> PersistentFifo:
    """The log of the shard that owns a URL."""
    return states.open_shard(path, shard(states.fingerprint(number), SHARDS))
