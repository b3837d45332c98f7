"""Known mistakes in `is_order_blind`."""

from ...shared.families import numbers, results
from .contract import is_order_blind

EVERYWHERE = ("functions", "the permutation")  # what an answer loses whose every result is wrong

right = is_order_blind.reference_answer("""
def is_order_blind(attention, x, permutation):
    return bool((attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4)
""")

right.mistake("leaves_the_output_as_it_was", {"(x)[permutation]": "(x)"}, loses=EVERYWHERE).feedback(
    "You compare with the outputs in their old order. An order-blind function gives each token the output that it had "
    "before, but the token stands elsewhere now: the outputs are to be permuted like the inputs."
)
right.mistake("permutes_twice", loses=EVERYWHERE).patch("""
- return bool((attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4)
+ return bool((attention(x[permutation])[permutation] - attention(x)).abs().max() < 1e-4)
""").feedback(
    "One output is permuted the wrong way round. Either permute the output of the unpermuted input just as the input "
    "was, or undo the permutation on the other one; `[permutation]` once more does not undo it."
)
is_order_blind.mistake("permutes_the_features", loses=EVERYWHERE).full_code("""
def is_order_blind(attention, x, permutation):
    places = permutation % x.shape[1]
    return bool((attention(x[:, places]) - attention(x)[:, places]).abs().max() < 1e-4)
""").feedback("It is the tokens that change places, dimension 0; you permute the features of each token.")
right.mistake("compares_sums", loses="functions").patch("""
- return bool((attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4)
+ return bool((attention(x[permutation]).sum(0) - attention(x).sum(0)).abs().max() < 1e-3)
""").feedback(
    "The outputs were added up over the tokens before they were compared. A function may give quite other outputs with "
    "the same sum."
)
is_order_blind.mistake("compares_sorted_outputs", loses="functions").full_code("""
def is_order_blind(attention, x, permutation):
    moved, kept = attention(x[permutation]).sort(dim=0).values, attention(x).sort(dim=0).values
    return bool((moved - kept).abs().max() < 1e-4)
""").feedback(
    "You sorted the outputs before comparing them. It is not enough that the same numbers come out somewhere; each "
    "token must get its own."
)
right.mistake("turns_the_tokens_round", loses="the permutation").patch("""
- return bool((attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4)
+ return bool((attention(x.flip(0)) - attention(x).flip(0)).abs().max() < 1e-4)
""").feedback(
    "You try a permutation of your own. The one that is given may be one to which the function is blind, or the only "
    "one to which it is not."
)
right.mistake("looks_at_one_output_only", loses="the permutation").patch("""
- return bool((attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4)
+ return bool((attention(x[permutation])[PLACE] - attention(x)[permutation[PLACE]]).abs().max() < 1e-4)
""").for_each(PLACE=(0, -1)).feedback("You look at one output only. The order may matter to any of them.")
right.mistake("tries_tokens_of_its_own", loses="the permutation").patch("""
  def is_order_blind(attention, x, permutation):
+     x = torch.randn_like(x)
""").feedback(
    "You try tokens of your own. Ask the function about the `x` that is given: it may treat other tokens otherwise."
)
is_order_blind.mistake("asks_for_equal_bits", loses="small").full_code("""
def is_order_blind(attention, x, permutation):
    return torch.equal(attention(x[permutation]), attention(x)[permutation])
""").feedback("You ask for equal bits. Sums in another order round differently: what is under 1e-5 is no difference.")
is_order_blind.mistake("by_the_defaults_of_allclose", loses="small").full_code("""
def is_order_blind(attention, x, permutation):
    return torch.allclose(attention(x[permutation]), attention(x)[permutation])
""").feedback(
    "It is too strict near 0, as `torch.allclose` is by itself: that forgives 1e-8 there. What is under 1e-5 is "
    "rounding; `atol` says so."
)
right.mistake("forgives_a_tenth", {"1e-4": "LIMIT"}, loses="small").for_each(LIMIT=(0.1, 0.05)).feedback(
    "It is too forgiving: a difference of a hundredth, at a single place, is one."
)
is_order_blind.mistake("forgives_in_proportion", loses="small").full_code("""
def is_order_blind(attention, x, permutation):
    return torch.allclose(attention(x[permutation]), attention(x)[permutation], rtol=SHARE, atol=1e-4)
""").for_each(SHARE=(0.05, 0.01, 0.1)).feedback(
    "It forgives a share of the output (`rtol`), and so a difference of a hundredth, or more, where outputs are large."
)
right.mistake("lets_differences_cancel", {"abs().max": "SUMMED().abs"}, loses=("functions", "small")).for_each(
    SUMMED=("mean", "sum")
).feedback(
    "Differences are added up with their signs, and cancel. Take magnitudes before you ask whether any is large."
)
right.mistake("averages_the_differences", {"max() < 1e-4": "mean() < 5e-3"}, loses="small").feedback(
    "The mean of all differences hides a difference at a single place. Look at the greatest."
)
right.mistake("forgets_the_sign", {"abs().": ""}, loses="small").feedback(
    "Negative differences are not seen: take the magnitude before you ask whether any is large."
)
is_order_blind.mistake("asks_whether_all_differ", loses=("small", "the permutation")).full_code("""
def is_order_blind(attention, x, permutation):
    different = (attention(x[permutation]) - attention(x)[permutation]).abs().amax(1) > 1e-4
    return not bool(different.all())
""").feedback("*Every* output has to differ before you say that the order matters. One is enough.")
right.mistake("says_the_opposite", {"bool(": "not bool("}, loses=EVERYWHERE).feedback(
    "The answer is the wrong way round: True means that the function does *not* see the order."
)
is_order_blind.mistake(results.tensor_for_bool, loses="True or").full_code("""
def is_order_blind(attention, x, permutation):
    return (attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4
""")
is_order_blind.mistake("permutes_x_in_place", loses="True or").full_code("""
def is_order_blind(attention, x, permutation):
    kept = attention(x)[permutation]
    x[:] = x[permutation]
    return bool((attention(x) - kept).abs().max() < 1e-4)
""").feedback("`x` is not what it was before the call. Indexing makes a new tensor; do not write it back.")
right.mistake(numbers.float32_on_the_way("asks_in_float32"), loses="True or").patch("""
  def is_order_blind(attention, x, permutation):
+     x = x.float()
""").feedback("x is made float32 first. The function is asked about x as it is, and float64 rounds far less.")
is_order_blind.mistake("always_true", loses=EVERYWHERE).full_code("""
def is_order_blind(attention, x, permutation):
    return True
""").feedback("It says True of everything. Try it on attention with a causal mask.")
is_order_blind.mistake("always_false", loses=EVERYWHERE).full_code("""
def is_order_blind(attention, x, permutation):
    return False
""").feedback("It says False of everything. Try it on plain self-attention.")
