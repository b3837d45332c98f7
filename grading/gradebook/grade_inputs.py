"""Hash all inputs of a grade, to see whether it is up to date.

Graders are hashed by the meaning of their code, everything else by content. File times do not matter. Students' files
are only hashed as bytes here, and never parsed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nbgrader.utils import notebook_hash

from course.outline import FILE as OUTLINE
from grading.course_dir.fingerprints import Packages
from grading.errors import Unreadable
from grading.judge.job import GRADERS, GradeRequest, Job
from grading.notebooks.submitted_file import MAX_BYTES, resolve
from grading.sandbox.policy import to_dict

WORDS = {
    "submission": "the submission",
    "timestamp": "the time of submission",
    "graders": "the graders",
    "release": "the released lesson",
    "late": "the due date or the late policy",
    "seed": "the seed",
    "settings": "the settings for grading",
    "version": "the version of the grader",
}
"""The inputs of a grade, as phrases that say why it is computed again."""
LATENESS = ("timestamp", "late")  # inputs of the penalty alone
OWN = ("submission", *LATENESS)  # inputs of one submission
ATTEMPT = "attempt"  # names a submission of nbgrader's exchange, as its feedback page is named; "" for another one
MAX_SECRET = 1000  # bytes; nbgrader's has 128


def lesson_inputs(job: Job[GradeRequest]) -> dict[str, str]:
    """The inputs that all grades of a lesson share, by keys of WORDS.

    Call it before grading begins: if an input changes during it, the next run grades again.
    """
    request, lesson = job.request, job.request.lesson
    settings = {key: getattr(request, key) for key in ("sandboxed", "limits", "cell_seconds", "notebook_seconds")}
    return {
        "graders": graders_fingerprint(lesson.graders),
        "release": _digest(request.released.to_json(), _files(job.root / "release" / lesson.name)),
        "seed": _digest(lesson.seed),
        "settings": _digest({**settings, "device": lesson.device}, to_dict(job.policy)),
        "version": version("attention-course-teach"),
    }


def grade_inputs(lesson: Mapping[str, str], handed_in: Path, late: str) -> dict[str, str]:
    """All inputs of one submission's grade, by keys of WORDS.

    lesson  result of `lesson_inputs`
    late    text that decides the late penalty
    """
    secret = _text(handed_in.parent / "submission_secret.txt", MAX_SECRET)
    own = {
        "submission": digest_of_file(handed_in),
        "timestamp": _text(handed_in.parent / "timestamp.txt").strip(),
        ATTEMPT: notebook_hash(secret=secret, notebook_id=handed_in.stem) if secret else "",
    }
    return {**lesson, **own, "late": late}


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The changes, each as the end of a sentence with "because"."""
    return [f"{words} changed" for key, words in WORDS.items() if before.get(key) != now.get(key)]


def alike(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether two submissions were graded in the same way."""
    return all(before.get(key) == now.get(key) for key in WORDS if key not in OWN)


def only_lateness(since: list[str]) -> bool:
    """Whether the changes affect only the late penalty, so that verdicts stay valid.

    `since`: result of `differences`.
    """
    return bool(since) and set(since) <= {f"{WORDS[key]} changed" for key in LATENESS}


def digest_of_file(path: Path) -> str:
    """The SHA-256 of a file, or why it cannot be opened."""
    try:
        descriptor = os.open(resolve(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as stream:
            return hashlib.sha256(stream.read(MAX_BYTES + 1)).hexdigest()
    except (Unreadable, OSError) as error:
        return f"{type(error).__name__}: {error.args[0]}"


def digest_of_text(text: str) -> str:
    """The SHA-256 of a file with this text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _text(path: Path, most: int = 100) -> str:
    """A text that nbgrader stores beside a submission, at most so many bytes of it; "" if unknown."""
    try:
        descriptor = os.open(resolve(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as stream:
            return stream.read(most).decode(errors="replace")
    except (Unreadable, OSError):
        return ""


def graders_fingerprint(folder: Path) -> str:
    """Fingerprint of a lesson's graders and of their imports within grader_tests."""
    return Packages({GRADERS: folder.parent}).fingerprint(*sorted(folder.rglob("*.py")))


def _files(folder: Path) -> list[tuple[str, str]]:
    """Hash the release's other files, which a kernel finds next to the notebook.

    Leaves out the outline, since no grade depends on it.
    """
    kept = (file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix != ".ipynb")
    kept = (file for file in kept if file.name != OUTLINE)
    named = ((str(file.relative_to(folder)), file) for file in kept)
    return [(name, digest_of_file(file)) for name, file in named if not name.startswith(".")]


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
