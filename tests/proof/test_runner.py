"""What blocks a release: survivors, reasons that are stale, errors of ours; and what needs no new proof."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from grading.cli import main
from grading.course import Course
from grading.errors import EquivalentsFileError
from grading.proof.equivalents import read_equivalents, to_toml
from grading.proof.runner import check, unproved

from ..support.course_builder import TINY_LESSONS, build_course

ONE, HERE = TINY_LESSONS[0], "grader_tests/01_double/double"
SURVIVORS = {
    "by_a_sum ea748b3c, line 2: return x + x -> return (x + x).transpose(-2, -1)",
    "solution 0d810f20, line 2: return 2 * x -> return (2 * x).transpose(-2, -1)",
}
WHY = "There is one number."


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Two mutants of `double` lose nothing, for want of a case with more than one number."""
    root = build_course(tmp_path / "course")
    ask_for_one_number(root, ONE)
    return root


def listing(course: Path, mutants: Iterable[str], why: str = WHY) -> None:
    (course / HERE / "equivalent.toml").write_text(to_toml(mutants, dict.fromkeys(mutants, why)))


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def ask_for_one_number(root: Path, lesson: str) -> None:
    """Have a tiny lesson's cases ask for a single number, so that a mutant that transposes it loses nothing."""
    contract = root / "grader_tests" / lesson / lesson[3:] / "contract.py"
    for shape in ("(3, 5)", "(4)"):
        rewrite(contract, f"draw.normal{shape}", "draw.normal(1, 1)")


def faults(course: Path) -> list[str]:
    return [str(problem) for one in check(course, [ONE]) for problem in one.problems]


def test_a_survivor_blocks_with_file_fault_and_remedy(course, monkeypatch, capsys):
    monkeypatch.chdir(course)
    assert main.main(["prove", ONE]) == 1
    told = capsys.readouterr()
    for mutant in SURVIVORS:
        assert f"✗ {HERE}/equivalent.toml: a mutant loses nothing: {mutant}\n" in told.out
    remedy = "If the mutant is right, add this entry here instead:\n      [[equivalent]]\n"
    assert told.out.count(remedy) == 2
    assert told.err == "2 problems\n"


def test_a_survivor_may_stay_with_a_reason(course):
    listing(course, SURVIVORS)
    assert faults(course) == []


def test_a_survivor_is_gone_by_a_case(course):
    rewrite(course / HERE / "contract.py", "yield call(draw.normal(1, 1))\n\n", "yield call(draw.normal(3, 5))\n\n")
    assert faults(course) == [], "and casts to float32, which do nothing here, need no reason"


def test_what_does_nothing_in_any_case_is_in_no_list_that_is_printed(course, monkeypatch, capsys):
    monkeypatch.chdir(course)
    assert main.main(["prove", ONE, "--survivors"]) == 0
    assert set(re.findall(r'^    "(.+)",$', capsys.readouterr().out, re.M)) == SURVIVORS


@pytest.mark.full
def test_a_listed_mutant_that_is_caught_or_gone_blocks(course):
    listing(course, SURVIVORS)
    rewrite(course / HERE / "contract.py", "yield call(draw.normal(1, 1))\n\n", "yield call(draw.normal(3, 5))\n\n")
    assert sorted(fault.partition(": ")[2] for fault in faults(course)) == [
        f"a listed mutant is caught: {mutant}\n    Remove it from the list." for mutant in sorted(SURVIVORS)
    ]
    listing(course, ["solution 00000000, line 2: return 2 * x -> return (2 * x).transpose(-2, -1)"])
    assert any("is not a mutant of these answers: solution 00000000" in fault for fault in faults(course))


def test_a_listed_mutant_without_a_reason_blocks_like_one_that_is_not_listed(course):
    listing(course, SURVIVORS, "")
    assert len(faults(course)) == 2


