"""Lesson 08: batches, the loss, a block, the learning rate, a training step, evaluation, sampling, and the whole loop.

Random results are judged by how often each thing happens. Where a right answer draws n times independently and a thing
happens with probability p, `within_chance` is the judge: its bound holds for every n and p, not only for many.
"""

import math
import random

import torch
from torch import nn
from torch.nn import functional as F

from grading.judge.exercise import (
    SUBJECT,
    Script,
    call,
    exercise,
    generator,
    helper,
    method,
    non_contiguous,
    ref,
    specimen,
    student,
)

BATCHES = "2. A batch of windows"
LOSS = "3. How surprised is it?"
BLOCK = "4. A block, and a model"
RATE = "5. How large a step?"
STEP = "6. One step"
EVALUATION = "7. Looking without touching"
SAMPLING = "8. Writing"
TRAINING = "9. Training it"


def within_chance(count, n, p):
    """Whether `count` of `n` independent events of probability `p` is a number that chance can give.

    Bernstein's inequality: P(|count - n p| >= s) <= 2 exp(-s^2 / (2 n p (1 - p) + 2 s / 3)). The s solved for here
    makes that 2 exp(-22), below 6e-10, so that hundreds of such questions together stay below one in a million.
    """
    slack = 22 / 3 + math.sqrt((22 / 3) ** 2 + 44 * n * p * (1 - p))
    return abs(count - n * p) <= slack


# ------------------------------------------------------------------------------------------------- get_batch

get_batch = exercise("get_batch", points=2, see=BATCHES)
get_batch.hints = (
    "A window of block_size inputs and its targets together cover how many tokens? Where may it begin, first and last? "
    "Count the starts for a text of 6 tokens and block_size 3 with your finger.",
    "Draw batch_size whole numbers, the starts, with the generator. Cut two windows for each: one at the start, one a "
    "token later.",
    "`starts = torch.randint(…, (batch_size,), generator=generator)`; then either a list of slices and `torch.stack`, or "
    "one index `starts[:, None] + torch.arange(block_size)`. Before that, compare len(data) with block_size.",
)


@get_batch.oracle
def get_batch_oracle(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n, (batch_size,), generator=generator)
    windows = data.unfold(0, block_size + 1, 1)[starts.to(data.device)]
    return windows[:, :-1], windows[:, 1:]


@get_batch.example("four tokens and block_size 3: only one window fits")
def _():
    yield call(torch.tensor([5, 6, 7, 8]), 3, 2, generator(0))


@get_batch.example("a text that counts upwards: every target is its input plus 1")
def _():
    s = Script(data=torch.arange(9))
    s.call(SUBJECT, s.data, 4, 3, generator(1), name="batch")
    s.call(method(ref("batch", 1), "sub"), ref("batch", 0), name="steps")
    yield s.case(ref("steps")).described("targets - inputs for get_batch(torch.arange(9), 4, 3, generator)")


@get_batch.example("inside a window, one token follows the other")
def _():
    s = Script(data=torch.arange(30))
    s.call(SUBJECT, s.data, 5, 2, generator(2), name="batch")
    s.call(method(ref("batch", 0), "diff"), name="steps")
    yield s.case(ref("steps")).described("inputs.diff() for get_batch(torch.arange(30), 5, 2, generator)")


@get_batch.example("the same state of the generator, the same batch")
def _():
    s = Script(data=torch.arange(100))
    s.call(helper("seed"), 1)
    s.call(SUBJECT, s.data, 5, 4, generator(3), name="first")
    s.call(helper("seed"), 2)
    s.call(SUBJECT, s.data, 5, 4, generator(3), name="again")
    s.call(method(ref("first", 0), "sub"), ref("again", 0), name="difference")
    yield s.case(ref("difference")).described("the inputs of two calls with equal generators, subtracted")


@get_batch.example("a text that is too short")
def _():
    yield call(torch.tensor([5, 6, 7]), 3, 2, generator(0)).raising("data", "block_size")


def windows(data, block_size, batch_size):
    """Judges form and content of a batch of `data`, whose tokens are all different."""

    def judge(seen, exact):
        result = seen.values["result"]
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            return "the result must be a tuple of two tensors, (inputs, targets)"
        for name, one in zip(("inputs", "targets"), result, strict=True):
            if tuple(one.shape) != (batch_size, block_size):
                return f"{name} has the shape {tuple(one.shape)}, and must have {(batch_size, block_size)}"
            if one.dtype != torch.int64:
                return f"{name} has the dtype {one.dtype}, and must have that of data, torch.int64"
        place = {token: i for i, token in enumerate(data.tolist())}
        for inputs, targets in zip(*(one.tolist() for one in result), strict=True):
            found = [place.get(token, -1) for token in inputs]
            if -1 in found or found != list(range(found[0], found[0] + block_size)):
                return "a row of inputs is not a window of data, token after token"
            after = [place.get(token, -1) for token in targets]
            if after != [i + 1 for i in found]:
                return "the targets of a row are not the tokens one step after its inputs"
        return "the call changed data in place" if seen.changed else None

    return judge


@get_batch.criterion("windows of the text, targets one step ahead", points=0.5)
def _(draw):
    for length, block_size, batch_size, layout in (
        (50, 7, 5, torch.Tensor.contiguous), (40, 6, 9, non_contiguous), (30, 1, 4, torch.Tensor.contiguous),
        (9, 8, 3, torch.Tensor.contiguous), (12, 10, 1, torch.Tensor.contiguous),
    ):  # fmt: skip
        data = layout(draw.permutation(length) + 100)
        made = call(data, block_size, batch_size, generator(draw.integer(0, 10**6)))
        yield made.holding(windows(data, block_size, batch_size))
    data = draw.permutation(20)
    made = call(data=data, block_size=5, batch_size=6, generator=generator(draw.integer(0, 10**6)))
    yield made.holding(windows(data, 5, 6))


def starts_of(seen, data):
    """The starts of all batches observed as "result", in the order in which they were drawn; or None."""
    place = {token: i for i, token in enumerate(data.tolist())}
    firsts = torch.cat([torch.as_tensor(batch[0])[:, 0] for batch in seen.values["result"]]).tolist()
    found = [place.get(token) for token in firsts]
    return None if None in found else found


def evenly(data, n_starts):
    """Judges the number of times that each start was drawn. At most 12 questions of 6e-10 for each case."""

    def judge(seen, exact):
        starts = starts_of(seen, data)
        if starts is None:
            return "a window begins with a token that data does not hold"
        for start in range(len(data)):
            count, p = starts.count(start), 1 / n_starts if start < n_starts else 0.0
            if not p and count:
                return f"a window began at {start}, where no window fits"
            if not within_chance(count, len(starts), p):
                return f"of {len(starts)} windows {count} began at {start}, of {n_starts} starts that fit"
        return None

    return judge


def drawn(data, block_size, batch_size, calls, seed):
    """Many batches from one generator."""
    s = Script(data=data, generator=generator(seed))
    s.call(
        helper("repeat"), calls, student("get_batch"), s.data, block_size, batch_size, s.generator, name="result"
    )
    text = f"{calls} calls of get_batch on {len(data)} tokens, block_size {block_size}, batch_size {batch_size}"
    return s.case().described(text)


@get_batch.criterion("every start that fits is equally likely", points=0.5)
def _(draw):
    for length, block_size, batch_size in ((12, 4, 400), (5, 3, 400), (7, 1, 300)):
        data = draw.permutation(length) + 50
        made = drawn(data, block_size, batch_size, 10, draw.integer(0, 10**6))
        yield made.holding(evenly(data, length - block_size))


def one_by_one(data, n_starts):
    """Judges the starts that follow each other, inside a batch (of two) and from one batch to the next.

    With n_starts = 4: twice 16 kinds of pairs, 32 questions of 6e-10.
    """

    def judge(seen, exact):
        starts = starts_of(seen, data)
        if starts is None:
            return "a window begins with a token that data does not hold"
        for offset, where in enumerate(("of one batch", "of two batches in a row")):
            pairs = list(zip(starts[offset::2], starts[offset + 1 :: 2], strict=False))
            for first in range(n_starts):
                for second in range(n_starts):
                    count = pairs.count((first, second))
                    if not within_chance(count, len(pairs), n_starts**-2):
                        return f"the starts {where} depend on each other: {count} of {len(pairs)} pairs are alike"
        return None

    return judge


@get_batch.criterion("drawn one by one, from the generator and nothing else", points=0.5)
def _(draw):
    data = draw.permutation(9)
    yield drawn(data, 5, 2, 800, draw.integer(0, 10**6)).holding(one_by_one(data, 4))
    # More windows than starts. That one of the three is missing has a probability below 1e-10.
    data = draw.permutation(7)
    made = call(data, 4, 64, generator(draw.integer(0, 10**6)))
    yield made.holding(windows(data, 4, 64))

    def by_the_generator(seen, exact):
        """Two batches of 20 of 90 starts are equal by chance with a probability of 1e-39."""
        one, again, other, later = (seen.values[name][0] for name in ("one", "again", "other", "later"))
        if not torch.equal(one, again):
            return "the same state of the generator gave two different batches"
        if torch.equal(one, other):
            return "generators with different seeds gave the same batch"
        if torch.equal(one, later) or torch.equal(seen.values["before"], seen.values["after"]):
            return "two calls with one generator gave the same batch: its state does not move on"
        return None

    s = Script(data=torch.arange(100), generator=generator(seed := draw.integer(0, 10**6)))
    s.call(helper("seed"), 1)
    s.call(helper("generator_state"), s.generator, name="before")
    s.call(SUBJECT, s.data, 10, 20, s.generator, name="one")
    s.call(helper("generator_state"), s.generator, name="after")
    s.call(SUBJECT, s.data, 10, 20, s.generator, name="later")
    s.call(helper("seed"), 2)
    s.call(SUBJECT, s.data, 10, 20, generator(seed), name="again")
    s.call(SUBJECT, s.data, 10, 20, generator(seed + 1), name="other")
    made = s.case(*(ref(name) for name in ("one", "again", "other", "later", "before", "after")))
    yield made.holding(by_the_generator).described("calls with equal and with different generators")


@get_batch.criterion("ValueError if the text is too short", points=0.5)
def _(draw):
    for length, block_size in ((8, 8), (5, 7), (1, 1)):
        data = draw.permutation(length) + 20
        yield call(data, block_size, 3, generator(0)).raising("data", "block_size")
    data = draw.permutation(9)
    yield call(data, 8, 2, generator(0)).holding(windows(data, 8, 2))


WINDOWS = "windows of the text, targets one step ahead"
EVENLY = "every start that fits is equally likely"
DRAWN = "drawn one by one, from the generator and nothing else"
SHORT = "ValueError if the text is too short"


@get_batch.mistake(
    "Your targets are the inputs themselves. A model trained on them learns to repeat what it sees, with a loss of 0: "
    "the targets begin one token later.",
    shows=WINDOWS,
)
def forgets_to_shift(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n, (batch_size,), generator=generator)
    inputs = torch.stack([data[s : s + block_size] for s in starts])
    return inputs, inputs.clone()


@get_batch.mistake(
    "Your targets lie two steps ahead: each is the token after the one that should be foretold.", shows=WINDOWS
)
def shifts_twice(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n, (batch_size,), generator=generator)
    place = starts[:, None] + torch.arange(block_size)
    return data[place], data[(place + 2).clamp(max=len(data) - 1)]


@get_batch.mistake(
    "Inputs and targets have changed places: your targets lie one step *behind* the inputs.", shows=WINDOWS
)
def looks_back(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n, (batch_size,), generator=generator)
    place = starts[:, None] + torch.arange(block_size)
    return data[place + 1], data[place]


@get_batch.mistake(
    "Your targets hold the one token after each window only. Every position of the window has a target of its own.",
    shows=WINDOWS,
)
def one_target_for_a_window(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n, (batch_size,), generator=generator)
    return torch.stack([data[s : s + block_size] for s in starts]), data[starts + block_size]


@get_batch.mistake(
    "Your windows have the length of the batch and there are block_size of them: (T, B) instead of (B, T).",
    shows=WINDOWS,
)
def puts_time_first(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n, (batch_size,), generator=generator)
    place = torch.arange(block_size)[:, None] + starts
    return data[place], data[place + 1]


@get_batch.mistake(
    "Your ids are no longer int64: an embedding needs whole numbers, and the loss int64 targets.", shows=WINDOWS
)
def makes_floats(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n, (batch_size,), generator=generator)
    inputs, targets = torch.zeros(2, batch_size, block_size)
    for row, s in enumerate(starts):
        inputs[row], targets[row] = data[s : s + block_size], data[s + 1 : s + 1 + block_size]
    return inputs, targets


@get_batch.mistake(
    "The last window is never drawn: the bound of torch.randint is already one past the greatest number. Of L tokens, "
    "L - block_size starts fit.",
    shows=(EVENLY, SHORT),
)
def never_draws_the_last_window(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n - 1, (batch_size,), generator=generator)
    place = starts[:, None] + torch.arange(block_size)
    return data[place], data[place + 1]


@get_batch.mistake(
    "A start too many: the window at the last start has no token left for its last target. The window *and one more "
    "token* must fit.",
    shows=EVENLY,
)
def runs_past_the_end(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n + 1, (batch_size,), generator=generator)
    inputs = torch.stack([data[s : s + block_size] for s in starts])
    return inputs, torch.stack([data[s + 1 : s + 1 + block_size] for s in starts])


