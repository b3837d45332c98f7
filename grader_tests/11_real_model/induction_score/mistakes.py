"""Known mistakes in `induction_score`."""

from ...shared.families import arguments, gradients, numbers, results
from .contract import induction_score

MEAN, LEADING, ERRORS, GRADIENTS = "the mean", "any leading", "ValueError", "gradients"
ALL = (MEAN, LEADING, GRADIENTS)

right = induction_score.alternative("score_by_indices")
diagonal = induction_score.alternative("score_by_diagonal")
loop = induction_score.alternative("score_by_a_loop")

FOUND = "weights[..., t, t - period + 1]"
TAKEN = """t = torch.arange(period, T, device=weights.device)
    return weights[..., t, t - period + 1].mean(dim=-1)"""
STYLES = (
    TAKEN,
    "return weights.diagonal(1 - period, -2, -1)[..., 1:].mean(-1)",
    "return sum(weights[..., t, t - period + 1] for t in range(period, T)) / (T - period)",
)

right.mistake("the_token_itself", {FOUND: "FOUND"}, loses=ALL).for_each(
    FOUND=("weights[..., t, t - period]", "weights.diagonal(-period, -2, -1)[..., 1:]")
).feedback("You look at the earlier position of the same token. An induction head looks at the token *after* that one.")
right.mistake("the_token_before", {FOUND: "FOUND"}, loses=ALL).for_each(
    FOUND=("weights[..., t, t - period - 1]", "weights.diagonal(-1 - period, -2, -1)")
).feedback("You look at the token before the earlier one. An induction head looks at the token *after* it.")
right.mistake("two_after", {"t - period + 1]": "t - period + 2 - T]"}, loses=ALL).feedback(
    "You look at the second token after the earlier one instead of the first."
)
diagonal.mistake("counts_one_that_has_none", {"[..., 1:]": ""}, loses=ALL).feedback(
    "You start the diagonal one query too early. Query number `period − 1` has not seen its token before."
)
diagonal.mistake("leaves_out_two", {"[..., 1:]": "[..., 2:]"}, loses=ALL).feedback(
    "You leave out one query too many. Query number `period` has already seen its token, at position 0."
)
diagonal.mistake("leaves_out_the_last", {"[..., 1:]": "[..., :-1]"}, loses=ALL).feedback(
    "You leave out the last entry of the diagonal instead of the first. Query `period − 1` is the one that has not "
    "seen its token before."
)
diagonal.mistake("the_other_side", {"(1 - period, dim1=-2, dim2=-1)[..., 1:]": "(PLACE]"}, loses=ALL).for_each(
    PLACE=("period - 1, -2, -1)[..., 1:", "period, -2, -1)[..., :", "period - 1, -2, -1)[..., :")
).feedback(
    "You swap rows and columns, or read the diagonal above the main one, where keys come *after* the query. Queries "
    "are rows, and the earlier token comes before the query."
)
right.mistake("where_it_stood_first", {"t - period + 1]": "t % period + 1]"}, loses=ALL).feedback(
    "You look at what followed the *first* occurrence of the token. The exercise asks for the last one before the "
    "query."
)
right.mistake("over_the_whole_map", {".mean(dim=-1)": ".sum(dim=-1) / T**2"}, loses=ALL).feedback(
    "You divide by the number of entries in the whole map. The mean is over the T − period queries."
)
right.mistake("over_one_more", {".mean(dim=-1)": ".sum(dim=-1) / (T - period + 1)"}, loses=ALL).feedback(
    "You divide by T − period + 1. There are only T − period queries from `period` to T − 1."
)
right.mistake("leaves_out_zeros", loses=MEAN).patch("""
- return weights[..., t, t - period + 1].mean(dim=-1)
+ found = weights[..., t, t - period + 1]
+ return found.sum(dim=-1) / (found > 0).sum(dim=-1).clamp(min=1)
""").feedback("You count only the weights above 0. A query that looks elsewhere counts, too, with a weight of 0.")
right.mistake("for_each_query", {".mean(dim=-1)": ""}, loses=ALL).feedback(
    "You return one weight per query. The exercise asks for their mean, one number per map."
)
right.mistake("keeps_a_dimension", {".mean(dim=-1)": ".mean(dim=-1, keepdim=True)"}, loses=ALL).feedback(
    "Your result has an extra last dimension of size 1. The exercise asks for `(...)`: one number per map."
)
right.mistake("squeezes", {".mean(dim=-1)": ".mean(dim=-1).squeeze()"}, loses=LEADING).feedback(
    "Your result has lost leading dimensions of size 1. `squeeze()` removes all of them."
)
right.mistake(results.python_number, {".mean(dim=-1)": ".mean(dim=-1).PLAIN()"}, loses=(LEADING, GRADIENTS)).for_each(
    PLAIN=("tolist", "item")
)
right.mistake("over_all_queries", {".mean(dim=-1)": ".sum(dim=-1) / T"}, loses=ALL).feedback(
    "You divide by T. The mean is over the T − period queries that have seen their token."
)
right.mistake("over_the_period", {".mean(dim=-1)": ".sum(dim=-1) / period"}, loses=ALL).feedback(
    "You divide by the period. The mean is over the T − period queries that have seen their token."
)
right.mistake("the_sum", {"mean(dim=-1)": "sum(dim=-1)"}, loses=ALL).feedback("You return the sum instead of the mean.")
right.mistake("the_greatest", {".mean(dim=-1)": ".amax(dim=-1)"}, loses=ALL).feedback(
    "You return the largest weight instead of the mean."
)
right.mistake("the_median", {".mean(dim=-1)": ".median(dim=-1).values"}, loses=ALL).feedback(
    "You return the median instead of the mean."
)
right.mistake(
    "only_the_second_period", {"torch.arange(period, T,": "torch.arange(period, min(T, 2 * period),"}, loses=ALL
).feedback("You count only the second period. Every later query has seen its token, too.")
right.mistake("takes_half_the_length", {FOUND: "weights.diagonal(1 - T // 2, -2, -1)[..., 1:]"}, loses=ALL).feedback(
    "You use half of the length as the period. A sequence may repeat more than once, or only in part: use `period`."
)
right.mistake("only_the_last_query", {"torch.arange(period, T,": "torch.arange(T - 1, T,"}, loses=ALL).feedback(
    "You count only the last query. The mean is over all queries that have seen their token."
)
right.mistake(
    "misses_the_last_query", {"torch.arange(period, T,": "torch.arange(period, max(T - 1, period + 1),"}, loses=ALL
).feedback("You leave out the last query. `arange(a, b)` ends before b.")
right.mistake("over_everything", {".mean(dim=-1)": ".mean()"}, loses=LEADING).feedback(
    "You average over texts and heads as well. Each map has its own score."
)
right.mistake("over_the_first_dimension", {".mean(dim=-1)": ".mean(dim=0)"}, loses=LEADING).feedback(
    "You average over the first dimension. It is the last dimension only for a single map."
)
right.mistake("for_a_single_map", {"weights[..., t": "weights[t"}, loses=LEADING).feedback(
    "You index the first two dimensions. Queries and keys are the *last* two, whatever comes before them."
)
right.mistake("for_heads_only", {"weights[..., t": "weights.flatten(0, -3)[:, t"}, loses=(MEAN, LEADING)).feedback(
    "You flatten the leading dimensions into one. The result keeps all of them."
)
right.mistake(
    "normalises_the_rows", {"return weights": "return (weights / weights.amax(-1, keepdim=True))"}, loses=ALL
).feedback("You divide each row by its largest weight. The exercise asks for the mean of the weights as they are.")
right.mistake("counts_hits", loses=ALL).patch("""
- return weights[..., t, t - period + 1].mean(dim=-1)
+ return (weights.argmax(-1)[..., t] == t - period + 1).to(weights.dtype).mean(dim=-1)
""").feedback(
    "You count how often the largest weight is at this position. The exercise asks for the mean of the weights "
    "themselves."
)


