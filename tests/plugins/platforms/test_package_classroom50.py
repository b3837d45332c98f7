"""Classroom 50's package holds no secret, and its autograder writes a provisional result where Classroom 50 looks.

Its runner was not run: the environment is the one that its documentation and its source of 2026-11-27 describe, and
`problems` asks of a result what its schema and its runner ask.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grading.course import Course
from grading.errors import StepFailed
from grading.exercises.lesson import load_lesson
from grading.plugins.platforms.package_lesson import package_lesson

from ...support.canaries import SECRETS
from ...support.course_builder import TINY_LESSONS, build_course, released_notebook, solved_notebook
from ...support.repository import LESSONS, ROOT
from ...support.secret_lines import grader_lines, solution_lines, taught_lines

LESSON, SEED = "02_softmax", "5eed" * 8
BUNDLE_LIMIT = 10 * 2**20  # bytes of the bundle that Classroom 50's runner fetches
PROVISIONAL = "Provisional: checked with public examples. Your teacher makes the official grade at collection."
IDENTITY = {
    "CLASSROOM": "attention",
    "ASSIGNMENT": "02-softmax",
    "ASSIGNMENT_TYPE": "individual",
    "USERNAME": "ada",
    "OWNER": "ada",
    "SUBMISSION_TAG": "submit/2026-11-27T12-00-00Z-a1b2c3d",
    "COMMIT_URL": "https://github.com/school/attention-02-softmax-ada/commit/a1b2c3d",
    "RELEASE_URL": "https://github.com/school/attention-02-softmax-ada/releases/tag/submit",
    "REVIEW_URL": "https://github.com/school/attention-02-softmax-ada/compare/0...a1b2c3d",
    "PAGES_BASE_URL": "https://school.github.io/classroom50",
    "GITHUB_REPOSITORY": "school/attention-02-softmax-ada",
    "GITHUB_ACTOR": "ada",
}
Grade = Callable[..., tuple[dict[str, Any], Path]]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_course(tmp_path_factory.mktemp("classroom50") / "course", [LESSON], seed=SEED, release=True)


@pytest.fixture(scope="module")
def package(course: Path, wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("package") / "made"
    package_lesson(Course(course), LESSON, "classroom50", wheels["course"].parent, made)
    return made


@pytest.fixture
def grade(package: Path, tmp_path: Path) -> Grade:
    """grade(files): result.json of the autograder, run as its runner does in a checkout with these files."""

    def run(files: dict[str, str], **variables: str) -> tuple[dict[str, Any], Path]:
        checkout = tmp_path / "checkout"
        for name, text in {".classroom50.yaml": "classroom: attention\n", **files}.items():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            (checkout / name).write_text(text)
        environment = {**os.environ, **IDENTITY, "ATTENTION_ENVIRONMENT": sys.prefix, "PYTHONPATH": str(ROOT)}
        environment |= {"GITHUB_OUTPUT": str(tmp_path / "output"), **variables}
        command = [sys.executable, str(package / "autograder" / "autograder.py")]
        done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        result = json.loads((checkout / "result.json").read_text())
        assert not list(problems(result))
        return result, checkout

    return run


def problems(result: dict[str, Any]) -> Any:
    """What breaks classroom50/result/v1, or what its runner asks of it besides."""
    fields = {
        "schema", "classroom", "assignment", "assignment_type", "owner", "submission", "commit", "release", "review",
        "datetime", "score", "max-score", "tests",
    }  # fmt: skip
    if result.keys() != fields:  # `graded_at` and `submitted_by` are the runner's
        yield result.keys() ^ fields
    texts = {"schema": "classroom50/result/v1", "owner": "ada", "submission": IDENTITY["SUBMISSION_TAG"]}
    texts |= {name: IDENTITY[name.upper()] for name in ("classroom", "assignment", "assignment_type")}
    texts |= {name: IDENTITY[f"{name.upper()}_URL"] for name in ("commit", "release", "review")}
    yield from (name for name, text in texts.items() if result[name] != text)
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", result["datetime"]):
        yield "datetime"
    for row in (result, *result["tests"]):
        numbers = row["score"], row["max-score"]
        if not all(type(number) is int for number in numbers) or not 0 <= row["score"] <= row["max-score"]:
            yield numbers
    for key in ("score", "max-score"):
        if result[key] != sum(test[key] for test in result["tests"]):
            yield f"sum of {key}"
    yield from (test for test in result["tests"] if type(test["passed"]) is not bool or not test["test-name"])


@pytest.mark.full
def test_a_package_has_no_seed_no_grader_and_no_solution(course, package):
    files = {path.relative_to(package).as_posix(): path.read_bytes() for path in package.rglob("*") if path.is_file()}
    (wheel,) = (name for name in files if name.endswith(".whl"))
    with zipfile.ZipFile(io.BytesIO(files[wheel])) as archive:
        assert archive.testzip() is None
        files |= {f"{wheel}/{name}": archive.read(name) for name in archive.namelist()}
        recorded = {line.split(",")[0] for line in files[f"{wheel}/{_record(archive)}"].decode().splitlines()}
        assert recorded == set(archive.namelist())
    assert not any("grading" in Path(name).parts or "grader_tests" in name for name in files)
    lessons = {name for name in files if name.endswith((".practice", ".ipynb"))}
    assert lessons and all(LESSON in name for name in lessons)
    assert f"{wheel}/course/examples/{LESSON}/softmax.practice" in files
    whole = b"\n".join(files.values())
    assert SEED.encode() not in whole
    for graders in (course / "grader_tests").rglob("*.py"):
        assert graders.stat().st_size < 80 or graders.read_bytes() not in whole, graders
    lines = {line.strip() for content in files.values() for line in content.decode("utf-8", "replace").splitlines()}
    secret = {*solution_lines(LESSON), *grader_lines(LESSON)} - set().union(*map(taught_lines, LESSONS))
    assert secret and not lines & secret
    assert not [mark for mark in SECRETS if any(mark in line for line in lines)]


def _record(archive: zipfile.ZipFile) -> str:
    return next(name for name in archive.namelist() if name.endswith("/RECORD"))


def test_the_bundle_is_one_that_the_runner_fetches(package):
    """Classroom 50 packs the folder as ASSIGNMENT.tar.gz."""
    bundle = io.BytesIO()
    with tarfile.open(fileobj=bundle, mode="w:gz") as archive:
        archive.add(package / "autograder", "02-softmax")
    assert len(bundle.getvalue()) < BUNDLE_LIMIT / 2
    assert json.loads((package / "runtime.json").read_text()).keys() == {"runs-on", "python"}


@pytest.mark.full
def test_a_solved_notebook_has_all_points_and_an_untouched_one_none(course, grade, tmp_path):
    points = {name: each.points for name, each in load_lesson(course / "grader_tests" / LESSON).exercises.items()}
    solved, checkout = grade({f"{LESSON}.ipynb": nbformat.writes(solved_notebook(course, LESSON))})
    assert {test["test-name"]: test["points"] for test in solved["tests"]} == points
    assert all(test["passed"] and test["note"] == PROVISIONAL for test in solved["tests"])
    assert f"### 20 of 20 points\n\n{PROVISIONAL}\n" in (checkout / "release-body.md").read_text()
    assert (tmp_path / "output").read_text() == (
        "status=success\nsummary=provisional: 20 of 20 points, checked with public examples\n"
    )
    untouched, _ = grade({f"{LESSON}.ipynb": nbformat.writes(released_notebook(course, LESSON))})
    assert (untouched["score"], untouched["max-score"], len(untouched["tests"])) == (0, 20, 4)
    assert "not started" in untouched["tests"][0]["output"]
    assert "status=failure" in (tmp_path / "output").read_text()


@pytest.mark.full
def test_a_mistake_is_named_and_cells_that_raise_cost_nothing(course, grade):
    wrong = "def softmax(x, dim=-1):\n    e = (x - x.amax(0, True)).exp()\n    return e / e.sum(0, True)"
    nb = solved_notebook(course, LESSON, softmax=wrong)
    nb.cells.insert(3, nbformat.v4.new_code_cell("print('::error::mine', undefined)"))
    result, checkout = grade({f"answers/{LESSON}.ipynb": nbformat.writes(nb)})
    softmax, *others = result["tests"]
    assert all(test["passed"] for test in others)
    assert 0 < softmax["points"] < 7
    assert "`dim`" in softmax["output"] and "expected" in softmax["output"]
    assert softmax["output"] in (checkout / "release-body.md").read_text()


@pytest.mark.full
def test_a_python_file_and_exercises_that_it_lacks(course, grade):
    sources = [cell.source for cell in solved_notebook(course, LESSON).cells]
    right = next(source for source in sources if source.startswith("def softmax("))
    result, _ = grade({f"{LESSON}.py": f"import torch\n{right}\n"})
    assert [test["passed"] for test in result["tests"]] == [True, False, False, False]
    assert f"{LESSON}.py does not define it." in result["tests"][1]["output"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, f"No notebook was handed in. Push {LESSON}.ipynb."),
        ({f"{LESSON}.ipynb": '{"cells": ['}, "save the notebook again"),
        ({f"{LESSON}.py": "def softmax(:"}, f"{LESSON}.py, line 1: Python cannot read the file"),
        ({f"{LESSON}.py": "import os\nos._exit(9)"}, "Python ended with status 9 while it ran your file."),
    ],
)
def test_a_broken_file_has_no_points_and_the_reason(grade, files, said):
    result, checkout = grade(files)
    assert result["score"] == 0 and result["max-score"] == 20
    assert all(said in test["output"] for test in result["tests"])
    assert said in (checkout / "release-body.md").read_text()


def test_a_missing_course_is_an_error_and_no_zero(package, tmp_path):
    (tmp_path / f"{LESSON}.py").write_text("x = 1\n")
    command = [sys.executable, str(package / "autograder" / "autograder.py")]
    environment = {**os.environ, **IDENTITY, "ATTENTION_ENVIRONMENT": str(tmp_path / "none")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout.startswith("::error::") and "cannot be started" in done.stdout
    assert not (tmp_path / "result.json").exists()


def test_a_lesson_without_public_examples_is_refused(wheels, tmp_path):
    root = build_course(tmp_path / "course", release=[TINY_LESSONS[0]])
    with pytest.raises(StepFailed, match="checks with public examples, and this lesson has none"):
        package_lesson(Course(root), TINY_LESSONS[0], "classroom50", wheels["course"].parent, tmp_path / "made")
    assert not (tmp_path / "made").exists()


@pytest.mark.full("installs torch and what the course needs")
def test_the_autograder_installs_what_it_needs(course, grade, tmp_path):
    nb = nbformat.writes(solved_notebook(course, LESSON))
    fresh = {"ATTENTION_ENVIRONMENT": "", "PYTHONPATH": "", "RUNNER_TEMP": str(tmp_path / "runner")}
    result, _ = grade({f"{LESSON}.ipynb": nb}, TORCH_INDEX="", **fresh)
    assert result["score"] == result["max-score"]
