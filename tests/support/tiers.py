"""The tiers of the suite: what `make test` leaves to `make test-all`, by name.

`@pytest.mark.full` leaves out a whole test: quicker tests execute the same lines, or its argument gives another reason.
`@pytest.mark.quick_cases(*names)` leaves out the cases of a family whose ids match none of the names (`*` stands for
anything). How much `make test` sees without them is measured (`benchmarks/test_power.py`).
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
    """Names of quick cases that fit no case."""
    families: dict[str, list[pytest.Item]] = {}
    for item in items:
        families.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return [
        f"{test}: no case is called {name!r}"
        for test, cases in families.items()
        for name in _quick_names(cases[0])
        if not any(fnmatchcase(_case_id(case), name) for case in cases)
    ]


def _case_id(item: pytest.Item) -> str:
    """The part of a case's name in brackets."""
    return item.name.partition("[")[2].removesuffix("]")


def _quick_names(item: pytest.Item) -> tuple[str, ...]:
    mark = item.get_closest_marker("quick_cases") if _case_id(item) else None
    return mark.args if mark else ()
