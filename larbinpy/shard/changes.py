"""A configuration that changes while its shard runs; see ``changing`` for the keys."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from larbinpy.shard import network, options
from larbinpy.wiring import make_links

if TYPE_CHECKING:
    from larbinpy.config import Config
    from larbinpy.shard.parts import ShardParts
    from larbinpy.wiring import Start


def change(parts: ShardParts, start: Start, config: Config) -> None:
    """Give the parts of a shard their new numbers; requests that are running are not touched."""
    connections = network.connections(replace(start, config=config))
    parts.table.set_pace(round(config.wait_duration_s * 1e9), round(config.ip_wait_s * 1e9))
    parts.manners.change(
        max_tries=config.max_tries,
        max_delay_s=config.max_crawl_delay_s,
        wait_ns=round(config.wait_duration_s * 1e9),
        dead_ns=round(config.dead_host_retry_s * 1e9),
    )
    parts.scope.change(
        partial(make_links, replace(start, config=config)), below=parts.frontier.next_lsn
    )
    parts.bandwidth.change(config.bond_width_bytes_per_s)
    parts.fetcher.allow(connections)
    parts.credit = network.credit(replace(start, config=config), connections)
    parts.keeps_connections = config.wait_duration_s < options.MAX_IDLE_S
