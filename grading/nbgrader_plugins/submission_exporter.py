"""The exporter of `nbgrader autograde`: has a judge read what was handed in, and takes only what is harmless of it.

nbgrader converts each notebook twice. The first time, the judge hands back the notebook in order, cleaned and bounded;
it goes on to run and judge it at once, and its verdicts are waited for the second time (`execute`). What a
submission's name and folder hold beside the notebook is dealt with here too, before nbgrader copies anything.
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
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Bool, Integer

from grading.errors import CourseLocked
from grading.judge.client import make_ready
from grading.judge.collect_results import SubmissionRun
from grading.notebooks.cells import RECORD
from grading.notebooks.submitted_file import MAX_BYTES, is_file_within, one_line

from ..gradebook.freshness import LessonFreshness
from ..gradebook.indexes import have_indexes
from ..gradebook.lock import exclusive
from ..gradebook.store import save
from ..nbgrader_plugins.execute import lesson_freshness
from .execute import JudgedExecute

BESIDE = (".txt", ".csv", ".tsv", ".png", ".jpg", ".jpeg", ".gif", ".webp")  # of files that the formgrader may show
STRANGE = re.compile(r"""[<>"\\]""")  # what gets out of a text or a string: nbgrader's pages hold names as they are


class SubmissionExporter(NotebookExporter):
    """As nbconvert's, but it opens nothing that a student handed in."""

    max_bytes = Integer(MAX_BYTES, help="A notebook file larger than this is not read but left to a person.").tag(
        config=True
    )

    # Until the last preprocessor a notebook may hold what nbformat does not know
    optimistic_validation = Bool(True).tag(config=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call]  # nbconvert's has no annotations
        self.judging: SubmissionRun | None = None
        self._read: dict[str, LessonFreshness] = {}
        self._made_of: dict[str, str] = {}
        self._leave_out_strange_names()
        self._leave_out_files()
        self._make_ready()
        if self._handed_in_by():  # nbgrader makes an exporter right before it converts, and offers no place around that
            convert: Callable[[], None] = self.parent.convert_notebooks  # type: ignore[union-attr]
            self.parent.convert_notebooks = lambda: self._alone(convert)  # type: ignore[union-attr]

    def from_filename(  # type: ignore[override]  # as nbconvert's own NotebookExporter returns
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        resources = ResourcesDict() if resources is None else resources
        if self._was_written_by_nbgrader(filename, resources):
            text, told = super().from_filename(filename, resources, **kw)
            self._save(str(text), told["nbgrader"])
            return str(text), told
        nb = self._handed_in(filename, resources["nbgrader"])
        folder, name = os.path.split(filename)
        resources["metadata"] = ResourcesDict(name=os.path.splitext(name)[0], path=folder)
        output: tuple[str, dict[str, Any]]  # nbconvert wraps the method in a decorator without types
        output = self.from_notebook_node(nb, resources, **kw)  # type: ignore[no-untyped-call]  # see above
        return output

    def _handed_in(self, filename: str, ids: dict[str, str]) -> NotebookNode:
        """What a judge says that was handed in, in order and harmless; it is left at work in `self.judging`."""
        self.let_go()
        standing = self._standing(ids["assignment"])
        released, self._made_of = standing.released, standing.made_of(ids["student"])
        work = JudgedExecute(parent=self).work(ids["notebook"], released)
        self.judging = SubmissionRun(work, filename, self.max_bytes)
        nb = self.judging.notebook()
        record = nb.metadata[RECORD]
        if "unreadable" in record:
            self.log.warning("%s: %s", one_line(filename), one_line(record["unreadable"]))
        for sentence in record["repairs"]:
            self.log.warning("%s, %s: %s", ids["student"], ids["notebook"], one_line(sentence))
        return nb

    def _make_ready(self) -> None:
        """Judges' libraries and references are made ready while nbgrader prepares the first submission."""
        lesson = getattr(self._coursedir, "assignment_id", "")
        if lesson and getattr(self.parent, "assignments", None):
            make_ready(JudgedExecute(parent=self).work(lesson))

    def let_go(self) -> None:
        """End the judge that is at work, if one is."""
        if self.judging is not None:
            self.judging.close()
            self.judging = None

    def _save(self, text: str, ids: dict[str, str]) -> None:
        """The grade, whole, before its notebook is written: what was interrupted in between is graded again."""
        nb = nbformat.v4.reads(text)
        with Gradebook(ids["db_url"]) as gradebook:
            save(gradebook, ids, nb, text, self._made_of, AssignLatePenalties(parent=self))

    def _standing(self, lesson: str) -> LessonFreshness:
        """Read once in a run, in which nobody else grades."""
        if lesson not in self._read:
            self._read[lesson] = lesson_freshness(self._coursedir, self.config, lesson)
        return self._read[lesson]

    def _alone(self, convert: Callable[[], None]) -> None:
        """What nbgrader does, while no other process grades this course."""
        try:
            with exclusive(Path(self._coursedir.root)):
                with Gradebook(self._coursedir.db_url, self._coursedir.course_id) as gradebook:
                    have_indexes(gradebook)
                self._remove_what_does_not_stand()
                convert()
        except CourseLocked as error:
            self.log.error("%s", error)
            raise NbGraderException(str(error)) from None

    def _remove_what_does_not_stand(self) -> None:
        """Remove graded notebooks without a grade that stands, which nbgrader would take for done and pass over."""
        for lesson, student in self._handed_in_by().values():
            graded = Path(self._coursedir.format_path(self._coursedir.autograded_directory, student, lesson))
            if graded.is_dir():
                with suppress(MissingEntry):  # the lesson is not released, as nbgrader will say
                    if why := self._standing(lesson).stale_reasons(student):
                        self.log.warning("%s, %s: graded again, since %s", lesson, student, " and ".join(why))
                        shutil.rmtree(graded)

    def _handed_in_by(self) -> dict[str, tuple[str, str]]:
        """Lesson and student of each folder that nbgrader is about to grade."""
        converter: Any = self.parent
        found: dict[str, list[str]] = getattr(converter, "assignments", None) or {}
        if not found:
            return {}
        place = converter._format_source("(?P<lesson>.*)", "(?P<student>.*)", escape=True)
        matches = {folder: re.match(place, folder) for folder in found}
        return {folder: (one["lesson"], one["student"]) for folder, one in matches.items() if one}

    @property
    def _coursedir(self) -> Any:
        return getattr(self.parent, "coursedir", None)

    def _was_written_by_nbgrader(self, filename: str, resources: dict[str, Any]) -> bool:
        """Autograde reads twice: what was handed in, then what it made of that, which is sound and keeps its record."""
        coursedir, ids = self._coursedir, resources.get("nbgrader")
        if coursedir is None or not ids:
            return False
        step = coursedir.autograded_directory
        folder: str = coursedir.format_path(step, ids["student"], ids["assignment"])
        return os.path.abspath(os.path.dirname(filename)) == os.path.abspath(folder)

    def _leave_out_strange_names(self) -> None:
        """Have nbgrader pass over submissions under names that its pages would take for HTML.

        Raises NbGraderException where no other is left. The exporter is made after the submissions were listed and
        before any is graded, so that such a name never reaches the gradebook.
        """
        names = self._handed_in_by()
        for folder, (_, name) in names.items():
            if STRANGE.search(name) or not name.isprintable():
                del self.parent.assignments[folder]  # type: ignore[union-attr]
                self.log.error("%s: the name holds what no page can show; rename the folder.", one_line(folder))
        if names and not self._handed_in_by():
            raise NbGraderException("Nothing was graded.")

    def _leave_out_files(self) -> None:
        """Have nbgrader ignore, beside the notebook, links out of a submission and what may run where it is opened.

        nbgrader copies what stands beside a notebook, follows links, and serves it all from the teacher's own server:
        it would copy any file of the grader's, stop at a link that leads nowhere, never end at a pipe, and run a page.
        The exporter is made after the submissions were listed and before anything is copied.
        """
        coursedir = getattr(self.parent, "coursedir", None)
        for folder in getattr(self.parent, "assignments", None) or ():
            for place, _, names in os.walk(folder):
                for name in names:
                    path, kind = os.path.join(place, name), os.path.splitext(name)[1].lower()
                    if not is_file_within(path, folder):
                        why = "a link out of the submission"
                    elif kind not in (*BESIDE, ".ipynb"):
                        why = "a file of a kind that may run where it is opened"
                    else:
                        continue
                    if coursedir is not None:
                        self.log.warning("%s is left out: %s", one_line(path), why)
                        coursedir.ignore = [*coursedir.ignore, glob.escape(path)]
