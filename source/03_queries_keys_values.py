# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 3: Queries, keys and values
#
# *Bank* means one thing in "the river bank" and another in "the money left the bank", but a model starts with the same vector
# for both. **How can a word take in the words around it, and how does it choose which ones?** In lesson 0 you wrote attention for
# one sentence, with matrices made by hand. Now find out what each is for, and let it learn.
#
# **You will build** `embed`, `attention` for many sentences, and `SelfAttention`, a class that grows until lesson 8.
#
# **You need** dot and matrix products (lesson 1) and softmax (lesson 2).
#
# **Time:**

# %%
import math

import torch
import torch.nn.functional as F
from course import (
    alive,
    begin,
    check,
    figures,
    hint,
    predict,
    progress,
    sentence,
    sliders,
    small_lm,
    solution,
)
from torch import nn

begin("03_queries_keys_values")

# %% [markdown]
# ## Quiz: what came before
#
# **1.** Two scores differ by $\ln 3$. How many times as large is the larger weight?
#
# **2.** Scores have the shape `(T, S)`, one row per query. Over which dimension does softmax run?

# %%
predict("quiz 1", ...)  # a number
predict("quiz 2", ...)  # "dim=-1", "dim=0" or "all of it"

# %% [markdown]
# ## 1. From words to vectors
#
# A **vocabulary** is a list of tokens; ours are eight words. A token's position in it, counted from 0, is its **token id**. An
# **embedding table** has one row per token, the token's vector or **embedding**. So a sentence becomes a matrix: look up each
# word's row, and put these rows below each other.
#
# In a trained model a row has hundreds of entries, all learned. We chose ours: how much a word has to do with *water*, *motion*
# and *place*. The motion of *money* is negative, because it stays in the bank.

# %% tags=["code"]
words = sentence.words
vocabulary = ["the", "boat", "reached", "river", "bank", "ship", "left", "money"]  # N = 8 tokens
other_words = torch.tensor([[1.4, 1.1, 0.3], [0.0, 1.5, 0.2], [0.0, -1.5, 0.3]])  # ship, left, money
table = torch.cat([sentence.x[[0, 1, 2, 4, 5]], other_words])  # (N, D), with D = 3
token_ids = torch.tensor([vocabulary.index(word.lower()) for word in words])  # (T,), with T = 6
x = nn.Embedding.from_pretrained(table)(token_ids)  # PyTorch's table: (T, D)
print(words, "have the ids", token_ids.tolist())

# %% tags=["picture"]
# @title The sentence, looked up in the table
drawn = figures.qkv.looked_up(embed, token_ids, table, vocabulary)
figures.show(drawn)

# %% [markdown]
# ### Exercise: `embed(token_ids, table)`
#
# *Difficulty ★☆☆, importance ●●○, about 3 minutes.*
#
# Write this lookup yourself, for ids of any shape: two sentences of five words have ids of shape `(2, 5)`, and become
# `(2, 5, D)`. **Worked example:**
#
# $$\text{table} = \begin{pmatrix} 0 & 1 \\ 10 & 11 \\ 20 & 21 \end{pmatrix}, \quad \text{ids} = (2, 0, 2)
# \quad\longrightarrow\quad \begin{pmatrix} 20 & 21 \\ 0 & 1 \\ 20 & 21 \end{pmatrix}$$


