"""Gradients that are missing or wrong although the values are right."""

from grading.exercises.exercise import Family

cut = Family(
    "gradient-cut",
    "cuts_the_gradient",
    "No gradient reaches {what}, although your result is right. You leave the computation graph (`.detach()`, "
    "`.data`, `.item()`, NumPy, `torch.tensor(…)` or `no_grad`).",
    words={"what": "the arguments"},
)
weights_detached = Family(
    "gradient-cut",
    "detaches_the_weights",
    "You detach the weights that you {use} (`.detach()`, `.data`, `no_grad`). The values are right, but a model "
    "could not learn where to look.",
    words={"use": "return"},
)
treated_as_constant = Family(
    "gradient-of-a-constant",
    "takes_the_sum_for_a_constant",
    "You treat {what} as constant (`detach`, `no_grad`, `.item()`), so the gradients are wrong. The values are "
    "right, but gradients must also reach {of} through {what}.",
    words={"what": "the sum", "of": "the scores"},
)
gradients_switched_off = Family(
    "gradients-switched-off",
    "switches_gradients_off",
    "You switch gradients off and never on again, so nothing can be trained from here on. `with torch.no_grad():` "
    "ends with its block.",
)
overwritten_before_backward = Family(
    "overwritten-before-backward",
    "overwrites_what_backward_needs",
    "You change {what} in place, so no gradient can be computed. The values are right, but autograd needs {what} "
    "unchanged. Make a new tensor.",
    words={"what": "the exponentials"},
)
nan_wiped_off = Family(
    "nan-in-the-gradient",
    "wipes_nan_off",
    "You replace NaN in the result, but the gradient of {what} is still NaN. The result is right, but NaN from the "
    "forward pass stays in the backward pass. Compute without NaN from the start.",
    words={"what": "a fully masked row"},
)
infinite_exponential = Family(
    "nan-in-the-gradient",
    "divides_by_exponentials_of_differences",
    "The exponential of a difference of scores overflows, so the gradient is NaN where scores are far apart. The "
    "values are right: 1 / ∞ is 0, as it should be. Its gradient is NaN.",
)
