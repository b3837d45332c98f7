"""A Dask cluster on loopback gives the same grades as this machine.

This is true even if parts of the cluster are lost.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask.config
import psutil
import pytest
from nbgrader.api import Gradebook

from grading.coordinator.demo_class import hand_in
from grading.coordinator.grade_class import grade_class
from grading.course import Course
from grading.errors import ClusterLost
from grading.gradebook.store import stored_grades
from grading.plugins.cluster import cluster_bundle
from grading.plugins.cluster.cluster import is_private
from grading.plugins.hub.watch import Watch

from ...support.class_helpers import (
    SLOW_ANSWER,
    RecordingConsole,
    gradebook_url,
    grading_results,
    set_deadline,
    start_command,
)
from ...support.course_builder import TINY_LESSONS, build_course, solved_notebook
from ...support.dask_cluster import DaskCluster, certificates
from ...support.exchange import Exchange

ONE, TWO = TINY_LESSONS
PEEK = "import os\nprint('found', [place for place, folders, _ in os.walk('/') if 'grader_tests' in folders])"
ALLOWED = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}


@pytest.fixture(scope="module")
def coordinator(sandboxed: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the courses, out of the workers' sight."""
    return tmp_path_factory.mktemp("coordinator")


@pytest.fixture(scope="module")
def released(coordinator: Path) -> Path:
    return build_course(coordinator / "released", release=True)


@pytest.fixture
def course(released: Path, coordinator: Path, tmp_path: Path) -> Path:
    return shutil.copytree(released, coordinator / tmp_path.name / "course")


@pytest.fixture(scope="module")
def running(coordinator: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    with DaskCluster(tmp_path_factory.mktemp("cluster"), hidden=coordinator, environ=ALLOWED) as made:
        made.add_worker()
        yield made


def by(cluster: DaskCluster, root: Path) -> subprocess.Popen[str]:
    return start_command(root, "grade", "--scheduler", cluster.address)


def until(done: Callable[[], Any], process: subprocess.Popen[str]) -> None:
    """Wait until a condition is true, at most until this process ends."""
    while not done():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)


def slow_class(root: Path, number: int) -> None:
    for one in range(number):
        hand_in(root, ONE, f"student-{one}", solved_notebook(root, ONE, double=SLOW_ANSWER))


def graded_at(root: Path) -> dict[str, Any]:
    with Gradebook(gradebook_url(root), "attention") as gradebook:
        return {one.student: one.graded_at for one in stored_grades(gradebook)}


@pytest.mark.full
def test_a_cluster_and_this_machine_make_the_same_grades_and_files(running, course):
    answers = {
        "right": {},
        "wrong": {"double": "def double(x):\n    return x * x"},
        "broken": {"double": "def double(x):\n    return ("},
        "loud": {"double": "print('\\n'.join(map(str, range(2000))))\ndef double(x):\n    return 2 * x"},
        "peeks": {"double": f"{PEEK}\ndef double(x):\n    return 2 * x"},
        "reads": {"double": "print(open('table.txt').read())\ndef double(x):\n    return 2 * x"},
    }
    (course / "release" / ONE / "table.txt").write_text("what lies beside the release")
    for student, given in answers.items():
        hand_in(course, ONE, student, solved_notebook(course, ONE, **given))
        (course / "submitted" / student / ONE / "timestamp.txt").write_text("2026-03-01 12:00:00 UTC")
        (course / "submitted" / student / ONE / "notes.txt").write_text("mine")
    hand_in(course, TWO, "right", solved_notebook(course, TWO))
    (course / "submitted" / "right" / TWO / "timestamp.txt").write_text("2026-02-01 12:00:00 UTC")
    for student in ("cut", "folder", "link", "large", "lost"):
        (course / "submitted" / student / ONE).mkdir(parents=True)
    place = {
        one: course / "submitted" / one / ONE / f"{ONE}.ipynb" for one in ("cut", "folder", "link", "large", "lost")
    }
    place["cut"].write_text("{" * 10)
    place["folder"].mkdir()
    place["link"].symlink_to(course / "submitted" / "right" / ONE / f"{ONE}.ipynb")
    place["large"].write_bytes(b" " * 2**21)
    place["lost"].symlink_to(course / "nowhere")
    set_deadline(course, "2026-02-28")
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text() + "\nc.SubmissionExporter.max_bytes = 2**20\n")
    other = shutil.copytree(course, course.parent / "other", symlinks=True)
    for root in (course, other):  # a copied link keeps its target
        link = root / "submitted" / "link" / ONE / f"{ONE}.ipynb"
        link.unlink()
        link.symlink_to(root / "submitted" / "right" / ONE / f"{ONE}.ipynb")

    console = RecordingConsole()
    assert grade_class(Course(course), [], console, scheduler=running.address).failed.keys() == {(ONE, "folder")}, (
        console.text
    )
    assert grade_class(Course(other), [], RecordingConsole()).failed.keys() == {(ONE, "folder")}
    assert grading_results(course) == grading_results(other)
    assert Course(course).scores()["right", TWO] == (5, 5)
    assert "what lies beside the release" in (course / "autograded" / "reads" / ONE / f"{ONE}.ipynb").read_text()
    assert "found []" in (course / "autograded" / "peeks" / ONE / f"{ONE}.ipynb").read_text()
    assert {student for student, _, _ in Course(course).needs_manual_grading()} == {"cut", "link", "large", "lost"}
    again = grade_class(Course(other), [], RecordingConsole(), scheduler=running.address)
    assert not again.graded and len(again.up_to_date) == 11


