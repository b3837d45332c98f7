"""Known mistakes in `alibi_bias`."""

from .contract import alibi_bias

EVERYWHERE = ("the slope", "every distance")

right = alibi_bias.reference_answer("""
def alibi_bias(n_heads, T):
    slopes = 2.0 ** (-8.0 * torch.arange(1, n_heads + 1) / n_heads)
    places = torch.arange(T, dtype=torch.float32)
    gaps = (places[:, None] - places[None, :]).abs()
    return -slopes[:, None, None] * gaps
""")

right.mistake("rewards_distance", {"-slopes[:": "slopes[:"}, loses=EVERYWHERE).feedback(
    "Your bias has the wrong sign: keys that are far away get a *higher* score. A bias here is 0 or negative."
)
right.mistake("counts_heads_from_0", {"1, n_heads + 1": "n_heads"}, loses=EVERYWHERE).feedback(
    "You count the heads from 0, so the first head's slope is 1. Heads are counted from 1 here: the first slope is "
    "2 to the power of -8/H."
)
right.mistake("slopes_by_halves", loses="the slope").patch("""
- slopes = 2.0 ** (-8.0 * torch.arange(1, n_heads + 1) / n_heads)
+ slopes = 2.0 ** (-1.0 * torch.arange(1, n_heads + 1))
""").feedback(
    "Each of your slopes is half of the one before, whatever the number of heads is. That is right for eight heads "
    "only. The slopes go down to 2 to the power of -8 for any number of heads."
)
right.mistake("keeps_the_sign_of_the_gap", loses=EVERYWHERE).patch("""
- gaps = (places[:, None] - places[None, :]).abs()
+ gaps = places[:, None] - places[None, :]
""").feedback(
    "You keep the sign of the gap, so keys after the query get a positive bias. Only the distance counts, which "
    "has no sign."
)
right.mistake("squares_the_distance", {".abs()": ".square()"}, loses="every distance").feedback(
    "You square the distance. The bias is *linear*: twice as far, twice the bias."
)
right.mistake(
    "one_slope_for_all", {"slopes[:, None, None]": "slopes[:1, None, None].expand(n_heads, 1, 1)"}, loses="the slope"
).feedback("You give all heads the slope of the first. Each head has its own slope.")
right.mistake(
    "in_float64", {"-slopes[:, None, None] * gaps": "(-slopes[:, None, None] * gaps).double()"}, loses="float32"
).feedback(
    "The numbers are right, but their dtype is float64. Scores are float32, and adding the bias would make them "
    "float64."
)
