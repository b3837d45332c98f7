"""What a student writes to the exchange: no entry stops the class, counts as another's, or is earlier than it is."""

from __future__ import annotations

import errno
import json
import os
import pwd
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.utils import capture_log

from grading.cli import main
from grading.coordinator.converters import generate_feedback
from grading.coordinator.grade_class import grade_class
from grading.coordinator.gradebook_writer import time_of
from grading.course import Course
from grading.gradebook.freshness import LessonFreshness
from grading.notebooks.submitted_file import unsafe_files
from grading.plugins.hub import exchange_inbound
from grading.plugins.hub.exchange import CourseExchange, ExchangeSubmission
from grading.plugins.hub.exchange_inbound import SECRET, CopyRules, FolderCopy, Inbound, SharedClock, believed
from grading.plugins.hub.watch import Watch
from grading.plugins.hub.watch_state import FILE, read_state
from grading.safe_console import SafeConsole
from grading.submitted import replaced
from grading.submitted.replaced import list_replaced

from ...support.course_builder import TINY_LESSONS, add_config, solved_notebook
from ...support.exchange import Exchange
from ...support.unprivileged import NOBODY

ONE, TWO = TINY_LESSONS
COLLECT = f"not collected: run `nbgrader collect {ONE} --update` to see why"
WRONG = "def double(x):\n    return 1"
NOW = datetime.now(UTC)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to other accounts")


@pytest.fixture
def exchange(course: Path, tmp_path: Path, sandboxed: None) -> Exchange:
    return Exchange(course, tmp_path).open([ONE, TWO])


@pytest.fixture
def anna(exchange: Exchange, course: Path) -> Path:
    """Anna's submission, which is right."""
    return exchange.submit("anna", ONE, solved_notebook(course, ONE))


def watch(course: Path) -> dict[str, int]:
    """One round of the service: the errors in its state, with their numbers."""
    Watch(course, every=0.1).run(once=True)
    return {error["what"]: error["submissions"] for error in read_state(course)["errors"]}


def collect(course: Path) -> str:
    """`nbgrader collect --update`: what it logs."""
    config = Course(course).config
    done = NbGraderAPI(CourseDirectory(config=config), config=config).collect(ONE, update=True)
    assert done["success"], done
    return str(done["log"])


def points(course: Path) -> dict[str, float]:
    return {student: earned for (student, _), (earned, _) in Course(course).scores().items()}


def due(course: Path, when: datetime) -> None:
    with Course(course).gradebook() as gradebook:
        gradebook.update_or_create_assignment(ONE, duedate=when.replace(tzinfo=None))


def rename(entry: Path, student: str, when: str) -> Path:
    """Another name for an entry, and the same time in it."""
    (entry / "timestamp.txt").write_text(when)
    return entry.rename(entry.with_name(f"{student}+{ONE}+{when}+x"))


def own(path: Path, account: str) -> None:
    for one in [path, *path.rglob("*")]:
        os.chown(one, pwd.getpwnam(account).pw_uid, -1)


NAMES = [
    f"mallory+{ONE}+20:00 99:999{'9' * 40}a+x",  # decimal.InvalidOperation in dateutil
    f"mallory+{ONE}++x",
    f"mallory+{ONE}+{'9' * 150}",
    f"mallory+{ONE}+2026-13-45 10:00:00 UTC+x",
    f"mallory+{ONE}+2026-11-20 10:00:00 ..",
    f"\udcff\udc80+{ONE}+2026-11-20 10:00:00 UTC+x",
    f"mal\x1b[2Jlory\n+{ONE}+2026-11-20 10:00:00 UTC+x",
    f"+{ONE}+2026-11-20 10:00:00 UTC+x",
    f"..+{ONE}+2026-11-20 10:00:00 UTC+x",
]


