# float64 logits are cut to float32
import torch


def continuation_log_probability(model, prompt, continuation):
    full = torch.cat([prompt, continuation])
    lp = torch.log_softmax(model(full[None, :-1]), -1, dtype=torch.float32)
    return lp[0, len(prompt) - 1:].gather(-1, continuation[:, None]).sum()
