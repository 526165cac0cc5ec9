"""``larbinpy robots URL``: the verdict of a crawl, from a server's answer."""

from __future__ import annotations

import gzip
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from larbinpy.cli import main
from larbinpy.testing.scripts import response
from larbinpy.testing.servers import Silent
from tests.politeness.hosts import Asked, Hosts, no_robots, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., tuple[int, list[str]]]

HOST = "127.0.0.2"
OTHER = "127.0.0.3"
RULES = """User-agent: *
Disallow: /

User-agent: larbin
Crawl-delay: 60
Disallow: /private   # not for robots
Sitemap: http://a.test/map.xml
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command with a larbin.conf in the current directory."""
    monkeypatch.chdir(tmp_path)

    def with_keys(*words: str, **keys: str) -> tuple[int, list[str]]:
        given = {"From": "me@a.test", "UserAgent": '"larbin/1.0"', "waitDuration": "0", **keys}
        (tmp_path / "larbin.conf").write_text("".join(f"{k} {v}\n" for k, v in given.items()))
        code = main(["robots", *words])
        printed = capfd.readouterr()
        return code, (printed.out + printed.err).splitlines()

    return with_keys


def moved(place: str) -> bytes:
    return page(status="301 Moved", fields=f"Location: {place}\r\n")


def test_the_verdict_is_explained(run: Run) -> None:
    """By the line, its group, and what else the file says to us."""
    with Hosts(lambda _: page(RULES, kind="plain")) as hosts:
        url = hosts.url(HOST, "/private/x?y")
        assert run(url, maxCrawlDelay="30") == (
            0,
            [
                f"disallowed\t6\t{url}",
                f"  robots.txt: {hosts.url(HOST, '/robots.txt')} (status 200, {len(RULES)} bytes)",
                "  line 6: Disallow: /private   # not for robots",
                "  User-agent: larbin",
                "  Crawl-delay: 60, shortened to 30 (maxCrawlDelay)",
                "  Sitemap: http://a.test/map.xml",
            ],
        )


def test_urls_of_one_origin_share_one_request(run: Run) -> None:
    """No line decides about the first; for another agent there is another group."""
    with Hosts(lambda _: page(RULES, kind="plain")) as hosts:
        urls = [hosts.url(HOST, "/a"), hosts.url(HOST, "/private")]
        code, lines = run(*urls)
        assert code == 0
        assert [line for line in lines if line[0] != " "] == [
            f"allowed\t0\t{urls[0]}", f"disallowed\t6\t{urls[1]}",
        ]  # fmt: skip
        assert [(asked.host, asked.path) for asked in hosts.asked] == [(HOST, "/robots.txt")]
        _, lines = run("--agent", "other/2", urls[0])
        assert (lines[0], lines[3]) == (f"disallowed\t2\t{urls[0]}", "  User-agent: *")


def test_a_file_that_lies_elsewhere_counts_for_the_host_that_was_asked(run: Run) -> None:
    """The answer says where it was; the other host needs the leave that a link to it needs."""

    def answer(asked: Asked) -> bytes:
        if asked.host == HOST:
            return moved(f"http://{OTHER}:{hosts.port}/rules")
        return page("User-agent: *\nDisallow: /a", kind="plain")

    with Hosts(answer) as hosts:
        url = hosts.url(HOST, "/a")
        _, lines = run(url, allowPrivateAddresses="")
        assert lines[0] == f"disallowed\t2\t{url}"
        assert lines[1] == f"  robots.txt: {hosts.url(OTHER, '/rules')} (status 200, 26 bytes)"
        before = len(hosts.of(OTHER))
        _, lines = run(url)
        assert lines[0] == f"disallowed\t0\t{url}"
        assert "not a public address, nothing may be asked" in lines[1]
        assert len(hosts.of(OTHER)) == before


@pytest.mark.parametrize(
    ("answer", "verdict", "said"),
    [
        (no_robots(), "allowed", "status 404, no rules"),
        (page(RULES, status="503 Busy"), "disallowed", "status 503, nothing may be asked until"),
        (page(RULES, status="429 Slow down"), "disallowed", "status 429, nothing may be asked"),
        (None, "disallowed", "no answer, "),
        (moved("/again"), "allowed", "status 301, moved to where we do not follow, no rules"),
        (moved("file:///etc/passwd"), "allowed", "status 301, moved to where we do not follow"),
        (
            page("User-agent: *\nDisallow: /", fields="Content-Encoding: rot13\r\n"),
            "disallowed",
            "status 200, badType, nothing may be asked until it can be read",
        ),
        (page(""), "allowed", "status 200, no rules"),
    ],
)
def test_what_an_answer_means(run: Run, answer: bytes | None, verdict: str, said: str) -> None:
    """As for a crawl: RFC 9309, section 2.3.1."""
    with Hosts(lambda _: answer) as hosts:
        url = hosts.url(HOST, "/a")
        code, lines = run(url)
    assert (code, lines[0]) == (0, f"{verdict}\t0\t{url}")
    assert said in lines[1]


