"""Right answers to `necessary_heads` in other styles."""

import itertools

import torch


# %% prune_by_score
def necessary_heads(loss_without, scores, chance):
    n_heads = scores.shape[1]
    named = [divmod(i, n_heads) for i in scores.flatten().argsort().tolist()]  # the least likely first
    if loss_without(named) < chance:
        raise ValueError(f"chance is {chance}, but without any head the loss is only {loss_without(named):.2f}")
    for pair in sorted(named, key=lambda pair: scores[pair]):
        fewer = [other for other in named if other != pair]
        if loss_without(fewer) >= chance:
            named = fewer
    return named


# %% smallest_by_size
import itertools


def necessary_heads(loss_without, scores, chance):
    L, H = scores.shape
    heads = list(itertools.product(range(L), range(H)))
    for size in range(len(heads) + 1):
        for some in itertools.combinations(heads, size):
            if loss_without(list(some)) >= chance:
                return list(some)
    raise ValueError(f"chance={chance} is above the loss without all heads")


# %% grow_then_prune
def necessary_heads(loss_without, scores, chance):
    left = [divmod(i, scores.shape[1]) for i in range(scores.numel())]
    removed = []
    while loss_without(removed) < chance:
        if not left:
            raise ValueError(f"chance ({chance}) is not reached without all {len(removed)} heads")
        worst = max(left, key=lambda pair: loss_without([*removed, pair]))
        left.remove(worst)
        removed.append(worst)
    i = 0
    while i < len(removed):
        if loss_without(removed[:i] + removed[i + 1 :]) >= chance:
            removed.pop(i)
        else:
            i += 1
    return removed


# %% a_table_of_booleans
def necessary_heads(loss_without, scores, chance):
    gone = torch.ones(scores.shape, dtype=torch.bool)

    def loss():
        return loss_without([tuple(pair) for pair in gone.nonzero().tolist()])

    if not loss() >= chance:
        raise ValueError(f"the loss stays below chance = {chance}")
    for layer in range(gone.shape[0]):
        for head in range(gone.shape[1]):
            gone[layer, head] = False
            if loss() < chance:
                gone[layer, head] = True
    return [tuple(pair) for pair in gone.nonzero().tolist()]


# %% recursively
def necessary_heads(loss_without, scores, chance):
    def without_idle(named):
        for i in range(len(named)):
            fewer = named[:i] + named[i + 1 :]
            if loss_without(fewer) >= chance:
                return without_idle(fewer)
        return named

    heads = [(layer, head) for head in range(scores.shape[1]) for layer in range(scores.shape[0])]
    if loss_without(heads) < chance:
        raise ValueError(f"chance: expected at most {loss_without(heads)}, got {chance}")
    return without_idle(heads)


# %% layers_first
def necessary_heads(loss_without, scores, chance):
    n_layers, n_heads = scores.shape
    kept = {(layer, head) for layer in range(n_layers) for head in range(n_heads)}

    def still_gone(fewer):
        return loss_without([*fewer]) >= chance

    if not still_gone(kept):
        raise ValueError(f"chance {chance} is out of reach")
    for layer in range(n_layers):
        others = {pair for pair in kept if pair[0] != layer}
        if still_gone(others):
            kept = others
    for pair in sorted(kept, reverse=True):
        if still_gone(kept - {pair}):
            kept = kept - {pair}
    return list(kept)


# %% by_halves
def necessary_heads(loss_without, scores, chance):
    def needed(sure, maybe):
        if loss_without(sure) >= chance:
            return []
        if len(maybe) == 1:
            return maybe
        half = len(maybe) // 2
        first, second = maybe[:half], maybe[half:]
        more = needed([*sure, *first], second)
        return needed([*sure, *more], first) + more

    order = scores.flatten().argsort(descending=True).tolist()
    heads = [(i // scores.shape[1], i % scores.shape[1]) for i in order]
    if loss_without(heads) < chance:
        raise ValueError(f"chance = {chance}, and all heads together do not reach it")
    return needed([], heads)


# %% until_nothing_changes
def necessary_heads(loss_without, scores, chance):
    heads = [[layer, head] for layer, row in enumerate(scores) for head, _ in enumerate(row)]
    if loss_without(heads) < chance:
        raise ValueError(f"chance must be at most {loss_without(heads)}, got {chance}")
    idle = True
    while idle:
        idle = [pair for pair in heads if loss_without([p for p in heads if p != pair]) >= chance]
        heads = [pair for pair in heads if pair not in idle[:1]]
    return heads
