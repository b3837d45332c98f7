"""`progress`: the lesson and the course in at most twelve lines, from which a wrong answer takes nothing."""

from __future__ import annotations

import pytest

from grading.exercises.lesson import load_lesson

from ...support.learner import RIGHT, ROOT, Learner
from ...support.learner_kernel import Kernel

WRONG = "def softmax(x, dim=-1):\n    return x"


def test_it_follows_the_checks(softmax_lesson: Learner) -> None:
    assert softmax_lesson.run("progress()").startswith("○ 02_softmax: not started\n  Begin with `softmax`: write it")
    softmax_lesson.run("def entropy(p, dim=-1): return None\ncheck(entropy)")
    assert softmax_lesson.run("progress()").startswith("✗ 02_softmax: 0 of 20 points")
    softmax_lesson.run(f"{RIGHT}\ncheck(softmax)")
    text = softmax_lesson.run("progress()")
    assert text.startswith("◐ 02_softmax: 7 of 20 points\n  1 of 4 exercises pass. Next: `log_softmax`.")
    assert text.splitlines()[2:] == [
        "  ☑ Pass: `softmax`",
        "  ◐ Not yet: `entropy` 0 of 4",
        "  ○ Not started: `log_softmax`, `softmax_with_temperature`",
        "  ○ Without points: 0 of 3 pass",
    ]


def test_it_is_complete_when_all_exercises_are(learner: Learner) -> None:
    exercises = load_lesson(ROOT / "grader_tests" / "01_dot_products").exercises
    learner.run("begin('01_dot_products')")
    for exercise in exercises.values():
        learner.check(exercise.name, exercise.alternatives[0].load())
    assert learner.run("progress()").startswith("☑ 01_dot_products: 20 of 20 points\n  All 4 exercises pass.")


def test_before_begin_it_says_what_to_do(learner: Learner) -> None:
    assert 'call begin("02_softmax") first' in learner.run("progress()")


def test_what_has_passed_stays_passed_with_its_points(softmax_lesson: Learner) -> None:
    softmax_lesson.run(f"{RIGHT}\ncheck(softmax)\n{WRONG}")
    assert softmax_lesson.run("check(softmax)").startswith("✗ softmax")
    assert "7 of 20 points" in softmax_lesson.run("progress()")


def test_it_checks_what_has_not_passed_yet(softmax_lesson: Learner) -> None:
    softmax_lesson.run(WRONG)
    assert "◐ Not yet: `softmax` 0 of 7" in softmax_lesson.run("progress()")
    softmax_lesson.run(RIGHT)
    assert "7 of 20 points" in softmax_lesson.run("progress()")


@pytest.mark.full
def test_it_has_at_most_twelve_lines_in_the_longest_lesson(kernel: Kernel) -> None:
    kernel.run("""
        from course.notebook import progress as made, session as s
        from course.notebook.saved_progress import ExerciseProgress
        begin("14_tokens_and_choices")
        made.display = lambda shown: print(shown.to_text())
        known = [ExerciseProgress("passes", 2.0, True), ExerciseProgress("partly right", 1.0), ExerciseProgress()]
        for number, name in enumerate(made.catalog.tasks_of("14_tokens_and_choices")):
            s.current().store.record("14_tokens_and_choices", name, known[number % 3])
    """)
    lines = kernel.run("progress()").text.splitlines()
    assert 6 < len(lines) <= 12, lines
    assert not any("](" in line or "http" in line for line in lines)
    kernel.run("s.renew(); del made, s, known, number, name")
