"""Known mistakes in `score_std`."""

from ...shared.families import gradients, numbers, results, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import score_std

right = score_std.reference_answer("""
def score_std(query, key):
    scores = query @ key.transpose(-2, -1)
    return scores.std(correction=0)
""")

right.mistake("divides_by_n_minus_1", {"correction=0": ""}, loses=("one set", "over a whole", "where")).feedback(
    "A little too large: your standard deviation divides by n - 1, which estimates the spread of a larger population. "
    "Here the n scores are all there is. PyTorch has an option for that.",
    see="Your first instrument",
)
right.mistake("variance", {"std(correction=0)": "var(correction=0)"}, loses=("one set", "gradients")).feedback(
    "This is the *variance*. Its unit is that of a squared score; the standard deviation is its root.",
    see="Your first instrument",
)
right.mistake(
    "of_scaled_scores", {"key.transpose(-2, -1)": "key.transpose(-2, -1) / math.sqrt(query.shape[-1])"}, loses="one set"
).feedback("These scores were scaled. Here the question is how widely they spread *before* anything is done to them.")
right.mistake(
    "of_scores_over_the_width", {"key.transpose(-2, -1)": "key.transpose(-2, -1) / query.shape[-1]"}, loses="one set"
).feedback(
    "These scores were divided by the width of the vectors. Here the question is how widely they spread *before* "
    "anything is done to them."
)
right.mistake("one_for_each_query", {"correction": "dim=-1, correction"}, loses=("one set", "over a whole")).feedback(
    "One number for each query: the standard deviation was taken along the last dimension only. All scores count "
    "together, and the result has shape ()."
)
right.mistake("mean_over_queries", {"std(correction=0)": "std(dim=-1, correction=0).mean()"}, loses="one set").feedback(
    "This is the mean of the queries' own spreads. What sets the queries apart from one another is lost that "
    "way: take the standard deviation over all scores at once."
)
right.mistake(
    "one_for_each_batch_element", {"std(correction=0)": "std(dim=(-2, -1), correction=0)"}, loses="over a whole"
).feedback("One number for each batch element: all scores of the whole batch count together.")
right.mistake(
    "mean_over_the_batch", {"std(correction=0)": "std(dim=(-2, -1), correction=0).mean()"}, loses="over a whole"
).feedback(
    "This is the mean of the batch elements' own spreads. What sets the elements apart from one another is "
    "lost that way: take the standard deviation over all scores at once."
)
right.mistake("across_the_batch", loses="over a whole").patch("""
- scores = query @ key.transpose(-2, -1)
+ scores = query.reshape(-1, query.shape[-1]) @ key.reshape(-1, key.shape[-1]).T
""").feedback(
    "Queries meet the keys of *other* batch elements here: when the batch is flattened into one long list, "
    "every query is dotted with every key of all of it."
)
right.mistake(shapes.all_dimensions_reversed(what="key"), loses="over a whole").patch("""
- scores = query @ key.transpose(-2, -1)
+ scores = query @ key.permute(*reversed(range(key.ndim)))
""")
right.mistake("about_zero", {"std(correction=0)": "square().mean().sqrt()"}, loses=("one set", "where")).feedback(
    "The mean of the scores was not taken off: this is how far they lie from 0, on average, and not from "
    "their own mean.",
    see="Your first instrument",
)
right.mistake(
    "absolute_deviation", {"scores.std(correction=0)": "(scores - scores.mean()).abs().mean()"}, loses="one set"
).feedback(
    "This is the mean *absolute* deviation. The standard deviation squares the deviations, takes their mean, "
    "and then the root.",
    see="Your first instrument",
)
score_std.mistake("expected_rather_than_measured", loses=("one set", "gradients")).full_code("""
def score_std(query, key):
    return query.std(correction=0) * key.std(correction=0) * query.shape[-1] ** 0.5
""").feedback(
    "The scores were *expected* to spread like this, if queries and keys were independent random numbers. "
    "Measure those at hand.",
    see="5. Where the square root comes from",
)
right.mistake(results.python_number, {"std(correction=0)": "std(correction=0).item()"}, loses=("float64", "gradients"))
right.mistake(gradients.cut, {"scores.std": "scores.detach().std"}, loses="gradients")
right.mistake(
    "of_the_weights", {"scores.std": "torch.softmax(scores, dim=-1).std"}, loses=("one set", "over a whole")
).feedback("The weights' spread, not the scores': there is no softmax in this exercise.")
keeps_its_last_result(right, loses="one set")
score_std.mistake("mean_of_squares_less_square_of_mean", loses="one set").full_code("""
def score_std(query, key):
    scores = torch.matmul(query, key.mT).flatten()
    return (scores.square().mean() - scores.mean().square()).clamp_min(0).sqrt()
""").feedback(
    "The mean of the squares less the square of the mean is right on paper. Where the mean is large, both are huge and "
    "nearly equal, and their difference is what rounding left. Take the mean off the scores first."
)
right.mistake("turns_the_keys_in_place", {"key.transpose(": "key.transpose_("}, loses="arguments").feedback(
    "The caller's keys are turned over: functions whose name ends in `_` change their argument. Use the one without."
)
right.mistake("spread_of_the_first_element", loses="over a whole").patch("""
  scores = query @ key.transpose(-2, -1)
+ scores = scores.reshape(-1, *scores.shape[-2:])[0]
""").feedback("Only the first element of a batch is looked at. The standard deviation is over *all* entries.")
right.mistake(
    "keeps_one_dimension", {"std(correction=0)": "flatten().std(0, correction=0, keepdim=True)"}, loses="one set"
).feedback("The result has the shape `(1,)`: a list of one number. Asked for is the number itself, of shape `()`.")
right.mistake("reshapes_the_keys_of_a_spread", loses="one set").patch("""
- scores = query @ key.transpose(-2, -1)
+ scores = query @ key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])
""").feedback(
    "`view` and `reshape` give the keys another shape, and their numbers stay in the order in which they lie: that "
    "mixes the keys. Exchange two dimensions with `transpose`."
)
right.mistake(
    numbers.float32_on_the_way,
    {"query @ key": "query.float() @ key.float()", "std(correction=0)": "std(correction=0).to(query.dtype)"},
    loses="float64",
)
right.mistake("root_of_each_row", loses="gradients").patch("""
- return scores.std(correction=0)
+ means = scores.mean(dim=-1, keepdim=True)
+ rows = (scores - means).square().mean(dim=-1).sqrt()
+ return (rows.square().mean() + means.var(correction=0)).sqrt()
""").feedback(
    "Where the scores of one query are all equal, the gradient is NaN: a root is taken of that query's own spread, 0. "
    "Take a single root, of all squares together."
)
