# nothing is differentiable in the model's parameters
import torch


def continuation_log_probability(model, prompt, continuation):
    with torch.no_grad():
        logits = model(torch.cat([prompt, continuation])[None, :-1])[0]
    return torch.distributions.Categorical(logits=logits[len(prompt) - 1:]).log_prob(continuation).sum()
