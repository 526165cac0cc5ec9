"""How much is fetched of hosts, domains and directories."""

from __future__ import annotations

import json

import pytest

from larbinpy.frontier.budgets import Answer, Budgets, Limits, directory_of

HOST = b"www.a.org"
URL = b"http://www.a.org/x/1"
SAME = bytes(16)


def budgets(**limits: int) -> Budgets:
    """With domains of two labels."""
    return Budgets(Limits(**limits), lambda host: b".".join(host.split(b".")[-2:]))


def fetch(budget: Budgets, url: bytes, *, is_good: bool = True) -> str:
    """Fetch a URL if it may be; returns the name of what forbids it."""
    host = url.split(b"/")[2]
    answer, name = budget.ask(host, url)
    if answer is Answer.YES:
        budget.take(1, host, url)
        budget.settle(1, is_good=is_good)
    return name


def refused(budget: Budgets, url: bytes, count: int) -> list[str]:
    """What forbids the URLs with numbers for ``%d``."""
    return [fetch(budget, url % n) for n in range(count)]


def test_without_limits_all_is_allowed() -> None:
    """And nothing is remembered."""
    budget = budgets()
    assert set(refused(budget, b"http://www.a.org/%d", 1000)) == {""}


def test_pages_per_host() -> None:
    """Exactly so many good ones; other hosts have their own."""
    budget = budgets(per_host=3)
    assert refused(budget, b"http://www.a.org/%d", 5) == ["", "", "", "pagesPerHost",
                                                          "pagesPerHost"]  # fmt: skip
    assert refused(budget, b"http://b.org/%d", 3) == ["", "", ""]


def test_pages_per_domain() -> None:
    """Over its hosts."""
    budget = budgets(per_domain=3)
    assert refused(budget, b"http://h%d.a.org/", 4)[2:] == ["", "pagesPerDomain"]
    assert fetch(budget, b"http://b.org/") == ""


def test_pages_per_path() -> None:
    """Of a directory; a program's answers are all in one."""
    budget = budgets(per_path=2)
    assert refused(budget, b"http://a.org/x/%d", 3)[1:] == ["", "pagesPerPath"]
    assert refused(budget, b"http://a.org/y/%d", 3)[1:] == ["", "pagesPerPath"]
    assert refused(budget, b"http://a.org/cal?day=%d", 3)[1:] == ["", "pagesPerPath"]
    assert refused(budget, b"http://a.org/x/%d/", 3) == ["", "", ""]


def test_what_failed_uses_nothing_up() -> None:
    """Only good pages count."""
    budget = budgets(per_host=1)
    for _ in range(10):
        fetch(budget, URL, is_good=False)
    assert fetch(budget, URL) == ""
    assert fetch(budget, URL) == "pagesPerHost"


def test_a_budget_that_others_may_use_up_is_waited_for() -> None:
    """Nothing is refused for a page that then fails."""
    budget = budgets(per_host=1)
    budget.take(1, HOST, URL)
    assert budget.ask(HOST, URL) == (Answer.WAIT, "")
    budget.settle(1, is_good=False)
    assert budget.ask(HOST, URL) == (Answer.YES, "")
    budget.settle(99, is_good=True)
    assert budget.ask(HOST, URL) == (Answer.YES, "")


def test_new_hosts_of_a_domain() -> None:
    """Endless subdomains; those that were let in stay in."""
    budget = budgets(hosts_per_domain=2)
    assert refused(budget, b"http://h%d.a.org/", 4) == ["", "", "hostsPerDomain", "hostsPerDomain"]
    assert fetch(budget, b"http://h1.a.org/x") == ""
    assert fetch(budget, b"http://h1.b.org/x") == ""


def test_sitemaps_are_charged_to_who_names_them() -> None:
    """Whatever becomes of them, on whatever host they lie; pages cost nothing of it."""
    budget = budgets(sitemaps=2)
    for n in range(2):
        assert budget.ask(HOST, URL, named_by=b"a.org") == (Answer.YES, "")
        budget.take(n, HOST, URL, named_by=b"a.org")
    assert budget.ask(b"b.org", b"http://b.org/map", named_by=b"a.org") == (
        Answer.NO, "sitemapsPerHost"
    )  # fmt: skip
    assert budget.ask(HOST, URL, named_by=b"b.org") == (Answer.YES, "")
    assert budget.ask(HOST, URL) == (Answer.YES, "")
    unlimited = budgets()
    for n in range(9):
        unlimited.take(n, HOST, URL, named_by=HOST)
        assert unlimited.ask(HOST, URL, named_by=HOST) == (Answer.YES, "")


def test_a_restart_counts_the_sitemaps_that_answered() -> None:
    """By who names them; and no page, where pages are not limited."""
    lines = [
        json.dumps({"kind": kind, "url": url, "via": via, "status": status, "outcome": "success"},
                   separators=(",", ":")).encode() + b"\n"
        for kind, url, via, status in (
            ("sitemap", "http://a.org/1", "http://b.org/robots.txt", 200),
            ("sitemap", "http://a.org/2", None, 404),
            ("sitemap", "http://a.org/3", "http://a.org/2", None),
            ("sitemap", "http://c.org/4", "http://c.org/robots.txt", 200),
            ("page", "http://a.org/x", None, 200),
        )
    ]  # fmt: skip
    budget = budgets(sitemaps=1)
    budget.restore([*lines, lines[3][:-1]], lambda host: host != b"c.org")
    asked = [budget.ask(HOST, URL, named_by=name)[0] for name in (b"a.org", b"b.org", b"c.org")]
    assert asked == [Answer.NO, Answer.NO, Answer.YES]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (b"http://h/", b"h/"),
        (b"http://h/a", b"h/"),
        (b"http://h/a/b/c.html", b"h/a/b/"),
        (b"http://h/a/b?c/d", b"h/a/b"),
        (b"http://h/?c", b"h/"),
    ],
)
def test_directories(url: bytes, expected: bytes) -> None:
    """The path up to its last slash, or the program."""
    assert directory_of(b"h", url) == expected


def line(url: str, *, kind: str = "page", shard: int = 0, outcome: str = "success") -> bytes:
    """A line of crawl.log."""
    fields = {"kind": kind, "id": shard << 56 | 7, "url": url, "outcome": outcome,
              "digest": "xxh3-128:" + SAME.hex()}  # fmt: skip
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def test_a_restart_counts_what_the_log_tells() -> None:
    """Good pages of our own hosts, each once, whatever their ids were."""
    budget = budgets(per_host=2, hosts_per_domain=1)
    url = URL.decode()
    lines = [
        line(url),
        line(url, kind="robots"),
        line("http://www.other.org/"),
        line(url, shard=1),  # the same page, fetched again
        line(url, outcome="err40X"),
        line(url)[:-1],
    ]
    budget.restore(lines, lambda host: host == HOST)
    assert fetch(budget, b"http://h2.a.org/") == "hostsPerDomain"
    assert refused(budget, b"http://www.a.org/%d", 2) == ["", "pagesPerHost"]
