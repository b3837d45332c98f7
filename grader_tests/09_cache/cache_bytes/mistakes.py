"""Known mistakes in `cache_bytes`."""

from ...shared.families import arguments
from .contract import cache_bytes

EVERY = "keys and values"  # what an answer loses whose every number is wrong
FOUR, WITH_DEFAULTS = ("n_layers", "n_kv_heads", "d_head", "length"), ("batch_size", "element_bytes")

right = cache_bytes.reference_answer("""
def cache_bytes(n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2):
    given = dict(n_layers=n_layers, n_kv_heads=n_kv_heads, d_head=d_head, length=length)
    given |= dict(batch_size=batch_size, element_bytes=element_bytes)
    for name, number in given.items():
        if number < 0:
            raise ValueError(f"{name} is {number}, and must not be negative")
    return 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes
""")

right.mistake("counts_keys_only", {"return 2 * n_layers": "return n_layers"}, loses=EVERY).feedback(
    "Half of it is missing: a cache holds a key *and* a value for every token."
)
right.mistake("counts_queries_too", {"return 2": "return 3"}, loses=EVERY).feedback(
    "Queries are counted as well. Nobody asks with an old query again: keys and values are all that is kept."
)
right.mistake("counts_one_layer", {"2 * n_layers *": "2 *"}, loses=EVERY).feedback(
    "Only one layer is counted. Every layer has keys and values of its own."
)
right.mistake("counts_one_head", {"n_layers * n_kv_heads *": "n_layers *"}, loses=EVERY).feedback(
    "Only one head is counted. Every head of keys and values has numbers of its own."
)
right.mistake("counts_one_token", {" * length *": " *"}, loses=EVERY).feedback(
    "`length` makes no difference: this is what one token costs. A key and a value are kept for every token."
)
right.mistake("counts_one_number_a_head", {" * d_head *": " *"}, loses=EVERY).feedback(
    "`d_head` makes no difference. The key of a head is a vector of `d_head` numbers, and so is its value."
)
right.mistake("grows_with_the_square", {"* length *": "* length ** 2 *"}, loses=EVERY).feedback(
    "This grows with the square of the length, as a table of weights does. What is kept is a key and a value for "
    "each token: it grows with the length itself."
)
right.mistake(
    "counts_numbers", {" * batch_size * element_bytes": " * batch_size"}, loses=(EVERY, "sequences")
).feedback("This is how many numbers there are. Each of them takes `element_bytes` bytes.")
right.mistake("counts_bits", {"batch_size * element_bytes": "batch_size * element_bytes * 8"}, loses=EVERY).feedback(
    "This is eight times too much: bits, where bytes are asked for."
)
right.mistake("in_another_unit", {"* element_bytes": "* element_bytes UNIT"}, loses=EVERY).for_each(
    UNIT=("// 1024", "// 2**20", "/ 2**20", "/ 2**30", "/ 1e6", "/ 1e9", "// 8")
).feedback("The unit is another one: `element_bytes` is in bytes, and so is the result. Nothing is to be divided.")
right.mistake("in_32_bits", loses=EVERY).patch("""
- return 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes
+ return int(torch.tensor([2, *given.values()], dtype=KIND).prod(dtype=KIND))
""").for_each(KIND=("torch.int32", "torch.float32")).feedback(
    "Small caches come out right, large ones do not: the product is made in 32 bits. int32 ends at two thousand "
    "million, and float32 keeps seven digits. Python's own whole numbers have no end."
)
right.mistake("another_default", {"batch_size=1, element_bytes=2": "DEFAULTS"}, loses=(EVERY, "sequences")).for_each(
    DEFAULTS=("batch_size=1, element_bytes=4", "batch_size=1, element_bytes=1")
).feedback(
    "Without `element_bytes` another number is taken: an element takes 2 bytes by default, as in half precision."
)
right.mistake(
    "exchanges_the_last_two", {"batch_size=1, element_bytes=2": "element_bytes=2, batch_size=1"}, loses="sequences"
).feedback("The arguments stand in another order: `batch_size` comes before `element_bytes`.")
right.mistake(
    "no_sequence_counts_as_one", {"batch_size * element_bytes": "(batch_size or 1) * element_bytes"}, loses="sequences"
).feedback("A `batch_size` of 0 is counted as 1. No sequences take no bytes: `or` and `max` hide a 0 that was meant.")
right.mistake("counts_one_sequence", {"length * batch_size *": "length *"}, loses="sequences").feedback(
    "`batch_size` makes no difference. Every sequence of a batch has a cache of its own."
)
right.mistake("two_bytes_always", {"batch_size * element_bytes": "batch_size * 2"}, loses="sequences").feedback(
    "An element always takes two bytes here. `element_bytes` says how many it takes: 4 in float32."
)
right.mistake("adds_sequences_and_bytes", loses=(EVERY, "sequences")).patch("""
- return 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes
+ return 2 * n_layers * n_kv_heads * d_head * length * (batch_size + element_bytes)
""").feedback(
    "`batch_size` and `element_bytes` are added. Each sequence has a cache of its own, and each number takes so many "
    "bytes: both are factors."
)
right.mistake(
    arguments.not_refused(
        "Negative numbers are taken as they are. Raise a ValueError that names the argument and its value."
    ),
    loses="ValueError",
)
right.mistake(
    arguments.unchecked("misses_an_argument"), {"if number < 0": "if number < 0 and name not in UNSEEN"}, loses="Value"
).for_each(
    UNSEEN=(
        *((name,) for name in (*FOUR, *WITH_DEFAULTS)),
        WITH_DEFAULTS,
        (*FOUR[:3], *WITH_DEFAULTS),  # the length alone is looked at
        FOUR,
    )
).feedback(
    "Not all of the six numbers are looked at: one or more may be negative without an error. None of them may, the two "
    "with defaults included."
)
right.mistake("looks_at_the_product_only", loses="ValueError").patch("""
- for name, number in given.items():
-     if number < 0:
-         raise ValueError(f"{name} is {number}, and must not be negative")
- return 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes
+ result = 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes
+ if result < 0:
+     raise ValueError(f"all of {given}")
+ return result
""").feedback(
    "Only the product is looked at. Two negative numbers make a positive one, and a negative one times 0 makes 0: look "
    "at each argument."
)
right.mistake(
    arguments.valid_refused("refuses_zero"), {"number < 0": "number <= 0"}, loses=(EVERY, "sequences", "ValueError")
).feedback("Zero is refused. A cache of no tokens takes no bytes: that is an answer, and no mistake.")
right.mistake(arguments.asserts(), loses="ValueError")
right.mistake(
    arguments.wrong_error("TypeError")("raises_another_error"), {"raise ValueError": "raise ERROR"}, loses="ValueError"
).for_each(ERROR=("TypeError", "RuntimeError", "IndexError")).feedback(
    "A negative number is of the right type, and has a wrong value: raise a ValueError, and no other error."
)
right.mistake(arguments.error_without_name(), loses="ValueError")
right.mistake("a_float", {"return 2 *": "return 2.0 *"}, loses="an int").feedback(
    "The result is a float. Bytes are counted in whole numbers: an `int`."
)
