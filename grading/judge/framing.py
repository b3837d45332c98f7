"""Messages between the coordinator and a judge: JSON with its length before it, bounded for whoever reads.

Does not cover: what the messages say (`submission`, `page`), who waits for whom (`client`).
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

from ..errors import MalformedMessage

MAX_BYTES = 48 * 2**20  # of all that one judge may say; what `clean` lets through of one notebook is less
_HEAD = struct.Struct(">I")


def send(line: socket.socket, message: Any) -> None:
    """Send one message. Raises OSError where nobody is left to read it."""
    data = json.dumps(message, ensure_ascii=False).encode(errors="replace")
    line.sendall(_HEAD.pack(len(data)) + data)


class Reader:
    """Reads messages from a stream socket, of `most` bytes in all."""

    def __init__(self, line: socket.socket, most: int = MAX_BYTES) -> None:
        self.line, self.left = line, most

    def next(self) -> Any:
        """The next message; None at the end. Raises MalformedMessage, and OSError (a socket's timeout among them)."""
        head = self._exactly(_HEAD.size)
        if head is None:
            return None
        (size,) = _HEAD.unpack(head)
        self.left -= size
        if self.left < 0:
            raise MalformedMessage("it said more than is taken")
        data = self._exactly(size)
        if data is None:
            return None
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            raise MalformedMessage("it said what cannot be read") from None

    def _exactly(self, size: int) -> bytes | None:
        """So many bytes; None where there are no more to come."""
        data = bytearray()
        while len(data) < size:
            piece = self.line.recv(min(size - len(data), 1 << 20))
            if not piece:
                return None
            data += piece
        return bytes(data)
