# what is kept is detached, so that no gradient reaches the earlier keys and values
import torch


def attend_with_cache(query, key, value, cache=None):
    if cache is not None:
        key, value = (torch.cat((old.detach(), new), 2) for old, new in zip(cache, (key, value)))
    T, S = query.size(2), key.size(2)
    position = torch.arange(S - T, S, device=query.device).view(T, 1)
    blocked = position < torch.arange(S, device=query.device)
    scores = torch.einsum("bhtk,bhsk->bhts", query, key) * query.size(3) ** -0.5
    weights = torch.softmax(torch.where(blocked, torch.full_like(scores, float("-inf")), scores), dim=3)
    return torch.einsum("bhts,bhsv->bhtv", weights, value), weights, (key, value)
