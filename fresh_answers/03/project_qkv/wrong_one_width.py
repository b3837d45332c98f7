# the three matrices are stacked, so values of another width than the keys are refused
import torch


def project_qkv(x, W_q, W_k, W_v):
    all_three = torch.stack((W_q, W_k, W_v))
    query, key, value = (x @ W for W in all_three)
    return query, key, value
