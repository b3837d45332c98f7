# one token each in prompt and continuation (one position for the model) raises an error
import torch


def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logp = torch.log_softmax(model(ids[None, :-1]).squeeze(), dim=-1)
    tail = logp[len(prompt) - 1:, :]
    return torch.gather(tail, 1, continuation[:, None]).sum()
