"""One submission, graded by whoever is asked: what a worker does. It knows no gradebook and writes no file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import IgnorePattern, LimitOutput
from traitlets.config import Config

from grading.judge.client import Job
from grading.judge.collect_results import SubmissionRun, mark_for_manual_grading, unread
from grading.notebooks.cells import RECORD


@dataclass(frozen=True)
class GradingTask:
    """file: of the submitted notebook; seed: the name of the course's secret; config: the course's; made_of: of what
    the grade will be made, as hashes (`nbgrader_plugins.content`)."""

    student: str
    file: str
    work: Job
    max_bytes: int
    seed: str
    config: Config
    made_of: Mapping[str, str] = field(default_factory=dict)

    @property
    def sandboxed(self) -> bool:
        return bool(self.work.request["sandboxed"])


@dataclass(frozen=True)
class GradedNotebook:
    """The graded notebook as the text of its file; and the exercises whose known mistakes were looked at."""

    student: str
    text: str
    diagnosed: frozenset[str]


def grade(task: GradingTask) -> GradedNotebook:
    """The graded notebook, as `nbgrader autograde` makes it. Raises SubmissionNotGraded, SandboxUnavailable."""
    judging = SubmissionRun(task.work, task.file, task.max_bytes)
    try:
        nb = judging.notebook()
        record = nb.metadata[RECORD]
        why, diagnosed = record.get("unreadable", ""), set[str]()
        if not why:
            record.update(sandboxed=task.sandboxed, device=task.work.request["device"])
            diagnosed, why = judging.write_results(nb, task.seed)
    finally:
        judging.close()
    return _handed_back(task, nb, why, diagnosed)


def not_read(task: GradingTask, why: str) -> GradedNotebook:
    """As `grade` of a file that is not to be opened, which takes no judge."""
    return _handed_back(task, unread(task.work, why), why, set())


def _handed_back(task: GradingTask, nb: NotebookNode, why: str, diagnosed: set[str]) -> GradedNotebook:
    mark_for_manual_grading(nb, why, sandboxed=task.sandboxed)
    resources: dict[str, Any] = {}
    for step in (IgnorePattern, LimitOutput):
        nb, resources = step(config=task.config).preprocess(nb, resources)
    return GradedNotebook(task.student, nbformat.writes(nb) + "\n", frozenset(diagnosed))
