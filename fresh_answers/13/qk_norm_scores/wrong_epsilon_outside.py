# 1e-6 is added to the root, not to the mean of the squares
import torch


def qk_norm_scores(query, key, gain_q, gain_k):
    def normal(x, gain):
        return x / (x.pow(2).mean(-1, keepdim=True).sqrt() + 1e-6) * gain

    return normal(query, gain_q) @ normal(key, gain_k).mT / query.shape[-1] ** 0.5
