# calls model.forward, which a plain function does not have
import torch


def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat((prompt, continuation), 0).view(1, -1)
    logits = model.forward(ids)[0]
    rows = logits[len(prompt) - 1:len(prompt) + len(continuation) - 1]
    return -torch.nn.functional.cross_entropy(rows, continuation, reduction="sum")
