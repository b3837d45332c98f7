"""The exporter of `nbgrader autograde`: a judge reads and sanitizes submissions.

nbgrader converts each notebook twice. The first time, the judge returns the repaired, sanitized and bounded notebook,
and starts to grade it; the second time, `execute` waits for its verdicts. This module also filters submissions' names
and other files before nbgrader copies anything.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Bool, Integer

from grading.course_dir.student_ids import why_unfit
from grading.errors import CourseLocked, NotHandedIn
from grading.judge.collect_results import SubmissionRun
from grading.judge.start_judge import make_ready
from grading.notebooks.cells import RECORD
from grading.notebooks.released import ReleasedNotebook
from grading.notebooks.submitted_file import MAX_BYTES, unsafe_files
from grading.safe_text import make_safe, one_line

from ..gradebook.freshness import LessonFreshness
from ..gradebook.indexes import have_indexes
from ..gradebook.lock import exclusive
from ..gradebook.store import save
from ..nbgrader_plugins.execute import lesson_freshness
from ..submitted.submitted_dir import note_on_choice, submitted_folder
from .execute import JudgedExecute


class SubmissionExporter(NotebookExporter):
    """nbconvert's exporter, but it never opens a submitted file."""

    max_bytes = Integer(
        MAX_BYTES, help="Size of a notebook file, in bytes, above which it is not read but left to a person."
    ).tag(config=True)

    # Until the last preprocessor, a notebook may have contents that nbformat does not know
    optimistic_validation = Bool(True).tag(config=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call]  # nbconvert's has no annotations
        self.judging: SubmissionRun | None = None
        self._read: dict[tuple[str, str], LessonFreshness] = {}
        self._made_of: dict[str, str] = {}
        make_safe(self.log)  # nbgrader's own, which names whatever it copies
        self._skip_unsafe_names()
        self._put_in_place()
        self._ignore_unsafe_files()
        self._make_ready()
        if self._submissions():  # nbgrader creates an exporter right before it converts, and has no hook around that
            convert: Callable[[], None] = self.parent.convert_notebooks  # type: ignore[union-attr]
            self.parent.convert_notebooks = lambda: self._convert_locked(convert)  # type: ignore[union-attr]

    def from_filename(  # type: ignore[override]  # as nbconvert's own NotebookExporter returns
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        resources = ResourcesDict() if resources is None else resources
        if self._was_written_by_nbgrader(filename, resources):
            text, extra = super().from_filename(filename, resources, **kw)
            self._save(str(text), extra["nbgrader"])
            return str(text), extra
        nb = self._read_submission(filename, resources["nbgrader"])
        folder, name = os.path.split(filename)
        resources["metadata"] = ResourcesDict(name=os.path.splitext(name)[0], path=folder)
        output: tuple[str, dict[str, Any]]  # nbconvert wraps the method in a decorator without types
        output = self.from_notebook_node(nb, resources, **kw)  # type: ignore[no-untyped-call]  # see above
        return output

    def _read_submission(self, filename: str, ids: dict[str, str]) -> NotebookNode:
        """Get the sanitized notebook from a judge, which goes on grading in `self.judging`."""
        self.let_go()
        freshness = self._freshness(ids["assignment"], ids["notebook"])
        self._made_of = freshness.grade_inputs(ids["student"])
        job = JudgedExecute(parent=self).job(ids["assignment"], freshness.released)
        self.judging = SubmissionRun(job, filename, self.max_bytes)
        nb = self.judging.notebook()
        record = nb.metadata[RECORD]
        if note := note_on_choice(Path(filename), ids["notebook"]):
            record["repairs"] = [note, *record["repairs"]]
        if "unreadable" in record:
            self.log.warning("%s: %s", one_line(filename), one_line(record["unreadable"]))
        for sentence in record["repairs"]:
            self.log.warning("%s, %s: %s", ids["student"], ids["notebook"], one_line(sentence))
        return nb

    def _make_ready(self) -> None:
        """Load judges' libraries and references while nbgrader prepares submissions."""
        lesson = getattr(self._coursedir, "assignment_id", "")
        if lesson and getattr(self.parent, "assignments", None):
            make_ready(JudgedExecute(parent=self).job(lesson, ReleasedNotebook([])))

    def let_go(self) -> None:
        """End the running judge, if there is one."""
        if self.judging is not None:
            self.judging.close()
            self.judging = None

    def _save(self, text: str, ids: dict[str, str]) -> None:
        """Store the grade before its notebook exists: after an interruption it is made again.

        nbgrader makes the folder and its file itself, so `gradebook_writer` shares only `store.save` with this.
        """
        nb = nbformat.v4.reads(text)
        with Gradebook(ids["db_url"]) as gradebook:
            save(gradebook, ids, nb, text, self._made_of, AssignLatePenalties(parent=self))

    def _freshness(self, lesson: str, notebook: str) -> LessonFreshness:
        """A notebook's freshness, read once per run because the course is locked."""
        if (lesson, notebook) not in self._read:
            found = lesson_freshness(self._coursedir, self.config, lesson, notebook=notebook)
            self._read[lesson, notebook] = found
        return self._read[lesson, notebook]

    def _convert_locked(self, convert: Callable[[], None]) -> None:
        """Run nbgrader's conversion while no other process can grade this course."""
        try:
            with exclusive(Path(self._coursedir.root)):
                with Gradebook(self._coursedir.db_url, self._coursedir.course_id) as gradebook:
                    have_indexes(gradebook)
                self._remove_stale_notebooks()
                convert()
        except CourseLocked as error:
            self.log.error("%s", error)
            raise NbGraderException(str(error)) from None

    def _remove_stale_notebooks(self) -> None:
        """Remove graded notebooks with an outdated grade. nbgrader would skip them as done."""
        with Gradebook(self._coursedir.db_url, self._coursedir.course_id) as gradebook:
            notebooks = {one.name: [notebook.name for notebook in one.notebooks] for one in gradebook.assignments}
        for lesson, student in self._submissions().values():
            graded = Path(self._coursedir.format_path(self._coursedir.autograded_directory, student, lesson))
            if graded.is_dir():
                freshness = [self._freshness(lesson, name) for name in notebooks.get(lesson, ())]
                if why := list(dict.fromkeys(reason for one in freshness for reason in one.stale_reasons(student))):
                    self.log.warning("%s, %s: graded again, because %s", lesson, student, " and ".join(why))
                    shutil.rmtree(graded)

    def _submissions(self) -> dict[str, tuple[str, str]]:
        """Lesson and student by folder, for all folders that nbgrader is about to grade."""
        converter: Any = self.parent
        found: dict[str, list[str]] = getattr(converter, "assignments", None) or {}
        if not found:
            return {}
        place = converter._format_source("(?P<lesson>.*)", "(?P<student>.*)", escape=True)
        matches = {folder: re.match(place, folder) for folder in found}
        return {folder: (match["lesson"], match["student"]) for folder, match in matches.items() if match}

    def _unmatched_folders(self, matched: set[str]) -> list[Path]:
        """Folders of this assignment that nbgrader skips, since it takes their names for patterns."""
        coursedir = self._coursedir
        if not matched or coursedir.student_id != "*":
            return []
        place = Path(coursedir.format_path(coursedir.submitted_directory, "x", coursedir.assignment_id)).parents[1]
        found = (place / name / coursedir.assignment_id for name in sorted(os.listdir(place)) if why_unfit(name))
        return [folder for folder in found if folder.is_dir() and str(folder) not in matched]

    @property
    def _coursedir(self) -> Any:
        return getattr(self.parent, "coursedir", None)

    def _was_written_by_nbgrader(self, filename: str, resources: dict[str, Any]) -> bool:
        """Whether this is autograde's second pass, over its own sanitized output."""
        coursedir, ids = self._coursedir, resources.get("nbgrader")
        if coursedir is None or not ids:
            return False
        step = coursedir.autograded_directory
        folder: str = coursedir.format_path(step, ids["student"], ids["assignment"])
        return os.path.abspath(os.path.dirname(filename)) == os.path.abspath(folder)

    def _skip_unsafe_names(self) -> None:
        """Make nbgrader skip submissions whose students it cannot take.

        Raises NbGraderException if no other is left. The exporter is created after the submissions are listed and
        before any is graded, so such a name never reaches the gradebook.
        """
        names = self._submissions()
        for folder, (_, name) in names.items():
            if why := why_unfit(name):
                del self.parent.assignments[folder]  # type: ignore[union-attr]
                self.log.error("%s: %s", one_line(folder), why)
        for passed_over in self._unmatched_folders(set(names)):
            self.log.error("%s: %s", one_line(str(passed_over)), why_unfit(passed_over.parent.name))
        if names and not self._submissions():
            raise NbGraderException("Nothing was graded.")

    def _put_in_place(self) -> None:
        """Have nbgrader grade the file that counts. Otherwise it would take the one with the lesson's name."""
        for folder, (lesson, student) in self._submissions().items():
            with suppress(NotHandedIn, OSError):
                submitted_folder(self._coursedir, student, lesson).put_in_place(self._coursedir)
                self.parent.assignments[folder] = glob.glob(os.path.join(glob.escape(folder), "*.ipynb"))  # type: ignore[union-attr]

    def _ignore_unsafe_files(self) -> None:
        """Make nbgrader ignore unsafe files: links to the outside, runnable or huge ones.

        nbgrader copies all files beside a notebook, logs their names, follows links, and serves the copies from the
        teacher's server: it could copy any file of the grading user, fail at a broken link, hang at a pipe, write a
        sparse file of terabytes in full, and run a page. The exporter is created after the submissions are listed and
        before anything is copied.
        """
        coursedir = self._coursedir
        for folder in getattr(self.parent, "assignments", None) or ():
            for path, why in unsafe_files(folder):
                self.log.warning("%s is left out: %s", one_line(path), why)
                coursedir.ignore = [*coursedir.ignore, glob.escape(path)]
