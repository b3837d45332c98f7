"""Short functions to read and grade on a `ReviewDesk`."""

from __future__ import annotations

from typing import Any

from nbgrader.api import Gradebook

from grading.plugins.review.desk import ReviewDesk

from ...support.review_course import LESSON


def key_of(cell: str) -> str:
    return f"{LESSON}/{cell}"


def members(desk: ReviewDesk, cell: str) -> dict[str, dict[str, Any]]:
    """Student -> the answer as the page gets it, with the id of its group."""
    groups = desk.question(key_of(cell), names=True)["groups"]
    return {m["student"]: {**m, "group": group["id"]} for group in groups for m in group["members"]}


def seen(desk: ReviewDesk, cell: str, *students: str) -> dict[str, str]:
    found = members(desk, cell)
    return {found[student]["id"]: found[student]["seen"] for student in students}


def grade(desk: ReviewDesk, cell: str, *students: str, by: str = "ann", page: str = "p", **wanted: Any) -> Any:
    return desk.grade(by, page, key_of(cell), seen(desk, cell, *students), wanted)


def in_nbgrader(desk: ReviewDesk, cell: str, student: str, comment: str | None = None) -> tuple[Any, ...]:
    """manual_score, extra_credit, needs_manual_grade and manual_comment.

    `comment`: the cell that has the comment.
    """
    with Gradebook(str(desk.gradebook.engine.url.render_as_string(hide_password=False))) as gradebook:
        row = gradebook.find_grade(cell, LESSON, LESSON, student)
        said = gradebook.find_comment(comment or cell, LESSON, LESSON, student)
        return row.manual_score, row.extra_credit, bool(row.needs_manual_grade), said.manual_comment
