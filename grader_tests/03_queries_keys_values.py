"""Lesson 03: embeddings, attention without and with projections, and queries made to order."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from grading.judge.exercise import SUBJECT, Script, call, exercise, method, non_contiguous

# ---------------------------------------------------------------------------------------------------------------------
# embed

embed = exercise("embed", points=3, see="From words to vectors")
embed.hints = (
    "What does a table do with one id, say 2? And what should it do with ten ids in a row?",
    "A tensor can be indexed by a whole tensor of integers. Which dimension of the table do the ids count along, and "
    "what shape has the result?",
    "One expression is enough: the table, indexed by the ids. It takes ids of any shape, and it keeps the road open "
    "on which gradients come back. A new `nn.Embedding` made from the table would close it.",
)


@embed.oracle
def embed_oracle(token_ids, table):
    rows = torch.index_select(table, 0, token_ids.reshape(-1))
    return rows.reshape(*token_ids.shape, table.shape[1])


@embed.example("the example for paper")
def _():
    table = torch.tensor([[0.0, 1.0], [10.0, 11.0], [20.0, 21.0]])
    yield call(torch.tensor([2, 0, 2]), table).unchanged()


@embed.example("two sentences of two words")
def _():
    yield call(torch.tensor([[0, 3], [1, 1]]), torch.tensor([[0.5], [1.5], [-2.5], [3.5]]))


@embed.example("gradients, where a token repeats")
def _():
    yield call(torch.tensor([1, 1, 0]), torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).with_gradients()


@embed.criterion("the rows that the ids name", points=0.5)
def _(draw):
    yield call(torch.tensor([6, 0, 2, 2, 5]), draw.normal(7, 3))
    yield call(draw.integers(0, 4, 9), draw.normal(4, 6))
    yield call(torch.tensor([0]), draw.normal(1, 5))


@embed.criterion("ids of any shape", points=0.5)
def _(draw):
    yield call(draw.integers(0, 7, 2, 5), draw.normal(7, 3))
    yield call(draw.integers(0, 11, 2, 3, 4), draw.normal(11, 5))
    yield call(torch.tensor(3), draw.normal(6, 4))
    yield call(draw.integers(0, 6, 1, 4), draw.normal(6, 1))
    yield call(draw.integers(0, 6, 3, 1), draw.normal(6, 2))
    yield call(non_contiguous(draw.integers(0, 9, 4, 3)), draw.normal(9, 5))
    # The same ids a second time, and another table
    s = Script(token_ids=draw.integers(0, 7, 2, 5), table=draw.normal(7, 3), other=draw.normal(7, 3))
    s.call(SUBJECT, s.token_ids, s.table)
    s.call(SUBJECT, s.token_ids, s.other)
    yield s.case()


@embed.criterion("gradients reach the rows, and add up", points=1)
def _(draw):
    yield call(draw.permutation(8)[:5], draw.normal(8, 3)).with_gradients()
    yield call(torch.tensor([[4, 0, 4], [1, 4, 0]]), draw.normal(5, 6)).with_gradients()


@embed.criterion("float64 and tables that are not contiguous", points=0.5)
def _(draw):
    yield call(draw.integers(0, 7, 5), draw.normal(7, 3, dtype=torch.float64)).with_gradients()
    yield call(draw.integers(0, 7, 2, 4), non_contiguous(draw.normal(7, 5)))
    yield call(draw.integers(0, 9, 6), draw.normal(9, 4, scale=1e15))
    # A look-up hands numbers over as they are: what float32 would round away is still there
    yield call(draw.integers(0, 7, 2, 5), draw.normal(7, 3, dtype=torch.float64)).within(1e-12, 1e-12)


@embed.criterion("arguments are left alone", points=0.5)
def _(draw):
    yield call(draw.integers(0, 7, 2, 5), draw.normal(7, 3)).unchanged()
    yield call(torch.tensor([6, 0, 3]), draw.normal(7, 4, scale=30.0)).unchanged()


@embed.mistake(
    "These are *columns* of the table. A token's vector is a row: the ids count along the first dimension.",
    shows="the rows that the ids name",
)
def takes_columns(token_ids, table):
    return table[:, token_ids]


@embed.mistake(
    "Every vector is its neighbour's: the ids are counted from 1. Token 0 has row 0.",
    shows="the rows that the ids name",
)
def counts_from_one(token_ids, table):
    return table[token_ids - 1]


@embed.mistake(
    "The vectors are right, and no gradient comes back to the table: `nn.Embedding.from_pretrained` freezes it, and "
    "detaching or copying its data cuts it off. Index the table that you were given.",
    shows="gradients reach the rows, and add up",
)
def freezes_the_table(token_ids, table):
    return nn.Embedding.from_pretrained(table)(token_ids)


@embed.mistake(
    "Where a token occurs several times the gradients are *averaged*. They must add up.",
    shows="gradients reach the rows, and add up",
)
def averages_the_gradients(token_ids, table):
    return F.embedding(token_ids, table, scale_grad_by_freq=True)


@embed.mistake(
    "Row 0 gets no gradient, as if token 0 were padding. Here it is a token like any other.",
    shows="gradients reach the rows, and add up",
)
def takes_token_0_for_padding(token_ids, table):
    return F.embedding(token_ids, table, padding_idx=0)


@embed.mistake(
    "Long rows came out shortened, and the table itself was changed: that is what `max_norm` does.",
    shows=("the rows that the ids name", "arguments are left alone"),
)
def shortens_long_rows(token_ids, table):
    return F.embedding(token_ids, table.detach(), max_norm=1.0) + 0 * table[token_ids]


@embed.mistake(
    "Ids of shape (2, 5) came back as ten rows in one list: put the shape of the ids back.", shows="ids of any shape"
)
def forgets_the_shape_of_the_ids(token_ids, table):
    return table[token_ids.flatten()]


@embed.mistake(
    "This works for one list of ids only. Ids may have any shape: two sentences are ids of shape (2, T).",
    shows="ids of any shape",
)
def takes_one_list_only(token_ids, table):
    return torch.stack([table[int(i)] for i in token_ids])


@embed.mistake(
    "The vectors of a sentence were averaged into one. Each id keeps a vector of its own.",
    shows="the rows that the ids name",
)
def averages_the_sentence(token_ids, table):
    return table[token_ids].mean(dim=-2)


@embed.mistake(
    "Every vector has been stretched by √D, as the original transformer does *after* the look-up. Here a look-up is "
    "a look-up.",
    shows="the rows that the ids name",
)
def stretches_by_the_root_of_the_width(token_ids, table):
    return table[token_ids] * table.shape[1] ** 0.5


@embed.mistake(
    "Every vector came out with length 1: rows of the table are handed over as they are.",
    shows="the rows that the ids name",
)
def normalises_the_vectors(token_ids, table):
    return F.normalize(table[token_ids], dim=-1)


@embed.mistake(
    "The result is float32 whatever the table is. Take the dtype of the table.",
    shows="float64 and tables that are not contiguous",
)
def always_float32(token_ids, table):
    return F.one_hot(token_ids, len(table)).float() @ table.float()


@embed.mistake("The ids were changed in place. Work on a new tensor.", shows="arguments are left alone")
def moves_the_ids(token_ids, table):
    found = table[token_ids]
    token_ids += 1
    return found


@embed.mistake(
    "These are not rows of the table that you were given: a new `nn.Embedding` begins with random numbers.",
    shows="the rows that the ids name",
)
def makes_a_new_table(token_ids, table):
    return nn.Embedding(*table.shape)(token_ids)


@embed.mistake(
    "The result is float64 whatever the table is. Take the dtype of the table.", shows="the rows that the ids name"
)
def always_float64(token_ids, table):
    return table.double()[token_ids]


@embed.mistake(
    "The result has the right dtype, but on the way it was float32, which keeps seven digits. A look-up hands the "
    "numbers over as they are.",
    shows="float64 and tables that are not contiguous",
)
def passes_through_float32(token_ids, table):
    return table.float()[token_ids].to(table.dtype)


@embed.mistake(
    "`view` stops where the numbers lie in another order in memory, as after a `transpose`. `reshape` copies them "
    "where it must, and indexing needs neither.",
    shows="ids of any shape",
)
def views_ids_that_are_not_contiguous(token_ids, table):
    return table[token_ids.view(-1)].view(*token_ids.shape, -1)


@embed.mistake(
    "`index_select` takes one list of ids only. Indexing the table, `F.embedding`, or a `reshape` before and after "
    "takes ids of any shape.",
    shows="ids of any shape",
)
def selects_by_one_list_only(token_ids, table):
    return torch.index_select(table, 0, token_ids)


@embed.mistake(
    "The vectors stand in columns: the last two dimensions are swapped. D comes last.",
    shows="the rows that the ids name",
)
def puts_vectors_into_columns(token_ids, table):
    return table[token_ids].mT if token_ids.ndim else table[token_ids]


@embed.mistake(
    "These are the vectors of the *places* 0, 1, 2, … Look up the ids themselves.", shows="the rows that the ids name"
)
def looks_places_up(token_ids, table):
    return table[torch.arange(token_ids.shape[-1]).expand(token_ids.shape)] if token_ids.ndim else table[token_ids]


@embed.mistake(
    "`one_hot` gives integers, and PyTorch multiplies no matrix of integers by one of floating-point numbers: bring "
    "it to the dtype of the table first. Or index the table.",
    shows="the rows that the ids name",
)
def multiplies_integers_by_the_table(token_ids, table):
    return F.one_hot(token_ids, len(table)) @ table


@embed.mistake(
    "The vectors of a sentence were added up into one, as `embedding_bag` does. Each id keeps a vector of its own.",
    shows="the rows that the ids name",
)
def adds_up_the_sentence(token_ids, table):
    return table[token_ids].sum(dim=-2)


@embed.mistake(
    "`one_hot` counts the classes in the ids themselves unless it is told how many there are, and the largest id "
    "need not occur. There are as many as the table has rows.",
    shows="ids of any shape",
)
def counts_the_classes_in_the_ids(token_ids, table):
    return F.one_hot(token_ids).to(table.dtype) @ table


@embed.mistake(
    "A float64 table fails, because it is multiplied by a float32 tensor: bring that one to the dtype of the table.",
    shows="float64 and tables that are not contiguous",
)
def multiplies_by_float32(token_ids, table):
    return F.one_hot(token_ids, len(table)).float() @ table


@embed.alternative
def indexed(token_ids, table):
    return table[token_ids]


@embed.alternative
def by_the_built_in(token_ids, table):
    return F.embedding(token_ids, table)


@embed.alternative
def one_hot_times_table(token_ids, table):
    return F.one_hot(token_ids, num_classes=len(table)).to(table.dtype) @ table


@embed.alternative
def by_comparing_with_every_id(token_ids, table):
    return torch.einsum("...n,nd->...d", (token_ids[..., None] == torch.arange(len(table))).to(table), table)


@embed.alternative
def gathered(token_ids, table):
    places = token_ids.reshape(-1, 1).expand(-1, table.shape[1])
    return table.gather(0, places).view(*token_ids.shape, -1)


@embed.alternative
def by_recursion(token_ids, table):
    if token_ids.ndim == 0:
        return table[token_ids.item()]
    return torch.stack([by_recursion(part, table) for part in token_ids])


@embed.alternative
def a_layer_called_with_this_table(token_ids, table):
    layer = nn.Embedding(*table.shape)
    return torch.func.functional_call(layer, {"weight": table}, (token_ids,))


@embed.alternative
def copied_into_a_fresh_tensor(token_ids, table):
    result = table.new_empty(token_ids.numel(), table.size(1))
    for place, i in enumerate(token_ids.flatten().tolist()):
        result[place] = table[i]
    return result.reshape(token_ids.shape + table.shape[1:])


# ---------------------------------------------------------------------------------------------------------------------
# simple_attention

simple_attention = exercise("simple_attention", points=4, see="One word listens to all the others")
simple_attention.hints = (
    "The loop made one row of scores: one word dotted with every word. Which product of matrices makes all rows at "
    "once? Write down its shape.",
    "Two products and a softmax between them. The second product replaces the loop that added up `weight * other`. "
    "Along which dimension must the weights sum to 1?",
    "`scores = x @ (x with its last two dimensions exchanged)`, `weights = softmax of scores along the last "
    "dimension`, `context = weights @ ...`. `x.mT` exchanges the last two dimensions, of a batch too; `x.T` does not. "
    "Return the context first.",
)


@simple_attention.oracle
def simple_attention_oracle(x):
    scores = torch.einsum("...td,...sd->...ts", x, x)
    weights = torch.softmax(scores, -1)
    return torch.einsum("...ts,...sd->...td", weights, x), weights


@simple_attention.example("the example for paper")
def _():
    yield call(torch.tensor([[1.0, 0.0], [0.0, 1.0]])).unchanged()


@simple_attention.example("three words of two numbers, and the gradient")
def _():
    yield call(torch.tensor([[1.0, 0.5], [-1.0, 2.0], [0.0, -1.0]])).with_gradients()


@simple_attention.example("two sentences at once")
def _():
    yield call(torch.tensor([[[1.0], [2.0], [0.0]], [[-1.0], [0.5], [0.0]]]))


@simple_attention.criterion("one sentence", points=1)
def _(draw):
    yield call(draw.normal(6, 3))
    yield call(draw.normal(3, 7))
    yield call(draw.normal(2, 2))


@simple_attention.criterion("batches, and sentences of one word", points=1)
def _(draw):
    yield call(draw.normal(2, 5, 3))
    yield call(draw.normal(5, 3, 4))
    yield call(draw.normal(2, 3, 6, 4))
    yield call(draw.normal(3, 1, 4))
    yield call(draw.normal(1, 4, 2))
    yield call(draw.normal(1, 5))


@simple_attention.criterion("large scores", points=0.5)
def _(draw):
    yield call(draw.normal(5, 3, scale=20.0))
    # Words of very different lengths: the rows' maxima lie hundreds apart
    yield call(draw.normal(2, 6, 4) * torch.tensor([0.1, 40.0, 1.0, 15.0, 5.0, 0.0])[:, None])
    # A word's own score is far from its largest
    yield call(draw.uniform(4, 3, low=0.5, high=1.5) * torch.tensor([1.0, 300.0, 20.0, 5.0])[:, None])


@simple_attention.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(5, 3)).with_gradients()
    yield call(draw.normal(2, 4, 6)).with_gradients()


@simple_attention.criterion("float64 and tensors that are not contiguous", points=0.5)
def _(draw):
    yield call(draw.normal(2, 5, 3, dtype=torch.float64)).with_gradients()
    yield call(non_contiguous(draw.normal(6, 4)))
    yield call(non_contiguous(draw.normal(3, 2, 5)))
    # Leading dimensions that lie in another order in memory, which `view` cannot merge
    yield call(draw.normal(3, 2, 4, 5).transpose(0, 1))
    # What float32 would round away
    yield call(draw.normal(4, 3, dtype=torch.float64)).within(1e-10, 1e-11)


@simple_attention.criterion("its argument is left alone", points=0.5)
def _(draw):
    yield call(draw.normal(4, 3)).unchanged()
    yield call(draw.normal(2, 5, 3)).unchanged()


@simple_attention.mistake(
    "Each *column* of the weights sums to 1. A row belongs to the word that listens: its weights, over all words it "
    "listens to, must sum to 1. Look at `dim`.",
    shows="one sentence",
)
def normalises_over_the_listeners(x):
    weights = torch.softmax(x @ x.mT, dim=-2)
    return weights @ x, weights


@simple_attention.mistake(
    "For one sentence this is right. In a batch the softmax runs along the wrong dimension: count dimensions from "
    "the end, where a batch adds none.",
    shows="batches, and sentences of one word",
)
def counts_dimensions_from_the_front(x):
    weights = torch.softmax(x @ x.mT, dim=1)
    return weights @ x, weights


@simple_attention.mistake(
    "The weights are one distribution over all pairs: everything together sums to 1. Every row needs a sum of 1.",
    shows="one sentence",
)
def normalises_over_everything(x):
    scores = x @ x.mT
    weights = torch.softmax(scores.flatten(-2), dim=-1).view_as(scores)
    return weights @ x, weights


@simple_attention.mistake(
    "These are scores, not weights: the softmax is missing. Weights are positive, and each row sums to 1.",
    shows="one sentence",
)
def leaves_out_the_softmax(x):
    scores = x @ x.mT
    return scores @ x, scores


@simple_attention.mistake(
    "Each row was divided by its sum. It sums to 1 and is no softmax: take the exponential first.", shows="one sentence"
)
def divides_by_the_sum_of_the_scores(x):
    scores = x @ x.mT
    weights = scores / scores.sum(-1, keepdim=True)
    return weights @ x, weights


@simple_attention.mistake(
    "The weights are right. The context was made with the scores: average with the weights.", shows="one sentence"
)
def averages_with_the_scores(x):
    scores = x @ x.mT
    return scores @ x, torch.softmax(scores, dim=-1)


@simple_attention.mistake(
    "The weights are flatter than they should be: the scores were divided by √D. That comes in lesson 4.",
    shows="one sentence",
)
def divides_by_the_root_of_the_width(x):
    weights = torch.softmax(x @ x.mT / x.shape[-1] ** 0.5, dim=-1)
    return weights @ x, weights


@simple_attention.mistake("The two results are in the wrong order: context first, then weights.", shows="one sentence")
def returns_the_weights_first(x):
    weights = torch.softmax(x @ x.mT, dim=-1)
    return weights, weights @ x


@simple_attention.mistake(
    "Only the context is returned. The weights are asked for too: `return context, weights`.", shows="one sentence"
)
def returns_the_context_only(x):
    return torch.softmax(x @ x.mT, dim=-1) @ x


@simple_attention.mistake(
    "The weights are right, and the context used them by columns. Row i of the weights makes context i.",
    shows="one sentence",
)
def averages_by_columns(x):
    weights = torch.softmax(x @ x.mT, dim=-1)
    return weights.mT @ x, weights


@simple_attention.mistake(
    "Words listen to words of other sentences of the batch: the sentences were laid end to end.",
    shows="batches, and sentences of one word",
)
def mixes_the_sentences(x):
    words = x.reshape(-1, x.shape[-1])
    weights = torch.softmax(words @ words.mT, dim=-1)
    return (weights @ words).view_as(x), weights


@simple_attention.mistake(
    "This takes one sentence only. In a batch only the *last two* dimensions change places: `x.mT`.",
    shows="batches, and sentences of one word",
)
def transposes_the_first_two_dimensions(x):
    weights = torch.softmax(x @ x.transpose(0, 1), dim=-1)
    return weights @ x, weights


@simple_attention.mistake(
    "This takes a batch of sentences only, and fails for a single one. Count dimensions from the end.",
    shows="one sentence",
)
def takes_three_dimensions_only(x):
    weights = torch.softmax(torch.bmm(x, x.transpose(1, 2)), dim=-1)
    return torch.bmm(weights, x), weights


@simple_attention.mistake(
    "NaN, where scores are large: `exp` overflowed. Lesson 2 subtracted the maximum first, and `torch.softmax` does.",
    shows="large scores",
)
def overflows(x):
    e = torch.exp(x @ x.mT)
    weights = e / e.sum(-1, keepdim=True)
    return weights @ x, weights


@simple_attention.mistake("A word gives itself no weight. Here each word listens to itself, too.", shows="one sentence")
def does_not_hear_itself(x):
    scores = x @ x.mT
    itself = torch.eye(x.shape[-2], dtype=torch.bool)
    weights = torch.nan_to_num(torch.softmax(scores.masked_fill(itself, -torch.inf), dim=-1))
    return weights @ x, weights


@simple_attention.mistake(
    "The scores are cosines: the words were brought to length 1 first. Use the dot products of the words as they are.",
    shows="one sentence",
)
def compares_by_cosine(x):
    unit = F.normalize(x, dim=-1)
    weights = torch.softmax(unit @ unit.mT, dim=-1)
    return weights @ x, weights


@simple_attention.mistake(
    "The numbers are right, and the weights were cut off from the gradient (`detach`, `.data`, `no_grad`): a model "
    "made of this could not learn where to look.",
    shows="gradients",
)
def detaches_the_weights(x):
    weights = torch.softmax(x @ x.mT, dim=-1).detach()
    return weights @ x, weights


@simple_attention.mistake(
    "The context is *added* to the word. That comes later, around attention; here the context alone is asked for.",
    shows="one sentence",
)
def adds_the_word_itself(x):
    weights = torch.softmax(x @ x.mT, dim=-1)
    return x + weights @ x, weights


@simple_attention.mistake(
    "The result is float32 whatever comes in: a tensor of the default dtype was filled. Take the dtype of `x`.",
    shows="float64 and tensors that are not contiguous",
)
def always_float32_weights(x):
    weights = torch.softmax((x @ x.mT).float(), dim=-1)
    return weights @ x.float(), weights


@simple_attention.mistake("`x` itself was changed in place. Work on a new tensor.", shows="its argument is left alone")
def writes_into_x(x):
    weights = torch.softmax(x @ x.mT, dim=-1)
    context = weights @ x
    x.data.copy_(context)
    return context, weights


@simple_attention.mistake(
    "`x.T` turns *all* dimensions over, the batch included. Swap only the last two.",
    shows="batches, and sentences of one word",
)
def turns_all_dimensions_over(x):
    weights = torch.softmax(x @ x.permute(*reversed(range(x.ndim))), dim=-1)
    return weights @ x, weights


@simple_attention.mistake(
    "The context is right, and in the place of the weights stand the scores: return them after the softmax.",
    shows="one sentence",
)
def returns_scores_for_weights(x):
    scores = x @ x.mT
    return torch.softmax(scores, dim=-1) @ x, scores


@simple_attention.mistake(
    "The context is right, and the weights are returned transposed. Each word's weights are a *row* that sums to 1.",
    shows="one sentence",
)
def returns_the_weights_transposed(x):
    weights = torch.softmax(x @ x.mT, dim=-1)
    return weights @ x, weights.mT


@simple_attention.mistake(
    "The weights are right, and the context was made with others: the built-in attention divides the scores by the "
    "root of K unless told otherwise.",
    shows="one sentence",
)
def lets_the_built_in_scale(x):
    return F.scaled_dot_product_attention(x, x, x), torch.softmax(x @ x.mT, dim=-1)


@simple_attention.mistake(
    "Dimensions of x are compared with each other, not words: the weights have the shape (D, D). Which of the two "
    "has to be transposed?",
    shows="one sentence",
)
def compares_dimensions(x):
    weights = torch.softmax(x.mT @ x, dim=-1)
    return x @ weights, weights


@simple_attention.mistake(
    "Each word listens to itself and to earlier words only. A causal mask comes in lesson 05; here all words are "
    "heard.",
    shows="one sentence",
)
def hears_earlier_words_only(x):
    scores = x @ x.mT
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    weights = torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1)
    return weights @ x, weights


@simple_attention.mistake(
    "One maximum for the whole tensor was subtracted. Where another row lies far below it all exponentials become 0: "
    "each row needs its own.",
    shows="large scores",
)
def subtracts_one_maximum_for_all(x):
    scores = x @ x.mT
    powers = torch.exp(scores - scores.max())
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ x, weights


@simple_attention.mistake(
    "`squeeze` removes every dimension of size 1, also that of a sentence of one word or of a batch of one.",
    shows="batches, and sentences of one word",
)
def squeezes_both(x):
    weights = torch.softmax(x @ x.mT, dim=-1)
    return (weights @ x).squeeze(), weights.squeeze()


@simple_attention.mistake(
    "The numbers are right, and the context was made with weights that were cut off from the gradient (`detach`, "
    "`.data`): a model made of this could not learn where to look.",
    shows="gradients",
)
def averages_with_detached_weights(x):
    weights = torch.softmax(x @ x.mT, dim=-1)
    return weights.detach() @ x, weights


@simple_attention.mistake(
    "The context's gradient is right, and the weights that are returned were detached. They are a result like the "
    "context.",
    shows="gradients",
)
def hands_out_detached_weights(x):
    weights = torch.softmax(x @ x.mT, dim=-1)
    return weights @ x, weights.detach()


@simple_attention.mistake(
    "The numbers are right, and no gradient comes back at all: `no_grad`, `detach` or `.data` cuts it off.",
    shows="gradients",
)
def cuts_every_gradient(x):
    x = x.detach()
    weights = torch.softmax(x @ x.mT, dim=-1)
    return weights @ x, weights


@simple_attention.mistake(
    "Each word plays three parts: it asks, it is compared with, and it is averaged. The words that are averaged were "
    "cut off from the gradient; all three lead back to `x`.",
    shows="gradients",
)
def averages_detached_words(x):
    weights = torch.softmax(x @ x.mT, dim=-1)
    return weights @ x.detach(), weights


@simple_attention.mistake(
    "Each word plays three parts: it asks, it is compared with, and it is averaged. The words that are compared with "
    "were cut off from the gradient; all three lead back to `x`.",
    shows="gradients",
)
def compares_with_detached_words(x):
    weights = torch.softmax(x @ x.detach().mT, dim=-1)
    return weights @ x, weights


@simple_attention.mistake("The results are float64 whatever comes in. Take the dtype of `x`.", shows="one sentence")
def always_float64_weights(x):
    weights = torch.softmax(x.double() @ x.double().mT, dim=-1)
    return weights @ x.double(), weights


@simple_attention.mistake(
    "The results are float32 whatever comes in. Take the dtype of `x`, and do not convert it.",
    shows="float64 and tensors that are not contiguous",
)
def makes_x_float32(x):
    x = x.float()
    weights = torch.softmax(x @ x.mT, dim=-1)
    return weights @ x, weights


@simple_attention.mistake(
    "The results have the right dtype, but the softmax was computed in float32, which keeps seven digits. float64 in "
    "means float64 all the way.",
    shows="float64 and tensors that are not contiguous",
)
def weighs_in_float32_between(x):
    weights = torch.softmax((x @ x.mT).float(), dim=-1).to(x.dtype)
    return weights @ x, weights


@simple_attention.mistake(
    "`view` stops where the numbers lie in another order in memory, as after a `transpose`. `reshape` copies them "
    "where it must.",
    shows="float64 and tensors that are not contiguous",
)
def views_words_that_are_not_contiguous(x):
    words = x.view(-1, *x.shape[-2:])
    weights = torch.softmax(words @ words.mT, dim=-1)
    return (weights @ words).view(x.shape), weights.view(*x.shape[:-1], x.shape[-2])


@simple_attention.mistake(
    "`x @ x` dots words with *columns*. The words lie in rows: the right `x` has to be turned over first, its last two "
    "dimensions swapped.",
    shows="one sentence",
)
def does_not_transpose(x):
    weights = torch.softmax(x @ x, dim=-1)
    return weights @ x, weights


@simple_attention.mistake(
    "The softmax was given no `dim`, and chose one by the number of dimensions: the first for a batch. The weights of "
    "one word lie along the last.",
    shows="batches, and sentences of one word",
)
def lets_softmax_choose(x):
    weights = torch.softmax(x @ x.mT, dim=0 if x.ndim == 3 else 1)
    return weights @ x, weights


@simple_attention.mistake(
    "A sigmoid gives each score a number of its own, and they do not sum to 1. The weights are shares: softmax.",
    shows="one sentence",
)
def gives_each_score_a_sigmoid(x):
    weights = torch.sigmoid(x @ x.mT)
    return weights @ x, weights


@simple_attention.alternative
def with_matrices(x):
    weights = torch.softmax(x @ x.mT, dim=-1)
    return weights @ x, weights


@simple_attention.alternative
def with_loops(x):
    if x.ndim > 2:
        pairs = [with_loops(sentence) for sentence in x]
        return torch.stack([p[0] for p in pairs]), torch.stack([p[1] for p in pairs])
    contexts, rows = [], []
    for word in x:
        row = torch.stack([(word * other).sum() for other in x])
        row = torch.exp(row - row.max())
        row = row / row.sum()
        contexts.append(sum(weight * other for weight, other in zip(row, x, strict=True)))
        rows.append(row)
    return torch.stack(contexts), torch.stack(rows)


@simple_attention.alternative
def by_broadcasting(x):
    scores = (x.unsqueeze(-2) * x.unsqueeze(-3)).sum(-1)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return (weights.unsqueeze(-1) * x.unsqueeze(-3)).sum(-2), weights


@simple_attention.alternative
def by_the_built_in_attention(x):
    def attend(values):
        return F.scaled_dot_product_attention(x, x, values, scale=1.0)

    one_hot = torch.eye(x.shape[-2]).to(x).expand(*x.shape[:-1], x.shape[-2])
    return attend(x), attend(one_hot)


@simple_attention.alternative
def one_word_mapped_over_all(x):
    def one(word, sentence):
        weights = nn.functional.softmax(sentence @ word, dim=0)
        return weights @ sentence, weights

    flat = x.reshape(-1, *x.shape[-2:])
    found = torch.vmap(torch.vmap(one, in_dims=(0, None)))(flat, flat)
    return found[0].reshape(x.shape), found[1].reshape(*x.shape[:-1], x.shape[-2])


@simple_attention.alternative
def by_log_weights(x):
    scores = torch.matmul(x, x.transpose(-1, -2))
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return torch.matmul(weights, x), weights


@simple_attention.alternative
def columns_and_back(x):
    by_column = nn.Softmax(dim=-2)(x @ x.mT)  # scores are symmetric, so columns are the rows' weights
    return [(x.mT @ by_column).mT, by_column.mT]


# ---------------------------------------------------------------------------------------------------------------------
# project_qkv

project_qkv = exercise("project_qkv", points=3, see="Three roles for one word")
project_qkv.hints = (
    "The equations stand right above the exercise. What is the shape of $X W_v$, if $X$ has the shape $(T, D)$?",
    "Three products of matrices, one for each role. All three begin with `x`. Does `@` mind leading dimensions?",
    "`return x @ ..., x @ ..., x @ ...`: in the order query, key, value, and with no transpose anywhere, since the "
    "matrices come as (in, out).",
)


@project_qkv.oracle
def project_qkv_oracle(x, W_q, W_k, W_v):
    return tuple(torch.einsum("...td,dk->...tk", x, W) for W in (W_q, W_k, W_v))


@project_qkv.example("the example for paper")
def _():
    yield call(
        torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0], [0.0]]), torch.tensor([[0.0], [3.0]]),
        torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]),
    ).unchanged()  # fmt: skip


@project_qkv.example("square matrices, two sentences, and the gradients")
def _():
    yield call(
        torch.tensor([[[1.0, 2.0]], [[-1.0, 0.5]]]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
        torch.tensor([[0.0, 1.0], [-1.0, 0.0]]), torch.tensor([[2.0, 0.0], [1.0, 1.0]]),
    ).with_gradients()  # fmt: skip


@project_qkv.criterion("query, key and value", points=1)
def _(draw):
    yield call(draw.normal(5, 6), draw.normal(6, 4), draw.normal(6, 4), draw.normal(6, 3))
    yield call(draw.normal(4, 3), draw.normal(3, 5), draw.normal(3, 5), draw.normal(3, 7))
    yield call(draw.normal(2, 4), draw.normal(4, 4), draw.normal(4, 4), draw.normal(4, 4))


@project_qkv.criterion("any leading dimensions, and sizes of one", points=0.5)
def _(draw):
    yield call(draw.normal(2, 5, 6), draw.normal(6, 4), draw.normal(6, 4), draw.normal(6, 3))
    yield call(draw.normal(2, 3, 5, 4), draw.normal(4, 6), draw.normal(4, 6), draw.normal(4, 7))
    yield call(draw.normal(1, 1, 3), draw.normal(3, 1), draw.normal(3, 1), draw.normal(3, 2))
    yield call(draw.normal(3, 3, 3), draw.normal(3, 3), draw.normal(3, 3), draw.normal(3, 3))
    yield call(draw.normal(4, 1), draw.normal(1, 2), draw.normal(1, 2), draw.normal(1, 1))


@project_qkv.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(4, 6), draw.normal(6, 5), draw.normal(6, 5), draw.normal(6, 3)).with_gradients()
    yield call(draw.normal(2, 3, 4), draw.normal(4, 5), draw.normal(4, 5), draw.normal(4, 6)).with_gradients()


@project_qkv.criterion("float64 and tensors that are not contiguous", points=0.5)
def _(draw):
    wide = torch.float64
    yield call(
        draw.normal(2, 5, 3, dtype=wide), draw.normal(3, 4, dtype=wide),
        draw.normal(3, 4, dtype=wide), draw.normal(3, 6, dtype=wide),
    ).with_gradients()  # fmt: skip
    yield call(
        non_contiguous(draw.normal(2, 4, 6)), non_contiguous(draw.normal(6, 3)),
        non_contiguous(draw.normal(6, 3)), non_contiguous(draw.normal(6, 5)),
    )  # fmt: skip
    yield call(draw.normal(3, 5, scale=1e12), draw.normal(5, 4, scale=1e3), draw.normal(5, 4), draw.normal(5, 2))
    # What float32 would round away
    yield call(
        draw.normal(4, 3, dtype=wide), draw.normal(3, 5, dtype=wide),
        draw.normal(3, 5, dtype=wide), draw.normal(3, 2, dtype=wide),
    ).within(1e-10, 1e-11)  # fmt: skip


@project_qkv.criterion("arguments are left alone", points=0.5)
def _(draw):
    yield call(draw.normal(2, 5, 3), draw.normal(3, 4), draw.normal(3, 4), draw.normal(3, 6)).unchanged()
    yield call(draw.normal(4, 3), draw.normal(3, 3), draw.normal(3, 3), draw.normal(3, 3)).unchanged()


@project_qkv.mistake(
    "The matrices were transposed: with `.T`, or by `F.linear`, which multiplies by the transpose because "
    "`nn.Linear` keeps its weight as (out, in). Here they come as (in, out): no transpose.",
    shows="query, key and value",
)
def transposes_the_matrices(x, W_q, W_k, W_v):
    return x @ W_q.T, x @ W_k.T, x @ W_v.T


@project_qkv.mistake(
    "Query, key and value are all made by one matrix. Each role has its own.", shows="query, key and value"
)
def uses_one_matrix_for_all(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_q, x @ W_q


@project_qkv.mistake(
    "Key and query are made by the same matrix: then who asks is also what is asked for, and attention is mutual.",
    shows="query, key and value",
)
def uses_the_queries_matrix_for_keys(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_q, x @ W_v


@project_qkv.mistake("The value is `x` itself. It has a matrix of its own, `W_v`.", shows="query, key and value")
def hands_over_x_for_the_value(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_k, x


@project_qkv.mistake("Query and key have changed places. The order is query, key, value.", shows="query, key and value")
def exchanges_query_and_key(x, W_q, W_k, W_v):
    return x @ W_k, x @ W_q, x @ W_v


@project_qkv.mistake("Key and value have changed places. The order is query, key, value.", shows="query, key and value")
def exchanges_key_and_value(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_v, x @ W_k


@project_qkv.mistake(
    "The matrices were put side by side and the product cut into three *equal* parts. Values may be wider or "
    "narrower than keys: cut at K, K and V.",
    shows="query, key and value",
)
def cuts_into_equal_parts(x, W_q, W_k, W_v):
    return (x @ torch.cat([W_q, W_k, W_v], dim=1)).chunk(3, dim=-1)


@project_qkv.mistake(
    "The three are joined into one tensor. Return three: `return query, key, value`.", shows="query, key and value"
)
def returns_one_tensor(x, W_q, W_k, W_v):
    return torch.cat([x @ W_q, x @ W_k, x @ W_v], dim=-1)


@project_qkv.mistake(
    "The key was made from the query, and the value from the key. All three are made from `x`.",
    shows="query, key and value",
)
def chains_the_projections(x, W_q, W_k, W_v):
    query = x @ W_q
    return query, query @ W_k, query @ W_k @ W_v


@project_qkv.mistake(
    "This takes one sentence only: `mm` and its like want two dimensions. `@` takes any leading ones.",
    shows="any leading dimensions, and sizes of one",
)
def takes_two_dimensions_only(x, W_q, W_k, W_v):
    return torch.mm(x, W_q), torch.mm(x, W_k), torch.mm(x, W_v)


@project_qkv.mistake(
    "A dimension of size 1 has vanished: `squeeze` takes away more than you meant.",
    shows="any leading dimensions, and sizes of one",
)
def squeezes(x, W_q, W_k, W_v):
    return (x @ W_q).squeeze(), (x @ W_k).squeeze(), (x @ W_v).squeeze()


@project_qkv.mistake(
    "The numbers are right, and no gradient reaches the matrices: their `.data`, a detached copy or a new "
    "`nn.Parameter` was used. Nothing could be learned.",
    shows="gradients",
)
def detaches_the_matrices(x, W_q, W_k, W_v):
    return x @ W_q.detach(), x @ W_k.detach(), x @ W_v.detach()


@project_qkv.mistake(
    "The query was divided by √K. Scaling comes in lesson 4, and not in the projection.", shows="query, key and value"
)
def scales_the_query(x, W_q, W_k, W_v):
    return x @ W_q / W_q.shape[1] ** 0.5, x @ W_k, x @ W_v


@project_qkv.mistake(
    "The result is float32 whatever comes in. Take the dtype of the arguments.",
    shows="float64 and tensors that are not contiguous",
)
def always_float32_projections(x, W_q, W_k, W_v):
    x = x.float()
    return x @ W_q.float(), x @ W_k.float(), x @ W_v.float()


@project_qkv.mistake("An argument was changed in place. Work on new tensors.", shows="arguments are left alone")
def writes_into_the_matrices(x, W_q, W_k, W_v):
    made = x @ W_q, x @ W_k, x @ W_v
    W_q.data.mul_(0.5)
    return made


@project_qkv.mistake(
    "The value was made with the keys' matrix. It has one of its own, `W_v`.", shows="query, key and value"
)
def uses_the_keys_matrix_for_values(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_k, x @ W_k


@project_qkv.mistake("The right three, in the wrong order: query, key, value.", shows="query, key and value")
def begins_with_the_value(x, W_q, W_k, W_v):
    return x @ W_v, x @ W_k, x @ W_q


@project_qkv.mistake(
    "The results lie on their side: their last two dimensions are swapped. A word's query is a row of `x @ W_q`.",
    shows="query, key and value",
)
def returns_columns(x, W_q, W_k, W_v):
    return W_q.T @ x.mT, W_k.T @ x.mT, W_v.T @ x.mT


@project_qkv.mistake(
    "The key comes back transposed. That belongs to the attention; here it is `x @ W_k`, one row a word.",
    shows="query, key and value",
)
def transposes_the_key(x, W_q, W_k, W_v):
    return x @ W_q, (x @ W_k).mT, x @ W_v


@project_qkv.mistake(
    "The matrices stand to the left of `x`. Its rows are the words, so that they are multiplied from the right: "
    "`x @ W`.",
    shows="query, key and value",
)
def multiplies_from_the_left(x, W_q, W_k, W_v):
    return W_q @ x, W_k @ x, W_v @ x


@project_qkv.mistake(
    "The three cannot be stacked into one tensor: values may have another width than queries and keys. Return a "
    "tuple of three.",
    shows="query, key and value",
)
def stacks_the_three(x, W_q, W_k, W_v):
    return torch.stack([x @ W_q, x @ W_k, x @ W_v])


@project_qkv.mistake(
    "These are not projections by the matrices that you were given: a new `nn.Linear` begins with random numbers.",
    shows="query, key and value",
)
def makes_new_layers(x, W_q, W_k, W_v):
    made = [nn.Linear(*W.shape, bias=False, dtype=x.dtype)(x) for W in (W_q, W_k, W_v)]
    return tuple(made)


@project_qkv.mistake(
    "Negative numbers became 0, as after a hidden layer. A projection is the product alone.",
    shows="query, key and value",
)
def cuts_off_below_zero(x, W_q, W_k, W_v):
    return F.relu(x @ W_q), F.relu(x @ W_k), F.relu(x @ W_v)


@project_qkv.mistake(
    "Your einsum has one letter for the batch, so that it takes exactly one leading dimension. Three dots (`...`) "
    "stand for any number of them.",
    shows=("query, key and value", "any leading dimensions, and sizes of one"),
)
def names_one_batch_dimension(x, W_q, W_k, W_v):
    query, key = torch.einsum("btd,dk->btk", x, W_q), torch.einsum("btd,dk->btk", x, W_k)
    return query, key, torch.einsum("btd,dk->btk", x, W_v)


@project_qkv.mistake(
    "`view` stops where the numbers lie in another order in memory, as after a `transpose`. `reshape` copies them "
    "where it must, and `@` needs neither.",
    shows="float64 and tensors that are not contiguous",
)
def views_what_is_not_contiguous(x, W_q, W_k, W_v):
    flat = x.view(-1, x.shape[-1])
    made = [(flat @ W).view(*x.shape[:-1], -1) for W in (W_q, W_k, W_v)]
    return tuple(made)


@project_qkv.mistake(
    "The matrices learn, and `x` was cut off from the gradient: what lies before this layer learns through it.",
    shows="gradients",
)
def detaches_x(x, W_q, W_k, W_v):
    x = x.detach()
    return x @ W_q, x @ W_k, x @ W_v


@project_qkv.mistake(
    "The results are float64 whatever comes in. Take the dtype of the arguments.", shows="query, key and value"
)
def always_float64_projections(x, W_q, W_k, W_v):
    x = x.double()
    return x @ W_q.double(), x @ W_k.double(), x @ W_v.double()


@project_qkv.mistake(
    "The results have the right dtype, but they were computed in float32, which keeps seven digits. float64 in means "
    "float64 all the way.",
    shows="float64 and tensors that are not contiguous",
)
def projects_in_float32_between(x, W_q, W_k, W_v):
    made = [(x.float() @ W.float()).to(x.dtype) for W in (W_q, W_k, W_v)]
    return tuple(made)


@project_qkv.mistake(
    "The right three, in the wrong order: key, value, query. Asked for are query, key, value.",
    shows="query, key and value",
)
def ends_with_the_query(x, W_q, W_k, W_v):
    return x @ W_k, x @ W_v, x @ W_q


@project_qkv.alternative
def three_products(x, W_q, W_k, W_v):
    query = x @ W_q
    key = x @ W_k
    value = x @ W_v
    return query, key, value


@project_qkv.alternative
def packed_and_split(x, W_q, W_k, W_v):
    widths = [W_q.shape[1], W_k.shape[1], W_v.shape[1]]
    return (x @ torch.cat((W_q, W_k, W_v), dim=1)).split(widths, dim=-1)


@project_qkv.alternative
def by_tensordot(x, W_q, W_k, W_v):
    return [torch.tensordot(x, W, dims=1) for W in (W_q, W_k, W_v)]


@project_qkv.alternative
def as_linear_layers(x, W_q, W_k, W_v):
    return F.linear(x, W_q.T), F.linear(x, W_k.mT), F.linear(x, W_v.t())


@project_qkv.alternative
def by_broadcasting_and_summing(x, W_q, W_k, W_v):
    def through(W):
        return (x[..., :, None] * W).sum(dim=-2)

    return through(W_q), through(W_k), through(W_v)


@project_qkv.alternative
def row_by_row(x, W_q, W_k, W_v):
    words = x.reshape(-1, x.shape[-1]).unbind()
    return tuple(torch.stack([word @ W for word in words]).reshape(*x.shape[:-1], -1) for W in (W_q, W_k, W_v))


# ---------------------------------------------------------------------------------------------------------------------
# attention

attention = exercise("attention", points=5, see="Attention")
attention.hints = (
    "It is `simple_attention` with three roles instead of one. Where did `x` stand for the one who asks, where for "
    "the one who is found, where for what is handed over?",
    "Queries meet keys in the first product only, and values come in at the second. The scores have one row a query "
    "and one column a key: (T, S).",
    "`scores = query @ (key with its last two dimensions exchanged)`, softmax along the last dimension, the weights "
    "times the values. Return the output first, then the weights.",
)


@attention.oracle
def attention_oracle(query, key, value):
    weights = torch.softmax(torch.einsum("...tk,...sk->...ts", query, key), -1)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights


@attention.example("the example for paper")
def _():
    keys = torch.tensor([[math.log(3), 0.0], [0.0, 5.0]])
    yield call(torch.tensor([[1.0, 0.0]]), keys, torch.tensor([[4.0], [8.0]])).unchanged()


@attention.example("two queries, three keys, and the gradients")
def _():
    yield call(
        torch.tensor([[1.0], [-2.0]]), torch.tensor([[0.0], [1.0], [2.0]]),
        torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
    ).with_gradients()  # fmt: skip


@attention.example("a batch of two")
def _():
    yield call(
        torch.tensor([[[1.0, 0.0]], [[0.0, 2.0]]]), torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [1.0, 1.0]]]),
        torch.tensor([[[1.0], [2.0]], [[3.0], [-3.0]]]),
    )  # fmt: skip


@attention.criterion("output and weights", points=1)
def _(draw):
    yield call(draw.normal(5, 4), draw.normal(7, 4), draw.normal(7, 3))
    yield call(draw.normal(6, 3), draw.normal(2, 3), draw.normal(2, 5))
    yield call(draw.normal(4, 4), draw.normal(4, 4), draw.normal(4, 4))


@attention.criterion("any leading dimensions", points=1)
def _(draw):
    yield call(draw.normal(2, 5, 4), draw.normal(2, 7, 4), draw.normal(2, 7, 3))
    yield call(draw.normal(7, 2, 3), draw.normal(7, 4, 3), draw.normal(7, 4, 5))
    yield call(draw.normal(2, 3, 5, 4), draw.normal(2, 3, 6, 4), draw.normal(2, 3, 6, 7))
    yield call(draw.normal(3, 3, 3), draw.normal(3, 3, 3), draw.normal(3, 3, 3))


@attention.criterion("one query, one key, or vectors of one number", points=0.5)
def _(draw):
    yield call(draw.normal(1, 4), draw.normal(6, 4), draw.normal(6, 3))
    yield call(draw.normal(5, 4), draw.normal(1, 4), draw.normal(1, 3))
    yield call(draw.normal(1, 3, 1), draw.normal(1, 5, 1), draw.normal(1, 5, 1))
    yield call(draw.normal(2, 1, 1), draw.normal(2, 1, 1), draw.normal(2, 1, 1))


@attention.criterion("large scores", points=0.5)
def _(draw):
    yield call(draw.normal(5, 4, scale=20.0), draw.normal(7, 4, scale=20.0), draw.normal(7, 3))
    # Queries of very different lengths: the rows' maxima lie hundreds apart
    lengths = torch.tensor([0.1, 40.0, 1.0, 15.0, 400.0])[:, None]
    yield call(draw.normal(2, 5, 4) * lengths, draw.normal(2, 6, 4, scale=5.0), draw.normal(2, 6, 3))
    yield call(-draw.uniform(3, 4, low=20.0, high=30.0), draw.uniform(5, 4, low=2.0, high=3.0), draw.normal(5, 2))


@attention.criterion("gradients", points=1)
def _(draw):
    yield call(draw.normal(5, 4), draw.normal(7, 4), draw.normal(7, 3)).with_gradients()
    yield call(draw.normal(2, 3, 5), draw.normal(2, 6, 5), draw.normal(2, 6, 4)).with_gradients()


@attention.criterion("float64 and tensors that are not contiguous", points=0.5)
def _(draw):
    wide = torch.float64
    yield call(
        draw.normal(2, 5, 4, dtype=wide), draw.normal(2, 3, 4, dtype=wide), draw.normal(2, 3, 6, dtype=wide)
    ).with_gradients()
    yield call(non_contiguous(draw.normal(5, 4)), non_contiguous(draw.normal(6, 4)), non_contiguous(draw.normal(6, 3)))
    yield call(non_contiguous(draw.normal(2, 3, 4)), draw.normal(2, 6, 4), non_contiguous(draw.normal(2, 6, 5)))
    # Leading dimensions that lie in another order in memory, which `view` cannot merge
    yield call(*(draw.normal(3, 2, *shape).transpose(0, 1) for shape in ((5, 4), (7, 4), (7, 6))))
    # What float32 would round away
    yield call(*(draw.normal(*shape, dtype=wide) for shape in ((3, 4), (6, 4), (6, 2)))).within(1e-10, 1e-11)


@attention.criterion("arguments are left alone", points=0.5)
def _(draw):
    yield call(draw.normal(5, 4), draw.normal(3, 4), draw.normal(3, 6)).unchanged()
    yield call(draw.normal(2, 4, 3), draw.normal(2, 4, 3), draw.normal(2, 4, 3)).unchanged()


@attention.mistake(
    "The weights are flatter than they should be: the scores were divided by √K. That is lesson 4, and "
    "`F.scaled_dot_product_attention` does it unless you tell it `scale=1.0`.",
    shows="output and weights",
)
def scales_the_scores(query, key, value):
    weights = torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights


@attention.mistake(
    "Each *column* of the weights sums to 1. Every query spends exactly 1 on the keys, so each row must: see `dim`.",
    shows="output and weights",
)
def normalises_over_the_queries(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-2)
    return weights @ value, weights


@attention.mistake(
    "For one sentence this is right. In a batch the softmax runs along the wrong dimension: count from the end.",
    shows="any leading dimensions",
)
def softmax_along_dimension_1(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=1)
    return weights @ value, weights


@attention.mistake(
    "The scores are keys times queries, (S, T). One row a query is wanted: queries times keys, (T, S).",
    shows="output and weights",
)
def keys_times_queries(query, key, value):
    weights = torch.softmax(key @ query.mT, dim=-1)
    return weights @ value, weights


@attention.mistake(
    "The weights are right, and they average the *keys*. What comes back is made of values.", shows="output and weights"
)
def averages_the_keys(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-1)
    return weights @ key, weights


@attention.mistake(
    "The queries were compared with the values. A query is compared with keys; values only come in afterwards.",
    shows=("output and weights", "any leading dimensions"),
)
def compares_with_the_values(query, key, value):
    weights = torch.softmax(query @ value.mT, dim=-1)
    return weights @ value, weights


@attention.mistake(
    "The output is right, and in the place of the weights stand the scores: return them after the softmax.",
    shows="output and weights",
)
def returns_the_scores(query, key, value):
    scores = query @ key.mT
    return torch.softmax(scores, dim=-1) @ value, scores


@attention.mistake(
    "The softmax is missing: scores average nothing. Weights are positive, and each row sums to 1.",
    shows="output and weights",
)
def without_softmax(query, key, value):
    scores = query @ key.mT
    return scores @ value, scores


@attention.mistake(
    "Every weight lies between 0 and 1, and the rows do not sum to 1: that is a sigmoid. The keys compete for each "
    "query: use softmax.",
    shows="output and weights",
)
def uses_a_sigmoid(query, key, value):
    weights = torch.sigmoid(query @ key.mT)
    return weights @ value, weights


@attention.mistake("The two results are in the wrong order: output first, then weights.", shows="output and weights")
def weights_come_first(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-1)
    return weights, weights @ value


@attention.mistake(
    "Only the output is returned. The weights are asked for too: `return output, weights`.", shows="output and weights"
)
def output_only(query, key, value):
    return torch.softmax(query @ key.mT, dim=-1) @ value


@attention.mistake(
    "This takes two dimensions only, and a batch goes wrong: exchange the *last* two dimensions of the keys, `key.mT`.",
    shows="any leading dimensions",
)
def transposes_the_front(query, key, value):
    weights = torch.softmax(query @ key.transpose(0, 1), dim=-1)
    return weights @ value, weights


@attention.mistake(
    "This takes exactly three dimensions. No batch at all, or two leading dimensions, must work too: count "
    "dimensions from the end, and multiply with `@`.",
    shows=("output and weights", "any leading dimensions"),
)
def takes_one_batch_only(query, key, value):
    weights = torch.softmax(torch.bmm(query, key.transpose(1, 2)), dim=-1)
    return torch.bmm(weights, value), weights


@attention.mistake(
    "A dimension of size 1 has vanished: `squeeze` takes away more than you meant.",
    shows="one query, one key, or vectors of one number",
)
def squeezes_the_results(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-1)
    return (weights @ value).squeeze(), weights.squeeze()


@attention.mistake(
    "NaN, where scores are large: `exp` overflowed. Lesson 2 subtracted the maximum first, and `torch.softmax` does.",
    shows="large scores",
)
def exponentials_overflow(query, key, value):
    e = torch.exp(query @ key.mT)
    weights = e / e.sum(-1, keepdim=True)
    return weights @ value, weights


@attention.mistake(
    "NaN, where the scores of one query lie far below those of another: one maximum was subtracted for the whole "
    "tensor, and all of a row's exponentials became 0. Each row needs its own maximum.",
    shows="large scores",
)
def one_maximum_for_all(query, key, value):
    scores = query @ key.mT
    e = torch.exp(scores - scores.max())
    weights = e / e.sum(-1, keepdim=True)
    return weights @ value, weights


@attention.mistake(
    "The output is right, and no gradient reaches query and key: the scores or weights were detached. Nothing would "
    "learn where to look.",
    shows="gradients",
)
def detaches_the_scores(query, key, value):
    weights = torch.softmax((query @ key.mT).detach(), dim=-1)
    return weights @ value, weights


@attention.mistake(
    "The output's gradient is right, and the weights that are returned were detached. They are a result like the "
    "other, and a loss may be put on them.",
    shows="gradients",
)
def returns_detached_weights(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-1)
    return weights @ value, weights.detach()


@attention.mistake(
    "Later keys are hidden from each query. A causal mask is lesson 5; here every query sees every key.",
    shows="output and weights",
)
def hides_the_future(query, key, value):
    scores = query @ key.mT
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    weights = torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1)
    return weights @ value, weights


@attention.mistake(
    "The result is float32 whatever comes in. Take the dtype of the arguments.",
    shows="float64 and tensors that are not contiguous",
)
def always_float32_attention(query, key, value):
    weights = torch.softmax(query.float() @ key.float().mT, dim=-1)
    return weights @ value.float(), weights


@attention.mistake("An argument was changed in place. Work on new tensors.", shows="arguments are left alone")
def writes_into_the_query(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-1)
    query.data.sub_(query.data.mean())
    return weights @ value, weights


@attention.mistake(
    "`key.T` turns *all* dimensions over, the batch included. Swap only the last two.", shows="any leading dimensions"
)
def turns_the_batch_over(query, key, value):
    weights = torch.softmax(query @ key.permute(*reversed(range(key.ndim))), dim=-1)
    return weights @ value, weights


@attention.mistake(
    "The weights are right, and the output was made with others: the built-in attention divides the scores by the "
    "root of K unless told otherwise.",
    shows="output and weights",
)
def lets_the_built_in_scale_the_scores(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-1)
    return F.scaled_dot_product_attention(query, key, value), weights


@attention.mistake(
    "The values stand to the left of the weights. A row of weights mixes the rows of `value`: weights first.",
    shows="output and weights",
)
def multiplies_in_the_wrong_order(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-1)
    return value @ weights, weights


@attention.mistake(
    "The lengths were divided out before comparing, which makes the scores cosines. A score is the plain dot product.",
    shows="output and weights",
)
def attends_by_cosine(query, key, value):
    weights = torch.softmax(F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT, dim=-1)
    return weights @ value, weights


@attention.mistake(
    "All the weight goes to the one key that fits best. Softmax gives every key its share, and a maximum has no "
    "gradient.",
    shows="output and weights",
)
def takes_the_best_key_only(query, key, value):
    scores = query @ key.mT
    weights = F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)
    return weights @ value, weights


@attention.mistake(
    "The scores were divided by the number of keys. They are not scaled at all here.", shows="output and weights"
)
def divides_by_the_number_of_keys(query, key, value):
    weights = torch.softmax(query @ key.mT / key.shape[-2], dim=-1)
    return weights @ value, weights


@attention.mistake(
    "The keys are compared with themselves, and the queries do not occur. Who asks?", shows="output and weights"
)
def leaves_the_queries_out(query, key, value):
    weights = torch.softmax(key @ key.mT, dim=-1)
    return weights @ value, weights


@attention.mistake(
    "Only as many keys are used as there are queries. T and S are two numbers, and either may be the larger.",
    shows="output and weights",
)
def uses_as_many_keys_as_queries(query, key, value):
    count = query.shape[-2]
    weights = torch.softmax(query @ key[..., :count, :].mT, dim=-1)
    return weights @ value[..., :count, :], weights


@attention.mistake(
    "Your einsum names every dimension of a batch with heads, so that it takes four dimensions only. Three dots "
    "(`...`) stand for any number of leading ones.",
    shows=("output and weights", "any leading dimensions"),
)
def names_two_leading_dimensions(query, key, value):
    weights = torch.softmax(torch.einsum("bhtk,bhsk->bhts", query, key), dim=-1)
    return torch.einsum("bhts,bhsv->bhtv", weights, value), weights


@attention.mistake(
    "Your einsum has one letter for the batch, so that it takes three dimensions only. Three dots (`...`) stand for "
    "any number of leading ones.",
    shows=("output and weights", "any leading dimensions"),
)
def names_one_leading_dimension(query, key, value):
    weights = torch.softmax(torch.einsum("btk,bsk->bts", query, key), dim=-1)
    return torch.einsum("bts,bsv->btv", weights, value), weights


@attention.mistake(
    "Scores were cut off at a limit before the softmax. Beyond it all keys look alike; softmax itself can take "
    "scores of any size.",
    shows="large scores",
)
def cuts_scores_off(query, key, value):
    weights = torch.softmax((query @ key.mT).clamp(-50, 50), dim=-1)
    return weights @ value, weights


@attention.mistake(
    "The numbers are right, and the output was made with weights that were cut off from the gradient: nothing could "
    "learn where to look.",
    shows="gradients",
)
def outputs_with_detached_weights(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-1)
    return weights.detach() @ value, weights


@attention.mistake("The gradient reaches query and key, and not the values.", shows="gradients")
def detaches_the_values(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-1)
    return weights @ value.detach(), weights


@attention.mistake("The gradient reaches query and value, and not the keys.", shows="gradients")
def detaches_the_keys(query, key, value):
    weights = torch.softmax(query @ key.detach().mT, dim=-1)
    return weights @ value, weights


@attention.mistake(
    "The results are float64 whatever comes in. Take the dtype of the arguments.", shows="output and weights"
)
def always_float64_attention(query, key, value):
    weights = torch.softmax(query.double() @ key.double().mT, dim=-1)
    return weights @ value.double(), weights


@attention.mistake(
    "The results have the right dtype, but the softmax was computed in float32, which keeps seven digits. float64 in "
    "means float64 all the way.",
    shows="float64 and tensors that are not contiguous",
)
def attends_in_float32_between(query, key, value):
    weights = torch.softmax((query @ key.mT).float(), dim=-1).to(query.dtype)
    return weights @ value, weights


@attention.mistake(
    "`view` stops where the numbers lie in another order in memory, as after a `transpose`. `reshape` copies them "
    "where it must, and `@` needs neither.",
    shows="float64 and tensors that are not contiguous",
)
def views_batches_that_are_not_contiguous(query, key, value):
    q, k, v = query.view(-1, *query.shape[-2:]), key.view(-1, *key.shape[-2:]), value.view(-1, *value.shape[-2:])
    weights = torch.softmax(q @ k.mT, dim=-1)
    return (weights @ v).view(*query.shape[:-1], -1), weights.view(*query.shape[:-1], -1)


@attention.mistake(
    "`query @ key` dots queries with *columns*. The keys lie in rows: swap the last two dimensions of `key` first.",
    shows="output and weights",
)
def does_not_transpose_the_keys(query, key, value):
    weights = torch.softmax(query @ key, dim=-1)
    return weights @ value, weights


@attention.mistake(
    "The softmax was given no `dim`, and chose one by the number of dimensions: the first for a batch. The weights of "
    "one query lie along the last.",
    shows="any leading dimensions",
)
def lets_softmax_choose_its_dimension(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=0 if query.ndim == 3 else 1)
    return weights @ value, weights


@attention.mistake(
    "Softmax was taken twice, which makes the weights nearly equal. Once is enough.", shows="output and weights"
)
def takes_softmax_twice(query, key, value):
    weights = torch.softmax(torch.softmax(query @ key.mT, dim=-1), dim=-1)
    return weights @ value, weights


@attention.mistake(
    "These are logarithms of weights, all of them below 0. The values are mixed with the weights themselves.",
    shows="output and weights",
)
def mixes_with_logarithms(query, key, value):
    weights = torch.log_softmax(query @ key.mT, dim=-1)
    return weights @ value, weights


@attention.mistake(
    "The values are transposed before they are mixed. Only the keys are turned over; a row of `value` belongs to a "
    "key as it stands.",
    shows="output and weights",
)
def transposes_the_values(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-1)
    return weights @ value.mT, weights


@attention.mistake(
    "The scores are divided by the root of V, the values' width. They are not scaled at all here.",
    shows="output and weights",
)
def divides_by_the_root_of_the_values_width(query, key, value):
    weights = torch.softmax(query @ key.mT / value.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights


@attention.alternative
def three_lines(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-1)
    return weights @ value, weights


@attention.alternative
def stable_by_hand(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1))
    e = (scores - scores.max(dim=-1, keepdim=True).values.detach()).exp()
    weights = e / e.sum(dim=-1, keepdim=True)
    return torch.matmul(weights, value), weights


@attention.alternative
def by_einsum(query, key, value):
    weights = torch.einsum("...ij,...kj->...ik", query, key).log_softmax(-1).exp()
    return torch.einsum("...ik,...kv->...iv", weights, value), weights


@attention.alternative
def by_the_built_in_unscaled(query, key, value):
    eye = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], key.shape[-2])
    both = torch.cat([value, eye], dim=-1)
    found = F.scaled_dot_product_attention(query, key, both, scale=1.0)
    return found[..., : value.shape[-1]], found[..., value.shape[-1] :]


@attention.alternative
def the_built_in_with_its_scale_undone(query, key, value):
    weights = nn.Softmax(dim=-1)(query @ key.mT)
    return F.scaled_dot_product_attention(query * query.shape[-1] ** 0.5, key, value), weights


@attention.alternative
def one_query_at_a_time(query, key, value):
    lead = query.shape[:-2]
    queries, keys, values = (t.reshape(-1, *t.shape[-2:]) for t in (query, key, value))
    outputs, rows = [], []
    for q, k, v in zip(queries, keys, values, strict=True):
        for one in q:
            row = torch.softmax(torch.mv(k, one), dim=0)
            rows.append(row)
            outputs.append((row[:, None] * v).sum(dim=0))
    return (
        torch.stack(outputs).reshape(*lead, query.shape[-2], value.shape[-1]),
        torch.stack(rows).reshape(*lead, query.shape[-2], key.shape[-2]),
    )


@attention.alternative
def running_softmax_over_the_keys(query, key, value):
    """One key after another, with the maximum, the sum and the output so far."""
    top = query.new_full((*query.shape[:-1], 1), -torch.inf)
    total, output, scores = torch.zeros_like(top), 0.0, []
    for s in range(key.shape[-2]):
        score = (query * key[..., s : s + 1, :]).sum(-1, keepdim=True)
        new = torch.maximum(top, score)
        shrink, grown = (top - new).exp(), (score - new).exp()
        total = total * shrink + grown
        output = output * shrink + grown * value[..., s : s + 1, :]
        top = new
        scores.append(score)
    return output / total, (torch.cat(scores, -1) - top).exp() / total


@attention.alternative
def as_a_module(query, key, value):
    class Attend(nn.Module):
        def __init__(self):
            super().__init__()
            self.normalise = nn.Softmax(-1)

        def forward(self, query, key, value):
            weights = self.normalise((key @ query.mT).mT)
            return (value.mT @ weights.mT).mT, weights

    return Attend()(query, key, value)


# ---------------------------------------------------------------------------------------------------------------------
# query_for

query_for = exercise("query_for", points=5, see="Design a query")
query_for.hints = (
    "Which scores would you like the keys to have: the targets, and the others? Write down the vector of wanted "
    "scores, one number a key, before you think of the query.",
    "The scores are `keys @ query`. You know the keys and you know the scores that you want: that is a system of "
    "linear equations for the query. `keys` need not be square, so look for a solver that does not mind.",
    "Make a vector of S zeros, of the dtype of the keys, write some tens into the places of the targets, and "
    "multiply it by a matrix that undoes `keys`: its pseudo-inverse, `torch.linalg.pinv`.",
)


@query_for.oracle
def query_for_oracle(keys, targets):
    # e^c * m / (e^c * m + S - m) is 0.995, halfway into what is allowed
    others = max(len(keys) - len(targets), 1)
    wanted = keys.new_zeros(len(keys))
    wanted[torch.tensor(targets)] = math.log(0.995 / 0.005 * others / len(targets))
    inner, mixing = torch.linalg.qr(keys.mT)
    return inner @ torch.linalg.solve_triangular(mixing.mT, wanted[:, None], upper=False)[:, 0]


def _fetches(keys, targets, pure=False):
    """A judge of one query: by the weights that unscaled attention gives with it, computed in float64.

    `pure`: the arguments must be as they were, too.
    """

    def judge(seen, exact):
        query = seen.values["result"]
        if query is None:
            return "the result is None, and must be a tensor; is the `return` missing?"
        if not isinstance(query, torch.Tensor):
            return f"the result is a {type(query).__name__}, and must be a tensor"
        if query.shape != keys.shape[1:]:
            return f"the result has shape {tuple(query.shape)}, and must have {tuple(keys.shape[1:])}"
        if query.dtype != keys.dtype:
            names = (str(t.dtype).removeprefix("torch.") for t in (query, keys))
            return "the result has dtype {}, and must have {}".format(*names)
        if not query.isfinite().all():
            return "the query holds NaN or infinite numbers"
        weights = torch.softmax(keys.double() @ query.double(), dim=0)[list(targets)]
        shown = " + ".join(f"{weight:.4f}" for weight in weights.tolist())
        # A hair of room for an answer that aims at 0.99 or at 0.001 exactly, in float32
        if not weights.max() - weights.min() <= 1e-3 + 1e-6:
            return f"with it attention gives the targets the weights {shown}, and they must be equal, to 0.001"
        if not weights.sum() >= 0.99 - 1e-5:
            total = f" = {weights.sum():.4f}" if len(targets) > 1 else ""
            return f"with it attention gives the targets {shown}{total}, and that must be at least 0.99"
        if pure and seen.values["targets"] != targets:
            return "the call changed its argument `targets`; work on a new list"
        if pure and seen.changed:
            return f"the call changed its argument `{next(iter(seen.changed))}` in place; work on a new tensor"
        return None

    return judge


def _case(keys, *targets):
    targets = [int(t) for t in targets]
    which = "1 target" if len(targets) == 1 else f"{len(targets)} targets"
    kind = "" if keys.dtype == torch.float32 else " of " + str(keys.dtype).removeprefix("torch.")
    text = f"query_for for {len(keys)} keys of {keys.shape[1]} numbers{kind} and {which}"
    return call(keys, targets).holding(_fetches(keys, targets)).described(text)


def _crowded(draw, count, width, first):
    """Keys (count, width) that crowd around one direction, which is that of key `first`.

    Their condition number is about 3√count. Whatever the draw, a query that copies keys goes wrong: every key has a
    greater dot product with key `first` than that has with itself (1.5 against 1), and any other key has hardly a
    greater one with itself than with the rest (2.5 against 2.25).
    """
    rows = torch.linalg.qr(draw.normal(width, width, dtype=torch.float64)).Q[:count]
    keys = 0.5 * rows + 1.5 * rows[first]
    keys[first] = rows[first]
    return keys.float()


def _conditioned(draw, count, width, condition, dtype, scale=1.0):
    """Keys (count, width) with singular values from scale down to scale / condition."""
    left, right = (torch.linalg.qr(draw.normal(n, n, dtype=torch.float64)).Q for n in (count, width))
    values = scale * torch.logspace(0, -math.log10(condition), count, dtype=torch.float64)
    return (left * values @ right[:count]).to(dtype)


def _weights_of(keys, targets):
    """A visible case: the program attends with the learner's query and shows the weights of the keys."""
    s = Script(keys=torch.tensor(keys))
    query = s.call(SUBJECT, s.keys, targets, name="query")
    scores = s.call(method(s.keys, "matmul"), query, name="scores")
    s.call(method(scores, "softmax"), 0, name="weights")
    # The oracle's targets get 0.995 together: half of a per cent less or more is right
    return (
        s.case()
        .unchanged()
        .within(0.0, 0.00505)
        .described(
            f"softmax(keys @ query, 0) with query = query_for(keys, {targets}), keys = {keys}; "
            "0.005 more or less is right"
        )
    )


