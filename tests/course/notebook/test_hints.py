"""`hint`: each hint can be read again, and none is used up by running a notebook again."""

from __future__ import annotations

import pytest

from course.notebook import catalog, session
from course.notebook.catalog import lessons

from ...support.learner import Learner
from ...support.learner_kernel import Kernel

WRONG = "def softmax(x, dim=-1):\n    return x"


@pytest.mark.parametrize("lesson", lessons())
def test_who_asks_again_gets_the_next_one_below_those_before(learner: Learner, lesson: str) -> None:
    learner.run(f"begin({lesson!r})")
    for name, data in catalog.exercises_of(lesson).items():
        shown = [learner.run(f"hint({name})") for _ in range(4)]
        assert len(data["hints"]) == len(set(data["hints"])) == 3
        for stage, text in enumerate(shown, 1):
            hints = [f"Hint {n} of 3. {hint}".replace("**", "") for n, hint in enumerate(data["hints"][:stage], 1)]
            more = [f"Still stuck? Run `hint({name})` again."] if stage < 3 else []
            assert text == "\n\n".join([*hints, *more]) + "\n"


def test_after_a_restart_they_continue_with_the_next(softmax_lesson: Learner, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ATTENTION_MEMORY", str(tmp_path / "progress.json"))
    for number in (1, 2):
        session.renew()
        softmax_lesson.run("begin('02_softmax')")
        shown = softmax_lesson.run("hint(softmax)")
        assert [f"Hint {n} of 3." in shown for n in (1, 2, 3)] == [number >= n for n in (1, 2, 3)]


@pytest.mark.full
def test_a_notebook_that_runs_again_uses_up_none(kernel: Kernel) -> None:
    def hints(*cells: str) -> int:
        shown = [kernel.run(cell) for cell in cells][-1]
        assert shown.text == ""
        return shown.markdown.count("**Hint ")

    for _ in range(3):
        assert hints("1", "hint(softmax)") == 1
    assert hints("hint(softmax)", "hint(softmax)") == 3, "the cell before asked, too"
    kernel.run("import course.notebook.session as s\ns.renew()\nbegin('02_softmax')\ndel s")
    assert hints(f"{WRONG}\nhint(softmax)") == hints(f"{WRONG}\ncheck(softmax)", "1", "hint(softmax)") - 1 == 1
    for _ in range(2):
        assert hints(f"{WRONG}\ncheck(softmax)", "1", "hint(softmax)") == 2, "the same answer is no new try"


def test_hints_of_what_is_no_exercise_are_not_to_be_had(softmax_lesson: Learner) -> None:
    assert "'print' is not an exercise of lesson 02_softmax" in softmax_lesson.run("hint(print)")


def test_a_report_names_the_call_while_a_hint_is_left(softmax_lesson: Learner) -> None:
    softmax_lesson.run(WRONG)
    for _ in range(3):
        assert softmax_lesson.run("check(softmax)").endswith("Stuck? hint(softmax)\n")
        softmax_lesson.run("hint(softmax)")
    assert "hint(softmax)" not in softmax_lesson.run("check(softmax)")
