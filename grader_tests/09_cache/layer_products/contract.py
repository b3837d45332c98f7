"""`layer_products`, a step: the multiplications of one attention layer."""

from grading.exercises.exercise import call, step

layer_products = step(
    "layer_products",
    see="Exercise: multiplications of a layer",
    hints=(
        "How many matrices of `d` rows and `d` columns is each new row multiplied by? And how many "
        "multiplications does one "
        "score of width `d` take?",
        "The shape of the code: `<matrices> + <scores> + <sum of values>`, each a product of `T`, `S` and `d`.",
    ),
)


@layer_products.oracle
def layer_products_oracle(T, S, d):
    return 4 * T * d * d + T * S * d + T * S * d


layer_products.example("one token after two", call(1, 3, 10))
layer_products.example("three tokens at once", call(3, 3, 10))


@layer_products.criterion("the count")
def _(draw):
    for _ in range(3):
        yield call(draw.integer(2, 9), draw.integer(10, 40), draw.integer(50, 90))
    yield call(1, draw.integer(10, 40), draw.integer(50, 90))
