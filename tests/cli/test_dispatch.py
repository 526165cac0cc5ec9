"""Which command is meant, and how faults become exit codes."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from larbinpy import __version__
from larbinpy.cli import dispatch, main
from larbinpy.errors import ConfigError, LarbinError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[list[str]], int]], None]:
    """Replaces the command ``demo`` by a function."""

    def put(function: Callable[[list[str]], int]) -> None:
        module = ModuleType("larbinpy.cli.demo")
        vars(module)["demo"] = function
        monkeypatch.setitem(sys.modules, "larbinpy.cli.demo", module)

    return put


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("chekconfig", "'chekconfig' is no command, did you mean check-config?"),
        (
            "www.example.com",
            "'www.example.com' is neither a command nor a URL, did you mean"
            " http://www.example.com?",
        ),
        (
            "localhost:8080/a",
            "'localhost:8080/a' is neither a command nor a URL, did you mean"
            " http://localhost:8080/a?",
        ),
        ("my.conf", "'my.conf' is neither a command nor a URL, did you mean -c my.conf?"),
        (
            "xyzzy",
            f"'xyzzy' is neither a command ({', '.join(sorted(dispatch.COMMANDS))}) nor a URL",
        ),
    ],
)
def test_an_unknown_word_exits_2_and_names_what_was_meant(
    word: str,
    meant: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A command, a URL without its scheme, or a file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.conf").touch()
    assert main([word]) == 2
    assert capsys.readouterr() == ("", f"larbinpy: {meant}\n")


def test_a_command_gets_the_arguments_behind_it(
    demo: Callable[[Callable[[list[str]], int]], None],
) -> None:
    """And its exit code is ours."""
    demo(lambda arguments: 3 if arguments == ["--hosts", "3"] else 1)
    assert main(["demo", "--hosts", "3"]) == 3


@pytest.mark.parametrize(
    ("fault", "code", "line"),
    [
        (ConfigError("f:1: x: wrong"), 2, "larbinpy: f:1: x: wrong\n"),
        (StorageError("disk is full"), 1, "larbinpy: disk is full\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_a_fault_is_one_line_and_an_exit_code(
    demo: Callable[[Callable[[list[str]], int]], None],
    capsys: pytest.CaptureFixture[str],
    fault: LarbinError | KeyboardInterrupt,
    code: int,
    line: str,
) -> None:
    """Never a traceback."""

    def fail(_: list[str]) -> int:
        raise fault

    demo(fail)
    assert main(["demo"]) == code
    assert capsys.readouterr() == ("", line)


def test_a_broken_command_is_not_an_unknown_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An import that fails inside a command is seen as what it is."""
    monkeypatch.setitem(dispatch.COMMANDS, "demo", "larbinpy.cli.no_such_module:demo")
    with pytest.raises(ImportError, match="no_such_module"):
        main(["demo"])


def test_a_command_in_the_wrong_place_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """It must come first."""
    assert main(["--scratch", "demo"]) == 2
    assert "demo is a command and must come first" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--version"], ["-c", "none", "--version"]])
def test_the_version_is_told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """On standard output."""
    assert main(arguments) == 0
    assert capsys.readouterr() == (f"larbinpy {__version__}\n", "")


def test_help_is_short_and_names_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """One screen."""
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"larbinpy {command}" in text for command in dispatch.COMMANDS)
    assert len(text.split("\n")) <= 36


def test_the_package_can_be_run() -> None:
    """``python -m larbinpy``: what looks starts without what crawls."""
    code = (
        "import sys; from larbinpy.cli import main; assert main(['--version']) == 0;"
        "print(sorted({'pycurl', 'pycares', 'asyncio'} & set(sys.modules)))"
    )
    for arguments, output in (
        (["-m", "larbinpy", "--version"], f"larbinpy {__version__}\n"),
        (["-c", code], f"larbinpy {__version__}\n[]\n"),
    ):
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, output, "")
