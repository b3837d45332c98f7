"""Lesson 14's fallbacks do what its contract says, apart from errors and gradients."""

import pytest
import torch

from course.models import token_fallbacks as fallbacks


def test_ties_go_to_the_smallest_pair_and_training_ends_early():
    assert fallbacks.train_bpe("abababc", 5) == [(97, 98), (256, 256)]
    assert fallbacks.train_bpe("cdab cdab", 1) == [(97, 98)]
    assert fallbacks.train_bpe("", 3) == []


def test_the_pair_that_was_learned_first_is_joined_first():
    assert fallbacks.encode("abc", [(98, 99), (97, 98)]) == [97, 256]


@pytest.mark.parametrize("text", ["", "the cat, the hat", "Größe 水 🙂\r\n"])
def test_every_text_comes_back(text):
    merges = fallbacks.train_bpe("the cat and the hat, the end. Größe", 12)
    assert fallbacks.decode(fallbacks.encode(text, merges), merges) == text


def test_half_a_character_is_replaced():
    assert fallbacks.decode([71, 195], []) == "G\ufffd"


def test_top_p_keeps_the_token_that_crosses_the_line():
    logits = torch.tensor([0.1, 0.5, 0.3, 0.0999]).log()
    torch.testing.assert_close(fallbacks.top_p(logits, 0.7), torch.tensor([0.0, 0.625, 0.375, 0.0]))
    torch.testing.assert_close(fallbacks.top_p(logits, 1.0), logits.softmax(-1))


def test_min_p_compares_with_the_most_probable_token():
    logits = torch.tensor([[0.1, 0.5, 0.3, 0.1]]).log()
    torch.testing.assert_close(fallbacks.min_p(logits, 0.5), torch.tensor([[0.0, 0.625, 0.375, 0.0]]))
    torch.testing.assert_close(fallbacks.min_p(logits, 0.0), logits.softmax(-1))


def test_a_repeated_token_is_penalized_once():
    changed = fallbacks.penalize_repeats(torch.tensor([2.0, -1.0, 3.0]), torch.tensor([0, 1, 1]), 2.0)
    assert changed.tolist() == [1.0, -2.0, 3.0]


def test_log_probabilities_add_up_token_by_token():
    table = torch.randn(6, 6, generator=torch.Generator().manual_seed(0))
    found = fallbacks.continuation_log_probability(lambda ids: table[ids], torch.tensor([1, 2]), torch.tensor([3, 0]))
    rows = table.log_softmax(-1)
    torch.testing.assert_close(found, rows[2, 3] + rows[3, 0])


def test_a_piece_is_allowed_if_all_its_characters_are():
    def advance(state, character):
        return state + 1 if character == "ab"[state % 2] else None

    assert fallbacks.allowed_tokens(0, ["a", "ab", "b", "", "aa", "aba"], advance).tolist() == [
        True, True, False, False, False, True,
    ]  # fmt: skip


def test_speculative_decoding_emits_the_target():
    draft, target = torch.tensor([0.75, 0.25]), torch.tensor([0.5, 0.5])
    verified = fallbacks.verify_draft(torch.tensor([0]), draft[None], target.expand(2, -1), torch.tensor([0.9]))
    assert verified[0] == 0 and verified[1].tolist() == [0.0, 1.0]
    emitted = fallbacks.emitted_distribution(fallbacks.verify_draft, draft, target)
    torch.testing.assert_close(emitted, target, atol=1e-3, rtol=0)


def test_a_verifier_that_accepts_everything_emits_the_draft():
    draft, target = torch.tensor([0.75, 0.25]), torch.tensor([0.5, 0.5])
    emitted = fallbacks.emitted_distribution(lambda drafted, q, p, chances: (1, p[1]), draft, target)
    torch.testing.assert_close(emitted, draft, atol=1e-3, rtol=0)
