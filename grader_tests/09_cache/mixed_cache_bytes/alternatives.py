"""Right answers to `mixed_cache_bytes`."""


# %% layer_by_layer
def mixed_cache_bytes(windows, n_kv_heads, d_head, length, element_bytes=2):
    total = 0
    for window in windows:
        tokens = length if window is None else min(window, length)
        total += 2 * n_kv_heads * d_head * tokens * element_bytes
    return total


# %% by_cache_bytes
def mixed_cache_bytes(windows, n_kv_heads, d_head, length, element_bytes=2):
    kept = [length if window is None else min(window, length) for window in windows]
    return sum(cache_bytes(1, n_kv_heads, d_head, tokens, 1, element_bytes) for tokens in kept)
