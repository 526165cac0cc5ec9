"""A configuration that is read again while its crawl runs; SIGHUP asks for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.errors import LarbinError
from larbinpy.supervisor.changing import change

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.config import Config


class Reload:
    """Reads the configuration again when that was wished for.

    Args of ``__init__``:
        reread: reads it; None: it cannot be read again.
        say: tells the operator what has changed, what could not, and what is wrong.
    """

    __slots__ = ("_is_wanted", "_reread", "_say")

    def __init__(self, reread: Callable[[], Config] | None, say: Callable[[str], None]) -> None:
        self._reread = reread
        self._say = say
        self._is_wanted = False

    def want(self) -> None:
        """Read it at the next ``take``; for a signal, which may come at any moment."""
        self._is_wanted = True

    def take(self, old: Config, configure: Callable[[Config], None]) -> None:
        """Read it if that is wanted, and ``configure`` when it is another one than ``old``.

        What is said to have changed has been told to everybody; a ``LarbinError`` of ``configure``
        means that nothing has.
        """
        if not self._is_wanted or self._reread is None:
            return
        self._is_wanted = False
        try:
            changed = change(old, self._reread())
            if changed.made:
                configure(changed.config)
        except LarbinError as error:
            self._say(f"larbinpy: {error}; nothing was changed")
            return
        if not (changed.made or changed.refused):
            self._say("configuration: nothing has changed")
        for names, text in ((changed.made, "changed"), (changed.refused, "kept until a restart")):
            if names:
                self._say(f"configuration: {text}: {', '.join(names)}")
