"""The exporter of `nbgrader autograde`: has a judge read what was handed in, and takes only what is harmless of it.

nbgrader converts each notebook twice. The first time, the judge hands back the notebook in order, cleaned and bounded;
it goes on to run and judge it at once, and its verdicts are waited for the second time (`execute`). What a
submission's name and folder hold beside the notebook is dealt with here too, before nbgrader copies anything.
"""

from __future__ import annotations

import glob
import os
import re
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbgrader.converters.base import NbGraderException
from traitlets import Bool, Integer

from grading.cells import RECORD
from grading.judging.client import Judge, RanOver, make_ready
from grading.judging.notebook.place import MAX_BYTES, Unreadable, is_file_within, locate, one_line, unreadable_notebook
from grading.judging.notebook.released import ReleasedNotebook
from grading.judging.notebook.repair import repair

from .execute import JudgedExecute
from .gradebook import load_released

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
        self.judge: Judge | None = None
        self._leave_out_strange_names()
        self._leave_out_files()
        self._make_ready()

    def from_filename(  # type: ignore[override]  # as nbconvert's own NotebookExporter returns
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        resources = ResourcesDict() if resources is None else resources
        if self._was_written_by_nbgrader(filename, resources):
            return super().from_filename(filename, resources, **kw)  # type: ignore[return-value]
        nb = self._handed_in(filename, resources["nbgrader"])
        folder, name = os.path.split(filename)
        resources["metadata"] = ResourcesDict(name=os.path.splitext(name)[0], path=folder)
        output: tuple[str, dict[str, Any]]  # nbconvert wraps the method in a decorator without types
        output = self.from_notebook_node(nb, resources, **kw)  # type: ignore[no-untyped-call]  # see above
        return output

    def _handed_in(self, filename: str, ids: dict[str, str]) -> NotebookNode:
        """What a judge says that was handed in, in order and harmless; it is left at work in `self.judge`."""
        self.let_go()
        released = load_released(ids["db_url"], ids["assignment"], ids["notebook"], self._coursedir)
        work = JudgedExecute(parent=self).work(ids["notebook"], released)
        try:
            self.judge = Judge(work, locate(filename, self.max_bytes), self.max_bytes)
            nb: NotebookNode = nbformat.from_dict(next(self.judge.messages())["notebook"])
        except Unreadable as reason:
            nb = _left_to_a_person(str(reason), released)
        except RanOver as error:
            nb = _left_to_a_person(f"The judge that read it {error}.", released)
        record = nb.metadata[RECORD]
        if "unreadable" in record:
            self.let_go()
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
        if self.judge is not None:
            self.judge.close()
            self.judge = None

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
        converter: Any = self.parent
        found: dict[str, list[str]] = getattr(converter, "assignments", None) or {}
        if not found:
            return
        place = converter._format_source("(?P<assignment>.*)", "(?P<student>.*)", escape=True)
        names = {folder: matched["student"] for folder in found if (matched := re.match(place, folder))}
        for folder, name in names.items():
            if STRANGE.search(name) or not name.isprintable():
                del found[folder]
                self.log.error("%s: the name holds what no page can show; rename the folder.", one_line(folder))
        if not found:
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


def _left_to_a_person(reason: str, released: ReleasedNotebook) -> NotebookNode:
    """The lesson's own cells, with nothing of the student's, and why."""
    nb = unreadable_notebook(reason)
    repair(nb, released)
    return nb
