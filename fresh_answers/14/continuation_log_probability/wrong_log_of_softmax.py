# log of softmax: an improbable token gives -inf
import torch


def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    probs = model(ids.unsqueeze(0)).softmax(dim=-1)[0, len(prompt) - 1:-1]
    return probs[torch.arange(len(continuation)), continuation].log().sum()
