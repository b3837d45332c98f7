"""Set up a course directory (settings, lessons, secret seed) and add lessons.

Never overwrites existing files. Does not cover: building lessons (`authoring/build.py`).
"""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from grading.safe_text import plural

from ..errors import CourseError
from .course_config import default_config_file
from .course_folder import make_course_directory
from .course_template import TEMPLATES, write_course_file
from .lesson_base import keep_base, read_lessons, write_lessons
from .paths import CONFIG
from .seeds import FILE as SEED
from .seeds import course_seed

EXCHANGE = "/srv/nbgrader/exchange"
NAME = re.compile(r"\d\d_[a-z][a-z0-9_]*")
GITIGNORE = f"""\
# secrets, grades, and what students handed in: in no repository
{SEED}*
gradebook.db*
student-ids.csv
submitted/
autograded/
feedback/
downloaded/
before-migrating-*/
.migrating-*/
# source/, grader_tests/ and .lessons-base/ hold solutions: keep a repository that has them private
hand-ins/
backup-*.tar.gz
student-*.zip
# built from source/*.py
source/*/
build/
.releases/
.grading-lock
.grading-owner
.grading-watch*
.grading-attempts*
.grading-review-*
__pycache__/
.ipynb_checkpoints/
"""


def init_course(root: Path, lessons: Path | None = None, exchange: str = "") -> list[str]:
    """Set up a course in `root`; returns lines that describe what was done.

    lessons   another course, as a directory or a zip, to copy lesson texts and graders from
    exchange  directory of nbgrader's exchange; "" for none

    Raises CourseError.
    """
    if (root / CONFIG).exists():
        raise CourseError(f"{root} is already a course, with an {CONFIG}; nothing was changed")
    check_exchange(exchange)
    done = []
    with unpacked_course(lessons) as origin:
        files = read_lessons(origin) if origin else {}
    make_course_directory(root)
    begin_with(root, files, files)
    (root / CONFIG).write_text(_settings(exchange), encoding="utf-8")
    done += [f"{path}: written" for path in (write_course_file(root), root / CONFIG)]
    if not (root / ".gitignore").exists():
        (root / ".gitignore").write_text(GITIGNORE, encoding="utf-8")
    course_seed(root)
    count = sum(path.startswith("source/") for path in files)
    done.append(
        f"{root / SEED}: the secret seed of the hidden cases. Keep it secret, and keep it as long as the grades"
    )
    done.append(
        f"{plural(count, 'lesson')} copied from {lessons}, with graders"
        if count
        else "no lessons yet: write one with `grading new-lesson 01_name`"
    )
    done.append(f"exchange: {exchange}" if exchange else f"no exchange: to use one, set c.Exchange.root in {CONFIG}")
    done.append(f"Next: change to {root}, and run `grading release`." if count else f"Next: go to {root}.")
    return done


def begin_with(root: Path, files: Mapping[str, str], base: Mapping[str, str]) -> None:
    """Write lessons into a course without lessons, and keep their base.

    `grading migrate` later compares with this base. Raises CourseError if a file exists already.
    """
    for name in files:
        if (root / name).exists():
            raise CourseError(f"{root / name} already exists and would be overwritten: choose an empty directory")
    for folder in ("source", "grader_tests"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    write_lessons(root, files)
    if base:
        keep_base(root, base)


def check_exchange(exchange: str) -> None:
    """Raise CourseError if `exchange` is given but is not a directory."""
    if exchange and not Path(exchange).is_dir():
        raise CourseError(f"nothing was made: the directory of nbgrader's exchange, {exchange}, does not exist")


def new_lesson(root: Path, name: str) -> list[Path]:
    """Write a new lesson that passes `grading prove`; returns its files.

    Raises CourseError.
    """
    if not NAME.fullmatch(name):
        raise CourseError(f"expected a name of two digits and lowercase words, such as 13_positions, got {name!r}")
    given = {"name": name, "number": int(name[:2]), "title": name[3:].replace("_", " ").capitalize()}
    tests = root / "grader_tests" / name
    texts = {root / "source" / f"{name}.py": "lesson.py", tests / "__init__.py": "__init__.py"}
    texts |= {tests / "predictions.toml": "predictions.toml"}
    texts |= {tests / "mean" / file: file for file in ("contract.py", "alternatives.py", "mistakes.py")}
    if there := [path for path in texts if path.exists()]:
        raise CourseError(f"nothing was written: {there[0]} already exists. Choose another name")
    for path, template in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TEMPLATES.get_template(f"lesson/{template}.j2").render(given), encoding="utf-8")
    return list(texts)


def _settings(exchange: str) -> str:
    return default_config_file().read_text(encoding="utf-8") + (
        f"\nc.Exchange.root = {exchange!r}\n" if exchange else ""
    )


@contextmanager
def unpacked_course(lessons: Path | None) -> Iterator[Path | None]:
    """The directory with source/ and grader_tests/ in a course, or in a zip of one.

    Raises CourseError.
    """
    if lessons is None or lessons.is_dir():
        yield _find_course([lessons], lessons) if lessons else None
        return
    if not zipfile.is_zipfile(lessons):
        raise CourseError(f"{lessons} is neither a directory nor a zip: name a course's directory, or a zip of one")
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        shutil.unpack_archive(lessons, folder, "zip")
        yield _find_course([Path(folder), *sorted(Path(folder).iterdir())], lessons)


def _find_course(places: list[Path], named: Path) -> Path:
    for place in places:
        if any(place.glob("source/[0-9][0-9]_*.py")) and (place / "grader_tests").is_dir():
            return place
    raise CourseError(f"{named} has no lessons: it has no source/ or no grader_tests/")
