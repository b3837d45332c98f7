# the batches are drawn from torch's global generator, and generator is not read
import math

import torch
import torch.nn.functional as F


def train(model, data, steps, batch_size, generator, peak=3e-3):
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
    warmup = min(math.ceil(steps / 10), steps - 1)
    size = model.block_size
    losses = []
    model.train()
    for step in range(steps):
        starts = torch.randint(len(data) - size, (batch_size,))
        index = (starts[:, None] + torch.arange(size)).to(data.device)
        inputs, targets = data[index], data[index + 1]
        if step < warmup:
            rate = peak * (step + 1) / warmup
        else:
            rate = peak * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses
