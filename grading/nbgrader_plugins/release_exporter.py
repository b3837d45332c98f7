"""The exporter of `nbgrader generate_assignment`: build a release, then swap it in.

nbgrader deletes the old release first. If it then refuses the new one, because cells were added or removed while the
gradebook has submissions, no release is left. Here the old release stays, and the error explains what to do.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearSolutions

from grading.course_dir.lessons import is_ordinary
from grading.notebooks.cells import grade_id
from grading.notebooks.written_answers import answered_question

from .past_releases import remember_release

UNFINISHED = ".releasing-"  # prefix of the folder in the course directory in which a release is built

CHANGED = (
    "The release was not changed. The text of %s, or course.toml, changed after the notebook in "
    "source/ was built: run `grading release %s` to build and release it."
)

REMEDY = (
    "{lesson} has {count} submission{s} in the gradebook, so no exercise of it can be added or "
    "removed ({changed}). The release was not changed. Put the cells back as they were, or put "
    "the new exercise into another lesson. Or start the lesson over: copy the gradebook, then "
    "run `nbgrader db assignment remove {lesson} --force`, which deletes the lesson's grades, "
    "points by hand and due date, and `grading release {lesson}` and `grading grade {lesson}`, "
    "which grade the files in submitted/ again."
)


class ReleaseExporter(NotebookExporter):
    """Makes its converter build beside the old release.

    The converter creates this exporter right before it converts.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call]  # nbconvert's has no annotations
        if getattr(self.parent, "assignments", None):
            convert: Callable[[], None] = self.parent.convert_notebooks  # type: ignore[union-attr]
            self.parent.convert_notebooks = lambda: self._convert_beside(convert)  # type: ignore[union-attr]

    def register_preprocessor(self, preprocessor: Any, enabled: bool = False) -> Any:
        """Register nbgrader's preprocessors, with ours around the one that inserts stubs."""
        if not isinstance(preprocessor, ClearSolutions):
            return super().register_preprocessor(preprocessor, enabled)  # type: ignore[no-untyped-call]  # see above
        lines = _AnswerLines(preprocessor.text_stub)
        for part in (lines.keep, preprocessor, lines.put_back):
            super().register_preprocessor(part, enabled and part is preprocessor)  # type: ignore[no-untyped-call]
        return preprocessor

    def _convert_beside(self, convert: Callable[[], None]) -> None:
        coursedir: CourseDirectory = self.parent.coursedir  # type: ignore[union-attr]
        lessons = [os.path.basename(os.path.normpath(source)) for source in self.parent.assignments]  # type: ignore[union-attr]
        for lesson in lessons:
            self._demand_built(coursedir, lesson)
        with _redirect_release(coursedir, lessons):
            try:
                convert()
            except NbGraderException:
                for why in filter(None, (_refusal_reason(coursedir, lesson) for lesson in lessons)):
                    self.log.error("%s", why)
                raise

    def _demand_built(self, coursedir: CourseDirectory, lesson: str) -> None:
        """Raise NbGraderException if the lesson's notebook is older than its sources."""
        root = Path(coursedir.format_path(coursedir.source_directory, ".", lesson)).resolve().parents[1]
        if is_ordinary(root, lesson):
            return
        from grading.authoring.student_repo import is_built_from_other  # it imports torch

        if is_built_from_other(root, lesson):
            self.log.error(CHANGED, lesson, lesson)
            raise NbGraderException(f"{lesson} has changed after it was built")


class _AnswerLines:
    """Keeps the first line of cells for written answers, above nbgrader's stub.

    The line is `%%answer NAME`.
    """

    def __init__(self, stub: str) -> None:
        self._stub, self._lines = stub, list[str]()

    def keep(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        self._lines = [cell.source.partition("\n")[0] if answered_question(cell) else "" for cell in nb.cells]
        return nb, resources

    def put_back(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        for cell, line in zip(nb.cells, self._lines, strict=True):
            cell.source = f"{line}\n{self._stub}" if line else cell.source
        return nb, resources


@contextmanager
def _redirect_release(coursedir: CourseDirectory, lessons: list[str]) -> Iterator[None]:
    """Redirect a release to a copy. It replaces the original unless an error is raised."""
    root, release = Path(coursedir.root), coursedir.release_directory
    for left in root.glob(f"{UNFINISHED}*"):  # of a killed process
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=root) as beside:
        places = {
            Path(coursedir.format_path(release, ".", lesson)): Path(coursedir.format_path(beside, ".", lesson))
            for lesson in lessons
        }
        for old, new in places.items():
            if old.is_dir():
                shutil.copytree(old, new, symlinks=True)
        coursedir.release_directory = os.path.basename(beside)
        try:
            yield
        finally:
            coursedir.release_directory = release
        for old, new in places.items():
            _swap(old, new, Path(beside) / "before")
            remember_release(root, old.name, old / f"{old.name}.ipynb")


def _swap(old: Path, new: Path, aside: Path) -> None:
    if new.is_dir():
        old.parent.mkdir(parents=True, exist_ok=True)
        if old.exists():
            os.rename(old, aside)
        os.rename(new, old)
        shutil.rmtree(aside, ignore_errors=True)


def _refusal_reason(coursedir: CourseDirectory, lesson: str) -> str:
    """Why nbgrader refuses a lesson: cells were added or removed; "" if none were."""
    with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
        try:
            notebook = gradebook.find_notebook(lesson, lesson)
        except MissingEntry:
            return ""
        there, count = {cell.name for cell in notebook.source_cells}, len(notebook.submissions)
    path = Path(coursedir.format_path(coursedir.source_directory, ".", lesson)) / f"{lesson}.ipynb"
    marked = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if grade_id(cell)]
    changed = {"added": {grade_id(cell) for cell in marked} - there, "removed": there - {grade_id(c) for c in marked}}
    changes = "; ".join(f"{word}: {', '.join(sorted(names))}" for word, names in changed.items() if names)
    return REMEDY.format(lesson=lesson, count=count, s="s" * (count != 1), changed=changes) if changes and count else ""