def test_no_name_of_an_entry_stops_the_class_and_each_is_reported(course, exchange, anna, capsys):
    for name in NAMES:
        (exchange.inbound / name).mkdir()
    (exchange.inbound / f"link+{ONE}+2026-11-20 10:00:00 UTC+x").symlink_to(anna)
    (exchange.inbound / f"file+{ONE}+2026-11-20 10:00:00 UTC+x").write_text("")
    assert watch(course) == {COLLECT: len(NAMES) + 2}
    assert points(course) == {"anna": 5}
    said = collect(course)
    assert said.count("was not collected") == len(NAMES) + 2
    assert "its name has no time in nbgrader's form" in said and "it is a link or a file" in said
    assert said.isprintable() or "\x1b" not in said
    assert "mallory" not in capsys.readouterr().out + (course / FILE).read_text()


@pytest.mark.quick_cases("20:00*")
@pytest.mark.parametrize(
    "text", ["20:00 99:9999999999999999999a", "2026-11-31 10:00 UTC", "0001-01-01 00:00 +2359", "\0"]
)
def test_a_time_that_is_none_costs_one_submission_and_the_remedy_works(
    course, exchange, anna, capsys, text, monkeypatch
):
    exchange.submit("bob", ONE, solved_notebook(course, ONE))
    collect(course)
    stamp = course / "submitted" / "bob" / ONE / "timestamp.txt"
    stamp.write_text(text)
    monkeypatch.chdir(course)
    main.main(["grade", ONE])
    said = capsys.readouterr().out
    assert points(course) == {"anna": 5}
    found = re.search(r"timestamp.txt: expected a time, got .*\. Write one such as (.* UTC)", said)
    assert found
    stamp.write_text(found[1])
    main.main(["grade", ONE])
    assert points(course) == {"anna": 5, "bob": 5}


@pytest.mark.parametrize("command", ["grade", "regrade", "verify-grades", "feedback"])
def test_any_exception_in_a_students_step_costs_that_student(course_of_three, capsys, monkeypatch, command):
    course = course_of_three
    plain = LessonFreshness.grade_inputs

    def failing(self: LessonFreshness, student: str) -> dict[str, str]:
        if student == "bob":
            raise ZeroDivisionError("of bob")
        return plain(self, student)

    monkeypatch.setattr(LessonFreshness, "grade_inputs", failing)
    if command == "feedback":
        monkeypatch.setattr("grading.coordinator.write_feedback.generate_feedback", _feedback_but_for_bob)
    for student in ("ada", "bob"):
        (course / "submitted" / student / ONE / "timestamp.txt").write_text("2026-01-01 10:00 UTC")
    monkeypatch.setenv("COLUMNS", "300")
    main.main([command, ONE, *["--yes"] * (command == "regrade")])
    said = capsys.readouterr().out
    assert "ZeroDivisionError (" in said
    assert "Traceback" not in said
    if command == "feedback":
        assert (course / "feedback" / "ada" / ONE / f"{ONE}.html").is_file()
    elif command in ("grade", "regrade"):
        with Course(course).gradebook() as gradebook:
            assert gradebook.find_submission(ONE, "ada").timestamp == datetime(2026, 1, 1, 10)  # noqa: DTZ001


def _feedback_but_for_bob(course: Course, lesson: str, student: str) -> None:
    if student == "bob":
        raise ZeroDivisionError
    generate_feedback(course, lesson, student)


def test_a_page_that_cannot_be_released_costs_one_student(course, exchange, anna):
    exchange.submit("bob", ONE, solved_notebook(course, ONE))
    assert watch(course) == {}
    for page in exchange.feedback.glob("*.html"):
        page.unlink()
    (course / "feedback" / "anna" / ONE / SECRET).write_bytes(b"\xff\xfe")
    config = Course(course).config
    config.CourseDirectory.assignment_id = ONE
    step = ExchangeFactory(config=config).ReleaseFeedback(CourseDirectory(config=config), None, config=config)
    done = capture_log(step)
    assert done["success"], done
    assert len(list(exchange.feedback.glob("*.html"))) == 1
    assert "anna: no feedback is released: 'utf-8' codec can't decode" in done["log"]


