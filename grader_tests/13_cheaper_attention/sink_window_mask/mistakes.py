"""Known mistakes in `sink_window_mask`."""

from ...shared.families import arguments, masks, numbers, shapes
from .contract import sink_window_mask

EVERYWHERE = ("as many", "more keys")  # what an answer loses whose every result is wrong
TOO_FAR = "(query - key >= window) & (key >= sinks)"

right = sink_window_mask.reference_answer("""
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    if window < 1:
        raise ValueError(f"window is {window}, and a query must see itself at least")
    if sinks < 0:
        raise ValueError(f"sinks is {sinks}, and cannot be negative")
    query = torch.arange(T, device=device)[:, None] + S - T
    key = torch.arange(S, device=device)
    return (key > query) | ((query - key >= window) & (key >= sinks))
""")

right.mistake("no_sinks", {" & (key >= sinks)": ""}, loses=EVERYWHERE).feedback(
    "You do not use `sinks`: your result is the mask of a window alone. The first positions must stay open."
)
right.mistake("no_window", {f"({TOO_FAR})": "(key < 0)"}, loses=EVERYWHERE).feedback(
    "You do not use `window`: your result is the causal mask. Keys that are too far back must be blocked as well."
)
right.mistake("sinks_only", {"(query - key >= window) & ": ""}, loses=EVERYWHERE).feedback(
    "You block every key that is not a sink. The keys in the window must stay open, too."
)
right.mistake(
    "sinks_see_the_future",
    {
        "return (key > query) | (": "return (key >= sinks) & ((key > query) | (",
        "(query - key >= window) & (key >= sinks))": "query - key >= window))",
    },
    loses=EVERYWHERE,
).feedback(
    "You open the sinks in every row, also where they come after the query. A key after the query is always blocked, "
    "a sink included."
)
right.mistake("sinks_at_the_end", {"(key >= sinks)": "(key < S - sinks)"}, loses=EVERYWHERE).feedback(
    "You take the last positions as sinks. They are the first ones, 0 … sinks − 1."
)
right.mistake("one_sink_too_many", {"key >= sinks": "key > sinks"}, loses=EVERYWHERE).feedback(
    "You keep one sink too many. The first `sinks` positions are 0 … sinks − 1."
)
right.mistake("one_sink_too_few", {"key >= sinks": "key >= sinks - 1"}, loses=EVERYWHERE).feedback(
    "You keep one sink too few. The first `sinks` positions are 0 … sinks − 1."
)
right.mistake("one_sink_always", {"key >= sinks": "key >= 1"}, loses=EVERYWHERE).feedback(
    "You keep the first position alone, whatever `sinks` is. It is the number of first positions that stay open."
)
right.mistake(
    "window_shortened_by_the_sinks", {"key >= window": "key >= max(1, window - sinks)"}, loses=EVERYWHERE
).feedback("You take the sinks away from the window. Both are kept whole: up to `sinks + window` keys are open.")
right.mistake("window_lengthened_by_the_sinks", {"key >= window": "key >= window + sinks"}, loses=EVERYWHERE).feedback(
    "You add the sinks to the window. They are kept beside it: the window stays `window` positions long."
)
right.mistake(
    "every_sink_or_none", {"(key >= sinks)": "(key >= (sinks if sinks < S else 0))"}, loses=EVERYWHERE
).feedback("You ignore the sinks where there are at least as many as keys. Then all keys up to the query are open.")
right.mistake("sinks_of_the_queries", {"(key >= sinks)": "(key >= S - T + sinks)"}, loses="more keys").feedback(
    "You count the sinks from the first query. They are the first positions of all S."
)
right.mistake(
    "queries_from_0_in_the_window", {"(query - key >= window)": "(query - (S - T) - key >= window)"}, loses="more keys"
).feedback(
    "You count the far end of the window as if the first query were at position 0. Query i is at position S − T + i."
)
right.mistake("future_aligned_at_the_start", {"(key > query)": "(key > query - S + T)"}, loses="more keys").feedback(
    "You block the future as if the first query were at position 0. Query i is at position S − T + i."
)
right.mistake(masks.one_key_too_many, {"key >= window": "key > window"}, loses=EVERYWHERE)
right.mistake(masks.one_key_too_few, {"key >= window": "key >= window - 1"}, loses=EVERYWHERE)
right.mistake("sees_the_future", {"(key > query) | (": "("}, loses=EVERYWHERE).feedback(
    "You leave keys after the query open. The window and the sinks are about the past; the future stays blocked."
)
right.mistake(masks.next_key_open, {"(key > query)": "(key > query + 1)"}, loses=EVERYWHERE)
right.mistake(masks.diagonal_blocked, {"(key > query)": "(key >= query)"}, loses=EVERYWHERE)
right.mistake("on_both_sides", {"(key > query)": "(key >= query + window)"}, loses=EVERYWHERE).feedback(
    "Your window reaches as far into the future as into the past. Every key after the query must be blocked."
)
right.mistake("either_of_the_two", {"window) & (key": "window) | (key"}, loses=EVERYWHERE).feedback(
    "You block a key that is far back *or* not a sink. It is blocked only if it is both."
)
right.mistake("all_at_once", {"(key > query) | (": "(key > query) & ("}, loses=EVERYWHERE).feedback(
    "You block nothing: no key is both after the query and too far before it. Either of the two is enough."
)
right.mistake(
    masks.inverted,
    {
        "return (key > query) | ((query - key >= window) & (key >= sinks))": "return ~((key > query) | ((query - key "
        ">= window) & (key >= sinks)))"
    },
    loses=EVERYWHERE,
)
right.mistake("ignores_S", {"S = T if S is None else S": "S = T"}, loses="more keys").feedback(
    "You do not use `S`: your mask always has as many keys as queries. It should have S columns."
)
right.mistake(masks.aligned_at_the_start, {"[:, None] + S - T": "[:, None]"}, loses="more keys")
right.mistake("a_row_for_every_key", loses="more keys").patch("""
- query = torch.arange(T, device=device)[:, None] + S - T
+ query = torch.arange(S, device=device)[:, None]
""").feedback("You make a row for each of the S positions. Only the last T of them are queries: the mask has T rows.")
right.mistake(shapes.rows_and_columns_exchanged, loses="more keys").patch("""
- query = torch.arange(T, device=device)[:, None] + S - T
- key = torch.arange(S, device=device)
+ query = torch.arange(T, device=device) + S - T
+ key = torch.arange(S, device=device)[:, None]
""")
right.mistake(
    "exchanges_window_and_sinks", {"T, window, sinks, S=None": "T, sinks, window, S=None"}, loses=EVERYWHERE
).feedback("You have `window` and `sinks` in the wrong order. The signature has `window` first.")
sink_window_mask.alternative("filling_row_by_row").mistake(
    "a_slice_from_before_the_start", {"max(0, last + 1 - window)": "last + 1 - window"}, loses=EVERYWHERE
).feedback(
    "You let the window of the first queries begin before position 0, and a negative index counts from the end. "
    "Begin the slice at 0 at the earliest."
)
right.mistake("remembers_a_mask", loses="as many").patch("""
+ made = {}
+
  def sink_window_mask(T, window, sinks, S=None, device=None):
@@
- return (key > query) | ((query - key >= window) & (key >= sinks))
+ return made.setdefault((T, window, S, device), (key > query) | ((query - key >= window) & (key >= sinks)))
""").feedback(
    "You return a mask that was made for other arguments. A mask kept for later calls must be kept with everything "
    "that it depends on."
)
right.mistake(
    numbers.device_ignored("on_the_cpu_always", where="the CPU"),
    {"T, device=device": 'T, device="cpu"', "S, device=device": 'S, device="cpu"'},
    loses="boolean",
)
right.mistake(
    numbers.device_ignored("ignores_the_device"), {"T, device=device": "T", "S, device=device": "S"}, loses="boolean"
)
right.mistake(
    masks.of_numbers,
    {
        "return (key > query) | ((query - key >= window) & (key >= sinks))": "return ((key > query) | ((query - key "
        ">= window) & (key >= sinks))).KIND()"
    },
    loses="boolean",
).for_each(KIND=("float", "int", "long", "byte"))
right.mistake(
    masks.to_add,
    {
        "return (key > query) | ((query - key >= window) & (key >= sinks))": "return torch.zeros(T, S, "
        "device=device).masked_fill((key > query) | ((query - key >= window) & (key >= sinks)), -torch.inf)"
    },
    loses=EVERYWHERE,
)
for about, name, text in (
    ("S <", "any_lengths", "You raise no error for S < T. There cannot be more queries than positions."),
    ("window", "any_window", "You raise no error for a window below 1, in which a query does not even see itself."),
    ("sinks", "any_sinks", "You raise no error for a negative number of sinks."),
):
    right.mistake(arguments.not_refused(text, about)(name), loses="ValueError")
