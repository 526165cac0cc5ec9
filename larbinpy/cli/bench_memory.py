"""What a host costs a shard in RAM: the resident memory of its tables with many hosts in them."""

from __future__ import annotations

import gc
import random
from multiprocessing import get_context
from typing import Final

from larbinpy._native.contents import HostContents
from larbinpy._native.hosts import HostTable
from larbinpy.cli.bench_runs import resident_bytes
from larbinpy.dns.addresses import Addresses
from larbinpy.dns.base import Answer
from larbinpy.dns.rights import Rights
from larbinpy.politeness.backoff import Backoff
from larbinpy.politeness.gate import Gate
from larbinpy.politeness.outage import Line
from larbinpy.politeness.trouble import Trouble

IDLE_HOSTS: Final = 500_000
RULED_HOSTS: Final = 100_000
RULES: Final = 10
"""Of each host, more than most files have for everybody."""


class _Names:
    """A resolver that has an answer for everybody."""

    def __init__(self) -> None:
        self._answers: list[Answer] = []
        self._count = 0

    def submit(self, host: bytes) -> None:
        self._count += 1
        ip = (0x0B000000 + self._count).to_bytes(4, "big")
        self._answers.append(Answer(host, (ip,), 1 << 62))

    submit_further = submit

    def answers(self) -> list[Answer]:
        answers, self._answers = self._answers, []
        return answers

    def wait_s(self) -> float:
        return -1.0

    def close(self) -> None:
        pass


class _Nobody:
    """No host was named by the operator."""

    def has(self, host_id: int, host: bytes) -> bool:
        return False


def host_bytes(idle: int = IDLE_HOSTS, ruled: int = RULED_HOSTS) -> dict[str, float]:
    """Bytes a host: ``idle``: name, address, delays, what it has shown last; ``ruled``: rules and a
    back-off beside it.

    Each in a process of its own, where no memory is left over that the tables could grow into.
    """
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        bytes_idle, bytes_ruled = pool.starmap(_grown, ((idle, False), (ruled, True)), 1)
    return {"idle": bytes_idle, "ruled": bytes_ruled}


def _grown(count: int, is_ruled: bool) -> float:
    gc.collect()
    before = resident_bytes()
    line = Line(random.Random(1))
    table = HostTable(wait_ns=10**9, wait_ip_ns=10**9)
    rights = Rights(
        is_askable=_yes,
        is_allowed=_yes,
        named=_Nobody(),  # type: ignore[arg-type]  # all that is asked of it
    )
    addresses = Addresses(table, _Names(), rights, line=line)
    gate = Gate(b"larbin")
    backoff = Backoff(random.Random(1), wait_ns=10**9, dead_ns=10**9)
    shown = HostContents()
    for number in range(count):
        host = b"www.host-%d.example" % number
        shown.add(addresses.want(host), b"%d" % number)
        addresses.turn(0)
        if is_ruled:
            gate.learn(b"http://%b:80" % host, 200, _robots(number), 0)
            backoff.failed(host, Trouble.BROKEN, 0)
    return (resident_bytes() - before) / count


def _robots(host: int) -> bytes:
    """A robots.txt that has no rule in common with another host's."""
    lines = (b"Disallow: /host-%06d-%d/\n" % (host, number) for number in range(RULES))
    return b"User-agent: *\n" + b"".join(lines)


def _yes(_ip: bytes) -> bool:
    return True
