"""How much is fetched of hosts, domains and directories, and which hosts are left."""

from __future__ import annotations

import json

import pytest

from larbinpy.frontier.budgets import Answer, Budgets, Limits, directory_of
from larbinpy.frontier.crowds import CROWD

HOST = b"www.a.org"
URL = b"http://www.a.org/x/1"
SAME = bytes(16)
_NUMBERS: dict[bytes, int] = {}


def budgets(**limits: int) -> Budgets:
    """With domains of two labels."""
    return Budgets(Limits(**limits), lambda host: b".".join(host.split(b".")[-2:]))


def number_of(host: bytes) -> int:
    """The number of a host."""
    return _NUMBERS.setdefault(host, len(_NUMBERS))


def ask(budget: Budgets, host: bytes) -> tuple[Answer, str]:
    """Ask for the root of a host."""
    return budget.ask(host, b"http://%b/" % host, host_id=number_of(host))


def show(
    budget: Budgets, host: bytes, digest: bytes, *, is_near: bool = False, leads_on: bool = True
) -> None:
    """A host shows a good page."""
    budget.settle(
        9, digest, is_good=True, host_id=number_of(host), is_near=is_near, leads_on=leads_on
    )


def fetch(budget: Budgets, url: bytes, *, digest: bytes = b"", is_good: bool = True) -> str:
    """Fetch a URL if it may be; returns the name of what forbids it."""
    host = url.split(b"/")[2]
    number = number_of(host)
    answer, name = budget.ask(host, url, host_id=number)
    if answer is Answer.YES:
        budget.take(1, host, url)
        budget.settle(1, digest or url[::-1], is_good=is_good, host_id=number)
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


def test_a_host_that_says_the_same_again_and_again_is_left() -> None:
    """Soft 404, session ids; also when it has a few contents in turn."""
    budget = budgets(same=10)
    names = [fetch(budget, b"http://a.org/%d" % n, digest=b"%d" % (n % 3)) for n in range(15)]
    assert names == [""] * 13 + ["sameContent"] * 2
    assert fetch(budget, b"http://b.org/") == ""


def test_near_duplicates_are_the_same_content() -> None:
    """However many contents they are."""
    budget = budgets(same=3)
    for number in range(4):
        url = b"http://a.org/%d" % number
        assert fetch(budget, url) == ""
        show(budget, b"a.org", b"%d" % number, is_near=True)
    show(budget, b"a.org", b"x", is_near=True)
    show(budget, b"a.org", b"y", is_near=True, leads_on=False)
    assert fetch(budget, b"http://a.org/x") == ""
    for digest in (b"x", b"y", b"z"):
        show(budget, b"a.org", digest, is_near=True)
    assert fetch(budget, b"http://a.org/y") == "sameContent"


def test_who_is_left_is_told_once() -> None:
    """With how much it has shown."""
    budget = budgets(same=2)
    assert refused(budget, b"http://a.org/%d", 1) == [""]
    for _ in range(3):
        show(budget, b"a.org", SAME)
    assert refused(budget, b"http://a.org/%d", 2) == ["sameContent"] * 2
    assert budget.left == [
        "no more pages of a.org are asked for: the last 2 of 4 said nothing new (sameContent)"
    ]


def meet(budget: Budgets, hosts: range, *, is_near: bool) -> set[str]:
    """Fetch the first page of hosts of one domain; returns what forbade any."""
    names = set()
    for number in hosts:
        host = b"h%d.a.org" % number
        answer, name = ask(budget, host)
        names.add(name)
        if answer is Answer.YES:
            watched = budget.watch(number_of(host))
            budget.settle(
                1, number.to_bytes(16, "little"), is_good=True, host_id=number_of(host),
                is_near=is_near and watched == 2, watched=watched,
            )  # fmt: skip
    return names


def test_new_hosts_of_a_crowd_that_begin_alike_are_left() -> None:
    """Endless subdomains; hosts that have shown a page are asked on, other domains too."""
    budget = budgets(same=10, watch_after=64)
    assert meet(budget, range(2 * CROWD + 10), is_near=True) == {""}
    assert ask(budget, b"waiting.a.org") == (Answer.NO, "sameHosts")
    assert meet(budget, range(3 * CROWD, 3 * CROWD + 5), is_near=True) == {"sameHosts"}
    assert fetch(budget, b"http://h1.a.org/x") == ""
    assert fetch(budget, b"http://h1.b.org/") == ""
    assert [text.split(":")[0] for text in budget.left] == [
        "no more new hosts of a.org are asked for"
    ]


def test_a_host_of_a_crowd_that_was_met_waits_for_the_others() -> None:
    """One whose robots.txt was asked for is left when the crowd is, for it has shown nothing."""
    budget = budgets(same=10, watch_after=64)
    meet(budget, range(2 * CROWD), is_near=True)
    assert ask(budget, b"met.a.org") == (Answer.YES, "")
    meet(budget, range(1000, 1010), is_near=True)
    assert ask(budget, b"met.a.org") == (Answer.NO, "sameHosts")


def test_a_crowd_of_honest_hosts_is_not_left() -> None:
    """Their first pages differ."""
    budget = budgets(same=10, watch_after=64)
    assert meet(budget, range(4 * CROWD), is_near=False) == {""}
    assert budget.left == []


def test_a_host_with_something_new_now_and_then_is_not_left() -> None:
    """A page of its own begins the count anew."""
    budget = budgets(same=10)
    for n in range(200):
        digest = n.to_bytes(16, "little") if n % 9 == 0 else SAME
        assert fetch(budget, b"http://a.org/%d" % n, digest=digest) == ""


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
    budget = budgets(per_host=2, hosts_per_domain=1, same=2)
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
