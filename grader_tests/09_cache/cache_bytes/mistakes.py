"""Known mistakes in `cache_bytes`."""

from .contract import cache_bytes

EVERY = "keys and values"  # what an answer loses whose every number is wrong

right = cache_bytes.base("""
def cache_bytes(n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2):
    given = dict(n_layers=n_layers, n_kv_heads=n_kv_heads, d_head=d_head, length=length)
    given |= dict(batch_size=batch_size, element_bytes=element_bytes)
    for name, number in given.items():
        if number < 0:
            raise ValueError(f"{name} is {number}, and must not be negative")
    return 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes
""")

right.mistake("counts_keys_only", {"return 2 * n_layers": "return n_layers"}, shows=EVERY).says(
    "Half of it is missing: a cache holds a key *and* a value for every token."
)
right.mistake("counts_queries_too", {"return 2": "return 3"}, shows=EVERY).says(
    "Queries are counted as well. Nobody asks with an old query again: keys and values are all that is kept."
)
right.mistake("counts_one_layer", {"2 * n_layers *": "2 *"}, shows=EVERY).says(
    "Only one layer is counted. Every layer has keys and values of its own."
)
right.mistake("counts_one_head", {"n_layers * n_kv_heads *": "n_layers *"}, shows=EVERY).says(
    "Only one head is counted. Every head of keys and values has numbers of its own."
)
right.mistake("grows_with_the_square", {"* length *": "* length ** 2 *"}, shows=EVERY).says(
    "This grows with the square of the length, as a table of weights does. What is kept is a key and a value for "
    "each token: it grows with the length itself."
)
right.mistake("counts_numbers", {" * batch_size * element_bytes": " * batch_size"}, shows=(EVERY, "sequences")).says(
    "This is how many numbers there are. Each of them takes `element_bytes` bytes."
)
right.mistake("counts_bits", {"batch_size * element_bytes": "batch_size * element_bytes * 8"}, shows=EVERY).says(
    "This is eight times too much: bits, where bytes are asked for."
)
right.mistake("counts_one_sequence", {"length * batch_size *": "length *"}, shows="sequences").says(
    "`batch_size` makes no difference. Every sequence of a batch has a cache of its own."
)
right.mistake("two_bytes_always", {"batch_size * element_bytes": "batch_size * 2"}, shows="sequences").says(
    "An element always takes two bytes here. `element_bytes` says how many it takes: 4 in float32."
)
right.mistake(
    "adds_sequences_and_bytes",
    {"batch_size * element_bytes": "(batch_size + element_bytes)"},
    shows=(EVERY, "sequences"),
).says(
    "`batch_size` and `element_bytes` are added. Each sequence has a cache of its own, and each number takes so many "
    "bytes: both are factors."
)
right.mistake("refuses_nothing", {"if number < 0": "if False"}, shows="ValueError").says(
    "Negative numbers are taken as they are. Raise a ValueError that names the argument and its value."
)
right.mistake("misses_an_argument", {"if number < 0": "if number < 0 and name != NAME"}, shows="ValueError").for_each(
    NAME=('"n_layers"', '"n_kv_heads"', '"d_head"', '"length"', '"batch_size"', '"element_bytes"')
).says("One of the six numbers may be negative without an error. None of them may, the two with defaults included.")
right.mistake("looks_at_the_product_only", shows="ValueError").patch("""
- for name, number in given.items():
-     if number < 0:
-         raise ValueError(f"{name} is {number}, and must not be negative")
- return 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes
+ result = 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes
+ if result < 0:
+     raise ValueError(f"all of {given}")
+ return result
""").says(
    "Only the product is looked at. Two negative numbers make a positive one, and a negative one times 0 makes 0: look "
    "at each argument."
)
right.mistake("refuses_zero", {"number < 0": "number <= 0"}, shows=(EVERY, "sequences", "ValueError")).says(
    "Zero is refused. A cache of no tokens takes no bytes: that is an answer, and no mistake."
)
right.mistake("asserts", shows="ValueError").patch("""
- if number < 0:
-     raise ValueError(f"{name} is {number}, and must not be negative")
+ assert number >= 0, f"{name} is {number}, and must not be negative"
""").says("`assert` raises AssertionError (and nothing at all under `python -O`): raise a ValueError.")
right.mistake("an_error_without_a_name", {'f"{name} is {number}, and': 'f"a number'}, shows="ValueError").says(
    "The error does not say which argument was wrong, and what it was: name the argument and its value."
)
right.mistake("a_float", {"return 2 *": "return 2.0 *"}, shows="an int").says(
    "The result is a float. Bytes are counted in whole numbers: an `int`."
)
