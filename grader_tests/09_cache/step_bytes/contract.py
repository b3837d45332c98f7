"""`step_bytes`, a step: the bytes that one step of decoding reads."""

from grading.exercises.exercise import call, step

step_bytes = step(
    "step_bytes",
    see="Exercise: bytes of one step (extra)",
    hints=(
        "What do all conversations of a batch share, and what does each have for itself?",
        "The shape of the code: `element_bytes * <…> + cache_bytes(<…>)`. Pass on the batch and the bytes per number.",
    ),
)


@step_bytes.oracle
def step_bytes_oracle(n_parameters, n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2):
    return element_bytes * (n_parameters + 2 * n_layers * n_kv_heads * d_head * length * batch_size)


step_bytes.example("the worked example", call(100, 1, 1, 4, 10, 2))
step_bytes.example("two layers, three heads, float32", call(1000, 2, 3, 4, 10, element_bytes=4))


@step_bytes.criterion("parameters once, every cache once")
def _(draw):
    for _ in range(2):
        numbers = [draw.integer(low, 2 * low) for low in (1000, 2, 4, 8, 16)]
        yield call(*numbers)
        yield call(*numbers, draw.integer(2, 5))
        yield call(*numbers, draw.integer(2, 5), 4)
        yield call(*numbers, batch_size=draw.integer(2, 5), element_bytes=1)
