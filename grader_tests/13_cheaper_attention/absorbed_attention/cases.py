"""Test cases of `absorbed_attention`: drawn arguments, and calls whose cost is measured."""

from math import prod

from grading.exercises.exercise import Script, helper, student


def drawn(draw, B=2, H=3, T=4, S=6, C=5, K=7, **options):
    """Queries, latents and the two weights, whose enlarged keys give unequal weights, not one-hot."""
    wide = H * K, C
    return (
        draw.normal(B, H, T, K, **options),
        draw.normal(B, S, C, **options),
        draw.normal(*wide, scale=1.5 * C**-0.5, **options),
        draw.normal(*wide, scale=C**-0.5, **options),
    )


def needed(B, H, T, S, C, K):
    """(shape of the largest tensor, multiplications) of the contract."""
    shapes = (B, H, T, K), (B, S, C), (B, H, T, S), (B, H, T, C), (B, H, K, C)
    return max(shapes, key=prod), 2 * B * H * T * C * (K + S)


def measured(draw, B=1, H=3, T=4, S=6, C=5, K=7, mask=None):
    """A call whose largest tensor and multiplications are measured."""
    query, latent, W_k, W_v = drawn(draw, B, H, T, S, C, K)
    s = Script(query=query, latent=latent, W_k=W_k, W_v=W_v, **({} if mask is None else {"mask": mask}))
    masked = {} if mask is None else {"mask": s.mask}
    s.call(helper("measured"), student("absorbed_attention"), s.query, s.latent, s.W_k, s.W_v, **masked)
    largest, products = needed(B, H, T, S, C, K)
    told = {"largest": list(largest), "products": products, "plain": 2 * B * H * S * K * (C + T)}
    if T > 1:  # for one query, products entry by entry have the same size
        told["copied"] = [B, H, S, C]
    # Watching every operation is slow, and an answer may loop over heads and queries
    case = s.case().check_with("computed_from_latents", **told).timeout(20)
    blocked = "" if mask is None else ", and a mask"
    return case.label(f"B = {B}, H = {H}, T = {T}, S = {S}, C = {C}, K = {K}{blocked}: what it takes")
