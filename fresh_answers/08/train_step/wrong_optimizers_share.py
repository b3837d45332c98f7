# the optimizer clears only the gradients of the parameters that it has; old ones of the rest of the model stay, and count in the norm
import torch
from torch.nn import functional as F


def train_step(model, optimizer, inputs, targets):
    optimizer.zero_grad(set_to_none=True)
    model.train()
    logits = model(inputs)
    loss = F.cross_entropy(logits.transpose(1, 2), targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    return float(loss)
