"""Known mistakes in `sliding_window_mask`."""

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

right.mistake("one_key_too_many", {"<= query": "< query"}, loses=EVERYWHERE).feedback(
    "Each query sees one key too many. With a window of 3 it sees itself and the two before it."
)
right.mistake("one_key_too_few", {"query - window": "query - window + 1"}, loses=EVERYWHERE).feedback(
    "Each query sees one key too few: the window counts the query's own place, too."
)
right.mistake("no_window", {"(key > query) | (key <= query - window)": "key > query"}, loses=EVERYWHERE).feedback(
    "`window` makes no difference: this is the causal mask. Keys that lie too far back are blocked as well."
)
right.mistake("sees_the_future", {"(key > query) | (key": "(key"}, loses=EVERYWHERE).feedback(
    "Keys after the query are open. The window slides over the past; the future stays blocked."
)
right.mistake("opens_the_next_key", {"(key > query)": "(key > query + 1)"}, loses=EVERYWHERE).feedback(
    "Each query sees one key that comes after it. Its own place is the last that it sees."
)
right.mistake(
    "slides_over_the_future",
    {"(key > query) | (key <= query - window)": "(key < query) | (key >= query + window)"},
    loses=EVERYWHERE,
).feedback("The window lies after the query instead of before it: it reaches back from the query's own place.")
right.mistake("ignores_S", {"S = T if S is None else S": "S = T"}, loses="more keys").feedback(
    "`S` makes no difference: there are always as many keys as queries. The mask has S columns."
)
right.mistake(
    "window_aligned_at_the_start", {"query - window": "query - (S - T) - window"}, loses="more keys"
).feedback("The far end of the window is counted from the first query as place 0. Query i stands at S - T + i.")
right.mistake("future_aligned_at_the_start", {"(key > query)": "(key > query - S + T)"}, loses="more keys").feedback(
    "What lies after a query is counted from the first query as place 0. Query i stands at S - T + i."
)
right.mistake("on_both_sides", {"(key > query)": "(key >= query + window)"}, loses=EVERYWHERE).feedback(
    "The window reaches as far into the future as into the past. Blocked is every key after the query."
)
right.mistake(
    "inverted",
    {"(key > query) | (key <= query - window)": "~((key > query) | (key <= query - window))"},
    loses=EVERYWHERE,
).feedback("The mask is inverted: here True means *blocked*.")
right.mistake("both_at_once", {"(key > query) | (key": "(key > query) & (key"}, loses=EVERYWHERE).feedback(
    "Nothing is blocked: no key is both after the query and too far before it. Either of the two is enough."
)
right.mistake("blocks_the_diagonal", {"(key > query)": "(key >= query)"}, loses=EVERYWHERE).feedback(
    "The diagonal is blocked too. Each query sees its own place."
)
right.mistake("aligned_at_the_start", {"[:, None] + S - T": "[:, None]"}, loses="more keys").feedback(
    "Queries and keys start together. They must *end* together: the queries are the last T of the S places."
)
right.mistake("offset_backwards", {"[:, None] + S - T": "[:, None] + T - S"}, loses="more keys").feedback(
    "The queries stand before the first key: S and T are exchanged in the difference. Query i stands at S - T + i."
)
right.mistake("one_place_off", {"[:, None] + S - T": "[:, None] + S - T + OFF"}, loses=EVERYWHERE).for_each(
    OFF=(1, -1)
).feedback(
    "Every query is taken to stand one place before or after its own. Query i stands at S - T + i: both count from 0."
)
right.mistake("a_row_for_every_key", loses="more keys").patch("""
- query = torch.arange(T, device=device)[:, None] + S - T
+ query = torch.arange(S, device=device)[:, None]
""").feedback("There is a row for every one of the S places. Only the last T of them ask: the mask has T rows.")
sliding_window_mask.alternative("filling_row_by_row").mistake(
    "a_slice_from_before_the_start", {"max(0, last - window + 1)": "last - window + 1"}, loses=EVERYWHERE
).feedback(
    "For the first queries the window begins before place 0, and a negative number counts from the end. Let the slice "
    "begin at 0 at the earliest."
)
right.mistake("remembers_a_mask", loses="as many").patch("""
+ made = {}
+
  def sliding_window_mask(T, window, S=None, device=None):
@@
- return (key > query) | (key <= query - window)
+ return made.setdefault((T, S, device), (key > query) | (key <= query - window))
""").feedback(
    "A mask that was made before comes again, for another window. One that is kept for later calls must be kept with "
    "all that it depends on, and never be written to."
)
right.mistake("keys_in_rows", loses="more keys").patch("""
- query = torch.arange(T, device=device)[:, None] + S - T
- key = torch.arange(S, device=device)
+ query = torch.arange(T, device=device) + S - T
+ key = torch.arange(S, device=device)[:, None]
""").feedback("The mask lies on its side: rows are the T queries, columns the S keys.")
right.mistake("in_blocks", {"(key <= query - window)": "(key // window < query // window)"}, loses=EVERYWHERE).feedback(
    "Places are cut into blocks of `window`, and each query sees its own block. The window slides along: each query "
    "has one of its own."
)
right.mistake("on_the_cpu_always", loses="boolean").patch("""
- query = torch.arange(T, device=device)[:, None] + S - T
- key = torch.arange(S, device=device)
+ query = torch.arange(T, device="cpu")[:, None] + S - T
+ key = torch.arange(S, device="cpu")
""").feedback("The mask is always made on the CPU. Make it on `device`.")
right.mistake("ignores_the_device", loses="boolean").patch("""
- query = torch.arange(T, device=device)[:, None] + S - T
- key = torch.arange(S, device=device)
+ query = torch.arange(T)[:, None] + S - T
+ key = torch.arange(S)
""").feedback(
    "`device` is ignored: the mask is made on PyTorch's default device. Pass it on to where tensors are made."
)
right.mistake(
    "zeros_and_ones",
    {"(key > query) | (key <= query - window)": "((key > query) | (key <= query - window)).KIND()"},
    loses="boolean",
).for_each(KIND=("float", "int", "long", "byte")).feedback(
    "The right cells, in the wrong type: zeros and ones. A mask is boolean."
)
right.mistake(
    "zeros_and_minus_infinity",
    {
        "(key > query) | (key <= query - window)": "torch.zeros(T, S, device=device).masked_fill((key > query) | "
        "(key <= query - window), -torch.inf)"
    },
    loses=EVERYWHERE,
).feedback("This mask is made to be added to scores: 0 and −∞. Here a mask is boolean, and True is blocked.")
right.mistake("any_lengths", loses="ValueError").patch("""
- if S < T:
-     raise ValueError(f"S is {S}, which is less than T = {T}")
""").feedback("There is no error for S < T: more queries than places cannot be, and the call must say so.")
right.mistake("any_window", loses="ValueError").patch("""
- if window < 1:
-     raise ValueError(f"window is {window}, and a query must see itself at least")
""").feedback("There is no error for a window below 1, in which a query does not even see itself.")
right.mistake(
    "an_error_that_does_not_say_what",
    {
        'f"S is {S}, which is less than T = {T}"': '"S must not be less than T"',
        'f"window is {window}, and a query must see itself at least"': '"a query must see itself at least"',
    },
    loses="ValueError",
).feedback(
    "The errors have to say both which argument was wrong and what it was: name it as in the signature, with its value."
)
right.mistake("raises_another_error", {'ValueError(f"window': 'IndexError(f"window'}, loses="ValueError").feedback(
    "There is an error, and it is no ValueError: the number is of the right type, and has a wrong value."
)
right.mistake("refuses_a_window_of_one", {"window < 1": "window <= 1"}, loses=("as many", "ValueError")).feedback(
    "A window of 1 is refused. Each query sees itself then, and nothing else: that is little, and no mistake."
)
right.mistake("asserts", loses="ValueError").patch("""
- if window < 1:
-     raise ValueError(f"window is {window}, and a query must see itself at least")
+ assert window >= 1, f"window is {window}"
""").feedback("`assert` raises AssertionError (and nothing at all under `python -O`): raise a ValueError.")
right.mistake("asserts_lengths", loses="ValueError").patch("""
- if S < T:
-     raise ValueError(f"S is {S}, which is less than T = {T}")
+ assert S >= T, f"S is {S}"
""").feedback("`assert` raises AssertionError (and nothing at all under `python -O`): raise a ValueError.")
right.mistake("refuses_more_keys", {"if S < T": "if S != T"}, loses="more keys").feedback(
    "S > T is refused. That is what `S` is for: there are more keys than queries when some were kept."
)
right.mistake("exchanges_window_and_S", {"T, window, S=None": "T, S=None, window=None"}, loses=EVERYWHERE).feedback(
    "The arguments stand in another order: `window` comes before `S`, which has a default."
)
right.mistake(
    "refuses_a_wide_window", {"window < 1": "window < 1 or window > S"}, loses=("as many", "more keys")
).feedback("A window wider than the sentence is refused. It blocks nothing of the past, and is no mistake.")
right.mistake("refuses_as_many_queries_as_keys", {"if S < T": "if S <= T"}, loses=("as many", "ValueError")).feedback(
    "S = T is refused. It is the ordinary case, in which nothing is kept."
)
