"""Write the students' repository: notebooks, wheel, README, licence, rules for AI assistants, solutions.

It never deletes anything there, since notebooks that somebody opened last week still need last week's wheel. Does not
cover: setup cells and badges (`student_install`), releasing lessons, making the web site (`site/`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import distribution
from pathlib import Path

import nbformat
from jinja2 import Environment, PackageLoader, StrictUndefined

import course
from course.lessons_folder import assistant_files
from course.notebook.catalog import SOLUTIONS
from course.outline import FILE as OUTLINE
from course.outline import Outline, read_outline

from ..course_dir.lessons import is_ordinary, list_lessons, released_museum
from ..course_dir.paths import CONFIG
from ..errors import CourseError
from .beside_notebook import course_outline
from .build import notebook_of
from .published_solutions import solutions_of
from .student_install import BADGE, PACKAGE, PackageSource, insert_setup_cell, wheel_of

EXAMPLES = (
    "*.examples",
    "*.questions",
    "*.predictions",
    "*.experiment",
    "*.stubs",
    "*.given",
    "*/*.practice",
    "outline.json",
)  # check data beside the notebook, if the package does not have the lesson
EXTENSION = f"share/jupyter/labextensions/{PACKAGE}"  # where Jupyter looks for it, below an environment
SITE = "docs"  # the folder of a repository that GitHub publishes as a web site
OURS = "<!-- written by `grading publish`, which writes it again -->"
SINCE_1980 = "315532800"  # seconds: the earliest time that a zip can store; a fixed time makes wheels reproducible
PAGES = Environment(
    loader=PackageLoader("grading"),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    autoescape=False,
)


@dataclass
class PublishResult:
    """Names of files: written, unchanged, and others in the folder (not touched)."""

    written: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def released(root: Path) -> list[str]:
    """Names of the lessons in release/, in the course's order.

    Raises CourseError if there are none.
    """
    found = [name for name in list_lessons(root) if (root / "release" / name / f"{name}.ipynb").is_file()]
    if not found:
        raise CourseError(f"nothing is released in {root} yet: run `grading release` first")
    return found


def has_site(into: Path) -> bool:
    """Whether the published repository contains a web site."""
    return (into / SITE / "objects.inv").is_file()


def stale_releases(root: Path, names: Iterable[str]) -> list[str]:
    """The lessons whose text, course.toml or built files changed after their release."""
    asked = course_outline(root)

    def is_stale(name: str) -> bool:
        folder = root / "source" / name
        if not (folder / f"{name}.ipynb").exists():
            return False
        if not is_ordinary(root, name):
            there = (
                read_outline((folder / OUTLINE).read_text(encoding="utf-8")) if (folder / OUTLINE).exists() else None
            )
            if _differ(there, asked) or is_built_from_other(root, name):
                return True
        return not is_released(root, name)

    return [name for name in names if is_stale(name)]


def _differ(there: Outline | None, asked: Outline | None) -> bool:
    """Whether two outlines differ in the lessons that both have.

    A new lesson changes nothing in the others.
    """
    if there is None or asked is None:
        return there is not asked
    both = there.lessons.keys() & asked.lessons.keys()
    return [pair for pair in there.lessons.items() if pair[0] in both] != [
        pair for pair in asked.lessons.items() if pair[0] in both
    ]


def is_built_from_other(root: Path, name: str) -> bool:
    """Whether a lesson's built notebook differs from its text and course.toml."""
    return (root / "source" / name / f"{name}.ipynb").read_bytes() != notebook_of(root, name)


def is_released(root: Path, name: str) -> bool:
    """Whether a lesson's release is newer than its built notebook.

    It must also have the same files beside the notebook.
    """
    built, release = (root / step / name for step in ("source", "release"))
    notebooks = [folder / f"{name}.ipynb" for folder in (built, release)]
    if not notebooks[1].exists() or notebooks[0].stat().st_mtime_ns > notebooks[1].stat().st_mtime_ns:
        return False
    ours, theirs = ({f.relative_to(d): f for p in EXAMPLES for f in d.glob(p)} for d in (built, release))
    return ours.keys() == theirs.keys() and all(ours[n].read_bytes() == theirs[n].read_bytes() for n in ours)


