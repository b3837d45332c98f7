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
).feedback("One token too many is kept: the k-th greatest has the index k - 1.")
right.mistake("one_too_few", {"logits < lowest": "logits <= lowest"}, loses=KEPT).feedback(
    "The k-th token itself is dropped, and with k = 1 nothing is left: drop what is *below* it."
)
right.mistake("zero_as_logit", {'float("-inf")': "0.0"}, loses=KEPT).feedback(
    "A logit of 0 is no share of 0: e to the power of 0 is 1. Give what is dropped the logit −∞."
)
right.mistake("not_renormalised", loses=KEPT).patch("""
- return torch.softmax(logits.masked_fill(logits < lowest, float("-inf")), dim=-1)
+ return torch.softmax(logits, dim=-1).masked_fill(logits < lowest, 0.0)
""").feedback(
    "What is left does not sum to 1: the softmax has to come after the others are dropped, or divide by the sum."
)
right.mistake(
    "keeps_the_least_likely", {"descending=True": "descending=False", "logits < l": "logits > l"}, loses=KEPT
).feedback("The *least* likely are kept: sort from the greatest down.")
right.mistake("one_threshold_for_all", {"None]\n": "None].max()\n"}, loses="row by row").feedback(
    "All rows are cut at the same logit. Each row has a k-th greatest of its own."
)
right.mistake(
    "exactly_k", {"logits < lowest": "logits.argsort(dim=-1, descending=True).argsort(dim=-1) >= k"}, loses="equals"
).feedback("Of tokens with the same logit, one is kept and another is not. Who equals the k-th is kept as well.")
right.mistake("fails_for_a_large_k", {"min(k, logits.shape[-1])": "k"}, loses="which are kept").feedback(
    "It fails where k is greater than the number of tokens. Then all are kept."
)
right.mistake("overflows", loses="which are kept").patch("""
- return torch.softmax(logits.masked_fill(logits < lowest, float("-inf")), dim=-1)
+ weights = torch.exp(logits).masked_fill(logits < lowest, 0.0)
+ return weights / weights.sum(dim=-1, keepdim=True)
""").feedback(
    "Large logits overflow: subtract the greatest before you exponentiate, as in lesson 2, or take `torch.softmax`."
)
right.mistake("logits_for_probabilities", {"torch.softmax(l": "(l", "), dim=-1)": "))"}, loses=KEPT).feedback(
    "These are still logits. Probabilities are asked for: a softmax is missing."
)
right.mistake(
    arguments.not_refused("There is no error for a k below 1, with which no token is left."), loses="ValueError"
)
right.mistake(numbers.always_float32(of="the logits"), {"masked_fill": "float().masked_fill"}, loses="float64")
