"""Set up a course directory (settings, lessons, secret seed) and add lessons.

Never overwrites existing files. Does not cover: building lessons (`authoring/build.py`).
"""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..errors import CourseError
from .paths import CONFIG
from .seeds import FILE as SEED
from .seeds import course_seed

EXCHANGE = "/srv/nbgrader/exchange"
NAME = re.compile(r"\d\d_[a-z][a-z0-9_]*")
LESSONS = ("source/*.py", "grader_tests/**/*.py", "grader_tests/**/*.toml")
GITIGNORE = f"""\
# secrets, grades, and what students handed in: in no repository
{SEED}*
gradebook.db*
student-ids.csv
submitted/
autograded/
feedback/
downloaded/
hand-ins/
backup-*.tar.gz
student-*.zip
# built from source/*.py
source/*/
build/
.releases/
.proofs.json
.grading-lock
.grading-owner
__pycache__/
.ipynb_checkpoints/
"""
NEW = Environment(
    loader=PackageLoader("grading"), undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
)


def init_course(root: Path, lessons: Path | None = None, exchange: str = "") -> list[str]:
    """Set up a course in `root` and return lines that say what was done. Raises CourseError.

    lessons   another course to copy lesson texts and graders from: its directory, or a zip of it
    exchange  directory of nbgrader's exchange; "": none
    """
    if (root / CONFIG).exists():
        raise CourseError(f"{root} is a course already: it has an {CONFIG}, and nothing was changed")
    if exchange and not Path(exchange).is_dir():
        raise CourseError(
            f"there is no directory {exchange}: nbgrader's exchange has to be there, and nothing was made"
        )
    done = []
    with _unpacked_source(lessons) as origin:
        copied = sorted({p for pattern in LESSONS for p in origin.glob(pattern)}) if origin else []
        for path in copied:
            target = root / path.relative_to(origin or root)
            if target.exists():
                raise CourseError(f"{target} is there already, and would be overwritten: begin in an empty directory")
        for folder in ("source", "grader_tests"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        for path in copied:
            target = root / path.relative_to(origin or root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    (root / CONFIG).write_text(_settings(root.resolve().name, exchange), encoding="utf-8")
    done.append(f"{root / CONFIG}: written")
    if not (root / ".gitignore").exists():
        (root / ".gitignore").write_text(GITIGNORE, encoding="utf-8")
    course_seed(root)
    count = sum(path.parent.name == "source" for path in copied)
    done.append(
        f"{root / SEED}: the secret that hidden cases are drawn from; keep it as long as the grades, and to yourself"
    )
    done.append(
        f"{count} lessons taken from {lessons}" if count else "no lessons yet: `grading new-lesson 01_name` writes one"
    )
    done.append(f"exchange: {exchange}" if exchange else f"no exchange: c.Exchange.root in {CONFIG} names one")
    done.append(f"Next: go to {root}, and `grading release`." if count else f"Next: go to {root}.")
    return done


def new_lesson(root: Path, name: str) -> list[Path]:
    """Write a new lesson that passes `grading prove`; returns its files. Raises CourseError."""
    if not NAME.fullmatch(name):
        raise CourseError(f"{name!r} names no lesson: two digits and small letters, such as 13_positions")
    given = {"name": name, "number": int(name[:2]), "title": name[3:].replace("_", " ").capitalize()}
    tests = root / "grader_tests" / name
    texts = {root / "source" / f"{name}.py": "lesson.py", tests / "__init__.py": "__init__.py"}
    texts |= {tests / "mean" / file: file for file in ("contract.py", "alternatives.py", "mistakes.py")}
    if there := [path for path in texts if path.exists()]:
        raise CourseError(f"{there[0]} is there already, and nothing was written: choose another name")
    for path, template in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(NEW.get_template(f"lesson/{template}.j2").render(given), encoding="utf-8")
    return list(texts)


def _settings(name: str, exchange: str) -> str:
    own = ["", f"c.CourseDirectory.course_id = {re.sub(r'[^A-Za-z0-9_-]+', '-', name)!r}"]
    own += [f"c.Exchange.root = {exchange!r}"] if exchange else []
    return _default_settings() + "\n".join(own) + "\n"


def _default_settings() -> str:
    """The default settings, from the engine's wheel or from the checkout."""
    here = Path(__file__).parents[1]
    found = next(path for path in (here / "templates" / CONFIG, here.parent / CONFIG) if path.is_file())
    return found.read_text(encoding="utf-8")


@contextmanager
def _unpacked_source(lessons: Path | None) -> Iterator[Path | None]:
    """The directory that contains source/ and grader_tests/."""
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
    raise CourseError(f"{named} has no lessons: there is no source/ and grader_tests/ in it")