@query_for.example("the example for paper")
def _():
    yield _weights_of([[1.0, 0.0], [1.0, 1.0]], [0])


@query_for.example("one of three slanted keys, which have four numbers")
def _():
    yield _weights_of([[1.0, 0.0, 0.0, 1.0], [2.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]], [0])


@query_for.example("two of three keys: their weights' difference and their sum")
def _():
    keys, targets = [[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 3.0]], [2, 0]
    s = Script(keys=torch.tensor(keys), both=torch.tensor([[1.0, 1.0], [0.0, 0.0], [-1.0, 1.0]]))
    query = s.call(SUBJECT, s.keys, targets, name="query")
    scores = s.call(method(s.keys, "matmul"), query, name="scores")
    weights = s.call(method(scores, "softmax"), 0, name="weights")
    s.call(method(weights, "matmul"), s.both, name="difference_and_sum")
    # 0.001 for the difference, which is 0, and 0.005 for the sum, which is 0.995
    yield (
        s.case()
        .within(0.00405, 0.001)
        .described(
            f"[w[0] - w[2], w[0] + w[2]] of w = softmax(keys @ query, 0) with query = query_for(keys, {targets}), "
            f"keys = {keys}; a difference to 0.001 and a sum to 0.005 are right"
        )
    )


@query_for.criterion("one value", points=1)
def _(draw):
    yield _case(_crowded(draw, 5, 5, first=3), 3)
    yield _case(_crowded(draw, 4, 4, first=0), 2)
    yield _case(_conditioned(draw, 6, 6, 8.0, torch.float32, scale=2.0), draw.integer(0, 6))
    yield _case(3 * torch.eye(3)[draw.permutation(3)], draw.integer(0, 3))


