"""The messages between coordinator, judges' server and judge, and how they cross a socket.

Each kind is a dataclass. On a socket it is JSON, which names the kind. What a judge sends is not to be trusted once it
has read a submission: `decode` accepts only the kinds that the reader expects, each with its own fields and their
types, and a `Reader` accepts `MAX_BYTES` in all.

Does not cover: requests (`job`), the order of messages (`start_judge`), what notebooks, outputs and verdicts hold
(`collect_results`).
"""

from __future__ import annotations

import json
import socket
import struct
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from ..errors import MalformedMessage

MAX_BYTES = 48 * 2**20  # in all messages of a judge; `sanitize.clean` keeps each notebook smaller
_HEAD = struct.Struct(">I")


# What a judge sends


@dataclass(frozen=True)
class SanitizedNotebook:
    """The submission, repaired and sanitized, as nbformat's JSON."""

    notebook: dict[str, Any]


@dataclass(frozen=True)
class CellOutputs:
    """What a cell showed. cell: its id; count: its execution count."""

    cell: str
    outputs: list[Any]
    count: int | None


@dataclass(frozen=True)
class CellVerdict:
    """The verdict on the exercise of the grade cell with id `cell`, as JSON."""

    cell: str
    verdict: dict[str, Any]


@dataclass(frozen=True)
class RenderedPage:
    """A page or a part of one, as harmless HTML."""

    html: str


@dataclass(frozen=True)
class LogRecord:
    """Something to log. level: a number of `logging`."""

    level: int
    text: str


@dataclass(frozen=True)
class CannotRead:
    """The end: the file cannot be read."""

    why: str


@dataclass(frozen=True)
class NoSandbox:
    """The end, which the server may send, too: this machine cannot confine kernels."""

    missing: str
    remedy: str


@dataclass(frozen=True)
class SandboxEnded:
    """The end: the sandbox was lost through no fault of the submission's."""

    why: str


@dataclass(frozen=True)
class OutOfMemory:
    """The end: the judge's memory was not enough."""


@dataclass(frozen=True)
class GraderRaised:
    """The end: an exception that nobody expected."""

    error: str
    trace: str


@dataclass(frozen=True)
class Done:
    """The end: everything was sent."""


FROM_JUDGE = (
    SanitizedNotebook,
    CellOutputs,
    CellVerdict,
    RenderedPage,
    LogRecord,
    CannotRead,
    NoSandbox,
    SandboxEnded,
    OutOfMemory,
    GraderRaised,
    Done,
)


# What the judges' server reports on a judge


@dataclass(frozen=True)
class NotStarted:
    """No judge could be started."""

    why: str


@dataclass(frozen=True)
class JudgeEnded:
    """How a judge ended. code: its exit code, or minus a signal; decided: why the server ended it, if it did."""

    code: int
    decided: str


FROM_SERVER = (NoSandbox, NotStarted, JudgeEnded)


# How they cross a socket


def encode(message: Any) -> bytes:
    """A dataclass as JSON that names its class."""
    text = json.dumps({"kind": type(message).__name__, **_fields(message)}, default=_plain, ensure_ascii=False)
    return text.encode(errors="replace")


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, frozenset):
        return sorted(value)
    return value.to_json() if hasattr(value, "to_json") else _fields(value)


def _fields(message: Any) -> dict[str, Any]:
    return {field.name: getattr(message, field.name) for field in fields(message)}


def decode(data: bytes, kinds: tuple[type, ...]) -> Any:
    """The message in these bytes, of one of these kinds. Raises MalformedMessage."""
    try:
        read = json.loads(data)
    except (ValueError, RecursionError):
        raise MalformedMessage("it sent something that cannot be read") from None
    name = read.pop("kind", None) if isinstance(read, dict) else None
    for kind in kinds:
        if kind.__name__ == name:
            return _build(kind, read)
    raise MalformedMessage("it sent something that is not a message")


def _build(kind: Any, value: Any) -> Any:
    hints = _hints(kind)
    if not isinstance(value, dict) or value.keys() != hints.keys():
        raise MalformedMessage(f"it sent a {kind.__name__} with other fields")
    return kind(**{name: _typed(value[name], hint) for name, hint in hints.items()})


@lru_cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _typed(value: Any, hint: Any) -> Any:
    """A field's value from JSON; `hint`: its type."""
    kind, of = get_origin(hint) or hint, get_args(hint)
    if kind is UnionType:  # … | None
        return None if value is None else _typed(value, of[0])
    if hasattr(kind, "from_json"):
        try:
            return kind.from_json(value)
        except (TypeError, ValueError, LookupError, AttributeError):
            raise MalformedMessage(f"it sent something that is not a {kind.__name__}") from None
    if is_dataclass(kind):
        return _build(kind, value)
    if kind is Path:
        return Path(_typed(value, str))
    if kind in (tuple, frozenset):
        return kind(_typed(item, of[0]) for item in _typed(value, list))
    if hint is not Any and type(value) is not kind and not (kind is float and type(value) is int):
        raise MalformedMessage(f"it sent {type(value).__name__} in place of {kind.__name__}")
    return {key: _typed(item, of[1]) for key, item in value.items()} if kind is dict else value


def send(line: socket.socket, message: Any) -> None:
    """Send one message on a stream. Raises OSError if the reader is gone."""
    data = encode(message)
    line.sendall(_HEAD.pack(len(data)) + data)


class Reader:
    """Reads messages of these kinds from a stream socket, at most `most` bytes in all."""

    def __init__(self, line: socket.socket, kinds: tuple[type, ...], most: int = MAX_BYTES) -> None:
        self.line, self.kinds, self.left = line, kinds, most

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
        return None if data is None else decode(data, self.kinds)

    def _read_exactly(self, size: int) -> bytes | None:
        """Exactly `size` bytes; None if the stream ends before."""
        data = bytearray()
        while len(data) < size:
            piece = self.line.recv(min(size - len(data), 1 << 20))
            if not piece:
                return None
            data += piece
        return bytes(data)
