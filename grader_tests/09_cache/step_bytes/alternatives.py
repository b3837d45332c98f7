"""Right answers to `step_bytes`."""


# %% written_out
def step_bytes(n_parameters, n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2):
    per_token = 2 * n_layers * n_kv_heads * d_head
    return (n_parameters + per_token * length * batch_size) * element_bytes


# %% conversation_by_conversation
def step_bytes(n_parameters, n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2):
    numbers = n_parameters
    for _ in range(batch_size):
        numbers += 2 * n_layers * n_kv_heads * d_head * length
    return numbers * element_bytes
