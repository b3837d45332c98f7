"""Scores, their scale, and the softmax over them."""

from grading.exercises.exercise import Family

softmax_over_queries = Family(
    "softmax-over-queries",
    "softmax_over_the_queries",
    "Your softmax runs over the queries, so each column sums to 1. Each row must sum to 1: run it over the keys, "
    "the last dimension.",
)
softmax_over_heads = Family(
    "softmax-over-heads",
    "softmax_over_the_heads",
    "Your softmax runs over the heads. Each head has its own weights, which sum to 1 over the keys.",
)
softmax_over_everything = Family(
    "softmax-over-everything",
    "shares_one_unit_among_all",
    "Your softmax runs over everything, so all weights together sum to 1. Each {row} must sum to 1 by itself.",
    words={"row": "row"},
)
softmax_without_dim = Family(
    "softmax-without-dim",
    "lets_softmax_choose",
    "Your softmax has no `dim`, so PyTorch chooses one by the number of dimensions: for a batch, the first. Run it "
    "over the last.",
)
softmax_missing = Family(
    "softmax-missing",
    "leaves_out_the_softmax",
    "You leave out the softmax, so you have scores instead of weights. Weights are positive, and each row sums to 1.",
)
softmax_twice = Family(
    "softmax-twice",
    "takes_softmax_twice",
    "You apply softmax twice, which makes the weights nearly equal. Apply it once.",
)
softmax_before_loss = Family(
    "softmax-twice",
    "softens_before_the_loss",
    "You apply softmax before cross-entropy. Cross-entropy takes logits and applies its own softmax.",
)
unscaled = Family(
    "unscaled", "unscaled", "You do not scale the scores. Divide them by √K, the square root of the width of the keys."
)
scaled_by_width = Family(
    "wrong-scale",
    "scaled_by_the_width",
    "You divide the scores by the width instead of its square root. The square root keeps their spread at 1.",
)
multiplied_by_root = Family(
    "wrong-scale",
    "multiplied_by_the_root",
    "You multiply the scores by the square root of the width. Divide by it: a sum of many products has a large spread.",
)
scaled_by_values = Family(
    "wrong-scale",
    "scaled_by_the_width_of_values",
    "You scale by the width of the values. Scores grow with the width of the keys.",
)
scaled_by_number_of_keys = Family(
    "wrong-scale",
    "scaled_by_the_number_of_keys",
    "You scale by the number of keys. Scores grow with the width of the keys, not with their number.",
)
scaled_by_model_width = Family(
    "wrong-scale",
    "scaled_by_the_model_width",
    "You divide the scores by the square root of the model's width. The queries and keys of a head have D / H "
    "entries: divide by the square root of that.",
)
power_divided = Family(
    "wrong-scale",
    "divides_the_power",
    "Your exponent is wrong, because `**` binds more tightly than `/`: `Dk ** -1 / 2` is half of 1 / Dk. Compare it "
    "with `math.sqrt` for Dk = 16.",
)
keys_times_queries = Family(
    "keys-times-queries",
    "keys_times_queries",
    "You multiply keys with queries, so the scores are transposed. Rows are queries: query @ keyᵀ.",
)
