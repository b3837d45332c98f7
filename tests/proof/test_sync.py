"""What is derived is made again where it is out of date, and `--check` lists it without running anything."""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from torch.utils._python_dispatch import TorchDispatchMode

from grading.authoring import check_data_files
from grading.authoring.check_data_files import export
from grading.cli import main
from grading.course_dir import fingerprints
from grading.course_dir.fingerprints import fingerprint_file
from grading.errors import CourseError
from grading.exercises.lesson import load_lesson
from grading.proof import author_tables, parallel, runner
from grading.proof.equivalents import to_toml
from grading.proof.runner import unproved, versions
from grading.proof.sync import sync

from ..support.course_builder import TINY_LESSONS, build_course, tiny_lesson, write_grader_tests
from ..support.repository import LESSONS as SHIPPED_LESSONS
from ..support.repository import ROOT

ONE, TWO = TINY_LESSONS


class Operations(TorchDispatchMode):
    """Counts what torch computes."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def proofs_in(root: Path) -> list[str]:
    return [name for name in fingerprint_file(root).read() if name.startswith("proof of ")]


def test_nothing_that_is_committed_is_out_of_date_and_a_check_computes_nothing(capsys):
    for lesson in SHIPPED_LESSONS:
        load_lesson(ROOT / "grader_tests" / lesson)
    with Operations() as operations:
        assert sync(ROOT, check=True) == 0, capsys.readouterr().out
    assert capsys.readouterr().out == "up to date\n"
    assert operations.count == 0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course like the repository, of two lessons, in which all that is derived was made."""
    root = build_course(tmp_path_factory.mktemp("sync") / "course")
    for folder in ("course", "tests/verdicts", "grading/proof"):
        (root / folder).mkdir(parents=True)
    assert sync(root) == 0
    return root


@pytest.fixture
def course(made: Path) -> Iterator[Path]:
    """The same, with its files put back afterwards: a lesson is read once per process and place."""
    kept = {path: path.read_bytes() for path in made.rglob("*") if path.is_file()}
    yield made
    for path in [path for path in made.rglob("*") if path.is_file() and path not in kept]:
        path.unlink()
    for path, content in kept.items():
        path.write_bytes(content)


@pytest.fixture
def work(monkeypatch) -> list[str]:
    """What is computed from now on: lessons exported and exercises proved."""
    done: list[str] = []

    def exported(tests, only=(), real=check_data_files.build_examples):
        names = list(only)
        done.append(f"export {tests.name}: {', '.join(names)}")
        return real(tests, names)

    def proved(task, wanted, real=runner.run_in_parallel):
        done.extend(f"prove {lesson}/{name}" for _, lesson, name, *_ in wanted)
        return real(task, wanted)

    monkeypatch.setattr(check_data_files, "build_examples", exported)
    monkeypatch.setattr(runner, "run_in_parallel", proved)
    return done


def test_all_is_made_and_then_up_to_date(course, work, capsys):
    assert proofs_in(course) == [f"proof of {name} with {versions()}" for name in (f"{ONE}/double", f"{TWO}/halve")]
    assert json.loads((course / "tests" / "verdicts" / f"{ONE}.json").read_text())["double"]["solution"] == ["11"]
    assert (course / "course" / "examples" / ONE / "double.practice").is_file()
    assert "- **squares** (values): That is the *square*." in (course / "build" / "reports" / "mistakes.md").read_text()
    assert sync(course, check=True) == sync(course) == 0
    assert capsys.readouterr().out.splitlines()[0] == "up to date"
    assert work == []


def test_a_comment_makes_nothing_stale_and_a_constant_its_exercise(course, work, capsys):
    contract = course / "grader_tests" / ONE / "double" / "contract.py"
    rewrite(contract, "import call, exercise", "import (call,  # said more clearly\n    exercise)")
    assert sync(course, check=True) == 0
    rewrite(contract, "points=2", "points=2.0")
    capsys.readouterr()
    assert sync(course, check=True) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{ONE}/double: out of date: check data, recorded verdicts, shipped proof. Run `grading sync {ONE}/double`.",
    ]
    assert work == []
    assert sync(course, [TWO]) == 0
    assert work == []
    assert sync(course, ["double"]) == 0
    assert work == [f"export {ONE}: double", f"prove {ONE}/double"]
    assert sync(course, check=True) == 0


@pytest.mark.full
def test_files_that_somebody_wrote_into_are_made_again(course, work, capsys):
    kept = {
        path: path.read_bytes()
        for path in (
            course / "tests" / "verdicts" / f"{ONE}.json",
            course / "course" / "examples" / TWO / "halve.practice",
            course / "course" / "examples" / f"{TWO}.examples",
        )
    }
    rewrite(next(iter(kept)), '"11"', '"10"')
    for path in list(kept)[1:]:
        path.write_bytes(b"of somebody's hand")
    assert sync(course, check=True) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{ONE}/double: out of date: recorded verdicts. Run `grading sync {ONE}/double`.",
        f"{TWO}/halve: out of date: check data. Run `grading sync {TWO}/halve`.",
    ]
    assert sync(course) == 0
    assert work == [f"export {TWO}: halve", f"prove {ONE}/double"]
    assert {path: path.read_bytes() for path in kept} == kept


