"""The learner's session in a notebook: lesson, names, checked answers and saved progress.

A process has one session. Only the functions that a notebook or a command calls look it up (`current`); everything
below them gets it as an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..report import POINTS, STEP, Report
from . import catalog
from .check_run import CapturedOutput, HungFunctions
from .saved_progress import ProgressStore, open_store
from .stand_ins import StandIns


@dataclass
class Session:
    """State of the learner's session in this notebook.

    lesson  the current lesson; None if none has started
    names   namespace of the learner's functions
    hung    answers that hung
    prints  exercise -> output of its last check
    last    exercise -> the answer checked last, and its report
    store   progress on all exercises, also from other sessions
    file    the notebook's name, if the learner gave it to `hand_in`
    stand_ins  what the lesson's own cells have under the names of exercises
    """

    lesson: str | None = None
    names: dict[str, Any] = field(default_factory=dict)
    hung: HungFunctions = field(default_factory=HungFunctions)
    prints: dict[str, CapturedOutput] = field(default_factory=dict)
    last: dict[str, tuple[Any, Report]] = field(default_factory=dict)
    store: ProgressStore = field(default_factory=open_store)
    file: str = ""
    stand_ins: StandIns = field(init=False)

    def __post_init__(self) -> None:
        self.stand_ins = StandIns(self)

    def start(self, lesson: str, names: dict[str, Any], right: Mapping[str, Callable[..., Any]] | None = None) -> None:
        """Start a lesson; `names` has the learner's functions, `right` the lesson's own right ones, if any."""
        self.lesson, self.names = lesson, names
        self.stand_ins = StandIns(self, right)

    @property
    def tasks(self) -> dict[str, dict[str, Any]]:
        """The data of all that `check` checks in this lesson, by name; empty before `begin`."""
        return catalog.tasks_of(self.lesson) if self.lesson else {}

    def lesson_of(self, name: str) -> str:
        """Return the lesson of an exercise. Raises LookupError."""
        for lesson in [self.lesson] if self.lesson else catalog.lessons():
            if name in catalog.tasks_of(lesson):
                return lesson
        where = f"lesson {self.lesson}" if self.lesson else "any lesson"
        raise LookupError(f"{name!r} is not an exercise of {where}; pass the function itself, e.g. check(softmax)")

    def name_of(self, f: Any) -> str:
        """Return the exercise that `f` answers: a name bound to it, else its own name."""
        try:
            own = f if type(f) is str else str(getattr(f, "__name__", type(f).__name__))
        except Exception:
            own = type(f).__name__
        bound = [name for name in self.tasks if name in self.names and self.names[name] is f]
        return own if own in bound or not bound else bound[0]

    def exercise_data(self, name: str) -> dict[str, Any]:
        """Return the catalog's data of an exercise in this session's lesson. Raises LookupError."""
        return catalog.tasks_of(self.lesson_of(name))[name]

    def unit_of(self, name: str) -> str:
        """The unit of what a task earns; `STEP` for a step, which has no points. Raises LookupError."""
        return STEP if name in catalog.steps_of(self.lesson_of(name)) else POINTS


_current = Session()


def current() -> Session:
    """The session of this process."""
    return _current


def renew(**state: Any) -> Session:
    """Replace the session of this process with a new one, with this state, and return it."""
    global _current
    _current = Session(**state)
    return _current
