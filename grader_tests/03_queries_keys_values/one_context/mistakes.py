"""Known mistakes in `one_context`."""

from .contract import one_context

right = one_context.alternative("with_matrices")

right.mistake("averages_with_the_scores", {"return weights @": "return scores @"}).feedback(
    "You average the words with the scores. Turn the scores into weights first, with softmax."
)
right.mistake("returns_the_weights", {"return weights @ x": "return weights"}).feedback(
    "You return the weights. The context vector is the average of the words with these weights."
)
right.mistake("returns_the_scores", {"return weights @ x": "return scores"}).feedback(
    "You return the scores. Softmax makes weights of them, and the context vector is the average with these weights."
)
right.mistake("adds_without_weights", {"return weights @ x": "return x.sum(dim=0)"}).feedback(
    "You add up the words without their weights. Multiply each word by its weight first."
)
right.mistake("averages_evenly", {"return weights @ x": "return x.mean(dim=0)"}).feedback(
    "You give every word the same weight. Multiply each word by its own weight, and add up."
)
right.mistake("weights_only_the_word_itself", {"return weights @ x": "return weights[i] * x[i]"}).feedback(
    "You multiply one word by one weight. All words of the sentence take part: add up every word times its weight."
)
right.mistake("returns_the_weighted_words", {"return weights @ x": "return weights[:, None] * x"}).feedback(
    "You return every word times its weight, of shape (T, D). Add these rows up."
)
right.mistake("divides_by_the_sum_of_the_scores", {"torch.softmax(scores, dim=0)": "scores / scores.sum()"}).feedback(
    "You divide the scores by their sum, which is not a softmax. Take the exponential first."
)
right.mistake("counts_positions_from_one", {"x[i]": "x[i - 1]"}).feedback(
    "You take the word before the one that was asked for. Positions count from 0, so word `i` is `x[i]`."
)
right.mistake("scores_the_words_before_it", {"scores = x @ x[i]": "x = x[: i + 1]\n    scores = x @ x[i]"}).feedback(
    "You leave out the words after position `i`. Here a word is compared with all words of the sentence."
)
right.mistake("leaves_the_word_itself_out", loses="every position").patch("""
- scores = x @ x[i]
+ scores = x @ x[i]
+ if len(x) > 1:
+     scores = scores.masked_fill(torch.arange(len(x)) == i, -torch.inf)
""").feedback("You leave the word itself out. It takes part in its own average, like all the others.")
