"""Known mistakes in `tiled_backward`."""

from ...shared.families import arguments, numbers, scores
from ...shared.repeating import keeps_its_last_result
from .contract import tiled_backward

EVERYWHERE = ("all keys", "any tile")  # what an answer loses whose every result is wrong
BACK = "7. The backward pass"

right = tiled_backward.reference_answer("""
def tiled_backward(query, key, value, output, lse, grad_output, tile=64):
    scale = query.shape[-1] ** -0.5
    average = (grad_output * output).sum(-1, keepdim=True)
    grad_query, grad_keys, grad_values = torch.zeros_like(query), [], []
    for start in range(0, key.shape[-2], tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        weights = torch.exp(query @ k.mT * scale - lse[..., None])
        grad_scores = weights * (grad_output @ v.mT - average) * scale
        grad_query = grad_query + grad_scores @ k
        grad_keys.append(grad_scores.mT @ query)
        grad_values.append(weights.mT @ grad_output)
    return grad_query, torch.cat(grad_keys, dim=-2), torch.cat(grad_values, dim=-2)
""")

# Another way, which fills what it made before: what is left out stays 0
filling = tiled_backward.reference_answer("""
def tiled_backward(query, key, value, output, lse, grad_output, tile=64):
    scale = query.shape[-1] ** -0.5
    average = (grad_output * output).sum(-1, keepdim=True)
    grad_query, grad_key, grad_value = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
    for start in range(0, key.shape[-2], tile):
        part = slice(start, start + tile)
        weights = torch.exp(query @ key[..., part, :].mT * scale - lse[..., None])
        grad_scores = weights * (grad_output @ value[..., part, :].mT - average) * scale
        grad_query += grad_scores @ key[..., part, :]
        grad_key[..., part, :] = grad_scores.mT @ query
        grad_value[..., part, :] = weights.mT @ grad_output
    return grad_query, grad_key, grad_value
""")

