"""`attention check` and `attention progress`, for those who write their answers in files."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from course.cli import main
from course.notebook import session

RIGHT = """
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
"""
WRONG = RIGHT.replace("(dim,", "(0,")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def attention(monkeypatch, capsys, tmp_path) -> Run:
    """attention(verb, ...) in a folder of its own: exit status, what it printed, and to stderr."""
    session.renew()
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        told = capsys.readouterr()
        return status, told.out, told.err

    return run


def test_the_answers_of_a_file_are_checked(attention):
    Path("my_answers.py").write_text(f"import torch\n{RIGHT}\ndef entropy(p, dim=-1):\n    return p.sum(dim)\n")
    status, out, err = attention("check", "my_answers.py")
    assert status == 1
    assert out.startswith("☑ softmax: 7 of 7 points. ")
    assert "\n✗ entropy: 0 of 4 points\n" in out
    assert "log_softmax" not in out
    assert err == ""
    assert attention("check", "my_answers.py", "softmax")[0] == 0


def test_a_file_is_run_as_python_runs_it(attention):
    """With our own `from __future__ import annotations` its dataclass would look for a module that is not there."""
    helper = "from dataclasses import dataclass\n@dataclass\nclass Kept:\n    first: int\n"
    Path("my_answers.py").write_text(f"import torch\n{helper}{RIGHT}\nKept(1)\n")
    assert attention("check", "my_answers.py", "softmax")[0] == 0


def test_a_file_may_begin_its_lesson_and_import_its_neighbours(attention):
    Path("course").mkdir()
    Path("course", "helpers_of_mine.py").write_text("from torch import exp\n")
    Path("course", "answers.py").write_text(
        f"from helpers_of_mine import exp\nfrom course import begin, check\nbegin('02_softmax')\n{RIGHT}"
    )
    status, out, _ = attention("check", "course/answers.py")
    assert (status, out[:26]) == (1, "☑ softmax: 7 of 7 points. ")
    assert "○ entropy: not started" in out, "begin has put a placeholder there"


def test_in_a_folder_called_course_the_learners_own_line_is_reported(attention):
    Path("course").mkdir()
    Path("course", "answers.py").write_text("def softmax(x, dim=-1):\n    return x.view(7, 7)\n")
    _, out, _ = attention("check", "course/answers.py")
    assert "line 2 of softmax: return x.view(7, 7)\n          x is (3,), float32\n" in out


def test_progress_tells_of_every_file_that_answers_something(attention):
    Path("my_answers.py").write_text(RIGHT)
    Path("notes.py").write_text("raise SystemExit('must not run')")
    status, out, err = attention("progress")
    assert (status, err) == (1, "")
    assert out.startswith("my_answers.py:\n◐ 02_softmax: 7 of 20 points\n  1 of 4 exercises")
    assert "☑ Pass: `softmax`\n  ○ Not started: `log_softmax`, " in out
    assert "notes.py" not in out


@pytest.mark.parametrize(
    ("text", "arguments", "told"),
    [
        (None, (), "my_answers.py cannot be read: No such file or directory"),
        ("def softmax(x)\n    pass", (), "my_answers.py, line 1: Python cannot read the file: expected ':'"),
        ("x = 1", (), "my_answers.py defines no function or class with the name of an exercise"),
        (RIGHT, ("--lesson", "03_queries_keys_values"), "with the name of an exercise of 03_queries_keys_values"),
        (RIGHT, ("--lesson", "softmax"), "There is no lesson 'softmax'. The lessons are 00_start, 01_dot_products"),
        (RIGHT, ("entropy",), "my_answers.py does not define entropy"),
        (RIGHT, ("sofmax",), "02_softmax has no exercise sofmax. Its exercises are softmax, log_softmax"),
    ],
)
def test_a_file_that_cannot_be_checked_is_explained_in_one_line(attention, text, arguments, told):
    if text is not None:
        Path("my_answers.py").write_text(text)
    status, out, err = attention("check", "my_answers.py", *arguments)
    assert (status, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


def notebook(*cells: str | tuple[str, dict[str, object]]) -> str:
    """A notebook with these code cells; a cell may have metadata."""
    parts = [cell if isinstance(cell, tuple) else (cell, {}) for cell in cells]
    code = [{"cell_type": "code", "metadata": about, "source": text, "outputs": []} for text, about in parts]
    prose = {"cell_type": "markdown", "metadata": {}, "source": "undefined prose"}
    return json.dumps({"cells": [prose, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_the_answers_of_a_notebook_are_checked_also_below_an_error(attention):
    cells = [
        "import torch\nfrom course import begin\nbegin('02_softmax')",
        "%matplotlib inline\nfactor = 1\n!ls\nif factor:\n    %time\ntorch.exp?",
        "x = 1\nprint(undefined)",
        "def broken(:",
        "%%answer why\nnot Python",
        f"%%time\n{RIGHT}",
        ("raise ValueError('a figure')", {"tags": ["picture"]}),
        ("raise ValueError('a check')", {"nbgrader": {"grade": True, "solution": False}}),
        "def entropy(p, dim=-1):\n    return factor * p.view(7, 7)",
    ]
    Path("mine.ipynb").write_text(notebook(*cells))
    status, out, err = attention("check", "mine.ipynb", "softmax", "entropy")
    assert (status, out[:26]) == (1, "☑ softmax: 7 of 7 points. ")
    assert "line 2 of entropy: return factor * p.view(7, 7)" in out
    first, second = err.splitlines()
    assert first.startswith("mine.ipynb, the cell that begins `x = 1`, line 2: NameError: name 'undefined' is not")
    assert second.startswith("mine.ipynb, the cell that begins `def broken(:`, line 1: Python cannot read the cell: ")


def test_what_a_notebook_prints_is_not_among_the_records(attention):
    Path("mine.ipynb").write_text(notebook("import torch\nprint('mine')", RIGHT))
    status, out, err = attention("check", "--json", "mine.ipynb")
    assert (status, err, [json.loads(line)["points"] for line in out.splitlines()]) == (0, "mine\n", [7.0])


def test_of_two_versions_in_a_notebook_it_names_the_one_that_the_grade_takes(attention):
    own = ("def softmax(x, dim=-1):\n    return x", {"nbgrader": {"grade_id": "softmax", "solution": True}})
    shown = ("check(softmax)", {"nbgrader": {"grade_id": "check_softmax", "grade": True, "solution": False}})
    Path("mine.ipynb").write_text(notebook("import torch", own, shown, RIGHT))
    _, _, err = attention("check", "mine.ipynb", "softmax")
    assert err.startswith(
        "mine.ipynb: `softmax` is defined in more than one cell. The grade takes the version in its own"
    )


@pytest.mark.parametrize("text", ["{", "[]", '{"cells": [1]}', None])
def test_a_file_that_is_no_notebook_is_explained(attention, text):
    if text is not None:
        Path("mine.ipynb").write_text(text)
    status, out, err = attention("check", "mine.ipynb")
    assert (status, out) == (2, "")
    assert err.startswith("mine.ipynb ") and "save the notebook again" in err


def test_an_empty_folder_is_explained(attention):
    assert "No Python file in this folder answers an exercise" in attention("progress")[2]


def test_answers_above_an_error_are_still_checked(attention):
    Path("my_answers.py").write_text(f"{RIGHT}\nprint(undefined)\ndef entropy(p): return 0\n")
    status, out, err = attention("check", "my_answers.py")
    assert status == 1
    assert out.startswith("☑ softmax: ")
    assert err.startswith("my_answers.py, line 6: NameError: name 'undefined' is not defined. The lines below it did")


@pytest.mark.full
def test_a_console_without_the_marks_still_tells_right_from_wrong(tmp_path):
    (tmp_path / "my_answers.py").write_text(WRONG)
    command = [sys.executable, "-c", "from course.cli import main; main(['check', '--all', 'my_answers.py'])"]
    environment = {"PYTHONIOENCODING": "cp1252", "PATH": ""}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    lines = done.stdout.decode("cp1252").splitlines()
    assert lines[0].startswith("~ softmax: 4 of 7 points")
    assert [line[:4] for line in lines if line.startswith(("  + ", "  x "))].count("  + ") >= 1
    assert any(line.startswith("  x ") for line in lines)


def fields(table: str) -> dict[str, str]:
    """The fields of a table of docs/json.md, with their types."""
    return dict(re.findall(r"^\| (\w+) \| ([a-z ]+) \|", table, re.MULTILINE)[1:])


def test_the_record_of_a_report_has_the_fields_that_the_page_gives_it(attention):
    Path("my_answers.py").write_text(
        f"import torch\n{WRONG}\ndef entropy(p, dim=-1):\n    return -(p * p.log()).sum(dim)\n"
    )
    status, out, err = attention("check", "--json", "my_answers.py")
    assert (status, err) == (1, "")
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
    report, case = page.split("\n## report\n")[1].split("\nA case (")
    types = {"number": (int, float), "text": str, "object": dict, "list of text": list, "list of objects": list}
    softmax, entropy = map(json.loads, out.splitlines())
    for record in (softmax, entropy):
        assert record.pop("record") == "report"
        assert list(record) == list(fields(report))
        assert all(isinstance(record[name], types[kind]) for name, kind in fields(report).items())
    assert (softmax["exercise"], softmax["points"], softmax["most"]) == ("softmax", 4.0, 7.0)
    cases = [softmax["example"], *(case for row in softmax["criteria"] for case in row["cases"])]
    assert len(cases) > 3
    for found in cases:
        assert list(found) == list(fields(case))
        assert all(isinstance(found[name], types[kind]) for name, kind in fields(case).items())


def test_all_cases_are_shown_on_demand(attention):
    Path("my answers.py").write_text(f"import torch\n{WRONG}")
    _, short, _ = attention("check", "my answers.py", "softmax")
    told = "All cases and requirements: attention "
    assert short.splitlines()[-1] == f"{told}check --all 'my answers.py'"
    _, whole, _ = attention(*shlex.split(short.splitlines()[-1].removeprefix(told)))
    assert "(0 of 1.25)" not in short
    assert "(0 of 1.25)" in whole
    assert whole.startswith("\n".join(short.splitlines()[:-1]))


class Watching:
    """`attention watch my_answers.py` in a process of its own, and what it prints."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [str(Path(sys.executable).with_name("attention")), "watch", *arguments]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def read_until(self, wanted: str) -> str:
        """The lines up to the one with this text."""
        lines = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            lines.append(line)
            if wanted in line:
                return "".join(lines)
        raise AssertionError(f"no line with {wanted!r} in:\n{''.join(lines)}")


