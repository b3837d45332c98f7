"""Right answers to `adamw_step` in other styles."""

import torch


# %% step_by_step
def adamw_step(theta, gradient, m, v, n, rate=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8, decay=0.01):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    mean = m / (1 - beta_1 ** (n + 1))
    root = (v / (1 - beta_2 ** (n + 1))).sqrt()
    return theta - rate * (mean / (root + eps) + decay * theta), m, v


# %% shrinks_first
def adamw_step(theta, gradient, m, v, n, rate=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8, decay=0.01):
    theta = theta * (1 - rate * decay)
    m = m + (1 - beta_1) * (gradient - m)
    v = v + (1 - beta_2) * (gradient * gradient - v)
    root = v.sqrt() / (1 - beta_2 ** (n + 1)) ** 0.5 + eps
    return theta - rate / (1 - beta_1 ** (n + 1)) * m / root, m, v


# %% by_pytorchs_optimizer
def adamw_step(theta, gradient, m, v, n, rate=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8, decay=0.01):
    parameter = theta.clone().requires_grad_()
    parameter.grad = gradient.clone()
    optimizer = torch.optim.AdamW([parameter], lr=rate, betas=(beta_1, beta_2), eps=eps, weight_decay=decay)
    optimizer.state[parameter] = {"step": torch.tensor(float(n)), "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    optimizer.step()
    state = optimizer.state[parameter]
    return parameter.detach(), state["exp_avg"], state["exp_avg_sq"]
