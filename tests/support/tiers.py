"""The tiers of the suite: what `make test` leaves to `make test-all`, by name.

`@pytest.mark.full(reason)` leaves out a whole test. `@pytest.mark.quick_cases(*names)` leaves out the cases of a family
whose ids match none of the names (`*` stands for anything). Every other test, and at least one case of every family,
runs in `make test` (tests/test_tiers.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

import pytest


def mark_further_cases(items: Iterable[pytest.Item]) -> None:
    """Mark the cases that `quick_cases` does not name as `full`."""
    for item in items:
        names = _quick_names(item)
        if names and not any(fnmatchcase(_case_id(item), name) for name in names):
            item.add_marker(pytest.mark.full)


def tier_problems(items: Iterable[pytest.Item]) -> list[str]:
    """Tests that `make test` and `make test-browser` leave out without a reason, and names that fit no case."""
    families: dict[str, list[pytest.Item]] = {}
    for item in items:
        families.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return [f"{test}: {problem}" for test, cases in families.items() for problem in _problems(cases)]


def _problems(cases: list[pytest.Item]) -> list[str]:
    ids = [_case_id(case) for case in cases]
    unknown = [name for name in _quick_names(cases[0]) if not any(fnmatchcase(case, name) for case in ids)]
    found = [f"no case is called {name!r}" for name in unknown]
    marks = [case.get_closest_marker("full") for case in cases]
    if all(mark is not None and not mark.args for mark in marks):
        found.append("no case runs in `make test`, and `full` gives no reason")
    return found


def _case_id(item: pytest.Item) -> str:
    """The part of a case's name in brackets."""
    return item.name.partition("[")[2].removesuffix("]")


def _quick_names(item: pytest.Item) -> tuple[str, ...]:
    mark = item.get_closest_marker("quick_cases") if _case_id(item) else None
    return mark.args if mark else ()