def publish(root: Path, into: Path, where: PackageSource, solved: Iterable[str] = ()) -> PublishResult:
    """Write the repository, or its changes, to `into`. Raises CourseError.

    `solved`: names of the lessons whose solutions are published; "*" for all.
    """
    _check_target(root, into)
    names, done = released(root), PublishResult()
    solutions = _solutions(root, names, list(solved))
    examples = {
        path.relative_to(folder).as_posix(): path
        for folder in (root / "release" / name for name in names)
        for pattern in EXAMPLES
        for path in sorted(folder.glob(pattern))
    }
    ships = where.package == wheel_of(where.version)
    if ships and where.name:
        where = replace(where, package=where.raw(where.package))
    into.mkdir(parents=True, exist_ok=True)
    titles = {}
    notebooks: dict[str, bytes] = {}
    for name in (*names, *released_museum(root)):
        notebook = nbformat.read(root / "release" / name / f"{name}.ipynb", as_version=4)
        insert_setup_cell(notebook, f"{name}.ipynb", where)
        titles[name] = notebook.cells[0].source.partition("\n")[0].lstrip("# ")
        notebooks[name] = (nbformat.writes(notebook) + "\n").encode()
        _write(into, f"{name}.ipynb", notebooks[name], done)
    beside = {name: path.read_bytes() for name, path in examples.items()} | solutions
    if asked := course_outline(root):
        beside[OUTLINE] = asked.to_json().encode()
    for name, content in beside.items():
        _write(into, name, content, done)
    if ships:
        with tempfile.TemporaryDirectory(prefix="grading-") as made:
            wheel = make_wheel(Path(made), beside, notebooks)
            _write(into, wheel.name, wheel.read_bytes(), done)
    _write(into, "LICENSE", _licence(root), done)
    for name, rules in assistant_files().items():
        if not (into / name).exists() or (into / name).read_bytes() == rules:  # the teacher's own are kept
            _write(into, name, rules, done)
    page = into / "README.md"
    if not page.exists() or OURS in page.read_text(encoding="utf-8"):
        readme = PAGES.get_template("published.md.j2").render(
            ours=OURS,
            badge=BADGE,
            titles=titles,
            where=where,
            ships=ships,
            wheel=wheel_of(where.version),
            solved=bool(solutions),
        )
        _write(into, page.name, readme.encode(), done)
    known = {".git", *(Path(name).parts[0] for name in (*done.written, *done.same))}
    known |= {SITE} if has_site(into) else set()
    done.left = sorted(path.name for path in into.iterdir() if path.name not in known)
    return done


def _solutions(root: Path, names: list[str], wanted: list[str]) -> dict[str, bytes]:
    if unknown := sorted(set(wanted) - {"*", *names}):
        raise CourseError(
            f"c.Delivery.solutions: {', '.join(unknown)} is not released; the released lessons are {', '.join(names)}"
        )
    solved = [solutions_of(root, name) for name in names if name in wanted or "*" in wanted]
    return {file: content for made in solved for file, content in made.items()}


def make_wheel(into: Path, examples: Mapping[str, bytes], notebooks: Mapping[str, bytes]) -> Path:
    """Build the student's wheel from the installed package.

    `examples`: check data and solutions to add, by path in course/examples. `notebooks`: the notebooks of `attention
    start`, by lesson, instead of the package's. The same files give the same bytes.
    """
    found = distribution(PACKAGE)
    unpacked = into / f"{PACKAGE.replace('-', '_')}-{found.version}"
    unwanted = shutil.ignore_patterns("__pycache__", "*.pyc", f"*{SOLUTIONS}")
    shutil.copytree(Path(course.__file__).parent, unpacked / "course", ignore=unwanted)
    for name, content in examples.items():
        place = unpacked / "course" / "examples" / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(content)
    shutil.rmtree(unpacked / "course" / "lessons", ignore_errors=True)
    for name, content in notebooks.items():
        place = unpacked / "course" / "lessons" / name / f"{name}.ipynb"
        place.parent.mkdir(parents=True)
        place.write_bytes(content)
    shutil.copytree(unpacked / "course" / "labextension", unpacked / f"{unpacked.name}.data" / "data" / EXTENSION)
    about = unpacked / f"{unpacked.name}.dist-info"
    for file in ("METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE"):
        if text := found.read_text(file):
            (about / file).parent.mkdir(parents=True, exist_ok=True)
            (about / file).write_text(text, encoding="utf-8")
    for path in unpacked.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    pack = [sys.executable, "-m", "wheel", "pack", "--dest-dir", str(into), str(unpacked)]
    subprocess.run(pack, check=True, capture_output=True, env={**os.environ, "SOURCE_DATE_EPOCH": SINCE_1980})
    return into / wheel_of(found.version)


def _check_target(root: Path, into: Path) -> None:
    target = into.resolve()
    if target == root or (target / CONFIG).exists() or target.is_relative_to(root / "source"):
        raise CourseError(f"{into} is part of a course, which contains the solutions. Publish into another folder")
    if target.exists() and not target.is_dir():
        raise CourseError(f"{into} is a file. Publish into a folder")


def _licence(root: Path) -> bytes:
    """The course's licence, or the package's if the course has none."""
    own = root / "LICENSE"
    return own.read_bytes() if own.is_file() else (distribution(PACKAGE).read_text("licenses/LICENSE") or "").encode()


def _write(into: Path, name: str, content: bytes, done: PublishResult) -> None:
    path = into / name
    if path.exists() and path.read_bytes() == content:
        done.same.append(name)
        return
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    done.written.append(name)
