"""A sample class of nine students for a lesson, made from its release.

`make demo` hands it in, and tests grade it. The answers are the lesson's alternatives and known mistakes, in the
solution cells of the released notebook.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..exercises.exercise import Exercise
from ..exercises.lesson import Lesson, load_lesson
from ..grader.source_analysis import NotebookSource
from ..notebooks.cells import grade_id

PREFIX = "sample-"
LATE = f"{PREFIX}bela-late"  # right answers that `make demo` hands in late
CUT_OFF = f"{PREFIX}chen-cut-off"  # right answers; `make demo` hands in only the first half of the file
UNTOUCHED = f"{PREFIX}dara-untouched"
MISTAKEN = f"{PREFIX}fatou"

Answers = dict[str, str]


def sample_class(root: Path, lesson: str) -> Iterator[tuple[str, NotebookNode]]:
    """Names and notebooks of the sample class for one released lesson."""
    release = nbformat.read(root / "release" / lesson / f"{lesson}.ipynb", as_version=4)
    loaded = load_lesson(root / "grader_tests" / lesson)
    for student, answers in _students(loaded).items():
        yield student, write_answers(release, answers)
    yield f"{PREFIX}ivo-colab", as_colab_saves(write_answers(release, correct_answers(loaded, 0)))


def hand_in(root: Path, lesson: str, student: str, notebook: NotebookNode) -> bool:
    """Write a notebook and its time to submitted/, as `nbgrader submit` does.

    Returns whether anything changed.
    """
    path = root / "submitted" / student / lesson / f"{lesson}.ipynb"
    text = nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f UTC")
    path.with_name("timestamp.txt").write_text(now)
    return True


def write_answers(release: NotebookNode, answers: Mapping[str, str]) -> NotebookNode:
    """Copy a released notebook and replace the code of some solution cells."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution") and grade_id(cell) in answers:
            cell.source = answers[grade_id(cell)]
    return notebook


def correct_answers(lesson: Lesson, style: int) -> Answers:
    """A correct answer to every exercise; the same `style` gives the same answers."""
    return {e.name: e.alternatives[style % len(e.alternatives)].cell for e in lesson.exercises.values()}


def with_mistakes(lesson: Lesson, choose: Callable[[int], int | None]) -> Answers:
    """Correct answers, except where `choose` returns the index of a known mistake."""
    answers = correct_answers(lesson, 3)
    for position, exercise in enumerate(lesson.exercises.values()):
        number = choose(position)
        if number is None:
            continue
        plausible = (m.cell for m in exercise.mistakes if _uses_only_allowed(exercise, m.code))
        answers[exercise.name] = next(islice(plausible, number, None), answers[exercise.name])
    return answers


def as_colab_saves(notebook: NotebookNode) -> NotebookNode:
    """The notebook as Colab saves it, with a leftover scratch cell.

    Colab writes format 4.0 without cell ids, adds its own metadata, and saves widgets without their state.
    """
    saved = copy.deepcopy(notebook)
    for number, cell in enumerate(saved.cells):
        cell.metadata["id"] = f"{cell.pop('id', number)}"[:12]
        if cell.cell_type == "code":
            cell.metadata["colab"] = {"base_uri": "https://localhost:8080/", "height": 34}
            cell.metadata["outputId"] = f"{number:08x}-0000-4000-8000-000000000000"
            cell.execution_count = number
    scratch = NotebookNode(
        cell_type="code",
        source="print('trying things out')",
        execution_count=1,
        outputs=[],
        metadata={"id": "scratch"},
    )
    saved.cells.insert(3, scratch)
    saved.metadata = NotebookNode(
        colab={"provenance": [], "toc_visible": True, "gpuType": "T4"},
        accelerator="GPU",
        kernelspec={"name": "python3", "display_name": "Python 3"},
        language_info={"name": "python"},
        widgets={"application/vnd.jupyter.widget-state+json": {"4b1f": {"model_name": "IntSliderModel"}}},
    )
    saved.nbformat, saved.nbformat_minor = 4, 0
    return saved


def _students(lesson: Lesson) -> dict[str, Answers]:
    half = dict(list(correct_answers(lesson, 1).items())[: len(lesson.exercises) // 2])
    return {
        f"{PREFIX}ada": correct_answers(lesson, 0),
        LATE: correct_answers(lesson, 1),
        CUT_OFF: correct_answers(lesson, 2),
        UNTOUCHED: {},
        f"{PREFIX}emil-half": half,
        MISTAKEN: with_mistakes(lesson, lambda position: 0 if position % 2 == 0 else None),
        f"{PREFIX}goran": with_mistakes(lesson, lambda position: position if position < 2 else None),
        f"{PREFIX}hana": with_mistakes(lesson, lambda position: 1 if position in (1, 2) else None),
    }


def _uses_only_allowed(exercise: Exercise, code: str) -> bool:
    return not NotebookSource([code]).not_allowed(exercise.name, exercise.forbidden)
