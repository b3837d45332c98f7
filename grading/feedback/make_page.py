"""Have a judge make a feedback page."""

from __future__ import annotations

from pathlib import Path

from grading.errors import JudgeFailed, SubmissionNotGraded, Unreadable
from grading.sandbox.host_check import strongest

from ..judge.job import GradebookView, Job, PageRequest
from ..judge.messages import RenderedPage
from ..judge.start_judge import JudgeProcess
from ..notebooks.submitted_file import MAX_BYTES, resolve


def make_page(root: Path, file: Path, notebook: str, known: GradebookView, *, contained: bool = False) -> str:
    """The page of a graded notebook, as HTML. Raises SubmissionNotGraded.

    notebook   nbgrader's name of it
    known      the gradebook's data
    contained  whether the level `contained` will do where this machine does not grant the full sandbox
    """
    level = strongest(contained)  # without any, the judge is still a separate process
    try:
        judge = JudgeProcess(Job(PageRequest(notebook, known), root, level), resolve(file), MAX_BYTES)
        try:
            return str(next(message.html for message in judge.messages() if isinstance(message, RenderedPage)))
        finally:
            judge.close()
    except (JudgeFailed, Unreadable) as error:
        raise SubmissionNotGraded(f"its page could not be made: {error}") from error
