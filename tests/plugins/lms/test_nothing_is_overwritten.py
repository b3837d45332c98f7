"""No command that writes to `submitted/` replaces a file that may be newer.

Each command runs after every other.
"""

from __future__ import annotations

import io
import json
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from nbgrader.apps import ZipCollectApp
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from rich.console import Console

from grading.coordinator.demo import hand_in_sample
from grading.course import Course
from grading.plugins.lms.collect import collect
from grading.submitted.replaced import bring_back, list_replaced
from grading.submitted.submitted_dir import SubmittedFolder

from ...support.lms_downloads import moodle, notebook
from ...support.nbgrader_runner import course_config
from ...support.two_exercise_course import LESSON

TEN = datetime(2026, 9, 24, 10, tzinfo=UTC)
When = datetime | None


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Use UTC, since Brightspace's names have local times."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


class FilledCourse:
    """A course, and every way to write jane's files to its `submitted/`."""

    def __init__(self, root: Path, place: Path) -> None:
        self.root, self.place = root, place
        self.folder = root / "submitted" / "jane" / LESSON
        self.said = ""

    def by_hand(self, text: str, when: When) -> None:
        self.folder.mkdir(parents=True)
        (self.folder / f"{LESSON}.ipynb").write_bytes(notebook(text))
        if when:
            (self.folder / "timestamp.txt").write_text(f"{when:%Y-%m-%d %H:%M:%S} UTC")

    def by_exchange(self, text: str, when: When, undecided: str = "ask") -> None:
        assert when
        stamp = f"{when:%Y-%m-%d %H:%M:%S}.123456 UTC"
        inbound = self.place / "exchange" / "attention" / "inbound"
        shutil.rmtree(inbound, ignore_errors=True)
        handed_in = inbound / f"jane+{LESSON}+{stamp}+secret"
        handed_in.mkdir(parents=True)
        (handed_in / f"{LESSON}.ipynb").write_bytes(notebook(text))
        (handed_in / "timestamp.txt").write_text(stamp)
        (handed_in / "submission_secret.txt").write_text("secret")
        config = course_config(self.root)
        config.CourseDirectory.course_id = "attention"
        config.Exchange.root = str(self.place / "exchange")
        config.Collect.undecided = undecided
        config.ExchangeCollect.check_owner = False
        api = NbGraderAPI(CourseDirectory(config=config), config=config)
        done = api.collect(LESSON, update=True)
        assert done["success"], done
        self.said = done.get("log", "")

    def by_collect(self, text: str, when: When, undecided: str = "ask") -> None:
        out = io.StringIO()
        archive = self.download(text, when, self.place / "download")
        collect(Course(self.root), [archive], LESSON, Console(file=out, width=300), undecided=undecided)
        self.said = out.getvalue()

    def by_zip_collect(self, text: str, when: When, undecided: str = "ask") -> None:
        self.download(text, when, self.root / "downloaded" / LESSON / "archive")
        config = course_config(self.root)
        config.TolerantExtractor.undecided = undecided
        app = ZipCollectApp.instance(config=config)
        try:
            app.initialize([LESSON, "--force"])
            app.update_config(config)
            app.start()
            self.said = " ".join(f"{one.what} {one.why}" for one in app.extractor_plugin_inst.outcomes)
        finally:
            ZipCollectApp.clear_instance()

    def download(self, text: str, when: When, place: Path) -> Path:
        shutil.rmtree(place, ignore_errors=True)
        name = f"7-9 - Jane - {when:%b %d, %Y %I%M %p}/{LESSON}.ipynb" if when else moodle("Jane", 1)
        (place / name).parent.mkdir(parents=True)
        (place / name).write_bytes(notebook(text))
        return place

    @property
    def text(self) -> str:
        return str(json.loads((self.folder / f"{LESSON}.ipynb").read_text())["cells"][0]["source"])

    @property
    def table(self) -> Path:
        return self.root / "hand-ins" / "which-counts.csv"

    @property
    def kept(self) -> list[str]:
        """The files in hand-ins/replaced, oldest first."""
        found = reversed(list_replaced(self.root))
        files = [one.folder / f"{LESSON}.ipynb" for one in found]
        return [json.loads(file.read_text())["cells"][0]["source"] for file in files]


@pytest.fixture
def course_of_jane(two_exercise_course: Path, fresh_copy: Callable[[Path], Path], tmp_path: Path) -> FilledCourse:
    place = tmp_path / "outside"
    (place / "exchange").mkdir(parents=True)
    (place / "exchange").chmod(0o777)
    root = fresh_copy(two_exercise_course)
    return FilledCourse(root, place)


FIRST = ("by_hand", "by_exchange", "by_collect", "by_zip_collect")
THEN = ("by_exchange", "by_collect", "by_zip_collect")
TIMES = {"newer": TEN + timedelta(hours=1), "older": TEN - timedelta(hours=1), "equal": TEN, "unknown": None}
DOWNLOADS = ("by_collect", "by_zip_collect")


def is_replaced(first: str, before: When, then: str, after: When) -> bool:
    """The rule: a later known time, or the same account with no evidence against it."""
    if before and after and before != after:
        return after > before
    same_platform = (before is None) == (after is None)  # with a time it is Brightspace's, without a time Moodle's
    return first in DOWNLOADS and then in DOWNLOADS and same_platform


