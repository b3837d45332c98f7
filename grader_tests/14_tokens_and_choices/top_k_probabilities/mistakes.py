"""Known mistakes in `top_k_probabilities`."""

from .contract import top_k_probabilities

right = top_k_probabilities.alternative("by_a_threshold")
by_scatter = top_k_probabilities.alternative("by_scatter")
by_sorting = top_k_probabilities.alternative("by_sorting")

right.mistake("fills_with_0", {'float("-inf")': "0.0"}).feedback(
    "You fill the dropped logits with 0, which gives those tokens a probability. Which logit gives the probability 0?"
)
right.mistake("drops_the_k_th_too", {"logits < largest": "logits <= largest"}).feedback(
    "You drop the k-th token as well. Keep it: drop only logits below its own."
)
right.mistake("fails_if_k_is_larger", {"min(k, logits.shape[-1])": "k"}).feedback(
    "Your function fails if k is larger than N. Then all tokens are kept."
)
right.mistake("keeps_the_smallest").patch("""
- largest = logits.topk(min(k, logits.shape[-1]), dim=-1).values
- dropped = logits < largest[..., -1:]
+ smallest = logits.topk(min(k, logits.shape[-1]), dim=-1, largest=False).values
+ dropped = logits > smallest[..., -1:]
""").feedback("You keep the k least probable tokens. The most probable ones have the largest logits.")
right.mistake("one_threshold_for_all_rows", {"largest[..., -1:]": "largest.max()"}).feedback(
    "You compare the logits of all rows with one number. Each row has its own k-th largest logit."
)
right.mistake("softmax_over_rows", {'float("-inf")), dim=-1)': 'float("-inf")), dim=0)'}).feedback(
    "Your softmax runs along the first dimension. The tokens are in the last dimension."
)
by_sorting.mistake(
    "not_rescaled", {"probabilities / probabilities.sum(dim=-1, keepdim=True)": "probabilities"}
).feedback("You do not rescale, so your probabilities do not sum to 1. Divide those that are left by their sum.")
by_scatter.mistake("not_scattered").patch("""
- return torch.zeros_like(logits).scatter(-1, ids, values.softmax(dim=-1))
+ return values.softmax(dim=-1)
""").feedback("You return k probabilities in descending order. Return N, each at the position of its token.")
by_sorting.mistake("one_argsort", {".argsort(dim=-1)\n": "\n"}).feedback(
    "You compare token ids with k instead of ranks. The first `argsort` gives the token at each rank, not the rank of "
    "each token."
)
