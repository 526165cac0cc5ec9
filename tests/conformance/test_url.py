"""The URL parser against the published cases of the URL standard, and larbin's own vectors.

Each test counts what it checks and what a rule leaves out, so that nothing is lost in silence.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from larbinpy import url
from larbinpy._native import urlnorm
from tests.conformance.shared import data
from tests.reference.linkbuffers import FOUND_HEAD, RESOLVED_HEAD

ELEMENT_A, ATTRIBUTE_HREF = 1, 1


# Any: a case is whatever the JSON file holds.
def cases(name: str) -> list[dict[str, Any]]:
    """The cases of a file, without its comments."""
    lines = json.loads(data(f"url/{name}").read_bytes())
    return [case for case in lines if isinstance(case, dict)]


class Tally(NamedTuple):
    """What a file of cases came to."""

    right: int
    left_out: int
    wrong: list[str]


def without_extras(href: str) -> bytes:
    """An expected URL as larbinpy writes it: without fragment and user info."""
    scheme, rest = href.partition("#")[0].split("://", 1)
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}".encode()


def base_bytes(case: dict[str, Any]) -> bytes | None:
    return None if case["base"] is None else case["base"].encode("utf-8", "surrogatepass")


def href_of(found: url.Url | None) -> bytes | None:
    return None if found is None else found.url


def is_http(case: dict[str, Any]) -> bool:
    return not case.get("failure") and case["protocol"] in ("http:", "https:")


def fault_of(case: dict[str, Any]) -> str | None:
    """What is wrong with the answer to a case of urltestdata.json."""
    found = href_of(url.parse(case["input"], base_bytes(case)))
    expected = without_extras(case["href"]) if is_http(case) else None
    if found == expected:
        return None
    return f"{case['input']!r} on {case['base']!r}: {found!r}, not {expected!r}"


def tally_urls() -> Tally:
    all_cases = cases("urltestdata.json")
    wrong = [fault for case in all_cases if (fault := fault_of(case))]
    left_out = sum(not (case.get("failure") or is_http(case)) for case in all_cases)
    return Tally(len(all_cases) - len(wrong) - left_out, left_out, wrong)


def test_urls_of_the_standard() -> None:
    """Every http(s) URL comes out as the standard says; failures and other schemes are refused."""
    tally = tally_urls()
    assert tally.wrong == []
    assert (tally.right, tally.left_out) == (247 + 267, 377)


def fits_dns(host: str) -> bool:
    return len(host) <= 253 and all(len(label) <= 63 for label in host.split("."))


def tally_hosts(name: str) -> Tally:
    right, left_out, wrong = 0, 0, []
    for case in cases(name):
        if case["input"] == "":
            continue
        host = case["input"]
        for char in "/?#\\":
            host = host.replace(char, f"%{ord(char):02X}")
        parsed = url.parse(f"https://{host}/x")
        found = None if parsed is None else parsed.host.decode()
        is_too_long = case["output"] is not None and not fits_dns(case["output"])
        expected = None if is_too_long else case["output"]
        if found != expected:
            wrong.append(f"{host!r}: {found!r}, not {expected!r}")
        else:
            right += not is_too_long
            left_out += is_too_long
    return Tally(right, left_out, wrong)


@pytest.mark.parametrize(
    ("name", "right", "too_long"), [("toascii.json", 80, 7), ("IdnaTestV2.json", 2616, 54)]
)
def test_hosts_of_the_standard(name: str, right: int, too_long: int) -> None:
    """Every host comes out as the standard says, but that those too long for DNS are refused."""
    tally = tally_hosts(name)
    assert tally.wrong == []
    assert (right, too_long) == (tally.right, tally.left_out)


def resolved_query(query: str, encoding: str) -> str:
    """The query of a link in a document of that encoding."""
    value = f"?{query}".encode()
    links = FOUND_HEAD.pack(ELEMENT_A, ATTRIBUTE_HREF, 0, 0, len(value)) + value
    items = url.resolve(url.Base(b"http://example.org/"), links, encoding)
    assert RESOLVED_HEAD.unpack_from(items)[0] == url.OK
    return items[RESOLVED_HEAD.size :].decode().partition("?")[2]


def test_percent_encoding_in_the_encoding_of_the_document() -> None:
    """A query is encoded in the document's encoding; what this lacks becomes a reference."""
    expected = [
        (case["input"], encoding, query)
        for case in cases("percent-encoding.json")
        for encoding, query in case["output"].items()
    ]
    found = [(text, encoding, resolved_query(text, encoding)) for text, encoding, _ in expected]
    assert expected == found
    assert len(found) == 16


def test_vectors_of_the_real_larbin() -> None:
    """larbin mode takes, refuses and writes what the real larbin did."""
    rows = data("larbin-url-vectors.tsv").read_bytes().split(b"\n")[1:]
    vectors = [row.split(b"\t") for row in rows if row]
    for vector in vectors:
        found = url.parse_larbin(vector[1])
        if vector[0] == b"INVALID":
            assert found is None, vector
            continue
        assert found is not None, vector
        assert (vector[5], vector[4]) == (found.url, serialised(vector[1])), vector
    assert len(vectors) == 34


def serialised(larbin_url: bytes) -> bytes:
    """A URL as a line of larbin's fifo has it, at depth 5."""
    parts = urlnorm.larbin_parse(larbin_url)
    assert parts is not None
    host, port, file = parts
    return b"5 %b:%d%b" % (host, port, file)
