"""docs/teachers.md is a term: every command on it, in its order, for a class of twelve made from the sample answers.

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

PAGE = (ROOT / "docs" / "teachers.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"^    ((?:grading|nbgrader|make|pip|cd|source|export|jupyter|c\.\w+\.) ?.*?)(?:\s+# .*)?$", re.M)
BIN = Path(sys.executable).parent
LESSON, MINE = "02_softmax", "20_means"
COURSE_FILE = re.search(r"^    title = .*?(?=^\S)", PAGE, re.M | re.S)[0].replace("\n    ", "\n").strip()
DOWNLOAD = "~/Downloads/submissions.zip"
NEEDS_A_PERSON = (  # commands that end with 1 while a file is cut off, a grade is reopened or a hand-in is skipped
    "grading grade",
    "grading grade --unsandboxed",
    f"grading fill-gradebook canvas-export.csv {LESSON}",
    "grading gradebook class-points.csv --total",
    "grading gradebook class-points.csv --scale 10",
    f"grading feedback-zip {LESSON} {DOWNLOAD}",
    f"grading collect {DOWNLOAD}",
    f"grading collect {DOWNLOAD} --keep",
    f"grading collect {DOWNLOAD} --replace",
)
HANDED_IN, OTHERS = 12, 7  # of whom five are the page's own: jsmith, bjones, cstone, adoe, and Zoë, who is in no list


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
        assert done.returncode == (command in NEEDS_A_PERSON), f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


def nothing(term: Term) -> None:
    """The world stands still."""


def lessons_come(term: Term) -> None:
    """A release's source archive, with the lessons that the page's course.toml names."""
    new = term.place / "attention-course"
    build_course(new, sorted(set(re.findall(r'^name = "(.+)"', COURSE_FILE, re.M))))
    archive = term.place / f"attention-course-{version('attention-course-teach')}"
    shutil.make_archive(str(archive), "zip", term.place, new.name)


def course_is_adapted(term: Term) -> None:
    """The teacher writes what the page shows into course.toml."""
    (term.course / "course.toml").write_text(COURSE_FILE, encoding="utf-8")


def file_is_missing(term: Term) -> None:
    (term.course / "course.toml").unlink()


def class_list_comes(term: Term) -> None:
    """As the page shows it, with more people."""
    (head, first) = re.search(r"^    (id,first_name.*)\n    (jsmith,.*)$", PAGE, re.M).groups()
    more = ["bjones,Bo,Jones,,9", "cstone,Cy,Stone,,31", "adoe,Ann,Doe,,12"]
    more += [*(f"s{n},Sam,{n}th,,{n}" for n in range(100, 100 + OTHERS))]
    (term.course / "students.csv").write_text("\n".join([head, first, *more]) + "\n", encoding="utf-8")


def class_hands_in(term: Term) -> None:
    """Canvas's download: a class, with what the page tells of some of them, and a file that is cut off.

    Ann Doe's notebook is in submitted/ already, and another one is in the download.
    """
    texts = [nbformat.writes(notebook) for _, notebook in sample_class(term.course, LESSON)]
    by_hand = term.course / "submitted" / "adoe" / LESSON / f"{LESSON}.ipynb"
    by_hand.parent.mkdir(parents=True)
    by_hand.write_text(texts[3], encoding="utf-8")
    with zipfile.ZipFile(term.home / "Downloads" / "submissions.zip", "w") as download:
        download.writestr(f"doeann_12_995_{LESSON}.ipynb", texts[1])
        download.writestr(f"smithjane_12345_990_{LESSON}.ipynb", texts[3])
        download.writestr(f"smithjane_LATE_12345_991_{LESSON}-1.ipynb", texts[0])
        download.writestr(f"jonesbo_LATE_9_992_{LESSON}.ipynb.txt", texts[0])
        download.writestr("stonecy_31_993_answers.pdf", "%PDF-1.4")
        download.writestr(f"özilzoe_44_994_{LESSON}.ipynb", texts[1])
        for number in range(100, 100 + OTHERS):
            text = texts[number % len(texts)] if number > 100 else texts[0][: len(texts[0]) // 2]
            download.writestr(f"sam_{number}_{number + 900}_{LESSON}.ipynb", text)


def whose_is_known(term: Term) -> None:
    """The teacher fills in the table; and asks Cy Stone for a notebook, in vain."""
    table = term.course / "student-ids.csv"
    table.write_text(re.sub(r"^,(canvas,44,)", r"zozil,\1", table.read_text("utf-8-sig"), flags=re.M), encoding="utf-8")


def platform_exports(term: Term) -> None:
    people = [("Smith, Jane", 12345), ("Jones, Bo", 9), ("Stone, Cy", 31), ("Doe, Ann", 12)]
    people += [("Sam", n) for n in range(100, 100 + OTHERS)]
    with (term.course / "canvas-export.csv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerows([["Student", "ID", "02 Softmax (812)"], ["    Points Possible", "", "17"]])
        lines.writerows([name, number, ""] for name, number in people)
    term.canvas.users += [{"id": number, "name": name} for name, number in people]


def time_counts(term: Term) -> None:
    assert f"{LESSON}: 1 graded" in " ".join(term.run("grading grade").split())


def rule_gets_milder(term: Term) -> None:
    settings = term.course / "course.toml"
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
    ("pip install ./attention_course*.whl", nothing, ""),  # tests/test_wheels.py
    ("grading doctor", nothing, "sandbox"),
    ("make demo", nothing, ""),  # tests/coordinator/test_grade_class.py
    ("source .venv/bin/activate", nothing, ""),
    ("grading init autumn --lessons attention-course-0.2.0.zip", lessons_come, "2 lessons copied"),
    ("cd autumn", nothing, "^$"),
    ("grading settings", course_is_adapted, f"{LESSON} .* 17 (?s:.*)10% a day +course.toml"),
    ("grading init --upgrade .", file_is_missing, "course.toml: written"),
    (f"grading new-lesson {MINE}", course_is_adapted, f"source/{MINE}.py: written"),
    ("nbgrader db student import students.csv", class_list_comes, "."),
    (
        "grading release",
        nothing,
        rf"since the last proof: {MINE}\.(?s:.*){LESSON}: released as release/{LESSON}/{LESSON}\.ipynb\n{LESSON}: the "
        rf"text still mentions entropy, in “Lesson 2: Softmax”\. Edit source/{LESSON}\.py if that misleads\.\n",
    ),
    (f"nbgrader generate_assignment {LESSON}", nothing, "."),
    ("grading publish ../students --repository https://github.com/you/attention-autumn", nothing, r"\d files written"),
    ('pip install "../attention_course_teach-0.2.0-py3-none-any.whl[site]"', nothing, ""),  # it is here
    ("grading publish ../students --site", nothing, "index.html: written, 3 lessons"),
    ("grading site", nothing, "index.html: written, 3 lessons"),
    ('nbgrader db assignment add 04_scaling --duedate "2026-12-04 23:59:00 UTC"', nothing, "."),
    (
        f"grading collect {DOWNLOAD}",
        class_hands_in,
        rf"{OTHERS + 1} taken, 1 repaired, 1 skipped, 1 which counts\?, 1 whose",
    ),
    ("nbgrader db student add zozil --first-name Zoë --last-name Özil", nothing, "."),
    (f"grading collect {DOWNLOAD} --replace", whose_is_known, f"{OTHERS + 2} as before, 1 taken, 1 replaced"),
    (f"grading collect {DOWNLOAD} --keep", nothing, f"{OTHERS + 4} as before, 1 skipped"),
    ("grading restore", nothing, f"adoe +{LESSON}"),
    (f"grading restore adoe {LESSON}", nothing, "brought back"),
    ("grading grade --dry-run", nothing, f"{HANDED_IN - 1} to grade, 0 graded before and unchanged"),
    ("grading grade", nothing, f"{HANDED_IN - 1} graded"),
    (f"nbgrader autograde {LESSON}", nothing, "."),
    ("grading review 04_scaling", nothing, ""),  # tests/test_adapted_term.py, tests/browser/test_review.py
    ("grading review 04_scaling --anonymous", nothing, ""),
    ("jupyter lab", nothing, ""),  # tests/browser/test_formgrader_walk.py
    ("grading report", nothing, "s100, 02_softmax: .*softmax(?s:.*)subtracts no maximum in softmax"),
    ("grading report --students", nothing, r"jsmith +15.3/17"),
    ("grading report --html class.html --csv tables --anonymous", nothing, "class.html: written"),
    (f"grading feedback {LESSON}", nothing, f"{HANDED_IN - 1} feedback"),
    (f"grading fill-gradebook canvas-export.csv {LESSON}", platform_exports, f"{HANDED_IN - 3} filled"),
    (f"grading fill-gradebook canvas-export.csv {LESSON} --provisional", nothing, f"{HANDED_IN - 2} filled"),
    ("grading gradebook class-points.csv --total", nothing, f"{HANDED_IN} rows(?s:.*)provisional.*: s100"),
    ("grading gradebook class-points.csv --scale 10", nothing, f"{HANDED_IN} rows"),
    ('pip install "../attention_course_teach-0.2.0-py3-none-any.whl[canvas]"', nothing, ""),
    ("export CANVAS_API_TOKEN=…", nothing, ""),
    (
        f"grading push canvas {LESSON} --url https://canvas.example.edu --canvas-course 7",
        nothing,
        f"{HANDED_IN - 3} to send",
    ),
    (f"grading feedback-zip {LESSON} {DOWNLOAD}", nothing, f"{HANDED_IN - 1} pages written"),
    (f'grading extend {LESSON} jsmith --days 2 --why "ill"', nothing, "jsmith, 02_softmax: 2 days more"),
    (f'grading extend {LESSON} jsmith --until "2026-11-24 12:00 UTC"', nothing, "until 2026-11-24 13:00 CET"),
    (f"grading excuse {LESSON} cstone", nothing, "it does not count"),
    (
        f'grading reopen jsmith {LESSON} softmax --because "asked about the second criterion"',
        time_counts,
        "softmax is open again",
    ),
    (f"grading verify-grades {LESSON} --students jsmith", nothing, "jsmith: the same, to the last criterion"),
    (f"grading regrade {LESSON}", rule_gets_milder, "settings: 1 higher, 0 lower, (?s:.*)Nothing has changed yet"),
    (f"grading regrade {LESSON} --yes", nothing, "grades written"),
    (f"grading history {LESSON} --students jsmith", nothing, "15.3(?s:.*)second criterion"),
    ("grading migrate ../attention-course", version_comes, f"changed: {LESSON}(?s:.*)Nothing has changed yet"),
    ("grading migrate --undo", nothing, ""),  # tests/plugins/migrate/test_migrate_lessons.py
    ("nbgrader export --to grades.csv", nothing, "."),
    ("nbgrader export --exporter=grading.nbgrader_plugins.csv_exporters.WideCsvExporter --to class.csv", nothing, "."),
    (
        "nbgrader export --exporter=grading.nbgrader_plugins.csv_exporters.ExercisesCsvExporter --to exercises.csv",
        nothing,
        ".",
    ),
    ("grading init ../spring --from .", nothing, "3 lessons copied from .*, with graders"),
    ('c.JudgedExecute.seed = "spring 2027: any long text that nobody guesses"', nothing, "^$"),
    ("grading backup --to autumn.tar.gz", nothing, f"{HANDED_IN - 1} grades"),
    ("grading restore-backup autumn.tar.gz", nothing, f"{HANDED_IN - 1} grades"),
    ("grading restore-backup autumn.tar.gz ../autumn-restored", nothing, f"{HANDED_IN - 1} submissions restored"),
    ("grading export-student jsmith", nothing, "student-jsmith.zip: written"),
    ("grading forget jsmith", nothing, "submitted/jsmith/(?s:.*)Nothing has changed yet"),
    ("grading grade --unsandboxed", two_are_left, "2 graded"),
    (f"nbgrader autograde {LESSON} --JudgedExecute.unsandboxed=True", nothing, "."),
    ('c.JudgedExecute.device = "cuda"', nothing, "^$"),
]


@pytest.fixture(scope="module")
def commands() -> list[str]:
    return COMMAND.findall(PAGE)


def test_every_command_of_the_page_is_in_the_term_in_its_order(commands):
    assert commands == [command for command, _, _ in TERM]


@pytest.mark.full("runs a whole term, for some minutes")
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
    with canvas([], [{"id": 91, "name": "02 Softmax", "points_possible": 17.0}]) as there:
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
