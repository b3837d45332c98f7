"""Have a judge make a feedback page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grading.errors import JudgeFailed, SubmissionNotGraded, Unreadable
from grading.sandbox.host_check import strongest

from ..judge.gradebook_view import GradebookView
from ..judge.start_judge import Job, JudgeProcess
from ..notebooks.submitted_file import MAX_BYTES, resolve


def make_page(
    root: Path, file: Path, ids: Mapping[str, Any], known: GradebookView, *, contained: bool = False
) -> str:
    """The page of a graded notebook, as HTML. Raises SubmissionNotGraded.

    ids        nbgrader's names of assignment, notebook and student
    known      the gradebook's data
    contained  whether the level `contained` will do where this machine does not grant the full sandbox
    """
    level = strongest(contained)  # without any, the judge is still a separate process
    work = Job("grading.feedback.page", root, {"ids": dict(ids), "known": asdict(known)}, level=level)
    try:
        judge = JudgeProcess(work, resolve(file), MAX_BYTES)
        try:
            return str(next(message["page"] for message in judge.messages()))
        finally:
            judge.close()
    except (JudgeFailed, Unreadable) as error:
        raise SubmissionNotGraded(f"its page could not be made: {error}") from error
