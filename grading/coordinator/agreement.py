"""Check that a lesson's release, source and graders agree before it is graded.

They must have the same exercises with the same points. Reads the gradebook and the files, and runs nothing. Does not
cover: whether grades are up to date (`gradebook/freshness.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..course_dir.course_file import load_course_file
from ..course_dir.lesson_marks import CHECK, exercise_points, points_asked
from ..course_dir.lessons import COURSE_FILE, is_ordinary
from ..errors import StepFailed
from ..notebooks.cells import exercise_named
from .nbgrader_api import is_registered, open_gradebook


def demand_agreement(root: Path, lessons: Iterable[str]) -> None:
    """Raise StepFailed if release, source and graders of a lesson disagree.

    Lessons that are not released are skipped.
    """
    problems = [problem for lesson in lessons if is_registered(root, lesson) for problem in disagreements(root, lesson)]
    if problems:
        raise StepFailed("nothing was graded.\n" + "\n".join(problems))


def disagreements(root: Path, lesson: str) -> list[str]:
    """Disagreements in a released lesson, a sentence each, with the remedy; none in an ordinary assignment."""
    return [] if is_ordinary(root, lesson) else list(_disagreements(root, lesson))


def _disagreements(root: Path, lesson: str) -> Iterator[str]:
    text = exercise_points((root / "source" / f"{lesson}.py").read_text(encoding="utf-8"))
    graders = declared_points(root / "grader_tests" / lesson)
    yield from _differences(
        lesson, (f"source/{lesson}.py", text), (f"grader_tests/{lesson}", graders), "Make the two the same."
    )
    change = load_course_file(root).change(lesson)
    questions = {name: float(points) for name, points in change.points.items() if name not in text}
    asked = points_asked(root, lesson, change) | questions
    wanted = f"source/{lesson}.py" + (f" with {COURSE_FILE}" if (root / COURSE_FILE).exists() else "")
    settle = f"Run `grading release {lesson}`, then grade."
    yield from _differences(lesson, (wanted, asked), ("the release", _released_points(root, lesson)), settle)


def declared_points(tests: Path) -> dict[str, float | None]:
    """The exercises that the graders declare, with their points.

    The points are None if the contract does not write them as a number.
    """
    try:
        names = _literal(tests / "__init__.py", "EXERCISES")
    except (OSError, SyntaxError, ValueError):
        return {}
    return {name: _contract_points(tests / name / "contract.py", name) for name in names}


def _literal(file: Path, name: str) -> list[str]:
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return list(ast.literal_eval(node.value))
    return []


def _contract_points(file: Path, name: str) -> float | None:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return None
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args):
        if isinstance(call.args[0], ast.Constant) and call.args[0].value == name:
            for keyword in call.keywords:
                if keyword.arg == "points" and isinstance(keyword.value, ast.Constant):
                    return float(keyword.value.value)  # type: ignore[arg-type]  # a contract's points are a number
    return None


def _released_points(root: Path, lesson: str) -> dict[str, float]:
    """Points of the exercises and written questions in the released notebook."""
    with open_gradebook(root) as gradebook:
        cells = gradebook.find_notebook(lesson, lesson).grade_cells
        marked = {cell.name: float(cell.max_score) for cell in cells}
    checks = {exercise_named(name): points for name, points in marked.items() if name.startswith(CHECK)}
    questions = (path.stem for path in (root / "grader_tests" / lesson / "questions").glob("*.toml"))
    return checks | {name: marked[name] for name in questions if name in marked}


Source = tuple[str, Mapping[str, float | None]]


def _differences(lesson: str, one: Source, other: Source, settle: str) -> Iterator[str]:
    (here, points), (there, others) = one, other
    if not others:
        return
    for name in dict.fromkeys([*points, *others]):
        if name not in points or name not in others:
            has, lacks = (here, there) if name in points else (there, here)
            yield f"{lesson}: {has} has the exercise {name}, {lacks} does not. {settle}"
        elif others[name] is not None and points[name] != others[name]:
            yield f"{lesson}: {name} has {points[name]:g} points in {here}, {others[name]:g} in {there}. {settle}"
