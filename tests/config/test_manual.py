"""``larbin.conf`` is the manual: it has every key, and sets each to its default."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from larbinpy.config import ATTRIBUTES, KEYS, Config, load
from larbinpy.config.keys import NOT_YET

MANUAL = Path(__file__).parents[2] / "larbin.conf"
TEXT = MANUAL.read_text()


def test_the_manual_is_the_default() -> None:
    """Without a warning."""
    loaded = load(MANUAL)
    assert (loaded.config, loaded.warnings) == (Config(), [])


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_every_key_has_a_paragraph_and_a_line(name: str) -> None:
    """A comment that names it with its version, and a line that sets it, maybe a comment."""
    paragraph = re.search(rf"^# (\w+, )*{name}(, \w+)*,? \(([^)]|\n# )*\)", TEXT, re.MULTILINE)
    assert paragraph is not None
    assert KEYS[name.lower()].since in paragraph[0]
    assert re.search(rf"^#?{name}( |$)", TEXT, re.MULTILINE) is not None


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_keys_of_later_versions_are_marked_and_are_comments(name: str) -> None:
    """And the others are not."""
    is_later = KEYS[name.lower()].later is NOT_YET
    paragraph = re.search(rf"^# (\w+,\s(# )?)*{name}\b[^(]*\([^)]*\)", TEXT, re.MULTILINE)
    assert paragraph is not None
    assert ("later: not in this version" in paragraph[0].replace("\n# ", " ")) == is_later
    if is_later:
        assert re.search(rf"^{name}( |$)", TEXT, re.MULTILINE) is None


def test_commented_lines_show_what_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every commented line of a key that works is a good example."""
    names = [name for name in ATTRIBUTES if KEYS[name.lower()].later is not NOT_YET]
    lines = [line[1:] for line in TEXT.split("\n") if line[1:].partition(" ")[0] in names]
    path = tmp_path / "examples.conf"
    path.write_text("\n".join(lines))
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "mine.py").touch()
    monkeypatch.chdir(tmp_path)
    assert len(lines) == 16
    assert load(path).config != Config()
