"""Known mistakes in `causal_mask`."""

from ...shared.families import calls, masks
from .contract import causal_mask

EVERYWHERE = "True above"  # what an answer loses whose every result is wrong

right = causal_mask.reference_answer("""
def causal_mask(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)
""")

right.mistake(masks.diagonal_blocked, {"triu(1)": "triu(0)"}, loses=EVERYWHERE)
right.mistake(masks.next_key_open, {"triu(1)": "triu(2)"}, loses=EVERYWHERE)
right.mistake(masks.inverted(see="1. Each word sees only the past"), {"triu(1)": "tril(0)"}, loses=EVERYWHERE)
right.mistake("blocks_the_past", {"triu(1)": "tril(-1)"}, loses=EVERYWHERE).feedback(
    "You block the keys *before* each query instead of those after it. Rows are queries and columns are keys; you "
    "have swapped them."
)
right.mistake(masks.to_add, {"ones(T, T, dtype=torch.bool)": 'full((T, T), float("-inf"))'}, loses=EVERYWHERE)
right.mistake(masks.of_numbers("zeros_and_ones"), {", dtype=torch.bool": ""}, loses="boolean", clause="boolean")
right.mistake(
    masks.of_numbers("ones_in_integers"), {"torch.bool": "INTEGER"}, loses="boolean", clause="boolean"
).for_each(INTEGER=("torch.int64", "torch.uint8"))
right.mistake("with_dimensions_for_batch_and_heads", {"T, T,": "1, 1, T, T,"}, loses=EVERYWHERE).feedback(
    "Your mask has two dimensions too many. It must be (T, T), which broadcasts to batches and heads as it is."
)
right.mistake(calls.result_remembered("hands_out_what_it_kept"), loses=EVERYWHERE, clause="new").patch("""
+ from functools import lru_cache
+
+
+ @lru_cache(maxsize=None)
  def causal_mask(T):
""").feedback(
    "You return the same tensor whenever the same mask is requested. If one caller changes it in place, to block "
    "padding as well, every later caller gets the changed mask."
)
causal_mask.mistake("ones_below_the_diagonal", loses=EVERYWHERE).full_code("""
def causal_mask(T):
    return torch.tril(torch.ones(T, T))
""").feedback(
    "You return numbers, with 1 where a query may look. Here a mask is boolean, and True where a query may not "
    "look. Use `dtype=torch.bool`, and block what is above the diagonal.",
    see="1. Each word sees only the past",
)
right.mistake("for_the_six_words_of_lesson_0", {"T, T": "6, 6"}, loses=EVERYWHERE).feedback(
    "Your mask is made for the six words of lesson 0. It must have `T` rows and `T` columns."
)
causal_mask.mistake("blocks_nothing", loses=EVERYWHERE).full_code("""
def causal_mask(T):
    return torch.zeros(T, T, dtype=torch.bool)
""").feedback("Your mask blocks nothing. It must be True where the key is after the query.")
