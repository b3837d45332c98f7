"""Check that a lesson's release agrees with its source before it is graded.

Both must have the same exercises with the same points, and all of them graders. Reads the gradebook and the files, and
runs nothing. Does not cover: whether grades are up to date (`gradebook/freshness.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..course_dir.course_file import load_course_file
from ..course_dir.lesson_marks import CHECK, points_asked
from ..course_dir.lessons import COURSE_FILE, is_ordinary
from ..errors import StepFailed
from ..notebooks.cells import exercise_named
from ..points import points_text
from .nbgrader_api import is_registered, open_gradebook


def demand_agreement(root: Path, lessons: Iterable[str]) -> None:
    """Raise StepFailed if a lesson's release disagrees with its source.

    Lessons that are not released are skipped.
    """
    problems = [problem for lesson in lessons if is_registered(root, lesson) for problem in disagreements(root, lesson)]
    if problems:
        raise StepFailed("nothing was graded.\n" + "\n".join(problems))


def disagreements(root: Path, lesson: str) -> list[str]:
    """Disagreements in a released lesson, a sentence each, with the remedy; none in an ordinary assignment."""
    return [] if is_ordinary(root, lesson) else list(_disagreements(root, lesson))


def _disagreements(root: Path, lesson: str) -> Iterator[str]:
    change, graders = load_course_file(root).change(lesson), root / "grader_tests" / lesson
    exercises = points_asked(root, lesson, change)
    for name in exercises:
        if not (graders / name).is_dir():
            yield f"{lesson}: source/{lesson}.py has the exercise {name}, grader_tests/{lesson} does not. Add it there."
    points = {name: float(value) for name, value in change.points.items()} | exercises
    released = _released_points(root, lesson)
    here = f"source/{lesson}.py" + (f" with {COURSE_FILE}" if (root / COURSE_FILE).exists() else "")
    settle = f"Run `grading release {lesson}`, then grade."
    for name in dict.fromkeys([*points, *released]):
        if name not in points or name not in released:
            has, lacks = (here, "the release") if name in points else ("the release", here)
            yield f"{lesson}: {has} has the exercise {name}, {lacks} does not. {settle}"
        elif points[name] != released[name]:
            ours, theirs = points_text(points[name]), points_text(released[name])
            yield f"{lesson}: {name} has {ours} points in {here}, {theirs} in the release. {settle}"


def _released_points(root: Path, lesson: str) -> dict[str, float]:
    """Points of the exercises and written questions in the released notebook."""
    with open_gradebook(root) as gradebook:
        cells = gradebook.find_notebook(lesson, lesson).grade_cells
        marked = {cell.name: float(cell.max_score) for cell in cells}
    checks = {exercise_named(name): points for name, points in marked.items() if name.startswith(CHECK)}
    questions = (path.stem for path in (root / "grader_tests" / lesson / "questions").glob("*.toml"))
    return checks | {name: marked[name] for name in questions if name in marked}
