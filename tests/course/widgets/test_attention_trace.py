"""What each wrong function shows: leaks, wrong sums, NaN, wrong shapes and types, exceptions, endless loops."""

from __future__ import annotations

import time

import pytest
import torch

from course.models import small_lm
from course.widgets import attention_trace
from course.widgets.attention_trace import Sentence, Tracer

WORDS = ["the", "boat", "reached", "bank"]


@pytest.fixture
def sentence():
    draw = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(4, 8, generator=draw) for _ in range(3))
    return Sentence(WORDS, q, k, v)


def softmax(x, dim=-1):
    return torch.softmax(x, dim)


def causal_mask(T, S=None):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


def attention(query, key, value):
    weights = torch.softmax(query @ key.T, -1)
    return weights @ value, weights


def masked_attention(query, key, value, mask=None):
    weights = torch.softmax((query @ key.T * query.shape[-1] ** -0.5).masked_fill(mask, float("-inf")), -1)
    return weights @ value, weights


def scaled_dot_product_attention(query, key, value, scale=None):
    weights = torch.softmax(query @ key.T * (query.shape[-1] ** -0.5 if scale is None else scale), -1)
    return weights @ value, weights


RIGHT = {
    "nothing": {},
    "softmax": {"softmax": softmax},
    "mask": {"mask": causal_mask, "softmax": softmax},
    "attention": {"attention": attention},
    "masked attention": {"attention": masked_attention, "mask": causal_mask},
    "scale": {"softmax": softmax, "scale": 0.5},
    "scaled attention": {"attention": scaled_dot_product_attention},
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_functions_have_no_faults_and_the_numbers_of_the_built_in(sentence, name):
    trace = Tracer(**RIGHT[name]).trace(sentence)
    assert trace.faults == []
    assert trace.weights.note == ""
    weights = torch.softmax(trace.scores.values.masked_fill(trace.blocked, float("-inf")), -1)
    torch.testing.assert_close(trace.weights.values, weights)
    torch.testing.assert_close(trace.output.values, weights @ sentence.v)
    assert bool(trace.blocked.any()) is ("attention" not in name or "mask" in name)


def test_captions_say_whose_a_step_is(sentence):
    trace = Tracer(softmax=softmax, scale=0.5).trace(sentence)
    assert trace.scores.whose == "scale, × 0.5"
    assert (trace.mask.whose, trace.weights.whose, trace.output.whose) == ("built-in", "softmax", "built-in")


def test_the_scores_of_an_attention_that_does_not_scale_are_shown_unscaled(sentence):
    trace = Tracer(attention=attention).trace(sentence)
    assert trace.scores.whose == "built-in, × 1"
    torch.testing.assert_close(trace.scores.values, sentence.q @ sentence.k.T)
    assert trace.mask.note == "attention takes no mask: every word sees every word."


def test_a_mask_that_leaks_marks_the_cells_above_the_diagonal(sentence):
    trace = Tracer(softmax=softmax, mask=lambda T: torch.ones(T, T, dtype=torch.bool).triu(2)).trace(sentence)
    above = torch.ones(4, 4).triu(1).tril(1).bool()
    assert trace.mask.marked.equal(above)
    assert trace.weights.marked.equal(above)
    assert trace.mask.faults == ["The mask leaves 3 cells above the diagonal open."]
    assert trace.weights.faults[0].startswith("The future leaks: 3 weights are above the diagonal. “")
    assert "which comes later" in trace.weights.faults[0]


def test_an_inverted_mask_leaks_and_blocks_the_past(sentence):
    trace = Tracer(mask=lambda T: ~causal_mask(T)).trace(sentence)
    assert trace.mask.faults == ["The mask leaves 6 cells above the diagonal open."]
    assert trace.mask.note == "The mask blocks 10 cells on or below the diagonal."


def test_an_attention_that_ignores_its_mask_leaks(sentence):
    def ignores(query, key, value, mask=None):
        return scaled_dot_product_attention(query, key, value)

    trace = Tracer(attention=ignores).trace(sentence)
    assert trace.mask.faults == []
    assert "The future leaks: 6 weights are above the diagonal." in trace.weights.faults[0]
    assert Tracer(attention=ignores).trace(sentence, masked=False).faults == []


def test_a_row_that_is_blocked_as_a_whole_has_no_weights(sentence):
    def window(T):
        return causal_mask(T) | (torch.arange(T) == 0)[:, None]

    def masked_softmax(scores, mask):
        return torch.softmax(scores.masked_fill(mask, float("-inf")), -1).nan_to_num()

    assert Tracer(mask=window, softmax=masked_softmax).trace(sentence).faults == []
    assert Tracer(mask=window, softmax=softmax).trace(sentence).faults == ["1 row of weights is NaN or infinite."]


@pytest.mark.parametrize(
    ("f", "fault"),
    [
        (lambda x, dim=-1: torch.softmax(x, 0), "rows do not sum to 1: the weights of “the” (position 0) sum to 0."),
        (lambda x, dim=-1: x.exp() / x.exp().sum(), "4 rows do not sum to 1"),
        (lambda x, dim=-1: x * torch.nan, "4 rows of weights are NaN or infinite."),
        (lambda x, dim=-1: x.softmax(-1).sum(-1), "weights: expected the shape (4, 4), got (4,)."),
        (lambda x, dim=-1: x.softmax(-1).int(), "weights: expected floating-point numbers, got int32."),
        (lambda x, dim=-1: x.softmax(-1).to("meta"), "weights: the numbers of this Tensor cannot be read."),
        (lambda x, dim=-1: x.tolist(), "weights: expected a tensor, got a list of 4."),
        (lambda x, dim=-1: None, "weights: expected a tensor, got None: is the `return` missing?"),
        (lambda x, dim=-1: {}, "weights: expected a tensor, got a dict."),
        (lambda x: x, "<lambda>: calling it or using its result raised TypeError"),
        (lambda x, dim=-1: x.foo, "<lambda>: your code raised AttributeError: 'Tensor' object has no attribute 'foo'"),
        (lambda x, dim=-1: exit(), "<lambda>: calling it or using its result raised SystemExit"),
        (lambda x, dim=-1: x.softmax(-1) * 2 - 0.25, "weights are below 0."),
    ],
)
def test_what_is_wrong_with_a_softmax_is_in_one_line(sentence, f, fault):
    trace = Tracer(softmax=f).trace(sentence)
    assert any(fault in found for found in trace.faults), trace.faults
    assert not any("\n" in found for found in trace.faults)


@pytest.mark.parametrize(
    ("f", "faults"),
    [
        (lambda q, k, v: v, ["attention: expected (output, weights), got a tensor of shape (4, 8)."]),
        (lambda q, k, v: (v, v, v), ["attention: expected (output, weights), got a tuple of 3."]),
        (
            lambda q, k, v: attention(q, k, v)[::-1],
            ["weights: expected the shape (4, 4), got (4, 8).", "output: expected the shape (4, 8), got (4, 4)."],
        ),
        (lambda q, k, v: (v, attention(q, k, v)[1]), ["The output is not the weights times the values."]),
    ],
)
def test_what_is_wrong_with_an_attention(sentence, f, faults):
    assert Tracer(attention=f).trace(sentence).faults == faults


@pytest.mark.parametrize(
    ("f", "fault"),
    [
        (lambda T: torch.ones(T, T).triu(1), "mask: expected bool, got float32."),
        (lambda T: torch.ones(T, T + 1).bool(), "mask: expected the shape (4, 4), got (4, 5)."),
    ],
)
def test_after_a_mask_that_cannot_be_used_come_maps_with_the_built_in_mask(sentence, f, fault):
    trace = Tracer(mask=f, softmax=softmax).trace(sentence)
    assert trace.faults == [fault]
    assert trace.mask.values is None
    assert trace.weights.values.triu(1).count_nonzero() == 0


def test_a_function_that_is_not_written_yet_is_replaced_and_no_fault(sentence):
    def softmax(x, dim=-1):
        raise NotImplementedError("softmax is not written yet")

    trace = Tracer(softmax=softmax).trace(sentence)
    assert trace.faults == []
    assert trace.weights.whose == "built-in"
    assert trace.weights.note == "softmax is not written yet: this is the built-in's."


def test_an_endless_loop_ends_and_is_tried_once(sentence, monkeypatch):
    monkeypatch.setattr(attention_trace, "SECONDS", 0.1)
    calls = []

    def softmax(x, dim=-1):
        calls.append(1)
        while True:
            x = x + 1

    tracer = Tracer(softmax=softmax)
    assert "it had not ended after 0.1 seconds of computing" in tracer.trace(sentence).faults[0]
    assert tracer.trace(sentence).faults == [
        "softmax did not end, and is not called again. Change it, and run this cell again."
    ]
    assert len(calls) == 1


def test_one_that_waits_ends_too(sentence, monkeypatch):
    monkeypatch.setattr(attention_trace, "SECONDS", 0.02)
    assert "it had not ended" in Tracer(softmax=lambda x, dim=-1: time.sleep(60)).trace(sentence).faults[0]


def test_what_a_function_changes_or_prints_is_reported_and_harms_nothing(sentence):
    def softmax(x, dim=-1):
        print("here", x.shape)
        torch.set_grad_enabled(False)
        return x.exp_().div_(x.sum(-1, keepdim=True))

    before = sentence.q.clone()
    trace = Tracer(softmax=softmax).trace(sentence)
    assert trace.faults == ["softmax changes its argument in place."]
    assert trace.printed == "here torch.Size([4, 4])"
    assert torch.is_grad_enabled()
    assert sentence.q.equal(before) and bool((trace.scores.values < 0).any())


def test_another_softmax_is_compared_with_the_built_in(sentence):
    trace = Tracer(softmax=lambda x, dim=-1: torch.softmax(x / 2, -1)).trace(sentence)
    assert trace.faults == []
    assert trace.weights.note.startswith("They differ from those of the built-in softmax by up to 0.")


def test_the_newest_function_of_a_name_is_used_and_that_of_a_library_stays(sentence):
    names = {"softmax": softmax}
    tracer = Tracer(softmax=softmax, mask=causal_mask)
    tracer.follow(names)
    tracer.follow({"softmax": (new := lambda x, dim=-1: x), "causal_mask": lambda T: None})
    assert tracer.functions["softmax"] is new
    assert tracer.functions["mask"] is causal_mask


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_no_words_have_no_maps(text):
    trace = Tracer(softmax=softmax).trace(attention_trace.read(text))
    assert trace.faults == [] and trace.weights.values is None


def test_a_long_text_is_cut():
    sentence = attention_trace.read("the boat " * 5000)
    assert len(sentence.words) == attention_trace.MOST_WORDS
    assert sentence.cut > 0


def test_the_sentence_is_read_by_the_small_model_without_the_words_that_it_does_not_know():
    sentence = attention_trace.read("The xyzzy boat reached\nthe river", layer=1, head=2)
    assert sentence.words == ["The", "boat", "reached", "the", "river"]
    assert sentence.unknown == ["xyzzy"]
    seen = small_lm.load().look("The boat reached the river", layer=1, head=2)
    trace = Tracer(softmax=softmax).trace(sentence)
    for name in ("scores", "weights", "output"):
        torch.testing.assert_close(getattr(trace, name).values, getattr(seen, name))
