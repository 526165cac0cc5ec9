from __future__ import annotations

import ipaddress

import pytest

from larbinpy.fetch.guard import Guard, is_public


def packed(text: str) -> bytes:
    return ipaddress.ip_address(text).packed


def words(text: str) -> list[str]:
    return text.split()


PRIVATE = words("""
0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.255 169.254.169.254
172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255
198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
:: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1
64:ff9b:1::1 2002:7f00:1:: 2002:a00:1::1 2001::1 2001:0:7f00:1::1 2001:0:808:808:0:0:80ff:fffe
2001:20::1 2001:db8::1 3fff::1 fc00::1 fd12:3456::1 fe80::1 fec0::1 ff02::1 100::1 5f00::1 4000::1
""")
PUBLIC = words("""
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1
169.253.255.255 172.15.255.255 172.32.0.0 192.0.1.1 192.167.1.1 193.0.0.1 198.17.1.1 198.20.0.1
223.255.255.255 2606:4700::1 2a00::1 2001:4860:4860::8888 2001:200::1 ::ffff:8.8.8.8
64:ff9b::808:808 2002:808:808::1 2001:0:808:808:0:0:f7f7:f7f7
""")


@pytest.mark.parametrize("text", PRIVATE)
def test_not_public(text: str) -> None:
    """Whatever leads into a network of its own is refused, embedded addresses too."""
    assert not is_public(packed(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_public(text: str) -> None:
    """The neighbours of each special network are fine."""
    assert is_public(packed(text))


@pytest.mark.parametrize("ip", [b"", b"abc", bytes(5), bytes(17)])
def test_what_is_no_address(ip: bytes) -> None:
    """Anything but 4 or 16 bytes is not public."""
    assert not is_public(ip)


def test_refusals() -> None:
    """Who is refused, and why, in the order of the rules."""
    guard = Guard(allow_private=False, own_ports=frozenset({8080}))
    loopback = packed("127.0.0.1")
    assert guard.refusal(packed("8.8.8.8"), 80, is_named=False) == ""
    assert guard.refusal(loopback, 80, is_named=False) == "not a public address"
    assert guard.refusal(loopback, 80, is_named=True) == ""
    assert guard.refusal(loopback, 8080, is_named=True) == "our own port"
    assert guard.refusal(b"", 80, is_named=True) == "no address"
    assert guard.refusal(loopback, 65536, is_named=True) == "no such port: 65536"


OWN = words("127.0.0.1 127.8.9.1 0.0.0.0 ::1 :: ::ffff:127.0.0.1")


@pytest.mark.parametrize("text", OWN)
def test_our_own_ports_are_closed_on_every_address_of_this_machine(text: str) -> None:
    """Also when private addresses are allowed; other ports and other machines are not ours."""
    guard = Guard(allow_private=True, own_ports=frozenset({8080}))
    assert guard.refusal(packed(text), 8080, is_named=True) == "our own port"
    assert guard.refusal(packed(text), 8081, is_named=False) == ""
    assert guard.refusal(packed("8.8.8.8"), 8080, is_named=False) == ""
