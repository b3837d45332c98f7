"""The answers of the kernel to the buttons in JupyterLab and Notebook (`course/labextension`).

They run `check`, `hint`, `solution`, `progress` and `hand_in` as a cell would. Here is only what they need to know
before: whether the lesson has begun, which solutions are open, and what Reset puts back.
"""

from __future__ import annotations

from typing import Any

from . import catalog, hints
from .session import current


class ButtonState:
    """The state of a lesson's buttons; a front end gets it as JSON."""

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"application/json": button_state(), "text/plain": ""}


def button_state() -> dict[str, Any]:
    """The lesson, None before `begin`; and for each task whether its solution is open, and its unanswered cell."""
    session = current()
    lesson = session.lesson
    if lesson is None:
        return {"lesson": None, "tasks": {}}
    try:
        stubs = catalog.stubs_of(lesson)
    except ValueError:
        stubs = {}
    return {
        "lesson": lesson,
        "tasks": {
            name: {"solution": hints.is_open(session, name), "stub": stubs.get(name, "")}
            for name in catalog.tasks_of(lesson)
        },
    }
