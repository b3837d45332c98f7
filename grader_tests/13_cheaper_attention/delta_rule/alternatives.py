"""Right answers to `delta_rule` in other styles."""

import torch


# %% read_correct_write
def delta_rule(query, key, value, beta, state=None):
    if state is None:
        state = value.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])
    outputs = []
    for t in range(key.shape[-2]):
        q, k, v = query[..., t, :], key[..., t, :], value[..., t, :]
        read = (k[..., None, :] @ state)[..., 0, :]
        state = state + beta[..., t, None, None] * k[..., :, None] * (v - read)[..., None, :]
        outputs.append((q[..., None, :] @ state)[..., 0, :])
    return torch.stack(outputs, dim=-2), state


# %% by_einsum
def delta_rule(query, key, value, beta, state=None):
    *lead, T, K = key.shape
    if state is None:
        state = torch.zeros(*lead, K, value.shape[-1], dtype=value.dtype, device=value.device)
    outputs = []
    for t in range(T):
        missing = value[..., t, :] - torch.einsum("...k,...kv->...v", key[..., t, :], state)
        step = torch.einsum("...,...k,...v->...kv", beta[..., t], key[..., t, :], missing)
        state = state + step
        outputs.append(torch.einsum("...k,...kv->...v", query[..., t, :], state))
    return torch.stack(outputs, dim=-2), state


# %% forget_then_write
def delta_rule(query, key, value, beta, state=None):
    K, V = key.shape[-1], value.shape[-1]
    state = value.new_zeros(*key.shape[:-2], K, V) if state is None else state
    unchanged = torch.eye(K, dtype=key.dtype, device=key.device)
    rows = []
    for t in range(key.shape[-2]):
        k, v, b = key[..., t, :, None], value[..., t, None, :], beta[..., t, None, None]
        state = (unchanged - b * k @ k.transpose(-2, -1)) @ state + b * k @ v
        rows.append(query[..., t : t + 1, :] @ state)
    return torch.cat(rows, dim=-2), state


# %% triangular_system
def delta_rule(query, key, value, beta, state=None):
    T = key.shape[-2]
    state = value.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1]) if state is None else state
    weighted = beta[..., None] * key
    system = torch.eye(T, dtype=key.dtype, device=key.device) + (weighted @ key.transpose(-2, -1)).tril(-1)
    right = beta[..., None] * value - weighted @ state
    written = torch.linalg.solve_triangular(system, right, upper=False)
    output = query @ state + (query @ key.transpose(-2, -1)).tril() @ written
    return output, state + key.transpose(-2, -1) @ written


# %% state_transposed
def delta_rule(query, key, value, beta, state=None):
    if state is None:
        memory = value.new_zeros(*key.shape[:-2], value.shape[-1], key.shape[-1])
    else:
        memory = state.transpose(-2, -1)
    outputs = []
    for q, k, v, b in zip(query.unbind(-2), key.unbind(-2), value.unbind(-2), beta.unbind(-1)):
        read = torch.matmul(memory, k.unsqueeze(-1)).squeeze(-1)
        memory = memory + (b.unsqueeze(-1) * (v - read)).unsqueeze(-1) * k.unsqueeze(-2)
        outputs.append(torch.matmul(memory, q.unsqueeze(-1)).squeeze(-1))
    return torch.stack(outputs, -2), memory.transpose(-2, -1)


# %% each_text_alone
def delta_rule(query, key, value, beta, state=None):
    if key.ndim == 2:
        memory = value.new_zeros(key.shape[1], value.shape[1]) if state is None else state
        outputs = []
        for q, k, v, b in zip(query, key, value, beta):
            memory = memory + torch.outer(k, b * (v - k @ memory))
            outputs.append(q @ memory)
        return torch.stack(outputs), memory
    states = [None] * len(key) if state is None else state
    pairs = [delta_rule(*parts) for parts in zip(query, key, value, beta, states)]
    return torch.stack([pair[0] for pair in pairs]), torch.stack([pair[1] for pair in pairs])
