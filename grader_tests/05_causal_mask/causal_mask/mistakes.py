"""Known mistakes in `causal_mask`."""

from ...shared.families import arguments, calls, masks, numbers, shapes
from .contract import causal_mask

EVERYWHERE = ("as many", "more keys")  # what an answer loses whose every result is wrong
FEWER_QUERIES = "When there are fewer queries than keys"

right = causal_mask.reference_answer("""
def causal_mask(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)
""")

right.mistake(masks.diagonal_blocked, {"S - T + 1": "S - T"}, loses=EVERYWHERE)
right.mistake(masks.next_key_open, {"1": "2"}, loses=EVERYWHERE)
right.mistake(masks.inverted(see="5. Two opposite conventions"), {"triu(S - T + 1)": "tril(S - T)"}, loses=EVERYWHERE)
right.mistake("blocks_the_past", {"triu(S - T + 1)": "tril(S - T - 1)"}, loses=EVERYWHERE).feedback(
    "You block the keys *before* each query instead of those after it. Rows are queries and columns are keys; you "
    "have swapped them."
)
right.mistake(masks.aligned_at_the_start(see=FEWER_QUERIES), {"S - T + 1": "1"}, loses="more keys")
right.mistake("one_place_too_early", {"S - T + 1": "max(S - T, 1)"}, loses="more keys").feedback(
    "If S > T, your mask places every query one position too early. Query `i` is at position S - T + i, both "
    "counted from 0.",
    see=FEWER_QUERIES,
)
causal_mask.mistake("ignores_S", loses=("more keys", "ValueError")).full_code("""
def causal_mask(T, S=None, device=None):
    return torch.ones(T, T, dtype=torch.bool, device=device).triu(1)
""").feedback("`S` makes no difference: your mask is always (T, T). It needs one column for each of the S keys.")
right.mistake(shapes.rows_and_columns_exchanged, {"T, S, dtype": "S, T, dtype", "S - T + 1": "1"}, loses="more keys")
right.mistake(masks.to_add, {"ones(T, S, dtype=torch.bool": 'full((T, S), float("-inf")'}, loses=EVERYWHERE)
right.mistake(masks.of_numbers("zeros_and_ones"), {"dtype=torch.bool, device": "device"}, loses="boolean")
right.mistake(masks.of_numbers("ones_in_integers"), {"torch.bool": "INTEGER"}, loses="boolean").for_each(
    INTEGER=("torch.int64", "torch.uint8")
)
right.mistake("with_dimensions_for_batch_and_heads", {"T, S,": "1, 1, T, S,"}, loses=EVERYWHERE).feedback(
    "Your mask has two dimensions too many. It must be (T, S), which broadcasts to batches and heads as it is."
)
right.mistake("a_row_for_every_key", {"ones(T": "ones(S", "S - T + 1": "1"}, loses="more keys").feedback(
    "Your mask is square, with a row for every key. Only the last T of these rows are queries.", see=FEWER_QUERIES
)
right.mistake("shifted_to_the_left", {"S - T": "T - S"}, loses="more keys").feedback(
    "You shift the diagonal to the left, by T - S. If S > T, the queries are further to the right: shift it by S - T.",
    see=FEWER_QUERIES,
)
right.mistake(numbers.device_ignored("always_on_the_cpu", where="the CPU"), {"=device": '="cpu"'}, loses="boolean")
right.mistake(
    arguments.not_refused("You accept S < T. There cannot be more queries than positions: raise a ValueError."),
    loses="ValueError",
)
right.mistake(arguments.asserts(), loses="ValueError")
right.mistake("takes_0_for_missing", {"T if S is None else S": "S or T"}, loses="ValueError").feedback(
    "You treat an `S` of 0 as missing: `S or T` gives T for 0 too. Only None means the default; 0 is less than T."
)
right.mistake(arguments.error_without_name(), loses="ValueError")
causal_mask.mistake(arguments.valid_refused("refuses_equal_sizes"), loses="as many").full_code("""
def causal_mask(T, S=None, device=None):
    if S is not None and S <= T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    S = T if S is None else S
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)
""").feedback("You raise an error for S = T, the most common case of all. Only S < T is an error.")
right.mistake(numbers.device_ignored("ignores_the_device"), {", device=device": ""}, loses="boolean")
right.mistake(calls.result_remembered("hands_out_what_it_kept"), loses="as many").patch("""
+ from functools import lru_cache
+
+
+ @lru_cache(maxsize=None)
  def causal_mask(T, S=None, device=None):
""").feedback(
    "You return the same tensor whenever the same mask is requested. If one caller changes it in place, to block "
    "padding as well, every later caller gets the changed mask."
)
causal_mask.mistake("ones_below_the_diagonal", loses=EVERYWHERE).full_code("""
def causal_mask(T, S=None, device=None):
    S = S or T
    return torch.tril(torch.ones(T, S, device=device))
""").feedback(
    "You return numbers, with 1 where a query may look. Here a mask is boolean, and True where a query may not "
    "look. Use `dtype=torch.bool`, and block what is above the diagonal.",
    see="5. Two opposite conventions",
)
