"""The catalog of lessons, exercises, steps, hints, visible examples, practice cases and predictions.

It is data in `course/examples/`, made from the exercises' contracts, without solutions. Files next to a notebook take
precedence over the package's, except for code: right answers to steps are always the package's.
`course/outline.py` says which exercises a teacher's course includes, and for how many points.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..check_data import ENDING as PRACTICE
from ..check_data import Practice, read
from ..data_only import ensure_data_only
from ..harness.serialization import PackingError, unpack
from ..outline import FILE as OUTLINE
from ..outline import Outline, read_outline, scale_points

EXAMPLES = Path(__file__).parents[1] / "examples"
OPEN = (Path(__file__).parents[1] / "solutions", Path(__file__).parents[2] / "solutions")  # installed, or in a checkout
ENDING = ".examples"
SOLUTIONS = ".solutions"  # published or not, see `course/notebook/hints.py`
QUESTIONS = ".questions"  # written questions without points: rubrics and model answers, as JSON
PREDICTIONS = ".predictions"  # answers to the calls of `predict`, as JSON
EXPERIMENTS = ".experiment"  # what a finding of the lesson's experiment is compared with, as JSON
GIVEN = ".given"  # hashes of the lesson's own cells, and the earlier exercises that they use, as JSON
STUBS = ".stubs"  # the cells of exercises, steps and challenges before an answer, as JSON


def lessons() -> list[str]:
    """Return the names of the course's lessons, in its order.

    Raises FileNotFoundError if there are none.
    """
    found, outline = known_lessons(), _outline()
    return [lesson for lesson in outline.lessons if lesson in found] if outline else found


def course_title() -> str:
    """Return the title that the teacher gave the course; "" if there is none."""
    outline = _outline()
    return outline.title if outline else ""


def known_lessons() -> list[str]:
    """Return the names of all lessons, whether the course has them or not.

    They are the package's and those next to the notebook. Raises FileNotFoundError if there are none.
    """
    found = sorted({p.name.removesuffix(ENDING) for place in (EXAMPLES, Path()) for p in place.glob(f"*{ENDING}")})
    if not found:
        raise FileNotFoundError(f"the examples of the course are missing from {EXAMPLES}: install the course again")
    return found


def exercises_of(lesson: str) -> dict[str, dict[str, Any]]:
    """The data of a lesson's exercises by name: points, hints, visible examples."""
    data, outline = known_exercises(lesson), _outline()
    if outline is None or lesson not in outline.lessons:
        return data
    return {name: {**data[name], "points": p} for name, p in outline.lessons[lesson].items() if name in data}


def known_exercises(lesson: str) -> dict[str, dict[str, Any]]:
    """Return the data of all exercises of a lesson, also of those that the course omits.

    If a course omits an exercise, its notebook provides the function.
    """
    return _examples(lesson)["exercises"]


def challenges_of(lesson: str) -> dict[str, dict[str, Any]]:
    """The data of a lesson's challenges, whose points are stars, by name."""
    return _examples(lesson).get("challenges", {})


def steps_of(lesson: str) -> dict[str, dict[str, Any]]:
    """The data of a lesson's steps, which have no points, by name."""
    return _examples(lesson).get("steps", {})


def step_answer(lesson: str, name: str) -> str:
    """The code of a right answer to a step, "" if the package has none.

    It is read from the package alone: a file beside a notebook supplies data, and no code.
    """
    path = EXAMPLES / f"{lesson}{ENDING}"
    steps = read_examples(path).get("steps", {}) if path.is_file() else {}
    return str(steps.get(name, {}).get("answer", ""))


def tasks_of(lesson: str) -> dict[str, dict[str, Any]]:
    """The data of all that `check` checks in a lesson, by name: exercises, steps and challenges."""
    return exercises_of(lesson) | steps_of(lesson) | challenges_of(lesson)


def practice_of(lesson: str, name: str) -> Practice:
    """The practice cases of an exercise. Raises PackingError, also for a missing file."""
    path = find_file(f"{lesson}/{name}{PRACTICE}")
    try:
        practice = read(path)
    except (OSError, PackingError) as error:
        raise PackingError(f"{path} cannot be read ({error}): install the course again") from None
    points = exercises_of(lesson).get(name, {}).get("points")
    own = [criterion.points for criterion in practice.criteria]
    if points is None or points == sum(own):
        return practice
    scaled = zip(practice.criteria, scale_points(own, points), strict=True)
    return replace(practice, criteria=[replace(criterion, points=new) for criterion, new in scaled])


def questions_of(lesson: str) -> dict[str, dict[str, Any]]:
    """Return the written questions of a lesson by name: title, rubric, model answer.

    Raises ValueError for a damaged file.
    """
    return _read_json(f"{lesson}{QUESTIONS}")


def predictions_of(lesson: str) -> dict[str, dict[str, Any]]:
    """Return a lesson's predictions by the question that `predict` names.

    Raises ValueError for a damaged file.
    """
    return _read_json(f"{lesson}{PREDICTIONS}")


def experiment_of(lesson: str) -> dict[str, Any]:
    """Return the lesson's experiment; empty if it has none. Raises ValueError for a damaged file."""
    return _read_json(f"{lesson}{EXPERIMENTS}")


def given_of(lesson: str) -> dict[str, Any]:
    """Return the hashes of a lesson's own cells ("cells"), and the earlier exercises that these use ("earlier").

    The latter have their lessons' names. Raises ValueError for a damaged file.
    """
    return _read_json(f"{lesson}{GIVEN}")


def stubs_of(lesson: str) -> dict[str, str]:
    """The unanswered cells of a lesson's tasks by name. Raises ValueError for a damaged file."""
    return _read_json(f"{lesson}{STUBS}")


def _read_json(file: str) -> dict[str, Any]:
    """Read a JSON object; empty if there is no such file. Raises ValueError."""
    path = find_file(file)
    if not path.is_file():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{path} cannot be read: install the course again")
    return found


def find_file(file: str) -> Path:
    """The path of a file: next to the notebook if it is there, else in the package."""
    beside = Path(file)
    return beside if beside.is_file() else EXAMPLES / file


def solutions_file(lesson: str) -> Path:
    """The path of a lesson's solutions: next to the notebook, where a course published them, or in the open release."""
    places = (Path(), EXAMPLES, *OPEN)
    found = (place / f"{lesson}{SOLUTIONS}" for place in places)
    return next((path for path in found if path.is_file()), Path(f"{lesson}{SOLUTIONS}"))


def _examples(lesson: str) -> dict[str, dict[str, dict[str, Any]]]:
    return read_examples(find_file(f"{lesson}{ENDING}").resolve())


@cache
def read_examples(path: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Read a file of examples, once. Raises PackingError."""
    try:
        found: dict[str, dict[str, dict[str, Any]]] = unpack(path.read_bytes())
        for name, exercise in {**found["exercises"], **found.get("steps", {}), **found.get("challenges", {})}.items():
            for case in exercise["cases"]:
                ensure_data_only(case["program"], name)
    except PackingError as error:
        raise PackingError(f"{path} cannot be read ({error}): install the course again") from None
    return found


def _outline() -> Outline | None:
    """Return the course's outline; None if the course is the package's lessons.

    Raises ValueError for a damaged file.
    """
    path = find_file(OUTLINE).resolve()
    try:
        return _read_outline(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        return None


@lru_cache(maxsize=4)
def _read_outline(path: Path, _: int) -> Outline:
    return read_outline(path.read_text(encoding="utf-8"))
