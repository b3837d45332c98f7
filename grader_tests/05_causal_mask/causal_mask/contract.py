"""`causal_mask`: True where a key lies after its query; the queries come last."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, device, exercise, helper, method, student

from ...shared import BUILT_IN

causal_mask = exercise(
    "causal_mask",
    forbidden=BUILT_IN,
    see="Exercise: `causal_mask(T, S=None, device=None)`",
    hints=(
        "At which of the S positions is query `i`, if the last query is at the last position? Try T = 2, S = 5.",
        "A cell is blocked where the position of the key is greater than that of the query. A column of "
        "positions, compared with a row of positions, gives the whole table at once.",
        "Set `S` to its default, and raise the error for `S < T`. `torch.arange` gives the positions of all S keys, "
        "and of the queries, which are the last T of them; make both on `device`. Turn one of the two into a column "
        "with `[:, None]`, and compare.",
    ),
)


@causal_mask.oracle
def causal_mask_oracle(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)


causal_mask.example("three queries, three keys", call(3))
causal_mask.example("three queries, five keys", call(3, 5), check_types=True)
causal_mask.example("one new query, four keys", call(1, S=4))
causal_mask.example("more queries than keys", call(5, 3).raises("S", "T"))


@causal_mask.criterion("as many queries as keys", points=1)
def _(draw):
    yield call(6, device=device())
    yield call(5, 5, device())
    yield call(1, None, device())
    yield call(T=draw.integer(7, 12), device=device())
    # Without a device PyTorch's default is right, but the judge expects results on the device under test
    script = Script()
    mask = script.call(EXERCISE, 4, name="mask")
    yield script.case(script.call(method(mask, "to"), device())).label("causal_mask(4)")
    # A mask that is cached and returned again may have been changed by its last user; no other case has this size
    script = Script()
    script.call(method(script.call(EXERCISE, 13, device=device(), name="mask"), "fill_"), True)
    script.call(EXERCISE, 13, device=device(), name="result")
    yield script.case().label("causal_mask(13, device=...), after an earlier result was changed in place")


@causal_mask.criterion("more keys than queries", points=1.5)
def _(draw):
    yield call(3, 7, device=device())
    yield call(1, 6, device=device())
    yield call(2, S=3, device=device())
    T = draw.integer(4, 8)
    yield call(T, T + draw.integer(2, 6), device())
    yield call(3, 1300, device())  # longer than a table that one would precompute


@causal_mask.criterion("ValueError if S < T", points=1)
def _(draw):
    yield call(5, 4).raises("S", "T")
    yield call(draw.integer(7, 12), S=draw.integer(1, 6)).raises("S", "T")
    yield call(4, 1, device=device()).raises("S", "T")
    yield call(3, 0).raises("S", "T")
    yield call(2, S=-1).raises("S", "T")
    yield call(4, 5).does_not_raise()


@causal_mask.criterion("boolean, on the device that was asked for", points=0.5, check_types=True)
def _(draw):
    yield call(4)
    yield call(3, 5)
    for where in (device(), "cpu", "meta"):  # "meta" shows one that is always made on the CPU
        script = Script()
        script.call(helper("elsewhere"), student("causal_mask"), 3, 5, device=where)
        made = script.case().check_with("mask_on_requested_device")
        yield made.label("causal_mask(3, 5, device=...), while another device is PyTorch's default")
