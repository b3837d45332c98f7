"""Known mistakes in `shares`."""

from .contract import shares

right = shares.reference_answer("""
def shares(x):
    return x / x.sum(-1, keepdim=True)
""")

right.mistake("divides_by_the_sum_of_everything", {"x.sum(-1, keepdim=True)": "x.sum()"}).feedback(
    "You divide by the sum of all numbers. Each row has its own sum."
)
right.mistake("adds_up_columns", {"x.sum(-1,": "x.sum(0,"}).feedback(
    "Your columns sum to 1, not your rows. Rows run along the last dimension, `dim=-1`."
)
right.mistake("forgets_keepdim", {"x.sum(-1, keepdim=True)": "x.sum(-1)"}).feedback(
    "Your sums have lost a dimension, so they do not line up with the rows. Keep it with `keepdim=True`."
)
right.mistake("adds_up_dimension_1", {"x.sum(-1,": "x.sum(1,"}).feedback(
    "You add along dimension 1, which is the last only if there are two. `dim=-1` counts from the end."
)
right.mistake("divides_by_the_mean", {"x.sum(": "x.mean("}).feedback(
    "You divide by the mean of each row, so a row sums to its length. Divide by the sum."
)
right.mistake("divides_by_the_largest", {"x.sum(-1, keepdim=True)": "x.amax(-1, keepdim=True)"}).feedback(
    "You divide by the largest number of each row. Divide by the sum, so that the row sums to 1."
)
right.mistake("returns_the_sums", {"x / x.sum": "x.sum"}).feedback("You return the sums. Divide the rows by them.")
