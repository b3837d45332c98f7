# no ids at all raise an error
import torch


def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty={penalty} is not above 0")
    assert int(ids.max()) < logits.shape[0]
    hit = torch.zeros(logits.shape, dtype=torch.bool, device=logits.device).index_fill(0, ids, True)
    return logits.where(~hit, torch.where(logits > 0, logits / penalty, logits * penalty))
