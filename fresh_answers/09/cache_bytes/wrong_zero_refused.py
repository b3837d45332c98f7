# 0 is refused, and only numbers below 0 may be
def cache_bytes(n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2):
    for name, number in list(locals().items()):
        if number <= 0:
            raise ValueError(f"{name} = {number}")
    return 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes
