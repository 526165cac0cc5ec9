"""Printable ASCII as JSON strings, said plainly."""

from __future__ import annotations

import json


def quoted(text: bytes) -> str | None:
    if len(text) >= 2000 or any(not 0x20 <= byte < 0x7F for byte in text):
        return None
    return json.dumps(text.decode("ascii")) if text else "null"
