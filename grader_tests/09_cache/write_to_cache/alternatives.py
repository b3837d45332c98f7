"""Right answers to `write_to_cache`."""


# %% by_slices
def write_to_cache(kept, new, start):
    stop = start + new.shape[-2]
    kept[..., start:stop, :] = new
    return kept[..., :stop, :]


# %% by_narrow
def write_to_cache(kept, new, start):
    T = new.shape[-2]
    kept.narrow(-2, start, T).copy_(new)
    return kept.narrow(-2, 0, start + T)
