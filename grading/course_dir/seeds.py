"""The secret that a course's hidden cases are drawn from: drawn once, kept beside the gradebook, told to nobody.

An exercise's seed is made of it by a hash, so that what a kernel has to be told of one exercise says nothing of the
secret or of another exercise. A grade carries the secret's name, which tells with which one to compute it again.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import tempfile
from pathlib import Path

from ..errors import CourseError

FILE = ".grading-seed"  # in the course's directory; readable by its owner alone, and not for a repository
DRAWN = re.compile(r"[0-9a-f]{32}")


def course_seed(root: Path) -> str:
    """The course's own secret, which is drawn now if there is none. Raises CourseError if the file holds none."""
    path = root / FILE
    if not path.exists():
        _keep(secrets.token_hex(16), path)
    held = path.read_text(encoding="utf-8").strip()
    if not DRAWN.fullmatch(held):
        raise CourseError(f"{path} holds no seed: put back what it held, or delete it to have another drawn")
    return held


def lesson_seed(secret: str, lesson: str) -> str:
    """What a judge of this lesson is told, and which says nothing of other lessons."""
    return _hashed("lesson", secret, lesson).hex()


def seed_of(lesson_seed: str, exercise: str) -> int:
    """The number from which all of an exercise's cases are drawn, and which gives away nothing but itself."""
    return int.from_bytes(_hashed("cases", lesson_seed, exercise)[:7], "big")


def seed_id(secret: str) -> str:
    """What is recorded with a grade: it tells one secret from another, not what the secret is."""
    return _hashed("name", secret)[:4].hex()


def find_seed(name: str, root: Path, ours: str) -> str:
    """The secret of this name: `ours`, or what a file beside the course's own holds (`.grading-seed-spring`, say).

    Raises LookupError, whose message says what to put back.
    """
    held = [path.read_text(encoding="utf-8").strip() for path in sorted(root.glob(f"{FILE}*")) if path.is_file()]
    for secret in (ours, *held):
        if seed_id(secret) == name:
            return secret
    raise LookupError(
        f"the seed named {name} is not here. Put back the file that held it, as {root / FILE}-{name}; a seed that "
        "stood in the configuration goes there as text."
    )


def _hashed(*parts: str) -> bytes:
    return hashlib.sha256("\x1f".join(parts).encode()).digest()


def _keep(secret: str, path: Path) -> None:
    """Write the file whole or not at all, and never over another's."""
    descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=FILE)  # which is its owner's alone
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secret + "\n")
        try:
            os.link(made, path)
        except FileExistsError:  # another process was quicker
            return
    finally:
        os.unlink(made)
