"""Right answers to `append_to_cache` in other styles."""

import torch


# %% joined_side_by_side
def append_to_cache(cache, key, value):
    if cache is None:
        return key, value
    keys, values = cache
    if keys.shape[:2] != key.shape[:2] or keys.size(3) != key.size(3):
        raise ValueError(f"key has shape {tuple(key.shape)}, kept keys {tuple(keys.shape)}")
    if values.shape[:2] != value.shape[:2] or values.size(3) != value.size(3):
        raise ValueError(f"value has shape {tuple(value.shape)}, kept values {tuple(values.shape)}")
    return torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)


# %% both_in_one_way
def append_to_cache(cache, key, value):
    def follow(name, old, more):
        same = [a == b for i, (a, b) in enumerate(zip(old.shape, more.shape)) if i != 2]
        if not all(same):
            raise ValueError(f"{name}: {list(more.shape)} cannot follow {list(old.shape)}")
        return torch.concat((old, more), -2)

    if cache is None:
        return (key, value)
    return follow("key", cache[0], key), follow("value", cache[1], value)


# %% filling_larger_tensors
def append_to_cache(cache, key, value):
    if cache is None:
        return key.clone(), value.clone()
    grown = []
    for name, old, more in zip(("key", "value"), cache, (key, value)):
        B, H, S, width = old.shape
        if more.shape[0] != B or more.shape[1] != H or more.shape[3] != width:
            raise ValueError(f"the {name} is {more.shape}")
        room = old.new_zeros(B, H, S + more.shape[2], width)
        room[:, :, :S] = old
        room[:, :, S:] = more
        grown.append(room)
    return tuple(grown)
