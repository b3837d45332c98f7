"""What a grade is made of, as hashes: graders by what their code means, all else by content, never by times of files.

A file of a student's is read here as bytes, to be hashed, and nothing in it is looked at.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from grading.course_dir.fingerprints import Packages
from grading.errors import Unreadable
from grading.judge.start_judge import GRADERS, SHARED, Job
from grading.notebooks.submitted_file import MAX_BYTES, resolve
from grading.sandbox.policy import to_dict

from .equivalent_inputs import same_grade

WORDS = {
    "submission": "what was handed in",
    "timestamp": "when it was handed in",
    "graders": "the graders",
    "release": "the released lesson",
    "late": "the due date, or what being late costs",
    "seed": "the seed",
    "settings": "the settings of grading",
    "version": "the version of the grader",
}
"""What a grade is made of, in words for whoever is told why it is made again."""


def of_lesson(work: Job) -> dict[str, str]:
    """What all grades of a lesson are made of, by keys of WORDS. To be asked before the first of them is made: who is
    graded with what changes after that is graded again by the next run."""
    request = work.request
    settings = {key: request[key] for key in ("device", "sandboxed", "limits", "cell_seconds", "notebook_seconds")}
    return {
        "graders": graders_fingerprint(Path(work.about["graders"])),
        "release": _digest(request["released"], _files(work.root / "release" / request["lesson"])),
        "seed": _digest(request["seed"]),
        "settings": _digest(settings, to_dict(work.policy)),
        "version": version("attention-course-teach"),
    }


def made_of(lesson: Mapping[str, str], handed_in: Path, late: str) -> dict[str, str]:
    """Of what one submission's grade is made, by the keys of WORDS. lesson: `of_lesson`; late: what decides on its
    penalty, as text."""
    own = {"submission": digest_of_file(handed_in), "timestamp": _text(handed_in.parent / "timestamp.txt")}
    return {**lesson, **own, "late": late}


def differences(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """What is not as it was, as ends of a sentence with "since"."""
    return [f"{words} changed" for key, words in WORDS.items() if not same_grade(key, before.get(key), now.get(key))]


def digest_of_file(path: Path) -> str:
    """The SHA-256 of a file; of one that is not to be opened, why."""
    try:
        descriptor = os.open(resolve(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as stream:
            return hashlib.sha256(stream.read(MAX_BYTES + 1)).hexdigest()
    except (Unreadable, OSError) as error:
        return f"{type(error).__name__}: {error.args[0]}"


def digest_of_text(text: str) -> str:
    """The same of a file that holds this text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _text(path: Path) -> str:
    """When it was handed in, as nbgrader keeps it; empty where that is not known."""
    try:
        descriptor = os.open(resolve(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as stream:
            return stream.read(100).decode(errors="replace").strip()
    except (Unreadable, OSError):
        return ""


def bytes_of_graders(folder: Path) -> str:
    """The hash of a lesson's graders and of all that lessons share as version 0.1.0 recorded it, by their bytes."""
    files = sorted(file for part in (folder, folder.parent / SHARED) for file in part.rglob("*.py"))
    return _digest(
        [(os.path.relpath(file, folder.parent), hashlib.sha256(file.read_bytes()).hexdigest()) for file in files]
    )


def graders_fingerprint(folder: Path) -> str:
    """Of what a lesson's graders mean, and of what these import within grader_tests."""
    return Packages({GRADERS: folder.parent}).fingerprint(*sorted(folder.rglob("*.py")))


def _files(folder: Path) -> list[tuple[str, str]]:
    """What a kernel finds beside the notebook: the release's other files."""
    kept = (file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix != ".ipynb")
    named = ((str(file.relative_to(folder)), file) for file in kept)
    return [(name, digest_of_file(file)) for name, file in named if not name.startswith(".")]


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
