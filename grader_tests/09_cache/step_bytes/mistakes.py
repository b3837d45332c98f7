"""Known mistakes in `step_bytes`."""

from .contract import step_bytes

right = step_bytes.alternative("written_out")

right.mistake(
    "parameters_for_each",
    {"(n_parameters + per_token * length * batch_size)": "(n_parameters + per_token * length) * batch_size"},
).feedback("You read the parameters once per conversation. All conversations of a step share one reading of them.")
right.mistake("one_cache_for_all", {" * batch_size": ""}).feedback(
    "You read a single cache. Each conversation has its own."
)
right.mistake("without_parameters", {"n_parameters + ": ""}).feedback(
    "You leave out the parameters. Every step reads all of them."
)
right.mistake("without_the_cache", {" + per_token * length * batch_size": ""}).feedback(
    "You leave out the caches. Every step reads all keys and values so far."
)
right.mistake(
    "parameters_without_bytes",
    {
        "return (n_parameters": "return n_parameters",
        "batch_size) *": "batch_size *",
    },
).feedback("You count one byte per parameter. Each takes `element_bytes` bytes, like the numbers of the cache.")
right.mistake("keys_only", {"2 * n_layers": "n_layers"}).feedback(
    "You count keys or values, but not both. Each token has one key and one value per head."
)
right.mistake("always_two_bytes", {" * element_bytes": " * 2"}).feedback(
    "You always count two bytes per number. Use `element_bytes`."
)
right.mistake("one_token_of_the_cache", {" * length": ""}).feedback(
    "You read only one token of each cache. The new query meets the keys of all `length` tokens."
)
