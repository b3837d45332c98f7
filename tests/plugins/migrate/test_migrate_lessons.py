"""Move a course to a new version in mid-term.

The changes are shown first, then made, and can be undone.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grading.authoring.student_repo import stale_releases
from grading.cli import main
from grading.course import Course
from grading.course_dir.lesson_base import FOLDER, keep_base, kept_base, read_lessons
from grading.course_dir.scaffold import init_course, new_lesson
from grading.gradebook.store import GradeRow
from grading.plugins.migrate.kept_migration import BEGUN, UNDONE, kept_migrations

from ...support.class_helpers import gradebook_url
from ...support.course_builder import TINY_LESSONS, build_and_release, build_course, tiny_lesson, write_grader_tests

ONE, TWO = TINY_LESSONS
TEXT, CONTRACT = f"source/{ONE}.py", f"grader_tests/{ONE}/double/contract.py"
OLD_POINTS = {"ada": (5, 5), "bob": (0, 5), "cem": (3, 5)}
NEW_POINTS = {"ada": (6, 6), "bob": (0, 6), "cem": (3, 6)}


@pytest.fixture
def course_of_three(class_of_three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """At its own path: a process imports the graders at one path only once."""
    root = shutil.copytree(class_of_three, tmp_path / "course")
    keep_base(root, read_lessons(root))  # as `grading init` does
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "200")
    return root


@pytest.fixture
def new_version(tmp_path: Path) -> Path:
    return make_new_version(tmp_path / "new")


@pytest.fixture
def lessons_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course with no release that knows the lessons it began with."""
    root = build_course(tmp_path / "course")
    keep_base(root, read_lessons(root))
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "200")
    return root


def make_new_version(root: Path) -> Path:
    """Another text and 6 points instead of 5 in the first lesson, and a third lesson."""
    new = build_course(root)
    edit(new / TEXT, "# # To double", "# # To double, and why")
    edit(new / TEXT, '"points": 5', '"points": 6')
    edit(new / CONTRACT, "points=2", "points=3")
    edit(new / CONTRACT, 'see="To double"', 'see="To double, and why"')
    for folder in (new / "source", new / "grader_tests"):
        for path in folder.glob("02_halve*"):
            copy = shutil.copytree if path.is_dir() else shutil.copy
            copy(path, path.with_name(path.name.replace("02_halve", "03_halve")))
    return new


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def everything(root: Path) -> dict[Path, bytes]:
    inside = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path: path.read_bytes() for path in inside if path.suffix in (".py", ".ipynb")}


def points(root: Path) -> dict[str, tuple[float, float]]:
    return {student: earned for (student, _), earned in Course(root).scores().items()}


