"""``make fuzz`` builds some kernels with address checks, alone: they need no other."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDED = re.compile(r"^(?:from|import) larbinpy\._native\.(\w+) ?(?:c?import)?", re.MULTILINE)


def fuzzed() -> set[str]:
    """The kernels that the Makefile names."""
    text = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    found = re.search(r"^FUZZED = (.*)$", text, re.MULTILINE)
    assert found
    return set(found[1].split())


def needed(kernel: str) -> set[str]:
    """The kernels that one uses."""
    return set(NEEDED.findall((ROOT / "ext" / f"{kernel}.pyx").read_text()))


def test_fuzzed_kernels_need_no_other() -> None:
    """One that is missing ends the fuzzer before its first input."""
    assert needed("plainpage") >= {"linkscan", "shared"}
    assert {k: needed(k) - fuzzed() for k in fuzzed() if needed(k) - fuzzed()} == {}
