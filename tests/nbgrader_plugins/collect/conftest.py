"""Downloads as platforms and people make them, and `nbgrader zip_collect` over them."""

from __future__ import annotations

import gzip
import io
import json
import logging
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.apps import ZipCollectApp

from ...halves import LESSON, course_config

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


@pytest.fixture
def collect(course: Any, caplog: pytest.LogCaptureFixture) -> Callable[..., dict[str, str]]:
    """collect({path in archive/: bytes}): runs zip_collect; student -> source of the first cell collected.

    Settings of the extractor may be given by name.
    """

    def run(files: dict[str, bytes], **settings: int) -> dict[str, str]:
        archive = course.root / "downloaded" / LESSON / "archive"
        archive.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (archive / name).parent.mkdir(parents=True, exist_ok=True)
            (archive / name).write_bytes(content)
        config = course_config(course.root)
        config.TolerantExtractor.update(settings)
        app = ZipCollectApp.instance(config=config)
        try:
            app.initialize([LESSON, "--force"])
            app.update_config(config)
            app.log.propagate = True
            app.log.setLevel(logging.INFO)
            app.start()
        finally:
            ZipCollectApp.clear_instance()
        return submitted(course.root)

    return run


def submitted(root: Path) -> dict[str, str]:
    found = {}
    for path in (root / "submitted").glob(f"*/{LESSON}/*"):
        assert path.name == f"{LESSON}.ipynb"
        found[path.parts[-3]] = json.loads(path.read_text())["cells"][0]["source"]
    return found


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Callable[[str], str]:
    """told("jane"): the one warning in which the name stands."""

    def only(name: str) -> str:
        said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
        (one,) = (message for message in said if name in message)
        assert "\n" not in one
        return one

    return only
