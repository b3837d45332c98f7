# the share of a side is a sigmoid of the difference
import torch


def merge(output, lse, other_output, other_lse):
    nothing = lse.isneginf() & other_lse.isneginf()
    left, right = lse.masked_fill(nothing, 0.0), other_lse.masked_fill(nothing, 0.0)
    share = torch.sigmoid(left - right).unsqueeze(-1)
    other_share = torch.sigmoid(right - left).unsqueeze(-1)
    mixed = share * output + other_share * other_output
    top = torch.maximum(left, right).detach()
    total = top + ((left - top).exp() + (right - top).exp()).log()
    return mixed.masked_fill(nothing.unsqueeze(-1), 0.0), total.masked_fill(nothing, float("-inf"))
