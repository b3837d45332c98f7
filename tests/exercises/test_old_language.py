"""Grader tests in the words of version 0.1: they load as they are, and the codemod makes the same of them.

`tests/data/course-0.1.0.zip` holds three lessons as they were in 0.1; TEXT has the words that they do not use. The slow
test reads all lessons of 0.1 from the repository's history.
"""

from __future__ import annotations

import dataclasses
import io
import shutil
import subprocess
import tarfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import grading.judge.exercise as old_module
import pytest
import torch

from course.checkers import NamedChecker
from course.checkers.old_names import RENAMED
from grading.exercises import codemod, exercise
from grading.exercises.case import Case
from grading.exercises.exercise import Exercise
from grading.exercises.lesson import Lesson, load_lesson
from grading.exercises.old_language import ATTRIBUTES, KEYWORDS, MODULE

ROOT = Path(__file__).parents[2]
RELEASE = "ea12549"  # the last commit in the old words
TEXT = """
from grading.judge.exercise import (  # kept as it is
    SUBJECT,
    Script, specimen,
)


def every(right, *, shows):  # a function of the course's own
    return right.mistake("every", {"x": "y"}, shows=shows)


softmax = exercise("softmax", points=7, see="Softmax")


@softmax.criterion("first", points=1,   form=True)
def _(draw):
    s = Script(x=draw.normal(2))
    s.call(SUBJECT, specimen("Table"), s.x)
    case = s.case().holding("evenly" if s else 'anything', data=1)
    yield case.within(1e-3).described("within 'evenly'")
    yield case.with_gradients(undefined="finite").holding(judge)


class Oracle:
    def forward(self, x):
        return self.within(x)


right = softmax.base("def softmax(x): return x.within(SUBJECT)")
made = right.exercise.mistake("a", shows=("first",))
made.whole(f"def {right.subject}(): ...").says("It shows SUBJECT.")
every(right, shows="first")
"""
RENAMED_TEXT = """
from grading.exercises.exercise import (  # kept as it is
    EXERCISE,
    Script, sample_model,
)


def every(right, *, loses):  # a function of the course's own
    return right.mistake("every", {"x": "y"}, loses=loses)


softmax = exercise("softmax", see="Softmax")


@softmax.criterion("first", points=1,   check_types=True)
def _(draw):
    s = Script(x=draw.normal(2))
    s.call(EXERCISE, sample_model("Table"), s.x)
    case = s.case().check_with("uniform_starts" if s else 'any_result', data=1)
    yield case.tolerance(1e-3).label("within 'evenly'")
    yield case.with_gradients(nonfinite="finite").check_with(judge)


class Oracle:
    def forward(self, x):
        return self.within(x)


right = softmax.reference_answer("def softmax(x): return x.within(SUBJECT)")
made = right.exercise.mistake("a", loses=("first",))
made.full_code(f"def {right.exercise_name}(): ...").feedback("It shows SUBJECT.")
every(right, loses="first")
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The grader tests of a course that was begun with version 0.1.0."""
    shutil.unpack_archive(ROOT / "tests" / "data" / "course-0.1.0.zip", tmp_path)
    return tmp_path / "course-0.1.0" / "grader_tests"


def alike(one: Any, other: Any) -> bool:
    """Whether two parts of a case are the same, tensors to the bit and in memory."""
    if isinstance(one, torch.Tensor):
        same = one.dtype == other.dtype and one.stride() == other.stride()
        return same and torch.equal(one.nan_to_num(12345.0), other.nan_to_num(12345.0))
    if isinstance(one, NamedChecker):
        return RENAMED.get(one.name, one.name) == other.name and alike(one.given, other.given)
    if isinstance(one, FunctionType):
        return bool(one.__qualname__ == other.__qualname__)
    if isinstance(one, dict):
        return list(one) == list(other) and all(alike(value, other[key]) for key, value in one.items())
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and alike(vars(one), vars(other))
    return bool(one == other or one is other)


def drawn(exercise: Exercise) -> list[Any]:
    """All cases of two seeds, by criterion, and the visible ones."""
    hidden = [(c.name, c.points, c.check_types, c.graded_only, k) for seed in (1, 2) for c, k in exercise.cases(seed)]
    return [hidden, list(exercise.visible())]


