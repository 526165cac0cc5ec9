"""Modules of the operator are found where he says, and nowhere else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from larbinpy.errors import ConfigError
from larbinpy.plugins import find_module, load_function

if TYPE_CHECKING:
    from pathlib import Path


def test_a_function_of_a_file(tmp_path: Path) -> None:
    """By the name of the file; the module is known by a name of its own."""
    (tmp_path / "json.py").write_text("def loads(text): return text * 2")
    assert load_function("json:loads", tmp_path)("x") == "xx"
    assert sys.modules["json"].loads("1") == 1


def test_a_package_may_have_parts(tmp_path: Path) -> None:
    """They are reached by relative imports."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("from .part import accept")
    (tmp_path / "mine" / "part.py").write_text("def accept(link): return 7")
    assert load_function("mine:accept", tmp_path)(None) == 7


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("json:loads", "is there"),
        ("mine", "is not module:function"),
        ("../mine:accept", "is not module:function"),
        ("mine:", "is not module:function"),
        ("os.path:join", "is not module:function"),
        ("good:other", "has no function other"),
        ("good:number", "has no function number"),
        ("wrong:accept", "cannot be run: SyntaxError"),
        ("raises:accept", "cannot be run: KeyError"),
        ("leaves:accept", "cannot be run: SystemExit"),
    ],
)
def test_what_cannot_be_loaded(name: str, says: str, tmp_path: Path) -> None:
    """The error names what is missing; a module that is installed does not count."""
    (tmp_path / "good.py").write_text("number = 1")
    (tmp_path / "wrong.py").write_text("def accept(")
    (tmp_path / "raises.py").write_text("{}[1]")
    (tmp_path / "leaves.py").write_text("import sys; sys.exit(0)")
    with pytest.raises(ConfigError, match=says):
        load_function(name, tmp_path)


def test_looking_runs_nothing(tmp_path: Path) -> None:
    """The configuration is checked in a process that must not die."""
    (tmp_path / "raises.py").write_text("{}[1]")
    assert find_module("raises:accept", tmp_path) == tmp_path / "raises.py"
