"""A crawl as a victim: its configuration, one run of its command, and the processes of that run."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from larbinpy.testing.crawls import crawl_keys, write_config
from tests.crawldirs import ENVIRONMENT, CrawlDirectory
from tests.patience import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.testing.web import WebProcess

SHARDS: Final = 2
PARSERS: Final = 2
CONNECTIONS: Final = 20
MOST_REFETCHED: Final = 2 * CONNECTIONS + 100
"""K of the contract, for ``CONNECTIONS``."""

_WITH_PYTHON: Final = (
    "import sys; sys.executable = sys.argv.pop(1); from larbinpy.cli import main;"
    " sys.exit(main(sys.argv[1:]))"
)


@dataclass(slots=True)
class Victim(CrawlDirectory):
    """A crawl in a directory of its own, and the command that starts and continues it."""

    web: WebProcess
    directory: Path
    changes: dict[str, str] = field(default_factory=dict)
    """Keys that differ from those of all victims."""

    def __post_init__(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        keys = crawl_keys(self.web, self.directory)
        del keys["getCGI"]
        keys |= {
            "depthInSite": "5",
            "outputMode": "1",
            "fetchProcesses": str(SHARDS),
            "parseProcesses": str(PARSERS),
            "pagesConnexions": str(CONNECTIONS),
            "segmentSize": "64Ki",
            "drainTime": "2",
        }
        write_config(self.config, {**keys, **self.changes}, title="A crawl that will be killed.")

    @property
    def messages(self) -> Path:
        """What all runs wrote to stderr."""
        return self.directory / "messages"

    def verify(self) -> str:
        """What ``larbinpy state --verify`` says of the state; nothing when it is sound."""
        ended = subprocess.run(
            [sys.executable, "-m", "larbinpy", "state", str(self.state), "--verify"],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )
        return "" if ended.returncode == 0 else (ended.stdout + ended.stderr)[-500:]

    def start(
        self,
        environment: dict[str, str] | None = None,
        *,
        python: Path | None = None,
        before: Callable[[], None] | None = None,
    ) -> Life:
        """Run the command, always the same.

        Args:
            environment: variables to add.
            python: what the supervisor starts its children with.
            before: done in the new process before the command.
        """
        words = [sys.executable, "-m", "larbinpy", "-c", str(self.config)]
        if python:
            words[1:3] = ["-c", _WITH_PYTHON, str(python)]
        with self.messages.open("ab") as stderr:
            spawned_ns = time.monotonic_ns()
            process = subprocess.Popen(
                words,
                cwd=self.directory,
                env=ENVIRONMENT | (environment or {}),
                preexec_fn=before,
                stdin=subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
                start_new_session=True,
            )
        return Life(process, spawned_ns)


@dataclass(slots=True)
class Life:
    """One run of the command."""

    process: subprocess.Popen[bytes]
    spawned_ns: int

    @property
    def code(self) -> int | None:
        """Exit code; None while it runs."""
        return self.process.poll()

    def children(self, role: str = "") -> list[int]:
        """Process ids of the children, or of those of one role."""
        pid = self.process.pid
        try:
            words = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return []
        return [int(word) for word in words if f"larbinpy.{role}" in command_of(int(word))]

    def shard_of(self, pid: int, state: Path) -> int | None:
        """Which shard a process is, if it has taken its lock."""
        for shard in range(SHARDS):
            with contextlib.suppress(OSError):
                if (state / f"shard-{shard:02d}" / "LOCK").read_text().startswith(f"pid {pid} "):
                    return shard
        return None

    def kill_group(self) -> None:
        """SIGKILL for every process of this run at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kill_supervisor(self) -> None:
        """SIGKILL for the first process alone: its children are to end by themselves."""
        self.process.kill()
        self.process.wait()

    def kill_child(self, pid: int) -> bool:
        """SIGKILL for one child; false when it has ended before."""
        if pid not in self.children():
            return False
        os.kill(pid, signal.SIGKILL)
        return True

    def stop(self) -> None:
        """SIGTERM: drain."""
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()

    def wait(self, timeout_s: float) -> int | None:
        """Exit code, None when it did not end in time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(timeout_s)
        return None


def command_of(pid: int) -> str:
    """Command line of a process; empty when it is gone or dead."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def are_gone(pids: list[int]) -> bool:
    """Whether these processes of a crawl end by themselves."""
    return wait_until(lambda: not any("larbinpy" in command_of(pid) for pid in pids))
