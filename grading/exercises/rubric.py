"""The rubric of a question: items with points that may apply to an answer.

A rubric that was edited on the review page is in rubrics/LESSON/NAME.toml in the course. It is outside grader_tests/,
so a new version of the lessons does not touch it, the release stays up to date while a class is graded, and the next
term's course takes it over. Without such a file, the question's own rubric is used, if there is one.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from grading.course_dir.toml_text import to_toml
from grading.errors import RubricError
from grading.points import rounded

from .question import Question, RubricItem

FOLDER = "rubrics"
NOTE = "Edited on the page of `grading review`; this file replaces the question's own rubric."
MOST_ITEMS, MOST_TEXT = 50, 2_000


@dataclass(frozen=True)
class Item:
    """Something that may be true of an answer, and the points that it gains or loses."""

    id: str
    text: str
    points: float


@dataclass(frozen=True)
class Rubric:
    """The items of a question.

    `from_full`: an answer starts with all points and loses some, instead of starting with none.
    """

    points: float
    items: tuple[Item, ...] = ()
    from_full: bool = False

    def earned(self, ids: Iterable[str]) -> float:
        """The points of an answer to which these items apply.

        At least 0 and at most the question's points.
        """
        chosen = set(ids)
        total = sum(item.points for item in self.items if item.id in chosen)
        return min(max(total + (self.points if self.from_full else 0.0), 0.0), self.points)

    def known(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Those of these ids that are in the rubric, in the rubric's order."""
        chosen = set(ids)
        return tuple(item.id for item in self.items if item.id in chosen)

    @property
    def stamp(self) -> str:
        """A hash of the rubric."""
        return hashlib.sha256(self.to_text().encode()).hexdigest()[:16]

    def to_text(self) -> str:
        return to_toml({"points": self.points, "from_full": self.from_full, "rubric": [asdict(i) for i in self.items]})

    def to_file(self) -> str:
        return f"# {NOTE}\n\n{self.to_text()}"


def file_of(root: Path, lesson: str, name: str) -> Path:
    """The file of an edited rubric. `name`: name of the question's cell."""
    safe = re.sub(r"[^\w.-]", lambda odd: f"%{ord(odd[0]):x}", name)
    return root / FOLDER / lesson / f"{safe}.toml"


def load_rubric(file: Path, points: float, question: Question | None) -> Rubric:
    """Load the rubric in force, scaled to the question's points in this course.

    Raises RubricError.
    """
    if file.exists():
        return _scaled(_parsed(file), points)
    if question is None:
        return Rubric(points)
    return Rubric(points, tuple(Item(i.id, i.text, i.points) for i in question.worth(points).rubric))


def with_edited_rubrics(root: Path, lesson: str, questions: Mapping[str, Question]) -> dict[str, Question]:
    """Replace the questions' own rubrics by the rubrics in force, with the points to show. Raises RubricError."""
    found = {}
    for name, question in questions.items():
        rubric = load_rubric(file_of(root, lesson, name), question.points, question)
        found[name] = replace(question, rubric=tuple(RubricItem(i.id, i.text, rounded(i.points)) for i in rubric.items))
    return found


def _scaled(rubric: Rubric, points: float) -> Rubric:
    """Scale the rubric to another number of points."""
    if rubric.points == points or not rubric.points:
        return replace(rubric, points=points)
    factor = points / rubric.points
    items = tuple(replace(item, points=item.points * factor) for item in rubric.items)
    return replace(rubric, points=points, items=items)


def _parsed(file: Path) -> Rubric:
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        items = tuple(Item(str(i["id"]), str(i["text"]), float(i["points"])) for i in data.get("rubric", []))
        return checked(Rubric(float(data["points"]), items, bool(data.get("from_full", False))))
    except (OSError, ValueError, KeyError, TypeError, RubricError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise RubricError(f"{file}: {why}. Correct the file, or delete it to use the question's own rubric.") from None


def checked(rubric: Rubric) -> Rubric:
    """Return the rubric. Raises RubricError if it cannot be used."""
    ids = [item.id for item in rubric.items]
    if len(ids) > MOST_ITEMS:
        raise RubricError(f"expected at most {MOST_ITEMS} items, got {len(ids)}")
    if len(set(ids)) < len(ids):
        raise RubricError("two items have the same id")
    for item in rubric.items:
        if not item.text:
            raise RubricError("an item has no text")
        if len(item.text) > MOST_TEXT:
            raise RubricError(f"expected at most {MOST_TEXT:,} characters in an item, got {len(item.text):,}")
        if not abs(item.points) <= 1e6:  # also refuses NaN
            raise RubricError(f"{item.points} is not a valid number of points")
    return rubric
