"""A proxy: how it is written, and where it is.

    HOST PORT                                   larbin's form: an HTTP proxy
    http|socks5://[USER:PASSWORD@]HOST:PORT

Names of the web are looked up by the proxy, since a network that needs one often cannot do it.
The proxy's own name is looked up once, at the start.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote_to_bytes

HTTP: Final = "http"
SOCKS5: Final = "socks5"
_FORM: Final = re.compile(
    r"(?P<kind>http|socks5)://"
    r"(?:(?P<user>[^:@/\s]*)(?::(?P<password>[^@/\s]*))?@)?"
    r"(?P<host>\[[0-9a-fA-F:.]+\]|[^\[\]:@/\s]+):(?P<port>[0-9]{1,5})/?"
)


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where requests go instead of to the web's servers."""

    kind: str
    """``http`` or ``socks5``."""
    host: str
    """A name or an address, IPv6 without brackets."""
    port: int
    user: bytes = b""
    password: bytes = b""

    @classmethod
    def parse(cls, text: str) -> Proxy:
        """Read either form.

        Raises:
            ValueError: it is neither; the message does not repeat a password.
        """
        match = _FORM.fullmatch(text if "://" in text else "http://" + ":".join(text.split()))
        if match is None or not 0 < int(match["port"]) < 65536:
            raise ValueError("must be HOST PORT or http|socks5://[USER:PASSWORD@]HOST:PORT")
        return cls(
            match["kind"],
            match["host"].strip("[]"),
            int(match["port"]),
            unquote_to_bytes(match["user"] or ""),
            unquote_to_bytes(match["password"] or ""),
        )

    def address(self) -> str:
        """Return an address of the proxy; blocks while its name is looked up.

        Raises:
            OSError: its name has none.
        """
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        return str(found[0][4][0])
