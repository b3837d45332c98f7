"""Known mistakes in `half_precision_scores`."""

from .contract import half_precision_scores

right = half_precision_scores.alternative("scaling_the_queries")

right.mistake("scales_afterwards").patch("""
- query = query / query.shape[-1] ** 0.5
- return query @ key.transpose(-2, -1)
+ return query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
""").feedback(
    "You scale after the product, when float16 has already overflowed to `inf`. Scale one of the two vectors first."
)
right.mistake("does_not_scale", {"query = query / query.shape[-1] ** 0.5": "query = query"}).feedback(
    "You do not scale the scores. Divide them by the square root of K, but before the product."
)
right.mistake(
    "divides_by_the_width", {"key.transpose(-2, -1)": "(key / key.shape[-1] ** 0.5).transpose(-2, -1)"}
).feedback(
    "You divide the scores by K: by K itself, or by √K twice. Divide queries or keys by √K, or both by the fourth root."
)
right.mistake("leaves_the_dtype", {"query @ key": "query.float() @ key.float()"}).feedback(
    "You return float32, but the result should have the dtype of `query`. If you scale first, float16 is enough."
)
right.mistake("scales_by_the_number_of_keys", {"query.shape[-1] ** 0.5": "key.shape[0] ** 0.5"}).feedback(
    "You divide by the root of the number of keys. K is the number of *entries* of a query."
)
