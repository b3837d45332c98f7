"""Lesson 04: how widely scores spread, softmax's gradient, scaled attention, and its module with dropout."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from grading.judge.exercise import (
    SUBJECT,
    Script,
    call,
    exercise,
    helper,
    method,
    non_contiguous,
    ref,
)

BUILT_IN = (".*scaled_dot_product.*attention.*", ".*multi_head_attention.*")
ROWS = "Is it a bug? The rows no longer sum to 1"


def next_to_nothing(seen, exact):
    """For results that are 0 on paper: a guard such as sqrt(x + 1e-8) is a matter of taste."""
    found = seen.values["result"]
    if found.shape != ():
        return f"the result has shape {tuple(found.shape)}, and must have ()"
    if torch.isnan(found):
        return "the result is NaN"
    return None if found.abs() < 1e-3 else "the result is far too large"


# --------------------------------------------------------------------------------------------------------------------
score_std = exercise("score_std", points=4, see="1. How widely do scores spread?", forbidden=BUILT_IN)
score_std.hints = (
    "How many scores are there for T queries and S keys, and for a batch of such problems? All of them "
    "count, so the result is one number, of shape ().",
    "First every query with every key: a matrix product that keeps the leading dimensions, for which the "
    "last two dimensions of the keys change places. Then the spread of all its entries together. Which "
    "number does your function for the standard deviation divide by?",
    "`scores = ...`, a matrix product of shape `(..., T, S)`; `return ...`, the standard deviation of all its entries, "
    "with the option that makes it divide by n and not by n - 1.",
)


@score_std.oracle
def score_std_oracle(query, key):
    scores = torch.einsum("...tk,...sk->...ts", query, key)
    return (scores - scores.mean()).square().mean().sqrt()


@score_std.example("on paper")
def _():
    yield call(torch.tensor([[1.0, 2.0], [1.0, -2.0]]), torch.tensor([[1.0, 1.0], [1.0, -1.0]]))


@score_std.example("three numbers wide, two queries, three keys")
def _():
    query = torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])
    key = torch.tensor([[1.0, 1.0, 0.0], [2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])
    yield call(query, key)


@score_std.example("a batch of two, one number for all of it")
def _():
    query = torch.tensor([[[1.0, 1.0]], [[2.0, 0.0]]])
    key = torch.tensor([[[1.0, 2.0], [0.0, 1.0]], [[3.0, 0.0], [1.0, 5.0]]])
    yield call(query, key).with_gradients()


# Queries and keys are shifted, so that the mean of the scores is not 0 and has to be taken off.
@score_std.criterion("one set of queries and keys", points=1)
def _(draw):
    yield call(draw.normal(3, 4) + 0.7, draw.normal(5, 4) + 0.5)
    yield call(draw.normal(1, 6), draw.normal(4, 6) - 0.5)
    yield call(draw.normal(5, 1), draw.normal(2, 1))
    yield call(non_contiguous(draw.normal(4, 3)) + 0.5, non_contiguous(draw.normal(2, 3) - 1.0))
    yield call(draw.normal(6, 300, scale=3.0), draw.normal(7, 300))


@score_std.criterion("over a whole batch", points=1)
def _(draw):
    yield call(draw.normal(2, 3, 4) + 0.7, draw.normal(2, 5, 4) + 0.5)
    shift = torch.tensor([-2.0, 0.0, 3.0])[:, None, None]  # batch elements of very different means
    yield call(draw.normal(3, 1, 2) + shift, draw.normal(3, 4, 2) + 1.0)
    yield call(draw.normal(3, 2, 5, 6), non_contiguous(draw.normal(3, 2, 4, 6)))
    yield call(*(draw.normal(3, n, 2, 6).transpose(1, 2) + 0.5 for n in (5, 4)))
    yield call(draw.normal(1, 2, 3, 2, 5) + 0.5, draw.normal(1, 2, 3, 4, 5))


@score_std.criterion("where there is no spread", points=0.5)
def _(draw):
    yield call(draw.normal(1, 5), draw.normal(1, 5)).holding(next_to_nothing)
    yield call(torch.zeros(2, 3, 4), draw.normal(2, 5, 4)).holding(next_to_nothing)


@score_std.criterion("gradients", points=1)
def _(draw):
    yield call(draw.normal(3, 4) + 0.7, draw.normal(5, 4)).with_gradients()
    yield call(draw.normal(2, 3, 2, 6), draw.normal(2, 3, 5, 6) - 0.5).with_gradients()


@score_std.criterion("float64, and arguments left as they were", points=0.5)
def _(draw):
    query, key = (draw.normal(2, n, 4, dtype=torch.float64) + 0.6 for n in (3, 5))
    yield call(query, key).unchanged()
    yield call(draw.normal(3, 4), draw.normal(5, 4)).unchanged()


@score_std.mistake(
    "A little too large: your standard deviation divides by n - 1, which estimates the spread of a larger "
    "population. Here the n scores are all there is. PyTorch has an option for that.",
    shows=("one set of queries and keys", "over a whole batch", "where there is no spread"),
    see="Your first instrument",
)
def divides_by_n_minus_1(query, key):
    return torch.std(query @ key.transpose(-2, -1))


@score_std.mistake(
    "This is the *variance*. Its unit is that of a squared score; the standard deviation is its root.",
    shows=("one set of queries and keys", "gradients"),
    see="Your first instrument",
)
def variance(query, key):
    return torch.var(query @ key.transpose(-2, -1), correction=0)


@score_std.mistake(
    "These scores were scaled. Here the question is how widely they spread *before* anything is done to them.",
    shows="one set of queries and keys",
)
def of_scaled_scores(query, key):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores.std(correction=0)


@score_std.mistake(
    "These scores were divided by the width of the vectors. Here the question is how widely they spread *before* "
    "anything is done to them.",
    shows="one set of queries and keys",
)
def of_scores_over_the_width(query, key):
    return (query @ key.transpose(-2, -1) / query.shape[-1]).std(correction=0)


@score_std.mistake(
    "One number for each query: the standard deviation was taken along the last dimension only. All scores "
    "count together, and the result has shape ().",
    shows=("one set of queries and keys", "over a whole batch"),
)
def one_for_each_query(query, key):
    return (query @ key.transpose(-2, -1)).std(dim=-1, correction=0)


@score_std.mistake(
    "This is the mean of the queries' own spreads. What sets the queries apart from one another is lost that "
    "way: take the standard deviation over all scores at once.",
    shows="one set of queries and keys",
)
def mean_over_queries(query, key):
    return (query @ key.transpose(-2, -1)).std(dim=-1, correction=0).mean()


@score_std.mistake(
    "One number for each batch element: all scores of the whole batch count together.",
    shows="over a whole batch",
)
def one_for_each_batch_element(query, key):
    return (query @ key.transpose(-2, -1)).std(dim=(-2, -1), correction=0)


@score_std.mistake(
    "This is the mean of the batch elements' own spreads. What sets the elements apart from one another is "
    "lost that way: take the standard deviation over all scores at once.",
    shows="over a whole batch",
)
def mean_over_the_batch(query, key):
    return (query @ key.transpose(-2, -1)).std(dim=(-2, -1), correction=0).mean()


@score_std.mistake(
    "Queries meet the keys of *other* batch elements here: when the batch is flattened into one long list, "
    "every query is dotted with every key of all of it.",
    shows="over a whole batch",
)
def across_the_batch(query, key):
    scores = query.reshape(-1, query.shape[-1]) @ key.reshape(-1, key.shape[-1]).T
    return scores.std(correction=0)


@score_std.mistake(
    "`.T` turns all dimensions around, the batch as well. Only the last two may change places.",
    shows="over a whole batch",
)
def turns_all_dimensions(query, key):
    return (query @ key.permute(*reversed(range(key.ndim)))).std(correction=0)


@score_std.mistake(
    "The mean of the scores was not taken off: this is how far they lie from 0, on average, and not from "
    "their own mean.",
    shows=("one set of queries and keys", "where there is no spread"),
    see="Your first instrument",
)
def about_zero(query, key):
    return (query @ key.transpose(-2, -1)).square().mean().sqrt()


@score_std.mistake(
    "This is the mean *absolute* deviation. The standard deviation squares the deviations, takes their mean, "
    "and then the root.",
    shows="one set of queries and keys",
    see="Your first instrument",
)
def absolute_deviation(query, key):
    scores = query @ key.transpose(-2, -1)
    return (scores - scores.mean()).abs().mean()


@score_std.mistake(
    "The scores were *expected* to spread like this, if queries and keys were independent random numbers. "
    "Measure those at hand.",
    shows=("one set of queries and keys", "gradients"),
    see="5. Where the square root comes from",
)
def expected_rather_than_measured(query, key):
    return query.std(correction=0) * key.std(correction=0) * query.shape[-1] ** 0.5


@score_std.mistake(
    "A number of Python's, not a tensor: `.item()` and `float()` leave the tensors behind, and the gradient with them.",
    shows=("one set of queries and keys", "gradients"),
)
def plain_number(query, key):
    return (query @ key.transpose(-2, -1)).std(correction=0).item()


@score_std.mistake(
    "No gradient comes back: the scores were detached, or made where gradients are off.",
    shows="gradients",
)
def without_gradient(query, key):
    return (query @ key.transpose(-2, -1)).detach().std(correction=0)


@score_std.mistake(
    "The weights' spread, not the scores': there is no softmax in this exercise.",
    shows=("one set of queries and keys", "over a whole batch"),
)
def of_the_weights(query, key):
    return torch.softmax(query @ key.transpose(-2, -1), dim=-1).std(correction=0)


@score_std.alternative
def by_loops(query, key):
    width = query.shape[-1]
    pairs = zip(query.reshape(-1, *query.shape[-2:]), key.reshape(-1, *key.shape[-2:]), strict=True)
    scores = [(q * k).sum() for qs, ks in pairs for q in qs.reshape(-1, width) for k in ks]
    mean = sum(scores) / len(scores)
    return torch.sqrt(sum((s - mean) ** 2 for s in scores) / len(scores))


@score_std.alternative
def by_broadcasting_and_variance(query, key):
    scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(dim=-1)
    return torch.var(scores, unbiased=False).sqrt()


@score_std.alternative
def mean_of_squares_less_square_of_mean(query, key):
    scores = torch.matmul(query, key.mT).flatten()
    return (scores.square().mean() - scores.mean().square()).clamp_min(0).sqrt()


@score_std.alternative
def length_of_what_is_left(query, key):
    scores = torch.einsum("...ik,...jk->...ij", query, key)
    return torch.linalg.vector_norm(scores - scores.mean()) / math.sqrt(scores.numel())


@score_std.alternative
def from_all_pairs_of_scores(query, key):
    scores = torch.matmul(query, torch.swapaxes(key, -1, -2)).reshape(-1)
    return ((scores[:, None] - scores[None, :]).pow(2).mean() / 2).sqrt()


@score_std.alternative
def mapped_over_the_batch(query, key):
    each = torch.vmap(torch.vmap(torch.mv, in_dims=(None, 0)))  # over the batch, then over the queries
    scores = each(key.flatten(0, -3), query.flatten(0, -3)) if query.ndim > 2 else query.mm(key.t())
    return torch.std_mean(scores, dim=list(range(scores.ndim)), correction=0)[0]


# --------------------------------------------------------------------------------------------------------------------
softmax_gradient_norm = exercise(
    "softmax_gradient_norm",
    points=5,
    see="3. What saturation does to the gradient",
    forbidden=BUILT_IN,
)
softmax_gradient_norm.hints = (
    "The table J has a row for every weight and a column for every score. Which S entries follow one "
    "rule, and which follow the other?",
    "Both rules can be written as one: from a matrix that holds the weights on its diagonal and 0 "
    "elsewhere, take away the matrix of all products $w_i w_j$. Then square everything, add, and take "
    "the root.",
    "`weights = ...`, the softmax; `jacobian = ... - ...`, a diagonal matrix minus an outer product, `(S, S)`; "
    "`return ...`, its Frobenius norm, which PyTorch has too.",
)


@softmax_gradient_norm.oracle
def softmax_gradient_norm_oracle(scores):
    # From the entries: sum w_i^2 (1 - w_i)^2 + sum_{i != j} w_i^2 w_j^2 = s2 - 2 s3 + s2^2, s_n = sum w_i^n.
    # Of the right formulas this one loses most to cancellation, so its noise makes room for the others.
    weights = torch.softmax(scores, dim=0)
    squares = weights.pow(2).sum()
    return (squares - 2 * weights.pow(3).sum() + squares.pow(2)).clamp_min(0).sqrt()


@softmax_gradient_norm.example("on paper: two equal scores")
def _():
    yield call(torch.tensor([0.0, 0.0]))


@softmax_gradient_norm.example("on paper: 0 and log 3")
def _():
    yield call(torch.tensor([0.0, math.log(3.0)]))


@softmax_gradient_norm.example("three scores, and the gradient of the norm")
def _():
    yield call(torch.tensor([1.0, -0.5, 0.0])).with_gradients()


@softmax_gradient_norm.example("large scores")
def _():
    yield call(torch.tensor([1000.0, 1000.0, 998.0]))


# Scores of moderate spread in float32: formulas that are all right differ by their cancellation where one weight
# is nearly 1 (w (1 - w) there loses a factor 1 / (1 - w) of precision). In float64 there is room for more.
@softmax_gradient_norm.criterion("the norm", points=1.5)
def _(draw):
    yield call(draw.normal(5))
    yield call(draw.normal(2))
    yield call(draw.normal(40, scale=0.7) - 3.0)
    yield call(torch.full((6,), draw.number(-2.0, 2.0)))
    yield call(non_contiguous(draw.normal(7)))


@softmax_gradient_norm.criterion("its own gradient", points=1.5)
def _(draw):
    yield call(draw.normal(6)).with_gradients()
    yield call(draw.normal(3) + 1.0).with_gradients()
    yield call(non_contiguous(draw.normal(9, dtype=torch.float64))).with_gradients()


# Quarters around 200 (1000 in float64), where exponentials overflow or vanish, are exact, so the weights are what they
# would be around 0; a formula by way of logsumexp, which rounds at that size, stays within the usual tolerance.
@softmax_gradient_norm.criterion("large scores", points=1)
def _(draw):
    few = torch.tensor([0.0, 0.25, -0.75, 1.5, -1.0])[draw.permutation(5)]
    yield call(few + 200.0)
    yield call(few - 200.0).with_gradients()
    yield call(few.double() + 1000.0)
    yield call(torch.tensor([300.0, 299.5, -2000.0, 0.0])[draw.permutation(4)]).with_gradients()
    yield call(draw.normal(5) + 4e3 * torch.arange(5.0)).holding(next_to_nothing)


@softmax_gradient_norm.criterion("a single score", points=0.5)
def _(draw):
    yield call(draw.normal(1)).holding(next_to_nothing)


@softmax_gradient_norm.criterion("float64, and arguments left as they were", points=0.5)
def _(draw):
    yield call(draw.normal(8, scale=2.0, dtype=torch.float64)).unchanged()
    yield call(draw.normal(4)).unchanged()


@softmax_gradient_norm.mistake(
    "The root is missing: this is the sum of the squares.", shows=("the norm", "its own gradient")
)
def without_the_root(scores):
    weights = torch.softmax(scores, dim=-1)
    return (torch.diag(weights) - torch.outer(weights, weights)).square().sum()


@softmax_gradient_norm.mistake(
    "Only the diagonal was counted. A score moves the *other* weights too: they give up what this one gains.",
    shows=("the norm", "its own gradient"),
)
def diagonal_only(scores):
    weights = torch.softmax(scores, dim=-1)
    return torch.linalg.norm(weights * (1 - weights))


@softmax_gradient_norm.mistake(
    "Beside the diagonal the entries are right; on it the weight itself is missing from the formula.",
    shows=("the norm", "its own gradient", "a single score"),
)
def products_only(scores):
    weights = torch.softmax(scores, dim=-1)
    return torch.linalg.norm(torch.outer(weights, weights))


@softmax_gradient_norm.mistake(
    "A sign: raising one score takes from the other weights, so the products are *subtracted*.",
    shows=("the norm", "its own gradient", "a single score"),
)
def adds_the_products(scores):
    weights = torch.softmax(scores, dim=-1)
    return torch.linalg.norm(torch.diag(weights) + torch.outer(weights, weights))


@softmax_gradient_norm.mistake(
    "Another norm: this is the largest factor by which J stretches a vector, which is what a *matrix* norm of "
    "order 2 means. The Frobenius norm is the length of all its entries.",
    shows=("the norm", "its own gradient"),
)
def spectral_norm(scores):
    weights = torch.softmax(scores, dim=-1)
    jacobian = torch.diag(weights) - torch.outer(weights, weights)
    return torch.linalg.matrix_norm(jacobian, ord=2)


@softmax_gradient_norm.mistake(
    "The absolute values were added. The Frobenius norm squares, adds, and takes the root.",
    shows=("the norm", "its own gradient"),
)
def sum_of_absolute_values(scores):
    weights = torch.softmax(scores, dim=-1)
    return (torch.diag(weights) - torch.outer(weights, weights)).abs().sum()


@softmax_gradient_norm.mistake(
    "A mean where a sum should be: the length of a vector grows with the number of its entries.",
    shows=("the norm", "its own gradient"),
)
def mean_of_the_squares(scores):
    weights = torch.softmax(scores, dim=-1)
    return (torch.diag(weights) - torch.outer(weights, weights)).square().mean().sqrt()


@softmax_gradient_norm.mistake(
    "The gradient of the *sum* of the weights is 0 for any scores, since they always sum to 1. The table has one "
    "row for each weight; it cannot be had from one backward pass through their sum.",
    shows=("the norm", "its own gradient"),
)
def gradient_of_the_sum(scores):
    x = scores if scores.requires_grad else scores.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(torch.softmax(x, dim=-1).sum(), x, create_graph=True)
    return gradient.norm()


@softmax_gradient_norm.mistake(
    "A number of Python's, not a tensor: `.item()` and `float()` leave the tensors behind, and the gradient with them.",
    shows=("the norm", "its own gradient"),
)
def plain_norm(scores):
    weights = torch.softmax(scores, dim=-1)
    return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights)).item()


@softmax_gradient_norm.mistake(
    "The whole table is returned. What is asked for is its norm, one number.",
    shows=("the norm", "its own gradient"),
)
def the_table_itself(scores):
    weights = torch.softmax(scores, dim=-1)
    return torch.diag(weights) - torch.outer(weights, weights)


@softmax_gradient_norm.mistake(
    "The norm is right, and no gradient comes back from it: the table was detached. By default autograd builds a "
    "Jacobian as plain numbers; it has an option to keep the graph.",
    shows="its own gradient",
)
def table_without_a_graph(scores):
    jacobian = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, dim=-1), scores)
    return torch.linalg.norm(jacobian)


@softmax_gradient_norm.mistake(
    "This is the table of log-softmax. Its rows lack the factor $w_i$.",
    shows=("the norm", "its own gradient"),
)
def of_log_softmax(scores):
    weights = torch.softmax(scores, dim=-1)
    return torch.linalg.norm(torch.eye(len(scores)).to(scores) - weights)


@softmax_gradient_norm.mistake(
    "This is the length of the weights themselves. The question is how fast they move with the scores.",
    shows=("the norm", "its own gradient", "a single score"),
)
def length_of_the_weights(scores):
    return torch.linalg.norm(torch.softmax(scores, dim=-1))


@softmax_gradient_norm.mistake(
    "Nudging the scores by a small step is close, but not close enough: the step is too long for the formula and "
    "too short for the rounding of float32.",
    shows=("the norm", "its own gradient"),
)
def by_nudging(scores, step=0.01):
    weights = torch.softmax(scores, dim=-1)
    moved = torch.softmax(scores + step * torch.eye(len(scores)).to(scores), dim=-1)
    return torch.linalg.norm((moved - weights) / step)


@softmax_gradient_norm.mistake(
    "NaN for large scores: their exponentials are more than a float can hold. What may be taken off all scores "
    "without changing a weight?",
    shows="large scores",
)
def overflows(scores):
    weights = scores.exp() / scores.exp().sum()
    return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))


@softmax_gradient_norm.mistake(
    "The scores were moved in place, so whoever called you finds theirs changed. Work on a new tensor.",
    shows=("its own gradient", "float64, and arguments left as they were"),
)
def moves_the_scores(scores):
    scores -= scores.max()
    weights = scores.exp() / scores.exp().sum()
    return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))


@softmax_gradient_norm.alternative
def by_autograd_functional(scores):
    table = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, 0), scores, create_graph=True)
    return table.norm()


@softmax_gradient_norm.alternative
def by_jacrev(scores):
    return torch.func.jacrev(nn.Softmax(dim=0))(scores).square().sum().sqrt()


@softmax_gradient_norm.alternative
def by_jacfwd_through_the_logarithm(scores):
    table = torch.func.jacfwd(lambda x: F.log_softmax(x, dim=0).exp())(scores)
    return torch.linalg.matrix_norm(table, ord="fro")


@softmax_gradient_norm.alternative
def one_row_at_a_time(scores):
    x = scores if scores.requires_grad else scores.detach().clone().requires_grad_()
    weights = (x - x.logsumexp(0)).exp()
    rows = [torch.autograd.grad(w, x, create_graph=True)[0] for w in weights]
    return torch.stack(rows).flatten().pow(2).sum().pow(0.5)


@softmax_gradient_norm.alternative
def entry_by_entry(scores):
    weights = torch.exp(scores - torch.amax(scores))
    weights = weights / weights.sum()
    total = 0.0
    for i, a in enumerate(weights):
        for j, b in enumerate(weights):
            total = total + (a * (1 - a) if i == j else -a * b) ** 2
    return torch.sqrt(total)


@softmax_gradient_norm.alternative
def root_of_a_trace(scores):
    weights = scores.softmax(-1)
    table = weights.unsqueeze(1) * (torch.eye(scores.numel(), dtype=scores.dtype) - weights)
    return torch.trace(table @ table.T).clamp(min=0).sqrt()


@softmax_gradient_norm.alternative
def by_vector_jacobian_products(scores):
    _, back = torch.func.vjp(lambda x: torch.softmax(x, dim=-1), scores)
    (table,) = torch.vmap(back)(torch.eye(len(scores), dtype=scores.dtype))
    return torch.einsum("ij,ij->", table, table) ** 0.5


# --------------------------------------------------------------------------------------------------------------------
scaled_dot_product_attention = exercise(
    "scaled_dot_product_attention",
    points=6,
    see="6. Scaled dot-product attention",
    forbidden=BUILT_IN,
)
scaled_dot_product_attention.hints = (
    "Of the three steps of attention, scores, weights, sum, between which two does the scale belong? And what is "
    "`scale or something` if `scale` is 0.0?",
    "Only `None` stands for the default. The width K is the last dimension of the query that you were given, "
    "whatever stands before it; the scale multiplies all scores, before the softmax over the keys.",
    "`if scale is ...: scale = ...`; `scores = ... * scale`, of shape `(..., T, S)`; `weights = ...`, the softmax over "
    "the last dimension; `return ..., weights`, where the first is `(..., T, V)`.",
)


@scaled_dot_product_attention.oracle
def scaled_dot_product_attention_oracle(query, key, value, scale=None):
    factor = 1.0 / math.sqrt(query.size(-1)) if scale is None else scale
    weights = torch.einsum("...tk,...sk->...ts", query, key).mul(factor).softmax(dim=-1)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights


ON_PAPER = (
    torch.tensor([[2.0, 0.0, 0.0, 0.0]]),
    torch.tensor([[math.log(3.0), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
    torch.tensor([[8.0], [4.0]]),
)


@scaled_dot_product_attention.example("on paper")
def _():
    yield call(*ON_PAPER).unchanged()


@scaled_dot_product_attention.example("with scale=0.0")
def _():
    yield call(*ON_PAPER, scale=0.0)


@scaled_dot_product_attention.example("with scale=1.0")
def _():
    yield call(*ON_PAPER, scale=1.0)


@scaled_dot_product_attention.example("a batch of two, two queries, three keys")
def _():
    query = torch.tensor([[[1.0, 2.0], [0.0, -1.0]], [[2.0, 0.0], [1.0, 1.0]]])
    key = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [[-1.0, 0.0], [0.0, 2.0], [1.0, 0.0]]])
    value = torch.tensor([[[1.0], [2.0], [4.0]], [[3.0], [0.0], [6.0]]])
    yield call(query, key, value).with_gradients()


@scaled_dot_product_attention.example("two leading dimensions, and wide vectors")
def _():
    query, key, value = (
        torch.sin(step * torch.arange(2.0 * 3 * n * m)).reshape(2, 3, n, m)
        for step, n, m in ((1.0, 2, 36), (1.3, 5, 36), (0.7, 5, 4))
    )
    yield call(query, key, value)


def three(draw, *lead, T=3, S=5, K=6, V=2, dtype=torch.float32):
    """Query, key and value."""
    return tuple(draw.normal(*lead, *shape, dtype=dtype) for shape in ((T, K), (S, K), (S, V)))


@scaled_dot_product_attention.criterion("the default scale, at any width", points=1.5)
def _(draw):
    yield call(*three(draw))
    yield call(*three(draw, T=4, S=3, K=64, V=2))
    yield call(*three(draw, T=5, S=4, K=1, V=3))
    yield call(*three(draw, T=1, S=6, K=9, V=1))
    yield call(*three(draw, T=3, S=1, K=2, V=4))


@scaled_dot_product_attention.criterion("any leading dimensions", points=1)
def _(draw):
    yield call(*three(draw, 2, K=7))
    yield call(*three(draw, 2, 7, T=4, K=3))
    yield call(*(non_contiguous(x) for x in three(draw, 3, 2, K=8)))
    # heads cut out of wider vectors: (2, T, heads, K), then heads and positions change places
    yield call(*(draw.normal(2, n, 3, m).transpose(1, 2) for n, m in ((4, 6), (5, 6), (5, 2))))
    yield call(*three(draw, 2, 1, 3, T=1, S=4, K=5, V=2))


@scaled_dot_product_attention.criterion("a given scale", points=1)
def _(draw):
    yield call(*three(draw), scale=draw.number(0.15, 0.3))
    yield call(*three(draw, 2, 3, K=9), scale=draw.number(1.5, 2.5))
    yield call(*three(draw, 2), scale=1.0)
    yield call(*three(draw, 3), -draw.number(0.5, 0.9))


@scaled_dot_product_attention.criterion("a scale of zero", points=0.5)
def _(draw):
    yield call(*three(draw), scale=0.0)
    yield call(*three(draw, 2, 3), scale=0.0)


@scaled_dot_product_attention.criterion("gradients", points=1)
def _(draw):
    yield call(*three(draw)).with_gradients()
    yield call(*three(draw, 2, 3, K=8)).with_gradients()
    yield call(*three(draw, 2), scale=draw.number(0.6, 0.9)).with_gradients()


# Small whole numbers, and one large number in each vector: the scores stand around 196 in one row and around -196 in
# the next, where exponentials overflow or vanish, with one maximum taken off all rows too. Every order of operations
# gives them without rounding (K = 16 has a whole root).
@scaled_dot_product_attention.criterion("large scores", points=0.5)
def _(draw):
    query, key = (draw.integers(-2, 3, n, 16).float() for n in (4, 5))
    query[:, 0], key[:, 0] = torch.tensor([28.0, -28.0, 28.0, -28.0])[draw.permutation(4)], 28.0
    yield call(query, key, draw.normal(5, 3))


# K = 16, so that a factor that was computed in float32 is exact nevertheless
@scaled_dot_product_attention.criterion("float64, and arguments left as they were", points=0.5)
def _(draw):
    yield call(*three(draw, 2, K=16, dtype=torch.float64)).unchanged()
    yield call(*three(draw)).unchanged()
    yield call(*three(draw), scale=0.5).unchanged()


@scaled_dot_product_attention.mistake(
    "The scores are not scaled by default. They spread more the wider the vectors are; which factor takes that back?",
    shows=("the default scale, at any width", "any leading dimensions"),
)
def not_scaled_by_default(query, key, value, scale=None):
    scores = query @ key.transpose(-2, -1) * (1.0 if scale is None else scale)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "The default scale is a fixed number, 1/8, which is right for vectors of 64 numbers. It depends on the width of "
    "those at hand.",
    shows=("the default scale, at any width", "any leading dimensions"),
)
def made_for_a_width_of_64(query, key, value, scale=None):
    scores = query @ key.transpose(-2, -1) * (0.125 if scale is None else scale)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "The future is blocked, as in a language model. Here every query sees every key.",
    shows=("the default scale, at any width", "any leading dimensions"),
)
def blocks_the_future(query, key, value, scale=None):
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    weights = torch.softmax(scores.masked_fill(torch.ones_like(scores).triu(1).bool(), float("-inf")), dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "The keys are multiplied with the queries: the scores lie on their side. Rows are queries: query @ keyᵀ.",
    shows=("the default scale, at any width", "any leading dimensions"),
)
def keys_times_queries(query, key, value, scale=None):
    scores = key @ query.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "Divided by the width itself rather than by its root: the scores become too small, the weights too equal.",
    shows=("the default scale, at any width", "any leading dimensions"),
    see="And why not divide by $K$?",
)
def divided_by_the_width(query, key, value, scale=None):
    scale = 1 / query.shape[-1] if scale is None else scale
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "*Multiplied* by the root of the width, which makes wide scores wider still: K times too large.",
    shows=("the default scale, at any width", "any leading dimensions"),
    see="9. Seen in the wild",
)
def multiplied_by_the_root(query, key, value, scale=None):
    scale = query.shape[-1] ** 0.5 if scale is None else scale
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "Scaled by the number of keys. A score is a sum over the *width*; how many other scores there are does not "
    "change how large it is.",
    shows=("the default scale, at any width", "any leading dimensions"),
)
def by_the_number_of_keys(query, key, value, scale=None):
    scale = key.shape[-2] ** -0.5 if scale is None else scale
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "Scaled by the width of the values, which takes no part in the scores.",
    shows=("the default scale, at any width", "any leading dimensions"),
)
def by_the_width_of_the_values(query, key, value, scale=None):
    scale = value.shape[-1] ** -0.5 if scale is None else scale
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "Right without a batch and wrong with one: dimension 1 is the width only for a single set of queries. Count from "
    "the end.",
    shows="any leading dimensions",
)
def by_dimension_one(query, key, value, scale=None):
    scale = query.shape[1] ** -0.5 if scale is None else scale
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "Scaled by the width of the whole model, heads times K, the commonest bug of all. What counts is the width of the "
    "queries that you are given.",
    shows="any leading dimensions",
    see="9. Seen in the wild",
)
def by_the_width_of_the_model(query, key, value, scale=None):
    heads = query.shape[-3] if query.ndim > 2 else 1
    scale = (heads * query.shape[-1]) ** -0.5 if scale is None else scale
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "`scale=0.0` is taken for a scale that was not given: 0.0 counts as false in Python, so `scale or …` does not see "
    "it. Only None stands for the default.",
    shows="a scale of zero",
    see="9. Seen in the wild",
)
def zero_taken_for_none(query, key, value, scale=None):
    scale = scale or query.shape[-1] ** -0.5
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake("The argument `scale` is not used.", shows=("a given scale", "a scale of zero"))
def scale_not_used(query, key, value, scale=None):
    weights = torch.softmax(query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "The scores were *divided* by the given scale. It is a factor: 0.5 makes them half as large.",
    shows=("a given scale", "a scale of zero"),
)
def divided_by_the_scale(query, key, value, scale=None):
    divisor = query.shape[-1] ** 0.5 if scale is None else scale
    weights = torch.softmax(query @ key.transpose(-2, -1) / divisor, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "A given scale comes on top of the root of the width. Given, it takes the place of the default.",
    shows="a given scale",
)
def both_scales(query, key, value, scale=None):
    scale = (1.0 if scale is None else scale) * query.shape[-1] ** -0.5
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "The factor was applied twice, to the queries and to the keys: their product has its square.",
    shows=("the default scale, at any width", "a given scale"),
    see="7. Is it a bug?",
)
def both_sides_scaled(query, key, value, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    weights = torch.softmax((query * scale) @ (key * scale).transpose(-2, -1), dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "Scaled after the softmax: the weights are as sharp as ever, and they no longer sum to 1.",
    shows=("the default scale, at any width", "a given scale", "a scale of zero"),
    see="9. Seen in the wild",
)
def scaled_after_the_softmax(query, key, value, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1) * scale
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "Each *column* of your weights sums to 1: the softmax runs over the queries. Every query shares out its weight "
    "over the keys, the last dimension.",
    shows=("the default scale, at any width", "any leading dimensions"),
)
def softmax_over_the_queries(query, key, value, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-2)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "`.T` turns all dimensions around, the batch as well. Only the last two may change places.",
    shows="any leading dimensions",
)
def turns_all_dimensions_of_the_keys(query, key, value, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    weights = torch.softmax(query @ key.permute(*reversed(range(key.ndim))) * scale, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "The scores are returned in place of the weights.",
    shows=("the default scale, at any width", "a given scale"),
)
def scores_for_weights(query, key, value, scale=None):
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    return torch.softmax(scores, dim=-1) @ value, scores


@scaled_dot_product_attention.mistake(
    "Only the output is returned; attention returns two things, `(output, weights)`.",
    shows=("the default scale, at any width", "any leading dimensions"),
)
def output_only(query, key, value, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1) @ value


@scaled_dot_product_attention.mistake(
    "The two results are in the wrong order: `(output, weights)`.",
    shows=("the default scale, at any width", "any leading dimensions"),
)
def weights_first(query, key, value, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
    return weights, weights @ value


@scaled_dot_product_attention.mistake(
    "Right forward, and nothing would ever learn: the weights were detached, so no gradient reaches queries and keys.",
    shows="gradients",
)
def weights_detached(query, key, value, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1).detach()
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "The queries were scaled in place, so whoever called you finds theirs changed. Work on a new tensor.",
    shows=("gradients", "float64, and arguments left as they were"),
)
def scales_the_queries_in_place(query, key, value, scale=None):
    query *= query.shape[-1] ** -0.5 if scale is None else scale
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "NaN for large scores: their exponentials are more than a float can hold.", shows="large scores"
)
def exponentials_overflow(query, key, value, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    weights = (query @ key.transpose(-2, -1) * scale).exp()
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights


@scaled_dot_product_attention.mistake(
    "NaN where some rows of scores are much larger than others: one maximum was taken off the whole tensor. Every row "
    "needs its own.",
    shows="large scores",
)
def one_maximum_for_all_rows(query, key, value, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = query @ key.transpose(-2, -1) * scale
    weights = (scores - scores.max()).exp()
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights


@scaled_dot_product_attention.alternative
def scaling_the_queries(query, key, value, scale=None):
    if scale is None:
        scale = torch.rsqrt(torch.tensor(float(query.size(-1))))
    weights = F.softmax(torch.matmul(query * scale, key.mT), dim=-1)
    return torch.matmul(weights, value), weights


@scaled_dot_product_attention.alternative
def fourth_roots(query, key, value, scale=None):
    if scale is None:
        root = query.shape[-1] ** 0.25
        query, key = query / root, key / root
    else:
        key = scale * key
    scores = torch.einsum("...qc,...kc->...qk", query, key)
    weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    return torch.einsum("...qk,...kc->...qc", weights, value), weights


@scaled_dot_product_attention.alternative
def one_query_at_a_time(query, key, value, scale=None):
    lead, width = query.shape[:-2], query.shape[-1]
    factor = width**-0.5 if scale is None else scale
    outputs, rows = [], []
    flat = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    for queries, keys, values in zip(*flat, strict=True):
        for q in queries:
            w = torch.stack([(q * k).sum() * factor for k in keys]).softmax(0)
            rows.append(w)
            outputs.append(sum(weight * v for weight, v in zip(w, values, strict=True)))
    sizes = (*lead, query.shape[-2], -1)
    return torch.stack(outputs).reshape(sizes), torch.stack(rows).reshape(sizes)


@scaled_dot_product_attention.alternative
def batched_with_alpha(query, key, value, scale=None):
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    nothing = q.new_zeros(())
    alpha = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    weights = nn.Softmax(2)(torch.baddbmm(nothing, q, k.transpose(1, 2), beta=0, alpha=alpha))
    unflat = query.shape[:-1]
    return torch.bmm(weights, v).reshape(*unflat, -1), weights.reshape(*unflat, -1)


@scaled_dot_product_attention.alternative
def mapped_over_everything(query, key, value, scale=None):
    def single(q, keys, values):
        scores = keys.mv(q) * scale if scale is not None else keys.mv(q).div(len(q) ** 0.5)
        weights = scores.softmax(0)
        return weights @ values, weights

    attend = torch.vmap(single, in_dims=(0, None, None))
    for _ in range(query.ndim - 2):
        attend = torch.vmap(attend)
    return attend(query, key, value)


class Attend:
    """A callable object; softmax by hand, in place on tensors of its own."""

    __name__ = "callable_object"

    def __call__(self, query, key, value, scale=None):
        scores = (query[..., :, None, :] * key[..., None, :, :]).sum(dim=-1)
        scores *= pow(query.shape[-1], -0.5) if scale is None else scale
        exponentials = (scores - scores.amax(-1, True)).exp_()
        weights = exponentials / exponentials.sum(-1, True)
        return (weights[..., None] * value[..., None, :, :]).sum(-2), weights


scaled_dot_product_attention.alternative(Attend())


# --------------------------------------------------------------------------------------------------------------------
ScaledDotProductAttention = exercise(
    "ScaledDotProductAttention", points=5, see="8. A module, and dropout", forbidden=BUILT_IN
)
ScaledDotProductAttention.hints = (
    "Where in scores → softmax → sum does dropout fall? And how can `forward` know whether the module is in training "
    "mode?",
    "`nn.Dropout` is a module: it drops entry by entry, multiplies the survivors, and does nothing in eval mode. Made "
    "in `__init__` and kept as an attribute, it changes its mode together with yours.",
    "`__init__`: first the parent's, then `self.dropout = ...`. `forward`: `weights = ...`, scaled and through the "
    "softmax; `weights = self.dropout(...)`; `return ...`, the sum by these weights, and these weights.",
)


@ScaledDotProductAttention.oracle
class ScaledDotProductAttentionOracle(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout

    def forward(self, query, key, value):
        scores = torch.einsum("...tk,...sk->...ts", query, key) / math.sqrt(query.size(-1))
        weights = F.dropout(scores.softmax(-1), self.p, self.training)
        return torch.einsum("...ts,...sv->...tv", weights, value), weights


@ScaledDotProductAttention.example("without dropout")
def _():
    s = Script(query=ON_PAPER[0], key=ON_PAPER[1], value=ON_PAPER[2])
    m = s.call(SUBJECT, name="module")
    s.call(m, s.query, s.key, s.value, name="out")
    yield s.case().described("ScaledDotProductAttention()(…) on the numbers of exercise 3, on paper")


@ScaledDotProductAttention.example("in eval mode")
def _():
    s = Script(query=ON_PAPER[0], key=ON_PAPER[1], value=ON_PAPER[2])
    m = s.call(SUBJECT, dropout=0.5, name="module")
    s.call(method(m, "eval"))
    s.call(m, s.query, s.key, s.value, name="out")
    yield s.case().described("ScaledDotProductAttention(dropout=0.5).eval()(…) on the same numbers")


@ScaledDotProductAttention.example("a batch of two, in eval mode")
def _():
    query, key, value = (
        torch.sin(step * torch.arange(2.0 * n * m)).reshape(2, n, m)
        for step, n, m in ((1.0, 3, 6), (1.3, 4, 6), (0.7, 4, 5))
    )
    s = Script(query=query, key=key, value=value)
    m = s.call(SUBJECT, dropout=0.4, name="module")
    s.call(m, s.query, s.key, s.value)
    s.call(method(m, "eval"))
    s.call(m, s.query, s.key, s.value, name="out")
    yield s.case().described("called once in training mode and again in eval mode, (2, 3, 6), (2, 4, 6), (2, 4, 5)")


@ScaledDotProductAttention.example("in training mode, nearly all dropped")
def _():
    # Random, and yet numbers to compare with: either weight survives once in 2 ** 22 runs
    s = Script(query=ON_PAPER[0], key=ON_PAPER[1], value=ON_PAPER[2])
    m = s.call(SUBJECT, dropout=1 - 2.0**-22, name="module")
    s.call(m, s.query, s.key, s.value, name="out")
    text = "ScaledDotProductAttention(dropout=0.9999998)(…), in training mode: every weight is dropped"
    yield s.case().described(text)


def attending(draw, *arguments, mode=None, sizes=(), K=6, dtype=torch.float32, **options):
    """A module is made and called, in training mode or as `mode` (a method and its arguments) says."""
    q, k, v = three(draw, *sizes, K=K, dtype=dtype)
    s = Script(query=q, key=k, value=v)
    m = s.call(SUBJECT, *arguments, name="module", **options)
    if mode:
        s.call(m, s.query, s.key, s.value)  # what was dropped before must leave no trace
        s.call(method(m, mode[0]), *mode[1:])
    s.call(m, s.query, s.key, s.value, name="out")
    return s.case()


@ScaledDotProductAttention.criterion("attention, where dropout is 0", points=1)
def _(draw):
    s = Script()
    yield s.case(s.call(SUBJECT, dropout=0.25)).described("what is made is an nn.Module")
    yield attending(draw)
    yield attending(draw, sizes=(2, 3), dropout=0.0).with_gradients()
    yield attending(draw, mode=("train",), sizes=(2,), K=16, dtype=torch.float64).unchanged()
    query, key, value = three(draw, K=3)
    s = Script(query=query, key=key, value=value, wide=draw.normal(2, 12), keys=draw.normal(4, 12))
    m = s.call(SUBJECT, name="module")
    s.call(m, s.wide, s.keys, s.keys)
    s.call(m, s.query, s.key, s.value, name="out")  # nothing of another width may remain
    yield s.case().described("two calls of one module, with vectors of another width")


@ScaledDotProductAttention.criterion("eval mode drops nothing", points=1)
def _(draw):
    yield attending(draw, mode=("eval",), dropout=draw.number(0.3, 0.7)).with_gradients()
    yield attending(draw, draw.number(0.3, 0.7), mode=("train", False), sizes=(2, 3)).unchanged()


def dropping(draw, p, dtype=torch.float32):
    """Four calls of one module in training mode. Returns the case, the weights before dropout, and the values."""
    query, key, value = three(draw, 2, 3, T=24, S=30, K=4, V=5, dtype=dtype)
    s = Script(query=query, key=key, value=value)
    m = s.call(SUBJECT, dropout=p, name="module")
    s.call(helper("repeat"), 4, m, s.query, s.key, s.value, name="outs")
    text = f"ScaledDotProductAttention(dropout={p:.2f}) in training mode, four calls on (2, 3, 24, 4), (2, 3, 30, 4)"
    plain = (query.double() @ key.double().mT / 2).softmax(-1)
    return s.case(ref("outs")).described(text), plain, value.double()


def applied(seen, plain):
    """The weights of the four calls as one tensor, or what is wrong with their form."""
    weights = torch.stack([out[1] for out in seen.values["outs"]])
    if weights.shape[1:] != plain.shape:
        return None, f"the weights have shape {tuple(weights.shape[1:])}, and must have {tuple(plain.shape)}"
    if not weights.isfinite().all():
        return None, "some of the weights are NaN or infinite"
    return weights.double(), None


def falls_entry_by_entry(p, plain):
    """Judges which weights were dropped, by their number and by how they lie.

    N = 17280 weights. Their number, binomial, may be 6.5 standard deviations off: for a right answer it is farther
    off with a probability below 1e-9. Along each dimension, calls included, the N / n lines of n weights hold c
    dropped ones each; the sum of (c - n p)^2 / (n p (1 - p)) over the lines has the mean N / n >= 576 and is, for
    independent entries, farther from it than the factors 0.5 to 1.6 with a probability below 1e-12 (Chernoff's bound
    for chi-squared at 576 degrees of freedom: e^-37 above, e^-55 below). Shared entries give n, or 0.
    """

    def judge(seen, exact):
        weights, problem = applied(seen, plain)
        if problem:
            return problem
        dropped = (weights == 0).double()
        count, total = int(dropped.sum()), dropped.numel()
        if abs(count - p * total) > 6.5 * math.sqrt(total * p * (1 - p)):
            return f"{count} of {total} weights are 0; with dropout={p:.2f} that is not to be expected"
        names = ("calls", "batch elements", "heads", "queries", "keys")
        for dim, name in enumerate(names):
            n = dropped.shape[dim]
            squares = (dropped.sum(dim) - n * p).square() / (n * p * (1 - p))
            if not 0.5 < squares.mean() < 1.6:
                return f"whether a weight is dropped is not decided for each of the {name} on its own"
        return None

    return judge


def rescales_survivors(p, plain, dtype):
    def judge(seen, exact):
        weights, problem = applied(seen, plain)
        if problem:
            return problem
        if any(result.dtype != dtype for out in seen.values["outs"] for result in out):
            return f"in training mode a result has another dtype than the inputs, {dtype}"
        wanted = plain.expand_as(weights) / (1 - p)
        wrong = (weights != 0) & ~((weights - wanted).abs() <= 1e-4 * wanted)
        if not wrong.any():
            return None
        return f"{int(wrong.sum())} of {int((weights != 0).sum())} weights that were not dropped have a wrong size"

    return judge


def applies_what_it_returns(plain, value):
    def judge(seen, exact):
        weights, problem = applied(seen, plain)
        if problem:
            return problem
        output = torch.stack([out[0] for out in seen.values["outs"]]).double()
        again = weights @ value
        if output.shape != again.shape:
            return f"the output has shape {tuple(output.shape[1:])}, and must have {tuple(again.shape[1:])}"
        if not ((output - again).abs() <= 1e-4 * again.abs().max()).all():
            return "the output is not the sum of the values by the weights that were returned"
        return None

    return judge


@ScaledDotProductAttention.criterion("dropout falls entry by entry", points=1)
def _(draw):
    for p in (draw.number(0.2, 0.35), draw.number(0.6, 0.75)):
        case, plain, _ = dropping(draw, p)
        yield case.holding(falls_entry_by_entry(p, plain))


@ScaledDotProductAttention.criterion("survivors are multiplied by 1 / (1 - dropout)", points=1)
def _(draw):
    for p, dtype in ((draw.number(0.2, 0.35), torch.float32), (draw.number(0.6, 0.75), torch.float64)):
        case, plain, _ = dropping(draw, p, dtype)
        yield case.holding(rescales_survivors(p, plain, dtype))


@ScaledDotProductAttention.criterion("the weights returned are the ones applied", points=0.5)
def _(draw):
    case, plain, value = dropping(draw, draw.number(0.3, 0.5))
    yield case.holding(applies_what_it_returns(plain, value))


def gradients_through(p, query, key, value):
    """Judges the gradients of the one output against those of attention with the very weights dropped."""

    def judge(seen, exact):
        weights = seen.values["out"][1]
        leaves = [x.double().requires_grad_() for x in (query, key, value)]
        q, k, v = leaves
        kept = (weights != 0).double() / (1 - p)
        output = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1) * kept @ v
        wanted = torch.autograd.grad(output.sum(), leaves)
        for name, right in zip(("query", "key", "value"), wanted, strict=True):
            found = seen.values[f"gradient_{name}"]
            if found is None:
                return f"in training mode no gradient reaches `{name}`"
            if not ((found.double() - right).abs() <= 1e-4 * right.abs().max() + 1e-12).all():
                return f"in training mode the gradient for `{name}` is not that of the weights applied"
        return None

    return judge


@ScaledDotProductAttention.criterion("gradients while weights are dropped", points=0.5)
def _(draw):
    p = draw.number(0.3, 0.5)
    query, key, value = three(draw, T=1, S=20, K=4, V=1)
    s = Script(query=query, key=key, value=value)
    m = s.call(SUBJECT, dropout=p, name="module")
    for leaf in (s.query, s.key, s.value):
        s.call(method(leaf, "requires_grad_"))
    s.call(m, s.query, s.key, s.value, name="out")
    s.call(helper("backward"), ref("out", 0))
    found = [
        s.call(helper("attribute"), ref(name), "grad", name=f"gradient_{name}") for name in ("query", "key", "value")
    ]
    case = s.case(ref("out"), *found).holding(gradients_through(p, query, key, value))
    yield case.described(f"ScaledDotProductAttention(dropout={p:.2f}) in training mode, then output.backward()")


@ScaledDotProductAttention.mistake(
    "Dropout fell on the *scores*, before the softmax: a score of 0 is no weight of 0. It belongs on the weights.",
    shows=("dropout falls entry by entry", "survivors are multiplied by 1 / (1 - dropout)"),
)
class DropoutOnScores(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(self.dropout(scores), dim=-1)
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "Dropout fell on the *output*, after the sum over the values. It belongs on the weights.",
    shows=("dropout falls entry by entry", "the weights returned are the ones applied"),
)
class DropoutOnOutput(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        return self.dropout(weights @ value), weights


@ScaledDotProductAttention.mistake(
    "The dropped weights were applied, and the ones from before were returned. Return those that were used.",
    shows=("dropout falls entry by entry", "the weights returned are the ones applied"),
)
class WeightsFromBefore(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        return self.dropout(weights) @ value, weights


@ScaledDotProductAttention.mistake(
    "The dropped weights were returned, and the ones from before were applied: the output never notices dropout.",
    shows="the weights returned are the ones applied",
)
class DropsAfterTheSum(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        return weights @ value, self.dropout(weights)


@ScaledDotProductAttention.mistake(
    "Dropped twice, once for the output and once more for what is returned: two rolls of the dice differ.",
    shows="the weights returned are the ones applied",
)
class DropsTwice(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        return self.dropout(weights) @ value, self.dropout(weights)


@ScaledDotProductAttention.mistake(
    "Weights are dropped in eval mode, too. A function such as `F.dropout` knows nothing of the module's mode: "
    "tell it.",
    shows="eval mode drops nothing",
    see="9. Seen in the wild",
)
class NeverStops(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = F.dropout(torch.softmax(scores, dim=-1), self.p)
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "Dropped in eval mode and kept in training mode: the wrong way round.",
    shows=("eval mode drops nothing", "dropout falls entry by entry"),
)
class TheWrongWayRound(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = F.dropout(torch.softmax(scores, dim=-1), self.p, not self.training)
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "Nothing is ever dropped: `dropout` is taken and not used.",
    shows=("dropout falls entry by entry", "survivors are multiplied by 1 / (1 - dropout)"),
)
class NeverDrops(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "The survivors keep their size, so that on average the weights are too small. What makes up for what was dropped?",
    shows=("survivors are multiplied by 1 / (1 - dropout)", "gradients while weights are dropped"),
)
class NotRescaled(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        if self.training:
            weights = weights * (torch.rand_like(weights) >= self.p)
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "Nothing makes up for the dropped weights in training; in eval mode all are made smaller instead. That is how "
    "dropout was first published; here the survivors are multiplied in training, and eval mode leaves all alone.",
    shows=("survivors are multiplied by 1 / (1 - dropout)", "eval mode drops nothing"),
)
class RescaledInEval(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        weights = weights * (torch.rand_like(weights) >= self.p if self.training else 1 - self.p)
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "The survivors were multiplied by the wrong number: with a dropout of p, a share 1 - p survives, and that is what "
    "has to be made up for.",
    shows="survivors are multiplied by 1 / (1 - dropout)",
)
class DividedByP(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        if self.training and self.p > 0:
            weights = weights * (torch.rand_like(weights) >= self.p) / self.p
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "Each row was made to sum to 1 again. That depends on which keys survived; the factor must be the same for all, or "
    "the mean over many draws is no longer the attention of eval mode.",
    shows=("survivors are multiplied by 1 / (1 - dropout)", "gradients while weights are dropped"),
    see=ROWS,
)
class NormalisedAgain(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = self.dropout(torch.softmax(scores, dim=-1))
        weights = weights / weights.sum(dim=-1, keepdim=True).clamp_min(1e-12)
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "Keys were blocked before the softmax, so that the rest share all of the weight among them. The factor must be the "
    "same for all survivors: drop weights, not scores.",
    shows=("survivors are multiplied by 1 / (1 - dropout)", "gradients while weights are dropped"),
    see=ROWS,
)
class BlockedBeforeSoftmax(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        if self.training:
            scores = scores.masked_fill(torch.rand_like(scores) < self.p, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "`dropout` is the probability with which a weight is *dropped*; here it is the one with which it is kept.",
    shows=("dropout falls entry by entry", "survivors are multiplied by 1 / (1 - dropout)"),
)
class KeepsWithProbability(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        if self.training and self.p > 0:
            weights = weights * torch.bernoulli(torch.full_like(weights, self.p)) / self.p
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "Whole rows were dropped: a query loses all its keys or none. Every entry has its own roll of the dice.",
    shows="dropout falls entry by entry",
)
class DropsWholeRows(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        weights = weights * self.dropout(torch.ones_like(weights[..., :1]))
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "Whole keys were dropped, the same for every query. Every entry has its own roll of the dice.",
    shows="dropout falls entry by entry",
)
class DropsWholeKeys(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        weights = weights * self.dropout(torch.ones_like(weights[..., :1, :]))
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "All elements of a batch lose the same weights. Every entry has its own roll of the dice, in every batch element.",
    shows="dropout falls entry by entry",
)
class SharedAcrossTheBatch(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        weights = weights * self.dropout(weights.new_ones(weights.shape[-2:]))
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "Every call drops the same weights: the dice were rolled once and kept, or seeded in `forward`. Roll them anew.",
    shows="dropout falls entry by entry",
)
class TheSameEveryTime(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        with torch.random.fork_rng():
            torch.manual_seed(0)
            weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "The scores are not scaled.",
    shows=("attention, where dropout is 0", "eval mode drops nothing"),
    see="6. Scaled dot-product attention",
)
class NotScaled(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        weights = self.dropout(torch.softmax(query @ key.transpose(-2, -1), dim=-1))
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "The scores are divided by the width of the vectors. Divide them by its root.",
    shows=("attention, where dropout is 0", "eval mode drops nothing"),
    see="6. Scaled dot-product attention",
)
class ScaledByTheWidth(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        weights = self.dropout(torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1], dim=-1))
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "The scale of the first call is kept, and used for vectors of another width. Ask each call's vectors for theirs.",
    shows="attention, where dropout is 0",
)
class KeepsTheFirstScale(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout, self.scale = nn.Dropout(dropout), None

    def forward(self, query, key, value):
        if self.scale is None:
            self.scale = query.shape[-1] ** -0.5
        weights = self.dropout(torch.softmax(query @ key.transpose(-2, -1) * self.scale, dim=-1))
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "Without being asked your module drops a tenth of the weights: `dropout` is 0.0 by default.",
    shows="attention, where dropout is 0",
)
class DropsATenthByDefault(nn.Module):
    def __init__(self, dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "`dropout` changes nothing: your module always drops a tenth of the weights. Hand the argument on.",
    shows=("attention, where dropout is 0", "dropout falls entry by entry"),
)
class DropsATenthAlways(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(0.1)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "The weights come first and the output second. Return (output, weights).",
    shows=("attention, where dropout is 0", "eval mode drops nothing"),
)
class WeightsFirst(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights, weights @ value


@ScaledDotProductAttention.mistake(
    "In training mode `backward()` fails or is wrong: the weights were overwritten in place, and softmax needs them as "
    "they were for its own gradient.",
    shows="gradients while weights are dropped",
)
class InPlace(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout, inplace=True)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights @ value, weights


@ScaledDotProductAttention.mistake(
    "Only the output is returned; `forward` returns two things, `(output, weights)`.",
    shows=("attention, where dropout is 0", "eval mode drops nothing"),
)
class OutputOnly(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        return self.dropout(torch.softmax(scores, dim=-1)) @ value


@ScaledDotProductAttention.mistake(
    "No `nn.Module`, so nothing around it can switch its mode. Name the parent after the class, and "
    "call its `__init__`.",
    shows=("attention, where dropout is 0", "eval mode drops nothing"),
)
class NoModule:
    def __init__(self, dropout=0.0):
        self.p, self.training = dropout, True

    def __call__(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = F.dropout(torch.softmax(scores, dim=-1), self.p, self.training)
        return weights @ value, weights


@ScaledDotProductAttention.alternative
class ByFunction(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = dropout

    def extra_repr(self):
        return f"dropout={self.dropout}"

    def forward(self, query, key, value):
        scores = torch.matmul(query, key.mT).div(math.sqrt(key.size(-1)))
        weights = F.dropout(F.softmax(scores, -1), p=self.dropout, training=self.training)
        return torch.matmul(weights, value), weights


@ScaledDotProductAttention.alternative
class ByBernoulli(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.register_buffer("keep", torch.tensor(1.0 - dropout))

    def forward(self, query, key, value):
        weights = (query * query.shape[-1] ** -0.5 @ key.transpose(-1, -2)).softmax(-1)
        if self.training:
            weights = weights * torch.bernoulli(self.keep.expand(weights.shape)) / self.keep
        return weights @ value, weights


@ScaledDotProductAttention.alternative
class ByRand(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout

    def forward(self, query, key, value):
        scores = torch.einsum("...ij,...kj->...ik", query, key) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, -1)
        if not self.training or self.p == 0:
            return torch.einsum("...ik,...kj->...ij", weights, value), weights
        weights = weights.masked_fill(torch.rand(weights.shape) < self.p, 0.0) / (1 - self.p)
        return torch.einsum("...ik,...kj->...ij", weights, value), weights


@ScaledDotProductAttention.alternative
class ByDistribution(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.kept = torch.distributions.Bernoulli(probs=1.0 - dropout)
        self.softmax = nn.Softmax(dim=-1)

    def thinned(self, weights):
        if not self.training:
            return weights
        return torch.where(self.kept.sample(weights.shape) > 0, weights / self.kept.mean, 0.0)

    def forward(self, query, key, value):
        root = query.shape[-1] ** 0.25
        weights = self.thinned(self.softmax((query / root) @ (key / root).transpose(-2, -1)))
        return weights @ value, weights


@ScaledDotProductAttention.alternative
class ByDroppedOnes(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.parts = nn.ModuleDict({"noise": nn.Dropout(p=dropout)})

    def forward(self, query, key, value):
        scores = (query[..., :, None, :] * key[..., None, :, :]).sum(-1) / query.shape[-1] ** 0.5
        noise = self.parts["noise"](torch.ones_like(scores))  # 0 or 1 / (1 - p)
        weights = (scores - scores.logsumexp(-1, keepdim=True)).exp() * noise
        return (weights[..., None] * value[..., None, :, :]).sum(-2), weights


@ScaledDotProductAttention.alternative
class ThinnedInPlace(nn.Dropout):
    def __init__(self, dropout=0.0):
        super().__init__(p=dropout)

    def forward(self, query, key, value):
        weights = torch.softmax(query @ key.transpose(-2, -1) * key.shape[-1] ** -0.5, dim=-1)
        noise = torch.empty_like(weights).bernoulli_(1 - self.p).div_(1 - self.p)
        weights = torch.mul(weights, noise) if self.training else weights
        return weights @ value, weights


@ScaledDotProductAttention.alternative
class OneRowAtATime(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        outputs, rows = [], []
        for q in query.unbind(-2):
            scores = (key @ q.unsqueeze(-1)).squeeze(-1) / math.sqrt(q.shape[-1])
            rows.append(self.dropout(scores.softmax(-1)))
            outputs.append((rows[-1].unsqueeze(-1) * value).sum(-2))
        return torch.stack(outputs, -2), torch.stack(rows, -2)
