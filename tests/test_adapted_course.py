"""A course that a teacher changes says the same everywhere: what it asks, for how many points, and in which order.

Each change is made in course.toml (or, for an exercise of the teacher's own, in the lesson's files) and then looked for
in the notebook, `check`, `progress`, the cells to hand in, the grade, the feedback, the class report, the gradebook
file and the site.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from rich.console import Console

from course.notebook import catalog, hand_in
from grading.class_report.html_page import class_page
from grading.class_report.mistake_texts import MistakeTexts
from grading.coordinator.class_data import load_class
from grading.coordinator.converters import generate_feedback
from grading.coordinator.release import release_lessons
from grading.course import Course
from grading.course_dir.scaffold import init_course
from grading.notebooks.cells import exercise_named, grade_id
from grading.plugins.site.build import build_site

from .support import tiny_course
from .support.course_builder import grade_lesson, solved_notebook, submit, write_grader_tests
from .support.html_pages import Elements
from .support.repository import ROOT, of_this_week
from .support.run_notebook import run

LESSON, OTHER = "02_softmax", "01_dot_products"
ASKED = {"softmax": 7, "log_softmax": 5, "softmax_with_temperature": 4, "entropy": 4}
NBGRADER = Path(sys.executable).with_name("nbgrader")
WIDE = "grading.nbgrader_plugins.csv_exporters.WideCsvExporter"
LOOK = """
import json
from course.notebook import progress
from course.notebook.session import current
learner = current()
told = progress.lesson_report(learner)
print(json.dumps({
    "progress": [told.earned, told.points, told.rows[0].name],
    "lessons": [line.lesson for line in progress.saved_lessons(learner)],
}))
"""


def drop_first(root: Path) -> None:
    write_course_toml(root, LESSON, "exercises.softmax.include = false")


def drop_last(root: Path) -> None:
    write_course_toml(root, LESSON, "exercises.entropy.include = false", "exercises.softmax.points = 8")


def change_points(root: Path) -> None:
    write_course_toml(root, LESSON, "exercises.softmax.points = 3", "exercises.log_softmax.points = 11")


def change_order(root: Path) -> None:
    (root / "course.toml").write_text(f'[[lesson]]\nname = "{LESSON}"\n[[lesson]]\nname = "{OTHER}"\n')


def add_exercise(root: Path) -> None:
    """An exercise of the teacher's own after the last one of a lesson of ours."""
    right, other = tiny_course.RIGHT["double"]
    values = {"name": "double", "right": right, "other": other}
    text = tiny_course.TEXT[tiny_course.TEXT.index("# %% nbgrader") :]
    marks = {"schema_version": 3, "task": False}
    solution = {**marks, "grade": False, "grade_id": "double", "locked": False, "solution": True}
    grade = {**marks, "grade": True, "grade_id": "check_double", "locked": True, "points": 5, "solution": False}
    lesson = root / "source" / f"{LESSON}.py"
    own = text.format(**values, solution=json.dumps(solution), grade=json.dumps(grade))
    place = lesson.read_text().index("# %%", lesson.read_text().index("\ngrade(entropy)\n"))
    heading = "# %% [markdown]\n# ## To double\n\n"
    lesson.write_text(lesson.read_text()[:place] + heading + own + "\n" + lesson.read_text()[place:])
    texts = (tiny_course.CONTRACT, tiny_course.ALTERNATIVES, tiny_course.MISTAKES)
    tests = root / "grader_tests" / LESSON
    init = (tests / "__init__.py").read_text()
    write_grader_tests(tests, {"double": tuple(part.format(**values) for part in texts)})
    (tests / "__init__.py").write_text(init.replace('"entropy")', '"entropy", "double")'))


@dataclass(frozen=True)
class Change:
    """What a teacher does, and what the course asks then."""

    make: Callable[[Path], None]
    asked: dict[str, int]
    lessons: tuple[str, ...] = (OTHER, LESSON)
    given: tuple[str, ...] = ()


CHANGES = {
    "drop the first": Change(drop_first, {n: p for n, p in ASKED.items() if n != "softmax"}, given=("softmax",)),
    "drop the last": Change(
        drop_last, {"softmax": 8, "log_softmax": 5, "softmax_with_temperature": 4}, given=("entropy",)
    ),
    "change points": Change(change_points, {**ASKED, "softmax": 3, "log_softmax": 11}),
    "change the order": Change(change_order, ASKED, (LESSON, OTHER)),
    "add one": Change(add_exercise, {**ASKED, "double": 5}),
}


def write_course_toml(root: Path, lesson: str, *lines: str) -> None:
    (root / "course.toml").write_text("\n".join(['title = "Autumn"', "[[lesson]]", f'name = "{lesson}"', *lines, ""]))


