"""Known mistakes in `latent_cache_bytes`."""

from .contract import latent_cache_bytes

right = latent_cache_bytes.alternative("numbers_per_position")

right.mistake("keys_and_values", {"return n_layers": "return 2 * n_layers"}).feedback(
    "You count everything twice, as for keys and values. Both are computed from one latent vector."
)
right.mistake("without_the_rotated_key", {"d_latent + d_rope": "d_latent"}).feedback(
    "You leave out the rotated keys. Each position keeps d_rope numbers beside its latent vector."
)
right.mistake("two_for_the_latent", {"d_latent + d_rope": "2 * d_latent + d_rope"}).feedback(
    "You count the latent vector twice. Keys and values are computed from the same one."
)
right.mistake("rotated_for_values_too", {"d_latent + d_rope": "d_latent + 2 * d_rope"}).feedback(
    "You count the rotated part twice. Values are not rotated, so only one vector of width d_rope is kept."
)
right.mistake("always_two_bytes", {" * element_bytes": " * 2"}).feedback(
    "You always count two bytes per number. Use `element_bytes`."
)
right.mistake("one_layer", {"n_layers * per_position": "per_position"}).feedback(
    "You count one layer. Each layer has latent vectors of its own."
)
right.mistake("numbers_for_bytes", {" * element_bytes": ""}).feedback(
    "You return how many numbers are kept. Multiply by the bytes of each."
)
