"""`sliding_window`, an exercise without points: a causal mask that opens only the last few keys."""

import torch

from grading.exercises.exercise import Script, call, device, helper, step, student

sliding_window = step(
    "sliding_window",
    see="Exercise: `sliding_window(T, width, device=None)` (extra)",
    hints=(
        "How far back may query `i` look, if it sees `width` keys, its own included? Try T = 5, width = 2 on paper.",
        "A key is blocked for one of two reasons: it is after the query, or too far before it. Both compare "
        "one number, the distance from query to key.",
        "Raise the error for a `width` below 1. Subtract the row of positions from the column, and combine two "
        "comparisons with `|`.",
    ),
)


@sliding_window.oracle
def sliding_window_oracle(T, width, device=None):
    if width < 1:
        raise ValueError(f"width is {width}, and must be at least 1")
    square = torch.ones(T, T, dtype=torch.bool, device=device)
    return square.triu(1) | square.tril(-width)


sliding_window.example("five letters, each sees two", call(5, 2))
sliding_window.example("nobody but oneself", call(3, 1))
sliding_window.example("wider than the text: only causal", call(3, width=8))
sliding_window.example("no window at all", call(4, 0).raises("width"))


@sliding_window.criterion("who sees whom", points=0.5)
def _(draw):
    T = draw.integer(7, 12)
    yield call(T, draw.integer(2, 5), device=device())
    yield call(T, 1, device())
    yield call(6, 6, device=device())
    yield call(5, T + 3, device=device())
    yield call(1, 2, device=device())


@sliding_window.criterion("ValueError if width < 1", points=0.25)
def _(draw):
    yield call(4, 0).raises("width")
    yield call(draw.integer(2, 6), width=-draw.integer(1, 4)).raises("width")
    yield call(4, 1).does_not_raise()


@sliding_window.criterion("boolean", points=0.25, check_types=True)
def _(draw):
    yield call(5, 3, device=device())
    script = Script()  # "meta" shows a part made on a device other than the requested one
    script.call(helper("elsewhere"), student("sliding_window"), 5, 3, device="cpu")
    made = script.case().check_with("mask_on_requested_device")
    yield made.label("sliding_window(5, 3, device=...), while another device is PyTorch's default")
