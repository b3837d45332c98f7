"""The secret seed of a course's hidden cases, drawn once and kept in its folder.

An exercise's seed is a hash of the secret. So the seed that a kernel gets for one exercise reveals neither the secret
nor the seed of another exercise. Each grade records the id of the secret, so that the grade can be computed again.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import tempfile
from pathlib import Path

from ..errors import CourseError

FILE = ".grading-seed"  # in the course directory; only its owner can read it, and repositories ignore it
DRAWN = re.compile(r"[0-9a-f]{32}")


def course_seed(root: Path) -> str:
    """The course's secret, drawn now if there is none.

    Raises CourseError if the file does not contain a valid secret.
    """
    path = root / FILE
    if not path.exists():
        _write_secret(secrets.token_hex(16), path)
    secret = path.read_text(encoding="utf-8").strip()
    if not DRAWN.fullmatch(secret):
        raise CourseError(f"{path} has no seed: restore its content, or delete the file to draw a new seed")
    return secret


def lesson_seed(secret: str, lesson: str) -> str:
    """The seed that a judge gets; it reveals nothing about other lessons."""
    return _hash("lesson", secret, lesson).hex()


def seed_of(lesson_seed: str, exercise: str) -> int:
    """The seed of all cases of one exercise; it reveals no other seed."""
    return int.from_bytes(_hash("cases", lesson_seed, exercise)[:7], "big")


def seed_id(secret: str) -> str:
    """The id of a secret, recorded with each grade; it does not reveal the secret."""
    return _hash("name", secret)[:4].hex()


def find_seed(name: str, root: Path, ours: str) -> str:
    """Find the secret with this id: `ours`, or one in another seed file.

    Such a file is next to the course's own and is called, for example, `.grading-seed-spring`. Raises LookupError with
    a message that says which file to restore.
    """
    stored = [path.read_text(encoding="utf-8").strip() for path in sorted(root.glob(f"{FILE}*")) if path.is_file()]
    for secret in (ours, *stored):
        if seed_id(secret) == name:
            return secret
    raise LookupError(
        f"the seed named {name} is missing. Restore its file as {root / FILE}-{name}; if the seed was "
        "set in the configuration, write its text into that file."
    )


def _hash(*parts: str) -> bytes:
    return hashlib.sha256("\x1f".join(parts).encode()).digest()


def _write_secret(secret: str, path: Path) -> None:
    """Write the file atomically; never overwrite an existing one."""
    descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=FILE)  # only its owner can read it
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secret + "\n")
        try:
            os.link(made, path)
        except FileExistsError:  # another process was faster
            return
    finally:
        os.unlink(made)
