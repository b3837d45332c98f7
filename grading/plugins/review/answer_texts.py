"""The texts of answers, from the graded notebooks in autograded/.

A judge has sanitized and written each notebook. A file is read only if it is still the one that was graded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode, from_dict
from nbgrader.coursedir import CourseDirectory

from grading.gradebook.grade_inputs import digest_of_text
from grading.notebooks.cells import grade_id
from grading.notebooks.named_pictures import gather_pictures
from grading.notebooks.written_answers import answered_question, written_answer

from .review_questions import ReviewQuestion

Cells = list[Mapping[str, Any]]


class AnswerTexts:
    """Answers of one lesson by question and submission; reads each notebook once."""

    def __init__(self, coursedir: CourseDirectory, lesson: str) -> None:
        self._coursedir, self._lesson = coursedir, lesson
        self._read: dict[str, tuple[str, dict[str, str]]] = {}  # by submitted notebook: digest, answers

    def of(
        self, questions: Iterable[ReviewQuestion], notebook: str, submitted: str, student: str, digest: str
    ) -> dict[str, str]:
        """A submission's answers by the question's key; empty without its graded notebook.

        notebook   the notebook's name
        submitted  the id of the submitted notebook
        digest     of the graded file
        """
        known = self._read.get(submitted)
        if known is None or known[0] != digest:
            cells = self._cells(notebook, student, digest)
            if cells is None:
                return {}
            mine = [question for question in questions if question.cells.notebook == notebook]
            known = self._read[submitted] = digest, {question.key: _answer(question, cells) for question in mine}
        return known[1]

    def file_of(self, notebook: str, student: str) -> Path:
        """The path of the graded notebook."""
        folder = self._coursedir.format_path(self._coursedir.autograded_directory, student, self._lesson)
        return Path(folder) / f"{notebook}.ipynb"

    def forget(self) -> None:
        """Read all notebooks again, for example after the lesson's questions changed."""
        self._read.clear()

    def _cells(self, notebook: str, student: str, digest: str) -> Cells | None:
        try:
            text = self.file_of(notebook, student).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        return list(json.loads(text)["cells"]) if digest_of_text(text) == digest else None


def _answer(question: ReviewQuestion, cells: Cells) -> str:
    names = [grade_id(cell) for cell in cells]
    if question.answer not in names:
        return ""
    first = names.index(question.answer)
    if question.kind != "task":
        return _source(cells[first])
    below = []
    for name, cell in zip(names[first + 1 :], cells[first + 1 :], strict=True):
        if name or _source(cell).strip() in question.own:  # the lesson's own text continues
            break
        below.append(_source(cell))
    return "\n\n".join(below)


def _source(cell: Mapping[str, Any]) -> str:
    """The text with pictures named by their bytes, also from notebooks that were graded before that was so."""
    source = cell["source"]
    named: NotebookNode = from_dict({**cell, "source": source if isinstance(source, str) else "".join(source)})
    gather_pictures(named)
    return written_answer(named.source) if answered_question(named) else str(named.source)
