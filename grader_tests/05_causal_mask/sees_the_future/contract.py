"""`sees_the_future`: whether any output of a function depends on a later input."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, helper, non_contiguous, sample_model

from ...shared import BUILT_IN
from .cases import INF, asked, away_from_0, distant, future, leaking, leaks, near, past

sees_the_future = exercise(
    "sees_the_future",
    forbidden=BUILT_IN,
    see="Exercise: `sees_the_future(attention, x)`",
    hints=(
        "Suppose that position 2 of a function sees position 3, and nothing else is wrong. Which input do you have to "
        "change, and which output do you have to compare, to find this?",
        "Change each later position in turn, and see whether *any* output before it moves by more than "
        "rounding. Or let autograd do it all at once: the Jacobian has one number for each pair of an output "
        "entry and an input entry.",
        "`torch.autograd.functional.jacobian(attention, x)` has the shape (T, D, T, D). Take magnitudes, then "
        "the largest over both D: a (T, T) table of how much each input moves each output. Is anything above "
        "the diagonal larger than rounding? `bool` turns the tensor into a plain answer.",
    ),
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


sees_the_future.example(
    "adds the next token, times 0.001",
    call(sample_model("mixture", matrix=torch.eye(3) + 0.001 * torch.eye(3).roll(1, 1).triu()), torch.eye(3)[:, :2]),
)
sees_the_future.example(
    "adds the token before",
    call(sample_model("mixture", matrix=torch.eye(3) + torch.eye(3).roll(-1, 1).tril()), torch.eye(3)[:, :2]),
)


@sees_the_future.example("only the first output sees the second token")
def _():
    matrix = torch.eye(4)
    matrix[0, 1] = -1.0
    yield call(sample_model("mixture", matrix=matrix), torch.ones(4, 2))


sees_the_future.example(
    "a single token", call(sample_model("mixture", matrix=torch.full((1, 1), 3.0)), torch.ones(1, 2)), check_types=True
)


@sees_the_future.criterion("right and wrong masks", points=1.5)
def _(draw):
    T, D = 6, 4
    open_ = torch.zeros(T, T)
    masks = (
        ("attention with a causal mask", {"bias": future(T)}),
        ("attention whose mask leaves the next key open", {"bias": future(T, ahead=1)}),
        ("attention with positions and a causal mask", {"bias": future(T), "positions": draw.normal(T, D)}),
        ("attention that is masked after its softmax", {"bias": open_, "gate": torch.ones(T, T).tril()}),
        ("attention without a mask", {"bias": open_}),
        ("attention to a token and the one before it", {"bias": future(T).masked_fill(distant(T), -INF)}),
    )
    x = draw.normal(T, D)
    for text, made in masks:
        yield asked(text, sample_model("biased_attention", **made), x)
    # A change of a future key changes an output by 0.002 to 0.007 of that change
    filled = sample_model("biased_attention", bias=future(T, outside=-6.0))
    yield asked("attention that fills the future with -6", filled, near(draw, T, D))
    for letter in "BCFGH":
        yield asked(f"suspect {letter}", sample_model("suspect", letter=letter), draw.normal(7, 3))


@sees_the_future.criterion("a leak at one place only", points=1.25, tries="pair")
def _(draw):
    T = draw.integer(5, 8)
    middle = draw.integer(1, T - 2)
    for i, j in ((0, 1), (T - 2, T - 1), (0, T - 1), (middle, middle + 1), (0, T - 2)):
        yield leaks(leaking(draw, T, i, j, 0.5), draw.normal(T, 3), f"half of token {j} added to output {i}")
        yield leaks(past(draw, T), draw.normal(T, 3))
    # In a longer text than anybody would try by hand, and in the shortest
    yield leaks(leaking(draw, 13, 10, 11, -0.5), draw.normal(13, 2), "half of token 11 taken from output 10")
    yield leaks(leaking(draw, 2, 0, 1, -0.5), draw.normal(2, 5), "half of token 1 taken from output 0")
    bias = future(9)
    bias[6, 8] = 4.0
    yield leaks(leaking(draw, 5, 1, 3, 0.5), draw.normal(5, 1), "half of token 3, one number, added to output 1")
    text = "attention with a causal mask, but for key 8, open to query 6"
    yield asked(text, sample_model("biased_attention", bias=bias), near(draw, 9, 4))


@sees_the_future.criterion("a leak in some features only, or one that cancels", points=1.5, tries="entries")
def _(draw):
    T, D = 5, 4
    one = torch.zeros(D, D)
    one[2, 1] = -1.0  # feature 2 of an input affects feature 1 of an output
    # The rows of `against` sum to 0, and so do the features of an output. The columns of `levelled` sum to 0, so that
    # adding the same number to all features of an input changes nothing
    against = torch.eye(D) - torch.ones(D, D) / D + torch.outer(torch.ones(D), torch.tensor([1.0, -1.0, 1.0, -1.0]))
    levelled = (torch.eye(D) - torch.ones(D, D) / D) @ (torch.eye(D) + draw.uniform(D, D))
    for features, text in (
        (one, "one feature of token 3 added to another one of output 1"),
        (against, "differences of token 3 added to output 1, whose features sum to 0"),
        (levelled, "token 3, less the mean of its features, added to output 1"),
    ):
        yield leaks(leaking(draw, T, 1, 3, 0.7), draw.normal(T, D), text, features=features)
        yield leaks(past(draw, T), draw.normal(T, D), features=features)
    # Two outputs that change in opposite directions
    matrix = past(draw, T)
    matrix[1, 3], matrix[2, 3] = 0.4, -0.4
    yield leaks(matrix, draw.normal(T, D), "0.4 of token 3 added to output 1 and taken from output 2")
    # Two tokens that affect it by their difference
    matrix = past(draw, T)
    matrix[1, 3], matrix[1, 4] = 0.4, -0.4
    yield leaks(matrix, draw.normal(T, D), "0.4 of token 3, less 0.4 of token 4, added to output 1")
    # The square of a token, which is the same for its negative
    squares = torch.zeros(T, T)
    squares[1, 3] = 0.5
    yield leaks(past(draw, T), away_from_0(draw, T, D), "half of token 3, squared, added to output 1", even=squares)
    yield leaks(past(draw, T), away_from_0(draw, T, D), "squares of earlier tokens", even=past(draw, T))
    # After a layer norm, neither the sum nor the length of an output contains information
    for ahead, text in ((0, "a causal mask"), (1, "a mask that leaves the next key open")):
        function = sample_model("biased_attention", bias=future(T, ahead), normalised=True)
        yield asked(f"attention with {text}, and a layer norm after it", function, near(draw, T, D))
    # Tokens that are already 0, so that replacing them by 0 or by their negative changes nothing
    silent = draw.normal(T, D)
    silent[2:] = 0.0
    yield leaks(leaking(draw, T, 1, 3, 0.7), silent, "0.7 of token 3 added to output 1; tokens 2 to 4 are 0")
    yield leaks(past(draw, T), silent)


@sees_the_future.criterion("weak leaks, strong pasts", points=0.75)
def _(draw):
    for size in (1.2e-4, -2e-4):
        T = draw.integer(6, 9)
        text = f"token {{}} times {size}, added to output {{}}"
        yield leaks(leaking(draw, T, 1, 3, size), draw.normal(T, 5), text.format(3, 1))
        yield leaks(leaking(draw, 5, 2, 4, size), draw.normal(5, 4, dtype=torch.float64), text.format(4, 2))
    yield leaks(50.0 * past(draw, 6), draw.normal(6, 3))
    yield leaks(past(draw, 6), draw.normal(6, 5, dtype=torch.float64), "a layer norm after it", normalised=True)
    yield leaks(draw.normal(7, 7).tril(-2), draw.normal(7, 3), "nothing of a token itself, nor of the one before it")
    yield asked("a function that gives 0", sample_model("mixture", matrix=torch.zeros(4, 4)), draw.normal(4, 3))
    text = "a number made of later tokens, added and subtracted again"
    yield leaks(0.5 * past(draw, 6), draw.normal(6, 4), text, detour=draw.normal(6, 6).triu(1)).tries("rounding")


@sees_the_future.criterion(
    "True or False, x is left alone, and one token has no future", points=0.75, tries="bool", check_types=True
)
def _(draw):
    yield leaks(leaking(draw, 5, 2, 3, 0.5), draw.normal(5, 3), "half of token 3 added to output 2").does_not_mutate()
    causal = sample_model("biased_attention", bias=future(6))
    yield asked("attention with a causal mask", causal, draw.normal(6, 2)).does_not_mutate()
    yield leaks(draw.normal(1, 1), draw.normal(1, 4)).does_not_mutate().tries("bool", "single")
    single = sample_model("biased_attention", bias=torch.zeros(1, 1))
    yield asked("attention without a mask", single, non_contiguous(draw.normal(1, 3))).tries("bool", "single")
    ahead = sample_model("biased_attention", bias=future(5, ahead=1))
    text = "attention whose mask leaves the next key open"
    yield asked(text, ahead, non_contiguous(near(draw, 5, 3))).does_not_mutate()
    # `requires_grad_` changes a tensor, too
    s = Script(attention=causal, x=draw.normal(6, 2))
    s.call(EXERCISE, s.attention, s.x)
    s.call(helper("attribute"), s.x, "requires_grad", name="requires_grad")
    yield s.case().label("whether x requires a gradient after sees_the_future(attention, x)")


@sees_the_future.sizes(points=0.25, T=(1, 5, 20), D=(1, 3, 12))
def _(draw, T, D):
    if T == 1:
        return leaks(past(draw, T), draw.normal(T, D))
    i = draw.integer(0, T - 2)  # not the last token but one, which an answer finds that tries the next token only
    return leaks(leaking(draw, T, i, T - 1, 0.5), draw.normal(T, D), f"half of the last token added to output {i}")
