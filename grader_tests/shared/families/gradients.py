"""Gradients that are missing or wrong although the values are right."""

from grading.exercises.exercise import Family

cut = Family(
    "gradient-cut",
    "cuts_the_gradient",
    "The values are right, but no gradient reaches {what}: you leave the computation graph (`.detach()`, `.data`, "
    "`.item()`, NumPy, `torch.tensor(…)` or `no_grad`).",
    words={"what": "the arguments"},
)
weights_detached = Family(
    "gradient-cut",
    "detaches_the_weights",
    "The values are right, but the weights that you {use} are detached (`.detach()`, `.data`, `no_grad`): a "
    "model could not learn where to look.",
    words={"use": "return"},
)
treated_as_constant = Family(
    "gradient-of-a-constant",
    "takes_the_sum_for_a_constant",
    "The values are right, but the gradients are not: you treat {what} as a constant (`detach`, `no_grad`, "
    "`.item()`), but it changes with {of}.",
    words={"what": "the sum", "of": "the scores"},
)
gradients_switched_off = Family(
    "gradients-switched-off",
    "switches_gradients_off",
    "You switch gradients off and never on again: nothing can be trained from here on. `with torch.no_grad():` "
    "ends with its block.",
)
overwritten_before_backward = Family(
    "overwritten-before-backward",
    "overwrites_what_backward_needs",
    "The values are right, but no gradient can be computed: {what} were changed in place, and autograd needs "
    "them as they were. Make a new tensor.",
    words={"what": "the exponentials"},
)
nan_wiped_off = Family(
    "nan-in-the-gradient",
    "wipes_nan_off",
    "The values are right, but the gradient of {what} is NaN: NaN arises in the forward pass, and replacing it "
    "in the result does not remove it from the backward pass. Let no NaN arise.",
    words={"what": "a fully blocked row"},
)
infinite_exponential = Family(
    "nan-in-the-gradient",
    "divides_by_exponentials_of_differences",
    "The values are right, but where scores are far apart the gradient is NaN: the exponential of a difference "
    "between two scores overflows. 1 / ∞ is 0, as it should be, but its gradient is not.",
)
