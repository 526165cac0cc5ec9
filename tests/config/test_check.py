"""Keys that do not fit together, or this version."""

from __future__ import annotations

import os
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from larbinpy.config import ATTRIBUTES, KEYS, Config, check, loads, processes
from larbinpy.config.check import host_of, is_name_server
from larbinpy.config.keys import NOT_YET
from larbinpy.errors import ConfigError

LATER = [name for name in ATTRIBUTES if KEYS[name.lower()].later is NOT_YET]


def changed(value: object) -> object:
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case tuple():
            return (b"x",)
    return Path("x")


@pytest.mark.parametrize("name", LATER)
def test_keys_of_later_versions_are_refused(name: str) -> None:
    """When they are set to something else than their default, with file and line."""
    attribute = ATTRIBUTES[name]
    values: dict[str, Any] = {attribute: changed(getattr(Config(), attribute))}  # any field's
    config = replace(Config(), **values)
    with pytest.raises(ConfigError) as error:
        check(config, {name: f"f:3: {name}"})
    assert str(error.value) == f"f:3: {name}: not in this version"


def test_keys_of_later_versions_may_have_their_default() -> None:
    """So that the manual's lines may be copied."""
    assert loads("stayAlive no scope any maxTries 3").config == Config()


def test_output_modes_of_later_versions_are_replaced() -> None:
    """With a warning that says by what."""
    assert [loads(f"outputMode {mode}", "f").warnings for mode in range(4)] == [
        [],
        [],
        ["f:1: outputMode: not in this version: pages are saved as by mode 1, without their names"],
        ["f:1: outputMode: not in this version: nothing is written, as by mode 0"],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("UserAgent 007", "f:1: UserAgent: must begin with a letter, _ or -"),
        ("nameServer dns.example", "f:1: nameServer: 'dns.example' is not ADDRESS or ADDRESS:PORT"),
        ("outputDir x stateDir ./x", "f:1: outputDir: must not be the directory of the state"),
        ("maxPageSize 1Gi", "bodyMemory: must hold a page at least: 1Gi"),
        ("segmentSize 4Gi", "f:1: segmentSize: must be bytes from 64Ki to 4294967295"),
        ("segmentSize 1Ki", "f:1: segmentSize: must be bytes from 64Ki"),
    ],
)
def test_what_cannot_work_is_an_error(text: str, message: str) -> None:
    """It names the key and, where it was set, the place."""
    with pytest.raises(ConfigError) as error:
        loads(text, "f")
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("specificSearch", "specificSearch: no page is handed out, since specificSet is empty"),
        ("bloomRate 0.1", "bloomRate: no effect with seenSet exact"),
        ("durability off syncTime 5", "syncTime: no effect with durability off"),
        ("fetchTimeout 5", "fetchTimeout: is shorter than connectTimeout, which has no effect"),
        ("punycode no", "punycode: not in this version: they are always on"),
    ],
)
def test_what_has_no_effect_is_a_warning(text: str, warning: str) -> None:
    """It is not an error: files of larbin have such keys."""
    assert loads(text, "f").warnings == [f"f:1: {warning}"]


def test_name_servers_are_addresses_with_or_without_a_port() -> None:
    """Names would need a name server."""
    good = ["127.0.0.1", "127.0.0.1:53", "::1", "[::1]", "[::1]:65535"]
    bad = ["localhost", "127.0.0.1:", "1.2.3", "[::1]53", "127.0.0.1:port", "[]:53"]
    bad += ["127.0.0.1:0", "127.0.0.1:65536", "[::1]:99999", "127.0.0.1:\uff15\uff13"]
    assert [is_name_server(text) for text in good + bad] == [True] * 5 + [False] * 10


def test_the_host_of_a_url_is_found_as_written() -> None:
    """Without user, port and case."""
    urls = [b"http://A.b:80/c", b"https://u:p@d?x", b"HTTP://[::1]:8/", b"nothing"]
    assert [host_of(url) for url in urls] == [b"a.b", b"d", b"[::1]", b""]


@pytest.mark.parametrize(
    ("cores", "expected"), [(1, (1, 1)), (2, (1, 1)), (4, (1, 2)), (8, (2, 5)), (32, (8, 23))]
)
def test_processes_follow_the_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int, expected: tuple[int, int]
) -> None:
    """Unless they are set."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    assert processes(Config()) == expected
    assert processes(Config(fetch_processes=3, parse_processes=2)) == (3, 2)


def test_no_limit_of_descriptors_allows_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """An infinite limit is written as -1."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (-1, resource.RLIM_INFINITY))
    assert loads("pagesConnexions 1000000").config.pages_connexions == 1_000_000


def test_derived_numbers() -> None:
    """What several keys say together."""
    assert Config(wait_duration_s=3).ip_wait_s == 3
    assert Config(wait_duration_s=3, wait_duration_ip_s=0).ip_wait_s == 0
    assert Config().max_decoded_bytes == 20 * 2**20
    assert Config(user_agent="My-bot_x2/1.0").user_agent_token == b"My-bot_x"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("accept mine:accept", "f:2: accept: needs pluginPath, the directory of your modules"),
        ("pluginPath {}\naccept gone:x", "f:3: accept: gone:x: neither {}/gone.py"),
        ("pluginPath {}\naccept mine", "f:3: accept: 'mine' is not module:function"),
        ("include a( end", "f:2: include: 'a(' is no regular expression of RE2: missing ): a("),
        ("\nexclude good \\Aa end", "f:3: exclude: '\\\\Aa': \\A is not for URLs; use ^ and $"),
    ],
)
def test_functions_and_patterns_are_looked_at(tmp_path: Path, text: str, says: str) -> None:
    """What cannot work is an error with its place; no module is run for that."""
    (tmp_path / "mine.py").write_text("{}[1]")
    with pytest.raises(ConfigError) as error:
        loads("\n" + text.format(tmp_path), "f")
    assert str(error.value).startswith(says.format(tmp_path))
    assert not loads(f"pluginPath {tmp_path} accept mine:accept", "f").warnings


@pytest.mark.parametrize("key", ["ignoreTrailingSlash", "ignoreIndex", "sortQuery"])
def test_larbins_urls_are_taken_as_they_are(key: str) -> None:
    """Options of the standard's URLs have no effect on them, and that is said."""
    assert loads(f"urlMode larbin {key}", "f").warnings == [
        f"f:1: {key}: no effect with urlMode larbin"
    ]
    assert not loads(key, "f").warnings
