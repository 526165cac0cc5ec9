"""The edge to the name system, as the shard sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(slots=True)
class Answer:
    """What is known of a host name."""

    host: bytes
    ips: tuple[bytes, ...]
    """Addresses of 4 or 16 bytes, network order, best first; empty after a failure."""
    expires_ns: int
    """Monotonic time until which it holds."""
    error: str = ""
    """Why there is no address, for humans."""
    is_transient: bool = False
    """Whether the next try may well have another end: nobody has said that there is no address."""


class Resolver(Protocol):
    """Looks names up."""

    def submit(self, host: bytes) -> None:
        """Ask for a host: a name in lower case, or an IP literal as it stands in a URL."""
        ...

    def submit_further(self, host: bytes) -> None:
        """Ask for more addresses of a host whose known ones are of no use: of the other family."""
        ...

    def answers(self) -> list[Answer]:
        """Return what has been found out since the last call, and keep lookups going."""
        ...

    def wait_s(self) -> float:
        """Seconds until ``answers`` must be called even if no socket says so; -1: no need."""
        ...

    def close(self) -> None:
        """Drop all lookups, without answers."""
        ...
