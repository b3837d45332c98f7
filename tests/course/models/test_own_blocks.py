"""The small language model with a learner's blocks, and the recorded comparison of blocks."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course.models import block_comparison, small_lm, training_bugs
from course.models.modern_lm import Block, apply_rope, causal_mask
from course.models.own_blocks import OwnBlocksLM, with_repeats

from ...support.repository import ROOT


class Heads(nn.Module):
    """A `MultiHeadAttention` as lesson 06 asks for it."""

    rotates = False

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def forward(self, x, context=None, mask=None):
        q, k, v = (W(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v))
        if self.rotates:
            q, k = (apply_rope(part, torch.arange(x.shape[1])) for part in (q, k))
        weights = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(mask, -torch.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights


class Rotary(Heads):
    rotates = True


class TransformerBlock(nn.Module):
    """As lesson 08 asks for it."""

    def __init__(self, attention, d_model, hidden):
        super().__init__()
        self.attention = attention
        self.gain_1, self.gain_2 = (nn.Parameter(torch.ones(d_model)) for _ in range(2))
        self.W_gate, self.W_up = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
        self.W_down = nn.Linear(hidden, d_model, bias=False)

    def forward(self, x, mask=None):
        def norm(x, gain):
            return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * gain

        x = x + self.attention(norm(x, self.gain_1), mask=mask)[0]
        a = norm(x, self.gain_2)
        return x + self.W_down(F.silu(self.W_gate(a)) * self.W_up(a))


class Broken(TransformerBlock):
    def forward(self, x, mask=None):
        raise RuntimeError("too long")


PARTS = Heads, Rotary, causal_mask


@pytest.fixture(scope="module")
def shipped():
    return small_lm.load()


@pytest.mark.parametrize("block", [TransformerBlock, Broken])
def test_with_the_trained_weights_it_is_the_small_model(block, shipped):
    ids = shipped.encode("The boat reached the river bank")[None]
    model = OwnBlocksLM(block, *PARTS, weights=shipped)
    with torch.no_grad():
        torch.testing.assert_close(model(ids), shipped(ids), atol=1e-4, rtol=1e-4)
    back = model.to_small_lm()
    assert not any(weight.requires_grad for weight in back.parameters())
    for name, weight in shipped.state_dict().items():
        assert torch.equal(back.state_dict()[name], weight)


def test_a_block_that_fails_is_replaced_and_this_is_printed(capsys):
    model = OwnBlocksLM(Broken, *PARTS, n_blocks=1)
    assert isinstance(model.blocks[0], Block)
    assert capsys.readouterr().out == "With the course's blocks, because yours fail in the model: too long\n"


def test_weights_are_random_from_the_seed_and_other_random_numbers_stay_the_same():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    one, same, other = (OwnBlocksLM(TransformerBlock, *PARTS, seed=seed, d_model=24, n_blocks=2) for seed in (1, 1, 2))
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(one.tokens.weight, same.tokens.weight)
    assert not torch.equal(one.tokens.weight, other.tokens.weight)
    assert [block.attention.rotates for block in one.blocks] == [True, True]
    with pytest.raises(RuntimeError, match=r"size mismatch|Missing"):
        one.to_small_lm()


def test_the_recorded_comparison_has_all_kinds_and_seeds():
    recorded = block_comparison.load()
    assert list(recorded.kinds) == ["plain", "RMSNorm", "SwiGLU", "RoPE", "no biases", "modern"]
    for kind in recorded.kinds.values():
        assert len(kind.losses) == len(recorded.seeds) == 3
        assert min(kind.losses) <= kind.mean <= max(kind.losses)
        assert kind.steps * kind.seconds_per_step == pytest.approx(recorded.seconds, rel=0.01)
        assert all(curve[-1][0] == kind.steps for curve in kind.curves)
    raw = json.loads(files("course").joinpath(block_comparison.FILE).read_text())
    assert raw["date"] in recorded.title and raw["machine"] in recorded.title


def test_one_row_in_four_repeats_and_the_others_stay():
    inputs, targets = torch.arange(16 * 64).view(16, 64), torch.arange(1, 16 * 64 + 1).view(16, 64)
    seen, wanted = with_repeats(inputs, targets, 50, torch.Generator().manual_seed(0))
    assert torch.equal(seen[4:], inputs[4:]) and torch.equal(wanted[4:], targets[4:])
    assert torch.equal(seen[:4, 1:], wanted[:4, :-1]) and seen[:4].max() < 50
    for row in torch.cat([seen[:4], wanted[:4, -1:]], dim=1):
        assert any(torch.equal(row[period:], row[:-period]) for period in range(3, 13))


def test_lesson_08_is_right_about_how_much_it_reads():
    text = (ROOT / "source/08_training.py").read_text(encoding="utf-8").replace("\n# ", " ")
    steps = int(re.search(r"^steps = (\d+)$", text, re.MULTILINE)[1])
    windows = 12 * steps  # of 16 rows, four repeat
    times = windows * 64 / len(small_lm.training_ids())
    assert f"it reads each token of the stories {times:.1f} times on average" in text


def test_the_bug_museum_is_right_about_nine_curves():
    recorded = training_bugs.load()
    base = recorded.baselines
    seen = {bug: run.training[1][-1] for bug, run in recorded.runs.items()}
    unseen = {bug: run.held_out[1][-1] for bug, run in recorded.runs.items()}
    right = recorded.right.training[1][-1]
    assert list(recorded.runs) == list(training_bugs.BUGS) and len(seen) == 9
    for bug in ("targets not shifted", "always the same batch"):  # the held-out loss rises
        assert seen[bug] < 0.1 and unseen[bug] > recorded.runs[bug].held_out[1][0]
    assert max(seen["no causal mask"], unseen["no causal mask"]) < right / 4
    assert seen["zero_grad after backward"] == pytest.approx(unseen["zero_grad after backward"], abs=0.05)
    assert seen["zero_grad after backward"] == pytest.approx(base["uniform"], abs=0.1)
    assert base["uniform"] - 1 < seen["softmax before the loss"] < base["uniform"]
    assert unseen["flattened differently"] == pytest.approx(base["unigram"], abs=0.05)
    for bug in ("no zero_grad", "targets shifted twice", "learning rate too high"):
        assert right + 0.5 < seen[bug] < base["unigram"]
