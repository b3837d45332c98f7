"""`remember`, an exercise without points: change a memory matrix so that a key retrieves a value."""

import torch

from grading.exercises.exercise import Script, call, non_contiguous, step, student

remember = step(
    "remember",
    see="Exercise: `remember(memory, key, value)` (extra)",
    hints=(
        "What does the key fetch before the change, and what should it fetch afterwards? What is the difference?",
        "Only one kind of change has no effect on queries perpendicular to the key: a column in the direction of the "
        "key, times a row. What must the row be so that the key fetches the missing difference? Try it with a key of "
        "length 2.",
        "Three steps: the difference `value - <what the key fetches>`, the key divided by its dot product with itself, "
        "and `memory` plus the second as a column, `[..., :, None]`, times the first as a row, `[..., None, :]`.",
    ),
)


@remember.oracle
def remember_oracle(memory, key, value):
    missing = value - torch.einsum("...k,...kv->...v", key, memory)
    return memory + torch.einsum("...k,...v->...kv", key / key.square().sum(-1, keepdim=True), missing)


remember.example("an empty memory", call(torch.zeros(2, 2), torch.tensor([2.0, 0.0]), torch.tensor([4.0, 6.0])))
remember.example(
    "a key that already fetches something",
    call(torch.tensor([[2.0, 3.0], [1.0, 1.0]]), torch.tensor([0.0, 1.0]), torch.tensor([5.0, -1.0])),
)
remember.example("a slanting key", call(torch.tensor([[1.0], [0.0]]), torch.tensor([1.0, 3.0]), torch.tensor([11.0])))
remember.example(
    "float64 stays float64",
    call(*(torch.tensor(x, dtype=torch.float64) for x in ([[0.1, 0.2]], [0.3], [1.0, 0.7]))),
    check_types=True,
)


def drawn(draw, *leading, K, V, dtype=torch.float32):
    """A memory, a key whose length is neither 1 nor near 0, and a value."""
    key = draw.normal(*leading, K, dtype=dtype)
    length = torch.linalg.vector_norm(key, dim=-1, keepdim=True)
    long = draw.uniform(*leading, 1, low=1.5, high=3.0, dtype=dtype)
    return draw.normal(*leading, K, V, dtype=dtype), key / length * long, draw.normal(*leading, V, dtype=dtype)


@remember.criterion("one key, one value", points=1)
def _(draw):
    memory, key, value = drawn(draw, K=5, V=3)
    yield call(torch.zeros(5, 3), key, value)
    yield call(memory, key, value)
    yield call(*drawn(draw, K=3, V=3))
    yield call(*drawn(draw, K=1, V=4))
    yield call(*drawn(draw, K=3, V=1))
    s = Script(memory=memory, first=key, one=value, second=drawn(draw, K=5, V=3)[1], two=draw.normal(3))
    once = s.call(student("remember"), s.memory, s.first, s.one)
    again = s.call(student("remember"), once, s.second, s.two)
    s.call(student("remember"), again, s.first, s.two)
    yield s.case().label("three in a row, the last under the key of the first")


@remember.criterion("many memories at once, gradients", points=0.5)
def _(draw):
    yield call(*drawn(draw, 2, K=4, V=3)).with_gradients()
    yield call(*drawn(draw, 3, 3, K=3, V=3))
    yield call(*drawn(draw, 2, 3, K=5, V=4))
    yield call(*drawn(draw, 2, K=3, V=1))


@remember.criterion("the old memory stays as it was", points=0.25)
def _(draw):
    yield call(*drawn(draw, K=4, V=3)).does_not_mutate()
    memory, key, value = drawn(draw, K=4, V=5)
    yield call(non_contiguous(memory), key, value).does_not_mutate()


@remember.criterion("float32 stays float32, float64 float64", points=0.25, check_types=True)
def _(draw):
    yield call(*drawn(draw, K=4, V=3))
    yield call(*drawn(draw, K=4, V=3)).device_only()
    yield call(*drawn(draw, K=3, V=2, dtype=torch.float64))
