"""`hint`, `progress` and `use`, beside `check`."""

from __future__ import annotations

import pytest
import torch

from course.notebook import catalog
from course.notebook.catalog import lessons
from grading.exercises.lesson import load_lesson

from ...support.learner import RIGHT, ROOT


@pytest.mark.parametrize("lesson", lessons())
def test_hints_come_in_three_stages_and_the_last_stays(learner, lesson):
    learner.run(f"begin({lesson!r})")
    for name, data in catalog.exercises_of(lesson).items():
        shown = [learner.run(f"hint({name})") for _ in range(4)]
        assert len(data["hints"]) == len(set(data["hints"])) == 3
        for stage, (text, hint) in enumerate(zip(shown, data["hints"], strict=False), 1):
            last = " (the last one)" if stage == 3 else ""
            assert text == f"Hint {stage} of 3{last}. {hint}\n".replace("**", "")
        assert shown[3] == shown[2]


@pytest.mark.full
def test_a_hint_in_a_notebook_is_formatted(kernel):
    shown = kernel.run("hint(softmax)")
    assert shown.markdown.startswith("**Hint 1 of 3.** ")
    assert shown.text == ""


def test_hints_of_what_is_no_exercise_are_not_to_be_had(softmax_lesson):
    assert "'print' is not an exercise of lesson 02_softmax" in softmax_lesson.run("hint(print)")


def test_progress_follows_the_checks(softmax_lesson):
    assert softmax_lesson.run("progress()").startswith("○ 02_softmax: not started\n  Begin with `softmax`: write it")
    softmax_lesson.run("def entropy(p, dim=-1): return None\ncheck(entropy)")
    assert softmax_lesson.run("progress()").startswith("✗ 02_softmax: 0 of 20 points")
    softmax_lesson.run(f"{RIGHT}\ncheck(softmax)")
    text = softmax_lesson.run("progress()")
    assert text.startswith("◐ 02_softmax: 7 of 20 points\n  1 of 4 exercises pass.")
    assert text.splitlines()[2:] == [
        "  ☑ `softmax` (7 of 7)",
        "  ○ `log_softmax` (0 of 5)",
        "  ○ `softmax_with_temperature` (0 of 4)",
        "  ✗ `entropy` (0 of 4)",
        "  ○ Without points: 0 of 5",
        "  ○ `exp_and_divide`",
        "  ○ `softmax_jacobian`",
        "  ○ `next_token_losses`",
        "  ○ `soft_dictionary`",
        "  ○ `top_p`",
        "  ○ Your experiment",
    ]


def test_progress_is_complete_when_all_exercises_are(learner):
    exercises = load_lesson(ROOT / "grader_tests" / "01_dot_products").exercises
    learner.run("begin('01_dot_products')")
    for exercise in exercises.values():
        learner.check(exercise.name, exercise.alternatives[0].load())
    assert learner.run("progress()").startswith("☑ 01_dot_products: 20 of 20 points\n  All 4 exercises pass.")


def test_progress_before_begin_says_what_to_do(learner):
    assert 'call begin("02_softmax") first' in learner.run("progress()")


def test_use_gives_the_learners_own_once_it_passes(softmax_lesson):
    softmax_lesson.run("mine = use(softmax, torch.softmax)")
    assert softmax_lesson.names["mine"].whose == "torch.softmax (until your softmax passes)"
    softmax_lesson.run(f"{RIGHT}\nmine = use(softmax, lambda x, dim: 1 / 0)")
    mine = softmax_lesson.names["mine"]
    assert mine.whose == "your softmax"
    assert torch.equal(mine(torch.zeros(2), dim=-1), torch.tensor([0.5, 0.5]))


def test_what_is_used_cannot_switch_gradients_off_for_good(softmax_lesson):
    softmax_lesson.run("""
        def softmax(x, dim=-1):
            if x.numel() == 5:
                torch.set_grad_enabled(False)
            e = (x - x.amax(dim, keepdim=True)).exp()
            return e / e.sum(dim, keepdim=True)
        mine = use(softmax, torch.softmax)
    """)
    softmax_lesson.names["mine"](torch.zeros(5), dim=-1)
    assert torch.is_grad_enabled()
    with torch.no_grad():
        softmax_lesson.names["mine"](torch.zeros(2), dim=-1)
        assert not torch.is_grad_enabled()


def test_use_falls_back_where_the_learners_own_fails_later(softmax_lesson):
    for failure in ("raise IndexError", "return None"):
        softmax_lesson.run(f"""
            def softmax(x, dim=-1):
                if x.numel() == 5:
                    {failure}
                e = (x - x.amax(dim, keepdim=True)).exp()
                return e / e.sum(dim, keepdim=True)
            mine = use(softmax, torch.softmax)
        """)
        mine = softmax_lesson.names["mine"]
        assert mine.passes
        assert torch.equal(mine(torch.zeros(5), dim=-1), torch.full((5,), 0.2))
        assert mine.whose == "torch.softmax (until your softmax passes)"


def test_use_tells_of_a_stand_in_without_a_name(softmax_lesson):
    softmax_lesson.run("mine = use(softmax, lambda x, dim: x)")
    assert softmax_lesson.names["mine"].whose == "the course's function (until your softmax passes)"
