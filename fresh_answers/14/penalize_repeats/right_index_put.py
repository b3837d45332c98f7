# unique ids, gather, relu of both signs, out-of-place scatter
import torch


def penalize_repeats(logits, ids, penalty):
    if penalty <= 0 or penalty != penalty:
        raise ValueError(f"the {penalty = } has to be positive")
    once = ids.unique()
    picked = logits[once]
    new = torch.where(picked.signbit(), picked * penalty, picked / penalty)
    return logits.scatter(0, once, new)
