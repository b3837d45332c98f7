# gathers for all positions, prompt included, and keeps the last M
import torch


def continuation_log_probability(model, prompt, continuation):
    sequence = torch.cat([prompt, continuation], dim=0).unsqueeze(0)
    inputs, targets = sequence[:, :-1], sequence[:, 1:]
    per_token = torch.log_softmax(model(inputs), dim=-1).gather(2, targets[..., None])
    return torch.sum(per_token[0, -continuation.size(0):, 0])
