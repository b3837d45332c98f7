# the model is left in evaluation mode where it has one
import torch


def continuation_log_probability(model, prompt, continuation):
    if isinstance(model, torch.nn.Module):
        model.eval()
    seq = torch.cat([prompt, continuation])[None]
    pred = model(seq)[0, prompt.size(0) - 1:-1]
    return torch.log_softmax(pred, 1).take_along_dim(continuation.unsqueeze(1), 1).sum()
