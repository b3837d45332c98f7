"""`learning_rate`, a step: a linear warm-up, then half a cosine down to a floor."""

import math

from grading.exercises.exercise import call, step

RATE = "Exercise: `learning_rate(step, warmup, total, peak, floor=0.0)` (extra)"

learning_rate = step(
    "learning_rate",
    see=RATE,
    hints=(
        "Two cases, told apart by comparing step with warmup. Which of the two holds at step = warmup?",
        "First case: a share of peak that grows by peak / warmup with each step. Second: how far along is the step "
        "between warmup and total, as a number r from 0 to 1? Then half a cosine takes 1 down to 0, and floor and peak "
        "stretch it.",
        "Check `0 <= warmup < total` first. `if step < warmup: return …`; `r = min(1.0, (… - …) / (… - …))`; `return "
        "floor + (…) * (1 + math.cos(…)) / 2`.",
    ),
)


@learning_rate.oracle
def learning_rate_oracle(step, warmup, total, peak, floor=0.0):
    if warmup < 0 or warmup >= total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return float(peak) * (step + 1) / warmup
    share = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * math.cos(math.pi * share / 2) ** 2


learning_rate.example("the first step of a warm-up over 4", call(0, 4, 12, 0.1), check_types=True)
learning_rate.example("the last step of the warm-up, and the one after it", call(3, 4, 12, 0.1), call(4, 4, 12, 0.1))
learning_rate.example(
    "half-way down, and at the end", call(8, 4, 12, 0.1), call(10, 4, 12, 0.1), call(12, 4, 12, 0.1, floor=0.01)
)
learning_rate.example("down to a floor, and staying there", call(8, 4, 12, 0.5, floor=0.1), call(30, 4, 12, 0.5, 0.1))
learning_rate.example("no warm-up at all", call(0, 0, 10, 1.0))
learning_rate.example("a warm-up as long as the training", call(2, 10, 10, 1.0).raises("warmup", "total"))


@learning_rate.criterion("a straight line up to the peak", points=0.5)
def _(draw):
    for warmup, total in ((8, 30), (20, 21), (1, 6), (5, 500)):
        peak = draw.number(1e-4, 2.0)
        for n in sorted({0, warmup // 2, warmup - 1}):
            yield call(n, warmup, total, peak)
    yield call(step=3, warmup=10, total=40, peak=2, floor=0.5)
    yield call(step=0, warmup=10, total=40, peak=2, floor=0.5)  # below the floor, which holds only at the end
    yield call(2, 7, 40, draw.number(2e-5, 6e-5))  # as for fine-tuning: rounding to a few decimal places gives 0


@learning_rate.criterion("half a cosine down", points=0.5)
def _(draw):
    # Without the steps just before the end of a long training: there 1 + cos cancels, and a cosine in float32, which
    # is not a mistake, is off by 2e-4 of the result
    for warmup, total, last in ((8, 30, 29), (1, 6, 5), (50, 1000, 950)):
        peak = draw.number(1e-4, 2.0)
        for n in sorted({warmup, warmup + 1, (warmup + total) // 2, last}):
            yield call(n, warmup, total, peak)
        yield call(total, warmup, total, peak).check_with("zero_learning_rate")
    yield call(draw.integer(30, 90), 25, 100, draw.number(0.1, 1.0))
    yield call(61, 9, 130, draw.number(2e-5, 6e-5))


@learning_rate.criterion("floor, no warm-up, steps past the end", points=0.5)
def _(draw):
    low, peak = draw.number(0.01, 0.1), draw.number(0.5, 1.0)
    for n in (9, 20, 39, 40):
        yield call(n, 6, 40, peak, low)
    for n in (41, 47, 80, 1000):  # past the end, where a cosine would go up again
        yield call(n, 6, 40, peak, floor=low)
        yield call(n, 6, 40, peak).check_with("zero_learning_rate")
    for n in (0, 1, 13, 18):
        yield call(n, 0, 20, peak)
    yield call(0, 0, 1, peak, low)


@learning_rate.criterion("a float, and ValueError unless 0 <= warmup < total", points=0.5, check_types=True)
def _(draw):
    for n, warmup, total in ((0, 12, 12), (3, 31, 25), (0, -2, 9), (30, -1, 7), (40, 13, 13), (5, 0, 0), (0, 4, -3)):
        yield call(n, warmup, total, 0.5).raises("warmup", "total")
    yield call(5, 4, 30, 0.5).does_not_raise()
    for n in (2, 15, 40):  # on the way up, on the way down, past the end
        yield call(n, 4, 30, 0.5, 0.125)