@as_root
@pytest.mark.quick_cases("watch-a later time", "collect-without its secret and old")
@pytest.mark.parametrize("kind", ["a later time", "without its secret and old", "the same time"])
@pytest.mark.parametrize("by", [watch, collect])
def test_an_entry_that_another_account_owns_is_nobodys(course, exchange, kind, by):
    """`news` writes an entry under the name of `games`, who has handed in."""
    add_config(course, "c.ExchangeCollect.check_owner = True")
    own(exchange.submit("games", ONE, solved_notebook(course, ONE)), "games")
    forged = exchange.submit("games", ONE, solved_notebook(course, ONE, double=WRONG))
    if kind == "a later time":
        forged = rename(forged, "games", "2030-01-01 10:00:00.0 UTC")
    elif kind == "without its secret and old":
        (forged / SECRET).unlink()
        os.utime(forged, (1, 1))
    own(forged, "news")
    by(course)
    assert watch(course) == {COLLECT: 1}
    assert points(course) == {"games": 5}
    assert "it belongs to the account news. If you did not expect that, look at it and delete it" in collect(course)
    assert watch(course) == {COLLECT: 1}
    shutil.rmtree(forged)
    assert watch(course) == {}
    assert points(course) == {"games": 5}


def test_without_a_folder_in_the_exchange_the_command_that_is_named_makes_it(course, tmp_path, sandboxed):
    exchange = Exchange(course, tmp_path).open([])
    config = Course(course).config
    done = NbGraderAPI(CourseDirectory(config=config), config=config).collect(ONE)
    assert f"There is no folder {exchange.inbound} that you can read. Run `nbgrader release_assignment" in done["log"]
    exchange.open([ONE]).submit("anna", ONE, solved_notebook(course, ONE))
    assert "Collected: anna" in collect(course)


def test_where_students_share_an_account_the_remedy_of_the_message_works(course, exchange, anna):
    add_config(course, "c.ExchangeCollect.check_owner = True")
    line = "c.ExchangeCollect.check_owner = False"
    assert f"if your students share an account, set {line} in nbgrader_config.py" in collect(course)
    add_config(course, line)
    assert watch(course) == {}
    assert points(course) == {"anna": 5}


def test_without_a_secret_a_submission_is_reported_until_it_is_collected(course, exchange, anna, monkeypatch):
    (anna / SECRET).unlink()
    assert watch(course) == {}
    monkeypatch.setattr(exchange_inbound, "UNFINISHED", timedelta(0))
    assert watch(course) == {COLLECT: 1}
    assert "Collected: anna" in collect(course)
    assert watch(course) == {}


@as_root
def test_a_file_that_another_account_put_into_an_entry_is_left_out(course, exchange):
    add_config(course, "c.ExchangeCollect.check_owner = True")
    entry = exchange.submit("games", ONE, solved_notebook(course, ONE))
    (entry / "data.csv").write_text("1")
    own(entry, "games")
    own(entry / "data.csv", "news")
    assert watch(course) == {}
    assert points(course) == {"games": 5}
    assert not (course / "submitted" / "games" / ONE / "data.csv").exists()
    assert "data.csv: it belongs to another account" in exchange.fetched("games", ONE)[0]


EARLY = f"{NOW - timedelta(days=10):%Y-%m-%d %H:%M:%S.%f} UTC"


