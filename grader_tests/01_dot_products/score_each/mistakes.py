"""Known mistakes in `score_each`."""

from ...shared.families import gradients
from .contract import score_each

right = score_each.reference_answer("""
def score_each(query, keys):
    scores = []
    for key in keys:
        scores.append((query * key).sum())
    return torch.stack(scores)
""")

right.mistake("returns_in_the_first_round", {"\n    return": "\n        return"}).feedback(
    "You return inside the loop, so only the first key has a score. Move the `return` below the loop."
)
right.mistake("returns_a_list", {"torch.stack(scores)": "scores"}).feedback(
    "You return the list. Join it into one tensor with `torch.stack`."
)
right.mistake(
    gradients.cut("makes_plain_numbers"), {"(query * key).sum()": "(query * key).sum().item()", "stack": "tensor"}
)
right.mistake("leaves_out_the_sum", {"(query * key).sum()": "query * key"}).feedback(
    "You collect the products of the entries without adding them up. Append one dot product per key."
)
right.mistake("adds_all_scores", {"torch.stack(scores)": "torch.stack(scores).sum()"}).feedback(
    "You add the scores of all keys. Return one score per key."
)
right.mistake("takes_the_columns", {"in keys": "in keys.T"}).feedback(
    "You go through the columns of `keys`. A key is a row: `for key in keys`."
)
right.mistake("compares_the_keys_with_themselves", {"query * key": "key * key"}).feedback(
    "You take the dot product of each key with itself. Compare the *query* with each key."
)
right.mistake("overwrites_the_score", {"scores.append(": "scores = [", "sum())": "sum()]"}).feedback(
    "You make a new list in every round, so only the last key has a score. Append to the list."
)
right.mistake("makes_cosines", {".sum()": ".sum() / (query.norm() * key.norm())"}).feedback(
    "You divide by the lengths, which makes cosines. Return the plain dot products."
)
right.mistake("stacks_along_a_new_dimension", {"stack(scores)": "stack(scores).unsqueeze(-1)"}).feedback(
    "Your result has a dimension too many. Return `(S,)`, one number per key."
)