def assert_same(old: Exercise, new: Exercise) -> None:
    for name in ("name", "points", "forbidden", "see", "hints", "result_names", "stand_in"):
        assert getattr(old, name) == getattr(new, name)
    for of in ("alternatives", "reference_answers"):
        assert [(a.name, a.code) for a in getattr(old, of)] == [(a.name, a.code) for a in getattr(new, of)]
    for was, now in zip(old.mistakes, new.mistakes, strict=True):
        told = ("name", "loses", "when", "text", "see")
        assert [getattr(was, f) for f in told] == [getattr(now, f) for f in told]
        assert [(a.name, a.code) for a in was.all_forms] == [(a.name, a.code) for a in now.all_forms]


def check_lessons(old: Path, new: Path) -> None:
    """Rewrite a copy of `old` at `new`, and compare all lessons."""
    shutil.copytree(old, new, ignore=shutil.ignore_patterns("__pycache__"))
    assert codemod.main([str(new)]) == 0
    for folder in sorted(path for path in old.iterdir() if path.name[:2].isdigit()):
        now = load_lesson(new / folder.name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            was = load_lesson(folder)
            old_cases = {name: drawn(given) for name, given in was.all_exercises.items()}
        assert list(was.all_exercises) == list(now.all_exercises)
        for name, given in was.all_exercises.items():
            assert alike(old_cases[name], drawn(now.all_exercises[name])), name
            assert_same(given, now.all_exercises[name])


@pytest.mark.full
def test_lessons_in_the_old_words_are_the_same_as_rewritten(old, tmp_path):
    check_lessons(old, tmp_path / "grader_tests")


@pytest.mark.full("compares all lessons")
def test_all_lessons_of_version_0_1_are_the_same_as_rewritten(tmp_path):
    command = ["git", "archive", RELEASE, "grader_tests"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if made.returncode:
        pytest.skip(f"the history of the repository does not reach back to {RELEASE}")
    with tarfile.open(fileobj=io.BytesIO(made.stdout)) as archive:
        archive.extractall(tmp_path / "old", filter="data")
    check_lessons(tmp_path / "old" / "grader_tests", tmp_path / "grader_tests")


def test_the_old_words_are_deprecated(old):
    with pytest.warns(DeprecationWarning, match="codemod") as told:
        load_lesson(old / "02_softmax")
    assert "`.says` is now `.feedback`" in {str(one.message).partition(";")[0] for one in told}


def test_names_of_the_old_module_are_those_of_the_new_one():
    assert {old: getattr(old_module, old) for old in MODULE} == {o: getattr(exercise, n) for o, n in MODULE.items()}


@pytest.mark.parametrize(
    ("made", "cls"),
    [(exercise.call(1), "Case"), (exercise.exercise("f"), "Exercise"), (Lesson("l", {}), "Lesson")],
)
def test_every_old_attribute_is_the_new_one(made: object, cls: str):
    for old, new in ATTRIBUTES[cls].items():
        with pytest.warns(DeprecationWarning, match=rf"`\.{old}` is now `\.{new}`"):
            assert getattr(made, old) == getattr(made, new)


@pytest.mark.parametrize(
    ("function", "old", "value"),
    [
        (exercise.exercise("f").criterion, "form", {"name": "a", "points": 1}),
        (exercise.exercise("f").example, "form", {"name": "a"}),
        (exercise.exercise("f").mistake, "shows", {"name": "a"}),
        (exercise.exercise, "parts", {"name": "f"}),
        (exercise.step, "stars", {"name": "f"}),
        (exercise.call(1).with_gradients, "undefined", {}),
    ],
)
def test_every_old_keyword_is_the_new_one(function: Callable[..., Any], old: str, value: dict[str, Any]):
    with pytest.warns(
        DeprecationWarning, match=f"`{old}=` is now `{KEYWORDS[function.__name__][old] or 'stars in source/'}"
    ):
        function(**value, **{old: ()})


def test_the_old_words_are_not_in_the_way_of_type_checkers():
    assert not {old for names in ATTRIBUTES.values() for old in names} & set(Case.__annotations__)


def test_the_codemod_changes_names_and_nothing_else():
    assert codemod.rename(TEXT) == RENAMED_TEXT
    assert codemod.rename(RENAMED_TEXT) == RENAMED_TEXT


def test_a_file_is_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "mistakes.py"
    file.write_text(TEXT)
    assert codemod.main([str(tmp_path)]) == 0
    assert codemod.main([str(file)]) == 0
    assert capsys.readouterr().out == f"{file}\n"
