# QR decomposition in float64, and a score that depends on the number of keys
import math

import torch


def query_for(keys, targets):
    count = keys.shape[0]
    q, r = torch.linalg.qr(keys.detach().double().T)
    wanted = torch.zeros(count, 1, dtype=torch.float64, device=keys.device)
    wanted[list(targets)] = 10 + math.log(count)
    y = torch.linalg.solve_triangular(r.T, wanted, upper=False)
    return (q @ y).squeeze(1).to(keys.dtype)
