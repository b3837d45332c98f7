# a Python set of ints, and a list of scalars stacked
import torch


def penalize_repeats(logits, ids, penalty):
    if penalty > 0:
        used = {*ids.tolist()}
        return torch.stack([
            x if i not in used else x / penalty if x > 0 else x * penalty
            for i, x in enumerate(logits.unbind())
        ])
    raise ValueError("penalty: only numbers above 0 make sense, " + format(penalty) + " does not")