right.mistake(arguments.not_refused("You raise none of the three errors.")("checks_nothing"), loses="ValueError")
right.mistake(arguments.error_without_name(), loses="ValueError")
right.mistake(arguments.wrong_error("IndexError", "window"), loses="ValueError")
right.mistake(arguments.asserts()("asserts"), loses="ValueError")
right.mistake(
    arguments.unchecked("takes_0_for_none"), {"T if S is None else S": "S or T"}, loses="ValueError"
).feedback("You use T when S is 0 (`S or T`), but 0 is less than T and must be refused. Check whether S `is None`.")
right.mistake(
    arguments.valid_refused("refuses_no_sinks"), {"sinks < 0": "sinks < 1"}, loses=(*EVERYWHERE, "ValueError")
).feedback("You refuse 0 sinks, which is allowed: it leaves the window alone.")
right.mistake(
    arguments.valid_refused("refuses_a_window_of_one"), {"window < 1": "window <= 1"}, loses=("as many", "ValueError")
).feedback("You refuse a window of 1, which is allowed: each query then sees only itself and the sinks.")
right.mistake(
    arguments.valid_refused("refuses_many_sinks"),
    {"sinks < 0": "sinks < 0 or sinks > S"},
    loses=(*EVERYWHERE, "ValueError"),
).feedback("You refuse more sinks than keys, which is allowed: all keys up to the query are then open.")
right.mistake(arguments.valid_refused("refuses_as_many_queries_as_keys"), loses=("as many", "ValueError")).patch("""
- if S < T:
+ if S <= T:
""").feedback("You refuse S = T, which is the ordinary case: nothing is kept.")
right.mistake("first_queries_for_sinks", loses=EVERYWHERE).patch("""
- return (key > query) | ((query - key >= window) & (key >= sinks))
+ return (key > query) | ((query - key >= window) & (ROWS >= sinks))
""").for_each(ROWS=("torch.arange(T, device=device)[:, None]", "query")).feedback(
    "You exempt the first *queries* from the window. The sinks are the first keys: columns of the mask, not rows."
)
right.mistake(arguments.unchecked("takes_a_window_of_0"), {"window < 1": "window < 0"}, loses="ValueError").feedback(
    "You refuse a negative window but not one of 0, in which a query does not even see itself."
)
right.mistake(arguments.unchecked("takes_one_query_too_many"), {"S < T": "S < T - 1"}, loses="ValueError").feedback(
    "You accept one query more than there are positions. Raise a ValueError wherever S < T."
)
right.mistake(arguments.unchecked("takes_minus_one_sink"), {"sinks < 0": "sinks < -1"}, loses="ValueError").feedback(
    "You accept −1 sinks. Raise a ValueError for every number below 0."
)
right.mistake(
    "excepts_sinks_from_the_future_only",
    {
        "(key > query) | ((query - key >= window) & (key >= sinks))": "((key > query) & (key >= sinks)) | "
        "(query - key >= window)"
    },
    loses=EVERYWHERE,
).feedback(
    "You make the exception for the sinks at the wrong condition. A sink stays open when it is too far back, and stays "
    "blocked when it is after the query."
)
right.mistake("opens_the_first_rows", loses=EVERYWHERE).patch("""
- return (key > query) | ((query - key >= window) & (key >= sinks))
+ opened = (key > query) | (query - key >= window)
+ opened[:sinks] = False
+ return opened
""").feedback(
    "You open the first `sinks` *rows*, so those queries see everything. The sinks are the first keys: columns, and "
    "only up to the query."
)
right.mistake(
    "sinks_before_the_window",
    {"(query - key >= window) & (key >= sinks)": "query - key >= window + sinks"},
    loses=EVERYWHERE,
).feedback(
    "You only make the window longer by `sinks` positions. The sinks are positions 0 … sinks − 1, however far back."
)
right.mistake("one_window_for_all_queries", loses=EVERYWHERE).patch("""
- return (key > query) | ((query - key >= window) & (key >= sinks))
+ closed = key > query
+ closed[:, sinks:BORDER] = True
+ return closed
""").for_each(BORDER=("max(S - window, sinks)", "max(S - T - window + 1, sinks)", "S - window")).feedback(
    "You begin the window at the same key for all queries. Each query has a window of its own, which ends at its own "
    "position."
)
right.mistake(
    arguments.valid_refused("refuses_more_than_S"),
    {"window < 1": "window < 1 or window > S", "sinks < 0": "sinks < 0 or sinks > S"},
    loses=(*EVERYWHERE, "ValueError"),
).feedback("You refuse a window or a number of sinks greater than S. Both are allowed: no key is then too far back.")
