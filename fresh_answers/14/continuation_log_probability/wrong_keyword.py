# the model is called with a keyword (ids=...), which a function may name otherwise
import torch


def continuation_log_probability(model, prompt, continuation):
    full = torch.cat([prompt, continuation])
    scores = model(ids=full[None, :-1])[0, -len(continuation):]
    return (scores.gather(-1, continuation[:, None])[:, 0] - torch.logsumexp(scores, -1)).sum()
