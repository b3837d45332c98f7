"""The exporter of `nbgrader generate_feedback`: has a judge make the page that a learner gets back.

What the gradebook knows is read here; the graded notebook is opened, and its page made, by the judge
(`grading.feedback.page`). A page that could not be made is an error that nbgrader tells, and the others are made.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbconvert.exporters.exporter import ResourcesDict
from nbgrader.api import Gradebook, MissingEntry
from traitlets import Bool

from grading.errors import JudgeFailed, SubmissionNotGraded, Unreadable
from grading.judge.client import Job, JudgeProcess
from grading.notebooks.submitted_file import MAX_BYTES, resolve
from grading.sandbox import SandboxUnavailable, require

from ..gradebook.grade_inputs import digest_of_file
from ..gradebook.store import stored_grades
from ..gradebook.view import known_to_gradebook, lesson_of


class FeedbackExporter(Exporter):
    """Its page is its own: nbconvert's templates and their names, which the formgrader sets, play no part, and neither
    do preprocessors, since no notebook is read in this process."""

    lesson_text = Bool(False, help="Repeat the lesson's own text and code around the answers.").tag(config=True)

    file_extension = ".html"
    output_mimetype = "text/html"

    def from_filename(  # type: ignore[override]  # as nbconvert's own exporters of text do
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        """`resources["nbgrader"]` tells student, assignment, notebook and gradebook, as nbgrader's converters do.

        Raises SubmissionNotGraded where there is no page.
        """
        told = ResourcesDict() if resources is None else resources
        ids = told["nbgrader"]
        _stands(ids, filename)
        known = known_to_gradebook(ids, lesson_of(ids, getattr(self.parent, "coursedir", None)), self.lesson_text)
        request = {"ids": dict(ids), "known": asdict(known)}
        work = Job("grading.feedback.page", self._root(), request, confined=_is_granted())
        folder, name = os.path.split(filename)
        told["metadata"] = ResourcesDict(name=os.path.splitext(name)[0], path=folder)
        told["output_extension"] = self.file_extension
        return _page(work, filename), told

    def _root(self) -> Path:
        coursedir = getattr(self.parent, "coursedir", None)
        return Path(coursedir.root if coursedir is not None else ".").resolve()


def _stands(ids: dict[str, str], filename: str) -> None:
    """Raise SubmissionNotGraded if the gradebook's grade is of another notebook: the page would be false."""
    with Gradebook(ids["db_url"]) as gradebook:
        try:
            gradebook.find_submission_notebook(ids["notebook"], ids["assignment"], ids["student"])
        except MissingEntry:  # graded elsewhere: the notebook and its verdicts are all there is
            return
        digests = [one.digest for one in stored_grades(gradebook, ids["assignment"], ids["student"])]
    if digest_of_file(Path(filename)) not in digests:
        raise SubmissionNotGraded("its notebook is not what was graded: grade it again")


def _page(work: Job, filename: str) -> str:
    try:
        judge = JudgeProcess(work, resolve(filename), MAX_BYTES)
        try:
            return str(next(message["page"] for message in judge.messages()))
        finally:
            judge.close()
    except (JudgeFailed, Unreadable) as error:
        raise SubmissionNotGraded(f"its page could not be made: {error}") from error


def _is_granted() -> bool:
    """Whether this machine can confine what makes pages. Where not, it is a process of its own all the same."""
    try:
        require()
    except SandboxUnavailable:
        return False
    return True
