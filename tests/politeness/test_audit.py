"""What a log proves, and that the smallest breach is found in it."""

from __future__ import annotations

from random import Random

import pytest

from larbinpy.politeness.audit import TOLERANCE_US, Audit, Breach, Request, request_of
from larbinpy.politeness.promise import HANDOVER_US, Promise, Timeline

MS = 1000
SECOND = 1000 * MS
NOW = 1_700_000_000 * SECOND
WAIT = Timeline([(0, Promise(SECOND))])
NOTHING = Timeline([(0, Promise(0, 1000))])
LINE = (
    b'{"ts":"2023-11-14T22:13:20.000005Z","kind":"page","id":1,"attempt":0,"url":"%b",'
    b'"outcome":"%b","status":%b,"bytes":3,"mime":null,"depth":0,"via":null,"ip":%b,'
    b'"duration_ms":12,"digest":null,"reason":null}\n'
)


def audit(*requests: tuple[int, int], host: str = "a", ip: str = "1.2.3.4") -> Audit:
    """Requests to one host, by start after NOW and duration."""
    seen = Audit()
    for start, duration in requests:
        seen.add(Request(NOW + start, duration, host, ip))
    return seen


@pytest.mark.parametrize(
    ("url", "host"),
    [
        (b"http://a.org:80/x", "a.org"),
        (b"https://[::1]:8/", "[::1]"),
        (b"http://1.2.3.4/", "1.2.3.4"),
    ],
)
def test_a_line_is_a_request(url: bytes, host: str) -> None:
    """Its time in microseconds, its host without the port."""
    request = request_of(LINE % (url, b"success", b"200", b'"1.2.3.4"'))
    assert request == Request(NOW + 5, 12 * MS, host, "1.2.3.4")


@pytest.mark.parametrize(
    ("outcome", "status", "ip", "expected"),
    [
        (b"success", b"200", b"null", True),
        (b"forbiddenRobots", b"null", b'"1.2.3.4"', False),
        (b"forbiddenRobots", b"503", b'"1.2.3.4"', True),
        (b"noConnection", b"null", b'"1.2.3.4"', True),
        (b"timeout", b"null", b'"1.2.3.4"', True),
        (b"fastNoConn", b"null", b"null", False),
        (b"forbiddenAddress", b"null", b'"10.0.0.1"', False),
    ],
)
def test_what_ended_without_a_request_is_none(
    outcome: bytes, status: bytes, ip: bytes, expected: bool
) -> None:
    """A failed connection is one, and so is what came by a proxy, whose addresses nobody knows."""
    found = request_of(LINE % (b"http://a/", outcome, status, ip))
    assert (found is not None) == expected


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b"nonsense", b'{"ip":"1","outcome":"x"}'])
def test_what_is_no_line_is_refused(line: bytes) -> None:
    """The proof would not hold."""
    with pytest.raises(ValueError):  # noqa: PT011  (json's own, too)
        request_of(line)


def test_starts_a_wait_apart_are_fine() -> None:
    """From start to start, in whatever order they are logged."""
    seen = audit((SECOND, 900 * MS), (0, 1000 * MS), (2 * SECOND, 5 * MS))
    assert list(seen.breaches(WAIT, WAIT)) == []
    assert (seen.requests, seen.hosts, seen.ips) == (3, 1, 1)


