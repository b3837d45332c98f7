"""`predict` and `review`: what a learner sees, what is saved, and that nothing stops the notebook."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from course.notebook import catalog, predictions, session
from course.notebook.saved_progress import ProgressStore, SavedGuess

from ...support.acting_lesson import LESSON
from ...support.learner import Learner
from ...support.learner_kernel import running_kernel

GROW, SHAPE = "the weights that grow", "the shape"


def test_without_a_guess_one_line_says_what_can_be_answered(acting: Learner) -> None:
    assert acting.run(f"predict({GROW!r}, ...)") == (
        f'○ {GROW}: No guess yet. Put yours in place of the dots: "all", "none" or "the largest".\n'
    )
    assert acting.run(f"predict({GROW!r})") == acting.run(f"predict({GROW!r}, None)")


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


def test_what_cannot_be_a_guess_is_answered_and_not_kept(acting: Learner) -> None:
    told = acting.run(f"predict({GROW!r}, 'some')")
    assert told.startswith(f"○ {GROW}: `some` is not one of the answers. You can answer ")
    assert session.current.store.guesses == {}


def test_the_first_guess_is_kept(acting: Learner) -> None:
    acting.run(f"predict({GROW!r}, 'all')\npredict({GROW!r}, 'none')")
    assert session.current.store.guesses == {LESSON: {GROW: SavedGuess("all", False)}}


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


def test_guesses_outlast_the_session_and_a_damaged_one_costs_no_progress(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    ProgressStore(path).record_guess(LESSON, GROW, SavedGuess("all", False))
    ProgressStore(path).record_guess(LESSON, SHAPE, SavedGuess("(3, 1)", True))
    assert ProgressStore(path).guesses[LESSON] == {GROW: SavedGuess("all", False), SHAPE: SavedGuess("(3, 1)", True)}
    kept = json.loads(path.read_text())
    kept["predictions"][LESSON] |= {SHAPE: {"guess": 3, "right": True}, "other": "none", "third": {"guess": "x"}}
    path.write_text(json.dumps(kept))
    assert ProgressStore(path).guesses == {LESSON: {GROW: SavedGuess("all", False)}}
    path.write_text(json.dumps({**kept, "predictions": ["no"]}))
    assert ProgressStore(path).guesses == {}
    assert path.exists()


def test_review_shows_what_was_wrong_in_earlier_lessons(acting: Learner, acting_data: Path, tmp_path: Path) -> None:
    for file in acting_data.glob(f"{LESSON}.*"):
        shutil.copy(file, tmp_path / file.name)
        shutil.copy(file, tmp_path / file.name.replace(LESSON, "02_later"))
    catalog.EXAMPLES = tmp_path  # `acting` puts the package's folder back
    acting.run(f"predict({GROW!r}, 'all')\npredict({SHAPE!r}, (3, 1))")
    assert acting.run("review()") == f"{predictions.NOTHING_WRONG}\n"
    told = acting.run("begin('02_later')\nreview()").splitlines()
    assert told == [
        f"✗ 01 acts, {GROW}: You predicted `all`: not right.",
        "  Add 10 to each of three scores. Which of their weights grow?",
        "  The answer is `none`.",
        "  All differences stay the same, so all weights do.",
    ]
    (tmp_path / f"{LESSON}{catalog.PREDICTIONS}").write_text("{")
    assert "Your predictions cannot be read" in acting.run("review()")


def test_in_a_kernel_the_answer_is_folded_until_there_is_a_guess(acting_data: Path, tmp_path: Path) -> None:
    for file in acting_data.iterdir():
        (tmp_path / file.name).symlink_to(file)
    with running_kernel(tmp_path) as kernel:
        kernel.run(f"from course import begin, check, predict, progress, review\nbegin({LESSON!r})")
        shown = kernel.run(f"predict({GROW!r}, ...)")
        before, _, folded = shown.html.partition("<details")
        assert "<summary>Answer</summary>" in folded and "The answer is <code>none</code>." in folded
        assert "The answer" not in before
        assert shown.value is None and shown.error is None
        page = kernel.run(f"predict({GROW!r}, 'all')").html
        assert "<details" not in page
        assert "You predicted <code>all</code>: not right." in page  # in words, beside mark and colour
        assert kernel.run("check('experiment', 0.5)").error is None
        assert "Your experiment" in kernel.run("progress()").html
        assert predictions.NOTHING_WRONG in kernel.run("review()").text
        assert "belongs to the lesson" in kernel.run("predict = 3").markdown
