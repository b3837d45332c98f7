"""Right answers to `cosine_similarity` in other styles."""

import torch
import torch.nn.functional as F


# %% by_normalize
def cosine_similarity(a, b):
    return (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1)


# %% by_masking_the_product_of_lengths
def cosine_similarity(a, b):
    lengths = torch.linalg.vector_norm(a, dim=-1) * torch.linalg.vector_norm(b, dim=-1)
    nothing = lengths.eq(0)
    return torch.sum(a * b, -1).div(lengths.masked_fill(nothing, 1.0)).masked_fill(nothing, 0.0)


# %% by_einsum_and_the_largest_number
def cosine_similarity(a, b):
    # Scaled by each vector's largest magnitude first, as careful libraries do
    def scaled(v):
        largest = v.abs().amax(-1, keepdim=True).detach()
        return v / torch.where(largest > 0, largest, torch.ones_like(largest))

    x, y = scaled(a), scaled(b)
    xx, yy = torch.einsum("...k,...k->...", x, x), torch.einsum("...k,...k->...", y, y)
    some = (xx > 0) & (yy > 0)
    xx, yy = torch.where(some, xx, 1.0), torch.where(some, yy, 1.0)
    return torch.where(some, torch.einsum("...k,...k->...", x, y) * xx.rsqrt() * yy.rsqrt(), 0.0)


# %% pair_by_pair
def cosine_similarity(a, b):
    a, b = torch.broadcast_tensors(a, b)
    leading = a.shape[:-1]
    found = []
    for x, y in zip(a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1]), strict=True):
        if not x.any() or not y.any():
            found.append((x * y).sum())  # zero, and still part of the graph
        else:
            found.append((x * y).sum() / (x.pow(2).sum() ** 0.5 * y.pow(2).sum() ** 0.5))
    return torch.stack(found).reshape(leading)


# %% by_a_guarded_root
def cosine_similarity(a, b):
    tiny = torch.finfo(a.dtype).tiny
    aa, bb = (a**2).sum(-1), (b**2).sum(-1)
    return (a * b).sum(-1) / aa.clamp_min(tiny).sqrt() / bb.clamp_min(tiny).sqrt()


# %% by_matrix_products
def cosine_similarity(a, b):
    def unit(v):
        length = torch.sqrt((v.unsqueeze(-2) @ v.unsqueeze(-1)).squeeze(-1).clamp(min=1e-36))
        return v / length

    return (unit(a).unsqueeze(-2) @ unit(b).unsqueeze(-1))[..., 0, 0]
