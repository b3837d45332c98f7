"""Known mistakes in `last_queries_mask`."""

from ...shared.families import masks, shapes
from .contract import last_queries_mask

EVERYWHERE = ("as many", "more keys")  # what an answer loses whose every result is wrong
FEWER_QUERIES = "4. Fewer queries than keys"

right = last_queries_mask.reference_answer("""
def last_queries_mask(T, S):
    return torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
""")

right.mistake(masks.diagonal_blocked, {"S - T + 1": "S - T"}, loses=EVERYWHERE)
right.mistake(masks.next_key_open, {"+ 1": "+ 2"}, loses=EVERYWHERE)
right.mistake(
    masks.inverted(see="1. Each word sees only the past"), {"triu(S - T + 1)": "tril(S - T)"}, loses=EVERYWHERE
)
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
last_queries_mask.mistake("ignores_S", loses="more keys").full_code("""
def last_queries_mask(T, S):
    return torch.ones(T, T, dtype=torch.bool).triu(1)
""").feedback("`S` makes no difference: your mask is always (T, T). It needs one column for each of the S keys.")
right.mistake(shapes.rows_and_columns_exchanged, {"T, S, dtype": "S, T, dtype", "S - T + 1": "1"}, loses="more keys")
right.mistake(masks.to_add, {"ones(T, S, dtype=torch.bool)": 'full((T, S), float("-inf"))'}, loses=EVERYWHERE)
right.mistake(masks.of_numbers("zeros_and_ones"), {", dtype=torch.bool": ""}, loses="boolean", clause="boolean")
right.mistake(
    masks.of_numbers("ones_in_integers"), {"torch.bool": "INTEGER"}, loses="boolean", clause="boolean"
).for_each(INTEGER=("torch.int64", "torch.uint8"))
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
last_queries_mask.mistake("ones_below_the_diagonal", loses=EVERYWHERE).full_code("""
def last_queries_mask(T, S):
    return torch.tril(torch.ones(T, S))
""").feedback(
    "You return numbers, with 1 where a query may look. Here a mask is boolean, and True where a query may not "
    "look. Use `dtype=torch.bool`, and block what is after each query.",
    see="1. Each word sees only the past",
)
last_queries_mask.mistake("blocks_nothing", loses=EVERYWHERE).full_code("""
def last_queries_mask(T, S):
    return torch.zeros(T, S, dtype=torch.bool)
""").feedback(
    "Your mask blocks nothing. That is right for a single query, which is the last one, but of several queries only "
    "the last sees every key."
)
right.mistake(
    "for_the_six_words_of_lesson_0", {"T, S, dtype": "6, 6, dtype", "S - T + 1": "1"}, loses=EVERYWHERE
).feedback("Your mask is made for the six words of lesson 0. It must have `T` rows and `S` columns.", see=FEWER_QUERIES)
