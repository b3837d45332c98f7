# with p = 1 improbable tokens are lost, since the sum of the others is rounded to 1
import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p should be above 0 and at most 1, but is {p}")
    z = logits - logits.logsumexp(-1, keepdim=True)
    top, where = z.exp().sort(-1, descending=True)
    shifted = torch.cat([torch.zeros_like(top[..., :1]), top.cumsum(-1)[..., :-1]], -1)
    gone = torch.zeros_like(z, dtype=torch.bool)
    gone.scatter_(-1, where, shifted >= p)
    return z.masked_fill(gone, float("-inf")).softmax(-1)
