"""A wall clock that jumps neither stops nor hurries a host."""

from __future__ import annotations

import random
import shutil
import subprocess
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from larbinpy.testing.web import WebProcess, WebSpec
from tests.chaos.judge import judge
from tests.chaos.life import Victim
from tests.patience import PATIENCE_S, wait_until

pytestmark = [pytest.mark.crash, pytest.mark.slow]

SOURCE = Path(__file__).with_name("clock.c")
WAIT_S = 1.0
JUMPS_S = (3600, -3600, 0, 7200)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: cc is needed for clock.c")
def test_a_clock_that_jumps_by_an_hour(tmp_path: Path) -> None:
    """To and fro while the crawl runs: every host goes on, none is asked before its time."""
    library, clock = tmp_path / "clock.so", tmp_path / "clock"
    clock.write_bytes(bytes(8))
    words = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
    subprocess.run(words, check=True)
    spec = WebSpec(seed=random.randrange(1 << 30), hosts=8, pages=6, notes=1, chain=2, links=10)
    with WebProcess(spec, tmp_path / "web") as web:
        victim = Victim(web, tmp_path / "crawl", {"waitDuration": f"{WAIT_S}"})
        life = victim.start({"LD_PRELOAD": str(library), "CLOCK_FILE": str(clock)})
        for jump, wrong_s in enumerate(JUMPS_S, 1):
            assert wait_until(partial(has_asked, web, 6 * jump))
            with clock.open("r+b") as file:
                file.write(wrong_s.to_bytes(8, "little", signed=True))
        code = life.wait(PATIENCE_S)
        life.kill_group()
        assert code == 0, victim.messages.read_text()
        requests = sorted(web.requests(), key=lambda one: (one.host, one.start_ns))
        assert judge(victim, [], [life.spawned_ns]).faults == []
    logged = (victim.state / "crawl.log").read_text()
    assert len({line[7:20] for line in logged.splitlines()}) > 1  # its hours tell of the jumps
    for _, asked in groupby(requests, key=lambda one: one.host):
        gaps_ns = [after.start_ns - before.start_ns for before, after in pairwise(asked)]
        # A busy server reads a request late, and then the next one seems to come too early.
        assert min(gaps_ns, default=WAIT_S * 1e9) > 0.5 * WAIT_S * 1e9


def has_asked(web: WebProcess, count: int) -> bool:
    """Whether a crawl has made so many requests."""
    return len(web.requests()) >= count
