# the norm by hand
import torch


def train_step(model, optimizer, inputs, targets):
    model.train()
    model.zero_grad(set_to_none=True)
    with torch.enable_grad():
        log_p = model(inputs).log_softmax(-1)
        loss = log_p.take_along_dim(targets.unsqueeze(-1), dim=-1).neg().mean()
        loss.backward()
    slopes = [p.grad for p in model.parameters() if p.grad is not None]
    length = sum(float(g.double().pow(2).sum()) for g in slopes) ** 0.5
    if length > 1.0:
        for g in slopes:
            g.mul_(1.0 / length)
    optimizer.step()
    return loss.item()
