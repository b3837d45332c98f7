"""Known mistakes in `simple_attention`."""

from ...shared.families import arguments, gradients, numbers, results, scores, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import simple_attention

with_matrices = simple_attention.alternative("with_matrices")

columns_and_back = simple_attention.alternative("columns_and_back")

with_matrices.mistake("normalises_over_the_listeners", {"dim=-1": "dim=-2"}, loses="one sentence").feedback(
    "Your softmax runs over the words that attend, so each *column* of the weights sums to 1. A row belongs to one "
    "word that attends, and its weights, over all words, must sum to 1. Check `dim`."
)
with_matrices.mistake(shapes.dimensions_from_the_front, {"dim=-1": "dim=1"}, loses="batches")
with_matrices.mistake("softmax_along_dimension_0", {"dim=-1": "dim=0"}, loses=("one sentence", "batches")).feedback(
    "Your softmax runs along the first dimension. In one sentence that is over the words that attend, and in a "
    "batch over the sentences. The weights of one word are along the last dimension."
)
with_matrices.mistake("normalises_over_everything", loses="one sentence").patch("""
- weights = torch.softmax(x @ x.mT, dim=-1)
+ scores = x @ x.mT
+ weights = torch.softmax(scores.flatten(-2), dim=-1).view_as(scores)
""").feedback(
    "Your weights are one distribution over all pairs, so everything together sums to 1. Each row must sum to 1."
)
columns_and_back.mistake(scores.softmax_missing, loses="one sentence").patch("""
- by_column = nn.Softmax(dim=-2)(x @ x.mT)  # scores are symmetric, so columns are the rows' weights
- return [(x.mT @ by_column).mT, by_column.mT]
+ scores = x @ x.mT  # scores are symmetric, so columns are the rows' weights
+ return scores @ x, scores
""")
with_matrices.mistake("divides_by_the_sum_of_the_scores", loses="one sentence").patch("""
- weights = torch.softmax(x @ x.mT, dim=-1)
+ scores = x @ x.mT
+ weights = scores / scores.sum(-1, keepdim=True)
""").feedback(
    "You divide each row by its sum, which is not a softmax. The rows sum to 1, but you have to take the "
    "exponential first."
)
columns_and_back.mistake("averages_with_the_scores", loses="one sentence").patch("""
- by_column = nn.Softmax(dim=-2)(x @ x.mT)  # scores are symmetric, so columns are the rows' weights
- return [(x.mT @ by_column).mT, by_column.mT]
+ scores = x @ x.mT  # scores are symmetric, so columns are the rows' weights
+ return scores @ x, torch.softmax(scores, dim=-1)
""").feedback("You average the words with the scores instead of the weights. Your weights are right.")
with_matrices.mistake(
    "divides_by_the_root_of_the_width", {"x @ x.mT": "x @ x.mT / x.shape[-1] ** 0.5"}, loses="one sentence"
).feedback("You divide the scores by √D, so the weights are flatter than they should be. Scaling comes in lesson 4.")
with_matrices.mistake(
    results.weights_first(what="context"), {"weights @ x, weights": "weights, weights @ x"}, loses="one sentence"
)
simple_attention.mistake(results.output_alone(what="context"), loses="one sentence").full_code("""
def simple_attention(x):
    return torch.softmax(x @ x.mT, dim=-1) @ x
""")
with_matrices.mistake("averages_by_columns", {"weights @ x": "weights.mT @ x"}, loses="one sentence").feedback(
    "You use the columns of the weights for the context. The weights are right, but context i needs row i."
)
simple_attention.mistake("mixes_the_sentences", loses="batches").full_code("""
def simple_attention(x):
    words = x.reshape(-1, x.shape[-1])
    weights = torch.softmax(words @ words.mT, dim=-1)
    return (weights @ words).view_as(x), weights
""").feedback("You join the sentences of a batch, so words attend to words of other sentences.")
with_matrices.mistake("transposes_the_first_two_dimensions", {"x.mT": "x.transpose(0, 1)"}, loses="batches").feedback(
    "Your function takes one sentence only. In a batch only the *last two* dimensions are swapped: `x.mT`."
)
with_matrices.mistake(
    "takes_three_dimensions_only",
    {"x @ x.mT": "torch.bmm(x, x.transpose(1, 2))", "weights @ x": "torch.bmm(weights, x)"},
    loses="one sentence",
).feedback("Your function takes a batch of sentences only, and fails for a single one. Count dimensions from the end.")
with_matrices.mistake(numbers.exponentials_overflow, loses="large").patch("""
- weights = torch.softmax(x @ x.mT, dim=-1)
+ e = torch.exp(x @ x.mT)
+ weights = e / e.sum(-1, keepdim=True)
""")
with_matrices.mistake("does_not_hear_itself", loses="one sentence").patch("""
- weights = torch.softmax(x @ x.mT, dim=-1)
+ scores = x @ x.mT
+ itself = torch.eye(x.shape[-2], dtype=torch.bool)
+ weights = torch.nan_to_num(torch.softmax(scores.masked_fill(itself, -torch.inf), dim=-1))
""").feedback("You exclude each word from its own context. Here each word attends to itself, too.")
with_matrices.mistake("compares_by_cosine", loses="one sentence").patch("""
- weights = torch.softmax(x @ x.mT, dim=-1)
+ unit = F.normalize(x, dim=-1)
+ weights = torch.softmax(unit @ unit.mT, dim=-1)
""").feedback(
    "You normalise the words to length 1 first, so your scores are cosines. Use the dot products of the words as "
    "they are."
)
with_matrices.mistake(
    gradients.weights_detached("detaches_the_weights", use="use"), {"dim=-1)": "dim=-1).detach()"}, loses="gradients"
)
with_matrices.mistake("adds_the_word_itself", {"weights @ x": "x + weights @ x"}, loses="one sentence").feedback(
    "You *add* the context to the word. That comes later, around attention; here return the context alone."
)
with_matrices.mistake(numbers.result_float32(of="`x`"), loses="float64")
with_matrices.mistake(arguments.argument_changed(what="`x`"), loses="its argument").patch("""
- return weights @ x, weights
+ context = weights @ x
+ x.data.copy_(context)
+ return context, weights
""")
with_matrices.mistake(
    shapes.all_dimensions_reversed(what="x"), {"x.mT": "x.permute(*reversed(range(x.ndim)))"}, loses="batches"
)
columns_and_back.mistake(results.scores_for_weights(what="context"), loses="one sentence").patch("""
- by_column = nn.Softmax(dim=-2)(x @ x.mT)  # scores are symmetric, so columns are the rows' weights
- return [(x.mT @ by_column).mT, by_column.mT]
+ scores = x @ x.mT  # scores are symmetric, so columns are the rows' weights
+ return torch.softmax(scores, dim=-1) @ x, scores
""")
with_matrices.mistake("returns_the_weights_transposed", {"x, weights": "x, weights.mT"}, loses="one sentence").feedback(
    "You return the weights transposed. The context is right, but each word's weights are a *row* that sums to 1."
)
simple_attention.mistake("lets_the_built_in_scale", loses="one sentence").full_code("""
def simple_attention(x):
    return F.scaled_dot_product_attention(x, x, x), torch.softmax(x @ x.mT, dim=-1)
""").feedback(
    "You compute the context with weights other than those you return. The built-in attention divides the scores "
    "by the root of K by default. The weights you return are right."
)
with_matrices.mistake(
    "compares_dimensions", {"x @ x.mT": "x.mT @ x", "weights @ x": "x @ weights"}, loses="one sentence"
).feedback(
    "You compare the dimensions of `x` with each other instead of words, so the weights have shape (D, D). Which "
    "of the two has to be transposed?"
)
with_matrices.mistake("hears_earlier_words_only", loses="one sentence").patch("""
- weights = torch.softmax(x @ x.mT, dim=-1)
+ scores = x @ x.mT
+ later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
+ weights = torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1)
""").feedback(
    "You let each word attend only to itself and to earlier words. A causal mask comes in lesson 5; here each "
    "word attends to all words."
)
with_matrices.mistake(numbers.one_maximum_for_all, loses="large").patch("""
- weights = torch.softmax(x @ x.mT, dim=-1)
+ scores = x @ x.mT
+ powers = torch.exp(scores - scores.max())
+ weights = powers / powers.sum(-1, keepdim=True)
""")
with_matrices.mistake(
    shapes.squeezed, {"weights @ x, weights": "(weights @ x).squeeze(), weights.squeeze()"}, loses="batches"
)
with_matrices.mistake(
    gradients.weights_detached("averages_with_detached_weights", use="average with"),
    {"weights @ x": "weights.detach() @ x"},
    loses="gradients",
)
with_matrices.mistake(
    gradients.weights_detached("hands_out_detached_weights"), {"x, weights": "x, weights.detach()"}, loses="gradients"
)
with_matrices.mistake(
    gradients.cut(what="`x`"), {"simple_attention(x):": "simple_attention(x):\n    x = x.detach()"}, loses="gradients"
)
with_matrices.mistake(gradients.cut("averages_detached_words"), {"x,": "x.detach(),"}, loses="gradients").feedback(
    "You detach the words that are averaged, so part of the gradient is missing. Each word has three uses: it "
    "attends, it is compared with, and it is averaged. Gradients reach `x` through all three."
)
with_matrices.mistake(
    gradients.cut("compares_with_detached_words"), {"x.mT": "x.detach().mT"}, loses="gradients"
).feedback(
    "You detach the words that are compared with, so part of the gradient is missing. Each word has three uses: it "
    "attends, it is compared with, and it is averaged. Gradients reach `x` through all three."
)
with_matrices.mistake(numbers.result_float64(of="`x`"), loses="float64")
with_matrices.mistake(numbers.computed_in_float32(what="the weights"), loses="float64")
simple_attention.mistake(shapes.view_of_strided, loses="its argument").full_code("""
def simple_attention(x):
    words = x.view(-1, *x.shape[-2:])
    weights = torch.softmax(words @ words.mT, dim=-1)
    return (weights @ words).view(x.shape), weights.view(*x.shape[:-1], x.shape[-2])
""")
with_matrices.mistake("does_not_transpose", {"x.mT": "x"}, loses="one sentence").feedback(
    "You multiply `x` by itself without transposing it. `x @ x` takes dot products of words with *columns*, but "
    "the words are rows. Swap the last two dimensions of the right `x` first."
)
with_matrices.mistake(scores.softmax_without_dim, {"dim=-1": "dim=0 if x.ndim == 3 else 1"}, loses="batches")
with_matrices.mistake(scores.softmax_twice, {"x @ x.mT": "torch.softmax(x @ x.mT, dim=-1)"}, loses="one sentence")
with_matrices.mistake(gradients.overwritten_before_backward, loses="gradients").patch("""
- weights = torch.softmax(x @ x.mT, dim=-1)
+ scores = x @ x.mT
+ weights = torch.exp(scores - scores.amax(-1, keepdim=True))
+ weights /= weights.sum(-1, keepdim=True)
""")
with_matrices.mistake(gradients.infinite_exponential, loses="gradients").patch("""
- weights = torch.softmax(x @ x.mT, dim=-1)
+ scores = x @ x.mT
+ weights = 1 / torch.exp(scores.unsqueeze(-2) - scores.unsqueeze(-1)).sum(-1)
""")
with_matrices.mistake(
    "gives_each_score_a_sigmoid", {"softmax": "sigmoid", "mT, dim=-1": "mT"}, loses="one sentence"
).feedback(
    "You use a sigmoid, which gives each score its own number, and these do not sum to 1. The weights are shares: "
    "use softmax."
)
keeps_its_last_result(with_matrices, loses="one sentence")
with_matrices.mistake(
    shapes.reshaped_keys(what="words"), {"mT, dim": "VIEW(*x.shape[:-2], *x.shape[:-3:-1]), dim"}, loses="one sentence"
).for_each(VIEW=("reshape", "view"))
with_matrices.mistake(
    "divides_by_the_root_of_the_number_of_words", {"x @ x.mT": "x @ x.mT / x.shape[-2] ** 0.5"}, loses="one sentence"
).feedback("You divide the scores by the root of the number of words. Here they are not scaled at all.")
