"""How a case is compared: options under the names that an author's text has and check data keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from .messages import Finding
from .program import Observation
from .tolerance import Tolerance

Checker = Callable[[Observation, Observation], str | Finding | None]


@dataclass(frozen=True, eq=False)
class Options:
    """How the outcome of a case is checked.

    raises          the call must raise a ValueError that names one of these arguments; empty if it returns
    does_not_raise  only that there is no ValueError
    nonfinite       where the exact gradient is not finite: accept "any" gradient, or require a "finite" one
    tolerance       in place of the dtype's own
    may_mutate      inputs that the answer may change
    check_types     dtype and type are checked; False if the exercise has another criterion for them (`coercion`)
    same_kinds      a list is no tuple
    exact_zeros     what is exactly 0 must be exactly 0
    device_only     only the device of the results (`device_check`)
    check_with      in place of a comparison: `check_with(seen, exact)` returns what is wrong, or None
    """

    raises: tuple[str, ...] = ()
    does_not_raise: bool = False
    nonfinite: str = "any"
    tolerance: Tolerance | None = None
    may_mutate: frozenset[str] = frozenset()
    check_types: bool = True
    same_kinds: bool = False
    exact_zeros: bool = False
    device_only: bool = False
    check_with: Checker | None = None

    def to_record(self) -> dict[str, Any]:
        """Those that are set, as plain data. `check_with` must be a named checker."""
        chosen = {field.name: value for field in fields(self) if (value := getattr(self, field.name)) != field.default}
        plain: dict[str, Callable[[Any], Any]] = {
            "raises": list,
            "tolerance": lambda tolerance: list(asdict(tolerance).values()),
            "may_mutate": sorted,
            "check_with": lambda checker: [checker.name, checker.given],
        }
        return {name: plain.get(name, lambda value: value)(value) for name, value in chosen.items()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any], checker: Callable[..., Checker]) -> Options:
        """Read a record of `to_record`; `checker(name, given)` makes a named checker."""
        built: dict[str, Callable[[Any], Any]] = {
            "raises": tuple,
            "tolerance": lambda numbers: Tolerance(*numbers),
            "may_mutate": frozenset,
            "check_with": lambda named: checker(*named),
        }
        return cls(**{name: built.get(name, lambda value: value)(value) for name, value in record.items()})
