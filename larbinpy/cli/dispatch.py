"""Which command is meant: options and URLs start a crawl, any other first word is a command."""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from larbinpy import streams
from larbinpy.errors import ConfigError, LarbinError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Command = Callable[[list[str]], int]

CRAWL: Final = "larbinpy.cli.crawl:crawl"
COMMANDS: Final = {
    "audit": "larbinpy.cli.audit:audit",
    "bench": "larbinpy.cli.bench:bench",
    "check-config": "larbinpy.cli.check_config:check_config",
    "demo": "larbinpy.cli.demo:demo",
    "import-larbin": "larbinpy.cli.import_larbin:import_larbin",
    "links": "larbinpy.cli.links:links",
    "robots": "larbinpy.cli.robots:robots",
    "state": "larbinpy.cli.state:state",
    "urls": "larbinpy.cli.urls:urls",
    "why": "larbinpy.cli.why:why",
}
"""Name of a command -> ``module:function``; the function takes its arguments, returns the code."""

INTERRUPTED: Final = 130
HOST_NAME: Final = re.compile(r"(localhost|[\w-]+(\.[\w-]+)+)(:\d+)?([/?#].*)?")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; a fault is one line on standard error."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    streams.open_closed()
    try:
        code = run(arguments)
        sys.stdout.flush()
    except LarbinError as error:
        print(f"larbinpy: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        return _refused(error)
    return code


def _refused(error: OSError) -> int:
    """The machine refused what no command foresaw: mostly standard output that is full."""
    streams.drop_output()
    if not isinstance(error, BrokenPipeError):
        where = f"{error.filename}: " if error.filename else ""
        print(f"larbinpy: {where}{error.strerror or error}", file=sys.stderr)
    return StorageError.exit_code


def run(arguments: list[str]) -> int:
    """Run the command that the arguments name; faults are raised."""
    first = arguments[0] if arguments else ""
    if not first or first.startswith("-") or is_url(first):
        return find(CRAWL)(arguments)
    if first not in COMMANDS:
        raise ConfigError(what_was_meant(first))
    return find(COMMANDS[first])(arguments[1:])


def find(target: str) -> Command:
    """Import the function that ``module:function`` names."""
    module, function = target.split(":")
    return cast("Command", getattr(importlib.import_module(module), function))


def is_url(word: str) -> bool:
    """Whether an argument is a URL."""
    return "://" in word


def what_was_meant(word: str) -> str:
    """Return what to say of a word that is neither a command nor a URL."""
    if word in COMMANDS:
        return f"{word} is a command and must come first: larbinpy {word} ..."
    nearest = difflib.get_close_matches(word, COMMANDS, n=1)
    if nearest:
        return f"{word!r} is no command, did you mean {nearest[0]}?"
    if Path(word).is_file():
        return f"{word!r} is neither a command nor a URL, did you mean -c {word}?"
    if HOST_NAME.fullmatch(word):
        return f"{word!r} is neither a command nor a URL, did you mean http://{word}?"
    return f"{word!r} is neither a command ({', '.join(sorted(COMMANDS))}) nor a URL"
