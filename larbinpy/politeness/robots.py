"""What a robots.txt says to us: RFC 9309, read as tolerantly as Google's parser reads it.

Nothing that is in a file is an error; what is not understood says nothing. Tolerated, since such
files are common and their authors' will is plain:
  - keys misspelt (``Disalow``), with a tail (``Disallowed``), or parted from the value by blanks;
  - agents with a tail (``larbinpy/1.0``, ``* (all)``);
  - lines that are ended by CR, LF or both, or cut short by NUL;
  - lines of other keys between those of a group; they do not end it.
An ``Allow`` of ``/x/index.html`` also allows ``/x/``.

Where the text or a line is cut at a limit, a ``Disallow`` counts as it stands, for it then forbids
more than was meant; all else, which could allow more, is dropped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Self

from larbinpy._native.robotsmatch import Matcher

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TEXT_BYTES: Final = 500 << 10
"""What RFC 9309, section 2.5, asks for at least; the rest is not read."""
MAX_LINE_BYTES: Final = 16_663

_BYTE_ORDER_MARK: Final = re.compile(rb"(?:\xef(?:\xbb\xbf?)?)?")
_BLANKS: Final = re.compile(rb"[ \t]+")
_KEY: Final = re.compile(
    rb"(?P<agent>user[- ]?agent)"
    rb"|(?P<allow>allow)"
    rb"|(?P<disallow>dis{1,2}allow|dis{1,2}alow|diasllow|disallaw)"
    rb"|(?P<sitemap>site-?map)"
    rb"|(?P<delay>crawl-delay)",
    re.IGNORECASE,
)
_EVERYONE: Final = re.compile(rb"\*(?:\s|$)")
_TOKEN: Final = re.compile(rb"[A-Za-z_-]*")
_DELAY: Final = re.compile(rb"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}")
_INDEX: Final = b"/index.htm"


class Rules(Matcher):
    """What the robots.txt of one origin says to one agent.

    Made by ``parse``; there is one for every origin, so it is one object and keeps no more than a
    crawl asks for.
    """

    __slots__ = ("crawl_delay_s",)

    crawl_delay_s: float | None
    """The longest delay asked of the agent, as it stands; None if none is."""

    @classmethod
    def parse(cls, text: bytes, token: bytes) -> Self:
        """Read a robots.txt.

        Args:
            text: the file, of any size and any bytes.
            token: the agent's product token (letters, ``_``, ``-``), in any case.

        Cost: about 3 us a rule for the agent, less for other lines; 0.2 s for a text at the limit
        that is made to be slow.
        """
        group, _ = _read(text, token)
        rules = cls(group.rules)
        rules.crawl_delay_s = group.delay_s
        return rules


def agent_of(text: bytes, token: bytes) -> bytes:
    """Whom the rules of ``parse`` name: the token, ``*``, or nobody, when there are none for it."""
    return _read(text, token)[1]


def line_of(text: bytes, number: int) -> bytes:
    """The line of a robots.txt that has this number; empty when there is none."""
    found = (line for at, line, _ in _lines(text) if at == number)
    return next(found, b"").strip()


class _Group:
    """All that is said to one agent, or to everyone who is not named."""

    __slots__ = ("delay_s", "is_named", "rules", "takes_delays", "takes_rules")

    def __init__(self) -> None:
        self.rules: list[tuple[bytes, bool, int]] = []
        self.delay_s: float | None = None
        self.is_named = False
        self.takes_rules = False
        """Whether the names that the present line stands under include this agent."""
        self.takes_delays = False
        """The same for Crawl-delay, which unlike rules is no longer said to names above another
        Crawl-delay: between groups that have nothing else, it is the only thing that parts them."""

    def name(self) -> None:
        self.is_named = self.takes_rules = self.takes_delays = True


class _Reader:
    """Takes the lines of a file one by one."""

    __slots__ = ("_everyone", "_has_delays", "_has_rules", "_ours", "_token")

    def __init__(self, token: bytes) -> None:
        self._token = token.lower()
        self._ours = _Group()
        self._everyone = _Group()
        self._has_rules = False
        self._has_delays = False

    def decisive(self) -> tuple[_Group, bytes]:
        """Only when no group names us, the groups for everyone count; with whom they name."""
        if self._ours.is_named:
            return self._ours, self._token
        return self._everyone, b"*" if self._everyone.is_named else b""

    def take(self, number: int, line: bytes, *, is_cut: bool) -> None:
        """Read a line; ``is_cut`` means that there was more of it."""
        key, value = _parted(line)
        match = _KEY.match(key)
        if match is None:
            return
        if match.lastgroup == "disallow":
            self._rule(value, number, allow=False)
        elif is_cut:
            return
        elif match.lastgroup == "allow":
            self._rule(value, number, allow=True)
        elif match.lastgroup == "agent":
            self._agent(value)
        elif match.lastgroup == "delay":
            self._delay(value)

    def _agent(self, value: bytes) -> None:
        """A name behind rules begins a new group, whoever it names."""
        for group in (self._ours, self._everyone):
            group.takes_rules &= not self._has_rules
            group.takes_delays &= not (self._has_rules or self._has_delays)
        self._has_rules = self._has_delays = False
        if _EVERYONE.match(value):
            self._everyone.name()
        elif _token_of(value).lower() == self._token:
            self._ours.name()

    def _rule(self, pattern: bytes, number: int, *, allow: bool) -> None:
        self._has_rules = True
        for group in (self._ours, self._everyone):
            if group.takes_rules:
                group.rules.append((pattern, allow, number))
                slash = pattern.rfind(b"/")
                if allow and pattern.startswith(_INDEX, slash):
                    group.rules.append((pattern[: slash + 1] + b"$", True, number))
                return

    def _delay(self, value: bytes) -> None:
        self._has_delays = True
        if not _DELAY.fullmatch(value):
            return
        for group in (self._ours, self._everyone):
            if group.takes_delays:
                group.delay_s = max(float(value), group.delay_s or 0.0)
                return


def _read(text: bytes, token: bytes) -> tuple[_Group, bytes]:
    reader = _Reader(token)
    for number, line, is_cut in _lines(text):
        reader.take(number, line, is_cut=is_cut)
    return reader.decisive()


def sitemaps_of(text: bytes) -> list[bytes]:
    """The values of all Sitemap lines of a robots.txt, whoever they stand under."""
    found = []
    for _, line, is_cut in _lines(text):
        key, value = _parted(line)
        match = _KEY.match(key)
        if match and match.lastgroup == "sitemap" and value and not is_cut:
            found.append(value)
    return found


def _token_of(value: bytes) -> bytes:
    match = _TOKEN.match(value)
    return match[0] if match else b""


def _lines(text: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Number, bytes, and whether it is cut, of each line within the limits."""
    mark = _BYTE_ORDER_MARK.match(text)
    text = text[mark.end() if mark else 0 :]
    edge = text[MAX_TEXT_BYTES - 1 : MAX_TEXT_BYTES + 1]
    is_text_cut = len(edge) == 2 and edge == edge.strip(b"\r\n")
    lines = text[:MAX_TEXT_BYTES].splitlines()
    for number, line in enumerate(lines, 1):
        if line:
            is_cut = len(line) > MAX_LINE_BYTES or (is_text_cut and number == len(lines))
            line = line[:MAX_LINE_BYTES]
            yield number, line, is_cut and b"#" not in line and b"\0" not in line


def _parted(line: bytes) -> tuple[bytes, bytes]:
    """Key and value of a line; the key is empty if the line has none."""
    line = line.partition(b"\0")[0].partition(b"#")[0].strip()
    key, colon, value = line.partition(b":")
    if not colon:
        words = _BLANKS.split(line)
        return (words[0], words[1]) if len(words) == 2 else (b"", b"")
    return key.strip(), value.strip()