@query_for.criterion("the average of several values", points=1)
def _(draw):
    yield _case(_crowded(draw, 5, 5, first=1), 4, 1)
    yield _case(_crowded(draw, 6, 6, first=2), *draw.permutation(6)[:3])
    yield _case(_conditioned(draw, 7, 7, 8.0, torch.float32, scale=3.0), *draw.permutation(7)[:4])
    yield _case(torch.diag(torch.tensor([1.0, 2.0, 0.5, 3.0])), 2, 0)


@query_for.criterion("fewer keys than dimensions", points=1)
def _(draw):
    # No keys with equal or empty columns: lstsq's default driver may then miss the rank, and a right answer would
    # lose (https://github.com/pytorch/pytorch/issues/187411).
    yield _case(_crowded(draw, 3, 6, first=1), 1)
    yield _case(_crowded(draw, 4, 7, first=0), 3, 0)
    yield _case(_crowded(draw, 5, 9, first=4), 1, 4, 2)
    yield _case(_conditioned(draw, 2, 5, 6.0, torch.float32), draw.integer(0, 2))


@query_for.criterion("float64, keys of any length, and nearly dependent ones", points=1)
def _(draw):
    # Near the limit in float64 only, where any solver has digits to spare. In float32 one that squares the
    # condition number (KKᵀ) would have few digits left there, and a large score even fewer.
    yield _case(_conditioned(draw, 5, 7, 90.0, torch.float64), *draw.permutation(5)[:2])
    yield _case(_conditioned(draw, 6, 6, 90.0, torch.float64, scale=5.0), draw.integer(0, 6))
    yield _case(_conditioned(draw, 4, 6, 8.0, torch.float32), *draw.permutation(4)[:2])
    yield _case(_conditioned(draw, 5, 5, 10.0, torch.float32, scale=0.01), *draw.permutation(5)[:2])
    yield _case(_conditioned(draw, 4, 5, 10.0, torch.float32, scale=300.0), *draw.permutation(4)[:3])


