"""Refuse to crawl the web anonymously, before anything is started.

Seeds whose hosts are known to be this machine are fine.  What is not known yet, such as the hosts
of a stream of seeds, is refused later: those URLs end as ``forbiddenAddress``.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from larbinpy import url as urls
from larbinpy.dns import names
from larbinpy.errors import ConfigError
from larbinpy.politeness import identity
from larbinpy.seeds import sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from larbinpy.config import Config
    from larbinpy.seeds.sources import Seed

LOOKED_AT: Final = 1000
"""Lines of a seed file."""


def check_contact(config: Config) -> None:
    """Check who asks the hosts of the seeds.

    Raises:
        ConfigError: nobody could reach the operator, and a seed is not on this machine.
    """
    check_urls(config, (seed.text for seed in _seeds(config)))


def check_urls(config: Config, texts: Iterable[bytes]) -> None:
    """Check who asks the hosts of these URLs; what is no URL is none of ours.

    Raises:
        ConfigError: nobody could reach the operator, and a host is not on this machine.
    """
    if config.allow_anonymous or not identity.is_anonymous(config.from_address, config.user_agent):
        return
    known = _hosts(config)
    for text in texts:
        url = urls.parse(text)
        if url is not None and not _is_here(url.host, known):
            raise ConfigError(f"{text.decode('utf-8', 'replace')}: {identity.REFUSAL}")


def _seeds(config: Config) -> Iterator[Seed]:
    given = sources.given(config.start_urls)
    if config.seed_file is None or not config.seed_file.is_file():
        return given
    return itertools.chain(given, itertools.islice(sources.from_file(config.seed_file), LOOKED_AT))


def _hosts(config: Config) -> dict[bytes, tuple[bytes, ...]]:
    if config.hosts_file is None or not config.hosts_file.is_file():
        return {}
    return names.parse_hosts(config.hosts_file.read_bytes())


def _is_here(host: bytes, known: dict[bytes, tuple[bytes, ...]]) -> bool:
    if names.is_localhost(host.rstrip(b".")):
        return True
    ips = names.literal(host) or known.get(host.rstrip(b"."), ())
    return bool(ips) and all(map(identity.is_loopback, ips))
