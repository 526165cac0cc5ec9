"""Child processes: how they start, what they are handed, how their end is noticed.

A child is a fresh interpreter (``python -m larbinpy.ROLE FD``): nothing is forked that could hold a
lock, a thread or a curl handle.  It gets everything through its control channel, as descriptors and
one ``start`` message; it dies with its parent.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from larbinpy import entries
from larbinpy._native import shared as native_shared
from larbinpy.frames import Channel, Frame, FrameType

if TYPE_CHECKING:
    from collections.abc import Mapping

_LARGE_PAGES: Final = "glibc.malloc.hugetlb=1"
_CLOCK_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Child:
    """One child process, as its supervisor sees it."""

    __slots__ = ("_cpu_s", "_process", "channel", "index", "role")

    def __init__(self, role: str, index: int) -> None:
        """Start the process; it waits for its ``start`` message."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.role = role
        self.index = index
        self.channel = Channel(ours)
        self._cpu_s = 0.0
        with theirs:
            self._process = _spawn(role, theirs.fileno())

    @property
    def name(self) -> str:
        """What humans call it: ``shard 0``."""
        return self.role if self.role == "seeder" else f"{self.role} {self.index}"

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def tell(self, verb: str, *, descriptors: tuple[int, ...] = (), **fields: Any) -> None:
        """Queue a control message and send what goes; see ``docs/protocol.md`` section 5."""
        payload = entries.encode_control(verb, **fields)
        self.channel.send(FrameType.CONTROL, payload, count=1, descriptors=descriptors)
        self.channel.flush()

    def exit_code(self) -> int | None:
        """None while it runs; negative = killed by that signal."""
        return self._process.poll()

    def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def cpu_s(self) -> float:
        """Processor seconds so far; the last known figure once it has ended."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:  # noqa: PTH123  (hot at small scale)
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            return self._cpu_s
        self._cpu_s = (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS
        return self._cpu_s


def _spawn(role: str, fd: int) -> subprocess.Popen[bytes]:
    """Start the interpreter with SIGINT ignored: ^C is for the supervisor to hear.

    It dies with its parent from the first instruction on, not only when it has been imported.
    """
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", f"larbinpy.{role}", str(fd)],
            stdin=None if role == "seeder" else subprocess.DEVNULL,
            pass_fds=(fd,),
            preexec_fn=_die_with_parent,
            env=with_large_pages(os.environ),
        )
    finally:
        signal.signal(signal.SIGINT, handler)


def with_large_pages(environ: Mapping[str, str]) -> dict[str, str]:
    """The same environment, with malloc told to lie in large pages where the system has them.

    What a shard holds of its transfers and pages is spread over more memory than small pages have
    places in a TLB (``docs/performance.md``).  glibc reads this when a process starts, and no other
    libc does; what the operator set there stands.
    """
    told = environ.get("GLIBC_TUNABLES", "")
    if _LARGE_PAGES.partition("=")[0] in told:
        return dict(environ)
    tunables = f"{told}:{_LARGE_PAGES}" if told else _LARGE_PAGES
    return {**environ, "GLIBC_TUNABLES": tunables}


def _die_with_parent() -> None:
    native_shared.set_death_signal(signal.SIGKILL)


class Control:
    """The child's end of its control channel."""

    __slots__ = ("_early", "channel", "is_heard")

    def __init__(self, fd: int) -> None:
        self.channel = Channel(socket.socket(fileno=fd))
        self._early: list[tuple[dict[str, Any], list[int]]] = []
        self.is_heard = True
        """Whether something may have come since ``messages`` was called; for event loops."""

    @property
    def is_orphan(self) -> bool:
        """Whether the supervisor is gone, though messages of it may still be there to read."""
        poll = select.poll()
        poll.register(self.channel, 0)
        return any(events & select.POLLHUP for _, events in poll.poll(0))

    def heard(self, _events: int) -> None:
        """Note that something has come."""
        self.is_heard = True

    def wait_start(self) -> tuple[dict[str, Any], list[int]]:
        """Block until ``start`` has come; its fields and descriptors.

        Raises:
            SystemExit: the supervisor is gone.
        """
        while not self._early:
            self.channel.wait()
            self._early = self.messages()
        self.is_heard = True
        return self._early.pop(0)

    def messages(self) -> list[tuple[dict[str, Any], list[int]]]:
        """What has come: messages with their descriptors.

        Raises:
            SystemExit: the supervisor is gone.
        """
        self.is_heard = False
        early, self._early = self._early, []
        frames: list[Frame] = self.channel.receive()
        if self.channel.is_closed and not frames and not early:
            raise SystemExit(1)
        return early + [(entries.decode_control(f.payload), f.descriptors) for f in frames]

    def tell(self, verb: str, **fields: Any) -> None:
        """Send a message to the supervisor."""
        self.channel.send(FrameType.CONTROL, entries.encode_control(verb, **fields), count=1)
        self.channel.flush()
