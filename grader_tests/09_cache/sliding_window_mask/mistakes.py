"""Known mistakes in `sliding_window_mask`."""

from .contract import sliding_window_mask

EVERYWHERE = ("as many", "more keys")  # what an answer loses whose every result is wrong

right = sliding_window_mask.base("""
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

right.mistake("one_key_too_many", {"<= query": "< query"}, shows=EVERYWHERE).says(
    "Each query sees one key too many. With a window of 3 it sees itself and the two before it."
)
right.mistake("one_key_too_few", {"query - window": "query - window + 1"}, shows=EVERYWHERE).says(
    "Each query sees one key too few: the window counts the query's own place, too."
)
right.mistake("no_window", {"(key > query) | (key <= query - window)": "key > query"}, shows=EVERYWHERE).says(
    "`window` makes no difference: this is the causal mask. Keys that lie too far back are blocked as well."
)
right.mistake("sees_the_future", {"(key > query) | (key": "(key"}, shows=EVERYWHERE).says(
    "Keys after the query are open. The window slides over the past; the future stays blocked."
)
right.mistake("opens_the_next_key", {"(key > query)": "(key > query + 1)"}, shows=EVERYWHERE).says(
    "Each query sees one key that comes after it. Its own place is the last that it sees."
)
right.mistake(
    "slides_over_the_future",
    {"(key > query) | (key <= query - window)": "(key < query) | (key >= query + window)"},
    shows=EVERYWHERE,
).says("The window lies after the query instead of before it: it reaches back from the query's own place.")
right.mistake("ignores_S", {"S = T if S is None else S": "S = T"}, shows="more keys").says(
    "`S` makes no difference: there are always as many keys as queries. The mask has S columns."
)
right.mistake("window_aligned_at_the_start", {"query - window": "query - (S - T) - window"}, shows="more keys").says(
    "The far end of the window is counted from the first query as place 0. Query i stands at S - T + i."
)
right.mistake("future_aligned_at_the_start", {"(key > query)": "(key > query - S + T)"}, shows="more keys").says(
    "What lies after a query is counted from the first query as place 0. Query i stands at S - T + i."
)
right.mistake("on_both_sides", {"(key > query)": "(key >= query + window)"}, shows=EVERYWHERE).says(
    "The window reaches as far into the future as into the past. Blocked is every key after the query."
)
right.mistake(
    "inverted",
    {"(key > query) | (key <= query - window)": "~((key > query) | (key <= query - window))"},
    shows=EVERYWHERE,
).says("The mask is inverted: here True means *blocked*.")
right.mistake("both_at_once", {"(key > query) | (key": "(key > query) & (key"}, shows=EVERYWHERE).says(
    "Nothing is blocked: no key is both after the query and too far before it. Either of the two is enough."
)
right.mistake("blocks_the_diagonal", {"(key > query)": "(key >= query)"}, shows=EVERYWHERE).says(
    "The diagonal is blocked too. Each query sees its own place."
)
right.mistake("aligned_at_the_start", {"[:, None] + S - T": "[:, None]"}, shows="more keys").says(
    "Queries and keys start together. They must *end* together: the queries are the last T of the S places."
)
right.mistake("keys_in_rows", shows="more keys").patch("""
- query = torch.arange(T, device=device)[:, None] + S - T
- key = torch.arange(S, device=device)
+ query = torch.arange(T, device=device) + S - T
+ key = torch.arange(S, device=device)[:, None]
""").says("The mask lies on its side: rows are the T queries, columns the S keys.")
right.mistake("in_blocks", {"(key <= query - window)": "(key // window < query // window)"}, shows=EVERYWHERE).says(
    "Places are cut into blocks of `window`, and each query sees its own block. The window slides along: each query "
    "has one of its own."
)
right.mistake("on_the_cpu_always", shows="boolean").patch("""
- query = torch.arange(T, device=device)[:, None] + S - T
- key = torch.arange(S, device=device)
+ query = torch.arange(T, device="cpu")[:, None] + S - T
+ key = torch.arange(S, device="cpu")
""").says("The mask is always made on the CPU. Make it on `device`.")
right.mistake("ignores_the_device", shows="boolean").patch("""
- query = torch.arange(T, device=device)[:, None] + S - T
- key = torch.arange(S, device=device)
+ query = torch.arange(T)[:, None] + S - T
+ key = torch.arange(S)
""").says("`device` is ignored: the mask is made on PyTorch's default device. Pass it on to where tensors are made.")
right.mistake(
    "zeros_and_ones",
    {"(key > query) | (key <= query - window)": "((key > query) | (key <= query - window)).KIND()"},
    shows="boolean",
).for_each(KIND=("float", "int", "long", "byte")).says(
    "The right cells, in the wrong type: zeros and ones. A mask is boolean."
)
right.mistake("any_lengths", shows="ValueError").patch("""
- if S < T:
-     raise ValueError(f"S is {S}, which is less than T = {T}")
""").says("There is no error for S < T: more queries than places cannot be, and the call must say so.")
right.mistake("any_window", shows="ValueError").patch("""
- if window < 1:
-     raise ValueError(f"window is {window}, and a query must see itself at least")
""").says("There is no error for a window below 1, in which a query does not even see itself.")
right.mistake("refuses_a_window_of_one", {"window < 1": "window <= 1"}, shows=("as many", "ValueError")).says(
    "A window of 1 is refused. Each query sees itself then, and nothing else: that is little, and no mistake."
)
right.mistake("asserts", shows="ValueError").patch("""
- if window < 1:
-     raise ValueError(f"window is {window}, and a query must see itself at least")
+ assert window >= 1, f"window is {window}"
""").says("`assert` raises AssertionError (and nothing at all under `python -O`): raise a ValueError.")
right.mistake("asserts_lengths", shows="ValueError").patch("""
- if S < T:
-     raise ValueError(f"S is {S}, which is less than T = {T}")
+ assert S >= T, f"S is {S}"
""").says("`assert` raises AssertionError (and nothing at all under `python -O`): raise a ValueError.")
right.mistake("refuses_a_wide_window", {"window < 1": "window < 1 or window > S"}, shows=("as many", "more keys")).says(
    "A window wider than the sentence is refused. It blocks nothing of the past, and is no mistake."
)
right.mistake("refuses_as_many_queries_as_keys", {"if S < T": "if S <= T"}, shows=("as many", "ValueError")).says(
    "S = T is refused. It is the ordinary case, in which nothing is kept."
)
