# a loop in Python over positions, with the model called before it
import torch


def continuation_log_probability(model, prompt, continuation):
    rows = model(torch.cat((prompt, continuation)).reshape(1, -1)).squeeze(0).log_softmax(-1)
    start = prompt.shape[0] - 1
    total = None
    for offset, token in enumerate(continuation.tolist()):
        term = rows[start + offset, token]
        total = term if total is None else total + term
    return total
