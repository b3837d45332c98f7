# a key and value of one sequence are repeated for all of the cache's, where a ValueError is asked
import torch


def append_to_cache(cache, key, value):
    if cache is None:
        return key, value
    result = []
    for name, old, new in zip(("key", "value"), cache, (key, value)):
        if new.shape[0] == 1:
            new = new.expand(old.shape[0], -1, -1, -1)
        if old.shape[:2] != new.shape[:2] or old.shape[3] != new.shape[3]:
            raise ValueError(f"{name} {tuple(new.shape)} does not fit {tuple(old.shape)}")
        result.append(torch.cat([old, new], dim=2))
    return tuple(result)
