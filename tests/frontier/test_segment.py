"""Names and headers of segments."""

from __future__ import annotations

from larbinpy.frontier.segment import Header, name_of, parse_name
from tests.frontier.logs import UUID


def test_names() -> None:
    """Only whole names are names."""
    assert parse_name(name_of(3, 1 << 40)) == (3, 1 << 40)
    for other in ("q-1-2.seg", name_of(1, 1) + ".tmp", "q-0000000g-0000000000000001.seg"):
        assert parse_name(other) is None


def test_headers() -> None:
    """Read back; any flipped byte or a short one makes it void."""
    header = Header(UUID, 1, 2, 3)
    data = header.pack()
    assert (len(data), Header.unpack(data)) == (64, header)
    assert Header.unpack(data[:63]) is None
    for at in range(64):
        assert Header.unpack(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]) is None