def test_without_addresses_hosts_are_proved_all_the_same() -> None:
    """Behind a proxy."""
    seen = audit((0, 10 * MS), (SECOND // 2, 10 * MS), ip="")
    assert [breach.who for breach in seen.breaches(WAIT, WAIT)] == ["a"]
    assert (seen.requests, seen.hosts, seen.ips) == (2, 1, 0)


def test_fifty_milliseconds_are_found() -> None:
    """By host and by address."""
    seen = audit((0, MS), (950 * MS, MS), (1950 * MS, MS))
    breaches = [
        Breach(who, NOW + 950 * MS, NOW, 50 * MS, is_overlap=False) for who in ("a", "1.2.3.4")
    ]
    assert list(seen.breaches(WAIT, WAIT)) == breaches


def test_one_breach_in_a_long_log_is_found() -> None:
    """Whichever line it is."""
    random = Random(1)
    for _ in range(20):
        starts = [n * SECOND for n in range(500)]
        late = random.randrange(1, 500)
        starts[late] -= 50 * MS
        pairs = [(start, 10 * MS) for start in starts]
        random.shuffle(pairs)
        found = list(audit(*pairs).breaches(WAIT, NOTHING))
        assert [breach.start_us - NOW for breach in found] == [starts[late]]


def test_an_overlap_is_a_breach_although_the_wait_was_kept() -> None:
    """A host is never asked before the earlier request has ended, whichever that was."""
    seen = audit((0, 5 * SECOND), (2 * SECOND, MS))
    assert list(seen.breaches(WAIT, NOTHING)) == [
        Breach("a", NOW + 2 * SECOND, NOW, 3 * SECOND, is_overlap=True)
    ]
    seen = audit((0, 5 * SECOND), (6 * SECOND, MS), (7 * SECOND, 5 * SECOND), (9 * SECOND, 0))
    assert [b.start_us - NOW for b in seen.breaches(WAIT, NOTHING)] == [9 * SECOND]


def test_as_many_at_a_time_as_agreed() -> None:
    """connectionsPerIp."""
    seen = audit((0, 5 * SECOND), (SECOND, 5 * SECOND), (2 * SECOND, SECOND))
    assert list(seen.breaches(NOTHING, Timeline([(0, Promise(SECOND, 3))]))) == []
    found = list(seen.breaches(NOTHING, Timeline([(0, Promise(SECOND, 2))])))
    assert [(b.start_us - NOW, b.missing_us) for b in found] == [(2 * SECOND, 3 * SECOND)]


def test_hosts_of_one_address_are_counted_together() -> None:
    """internetarchive/heritrix3#754."""
    seen = audit((0, MS))
    seen.add(Request(NOW + 500 * MS, MS, "b", "1.2.3.4"))
    assert [b.who for b in seen.breaches(WAIT, WAIT)] == ["1.2.3.4"]
    assert list(seen.breaches(WAIT, Timeline([(0, Promise(500 * MS))]))) == []


def test_a_request_that_was_parsed_twice_is_one() -> None:
    """After the death of a parser it has two lines."""
    assert list(audit((0, MS), (0, MS)).breaches(WAIT, WAIT)) == []


def test_what_the_log_cannot_tell_is_tolerated() -> None:
    """Rounded durations; not more."""
    assert list(audit((0, MS), (SECOND - TOLERANCE_US, MS)).breaches(WAIT, WAIT)) == []
    assert len(list(audit((0, MS), (SECOND - TOLERANCE_US - 1, MS)).breaches(WAIT, NOTHING))) == 1


def test_each_request_is_judged_by_the_promise_of_its_time() -> None:
    """A pace that was too fast before its change is a breach, and one that was right is none."""
    change = NOW + 100 * HANDOVER_US
    seen = audit(
        (0, MS), (SECOND, MS), (1500 * MS, MS),
        (102 * HANDOVER_US, MS), (102 * HANDOVER_US + SECOND, MS),
        (103 * HANDOVER_US, MS), (103 * HANDOVER_US + 5 * SECOND, MS),
    )  # fmt: skip
    slower = Timeline([(NOW, Promise(SECOND)), (change, Promise(5 * SECOND))])
    found = [breach.start_us - NOW for breach in seen.breaches(slower, NOTHING)]
    assert found == [1500 * MS, 102 * HANDOVER_US + SECOND]
    assert seen.first_us == NOW


def test_a_wait_that_began_before_a_change_ends_as_it_was_promised() -> None:
    """However long after the change that is."""
    change = NOW + 100 * HANDOVER_US
    seen = audit((99 * HANDOVER_US, MS), (102 * HANDOVER_US, MS), (105 * HANDOVER_US, MS))
    slower = Timeline([(NOW, Promise(2 * HANDOVER_US)), (change, Promise(6 * HANDOVER_US))])
    found = [breach.start_us - NOW for breach in seen.breaches(slower, NOTHING)]
    assert found == [105 * HANDOVER_US]
