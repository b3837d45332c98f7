"""A worker's result is written only if it is this submission's grade."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbgrader.coursedir import CourseDirectory

from grading.coordinator import validate_result
from grading.coordinator.demo_class import hand_in
from grading.coordinator.gradebook_writer import Writer
from grading.coordinator.submission import GradedNotebook, GradingTask, not_read
from grading.coordinator.validate_result import SentGrade
from grading.course import Course
from grading.course_dir.seeds import seed_id
from grading.errors import SubmissionNotGraded
from grading.nbgrader_plugins.execute import lesson_freshness
from grading.notebooks.submitted_file import MAX_BYTES
from grading.notebooks.verdict_cell import verdict_of, write_verdict

from ..support.course_builder import TINY_LESSONS, build_course, released_notebook

LESSON, CHECK = TINY_LESSONS[0], "check_double"
Notebook = nbformat.NotebookNode


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A task, its honest result, and everything needed to write it."""
    root = build_course(tmp_path_factory.mktemp("checked") / "course", release=[LESSON])
    hand_in(root, LESSON, "ada", released_notebook(root, LESSON))
    config = Course(root).config
    freshness = lesson_freshness(CourseDirectory(config=config), config, LESSON)
    file = root / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb"
    seed = seed_id(freshness.execute.secret)
    task = GradingTask("ada", str(file), freshness.job(), MAX_BYTES, seed, config, freshness.grade_inputs("ada"))
    made = nbformat.reads(not_read(task, "It could not be read.").text, as_version=4)
    made.metadata.attention_course.pop("unreadable")
    cell = named(made, CHECK)
    verdict = verdict_of(cell)
    verdict.status, verdict.earned, verdict.grader_error, verdict.seed = "partly right", 3.0, "", seed
    write_verdict(cell, verdict)
    return SimpleNamespace(root=root, task=task, freshness=freshness, config=config, notebook=made)


def named(nb: Notebook, name: str) -> Notebook:
    (cell,) = (cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name)
    return cell


def graded(nb: Notebook) -> GradedNotebook:
    return GradedNotebook("ada", nb, nbformat.writes(nb), frozenset({"double"}))


def sent(graded: GradedNotebook) -> SentGrade:
    return SentGrade(graded.student, graded.text, graded.diagnosed)


def test_an_honest_result_is_accepted_unchanged(course):
    honest = graded(course.notebook)
    assert validate_result.validate_remote(sent(honest), course.task) == honest
    with_more = replace(sent(honest), diagnosed=frozenset({"double", "<b>"}))
    assert validate_result.validate_remote(with_more, course.task) == honest
    unread = not_read(course.task, "It could not be read.")
    assert validate_result.validate_remote(sent(unread), course.task) == unread


def with_verdict(**changed: Any) -> Callable[[Notebook], None]:
    def change(nb: Notebook) -> None:
        cell = named(nb, CHECK)
        verdict = verdict_of(cell)
        for name, value in changed.items():
            setattr(verdict, name, value)
        write_verdict(cell, verdict)

    return change


def without_the_check(nb: Notebook) -> None:
    nb.cells.remove(named(nb, CHECK))


def with_the_check_twice(nb: Notebook) -> None:
    nb.cells.append(copy.deepcopy(named(nb, CHECK)))


def with_another_cell(nb: Notebook) -> None:
    nb.cells.append(copy.deepcopy(named(nb, CHECK)))
    nb.cells[-1].metadata.nbgrader.grade_id = "check_other"


def worth_more(nb: Notebook) -> None:
    named(nb, CHECK).metadata.nbgrader.points = 100


def with_other_marks(nb: Notebook) -> None:
    named(nb, CHECK).metadata.nbgrader = 1


def without_a_verdict(nb: Notebook) -> None:
    named(nb, CHECK).outputs = []


def with_another_score(nb: Notebook) -> None:
    named(nb, CHECK).outputs[1].data["text/plain"] = "5.0"


def with_another_report(nb: Notebook) -> None:
    named(nb, CHECK).outputs[0].data["text/html"] = "<script>alert(1)</script>"


def with_one_more_output(nb: Notebook) -> None:
    named(nb, CHECK).outputs.append(copy.deepcopy(named(nb, CHECK).outputs[1]))


def without_a_record(nb: Notebook) -> None:
    nb.metadata.pop("attention_course")


FORGED = [
    with_verdict(earned=5.5),
    with_verdict(earned=-1.0),
    with_verdict(earned=math.nan),
    with_verdict(exercise="halve"),
    with_verdict(seed="another"),
    with_verdict(sandboxed=False),
    without_the_check,
    with_the_check_twice,
    with_another_cell,
    worth_more,
    with_other_marks,
    without_a_verdict,
    with_another_score,
    with_another_report,
    with_one_more_output,
    without_a_record,
]


@pytest.mark.parametrize("forge", FORGED)
def test_a_forged_result_is_refused(course, forge):
    nb = copy.deepcopy(course.notebook)
    forge(nb)
    with pytest.raises(SubmissionNotGraded, match="the worker"):
        validate_result.validate_remote(sent(graded(nb)), course.task)


@pytest.mark.parametrize(
    "text", ["", "{}", "[" * 100_000, '{"cells": 1, "metadata": {}}', '{"cells": [1], "metadata": {}}', "\x00", 5, None]
)
def test_a_text_that_is_not_a_notebook_is_refused(course, text):
    with pytest.raises(SubmissionNotGraded, match="the worker"):
        validate_result.validate_remote(SentGrade("ada", text, frozenset()), course.task)


def test_another_students_grade_a_large_one_and_a_non_grade_are_refused(course, monkeypatch):
    honest = sent(graded(course.notebook))
    for other in (replace(honest, student="bob"), honest.text, None, replace(honest, diagnosed=5)):
        with pytest.raises(SubmissionNotGraded, match="the worker"):
            validate_result.validate_remote(other, course.task)
    large = replace(honest, text=honest.text + " " * validate_result.MAX_TEXT)
    with pytest.raises(SubmissionNotGraded, match="too large: 50 MB"):
        validate_result.validate_remote(large, course.task)


def test_a_local_judge_cannot_change_which_cells_count_and_their_points(course):
    with Writer(course.freshness.coursedir, course.config, course.freshness) as writer:
        for forge in (worth_more, without_the_check, with_another_cell):
            nb = copy.deepcopy(course.notebook)
            forge(nb)
            with pytest.raises(SubmissionNotGraded, match="each marked cell"):
                writer.write(graded(nb), course.task.made_of)
            assert not Course(course.root).scores()
        writer.write(graded(course.notebook), course.task.made_of)
    assert Course(course.root).scores() == {("ada", LESSON): (3, 5)}
    assert json.loads(json.dumps([one.verdict.earned for one in Course(course.root).verdicts()])) == [3]
    assert (Path(course.root) / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb").is_file()
