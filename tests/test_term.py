"""docs/teachers.md is a term: every command on it, in its order, for a class of thirty made from the sample answers.

Commands and settings are read from the page. Each has a line here, of what it must say and what the world does before
it, so that neither changes without the other. Does not cover: what each command does in every case (tests/coordinator).
"""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest

from grading.coordinator.demo_class import sample_class
from grading.sandbox import SandboxUnavailable, require

from .support.canvas_server import TOKEN, FakeCanvas, canvas
from .support.course_builder import build_course
from .support.repository import ROOT

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "teachers.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"^    ((?:grading|nbgrader|make|pip|cd|source|export|jupyter|c\.\w+\.) ?.*?)(?:\s+# .*)?$", re.M)
BIN = Path(sys.executable).parent
LESSON = "02_softmax"
ASKED = re.compile(r"^\d+ .*\d (skipped|whose\?)", re.M)  # the last line of what `grading collect` says
OPEN = (  # the commands that end with 1, too, since somebody's file is cut off and needs a person
    "grading grade",
    f"grading fill-gradebook canvas-export.csv {LESSON}",
    f"grading feedback-zip {LESSON} ~/Downloads/submissions.zip",
)
HANDED_IN, OTHERS = 30, 26  # of whom four are the page's own: jsmith, bjones, cstone, and Zoë, who is in no list


@dataclass
class Term:
    """The teacher's world: where the commands are given, the home with its downloads, and a Canvas."""

    place: Path
    home: Path
    canvas: FakeCanvas

    @property
    def course(self) -> Path:
        return self.place / "autumn"

    def run(self, command: str) -> str:
        """What a command of the page says, which must succeed, or ask. Settings go into the course's own file."""
        if command.startswith("c."):
            with (self.course / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
                settings.write(f"\n{command}\n")
            return ""
        told = command.replace("https://canvas.example.edu", self.canvas.url).replace("~", str(self.home))
        program, *arguments = shlex.split(told)
        if program == "cd":
            os.chdir(arguments[0])
            return ""
        done = subprocess.run([BIN / program, *arguments], capture_output=True, text=True)
        asks = command in OPEN or bool(ASKED.search(done.stdout))
        assert done.returncode == asks, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


def nothing(term: Term) -> None:
    """The world stands still."""


def lessons_come(term: Term) -> None:
    """A release's source archive, with one of the lessons in it."""
    new = term.place / "attention-course"
    build_course(new, [LESSON])
    archive = term.place / f"attention-course-{version('attention-course-teach')}"
    shutil.make_archive(str(archive), "zip", term.place, new.name)


def class_list_comes(term: Term) -> None:
    """As the page shows it, with more people."""
    (head, first) = re.search(r"^    (id,first_name.*)\n    (jsmith,.*)$", PAGE, re.M).groups()
    more = ["bjones,Bo,Jones,,9", "cstone,Cy,Stone,,31", *(f"s{n},Sam,{n}th,,{n}" for n in range(100, 100 + OTHERS))]
    (term.course / "students.csv").write_text("\n".join([head, first, *more]) + "\n", encoding="utf-8")


def class_hands_in(term: Term) -> None:
    """Canvas's download: thirty people, with what the page tells of three of them, and a file that is cut off."""
    texts = [nbformat.writes(notebook) for _, notebook in sample_class(term.course, LESSON)]
    with zipfile.ZipFile(term.home / "Downloads" / "submissions.zip", "w") as download:
        download.writestr(f"smithjane_12345_990_{LESSON}.ipynb", texts[3])
        download.writestr(f"smithjane_LATE_12345_991_{LESSON}-1.ipynb", texts[0])
        download.writestr(f"jonesbo_LATE_9_992_{LESSON}.ipynb.txt", texts[0])
        download.writestr("stonecy_31_993_answers.pdf", "%PDF-1.4")
        download.writestr(f"özilzoe_44_994_{LESSON}.ipynb", texts[1])
        for number in range(100, 100 + OTHERS):
            text = texts[number % len(texts)] if number > 100 else texts[0][: len(texts[0]) // 2]
            download.writestr(f"sam_{number}_{number + 900}_{LESSON}.ipynb", text)


def whose_is_told(term: Term) -> None:
    """The teacher fills in the table, and collects again; and asks Cy Stone for a notebook, in vain."""
    table = term.course / "student-ids.csv"
    table.write_text(re.sub(r"^,(canvas,44,)", r"zozil,\1", table.read_text("utf-8-sig"), flags=re.M), encoding="utf-8")
    assert f"{OTHERS + 2} as before, 1 taken, 1 skipped" in term.run("grading collect ~/Downloads/submissions.zip")


def platform_exports(term: Term) -> None:
    people = [("Smith, Jane", 12345), ("Jones, Bo", 9), ("Stone, Cy", 31), *(("Sam", n) for n in range(100, 126))]
    with (term.course / "canvas-export.csv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerows([["Student", "ID", "02 Softmax (812)"], ["    Points Possible", "", "20"]])
        lines.writerows([name, number, ""] for name, number in people)
    term.canvas.users += [{"id": number, "name": name} for name, number in people]


def time_counts(term: Term) -> None:
    assert f"{LESSON}: 1 graded" in " ".join(term.run("grading grade").split())


def rule_gets_milder(term: Term) -> None:
    settings = term.course / "nbgrader_config.py"
    text = settings.read_text(encoding="utf-8")
    assert '"10% a day"' in text
    settings.write_text(text.replace('"10% a day"', '"none"'), encoding="utf-8")


def version_comes(term: Term) -> None:
    contract = term.place / "attention-course" / "grader_tests" / LESSON / "softmax" / "contract.py"
    text = contract.read_text(encoding="utf-8")
    assert "draw.normal(5)" in text
    contract.write_text(text.replace("draw.normal(5)", "draw.normal(6)"), encoding="utf-8")


def two_are_left(term: Term) -> None:
    """Another term, of two."""
    for folder in (term.course / "submitted").iterdir():
        if folder.name not in ("jsmith", "bjones"):
            shutil.rmtree(folder)


Step = tuple[str, Callable[[Term], None], str]
# A command of the page, what happens before it, and a pattern of what it says; "": it is not run, but where a note says
TERM: list[Step] = [
    ("pip install attention_course*.whl", nothing, ""),  # tests/test_wheels.py
    ("grading doctor", nothing, "sandbox"),
    ("make demo", nothing, ""),  # tests/coordinator/test_grade_class.py
    ("source .venv/bin/activate", nothing, ""),
    ("grading init autumn --lessons attention-course-0.2.0.zip", lessons_come, "1 lessons taken"),
    ("cd autumn", nothing, "^$"),
    ("nbgrader db student import students.csv", class_list_comes, "."),
    ("grading release", nothing, rf"\A(?!(?s:.*)Proving)(?s:.*){LESSON}: released to"),
    (f"nbgrader generate_assignment {LESSON}", nothing, "."),
    ("grading publish ../students --repository https://github.com/you/attention-autumn", nothing, "4 files written"),
    ('pip install "attention-course-teach[site]"', nothing, ""),  # it is here
    ("grading publish ../students --site", nothing, "index.html: written, 1 lessons"),
    ("grading site", nothing, "index.html: written, 1 lessons"),
    (f'nbgrader db assignment add {LESSON} --duedate "2026-11-20 23:59:00 UTC"', nothing, "."),
    ('c.LatePolicy.policy = "10% a day"', nothing, "^$"),
    (
        "grading collect ~/Downloads/submissions.zip",
        class_hands_in,
        f"{OTHERS + 1} taken, 1 repaired, 1 skipped, 1 whose",
    ),
    ("nbgrader db student add zozil --first-name Zoë --last-name Özil", nothing, "."),
    ("grading grade --dry-run", whose_is_told, f"{HANDED_IN - 1} to be graded"),
    ("grading grade", nothing, f"{HANDED_IN - 1} graded"),
    (f"nbgrader autograde {LESSON}", nothing, "."),
    ("jupyter lab", nothing, ""),  # tests/browser/test_formgrader_walk.py
    ("grading report", nothing, "s100, 02_softmax: .*softmax(?s:.*)subtracts no maximum in softmax"),
    ("grading report --students", nothing, r"jsmith +18/20"),
    ("grading report --html class.html --csv tables --anonymous", nothing, "class.html: written"),
    (f"grading feedback {LESSON}", nothing, f"{HANDED_IN - 1} feedback"),
    (f"grading fill-gradebook canvas-export.csv {LESSON}", platform_exports, f"{HANDED_IN - 3} filled"),
    (f"grading feedback-zip {LESSON} ~/Downloads/submissions.zip", nothing, f"{HANDED_IN - 2} pages written"),
    ('pip install "attention-course-teach[canvas]"', nothing, ""),
    ("export CANVAS_API_TOKEN=…", nothing, ""),
    (
        f"grading push canvas {LESSON} --url https://canvas.example.edu --canvas-course 7",
        nothing,
        f"{HANDED_IN - 3} to send",
    ),
    (f'grading extend {LESSON} jsmith --days 2 --why "ill"', nothing, "jsmith, 02_softmax: 2 days more"),
    (f'grading extend {LESSON} jsmith --until "2026-11-24 12:00 UTC"', nothing, "until 2026-11-24 12:00"),
    (f"grading excuse {LESSON} cstone", nothing, "it does not count"),
    (f"grading verify-grades {LESSON} --students jsmith", time_counts, "jsmith: the same, to the last criterion"),
    (f"grading regrade {LESSON}", rule_gets_milder, "1 gain, 0 lose(?s:.*)Nothing is changed yet"),
    (f"grading regrade {LESSON} --yes", nothing, "grades written"),
    (f"grading history {LESSON} --students jsmith", nothing, "18"),
    ("grading migrate ../attention-course", version_comes, f"changed: {LESSON}(?s:.*)Nothing is changed yet"),
    ("nbgrader export --to grades.csv", nothing, "."),
    ("nbgrader export --exporter=grading.nbgrader_plugins.csv_exporters.WideCsvExporter --to class.csv", nothing, "."),
    (
        "nbgrader export --exporter=grading.nbgrader_plugins.csv_exporters.ExercisesCsvExporter --to exercises.csv",
        nothing,
        ".",
    ),
    ('c.JudgedExecute.seed = "spring 2027: any long text that nobody guesses"', nothing, "^$"),
    ("grading grade --unsandboxed", two_are_left, "2 graded"),
    (f"nbgrader autograde {LESSON} --JudgedExecute.unsandboxed=True", nothing, "."),
    ('c.JudgedExecute.device = "cuda"', nothing, "^$"),
]


@pytest.fixture(scope="module")
def commands() -> list[str]:
    return COMMAND.findall(PAGE)


def test_every_command_of_the_page_is_in_the_term_in_its_order(commands):
    assert commands == [command for command, _, _ in TERM]


@pytest.mark.full("runs a term of thirty students, for a minute")
def test_a_term_by_the_page(tmp_path, monkeypatch):
    try:
        require()
    except SandboxUnavailable as problem:
        pytest.skip(problem.missing)
    (tmp_path / "home" / "Downloads").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    for name, value in (
        ("CANVAS_API_TOKEN", TOKEN),
        ("COLUMNS", "200"),
        ("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}"),
    ):
        monkeypatch.setenv(name, value)
    with canvas([], [{"id": 91, "name": "02 Softmax", "points_possible": 20.0}]) as there:
        term = Term(tmp_path, tmp_path / "home", there)
        for command, before, said in TERM:
            before(term)
            if said:
                told = term.run(command)
                assert re.search(said, told), f"{command}\n{told}"
    assert there.posted == []  # nobody said yes
    for name, lines in (("grades", HANDED_IN - 1), ("class", HANDED_IN), ("exercises", HANDED_IN - 1)):
        with (term.course / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
            assert len(list(csv.DictReader(file))) >= lines
