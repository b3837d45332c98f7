"""Known mistakes in `squared_distances`."""

from ...shared.families import numbers, shapes
from .contract import squared_distances

PAIRS = ("every query", "batches")

right = squared_distances.reference_answer("""
def squared_distances(queries, keys):
    middle = keys.mean(dim=-2, keepdim=True)
    q, k = queries - middle, keys - middle
    of_queries = q.square().sum(dim=-1)[..., :, None]
    of_keys = k.square().sum(dim=-1)[..., None, :]
    scores = q @ k.mT
    return (of_queries - 2 * scores + of_keys).clamp(min=0)
""")

right.mistake("not_moved", {"queries - middle, keys - middle": "queries, keys"}, loses="far from zero").feedback(
    "Your distances are noise if the vectors are far from zero. Only the rounding error of two huge numbers is left. "
    "Distances do not depend on where zero is: choose a better zero first."
)
right.mistake("moved_by_the_mean_of_all", {"dim=-2, keepdim=True": ""}, loses="far from").feedback(
    "You shift everything by one and the same number. Shift each batch by a vector, such as the mean of its keys."
)
right.mistake("moves_the_keys_alone", {"queries - middle, keys": "queries, keys"}, loses=PAIRS).feedback(
    "You shift the keys but not the queries. Distances stay the same only if both are shifted by the same vector."
)
right.mistake(
    "each_to_its_own_middle", {"queries - middle,": "queries - queries.mean(dim=-2, keepdim=True),"}, loses=PAIRS
).feedback("You shift queries and keys by different vectors, each by its own mean. Use one vector for both.")
right.mistake("not_clamped", {".clamp(min=0)": ""}, loses="never below").feedback(
    "Rounding makes the distance of a vector from itself slightly negative, and its root is NaN. Cut off values below "
    "0."
)
right.mistake("scores_once", {"2 * scores": "scores"}, loses=PAIRS).feedback(
    "You count the product $q \\cdot k$ once. Multiplied out, $(q - k) \\cdot (q - k)$ contains it twice."
)
right.mistake("scores_added", {"- 2 * scores": "+ 2 * scores"}, loses=PAIRS).feedback(
    "You compute the squared length of the *sum* of two vectors. In $(q - k) \\cdot (q - k)$ the product is subtracted."
)
right.mistake("without_the_squares_of_keys", {" + of_keys": ""}, loses=PAIRS).feedback(
    "You leave out the squared lengths of the keys."
)
right.mistake("without_the_squares_of_queries", {"of_queries - 2": "-2"}, loses=PAIRS).feedback(
    "You leave out the squared lengths of the queries."
)
right.mistake("lengths_not_squared", {"q.square().sum": "q.norm", "k.square().sum": "k.norm"}, loses=PAIRS).feedback(
    "You add the lengths instead of their squares. The expanded product contains the dot product of each vector "
    "with itself."
)
right.mistake("takes_the_root", {".clamp(min=0)": ".clamp(min=0).sqrt()"}, loses=PAIRS).feedback(
    "You return the distances. Return their squares."
)
right.mistake(shapes.rows_and_columns_exchanged, {".clamp(min=0)": ".clamp(min=0).mT"}, loses=PAIRS)
squared_distances.mistake("all_differences", loses="nothing larger").full_code("""
def squared_distances(queries, keys):
    return (queries[..., :, None, :] - keys[..., None, :, :]).square().sum(-1)
""").feedback(
    "Your result is right, but you compute the difference of every query and every key, `(..., T, S, K)`. Dot products "
    "need no differences, and K times less memory."
)
right.mistake(numbers.always_float64(of="the arguments"), {".clamp(min=0)": ".clamp(min=0).double()"}, loses="float32")
right.mistake(shapes.result_squeezed, loses="batches")
