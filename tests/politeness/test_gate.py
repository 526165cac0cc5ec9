"""What follows from an origin's robots.txt, its absence, and its failure."""

from __future__ import annotations

import pytest

from larbinpy.politeness.gate import DAY_NS, MAX_REDIRECTS, RETRY_NS, Asked, Gate, Verdict, moved_to
from larbinpy.records import FetchJob, Kind
from larbinpy.url import Url, parse

ORIGIN = b"http://a.org:80"
OTHER = b"http://b.org:80"
NOW = 10**12
FORBID_A = b"User-agent: larbinpy\nDisallow: /a\n"
FORBID_ALL = b"User-agent: *\nDisallow: /\n"

A = b"/a"
B = b"/b"


@pytest.fixture
def gate() -> Gate:
    """A gate that knows nothing."""
    return Gate(b"larbinpy")


def job(url: bytes = b"http://a.org/a?q") -> FetchJob:
    """A page of ``a.org``."""
    return FetchJob(
        7, url, b"a.org", 80, https=False, host_id=3, depth=2, hops=1, via=b"v", tag=b"t",
        position=9,
    )  # fmt: skip


def at(url: bytes) -> Url:
    """A URL, parsed."""
    found = parse(url)
    assert found is not None
    return found


def test_nothing_is_allowed_before_the_rules_are_known(gate: Gate) -> None:
    """They must be asked for first."""
    assert gate.ask(ORIGIN, A, NOW) is Verdict.UNKNOWN


@pytest.mark.parametrize("status", [200, 204, 299])
def test_a_file_decides(gate: Gate, status: int) -> None:
    """For its origin alone."""
    gate.learn(ORIGIN, status, FORBID_A, NOW)
    assert gate.ask(ORIGIN, A, NOW) is Verdict.FORBIDDEN
    assert gate.ask(ORIGIN, B, NOW) is Verdict.ALLOWED
    assert gate.ask(OTHER, A, NOW) is Verdict.UNKNOWN
    assert (gate.seen, gate.good) == (1, 1)


@pytest.mark.parametrize("status", [301, 304, 400, 401, 403, 404, 410, 451])
def test_no_file_allows_everything(gate: Gate, status: int) -> None:
    """Whatever the body says."""
    gate.learn(ORIGIN, status, FORBID_ALL, NOW)
    assert gate.ask(ORIGIN, A, NOW) is Verdict.ALLOWED
    assert (gate.seen, gate.good) == (1, 0)


@pytest.mark.parametrize("status", [0, 429, 500, 502, 503, 599])
def test_a_failure_allows_nothing(gate: Gate, status: int) -> None:
    """apify/crawlee-python#2065, NUTCH-3011: no answer, 429 and 5xx are never "allow"."""
    assert gate.learn(ORIGIN, status, b"<p>sorry", NOW) is None
    assert gate.ask(ORIGIN, A, NOW) is Verdict.UNKNOWN
    assert (gate.seen, gate.good) == (1, 0)


@pytest.mark.parametrize("status", [0, 429, 503])
def test_old_rules_stand_in_for_a_file_that_cannot_be_read(gate: Gate, status: int) -> None:
    """RFC 9309, 2.4: for a day more, while it is asked for more and more seldom."""
    gate.learn(ORIGIN, 200, FORBID_A, NOW)
    later = NOW + DAY_NS
    waits: list[int] = []
    while gate.learn(ORIGIN, status, b"", later):
        assert gate.ask(ORIGIN, A, later) is Verdict.FORBIDDEN
        assert gate.ask(ORIGIN, B, later) is Verdict.ALLOWED
        waits.append(RETRY_NS << len(waits))
        assert gate.ask(ORIGIN, B, min(later + waits[-1], NOW + 2 * DAY_NS)) is Verdict.UNKNOWN
        later += waits[-1]
    assert later >= NOW + 2 * DAY_NS
    assert gate.ask(ORIGIN, B, later) is Verdict.UNKNOWN


def test_a_file_that_moved_loses_no_rules_that_stand_in(gate: Gate) -> None:
    """Where it moved to cannot be read: the old rules hold, and the first place is asked again."""
    gate.learn(ORIGIN, 200, FORBID_A, NOW)
    later = NOW + DAY_NS
    gate.redirect(ORIGIN, at(b"http://b.org/r.txt"), later, is_elsewhere=True)
    assert gate.ask(ORIGIN, A, later) is Verdict.ASKED
    assert gate.learn(ORIGIN, 503, b"", later)
    assert [gate.ask(ORIGIN, path, later) for path in (A, B)] == [
        Verdict.FORBIDDEN, Verdict.ALLOWED,
    ]  # fmt: skip
    assert gate.ask(ORIGIN, A, later + RETRY_NS) is Verdict.UNKNOWN
    assert gate.job(job(), 99).url == b"http://a.org/robots.txt"


def test_an_answer_ends_a_row_of_failures(gate: Gate) -> None:
    """The next failure is followed by a short time again."""
    gate.learn(ORIGIN, 200, FORBID_A, NOW)
    for _ in range(5):
        gate.learn(ORIGIN, 503, b"", NOW)
    gate.learn(ORIGIN, 404, b"", NOW)
    gate.learn(ORIGIN, 503, b"", NOW)
    assert gate.ask(ORIGIN, A, NOW + RETRY_NS - 1) is Verdict.ALLOWED
    assert gate.ask(ORIGIN, A, NOW + RETRY_NS) is Verdict.UNKNOWN