def test_a_failed_proof_is_reported_and_the_one_before_dropped(course, capsys):
    gone = "solution 00000000, line 2: return 2 * x -> return x"
    (course / "grader_tests" / ONE / "double" / "equivalent.toml").write_text(to_toml([gone], {gone: "It is right."}))
    verdicts = (course / "tests" / "verdicts" / f"{ONE}.json").read_bytes()
    assert sync(course) == 1
    assert (
        f"grader_tests/{ONE}/double/equivalent.toml: a listed mutant is not a mutant of these answers: {gone}"
        in capsys.readouterr().out
    )
    assert proofs_in(course) == [f"proof of {TWO}/halve with {versions()}"]
    assert (course / "tests" / "verdicts" / f"{ONE}.json").read_bytes() == verdicts
    assert sync(course, check=True) == 1


def test_a_lesson_with_shipped_proofs_is_released_without_a_proof(course, work, tmp_path, monkeypatch, capsys):
    shipped = Path(shutil.copy(fingerprint_file(course).path, tmp_path))
    fingerprint_file(course).add({}, drop=proofs_in(course))
    assert unproved(course, TINY_LESSONS) == TINY_LESSONS
    monkeypatch.setattr(fingerprints, "SHIPPED", (shipped,))
    assert unproved(course, TINY_LESSONS) == []
    monkeypatch.chdir(course)
    assert main.main(["release", ONE]) == 0
    assert "New or changed" not in capsys.readouterr().out
    assert work == []
    rewrite(course / "grader_tests" / TWO / "halve" / "contract.py", "points=2", "points=2.0")
    assert unproved(course, TINY_LESSONS) == [TWO]
    monkeypatch.setattr(runner, "versions", lambda: "Python 3.11 torch 0.4")
    assert unproved(course, TINY_LESSONS) == TINY_LESSONS


def test_another_python_adds_its_proofs_and_drops_only_what_no_longer_holds(course, monkeypatch):
    monkeypatch.setattr(parallel, "cpu_count", lambda: 1)  # in this process; `made` needs two others
    first = proofs_in(course)
    monkeypatch.setattr(platform, "python_version_tuple", lambda: ("3", "99", "1"))
    second = [name.replace(name.partition(" with ")[2], versions()) for name in first]
    assert unproved(course, TINY_LESSONS) == TINY_LESSONS
    assert sync(course, check=True) == sync(course) == 0
    assert proofs_in(course) == sorted(first + second)
    rewrite(course / "grader_tests" / TWO / "halve" / "contract.py", "points=2", "points=2.0")
    assert sync(course) == 0
    assert proofs_in(course) == sorted(first[:1] + second)


def test_a_deleted_exercise_leaves_no_fingerprint(course):
    before = fingerprint_file(course).read()
    gone = (f"verdicts of {TWO}/gone", f"proof of {TWO}/gone with {versions()}", "check data of 09_gone")
    fingerprint_file(course).add(dict.fromkeys(gone, "1"))
    assert sync(course) == 0
    assert fingerprint_file(course).read() == before


@pytest.mark.full
def test_of_a_lesson_only_the_stale_exercises_are_exported(tmp_path, work):
    exercises = {name: files for lesson in TINY_LESSONS for name, files in tiny_lesson(lesson).exercises.items()}
    tests = write_grader_tests(tmp_path / "grader_tests" / ONE, exercises)
    folder = tmp_path / "examples"
    assert export(tests, folder)
    assert not export(tests, folder)
    rewrite(tests / "halve" / "contract.py", "draw.normal(4)", "draw.normal(5)")
    assert not export(tests, folder, ["double"])
    export(tests, folder)
    examples = folder / f"{ONE}.examples"
    content = examples.read_bytes()
    examples.write_bytes(b"of somebody's hand")
    assert export(tests, folder, [""])
    assert examples.read_bytes() == content
    assert work == [f"export {ONE}: double, halve", f"export {ONE}: halve", f"export {ONE}: "]


def test_an_unknown_lesson_or_exercise_is_refused(tmp_path):
    with pytest.raises(CourseError, match="no lesson or exercise called triple"):
        sync(build_course(tmp_path / "course"), ["double", "triple"], check=True)


def test_tables_of_authors_are_compared_and_written(tmp_path, capsys):
    root = build_course(tmp_path / "course")
    page = root / author_tables.REFERENCE
    page.parent.mkdir()
    page.write_text((ROOT / author_tables.REFERENCE).read_text(encoding="utf-8"), encoding="utf-8")
    before = page.read_text(encoding="utf-8")
    rewrite(page, "| `normal(", "| `abnormal(")
    assert sync(root, check=True) == 1
    assert capsys.readouterr().out == "docs/exercise-reference.md: out of date: 'draw'. Run `grading sync`.\n"
    author_tables.write(root)
    assert page.read_text(encoding="utf-8") == before
