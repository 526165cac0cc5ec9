"""The links of documents that are no HTML, said plainly; see ``ext/listscan.pyx``."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from typing import Final

from tests.reference.linkbuffers import FOUND_HEAD

A, IMG = 1, 7
TEXT, HREF, SRC = 0, 1, 2
SPACE: Final = b"\t\n\f\r "
BLANKS: Final = bytes(range(0x21))
NAMED: Final = {b"amp": "&", b"lt": "<", b"gt": ">", b"quot": '"', b"apos": "'"}
REFERENCE: Final = re.compile(rb"&(?:#(\d{1,8})|#x([0-9a-fA-F]{1,7})|(amp|lt|gt|quot|apos));")
ABSOLUTE: Final = re.compile(rb"https?://", re.IGNORECASE)
IN_PROSE: Final = re.compile(rb"(?<![A-Za-z])https?://[^\x00-\x20<>\"`{}|\\^\x7f]*", re.IGNORECASE)
MOST_BASES: Final = 8
PUNCTUATION: Final = b".,;:!?')]*_"
NAME_START: Final = re.compile(rb"[A-Za-z_:\x80-\xff]")


class EndOfDocument(Exception):
    """What was begun does not end."""


@dataclass
class Listing:
    links: bytes = b""
    count: int = 0
    dropped: int = 0
    root: bytes = b""
    bases: list[tuple[int, int, bytes | None]] = field(default_factory=list)
    details: list[tuple[bytes, bytes | None]] = field(default_factory=list)


@dataclass
class Tag:
    name: bytes
    end: int
    attributes: dict[bytes, bytes] = field(default_factory=dict)
    is_empty: bool = False

    @property
    def local(self) -> bytes:
        return self.name.rpartition(b":")[2].lower()

    @property
    def bare(self) -> bytes:
        return self.name.rpartition(b":")[2]

    @property
    def prefix(self) -> bytes:
        return self.name.rpartition(b":")[0].lower()

    def get(self, local: bytes) -> bytes | None:
        """The value of the first attribute with that local name."""
        for name, value in self.attributes.items():
            if name.lower().rpartition(b":")[2] == local:
                return value
        return None

    @property
    def base(self) -> bytes | None:
        """The first xml:base."""
        found = [value for name, value in self.attributes.items() if name.lower() == b"xml:base"]
        return found[0] if found else None


def clean(text: bytes) -> bytes:
    """Valid UTF-8 without NUL."""
    return text.decode("utf-8", "replace").replace("\0", "\ufffd").encode()


def meaning(match: re.Match[bytes]) -> bytes:
    decimal, hexadecimal, name = match.groups()
    if name:
        return NAMED[name].encode()
    number = int(decimal) if decimal else int(hexadecimal, 16)
    if number >= 0x110000:
        return match[0]
    return b"\xef\xbf\xbd" if number == 0 or 0xD800 <= number <= 0xDFFF else chr(number).encode()


def decoded(text: bytes) -> bytes:
    """A text with its references, which are ASCII."""
    parts, at = [], 0
    for match in REFERENCE.finditer(text):
        parts += [clean(text[at : match.start()]), meaning(match)]
        at = match.end()
    return b"".join([*parts, clean(text[at:])])


@dataclass(eq=False)
class Base:
    """An open element that has an xml:base."""

    name: bytes
    value: bytes
    inner: int = 0
    """Elements of the same name that are open in it, and have none."""


class Scan:
    """One document on its way."""

    def __init__(self, text: bytes, max_links: int) -> None:
        self.text = text
        self.found = Listing()
        self.max_links = max_links
        self.has_root = False
        self.reading: tuple[bytes, int, bool] | None = None
        self.value = b""
        self.bases: list[Base] = []
        self.told: list[Base] = []
        """The bases of the latest link."""

    def add(
        self,
        value: bytes,
        element: int,
        attribute: int = TEXT,
        *,
        is_sure: bool,
        name: bytes = b"",
        rel: bytes | None = None,
    ) -> None:
        value = value.strip(BLANKS)
        if not value or not (is_sure or ABSOLUTE.match(value)):
            return
        if self.found.count == self.max_links:
            self.found.dropped += 1
            return
        self.tell_bases(len(self.found.links))
        self.found.links += FOUND_HEAD.pack(element, attribute, 0, 0, len(value)) + value
        self.found.count += 1
        self.found.details.append((name, rel))

    def behind(self, what: bytes, at: int) -> int:
        end = self.text.find(what, at)
        if end < 0:
            raise EndOfDocument
        return end + len(what)

    # --- markup ----------------------------------------------------------------------------------

    def tag(self, at: int) -> Tag:
        """The tag whose name begins at ``at``."""
        text = self.text
        end = at
        while end < len(text) and text[end] not in SPACE + b"/>":
            end += 1
        tag = Tag(text[at:end], end)
        at = end
        while True:
            start = at
            while at < len(text) and text[at] in SPACE + b"/":
                at += 1
            if at >= len(text):
                raise EndOfDocument
            if text[at] == ord(">"):
                tag.is_empty = text[start:at].endswith(b"/")
                tag.end = at + 1
                return tag
            start = at
            at += 1
            while at < len(text) and text[at] not in SPACE + b"/>=":
                at += 1
            name = text[start:at]
            while at < len(text) and text[at] in SPACE:
                at += 1
            if text[at : at + 1] == b"=":
                value, at = self.attribute_value(at + 1)
                tag.attributes.setdefault(name, value)

    def attribute_value(self, at: int) -> tuple[bytes, int]:
        text = self.text
        while at < len(text) and text[at] in SPACE:
            at += 1
        if at >= len(text):
            raise EndOfDocument
        quote = text[at : at + 1]
        if quote in (b'"', b"'"):
            end = self.behind(quote, at + 1)
            return text[at + 1 : end - 1], end
        start = at
        while at < len(text) and text[at] not in SPACE + b">":
            at += 1
        return text[start:at], at

    def declaration(self, at: int) -> int:
        text, in_subset = self.text, False
        while at < len(text):
            char = text[at : at + 1]
            if char in (b'"', b"'"):
                at = self.behind(char, at + 1)
            elif text.startswith(b"<!--", at):
                at = self.behind(b"-->", at + 4)
            elif text.startswith(b"<?", at):
                at = self.behind(b"?>", at + 2)
            elif char == b">" and not in_subset:
                return at + 1
            else:
                in_subset = (in_subset or char == b"[") and char != b"]"
                at += 1
        raise EndOfDocument

    # --- elements --------------------------------------------------------------------------------

    def start(self, tag: Tag, *, every: bool) -> None:
        if not self.has_root:
            self.has_root = True
            self.found.root = tag.local
        self.enter(tag)
        self.take(tag, every=every)
        if tag.is_empty:
            self.reading = None
            self.leave(tag.bare)

    def take(self, tag: Tag, *, every: bool) -> None:
        """What a start tag means."""
        self.reading, self.value = None, b""
        name, rel = tag.bare, tag.get(b"rel")
        reading: tuple[int, bool] | None = None
        if every:
            for key, attribute in ((b"href", HREF), (b"src", SRC)):
                value = decoded(tag.get(key) or b"")
                self.add(value, A, attribute, is_sure=True, name=name, rel=rel)
            reading = (A, False)
        elif tag.local == b"loc":
            reading = (IMG if tag.prefix == b"image" else A, True)
        elif tag.local == b"link":
            href = tag.get(b"href")
            if href is None:
                reading = (A, True)
            elif (rel or b"").strip(BLANKS).lower() != b"enclosure":
                self.add(decoded(href), A, HREF, is_sure=True, name=name, rel=rel)
        elif tag.local == b"guid":
            is_url = (tag.get(b"ispermalink") or b"").strip(BLANKS).lower() != b"false"
            reading = (A, False) if is_url else None
        if reading:
            self.reading = (tag.bare, *reading)

    def end(self, tag: Tag) -> None:
        if self.reading and self.reading[0] == tag.bare:
            name, element, is_sure = self.reading
            self.add(self.value, element, is_sure=is_sure, name=name)
        self.reading, self.value = None, b""
        self.leave(tag.bare)

    # --- bases -----------------------------------------------------------------------------------

    def enter(self, tag: Tag) -> None:
        if tag.base is not None and len(self.bases) < MOST_BASES:
            self.bases.append(Base(tag.bare, tag.base))
        elif known := self.innermost(tag.bare):
            known.inner += 1

    def leave(self, name: bytes) -> None:
        if known := self.innermost(name):
            if known.inner:
                known.inner -= 1
            else:
                del self.bases[self.bases.index(known) :]

    def innermost(self, name: bytes) -> Base | None:
        """The latest open element of this name that has a base."""
        return next((base for base in reversed(self.bases) if base.name == name), None)

    def tell_bases(self, start: int) -> None:
        """A link stands here: tell how the bases differ from those of the link before."""
        same = 0
        for known, now in zip(self.told, self.bases, strict=False):
            if known is not now:
                break
            same += 1
        rows: list[tuple[int, int, bytes | None]] = [
            (start, level, decoded(base.value)) for level, base in enumerate(self.bases)
        ]
        if len(self.bases) == same < len(self.told):
            rows.append((start, same, None))
        self.found.bases += rows[same:]
        self.told = self.bases[:]

    def run(self, *, every: bool) -> None:
        text, at = self.text, 0
        while (start := text.find(b"<", at)) >= 0:
            self.value += decoded(text[at:start])
            at = start
            if text.startswith(b"</", at):
                tag = self.tag(at + 2)
                self.end(tag)
                at = tag.end
            elif text.startswith(b"<!--", at):
                at = self.behind(b"-->", at + 4)
            elif text.startswith(b"<![CDATA[", at):
                end = self.behind(b"]]>", at + 9)
                self.value += clean(text[at + 9 : end - 3])
                at = end
            elif text.startswith(b"<!", at):
                at = self.declaration(at + 2)
            elif text.startswith(b"<?", at):
                at = self.behind(b"?>", at + 2)
            elif NAME_START.match(text, at + 1):
                tag = self.tag(at + 1)
                self.start(tag, every=every)
                at = tag.end
            else:
                self.value += b"<"
                at += 1


def scan_xml(
    text: bytes, max_links: int = 50_000, every: bool = False, details: bool = True
) -> Listing:
    scan = Scan(text, max_links)
    with contextlib.suppress(EndOfDocument):
        scan.run(every=every)
    return scan.found


def scan_lines(text: bytes, max_links: int = 50_000) -> Listing:
    scan = Scan(text, max_links)
    for line in re.split(rb"[\r\n]", text):
        scan.add(clean(line.strip(BLANKS)), A, is_sure=False)
    return scan.found


def scan_text(text: bytes, max_links: int = 50_000) -> Listing:
    scan = Scan(text, max_links)
    for match in IN_PROSE.finditer(text):
        scan.add(clean(match[0].rstrip(PUNCTUATION)), A, is_sure=True)
    return scan.found


def fields(found: Listing) -> tuple[object, ...]:
    """All that a listing says."""
    return found.links, found.count, found.dropped, found.root, found.bases
