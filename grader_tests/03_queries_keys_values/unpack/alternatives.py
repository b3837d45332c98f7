"""Right answers to `unpack` in several styles."""


# %% by_chunks
def unpack(packed):
    W_q, W_k, W_v = packed.chunk(3)
    return W_q.T, W_k.T, W_v.T


# %% transposed_first
def unpack(packed):
    return packed.T.chunk(3, dim=1)


# %% by_slices
def unpack(packed):
    D = packed.shape[1]
    return packed[:D].T, packed[D : 2 * D].T, packed[2 * D :].T
