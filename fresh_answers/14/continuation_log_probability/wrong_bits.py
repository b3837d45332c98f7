# in bits and not in nats
import math

import torch


def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation]).unsqueeze(0)
    lp = model(ids).log_softmax(-1)[0, len(prompt) - 1:-1]
    return lp.gather(-1, continuation[:, None]).sum() / math.log(2)
