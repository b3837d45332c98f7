"""Known mistakes in `top_p`."""

from ...shared.families import arguments, shapes
from .contract import top_p

KEPT = ("which are kept", "row by row")

right = top_p.reference_answer("""
def top_p(probs, share):
    if not 0 < share <= 1:
        raise ValueError(f"share is {share}, and must be above 0 and at most 1")
    ordered, places = probs.sort(dim=-1, descending=True)
    before = ordered.cumsum(-1) - ordered
    kept = ordered.masked_fill(before >= share, 0.0)
    back = torch.zeros_like(probs).scatter(-1, places, kept)
    return back / back.sum(-1, keepdim=True)
""")

right.mistake("one_too_few", {"before >= share": "before + ordered > share"}, loses=KEPT).feedback(
    "The token that reaches the share is left out, and where the likeliest alone has it, nothing is left at all: keep "
    "each one *before* which the share was not reached yet."
)
right.mistake("not_renormalised", {"back / back.sum(-1, keepdim=True)": "back"}, loses=KEPT).feedback(
    "What is left does not sum to 1. Divide it by its sum."
)
right.mistake(
    "left_in_sorted_order", {"torch.zeros_like(probs).scatter(-1, places, kept)": "kept"}, loses=KEPT
).feedback("The result is sorted: the likeliest comes first, whatever its token was. Put each one back into its place.")
right.mistake(
    "put_back_by_gather", {"torch.zeros_like(probs).scatter(-1, places, kept)": "kept.gather(-1, places)"}, loses=KEPT
).feedback("`gather` takes from the places that the sort named, and you want to put *into* them: `scatter`.")
right.mistake("keeps_the_least_likely", {"descending=True": "descending=False"}, loses=KEPT).feedback(
    "The *least* likely are kept: sort from the likeliest down."
)
right.mistake(
    "a_threshold", {"before >= share": "ordered < share * ordered.amax(-1, keepdim=True)"}, loses=KEPT
).feedback(
    "You keep what is likely in comparison with the likeliest. The share is one of the *sum* of those that are kept."
)
right.mistake(
    "softmax_again", {"back / back.sum(-1, keepdim=True)": "torch.softmax(back, dim=-1)"}, loses=KEPT
).feedback("A softmax over probabilities: what was 0 has a share again. Divide by the sum.")
right.mistake(arguments.not_refused("You raise no error for a share of 0 or below, or above 1."), loses="ValueError")
right.mistake(
    arguments.valid_refused("refuses_one"), {"0 < share <= 1": "0 < share < 1"}, loses="which are kept"
).feedback("A share of 1 is refused. It keeps every token, and is allowed.")
right.mistake(shapes.result_squeezed, loses="row by row")
