"""Which keys change while a crawl runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from larbinpy.config import ATTRIBUTES, KEYS, Config
from larbinpy.supervisor.changing import CHANGEABLE, change


def test_what_may_change_is_taken_and_the_rest_is_named() -> None:
    """In the order of the schema."""
    old = Config(wait_duration_s=1.0, state_dir=Path("a"), limit_time_s=0.0)
    new = Config(wait_duration_s=2.0, state_dir=Path("b"), limit_time_s=60.0, use_cookies=True)
    found = change(old, new)
    assert found.made == ("limitTime", "waitDuration")
    assert found.refused == ("stateDir", "useCookies")
    assert found.config == Config(wait_duration_s=2.0, state_dir=Path("a"), limit_time_s=60.0)


def test_nothing_differs() -> None:
    """Nothing is made or refused."""
    found = change(Config(), Config())
    assert (found.config, found.made, found.refused) == (Config(), (), ())


@pytest.mark.parametrize(
    ("old", "new", "is_made"), [(5, 9, True), (9, 5, True), (0, 5, False), (5, 0, False)]
)
def test_a_limit_of_pages_cannot_begin_or_end(old: int, new: int, is_made: bool) -> None:
    """Requests that began without one hold no tickets."""
    found = change(Config(limit_page=old), Config(limit_page=new))
    assert found.config.limit_page == (new if is_made else old)
    assert (found.made if is_made else found.refused) == ("limitPage",)


def test_all_names_are_keys_that_work() -> None:
    """A key that is renamed must be renamed here."""
    assert set(ATTRIBUTES) >= CHANGEABLE
    assert not [name for name in CHANGEABLE if KEYS[name.lower()].later]
