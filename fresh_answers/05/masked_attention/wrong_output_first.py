# the output of a fully blocked row is the mean of all values, as it is made before the weights are set to 0
import torch


def masked_attention(query, key, value, mask=None):
    logits = torch.einsum("...td,...sd->...ts", query, key) * query.size(-1) ** -0.5
    if mask is not None:
        logits = logits.masked_fill(mask, -3e38)
    weights = torch.softmax(logits, dim=-1)
    output = torch.einsum("...ts,...sv->...tv", weights, value)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    return output, weights
