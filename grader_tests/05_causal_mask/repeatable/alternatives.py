"""Right answers to `repeatable`."""

import torch


# %% seeding_before_each_call
def repeatable(layer, seed):
    def same(x):
        torch.manual_seed(seed)
        return layer(x)

    return same


# %% leaving_other_random_numbers_alone
def repeatable(layer, seed):
    def same(x):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return layer(x)

    return same
