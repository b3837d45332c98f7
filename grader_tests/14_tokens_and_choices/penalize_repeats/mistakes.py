"""Known mistakes in `penalize_repeats`."""

from ...shared.families import arguments, gradients, numbers, results
from .contract import penalize_repeats

LOWER, FORM, ERROR = "lower", "no ids", "ValueError"

right = penalize_repeats.reference_answer("""
def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty is {penalty}, and must be above 0")
    seen = torch.zeros_like(logits, dtype=torch.bool)
    seen[ids] = True
    penalized = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, penalized, logits)
""")
place_by_place = penalize_repeats.alternative("token_by_token")

right.mistake(
    "divides_all", {"torch.where(logits > 0, logits / penalty, logits * penalty)": "logits / penalty"}, loses=LOWER
).feedback("You divide negative logits as well. That brings them closer to 0, so their tokens become *more* probable.")
right.mistake(
    "multiplies_all", {"torch.where(logits > 0, logits / penalty, logits * penalty)": "logits * penalty"}, loses=LOWER
).feedback(
    "You multiply positive logits as well, which makes their tokens more probable. Every repeated token has to become "
    "less probable."
)
right.mistake(
    "the_other_way_round", {"logits / penalty, logits * penalty": "logits * penalty, logits / penalty"}, loses=LOWER
).feedback(
    "You multiply positive logits and divide the others, so repeated tokens become more probable. Do it the other way "
    "round."
)
right.mistake(
    "subtracts", {"torch.where(logits > 0, logits / penalty, logits * penalty)": "logits - AMOUNT"}, loses=LOWER
).for_each(
    AMOUNT=("penalty", "math.log(penalty)", "penalty * torch.bincount(ids, minlength=len(logits)).to(logits.dtype)")
).feedback(
    "You subtract the penalty, as a presence penalty does. Here a positive logit is divided by it and any other one "
    "multiplied."
)
right.mistake("once_for_each_occurrence", loses=LOWER, clause="once").patch("""
- penalized = torch.where(logits > 0, logits / penalty, logits * penalty)
+ power = penalty ** torch.bincount(ids, minlength=len(logits)).to(logits.dtype)
+ penalized = torch.where(logits > 0, logits / power, logits * power)
""").feedback("You penalize a token as often as it occurs. Penalize it once, however often it occurs.")
right.mistake(
    "penalizes_all_others",
    {"torch.where(seen, penalized, logits)": "torch.where(seen, logits, penalized)"},
    loses=LOWER,
).feedback("You penalize the tokens that have *not* occurred.")
right.mistake(
    "penalizes_everything", {"torch.where(seen, penalized, logits)": "penalized + 0 * seen"}, loses=LOWER
).feedback("You penalize every token. Leave the logits of tokens that have not occurred as they are.")
right.mistake("penalizes_one_token", {"seen[ids] = True": "seen[ids[PART]] = True"}, loses=LOWER).for_each(
    PART=("-1:", ":1")
).feedback("You penalize only one of the ids. Every token that occurs in `ids` is penalized.")
right.mistake(
    "penalizes_what_repeats", {"seen[ids] = True": "seen = torch.bincount(ids, minlength=len(logits)) > 1"}, loses=LOWER
).feedback("You penalize only tokens that have occurred twice. Once is enough.")
right.mistake(
    "blocks_them",
    {"torch.where(logits > 0, logits / penalty, logits * penalty)": 'torch.full_like(logits, float("-inf")) / penalty'},
    loses=LOWER,
).feedback("You forbid the tokens that have occurred. They should only become less probable.")
right.mistake("signs_by_the_whole", {"logits > 0,": "SIGN,"}, loses=LOWER).for_each(
    SIGN=(
        "logits.sum() > 0",
        "(logits > 0).all()",
        "(logits > 0).any()",
        "logits[ids].sum() > 0",
        "(logits[ids] > 0).all()",
        "(logits[ids] > 0).any()",
    )
).feedback("You test one sign for all logits together. Test the sign of each logit separately.")
right.mistake(
    "penalizes_probabilities",
    {"torch.where(logits > 0, logits / penalty, logits * penalty)": "logits.softmax(-1) / penalty"},
    loses=LOWER,
).feedback(
    "You replace the repeated tokens' logits by probabilities, while the others stay logits. Change the logits "
    "themselves, without a softmax."
)
right.mistake("divides_the_probabilities", {"torch.where(seen, penalized, logits)": "LOWERED"}, loses=LOWER).for_each(
    LOWERED=(
        "torch.where(seen, logits.softmax(-1) / penalty, logits.softmax(-1))",
        "nn.functional.normalize(logits.softmax(-1) / penalty ** seen.to(logits.dtype), p=1, dim=-1)",
        "(logits.softmax(-1) / penalty ** seen.to(logits.dtype)).log()",
    )
).feedback("You divide the probabilities of repeated tokens by the penalty. Change the logits, without a softmax.")
right.mistake(
    "returns_probabilities",
    {"return torch.where(seen, penalized, logits)": "return torch.where(seen, penalized, logits).softmax(-1)"},
    loses=LOWER,
).feedback("You return probabilities. Return logits.")
right.mistake("returns_only_those", {"torch.where(seen, penalized, logits)": "penalized[THOSE]"}, loses=LOWER).for_each(
    THOSE=("ids", "seen")
).feedback("You return only the logits of the tokens in `ids`. Return all logits, (N,).")
right.mistake(
    "by_the_absolute_value",
    {"torch.where(logits > 0, logits / penalty, logits * penalty)": "logits.abs() / penalty"},
    loses=LOWER,
).feedback("You lose the sign of a logit. A negative logit stays negative, and the penalty takes it further from 0.")
right.mistake("not_for_small_logits", {"logits > 0,": "logits > 1,"}, loses=LOWER).feedback(
    "You compare with 1 instead of 0. The sign of the logit decides."
)
right.mistake(
    "ignores_small_penalties",
    {"logits / penalty, logits * penalty": "logits / max(penalty, 1), logits * max(penalty, 1)"},
    loses=LOWER,
).feedback("You ignore a penalty below 1. It is valid, and makes repeated tokens more probable.")
right.mistake("fails_without_ids", loses=FORM, clause="empty").patch("""
- seen[ids] = True
+ seen[ids] = True
+ EMPTY
""").for_each(
    EMPTY=(
        "ids.max()",
        "ids.amax()",
        "max(ids.tolist())",
        "ids[-1]",
        "ids[0]",
        "nn.functional.one_hot(ids)",
        "nn.functional.one_hot(ids, len(logits)).amax(dim=0)",
        "nn.functional.one_hot(ids, len(logits)).max(dim=0)",
        "torch.stack(list(ids))",
    )
).feedback("Your function fails if `ids` is empty. `T` may be 0: then no token has occurred, and no logit changes.")
right.mistake("refuses_no_ids", loses=FORM).patch("""
- seen = torch.zeros_like(logits, dtype=torch.bool)
+ if len(ids) == 0:
+     raise ValueError("ids is empty, (0,)")
+ seen = torch.zeros_like(logits, dtype=torch.bool)
""").feedback("You refuse an empty `ids`. Then no token has occurred, and no logit changes.")
right.mistake(
    "minus_infinity_becomes_nan",
    {"torch.where(seen, penalized, logits)": "seen * penalized + ~seen * logits"},
    loses=FORM,
).feedback("A logit of −∞ becomes NaN, because you multiply it by 0. Choose with `torch.where` instead.")
right.mistake(
    "minus_infinity_becomes_finite",
    {"torch.where(seen, penalized, logits)": "torch.where(seen, penalized, logits).clamp(min=-1e9)"},
    loses=FORM,
).feedback("You replace a logit of −∞ by a finite number. It stays −∞, with or without a penalty.")
right.mistake(
    "zero_goes_down",
    {
        "logits > 0, logits / penalty, logits * penalty": "logits > 0, logits / penalty, logits * penalty - (logits == "
        "0).to(logits.dtype) * penalty"
    },
    loses=FORM,
).feedback("You lower a logit of 0. Multiplied by the penalty, it stays 0.")
right.mistake(arguments.argument_changed("writes_into_the_logits", what="`logits`"), loses=FORM).patch("""
- return torch.where(seen, penalized, logits)
+ changed = logits.detach()
+ changed[seen] = penalized.detach()[seen]
+ return torch.where(seen, penalized, logits)
""")
right.mistake(arguments.not_refused("You do not raise a ValueError for a `penalty` of 0 or below."), loses=ERROR)
right.mistake(
    arguments.unchecked("accepts_zero"), {"not penalty > 0": "penalty < 0"}, loses=ERROR, clause="positive"
).feedback("You accept a `penalty` of 0, by which you would divide. Raise a ValueError.")
right.mistake(arguments.unchecked("refuses_zero_only"), {"not penalty > 0": "penalty == 0"}, loses=ERROR).feedback(
    "You accept a negative `penalty`, which would change the signs of logits. Raise a ValueError."
)
right.mistake(
    arguments.valid_refused("refuses_below_one"), {"not penalty > 0": "penalty BELOW 1"}, loses=(LOWER, ERROR)
).for_each(BELOW=("<", "<=")).feedback(
    "You refuse a `penalty` below 1, or of 1. Every number above 0 is valid; 1 changes nothing."
)
right.mistake(arguments.asserts(), loses=ERROR)
right.mistake(arguments.wrong_error("TypeError"), loses=ERROR)
right.mistake(arguments.error_without_name(), loses=ERROR)
right.mistake(
    gradients.cut("cuts_gradients_off", what="the logits"),
    {"torch.where(seen, penalized, logits)": "torch.where(seen, penalized.detach(), PART)"},
    loses=FORM,
).for_each(PART=("logits.detach()", "logits"))
place_by_place.mistake(
    "rebuilds_the_tensor", {"torch.stack(entries)": "torch.tensor([float(entry) for entry in entries])"}, loses=FORM
).feedback(
    "You make a new tensor of plain numbers, so no gradient reaches the logits, and the result is always float32. "
    "`torch.stack` keeps gradients and dtype."
)
right.mistake(numbers.computed_in_float32, loses=FORM)
right.mistake(numbers.result_float32, loses=FORM)
right.mistake(numbers.result_float64, loses=FORM)
right.mistake(
    numbers.default_device(where="`logits`"),
    {"torch.zeros_like(logits, dtype=torch.bool)": "torch.zeros(len(logits), dtype=torch.bool)"},
    loses=FORM,
)
right.mistake("on_log_probabilities", loses=LOWER).patch("""
- seen = torch.zeros_like(logits, dtype=torch.bool)
+ logits = torch.log_softmax(logits, dim=-1)
+ seen = torch.zeros_like(logits, dtype=torch.bool)
""").feedback(
    "You convert the logits to log-probabilities first, which are never positive. Change the logits themselves."
)
right.mistake("takes_positions_for_tokens", {"seen[ids] = True": "seen[: len(ids)] = True"}, loses=LOWER).feedback(
    "You penalize the tokens 0, 1, 2 and so on, which are positions in `ids`. Penalize the tokens whose ids it holds."
)
right.mistake(arguments.argument_changed("changes_the_logits_without_gradients", what="`logits`"), loses=FORM).patch("""
- return torch.where(seen, penalized, logits)
+ logits.data[seen] = penalized[seen]
+ return RESULT
""").for_each(RESULT=("logits", "logits.detach()"))
# In each of these, PyTorch refuses to write into a leaf that needs a gradient, or into a view of it
right.mistake(arguments.argument_changed("writes_where_gradients_are_needed", what="`logits`"), loses=FORM).patch("""
- return torch.where(seen, penalized, logits)
+ WRITE
+ return logits
""").for_each(WRITE=("logits[seen] = penalized[seen]", "logits.unsqueeze(0)[:, seen] = penalized[seen]"))
right.mistake(results.nothing_returned, {"return torch.where(seen": "torch.where(seen"}, loses=LOWER)
