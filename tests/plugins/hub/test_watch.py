"""`grading watch`: what students hand in through nbgrader's exchange is graded, and they can fetch the feedback."""

from __future__ import annotations

import errno
import json
import os
import pwd
import re
import shutil
import signal
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grading.authoring.check_data import export_lesson
from grading.cli import main
from grading.coordinator.grade_class import grade_class
from grading.course import Course
from grading.errors import CannotWrite, ConfigFileError
from grading.gradebook.lock import exclusive
from grading.gradebook.store import times_of_grades
from grading.plugins.hub.exchange import CourseExchange
from grading.plugins.hub.exchange_collect import SECRET
from grading.plugins.hub.release_feedback import ReleaseFeedback
from grading.plugins.hub.watch import Watch
from grading.plugins.hub.watch_state import FILE, in_seconds

from ...support import by_hand_lesson
from ...support.class_helpers import RecordingConsole, start_command
from ...support.course_builder import TINY_LESSONS, add_config, solved_notebook
from ...support.exchange import Exchange
from ...support.learner_kernel import running_kernel

ONE, _ = TINY_LESSONS
SQUARE = "def double(x):\n    return x * x"


@pytest.fixture
def exchange(course, tmp_path, sandboxed):
    """The exchange of a course with two tiny lessons, one of which is released there."""
    return Exchange(course, tmp_path).open([ONE])


def watch_once(root: Path, capsys: pytest.CaptureFixture[str], *names: str) -> tuple[bool, str]:
    """One `grading watch --once`: whether nothing failed, and its log, which must not have any of these names."""
    fine = Watch(root, every=0.1).run(once=True)
    said = capsys.readouterr().out
    for name in names:
        assert name not in said + (root / FILE).read_text()
    return fine, said


def state(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / FILE).read_text())
    return found


def times_of(root: Path) -> dict[tuple[str, str], datetime]:
    with Course(root).gradebook() as gradebook:
        return times_of_grades(gradebook)


def test_submissions_are_graded_and_their_feedback_is_fetched(course, exchange, capsys):
    exchange.submit("ada", ONE, solved_notebook(course, ONE))
    exchange.submit("bob", ONE, solved_notebook(course, ONE, double=SQUARE))
    fine, said = watch_once(course, capsys, "ada", "bob", "square")
    assert fine
    assert Course(course).scores() == {("ada", ONE): (5, 5), ("bob", ONE): (0, 5)}
    assert "<b>5</b> of 5 points" in exchange.fetched("ada", ONE)[0]
    assert "<b>0</b> of 5 points" in exchange.fetched("bob", ONE)[0]
    assert f"{ONE}: feedback for 2 of 2 submissions" in said
    assert state(course)["waiting"] == 0
    assert state(course)["released"] == state(course)["waited_seconds"]["submissions"] == 2
    before = times_of(course)
    assert "feedback for" not in watch_once(course, capsys)[1]
    assert times_of(course) == before


@pytest.mark.full
def test_what_hand_in_submits_from_a_notebook_is_graded(course, exchange, capsys, tmp_path):
    exchange.set_up("ada", tmp_path / "settings")
    folder = exchange.fetch("ada", ONE)
    nbformat.write(solved_notebook(course, ONE), folder / f"{ONE}.ipynb")
    for name, content in export_lesson(course / "grader_tests" / ONE).items():  # the package has no tiny lessons
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    with running_kernel(folder) as kernel:
        kernel.run(f"import os\nos.environ['JUPYTER_CONFIG_DIR'] = {str(tmp_path / 'settings')!r}")
        shown = kernel.run(f"import course\ncourse.begin({ONE!r})\ncourse.hand_in()")
    assert shown.error is None
    assert f"**Submitted** to the course {exchange.course} at " in shown.markdown
    assert watch_once(course, capsys, "ada")[0]
    assert Course(course).scores() == {("ada", ONE): (5, 5)}
    assert "<b>5</b> of 5 points" in exchange.fetched("ada", ONE)[0]


@pytest.mark.quick_cases("the same")
@pytest.mark.parametrize(
    ("answer", "points"), [("def double(x):\n    return x + x", 5), (SQUARE, 0)], ids=["another", "the same"]
)
def test_a_second_submission_replaces_the_first_and_has_its_own_feedback(course, exchange, capsys, answer, points):
    exchange.submit("ada", ONE, solved_notebook(course, ONE, double=SQUARE))
    assert watch_once(course, capsys)[0]
    exchange.submit("ada", ONE, solved_notebook(course, ONE, double=answer))
    assert watch_once(course, capsys)[0]
    assert Course(course).scores() == {("ada", ONE): (points, 5)}
    first, second = exchange.fetched("ada", ONE)
    assert "<b>0</b> of 5 points" in first
    assert f"<b>{points}</b> of 5 points" in second


