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
    "You take the largest *dot product*, and there a long key wins whatever its direction. Divide the lengths of the "
    "keys out (the query's own changes none of its comparisons).",
    see="4. One question, six words",
)
right.mistake("finds_queries_for_keys", {"argmax(-1)": "argmax(-2)"}, loses=EVERYWHERE).feedback(
    "Your result names the best *query* for each key. Look along the last dimension: for each query, the best key."
)
right.mistake("finds_the_least_similar", {"argmax": "argmin"}, loses=EVERYWHERE).feedback(
    "You find the key that is *least* alike: the largest cosine is wanted, not the smallest."
)
right.mistake("ignores_the_sign", {"argmax": "abs().argmax"}, loses=EVERYWHERE).feedback(
    "A key that points the opposite way counts as a match for you: the sign of the cosine is lost."
)
most_similar.mistake("takes_the_nearest", loses=EVERYWHERE).full_code("""
def most_similar(queries, keys):
    return (queries[..., :, None, :] - keys[..., None, :, :]).square().sum(-1).argmin(-1)
""").feedback(
    "You find the key that lies *nearest*. Distance depends on lengths as well; asked for is the best direction."
)
right.mistake("returns_the_cosines", {"argmax": "amax"}, loses=EVERYWHERE).feedback(
    "You return the winners' cosines. Asked for are their places: which key, not how alike."
)
right.mistake("finds_one_place_for_all", {"argmax(-1)": "argmax()"}, loses=EVERYWHERE).feedback(
    "`argmax()` without a dimension looks at the whole tensor and gives one place for all queries "
    "together: name the dimension."
)
most_similar.mistake("returns_the_keys", loses=EVERYWHERE).full_code("""
def most_similar(queries, keys):
    places = (F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT).argmax(-1)
    return torch.take_along_dim(keys, places[..., None], dim=-2)
""").feedback("You return the winning keys themselves, not their places.")
right.mistake("answers_in_int32", {"argmax(-1)": "argmax(-1).int()"}, loses="indices").feedback(
    "The places are right, but int64 is asked for (`torch.long`), the dtype that `argmax` gives "
    "and that indexing needs."
)
right.mistake("answers_in_floats", {"argmax(-1)": "argmax(-1).to(queries.dtype)"}, loses="indices").feedback(
    "The places are right, but they come as floating-point numbers: int64 is asked for, and a float cannot index."
)
right.mistake(shapes.squeezed, {"argmax(-1)": "argmax(-1).squeeze()"}, loses=EVERYWHERE)
right.mistake(
    "keeps_the_last_dimension_of_places", {"argmax(-1)": "argmax(-1, keepdim=True)"}, loses=EVERYWHERE
).feedback("Your result keeps the last dimension, with size 1: leave `keepdim` away, so that `(..., T)` remains.")
right.mistake("knows_no_batches", {".mT": ".t()"}, loses="batches").feedback(
    "It works for one matrix of queries and one of keys, and not for batches: swap only the last "
    "two dimensions, and count dimensions from the end.",
    see="5. All pairs at once",
)
right.mistake("lets_nan_win", loses="vectors").patch("""
- cosines = F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT
+ lengths = queries.norm(dim=-1).unsqueeze(-1) * keys.norm(dim=-1).unsqueeze(-2)
+ cosines = queries @ keys.mT / lengths
""").feedback(
    "A key of zeros gives NaN, and `argmax` takes NaN for the largest number there is, so that "
    "such a key always wins. Its similarity is 0.",
    see="A vector of zeros has no direction",
)
right.mistake("never_finds_a_key_of_zeros", loses="vectors").patch("""
- return cosines.argmax(-1)
+ return cosines.masked_fill((keys == 0).all(-1).unsqueeze(-2), -2.0).argmax(-1)
""").feedback(
    "A key of zeros can never win for you. Its similarity is 0, which is more than the −0.5 of a key that points away."
)
right.mistake("counts_positive_cosines_only", {"argmax": "clamp(min=0).argmax"}, loses="vectors").feedback(
    "Where all cosines are below zero you answer 0, whatever they are: the best has to start below −1, not at 0."
)
most_similar.mistake("takes_the_nearest_unit_vector", loses="vectors").full_code("""
def most_similar(queries, keys):
    units, targets = F.normalize(queries, dim=-1), F.normalize(keys, dim=-1)
    return (units[..., :, None, :] - targets[..., None, :, :]).square().sum(-1).argmin(-1)
""").feedback(
    "You take the nearest of the vectors of length 1. For those, nearest and most alike are the same, but a key of "
    "zeros stays at zero, at distance 1 from everything, as if it had the cosine 0.5."
)
right.mistake("takes_the_last_of_equal_keys", loses="the first").patch("""
- return cosines.argmax(-1)
+ return keys.shape[-2] - 1 - cosines.flip(-1).argmax(-1)
""").feedback("Of equal keys you take the last one. The lowest index should win.")
most_similar.mistake("bends_short_vectors", loses="short").full_code("""
def most_similar(queries, keys):
    lengths = queries.norm(dim=-1).unsqueeze(-1) * keys.norm(dim=-1).unsqueeze(-2)
    return (queries @ keys.mT / (lengths + EPS)).argmax(-1)
""").for_each(EPS=(1e-8, 1e-10, 1e-9, 1e-7, 1e-6, 1e-5)).feedback(
    "The small constant in your denominator makes the cosines of short vectors too small, and a "
    "worse key wins. Treat exactly zero on its own instead.",
    see="Exercise 2: `cosine_similarity(a, b)`",
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
    "The small number that you add to the keys' lengths, or cut them off at, makes the cosines of short keys too "
    "small, and a worse key wins. Treat exactly zero on its own instead.",
    see="Exercise 2: `cosine_similarity(a, b)`",
)
most_similar.mistake(arguments.argument_changed(what="the keys"), loses="arguments").full_code("""
def most_similar(queries, keys):
    lengths = keys.norm(dim=-1, keepdim=True)
    keys /= torch.where(lengths == 0, 1, lengths)
    return (queries @ keys.mT).argmax(-1)
""")
right.mistake(
    "normalises_along_dimension_1", {"queries, dim=-1": "queries", "keys, dim=-1": "keys"}, loses="batches"
).feedback(
    "`F.normalize` divides along dimension 1 unless told otherwise, which is the last one for a matrix only. With a "
    "batch it is the dimension of the queries: say `dim=-1`."
)
right.mistake(
    "normalises_the_columns", {"queries, dim=-1": "queries, dim=-2", "keys, dim=-1": "keys, dim=-2"}, loses=EVERYWHERE
).feedback(
    "You take lengths along the wrong dimension: each *vector* has one, along `dim=-1`; you divide each column of "
    "numbers by its own."
)
right.mistake(shapes.all_dimensions_reversed(see="5. All pairs at once"), loses="batches").patch("""
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
    "You round the cosines (or compute them in half precision), so that keys which differ become "
    "equal. Compare what the dtype gives."
)
right.mistake(
    "sorts_as_it_comes", {"cosines.argmax(-1)": "cosines.argsort(dim=-1, descending=True)[..., 0]"}, loses="the first"
).feedback(
    "You sort the cosines and take the first. A sort need not keep equal ones in their order: any of them may come "
    "first. Say `stable=True`, or use `argmax`."
)
right.mistake("takes_the_top_one", {"argmax(-1)": "topk(1, dim=-1).indices[..., 0]"}, loses="the first").feedback(
    "You take the first of `topk`, which promises no order among equal cosines. `argmax` gives the lowest index."
)
most_similar.mistake("compares_along_dimension_1", loses=EVERYWHERE).full_code("""
def most_similar(queries, keys):
    return F.cosine_similarity(queries.unsqueeze(-2), keys.unsqueeze(-3), dim=1).argmax(-1)
""").feedback(
    "PyTorch's cosine works along dimension 1 unless told otherwise, and that is no vector here. Say `dim=-1`."
)
most_similar.mistake("pairs_queries_and_keys_off", loses=EVERYWHERE).full_code("""
def most_similar(queries, keys):
    return F.cosine_similarity(queries, keys, dim=-1).argmax(-1)
""").feedback(
    "You compare the first query with the first key, the second with the second. Each query meets *every* key: make "
    "the queries `(..., T, 1, K)` and the keys `(..., 1, S, K)`."
)
keeps_its_last_result(right, loses="finds")
right.mistake("returns_a_list", {"argmax(-1)": "argmax(-1).tolist()"}, loses=EVERYWHERE).feedback(
    "You return a list of plain numbers. Return the tensor of places, as `argmax` gives it."
)
right.mistake(
    "marks_the_winners", {"cosines.argmax(-1)": "(cosines == cosines.amax(-1, keepdim=True)).long()"}, loses=EVERYWHERE
).feedback(
    "Your result marks the winners with ones among zeros. Asked for is one number for each query: at which place the "
    "winner stands."
)
most_similar.mistake("overflows_before_the_root_of_squares", loses="short").full_code("""
def most_similar(queries, keys):
    squares = queries.square().sum(-1).unsqueeze(-1) * keys.square().sum(-1).unsqueeze(-2)
    return (queries @ keys.mT / torch.where(squares == 0, 1, squares).sqrt()).argmax(-1)
""").feedback(
    "Among long vectors you always find the first key: you multiply *squared* lengths before you take the root, and "
    "that is more than the dtype can hold, so that all cosines are 0. Take each root first."
)
right.mistake("returns_cosines_and_places", {"argmax": "max"}, loses=EVERYWHERE).feedback(
    "`max` along a dimension gives two tensors, the largest values and their places. Asked for are the places alone."
)
right.mistake("counts_from_one", {"argmax(-1)": "argmax(-1) + 1"}, loses=EVERYWHERE).feedback(
    "Every place is one too large: places are counted from 0."
)
remembers_tensors(right, loses="finds")
right.mistake(
    shapes.squeezed("squeezes_a_dimension_of_the_batch"), {"argmax(-1)": "argmax(-1).squeeze(-2)"}, loses="batches"
)
