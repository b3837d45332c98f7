"""Back up a course while it is graded, check a backup, and restore one.

Another process writes a grade to the gradebook first and its notebook to `autograded/` after that. So the backup copies
the files, then the gradebook, and then copies the notebooks again until each one is the notebook of its grade. It reads
a PostgreSQL gradebook in one transaction, as it is at one moment. In the backup the gradebook is always an SQLite file,
which opens without a server.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import stat
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import Gradebook
from sqlalchemy import Table, create_engine, func, insert, make_url, select
from sqlalchemy.engine import Connection

from grading.course import Course
from grading.course_dir.course_folder import make_course_directory
from grading.course_dir.paths import CONFIG
from grading.errors import StepFailed
from grading.gradebook.store import stored_grades

from .personal_rows import tables_of

GRADEBOOK, ABOUT, VERSION = "gradebook.db", "backup.json", "alembic_version"
CACHES = frozenset(["__pycache__", ".ipynb_checkpoints"])
UNFINISHED = (".migrating-", ".releasing-", ".unfinished-", ".backup-")  # prefixes of names to skip
MADE_AGAIN = ("build", "site", ".site", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis")
LEFT_OUT = frozenset([".git", ".venv", "venv", "node_modules", *MADE_AGAIN])  # only at the top of the course
LEFT_OUT_FILES = (
    "gradebook.db",
    "backup-",
    ".grading-lock",
    ".grading-owner",
    ".grading-watch",
    ".grading-review-",
)  # prefixes at the top
ROUNDS, PAUSE = 24, 0.25  # attempts to match notebooks with grades that are being written; seconds between them
AT_ONCE = 1000  # rows of the gradebook in memory at a time


@dataclass(frozen=True)
class Backup:
    """The content of a backup. wrong: what is not whole in it, in words."""

    grades: int
    submissions: int
    files: int
    wrong: tuple[str, ...] = ()


def back_up(course: Course, to: Path) -> Backup:
    """Write a backup that only its owner can read. Raises StepFailed."""
    if to.exists():
        raise StepFailed(f"{to} already exists and was not overwritten. Name another file.")
    with tempfile.TemporaryDirectory(prefix=".backup-", dir=to.parent) as place:
        folder = Path(place) / "course"
        _copy_files(course.root, folder)
        grades, missing = _copy_gradebook_with_notebooks(course, folder)
        about = {"made": datetime.now(UTC).isoformat(" ", "seconds"), "grades": grades, "not whole": missing}
        (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        made = Path(place) / "made"
        private = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with (
            os.fdopen(private, "wb") as file,
            tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as archive,
        ):
            archive.add(folder, arcname=".")
        os.rename(made, to)
    return verify(to)


def verify(file: Path) -> Backup:
    """Read a whole backup and check its grades.

    Each grade must have its verdicts and the notebook that was graded. Raises StepFailed.
    """
    digests: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as place, _opened(file) as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isfile() else None
            if stream is not None:
                digests[os.path.normpath(member.name)] = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
            if stream is not None and os.path.normpath(member.name) == GRADEBOOK:
                stream.seek(0)
                with (Path(place) / GRADEBOOK).open("wb") as copy:
                    shutil.copyfileobj(stream, copy)
        if GRADEBOOK not in digests or CONFIG not in digests:
            raise StepFailed(f"{file} is not a backup of a course: it has no {GRADEBOOK} or no {CONFIG}")
        with closing(Gradebook(f"sqlite:///{place}/{GRADEBOOK}")) as gradebook:
            grades = list(stored_grades(gradebook))
    wrong = []
    for grade in grades:
        name = f"autograded/{grade.student}/{grade.lesson}/{grade.notebook}.ipynb"
        if digests.get(name) != grade.digest:
            wrong.append(f"{name} is not the notebook of its grade: run `grading grade` to grade it again")
        if not grade.verdicts:
            wrong.append(f"{grade.lesson}, {grade.student}: the grade has no verdicts")
    submissions = {tuple(Path(name).parts[1:3]) for name in digests if name.startswith("submitted/")}
    return Backup(len(grades), len(submissions), len(digests), tuple(wrong))


def restore_backup(file: Path, to: Path) -> Backup:
    """Unpack a backup into an empty or missing directory. Raises StepFailed."""
    if to.exists() and any(to.iterdir()):
        raise StepFailed(f"nothing was written, because {to} is not empty. Name an empty or new directory.")
    found = verify(file)
    make_course_directory(to)
    with _opened(file) as archive:
        archive.extractall(to, filter=_inside)
    return found


def _inside(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
    """Apply Python's `data` filter, and skip a member that it refuses.

    Such a member would be outside the directory, for example a link in a submission.
    """
    with suppress(tarfile.FilterError):
        return tarfile.data_filter(member, path)
    return None


def load_gradebook(course: Course) -> int:
    """Copy a restored gradebook into the database that the course's settings name.

    Returns the number of rows. Raises StepFailed if that database is not empty.
    """
    source = create_engine(f"sqlite:///{course.root / GRADEBOOK}")
    written = 0
    with course.gradebook() as gradebook, source.connect() as rows, gradebook.engine.begin() as target:
        tables = tables_of(rows)
        tables.create_all(target)
        mine = [table for table in tables.sorted_tables if table.name != VERSION]
        made = tables.tables["course"]  # opening the gradebook adds a row to it
        if full := [table.name for table in mine if table is not made and _count(target, table)]:
            raise StepFailed(f"nothing was written, because the database is not empty ({full[0]} has rows)")
        target.execute(made.delete())
        for table in mine:
            written += _copy_table(rows, target, table)
            _continue_numbers(target, table)
    source.dispose()
    return written


def opens_its_own(course: Course) -> bool:
    """Whether the course's settings name the restored gradebook file."""
    url = make_url(course.directory().db_url)
    own = (course.root / GRADEBOOK).resolve()
    return url.get_backend_name() == "sqlite" and Path(url.database or "").resolve() == own


