"""Requests to hosts whose URLs are not ours: polite, patient, and not for ever."""

from __future__ import annotations

from random import Random

from larbinpy._native.hosts import HostTable
from larbinpy.dns.base import Answer
from larbinpy.politeness.outage import Line
from larbinpy.records import FetchJob, Kind
from larbinpy.shard.errands import LOOK_NS, PATIENCE_NS, Errands
from tests.dns.resolvers import ToldResolver, addresses_of_all
from tests.dns.test_addresses import IP, NOW, SECOND


class Web:
    """A host table with its addresses and errands."""

    def __init__(self) -> None:
        self.table = HostTable(wait_ns=SECOND, wait_ip_ns=0)
        self.resolver = ToldResolver()
        self.addresses = addresses_of_all(self.table, self.resolver, Line(Random(1)))
        self.errands = Errands(self.table, self.addresses)

    def ask(self) -> FetchJob:
        """Something of ``b.org`` is to be asked."""
        job = FetchJob(1, b"http://b.org/r", b"b.org", 80, https=False, kind=Kind.ROBOTS)
        self.errands.add(job, NOW)
        return job

    def answer(self, *ips: bytes) -> None:
        """The resolver answers."""
        self.resolver.found.append(Answer(b"b.org", ips, NOW + SECOND))
        self.addresses.turn(NOW)


def test_a_host_is_visited_when_it_has_an_address() -> None:
    """And its number and address go into the request."""
    web = Web()
    job = web.ask()
    assert (web.errands.ready(NOW), web.errands.next_ns()) == ([], NOW + LOOK_NS)
    web.answer(IP)
    assert web.errands.ready(NOW) == []
    assert web.errands.ready(NOW + LOOK_NS) == [job]
    assert (job.ip, web.table.host(job.host_id), len(web.errands)) == (IP, b"b.org", 0)


def test_a_host_that_was_just_asked_is_waited_for() -> None:
    """Its own delay holds, whoever asks."""
    web = Web()
    first, second = web.ask(), web.ask()
    web.answer(IP)
    assert web.errands.ready(NOW) == [first]
    assert web.errands.ready(NOW + SECOND // 2) == []
    web.table.release(first.host_id, NOW, NOW + SECOND // 2)
    late = web.errands.ready(NOW + SECOND // 2 + LOOK_NS)
    assert (late, web.errands.next_ns()) == ([], NOW + SECOND)
    assert web.errands.ready(NOW + SECOND) == [second]


def test_a_host_without_an_address_is_lost() -> None:
    """At once when that is known, else when patience has run out."""
    web = Web()
    job = web.ask()
    web.answer()
    assert (web.errands.ready(NOW), web.errands.lost(), web.errands.lost()) == ([], [job], [])
    web = Web()
    job = web.ask()
    assert (web.errands.ready(NOW + PATIENCE_NS), web.errands.lost()) == ([], [job])
