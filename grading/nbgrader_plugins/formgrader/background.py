"""`grading grade` as a process of its own, and what it has told so far."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Any

from grading.notebooks.submitted_file import one_line

MOST_SAID = 20  # lines of what it said last


class Grading:
    """The grading of a course that this server has started last; one at a time."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._became: dict[tuple[str, str], dict[str, str]] = {}
        self._said: list[str] = []

    @property
    def running(self) -> bool:
        return self._reading is not None and not self._reading.done()

    async def start(self, root: Path, lessons: list[str]) -> None:
        """Grade what is new in the course in `root`: in these lessons, or in all. Nothing, where one is at work."""
        if self.running:
            return
        self._became, self._said = {}, []
        program = [sys.executable, "-m", "grading", "grade", "--json", *lessons]
        self._process = await asyncio.create_subprocess_exec(*program, cwd=root, stdout=PIPE, stderr=PIPE)
        self._reading = asyncio.create_task(self._read(self._process))

    def stop(self) -> None:
        """Have it end after what it has written; the next one goes on from there."""
        if self.running and self._process is not None:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)

    def state(self) -> dict[str, Any]:
        """What a page shows: how many are graded of how many that are new, what is not graded, and what went wrong."""
        outcomes = [record["outcome"] for record in self._became.values()]
        graded = outcomes.count("graded")
        failed = [record for record in self._became.values() if record["outcome"] == "not graded"]
        code = None if self._process is None else self._process.returncode
        return {
            "running": self.running,
            "graded": graded,
            "planned": graded + outcomes.count("to be graded") + len(failed),
            "before": outcomes.count("graded before"),
            "failed": failed,
            "said": "\n".join(self._last_words(bool(failed))) if code and not self.running else "",
        }

    def _last_words(self, failed: bool) -> list[str]:
        """Why it ended before its time; the rest that it says only repeats what is not graded."""
        return [line for line in self._said if line.startswith("grading:")] or ([] if failed else self._said)

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None and process.stderr is not None
        await asyncio.gather(self._read_records(process.stdout), self._read_rest(process.stderr))
        await process.wait()

    async def _read_records(self, lines: asyncio.StreamReader) -> None:
        async for line in lines:
            record = json.loads(line)
            self._became[record["lesson"], record["student"]] = record

    async def _read_rest(self, lines: asyncio.StreamReader) -> None:
        async for line in lines:
            if text := one_line(line.decode(errors="replace")).strip():
                self._said = [*self._said, text][-MOST_SAID:]
