"""Right answers to `multi_head_by_einsum`."""

import torch


# %% matrices_with_a_head_dimension
def multi_head_by_einsum(x, W_q, W_k, W_v, W_o, n_heads):
    query, key, value = (torch.einsum("btd,dhk->bhtk", x, W.unflatten(1, (n_heads, -1))) for W in (W_q, W_k, W_v))
    scores = torch.einsum("bhtk,bhsk->bhts", query, key) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    output = torch.einsum("bhts,bhsk->bhtk", weights, value)
    return torch.einsum("bhtk,hkd->btd", output, W_o.unflatten(0, (n_heads, -1))), weights


# %% fewer_letters
def multi_head_by_einsum(x, W_q, W_k, W_v, W_o, n_heads):
    cut = lambda W: W.view(len(W), n_heads, -1)
    q, k, v = (torch.einsum("...d,dhk->...hk", x, cut(W)) for W in (W_q, W_k, W_v))
    weights = torch.einsum("bthk,bshk->bhts", q / q.shape[-1] ** 0.5, k).softmax(-1)
    return torch.einsum("bhts,bshk,hkd->btd", weights, v, W_o.view(n_heads, -1, len(W_o))), weights
