# both parts padded with zeros to the full length, and added
import torch.nn.functional as F


def append_to_cache(cache, key, value):
    if cache is None:
        return key.clone(), value.clone()
    grown = []
    for label, before, new in (("key", cache[0], key), ("value", cache[1], value)):
        if [s for i, s in enumerate(before.shape) if i != 2] != [s for i, s in enumerate(new.shape) if i != 2]:
            raise ValueError(f"{label}: shape {tuple(new.shape)} after {tuple(before.shape)}")
        S, T = before.shape[2], new.shape[2]
        grown.append(F.pad(before, (0, 0, 0, T)) + F.pad(new, (0, 0, S, 0)))
    return tuple(grown)
