# targets below 0 are ignored, and ignore_index is not read, so that an ignore_index such as 0 is counted
import torch


def language_model_loss(logits, targets, ignore_index=-100):
    valid = targets.ge(0)
    safe = torch.where(valid, targets, torch.zeros_like(targets))
    nll = logits.logsumexp(-1) - logits.gather(2, safe[..., None])[..., 0]
    return (nll * valid).sum() / valid.sum().clamp(min=1)
