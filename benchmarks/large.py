"""The cost of grading a small class in a gradebook with thousands of students.

    python -m benchmarks.large [LESSON] [--students N] [--lessons N]

One student is graded first; the others get copies of these grades in every lesson, and nothing of theirs is graded. CPU
is that of all processes of `grading grade --workers 1`; *each further* leaves out what a class of one costs.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import uuid
from pathlib import Path
from typing import Any

from nbgrader.api import Base, Comment, Grade, Gradebook, Notebook, Student, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import insert, select

from grading.notebooks.cells import check_of

from .classes import EACH, FIRST, Templates
from .supervise import succeeded, supervised

CLASS, EXERCISES = 20, 6


def cost(templates: Templates, students: int, lessons: int) -> float:
    """CPU seconds of each further submission, beside these students and lessons."""
    with templates.class_of("ours", CLASS + 2) as root:
        first, second, *_ = sorted(path.name for path in root.glob("submitted/*"))
        grade = ["grading", "grade", templates.lesson, "--workers", "1"]
        succeeded(supervised([*grade, "--students", first], root, FIRST))
        if students:
            fill(root, students, lessons)
        one, rest = (
            succeeded(supervised(command, root, FIRST + EACH * CLASS)).cpu
            for command in ([*grade, "--students", second], grade)
        )
    return (rest - one) / (CLASS - 1)


def fill(root: Path, students: int, lessons: int) -> None:
    """Copy the only student's grades to new students, in its lesson and made-up ones."""
    with Gradebook(f"sqlite:///{root}/gradebook.db", "attention") as gradebook:
        written = gradebook.db.execute(select(_kept())).mappings().one()
        for name in [f"other-{number}" for number in range(lessons - 1)]:
            gradebook.add_assignment(name)
            gradebook.add_notebook(name, name)
            for exercise in [f"exercise_{number}" for number in range(EXERCISES)]:
                gradebook.add_grade_cell(check_of(exercise), name, name, max_score=3, cell_type="code")
                gradebook.add_solution_cell(exercise, name, name)
        names = [f"other-{number}" for number in range(students)]
        gradebook.db.execute(insert(Student), [{"id": name} for name in names])
        for assignment in gradebook.assignments:
            _hand_in(gradebook, assignment.notebooks[0], names, dict(written))
        gradebook.db.commit()


def _hand_in(gradebook: Gradebook, notebook: Notebook, students: list[str], written: dict[str, Any]) -> None:
    ids = [uuid.uuid4().hex for _ in students]  # of the submission, and of its only notebook
    submissions = zip(ids, students, strict=True)
    assignment, own = notebook.assignment.id, notebook.id
    graded, solved = ([cell.id for cell in cells] for cells in (notebook.grade_cells, notebook.solution_cells))
    rows: dict[Any, list[dict[str, Any]]] = {
        SubmittedAssignment: [{"id": one, "assignment_id": assignment, "student_id": who} for one, who in submissions],
        SubmittedNotebook: [{"id": one, "assignment_id": one, "notebook_id": own} for one in ids],
        Grade: [{"cell_id": c, "notebook_id": one, "auto_score": 3.0} for one in ids for c in graded],
        Comment: [{"cell_id": c, "notebook_id": one} for one in ids for c in solved],
        _kept(): [{**written, "notebook_id": one} for one in ids],
    }
    for table, made in rows.items():
        gradebook.db.execute(insert(table), made)


def _kept() -> Any:
    """Our table of stored grades (`grading.gradebook.store`)."""
    return Base.metadata.tables["attention_grade"]


def main(arguments: list[str] | None = None) -> list[str]:
    """Measure and print; returns the lines of the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lesson", nargs="?", default="02_softmax")
    parser.add_argument("--students", type=int, default=10_000)
    parser.add_argument("--lessons", type=int, default=8)
    options = parser.parse_args(arguments)
    if min(options.students, options.lessons) < 1:
        parser.error("the others are one student at least, in one lesson at least")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory(prefix="bench-") as made:
        templates = Templates(Path(made), options.lesson)
        alone, beside = cost(templates, 0, 1), cost(templates, options.students, options.lessons)
    others = f"{options.students} others in {options.lessons} lessons"
    return [
        f"{alone:.3f} s CPU for each further submission in a new gradebook",
        f"{beside:.3f} beside {others}, {beside / alone:.2f} x",
    ]


if __name__ == "__main__":
    print("\n".join(main()))
