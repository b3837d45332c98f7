"""Building blocks of the test cases of `alignment_error`."""

import torch


def looking(draw, T, S, *, wrong, without=0, even=0.0):
    """Weights (T, S) and alignment (T,) with a known number of wrong targets.

    An answer that confuses rows and columns gets another number.

    wrong    number of targets whose greatest weight is not at their source
    without  number of targets without a source, -1 in the alignment
    even     added to all weights before they are normalised, so that a row's greatest weight hardly exceeds the others
    """
    while True:
        weights, alignment = _made(draw, T, S, wrong, without)
        weights = (weights + even) / (weights + even).sum(-1, keepdim=True)
        columns = torch.nn.functional.pad(weights.argmax(0), (0, T))[:T]
        if without == T or int(((columns != alignment) & (alignment >= 0)).sum()) != wrong:
            return weights, alignment


def _made(draw, T, S, wrong, without):
    """The result of `looking`, with weights that do not yet sum to 1.

    If there is room, the first and the last source position are attended rightly: neither is special. In a wrong row
    the weight at the source is the second greatest, so that the error rate differs from the missing weight. Most
    targets attend where no other does.
    """
    weights = draw.distribution(T, S, dtype=torch.float32) ** 2 + 0.01
    right = T - wrong - without
    source = torch.cat([draw.permutation(S) for _ in range(-(-T // S))])[:T].clone()
    source[:2] = torch.tensor([0, S - 1])[: len(source[:2])]
    alignment = source.clone()
    for t in range(T):
        missed = right <= t < right + wrong
        # Off by one position, by two, …: a neighbour is as wrong as any other
        place = (int(source[t]) + (1 + (t - right) % (S - 1) if missed else 0)) % S
        weights[t, int(source[t])] = 0.9 * float(weights[t].max())
        weights[t, place] = 1.3 * float(weights[t].max())
    alignment[right + wrong :] = -1
    order = draw.permutation(T)
    return weights[order], alignment[order]
