"""The model that grows from lesson 3 to lesson 8: of the learner's parts where they pass, of PyTorch's elsewhere."""

from __future__ import annotations

import json

import pytest
import torch
from torch import nn

from course import figures
from course.models.right_functions import lesson_05, lesson_06
from course.notebook import session, staged_model
from course.notebook.begin import begin
from course.notebook.prior_answers import find_prior_answer
from tools.story_corpus import generate_stories

LESSONS = ("03_queries_keys_values", "04_scaling", "05_causal_mask", "06_multi_head", "07_rope", "08_training")
TEXT = "then the hen"
MASK = """
import torch


def places(S, device):
    return torch.arange(S, device=device)


def causal_mask(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, T is {T}")
    return places(S, device)[None, :] > places(S, device)[-T:, None]
"""


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """A notebook of its own, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    session.renew()
    return tmp_path


def saved(path, *cells):
    """A notebook file with these cells of code."""
    made = [{"cell_type": "code", "metadata": {}, "source": code, "outputs": []} for code in cells]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


@pytest.mark.quick_cases("03_queries_keys_values")
@pytest.mark.parametrize("lesson", LESSONS)
def test_without_any_answer_the_course_does_it_all_and_the_picture_says_so(lesson):
    begin(lesson)
    with session.current().stand_ins.given():
        model = staged_model.current_model()
        maps = model.maps(TEXT)
        words = figures.staged_model.built_so_far(model, TEXT).get_label()
    said = session.current().stand_ins.credit()
    assert said.startswith("With the course's ") and all(f"`{name}`" in said for name in model.parts)
    assert maps.shape == (2 if lesson >= "06" else 1, len(TEXT), len(TEXT))
    torch.testing.assert_close(maps.sum(-1), torch.ones(maps.shape[:-1]))
    assert bool(maps.triu(1).any()) == (lesson < "05")
    assert words.count(", the course’s") == len(model.parts)


def test_a_lesson_without_parts_has_no_model():
    begin("02_softmax")
    with pytest.raises(ValueError, match="02_softmax"):
        staged_model.current_model()


def test_an_answer_of_this_notebook_takes_its_place_once_it_passes():
    begin("05_causal_mask")
    names = session.current().names
    names["causal_mask"] = lambda T, S=None, device=None: torch.zeros(T, S or T, dtype=torch.bool)
    with session.current().stand_ins.given():
        assert not staged_model.current_model().parts["causal_mask"].passes
    exec(MASK, names)
    try:
        with session.current().stand_ins.given():
            model = staged_model.current_model()
            words = figures.staged_model.built_so_far(model, TEXT).get_label()
            assert model.parts["causal_mask"].passes
        assert "causal_mask (no position sees the future);" in words
        assert "`causal_mask`" not in session.current().stand_ins.credit()
    finally:
        for name in ("causal_mask", "places"):
            names.pop(name)


@pytest.mark.parametrize("place", ["05_causal_mask.ipynb", "../05_causal_mask/05_causal_mask (1).ipynb"])
def test_an_answer_is_found_in_its_lessons_notebook_beside_this_one(alone, place):
    here = alone / "07_rope"
    here.mkdir()
    begin("07_rope")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        saved(here / place, "from course import begin", "1 / 0", "this is no Python", MASK)
        found = find_prior_answer(session.current(), "05_causal_mask", "causal_mask")
    assert found.__code__.co_filename.endswith(".ipynb")
    assert found(3).tolist() == lesson_05.causal_mask(3).tolist()


@pytest.mark.parametrize("content", ["no notebook", '{"cells": 3}', ""])
def test_a_file_that_is_no_notebook_is_passed_over(alone, content):
    (alone / "05_causal_mask.ipynb").write_text(content)
    begin("07_rope")
    assert find_prior_answer(session.current(), "05_causal_mask", "causal_mask") is None


def test_the_courses_heads_are_pytorchs():
    x, mask = torch.randn(2, 7, 12, generator=torch.Generator().manual_seed(0)), lesson_05.causal_mask(7)
    heads = lesson_06.MultiHeadAttention(12, 3)
    built_in = nn.MultiheadAttention(12, 3, bias=False, batch_first=True)
    parts = [heads.get_submodule(f"W_{letter}").weight for letter in "qkv"]
    with torch.no_grad():
        built_in.in_proj_weight.copy_(torch.cat(parts))
        built_in.out_proj.weight.copy_(heads.get_submodule("W_o").weight)
    expected = built_in(x, x, x, attn_mask=mask, average_attn_weights=False)
    torch.testing.assert_close(heads(x, mask=mask), tuple(expected))


def test_tales_are_the_same_every_time_and_a_longer_text_begins_with_the_shorter():
    long = generate_stories(30_000)
    assert len(long) == 30_000 and long.startswith(generate_stories(5_000))
    first = long.split("\n\n")[0]
    assert first.endswith(".") and len(first.split(". ")) > 3
    assert len(set(long)) < 60