@query_for.criterion("many keys, one key, or all of them", points=0.5)
def _(draw):
    yield _case(_crowded(draw, 40, 48, first=7), 11)
    yield _case(draw.normal(1, 4), 0)
    yield _case(_crowded(draw, 4, 6, first=2), 2, 0, 3, 1)


@query_for.criterion("arguments are left alone", points=0.5)
def _(draw):
    for count, width, wanted in ((4, 4, [2, 0]), (3, 5, [1])):
        keys = _crowded(draw, count, width, first=wanted[0])
        s = Script(keys=keys, targets=wanted)
        result = s.call(SUBJECT, s.keys, s.targets, name="result")
        observed = s.case(result, s.targets).holding(_fetches(keys, wanted, pure=True))
        yield observed.described(f"query_for for {count} keys, and its arguments afterwards")


@query_for.mistake(
    "This is the sum of the wanted keys. It is too weak (softmax looks at differences of scores, and 99 % takes a "
    "difference of five or more), and a longer key that points partly the same way gets more than the wanted one.",
    shows=("one value", "the average of several values"),
)
def adds_up_the_keys(keys, targets):
    return keys[targets].sum(dim=0)


@query_for.mistake(
    "Copies of the wanted keys, made longer, do only for keys of equal length at right angles. Another key that "
    "points partly the same way and is longer wins. Think of the scores that you want, of *all* keys.",
    shows=("one value", "the average of several values"),
)
def copies_the_keys(keys, targets):
    return 8 * keys[targets].sum(dim=0)


