"""The catalog of lessons, exercises, hints, visible examples and practice cases.

It is data in `course/examples/`, made from the exercises' contracts, without solutions. Files that come with a
notebook, next to it, take precedence over the package's.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from ..check_data import ENDING as PRACTICE
from ..check_data import Practice, read
from ..data_only import ensure_data_only
from ..harness.serialization import PackingError, unpack

EXAMPLES = Path(__file__).parents[1] / "examples"
ENDING = ".examples"
SOLUTIONS = ".solutions"  # published or not, see `course/notebook/solutions.py`
QUESTIONS = ".questions"  # written questions without points: rubrics and model answers, as JSON


def lessons() -> list[str]:
    """Names of the lessons, in order: the package's and those next to the notebook.

    Raises FileNotFoundError if there are none.
    """
    found = sorted({p.name.removesuffix(ENDING) for place in (EXAMPLES, Path()) for p in place.glob(f"*{ENDING}")})
    if not found:
        raise FileNotFoundError(f"the examples of the course are missing from {EXAMPLES}: install the course again")
    return found


@cache
def exercises_of(lesson: str) -> dict[str, dict[str, Any]]:
    """The data of a lesson's exercises by name: points, hints, visible examples."""
    return _examples(lesson)["exercises"]


@cache
def challenges_of(lesson: str) -> dict[str, dict[str, Any]]:
    """The data of a lesson's challenges, whose points are stars, by name."""
    return _examples(lesson).get("challenges", {})


def exercises_and_challenges(lesson: str) -> dict[str, dict[str, Any]]:
    """The data of a lesson's exercises and challenges, by name."""
    return exercises_of(lesson) | challenges_of(lesson)


def practice_of(lesson: str, name: str) -> Practice:
    """The practice cases of an exercise. Raises PackingError, also for a missing file."""
    path = find_file(f"{lesson}/{name}{PRACTICE}")
    try:
        return read(path)
    except (OSError, PackingError) as error:
        raise PackingError(f"{path} cannot be read ({error}): install the course again") from None


def questions_of(lesson: str) -> dict[str, dict[str, Any]]:
    """The written questions of a lesson by name: title, rubric, model answer. Raises ValueError for a damaged file."""
    path = find_file(f"{lesson}{QUESTIONS}")
    if not path.is_file():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def find_file(file: str) -> Path:
    """The path of a file: next to the notebook if it is there, else in the package."""
    beside = Path(file)
    return beside if beside.is_file() else EXAMPLES / file


def _examples(lesson: str) -> dict[str, dict[str, dict[str, Any]]]:
    path = find_file(f"{lesson}{ENDING}")
    try:
        found: dict[str, dict[str, dict[str, Any]]] = unpack(path.read_bytes())
        for name, exercise in (found["exercises"] | found.get("challenges", {})).items():
            for case in exercise["cases"]:
                ensure_data_only(case["program"], name)
    except PackingError as error:
        raise PackingError(f"{path} cannot be read ({error}): install the course again") from None
    return found
