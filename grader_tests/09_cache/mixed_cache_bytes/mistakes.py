"""Known mistakes in `mixed_cache_bytes`."""

from .contract import mixed_cache_bytes

right = mixed_cache_bytes.alternative("layer_by_layer")

right.mistake("full_windows", {"min(window, length)": "window"}).feedback(
    "You count full windows for a text that is shorter. A layer keeps no more tokens than there are."
)
right.mistake("ignores_windows", {"length if window is None else min(window, length)": "length"}).feedback(
    "You count all tokens in every layer. A layer with a window keeps at most that many."
)
right.mistake("larger_of_both", {"min(": "max("}).feedback(
    "You take the larger of window and length. A layer keeps the smaller number of tokens."
)
right.mistake("none_keeps_nothing", {"length if window is None": "0 if window is None"}).feedback(
    "You count nothing for layers without a window. None means that a layer keeps every token."
)
right.mistake("keys_only", {"2 * n_kv_heads": "n_kv_heads"}).feedback(
    "You count keys or values, but not both. Each token has one key and one value per head."
)
right.mistake("last_layer_only", {"total +=": "total ="}).feedback(
    "You return the bytes of the last layer. Add up all layers."
)
right.mistake("always_two_bytes", {" * element_bytes": " * 2"}).feedback(
    "You always count two bytes per number. Use `element_bytes`."
)
right.mistake("window_without_the_token", {"min(window, length)": "min(window - 1, length)"}).feedback(
    "You keep one token too few. A window counts the query's own position."
)
right.mistake(
    "smallest_window_for_all",
    {"length if window is None else min(window, length)": "min([w for w in windows if w is not None] + [length])"},
).feedback("You use the smallest window for all layers. Each layer keeps tokens by its own window.")
