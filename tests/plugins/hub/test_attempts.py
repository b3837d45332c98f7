"""Limits of attempts: what is over them waits, with a reason for the student, and is graded as soon as they allow."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.utils import notebook_hash

from grading.coordinator.grade_class import grade_class
from grading.coordinator.reopen import reopen
from grading.coordinator.restore import restore
from grading.course import Course
from grading.course_dir.course_file import load_course_file
from grading.plugins.hub import watch
from grading.plugins.hub.attempts import FILE, AttemptLimits
from grading.plugins.hub.exchange import CourseExchange, ExchangeSubmission
from grading.plugins.hub.exchange_collect import read_secret
from grading.plugins.hub.settings import Attempts, in_words
from grading.plugins.hub.watch import Watch
from grading.plugins.people.personal_files import find_files, remove_files
from grading.safe_console import SafeConsole

from ...support.by_hand_lesson import (
    ANSWER,
    CODE,
    LESSON,
    TASK,
    WHY,
    course_by_hand,
    grade_by_hand,
    notebook_by_hand,
    open_book,
    open_cells,
    review_by_hand,
)
from ...support.course_builder import TINY_LESSONS, solved_notebook
from ...support.exchange import Exchange

ONE, TWO = TINY_LESSONS
NOW = datetime.now(UTC)


def submission(page: str, student: str = "ada", lesson: str = ONE) -> ExchangeSubmission:
    return ExchangeSubmission(lesson, student, Path(page), NOW.replace(tzinfo=None), Path("feedback") / page)


def graded(root: Path, *ago: timedelta) -> None:
    """Have ada's submissions of the first lesson graded so long ago."""
    lines = [f"ada,{ONE},{number}.html,{(NOW - time).isoformat()}\n" for number, time in enumerate(ago)]
    (root / FILE).write_text("".join(lines))


def limit(root: Path, text: str) -> None:
    (root / "course.toml").write_text(text)


@pytest.mark.parametrize(
    ("limits", "minutes", "waits"),
    [
        ("per_hour = 2", [50], None),
        ("per_hour = 2", [90, 70, 10], None),
        ("per_hour = 2", [50, 10], 10),
        ("per_hour = 2", [50, 40, 10], 20),  # the limit was less strict before
        ("per_day = 2", [23 * 60, 10], 60),
        ("per_day = 2", [25 * 60, 10], None),
        ("per_hour = 1\nper_day = 2", [23 * 60, 30], 60),
        ("per_hour = 1\nper_day = 2", [23 * 60 + 50, 10], 50),
        ("per_hour = 0", [1, 1, 1], None),
    ],
)
def test_a_submission_waits_until_the_hour_and_the_day_allow_it(course, limits, minutes, waits):
    limit(course, f"[attempts]\n{limits}\n")
    graded(course, *(timedelta(minutes=number) for number in minutes))
    found = AttemptLimits(Course(course), NOW)
    until = found.held_until(submission("new.html"))
    assert until == (None if waits is None else NOW + timedelta(minutes=waits))
    assert found.held_until(submission("0.html")) is None or minutes[0] > 24 * 60  # graded before, and not released
    assert found.held_until(submission("new.html", "bob")) is None
    assert found.held_until(submission("new.html", lesson=TWO)) is None


def test_a_lessons_own_limit_wins_and_its_other_limit_is_the_courses(course):
    limit(course, f'[attempts]\nper_hour = 3\nper_day = 10\n[[lesson]]\nname = "{ONE}"\nattempts.per_hour = 0\n')
    found = load_course_file(course)
    assert (found.attempts_of(ONE), found.attempts_of(TWO)) == (
        Attempts(per_hour=0, per_day=10),
        Attempts(per_hour=3, per_day=10),
    )
    assert in_words(found.attempts_of(ONE)) == "10 submissions per day"
    assert in_words(found.attempts_of(TWO)) == "3 submissions per hour and 10 per day"
    assert in_words(Attempts(per_hour=1, per_day=0)) == "1 submission per hour"
    assert in_words(Attempts()) == "10 submissions per hour and 30 per day"


def test_each_submission_counts_once_for_a_day_and_damaged_lines_are_left_out(course):
    limit(course, "[attempts]\nper_day = 2\n")
    graded(course, timedelta(hours=30), timedelta(hours=1))
    with (course / FILE).open("a") as file:
        file.write("nonsense\nada,x,y,yesterday\n")
    AttemptLimits(Course(course), NOW).count([submission("1.html"), submission("2.html")])
    AttemptLimits(Course(course), NOW).count([submission("2.html")])
    rows = [line.split(",")[2] for line in (course / FILE).read_text().splitlines()]
    assert rows == ["page", "1.html", "2.html"]
    assert not (course / FILE).stat().st_mode & 0o077
    found = find_files(course, "ada")
    assert len(found.lines[Path(FILE)]) == 2
    remove_files(course, "ada", found)
    assert (course / FILE).read_text(encoding="utf-8-sig") == "student,lesson,page,at\n"


