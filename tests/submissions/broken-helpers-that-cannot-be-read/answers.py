# %% before softmax
NOTE = t"shares of {1}"
def shares(e, dim):
    return e / e.sum(dim=dim, keepdim=True)
# %% softmax
def softmax(x, dim=-1):
    return shares((x - x.amax(dim=dim, keepdim=True)).exp(), dim)
# %% before entropy
def surprise(p:
    return -torch.special.xlogy(p, p)
# %% entropy
def entropy(p, dim=-1):
    return surprise(p).sum(dim=dim)
