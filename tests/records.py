"""Jobs, results and pages for tests, in short."""

from __future__ import annotations

from typing import Any

from larbinpy.records import FetchJob, FetchResult, Kind, Outcome, Page

URL = b"http://a.test/"
HTML = b"Content-Type: text/html\r\n\r\n"
UTF8 = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
"""The head of a page that may be plain."""


def job(page_id: int = 1, url: bytes = URL, **more: Any) -> FetchJob:  # Any: fields of a FetchJob
    """A request for a URL."""
    return FetchJob(page_id, url, url.split(b"/")[2], 80, https=False, **more)


def result(page_id: int = 1, body: bytes = b"", **more: Any) -> FetchResult:
    """What came of a request; it went well."""
    fields = {"status": 200, "headers": HTML, "body": body, **more}
    return FetchResult(job(page_id), fields.pop("outcome", Outcome.SUCCESS), **fields)


def page(url: bytes = URL, body: bytes | memoryview = b"", **more: Any) -> Page:
    """A page as a parser gets it; the parser decides."""
    fields: dict[str, Any] = {
        "id": 1,
        "epoch": 1,
        "attempt": 0,
        "kind": Kind.PAGE,
        "outcome": Outcome.SUCCESS,
        "flags": 0,
        "status": 200,
        "depth": 0,
        "left": 5,
        "level": 0,
        "hops": 0,
        "score": 0.0,
        "relevance": 0.0,
        "start_us": 0,
        "duration_us": 0,
        "ip": b"\x7f\0\0\1",
        "url": url,
        "via": b"",
        "tag": b"",
        "reason": b"",
        "headers": HTML,
        "body": body,
    }
    return Page(**{**fields, **more})
