"""The pictures that a lesson calls by name draw with the functions that they are given, and say what they show."""

from __future__ import annotations

import matplotlib
import pytest
import torch
import torch.nn.functional as F

from course import figures
from course.figures import base
from course.models import small_lm
from course.models.right_functions.lesson_05 import causal_mask, last_queries_mask
from course.models.right_functions.lesson_07 import RotarySelfAttention, apply_rope
from course.models.right_functions.lesson_14 import min_p, top_p
from course.sample_models import sentence

matplotlib.use("Agg")

WORDS, X = sentence.words, sentence.x
MASK = causal_mask(6)


def scaled(q, k, v, scale=None):
    scale = k.shape[-1] ** -0.5 if scale is None else scale
    weights = torch.softmax(scale * q @ k.mT, dim=-1)
    return weights @ v, weights


def turn(vector, angle):
    return apply_rope(vector[None], torch.tensor([float(angle)]))[0]


def heated(scores, tau):
    return torch.softmax(scores / tau, dim=-1)


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: figures.sitting.beside([0, 1, 0, 0, 3, 0], torch.ones(6) / 6, WORDS), "boat 0.25"),
        (lambda: figures.sitting.beside([-1, 0], torch.ones(6) / 6, WORDS), "Your guess: The 0.00"),
        (lambda: figures.sitting.weights_of(heated(X @ X.T, 1), WORDS), "bank looks most at bank"),
        (lambda: figures.sitting.two_heads([heated(X @ X.T - 1e9 * MASK, 1)] * 2, WORDS), "left head: bank gives The"),
        (figures.tensors.shapes, "one dimension, 0"),
        (lambda: figures.tensors.centred(lambda x: x - x.mean(-1, keepdim=True)), "0 throughout"),
        (figures.tensors.overshooting, "higher than before"),
        (lambda: figures.tensors.slope(-1.5), "slope -3 through it"),
        (figures.vectors.votes, "The sum is 12"),
        (lambda: figures.vectors.shadows(torch.dot), "minus 5.5"),
        (lambda: figures.vectors.at_angle(torch.dot, angle=90, length=1.5), "is 0.00."),
        (lambda: figures.shares.three_logarithms(torch.log_softmax), "a straight line to 150"),
        (lambda: figures.distributions.heated(heated, torch.zeros(3), "abc", temperature=2.0), "shared by 3.0 words"),
        (lambda: figures.distributions.soft_dictionary(heated), "τ = 20: 6 h 0.2"),
        (lambda: figures.qkv.fetched(scaled, lambda keys, to: 100 * keys[to].sum(0)), "in the centre"),
        (lambda: figures.qkv.so_far("scaling", scaled, *figures.qkv.of_sentence()), "scores"),
        (lambda: figures.scaling.of_widths((16, 1024)), "16, 1024"),
        (lambda: figures.scaling.one_query(Dk=256, seed=23), "8 scores"),
        (figures.scaling.three_scales, "Equal weights would have the entropy 2.77"),
        (lambda: figures.scaling.side_by_side(scaled, *torch.rand(3, 4, 64)), "divided by √64"),
        (lambda: figures.scaling.learned(lambda scale: torch.tensor([2.0, scale])), "width 256"),
        (lambda: figures.masks.newest_word(last_queries_mask, WORDS, S=2), "boat sees 2 of 2 words"),
        (lambda: figures.masks.let_through(MASK, torch.zeros(6, 6), fill=0.0, times=1), "0.8333 of a row"),
        (lambda: figures.multi_head.cut_by_reshape(SMALL), "After reshape, head 0 has the numbers 0 to 11"),
        (lambda: figures.rope.six_positions(turn), "0: 14°, 1: 71°"),
        (figures.rope.sinusoids, "goes up and down between"),
        (lambda: figures.rope.to_be(RotarySelfAttention), "are 0.00 apart on the left"),
        (lambda: figures.training_runs.descend(rate=2.1), "to 4.29 after 8 steps"),
        (lambda: figures.cache.rolling(lambda rows, row, at: rows.__setitem__(at % 4, row[0])), "after 6: 4, 5, 6, 3"),
        (lambda: figures.tiles.causal_blocks(lambda i, j, k, n: "open" if n <= i else "mixed"), "row 0: mixed"),
        (lambda: figures.cheaper.capped(lambda x, cap: cap * torch.tanh(x / cap)), "plus and minus 50"),
        (figures.tokens.three_cuts, "bytes, 26 pieces"),
    ],
)  # fmt: skip
def test_a_picture_says_what_it_shows(draw, words):
    alt, caption = base.described(draw())
    assert words in f"{alt} {caption}"


SMALL = torch.arange(24).view(4, 6)


def test_what_a_learner_computes_is_drawn():
    """A wrong function gives another picture, so that it can be seen."""
    for draw in (
        lambda f: figures.shares.from_scores(f, torch.tensor([0.5, 2.0, 1.0, 0.5, 3.0, 3.25]), WORDS),
        lambda f: figures.distributions.heated(lambda x, temperature: f(x), torch.arange(3.0), "abc", temperature=1.0),
    ):
        right, wrong = (
            [bar.get_height() for bar in draw(f).axes[-1].patches] for f in (lambda x: x.softmax(-1), torch.exp)
        )
        assert right != wrong
        assert sum(right) == pytest.approx(1)


def test_dropout_is_seen_in_training_mode_only():
    class Layer(torch.nn.Module):
        def forward(self, q, k, v):
            weights = F.dropout(scaled(q, k, v)[1], 0.3, self.training)
            return weights @ v, weights

    alt, _ = base.described(figures.scaling.in_modes(Layer()))
    assert "eval again: up to" in alt and alt.count("rows sum to 1.00 to 1.00") == 2


def test_rules_that_never_draw_a_token_hatch_it():
    logits = torch.arange(12.0)

    def top_k(scores, k):
        return scores.masked_fill(scores < scores.topk(k).values[-1], -torch.inf).softmax(-1)

    rules = (top_k, top_p, min_p)
    panels = figures.tokens.six_rules(logits, "abcdefghijkl", *rules).axes
    hatched = [sum(1 for bar in ax.patches if bar.get_hatch()) for ax in panels]
    assert hatched[:4] == [0, 0, 0, 6] and all(hatched[4:])


def test_a_model_is_asked_for_what_a_picture_needs():
    lm = small_lm.load()
    _, caption = base.described(figures.inspection.layer_by_layer(lm, "The boat", lambda h, norm, W: norm(h) @ W.T))
    assert caption.startswith("The word that each layer predicts next")
    near, _ = base.described(figures.vectors.neighbours(lm, lambda a, b: F.cosine_similarity(a, b, dim=-1), "river"))
    first, *others = near.removeprefix("Bars for the five words nearest to river: ").split(", ")
    assert first.split()[0] in {"lake", "stream", "sea", "bay", "canal"} and len(others) == 4
