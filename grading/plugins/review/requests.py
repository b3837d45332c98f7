"""Requests of the page about an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grading.errors import ReviewError
from grading.exercises.rubric import Rubric
from grading.safe_text import plural

from .marks import Mark


def wanted_mark(mark: Mark, rubric: Rubric, wanted: Mapping[str, Any]) -> Mark:
    if wanted.get("comment") is not None:
        mark = replace(mark, comment=str(wanted["comment"]).strip())
    if wanted.get("accept"):
        if mark.points is None and mark.auto is None:
            raise ReviewError("an answer without points cannot be accepted: choose an item, or give points")
        return replace(mark, waiting=False)
    if not {"items", "adjust", "graded"} & wanted.keys():
        return mark
    items = mark.items if wanted.get("items") is None else tuple(map(str, wanted["items"]))
    adjust = mark.adjust if wanted.get("adjust") is None else float(wanted["adjust"])
    if not abs(adjust) <= 1e6:
        raise ReviewError(f"{adjust} is not a valid number of points")
    graded = wanted.get("graded")
    return mark.given(rubric, items, adjust, graded=bool(items or adjust) if graded is None else bool(graded))


def in_words(count: int, wanted: Mapping[str, Any]) -> str:
    if wanted.get("accept"):
        return f"points of {count_answers(count)} accepted"
    if wanted.keys() <= {"comment"}:
        return f"comment on {count_answers(count)}"
    if wanted.get("graded") or wanted.get("items") or wanted.get("adjust"):
        return f"{count_answers(count)} graded"
    return f"points of {count_answers(count)} taken back"


def count_answers(count: int) -> str:
    return plural(count, "answer")
