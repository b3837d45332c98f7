"""Known mistakes in `speculate`."""

from ...shared.families import numbers, shapes
from .contract import speculate

VALUES = ("how likely", "place by place")
EVERYWHERE = (*VALUES, "tokens without a share")

right = speculate.reference_answer("""
def speculate(target, draft):
    proposed = draft > 0
    accepted = torch.where(proposed, (target / draft.masked_fill(~proposed, 1.0)).clamp(max=1.0), 1.0)
    missing = (target - draft).clamp(min=0.0)
    total = missing.sum(dim=-1, keepdim=True)
    corrected = torch.where(total > 0, missing / total.masked_fill(total == 0, 1.0), target)
    return accepted, corrected
""")

right.mistake(shapes.squeezed, {"accepted, corrected": "accepted, corrected.squeeze()"}, loses="place by").feedback(
    "You use `squeeze()`, which removes the dimension of the positions when there is only one. Both results have the "
    "shape of `target`."
)
right.mistake("corrects_by_the_target", {"accepted, corrected": "accepted, target"}, loses=EVERYWHERE).feedback(
    "You draw corrections from the target itself. A token that was already accepted often then gets more than its "
    "share: draw from what is *missing*, the target minus the draft."
)
right.mistake("the_other_way_round", {"target / draft": "draft / target"}, loses=VALUES).feedback(
    "Your ratio is upside down: it should be target over draft. What is proposed too often must be accepted less often."
)
right.mistake("more_than_certain", {".clamp(max=1.0)": ""}, loses=EVERYWHERE).feedback(
    "You accept some proposals with a probability above 1. What is proposed too seldom is always accepted, with "
    "probability 1."
)
right.mistake(
    "accepts_as_the_target_says", {"(target / draft.masked_fill(~proposed, 1.0))": "target"}, loses=EVERYWHERE
).feedback(
    "You accept a proposal with the target's own probability. It then comes out with the product of both "
    "probabilities: divide by how often it is proposed."
)
right.mistake(
    "not_renormalised", {"missing / total.masked_fill(total == 0, 1.0)": "missing"}, loses=EVERYWHERE
).feedback("Your corrections do not sum to 1, so they are not a distribution yet: divide what is missing by its sum.")
right.mistake("absolute_differences", {".clamp(min=0.0)": ".abs()"}, loses=EVERYWHERE).feedback(
    "Your corrections include tokens that were already proposed too *often*. Only what the draft gives too little of "
    "is missing: negative differences count as 0."
)
right.mistake("lacking_and_left_negative", {".clamp(min=0.0)": ""}, loses=VALUES).feedback(
    "You do not cut the differences off at 0. They sum to 0 and some are negative, so they are not a distribution."
)
right.mistake("the_wrong_difference", {"(target - draft)": "(draft - target)"}, loses=EVERYWHERE).feedback(
    "Your corrections are the tokens that were already proposed too often. The difference is target minus draft."
)
right.mistake(
    "softmax_of_the_missing", {"missing / total.masked_fill(total == 0, 1.0)": "missing.softmax(-1)"}, loses=EVERYWHERE
).feedback(
    "You take a softmax of what is missing, so tokens of which nothing is missing get a share again. Divide by the sum."
)
right.mistake(
    "all_places_together", {"missing.sum(dim=-1, keepdim=True)": "missing.sum()"}, loses="place by place"
).feedback("You divide what is missing by the sum over all positions. Each position has its own distribution.")
right.mistake("nan_where_they_agree", loses="tokens without a share").patch("""
- corrected = torch.where(total > 0, missing / total.masked_fill(total == 0, 1.0), target)
+ corrected = missing / total
""").feedback(
    "You divide 0 by 0 where the two models agree, which gives NaN. Nothing is missing there, and the correction is "
    "the target."
)
right.mistake("nan_where_never_proposed", loses="tokens without a share").patch("""
- accepted = torch.where(proposed, (target / draft.masked_fill(~proposed, 1.0)).clamp(max=1.0), 1.0)
+ accepted = (target / draft).clamp(max=1.0)
""").feedback("Your ratio is NaN where both probabilities are 0. What is never proposed counts as accepted: 1.")
right.mistake(numbers.result_float32(of="the distributions"), loses="float64")
