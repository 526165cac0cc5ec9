"""``make fuzz`` builds some kernels with address checks, and no others."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ALONE = """
import sys

class OnlySome:
    def find_spec(self, name, path=None, target=None):
        package, _, kernel = name.rpartition(".")
        if package == "larbinpy._native" and kernel not in sys.argv[1:]:
            raise ModuleNotFoundError(f"{kernel} is not built for the fuzzer")

sys.meta_path.insert(0, OnlySome())
from tests.fuzz import mutate, seeds, targets
"""


def fuzzed() -> list[str]:
    """The kernels that the Makefile names."""
    text = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    found = re.search(r"^FUZZED = (.*)$", text, re.MULTILINE)
    assert found
    return found[1].split()


def test_the_fuzzer_needs_no_other_kernel() -> None:
    """One that is missing ends it before its first input."""
    words = [sys.executable, "-c", ALONE, *fuzzed()]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
