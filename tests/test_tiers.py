"""What `make test` leaves out is left out by name: at least one case of every other test runs in it."""

from __future__ import annotations

import pytest

from .conftest import COLLECTED
from .support.tiers import mark_further_cases, tier_problems


def test_every_test_has_a_case_in_the_quick_tier_or_a_reason(request: pytest.FixtureRequest) -> None:
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


@pytest.mark.parametrize(
    ("mark", "problem"),
    [
        ("quick_cases('two', 'four')", "no case is called 'four'"),
        ("full", "no case runs in `make test`, and `full` gives no reason"),
    ],
)
def test_a_name_without_a_case_and_a_family_left_out_without_a_reason_are_problems(
    pytester: pytest.Pytester, mark: str, problem: str
) -> None:
    items = collected(pytester, f"@pytest.mark.{mark}\n{FAMILY}")
    (found,) = tier_problems(items)
    assert found.endswith(f"test_family: {problem}")


def test_a_test_may_be_left_out_whole_with_a_reason(pytester: pytest.Pytester) -> None:
    assert tier_problems(collected(pytester, f"@pytest.mark.full('trains a model')\n{FAMILY}")) == []
