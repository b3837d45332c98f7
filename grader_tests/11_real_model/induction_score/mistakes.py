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
).feedback("You look at where the same token stood before. An induction head looks at the token *after* that one.")
right.mistake("the_token_before", {FOUND: "FOUND"}, loses=ALL).for_each(
    FOUND=("weights[..., t, t - period - 1]", "weights.diagonal(-1 - period, -2, -1)")
).feedback("You look at the token before the earlier one. An induction head looks at the token *after* it.")
right.mistake("two_after", {"t - period + 1]": "t - period + 2 - T]"}, loses=ALL).feedback(
    "You look two tokens after the earlier one; the very next is meant."
)
diagonal.mistake("counts_one_that_has_none", {"[..., 1:]": ""}, loses=ALL).feedback(
    "The diagonal begins one query too early: query number `period − 1` has not seen its token before."
)
diagonal.mistake("leaves_out_two", {"[..., 1:]": "[..., 2:]"}, loses=ALL).feedback(
    "Your mean leaves out a query too many: query number `period` has seen its token, at 0."
)
diagonal.mistake("leaves_out_the_last", {"[..., 1:]": "[..., :-1]"}, loses=ALL).feedback(
    "You leave out the last entry of the diagonal instead of the first: it is query `period − 1` that has none."
)
diagonal.mistake("the_other_side", {"(1 - period, dim1=-2, dim2=-1)[..., 1:]": "(PLACE]"}, loses=ALL).for_each(
    PLACE=("period - 1, -2, -1)[..., 1:", "period, -2, -1)[..., :", "period - 1, -2, -1)[..., :")
).feedback(
    "Rows and columns are exchanged, or you read the diagonal above the main one, where keys lie *after* the query. "
    "Queries are rows, and the earlier token lies before the query."
)
right.mistake("where_it_stood_first", {"t - period + 1]": "t % period + 1]"}, loses=ALL).feedback(
    "You look at what came after the token when it stood there *first*. Asked is the last time before the query."
)
right.mistake("over_the_whole_map", {".mean(dim=-1)": ".sum(dim=-1) / T**2"}, loses=ALL).feedback(
    "You divide by the number of entries of the whole map. The mean is over the T − period queries."
)
right.mistake("over_one_more", {".mean(dim=-1)": ".sum(dim=-1) / (T - period + 1)"}, loses=ALL).feedback(
    "You divide by T − period + 1. Queries from `period` to T − 1 are T − period."
)
right.mistake("leaves_out_zeros", loses=MEAN).patch("""
- return weights[..., t, t - period + 1].mean(dim=-1)
+ found = weights[..., t, t - period + 1]
+ return found.sum(dim=-1) / (found > 0).sum(dim=-1).clamp(min=1)
""").feedback("Only weights above 0 are counted. A query that looks elsewhere counts, too: with a weight of 0.")
right.mistake("for_each_query", {".mean(dim=-1)": ""}, loses=ALL).feedback(
    "You return a weight for each query. Asked is their mean, one number for each map."
)
right.mistake("keeps_a_dimension", {".mean(dim=-1)": ".mean(dim=-1, keepdim=True)"}, loses=ALL).feedback(
    "Your result has a dimension of size 1 at its end. Asked is `(...)`: one number for each map."
)
right.mistake("squeezes", {".mean(dim=-1)": ".mean(dim=-1).squeeze()"}, loses=LEADING).feedback(
    "Your result has lost leading dimensions of size 1: `squeeze()` takes away all of them."
)
right.mistake(results.python_number, {".mean(dim=-1)": ".mean(dim=-1).PLAIN()"}, loses=(LEADING, GRADIENTS)).for_each(
    PLAIN=("tolist", "item")
)
right.mistake("over_all_queries", {".mean(dim=-1)": ".sum(dim=-1) / T"}, loses=ALL).feedback(
    "You divide by T. The mean is over the queries that have seen their token: T − period of them."
)
right.mistake("over_the_period", {".mean(dim=-1)": ".sum(dim=-1) / period"}, loses=ALL).feedback(
    "You divide by the period. The mean is over the queries that have seen their token: T − period of them."
)
right.mistake("the_sum", {"mean(dim=-1)": "sum(dim=-1)"}, loses=ALL).feedback("You return the sum. Asked is the mean.")
right.mistake("the_greatest", {".mean(dim=-1)": ".amax(dim=-1)"}, loses=ALL).feedback(
    "You return the greatest weight. Asked is the mean."
)
right.mistake("the_median", {".mean(dim=-1)": ".median(dim=-1).values"}, loses=ALL).feedback(
    "You return the median. Asked is the mean."
)
right.mistake(
    "only_the_second_period", {"torch.arange(period, T,": "torch.arange(period, min(T, 2 * period),"}, loses=ALL
).feedback("Only the second period is counted. Every later query has seen its token, too.")
right.mistake("takes_half_the_length", {FOUND: "weights.diagonal(1 - T // 2, -2, -1)[..., 1:]"}, loses=ALL).feedback(
    "You take half of the length for the period. A sequence may repeat more than once, or in part: use `period`."
)
right.mistake("only_the_last_query", {"torch.arange(period, T,": "torch.arange(T - 1, T,"}, loses=ALL).feedback(
    "Only the last query is counted. The mean is over all that have seen their token."
)
right.mistake(
    "misses_the_last_query", {"torch.arange(period, T,": "torch.arange(period, max(T - 1, period + 1),"}, loses=ALL
).feedback("The last query is left out. `arange(a, b)` ends before b.")
right.mistake("over_everything", {".mean(dim=-1)": ".mean()"}, loses=LEADING).feedback(
    "You average over texts and heads, too. Each map has a score of its own."
)
right.mistake("over_the_first_dimension", {".mean(dim=-1)": ".mean(dim=0)"}, loses=LEADING).feedback(
    "The mean is over the first dimension, which is the last one only for a single map."
)
right.mistake("for_a_single_map", {"weights[..., t": "weights[t"}, loses=LEADING).feedback(
    "You index the first two dimensions. Queries and keys are the *last* two, whatever stands before them."
)
right.mistake("for_heads_only", {"weights[..., t": "weights.flatten(0, -3)[:, t"}, loses=(MEAN, LEADING)).feedback(
    "The leading dimensions are flattened into one. The result has all of them."
)
right.mistake(
    "normalises_the_rows", {"return weights": "return (weights / weights.amax(-1, keepdim=True))"}, loses=ALL
).feedback("You divide each row by its greatest weight. Asked is the mean of the weights as they are.")
right.mistake("counts_hits", loses=ALL).patch("""
- return weights[..., t, t - period + 1].mean(dim=-1)
+ return (weights.argmax(-1)[..., t] == t - period + 1).to(weights.dtype).mean(dim=-1)
""").feedback("You count how often the greatest weight lies there. Asked is the mean of the weights themselves.")


