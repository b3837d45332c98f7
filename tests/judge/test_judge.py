"""A judge for each submission, through nbgrader's own commands: what it may not do, and what becomes of a batch when
one is slow, greedy, or killed.

Some graders of this file's course look around where they run, or end there: graders are the course's own code, and run
where a submission that had taken its judge over would.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.coursedir import CourseDirectory

from grading.course import Course
from grading.errors import JudgeFailed
from grading.gradebook.grade_inputs import digest_of_file
from grading.gradebook.view import load_released
from grading.grader.verdict import ExerciseVerdict
from grading.judge.start_judge import JudgeProcess
from grading.nbgrader_plugins.execute import JudgedExecute

from ..support.course_builder import write_grader_tests
from ..support.nbgrader_runner import course_config, run_converter
from ..support.two_exercise_course import DOUBLE, GRADER_TESTS, HALVE, LESSON, submit_file, with_answers

pytestmark = pytest.mark.usefixtures("sandboxed")

PROPERTY = """
from grading.exercises.exercise import call, exercise

halve = exercise("halve", see="Halving")


@halve.oracle
def halved(x):
    return x / 2


def found(seen, exact):
    {body}


@halve.criterion("values", points=5)
def _(draw):
    yield call(draw.normal(2, 3)).check_with(found)
"""
# What it could get at is what it says is wrong; of a place that is for it, nothing
LOOK = """
    import os, socket

    def reached(what, act):
        try:
            act()
        except (OSError, RuntimeError):
            return ""
        return what

    root = {root!r}
    acts = {{
        "gradebook": lambda: open(f"{{root}}/gradebook.db", "rb"),
        "another submission": lambda: open(f"{{root}}/submitted/ben/{lesson}/{lesson}.ipynb", "rb"),
        "its own folder": lambda: os.listdir(f"{{root}}/submitted/ada"),
        "what is graded": lambda: os.listdir(f"{{root}}/autograded"),
        "the gradebook through a process": lambda: [
            open(f"/proc/{{pid}}/root{{root}}/gradebook.db", "rb") for pid in os.listdir("/proc") if pid.isdigit()
        ],
        "a file elsewhere": lambda: open({elsewhere!r}),
        "the sources, to write": lambda: open(f"{{root}}/source/found", "w"),
        "the graders, to write": lambda: open(f"{{root}}/grader_tests/found", "w"),
        "the network": lambda: socket.create_connection(("127.0.0.1", {port}), timeout=2),
    }}
    held = [os.path.realpath(f"/proc/self/fd/{{fd}}") for fd in os.listdir("/proc/self/fd")]
    places = [reached(*act) for act in acts.items()] + [place for place in held if root in place]
    secrets = ["an environment"] if {secret!r} in str(os.environ) else []
    return ", ".join(filter(None, places + secrets)) or None
"""
SLOW = "[" * 19_000  # takes a parser of Markdown seconds


@pytest.fixture
def solved(course: Any) -> dict[str, Any]:
    return with_answers(course.release, double=DOUBLE, halve=HALVE)


def judge_by(root: Path, body: str) -> None:
    """Have the property `body` judge `halve` in this course."""
    folder = root / "grader_tests" / LESSON
    shutil.rmtree(folder)
    write_grader_tests(folder, {**GRADER_TESTS, "halve": (PROPERTY.format(body=body),)})


def configure(root: Path, **settings: Any) -> None:
    """Give the course a configuration file, as a teacher's course has one."""
    text = (Path(__file__).parents[2] / "nbgrader_config.py").read_text()
    lines = [f"c.JudgedExecute.{name} = {value!r}" for name, value in settings.items()]
    (root / "nbgrader_config.py").write_text("\n".join([text, *lines, ""]))


