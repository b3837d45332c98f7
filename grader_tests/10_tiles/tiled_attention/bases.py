"""Correct answers that mistakes in `tiled_attention` are edits of, and other wrong ones."""

from .contract import tiled_attention

right = tiled_attention.reference_answer("""
def tiled_attention(query, key, value, mask=None, tile=64):
    if tile < 1:
        raise ValueError(f"tile is {tile}, and must be at least 1")
    S, scale = key.shape[-2], key.shape[-1] ** -0.5
    mask = mask if mask is None else mask.expand(*query.shape[:-1], S)
    highest = torch.full_like(query[..., :1], -torch.inf)
    total = torch.zeros_like(query[..., :1])
    output = 0.0
    for start in range(0, S, tile):
        part = slice(start, start + tile)
        scores = query @ key[..., part, :].mT * scale
        if mask is not None:
            scores = scores.masked_fill(mask[..., part], -torch.inf)
        new = torch.maximum(highest, scores.amax(-1, keepdim=True)).detach()
        level = new.masked_fill(new.isneginf(), 0.0)
        shrink, parts = torch.exp(highest - level), torch.exp(scores - level)
        total = total * shrink + parts.sum(-1, keepdim=True)
        output = output * shrink + parts @ value[..., part, :]
        highest = new
    empty = total == 0
    total = total.masked_fill(empty, 1.0)
    lse = highest.masked_fill(empty, 0.0) + total.log()
    return output / total, lse.masked_fill(empty, -torch.inf).squeeze(-1)
""")
whole = tiled_attention.reference_answer("""
def tiled_attention(query, key, value, mask=None, tile=64):
    if tile < 1:
        raise ValueError(f"tile is {tile}, and must be at least 1")
    output = lse = None
    for start in range(0, key.shape[-2], tile):
        part = slice(start, start + tile)
        blocked = None if mask is None else mask.expand(*query.shape[:-1], key.shape[-2])[..., part]
        found = attend(query, key[..., part, :], value[..., part, :], blocked)
        output, lse = found if start == 0 else join(output, lse, *found)
    return output, lse


def attend(query, key, value, mask):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    lse = log_of_sum(scores)
    return torch.exp(scores - lse.nan_to_num(neginf=0.0)[..., None]) @ value, lse


def join(output, lse, other, its):
    both = log_of_sum(torch.stack([lse, its], -1))
    level = both.nan_to_num(neginf=0.0)
    return (lse - level).exp()[..., None] * output + (its - level).exp()[..., None] * other, both


def log_of_sum(scores):
    top = scores.detach().amax(-1).nan_to_num(neginf=0.0)
    total = (scores - top[..., None]).exp().sum(-1)
    none = total == 0
    return (top + total.masked_fill(none, 1.0).log()).masked_fill(none, -torch.inf)
""")
QUERIES_IN_TILES = """
def tiled_attention(query, key, value, mask=None, tile=64):
    if tile < 1:
        raise ValueError(f"tile is {tile}, and must be at least 1")
    T, S = query.shape[-2], key.shape[-2]
    mask = mask if mask is None else mask.expand(*query.shape[:-1], S)
    outputs, sums = [], []
    for start in range(0, T, tile):
        scores = query[..., start : start + tile, :] @ key.mT * key.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask[..., start : start + tile, :], -torch.inf)
        empty = scores.isneginf().all(-1, keepdim=True)
        lse = torch.logsumexp(scores.masked_fill(empty, 0.0), -1, keepdim=True)
        outputs.append(torch.exp(scores - lse) @ value)
        sums.append(lse.masked_fill(empty, -torch.inf).squeeze(-1))
    return torch.cat(outputs, -2), torch.cat(sums, -1)
"""
TWO_PASSES = """
def tiled_attention(query, key, value, mask=None, tile=64):
    if tile < 1:
        raise ValueError(f"tile is {tile}, and must be at least 1")
    S, scale = key.shape[-2], key.shape[-1] ** -0.5
    mask = mask if mask is None else mask.expand(*query.shape[:-1], S)

    def scores_of(part):
        scores = query @ key[..., part, :].mT * scale
        return scores if mask is None else scores.masked_fill(mask[..., part], -torch.inf)

    parts = [slice(start, start + tile) for start in range(0, S, tile)]
    lse = torch.logsumexp(torch.stack([log_of_sum(scores_of(part)) for part in parts], -1), -1)
    lse = lse if mask is None else torch.where(mask.all(-1), -torch.inf, lse)
    level = lse.masked_fill(lse.isneginf(), 0.0)[..., None]
    return sum(torch.exp(scores_of(part) - level) @ value[..., part, :] for part in parts), lse


def log_of_sum(scores):
    empty = scores.isneginf().all(-1, keepdim=True)
    lse = torch.logsumexp(scores.masked_fill(empty, 0.0), -1)
    return lse.masked_fill(empty.squeeze(-1), torch.finfo(scores.dtype).min)
"""
# The result of an answer that visits no tile
NOTHING_YET = ("value.new_zeros(*query.shape[:-1], value.shape[-1]), query.new_full(query.shape[:-1], -torch.inf)",)