@pytest.mark.full("watches for ten seconds or more on a Dask cluster")
def test_watch_grades_on_a_cluster_and_tries_again_when_there_is_none(running, course, tmp_path, monkeypatch, capsys):
    def refuse(*_: object) -> None:
        raise AssertionError("graded on this machine")

    for name in ("plugins.hub.watch.require", "coordinator.grade_class.threads"):
        monkeypatch.setattr(f"grading.{name}", refuse)
    exchange = Exchange(course, tmp_path).open([ONE])
    exchange.submit("ada", ONE, solved_notebook(course, ONE))
    exchange.submit("bob", ONE, solved_notebook(course, ONE, double="def double(x):\n    return x * x"))
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        assert not Watch(course, every=0.1, scheduler="tcp://127.0.0.1:1").run(once=True)
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in capsys.readouterr().out and not Course(course).scores()
    assert Watch(course, every=0.1, scheduler=running.address).run(once=True), capsys.readouterr().out
    assert Course(course).scores() == {("ada", ONE): (5, 5), ("bob", ONE): (0, 5)}
    assert "<b>0</b> of 5 points" in exchange.fetched("bob", ONE)[0]


@pytest.mark.full("grades for ten seconds or more on a Dask cluster")
def test_two_courses_graded_at_once_use_their_own_graders(running, course, coordinator):
    other = shutil.copytree(course, course.parent / "other")
    contract = other / "grader_tests" / ONE / "double" / "contract.py"
    contract.write_text(contract.read_text().replace("return (2 * x)", "return x + 3"))
    for root in (course, other):
        for student in ("ada", "bob", "cem"):
            hand_in(root, ONE, student, solved_notebook(root, ONE))
    both = [by(running, root) for root in (course, other)]
    said = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert set(Course(course).scores().values()) == {(5, 5)}
    assert all(points < 5 for points, _ in Course(other).scores().values()) and len(Course(other).scores()) == 3


@pytest.mark.full("grades for ten seconds or more on a Dask cluster")
def test_graders_that_change_during_grading_are_sent_again(running, course):
    hand_in(course, ONE, "ada", solved_notebook(course, ONE))
    assert not grade_class(Course(course), [ONE], RecordingConsole(), scheduler=running.address).failed
    contract = course / "grader_tests" / ONE / "double" / "contract.py"
    contract.write_text(contract.read_text().replace("return (2 * x)", "return x * x"))
    outcome = grade_class(Course(course), [ONE], RecordingConsole(), scheduler=running.address)
    assert outcome.graded == {(ONE, "ada"): ["the graders changed"]}
    assert Course(course).scores()["ada", ONE][0] < 5


@pytest.mark.full("grades for ten seconds or more on a Dask cluster")
def test_another_worker_takes_over_the_submissions_of_a_lost_one(running, course):
    slow_class(course, 6)
    process = by(running, course)
    until(lambda: Course(course).scores(), process)
    before = graded_at(course)
    running.worker_process().kill()
    said, _ = process.communicate()
    assert process.returncode == 0, said + running.said()
    assert set(Course(course).scores().values()) == {(5, 5)} and len(Course(course).scores()) == 6
    assert before.items() <= graded_at(course).items()


@pytest.mark.full("grades for ten seconds or more on a Dask cluster")
def test_a_submission_that_lost_all_its_workers_is_not_graded_with_the_reason(running, course):
    slow_class(course, 1)
    process = by(running, course)
    killed = set[int]()
    while process.poll() is None:
        worker = running.worker_process()
        if worker.pid not in killed and _is_grading(worker):
            killed.add(worker.pid)
            worker.kill()
        time.sleep(0.05)
    said, _ = process.communicate()
    assert process.returncode == 2
    assert f"✗ {ONE}, student-0: not graded: its worker was lost 2 times; the last one was tcp://" in said
    assert "Traceback" not in said and not Course(course).scores()
    assert not grade_class(Course(course), [ONE], RecordingConsole(), scheduler=running.address).failed
    assert len(Course(course).scores()) == 1


