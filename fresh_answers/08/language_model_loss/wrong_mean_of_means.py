# the mean is taken in each sentence first, so that targets of short sentences count more
import torch


def language_model_loss(logits, targets, ignore_index=-100):
    used = targets != ignore_index
    logs = torch.log_softmax(logits, dim=-1)
    picked = logs.gather(-1, targets.masked_fill(~used, 0).unsqueeze(-1)).squeeze(-1)
    lost = -(picked * used)
    count = used.sum(dim=1)
    per_sentence = lost.sum(dim=1) / count.clamp(min=1)
    return per_sentence.sum() / (count > 0).sum().clamp(min=1)
