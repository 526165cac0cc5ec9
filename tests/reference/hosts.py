"""Hosts, chains and schedule with ``dict``, ``deque`` and ``heapq``: the model of the host table.

A heap entry is ``(time, turn, thing)`` and counts only while it is the thing's latest one; an
entry that was overtaken stays in the heap until it comes up.
"""

from __future__ import annotations

import heapq
import struct
from collections import deque
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

NEW, RESOLVING, IDLE, SCHEDULED, BUSY, FAILED = range(6)
HEAD = struct.Struct("<IIBBHQ")
ENQ = struct.Struct("<QHHHBBBBBBB3xffHHHH")
RECORD_MOVE = 4
CLAIM_RETRY_NS = 10_000_000


class IpClaims(Protocol):
    """What the model needs of a table shared by several shards."""

    def claim(self, ip: bytes, now_ns: int, lease_ns: int, owner: int = 0) -> int: ...
    def release(self, ip: bytes, free_at_ns: int) -> None: ...


Entry = tuple[int, int, "Host | Ip"]


class Heap:
    """Times of things; the latest entry of a thing counts."""

    turns = count()

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._valid: dict[Host | Ip, Entry] = {}

    def set(self, thing: Host | Ip, time: int) -> None:
        if thing not in self._valid or self._valid[thing][0] != time:
            self._valid[thing] = (time, next(self.turns), thing)
            heapq.heappush(self._entries, self._valid[thing])

    def remove(self, thing: Host | Ip) -> None:
        self._valid.pop(thing, None)

    def first(self) -> Entry | None:
        while self._entries and self._valid.get(self._entries[0][2]) is not self._entries[0]:
            heapq.heappop(self._entries)
        return self._entries[0] if self._entries else None


@dataclass(eq=False, slots=True)
class Ip:
    """One address."""

    address: bytes
    next_ns: int = 0
    turns: int = 0
    is_busy: bool = False
    hosts: Heap = field(default_factory=Heap)


@dataclass(eq=False, slots=True)
class Host:
    """One host."""

    number: int
    name: bytes
    levels: dict[int, deque[int]] = field(default_factory=dict)
    state: int = NEW
    next_ns: int = 0
    wait_ns: int = 0
    ip: Ip | None = None
    ip_after: Ip | None = None
    code: int = 0

    @property
    def waiting(self) -> int:
        return sum(map(len, self.levels.values()))


