"""What tests of a class share: a console that is heard, solved notebooks, commands, and all that grading leaves."""

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

import nbformat
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from rich.console import Console

from grading.coordinator.demo_class import correct_answers, write_answers
from grading.coordinator.nbgrader_api import configuration
from grading.exercises.lesson import load_lesson
from grading.gradebook.store import stored_grades


class Heard(Console):
    """A console that keeps what it was told."""

    def __init__(self) -> None:
        super().__init__(file=io.StringIO(), width=200, force_terminal=False)

    @property
    def text(self) -> str:
        return self.file.getvalue()


def solved(root: Path, lesson: str, **answers: str) -> nbformat.NotebookNode:
    """The release with right answers, but for those given."""
    release = nbformat.read(root / "release" / lesson / f"{lesson}.ipynb", as_version=4)
    known = correct_answers(load_lesson(root / "grader_tests" / lesson), 0)
    return write_answers(release, known | answers)


def files_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Content and mode of every file, by its place."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in folder.rglob("*")
        if path.is_file()
    }


def with_deadline(root: Path, due: str) -> None:
    """What comes later earns nothing."""
    config = root / "nbgrader_config.py"
    config.write_text(config.read_text() + '\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    with sqlite3.connect(root / "gradebook.db") as gradebook:
        gradebook.execute("UPDATE assignment SET duedate = ?", (f"{due} 00:00:00.000000",))


def url_of(root: Path) -> str:
    """The gradebook's, by the course's own configuration."""
    return str(CourseDirectory(config=configuration(root)).db_url)


def everything(root: Path) -> dict[str, Any]:
    """All that grading leaves: rows of the gradebook, without their ids and times, and files with their modes."""
    files = files_of(root / "autograded")
    with Gradebook(url_of(root), "attention") as gradebook:
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
            one.student: (one.digest, one.made_of["submission"], dict(one.verdicts)) for one in stored_grades(gradebook)
        }
    return {"files": files, "rows": rows, "kept": found}


# Long enough for a busy machine to see that one is graded before all are
SLOW = "import time\ntime.sleep(4)\ndef double(x):\n    return x + x"


def start(root: Path, *arguments: str, ignored: signal.Signals | None = None) -> subprocess.Popen[str]:
    """Start `grading …`, or `nbgrader …`, in the course, as a terminal does; with a signal that it is to ignore."""
    path = Path(sys.executable).parent
    name, *rest = arguments if arguments[0] == "nbgrader" else ("grading", *arguments)

    def as_a_terminal_does() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN if number is ignored else signal.SIG_DFL)

    return subprocess.Popen(
        [str(path / name), *rest],
        preexec_fn=as_a_terminal_does,  # these tests may run where some are ignored
        cwd=root,
        env={**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