def _is_grading(worker: psutil.Process) -> bool:
    """Whether a judge runs below this process."""
    try:
        return any(process.name() == "judge" for process in worker.children(recursive=True))
    except psutil.Error:
        return False


@pytest.mark.full("grades for ten seconds or more on a Dask cluster")
def test_grading_stopped_on_a_cluster_keeps_its_grades_and_continues(running, course):
    slow_class(course, 6)
    process = by(running, course)
    until(lambda: Course(course).scores(), process)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate()
    assert process.returncode == 130
    assert re.search(r"grading: stopped\. \d of 6 submissions are graded and kept; run the same command again", said)
    assert "Traceback" not in said
    before = graded_at(course)
    assert 0 < len(before) < 6
    outcome = grade_class(Course(course), [ONE], RecordingConsole(), scheduler=running.address)
    assert (len(outcome.up_to_date), len(outcome.graded)) == (len(before), 6 - len(before))
    assert before.items() <= graded_at(course).items()


@pytest.mark.full("starts a cluster")
def test_a_worker_with_another_version_is_refused_in_one_sentence(running, course, monkeypatch):
    hand_in(course, ONE, "ada", solved_notebook(course, ONE))
    here = cluster_bundle.versions()
    monkeypatch.setattr(cluster_bundle, "versions", lambda: here | {"torch": "2.0.0"})
    with pytest.raises(
        ClusterLost, match=rf"the worker tcp://\S+ has torch {re.escape(here['torch'])} instead of 2\.0\.0, so "
    ):
        grade_class(Course(course), [ONE], RecordingConsole(), scheduler=running.address)
    assert not Course(course).scores()


def test_only_encrypted_or_local_addresses_are_private():
    assert not is_private("tcp://192.0.2.1:8786") and not is_private("tcp://scheduler.example.org:8786")
    assert is_private("tcp://127.0.0.1:8786") and is_private("tcp://[::1]:8786") and is_private("tls://192.0.2.1:8786")


@pytest.mark.full
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "spam://127.0.0.1:1"])
def test_a_scheduler_that_does_not_answer_gives_a_one_sentence_error(course, address, monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
    hand_in(course, ONE, "ada", solved_notebook(course, ONE))
    process = start_command(course, "grade", "--scheduler", address)
    said, _ = process.communicate()
    assert process.returncode == 2
    assert f"grading: no Dask scheduler answers at {address}: " in said
    assert "Traceback" not in said and not Course(course).scores()


@pytest.mark.full("grades for ten seconds or more on a Dask cluster")
def test_a_cluster_with_certificates_accepts_their_holders_and_its_loss_is_reported(
    course, coordinator, tmp_path, monkeypatch
):
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make certificates")
    slow_class(course, 6)
    with DaskCluster(tmp_path / "cluster", hidden=coordinator, environ=certificates(tmp_path / "ours")) as cluster:
        assert cluster.address.startswith("tls://")
        for name, value in certificates(tmp_path / "strangers").items():
            monkeypatch.setenv(name, value)
        process = by(cluster, course)
        said, _ = process.communicate()
        assert process.returncode == 2 and not Course(course).scores()
        assert f"grading: no Dask scheduler answers at {cluster.address}: " in said
        assert "Traceback" not in said

        for name, value in cluster.environ.items():
            monkeypatch.setenv(name, value)
        process = by(cluster, course)
        assert process.stdout is not None
        assert any(f"No worker has joined the cluster at {cluster.address}" in line for line in process.stdout)
        cluster.add_worker()
        until(lambda: Course(course).scores(), process)
        cluster.scheduler.kill()
        said, _ = process.communicate()
    assert process.returncode == 2
    before = graded_at(course)
    assert f"grading: the cluster at {cluster.address} cannot continue: " in said
    assert f"{len(before)} grades are written and kept; the next run grades the others" in said
    assert "Traceback" not in said
    assert len(before) == len(list((course / "autograded").glob("*/*/*.ipynb")))
    outcome = grade_class(Course(course), [ONE], RecordingConsole())
    assert (len(outcome.up_to_date), len(outcome.graded)) == (len(before), 6 - len(before))
    assert before.items() <= graded_at(course).items()
