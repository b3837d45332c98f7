"""The client side of ZeroMQ's wire protocol, with bounds on what it reads.

libzmq reads everything that arrives. It bounds the bytes of a frame and the number of whole messages, but not the bytes
of a message in many frames, which a process that writes to its socket directly need never finish. With jupyter_client's
own client, such a kernel would fill a judge's memory up to its limit, where any allocation may fail, and so cost the
notebook's other answers, too. Here bytes are read on request, a message has a maximum size, and the rest waits at the
sender.

Covers ZMTP 3.0 (https://rfc.zeromq.org/spec/23/) without encryption, as a DEALER or a SUB. Does not cover: the content
of messages (`session`).
"""

from __future__ import annotations

import selectors
import socket
from collections.abc import Iterable, Iterator

from ...errors import ConnectionBroken

AT_ONCE = 2**18  # bytes per read
MAX_FRAMES = 64  # per message; Jupyter's have six, plus one per buffer of a widget
GREETING = 64  # bytes
MORE, LONG, COMMAND = 1, 2, 4  # frame flags
NULL = b"NULL".ljust(20, b"\0")


class Incoming:
    """Assembles messages of at most `most` bytes from the bytes fed to it.

    ready: whether the other side has sent READY; it accepts no message before
    """

    def __init__(self, most: int) -> None:
        self.most, self.ready = most, False
        self._bytes = bytearray()
        self._frames: list[bytes] = []
        self._greeted = False

    def feed(self, data: bytes) -> None:
        self._bytes += data

    def messages(self) -> Iterator[list[bytes]]:
        """Yield whole messages as lists of frames. Raises ConnectionBroken."""
        if not self._greeted and len(self._bytes) >= GREETING:
            self._check_greeting(self._cut(0, GREETING))
        while self._greeted and (frame := self._next_frame()):
            flags, content = frame
            if flags & COMMAND:  # READY; later versions have other commands, which we never ask for
                self.ready = True
                continue
            self._frames.append(content)
            if len(self._frames) > MAX_FRAMES:
                raise ConnectionBroken("a message of too many frames")
            if not flags & MORE:
                whole, self._frames = self._frames, []
                yield whole

    def _check_greeting(self, greeting: bytes) -> None:
        if greeting[0] != 0xFF or not greeting[9] & 1 or greeting[10] < 3 or greeting[12:32] != NULL:
            raise ConnectionBroken("no greeting of ZMTP 3")
        self._greeted = True

    def _next_frame(self) -> tuple[int, bytes] | None:
        """Flags and content of the next frame; None until it is complete."""
        start = 9 if self._bytes and self._bytes[0] & LONG else 2
        if len(self._bytes) < start:
            return None
        size = int.from_bytes(self._bytes[1:start], "big")
        if size + sum(map(len, self._frames)) > self.most:
            raise ConnectionBroken("a message that is too large")
        if len(self._bytes) < start + size:
            return None
        flags = self._bytes[0]
        return flags, self._cut(start, start + size)

    def _cut(self, start: int, end: int) -> bytes:
        content = bytes(memoryview(self._bytes)[start:end])
        del self._bytes[:end]
        return content


class Channel:
    """A connection to one of a kernel's sockets. Raises OSError if nobody listens.

    kind: "DEALER", or "SUB", which gets everything that is published
    """

    def __init__(self, address: str | tuple[str, int], kind: str, most: int) -> None:
        self.socket = _connect(address)
        self._incoming = Incoming(most)
        self._outgoing = bytearray(_greeting(kind))
        self._held = bytearray(_encode_frame(0, b"\x01") if kind == "SUB" else b"")
        self.flush()

    @property
    def pending(self) -> bool:
        """Whether data still waits to be sent."""
        return bool(self._outgoing)

    def send(self, frames: list[bytes]) -> None:
        """Send as much of a message as fits now; `flush` sends the rest."""
        for number, frame in enumerate(frames, 1):
            self._held += _encode_frame(MORE if number < len(frames) else 0, frame)
        self.flush()

    def flush(self) -> None:
        """Send what fits without waiting. A lost connection shows in `receive`."""
        if self._incoming.ready:
            self._outgoing += self._held
            self._held.clear()
        try:
            while self._outgoing:
                del self._outgoing[: self.socket.send(self._outgoing)]
        except BlockingIOError:
            return
        except OSError:
            self._outgoing.clear()

    def receive(self) -> Iterator[list[bytes]]:
        """Yield the messages of one bounded read. Raises ConnectionBroken."""
        try:
            data = self.socket.recv(AT_ONCE)
        except BlockingIOError:
            pass
        except OSError as error:
            raise ConnectionBroken("the connection is lost") from error
        else:
            if not data:
                raise ConnectionBroken("the connection was closed")
            self._incoming.feed(data)
        yield from self._incoming.messages()

    def close(self) -> None:
        self.socket.close()


def wait(channels: Iterable[Channel], seconds: float) -> None:
    """Wait until a channel can be read or can send pending data, or time is up."""
    with selectors.DefaultSelector() as selector:
        for channel in channels:
            selector.register(channel.socket, selectors.EVENT_READ | (selectors.EVENT_WRITE if channel.pending else 0))
        selector.select(seconds)


def _connect(address: str | tuple[str, int]) -> socket.socket:
    if not isinstance(address, str):
        sock = socket.create_connection(address)
    else:
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.connect(address)
        except OSError:
            sock.close()
            raise
    sock.setblocking(False)
    return sock


def _greeting(kind: str) -> bytes:
    """The greeting and READY, which a client using NULL may send at once."""
    version = b"\x03\x00"
    greeting = b"\xff" + bytes(8) + b"\x7f" + version + NULL
    name, value = b"Socket-Type", kind.encode()
    ready = b"\x05READY" + bytes([len(name)]) + name + len(value).to_bytes(4, "big") + value
    return greeting.ljust(GREETING, b"\0") + _encode_frame(COMMAND, ready)


def _encode_frame(flags: int, content: bytes) -> bytes:
    size = len(content)
    head = bytes([flags, size]) if size < 256 else bytes([flags | LONG]) + size.to_bytes(8, "big")
    return head + content
