"""Steps in the notebook: checked like exercises, without points, and with answers of the course's."""

from __future__ import annotations

from course.cli import main
from course.notebook import catalog, follow_through, session

from ...support.acting_lesson import LESSON
from ...support.learner import Learner, status_line


def test_a_step_is_not_an_exercise(acting: Learner) -> None:
    assert list(catalog.steps_of(LESSON)) == ["halve"]
    assert list(catalog.exercises_of(LESSON)) == ["double"]
    assert catalog.steps_of(LESSON)["halve"]["points"] == 0


def test_its_check_names_mistakes_and_gives_no_points(acting: Learner) -> None:
    assert acting.check("halve").startswith("○ halve: not started (without points). Write it in the cell above")
    acting.run("def halve(x):\n    return x // 2")
    told = acting.check("halve").splitlines()
    assert told[:2] == ["✗ halve: not right yet (without points)", "  You round down."]
    acting.run("def halve(x):\n    return x * 0.5")
    told = acting.check("halve").splitlines()
    assert told[0] == "☑ halve: passes (without points). 1 example and 1 practice case pass."
    assert acting.names["points"] is None, "no 0.0 below the report"


def test_misuse_is_reported_as_for_exercises(acting: Learner) -> None:
    told = acting.run("halve = 3\ncheck(halve)").splitlines()
    assert told[0] == "✗ halve: not right yet (without points)"
    assert told[1].startswith("  `halve` is now an `int`, not a function")


def test_hints_and_a_solution_are_there(acting: Learner) -> None:
    assert acting.run("solution(halve)").startswith("The solutions to halve open once it passes, or after ")
    assert acting.run("hint(halve)") == "Hint 1 of 1. What is half of 4?\n"
    acting.run("def halve(x):\n    return x / 2\ncheck(halve)")
    told = acting.run("solution(halve)")
    assert told.startswith("A correct answer to `halve`.") and "return x / 2" in told


def test_a_stand_in_for_one_is_checked_as_written(acting: Learner) -> None:
    acting.run_given("kept = halve")
    assert acting.run("check(kept)").startswith("○ halve: not started")
    acting.run("def halve(x):\n    return x // 2")
    assert "You round down." in acting.run("check(kept)")


def test_code_beside_a_notebook_is_not_run(acting: Learner, acting_data, tmp_path, monkeypatch) -> None:
    (tmp_path / f"{LESSON}.examples").write_bytes((acting_data / f"{LESSON}.examples").read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(catalog, "EXAMPLES", tmp_path / "package")
    assert "halve" in catalog.steps_of(LESSON)
    assert follow_through.step_function(LESSON, "halve") is None


def test_an_exercise_that_calls_a_wrong_step_is_checked_with_a_right_one(acting: Learner) -> None:
    acting.run("def halve(x):\n    return x // 2\n\ndef double(x):\n    return x + 2 * halve(x)")
    told = acting.check("double")
    assert told.startswith("☑ double: 20 of 20 points")
    assert "a right `halve` in place of yours" in told or "halve" in acting.run("check(double, full=True)")


def test_progress_counts_steps_apart_from_points(acting: Learner) -> None:
    before = acting.run("progress()").splitlines()
    acting.run("def halve(x):\n    return x / 2\ncheck(halve)")
    after = acting.run("progress()").splitlines()
    assert before[:3] == after[:3]
    assert (before[3], after[3]) == ("  ○ Without points: 0 of 2 pass", "  ◐ Without points: 1 of 2 pass")


def test_the_command_fails_for_a_wrong_step(acting: Learner, tmp_path, capsys) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def halve(x):\n    return x // 2\n\ndef double(x):\n    return 2 * x\n")
    assert main(["check", str(file)]) == 1
    assert main(["check", str(file), "double"]) == 0
    assert "☑ double: 20 of 20 points" in capsys.readouterr().out
    session.renew()


def test_a_forbidden_function_is_reported_as_one_of_a_step(learner: Learner) -> None:
    told = learner.run("begin('90_tensors')\ndef running_means(x):\n    return x.cumsum(0)\ncheck(running_means)")
    assert "This exercise does not allow `torch.Tensor.cumsum`. Write it yourself." in told


def test_a_list_in_place_of_a_table_is_reported_as_a_list(learner: Learner) -> None:
    told = learner.run("begin('90_tensors')\ndef gaps(a, b):\n    return [[y - x for y in b] for x in a]\ncheck(gaps)")
    assert "does not allow" not in told
    assert "expected a tensor, got a list" in told


def test_a_parameter_made_of_a_number_is_reported_as_such(learner: Learner) -> None:
    told = learner.run(
        "from torch import nn\nbegin('90_tensors')\nclass Line(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.slope = nn.Parameter(0.0)\ncheck(Line)"
    )
    assert "as in `nn.Parameter(torch.tensor(0.0))`" in told
    assert "`.item()`" not in told


def test_answers_that_call_each_other_are_checked(acting: Learner) -> None:
    acting.run(
        "def halve(x):\n    return double(x) / 4 + 1\n\ndef double(x):\n    return 2 * x if x > 0 else halve(-x)"
    )
    assert acting.check("halve").startswith(status_line("wrong", "halve"))
