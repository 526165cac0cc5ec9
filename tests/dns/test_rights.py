"""Who may use which address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy.dns.base import Answer
from larbinpy.dns.named import NamedHosts
from larbinpy.dns.rights import Rights

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC, PRIVATE, NOBODYS = bytes((9, 9, 9, 1)), bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2))
HOST = b"a.org"


@pytest.fixture
def rights(tmp_path: Path) -> Rights:
    """Nobody is named."""
    return Rights(
        is_askable=lambda ip: ip != NOBODYS,
        is_allowed=lambda ip: ip[0] != PRIVATE[0],
        named=NamedHosts(tmp_path / "named"),
    )


def usable(rights: Rights, *ips: bytes) -> tuple[bytes, ...]:
    """What the host may have of an answer."""
    return rights.usable(0, Answer(HOST, ips, 0))


def test_public_addresses_are_for_everybody(rights: Rights) -> None:
    """Others are left out beside them."""
    assert usable(rights, PRIVATE, PUBLIC, NOBODYS) == (PUBLIC,)
    assert rights.permits(0, HOST, is_seed=False)


def test_private_ones_alone_are_for_the_operator(rights: Rights) -> None:
    """Until the host has public ones."""
    assert usable(rights, PRIVATE) == (PRIVATE,)
    assert not rights.permits(0, HOST, is_seed=False)
    usable(rights)  # a failure changes nothing
    assert not rights.permits(0, HOST, is_seed=False)
    usable(rights, PUBLIC)
    assert rights.permits(0, HOST, is_seed=False)


def test_a_named_host_has_all_that_may_be_asked(rights: Rights) -> None:
    """In the order of the answer."""
    rights.name(0, HOST)
    assert usable(rights, PRIVATE, NOBODYS, PUBLIC) == (PRIVATE, PUBLIC)
    assert rights.permits(0, HOST, is_seed=False)


def test_what_may_not_be_asked_is_for_nobody(rights: Rights) -> None:
    """Named or not."""
    rights.name(0, HOST)
    assert usable(rights, NOBODYS) == ()
