# the weights that are returned are detached
def attention(query, key, value):
    weights = (query @ key.transpose(-1, -2)).softmax(dim=-1)
    output = weights @ value
    return output, weights.detach()
