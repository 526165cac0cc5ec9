"""The oracle of ``larbinpy._native.linkscan``: the standard's tokenizer, then plain Python.

The same output as the kernel's, except that svg, math and template may nest without limit.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import Final, cast

from tests.reference.css import css_urls
from tests.reference.htmlmeta import charset_in, is_bare_refresh, refresh_url, srcset_urls
from tests.reference.htmltoken import Token, Tokenizer, lower_all


def words(text: str) -> list[str]:
    """The words of a list that is easier to read as a text."""
    return text.split()


A, AREA, LINK, BASE, FRAME, IFRAME, IMG, SCRIPT, SOURCE, META = range(1, 11)
EMBED, OBJECT, VIDEO, AUDIO, TRACK, FORM, STYLE, MEDIA = range(13, 21)
ATTRIBUTES: Final = {
    name: number
    for number, name in enumerate(words("href src srcset content data poster action style"), 1)
} | {"": 0}
LINKS: Final = {
    "a": (A, "href"),
    "area": (AREA, "href"),
    "link": (LINK, "href"),
    "base": (BASE, "href"),
    "iframe": (IFRAME, "src"),
    "img": (IMG, "src", "srcset"),
    "image": (IMG, "src", "srcset"),
    "script": (SCRIPT, "src"),
    "source": (SOURCE, "srcset", "src"),
    "embed": (EMBED, "src"),
    "object": (OBJECT, "data"),
    "video": (VIDEO, "src", "poster"),
    "audio": (AUDIO, "src"),
    "track": (TRACK, "src"),
    "form": (FORM, "action"),
}
DOCUMENT: Final = 32
"""The rel bit of a refresh without a URL."""
RELS: Final = {"nofollow": 1, "ugc": 2, "sponsored": 4, "canonical": 8, "stylesheet": 16}
JOINED_RELS: Final = 7
"""The rel bits of words that may also be joined by commas."""
BREAKOUT: Final = frozenset(
    words(
        "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img"
        " li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul"
        " var"
    )
)
NO_FRAMESET_AFTER: Final = frozenset(
    words(
        "applet area body br button dd dt embed hr iframe image img input keygen li listing marquee"
        " object pre select table textarea wbr xmp"
    )
)
MATH_TEXT: Final = frozenset(["mi", "mo", "mn", "ms", "mtext"])
HTML_TYPES: Final = frozenset(["text/html", "application/xhtml+xml"])
TRACKED: Final = MATH_TEXT | {"svg", "math", "foreignobject", "desc", "title", "annotation-xml"}
SPACES: Final = "\t\n\f\r "


@dataclass
class Scan:
    """See the kernel."""

    links: bytes = b""
    count: int = 0
    dropped: int = 0
    base: bytes | None = None
    title: bytes = b""
    robots: bytes = b""
    canonical: bytes | None = None
    charset: bytes | None = None
    language: bytes | None = None
    details: list[tuple[bytes, bytes | None, bytes | None, bytes | None]] = field(
        default_factory=list
    )


def fields(scan: object) -> dict[str, object]:
    """The results of a scan, the kernel's or this one's, to compare."""
    return {name: getattr(scan, name) for name in Scan.__dataclass_fields__}


def scan(
    html: bytes,
    max_links: int = 50_000,
    *,
    agent: bytes = b"robots",
    styles: bool = False,
    details: bool = False,
) -> Scan:
    """See the kernel."""
    page = _Page(max_links, agent.decode(), styles, details)
    page.read(html.decode("utf-8", "replace"))
    return page.found


@dataclass
class _Page:
    """What a tree builder would know, as far as it matters."""

    max_links: int
    agent: str
    styles: bool
    details: bool
    found: Scan = field(default_factory=Scan)
    contexts: list[tuple[str, str]] = field(default_factory=list)
    """(element, kind): kind is template, svg, math, or point (HTML inside svg or math)."""
    frames: str = "maybe"
    framesets: int = 0
    title: str | None = None
    is_in_title: bool = False
    is_in_raw: bool = False
    sheet: str | None = None
    anchor: int = -1
    """Number of the link whose text is being read."""
    anchor_text: str = ""
    tag: str = ""
    attributes: dict[str, str] = field(default_factory=dict)

    def read(self, text: str) -> None:
        self.tokenizer = Tokenizer(text, self.take, self.may_have_cdata)
        self.tokenizer.run()
        self.found.title = (self.title or "").encode()
        self.end_sheet()
        self.end_anchor()

    def take(self, token: Token) -> None:
        kind = token[0]
        if kind == "Character":
            self.characters(cast("str", token[1]))
        elif kind == "StartTag":
            attributes = cast("dict[str, str]", token[2])
            self.is_in_title = False
            self.tag, self.attributes = cast("str", token[1]), attributes
            is_in_page = self.frames not in ("frameset", "after") and not self.in_template
            self.start(self.tag, attributes, is_self_closing=len(token) == 4)
            if self.styles and is_in_page and "style" in attributes:
                self.add_css(attributes["style"], "style")
        elif kind == "EndTag":
            self.is_in_title = False
            if self.is_in_raw:  # the end tag of a raw text element closes that and nothing else
                self.is_in_raw = False
                self.end_sheet()
            else:
                if token[1] == "a":
                    self.end_anchor()
                self.end(cast("str", token[1]))

    # --- where we are ------------------------------------------------------------------------
    @property
    def in_template(self) -> bool:
        return any(kind == "template" for _, kind in self.contexts)

    @property
    def in_html(self) -> bool:
        return not self.contexts or self.contexts[-1][1] in ("template", "point")

    def may_have_cdata(self) -> bool:
        return bool(self.contexts) and self.contexts[-1][1] != "template"

    def no_frameset(self) -> None:
        if self.frames == "maybe" and not self.in_template:
            self.frames = "body"

    # --- tokens ------------------------------------------------------------------------------
    def characters(self, c: str) -> None:
        if self.is_in_title:
            self.title = (self.title or "") + c
        if self.sheet is not None:
            self.sheet += c
        is_markup = self.tokenizer.state in (self.tokenizer.data, self.tokenizer.tag_open)
        if is_markup and c not in SPACES + "\0" and not self.is_in_title:
            self.no_frameset()
        if is_markup and self.anchor >= 0:
            self.anchor_text += c.replace("\0", "\ufffd")

    def start(self, name: str, attributes: dict[str, str], *, is_self_closing: bool) -> None:
        if self.frames in ("frameset", "after"):
            self.start_in_frameset(name, attributes)
        elif self.in_html or not self.start_foreign(name, attributes, is_self_closing):
            self.start_html(name, attributes, is_self_closing)

    def start_in_frameset(self, name: str, attributes: dict[str, str]) -> None:
        if name == "noframes":
            self.switch_tokenizer(name)
        elif self.frames == "frameset" and name == "frameset":
            self.framesets += 1
        elif self.frames == "frameset" and name == "frame" and "src" in attributes:
            self.add(FRAME, "src", rel_bits(attributes), attributes["src"])

    def start_foreign(self, name: str, attributes: dict[str, str], is_self_closing: bool) -> bool:
        outer, kind = self.contexts[-1]
        is_font = name == "font" and not {"color", "face", "size"}.isdisjoint(attributes)
        if name in BREAKOUT or is_font:
            self.break_out()
            return False
        if name == "svg" and outer == "annotation-xml":
            return False
        if name == "a" and kind == "svg" and not self.in_template:
            href = attributes.get("href", attributes.get("xlink:href"))
            self.end_anchor()
            if href is not None:
                self.add(A, "href", rel_bits(attributes), href)
        if is_self_closing:
            return True
        if is_point(name, kind, attributes):
            self.contexts.append((name, "point"))
        elif name in ("svg", "math", "annotation-xml"):
            self.contexts.append((name, kind))
        return True

    def start_html(self, name: str, attributes: dict[str, str], is_self_closing: bool) -> None:
        if not self.in_template:
            if name in NO_FRAMESET_AFTER:
                self.no_frameset()
            self.read_element(name, attributes)
        if name == "template" or (name in ("svg", "math") and not is_self_closing):
            self.contexts.append((name, name))
        elif name == "frameset" and self.frames == "maybe" and not self.contexts:
            self.frames, self.framesets = "frameset", 1
        self.switch_tokenizer(name)

    def switch_tokenizer(self, name: str) -> None:
        tokenizer = self.tokenizer
        if name in ("style", "xmp", "iframe", "noembed", "noframes"):
            tokenizer.state = tokenizer.rawtext
        elif name in ("title", "textarea"):
            tokenizer.state = tokenizer.rcdata
            self.is_in_title = name == "title" and self.title is None and not self.in_template
            self.title = "" if self.is_in_title else self.title
        elif name == "script":
            tokenizer.state = tokenizer.script_data
        elif name == "plaintext":
            tokenizer.state = tokenizer.plaintext
        self.is_in_raw = tokenizer.state != tokenizer.data
        if name == "style" and self.styles and not self.in_template and self.frames != "frameset":
            self.sheet = ""

    def end(self, name: str) -> None:
        if self.frames == "frameset" and name == "frameset":
            self.framesets -= 1
            if self.framesets == 0:
                self.frames = "after"
        elif name in ("p", "br"):
            self.break_out()
        else:
            self.end_context(name)
        if name == "br":
            self.no_frameset()

    def end_context(self, name: str) -> None:
        if name not in TRACKED and name != "template":
            return
        for depth in reversed(range(len(self.contexts))):
            if self.contexts[depth][0] == name:
                del self.contexts[depth:]
                return
            if self.contexts[depth][1] == "template" and name != "template":
                return

    def break_out(self) -> None:
        while not self.in_html:
            self.contexts.pop()

    # --- elements ----------------------------------------------------------------------------
    def add(self, element: int, attribute: str, rel: int, value: str) -> None:
        if self.found.count == self.max_links:
            self.found.dropped += 1
            return
        self.found.count += 1
        packed = value.encode()
        head = struct.pack("<BBBBI", element, ATTRIBUTES[attribute], rel, 0, len(packed))
        self.found.links += head + packed
        if self.details:
            self.add_details(element)

    def add_details(self, element: int) -> None:
        rel, alt = self.attributes.get("rel"), None
        if element in (AREA, IMG):
            alt = self.attributes.get("alt")
        language = self.attributes.get("hreflang") if element in (A, AREA, LINK, BASE) else None
        detail = (self.tag.encode(), encoded(rel), encoded(alt), encoded(language))
        self.found.details.append(detail)
        if element == A:
            self.anchor, self.anchor_text = self.found.count - 1, ""

    def end_anchor(self) -> None:
        """The text of the latest ``a`` has ended."""
        if self.anchor >= 0:
            name, rel, _, language = self.found.details[self.anchor]
            text = self.anchor_text.encode()
            self.found.details[self.anchor] = (name, rel, text, language)
            self.anchor = -1

    def add_css(self, text: str, attribute: str) -> None:
        for url in css_urls(text):
            self.add(STYLE, attribute, 0, url)

    def end_sheet(self) -> None:
        """A style element has ended."""
        if self.sheet is not None:
            self.add_css(self.sheet, "")
            self.sheet = None

    def read_element(self, name: str, attributes: dict[str, str]) -> None:
        found = self.found
        rel = rel_bits(attributes)
        element, *urls = LINKS.get(name, (0,))
        if name == "a":
            self.end_anchor()
        for attribute in cast("list[str]", urls):
            value = attributes.get(attribute)
            if (name, attribute) == ("source", "src"):
                element = MEDIA
            if value is not None:
                values = srcset_urls(value) if attribute == "srcset" else [value]
                for url in values:
                    self.add(cast("int", element), attribute, rel, url)
        if name == "base" and "href" in attributes and found.base is None:
            found.base = attributes["href"].encode()
        if name == "link" and rel & 8 and "href" in attributes and found.canonical is None:
            found.canonical = attributes["href"].encode()
        if name == "html" and "lang" in attributes and found.language is None:
            found.language = attributes["lang"].encode()
        if name == "meta":
            self.read_meta(attributes)

    def read_meta(self, attributes: dict[str, str]) -> None:
        found = self.found
        content = attributes.get("content")
        pragma = lower_all(attributes.get("http-equiv", "")) if content is not None else ""
        if pragma == "refresh" and (url := refresh_url(content or "")) is not None:
            self.add(META, "content", 0 if url else DOCUMENT * is_bare_refresh(content or ""), url)
        label = attributes.get("charset")
        if label is None and pragma == "content-type":
            label = charset_in(content or "")
        if label is not None:
            comma = b"" if found.charset is None else found.charset + b","
            found.charset = comma + label.encode()
        if pragma == "content-language" and found.language is None:
            found.language = (content or "").encode()
        if content is not None and lower_all(attributes.get("name", "")) in ("robots", self.agent):
            self.robots = [*getattr(self, "robots", []), content]
            found.robots = ",".join(self.robots).encode()


def encoded(text: str | None) -> bytes | None:
    """The text in UTF-8."""
    return None if text is None else text.encode()


def rel_bits(attributes: dict[str, str]) -> int:
    """The REL_* bits of an element."""
    bits = 0
    for word in re.split(f"[{SPACES}]", lower_all(attributes.get("rel", ""))):
        bits |= RELS.get(word, 0)
        for part in word.split(","):
            bits |= RELS.get(part, 0) & JOINED_RELS
    return bits


def is_point(name: str, kind: str, attributes: dict[str, str]) -> bool:
    """Whether an element of svg or math holds HTML."""
    if kind == "svg":
        return name in ("foreignobject", "desc", "title")
    encoding = lower_all(attributes.get("encoding", ""))
    return name in MATH_TEXT or (name == "annotation-xml" and encoding in HTML_TYPES)
