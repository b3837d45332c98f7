"""The corpus of whole submissions, each with the verdict that it must get.

tests/submissions/<kind>-<name>/
    case.toml    about, lesson, others ("right" or "untouched": the answers that answers.py does not give),
                 [points] of exercises that do not earn all (a number, "some" for a part, "any"),
                 [status] and [mistake] if they matter, needs_a_person = [exercises]
    answers.py   py:percent; a cell with an exercise's name as its title replaces that solution cell, a cell with the
                 title "before NAME" or "after NAME" is inserted there as the student's own
    edit.py      def edit(notebook): changes the notebook as a student's editor would
    other files  are handed in beside the notebook under their own names; a file with the name of the lesson's
                 notebook replaces it, byte for byte
"""

from __future__ import annotations

import re
import runpy
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from grading.coordinator.demo_class import correct_answers, write_answers
from grading.exercises.lesson import load_lesson
from grading.notebooks.cells import grade_id

from .canaries import Canaries

ROOT = Path(__file__).parents[2]
SUBMISSIONS = Path(__file__).parents[1] / "submissions"
OURS = ("case.toml", "answers.py", "edit.py")


@dataclass(frozen=True)
class Submission:
    """One submission of the corpus."""

    path: Path
    about: str
    lesson: str
    others: str = "right"
    points: dict[str, float | str] = field(default_factory=dict)
    status: dict[str, str] = field(default_factory=dict)
    mistake: dict[str, str] = field(default_factory=dict)
    needs_a_person: list[str] = field(default_factory=list)
    seconds: float = 60.0

    @property
    def name(self) -> str:
        return self.path.name

    def misjudged(self, earned: Mapping[str, float]) -> dict[str, float]:
        """Exercises with points that differ from those in case.toml, and these points."""
        exercises = load_lesson(ROOT / "grader_tests" / self.lesson).exercises
        wrong = {}
        for name, exercise in exercises.items():
            wanted = self.points.get(name, exercise.points if self.others == "right" else 0)
            got = earned.get(name, -1.0)
            fits = {"some": 0 < got < exercise.points, "any": 0 <= got <= exercise.points}
            if not (fits[wanted] if isinstance(wanted, str) else got == wanted):
                wrong[name] = got
        return wrong

    @property
    def answered(self) -> set[str]:
        """Exercises that answers.py answers."""
        return {title for title, _ in _cells(self.path / "answers.py") if " " not in title}

    @property
    def kind(self) -> str:
        return self.name.split("-")[0]

    def hand_in(self, root: Path, canaries: Canaries | None = None) -> str:
        """Write the submission to submitted/ of a course with the lesson released; returns the student.

        canaries: their addresses are written into its files.
        """
        folder = root / "submitted" / self.name / self.lesson
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for path in self.path.iterdir():
            if path.name not in OURS:
                if path.is_dir() and not path.is_symlink():
                    shutil.copytree(path, folder / path.name, symlinks=True)
                else:
                    shutil.copy(path, folder / path.name, follow_symlinks=False)
        notebook = folder / f"{self.lesson}.ipynb"
        if not notebook.exists():
            release = nbformat.read(root / "release" / self.lesson / notebook.name, as_version=4)
            notebook.write_text(nbformat.writes(self.notebook(release), version=nbformat.NO_CONVERT), encoding="utf-8")
        if canaries is not None:
            canaries.tell(folder)
        return self.name

    def notebook(self, release: NotebookNode) -> NotebookNode:
        """The released notebook with this case's answers, cells and edits."""
        lesson = load_lesson(ROOT / "grader_tests" / self.lesson)
        answers = correct_answers(lesson, 0) if self.others == "right" else {}
        extra: list[tuple[str, str, str]] = []
        for title, code in _cells(self.path / "answers.py"):
            place, _, name = title.rpartition(" ")
            if place:
                extra.append((place, name, code))
            else:
                answers[name] = code
        made = write_answers(release, answers)
        for place, name, code in extra:
            index = next(i for i, cell in enumerate(made.cells) if grade_id(cell) == name)
            made.cells.insert(index + (place == "after"), new_code_cell(code))
        if (self.path / "edit.py").exists():
            runpy.run_path(str(self.path / "edit.py"))["edit"](made)
        return made


def selected(request: pytest.FixtureRequest, parameter: str) -> list[Any]:
    """The values of a parameter in the selected tests of the module that requests this fixture."""
    items = [item for item in request.session.items if item.path == request.path and isinstance(item, pytest.Function)]
    of_tests = [item.callspec.params.get(parameter) for item in items if hasattr(item, "callspec")]
    return [value for value in of_tests if value is not None]


def selected_cases(request: pytest.FixtureRequest) -> list[Submission]:
    """The submissions needed by the selected tests of the module that requests this fixture."""
    found = {case.name: case for case in selected(request, "case")}
    return [found[name] for name in sorted(found)]


def cases(*kinds: str) -> list[Submission]:
    """All submissions, or those of some kinds (the first word of their names)."""
    found = []
    for path in sorted(SUBMISSIONS.glob("*/case.toml")):
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        found.append(Submission(path.parent, **data))
    return [case for case in found if not kinds or case.kind in kinds]


def _cells(path: Path) -> list[tuple[str, str]]:
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    parts = re.split(r"^# %% (.+)$", text, flags=re.M)
    return [(title.strip(), code.strip("\n")) for title, code in zip(parts[1::2], parts[2::2], strict=True)]
