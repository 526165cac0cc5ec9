"""Fingerprints and shards against the reference; values that decide a shard."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import linkentry as native
from tests.reference import linkentry as plain

KEY = bytes(range(16))


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
