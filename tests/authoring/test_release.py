"""Students get what the sources make, without solutions or graders."""

from __future__ import annotations

import json
import platform
import sys
import zipfile
from pathlib import Path

import jupytext
import nbformat
import pytest
import torch
from rich.console import Console

from course.cell_kinds import is_left_out
from course.check_data import split_packed
from course.harness.serialization import Node, pack
from course.notebook.catalog import step_answer
from grading.authoring.build import build_lesson
from grading.authoring.check_data import same_examples
from grading.authoring.check_data_files import build_examples
from grading.authoring.lesson_text import read_lesson
from grading.authoring.student_repo import stale_releases
from grading.coordinator.release import release_lessons
from grading.course import Course
from grading.course_dir.lessons import MUSEUM
from grading.errors import BuildError
from grading.exercises.lesson import load_lesson

from ..support.course_builder import TINY_LESSONS, build_course, write_grader_tests
from ..support.repository import LESSONS, ROOT, of_this_week
from ..support.secret_lines import grader_lines, solution_lines, taught_lines, tells

X86_64 = sys.platform == "linux" and platform.machine() == "x86_64"


@pytest.mark.quick_cases("02_softmax")
@pytest.mark.parametrize("lesson", LESSONS)
def test_the_committed_release_matches_the_source(released_course, lesson):
    made = released_course(lesson) / "release" / lesson
    committed = ROOT / "release" / lesson
    names = {p.relative_to(made) for p in made.rglob("*") if p.is_file()}
    assert names == {p.relative_to(committed) for p in committed.rglob("*") if p.is_file()}
    for name in names:
        assert (made / name).read_bytes() == (committed / name).read_bytes(), f"{lesson}: run `make release`"


@pytest.mark.parametrize("lesson", LESSONS)
def test_an_answer_may_use_the_usual_names_without_an_import(lesson):
    code = [cell for cell in read_lesson(ROOT / "source" / f"{lesson}.py").cells if cell.cell_type == "code"]
    first = next(i for i, cell in enumerate(code) if cell.metadata.get("nbgrader", {}).get("solution"))
    given = [cell for cell in code[:first] if not is_left_out(cell.metadata, cell.source)]  # grading skips the others
    lines = {line for cell in given for line in cell.source.splitlines()}
    assert {"import math", "import torch", "import torch.nn.functional as F", "from torch import nn"} <= lines


@pytest.mark.full
@pytest.mark.parametrize("lesson", of_this_week(LESSONS, 2))
def test_the_committed_examples_match_grader_tests(lesson):
    made = build_examples(ROOT / "grader_tests" / lesson)
    folder = ROOT / "course" / "examples"
    committed = [folder / f"{lesson}.examples", *(folder / lesson).iterdir()]
    assert {path.relative_to(folder).as_posix() for path in committed} == made.keys()
    for path in committed:
        name = path.relative_to(folder).as_posix()
        assert same_examples(made[name], path.read_bytes()), f"{name}: run `make build`"


@pytest.mark.full("builds check data for every kind of processor")
@pytest.mark.skipif(not X86_64, reason="the kernels that every machine has are those of x86-64")
@pytest.mark.parametrize("lesson", ["03_queries_keys_values", "07_rope"])
def test_examples_are_the_same_bytes_on_every_x86_64_processor(lesson, monkeypatch):
    tests = ROOT / "grader_tests" / lesson
    made = []
    for threads, capability, branch in [("1", "default", "COMPATIBLE"), ("3", "avx512", "AUTO")]:
        settings = {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "PYTHONHASHSEED": threads}
        for name, value in {**settings, "ATEN_CPU_CAPABILITY": capability, "MKL_CBWR": branch}.items():
            monkeypatch.setenv(name, value)
        made.append(build_examples(tests))
    assert made[0] == made[1]


def test_examples_are_equal_if_they_differ_only_by_rounding():
    def examples(number, dtype):
        return pack({"cases": [{"seen": Node("tensor", {"value": torch.tensor([number, 1.0], dtype=dtype)})}]})

    for dtype, rounding, change in [(torch.float32, 5e-5, 1e-2), (torch.float64, 1e-7, 1e-4)]:
        assert same_examples(examples(0.5, dtype), examples(0.5 + rounding, dtype))
        assert not same_examples(examples(0.5, dtype), examples(0.5 + change, dtype))
    assert not same_examples(examples(0.5, torch.float32), examples(0.5, torch.float64))


def test_examples_that_cannot_be_made_stop_the_build_with_the_reason(tmp_path):
    write_grader_tests(tmp_path / "01_wrong", {"wrong": ("raise ValueError('a criterion too many')",)})
    with pytest.raises(BuildError, match="the examples could not be made") as raised:
        build_examples(tmp_path / "01_wrong")
    assert "ValueError: a criterion too many" in str(raised.value)


