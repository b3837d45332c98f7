"""Have a judge make a feedback page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grading.errors import JudgeFailed, SubmissionNotGraded, Unreadable
from grading.sandbox import SandboxUnavailable, require

from ..judge.gradebook_view import GradebookView
from ..judge.start_judge import Job, JudgeProcess
from ..notebooks.submitted_file import MAX_BYTES, resolve


def make_page(root: Path, file: Path, ids: Mapping[str, Any], known: GradebookView) -> str:
    """The page of a graded notebook, as HTML. Raises SubmissionNotGraded.

    ids    nbgrader's names of assignment, notebook and student
    known  the gradebook's data
    """
    work = Job("grading.feedback.page", root, {"ids": dict(ids), "known": asdict(known)}, confined=_can_confine())
    try:
        judge = JudgeProcess(work, resolve(file), MAX_BYTES)
        try:
            return str(next(message["page"] for message in judge.messages()))
        finally:
            judge.close()
    except (JudgeFailed, Unreadable) as error:
        raise SubmissionNotGraded(f"its page could not be made: {error}") from error


def _can_confine() -> bool:
    """Whether this machine can confine the judge; if not, it is still a separate process."""
    try:
        require()
    except SandboxUnavailable:
        return False
    return True
