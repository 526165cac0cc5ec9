"""The resolver: c-ares with its sockets in our event loop.

A lookup asks for A, and for AAAA when the name has no A, or when none of its A could be reached.
It holds one of ``parallel`` places until it ends or ``PLACE_S`` has passed: names that nobody
answers for leave their places to others, and an answer that comes later still counts.

A lookup without an answer is held while it may be the name servers that do not answer
(``silence``): an outage of theirs is no name's fault.  Meanwhile the system may get other servers,
as it does when a network comes up: it is asked for them again.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pycares

from larbinpy._native.eventloop import READ, WRITE
from larbinpy.dns import names
from larbinpy.dns.aresresults import FINAL, NO_DATA, addresses_of, words_of
from larbinpy.dns.base import Answer
from larbinpy.dns.cache import MAX_TTL_S, SECOND_NS, DnsCache
from larbinpy.dns.silence import NameServers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from larbinpy._native.eventloop import EventLoop
    from larbinpy.clock import Clock

LOOKUP_S: Final = 5.0
PLACE_S: Final = 0.25
_TRY_S: Final = 1.6  # c-ares doubles it for the second try
_TRIES: Final = 2
_CACHED_NAMES: Final = 200_000
_SOCKET_BYTES: Final = 1 << 20
_TICK_S: Final = 0.05  # c-ares' own timeouts are looked at this often
_TICK_NS: Final = round(_TICK_S * SECOND_NS)
_LOOKUP_NS: Final = round(LOOKUP_S * SECOND_NS)
_PLACE_NS: Final = round(PLACE_S * SECOND_NS)


class AresResolver:
    """Looks names up; see ``Resolver``.

    Args:
        loop: gets the sockets of c-ares.
        clock: for expiries.
        parallel: lookups that are started at a time.
        hosts: names that are answered without a lookup (``names.parse_hosts``).
        servers: ``ADDRESS`` or ``ADDRESS:PORT`` each; none means the system's.
        system: says which servers the system has now.
        is_patient: names wait for the end of an outage; else they end without an answer.
        say: tells the operator of an outage.

    Process/thread: one thread; made after the process was started.
    """

    def __init__(
        self,
        loop: EventLoop,
        clock: Clock,
        *,
        parallel: int = 200,
        hosts: dict[bytes, tuple[bytes, ...]] | None = None,
        servers: Iterable[str] = (),
        system: Callable[[], list[str]] | None = None,
        is_patient: bool = True,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._parallel = parallel
        self._hosts = hosts or {}
        own = list(servers)
        self._system = None if own else system or system_servers
        self._is_patient = is_patient
        self._say = say
        self._servers = NameServers()
        self._cache = DnsCache(_CACHED_NAMES)
        self._answers: list[Answer] = []
        self._asked: dict[bytes, set[bytes]] = {}  # name -> hosts as they were asked for
        self._further: dict[bytes, Answer] = {}  # names asked for AAAA beside what is known
        self._held: dict[bytes, str] = {}  # names without an answer -> why, until a server is heard
        self._queue: deque[bytes] = deque()
        # Both in order of start, so that the first is always the next to run out. O(1) per lookup.
        self._running: OrderedDict[bytes, int] = OrderedDict()
        self._placed: OrderedDict[bytes, int] = OrderedDict()
        self._watched: set[int] = set()
        self._tick_ns = 0
        self._channel = pycares.Channel(
            flags=pycares.ARES_FLAG_NOSEARCH,
            timeout=_TRY_S,
            tries=_TRIES,
            servers=self._system() if self._system else own,
            sock_state_cb=self._socket_changed,
            socket_receive_buffer_size=_SOCKET_BYTES,
        )

    # -- Resolver ---------------------------------------------------------------------------------

    def submit(self, host: bytes) -> None:
        """See ``Resolver``."""
        now_ns = self._clock.now_ns()
        name = host.rstrip(b".")
        known = names.known(name, self._hosts)
        if known is not None:
            error = "" if known else "no such name"
            self._answers.append(Answer(host, known, now_ns + MAX_TTL_S * SECOND_NS, error))
        elif (cached := self._cache.get(name, now_ns)) is not None:
            self._answers.append(_for_host(host, cached))
        elif name in self._asked:
            self._asked[name].add(host)
        else:
            self._asked[name] = {host}
            self._queue.append(name)

    def submit_further(self, host: bytes) -> None:
        """See ``Resolver``; a name that is being looked up is asked for once."""
        name = host.rstrip(b".")
        cached = self._cache.get(name, self._clock.now_ns())
        if cached is None or not cached.ips or name in self._asked:
            self.submit(host)
            return
        self._further[name] = cached
        self._asked[name] = {host}
        self._queue.append(name)

    def answers(self) -> list[Answer]:
        """See ``Resolver``."""
        if self._asked:
            self._turn()
        found, self._answers = self._answers, []
        return found

    def wait_s(self) -> float:
        """See ``Resolver``."""
        if self._answers:
            return 0.0
        if not self._asked:
            return -1.0
        now_ns = self._clock.now_ns()
        wait_s = _TICK_S
        if self._queue:
            oldest_ns = next(iter(self._placed.values()), now_ns - _PLACE_NS)
            wait_s = min(wait_s, (oldest_ns + _PLACE_NS - now_ns) / SECOND_NS)
        return max(wait_s, 0.0)

    def close(self) -> None:
        """See ``Resolver``."""
        for descriptor in self._watched:
            self._loop.unwatch(descriptor)
        self._watched.clear()
        self._asked.clear()
        self._further.clear()
        self._held.clear()
        self._queue.clear()
        self._running.clear()
        self._placed.clear()
        self._channel.close()

    # -- lookups ----------------------------------------------------------------------------------

    def _turn(self) -> None:
        """Let c-ares see to its timeouts, end what took too long, and fill the free places."""
        now_ns = self._clock.now_ns()
        if now_ns >= self._tick_ns:
            self._tick_ns = now_ns + _TICK_NS
            self._channel.process_fd(pycares.ARES_SOCKET_BAD, pycares.ARES_SOCKET_BAD)
        for name in _older(self._running, now_ns - _LOOKUP_NS):
            self._fail(name, "no answer in time", is_transient=True)
        for name in _older(self._placed, now_ns - _PLACE_NS):
            del self._placed[name]
        if self._held and self._servers.is_due(now_ns):
            self._probe(now_ns)
        while self._queue and len(self._placed) < self._parallel:
            name = self._queue.popleft()
            self._running[name] = self._placed[name] = now_ns
            is_further = name in self._further
            self._ask(name, pycares.QUERY_TYPE_AAAA if is_further else pycares.QUERY_TYPE_A)

    def _ask(self, name: bytes, query_type: int) -> None:
        def answered(result: pycares.DNSResult | None, error: int | None) -> None:
            self._answered(name, query_type, result, error)

        try:
            self._channel.query(name.decode("ascii"), query_type, callback=answered)
        except (pycares.AresError, UnicodeError, RuntimeError) as fault:
            self._fail(name, f"cannot be looked up: {fault}")

    def _answered(
        self, name: bytes, query_type: int, result: pycares.DNSResult | None, error: int | None
    ) -> None:
        if name not in self._running:
            return  # it came after the lookup had ended
        ips, ttl_s = addresses_of(name, result) if result is not None else ((), 0)
        if not error or error in FINAL:
            self._heard(name if ips else b"")
        known = self._further.get(name)
        if ips:
            ips = (*known.ips, *ips) if known else ips
            self._end(
                name, self._cache.success(name, ips, ttl_s=ttl_s, now_ns=self._clock.now_ns())
            )
        elif query_type == pycares.QUERY_TYPE_A and (error is None or error in NO_DATA):
            self._ask(name, pycares.QUERY_TYPE_AAAA)
        else:
            is_transient = bool(error) and error not in FINAL
            words = words_of(error) if error else "no usable address"
            self._fail(name, words, is_transient=is_transient)

    def _fail(self, name: bytes, error: str, *, is_transient: bool = False) -> None:
        if name in self._running:
            known = self._further.get(name)
            begun_ns = self._running.pop(name)
            self._placed.pop(name, None)
            if known:
                self._end(name, known)
            elif is_transient and self._is_patient and self._servers.is_doubtful(begun_ns):
                self._held[name] = error
            else:
                self._end_in_vain(name, error, is_transient=is_transient)

    def _end_in_vain(self, name: bytes, error: str, *, is_transient: bool) -> None:
        now_ns = self._clock.now_ns()
        failure = self._cache.failure(name, error, now_ns=now_ns, is_transient=is_transient)
        self._end(name, failure)

    def _end(self, name: bytes, answer: Answer) -> None:
        self._further.pop(name, None)
        self._running.pop(name, None)
        self._placed.pop(name, None)
        for host in self._asked.pop(name):
            self._answers.append(_for_host(host, answer))

    # -- the name servers -------------------------------------------------------------------------

    def _heard(self, name: bytes = b"") -> None:
        """A server has said something: what was held is the names' own silence, or is over."""
        if self._servers.is_outage:
            self._say("a name server answers again")
        is_theirs = self._servers.heard(self._clock.now_ns(), name)
        held, self._held = self._held, {}
        if is_theirs:
            self._queue.extend(held)
            return
        for silent, error in held.items():
            self._end_in_vain(silent, error, is_transient=True)

    def _probe(self, now_ns: int) -> None:
        """Does anybody answer, for a held name, which is the last to be taken the next time, or for
        one that no cache can know?"""
        held = next(iter(self._held))
        self._held[held] = error = self._held.pop(held)
        if self._system and self._servers.probes:
            with suppress(pycares.AresError):  # they cannot be read just now
                self._follow(self._system())
        names = self._servers.probe(held, now_ns)
        if self._servers.is_outage_news:
            servers = ", ".join(self._channel.servers)
            self._say(f"no name server answers ({servers}: {error}); names wait until one does")

        def answered(_: pycares.DNSResult | None, error: int | None) -> None:
            if not error or error in FINAL:
                self._heard()

        for name in names:
            with suppress(pycares.AresError):  # a network that is not there
                self._channel.query(name.decode("ascii"), pycares.QUERY_TYPE_A, callback=answered)

    def _follow(self, servers: list[str]) -> None:
        """Ask these servers from now on, also for what is under way."""
        if set(servers) != set(self._channel.servers):
            self._channel.servers = servers

    # -- sockets ----------------------------------------------------------------------------------

    def _socket_changed(self, descriptor: int, readable: bool, writable: bool) -> None:
        events = (READ if readable else 0) | (WRITE if writable else 0)
        if not events:
            self._watched.discard(descriptor)
            self._loop.unwatch(descriptor)
        elif descriptor in self._watched:
            self._loop.rewatch(descriptor, events)
        else:
            self._watched.add(descriptor)
            self._loop.watch(descriptor, events, lambda ready: self._ready(descriptor, ready))

    def _ready(self, descriptor: int, events: int) -> None:
        bad = pycares.ARES_SOCKET_BAD
        self._channel.process_fd(
            descriptor if events & READ else bad, descriptor if events & WRITE else bad
        )


def system_servers() -> list[str]:
    """The name servers of resolv.conf, ``ADDRESS:PORT`` each; none: those that c-ares guesses.

    Cost: 50 us.
    """
    channel = pycares.Channel(sock_state_cb=lambda *_: None)
    servers = channel.servers
    channel.close()
    return servers


def _older(started: OrderedDict[bytes, int], before_ns: int) -> list[bytes]:
    """Return the names that began before a time, oldest first. O(names returned)."""
    found = []
    for name, start_ns in started.items():
        if start_ns > before_ns:
            break
        found.append(name)
    return found


def _for_host(host: bytes, answer: Answer) -> Answer:
    return replace(answer, host=host)
