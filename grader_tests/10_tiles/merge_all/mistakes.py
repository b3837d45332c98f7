"""Known mistakes in `merge_all`."""

from ...shared.families import numbers
from .contract import merge_all

MANY = "many parts"
FAR_OUT = "sums that lie"
NOTHING = "parts that saw nothing"

right = merge_all.reference_answer("""
def merge_all(outputs, lses):
    highest = lses.amax(dim=0).detach()
    highest = torch.where(highest.isneginf(), 0.0, highest)
    shares = torch.exp(lses - highest)
    total = shares.sum(dim=0)
    seen = total > 0
    total = torch.where(seen, total, 1.0)
    output = (shares[..., None] * outputs).sum(dim=0) / total[..., None]
    return output, torch.where(seen, highest + total.log(), float("-inf"))
""")

right.mistake(
    "plain_mean",
    {"(shares[..., None] * outputs).sum(dim=0) / total[..., None]": "outputs.mean(dim=0)"},
    loses=(MANY, FAR_OUT),
).feedback(
    "You give all parts the same share. A part whose scores are high has more of the sum: its share is exp(lse − "
    "that of all)."
)
right.mistake("not_divided", {" / total[..., None]": ""}, loses=MANY).feedback(
    "Your shares do not sum to 1: divide them by their sum."
)
right.mistake("shares_by_the_lse", {"torch.exp(lses - highest)": "lses - highest + 1.0"}, loses=MANY).feedback(
    "You compute the shares from the log-sum-exps themselves, which are logarithms. Shares are in proportion to "
    "their exponentials."
)
right.mistake("sums_the_logarithms", {"highest + total.log()": "lses.sum(dim=0)"}, loses=(MANY, FAR_OUT)).feedback(
    "You add logarithms, which multiplies the numbers that they are logarithms of. Take the logarithm of the *sum* "
    "of exponentials."
)
right.mistake("the_highest_lse", {"highest + total.log()": "highest"}, loses=MANY).feedback(
    "You return the log-sum-exp of the highest part: the others are missing from the sum."
)
right.mistake("forgets_to_add_the_highest", {"highest + total.log()": "total.log()"}, loses=(MANY, FAR_OUT)).feedback(
    "You do not add again what you subtracted from each log-sum-exp before the exponential. Add it after the logarithm."
)
right.mistake(
    "overflows", {"highest = lses.amax(dim=0).detach()": "highest = torch.zeros_like(lses[0])"}, loses=FAR_OUT
).feedback(
    "Your exponentials overflow for large log-sum-exps, or all become 0. Subtract the highest of the parts before "
    "you exponentiate."
)
right.mistake(
    "nothing_minus_nothing", {"torch.where(highest.isneginf(), 0.0, highest)": "highest + 0.0"}, loses=NOTHING
).feedback(
    "Your result is NaN where no part saw anything: −∞ − (−∞) is NaN, and so is 0 / 0. Subtract a 0 there, and "
    "divide by a 1."
)
right.mistake("the_log_of_one", loses=NOTHING).patch("""
- return output, torch.where(seen, highest + total.log(), float("-inf"))
+ return output, highest + total.log()
""").feedback(
    "You return 0 as the log-sum-exp of a query that saw nothing. It should be −∞, the logarithm of an empty sum."
)
right.mistake(
    "over_the_queries",
    {"lses.amax(dim=0)": "lses.amax(dim=-1, keepdim=True)", "shares.sum(dim=0)": "shares.sum(dim=-1, keepdim=True)"},
    loses=MANY,
).feedback("Your shares sum to 1 over the queries. They should sum to 1 over the *parts*, the first dimension.")
right.mistake(
    "the_first_two", {"(lses - highest)": "(lses[:2] - highest)", "* outputs)": "* outputs[:2])"}, loses=(MANY, FAR_OUT)
).feedback("You merge only two parts. There may be any number of them.")
right.mistake(numbers.always_float32(of="the parts"), {"return output, ": "return output.float(), "}, loses="float64")
