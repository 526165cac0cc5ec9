"""Which hosts are left because they say nothing new."""

from __future__ import annotations

from collections import defaultdict
from itertools import count

from larbinpy.frontier.crowds import CROWD
from larbinpy.frontier.novelty import Novelty

SAME = bytes(16)


class World:
    """Hosts with their numbers, and domains of two labels."""

    def __init__(self, most_same: int, *, watch_after: int = 0) -> None:
        self.novelty = Novelty(most_same, watch_after, lambda host: host.split(b".", 1)[-1])
        self._numbers: defaultdict[bytes, int] = defaultdict(count().__next__)

    def ask(self, host: bytes) -> str:
        """Why a host may not be asked, or nothing."""
        return self.novelty.refusal(self._numbers[host], host)

    def show(
        self, host: bytes, digest: bytes, *, is_near: bool = False, leads_on: bool = True,
        watched: int = 1,
    ) -> None:  # fmt: skip
        """A host shows a good page."""
        number = self._numbers[host]
        self.novelty.add(number, digest, is_near=is_near, leads_on=leads_on, watched=watched)

    def fetch(self, host: bytes, digest: bytes) -> str:
        """Fetch a page if it may be; returns what forbids it."""
        name = self.ask(host)
        if not name:
            self.show(host, digest)
        return name

    def meet(self, hosts: range, *, is_near: bool) -> set[str]:
        """Fetch the first page of hosts of one domain; returns what forbade any."""
        names = set()
        for number in hosts:
            host = b"h%d.a.org" % number
            names.add(name := self.ask(host))
            if not name:
                watched = self.novelty.watch(self._numbers[host])
                near = is_near and watched == 2
                self.show(host, number.to_bytes(16, "little"), is_near=near, watched=watched)
        return names


def test_without_a_limit_nobody_is_left() -> None:
    """And nothing is remembered."""
    world = World(0)
    assert {world.fetch(b"a.org", SAME) for _ in range(3000)} == {""}
    assert world.novelty.hosts.shown(0) == 0


def test_a_host_that_says_the_same_again_and_again_is_left() -> None:
    """Soft 404, session ids; also when it has a few contents in turn."""
    world = World(10)
    names = [world.fetch(b"a.org", b"%d" % (n % 3)) for n in range(15)]
    assert names == [""] * 13 + ["sameContent"] * 2
    assert world.ask(b"b.org") == ""


def test_near_duplicates_are_the_same_content() -> None:
    """However many contents they are."""
    world = World(3)
    for number in range(4):
        assert world.fetch(b"a.org", b"%d new" % number) == ""
        world.show(b"a.org", b"%d" % number, is_near=True)
    world.show(b"a.org", b"x", is_near=True)
    world.show(b"a.org", b"y", is_near=True, leads_on=False)
    assert world.ask(b"a.org") == ""
    world.show(b"a.org", b"z", is_near=True)
    assert world.ask(b"a.org") == "sameContent"


def test_who_is_left_is_told_once() -> None:
    """With how much it has shown."""
    world = World(2)
    assert world.fetch(b"a.org", b"new") == ""
    for _ in range(3):
        world.show(b"a.org", SAME)
    assert [world.ask(b"a.org") for _ in range(2)] == ["sameContent"] * 2
    assert world.novelty.left == [
        "no more pages of a.org are asked for: the last 2 of 4 said nothing new (sameContent)"
    ]


def test_new_hosts_of_a_crowd_that_begin_alike_are_left() -> None:
    """Endless subdomains; hosts that have shown a page are asked on, other domains too."""
    world = World(10, watch_after=64)
    assert world.meet(range(2 * CROWD + 10), is_near=True) == {""}
    assert world.ask(b"waiting.a.org") == "sameHosts"
    assert world.meet(range(3 * CROWD, 3 * CROWD + 5), is_near=True) == {"sameHosts"}
    assert world.ask(b"h1.a.org") == ""
    assert world.ask(b"h1.b.org") == ""
    assert [text.split(":")[0] for text in world.novelty.left] == [
        "no more new hosts of a.org are asked for"
    ]


def test_a_host_of_a_crowd_that_was_met_waits_for_the_others() -> None:
    """One whose robots.txt was asked for is left when the crowd is, for it has shown nothing."""
    world = World(10, watch_after=64)
    world.meet(range(2 * CROWD), is_near=True)
    assert world.ask(b"met.a.org") == ""
    world.meet(range(1000, 1010), is_near=True)
    assert world.ask(b"met.a.org") == "sameHosts"


def test_a_crowd_of_honest_hosts_is_not_left() -> None:
    """Their first pages differ."""
    world = World(10, watch_after=64)
    assert world.meet(range(4 * CROWD), is_near=False) == {""}
    assert world.novelty.left == []


def test_a_host_with_something_new_now_and_then_is_not_left() -> None:
    """A page of its own begins the count anew."""
    world = World(10)
    for n in range(200):
        digest = n.to_bytes(16, "little") if n % 9 == 0 else SAME
        assert world.fetch(b"a.org", digest) == ""
