"""Right answers to `qk_circuit` in other styles."""

import torch


# %% circuit_by_slices
def qk_circuit(W_q, W_k, head, n_heads):
    D = W_q.shape[0]
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {D}")
    if not 0 <= head < n_heads:
        raise ValueError(f"head is {head}, and must be from 0 to {n_heads - 1}")
    K = D // n_heads
    rows = slice(head * K, (head + 1) * K)
    return W_q[rows].T @ W_k[rows]


# %% circuit_by_chunks
def qk_circuit(W_q, W_k, head, n_heads):
    if n_heads <= 0 or W_q.size(1) % n_heads != 0:
        raise ValueError("n_heads=%s does not divide the width" % n_heads)
    if head not in range(n_heads):
        raise ValueError(f"head={head} is not one of the {n_heads} heads")
    q, k = W_q.chunk(n_heads)[head], W_k.chunk(n_heads)[head]
    return torch.matmul(q.transpose(0, 1), k)


# %% circuit_by_masking
def qk_circuit(W_q, W_k, head, n_heads):
    D = len(W_q)
    K, rest = divmod(D, n_heads) if n_heads > 0 else (0, D)
    if rest:
        raise ValueError(f"W_q has the shape {tuple(W_q.shape)}, which n_heads = {n_heads} does not divide")
    if head < 0 or head >= n_heads:
        raise ValueError(f"head {head} is out of range")
    own = (torch.arange(D, device=W_q.device) // K == head).to(W_q.dtype)
    return (W_q * own[:, None]).mT.mm(W_k)


# %% circuit_of_all_heads
def qk_circuit(W_q, W_k, head, n_heads):
    if n_heads < 1 or len(W_q) % n_heads:
        raise ValueError(f"n_heads: {n_heads}")
    if not (head >= 0 and head <= n_heads - 1):
        raise ValueError(f"head: {head}")
    queries, keys = (W.reshape(n_heads, -1, W.shape[-1]) for W in (W_q, W_k))
    return torch.einsum("hki,hkj->hij", queries, keys)[head]


# %% circuit_as_a_sum_of_outer_products
def qk_circuit(W_q, W_k, head, n_heads):
    D = W_q.shape[-1]
    if not n_heads >= 1 or D % n_heads > 0:
        raise ValueError(f"{n_heads} for n_heads does not go into {D}")
    if head < 0 or n_heads <= head:
        raise ValueError(f"there is no head {head}")
    K = D // n_heads
    return sum(torch.outer(W_q[r], W_k[r]) for r in range(head * K, head * K + K))
