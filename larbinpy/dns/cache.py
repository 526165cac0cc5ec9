"""Answers and failures until they expire. Pure: the caller brings the time."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from larbinpy.dns.base import Answer

SECOND_NS: Final = 1_000_000_000
MIN_TTL_S: Final = 60
MAX_TTL_S: Final = 86_400
FIRST_FAILURE_S: Final = 60
MAX_FAILURE_S: Final = 86_400
FIRST_TRANSIENT_S: Final = 1
MAX_TRANSIENT_S: Final = 60


class DnsCache:
    """Bounded memory of names; the one that was written longest ago is forgotten first.

    Args:
        size: most names kept.

    Cost: O(1) per call.
    """

    __slots__ = ("_answers", "_failures", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._answers: OrderedDict[bytes, Answer] = OrderedDict()
        self._failures: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, host: bytes, now_ns: int) -> Answer | None:
        """Return what still holds of a name, success or failure."""
        answer = self._answers.get(host)
        return answer if answer is not None and now_ns < answer.expires_ns else None

    def success(self, host: bytes, ips: tuple[bytes, ...], *, ttl_s: int, now_ns: int) -> Answer:
        """Remember addresses for their time to live, within [MIN_TTL_S, MAX_TTL_S]."""
        self._failures.pop(host, None)
        kept_s = min(max(ttl_s, MIN_TTL_S), MAX_TTL_S)
        return self._put(Answer(host, ips, now_ns + kept_s * SECOND_NS))

    def failure(
        self, host: bytes, error: str, *, now_ns: int, is_transient: bool = False
    ) -> Answer:
        """Remember a failure: FIRST_FAILURE_S, doubled for each one in a row.

        A transient one is remembered for FIRST_TRANSIENT_S, doubled up to MAX_TRANSIENT_S.
        """
        failures = self._failures.get(host, 0)
        self._failures[host] = failures + 1
        first_s, longest_s = FIRST_FAILURE_S, MAX_FAILURE_S
        if is_transient:
            first_s, longest_s = FIRST_TRANSIENT_S, MAX_TRANSIENT_S
        kept_s = min(first_s << min(failures, 20), longest_s)
        return self._put(Answer(host, (), now_ns + kept_s * SECOND_NS, error, is_transient))

    def _put(self, answer: Answer) -> Answer:
        self._answers[answer.host] = answer
        self._answers.move_to_end(answer.host)
        if len(self._answers) > self._size:
            forgotten, _ = self._answers.popitem(last=False)
            self._failures.pop(forgotten, None)
        return answer
