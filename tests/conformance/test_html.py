"""The html5lib tokenizer cases: the oracle gives their tokens, the kernel agrees with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from larbinpy._native import linkscan
from tests.conformance.shared import data
from tests.reference import linkscan as reference
from tests.reference.htmltoken import Token, Tokenizer
from tests.reference.linkscan import fields, words

Case = dict[str, Any]  # as the JSON has it
FILES = words(
    "contentModelFlags domjs entities escapeFlag namedEntities numericEntities pendingSpecChanges"
    " test1 test2 test3 test4 unicodeChars unicodeCharsProblematic"
)
STATES = {
    "Data state": "data",
    "RCDATA state": "rcdata",
    "RAWTEXT state": "rawtext",
    "Script data state": "script_data",
    "PLAINTEXT state": "plaintext",
    "CDATA section state": "cdata_section",
}
# Elements whose content is read in that state, so that the kernel gets there too.
OPENERS = {
    "RCDATA state": "textarea",
    "RAWTEXT state": "xmp",
    "Script data state": "script",
    "PLAINTEXT state": "plaintext",
}


def cases(name: str) -> list[Case]:
    """The cases of one file."""
    content = json.loads(data(f"html/tokenizer/{name}.test").read_bytes())
    return [unescaped(case) for case in content["tests"]]


def xml_cases() -> list[Case]:
    """The cases of the file that is about XML output."""
    content = json.loads(data("html/tokenizer/xmlViolation.test").read_bytes())
    return list(content["xmlViolationTests"])


def unescaped(case: Case) -> Case:
    """The case with its second layer of escapes removed."""
    if not case.get("doubleEscaped"):
        return case
    return case | {"input": plain(case["input"]), "output": plain(case["output"])}


def plain(value: Any) -> Any:
    """A JSON value with backslash-u escapes in its strings decoded."""
    if isinstance(value, str):
        return value.encode().decode("unicode_escape") if "\\u" in value else value
    return [plain(part) for part in value] if isinstance(value, list) else value


def tokens(case: Case, state: str) -> list[Token]:
    """What the reference makes of a case."""
    found: list[Token] = []

    def take(token: Token) -> None:
        if token[0] == "Character" and found and found[-1][0] == "Character":
            found[-1] = ["Character", f"{found[-1][1]}{token[1]}"]
        else:
            found.append(token)

    tokenizer = Tokenizer(case["input"], take, lambda: False)
    tokenizer.state = getattr(tokenizer, STATES[state])
    tokenizer.last_start = case.get("lastStartTag", "")
    tokenizer.run()
    return found


@pytest.mark.parametrize("name", FILES)
def test_the_reference_gives_the_tokens_of_the_cases(name: str) -> None:
    """Every case gives its tokens, from each of its initial states."""
    wrong = [
        (case["description"], state)
        for case in cases(name)
        for state in case.get("initialStates", ["Data state"])
        if tokens(case, state) != case["output"]
    ]
    assert wrong == []


def pages(case: Case, state: str) -> list[bytes]:
    """The case's input between probes, so that what it does to tags and attributes is visible."""
    text = case["input"].encode("utf-8", "surrogatepass")
    if state in OPENERS:
        opener = OPENERS[state].encode()
        return [b"<%b>%b</%b><a href=probe>" % (opener, text, opener)]
    return [
        b"<a href=probe1>" + text + b"<a href=probe2>",
        text + b"\"><a href=probe1>'><a href=probe2>--><a href=probe3>",
        b'<a href="' + text + b'"><a href=probe>',
        b"<a href=" + text + b"><a href=probe>",
        b"<title>" + text + b"</title><svg><![CDATA[" + text + b"]]><a href=probe>",
    ]


@pytest.mark.parametrize("name", FILES)
def test_the_kernel_agrees_on_the_cases(name: str) -> None:
    """The kernel finds what the reference finds, with each case in several places of a page."""
    wrong = [
        page
        for case in cases(name)
        for state in case.get("initialStates", ["Data state"])
        for page in pages(case, state)
        if fields(linkscan.scan(page)) != fields(reference.scan(page))
    ]
    assert wrong == []
