"""The search for one URL in a log against its plain twin."""

from __future__ import annotations

import struct
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import logsearch
from tests.reference import logsearch as reference

HOST = b"h.example"
numbers = st.integers(1, 4)


def enq(fingerprint: int, name: bytes = b"", level: int = 0) -> bytes:
    head = struct.pack("<Q6xBBB15xHHHH", fingerprint, 7, len(name), level, 7 + len(name), 0, 0, 0)
    return head + b"http://" + name


def host(name: bytes) -> bytes:
    return struct.pack("<QBBBx", 1, 2, 3, len(name)) + name


names = st.sampled_from([HOST, b"g.example", b"h.exampl", b""])
urls = st.builds(enq, numbers, names, st.integers(0, 2))
payloads = st.one_of(
    urls.map(lambda url: (1, url)),
    st.builds(lambda url, id_: (4, struct.pack("<Q", id_) + url), urls, numbers),
    st.builds(
        lambda entries: (
            2, b"".join(struct.pack("<Q1xB30x", n, f) + bytes(5 * f) for n, f in entries)
        ),
        st.lists(st.tuples(numbers, st.integers(0, 2)), max_size=3),
    ),
    st.builds(lambda n: (3, struct.pack("<QB7xQ", n, 1, 2)), numbers),
    names.map(lambda name: (6, host(name))),
    st.tuples(st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8, 0, 9]), st.binary(max_size=60)),
)  # fmt: skip


def pack(lsn: int, kind: int, payload: bytes) -> bytes:
    record = struct.pack("<IIBBHQ", 0, len(payload), kind, 0, 0, lsn) + payload
    return record + bytes(-len(record) % 8)


@settings(max_examples=300)
@given(
    st.lists(payloads, max_size=12), st.integers(0, 40), st.integers(0, 900),
    st.sampled_from([(), (3,), (1, 2)]), st.sampled_from([HOST, b""]),
)  # fmt: skip
def test_a_search_finds_what_the_reference_finds(
    records: list[tuple[int, bytes]], cut: int, dones_before: int, ids: tuple[int, ...], name: bytes
) -> None:
    """Whatever records stand there, cut anywhere; and what of the host waits."""
    data = b"".join(pack(lsn, *record) for lsn, record in enumerate(records, 1))
    data = data[: max(len(data) - cut, 0)]
    known: set[int] = set(ids)
    waiting: set[tuple[int, int]] = set()
    search = logsearch.Search(2, name, ids)
    expected = reference.run(data, 0, dones_before, 2, name, known, waiting)
    assert expected == search.run(data, 0, dones_before)
    assert known == set(search.ids)
    for lsn, level, newest_first in product((0, 2, 7, 12), range(3), (False, True)):
        count = reference.ahead(waiting, lsn, level, newest_first=newest_first)
        assert count == search.ahead(lsn, level, newest_first)


def test_many_urls_of_a_host_are_counted() -> None:
    """Ids far apart and close together, more than the first table holds."""
    numbers = [n * n for n in range(1, 500)] + list(range(300_000, 300_500))
    data = b"".join(pack(n, 1, enq(n, HOST)) for n in numbers)
    data += pack(1 << 40, 2, b"".join(struct.pack("<Q1xB30x", n, 0) for n in numbers[::2]))
    search = logsearch.Search(7, HOST)
    search.run(data, 0, len(data))
    left = numbers[1::2]
    for lsn in (0, 4, 5, 250_000, 300_063, 300_064, 300_065, 1 << 50):
        assert search.ahead(lsn, 0, False) == sum(n < lsn for n in left)
        assert search.ahead(lsn, 0, True) == sum(n > lsn for n in left)


def test_a_search_goes_on_in_the_next_segment() -> None:
    """What was learnt of the URL's ids in one window holds in the next."""
    search = logsearch.Search(2, HOST)
    assert search.run(pack(7, 1, enq(2)), 0, 0)[0] == [(0, 1)]
    done = pack(9, 2, struct.pack("<Q1xB30x", 7, 0))
    assert search.run(done, 0, 0)[0] == [(0, 2)]


def test_a_length_that_is_too_large_is_damage() -> None:
    """It cannot lead the search away."""
    data = struct.pack("<IIBBHQ", 0, 65_537, 1, 0, 0, 1) + bytes(100_000)
    assert logsearch.Search(2, HOST).run(data, 0, 0) == ([], 0, logsearch.STOP_DAMAGED)


@pytest.mark.parametrize("start", [0, 4, 64])
def test_prints_are_found_on_their_grid(start: int) -> None:
    """Every eighth byte from the start on, and nowhere else."""
    data = bytearray(200)
    for offset in (8, 12, 68, 72, 190):
        data[offset : offset + 8] = (77).to_bytes(8, "little")
    expected = [
        at for at in range(start, 193, 8) if data[at : at + 8] == (77).to_bytes(8, "little")
    ]
    assert expected == logsearch.find_prints(data, 77, start)
    assert logsearch.find_prints(b"", 77, 64) == []
