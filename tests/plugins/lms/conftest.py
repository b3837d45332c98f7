"""Fixtures to collect downloads with `nbgrader zip_collect`, and a class list."""

from __future__ import annotations

import csv
import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import ZipCollectApp
from nbgrader.utils import parse_utc

from grading.plugins.lms.collection import Outcome

from ...support import course_fixtures
from ...support.nbgrader_runner import course_config
from ...support.two_exercise_course import LESSON

course = course_fixtures.course  # the two exercises, not the class of `tests/plugins`


class Collect:
    """Runs `nbgrader zip_collect` on files: `collect({path in archive/: bytes})`.

    Returns student -> source of the first collected cell. Keyword arguments are settings of the extractor.
    `outcomes`: the rows of the table that the command prints.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.archive = root / "downloaded" / LESSON / "archive"
        self.outcomes: list[Outcome] = []

    def __call__(self, files: dict[str, bytes], **settings: int | str) -> dict[str, str]:
        self.archive.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (self.archive / name).parent.mkdir(parents=True, exist_ok=True)
            (self.archive / name).write_bytes(content)
        config = course_config(self.root)
        config.TolerantExtractor.update(settings)
        app = ZipCollectApp.instance(config=config)
        try:
            app.initialize([LESSON, "--force"])
            app.update_config(config)
            app.log.propagate = True
            app.log.setLevel(logging.INFO)
            app.start()
            self.outcomes = app.extractor_plugin_inst.outcomes
        finally:
            ZipCollectApp.clear_instance()
        return submitted(self.root)

    def replace(self, files: dict[str, bytes], **settings: int | str) -> dict[str, str]:
        """Collect another download, which replaces the first one."""
        shutil.rmtree(self.archive)
        return self(files, **settings)

    def statuses(self) -> dict[str, str]:
        """Owner -> what happened to the submission."""
        return {outcome.owner: outcome.what for outcome in self.outcomes}

    def outcome_line(self, name: str) -> str:
        """The row of the one submission with this name that was not collected.

        It has the owner, the outcome and the reason.
        """
        (row,) = (row for row in self.outcomes if (row.failed or not row.student) and name in row.owner)
        line = f"{row.owner}: {row.what}: {row.why}"
        assert line.isprintable() and len(line) < 1_000
        return line

    def answer(self, **students: str) -> None:
        """Fill in student ids as a teacher does in a spreadsheet.

        `students`: value of the column `name` -> student.
        """
        with open(self.root / "student-ids.csv", encoding="utf-8-sig", newline="") as file:
            head, *rows = csv.reader(file)
        names = {row[3] for row in rows}
        assert set(students) <= names, names
        for row in rows:
            row[0] = students.get(row[3], row[0])
        with open(self.root / "student-ids.csv", "w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file, delimiter=";").writerows([head, *rows])

    def timestamps(self) -> dict[str, str]:
        found = (self.root / "submitted").glob(f"*/{LESSON}/timestamp.txt")
        return {path.parts[-3]: f"{parse_utc(path.read_text().strip())} UTC" for path in found}


@pytest.fixture
def collect(course: Any) -> Collect:
    return Collect(course.root)


@pytest.fixture
def class_list(course: Any) -> Callable[..., None]:
    """`class_list(id={...})` adds students, as `nbgrader db student import` does."""

    def put(**students: dict[str, str]) -> None:
        with Gradebook(f"sqlite:///{course.root}/gradebook.db", "attention") as gradebook:
            for student, about in students.items():
                gradebook.update_or_create_student(student, **about)

    return put


def submitted(root: Path) -> dict[str, str]:
    found = {}
    for path in (root / "submitted").glob(f"*/{LESSON}/*"):
        assert path.name in (f"{LESSON}.ipynb", "timestamp.txt")
        if path.suffix == ".ipynb":
            found[path.parts[-3]] = json.loads(path.read_text())["cells"][0]["source"]
    return found
