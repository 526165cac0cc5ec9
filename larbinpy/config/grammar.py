"""The grammar of the configuration file: larbin's free-form tokens.

    file      := statement*
    statement := FLAG [yes | no] | KEY value | KEY item* end | KEY (type extension)* end end
    token     := word | "string with blanks or #"

Blanks and line ends separate tokens, ``#`` starts a comment up to the end of the line unless it
stands in quotes, keywords (``end``, ``yes`` and ``no`` too) ignore case, and a quoted string is
never the ``end`` of a list.
A word that is a keyword and the first of its line does not become a value: what is missing before
it is reported there instead of far behind.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from larbinpy.config.keys import Key, Shape
from larbinpy.config.schema import KEYS, find_key
from larbinpy.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN: Final = re.compile(r'\s+|#.*|"(?P<string>[^"]*)"|(?P<word>[^\s#"][^\s#]*)')
END: Final = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a quoted string."""

    text: str
    line: int
    is_quoted: bool = False
    is_first: bool = False
    """First of its line."""

    def is_word(self, *words: str) -> bool:
        """Whether this is one of these keywords, given in lower case."""
        return not self.is_quoted and self.text.lower() in words


@dataclass(frozen=True, slots=True)
class Statement:
    """A key and the words that follow it, without ``end``."""

    key: Key
    words: list[str]
    line: int


def tokenize(text: str, name: str) -> Iterator[Token]:
    """Yield the tokens of a text; ``name`` is the file's, for errors.

    Raises:
        ConfigError: a quoted string does not end in its line.
    """
    for number, line in enumerate(text.split("\n"), 1):
        position, is_first = 0, True
        while position < len(line):
            match = TOKEN.match(line, position)
            if match is None:
                string = line[position:].rstrip()
                raise ConfigError(f"{name}:{number}: the string {string} has no closing quote")
            position = match.end()
            if match.lastgroup:
                is_quoted = match.lastgroup == "string"
                yield Token(match[match.lastgroup], number, is_quoted, is_first)
                is_first = False


def nearest_key(name: str) -> str | None:
    """Return the key that was probably meant."""
    found = difflib.get_close_matches(name.lower(), KEYS, n=1, cutoff=0.7)
    return KEYS[found[0]].name if found else None


def unknown_key(name: str) -> str:
    """Return what to say of a key that does not exist."""
    nearest = nearest_key(name)
    return "unknown key" + (f", did you mean {nearest}?" if nearest else "")


class Reader:
    """Reads statements from the tokens of one file."""

    __slots__ = ("_name", "_next", "_tokens")

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._tokens = tokenize(text, name)
        self._next = next(self._tokens, None)

    def statements(self) -> Iterator[Statement]:
        """Yield the statements in order; a ``ConfigError`` names file and line."""
        while (token := self._next) is not None:
            self._advance()
            key = find_key(token.text)
            if key is None:
                raise ConfigError(
                    f"{self._name}:{token.line}: {token.text}: {unknown_key(token.text)}"
                )
            yield Statement(key, self._words(key, token), token.line)

    def _advance(self) -> Token | None:
        token = self._next
        self._next = next(self._tokens, None)
        return token

    def _words(self, key: Key, keyword: Token) -> list[str]:
        """Take the words that belong to a keyword."""
        if key.shape is Shape.FLAG:
            takes = self._next is not None and self._next.is_word("yes", "no")
            return [self._value(key, keyword)] if takes else []
        if key.shape is Shape.LIST:
            return self._until_end(key, keyword)
        if key.shape is Shape.PAIRS:
            return self._pairs_until_end(key, keyword)
        words = [self._value(key, keyword)]
        while len(words) < key.words_from(words[0]):
            words.append(self._value(key, keyword))
        return words

    def _value(self, key: Key, keyword: Token) -> str:
        """Take one word, which must be there."""
        token = self._next
        if token is None or (token.is_first and token.is_word(*KEYS, END)):
            found = "the file ends" if token is None else f"{token.text} begins line {token.line}"
            wanted = "end" if key.shape in (Shape.LIST, Shape.PAIRS) else "a value"
            raise self._error(key, keyword, f"{wanted} is missing: {found}")
        self._advance()
        return token.text

    def _error(self, key: Key, keyword: Token, text: str) -> ConfigError:
        return ConfigError(f"{self._name}:{keyword.line}: {key.name}: {text}")

    def _until_end(self, key: Key, keyword: Token) -> list[str]:
        """Take the words of a list and its ``end``."""
        words = []
        while not (self._next is not None and self._next.is_word(END)):
            words.append(self._value(key, keyword))
        self._advance()
        return words

    def _pairs_until_end(self, key: Key, keyword: Token) -> list[str]:
        """Take the words of a list of pairs and its ``end end``."""
        words = self._until_end(key, keyword)
        if self._next is None or not self._next.is_word(END):
            raise self._error(key, keyword, "the list must end with: end end")
        self._advance()
        if len(words) % 2:
            raise self._error(key, keyword, f"{words[-1]} has no extension beside it")
        return words
