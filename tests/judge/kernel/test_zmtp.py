"""ZeroMQ's protocol, read from whoever writes to the socket: whole messages, within bounds, or the end."""

from __future__ import annotations

import contextlib
import time
import tracemalloc
from pathlib import Path

import pytest
import zmq

from grading.errors import ConnectionBroken
from grading.judge.kernel.zmtp import COMMAND, GREETING, LONG, MAX_FRAMES, MORE, NULL, Channel, Incoming, wait

HELLO = (b"\xff" + bytes(8) + b"\x7f\x03\x01" + NULL).ljust(GREETING, b"\0") + bytes([COMMAND, 6]) + b"\x05READY"


def frame(flags: int, content: bytes) -> bytes:
    return bytes([flags | LONG]) + len(content).to_bytes(8, "big") + content


def read(*pieces: bytes, most: int = 1000) -> list[list[bytes]]:
    incoming = Incoming(most)
    found = []
    for piece in pieces:
        incoming.feed(piece)
        found += list(incoming.messages())
    return found


def test_messages_arrive_whole_however_their_bytes_are_cut():
    sent = (
        HELLO + frame(MORE, b"a") + frame(0, b"b" * 300) + bytes([0, 1]) + b"c" + frame(COMMAND, b"\x04PING") + b"\0\0"
    )
    whole = [[b"a", b"b" * 300], [b"c"], [b""]]
    assert read(sent) == whole
    assert read(*(sent[i : i + 1] for i in range(len(sent)))) == whole


def feed(incoming: Incoming, data: bytes, times: int) -> None:
    for _ in range(times):
        incoming.feed(data)
        list(incoming.messages())


def drain(channel: Channel) -> None:
    while True:
        wait([channel], 1.0)
        list(channel.receive())


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 200 OK\r\n".ljust(GREETING),
        HELLO[:10] + b"\x01" + HELLO[11:],
        HELLO.replace(b"NULL", b"PLAI"),
        HELLO + frame(0, bytes(1001)),
        HELLO + bytes([LONG]) + b"\xff" * 8,
        HELLO + frame(MORE, bytes(600)) + frame(MORE, bytes(600)),
        HELLO + frame(MORE, b"") * (MAX_FRAMES + 1),
        HELLO + frame(COMMAND, bytes(1001)),
    ],
)
def test_a_malformed_message_ends_the_connection(sent):
    with pytest.raises(ConnectionBroken):
        read(sent)


def test_a_message_that_is_never_finished_takes_no_more_room_than_a_message():
    """libzmq keeps its frames without end."""
    incoming = Incoming(2**20)
    incoming.feed(HELLO)
    tracemalloc.start()
    try:
        with pytest.raises(ConnectionBroken):
            feed(incoming, frame(MORE, bytes(2**18)), 200)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("ours", "theirs"), [("DEALER", zmq.ROUTER), ("SUB", zmq.XPUB), ("SUB", zmq.PUB)])
def test_libzmq_is_understood_and_understands(tmp_path: Path, ours: str, theirs: int):
    large = [b"x" * 300_000, b"", b"y"]
    with zmq.Context() as context, context.socket(theirs) as peer:
        peer.linger = 0
        peer.bind(f"ipc://{tmp_path}/s")
        with contextlib.closing(Channel(f"{tmp_path}/s", ours, 2**20)) as channel:
            if ours == "DEALER":
                channel.send(large)
            found: list[list[bytes]] = []
            until = time.monotonic() + 60
            while not found and time.monotonic() < until:
                wait([channel], 0.05)
                found += channel.receive()
                channel.flush()
                if ours == "SUB":  # until it has the subscription, it sends nothing
                    peer.send_multipart(large)
                elif peer.poll(0):
                    peer.send_multipart(peer.recv_multipart())
            assert found[0] == large


def test_a_closed_connection_is_reported(tmp_path: Path):
    with zmq.Context() as context:
        peer = context.socket(zmq.ROUTER)
        peer.bind(f"ipc://{tmp_path}/s")
        with contextlib.closing(Channel(f"{tmp_path}/s", "DEALER", 1000)) as channel:
            peer.close(linger=0)
            with pytest.raises(ConnectionBroken):
                drain(channel)
    with pytest.raises(OSError, match=r"No such file|refused"):
        Channel(f"{tmp_path}/s", "DEALER", 1000)
