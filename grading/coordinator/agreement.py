"""Check that a lesson's release agrees with its source before it is graded.

Both must have the same exercises with the same points, and all of them graders. Reads the gradebook and the files, and
runs nothing. Does not cover: whether grades are up to date (`gradebook/freshness.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..course import Course
from ..course_dir.lesson_marks import CHECK, points_asked
from ..course_dir.lessons import COURSE_FILE, is_ordinary
from ..errors import StepFailed
from ..notebooks.cells import exercise_named
from ..points import points_text


def demand_agreement(course: Course, lessons: Iterable[str]) -> None:
    """Raise StepFailed if a lesson's release disagrees with its source.

    Lessons that are not released are skipped.
    """
    problems = [
        problem for lesson in lessons if course.is_registered(lesson) for problem in disagreements(course, lesson)
    ]
    if problems:
        raise StepFailed("nothing was graded.\n" + "\n".join(problems))


def disagreements(course: Course, lesson: str) -> list[str]:
    """Disagreements in a released lesson, a sentence each, with the remedy; none in an ordinary assignment."""
    return [] if is_ordinary(course.root, lesson) else list(_disagreements(course, lesson))


def _disagreements(course: Course, lesson: str) -> Iterator[str]:
    change, graders = course.toml.change(lesson), course.root / "grader_tests" / lesson
    exercises = points_asked(course.root, lesson, change)
    for name in exercises:
        if not (graders / name).is_dir():
            yield f"{lesson}: source/{lesson}.py has the exercise {name}, grader_tests/{lesson} does not. Add it there."
    points = {name: float(value) for name, value in change.points.items()} | exercises
    released = _released_points(course, lesson)
    here = f"source/{lesson}.py" + (f" with {COURSE_FILE}" if (course.root / COURSE_FILE).exists() else "")
    settle = f"Run `grading release {lesson}`, then grade."
    for name in dict.fromkeys([*points, *released]):
        if name not in points or name not in released:
            has, lacks = (here, "the release") if name in points else ("the release", here)
            yield f"{lesson}: {has} has the exercise {name}, {lacks} does not. {settle}"
        elif points[name] != released[name]:
            ours, theirs = points_text(points[name]), points_text(released[name])
            yield f"{lesson}: {name} has {ours} points in {here}, {theirs} in the release. {settle}"


def _released_points(course: Course, lesson: str) -> dict[str, float]:
    """Points of the exercises and written questions in the released notebook."""
    with course.gradebook() as gradebook:
        cells = gradebook.find_notebook(lesson, lesson).grade_cells
        marked = {cell.name: float(cell.max_score) for cell in cells}
    checks = {exercise_named(name): points for name, points in marked.items() if name.startswith(CHECK)}
    questions = (path.stem for path in (course.root / "grader_tests" / lesson / "questions").glob("*.toml"))
    return checks | {name: marked[name] for name in questions if name in marked}
