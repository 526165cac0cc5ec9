"""Fingerprints, shards and forced entries against the reference; values that decide a shard."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import linkentry as native
from tests.reference import linkentry as plain
from tests.reference.linkbuffers import Link

KEY = bytes(range(16))
SEED, FORCE = 2, 8


@given(st.binary(min_size=16, max_size=16), st.binary(max_size=40), st.binary(max_size=80))
@settings(max_examples=100)
def test_fingerprints_equal_reference(key: bytes, domain: bytes, url: bytes) -> None:
    """Fingerprints are those of the reference."""
    expected = plain.fingerprint_of(key, domain, url)
    assert expected == native.fingerprint_of(key, domain, url)


@given(st.integers(0, 2**64 - 1), st.integers(1, 256))
@settings(max_examples=100)
def test_shards_equal_reference(fp: int, shards: int) -> None:
    """Shards are those of the reference, and within their number."""
    assert plain.shard(fp, shards) == native.shard(fp, shards)
    assert 0 <= native.shard(fp, shards) < shards


# --- golden values ------------------------------------------------------------------------------


def test_golden_siphash() -> None:
    """The reference is SipHash-1-3: the values of CPython's own, for the key 0."""
    assert plain.siphash13(bytes(16), b"a") == 4644417185603328019
    assert plain.siphash13(bytes(16), b"http://example.org/") == 5074447336847845243
    assert plain.siphash13(bytes(16), bytes(range(64))) == 8493894268803903686


def test_golden_fingerprints() -> None:
    """They lie in logs and seen files and decide shards: a state with others is lost."""
    urls = [b"http://example.org/", b"https://www.example.org/a/b.html?x=1"]
    actual = [native.fingerprint_of(KEY, b"example.org", url) for url in urls]
    assert actual == [0x7FAFBBE1C03FFB10, 0x7FAFA719779988B2]
    assert native.fingerprint_of(KEY, b"", b"") == 0xABACABAC0158050F
    assert [native.shard(0x7FAFBBE1C03FFB10, shards) for shards in (1, 2, 3, 256)] == [0, 0, 1, 127]


def test_forced_links_are_new() -> None:
    """The mask is 1 for each link with the flag, and stays for the others."""
    flags = [FORCE, 0, FORCE | SEED, SEED]
    buffer = b"".join(Link(b"u", flags=bits).pack() for bits in flags)
    for mask in (bytes([0, 0, 0, 1]), bytes([1, 1, 1, 0])):
        assert plain.with_forced(buffer, mask) == native.with_forced(buffer, mask)
    assert native.with_forced(buffer, bytes(4)) == bytes([1, 0, 1, 0])


def test_one_forced_link_changes_nothing_else() -> None:
    """All slices of one byte are one object: to write into it would change them all."""
    shared = b"\0\1"[:1]
    assert native.with_forced(Link(b"u", flags=FORCE).pack(), shared) == bytes([1])
    assert shared[0] == 0


def test_helpers_refuse_bad_buffers() -> None:
    """Torn entries, or a mask of another length, raise."""
    link = Link(b"http://a/").pack()
    with pytest.raises(ValueError, match="do not fill"):
        native.with_forced(link[:-1], b"\0")
    with pytest.raises(ValueError, match="1 links, but a mask of 2 bytes"):
        native.with_forced(link, b"\0\0")
