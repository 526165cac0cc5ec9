"""Run a part of the tests, drawn by a seed that is printed: ``pytest -p tests.draw --one-of 2``."""

from __future__ import annotations

import random

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of this plugin."""
    group = parser.getgroup("draw")
    group.addoption("--one-of", type=int, default=1, help="run one of so many tests")
    group.addoption("--draw-seed", type=int, default=random.randrange(1 << 30), help="draws them")


def pytest_report_header(config: pytest.Config) -> str:
    """Which tests these are: the same command with this seed runs them again."""
    return f"one of {config.option.one_of} tests, --draw-seed {config.option.draw_seed}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Draw from what other options have left."""
    count = -(-len(items) // config.option.one_of)
    drawn = set(random.Random(config.option.draw_seed).sample(range(len(items)), count))
    others = [item for place, item in enumerate(items) if place not in drawn]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for place, item in enumerate(items) if place in drawn]
