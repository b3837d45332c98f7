"""Right answers to `train` in other styles."""

import math

import torch
import torch.nn.functional as F
from torch import nn


# %% train_in_one_piece
def train(model, data, steps, batch_size, generator, peak=3e-3):
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak, betas=(0.9, 0.95), weight_decay=0.1)
    warmup = max(1, steps // 10)
    history = []
    for i in range(steps):
        if i < warmup:
            lr = peak * (i + 1) / warmup
        else:
            lr = 0.5 * peak * (1 + math.cos(math.pi * (i - warmup) / max(1, steps - warmup)))
        for group in optimizer.param_groups:
            group["lr"] = lr
        ix = torch.randint(len(data) - model.block_size, (batch_size,), generator=generator)
        x = torch.stack([data[j : j + model.block_size] for j in ix])
        y = torch.stack([data[j + 1 : j + 1 + model.block_size] for j in ix])
        logits = model(x)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), y.view(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        history.append(loss.item())
    return history


# %% train_by_pytorchs_schedulers
def train(model, data, steps, batch_size, generator, peak=3e-3):
    optimizer = torch.optim.AdamW(model.parameters(), peak)
    warmup = max(steps // 10, 1)
    rise = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1 / (warmup + 1), total_iters=warmup)
    fall = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=max(1, steps - warmup))
    schedule = torch.optim.lr_scheduler.SequentialLR(optimizer, [rise, fall], milestones=[warmup])
    windows = data.unfold(0, model.block_size + 1, 1)
    losses = []
    for _ in range(steps):
        model.train()
        rows = windows[torch.randint(len(windows), (batch_size,), generator=generator)]
        loss = -model(rows[:, :-1]).log_softmax(-1).gather(-1, rows[:, 1:, None]).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
    return losses


# %% train_by_a_lambda
def train(model, data, steps, batch_size, generator, peak=3e-3):
    """No clipping of its own; a rate of 0 in the very first step."""
    optimizer = torch.optim.AdamW(model.train().parameters(), lr=peak, weight_decay=0.0)
    warmup = steps / 10
    shape = lambda t: t / warmup if t < warmup else math.cos(math.pi / 2 * (t - warmup) / (steps - warmup)) ** 2
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, shape)

    def batches():
        for _ in range(steps):
            starts = torch.randint(data.numel() - model.block_size, (batch_size, 1), generator=generator)
            index = starts + torch.arange(model.block_size + 1)
            yield data[index.to(data.device)]

    losses = []
    for rows in batches():
        optimizer.zero_grad()
        loss = nn.CrossEntropyLoss()(model(rows[:, :-1]).movedim(2, 1), rows[:, 1:])
        loss.backward()
        optimizer.step()
        schedule.step()
        losses += [loss.item()]
    return losses


# %% train_by_a_sampler
def train(model, data, steps, batch_size, generator, peak=3e-3):
    """PyTorch's own loading of data, and two groups of parameters."""

    class Windows(torch.utils.data.Dataset):
        def __len__(self):
            return len(data) - model.block_size

        def __getitem__(self, start):
            piece = data[start : start + model.block_size + 1]
            return piece[:-1], piece[1:]

    drawn = torch.utils.data.RandomSampler(Windows(), True, steps * batch_size, generator)
    loader = torch.utils.data.DataLoader(Windows(), batch_size, sampler=drawn, generator=generator)
    matrices = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW([g for g in groups if g["params"]], lr=peak)
    losses = []
    for step, (inputs, targets) in enumerate(loader):
        up = (step + 1) / max(1, steps // 10)
        down = (1 + math.cos(math.pi * max(0, step - steps // 10) / (steps - steps // 10))) / 2
        for group in optimizer.param_groups:
            group["lr"] = peak * min(up, down)
        model.train()
        loss = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% train_with_adamw_by_hand
def train(model, data, steps, batch_size, generator, peak=3e-3):
    parameters = list(model.parameters())
    first = [torch.zeros_like(p) for p in parameters]
    second = [torch.zeros_like(p) for p in parameters]
    T, warmup = model.block_size, steps // 10
    losses = []
    for step in range(steps):
        rate = peak * (
            (step + 1) / warmup if step < warmup else 0.5 + 0.5 * math.cos(math.pi * (step - warmup) / (steps - warmup))
        )
        starts = (torch.rand(batch_size, generator=generator, dtype=torch.float64) * (len(data) - T)).long()
        rows = torch.stack([data[s : s + T + 1] for s in starts.tolist()])
        model.train()
        loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, g, m, v in zip(parameters, gradients, first, second, strict=True):
                m.lerp_(g, 0.1)
                v.lerp_(g * g, 0.001)
                p.mul_(1 - rate * 0.01)
                p -= rate * (m / (1 - 0.9 ** (step + 1))) / ((v / (1 - 0.999 ** (step + 1))).sqrt() + 1e-8)
        losses.append(loss.item())
    return losses
