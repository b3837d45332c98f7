"""What lessons 06, 07, 09, 11 and 12 measure in a cell whose code is not theirs to read."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from course.figures import multi_head
from course.models import drawn_signs, head_studies, noise, one_before, small_lm, stopwatch, translation
from course.models.right_functions.lesson_06 import MultiHeadAttention, merge_heads
from course.models.right_functions.lesson_07 import RotarySelfAttention
from course.models.right_functions.lesson_11 import induction_score
from course.models.right_functions.lesson_12 import alignment_error, patches


def test_silent_heads_cost_the_model_something_and_none_costs_nothing():
    lm = small_lm.load()
    whole = head_studies.loss_without(lm, 2, [])
    assert whole == pytest.approx(lm.compare(merge=merge_heads)[1], abs=1e-5)
    one, four = head_studies.loss_without(lm, 2, [0]), head_studies.loss_without(lm, 2, [0, 1, 2, 3])
    assert whole < one < four


def test_lesson_06_is_right_about_heads():
    lm = small_lm.load()
    the_clue, the_word_before, the_verb = (
        lm.look("The boat reached the river bank", *place).weights for place in ((0, 3), (1, 2), (1, 1))
    )
    assert the_clue[5, 4] > 0.95  # from bank to river
    assert the_clue[1:5].max() < 0.75
    assert min(the_word_before[3, 2], the_word_before[4, 2], the_word_before[5, 4]) > 0.8
    assert the_verb[3:, 2].min() > 0.8
    twice = f"{multi_head.RANDOM_WORDS} {multi_head.RANDOM_WORDS}"
    assert min(lm.look(twice, 2, head).weights.diagonal(-11).mean() for head in range(4)) > 0.8
    assert lm.compare(split=lambda x, n: x.reshape(len(x), n, x.shape[1], -1))[0] > math.log(len(lm.words))


def test_attention_blocked_by_a_number_leaks_a_little():
    x = torch.randn(3, noise.LENGTH, noise.WIDTH, generator=torch.Generator().manual_seed(0))
    identity = torch.eye(noise.LENGTH).expand(3, -1, -1)  # with these values, the output is the weights
    leaked = noise.blocked_by_a_number(0.1 * x, x, identity).triu(1)
    assert 0 < leaked.max() < 0.05


def test_a_merge_without_the_transpose_sees_the_future():
    x = torch.randn(1, 4, 8, generator=torch.Generator().manual_seed(0), requires_grad=True)
    mask = torch.ones(4, 4, dtype=torch.bool).triu(1)
    for make, sees in ((MultiHeadAttention, False), (head_studies.MergedByReshape, True)):
        (gradient,) = torch.autograd.grad(make(8, 2)(x, mask=mask)[0][0, 0].square().sum(), x)
        assert bool(gradient[0, 1:].any()) is sees


def test_three_tasks_are_learned_by_both_layers():
    trained = head_studies.learn_three_tasks(MultiHeadAttention, steps=2)
    assert list(trained) == ["copy", "reverse", "predict"]
    assert all(list(runs) == ["right", "wrong merge"] for runs in trained.values())
    assert all(len(losses) == 2 for runs in trained.values() for losses in runs.values())


def test_what_was_learned_at_eight_positions_holds_at_all_others():
    """Lesson 07: without the order nothing is learned but that no token follows itself."""
    in_order, at_0 = (
        one_before.train_to_name_the_one_before(RotarySelfAttention, order) for order in ("in order", "all positions 0")
    )
    assert min(in_order.named_at(start) for start in (0, 100, 5000)) > 0.95
    assert sum(at_0.losses[-20:]) / 20 > 1.9
    with pytest.raises(ValueError, match="order is 'backwards'"):
        one_before.train_to_name_the_one_before(RotarySelfAttention, "backwards", steps=0)


def test_lesson_11_is_right_about_induction_heads_of_the_course():
    lm = small_lm.load()
    generator = torch.Generator().manual_seed(5)
    twelve = torch.stack([torch.randperm(len(lm.words), generator=generator)[:12] for _ in range(16)])
    repeated = twelve.repeat(1, 2)
    with torch.no_grad():
        run = lm.run(repeated)
    scores = induction_score(run.weights, 12).mean(1)
    assert scores[2].min() > 0.5 > 0.3 > scores[:2].max()
    each = nn.functional.cross_entropy(run.logits[:, :-1].mT, repeated[:, 1:], reduction="none")
    assert each[:, 12:].mean() < 1 < math.log(len(lm.words)) < each[:, :11].mean()
    assert round(math.log(len(lm.words)), 2) == 6.91


def test_translations_are_written_one_by_one_and_filled_up():
    sources = torch.tensor([[3, 4, 0], [5, 0, 0]])
    seen = []

    def write(source):
        seen.append(source.tolist())
        return [1, *source[0].tolist()]

    assert translation.translate(sources, write, 4).tolist() == [[3, 4, 0, 0], [5, 0, 0, 0]]
    assert seen == [[[3, 4]], [[5]]]


def test_right_words_are_counted_without_padding(capsys):
    targets = torch.tensor([[3, 4], [5, 0], [6, 0]])
    shares = translation.report_words(targets, {"most": torch.tensor([[3, 9], [5, 0], [6, 7]])})
    assert shares["most"].tolist() == [1.0, 0.0]
    assert capsys.readouterr().out.split("most")[1].strip() == (
        "75% of words right, 67% of sentences right in every word"
    )


def test_errors_are_told_for_all_and_for_each_kind_of_word(capsys):
    weights = torch.tensor([[[0.9, 0.1], [0.8, 0.2]]])
    targets, alignment = torch.tensor([[1, 2]]), torch.tensor([[0, 1]])
    words = ["", "hen", "sees"]
    translation.report_alignment(
        alignment_error, weights, targets, alignment, words, {"noun": ["hen"], "verb": ["sees"]}
    )
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "The mean error of a sentence is 50%. By kind of word:"
    assert [line.split() for line in told[1:]] == [["noun", "0%", "of", "1"], ["verb", "100%", "of", "1"]]


def test_two_searches_are_compared_by_their_means(capsys):
    words, sources = ["", "begin", "end", "ifa", "ro"], torch.tensor([[3, 0], [4, 4]])
    means = {3: -1.0, 4: -2.0}
    translation.compare_searches(
        sources, lambda row: None, lambda step: [1, 4, 2], lambda step: [1, 3, 2], lambda _, ids: means[ids[1]], words
    )
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "Translations that begin with ifa: 0 by greedy search, 2 with a width of 2."
    assert told[1] == "With a width of 2, 2 of 2 have a better mean."
    assert [line.split() for line in told[3:]] == [["greedy", "-2.000", "ro"], ["width", "2", "-1.000", "ifa"]]


def test_signs_are_where_their_ids_say():
    images, ids = drawn_signs.images_of(5, torch.Generator().manual_seed(0))
    assert ids[:, 3].eq(drawn_signs.SIGNS.index("end")).all()
    for image, signs in zip(images[:, 0], ids[:, :3].tolist(), strict=True):
        squares = image.unfold(0, 4, 4).unfold(1, 4, 4).flatten(0, 1).round()  # (9, 4, 4), the noise rounded away
        drawn = [square for square in squares if square.any()]
        assert all(torch.equal(a, drawn_signs.SHAPES[sign - 3]) for a, sign in zip(drawn, signs, strict=True))
    encoder = drawn_signs.ImageEncoder(8, patches)
    assert encoder(images).shape == (5, 9, 8)


def test_the_stopwatch_calls_as_often_as_it_says_and_takes_the_shortest(monkeypatch):
    calls, ticks = [], iter([0.0, 0.5, 1.0, 1.25, 2.0, 4.0])
    monkeypatch.setattr(stopwatch.time, "perf_counter", lambda: next(ticks))
    assert stopwatch.milliseconds(calls.append, "call", times=3) == 250
    assert calls == ["call"] * 3


def test_times_of_the_next_token_are_taken_at_growing_lengths():
    class Cached(nn.Module):
        def new_cache(self, batch, length):
            return (batch, length)

        def forward(self, ids, cache, n):
            seen.append((ids.tolist(), cache, n))

    seen, whole = list[tuple](), list[int]()
    lengths, times = stopwatch.next_tokens(Cached(), lambda ids: whole.append(ids.shape[1]), torch.arange(512)[None])
    assert (lengths[0], lengths[-1], sorted(set(whole))) == (32, 512, lengths)
    assert seen[0] == ([[31]], (1, 512), 31)
    assert [len(values) for values in times.values()] == [7, 7]
