"""The cases that `make test` leaves out are those that a test does not name."""

from __future__ import annotations

import pytest

from .conftest import COLLECTED
from .support.tiers import mark_further_cases, tier_problems


def test_every_named_case_is_there(request: pytest.FixtureRequest) -> None:
    """Looks at what this run collected: the whole suite in `make test`, whatever the marks then deselect."""
    assert not tier_problems(request.config.stash[COLLECTED])


def collected(pytester: pytest.Pytester, source: str) -> list[pytest.Item]:
    items = pytester.getitems(f"import pytest\n{source}")
    mark_further_cases(items)
    return items


FAMILY = "@pytest.mark.parametrize('case', ['one', 'two', 'three'])\ndef test_family(case): pass"


def test_named_cases_are_quick_and_the_others_full(pytester: pytest.Pytester) -> None:
    items = collected(pytester, f"@pytest.mark.quick_cases('two')\n{FAMILY}")
    assert [item.get_closest_marker("full") is None for item in items] == [False, True, False]
    assert tier_problems(items) == []


def test_a_name_without_a_case_is_a_problem(pytester: pytest.Pytester) -> None:
    (found,) = tier_problems(collected(pytester, f"@pytest.mark.quick_cases('two', 'four')\n{FAMILY}"))
    assert found.endswith("test_family: no case is called 'four'")
