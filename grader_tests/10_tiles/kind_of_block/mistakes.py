"""Known mistakes in `kind_of_block`."""

from .contract import kind_of_block

right = kind_of_block.alternative("by_the_corners")

right.mistake("blocks_what_touches", {"first_key > last_query": "first_key >= last_query"}).feedback(
    "A block whose last query sees its first key is not blocked: a query sees the key at its own position."
)
right.mistake("opens_what_touches_late", {"last_key <= first_query": "last_key < first_query"}).feedback(
    "If the first query sees exactly the last key, the block is open: a query sees the key at its own position."
)
right.mistake("asks_the_first_query", {"first_key > last_query": "first_key > first_query"}).feedback(
    "You ask whether the *first* query sees the first key. A later query of the block may still see it."
)
right.mistake("asks_the_last_query", {"last_key <= first_query": "last_key <= last_query"}).feedback(
    "You ask whether the *last* query sees all keys. The first query sees fewer."
)
right.mistake("asks_for_the_last_key", {"first_key > last_query": "last_key > last_query"}).feedback(
    "You ask whether the last query sees the *last* key. The block is blocked only if it does not even see the first."
)
right.mistake("asks_for_the_first_key", {"last_key <= first_query": "first_key <= first_query"}).feedback(
    "You ask whether the first query sees the *first* key. The block is open only if it sees the last one, too."
)
right.mistake(
    "exchanges_open_and_blocked", {'return "blocked"': 'return "open"', 'return "open"': 'return "blocked"'}
).feedback("You exchanged open and blocked. Query i sees key j if j is at most i.")
right.mistake("knows_only_two_kinds", {'return "mixed"': 'return "open"'}).feedback(
    "Blocks on the diagonal are neither open nor blocked. They are mixed, and need a mask."
)
right.mistake("compares_the_tiles").patch("""
- if first_key > last_query:
+ if first_key > first_query:
@@
- if last_key <= first_query:
+ if first_key < first_query:
""").feedback("You compare where the tiles begin, which is right only if both begin at multiples of one size.")
