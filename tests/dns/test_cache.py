from __future__ import annotations

from larbinpy.dns.cache import MAX_FAILURE_S, MAX_TTL_S, MIN_TTL_S, SECOND_NS, DnsCache

IP = (b"\x01\x02\x03\x04",)


def expiry_s(cache: DnsCache, ttl_s: int) -> float:
    return cache.success(b"a", IP, ttl_s=ttl_s, now_ns=0).expires_ns / SECOND_NS


def test_ttl_is_clamped() -> None:
    """A time to live stays within a minute and a day."""
    cache = DnsCache(10)
    assert [expiry_s(cache, ttl) for ttl in (0, 300, 10**9)] == [MIN_TTL_S, 300, MAX_TTL_S]


def test_answer_holds_until_its_expiry() -> None:
    """An answer is given before its expiry and not at it."""
    cache = DnsCache(10)
    answer = cache.success(b"a", IP, ttl_s=60, now_ns=0)
    assert cache.get(b"a", 60 * SECOND_NS - 1) == answer
    assert cache.get(b"a", 60 * SECOND_NS) is None


def test_failures_double_and_a_success_forgets_them() -> None:
    """Failures in a row are remembered for 60 s, 120 s, ... a day at most."""
    cache = DnsCache(10)

    def fail() -> float:
        return cache.failure(b"a", "gone", now_ns=0).expires_ns / SECOND_NS

    assert [fail() for _ in range(3)] == [60, 120, 240]
    for _ in range(100):
        fail()
    assert fail() == MAX_FAILURE_S
    cache.success(b"a", IP, ttl_s=60, now_ns=0)
    assert fail() == 60


def test_a_transient_failure_is_forgotten_soon() -> None:
    """xroche/httrack#1392: names that failed in an outage are looked up again."""
    cache = DnsCache(10)

    def fail() -> float:
        answer = cache.failure(b"a", "silence", now_ns=0, is_transient=True)
        assert answer.is_transient
        return answer.expires_ns / SECOND_NS

    assert [fail() for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_size_is_bounded() -> None:
    """The name written longest ago is forgotten, its failures too."""
    cache = DnsCache(2)
    for name in (b"a", b"b", b"a", b"c"):
        cache.failure(name, "gone", now_ns=0)
    assert len(cache) == 2
    assert cache.get(b"b", 0) is None
    assert cache.failure(b"b", "gone", now_ns=0).expires_ns == 60 * SECOND_NS
