"""Right answers to `padding_mask` in other styles."""

import torch
import torch.nn.functional as F
from torch import nn


# %% comparing_in_four_dimensions
def padding_mask(lengths, S):
    places = torch.arange(S, device=lengths.device).view(1, 1, 1, S)
    return ~(places < lengths.view(-1, 1, 1, 1))


# %% sentence_by_sentence
def padding_mask(lengths, S):
    mask = torch.zeros(lengths.shape[0], 1, 1, S, dtype=torch.bool, device=lengths.device)
    for b in range(lengths.shape[0]):
        mask[b, 0, 0, lengths[b] :] = True
    return mask


# %% looked_up_in_a_triangle
def padding_mask(lengths, S):
    triangle = torch.ones(S + 1, S, device=lengths.device).triu() > 0
    return triangle[lengths].unsqueeze(1).unsqueeze(1)


# %% counting_from_the_end_of_each_sentence
def padding_mask(lengths, S):
    ends = F.one_hot(lengths, S + 1)
    return ends.cumsum(dim=-1)[:, :S].bool().reshape(len(lengths), 1, 1, S)


# %% choosing_between_two_numbers
def padding_mask(lengths, S):
    lengths = torch.as_tensor(lengths)
    place = torch.arange(S, device=lengths.device)
    one, zero = torch.tensor(1), torch.tensor(0)  # these go with any device
    padded = torch.where(place >= lengths.view(-1, 1, 1, 1), one, zero)
    return padded == 1


# %% from_python_lists
def padding_mask(lengths, S):
    rows = [[False] * n + [True] * (S - n) for n in lengths.tolist()]
    return torch.tensor(rows).to(lengths.device)[:, None, None]


# %% padding_ones
def padding_mask(lengths, S):
    words = [torch.ones(int(n), device=lengths.device) for n in lengths]
    padded = nn.utils.rnn.pad_sequence([*words, torch.ones(S, device=lengths.device)], batch_first=True)
    return padded[:-1, None, None, :].eq(0)
