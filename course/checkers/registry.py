"""The registry of checkers, which are stored and sent by name, with arguments.

So the grade and the learner's own `check` use the same function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ..harness.messages import Finding
from ..harness.program import Observation

Problem = str | Finding | None
"""What is wrong, as a sentence or a finding; None if nothing is."""
Checker = Callable[..., Problem]
Function = TypeVar("Function", bound=Checker)

CHECKERS: dict[str, Checker] = {}


def checker(function: Function) -> Function:
    """Register a checker under its name.

    It is called with the observation `seen`, with the `exact` outcome of a correct answer if it has a parameter of that
    name, and with the values of the case as keyword arguments.
    """
    if function.__name__ in CHECKERS:
        raise ValueError(f"two checkers are called {function.__name__}")
    CHECKERS[function.__name__] = function
    return function


@dataclass(frozen=True, eq=False)
class NamedChecker:
    """A checker by its name, with its arguments.

    `given` is plain data and tensors. Raises LookupError if there is no such checker, and TypeError if it does not take
    these arguments.
    """

    name: str
    given: dict[str, Any]

    def __post_init__(self) -> None:
        if self.name not in CHECKERS:
            raise LookupError(f"there is no checker {self.name!r}; there are {', '.join(sorted(CHECKERS))}")
        exact = (None,) if self.compares else ()
        inspect.signature(self._function).bind(None, *exact, **self.given)

    @property
    def compares(self) -> bool:
        """Whether it needs the outcome of a correct answer."""
        return "exact" in inspect.signature(self._function).parameters

    def __call__(self, seen: Observation, exact: Observation) -> Problem:
        compared = (exact,) if self.compares else ()
        return self._function(seen, *compared, **self.given)

    @property
    def _function(self) -> Checker:
        return CHECKERS[self.name]
