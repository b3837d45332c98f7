"""Right answers to `kind_of_block`."""

import torch


# %% by_the_corners
def kind_of_block(first_query, last_query, first_key, last_key):
    if first_key > last_query:
        return "blocked"
    if last_key <= first_query:
        return "open"
    return "mixed"


# %% by_a_mask
def kind_of_block(first_query, last_query, first_key, last_key):
    queries, keys = torch.arange(first_query, last_query + 1), torch.arange(first_key, last_key + 1)
    sees = keys[None, :] <= queries[:, None]
    if sees.all():
        return "open"
    return "mixed" if sees.any() else "blocked"
