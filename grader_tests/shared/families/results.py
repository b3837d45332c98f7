"""Results that are missing, extra, in the wrong order or of the wrong type."""

from grading.exercises.exercise import Family

nothing_returned = Family(
    "nothing-returned",
    "returns_nothing",
    "Your function returns None. Check whether the `return` is missing: `print` only shows a result.",
)
output_alone = Family(
    "output-alone",
    "returns_the_output_alone",
    "You return the {what} alone. Return both: ({what}, {other}).",
    words={"what": "output", "other": "weights"},
)
weights_first = Family(
    "results-in-another-order",
    "returns_the_weights_first",
    "You return the {other} first. The order is ({what}, {other}).",
    words={"what": "output", "other": "weights"},
)
scores_for_weights = Family(
    "scores-for-weights",
    "returns_scores_for_weights",
    "You return the scores instead of the weights, along with the {what}. The weights are the scores after the "
    "softmax.",
    words={"what": "output"},
)
python_number = Family(
    "python-number",
    "returns_a_python_number",
    "You return a Python number instead of a tensor. `.item()` and `float()` leave the computation graph, so no "
    "gradient can flow.",
)
perplexity = Family(
    "perplexity", "returns_the_perplexity", "You return the perplexity, which is the exponential of the loss."
)
tensor_for_bool = Family(
    "tensor-for-bool",
    "answers_with_a_tensor",
    "You return a tensor instead of `True` or `False`. `bool(…)` converts it.",
)
