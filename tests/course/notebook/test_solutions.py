"""`solution`: what it shows, when, and what it says where solutions are not published."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import course
from course.notebook import catalog, session
from grading.authoring.published_solutions import solutions_of
from grading.errors import CourseError

from ...support.course_builder import TINY_LESSONS, build_course
from ...support.repository import LESSONS, ROOT

LESSON = "02_softmax"
RIGHT = """
import torch
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
"""


@pytest.fixture
def learner(monkeypatch, tmp_path):
    """learner(code) writes an answer to `softmax` and returns it; the lesson has begun beside its solutions."""
    session.renew(lesson=LESSON)
    monkeypatch.chdir(tmp_path)
    for file, content in solutions_of(ROOT, LESSON).items():
        Path(file).write_bytes(content)

    def write(code: str):
        exec(code, session.current().names)
        return session.current().names["softmax"]

    return write


@pytest.mark.full
def test_after_passing_it_shows_answers_in_several_styles_each_with_a_comment_and_code_that_runs(learner, capsys):
    softmax = learner(RIGHT)
    course.check(softmax, full=True)
    assert "solution(softmax)" in capsys.readouterr().out
    course.solution(softmax)
    told = capsys.readouterr().out
    assert told.startswith("3 correct answers to `softmax`.")
    codes = re.findall(r"```python\n(.*?)```", told, re.DOTALL)
    assert len(codes) == 3
    for code in codes:
        assert float(course.check(learner(f"import torch\n{code}"))) == 7, "what is shown is right"


@pytest.mark.full
def test_before_it_passes_all_hints_and_three_different_tries_open_it(learner, capsys):
    wrong = RIGHT.replace("(dim,", "(0,")
    for _ in range(3):
        softmax = learner(wrong)
        course.check(softmax)
    course.solution(softmax)
    waits = "The solutions to softmax open once it passes, or after "
    assert f"{waits}3 more hints and 2 more tries.\n" in capsys.readouterr().out, "the same answer is one try"
    for number in (1, 2):
        softmax = learner(wrong.replace("e /", f"{number} * e /"))
        course.check(softmax)
    for _ in range(2):
        course.hint(softmax)
    course.solution(softmax)
    assert f"{waits}1 more hint.\n" in capsys.readouterr().out
    course.hint(softmax)
    course.solution(softmax)
    assert "```python" in capsys.readouterr().out


def test_an_exercise_that_is_not_begun_has_no_tries(learner, capsys):
    softmax = learner("def softmax(x, dim=-1):\n    raise NotImplementedError")
    for _ in range(4):
        course.check(softmax)
        course.hint(softmax)
    capsys.readouterr()
    course.solution(softmax)
    assert "open once it passes, or after 3 more tries.\n" in capsys.readouterr().out


def test_without_the_file_it_says_where_solutions_are_and_a_damaged_one_is_named(learner, capsys, monkeypatch):
    monkeypatch.setattr(catalog, "OPEN", ())
    softmax = learner(RIGHT)
    course.check(softmax)
    for content, told in [
        ("not JSON", "cannot be read"),
        ('{"entropy": []}', "cannot be read"),
        (None, "are not here"),
    ]:
        file = Path(f"{LESSON}.solutions")
        file.unlink()
        if content:
            file.write_text(content)
        capsys.readouterr()
        course.solution(softmax)
        assert told in (out := capsys.readouterr().out)
        assert file.name in out
        file.touch()


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_has_two_or_three_answers_each_with_sentences_of_its_own(lesson):
    shown = _read(lesson)
    assert list(shown) == [*catalog.exercises_of(lesson), *catalog.challenges_of(lesson)]
    for exercise in catalog.exercises_of(lesson):
        answers = shown[exercise]
        assert 2 <= len(answers) <= 3, exercise
        assert len({one["code"] for one in answers}) == len(answers), exercise
        for one in answers:
            assert re.search(rf"^(def|class) {exercise}\b", one["code"], re.MULTILINE)
            assert "SOLUTION" not in one["code"]
            compile(one["code"], exercise, "exec")
            assert len(one["comment"].split()) >= 10, (exercise, one["comment"])
            assert one["comment"].endswith(".")


def test_a_step_opens_like_an_exercise(learner, capsys):
    for number in range(3):
        course.check(_defined(f"def exp_and_divide(x):\n    return x * {number}", "exp_and_divide"))
    capsys.readouterr()
    course.solution("exp_and_divide")
    assert "more hint" in capsys.readouterr().out
    for _ in catalog.steps_of(LESSON)["exp_and_divide"]["hints"]:
        course.hint("exp_and_divide")
    course.solution("exp_and_divide")
    assert "A correct answer to `exp_and_divide`" in capsys.readouterr().out


def test_an_open_release_has_them_and_a_file_beside_the_notebook_comes_first(learner, monkeypatch, tmp_path):
    places = (tmp_path / "installed", tmp_path / "in a checkout")
    monkeypatch.setattr(catalog, "OPEN", places)
    file = Path(f"{LESSON}.solutions").resolve()
    assert catalog.solutions_file(LESSON).resolve() == file
    for place in reversed(places):
        place.mkdir()
        file = file.rename(place / file.name)
        assert catalog.solutions_file(LESSON) == file


def test_an_author_who_names_no_answer_of_the_exercise_is_told(tmp_path):
    root = build_course(tmp_path / "course")
    file = root / "grader_tests" / TINY_LESSONS[0] / "solutions.toml"
    name = next(iter(_read(TINY_LESSONS[0], root)))
    assert [one["comment"] for one in _read(TINY_LESSONS[0], root)[name]] == [""], (
        "without the file the lesson's own is shown"
    )
    for text, told in [
        (f'[{name}]\nno_such = "x"', "no_such"),
        ('[nothing]\nsolution = "x"', "the lesson has no exercise nothing"),
        ("[[", "solutions.toml"),
    ]:
        file.write_text(text)
        with pytest.raises(CourseError, match=told):
            solutions_of(root, TINY_LESSONS[0])


def _defined(code: str, name: str):
    exec(code, names := {})
    return names[name]


def _read(lesson: str, root: Path = ROOT) -> dict:
    return json.loads(solutions_of(root, lesson)[f"{lesson}.solutions"])
