"""Right answers to `silence`."""

import torch


# %% in_a_copy
def silence(outputs, heads):
    outputs = outputs.clone()
    outputs[:, heads] = 0.0
    return outputs


# %% by_a_factor
def silence(outputs, heads):
    keep = torch.ones(outputs.shape[1]).to(outputs)
    for head in heads:
        keep[head] = 0.0
    return outputs * keep[:, None, None]
