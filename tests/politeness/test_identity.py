"""Who is anonymous, and what is this machine."""

from __future__ import annotations

import socket

import pytest

from larbinpy.politeness.identity import is_anonymous, is_loopback


@pytest.mark.parametrize(
    ("sender", "agent", "expected"),
    [
        ("larbin@unspecified.mail", "larbin", True),
        ("larbin2.6.3@unspecified.mail", "larbin_2.6.3", True),
        ("Larbin@Unspecified.Mail", "larbin", True),
        ("root@localhost", "larbin", True),
        ("me@example.com", "larbin", True),
        ("", "larbin", True),
        ("somebody", "larbin me@here.net", True),
        ("me@here.net", "larbin", False),
        ("Me <me@here.net>", "larbin", False),
        ("larbin@unspecified.mail", "larbin (+https://here.net/bot)", False),
        ("", "larbin http://here.net/", False),
        ("", "larbin (+http://)", True),
    ],
)
def test_a_contact_is_a_mail_address_in_from_or_a_url(
    sender: str, agent: str, expected: bool
) -> None:
    """larbin's placeholders, and others that reach nobody, are none."""
    assert is_anonymous(sender, agent) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1", True), ("127.255.0.9", True), ("128.0.0.1", False), ("10.0.0.1", False),
        ("::1", True), ("::2", False), ("::ffff:127.0.0.1", True), ("::ffff:128.0.0.1", False),
    ],
)  # fmt: skip
def test_loopback(address: str, expected: bool) -> None:
    """Of either family."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    assert is_loopback(socket.inet_pton(family, address)) == expected
