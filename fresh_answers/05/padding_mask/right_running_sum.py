# a mark where the padding begins, and a running sum
import torch


def padding_mask(lengths, S):
    begins = torch.zeros(len(lengths), S + 1, dtype=torch.long, device=lengths.device)
    begins.scatter_(1, lengths.view(-1, 1), 1)
    return begins.cumsum(1)[:, None, None, :S].bool()
