"""Run `grading grade` as a separate process, and read its progress."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Any

from grading.safe_text import one_line

DONE = (None, 0, 1)  # it runs, all is done, or something needs a person, which is no error
MOST_SAID = 20  # last lines of its error output that are kept


class Grading:
    """The grading run that this server started last; one at a time."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._outcomes: dict[tuple[str, str], dict[str, str]] = {}
        self._errors: list[str] = []

    @property
    def running(self) -> bool:
        return self._reading is not None and not self._reading.done()

    async def start(self, root: Path, lessons: list[str]) -> None:
        """Grade new submissions of these lessons, or all, unless a run is in progress."""
        if self.running:
            return
        self._outcomes, self._errors = {}, []
        program = [sys.executable, "-m", "grading", "grade", "--json", *lessons]
        self._process = await asyncio.create_subprocess_exec(*program, cwd=root, stdout=PIPE, stderr=PIPE)
        self._reading = asyncio.create_task(self._read(self._process))

    def stop(self) -> None:
        """Stop the run after the grade it is writing; the next run continues from there."""
        if self.running and self._process is not None:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)

    def state(self) -> dict[str, Any]:
        """The state for a page: counts, failed submissions, and errors of a failed run."""
        outcomes = [record["outcome"] for record in self._outcomes.values()]
        graded = outcomes.count("graded")
        failed = [record for record in self._outcomes.values() if record["outcome"] == "not graded"]
        code = None if self._process is None else self._process.returncode
        return {
            "running": self.running,
            "graded": graded,
            "planned": graded + outcomes.count("to be graded") + len(failed),
            "before": outcomes.count("graded before"),
            "failed": failed,
            "said": "\n".join(self._error_lines(bool(failed))) if code not in DONE and not self.running else "",
        }

    def _error_lines(self, failed: bool) -> list[str]:
        """Why the run ended early; its other lines only repeat the failed submissions."""
        return [line for line in self._errors if line.startswith("grading:")] or ([] if failed else self._errors)

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None and process.stderr is not None
        await asyncio.gather(self._read_records(process.stdout), self._read_rest(process.stderr))
        await process.wait()

    async def _read_records(self, lines: asyncio.StreamReader) -> None:
        async for line in lines:
            record = json.loads(line)
            if record["record"] != "submission":
                continue  # points, at the end
            self._outcomes[record["lesson"], record["student"]] = record

    async def _read_rest(self, lines: asyncio.StreamReader) -> None:
        async for line in lines:
            if text := one_line(line.decode(errors="replace")).strip():
                self._errors = [*self._errors, text][-MOST_SAID:]
