"""`sink_window_mask`: the causal mask of a window, in which every query sees the first positions up to its own."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, device, exercise, helper, method, student

sink_window_mask = exercise(
    "sink_window_mask",
    see="Exercise: `sink_window_mask(T, window, sinks, S=None, device=None)`",
    hints=(
        "With a window of 3 and one sink, which keys does the query at position 7 see? Write their positions down.",
        "A key is blocked for one of two reasons: it comes after the query, or it is too far before it. Only the "
        "second has an exception. Does a sink that comes after the query stay blocked?",
        "Make a column with the positions of the queries, (T, 1), the last T of S, and a row with those of the keys, "
        "(S,). Three comparisons are needed: key with query, their distance with `window`, and key with `sinks`. Join "
        "them by `&` and `|`: which two belong together?",
    ),
)


@sink_window_mask.oracle
def sink_window_mask_oracle(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    if window < 1:
        raise ValueError(f"window is {window}, and a query must see itself at least")
    if sinks < 0:
        raise ValueError(f"sinks is {sinks}, and cannot be negative")
    seen = torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T - window + 1)
    seen[:, :sinks] = True
    return ~seen.tril(S - T)


sink_window_mask.example("five queries, a window of two, one sink", call(5, 2, 1))
sink_window_mask.example("two new queries, seven keys, two sinks", call(2, 3, 2, 7), check_types=True)
sink_window_mask.example("a sink after the first query stays blocked", call(3, 1, 2))
sink_window_mask.example("no sink", call(4, 2, 0))
sink_window_mask.example("a negative number of sinks", call(3, 2, -1).raises("sinks"))


@sink_window_mask.criterion("as many queries as keys", points=0.5)
def _(draw):
    yield call(9, 2, 1, device=device())
    yield call(8, 3, draw.integer(2, 4), device=device())
    yield call(7, 1, 3, None, device())
    yield call(T=6, window=3, sinks=0, device=device())
    yield call(5, 9, 2, device=device())  # wider than the sentence
    yield call(4, 1, 9, device=device())  # more sinks than keys
    yield call(1, 1, 1, 1, device())
    yield call(10, 5, 2, device=device())
    script = Script()
    both = [script.call(EXERCISE, 6, 2, n, device=device(), name=f"{n}_sinks") for n in (2, 1)]
    yield script.case(*both).label("sink_window_mask(6, 2, 2), and then sink_window_mask(6, 2, 1)")


@sink_window_mask.criterion("more keys than queries", points=0.5)
def _(draw):
    yield call(3, 2, 1, 9, device())
    yield call(1, draw.integer(2, 4), 2, 10, device())
    yield call(2, 1, sinks=3, S=8, device=device())
    T = draw.integer(4, 6)
    yield call(T, 4, 1, T + draw.integer(6, 9), device())
    yield call(2, 40, 3, 6, device=device())
    yield call(3, 5, 1, 5, device())  # the window of the first query begins before the first key
    yield call(4, 2, 6, 7, device())  # sinks after some of the queries
    yield call(3, 2, 0, 7, device())
    yield call(2, 3, 11, 8, device())


@sink_window_mask.criterion("ValueError if S < T, window < 1 or sinks < 0", points=0.5)
def _(draw):
    yield call(5, 2, 1, 4).raises("S", "T")
    yield call(draw.integer(7, 12), 3, 1, S=draw.integer(1, 6)).raises("S", "T")
    yield call(4, 2, 1, 0).raises("S", "T")
    yield call(4, 0, 1).raises("window")
    yield call(4, -draw.integer(1, 9), 2, 6).raises("window")
    yield call(4, 2, -1).raises("sinks")
    yield call(4, 3, sinks=-draw.integer(2, 9), S=6).raises("sinks")
    yield call(4, 1, 0, 5).does_not_raise()
    yield call(4, 2, 7, 4).does_not_raise()


@sink_window_mask.criterion("boolean, on the device that was asked for", points=0.5, check_types=True)
def _(draw):
    yield call(6, 2, 1)
    yield call(3, 2, 1, 7)
    script = Script()
    mask = script.call(EXERCISE, 6, 2, 1, name="mask")
    yield script.case(script.call(method(mask, "to"), device())).label("sink_window_mask(6, 2, 1)")
    for where in (device(), "cpu", "meta"):  # "meta" shows one that is always made on the CPU
        script = Script()
        script.call(helper("elsewhere"), student("sink_window_mask"), 3, 2, 1, 7, device=where)
        made = script.case().check_with("mask_on_requested_device")
        yield made.label("sink_window_mask(3, 2, 1, 7, device=...), while another device is PyTorch's default")