# %% nbgrader={"grade": false, "grade_id": "embed", "locked": false, "schema_version": 3, "solution": true, "task": false}
def embed(token_ids: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """The row of the table that each token id names.

    token_ids: (...), int64, each from 0 to N - 1; () is a single id.
    table: (N, D), one row for each token of the vocabulary.
    Returns (..., D). Gradients reach the rows that were looked up, and add up where a token repeats.
    """
    ### BEGIN SOLUTION
    return table[token_ids]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_embed", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(embed)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(embed)
### END HIDDEN TESTS

# %% [markdown]
# ## 2. One query, in numbers
#
# Let *bank* ask first. A dot product with each word gives a **score** per word, softmax turns the scores into **weights**, and
# the average of the words with these weights is the **context** of *bank*: what it takes in. In general, a **query** is compared
# with **keys**, and **values** are averaged. The naive way takes the words' own vectors for all three:


# %% tags=["code"]
def one_query(query, keys, values):
    """Scores, weights and context of one query (Dk,) with keys (S, Dk) and values (S, Dv), key by key."""
    scores = torch.stack([(query * key).sum() for key in keys])
    shares = scores.exp()
    weights = shares / shares.sum()
    context = torch.zeros(values.shape[1])
    for weight, value in zip(weights, values, strict=True):
        context = context + weight * value
    return scores, weights, context


def print_rounded(**named):
    for name, numbers in named.items():
        print(f"{name:8}", [round(number, 2) for number in numbers.tolist()])


the, river, bank = 0, 4, 5  # positions
scores, weights, context = one_query(x[bank], x, x)
print("bank asks", *words)
print_rounded(scores=scores, weights=weights, before=x[bank], context=context)

# %% [markdown]
# The context has more water and motion than *bank* alone: *river* and *boat* are in it now. But the largest weight goes to
# *bank* itself.
#
# ### Predict: the word *the*
#
# The entries of *the*, $(0.2, 0.1, 0.2)$, are all small. To which word does it attend most?

# %%
# The word: "the", "reached" or "river"
predict("the word that 'the' attends to most", ...)

# %% tags=["picture"]
print("the asks", *words)
print_rounded(scores=one_query(x[the], x, x)[0], weights=one_query(x[the], x, x)[1])

# %% [markdown]
# So why isn't one vector per word enough?
#
# 1. **It is mutual.** *bank* needs *river* to know which bank it is. *river* needs nothing from *bank*, but scores it as high,
#    since $\mathbf{x}_i \cdot \mathbf{x}_j = \mathbf{x}_j \cdot \mathbf{x}_i$ for any two word vectors.
# 2. **A word finds what resembles it,** or what is long. It cannot ask for something that it *lacks*.
# 3. **One vector does two jobs.** What a word is found by is also what it hands over.
#
# ## 3. Three roles for one word
#
# So give every word three vectors:
#
# | role | the question it answers | for example |
# |---|---|---|
# | **query** $\mathbf{q}_i$ | What am I looking for? | *bank*: tell me which bank I am |
# | **key** $\mathbf{k}_j$ | By what can others find me? | *river*: I tell banks apart |
# | **value** $\mathbf{v}_j$ | What do I hand over? | *river*: a lot of water |
#
# Each role has its own matrix, which is learned. Multiplying by it is a **projection**. With the word vectors as rows of
# $\mathbf{X}$, `(T, D)`:
#
# $$\mathbf{Q} = \mathbf{X} \mathbf{W}_q, \qquad \mathbf{K} = \mathbf{X} \mathbf{W}_k, \qquad
# \mathbf{V} = \mathbf{X} \mathbf{W}_v$$
#
# Row $i$ of $\mathbf{Q}$ is $\mathbf{q}_i$. Queries and keys meet in a dot product, so they share one width, $d_k$. Values have
# their own, $d_v$, and neither need be the width $d$ of the words. In shapes these are `Dk`, `Dv` and `D`.
#
# We made ours by hand. Column 0 of queries and keys is about **who**: *reached* is mostly motion, so it asks who moved. Column 1
# is about **which**: *bank* is mostly place, so it asks which one it is.

# %% tags=["code"]
W_q = torch.tensor([[-0.5, 0.0], [1.5, -0.5], [0.0, 2.0]])  # (D, Dk): asks "who?" and "which?"
W_k = torch.tensor([[1.0, 2.0], [1.0, -1.0], [-1.0, -0.5]])  # (D, Dk): answers the same two
W_v = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])  # (D, Dv): hands over water and motion
queries, keys, values = x @ W_q, x @ W_k, x @ W_v

