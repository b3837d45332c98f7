"""Completion in real shells: the result of a Tab after a word.

Each shell gets the lines that `grading completion` prints. Without the shell, or argcomplete, its test is skipped.
"""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from ..support.course_builder import TINY_LESSONS, build_course
from ..support.repository import ROOT

pytest.importorskip("argcomplete")
ONE, TWO = TINY_LESSONS
WITHIN = 60.0  # seconds for a Tab, on a machine that does much else
CASES = [  # typed text, and what is completed or offered
    ("grading verif", ["verify-grades"]),
    ("grading grade 0", [ONE, TWO]),
    ("grading feedback-zip 01", [ONE]),
    (f"grading regrade {ONE} --stud", ["--students"]),
    (f"grading regrade {ONE} --students ", ["ada", "bob", "zoë_özil"]),
    (f"grading excuse {ONE} b", ["bob"]),
]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of two lessons.

    bob has handed in, ada is only in the gradebook, and Zoë's id is not ASCII.
    """
    root = build_course(tmp_path_factory.mktemp("completion") / "course")
    for student in ("bob", "zoë_özil"):
        (root / "submitted" / student / ONE).mkdir(parents=True)
    with Gradebook(f"sqlite:///{root}/gradebook.db", "attention") as gradebook:
        gradebook.add_student("ada")
    return root


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment with this checkout's `grading` and a terminal without colors."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "grading"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m grading "$@"\n')
    program.chmod(0o755)
    found = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return found | {"TERM": "dumb", "LC_ALL": "C.UTF-8", "HOME": str(folder), "COLUMNS": "200"}


def lines_of(shell: str, environment: dict[str, str]) -> str:
    done = subprocess.run(["grading", "completion", shell], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def typed(shell: list[str], setup: Path, line: str, course: Path, environment: dict[str, str], tabs: str) -> str:
    """The output of an interactive shell after its setup, the typed line and Tab."""
    process, terminal = pty.fork()
    if not process:
        os.chdir(course)
        os.execvpe(shell[0], shell, environment)
    try:
        os.write(terminal, f"PS1='ready> '; source {setup}; echo se''t\n".encode())
        _read(terminal, r"\nset\s")
        os.write(terminal, f"{line}{tabs}".encode())
        return _read(terminal, None)
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)


def _read(terminal: int, until: str | None) -> str:
    """Read until the pattern appears or, without one, until the output pauses."""
    text, end, quiet = "", time.monotonic() + WITHIN, 5.0
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], quiet)
        if not ready and until is None:
            return text
        text += os.read(terminal, 65536).decode(errors="replace") if ready else ""
        if until is not None and re.search(until, text):
            return text
    return text


@pytest.mark.parametrize(("line", "wanted"), CASES)
def test_fish_completes(course, environment, line, wanted):
    if shutil.which("fish") is None:
        pytest.skip("there is no fish here")
    script = f"{lines_of('fish', environment)}\ncomplete -C {line!r}"
    done = subprocess.run(["fish", "-c", script], cwd=course, env=environment, capture_output=True, text=True)
    assert [offer.split("\t")[0].strip() for offer in done.stdout.splitlines()] == wanted, done.stderr


@pytest.mark.full
@pytest.mark.parametrize(("line", "wanted"), CASES)
def test_bash_completes(course, environment, tmp_path, line, wanted):
    if shutil.which("bash") is None:
        pytest.skip("there is no bash here")
    setup = tmp_path / "setup"
    setup.write_text(lines_of("bash", environment))
    shown = typed(["bash", "--norc", "--noprofile", "-i"], setup, line, course, environment, "\t\t")
    assert not [name for name in wanted if name not in shown], shown


@pytest.mark.full("starts an interactive zsh for each case")
@pytest.mark.parametrize(("line", "wanted"), CASES)
def test_zsh_completes(course, environment, tmp_path, line, wanted):
    if shutil.which("zsh") is None:
        pytest.skip("there is no zsh here")
    setup = tmp_path / "setup"
    setup.write_text(lines_of("zsh", environment))
    shown = typed(["zsh", "-f", "-i"], setup, line, course, environment | {"TERM": "xterm"}, "\t\t")
    assert not [name for name in wanted if name not in shown], shown


def test_completing_imports_nothing_slow_and_needs_no_course(tmp_path, environment):
    code = (
        "import sys\nfrom grading.cli import completion, main\n"
        "parser = main.make_parser()\n"
        "try: completion.students(parser.parse_args(['report', '--course', sys.argv[1]]))\n"
        "finally: print(*{name.split('.')[0] for name in sys.modules})"
    )
    root = build_course(tmp_path / "course")
    done = subprocess.run([sys.executable, "-c", code, str(root)], env=environment, capture_output=True, text=True)
    assert not {"torch", "nbgrader", "sqlalchemy", "rich", "nbformat"} & set(done.stdout.split()), done.stderr
    asked = environment | {"_ARGCOMPLETE": "1", "COMP_LINE": "grading grade 0", "COMP_POINT": "15"}
    outside = subprocess.run(["grading"], cwd=tmp_path, env=asked, capture_output=True, text=True)
    assert "Traceback" not in outside.stderr


def test_without_argcomplete_a_tab_prints_nothing(environment, tmp_path):
    (tmp_path / "argcomplete.py").write_text("raise ImportError('not here')\n")
    without = environment | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    tab = without | {"_ARGCOMPLETE": "1", "COMP_LINE": "grading gr", "COMP_POINT": "10"}
    done = subprocess.run(["grading"], env=tab, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
