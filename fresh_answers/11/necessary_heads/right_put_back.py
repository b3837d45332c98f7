# all heads removed, and each put back that can be
from itertools import product


def necessary_heads(loss_without, scores, chance):
    removed = list(product(*map(range, scores.shape)))
    if loss_without(removed[:]) < chance:
        raise ValueError(f"chance is {chance}, which no removal reaches")
    for pair in removed[::-1]:
        fewer = [other for other in removed if other != pair]
        if loss_without(list(fewer)) >= chance:
            removed = fewer
    return removed
