"""The counters of a log, from what is left of it. Pure."""

from __future__ import annotations

from larbinpy.stats import ACCEPTED, DERIVED, DONE, Counters


class Tally:
    """Counts the records of a log again, in their order.

    What was counted in segments that are gone stands in the first COUNTS that heads a run of good
    records.  That need not be the first run, so what was read before it is not counted twice; DONEs
    that are ignored now were counted then.
    """

    __slots__ = ("_base", "_ignored", "_seen", "measured")

    def __init__(self) -> None:
        self._base: Counters | None = None
        self._seen = Counters()
        self._ignored = Counters()
        self.measured = Counters()
        """The newest COUNTS; its derived counters are not used."""

    def head(self, totals: Counters) -> None:
        """A COUNTS record heads a run."""
        if self._base is not None:
            return
        self._base = Counters()
        for index in DERIVED:
            known = self._seen[index] + self._ignored[index]
            self._base[index] = max(totals[index] - known, 0)

    def add(self, accepted: int, counted: bytes, ignored: bytes) -> None:
        """Count the URLs of a run, and the totals of its DONEs that count and that do not."""
        self._seen.add(ACCEPTED, accepted)
        self._seen.add_done(counted)
        self._ignored.add_done(ignored)

    @property
    def ignored_dones(self) -> int:
        """URLs whose DONE does not count."""
        return self._ignored[DONE]

    def sum_up(self, waiting: int) -> tuple[Counters, int]:
        """The counters, made to say that accepted = done + waiting.

        Returns:
            Also by how many URLs too much was accepted before: segments with URLs are gone.
        """
        counters = self.measured.copy()
        base = self._base or Counters()
        for index in DERIVED:
            counters[index] = base[index] + self._seen[index]
        excess = counters[ACCEPTED] - counters[DONE] - waiting
        counters[ACCEPTED] -= excess
        return counters, excess
