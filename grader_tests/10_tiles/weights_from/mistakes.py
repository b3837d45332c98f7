"""Known mistakes in `weights_from`."""

from .contract import weights_from

right = weights_from.alternative("filled_before")

right.mistake("leaves_minus_infinity", {"    lse = lse.masked_fill(lse.isneginf(), 0.0)\n": ""}).feedback(
    "A row of nothing gives NaN: you compute −∞ − (−∞). Put a harmless number in place of such an `lse` first."
)
right.mistake("adds_the_log_sum_exp", {"scores - lse": "scores + lse"}).feedback(
    "You add the log-sum-exp. Dividing by the sum means subtracting its logarithm."
)
right.mistake("divides_by_the_log_sum_exp").patch("""
- return torch.exp(scores - lse[..., None])
+ return torch.exp(scores) / lse[..., None]
""").feedback("You divide by the logarithm of the sum. Subtract it inside `exp`, or divide by its exponential.")
right.mistake("divides_by_an_exponential").patch("""
- return torch.exp(scores - lse[..., None])
+ return torch.exp(scores) / torch.exp(lse[..., None])
""").feedback("`exp` of a large score overflows. Subtract inside one `exp` instead of dividing two of them.")
right.mistake("returns_the_differences", {"torch.exp(scores - lse[..., None])": "scores - lse[..., None]"}).feedback(
    "These are the logarithms of the weights. Take `exp` of them."
)
right.mistake("adds_no_last_dimension", {"lse[..., None]": "LEVEL"}).for_each(LEVEL=("lse", "lse[None]")).feedback(
    "`lse` has one number per row. It needs a *last* dimension of 1 to be subtracted from each row."
)
weights_from.mistake("normalizes_the_row").full_code("""
def weights_from(scores, lse):
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return torch.nan_to_num(powers / powers.sum(-1, keepdim=True))
""").feedback(
    "You divide by the sum of these scores. `lse` may be that of more keys: then the weights sum to less than 1."
)
right.mistake("fills_the_scores").patch("""
- lse = lse.masked_fill(lse.isneginf(), 0.0)
+ lse = lse.masked_fill(lse.isneginf(), 0.0)
+ scores = scores.masked_fill(scores.isneginf(), 0.0)
""").feedback("You replace blocked scores by 0, which gives them a weight. The weight of −∞ is 0.")