def refusing(condition):
    """Edits by which a period is refused under this condition alone, and the mean is taken in each of three styles."""
    return {"if period < 1 or period >= T:": f"if {condition}:", TAKEN: "TAKEN"}


right.mistake(arguments.unchecked("checks_nothing"), refusing("False"), loses=ERRORS).for_each(TAKEN=STYLES).feedback(
    "You accept an impossible period. Raise a ValueError that names `period`."
)
right.mistake(arguments.unchecked("takes_a_period_of_zero"), refusing("period >= T"), loses=ERRORS).for_each(
    TAKEN=STYLES
).feedback("You accept a period below 1.")
right.mistake(arguments.unchecked("takes_zero"), refusing("period < 0 or period >= T"), loses=ERRORS).for_each(
    TAKEN=STYLES
).feedback("You accept a period of 0.")
right.mistake(
    arguments.unchecked("takes_a_negative_period"), refusing("period == 0 or period >= T"), loses=ERRORS
).for_each(TAKEN=STYLES).feedback("You accept a negative period.")
right.mistake(arguments.unchecked("takes_what_is_too_long"), refusing("period < 1"), loses=ERRORS).for_each(
    TAKEN=STYLES
).feedback("You accept a period of T or more. No query has seen its token then, and the mean of nothing is NaN.")
right.mistake(
    arguments.unchecked("takes_the_length_for_a_period"), refusing("period < 1 or period > T"), loses=ERRORS
).for_each(TAKEN=STYLES).feedback(
    "You accept a period of T. No query has seen its token then, and the mean of nothing is NaN."
)
right.mistake(arguments.valid_refused("refuses_one"), {"period < 1": "period <= 1"}, loses=(MEAN, ERRORS)).feedback(
    "You refuse a period of 1. It is valid."
)
right.mistake(
    arguments.valid_refused("refuses_the_longest"), {"period >= T": "period >= T - 1"}, loses=(MEAN, ERRORS)
).feedback("You refuse a period of T − 1. It is valid: the last query has seen its token.")
right.mistake("asks_for_whole_periods", {"period >= T": "period >= T or T % period"}, loses=(MEAN, ERRORS)).feedback(
    "You require that the period divides the length. The last repetition may be cut short."
)
right.mistake("refuses_less_than_two_periods", {"period >= T": "2 * period > T"}, loses=(MEAN, ERRORS)).feedback(
    "You require two whole periods. One query that has seen its token is enough: period < T."
)
right.mistake(arguments.asserts(), loses=ERRORS)
right.mistake(arguments.wrong_error("IndexError"), loses=ERRORS)
right.mistake(arguments.unchecked("makes_it_fit"), loses=ERRORS).patch("""
- if period < 1 or period >= T:
-     raise ValueError(f"period is {period}, and must be at least 1 and less than {T}")
+ period = min(max(period, 1), T - 1)
""").feedback("You silently replace an impossible period with a possible one. Raise a ValueError that names `period`.")
right.mistake(arguments.error_without_name(), loses=ERRORS)
right.mistake(gradients.cut(what="the weights"), {"weights[..., t,": "weights.detach()[..., t,"}, loses=GRADIENTS)
right.mistake(numbers.always_float32, {"weights[..., t,": "weights.float()[..., t,"}, loses="float64")
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake(
    "zeroes_the_others", {"    t = torch": "    weights.data.tril_()\n    t = torch"}, loses="float64"
).feedback("Your function changes `weights`. Work on a new tensor.")
loop.mistake(numbers.default_device(where="`weights`", how="`weights.new_zeros`"), loses="float64").patch("""
- total = 0
+ total = torch.zeros(weights.shape[:-2], dtype=weights.dtype)
""")
