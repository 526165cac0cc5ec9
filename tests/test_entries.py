"""What stands in frames: the bytes of ``docs/protocol.md``, section 4, and nothing else."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy import entries
from larbinpy import url as urls
from larbinpy._native.heldpages import MAX_REASON_BYTES, encode
from larbinpy._native.linkfilter import LinkFilter
from larbinpy.errors import FormatError
from larbinpy.frames import MAX_PAYLOAD
from larbinpy.links.found import ELEMENT_SEED, LINK_SEED, found_link
from larbinpy.records import (
    PAGE_BODY_IN_FILE,
    PAGE_FIRST,
    PAGE_TRUNCATED,
    PAGE_WATCHED,
    FetchJob,
    FetchResult,
    Filtered,
    Kind,
    Outcome,
    Page,
    ParsedPage,
)
from tests.records import page, result
from tests.reference.linkbuffers import Link, read_links

U8, U16, U32, U64 = (st.integers(0, (1 << bits) - 1) for bits in (8, 16, 32, 64))
SHORT = st.binary(max_size=40)
SCORE = st.floats(width=32, allow_nan=False)
IP = st.one_of(st.just(b""), st.binary(min_size=4, max_size=4), st.binary(min_size=16, max_size=16))

RESULT = FetchResult(
    FetchJob(
        id=0x0102030405060708, url=b"http://a/", host=b"a", port=80, https=False, kind=Kind.ROBOTS,
        ip=b"\x7f\0\0\1", depth=0x1112, left=0x1314, level=0x15, hops=0x16, score=1.0,
        relevance=-2.0, via=b"v", tag=b"tg",
    ),
    Outcome.TRUNCATED, status=200, headers=b"A: b\r\n", body=b"body", is_truncated=True,
    start_us=0x2122232425262728, duration_us=0x31323334, reason="cut",
)  # fmt: skip
PAGE = (
    "66000000"  # size
    "0807060504030201" "44434241" "00" "01" "12" "01" "c800"  # id .. status
    "1211" "1413" "15" "16" "0000803f" "000000c0"  # depth .. relevance
    "2827262524232221" "34333231" "04" "7f000001" + "00" * 12 +  # start_us .. ip
    "0900" "0100" "0200" "0300" "06000000" "04000000"  # lengths
    "687474703a2f2f612f" "76" "7467" "637574" "413a20620d0a" "626f6479"
)  # fmt: skip


# --- PAGE ------------------------------------------------------------------------------------


def test_page_has_the_bytes_of_the_protocol() -> None:
    """Section 4.1."""
    assert encode(RESULT, 0x41424344).hex() == PAGE


def test_a_page_that_is_sent_again_says_so() -> None:
    """``attempt`` tells how often it was sent before."""
    assert entries.decode_pages(encode(RESULT, 1, 9), 1)[0].attempt == 9


JOBS = st.builds(
    FetchJob, id=U64, url=SHORT, host=st.just(b"a"), port=U16, https=st.booleans(),
    kind=st.sampled_from(Kind), ip=IP, depth=U16, left=U16, level=U8, hops=U8, score=SCORE,
    relevance=SCORE, via=SHORT, tag=SHORT, watch=st.sampled_from((0, 1, 2, 4)),
)  # fmt: skip
RESULTS = st.builds(
    FetchResult, JOBS, st.sampled_from(Outcome), status=U16, headers=SHORT, body=SHORT,
    is_truncated=st.booleans(), start_us=U64, duration_us=U64, reason=st.text(max_size=200),
)  # fmt: skip


def expected(given_: FetchResult, epoch: int) -> Page:
    """The page that a parser must see."""
    job = given_.job
    flags = {1: PAGE_WATCHED, 2: PAGE_FIRST}.get(job.watch, 0)
    flags |= PAGE_TRUNCATED if given_.is_truncated else 0
    return Page(
        job.id, epoch, 0, job.kind, given_.outcome, flags,
        given_.status, job.depth, job.left, job.level, job.hops, job.score, job.relevance,
        given_.start_us, min(given_.duration_us, (1 << 32) - 1), job.ip, job.url,
        job.via, job.tag, given_.reason.encode("utf-8", "replace")[: MAX_REASON_BYTES],
        given_.headers, given_.body,
    )  # fmt: skip


@settings(max_examples=60)
@given(st.lists(RESULTS, max_size=4), U32)
def test_pages_come_back_as_they_were(results: list[FetchResult], epoch: int) -> None:
    """Any results, one behind the other in a frame."""
    payload = b"".join(encode(one, epoch) for one in results)
    assert entries.decode_pages(payload, len(results)) == [expected(r, epoch) for r in results]


def test_a_body_in_a_file_leaves_its_length() -> None:
    """The entry is as long as one without a body."""
    given_ = result(body=b"x" * 1000)
    entry = encode(given_, 1, is_body_in_file=True)
    (got,) = entries.decode_pages(entry, 1)
    assert (got.flags, got.body) == (PAGE_BODY_IN_FILE, b"")
    assert len(entry) == len(encode(result(), 1))
    assert entry.find((1000).to_bytes(4, "little")) > 0


@settings(max_examples=100)
@given(st.data())
def test_damaged_pages_are_refused_or_are_pages(data: st.DataObject) -> None:
    """Cut, grown or changed bytes raise ``FormatError`` and nothing else."""
    good = encode(RESULT, 7) * 2
    at = data.draw(st.integers(0, len(good) - 1))
    bad = data.draw(
        st.sampled_from(
            [good[:at], good + bytes(at + 1), good[:at] + b"\xff" + good[at + 1 :], good[at + 1 :]]
        )
    )
    try:
        pages = entries.decode_pages(bad, 2)
    except FormatError:
        return
    assert len(pages) == 2
    assert len(bad) == len(good)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_wrong_number_of_pages_is_refused(count: int) -> None:
    """Entries must fill their frame exactly."""
    payload = encode(RESULT, 7) * 2
    with pytest.raises(FormatError, match="PAGE"):
        entries.decode_pages(payload, count)


# --- PARSED, ROBOTS ----------------------------------------------------------------------------

PARSED = ParsedPage(
    id=0x0102030405060708, epoch=0x11121314, outcome=Outcome.DUPLICATE, status=200,
    body_bytes=0x21222324, links=0x31323334, duplicates=0x41424344, digest=bytes(range(16)),
    filtered={Filtered.TOO_LONG: 0x51525354}, near=0x61626364,
)  # fmt: skip


def test_parsed_has_the_bytes_of_the_protocol() -> None:
    """Section 4.3."""
    assert entries.encode_parsed(PARSED).hex() == (
        "0807060504030201" "14131211" "0a" "01" "c800" "24232221" "34333231" "44434241"
        "000102030405060708090a0b0c0d0e0f" "6463626100000000" "02" "54535251"
    )  # fmt: skip


PARSED_PAGES = st.builds(
    ParsedPage, id=U64, epoch=U32, outcome=st.sampled_from(Outcome), status=U16, body_bytes=U32,
    links=U32, duplicates=U32, digest=st.binary(min_size=16, max_size=16),
    filtered=st.dictionaries(st.sampled_from(Filtered), U32), near=U64,
)  # fmt: skip


@settings(max_examples=60)
@given(st.lists(PARSED_PAGES, max_size=5))
def test_answers_come_back_as_they_were(pages: list[ParsedPage]) -> None:
    """Any answers, one behind the other in a frame."""
    payload = b"".join(map(entries.encode_parsed, pages))
    assert entries.decode_parsed(payload, len(pages)) == pages


@pytest.mark.parametrize(
    ("payload", "count"),
    [
        (entries.encode_parsed(PARSED), 2),
        (entries.encode_parsed(PARSED), 0),
        (entries.encode_parsed(PARSED)[:-1], 1),
        (entries.encode_parsed(PARSED) + b"\0", 1),
        (b"", 1),
    ],
)
def test_damaged_answers_are_refused(payload: bytes, count: int) -> None:
    """Entries must fill their frame exactly."""
    with pytest.raises(FormatError, match="PARSED"):
        entries.decode_parsed(payload, count)


def test_robots_has_the_bytes_of_the_protocol() -> None:
    """Section 4.4."""
    payload = entries.encode_robots(b"http://a:80", 0x1234, b"text")
    assert payload.hex() == "0b00341204000000" + b"http://a:80text".hex()
    assert entries.decode_robots(payload) == (b"http://a:80", 0x1234, b"text")


@pytest.mark.parametrize("size", range(19))
def test_cut_robots_are_refused(size: int) -> None:
    """Wherever the entry ends too early, and one byte too late."""
    payload = entries.encode_robots(b"http://a:80", 200, b"")
    for bad in (payload[:size], payload + bytes(1)):
        with pytest.raises(FormatError, match="ROBOTS"):
            entries.decode_robots(bad)


# --- LINKS -----------------------------------------------------------------------------------


def test_a_group_has_the_bytes_of_the_protocol() -> None:
    """Section 4.2: the head of a group, via, tag, links."""
    links = Link(b"http://b/").pack()
    (group,) = entries.link_groups(b"http://a/", b"t", links, 1)
    head = "090001000100000029000000"
    assert group == bytes.fromhex(head) + b"http://a/t" + links


def test_the_links_of_a_large_page_are_cut_into_groups() -> None:
    """Each fits half a frame and a link; none is lost, cut or moved."""
    urls = [b"http://b/%06d/" % number + b"x" * (number % 2000) for number in range(2000)]
    links = b"".join(Link(url).pack() for url in urls)
    groups = list(entries.link_groups(b"http://a/", b"t", links, len(urls)))
    assert len(groups) > 3
    found = []
    for group in groups:
        assert len(group) < MAX_PAYLOAD // 2 + 3000
        count, size = int.from_bytes(group[4:8], "little"), int.from_bytes(group[8:12], "little")
        part = read_links(group[12 + 10 :])
        assert (count, size) == (len(part), len(group) - 22)
        found += part
    assert [link.url for link in found] == urls


def test_hosts_of_links_are_those_of_the_urls() -> None:
    """Over several groups; equal neighbours once."""
    names = [b"a.test", b"a.test", b"b.test:8080", b"[::1]", b"a.test"]
    found = b"".join(
        found_link(ELEMENT_SEED, b"http://%b/%d" % (name, n)) for n, name in enumerate(names)
    )
    base = urls.Base(b"http://x/")
    links = LinkFilter(key=bytes(16), shards=1, domain_of=lambda host: host)
    batch = links.run(urls.resolve(base, found), host=b"", depth=0, left=0, flags=LINK_SEED)
    groups = [
        group
        for via in (b"", b"http://via/")
        for group in entries.link_groups(via, b"tag", batch.entries[0], batch.counts[0])
    ]
    once = [b"a.test", b"b.test", b"[::1]", b"a.test"]
    assert entries.hosts_of_links(b"".join(groups)) == once + once[1:]
    assert entries.hosts_of_links(b"") == []


# --- CONTROL ---------------------------------------------------------------------------------


def test_control_is_json_with_a_verb() -> None:
    """What was told is heard."""
    payload = entries.encode_control("peer", role="shard", index=3)
    assert entries.decode_control(payload) == {"verb": "peer", "role": "shard", "index": 3}


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"3", b"{}", b"\xff", b'{"index":1}'])
def test_other_control_messages_are_refused(payload: bytes) -> None:
    """Not JSON, not an object, no verb."""
    with pytest.raises(FormatError, match="control message"):
        entries.decode_control(payload)


def test_pages_of_tests_are_pages() -> None:
    """The short pages of the other tests are what a shard would send."""
    (got,) = entries.decode_pages(encode(result(body=b"b"), 1), 1)
    assert dataclasses.replace(got, left=5, ip=b"\x7f\0\0\1") == page(body=b"b")
