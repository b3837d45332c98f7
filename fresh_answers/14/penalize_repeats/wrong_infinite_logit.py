# a logit of -inf becomes NaN, since it is mixed by multiplication with 0
import torch


def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty has to be above zero: {penalty}")
    seen = (torch.bincount(ids, minlength=len(logits)) > 0).to(logits.dtype)
    changed = torch.where(logits > 0, logits / penalty, logits * penalty)
    return seen * changed + (1 - seen) * logits
