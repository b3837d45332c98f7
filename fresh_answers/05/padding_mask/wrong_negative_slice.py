# the last S - length columns are blocked by a negative slice, which blocks everything where a text has full length
import torch


def padding_mask(lengths, S):
    blocked = torch.zeros(lengths.shape[0], 1, 1, S, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths.tolist()):
        blocked[b, :, :, -(S - length):] = True
    return blocked
