"""`last_queries_mask`: a causal mask for queries that are the last of all positions."""

import torch

from grading.exercises.exercise import call, exercise

from ...shared import BUILT_IN

last_queries_mask = exercise(
    "last_queries_mask",
    forbidden=BUILT_IN,
    see="Exercise: `last_queries_mask(T, S)`",
    hints=(
        "At which of the S positions is query `i`, if the last query is at the last position? Try T = 2, S = 5.",
        "As in `causal_mask`, a cell is blocked where the position of the key is greater than that of the query. Only "
        "the positions of the queries are others now.",
        "`torch.arange` gives the positions of all S keys, and of the queries, which are the last T of them. Turn the "
        "queries' positions into a column with `[:, None]`, and compare.",
    ),
)


@last_queries_mask.oracle
def last_queries_mask_oracle(T, S):
    return torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)


last_queries_mask.example("three queries, five keys", call(3, 5), check_types=True)
last_queries_mask.example("one new query, four keys", call(1, S=4))
last_queries_mask.example("three queries, three keys", call(3, 3))


@last_queries_mask.criterion("more keys than queries", points=2.25)
def _(draw):
    yield call(3, 7)
    yield call(1, 6)
    yield call(2, S=3)
    T = draw.integer(4, 8)
    yield call(T, T + draw.integer(2, 6))


@last_queries_mask.criterion("as many queries as keys", points=1)
def _(draw):
    yield call(6, 6)
    yield call(1, 1)
    T = draw.integer(7, 12)
    yield call(T=T, S=T)


@last_queries_mask.criterion("boolean", points=0.5, tries="boolean", check_types=True)
def _(draw):
    yield call(4, 4)
    yield call(3, 5)


@last_queries_mask.sizes(points=0.25, T=(1, 3, 300), earlier=(0, 4, 1000))
def _(draw, T, earlier):
    return call(T, T + earlier)
