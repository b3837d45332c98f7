"""Names are true of the real graders: two mistakes at once, and results in which chance has a part.

Does not cover: the rule (tests/course/harness/test_diagnose.py), and mistakes by themselves
(tests/proof/test_graders.py).
"""

from __future__ import annotations

import textwrap
from collections import Counter

import pytest

from benchmarks.naming import count, judged, together
from grading.exercises.answer_text import Answer
from grading.exercises.lesson import load_lesson

from ..support.repository import ROOT

#: Pairs of mistakes drawn for each exercise of a lesson; of ten a single wrong name would be more than one in fifty
PAIRS = {"02_softmax": 10, "05_causal_mask": 60}


def exercises(lesson):
    return load_lesson(ROOT / "grader_tests" / lesson).exercises


def verdict(lesson, name, code):
    return judged(exercises(lesson)[name], Answer(name, "handed in", textwrap.dedent(code)), seed=7)[0]


@pytest.mark.full
@pytest.mark.parametrize("lesson", PAIRS)
def test_of_two_mistakes_at_once_one_or_both_are_named_and_no_other(lesson):
    found = sum((count(exercise, PAIRS[lesson], seed=3) for exercise in exercises(lesson).values()), start=Counter())
    assert found["wrong"] <= found.total() / 50
    assert found["both"] > 5
    assert 2 * (found["both"] + found["one"] + found["hedged"]) > found["nothing"]


def test_edits_that_do_not_fit_each_other_make_no_answer():
    softmax = exercises("02_softmax")["softmax"]
    mistakes = {mistake.name: mistake for mistake in softmax.mistakes}
    one, other = mistakes["subtracts_the_mean"], mistakes["subtracts_the_minimum"]
    assert together(one, other) is None
    assert together(one, mistakes["gives_each_score_a_sigmoid"]) is None


@pytest.mark.parametrize(
    "cut", ["reshape(B, T, n_heads, D // n_heads).permute(0, 2, 1, 3)", "view(B, T, n_heads, -1).transpose(1, 2)"]
)
def test_a_check_that_divides_by_0_is_told_as_one_whatever_happens_to_negative_numbers(cut):
    found = verdict(
        "06_multi_head",
        "split_heads",
        f"""
        def split_heads(x, n_heads):
            B, T, D = x.shape
            if D % n_heads:
                raise ValueError(f"n_heads is {{n_heads}}, which does not divide {{D}}")
            return x.{cut}
        """,
    )
    assert found.earned == 3.5
    assert found.explanation == "Your check of the arguments divides by zero."
    assert "`% 0` raises ZeroDivisionError" in found.advice


OWN_DICE = """
    class ScaledDotProductAttention(nn.Module):
        def __init__(self, dropout=0.0):
            super().__init__()
            self.p = dropout

        def forward(self, query, key, value):
            w = torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, dim=-1)
            dice, p = torch.rand(w.shape), self.p
            if self.training and p > 0:
                {line}
            return w @ value, w
"""


@pytest.mark.quick_cases("*-NotRescaled")
@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("w = w * (dice > p) / (1 - p)", ""),
        ("w = w * (dice > p)", "NotRescaled"),
        ("w = w * (dice > p) / p", "DividedByP"),
        ("w = w * (dice < p) / p", "KeepsWithProbability"),
        ("w = w * (dice[..., :1] > p) / (1 - p)", "DropsWholeRows"),
        ("w = w * (dice > p); w = w / w.sum(-1, keepdim=True).clamp(min=1e-9)", "NormalisedAgain"),
        ("w = torch.softmax(w.log().masked_fill(dice < p, -torch.inf), dim=-1).nan_to_num()", "NormalisedAgain"),
        ("return (w * (dice > p) / (1 - p)) @ value, w", "WeightsFromBefore"),
        ("out = w @ value; return out * (torch.rand(out.shape) > p) / (1 - p), w", "DropoutOnOutput"),
        ("pass", "NeverDrops"),
    ],
)
def test_dropout_is_named_whatever_the_dice(line, name):
    found = verdict("04_scaling", "ScaledDotProductAttention", textwrap.dedent(OWN_DICE).format(line=line))
    assert found.mistake == name, found.criteria  # what dropout does to gradients by chance may leave it hedged


OWN_DRAWS = """
    @torch.no_grad()
    def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
        modes = [(part, part.training) for part in model.modules()]
        model.eval()
        tokens = prompt
        for i in range(n_tokens):
            logits = model(tokens[:, -model.block_size :])[:, -1]
            if temperature == 0:
                chosen = logits.argmax(-1, keepdim=True)
            else:
                shares = torch.softmax({logits}, -1)
                race = torch.empty(shares.shape).exponential_(generator={generator})
                chosen = (shares / race).argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, chosen], 1)
        for part, mode in modes:
            part.training = mode
        return tokens
"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("logits", "generator", "name"),
    [
        ("logits / temperature", "generator", ""),
        ("logits", "generator", "ignores_the_temperature"),
        ("logits * temperature", "generator", "multiplies_by_the_temperature"),
        ("logits / (temperature + 0.1)", "generator", "lifts_the_temperature"),
        ("logits / temperature ** (i + 1)", "generator", "compounds_the_temperature"),
        ("logits / temperature", "None", "draws_from_the_global_state"),
    ],
)
def test_texts_are_named_whatever_the_dice(logits, generator, name):
    code = textwrap.dedent(OWN_DRAWS).format(logits=logits, generator=generator)
    assert verdict("08_training", "generate", code).mistake_names == name
