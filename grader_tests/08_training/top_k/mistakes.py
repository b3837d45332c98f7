"""Known mistakes in `top_k`."""

from ...shared.families import arguments, numbers
from .contract import top_k

KEPT = ("which are kept", "row by row", "equals")

right = top_k.reference_answer("""
def top_k(logits, k):
    if k < 1:
        raise ValueError(f"k is {k}, and must be at least 1")
    ordered = logits.sort(dim=-1, descending=True).values
    lowest = ordered[..., min(k, logits.shape[-1]) - 1, None]
    return torch.softmax(logits.masked_fill(logits < lowest, float("-inf")), dim=-1)
""")

right.mistake(
    "one_too_many", {"min(k, logits.shape[-1]) - 1": "min(k, logits.shape[-1] - 1)"}, loses=("which are kept", "row by")
).feedback("You keep one token too many: the k-th greatest logit has index k - 1.")
right.mistake("one_too_few", {"logits < lowest": "logits <= lowest"}, loses=KEPT).feedback(
    "You drop the k-th token itself, and with k = 1 nothing is left. Drop only what is *below* it."
)
right.mistake("zero_as_logit", {'float("-inf")': "0.0"}, loses=KEPT).feedback(
    "You give the dropped tokens a logit of 0, but e to the power of 0 is 1. Give them the logit −∞."
)
right.mistake("not_renormalised", loses=KEPT).patch("""
- return torch.softmax(logits.masked_fill(logits < lowest, float("-inf")), dim=-1)
+ return torch.softmax(logits, dim=-1).masked_fill(logits < lowest, 0.0)
""").feedback(
    "Your probabilities do not sum to 1. Apply the softmax after the other tokens are dropped, or divide by the sum."
)
right.mistake(
    "keeps_the_least_likely", {"descending=True": "descending=False", "logits < l": "logits > l"}, loses=KEPT
).feedback("You keep the *least* likely tokens: sort from the greatest logit down.")
right.mistake("one_threshold_for_all", {"None]\n": "None].max()\n"}, loses="row by row").feedback(
    "You cut all rows at the same logit. Each row has its own k-th greatest."
)
right.mistake(
    "exactly_k", {"logits < lowest": "logits.argsort(dim=-1, descending=True).argsort(dim=-1) >= k"}, loses="equals"
).feedback("You keep some of the tokens whose logit equals the k-th greatest, and drop others. All of them are kept.")
right.mistake("fails_for_a_large_k", {"min(k, logits.shape[-1])": "k"}, loses="which are kept").feedback(
    "Your function fails when k is greater than the number of tokens. In that case all tokens are kept."
)
right.mistake("overflows", loses="which are kept").patch("""
- return torch.softmax(logits.masked_fill(logits < lowest, float("-inf")), dim=-1)
+ weights = torch.exp(logits).masked_fill(logits < lowest, 0.0)
+ return weights / weights.sum(dim=-1, keepdim=True)
""").feedback(
    "Your exponentials overflow for large logits. Subtract the greatest before you exponentiate, as in lesson 2, or "
    "use `torch.softmax`."
)
right.mistake("logits_for_probabilities", {"torch.softmax(l": "(l", "), dim=-1)": "))"}, loses=KEPT).feedback(
    "You return logits instead of probabilities: a softmax is missing."
)
right.mistake(arguments.not_refused("You raise no error for a k below 1, which leaves no token."), loses="ValueError")
right.mistake(numbers.always_float32(of="the logits"), {"masked_fill": "float().masked_fill"}, loses="float64")
