"""`bits_per_byte`, a step: a loss per token in units that do not depend on the tokens."""

import math

from grading.exercises.exercise import call, step

bits_per_byte = step(
    "bits_per_byte",
    see="Exercise: bits per byte",
    hints=(
        "How many nats does the whole text cost? And how many nats are one bit?",
        "The shape of the code: `<nats of the whole text> / (<number of bytes> * <nats per bit>)`. A bit is ln 2 nats.",
    ),
)


@bits_per_byte.oracle
def bits_per_byte_oracle(nats_per_token, n_tokens, n_bytes):
    return n_tokens / n_bytes * nats_per_token / math.log(2)


bits_per_byte.example("four bytes in two tokens", call(2 * math.log(2), 2, 4))
bits_per_byte.example("one token per byte", call(3 * math.log(2), 5, 5))


@bits_per_byte.criterion("the value")
def _(draw):
    for _ in range(3):
        yield call(draw.number(0.5, 5.0), draw.integer(20, 90), draw.integer(100, 300))
    yield call(0.0, 7, 20)
