"""Render Markdown answers in a judge."""

from __future__ import annotations

from pathlib import Path

from grading.errors import JudgeFailed, SubmissionNotGraded, Unreadable
from grading.judge.job import AnswerRequest, Job
from grading.judge.messages import RenderedPage
from grading.judge.start_judge import JudgeProcess
from grading.notebooks.submitted_file import MAX_BYTES, resolve
from grading.sandbox.host_check import strongest
from grading.sandbox.policy import SandboxUnavailable


def render_answer(root: Path, notebook: Path, text: str) -> str:
    """Render an answer as HTML that runs and loads nothing; "" if that fails.

    `notebook`: the graded file with the answer.
    """
    try:
        judge = JudgeProcess(Job(AnswerRequest(text), root, strongest()), resolve(notebook), MAX_BYTES)
        try:
            return str(next(message.html for message in judge.messages() if isinstance(message, RenderedPage)))
        finally:
            judge.close()
    except (JudgeFailed, SubmissionNotGraded, SandboxUnavailable, Unreadable, OSError):
        return ""
