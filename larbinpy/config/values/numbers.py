"""Numbers, alone or with a unit: counts, ratios, durations, sizes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

NUMBER: Final = re.compile(r"(\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*([a-z]*)", re.IGNORECASE)
WHOLE: Final = re.compile(r"[+-]?[0-9]{1,20}")
HIGHEST: Final = 2**63 - 1
"""Counters are signed 64-bit in every file and frame."""

DURATIONS: Final = {
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86400),
}
SIZES: Final = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}


def _in_range(value: float, low: float, high: float, form: str) -> None:
    if not low <= value <= high:
        raise ValueError(f"must be {form}")


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number."""

    low: int = 0
    high: int = HIGHEST

    @property
    def form(self) -> str:
        if self.high == HIGHEST:
            return f"a whole number, {self.low} or more"
        return f"a whole number from {self.low} to {self.high}"

    def read(self, text: str) -> int:
        if not WHOLE.fullmatch(text):
            raise ValueError(f"{text!r} is not {self.form}")
        value = int(text)
        _in_range(value, self.low, self.high, self.form)
        return value

    def write(self, value: int) -> str:
        return str(value)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A number with decimals."""

    low: float
    high: float

    @property
    def form(self) -> str:
        return f"a number from {self.low!r} to {self.high!r}"

    def read(self, text: str) -> float:
        match = NUMBER.fullmatch(text)
        if match is None or match[2]:
            raise ValueError(f"{text!r} is not {self.form}")
        value = float(match[1])
        _in_range(value, self.low, self.high, self.form)
        return value

    def write(self, value: float) -> str:
        return repr(value)


@dataclass(frozen=True, slots=True)
class Duration:
    """Seconds, written ``250ms 10s 5m 1h 1d``; a bare number has the unit ``bare``."""

    bare: str = "s"
    low: float = 0.0
    high: float = 3650 * 86400.0
    is_optional: bool = False

    @property
    def form(self) -> str:
        return (
            f"a duration from {self.write(self.low)} to {self.write(self.high)}"
            f" (250ms, 10s, 5m, 1h, 1d; a bare number means {self.bare})"
        )

    def read(self, text: str) -> float | None:
        if self.is_optional and not text:
            return None
        match = NUMBER.fullmatch(text)
        unit = DURATIONS.get((match[2] or self.bare).lower()) if match else None
        if match is None or unit is None:
            raise ValueError(f"{text!r} is not {self.form}")
        value = float(match[1])
        # A float times a power of ten is off by one bit; the fraction rounds once.
        value = value if unit == 1 else float(Fraction(match[1]) * unit)
        _in_range(value, self.low, self.high, self.form)
        return value

    def write(self, value: float | None) -> str:
        if value is None:
            return ""
        for unit in ("d", "h", "m"):
            if value and value % DURATIONS[unit] == 0:
                return f"{int(value / DURATIONS[unit])}{unit}"
        return f"{int(value)}s" if value == int(value) else f"{value!r}s"


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes, written ``64K 1Ki 1M 1Gi``: K, M, G, T are powers of 1000, Ki, Mi, ... of 1024."""

    low: int = 0
    high: int = HIGHEST

    @property
    def form(self) -> str:
        most = f" to {self.write(self.high)}" if self.high < HIGHEST else " up"
        return f"bytes from {self.write(self.low)}{most} (64K, 1Ki, 1M, 1Gi)"

    def read(self, text: str) -> int:
        match = NUMBER.fullmatch(text)
        unit = SIZES.get(match[2].lower().removesuffix("b")) if match else None
        if match is None or unit is None:
            raise ValueError(f"{text!r} is not {self.form}")
        value = Fraction(match[1]) * unit
        if value.denominator != 1:
            raise ValueError(f"{text!r} is not a whole number of bytes")
        _in_range(int(value), self.low, self.high, self.form)
        return int(value)

    def write(self, value: int) -> str:
        for unit in ("Ti", "Gi", "Mi", "Ki"):
            if value and value % SIZES[unit.lower()] == 0:
                return f"{value // SIZES[unit.lower()]}{unit}"
        return str(value)
