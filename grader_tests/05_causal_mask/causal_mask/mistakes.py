"""Known mistakes in `causal_mask`."""

from .contract import causal_mask

EVERYWHERE = ("as many", "more keys")  # what an answer loses whose every result is wrong

right = causal_mask.reference_answer("""
def causal_mask(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)
""")

right.mistake("blocks_the_diagonal", {"S - T + 1": "S - T"}, loses=EVERYWHERE).feedback(
    "The diagonal is blocked too. Each query may see its own place: that is the question, not the answer."
)
right.mistake("opens_the_next_key", {"1": "2"}, loses=EVERYWHERE).feedback(
    "Each query may still see one key that comes after it: the diagonal lies one place too far to the right."
)
right.mistake("inverted", {"triu(S - T + 1)": "tril(S - T)"}, loses=EVERYWHERE).feedback(
    "The mask is inverted: here True means *blocked*.", see="5. Two opposite conventions"
)
right.mistake("blocks_the_past", {"triu(S - T + 1)": "tril(S - T - 1)"}, loses=EVERYWHERE).feedback(
    "The keys *before* each query are blocked: rows are queries and columns are keys, and they are exchanged."
)
right.mistake("aligned_at_the_start", {"S - T + 1": "1"}, loses="more keys").feedback(
    "Queries and keys start together. They must *end* together: the queries are the last T of the S places.",
    see="When there are fewer queries than keys",
)
right.mistake("one_place_too_early", {"S - T + 1": "max(S - T, 1)"}, loses="more keys").feedback(
    "With S > T every query stands one place too early: query `i` stands at S - T + i, both counted from 0.",
    see="When there are fewer queries than keys",
)
causal_mask.mistake("ignores_S", loses=("more keys", "ValueError")).full_code("""
def causal_mask(T, S=None, device=None):
    return torch.ones(T, T, dtype=torch.bool, device=device).triu(1)
""").feedback("`S` makes no difference: the mask is always (T, T). It must have a column for each of the S keys.")
right.mistake("keys_in_rows", loses="more keys").patch("""
- return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)
+ return torch.ones(S, T, dtype=torch.bool, device=device).triu(1)
""").feedback("The mask lies on its side: rows are the T queries, columns the S keys.")
right.mistake("a_mask_to_add", loses=EVERYWHERE).patch("""
- return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)
+ return torch.full((T, S), float("-inf"), device=device).triu(S - T + 1)
""").feedback("This is a mask to *add* to scores, 0 and -inf. Here a mask is boolean: True where blocked.")
right.mistake("zeros_and_ones", {"dtype=torch.bool, device": "device"}, loses="boolean").feedback(
    "The right cells, in the wrong type: zeros and ones. A mask is boolean, so that `~`, `|` and `masked_fill` work."
)
right.mistake("ones_in_integers", {"torch.bool": "INTEGER"}, loses="boolean").for_each(
    INTEGER=("torch.int64", "torch.uint8")
).feedback("The right cells, as integers. A mask is boolean: `dtype=torch.bool`.")
right.mistake("with_dimensions_for_batch_and_heads", {"T, S,": "1, 1, T, S,"}, loses=EVERYWHERE).feedback(
    "There are two dimensions too many. The mask is (T, S); it broadcasts to batches and heads as it is."
)
right.mistake("a_row_for_every_key", loses="more keys").patch("""
- return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)
+ return torch.ones(S, S, dtype=torch.bool, device=device).triu(1)
""").feedback(
    "The mask is square: it has a row for every key. Only the last T of those rows are queries.",
    see="When there are fewer queries than keys",
)
right.mistake("shifted_to_the_left", {"S - T": "T - S"}, loses="more keys").feedback(
    "The diagonal is shifted to the left, by T - S. With S > T the queries stand further right: S - T.",
    see="When there are fewer queries than keys",
)
right.mistake("always_on_the_cpu", {"=device": '="cpu"'}, loses="boolean").feedback(
    "The mask is always made on the CPU. Make it on `device`."
)
right.mistake("no_error", loses="ValueError").patch("""
- if S < T:
-     raise ValueError(f"S is {S}, which is less than T = {T}")
""").feedback("There is no error for S < T: more queries than places cannot be, and the call must say so.")
right.mistake("asserts", loses="ValueError").patch("""
- if S < T:
-     raise ValueError(f"S is {S}, which is less than T = {T}")
+ assert S >= T, f"S is {S}, which is less than T = {T}"
""").feedback("`assert` raises AssertionError (and nothing at all under `python -O`): raise a ValueError.")
right.mistake("an_error_without_a_name", loses="ValueError").patch("""
- raise ValueError(f"S is {S}, which is less than T = {T}")
+ raise ValueError("there are more queries than keys")
""").feedback("The error does not say which argument was wrong, and what it was: name `S` or `T`, and its value.")
causal_mask.mistake("refuses_equal_sizes", loses="as many").full_code("""
def causal_mask(T, S=None, device=None):
    if S is not None and S <= T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    S = T if S is None else S
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)
""").feedback("S = T is refused. It is the most ordinary case of all: only S < T is an error.")
right.mistake("ignores_the_device", {", device=device": ""}, loses="boolean").feedback(
    "`device` is ignored: the mask is made on PyTorch's default device. Pass it on to where the tensor is made."
)
causal_mask.mistake("hands_out_what_it_kept", loses="as many").full_code("""
from functools import lru_cache


@lru_cache(maxsize=None)
def causal_mask(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)
""").feedback(
    "A mask that was made before is handed out again, the same tensor. Whoever changes theirs in place, to block "
    "padding as well, changes the mask of everyone who asks later."
)
