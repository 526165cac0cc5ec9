"""Serve a synthetic web: ``python -m larbinpy.testing.web --hosts 200 --pages 100 --dir DIR``.

Writes DIR/hosts, DIR/seeds and, with ``--expected``, DIR/expected.json (for ``--depth``), prints
``listening on 127.0.0.1:PORT`` and serves until SIGTERM, SIGINT or, with ``--until-eof``, the end
of standard input. Then, and at each line ``log`` on standard input, it writes DIR/access.tsv.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import socket
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Final

from larbinpy._native.shared import set_death_signal
from larbinpy._native.webserver import Server
from larbinpy.testing.web.expected import expected
from larbinpy.testing.web.model import SyntheticWeb
from larbinpy.testing.web.process import EXPECTED_NAME, HOSTS_NAME, LOG_NAME, SEEDS_NAME
from larbinpy.testing.web.spec import Scope, WebSpec

BACKLOG: Final = 4096


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m larbinpy.testing.web", description=__doc__)
    default = WebSpec()
    for field in fields(WebSpec):
        value = getattr(default, field.name)
        kind = float if isinstance(value, float) else int
        parser.add_argument(
            f"--{field.name.replace('_', '-')}", type=kind, default=value, help=f"default {value}"
        )
    parser.add_argument("--dir", type=Path, required=True, help="for hosts, seeds, access.tsv")
    parser.add_argument("--expected", action="store_true", help="write expected.json")
    parser.add_argument("--depth", type=int, default=5, help="depthInSite for expected.json")
    parser.add_argument("--cpu", type=int, help="core to stay on")
    parser.add_argument("--until-eof", action="store_true", help="end with standard input")
    return parser.parse_args(argv)


def _listen(port: int) -> socket.socket:
    """Listen on all addresses, thousands of 127.x.y.z among them; the server refuses the rest."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.bind(("", port))
    listener.listen(BACKLOG)
    listener.setblocking(False)
    return listener


def _prepare(arguments: argparse.Namespace) -> None:
    if arguments.until_eof:  # belongs to another process: ends with it even if that one is killed
        set_death_signal(signal.SIGTERM)
    if arguments.cpu is not None:
        os.sched_setaffinity(0, {arguments.cpu})
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    arguments.dir.mkdir(parents=True, exist_ok=True)


def _write_files(web: SyntheticWeb, arguments: argparse.Namespace) -> None:
    seeds = [*web.seeds(), *(trap.url for trap in web.traps())]
    (arguments.dir / HOSTS_NAME).write_bytes(b"".join(web.hosts_file()))
    (arguments.dir / SEEDS_NAME).write_bytes(b"".join(url + b"\n" for url in seeds))
    if arguments.expected:
        answer = expected(web.spec, Scope(depth_in_site=arguments.depth)).to_json()
        (arguments.dir / EXPECTED_NAME).write_text(json.dumps(answer, indent=1) + "\n")


def _signal_pipe() -> int:
    """A descriptor that can be read once SIGTERM or SIGINT came."""
    readable, writable = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writable)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    return readable


def _serve(server: Server, log: Path, *, stopped: int, is_until_eof: bool) -> None:
    stdin = sys.stdin.fileno()
    control = [stopped, stdin] if is_until_eof else [stopped]
    while server.serve(control) == stdin:
        order = os.read(stdin, 4096)
        if not order:
            break
        server.write_log(os.fsencode(log))
        sys.stdout.write(f"logged {server.requests}\n")
        sys.stdout.flush()
    server.write_log(os.fsencode(log))


def main(argv: list[str]) -> int:
    """Serve the web that the arguments describe; returns the exit code."""
    arguments = _arguments(argv)
    _prepare(arguments)
    stopped = _signal_pipe()
    given = {field.name: getattr(arguments, field.name) for field in fields(WebSpec)}
    with _listen(arguments.port) as listener:
        spec = replace(WebSpec(**given), port=listener.getsockname()[1])
        web = SyntheticWeb(spec)
        _write_files(web, arguments)
        server = Server(web.native, listener.fileno())
        sys.stdout.write(f"listening on 127.0.0.1:{spec.port}\n")
        sys.stdout.flush()
        log = arguments.dir / LOG_NAME
        _serve(server, log, stopped=stopped, is_until_eof=arguments.until_eof)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
