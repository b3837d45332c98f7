# the model is called once for each token of the continuation
import torch


def continuation_log_probability(model, prompt, continuation):
    total, context = 0.0, prompt
    for token in continuation:
        total = total + model(context.unsqueeze(0))[0, -1].log_softmax(0)[token]
        context = torch.cat([context, token.view(1)])
    return total
