# a negative head is counted from behind, where a ValueError is asked
def qk_circuit(W_q, W_k, head, n_heads):
    D = W_q.shape[0]
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"n_heads = {n_heads} must divide {D}")
    if head >= n_heads:
        raise ValueError(f"head = {head}, but there are {n_heads}")
    heads = range(n_heads)
    K = D // n_heads
    rows = slice(heads[head] * K, heads[head] * K + K)
    return W_q[rows].T @ W_k[rows]
