"""Fixtures that tests of several stages use."""

from __future__ import annotations

import os
import resource
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, settings

from larbinpy._native.eventloop import EventLoop
from larbinpy.shared import CrawlMemory

if TYPE_CHECKING:
    from collections.abc import Iterator


# How long an example takes is a matter of what else the machine does.
settings.register_profile("larbinpy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("larbinpy")


LIMITED: Final = (
    resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE,
)  # fmt: skip


@pytest.fixture(autouse=True)
def _own_limits() -> Iterator[None]:
    """What a test lets this process have ends with it: shards and parsers set their own limits,
    and those that are played here would set them for all tests to come, and for what they start."""
    before = [(kind, resource.getrlimit(kind)) for kind in LIMITED]
    yield
    for kind, limit in before:
        resource.setrlimit(kind, limit)


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
