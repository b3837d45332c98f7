# asks the model for its parameters, which a plain function does not have
import torch


def continuation_log_probability(model, prompt, continuation):
    device = next(model.parameters()).device
    ids = torch.cat([prompt, continuation]).to(device)
    logp = model(ids.unsqueeze(0)).log_softmax(-1).squeeze(0)[:-1]
    return logp[-len(continuation):].gather(1, ids[-len(continuation):, None]).sum()
