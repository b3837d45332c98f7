"""`latent_cache_bytes`, a step: the cache of a model with latent vectors."""

from grading.exercises.exercise import call, step

latent_cache_bytes = step(
    "latent_cache_bytes",
    see="Exercise: the bytes of a latent cache",
    hints=(
        "How many numbers does one layer keep for one position? Neither the heads nor a factor of 2 are in it.",
        "The shape of the code: `return <layers> * (<latent> + <rotated>) * <positions> * <bytes>`.",
    ),
)


@latent_cache_bytes.oracle
def latent_cache_bytes_oracle(n_layers, d_latent, d_rope, length, element_bytes=2):
    return sum(element_bytes * length * width for width in (d_latent, d_rope)) * n_layers


latent_cache_bytes.example("the worked example", call(2, 6, 4, 10))
latent_cache_bytes.example("four bytes per number", call(3, 5, 2, 7, element_bytes=4))


@latent_cache_bytes.criterion("latent vectors and rotated keys of all layers")
def _(draw):
    yield call(draw.integer(5, 9), draw.integer(30, 40), draw.integer(10, 20), draw.integer(50, 90))
    yield call(draw.integer(5, 9), draw.integer(30, 40), 0, draw.integer(50, 90), 1)
    yield call(draw.integer(5, 9), draw.integer(30, 40), draw.integer(10, 20), draw.integer(50, 90), 4)
    yield call(3, 16, 4, 0)
