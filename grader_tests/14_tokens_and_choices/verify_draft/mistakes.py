"""Known mistakes in `verify_draft`."""

from ...shared.families import arguments, numbers, results
from .contract import verify_draft

COUNT, REJECTED, ACCEPTED, FORM = "how many", "after a rejection", "after no rejection", "an int"

right = verify_draft.reference_answer("""
def verify_draft(drafted, draft, target, chances):
    for i in range(len(drafted)):
        token = drafted[i]
        ratio = target[i, token] / draft[i, token]
        if chances[i] >= ratio:
            lacking = (target[i] - draft[i]).clamp(min=0.0)
            return i, lacking / lacking.sum()
    return len(drafted), target[-1]
""")

# which tokens are accepted
right.mistake(
    "ratio_upside_down", {"target[i, token] / draft[i, token]": "draft[i, token] / target[i, token]"}, loses=COUNT
).feedback(
    "Your ratio is inverted. A token that the draft proposes too often must be accepted less often: target over draft."
)
right.mistake("accepts_above_the_ratio", {"chances[i] >= ratio": "chances[i] < ratio"}, loses=COUNT).feedback(
    "You reject where you should accept. A token is accepted if its chance is *below* the ratio."
)
right.mistake("accepts_at_the_ratio", {"chances[i] >= ratio": "chances[i] > ratio"}, loses=COUNT).feedback(
    "You also accept a token whose chance equals the ratio. It is accepted *below* the ratio only: with a chance of "
    "0, a token that the target never gives would come out."
)
right.mistake(
    "accepts_as_the_target_says", {"target[i, token] / draft[i, token]": "target[i, token]"}, loses=COUNT
).feedback(
    "You accept a token with the target's own probability. It then comes out with the product of both: divide by how "
    "often it is proposed."
)
right.mistake(
    "accepts_as_the_draft_says", {"target[i, token] / draft[i, token]": "draft[i, token]"}, loses=COUNT
).feedback("You accept a token with the draft's own probability. The ratio is target over draft.")
right.mistake(
    "takes_the_difference",
    {"target[i, token] / draft[i, token]": "1 + target[i, token] - draft[i, token]"},
    loses=COUNT,
).feedback("You compare with a difference of probabilities. The bound is their ratio, target over draft.")
right.mistake("compares_without_chances", {"chances[i] >= ratio": "ratio < BOUND"}, loses=COUNT).for_each(
    BOUND=("1", "0.5")
).feedback(
    "You do not use `chances`. A token that the draft proposes too often is still accepted in part of the cases: where "
    "its chance is below the ratio."
)
right.mistake(
    "accepts_the_most_probable", {"chances[i] >= ratio": "token != target[i].argmax()"}, loses=COUNT
).feedback(
    "You accept only the target's most probable token. That is greedy decoding: compare the chance with the ratio."
)
right.mistake("compares_two_draws", {"chances[i] >= ratio": "DRAWN != token"}, loses=COUNT).for_each(
    DRAWN=(
        "torch.searchsorted(target[i].cumsum(0), chances[i])",
        "torch.searchsorted(target[i].cumsum(0), chances[i], right=True)",
    )
).feedback(
    "You draw a token from the target and accept if it is the drafted one. That rejects too often: accept with the "
    "probability of the ratio, whatever else the target could draw."
)
right.mistake("one_chance_for_all", {"chances[i]": "chances[0]"}, loses=COUNT).feedback(
    "You compare every token with the first chance. Each token has a chance of its own."
)
right.mistake("rows_one_too_late", {"target[i, token] /": "target[i + 1, token] /"}, loses=COUNT).feedback(
    "You compare token `i` with row `i + 1` of the target. Row `i` has the distribution from which token `i` is drawn; "
    "the last row is for the token after all of them."
)
right.mistake(
    "rows_of_the_token", {"target[i, token] / draft[i, token]": "target[i].max() / draft[i].max()"}, loses=COUNT
).feedback("You compare the largest probabilities. Compare those of the drafted token.")
right.mistake("goes_on_after_a_rejection", loses=COUNT).patch("""
- for i in range(len(drafted)):
-     token = drafted[i]
-     ratio = target[i, token] / draft[i, token]
-     if chances[i] >= ratio:
-         lacking = (target[i] - draft[i]).clamp(min=0.0)
-         return i, lacking / lacking.sum()
- return len(drafted), target[-1]
+ ids = torch.arange(len(drafted), device=drafted.device)
+ kept = chances < target[ids, drafted] / draft[ids, drafted]
+ if kept.all():
+     return len(drafted), target[-1]
+ i = ROW
+ lacking = (target[i] - draft[i]).clamp(min=0.0)
+ return int(kept.sum()), lacking / lacking.sum()
""").for_each(ROW=("int((~kept).nonzero()[0])", "int(kept.sum())", "int((~kept).nonzero()[-1])")).feedback(
    "You count accepted tokens after a rejected one. Nothing after the first rejection counts: it was drafted after a "
    "token that was not accepted."
)
right.mistake("counts_the_rejected_token", {"return i, lacking": "return i + 1, lacking"}, loses=COUNT).feedback(
    "You count the rejected token as accepted. With a rejection at position `i`, the `i` tokens before it are accepted."
)
right.mistake(
    "counts_the_next_token", {"return len(drafted), target[-1]": "return len(drafted) + 1, target[-1]"}, loses=COUNT
).feedback(
    "You count the token that is drawn in the end. `n_accepted` is the number of *drafted* tokens that are accepted."
)
right.mistake("looks_at_the_first_only", {"range(len(drafted))": "range(1)"}, loses=COUNT).feedback(
    "You look only at the first drafted token. Go on until one is rejected."
)
right.mistake("misses_the_last_one", {"range(len(drafted))": "range(len(drafted) - 1)"}, loses=COUNT).feedback(
    "You do not look at the last drafted token. It may be rejected like all others."
)
right.mistake(
    "rejects_at_once",
    {
        "chances[i] >= ratio": "(chances >= target[:-1].gather(1, drafted[:, None])[:, 0] / draft.gather(1, drafted[:, "
        "None])[:, 0]).any()"
    },
    loses=COUNT,
).feedback("You reject the first token if any of them is rejected. The tokens before the first rejection are accepted.")
right.mistake("a_tensor_for_the_count", loses=FORM, clause="int").patch("""
- return i, lacking / lacking.sum()
+ return torch.tensor(i), lacking / lacking.sum()
@@
- return len(drafted), target[-1]
+ return torch.tensor(len(drafted)), target[-1]
""").feedback("Your `n_accepted` is a tensor. Return a plain `int`: `int(…)` or `.item()` makes one.")
right.mistake("returns_the_tokens", loses=COUNT).patch("""
- return i, lacking / lacking.sum()
+ return drafted[:i], lacking / lacking.sum()
@@
- return len(drafted), target[-1]
+ return drafted, target[-1]
""").feedback("You return the accepted tokens. Return how many there are.")

