"""Known mistakes in `as_layer`."""

from ...shared.families import results
from .contract import as_layer

right = as_layer.reference_answer("""
def as_layer(matrix):
    layer = nn.Linear(matrix.shape[0], matrix.shape[1], bias=False, dtype=matrix.dtype)
    with torch.no_grad():
        layer.weight.copy_(matrix.T)
    return layer
""")

right.mistake(
    "forgets_to_transpose", {"layer.weight.copy_(matrix.T)": "layer.weight = nn.Parameter(matrix.clone())"}
).feedback(
    "You copy the matrix without transposing it. `nn.Linear` stores its weight as (out, in), and only a square matrix "
    "hides the difference."
)
right.mistake("copies_without_transposing", {"copy_(matrix.T)": "copy_(matrix)"}).feedback(
    "You copy the matrix without transposing it, so the shapes do not fit. `nn.Linear` stores its weight as (out, in)."
)
right.mistake("keeps_the_bias", {", bias=False": ""}).feedback(
    "Your layer has a bias, which starts with random numbers. Make it with `bias=False`."
)
right.mistake("leaves_the_random_weight", {"layer.weight.copy_(matrix.T)": "pass"}).feedback(
    "Your layer keeps the random numbers with which it was made. Write the matrix into its weight."
)
right.mistake(
    "exchanges_in_and_out", {"matrix.shape[0], matrix.shape[1]": "matrix.shape[1], matrix.shape[0]"}
).feedback("You exchange the two sizes of the layer. The first is what goes in, the rows of the matrix.")
right.mistake(results.nothing_returned, {"return layer": "layer"})
right.mistake("returns_the_weight", {"return layer": "return layer.weight"}).feedback(
    "You return the layer's weight. Return the layer itself, which can be called."
)
right.mistake("always_float32", {", dtype=matrix.dtype": ""}).feedback(
    "Your layer is always float32. It must have the dtype of the matrix: pass `dtype=matrix.dtype`."
)
right.mistake(
    "a_weight_that_does_not_learn",
    {"layer.weight.copy_(matrix.T)": "layer.weight = nn.Parameter(matrix.T, requires_grad=False)"},
).feedback("Your weight is not trained, because its `requires_grad` is off. A layer's weight learns.")
