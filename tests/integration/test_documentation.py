"""A crawl of real documentation asks for what ``wget2 -r -l inf`` asks for; see docs/wget2.md."""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.differences import differences
from tests.integration.crawl import Crawl
from tests.integration.nginx import Asked, Nginx
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENTATION: Final = {
    # Debian package -> (its pages, a directory of them that robots.txt forbids)
    "python3-doc": (Path("/usr/share/doc/python3-doc/html"), "/distutils/"),
    "valgrind": (Path("/usr/share/doc/valgrind/html"), "/images/"),
}
WGET_CODES: Final = (0, 8)
"""8: the server answered some request with an error, as it does for a dead link."""
_HREF: Final = re.compile(rb"""\shref\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_SHOWN: Final = ("image/", "font/", "text/css", "application/javascript")


@dataclass(frozen=True, slots=True)
class Site:
    """What is needed to explain a difference."""

    linked: frozenset[str]
    """Paths that a ``href`` of a page names."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Why only one of the two asks for something; the table in docs/wget2.md."""

    text: str
    only: str
    explains: Callable[[Asked, Site], bool]


RULES: Final = (
    Rule(
        "wget2 also asks for what a page needs to be shown, which no href names",
        only="wget2",
        explains=lambda asked, site: (
            asked.mime.startswith(_SHOWN) and asked.path not in site.linked
        ),
    ),
)


def wget2(url: str, directory: Path) -> None:
    """Fetch everything below a URL, and keep what is written under ``directory``."""
    program = shutil.which("wget2")
    if program is None:
        pytest.skip("wget2 is not installed")
    ended = subprocess.run(
        [program, "--no-config", "-q", "-r", "-l", "inf", "-P", str(directory), url],
        cwd=directory,
        env={"HOME": str(directory), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode in WGET_CODES, ended.stderr


def larbinpy(url: str, directory: Path) -> Crawl:
    """Crawl the same with the same scope."""
    crawl = Crawl(
        directory,
        {
            "From": "operator@web.test",
            "stateDir": str(directory / "crawl"),
            "allowPrivateAddresses": "",
            "waitDuration": "0",
            "depthInSite": "1000",
            "noExternalLinks": "",
            "getCGI": "",
        },
    )
    ended = crawl.run(url)
    assert ended.code == 0, ended.stderr
    return crawl


def read_site(root: Path, paths: list[str]) -> Site:
    """The targets of all ``href`` of the pages at these paths."""
    linked: set[str] = set()
    for path in paths:
        file = root / path.lstrip("/")
        text = (file / "index.html" if path.endswith("/") else file).read_bytes()
        for href in set(_HREF.findall(text)):
            target = href.decode("ascii", "replace").partition("#")[0].partition("?")[0]
            joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            linked.add(joined)
    return Site(frozenset(linked))


def explained(asked: Asked, only: str, site: Site) -> bool:
    """Whether a rule says why only one of the two asked for this."""
    return any(rule.only == only and rule.explains(asked, site) for rule in RULES)


@pytest.mark.parametrize(
    "package", ["python3-doc", pytest.param("valgrind", marks=pytest.mark.slow)]
)
def test_the_pages_are_those_of_wget2(tmp_path: Path, package: str) -> None:
    """Each once, errors and files that are no pages included; a difference has a rule."""
    root, forbidden = DOCUMENTATION[package]
    if not (root / "index.html").exists():
        pytest.skip(f"no documentation at {root}: {package} is not installed")
    robots = f"User-agent: *\nDisallow: {forbidden}\n"
    with Nginx(root, tmp_path / "nginx", robots=robots) as server:
        url = f"http://127.0.0.1:{server.port}/"
        wget2(url, tmp_path)
        crawl = larbinpy(url, tmp_path)
    everything = server.asked()
    ours = [asked for asked in everything if "larbin" in asked.agent]
    theirs = [asked for asked in everything if "larbin" not in asked.agent]
    assert set(Counter(asked.path for asked in ours).values()) == {1}
    pages = [a.path for a in ours if (a.status, a.mime) == (200, "text/html")]
    site = read_site(root, pages)
    only_ours = {a.path: a for a in ours if a.path not in {b.path for b in theirs}}
    only_theirs = {a.path: a for a in theirs if a.path not in {b.path for b in ours}}
    assert [a for a in only_ours.values() if not explained(a, "larbinpy", site)] == []
    assert [a for a in only_theirs.values() if not explained(a, "wget2", site)] == []
    assert not any(a.path.startswith(forbidden) for a in everything)
    assert differences(crawl.urls("success"), (f"{url[:-1]}{p}".encode() for p in pages)) == []
    assert len(pages) > 10
