# %% wrong: absolute_threshold | Compares the probabilities with p itself instead of with p times the largest probability.
import torch

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], got {p}")
    probs = torch.softmax(logits, -1)
    keep = (probs >= p) | (probs == probs.max(-1, keepdim=True).values)
    kept = probs * keep
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: strictly_more | Keeps only tokens with strictly more than p times the largest probability, so p = 1 keeps nothing and gives NaN.
import torch

def min_p(logits, p):
    if p < 0 or p > 1:
        raise ValueError(f"p={p} is not in [0, 1]")
    probs = logits.softmax(dim=-1)
    top, _ = probs.max(dim=-1, keepdim=True)
    kept = torch.where(probs > p * top, probs, torch.zeros_like(probs))
    return kept / kept.sum(dim=-1, keepdim=True)

# %% wrong: threshold_on_logits | Compares logits with p times the largest logit, not probabilities with p times the largest probability.
import torch

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], got {p}")
    largest = logits.amax(-1, keepdim=True)
    keep = (logits >= p * largest) | (logits == largest)
    return logits.masked_fill(~keep, float("-inf")).softmax(-1)

# %% wrong: not_rescaled | Does not rescale the kept probabilities, which sum to less than 1.
import torch.nn.functional as F

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must lie in [0, 1]: {p}")
    q = F.softmax(logits, -1)
    return q * (q >= p * q.amax(-1, keepdim=True))

# %% wrong: returns_logits | Returns the filtered logits instead of probabilities.
import torch

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"`p` has to be in [0, 1], but is {p}")
    probs = torch.softmax(logits, dim=-1)
    top_probs, _ = probs.max(dim=-1, keepdim=True)
    tokens_to_remove = probs < p * top_probs
    return logits.masked_fill(tokens_to_remove, -float("inf"))

# %% wrong: maximum_of_all_rows | Takes the largest probability of the whole batch instead of that of each row.
import torch

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], got {p}")
    probs = torch.softmax(logits, -1)
    best_in_row = probs == probs.amax(-1, keepdim=True)
    keep = (probs >= p * probs.max()) | best_in_row
    kept = probs.masked_fill(~keep, 0.0)
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: zero_refused | Raises ValueError for p = 0, which is allowed and keeps every token.
import torch

def min_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    probs = torch.softmax(logits, -1)
    kept = probs * (probs >= p * probs.max(-1, keepdim=True)[0]).to(probs.dtype)
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: no_error | Does not check p: a p above 1 gives NaN, and a negative one keeps everything.
import torch

def min_p(logits, p):
    z = logits - logits.max(dim=-1, keepdim=True).values
    e = torch.exp(z)                       # the largest is 1
    e = torch.where(e >= p, e, torch.zeros_like(e))
    return e / e.sum(dim=-1, keepdim=True)

# %% wrong: one_minus_p | Uses (1 - p) times the largest probability as threshold.
import torch

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], got {p}")
    probs = torch.softmax(logits, -1)
    threshold = (1 - p) * probs.max(-1, keepdim=True).values
    kept = torch.where(probs >= threshold, probs, 0.0)
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: changes_logits | Fills the given logits with -inf in place.
import torch

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], got {p}")
    with torch.no_grad():
        probs = torch.softmax(logits, -1)
        logits[probs < p * probs.max(-1, keepdim=True).values] = float("-inf")
    return torch.softmax(logits, -1)

# %% wrong: softmax_of_probabilities | Rescales with a second softmax over the kept probabilities instead of dividing by their sum.
import torch

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], got {p}")
    probs = torch.softmax(logits, -1)
    drop = (probs < p * probs.amax(-1, keepdim=True)) | (probs == 0)
    return torch.softmax(probs.masked_fill(drop, -torch.inf), -1)

# %% wrong: zero_instead_of_inf | Sets the logits of dropped tokens to 0 before the softmax, which leaves them a probability.
import torch

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], got {p}")
    probs = torch.softmax(logits, -1)
    keep = probs >= p * probs.max(dim=-1, keepdim=True).values
    return torch.softmax(torch.where(keep, logits, torch.zeros_like(logits)), -1)

# %% wrong: log_of_zero | Takes the logarithm of p, which fails for p = 0.
import math
import torch

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], got {p}")
    bar = logits.max(-1, keepdim=True).values + math.log(p)
    return logits.masked_fill(logits < bar, -math.inf).softmax(-1)

# %% wrong: no_gradient | Computes everything without gradients, so the result cannot be differentiated.
import torch

class MinP:
    def __init__(self, p):
        if not 0 <= p <= 1:
            raise ValueError(f"p must be in [0, 1], got {p}")
        self.p = p

    @torch.no_grad()
    def __call__(self, logits):
        probs = logits.softmax(-1)
        probs = probs * (probs >= self.p * probs.amax(-1, keepdim=True))
        return probs / probs.sum(-1, keepdim=True)

def min_p(logits, p):
    return MinP(p)(logits)

# %% wrong: uniform_over_kept | Gives all kept tokens the same probability instead of rescaling their own ones.
import torch

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], got {p}")
    probs = torch.softmax(logits, -1)
    keep = (probs >= p * probs.amax(-1, keepdim=True)).to(probs.dtype)
    return keep / keep.sum(-1, keepdim=True) + 0 * probs

# %% right: divide_by_sum
import torch

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], got {p}")
    probs = torch.softmax(logits, -1)
    kept = probs * (probs >= p * probs.max(-1, keepdim=True).values)
    return kept / kept.sum(-1, keepdim=True)

# %% right: mask_logits
import torch

def min_p(logits, p):
    if p < 0 or p > 1:
        raise ValueError(f"`p` has to be in [0, 1], but is {p}")
    probs = torch.softmax(logits, dim=-1)
    top, _ = probs.max(dim=-1, keepdim=True)
    return logits.masked_fill(probs < p * top, -float("inf")).softmax(-1)

# %% right: relative_to_largest
import torch

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p = {p}, should be from 0 to 1")
    ratio = torch.exp(logits - logits.amax(-1, keepdim=True).detach())
    ratio = torch.where(ratio >= p, ratio, torch.zeros_like(ratio))
    return ratio / ratio.sum(-1, keepdim=True)

# %% right: log_threshold
import math
import torch

def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], got {p}")
    log_p = math.log(p) if p > 0 else -math.inf
    gap = logits - logits.max(-1, keepdim=True).values
    return torch.softmax(torch.where(gap >= log_p, logits, -math.inf), dim=-1)

# %% right: row_by_row
import torch

def min_p(logits, p):
    if not (p >= 0 and p <= 1):
        raise ValueError(f"p must not be {p}: it is a share from 0 to 1")
    out = []
    for row in logits.reshape(-1, logits.shape[-1]):
        probs = F.softmax(row, 0)
        bar = p * max(probs.tolist())
        weights = torch.tensor([1.0 if q >= bar else 0.0 for q in probs.tolist()], dtype=row.dtype, device=row.device)
        out.append(probs * weights / torch.dot(probs, weights))
    return torch.stack(out).view(logits.shape)
