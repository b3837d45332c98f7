"""A term of an adapted course, from the wheels in an empty directory, with every number compared.

Begin, adapt (leave out an exercise, change points, count a written question, write a lesson), release, hand in by hand
and by Canvas downloads, grade, review by hand, regrade after a change, write feedback and gradebook files, push to a
stand-in for Canvas, migrate.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import nbformat
import pytest

from grading.coordinator.demo_class import hand_in
from grading.notebooks.cells import grade_id

from .support.canvas_server import TOKEN, canvas
from .support.course_builder import build_course, released_notebook, solved_notebook
from .support.installed import Run, install, runner

pytestmark = pytest.mark.full("installs both wheels, and runs a term of three lessons")

SOFTMAX, SCALING, MINE = "02_softmax", "04_scaling", "20_means"
QUESTION = "why_the_root"
CHANGES = f"""
title = "Attention, autumn"
id = "autumn"
timezone = "Europe/Berlin"

[[lesson]]
name = "{SOFTMAX}"
column = "Softmax (812)"
canvas = 91
exercises.softmax.points = 8
exercises.entropy.include = false

[[lesson]]
name = "{SCALING}"
exercises.{QUESTION}.points = 2

[lms]
canvas_course = 7
"""
ADA = {SOFTMAX: 17, SCALING: 20, MINE: 20}  # right answers; a written answer has no points before a person gives them
BO = {SOFTMAX: 9, SCALING: 20}  # nothing in softmax, nothing written; no lesson of the teacher's own
REVIEWED = 1  # points of a person for what ada wrote
AFTER = {"ada": {SOFTMAX: 18, SCALING: 21, MINE: 20}, "bo": {SOFTMAX: 10, SCALING: 20}}
MOST = {SOFTMAX: 18, SCALING: 22, MINE: 20}


@pytest.fixture
def teacher(wheels: dict[str, Path], tmp_path: Path) -> Run:
    return runner(install(tmp_path / "environment", "attention-course-teach[canvas]", wheels), tmp_path / "home")


def test_a_term_of_an_adapted_course(teacher, tmp_path, sandboxed, capsys):
    origin, course = tmp_path / "attention-course", tmp_path / "autumn"
    build_course(origin, [SOFTMAX, SCALING])
    shutil.make_archive(str(origin), "zip", tmp_path, origin.name)
    minutes = list[str]()

    def step(name: str, *command: str, status: int = 0, **more: str) -> str:
        began = time.monotonic()
        said = teacher(course if course.exists() else tmp_path, *command, status=status, **more)
        minutes.append(f"{name}: {time.monotonic() - began:.0f} s")
        return said

    # Begin and adapt
    step("init", "grading", "init", "autumn", "--lessons", f"{origin}.zip", "--exchange", "")
    (course / "course.toml").write_text(CHANGES, encoding="utf-8")
    step("own lesson", "grading", "new-lesson", MINE)
    for number, name in enumerate(("ada", "bo", "cy"), 7):
        step("class list", "nbgrader", "db", "student", "add", name, "--lms-user-id", str(number))
    said = step("release", "grading", "release")
    mentioned = f"the text still mentions entropy, in “Lesson 2: Softmax”. Edit source/{SOFTMAX}.py if that misleads."
    assert f"{SOFTMAX}: {mentioned}" in " ".join(said.split())
    settings = step("settings", "grading", "settings", "--json")
    lessons = {row["lesson"]: row for row in map(json.loads, settings.splitlines()) if row["record"] == "lesson"}
    assert lessons[SOFTMAX]["points"] == {"softmax": 8, "log_softmax": 5, "softmax_with_temperature": 4}
    assert lessons[SOFTMAX]["given"] == ["entropy"]

    # Hand in: by hand, and by two downloads of Canvas
    for lesson in ADA:
        hand_in(course, lesson, "ada", solved(course, lesson, "Scores with a wide spread saturate softmax."))
    downloads = []
    for lesson in BO:
        downloads.append(tmp_path / f"{lesson}.zip")
        with zipfile.ZipFile(downloads[-1], "w") as download:
            download.writestr(f"bo_8_900_{lesson}.ipynb", nbformat.writes(solved(course, lesson, "", "softmax")))
    assert "2 taken" in step("collect", "grading", "collect", *map(str, downloads))

    # Grade; what a person has to grade is open, and leaves the course with --provisional only
    step("grade", "grading", "grade", status=1)
    assert points(step("report", "grading", "report", "--students", "--json")) == {
        "ada": ADA | {SCALING: None},
        "bo": BO,
    }
    export = tmp_path / "canvas.csv"
    export.write_text(
        'Student,ID,Softmax (812),Scaling\n    Points Possible,,17,22\n"A, Ada",7,,\n"B, Bo",8,,\n"C, Cy",9,,\n'
    )
    step("gradebook file", "grading", "fill-gradebook", str(export), SCALING, "--column", "Scaling", status=1)
    assert column(tmp_path / "canvas-filled.csv", "Scaling") == {"7": "", "8": "20", "9": ""}

    # Review by hand
    with reviewing(tmp_path, course) as ask:
        key = next(one["key"] for one in ask("overview")["questions"] if QUESTION in json.dumps(one))
        question = ask("question", key=key, names="1")
        answers = {one["student"]: one for group in question["groups"] for one in group["members"]}
        seen = {answers["ada"]["id"]: answers["ada"]["seen"]}
        wanted = {"items": ["spread", "saturation"], "comment": "Say why."}
        assert sum(item["points"] for item in question["rubric"]["items"] if item["id"] in wanted["items"]) == REVIEWED
        ask("grade", {"page": "p", "key": key, "seen": seen, "wanted": wanted})
    assert points(step("report", "grading", "report", "--students", "--json"))["ada"][SCALING] == 20 + REVIEWED

    # Regrade after a change: refused until it is released, then shown and written
    text = (course / "course.toml").read_text()
    more = "softmax.points = 8\nexercises.log_softmax.points = 6"
    (course / "course.toml").write_text(text.replace("softmax.points = 8", more))
    teacher(course, "grading", "regrade", "--yes", status=2)
    step("release again", "grading", "release", SOFTMAX)
    step("regrade", "grading", "regrade", "--yes")
    assert points(step("report", "grading", "report", "--students", "--json")) == AFTER

    # Feedback, files, Canvas
    step("feedback", "grading", "feedback")
    for student, lessons_of in AFTER.items():
        for lesson, earned in lessons_of.items():
            page = (course / "feedback" / student / lesson / f"{lesson}.html").read_text(encoding="utf-8")
            total = re.search(r'<p class="total"><b>([\d.]+)</b> of ([\d.]+) points', page)
            assert total and (float(total[1]), float(total[2])) == (earned, MOST[lesson]), (student, lesson)
    page = (course / "feedback" / "ada" / SCALING / f"{SCALING}.html").read_text(encoding="utf-8")
    assert "Say why." in page and "standard deviation" in page  # the comment, and the model answer
    teacher(course, "grading", "fill-gradebook", str(export), SOFTMAX, status=2)  # the LMS still has 17 points
    export.write_text(export.read_text().replace("17,22", "18,22"))
    step("gradebook file", "grading", "fill-gradebook", str(export), SOFTMAX)
    assert column(tmp_path / "canvas-filled.csv", "Softmax (812)") == {"7": "18", "8": "10", "9": ""}
    wide = "grading.nbgrader_plugins.csv_exporters.WideCsvExporter"
    step("class file", "nbgrader", "export", f"--exporter={wide}", "--to", "class.csv")
    rows = {row["student_id"]: row for row in read(course / "class.csv")}
    for student, lessons_of in AFTER.items():
        assert {name: float(rows[student][name]) for name in lessons_of} == lessons_of
        assert float(rows[student]["total"]) == sum(lessons_of.values())
        assert float(rows[student]["out_of"]) == sum(MOST.values())
    users = [{"id": number, "name": name} for number, name in enumerate(("Ada", "Bo", "Cy"), 7)]
    with canvas(users, [{"id": 91, "name": "Softmax", "points_possible": 18.0}]) as there:
        step("push", "grading", "push", "canvas", SOFTMAX, "--url", there.url, "--yes", CANVAS_API_TOKEN=TOKEN)
        assert there.scores == {7: 18.0, 8: 10.0}

    # A new version of a lesson, whose text the teacher has not changed: grades stay
    new = tmp_path / "attention-course-next"
    shutil.copytree(origin, new)
    lesson = new / "source" / f"{SCALING}.py"
    lesson.write_text(lesson.read_text() + "\n# %% [markdown]\n# You have built attention, step by step, yourself.\n")
    step("migrate", "grading", "migrate", str(new), "--yes")
    assert "step by step," in (course / "source" / f"{SCALING}.py").read_text()
    assert points(step("report", "grading", "report", "--students", "--json")) == AFTER
    with capsys.disabled():
        print("\n" + "\n".join(minutes))


def solved(course: Path, lesson: str, written: str, untouched: str = "") -> nbformat.NotebookNode:
    """The released notebook with right answers, but for one exercise; what is written goes below the question."""
    notebook = solved_notebook(course, lesson)
    handed_out = {grade_id(cell): cell.source for cell in released_notebook(course, lesson).cells if grade_id(cell)}
    for cell in notebook.cells:
        if untouched and grade_id(cell) == untouched:
            cell.source = handed_out[untouched]
        elif grade_id(cell) == QUESTION and written:
            cell.source += f"\n{written}"
    return notebook


def points(report: str) -> dict[str, dict[str, float | None]]:
    """student -> lesson -> points, of `grading report --students --json`; None where something is open."""
    found: dict[str, dict[str, float | None]] = {}
    for row in map(json.loads, report.splitlines()):
        if row["record"] == "grade" and row["status"] in ("graded", "needs a person"):
            found.setdefault(row["student"], {})[row["lesson"]] = row["points"]
    return found


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def column(path: Path, name: str) -> dict[str, str]:
    """Canvas's number -> what the gradebook file has in a column."""
    return {row["ID"]: row[name].removesuffix(".0") for row in read(path) if row["ID"]}


@contextmanager
def reviewing(tmp_path: Path, course: Path) -> Iterator:
    """Ask the server of the review page as the page does: ask(what, sent or nothing, **query)."""
    program = tmp_path / "environment" / "bin" / "grading"
    command = [program, "review", SCALING, QUESTION, "--no-browser"]
    process = subprocess.Popen(command, cwd=course, stdout=subprocess.PIPE, text=True)
    try:
        address = ""
        while not address:
            address = next(iter(re.findall(r"http://\S+", process.stdout.readline())), "")
        base, token = address.partition("?")[0], parse_qs(urlsplit(address).query)["token"][0]

        def ask(what: str, sent: dict | None = None, **query: str) -> dict:
            asked = "&".join(f"{name}={value}" for name, value in query.items())
            data = None if sent is None else json.dumps(sent).encode()
            request = Request(f"{base}api/{what}?{asked}", data, {"Authorization": f"token {token}"})
            with urlopen(request) as answer:
                return json.loads(answer.read())

        yield ask
    finally:
        process.terminate()
        process.communicate()
