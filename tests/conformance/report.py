"""What the conformance data come to: ``python -m tests.conformance.report [--write]``.

Every case of every suite is passed, failed, or left out by a rule that speaks of the case and never
of its number or name. A suite that cannot be run has failed. The table is kept in
``docs/conformance.md``, where ``--write`` puts it.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from larbinpy._native import larbinhash, linkscan
from larbinpy.parse.charset import encoding_of_label, find_encoding
from larbinpy.politeness.robots import Rules
from larbinpy.url import parse_larbin
from tests.conformance import (
    test_encoding,
    test_html,
    test_larbin_hashes,
    test_links,
    test_robots,
    test_url,
)
from tests.conformance.shared import data
from tests.reference import linkscan as reference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "conformance.md"
BEGIN: Final = "<!-- begin of what `make conformance` printed -->\n"
END: Final = "<!-- end -->\n"

OTHER_SCHEME: Final = "another scheme than http and https: checked to be refused"
EMPTY_HOST: Final = "an empty host, which is no host of a URL"
TOO_LONG: Final = "a host too long for DNS: checked to be refused"
XML_ONLY: Final = "for XML output, which nobody makes here"
EITHER: Final = "both answers are right"


@dataclass
class Suite:
    """The cases of one suite."""

    name: str
    passed: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    why: str = ""
    """Why it could not be run."""

    @property
    def cases(self) -> int:
        return self.passed + self.failed + self.left_out.total()

    def count(self, *, is_right: bool) -> None:
        """Count a case."""
        self.passed += is_right
        self.failed += not is_right


def urls(suite: Suite) -> None:
    """``url/urltestdata.json``."""
    for case in test_url.cases("urltestdata.json"):
        if test_url.is_http(case) or case.get("failure"):
            suite.count(is_right=test_url.fault_of(case) is None)
        elif test_url.fault_of(case) is None:
            suite.left_out[OTHER_SCHEME] += 1
        else:
            suite.failed += 1


def hosts(suite: Suite, name: str) -> None:
    """``url/toascii.json`` and ``url/IdnaTestV2.json``."""
    tally = test_url.tally_hosts(name)
    suite.passed, suite.failed = tally.right, len(tally.wrong)
    suite.left_out[TOO_LONG] = tally.left_out
    suite.left_out[EMPTY_HOST] = sum(case["input"] == "" for case in test_url.cases(name))


def queries(suite: Suite) -> None:
    """``url/percent-encoding.json``; a case for each encoding."""
    for case in test_url.cases("percent-encoding.json"):
        for encoding, query in case["output"].items():
            found = test_url.resolved_query(case["input"], encoding)
            suite.count(is_right=found == query)


def encodings(suite: Suite) -> None:
    """``html/encoding``."""
    for name in ("tests1", "tests2", "test-yahoo-jp"):
        for page, label in test_encoding.cases(name):
            found = find_encoding(b"", page)[0]
            suite.count(is_right=found == encoding_of_label(label))


def tokens(suite: Suite) -> None:
    """``html/tokenizer``: the oracle gives the tokens, and the kernel does what the oracle does."""
    for name in test_html.FILES:
        for case in test_html.cases(name):
            states = case.get("initialStates", ["Data state"])
            suite.count(is_right=all(_is_read(case, state) for state in states))
    suite.left_out[XML_ONLY] = len(test_html.xml_cases())


def _is_read(case: test_html.Case, state: str) -> bool:
    if test_html.tokens(case, state) != case["output"]:
        return False
    return all(
        reference.fields(linkscan.scan(page)) == reference.fields(reference.scan(page))
        for page in test_html.pages(case, state)
    )


def links(suite: Suite) -> None:
    """``links``: a case for each page, with its encoding, its links and what they resolve to."""
    for page in test_links.pages():
        found = find_encoding(page["content_type"].encode(), test_links.body_of(page))
        suite.count(
            is_right=found == (page["encoding"], page["encoding_from"])
            and test_links.found_links(page) == test_links.expected_links(page)
            and not test_links.wrong_urls(page)
        )


def robots(suite: Suite) -> None:
    """``robots``: a case for each verdict."""
    for name in test_robots.FILES:
        text = data(f"robots/files/{name}").read_bytes()
        for verdict in (row for row in test_robots.VERDICTS if row.file == name.encode()):
            answer = b"%d" % Rules.parse(text, verdict.agent).allows(verdict.path)
            if verdict.expected == test_robots.EITHER:
                suite.left_out[EITHER] += 1
            else:
                suite.count(is_right=answer == verdict.expected)


def larbin(suite: Suite) -> None:
    """``larbin-url-vectors.tsv`` and ``larbin-page-vectors.tsv``."""
    for row in test_larbin_hashes.rows("larbin-url-vectors.tsv"):
        found = parse_larbin(row[1])
        if row[0] != b"OK":
            suite.count(is_right=found is None)
            continue
        code = larbinhash.url_code(*test_larbin_hashes.parts(row[4]))
        suite.count(is_right=(found is not None and found.url, code) == (row[5], int(row[2])))
    for code_text, text in test_larbin_hashes.rows("larbin-page-vectors.tsv"):
        code = larbinhash.page_code(text.replace(rb"\n", b"\n"))
        suite.count(is_right=code == int(code_text))


SUITES: Final[Sequence[tuple[str, Callable[[Suite], None]]]] = (
    ("URLs (urltestdata)", urls),
    ("hosts (toascii)", lambda suite: hosts(suite, "toascii.json")),
    ("hosts (IdnaTestV2)", lambda suite: hosts(suite, "IdnaTestV2.json")),
    ("queries in legacy encodings (percent-encoding)", queries),
    ("encodings (html5lib)", encodings),
    ("tokens (html5lib)", tokens),
    ("pages with their links", links),
    ("robots.txt verdicts", robots),
    ("larbin's URLs and hash codes", larbin),
)


def run() -> list[Suite]:
    """Run all suites."""
    suites = []
    for name, check in SUITES:
        suite = Suite(name)
        try:
            check(suite)
        except pytest.skip.Exception as reason:
            suite.why = str(reason)
        if not suite.passed:
            suite.failed = suite.failed or 1
            suite.why = suite.why or "no cases"
        suites.append(suite)
    return suites


def table(suites: list[Suite]) -> str:
    """The table, and below it the rules with their counts."""
    rows = ["| suite | cases | passed | left out | failed |", "|---|---|---|---|---|"]
    rules: Counter[str] = Counter()
    for suite in suites:
        left_out = suite.left_out.total()
        rows.append(
            f"| {suite.name} | {suite.cases} | {suite.passed} | {left_out} |"
            f" {suite.failed}{' ' + suite.why if suite.why else ''} |"
        )
        rules.update({f"{suite.name}: {rule}": n for rule, n in suite.left_out.items() if n})
    return "\n".join(
        [*rows, "", "Left out by rule:", "", *(f"- {n} {r}" for r, n in rules.items())]
    )


def main(arguments: Sequence[str]) -> int:
    """Print the table; fail when a case failed, or when the document says otherwise."""
    suites = run()
    text = table(suites)
    print(text)
    head, _, rest = DOCUMENT.read_text().partition(BEGIN)
    kept, _, tail = rest.partition(END)
    if "--write" in arguments:
        DOCUMENT.write_text(f"{head}{BEGIN}\n{text}\n\n{END}{tail}")
    elif kept.strip() != text:
        print(f"{DOCUMENT} says something else: python -m tests.conformance.report --write")
        return 1
    return 1 if any(suite.failed for suite in suites) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
