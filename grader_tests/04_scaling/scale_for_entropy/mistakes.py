"""Known mistakes in `scale_for_entropy`."""

from ...shared.families import numbers, shapes
from .contract import scale_for_entropy

right = scale_for_entropy.reference_answer("""
def scale_for_entropy(scores, nats):
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
).feedback(
    "Your search goes the wrong way and runs to one end of its interval. If the weights are too even, the scale "
    "must be *larger*; if they are too sharp, it must be smaller."
)
right.mistake("the_temperature", {"return 2 ** low": "return 2 ** -low"}).feedback(
    "You return the temperature, by which scores are divided. The scale multiplies the scores: it is 1 over the "
    "temperature."
)
right.mistake("the_exponent", {"return 2 ** low": "return low"}).feedback(
    "You return the exponent of the scale instead of the scale. The scale is 2 (or your base) raised to that power."
)
right.mistake("counts_in_bits", {"sum(dim=-1)": "sum(dim=-1) / math.log(2)"}).feedback(
    "You measure the entropy in bits, with the logarithm to base 2. `nats` needs the natural logarithm."
)
right.mistake("compares_the_perplexity", {"sum(dim=-1)": "sum(dim=-1).exp()"}).feedback(
    "You compare `nats` with e raised to the entropy, which is the effective number of words. Compare it with the "
    "entropy itself."
)
right.mistake("one_scale_for_all_rows", {"sum(dim=-1)": "sum(dim=-1).mean()"}).feedback(
    "You use one scale for all rows, so only their *average* entropy is right. Each row needs its own scale."
)
right.mistake("a_narrow_interval").patch("""
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
    "You search between 0 and a fixed largest scale, which is too small for some rows. Scores around 0.00001 need "
    "a far larger one. Widen the interval until it contains the answer, or search for the exponent of the scale."
)
right.mistake("stops_too_soon", {"range(60)": "range(STEPS)"}).for_each(STEPS=(5, 10)).feedback(
    "You stop the search while the interval is still too wide. Each halving gains one binary digit. Work out how "
    "many you need for a thousandth."
)
right.mistake(
    "a_formula", {"return 2 ** low": "return 1 / (scores.std(dim=-1) * math.sqrt(scores.shape[-1]))"}
).feedback(
    "You compute the scale by a formula, but no formula with the spread or a square root gives it. You have to "
    "search for the scale."
)
right.mistake(numbers.always_float64(of="the scores"), {"return 2 ** low": "return 2 ** low.double()"})
right.mistake(shapes.result_squeezed)
