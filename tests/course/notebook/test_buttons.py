"""What the buttons in JupyterLab ask the kernel before they run a call."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

import course
from course.notebook import buttons, catalog, hints, session

LESSON = "02_softmax"


@pytest.fixture(autouse=True)
def learner(monkeypatch, tmp_path):
    """The lesson has begun in an empty folder, and nothing is answered."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(catalog, "OPEN", ())
    session.renew(lesson=LESSON)
    return tmp_path


def test_before_a_lesson_has_begun_there_is_nothing_to_press(monkeypatch):
    session.renew()
    assert buttons.button_state() == {"lesson": None, "tasks": {}}


def test_each_task_of_the_lesson_has_its_unanswered_cell_and_no_open_solution():
    state = buttons.button_state()
    assert state["lesson"] == LESSON
    assert set(state["tasks"]) == set(catalog.tasks_of(LESSON))
    assert state["tasks"]["softmax"]["stub"].startswith("def softmax(x: torch.Tensor")
    assert not any(task["solution"] for task in state["tasks"].values())


def test_a_solution_is_open_where_solution_shows_it(capsys):
    step = catalog.steps_of(LESSON)["exp_and_divide"]
    for number in range(hints.TRIES):
        assert not buttons.button_state()["tasks"]["exp_and_divide"]["solution"]
        names: dict = {}
        exec(f"def exp_and_divide(x):\n    return x * {number}", names)
        course.check(names["exp_and_divide"])
        for _ in step["hints"]:
            course.hint("exp_and_divide")
    assert buttons.button_state()["tasks"]["exp_and_divide"]["solution"]
    capsys.readouterr()
    course.solution("exp_and_divide")
    assert "A correct answer to `exp_and_divide`" in capsys.readouterr().out


def test_a_solution_that_is_not_published_or_cannot_be_read_is_not_open(learner):
    session.current().store.record(LESSON, "softmax", session.current().store.get(LESSON, "softmax"))
    assert not hints.is_open(session.current(), "softmax")
    assert not hints.is_open(session.current(), "no_such_exercise")
    (learner / f"{LESSON}{catalog.SOLUTIONS}").write_text("{")
    assert not hints.is_open(session.current(), "softmax")


def test_a_damaged_file_of_unanswered_cells_leaves_the_other_buttons(learner):
    for damaged in ("{", "[]"):
        (learner / f"{LESSON}{catalog.STUBS}").write_text(damaged)
        task = buttons.button_state()["tasks"]["softmax"]
        assert task == {"solution": False, "stub": ""}


@pytest.fixture
def shell():
    """IPython's shell, as in a kernel; ended afterwards, since `course` takes a process that has one for a notebook."""
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def test_a_front_end_gets_the_state_as_json(shell):
    code = (Path(course.__file__).parent / "labextension" / "static" / "buttons.js").read_text(encoding="utf-8")
    asks = re.search(r"const STATE = `(.*?)`;", code, re.DOTALL)
    assert asks, "the expression that buttons.js sends to the kernel"
    expression = asks[1].replace("\\\n", "")
    import_module("course.notebook.begin")  # by the lesson's first cell
    asked = shell.user_expressions({"state": expression})["state"]
    assert asked["status"] == "ok"
    assert json.loads(json.dumps(asked["data"]["application/json"])) == buttons.button_state()
