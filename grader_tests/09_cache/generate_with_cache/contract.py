"""`generate_with_cache`: greedy generation, with a cache that is made once."""

import torch

from grading.exercises.exercise import EXERCISE, exercise, non_contiguous, ref

from .cases import counted, cycle, some_table, written

ONCE, MEMORY, FLOWS = "reads_each_position_once", "uses_one_cache", "calls_without_gradients"

generate_with_cache = exercise(
    "generate_with_cache",
    see="Exercise: `generate_with_cache(model, prompt, n_tokens)`",
    hints=(
        "Take a prompt of 3 tokens and n_tokens = 4. Write down for each call of the model which tokens it reads, and "
        "at which position they start. How many positions does the cache hold after each call?",
        "Make the cache before the loop: its length is known. The first call reads the prompt from position 0. From "
        "then on each call reads only the token that was chosen last, at the position where that token stands. Of the "
        "logits you need those of the last position.",
        "`cache = model.new_cache(<sequences>, <positions>)`; in a loop over n_tokens: `logits = model(<what is new>, "
        "cache, <where it starts>)`, the new token by `argmax` with shape (B, 1), and `torch.cat` along the positions. "
        "All of it below `torch.no_grad()`.",
    ),
)


@generate_with_cache.oracle
def generate_with_cache_oracle(model, prompt, n_tokens):
    length = prompt.shape[1]
    tokens = torch.cat([prompt, prompt.new_zeros(len(prompt), n_tokens)], 1)
    with torch.no_grad():
        cache = model.new_cache(len(prompt), length + n_tokens)
        read = 0
        for stop in range(length, length + n_tokens):
            logits = model(tokens[:, read:stop], cache, read)
            tokens[:, stop] = logits[:, -1].max(-1).indices
            read = stop
    return tokens


paper = torch.tensor([[0, 2, 1]])


@generate_with_cache.example("a prompt of three tokens, and four more", check_types=True)
def _():
    s, text = written(cycle(), paper, 4)
    yield s.case(ref("tokens")).label(text)
    s, text = written(cycle(), torch.tensor([[3, 1], [1, 1], [0, 2]]), 3)
    yield s.case(ref("tokens")).label(text)


@generate_with_cache.example("nothing to add")
def _():
    s, text = written(cycle(), paper, 0)
    yield s.case(ref("tokens")).label(text)


@generate_with_cache.example("three tokens at once, then one by one")
def _():
    yield counted(cycle(), paper, 4, ONCE)


@generate_with_cache.example("one cache for all calls, and no gradients")
def _():
    yield counted(cycle(), paper, 4, MEMORY)
    yield counted(cycle(), paper, 4, FLOWS)


@generate_with_cache.criterion("the prompt, then the likeliest token each time", points=1.5)
def _(draw):
    for B, T, n_tokens, N in ((4, 5, 6, 10), (3, 1, 4, 12), (1, 4, 7, 10), (5, 3, 1, 12), (2, 6, 0, 10)):
        s, text = written(some_table(draw, N), draw.integers(0, N, B, T), n_tokens)
        yield s.case(ref("tokens")).label(text)
    s, text = written(some_table(draw), draw.integers(0, 10, 4, 5), 9)
    s.inputs["other"] = draw.integers(0, 10, 4, 5)
    s.call(EXERCISE, s.model, s.other, 9, name="again")
    yield s.case(ref("tokens"), ref("again")).label(f"{text}, and a second text with the same model")


@generate_with_cache.criterion("the prompt in one call, then one call for each token", points=0.75)
def _(draw):
    for B, T, n_tokens in ((2, 6, 5), (3, 1, 4), (4, 5, 1), (1, 2, 8)):
        yield counted(some_table(draw), draw.integers(0, 10, B, T), n_tokens, ONCE)


@generate_with_cache.criterion("one cache for all calls, no longer than needed", points=0.25)
def _(draw):
    for B, T, n_tokens in ((2, 6, 5), (3, 1, 4), (4, 5, 1), (1, 2, 8)):
        yield counted(some_table(draw), draw.integers(0, 10, B, T), n_tokens, MEMORY)


@generate_with_cache.criterion(
    "no gradients; int64, any dtype, layout and device, the prompt left alone", points=0.5, check_types=True
)
def _(draw):
    yield counted(some_table(draw), draw.integers(0, 10, 2, 4), 3, FLOWS)
    s, text = written(some_table(draw), draw.integers(0, 10, 2, 5), 3)
    yield s.case(ref("tokens")).does_not_mutate().label(text)
    s, text = written(some_table(draw, dtype=torch.float64), draw.integers(0, 10, 3, 4), 2)
    yield s.case(ref("tokens")).label(f"{text}, a model in float64")
    s, text = written(some_table(draw), non_contiguous(draw.integers(0, 10, 3, 4)), 2)
    yield s.case(ref("tokens")).does_not_mutate().label(f"{text}, with other strides")
    s, text = written(some_table(draw), draw.integers(0, 10, 3, 4), 2)
    yield s.case(ref("tokens")).device_only().label(text)
