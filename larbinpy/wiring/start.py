"""What a child process is started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from larbinpy.config import Config, from_json


@dataclass(frozen=True, slots=True)
class Start:
    """The ``start`` message of a child; see ``docs/protocol.md`` section 5."""

    config: Config
    index: int
    state: Path
    uuid: bytes
    shards: int
    parsers: int
    is_trusted: bool = True
    """False when the machine has gone down since the state was written, and not in order."""
    suspects: frozenset[int] = frozenset()
    """To a shard: URLs that were in flight when it was brought down."""
    poison: frozenset[int] = frozenset()
    """To a shard: URLs that have brought it down."""

    @property
    def directory(self) -> Path:
        """Of the shard with this index."""
        return self.state / f"shard-{self.index:02d}"

    @classmethod
    def read(cls, fields: dict[str, Any]) -> Start:
        """Take the fields of the message."""
        return cls(
            config=from_json(fields["config"]),
            index=fields["index"],
            state=Path(fields["state"]),
            uuid=bytes.fromhex(fields["uuid"]),
            shards=fields["shards"],
            parsers=fields["parsers"],
            is_trusted=fields["is_trusted"],
            suspects=frozenset(fields.get("suspects", ())),
            poison=frozenset(fields.get("poison", ())),
        )
