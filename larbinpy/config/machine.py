"""What the machine gives: cores for processes, descriptors for connections."""

from __future__ import annotations

import os
import resource
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from larbinpy.config.schema import Config

SPARE_DESCRIPTORS: Final = 64
"""Descriptors of a shard that are no transfers: log, seen files, sockets to the parsers."""


class Processes(NamedTuple):
    """How many processes of each kind a crawl has."""

    fetch: int
    parse: int


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def processes(config: Config) -> Processes:
    """Return F and P, with 0 replaced by what the cores allow: 1 and 1 on two cores."""
    fetch = config.fetch_processes or max(1, cores() // 4)
    parse = config.parse_processes or max(1, cores() - fetch - 1)
    return Processes(fetch, parse)


def allowed_connections(config: Config) -> int:
    """Return how many connections the descriptor limit allows over all shards.

    The hard limit counts: a shard raises its own soft limit to it.
    """
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard == resource.RLIM_INFINITY:
        return 2**31
    return max(1, hard - SPARE_DESCRIPTORS) * processes(config).fetch