@pytest.mark.parametrize("by", [watch, collect])
def test_a_late_submission_is_late_whatever_time_it_says(course, exchange, by):
    due(course, NOW - timedelta(days=9))
    add_config(course, "c.LatePolicy.policy = 'zero'")
    named = rename(exchange.submit("mallory", ONE, solved_notebook(course, ONE)), "mallory", EARLY)
    for path in (named, *named.iterdir()):
        os.utime(path, (1, 1))
    (exchange.submit("eve", ONE, solved_notebook(course, ONE)) / "timestamp.txt").write_text(EARLY)
    by(course)
    assert watch(course) == {}
    assert points(course) == {"mallory": 0, "eve": 0}
    said = collect(course)
    assert "mallory counts as handed in at" in said and "eve counts" not in said
    stamp = course / "submitted" / "mallory" / ONE / "timestamp.txt"
    found = stamp.read_text()
    stamp.write_text(EARLY)  # as the message says, where the teacher changed the exchange
    assert "mallory counts" not in collect(course)
    grade_class(Course(course), [ONE], SafeConsole(quiet=True))
    assert points(course) == {"mallory": 5, "eve": 0}
    stamp.write_text(found)
    for student in ("mallory", "eve"):
        assert time_of((course / "submitted" / student / ONE / "timestamp.txt").read_text()) >= NOW.replace(tzinfo=None)


def test_a_file_that_the_teacher_put_there_stays_until_they_choose(course, exchange, anna):
    folder = course / "submitted" / "anna" / ONE
    folder.mkdir(parents=True)
    (folder / f"{ONE}.ipynb").write_text(json.dumps(solved_notebook(course, ONE, double=WRONG)))
    assert watch(course) == {COLLECT: 1}
    assert "Nothing shows which is newer" in collect(course)
    assert "return 1" in (folder / f"{ONE}.ipynb").read_text()
    table = course / "hand-ins" / "which-counts.csv"
    question = table.read_text(encoding="utf-8-sig")
    table.write_text(question.replace(f"anna,{ONE},,", f"anna,{ONE},keep,"))
    assert watch(course) == {COLLECT: 1}
    assert f"anna: the file in submitted/ stays, as {table} says. Write replace there" in collect(course)
    assert "return 1" in (folder / f"{ONE}.ipynb").read_text()
    table.write_text(question.replace(f"anna,{ONE},,", f"anna,{ONE},replace,"))
    collect(course)
    assert watch(course) == {}
    assert points(course) == {"anna": 5}
    assert len(list_replaced(course, "anna")) == 1


def test_what_is_written_into_an_old_entry_later_is_late(course, exchange):
    entry = exchange.submit("mallory", ONE, solved_notebook(course, ONE))
    (listed,) = exchange_inbound.list_inbound(exchange.inbound, [ONE], check_owner=False).found
    clock = SharedClock(exchange.inbound.parent)
    old = (NOW - timedelta(days=10)).timestamp()
    copy = FolderCopy(CopyRules(10**6, 10**6))
    with exchange_inbound.open_entry(entry) as opened:
        copy.copy(opened, exchange.place / "copy")
    assert copy.changed >= (entry / f"{ONE}.ipynb").stat().st_ctime
    at_once = believed(listed, listed.changed.timestamp(), clock)
    assert at_once.at == at_once.sent == listed.sent
    backdated = Inbound(ONE, "mallory", entry, NOW - timedelta(days=10), NOW, NOW)
    assert believed(backdated, old + 60, clock).at == backdated.sent
    assert believed(backdated, copy.changed, clock).at > NOW - timedelta(minutes=1)


def test_an_honest_submission_is_in_time_though_the_service_sees_it_later(course, exchange, monkeypatch):
    """Handed in before the due date, and collected after it; the file system's clock is an hour ahead."""
    add_config(course, "c.LatePolicy.policy = 'zero'")
    entry = exchange.submit("anna", ONE, solved_notebook(course, ONE))
    due(course, datetime.now(UTC))
    assert watch(course) == {}
    assert points(course) == {"anna": 5}
    stamp = (course / "submitted" / "anna" / ONE / "timestamp.txt").read_text()
    assert stamp == (entry / "timestamp.txt").read_text()

    ahead = SimpleNamespace(ahead=3600.0)
    sent = Inbound(ONE, "anna", entry, NOW, NOW, NOW)
    assert believed(sent, NOW.timestamp() + 3600, ahead).at == NOW
    assert believed(sent, NOW.timestamp() + 7200, ahead).at == NOW + timedelta(hours=1)
    behind = SimpleNamespace(ahead=-3600.0)
    assert believed(sent, NOW.timestamp() - 3600, behind).at == NOW


