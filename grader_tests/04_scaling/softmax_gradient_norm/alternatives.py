"""Right answers to `softmax_gradient_norm` in other styles."""

import torch
import torch.nn.functional as F
from torch import nn


# %% by_autograd_functional
def softmax_gradient_norm(scores):
    table = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, 0), scores, create_graph=True)
    return table.norm()


# %% by_jacrev
def softmax_gradient_norm(scores):
    return torch.func.jacrev(nn.Softmax(dim=0))(scores).square().sum().sqrt()


# %% by_jacfwd_through_the_logarithm
def softmax_gradient_norm(scores):
    table = torch.func.jacfwd(lambda x: F.log_softmax(x, dim=0).exp())(scores)
    return torch.linalg.matrix_norm(table, ord="fro")


# %% one_row_at_a_time
def softmax_gradient_norm(scores):
    x = scores if scores.requires_grad else scores.detach().clone().requires_grad_()
    weights = (x - x.logsumexp(0)).exp()
    rows = [torch.autograd.grad(w, x, create_graph=True)[0] for w in weights]
    return torch.stack(rows).flatten().pow(2).sum().pow(0.5)


# %% entry_by_entry
def softmax_gradient_norm(scores):
    weights = torch.exp(scores - torch.amax(scores))
    weights = weights / weights.sum()
    total = 0.0
    for i, a in enumerate(weights):
        for j, b in enumerate(weights):
            total = total + (a * (1 - a) if i == j else -a * b) ** 2
    return torch.sqrt(total)


# %% root_of_a_trace
def softmax_gradient_norm(scores):
    weights = scores.softmax(-1)
    table = weights.unsqueeze(1) * (torch.eye(scores.numel(), dtype=scores.dtype, device=scores.device) - weights)
    return torch.trace(table @ table.T).clamp(min=0).sqrt()


# %% by_vector_jacobian_products
def softmax_gradient_norm(scores):
    _, back = torch.func.vjp(lambda x: torch.softmax(x, dim=-1), scores)
    (table,) = torch.vmap(back)(torch.eye(len(scores), dtype=scores.dtype, device=scores.device))
    return torch.einsum("ij,ij->", table, table) ** 0.5
