"""A judge of what has no single right value, as data: the name of a function here, and what it is given.

So the grade and the learner's own `check` judge by the same function, and what travels or is stored is its name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ..harness.compare import Finding
from ..harness.program import Observation

Problem = str | Finding | None
"""What is wrong, in words (or `Tagged`), or None."""
Judge = Callable[..., Problem]
Made = TypeVar("Made", bound=Judge)

PROPERTIES: dict[str, Judge] = {}


def stated(judge: Made) -> Made:
    """Give this judge its name among PROPERTIES. It is called with what was `seen`, with the `exact` outcome of a right
    answer if it has a parameter of that name, and by name with what a case gives."""
    if judge.__name__ in PROPERTIES:
        raise ValueError(f"two properties are called {judge.__name__}")
    PROPERTIES[judge.__name__] = judge
    return judge


@dataclass(frozen=True, eq=False)
class Property:
    """`judge(seen, exact)` by the function of this name; `given` is plain data and tensors.

    Raises LookupError, as it is made, for a name that there is not, and TypeError for what that function does not take.
    """

    name: str
    given: dict[str, Any]

    def __post_init__(self) -> None:
        if self.name not in PROPERTIES:
            raise LookupError(f"there is no property {self.name!r}; there are {', '.join(sorted(PROPERTIES))}")
        exact = (None,) if self.compares else ()
        inspect.signature(PROPERTIES[self.name]).bind(None, *exact, **self.given)

    @property
    def compares(self) -> bool:
        """Whether it looks at what a right answer gives."""
        return "exact" in inspect.signature(PROPERTIES[self.name]).parameters

    def __call__(self, seen: Observation, exact: Observation) -> Problem:
        compared = (exact,) if self.compares else ()
        return PROPERTIES[self.name](seen, *compared, **self.given)