@pytest.fixture(params=of_this_week(CHANGES, 2))
def adapted(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Change]:
    """A course of two lessons, changed and released, with one right submission that is graded."""
    change = CHANGES[request.param]
    origin = tmp_path / "origin"
    for name in (LESSON, OTHER):
        (origin / "source").mkdir(parents=True, exist_ok=True)
        (origin / "source" / f"{name}.py").write_text((ROOT / "source" / f"{name}.py").read_text())
    for part in (LESSON, OTHER, "shared"):
        for file in (ROOT / "grader_tests" / part).rglob("*.*"):
            if file.suffix in (".py", ".toml"):
                target = origin / file.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(file.read_text())
    root = tmp_path / "course"
    init_course(root, origin)
    change.make(root)
    release_lessons(Course(root), [LESSON, OTHER], Console(quiet=True))
    for lesson in (LESSON, OTHER):
        submit(root, lesson, "ada")
        grade_lesson(root, lesson)
    return root, change


def looked_at(root: Path, folder: Path) -> tuple[NotebookNode, dict[str, object]]:
    """The solved notebook after `Run all` where a student has it, and what `progress` knows there."""
    folder.mkdir()
    for file in (root / "release" / LESSON).iterdir():
        if file.suffix != ".ipynb":
            (folder / file.name).symlink_to(file)
    notebook = solved_notebook(root, LESSON)
    notebook.cells.append(new_code_cell(LOOK))
    ran = run(notebook, folder)
    return ran, json.loads(ran.cells.pop().outputs[0].text)


@pytest.mark.full
def test_every_place_says_what_the_course_asks(adapted, tmp_path, monkeypatch, sandboxed):
    root, change = adapted
    monkeypatch.setenv("ATTENTION_MEMORY", "off")
    ran, known = looked_at(root, tmp_path / "student")

    # The notebook, and `check` in it
    checks = {exercise_named(grade_id(c)): c for c in ran.cells if c.metadata.get("nbgrader", {}).get("grade")}
    assert {name: cell.metadata.nbgrader.points for name, cell in checks.items()} == change.asked
    for name, cell in checks.items():
        (value,) = (o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result")
        assert float(value) == change.asked[name], name
    for name in change.given:
        assert any(f"This course gives you `{name}`" in cell.source for cell in ran.cells)
        assert not any(re.search(rf"^check\({name}\)", cell.source, re.M) for cell in ran.cells)

    # `progress`, and what is handed in
    total = sum(change.asked.values())
    assert known["progress"] == [total, total, f"Pass: {', '.join(f'`{name}`' for name in change.asked)}"]
    assert known["lessons"] == list(change.lessons)
    monkeypatch.chdir(tmp_path / "student")
    saved = hand_in.SavedNotebook(f"{LESSON}.ipynb", json.loads(nbformat.writes(ran)))
    assert [p for p in hand_in.problems(saved, catalog.exercises_of(LESSON)) if p.startswith("Missing")] == []
    monkeypatch.chdir(root)

    # The grade
    verdicts = {row.verdict.exercise: row.verdict for row in Course(root).verdicts(LESSON)}
    assert {name: (v.earned, v.points) for name, v in verdicts.items()} == {n: (p, p) for n, p in change.asked.items()}
    assert Course(root).scores()["ada", LESSON] == (total, total)
    for name, verdict in verdicts.items():
        assert sum(c.points for c in verdict.criteria) == change.asked[name]

    # Feedback, class report, gradebook file
    generate_feedback(Course(root), LESSON, "ada")
    page = (root / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_text(encoding="utf-8")
    shown = re.findall(r'<th scope="row"><a href="#[^"]*"><code>(\w+)</code>.*?"number">(.*?)</td>', page, re.S)
    assert shown == [(name, f"{points} of {points}") for name, points in change.asked.items()]
    course = load_class(Course(root))
    assert course.lessons == list(change.lessons) and course.exercises(LESSON) == list(change.asked)
    assert f"{total}" in class_page(course, course.title, MistakeTexts(root))
    subprocess.run([NBGRADER, "export", f"--exporter={WIDE}", "--to", "class.csv"], cwd=root, check=True)
    with (root / "class.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert [name for name in row if name in (LESSON, OTHER)] == list(change.lessons)
    assert float(row[LESSON]) == total and float(row["out_of"]) == total + 20

    # The site
    build_site(Course(root), tmp_path / "site", Console(quiet=True), workers=1)
    page = (tmp_path / "site" / f"{LESSON}.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]+>", "", page)
    for name in change.asked:
        assert f"check({name})" in text
    for name in change.given:
        assert f"check({name})" not in text and f"This course gives you `{name}`" in text
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    there = (f"{LESSON}.html", f"{OTHER}.html")
    links = [link["href"] for link in Elements(index).named("a") if link.get("href") in there]
    assert list(dict.fromkeys(links)) == [f"{name}.html" for name in change.lessons]
