"""The host table against its model, and its rules one by one."""

from __future__ import annotations

import mmap
import os
import random
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from larbinpy._native.hosts import BUSY, FAILED, IDLE, NEW, RESOLVING, SCHEDULED, HostTable
from larbinpy._native.shared import IpTable
from tests.native.hostrecords import Batch, batch, record
from tests.records import result
from tests.reference.hosts import HostTable as Model
from tests.reference.shared import IpTable as ModelIpTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Order = Literal["bfs", "dfs", "best"]
SECOND = 1_000_000_000
IP = bytes([10, 0, 0, 1])
OTHER_IP = bytes([10, 0, 0, 2])
SLOTS = 256


def table(order: Order = "bfs", wait_ns: int = SECOND, wait_ip_ns: int = 0) -> HostTable:
    """A table with the delays of most tests."""
    return HostTable(order=order, wait_ns=wait_ns, wait_ip_ns=wait_ip_ns)


def put(hosts: HostTable, host: bytes, positions: Sequence[int], level: int = 0) -> int:
    """Put URLs of one host; return its number."""
    hosts.put(*batch((host, level, position) for position in positions))
    return hosts.find(host)


def ready(hosts: HostTable, host: bytes, positions: Sequence[int], ip: bytes = IP) -> int:
    """Put URLs of one host and give it an address."""
    number = put(hosts, host, positions)
    hosts.unresolved(100)
    hosts.resolved(number, ip, 0)
    return number


def drain(hosts: HostTable, number: int) -> list[int]:
    """Take all URLs of a host whose turn is now."""
    positions = []
    while taken := hosts.acquire(2**62, 1):
        positions.append(taken[0][1])
        hosts.skip(number)
    return positions


