"""Known mistakes in `shared_scores`."""

from .contract import shared_scores

right = shared_scores.alternative("more_rows")
by_einsum = shared_scores.alternative("by_einsum")

by_einsum.mistake(
    "tiles", {"(keys.shape[1], -1)": "(-1, keys.shape[1])", "bghtk,bgsk->bghts": "bhgtk,bgsk->bhgts"}
).feedback("You give head h the group h % G. Heads that follow each other share a group: h // (H / G).")
right.mistake("scales", {"return (rows @ keys.mT)": "return (rows @ keys.mT / K**0.5)"}).feedback(
    "You divide by √K. This step asks for the plain dot products."
)
right.mistake("group_by_group_of_rows", {".reshape(B, H, T, -1)": ".reshape(B, T, H, -1).transpose(1, 2)"}).feedback(
    "You split the rows as (T, H). They are sorted by head first, then by query: reshape to `(B, H, T, S)`."
)
right.mistake("swaps_before", {"query.reshape(": "query.transpose(1, 2).reshape("}).feedback(
    "You exchange heads and queries before you reshape. Then the rows of different groups are mixed."
)
right.mistake("keeps_the_groups", {".reshape(B, H, T, -1)": ""}).feedback(
    "You return one map per group. Reshape the scores back to `(B, H, T, S)`."
)
right.mistake(
    "mean_of_the_heads",
    {
        "rows = query.reshape(B, keys.shape[1], -1, K)": "rows = query.unflatten(1, (keys.shape[1], -1)).mean(2)",
        ".reshape(B, H, T, -1)": ".repeat_interleave(H // keys.shape[1], dim=1)",
    },
).feedback("You average the queries of a group. Each head keeps its own queries; only keys are shared.")
right.mistake("first_group_for_all", {"rows @ keys.mT": "rows @ keys[:, :1].mT"}).feedback(
    "All heads read group 0. Head h reads group h // (H / G)."
)
