"""Known mistakes in `scale_for_entropy`."""

from ...shared.families import arguments, numbers, shapes
from .contract import scale_for_entropy

ALL = ("one row", "each row", "scores of any size")

right = scale_for_entropy.reference_answer("""
def scale_for_entropy(scores, nats):
    if not 0 < nats < math.log(scores.shape[-1]):
        raise ValueError(f"nats is {nats}, and must lie between 0 and ln {scores.shape[-1]}")
    low = torch.full(scores.shape[:-1], -40.0, dtype=scores.dtype)
    high = torch.full(scores.shape[:-1], 40.0, dtype=scores.dtype)
    for _ in range(60):
        middle = (low + high) / 2
        weights = torch.softmax(2 ** middle.unsqueeze(-1) * scores, dim=-1)
        entropy = torch.special.entr(weights).sum(dim=-1)
        low = torch.where(entropy > nats, middle, low)
        high = torch.where(entropy > nats, high, middle)
    return 2 ** low
""")

right.mistake(
    "goes_the_wrong_way",
    {"entropy > nats, middle, low": "entropy < nats, middle, low", "entropy > nats, high": "entropy < nats, high"},
    loses=ALL,
).feedback(
    "The search runs to one end of its interval. Weights that are too even need a *larger* scale, and too sharp ones a "
    "smaller."
)
right.mistake("the_temperature", {"return 2 ** low": "return 2 ** -low"}, loses=ALL).feedback(
    "This is the temperature, by which scores are divided. The scale that multiplies them is 1 over it."
)
right.mistake("the_exponent", {"return 2 ** low": "return low"}, loses=ALL).feedback(
    "You return the exponent of the scale. The scale is 2, or whatever your base is, to that power."
)
right.mistake("counts_in_bits", {"sum(dim=-1)": "sum(dim=-1) / math.log(2)"}, loses=ALL).feedback(
    "The entropy is measured in bits here, with the logarithm to base 2. `nats` go with the natural logarithm."
)
right.mistake("compares_the_perplexity", {"sum(dim=-1)": "sum(dim=-1).exp()"}, loses=ALL).feedback(
    "You compare e to the power of the entropy, the number of words that are listened to, with `nats`. Compare the "
    "entropy."
)
right.mistake("one_scale_for_all_rows", {"sum(dim=-1)": "sum(dim=-1).mean()"}, loses="each row").feedback(
    "The *average* entropy of all rows is what you set, with one scale for all. Each row has a scale of its own."
)
right.mistake("a_narrow_interval", loses="scores of any size").patch("""
- low = torch.full(scores.shape[:-1], -40.0, dtype=scores.dtype)
- high = torch.full(scores.shape[:-1], 40.0, dtype=scores.dtype)
+ low = torch.full(scores.shape[:-1], 0.0, dtype=scores.dtype)
+ high = torch.full(scores.shape[:-1], 100.0, dtype=scores.dtype)
@@
- weights = torch.softmax(2 ** middle.unsqueeze(-1) * scores, dim=-1)
+ weights = torch.softmax(middle.unsqueeze(-1) * scores, dim=-1)
@@
- return 2 ** low
+ return low
""").feedback(
    "You look between 0 and a fixed largest scale. Scores of a hundred-thousandth need far more: widen the interval "
    "until the answer lies in it, or look for the exponent of the scale."
)
right.mistake("stops_too_soon", {"range(60)": "range(STEPS)"}, loses=ALL).for_each(STEPS=(5, 10)).feedback(
    "The search stops while the interval is still wide. Each halving gains one binary place: how many do you need for "
    "a thousandth?"
)
right.mistake(
    "a_formula", {"return 2 ** low": "return 1 / (scores.std(dim=-1) * math.sqrt(scores.shape[-1]))"}, loses=ALL
).feedback("No formula with the spread, or with a square root, gives the scale: it has to be looked for.")
right.mistake(
    arguments.not_refused(
        "There is no error for an entropy that no scale gives: 0 or less, or ln S or more, S being the number of "
        "scores in "
        "a row."
    ),
    loses="ValueError",
)
right.mistake("takes_the_rows_for_the_scores", {"(scores.shape[-1])": "(len(scores))"}, loses="ValueError").feedback(
    "The largest entropy that you allow is the logarithm of the number of *rows*. A row of S scores has at most ln S."
)
right.mistake(numbers.always_float64(of="the scores"), {"return 2 ** low": "return 2 ** low.double()"}, loses="float32")
right.mistake(shapes.result_squeezed, loses="each row")
