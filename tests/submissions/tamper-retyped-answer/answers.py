# %% entropy
def entropy(p, dim=-1):
    return p.sum(dim)
