"""What stands in for the learner's functions gives what those must give."""

from __future__ import annotations

import pytest
import torch

from course import use
from course.models import torch_fallbacks


def drawn(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


QUERY, KEY, VALUE = drawn(2, 3, 5), drawn(2, 4, 5, seed=1), drawn(2, 4, 6, seed=2)
MASK = torch.tensor([[False, True, True, True], [False, False, True, False], [True, True, True, True]])


def test_attention_is_not_scaled_and_returns_its_weights():
    output, weights = torch_fallbacks.attention(QUERY, KEY, VALUE)
    expected = torch.softmax(QUERY @ KEY.mT, -1)
    torch.testing.assert_close(weights, expected)
    torch.testing.assert_close(output, expected @ VALUE)


def test_projections_are_products_with_the_matrices():
    x, narrow, wide = drawn(2, 3, 5), drawn(5, 2, seed=1), drawn(5, 7, seed=2)
    for made, matrix in zip(torch_fallbacks.projections(x, narrow, wide), (narrow, wide), strict=True):
        torch.testing.assert_close(made, x @ matrix)


@pytest.mark.parametrize(("queries", "keys"), [(4, None), (1, 1), (2, 5)])
def test_a_causal_mask_blocks_what_comes_after_each_of_the_last_queries(queries, keys):
    S = keys or queries
    places = torch.arange(S - queries, S)[:, None]
    assert torch.equal(torch_fallbacks.causal_mask(queries, keys), torch.arange(S) > places)


def test_padding_is_where_no_word_is():
    mask = torch_fallbacks.padding([["a", "b", "c"], ["d"]], 4)
    assert mask.shape == (2, 1, 1, 4)
    assert mask[:, 0, 0].tolist() == [[False, False, False, True], [False, True, True, True]]


def test_masked_attention_gives_nothing_to_what_is_blocked_and_nothing_in_a_blocked_row():
    output, weights = torch_fallbacks.masked_attention(QUERY, KEY, VALUE, MASK)
    scores = (QUERY @ KEY.mT / 5**0.5).masked_fill(MASK, float("-inf"))
    expected = torch.softmax(scores, -1).nan_to_num(0.0)
    torch.testing.assert_close(weights, expected)
    torch.testing.assert_close(output, expected @ VALUE)
    torch.testing.assert_close(
        torch_fallbacks.masked_attention(QUERY, KEY, VALUE)[1], torch.softmax(QUERY @ KEY.mT / 5**0.5, -1)
    )


def test_captions_say_whose_they_are():
    def causal_mask(T, S=None, device=None):
        raise NotImplementedError

    class CrossAttention(torch.nn.Module):
        pass

    function, layer = use(causal_mask, torch_fallbacks.causal_mask), use(CrossAttention, torch_fallbacks.CrossAttention)
    assert function.whose == "the course's function (until your causal_mask passes)"
    assert layer.whose == "the course's class (until your CrossAttention passes)"
