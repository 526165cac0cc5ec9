"""An anonymous crawl of the web is refused before it begins, where the seeds tell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from larbinpy.cli.contact import check_contact
from larbinpy.config import Config
from larbinpy.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "url",
    [b"http://127.0.0.1/", b"https://[::1]:8/x", b"http://localhost/", b"http://a.localhost./",
     b"http://here.test/", b"nonsense"],
)  # fmt: skip
def test_this_machine_may_be_crawled_by_anybody(tmp_path: Path, url: bytes) -> None:
    """By address, by name, by the hosts file."""
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.9 here.test\n192.0.2.1 there.test\n")
    check_contact(Config(start_urls=(url,), hosts_file=hosts))


@pytest.mark.parametrize("url", [b"http://a.org/", b"http://192.0.2.1/", b"http://there.test/"])
def test_the_web_may_not(tmp_path: Path, url: bytes) -> None:
    """The message says what to do, and for which seed; also for one of a seed file."""
    hosts, seeds = tmp_path / "hosts", tmp_path / "seeds"
    hosts.write_text("192.0.2.1 there.test\n")
    seeds.write_bytes(b"http://127.0.0.1/\n" + url)
    base = Config(hosts_file=hosts)
    for config in (replace(base, start_urls=(url,)), replace(base, seed_file=seeds)):
        with pytest.raises(ConfigError, match=r"^http.*: no contact: set From"):
            check_contact(config)


def test_with_a_contact_or_the_key_everything_may_be(tmp_path: Path) -> None:
    """allowAnonymous."""
    web = Config(start_urls=(b"http://a.org/",))
    check_contact(replace(web, from_address="me@here.net"))
    check_contact(replace(web, user_agent="a (http://here.net/)"))
    check_contact(replace(web, allow_anonymous=True))
