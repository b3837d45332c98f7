"""Written questions of a lesson, with rubrics and model answers, graded by a person.

Each question is in grader_tests/NN_lesson/questions/NAME.toml; docs/contracts/README.md describes the file. Exercises
and their proofs do not depend on questions, and grading a submission does not import this module.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import ExerciseError
from .toml_keys import wrong_keys

FOLDER = "questions"  # in the folder of a lesson's grader tests
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)  # a question's name is a grade_id, and is typed after `%%answer`
ROUNDING = 1e-9  # in a sum of points
KEYS = {"points": "a number", "title": "a text", "text": "a text", "model_answer": "a text", "rubric": "a list"}
ITEM_KEYS = {"id": "a text", "text": "a text", "points": "a number"}


@dataclass(frozen=True)
class RubricItem:
    """One thing that an answer gains points for, or loses them if `points` is negative."""

    id: str
    text: str
    points: float


@dataclass(frozen=True)
class Question:
    """A written question.

    name          its file's name without the suffix, and the grade_id of its answer cell
    points        the sum of the rubric's positive points
    text          the question as the lesson shows it, in Markdown; so is `model_answer`
    """

    name: str
    title: str
    points: float
    text: str
    model_answer: str
    rubric: tuple[RubricItem, ...]

    def worth(self, points: float) -> Question:
        """The same question worth `points`, with the rubric scaled in proportion."""
        scaled = tuple(replace(item, points=item.points * points / self.points) for item in self.rubric)
        return replace(self, points=points, rubric=scaled)

    def comparison(self, chosen: Collection[str] = ()) -> str:
        """The rubric and the model answer, as Markdown, for students whose answer is graded.

        chosen  ids of the items that a person ticked for the answer
        """
        points = [f"{item.points:+g}".replace("-", "−") for item in self.rubric]
        items = [
            f"- {'✓ ' * (item.id in chosen)}{item.text} ({number})"
            for item, number in zip(self.rubric, points, strict=True)
        ]
        return "\n".join(["**Rubric**", "", *items, "", "**A model answer**", "", self.model_answer])


def load_questions(tests: Path) -> dict[str, Question]:
    """Load the questions of a lesson by name, sorted by name; none if it has none.

    tests  grader_tests/NN_lesson

    Raises ExerciseError, which names the file and everything that is wrong in it.
    """
    return {path.stem: _load(path) for path in sorted((tests / FOLDER).glob("*.toml"))}


def _load(path: Path) -> Question:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        problems = list(_problems(path.stem, data))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        problems = [str(error)]
    if problems:
        where = f"{path.parts[-3]}/{FOLDER}/{path.name}"
        raise ExerciseError(f"{where}: {'; '.join(problems)}")
    rubric = tuple(RubricItem(item["id"], item["text"].strip(), float(item["points"])) for item in data["rubric"])
    texts = {key: data[key].strip() for key in ("title", "text", "model_answer")}
    return Question(path.stem, points=float(data["points"]), rubric=rubric, **texts)


def _problems(name: str, data: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a question, in phrases that follow the file's name."""
    if not NAME.fullmatch(name):
        yield f"{name!r} is not a valid name of a question: use letters, digits and _, such as why_scale"
    wrong = list(wrong_keys(data, KEYS, ""))
    yield from wrong
    rubric = data.get("rubric")
    if not isinstance(rubric, list):
        return
    for number, item in enumerate(rubric, 1):
        found = list(wrong_keys(item, ITEM_KEYS, f"rubric item {number}: ")) if isinstance(item, dict) else []
        found += [] if isinstance(item, dict) else [f"rubric item {number}: expected a table, [[rubric]]"]
        wrong += found
        yield from found
    if wrong:
        return
    for key, times in Counter(item["id"] for item in rubric).items():
        if times > 1:
            yield f"{times} rubric items have the id {key!r}: give each its own"
    positive = sum(item["points"] for item in rubric if item["points"] > 0)
    if data["points"] <= 0:
        yield f"points: expected a number greater than 0, got {data['points']:g}"
    elif abs(positive - data["points"]) > ROUNDING:
        yield f"the positive points of the rubric sum to {positive:g}, but points is {data['points']:g}"
