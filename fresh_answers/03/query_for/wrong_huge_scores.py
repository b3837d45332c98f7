# the targets get scores of 100000, at which the rounding of float32 keeps them from being equal
import torch


def query_for(keys, targets):
    goal = torch.zeros(keys.shape[0], 1, dtype=keys.dtype, device=keys.device)
    goal[list(targets)] = 1e5
    return (keys.T @ torch.linalg.solve(keys @ keys.T, goal)).squeeze(-1)
