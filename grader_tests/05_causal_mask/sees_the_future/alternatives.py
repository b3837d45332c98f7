"""Right answers to `sees_the_future` in other styles."""

import torch


# %% token_by_token uses values
def sees_the_future(attention, x):
    before = attention(x)
    for j in range(1, x.shape[0]):
        for bump in torch.eye(x.shape[1], dtype=x.dtype, device=x.device):
            changed = x.clone()
            changed[j] = changed[j] + bump
            if not torch.allclose(attention(changed)[:j], before[:j], rtol=0.0, atol=5e-5):
                return True
    return False


# %% the_whole_future_at_once
def sees_the_future(attention, x):
    noise = 10 * torch.randn_like(x)
    for i in range(len(x) - 1):
        later = torch.arange(len(x), device=x.device)[:, None] > i
        if (attention(torch.where(later, noise, x))[i] - attention(x)[i]).abs().max().item() > 1e-5:
            return True
    return False


# %% jacobian_by_reverse_mode uses differentiable
def sees_the_future(attention, x):
    T = x.size(0)
    J = torch.func.jacrev(attention)(x.detach())
    seen = J.permute(0, 2, 1, 3).reshape(T, T, -1).abs().sum(-1)
    return seen.triu(diagonal=1).sum().item() > 5e-5


# %% jacobian_by_forward_mode
def sees_the_future(attention, x):
    J = torch.func.jacfwd(attention)(x)
    later = torch.ones(len(x), len(x), dtype=torch.bool, device=x.device).triu(1)
    return bool(J.movedim(2, 1)[later].ne(0).any())


# %% one_part_of_an_output_at_a_time
def sees_the_future(attention, x):
    leaf = x.detach().clone().requires_grad_()
    for i, output in enumerate(attention(leaf)):
        for part in output:
            (gradient,) = torch.autograd.grad(part, leaf, retain_graph=True)
            if gradient[i + 1 :].abs().gt(1e-6).any():
                return True
    return False


# %% with_random_cotangents
def sees_the_future(attention, x):
    y, back = torch.func.vjp(attention, x.detach())
    for i in range(len(x) - 1):
        for _ in range(3):
            push = torch.zeros_like(y)
            push[: i + 1] = torch.randn_like(y[: i + 1])
            if float(back(push)[0][i + 1 :].abs().amax()) > 1e-7:
                return True
    return False


# %% all_changes_in_one_batch
def sees_the_future(attention, x):
    T = len(x)
    if T == 1:
        return False
    places = torch.eye(T, dtype=x.dtype, device=x.device)[1:, :, None]
    moved = (torch.vmap(attention)(x + 100.0 * places * torch.randn_like(x)) - attention(x)).abs().amax(-1)
    return any(bool((moved[j - 1, :j] > 1e-4).any()) for j in range(1, T))
