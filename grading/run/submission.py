"""One submission, graded by whoever is asked: what a worker does. It knows no gradebook and writes no file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import nbformat
from nbgrader.preprocessors import IgnorePattern, LimitOutput
from traitlets.config import Config

from grading.cells import RECORD
from grading.judging.client import Work
from grading.judging.taking import Judging, leave_to_a_person


@dataclass(frozen=True)
class Task:
    """file: of the submitted notebook; seed: the name of the course's secret; config: the course's."""

    student: str
    file: str
    work: Work
    max_bytes: int
    seed: str
    config: Config


@dataclass(frozen=True)
class Graded:
    """The graded notebook as the text of its file; and the exercises whose known mistakes were looked at."""

    student: str
    text: str
    diagnosed: frozenset[str]


def grade(task: Task) -> Graded:
    """The graded notebook, as `nbgrader autograde` makes it. Raises NotGraded, SandboxUnavailable."""
    judging = Judging(task.work, task.file, task.max_bytes)
    try:
        nb = judging.notebook()
        record, about = nb.metadata[RECORD], task.work.request
        why, diagnosed = record.get("unreadable", ""), set[str]()
        if not why:
            record.update(sandboxed=about["sandboxed"], device=about["device"])
            diagnosed, why = judging.fill(nb, task.seed)
        leave_to_a_person(nb, why, sandboxed=about["sandboxed"])
    finally:
        judging.close()
    resources: dict[str, Any] = {}
    for step in (IgnorePattern, LimitOutput):
        nb, resources = step(config=task.config).preprocess(nb, resources)
    return Graded(task.student, nbformat.writes(nb) + "\n", frozenset(diagnosed))
