"""Right answers to `layer_products`."""


# %% summed
def layer_products(T, S, d):
    return 4 * T * d**2 + 2 * T * S * d


# %% factored
def layer_products(T, S, d):
    return 2 * T * d * (2 * d + S)
