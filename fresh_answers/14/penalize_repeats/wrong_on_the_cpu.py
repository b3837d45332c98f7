# the result is on the CPU, wherever the logits are
import torch


def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty: {penalty} is not greater than 0")
    x, seen = logits.cpu(), set(ids.tolist())
    power = torch.tensor([i in seen for i in range(len(x))], dtype=torch.bool)
    return torch.where(power, torch.where(x > 0, x / penalty, x * penalty), x)
