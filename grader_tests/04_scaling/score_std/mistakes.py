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
    "Your standard deviation divides by n - 1, so it is slightly too large. Dividing by n - 1 estimates the spread "
    "of a larger population, but here the n scores are all there is. PyTorch has an option for that.",
    see="The standard deviation",
)
right.mistake("variance", {"std(correction=0)": "var(correction=0)"}, loses=("one set", "gradients")).feedback(
    "You return the *variance* instead of the standard deviation. The variance has the unit of a squared score; "
    "the standard deviation is its square root.",
    see="The standard deviation",
)
right.mistake(
    "of_scaled_scores", {"key.transpose(-2, -1)": "key.transpose(-2, -1) / math.sqrt(query.shape[-1])"}, loses="one set"
).feedback(
    "You scale the scores before you measure their spread. The exercise asks how widely they spread *before* "
    "anything is done to them."
)
right.mistake(
    "of_scores_over_the_width", {"key.transpose(-2, -1)": "key.transpose(-2, -1) / query.shape[-1]"}, loses="one set"
).feedback(
    "You divide the scores by the width of the vectors before you measure their spread. The exercise asks how "
    "widely they spread *before* anything is done to them."
)
right.mistake("one_for_each_query", {"correction": "dim=-1, correction"}, loses=("one set", "over a whole")).feedback(
    "You compute one standard deviation per query, along the last dimension only. All scores count together, and "
    "the result has shape `()`."
)
right.mistake("mean_over_queries", {"std(correction=0)": "std(dim=-1, correction=0).mean()"}, loses="one set").feedback(
    "You average the standard deviations of the individual queries. That ignores how the queries differ from one "
    "another. Take the standard deviation over all scores at once."
)
right.mistake(
    "one_for_each_batch_element", {"std(correction=0)": "std(dim=(-2, -1), correction=0)"}, loses="over a whole"
).feedback("You return one number per batch element. All scores of the whole batch count together.")
right.mistake(
    "mean_over_the_batch", {"std(correction=0)": "std(dim=(-2, -1), correction=0).mean()"}, loses="over a whole"
).feedback(
    "You average the standard deviations of the individual batch elements. That ignores how the elements differ "
    "from one another. Take the standard deviation over all scores at once."
)
right.mistake("across_the_batch", loses="over a whole").patch("""
- scores = query @ key.transpose(-2, -1)
+ scores = query.reshape(-1, query.shape[-1]) @ key.reshape(-1, key.shape[-1]).T
""").feedback(
    "Your queries meet the keys of *other* batch elements too. If you flatten the batch into one long list, every "
    "query is multiplied with every key of the whole batch."
)
right.mistake(shapes.all_dimensions_reversed(what="key"), loses="over a whole").patch("""
- scores = query @ key.transpose(-2, -1)
+ scores = query @ key.permute(*reversed(range(key.ndim)))
""")
right.mistake("about_zero", {"std(correction=0)": "square().mean().sqrt()"}, loses=("one set", "where")).feedback(
    "You do not subtract the mean of the scores. Your result measures their distance from 0 instead of from their "
    "own mean.",
    see="The standard deviation",
)
right.mistake(
    "absolute_deviation", {"scores.std(correction=0)": "(scores - scores.mean()).abs().mean()"}, loses="one set"
).feedback(
    "You return the mean *absolute* deviation. The standard deviation squares the deviations, takes their mean, "
    "and then the square root.",
    see="The standard deviation",
)
score_std.mistake("expected_rather_than_measured", loses=("one set", "gradients")).full_code("""
def score_std(query, key):
    return query.std(correction=0) * key.std(correction=0) * query.shape[-1] ** 0.5
""").feedback(
    "You return the spread that independent random queries and keys would give on average. Measure the spread of "
    "the scores that you are given.",
    see="5. Where the square root comes from",
)
right.mistake(results.python_number, {"std(correction=0)": "std(correction=0).item()"}, loses=("float64", "gradients"))
right.mistake(gradients.cut, {"scores.std": "scores.detach().std"}, loses="gradients")
right.mistake(
    "of_the_weights", {"scores.std": "torch.softmax(scores, dim=-1).std"}, loses=("one set", "over a whole")
).feedback("You measure the spread of the weights instead of the scores. There is no softmax in this exercise.")
keeps_its_last_result(right, loses="one set")
score_std.mistake("mean_of_squares_less_square_of_mean", loses="one set").full_code("""
def score_std(query, key):
    scores = torch.matmul(query, key.mT).flatten()
    return (scores.square().mean() - scores.mean().square()).clamp_min(0).sqrt()
""").feedback(
    "You subtract the square of the mean from the mean of the squares, which loses digits to rounding. The formula "
    "is right on paper. But if the mean is large, both numbers are huge and nearly equal, and their difference is "
    "mostly rounding error. Subtract the mean from the scores first."
)
right.mistake("turns_the_keys_in_place", {"key.transpose(": "key.transpose_("}, loses="arguments").feedback(
    "You transpose the caller's keys in place. Functions whose names end in `_` change their argument. Use the one "
    "without the `_`."
)
right.mistake("spread_of_the_first_element", loses="over a whole").patch("""
  scores = query @ key.transpose(-2, -1)
+ scores = scores.reshape(-1, *scores.shape[-2:])[0]
""").feedback("You use only the first element of a batch. The standard deviation is over *all* entries.")
right.mistake(
    "keeps_one_dimension", {"std(correction=0)": "flatten().std(0, correction=0, keepdim=True)"}, loses="one set"
).feedback("Your result has shape `(1,)`, a list of one number. Return the number itself, of shape `()`.")
right.mistake("reshapes_the_keys_of_a_spread", loses="one set").patch("""
- scores = query @ key.transpose(-2, -1)
+ scores = query @ key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])
""").feedback(
    "You reshape the keys (`view` or `reshape`) instead of transposing them. Reshaping leaves the entries in their "
    "order in memory, so it mixes the keys. Swap two dimensions with `transpose`."
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
    "The gradient is NaN if all scores of one query are equal. You take the square root of that query's own "
    "spread, which is 0. Take a single root, of all squares together."
)
