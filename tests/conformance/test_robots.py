"""robots.txt files, real and written for the purpose, against what larbinpy must answer.

``robots/verdicts.tsv`` has the verdicts, with ``*`` where both are right; one test for each file.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from larbinpy.politeness.robots import Rules
from tests.conformance.shared import ROOT, data

EITHER = b"*"


class Verdict(NamedTuple):
    """A row of the table."""

    file: bytes
    agent: bytes
    path: bytes
    google: bytes
    expected: bytes


def verdicts() -> list[Verdict]:
    """All rows; none when there is no conformance data."""
    table = ROOT / "data" / "robots" / "verdicts.tsv"
    rows = table.read_bytes().split(b"\n")[1:] if table.exists() else []
    return [Verdict(*row.split(b"\t")) for row in rows if row]


VERDICTS = verdicts()
FILES = sorted({verdict.file.decode() for verdict in VERDICTS})


def test_the_table_is_whole() -> None:
    """So that nothing is lost in silence."""
    data("robots/verdicts.tsv")
    assert (len(VERDICTS), len(FILES)) == (4932, 212)
    assert sum(verdict.expected == EITHER for verdict in VERDICTS) == 6


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_as_it_must_be(name: str) -> None:
    """Every agent and path of the file gets the expected verdict, also with the line it is by."""
    text = data(f"robots/files/{name}").read_bytes()
    rows = [verdict for verdict in VERDICTS if verdict.file == name.encode()]
    rules = {agent: Rules.parse(text, agent) for agent in {verdict.agent for verdict in rows}}
    wrong = [
        verdict
        for verdict in rows
        if verdict.expected not in (EITHER, b"%d" % rules[verdict.agent].allows(verdict.path))
    ]
    assert wrong == []
    for verdict in rows:
        of_agent = rules[verdict.agent]
        assert of_agent.match(verdict.path)[0] == of_agent.allows(verdict.path)
