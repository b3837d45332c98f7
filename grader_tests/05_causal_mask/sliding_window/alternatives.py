"""Right answers to `sliding_window` in other styles."""

import torch


# %% by_the_distance
def sliding_window(T, width, device=None):
    if width < 1:
        raise ValueError(f"width must be 1 or more, not {width}")
    places = torch.arange(T, device=device)
    back = places[:, None] - places
    return (back < 0) | (back >= width)


# %% not_in_the_band
def sliding_window(T, width, device=None):
    if not width > 0:
        raise ValueError(f"width={width} leaves nothing to see")
    band = torch.ones((T, T), device=device).tril().triu(1 - width)
    return band == 0


# %% row_by_row
def sliding_window(T, width, device=None):
    if width <= 0:
        raise ValueError(f"width: {width}")
    mask = torch.full((T, T), True, device=device)
    for i in range(T):
        mask[i, max(0, i + 1 - width) : i + 1] = False
    return mask
