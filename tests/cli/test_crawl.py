"""``larbinpy [OPTIONS] [URL]...`` hands the right configuration to the supervisor."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy.cli import main
from larbinpy.config import Config

if TYPE_CHECKING:
    from collections.abc import Callable

AGENT = "a (+http://a.test/bot)"


@dataclass
class Supervisor:
    """Stands in for the real one and keeps what it was asked."""

    calls: list[tuple[Config, dict[str, Any]]] = field(default_factory=list)
    code: int = 0
    reread: Callable[[], Config] = Config

    def crawl(
        self, config: Config, *, reread: Callable[[], Config], **more: Any
    ) -> int:  # keywords of several types
        self.reread = reread
        self.calls.append((config, more))
        return self.code


@pytest.fixture
def supervisor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Supervisor:
    """A supervisor that starts nothing, in an empty directory."""
    monkeypatch.chdir(tmp_path)
    fake, module = Supervisor(), ModuleType("larbinpy.running")
    vars(module)["crawl"] = fake.crawl
    monkeypatch.setitem(sys.modules, "larbinpy.running", module)
    return fake


def test_nothing_given_is_the_default(supervisor: Supervisor) -> None:
    """Without a larbin.conf in the current directory."""
    assert main([]) == 0
    expected = {"scratch": False, "reload": False, "command": "larbinpy"}
    assert supervisor.calls == [(Config(), expected)]


def test_the_configuration_can_be_read_again(supervisor: Supervisor) -> None:
    """From the same places; what stands there may have changed."""
    Path("larbin.conf").write_text("depthInSite 7")
    assert main(["--set", "waitDuration=3", "--set", f"UserAgent={AGENT}", "http://a/"]) == 0
    Path("larbin.conf").write_text("depthInSite 8")
    config = supervisor.reread()
    assert (config.depth_in_site, config.wait_duration_s) == (8, 3.0)
    assert config.start_urls == (b"http://a/",)


def test_larbin_conf_in_the_current_directory_is_read(supervisor: Supervisor) -> None:
    """Unless -c names another file."""
    Path("larbin.conf").write_text("depthInSite 7")
    Path("other.conf").write_text("depthInSite 8")
    main([])
    main(["-c", "other.conf"])
    assert [config.depth_in_site for config, _ in supervisor.calls] == [7, 8]


def test_options_and_urls_reach_the_supervisor(supervisor: Supervisor) -> None:
    """With the command as it was typed."""
    supervisor.code = 3
    agent = f"--set=UserAgent={AGENT}"
    command = ["http://a/", "--scratch", "--set", "getCGI", agent, "https://ä/"]
    assert main(command) == 3
    config = Config(
        get_cgi=True, user_agent=AGENT, start_urls=(b"http://a/", "https://ä/".encode())
    )
    typed = f"larbinpy http://a/ --scratch --set getCGI '--set=UserAgent={AGENT}' 'https://ä/'"
    assert supervisor.calls == [(config, {"scratch": True, "reload": False, "command": typed})]


@pytest.mark.parametrize("option", ["--reload", "-reload"])
def test_larbins_single_dash_is_taken(supervisor: Supervisor, option: str) -> None:
    """Users of 2.6.3 type it."""
    main([option])
    assert supervisor.calls[0][1]["reload"] is True


def test_seeds_sets_the_seed_file(supervisor: Supervisor) -> None:
    """``-`` is standard input."""
    main(["--seeds", "-"])
    main(["--set", "seedFile=a", "--seeds=b"])
    assert [config.seed_file for config, _ in supervisor.calls] == [Path("-"), Path("b")]


def test_the_environment_is_read(supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the command line."""
    monkeypatch.setenv("LARBINPY_DEPTHINSITE", "3")
    main([])
    main(["--set", "depthInSite=4"])
    assert [config.depth_in_site for config, _ in supervisor.calls] == [3, 4]


def test_warnings_go_to_standard_error(
    supervisor: Supervisor, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the crawl goes on."""
    assert main(["--set", "debug"]) == 0
    assert capsys.readouterr().err == (
        "larbinpy: warning: --set: debug: not in this version: it has no effect; see report.json"
        " in stateDir\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bogus"], "No such option '--bogus'. (see larbinpy --help)"),
        (["--scratch", "--reload"], "--scratch and --reload exclude each other"),
        (
            ["http://a/", "b.org"],
            "'b.org' is neither a command nor a URL, did you mean http://b.org?",
        ),
        (["-c", "none"], "none: cannot be read: No such file or directory"),
        (["ftp://a/"], "URL: 'ftp://a/' is not a URL that begins with http:// or https://"),
        (["--set", "x=1"], "--set: x: unknown key"),
    ],
)
def test_wrong_usage_exits_2_with_one_line(
    supervisor: Supervisor,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    """And starts nothing."""
    assert main(arguments) == 2
    assert capsys.readouterr() == ("", f"larbinpy: {message}\n")
    assert supervisor.calls == []


def test_an_interrupted_crawl_exits_130(supervisor: Supervisor) -> None:
    """Also where click stands between."""

    def interrupted(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    vars(sys.modules["larbinpy.running"])["crawl"] = interrupted
    assert main(["http://127.0.0.1/"]) == 130