def test_a_grade_whose_feedback_was_not_released_is_released_and_not_made_again(course, exchange, capsys):
    folder = exchange.submit("ada", ONE, solved_notebook(course, ONE))
    shutil.copytree(folder, course / "submitted" / "ada" / ONE)
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    before = times_of(course)
    assert watch_once(course, capsys)[0]
    (page,) = exchange.feedback.glob("*.html")
    os.utime(page, (1, 1))  # as if a teacher had graded again since
    assert "feedback for 1 of 1 submission" in watch_once(course, capsys)[1]
    assert page.stat().st_mtime > 1
    assert times_of(course) == before


def test_feedback_is_released_once_where_the_exchanges_clock_is_behind(course, exchange, capsys, monkeypatch):
    copy_files, calls = ReleaseFeedback.copy_files, list[Path]()

    def copied_to_a_slow_clock(release: ReleaseFeedback) -> None:
        copy_files(release)
        calls.extend(exchange.feedback.glob("*.html"))
        assert len(calls) < 4
        os.utime(calls[-1], (calls[-1].stat().st_mtime - 3600,) * 2)

    monkeypatch.setattr(ReleaseFeedback, "copy_files", copied_to_a_slow_clock)
    exchange.submit("ada", ONE, solved_notebook(course, ONE))
    assert watch_once(course, capsys)[0]
    assert len(calls) == 1
    assert not grade_class(Course(course), [ONE], RecordingConsole(), again=True).failed
    assert watch_once(course, capsys)[0]
    assert len(calls) == 2


@pytest.mark.full
def test_automatic_points_are_released_and_the_page_says_what_is_open(tmp_path, sandboxed, capsys):
    root = by_hand_lesson.course_by_hand(tmp_path / "course")
    exchange = Exchange(root, tmp_path).open([ONE])
    exchange.submit("ada", ONE, solved_notebook(root, ONE))
    assert watch_once(root, capsys)[0]
    (page,) = exchange.fetched("ada", ONE)
    assert "<b>5</b> of 15 points" in page
    assert "a person still has to grade" in page


def test_only_complete_submissions_of_ordinary_files_are_collected(course, exchange, capsys):
    """A notebook that is a link, a submission that is a link, one that is still being written."""
    exchange.submit("ada", ONE, solved_notebook(course, ONE))
    linked = exchange.submit("gus", ONE, solved_notebook(course, ONE))
    (linked / f"{ONE}.ipynb").unlink()
    (linked / f"{ONE}.ipynb").symlink_to(course / "source" / ONE / f"{ONE}.ipynb")
    (exchange.inbound / f"ivy+{ONE}+2026-11-20 10:00:00.0 UTC+x").symlink_to(linked)
    half = exchange.submit("hal", ONE, solved_notebook(course, ONE))
    secret = (half / SECRET).read_text()
    (half / SECRET).unlink()
    fine, said = watch_once(course, capsys, "ada", "gus", "hal", "ivy")
    assert not fine
    assert Course(course).scores() == {("ada", ONE): (5, 5)}
    assert sorted(path.name for path in (course / "submitted").iterdir()) == ["ada", "gus"]
    assert not list((course / "submitted" / "gus").rglob("*.ipynb"))
    what = "not graded: no file counts as the notebook; the student's feedback page asks"
    link = f"not collected: run `nbgrader collect {ONE} --update` to see why"
    assert {error["what"]: error["submissions"] for error in state(course)["errors"]} == {what: 1, link: 1}
    assert f"1 submission {what}" in said and f"1 submission {link}" in said
    (half / SECRET).write_text(secret)
    watch_once(course, capsys)
    assert Course(course).scores() == {("ada", ONE): (5, 5), ("hal", ONE): (5, 5)}


def test_a_submission_under_a_name_that_is_not_its_owners_is_left_to_the_teacher(course, tmp_path, sandboxed, capsys):
    exchange = Exchange(course, tmp_path).open([ONE], check_owner=True)
    me = pwd.getpwuid(os.getuid()).pw_name
    exchange.submit("eve", ONE, solved_notebook(course, ONE))
    exchange.submit(me, ONE, solved_notebook(course, ONE))
    assert not watch_once(course, capsys, "eve")[0]
    assert Course(course).scores() == {(me, ONE): (5, 5)}
    what = f"not collected: run `nbgrader collect {ONE} --update` to see why"
    assert [(error["what"], error["submissions"]) for error in state(course)["errors"]] == [(what, 1)]


