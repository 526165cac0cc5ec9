"""The edge between the parser and its outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from larbinpy.records import NO_DIRECTIVES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from larbinpy.records import Directive, Page


class Store(Protocol):
    """Where pages go."""

    @property
    def keeps(self) -> bool:
        """Whether there is an output at all."""
        ...

    @property
    def refuses(self) -> Directive:
        """Pages that ask for one of these do not belong here, if what pages ask is obeyed."""
        ...

    def put(self, page: Page, body: bytes, mime: bytes) -> None:
        """Store a page, in place of an earlier copy if it was stored before.

        Args:
            body: decoded, as the server meant it.
            mime: type and subtype in lower case, ``b""`` when the server named none.

        Raises:
            StorageError: the disk refused; the page is not stored.
        """
        ...

    def answered(self, page_ids: Iterable[int]) -> None:
        """Their shards were told that these pages are finished, stored or not."""
        ...

    def left(self, shard: int) -> None:
        """A shard has died: its pages may come again."""
        ...

    def close(self) -> None:
        """Finish what is open."""
        ...


class Nothing:
    """larbin's ``outputMode 0``: pages are read for their links only."""

    __slots__ = ()

    keeps: Final = False
    refuses: Final = NO_DIRECTIVES

    def put(self, page: Page, body: bytes, mime: bytes) -> None:
        """See ``Store``."""

    def answered(self, page_ids: Iterable[int]) -> None:
        """See ``Store``."""

    def left(self, shard: int) -> None:
        """See ``Store``."""

    def close(self) -> None:
        """See ``Store``."""
