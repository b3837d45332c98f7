"""Right answers to `mixed_cache_bytes`."""


# %% layer_by_layer
def mixed_cache_bytes(windows, n_kv_heads, d_head, length, element_bytes=2):
    total = 0
    for window in windows:
        tokens = length if window is None else min(window, length)
        total += 2 * n_kv_heads * d_head * tokens * element_bytes
    return total


# %% all_tokens_first
def mixed_cache_bytes(windows, n_kv_heads, d_head, length, element_bytes=2):
    tokens = sum(length if window is None else min(window, length) for window in windows)
    return 2 * n_kv_heads * d_head * tokens * element_bytes
