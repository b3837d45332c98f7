"""The ledger of clauses: `grading prove` names what no case tries, what nobody claims, and claims that are not true."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.proof.runner import check

from ..support.course_builder import TINY_LESSONS, build_course

ONE = TINY_LESSONS[0]
README = (
    "| gradients | every result is differentiable <!-- gradients --> |\n| masks | True = blocked <!-- masks --> |\n"
)
PAGE = """Numbers are small <!-- small -->.

| exercise | contract |
|---|---|
| `double(x)` | twice `x` <!-- twice -->, of any sign <!-- sign -->; it may be a view <!-- view --> |

## Exercises without points

| step | contract |
|---|---|
| `count(x)` | a number <!-- number --> |
"""
OTHER = "loses a case that does not try it: double((4,)) (seed 0)"
CASES = """
    yield call(draw.uniform(3, 5))
    yield call(-draw.uniform(4)).tries("sign")
    yield call(draw.uniform(4) / 100).tries("small")
"""
MISTAKES = """
right.mistake("forgets_the_sign", {"return result": "return result.abs()"}, loses="values", clause="sign").feedback(
    "The sign is lost."
)
right.mistake("rounds", {"return result": "return result * (x.abs().max() > 0.01)"}, loses="values", clause="small")
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course whose page has four clauses, each of which is tried and claimed, or used."""
    root = build_course(tmp_path / "course")
    pages = root / "docs" / "contracts"
    pages.mkdir(parents=True)
    (pages / "README.md").write_text(README)
    (pages / "01.md").write_text(PAGE)
    edit(root, "contract.py", "\n    yield call(draw.normal(3, 5))\n", CASES)
    edit(root, "contract.py", "draw.normal(4)", "draw.uniform(4)")
    edit(root, "mistakes.py", 'loses="gradients")', 'loses="gradients", clause="gradients")')
    edit(root, "mistakes.py", "", MISTAKES.rstrip() + '.feedback("Small.")\n')
    edit(root, "alternatives.py", "# %% by_a_sum", "# %% by_a_sum uses view")
    return root


def edit(root: Path, file: str, old: str, new: str) -> None:
    path = root / "grader_tests" / ONE / "double" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new) if old else text + new)


def faults(root: Path) -> list[str]:
    return [problem.fault for one in check(root, [ONE], mutate=False) for problem in one.problems]


def test_a_page_whose_clauses_are_all_tried_and_claimed_is_no_problem(course):
    assert faults(course) == []


def test_what_nobody_tries_or_claims_is_named(course):
    edit(course, "contract.py", '.tries("sign")', "")
    edit(course, "mistakes.py", ', clause="sign"', "")
    edit(course, "mistakes.py", ', clause="small"', "")
    edit(course, "mistakes.py", ', clause="gradients"', "")
    edit(course, "alternatives.py", " uses view", " uses wiev")
    assert faults(course) == [
        "double: the contract has no clause wiev",
        "double: no case tries the clause sign, and no right answer uses it",
        "double: no case tries the clause view, and no right answer uses it",
        "no known mistake claims the clause small",
        "no known mistake claims the clause gradients",
    ]


def test_a_claim_must_be_true(course):
    edit(course, "mistakes.py", 'clause="sign"', 'clause="small"')
    edit(course, "mistakes.py", 'clause="gradients"', 'clause="sign"')
    assert faults(course) == [
        "no known mistake claims the clause gradients",
        f"mistake loses_the_gradient claims the clause sign, and {OTHER}",
        f"mistake forgets_the_sign claims the clause small, and {OTHER}",
    ]


def test_a_page_without_clauses_is_named_and_no_problem(course, capsys):
    (course / "docs" / "contracts" / "01.md").write_text("Nothing.\n")
    assert faults(course) == []
    assert capsys.readouterr().out.startswith(
        "docs/contracts/01.md names no clauses: whether each is judged is not known\n"
    )
