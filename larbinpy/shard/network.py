"""How a shard reaches the network: names, addresses, connections; made from the configuration."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

from larbinpy.config.machine import allowed_connections
from larbinpy.dns import names
from larbinpy.dns.addresses import Addresses
from larbinpy.dns.behind import ProxiedResolver
from larbinpy.dns.named import FILE_NAME, NamedHosts
from larbinpy.dns.resolver import AresResolver
from larbinpy.dns.rights import Rights
from larbinpy.errors import ConfigError
from larbinpy.fetch.guard import is_public
from larbinpy.politeness import identity
from larbinpy.wiring import CREDIT_PER_CONNECTION, SPARE_CREDIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.eventloop import EventLoop
    from larbinpy._native.hosts import HostTable
    from larbinpy.clock import Clock
    from larbinpy.config import Config
    from larbinpy.dns.base import Resolver
    from larbinpy.politeness.outage import Line
    from larbinpy.wiring import Start


def make_addresses(
    start: Start,
    hosts: HostTable,
    loop: EventLoop,
    clock: Clock,
    line: Line,
    say: Callable[[str], None],
    *,
    is_new: bool,
) -> Addresses:
    """What keeps hosts supplied with addresses, and judges these; ``say`` tells the operator.

    Raises:
        ConfigError: ``hostsFile`` cannot be read.
    """
    config = start.config
    return Addresses(
        hosts,
        make_resolver(config, loop, clock, say),
        Rights(
            is_askable=askable(config),
            is_allowed=allowed(config),
            named=NamedHosts(start.directory / FILE_NAME),
        ),
        line=line,
        not_before_ns=0 if is_new else _after_restart_ns(config, clock),
    )


def askable(config: Config) -> Callable[[bytes], bool]:
    """Which addresses may be asked at all."""
    return identity.is_loopback if _is_nobody(config) else _allow


def allowed(config: Config) -> Callable[[bytes], bool]:
    """Which addresses everybody's links may lead to."""
    if config.allow_private_addresses:
        return _allow
    if config.proxy:
        return lambda ip: names.is_stand_in(ip) or is_public(ip)
    return is_public


def _allow(_ip: bytes) -> bool:
    return True


def take_descriptors() -> None:
    """Raise the soft limit of descriptors to what this process may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def connections(start: Start) -> int:
    """Most requests of this shard at a time."""
    wanted = min(start.config.pages_connexions, allowed_connections(start.config))
    return max(1, wanted // start.shards)


def credit(start: Start, connections: int) -> int:
    """Most requests and unanswered pages of this shard at a time."""
    return min(
        CREDIT_PER_CONNECTION * connections + SPARE_CREDIT // start.shards,
        max(1, start.config.ram_urls // start.shards),
    )


def _after_restart_ns(config: Config, clock: Clock) -> int:
    """After a restart every host counts as asked just now."""
    return clock.now_ns() + round(max(config.wait_duration_s, config.ip_wait_s) * 1e9)


def _is_nobody(config: Config) -> bool:
    is_anonymous = identity.is_anonymous(config.from_address, config.user_agent)
    return is_anonymous and not config.allow_anonymous


def refusal(config: Config) -> str:
    """Why an address is refused, for humans."""
    return identity.REFUSAL if _is_nobody(config) else "not a public address"


def make_resolver(
    config: Config,
    loop: EventLoop,
    clock: Clock,
    say: Callable[[str], None] = lambda _: None,
    *,
    is_patient: bool = True,
) -> Resolver:
    """What looks names up.

    Args:
        say: is told of an outage of the name servers.
        is_patient: names wait for the end of an outage.

    Raises:
        ConfigError: ``hostsFile`` cannot be read.
    """
    hosts = {}
    if config.hosts_file:
        try:
            hosts = names.parse_hosts(config.hosts_file.read_bytes())
        except OSError as error:
            raise ConfigError(f"hostsFile: {config.hosts_file}: {error.strerror}") from error
    if config.proxy:
        return ProxiedResolver(clock, hosts=hosts)
    return AresResolver(
        loop,
        clock,
        parallel=config.dns_connexions,
        hosts=hosts,
        servers=[config.name_server] if config.name_server else [],
        is_patient=is_patient,
        say=say,
    )
