"""What the schema says of a key beside its type and default, and the shapes that keys have."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, TypeVar, Unpack, cast

from larbinpy.config import values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from larbinpy.config.values import Kind

T = TypeVar("T")

ANY_VALUE: Final = "*"
REFUSED: Final = ""
NOT_YET: Final[Mapping[str, str]] = {ANY_VALUE: REFUSED}


class Shape(Enum):
    """What follows a keyword."""

    FLAG = "flag"
    """Nothing, ``yes`` or ``no``."""
    VALUE = "value"
    EACH = "each"
    """One value; the key may be repeated and its values add up."""
    LIST = "list"
    """Values up to ``end``."""
    PAIRS = "pairs"
    """Pairs of values up to ``end end``."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the configuration file."""

    name: str
    """As users write it; its case does not matter."""
    shape: Shape
    kind: Kind[Any]  # the value's type differs by key; the field's annotation says which
    help: str
    group: Literal["behaviour", "performance"] = "behaviour"
    since: str = "larbin"
    """``larbin``, or the version of larbinpy that brought the key."""
    later: Mapping[str, str] = field(default_factory=dict)
    """Values (as written; ``*``: all but the default) that do not work in this version: what
    happens instead, or ``REFUSED`` when the value is an error."""
    word_count: int = 1
    """How many words a value has in the file; a single value that is a URL is one word."""

    @property
    def is_list(self) -> bool:
        """Whether the value is a tuple, to which repeated keys add."""
        return self.shape in (Shape.EACH, Shape.LIST, Shape.PAIRS)

    def read(self, words: list[str]) -> Any:  # the field's type
        """Return the value that these words of a file mean; ``ValueError`` says what is wrong."""
        if self.shape is Shape.FLAG:
            return words[0].lower() == "yes" if words else True
        if self.shape is Shape.PAIRS:
            # Content types ignore case, extensions do not.
            pairs = zip(words[::2], words[1::2], strict=True)
            return tuple((self.kind.read(one.lower()), self.kind.read(two)) for one, two in pairs)
        if self.is_list:
            size = self.word_count
            starts = range(0, len(words), size)
            return tuple(self.kind.read(" ".join(words[at : at + size])) for at in starts)
        text = " ".join(words)
        if self.word_count > 1 and text and len(text.split()) != self.words_from(text):
            raise ValueError(f"{text!r} is not {self.word_count} words")
        return self.kind.read(text)

    def words_from(self, first: str) -> int:
        """Return how many words a value has that begins with this one."""
        is_url = self.shape is Shape.VALUE and "://" in first
        return 1 if is_url else self.word_count

    def write(self, value: Any) -> list[str]:  # the field's type
        """Return the words of a file that mean this value."""
        if self.shape is Shape.FLAG:
            return ["yes" if value else "no"]
        if self.shape is Shape.PAIRS:
            return [self.kind.write(word) for pair in value for word in pair]
        if self.is_list:
            splits = self.word_count - 1
            return [word for item in value for word in self.kind.write(item).split(" ", splits)]
        text = self.kind.write(value)
        return text.split() if self.word_count > 1 and text else [text]


class More(TypedDict, total=False):
    """What a key may add to its name, kind and help."""

    group: Literal["behaviour", "performance"]
    since: str
    later: Mapping[str, str]
    word_count: int


def key_field(default: T, key: Key) -> T:
    """Return a dataclass field that carries its key."""
    return field(default=default, metadata={"key": key})


def flag(name: str, text: str, *, default: bool = False, **more: Unpack[More]) -> bool:
    """Declare a flag."""
    kind = values.Choice(("yes", "no"))
    return key_field(default, Key(name, Shape.FLAG, kind, text, **more))


def whole(
    name: str,
    default: int,
    text: str,
    *,
    low: int = 0,
    high: int = values.HIGHEST,
    **more: Unpack[More],
) -> int:
    """Declare a whole number."""
    return key_field(default, Key(name, Shape.VALUE, values.Whole(low, high), text, **more))


def ratio(
    name: str, default: float, text: str, *, low: float, high: float, **more: Unpack[More]
) -> float:
    """Declare a number with decimals."""
    return key_field(default, Key(name, Shape.VALUE, values.Ratio(low, high), text, **more))


def seconds(
    name: str,
    default: float,
    text: str,
    *,
    bare: str = "s",
    low: float = 0.0,
    high: float = 86400.0,
    **more: Unpack[More],
) -> float:
    """Declare a duration; a bare number in the file has the unit ``bare``."""
    kind = values.Duration(bare, low, high)
    return key_field(default, Key(name, Shape.VALUE, kind, text, **more))


def size(
    name: str,
    default: int,
    text: str,
    *,
    low: int = 0,
    high: int = values.HIGHEST,
    **more: Unpack[More],
) -> int:
    """Declare a number of bytes."""
    return key_field(default, Key(name, Shape.VALUE, values.Size(low, high), text, **more))


def choice(name: str, words: tuple[str, ...], text: str, **more: Unpack[More]) -> str:
    """Declare a choice of words; the first is the default."""
    return key_field(words[0], Key(name, Shape.VALUE, values.Choice(words), text, **more))


def string(
    name: str, default: str, text: str, *, header: bool = False, **more: Unpack[More]
) -> str:
    """Declare a string."""
    return key_field(default, Key(name, Shape.VALUE, values.Text(header), text, **more))


def proxy_address(name: str, text: str) -> str:
    """Declare a proxy, unset by default."""
    return key_field("", Key(name, Shape.VALUE, values.ProxyAddress(), text, word_count=2))


def by_origin(
    name: str, what: Kind[bytes], text: str, *, since: str
) -> tuple[tuple[bytes, bytes], ...]:
    """Declare a key that says something about one origin; it may be repeated."""
    kind = values.ForOrigin(what)
    empty = cast("tuple[tuple[bytes, bytes], ...]", ())
    return key_field(empty, Key(name, Shape.EACH, kind, text, since=since, word_count=2))


def directory(name: str, default: str, text: str, **more: Unpack[More]) -> Path:
    """Declare a directory that is always there."""
    return key_field(Path(default), Key(name, Shape.VALUE, values.FilePath(), text, **more))


def optional_path(name: str, text: str, **more: Unpack[More]) -> Path | None:
    """Declare a path that may be unset."""
    kind = values.FilePath(is_optional=True)
    return key_field(cast("Path | None", None), Key(name, Shape.VALUE, kind, text, **more))


def word_list(name: str, text: str, kind: Kind[bytes], **more: Unpack[More]) -> tuple[bytes, ...]:
    """Declare a list of words that ends with ``end``."""
    return key_field(cast("tuple[bytes, ...]", ()), Key(name, Shape.LIST, kind, text, **more))
