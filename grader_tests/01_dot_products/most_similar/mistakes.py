"""Known mistakes in `most_similar`."""

from ...shared.families import arguments, shapes
from ...shared.repeating import keeps_its_last_result
from ..common import remembers_tensors
from .contract import most_similar

EVERYWHERE = ("finds", "batches")  # what an answer loses whose every result is wrong

right = most_similar.reference_answer("""
def most_similar(queries, keys):
    cosines = F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT
    return cosines.argmax(-1)
""")

right.mistake("takes_the_largest_dot_product", loses=EVERYWHERE).patch("""
- cosines = F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT
+ cosines = queries @ keys.mT
""").feedback(
    "You choose the largest *dot product*, which a long key wins whatever its direction. Divide by the lengths of the "
    "keys.",
    see="3. One query, six words",
)
right.mistake("finds_queries_for_keys", {"argmax(-1)": "argmax(-2)"}, loses=EVERYWHERE).feedback(
    "You find the best *query* for each key. Look along the last dimension to find the best key for each query."
)
right.mistake("finds_the_least_similar", {"argmax": "argmin"}, loses=EVERYWHERE).feedback(
    "You find the *least* similar key. Look for the largest cosine, not the smallest."
)
right.mistake("ignores_the_sign", {"argmax": "abs().argmax"}, loses=EVERYWHERE).feedback(
    "You ignore the sign of the cosine, so a key that points the opposite way counts as a match."
)
most_similar.mistake("takes_the_nearest", loses=EVERYWHERE).full_code("""
def most_similar(queries, keys):
    return (queries[..., :, None, :] - keys[..., None, :, :]).square().sum(-1).argmin(-1)
""").feedback(
    "You find the *nearest* key. Distance also depends on lengths; find the key with the most similar direction."
)
right.mistake("returns_the_cosines", {"argmax": "amax"}, loses=EVERYWHERE).feedback(
    "You return the largest cosines. Return their indices: which key, not how similar it is."
)
right.mistake("finds_one_place_for_all", {"argmax(-1)": "argmax()"}, loses=EVERYWHERE).feedback(
    "You call `argmax()` without a dimension, so you get one index for all queries together. Name the dimension."
)
most_similar.mistake("returns_the_keys", loses=EVERYWHERE).full_code("""
def most_similar(queries, keys):
    places = (F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT).argmax(-1)
    return torch.take_along_dim(keys, places[..., None], dim=-2)
""").feedback("You return the winning keys themselves, not their indices.")
right.mistake("answers_in_int32", {"argmax(-1)": "argmax(-1).int()"}, loses="indices", clause="indices").feedback(
    "Your indices have the wrong integer dtype. They are right, but indexing needs int64 (`torch.long`), the dtype "
    "that `argmax` returns."
)
right.mistake("answers_in_floats", {"argmax(-1)": "argmax(-1).to(queries.dtype)"}, loses="indices").feedback(
    "You return the indices as floating-point numbers. The indices are right, but they must be int64: a float "
    "cannot index."
)
right.mistake(shapes.squeezed, {"argmax(-1)": "argmax(-1).squeeze()"}, loses=EVERYWHERE)
right.mistake(
    "keeps_the_last_dimension_of_places", {"argmax(-1)": "argmax(-1, keepdim=True)"}, loses=EVERYWHERE
).feedback("You keep a last dimension of size 1. Leave out `keepdim`, so that `(..., T)` remains.")
right.mistake("knows_no_batches", {".mT": ".t()"}, loses="batches", clause="batches").feedback(
    "Your function works for one matrix of queries and one of keys, but not for batches. Swap the last two "
    "dimensions, counted from the end.",
    see="4. All pairs at once",
)
right.mistake("counts_positive_cosines_only", {"argmax": "clamp(min=0).argmax"}, loses="finds").feedback(
    "You return index 0 whenever all cosines are negative. The best value has to start below −1, not at 0."
)
right.mistake("takes_the_last_of_equal_keys", loses="the first", clause="ties").patch("""
- return cosines.argmax(-1)
+ return keys.shape[-2] - 1 - cosines.flip(-1).argmax(-1)
""").feedback("You return the last of several equal keys. Return the lowest index.")
most_similar.mistake("bends_short_vectors", loses="short").full_code("""
def most_similar(queries, keys):
    lengths = queries.norm(dim=-1).unsqueeze(-1) * keys.norm(dim=-1).unsqueeze(-2)
    return (queries @ keys.mT / (lengths + EPS)).argmax(-1)
""").for_each(EPS=(1e-8, 1e-10, 1e-9, 1e-7, 1e-6, 1e-5)).feedback(
    "You add a small constant to the denominator, so the cosines of short vectors become too small. No vector is all "
    "zeros here, so leave the constant out.",
)
most_similar.mistake("bends_short_keys", loses="short").full_code("""
def most_similar(queries, keys):
    lengths = LENGTHS
    return (F.normalize(queries, dim=-1) @ (keys / lengths).mT).argmax(-1)
""").for_each(
    LENGTHS=(
        "keys.norm(dim=-1, keepdim=True) + 1e-6",
        "keys.norm(dim=-1, keepdim=True) + 1e-4",
        "keys.norm(dim=-1, keepdim=True).clamp(min=1e-6)",
        "keys.norm(dim=-1, keepdim=True).clamp(min=1e-3)",
    )
).feedback(
    "You enlarge short keys by a small number, added or used as a minimum, so their cosines become too small. No "
    "vector is all zeros here, so do without.",
)
most_similar.mistake(arguments.argument_changed(what="the keys"), loses="arguments", clause="purity").full_code("""
def most_similar(queries, keys):
    lengths = keys.norm(dim=-1, keepdim=True)
    keys /= lengths
    return (queries @ keys.mT).argmax(-1)
""")
right.mistake(
    "normalises_along_dimension_1", {"queries, dim=-1": "queries", "keys, dim=-1": "keys"}, loses="batches"
).feedback(
    "`F.normalize` works along dimension 1 by default, which is the last dimension only for a matrix. Pass `dim=-1`."
)
right.mistake(
    "normalises_the_columns", {"queries, dim=-1": "queries, dim=-2", "keys, dim=-1": "keys, dim=-2"}, loses=EVERYWHERE
).feedback(
    "You divide each column by its length instead of each vector. The length of a *vector* is taken along `dim=-1`."
)
right.mistake(shapes.all_dimensions_reversed(see="4. All pairs at once"), loses="batches").patch("""
- cosines = F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT
+ cosines = F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).permute(*reversed(range(keys.ndim)))
""")
right.mistake("rounds_the_cosines", loses="finds").patch("""
- cosines = F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT
- return cosines.argmax(-1)
+ q, k = F.normalize(queries, dim=-1), F.normalize(keys, dim=-1)
+ return ROUNDED.argmax(-1)
""").for_each(
    ROUNDED=(
        "(q.bfloat16() @ k.bfloat16().mT)",
        "(q.half() @ k.half().mT)",
        "(q @ k.mT).bfloat16()",
        "(q @ k.mT).round(decimals=2)",
        "(q @ k.mT).round(decimals=3)",
    )
).feedback(
    "You round the cosines or compute them in half precision, so different keys become equal. Compare the cosines "
    "in the dtype of the arguments."
)
right.mistake(
    "sorts_as_it_comes", {"cosines.argmax(-1)": "cosines.argsort(dim=-1, descending=True)[..., 0]"}, loses="the first"
).feedback(
    "You sort the cosines and take the first, but a sort may put equal cosines in any order. Pass `stable=True`, "
    "or use `argmax`."
)
right.mistake("takes_the_top_one", {"argmax(-1)": "topk(1, dim=-1).indices[..., 0]"}, loses="the first").feedback(
    "You take the first index from `topk`, which guarantees no order among equal cosines. `argmax` returns the "
    "lowest index."
)
most_similar.mistake("compares_along_dimension_1", loses=EVERYWHERE).full_code("""
def most_similar(queries, keys):
    return F.cosine_similarity(queries.unsqueeze(-2), keys.unsqueeze(-3), dim=1).argmax(-1)
""").feedback(
    "PyTorch's cosine works along dimension 1 by default, which is not the dimension of the vectors here. Pass "
    "`dim=-1`."
)
most_similar.mistake("pairs_queries_and_keys_off", loses=EVERYWHERE).full_code("""
def most_similar(queries, keys):
    return F.cosine_similarity(queries, keys, dim=-1).argmax(-1)
""").feedback(
    "You compare the first query with the first key, the second with the second, and so on. Compare each query with "
    "*every* key."
)
keeps_its_last_result(right, loses="finds")
right.mistake("returns_a_list", {"argmax(-1)": "argmax(-1).tolist()"}, loses=EVERYWHERE).feedback(
    "You return a list of plain numbers. Return the tensor of indices that `argmax` gives."
)
right.mistake(
    "marks_the_winners", {"cosines.argmax(-1)": "(cosines == cosines.amax(-1, keepdim=True)).long()"}, loses=EVERYWHERE
).feedback("You mark the winners with ones among zeros. Return one number per query: the index of the winner.")
most_similar.mistake("overflows_before_the_root_of_squares", loses="short", clause="lengths").full_code("""
def most_similar(queries, keys):
    squares = queries.square().sum(-1).unsqueeze(-1) * keys.square().sum(-1).unsqueeze(-2)
    return (queries @ keys.mT / squares.sqrt()).argmax(-1)
""").feedback(
    "You multiply *squared* lengths before you take the root, which overflows for long vectors. Their cosines become "
    "0, and the first key wins. Take each root first."
)
right.mistake("returns_cosines_and_places", {"argmax": "max"}, loses=EVERYWHERE).feedback(
    "You return both results of `max`: the largest values and their indices. Return only the indices."
)
right.mistake("counts_from_one", {"argmax(-1)": "argmax(-1) + 1"}, loses=EVERYWHERE).feedback(
    "Every index is too large by 1. Positions are counted from 0."
)
remembers_tensors(right, loses="finds")
right.mistake(
    shapes.squeezed("squeezes_a_dimension_of_the_batch"), {"argmax(-1)": "argmax(-1).squeeze(-2)"}, loses="batches"
)
right.mistake("multiplies_as_in_lesson_00", loses=EVERYWHERE).patch("""
- cosines = F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT
+ cosines = queries @ keys.permute(*reversed(range(keys.ndim)))
""").feedback(
    "Your line of lesson 0 gives dot products, which a long key wins. Divide by the lengths first, and mind that `.T` "
    "reverses all dimensions of a batch."
)
right.mistake("pairs_one_matrix_only", loses="batches").patch("""
- cosines = F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT
+ q, k = F.normalize(queries, dim=-1), F.normalize(keys, dim=-1)
+ cosines = (PAIRS).sum(-1)
""").for_each(PAIRS=("q[:, None] * k[None]", "q.unsqueeze(-2) * k", "q[:, None] * k")).feedback(
    "Your new dimensions form all pairs only for one matrix of queries and one of keys. Both arguments need a new "
    "one, counted from the end.",
    see="4. All pairs at once",
)