class HostTable:
    """See ``larbinpy._native.hosts``."""

    def __init__(
        self,
        *,
        order: str = "bfs",
        wait_ns: int,
        wait_ip_ns: int,
        per_ip: int = 1,
        lease_ns: int = 0,
        ip_table: IpClaims | None = None,
        owner: int = 0,
    ) -> None:
        self._is_dfs = order == "dfs"
        self._wait_ns, self._wait_ip_ns, self._lease_ns = wait_ns, wait_ip_ns, lease_ns
        self._shared = ip_table
        self._owner = owner
        self._per_ip = per_ip
        self._hosts: list[Host] = []
        self._by_name: dict[bytes, Host] = {}
        self._by_ip: dict[bytes, Ip] = {}
        self._fresh: deque[Host] = deque()
        self._failing: deque[Host] = deque()
        self._due = Heap()

    def put(self, records: bytes, offsets: bytes, positions: bytes) -> int:
        before = len(self._hosts)
        for (offset,), (position,) in zip(
            struct.iter_unpack("<I", offsets), struct.iter_unpack("<Q", positions), strict=True
        ):
            kind = HEAD.unpack_from(records, offset)[2]
            at = offset + HEAD.size + (8 if kind == RECORD_MOVE else 0)
            enq = ENQ.unpack_from(records, at)
            start = at + ENQ.size + enq[4]
            name, level = records[start : start + enq[5]], enq[6]
            self._append(self._hosts[self.add(name)], position, level, is_back=False)
        return len(self._hosts) - before

    def add(self, host: bytes) -> int:
        if host not in self._by_name:
            self._by_name[host] = Host(len(self._hosts), host)
            self._hosts.append(self._by_name[host])
        return self._by_name[host].number

    def _append(self, host: Host, position: int, level: int, *, is_back: bool) -> None:
        chain = host.levels.setdefault(level, deque())
        if is_back and not self._is_dfs:
            chain.appendleft(position)
        else:
            chain.append(position)
        if host.waiting == 1:
            self._place(host)

    def _place(self, host: Host) -> None:
        """Put a host that stands nowhere where its state and its URLs say."""
        if host.state in (IDLE, SCHEDULED):
            assert host.ip is not None
            host.state = SCHEDULED if host.waiting else IDLE
            if host.waiting:
                host.ip.hosts.set(host, host.next_ns)
            self._settle(host.ip)
        elif host.waiting and host.state == NEW:
            self._fresh.append(host)
        elif host.waiting and host.state == FAILED:
            self._failing.append(host)

    def _displace(self, host: Host) -> None:
        if host in self._fresh:
            self._fresh.remove(host)
        if host in self._failing:
            self._failing.remove(host)
        if host.ip is not None:
            host.ip.hosts.remove(host)
            self._settle(host.ip)

    def _settle(self, ip: Ip) -> None:
        first = ip.hosts.first()
        if ip.is_busy or first is None:
            self._due.remove(ip)
        else:
            self._due.set(ip, max(ip.next_ns, first[0]))

    def unget(self, host_id: int, position: int, level: int) -> None:
        self._append(self._hosts[host_id], position, level, is_back=True)

    def unresolved(self, limit: int) -> list[tuple[int, bytes]]:
        found = [self._fresh.popleft() for _ in range(min(max(limit, 0), len(self._fresh)))]
        for host in found:
            host.state = RESOLVING
        return [(host.number, host.name) for host in found]

    def resolved(self, host_id: int, ip: bytes, now_ns: int, *, not_before_ns: int = 0) -> None:
        host = self._hosts[host_id]
        entry = self._by_ip.setdefault(ip, Ip(ip))
        if not entry.is_busy:
            entry.next_ns = max(entry.next_ns, not_before_ns)
            self._settle(entry)
        if host.state == BUSY:
            host.ip_after = entry
            host.next_ns = max(host.next_ns, not_before_ns)
            return
        self._displace(host)
        host.ip, host.code, host.state = entry, 0, IDLE
        host.next_ns = max(host.next_ns, now_ns, not_before_ns)
        self._place(host)

    def revive(self, host_id: int, ip: bytes, now_ns: int) -> None:
        host = self._hosts[host_id]
        if host.state == FAILED:
            host.next_ns = now_ns + max(self._wait_ns, host.wait_ns)
        self.resolved(host_id, ip, now_ns)

    def failed(self, host_id: int, code: int, until_ns: int) -> None:
        host = self._hosts[host_id]
        host.code, host.next_ns = code, max(host.next_ns, until_ns)
        if host.state != BUSY:
            self._displace(host)
            host.ip, host.state = None, FAILED
            self._place(host)

    def _pop(self, host: Host) -> int:
        chain = host.levels[min(level for level, urls in host.levels.items() if urls)]
        return chain.pop() if self._is_dfs else chain.popleft()

    def _take_due(self, now_ns: int) -> tuple[int, int, int] | None:
        while (due := self._due.first()) is not None and due[0] <= now_ns:
            ip = due[2]
            assert isinstance(ip, Ip)
            if not self._claim(ip, now_ns):
                continue
            first = ip.hosts.first()
            assert first is not None
            host = first[2]
            assert isinstance(host, Host)
            self._occupy(host, ip, now_ns)
            return host.number, self._pop(host), 0
        return None

    def _claim(self, ip: Ip, now_ns: int) -> bool:
        free_at = 0
        if self._shared is not None:
            lease_ns = self._lease_ns if self._per_ip == 1 else self._wait_ip_ns
            free_at = self._shared.claim(ip.address, now_ns, lease_ns, self._owner)
        if free_at:
            ip.next_ns = min(free_at, now_ns + max(self._wait_ip_ns, CLAIM_RETRY_NS))
            self._settle(ip)
        return not free_at

    def _occupy(self, host: Host, ip: Ip, now_ns: int) -> None:
        ip.hosts.remove(host)
        ip.turns, host.state = ip.turns + 1, BUSY
        ip.is_busy = ip.turns == self._per_ip
        ip.next_ns = now_ns if self._per_ip == 1 else now_ns + self._wait_ip_ns
        self._settle(ip)

    def visit(self, host_id: int, now_ns: int) -> int:
        host = self._hosts[host_id]
        if host.state == BUSY or (host.ip is not None and host.ip.is_busy):
            return now_ns + CLAIM_RETRY_NS
        if host.ip is None:
            return -1
        due_ns = max(host.next_ns, host.ip.next_ns)
        if due_ns > now_ns:
            return due_ns
        if not self._claim(host.ip, now_ns):
            return host.ip.next_ns
        self._occupy(host, host.ip, now_ns)
        return 0

    def _take_failed(self, now_ns: int) -> tuple[int, int, int] | None:
        while self._failing:
            host = self._failing.popleft()
            if now_ns < host.next_ns:
                taken = host.number, self._pop(host), host.code
                self._place(host)
                return taken
            host.state, host.code = NEW, 0
            self._place(host)
        return None

    def acquire(self, now_ns: int, limit: int) -> list[tuple[int, int, int]]:
        taken: list[tuple[int, int, int]] = []
        turns = (
            (self._take_due, limit - limit // 2),
            (self._take_failed, limit),
            (self._take_due, limit),
        )
        for take, upto in turns:
            while len(taken) < upto and (one := take(now_ns)) is not None:
                taken.append(one)
        return taken

    def _give_back(self, host_id: int, host_next_ns: int, ip_next_ns: int) -> None:
        host = self._hosts[host_id]
        ip = host.ip
        if host.state != BUSY or ip is None:
            raise ValueError
        ip.turns, ip.is_busy = ip.turns - 1, False
        host.next_ns, ip.next_ns = max(host.next_ns, host_next_ns), max(ip.next_ns, ip_next_ns)
        if self._shared is not None and self._per_ip == 1:
            self._shared.release(ip.address, ip.next_ns)
        host.ip, host.ip_after = host.ip_after or ip, None
        host.state = FAILED if host.code else IDLE
        if host.code:
            host.ip = None
        self._place(host)
        self._settle(ip)

    def release(self, host_id: int, start_ns: int, end_ns: int) -> None:
        wait_ns = max(self._wait_ns, self._hosts[host_id].wait_ns)
        ip_next_ns = max(start_ns + self._wait_ip_ns, end_ns if self._per_ip == 1 else 0)
        self._give_back(host_id, max(start_ns + wait_ns, end_ns), ip_next_ns)

    def skip(self, host_id: int) -> None:
        ip = self._hosts[host_id].ip
        if self._per_ip > 1 and ip is not None:
            ip.next_ns = max(ip.next_ns - self._wait_ip_ns, 0)
        self._give_back(host_id, 0, 0)

    def delay(self, host_id: int, until_ns: int) -> None:
        host = self._hosts[host_id]
        host.next_ns = max(host.next_ns, until_ns)
        if host.state == SCHEDULED:
            self._place(host)

    def set_wait(self, host_id: int, wait_ns: int) -> None:
        self._hosts[host_id].wait_ns = wait_ns

    def set_pace(self, wait_ns: int, wait_ip_ns: int) -> None:
        self._wait_ns, self._wait_ip_ns = wait_ns, wait_ip_ns

    def next_ns(self) -> int:
        first = self._due.first()
        if self._failing:
            return 0
        return -1 if first is None else first[0]

    def host(self, host_id: int) -> bytes:
        return self._hosts[host_id].name

    def find(self, host: bytes) -> int:
        return self._by_name[host].number if host in self._by_name else -1

    def waiting_of(self, host_id: int) -> int:
        return self._hosts[host_id].waiting

    def state_of(self, host_id: int) -> int:
        return self._hosts[host_id].state

    @property
    def waiting(self) -> int:
        return sum(host.waiting for host in self._hosts)

    @property
    def hosts(self) -> int:
        return len(self._hosts)

    @property
    def busy(self) -> int:
        return sum(host.state == BUSY for host in self._hosts)

    @property
    def ips(self) -> int:
        return len(self._by_ip)

    @property
    def unresolved_count(self) -> int:
        return len(self._fresh)