def test_only_a_picture_with_a_title_is_folded_in_jupyterlab_and_colab(tmp_path):
    (tmp_path / "lesson.py").write_text('# %% tags=["picture"]\n# @title Three arrows\ndraw()\n\n# %%\ntaught = 1\n')
    folded, seen = read_lesson(tmp_path / "lesson.py").cells
    assert (folded.metadata.jupyter, folded.metadata.cellView) == ({"source_hidden": True}, "form")
    assert not {"jupyter", "cellView"} & set(seen.metadata)
    root = build_course(tmp_path / "course")
    text = root / "source" / f"{TINY_LESSONS[0]}.py"
    text.write_text(text.read_text() + '\n\n# %% tags=["code"]\n# @title Not for you\ntaught = 1\n')
    with pytest.raises(BuildError, match=r"'# @title Not for you', at .* is folded, and its kind is code"):
        build_lesson(root, TINY_LESSONS[0])


def test_a_release_parses_each_lessons_text_once(tmp_path, monkeypatch):
    root, parsed = build_course(tmp_path / "course"), []
    for name in TINY_LESSONS:  # a text that no other test of this process has parsed
        text = root / "source" / f"{name}.py"
        text.write_text(text.read_text() + f"\n# %% [markdown]\n# {tmp_path}\n")
    parse = jupytext.reads
    monkeypatch.setattr(jupytext, "reads", lambda text, **how: parsed.append(text) or parse(text, **how))
    assert release_lessons(Course(root), TINY_LESSONS, Console(quiet=True)) == dict.fromkeys(TINY_LESSONS, True)
    assert not stale_releases(root, TINY_LESSONS)
    assert sorted(parsed) == sorted((root / "source" / f"{name}.py").read_text() for name in TINY_LESSONS)
    read_lesson(text).cells.clear()
    assert read_lesson(text).cells, "what a caller changes is its own"


@pytest.mark.full
def test_building_twice_gives_the_same_bytes(released_course):
    root = released_course(LESSONS[0])
    path = root / "source" / LESSONS[0] / f"{LESSONS[0]}.ipynb"
    before = path.read_bytes()
    path.unlink()
    build_lesson(root, LESSONS[0])
    assert path.read_bytes() == before


@pytest.fixture(scope="module")
def shipped(wheels: dict[str, Path]) -> dict[str, set[str]]:
    """Name -> lines of every file in release/ and in both wheels, but for what `solution` shows.

    The lines of a notebook are those of its cells. The engine's wheel is included, since a student may install it and
    it must not reveal an answer.
    """
    files = {}
    for file in wheels.values():
        with zipfile.ZipFile(file) as wheel:
            shown = [name for name in wheel.namelist() if not name.startswith("course/solutions/")]
            files |= {name: wheel.read(name).decode("utf-8", errors="replace") for name in shown}
    for path in (ROOT / "release").rglob("*"):
        if path.suffix == ".ipynb":
            files[str(path.relative_to(ROOT))] = "\n".join(c.source for c in nbformat.read(path, as_version=4).cells)
        elif path.is_file():
            files[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8", errors="replace")
    return {name: {line.strip() for line in text.splitlines()} for name, text in files.items()}


@pytest.mark.quick_cases("02_softmax")
@pytest.mark.parametrize("lesson", LESSONS)
def test_no_line_of_a_solution_is_shipped(shipped, lesson):
    secret = set(solution_lines(lesson))
    later = {f"release/{name}/{name}.ipynb" for name in LESSONS if name > lesson}  # later lessons build on this one
    assert not [(name, line) for name, lines in shipped.items() if name not in later for line in lines & secret]


def test_no_solution_or_hidden_test_marker_is_left(shipped):
    students = {name: lines for name, lines in shipped.items() if not name.startswith("grading/")}
    assert len(students) > len(LESSONS)
    for mark in ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "from grading.judge import grade"):
        assert not [name for name, lines in students.items() if any(mark in line for line in lines)]


@pytest.mark.full
@pytest.mark.parametrize("lesson", LESSONS)
def test_no_line_of_the_grader_is_shipped_unless_a_lesson_shows_it(shipped, lesson):
    secret = set(grader_lines(lesson)) - set().union(*map(taught_lines, (*LESSONS, MUSEUM)))
    assert not [(name, line) for name, lines in shipped.items() for line in lines & secret]


@pytest.mark.quick_cases("02_softmax")
@pytest.mark.parametrize("lesson", LESSONS)
def test_no_line_of_the_grader_is_in_the_examples_that_check_reads(lesson):
    folder = ROOT / "course" / "examples"
    files = [(folder / f"{lesson}.examples").read_bytes()]
    files += [part for path in (folder / lesson).iterdir() for part in split_packed(path.read_bytes())]
    # A step's right answer is there on purpose: the lesson's cells call it until the learner's own passes
    steps = "\n".join(step_answer(lesson, name) for name in load_lesson(ROOT / "grader_tests" / lesson).steps)
    lines = {*grader_lines(lesson), *solution_lines(lesson)}
    secret = {json.dumps(line)[1:-1].encode() for line in lines if line not in steps}
    assert not [line for line in secret if any(line in file for file in files)]


def test_not_every_line_counts_as_revealing():
    assert tells("return e / e.sum(dim, keepdim=True)")
    assert tells("return x.exp() / total")
    assert not tells("return result")
    assert not tells("with torch.no_grad():")
