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
    "You count only half of the cache: it holds a key *and* a value for every token."
)
right.mistake("counts_queries_too", {"return 2": "return 3"}, loses=EVERY).feedback(
    "You count queries as well, but only keys and values are kept. No old query is ever used again."
)
right.mistake("counts_one_layer", {"2 * n_layers *": "2 *"}, loses=EVERY).feedback(
    "You count only one layer. Every layer has its own keys and values."
)
right.mistake("counts_one_head", {"n_layers * n_kv_heads *": "n_layers *"}, loses=EVERY).feedback(
    "You count only one head. Every head of keys and values has its own numbers."
)
right.mistake("counts_one_token", {" * length *": " *"}, loses=EVERY).feedback(
    "You leave out `length`, so your result is the cost of one token. A key and a value are kept for every token."
)
right.mistake("counts_one_number_a_head", {" * d_head *": " *"}, loses=EVERY).feedback(
    "You leave out `d_head`. The key of a head is a vector of `d_head` numbers, and so is its value."
)
right.mistake("grows_with_the_square", {"* length *": "* length ** 2 *"}, loses=EVERY).feedback(
    "Your result grows with the square of the length, as a table of weights does. A key and a value are kept for "
    "each token, so the cache grows with the length itself."
)
right.mistake(
    "counts_numbers", {" * batch_size * element_bytes": " * batch_size"}, loses=(EVERY, "sequences")
).feedback("You return how many numbers are kept, not how many bytes. Each number takes `element_bytes` bytes.")
right.mistake("counts_bits", {"batch_size * element_bytes": "batch_size * element_bytes * 8"}, loses=EVERY).feedback(
    "You return bits instead of bytes, eight times too much."
)
right.mistake("in_another_unit", {"* element_bytes": "* element_bytes UNIT"}, loses=EVERY).for_each(
    UNIT=("// 1024", "// 2**20", "/ 2**20", "/ 2**30", "/ 1e6", "/ 1e9", "// 8")
).feedback(
    "You return the result in the wrong unit: `element_bytes` is in bytes, and so is the result. Nothing has to be "
    "divided."
)
right.mistake("in_32_bits", loses=EVERY).patch("""
- return 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes
+ return int(torch.tensor([2, *given.values()], dtype=KIND).prod(dtype=KIND))
""").for_each(KIND=("torch.int32", "torch.float32")).feedback(
    "You compute the product in 32 bits, so small caches come out right but large ones do not. int32 ends at about "
    "two billion, and float32 keeps seven digits. Python's own integers have no limit."
)
right.mistake("another_default", {"batch_size=1, element_bytes=2": "DEFAULTS"}, loses=(EVERY, "sequences")).for_each(
    DEFAULTS=("batch_size=1, element_bytes=4", "batch_size=1, element_bytes=1")
).feedback("You use the wrong default for `element_bytes`. An element takes 2 bytes by default, as in half precision.")
right.mistake(
    "exchanges_the_last_two", {"batch_size=1, element_bytes=2": "element_bytes=2, batch_size=1"}, loses="sequences"
).feedback("You have the arguments in the wrong order: `batch_size` comes before `element_bytes`.")
right.mistake(
    "no_sequence_counts_as_one", {"batch_size * element_bytes": "(batch_size or 1) * element_bytes"}, loses="sequences"
).feedback("You count a `batch_size` of 0 as 1, but 0 sequences take 0 bytes. `or` and `max` hide a 0 that was meant.")
right.mistake("counts_one_sequence", {"length * batch_size *": "length *"}, loses="sequences").feedback(
    "You leave out `batch_size`. Every sequence of a batch has its own cache."
)
right.mistake("two_bytes_always", {"batch_size * element_bytes": "batch_size * 2"}, loses="sequences").feedback(
    "You always count two bytes for an element. `element_bytes` says how many it takes: 4 in float32."
)
right.mistake("adds_sequences_and_bytes", loses=(EVERY, "sequences")).patch("""
- return 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes
+ return 2 * n_layers * n_kv_heads * d_head * length * (batch_size + element_bytes)
""").feedback(
    "You add `batch_size` and `element_bytes`, but both are factors. Each sequence has its own cache, and each "
    "number takes `element_bytes` bytes."
)
right.mistake(
    arguments.not_refused("You accept negative numbers. Raise a ValueError that names the argument and its value."),
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
    "You do not check all six numbers: one or more may be negative without an error. None of them may, including the "
    "two with defaults."
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
    "You check only the product. Two negative numbers make a positive one, and a negative number times 0 makes 0: "
    "check each argument."
)
right.mistake(
    arguments.valid_refused("refuses_zero"), {"number < 0": "number <= 0"}, loses=(EVERY, "sequences", "ValueError")
).feedback("You refuse zero, but it is allowed: a cache of no tokens takes 0 bytes.")
right.mistake(arguments.asserts(), loses="ValueError")
right.mistake(
    arguments.wrong_error("TypeError")("raises_another_error"), {"raise ValueError": "raise ERROR"}, loses="ValueError"
).for_each(ERROR=("TypeError", "RuntimeError", "IndexError")).feedback(
    "You raise the wrong error. A negative number has the right type but a wrong value: raise a ValueError."
)
right.mistake(arguments.error_without_name(), loses="ValueError")
right.mistake("a_float", {"return 2 *": "return 2.0 *"}, loses="an int").feedback(
    "You return a float. Bytes are counted in whole numbers: return an `int`."
)
