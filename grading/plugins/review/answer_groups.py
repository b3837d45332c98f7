"""Group the answers to a question as the page lists them.

Equivalent answers are in one group, and each answer has its mark.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grading.exercises.rubric import Rubric

from .like_answers import normalised
from .marks import Mark
from .review_questions import ReviewQuestion

PREVIEW = 90  # characters


@dataclass(frozen=True)
class Submitted:
    """A graded submission of a notebook.

    name      the student's first and last name
    verdicts  as stored in the gradebook
    """

    id: str
    student: str
    name: str
    notebook: str
    digest: str
    verdicts: str


def answer_groups(
    question: ReviewQuestion,
    rubric: Rubric,
    marks: Mapping[str, Mark],
    submitted: Mapping[str, Submitted],
    texts: Mapping[str, str | None],
    reasons: Mapping[str, str],
    *,
    names: bool,
) -> list[dict[str, Any]]:
    """List the groups: large ones first, empty answers last.

    Neither the order nor the labels reveal who wrote an answer.
    """
    found: dict[str, list[str]] = {}
    for key in sorted(marks):
        found.setdefault(_group_of(key, texts[key], marks[key], question.code), []).append(key)
    labels = {key: f"Answer {number}" for number, key in enumerate(sorted(submitted), 1)}
    rows = []
    for group, keys in found.items():
        text = texts[keys[0]]
        blank = text is not None and question.is_blank(text)
        members = []
        for key in keys:
            row = _member(marks[key], rubric, labels[key])
            if names:
                row |= {"student": submitted[key].student, "name": submitted[key].name}
            members.append({"id": key, "why": reasons.get(key, ""), **row})
        preview = "" if text is None else " ".join(text[: 4 * PREVIEW].split())[:PREVIEW]
        rows.append({"id": group, "blank": blank, "missing": text is None, "preview": preview, "members": members})
    return sorted(rows, key=lambda row: (row["blank"], -len(row["members"])))


def _group_of(key: str, text: str | None, mark: Mark, code: bool) -> str:
    if mark.alone or text is None:
        return f"alone-{key}"
    return f"like-{hashlib.sha256(normalised(text, code=code).encode(errors='replace')).hexdigest()[:16]}"


def _member(mark: Mark, rubric: Rubric, label: str) -> dict[str, Any]:
    return {
        "label": label,
        "seen": mark.stamp,
        "items": list(mark.items),
        "adjust": mark.adjust,
        "points": mark.points,
        "auto": mark.auto,
        "waiting": mark.waiting,
        "comment": mark.comment,
        "alone": mark.alone,
        "by": mark.by,
        "at": f"{mark.at}Z" if mark.at else "",
        "elsewhere": mark.from_elsewhere,
        "outdated": mark.outdated(rubric),
    }
