"""`mixed_cache_bytes`, a step: the cache of layers with and without a window."""

from grading.exercises.exercise import call, step

mixed_cache_bytes = step(
    "mixed_cache_bytes",
    see="Exercise: the cache of a mixed model (extra)",
    hints=(
        "How many tokens does a layer with a window of 10 keep after 100 tokens? And after 4?",
        "The shape of the code: a sum over `windows` of `cache_bytes(1, <…>, <…>, <tokens of this layer>, …)`.",
    ),
)


@mixed_cache_bytes.oracle
def mixed_cache_bytes_oracle(windows, n_kv_heads, d_head, length, element_bytes=2):
    tokens = sum(length if window is None or window > length else window for window in windows)
    return 2 * n_kv_heads * d_head * tokens * element_bytes


mixed_cache_bytes.example("the worked example", call([10, None], 1, 4, 100))
mixed_cache_bytes.example("a text shorter than the window", call([10, None, 5], 1, 4, 7))


@mixed_cache_bytes.criterion("layer by layer")
def _(draw):
    a, b = draw.integer(5, 20), draw.integer(40, 60)
    yield call([a, None, b, a], draw.integer(2, 5), draw.integer(6, 9), draw.integer(70, 99))
    yield call([b, None, a], draw.integer(2, 5), draw.integer(6, 9), draw.integer(25, 35), 4)
    yield call([None, None], draw.integer(2, 5), draw.integer(6, 9), draw.integer(25, 35), element_bytes=1)
    yield call([a, b, b], draw.integer(2, 5), draw.integer(6, 9), 2)
    yield call([], 2, 3, 4)
