"""``promises.log`` of a state: at which pace a crawl promised to ask, and since when.

A crawl writes a line before it asks anybody by a promise that is not the last one; the form is in
``docs/crawl-log.md``. The file is replaced as a whole, so that no end of a crawl can tear it.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from larbinpy.errors import FormatError, StorageError
from larbinpy.politeness.promise import NOTHING, Promise, Promised
from larbinpy.report import timestamp
from larbinpy.stateparts import PROMISES
from larbinpy.wholefile import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.config import Config

_EPOCH: Final = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def keep(state: Path, config: Config, now_us: int) -> None:
    """Write down what is promised from now on, unless that is what was promised before.

    Raises:
        StorageError: the disk refused; the file is as it was.
    """
    path = state / PROMISES
    terms = json.dumps(_terms(config)).removeprefix("{") + "\n"
    earlier = _read(path)
    if not earlier.endswith(terms.encode()):
        write_whole(path, earlier + f'{{"since": "{timestamp(now_us)}", {terms}'.encode())


def kept(state: Path) -> list[Promised]:
    """What a crawl has promised, in the order in which it did; empty for a crawl of a version that
    did not write it down.

    Raises:
        FormatError: there is a line that no crawl wrote.
        StorageError: the file cannot be read.
    """
    path = state / PROMISES
    found = []
    for number, line in enumerate(_read(path).splitlines(), 1):
        try:
            terms = json.loads(line)
            found.append(_promised(terms, _micros(terms["since"])))
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"{path}:{number}: not a promise: {error!r}") from error
    return found


def of(config: Config) -> Promised:
    """What a configuration promises, since ever."""
    return _promised(_terms(config), 0)


def _terms(config: Config) -> dict[str, Any]:
    """The fields of a line, but for its time; of a proxy, which may have a password, only that
    there is one."""
    return {
        "waitDuration": config.wait_duration_s,
        "waitDurationIP": config.ip_wait_s,
        "connectionsPerIp": config.connections_per_ip,
        "proxy": bool(config.proxy),
    }


def _promised(terms: dict[str, Any], since_us: int) -> Promised:
    host = Promise(round(terms["waitDuration"] * 1e6))
    ip = Promise(round(terms["waitDurationIP"] * 1e6), terms["connectionsPerIp"])
    return Promised(since_us, host, NOTHING if terms["proxy"] else ip)


def _micros(text: str) -> int:
    span = datetime.fromisoformat(text) - _EPOCH
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
