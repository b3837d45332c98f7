"""Known mistakes in `rms_norm`."""

from .contract import rms_norm

right = rms_norm.alternative("by_the_mean_of_squares")

right.mistake("subtracts_the_mean").patch("""
  mean_of_squares = x.square().mean(dim=-1, keepdim=True)  # (..., 1)
+ x = x - x.mean(dim=-1, keepdim=True)
+ mean_of_squares = x.square().mean(dim=-1, keepdim=True)
""").feedback("You subtract the mean first, as LayerNorm does. RMSNorm does not: it divides only.")
right.mistake("divides_by_the_deviation").patch("""
- return x / (mean_of_squares + 1e-6).sqrt() * gain
+ return x / (x.var(dim=-1, keepdim=True, unbiased=False) + 1e-6).sqrt() * gain
""").feedback(
    "You divide by the standard deviation, whose squares are of x minus its mean. Take the mean of x squared."
)
right.mistake("forgets_the_gain", {" * gain": ""}).feedback(
    "The gain is missing. Multiply every entry by its own at the end."
)
right.mistake("adds_the_gain", {" * gain": " + gain"}).feedback("You add the gain. Multiply by it.")
right.mistake("multiplies_by_one_plus_the_gain", {"* gain": "* (1 + gain)"}).feedback(
    "You multiply by 1 + gain. Here the gain itself is the factor, and it starts at 1."
)
right.mistake("forgets_the_root", {".sqrt()": ""}).feedback(
    "You divide by the mean square. Take its root first, so that doubling x changes nothing."
)
right.mistake("divides_by_the_length", {"mean(dim": "sum(dim"}).feedback(
    "You divide by the length of the vector: the root of the *sum* of squares. Take the mean of the squares."
)
right.mistake(
    "squares_the_mean", {"x.square().mean(dim=-1, keepdim=True)": "x.mean(dim=-1, keepdim=True).square()"}
).feedback("You square the mean. Square every entry first, then take the mean.")
right.mistake("over_the_first_dimension", {"dim=-1": "dim=0"}).feedback(
    "Your mean runs over the first dimension, so positions or sentences mix. Use the last one, `dim=-1`."
)
right.mistake("over_everything", {"dim=-1, keepdim=True": ""}).feedback(
    "Your mean runs over the whole tensor. Each vector, along the last dimension, has its own."
)
right.mistake("loses_the_dimension", {", keepdim=True": ""}).feedback(
    "Your mean has lost its dimension, so it does not broadcast with x. Keep it with `keepdim=True`."
)
right.mistake("adds_eps_to_the_root", {"(mean_of_squares + 1e-6).sqrt()": "(mean_of_squares.sqrt() + 1e-6)"}).feedback(
    "You add 1e-6 to the root. It belongs under the root, where it counts more for small vectors."
)
right.mistake("another_eps", {"1e-6": "EPS"}).for_each(EPS=(1e-5, 1e-8, 1e-12)).feedback(
    "Your small number under the root is not 1e-6. It decides about vectors whose entries are about 0.001."
)
right.mistake("no_eps", {"(mean_of_squares + 1e-6)": "mean_of_squares"}).feedback(
    "You leave out the 1e-6 under the root, so a vector of zeros becomes NaN."
)