def test_over_a_limit_the_newest_waits_with_a_notice_and_is_graded_later(
    course, tmp_path, sandboxed, monkeypatch, capsys
):
    limit(course, "[attempts]\nper_hour = 1\n")
    exchange = Exchange(course, tmp_path).open([ONE])
    exchange.submit("ada", ONE, solved_notebook(course, ONE, double="def double(x):\n    return x * x"))
    with monkeypatch.context() as patch:
        patch.setattr(CourseExchange, "release", lambda *_: False)
        assert not Watch(course, every=0.1).run(once=True)  # as if it were killed before the release
    assert Watch(course, every=0.1).run(once=True)
    exchange.submit("ada", ONE, solved_notebook(course, ONE, double="def double(x):\n    return 1"))
    exchange.submit("ada", ONE, solved_notebook(course, ONE))
    service = Watch(course, every=0.1)
    assert service.run(once=True)
    assert (service.state.waiting, service.state.held_back, service.state.released) == (1, 1, 0)
    assert Course(course).scores() == {("ada", ONE): (0, 5)}
    first, notice = exchange.fetched("ada", ONE)
    assert "<b>0</b> of 5 points" in first
    assert "at most 1 submission per hour" in notice and "will be graded after" in notice
    graded(course, timedelta(minutes=61))
    service = Watch(course, every=0.1)
    assert service.run(once=True)
    assert (service.state.waiting, service.state.held_back, service.state.released) == (0, 0, 1)
    assert Course(course).scores() == {("ada", ONE): (5, 5)}
    first, second = exchange.fetched("ada", ONE)
    assert "<b>0</b> of 5 points" in first and "<b>5</b> of 5 points" in second
    assert "ada" not in capsys.readouterr().out


BEST = '[attempts]\ncounts = "best"\n'
WRONG = "def double(x):\n    return 1"


def secrets(root: Path, *folders: Path, lesson: str = ONE) -> list[bool]:
    """For each of these folders in the exchange, whether submitted/ has it."""
    there = read_secret(root / "submitted" / "ada" / lesson)
    return [read_secret(folder) == there for folder in folders]


def test_where_the_best_counts_a_worse_one_has_its_page_and_changes_no_grade(
    course, tmp_path, sandboxed, monkeypatch, capsys
):
    """The service is killed once, before the worse one is released."""
    limit(course, BEST)
    exchange = Exchange(course, tmp_path).open([ONE])
    folders = []
    for code in (None, WRONG, None):
        answer = {"double": code} if code else {}
        folders.append(exchange.submit("ada", ONE, solved_notebook(course, ONE, **answer)))
        if code == WRONG:
            with monkeypatch.context() as patch:
                patch.setattr(CourseExchange, "release", killed)
                with pytest.raises(KeyboardInterrupt):
                    Watch(course, every=0.1).run(once=True)
        service = Watch(course, every=0.1)
        assert service.run(once=True)
        assert Course(course).scores() == {("ada", ONE): (5, 5)}
        assert not CourseExchange(Course(course)).waiting(best=AttemptLimits(Course(course)).best)
        assert secrets(course, *folders) == {1: [True], 2: [True, False], 3: [False, False, True]}[len(folders)]
    points = [re.search(r"<b>(\d)</b> of 5 points", page) for page in exchange.fetched("ada", ONE)]
    assert [found and found[1] for found in points] == ["5", "0", "5"]


