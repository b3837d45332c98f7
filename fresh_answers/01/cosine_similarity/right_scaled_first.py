# each vector is divided by its largest entry first
import torch


def cosine_similarity(a, b):
    def prepare(v):
        peak = v.detach().abs().amax(-1, keepdim=True)
        v = v / torch.where(peak > 0, peak, torch.ones_like(peak))
        square = v.pow(2).sum(-1)
        return v, torch.sqrt(torch.where(square > 0, square, torch.ones_like(square)))

    (u, length_u), (w, length_w) = prepare(a), prepare(b)
    return (u * w).sum(-1) / length_u / length_w
