# each parameter's gradient is clipped to norm 1 on its own, not the norm of all of them
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    model.zero_grad()
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    loss.backward()
    for p in model.parameters():
        if p.grad is not None:
            torch.nn.utils.clip_grad_norm_([p], 1.0)
    optimizer.step()
    return loss.item()
