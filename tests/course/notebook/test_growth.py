"""What a lesson shows of the learner's part of an earlier lesson, and what is new in it."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

import pytest

from course.notebook import growth, session
from course.notebook.begin import begin

ATTENTION = '''def attention(query, key, value):
    """Mine, of lesson 3."""
    weights = torch.softmax(query @ key.mT, dim=-1)  # the keys' last two dimensions are swapped
    return weights @ value, weights'''
SCALED = '''import torch


def scaled_dot_product_attention(query, key, value, scale=None):
    """Mine, of lesson 4."""
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    weights = torch.softmax(scale * query @ key.mT, dim=-1)
    return weights @ value, weights
'''


@pytest.fixture(autouse=True)
def notebook(tmp_path, monkeypatch):
    """A notebook of lesson 04, alone in its folder."""
    monkeypatch.chdir(tmp_path)
    session.renew()
    begin("04_scaling")
    return tmp_path


def saved(folder: Path, code: str, copy: str = "") -> None:
    cell = {"cell_type": "code", "metadata": {}, "source": f"import torch\n\n\n{code}\n", "outputs": []}
    content = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / f"{copy}03_queries_keys_values.ipynb").write_text(json.dumps(content))


def test_the_learners_own_text_is_shown_to_copy(notebook, capsys):
    growth.show("attention")
    assert "copy its cell" in capsys.readouterr().out
    saved(notebook, ATTENTION)
    growth.show("attention")
    assert capsys.readouterr().out == f"{ATTENTION}\n"


def test_an_answer_that_does_not_pass_is_not_shown(notebook, capsys):
    saved(notebook, ATTENTION.replace("dim=-1", "dim=-2"))
    growth.show("attention")
    assert "does not pass yet" in capsys.readouterr().out


def test_the_text_is_of_the_notebook_whose_answer_passes(notebook, capsys):
    saved(notebook, ATTENTION)
    os.utime(notebook / "03_queries_keys_values.ipynb", (1, 1))
    saved(notebook, ATTENTION.replace("dim=-1", "dim=-2"), copy="newer_")
    growth.show("attention")
    assert capsys.readouterr().out == f"{ATTENTION}\n"


def test_new_lines_are_marked_once_the_new_part_passes(notebook, capsys):
    saved(notebook, ATTENTION)
    growth.show("attention", "scaled_dot_product_attention")
    assert capsys.readouterr().out.startswith("Once your `scaled_dot_product_attention` passes")
    (notebook / "answers.py").write_text(SCALED)
    spec = importlib.util.spec_from_file_location("answers", notebook / "answers.py")
    answers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(answers)
    own = session.current().names
    own["scaled_dot_product_attention"] = answers.scaled_dot_product_attention
    try:
        growth.show("attention", "scaled_dot_product_attention")
    finally:
        del own["scaled_dot_product_attention"]
    lines = capsys.readouterr().out.splitlines()
    assert [line[0] for line in lines] == ["+", "+", "+", " "]
    assert lines[-1] == "      return weights @ value, weights"


def test_without_an_earlier_text_every_line_is_new():
    assert growth.mark_new_lines("", "a = 1\n\nb = 2") == "+ a = 1\n+ b = 2"


def test_only_exercises_of_earlier_lessons_are_shown():
    with pytest.raises(LookupError, match="masked_attention"):
        growth.show("masked_attention")
