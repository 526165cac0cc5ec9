"""Documents by their types."""

from __future__ import annotations

from typing import Any

import pytest

from larbinpy import wiring
from larbinpy.config import Config
from larbinpy.parse.pagetypes import HTML_TYPES


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, HTML_TYPES),
        ({"any_type": True}, ()),
        ({"specific_set": ((b"application/PDF", "pdf"),)}, (*HTML_TYPES, b"application/pdf")),
        ({"get_image": True}, (*HTML_TYPES, b"image/")),
    ],
)
def test_accepted_types(keys: dict[str, Any], expected: tuple[bytes, ...]) -> None:
    """HTML always, and what else is asked for; lower case, as types are compared."""
    assert wiring.accepted_types(Config(**keys)) == expected


def test_specific_types() -> None:
    """Only with ``specificSearch`` is the output restricted to them."""
    pdf: Any = ((b"application/PDF", "pdf"),)
    assert wiring.specific_types(Config(specific_set=pdf)) == frozenset()
    wanted = wiring.specific_types(Config(specific_set=pdf, specific_search=True))
    assert wanted == {b"application/pdf"}
