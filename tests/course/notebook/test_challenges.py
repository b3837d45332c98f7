"""Challenges in the notebook: checked like exercises, counted in stars, and no part of what is graded or handed in."""

from __future__ import annotations

import pytest
import torch

from course import begin
from course.notebook import catalog, check, hand_in, progress, session

RIGHT = """
def sliding_window(T, width, device=None):
    if width < 1:
        raise ValueError(f"width is {width}")
    square = torch.ones(T, T, dtype=torch.bool, device=device)
    return square.triu(1) | square.tril(-width)
"""


@pytest.fixture
def names(monkeypatch):
    """Names of a notebook in which lesson 05 has begun and nothing is written."""
    session.renew()
    made = {"torch": torch, "begin": begin}
    exec('begin("05_causal_mask")', made)
    return made


def test_a_challenge_is_no_exercise_of_the_lesson():
    assert list(catalog.challenges_of("05_causal_mask")) == ["sliding_window"]
    assert "sliding_window" not in catalog.exercises_of("05_causal_mask")
    assert catalog.challenges_of("00_start") == {}


def test_an_untouched_challenge_is_not_started(names, capsys):
    check.check(names["sliding_window"])
    assert "○ sliding_window: not started." in capsys.readouterr().out


def test_a_right_one_passes_and_says_that_it_is_not_graded(names, capsys):
    exec(RIGHT, names)
    assert check.check(names["sliding_window"], full=True) == 1.0
    told = capsys.readouterr().out
    assert told.startswith("☑ sliding_window: 1 of 1 star.") and "not graded" in told


def test_a_known_mistake_is_named(names, capsys):
    exec(RIGHT.replace("tril(-width)", "tril(-width - 1)"), names)
    check.check(names["sliding_window"])
    assert "Your window is one key too wide" in capsys.readouterr().out


def test_progress_counts_stars_apart_from_points(names):
    before = progress.lesson_report(session.current())
    exec(RIGHT, names)
    after = progress.lesson_report(session.current())
    assert (before.earned, before.points, before.headline) == (after.earned, after.points, after.headline)
    assert before.points == 20
    assert [int(report.rows[-1].name.split()[2]) for report in (before, after)] == [0, 1]


def test_a_notebook_without_its_challenge_is_ready_to_hand_in():
    marks = [mark for name in catalog.exercises_of("05_causal_mask") for mark in (name, f"check_{name}")]
    cells = [{"cell_type": "code", "metadata": {"nbgrader": {"grade_id": mark}}, "source": ""} for mark in marks]
    notebook = hand_in.SavedNotebook("05_causal_mask.ipynb", {"cells": cells})
    assert hand_in.problems(notebook, catalog.exercises_of("05_causal_mask")) == []