def in_child(work: Callable[[], None]) -> int:
    """Run ``work`` in a child process; return its exit code."""
    pid = os.fork()
    if not pid:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Against(RuleBasedStateMachine):
    """The same random operations on table and model; every answer must be the same."""

    order: Order = "bfs"
    is_shared = False
    per_ip = 1

    def __init__(self) -> None:
        super().__init__()
        self.now = 100
        lease_ns = 0
        ips, model_ips = None, None
        if self.is_shared:
            lease_ns = 50
            memory = bytearray(16 * SLOTS)
            ips, model_ips = IpTable(memory, 0, SLOTS), ModelIpTable(memory, 0, SLOTS)
            self.rivals = IpTable(memory, 0, SLOTS), model_ips
        waits = {"wait_ns": 10, "wait_ip_ns": 4, "lease_ns": lease_ns, "per_ip": self.per_ip}
        self.table = HostTable(order=self.order, ip_table=ips, **waits)
        self.model = Model(order=self.order, ip_table=model_ips, **waits)
        self.position = 0
        self.handed: list[tuple[int, int, int]] = []

    def ask(self, verb: str, *args: object, **keywords: object) -> object:
        """Do one operation on both; compare what they say."""
        expected = getattr(self.model, verb)(*args, **keywords)
        actual = getattr(self.table, verb)(*args, **keywords)
        assert expected == actual
        return actual

    def some_host(self, data: st.DataObject) -> int:
        return data.draw(st.integers(0, self.table.hosts - 1), label="host")

    @rule(urls=st.lists(st.tuples(st.integers(0, 6), st.sampled_from([0, 0, 0, 1, 5, 63]))))
    def put(self, urls: list[tuple[int, int]]) -> None:
        triples = []
        for host, level in urls:
            triples.append((b"h%d.example" % host, level, self.position))
            self.position += 1
        self.ask("put", *batch(triples))

    @rule(host=st.integers(0, 6), count=st.integers(20, 60))
    def put_many(self, host: int, count: int) -> None:
        urls = [(b"h%d.example" % host, 0, self.position + i) for i in range(count)]
        self.position += count
        self.ask("put", *batch(urls))

    @rule(limit=st.integers(0, 4))
    def unresolved(self, limit: int) -> None:
        self.ask("unresolved", limit)

    @precondition(lambda self: self.table.hosts)
    @rule(data=st.data(), ip=st.integers(0, 3), wait=st.sampled_from([0, 0, 20]))
    def resolved(self, data: st.DataObject, ip: int, wait: int) -> None:
        address = bytes([10, 0, 0, ip]) if ip else bytes(16)
        host = self.some_host(data)
        self.ask("resolved", host, address, self.now, not_before_ns=wait and self.now + wait)

    @precondition(lambda self: self.table.hosts)
    @rule(data=st.data(), ip=st.integers(0, 3))
    def revive(self, data: st.DataObject, ip: int) -> None:
        self.ask("revive", self.some_host(data), bytes([10, 0, 0, ip]), self.now)

    @precondition(lambda self: self.table.hosts)
    @rule(data=st.data(), code=st.integers(1, 255), wait=st.integers(0, 30))
    def failed(self, data: st.DataObject, code: int, wait: int) -> None:
        self.ask("failed", self.some_host(data), code, self.now + wait)

    @rule(limit=st.integers(0, 6), later=st.sampled_from([0, 0, 1, 3, 12]))
    def acquire(self, limit: int, later: int) -> None:
        self.now += later
        taken = self.ask("acquire", self.now, limit)
        assert isinstance(taken, list)
        self.handed += taken

    @rule(host=st.integers(0, 9))
    def add(self, host: int) -> None:
        self.ask("add", b"h%d.example" % host)

    @precondition(lambda self: self.table.hosts)
    @rule(data=st.data())
    def visit(self, data: st.DataObject) -> None:
        host = self.some_host(data)
        if self.ask("visit", host, self.now) == 0:
            self.position += 1
            self.handed.append((host, self.position, 0))

    @rule(data=st.data(), later=st.integers(0, 15))
    def release(self, data: st.DataObject, later: int) -> None:
        busy = [number for number, _, code in self.handed if not code]
        if busy:
            number = data.draw(st.sampled_from(busy), label="busy")
            self.handed = [one for one in self.handed if one[0] != number]
            start, self.now = self.now, self.now + later
            self.ask("release", number, start, self.now)

    @rule(data=st.data(), is_back=st.booleans())
    def skip_or_unget(self, data: st.DataObject, is_back: bool) -> None:
        if not self.handed:
            return
        one = data.draw(st.sampled_from(self.handed), label="handed")
        self.handed.remove(one)
        if is_back:
            self.ask("unget", one[0], one[1], data.draw(st.sampled_from([0, 1, 63])))
        if not one[2]:
            self.ask("skip", one[0])

    @precondition(lambda self: self.table.hosts)
    @rule(data=st.data(), wait=st.integers(0, 30), own_wait=st.integers(0, 20))
    def delay(self, data: st.DataObject, wait: int, own_wait: int) -> None:
        host = self.some_host(data)
        self.ask("delay", host, self.now + wait)
        self.ask("set_wait", host, own_wait)

    @rule(wait=st.integers(0, 30), wait_ip=st.integers(0, 30))
    def set_pace(self, wait: int, wait_ip: int) -> None:
        self.ask("set_pace", wait, wait_ip)

    @precondition(lambda self: self.is_shared)
    @rule(ip=st.integers(1, 3), wait=st.integers(1, 20))
    def rival(self, ip: int, wait: int) -> None:
        """Another shard asks one of our addresses."""
        native, model = self.rivals
        address = bytes([10, 0, 0, ip])
        expected = model.claim(address, self.now, wait)
        assert expected == native.claim(address, self.now, wait)

    @invariant()
    def numbers(self) -> None:
        for name in ("waiting", "hosts", "busy", "ips", "unresolved_count"):
            assert getattr(self.model, name) == getattr(self.table, name)
        self.ask("next_ns")
        for host in range(self.table.hosts):
            self.ask("state_of", host)
            self.ask("waiting_of", host)

    def teardown(self) -> None:
        """All that is left comes out in the same order."""
        self.now += 1000
        for number, _ in self.table.unresolved(100):
            self.table.resolved(number, IP, self.now)
        for number, _ in self.model.unresolved(100):
            self.model.resolved(number, IP, self.now)
        for _ in range(20):
            self.acquire(4, 12)


