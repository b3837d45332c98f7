"""Known mistakes in `lengths`."""

from .contract import lengths

right = lengths.reference_answer("""
def lengths(x):
    squares = x * x
    return squares.sum(dim=-1, keepdim=True).sqrt()
""")

right.mistake("loses_the_dimension", {", keepdim=True": ""}).feedback(
    "Your lengths have lost the last dimension, so they do not line up with their vectors. Keep it with `keepdim=True`."
)
right.mistake("forgets_the_root", {".sqrt()": ""}).feedback(
    "You return the *squares* of the lengths. A length is the square root of the sum of squares."
)
right.mistake("measures_everything_at_once", {"dim=-1, keepdim=True": ""}).feedback(
    "You add the squares of the whole tensor, which gives one number. Each vector has its own length: name the "
    "dimension."
)
right.mistake("measures_the_columns", {"dim=-1": "dim=0"}).feedback(
    "You add along the first dimension. Each vector runs along the last one, `dim=-1`."
)
right.mistake("measures_along_dimension_1", {"dim=-1": "dim=1"}).feedback(
    "You add along dimension 1, which is the last one only for a matrix. `dim=-1` counts from the end."
)
right.mistake("adds_magnitudes", {"x * x": "x.abs()", ".sqrt()": ""}).feedback(
    "You add absolute values, which are the roots of the single squares. Add the squares first, then take the root."
)
right.mistake("takes_the_mean_of_squares", {".sum(": ".mean("}).feedback(
    "You take the mean of the squares. Add them: a vector with more entries may be longer."
)
right.mistake("divides_by_the_lengths", {"return squares": "return x / squares"}).feedback(
    "You divide the vectors by their lengths. Return the lengths themselves, of shape `(..., 1)`."
)
