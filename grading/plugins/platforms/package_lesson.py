"""Package a released lesson for a platform that grades each submission itself.

Most packages have the lesson's graders and the course's secret seed, so only teachers and the platform may see them. A
platform that grades in public gets neither. No package has a student's work: of the gradebook, only what `grading
release` wrote.
"""

from __future__ import annotations

import io
import os
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from course.lessons_folder import assistant_files
from grading.coordinator.agreement import disagreements
from grading.coordinator.trial_course import copy_gradebook
from grading.course import Course
from grading.course_dir.paths import CONFIG
from grading.course_dir.seeds import FILE as SEED
from grading.course_dir.seeds import course_seed
from grading.errors import StepFailed
from grading.gradebook.view import load_released
from grading.judge.job import GRADERS, SHARED
from grading.nbgrader_plugins.past_releases import FOLDER as RELEASES
from grading.notebooks.cells import title_of
from grading.notebooks.released import MarkedCell

from .packages import PACKAGES, LessonFiles

STUDENTS, TEACHERS = "attention-course", "attention-course-teach"
# The platforms' own paths differ from this course's, so the gradebook is named by its place beside the configuration
OWN_GRADEBOOK = b"""
from pathlib import Path  # noqa: E402

c.CourseDirectory.db_url = f"sqlite:///{Path(__file__).resolve().parent / 'gradebook.db'}"
"""
OLDEST_DATE = (1980, 1, 1, 0, 0, 0)  # in zips, so that the same lesson gives the same bytes


def package_lesson(course: Course, lesson: str, platform: str, wheels: Path, target: Path) -> int:
    """Write the package of `lesson` for `platform` to `target`, a zip or a folder; return the number of its files.

    wheels  folder with the wheels of both packages, of the installed version

    Raises StepFailed if the lesson cannot be graded, a wheel is missing, or `target` is there already.
    """
    package = PACKAGES[platform]
    kept = lesson_files(course, lesson, wheels, public=package.public)
    if target.exists():
        raise StepFailed(f"{target} exists: delete it, or pass another --output")
    files = package.files(kept)
    target.parent.mkdir(parents=True, exist_ok=True)
    if package.zipped:
        target.write_bytes(_zip(files, package.runs))
    else:
        _write_folder(target, files, package.runs)
    return len(files)


def lesson_files(course: Course, lesson: str, wheels: Path, *, public: bool = False) -> LessonFiles:
    """Collect what a platform needs to grade `lesson`. Raises StepFailed as `package_lesson` does.

    public  only what students may see
    """
    if not course.is_registered(lesson):
        raise StepFailed(f"{lesson} is not released yet, so it cannot be graded: run `grading release {lesson}`")
    if problems := disagreements(course, lesson):
        raise StepFailed(f"{lesson} is not packaged. {' '.join(problems)}")
    coursedir = course.directory()
    released = load_released(coursedir.db_url, lesson, lesson, coursedir)
    title = title_of(cell.source for cell in released.order if cell.cell_type == "markdown") or lesson
    graded = [cell for cell in released.order if isinstance(cell, MarkedCell) and (cell.grade or cell.task)]
    release = course.root / "release" / lesson
    return LessonFiles(
        lesson=lesson,
        title=title,
        exercises={cell.exercise: cell.points for cell in graded if not _is_by_hand(cell)},
        questions=[cell.exercise for cell in graded if _is_by_hand(cell)],
        student={**assistant_files(), **dict(_below(release, release))},
        wheels=_wheels(wheels, (STUDENTS,) if public else (STUDENTS, TEACHERS)),
        pins=pins(STUDENTS if public else TEACHERS),
        python=f"{sys.version_info.major}.{sys.version_info.minor}",
        course={} if public else dict(_course_files(course, lesson)),
    )


def _is_by_hand(cell: MarkedCell) -> bool:
    """Whether a person grades the cell."""
    return cell.cell_type != "code" or cell.solution or cell.task


def _course_files(course: Course, lesson: str) -> Iterator[tuple[str, bytes]]:
    """A course directory with one lesson, file by file."""
    folders = [f"{GRADERS}/{lesson}", f"{GRADERS}/{SHARED}", f"source/{lesson}", f"release/{lesson}"]
    for folder in folders:
        yield from _below(course.root / folder, course.root)
    for file in (GRADERS + "/__init__.py", f"source/{lesson}.py", f"{RELEASES}/{lesson}.json", "course.toml"):
        if (course.root / file).is_file():
            yield file, (course.root / file).read_bytes()
    yield CONFIG, (course.root / CONFIG).read_bytes() + OWN_GRADEBOOK
    yield SEED, f"{course_seed(course.root)}\n".encode()
    with TemporaryDirectory() as folder:
        gradebook = Path(folder, "gradebook.db")
        copy_gradebook(course, gradebook, grades=False)
        yield gradebook.name, gradebook.read_bytes()


def _below(folder: Path, top: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(top)
        if file.is_file() and "__pycache__" not in path.parts and not file.name.startswith("."):
            yield path.as_posix(), file.read_bytes()


def _wheels(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    """The wheels of these packages, in the installed version."""
    found = {}
    for name in names:
        wanted = f"{name.replace('-', '_')}-{version(name)}-*.whl"
        files = sorted(folder.glob(wanted))
        if len(files) != 1:
            many = "no" if not files else "more than one"
            raise StepFailed(
                f"{many} file {wanted} in {folder}: run `make wheels` where the course's source is, or pass --wheels "
                "with the folder of the wheels that you installed"
            )
        found[files[0].name] = files[0].read_bytes()
    return found


def pins(package: str = TEACHERS) -> dict[str, str]:
    """Installed versions of the packages that one of the course's needs, apart from the course's own, by name."""
    found, new = dict[str, str](), list(dict.fromkeys([package, STUDENTS]))
    while new:
        for line in requires(new.pop()) or ():
            need = Requirement(line)
            name = canonicalize_name(need.name)
            if name in found or name == STUDENTS or (need.marker and not need.marker.evaluate({"extra": ""})):
                continue
            try:
                found[name] = version(name).partition("+")[0]  # without torch's suffix for a device
            except PackageNotFoundError:
                continue
            new.append(name)
    return found


def _zip(files: Mapping[str, bytes], runs: frozenset[str]) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, OLDEST_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name in runs else 0o644) << 16
            archive.writestr(entry, content)
    return whole.getvalue()


def _write_folder(target: Path, files: Mapping[str, bytes], runs: frozenset[str]) -> None:
    with TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as folder:
        made = Path(folder, target.name)
        for name, content in files.items():
            file = made / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(0o755 if name in runs else 0o644)
        os.rename(made, target)
