"""Command line over environment over file over default: one ``Config`` from all of them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from larbinpy.config.check import check
from larbinpy.config.grammar import END, Reader, nearest_key, tokenize, unknown_key
from larbinpy.config.keys import Key, Shape
from larbinpy.config.machine import allowed_connections
from larbinpy.config.schema import ATTRIBUTES, KEYS, Config, find_key
from larbinpy.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

PREFIX: Final = "LARBINPY_"
DEFAULT: Final = Config()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration and what is to be said of it."""

    config: Config
    warnings: list[str] = field(default_factory=list)


def load(
    path: Path | None,
    overrides: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
    urls: Sequence[bytes] = (),
) -> Loaded:
    """Return the effective configuration.

    Args:
        path: the configuration file, None for the defaults alone.
        overrides: ``KEY=VALUE`` of ``--set``; they replace, lists too, and the last one counts.
        environ: where ``LARBINPY_KEY`` variables are looked for.
        urls: URLs of the command line, added to the seeds.

    Raises:
        ConfigError: the configuration cannot be used; its text says where.
    """
    settings = _Settings()
    if path is not None:
        settings.read_text(read_file(path), str(path))
    settings.read_environment(environ or {})
    for override in overrides:
        settings.read_override(override)
    settings.add_urls(urls)
    config = fit(settings.config())
    return Loaded(config, settings.warnings + check(config, settings.places))


def loads(text: str, name: str = "configuration") -> Loaded:
    """Return the configuration that the text of a file describes; ``name`` is for errors."""
    settings = _Settings()
    settings.read_text(text, name)
    config = fit(settings.config())
    return Loaded(config, check(config, settings.places))


def read_file(path: Path) -> str:
    """Return the text of a configuration file; bytes that are not UTF-8 are kept as surrogates.

    Raises:
        ConfigError: it cannot be read or is not a text.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    if b"\0" in data:
        raise ConfigError(f"{path}: is not a text file (it holds NUL bytes)")
    return data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def fit(config: Config) -> Config:
    """Lower ``pagesConnexions`` to what descriptors allow, if it was left at its default."""
    allowed = allowed_connections(config)
    if config.pages_connexions != DEFAULT.pages_connexions or allowed >= config.pages_connexions:
        return config
    return dataclasses.replace(config, pages_connexions=allowed)


class _Settings:
    """What was set so far, and where."""

    __slots__ = ("_values", "places", "warnings")

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}  # the types of Config's fields
        self.places: dict[str, str] = {}
        self.warnings: list[str] = []

    def config(self) -> Config:
        """Return the configuration; what was not set has its default."""
        return Config(**{ATTRIBUTES[name]: value for name, value in self._values.items()})

    def read_text(self, text: str, name: str) -> None:
        """Take the statements of a file."""
        for statement in Reader(text, name).statements():
            key = statement.key
            place = f"{name}:{statement.line}: {key.name}"
            value = _read(key, statement.words, place)
            if key.name not in self._values:
                self._replace(key, value, place)
            elif key.is_list:
                self._values[key.name] += value
            else:
                raise ConfigError(f"{place}: is set twice, first in {self.places[key.name]}")

    def read_environment(self, environ: Mapping[str, str]) -> None:
        """Take the variables ``LARBINPY_KEY``; those that look like a key misspelt are named."""
        known = {PREFIX + key.name.upper(): key for key in KEYS.values()}
        for name in sorted(variable for variable in environ if variable.startswith(PREFIX)):
            if key := known.get(name):
                self._replace(key, _read(key, _words(key, environ[name], name), name), name)
            elif nearest := nearest_key(name.removeprefix(PREFIX)):
                self.warnings.append(f"{name}: unknown, did you mean {PREFIX}{nearest.upper()}?")

    def read_override(self, override: str) -> None:
        """Take one ``KEY=VALUE``; a flag needs no value."""
        name, equals, text = override.partition("=")
        place = f"--set: {name}"
        key = find_key(name.strip())
        if key is None:
            raise ConfigError(f"{place}: {unknown_key(name.strip())}")
        place = f"--set: {key.name}"
        if not equals and key.shape is not Shape.FLAG:
            raise ConfigError(f"{place}: a value is missing (KEY=VALUE)")
        words = _words(key, text, place) if equals else []
        self._replace(key, _read(key, words, place), place)

    def add_urls(self, urls: Iterable[bytes]) -> None:
        """Add URLs of the command line to the seeds."""
        key = KEYS["starturl"]
        for url in urls:
            value = _read(key, [url.decode("utf-8", "surrogateescape")], "URL")
            self._values[key.name] = self._values.get(key.name, ()) + value

    def _replace(self, key: Key, value: Any, place: str) -> None:  # the field's type
        self._values[key.name] = value
        self.places[key.name] = place


def _read(key: Key, words: list[str], place: str) -> Any:  # the field's type
    try:
        return key.read(words)
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from error


def _words(key: Key, text: str, place: str) -> list[str]:
    """Return the words of a value given outside a file.

    A list has the file's syntax, its ``end`` may be left out; any other value is the whole text.
    """
    if key.shape is Shape.FLAG:
        if text.strip().lower() not in ("yes", "no"):
            raise ConfigError(f"{place}: {text!r} is not yes or no")
        return [text.strip()]
    if not key.is_list:
        text = text.strip()
        is_quoted = len(text) > 1 and text[0] == text[-1] == '"'
        return [text[1:-1] if is_quoted else text]
    tokens = list(tokenize(text, place))
    ends = 2 if key.shape is Shape.PAIRS else 1
    while ends and tokens and tokens[-1].is_word(END):
        tokens.pop()
        ends -= 1
    if key.shape is Shape.PAIRS and len(tokens) % 2:
        raise ConfigError(f"{place}: {tokens[-1].text} has no extension beside it")
    return [token.text for token in tokens]