@pytest.fixture
def watching(tmp_path):
    started = []

    def start(*arguments: str) -> Watching:
        started.append(Watching(tmp_path, *arguments))
        return started[-1]

    yield start
    for watch in started:
        watch.process.kill()
        watch.process.communicate()


@pytest.mark.full
def test_a_watched_file_is_checked_on_each_save(watching, tmp_path):
    file = tmp_path / "my_answers.py"
    file.write_text(f"import torch\n{WRONG}")
    watch = watching("my_answers.py", "softmax")
    shown = watch.read_until("All cases and requirements")
    assert shown.startswith("my_answers.py is checked on each save. Press Ctrl-C to stop.\n")
    assert "softmax" in shown and "☑" not in shown
    saved = tmp_path / "saved by an editor"
    saved.write_text(f"import torch\n{RIGHT}")
    saved.replace(file)
    assert "☑ softmax: 7 of 7 points" in watch.read_until("All cases and requirements")
    file.write_text("while True:\n    pass\n")
    watch.read_until(" my_answers.py\n")
    file.write_text("def softmax(x, dim=-1:\n")
    watch.read_until(": Python cannot read the file: ")
    file.write_text(f"import torch\n{RIGHT}")
    assert "☑ softmax: 7 of 7 points" in watch.read_until("All cases and requirements")
    watch.process.send_signal(signal.SIGINT)
    assert watch.process.wait() == 0


def test_a_file_to_watch_must_be_there(attention):
    status, _, err = attention("watch", "my_answers.py")
    assert (status, err) == (2, "There is no file my_answers.py. Save your answers there first.\n")
