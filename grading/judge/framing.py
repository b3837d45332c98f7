"""Messages between coordinator and judge: JSON, length-prefixed and bounded.

Does not cover: the content of the messages (`grade_notebook`, `feedback.page`), their order (`start_judge`).
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

from ..errors import MalformedMessage

MAX_BYTES = 48 * 2**20  # in all messages of a judge; `sanitize.clean` keeps each notebook smaller
_HEAD = struct.Struct(">I")


def send(line: socket.socket, message: Any) -> None:
    """Send one message. Raises OSError if the reader is gone."""
    data = json.dumps(message, ensure_ascii=False).encode(errors="replace")
    line.sendall(_HEAD.pack(len(data)) + data)


class Reader:
    """Reads messages from a stream socket, at most `most` bytes in all."""

    def __init__(self, line: socket.socket, most: int = MAX_BYTES) -> None:
        self.line, self.left = line, most

    def next(self) -> Any:
        """The next message; None at the end. Raises MalformedMessage, OSError (timeout)."""
        head = self._read_exactly(_HEAD.size)
        if head is None:
            return None
        (size,) = _HEAD.unpack(head)
        self.left -= size
        if self.left < 0:
            raise MalformedMessage("it sent more than is allowed")
        data = self._read_exactly(size)
        if data is None:
            return None
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            raise MalformedMessage("it sent something that cannot be read") from None

    def _read_exactly(self, size: int) -> bytes | None:
        """Exactly `size` bytes; None if the stream ends before."""
        data = bytearray()
        while len(data) < size:
            piece = self.line.recv(min(size - len(data), 1 << 20))
            if not piece:
                return None
            data += piece
        return bytes(data)