def test_packed_rules_are_read(run: Run) -> None:
    """In an encoding that we ask for."""

    def answer(_: Asked) -> bytes:
        return response(gzip.compress(RULES.encode()), fields=b"Content-Encoding: gzip\r\n")

    with Hosts(answer) as hosts:
        assert run(hosts.url(HOST, "/private"))[1][0].startswith("disallowed\t6\t")


def test_the_next_address_of_a_host_is_asked(run: Run, tmp_path: Path) -> None:
    """When the first takes no connection."""
    (tmp_path / "hosts").write_text("127.0.0.7 h.test\n127.0.0.1 h.test\n")
    with Silent() as nobody:
        _, lines = run(f"http://h.test:{nobody.port}/", hostsFile="hosts", connectTimeout="300ms")
    assert "(no answer, " in lines[1]
    with Hosts(lambda _: page(RULES)) as hosts:
        _, lines = run(f"http://h.test:{hosts.port}/private", hostsFile="hosts")
    assert lines[0].startswith("disallowed\t6\t")


def test_names_without_an_address(run: Run) -> None:
    """Such a host has no rules that anybody could know."""
    _, lines = run("http://nobody.invalid/x")
    assert lines[0] == "disallowed\t0\thttp://nobody.invalid/x"
    assert "(no answer, its name has no address, nothing may be asked" in lines[1]


def test_our_own_delays_are_kept(run: Run) -> None:
    """Between the requests to a host, and between those to an address."""
    wait_s = 0.2
    places = iter(["/1", "/2", "http://localhost:%d/3", "/4"])

    def answer(_: Asked) -> bytes:
        place = next(places, "")
        return moved(place.replace("%d", str(hosts.port))) if place else no_robots()

    with Hosts(answer) as hosts:
        url = hosts.url("127.0.0.1")
        _, lines = run(url, waitDuration=f"{wait_s}", allowPrivateAddresses="")
        times = [asked.time for asked in hosts.asked]
    assert (len(times), lines[0]) == (5, f"allowed\t0\t{url}")
    late_s = wait_s / 2  # a busy machine may tell the server of a request so much later
    assert min(after - before for before, after in pairwise(times)) >= wait_s - late_s


def test_who_asks(run: Run) -> None:
    """Nobody asks the web anonymously; on this machine anybody may."""
    code, lines = run("http://a.test/x", From="larbin@unspecified.mail")
    assert (code, len(lines)) == (2, 1)
    assert lines[0].startswith("larbinpy: http://a.test/x: no contact: set From")
    with Hosts(lambda _: no_robots()) as hosts:
        assert run(hosts.url(HOST), From="larbin@unspecified.mail")[0] == 0


def test_what_the_web_says_does_nothing_to_a_terminal(run: Run) -> None:
    """Control characters are shown as escapes, long lines are cut, many sitemaps counted."""
    bad = "User-agent: *\nDisallow: /\x1b[31m\u202ex" + "y" * 500
    text = bad.encode() + b"\xff\n" + b"Sitemap: s\n" * 30
    with Hosts(lambda _: response(text)) as hosts:
        _, lines = run(hosts.url(HOST, "/a"))
    assert not [line for line in lines if not line.replace("\t", "").isprintable()]
    assert lines[-1] == "  and 10 more sitemaps"


def test_a_crawl_that_asks_nobody(run: Run) -> None:
    """``ignoreRobots``."""
    with Hosts(lambda _: no_robots()) as hosts:
        _, lines = run(hosts.url(HOST), ignoreRobots="")
    assert lines[-1] == "  ignoreRobots: a crawl would not ask"


@pytest.mark.parametrize(
    ("word", "fault"),
    [
        ("/a", "'/a' is not a URL: a path needs --file FILE"),
        ("ftp://a.test/", "'ftp://a.test/' is not an http or https URL"),
        ("http://[/", "'http://[/' is not an http or https URL"),
    ],
)
def test_what_is_no_url(run: Run, word: str, fault: str) -> None:
    """One line, and 2."""
    assert run(word) == (2, [f"larbinpy: {fault}"])
