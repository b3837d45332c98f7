"""What makes the cases of exercises keeps what its docstring promises, whatever the seed."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest
import torch
import torch.nn.functional as F

from course import sample_models
from grading.exercises.case import Draw, non_contiguous
from grading.exercises.lesson import load_lesson, package_of

from ..support.repository import ROOT

GRADERS = ROOT / "grader_tests"
SEEDS = range(100)


def cases(lesson: str, name: str):
    """The cases of an exercise with all seeds: the attention function that is handed in, if any, and all arguments."""
    found = load_lesson(GRADERS / lesson)
    exercise = (found.exercises | found.steps)[name]
    for seed in SEEDS:
        for _, drawn in exercise.cases(seed):
            for case in drawn:
                node = case.inputs.get("attention")
                yield node and getattr(sample_models, node.name)(**node.kwargs), case.inputs


def maker(name: str) -> ModuleType:
    return importlib.import_module(f"{package_of(GRADERS)}.{name}")


@pytest.mark.parametrize("shape", [(3, 2), (4, 6), (6,), (2, 1, 1, 5)])
def test_every_row_of_a_mask_has_an_open_key_and_a_blocked_one(shape):
    """With two keys the open column and the blocked one were the same."""
    some_open = maker("05_causal_mask.common").some_open
    masks = torch.stack([some_open(Draw(seed), *shape) for seed in SEEDS])
    assert not masks.all(-1).any()
    assert masks.any(-1).all()


@pytest.mark.parametrize("shape", [(5, 2), (1, 6)])
def test_every_row_of_a_mask_for_modules_has_an_open_key_and_somewhere_one_is_blocked(shape):
    """Of six keys none was blocked in one of 32 draws."""
    open_somewhere = maker("shared.attending").open_somewhere
    masks = torch.stack([open_somewhere(Draw(seed), *shape) for seed in SEEDS])
    assert not masks.all(-1).any()
    assert masks.flatten(1).any(-1).all()


def test_padding_does_not_come_last_in_the_first_row():
    padded = maker("12_two_sequences.CrossAttention.cases").padded
    first = torch.stack([padded(Draw(seed), 3, 6)[0] for seed in SEEDS])
    assert (first[:, :-1] & ~first[:, 1:]).any(-1).all()


def test_the_highest_of_huge_scores_is_blocked_in_every_row():
    """In one of ten draws nobody lost anything who renormalises weights that a softmax over all keys gave."""
    looked_at = 0
    for _, given in cases("05_causal_mask", "masked_attention"):
        query, key, _, *mask = given.values()
        if query.max() > 1e6:
            assert mask[0].gather(1, (query @ key.mT).argmax(1, keepdim=True)).all()
            looked_at += 1
    assert looked_at == len(SEEDS)


def test_positions_in_disorder_are_never_in_order():
    """In one of 120 draws they were."""
    far_apart = maker("07_rope.RotarySelfAttention.cases").far_apart
    steps = torch.stack([far_apart(Draw(seed), 3).diff() for seed in SEEDS])
    assert (steps < 0).any(-1).all()
    gaps = torch.stack([far_apart(Draw(seed), 5).sort().values.diff() for seed in SEEDS])
    assert gaps.min() >= 2
    assert gaps.max() <= 11


@pytest.mark.parametrize("shape", [(2,), (6,), (1, 3), (3, 1), (1, 1, 2), (4, 5), (2, 3, 1)])
def test_other_strides_are_other_whatever_the_shape(shape):
    """With one row, or one column, they were the same."""
    given = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
    made = non_contiguous(given)
    assert not made.is_contiguous()
    assert torch.equal(made, given)


def test_a_tensor_that_has_no_other_strides_is_refused():
    with pytest.raises(ValueError, match=r"\(1, 1\)"):
        non_contiguous(torch.ones(1, 1))


def test_no_dot_product_of_a_pair_nearly_cancels():
    a_pair = maker("01_dot_products.common").a_pair
    pairs = [a_pair(Draw(seed), 6) for seed in SEEDS]
    assert min(float(F.cosine_similarity(a, b, dim=0)) for a, b in pairs) > 0.5


def test_keys_are_conditioned_as_the_contract_says():
    """Of forty that crowd around one direction the condition number was 178, and below 100 is promised."""
    for _, given in cases("03_queries_keys_values", "query_for"):
        assert torch.linalg.cond(given["keys"].double()) < 100


@pytest.mark.parametrize(
    ("sharpness", "batch", "shortest", "longest"), [(0.3, 4, 0.0, 1.0), (0.3, 24, 0.1, 0.5), (6.0, 4, 1.0, 1e4)]
)
def test_a_gradient_is_as_long_as_is_said_of_its_model(sharpness, batch, shortest, longest):
    window_state = maker("08_training.common").window_state
    for seed in SEEDS:
        draw = Draw(seed)
        model = sample_models.Windowed(n_tokens=6, width=8, block_size=5)
        model.load_state_dict(window_state(draw, sharpness=sharpness))
        ids, targets = draw.integers(0, 6, batch, 3), draw.integers(0, 6, batch, 3)
        F.cross_entropy(model(ids).flatten(0, 1), targets.flatten()).backward()
        norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
        assert shortest < norm < longest


@pytest.mark.full("differentiates a hundred draws by every input")
def test_a_leak_is_as_large_as_the_contract_says_or_none():
    """By a change of one unit, up or down, or by the derivative."""
    for attention, given in cases("05_causal_mask", "sees_the_future"):
        x = given["x"]
        influence = torch.autograd.functional.jacobian(attention, x).abs().amax((1, 3)).triu(1).max()
        assert influence == 0 or influence >= 1e-4


@pytest.mark.full
def test_a_difference_is_rounding_or_a_real_one():
    for attention, given in cases("07_rope", "is_order_blind"):
        x, permutation = given["x"], given["permutation"]
        difference = (attention(x[permutation]) - attention(x)[permutation]).abs().max()
        assert difference < 1e-5 or difference > 1e-2


@pytest.mark.parametrize("at", [0, 3, 6])
def test_two_tokens_that_stand_together_followed_each_other_before(at):
    """By seed they did, and who looked at one output alone lost a criterion."""
    with_a_pair = maker("07_rope.is_order_blind.cases").with_a_pair
    found = torch.stack([with_a_pair(Draw(seed), 7, at) for seed in SEEDS])
    assert (found[:, (at + 1) % 7] == (found[:, at] + 1) % 7).all()
    assert (found.sort().values == torch.arange(7)).all()
    assert (found != torch.arange(7)).all()


@pytest.mark.parametrize("alike", [True, False])
def test_a_token_is_like_the_one_before_it_or_its_opposite_as_asked(alike):
    before = maker("07_rope.is_order_blind.cases").before
    for seed in SEEDS:
        tokens = before(Draw(seed), 6, 4, place=3, feature=2, alike=alike)
        assert (tokens[3, 2] == tokens[2, 2]) == alike
        assert not tokens.sum(0).any()


@pytest.mark.full
def test_only_one_criterion_asks_for_small_differences_or_for_their_sign():
    """Where it was by seed, who forgives a tenth or forgets the sign lost another criterion with it."""
    exercise = load_lesson(GRADERS / "07_rope").exercises["is_order_blind"]
    for seed in SEEDS:
        for case in (case for c, drawn in exercise.cases(seed) if not c.name.startswith("small") for case in drawn):
            node, x, permutation = (case.inputs[name] for name in ("attention", "x", "permutation"))
            attention = getattr(sample_models, node.name)(**node.kwargs)
            difference = attention(x[permutation]) - attention(x)[permutation]
            if difference.abs().max() > 1e-5:
                assert difference.abs().max() > 0.1
                assert min(difference.max(), -difference.min()) > 0.01
