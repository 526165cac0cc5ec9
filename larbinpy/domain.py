"""Names of hosts: their ASCII form, and the registered domain that they belong to.

``domain_to_ascii`` is UTS 46 as the URL standard asks for it (non-transitional, with CheckBidi and
CheckJoiners, without CheckHyphens, UseSTD3ASCIIRules and VerifyDnsLength), but names that are too
long for DNS are refused before any table is asked: what follows is not cheap, and a page can hold
fifty thousand of them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from idna.core import IDNAError, check_bidi, uts46_remap, valid_contextj

from larbinpy.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

MAX_DOMAIN_CHARS: Final = 253
MAX_LABEL_CHARS: Final = 63
CACHED_HOSTS: Final = 1 << 16

_ACE_PREFIX: Final = "xn--"
_DOTS: Final = re.compile("[.\u3002\uff0e\uff61]")
_FORBIDDEN: Final = re.compile(r"[\x00-\x20#/:<>?@\[\\\]^|%\x7f]")
_JOINERS: Final = "\u200c\u200d"
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})


def domain_to_ascii(host: str) -> bytes | None:
    """Map a domain to ASCII; None when the URL standard or DNS has no such name.

    An ASCII name is only lower-cased, so Punycode that does not decode stays as it is.

    Cost: about 10 us for a name of two labels that are not ASCII.
    """
    if not _fits_dns(_DOTS.split(host)):
        return None
    ascii_host = host.lower() if host.isascii() else _to_ascii(host)
    if not ascii_host or _FORBIDDEN.search(ascii_host) or not _fits_dns(ascii_host.split(".")):
        return None
    return ascii_host.encode("ascii")


def _fits_dns(labels: list[str]) -> bool:
    size = sum(map(len, labels)) + len(labels) - 1
    return size <= MAX_DOMAIN_CHARS and all(len(label) <= MAX_LABEL_CHARS for label in labels)


def _to_ascii(host: str) -> str | None:
    """Unicode ToASCII without the checks of length."""
    try:
        labels = [_decoded(label) for label in uts46_remap(host, std3_rules=False).split(".")]
        if not all(_is_valid(label) for label in labels):
            return None
        if any(_is_right_to_left(label) for label in labels):
            for label in filter(None, labels):
                check_bidi(label, check_ltr=True)
        return ".".join(_encoded(label) for label in labels)
    except (IDNAError, ValueError):
        # ValueError: the interpreter's Unicode tables do not know a neighbour of a joiner.
        return None


def _decoded(label: str) -> str:
    """A label in Unicode; raises ``ValueError`` when it begins like Punycode and is none."""
    if not label.startswith(_ACE_PREFIX):
        return label
    text = label.removeprefix(_ACE_PREFIX).encode("ascii").decode("punycode")
    if text.isascii() or text.startswith(_ACE_PREFIX):
        raise ValueError(label)
    return text


def _encoded(label: str) -> str:
    return label if label.isascii() else _ACE_PREFIX + label.encode("punycode").decode("ascii")


def _is_valid(label: str) -> bool:
    """The validity criteria of UTS 46, but those of bidirectional text."""
    if not label or label.isascii():
        return True
    return (
        uts46_remap(label, std3_rules=False) == label  # valid code points only, and NFC
        and "." not in label
        and not unicodedata.category(label[0]).startswith("M")
        and all(valid_contextj(label, i) for i, char in enumerate(label) if char in _JOINERS)
    )


def _is_right_to_left(label: str) -> bool:
    return any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in label)


class Domains:
    """The registered domain of a host, by a public suffix list.

    Args:
        path: a public suffix list, such as a crawl's own copy; None takes the packaged one.

    Raises:
        StorageError: the list cannot be read.

    Cost: 30 ms to load; a lookup takes some microseconds, and 0.1 us while its host is cached.
    """

    def __init__(self, path: Path | None = None) -> None:
        from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 - heavy, and not always needed

        self._suffixes = PublicSuffixList(psl_bytes() if path is None else _read(path))
        self.of = lru_cache(maxsize=CACHED_HOSTS)(self._of)

    def _of(self, host: bytes) -> bytes:
        """The registered domain of a normalised host.

        An IP address, a bare suffix and a single label are their own domain. A dot at the end of
        the host does not count.
        """
        name = host.removesuffix(b".") or host
        if name.startswith(b"[") or name.rpartition(b".")[2].isdigit():
            return name
        domain = self._suffixes.privatesuffix(name.decode("latin-1"))
        return name if domain is None else domain.encode("latin-1")

    def is_suffix(self, name: bytes) -> bool:
        """Whether this is a public suffix, such as ``com`` or ``co.uk``: nobody's own name."""
        return self._suffixes.privatesuffix(name.decode("latin-1")) is None


def psl_bytes() -> bytes:
    """The packaged public suffix list, for the copy in a crawl's state."""
    return resources.files("publicsuffixlist").joinpath("public_suffix_list.dat").read_bytes()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StorageError(
            f"cannot read the public suffix list {path}: {error.strerror}"
        ) from error
