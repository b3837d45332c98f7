"""What the cases of `alignment_error` are made of."""

import torch


def looking(draw, T, S, *, wrong, without=0, even=0.0):
    """Weights (T, S) and alignment (T,), -1 for `without` targets, of which so many others look elsewhere.

    Whoever takes columns for rows counts another number. `even`: how much is added to all weights before they are
    shared out, so that the greatest of a row is hardly greater than the others.
    """
    while True:
        weights, alignment = _made(draw, T, S, wrong, without)
        weights = (weights + even) / (weights + even).sum(-1, keepdim=True)
        columns = torch.nn.functional.pad(weights.argmax(0), (0, T))[:T]
        if without == T or int(((columns != alignment) & (alignment >= 0)).sum()) != wrong:
            return weights, alignment


def _made(draw, T, S, wrong, without):
    """What `looking` gives, with weights that do not yet sum to 1.

    The first source position and the last are among those that are looked at rightly where there is room: neither is
    special. The weight at the source of a target that looks elsewhere is the second greatest of its row, so the share
    is not the weight that is missing. A target looks most often where no other does.
    """
    weights = draw.distribution(T, S, dtype=torch.float32) ** 2 + 0.01
    right = T - wrong - without
    source = torch.cat([draw.permutation(S) for _ in range(-(-T // S))])[:T].clone()
    source[:2] = torch.tensor([0, S - 1])[: len(source[:2])]
    alignment = source.clone()
    for t in range(T):
        missed = right <= t < right + wrong
        # One place off, two places off, …: a neighbour is as wrong as any other
        place = (int(source[t]) + (1 + (t - right) % (S - 1) if missed else 0)) % S
        weights[t, int(source[t])] = 0.9 * float(weights[t].max())
        weights[t, place] = 1.3 * float(weights[t].max())
    alignment[right + wrong :] = -1
    order = draw.permutation(T)
    return weights[order], alignment[order]