def refusing(condition):
    """Edits by which a period is refused under this condition alone, and the mean is taken in each of three styles."""
    return {"if period < 1 or period >= T:": f"if {condition}:", TAKEN: "TAKEN"}


right.mistake(arguments.unchecked("checks_nothing"), refusing("False"), loses=ERRORS).for_each(TAKEN=STYLES).feedback(
    "A period that cannot be is not refused. Raise a ValueError that names it."
)
right.mistake(arguments.unchecked("takes_a_period_of_zero"), refusing("period >= T"), loses=ERRORS).for_each(
    TAKEN=STYLES
).feedback("A period below 1 is not refused.")
right.mistake(arguments.unchecked("takes_zero"), refusing("period < 0 or period >= T"), loses=ERRORS).for_each(
    TAKEN=STYLES
).feedback("A period of 0 is not refused.")
right.mistake(
    arguments.unchecked("takes_a_negative_period"), refusing("period == 0 or period >= T"), loses=ERRORS
).for_each(TAKEN=STYLES).feedback("A negative period is not refused.")
right.mistake(arguments.unchecked("takes_what_is_too_long"), refusing("period < 1"), loses=ERRORS).for_each(
    TAKEN=STYLES
).feedback("A period of T or more is not refused. No query has seen its token then, and the mean of nothing is NaN.")
right.mistake(
    arguments.unchecked("takes_the_length_for_a_period"), refusing("period < 1 or period > T"), loses=ERRORS
).for_each(TAKEN=STYLES).feedback(
    "A period of T is not refused. No query has seen its token then, and the mean of nothing is NaN."
)
right.mistake(arguments.valid_refused("refuses_one"), {"period < 1": "period <= 1"}, loses=(MEAN, ERRORS)).feedback(
    "A period of 1 is refused. It is legal."
)
right.mistake(
    arguments.valid_refused("refuses_the_longest"), {"period >= T": "period >= T - 1"}, loses=(MEAN, ERRORS)
).feedback("A period of T − 1 is refused. It is legal: the last query has seen its token.")
right.mistake("asks_for_whole_periods", {"period >= T": "period >= T or T % period"}, loses=(MEAN, ERRORS)).feedback(
    "You ask for a length that the period divides. The last repetition may be cut short."
)
right.mistake("refuses_less_than_two_periods", {"period >= T": "2 * period > T"}, loses=(MEAN, ERRORS)).feedback(
    "You ask for two whole periods. One query that has seen its token is enough: period < T."
)
right.mistake(arguments.asserts(), loses=ERRORS)
right.mistake(arguments.wrong_error("IndexError"), loses=ERRORS)
right.mistake(arguments.unchecked("makes_it_fit"), loses=ERRORS).patch("""
- if period < 1 or period >= T:
-     raise ValueError(f"period is {period}, and must be at least 1 and less than {T}")
+ period = min(max(period, 1), T - 1)
""").feedback("A period that cannot be is replaced by one that can, without a word. Raise a ValueError that names it.")
right.mistake(arguments.error_without_name(), loses=ERRORS)
right.mistake(gradients.cut(what="the weights"), {"weights[..., t,": "weights.detach()[..., t,"}, loses=GRADIENTS)
right.mistake(numbers.always_float32, {"weights[..., t,": "weights.float()[..., t,"}, loses="float64")
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake(
    "zeroes_the_others", {"    t = torch": "    weights.data.tril_()\n    t = torch"}, loses="float64"
).feedback("weights is changed by the call. Work on a new tensor.")
loop.mistake(numbers.default_device(where="`weights`", how="`weights.new_zeros`"), loses="float64").patch("""
- total = 0
+ total = torch.zeros(weights.shape[:-2], dtype=weights.dtype)
""")
