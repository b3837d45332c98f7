"""More connections to a server on this machine than it keeps."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from grading.local_server import MOST

MALFORMED = (
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\n%\xff="
)


@contextmanager
def many_connections(port: int, number: int = 4 * MOST) -> Iterator[None]:
    """Keep this many connections open, most of them idle, some after a request that is not valid."""
    with ExitStack() as stack:
        for at in range(number):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            if at % 5 == 0:
                connection.sendall(MALFORMED if at % 2 else b"nonsense\r\n\r\n")
        yield