# what the next token is drawn from
right.mistake(
    "corrects_by_the_target", {"lacking / lacking.sum()": "target[i]"}, loses=REJECTED, clause="lacks"
).feedback(
    "After a rejection you draw from the target itself. Tokens that were accepted often then come out too often: draw "
    "from what the draft *lacks*."
)
right.mistake("corrects_by_the_draft", {"lacking / lacking.sum()": "draft[i]"}, loses=REJECTED).feedback(
    "After a rejection you draw from the draft again. Draw from what it lacks: the target minus the draft, where that "
    "is positive."
)
right.mistake(
    "leaves_out_the_rejected_token",
    {
        "(target[i] - draft[i]).clamp(min=0.0)": "target[i] * (torch.arange(target.shape[1], device=target.device) != "
        "token)"
    },
    loses=REJECTED,
).feedback(
    "After a rejection you draw from the target without the rejected token. Draw from what the draft lacks: the target "
    "minus the draft, where that is positive."
)
right.mistake(
    "difference_the_other_way_round", {"target[i] - draft[i]": "draft[i] - target[i]"}, loses=REJECTED
).feedback(
    "You draw from what the draft gives too often. Draw from what it lacks: the target minus the draft, where positive."
)
right.mistake("absolute_differences", {".clamp(min=0.0)": ".abs()"}, loses=REJECTED).feedback(
    "Your correction includes tokens that the draft gives too often. Negative differences count as 0."
)
right.mistake("negative_probabilities", {".clamp(min=0.0)": ""}, loses=REJECTED).feedback(
    "You keep negative differences, so what you return is not a distribution. They count as 0."
)
right.mistake("not_rescaled", {"lacking / lacking.sum()": "lacking"}, loses=REJECTED).feedback(
    "Your correction does not sum to 1. Divide what is lacking by its sum."
)
right.mistake(
    "softmax_of_what_is_lacking", {"lacking / lacking.sum()": "torch.softmax(lacking, dim=-1)"}, loses=REJECTED
).feedback("You apply softmax to what is lacking. That gives every token a share: divide by the sum.")
right.mistake("lacking_in_another_row", {"target[i] - draft[i]": "ROWS"}, loses=REJECTED).for_each(
    ROWS=(
        "target[i + 1] - draft[i]",
        "target[min(i + 1, len(draft) - 1)] - draft[min(i + 1, len(draft) - 1)]",
        "target[0] - draft[0]",
        "target[-1] - draft[-1]",
    )
).feedback(
    "You use other rows for the correction. If token `i` is rejected, its position is drawn again: use row `i` of both."
)
right.mistake(
    "next_row_of_the_target_after_a_rejection", {"lacking / lacking.sum()": "target[i + 1]"}, loses=REJECTED
).feedback("After a rejection you return the target's next row. The rejected position itself has to be drawn again.")
right.mistake("last_row_of_the_draft", {"target[-1]": "draft[-1]"}, loses=ACCEPTED).feedback(
    "If all are accepted you return a row of the draft. The target has one row more, for the token after all of them."
)
right.mistake("last_row_but_one", {"target[-1]": "target[-2]"}, loses=ACCEPTED, clause="all").feedback(
    "If all are accepted you return the last row but one. The last row of the target is for the token after all of "
    "them."
)
right.mistake(
    "lacking_after_the_last",
    {
        "len(drafted), target[-1]": "len(drafted), (target[-1] - draft[-1]).clamp(min=0.0) / (target[-1] - "
        "draft[-1]).clamp(min=0.0).sum()"
    },
    loses=ACCEPTED,
).feedback(
    "If all are accepted you subtract a row of the draft. Nothing was drafted there: return the target's last row."
)
right.mistake("nothing_after_the_last", {"len(drafted), target[-1]": "len(drafted), NOTHING"}, loses=ACCEPTED).for_each(
    NOTHING=("None", "torch.zeros_like(target[-1])")
).feedback("If all are accepted you return no distribution. The next token is drawn from the target's last row.")
right.mistake("draws_the_token", loses=(REJECTED, ACCEPTED)).patch("""
- return i, lacking / lacking.sum()
+ return i, (lacking / lacking.sum()).DRAWN
@@
- return len(drafted), target[-1]
+ return len(drafted), target[-1].DRAWN
""").for_each(
    DRAWN=("multinomial(1)[0]", "multinomial(1)", "multinomial(1).item()", "argmax()", "argmax().item()")
).feedback("You return the next token. Return the distribution from which it is drawn.")
right.mistake("probabilities_first", loses=(COUNT, REJECTED)).patch("""
- return i, lacking / lacking.sum()
+ return lacking / lacking.sum(), i
@@
- return len(drafted), target[-1]
+ return target[-1], len(drafted)
""").feedback("You return the distribution first. The order is (`n_accepted`, `next_token_probabilities`).")
right.mistake("probabilities_alone", loses=(REJECTED, ACCEPTED)).patch("""
- return i, lacking / lacking.sum()
+ return lacking / lacking.sum()
@@
- return len(drafted), target[-1]
+ return target[-1]
""").feedback("You return the distribution alone. Return both: (`n_accepted`, `next_token_probabilities`).")
right.mistake("a_row_for_the_distribution", loses=(REJECTED, ACCEPTED)).patch("""
- return i, lacking / lacking.sum()
+ return i, (lacking / lacking.sum())[None]
@@
- return len(drafted), target[-1]
+ return len(drafted), target[-1:]
""").feedback("Your distribution has the shape (1, N). It has to be (N,).")
right.mistake(
    numbers.float32_on_the_way(what="the distributions"),
    {"(target[i] - draft[i]).clamp(min=0.0)": "(target[i].float() - draft[i].float()).clamp(min=0.0).to(target.dtype)"},
    loses=FORM,
)
right.mistake(numbers.always_float32(of="`target`"), loses=FORM).patch("""
- return i, lacking / lacking.sum()
+ return i, (lacking / lacking.sum()).float()
@@
- return len(drafted), target[-1]
+ return len(drafted), target[-1].float()
""")
right.mistake(arguments.argument_changed("subtracts_in_place", what="`target`"), loses=FORM).patch("""
- lacking = (target[i] - draft[i]).clamp(min=0.0)
- return i, lacking / lacking.sum()
+ lacking = target[i]
+ lacking.sub_(draft[i]).clamp_(min=0.0)
+ SCALED
+ return i, lacking
""").for_each(SCALED=("lacking = lacking / lacking.sum()", "lacking /= lacking.sum()"))
right.mistake(
    arguments.argument_changed("subtracts_in_the_draft", what="`draft`"), loses=FORM, clause="purity"
).patch("""
- lacking = (target[i] - draft[i]).clamp(min=0.0)
- return i, lacking / lacking.sum()
+ lacking = draft[i]
+ lacking.neg_().add_(target[i]).clamp_(min=0.0)
+ SCALED
+ return i, lacking
""").for_each(SCALED=("lacking = lacking / lacking.sum()", "lacking /= lacking.sum()"))
right.mistake(results.nothing_returned, loses=(COUNT, REJECTED, ACCEPTED)).patch("""
- return i, lacking / lacking.sum()
+ print(i, lacking / lacking.sum())
@@
- return len(drafted), target[-1]
+ print(len(drafted), target[-1])
""")
