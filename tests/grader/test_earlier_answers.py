"""Follow-through: an earlier answer that is wrong, missing or not allowed costs no later one."""

from __future__ import annotations

import pytest

from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process
from grading.grader.source_analysis import NotebookSource
from grading.grader.verdict import ExerciseVerdict
from grading.grader.verdict_report import to_report

from ..support.course_builder import ACTING
from ..support.small_lesson import judged, written


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    return load_lesson(written(tmp_path_factory.mktemp("grader_tests")))


def test_an_answer_that_calls_a_wrong_one_is_judged_with_a_right_one_in_its_place(lesson):
    code = "def double(x): return x + 2\ndef quadruple(x): return double(double(x))"
    first = judged(lesson, "double", code)
    assert first.mistake == "adds_two"
    alone = judged(lesson, "quadruple", code)
    assert alone.earned == 0
    followed = judged(lesson, "quadruple", code, earlier=[(lesson.exercises["double"], first)])
    assert (followed.earned, followed.followed_through) == (3, ["double"])


@pytest.mark.parametrize("earlier", ["def double(x) return x + x", "", "def double(x): raise NotImplementedError"])
def test_an_earlier_answer_that_is_unreadable_or_missing_costs_a_later_one_nothing(lesson, earlier):
    cells = [earlier, "def quadruple(x): return double(double(x))"]
    names = {"double": missing}
    exec(cells[1], names)
    first = grade_in_process(lesson.exercises["double"], names, cells=cells[:1], lesson=lesson)
    followed = grade_in_process(
        lesson.exercises["quadruple"], names, cells=cells, lesson=lesson, earlier=[(lesson.exercises["double"], first)]
    )
    assert (followed.earned, followed.followed_through) == (3, ["double"])


def missing(x):
    raise NotImplementedError


def test_what_an_earlier_answer_uses_against_the_rules_costs_a_later_one_nothing(lesson):
    code = "import torch\ndef double(x): return torch.mul(x, 2)\ndef quadruple(x): return double(double(x))"
    alone = judged(lesson, "quadruple", code)
    assert alone.status == "not allowed"
    earlier = [(lesson.exercises["double"], ExerciseVerdict("double", 2, 0.0, "not allowed"))]
    assert judged(lesson, "quadruple", code, earlier=earlier).status == "right"


def test_a_wrong_answer_that_calls_an_unwritten_one_is_started(lesson):
    code = "def double(x):\n    raise NotImplementedError\n\ndef quadruple(x): return double(x)"
    first = judged(lesson, "double", code)
    assert judged(lesson, "quadruple", code).status == "not started"
    followed = judged(lesson, "quadruple", code, earlier=[(lesson.exercises["double"], first)])
    assert (followed.status, followed.followed_through) == ("wrong", ["double"])


@pytest.mark.parametrize(
    "code",
    [
        "def quadruple(x): return x + 4\ndef double(x): return quadruple(x) / 2",
        "def quadruple(x): return x + 4\ndef again(x): return quadruple(x)\ndef double(x): return again(x) / 2",
        "def quadruple(x): return x + 4\ndouble = lambda x, f=quadruple: quadruple(x) / 2",
        "def quadruple(x): return x + 4\nclass D:\n    def __call__(self, x): return quadruple(x) / 2\ndouble = D()",
    ],
)
def test_a_later_exercise_is_never_put_right_for_an_earlier_one(lesson, code):
    """The notebook may have them in any order: `earlier` is what was judged before."""
    first = judged(lesson, "quadruple", code)
    assert first.earned == 0
    followed = judged(lesson, "double", code, earlier=[(lesson.exercises["quadruple"], first)])
    assert (followed.earned, followed.followed_through) == (0, [])


def test_what_a_later_exercise_uses_counts_as_used():
    code = "import torch\ndef quadruple(x): return torch.mul(x, 4)\ndef double(x): return quadruple(x) / 2"
    assert NotebookSource([code], ["double", "quadruple"]).not_allowed("double", ("mul",)) == ["torch.mul"]
    assert NotebookSource([code], ["quadruple", "double"]).not_allowed("double", ("mul",)) == []


def test_follow_through_does_not_mend_an_answer_that_is_wrong_itself(lesson):
    code = "def double(x): return x + 2\ndef quadruple(x): return double(x)"
    first = judged(lesson, "double", code)
    assert judged(lesson, "quadruple", code, earlier=[(lesson.exercises["double"], first)]).earned == 0


NO_ATTEMPT = ["return x", "return missing(x)", "raise NotImplementedError"]


@pytest.mark.parametrize("halve", ["return x // 2", "return x / 2", *NO_ATTEMPT])
def test_a_wrong_step_costs_no_points_and_none_gives_any(tmp_path, halve):
    ACTING.write(tmp_path)
    lesson = load_lesson(tmp_path / "grader_tests" / ACTING.name)
    cells = [f"def halve(x):\n    {halve}", "def double(x):\n    return x + 2 * halve(x)"]
    names = {}
    exec("\n".join(cells), names)
    steps = [(step, grade_in_process(step, names, cells=cells, lesson=lesson)) for step in lesson.steps.values()]
    verdict = grade_in_process(lesson.exercises["double"], names, cells=cells, lesson=lesson, earlier=steps)
    if halve in NO_ATTEMPT:
        assert (verdict.status, verdict.earned, verdict.followed_through) == ("wrong", 0, [])
        said = " ".join(to_report(verdict).to_text().split())
        assert "It calls `halve`: write that first." in said
        assert "The grade puts nothing in place of an exercise without points." in said
    else:
        assert (verdict.status, verdict.earned) == ("right", 20)
        assert verdict.followed_through == (["halve"] if "//" in halve else [])
