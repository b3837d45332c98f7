"""Right answers to `cosine_similarity` in other styles."""

import torch
import torch.nn.functional as F


# %% by_normalize
def cosine_similarity(a, b):
    return (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1)


# %% by_unit_vectors
def cosine_similarity(a, b):
    unit_a = a / torch.linalg.vector_norm(a, dim=-1, keepdim=True)
    unit_b = b / torch.linalg.vector_norm(b, dim=-1, keepdim=True)
    return torch.sum(unit_a * unit_b, -1)


# %% by_einsum_and_the_largest_number
def cosine_similarity(a, b):
    # Scaled by each vector's largest magnitude first, as careful libraries do
    x, y = (v / v.abs().amax(-1, keepdim=True).detach() for v in (a, b))
    xx, yy = torch.einsum("...k,...k->...", x, x), torch.einsum("...k,...k->...", y, y)
    return torch.einsum("...k,...k->...", x, y) * xx.rsqrt() * yy.rsqrt()


# %% pair_by_pair
def cosine_similarity(a, b):
    a, b = torch.broadcast_tensors(a, b)
    leading = a.shape[:-1]
    found = []
    for x, y in zip(a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1])):
        found.append((x * y).sum() / (x.pow(2).sum() ** 0.5 * y.pow(2).sum() ** 0.5))
    return torch.stack(found).reshape(leading)


# %% by_two_roots
def cosine_similarity(a, b):
    aa, bb = (a**2).sum(-1), (b**2).sum(-1)
    return (a * b).sum(-1) / aa.sqrt() / bb.sqrt()


# %% by_matrix_products
def cosine_similarity(a, b):
    def unit(v):
        return v / torch.sqrt((v.unsqueeze(-2) @ v.unsqueeze(-1)).squeeze(-1))

    return (unit(a).unsqueeze(-2) @ unit(b).unsqueeze(-1))[..., 0, 0]
