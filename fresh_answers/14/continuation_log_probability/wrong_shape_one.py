# the result has the shape (1,) and not ()
import torch


def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])[None]
    logp = torch.log_softmax(model(ids[:, :-1]), -1)[:, len(prompt) - 1:]
    return logp.gather(-1, continuation[None, :, None]).sum(dim=(1, 2))
