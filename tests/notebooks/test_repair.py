"""What students' editors do to a notebook, alone and together, and what the real sanitize step makes of it."""

from __future__ import annotations

import contextlib
import copy
import random
import shutil
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from grading.gradebook.view import load_released
from grading.notebooks.cells import CHECK, RECORD, exercise_of, grade_id
from grading.notebooks.repair import NOTHING_FOUND

from ..support.damaged_notebooks import ANSWERS, MANGLES, cell_of, place, still_there
from ..support.two_exercise_course import DOUBLE, LESSON


@pytest.fixture
def solved(course: Any) -> dict[str, Any]:
    """The release with both answers written, and a cell of the student's own, as plain JSON data."""
    notebook = copy.deepcopy(course.release)
    for cell in notebook.cells:
        cell.source = ANSWERS.get(cell.id, cell.source)
    notebook.cells.insert(5, nbformat.v4.new_code_cell("own = double(21)", id="own"))
    return dict(notebook)


def marked(notebook: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            found.setdefault(grade_id(cell), []).append(cell)
    return found


def assert_sound(notebook: Any, course: Any) -> None:
    """Everything that grading relies on holds, whatever came in."""
    nbformat.validate(notebook)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    cells = marked(notebook)
    assert sorted(cells) == ["check_double", "check_halve", "double", "halve"]
    assert all(len(owners) == 1 for owners in cells.values())
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as gradebook:
        for name, points in {"double": 3, "halve": 5}.items():
            answer, check = cells[name][0], cells[f"check_{name}"][0]
            assert notebook.cells.index(answer) < notebook.cells.index(check)
            source = gradebook.find_source_cell(f"check_{name}", LESSON, LESSON)
            assert check.source == source.source
            assert check.metadata.nbgrader == {
                "grade": True,
                "grade_id": f"check_{name}",
                "locked": True,
                "schema_version": 3,
                "solution": False,
                "task": False,
                "cell_type": "code",
                "points": points,
                "checksum": source.checksum,
            }
            assert set(check.metadata) == {"nbgrader", "deletable", "editable"}
            assert set(answer.metadata) == {"nbgrader", "deletable"}
            assert answer.metadata.nbgrader.solution and not answer.metadata.nbgrader.grade
            assert answer.cell_type == check.cell_type == "code"
    assert notebook.metadata.kernelspec.name == "python3"
    assert set(notebook.metadata) == {"kernelspec", "language_info", RECORD}
    assert all(isinstance(text, str) for text in notebook.metadata[RECORD].repairs)


def judged(notebook: Any) -> dict[str, Any]:
    """Run the cells above each check and see which functions it gets: name -> its value at 4."""
    seen: dict[str, Any] = {}
    names: dict[str, Any] = {"check": lambda f: None}
    for cell in notebook.cells:
        if grade_id(cell).startswith(CHECK):
            name = exercise_of(cell)
            try:
                seen[name] = names[name](4)
            except (KeyError, NotImplementedError) as error:
                seen[name] = type(error).__name__
        elif cell.cell_type == "code" and cell.id != "begin":
            with contextlib.suppress(Exception, SystemExit):  # a student's cell may fail
                exec(cell.source, names)
    return seen


RIGHT = {"double": 8, "halve": 2.0}


def repairs(notebook: Any) -> str:
    return "\n".join(notebook.metadata[RECORD].repairs)


def test_sound_notebook_is_left_as_it_is(sanitize: Any, solved: Any, course: Any) -> None:
    notebook = sanitize(solved)
    assert_sound(notebook, course)
    assert repairs(notebook) == ""
    assert [cell.id for cell in notebook.cells] == [cell["id"] for cell in solved["cells"]]
    assert cell_of(notebook, "demo").metadata.tags == ["picture"]
    assert judged(notebook) == RIGHT


def test_untouched_release_needs_no_repair(sanitize: Any, course: Any) -> None:
    notebook = sanitize(dict(course.release))
    assert_sound(notebook, course)
    assert repairs(notebook) == ""
    assert judged(notebook) == {"double": "NotImplementedError", "halve": "NotImplementedError"}


def assert_fair(notebook: Any, handed_in: Any) -> None:
    """Every check gets the answer that was written for it, if that was in the notebook at all."""
    seen = judged(notebook)
    for name in still_there(handed_in):
        assert seen[name] == RIGHT[name], name


@pytest.mark.parametrize("name", sorted(MANGLES))
def test_each_mangle_is_repaired(name: str, sanitize: Any, solved: Any, course: Any) -> None:
    for seed in range(3):
        handed_in = copy.deepcopy(solved)
        MANGLES[name](handed_in, random.Random(seed))
        notebook = sanitize(handed_in)
        assert_sound(notebook, course)
        assert_fair(notebook, handed_in)


@pytest.mark.quick_cases("?", "1?")
@pytest.mark.parametrize("seed", range(60))
def test_any_combination_of_mangles_is_repaired(seed: int, sanitize: Any, solved: Any, course: Any) -> None:
    rng = random.Random(seed)
    for name in rng.choices(sorted(MANGLES), k=rng.randint(2, 6)):
        MANGLES[name](solved, rng)
    notebook = sanitize(solved)
    assert_sound(notebook, course)
    assert_fair(notebook, solved)
    assert "unreadable" not in notebook.metadata[RECORD] or not still_there(solved)


# What the student and the teacher are told


def test_missing_cells_are_named_and_put_back_in_their_place(sanitize: Any, solved: Any, course: Any) -> None:
    for name in ("halve", "check_double"):
        solved["cells"].remove(cell_of(solved, name))
    notebook = sanitize(solved)
    assert_sound(notebook, course)
    assert "The cell for the answer was missing; an empty one was put in its place: halve." in (repairs(notebook))
    assert "The check was missing and was put back: double." in repairs(notebook)
    ids = [cell.id for cell in notebook.cells]
    assert ids.index("double") + 1 == ids.index("check_double")
    assert ids.index("halving") + 1 == ids.index("halve")


def test_untouched_copy_below_the_answer_does_not_undo_it(sanitize: Any, solved: Any, course: Any) -> None:
    stub = copy.deepcopy(dict(cell_of(dict(course.release), "double")))
    solved["cells"].insert(place(solved, "double") + 1, stub | {"id": "stub"})
    notebook = sanitize(solved)
    assert judged(notebook) == RIGHT
    assert "There was more than one cell for the answer" in repairs(notebook)


@pytest.mark.parametrize(
    ("above", "counts"),
    [
        (DOUBLE, True),
        ("def double(x:\n    return", True),
        ("from operator import neg as double", False),
        ("print('double')", False),
    ],
    ids=["answer", "unreadable answer", "import", "no definition"],
)
def test_an_answer_above_the_untouched_stub_is_not_undone_by_it(
    sanitize: Any, solved: Any, course: Any, above: str, counts: bool
) -> None:
    stub = cell_of(course.release, "double").source
    cell_of(solved, "double").source = stub
    solved["cells"].insert(3, nbformat.v4.new_code_cell(above, id="mine"))
    made = sanitize(solved)
    assert_sound(made, course)
    assert cell_of(made, "mine").source == above
    assert (cell_of(made, "double").source == stub) != counts
    assert any("was in another cell" in text for text in made.metadata[RECORD].repairs) == counts


def test_a_copy_of_the_stub_without_marks_does_not_undo_the_answer(sanitize: Any, solved: Any, course: Any) -> None:
    stub = cell_of(course.release, "double").source
    solved["cells"].insert(5, nbformat.v4.new_code_cell(stub, id="copy"))
    made = sanitize(solved)
    assert_sound(made, course)
    assert cell_of(made, "double").source == DOUBLE
    assert stub not in [cell.source for cell in made.cells]


def test_students_own_definitions_and_text_are_kept(sanitize: Any, solved: Any) -> None:
    own = nbformat.v4.new_code_cell("def helper(x):\n    return x + x", id="helper")
    text = nbformat.v4.new_markdown_cell("My notes: $x$", id="notes")
    solved["cells"][3:3] = [dict(own), dict(text)]
    cell_of(solved, "double")["source"] = "def double(x):\n    return helper(x)"
    notebook = sanitize(solved)
    assert repairs(notebook) == ""
    assert cell_of(notebook, "helper").source == own.source
    assert cell_of(notebook, "notes").source == text.source
    assert judged(notebook) == RIGHT


def test_another_lessons_notebook_goes_to_a_person(sanitize: Any, course: Any) -> None:
    other = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print('another lesson')")])
    notebook = sanitize(dict(other))
    assert_sound(notebook, course)
    assert notebook.metadata[RECORD].unreadable == NOTHING_FOUND


def test_repair_needs_nothing_but_the_gradebook(sanitize: Any, solved: Any, course: Any) -> None:
    shutil.rmtree(course.root / "source")
    shutil.rmtree(course.root / "release")
    solved["cells"].remove(cell_of(solved, "check_halve"))
    for cell in solved["cells"]:
        cell["metadata"] = {}
    notebook = sanitize(solved)
    assert_sound(notebook, course)
    assert judged(notebook) == RIGHT


def test_released_notebook_knows_order_points_and_tags(course: Any) -> None:
    converter = CourseDirectory(root=str(course.root), assignment_id=LESSON)
    released = load_released(f"sqlite:///{course.root}/gradebook.db", LESSON, LESSON, converter)
    assert list(released.marked) == ["double", "check_double", "halve", "check_halve"]
    assert [released.marked[name].points for name in released.marked] == [0, 3, 0, 5]
    assert released.tags_of("code", "print('a slow picture')\n") == ("picture",)
    assert released.tags_of("code", "print('a slow picture, changed')") == ()
    assert released.marked["check_double"].visible == "check(double)"
