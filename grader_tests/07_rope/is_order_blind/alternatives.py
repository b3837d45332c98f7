"""Right answers to `is_order_blind` in other styles."""

import math

import torch


# %% undoing_the_permutation
def is_order_blind(attention, x, permutation):
    inverse = torch.argsort(permutation)
    return torch.allclose(attention(x[permutation])[inverse], attention(x), rtol=0.0, atol=1e-4)


# %% token_by_token
def is_order_blind(attention, x, permutation):
    moved, kept = attention(x.index_select(0, permutation)), attention(x)
    for place, token in enumerate(permutation.tolist()):
        if not all(abs(a - b) < 1e-3 for a, b in zip(moved[place].tolist(), kept[token].tolist(), strict=True)):
            return False
    return True


# %% with_a_permutation_matrix
def is_order_blind(attention, x, permutation):
    P = torch.eye(len(x), dtype=x.dtype)[permutation]
    return not torch.any(torch.abs(attention(P @ x) - P @ attention(x)) > 2e-5).item()


# %% by_an_assertion
def is_order_blind(attention, x, permutation):
    try:
        torch.testing.assert_close(attention(x[permutation]), attention(x)[permutation], rtol=0.0, atol=5e-5)
    except AssertionError:
        return False
    return True


# %% by_the_largest_norm
@torch.no_grad()
def is_order_blind(attention, x, permutation):
    difference = torch.take_along_dim(attention(x), permutation[:, None], 0) - attention(x[permutation, :])
    return float(torch.linalg.vector_norm(difference, ord=math.inf)) <= 5e-3


# %% by_length_of_the_difference
def is_order_blind(attention, x, permutation):
    output = torch.empty_like(x)
    output[permutation] = attention(x[permutation])
    return (output - attention(x)).norm().item() < 1e-3


# %% with_numpy
def is_order_blind(attention, x, permutation):
    order = permutation.numpy()
    moved = attention(torch.from_numpy(x.detach().numpy()[order].copy())).detach().numpy()
    return bool((abs(moved - attention(x).detach().numpy()[order]) < 1e-4).all())
