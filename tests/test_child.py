"""How a child process ends: its supervisor hears why, whatever it was."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from larbinpy import entries
from larbinpy.config import Config, to_json
from larbinpy.frames import Channel, FrameType
from tests.channels import frames
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROOT = """
from larbinpy import child
from larbinpy.errors import ConfigError, StorageError

class Root:
    def __init__(self, control, start, memory_fd):
        self.control, self.start, self.fd = control, start, memory_fd

    def run(self):
        import os
        {run}

child.main(Root)
"""


@contextmanager
def process(
    run: str, state: Path, *, is_orphan: bool = False
) -> Iterator[tuple[Channel, subprocess.Popen[bytes]]]:
    """A child with this body of ``run``, which has been started.

    Args:
        is_orphan: the supervisor is gone before its child is there.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    channel = Channel(ours)
    fields = {
        "config": to_json(Config()), "state": str(state), "uuid": "00" * 16, "index": 4,
        "shards": 5, "parsers": 1, "is_trusted": True,
    }  # fmt: skip
    payload = entries.encode_control("start", **fields)
    with (state / "memory").open("w+") as file:
        file.write("memory")
        file.flush()
        channel.send(FrameType.CONTROL, payload, count=1, descriptors=(file.fileno(),))
        channel.flush()
    if is_orphan:
        channel.close()
    with theirs:
        fd = theirs.fileno()
        command = [sys.executable, "-c", ROOT.format(run=run), str(fd)]
        made = subprocess.Popen(command, pass_fds=(fd,), stderr=subprocess.DEVNULL)
    try:
        yield channel, made
    finally:
        made.kill()
        made.wait()
        channel.close()


TOLD = 'self.control.tell("ready", index=self.start.index, read=os.pread(self.fd, 9, 0).decode())'


@pytest.mark.parametrize(
    ("run", "message", "code"),
    [
        (TOLD, {"verb": "ready", "index": 4, "read": "memory"}, 0),
        ('raise StorageError("x")', {"verb": "fault", "text": "x", "code": 1}, 1),
        ('raise ConfigError("x")', {"verb": "fault", "text": "x", "code": 2}, 1),
        ("{}[3]", {"verb": "notice", "text": "internal error: KeyError(3)"}, 1),
    ],
    ids=["orderly", "fault", "unusable", "bug"],
)
def test_the_end_is_told(tmp_path: Path, run: str, message: dict[str, object], code: int) -> None:
    """An orderly one by exit code 0; a fault of the machine as a fault; a bug as a notice."""
    with process(run, tmp_path) as (channel, made):
        (frame,) = frames(channel, 1)
        assert entries.decode_control(frame.payload) == message
        assert made.wait(PATIENCE_S) == code


def test_the_end_of_the_supervisor_is_the_end(tmp_path: Path) -> None:
    """A child that waits for a message wakes up and is gone."""
    loop = "while True: self.control.channel.wait(); self.control.messages()"
    with process(loop, tmp_path) as (channel, made):
        channel.close()
        assert made.wait(PATIENCE_S) == 1


def test_a_child_that_comes_up_too_late_touches_nothing(tmp_path: Path) -> None:
    """Its ``start`` lies there, but the supervisor is gone, and another one may be at work."""
    touch = 'open(self.start.state / "touched", "w")'
    with process(touch, tmp_path, is_orphan=True) as (_, made):
        assert made.wait(PATIENCE_S) == 1
    assert not (tmp_path / "touched").exists()


def test_sigterm_is_for_the_supervisor(tmp_path: Path) -> None:
    """``kill`` of the process group must not tear a child out of a stop."""
    loop = 'os.kill(os.getpid(), 15); self.control.tell("alive")'
    with process(loop, tmp_path) as (channel, made):
        assert entries.decode_control(frames(channel, 1)[0].payload) == {"verb": "alive"}
        assert made.wait(PATIENCE_S) == 0


def test_a_child_dies_with_its_supervisor(tmp_path: Path) -> None:
    """Even one that never looks at its channel: the kernel kills it."""
    code = (
        "import os, subprocess, sys; "
        "child = subprocess.Popen([sys.executable, '-c', "
        "'from larbinpy._native import shared; import os, time; shared.set_death_signal(9); "
        'os.write(1, b"%d" % os.getpid()); time.sleep(60)\']); '
        "sys.stdin.read(); os._exit(0)"
    )
    reader, writer = os.pipe()
    parent = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=writer)
    os.close(writer)
    assert os.read(reader, 20)  # the child is up
    parent.communicate(b"")
    assert os.read(reader, 20) == b""  # the last one who held the pipe is gone
    os.close(reader)