def test_a_time_in_the_future_does_not_hide_the_next_submission(course, exchange):
    first = exchange.submit("anna", ONE, solved_notebook(course, ONE, double=WRONG))
    rename(first, "anna", "2096-01-01 10:00:00.0 UTC")
    assert watch(course) == {}
    exchange.submit("anna", ONE, solved_notebook(course, ONE))
    assert watch(course) == {}
    assert points(course) == {"anna": 5}


@pytest.mark.parametrize("change", ["secret", "link", "account"])
def test_what_was_listed_is_collected_or_nothing(course, exchange, anna, change):
    """Between the look and the copy an entry gets another secret, is a link to another entry, or is another's."""
    if change == "account" and os.geteuid() != 0:
        pytest.skip("gives files to other accounts")
    exchange_of_course = CourseExchange(Course(course))
    (listed,) = exchange_of_course.waiting()
    if change == "secret":
        (anna / SECRET).write_text("another")
    elif change == "link":
        other = anna.rename(anna.with_name("elsewhere"))
        anna.symlink_to(other)
    else:
        add_config(course, "c.ExchangeCollect.check_owner = True")
        exchange_of_course = CourseExchange(Course(course))
        own(anna, "news")
    assert not exchange_of_course.collect(listed)
    assert not (course / "submitted" / "anna").exists()


def test_a_secret_that_is_swapped_at_each_look_gains_no_attempt(course, exchange, anna, monkeypatch):
    (course / "course.toml").write_text("[attempts]\nper_hour = 1\n")
    plain, first = CourseExchange.collect, (anna / SECRET).read_text()

    def swapping(self: CourseExchange, submission: ExchangeSubmission) -> bool:
        (anna / SECRET).write_text("another")
        try:
            return plain(self, submission)
        finally:
            (anna / SECRET).write_text(first)

    with monkeypatch.context() as patch:
        patch.setattr(CourseExchange, "collect", swapping)
        assert watch(course) == {COLLECT: 1}
    assert not points(course)
    assert watch(course) == {}
    assert points(course) == {"anna": 5}


