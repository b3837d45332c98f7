"""Exercises without points in the notebook: checked like others, and no part of what is graded or handed in."""

from __future__ import annotations

import re

import pytest
import torch

from course import begin
from course.notebook import catalog, check, hand_in, progress, session

RIGHT = """
def padding_mask(lengths, S):
    return (torch.arange(S, device=lengths.device) >= lengths[:, None])[:, None, None, :]
"""


@pytest.fixture
def names(monkeypatch):
    """Names of a notebook in which lesson 05 has begun and nothing is written."""
    session.renew()
    made = {"torch": torch, "begin": begin}
    exec('begin("05_causal_mask")', made)
    return made


def test_it_is_not_among_the_exercises_of_the_grade():
    assert "padding_mask" in catalog.steps_of("05_causal_mask")
    assert "padding_mask" not in catalog.exercises_of("05_causal_mask")


def test_an_untouched_one_is_not_started(names, capsys):
    check.check(names["padding_mask"])
    assert "○ padding_mask: not started (without points)." in capsys.readouterr().out


def test_a_right_one_passes_without_points(names, capsys):
    exec(RIGHT, names)
    assert check.check(names["padding_mask"], full=True) is None
    told = capsys.readouterr().out
    assert told.startswith("☑ padding_mask: passes (without points).") and not re.search(r"\d of \d", told)


def test_a_known_mistake_is_named(names, capsys):
    exec(RIGHT.replace(">=", ">"), names)
    check.check(names["padding_mask"])
    assert "You leave the first padding position of each sentence open" in capsys.readouterr().out


def test_progress_counts_it_apart_from_points(names):
    before = progress.lesson_report(session.current())
    exec(RIGHT, names)
    after = progress.lesson_report(session.current())
    assert (before.earned, before.points, before.headline) == (after.earned, after.points, after.headline)
    assert before.points == 20
    assert [int(report.rows[-1].name.split()[2]) for report in (before, after)] == [0, 1]


def test_a_notebook_without_it_is_ready_to_hand_in():
    marks = [mark for name in catalog.exercises_of("05_causal_mask") for mark in (name, f"check_{name}")]
    cells = [{"cell_type": "code", "metadata": {"nbgrader": {"grade_id": mark}}, "source": ""} for mark in marks]
    notebook = hand_in.SavedNotebook("05_causal_mask.ipynb", {"cells": cells})
    assert hand_in.problems(notebook, catalog.exercises_of("05_causal_mask")) == []
