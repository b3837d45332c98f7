# a set of tensors does not find equal ids, so repeated ones count several times
import torch


def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty may not be {penalty}")
    result = [x for x in logits]
    for token in set(ids):
        k = int(token)
        result[k] = result[k] / penalty if float(result[k]) > 0 else result[k] * penalty
    return torch.stack(result)
