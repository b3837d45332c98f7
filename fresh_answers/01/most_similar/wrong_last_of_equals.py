# among equal keys the highest index wins
import torch


def most_similar(queries, keys):
    def normalised(v):
        n = v.norm(dim=-1, keepdim=True)
        return v / n.where(n > 0, torch.ones_like(n))

    flipped = normalised(keys).flip(-2)
    cosines = (normalised(queries).unsqueeze(-2) * flipped.unsqueeze(-3)).sum(-1)
    return keys.shape[-2] - 1 - cosines.argmax(dim=-1)
