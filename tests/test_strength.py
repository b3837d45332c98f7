"""Errors beside what is allowed, points by seed, and the pages made of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from benchmarks.strength import devices, write_reports
from benchmarks.strength.error_margins import Exactness, measure
from benchmarks.strength.figures import measured
from benchmarks.strength.write_reports import measure_course, measured_of, write
from grading.exercises.exercise import Exercise, call, exercise
from grading.proof.equivalents import to_toml
from grading.proof.parallel import run_in_parallel
from grading.proof.runner import check

from .proof.test_runner import HERE, SURVIVORS, WHY, ask_for_one_number
from .support.course_builder import TINY_LESSONS, build_course

ROUGH = "def double(x):\n    return 2 * x * (1 + {error})"


def names(code: str) -> dict[str, object]:
    made: dict[str, object] = {"torch": torch}
    exec(code, made)
    return made


def doubling(*, even: bool = False) -> Exercise:
    made = exercise("double")

    @made.oracle
    def oracle(x):
        return 2 * x

    @made.criterion("values", points=1)
    def _(draw):
        yield call(draw.normal(40))
        yield call(draw.normal(40, dtype=torch.float64))

    @made.criterion("others", points=1)
    def _(draw):
        yield call(torch.tensor([1.0 + draw.integer(0, 2)]) if even else draw.normal(3))

    made.mistake("off by a percent", loses="values").full_code(ROUGH.format(error=0.01)).feedback("It is off.")
    return made


def test_errors_are_reported_as_multiples_of_the_tolerance():
    right = {"exact": names("def double(x):\n    return x + x"), "rough": names(ROUGH.format(error=1e-5))}
    found = measure(doubling(), right, range(3))
    share, whose = found.right["float32"]
    assert whose == "rough"
    assert 0.05 < share < 0.15  # 1e-5 of 1e-4, and of 1e-5 of the largest
    multiple, whose = found.wrong["float32"]
    assert whose == "off by a percent: values"
    assert 40 < multiple < 110
    assert found.draws == 3 * 2 * 3 - 3  # the rough one is wrong in float64, and what is wrong is not compared
    assert found.changing == {}
    assert found.named == {"off by a percent": {"off by a percent": 3}}


def test_points_that_depend_on_the_seed_are_reported():
    wrong = "def double(x):\n    return 2 * x + (len(x) == 1) * (float(x.sum()) == 2)"
    found = measure(doubling(even=True), {"by chance": names(wrong)}, range(12))
    counts = found.changing["by chance"]
    assert set(counts) == {"1", "2"}
    assert sum(counts.values()) == 12


def test_where_cases_take_long_a_tenth_of_the_seeds_must_do():
    made = doubling()

    @made.criterion("slow ones", points=1)
    def _(draw):
        yield call(draw.normal(3)).timeout(20)

    assert measure(made, {}, range(20)).seeds == 2


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a device")
def test_without_a_device_it_says_that_nothing_was_run():
    assert devices.in_words() == devices.NOT_RUN
    assert devices.differing(doubling(), {}) is None


def test_measuring_writes_figures_pages_and_a_picture_and_again_nothing(tmp_path: Path, monkeypatch, capsys):
    root = build_course(tmp_path / "course")
    for lesson in TINY_LESSONS:
        ask_for_one_number(root, lesson)
    (root / HERE / "equivalent.toml").write_text(to_toml(SURVIVORS, dict.fromkeys(SURVIVORS, WHY)))
    monkeypatch.setattr(write_reports, "SEEDS", 2)
    (root / "docs" / "images").mkdir(parents=True)
    quality = root / "docs" / "grader-quality.md"
    quality.write_text("# Quality\n\n<!-- generated: figures -->\n<!-- end -->\n")
    before = quality.read_text()
    assert measure_course(root, [TINY_LESSONS[0]]) == 0
    reports = root / "build" / "reports"
    double = json.loads((reports / "strength.json").read_text())["exercises"]["01_double/double"]
    assert double["mutants"]["equivalent"].items() >= dict.fromkeys(SURVIVORS, WHY).items()
    assert double["seeds"]["seeds"] == 2
    assert [c["name"] for c in double["criteria"]] == ["values", "gradients"]
    page = (reports / "strength.md").read_text()
    assert f"- 01_double/double: {WHY} (2)" in page
    assert "| 01_double/double | gradients | 2 |" in page
    assert (reports / "tolerances.png").stat().st_size > 5000
    assert quality.read_text() == before  # which has the sums of all exercises

    # a problem is told by the exit status, and has no figures
    assert measure_course(root, ["halve"]) == 1
    assert "✗ grader_tests/02_halve/halve/equivalent.toml: a mutant loses nothing" in capsys.readouterr().out
    assert list(json.loads((reports / "strength.json").read_text())["exercises"]) == ["01_double/double"]

    # the other exercise's figures are added to these, which are not measured again
    survivors = [str(p.fault).partition(": ")[2] for one in check(root, [TINY_LESSONS[1]]) for p in one.problems]
    folder = root / "grader_tests" / TINY_LESSONS[1] / "halve"
    (folder / "equivalent.toml").write_text(to_toml(survivors, dict.fromkeys(survivors, WHY)))
    measured_now = []
    monkeypatch.setattr(write_reports, "measured_of", lambda *task: measured_now.append(task) or measured_of(*task))
    assert measure_course(root) == 0
    known = json.loads((reports / "strength.json").read_text())["exercises"]
    assert list(known) == ["01_double/double", "02_halve/halve"]
    assert known["01_double/double"] == double
    assert "| known mistakes, all losing what they should | 4 |" in quality.read_text()
    assert (root / "docs" / "images" / "tolerances.png").is_file()
    assert [task[2] for task in measured_now] == ["halve"]


def test_an_interruption_keeps_new_and_old_measurements(tmp_path: Path, monkeypatch):
    root = build_course(tmp_path / "course")
    reports = root / "build" / "reports"
    reports.mkdir(parents=True)
    before = {"seeds": {"seeds": 7}}
    (reports / "strength.json").write_text(json.dumps({"exercises": {"01_double/double": before}}))

    def interrupted_after_the_first(task, wanted):
        yield from run_in_parallel(task, wanted[:1])
        raise KeyboardInterrupt

    monkeypatch.setattr(write_reports, "run_in_parallel", interrupted_after_the_first)
    monkeypatch.setattr(write_reports, "SEEDS", 1)
    with pytest.raises(KeyboardInterrupt):
        measure_course(root)
    known = json.loads((reports / "strength.json").read_text())["exercises"]
    assert known["02_halve/halve"]["seeds"]["seeds"] == 1
    assert known["01_double/double"] == before


def test_a_step_with_points_is_measured_as_exercises_are(tmp_path: Path):
    root = build_course(tmp_path / "course")
    folder = root / "grader_tests" / TINY_LESSONS[1]
    contract = (folder / "halve" / "contract.py").read_text()
    for old, new in (
        ("call, exercise", "call, step"),
        ('exercise("halve"', 'step("halve"'),
    ):
        assert old in contract
        contract = contract.replace(old, new)
    (folder / "halve" / "contract.py").write_text(contract)
    (folder / "__init__.py").write_text('EXERCISES = ()\nSTEPS = ("halve",)\n')
    found = measured_of(root, TINY_LESSONS[1], "halve", 1)
    assert found["seeds"]["seeds"] == 1
    write(
        root,
        {
            "date": "",
            "torch": "",
            "cuda": "",
            "exercises": {
                "02_halve/halve": found | {"points": 1, "right": 2, "mistakes": 2, "named": 2, "criteria": []}
            },
        },
    )
    assert "| 02_halve/halve |" in (root / "build" / "reports" / "strength.md").read_text()


def test_every_value_of_a_constant_has_the_name_of_its_mistake():
    made = measured(Exactness(named={"off": {"off": 3}, "off (BY=0.1)": {"off": 2, "another": 1}}))
    assert made["named rightly"] == 5
    assert made["named otherwise"] == {"off (BY=0.1)": {"another": 1}}


def test_failures_on_another_device_are_not_counted_as_numerical_errors():
    made = doubling()

    @made.criterion("on any device", points=1, check_types=True)
    def _(draw):
        yield call(draw.normal(3)).device_only()

    reads = names("def double(x):\n    return torch.tensor([2 * v for v in x.tolist()], dtype=x.dtype)")
    found = measure(made, {"reads numbers": reads}, range(2))
    assert found.changing == {}
    assert found.right.get("float32", (0.0, ""))[0] < 0.01
