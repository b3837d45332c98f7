"""Right answers to `continuation_log_probability` in other styles."""

import torch
import torch.nn.functional as F


# %% by_cross_entropy
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logits = model(ids.unsqueeze(0)).squeeze(0)
    return -F.cross_entropy(logits[len(prompt) - 1 : -1], continuation, reduction="sum")


# %% all_but_the_last_token_read uses last
def continuation_log_probability(model, prompt, continuation):
    M = len(continuation)
    ids = torch.cat((prompt, continuation[:-1]))[None]
    logs = model(ids).log_softmax(-1)[0, -M:]
    return logs[torch.arange(M, device=ids.device), continuation].sum()


# %% token_by_token
def continuation_log_probability(model, prompt, continuation):
    T = prompt.shape[0]
    (logits,) = model(torch.hstack([prompt, continuation]).view(1, -1))
    total = 0
    for i in range(len(continuation)):
        row = logits[T - 1 + i]
        total = total + row[continuation[i]] - row.logsumexp(0)
    return total


# %% every_token_scored_and_the_prompt_masked
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logs = F.log_softmax(model(ids[None]), dim=-1)[0]
    scores = logs[:-1].gather(1, ids[1:].unsqueeze(1)).squeeze(1)
    of_continuation = torch.arange(1, len(ids), device=ids.device) >= len(prompt)
    return torch.where(of_continuation, scores, torch.zeros_like(scores)).sum()


# %% targets_that_are_ignored
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    targets = ids.clone()
    targets[: len(prompt)] = -100
    logits = model(ids[None, :-1]).flatten(0, 1)
    return F.nll_loss(logits.log_softmax(1), targets[1:], ignore_index=-100, reduction="sum").neg()


# %% one_hot_rows
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])[None]
    logits = model(ids)[:, prompt.numel() - 1 : -1]
    chosen = F.one_hot(continuation, logits.shape[-1]).to(logits.dtype)
    return (logits[0] * chosen).sum() - logits.logsumexp(-1).sum()


# %% a_distribution_of_the_library
def continuation_log_probability(model, prompt, continuation):
    from torch.distributions import Categorical

    logits = model(torch.cat([prompt, continuation]).unsqueeze(0))[0]
    return Categorical(logits=logits[len(prompt) - 1 : -1], validate_args=False).log_prob(continuation).sum()
