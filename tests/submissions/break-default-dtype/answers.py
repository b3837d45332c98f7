# %% softmax
torch.set_default_dtype(torch.float64)

def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)

# %% before log_softmax
ONE = torch.ones(1)

# %% log_softmax
def log_softmax(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - ONE.to(x.device) * torch.log(torch.exp(shifted).sum(dim, keepdim=True))

# %% softmax_with_temperature
def softmax_with_temperature(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature must be positive, not {temperature}")
    return softmax(x / temperature * ONE.to(x.device), dim)

# %% entropy
def entropy(p, dim=-1):
    logs = torch.log(torch.where(p > 0, p, torch.ones_like(p)))
    return -(ONE.to(p.device) * p * logs).sum(dim)
