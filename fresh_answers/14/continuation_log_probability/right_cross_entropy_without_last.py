# cross entropy with its sum; the model is called without the last token
import torch
import torch.nn.functional as F


def continuation_log_probability(model, prompt, continuation):
    whole = torch.cat([prompt, continuation])
    logits = model(whole[:-1].unsqueeze(0))[0]
    return -F.cross_entropy(logits[prompt.numel() - 1:], continuation, reduction="sum")
