# the first token of the continuation is not counted
import torch


def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    out = model(ids[:-1][None])[0].log_softmax(-1)
    picked = out[range(len(ids) - 1), ids[1:]]
    return picked[len(prompt):].sum()
