"""What a shard's fetcher is told, made from the configuration."""

from __future__ import annotations

import base64
import resource
from pathlib import Path
from typing import TYPE_CHECKING, Final

import certifi

from larbinpy import certificates
from larbinpy import url as urls
from larbinpy.config.machine import SPARE_DESCRIPTORS
from larbinpy.errors import ConfigError, StorageError
from larbinpy.fetch.base import FetchOptions
from larbinpy.fetch.cookies import CookieJar
from larbinpy.proxy import Proxy
from larbinpy.stateparts import SUFFIX_LIST
from larbinpy.wiring import fetched_types

if TYPE_CHECKING:
    from larbinpy.config import Config
    from larbinpy.wiring import Start

MAX_IDLE_S: Final = 10
"""An idle connection is kept for the host's next request when that comes before this."""
COOKIE_BYTES: Final = 32 << 20
"""Of all shards together."""
CA_FILE: Final = "ca.pem"


def fetch_options(config: Config, connections: int, directory: Path) -> FetchOptions:
    """Everything that is set about fetching.

    Args:
        connections: most requests of this shard at a time.
        directory: of the shard; the certificates go there.

    Raises:
        ConfigError: ``proxy`` or ``caFile`` cannot be used.
    """
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE_DESCRIPTORS
    proxy = Proxy.parse(config.proxy) if config.proxy else None
    return FetchOptions(
        user_agent=config.user_agent.encode(),
        sender=config.from_address.encode(),
        connections=connections,
        kept_connections=max(connections, min(descriptors, 1 << 20)),
        idle_s=MAX_IDLE_S,
        connect_timeout_s=config.connect_timeout_s,
        first_byte_timeout_s=config.first_byte_timeout_s,
        stall_s=max(1, round(config.stall_time_s)),
        total_timeout_s=config.fetch_timeout_s,
        page_bytes=config.max_page_size_bytes,
        types=fetched_types(config),
        is_any_type=config.any_type,
        allow_private=config.allow_private_addresses,
        own_ports=frozenset({config.http_port, config.input_port} - {0}),
        ca_file=_ca_file(config.ca_file, directory / CA_FILE) if config.ca_file else "",
        is_tls_recorded=config.tls_verify == "record",
        is_tls_old=config.tls_old,
        http_version=config.http_version,
        headers=_own_headers(config),
        proxy=proxy,
        proxy_ip=_address_of(proxy) if proxy else "",
    )


def make_jar(start: Start) -> CookieJar:
    """An empty cookie jar for one shard."""
    domains = urls.Domains(start.state / SUFFIX_LIST)
    return CookieJar(domains.of, domains.is_suffix, max_bytes=COOKIE_BYTES // start.shards)


def _own_headers(config: Config) -> dict[bytes, tuple[bytes, ...]]:
    """``auth`` and ``header``: header lines by origin."""
    headers: dict[bytes, tuple[bytes, ...]] = {}
    for origin, credentials in config.auth:
        line = b"Authorization: Basic " + base64.b64encode(credentials)
        headers[origin] = (line,)
    for origin, line in config.header:
        headers[origin] = (*headers.get(origin, ()), line)
    return headers


def _address_of(proxy: Proxy) -> str:
    try:
        return proxy.address()
    except OSError as error:
        raise ConfigError(f"proxy: {proxy.host}: {error.strerror}") from error


def _ca_file(given: Path, combined: Path) -> str:
    """Write the operator's certificates behind certifi's: libcurl reads one file."""
    own = certificates.read(given)
    try:
        combined.write_bytes(Path(certifi.where()).read_bytes() + b"\n" + own)
    except OSError as error:
        raise StorageError(f"{combined}: {error.strerror}") from error
    return str(combined)
