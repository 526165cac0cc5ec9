"""Content encodings as servers apply them, rightly and wrongly."""

from __future__ import annotations

import gzip
import random
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy.parse.decode import Decoded, decode

PAGE = b"<html>" + b"".join(b"<p>line %d" % n for n in range(2000)) + b"</html>"


def raw_deflate(data: bytes) -> bytes:
    """Deflate without a head."""
    coder = zlib.compressobj(wbits=-15)
    return coder.compress(data) + coder.flush()


def zstd(data: bytes) -> bytes:
    """One frame."""
    return zstandard.ZstdCompressor().compress(data)


CODERS = {
    b"gzip": gzip.compress,
    b"x-gzip": gzip.compress,
    b"deflate": zlib.compress,
    b"br": brotli.compress,
    b"zstd": zstd,
}


@pytest.mark.parametrize("name", CODERS)
def test_each_encoding_is_removed(name: bytes) -> None:
    """A whole body gives the page and no flag."""
    assert Decoded(PAGE) == decode(CODERS[name](PAGE), name)


@pytest.mark.parametrize("name", CODERS)
def test_an_empty_page_stays_empty(name: bytes) -> None:
    """The compressed empty page, and no body at all, are empty."""
    assert Decoded(b"") == decode(CODERS[name](b""), name)
    assert decode(b"", name).body == b""


def test_raw_deflate_counts_as_deflate() -> None:
    """Deflate without zlib's head is accepted."""
    assert Decoded(PAGE) == decode(raw_deflate(PAGE), b"deflate")


@pytest.mark.parametrize("encodings", [b"", b"identity", b" , Identity"])
def test_no_encoding_changes_nothing(encodings: bytes) -> None:
    """Without an encoding the body is the page."""
    assert Decoded(PAGE) == decode(PAGE, encodings)


def test_two_layers_are_removed_from_the_last_to_the_first() -> None:
    """Encodings are listed in the order in which they were applied."""
    assert Decoded(PAGE) == decode(brotli.compress(gzip.compress(PAGE)), b"GZIP, br")


def test_three_layers_are_opaque() -> None:
    """More than two layers are not a page."""
    assert Decoded(b"x", is_opaque=True) == decode(b"x", b"gzip, gzip, gzip")


def test_an_unknown_encoding_is_opaque() -> None:
    """The body is kept as it was received."""
    assert Decoded(b"x", is_opaque=True) == decode(b"x", b"aes128gcm")


@pytest.mark.parametrize("name", CODERS)
def test_a_plain_body_passes(name: bytes) -> None:
    """A page that is not compressed at all is kept, whatever its server says."""
    assert Decoded(PAGE) == decode(PAGE, name)


def test_all_gzip_members_count() -> None:
    """Members follow each other; what comes behind the last is ignored."""
    body = gzip.compress(PAGE[:100]) + gzip.compress(b"") + gzip.compress(PAGE[100:])
    assert Decoded(PAGE) == decode(body, b"gzip")
    assert Decoded(PAGE) == decode(body + b"garbage", b"gzip")


def test_all_zstd_frames_count() -> None:
    """Frames follow each other, also behind skippable ones."""
    skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc"
    body = skipped + zstd(PAGE[:100]) + skipped + zstd(PAGE[100:]) + skipped
    assert Decoded(PAGE) == decode(body, b"zstd")


@pytest.mark.parametrize("name", CODERS)
def test_a_cut_body_gives_what_is_there(name: bytes) -> None:
    """A truncated body is kept and flagged."""
    noise = random.Random(1).randbytes(30_000)
    found = decode(CODERS[name](noise)[:20_000], name)
    assert found.is_truncated
    assert noise.startswith(found.body)
    assert name == b"br" or len(found.body) > 0


def test_a_wrong_check_sum_loses_nothing() -> None:
    """The page is whole, and flagged."""
    body = bytearray(gzip.compress(PAGE))
    body[-8] ^= 1
    assert Decoded(PAGE, is_truncated=True) == decode(bytes(body), b"gzip")
    body = bytearray(zlib.compress(PAGE))
    body[-1] ^= 1
    assert Decoded(PAGE, is_truncated=True) == decode(bytes(body), b"deflate")


def test_a_broken_middle_gives_what_came_before() -> None:
    """Up to the damage the page is kept."""
    words = b"".join(b"<a href=%d>" % random.Random(n).getrandbits(64) for n in range(5000))
    body = bytearray(gzip.compress(words))
    body[30_000:30_100] = bytes(100)
    found = decode(bytes(body), b"gzip")
    assert found.is_truncated
    assert found.body[:50_000] == words[:50_000]


def test_gzip_heads_may_have_all_fields() -> None:
    """Extra field, name, comment and head check sum are skipped."""
    head = b"\x1f\x8b\x08\x1e" + bytes(6) + b"\x02\0ab" + b"name\0" + b"comment\0" + b"\0\0"
    body = head + raw_deflate(PAGE) + gzip.compress(PAGE)[-8:]
    assert Decoded(PAGE) == decode(body, b"gzip")
    assert Decoded(b"", is_truncated=True) == decode(head[:12], b"gzip")


@pytest.mark.parametrize("name", CODERS)
def test_a_bomb_is_cut_at_the_limit(name: bytes) -> None:
    """Output stops at the limit and is flagged; the rest is never made."""
    found = decode(CODERS[name](bytes(8 << 20)), name, 1 << 20)
    assert Decoded(bytes(1 << 20), is_too_big=True) == found


@pytest.mark.parametrize("name", CODERS)
def test_a_page_of_exactly_the_limit_is_whole(name: bytes) -> None:
    """The limit itself is allowed."""
    assert Decoded(PAGE) == decode(CODERS[name](PAGE), name, len(PAGE))
    assert decode(CODERS[name](PAGE), name, len(PAGE) - 1).is_too_big


def test_a_plain_body_has_a_limit_too() -> None:
    """Without an encoding the limit holds as well."""
    assert Decoded(PAGE[:10], is_too_big=True) == decode(PAGE, b"", 10)


@pytest.mark.parametrize("name", [b"gzip", b"zstd"])
def test_empty_members_without_end_end(name: bytes) -> None:
    """A body of tiny members takes linear time, and only so many are read."""
    found = decode(CODERS[name](b"") * 20_000, name)
    assert Decoded(b"", is_truncated=True) == found


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(sorted(CODERS)), st.data())
def test_damage_never_raises(page: bytes, name: bytes, data: st.DataObject) -> None:
    """Whatever happens to a compressed body, something comes out."""
    body = bytearray(CODERS[name](page))
    for _ in range(data.draw(st.integers(0, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    decode(bytes(body[: data.draw(st.integers(0, len(body)))]), name, 1000)
