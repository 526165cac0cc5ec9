"""Hosts by the URL standard, for the reference of ``ext/urlnorm.pyx``."""

from __future__ import annotations

import re
import string

C0_AND_SPACE = "".join(map(chr, range(0x21)))
FORBIDDEN_DOMAIN = set(C0_AND_SPACE + "#/:<>?@[\\]^|%\x7f")


class Failure(Exception):
    """The URL does not parse."""


def percent_decode(data: bytes) -> bytes:
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), data)


def parse_host(text: str, mapped: bytes | None) -> tuple[str, bool]:
    """The host and whether it is left to the caller, then percent-decoded."""
    if mapped is not None:
        text = mapped.decode("utf-8", "surrogateescape")
    if text.startswith("["):
        if not text.endswith("]"):
            raise Failure
        return f"[{serialise_ipv6(parse_ipv6(text[1:-1]))}]", False
    decoded = percent_decode(text.encode("utf-8", "surrogateescape"))
    if not decoded.isascii():
        return decoded.lower().decode("utf-8", "surrogateescape"), True
    domain = decoded.decode("ascii").lower()
    if domain == "" or set(domain) & FORBIDDEN_DOMAIN:
        raise Failure
    if len(domain) > 253 or any(len(label) > 63 for label in domain.split(".")):
        raise Failure
    if ends_in_a_number(domain):
        return serialise_ipv4(parse_ipv4(domain)), False
    return domain, False


def parse_ipv4_number(text: str) -> int:
    radix, digits = 10, text
    if text[:2] in ("0x", "0X"):
        radix, digits = 16, text[2:]
    elif len(text) > 1 and text[0] == "0":
        radix, digits = 8, text[1:]
    if text == "" or set(digits) - set(string.hexdigits):
        raise Failure
    try:
        return int(digits or "0", radix)
    except ValueError:
        raise Failure from None


def ends_in_a_number(domain: str) -> bool:
    parts = domain.split(".")
    if parts[-1] == "":
        if len(parts) == 1:
            return False
        parts.pop()
    if parts[-1].isdigit():
        return True
    try:
        parse_ipv4_number(parts[-1])
    except Failure:
        return False
    return True


def parse_ipv4(domain: str) -> int:
    parts = domain.split(".")
    if parts[-1] == "" and len(parts) > 1:
        parts.pop()
    if len(parts) > 4:
        raise Failure
    numbers = [parse_ipv4_number(part) for part in parts]
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(numbers)):
        raise Failure
    return numbers[-1] + sum(number << 8 * (3 - i) for i, number in enumerate(numbers[:-1]))


def serialise_ipv4(address: int) -> str:
    return ".".join(str(byte) for byte in address.to_bytes(4, "big"))


def parse_ipv6(text: str) -> list[int]:
    """By the grammar: at most one "::", pieces of hex digits, perhaps a dotted quad at the end."""
    head, gap, tail = text.partition("::")
    left = ipv6_pieces(head, may_end_in_quad=not gap)
    if not gap:
        if len(left) != 8:
            raise Failure
        return left
    right = ipv6_pieces(tail, may_end_in_quad=True)
    if len(left) + len(right) > 7:
        raise Failure
    return left + [0] * (8 - len(left) - len(right)) + right


def ipv6_pieces(text: str, *, may_end_in_quad: bool) -> list[int]:
    if text == "":
        return []
    *pieces, last = text.split(":")
    if may_end_in_quad and "." in last:
        byte = r"(0|[1-9][0-9]{0,2})"
        quad = re.fullmatch(rf"{byte}\.{byte}\.{byte}\.{byte}", last, re.ASCII)
        if quad is None or any(int(part) > 255 for part in quad.groups()):
            raise Failure
        a, b, c, d = map(int, quad.groups())
        pieces += [f"{a << 8 | b:x}", f"{c << 8 | d:x}"]
    else:
        pieces.append(last)
    if not all(re.fullmatch("[0-9A-Fa-f]{1,4}", piece) for piece in pieces):
        raise Failure
    return [int(piece, 16) for piece in pieces]


def serialise_ipv6(pieces: list[int]) -> str:
    texts = [f"{piece:x}" for piece in pieces]
    for size in range(8, 1, -1):
        for start in range(9 - size):
            if not any(pieces[start : start + size]):
                return ":".join(texts[:start]) + "::" + ":".join(texts[start + size :])
    return ":".join(texts)
