# log-sum-exp minus the logit, by which large logits lose a few digits, as is allowed
import torch


def language_model_loss(logits, targets, ignore_index=-100):
    rows = logits.flatten(0, 1)
    ids = targets.flatten()
    counted = ids != ignore_index
    rows, ids = rows[counted], ids[counted]
    surprise = torch.logsumexp(rows, dim=1) - rows[torch.arange(ids.numel(), device=ids.device), ids]
    return surprise.sum() / max(1, ids.numel())