def can_happen(first: str, before: When, then: str, after: When) -> bool:
    """The exchange always has a time, and only one name per person and second."""
    if (first == "by_exchange" and not before) or (then == "by_exchange" and not after):
        return False
    return not (first == then == "by_exchange" and before == after)


CASES = [
    pytest.param(first, before, then, after, id=f"{first} {'known' if before else 'unknown'}, {then} {relation}")
    for first in FIRST
    for before in (TEN, None)
    for then in THEN
    for relation, after in TIMES.items()
    if can_happen(first, before, then, after)
]


@pytest.mark.parametrize(("first", "before", "then", "after"), CASES)
def test_each_command_after_each_other(
    course_of_jane: FilledCourse, first: str, before: When, then: str, after: When
) -> None:
    getattr(course_of_jane, first)("first", before)
    (course_of_jane.folder / "mine.txt").write_text("a file beside it")
    getattr(course_of_jane, then)("second", after)
    if is_replaced(first, before, then, after):
        assert course_of_jane.text == "second"
        assert course_of_jane.kept == ["first"]
        return
    assert course_of_jane.text == "first"
    assert course_of_jane.kept == []
    assert (course_of_jane.folder / "mine.txt").exists()
    if before and after and after < before:
        assert "it is older than the submission in submitted/" in course_of_jane.said
        return
    assert "othing shows which is newer" in course_of_jane.said
    for choice, text in {"keep": "first", "replace": "second"}.items():
        getattr(course_of_jane, then)("second", after, choice)
        assert course_of_jane.text == text
        course_of_jane.table.unlink(missing_ok=True)  # it remembers the choice to keep
    assert course_of_jane.kept == ["first"]


def test_a_choice_in_the_table_applies_to_that_file_and_is_remembered(course_of_jane: FilledCourse) -> None:
    course_of_jane.by_hand("mended", TEN)
    course_of_jane.by_collect("second", None)
    table = course_of_jane.table
    text = table.read_text(encoding="utf-8-sig")
    assert "2026-09-24 10:00:00 UTC" in text and "Jane (1) in download, time unknown" in text
    table.write_text(text.replace(f"jane,{LESSON},,", f"jane,{LESSON},Keep,"))
    for _ in range(2):
        course_of_jane.by_collect("second", None)
        assert course_of_jane.text == "mended" and "1 kept as it was" in course_of_jane.said
    course_of_jane.by_collect("third", None)
    assert course_of_jane.text == "mended" and "1 which counts?" in course_of_jane.said
    text = table.read_text(encoding="utf-8-sig")
    table.write_text(text.replace(f"jane,{LESSON},,", f"jane,{LESSON},replace,"))
    course_of_jane.by_collect("third", None)
    assert course_of_jane.text == "third" and course_of_jane.kept == ["mended"]
    assert len(table.read_text(encoding="utf-8-sig").splitlines()) == 1


def test_a_collected_file_that_somebody_changed_counts_as_put_there_by_hand(course_of_jane: FilledCourse) -> None:
    course_of_jane.by_collect("first", TEN)
    (course_of_jane.folder / f"{LESSON}.ipynb").write_bytes(notebook("mended"))
    course_of_jane.by_collect("second", TEN + timedelta(hours=1))
    assert course_of_jane.text == "mended", "the time beside it is that of the file before"
    assert "by hand" in course_of_jane.said


def test_a_restored_file_counts_as_put_there_by_hand(course_of_jane: FilledCourse) -> None:
    course_of_jane.by_collect("first", None)
    (course_of_jane.folder / "timestamp.txt").write_text("2026-09-24 10:00:00 UTC")
    course_of_jane.by_collect("second", None)
    course_of_jane.by_exchange("third", TEN + timedelta(hours=2), "replace")
    assert str(SubmittedFolder(course_of_jane.root, course_of_jane.folder, "jane", LESSON).origin()) == (
        "the exchange, handed in 2026-09-24 12:00:00 UTC"
    )
    assert course_of_jane.kept == ["first", "second"]
    folder = SubmittedFolder(course_of_jane.root, course_of_jane.folder, "jane", LESSON)
    oldest = list_replaced(course_of_jane.root, "jane", LESSON)[-1]
    bring_back(course_of_jane.root, course_of_jane.folder, oldest, folder.origin())
    assert course_of_jane.text == "first" and folder.stamp == "2026-09-24 10:00:00 UTC"
    assert course_of_jane.kept == ["second", "third"]
    course_of_jane.by_collect("fourth", None)
    assert course_of_jane.text == "first" and "which counts?" in course_of_jane.said


def test_a_notebook_with_another_name_stays_and_does_no_harm(course_of_jane: FilledCourse) -> None:
    course_of_jane.folder.mkdir(parents=True)
    (course_of_jane.folder / "scratch.ipynb").write_bytes(notebook("mine"))
    course_of_jane.by_collect("first", None)
    course_of_jane.by_collect("second", None)
    assert course_of_jane.text == "second" and course_of_jane.kept == ["first"]
    assert (course_of_jane.folder / "scratch.ipynb").read_bytes() == notebook("mine")
    course_of_jane.by_exchange("third", TEN)
    assert course_of_jane.text == "second" and "othing shows which is newer" in course_of_jane.said


def test_the_demo_keeps_files_put_there_by_hand(course_of_jane: FilledCourse) -> None:
    course_of_jane.by_hand("mine", None)
    assert not hand_in_sample(Course(course_of_jane.root), LESSON, "jane", "a sample", datetime.now(UTC))
    assert course_of_jane.text == "mine"