def _copy_table(source: Connection, target: Connection, table: Table) -> int:
    """Copy all rows of a table; returns how many."""
    count = 0
    rows = source.execute(select(table).execution_options(yield_per=AT_ONCE)).mappings()
    for some in rows.partitions():
        target.execute(insert(table), [dict(row) for row in some])
        count += len(some)
    return count


def _continue_numbers(connection: Connection, table: Table) -> None:
    """Make PostgreSQL number new rows after the copied ones."""
    number = table.autoincrement_column
    if connection.dialect.name == "postgresql" and number is not None:
        sequence = func.pg_get_serial_sequence(table.name, number.name)
        connection.execute(select(func.setval(sequence, select(func.max(number)).scalar_subquery())))


def _count(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def _copy_gradebook_with_notebooks(course: Course, folder: Path) -> tuple[int, list[str]]:
    """Copy the gradebook and recent notebooks until both agree.

    Copies again whatever was graded since the files were copied. Returns the number of grades and the notebooks that
    still do not match.
    """
    missing: dict[str, str] = {}
    for attempt in range(ROUNDS):
        if attempt % 4 == 0:  # the grade may have been written again
            _copy_gradebook(course, folder / GRADEBOOK)
            with closing(Gradebook(f"sqlite:///{folder / GRADEBOOK}")) as gradebook:
                grades = {
                    f"{grade.student}/{grade.lesson}/{grade.notebook}.ipynb": grade.digest
                    for grade in stored_grades(gradebook)
                }
        missing = {name: digest for name, digest in grades.items() if _digest(folder / "autograded" / name) != digest}
        if not missing:
            break
        if attempt:
            time.sleep(PAUSE)
        for name in missing:
            for step in ("autograded", "submitted"):
                _copy_again(course.root / step, folder / step, Path(name).parent)
    return len(grades), sorted(missing)


def _copy_again(source: Path, target: Path, name: Path) -> None:
    shutil.rmtree(target / name, ignore_errors=True)
    _copy(source / name, target / name)


def _copy_gradebook(course: Course, target: Path) -> None:
    """Write the gradebook as it is at one moment to an SQLite file."""
    target.unlink(missing_ok=True)
    with course.gradebook() as gradebook:
        if gradebook.engine.dialect.name == "sqlite":
            with (
                closing(sqlite3.connect(str(gradebook.engine.url.database))) as source,
                closing(sqlite3.connect(target)) as copy,
            ):
                source.backup(copy)
            return
        engine = create_engine(f"sqlite:///{target}")
        moment = gradebook.engine.connect().execution_options(isolation_level="REPEATABLE READ")
        with moment as rows, engine.begin() as copy_:
            tables = tables_of(rows)
            tables.create_all(copy_)
            for table in tables.sorted_tables:
                _copy_table(rows, copy_, table)
        engine.dispose()


def _copy_files(root: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    for name in sorted(os.listdir(root)):
        if name not in LEFT_OUT and not name.startswith(LEFT_OUT_FILES):
            _copy(root / name, folder / name)


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a folder with its contents.

    Links are copied as links. Pipes and the like are left out, and so are files that another process moves away.
    """
    if source.name in CACHES or source.name.startswith(UNFINISHED):
        return
    with suppress(FileNotFoundError):
        mode = source.lstat().st_mode
        if stat.S_ISDIR(mode):
            target.mkdir(parents=True, exist_ok=True)
            for name in sorted(os.listdir(source)):
                _copy(source / name, target / name)
        elif stat.S_ISREG(mode) or stat.S_ISLNK(mode):
            shutil.copy2(source, target, follow_symlinks=False)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


@contextmanager
def _opened(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(file, "r:gz") as archive:
            yield archive
    except (tarfile.TarError, EOFError, OSError) as error:
        raise StepFailed(f"{file} cannot be read as a backup: {error}") from error
