# gradients are switched off for the whole program, and not on again
import torch


def evaluate(model, inputs, targets):
    modes = {m: m.training for m in model.modules()}
    model.eval()
    torch.set_grad_enabled(False)
    logits = model(inputs)
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    for m, mode in modes.items():
        m.training = mode
    return float(loss)
