"""Scripted servers: what they outlive."""

from __future__ import annotations

import os
import resource
import socket
import time
from contextlib import ExitStack

from larbinpy.testing.scripts import answer, response
from larbinpy.testing.servers import Server
from tests.descriptors import open_descriptors
from tests.patience import PATIENCE_S, wait_until


def test_a_lack_of_descriptors_ends_no_server() -> None:
    """Who connects meanwhile is answered when there is one again."""
    with ExitStack() as stack, Server(answer(response(b"page"))) as server:
        clients = [stack.enter_context(socket.socket()) for _ in range(2)]
        _, hard = limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_descriptors() + 50, hard))
        held: list[int] = []
        try:
            while True:
                held.append(os.dup(0))
        except OSError:
            for client in clients:
                client.settimeout(PATIENCE_S)
                client.connect(("127.0.0.1", server.port))
                client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            # The kernel had a descriptor ready for the first one.
            assert wait_until(lambda: server.connections == 1)
            time.sleep(0.05)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            for descriptor in held:
                os.close(descriptor)
        assert all(client.recv(1000).endswith(b"page") for client in clients)