def killed(*_: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.full
@pytest.mark.parametrize("where", ["grade_class", "write_feedback", "release"])
@pytest.mark.parametrize("again", [False, True], ids=["worse", "best again"])
def test_if_it_is_killed_the_best_counts_after_the_next_start(
    course, tmp_path, sandboxed, monkeypatch, capsys, where, again
):
    """again: whether it is killed while it grades the best one again, not while it grades the worse one."""
    limit(course, BEST)
    exchange = Exchange(course, tmp_path).open([ONE])
    best = exchange.submit("ada", ONE, solved_notebook(course, ONE))
    assert Watch(course, every=0.1).run(once=True)
    exchange.submit("ada", ONE, solved_notebook(course, ONE, double=WRONG))
    owner: Any = CourseExchange if where == "release" else watch
    plain, done = getattr(owner, where), []

    def killed_in_turn(*these: Any, **more: Any) -> Any:
        if len(done) == again:
            killed()
        done.append(where)
        return plain(*these, **more)

    with monkeypatch.context() as patch:
        patch.setattr(owner, where, killed_in_turn)
        with pytest.raises(KeyboardInterrupt):
            Watch(course, every=0.1).run(once=True)
    assert Watch(course, every=0.1).run(once=True)
    assert Course(course).scores() == {("ada", ONE): (5, 5)}
    assert secrets(course, best) == [True]
    points = [re.search(r"<b>(\d)</b> of 5 points", page) for page in exchange.fetched("ada", ONE)]
    assert [found and found[1] for found in points] == ["5", "0"]


def run_watch(root: Path) -> int:
    """Run the service once; returns how many pages it released. A second run finds nothing to do."""
    services = [Watch(root, every=0.1) for _ in range(2)]
    for service in services:
        assert service.run(once=True)
    assert services[1].state.released == 0
    return services[0].state.released


def test_the_best_one_counts_after_the_due_date_has_moved_behind_it(course, tmp_path, sandboxed, capsys):
    due = f'timezone = "UTC"\n{BEST}[late]\npolicy = "zero"\n[[lesson]]\nname = "{ONE}"\ndue = '
    limit(course, f"{due}2026-01-01 12:00:00\n")
    exchange, answers = Exchange(course, tmp_path).open([ONE]), ({}, {"double": WRONG})
    folders = []
    for answer in answers:
        folders.append(exchange.submit("ada", ONE, solved_notebook(course, ONE, **answer)))
        run_watch(course)
    assert Course(course).scores() == {("ada", ONE): (0, 5)} and secrets(course, *folders) == [False, True]
    limit(course, f"{due}2099-01-01 12:00:00\n")
    grade_class(Course(course), [ONE], SafeConsole(quiet=True))
    assert run_watch(course) == 1
    assert Course(course).scores() == {("ada", ONE): (5, 5)} and secrets(course, *folders) == [True, False]


def test_after_a_regrade_all_submissions_are_compared_by_the_new_graders(course, tmp_path, sandboxed, capsys):
    """In the second lesson, so that only this test needs judges of its own."""
    limit(course, BEST)
    exchange, folders = Exchange(course, tmp_path).open([TWO]), []
    partly, squares = "def halve(x):\n    return (x / 2).detach()", "def halve(x):\n    return x * x"
    for code in (squares, partly):
        folders.append(exchange.submit("ada", TWO, solved_notebook(course, TWO, halve=code)))
        run_watch(course)
    assert Course(course).scores() == {("ada", TWO): (3, 5)} and secrets(course, *folders, lesson=TWO) == [False, True]
    contract = course / "grader_tests" / TWO / "halve" / "contract.py"
    contract.write_text(contract.read_text().replace("return (x / 2)", "return x * x"))
    assert run_watch(course) == 0  # until the teacher grades again
    grade_class(Course(course), [TWO], SafeConsole(quiet=True))
    assert run_watch(course)
    assert Course(course).scores() == {("ada", TWO): (5, 5)} and secrets(course, *folders, lesson=TWO) == [True, False]


@pytest.fixture
def by_hand(tiny_by_hand: Path, fresh_copy: Any, tmp_path: Path) -> tuple[Path, Exchange]:
    """A course whose best submissions count, in which ada's first one has all 15 points, 10 of them by hand."""
    root = fresh_copy(tiny_by_hand)
    with (root / "course.toml").open("a") as file:
        file.write(BEST)
    exchange = Exchange(root, tmp_path).open([LESSON])
    exchange.submit("ada", LESSON, notebook_by_hand(root))
    run_watch(root)
    grade_by_hand(root, "ada", {ANSWER: 3, CODE: 4, TASK: 1}, comment="Very good.")
    review_by_hand(root, "ada", WHY, items=["sum"])
    assert Course(root).scores() == {("ada", LESSON): (15, 15)}
    return root, exchange


@pytest.fixture(scope="session")
def tiny_by_hand(build_once: Any) -> Path:
    return build_once("by-hand-released", course_by_hand)


@pytest.mark.full
@pytest.mark.parametrize(
    "answers", [{}, {"essay": "x", "why": "x"}, {"essay": "", "why": ""}], ids=["same", "new", "none"]
)
def test_worse_code_changes_nothing_whatever_becomes_of_the_written_answers(by_hand, sandboxed, capsys, answers):
    worse_code_changes_nothing(*by_hand, **answers)


def worse_code_changes_nothing(root: Path, exchange: Exchange, **answers: str) -> None:
    exchange.submit("ada", LESSON, notebook_by_hand(root, double=WRONG, **answers))
    run_watch(root)
    assert Course(root).scores() == {("ada", LESSON): (15, 15)} and not open_cells(root, "ada")
    with open_book(root) as gradebook:
        assert gradebook.find_comment(ANSWER, LESSON, LESSON, "ada").manual_comment == "Very good."


def test_after_worse_code_equal_code_waits_for_a_person_and_then_the_best_counts(by_hand, sandboxed, capsys):
    root, exchange = by_hand
    worse_code_changes_nothing(root, exchange)
    exchange.submit("ada", LESSON, notebook_by_hand(root, essay="x"))
    run_watch(root)
    assert open_cells(root, "ada") == {ANSWER, TASK}  # the second one counts until a person has graded it
    grade_by_hand(root, "ada", {ANSWER: 0, TASK: 1})
    run_watch(root)
    assert Course(root).scores() == {("ada", LESSON): (15, 15)} and not open_cells(root, "ada")
    reopen(Course(root), "ada", LESSON, "double", "asked")
    run_watch(root)
    assert open_cells(root, "ada") == {"check_double"}  # a second look changes nothing before it ends


@pytest.mark.full
def test_better_code_with_open_answers_counts_until_a_person_finds_it_worse(by_hand, sandboxed, capsys):
    root, exchange = by_hand
    grade_by_hand(root, "ada", {"check_double": 1})
    exchange.submit(
        "ada", LESSON, notebook_by_hand(root, essay="x", why="y", double="def double(x):\n    return x + x")
    )
    run_watch(root)
    assert open_cells(root, "ada") == {ANSWER, TASK, WHY}
    grade_by_hand(root, "ada", {ANSWER: 0, TASK: 0, WHY: 0})
    run_watch(root)
    assert Course(root).scores() == {("ada", LESSON): (11, 15)}


@pytest.mark.full
def test_a_submission_that_was_changed_in_the_exchange_after_its_grade_counts_as_it_was(
    course, tmp_path, sandboxed, capsys
):
    limit(course, BEST)
    exchange = Exchange(course, tmp_path).open([ONE])
    partly = solved_notebook(course, ONE, double="def double(x):\n    return (2 * x).detach()")
    best = exchange.submit("ada", ONE, partly)
    assert Watch(course, every=0.1).run(once=True)
    nbformat.write(solved_notebook(course, ONE), best / f"{ONE}.ipynb")
    exchange.submit("ada", ONE, solved_notebook(course, ONE, double=WRONG))
    assert Watch(course, every=0.1).run(once=True)
    assert Course(course).scores() == {("ada", ONE): (3, 5)} and secrets(course, best) == [True]


def test_without_the_kept_copy_the_best_one_is_not_taken_and_the_state_says_why(course, tmp_path, sandboxed, capsys):
    exchange = Exchange(course, tmp_path).open([ONE])
    folders = [exchange.submit("ada", ONE, solved_notebook(course, ONE))]
    assert Watch(course, every=0.1).run(once=True)
    folders.append(exchange.submit("ada", ONE, solved_notebook(course, ONE, double=WRONG)))
    assert Watch(course, every=0.1).run(once=True)
    limit(course, BEST)
    pages = [f"{notebook_hash(secret=read_secret(folder), notebook_id=ONE)}.html" for folder in folders]
    rows = [f"ada,{ONE},{page},{NOW.isoformat()}\n" for page in pages]
    (course / FILE).write_text("".join(rows))
    shutil.rmtree(course / "hand-ins" / "replaced")
    service = Watch(course, every=0.1)
    assert not service.run(once=True)
    assert "hand-ins/replaced has no copy of it" in service.state.errors[0]["what"]
    assert Course(course).scores() == {("ada", ONE): (0, 5)} and secrets(course, *folders) == [False, True]


@pytest.mark.full
def test_what_the_teacher_restores_stays_and_its_new_grade_is_released(course, tmp_path, sandboxed, capsys):
    exchange = Exchange(course, tmp_path).open([ONE])
    first = exchange.submit("ada", ONE, solved_notebook(course, ONE))
    assert Watch(course, every=0.1).run(once=True)
    exchange.submit("ada", ONE, solved_notebook(course, ONE, double=WRONG))
    assert Watch(course, every=0.1).run(once=True)
    assert Course(course).scores() == {("ada", ONE): (0, 5)}
    restore(Course(course), "ada", ONE)
    grade_class(Course(course), [ONE], SafeConsole(quiet=True))
    service = Watch(course, every=0.1)
    assert service.run(once=True) and service.state.released == 1
    assert Course(course).scores() == {("ada", ONE): (5, 5)} and secrets(course, first) == [True]
