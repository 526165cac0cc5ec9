"""Where inputs begin: the conformance data, and a grammar for each target."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import TYPE_CHECKING, Final

import brotli
import zstandard

from tests.conformance.shared import ROOT

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

MAX_SEED_BYTES: Final = 8 << 10

WORDS: Final[dict[str, list[bytes]]] = {
    "scanner": [
        b'<a', b'href=', b'<base', b'href=', b'<img', b'srcset=', b'<meta',
        b'http-equiv=refresh', b'content=', b'<meta', b'charset=', b'<title>', b'</title>',
        b'<script>', b'</script>', b'<!--', b'-->', b'<svg>', b'</svg>', b'<template>',
        b'<style>', b'</style>', b'<![CDATA[', b']]>', b'<frameset>', b'<textarea>',
        b'<plaintext>', b'rel=nofollow', b'&amp;', b'&#x', b'&#0;', b'&notin;', b'style="url(',
        b"url('", b'/*', b'\\', b'@import', b"'", b'"', b'=', b'/', b'>', b'<', b'0;url=',
        b'1x,', b'data-x=\x00', b'\xff', b'\xe2\x82', b'</', b'<?', b'<!', b'<link',
        b'rel=canonical', b'href=',
    ],
    "url": [
        b'http://', b'https://', b'//a.b/', b'/..', b'/./', b'%2e', b'%zz', b'?', b'#', b'@',
        b':80', b':65536', b'[::1]', b'[1::2:3]', b'0x7f.1', b'1.2.3', b'\\', b'xn--',
        b'xn--a.b', b'\xc3\xa9', b'\xe3\x80\x82', b'\xff', b'\x00', b'ftp:', b'javascript:',
        b'a.test', b'..', b'.', b':', b'/', b'&amp;', b'=', b'\xc3\x9f',
    ],
    "charset": [
        b'text/html;', b'charset=', b'utf-8', b'koi8-r', b'shift_jis', b'gb18030', b'big5',
        b'euc-kr', b'iso-2022-jp', b'utf-16le', b'x-user-defined', b'\xef\xbb\xbf', b'\xff\xfe',
        b'\xfe\xff', b'<meta', b'charset=', b'<meta', b'http-equiv=content-type', b'content=',
        b'<?xml', b"encoding='", b'\x1b$B', b'\x1b(B', b'\x810\x810', b'\x80', b'\xa1\xa1', b'"',
        b"'", b'>', b';', b'=', b'<!--', b'-->', b'\x00<\x00',
    ],
    "robots": [
        b'User-agent:', b'larbinpy', b'*', b'Disallow:', b'Allow:', b'Crawl-delay:', b'Sitemap:',
        b'/a', b'/*b$', b'/%7e', b'/%zz', b'$', b'#', b'\xef\xbb\xbf', b'\x00', b':',
        b'http://a.test/s.xml', b'/a*b*c*d*e*', b'1.5', b'/index.html', b'Site-map', b'disalow:',
    ],
    "sitemaps": [
        b'<?xml', b"encoding='koi8-r'?>", b'<urlset>', b'<loc>', b'</loc>', b'<sitemapindex>',
        b'<rss>', b'<link>', b'</link>', b'<guid', b"isPermaLink='false'>", b'<feed',
        b"xml:base='", b'<![CDATA[', b']]>', b'<!--', b'-->', b'<!DOCTYPE', b'[', b'<!ENTITY',
        b'>', b']>', b'&amp;', b'&#47;', b'&#x2f;', b'http://a.test/', b'https://', b'\x00',
        b'\xff', b'/', b'=', b"'", b'"', b'<', b"href='", b'image:loc', b'\x1f\x8b\x08',
    ],
    "pages": [
        b'Content-Type:', b'text/html;', b'charset=utf-8', b'\n', b'\n\n', b'content-type : ',
        b'Content-Encoding:', b'X-Robots-Tag:', b'Link:', b'rel=canonical', b'<', b'>;rel="',
        b'anchor=', b'\\"', b'ETag:', b'"x"',
        b'Last-Modified:', b'Sun, 06 Nov 1994 08:49:37 GMT', b'http://a.test/', b'<a href=', b'>',
        b'<link rel=canonical href=', b'<meta name=robots content=', b'nofollow', b'<base href=',
        b'<title>', b'\xef\xbb\xbf', b'\xff\xfe', b'\r\n', b'http://\xc3\xa9.test/', b'&amp;', b'#',
    ],
    "decode": [
        b'\x00', b'\xff', b'\x1f\x8b\x08\x00', b'(\xb5/\xfd', b'x\x9c', b'P*M\x18',
    ],
}  # fmt: skip
"""Pieces of grammar; an input made of it is a sequence of them and of short random texts."""

_PLAIN: Final = (b"", b"<html>a page</html>", b"abcd" * 500, bytes(range(256)) * 8)


def grammar(target: str, rng: random.Random) -> bytes:
    """An input made of the target's words."""
    words = WORDS[target]
    parts = []
    for _ in range(rng.randint(1, 40)):
        kind = rng.random()
        if kind < 0.7:
            parts.append(rng.choice(words))
        elif kind < 0.8:
            parts.append(rng.choice(words) * rng.randint(2, 50))
        else:
            parts.append(rng.randbytes(rng.randint(1, 6)))
        parts.append(rng.choice((b"", b"", b" ", b"\n")))
    return b"".join(parts)


