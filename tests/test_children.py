"""Children are real processes: what they are told arrives, and their end is noticed."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy import children, entries
from larbinpy.children import Child, Control
from larbinpy.frames import Channel, FrameType
from tests.channels import frames
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator

ECHO = """
import os
from larbinpy.children import Control
control = Control(FD)
fields, descriptors = control.wait_start()
control.tell("ready", got=fields, files=[os.pread(fd, 99, 0).decode() for fd in descriptors])
while True:
    control.channel.wait()
    for message, _ in control.messages():
        control.tell("echo", **message["of"])
"""


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Control]]:
    """The supervisor's end of a control channel, and the child's."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    channel, control = Channel(ours), Control(theirs.detach())
    yield channel, control
    channel.close()
    control.channel.close()


def tell(channel: Channel, verb: str, *descriptors: int, **fields: Any) -> None:
    payload = entries.encode_control(verb, **fields)
    channel.send(FrameType.CONTROL, payload, count=1, descriptors=descriptors)
    channel.flush()


# --- Control -----------------------------------------------------------------------------------


def test_start_may_come_with_what_follows_it(ends: tuple[Channel, Control]) -> None:
    """Nothing that is read together with it is lost."""
    channel, control = ends
    tell(channel, "start", index=3)
    tell(channel, "peer", index=0)
    tell(channel, "resume")
    assert control.wait_start() == ({"verb": "start", "index": 3}, [])
    assert control.is_heard
    assert [message["verb"] for message, _ in control.messages()] == ["peer", "resume"]
    assert control.messages() == []


def test_start_may_be_larger_than_a_read(ends: tuple[Channel, Control]) -> None:
    """A configuration may have thousands of first URLs; with descriptors it comes in pieces."""
    channel, control = ends
    urls = [f"http://{number}.test/" for number in range(5000)]
    tell(channel, "start", 1, urls=urls)
    fields, descriptors = control.wait_start()
    os.close(descriptors[0])
    assert fields["urls"] == urls


def test_a_supervisor_that_is_gone_ends_the_child(ends: tuple[Channel, Control]) -> None:
    """What it said last is still heard."""
    channel, control = ends
    tell(channel, "stop")
    channel.close()
    assert [message["verb"] for message, _ in control.messages()] == ["stop"]
    with pytest.raises(SystemExit):
        control.messages()


def test_a_supervisor_that_is_gone_before_start(ends: tuple[Channel, Control]) -> None:
    """The child does not wait for ever."""
    channel, control = ends
    channel.close()
    with pytest.raises(SystemExit):
        control.wait_start()


def test_heard_is_noted_until_messages_are_taken(ends: tuple[Channel, Control]) -> None:
    """An event loop says so; reading clears it."""
    _, control = ends
    control.messages()
    assert not control.is_heard
    control.heard(1)
    assert control.is_heard


# --- Child ---------------------------------------------------------------------------------------


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    """A process that says what it was told."""
    popen = children.subprocess.Popen  # type: ignore[attr-defined]

    def spawn(command: list[str], **more: Any) -> Any:
        fd = command[-1]
        return popen([command[0], "-c", ECHO.replace("FD", fd)], **more)

    monkeypatch.setattr(children.subprocess, "Popen", spawn)  # type: ignore[attr-defined]
    # Tests that a shell runs in the background begin with interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    child = Child("shard", 7)
    yield child
    child.kill()
    child.channel.close()
    signal.signal(signal.SIGINT, before)


def heard(child: Child) -> dict[str, Any]:
    (frame,) = frames(child.channel, 1)
    return entries.decode_control(frame.payload)


def test_a_child_is_told_and_tells(echo: Child, tmp_path: Any) -> None:
    """Fields and descriptors; large messages too, as far as they are flushed."""
    with (tmp_path / "file").open("w+") as file:
        file.write("shared")
        file.flush()
        echo.tell("start", descriptors=(file.fileno(),), index=7, filler="x" * 100_000)
    message = heard(echo)
    assert message["verb"] == "ready"
    assert (message["got"]["index"], message["files"]) == (7, ["shared"])
    echo.tell("x", of={"a": [1, "b"]})
    assert heard(echo) == {"verb": "echo", "a": [1, "b"]}


def test_the_end_of_a_child_is_noticed(echo: Child) -> None:
    """Killed: minus the signal; the processor time is still known; killing again is harmless."""
    assert (echo.name, echo.exit_code()) == ("shard 7", None)
    before = echo.cpu_s()
    os.kill(echo.pid, signal.SIGTERM)
    echo._process.wait()
    assert echo.exit_code() == -signal.SIGTERM
    assert echo.cpu_s() >= before
    echo.kill()
    echo.tell("start")
    assert echo.channel.is_closed


def test_a_child_ignores_interrupts(echo: Child) -> None:
    """``^C`` reaches the whole group, and only the supervisor may act on it."""
    echo.tell("start", index=7)
    heard(echo)
    os.kill(echo.pid, signal.SIGINT)
    echo.tell("x", of={})
    assert heard(echo) == {"verb": "echo"}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_child_without_its_supervisor_ends(echo: Child) -> None:
    """The end of the control channel is enough."""
    echo.tell("start")
    heard(echo)
    echo.channel.close()
    assert echo._process.wait(PATIENCE_S) == 1


# --- the environment ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "given"),
    [
        ("", "glibc.malloc.hugetlb=1"),
        ("glibc.malloc.check=1", "glibc.malloc.check=1:glibc.malloc.hugetlb=1"),
        ("glibc.malloc.hugetlb=0", "glibc.malloc.hugetlb=0"),
    ],
)
def test_malloc_lies_in_large_pages_unless_told_otherwise(told: str, given: str) -> None:
    """What the operator set stands, and goes with it."""
    environ = {"PATH": "/bin"} | ({"GLIBC_TUNABLES": told} if told else {})
    assert children.with_large_pages(environ) == {"PATH": "/bin", "GLIBC_TUNABLES": given}
    assert environ.get("GLIBC_TUNABLES", "") == told


def test_a_child_starts_with_large_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process has them in its environment from its first instruction on."""
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    child = Child("parser", 0)
    try:
        environ = Path(f"/proc/{child.pid}/environ").read_bytes().split(b"\0")
    finally:
        child.kill()
        child.channel.close()
    assert b"GLIBC_TUNABLES=glibc.malloc.hugetlb=1" in environ
