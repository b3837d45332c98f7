"""Known mistakes in `soft_cap`."""

from ...shared.families import arguments, gradients, numbers
from ...shared.repeating import keeps_its_last_result
from .contract import soft_cap

VALUES, FORM = "scores of any size", "gradients"

right = soft_cap.reference_answer("""
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap is {cap}, which is not greater than 0")
    capped = cap * torch.tanh(scores / cap)
    return capped.masked_fill(scores.isneginf(), -torch.inf)
""")

right.mistake("opens_blocked_scores", {".masked_fill(scores.isneginf(), -torch.inf)": ""}, loses=VALUES).feedback(
    "You turn a score of −∞ into −cap, which gives a blocked key a weight. A score of −∞ must stay −∞."
)
right.mistake("fills_with_a_number", {"-torch.inf": "FILL"}, loses=VALUES).for_each(
    FILL=("-1e9", "-1e4", "-1e12", "torch.finfo(scores.dtype).min", "0.0")
).feedback("You replace a score of −∞ by a finite number. It must stay −∞.")
right.mistake("becomes_plus_infinity", {"-torch.inf": "torch.inf"}, loses=VALUES).feedback(
    "You return +∞ for a blocked score. It must stay −∞: check the sign."
)
right.mistake("clips", {"cap * torch.tanh(scores / cap)": "scores.clamp(-cap, cap)"}, loses=VALUES).feedback(
    "You clip the scores at ±cap. Beyond the cap a clipped score has no gradient; `tanh` approaches the cap smoothly."
)
right.mistake(
    "caps_from_above_only", {"cap * torch.tanh(scores / cap)": "scores.clamp_max(cap)"}, loses=VALUES
).feedback(
    "You limit scores from above only, and by clipping. Use `cap * tanh(scores / cap)`, which limits both sides."
)
right.mistake("does_not_multiply", {"cap * torch.tanh": "torch.tanh"}, loses=VALUES).feedback(
    "You do not multiply by the cap, so all scores are between −1 and 1. They should be between −cap and cap."
)
right.mistake("does_not_divide", {"scores / cap": "scores"}, loses=VALUES).feedback(
    "You do not divide by the cap before `tanh`, so every score beyond 1 or 2 is already at the limit."
)
right.mistake(
    "divides_twice", {"cap * torch.tanh": "torch.tanh", "masked_fill": "div(cap).masked_fill"}, loses=VALUES
).feedback("You divide by the cap after `tanh`, too. Divide before it and multiply after it.")
right.mistake(
    "multiplies_inside", {"cap * torch.tanh(scores / cap)": "torch.tanh(scores * cap) / cap"}, loses=VALUES
).feedback("You multiply where you should divide, and the other way round: divide before `tanh`, multiply after it.")
right.mistake("multiplies_inside_and_outside", {"scores / cap": "scores * cap"}, loses=VALUES).feedback(
    "You multiply by the cap before `tanh`. Divide there, so that small scores stay as they are."
)
right.mistake("uses_sigmoid", {"torch.tanh": "torch.sigmoid"}, loses=VALUES).feedback(
    "You use `sigmoid`, which turns a score of 0 into half of the cap. `tanh` leaves small scores as they are."
)
right.mistake(
    "scales_the_sigmoid",
    {"cap * torch.tanh(scores / cap)": "cap * (2 * torch.sigmoid(scores / cap) - 1)"},
    loses=VALUES,
).feedback(
    "Your curve is half as steep at 0: `2 * sigmoid(x) - 1` is `tanh(x / 2)`. Small scores must stay as they are."
)
right.mistake("uses_arctan", {"torch.tanh": "torch.atan"}, loses=VALUES).feedback(
    "You use `atan` instead of `tanh`. It reaches π / 2 times the cap, and its curve has another shape."
)
right.mistake(
    "uses_softsign", {"torch.tanh(scores / cap)": "(scores / cap / (1 + (scores / cap).abs()))"}, loses=VALUES
).feedback("You use x / (1 + |x|) instead of `tanh`. It makes small scores much smaller; `tanh` hardly changes them.")
right.mistake("uses_tan_or_sinh", {"torch.tanh": "torch.BENT"}, loses=VALUES).for_each(
    BENT=("tan", "sinh", "sin")
).feedback("You use another function than `tanh`. Only `tanh` is nearly x around 0 and ±1 far away.")
right.mistake(
    "caps_by_the_largest_score",
    {
        "    capped = ": "    cap = min(cap, scores[~scores.isneginf()].abs().amax().item() if "
        "(~scores.isneginf()).any() else cap)\n    capped = "
    },
    loses=VALUES,
).feedback("You change the cap with the largest score. It is the same for all scores, whatever they are.")
right.mistake(
    "caps_large_ones_only", {"capped.masked": "torch.where(scores.abs() > cap, capped, scores).masked"}, loses=VALUES
).feedback(
    "You cap only the scores beyond the cap, so that a score just below it comes out larger than one just above. "
    "Apply `tanh` to all of them."
)
right.mistake(
    "passes_the_blocked_score_on",
    {"capped.masked_fill(scores.isneginf(), -torch.inf)": "torch.where(scores.isneginf(), scores, capped)"},
    loses=FORM,
).feedback("You pass a blocked score itself on, so its gradient is 1. Fill in the number −∞: the gradient is then 0.")
right.mistake(
    gradients.cut,
    {"masked_fill(scores.isneginf(), -torch.inf)": "masked_fill(scores.isneginf(), -torch.inf).detach()"},
    loses=FORM,
)
right.mistake(numbers.result_float32(of="the scores"), loses=FORM)
right.mistake(
    numbers.default_device(
        where="`scores`", what="a tensor with the cap", how="do without a tensor, or pass `device=`"
    ),
    {"cap * torch.tanh": "torch.tensor([float(cap)], dtype=scores.dtype) * torch.tanh"},
    loses=FORM,
)
right.mistake(arguments.argument_changed(what="the scores"), loses=FORM).patch("""
- capped = cap * torch.tanh(scores / cap)
- return capped.masked_fill(scores.isneginf(), -torch.inf)
+ blocked = scores.isneginf()
+ with torch.no_grad():
+     scores /= cap
+ return (cap * torch.tanh(scores)).masked_fill(blocked, -torch.inf)
""")
right.mistake(arguments.not_refused("You raise no error for a cap that is not greater than 0."), loses=FORM)
right.mistake(arguments.asserts(), loses=FORM)
right.mistake(arguments.error_without_name(), loses=FORM)
right.mistake(arguments.wrong_error("TypeError"), loses=FORM)
right.mistake(arguments.unchecked("takes_a_cap_of_0"), {"not cap > 0": "cap < 0"}, loses=FORM).feedback(
    "You refuse a negative cap but not a cap of 0, by which you then divide."
)
right.mistake(arguments.unchecked("takes_a_negative_cap"), {"not cap > 0": "cap == 0"}, loses=FORM).feedback(
    "You refuse a cap of 0 but not a negative one."
)
right.mistake(arguments.valid_refused("refuses_small_caps"), {"not cap > 0": "cap < 1"}, loses=(VALUES, FORM)).feedback(
    "You refuse a cap below 1, which is allowed: every cap greater than 0 is."
)
keeps_its_last_result(right, loses=VALUES)
right.mistake(arguments.argument_changed("divides_the_scores_in_place", what="the scores"), loses=FORM).patch("""
- capped = cap * torch.tanh(scores / cap)
- return capped.masked_fill(scores.isneginf(), -torch.inf)
+ blocked = scores.isneginf()
+ EDIT
+ return (cap * torch.tanh(scores)).masked_fill(blocked, -torch.inf)
""").for_each(EDIT=("scores /= cap", "scores.div_(cap)"))
right.mistake(arguments.argument_changed("writes_the_result_into_the_scores", what="the scores"), loses=FORM).patch("""
- capped = cap * torch.tanh(scores / cap)
- return capped.masked_fill(scores.isneginf(), -torch.inf)
+ blocked = scores.isneginf()
+ return scores.div_(cap).tanh_().mul_(cap).masked_fill_(blocked, -torch.inf)
""")
right.mistake(arguments.argument_changed("fills_the_scores", what="the scores"), loses=FORM).patch("""
- capped = cap * torch.tanh(scores / cap)
- return capped.masked_fill(scores.isneginf(), -torch.inf)
+ blocked = scores.isneginf()
+ EDIT
+ return (cap * torch.tanh(scores / cap)).masked_fill(blocked, -torch.inf)
""").for_each(
    EDIT=(
        "scores[blocked] = 0.0",
        "scores.masked_fill_(blocked, 0.0)",
        "with torch.no_grad(): scores[blocked] = 0.0",
    )
)
right.mistake("exponentials_of_tanh_overflow", loses=VALUES).patch("""
- capped = cap * torch.tanh(scores / cap)
- return capped.masked_fill(scores.isneginf(), -torch.inf)
+ x = scores.masked_fill(scores.isneginf(), 0.0) / cap
+ return (cap * BENT).masked_fill(scores.isneginf(), -torch.inf)
""").for_each(
    BENT=(
        "(x.exp() - (-x).exp()) / (x.exp() + (-x).exp())",
        "((2 * x).exp() - 1) / ((2 * x).exp() + 1)",
        "x.sinh() / x.cosh()",
    )
).feedback("Your `tanh` is made of exponentials, which overflow for large scores: ∞ / ∞ is NaN. Use `torch.tanh`.")
right.mistake("adds_zero_times_infinity", loses=VALUES).patch("""
- return capped.masked_fill(scores.isneginf(), -torch.inf)
+ return capped + scores.isneginf().to(scores.dtype) * -torch.inf
""").feedback("You multiply a mask by −∞. Where the mask is 0, 0 · ∞ is NaN: fill in −∞ by `masked_fill` or `where`.")
right.mistake(
    "leaves_rows_with_blocked_scores",
    {"capped.masked_fill(scores.isneginf(), -torch.inf)": "torch.where(scores.isneginf().SOME, scores, capped)"},
    loses=VALUES,
).for_each(SOME=("any(-1, keepdim=True)", "any()")).feedback(
    "You do not cap any score of a row that has a score of −∞. Only the score of −∞ itself stays as it is: make the "
    "mask entry by entry."
)
right.mistake(
    "blocks_rows_with_blocked_scores",
    {"masked_fill(scores.isneginf(), -torch.inf)": "masked_fill(scores.isneginf().SOME, -torch.inf)"},
    loses=VALUES,
).for_each(SOME=("any(-1, keepdim=True)", "any()")).feedback(
    "You fill a whole row with −∞ if one of its scores is −∞. Only that score stays −∞: make the mask entry by entry."
)
