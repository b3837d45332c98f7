"""Right answers to `latent_cache_bytes`."""


# %% numbers_per_position
def latent_cache_bytes(n_layers, d_latent, d_rope, length, element_bytes=2):
    per_position = d_latent + d_rope
    return n_layers * per_position * length * element_bytes


# %% part_by_part
def latent_cache_bytes(n_layers, d_latent, d_rope, length, element_bytes=2):
    latents = n_layers * length * d_latent
    rotated = n_layers * length * d_rope
    return (latents + rotated) * element_bytes
