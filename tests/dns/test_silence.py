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
    """Of a resolver that had an answer once."""
    servers = servers_with(b"a.org")
    assert [servers.is_doubtful(NOW + n) for n in (-1, 0, 1)] == [False, False, True]
    assert not NameServers().is_doubtful(NOW)
    assert not servers_with(b"").is_doubtful(NOW + 1)
    assert not servers_with(b"x" * (LONGEST_FRIEND + 1)).is_doubtful(NOW + 1)


def test_friends_are_asked_in_turn_at_growing_intervals() -> None:
    """For names that no cache can know."""
    servers = servers_with(*(b"%d.org" % n for n in range(FRIENDS + 3)))
    now = NOW
    probes: list[bytes] = []
    moments: list[int] = []
    while len(probes) < FRIENDS:
        name = servers.probe(now)
        if name is not None:
            probes.append(name)
            moments.append(now)
        now += FIRST_PROBE_NS // 2
    assert len({name.partition(b".")[2] for name in probes}) == len(set(probes)) == FRIENDS
    spans = [later - earlier for earlier, later in pairwise(moments)]
    assert spans == [min(FIRST_PROBE_NS << n, LAST_PROBE_NS) for n in range(FRIENDS - 1)]


def test_an_outage_is_told_once_and_so_is_its_end() -> None:
    """Not for an answer or two that were lost."""
    servers = servers_with(b"a.org")
    news = []
    for n in range(SAID_AFTER + 3):
        assert servers.probe(NOW + n * LAST_PROBE_NS)
        news.append(servers.is_silence_news)
    assert news == [False] * SAID_AFTER + [True, False, False]
    assert servers.heard(NOW, b"")
    assert not servers.heard(NOW, b"")
    assert servers.probe(NOW)
    assert not servers.heard(NOW, b"")
