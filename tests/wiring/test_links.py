"""Each key of links reaches its rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from larbinpy import url as urls
from larbinpy import wiring
from larbinpy.links.found import ELEMENT_SEED, LINK_SEED, found_link
from larbinpy.records import Filtered
from larbinpy.stateparts import SUFFIX_LIST
from larbinpy.url import psl_bytes
from tests.starts import start

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.wiring import Start


def filtered(start_: Start, url: bytes, flags: int = 0) -> dict[int, int]:
    """Why a link of ``a.test`` is refused."""
    found = found_link(ELEMENT_SEED if flags else 1, url)
    resolved = urls.resolve(urls.Base(b"http://a.test/"), found)
    batch = wiring.make_links(start_).run(resolved, host=b"a.test", depth=0, left=1, flags=flags)
    return dict(batch.filtered)


@pytest.mark.parametrize(
    ("keys", "url", "reason"),
    [
        ({}, b"http://b.test/x", None),
        ({}, b"/x?q", Filtered.CGI),
        ({"get_cgi": True}, b"/x?q", None),
        ({"no_external_links": True}, b"http://b.test/", Filtered.OUT_SITE),
        ({"limit_to_domain": (b"b.test",)}, b"/x", Filtered.OUT_SITE),
        ({"forbidden_extensions": (b".zip",)}, b"/x.zip", Filtered.EXTENSION),
        ({"lock_site": True}, b"http://b.test/", Filtered.OUT_SITE),
        ({"scope": "host"}, b"http://www.a.test/", Filtered.OUT_SITE),
        ({"scope": "host"}, b"/x", None),
        ({"scope": "domain"}, b"http://www.a.test/", None),
        ({"scope": "domain"}, b"http://b.test/", Filtered.OUT_SITE),
        ({"scope": "domain", "lock_site": True}, b"http://www.a.test/", Filtered.OUT_SITE),
        ({"include": (b"/d/",)}, b"/d/x", None),
        ({"include": (b"/d/",)}, b"/x", Filtered.NOT_INCLUDED),
        ({"exclude": (b"x$",)}, b"/d/x", Filtered.EXCLUDED),
        ({"scope": "prefix"}, b"/d/x", None),
        ({"scope": "prefix"}, b"/x", Filtered.OUT_SITE),
    ],
)
def test_keys_of_the_filter(
    tmp_path: Path, keys: dict[str, Any], url: bytes, reason: int | None
) -> None:
    """Each key reaches the rule that it names."""
    (tmp_path / SUFFIX_LIST).write_bytes(psl_bytes())
    wiring.write_sites(tmp_path, {b"a.test/d/"})
    expected = {} if reason is None else {reason: 1}
    assert filtered(start(tmp_path, **keys), url) == expected


def test_seeds_pass_a_filter_of_their_sites(tmp_path: Path) -> None:
    """``lockSite`` does not refuse what it was made of."""
    wiring.write_sites(tmp_path, {b"b.test/"})
    assert filtered(start(tmp_path, lock_site=True), b"http://b.test/", LINK_SEED) == {}
