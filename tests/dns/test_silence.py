"""When silence is that of a name, and when that of the name servers."""

from __future__ import annotations

from itertools import pairwise

from larbinpy.dns.silence import (
    FIRST_PROBE_NS,
    FRIENDS,
    LAST_PROBE_NS,
    LONGEST_FRIEND,
    SAID_AFTER,
    NameServers,
)

NOW = 10**12


def servers_with(*friends: bytes) -> NameServers:
    servers = NameServers()
    for friend in friends:
        servers.heard(NOW, friend)
    return servers


def test_a_lookup_is_doubtful_when_nobody_was_heard_since_it_began() -> None:
    """Whether anybody was heard before it or not."""
    servers = servers_with(b"a.org")
    assert [servers.is_doubtful(NOW + n) for n in (-1, 0, 1)] == [False, False, True]
    assert NameServers().is_doubtful(0)
    assert servers_with(b"").is_doubtful(NOW + 1)


def test_what_is_asked_for_can_be_in_no_cache() -> None:
    """But the held name itself: one below its top level, one below a friend."""
    for held, top in ((b"www.b.net", b"net"), (b"intranet", b"intranet")):
        assert NameServers().probe(held, 0x17) == [held, b"17.%b" % top]
        assert servers_with(b"a.org").probe(held, 0x17) == [held, b"17.%b" % top, b"17.a.org"]
    assert len(servers_with(b"x" * (LONGEST_FRIEND + 1)).probe(b"b.net", NOW)) == 2


def test_friends_are_asked_in_turn_at_growing_intervals() -> None:
    """The latest ones."""
    servers = servers_with(*(b"%d.org" % n for n in range(FRIENDS + 3)))
    now = NOW
    probes: list[bytes] = []
    moments: list[int] = []
    while len(probes) < FRIENDS:
        if servers.is_due(now):
            probes.append(servers.probe(b"held.net", now)[2])
            moments.append(now)
        now += FIRST_PROBE_NS // 2
    assert len({name.partition(b".")[2] for name in probes}) == len(set(probes)) == FRIENDS
    spans = [later - earlier for earlier, later in pairwise(moments)]
    assert spans == [min(FIRST_PROBE_NS << n, LAST_PROBE_NS) for n in range(FRIENDS - 1)]


def test_an_outage_is_told_once() -> None:
    """Not for an answer or two that were lost; an answer is its end."""
    servers = servers_with(b"a.org")
    news = []
    for _ in range(SAID_AFTER + 3):
        assert servers.probe(b"b.net", NOW)
        news.append((servers.is_outage, servers.is_outage_news))
    assert news == [(False, False)] * SAID_AFTER + [(True, True), (True, False), (True, False)]
    servers.heard(NOW)
    assert not servers.is_outage
    assert servers.is_due(NOW)


def test_names_that_had_no_chance_are_not_judged() -> None:
    """Those of before the first answer, and those of an outage."""
    servers = NameServers()
    assert servers.probe(b"b.net", NOW)
    assert servers.heard(NOW)
    for probes, is_theirs in ((SAID_AFTER, False), (SAID_AFTER + 1, True), (0, False)):
        for _ in range(probes):
            assert servers.probe(b"b.net", NOW)
        assert servers.heard(NOW) == is_theirs
