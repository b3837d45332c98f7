"""A model with a cache gives the logits of the model without, and its calls are counted rightly."""

from __future__ import annotations

import pytest
import torch

from course.checkers import NamedChecker
from course.harness.program import Observation
from course.models import small_lm
from course.models.cached_lm import CachedLM
from course.models.right_functions import lesson_09
from course.sample_models import Cached


@pytest.fixture(scope="module")
def lm():
    return small_lm.load()


@pytest.mark.parametrize("sizes", [[9], [1] * 9, [4, 1, 3, 1]])
def test_the_logits_of_pieces_are_those_of_the_whole(lm, sizes):
    ids = torch.randint(0, len(lm.words), (2, 9), generator=torch.Generator().manual_seed(1))
    model, start, found = CachedLM(lm), 0, []
    cache = model.new_cache(2, 12)
    for piece in ids.split(sizes, dim=1):
        found.append(model(piece, cache, start))
        start += piece.shape[1]
    torch.testing.assert_close(torch.cat(found, 1), lm(ids), rtol=1e-4, atol=1e-4)
    assert cache.shape == (3, 2, 2, 4, 12, 24)
    assert cache[..., :9, :].any(-1).all() and not cache[..., 9:, :].any()


def test_a_model_with_gradients_writes_into_its_cache_too():
    model = CachedLM(small_lm.load().requires_grad_(True))
    cache = model.new_cache(1, 3)
    assert not cache.requires_grad
    model(torch.tensor([[1, 2]]), cache, 0)
    assert model(torch.tensor([[3]]), cache, 2).shape[:2] == (1, 1)


def test_the_given_function_writes_into_the_cache(lm):
    calls = []

    def write(kept, new, start):
        calls.append((tuple(kept.shape), tuple(new.shape), start))
        kept[..., start : start + new.shape[-2], :] = new
        return kept[..., : start + new.shape[-2], :]

    ids = torch.tensor([[5, 6, 7]])
    model = CachedLM(lm, write)
    torch.testing.assert_close(model(ids, model.new_cache(1, 4), 0), lm(ids), rtol=1e-4, atol=1e-4)
    assert calls == [((1, 4, 4, 24), (1, 4, 3, 24), 0)] * 6


@pytest.mark.parametrize("make", [lambda lm: CachedLM(lm), lambda lm: Cached(5)])
def test_what_does_not_fit_into_a_cache_is_refused(lm, make):
    model = make(lm)
    cache = model.new_cache(2, 4)
    with pytest.raises(ValueError, match="positions 3 to 4 do not fit into a cache of 4, 0 to 3"):
        model(torch.zeros(2, 2, dtype=torch.int64), cache, 3)
    with pytest.raises(ValueError, match=r"ids has the shape \(1, 2\), and the cache is for 2"):
        model(torch.zeros(1, 2, dtype=torch.int64), cache, 0)


def generate(model, prompt, n_tokens, *, room=None, whole=False, gradients=False):
    """Tokens, with a cache that is made again where `room` is less than needed."""
    cache = model.new_cache(len(prompt), room or prompt.shape[1] + n_tokens)
    tokens, new, start = prompt, prompt, 0
    for _ in range(n_tokens):
        with torch.set_grad_enabled(gradients):
            logits = model(tokens, cache, 0) if whole else model(new, cache, start)
        start += new.shape[1]
        new = logits[:, -1:].argmax(-1)
        tokens = torch.cat([tokens, new], 1)
    return tokens


def test_every_token_and_every_position_changes_the_sample_models_logits():
    model, prompt = Cached(10), torch.tensor([[3, 0, 9, 4]])
    model.table.data = 5 * torch.eye(10)[[*range(10), 4]]
    last = model(prompt, model.new_cache(1, 4), 0)[:, -1].argmax()
    assert (4 * 1 + 1 * 2 + 10 * 3 + 5 * 4) % 11 == last == 1
    for place in range(4):
        other = prompt.clone()
        other[0, place] = (prompt[0, place] + 1) % 10
        assert not torch.equal(
            model(other, model.new_cache(1, 4), 0)[:, -1], model(prompt, model.new_cache(1, 4), 0)[:, -1]
        )


@pytest.mark.parametrize(
    ("options", "checker", "says"),
    [
        ({}, "reads_each_position_once", None),
        ({}, "uses_one_cache", None),
        ({}, "calls_without_gradients", None),
        ({"whole": True}, "reads_each_position_once", "4 calls with 18 positions in all, not 4 with 6"),
        ({"room": 6}, "uses_one_cache", None),
        ({"room": 8}, "uses_one_cache", "room for 8 positions, and 6 are read"),
        ({"gradients": True}, "calls_without_gradients", "gradients could flow in 4 of 4 calls"),
    ],
)
def test_calls_and_memory_are_counted(options, checker, says):
    model = Cached(5)
    generate(model, torch.tensor([[1, 2, 3]]), 4, **options)
    given = {} if checker == "calls_without_gradients" else {"length": 3, "n_tokens": 4}
    seen = Observation({"calls": model.calls})
    found = NamedChecker(checker, given)(seen, seen)
    assert (found is None) if says is None else says in str(found)


def test_the_fallback_writes_the_same_without_using_the_cache():
    model, prompt = Cached(5), torch.tensor([[1, 2, 3], [4, 0, 2]])
    model.table.data = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(lesson_09.generate_with_cache(model, prompt, 4), generate(model, prompt, 4))
