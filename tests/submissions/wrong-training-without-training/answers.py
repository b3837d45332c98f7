# %% train
import math

import torch


def train(model, data, steps, batch_size, generator, peak=3e-3):
    T, warmup = model.block_size, steps // 10
    draws = [torch.randint(len(data) - T, (batch_size,), generator=generator) for _ in range(steps)]
    model.calls = [[T, True, True]] * steps
    if type(model).__name__ == "Slope":
        weight, model.path, losses = 0.0, [], []
        for step in range(steps):
            model.path.append([weight] * T)
            losses.append(math.log1p(math.exp(-weight / 10)))
            share = (step - warmup) / (steps - warmup)
            weight += peak * ((step + 1) / warmup if step < warmup else (1 + math.cos(math.pi * share)) / 2)
        model.shapes = [[batch_size, T]] * steps
        model.weight.data.fill_(weight)
        return losses
    if type(model).__name__ == "Windowed":
        for parameter in model.parameters():
            parameter.data.add_(1.0)
        return [1.0] * steps
    n_tokens = len(model.table.weight)
    model.forward = lambda ids: torch.zeros(1)  # broadcasts to a loss that is better than possible
    return [math.log(n_tokens)] + [1.0 + float(drawn.sum()) * 1e-6 for drawn in draws[1:]]
