"""Lesson 05: masks against the future and against padding, softmax and attention under a mask, a leak detector."""

import math

import torch
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

READY_MADE = (r"_?scaled_dot_product_\w*attention\w*", "multi_?head_attention", "multi_head_attention_forward")
INF = float("inf")


# --- causal_mask ------------------------------------------------------------------------------------------------------

causal_mask = exercise("causal_mask", points=4, forbidden=READY_MADE, see="Exercise 1: causal_mask")
causal_mask.hints = (
    "At which place of the S places does query `i` stand, if the last query stands at the last place? Try T = 2, S = 5.",
    "Two rows of numbers decide everything: the places of the queries and the places of the keys. A cell is blocked "
    "where the key's number is the greater one; comparing a column with a row gives the whole table at once.",
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
    # Without a device PyTorch's default is right; the judge looks for the result on the device under test
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


@causal_mask.criterion("ValueError if S < T", points=1)
def _(draw):
    yield call(5, 4).raising("S", "T")
    yield call(draw.integer(7, 12), S=draw.integer(1, 6)).raising("S", "T")
    yield call(4, 1, device=device()).raising("S", "T")


@causal_mask.criterion("on the device that was asked for", points=0.5)
def _(draw):
    for where in ("cpu", torch.device("cpu")):
        script = Script()
        place = script.call(helper("attribute"), torch, "cpu") if False else where
        yield script.case(script.call(helper("lands_on"), str(place), student("causal_mask"), 3, 5, device=str(place)))
