"""How one value is written in a configuration file: numbers with units, words, paths, URLs.

A kind reads the text of a value and writes it back; ``read(write(value)) == value`` for every
value that ``read`` can return. What is wrong with a text is the message of a ``ValueError``.
"""

from larbinpy.config.values.addresses import (
    Credentials,
    ForOrigin,
    HeaderLine,
    HttpUrl,
    ProxyAddress,
)
from larbinpy.config.values.kind import Kind
from larbinpy.config.values.numbers import HIGHEST, Duration, Ratio, Size, Whole
from larbinpy.config.values.words import Choice, FilePath, Pattern, Text, Word

__all__ = [
    "HIGHEST",
    "Choice",
    "Credentials",
    "Duration",
    "FilePath",
    "ForOrigin",
    "HeaderLine",
    "HttpUrl",
    "Kind",
    "Pattern",
    "ProxyAddress",
    "Ratio",
    "Size",
    "Text",
    "Whole",
    "Word",
]