def test_crawl_delay_is_that_of_the_host(gate: Gate) -> None:
    """0 where nothing is asked for or known; of several origins the slowest one holds for all."""
    rules = b"User-agent: *\nCrawl-delay: %d\n"
    gate.learn(OTHER, 200, FORBID_A, NOW)
    assert [gate.crawl_delay_s(host) for host in (b"a.org", b"b.org")] == [0.0, 0.0]
    port, tls = b"http://a.org:8080", b"https://a.org:443"
    learnt = [(ORIGIN, rules % 7), (port, FORBID_A), (tls, rules % 9)]
    learnt += [(tls, rules % 3), (ORIGIN, b""), (tls, b"")]
    delays = []
    for origin, text in learnt:
        gate.learn(origin, 200, text, NOW)
        delays.append(gate.crawl_delay_s(b"a.org"))
    assert delays == [7.0, 7.0, 9.0, 7.0, 3.0, 0.0]


@pytest.mark.parametrize("status", [200, 404])
def test_what_is_known_is_asked_again_after_a_day(gate: Gate, status: int) -> None:
    """A file may have changed, or come."""
    gate.learn(ORIGIN, status, FORBID_A, NOW)
    assert gate.ask(ORIGIN, B, NOW + DAY_NS - 1) is Verdict.ALLOWED
    assert gate.ask(ORIGIN, B, NOW + DAY_NS) is Verdict.UNKNOWN


def test_an_open_gate_asks_nothing() -> None:
    """rockdaboot/wget2#358: ``ignoreRobots``, even where rules forbid."""
    gate = Gate(b"larbinpy", is_open=True)
    assert gate.ask(ORIGIN, A, NOW) is Verdict.ALLOWED
    gate.learn(ORIGIN, 200, FORBID_ALL, NOW)
    assert gate.ask(ORIGIN, A, NOW) is Verdict.ALLOWED


def test_the_request_for_rules_is_the_jobs_host_and_no_page(gate: Gate) -> None:
    """It carries the origin as its tag and stands in no log."""
    request = gate.job(job(), 99)
    assert (request.id, request.url, request.kind) == (99, b"http://a.org/robots.txt", Kind.ROBOTS)
    assert (request.host, request.port, request.host_id) == (b"a.org", 80, 3)
    assert (request.tag, request.via, request.hops, request.position) == (ORIGIN, b"", 0, 0)


def test_the_port_of_a_url_is_kept(gate: Gate) -> None:
    """Each origin has its own file."""
    request = gate.job(job(b"http://a.org:8080/x/y"), 99)
    assert request.url == b"http://a.org:8080/robots.txt"


def test_a_redirect_is_asked_where_it_leads(gate: Gate) -> None:
    """NUTCH-2581: and what is read there are the rules of the origin that was asked for."""
    gate.redirect(ORIGIN, at(b"https://a.org/r.txt"), NOW)
    assert gate.ask(ORIGIN, A, NOW) is Verdict.UNKNOWN
    request = gate.job(job(), 99)
    assert (request.url, request.tag) == (b"https://a.org/r.txt", ORIGIN)
    assert (request.host, request.port, request.https) == (b"a.org", 443, True)
    gate.learn(ORIGIN, 200, FORBID_A, NOW)
    assert gate.ask(ORIGIN, A, NOW) is Verdict.FORBIDDEN
    assert gate.job(job(), 99).url == b"http://a.org/robots.txt"


def test_rules_on_another_host_belong_to_the_one_that_was_asked(gate: Gate) -> None:
    """While they are asked for, nothing else is."""
    assert gate.redirect(ORIGIN, at(b"http://b.org/r.txt"), NOW, is_elsewhere=True)
    assert gate.ask(ORIGIN, A, NOW) is Verdict.ASKED
    gate.learn(ORIGIN, 200, FORBID_A, NOW)
    assert gate.ask(ORIGIN, A, NOW) is Verdict.FORBIDDEN
    assert gate.ask(OTHER, A, NOW) is Verdict.UNKNOWN
    assert gate.job(job(), 99).url == b"http://a.org/robots.txt"


def test_five_redirects_are_followed_and_no_more(gate: Gate) -> None:
    """NUTCH-2990, ArchiveTeam/wpull#58: a loop ends as if there were no file."""
    for number in range(MAX_REDIRECTS):
        gate.redirect(ORIGIN, at(b"http://a.org/%d" % number), NOW)
        assert gate.ask(ORIGIN, A, NOW) is Verdict.UNKNOWN
    gate.redirect(ORIGIN, at(b"http://a.org/5"), NOW)
    assert gate.ask(ORIGIN, A, NOW) is Verdict.ALLOWED
    gate.redirect(ORIGIN, at(b"http://a.org/0"), NOW + DAY_NS)
    assert gate.ask(ORIGIN, A, NOW + DAY_NS) is Verdict.UNKNOWN


def test_a_redirect_to_where_we_do_not_follow_is_no_file(gate: Gate) -> None:
    """Everything is allowed."""
    gate.redirect(ORIGIN, None, NOW)
    assert gate.ask(ORIGIN, A, NOW) is Verdict.ALLOWED
    assert (gate.seen, gate.good) == (1, 0)


def test_a_redirect_without_a_place_leads_nowhere() -> None:
    """A 304, or a 301 that says no more: asking again would bring the same."""
    assert moved_to(b"", b"http://a.org/robots.txt") is None
    assert moved_to(b"http://[", b"http://a.org/robots.txt") is None
    assert moved_to(b"b", b"http://a.org/robots.txt") == at(b"http://a.org/b")


def test_an_answer_is_taken_once(gate: Gate) -> None:
    """A page that is parsed again after a crash brings the same rules; its host is free since."""
    request = gate.job(job(), 99)
    assert gate.take_asked(ORIGIN) is None
    gate.answered(request, 5, 6)
    assert gate.take_asked(OTHER) is None
    assert gate.take_asked(ORIGIN) == Asked(3, 5, 6)
    assert gate.take_asked(ORIGIN) is None