right.mistake("forgets_the_average", {"mT - average": "mT"}, loses=EVERYWHERE).feedback(
    "You leave out a term of the scores' gradient. All weights of a row share one unit, so one that grows takes from "
    "the others. Subtract, for each query, the sum of `grad_output * output`.",
    see=BACK,
)
right.mistake("adds_the_average", {"v.mT - average": "v.mT + average"}, loses=EVERYWHERE).feedback(
    "You add the sum of `grad_output * output` where it should be subtracted.", see=BACK
)
right.mistake("averages_over_the_queries", {"sum(-1": "sum(-1, keepdim=True).mean(-2"}, loses="any tile").feedback(
    "You give every query the same average. It is one number for *each* query: the sum over the width of a value.",
    see=BACK,
)
right.mistake("sums_over_the_wrong_dimension", {"sum(-1": "sum(-2"}, loses=("any tile",)).feedback(
    "You sum the average over the queries. For each query it is the sum over the width of a value, `sum(-1)`.",
    see=BACK,
)
right.mistake("averages_within_the_tile", loses="any tile").patch("""
- grad_scores = weights * (grad_output @ v.mT - average) * scale
+ grad_scores = weights * (grad_output @ v.mT - (weights * (grad_output @ v.mT)).sum(-1, keepdim=True)) * scale
""").feedback(
    "You compute the average from the weights of one tile. It runs over all keys, and you have it already: the sum "
    "of `grad_output * output`, before the loop.",
    see=BACK,
)
right.mistake(
    "normalises_within_the_tile",
    {"torch.exp(query @ k.mT * scale - lse[..., None])": "torch.softmax(query @ k.mT * scale, -1)"},
    loses="any tile",
).feedback(
    "You make the weights of each tile sum to 1. Only those of all tiles together do: subtract `lse`, which covers "
    "all of them.",
    see=BACK,
)
right.mistake("does_not_subtract_the_log_sum_exp", {" - lse[..., None])": ")"}, loses=EVERYWHERE).feedback(
    "You use the exponentials of the scores themselves as weights. Subtract `lse` from the scores, and you get the "
    "weights of the forward pass.",
    see=BACK,
)
right.mistake(
    "subtracts_the_maximum", {"- lse[..., None]": "- (query @ k.mT * scale).amax(-1, keepdim=True)"}, loses=EVERYWHERE
).feedback(
    "You leave out the division by the sum. With the maximum subtracted you get exponentials; with `lse` subtracted, "
    "weights.",
    see=BACK,
)
right.mistake("forgets_the_scale_of_scores", {"k.mT * scale": "k.mT"}, loses=EVERYWHERE).feedback(
    "You do not scale the scores, so your weights differ from those of the forward pass.", see=BACK
)
right.mistake("forgets_the_scale_on_the_way_back", {"average) * scale": "average)"}, loses=EVERYWHERE).feedback(
    "You leave out the scale in the backward pass. Scores are products times 1/√K, so the gradients of queries and "
    "keys get that factor once, too.",
    see=BACK,
)
right.mistake("scales_twice", {"average) * scale": "average) * scale * scale"}, loses=EVERYWHERE).feedback(
    "You apply the scale twice in the backward pass. The queries' gradient needs it once, and so does the keys'.",
    see=BACK,
)
right.mistake(
    "forgets_the_scale_of_the_keys", {"grad_scores.mT @ query": "(grad_scores / scale).mT @ query"}, loses=EVERYWHERE
).feedback("Your gradient of the queries is right, but that of the keys lacks the scale 1/√K.", see=BACK)
right.mistake(
    "forgets_the_scale_of_the_queries", {"grad_scores @ k": "(grad_scores / scale) @ k"}, loses=EVERYWHERE
).feedback("Your gradient of the keys is right, but that of the queries lacks the scale 1/√K.", see=BACK)
right.mistake("takes_each_weight_by_itself", loses=EVERYWHERE).patch("""
- grad_scores = weights * (grad_output @ v.mT - average) * scale
+ grad_scores = weights * (1 - weights) * (grad_output @ v.mT) * scale
""").feedback(
    "You use w · (1 − w), which is only the slope of a weight in its own score. The score moves all other weights of "
    "the row as well: together that is the weight times the difference from the row's average.",
    see=BACK,
)
right.mistake(scores.scaled_by_width, {"query.shape[-1] ** -0.5": "1 / query.shape[-1]"}, loses=EVERYWHERE)
right.mistake(scores.scaled_by_values, {"query.shape[-1] ** -0.5": "value.shape[-1] ** -0.5"}, loses=EVERYWHERE)
right.mistake(
    "divides_exponentials", {"scale - lse[..., None])": "scale) / torch.exp(lse[..., None])"}, loses="scores up to"
).feedback(
    "You divide one exponential by another, and both overflow. Subtract `lse` from the scores, before `exp`.", see=BACK
)
right.mistake("forgets_the_weights", {"weights * (grad_output": "(grad_output"}, loses=EVERYWHERE).feedback(
    "You leave out the weight: the gradient of a score is its weight times a difference.", see=BACK
)
right.mistake("takes_the_output_for_the_gradient", {"mT @ grad_output": "mT @ output"}, loses=EVERYWHERE).feedback(
    "You compute the gradient of the values from the output. It is the weights' transpose times `grad_output`.",
    see=BACK,
)
right.mistake("gives_scores_to_the_values", {"weights.mT": "grad_scores.mT"}, loses=EVERYWHERE).feedback(
    "You compute the gradient of the values from the gradient of the scores. Values are mixed by the *weights*.",
    see=BACK,
)
right.mistake(
    "keeps_the_last_tile_of_the_queries", {"grad_query + grad_scores": "grad_scores"}, loses="any tile"
).feedback("You keep only the last tile's gradient of the queries. They meet every key: add up the tiles.", see=BACK)
right.mistake(
    "keeps_the_last_tile_of_the_keys", {"torch.cat(grad_keys, dim=-2)": "grad_keys[-1]"}, loses="any tile"
).feedback("You return only the last tile's gradient of the keys: join all tiles.", see=BACK)
right.mistake("adds_up_the_tiles_of_keys", loses="any tile").patch("""
- return grad_query, torch.cat(grad_keys, dim=-2), torch.cat(grad_values, dim=-2)
+ return grad_query, sum(grad_keys), sum(grad_values)
""").feedback(
    "You add up the gradients of keys and values over the tiles. Each tile holds different keys: join them.", see=BACK
)
right.mistake("joins_along_another_dimension", loses="any tile").patch("""
- return grad_query, torch.cat(grad_keys, dim=-2), torch.cat(grad_values, dim=-2)
+ return grad_query, torch.cat(grad_keys, dim=0), torch.cat(grad_values, dim=0)
""").feedback(
    "You join the tiles along the first dimension. With a batch, that is not the dimension of the keys: `dim=-2`.",
    see=BACK,
)
right.mistake("joins_the_tiles_in_reverse", loses="any tile").patch("""
- return grad_query, torch.cat(grad_keys, dim=-2), torch.cat(grad_values, dim=-2)
+ return grad_query, torch.cat(grad_keys[::-1], dim=-2), torch.cat(grad_values[::-1], dim=-2)
""").feedback("You join the tiles of the keys' and values' gradients in the wrong order.")
right.mistake("forgets_the_rest", {"key.shape[-2]": "max(1, key.shape[-2] // tile) * tile"}, loses="any tile").feedback(
    "You give the last keys no gradient where `tile` does not divide S. The last tile may be shorter.", see=BACK
)
filling.mistake("leaves_the_rest_at_0", {"shape[-2]": "shape[-2] // tile * tile"}, loses="any tile").feedback(
    "You leave out the last keys where `tile` does not divide S, so their gradients stay 0. Where `tile` is larger "
    "than S, all keys are left out. The last tile may be shorter.",
    see=BACK,
)
filling.mistake(
    "returns_another_order", {"return grad_query, grad_key, grad_value": "return ORDER"}, loses=EVERYWHERE
).for_each(ORDER=("grad_value, grad_key, grad_query", "grad_query, grad_value, grad_key")).feedback(
    "You return the gradients in the wrong order: it is (grad_query, grad_key, grad_value)."
)
right.mistake("exchanges_queries_and_keys", loses=EVERYWHERE).patch("""
- return grad_query, torch.cat(grad_keys, dim=-2), torch.cat(grad_values, dim=-2)
+ return torch.cat(grad_keys, dim=-2), grad_query, torch.cat(grad_values, dim=-2)
""").feedback("You have swapped the gradients of queries and keys: the order is (grad_query, grad_key, grad_value).")
right.mistake("goes_downhill", {"grad_query, torch": "-grad_query, -torch"}, loses=EVERYWHERE).feedback(
    "Your gradients of queries and keys have the wrong sign. The difference is grad_output @ valueᵀ minus the average.",
    see=BACK,
)
right.mistake("shares_do_not_line_up", {"lse[..., None]": "lse"}, loses=EVERYWHERE).feedback(
    "Your `lse` (..., T) does not line up with scores (..., T, tile). Give it a last dimension, `[..., None]`."
)
tiled_backward.mistake("makes_all_scores_at_once", loses="never more").full_code("""
def tiled_backward(query, key, value, output, lse, grad_output, tile=64):
    scale = query.shape[-1] ** -0.5
    weights = torch.exp(query @ key.mT * scale - lse[..., None])
    grad_scores = weights * (grad_output @ value.mT - (grad_output * output).sum(-1, keepdim=True)) * scale
    return grad_scores @ key, grad_scores.mT @ query, weights.mT @ grad_output
""").feedback(
    "You recompute all T × S weights at once. Compute those of one tile, and use them before you go on to the next.",
    see=BACK,
)
right.mistake("always_takes_64", loses="never more").patch("""
- for start in range(0, key.shape[-2], tile):
-     k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
+ for start in range(0, key.shape[-2], 64):
+     k, v = key[..., start : start + 64, :], value[..., start : start + 64, :]
""").feedback("You always use a tile of 64 keys, whatever `tile` is.")
right.mistake(
    "cuts_scores_that_are_all_there",
    {"query @ k.mT * scale": "(query @ key.mT * scale)[..., start : start + tile]"},
    loses="never more",
).feedback("You compute all scores at once and then read them in tiles. Cut the keys, before the product.", see=BACK)
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake(
    numbers.always_float32("answers_in_float32"),
    {"torch.zeros_like(query)": "torch.zeros(query.shape)", "return grad_query,": "return grad_query.float(),"},
    loses="float64",
).feedback(
    "Your gradient of float64 queries is float32, or is on PyTorch's default device. Take dtype and device from the "
    "queries: `zeros_like`."
)
filling.mistake(numbers.always_float32("fills_tensors_of_the_defaults"), loses="float64").patch("""
- grad_query, grad_key, grad_value = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
+ grad_query, grad_key, grad_value = (torch.zeros(given.shape, dtype=KIND) for given in (query, key, value))
""").for_each(KIND=("torch.float32", "given.dtype")).feedback(
    "You fill tensors of PyTorch's default dtype or on its default device, so the gradients have these, too. Take "
    "both from the arguments: `zeros_like`."
)
right.mistake(
    arguments.argument_changed(what="the query"),
    {
        "    average =": "    query *= scale\n    average =",
        "k.mT * scale": "k.mT",
        "grad_scores.mT @ query": "grad_scores.mT @ query / scale",
    },
    loses="float64",
)
keeps_its_last_result(right, loses="all keys")