class AgainstDfs(Against):
    order = "dfs"


class AgainstBest(Against):
    order = "best"


class AgainstShared(Against):
    is_shared = True


class AgainstCrowd(Against):
    per_ip = 2


class AgainstSharedCrowd(Against):
    is_shared = True
    per_ip = 3


FEW = settings(max_examples=25, stateful_step_count=40, deadline=None)
TestBfs = Against.TestCase
TestDfs = AgainstDfs.TestCase
TestBest = AgainstBest.TestCase
TestShared = AgainstShared.TestCase
TestCrowd = AgainstCrowd.TestCase
TestSharedCrowd = AgainstSharedCrowd.TestCase
TestBfs.settings = TestDfs.settings = TestBest.settings = TestShared.settings = FEW
TestCrowd.settings = TestSharedCrowd.settings = FEW


@pytest.mark.parametrize("order", ["bfs", "dfs", "best"])
def test_levels_go_lowest_first_whatever_the_order(order: Order) -> None:
    """A level is used up before the next higher one is touched; all 64 are there."""
    hosts = table(order)
    for level in range(63, -1, -1):
        put(hosts, b"a.example", [level * 2, level * 2 + 1], level)
    hosts.unresolved(1)
    hosts.resolved(0, IP, 0)
    pairs = ((2 * n, 2 * n + 1) if order != "dfs" else (2 * n + 1, 2 * n) for n in range(64))
    assert [position for pair in pairs for position in pair] == drain(hosts, 0)


@pytest.mark.parametrize(("order", "step"), [("bfs", 1), ("dfs", -1)])
def test_long_chains_keep_their_order(order: Order, step: int) -> None:
    """Chunks of all sizes give back what they took, oldest or newest first."""
    hosts = table(order)
    number = ready(hosts, b"a.example", range(5000))
    assert list(range(5000))[::step] == drain(hosts, number)
    assert hosts.waiting == 0


def test_bytes_of_chains_are_used_again() -> None:
    """A host that is filled and emptied over and over takes no more memory."""
    hosts = table()
    number = ready(hosts, b"a.example", range(3000))
    drain(hosts, number)
    before = hosts.nbytes
    for _ in range(3):
        put(hosts, b"a.example", range(3000))
        drain(hosts, number)
    assert before == hosts.nbytes


@pytest.mark.parametrize("order", ["bfs", "dfs", "best"])
def test_unget_while_busy(order: Order) -> None:
    """A URL put back by a busy host is the next one taken, and the host stays busy till then."""
    hosts = table(order)
    number = ready(hosts, b"a.example", range(10))
    [(_, position, _)] = hosts.acquire(0, 5)
    hosts.unget(number, position, 0)
    assert hosts.state_of(number) == BUSY
    assert hosts.acquire(2**62, 5) == []
    hosts.skip(number)
    assert hosts.acquire(0, 5) == [(number, position, 0)]


def test_states() -> None:
    """A host goes NEW, RESOLVING, SCHEDULED, BUSY, IDLE; a failed one its own way."""
    hosts = table()
    number = put(hosts, b"a.example", [1])
    seen = [hosts.state_of(number)]
    assert hosts.unresolved(5) == [(number, b"a.example")]
    seen.append(hosts.state_of(number))
    hosts.resolved(number, IP, 0)
    seen.append(hosts.state_of(number))
    hosts.acquire(0, 1)
    seen.append(hosts.state_of(number))
    hosts.release(number, 0, 0)
    seen.append(hosts.state_of(number))
    hosts.failed(number, 1, SECOND)
    seen.append(hosts.state_of(number))
    assert seen == [NEW, RESOLVING, SCHEDULED, BUSY, IDLE, FAILED]


