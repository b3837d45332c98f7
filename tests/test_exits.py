"""What a student wrote leaves the grader by one way for each of terminal, log, CSV and HTML."""

from __future__ import annotations

import ast
import csv
import io
import logging
import os

import pytest
from rich.table import Table
from rich.text import Text

from grading.notebooks.submitted_file import MAX_BESIDE, MOST_BESIDE, unsafe_files
from grading.safe_console import SafeConsole
from grading.safe_csv import safe_cell
from grading.safe_text import make_safe, say

from .support.repository import ROOT

NAME = "\x1b[2J\x1b]52;c;cm0K\x1b\\ada\x07\u202e"
# Each call that writes to somebody, and where it may be: with what the others call instead
EXITS = {
    "print": {"safe_text.py", "autograder.py"},  # the latter is copied, and makes its text safe itself
    "Console": {"migrate_lessons.py"},  # a silent one
    "DictWriter": {"safe_csv.py"},
    "writer": {"teacher_csv.py", "gradebook_csv.py"},  # cells made safe there; an LMS's own file, given back as it was
    "Environment": {"safe_html.py"},
    "StreamHandler": set[str](),
}
WITHOUT_STUDENTS = {
    "proof",
    "authoring",
    "site",
    "exercises",
    "course_dir",
    "sandbox",
}  # they see nothing of a student's


@pytest.mark.parametrize("call", EXITS)
def test_no_other_module_writes_there(call):
    found = set()
    for file in (ROOT / "grading").rglob("*.py"):
        if not WITHOUT_STUDENTS & set(file.relative_to(ROOT).parts):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                called = node.func if isinstance(node, ast.Call) else None
                name = getattr(called, "id", "") or (getattr(called, "attr", "") if call != "print" else "")
                found |= {file.name} if name == call else set()
    assert found == EXITS[call]


def test_a_terminal_obeys_nothing_that_a_student_wrote(capsys):
    table = Table("student")
    table.add_row(Text(NAME))
    console = SafeConsole(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=200)
    console.print(table, Text(NAME, style="red"), NAME, markup=False)
    written = console.file.getvalue()
    assert "\x1b[31m" in written  # rich's own colours
    assert not any(code in written for code in ("\x1b[2J", "\x1b]52", "\x07", "\u202e"))
    say(f"two\nlines of {NAME}")
    assert capsys.readouterr().out.isascii() is False
    logger, written = logging.getLogger("of-a-test"), io.StringIO()
    logger.addHandler(logging.StreamHandler(written))
    make_safe(logger)
    logger.warning("Copying %s", NAME)
    assert "\x1b" not in written.getvalue() and "ada" in written.getvalue()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    "text", ["=1+1", "a;=1+1", "a; =1+1;b", 'a;"@x', "a\n+1", "a\t-1", " =1", "x[';=SUM(1)']", "＝1"]
)
def test_no_cell_begins_a_formula_however_a_line_is_parted(text, delimiter):
    out = io.StringIO()
    csv.writer(out).writerow(["ada", safe_cell(text), "b"])
    for row in csv.reader(io.StringIO(out.getvalue()), delimiter=delimiter):
        assert not any(cell.lstrip(' "').startswith(tuple("=+-@＝")) for cell in row), row


def test_files_that_fill_a_disk_or_a_terminal_are_left_out(tmp_path):
    for name in ("notes.txt", "02_softmax.ipynb", f"{NAME}.txt", "a\nb.txt", "run.html"):
        (tmp_path / name).write_text("x")
    with open(tmp_path / "sparse.csv", "wb") as file:
        os.truncate(file.fileno(), 2**40)
    left_out = {os.path.basename(path): why for path, why in unsafe_files(tmp_path)}
    assert set(left_out) == {f"{NAME}.txt", "a\nb.txt", "run.html", "sparse.csv"}
    assert f"{MAX_BESIDE // 2**20} MiB" in left_out["sparse.csv"]
    for number in range(MOST_BESIDE):
        (tmp_path / f"{number}.txt").touch()
    assert [path for path, _ in unsafe_files(tmp_path)] == [str(tmp_path)]
