"""Fixtures that tests of several stages use."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from larbinpy._native.eventloop import EventLoop
from larbinpy.shared import CrawlMemory

if TYPE_CHECKING:
    from collections.abc import Iterator


# How long an example takes is a matter of what else the machine does.
settings.register_profile("larbinpy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("larbinpy")


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    """An event loop, closed at the end."""
    loop = EventLoop()
    yield loop
    loop.close()


@pytest.fixture
def memory() -> Iterator[CrawlMemory]:
    """The shared memory of a crawl of two shards and one parser."""
    made = CrawlMemory.create(2, 1)
    yield made
    os.close(made.fd)