def nbgrader(root: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start an nbgrader command in the course."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.Popen(
        ["nbgrader", *arguments],
        cwd=root,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def autograde(root: Path, *arguments: str) -> SimpleNamespace:
    """Run `nbgrader autograde`: its status, and all that it said."""
    process = nbgrader(root, "autograde", LESSON, *arguments)
    said, _ = process.communicate()
    return SimpleNamespace(status=process.returncode, said=said)


def found(root: Path, student: str) -> dict[str, ExerciseVerdict]:
    return {g.verdict.exercise: g.verdict for g in Course(root).verdicts() if g.student == student}


def saved(root: Path, student: str) -> dict[str, tuple[float | None, bool]]:
    """Of each exercise, the gradebook's score and whether it waits for a person."""
    with Gradebook(f"sqlite:///{root}/gradebook.db", "attention") as gradebook:
        grades = gradebook.find_submission_notebook(LESSON, LESSON, student).grades
        return {grade.name: (grade.auto_score, bool(grade.needs_manual_grade)) for grade in grades}


RIGHT = {"check_double": (3, False), "check_halve": (5, False)}
OPEN = {"check_double": (None, True), "check_halve": (None, True)}


# What the process that holds the gradebook opens

opened: list[str] = []


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and sys._getframe(1).f_code is not digest_of_file.__code__:  # which takes bytes for bytes
        opened.append(str(arguments[0]))


sys.addaudithook(_listen)


@pytest.mark.quick_cases("command")
@pytest.mark.parametrize("way", ["command", "formgrader"])
def test_the_coordinator_opens_no_notebook_of_a_students(course: Any, solved: Any, way: str) -> None:
    handed_in = submit_file(course.root, "ada", solved)
    opened.clear()
    if way == "command":
        run_converter(Autograde, course.root)
    else:
        config = course_config(course.root)
        answer = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config).autograde(LESSON, "ada")
        assert answer["success"], answer
    assert saved(course.root, "ada") == RIGHT
    assert not [path for path in opened if path.endswith(str(handed_in.relative_to(course.root)))]

    graded = course.root / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb"
    opened.clear()
    run_converter(GenerateFeedback, course.root)
    assert (course.root / "feedback" / "ada" / LESSON / f"{LESSON}.html").exists()
    assert not [path for path in opened if path.endswith(str(graded.relative_to(course.root)))]


