"""Lesson 05: masks against the future and against padding, softmax and attention under a mask, a leak detector."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from grading.judge.exercise import (
    SUBJECT,
    Script,
    call,
    device,
    exercise,
    helper,
    method,
    non_contiguous,
    specimen,
    student,
)

READY_MADE = (r"scaled_dot_product_\w*attention\w*", "multi_head_attention", "multi_head_attention_forward")
INF = float("inf")


# --- causal_mask ------------------------------------------------------------------------------------------------------

causal_mask = exercise("causal_mask", points=4, forbidden=READY_MADE, see="Exercise 1: `causal_mask`")
causal_mask.hints = (
    "At which of the S places does query `i` stand, if the last query stands at the last place? Try T = 2, S = 5.",
    "Two rows of numbers decide everything: the places of the queries and the places of the keys. A cell is blocked "
    "where the key's number is the greater one; a column compared with a row gives the whole table at once.",
    "Settle `S` and refuse `S < T`. Make the places of the keys, `torch.arange` of all S of them, and of the queries, "
    "the last T of those, both on `device`. Turn one of the two into a column with `[:, None]` and compare.",
)


@causal_mask.oracle
def causal_mask_oracle(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)


@causal_mask.example("three queries, three keys")
def _():
    yield call(3)


@causal_mask.example("three queries, five keys")
def _():
    yield call(3, 5)


@causal_mask.example("one new query, four keys")
def _():
    yield call(1, S=4)


@causal_mask.example("more queries than keys")
def _():
    yield call(5, 3).raising("S", "T")


@causal_mask.criterion("as many queries as keys", points=1)
def _(draw):
    yield call(6, device=device())
    yield call(5, 5, device())
    yield call(1, None, device())
    yield call(T=draw.integer(7, 12), device=device())
    # Without a device PyTorch's default is right; the judge looks for results on the device under test
    script = Script()
    mask = script.call(SUBJECT, 4, name="mask")
    yield script.case(script.call(method(mask, "to"), device())).described("causal_mask(4)")


@causal_mask.criterion("more keys than queries", points=1.5)
def _(draw):
    yield call(3, 7, device=device())
    yield call(1, 6, device=device())
    yield call(2, S=3, device=device())
    T = draw.integer(4, 8)
    yield call(T, T + draw.integer(2, 6), device())
    yield call(3, 1300, device())  # longer than a table that one would make once for all


@causal_mask.criterion("ValueError if S < T", points=1)
def _(draw):
    yield call(5, 4).raising("S", "T")
    yield call(draw.integer(7, 12), S=draw.integer(1, 6)).raising("S", "T")
    yield call(4, 1, device=device()).raising("S", "T")


@causal_mask.criterion("on the device that was asked for", points=0.5)
def _(draw):
    for where in (device(), "cpu", "meta"):  # "meta" shows one that is always made on the CPU
        script = Script()
        script.call(helper("lands_on"), where, student("causal_mask"), 3, 5, device=where)
        yield script.case().described("causal_mask(3, 5, device=...), while another device is PyTorch's default")


@causal_mask.mistake(
    "The diagonal is blocked too. Each query may see its own place: that is the question, not the answer.",
    shows=("as many queries as keys", "more keys than queries"),
)
def blocks_the_diagonal(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T)


@causal_mask.mistake(
    "Each query may still see one key that comes after it: the diagonal lies one place too far to the right.",
    shows=("as many queries as keys", "more keys than queries"),
)
def opens_the_next_key(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 2)


@causal_mask.mistake(
    "The mask is inverted: here True means *blocked*.",
    shows=("as many queries as keys", "more keys than queries"),
    see="5. Two opposite conventions",
)
def inverted(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T)


@causal_mask.mistake(
    "The keys *before* each query are blocked: rows are queries and columns are keys, and they are exchanged.",
    shows=("as many queries as keys", "more keys than queries"),
)
def blocks_the_past(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T - 1)


@causal_mask.mistake(
    "Queries and keys start together. They must *end* together: the queries are the last T of the S places.",
    shows="more keys than queries",
    see="When there are fewer queries than keys",
)
def aligned_at_the_start(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(1)


@causal_mask.mistake(
    "With S > T every query stands one place too early: query `i` stands at S - T + i, both counted from 0.",
    shows="more keys than queries",
    see="When there are fewer queries than keys",
)
def one_place_too_early(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(max(S - T, 1))


@causal_mask.mistake(
    "`S` makes no difference: the mask is always (T, T). It must have a column for each of the S keys.",
    shows=("more keys than queries", "ValueError if S < T"),
)
def ignores_S(T, S=None, device=None):
    return torch.ones(T, T, dtype=torch.bool, device=device).triu(1)


@causal_mask.mistake(
    "The mask lies on its side: rows are the T queries, columns the S keys.",
    shows="more keys than queries",
)
def keys_in_rows(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(S, T, dtype=torch.bool, device=device).triu(1)


@causal_mask.mistake(
    "This is a mask to *add* to scores, 0 and -inf. Here a mask is boolean: True where blocked.",
    shows=("as many queries as keys", "more keys than queries"),
)
def a_mask_to_add(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.full((T, S), float("-inf"), device=device).triu(S - T + 1)


@causal_mask.mistake(
    "The right cells, in the wrong type: zeros and ones. A mask is boolean, so that `~`, `|` and `masked_fill` work.",
    shows=("as many queries as keys", "more keys than queries"),
)
def zeros_and_ones(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, device=device).triu(S - T + 1)


@causal_mask.mistake(
    "The right cells, as integers. A mask is boolean: `dtype=torch.bool`.",
    shows=("as many queries as keys", "more keys than queries"),
)
def ones_in_integers(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.int64, device=device).triu(S - T + 1)


@causal_mask.mistake(
    "There are two dimensions too many. The mask is (T, S); it broadcasts to batches and heads as it is.",
    shows=("as many queries as keys", "more keys than queries"),
)
def with_dimensions_for_batch_and_heads(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(1, 1, T, S, dtype=torch.bool, device=device).triu(S - T + 1)


@causal_mask.mistake(
    "The mask is square: it has a row for every key. Only the last T of those rows are queries.",
    shows="more keys than queries",
    see="When there are fewer queries than keys",
)
def a_row_for_every_key(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(S, S, dtype=torch.bool, device=device).triu(1)


@causal_mask.mistake(
    "The diagonal is shifted to the left, by T - S. With S > T the queries stand further right: S - T.",
    shows="more keys than queries",
    see="When there are fewer queries than keys",
)
def shifted_to_the_left(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(T - S + 1)


@causal_mask.mistake(
    "The mask is always made on the CPU. Make it on `device`.",
    shows="on the device that was asked for",
)
def always_on_the_cpu(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device="cpu").triu(S - T + 1)


@causal_mask.mistake(
    "There is no error for S < T: more queries than places cannot be, and the call must say so.",
    shows="ValueError if S < T",
)
def no_error(T, S=None, device=None):
    S = T if S is None else S
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)


@causal_mask.mistake(
    "`assert` raises AssertionError (and nothing at all under `python -O`): raise a ValueError.",
    shows="ValueError if S < T",
)
def asserts(T, S=None, device=None):
    S = T if S is None else S
    assert S >= T, f"S is {S}, which is less than T = {T}"
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)


@causal_mask.mistake(
    "The error does not say which argument was wrong, and what it was: name `S` or `T`, and its value.",
    shows="ValueError if S < T",
)
def an_error_without_a_name(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("there are more queries than keys")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)


@causal_mask.mistake(
    "S = T is refused. It is the most ordinary case of all: only S < T is an error.",
    shows="as many queries as keys",
)
def refuses_equal_sizes(T, S=None, device=None):
    if S is not None and S <= T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    S = T if S is None else S
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)


@causal_mask.mistake(
    "`device` is ignored: the mask is made on PyTorch's default device. Pass it on to where the tensor is made.",
    shows="on the device that was asked for",
)
def ignores_the_device(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)


@causal_mask.alternative
def comparing_places(T, S=None, device=None):
    S = S if S is not None else T
    if not T <= S:
        raise ValueError(f"expected S >= T, but T={T} and S={S}")
    i, j = torch.arange(T, device=device), torch.arange(S, device=device)
    return (i.unsqueeze(1) + (S - T)).lt(j.unsqueeze(0))


@causal_mask.alternative
def with_two_loops(T, S=None, device=None):
    if S is None:
        S = T
    elif S < T:
        raise ValueError("S = " + str(S) + " is too small")
    rows = []
    for i in range(T):
        rows.append([j > S - T + i for j in range(S)])
    return torch.tensor(rows, device=device)


@causal_mask.alternative
def last_rows_of_the_square(T, S=None, device=None):
    S = S or T
    if T > S:
        raise ValueError(f"T must be at most {S}, not T={T}")
    square = nn.Transformer.generate_square_subsequent_mask(S, device=device)
    return square[S - T :] == -INF


@causal_mask.alternative
def not_the_lower_triangle(T, S=None, device=None):
    S = T if S is None else S
    if S - T < 0:
        raise ValueError(f"S ({S}) < T ({T})")
    return ~torch.tril(torch.full((T, S), True), diagonal=S - T).to(device)


@causal_mask.alternative
def by_counting_along_rows(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S: {S}; T: {T}")
    return torch.eye(S, dtype=torch.int64, device=device)[-T:].cumsum(1).roll(1, 1).tril(S - 1).bool() & (
        torch.arange(S, device=device) > 0
    )


@causal_mask.alternative
def filling_row_by_row(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, T is {T}")
    mask = torch.zeros((T, S), dtype=torch.bool, device=device)
    for i, row in enumerate(mask):
        row[S - T + i + 1 :] = True
    return mask


# --- padding_mask -----------------------------------------------------------------------------------------------------

padding_mask = exercise("padding_mask", points=3, forbidden=READY_MADE, see="Exercise 2: `padding_mask`")
padding_mask.hints = (
    "A sentence of length 2: which of the places 0, 1, 2, 3 hold padding? And of length 0, of length 4?",
    "Again it is a comparison of a row of places with a column of numbers; this time the numbers are the lengths.",
    "`torch.arange` of S places, on the device of `lengths`; compare it with `lengths[:, None]`, which gives (B, S); "
    "then put two dimensions of size 1 in the middle, for heads and queries.",
)


@padding_mask.oracle
def padding_mask_oracle(lengths, S):
    rows = [[j >= int(n) for j in range(S)] for n in lengths]
    return torch.tensor(rows, device=lengths.device)[:, None, None, :]


@padding_mask.example("lengths 1 and 3")
def _():
    yield call(torch.tensor([1, 3]), 3)


@padding_mask.example("lengths 4, 0 and 2, in five columns")
def _():
    yield call(torch.tensor([4, 0, 2]), 5)


@padding_mask.criterion("True at and past each length", points=1)
def _(draw):
    yield call(torch.tensor([2, 5, 1, 4]), 7)
    yield call(1 + draw.permutation(8)[:5], 9)
    yield call(lengths=draw.integers(1, 6, 8), S=6)
    yield call(non_contiguous(torch.tensor([3, 1, 2])), 4)
    yield call(draw.integers(100, 290, 3), 300)


@padding_mask.criterion("from empty to full", points=1)
def _(draw):
    yield call(torch.tensor([5, 0, 3]), 5)
    yield call(torch.tensor([0]), 4)
    yield call(torch.tensor([6]), 6)
    yield call(torch.tensor([0, 1]), 1)
    yield call(draw.integers(0, 12, 7), 11)


@padding_mask.criterion("on the device of the lengths", points=0.5)
def _(draw):
    script = Script(lengths=torch.tensor([2, 4, 1]))
    script.call(helper("lands_on"), script.lengths, student("padding_mask"), script.lengths, 5)
    yield script.case().described("padding_mask(lengths (3,), 5), while another device is PyTorch's default")


@padding_mask.criterion("the lengths are left alone", points=0.5)
def _(draw):
    yield call(torch.tensor([2, 4, 1]), 6).unchanged()
    yield call(torch.tensor([0, 5]), 5).unchanged()


@padding_mask.mistake(
    "The first pad of each sentence is not blocked. A sentence of length n has the places 0 to n - 1, so place n is "
    "padding.",
    shows="True at and past each length",
)
def misses_the_first_pad(lengths, S):
    return (torch.arange(S, device=lengths.device) > lengths[:, None])[:, None, None, :]


@padding_mask.mistake(
    "The last word of each sentence is blocked. A sentence of length n has the places 0 to n - 1.",
    shows="True at and past each length",
)
def blocks_the_last_word(lengths, S):
    return (torch.arange(S, device=lengths.device) >= lengths[:, None] - 1)[:, None, None, :]


@padding_mask.mistake(
    "The mask is inverted: the words are blocked and the padding is open. Here True means *blocked*.",
    shows="True at and past each length",
    see="5. Two opposite conventions",
)
def blocks_the_words(lengths, S):
    return (torch.arange(S, device=lengths.device) < lengths[:, None])[:, None, None, :]


@padding_mask.mistake(
    "The shape is (B, S). Scores are (B, H, T, S): two dimensions of size 1 belong in the middle.",
    shows="True at and past each length",
)
def without_heads_and_queries(lengths, S):
    return torch.arange(S, device=lengths.device) >= lengths[:, None]


@padding_mask.mistake(
    "The shape is (B, 1, S). There must be a dimension for the heads *and* one for the queries.",
    shows="True at and past each length",
)
def without_heads(lengths, S):
    return (torch.arange(S, device=lengths.device) >= lengths[:, None])[:, None, :]


@padding_mask.mistake(
    "The places stand in the dimension of the queries. Padding is about *keys*: they are the last dimension.",
    shows="True at and past each length",
)
def blocks_queries(lengths, S):
    return (torch.arange(S, device=lengths.device) >= lengths[:, None])[:, None, :, None]


@padding_mask.mistake(
    "The rows of padding are blocked as well, in a (B, 1, S, S) mask. Whole rows are then blocked; block keys only.",
    shows="True at and past each length",
    see="A row with nothing to see",
)
def blocks_queries_and_keys(lengths, S):
    pads = torch.arange(S, device=lengths.device) >= lengths[:, None]
    return (pads[:, :, None] | pads[:, None, :])[:, None]


@padding_mask.mistake(
    "The mask is as wide as the longest sentence. It must have `S` columns.",
    shows="True at and past each length",
)
def as_wide_as_the_longest(lengths, S):
    return (torch.arange(int(lengths.max()), device=lengths.device) >= lengths[:, None])[:, None, None, :]


@padding_mask.mistake(
    "The padding is taken to stand on the left. It fills the *end* of each sentence.",
    shows="True at and past each length",
)
def padding_on_the_left(lengths, S):
    return (torch.arange(S, device=lengths.device) < S - lengths[:, None])[:, None, None, :]


@padding_mask.mistake(
    "A sentence of length 0 keeps one open place. It has no word, so all of its row is blocked.",
    shows="from empty to full",
)
def never_empty(lengths, S):
    return (torch.arange(S, device=lengths.device) >= lengths.clamp(min=1)[:, None])[:, None, None, :]


@padding_mask.mistake(
    "A full sentence has its last word blocked.",
    shows="from empty to full",
)
def never_full(lengths, S):
    return (torch.arange(S, device=lengths.device) >= lengths.clamp(max=S - 1)[:, None])[:, None, None, :]


@padding_mask.mistake(
    "This is a mask to *add* to scores, 0 and -inf. Here a mask is boolean: True where blocked.",
    shows="True at and past each length",
)
def a_padding_mask_to_add(lengths, S):
    pads = torch.arange(S, device=lengths.device) >= lengths[:, None]
    return torch.zeros(len(lengths), 1, 1, S).masked_fill(pads[:, None, None, :], float("-inf"))


@padding_mask.mistake(
    "The right cells, in the wrong type: zeros and ones. A mask is boolean, so that `~`, `|` and `masked_fill` work.",
    shows="True at and past each length",
)
def padding_in_zeros_and_ones(lengths, S):
    return (torch.arange(S, device=lengths.device) >= lengths[:, None])[:, None, None, :].long()


@padding_mask.mistake(
    "The places are made on PyTorch's default device. Make them where `lengths` is.",
    shows="on the device of the lengths",
)
def ignores_the_device_of_the_lengths(lengths, S):
    return (torch.arange(S) >= lengths[:, None])[:, None, None, :]


@padding_mask.mistake(
    "`lengths` is not what it was before the call. Work on a new tensor.", shows="the lengths are left alone"
)
def changes_the_lengths(lengths, S):
    lengths -= 1
    return (torch.arange(S, device=lengths.device) > lengths[:, None])[:, None, None, :]


@padding_mask.alternative
def comparing_in_four_dimensions(lengths, S):
    places = torch.arange(S, device=lengths.device).view(1, 1, 1, S)
    return ~(places < lengths.view(-1, 1, 1, 1))


@padding_mask.alternative
def sentence_by_sentence(lengths, S):
    mask = torch.zeros(lengths.shape[0], 1, 1, S, dtype=torch.bool, device=lengths.device)
    for b in range(lengths.shape[0]):
        mask[b, 0, 0, lengths[b] :] = True
    return mask


@padding_mask.alternative
def looked_up_in_a_triangle(lengths, S):
    triangle = torch.ones(S + 1, S, device=lengths.device).triu() > 0
    return triangle[lengths].unsqueeze(1).unsqueeze(1)


@padding_mask.alternative
def counting_from_the_end_of_each_sentence(lengths, S):
    ends = F.one_hot(lengths, S + 1)
    return ends.cumsum(dim=-1)[:, :S].bool().reshape(len(lengths), 1, 1, S)


@padding_mask.alternative
def choosing_between_two_numbers(lengths, S):
    lengths = torch.as_tensor(lengths)
    place = torch.arange(S, device=lengths.device)
    one, zero = torch.tensor(1), torch.tensor(0)  # these go with any device
    padded = torch.where(place >= lengths.view(-1, 1, 1, 1), one, zero)
    return padded == 1


@padding_mask.alternative
def from_python_lists(lengths, S):
    rows = [[False] * n + [True] * (S - n) for n in lengths.tolist()]
    return torch.tensor(rows).to(lengths.device)[:, None, None]


@padding_mask.alternative
def padding_ones(lengths, S):
    words = [torch.ones(int(n), device=lengths.device) for n in lengths]
    padded = nn.utils.rnn.pad_sequence([*words, torch.ones(S, device=lengths.device)], batch_first=True)
    return padded[:-1, None, None, :].eq(0)


# --- masked_softmax ---------------------------------------------------------------------------------------------------

masked_softmax = exercise("masked_softmax", points=5, forbidden=READY_MADE, see="Exercise 3: `masked_softmax`")
masked_softmax.hints = (
    "Which number in place of a blocked score makes its weight exactly 0, whatever the others are? And what becomes of "
    "a row that holds nothing but that number?",
    "Fill the blocked scores of a row only if something in the row is open. A row without anything open may keep its "
    "scores, as long as its weights are set to 0 afterwards: then no NaN is ever made, on the way back neither.",
    "Find the rows with nothing to see, `mask.all(dim=-1, keepdim=True)`. Fill with -inf what is blocked outside of "
    "them, take the softmax, and put 0 wherever the mask says so. `masked_fill` broadcasts its mask, and returns a new "
    "tensor.",
)


@masked_softmax.oracle
def masked_softmax_oracle(scores, mask):
    mask = mask.expand(scores.shape)
    highest = scores.masked_fill(mask, -float("inf")).amax(-1, keepdim=True)
    highest = torch.where(torch.isinf(highest), torch.zeros_like(highest), highest)
    parts = torch.exp(torch.where(mask, -float("inf"), scores) - highest.detach())
    total = parts.sum(-1, keepdim=True)
    return parts / torch.where(total == 0, torch.ones_like(total), total)


@masked_softmax.example("the last of three blocked")
def _():
    yield call(torch.tensor([[0.0, math.log(3.0), 5.0]]), torch.tensor([[False, False, True]]))


@masked_softmax.example("one row of two fully blocked")
def _():
    scores = torch.tensor([[0.0, math.log(3.0)], [0.0, math.log(3.0)]])
    yield call(scores, torch.tensor([[False, False], [True, True]])).with_gradients()


@masked_softmax.example("one mask for two sentences")
def _():
    scores = torch.tensor([[[1.0, 1.0, 1.0]], [[0.0, math.log(3.0), 7.0]]])
    yield call(scores, torch.tensor([False, False, True]))


@masked_softmax.example("a blocked score that is huge")
def _():
    yield call(torch.tensor([[-2e9, 1e15, -3e9]]), torch.tensor([[False, True, False]]))


def some_open(draw, *shape):
    """A random mask in which every row has an open key and a blocked one."""
    mask = draw.chance(0.4, *shape)
    mask[..., 1], mask[..., -1] = False, True
    return mask


@masked_softmax.criterion("open keys share 1, blocked ones get 0", points=1)
def _(draw):
    yield call(draw.normal(4, 6, scale=2.0), some_open(draw, 4, 6))
    yield call(draw.normal(3, 5, scale=3.0), some_open(draw, 3, 5))
    yield call(draw.normal(6, 4), torch.zeros(6, 4, dtype=torch.bool))
    yield call(draw.normal(5, 5), torch.ones(5, 5, dtype=torch.bool).triu(1))
    yield call(draw.normal(2, 7, dtype=torch.float64), some_open(draw, 2, 7))


@masked_softmax.criterion("masks that broadcast", points=1)
def _(draw):
    scores = draw.normal(2, 3, 4, 5, scale=2.0)
    yield call(scores, some_open(draw, 4, 5))
    yield call(scores, some_open(draw, 2, 1, 1, 5))
    yield call(scores, some_open(draw, 1, 1, 4, 5))
    yield call(scores, some_open(draw, 3, 1, 5))
    yield call(non_contiguous(scores), non_contiguous(some_open(draw, 2, 3, 4, 5)))
    yield call(draw.normal(4, 6), some_open(draw, 6))
    yield call(draw.normal(3, 2, 6), some_open(draw, 1, 6))
    yield call(draw.normal(2, 3, 5), torch.tensor([[False], [True], [False]]))


@masked_softmax.criterion("fully blocked rows are 0", points=1)
def _(draw):
    mask = some_open(draw, 4, 6)
    mask[2] = True
    yield call(draw.normal(4, 6), mask)
    yield call(draw.normal(3, 4, 6, dtype=torch.float64), mask)
    yield call(draw.normal(2, 3, 4, 5), torch.tensor([3, 0])[:, None, None, None] <= torch.arange(5))
    yield call(draw.normal(2, 5, 3), torch.ones(5, 3, dtype=torch.bool))
    yield call(draw.normal(3, 1), torch.tensor([[True], [False], [True]]))


@masked_softmax.criterion("scores up to 1e15, blocked ones too", points=1)
def _(draw):
    mask = some_open(draw, 4, 6)
    ordinary = draw.normal(4, 6)
    yield call(ordinary.masked_fill(mask, 1e15), mask)
    yield call(ordinary.masked_fill(mask, -1e15), mask)
    yield call(draw.normal(3, 4, 6, scale=1e10), mask)
    yield call(draw.uniform(3, 4, 6, low=-1e15, high=1e15), mask)
    # Open scores far below any finite number that one might put in place of the blocked ones
    yield call(draw.uniform(4, 6, low=-1e15, high=-2e14).masked_fill(mask, 1e15), mask)
    yield call(torch.full((4, 6), -1e15), mask)
    for least in (-2e6, -2e11):  # these tell fills with -1e4, -1e9 and -1e15 apart
        yield call(draw.uniform(4, 6, low=least, high=least / 2), mask)
    low = draw.uniform(4, 6, low=-4.0, high=4.0, dtype=torch.float64) - 1e12
    yield call(low.masked_fill(mask, 1e15), mask)


@masked_softmax.criterion("gradients, never NaN", points=0.5)
def _(draw):
    mask = some_open(draw, 4, 6)
    yield call(draw.normal(4, 6), mask).with_gradients()
    yield call(draw.normal(2, 3, 4, 5), some_open(draw, 2, 1, 1, 5)).with_gradients()
    blocked = mask.clone()
    blocked[1] = True
    yield call(draw.normal(3, 4, 6), blocked).with_gradients()
    yield call(draw.normal(4, 6, dtype=torch.float64), blocked).with_gradients()
    yield call(draw.normal(4, 6).masked_fill(blocked, 1e15), blocked).with_gradients()
    yield call(draw.normal(2, 4, 3), torch.tensor([[False], [True], [True], [False]])).with_gradients()


@masked_softmax.criterion("arguments are left alone", points=0.5)
def _(draw):
    yield call(draw.normal(4, 6), some_open(draw, 4, 6)).unchanged()
    yield call(draw.normal(3, 4, 6), torch.ones(4, 6, dtype=torch.bool)).unchanged()


@masked_softmax.mistake(
    "Zeroes after the softmax: what is left of a row does not sum to 1, and how much is left depends on the blocked "
    "scores. Mask before.",
    shows="open keys share 1, blocked ones get 0",
    see="7. A field guide to wrong masks",
)
def masks_after_the_softmax(scores, mask):
    return torch.softmax(scores, -1).masked_fill(mask, 0.0)


@masked_softmax.mistake(
    "Zeroes after the softmax, then renormalised: right on paper. Where a blocked score is much the highest, all others "
    "have been rounded to 0 before, and 0 / 0 is NaN.",
    shows=("scores up to 1e15, blocked ones too", "fully blocked rows are 0"),
    see="6. Is it a bug?",
)
def renormalises(scores, mask):
    weights = torch.softmax(scores, -1).masked_fill(mask, 0.0)
    return weights / weights.sum(-1, keepdim=True)


@masked_softmax.mistake(
    "Zeroes after the softmax, then divided by a sum that is kept from being 0. Where a blocked score is much the "
    "highest nothing is left to divide: the whole row is 0.",
    shows="scores up to 1e15, blocked ones too",
    see="6. Is it a bug?",
)
def renormalises_with_care(scores, mask):
    weights = torch.softmax(scores, -1).masked_fill(mask, 0.0)
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-12)


@masked_softmax.mistake(
    "Fully blocked rows are NaN: every score in them is -inf, and the softmax divides 0 by 0.",
    shows="fully blocked rows are 0",
    see="A row with nothing to see",
)
def forgets_fully_blocked_rows(scores, mask):
    return torch.softmax(scores.masked_fill(mask, float("-inf")), -1)


@masked_softmax.mistake(
    "The weights are right, and the gradient of a fully blocked row is NaN: NaN was made on the way, and wiping it off "
    "the result does not wipe it off the way back. Let none arise.",
    shows="gradients, never NaN",
    see="A row with nothing to see",
)
def wipes_nan_off_the_result(scores, mask):
    bias = torch.zeros_like(scores).masked_fill(mask, float("-inf"))
    return torch.softmax(scores + bias, -1).nan_to_num(0.0)


@masked_softmax.mistake(
    "Blocked scores become -1e9. That is not low enough where the others are lower still, and it makes all keys of a "
    "fully blocked row equal.",
    shows=("fully blocked rows are 0", "scores up to 1e15, blocked ones too"),
    see="3. From a mask to weights",
)
def fills_with_minus_1e9(scores, mask):
    return torch.softmax(scores.masked_fill(mask, -1e9), -1)


@masked_softmax.mistake(
    "Blocked scores become -1e9: that is not low enough where the others are lower still.",
    shows="scores up to 1e15, blocked ones too",
    see="3. From a mask to weights",
)
def fills_with_minus_1e9_but_for_empty_rows(scores, mask):
    weights = torch.softmax(scores.masked_fill(mask, -1e9), -1)
    return weights.masked_fill(mask.all(-1, keepdim=True), 0.0)


@masked_softmax.mistake(
    "Blocked scores become -1e9 and their weights 0. Where the open scores are lower still, the blocked ones take all "
    "of the 1 first, and nothing is left.",
    shows="scores up to 1e15, blocked ones too",
    see="3. From a mask to weights",
)
def fills_with_minus_1e9_and_zeroes(scores, mask):
    return torch.softmax(scores.masked_fill(mask, -1e9), -1).masked_fill(mask, 0.0)


@masked_softmax.mistake(
    "Blocked scores become -10000 or so, a number for half precision. That is not low enough where the others are "
    "lower still.",
    shows="scores up to 1e15, blocked ones too",
    see="3. From a mask to weights",
)
def fills_with_minus_10000(scores, mask):
    return torch.softmax(scores.masked_fill(mask, -1e4), -1).masked_fill(mask, 0.0)


@masked_softmax.mistake(
    "Blocked scores become 0, or a number near it such as -1e-12 (-1e12 was meant). They take their share of the 1, "
    "and what is left after setting their weights to 0 is too little.",
    shows="open keys share 1, blocked ones get 0",
    see="3. From a mask to weights",
)
def fills_with_next_to_nothing(scores, mask):
    return torch.softmax(scores.masked_fill(mask, -1e-12), -1).masked_fill(mask, 0.0)


@masked_softmax.mistake(
    "Blocked scores become -1e15, and the others may be as low as that.",
    shows="scores up to 1e15, blocked ones too",
    see="3. From a mask to weights",
)
def fills_with_minus_1e15(scores, mask):
    return torch.softmax(scores.masked_fill(mask, -1e15), -1).masked_fill(mask, 0.0)


@masked_softmax.mistake(
    "Something large is subtracted from the blocked scores. They may be larger by 1e15 than the others, so no finite "
    "number is enough.",
    shows=("fully blocked rows are 0", "scores up to 1e15, blocked ones too"),
    see="3. From a mask to weights",
)
def subtracts_1e9(scores, mask):
    return torch.softmax(scores - 1e9 * mask.to(scores), -1)


@masked_softmax.mistake(
    "In a fully blocked row all keys get the same weight: they were all filled with the same finite number. The row "
    "must be 0.",
    shows="fully blocked rows are 0",
    see="A row with nothing to see",
)
def fully_blocked_rows_are_uniform(scores, mask):
    return torch.softmax(scores.masked_fill(mask, torch.finfo(scores.dtype).min), -1)


@masked_softmax.mistake(
    "The mask is inverted: blocked keys get all the weight. Here True means *blocked*.",
    shows="open keys share 1, blocked ones get 0",
    see="5. Two opposite conventions",
)
def mask_inverted(scores, mask):
    empty = (~mask).all(-1, keepdim=True)
    return torch.softmax(scores.masked_fill(~mask & ~empty, float("-inf")), -1).masked_fill(~mask, 0.0)


@masked_softmax.mistake(
    "Blocked scores become 0, by multiplication. A score of 0 is a vote like any other: e⁰ is 1.",
    shows="open keys share 1, blocked ones get 0",
    see="3. From a mask to weights",
)
def multiplies_scores_by_the_mask(scores, mask):
    return torch.softmax(scores * ~mask, -1)


@masked_softmax.mistake(
    "(1 - mask) · -inf, or mask · -inf, is NaN wherever a factor is 0: 0 · ∞ is not a number. Choose the value, do not "
    "multiply by it.",
    shows="open keys share 1, blocked ones get 0",
)
def multiplies_infinity(scores, mask):
    return torch.softmax(scores + mask.to(scores) * float("-inf"), -1)


@masked_softmax.mistake(
    "Each column sums to 1, not each row: the softmax goes over the queries. Look at `dim`.",
    shows="open keys share 1, blocked ones get 0",
)
def over_the_queries(scores, mask):
    empty = mask.all(-2, keepdim=True) if mask.ndim > 1 else mask
    return torch.softmax(scores.masked_fill(mask & ~empty, float("-inf")), -2).masked_fill(mask, 0.0)


@masked_softmax.mistake(
    "This needs a mask of the same shape as the scores. A mask may have fewer dimensions, or sizes of 1: let it "
    "broadcast.",
    shows="masks that broadcast",
)
def needs_a_mask_of_the_same_shape(scores, mask):
    kept = scores.clone()
    kept[mask] = float("-inf")
    weights = torch.softmax(kept, -1)
    return torch.where(mask.all(-1, keepdim=True), torch.zeros_like(weights), weights)


@masked_softmax.mistake(
    "Rows with nothing to see are looked for in the whole mask at once. Each row must be asked for itself.",
    shows="fully blocked rows are 0",
)
def asks_the_whole_mask(scores, mask):
    if mask.all():
        return scores * 0.0
    return torch.softmax(scores.masked_fill(mask, float("-inf")), -1)


@masked_softmax.mistake(
    "The greatest score of a row, which is subtracted to keep e^s in bounds, was taken among the blocked ones too. If "
    "one of those is much the highest, every open key is rounded to 0.",
    shows="scores up to 1e15, blocked ones too",
)
def subtracts_the_greatest_of_all(scores, mask):
    parts = (scores - scores.amax(-1, keepdim=True)).exp() * ~mask
    total = parts.sum(-1, keepdim=True)
    return parts / total.masked_fill(mask.all(-1, keepdim=True), 1.0)


@masked_softmax.mistake(
    "e^s of a large score is infinite: subtract the greatest open score of each row first.",
    shows="scores up to 1e15, blocked ones too",
)
def subtracts_nothing(scores, mask):
    parts = scores.masked_fill(mask, float("-inf")).exp()
    return parts / parts.sum(-1, keepdim=True).masked_fill(mask.all(-1, keepdim=True), 1.0)


@masked_softmax.mistake(
    "e^s was computed for the blocked keys too and thrown away afterwards. Where it overflowed, 0 times ∞ makes NaN in "
    "the gradient: a blocked score must be replaced *before* it goes into anything.",
    shows="gradients, never NaN",
)
def computes_what_it_throws_away(scores, mask):
    empty = mask.all(-1, keepdim=True)
    highest = scores.masked_fill(mask, float("-inf")).amax(-1, keepdim=True).masked_fill(empty, 0.0)
    parts = torch.where(mask, 0.0, (scores - highest.detach()).exp())
    return parts / parts.sum(-1, keepdim=True).masked_fill(empty, 1.0)


@masked_softmax.mistake(
    "The scores were changed in place: functions whose name ends in `_` write into their argument. Use the one without.",
    shows="arguments are left alone",
)
def fills_in_place(scores, mask):
    filled = scores.detach() if scores.is_leaf else scores
    filled.masked_fill_(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    return torch.softmax(scores, -1).masked_fill(mask, 0.0)


@masked_softmax.mistake(
    "No gradient flows: it was cut by `detach`, `.data` or `no_grad`.", shows="gradients, never NaN"
)
def without_gradients(scores, mask):
    empty = mask.all(-1, keepdim=True)
    seen = scores.detach().masked_fill(mask & ~empty, float("-inf"))
    return torch.softmax(seen, -1).masked_fill(mask, 0.0)


@masked_softmax.mistake(
    "The result is float32 whatever the scores are. Keep their dtype.",
    shows="open keys share 1, blocked ones get 0",
)
def in_float32_always(scores, mask):
    empty = mask.all(-1, keepdim=True)
    seen = scores.float().masked_fill(mask & ~empty, float("-inf"))
    return torch.softmax(seen, -1).masked_fill(mask, 0.0)


@masked_softmax.alternative
def wiping_nan_off_what_was_filled(scores, mask):
    filled = torch.where(mask, torch.tensor(-INF, dtype=scores.dtype, device=scores.device), scores)
    return torch.nan_to_num(F.softmax(filled, dim=-1), nan=0.0)


@masked_softmax.alternative
def by_hand(scores, mask):
    open_ = ~mask.expand_as(scores)
    lowest = torch.finfo(scores.dtype).min
    top = torch.where(open_, scores, torch.full_like(scores, lowest)).max(dim=-1, keepdim=True).values
    parts = torch.where(open_, scores - top, torch.zeros_like(scores)).exp() * open_
    return parts / parts.sum(dim=-1, keepdim=True).clamp(min=0.5)


@masked_softmax.alternative
def with_the_lowest_number(scores, mask):
    filled = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    return torch.softmax(filled, dim=-1) * (~mask).to(scores.dtype)


@masked_softmax.alternative
def row_by_row(scores, mask):
    mask = torch.broadcast_to(mask, scores.shape).reshape(-1, scores.shape[-1])
    rows = []
    for row, blocked in zip(scores.reshape(-1, scores.shape[-1]), mask, strict=True):
        weights = torch.zeros_like(row)
        if not blocked.all():
            weights[~blocked] = row[~blocked].softmax(0)
        rows.append(weights)
    return torch.stack(rows).reshape(scores.shape)


@masked_softmax.alternative
def with_a_key_that_takes_what_is_left(scores, mask):
    filled = scores.masked_fill(mask, -INF)
    empty = mask.expand(scores.shape).all(-1, keepdim=True)
    spare = torch.zeros_like(scores[..., :1]).masked_fill(~empty, -INF)
    return torch.softmax(torch.cat([filled, spare], dim=-1), dim=-1)[..., :-1]


@masked_softmax.alternative
def through_logarithms(scores, mask):
    nothing = mask.all(dim=-1, keepdim=True).expand(*scores.shape[:-1], 1)
    logs = scores.masked_fill(nothing, 0.0).masked_fill(mask & ~nothing, -INF).log_softmax(-1)
    return logs.exp().masked_fill(mask, 0)


@masked_softmax.alternative
def with_its_own_way_back(scores, mask):
    class Masked(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores, mask):
            weights = torch.softmax(scores.masked_fill(mask, -INF), dim=-1)
            weights = torch.where(mask, torch.zeros_like(weights), weights)
            ctx.save_for_backward(weights)
            return weights

        @staticmethod
        def backward(ctx, gradient):
            (weights,) = ctx.saved_tensors
            inner = (weights * gradient).sum(-1, keepdim=True)
            return weights * (gradient - inner), None

    return Masked.apply(scores, mask)


# --- masked_attention -------------------------------------------------------------------------------------------------

masked_attention = exercise("masked_attention", points=4, forbidden=READY_MADE, see="Exercise 4: `masked_attention`")
masked_attention.hints = (
    "You have written every step before: scores, scale, weights, output. Which one of them changes when there is a mask?",
    "Only the softmax. With a mask, `masked_softmax` takes its place, and what it gives is multiplied with the values "
    "as ever. A fully blocked row of weights, all 0, makes an output of 0 by itself.",
    "Scores are the queries times the transposed keys (the last two dimensions exchanged), divided by the root of the "
    "keys' width. Then the weights: a plain softmax if `mask is None`, else the masked one. Return the weights times "
    "the values, and the weights.",
)


@masked_attention.oracle
def masked_attention_oracle(query, key, value, mask=None):
    scores = torch.einsum("...tk,...sk->...ts", query, key) / query.shape[-1] ** 0.5
    if mask is None:
        mask = torch.zeros((), dtype=torch.bool, device=scores.device)
    mask = mask.expand(scores.shape)
    highest = scores.masked_fill(mask, -float("inf")).amax(-1, keepdim=True)
    highest = torch.where(torch.isinf(highest), torch.zeros_like(highest), highest)
    parts = torch.exp(torch.where(mask, -float("inf"), scores) - highest.detach())
    total = parts.sum(-1, keepdim=True)
    weights = parts / torch.where(total == 0, torch.ones_like(total), total)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights


def on_paper():
    """One query of width 4, so that the root is 2, and two keys: scaled scores (1, 4)."""
    query = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    key = torch.tensor([[1.0, 0.0, 0.0, 0.0], [4.0, 0.0, 0.0, 0.0]])
    return query, key, torch.tensor([[5.0], [7.0]])


@masked_attention.example("nothing blocked")
def _():
    yield call(*on_paper())


@masked_attention.example("the second key blocked")
def _():
    yield call(*on_paper(), torch.tensor([[False, True]]))


@masked_attention.example("both keys blocked")
def _():
    yield call(*on_paper(), mask=torch.tensor([[True, True]]))


def drawn(draw, *leading, T=4, S=6, K=5, V=3, **options):
    """Queries, keys and values with these leading dimensions."""
    return tuple(draw.normal(*leading, *shape, **options) for shape in ((T, K), (S, K), (S, V)))


@masked_attention.criterion("without a mask", points=0.5)
def _(draw):
    yield call(*drawn(draw))
    yield call(*drawn(draw, 2, 3), None)
    yield call(*drawn(draw, 2, T=1, S=5, K=7, V=4), mask=None).with_gradients()
    yield call(*drawn(draw, T=5, S=5, K=2, V=2, dtype=torch.float64))


@masked_attention.criterion("with a mask", points=1)
def _(draw):
    yield call(*drawn(draw, scale=2.0), some_open(draw, 4, 6))
    yield call(*drawn(draw, T=5, S=5, K=3, V=2), torch.ones(5, 5, dtype=torch.bool).triu(1))
    yield call(*drawn(draw, T=6, S=6, K=3, V=2), torch.tensor([False, True, False, True, False, False]))
    yield call(*drawn(draw, T=2, S=7, K=3, V=9, dtype=torch.float64), some_open(draw, 2, 7))
    yield call(*drawn(draw, T=3, S=2, K=6, V=1), some_open(draw, 3, 2))
    yield call(*map(non_contiguous, drawn(draw)), mask=non_contiguous(some_open(draw, 4, 6)))
    # Scores of about 1e15; those of the first query are all far below zero
    query, key, value = drawn(draw, T=6, S=7, K=4)
    query[0] = -1.0
    yield call(query * 3e7, key.abs() * 3e7, value, some_open(draw, 6, 7))


@masked_attention.criterion("batches, and masks that broadcast", points=1)
def _(draw):
    query, key, value = drawn(draw, 2, 3)
    yield call(query, key, value, some_open(draw, 2, 3, 4, 6))
    yield call(query, key, value, some_open(draw, 4, 6))
    yield call(query, key, value, some_open(draw, 2, 1, 1, 6))
    yield call(query, key, value, some_open(draw, 1, 1, 4, 6))
    yield call(query, key, value, some_open(draw, 6))
    yield call(*drawn(draw, 5), some_open(draw, 5, 1, 6))


@masked_attention.criterion("fully blocked rows are 0", points=0.5)
def _(draw):
    mask = some_open(draw, 4, 6)
    mask[1] = True
    yield call(*drawn(draw), mask)
    yield call(*drawn(draw, 2, 3), torch.tensor([6, 0])[:, None, None, None] <= torch.arange(6))
    yield call(*drawn(draw, 2), torch.ones(4, 6, dtype=torch.bool))


@masked_attention.criterion("gradients, never NaN", points=0.5)
def _(draw):
    mask = some_open(draw, 4, 6)
    yield call(*drawn(draw), mask).with_gradients()
    yield call(*drawn(draw, 2, dtype=torch.float64), mask).with_gradients()
    blocked = mask.clone()
    blocked[2] = True
    yield call(*drawn(draw, 2, 3), blocked).with_gradients()


@masked_attention.criterion("arguments are left alone", points=0.5)
def _(draw):
    yield call(*drawn(draw, 2), some_open(draw, 4, 6)).unchanged()
    yield call(*drawn(draw, 2)).unchanged()


@masked_attention.mistake(
    "The scores are not scaled: divide them by √K, K being the width of a key.",
    shows=("without a mask", "with a mask"),
    see="4. Attention with a mask",
)
def unscaled(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.mT
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "The scores are divided by K. Divide them by its *root*.",
    shows=("without a mask", "with a mask"),
    see="4. Attention with a mask",
)
def scaled_by_the_width_itself(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.mT / key.shape[-1]
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "The scores are *multiplied* by √K. Divide by it.",
    shows=("without a mask", "with a mask"),
    see="4. Attention with a mask",
)
def scaled_the_wrong_way(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.mT * key.shape[-1] ** 0.5
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "The scale is made from the width of the values. It is the keys' width that makes scores grow.",
    shows=("without a mask", "with a mask"),
    see="4. Attention with a mask",
)
def scaled_by_the_width_of_values(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.mT / value.shape[-1] ** 0.5
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "The scale is made from the number of keys. It is their width that makes scores grow.",
    shows=("without a mask", "with a mask"),
    see="4. Attention with a mask",
)
def scaled_by_the_number_of_keys(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.mT / key.shape[-2] ** 0.5
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "The mask is never used.",
    shows="with a mask",
)
def ignores_the_mask(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1)
    return weights @ value, weights


@masked_attention.mistake(
    "Zeroes after the softmax: the weights that are left do not sum to 1. Mask the scores, before.",
    shows="with a mask",
    see="7. A field guide to wrong masks",
)
def masked_after_the_softmax(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "The mask is inverted: each query sees just what it must not. Here True means *blocked*.",
    shows="with a mask",
    see="5. Two opposite conventions",
)
def sees_what_is_blocked(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else ~mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "Without a mask this fails, and `mask` is None by default: then nothing is blocked.",
    shows="without a mask",
)
def needs_a_mask(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "Beside what `mask` blocks the future is blocked, too. The mask alone decides.",
    shows="with a mask",
)
def causal_whatever_the_mask(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    if scores.shape[-1] == scores.shape[-2]:
        mask = mask | torch.ones_like(scores, dtype=torch.bool).triu(1)
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "Without a mask the future is blocked. `mask=None` blocks nothing.",
    shows="without a mask",
)
def causal_by_default(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is None:
        T, S = scores.shape[-2:]
        mask = torch.ones(T, S, dtype=torch.bool).triu(max(S - T, 0) + 1)
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "Fully blocked rows are NaN, and so is what comes out of them.",
    shows="fully blocked rows are 0",
    see="A row with nothing to see",
)
def blocked_rows_are_nan(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(mask, float("-inf")), -1)
    return weights @ value, weights


@masked_attention.mistake(
    "A fully blocked row sees everything: its scores were left as they are, and its weights were not set to 0.",
    shows="fully blocked rows are 0",
    see="A row with nothing to see",
)
def blocked_rows_see_everything(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf")), -1)
    return weights @ value, weights


@masked_attention.mistake(
    "Blocked scores become -1e9: not low enough where the others are lower still, and in a fully blocked row it makes "
    "all keys equal.",
    shows=("fully blocked rows are 0", "with a mask"),
    see="3. From a mask to weights",
)
def fills_scores_with_minus_1e9(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(mask, -1e9), -1)
    return weights @ value, weights


@masked_attention.mistake(
    "In a fully blocked row all keys get the same weight: they were all filled with the same finite number. The row "
    "must be 0.",
    shows="fully blocked rows are 0",
    see="A row with nothing to see",
)
def blocked_rows_are_uniform(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(mask, torch.finfo(scores.dtype).min), -1)
    return weights @ value, weights


@masked_attention.mistake(
    "Zeroes after the softmax, then renormalised. Where a blocked score is much the highest, all others have been "
    "rounded to 0 before, and nothing is left to share.",
    shows="with a mask",
    see="6. Is it a bug?",
)
def renormalises_the_weights(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1).masked_fill(mask, 0.0)
    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-12)
    return weights @ value, weights


@masked_attention.mistake(
    "Forward all is right; in the gradient a fully blocked row makes NaN of everything it came from. Wiping NaN off "
    "the result does not wipe it off the way back.",
    shows="gradients, never NaN",
    see="A row with nothing to see",
)
def wipes_nan_off_the_weights(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(mask, float("-inf"))
    weights = torch.softmax(scores, -1).nan_to_num(0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "The *values* of blocked keys were set to 0, and their weights left as they were: they still take their share of "
    "the 1. Mask the scores.",
    shows="with a mask",
)
def masks_the_output_only(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1)
    seen = weights if mask is None else weights * ~mask
    return seen @ value, weights


@masked_attention.mistake(
    "The keys are multiplied with the queries: the scores lie on their side. Rows are queries: query @ keyᵀ.",
    shows=("without a mask", "with a mask"),
)
def keys_times_queries(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = key @ query.mT / key.shape[-1] ** 0.5
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "Each column of the weights sums to 1, not each row: the softmax goes over the queries. Look at `dim`.",
    shows=("without a mask", "with a mask"),
)
def softmax_over_the_queries(query, key, value, mask=None):
    mask = torch.zeros(1, 1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    mask = mask.expand(scores.shape)
    seen = scores.masked_fill(mask & ~mask.all(-2, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -2).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "The weights come first and the output second. Return (output, weights).",
    shows=("without a mask", "with a mask"),
)
def weights_first(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights, weights @ value


@masked_attention.mistake(
    "Only the output is returned. Return (output, weights).",
    shows=("without a mask", "with a mask"),
)
def output_only(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    return torch.softmax(seen, -1).masked_fill(mask, 0.0) @ value


@masked_attention.mistake(
    "What is returned beside the output are scores. Return the weights, after the softmax.",
    shows=("without a mask", "with a mask"),
)
def scores_for_weights(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, scores


@masked_attention.mistake(
    "`.T` turns round *all* dimensions of a batch. Exchange the last two only.",
    shows="batches, and masks that broadcast",
)
def transposes_the_batch(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = query @ key.T / key.shape[-1] ** 0.5
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "The query was scaled in place: it is not what it was before the call. Work on a new tensor.",
    shows="arguments are left alone",
)
def scales_the_query_in_place(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    query.data /= key.shape[-1] ** 0.5
    scores = query @ key.mT
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.mistake(
    "No gradient flows through the weights: they were cut off by `detach`, `.data` or `no_grad`.",
    shows="gradients, never NaN",
)
def detached_weights(query, key, value, mask=None):
    mask = torch.zeros(1, dtype=torch.bool) if mask is None else mask
    scores = (query @ key.mT / key.shape[-1] ** 0.5).detach()
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights


@masked_attention.alternative
def with_einsum(query, key, value, mask=None):
    scores = torch.einsum("...ik,...jk->...ij", query, key) * query.size(-1) ** -0.5
    if mask is None:
        mask = torch.zeros_like(scores, dtype=torch.bool)
    weights = scores.masked_fill(mask, -INF).softmax(-1).masked_fill(mask, 0)
    return torch.einsum("...ij,...jv->...iv", weights, value), weights


@masked_attention.alternative
def query_by_query(query, key, value, mask=None):
    T, S = query.shape[-2], key.shape[-2]
    if mask is None:
        mask = query.new_zeros(1, dtype=torch.bool)
    mask = mask.expand(*query.shape[:-2], T, S)
    outputs, shares = [], []
    for i in range(T):
        scores = (key @ query[..., i, :, None]).squeeze(-1) / math.sqrt(query.shape[-1])
        blocked = mask[..., i, :]
        scores = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
        parts = (scores - scores.amax(-1, keepdim=True)).exp() * ~blocked
        share = parts / parts.sum(-1, keepdim=True).clamp_min(0.1)
        shares.append(share)
        outputs.append((share[..., None] * value).sum(-2))
    return torch.stack(outputs, -2), torch.stack(shares, -2)


@masked_attention.alternative
def flattened_to_one_batch(query, key, value, mask=None):
    leading = query.shape[:-2]
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    scores = torch.bmm(q * k.shape[-1] ** -0.5, k.transpose(1, 2)).reshape(*leading, q.shape[1], k.shape[1])
    if mask is not None:
        nothing = mask.all(-1, keepdim=True)
        scores = torch.where(mask & ~nothing, -INF, scores)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = torch.where(mask, torch.zeros_like(weights), weights)
    outputs = torch.bmm(weights.reshape(-1, q.shape[1], k.shape[1]), v)
    return outputs.reshape(*leading, q.shape[1], v.shape[2]), weights


@masked_attention.alternative
class AsACallableClass:
    def __new__(cls, query, key, value, mask=None):
        self = super().__new__(cls)
        self.temperature = key.shape[-1] ** 0.5
        return self.attend(query, key, value, mask)

    def attend(self, query, key, value, mask):
        weights = self.weigh((query / self.temperature).matmul(key.transpose(-1, -2)), mask)
        return weights.matmul(value), weights

    def weigh(self, scores, mask):
        if mask is None:
            return nn.Softmax(dim=-1)(scores)
        return nn.Softmax(dim=-1)(scores.masked_fill(mask, -INF)).nan_to_num()


@masked_attention.alternative
def with_a_mask_to_add(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    gate = torch.ones_like(scores)
    if mask is not None:
        gate = gate.masked_fill(mask.all(-1, keepdim=True), 0.0)
        mask = mask & (gate > 0)
        scores = scores + torch.zeros_like(scores).masked_fill(mask, -INF)
    weights = torch.softmax(scores, dim=-1) * gate
    return weights @ value, weights


# --- sees_the_future --------------------------------------------------------------------------------------------------

sees_the_future = exercise("sees_the_future", points=4, forbidden=READY_MADE, see="Exercise 5: `sees_the_future`")
sees_the_future.hints = (
    "What would you have to change, and what would you have to look at, to convict a function in which place 2 sees "
    "place 3 and nothing else is wrong?",
    "For every later place in turn: change it, and see whether *any* output before it has moved by more than rounding. "
    "Or let autograd do all at once: the Jacobian has an entry for each part of each output and each part of each input.",
    "`torch.autograd.functional.jacobian(attention, x)` has the shape (T, D, T, D). Take its magnitude, take the "
    "greatest over both D, and you hold a (T, T) table of who moves whom; is there anything above the diagonal? `bool` "
    "makes a plain answer of it.",
)


@sees_the_future.oracle
def sees_the_future_oracle(attention, x):
    with torch.no_grad():
        before = attention(x)
        for place in range(1, len(x)):
            for part in range(x.shape[1]):
                changed = x.clone()
                changed[place, part] += 1.0
                if (attention(changed) - before)[:place].abs().max() > 5e-5:
                    return True
    return False


@sees_the_future.example("adds the next token, times 0.001")
def _():
    yield call(specimen("mixture", matrix=torch.eye(3) + 0.001 * torch.eye(3).roll(1, 1).triu()), torch.eye(3)[:, :2])


@sees_the_future.example("adds the token before")
def _():
    yield call(specimen("mixture", matrix=torch.eye(3) + torch.eye(3).roll(-1, 1).tril()), torch.eye(3)[:, :2])


@sees_the_future.example("only the first output sees the second token")
def _():
    matrix = torch.eye(4)
    matrix[0, 1] = -1.0
    yield call(specimen("mixture", matrix=matrix), torch.ones(4, 2))


@sees_the_future.example("a single token")
def _():
    yield call(specimen("mixture", matrix=torch.full((1, 1), 3.0)), torch.ones(1, 2))


def future(T, ahead=0, outside=-INF):
    """A bias (T, T) for scores: `outside` on keys more than `ahead` places after the query."""
    return torch.zeros(T, T).masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1 + ahead), outside)


def distant(T):
    """bool (T, T): keys more than one place before the query."""
    return torch.ones(T, T, dtype=torch.bool).tril(-2)


def past(draw, T):
    """A random mixture (T, T) of what is not in the future, with both signs."""
    return draw.normal(T, T).tril()


def leaking(draw, T, i, j, size):
    """The same, with a leak: output i holds input j `size` times."""
    matrix = past(draw, T)
    matrix[i, j] = size
    return matrix


@sees_the_future.criterion("right and wrong masks", points=1)
def _(draw):
    T, D = 6, 4
    x = draw.normal(T, D)
    yield call(specimen("biased_attention", bias=future(T)), x)
    yield call(specimen("biased_attention", bias=future(T, ahead=1)), x)
    yield call(specimen("biased_attention", bias=future(T), positions=draw.normal(T, D)), x)
    yield call(specimen("biased_attention", bias=torch.zeros(T, T), gate=torch.ones(T, T).tril()), x)  # after softmax
    yield call(specimen("biased_attention", bias=torch.zeros(T, T)), x)  # no mask
    yield call(specimen("biased_attention", bias=future(T, outside=-5.0)), x)  # a finite fill
    yield call(specimen("biased_attention", bias=future(T).masked_fill(distant(T), -INF)), x)
    for letter in "BCFGH":
        yield call(specimen("suspect", letter=letter), draw.normal(7, 3))


@sees_the_future.criterion("a leak at one place only", points=1)
def _(draw):
    T = draw.integer(5, 8)
    middle = draw.integer(1, T - 2)
    for i, j in ((0, 1), (T - 2, T - 1), (0, T - 1), (middle, middle + 1), (0, T - 2)):
        yield call(specimen("mixture", matrix=leaking(draw, T, i, j, 0.5)), draw.normal(T, 3))
        yield call(specimen("mixture", matrix=past(draw, T)), draw.normal(T, 3))
    # In a longer text than one would try by hand, and in the shortest
    yield call(specimen("mixture", matrix=leaking(draw, 13, 10, 11, -0.5)), draw.normal(13, 2))
    yield call(specimen("mixture", matrix=leaking(draw, 2, 0, 1, -0.5)), draw.normal(2, 5))
    bias = future(9)
    bias[6, 8] = 4.0
    yield call(specimen("biased_attention", bias=bias), draw.normal(9, 4))


@sees_the_future.criterion("a leak in some features only, or one that cancels", points=1)
def _(draw):
    T, D = 5, 4
    one = torch.zeros(D, D)
    one[2, 1] = -1.0  # feature 2 of an input moves feature 1 of an output
    against = torch.eye(D) - torch.ones(D, D) / D + torch.outer(torch.ones(D), torch.tensor([1.0, -1.0, 1.0, -1.0]))
    for features in (one, against):  # the rows of `against` sum to 0, so the parts of an output do
        yield call(specimen("mixture", matrix=leaking(draw, T, 1, 3, 0.7), features=features), draw.normal(T, D))
        yield call(specimen("mixture", matrix=past(draw, T), features=features), draw.normal(T, D))
    # Two outputs that move against each other
    matrix = past(draw, T)
    matrix[1, 3], matrix[2, 3] = 0.4, -0.4
    yield call(specimen("mixture", matrix=matrix), draw.normal(T, D))
    # After a layer norm neither the sum of an output nor its length tells anything
    for ahead in (0, 1):
        bias = future(T, ahead)
        yield call(specimen("biased_attention", bias=bias, normalised=True), draw.normal(T, D))


@sees_the_future.criterion("weak leaks, strong pasts", points=0.5)
def _(draw):
    for size in (2e-4, -2e-4):
        T = draw.integer(6, 9)
        yield call(specimen("mixture", matrix=leaking(draw, T, 1, 3, size)), draw.normal(T, 5))
        yield call(specimen("mixture", matrix=leaking(draw, 5, 2, 4, size)), draw.normal(5, 4, dtype=torch.float64))
    yield call(specimen("mixture", matrix=50.0 * past(draw, 6)), draw.normal(6, 3))
    yield call(specimen("mixture", matrix=past(draw, 6), normalised=True), draw.normal(6, 5, dtype=torch.float64))
    yield call(specimen("mixture", matrix=draw.normal(7, 7).tril(-2)), draw.normal(7, 3))
    yield call(specimen("mixture", matrix=torch.zeros(4, 4)), draw.normal(4, 3))


@sees_the_future.criterion("x is left alone, and one token has no future", points=0.5)
def _(draw):
    yield call(specimen("mixture", matrix=leaking(draw, 5, 2, 3, 0.5)), draw.normal(5, 3)).unchanged()
    yield call(specimen("biased_attention", bias=future(6)), draw.normal(6, 2)).unchanged()
    yield call(specimen("mixture", matrix=draw.normal(1, 1)), draw.normal(1, 4)).unchanged()
    yield call(specimen("biased_attention", bias=torch.zeros(1, 1)), non_contiguous(draw.normal(1, 3)))
    yield call(specimen("biased_attention", bias=future(5, ahead=1)), non_contiguous(draw.normal(5, 3))).unchanged()


@sees_the_future.mistake(
    "Only the last token is changed. A leak may come from any later token, at one place only.",
    shows="a leak at one place only",
    see="8. Catch a leak",
)
def changes_the_last_token_only(attention, x):
    changed = torch.cat([x[:-1], x[-1:] + 1.0])
    return bool((attention(changed) - attention(x))[:-1].abs().gt(1e-5).any())


@sees_the_future.mistake(
    "Only the first output is looked at. Any output may leak.", shows="a leak at one place only", see="8. Catch a leak"
)
def looks_at_the_first_output_only(attention, x):
    jacobian = torch.autograd.functional.jacobian(attention, x)
    return bool((jacobian[0, :, 1:].abs() > 1e-5).any())


@sees_the_future.mistake(
    "Only the next token is tried for each output. A leak may come from further away.",
    shows="a leak at one place only",
    see="8. Catch a leak",
)
def tries_the_next_token_only(attention, x):
    influence = torch.autograd.functional.jacobian(attention, x).abs().amax((1, 3))
    return bool((influence.diagonal(1) > 1e-5).any())


@sees_the_future.mistake(
    "The first tokens alone were tried, not all of them.", shows="a leak at one place only", see="8. Catch a leak"
)
def tries_the_second_token_only(attention, x):
    changed = x.clone()
    changed[1:2] += 1.0
    return bool((attention(changed) - attention(x))[:1].abs().gt(1e-5).any())


@sees_the_future.mistake(
    "It finds functions that depend on the *past*. Which index of the Jacobian is the output, which the input?",
    shows=("right and wrong masks", "a leak at one place only"),
)
def finds_the_past(attention, x):
    influence = torch.autograd.functional.jacobian(attention, x).abs().amax((1, 3))
    return bool((influence.tril(-1) > 1e-5).any())


@sees_the_future.mistake(
    "The diagonal is counted: an output may depend on its own input.",
    shows=("right and wrong masks", "a leak at one place only"),
)
def counts_the_diagonal(attention, x):
    influence = torch.autograd.functional.jacobian(attention, x).abs().amax((1, 3))
    return bool((influence.triu() > 1e-5).any())


@sees_the_future.mistake(
    "All outputs are compared, those at and after the change too: they are meant to move.",
    shows=("right and wrong masks", "a leak at one place only"),
)
def compares_all_outputs(attention, x):
    return any(
        not torch.allclose(attention(torch.cat([x[:j], x[j:] + 1.0])), attention(x), atol=1e-5) for j in range(1, len(x))
    )


@sees_the_future.mistake(
    "It is too forgiving: a leak of 1e-4 per unit of input counts, and is far above rounding.",
    shows="weak leaks, strong pasts",
)
def overlooks_a_thousandth(attention, x):
    influence = torch.autograd.functional.jacobian(attention, x).abs().amax((1, 3))
    return bool((influence.triu(1) > 1e-2).any())


@sees_the_future.mistake(
    "The parts of each output were added up before they were differentiated. They may move against each other: after a "
    "layer norm their sum is always 0.",
    shows="a leak in some features only, or one that cancels",
    see="8. Catch a leak",
)
def adds_up_the_parts_of_an_output(attention, x):
    influence = torch.autograd.functional.jacobian(lambda x: attention(x).sum(1), x)
    return any(bool((influence[i, i + 1 :].abs() > 1e-5).any()) for i in range(len(x)))


@sees_the_future.mistake(
    "The outputs were added up before they were compared: where two of them move against each other, nothing is seen.",
    shows="a leak in some features only, or one that cancels",
    see="8. Catch a leak",
)
def adds_up_the_outputs(attention, x):
    for j in range(1, len(x)):
        changed = x.clone()
        changed[j] += 1.0
        if float((attention(changed) - attention(x))[:j].sum(0).abs().max()) > 5e-5:
            return True
    return False


@sees_the_future.mistake(
    "Only the first feature of each token is changed, and only the first of each output looked at. A leak may go "
    "through any of them.",
    shows="a leak in some features only, or one that cancels",
)
def watches_the_first_feature_only(attention, x):
    jacobian = torch.autograd.functional.jacobian(attention, x)[:, 0, :, 0]
    return bool((jacobian.abs().triu(1) > 1e-5).any())


@sees_the_future.mistake(
    "Negative influence is not seen: take the magnitude before you ask whether it is large.",
    shows=("a leak at one place only", "weak leaks, strong pasts"),
)
def forgets_the_sign(attention, x):
    influence = torch.autograd.functional.jacobian(attention, x).amax((1, 3))
    return bool((influence.triu(1) > 1e-5).any())


@sees_the_future.mistake(
    "*Every* output must leak before it says so. One is enough.",
    shows=("a leak at one place only", "a leak in some features only, or one that cancels"),
)
def asks_whether_all_leak(attention, x):
    influence = torch.autograd.functional.jacobian(attention, x).abs().amax((1, 3))
    return len(x) > 1 and all(bool((influence[i, i + 1 :] > 1e-5).any()) for i in range(len(x) - 1))


@sees_the_future.mistake(
    "NaN was put into the future, and it always spreads: the weight of a blocked key is 0, and 0 · NaN is NaN.",
    shows=("right and wrong masks", "a leak at one place only"),
    see="8. Catch a leak",
)
def injects_nan(attention, x):
    for j in range(1, len(x)):
        changed = x.clone()
        changed[j:] = float("nan")
        if attention(changed)[:j].isnan().any():
            return True
    return False


@sees_the_future.mistake(
    "The text was cut off and the outputs compared. That asks whether the function does the same on a shorter text, and "
    "it need not even take one.",
    shows=("right and wrong masks", "a leak at one place only"),
    see="8. Catch a leak",
)
def cuts_the_text_off(attention, x):
    return any(not torch.allclose(attention(x[:n]), attention(x)[:n], atol=1e-5) for n in range(1, len(x)))


@sees_the_future.mistake(
    "The answer is a tensor. Return a plain `True` or `False`: `bool(...)` makes one of it.",
    shows=("right and wrong masks", "a leak at one place only"),
)
def answers_with_a_tensor(attention, x):
    influence = torch.autograd.functional.jacobian(attention, x).abs().amax((1, 3))
    return (influence.triu(1) > 1e-5).any()


@sees_the_future.mistake(
    "`x` is not what it was before the call. Change a copy: `x.clone()`.",
    shows="x is left alone, and one token has no future",
)
def changes_x(attention, x):
    before, found = attention(x), False
    for j in range(len(x) - 1, 0, -1):
        x[j] += 1.0
        found |= bool((attention(x) - before)[:j].abs().gt(1e-5).any())
    return found


@sees_the_future.mistake(
    "It fails for a text of one token, which has no future: the answer is False.",
    shows="x is left alone, and one token has no future",
)
def fails_on_one_token(attention, x):
    influence = torch.autograd.functional.jacobian(attention, x).abs().amax((1, 3))
    rows, columns = torch.triu_indices(len(x), len(x), 1)
    return bool(influence[rows, columns].max() > 1e-5)


@sees_the_future.mistake(
    "True and False are exchanged. True is for a function that *does* leak.",
    shows=("right and wrong masks", "a leak at one place only"),
)
def says_the_opposite(attention, x):
    influence = torch.autograd.functional.jacobian(attention, x).abs().amax((1, 3))
    return not bool((influence.triu(1) > 1e-5).any())


@sees_the_future.mistake(
    "It says True of functions in which nothing leaks. Try it on one that adds to each token the one *before* it.", shows=("right and wrong masks", "a leak at one place only")
)
def always_true(attention, x):
    return True


@sees_the_future.mistake(
    "It says False of functions that leak. Try it on one that adds to each token the one after it.", shows=("right and wrong masks", "a leak at one place only")
)
def always_false(attention, x):
    return False


@sees_the_future.alternative
def token_by_token(attention, x):
    before = attention(x)
    for j in range(1, x.shape[0]):
        for bump in torch.eye(x.shape[1], dtype=x.dtype, device=x.device):
            changed = x.clone()
            changed[j] = changed[j] + bump
            if not torch.allclose(attention(changed)[:j], before[:j], rtol=0.0, atol=5e-5):
                return True
    return False


@sees_the_future.alternative
def the_whole_future_at_once(attention, x):
    noise = 10 * torch.randn_like(x)
    for i in range(len(x) - 1):
        later = torch.arange(len(x), device=x.device)[:, None] > i
        if (attention(torch.where(later, noise, x))[i] - attention(x)[i]).abs().max().item() > 1e-5:
            return True
    return False


@sees_the_future.alternative
def jacobian_by_reverse_mode(attention, x):
    T = x.size(0)
    J = torch.func.jacrev(attention)(x.detach())
    seen = J.permute(0, 2, 1, 3).reshape(T, T, -1).abs().sum(-1)
    return seen.triu(diagonal=1).sum().item() > 5e-5


@sees_the_future.alternative
def jacobian_by_forward_mode(attention, x):
    J = torch.func.jacfwd(attention)(x)
    later = torch.ones(len(x), len(x), dtype=torch.bool, device=x.device).triu(1)
    return bool(J.movedim(2, 1)[later].ne(0).any())


@sees_the_future.alternative
def one_part_of_an_output_at_a_time(attention, x):
    leaf = x.detach().clone().requires_grad_()
    for i, output in enumerate(attention(leaf)):
        for part in output:
            (gradient,) = torch.autograd.grad(part, leaf, retain_graph=True)
            if gradient[i + 1 :].abs().gt(1e-6).any():
                return True
    return False


@sees_the_future.alternative
def with_random_cotangents(attention, x):
    y, back = torch.func.vjp(attention, x.detach())
    for i in range(len(x) - 1):
        for _ in range(3):
            push = torch.zeros_like(y)
            push[: i + 1] = torch.randn_like(y[: i + 1])
            if float(back(push)[0][i + 1 :].abs().amax()) > 1e-7:
                return True
    return False


@sees_the_future.alternative
def all_changes_in_one_batch(attention, x):
    T = len(x)
    if T == 1:
        return False
    shifts = torch.eye(T, dtype=x.dtype, device=x.device)[1:, :, None]
    moved = (torch.vmap(attention)(x + 100.0 * shifts) - attention(x)).abs().amax(-1)
    return any(bool((moved[j - 1, :j] > 1e-4).any()) for j in range(1, T))
