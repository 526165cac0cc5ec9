"""What a child is started with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.config import Config, to_json
from larbinpy.wiring import Start

if TYPE_CHECKING:
    from pathlib import Path


def test_a_start_message_is_read_back(tmp_path: Path) -> None:
    """As it was sent, by way of JSON."""
    config = Config(start_urls=(b"http://a/",), depth_in_site=9)
    fields = {
        "verb": "start", "config": to_json(config), "index": 2, "state": str(tmp_path),
        "uuid": "ab" * 16, "shards": 3, "parsers": 4, "is_trusted": True,
    }  # fmt: skip
    assert Start.read(fields) == Start(config, 2, tmp_path, b"\xab" * 16, 3, 4)
