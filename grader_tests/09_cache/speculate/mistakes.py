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
    "`squeeze()` removes the dimension of the places where there is one. Both results have the shape of `target`."
)
right.mistake("corrects_by_the_target", {"accepted, corrected": "accepted, target"}, loses=EVERYWHERE).feedback(
    "A correction is drawn from the target itself. Then a token that was accepted often already gets more than its "
    "due: draw from what is *missing*, the target less the draft."
)
right.mistake("the_other_way_round", {"target / draft": "draft / target"}, loses=VALUES).feedback(
    "The ratio stands upside down: what is proposed too often has to be accepted the less often, target over draft."
)
right.mistake("more_than_certain", {".clamp(max=1.0)": ""}, loses=EVERYWHERE).feedback(
    "Some proposals are accepted with a probability above 1. What is proposed too seldom is always accepted: 1."
)
right.mistake(
    "accepts_as_the_target_says", {"(target / draft.masked_fill(~proposed, 1.0))": "target"}, loses=EVERYWHERE
).feedback(
    "A proposal is accepted with the target's own probability. It then comes out with the product of both: divide by "
    "how often it is proposed."
)
right.mistake(
    "not_renormalised", {"missing / total.masked_fill(total == 0, 1.0)": "missing"}, loses=EVERYWHERE
).feedback("What is missing does not sum to 1, and is no distribution yet: divide it by its sum.")
right.mistake("absolute_differences", {".clamp(min=0.0)": ".abs()"}, loses=EVERYWHERE).feedback(
    "Tokens that were proposed too *often* are drawn again as corrections. Only what the draft gives too little of is "
    "missing: negative differences count as 0."
)
right.mistake("lacking_and_left_negative", {".clamp(min=0.0)": ""}, loses=VALUES).feedback(
    "The differences are not cut off at 0. They sum to 0, and some are negative: no distribution."
)
right.mistake("the_wrong_difference", {"(target - draft)": "(draft - target)"}, loses=EVERYWHERE).feedback(
    "The corrections are those tokens that were proposed too often already. It is target less draft."
)
right.mistake(
    "softmax_of_the_missing", {"missing / total.masked_fill(total == 0, 1.0)": "missing.softmax(-1)"}, loses=EVERYWHERE
).feedback("A softmax over what is missing: tokens of which nothing is missing get a share again. Divide by the sum.")
right.mistake(
    "all_places_together", {"missing.sum(dim=-1, keepdim=True)": "missing.sum()"}, loses="place by place"
).feedback("What is missing is divided by the sum over all places. Each place has a distribution of its own.")
right.mistake("nan_where_they_agree", loses="tokens without a share").patch("""
- corrected = torch.where(total > 0, missing / total.masked_fill(total == 0, 1.0), target)
+ corrected = missing / total
""").feedback("Where the two models agree nothing is missing, and 0 / 0 is NaN. There the correction is the target.")
right.mistake("nan_where_never_proposed", loses="tokens without a share").patch("""
- accepted = torch.where(proposed, (target / draft.masked_fill(~proposed, 1.0)).clamp(max=1.0), 1.0)
+ accepted = (target / draft).clamp(max=1.0)
""").feedback("Where both are 0 the ratio is NaN. What is never proposed counts as accepted: 1.")
right.mistake(numbers.result_float32(of="the distributions"), loses="float64")