def test_host_waits_from_start_to_start_and_never_before_the_end() -> None:
    """Next = max(start + wait, end)."""
    hosts = table()
    number = ready(hosts, b"a.example", range(9))
    hosts.acquire(0, 1)
    hosts.release(number, 5, 9)
    assert hosts.next_ns() == SECOND + 5
    hosts.acquire(SECOND + 5, 1)
    hosts.release(number, SECOND + 5, 3 * SECOND)
    assert hosts.next_ns() == 3 * SECOND


def test_hosts_of_many_results_are_released_at_once() -> None:
    """Each request began as long before the end as it took."""
    hosts = table()
    numbers = [ready(hosts, b"%c.example" % n, range(9), bytes(3) + b"%c" % n) for n in b"ab"]
    hosts.acquire(0, 2)
    results = [result(duration_us=took_us) for took_us in (500_000, 2_000_000)]
    for one, number in zip(results, numbers, strict=True):
        one.job.host_id = number
    hosts.release_all(results, 2 * SECOND)
    assert [hosts.state_of(number) for number in numbers] == [SCHEDULED] * 2
    assert hosts.acquire(2 * SECOND, 2)[0][0] == numbers[1]
    assert hosts.next_ns() == 2 * SECOND + SECOND // 2
    with pytest.raises(ValueError, match="not busy"):
        hosts.release_all(results, 3 * SECOND)


def test_address_waits_over_its_hosts() -> None:
    """internetarchive/heritrix3#754: hosts of one address share its delay and are asked one at a
    time, in turn."""
    hosts = table(wait_ns=0, wait_ip_ns=SECOND)
    first = ready(hosts, b"a.example", [1, 2])
    second = ready(hosts, b"b.example", [3, 4])
    asked = []
    now = 0
    while taken := hosts.acquire(now, 5):
        [(number, _, _)] = taken
        asked.append(number)
        assert hosts.acquire(now, 5) == []
        hosts.release(number, now, now + 1)
        assert hosts.next_ns() in (now + SECOND, -1)
        now += SECOND
    assert asked == [first, second, first, second]


