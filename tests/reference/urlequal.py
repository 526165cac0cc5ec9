"""What ``ext/urlequal.h`` must make of a normalised URL, step by step."""

from __future__ import annotations

import re

from larbinpy.url import Equal

SESSIONS = re.compile(
    rb"(?:jsessionid|phpsessid|aspsessionid[^=]*|asp\.net_sessionid|cfid|cftoken|oscsid|zenid"
    rb"|sessionid|session_id|sessid)(?:=.*)?|sid=[0-9a-z]{16,}",
    re.IGNORECASE | re.DOTALL,
)
TRACKING = re.compile(
    rb"(?:utm_[^=]*|mtm_[^=]*|gclid|gclsrc|dclid|gbraid|wbraid|srsltid|_ga|_gl|fbclid|igshid"
    rb"|msclkid|yclid|ysclid|_openstat|twclid|ttclid|li_fat_id|epik|mc_cid|mc_eid|mkt_tok|vero_id"
    rb"|oly_anon_id|oly_enc_id|_hsenc|_hsmi|wickedid|irclickid)(?:=.*)?",
    re.IGNORECASE | re.DOTALL,
)
INDEX = re.compile(
    rb"(?<=/)(?:index\.(?:html|htm|php|asp|aspx|jsp)|default\.(?:html|htm|asp|aspx))\Z",
    re.IGNORECASE,
)


def equal_url(url: bytes, equal: Equal) -> bytes:
    """The URL that stands for all that are taken for this one."""
    head, path, query = re.fullmatch(rb"(https?://[^/]*)(/[^?]*)(\?.*)?", url, re.DOTALL).groups()  # type: ignore[union-attr]
    query = new_query(query, equal) if query else b""
    if Equal.DROP_SESSIONS in equal:
        path = b"/".join(map(without_sessions, path.split(b"/")))
    before = b""
    while path != before:
        before = path
        if Equal.SLASH in equal:
            path = path.rstrip(b"/") or b"/"
        if Equal.INDEX in equal and not query:
            path = INDEX.sub(b"", path)
    return bytes(head + path + query)


def new_query(query: bytes, equal: Equal) -> bytes:
    parameters = query[1:].split(b"&")
    if Equal.DROP_SESSIONS in equal:
        parameters = [one for one in parameters if not SESSIONS.fullmatch(one)]
    if Equal.DROP_TRACKING in equal:
        parameters = [one for one in parameters if not TRACKING.fullmatch(one)]
    if Equal.SORT_QUERY in equal:
        parameters.sort(key=lambda one: one.split(b"=")[0])
    return b"?" + b"&".join(parameters) if parameters else b""


def without_sessions(segment: bytes) -> bytes:
    head, *pieces = segment.split(b";")
    if re.fullmatch(rb"(?:\.|%2e){1,2}", head, re.IGNORECASE):
        return segment
    return b";".join([head, *(piece for piece in pieces if not SESSIONS.fullmatch(piece))])
