"""Grade one file of a released lesson, and write nothing: the gradebook and submitted/ stay as they are.

The verdicts are those of `grading grade` for the same file, seed and settings.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from grading.coordinator.agreement import disagreements
from grading.coordinator.submission import GradingTask, grade, not_read
from grading.course import Course
from grading.course_dir.seeds import seed_id
from grading.errors import NotHandedIn, StepFailed
from grading.feedback.make_page import make_page
from grading.gradebook.view import known_to_gradebook, load_released
from grading.nbgrader_plugins.execute import JudgedExecute
from grading.notebooks.submitted_file import MAX_BYTES
from grading.sandbox.policy import CONTAINED
from grading.submitted.submitted_dir import choose_file, note_on_choice

from .result_forms import FileResult

NOBODY = ""  # the student: a file has no owner here


def grade_file(
    course: Course,
    file: Path,
    lesson: str,
    *,
    page: bool = False,
    contained: bool = False,
    results: Iterable[Path] = (),
) -> FileResult:
    """Grade a notebook or a Python file, or the one in a folder that was handed in.

    page       whether to make the feedback page, too
    contained  whether the level `contained` will do where this machine does not grant the full sandbox
    results    files to which the caller will write the result: at that level no student code may reach their folders

    Raises StepFailed if the lesson cannot be graded or there is no such file, SubmissionNotGraded, SandboxUnavailable.
    """
    began = time.monotonic()
    if not file.exists():
        raise StepFailed(f"there is no file {file}")
    if not course.is_registered(lesson):
        raise StepFailed(f"{lesson} is not released yet, so nothing can be graded: run `grading release {lesson}`")
    if problems := disagreements(course, lesson):
        raise StepFailed(f"{lesson} is not graded. {' '.join(problems)}")
    config, coursedir = course.config, course.directory()
    settings = JudgedExecute(config=config, root=str(course.root), contained=contained)
    released = load_released(coursedir.db_url, lesson, lesson, coursedir)
    most = config.SubmissionExporter.get("max_bytes", MAX_BYTES)
    chosen, why, note = file, "", ""
    if file.is_dir():
        try:
            chosen = choose_file(file, coursedir, lesson)
            note = note_on_choice(chosen, lesson)
        except NotHandedIn as error:
            why = str(error)
    place = file if file.is_dir() else file.parent
    folders = {path.resolve() for path in (place, *(result.parent for result in results))}
    if settings.level != CONTAINED:
        folders = set()
    private = tuple(sorted(str(folder) for folder in folders if not folder.is_relative_to(course.root.resolve())))
    job = replace(settings.job(lesson, released), private=private)
    task = GradingTask(NOBODY, str(chosen.absolute()), job, most, seed_id(settings.secret), config, note=note)
    made = not_read(task, why) if why else grade(task)
    result = FileResult.of(made.notebook, lesson, time.monotonic() - began, settings.level)
    if not page:
        return result
    ids = {"db_url": coursedir.db_url, "assignment": lesson, "notebook": lesson, "student": NOBODY}
    with TemporaryDirectory(prefix="graded-") as folder:
        graded = Path(folder, f"{lesson}.ipynb")
        graded.write_text(made.text, encoding="utf-8")
        whole = bool(config.FeedbackExporter.get("lesson_text", False))
        known = known_to_gradebook(ids, released, whole)
        return replace(result, page=make_page(course.root, graded, lesson, known, contained=contained))
