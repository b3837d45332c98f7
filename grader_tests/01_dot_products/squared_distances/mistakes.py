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
    "Far from zero the distances are noise: two numbers of millions are subtracted, and what is left is their "
    "rounding. Dot products depend on where zero is, and distances do not. So choose a better zero first."
)
right.mistake("moved_by_the_mean_of_all", {"dim=-2, keepdim=True": ""}, loses="far from").feedback(
    "Everything is moved by one and the same number. Each batch lies somewhere else, and so does each coordinate: take "
    "the mean of a batch's keys, a vector."
)
right.mistake("moves_the_keys_alone", {"queries - middle, keys": "queries, keys"}, loses=PAIRS).feedback(
    "The keys are moved and the queries stay where they are. Distances stay the same only if both move, by the same "
    "vector."
)
right.mistake(
    "each_to_its_own_middle", {"queries - middle,": "queries - queries.mean(dim=-2, keepdim=True),"}, loses=PAIRS
).feedback(
    "Queries and keys are moved by different vectors, each to its own mean, and so towards each other. Take one vector "
    "for both."
)
right.mistake("not_clamped", {".clamp(min=0)": ""}, loses="never below").feedback(
    "The distance of a vector from itself comes out a little below 0, by rounding, and its root is NaN. No square is "
    "negative: cut off what is below 0."
)
right.mistake("scores_once", {"2 * scores": "scores"}, loses=PAIRS).feedback(
    "Multiplied out, $(q - k) \\cdot (q - k)$ has the product $q \\cdot k$ twice."
)
right.mistake("scores_added", {"- 2 * scores": "+ 2 * scores"}, loses=PAIRS).feedback(
    "This is the squared length of the *sum* of two vectors. In $(q - k) \\cdot (q - k)$ the product is subtracted."
)
right.mistake("without_the_squares_of_keys", {" + of_keys": ""}, loses=PAIRS).feedback(
    "The squared lengths of the keys are missing."
)
right.mistake("without_the_squares_of_queries", {"of_queries - 2": "-2"}, loses=PAIRS).feedback(
    "The squared lengths of the queries are missing."
)
right.mistake("lengths_not_squared", {"q.square().sum": "q.norm", "k.square().sum": "k.norm"}, loses=PAIRS).feedback(
    "You add the lengths. It is their squares that stand in the product: each vector dotted with itself."
)
right.mistake("takes_the_root", {".clamp(min=0)": ".clamp(min=0).sqrt()"}, loses=PAIRS).feedback(
    "These are the distances. Their squares are asked for."
)
right.mistake(shapes.rows_and_columns_exchanged, {".clamp(min=0)": ".clamp(min=0).mT"}, loses=PAIRS)
squared_distances.mistake("all_differences", loses="nothing larger").full_code("""
def squared_distances(queries, keys):
    return (queries[..., :, None, :] - keys[..., None, :, :]).square().sum(-1)
""").feedback(
    "Right, and it makes the difference of every query and every key on the way, (..., T, S, K): for 1,000 queries and "
    "1,000 keys of 1,000 numbers 4 GB, where the result has 4 MB. Dot products need no differences."
)
right.mistake(numbers.always_float64(of="the arguments"), {".clamp(min=0)": ".clamp(min=0).double()"}, loses="float32")
right.mistake(shapes.result_squeezed, loses="batches")
