"""The doctype states of the HTML standard, 13.2.5.53 to 13.2.5.68; see ``htmltoken``."""

from __future__ import annotations

from collections.abc import Callable

EOF = ""
SPACES = "\t\n\f "
QUOTES = "\"'"

State = Callable[[str], None]


class DoctypeStates:
    """Part of the tokenizer; the base class only so that no file is too long."""

    state: State
    data: State
    take: Callable[[list[object]], None]
    again: Callable[[State], None]
    text: str
    at: int
    is_done: bool

    doctype_name: str | None = None
    public: str | None = None
    system: str | None = None
    is_correct = True
    quote = ""

    def emit_doctype(self, *, is_correct: bool) -> None:
        is_correct = is_correct and self.is_correct
        self.take(["DOCTYPE", self.doctype_name, self.public, self.system, is_correct])
        self.state = self.data
        self.doctype_name = self.public = self.system = None
        self.is_correct = True

    def end_doctype(self, c: str, *, is_correct: bool = False) -> bool:
        """Take ">" or the end of the page, which end the doctype in every state."""
        if c == EOF:
            self.emit_doctype(is_correct=False)
            self.is_done = True
        elif c == ">":
            self.emit_doctype(is_correct=is_correct)
        return c in (EOF, ">")

    def bogus(self, *, is_correct: bool) -> None:
        self.is_correct = is_correct and self.is_correct
        self.again(self.bogus_doctype)

    def doctype(self, c: str) -> None:
        if c == EOF:
            self.end_doctype(c)
        elif c in SPACES:
            self.state = self.before_doctype_name
        else:
            self.again(self.before_doctype_name)

    def before_doctype_name(self, c: str) -> None:
        if c != EOF and c in SPACES:
            return
        if not self.end_doctype(c):
            self.doctype_name = ""
            self.again(self.name_of_doctype)

    def name_of_doctype(self, c: str) -> None:
        if c != EOF and c in SPACES:
            self.state = self.after_doctype_name
        elif not self.end_doctype(c, is_correct=True):
            piece = c.lower() if c.isascii() else c
            self.doctype_name = (self.doctype_name or "") + piece.replace("\0", "\ufffd")

    def after_doctype_name(self, c: str) -> None:
        if (c != EOF and c in SPACES) or self.end_doctype(c, is_correct=True):
            return
        word = self.text[self.at - 1 : self.at + 5].upper()
        if word == "PUBLIC":
            self.at += 5
            self.state = self.after_public_keyword
        elif word == "SYSTEM":
            self.at += 5
            self.state = self.after_system_keyword
        else:
            self.bogus(is_correct=False)

    def after_public_keyword(self, c: str) -> None:
        if (c != EOF and c in SPACES) or self.end_doctype(c):
            return
        if c in QUOTES:
            self.quote, self.public = c, ""
            self.state = self.public_identifier
        else:
            self.bogus(is_correct=False)

    def public_identifier(self, c: str) -> None:
        if c == self.quote:
            self.state = self.after_public_identifier
        elif not self.end_doctype(c):
            self.public = (self.public or "") + c.replace("\0", "\ufffd")

    def after_public_identifier(self, c: str) -> None:
        if (c != EOF and c in SPACES) or self.end_doctype(c, is_correct=True):
            return
        self.begin_system(c)

    def after_system_keyword(self, c: str) -> None:
        if (c != EOF and c in SPACES) or self.end_doctype(c):
            return
        self.begin_system(c)

    def begin_system(self, c: str) -> None:
        if c in QUOTES:
            self.quote, self.system = c, ""
            self.state = self.system_identifier
        else:
            self.bogus(is_correct=False)

    def system_identifier(self, c: str) -> None:
        if c == self.quote:
            self.state = self.after_system_identifier
        elif not self.end_doctype(c):
            self.system = (self.system or "") + c.replace("\0", "\ufffd")

    def after_system_identifier(self, c: str) -> None:
        if (c != EOF and c in SPACES) or self.end_doctype(c, is_correct=True):
            return
        self.bogus(is_correct=True)

    def bogus_doctype(self, c: str) -> None:
        if c in (EOF, ">"):  # here the end of the page says nothing against the doctype
            self.emit_doctype(is_correct=True)
            self.is_done = c == EOF
