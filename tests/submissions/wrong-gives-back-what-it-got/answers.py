# %% split_heads
def split_heads(x, n_heads):
    return x
