"""Known mistakes in `is_order_blind`."""

from ...shared.families import numbers, results
from .contract import is_order_blind

EVERYWHERE = ("functions", "the permutation")  # what an answer loses whose every result is wrong

right = is_order_blind.reference_answer("""
def is_order_blind(attention, x, permutation):
    return bool((attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4)
""")

right.mistake("leaves_the_output_as_it_was", {"(x)[permutation]": "(x)"}, loses=EVERYWHERE).feedback(
    "You compare with the outputs in their old order. An order-blind function gives each token the same output as "
    "before, but the token is at another position now. Permute the outputs like the inputs."
)
right.mistake("permutes_twice", loses=EVERYWHERE).patch("""
- return bool((attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4)
+ return bool((attention(x[permutation])[permutation] - attention(x)).abs().max() < 1e-4)
""").feedback(
    "You permute one of the two outputs the wrong way round. Permute the output of the unpermuted input just like "
    "the input, or undo the permutation on the other output. Applying `[permutation]` once more does not undo it."
)
is_order_blind.mistake("permutes_the_features", loses=EVERYWHERE).full_code("""
def is_order_blind(attention, x, permutation):
    places = permutation % x.shape[1]
    return bool((attention(x[:, places]) - attention(x)[:, places]).abs().max() < 1e-4)
""").feedback("You permute the features of each token. Permute the tokens, dimension 0.")
right.mistake("compares_sums", loses="functions").patch("""
- return bool((attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4)
+ return bool((attention(x[permutation]).sum(0) - attention(x).sum(0)).abs().max() < 1e-3)
""").feedback(
    "You add up the outputs over the tokens before you compare them. Quite different outputs can have the same sum."
)
is_order_blind.mistake("compares_sorted_outputs", loses="functions").full_code("""
def is_order_blind(attention, x, permutation):
    moved, kept = attention(x[permutation]).sort(dim=0).values, attention(x).sort(dim=0).values
    return bool((moved - kept).abs().max() < 1e-4)
""").feedback(
    "You sort the outputs before you compare them. It is not enough that the same numbers come out somewhere: each "
    "token must get its own."
)
right.mistake("turns_the_tokens_round", loses="the permutation").patch("""
- return bool((attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4)
+ return bool((attention(x.flip(0)) - attention(x).flip(0)).abs().max() < 1e-4)
""").feedback(
    "You try a permutation of your own instead of the given one. The function may be blind to the given one but "
    "not to yours, or the other way round."
)
right.mistake("looks_at_one_output_only", loses="the permutation").patch("""
- return bool((attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4)
+ return bool((attention(x[permutation])[PLACE] - attention(x)[permutation[PLACE]]).abs().max() < 1e-4)
""").for_each(PLACE=(0, -1)).feedback("You look at only one output. The order may matter to any of them.")
right.mistake("tries_tokens_of_its_own", loses="the permutation", clause="given").patch("""
  def is_order_blind(attention, x, permutation):
+     x = torch.randn_like(x)
""").feedback("You try tokens of your own instead of the given `x`. The function may treat other tokens differently.")
is_order_blind.mistake("asks_for_equal_bits", loses="small").full_code("""
def is_order_blind(attention, x, permutation):
    return torch.equal(attention(x[permutation]), attention(x)[permutation])
""").feedback(
    "You require that the outputs are exactly equal. Sums in another order are rounded differently: a difference "
    "under 1e-5 is only rounding."
)
is_order_blind.mistake("by_the_defaults_of_allclose", loses="small").full_code("""
def is_order_blind(attention, x, permutation):
    return torch.allclose(attention(x[permutation]), attention(x)[permutation])
""").feedback(
    "Your comparison is too strict near 0, as `torch.allclose` is by default. It allows only 1e-8 there. A "
    "difference under 1e-5 is only rounding: set `atol`."
)
right.mistake("forgives_a_tenth", {"1e-4": "LIMIT"}, loses="small", clause="small").for_each(
    LIMIT=(0.1, 0.05)
).feedback("Your threshold is too high. A difference of a hundredth counts, even in a single entry.")
is_order_blind.mistake("forgives_in_proportion", loses="small").full_code("""
def is_order_blind(attention, x, permutation):
    return torch.allclose(attention(x[permutation]), attention(x)[permutation], rtol=SHARE, atol=1e-4)
""").for_each(SHARE=(0.05, 0.01, 0.1)).feedback(
    "You allow a difference in proportion to the output (`rtol`), which is too much where outputs are large. A "
    "difference of a hundredth or more passes there."
)
right.mistake("lets_differences_cancel", {"abs().max": "SUMMED().abs"}, loses=("functions", "small")).for_each(
    SUMMED=("mean", "sum")
).feedback(
    "You add up differences with their signs, so they cancel. Take magnitudes before you ask whether any is large."
)
right.mistake("averages_the_differences", {"max() < 1e-4": "mean() < LIMIT"}, loses="small").for_each(
    LIMIT=(5e-3, 1e-3, 1e-4, 1e-5)
).feedback("You take the mean of all differences, which hides a difference in a single entry. Look at the largest one.")
right.mistake("forgets_the_sign", {"abs().": ""}, loses="small").feedback(
    "You miss negative differences. Take the magnitude before you ask whether any is large."
)
is_order_blind.mistake("asks_whether_all_differ", loses=("small", "the permutation")).full_code("""
def is_order_blind(attention, x, permutation):
    different = (attention(x[permutation]) - attention(x)[permutation]).abs().amax(1) > 1e-4
    return not bool(different.all())
""").feedback("You require that *every* output differs before you say that the order matters. One is enough.")
right.mistake("says_the_opposite", {"bool(": "not bool("}, loses=EVERYWHERE).feedback(
    "You return True and False the wrong way round. True means that the function does *not* see the order."
)
is_order_blind.mistake(results.tensor_for_bool, loses="True or", clause="bool").full_code("""
def is_order_blind(attention, x, permutation):
    return (attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4
""")
is_order_blind.mistake("permutes_x_in_place", loses="True or", clause="purity").full_code("""
def is_order_blind(attention, x, permutation):
    kept = attention(x)[permutation]
    x[:] = x[permutation]
    return bool((attention(x) - kept).abs().max() < 1e-4)
""").feedback(
    "You change `x`, and it is still changed after the call. Indexing makes a new tensor; do not write it back."
)
right.mistake(numbers.float32_on_the_way("asks_in_float32"), loses="True or").patch("""
  def is_order_blind(attention, x, permutation):
+     x = x.float()
""").feedback("You convert x to float32 first. Ask the function about x as it is: float64 rounds far less.")
right.mistake("sees_an_order_in_one_token", loses="True or", clause="single").patch("""
  def is_order_blind(attention, x, permutation):
+     if len(x) < 2:
+         return False
""").feedback(
    "You return False for one token alone. It has only one order, so nothing can see another one: return True."
)
is_order_blind.mistake("always_true", loses=EVERYWHERE).full_code("""
def is_order_blind(attention, x, permutation):
    return True
""").feedback("You return True for every function. Try yours on attention with a causal mask.")
is_order_blind.mistake("always_false", loses=EVERYWHERE).full_code("""
def is_order_blind(attention, x, permutation):
    return False
""").feedback("You return False for every function. Try yours on plain self-attention.")
