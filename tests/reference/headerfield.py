"""Values of a header field, said plainly."""

from __future__ import annotations

import re


def fields(headers: bytes, name: bytes) -> list[bytes]:
    pattern = rb"^%b[ \t]*:([^\r\n]*)" % re.escape(name)
    return [value.strip() for value in re.findall(pattern, headers, re.IGNORECASE | re.MULTILINE)]
