"""Known mistakes in `sliding_window_mask`."""

from ...shared.families import arguments, masks, numbers, shapes
from .contract import sliding_window_mask

EVERYWHERE = ("as many", "more keys")  # what an answer loses whose every result is wrong

right = sliding_window_mask.reference_answer("""
def sliding_window_mask(T, window, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    if window < 1:
        raise ValueError(f"window is {window}, and a query must see itself at least")
    query = torch.arange(T, device=device)[:, None] + S - T
    key = torch.arange(S, device=device)
    return (key > query) | (key <= query - window)
""")

right.mistake(masks.one_key_too_many, {"<= query": "< query"}, loses=EVERYWHERE)
right.mistake(masks.one_key_too_few, {"query - window": "query - window + 1"}, loses=EVERYWHERE)
right.mistake("no_window", {"(key > query) | (key <= query - window)": "key > query"}, loses=EVERYWHERE).feedback(
    "You do not use `window`: your result is the causal mask. Keys that are too far back must be blocked as well."
)
right.mistake("sees_the_future", {"(key > query) | (key": "(key"}, loses=EVERYWHERE).feedback(
    "You leave keys after the query open. The window slides over the past; the future stays blocked."
)
right.mistake(masks.next_key_open, {"(key > query)": "(key > query + 1)"}, loses=EVERYWHERE)
right.mistake("slides_over_the_future", loses=EVERYWHERE).patch("""
- return (key > query) | (key <= query - window)
+ return (key < query) | (key >= query + window)
""").feedback(
    "You place the window after the query instead of before it. It reaches back from the query's own position."
)
right.mistake("ignores_S", {"S = T if S is None else S": "S = T"}, loses="more keys").feedback(
    "You do not use `S`: your mask always has as many keys as queries. It should have S columns."
)
right.mistake(
    "window_aligned_at_the_start", {"query - window": "query - (S - T) - window"}, loses="more keys"
).feedback(
    "You count the far end of the window as if the first query were at position 0. Query i is at position S - T + i."
)
right.mistake("future_aligned_at_the_start", {"(key > query)": "(key > query - S + T)"}, loses="more keys").feedback(
    "You block the future as if the first query were at position 0. Query i is at position S - T + i."
)
right.mistake("on_both_sides", {"(key > query)": "(key >= query + window)"}, loses=EVERYWHERE).feedback(
    "Your window reaches as far into the future as into the past. Every key after the query must be blocked."
)
right.mistake(masks.inverted, loses=EVERYWHERE).patch("""
- return (key > query) | (key <= query - window)
+ return ~((key > query) | (key <= query - window))
""")
right.mistake("both_at_once", {"(key > query) | (key": "(key > query) & (key"}, loses=EVERYWHERE).feedback(
    "You block nothing: no key is both after the query and too far before it. Either of the two is enough."
)
right.mistake(masks.diagonal_blocked, {"(key > query)": "(key >= query)"}, loses=EVERYWHERE)
right.mistake(masks.aligned_at_the_start, {"[:, None] + S - T": "[:, None]"}, loses="more keys")
right.mistake("offset_backwards", {"[:, None] + S - T": "[:, None] + T - S"}, loses="more keys").feedback(
    "You have swapped S and T in the difference, so the queries are before the first key. Query i is at position S - "
    "T + i."
)
right.mistake(
    arguments.unchecked("takes_0_for_none"), {"T if S is None else S": "S or T"}, loses="ValueError"
).feedback("You use T when S is 0 (`S or T`), but 0 is less than T and must be refused. Check whether S `is None`.")
right.mistake("one_place_off", {"S - T": "S - T + OFF"}, loses=EVERYWHERE).for_each(OFF=(1, -1)).feedback(
    "You place every query one position before or after its own. Query i is at position S - T + i: both count from 0."
)
right.mistake("a_row_for_every_key", loses="more keys").patch("""
- query = torch.arange(T, device=device)[:, None] + S - T
+ query = torch.arange(S, device=device)[:, None]
""").feedback("You make a row for each of the S positions. Only the last T of them are queries: the mask has T rows.")
sliding_window_mask.alternative("filling_row_by_row").mistake(
    "a_slice_from_before_the_start", {"max(0, last - window + 1)": "last - window + 1"}, loses=EVERYWHERE
).feedback(
    "You let the window of the first queries begin before position 0, and a negative index counts from the end. "
    "Begin the slice at 0 at the earliest."
)
right.mistake("remembers_a_mask", loses="as many").patch("""
+ made = {}
+
  def sliding_window_mask(T, window, S=None, device=None):
@@
- return (key > query) | (key <= query - window)
+ return made.setdefault((T, S, device), (key > query) | (key <= query - window))
""").feedback(
    "You return a mask that was made for another window. A mask kept for later calls must be kept with everything "
    "that it depends on, and never be written to."
)
right.mistake(shapes.rows_and_columns_exchanged, loses="more keys").patch("""
- query = torch.arange(T, device=device)[:, None] + S - T
- key = torch.arange(S, device=device)
+ query = torch.arange(T, device=device) + S - T
+ key = torch.arange(S, device=device)[:, None]
""")
right.mistake("in_blocks", {"(key <= query - window)": "(key // window < query // window)"}, loses=EVERYWHERE).feedback(
    "You cut the positions into blocks of `window`, and each query sees its own block. The window slides: each query "
    "has its own."
)
right.mistake(
    numbers.device_ignored("on_the_cpu_always", where="the CPU"),
    {"T, device=device": 'T, device="cpu"', "S, device=device": 'S, device="cpu"'},
    loses="boolean",
)
right.mistake(
    numbers.device_ignored("ignores_the_device"), {"T, device=device": "T", "S, device=device": "S"}, loses="boolean"
)
right.mistake(masks.of_numbers, loses="boolean").patch("""
- return (key > query) | (key <= query - window)
+ return ((key > query) | (key <= query - window)).KIND()
""").for_each(KIND=("float", "int", "long", "byte"))
right.mistake(masks.to_add, loses=EVERYWHERE).patch("""
- return (key > query) | (key <= query - window)
+ return torch.zeros(T, S, device=device).masked_fill((key > query) | (key <= query - window), -torch.inf)
""")
right.mistake(
    arguments.not_refused("You raise no error for S < T. There cannot be more queries than positions.", "S <")(
        "any_lengths"
    ),
    loses="ValueError",
)
right.mistake(
    arguments.not_refused(
        "You raise no error for a window below 1, in which a query does not even see itself.", "window"
    )("any_window"),
    loses="ValueError",
)
right.mistake(arguments.error_without_name(), loses="ValueError")
right.mistake(arguments.wrong_error("IndexError", "window"), loses="ValueError")
right.mistake(
    arguments.valid_refused("refuses_a_window_of_one"), {"window < 1": "window <= 1"}, loses=("as many", "ValueError")
).feedback("You refuse a window of 1, which is allowed: each query then sees only itself.")
right.mistake(arguments.asserts("window")("asserts"), loses="ValueError")
right.mistake(arguments.asserts("S <")("asserts_lengths"), loses="ValueError")
right.mistake(arguments.valid_refused("refuses_more_keys"), {"if S < T": "if S != T"}, loses="more keys").feedback(
    "You refuse S > T, which is what `S` is for: there are more keys than queries when some were kept."
)
right.mistake("exchanges_window_and_S", {"T, window, S=None": "T, S=None, window=None"}, loses=EVERYWHERE).feedback(
    "You have the arguments in the wrong order: `window` comes before `S`, which has a default."
)
right.mistake(arguments.valid_refused("refuses_a_wide_window"), loses=("as many", "more keys")).patch("""
- if window < 1:
+ if window < 1 or window > S:
""").feedback("You refuse a window wider than the sentence, which is allowed: it blocks nothing of the past.")
right.mistake(arguments.valid_refused("refuses_as_many_queries_as_keys"), loses=("as many", "ValueError")).patch("""
- if S < T:
+ if S <= T:
""").feedback("You refuse S = T, which is the ordinary case: nothing is kept.")
