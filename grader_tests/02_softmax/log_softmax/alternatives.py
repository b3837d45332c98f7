"""Right answers to `log_softmax` in other styles."""

import torch


# %% with_the_dimension_at_the_end
def log_softmax(x, dim=-1):
    y = x.movedim(dim, -1)
    y = y - y.max(dim=-1).values[..., None]
    return (y - y.exp().sum(dim=-1)[..., None].log()).movedim(-1, dim)


# %% by_a_function_of_its_own
def log_softmax(x, dim=-1):
    class LogWeights(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores, dim):
            shifted = scores - scores.amax(dim, keepdim=True)
            found = shifted - shifted.exp().sum(dim, keepdim=True).log()
            ctx.save_for_backward(found)
            ctx.dim = dim
            return found

        @staticmethod
        def backward(ctx, grad):
            (found,) = ctx.saved_tensors
            return grad - found.exp() * grad.sum(ctx.dim, keepdim=True), None

    return LogWeights.apply(x, dim)


# %% by_log1p_of_the_others
def log_softmax(x, dim=-1):
    # The largest exponential is 1; the logarithm of 1 plus the rest keeps small rests
    top, place = x.max(dim, keepdim=True)
    rest = (x - top).exp().scatter(dim, place, 0.0).sum(dim, keepdim=True)
    return (x - top) - torch.log1p(rest)


# %% row_by_row
def log_softmax(x, dim=-1):
    def one(scores):
        shifted = scores - scores.max()
        return shifted - torch.log(torch.exp(shifted).sum())

    if x.ndim == 1:
        return one(x)
    dim = dim % x.ndim
    found = [log_softmax(part, dim - 1 if dim else -1) for part in x.unbind(0)] if dim else None
    if found is not None:
        return torch.stack(found)
    return log_softmax(x.movedim(0, -1), -1).movedim(-1, 0)


# %% in_place_on_a_copy
def log_softmax(x, dim=-1):
    y = x.clone()
    y.sub_(torch.max(x, dim, keepdim=True)[0])
    total = torch.sum(torch.exp(y), dim, keepdim=True)
    return y.sub_(torch.log(total))
