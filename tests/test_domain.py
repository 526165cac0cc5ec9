"""Names of hosts in ASCII, and registered domains."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from larbinpy.domain import Domains, domain_to_ascii, psl_bytes
from larbinpy.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("Example.ORG", b"example.org"),
        ("xn--a", b"xn--a"),
        ("xn--a.ß", None),
        ("faß.de", b"xn--fa-hia.de"),
        ("Bücher\u3002example", b"xn--bcher-kva.example"),
        ("a\u00adb", b"ab"),
        ("\u00ad", None),
        ("", None),
        ("a\uff05b", None),
        ("<\u0338", b"xn--gdh"),
        ("\u200d.example", None),
        ("يa", None),
        ("\u0300x.example", None),
        ("xn--tešla", None),
        ("xn--abc-.ü", None),
    ],
)
def test_domain_to_ascii(host: str, expected: bytes | None) -> None:
    """UTS 46 without transition; ASCII names are only lower-cased."""
    assert expected == domain_to_ascii(host)


def test_names_too_long_for_dns_are_refused_first() -> None:
    """A hostile name costs nothing: it is refused before any table is asked."""
    start = time.process_time()
    for host in ("ü" * 64, "ü" * 500_000, ".".join(["ü" * 40] * 7)):
        assert domain_to_ascii(host) is None
    assert time.process_time() - start < 2
    assert domain_to_ascii("x" * 61 + "üü") is None  # 63 before, more in ASCII


@pytest.fixture(scope="module")
def domains() -> Domains:
    return Domains()


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (b"www.example.co.uk", b"example.co.uk"),
        (b"a.b.example.com", b"example.com"),
        (b"a.b.example.com.", b"example.com"),
        (b"user.github.io", b"user.github.io"),
        (b"co.uk", b"co.uk"),
        (b"localhost", b"localhost"),
        (b"127.0.0.1", b"127.0.0.1"),
        (b"[::1]", b"[::1]"),
        (b"a.b.unlisted", b"b.unlisted"),
        (b"a..b", b"a..b"),
        (b".", b"."),
    ],
)
def test_registered_domain(domains: Domains, host: bytes, expected: bytes) -> None:
    """The suffix and one label; addresses, suffixes and single labels are their own."""
    assert expected == domains.of(host)
    assert expected == domains.of(host)


def test_a_crawl_uses_its_own_list(tmp_path: Path) -> None:
    """The list in the state decides, whatever the package says today."""
    path = tmp_path / "psl.dat"
    path.write_bytes(b"// own\nexample.com\n")
    assert Domains(path).of(b"b.a.example.com") == b"a.example.com"
    path.write_bytes(psl_bytes())
    assert Domains(path).of(b"b.a.example.com") == b"example.com"


def test_a_list_that_cannot_be_read(tmp_path: Path) -> None:
    """The fault names the file."""
    with pytest.raises(StorageError, match=r"none\.dat"):
        Domains(tmp_path / "none.dat")