scores, weights, context = one_query(queries[bank], keys, values)
print("bank asks", *words)
print_rounded(query=queries[bank], scores=scores, weights=weights, context=context)
print(f"bank scores river {scores[river]:.2f}, river scores bank {queries[river] @ keys[bank]:.2f}")

# %% tags=["picture"]
# @title From x to queries, keys and values: three matrix products
figures.show(figures.projections(x, W_q, W_k, W_v, words, sentence.FEATURES))

# %% [markdown]
# Now *bank* finds *river*, scores are mutual no longer, and the context averages values, not words.
#
# ### Two banks
#
# Here is *bank* in two sentences, with the same query, key and value in both:

# %% tags=["picture"]
# @title The context of “bank” in two sentences
drawn = figures.qkv.two_sentences(attention, embed, table, vocabulary, W_q, W_k, W_v)
figures.show(drawn)

# %% [markdown]
# So whatever reads the contexts can tell the two banks apart.
#
# ## 4. All queries at once
#
# Two matrix products replace the loops. Row $i$ of $\mathbf{A}$ has the weights of query $i$, row $i$ of the **output** its
# context:
#
# $$\operatorname{attention}(\mathbf{Q}, \mathbf{K}, \mathbf{V}) = \mathbf{A} \mathbf{V} \qquad\text{with}\qquad
# \mathbf{A} = \operatorname{softmax}\!\left(\mathbf{Q} \mathbf{K}^\top\right)$$
#
# The shapes, for $T = 3$ of our queries and all $S = 6$ keys:

# %% tags=["picture"]
# @title The shapes: two matrix products, with softmax between them
figures.show(figures.qkv.shapes_to_scores(queries, keys, words))
figures.show(figures.qkv.shapes_to_output(queries, keys, values, words))

# %% [markdown]
# ### Predict: two keys
#
# A query meets two keys of nearly the same direction, which are also the values. Roughly which weights do they get?
#
# $$\mathbf{q} = (1, 2, 3), \qquad \mathbf{K} = \mathbf{V} = \begin{pmatrix} 4 & 5 & 6 \\ 7 & 8 & 9 \end{pmatrix}$$

# %%
# The weights: "40 and 60 %", "10 and 90 %" or "almost 0 and 100 %"
predict("the weights of two keys", ...)

