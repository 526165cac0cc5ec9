"""Writing a configuration: as a file that reads as the same one, and as plain data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from larbinpy.config.grammar import END
from larbinpy.config.keys import NOT_YET, Key, Shape
from larbinpy.config.schema import ATTRIBUTES, KEYS, Config

if TYPE_CHECKING:
    from collections.abc import Mapping

BARE: Final = re.compile(r'[^\s#"]+')
DEFAULT: Final = Config()
ENDS: Final = {Shape.LIST: " end", Shape.PAIRS: " end end"}


def dump(config: Config) -> str:
    """Return a configuration file that reads as ``config``.

    Keys that are not in this version are left out, unset ones are comments.
    """
    lines = []
    for name, attribute in ATTRIBUTES.items():
        key, value = KEYS[name.lower()], getattr(config, attribute)
        if key.later is not NOT_YET or value != getattr(DEFAULT, attribute):
            lines.extend(_statements(key, value))
    return "\n".join(lines) + "\n"


def to_json(config: Config) -> dict[str, Any]:  # what json.dumps takes
    """Return the keys with their values as a file has them: strings, lists of them, booleans."""
    plain: dict[str, Any] = {}
    for name, attribute in ATTRIBUTES.items():
        key, value = KEYS[name.lower()], getattr(config, attribute)
        if key.shape is Shape.FLAG:
            plain[name] = value
        else:
            words = key.write(value)
            plain[name] = words if key.is_list else " ".join(words)
    return plain


def from_json(plain: Mapping[str, Any]) -> Config:  # what to_json gave
    """Return the configuration that ``to_json`` wrote."""
    values = {}
    for name, written in plain.items():
        key = KEYS[name.lower()]
        is_read = key.shape is Shape.FLAG
        words = written if key.is_list else [written]
        values[ATTRIBUTES[name]] = written if is_read else key.read(words)
    return Config(**values)


def _statements(key: Key, value: Any) -> list[str]:  # the field's type
    """Return the lines that set a key."""
    words = [_quote(word) for word in key.write(value)]
    if key.shape is Shape.EACH:
        size = key.word_count
        lines = [" ".join([key.name, *words[at : at + size]]) for at in range(0, len(words), size)]
        return lines or [f"# {key.name} (none)"]
    if words == ['""']:
        return [f"# {key.name} (unset)"]
    return [" ".join([key.name, *words]) + ENDS.get(key.shape, "")]


def _quote(word: str) -> str:
    """Return the word as a token that is no keyword."""
    is_bare = BARE.fullmatch(word) and word.lower() != END
    return word if is_bare else f'"{word}"'
