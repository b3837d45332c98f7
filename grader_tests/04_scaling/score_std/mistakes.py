"""Known mistakes in `score_std`."""

from .contract import score_std

right_ = score_std.base("""
def score_std(query, key):
    return (query @ key.transpose(-2, -1)).std(correction=0)
""")

right = score_std.base("""
def score_std(query, key):
    scores = query @ key.transpose(-2, -1)
    return scores.std(correction=0)
""")

score_std.mistake("divides_by_n_minus_1", shows=("one set", "over a whole", "where")).whole("""
def score_std(query, key):
    return torch.std(query @ key.transpose(-2, -1))
""").says(
    "A little too large: your standard deviation divides by n - 1, which estimates the spread of a larger "
    "population. Here the n scores are all there is. PyTorch has an option for that.",
    see="Your first instrument",
)
score_std.mistake("variance", shows=("one set", "gradients")).whole("""
def score_std(query, key):
    return torch.var(query @ key.transpose(-2, -1), correction=0)
""").says(
    "This is the *variance*. Its unit is that of a squared score; the standard deviation is its root.",
    see="Your first instrument",
)
right.mistake("of_scaled_scores", {"(-2, -1)": "(-2, -1) / math.sqrt(query.shape[-1])"}, shows="one set").says(
    "These scores were scaled. Here the question is how widely they spread *before* anything is done to them."
)
right_.mistake("of_scores_over_the_width", {"(-2, -1)": "(-2, -1) / query.shape[-1]"}, shows="one set").says(
    "These scores were divided by the width of the vectors. Here the question is how widely they spread *before* "
    "anything is done to them."
)
right_.mistake("one_for_each_query", {"correction": "dim=-1, correction"}, shows=("one set", "over a whole")).says(
    "One number for each query: the standard deviation was taken along the last dimension only. All scores "
    "count together, and the result has shape ()."
)
right_.mistake("mean_over_queries", {"(correction=0)": "(dim=-1, correction=0).mean()"}, shows="one set").says(
    "This is the mean of the queries' own spreads. What sets the queries apart from one another is lost that "
    "way: take the standard deviation over all scores at once."
)
right_.mistake("one_for_each_batch_element", {"correction": "dim=(-2, -1), correction"}, shows="over a whole").says(
    "One number for each batch element: all scores of the whole batch count together."
)
right_.mistake(
    "mean_over_the_batch", {"(correction=0)": "(dim=(-2, -1), correction=0).mean()"}, shows="over a whole"
).says(
    "This is the mean of the batch elements' own spreads. What sets the elements apart from one another is "
    "lost that way: take the standard deviation over all scores at once."
)
right.mistake("across_the_batch", shows="over a whole").patch("""
- scores = query @ key.transpose(-2, -1)
+ scores = query.reshape(-1, query.shape[-1]) @ key.reshape(-1, key.shape[-1]).T
""").says(
    "Queries meet the keys of *other* batch elements here: when the batch is flattened into one long list, "
    "every query is dotted with every key of all of it."
)
right_.mistake("turns_all_dimensions", shows="over a whole").patch("""
- return (query @ key.transpose(-2, -1)).std(correction=0)
+ return (query @ key.permute(*reversed(range(key.ndim)))).std(correction=0)
""").says("`.T` turns all dimensions around, the batch as well. Only the last two may change places.")
right_.mistake("about_zero", {"std(correction=0)": "square().mean().sqrt()"}, shows=("one set", "where")).says(
    "The mean of the scores was not taken off: this is how far they lie from 0, on average, and not from "
    "their own mean.",
    see="Your first instrument",
)
right.mistake(
    "absolute_deviation", {"scores.std(correction=0)": "(scores - scores.mean()).abs().mean()"}, shows="one set"
).says(
    "This is the mean *absolute* deviation. The standard deviation squares the deviations, takes their mean, "
    "and then the root.",
    see="Your first instrument",
)
score_std.mistake("expected_rather_than_measured", shows=("one set", "gradients")).whole("""
def score_std(query, key):
    return query.std(correction=0) * key.std(correction=0) * query.shape[-1] ** 0.5
""").says(
    "The scores were *expected* to spread like this, if queries and keys were independent random numbers. "
    "Measure those at hand.",
    see="5. Where the square root comes from",
)
right_.mistake("plain_number", {"0)": "0).item()"}, shows=("one set", "gradients")).says(
    "A number of Python's, not a tensor: `.item()` and `float()` leave the tensors behind, and the gradient with them."
)
right_.mistake("without_gradient", {".std": ".detach().std"}, shows="gradients").says(
    "No gradient comes back: the scores were detached, or made where gradients are off."
)
right_.mistake("of_the_weights", shows=("one set", "over a whole")).patch("""
- return (query @ key.transpose(-2, -1)).std(correction=0)
+ return torch.softmax(query @ key.transpose(-2, -1), dim=-1).std(correction=0)
""").says("The weights' spread, not the scores': there is no softmax in this exercise.")
