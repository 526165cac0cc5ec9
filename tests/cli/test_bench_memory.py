"""What a host costs in RAM, by fewer hosts than the benchmark has."""

from __future__ import annotations

from larbinpy.cli import bench_memory

HOSTS = 40_000


def test_a_host_costs_what_was_promised() -> None:
    """200 bytes when idle; 1 KB with ten rules and a back-off."""
    found = bench_memory.host_bytes(idle=HOSTS, ruled=HOSTS)
    assert 100 < found["idle"] <= 220  # tables that have just grown are the emptier, the fewer
    assert 500 < found["ruled"] <= 1024


def test_hosts_have_no_rule_in_common() -> None:
    """So that nothing can be shared between them."""
    head, *first = bench_memory._robots(1).splitlines()
    assert head == b"User-agent: *"
    assert len(set(first)) == bench_memory.RULES
    assert set(first).isdisjoint(bench_memory._robots(2).splitlines())
