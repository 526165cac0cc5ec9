"""The links of real pages beside an independent parser: ``python -m tests.conformance.realpages``.

Pages: all HTML files below /usr/share/doc, as Debian's documentation packages have them, in many
languages. Each is read by larbinpy, and by html5lib (its encoding), lexbor (a tree by the HTML
standard) and ada (URLs by the URL standard); compared are the http URLs of href and src of the
elements below, as a multiset. A page that is not ASCII is read once more in a legacy encoding,
with a header that says so. No difference is excused.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from larbinpy import url as urls
from larbinpy.parse.html import read
from tests.reference.linkbuffers import read_found, read_resolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT: Final = Path("/usr/share/doc")
SUFFIXES: Final = (".html", ".htm", ".xhtml")
MAX_PAGE_BYTES: Final = 4 << 20
ELEMENTS: Final = {1: "a", 2: "area", 3: "link", 5: "frame", 6: "iframe", 7: "img", 8: "script"}
HREF, SRC = 1, 2
OK: Final = 0
CODECS: Final = {
    "windows-1251": "cp1251", "koi8-r": "koi8_r", "iso-8859-2": "iso8859_2", "euc-jp": "euc_jp",
    "shift_jis": "cp932", "gb18030": "gb18030", "big5": "big5", "euc-kr": "euc_kr",
    "utf-16le": "utf_16_le", "windows-1252": "cp1252",
}  # fmt: skip
"""Labels and Python's codecs that mean the same but for what the pages do not have."""
Links = Counter[tuple[str, str]]


@dataclass
class Tally:
    """What the comparison came to."""

    pages: int = 0
    links: int = 0
    equal: int = 0
    wrong: list[str] = field(default_factory=list)
    encodings: Counter[str] = field(default_factory=Counter)


def pages() -> list[Path]:
    """All pages, each once, however many links of the file system lead to it."""
    found = {
        path.resolve()
        for path in ROOT.rglob("*")
        if path.suffix in SUFFIXES and path.is_file() and path.stat().st_size <= MAX_PAGE_BYTES
    }
    return sorted(found)


def url_of(path: Path) -> str:
    """Where the page would be."""
    return "http://doc.test" + "".join(c if c.isascii() else "x" for c in str(path))


def found_links(body: bytes, content_type: bytes, url: str) -> tuple[Links, str]:
    """What larbinpy finds, and the encoding."""
    reading = read(body, content_type)
    base = urls.Base(url.encode())
    if reading.base is not None:
        target = urls.parse(reading.base, base)
        base = urls.Base(target.url) if target else base
    items = read_found(reading.links)
    resolved = read_resolved(urls.resolve(base, reading.links, reading.encoding))
    links: Links = Counter()
    for (element, attribute, _, _), link in zip(items, resolved, strict=True):
        if element in ELEMENTS and attribute in (HREF, SRC) and link.status == OK:
            links[ELEMENTS[element], link.url.decode()] += 1
    return links, reading.encoding


def text_of(body: bytes) -> str:
    """The page's text by html5lib's reading of its encoding."""
    from html5lib._inputstream import HTMLBinaryInputStream  # noqa: PLC0415 - optional

    encoding = HTMLBinaryInputStream(body, useChardet=False).charEncoding[0]
    return str(encoding.codec_info.decode(body, "replace")[0]).removeprefix("\ufeff")


def expected_links(text: str, url: str) -> Links:
    """What the independent parsers find."""
    import ada_url  # noqa: PLC0415 - optional
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - optional

    tree = LexborHTMLParser(text.replace("\r\n", "\n").replace("\r", "\n"))
    base = url
    first = tree.css_first("base[href]")
    if first is not None:
        base = _resolved(ada_url, first.attributes["href"] or "", url) or url
    links: Links = Counter()
    for name in ELEMENTS.values():
        attribute = "href" if name in ("a", "area", "link") else "src"
        for node in tree.css(f"{name}[{attribute}]"):
            value = node.attributes[attribute] or ""
            is_empty = not value and name not in ("a", "area")
            target = None if is_empty else _resolved(ada_url, value, base)
            if target is not None:
                links[name, target] += 1
    return links


def _resolved(ada_url: object, value: str, base: str) -> str | None:
    """The URL as larbinpy writes it: http, without fragment and user information."""
    try:
        url = ada_url.URL(value, base)  # type: ignore[attr-defined]  # it has no types
    except ValueError:
        return None
    if url.protocol not in ("http:", "https:"):
        return None
    url.hash = url.username = url.password = ""
    return str(url.href).partition("#")[0]


def check(tally: Tally, path: Path, text: str, body: bytes, content_type: bytes) -> None:
    """Read one page both ways."""
    url = url_of(path)
    found, encoding = found_links(body, content_type, url)
    expected = expected_links(text, url)
    tally.pages += 1
    tally.links += found.total()
    tally.encodings[encoding] += 1
    if found == expected:
        tally.equal += 1
    else:
        extra, missing = list(found - expected)[:3], list(expected - found)[:3]
        tally.wrong.append(f"{path} in {encoding}: extra {extra}, missing {missing}")


def compare(paths: Iterable[Path]) -> Tally:
    """Read pages both ways, and those that are not ASCII in the next legacy encoding too."""
    tally = Tally()
    labels = itertools.cycle(CODECS)
    for path in paths:
        body = path.read_bytes()
        text = text_of(body)
        check(tally, path, text, body, b"text/html")
        if not text.isascii():
            label = next(labels)
            recoded = text.encode(CODECS[label], "xmlcharrefreplace")
            read_back = recoded.decode(CODECS[label])
            check(tally, path, read_back, recoded, b"text/html; charset=" + label.encode())
    return tally


def main(arguments: Sequence[str]) -> int:
    """Compare all pages, or those given, and print what it came to."""
    tally = compare(map(Path, arguments) if arguments else pages())
    encodings = ", ".join(f"{name} {count}" for name, count in tally.encodings.most_common())
    print(
        f"{tally.pages} readings, {tally.links} links: {tally.equal} equal, {len(tally.wrong)} not"
    )
    print(encodings)
    print(*tally.wrong[:20], sep="\n")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
