"""Known mistakes in `adamw_step`."""

from .contract import adamw_step

STEP, FIRST, DECAY = "both running means", "the means of the first", "the decay"
ALL = (STEP, FIRST, DECAY)

right = adamw_step.alternative("step_by_step")

right.mistake(
    "no_correction",
    {"m / (1 - beta_1 ** (n + 1))": "m", "(v / (1 - beta_2 ** (n + 1)))": "v"},
    loses=FIRST,
).feedback("Your running means are not corrected. They begin at 0, so divide them by 1 − β₁ⁿ⁺¹ and 1 − β₂ⁿ⁺¹.")
right.mistake("corrects_only_the_mean", {"(v / (1 - beta_2 ** (n + 1)))": "v"}, loses=FIRST).feedback(
    "You correct m but not v. Both begin at 0, so both are divided."
)
right.mistake("corrects_only_the_square", {"m / (1 - beta_1 ** (n + 1))": "m"}, loses=FIRST).feedback(
    "You correct v but not m. Both begin at 0, so both are divided."
)
right.mistake(
    "counts_steps_from_1",
    {"beta_1 ** (n + 1)": "beta_1 ** max(n, 1)", "beta_2 ** (n + 1)": "beta_2 ** max(n, 1)"},
    loses=FIRST,
).feedback("Your power is one too low. The first step has n = 0, and its means are divided by 1 − β.")
right.mistake("returns_the_corrected_means", {"* theta), m, v": "* theta), mean, root**2"}, loses=FIRST).feedback(
    "You return the corrected means. The next step needs m and v as they are before the correction."
)
right.mistake("returns_the_old_means", loses=ALL).patch("""
- m = beta_1 * m + (1 - beta_1) * gradient
- v = beta_2 * v + (1 - beta_2) * gradient**2
- mean = m / (1 - beta_1 ** (n + 1))
- root = (v / (1 - beta_2 ** (n + 1))).sqrt()
+ mean = (beta_1 * m + (1 - beta_1) * gradient) / (1 - beta_1 ** (n + 1))
+ root = ((beta_2 * v + (1 - beta_2) * gradient**2) / (1 - beta_2 ** (n + 1))).sqrt()
""").feedback("You return the m and v that came in. Return the new ones, or the next step starts from zero again.")
right.mistake("no_square", {"gradient**2": "gradient.abs()"}, loses=ALL).feedback(
    "Your v averages the size of the gradient. It averages its square."
)
right.mistake("no_root", {"))).sqrt()": ")))"}, loses=(STEP, FIRST)).feedback(
    "You divide by v itself. Divide by its root, which has the unit of a gradient."
)
right.mistake(
    "no_eps_outside_the_root",
    {"))).sqrt()": ")) + eps).sqrt()", "(root + eps)": "root"},
    loses=(STEP, FIRST),
).feedback("You add eps under the root. Add it to the root, as PyTorch does.")
right.mistake("decay_in_the_gradient", loses=DECAY).patch("""
+ gradient = gradient + decay * theta
  m = beta_1 * m + (1 - beta_1) * gradient
@@
- return theta - rate * (mean / (root + eps) + decay * theta), m, v
+ return theta - rate * mean / (root + eps), m, v
""").feedback(
    "You add the decay to the gradient. That is Adam with L2; in AdamW the decay goes past both running means."
)
right.mistake(
    "decay_without_the_rate",
    {"rate * (mean / (root + eps) + decay * theta)": "rate * mean / (root + eps) - decay * theta"},
    loses=DECAY,
).feedback(
    "Your decay is not multiplied by the learning rate. The share that a parameter loses in a step is rate · decay."
)
right.mistake("no_decay", {" + decay * theta)": ")"}, loses=DECAY).feedback(
    "Your parameters do not decay. In each step, each also loses the share rate · decay of itself."
)
right.mistake(
    "decay_divided_by_the_root",
    {"mean / (root + eps) + decay * theta": "(mean + decay * theta) / (root + eps)"},
    loses=DECAY,
).feedback("You divide the decay by the root as well. Only the mean of the gradients is divided.")
right.mistake(
    "goes_uphill",
    {"theta - rate * (mean / (root + eps) +": "theta - rate * (-mean / (root + eps) +"},
    loses=ALL[:2],
).feedback("You go uphill: the mean of the gradients is subtracted from the parameter.")
right.mistake(
    "shares_exchanged",
    {"beta_1 * m + (1 - beta_1) * gradient": "(1 - beta_1) * m + beta_1 * gradient"},
    loses=STEP,
).feedback("You exchanged the shares in m. The old mean keeps the share β₁, and the gradient gets the rest.")
right.mistake(
    "betas_exchanged",
    {
        "beta_1 * m + (1 - beta_1)": "beta_2 * m + (1 - beta_2)",
        "beta_2 * v + (1 - beta_2)": "beta_1 * v + (1 - beta_1)",
    },
    loses=STEP,
).feedback("You exchanged β₁ and β₂. β₁ belongs to m, β₂ to v.")
right.mistake(
    "sums_instead_of_means",
    {"(1 - beta_1) * gradient": "gradient", "(1 - beta_2) * gradient**2": "gradient**2"},
    loses=STEP,
).feedback("Your running sums are not means. The new gradient gets the share 1 − β.")
right.mistake("without_m", {"mean / (root": "gradient / (root"}, loses=STEP).feedback(
    "Your step uses the gradient of this step alone. It uses the running mean, corrected."
)
