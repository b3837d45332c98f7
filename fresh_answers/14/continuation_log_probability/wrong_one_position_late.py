# each token is looked up at its own position and not at the one before it
import torch


def continuation_log_probability(model, prompt, continuation):
    both = torch.cat((prompt, continuation))
    table = torch.log_softmax(model(both[None])[0], dim=-1)
    return sum(table[len(prompt) + k, t] for k, t in enumerate(continuation))
