"""`sliding_window_mask`: True for keys after a query, or too far before it."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, device, exercise, helper, method, student

sliding_window_mask = exercise(
    "sliding_window_mask",
    see="Exercise: `sliding_window_mask(T, window, S=None, device=None)`",
    hints=(
        "With a window of 3, which keys does the query at place 5 see? Write their places down, itself included.",
        "Two things block a key: it comes after the query, or it lies `window` places before it, or more. Both are "
        "questions about one number, how far apart the two places are.",
        "Settle `S` and refuse what is wrong. Make the places of the keys and of the queries, the last T of S, both "
        "on `device`; their differences make a table (T, S). Blocked is where a difference is negative, or at least "
        "`window`.",
    ),
)


@sliding_window_mask.oracle
def sliding_window_mask_oracle(T, window, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    if window < 1:
        raise ValueError(f"window is {window}, and a query must see itself at least")
    seen = torch.ones(T, S, dtype=torch.bool, device=device)
    return ~(seen.tril(S - T) & seen.triu(S - T - window + 1))


sliding_window_mask.example("four queries, a window of two", call(4, 2))
sliding_window_mask.example("two new queries, five keys, a window of three", call(2, 3, 5), check_types=True)
sliding_window_mask.example("a window of one", call(3, 1))
sliding_window_mask.example("no window", call(3, 0).raises("window"))


@sliding_window_mask.criterion("as many queries as keys", points=0.5)
def _(draw):
    yield call(6, 2, device=device())
    yield call(7, draw.integer(3, 6), device=device())
    yield call(5, 1, None, device())
    yield call(T=4, window=9, device=device())  # wider than the sentence
    yield call(1, 1, 1, device())
    script = Script()
    both = [script.call(EXERCISE, 4, window, device=device(), name=f"window_of_{window}") for window in (3, 1)]
    yield script.case(*both).label("sliding_window_mask(4, 3), and then sliding_window_mask(4, 1)")


@sliding_window_mask.criterion("more keys than queries", points=0.5)
def _(draw):
    yield call(3, 2, 7, device())
    yield call(1, draw.integer(2, 5), 6, device())
    yield call(2, 1, S=5, device=device())
    T = draw.integer(4, 6)  # a shape of no other case: a case above checks for caching
    yield call(T, 4, T + draw.integer(2, 6), device())
    yield call(2, 40, 6, device=device())
    yield call(3, 5, 5, device())  # the window of the first query begins before the first key


@sliding_window_mask.criterion("ValueError if S < T or window < 1", points=0.5)
def _(draw):
    yield call(5, 2, 4).raises("S", "T")
    yield call(draw.integer(7, 12), 3, S=draw.integer(1, 6)).raises("S", "T")
    yield call(4, 2, 0).raises("S", "T")
    yield call(3, 1, S=-2).raises("S", "T")
    yield call(4, 0).raises("window")
    yield call(4, -draw.integer(1, 9), 6).raises("window")
    yield call(4, 1, 5).does_not_raise()
    yield call(4, 2, 4).does_not_raise()


@sliding_window_mask.criterion("boolean, on the device that was asked for", points=0.5, check_types=True)
def _(draw):
    yield call(4, 2)
    yield call(3, 2, 5)
    script = Script()
    mask = script.call(EXERCISE, 4, 2, name="mask")
    yield script.case(script.call(method(mask, "to"), device())).label("sliding_window_mask(4, 2)")
    for where in (device(), "cpu", "meta"):  # "meta" shows one that is always made on the CPU
        script = Script()
        script.call(helper("elsewhere"), student("sliding_window_mask"), 3, 2, 5, device=where)
        made = script.case().check_with("mask_on_requested_device")
        yield made.label("sliding_window_mask(3, 2, 5, device=...), while another device is PyTorch's default")
