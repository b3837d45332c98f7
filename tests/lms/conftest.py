"""Downloads as platforms and people make them, and `nbgrader zip_collect` over them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import logging
import shutil
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import ZipCollectApp
from nbgrader.utils import parse_utc

from grading.lms.collection import Outcome

from ..support.two_exercise_course import LESSON, course_config

Files = dict[str, bytes] | Iterable[tuple[str, bytes]]  # by name; as pairs where a name may come twice


def notebook(text: str) -> bytes:
    return json.dumps({"cells": [{"cell_type": "raw", "source": text}], "nbformat": 4}).encode()


def zipped(files: Files, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip; a name that ends in a slash is a folder's."""
    made = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(made, "w") as archive:  # of names that repeat
        for name, content in files.items() if isinstance(files, dict) else files:
            archive.writestr(zipfile.ZipInfo(name), content, compression)  # dated 1980, so the same bytes every time
    return made.getvalue()


def tarred(files: Files, members: Iterable[tarfile.TarInfo] = (), gzipped: bool = True, **how: Any) -> bytes:
    """A tar archive with the files and, after them, members that have no content."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", **how) as archive:
        for name, content in files.items() if isinstance(files, dict) else files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for member in members:
            archive.addfile(member)
    return gzip.compress(made.getvalue(), mtime=0) if gzipped else made.getvalue()


def moodle(name: str, number: int, file: str = f"{LESSON}.ipynb") -> str:
    return f"{name}_{number}_assignsubmission_file_/{file}"


class Collect:
    """collect({path in archive/: bytes}): runs zip_collect; student -> source of the first cell collected.

    Settings of the extractor may be given by name. outcomes: what the table says of each submission.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.archive = root / "downloaded" / LESSON / "archive"
        self.outcomes: list[Outcome] = []

    def __call__(self, files: dict[str, bytes], **settings: int) -> dict[str, str]:
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

    def anew(self, files: dict[str, bytes], **settings: int) -> dict[str, str]:
        """As after another download, in place of the one before."""
        shutil.rmtree(self.archive)
        return self(files, **settings)

    def became(self) -> dict[str, str]:
        """What became of each, by whose it is."""
        return {one.whose: one.what for one in self.outcomes}

    def told(self, name: str) -> str:
        """The one line of what was not collected in which the name stands: whose, what, why."""
        (one,) = (one for one in self.outcomes if (one.failed or not one.student) and name in one.whose)
        line = f"{one.whose}: {one.what}: {one.why}"
        assert line.isprintable() and len(line) < 1_000
        return line

    def answer(self, **students: str) -> None:
        """Fill in the table as a teacher does, in a spreadsheet: by what stands in the column name."""
        with open(self.root / "whose.csv", encoding="utf-8-sig", newline="") as file:
            head, *rows = csv.reader(file)
        names = {row[3] for row in rows}
        assert set(students) <= names, names
        for row in rows:
            row[0] = students.get(row[3], row[0])
        with open(self.root / "whose.csv", "w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file, delimiter=";").writerows([head, *rows])

    def timestamps(self) -> dict[str, str]:
        found = (self.root / "submitted").glob(f"*/{LESSON}/timestamp.txt")
        return {path.parts[-3]: f"{parse_utc(path.read_text().strip())} UTC" for path in found}


@pytest.fixture
def collect(course: Any) -> Collect:
    return Collect(course.root)


@pytest.fixture
def class_list(course: Any) -> Callable[..., None]:
    """class_list(id={...}): puts students into the gradebook, as `nbgrader db student import` does."""

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
