"""Right answers to `tiled_backward` in other styles."""

import torch

# %% into_tensors_made_beforehand


def tiled_backward(query, key, value, output, lse, grad_output, tile=64):
    scale = key.shape[-1] ** -0.5
    grads = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
    D = (output * grad_output).sum(-1, keepdim=True)
    for i in range(0, key.shape[-2], tile):
        j = min(i + tile, key.shape[-2])
        P = torch.exp(scale * (query @ key[..., i:j, :].transpose(-1, -2)) - lse.unsqueeze(-1))
        grads[2][..., i:j, :] = P.transpose(-1, -2) @ grad_output
        dP = grad_output @ value[..., i:j, :].transpose(-1, -2)
        dS = scale * P * (dP - D)
        grads[0].add_(dS @ key[..., i:j, :])
        grads[1][..., i:j, :] = dS.transpose(-1, -2) @ query
    return grads


# %% by_split_and_einsum
def tiled_backward(query, key, value, output, lse, grad_output, tile=64):
    q = query / query.shape[-1] ** 0.5
    average = torch.einsum("...tv,...tv->...t", output, grad_output).unsqueeze(-1)
    to_query, to_key, to_value = 0, [], []
    with torch.no_grad():
        for k, v in zip(key.split(tile, dim=-2), value.split(tile, dim=-2), strict=True):
            weights = (torch.einsum("...tk,...sk->...ts", q, k) - lse[..., None]).exp()
            slope = weights * (torch.einsum("...tv,...sv->...ts", grad_output, v) - average)
            to_query = to_query + torch.einsum("...ts,...sk->...tk", slope, k)
            to_key.append(torch.einsum("...ts,...tk->...sk", slope, q))
            to_value.append(torch.einsum("...ts,...tv->...sv", weights, grad_output))
    return to_query / query.shape[-1] ** 0.5, torch.cat(to_key, -2), torch.cat(to_value, -2)


# %% key_by_key
def tiled_backward(query, key, value, output, lse, grad_output, tile=64):
    root = query.shape[-1] ** 0.5
    grad_query = query * 0
    grad_key, grad_value = [], []
    for s in range(key.shape[-2]):
        k, v = key[..., s : s + 1, :], value[..., s : s + 1, :]
        weight = torch.exp((query * k).sum(-1) / root - lse)
        rise = weight * (grad_output * (v - output)).sum(-1) / root
        grad_query = grad_query + rise[..., None] * k
        grad_key.append((rise[..., None] * query).sum(-2))
        grad_value.append((weight[..., None] * grad_output).sum(-2))
    return grad_query, torch.stack(grad_key, -2), torch.stack(grad_value, -2)


# %% OneTile
class OneTile:
    def __init__(self, query, output, lse, grad_output):
        self.q, self.g, self.lse = query, grad_output, lse
        self.scale = query.size(-1) ** -0.5
        self.mean = (output * grad_output).sum(dim=-1)

    def __call__(self, k, v):
        p = (self.q @ k.mT).mul(self.scale).sub(self.lse.unsqueeze(-1)).exp()
        ds = (self.g @ v.mT).sub(self.mean.unsqueeze(-1)).mul(p).mul(self.scale)
        return ds @ k, ds.mT @ self.q, p.mT @ self.g


def tiled_backward(query, key, value, output, lse, grad_output, tile=64):
    one = OneTile(query, output, lse, grad_output)
    found = [one(key[..., i : i + tile, :], value[..., i : i + tile, :]) for i in range(0, key.shape[-2], tile)]
    to_query, to_key, to_value = zip(*found, strict=True)
    return sum(to_query), torch.cat(to_key, -2), torch.cat(to_value, -2)
