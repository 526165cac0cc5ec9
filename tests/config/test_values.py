"""Values with units: what each text means, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larbinpy.config.values import (
    Choice,
    Credentials,
    Duration,
    FilePath,
    ForOrigin,
    HeaderLine,
    HttpUrl,
    ProxyAddress,
    Ratio,
    Size,
    Text,
    Whole,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10.0),
        ("5m", 300.0),
        ("1h", 3600.0),
        ("1d", 86400.0),
        ("250ms", 0.25),
        ("0.5", 0.5),
        ("1.5H", 5400.0),
        ("0.1ms", 0.0001),
        ("0", 0.0),
    ],
)
def test_durations_have_units_and_fractions(text: str, seconds: float) -> None:
    """A bare number is seconds, unless the key says otherwise."""
    assert Duration().read(text) == seconds


def test_a_bare_duration_has_the_unit_of_its_key() -> None:
    """``limitTime 2`` is two minutes, ``limitTime 2s`` two seconds."""
    assert [Duration("m").read(text) for text in ("2", "2s")] == [120.0, 2.0]


@pytest.mark.parametrize("text", ["", "s", "-1s", "1 week", "1e", "nan", "inf", "1,5s", "0x10"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    """The message shows the text, the range and the units."""
    with pytest.raises(ValueError, match=r"is not a duration from 0s to .*\(250ms, 10s"):
        Duration().read(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64", 64),
        ("64K", 64_000),
        ("1Ki", 1024),
        ("1M", 10**6),
        ("1Gi", 2**30),
        ("2TiB", 2**41),
        ("1.5Mi", 1536 * 1024),
        ("1kb", 1000),
    ],
)
def test_sizes_have_units(text: str, size: int) -> None:
    """K, M, G, T are powers of 1000, Ki, Mi, Gi, Ti of 1024; a bare number is bytes."""
    assert Size().read(text) == size


@pytest.mark.parametrize("text", ["", "K", "-1", "1Zi", "0.5", "1.0001K5"])
def test_what_is_no_size_is_refused(text: str) -> None:
    """There are no parts of bytes and no negative sizes."""
    with pytest.raises(ValueError, match="is not"):
        Size().read(text)


def test_a_value_out_of_range_says_the_range() -> None:
    """Each kind names both ends."""
    for kind, text, message in (
        (Whole(1, 9), "10", "must be a whole number from 1 to 9"),
        (Whole(1), "0", "must be a whole number, 1 or more"),
        (Ratio(0, 1), "1.5", "must be a number from 0 to 1"),
        (Duration(low=1, high=60), "2m", r"must be a duration from 1s to 1m"),
        (Size(1024, 2**20), "1", r"must be bytes from 1Ki to 1Mi"),
    ):
        with pytest.raises(ValueError, match=message):
            kind.read(text)


@pytest.mark.parametrize("text", ["", "1.0", "1K", "+-1", "one", "²", "1_000", "9" * 30])
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    """Digits with a sign, nothing else."""
    with pytest.raises(ValueError, match="a whole number"):
        Whole().read(text)


def test_choices_ignore_case() -> None:
    """The word is kept as the schema spells it."""
    assert Choice(("exact", "bloom")).read("BLOOM") == "bloom"
    with pytest.raises(ValueError, match="'bits' is not one of exact, bloom"):
        Choice(("exact", "bloom")).read("bits")


def test_urls_are_http_or_https() -> None:
    """They are kept as written; normalising comes later."""
    assert HttpUrl().read("HTTP://Example.com/ä") == "HTTP://Example.com/ä".encode()
    for text in ("", "example.com", "ftp://example.com/", "http://", "http:///x"):
        with pytest.raises(ValueError, match="begins with http:// or https://"):
            HttpUrl().read(text)


def test_strings_hold_no_quotes_or_controls() -> None:
    """What could not be written in a file is refused wherever it comes from."""
    for text in ('a"b', "a\nb", "a\x7fb"):
        with pytest.raises(ValueError, match="holds quotes or control characters"):
            Text().read(text)
    with pytest.raises(ValueError, match="must be ASCII text"):
        Text(header=True).read("lärbin")


def test_an_empty_path_unsets_an_optional_one() -> None:
    """Any other path must be there."""
    assert FilePath(is_optional=True).read("") is None
    assert FilePath().read("./a") == Path("a")
    with pytest.raises(ValueError, match="a path is needed"):
        FilePath().read("")


@given(st.floats(0, 3650 * 86400.0))
def test_durations_are_written_exactly(seconds: float) -> None:
    """Writing and reading gives the same float."""
    kind = Duration()
    assert kind.read(kind.write(seconds)) == seconds


@given(st.integers(0, 2**63 - 1))
def test_sizes_are_written_exactly(size: int) -> None:
    """Writing and reading gives the same number."""
    assert Size().read(Size().write(size)) == size


@given(st.floats(1e-9, 1))
def test_ratios_are_written_exactly(ratio: float) -> None:
    """Writing and reading gives the same float."""
    kind = Ratio(1e-9, 1)
    assert kind.read(kind.write(ratio)) == ratio


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a u:p", "'a' is not an origin such as https://www.example.com"),
        ("ftp://a u:p", "is not an origin"),
        ("http://a/b u:p", "is not an origin"),
        ("http://ä u:p", "is not an origin"),
        ("http://a secret", "must be USER:PASSWORD"),
        ("http://a :secret", "must be USER:PASSWORD"),
        ("http://a", "must be USER:PASSWORD"),
    ],
)
def test_what_is_no_origin_with_credentials_is_refused(text: str, message: str) -> None:
    """And no password is repeated."""
    with pytest.raises(ValueError, match=f"{message}$|{message} such as") as error:
        ForOrigin(Credentials()).read(text)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("text", ["X", "X y", ": y", "X:", "X: ä", "X y: z", "Host: a", "tE: x"])
def test_what_is_no_header_of_ones_own_is_refused(text: str) -> None:
    """Those that frame a request are not the operator's."""
    with pytest.raises(ValueError, match=r"must be|is set by larbinpy itself"):
        HeaderLine().read(text)


@pytest.mark.parametrize(
    "text",
    ["www", "www 80 90", "www 0", "www 65536", "www http", "ftp://www:80", "http://www",
     "http://u:secret@www", "socks5://www:1/x"],
)  # fmt: skip
def test_what_is_no_proxy_is_refused(text: str) -> None:
    """And no password is repeated."""
    with pytest.raises(ValueError, match=r"^must be HOST PORT or") as error:
        ProxyAddress().read(text)
    assert "secret" not in str(error.value)
