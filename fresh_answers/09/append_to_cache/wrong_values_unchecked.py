# only key is compared with the cache, so another width of the values is an error of torch.cat and no ValueError
import torch


def append_to_cache(cache, key, value):
    if cache is None:
        return key, value
    keys, values = cache
    if key.shape[:2] != keys.shape[:2] or key.shape[-1] != keys.shape[-1]:
        raise ValueError(f"key of shape {tuple(key.shape)}, but the cache has {tuple(keys.shape)}")
    return torch.cat((keys, key), -2), torch.cat((values, value), -2)