@contextmanager
def without_root() -> Iterator[None]:
    """What this process may as an ordinary user."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def test_a_bad_file_costs_that_file_and_the_page_says_so(course, exchange, anna):
    add_config(course, "c.CourseDirectory.max_dir_size = 1000\nc.CourseDirectory.max_file_size = 500")
    sparse(anna / "weights.bin", 2**40)
    sparse(anna / "big.txt", 600_000)
    for number in range(3):
        sparse(anna / f"part{number}.bin", 400_000)
    (anna / "answer.csv").write_text("1")
    os.mkfifo(anna / "pipe")
    (anna / "link.txt").symlink_to("/etc/passwd")
    deep = anna
    for _ in range(20):
        deep = deep / "d"
        deep.mkdir()
    said = collect(course)
    assert "anna: weights.bin was left out: it is larger than" in said
    assert watch(course) == {}
    assert points(course) == {"anna": 5}
    there = {path.name for path in (course / "submitted" / "anna" / ONE).iterdir()}
    assert there == {f"{ONE}.ipynb", "answer.csv", "part0.bin", "part1.bin", "timestamp.txt", SECRET, "d"}
    (page,) = exchange.fetched("anna", ONE)
    text = re.sub(r"<[^>]*>", "", page)
    for line in (
        "weights.bin: it is larger than",
        "big.txt: it is larger than",
        "part2.bin: all files together are larger than 1 MB",
        "pipe: it is not an ordinary file",
        "link.txt: it is a link",
    ):
        assert line in text
    assert "Some of your files were not collected. Your notebook was graded without them." in text


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("grade", "timestamp.txt: expected a time, got soon"),
        ("feedback", f"{ONE}, anna: Not a directory"),
        ("release_feedback", "anna: no feedback is released: [Errno 28] No space left on device"),
    ],
)
def test_the_command_that_the_state_names_says_why(course, exchange, anna, capsys, monkeypatch, step, why):
    page = course / "feedback" / "anna" / ONE
    collect(course)
    if step == "grade":
        (course / "submitted" / "anna" / ONE / "timestamp.txt").write_text("soon")
    elif step == "feedback":
        page.parent.mkdir(parents=True)
        page.write_text("in the way")
    else:
        full = OSError(errno.ENOSPC, "No space left on device")
        monkeypatch.setattr(ExchangeReleaseFeedback, "copy_files", Mock(side_effect=full))
    (what,) = watch(course)
    command = re.search(rf"run `(\w+) {step} {ONE}` to see why", what)
    assert command, what
    monkeypatch.chdir(course)
    monkeypatch.setenv("COLUMNS", "300")
    capsys.readouterr()
    if command[1] == "grading":
        main.main([step, ONE])
        assert why in capsys.readouterr().out
    else:
        config = Course(course).config
        config.CourseDirectory.assignment_id = ONE
        assert (
            why
            in capture_log(
                ExchangeFactory(config=config).ReleaseFeedback(CourseDirectory(config=config), None, config=config)
            )["log"]
        )


@pytest.mark.quick_cases("large")
@pytest.mark.parametrize("bad", ["link", "large"])
def test_without_a_notebook_the_student_gets_a_page_that_says_why(course, exchange, anna, bad):
    add_config(course, "c.CourseDirectory.max_file_size = 100")
    notebook = anna / f"{ONE}.ipynb"
    notebook.unlink()
    notebook.symlink_to("/etc/passwd") if bad == "link" else sparse(notebook, 10**9)
    for step in (collect, collect, watch):
        assert step(course)
    assert not list_replaced(course)
    assert watch(course) == {"not graded: no file counts as the notebook; the student's feedback page asks": 1}
    (page,) = exchange.fetched("anna", ONE)
    assert f"{ONE}.ipynb: {'it is a link' if bad == 'link' else 'it is larger than 0 MB'}" in page
    exchange.submit("anna", ONE, solved_notebook(course, ONE))
    assert watch(course) == {}
    assert points(course) == {"anna": 5}


def test_what_grows_while_it_is_copied_is_read_up_to_the_limit(tmp_path, monkeypatch):
    source = tmp_path / "source"
    source.mkdir()
    sparse(source / "grows.bin", 10)
    (source / "stays.txt").write_text("x" * 50)
    plain, read = os.read, []

    def growing(descriptor: int, size: int) -> bytes:
        sparse(source / "grows.bin", 2**40)
        read.append(size)
        return plain(descriptor, size)

    monkeypatch.setattr("grading.plugins.hub.exchange_inbound.os.read", growing)
    copy = FolderCopy(CopyRules(100_000, 50_000))
    with exchange_inbound.open_entry(source) as opened:
        copy.copy(opened, tmp_path / "target")
    assert sum(read) < 200_000
    assert [path.name for path in (tmp_path / "target").iterdir()] == ["stays.txt"]
    assert copy.left_out == {"grows.bin": "it is larger than 0 MB"}


def test_of_very_many_files_some_are_copied_and_the_notebook_is(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for number in range(3000):
        (source / f"{number}.txt").touch()
    (source / f"{ONE}.ipynb").write_text("{}")
    copy = FolderCopy(CopyRules(10**6, 10**6))
    with exchange_inbound.open_entry(source) as opened:
        copy.copy(opened, tmp_path / "target")
    assert len(list((tmp_path / "target").iterdir())) == 1000
    assert (tmp_path / "target" / f"{ONE}.ipynb").exists()
    assert copy.left_out == {"2,001 more": "a submission may have 1,000 files and folders"}


def test_what_may_not_be_read_is_left_out(tmp_path):
    source = tmp_path / "source"
    (source / "closed").mkdir(parents=True)
    for name in ("secret.txt", "plain.txt", "closed/inside.txt"):
        (source / name).write_text("x")
    (source / "secret.txt").chmod(0)
    (source / "closed").chmod(0)
    tmp_path.chmod(0o777)
    copy = FolderCopy(CopyRules(10**6, 10**6))
    with _reachable(tmp_path), without_root(), exchange_inbound.open_entry(source) as opened:
        copy.copy(opened, tmp_path / "target")
        unsafe = dict(unsafe_files(source))
    assert unsafe == {str(source / "secret.txt"): "it cannot be read"}  # what grading leaves out, however it came
    (source / "closed").chmod(0o755)
    assert [path.name for path in (tmp_path / "target").iterdir()] == ["plain.txt"]
    assert copy.left_out == dict.fromkeys(["secret.txt", "closed"], "it cannot be opened: Permission denied")


@contextmanager
def _reachable(path: Path) -> Iterator[None]:
    """Let other accounts enter the folders above, which pytest makes for its own."""
    above = [folder for folder in path.parents if folder.stat().st_uid == os.geteuid() and folder != Path("/")]
    modes = {folder: folder.stat().st_mode for folder in above}
    for folder in modes:
        folder.chmod(modes[folder] | 0o011)
    try:
        yield
    finally:
        for folder, mode in modes.items():
            folder.chmod(mode)


def test_kept_copies_of_a_student_have_a_quota_which_spares_the_one_that_counts(
    course, exchange, monkeypatch: pytest.MonkeyPatch
):
    (course / "course.toml").write_text('[attempts]\ncounts = "best"\n')
    monkeypatch.setattr("grading.plugins.hub.exchange.MOST_KEPT", 400_000)
    folders = []
    for code in (None, WRONG, WRONG, WRONG):
        folders.append(exchange.submit("anna", ONE, solved_notebook(course, ONE, **({"double": code} if code else {}))))
        (folders[-1] / "data.txt").write_text(str(len(folders)) * 150_000)
        assert watch(course) == {}
    assert points(course) == {"anna": 5}
    kept = list_replaced(course, "anna", ONE)
    assert len(kept) <= 3
    replaced.remove_oldest(course, "anna", 10**9, 2, lambda _: False)
    assert len(list_replaced(course, "anna", ONE)) == 2
    replaced.remove_oldest(course, "anna", 0, 2, lambda _: False)
    assert len(list_replaced(course, "anna", ONE)) == 1


def test_turns_are_fair_between_students_and_lessons(course, exchange, monkeypatch):
    """Mallory hands in both lessons, one with an early time; after her first turn the others come first."""
    plain, turns = CourseExchange.collect, list[tuple[str, str]]()

    def recording(self: CourseExchange, submission: ExchangeSubmission) -> bool:
        if not turns:
            exchange.submit("anna", TWO, solved_notebook(course, TWO))
            exchange.submit("bob", ONE, solved_notebook(course, ONE))
        turns.append((submission.student, submission.lesson))
        return plain(self, submission)

    monkeypatch.setattr(CourseExchange, "collect", recording)
    exchange.submit("mallory", ONE, solved_notebook(course, ONE))
    early = exchange.submit("mallory", TWO, solved_notebook(course, TWO))
    early.rename(early.with_name(f"mallory+{TWO}+2020-01-01 10:00:00.0 UTC+x"))
    assert watch(course) == {}
    assert turns == [("mallory", ONE), ("anna", TWO), ("mallory", TWO), ("bob", ONE)]