def seeds(target: str) -> list[bytes]:
    """The inputs of the conformance data, those without data too; never none."""
    found = [seed for seed in _SEEDS[target]() if len(seed) <= MAX_SEED_BYTES]
    return found or [b"".join(WORDS[target])]


def _files(pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "data").glob(pattern)) if path.is_file()]


def _pages() -> list[bytes]:
    tests = (json.loads(text).get("tests", ()) for text in _files("html/tokenizer/test[1-4].test"))
    inputs = [case["input"].encode("utf-8", "replace") for cases in tests for case in cases]
    return _files("links/*/*.html") + inputs[::4]


def _urls() -> list[bytes]:
    found = []
    for text in _files("url/urltestdata.json"):
        for case in json.loads(text):
            if isinstance(case, dict):
                pair = (case["input"], case["base"] or "")
                found.append("\n".join(pair).encode("utf-8", "replace"))
    for name in ("toascii", "IdnaTestV2"):
        for text in _files(f"url/{name}.json"):
            cases = [case["input"] for case in json.loads(text) if isinstance(case, dict)]
            found += [f"http://{host}/".encode("utf-8", "replace") for host in cases[::5]]
    return found


def _encodings() -> list[bytes]:
    blocks = [part for text in _files("html/encoding/*.dat") for part in text.split(b"#data\n")[1:]]
    return [b"\n" + block.partition(b"\n#encoding")[0] for block in blocks] + [
        b"text/html; charset=koi8-r\n" + page for page in _files("links/hand/cs-*.html")
    ]


def _sitemaps() -> list[bytes]:
    url = b"<url><loc>http://a.test/?x=1&amp;y</loc><image:loc>http://a.test/i</image:loc></url>"
    return [
        b"<?xml version='1.0'?><urlset xmlns='x'>" + url * 3 + b"</urlset>",
        b"<sitemapindex><sitemap><loc>http://a.test/2.xml</loc></sitemap></sitemapindex>",
        b"<rss><channel><item><link>/1</link><guid>http://a.test/2</guid></item></channel></rss>",
        b"<feed xml:base='/x/'><entry><link href='1' rel='alternate'/></entry></feed>",
        b"<!DOCTYPE x [<!ENTITY a '&b;'>]><rdf:RDF><link><![CDATA[http://a/]]></link></rdf:RDF>",
        b"http://a.test/1\r\nhttps://a.test/2\n",
    ]


def _whole_pages() -> list[bytes]:
    head = b'Content-Type: text/html; charset=utf-8\r\nETag: "x"\n\n'
    return [head + page for page in _files("links/*/*.html")]


def _bodies() -> list[bytes]:
    makers: list[Callable[[bytes], bytes]] = [
        gzip.compress, zlib.compress, brotli.compress, zstandard.compress,
        lambda text: gzip.compress(zlib.compress(text)),
        lambda text: brotli.compress(gzip.compress(text)),
        lambda text: gzip.compress(zstandard.compress(text)),
        lambda text: zlib.compress(text)[2:-4],
        lambda text: gzip.compress(text) * 2, lambda text: zstandard.compress(text) * 2,
        lambda text: text,
    ]  # fmt: skip
    which = [0, 1, 2, 3, 4, 5, 6, 1, 0, 3, 0]
    return [
        bytes([number]) + make(text)
        for number, make in zip(which, makers, strict=True)
        for text in _PLAIN
    ]


_SEEDS: Final[dict[str, Callable[[], list[bytes]]]] = {
    "scanner": _pages,
    "url": _urls,
    "charset": _encodings,
    "robots": lambda: _files("robots/files/*.txt"),
    "sitemaps": _sitemaps,
    "pages": _whole_pages,
    "decode": _bodies,
}
