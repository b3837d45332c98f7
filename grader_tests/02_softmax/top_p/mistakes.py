"""Known mistakes in `top_p`."""

from ...shared.families import arguments, shapes
from .contract import top_p

KEPT = ("which are kept", "row by row")

right = top_p.reference_answer("""
def top_p(probs, share):
    if not 0 < share <= 1:
        raise ValueError(f"share is {share}; it must be above 0 and at most 1")
    ordered, places = probs.sort(dim=-1, descending=True)
    before = ordered.cumsum(-1) - ordered
    kept = ordered.masked_fill(before >= share, 0.0)
    back = torch.zeros_like(probs).scatter(-1, places, kept)
    return back / back.sum(-1, keepdim=True)
""")

right.mistake("one_too_few", {"before >= share": "before + ordered > share"}, loses=KEPT).feedback(
    "You leave out the token that reaches the share. If the likeliest token reaches it alone, nothing is left at "
    "all. Keep each token *before* which the share was not reached yet."
)
right.mistake("not_renormalised", {"back / back.sum(-1, keepdim=True)": "back"}, loses=KEPT).feedback(
    "You do not renormalise, so the remaining probabilities do not sum to 1. Divide them by their sum."
)
right.mistake(
    "left_in_sorted_order", {"torch.zeros_like(probs).scatter(-1, places, kept)": "kept"}, loses=KEPT
).feedback(
    "You return the probabilities in sorted order, the likeliest first. Put each one back in its original position."
)
right.mistake(
    "put_back_by_gather", {"torch.zeros_like(probs).scatter(-1, places, kept)": "kept.gather(-1, places)"}, loses=KEPT
).feedback(
    "You use `gather`, which takes entries from the positions that the sort returned. You want to put entries "
    "*into* those positions: use `scatter`."
)
right.mistake("keeps_the_least_likely", {"descending=True": "descending=False"}, loses=KEPT).feedback(
    "You keep the *least* likely tokens. Sort from the likeliest down."
)
right.mistake(
    "a_threshold", {"before >= share": "ordered < share * ordered.amax(-1, keepdim=True)"}, loses=KEPT
).feedback("You compare each token with the likeliest one. The share refers to the *sum* of the tokens that you keep.")
right.mistake(
    "softmax_again", {"back / back.sum(-1, keepdim=True)": "torch.softmax(back, dim=-1)"}, loses=KEPT
).feedback("You apply a softmax to probabilities, so those that were 0 get a share again. Divide by the sum.")
right.mistake(
    arguments.not_refused("You do not raise a ValueError for a share of 0 or below, or above 1."), loses="ValueError"
)
right.mistake(
    arguments.valid_refused("refuses_one"), {"0 < share <= 1": "0 < share < 1"}, loses="which are kept"
).feedback("You refuse a share of 1. It is valid and keeps every token.")
right.mistake(shapes.result_squeezed, loses="row by row")
