"""How much is fetched of a host, a registered domain, a directory.

Asked when a URL's turn has come, so a budget that was changed holds for what waits already.  Only
what is limited is counted, and only good pages use a budget up; one that others may still use up is
waited for, so that no URL is refused too early.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from larbinpy import url as urls
from larbinpy._native.seenset import SeenSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Answer(IntEnum):
    """What a budget says to a URL."""

    YES = 0
    WAIT = 1
    NO = 2


_YES: Final = (Answer.YES, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """0 = no limit."""

    per_host: int = 0
    per_domain: int = 0
    per_path: int = 0
    """Pages of one directory of a host."""
    hosts_per_domain: int = 0
    sitemaps: int = 0
    """Sitemaps that one host names: an index may list 50,000, and each of them be an index."""

    @property
    def are_counted(self) -> bool:
        """Whether pages have to be counted, after a restart too."""
        return bool(self.per_host or self.per_domain or self.per_path or self.hosts_per_domain)


class _Budget:
    """One kind of budget: pages that were good, and pages that may become so, by key."""

    __slots__ = ("good", "limit", "name", "pending")

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.limit = limit
        self.good: Counter[bytes] = Counter()
        self.pending: Counter[bytes] = Counter()

    def ask(self, key: bytes) -> Answer:
        good = self.good.get(key, 0)
        if good >= self.limit:
            return Answer.NO
        pending = self.pending.get(key, 0)
        return Answer.WAIT if good + pending >= self.limit else Answer.YES

    def settle(self, key: bytes, *, is_good: bool) -> None:
        self.pending[key] -= 1
        if self.pending[key] <= 0:
            del self.pending[key]
        if is_good:
            self.good[key] += 1


class Budgets:
    """The budgets of one shard.

    Args of ``__init__``:
        domain_of: the registered domain of a host.

    Memory: a counter, some 100 bytes, for each host, domain or directory that is counted.
    """

    __slots__ = (
        "_budgets", "_domain_of", "_hosts", "_hosts_of", "_keys", "_limits", "_sitemaps",
    )  # fmt: skip

    def __init__(self, limits: Limits, domain_of: Callable[[bytes], bytes]) -> None:
        self._limits = limits
        self._domain_of = domain_of
        kinds = (
            ("pagesPerHost", limits.per_host, lambda host, _: host),
            ("pagesPerDomain", limits.per_domain, lambda host, _: domain_of(host)),
            ("pagesPerPath", limits.per_path, directory_of),
        )
        self._budgets = [(_Budget(name, limit), key) for name, limit, key in kinds if limit]
        self._keys: dict[int, list[bytes]] = {}
        self._hosts: set[bytes] = set()
        self._hosts_of: Counter[bytes] = Counter()
        self._sitemaps: Counter[bytes] = Counter()

    @property
    def is_limited(self) -> bool:
        """Whether there is anything to ask, to take and to settle of pages."""
        return self._limits.are_counted

    # --- a URL's turn --------------------------------------------------------------------------

    def ask(self, host: bytes, url: bytes, *, named_by: bytes = b"") -> tuple[Answer, str]:
        """May a URL be fetched?  With NO goes the name of what is used up.

        Args:
            named_by: the host that names it, for a sitemap: it alone pays.
        """
        if named_by and self._sitemaps.get(named_by, 0) >= self._limits.sitemaps > 0:
            return Answer.NO, "sitemapsPerHost"
        if self._limits.hosts_per_domain and not self._admits(host):
            return Answer.NO, "hostsPerDomain"
        if not self._budgets:
            return _YES
        worst = Answer.YES
        for budget, key_of in self._budgets:
            answer = budget.ask(key_of(host, url))
            if answer is Answer.NO:
                return answer, budget.name
            worst = max(worst, answer)
        return worst, ""

    def _admits(self, host: bytes) -> bool:
        if host in self._hosts:
            return True
        domain = self._domain_of(host)
        if self._hosts_of[domain] >= self._limits.hosts_per_domain:
            return False
        self._hosts.add(host)
        self._hosts_of[domain] += 1
        return True

    def take(self, page_id: int, host: bytes, url: bytes, *, named_by: bytes = b"") -> None:
        """A URL that may be fetched is being fetched; a sitemap counts whatever becomes of it."""
        if named_by and self._limits.sitemaps:
            self._sitemaps[named_by] += 1
        if self._budgets:
            keys = self._keys[page_id] = [key_of(host, url) for _, key_of in self._budgets]
            for (budget, _), key in zip(self._budgets, keys, strict=True):
                budget.pending[key] += 1

    def settle(self, page_id: int, *, is_good: bool) -> None:
        """The page has its outcome, or is tried again; unknown ones cost nothing."""
        if self._budgets:
            for (budget, _), key in zip(self._budgets, self._keys.pop(page_id, ()), strict=False):
                budget.settle(key, is_good=is_good)

    # --- restarts ------------------------------------------------------------------------------

    def restore(self, lines: Iterable[bytes], is_ours: Callable[[bytes], bool]) -> None:
        """Count what ``crawl.log`` tells of good pages and of sitemaps; torn lines are passed over.

        A page that was fetched again has a line for each time, and is counted once.

        Args:
            is_ours: whether a host is this shard's; ids do not tell, ``--reshard`` changes them.

        Cost: 5 us and 13 bytes a page that counts.
        """
        counted = SeenSet()
        for line in lines:
            if not line.endswith(b"\n"):
                continue
            if self._limits.sitemaps and b'"kind":"sitemap"' in line:
                self._restore_sitemap(json.loads(line), is_ours)
            elif self._limits.are_counted and b'"outcome":"success"' in line:
                self._restore_page(json.loads(line), is_ours, counted)

    def _restore_sitemap(self, fields: dict[str, Any], is_ours: Callable[[bytes], bool]) -> None:
        url = fields["url"].encode()
        if fields["status"] and is_ours(urls.host_of(url)):
            self._sitemaps[urls.host_of((fields["via"] or "").encode() or url)] += 1

    def _restore_page(
        self, fields: dict[str, Any], is_ours: Callable[[bytes], bool], counted: SeenSet
    ) -> None:
        url = fields["url"].encode()
        host = urls.host_of(url)
        if fields["kind"] != "page" or not is_ours(host):
            return
        if not counted.add_many(blake2b(url, digest_size=8).digest())[0]:
            return
        self.ask(host, url)
        self.take(0, host, url)
        self.settle(0, is_good=True)


def directory_of(host: bytes, url: bytes) -> bytes:
    """Host and directory of a URL; of one with a query, the whole path."""
    rest = url[url.index(b"/", 8) :]
    path, mark, _ = rest.partition(b"?")
    return host + (path if mark else path[: path.rindex(b"/") + 1])