# %% tags=["code"]
two_keys = torch.tensor([[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
for q in (torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.1, 0.2, 0.3])):  # then a query a tenth as long
    two_scores, two_weights, two_context = one_query(q, two_keys, two_keys)
    print_rounded(query=q, scores=two_scores, weights=two_weights, context=two_context)

# %% [markdown]
# ### Exercise: `attention(query, key, value)`
#
# *Difficulty ★★☆, importance ●●●, about 6 minutes.*
#
# In lesson 0 you wrote `q @ k.T` for one sentence. On a batch, a stack of sentences, `.T` turns the batch around, too. `@`
# multiplies the last two dimensions and keeps all others, so swap only those two. **Worked example:**
#
# $$\mathbf{q} = (1, 0), \quad \mathbf{K} = \begin{pmatrix} \ln 3 & 0 \\ 0 & 5 \end{pmatrix}, \quad
# \mathbf{V} = \begin{pmatrix} 4 \\ 8 \end{pmatrix} \quad\longrightarrow\quad
# \text{weights } \left(\tfrac34, \tfrac14\right), \quad \text{output } \tfrac34 \cdot 4 + \tfrac14 \cdot 8 = 5$$


# %% nbgrader={"grade": false, "grade_id": "attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """For every query the average of the values, weighted by how well their keys match it. Not scaled.

    query: (..., T, Dk); key: (..., S, Dk); value: (..., S, Dv). Each of the four sizes may be 1.
    Returns output (..., T, Dv) and weights (..., T, S). Each row of the weights sums to 1, however large the scores are.
    """
    ### BEGIN SOLUTION
    scores = query @ key.mT
    weights = torch.softmax(scores, dim=-1)
    output = weights @ value
    return output, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_attention", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
check(attention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(attention)
### END HIDDEN TESTS

# %% tags=["picture"]
output, found = attention(queries, keys, values)
assert torch.allclose(output[bank], context, atol=1e-6)
print("Row 5 of the output is what the loop computed for bank.")

# %% tags=["picture"]
# @title Which word looks at which, as lines and as a map
figures.show(figures.qkv.who_looks(found, words))

# %% tags=["picture"]
# @title Two sliders: the query's word, and one of four steps
sliders.slider(figures.qkv.one_query, attention, queries, keys, values)

# %% [markdown]
# ### Two sentences: cross-attention
#
# If queries, keys and values come from one sentence, this is **self-attention**. In translation the sentence that is being
# written asks, and the one that is being read answers: **cross-attention**. Three French words, *bateau a atteint* ("boat has
# reached"), ask our sentence, with queries made by hand and $T \ne S$:

# %% tags=["code"]
french = ["bateau", "a", "atteint"]
french_queries = torch.tensor([[2.0, 2.0, -2.0], [-1.0, 2.0, 0.0], [-1.0, 2.5, 0.0]])  # (T, D): the keys are x itself

# %% tags=["picture"]
# @title Three French words attend to six English ones
figures.show(figures.qkv.two_languages(attention(french_queries, x, values)[1], french, words))

# %% [markdown]
# There is one output per *query*, however long the other sentence is.
#
# ## 5. Matrices that learn
#
# Who makes the matrices of a real model? Nobody: they start at random and are trained. `layer = nn.Linear(D, Dk)` holds such a
# matrix, and `layer(x)` is `x @ W` but for three things:
#
# - `layer.weight` is stored transposed, (out, in), and the layer computes `x @ weight.T`;
# - it adds a **bias**, one learned vector, to every row, unless you say `bias=False`;
# - its weight is a **parameter**, registered as a tensor that training may change.
#
# ### Exercise: a matrix as a layer
#
# *Difficulty ★☆☆, importance ●○○, about 4 minutes.*
#
# Put a given matrix into an `nn.Linear`. If it is square and you forget to transpose, nothing complains. You may write into a
# parameter inside `with torch.no_grad():`. **Worked example:** with
# $\begin{pmatrix} 1 & 0 & 2 \\ 0 & 3 & 0 \end{pmatrix}$ the layer turns $(1, 1)$ into $(1, 3, 2)$.


# %%
def as_layer(matrix: torch.Tensor) -> nn.Linear:
    """An nn.Linear without bias that computes x @ matrix.

    matrix: (D, Dk). The layer's weight has the same dtype.
    """
    raise NotImplementedError  # replace this line


# %%
check(as_layer)

# %% [markdown]
# A **module** (`nn.Module`) owns layers. `__init__` makes them, and `forward` says what they compute:


# %% tags=["code"]
class Twice(nn.Module):
    def __init__(self, width):
        super().__init__()  # first of all, or PyTorch can't register what follows
        self.layer = nn.Linear(width, width, bias=False)

    def forward(self, x):
        return 2 * self.layer(x)


twice = Twice(3)
print("twice(x):", tuple(twice(x).shape))  # calling the module calls forward
print("parameters:", [(name, tuple(parameter.shape)) for name, parameter in twice.named_parameters()])

# %% [markdown]
# ### Exercise: `SelfAttention(d_model, d_k, d_v)`
#
# *Difficulty ★★☆, importance ●●●, about 8 minutes.*
#
# Write self-attention as a module with three projections that calls your `attention`. **Worked example:** with
# $\mathbf{W}_q = \mathbf{W}_k = (0)$ and $\mathbf{W}_v = (3)$, the words $(1)$ and $(3)$ give each other weights of $\tfrac12$, and
# both outputs are $\tfrac12 \cdot 3 + \tfrac12 \cdot 9 = 6$.


# %% nbgrader={"grade": false, "grade_id": "SelfAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class SelfAttention(nn.Module):
    """Attention whose queries, keys and values are made from x, by three layers without bias and no other parameters.

    W_q, W_k: nn.Linear from d_model to d_k; W_v: nn.Linear from d_model to d_v. Any of the three widths may be 1.
    """

    def __init__(self, d_model: int, d_k: int, d_v: int) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_v, bias=False)
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """x: (..., T, D), T words of width d_model. Each call uses its own x, and the weights as they are then.

        Returns output (..., T, Dv) and weights (..., T, T), not scaled.
        """
        ### BEGIN SOLUTION
        query, key, value = self.W_q(x), self.W_k(x), self.W_v(x)
        return attention(query, key, value)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_SelfAttention", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
check(SelfAttention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(SelfAttention)
### END HIDDEN TESTS

# %% tags=["picture"]
by_hand = SelfAttention(3, 2, 2)
layers = {"W_q": as_layer(W_q), "W_k": as_layer(W_k), "W_v": as_layer(W_v)}
by_hand.load_state_dict({f"{name}.weight": layer.weight for name, layer in layers.items()}, strict=False)
print("With the matrices made by hand, the same output:", torch.allclose(by_hand(x)[0], output, atol=1e-6))

# %% [markdown]
# ### Learned, not made by hand
#
# Now a module with random matrices learns to imitate this one. The **loss** is the mean squared difference of their outputs. Its
# **gradient** says for each entry of a matrix how fast the loss grows with it, and **gradient descent** moves all entries a
# little the other way, again and again:

# %% tags=["model"]
learned = SelfAttention(3, 2, 2)
torch.manual_seed(2)
for parameter in learned.parameters():
    nn.init.normal_(parameter)  # random numbers, the same in every run
wanted = by_hand(x)[0].detach()  # fixed numbers, through which no gradient flows
descent = torch.optim.SGD(learned.parameters(), lr=0.5)
for step in range(1001):
    loss = (learned(x)[0] - wanted).square().mean()
    descent.zero_grad()  # forget the gradient of the last step
    loss.backward()  # compute the gradient
    descent.step()  # move each entry against it
    if step % 250 == 0:
        print(f"step {step:4}: loss {loss.item():.5f}")

# %% [markdown]
# ### Predict: the learned matrix
#
# The outputs are nearly the same now. Is the learned $\mathbf{W}_q$ nearly the one made by hand?

# %%
# The learned W_q is "nearly ours" or "a different matrix"
predict("the learned W_q", ...)

# %% tags=["picture"]
print("made by hand:", W_q, sep="\n")
print("learned:", learned.W_q.weight.detach().T.round(decimals=1) + 0.0, sep="\n")

# %% [markdown]
# Queries and keys meet only in the score, $s_{ij} = \mathbf{x}_i \mathbf{W}_q \mathbf{W}_k^\top \mathbf{x}_j^\top$. Multiply
# one matrix by ten, divide the other by ten, and every score stays.
#
# ### Predict: a bias
#
# Add a bias to all queries, all keys or all values. Which changes neither weights nor output?

# %%
# Which bias changes nothing? "queries", "keys" or "values"
predict("the bias that changes nothing", ...)

# %% tags=["picture"]
bias = torch.tensor([0.5, -1.0])
biased = {
    "queries": attention(queries + bias, keys, values),
    "keys": attention(queries, keys + bias, values),
    "values": attention(queries, keys, values + bias),
}
for name, (with_bias, moved) in biased.items():
    changes = [(one - other).abs().max().item() for one, other in ((moved, found), (with_bias, output))]
    print(f"bias on the {name:8} weights change by up to {changes[0]:.2f}, the output by up to {changes[1]:.2f}")

# %% [markdown]
# A bias $\mathbf{b}$ on the keys adds $\mathbf{q}_i \cdot \mathbf{b}$ to every score of query $i$. On the queries it adds
# $\mathbf{b} \cdot \mathbf{k}_j$, which differs from key to key.
#
# ## 6. In a trained language model
#
# The small language model has three layers of four attentions. Does it predict as well with your functions? `lm.compare` scales
# the queries first (lesson 4), and gives each only the keys up to its position (lesson 5).

# %% tags=["model"]
lm = small_lm.load()
losses = [lm.compare(embed=embed), lm.compare(attention=attention)]

# %% [markdown]
# And does its *bank* find *river*? This is the weight that *river* gets in each attention:

# %% tags=["picture"]
for layer in range(3):
    heads = [lm.look(" ".join(words), layer, head).weights[bank, river].item() for head in range(4)]
    print(f"layer {layer}:", [round(weight, 2) for weight in heads])

# %% [markdown]
# Two are above one half. Which goes by meaning? Type *the money left the bank*:

# %% tags=["picture"]
# @title Your attention on a sentence that you type
alive.show(attention=attention, layer=0, head=3)

# %% [markdown]
# Head 3 of layer 0 does, trained to find the deciding word: *bank* finds *money*, or *river* anywhere. In head 2 of layer 1 *bank*
# looks one or two words back.
#
# ## 7. A bug that shipped (extra)
#
# In a widely read collection of annotated papers, softmax ran over the wrong dimension, so the weights of each *key* summed to
# 1, and some queries received almost nothing:
#
# ```diff
# - weights = scores.softmax(dim=1)   # scores: (batch, query, key, head)
# + weights = scores.softmax(dim=2)
# ```
#
# No shape was wrong, and the model learned to make pictures of about the same quality
# ([labmlai#146](https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146)). Which test finds it? Sum
# the weights of each query. More such bugs are in the notebook `bug_museum.ipynb`.
#
# ## One model, from here to lesson 8
#
# You build one model, which reads letters, and train it in lesson 8. As soon as a part passes, the model uses yours.

# %% tags=["picture"]
# @title The model so far, and where its letters look
from course import staged_model

figures.show(figures.staged_model.built_so_far(staged_model.current_model()))

# %% [markdown]
# ## Your experiment (extra)
#
# *Difficulty ★★☆, importance ●○○, about 7 minutes.*
#
# Attention without matrices was mutual: $s_{ij} = s_{ji}$. **How mutual is it in a trained model?** Compare $s_{ij}$ with
# $s_{ji}$ over all pairs $i < j$ of a text. Their correlation is 1 if attention is mutual, and about 0 if one score says nothing
# about the other. Compute it for each of the four attentions of layer 0, which are called **heads**, and draw the four numbers
# as bars. Put their mean in place of the dots.

# %% tags=["experiment"]
text = small_lm.held_out().splitlines()[0]
S = lm.look(text, layer=0, head=0).scores  # (T, T), before the mask
i, j = torch.triu_indices(len(S), len(S), offset=1)  # all pairs i < j
# The correlation of two lists of numbers a and b: torch.corrcoef(torch.stack([a, b]))[0, 1]
# Four numbers as bars: figures.bars(four, ["head 0", "head 1", "head 2", "head 3"])

finding = ...

# %%
check("experiment", finding)

# %% [markdown]
# ## 8. Design a query (extra)
#
# Which query finds exactly the keys that you want? A first idea is to copy the wanted key, but a longer key that points partly
# the same way wins. A query must match the keys you want *and* avoid the others. So choose the scores first: a number $c$ for
# each target, 0 for every other key. The scores of a query, written as a column, are $\mathbf{K} \mathbf{q}$, so the query solves
# a system of linear equations, one per key:
#
# $$\mathbf{K} \mathbf{q} = \mathbf{s}, \qquad s_j = \begin{cases} c & \text{if } j \text{ is a target} \\
# 0 & \text{otherwise} \end{cases}$$
#
# ### Exercise: `query_for(keys, targets)` (extra)
#
# *Difficulty ★★★, importance ●○○, about 13 minutes.*
#
# Find such a query. It is right if the targets get equal weights (within 0.001) that add up to at least 0.99. You choose $c$:
# together, $n$ targets among $S$ keys get the weight $n e^c / (n e^c + S - n)$. **Worked example:** keys $(1, 0)$ and $(1, 1)$,
# target 0, $c = 10$. You want $q_0 = 10$ and $q_0 + q_1 = 0$, so $\mathbf{q} = (10, -10)$.
#
# There is a solution if the keys are **linearly independent**, that is, if no key is a sum of multiples of the others, and for
# fewer keys than entries there are many. `torch.linalg.lstsq` and `torch.linalg.pinv` find one.


# %%
def query_for(keys: torch.Tensor, targets: list[int]) -> torch.Tensor:
    """A query with which unscaled attention retrieves the average of the targets' values.

    keys: (S, Dk), with linearly independent rows (so S <= Dk), condition number under 100.
    targets: distinct indices into the rows of keys, at least one.
    Returns (Dk,). The targets get equal weights, to within 1e-3, and together at least 0.99.
    """
    raise NotImplementedError  # replace this line


# %%
check(query_for)

# %% [markdown]
# But one query fetches only *one* average. Four values are the corners of a square, each with its own key:

# %% tags=["picture"]
# @title The outputs: one query, another, and two separate ones
figures.show(figures.qkv.fetched(attention, query_for))

# %% [markdown]
# Both averages are the centre, so nobody can tell which pair the output came from. Lesson 6 lets several queries ask at once.
#
# ## 9. Where attention is used (extra)
#
# **Why not a recurrent network?** Before 2017, most models of text were **recurrent neural networks** (RNNs). An RNN reads one
# word after another, and all that it knows of earlier words has to fit into one vector. Each step waits for the one before, so
# a GPU can't process the positions at the same time. Attention computes all positions at once, and any two words are one step
# apart. The price is the number of scores, $T^2$ for $T$ words.
#
# **Who asks whom?**
#
# - BERT, an **encoder**: every word asks all words. It is trained to fill in hidden ones.
# - GPT, a **decoder**: every word asks itself and those before it (lesson 5). It is trained to predict the next one.
# - Translation, in the first transformer: both, and the decoder also asks the encoder, by cross-attention (lesson 12).
# - Images (ViT) and speech (Whisper): patches of a picture, or slices of a recording, ask each other.
# - Captioning: the words of a description ask the patches of the picture.
#
# ## Summary
#
# 1. An embedding table turns token ids into vectors.
# 2. Every query gets the average of all values, weighted by how well their keys match it.
# 3. Query, key and value are projections: what a word looks for, how others find it, what it hands over.
# 4. Queries may come from another sentence. There is one output per query, as wide as the values.
# 5. The matrices are learned, and a query has a meaning only together with its keys.
#
# $$\operatorname{attention}(\mathbf{Q}, \mathbf{K}, \mathbf{V}) =
# \operatorname{softmax}\!\left(\mathbf{Q} \mathbf{K}^\top\right) \mathbf{V}$$

# %% tags=["picture"]
# @title The diagram up to here, with this lesson's numbers
figures.show(figures.qkv.so_far("queries, keys, values", attention, queries, keys, values))

# %% [markdown]
# **To read on:** [Attention Is All You Need](https://arxiv.org/abs/1706.03762) (2017), section 3.2;
# [The Illustrated Transformer](https://jalammar.github.io/illustrated-transformer/) by Jay Alammar; chapter 3 of Sebastian
# Raschka's book *Build a Large Language Model (From Scratch)*.
#
# Next: scores grow with the width $d_k$. Lesson 4 measures this and corrects it with a square root.

# %%
progress()
