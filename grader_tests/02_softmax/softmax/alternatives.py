"""Right answers to `softmax` in other styles."""

import math

import torch
import torch.nn.functional as F


# %% moving_the_dimension_to_the_end
def softmax(x, dim=-1):
    y = x.movedim(dim, -1)
    e = (y - y.max(-1, keepdim=True).values).exp()
    return (e / e.sum(-1, keepdim=True)).movedim(-1, dim)


# %% list_by_list
def softmax(x, dim=-1):
    def weights(scores):
        largest = max(scores.tolist())
        powers = [torch.exp(score - largest) for score in scores]
        total = sum(powers)
        return torch.stack([power / total for power in powers])

    moved = x.transpose(dim, -1)
    lists = moved.reshape(-1, moved.shape[-1])
    return torch.stack([weights(row) for row in lists]).reshape(moved.shape).transpose(dim, -1)


# %% by_normalize
def softmax(x, dim=-1):
    return F.normalize((x - x.amax(dim, True)).exp(), p=1.0, dim=dim)


# %% with_a_gradient_of_its_own
def softmax(x, dim=-1):
    class Weights(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores):
            powers = (scores - scores.amax(dim, keepdim=True)).exp_()
            powers /= powers.sum(dim, keepdim=True)
            ctx.save_for_backward(powers)
            return powers

        @staticmethod
        def backward(ctx, grad):
            (p,) = ctx.saved_tensors
            return p * (grad - (grad * p).sum(dim, keepdim=True))

    return Weights.apply(x)


# %% in_one_pass
def softmax(x, dim=-1):
    # The sum so far is scaled down whenever a larger score comes along
    scores = x.unbind(dim)
    largest = torch.full_like(scores[0], torch.finfo(x.dtype).min)
    total = torch.zeros_like(largest)
    for score in scores:
        new = torch.maximum(largest, score)
        total = total * (largest - new).exp() + (score - new).exp()
        largest = new
    return torch.stack([(score - largest).exp() / total for score in scores], dim=dim)


# %% by_vmap
def softmax(x, dim=-1):
    def weights(scores):
        powers = torch.exp(scores - torch.max(scores))
        return powers / torch.sum(powers)

    flat = x.movedim(dim, -1).flatten(0, -2) if x.ndim > 1 else x.unsqueeze(0)
    found = torch.vmap(weights)(flat)
    return found.view(x.movedim(dim, -1).shape).movedim(-1, dim)


# %% in_base_two
def softmax(x, dim=-1):
    exponent = (x - x.max(dim=dim, keepdim=True)[0]) * math.log2(math.e)
    powers = torch.pow(2.0, exponent)
    return powers * powers.sum(dim=dim, keepdim=True).reciprocal()


# %% in_float64_and_back
def softmax(x, dim=-1):
    wide = x.to(torch.float64)
    top = wide.sort(dim=dim, descending=True).values.narrow(dim, 0, 1)
    powers = torch.exp(wide - top)
    last = powers.cumsum(dim).index_select(dim, torch.tensor([x.size(dim) - 1], device=x.device))
    return powers.div(last).to(x)