@query_for.mistake(
    "Multiplying by the transpose does not undo `keys`, unless they have length 1 and stand at right angles. "
    "Undo them: with a pseudo-inverse, or by solving the system of equations.",
    shows=("one value", "the average of several values"),
)
def transposes_instead_of_solving(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = 20.0
    return keys.mT @ scores


@query_for.mistake(
    "The wanted keys were brought to length 1 and copied. Their length is not the trouble, their angles are: other "
    "keys point partly the same way.",
    shows=("one value", "the average of several values"),
)
def copies_normalised_keys(keys, targets):
    return 20 * F.normalize(keys, dim=-1)[targets].sum(dim=0)


@query_for.mistake(
    "The scores are 1 for the targets and 0 for the rest: equal, and too close together. A difference of 1 is a "
    "factor of e only. How large a difference gives 99 %?",
    shows=("one value", "the average of several values"),
)
def wants_scores_of_1(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = 1.0
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "You solved for the *weights* that you want. The equations give scores, and softmax comes after them.",
    shows="the average of several values",
)
def takes_weights_for_scores(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = 1.0 / len(targets)
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "A difference of 5 in the scores is enough against one other key, and not against many. The more keys there "
    "are, the larger it must be.",
    shows="many keys, one key, or all of them",
)
def wants_scores_of_5(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = 5.0
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "The query fetches the first target only. All of them must get the same weight.",
    shows="the average of several values",
)
def fetches_the_first_only(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets[0]] = 20.0
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "Two targets are fetched, and a third is not. The list may have any length.", shows="the average of several values"
)
def fetches_two_at_most(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets[:2]] = 20.0
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "The scores rise with the targets' order or number. Softmax turns the smallest difference into a factor: equal "
    "weights need equal scores.",
    shows="the average of several values",
)
def gives_targets_rising_scores(keys, targets):
    scores = keys.new_zeros(len(keys))
    for place, target in enumerate(targets):
        scores[target] = 20.0 + place
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "The average of good queries, each for one target, is a weaker query: each target's score is divided by how "
    "many they are. Make up for it, or add the queries up.",
    shows="the average of several values",
)
def averages_the_queries(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = 10.0 / len(targets)
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "The sign is turned round: the targets get the *lowest* scores.",
    shows=("one value", "the average of several values"),
)
def avoids_the_targets(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = -20.0
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "This works for as many keys as dimensions only. With fewer keys the matrix is not square and has no inverse; "
    "it has a pseudo-inverse all the same.",
    shows="fewer keys than dimensions",
)
def inverts_square_matrices_only(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = 20.0
    return torch.linalg.inv(keys) @ scores


@query_for.mistake(
    "This works for as many keys as dimensions only: `torch.linalg.solve` wants a square matrix. A pseudo-inverse "
    "exists for any shape.",
    shows="fewer keys than dimensions",
)
def solves_square_systems_only(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = 20.0
    return torch.linalg.solve(keys, scores)


@query_for.mistake(
    "These are the scores that you want, one number a key. The query that brings them about has one number a "
    "dimension.",
    shows=("one value", "the average of several values"),
)
def returns_the_wanted_scores(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = 20.0
    return scores


@query_for.mistake(
    "The scores are so large that rounding decides between the targets: in float32 a score of a million is right to "
    "about a tenth. A few tens are enough.",
    shows="the average of several values",
)
def wants_scores_of_a_million(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = 1e6
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "The query is NaN. Infinity, or the logarithm of 0, is no score that a finite query could bring about: a few "
    "tens are enough.",
    shows=("one value", "the average of several values"),
)
def wants_infinite_scores(keys, targets):
    scores = keys.new_full((len(keys),), -torch.inf)
    scores[targets] = 0.0
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "float64 keys fail, because the wanted scores are float32: make them of the dtype of the keys.",
    shows="float64, keys of any length, and nearly dependent ones",
)
def makes_float32_scores(keys, targets):
    scores = torch.zeros(len(keys))
    scores[targets] = 20.0
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "The smallest directions of the keys were thrown away as if they were noise (a tolerance, or a small number "
    "added before inverting). Nearly dependent keys are told apart by exactly these.",
    shows="float64, keys of any length, and nearly dependent ones",
)
def smooths_the_inverse(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = 20.0
    return keys.mT @ torch.linalg.solve(keys @ keys.mT + 1e-2 * torch.eye(len(keys)).to(keys), scores)


@query_for.mistake(
    "An argument was changed: `keys` in place, or the list of targets emptied. Work on new ones.",
    shows="arguments are left alone",
)
def empties_the_list_of_targets(keys, targets):
    scores = keys.new_zeros(len(keys))
    while targets:
        scores[targets.pop()] = 20.0
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "A column of shape (K, 1) comes back, as solvers for several right-hand sides give it. A query has the shape (K,).",
    shows=("one value", "the average of several values"),
)
def returns_a_column(keys, targets):
    scores = keys.new_zeros(len(keys), 1)
    scores[targets] = 20.0
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "The targets were counted from 1: the query fetches each one's neighbour. Indices count from 0.",
    shows=("one value", "the average of several values"),
)
def fetches_the_neighbours(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[[target - 1 for target in targets]] = 20.0
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "One query for each target comes back, side by side. One query is to fetch them all: what is the sum of two "
    "solutions a solution of?",
    shows="the average of several values",
)
def returns_one_query_for_each(keys, targets):
    return 20.0 * torch.linalg.pinv(keys)[:, targets]


