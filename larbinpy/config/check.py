"""What single values cannot show: keys that do not fit together, or this version or machine."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Final

from larbinpy.config.keys import ANY_VALUE, REFUSED
from larbinpy.config.machine import allowed_connections
from larbinpy.config.schema import ATTRIBUTES, KEYS, PORT, Config
from larbinpy.config.values import Size
from larbinpy.errors import ConfigError
from larbinpy.plugins import find_module

if TYPE_CHECKING:
    from collections.abc import Mapping

HOST: Final = re.compile(rb"https?://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)", re.IGNORECASE)
USER: Final = re.compile(rb"(?<=://)[^/?#]*@")
NAME_SERVER: Final = re.compile(
    r"(?:\[(?P<six>[^\]]*)\]|(?P<four>[0-9.]+))(?::(?P<port>[0-9]{1,5}))?"
)
DEFAULT: Final = Config()
EQUAL_URLS: Final = (
    "ignoreTrailingSlash", "ignoreIndex", "sortQuery", "dropSessionIds", "dropTracking",
)  # fmt: skip


def check(config: Config, places: Mapping[str, str] | None = None) -> list[str]:
    """Check a configuration as a whole.

    Args:
        places: name of a key -> where it was set (``FILE:LINE: KEY``), for the messages.

    Returns:
        Warnings, one line each.

    Raises:
        ConfigError: the configuration cannot be used.
    """
    checker = _Checker(config, places or {})
    checker.check_later()
    checker.check_errors()
    checker.check_plugins()
    checker.check_without_effect()
    checker.check_seeds()
    return checker.warnings


def host_of(url: bytes) -> bytes:
    """Return the host of an http URL as it is written, in lower case."""
    match = HOST.match(url)
    return match[1].lower() if match else b""


def is_name_server(text: str) -> bool:
    """Whether this is ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT."""
    match = NAME_SERVER.fullmatch(text)
    try:
        ipaddress.ip_address((match["six"] or match["four"]) if match else text)
    except ValueError:
        return False
    return not (match and match["port"]) or 0 < int(match["port"]) <= PORT


class _Checker:
    """One configuration being checked."""

    __slots__ = ("_config", "_places", "warnings")

    def __init__(self, config: Config, places: Mapping[str, str]) -> None:
        self._config = config
        self._places = places
        self.warnings: list[str] = []

    def _line(self, name: str, text: str) -> str:
        return f"{self._places.get(name, name)}: {text}"

    def _fail(self, name: str, text: str) -> None:
        raise ConfigError(self._line(name, text))

    def _warn(self, name: str, text: str) -> None:
        self.warnings.append(self._line(name, text))

    def check_later(self) -> None:
        """Refuse, or warn of, what does not work in this version."""
        for name, attribute in ATTRIBUTES.items():
            value, key = getattr(self._config, attribute), KEYS[name.lower()]
            if not key.later or value == getattr(DEFAULT, attribute):
                continue
            written = " ".join(key.write(value))
            instead = key.later.get(written, key.later.get(ANY_VALUE))
            if instead == REFUSED:
                what = "" if ANY_VALUE in key.later else f"{written} is "
                self._fail(name, f"{what}not in this version")
            elif instead is not None:
                self._warn(name, f"not in this version: {instead}")

    def check_errors(self) -> None:
        """Refuse what cannot work."""
        config = self._config
        if not config.user_agent_token:
            self._fail("UserAgent", "must begin with a letter, _ or - (the name for robots.txt)")
        if config.name_server and not is_name_server(config.name_server):
            self._fail("nameServer", f"{config.name_server!r} is not ADDRESS or ADDRESS:PORT")
        if config.state_dir == config.output_dir:
            self._fail("outputDir", "must not be the directory of the state (stateDir)")
        if config.body_memory_bytes < config.max_page_size_bytes:
            least = Size().write(config.max_page_size_bytes)
            self._fail("bodyMemory", f"must hold a page at least: {least} (maxPageSize)")
        allowed = allowed_connections(config)
        if config.pages_connexions > allowed:
            self._fail(
                "pagesConnexions",
                f"{config.pages_connexions} is more than the {allowed} that the limit of open"
                " files allows; raise it (ulimit -Hn) or lower the key",
            )

    def check_plugins(self) -> None:
        """Refuse functions whose modules are not there; nothing of them is run."""
        name, directory = self._config.accept, self._config.plugin_path
        if not name:
            return
        if directory is None:
            self._fail("accept", "needs pluginPath, the directory of your modules")
            return
        try:
            find_module(name, directory)
        except ConfigError as error:
            self._fail("accept", str(error))

    def check_without_effect(self) -> None:
        """Warn of keys that others make useless."""
        config = self._config
        if config.specific_set and not config.specific_search:
            self._warn("specificSet", "only gives priority, since specificSearch is not set")
        if config.specific_search and not config.specific_set:
            self._warn("specificSearch", "no page is handed out, since specificSet is empty")
        if config.seen_set != "bloom":
            for name in ("bloomCapacity", "bloomRate"):
                self._warn_unless_default(name, f"no effect with seenSet {config.seen_set}")
        if config.url_mode == "larbin":
            for name in EQUAL_URLS:
                self._warn_unless_default(name, "no effect with urlMode larbin")
        if config.durability == "off":
            self._warn_unless_default("syncTime", "no effect with durability off")
        if config.fetch_timeout_s < config.connect_timeout_s:
            self._warn("fetchTimeout", "is shorter than connectTimeout, which has no effect")

    def _warn_unless_default(self, name: str, text: str) -> None:
        attribute = ATTRIBUTES[name]
        if getattr(self._config, attribute) != getattr(DEFAULT, attribute):
            self._warn(name, text)

    def check_seeds(self) -> None:
        """Warn of first URLs that the filters refuse."""
        domains = self._config.limit_to_domain
        for url in self._config.start_urls:
            if domains and not host_of(url).endswith(domains):
                text = USER.sub(b"", url).decode("utf-8", "replace")
                self._warn(
                    "startUrl", f"{text} is outside limitToDomain; it is fetched all the same"
                )
