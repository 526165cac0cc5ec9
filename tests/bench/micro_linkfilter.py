"""The link filter: kernel beside the reference, for pages of 30 links with URLs of 57 bytes.

Workloads: 100 pages whose links are all new (every fifth leads to another host), to 1 and to 8
shards; the same with all links written before; forty forbidden extensions.

Command: python -m tests.bench.micro_linkfilter
"""

from __future__ import annotations

from typing import Any

from larbinpy._native import linkfilter as native
from tests.bench.measure import compare
from tests.reference import linkfilter as plain
from tests.reference.linkbuffers import resolved

PAGES = 100
LINKS = 30
FORBIDDEN = (
    b".tar .gz .tgz .zip .z .rpm .deb .ps .dvi .pdf .png .jpg .jpeg .bmp .smi .tiff .gif .mov .avi "
    b".mpeg .mpg .mp3 .qt .wav .ram .rm .jar .java .class .diff .doc .xls .ppt .mdb .rtf .exe .pps "
    b".so .psd .css"
).split()


def domain_of(host: bytes) -> bytes:
    """The last two labels."""
    return b".".join(host.split(b".")[-2:])


def page(number: int) -> bytes:
    """The resolved links of a page."""
    return b"".join(
        resolved(
            b"http://www.host%04d.example.org/dir%03d/sub/page%05d.html"
            % ((number + (i if i % 5 == 0 else 0)) % PAGES, i, number * LINKS + i)
        ).pack()
        for i in range(LINKS)
    )


def run_all(known: native.LinkFilter | plain.LinkFilter, pages: list[bytes]) -> None:
    """Filter all pages."""
    for number, links in enumerate(pages):
        known.run(links, host=b"www.host%04d.example.org" % number, depth=1, left=4)


def main() -> None:
    """Print all comparisons."""
    pages = [page(number) for number in range(PAGES)]
    for shards, is_written in ((1, False), (8, False), (1, True)):
        settings: dict[str, Any] = {  # Any: the keywords of LinkFilter, of several types
            "key": bytes(16), "shards": shards, "domain_of": domain_of, "cgi": False,
            "external": True, "depth_by_site": False, "depth_in_site": 5, "images": False,
            "rels": True, "forbidden": FORBIDDEN, "priority": (), "domains": (), "sites": None,
            "links_per_page": 50_000, "reverse": False, "path_segments": 20,
            "segment_repeats": 4, "query_parameters": 10, "query_bytes": 512,
        }  # fmt: skip
        kernel, reference = native.LinkFilter(**settings), plain.LinkFilter(**settings)
        if is_written:
            for links in pages:
                batch = kernel.run(links, host=b"", depth=1, left=4)
                kernel.written(b"".join(batch.fingerprints))
                reference.written(b"".join(batch.fingerprints))
        compare(
            f"pages of 30 links, {shards} shards{', all written before' if is_written else ''}",
            {
                "kernel": lambda k=kernel: run_all(k, pages),  # type: ignore[misc]
                "reference": lambda r=reference: run_all(r, pages),  # type: ignore[misc]
            },
            items=PAGES,
        )


if __name__ == "__main__":
    main()
