# 1e-9 is added to the probabilities before the logarithm
import torch


def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    p = torch.softmax(model(ids[None, :-1])[0], -1)
    return torch.log(p[len(prompt) - 1:].gather(1, continuation.unsqueeze(1)) + 1e-9).sum()
