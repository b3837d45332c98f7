"""What `make test` leaves out, and what it counts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .conftest import COLLECTED
from .support.cpu_seconds import cpu_seconds, too_long
from .support.tiers import mark_further_cases, tier_problems


def test_every_named_case_is_there(request: pytest.FixtureRequest) -> None:
    """Looks at what this run collected: the whole suite in `make test`, whatever the marks then deselect."""
    assert not tier_problems(request.config.stash[COLLECTED])


def family(request: pytest.FixtureRequest, *quick: str) -> list[pytest.Item]:
    """Three cases of a test whose mark names those that are quick, after the others were marked."""
    items: list[pytest.Item] = []
    for case in ("one", "two", "three"):
        name = f"test_family[{case}]"
        items.append(pytest.Function.from_parent(request.node.parent, name=name, callobj=lambda: None))
        items[-1].add_marker(pytest.mark.quick_cases(*quick))
    mark_further_cases(items)
    return items


def test_named_cases_are_quick_and_the_others_full(request: pytest.FixtureRequest) -> None:
    items = family(request, "two")
    assert [item.get_closest_marker("full") is None for item in items] == [False, True, False]
    assert tier_problems(items) == []


def test_a_name_without_a_case_is_a_problem(request: pytest.FixtureRequest) -> None:
    (found,) = tier_problems(family(request, "two", "four"))
    assert found.endswith("test_family: no case is called 'four'")


def test_a_file_that_takes_more_than_its_share_is_named() -> None:
    seconds = {f"tests/test_{number}.py::test_it": 10.0 for number in range(40)}
    assert too_long(seconds) == []
    (line,) = too_long(seconds | {"tests/test_long.py::test_one": 7.0, "tests/test_long.py::test_other": 7.0})
    assert line.startswith("tests/test_long.py takes 3.4% of the tests' CPU seconds, and may take 3%. ")


def test_the_cpu_seconds_of_a_process_count_while_it_runs_and_when_it_has_ended() -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    before = cpu_seconds()
    with subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline()
        assert cpu_seconds() - before > 0.25
    assert cpu_seconds() - before > 0.25


def test_processes_may_end_while_they_are_counted() -> None:
    with subprocess.Popen(["sh", "-c", "for i in $(seq 500); do sh -c true; done"]) as shell:
        while shell.poll() is None:
            cpu_seconds()