def test_an_error_of_ours_is_reported_and_tried_again(course, exchange, capsys):
    source = course / "source" / f"{ONE}.py"
    text = source.read_text()
    source.write_text(text.replace('"points": 5', '"points": 4'))
    exchange.submit("ada", ONE, solved_notebook(course, ONE))
    assert not watch_once(course, capsys, "ada")[0]
    (error,) = state(course)["errors"]
    assert "double has 4 points in" in error["what"]
    source.write_text(text)
    with (course / "nbgrader_config.py").open("a") as config:
        config.write("1 / 0\n")
    watch = Watch(course, every=0.1)
    with pytest.raises(ConfigFileError):
        watch.run(once=True)
    lines = (course / "nbgrader_config.py").read_text().removesuffix("1 / 0\n")
    (course / "nbgrader_config.py").write_text(lines)
    assert watch.run(once=True)
    assert Course(course).scores() == {("ada", ONE): (5, 5)}


def test_after_errors_it_waits_twice_as_long_each_time_up_to_five_minutes(course, exchange, monkeypatch, capsys):
    def full(*_: object, **__: object) -> None:
        raise CannotWrite("of ada") from OSError(errno.ENOSPC, "No space left on device", "autograded/ada")

    monkeypatch.setattr("grading.plugins.hub.watch.grade_class", full)
    exchange.submit("ada", ONE, solved_notebook(course, ONE))
    watch, waits = Watch(course, every=5), []
    for _ in range(8):
        assert not watch.run(once=True)
        said = capsys.readouterr().out
        assert "ada" not in said
        waits += [int(found[1]) for found in re.finditer(r"next try in (\d+) s: No space left on device", said)]
        watch.retry_now()
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300]


@pytest.mark.full
def test_it_waits_while_another_command_has_the_course_and_says_so(course, exchange, capsys):
    exchange.submit("ada", ONE, solved_notebook(course, ONE))
    with exclusive(course):
        process = start_command(course, "watch", "--once", "--every", "0.1")
        assert process.stdout
        said = [process.stdout.readline() for _ in range(2)]
        assert not Course(course).scores()
    rest, _ = process.communicate()
    assert process.returncode == 0, rest
    assert "waiting for another command" in said[1]
    assert f"(process {os.getpid()})" in said[1]
    assert Course(course).scores() == {("ada", ONE): (5, 5)}


@pytest.mark.quick_cases("2")
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_and_its_state_says_whether_it_runs(course, exchange, capsys, monkeypatch, by):
    monkeypatch.chdir(course)
    process = start_command(course, "watch", "--every", "0.1")
    assert process.stdout
    assert "watching" in process.stdout.readline()
    assert main.main(["watch", "--status"]) == 0
    assert json.loads(capsys.readouterr().out)["running"]
    assert main.main(["watch"]) == 2
    assert "is already being watched" in capsys.readouterr().err
    process.send_signal(by)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert said.endswith("stopped\n")
    assert main.main(["watch", "--status"]) == 2
    shown = json.loads(capsys.readouterr().out)
    assert (shown["running"], shown["doing"], shown["pid"]) == (False, "stopped", process.pid)


def test_a_course_without_an_exchange_is_an_error_that_says_what_to_set(course, monkeypatch, capsys):
    monkeypatch.chdir(course)
    add_config(course, "c.Exchange.root = '/nowhere'")
    assert main.main(["watch"]) == 2
    assert "nbgrader's exchange, /nowhere, does not exist. Set c.Exchange.root" in capsys.readouterr().err
    add_config(course, "c.ExchangeFactory.collect = 'nbgrader.exchange.default.ExchangeCollect'")
    assert main.main(["watch"]) == 2
    said = capsys.readouterr().err
    assert "got nbgrader.exchange.default.collect.ExchangeCollect" in said
    line = re.search(r"Set (c\.ExchangeFactory\.collect = .*) in nbgrader_config\.py", said)
    assert line
    add_config(course, line[1])
    add_config(course, "c.Exchange.root = '/'\nc.CourseDirectory.course_id = ''")
    assert main.main(["watch"]) == 2
    assert "the course has no id in the exchange. Set c.CourseDirectory.course_id" in capsys.readouterr().err
    add_config(course, "c.CourseDirectory.course_id = 'one'")
    assert CourseExchange(Course(course)).place == Path("/one")


def test_waiting_times_are_summed_up():
    assert in_seconds([]) == {}
    assert in_seconds([3.0]) == {"submissions": 1, "median": 3.0, "p95": 3.0, "longest": 3.0}
    assert in_seconds(range(101)) == {"submissions": 101, "median": 50.0, "p95": 95.0, "longest": 100}
