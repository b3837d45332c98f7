"""Helpers for tests that grade a class: a console to read, commands to start, and everything that grading writes."""

from __future__ import annotations

import io
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from rich.console import Console

from grading.course import Course
from grading.gradebook.store import stored_grades

from .course_builder import add_config

# An answer slow enough that, on a busy machine too, one submission is graded visibly before the last
SLOW_ANSWER = "import time\ntime.sleep(4)\ndef double(x):\n    return x + x"


class RecordingConsole(Console):
    """A console that keeps what is printed, in `text`."""

    def __init__(self) -> None:
        super().__init__(file=io.StringIO(), width=200, force_terminal=False)

    @property
    def text(self) -> str:
        return self.file.getvalue()


def file_contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Relative path -> content and mode, for every file below a folder."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in folder.rglob("*")
        if path.is_file()
    }


def set_deadline(root: Path, due: str) -> None:
    """Set the due date of all lessons; late submissions get zero points."""
    add_config(root, 'c.LateSubmissionPlugin.penalty_method = "zero"')
    with sqlite3.connect(root / "gradebook.db") as gradebook:
        gradebook.execute("UPDATE assignment SET duedate = ?", (f"{due} 00:00:00.000000",))


def gradebook_url(root: Path) -> str:
    """The database URL from the course's own configuration."""
    return str(CourseDirectory(config=Course(root).config).db_url)


def grading_results(root: Path) -> dict[str, Any]:
    """Everything that grading writes: gradebook rows without their ids and times, and files with their modes."""
    files = file_contents(root / "autograded")
    with Gradebook(gradebook_url(root), "attention") as gradebook:
        rows = {
            (s.student.id, s.assignment.name): (
                s.timestamp,
                s.late_submission_penalty,
                sorted(
                    (g.name, g.auto_score, g.manual_score, g.needs_manual_grade) for n in s.notebooks for g in n.grades
                ),
                sorted((c.name, c.auto_comment, c.manual_comment) for n in s.notebooks for c in n.comments),
            )
            for a in gradebook.assignments
            for s in gradebook.assignment_submissions(a.name)
        }
        found = {
            row.student: (row.digest, row.made_of["submission"], dict(row.verdicts)) for row in stored_grades(gradebook)
        }
    return {"files": files, "rows": rows, "kept": found}


def start_command(root: Path, *arguments: str, ignored: signal.Signals | None = None) -> subprocess.Popen[str]:
    """Start `grading …`, or `nbgrader …`, in the course as a terminal does; `ignored`: a signal for it to ignore."""
    path = Path(sys.executable).parent
    name, *rest = arguments if arguments[0] == "nbgrader" else ("grading", *arguments)

    def ignore() -> None:
        if ignored:
            signal.signal(ignored, signal.SIG_IGN)

    return subprocess.Popen(
        [str(path / name), *rest],
        preexec_fn=ignore,
        cwd=root,
        env={**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
