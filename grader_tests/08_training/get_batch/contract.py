"""`get_batch`: random windows of a text, and the next token for each of theirs."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, generator, helper, method, non_contiguous, ref

from .cases import drawn

BATCHES = "2. A batch of windows"

get_batch = exercise(
    "get_batch",
    result_names=("inputs", "targets"),
    see=BATCHES,
    hints=(
        "A window of block_size inputs and its targets together cover how many tokens? Where may it begin, first and "
        "last? Count the starts for a text of 6 tokens and block_size 3 with your finger.",
        "Draw batch_size whole numbers, the starts, with the generator. Cut two windows for each: one at the start, "
        "one a token later.",
        "`starts = torch.randint(…, (batch_size,), generator=generator)`; then either a list of slices and "
        "`torch.stack`, or one index `starts[:, None] + torch.arange(block_size)`. Before that, compare len(data) with "
        "block_size.",
    ),
)


@get_batch.oracle
def get_batch_oracle(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n, (batch_size,), generator=generator)
    windows = data.unfold(0, block_size + 1, 1)[starts.to(data.device)]
    return windows[:, :-1], windows[:, 1:]


get_batch.example(
    "four tokens and block_size 3: only one window fits",
    call(torch.tensor([5, 6, 7, 8]), 3, 2, generator(0)),
    check_types=True,
)


@get_batch.example("a text that counts upwards: every target is its input plus 1")
def _():
    s = Script(data=torch.arange(9))
    s.call(EXERCISE, s.data, 4, 3, generator(1), name="batch")
    s.call(method(ref("batch", 1), "sub"), ref("batch", 0), name="steps")
    yield s.case(ref("steps")).label("targets - inputs for get_batch(torch.arange(9), 4, 3, generator)")


@get_batch.example("inside a window, one token follows the other")
def _():
    s = Script(data=torch.arange(30))
    s.call(EXERCISE, s.data, 5, 2, generator(2), name="batch")
    s.call(method(ref("batch", 0), "diff"), name="steps")
    yield s.case(ref("steps")).label("inputs.diff() for get_batch(torch.arange(30), 5, 2, generator)")


@get_batch.example("the same state of the generator, the same batch")
def _():
    s = Script(data=torch.arange(100))
    s.call(helper("seed"), 1)
    s.call(EXERCISE, s.data, 5, 4, generator(3), name="first")
    s.call(helper("seed"), 2)
    s.call(EXERCISE, s.data, 5, 4, generator(3), name="again")
    s.call(method(ref("first", 0), "sub"), ref("again", 0), name="difference")
    yield s.case(ref("difference")).label("the inputs of two calls with equal generators, subtracted")


get_batch.example(
    "a text that is too short", call(torch.tensor([5, 6, 7]), 3, 2, generator(0)).raises("data", "block_size")
)


@get_batch.criterion("windows of the text, targets one step ahead, on its device", points=0.5, check_types=True)
def _(draw):
    for length, block_size, batch_size, layout in (
        (50, 7, 5, torch.Tensor.contiguous),
        (40, 6, 9, non_contiguous),
        (30, 1, 4, torch.Tensor.contiguous),
        (9, 8, 40, torch.Tensor.contiguous),  # an answer that draws one start too many surely uses it
        (12, 10, 1, torch.Tensor.contiguous),
    ):
        data = layout(draw.permutation(length) + 100)
        made = call(data, block_size, batch_size, generator(draw.integer(0, 10**6)))
        made = made.check_with("windows", data=data, block_size=block_size, batch_size=batch_size)
        yield made.does_not_mutate()
    yield call(draw.permutation(30), 4, 3, generator(5)).device_only()
    data = draw.permutation(20)
    made = call(data=data, block_size=5, batch_size=6, generator=generator(draw.integer(0, 10**6)))
    yield made.check_with("windows", data=data, block_size=5, batch_size=6)


@get_batch.criterion("every start that fits is equally likely", points=0.5)
def _(draw):
    # One large batch: a case below checks that the next one differs
    for length, block_size, batch_size in ((12, 4, 4000), (5, 3, 4000), (7, 1, 3000)):
        data = draw.permutation(length) + 50
        made = drawn(data, block_size, batch_size, 1, draw.integer(0, 10**6))
        yield made.check_with("uniform_starts", data=data, n_starts=length - block_size)


@get_batch.criterion("drawn one by one, from the generator and nothing else", points=0.5)
def _(draw):
    # 3 starts, and a block_size that is not a multiple of 3: consecutive rows do not look like equal ones
    data = draw.permutation(8)
    yield drawn(data, 5, 2, 1000, draw.integer(0, 10**6)).check_with("independent_starts", data=data, n_starts=3)
    # More windows than starts. That one of the three is missing has a probability below 1e-10.
    data = draw.permutation(7)
    made = call(data, 4, 64, generator(draw.integer(0, 10**6)))
    yield made.check_with("windows", data=data, block_size=4, batch_size=64)

    s = Script(data=torch.arange(100), generator=generator(seed := draw.integer(0, 10**6)))
    s.call(helper("seed"), 1)
    s.call(helper("generator_state"), s.generator, name="before")
    s.call(EXERCISE, s.data, 10, 20, s.generator, name="one")
    s.call(helper("generator_state"), s.generator, name="after")
    s.call(EXERCISE, s.data, 10, 20, s.generator, name="later")
    s.call(helper("seed"), 2)
    s.call(EXERCISE, s.data, 10, 20, generator(seed), name="again")
    s.call(EXERCISE, s.data, 10, 20, generator(seed + 1), name="other")
    made = s.case(*(ref(name) for name in ("one", "again", "other", "later", "before", "after")))
    yield made.check_with("batches_follow_generator").label("calls with equal and with different generators")


@get_batch.criterion("ValueError if the text is too short", points=0.5)
def _(draw):
    for length, block_size in ((8, 8), (5, 7), (1, 1)):
        data = draw.permutation(length) + 20
        yield call(data, block_size, 3, generator(0)).raises("data", "block_size")
    yield call(draw.permutation(9), 8, 2, generator(0)).does_not_raise()
