# two copies side by side are summed
def twice(x):
    pair = x.unsqueeze(-1).expand(*x.shape, 2)
    return pair.sum(dim=-1)
