"""Cell outputs from a kernel's messages, within limits per cell and notebook.

Does not cover: making them harmless (`sanitize`).
"""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output, output_from_msg

from ...notebooks.reading import plain

OUTPUTS = ("stream", "display_data", "execute_result", "error")
MAX_MARKS = 10_000  # separators of values in a message; a reply is one text and little else
MAX_FRAMES = 50  # of a traceback
MAX_REASON = 300  # characters of an exception's name and of its text
MAX_TRACEBACK = 20_000  # characters in which the line of a cell is looked for
ANSI = re.compile(r"\x1b\[[0-9;]{0,20}m")  # colours in a traceback
IN_CELL = re.compile(r"^Cell In\[\d{1,6}\], line (\d{1,6})", re.MULTILINE)  # its outermost frame
NO_MAGIC = re.compile(r"Line magic function `(%\w{1,100})` not found")  # IPython shows no traceback for it
NO_ROOM = "\n… left out: the notebook's outputs are too large together\n"


@dataclass(frozen=True)
class Stop:
    """Where and why a cell stopped. line: its number, from 1; 0 if unknown."""

    line: int
    why: str


@dataclass
class CellRun:
    """The result of a cell. note: what was cut or stopped; stop: where it raised."""

    outputs: list[NotebookNode] = field(default_factory=list)
    note: str = ""
    count: int | None = None
    stop: Stop | None = None


def code_lines(code: str) -> list[str]:
    """Split code into lines as Python does; unlike for `splitlines`, a form feed ends none."""
    return re.split(r"\r\n?|\n", code)


def stop_of(reply: bytes, code: str) -> Stop | None:
    """Where a cell raised an exception, from the kernel's reply; None if it did not."""
    read = parse_content(reply)
    if read.get("status") != "error":
        return None
    lines = read.get("traceback")
    text = "\n".join(map(str, lines[:MAX_FRAMES])) if isinstance(lines, list) else ""
    found = IN_CELL.search(ANSI.sub("", text[:MAX_TRACEBACK]))
    reason = str(read.get("evalue"))[:MAX_REASON]
    why = f"{str(read.get('ename'))[:MAX_REASON]}: {reason}"
    if not found and (magic := NO_MAGIC.match(reason)):
        return Stop(next((n for n, line in enumerate(code_lines(code), 1) if magic[1] in line), 0), why)
    return Stop(int(found[1]) if found else 0, why)


class Collector:
    """Collects a cell's outputs. limit: bytes that stop it; room: bytes to keep."""

    def __init__(self, ran: CellRun, limit: int, room: int) -> None:
        self.ran, self.left, self.room, self.note = ran, limit, room, ""
        self._clear = self._room_notice_shown = False

    def add(self, kind: str, content: bytes, size: int) -> bool:
        """Add a message of `size` bytes. Returns whether the cell may go on."""
        if kind in OUTPUTS:
            self.left -= size
            if self.left < 0:
                self.note = "stopped: it printed too much"
                self._append_text("\n… cut: too much output\n")
                return False
            if self._clear:
                self.ran.outputs.clear()
                self._clear = False
        with contextlib.suppress(Exception):  # content that violates the protocol is no output
            self._handle(kind, content, size)
        return True

    def _handle(self, kind: str, content: bytes, size: int) -> None:
        if kind in OUTPUTS:
            if size <= self.room:
                self.room -= size
                self._append(kind, json.loads(content))
            elif not self._room_notice_shown:
                self._room_notice_shown = True
                self._append_text(NO_ROOM)
        elif kind == "clear_output":
            self._clear = bool(parse_content(content).get("wait"))
            if not self._clear:
                self.ran.outputs.clear()
        elif kind == "execute_input":
            count = parse_content(content).get("execution_count")
            if type(count) is int and count >= 0:  # a kernel may send True or -1, which no notebook may hold
                self.ran.count = count

    def _append_text(self, text: str) -> None:
        self.ran.outputs.append(new_output("stream", name="stdout", text=text))

    def _append(self, kind: str, content: dict[str, Any]) -> None:
        output = output_from_msg({"header": {"msg_type": kind}, "msg_type": kind, "content": plain(content)})
        last = self.ran.outputs[-1] if self.ran.outputs else None
        if kind == "stream":
            if not isinstance(output.text, str) or output.name not in ("stdout", "stderr"):
                return
            if last is not None and last.output_type == "stream" and last.name == output.name:
                last.text += output.text
                return
        elif kind == "error":
            output = new_output(
                "error",
                ename=str(output.ename),
                evalue=str(output.evalue)[:2000],
                traceback=[str(line) for line in output.traceback][:200],
            )
        else:
            output.data = NotebookNode(
                {str(mime): value for mime, value in output.data.items() if isinstance(value, str)}
            )
            output.metadata = NotebookNode()
        self.ran.outputs.append(output)


def parse_content(content: bytes) -> dict[str, Any]:
    """Parse a message's JSON object; {} if it is not an object or has too many values."""
    if sum(map(content.count, (b",", b"[", b"{"))) > MAX_MARKS:
        return {}
    try:
        read = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}