@pytest.mark.full
def test_the_coordinator_brings_no_torch() -> None:
    code = (
        "import sys\nfrom grading.nbgrader_plugins import feedback_exporter, submission_exporter\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd="/", capture_output=True, text=True, check=True)
    assert "torch" not in done.stdout.split()


# What a judge reaches


@pytest.fixture
def listening() -> Iterator[int]:
    """A port on loopback at which somebody answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.quick_cases("True")
@pytest.mark.parametrize("sandboxed", [True, False])
def test_a_judge_reaches_no_gradebook_no_other_process_and_no_network(
    course: Any, solved: Any, tmp_path: Path, listening: int, sandboxed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_TEACHERS_KEY", "open-sesame")
    (elsewhere := tmp_path / "letter.txt").write_text("private")
    about = {"root": str(course.root), "lesson": LESSON, "elsewhere": str(elsewhere), "port": listening}
    judge_by(course.root, LOOK.format(**about, secret="open-sesame"))
    configure(course.root, unsandboxed=not sandboxed)
    for student in ("ada", "ben"):
        submit_file(course.root, student, solved)
    assert autograde(course.root).status == 0
    (criterion,) = found(course.root, "ada")["halve"].criteria
    if sandboxed:
        assert criterion.finding == ""
        assert saved(course.root, "ada") == RIGHT
    else:  # so that what is looked for is there to be found
        for reached in ("gradebook", "another submission", "the network", "a file elsewhere", "an environment"):
            assert reached in criterion.finding


# What a judge may use, and what becomes of the others


def long_text(solved: dict[str, Any]) -> bytes:
    """A notebook file of sixty megabytes that takes half a gigabyte to read: one letter makes all of them wide."""
    return (json.dumps(solved)[:-1] + ', "x": "' + "a" * 60_000_000 + '\N{GRINNING FACE}"}').encode()


def slow_texts(solved: dict[str, Any]) -> bytes:
    """A notebook of which reading the texts takes a quarter of a minute."""
    cells = [{"cell_type": "markdown", "metadata": {}, "source": SLOW} for _ in range(5)]
    return json.dumps({**solved, "cells": [*cells, *solved["cells"]]}).encode()


@pytest.mark.full
@pytest.mark.parametrize("unsandboxed", [False, True])
@pytest.mark.parametrize(
    ("make", "limits", "said"),
    [
        (long_text, {"memory": 300 * 2**20}, "ran out of memory"),
        (slow_texts, {"cpu_seconds": 6}, "used up its processor time"),
    ],
)
def test_a_submission_too_large_to_read_goes_to_a_person_and_the_next_is_graded(
    course: Any, solved: Any, make: Callable[[Any], bytes], limits: Any, said: str, unsandboxed: bool
) -> None:
    submit_file(course.root, "ada", make(solved))
    submit_file(course.root, "ben", solved)
    configure(course.root, judge_limits=limits, unsandboxed=unsandboxed)
    done = autograde(course.root)
    assert done.status == 0, done.said
    assert {verdict.status for verdict in found(course.root, "ada").values()} == {"needs a person"}
    assert all(said in verdict.grader_error for verdict in found(course.root, "ada").values())
    assert saved(course.root, "ada") == OPEN
    assert saved(course.root, "ben") == RIGHT


@pytest.mark.full("waits for a judge to die")
def test_what_was_judged_before_a_judge_crashed_counts(course: Any, solved: Any) -> None:
    judge_by(course.root, "import ctypes; ctypes.string_at(0)")
    submit_file(course.root, "ada", solved)
    configure(course.root)
    done = autograde(course.root)
    assert done.status == 0, done.said
    verdict = found(course.root, "ada")["halve"]
    assert verdict.status == "needs a person"
    assert verdict.grader_error == "the judge crashed: segmentation fault"
    assert saved(course.root, "ada") == {"check_double": (3, False), "check_halve": (None, True)}


@pytest.mark.full("waits for a judge to die")
def test_a_judge_that_waits_for_ever_is_ended(course: Any, solved: Any) -> None:
    judge_by(course.root, "import time; time.sleep(1e6)")
    file = submit_file(course.root, "ada", solved)
    config = course_config(course.root)
    converter = Autograde(coursedir=CourseDirectory(config=config), config=config)
    step = JudgedExecute(parent=converter.exporter_class(parent=converter, config=config))
    released = load_released(f"sqlite:///{course.root}/gradebook.db", LESSON, LESSON)
    judge = JudgeProcess(dataclasses.replace(step.job(LESSON, released), wall=10.0), file, 2**20)
    with pytest.raises(JudgeFailed, match="took longer than 10 seconds"):
        list(judge.messages())
    judge.close()


# Judges that are killed


def judges_of(command: psutil.Process) -> list[psutil.Process]:
    """The servers of a command's judges, outer and inner, and the judge, in this order."""
    every = [p for p in command.children(recursive=True) if p.name() in ("judges", "judge")]
    return sorted(every, key=lambda p: len(p.parents()))


def wait_for_judge(command: psutil.Process, without: set[int]) -> list[psutil.Process]:
    """The same, as soon as there is a judge that is none of these."""
    for _ in range(6000):
        try:
            line = judges_of(command)
            if len(line) > 2 and line[2].pid not in without:
                return line
        except psutil.NoSuchProcess:
            pass
        time.sleep(0.01)
    raise AssertionError("no judge was started")


@pytest.mark.full
@pytest.mark.parametrize("which", ["judge", "server"])
def test_a_submission_whose_judge_is_killed_is_judged_by_another(course: Any, solved: Any, which: str) -> None:
    slow = with_answers(course.release, double=f"import time\ntime.sleep(3)\n{DOUBLE}", halve=HALVE)
    for student in ("ada", "ben", "cleo"):
        submit_file(course.root, student, slow)
    configure(course.root)
    process = nbgrader(course.root, "autograde", LESSON)
    command = psutil.Process(process.pid)
    first = wait_for_judge(command, set())[2].pid
    _, inner, judge = wait_for_judge(command, {first})
    wait = random.uniform(0, 2.5)
    time.sleep(wait)
    (judge if which == "judge" else inner).send_signal(signal.SIGKILL)
    said, _ = process.communicate()
    assert process.returncode == 0, (wait, said)
    assert re.search("its judge was .*: begun again", said), (wait, said)
    for student in ("ada", "ben", "cleo"):
        assert saved(course.root, student) == RIGHT
        assert {verdict.status for verdict in found(course.root, student).values()} == {"right"}


@pytest.mark.full("waits for a judge to die")
def test_a_submission_whose_judges_are_all_lost_is_not_graded_and_the_next_is(course: Any, solved: Any) -> None:
    """The judge of `halve` is killed, as by the system where memory is short, each time that it comes to ben."""
    mark = course.root / "release" / LESSON / "here"  # which a judge may read
    judge_by(course.root, f"import os, signal; os.path.exists({str(mark)!r}) and os.kill(os.getpid(), signal.SIGKILL)")
    configure(course.root)
    submit_file(course.root, "ada", solved)
    assert autograde(course.root).status == 0
    submit_file(course.root, "ben", solved)
    mark.touch()
    done = autograde(course.root, "--student", "ben")
    assert done.status != 0
    assert done.said.count("begun again") == 2
    assert "SubmissionNotGraded: its judge was killed from outside" in done.said
    assert not (course.root / "autograded" / "ben" / LESSON).exists()
    assert {score for score, _ in saved(course.root, "ben").values()} == {None}
    assert found(course.root, "ben") == {}
    mark.unlink()
    assert autograde(course.root).status == 0
    assert saved(course.root, "ada") == saved(course.root, "ben") == RIGHT


@pytest.mark.full("waits for a judge to die")
def test_judges_end_with_the_command_however_that_ends(course: Any, solved: Any) -> None:
    submit_file(course.root, "ada", with_answers(course.release, double=f"while True: pass\n{DOUBLE}", halve=HALVE))
    configure(course.root)
    process = nbgrader(course.root, "autograde", LESSON)
    command = psutil.Process(process.pid)
    wait_for_judge(command, set())
    time.sleep(1)
    family = command.children(recursive=True)
    assert len(family) > 3
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(family)
    assert not alive
