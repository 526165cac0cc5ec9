"""The tokenizer of the HTML standard, 13.2.5, state by state: the oracle of the link scanner.

Each state is a method that takes the next character (``EOF`` is the empty string); its name is the
standard's. ``again`` reconsumes the character in another state. Parse errors are not reported.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.reference.htmlcharref import character_reference
from tests.reference.htmldoctype import DoctypeStates

EOF = ""
SPACES = "\t\n\f "
REPLACED = {"\0": "\ufffd"}

Token = list[object]
State = Callable[[str], None]


def is_alpha(c: str) -> bool:
    """ASCII letters only."""
    return c != EOF and c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def lower(c: str) -> str:
    """Fold ASCII letters only."""
    return c.lower() if is_alpha(c) else c


class Tokenizer(DoctypeStates):
    """Tokens go to ``take``, which may set ``state`` after a start tag, as a tree builder does."""

    def __init__(
        self,
        text: str,
        take: Callable[[Token], None],
        is_foreign: Callable[[], bool] = lambda: False,
    ) -> None:
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.at = 0
        self.take = take
        self.is_foreign = is_foreign
        self.state: State = self.data
        self.last_start = ""
        self.is_done = False
        self.buffer = ""
        self.name = ""
        self.is_end = False
        self.attributes: dict[str, str] = {}
        self.attribute = ["", ""]
        self.comment = ""

    def run(self) -> None:
        """Tokenize the whole text."""
        while not self.is_done:
            c = self.text[self.at] if self.at < len(self.text) else EOF
            self.at += 1
            self.state(c)

    # --- helpers -----------------------------------------------------------------------------
    def again(self, state: State) -> None:
        self.at -= 1
        self.state = state

    def char(self, c: str) -> None:
        self.take(["Character", c])

    def ahead(self, word: str) -> bool:
        """Whether these characters come next; they are then consumed."""
        found = self.text.startswith(word, self.at)
        self.at += len(word) if found else 0
        return found

    def finish(self) -> None:
        self.is_done = True

    def text_or_end(self, c: str) -> None:
        if c == EOF:
            self.finish()
        else:
            self.char(REPLACED.get(c, c))

    # --- text states -------------------------------------------------------------------------
    def data(self, c: str) -> None:
        if c == "&":
            self.char_reference()
        elif c == "<":
            self.state = self.tag_open
        elif c == EOF:
            self.finish()
        else:
            self.char(c)

    def rcdata(self, c: str) -> None:
        if c == "&":
            self.char_reference()
        elif c == "<":
            self.begin_raw_end(self.rcdata)
        else:
            self.text_or_end(c)

    def rawtext(self, c: str) -> None:
        if c == "<":
            self.begin_raw_end(self.rawtext)
        else:
            self.text_or_end(c)

    def plaintext(self, c: str) -> None:
        self.text_or_end(c)

    def cdata_section(self, c: str) -> None:
        if c == EOF:
            self.finish()
        elif c == "]" and self.ahead("]>"):
            self.state = self.data
        else:
            self.char(c)

    def char_reference(self) -> None:
        value, self.at = character_reference(self.text, self.at, in_attribute=False)
        for c in value:
            self.char(c)

    def begin_raw_end(self, text_state: State) -> None:
        """The states "... less-than sign", "... end tag open" and "... end tag name" in one.

        Their end: the tag goes on, or "<" was text and the rest is read again in ``text_state``.
        """
        size = len(self.last_start)
        name = self.text[self.at + 1 : self.at + 1 + size]
        behind = self.text[self.at + 1 + size : self.at + 2 + size]
        matches = self.text.startswith("/", self.at) and self.last_start != ""
        if matches and lower_all(name) == self.last_start and behind and behind in "\t\n\f />":
            self.at += 1 + size
            self.begin_tag(is_end=True)
            self.name = self.last_start
            self.state = self.tag_name
        else:
            self.char("<")
            self.state = text_state

    # --- script ------------------------------------------------------------------------------
    def script_data(self, c: str) -> None:
        if c == "<" and self.ahead("!--"):
            for piece in "<!--":
                self.char(piece)
            self.state = self.script_data_escaped_dash_dash
        elif c == "<":
            self.begin_raw_end(self.script_data)
        else:
            self.text_or_end(c)

    def script_data_escaped(self, c: str) -> None:
        if c == "-":
            self.char(c)
            self.state = self.script_data_escaped_dash
        else:
            self.escaped_other(c)

    def script_data_escaped_dash(self, c: str) -> None:
        if c == "-":
            self.char(c)
            self.state = self.script_data_escaped_dash_dash
        else:
            self.escaped_other(c)

    def script_data_escaped_dash_dash(self, c: str) -> None:
        if c == "-":
            self.char(c)
        elif c == ">":
            self.char(c)
            self.state = self.script_data
        else:
            self.escaped_other(c)

    def escaped_other(self, c: str) -> None:
        if c != "<":
            self.state = self.script_data_escaped
            self.text_or_end(c)
        elif is_alpha(self.text[self.at : self.at + 1]):
            self.char(c)
            self.buffer = ""
            self.state = self.script_data_double_escape_start
        else:
            self.begin_raw_end(self.script_data_escaped)

    def script_data_double_escape_start(self, c: str) -> None:
        inside, outside = self.script_data_double_escaped, self.script_data_escaped
        self.escape_word(c, inside, outside, otherwise=outside)

    def script_data_double_escaped(self, c: str) -> None:
        if c == "-":
            self.char(c)
            self.state = self.script_data_double_escaped_dash
        else:
            self.double_escaped_other(c)

    def script_data_double_escaped_dash(self, c: str) -> None:
        if c == "-":
            self.char(c)
            self.state = self.script_data_double_escaped_dash_dash
        else:
            self.double_escaped_other(c)

    def script_data_double_escaped_dash_dash(self, c: str) -> None:
        if c == "-":
            self.char(c)
        elif c == ">":
            self.char(c)
            self.state = self.script_data
        else:
            self.double_escaped_other(c)

    def double_escaped_other(self, c: str) -> None:
        if c == "<":
            self.char(c)
            self.state = self.script_data_double_escaped_less_than_sign
        else:
            self.state = self.script_data_double_escaped
            self.text_or_end(c)

    def script_data_double_escaped_less_than_sign(self, c: str) -> None:
        if c == "/":
            self.char(c)
            self.buffer = ""
            self.state = self.script_data_double_escape_end
        else:
            self.again(self.script_data_double_escaped)

    def script_data_double_escape_end(self, c: str) -> None:
        inside, outside = self.script_data_double_escaped, self.script_data_escaped
        self.escape_word(c, outside, inside, otherwise=inside)

    def escape_word(self, c: str, if_script: State, if_not: State, otherwise: State) -> None:
        if c != EOF and c in SPACES + "/>":
            self.char(c)
            self.state = if_script if self.buffer == "script" else if_not
        elif is_alpha(c):
            self.buffer += lower(c)
            self.char(c)
        else:
            self.again(otherwise)

    # --- tags --------------------------------------------------------------------------------
    def begin_tag(self, *, is_end: bool) -> None:
        self.name = ""
        self.is_end = is_end
        self.attributes = {}
        self.attribute = ["", ""]

    def tag_open(self, c: str) -> None:
        if c == "!":
            self.markup_declaration_open()
        elif c == "/":
            self.state = self.end_tag_open
        elif is_alpha(c):
            self.begin_tag(is_end=False)
            self.again(self.tag_name)
        elif c == "?":
            self.comment = ""
            self.again(self.bogus_comment)
        else:
            self.char("<")
            self.again(self.data)

    def end_tag_open(self, c: str) -> None:
        if is_alpha(c):
            self.begin_tag(is_end=True)
            self.again(self.tag_name)
        elif c == ">":
            self.state = self.data
        elif c == EOF:
            self.char("<")
            self.char("/")
            self.finish()
        else:
            self.comment = ""
            self.again(self.bogus_comment)

    def tag_name(self, c: str) -> None:
        if c == EOF:
            self.finish()
        elif c in SPACES:
            self.state = self.before_attribute_name
        elif c == "/":
            self.state = self.self_closing_start_tag
        elif c == ">":
            self.emit_tag()
        else:
            self.name += REPLACED.get(c, lower(c))

    def self_closing_start_tag(self, c: str) -> None:
        if c == ">":
            self.emit_tag(is_self_closing=True)
        elif c == EOF:
            self.finish()
        else:
            self.again(self.before_attribute_name)

    def emit_tag(self, *, is_self_closing: bool = False) -> None:
        self.end_attribute()
        self.state = self.data
        if self.is_end:
            self.take(["EndTag", self.name])
            return
        self.last_start = self.name
        token: Token = ["StartTag", self.name, self.attributes]
        self.take([*token, True] if is_self_closing else token)

    # --- attributes --------------------------------------------------------------------------
    def end_attribute(self) -> None:
        name, value = self.attribute
        if name:
            self.attributes.setdefault(name, value)
        self.attribute = ["", ""]

    def before_attribute_name(self, c: str) -> None:
        if c != EOF and c in SPACES:
            return
        if c == EOF or c in "/>":
            self.again(self.after_attribute_name)
            return
        self.end_attribute()
        self.state = self.attribute_name
        if c == "=":
            self.attribute[0] = c
        else:
            self.at -= 1

    def attribute_name(self, c: str) -> None:
        if c == EOF or c in SPACES + "/>":
            self.again(self.after_attribute_name)
        elif c == "=":
            self.state = self.before_attribute_value
        else:
            self.attribute[0] += REPLACED.get(c, lower(c))

    def after_attribute_name(self, c: str) -> None:
        if c == EOF:
            self.finish()
        elif c in SPACES:
            pass
        elif c == "/":
            self.state = self.self_closing_start_tag
        elif c == "=":
            self.state = self.before_attribute_value
        elif c == ">":
            self.emit_tag()
        else:
            self.end_attribute()
            self.again(self.attribute_name)

    def before_attribute_value(self, c: str) -> None:
        if c != EOF and c in SPACES:
            return
        if c == '"':
            self.state = self.attribute_value_double_quoted
        elif c == "'":
            self.state = self.attribute_value_single_quoted
        elif c == ">":
            self.emit_tag()
        else:
            self.again(self.attribute_value_unquoted)

    def attribute_value_double_quoted(self, c: str) -> None:
        self.quoted_value(c, '"')

    def attribute_value_single_quoted(self, c: str) -> None:
        self.quoted_value(c, "'")

    def quoted_value(self, c: str, quote: str) -> None:
        if c == quote:
            self.state = self.after_attribute_value_quoted
        elif c == EOF:
            self.finish()
        else:
            self.value_char(c)

    def attribute_value_unquoted(self, c: str) -> None:
        if c == EOF:
            self.finish()
        elif c in SPACES:
            self.state = self.before_attribute_name
        elif c == ">":
            self.emit_tag()
        else:
            self.value_char(c)

    def value_char(self, c: str) -> None:
        if c == "&":
            c, self.at = character_reference(self.text, self.at, in_attribute=True)
        self.attribute[1] += REPLACED.get(c, c)

    def after_attribute_value_quoted(self, c: str) -> None:
        if c == EOF:
            self.finish()
        elif c in SPACES:
            self.state = self.before_attribute_name
        elif c == "/":
            self.state = self.self_closing_start_tag
        elif c == ">":
            self.emit_tag()
        else:
            self.again(self.before_attribute_name)

    # --- comments ----------------------------------------------------------------------------
    def markup_declaration_open(self) -> None:
        self.comment = ""
        if self.ahead("--"):
            self.state = self.comment_start
        elif lower_all(self.text[self.at : self.at + 7]) == "doctype":
            self.at += 7
            self.state = self.doctype
        elif self.is_foreign() and self.ahead("[CDATA["):
            self.state = self.cdata_section
        else:
            self.state = self.bogus_comment

    def emit_comment(self, _: str = "") -> None:
        self.take(["Comment", self.comment])
        self.state = self.data

    def bogus_comment(self, c: str) -> None:
        if c == EOF or c == ">":
            self.emit_comment()
            self.is_done = c == EOF
        else:
            self.comment += REPLACED.get(c, c)

    def comment_start(self, c: str) -> None:
        if c == "-":
            self.state = self.comment_start_dash
        elif c == ">":
            self.emit_comment()
        else:
            self.again(self.comment_text)

    def comment_start_dash(self, c: str) -> None:
        if c == "-":
            self.state = self.comment_end
        elif c == ">":
            self.emit_comment()
        elif c == EOF:
            self.emit_comment()
            self.finish()
        else:
            self.comment += "-"
            self.again(self.comment_text)

    def comment_text(self, c: str) -> None:
        # The four "comment less-than sign" states only tell parse errors apart.
        if c == "-":
            self.state = self.comment_end_dash
        elif c == EOF:
            self.emit_comment()
            self.finish()
        else:
            self.comment += REPLACED.get(c, c)

    def comment_end_dash(self, c: str) -> None:
        if c == "-":
            self.state = self.comment_end
        elif c == EOF:
            self.emit_comment()
            self.finish()
        else:
            self.comment += "-"
            self.again(self.comment_text)

    def comment_end(self, c: str) -> None:
        if c == ">":
            self.emit_comment()
        elif c == "!":
            self.state = self.comment_end_bang
        elif c == "-":
            self.comment += "-"
        elif c == EOF:
            self.emit_comment()
            self.finish()
        else:
            self.comment += "--"
            self.again(self.comment_text)

    def comment_end_bang(self, c: str) -> None:
        if c == ">":
            self.emit_comment()
        elif c == EOF:
            self.emit_comment()
            self.finish()
        elif c == "-":
            self.comment += "--!"
            self.state = self.comment_end_dash
        else:
            self.comment += "--!"
            self.again(self.comment_text)


def lower_all(text: str) -> str:
    """Fold the ASCII letters of a text."""
    return "".join(lower(c) for c in text)
