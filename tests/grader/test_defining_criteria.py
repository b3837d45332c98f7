"""An answer that leaves out what defines its exercise keeps half of the points at most."""

from __future__ import annotations

import pytest

from grading.exercises.lesson import load_lesson
from grading.grader.grade_exercise import known_verdict

from ..support.repository import ROOT


@pytest.mark.full
@pytest.mark.parametrize(
    ("lesson", "exercise", "mistake"),
    [
        ("10_tiles", "tiled_attention", "makes_all_scores_at_once"),
        ("10_tiles", "tiled_backward", "makes_all_scores_at_once"),
        ("13_cheaper_attention", "absorbed_attention", "makes_keys_and_values"),
        ("14_tokens_and_choices", "train_bpe", "counts_once"),
        pytest.param("12_two_sequences", "beam_search", "always_greedy"),
    ],
)
@pytest.mark.quick_cases("10_tiles-tiled_backward-*")
def test_what_leaves_out_the_defining_part_keeps_half_at_most(lesson, exercise, mistake):
    found = load_lesson(ROOT / "grader_tests" / lesson).exercises[exercise]
    assert known_verdict(found, mistake, seed=3).earned <= found.points / 2