def grading(*arguments: str) -> str:
    """The output of the command in its own process, which imports changed graders."""
    command = [sys.executable, "-m", "grading", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.full
def test_the_changes_of_grades_are_shown_and_made_once_confirmed(course_of_three, new_version, capsys):
    course, before = course_of_three, everything(course_of_three)
    assert main.main(["migrate", str(new_version)]) == 0
    told = capsys.readouterr().out
    assert f"changed: {ONE}" in told
    assert "new: 03_halve" in told
    assert f"{ONE}, from the new version: double" in told
    rows = [" ".join(line.split()) for line in told.splitlines()]
    assert any(row.startswith(f"{ONE} ada 5 6 +1 double: 5 of 5, right before, 6 of 6, right now") for row in rows)
    assert "Out of date: 3 grades. With the current graders and settings: 1 higher, 0 lower, 2 the same." in rows
    assert "Nothing has changed yet" in told
    assert everything(course) == before
    assert points(course) == OLD_POINTS
    assert main.main(["migrate", str(new_version), "--json"]) == 0
    records = {row["student"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert (records["ada"]["record"], records["ada"]["before"], records["ada"]["now"]) == ("change", 5, 6)
    assert not list(course.glob(".migrating-*"))

    assert main.main(["migrate", str(new_version), "--yes"]) == 0
    told = capsys.readouterr().out
    assert "3 grades written" in told
    assert "Run `grading release 03_halve` to release the new lessons." in told
    assert points(course) == NEW_POINTS
    assert "and why" in (course / "release" / ONE / f"{ONE}.ipynb").read_text()
    assert not stale_releases(course, [ONE, TWO])
    (kept,) = course.glob("before-migrating-*")
    assert (kept / TEXT).read_bytes() == before[course / TEXT]
    assert kept_base(course) == read_lessons(new_version)
    assert main.main(["history"]) == 0
    assert "double 5 right" in capsys.readouterr().out
    assert main.main(["migrate", str(new_version)]) == 0
    assert "changes nothing in your lessons" in capsys.readouterr().out


@pytest.mark.full("kills a migration, and grades a class five times")
def test_a_migration_is_undone_with_its_grades_also_one_that_was_killed(course_of_three, new_version, capsys):
    course, before = course_of_three, lessons_and_releases(course_of_three)
    kill_as_it_begins_to_write(course, new_version)
    assert main.main(["migrate", str(new_version), "--yes"]) != 0
    assert "was interrupted. Run `grading migrate --undo`" in capsys.readouterr().err
    grading("migrate", "--undo", "--yes")
    assert lessons_and_releases(course) == before
    assert points(course) == OLD_POINTS

    grading("migrate", str(new_version), "--yes")
    assert points(course) == NEW_POINTS
    edit(course / TEXT, "and why", "and why so")
    shutil.copytree(course / "submitted" / "ada", course / "submitted" / "dan")
    grading("grade", ONE)
    assert "Nothing has changed yet" in grading("migrate", "--undo")
    assert points(course) == {**NEW_POINTS, "dan": (6, 6)}
    told = grading("migrate", "--undo", "--yes")
    assert "2 higher" not in told and "4 grades written" in told
    assert lessons_and_releases(course) == before
    assert points(course) == {**OLD_POINTS, "dan": (5, 5)}
    assert f"{ONE}: 0 to grade" in grading("grade", ONE, "--dry-run")
    assert "and why so" in (newest_backup(course) / "after" / TEXT).read_text()
    assert "double 6 right" in grading("history", ONE)


def lessons_and_releases(root: Path) -> dict[str, bytes]:
    """The files that a migration changes, except for graded notebooks."""
    folders = ("source", "grader_tests", "release", FOLDER)
    return {
        path.relative_to(root).as_posix(): text
        for path, text in everything(root).items()
        if path.relative_to(root).parts[0] in folders
    }


def newest_backup(root: Path) -> Path:
    return max(root.glob("before-migrating-*"))


def is_kept(path: Path, course: Path) -> bool:
    return path.relative_to(course).parts[0].startswith("before-migrating-")


def kill_as_it_begins_to_write(course: Path, new: Path) -> None:
    command = [sys.executable, "-m", "grading", "migrate", str(new), "--yes"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not list(course.glob("before-migrating-*")):
        assert process.poll() is None, "it has ended, and nothing was kept"
        time.sleep(0.005)
    process.kill()
    process.wait()
    assert points(course) == OLD_POINTS


@pytest.mark.full
def test_a_lesson_with_submissions_keeps_its_exercises_and_other_grades_stay(course_of_three, tmp_path):
    new, before = build_course(tmp_path / "new"), everything(course_of_three)
    edit(new / TEXT, '"check_double"', '"check_twice"')
    edit(new / f"source/{TWO}.py", "# # To halve", "# # To halve\n#\n# Half of it.")
    rows = grade_rows(course_of_three)
    told = grading("migrate", str(new), "--yes")
    assert (
        f"{ONE} stays unchanged: 3 students have handed it in, so nbgrader refuses a version that "
        "adds check_twice" in told
    )
    assert "Every grade is up to date." in told and "0 grades written" in told
    assert grade_rows(course_of_three) == rows
    changed = {path for path, text in everything(course_of_three).items() if before.get(path) != text}
    inside = {path.relative_to(course_of_three).as_posix() for path in changed if not is_kept(path, course_of_three)}
    two = {f"source/{TWO}.py", f"source/{TWO}/{TWO}.ipynb", f"release/{TWO}/{TWO}.ipynb"}
    assert inside == two | {f"{FOLDER}/source/{TWO}.py"}
    assert f"{ONE} stays unchanged" in grading("migrate", str(new))  # another time, as long as it is handed in


def grade_rows(root: Path) -> list[tuple[object, ...]]:
    with closing(Gradebook(gradebook_url(root))) as gradebook:
        rows = gradebook.db.query(GradeRow).order_by(GradeRow.notebook_id)
        return [(row.notebook_id, row.made_of, row.graded_at, row.digest) for row in rows]


def test_conflicts_are_shown_and_left_to_the_teacher(lessons_only, new_version, capsys):
    edit(lessons_only / TEXT, "# # To double", "# # To make it twice")
    edit(lessons_only / CONTRACT, 'see="To double"', 'see="To make it twice"')
    before = read_lessons(lessons_only)
    assert main.main(["migrate", str(new_version), "--yes"]) == 1
    told = capsys.readouterr().out
    assert (
        f"{ONE}, changed by both in the same lines; yours is kept, and you decide: "
        "double (contract.py), double (“To make it twice”)" in told
    )
    lines = told.splitlines()
    place = lines.index(f"--- yours: {TEXT}")
    assert lines[place + 1] == f"+++ the new one: {new_version}/{TEXT}"
    assert {"-# # To make it twice", "+# # To double, and why"} < {*lines[place:]}
    (kept,) = lessons_only.glob("before-migrating-*")
    assert f"{kept.name}/new/ has the new one" in told
    assert (kept / "new" / TEXT).read_bytes() == (new_version / TEXT).read_bytes()
    after = read_lessons(lessons_only)
    assert {path: after[path] for path in before} == before
    assert "source/03_halve.py" in after
    assert main.main(["migrate", str(new_version)]) == 0  # the same notice is not repeated


def test_removed_lessons_stay_removed_and_the_teachers_own_lessons_stay(lessons_only, tmp_path, capsys):
    tiny_lesson("09_halve").write(lessons_only)
    (lessons_only / f"source/{TWO}.py").unlink()
    shutil.rmtree(lessons_only / "grader_tests" / TWO)
    new = make_new_version(tmp_path / "attention-1.1")
    edit(new / f"source/{TWO}.py", "# # To halve", "# # To halve\n#\n# Half of it.")
    zipped = shutil.make_archive(str(tmp_path / "v1.1"), "zip", tmp_path, new.name)
    assert main.main(["migrate", zipped, "--yes"]) == 0
    told = capsys.readouterr().out
    assert f"removed by you, and not added again: {TWO}" in told
    assert "only in your course, and kept: 09_halve" in told
    assert sorted(path.stem for path in Path("source").glob("*.py")) == [ONE, "03_halve", "09_halve"]
    assert main.main(["migrate", "--undo", "--yes"]) == 0
    assert sorted(path.stem for path in Path("source").glob("*.py")) == [ONE, "09_halve"]
    assert not (lessons_only / "grader_tests" / "03_halve").exists()
    assert not (lessons_only / "gradebook.db").exists()

    before = read_lessons(lessons_only)
    kept_migrations(Course(lessons_only))[-1].move_to(BEGUN)  # as if a kill had interrupted it
    assert main.main(["migrate", zipped, "--yes"]) != 0
    assert "Run `grading migrate --undo` to restore the old lessons" in capsys.readouterr().err
    assert main.main(["migrate", "--undo", "--yes"]) == 0
    assert read_lessons(lessons_only) == before
    assert kept_migrations(Course(lessons_only))[-1].state == UNDONE


def test_undo_keeps_a_lesson_with_submissions_to_an_added_exercise(lessons_only, tmp_path, capsys):
    new, before = make_new_version(tmp_path / "new"), read_lessons(lessons_only)
    (halve,) = tiny_lesson("02_halve").exercises.values()
    shutil.rmtree(new / "grader_tests" / ONE)
    exercises = {**tiny_lesson(ONE).exercises, "halve": halve}
    write_grader_tests(new / "grader_tests" / ONE, exercises)
    cells = (new / f"source/{TWO}.py").read_text().partition("# %% [markdown]")
    (new / TEXT).write_text(f"{tiny_lesson(ONE).source}\n{cells[1]}{cells[2]}")
    assert main.main(["migrate", str(new), "--yes"]) == 0
    assert read_lessons(lessons_only) == read_lessons(new)
    (lessons_only / "submitted" / "ada" / ONE).mkdir(parents=True)
    assert main.main(["migrate", "--undo", "--yes"]) == 1
    told = capsys.readouterr().out
    assert (
        f"{ONE} stays unchanged: 1 student has handed it in, so nbgrader refuses a version that removes "
        "check_halve, halve" in told
    )
    after = read_lessons(lessons_only)
    assert {path: text for path, text in after.items() if ONE not in path} == {
        path: text for path, text in before.items() if ONE not in path
    }
    assert (lessons_only / "grader_tests" / ONE / "halve" / "contract.py").exists()
    assert {path for path, text in (kept_base(lessons_only) or {}).items() if before.get(path) != text} == {
        path for path in after if before.get(path) != after[path]
    }


def test_shared_code_stays_if_the_new_one_breaks_the_build_of_a_lesson(lessons_only, tmp_path, capsys):
    new = make_new_version(tmp_path / "new")
    for root, text in ((lessons_only, "THREE = 3\nFIVE = 5\n"), (new, "THREE = 3\n")):
        (root / "grader_tests" / "shared").mkdir()
        (root / "grader_tests" / "shared" / "__init__.py").write_text(text)
    keep_base(lessons_only, read_lessons(lessons_only))
    edit(lessons_only / f"grader_tests/{TWO}/halve/contract.py", "draw.normal(3, 5)", "draw.normal(3, FIVE)")
    edit(lessons_only / f"grader_tests/{TWO}/halve/contract.py", "\nhalve =", "\nfrom ...shared import FIVE\n\nhalve =")
    assert main.main(["migrate", str(new), "--yes"]) == 1
    told = capsys.readouterr().out
    assert f"shared stays unchanged: {TWO} depends on it: it could not be built then: grader_tests/{TWO}/" in told
    assert "FIVE" in (lessons_only / "grader_tests" / "shared" / "__init__.py").read_text()
    assert "and why" in (lessons_only / TEXT).read_text()
    assert kept_base(lessons_only)["grader_tests/shared/__init__.py"] == "THREE = 3\nFIVE = 5\n"


def test_the_base_can_be_named_if_the_course_keeps_none(lessons_only, tmp_path, capsys):
    base = shutil.copytree(lessons_only, tmp_path / "base")
    shutil.rmtree(lessons_only / FOLDER)
    edit(lessons_only / TEXT, "def check(f):", "def check(g):")
    new = make_new_version(tmp_path / "new")
    assert main.main(["migrate", str(new)]) == 1
    told = capsys.readouterr().out
    assert "`--base DIR`" in told and f"{ONE} stays unchanged" in told
    assert main.main(["migrate", str(new), "--base", str(base), "--yes"]) == 0
    text = (lessons_only / TEXT).read_text()
    assert "def check(g):" in text and "To double, and why" in text


def test_graders_that_mix_both_sides_changes_are_proved_first(lessons_only, new_version, capsys):
    edit(
        lessons_only / CONTRACT, "draw.normal(4)).with_gradients()", "draw.normal(4))"
    )  # a known mistake that loses no points
    before = read_lessons(lessons_only)
    assert main.main(["migrate", str(new_version), "--yes"]) == 1
    told = capsys.readouterr().out
    assert f"{ONE} stays unchanged: double fails its proof after the merge (grader_tests/{ONE}/" in told
    after = read_lessons(lessons_only)
    assert {path: after[path] for path in before} == before


def test_shared_code_stays_if_an_exercise_of_the_teachers_fails_its_proof_with_it(lessons_only, tmp_path, capsys):
    new = shutil.copytree(lessons_only, tmp_path / "new")
    edit(lessons_only / CONTRACT, "draw.normal(4)).with_gradients()", "draw.normal(4))")
    (new / "grader_tests" / "shared").mkdir()
    (new / "grader_tests" / "shared" / "__init__.py").write_text("THREE = 3\n")
    before = read_lessons(lessons_only)
    assert main.main(["migrate", str(new), "--yes"]) == 1
    assert (
        f"shared stays unchanged: double fails its proof after the merge (grader_tests/{ONE}/"
        in capsys.readouterr().out
    )
    assert read_lessons(lessons_only) == before


@pytest.mark.full("proves an exercise")
def test_an_exercise_that_mixes_both_sides_changes_is_proved_and_released_with_its_check_data(
    tmp_path, monkeypatch, capsys
):
    root = tmp_path / "course"
    monkeypatch.chdir(tmp_path)
    init_course(root)
    new_lesson(root, "09_means")
    keep_base(root, read_lessons(root))
    new = shutil.copytree(root, tmp_path / "new")
    tests, source = "grader_tests/09_means/mean", "source/09_means.py"
    edit(root / tests / "contract.py", "points=12", "points=13")
    edit(root / source, '"points": 20', '"points": 21')
    build_and_release(root, "09_means")
    examples = (root / "release" / "09_means" / "09_means.examples").read_bytes()
    edit(new / tests / "contract.py", "torch.tensor([1.0, 2.0, 6.0])", "torch.tensor([1.0, 2.0, 9.0])")
    edit(new / source, "## Summary", "## What to keep\n#\n# ## Summary")
    monkeypatch.chdir(root)
    told = grading("migrate", str(new), "--yes")
    assert "changed by you and in the new version, in different lines; check the result: mean" in told
    contract = (root / tests / "contract.py").read_text()
    assert "points=13" in contract and "9.0" in contract
    assert (root / "release" / "09_means" / "09_means.examples").read_bytes() != examples
    assert main.main(["prove", "09_means"]) == 0
    assert "(`--again` proves all): 1" in capsys.readouterr().out


def test_a_new_version_that_is_not_another_course_is_refused(course_of_three, tmp_path, capsys):
    assert main.main(["migrate", str(course_of_three), "--yes"]) != 0
    assert "is this course" in capsys.readouterr().err
    assert main.main(["migrate", str(tmp_path), "--yes"]) != 0
    assert "has no lessons" in capsys.readouterr().err
    assert main.main(["migrate", "--undo", "--yes"]) != 0
    assert "there is no migration to undo" in capsys.readouterr().err
