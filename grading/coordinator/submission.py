"""Grade one submission, without a gradebook and without writing files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import IgnorePattern, LimitOutput
from traitlets.config import Config

from grading.judge.collect_results import SubmissionRun, mark_for_manual_grading, unread_notebook
from grading.judge.job import GradeRequest, Job
from grading.notebooks.cells import RECORD


@dataclass(frozen=True)
class GradingTask:
    """One submission to grade.

    file     path of the notebook
    seed     id of the course's secret seed
    config   the course's configuration
    made_of  hashes of the grade's inputs (`gradebook.grade_inputs`)
    note     a sentence for the student on the choice of the file
    """

    student: str
    file: str
    job: Job[GradeRequest]
    max_bytes: int
    seed: str
    config: Config
    made_of: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    @property
    def sandboxed(self) -> bool:
        return self.job.request.sandboxed


@dataclass(frozen=True)
class GradedNotebook:
    """A graded notebook and the text of its file.

    `diagnosed`: exercises whose known mistakes were tried.
    """

    student: str
    notebook: NotebookNode
    text: str
    diagnosed: frozenset[str]


def grade(task: GradingTask) -> GradedNotebook:
    """Make the notebook that `nbgrader autograde` would make.

    Raises SubmissionNotGraded, SandboxUnavailable.
    """
    run = SubmissionRun(task.job, task.file, task.max_bytes)
    try:
        nb = run.notebook()
        record = nb.metadata[RECORD]
        why, diagnosed = record.get("unreadable", ""), set[str]()
        if task.note:
            record["repairs"] = [task.note, *record["repairs"]]
        if not why:
            record.update(sandboxed=task.sandboxed, device=task.job.request.lesson.device)
            diagnosed, why = run.write_results(nb, task.seed)
    finally:
        run.close()
    return _finish(task, nb, why, diagnosed)


def not_read(task: GradingTask, why: str) -> GradedNotebook:
    """The result of `grade` for a file that must not be opened; starts no judge."""
    return _finish(task, unread_notebook(task.job, why), why, set())


def _finish(task: GradingTask, nb: NotebookNode, why: str, diagnosed: set[str]) -> GradedNotebook:
    mark_for_manual_grading(nb, why, sandboxed=task.sandboxed)
    resources: dict[str, Any] = {}
    for step in (IgnorePattern, LimitOutput):
        nb, resources = step(config=task.config).preprocess(nb, resources)
    return GradedNotebook(task.student, nb, nbformat.writes(nb) + "\n", frozenset(diagnosed))