@query_for.mistake(
    "Only the targets' scores were asked for, and those of the other keys fell out as they liked. Ask for all of "
    "them, and for 0 where a key is not wanted.",
    shows="one value",
)
def asks_for_the_targets_only(keys, targets):
    wanted = keys[targets]
    return torch.linalg.pinv(wanted) @ wanted.new_full((len(wanted),), 20.0)


@query_for.mistake(
    "The query is float64 whatever the keys are. To solve in float64 is fine, if you convert back.",
    shows=("one value", "the average of several values"),
)
def always_float64_query(keys, targets):
    scores = keys.new_zeros(len(keys)).double()
    scores[targets] = 20.0
    return torch.linalg.pinv(keys.double()) @ scores


@query_for.mistake(
    "The query is float32 whatever the keys are. Take the dtype of the keys.",
    shows="float64, keys of any length, and nearly dependent ones",
)
def always_float32_query(keys, targets):
    scores = keys.new_zeros(len(keys)).float()
    scores[targets] = 20.0
    return torch.linalg.pinv(keys.float()) @ scores


@query_for.mistake(
    "A score of log 99 gives a target 99 % against *one* other key. Every further key takes its share: count them.",
    shows=("one value", "many keys, one key, or all of them"),
)
def counts_one_other_key(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = math.log(99.0)
    return torch.linalg.pinv(keys) @ scores


@query_for.mistake(
    "The query was brought to one length at the end. Its length decides how sharp the weights are: leave it as it "
    "came out.",
    shows="one value",
)
def normalises_the_query(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = 20.0
    return 20.0 * F.normalize(torch.linalg.pinv(keys) @ scores, dim=0)


@query_for.mistake(
    "All keys from the first target to the last are fetched. The list names single keys.",
    shows="the average of several values",
)
def fetches_all_between(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[min(targets) : max(targets) + 1] = 20.0
    return torch.linalg.pinv(keys) @ scores


@query_for.alternative
def by_the_pseudo_inverse(keys, targets):
    scores = torch.zeros(keys.shape[0], dtype=keys.dtype)
    scores[targets] = 15.0
    return torch.linalg.pinv(keys) @ scores


@query_for.alternative
def by_least_squares(keys, targets):
    scores = torch.tensor([30.0 if i in targets else 0.0 for i in range(len(keys))]).to(keys)
    return torch.linalg.lstsq(keys, scores.unsqueeze(1)).solution.squeeze(1)


@query_for.alternative
def as_a_mixture_of_the_keys(keys, targets):
    """The query of least length is a sum of multiples of keys: K^T (K K^T)^-1 s."""
    scores = F.one_hot(torch.tensor(targets), len(keys)).sum(0).to(keys.dtype) * 20
    return torch.linalg.solve(keys @ keys.T, scores) @ keys


@query_for.alternative
def by_gram_schmidt(keys, targets):
    """For each target what is left of its key when all other keys have been taken out of it."""
    query = torch.zeros_like(keys[0])
    for target in targets:
        rest = keys[target].double()
        basis = []
        for i, key in enumerate(keys.double()):
            if i == target:
                continue
            for _ in range(2):  # twice, against rounding
                for b in basis:
                    key = key - (key @ b) * b
            basis.append(key / key.norm())
        for _ in range(2):
            for b in basis:
                rest = rest - (rest @ b) * b
        query = query + (20 * rest / (rest @ keys[target].double())).to(keys.dtype)
    return query


@query_for.alternative
def with_negative_scores_for_the_rest(keys, targets):
    scores = torch.full_like(keys[:, 0], -12.0)
    scores[targets] = 12.0
    u, s, vh = torch.linalg.svd(keys, full_matrices=False)
    return vh.T @ ((u.T @ scores) / s)


@query_for.alternative
def the_average_of_single_queries(keys, targets):
    strength = 12.0 * len(targets)
    duals = torch.linalg.pinv(keys).T  # row i: score 1 for key i, 0 for all others
    return torch.stack([strength * duals[t] for t in targets]).mean(dim=0)


@query_for.alternative
def with_just_enough(keys, targets):
    """From m e^c / (m e^c + S - m) = 0.995, solved for c."""
    others = len(keys) - len(targets)
    if others == 0:
        return torch.zeros_like(keys[0])
    c = math.log(199 * others / len(targets))
    marked = torch.isin(torch.arange(len(keys)), torch.tensor(targets))
    return torch.linalg.lstsq(keys, c * marked.to(keys.dtype)[:, None]).solution[:, 0]


@query_for.alternative
def by_completing_to_a_square(keys, targets):
    count, width = keys.shape
    q, _ = torch.linalg.qr(keys.T, mode="complete")
    square = torch.cat([keys, keys.norm() * q[:, count:].T])
    wanted = keys.new_zeros(width)
    wanted[list(targets)] = 25
    return torch.linalg.solve(square, wanted)


@query_for.alternative
def by_searching(keys, targets):
    """Minimise the distance between the scores and the wanted ones, in float64."""
    wanted = torch.zeros(len(keys), dtype=torch.float64)
    wanted[targets] = 20.0
    rows = keys.detach().double() / keys.detach().double().norm()
    query = torch.zeros(keys.shape[1], dtype=torch.float64)
    residual = direction = rows.T @ wanted
    for _ in range(20 * len(keys)):  # conjugate gradients
        if residual.norm() < 1e-13:
            break
        step = residual.square().sum() / (rows @ direction).square().sum()
        query = query + step * direction
        new = residual - step * (rows.T @ (rows @ direction))
        direction = new + new.square().sum() / residual.square().sum() * direction
        residual = new
    return (query / keys.double().norm()).to(keys.dtype)
