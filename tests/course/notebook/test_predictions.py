"""`predict`: what a learner sees, and that nothing stops the notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

from course.notebook import catalog, predictions
from course.report import STATIC_PAGE_ENV

from ...support.acting_lesson import LESSON
from ...support.learner import Learner
from ...support.learner_kernel import running_kernel

GROW, SHAPE = "the weights that grow", "the shape"


def test_without_a_guess_one_line_says_what_can_be_answered(acting: Learner) -> None:
    assert acting.run(f"predict({GROW!r}, ...)") == (
        f"○ {GROW}: No guess yet. Put yours in place of the dots: "
        '"all", "none" or "the largest"; `"?"` shows the answer.\n'
    )
    assert acting.run(f"predict({GROW!r})") == acting.run(f"predict({GROW!r}, None)")
    assert "The result" not in acting.run(f"predict({SHAPE!r}, ..., scores[:, None].shape)")


def test_a_question_mark_shows_the_answer(acting: Learner) -> None:
    assert acting.run(f"predict({GROW!r}, '?')").splitlines() == [
        f"○ {GROW}: The answer is `none`.",
        "  All differences stay the same, so all weights do.",
    ]


def test_a_right_guess_gets_the_reason(acting: Learner) -> None:
    assert acting.run(f"predict({GROW!r}, 'None')") == (
        f"✓ {GROW}: You predicted `none`: right.\n  All differences stay the same, so all weights do.\n"
    )


def test_a_wrong_guess_gets_the_answer_and_why_people_think_so(acting: Learner) -> None:
    assert acting.run(f"predict({GROW!r}, 'all')").splitlines() == [
        f"✗ {GROW}: You predicted `all`: not right.",
        "  The answer is `none`.",
        "  Higher scores look like higher weights, but only differences count.",
        "  All differences stay the same, so all weights do.",
    ]
    assert "  The largest score leads by as much as before." in acting.run(f"predict({GROW!r}, 'the largest')")


def test_the_result_is_shown_beside_the_guess(acting: Learner) -> None:
    told = acting.run(f"predict({SHAPE!r}, (1, 3), scores[:, None].shape)").splitlines()
    assert told[:2] == [f"✗ {SHAPE}: You predicted `(1, 3)`: not right.", "  The result is `(3, 1)`."]
    assert not any("The answer is" in line for line in told)


def test_a_result_that_says_the_answer_in_another_form_is_enough(acting: Learner) -> None:
    told = acting.run(f"predict({SHAPE!r}, (1, 3), torch.tensor([3, 1]))")
    assert "The result is `tensor([3, 1])`." in told
    assert "The answer is" not in told
    other = acting.run(f"predict({SHAPE!r}, (1, 3), torch.tensor([3, 2]))")
    assert "The result is `tensor([3, 2])`." in other
    assert "The answer is `(3, 1)`." in other
    assert "The result is" not in acting.run(f"predict({SHAPE!r}, (3, 1), torch.tensor([3, 1]))")


def test_what_cannot_be_a_guess_is_answered_without_the_answer(acting: Learner) -> None:
    told = acting.run(f"predict({GROW!r}, 'some')")
    assert told == (f'○ {GROW}: `some` is not one of the answers. You can answer "all", "none" or "the largest".\n')


def test_a_prediction_of_another_version_and_a_damaged_file_stop_nothing(
    acting: Learner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = acting.run("predict('the sign', '+')")
    assert "has no prediction called 'the sign'" in told
    assert "Run the notebook's first cell" in told
    monkeypatch.chdir(tmp_path)
    for damaged in ("{", "[]", f'{{"{GROW}": {{}}}}', f'{{"{GROW}": 3}}'):
        (tmp_path / f"{LESSON}{catalog.PREDICTIONS}").write_text(damaged)
        assert "cannot be" in acting.run(f"predict({GROW!r}, 'all')")


def test_a_result_that_cannot_be_shown_stops_nothing(acting: Learner) -> None:
    told = acting.run(f"class Bad:\n    def __repr__(self): raise OSError('no')\npredict({GROW!r}, 'all', Bad())")
    assert told == "This prediction cannot be shown: OSError: no\n"


def test_before_begin_a_prediction_says_what_to_run(learner: Learner) -> None:
    assert "No lesson has started" in learner.run(f"from course import predict\npredict({GROW!r}, 'all')")


@pytest.mark.parametrize("guess", ["...", "'some'"])
def test_before_a_guess_the_answer_is_not_in_the_page_but_on_the_site_where_nobody_can_guess(
    acting: Learner, monkeypatch: pytest.MonkeyPatch, guess: str
) -> None:
    pages = []
    monkeypatch.setattr(predictions, "display_html", lambda page, words: pages.append(page))
    for static in ("", "1"):
        monkeypatch.setenv(STATIC_PAGE_ENV, static)
        acting.run(f"predict({GROW!r}, {guess})")
    asked, site = pages
    assert "All differences" not in asked
    assert "<details" not in asked
    before, _, folded = site.partition("<details><summary>Answer</summary>")
    assert "The answer is <code>none</code>." in folded
    assert "All differences" not in before


def test_in_a_kernel_each_prediction_of_a_cell_says_which_it_is(acting_data: Path, tmp_path: Path) -> None:
    for file in acting_data.iterdir():
        (tmp_path / file.name).symlink_to(file)
    with running_kernel(tmp_path) as kernel:
        kernel.run(f"from course import begin, check, predict, progress\nbegin({LESSON!r})")
        shown = kernel.run(f"predict({GROW!r}, 'all')\npredict({SHAPE!r}, (3, 1))")
        assert shown.value is None and shown.error is None
        assert f"<b>{GROW}</b>: You predicted <code>all</code>: not right." in shown.html  # beside mark and colour
        assert f"<b>{SHAPE}</b>: You predicted <code>(3, 1)</code>: right." in shown.html
        assert kernel.run("check('experiment', 0.5)").error is None
        assert "Without points: 1 of 2 pass" in kernel.run("progress()").html
        assert "belongs to the lesson" in kernel.run("predict = 3").markdown
