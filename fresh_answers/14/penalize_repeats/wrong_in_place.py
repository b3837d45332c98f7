# the logits that were given are changed
import torch


def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty: {penalty}")
    chosen = logits[ids]
    result = logits.index_put((ids,), torch.where(chosen > 0, chosen / penalty, chosen * penalty))
    logits.data = result.data.clone()
    return result