@get_batch.mistake(
    "Starts that do not fit are moved to the last one that does, which is therefore drawn far too often. Draw among "
    "those that fit in the first place.",
    shows=EVENLY,
)
def moves_starts_into_range(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(len(data), (batch_size,), generator=generator).clamp(max=n - 1)
    place = starts[:, None] + torch.arange(block_size)
    return data[place], data[place + 1]


@get_batch.mistake(
    "Your windows start at multiples of block_size only. They may overlap: every place is a start.", shows=EVENLY
)
def cuts_the_text_into_pieces(data, block_size, batch_size, generator):
    n = (len(data) - 1) // block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n, (batch_size,), generator=generator) * block_size
    place = starts[:, None] + torch.arange(block_size)
    return data[place], data[place + 1]


@get_batch.mistake(
    "Your windows run over the end of the text and go on at its beginning, a sequel that nobody wrote.", shows=EVENLY
)
def goes_round(data, block_size, batch_size, generator):
    if len(data) <= block_size:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(len(data), (batch_size,), generator=generator)
    place = starts[:, None] + torch.arange(block_size)
    return data[place % len(data)], data[(place + 1) % len(data)]


@get_batch.mistake(
    "All windows of a batch are the same: draw a start for each row.", shows=DRAWN
)
def draws_one_start_for_all(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    s = torch.randint(n, (1,), generator=generator).item()
    inputs = data[s : s + block_size].repeat(batch_size, 1)
    return inputs, data[s + 1 : s + 1 + block_size].repeat(batch_size, 1)


@get_batch.mistake(
    "Only the first start is drawn, and the other rows follow it step by step. Draw a start for each row.", shows=DRAWN
)
def takes_neighbours(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = (torch.randint(n, (1,), generator=generator) + torch.arange(batch_size)) % n
    place = starts[:, None] + torch.arange(block_size)
    return data[place], data[place + 1]


@get_batch.mistake(
    "You draw without replacement: no window comes twice, and a batch cannot hold more windows than there are starts.",
    shows=DRAWN,
)
def draws_without_replacement(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randperm(n, generator=generator)[:batch_size]
    place = starts[:, None] + torch.arange(block_size)
    return data[place], data[place + 1]


@get_batch.mistake(
    "The generator is not used: your starts come from torch's global state, so nobody can repeat the run by its seed.",
    shows=DRAWN,
)
def draws_from_the_global_state(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n, (batch_size,))
    place = starts[:, None] + torch.arange(block_size)
    return data[place], data[place + 1]


@get_batch.mistake(
    "You seed the generator anew in every call, so every batch of the training is the same one.", shows=DRAWN
)
def seeds_in_every_call(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    generator.manual_seed(generator.initial_seed())
    starts = torch.randint(n, (batch_size,), generator=generator)
    place = starts[:, None] + torch.arange(block_size)
    return data[place], data[place + 1]


@get_batch.mistake(
    "Where the text is too short an error arises inside PyTorch. Check the lengths yourself, and raise a ValueError "
    "that names data or block_size.",
    shows=SHORT,
)
def checks_no_length(data, block_size, batch_size, generator):
    starts = torch.randint(len(data) - block_size, (batch_size,), generator=generator)
    place = starts[:, None] + torch.arange(block_size)
    return data[place], data[place + 1]


@get_batch.mistake(
    "You accept a text of block_size tokens. The last target needs one more.", shows=SHORT
)
def accepts_a_token_too_few(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 0:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(max(n, 1), (batch_size,), generator=generator)
    place = starts[:, None] + torch.arange(block_size)
    return data[place], data[(place + 1).clamp(max=len(data) - 1)]


@get_batch.mistake(
    "You refuse a text of block_size + 1 tokens, into which exactly one window fits.", shows=(SHORT, WINDOWS)
)
def refuses_the_shortest(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 2:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n, (batch_size,), generator=generator)
    place = starts[:, None] + torch.arange(block_size)
    return data[place], data[place + 1]


@get_batch.mistake(
    "Your ValueError does not say which argument was wrong. Name it, as in the signature, with its value or shape.",
    shows=SHORT,
)
def names_nothing(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError("the text is too short")
    starts = torch.randint(n, (batch_size,), generator=generator)
    place = starts[:, None] + torch.arange(block_size)
    return data[place], data[place + 1]


@get_batch.alternative
def batch_by_slices(data, block_size, batch_size, generator):
    if len(data) <= block_size:
        raise ValueError(f"data has {len(data)} tokens, too few for block_size={block_size}")
    ix = torch.randint(len(data) - block_size, (batch_size,), generator=generator)
    x = torch.stack([data[i : i + block_size] for i in ix])
    y = torch.stack([data[i + 1 : i + block_size + 1] for i in ix])
    return x, y


@get_batch.alternative
def batch_by_rand(data, block_size, batch_size, generator):
    fits = data.numel() - block_size
    if fits <= 0:
        raise ValueError("data too short: %d tokens, block_size %d" % (data.numel(), block_size))
    starts = (torch.rand(batch_size, 1, generator=generator, dtype=torch.float64) * fits).long()
    index = (starts + torch.arange(block_size + 1)).to(data.device)
    both = torch.take(data, index)
    return both[:, :block_size].contiguous(), both[:, -block_size:].contiguous()


@get_batch.alternative
def batch_by_multinomial(data, block_size, batch_size, generator):
    if data.size(0) < block_size + 1:
        raise ValueError(f"block_size {block_size} leaves no room for a target")
    chances = torch.ones(data.size(0) - block_size)
    starts = torch.multinomial(chances, batch_size, replacement=True, generator=generator)
    rows = [data.narrow(0, start, block_size + 1) for start in starts.tolist()]
    return torch.stack([r[:-1] for r in rows]), torch.stack([r[1:] for r in rows])


@get_batch.alternative
def batch_row_by_row(data, block_size, batch_size, generator):
    last = len(data) - block_size - 1
    if last < 0:
        raise ValueError(f"expected more than block_size = {block_size} tokens")
    inputs = torch.empty(batch_size, block_size, dtype=data.dtype, device=data.device)
    targets = torch.empty_like(inputs)
    for row in range(batch_size):
        start = torch.randint(0, last + 1, (), generator=generator).item()
        for t in range(block_size):
            inputs[row, t] = data[start + t]
            targets[row, t] = data[start + t + 1]
    return [inputs, targets]


@get_batch.alternative
def batch_by_shuffles(data, block_size, batch_size, generator):
    """The first place of a fresh shuffle is a fair draw."""
    n = len(data) - block_size
    if n <= 0:
        raise ValueError(f"data: {list(data.shape)} is too short")
    starts = torch.stack([torch.randperm(n, generator=generator)[0] for _ in range(batch_size)]).to(data.device)
    return (data.unfold(0, block_size, 1)[starts], data[1:].unfold(0, block_size, 1)[starts])


@get_batch.alternative
def batch_by_a_random_state(data, block_size, batch_size, generator):
    """Python's own random numbers, seeded by the generator."""
    if not len(data) > block_size:
        raise ValueError(f"a block_size of {block_size} does not fit")
    dice = random.Random(torch.randint(2**62, (1,), generator=generator).item())
    starts = [dice.randrange(len(data) - block_size) for _ in range(batch_size)]
    place = torch.tensor(starts, device=data.device)[:, None] + torch.arange(block_size, device=data.device)
    return data[place], data[place + 1]


# ------------------------------------------------------------------------------------- language_model_loss

language_model_loss = exercise(
    "language_model_loss", points=3, see=LOSS, forbidden=("(?!binary).*cross_entropy.*", "nll_loss.*")
)
language_model_loss.hints = (
    "With which formula does the logarithm of a softmax get by without ever making a number that overflows, or a "
    "logarithm of 0? What do you pick out of the N numbers of a position?",
    "Log-probabilities first, (B, T, N). Then pick the one of each target, (B, T). Then a mean over those positions that "
    "are not ignored; a target such as -100 is no index, so replace it before picking.",
    "`logp = torch.log_softmax(logits, …)`; `counts = targets != ignore_index`; `safe = targets.where(counts, …)`; "
    "`picked = logp.gather(…, safe.unsqueeze(…)).squeeze(…)`; return the sum over `counts` divided by their number, "
    "which must not be 0.",
)


@language_model_loss.oracle
def language_model_loss_oracle(logits, targets, ignore_index=-100):
    total = logits.new_zeros(())
    count = 0
    for row, wanted in zip(logits.flatten(0, 1), targets.flatten().tolist(), strict=True):
        if wanted != ignore_index:
            total = total + torch.logsumexp(row, 0) - row[wanted]
            count += 1
        else:
            total = total + 0 * row.sum()
    return total / max(count, 1)


@language_model_loss.example("two positions, two tokens: a loss of log 2")
def _():
    yield call(torch.zeros(1, 2, 2), torch.tensor([[0, 1]]))


@language_model_loss.example("probabilities of 3/4 and 1/4")
def _():
    yield call(torch.tensor([[[math.log(3.0), 0.0], [math.log(3.0), 0.0]]]), torch.tensor([[0, 1]]))


@language_model_loss.example("two sentences, with gradients")
def _():
    logits = torch.tensor([[[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]], [[2.0, 0.0, 1.0], [1.0, -1.0, 3.0]]])
    yield call(logits, torch.tensor([[1, 0], [2, 2]])).with_gradients()


@language_model_loss.example("one target is ignored")
def _():
    yield call(torch.tensor([[[1.0, 0.0], [0.0, 5.0], [2.0, 0.0]]]), torch.tensor([[0, -100, 1]]))


@language_model_loss.example("another number stands for “ignore”")
def _():
    logits = torch.tensor([[[1.0, 0.0, 2.0], [0.0, 5.0, 1.0], [2.0, 0.0, 0.0]]])
    yield call(logits, torch.tensor([[0, 2, 1]]), ignore_index=2)


@language_model_loss.example("all targets are ignored")
def _():
    yield call(torch.tensor([[[1.0, 0.0], [0.0, 5.0]]]), torch.tensor([[-1, -1]]), ignore_index=-1)


@language_model_loss.example("huge logits")
def _():
    yield call(torch.tensor([[[1e4, 0.0, -1e4], [0.0, 9000.0, 9000.0]]]), torch.tensor([[0, 1]]))


@language_model_loss.criterion("the mean negative log-likelihood", points=1)
def _(draw):
    for B, T, N in ((2, 5, 7), (3, 1, 6), (1, 8, 3), (4, 3, 5)):
        yield call(draw.normal(B, T, N, scale=2.0), draw.integers(0, N, B, T))
    yield call(logits=draw.normal(2, 3, 40), targets=draw.integers(0, 40, 2, 3))


@language_model_loss.criterion("ignored targets do not count", points=0.5)
def _(draw):
    for ignored in (-100, -1, 2, 30):
        targets = draw.integers(3, 8, 4, 6)
        targets[draw.chance(0.4, 4, 6)] = ignored
        targets[0, 0], targets[1, 1] = 5, ignored
        targets[2] = ignored  # a whole row
        made = call(draw.normal(4, 6, 9, scale=2.0), targets, **({} if ignored == -100 else {"ignore_index": ignored}))
        yield made.with_gradients()


def zero(shape=()):
    def judge(seen, exact):
        result = seen.values["result"]
        if not isinstance(result, torch.Tensor) or tuple(result.shape) != shape:
            return "where all targets are ignored the result must be a tensor of shape ()"
        if not float(result) == 0.0:
            return "where all targets are ignored the loss must be 0"
        if any(g is not None and not bool((g == 0).all()) for g in (seen.gradients or {}).values()):
            return "where all targets are ignored every gradient must be 0"
        return None

    return judge


@language_model_loss.criterion("0 where all targets are ignored", points=0.5)
def _(draw):
    yield call(draw.normal(2, 3, 5), torch.full((2, 3), -100)).with_gradients().holding(zero())
    yield call(draw.normal(1, 4, 3), torch.full((1, 4), 1), 1).with_gradients().holding(zero())


def near(seen, exact):
    """The contract's own bound for logits as large as 1e4: right to 1e-2."""
    found, wanted = seen.values["result"], exact.values["result"]
    if not isinstance(found, torch.Tensor) or found.shape != wanted.shape:
        return "the result must be a tensor of shape ()"
    if not bool(found.isfinite()):
        return "the loss is NaN or infinite"
    if not abs(float(found) - float(wanted)) <= 1e-2:
        return "the loss is off by more than 0.01"
    bad = [g for g in (seen.gradients or {}).values() if g is not None and not bool(g.isfinite().all())]
    return "the gradient is NaN or infinite" if bad else None


@language_model_loss.criterion("logits as large as 1e4", points=0.5)
def _(draw):
    for scale in (1e4, -1e4):
        logits = scale + draw.normal(2, 3, 5)  # all of a size: only their differences matter
        yield call(logits, draw.integers(0, 5, 2, 3)).with_gradients().holding(near)
    logits = draw.uniform(3, 2, 6, low=-1e4, high=1e4)
    yield call(logits, draw.integers(0, 6, 3, 2)).with_gradients().holding(near)
    surprised = torch.tensor([[[1e4, -1e4, 0.0], [-1e4, 9e3, 1e4]]])
    yield call(surprised, torch.tensor([[1, 0]])).with_gradients().holding(near)


@language_model_loss.criterion("gradients, float64, any layout, arguments left alone", points=0.5)
def _(draw):
    yield call(draw.normal(2, 4, 6), draw.integers(0, 6, 2, 4)).with_gradients()
    yield call(draw.normal(3, 2, 5, dtype=torch.float64), draw.integers(0, 5, 3, 2)).with_gradients().unchanged()
    logits = draw.normal(4, 3, 5).transpose(0, 1)
    targets = draw.integers(0, 5, 4, 3).transpose(0, 1)
    targets[1, 2] = -100
    yield call(logits, targets).with_gradients().unchanged()


MEAN = "the mean negative log-likelihood"
IGNORED = "ignored targets do not count"
ALL = "0 where all targets are ignored"
HUGE = "logits as large as 1e4"
FLOW = "gradients, float64, any layout, arguments left alone"


@language_model_loss.mistake(
    "The sign is wrong: log-probabilities are negative, and the loss is minus their mean.", shows=(MEAN, HUGE)
)
def forgets_the_minus(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return (picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake("You return the sum of the losses, not their mean.", shows=(MEAN, IGNORED))
def sums(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum()


@language_model_loss.mistake("You return one loss for each position. The loss is a single number, their mean.", shows=MEAN)
def keeps_the_positions(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    return -logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1) * counts


@language_model_loss.mistake(
    "Your probabilities sum to 1 along the positions, not along the vocabulary: look at the `dim` of the softmax.",
    shows=MEAN,
)
def normalises_over_positions(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.log_softmax(1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake(
    "A softmax too many: log_softmax wants the logits as they are. Fed with probabilities the loss can hardly fall.",
    shows=MEAN,
)
def takes_the_softmax_twice(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.softmax(-1).log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake(
    "You pick the logit of each target, not its log-probability: the logits have to be normalised first.", shows=MEAN
)
def forgets_to_normalise(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake(
    "Logits and targets are laid flat in different orders, so that each position is held to another one's target.",
    shows=MEAN,
)
def flattens_in_another_order(logits, targets, ignore_index=-100):
    flat, wanted = logits.reshape(-1, logits.shape[-1]), targets.t().reshape(-1)
    counts = wanted != ignore_index
    safe = wanted.where(counts, torch.zeros_like(wanted))
    picked = flat.log_softmax(-1).gather(-1, safe[:, None])[:, 0]
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake(
    "You shift once more inside the loss. The targets are already one step ahead; position t belongs to targets[:, t].",
    shows=MEAN,
)
def shifts_inside(logits, targets, ignore_index=-100):
    logits, targets = logits[:, :-1], targets[:, 1:]
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake(
    "Your logarithm is to the base 2, so the loss is in bits. In this lesson it is in nats, the natural logarithm.",
    shows=MEAN,
)
def counts_in_bits(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1) / math.log(2)
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake(
    "You average the probabilities and take the logarithm afterwards. It is the logarithms that are averaged.",
    shows=MEAN,
)
def averages_probabilities(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    if not counts.any():
        return (picked * counts).sum()
    return -(torch.logsumexp(picked[counts], 0) - counts.sum().log())


@language_model_loss.mistake(
    "You return the perplexity, the exponential of the loss.", shows=(MEAN, ALL)
)
def returns_the_perplexity(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return torch.exp(-(picked * counts).sum() / counts.sum().clamp(min=1))


@language_model_loss.mistake(
    "You divide by the number of all targets. The mean is over those that are not ignored.", shows=IGNORED
)
def divides_by_all(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum() / counts.numel()


@language_model_loss.mistake(
    "You take a mean for each sentence and then the mean of those. Where sentences have different numbers of targets, "
    "that is another number: every target counts alike.",
    shows=IGNORED,
)
def averages_sentence_by_sentence(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return (-(picked * counts).sum(1) / counts.sum(1).clamp(min=1)).mean()


@language_model_loss.mistake(
    "Ignored targets are counted: you replace them by a token and go on. They must not reach the mean.",
    shows=(IGNORED, ALL),
)
def counts_the_ignored(logits, targets, ignore_index=-100):
    safe = targets.where(targets != ignore_index, torch.zeros_like(targets))
    return -logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1).mean()


@language_model_loss.mistake(
    "You never look at ignore_index: an ignored target is used as an index.", shows=(IGNORED, ALL)
)
def knows_no_ignoring(logits, targets, ignore_index=-100):
    return -logits.log_softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1).mean()


@language_model_loss.mistake(
    "You ignore -100 whatever ignore_index says. Compare with the argument.", shows=(IGNORED, ALL)
)
def knows_minus_100_only(logits, targets, ignore_index=-100):
    counts = targets != -100
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake(
    "You ignore every negative target, and no other. ignore_index may be any number, that of a token included.",
    shows=IGNORED,
)
def ignores_what_is_negative(logits, targets, ignore_index=-100):
    counts = targets >= 0
    safe = targets.clamp(min=0)
    picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake(
    "Where all targets are ignored you divide 0 by 0. The loss is 0 then, and so is its gradient.", shows=ALL
)
def divides_by_nothing(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    return -logits[counts].log_softmax(-1).gather(-1, targets[counts][:, None]).mean()


@language_model_loss.mistake(
    "Where all targets are ignored the NaN is replaced afterwards. The value is 0 then, and the gradient still NaN.",
    shows=ALL,
)
def mends_the_value_only(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    mean = -(picked * counts).sum() / counts.sum()
    return torch.where(counts.any(), mean, 0.0 * picked.sum())


@language_model_loss.mistake(
    "The exponentials overflow: with logits of 1e4 they are infinite. Let log_softmax or logsumexp do it, or subtract "
    "the maximum first.",
    shows=HUGE,
)
def overflows(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    logp = logits - logits.exp().sum(-1, keepdim=True).log()
    picked = logp.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake(
    "The logarithm of the softmax is infinite where a probability is too small for the dtype. Use log_softmax.",
    shows=HUGE,
)
def takes_the_logarithm_of_softmax(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.softmax(-1).log().gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake(
    "A small number is added to the probability before the logarithm. That bounds the loss: what is very wrong no "
    "longer costs what it should. Use log_softmax.",
    shows=HUGE,
)
def adds_a_small_number(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = (logits.softmax(-1) + 1e-9).log().gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake(
    "The value is right, but no gradient can pass: the result was detached (`.detach()`, `.item()`, no_grad). Nothing "
    "could be learnt from it.",
    shows=(FLOW, IGNORED),
)
def detaches_the_loss(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.detach().log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake(
    "You write into targets while replacing what is ignored: the caller's tensor is changed. Work on a new one.",
    shows=FLOW,
)
def overwrites_the_targets(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    targets[~counts] = 0
    picked = logits.log_softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.mistake(
    "`view` fails where the numbers do not lie in memory in the order of the shape. Use reshape or flatten.", shows=FLOW
)
def flattens_by_view(logits, targets, ignore_index=-100):
    flat, wanted = logits.view(-1, logits.shape[-1]), targets.view(-1)
    counts = wanted != ignore_index
    picked = flat.log_softmax(-1).gather(-1, wanted.where(counts, torch.zeros_like(wanted))[:, None])[:, 0]
    return -(picked * counts).sum() / counts.sum().clamp(min=1)


@language_model_loss.alternative
def loss_by_gather(logits, targets, ignore_index=-100):
    counts = targets.ne(ignore_index)
    logp = F.log_softmax(logits, dim=-1)
    nll = -logp.gather(2, targets.masked_fill(~counts, 0)[..., None])[..., 0]
    return nll.masked_fill(~counts, 0.0).sum() / max(1, int(counts.sum()))


@language_model_loss.alternative
def loss_by_logsumexp(logits, targets, ignore_index=-100):
    kept = (targets != ignore_index).reshape(-1)
    rows, wanted = logits.reshape(-1, logits.size(-1))[kept], targets.reshape(-1)[kept]
    if len(wanted) == 0:
        return logits.sum() * 0.0
    return (rows.logsumexp(1) - rows[torch.arange(len(rows), device=rows.device), wanted]).mean()


@language_model_loss.alternative
def loss_by_one_hot(logits, targets, ignore_index=-100):
    classes = torch.arange(logits.shape[-1], device=logits.device)
    hot = (targets[..., None] == classes) & (targets != ignore_index)[..., None]
    shifted = logits - logits.amax(-1, keepdim=True)
    logp = shifted - shifted.exp().sum(-1, keepdim=True).log()
    return -torch.einsum("btn,btn->", hot.to(logp.dtype), logp) / hot.sum().clamp_min(1)


@language_model_loss.alternative
def loss_by_a_distribution(logits, targets, ignore_index=-100):
    keep = targets != ignore_index
    if not keep.any():
        return logits.new_zeros(())
    return -torch.distributions.Categorical(logits=logits[keep]).log_prob(targets[keep]).mean()


@language_model_loss.alternative
def loss_position_by_position(logits, targets, ignore_index=-100):
    losses = []
    for b in range(logits.shape[0]):
        for t in range(logits.shape[1]):
            if targets[b, t] == ignore_index:
                continue
            losses.append(-torch.log_softmax(logits[b, t], 0)[targets[b, t]])
    return sum(losses) / len(losses) if losses else (logits * 0).sum()


@language_model_loss.alternative
def loss_by_a_class_of_its_own(logits, targets, ignore_index=-100):
    class MeanSurprise(torch.autograd.Function):
        """The gradient by hand: softmax minus one-hot, over the number of targets."""

        @staticmethod
        def forward(ctx, logits, targets, ignored):
            p = torch.softmax(logits, -1)
            keep = targets != ignored
            safe = torch.where(keep, targets, 0)[..., None]
            n = keep.sum().clamp(min=1)
            ctx.save_for_backward(p, safe, keep, n)
            gaps = logits.amax(-1, keepdim=True) - logits
            surprise = (gaps.gather(-1, safe) + (-gaps).exp().sum(-1, keepdim=True).log()).squeeze(-1)
            return (surprise * keep).sum() / n

        @staticmethod
        def backward(ctx, grad):
            p, safe, keep, n = ctx.saved_tensors
            hot = torch.zeros_like(p).scatter_(-1, safe, 1.0)
            return grad * (p - hot) * keep[..., None] / n, None, None

    return MeanSurprise.apply(logits, targets, ignore_index)


# ----------------------------------------------------------------------------------------- TransformerBlock

transformer_block = exercise("TransformerBlock", points=3, see=BLOCK)
transformer_block.hints = (
    "Follow one arrow of the picture from x to the result. What is added to what, and what goes through a norm before it "
    "goes anywhere else?",
    "`__init__`: super, then four parts under the names of the text. `forward`: normalise, attend, add to x; normalise "
    "the sum with the other norm, put it through the mlp, add to the sum. nn.MultiheadAttention wants query, key and "
    "value, here all three the same, and returns two things.",
    "`normed = self.norm_1(…)`; `attended, _ = self.attention(…, …, …, attn_mask=…)`; `x = x + …`; return `x + "
    "self.mlp(self.norm_2(…))`.",
)


@transformer_block.oracle
class BlockOracle(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x, mask=None):
        a = self.norm_1(x)
        x = x + self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
        hidden = F.gelu(F.linear(self.norm_2(x), self.mlp[0].weight, self.mlp[0].bias))
        return x + F.linear(hidden, self.mlp[2].weight, self.mlp[2].bias)


def block_weights(draw, D, dtype=torch.float32):
    """A state dict under the contract's names; queries and keys enlarged, so that weights are far from equal."""
    state = draw.state(
        dtype=dtype, norm_1__weight=(D,), norm_1__bias=(D,), norm_2__weight=(D,), norm_2__bias=(D,),
        attention__in_proj_weight=(3 * D, D), attention__out_proj__weight=(D, D), mlp__0__weight=(4 * D, D),
        mlp__0__bias=(4 * D,), mlp__2__weight=(D, 4 * D), mlp__2__bias=(D,),
    )  # fmt: skip
    state["attention.in_proj_weight"][: 2 * D] *= 1.5
    for norm in ("norm_1", "norm_2"):
        state[f"{norm}.weight"] += 1.0
    return state


def through_block(state, n_heads, *, dropout=0.0, training=False, exactly=False, **inputs):
    """Construct, give weights, call with x and, where it is given, the mask; observes "out"."""
    s = Script(**inputs)
    chosen = {"dropout": dropout} if dropout else {}
    m = s.call(SUBJECT, len(state["norm_1.weight"]), n_heads, **chosen, name="module")
    s.call(helper("prepare"), m, state, training=training, exactly=exactly)
    s.call(m, s.x, *([s.mask] if "mask" in inputs else []), name="out")
    return s.case(ref("out"))


def causal(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


def small_block():
    """Whole numbers and halves, for the visible examples."""
    even = torch.arange(64.0)
    return {
        "norm_1.weight": torch.tensor([1.0, 2.0]), "norm_1.bias": torch.tensor([0.5, 0.0]),
        "norm_2.weight": torch.tensor([2.0, 1.0]), "norm_2.bias": torch.tensor([0.0, -0.5]),
        "attention.in_proj_weight": torch.tensor([[1.0, 0], [0, 1], [0, 1], [1, 0], [1, 1], [0, 2]]),
        "attention.out_proj.weight": torch.tensor([[1.0, 0.5], [0, 1]]),
        "mlp.0.weight": (even[:16] % 5 - 2).view(8, 2), "mlp.0.bias": even[:8] % 3 - 1,
        "mlp.2.weight": (even[:16] % 7 - 3).view(2, 8) / 2, "mlp.2.bias": torch.tensor([0.5, -1.0]),
    }  # fmt: skip


STREAM = torch.tensor([[[1.0, 3.0], [2.0, -1.0], [0.0, 0.5]]])


@transformer_block.example("its parameters: their names and shapes")
def _():
    s = Script()
    m = s.call(SUBJECT, 6, 2, name="module")
    s.call(helper("prepare"), m, {k: v.repeat(*[3] * v.ndim) for k, v in small_block().items()}, exactly=True)
    s.call(helper("inspect"), m, name="found")
    s.call(method(ref("found", "parameters"), "__len__"), name="count")
    yield s.case(ref("count")).described("the parameters of TransformerBlock(6, 2)")


@transformer_block.example("three words of width 2")
def _():
    yield through_block(small_block(), 1, x=STREAM).described("TransformerBlock(2, 1); x (1, 3, 2), no mask")


@transformer_block.example("the same with a causal mask, and gradients")
def _():
    case = through_block(small_block(), 1, training=True, x=STREAM, mask=causal(3)).with_gradients()
    yield case.described("TransformerBlock(2, 1); x (1, 3, 2), mask (3, 3)")


@transformer_block.example("two heads, two sentences")
def _():
    state = {k: v.repeat(*[2] * v.ndim) / (v.ndim + 1) for k, v in small_block().items()}
    x = torch.arange(24.0).view(2, 3, 4) % 5 - 1
    case = through_block(state, 2, x=x, mask=causal(3)).unchanged()
    yield case.described("TransformerBlock(4, 2); x (2, 3, 4), mask (3, 3)")


@transformer_block.example("with dropout, in eval mode")
def _():
    case = through_block(small_block(), 1, dropout=0.5, x=STREAM)
    yield case.described("TransformerBlock(2, 1, dropout=0.5).eval(); x (1, 3, 2)")


@transformer_block.example("with dropout in training mode, attention silenced")
def _():
    state = small_block() | {"attention.out_proj.weight": torch.zeros(2, 2)}
    case = through_block(state, 1, dropout=0.5, training=True, x=STREAM)
    yield case.described("TransformerBlock(2, 1, dropout=0.5) in training mode; attention's out_proj is all 0")


KINDS = {
    "norm_1": "LayerNorm", "norm_2": "LayerNorm", "attention": "MultiheadAttention", "mlp": "Sequential",
    "first": "Linear", "second": "GELU", "third": "Linear",
}  # fmt: skip


def of_these_kinds(seen, exact):
    for name, kind in KINDS.items():
        if kind not in seen.values[f"kind of {name}"]:
            return f"the part `{name}` is no nn.{kind}"
    if seen.values["heads"] != 4 or seen.values["first axis"] is not True:
        return "`attention` does not have the heads asked for, or not batch_first=True"
    if not abs(seen.values["dropout"] - 0.2) < 1e-9:
        return "`attention` does not have the dropout asked for"
    return None


@transformer_block.criterion("its parts: their names, kinds and parameters", points=0.5)
def _(draw):
    for D, n_heads in ((6, 2), (10, 5)):
        yield through_block(block_weights(draw, D), n_heads, exactly=True, x=draw.normal(2, 3, D))
    s = Script()
    m = s.call(SUBJECT, 12, 4, 0.2, name="module")
    for name in ("norm_1", "norm_2", "attention", "mlp"):
        s.call(helper("attribute"), m, name, name=name)
    for place, name in enumerate(("first", "second", "third")):
        s.call(method(ref("mlp"), "__getitem__"), place, name=name)
    kinds = [s.call(helper("bases"), ref(name), name=f"kind of {name}") for name in KINDS]
    asked = {"heads": "num_heads", "first axis": "batch_first", "dropout": "dropout"}
    told = [s.call(helper("attribute"), ref("attention"), what, name=name) for name, what in asked.items()]
    yield s.case(*kinds, *told).holding(of_these_kinds).described("the parts of TransformerBlock(12, 4, dropout=0.2)")


@transformer_block.criterion("x plus attention, plus mlp, each of what is normalised", points=1)
def _(draw):
    yield through_block(block_weights(draw, 12), 3, x=draw.normal(2, 5, 12))
    yield through_block(block_weights(draw, 8), 4, x=draw.normal(3, 7, 8, scale=3.0))
    yield through_block(block_weights(draw, 6), 1, x=draw.normal(5, 2, 6).transpose(0, 1))
    yield through_block(block_weights(draw, 10), 2, training=True, x=draw.normal(1, 1, 10))
    yield through_block(block_weights(draw, 4, torch.float64), 2, x=draw.normal(2, 6, 4, dtype=torch.float64))


@transformer_block.criterion("the mask: True is blocked", points=0.5)
def _(draw):
    yield through_block(block_weights(draw, 12), 3, x=draw.normal(2, 5, 12), mask=causal(5))
    mask = draw.chance(0.5, 6, 6)
    mask.fill_diagonal_(False)
    yield through_block(block_weights(draw, 8), 2, training=True, x=draw.normal(3, 6, 8), mask=mask)
    s = Script(x=draw.normal(2, 4, 6), mask=causal(4))
    m = s.call(SUBJECT, d_model=6, n_heads=3, dropout=0.0, name="module")
    s.call(helper("prepare"), m, block_weights(draw, 6), exactly=False)
    s.call(m, s.x, mask=s.mask)
    s.call(m, s.x, name="out")  # nothing of an earlier call may remain
    yield s.case(ref("out"))


SIZES = 8, 12, 32, 2  # batch, words, width, heads


def drops_weights(x, p):
    """Reads the attention weights off the result and judges which of them were dropped.

    Queries and keys are 0, so every weight is 1 / T; values are the normalised words, output projections the identity,
    and the mlp gives 0. What was added to x is then, head by head, the weights times a matrix with independent rows,
    and an inverse gives the weights back. 2304 weights a call: their number is judged by `within_chance`, and two
    calls agree throughout with a probability below 1e-400.
    """
    B, T, D, H = SIZES
    values = F.layer_norm(x, (D,)).unflatten(-1, (H, -1)).transpose(1, 2)  # (B, H, T, K)

    def judge(seen, exact):
        patterns = []
        for name in ("first", "second"):
            out = seen.values[name]
            if tuple(out.shape) != (B, T, D) or not out.isfinite().all():
                return "in training mode the result is not of shape (B, T, D), or not finite"
            added = (out - x).unflatten(-1, (H, -1)).transpose(1, 2)
            weights = added @ torch.linalg.pinv(values)
            if not torch.allclose(weights @ values, added, atol=1e-8):
                return "in training mode something else is dropped than attention weights"
            dropped, kept = weights.abs() < 1e-8, (weights - 1 / T / (1 - p)).abs() < 1e-8
            if not (dropped | kept).all():
                return "in training mode a weight is neither 0 nor what it was times 1 / (1 - dropout)"
            if not within_chance(int(dropped.sum()), dropped.numel(), p):
                return f"dropout is {p:.2f}, and {float(dropped.double().mean()):.1%} of the weights were dropped"
            patterns.append(dropped)
        return "two calls drop the same weights" if torch.equal(*patterns) else None

    return judge


@transformer_block.criterion("dropout on the attention weights, and nowhere else", points=0.5)
def _(draw):
    B, T, D, H = SIZES
    p, dtype = draw.number(0.3, 0.5), torch.float64
    state = block_weights(draw, D, dtype) | {
        "norm_1.weight": torch.ones(D, dtype=dtype), "norm_1.bias": torch.zeros(D, dtype=dtype),
        "attention.in_proj_weight": torch.eye(3 * D, D, dtype=dtype).roll(2 * D, 0),
        "attention.out_proj.weight": torch.eye(D, dtype=dtype),
        "mlp.2.weight": torch.zeros(D, 4 * D, dtype=dtype), "mlp.2.bias": torch.zeros(D, dtype=dtype),
    }  # fmt: skip
    x = draw.normal(B, T, D, dtype=dtype)
    s = Script(x=x)
    m = s.call(SUBJECT, D, H, dropout=p, name="module")
    s.call(helper("prepare"), m, state, training=True, exactly=False)
    s.call(m, s.x, name="first")
    s.call(m, s.x, name="second")
    made = s.case(ref("first"), ref("second")).holding(drops_weights(x, p))
    yield made.described(f"TransformerBlock(32, 2, dropout={p:.2f}) in training mode; x (8, 12, 32)")
    silent = block_weights(draw, 10) | {"attention.out_proj.weight": torch.zeros(10, 10)}
    made = through_block(silent, 2, dropout=0.5, training=True, x=draw.normal(3, 5, 10))
    yield made.described("TransformerBlock(10, 2, dropout=0.5) in training mode; attention's out_proj is all 0")
    yield through_block(block_weights(draw, 8), 2, dropout=0.6, x=draw.normal(2, 7, 8), mask=causal(7))


@transformer_block.criterion("gradients, x left alone", points=0.5)
def _(draw):
    state = block_weights(draw, 8)
    yield through_block(state, 2, training=True, x=draw.normal(2, 5, 8), mask=causal(5)).with_gradients()
    yield through_block(block_weights(draw, 6), 3, x=draw.normal(3, 4, 6)).unchanged()


PARTS = "its parts: their names, kinds and parameters"
PLUS = "x plus attention, plus mlp, each of what is normalised"
MASK = "the mask: True is blocked"
DROPS = "dropout on the attention weights, and nowhere else"
LEFT = "gradients, x left alone"


class Template(nn.Module):
    """A right block in small steps. A mistake, or an answer in another style, overrides one of them."""

    bias, batch_first, widening = False, True, 4

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(
            d_model, n_heads, dropout=dropout, bias=self.bias, batch_first=self.batch_first
        )
        wide = self.widening * d_model
        self.mlp = nn.Sequential(nn.Linear(d_model, wide), self.bend(), nn.Linear(wide, d_model))
        self.drop = nn.Dropout(dropout)

    def bend(self):
        return nn.GELU()

    def attend(self, a, mask):
        return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]

    def forward(self, x, mask=None):
        x = x + self.attend(self.norm_1(x), mask)
        return x + self.mlp(self.norm_2(x))


@transformer_block.mistake(
    "The norms stand behind the additions (post-norm, as in the paper of 2017). Here they stand in front: what goes into "
    "attention and mlp is normalised, and x itself goes on untouched.",
    shows=PLUS,
)
class NormalisesAfterwards(Template):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attend(x, mask))
        return self.norm_2(x + self.mlp(x))


@transformer_block.mistake("norm_1 is used twice; the mlp has a norm of its own, norm_2.", shows=PLUS)
class UsesOneNormTwice(Template):
    def forward(self, x, mask=None):
        x = x + self.attend(self.norm_1(x), mask)
        return x + self.mlp(self.norm_1(x))


@transformer_block.mistake("The two norms have changed places: norm_1 belongs to attention.", shows=PLUS)
class SwapsTheNorms(Template):
    def forward(self, x, mask=None):
        x = x + self.attend(self.norm_2(x), mask)
        return x + self.mlp(self.norm_1(x))


@transformer_block.mistake("Attention's result replaces x. It is added to it.", shows=PLUS)
class LosesTheFirstSum(Template):
    def forward(self, x, mask=None):
        x = self.attend(self.norm_1(x), mask)
        return x + self.mlp(self.norm_2(x))


@transformer_block.mistake("The mlp's result is returned alone. What went into norm_2 is added to it.", shows=PLUS)
class LosesTheSecondSum(Template):
    def forward(self, x, mask=None):
        x = x + self.attend(self.norm_1(x), mask)
        return self.mlp(self.norm_2(x))


@transformer_block.mistake(
    "You add to the normalised x. The sum is of x as it came: the norm is on the way into attention only.", shows=PLUS
)
class AddsToTheNormalised(Template):
    def forward(self, x, mask=None):
        x = self.norm_1(x)
        x = x + self.attend(x, mask)
        x = self.norm_2(x)
        return x + self.mlp(x)


@transformer_block.mistake("What goes into the mlp is not normalised.", shows=PLUS)
class ForgetsTheSecondNorm(Template):
    def forward(self, x, mask=None):
        x = x + self.attend(self.norm_1(x), mask)
        return x + self.mlp(x)


@transformer_block.mistake("What goes into attention is not normalised.", shows=PLUS)
class ForgetsTheFirstNorm(Template):
    def forward(self, x, mask=None):
        x = x + self.attend(x, mask)
        return x + self.mlp(self.norm_2(x))


@transformer_block.mistake(
    "Only the queries are normalised; keys and values are x as it came. All three are the normalised x.", shows=PLUS
)
class NormalisesTheQueriesOnly(Template):
    def forward(self, x, mask=None):
        a = self.norm_1(x)
        x = x + self.attention(a, x, x, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.norm_2(x))


@transformer_block.mistake(
    "Attention and mlp both start from the x that came in. The mlp works on the sum of x and attention.", shows=PLUS
)
class WorksSideBySide(Template):
    def forward(self, x, mask=None):
        return x + self.attend(self.norm_1(x), mask) + self.mlp(self.norm_2(x))


@transformer_block.mistake("The mlp comes before attention. Attention is first.", shows=PLUS)
class PutsTheMlpFirst(Template):
    def forward(self, x, mask=None):
        x = x + self.mlp(self.norm_2(x))
        return x + self.attend(self.norm_1(x), mask)


@transformer_block.mistake(
    "Attention takes the first dimension for the words and mixes the sentences of the batch: batch_first=True is missing.",
    shows=(PARTS, PLUS),
)
class MixesTheBatch(Template):
    batch_first = False


@transformer_block.mistake(
    "You return attention's pair (output, weights), or add it. nn.MultiheadAttention returns two things; take the first.",
    shows=PLUS,
)
class ReturnsThePair(Template):
    def forward(self, x, mask=None):
        a = self.norm_1(x)
        attended, weights = self.attention(a, a, a, attn_mask=mask)
        x = x + attended
        return x + self.mlp(self.norm_2(x)), weights


@transformer_block.mistake("The mask never reaches attention: pass it on as attn_mask.", shows=MASK)
class LosesTheMask(Template):
    def attend(self, a, mask):
        return self.attention(a, a, a, need_weights=False)[0]


@transformer_block.mistake(
    "The mask is inverted. nn.MultiheadAttention, too, means “blocked” by True, so it can be passed on as it is.",
    shows=MASK,
)
class InvertsTheMask(Template):
    def attend(self, a, mask):
        return self.attention(a, a, a, attn_mask=None if mask is None else ~mask, need_weights=False)[0]


@transformer_block.mistake(
    "The mask is transposed: its rows are queries, its columns keys.", shows=MASK
)
class TransposesTheMask(Template):
    def attend(self, a, mask):
        return self.attention(a, a, a, attn_mask=None if mask is None else mask.t(), need_weights=False)[0]


@transformer_block.mistake(
    "The mask is made a tensor of 0 and 1 and added to the scores. A mask of numbers is added; a boolean one blocks.",
    shows=MASK,
)
class AddsTheMask(Template):
    def attend(self, a, mask):
        return self.attention(a, a, a, attn_mask=None if mask is None else mask.to(a.dtype), need_weights=False)[0]


@transformer_block.mistake(
    "A causal mask is put in where none was given. Without a mask every word sees every other.", shows=(PLUS, MASK)
)
class IsAlwaysCausal(Template):
    def attend(self, a, mask):
        T = a.shape[1]
        mask = torch.ones(T, T, dtype=torch.bool, device=a.device).triu(1) if mask is None else mask
        return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]


@transformer_block.mistake("The mlp bends with ReLU; it should be GELU.", shows=(PARTS, PLUS))
class BendsWithRelu(Template):
    def bend(self):
        return nn.ReLU()


@transformer_block.mistake(
    "The mlp uses GELU's approximation by tanh. nn.GELU() without arguments is the exact one.", shows=PLUS
)
class ApproximatesGelu(Template):
    def bend(self):
        return nn.GELU(approximate="tanh")


@transformer_block.mistake("The mlp does not bend at all: two linear layers in a row are one.", shows=(PARTS, PLUS))
class DoesNotBend(Template):
    def bend(self):
        return nn.Identity()


@transformer_block.mistake(
    "The hidden layer of the mlp has the wrong width: it is 4 times d_model.", shows=(PARTS, PLUS)
)
class WidensTooLittle(Template):
    widening = 2


@transformer_block.mistake("Attention has biases. bias=False is asked for.", shows=PARTS)
class HasBiases(Template):
    bias = True


@transformer_block.mistake(
    "Dropout falls on what attention puts out as well. Here it falls on attention's weights, and nowhere else.",
    shows=DROPS,
)
class DropsTheOutputToo(Template):
    def forward(self, x, mask=None):
        x = x + self.drop(self.attend(self.norm_1(x), mask))
        return x + self.mlp(self.norm_2(x))


@transformer_block.mistake(
    "Dropout falls on what the mlp puts out as well. Here it falls on attention's weights, and nowhere else.",
    shows=DROPS,
)
class DropsTheMlpToo(Template):
    def forward(self, x, mask=None):
        x = x + self.attend(self.norm_1(x), mask)
        return x + self.drop(self.mlp(self.norm_2(x)))


@transformer_block.mistake("`dropout` is taken and never handed to attention.", shows=(PARTS, DROPS))
class ForgetsTheDropout(Template):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__(d_model, n_heads)


@transformer_block.mistake(
    "x is changed in place (`x += …`): the caller's tensor changes with it, and PyTorch refuses where it needs gradients. "
    "Write `x = x + …`.",
    shows=LEFT,
)
class AddsInPlace(Template):
    def forward(self, x, mask=None):
        x += self.attend(self.norm_1(x), mask)
        return x + self.mlp(self.norm_2(x))


@transformer_block.mistake(
    "The result is detached, or attention runs under no_grad: nothing before it could learn.", shows=LEFT
)
class AttendsWithoutGradients(Template):
    def attend(self, a, mask):
        with torch.no_grad():
            return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]


@transformer_block.mistake(
    "The parts have other names than the text gives them, so that nobody else's weights fit: norm_1, norm_2, attention, "
    "mlp.",
    shows=(PARTS, PLUS, MASK),
)
class ChoosesOtherNames(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attn = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x, mask=None):
        a = self.ln1(x)
        x = x + self.attn(a, a, a, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


@transformer_block.alternative
class BlockWithWeightsReturned(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_1 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        normed = self.norm_1(x)
        attended, _ = self.attention(normed, normed, normed, attn_mask=mask)
        h = torch.add(x, attended)
        return torch.add(h, self.mlp(self.norm_2(h)))


@transformer_block.alternative
class BlockWithAMaskOfNumbers(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        for name in ("norm_1", "norm_2"):
            self.add_module(name, nn.LayerNorm(d_model))
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout, False, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d_model, d_model * 4), nn.GELU(), nn.Linear(d_model * 4, d_model))

    def forward(self, x, mask=None):
        if mask is not None:
            mask = torch.zeros(mask.shape, dtype=x.dtype, device=x.device).masked_fill(mask, float("-inf"))
        for norm, part in ((self.norm_1, lambda a: self.attention(a, a, a, attn_mask=mask)[0]), (self.norm_2, self.mlp)):
            x = x + part(norm(x))
        return x


@transformer_block.alternative
class BlockByHand(nn.Module):
    """The layers hold the weights; forward computes with them itself."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def attend(self, a, mask):
        H = self.attention.num_heads
        q, k, v = (a @ self.attention.in_proj_weight.T).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (H, -1)).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask, -torch.inf)
        weights = F.dropout(scores.softmax(-1), self.attention.dropout, self.training)
        return (weights @ v).transpose(1, 2).flatten(2) @ self.attention.out_proj.weight.T

    @staticmethod
    def normalise(x, norm):
        centred = x - x.mean(-1, keepdim=True)
        return norm.weight * centred / (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt() + norm.bias

    def forward(self, x, mask=None):
        x = x + self.attend(self.normalise(x, self.norm_1), mask)
        hidden = F.linear(self.normalise(x, self.norm_2), self.mlp[0].weight, self.mlp[0].bias)
        hidden = hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2
        return x + F.linear(hidden, self.mlp[2].weight, self.mlp[2].bias)


@transformer_block.alternative
class BlockByPyTorchsKernel(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        self.norm_2 = nn.LayerNorm(d_model)
        self.mlp = nn.Sequential()
        for part in (nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)):
            self.mlp.append(part)

    def forward(self, x, mask=None):
        allowed = None if mask is None else ~mask  # the other convention
        qkv = F.linear(self.norm_1(x), self.attention.in_proj_weight)
        q, k, v = qkv.unflatten(-1, (3, self.attention.num_heads, -1)).permute(2, 0, 3, 1, 4)
        p = self.attention.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed, dropout_p=p)
        x = x + self.attention.out_proj(mixed.permute(0, 2, 1, 3).reshape(x.shape))
        return x + self.mlp(self.norm_2(x))


@transformer_block.alternative
class BlockOfADictionary(nn.ModuleDict):
    """The parts are items of the module itself."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        class Attention(nn.MultiheadAttention):
            def forward(self, x, mask):
                return super().forward(x, x, x, attn_mask=mask, need_weights=False)[0]

        super().__init__({
            "norm_1": nn.LayerNorm(d_model),
            "norm_2": nn.LayerNorm(d_model),
            "attention": Attention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True),
            "mlp": nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)),
        })

    def __getattr__(self, name):
        modules = self.__dict__["_modules"]
        return modules[name] if name in modules else super().__getattr__(name)

    def forward(self, x, mask=None):
        x = x + self["attention"](self["norm_1"](x), mask)
        return x + self["mlp"](self["norm_2"](x))


# -------------------------------------------------------------------------------------------- learning_rate

learning_rate = exercise("learning_rate", points=2, see=RATE)
learning_rate.hints = (
    "Two cases, told apart by comparing step with warmup. Which of the two holds at step = warmup?",
    "First case: a share of peak that grows by peak / warmup with each step. Second: how far along is the step between "
    "warmup and total, as a number r from 0 to 1? Then half a cosine takes 1 down to 0, and floor and peak stretch it.",
    "Check `0 <= warmup < total` first. `if step < warmup: return …`; `r = min(1.0, (… - …) / (… - …))`; `return floor + "
    "(…) * (1 + math.cos(…)) / 2`.",
)


@learning_rate.oracle
def learning_rate_oracle(step, warmup, total, peak, floor=0.0):
    if warmup < 0 or warmup >= total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return float(peak) * (step + 1) / warmup
    share = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * math.cos(math.pi * share / 2) ** 2


@learning_rate.example("the first step of a warm-up over 4")
def _():
    yield call(0, 4, 12, 0.1)


@learning_rate.example("the last step of the warm-up, and the one after it")
def _():
    yield call(3, 4, 12, 0.1)
    yield call(4, 4, 12, 0.1)


@learning_rate.example("half-way down, and at the end")
def _():
    yield call(8, 4, 12, 0.1)
    yield call(10, 4, 12, 0.1)
    yield call(12, 4, 12, 0.1)


@learning_rate.example("down to a floor, and staying there")
def _():
    yield call(8, 4, 12, 0.5, floor=0.1)
    yield call(30, 4, 12, 0.5, 0.1)


@learning_rate.example("no warm-up at all")
def _():
    yield call(0, 0, 10, 1.0)


@learning_rate.example("a warm-up as long as the training")
def _():
    yield call(2, 10, 10, 1.0).raising("warmup", "total")


@learning_rate.criterion("a straight line up to the peak", points=0.5)
def _(draw):
    for warmup, total in ((8, 30), (20, 21), (1, 6), (5, 500)):
        peak = draw.number(1e-4, 2.0)
        for step in sorted({0, warmup // 2, warmup - 1}):
            yield call(step, warmup, total, peak)
    yield call(step=3, warmup=10, total=40, peak=2, floor=0.5)


@learning_rate.criterion("half a cosine down", points=0.5)
def _(draw):
    for warmup, total in ((8, 30), (1, 6), (50, 1000)):
        peak = draw.number(1e-4, 2.0)
        for step in {warmup, warmup + 1, (warmup + total) // 2, total - 1, total}:
            yield call(step, warmup, total, peak)
    yield call(draw.integer(30, 90), 25, 100, draw.number(0.1, 1.0))


@learning_rate.criterion("floor, no warm-up, steps past the end", points=0.5)
def _(draw):
    low, peak = draw.number(0.01, 0.1), draw.number(0.5, 1.0)
    for step in (9, 20, 39, 40):
        yield call(step, 6, 40, peak, low)
    for step in (41, 47, 80, 1000):  # past the end, where a cosine would go up again
        yield call(step, 6, 40, peak, floor=low)
        yield call(step, 6, 40, peak)
    for step in (0, 1, 13, 19, 20):
        yield call(step, 0, 20, peak)
    yield call(0, 0, 1, peak, low)


@learning_rate.criterion("ValueError unless 0 <= warmup < total", points=0.5)
def _(draw):
    for step, warmup, total in ((0, 12, 12), (3, 31, 25), (0, -2, 9), (30, -1, 7), (40, 13, 13), (5, 0, 0), (0, 4, -3)):
        yield call(step, warmup, total, 0.5).raising("warmup", "total")


UP, DOWN = "a straight line up to the peak", "half a cosine down"
EDGES, UNLESS = "floor, no warm-up, steps past the end", "ValueError unless 0 <= warmup < total"


@learning_rate.mistake(
    "Your first step has a learning rate of 0 and is wasted: step counts from 0, so the share is (step + 1) / warmup.",
    shows=UP,
)
def starts_at_zero(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * step / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake("Your warm-up starts at floor. It is a straight line through 0: floor is for the end.", shows=UP)
def warms_up_from_the_floor(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return floor + (peak - floor) * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake("There is no warm-up: while step < warmup the rate grows step by step.", shows=UP)
def skips_the_warm_up(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    r = min(1.0, max(0, step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake(
    "The first step after the warm-up is taken for part of it. At step = warmup the cosine begins.", shows=EDGES
)
def warms_up_a_step_too_long(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step <= warmup:
        return peak * (step + 1) / (warmup + 0)
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake(
    "Your decay starts counting at step 0, so after the warm-up the rate jumps down. r is 0 at step = warmup.",
    shows=DOWN,
)
def counts_the_decay_from_zero(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, step / total)
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake(
    "Your decay is total steps long and ends after the training does: it has total - warmup steps.", shows=DOWN
)
def stretches_the_decay(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / total)
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake("Your decay is a straight line; it should be half a cosine.", shows=DOWN)
def decays_in_a_straight_line(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 - r)


@learning_rate.mistake(
    "Your cosine is not lifted: (1 + cos) / 2 goes from 1 to 0, cos alone from 1 to -1, a negative rate.", shows=DOWN
)
def forgets_to_lift_the_cosine(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * math.cos(math.pi * r)


@learning_rate.mistake("1 + cos goes from 2 to 0: without the half the rate jumps to twice the peak.", shows=DOWN)
def forgets_the_half(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * r))


@learning_rate.mistake("A quarter of a cosine, cos(pi * r / 2), is no half: it leaves the peak too slowly.", shows=DOWN)
def takes_a_quarter_of_a_cosine(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * math.cos(math.pi * r / 2)


@learning_rate.mistake("math.cos counts in radians: half a turn is pi, not 180.", shows=DOWN)
def counts_in_degrees(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(180 * r)) / 2


@learning_rate.mistake(
    "Past the end your rate rises again, for so does the cosine. r must not grow beyond 1.", shows=EDGES
)
def rises_again(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = (step - warmup) / (total - warmup)
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake("Past the end your rate is 0. It stays at floor.", shows=EDGES)
def drops_to_zero(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    if step > total:
        return 0.0
    r = (step - warmup) / (total - warmup)
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake("floor is taken and not used.", shows=EDGES)
def ignores_the_floor(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return peak * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake(
    "floor is added on top, so the rate starts its decay above the peak: it is peak - floor that the cosine shrinks.",
    shows=EDGES,
)
def puts_the_floor_on_top(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + peak * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake(
    "The decay is cut off at floor (`max`). It should arrive there: floor is where the cosine ends.", shows=EDGES
)
def cuts_off_at_the_floor(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return max(floor, peak * (1 + math.cos(math.pi * r)) / 2)


@learning_rate.mistake(
    "warmup = 0 is legal and means: start at the peak. You refuse it, or divide by it.", shows=EDGES
)
def refuses_no_warm_up(step, warmup, total, peak, floor=0.0):
    if not 0 < warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake("You check nothing: raise a ValueError unless 0 <= warmup < total.", shows=UNLESS)
def checks_no_warm_up(step, warmup, total, peak, floor=0.0):
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / max(1, total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake("A warm-up of total steps leaves none for the decay: warmup = total is an error, too.", shows=UNLESS)
def allows_warm_up_to_the_end(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup <= total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / max(1, total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake("A negative warmup is an error, too.", shows=UNLESS)
def allows_a_negative_warm_up(step, warmup, total, peak, floor=0.0):
    if warmup >= total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake(
    "Your ValueError does not say which argument was wrong: name warmup or total, with its value.", shows=UNLESS
)
def complains_without_a_name(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError("these numbers of steps do not fit together")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2


@learning_rate.mistake("You return a tensor. An optimizer's learning rate is a plain float.", shows=(UP, DOWN, EDGES))
def returns_a_rate_tensor(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return torch.tensor(peak * (step + 1) / warmup)
    r = torch.tensor(min(1.0, (step - warmup) / (total - warmup)))
    return floor + (peak - floor) * (1 + torch.cos(torch.pi * r)) / 2


@learning_rate.alternative
def rate_in_three_cases(step, warmup, total, peak, floor=0.0):
    if warmup < 0:
        raise ValueError(f"warmup must not be negative, got {warmup}")
    if total <= warmup:
        raise ValueError(f"total ({total}) must be greater than warmup ({warmup})")
    if step < warmup:
        return (step + 1) / warmup * peak
    if step >= total:
        return floor
    return floor + 0.5 * (peak - floor) * (1.0 + math.cos((step - warmup) / (total - warmup) * math.pi))


@learning_rate.alternative
def rate_as_a_mixture(step, warmup, total, peak, floor=0.0):
    if not (warmup >= 0 and total > warmup):
        raise ValueError("bad number of steps: total=%d, warmup=%d" % (total, warmup))
    if warmup and step + 1 <= warmup:
        return peak / warmup * (step + 1)
    done = max(0.0, min(1.0, (step - warmup) / (total - warmup)))
    share = (math.cos(done * math.pi) + 1) / 2
    return share * peak + (1 - share) * floor


@learning_rate.alternative
def rate_by_sine(step, warmup, total, peak, floor=0.0):
    if warmup not in range(total):
        raise ValueError(f"`warmup`: {warmup}")
    try:
        left = 1 - (step - warmup) / (total - warmup)
        return peak * (step + 1) / warmup if left > 1 else floor + (peak - floor) * math.sin(max(0, left) * math.pi / 2) ** 2
    except ZeroDivisionError:
        return peak


@learning_rate.alternative
def rate_by_tensors(step, warmup, total, peak, floor=0.0):
    if warmup >= total or warmup < 0:
        raise ValueError(f"warmup={warmup}, total={total}")
    up = torch.linspace(0, peak, warmup + 1, dtype=torch.float64)[1:]
    turn = torch.linspace(0, torch.pi, total - warmup + 1, dtype=torch.float64)
    down = floor + (peak - floor) * (1 + turn.cos()) / 2
    return torch.cat([up, down])[min(step, total)].item()


@learning_rate.alternative
def rate_by_complex_numbers(step, warmup, total, peak, floor=0.0):
    class Invalid(ValueError):
        pass

    if 0 > warmup or not warmup < total:
        raise Invalid(f"total {total} leaves nothing after warmup {warmup}")
    up = lambda: peak * (1 + step) / warmup
    down = lambda: (floor + peak + (peak - floor) * (1j ** (2 * min((step - warmup) / (total - warmup), 1))).real) / 2
    return (up if step < warmup else down)()
