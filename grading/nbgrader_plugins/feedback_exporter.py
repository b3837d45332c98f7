"""The exporter of `nbgrader generate_feedback`: a judge makes each feedback page.

This process reads the gradebook; the judge opens the graded notebook and makes its page (`grading.feedback.page`). If a
page cannot be made, nbgrader reports an error and goes on with the others.
"""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbconvert.exporters.exporter import ResourcesDict
from nbgrader.api import Gradebook, MissingEntry
from traitlets import Bool

from grading.errors import ExerciseError, RubricError, SubmissionNotGraded
from grading.exercises.question import Question, load_questions
from grading.exercises.rubric import with_edited_rubrics
from grading.judge.job import GRADERS
from grading.safe_text import one_line

from ..feedback.make_page import make_page
from ..gradebook.grade_inputs import digest_of_file
from ..gradebook.store import stored_grades
from ..gradebook.view import known_to_gradebook, lesson_of
from ..submitted.submitted_dir import submitted_folder

MOST_NAMED = 10  # files that were not collected


class FeedbackExporter(Exporter):
    """Has each page made by a judge.

    It reads no notebook in this process, so it ignores preprocessors, and also the nbconvert templates that the
    formgrader sets.
    """

    lesson_text = Bool(False, help="Repeat the lesson's own text and code around the answers.").tag(config=True)

    file_extension = ".html"
    output_mimetype = "text/html"

    def from_filename(  # type: ignore[override]  # as nbconvert's own exporters of text do
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        """Make the feedback page of one submission. Raises SubmissionNotGraded if that fails.

        `resources["nbgrader"]` has student, assignment, notebook and gradebook, as from nbgrader's converters.
        """
        output = ResourcesDict() if resources is None else resources
        ids = output["nbgrader"]
        _check_up_to_date(ids, filename)
        lesson = lesson_of(ids, getattr(self.parent, "coursedir", None))
        known = known_to_gradebook(ids, lesson, self.lesson_text, self._questions(ids["assignment"]))
        known = replace(known, not_collected=self._not_collected(ids))
        folder, name = os.path.split(filename)
        output["metadata"] = ResourcesDict(name=os.path.splitext(name)[0], path=folder)
        output["output_extension"] = self.file_extension
        return make_page(self._root(), Path(filename), ids["notebook"], known), output

    def _questions(self, lesson: str) -> dict[str, Question]:
        """The lesson's written questions; none, with a warning, if one cannot be read."""
        try:
            return with_edited_rubrics(self._root(), lesson, load_questions(self._root() / GRADERS / lesson))
        except (ExerciseError, RubricError) as error:
            self.log.warning("No page shows model answers: %s", error)
            return {}

    def _not_collected(self, ids: dict[str, str]) -> tuple[str, ...]:
        coursedir = getattr(self.parent, "coursedir", None)
        left_out = submitted_folder(coursedir, ids["student"], ids["assignment"]).left_out if coursedir else {}
        return tuple(f"{one_line(name)}: {why}" for name, why in islice(left_out.items(), MOST_NAMED))

    def _root(self) -> Path:
        coursedir = getattr(self.parent, "coursedir", None)
        return Path(coursedir.root if coursedir is not None else ".").resolve()


def _check_up_to_date(ids: dict[str, str], filename: str) -> None:
    """Raise SubmissionNotGraded if the stored grade belongs to another notebook."""
    with Gradebook(ids["db_url"]) as gradebook:
        try:
            gradebook.find_submission_notebook(ids["notebook"], ids["assignment"], ids["student"])
        except MissingEntry:  # graded on another machine: there is only the notebook with its verdicts
            return
        digests = [grade.digest for grade in stored_grades(gradebook, ids["assignment"], ids["student"])]
    if digest_of_file(Path(filename)) not in digests:
        raise SubmissionNotGraded("its notebook is not the one that was graded: grade it again")