def test_an_address_may_be_asked_several_times_at_once() -> None:
    """By different hosts, their starts a wait apart; one at a time where that is agreed."""
    hosts = HostTable(wait_ns=SECOND, wait_ip_ns=SECOND // 4, per_ip=2)
    for name in (b"a", b"b", b"c"):
        ready(hosts, name, [1, 2])
    first = hosts.acquire(SECOND, 5)
    assert [one[0] for one in first] == [0]
    second = hosts.acquire(SECOND + SECOND // 4, 5)
    assert [one[0] for one in second] == [1]
    assert hosts.acquire(2 * SECOND, 5) == []
    hosts.release(0, SECOND, 2 * SECOND)
    assert [one[0] for one in hosts.acquire(2 * SECOND, 5)] == [2]
    hosts.skip(2)
    assert [one[0] for one in hosts.acquire(2 * SECOND, 5)] == [2]


def test_own_wait_is_never_under_that_of_the_table() -> None:
    """apache/stormcrawler#549, NUTCH-2775: A host may be slower than the rule, not faster."""
    hosts = table()
    number = ready(hosts, b"a.example", range(5))
    hosts.set_wait(number, 5)
    hosts.acquire(0, 1)
    hosts.release(number, 0, 0)
    assert hosts.next_ns() == SECOND
    hosts.set_wait(number, 3 * SECOND)
    hosts.acquire(SECOND, 1)
    hosts.release(number, SECOND, SECOND)
    assert hosts.next_ns() == 4 * SECOND


def test_delay_only_raises() -> None:
    """An earlier time changes nothing."""
    hosts = table()
    number = ready(hosts, b"a.example", [1])
    hosts.delay(number, 7)
    hosts.delay(number, 3)
    assert hosts.next_ns() == 7


def test_after_a_restart_a_host_counts_as_just_asked() -> None:
    """not_before_ns holds for the host and for its address."""
    hosts = table()
    first, second = put(hosts, b"a.example", [1]), put(hosts, b"b.example", [2])
    hosts.resolved(first, IP, 0, not_before_ns=SECOND)
    hosts.resolved(second, IP, 0)
    assert hosts.next_ns() == SECOND


def test_a_visit_is_a_turn_without_a_url() -> None:
    """It waits for host and address as any request does, and they wait for it."""
    hosts = table(wait_ip_ns=SECOND // 2)
    number = hosts.add(b"a.example")
    assert (hosts.add(b"a.example"), hosts.hosts, hosts.waiting) == (number, 1, 0)
    assert hosts.visit(number, 5) == -1
    hosts.resolved(number, IP, 5)
    assert hosts.visit(number, 5) == 0
    other = ready(hosts, b"b.example", [7])
    assert (hosts.state_of(number), hosts.acquire(5, 1)) == (BUSY, [])
    assert hosts.visit(number, 5) > 5
    hosts.release(number, 5, 6)
    assert (hosts.state_of(number), hosts.visit(number, 6)) == (IDLE, 5 + SECOND)
    assert hosts.acquire(5 + SECOND // 2, 1) == [(other, 7, 0)]
    hosts.failed(number, 1, 10 * SECOND)
    assert hosts.visit(number, 6) == -1


def test_a_visited_host_keeps_its_urls() -> None:
    """They are next."""
    hosts = table(wait_ns=1)
    number = ready(hosts, b"a.example", [7, 8])
    assert hosts.visit(number, 1) == 0
    hosts.release(number, 1, 2)
    assert [one[1] for one in hosts.acquire(2, 5)] == [7]


def test_failed_host_hands_its_urls_out_with_the_code_until_it_is_new() -> None:
    """Until the given time URLs come with the code; then the host needs an address again."""
    hosts = table()
    number = ready(hosts, b"a.example", [1, 2, 3])
    hosts.failed(number, 9, 100)
    assert hosts.next_ns() == 0
    assert hosts.acquire(99, 2) == [(number, 1, 9), (number, 2, 9)]
    assert hosts.acquire(100, 2) == []
    assert hosts.unresolved(9) == [(number, b"a.example")]
    hosts.resolved(number, IP, 100)
    assert hosts.acquire(100, 2) == [(number, 3, 0)]


def test_busy_host_fails_at_its_release() -> None:
    """Its address is free again, its URLs go out with the code."""
    hosts = table(wait_ns=0)
    number, other = ready(hosts, b"a.example", [1, 2]), ready(hosts, b"b.example", [3])
    assert hosts.acquire(0, 1) == [(number, 1, 0)]
    hosts.failed(number, 2, 50)
    assert hosts.state_of(number) == BUSY
    hosts.release(number, 0, 1)
    assert hosts.acquire(1, 9) == [(other, 3, 0), (number, 2, 2)]


def test_failed_hosts_do_not_starve_the_others() -> None:
    """A host with thousands of failed URLs shares each batch with due hosts and failed ones."""
    hosts = table()
    big, small = put(hosts, b"big.example", range(0, 1000, 2)), put(hosts, b"s.example", [1])
    good = ready(hosts, b"good.example", [3])
    hosts.failed(big, 1, SECOND)
    hosts.failed(small, 1, SECOND)
    assert hosts.acquire(0, 4) == [(good, 3, 0), (big, 0, 1), (small, 1, 1), (big, 2, 1)]


def test_new_address_of_a_busy_host_holds_from_its_release_on() -> None:
    """scrapy/scrapy#1659: the old address is what is being asked; the next request goes by the new
    one."""
    hosts = table(wait_ns=0, wait_ip_ns=SECOND)
    number, other = ready(hosts, b"a.example", [1, 2]), ready(hosts, b"b.example", [3])
    hosts.acquire(0, 1)
    hosts.resolved(number, OTHER_IP, 0)
    hosts.resolved(number, IP, 0)
    hosts.resolved(number, OTHER_IP, 0)
    assert hosts.acquire(0, 9) == []
    hosts.release(number, 0, 1)
    assert hosts.acquire(1, 9) == [(number, 2, 0)]
    assert hosts.acquire(SECOND, 9) == [(other, 3, 0)]


def test_shared_address_is_asked_by_one_table_at_a_time() -> None:
    """A second shard is told when the address will be free; a lease that runs out frees it."""
    memory = bytearray(16 * SLOTS)
    shards = [
        HostTable(wait_ns=0, wait_ip_ns=5, lease_ns=100, ip_table=IpTable(memory, 0, SLOTS))
        for _ in range(2)
    ]
    numbers = [ready(shard, b"a.example", [1, 2, 3]) for shard in shards]
    assert shards[0].acquire(10, 1) == [(numbers[0], 1, 0)]
    assert shards[1].acquire(11, 1) == []
    assert shards[1].next_ns() == 110
    shards[0].release(numbers[0], 10, 12)
    assert shards[0].next_ns() == 15
    assert shards[1].acquire(110, 1) == [(numbers[1], 1, 0)]
    assert shards[0].acquire(111, 1) == []
    assert shards[0].acquire(210, 1) == [(numbers[0], 2, 0)]


def test_claimed_address_is_tried_again_before_a_long_lease_ends() -> None:
    """A request seldom takes as long as its lease: try again after the delay of the address."""
    memory = bytearray(16 * SLOTS)
    IpTable(memory, 0, SLOTS).claim(IP, 0, 600 * SECOND)
    shard = HostTable(
        wait_ns=0, wait_ip_ns=SECOND, lease_ns=SECOND, ip_table=IpTable(memory, 0, SLOTS)
    )
    ready(shard, b"a.example", [1])
    assert shard.acquire(5, 1) == []
    assert shard.next_ns() == SECOND + 5


def fill(hosts: HostTable, work: Batch) -> None:
    """Put the same URLs until memory ends."""
    for _ in range(10_000):
        hosts.put(*work)


def test_table_is_whole_after_a_memory_error() -> None:
    """What was put before memory ran out comes out; releasing needs no memory."""

    def work() -> None:
        hosts = table(wait_ns=0)
        work = batch((b"h%d.example" % i, 0, 2 * i) for i in range(2000))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * mmap.PAGESIZE + 4_000_000
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        with pytest.raises(MemoryError):
            fill(hosts, work)
        left = hosts.waiting
        for number, _ in hosts.unresolved(1000):
            hosts.failed(number, 1, SECOND)
        while taken := hosts.acquire(0, 100):
            left -= len(taken)
        waiting = [hosts.waiting_of(number) for number in range(hosts.hosts)]
        assert (left, sum(waiting)) == (hosts.waiting, hosts.waiting)

    assert in_child(work) == 0


BROKEN = [
    record(b"a.example")[:30],
    record(b"a.example", level=64),
    record(b""),
    record(b"a.example")[:8] + b"\x02" + record(b"a.example")[9:],
    record(b"a.example")[:4] + b"\xff\xff\0\0" + record(b"a.example")[8:],
    record(b"a.example")[:35] + b"\xff" + record(b"a.example")[36:],
    b"",
]


@pytest.mark.parametrize("bad", BROKEN)
def test_malformed_record_puts_nothing(bad: bytes) -> None:
    """Not even the good records before it."""
    good = record(b"a.example")
    hosts = table()
    offsets = bytes(4) + len(good).to_bytes(4, "little")
    with pytest.raises(ValueError, match="record 1"):
        hosts.put(good + bad, offsets, bytes(16))
    assert (hosts.waiting, hosts.hosts) == (0, 0)


def test_wrong_use_is_refused() -> None:
    """Host numbers, states, codes, levels, addresses and orders are checked."""
    hosts = table()
    number = put(hosts, b"a.example", [1])
    with pytest.raises(IndexError):
        hosts.host(1)
    with pytest.raises(IndexError):
        hosts.skip(-1)
    for call in (
        lambda: hosts.release(number, 0, 0),
        lambda: hosts.failed(number, 0, 0),
        lambda: hosts.unget(number, 0, 64),
        lambda: hosts.resolved(number, b"abc", 0),
        lambda: hosts.put(b"", b"abcd", b""),
        lambda: table("random"),  # type: ignore[arg-type]
        lambda: HostTable(
            wait_ns=0, wait_ip_ns=0, ip_table=IpTable(bytearray(16 * SLOTS), 0, SLOTS)
        ),
    ):
        with pytest.raises(ValueError, match=r"."):
            call()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_many_hosts_on_many_addresses_take_turns_as_in_the_model(seed: int) -> None:
    """gocolly/colly#191: deep heaps: 300 hosts on 60 addresses, with delays, skips, moves and new
    URLs."""
    chance = random.Random(seed)
    both = table(wait_ns=50, wait_ip_ns=9), Model(wait_ns=50, wait_ip_ns=9)
    work = batch((b"h%d.example" % chance.randrange(300), 0, 2 * i) for i in range(900))
    for hosts in both:
        hosts.put(*work)
        for number, _ in hosts.unresolved(300):
            hosts.resolved(number, bytes([10, 0, 0, number % 60]), 0)
    native, model = both
    for now in range(0, 2000, 5):
        taken = native.acquire(now, 8)
        assert model.acquire(now, 8) == taken
        for number, position, _ in taken:
            end, verb, other = now + chance.randrange(40), chance.random(), chance.randrange(200)
            ip = bytes([10, 0, 0, chance.randrange(60)])
            for hosts in both:
                if verb < 0.3:
                    hosts.unget(number, position, 0)
                if verb < 0.1:
                    hosts.skip(number)
                else:
                    hosts.release(number, now, end)
                if verb > 0.7:
                    hosts.delay(other, end + 100)
                elif verb > 0.6:
                    hosts.resolved(other, ip, now)
        assert model.next_ns() == native.next_ns()


def test_moving_to_and_fro_takes_no_memory() -> None:
    """The hosts of an address are counted right, whatever a busy host is told meanwhile."""
    hosts = table(wait_ns=0)
    number = ready(hosts, b"a.example", range(0, 200, 2))
    hosts.resolved(number, OTHER_IP, 0)
    before = hosts.nbytes
    for now in range(50):
        hosts.acquire(now, 1)
        for ip in (IP, IP, OTHER_IP, OTHER_IP, IP):
            hosts.resolved(number, ip, now)
        hosts.release(number, now, now)
        hosts.acquire(now, 1)
        for ip in (IP, OTHER_IP, IP, OTHER_IP):
            hosts.resolved(number, ip, now)
        hosts.release(number, now, now)
        assert before == hosts.nbytes
    ready(hosts, b"b.example", [1], OTHER_IP)
    room_for_two = 32
    assert before + room_for_two == hosts.nbytes


def test_names_come_back() -> None:
    """Number and name of a host lead to each other, also with thousands of hosts."""
    hosts = table()
    names = [b"h%d.example" % i for i in range(5000)]
    assert hosts.put(*batch((name, 0, 0) for name in names)) == len(names)
    assert names == [hosts.host(i) for i in range(len(names))]
    assert list(range(len(names))) == [hosts.find(name) for name in names]
    assert [hosts.find(b"other.example"), hosts.find(b"x" * 300)] == [-1, -1]


@pytest.mark.slow
def test_memory_of_a_million_hosts() -> None:
    """10 million URLs on a million hosts, each with an address: under 320 MB; idle: 200 bytes."""
    hosts = table(wait_ns=0)
    step = 10_000
    for start in range(0, 1_000_000, step):
        names = [b"www.host-%d.example" % i for i in range(start, start + step)]
        hosts.put(*batch((name, 0, 2 * i) for i in range(10) for name in names))
    for number, _ in hosts.unresolved(1_000_000):
        hosts.resolved(number, (0x0A000000 + number).to_bytes(4, "big"), 0)
    full = hosts.nbytes
    chains = 10_000_000 * 96 // 10
    text = f"{full / 1e6:.0f} MB in all, {(full - chains) / 1e6:.0f} bytes a host without URLs\n"
    sys.stdout.write(text)
    assert full < 320_000_000
    assert full - chains < 200 * 1_000_000
