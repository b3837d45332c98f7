# a linear system is solved, so keys that are fewer than their width are refused
import torch


def query_for(keys, targets):
    wanted = keys.new_zeros(keys.shape[0])
    for t in targets:
        wanted[t] = 30
    return torch.linalg.solve(keys, wanted)
