# no sorting: each token sums the probabilities of all that are more probable
import torch


def top_p(logits, p):
    if p <= 0 or p > 1 or p != p:
        raise ValueError("the share p lies outside of (0, 1]: " + str(p))
    share = torch.nn.Softmax(-1)(logits)
    with torch.no_grad():
        above = share[..., None, :] > share[..., :, None]
        mass = torch.einsum("...ij,...j->...i", above.to(share.dtype), share)
        blocked = (mass >= p) & (p < 1)
    return logits.masked_fill(blocked, float("-inf")).softmax(-1)
