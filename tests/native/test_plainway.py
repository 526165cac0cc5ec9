"""What is plain, and that nothing is that anybody has something to say about."""

from __future__ import annotations

from array import array
from typing import Any

import pytest

from larbinpy._native.contents import Contents, HostContents
from larbinpy._native.plainway import PlainEnds, PlainStarts
from larbinpy.politeness.gate import Gate
from larbinpy.records import ID_WITHOUT_ENQ, FetchJob, Kind, Outcome
from tests.records import result

HOST, OTHER = b"a.test", b"b.test"
IP = bytes((127, 0, 2, 1))
NOW = 10 * 10**9
RULES = b"User-agent: *\nDisallow: /private/\n"


def job(path: bytes = b"/a", **more: Any) -> FetchJob:
    return FetchJob(1, b"http://a.test" + path, HOST, 80, False, host_id=1, **more)


class World:
    """What a shard knows: host 1 is well and has rules."""

    def __init__(self, *, is_open: bool = False) -> None:
        self.gate = Gate(b"larbin", is_open=is_open)
        self.gate.learn(b"http://a.test:80", 200, RULES, 0)
        self.ipv4 = array("I", [0, int.from_bytes(IP, "big")])
        self.expires_s = array("I", [0, 11])
        self.private: set[int] = set()
        self.troubles: dict[bytes, object] = {}
        self.is_open = is_open
        self.know(HostContents())
        self.same.meet(1)

    def know(self, same: HostContents) -> None:
        """Nothing else is known of what hosts have shown."""
        self.same = same
        self.starts = PlainStarts(
            self.gate.origins, self.is_open, self.ipv4, self.expires_s, self.private,
            self.troubles, same, 2, 1,
        )  # fmt: skip

    def takes(self, one: FetchJob, now_ns: int = NOW) -> bool:
        plain, others = self.starts.sort([one], now_ns)
        assert plain + others == [one]
        return bool(plain)


def test_a_host_that_is_well_is_asked() -> None:
    """The URL gets the address; others' troubles are not its host's."""
    world = World()
    world.troubles[OTHER] = object()
    world.same.leave(0)
    world.private.add(0)
    one = job()
    assert world.takes(one)
    assert one.ip == IP


def test_arrays_may_grow() -> None:
    """Their owner extends them, and hosts that are not in them are not plain."""
    world = World()
    one = job()
    one.host_id = 5000
    assert not world.takes(one)
    world.ipv4.extend([1] * 9000)
    world.expires_s.extend([1 << 30] * 9000)
    world.same.meet(5000)
    assert world.takes(one)
    one.host_id = -1
    assert not world.takes(one)


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w.private.add(1),
        lambda w: w.troubles.update({HOST: object()}),
        lambda w: w.ipv4.__setitem__(1, 0),
        lambda w: w.expires_s.__setitem__(1, 10),
        lambda w: w.gate.origins.clear(),
        lambda w: [w.same.add(1, bytes(16)) for _ in range(3)],
        lambda w: w.know(HostContents()),
        lambda w: w.same.meet(1, Contents()),
    ],
)
def test_whoever_has_a_say_is_asked_first(change: Any) -> None:
    """Private addresses, troubles, IPv6, old answers, unknown rules, the same content, a new
    host."""
    world = World()
    change(world)
    one = job()
    assert not world.takes(one)
    assert one.ip == b""


def test_a_sitemap_is_not_plain() -> None:
    """It has a budget of its own."""
    one = job()
    one.kind = Kind.SITEMAP
    assert not World().takes(one)


def test_it_is_told_what_to_watch() -> None:
    """Here every page after the first, once half as many as may be say nothing new."""
    world = World()
    told = []
    for _ in range(3):
        one = job()
        assert world.takes(one)
        told.append(one.watch)
        world.same.add(1, bytes(16), watched=one.watch)
    assert told == [0, 0, 1]


def test_rules_decide() -> None:
    """What they forbid is not plain, nor anything when they are a day old; none are asked when
    robots.txt is ignored."""
    world = World()
    assert not world.takes(job(b"/private/a"))
    assert world.takes(job(b"/private"))
    assert not world.takes(job(), 25 * 3600 * 10**9)
    free = World(is_open=True)
    free.gate.origins.clear()
    assert free.takes(job(b"/private/a"))


def ends(troubles: dict[bytes, object]) -> PlainEnds:
    return PlainEnds(troubles, 2 * 10**9, 100_000)


def test_good_results_are_told_from_others() -> None:
    """In their order, with their jobs and what they moved over the wire."""
    plain = ends({OTHER: object()})
    good = [result(number, bytes_read=50, bytes_written=20) for number in (7, 9)]
    bad = result(8, outcome=Outcome.TIMEOUT)
    sorted_ = plain.sort([bad, *good, bad])
    assert sorted_ == (good, [one.job for one in good], 100, 40, [bad, bad])


@pytest.mark.parametrize(
    "fields",
    [{"outcome": Outcome.TRUNCATED}, {"outcome": Outcome.ERR_40X}, {"status": 0},
     {"duration_us": 2_000_000}, {"headers": b"x" * 50_000, "body": b"y" * 50_001}],
)  # fmt: skip
def test_other_results_are_left(fields: dict[str, Any]) -> None:
    """What is not good, slow, or too long for a frame."""
    left = [result(7, **fields)]
    assert ends({}).sort(left) == ([], [], 0, 0, left)


def test_results_that_others_wait_for_are_left() -> None:
    """Rules, tries that are only logged, and hosts in trouble."""
    plain = ends({HOST: object()})
    for change in ({"kind": Kind.RETRY}, {"id": ID_WITHOUT_ENQ | 1}, {"host": HOST}):
        one = result(7)
        for name, value in change.items():
            setattr(one.job, name, value)
        assert plain.sort([one]) == ([], [], 0, 0, [one])