def test_survivors_are_printed_as_the_list_has_them_with_the_reasons_that_are_known(course, monkeypatch, capsys):
    listing(course, sorted(SURVIVORS)[:1])
    monkeypatch.chdir(course)
    assert main.main(["prove", ONE, "--survivors"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"# {HERE}/equivalent.toml\n")
    (course / HERE / "equivalent.toml").write_text(told)
    assert read_equivalents(course / HERE) == dict(zip(sorted(SURVIVORS), (WHY, ""), strict=True))


def test_a_reason_is_offered_again_where_another_line_of_the_base_changed():
    old, new = "base 00000000, line 2: a -> b", "base 11111111, line 5: a -> b"
    assert WHY in to_toml([new], {old: WHY})
    assert WHY not in to_toml([new.replace("-> b", "-> c")], {old: WHY})


@pytest.mark.parametrize("text", ["[[equivalent]]\nwhy = 3\nmutants = ['a']", "[[equivalent]]\nmutants = []", "why"])
def test_a_list_of_another_shape_is_refused(tmp_path, text):
    (tmp_path / "equivalent.toml").write_text(text)
    with pytest.raises(EquivalentsFileError, match="expected a list of groups"):
        read_equivalents(tmp_path)


def test_any_text_survives_a_round_trip_through_the_list(tmp_path):
    mutants = ["a 'quoted' \"text\"", "einsum('ij->j')", 'x = "a"', "back\\slash", "tab\there", "ü → −∞"]
    (tmp_path / "equivalent.toml").write_text(to_toml(mutants, dict.fromkeys(mutants, WHY)), encoding="utf-8")
    assert read_equivalents(tmp_path) == dict.fromkeys(mutants, WHY)


@pytest.mark.full("proves a course again, like its neighbours")
def test_an_error_of_ours_is_a_problem_and_others_are_proved(course):
    listing(course, SURVIVORS)
    rewrite(course / HERE / "mistakes.py", "return x * x", "return x * x\n\n\ndef other(:")
    found = check(course, TINY_LESSONS)
    (broken,) = [one for one in found if one.lesson == ONE]
    assert "SyntaxError" in str(broken.problems[0])
    assert "The proof itself failed" in str(broken.problems[0])
    assert [one.text.splitlines()[0] for one in found if one.lesson == TINY_LESSONS[1]] == [
        "02_halve halve: 2 mistakes, 2 named rightly, 2 alternatives, 22/23 mutants killed, 1 equivalent, "
        "check agrees on 5/5"
    ]


def test_what_is_proved_is_released_and_needs_no_new_proof_until_it_changes(course, monkeypatch, capsys):
    monkeypatch.chdir(course)
    assert main.main(["release", ONE]) == 2
    assert "nothing was released" in capsys.readouterr().err
    assert not Course(course).is_registered(ONE)
    listing(course, SURVIVORS)
    assert main.main(["release", ONE]) == 0
    assert "New or changed since the last proof: 01_double" in capsys.readouterr().out
    assert Course(course).is_registered(ONE)
    assert main.main(["release", ONE]) == 0
    assert "New or changed" not in capsys.readouterr().out
    assert unproved(course, TINY_LESSONS) == [TINY_LESSONS[1]]
    rewrite(course / "source" / f"{ONE}.py", "# # To double", "# # To double a number")
    assert unproved(course, [ONE]) == []
    rewrite(course / "source" / f"{ONE}.py", "return (2 * x)", "return (x * 2)")
    assert unproved(course, [ONE]) == [ONE]
    rewrite(course / "source" / f"{ONE}.py", "return (x * 2)", "return (2 * x)")
    assert unproved(course, [ONE]) == []
    rewrite(course / HERE / "contract.py", "points=2", "points=2.0")
    assert unproved(course, [ONE]) == [ONE]


def test_what_changed_or_failed_is_proved_again_and_the_rest_where_that_is_asked_for(course, monkeypatch, capsys):
    kept, one, other = (
        "already proved and unchanged, so not proved again (`--again` proves all): 1\n",
        f"{ONE} double: ",
        f"{TINY_LESSONS[1]} halve: ",
    )
    monkeypatch.chdir(course)
    listing(course, SURVIVORS)
    assert main.main(["prove", ONE]) == 0
    assert one in capsys.readouterr().out
    assert main.main(["prove", ONE]) == 0
    assert capsys.readouterr().out == kept
    ask_for_one_number(course, TINY_LESSONS[1])
    for _ in range(2):  # a mutant of the other's survives
        assert main.main(["prove", *TINY_LESSONS]) == 1
        told = capsys.readouterr().out
        assert told.startswith(kept) and other in told and one not in told
    rewrite(course / HERE / "mistakes.py", "return x * x", "return x ** 2")
    assert main.main(["prove", ONE]) == 0
    assert one in capsys.readouterr().out
    for asked in (["--again"], ["--exercise", "double"], ["--verbose"]):
        assert main.main(["prove", ONE, *asked]) == 0
        assert one in capsys.readouterr().out
