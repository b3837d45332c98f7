# the gradient of a token that repeats is divided by how often it occurs, not summed
import torch.nn.functional as F


def embed(token_ids, table):
    return F.embedding(token_ids, table, scale_grad_by_freq=True)
