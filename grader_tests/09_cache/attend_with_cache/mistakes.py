"""Known mistakes in `attend_with_cache`."""

from ...shared.families import arguments, calls, gradients, masks, numbers, results, scores, shapes
from .contract import attend_with_cache

ALL = ("nothing", "one new", "several")  # what an answer loses whose every result is wrong
WITH_ONE = ("one new", "several")  # whose results with a cache are wrong
SEVERAL = ("nothing", "several")  # whose results for several new tokens are wrong

right = attend_with_cache.reference_answer("""
def attend_with_cache(query, key, value, cache=None):
    keys, values = (key, value) if cache is None else (torch.cat([cache[0], key], -2), torch.cat([cache[1], value], -2))
    T, S = query.shape[-2], keys.shape[-2]
    later = torch.ones(T, S, dtype=torch.bool, device=query.device).triu(S - T + 1)
    scores = query @ keys.mT / keys.shape[-1] ** 0.5
    weights = scores.masked_fill(later, float("-inf")).softmax(-1)
    return weights @ values, weights, (keys, values)
""")

right.mistake(scores.unscaled, {"keys.mT / keys.shape[-1] ** 0.5": "keys.mT"}, loses=ALL[1:])
right.mistake(scores.scaled_by_width, {"keys.shape[-1] ** 0.5": "keys.shape[-1]"}, loses=ALL)
right.mistake(scores.multiplied_by_root, {"keys.mT / keys": "keys.mT * keys"}, loses=ALL)
right.mistake("no_maximum_subtracted", loses="scores").patch("""
- weights = scores.masked_fill(later, float("-inf")).softmax(-1)
+ grown = scores.masked_fill(later, float("-inf")).exp()
+ weights = grown / grown.sum(-1, keepdim=True)
""").feedback(
    "Your exponentials overflow for large scores: that of 1000 is infinite. Subtract each row's maximum first, or "
    "use softmax."
)
right.mistake("scaled_by_the_number_of_keys", {"keys.shape[-1] **": "keys.shape[-2] **"}, loses=ALL[1:]).feedback(
    "You divide the scores by the root of the number of keys, which grows with every token. Divide by the root of "
    "their width."
)
right.mistake("ignores_the_cache", loses=WITH_ONE).patch("""
- keys, values = (key, value) if cache is None else (torch.cat([cache[0], key], -2), torch.cat([cache[1], value], -2))
+ keys, values = (key, value) 
""").feedback("You do not use the cache: the new tokens see only themselves.")
right.mistake("attends_to_new_ones_only", loses=WITH_ONE).patch("""
- return weights @ values, weights, (keys, values)
+ cache, keys, values = (keys, values), key, value
+ later = torch.ones(T, T, dtype=torch.bool, device=query.device).triu(1)
+ weights = (query @ keys.mT / keys.shape[-1] ** 0.5).masked_fill(later, float("-inf")).softmax(-1)
+ return weights @ values, weights, cache
""").feedback("You return the right cache but do not use it: the new tokens attend only to themselves.")
right.mistake("attends_to_kept_ones_only", loses=WITH_ONE).patch("""
- return weights @ values, weights, (keys, values)
+ if cache is not None:
+     weights = (query @ cache[0].mT / key.shape[-1] ** 0.5).softmax(-1)
+ return weights @ values[:, :, : weights.shape[-1]], weights, (keys, values)
""").feedback(
    "You let the new tokens attend to what was kept, but not to themselves. The new keys and values join the cache "
    "too late: each query sees its own key, too."
)
right.mistake(
    "keeps_what_was_kept", {"(keys, values)": "(keys, values) if cache is None else cache"}, loses=WITH_ONE
).feedback("You return the cache as it came in. The next token must find the new keys and values in it.")
right.mistake("keeps_new_ones_only", {"weights, (keys, values)": "weights, (key, value)"}, loses=WITH_ONE).feedback(
    "You return a cache with only the new keys and values: everything before them is lost."
)
right.mistake(
    "new_ones_first", {"[cache[0], key]": "[key, cache[0]]", "[cache[1], value]": "[value, cache[1]]"}, loses=WITH_ONE
).feedback("You put the new keys and values before those that are kept. They are later, so they come last.")
right.mistake("mask_aligned_at_the_start", {"triu(S - T + 1)": "triu(1)"}, loses=WITH_ONE).feedback(
    "Your mask treats the first new token as the first of all, so it sees only one key. The queries are the *last* T "
    "of the S positions."
)
right.mistake("sees_the_future", {'scores.masked_fill(later, float("-inf"))': "scores"}, loses=SEVERAL).feedback(
    "You let new tokens that come together see each other's future. Mask the later ones as soon as several come at "
    "once."
)
right.mistake("several_aligned_at_the_start", {"triu(S - T + 1)": "triu(1 if T > 1 else S)"}, loses="several").feedback(
    "Your mask treats the first of several new tokens as the first of all, so it sees only one key. One new token "
    "alone sees everything, as it should. PyTorch's `is_causal=True` does the same. The queries are the *last* T of "
    "the S positions."
)
right.mistake(
    "blocks_its_own_place", {"S - T + 1": "S - T", "softmax(-1)": "softmax(-1)EMPTY"}, loses=WITH_ONE
).for_each(EMPTY=("", ".nan_to_num(0.0)", ".nan_to_num(1 / S)")).feedback(
    "You do not let a query see its own key. It sees everything before it, and itself."
)
right.mistake(masks.next_key_open, {"S - T + 1": "S - T + 2"}, loses=SEVERAL)
right.mistake(
    "masks_without_a_cache_only", {"triu(S - T + 1)": "triu(S - T + 1) & (cache is None)"}, loses="several"
).feedback(
    "You block nothing when there is a cache. That is right for one new token, but the first of several sees those "
    "after it."
)
right.mistake(
    "masks_with_a_cache_only", {"triu(S - T + 1)": "triu(S - T + 1) & (cache is not None)"}, loses="nothing"
).feedback(
    "You block nothing when there is no cache. The first tokens, such as a whole prompt, must not see their future."
)
right.mistake(masks.blocked_by_small_number, {'float("-inf")': "FILL"}, loses=SEVERAL).for_each(FILL=(0.0, -1e-9))
right.mistake(masks.blocked_by_number, {'float("-inf")': "FILL"}, loses="scores").for_each(FILL=(-1e9, -1e4))
right.mistake(
    "adds_a_number", {'scores.masked_fill(later, float("-inf"))': "(scores + FILL * later)"}, loses="scores"
).for_each(FILL=(-1e9, -1e4, -1e3)).feedback(
    "You add a number such as -1e9 to blocked scores, which is not enough if scores differ by more than that."
)
right.mistake("inverted", {"masked_fill(later": "masked_fill(~later"}, loses=ALL).feedback(
    "You invert the mask: you block what may be seen and leave open what may not."
)
right.mistake(masks.after_softmax, loses=SEVERAL).patch("""
- weights = scores.masked_fill(later, float("-inf")).softmax(-1)
+ weights = scores.softmax(-1).masked_fill(later, 0.0)
""")
right.mistake(scores.scaled_by_values, {"keys.shape[-1] **": "values.shape[-1] **"}, loses=ALL)
right.mistake(scores.scaled_by_model_width, {"keys.shape[-1] **": "(keys.shape[1] * keys.shape[-1]) **"}, loses=ALL)
right.mistake("keeps_scaled_keys", loses=ALL).patch("""
+ key = key / key.shape[-1] ** 0.5
  keys, values = (key, value) if cache is None else (torch.cat([cache[0], key], -2), torch.cat([cache[1], value], -2))
@@
- scores = query @ keys.mT / keys.shape[-1] ** 0.5
+ scores = query @ keys.mT
""").feedback(
    "You scale new keys before you keep them. A cache holds keys as they came: scale the queries or the scores."
)
right.mistake(scores.softmax_over_heads, {"softmax(-1)": "softmax(1)NAN"}, loses=ALL).for_each(
    NAN=("", ".nan_to_num(0.0)")
)
right.mistake(scores.softmax_over_queries, {"softmax(-1)": "softmax(-2).nan_to_num(0.0)"}, loses=ALL)
right.mistake("values_of_new_ones_only", {"weights @ values": "weights[..., -T:] @ value"}, loses=WITH_ONE).feedback(
    "You compute the output from the new values only. The kept values have weights, too."
)
right.mistake("weights_of_new_ones_only", {"values, weights,": "values, weights[..., -T:],"}, loses=WITH_ONE).feedback(
    "You return only the weights on the new keys. There must be a column for every key, kept ones first."
)
right.mistake(results.weights_first, {"weights @ values, weights": "weights, weights @ values"}, loses=ALL)
right.mistake("no_cache_returned", {"weights, (keys, values)": "weights"}, loses=ALL).feedback(
    "You do not return the cache, so the next token would find nothing. Return (output, weights, cache)."
)
right.mistake(
    "answers_the_last_one_only", {"query @ keys": "query[:, :, -1:] @ keys", "(later": "(later[-1:]"}, loses=SEVERAL
).feedback(
    "You compute an output only for the last of the new tokens. Each of them has its own output and its own weights."
)
right.mistake(results.scores_for_weights, {"@ values, weights": "@ values, SCORES"}, loses=ALL[1:]).for_each(
    SCORES=("scores", 'scores.masked_fill(later, float("-inf"))')
)
right.mistake("values_for_keys", {"weights, (keys, values)": "weights, (values, keys)"}, loses=ALL).feedback(
    "You have swapped keys and values in the cache. The pair is (keys, values)."
)
right.mistake(gradients.cut("detached_cache", what="the cache that you return"), loses="gradients").patch("""
- return weights @ values, weights, (keys, values)
+ return weights @ values, weights, (keys.detach(), values.detach())
""")
right.mistake(
    gradients.cut("detached_kept", what="the kept keys and values"),
    {"cache[0]": "cache[0].detach()", "cache[1]": "cache[1].detach()"},
    loses="gradients",
)
right.mistake(
    gradients.cut("made_without_gradients"), {"def attend": "@torch.no_grad()\ndef attend"}, loses="gradients"
)
right.mistake(gradients.weights_detached, {"values, weights,": "values, weights.detach(),"}, loses="gradients")
right.mistake(arguments.argument_changed(what="the query"), loses="float64").patch("""
+ query.data *= 1.0 + 0 * query.data.mean()
+ query.data += 1e-3
+ query = query - 1e-3
  T, S = query.shape[-2], keys.shape[-2]
""")
right.mistake(shapes.view_of_strided, loses="float64").patch("""
- scores = query @ keys.mT / keys.shape[-1] ** 0.5
+ scores = query.view(-1, T, query.shape[-1]).view(query.shape) @ keys.mT / keys.shape[-1] ** 0.5
""")
right.mistake(calls.result_remembered("keeps_a_cache_of_its_own"), loses="nothing").patch("""
- def attend_with_cache(query, key, value, cache=None):
+ def attend_with_cache(query, key, value, cache=[]):
+     mine, cache = (cache, tuple(cache) or None) if isinstance(cache, list) else ([], cache)
@@
+ mine[:] = keys, values
  weights = scores.masked_fill(later, float("-inf")).softmax(-1)
""").feedback(
    "You keep something from an earlier call. A default such as `cache=[]` is the same list in every call. Keep "
    "nothing: return the cache."
)
right.mistake(
    numbers.default_device(where="the query", what="the mask"), {", device=query.device": ""}, loses="float64"
)
right.mistake(numbers.result_float32(of="the query"), loses="float64")
right.mistake(
    "returns_the_cache_in_two_items", {"weights, (keys, values)": "weights, keys, values"}, loses="nothing"
).feedback("You return keys and values as two items. The cache is one item, a pair: `output, weights, (keys, values)`.")
