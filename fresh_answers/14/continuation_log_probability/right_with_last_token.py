# the model is called with the last token; logits minus logsumexp
import torch


def continuation_log_probability(model, prompt, continuation):
    ids = torch.hstack((prompt, continuation))[None]
    answer = model(ids)[0, len(prompt) - 1:-1, :]
    chosen = answer[torch.arange(len(continuation), device=answer.device), continuation]
    return (chosen - answer.logsumexp(dim=-1)).sum()
