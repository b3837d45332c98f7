"""The execute step of `nbgrader autograde`: wait for the judge's results.

This process runs nothing and reads nothing by a student (`judge.grade_notebook` does that). If a judge fails through
our fault, its submission stays ungraded, nbgrader reports an error, and the batch continues.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute
from traitlets import Bool, Dict, Enum, Float, Int, Unicode, Union
from traitlets.config import Config

from grading.course_dir.course_file import load_course_file
from grading.course_dir.lesson_marks import points_asked
from grading.course_dir.seeds import course_seed, lesson_seed, seed_id
from grading.gradebook.freshness import LessonFreshness
from grading.judge.collect_results import SubmissionRun, mark_for_manual_grading
from grading.judge.job import GRADERS, POLICY, GradedLesson, GradeRequest, Job
from grading.notebooks.cells import RECORD
from grading.notebooks.released import ReleasedNotebook
from grading.sandbox.host_check import strongest
from grading.sandbox.policy import CONTAINED, FULL, NONE, Policy, to_dict

from .past_releases import past_releases

PATIENCE = 10  # factor from the limits of a kernel and its judge to a judge's wall-clock time
warm_mistakes: defaultdict[str, set[str]] = defaultdict(set)
"""Exercises with wrong answers so far, by folder of graders: the next judges prepare their known mistakes."""


class JudgedExecute(Execute):
    """Replaces nbgrader's Execute in `c.Autograde.autograde_preprocessors`."""

    unsandboxed = Bool(
        False,
        help="Run student code in an ordinary kernel, which can do everything that you can. Every grade is marked.",
    ).tag(config=True)
    limits = Dict({}, help="Limits of the sandbox: fields of grading.sandbox.Policy.").tag(config=True)
    judge_limits = Dict({}, help="Limits of the judge of a notebook: fields of grading.sandbox.Policy.").tag(
        config=True
    )
    seed = Union(
        [Unicode(), Int()],
        default_value="",
        help="Seed of the hidden cases: long and secret (default: the course's own, in .grading-seed).",
    ).tag(config=True)
    device = Enum(
        ("cpu", "cuda"),
        "cpu",
        help='Device on which answers are judged. "cuda" falls back to the CPU if there is no GPU.',
    ).tag(config=True)
    notebook_seconds = Float(300.0, help="Seconds for one notebook, with all cells and calls, on a `Stopwatch`.").tag(
        config=True
    )

    contained = Bool(
        False, help="Whether the level `contained` will do where this machine does not grant the full sandbox."
    )

    root = Unicode("", help="The course's directory, if there is no converter to ask.")

    def job(self, lesson: str, released: ReleasedNotebook) -> Job[GradeRequest]:
        """The job of grading one submission. released: may be empty if the judge is only to prepare for many."""
        root, policy = self._root(), Policy(**{**to_dict(POLICY), **self.judge_limits})
        change = load_course_file(root).change(lesson)
        change = replace(change, points=change.points | points_asked(root, lesson, change))
        mistaken = tuple(sorted(warm_mistakes[str(root / GRADERS / lesson)]))
        request = GradeRequest(
            GradedLesson(root, lesson, change, lesson_seed(self.secret, lesson), self._device, mistaken),
            released,
            past_releases(root, lesson)[1:],
            self.level,
            dict(self.limits),
            cell_seconds=float(self.timeout or 30),
            notebook_seconds=self.notebook_seconds,
        )
        wall = PATIENCE * (self.notebook_seconds + policy.cpu_seconds)
        return Job(request, root, self.level, policy, wall)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Write the results of the exporter's judge. Raises SubmissionNotGraded, SandboxUnavailable."""
        record = nb.metadata.setdefault(RECORD, {})
        why = record.get("unreadable", "")
        run: SubmissionRun | None = getattr(self.parent, "judging", None)
        if not why:
            record.update(sandboxed=not self.unsandboxed, device=self._device)
            why = "it was not judged"
            if run is not None:
                wrong, why = run.write_results(nb, seed_id(self.secret))
                warm_mistakes[str(self._root() / GRADERS / resources["nbgrader"]["notebook"])] |= wrong
        mark_for_manual_grading(nb, why, sandboxed=not self.unsandboxed)
        return nb, resources

    @cached_property
    def secret(self) -> str:
        return str(self.seed) or course_seed(self._root())

    @cached_property
    def level(self) -> str:
        """The level of the sandbox; the full one, which a judge then asks for, if this machine grants none."""
        if self.unsandboxed:
            return NONE
        return CONTAINED if self.contained and strongest(contained=True) == CONTAINED else FULL

    @cached_property
    def _device(self) -> str:
        if self.device == "cuda":
            import torch  # slow to import, and not needed otherwise

            if not torch.cuda.is_available():
                self.log.warning("There is no GPU here: answers are judged on the CPU.")
                return "cpu"
        return str(self.device)

    def _root(self) -> Path:
        converter = getattr(getattr(self, "parent", None), "parent", None)
        return Path(self.root or ("." if converter is None else converter.coursedir.root)).resolve()


def lesson_freshness(
    coursedir: CourseDirectory, config: Config, lesson: str, student: str = "", notebook: str = ""
) -> LessonFreshness:
    """The freshness of a lesson's grades under this configuration. Raises MissingEntry."""
    return LessonFreshness(coursedir, JudgedExecute(config=config, root=coursedir.root), lesson, student, notebook)
