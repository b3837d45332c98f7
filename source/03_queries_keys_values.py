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
# for both. **How can a word take in the words around it, and how does it choose which ones?** By attention. You write it, put
# it into a trained language model, and design queries that fetch exactly the values you want.
#
# **You will build** five functions: `embed`, `simple_attention`, `project_qkv`, `attention` and `query_for`.
#
# **You need** modules (lesson 0), dot products, matrix products and gradients (lesson 1), softmax (lesson 2), and systems of
# linear equations for the last exercise.
#
# **Time:** about 60 minutes, plus 30 for the parts marked *extra*

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
# **1.** Four scores are 100 each. What weight does softmax give to each?
#
# **2.** Two scores differ by $\ln 3$. How many times as large is the larger weight?
#
# **3.** Scores have the shape `(T, S)`, one row per query. Over which dimension does softmax run?

# %%
predict("quiz 1", ...)  # a number
predict("quiz 2", ...)  # a number
predict("quiz 3", ...)  # "dim=-1", "dim=0" or "all of it"

# %% tags=["demo"]
# @title The parts of attention: new in this lesson are queries, keys and values
figures.show(figures.overview("queries, keys, values"))

# %% [markdown]
# Matrices are bold capitals, $\mathbf{X}$, and their rows bold small letters, $\mathbf{x}_i$. Positions start at 0. In a
# shape, `...` means any leading dimensions, such as a batch, or none.
#
# ## 1. From words to vectors
#
# A **vocabulary** is a list of $N$ tokens, which are words here. A token's index in it is its **token id**. An **embedding
# table** $\mathbf{E}$ is a matrix of shape `(N, D)`: row $i$ is the vector of token $i$, its **embedding**, with $d$ entries
# (`D` in shapes). A sentence with the $T$ ids $t_0, \dots, t_{T-1}$ is the matrix
#
# $$\mathbf{X} = \begin{pmatrix} \mathbf{e}_{t_0} \\ \vdots \\ \mathbf{e}_{t_{T-1}} \end{pmatrix}$$
#
# of shape `(T, D)`. In a trained model $d$ is in the hundreds or thousands, and every entry is learned. Here $d = 3$, and
# we chose the entries: how strongly a word relates to *water*, *motion* and *place*. A negative entry means the opposite:
# the motion of *money* is $-1.5$, since it stays in the bank. PyTorch's table is `nn.Embedding`.

# %%
words = sentence.words
vocabulary = ["the", "boat", "reached", "river", "bank", "ship", "left", "money"]
other_words = torch.tensor([[1.4, 1.1, 0.3], [0.0, 1.5, 0.2], [0.0, -1.5, 0.3]])  # ship, left, money
table = torch.cat([sentence.x[[0, 1, 2, 4, 5]], other_words])  # (N, D)
token_ids = torch.tensor([vocabulary.index(word.lower()) for word in words])  # (T,)

x = nn.Embedding.from_pretrained(table)(token_ids)  # (T, D)
print(*words, "  token ids", token_ids.tolist())
print("table", tuple(table.shape), "  x", tuple(x.shape), "  'bank'", x[5].tolist())

# %% [markdown]
# ### Exercise 1: `embed(token_ids, table)`
#
# *Difficulty ★☆☆ · about 3 minutes*
#
# Write this lookup yourself, for ids of any shape: ids of two sentences of five words, `(2, 5)`, give `(2, 5, D)`. Worked
# example:
#
# $$\mathbf{E} = \begin{pmatrix} 0 & 1 \\ 10 & 11 \\ 20 & 21 \end{pmatrix}, \quad t = (2, 0, 2) \quad\longrightarrow\quad
# \begin{pmatrix} 20 & 21 \\ 0 & 1 \\ 20 & 21 \end{pmatrix}$$


# %% nbgrader={"grade": false, "grade_id": "embed", "locked": false, "schema_version": 3, "solution": true, "task": false}
def embed(token_ids: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """The row of the table that each token id names.

    token_ids: (...), int64, each from 0 to N - 1.
    table: (N, D), one row for each token of the vocabulary.
    Returns (..., D). Gradients reach the rows of the table that were looked up.
    """
    ### BEGIN SOLUTION
    return table[token_ids]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_embed", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(embed)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(embed)
### END HIDDEN TESTS

# %% tags=["demo"]
# @title The sentence, looked up in the table
drawn = figures.qkv.looked_up(embed, token_ids, table, vocabulary)
figures.show(drawn)

# %% [markdown]
# ### Predict: the gradient of a row
#
# Training moves each row of the table against its gradient. *the* occurs twice in the sentence. Take the gradient of the sum
# of all looked-up entries, with respect to the table. Its row for *the* holds the same number three times. Which one?

# %%
# The gradient in the row of "the": a number
predict("the gradient in the row of 'the'", ...)

# %% tags=["demo"]
# @title The gradient of the sum, one row per word of the table
figures.show(figures.qkv.gradient_of_table(embed, token_ids, table, vocabulary))

# %% [markdown]
# *ship* is not in the sentence, so its row is 0. With plain gradient steps, a word that never occurs keeps its initial
# vector.
#
# ## 2. One word attends to all words
#
# A dot product **scores** a word $\mathbf{x}_i$ against every word $\mathbf{x}_j$ of the sentence, itself included. Softmax
# turns the scores into **weights**, which are positive and sum to 1. The **context vector** $\mathbf{o}_i$ is the average of
# all words with these weights:
#
# $$s_{ij} = \mathbf{x}_i \cdot \mathbf{x}_j, \qquad a_{ij} = \frac{e^{s_{ij}}}{\sum_{l} e^{s_{il}}}, \qquad
# \mathbf{o}_i = \sum_{j} a_{ij}\, \mathbf{x}_j$$
#
# ### Step: the context vector of one word
#
# *Difficulty ★☆☆ · about 3 minutes*
#
# Compute $\mathbf{o}_i$ for one position $i$. Worked example: for
# $\mathbf{X} = \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}$ and $i = 0$ the scores are $(1, 0)$, the weights
# $(e, 1) / (e + 1) \approx (0.73, 0.27)$, and the context vector is $(0.73, 0.27)$.


# %%
def one_context(x: torch.Tensor, i: int) -> torch.Tensor:
    """The context vector of the word at position i.

    x: (T, D), one row per word. Returns (D,).
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(one_context)

# %% tags=["demo"]
# @title The scores and the weights of “bank”
context_of, bank = one_context, words.index("bank")
figures.show(figures.qkv.one_average(context_of, x, words))

# %% [markdown]
# *bank* attends most to itself, since that dot product is the largest.
#
# ### Exercise 2: `simple_attention(x)`
#
# *Difficulty ★★☆ · about 6 minutes*
#
# Now compute all context vectors at once, with matrices instead of loops:
#
# $$\mathbf{A} = \operatorname{softmax}\!\left(\mathbf{X} \mathbf{X}^\top\right), \qquad \mathbf{O} = \mathbf{A} \mathbf{X}$$
#
# Row $i$ of $\mathbf{A}$, `(T, T)`, holds the weights of word $i$, and row $i$ of $\mathbf{O}$, `(T, D)`, its context vector.
# In a batch, `(..., T, D)`, no word attends to another sentence: `@` multiplies the last two dimensions and treats all others
# as a batch. (`torch.bmm` does this for exactly one leading dimension.) Worked example: for the $\mathbf{X}$ of the step,
# $\mathbf{O} = \mathbf{A} \approx \begin{pmatrix} 0.73 & 0.27 \\ 0.27 & 0.73 \end{pmatrix}$.


# %% nbgrader={"grade": false, "grade_id": "simple_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def simple_attention(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Every word's context vector: the average of all words, weighted by their similarity to it.

    x: (..., T, D), T words of D numbers each.
    Returns context (..., T, D) and weights (..., T, T). Each row of the weights sums to 1.
    """
    ### BEGIN SOLUTION
    weights = torch.softmax(x @ x.mT, dim=-1)
    return weights @ x, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_simple_attention", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(simple_attention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(simple_attention)
### END HIDDEN TESTS

# %% [markdown]
# Row 5 of the result is what the step computed for *bank*:

# %% tags=["demo"]
all_contexts, all_weights = simple_attention(x)
print("'bank' alone:     ", context_of(x, bank))
print("row 5 of all rows:", all_contexts[bank])
print("the same:", torch.allclose(all_contexts[bank], context_of(x, bank), atol=1e-6))

# %% [markdown]
# ### Predict: the word *the*
#
# The entries of *the*, $(0.2, 0.1, 0.2)$, are all small. To which word does it attend most?

# %%
# The word: "the", "reached" or "river"
predict("the word that 'the' attends to most", ...)

# %% tags=["demo"]
# @title All weights: which word attends to which
figures.show(figures.qkv.all_weights(all_weights, words))

# %% [markdown]
# ### What is missing
#
# This is attention already. But it has no parameters, so training cannot correct its three faults:
#
# 1. **It is mutual.** $\mathbf{x}_i \cdot \mathbf{x}_j = \mathbf{x}_j \cdot \mathbf{x}_i$. *bank* needs *river*, to learn
#    which bank it is. *river* needs nothing from *bank*, yet scores it just as high. (The weights differ, because softmax
#    divides each row by its own sum.)
# 2. **A word finds words that resemble it,** or long vectors. It cannot ask for something it *lacks*.
# 3. **One vector does two jobs.** The vector that is compared is also the vector that is averaged.

# %% [markdown]
# ## 3. Three roles for one word
#
# So give every word three vectors:
#
# | role | the question it answers | in a library |
# |---|---|---|
# | **query** $\mathbf{q}_i$ | What am I looking for? | the words you type into the catalogue |
# | **key** $\mathbf{k}_j$ | How can others find me? | the words on the catalogue card |
# | **value** $\mathbf{v}_j$ | What do I return when found? | the book |
#
# Queries are compared with keys, and the output is an average of values. Each role has its own matrix, which is learned.
# Multiplying by it is called a **projection**:
#
# $$\mathbf{Q} = \mathbf{X} \mathbf{W}_q, \qquad \mathbf{K} = \mathbf{X} \mathbf{W}_k, \qquad
# \mathbf{V} = \mathbf{X} \mathbf{W}_v$$
#
# Queries and keys both have $d_k$ entries, since they are multiplied with each other: $\mathbf{W}_q$ and $\mathbf{W}_k$ have
# the shape `(D, K)`. Values have $d_v$ entries: $\mathbf{W}_v$ has the shape `(D, V)`. (In shapes, `K` means $d_k$, and `V`
# means $d_v$.)
#
# Our matrices are hand-made, with two entries per query and key. Entry 0 is about **who**: *reached* is mostly motion, so it
# asks who moved. Entry 1 is about **which**: *bank* is mostly place, so it asks which bank this is.

# %%
W_q = torch.tensor([[-0.5, 0.0], [1.5, -0.5], [0.0, 2.0]])  # (D, K): columns "who?" and "which?"
W_k = torch.tensor([[1.0, 2.0], [1.0, -1.0], [-1.0, -0.5]])  # (D, K): the same two columns
W_v = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])  # (D, V): copies water and motion

# %% tags=["demo"]
# @title From x to queries, keys and values: three matrix products
figures.show(figures.projections(x, W_q, W_k, W_v, words, sentence.FEATURES))

# %% [markdown]
# ### Exercise 3: `project_qkv(x, W_q, W_k, W_v)`
#
# *Difficulty ★☆☆ · about 3 minutes*
#
# Compute the three products. Worked example, one word with $d = 2$, $d_k = 1$, $d_v = 3$:
#
# $$\mathbf{x} = \begin{pmatrix} 1 & 2 \end{pmatrix},\quad
# \mathbf{W}_q = \begin{pmatrix} 1 \\ 0 \end{pmatrix},\quad \mathbf{W}_k = \begin{pmatrix} 0 \\ 3 \end{pmatrix},\quad
# \mathbf{W}_v = \begin{pmatrix} 1 & 0 & 1 \\ 0 & 1 & 1 \end{pmatrix} \quad\longrightarrow\quad
# \mathbf{q} = (1),\quad \mathbf{k} = (6),\quad \mathbf{v} = (1, 2, 3)$$


# %% nbgrader={"grade": false, "grade_id": "project_qkv", "locked": false, "schema_version": 3, "solution": true, "task": false}
def project_qkv(
    x: torch.Tensor, W_q: torch.Tensor, W_k: torch.Tensor, W_v: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Each word as a query, as a key and as a value.

    x: (..., T, D); W_q and W_k: (D, K); W_v: (D, V).
    Returns query (..., T, K), key (..., T, K) and value (..., T, V).
    """
    ### BEGIN SOLUTION
    return x @ W_q, x @ W_k, x @ W_v
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_project_qkv", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(project_qkv)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(project_qkv)
### END HIDDEN TESTS

# %% tags=["demo"]
# @title Six words in their three roles
query, key, value = project_qkv(x, W_q, W_k, W_v)
figures.show(figures.qkv.three_roles(query, key, value, words))

# %% [markdown]
# *reached* asks "who?", and *boat* answers. *bank* asks "which?", and *river* answers. Asking and answering are now separate:
# for *bank*, "which?" is 3 in the query, but only 1.25 in the key.

# %% [markdown]
# ## 4. Attention
#
# Every query scores all keys, and softmax turns its scores into weights. Its **output**, or context vector, is the average of
# the *values* with these weights:
#
# $$\operatorname{attention}(\mathbf{Q}, \mathbf{K}, \mathbf{V}) = \mathbf{A} \mathbf{V} \qquad\text{with}\qquad
# \mathbf{A} = \operatorname{softmax}\!\left(\mathbf{Q} \mathbf{K}^\top\right)$$
#
# This is the soft dictionary of lesson 2, with vectors for keys and the dot product as the score. Here are the shapes for
# $T = 3$ of our queries and all $S = 6$ keys:

# %% tags=["demo"]
# @title The shapes: two matrix products, with softmax between them
figures.show(figures.qkv.shapes_to_scores(query, key, words))
figures.show(figures.qkv.shapes_to_output(query, key, value, words))

# %% [markdown]
# ### Predict: two keys
#
# A query is compared with two keys, which are also the values:
#
# $$\mathbf{q} = (1, 2, 3), \qquad \mathbf{K} = \mathbf{V} = \begin{pmatrix} 4 & 5 & 6 \\ 7 & 8 & 9 \end{pmatrix}$$
#
# The second key has nearly the same direction and is longer. Roughly which weights do the two keys get?

# %%
# The weights: "40 and 60 %", "10 and 90 %" or "almost 0 and 100 %"
predict("the weights of two keys", ...)

# %%
q = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
two_keys = torch.tensor([[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], dtype=torch.float64)
two_scores = two_keys @ q
two_weights = torch.softmax(two_scores, dim=0)
print("scores ", two_scores.tolist())
print("weights", [f"{weight:.9f}" for weight in two_weights.tolist()])
print("output ", [round(entry, 6) for entry in (two_weights @ two_keys).tolist()])

# %% [markdown]
# <details><summary>Why</summary>
#
# The scores, 32 and 50, differ by 18, a factor of $e^{18}$, about 66 million. (float32 would round the second weight to 1.) With
# a query a tenth as long, the weights are 14 and 86 %. Lesson 4 asks how large scores should be.
#
# </details>
#
# ### Exercise 4: `attention(query, key, value)`
#
# *Difficulty ★★☆ · about 4 minutes*
#
# Write it for any leading dimensions. Do not scale the scores. Worked example:
#
# $$\mathbf{q} = (1, 0), \quad \mathbf{K} = \begin{pmatrix} \ln 3 & 0 \\ 0 & 5 \end{pmatrix}, \quad
# \mathbf{V} = \begin{pmatrix} 4 \\ 8 \end{pmatrix} \quad\longrightarrow\quad
# \text{weights } \left(\tfrac34, \tfrac14\right), \quad \text{output } \tfrac34 \cdot 4 + \tfrac14 \cdot 8 = 5$$


# %% nbgrader={"grade": false, "grade_id": "attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """For every query the average of the values, weighted by how well their keys match it. Not scaled.

    query: (..., T, K); key: (..., S, K); value: (..., S, V).
    Returns output (..., T, V) and weights (..., T, S). Each row of the weights sums to 1.
    """
    ### BEGIN SOLUTION
    scores = query @ key.mT
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_attention", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(attention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(attention)
### END HIDDEN TESTS

# %% [markdown]
# ### One query, step by step
#
# The sliders choose a word and a step. Try *bank*, which should find *river*, and *the*, whose query is nearly 0, so it
# attends a little to every word.

# %% tags=["demo"]
# @title Two sliders: the query's word, and one of four steps
sliders.slider(figures.qkv.one_query, attention, project_qkv, x, W_q, W_k, W_v)

# %% [markdown]
# ## 5. Self-attention
#
# If queries, keys and values all come from the same words, attention is called **self-attention**.
#
# ### Step: self-attention
#
# *Difficulty ★☆☆ · about 2 minutes*
#
# Write it with `project_qkv` and `attention`. Worked example: the word $(1, 2)$ of exercise 3, alone in its sentence, gets the
# weight 1, and the output is its value, $(1, 2, 3)$.


# %%
def self_attention(
    x: torch.Tensor, W_q: torch.Tensor, W_k: torch.Tensor, W_v: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention in which queries, keys and values all come from x.

    x: (..., T, D); W_q and W_k: (D, K); W_v: (D, V).
    Returns output (..., T, V) and weights (..., T, T).
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(self_attention)

# %% tags=["demo"]
# @title Which word looks at which, as lines and as a map
output, found = self_attention(x, W_q, W_k, W_v)
figures.show(figures.qkv.who_looks(found, words))

# %% [markdown]
# Attention is no longer mutual: *bank* scores *river* 5.50, and *river* scores *bank* 2.19.
#
# ### Two banks
#
# Compare *bank* in two sentences. Its embedding is the same in both, and so are its query, key and value:

# %% tags=["demo"]
# @title The output of “bank” in two sentences
drawn = figures.qkv.two_sentences(self_attention, embed, table, vocabulary, W_q, W_k, W_v)
figures.show(drawn)

# %% [markdown]
# The outputs differ, so the next layer can tell the two banks apart.
#
# ### Learned, not hand-made
#
# In a model the three matrices start as random numbers. Train random ones to imitate ours, by **gradient descent**, which
# repeats the training step of lesson 0: move each entry a little against its gradient. The loss is the mean squared
# difference between the two outputs.

# %% tags=["demo"]
generator = torch.Generator().manual_seed(2)
learned = [torch.randn(3, 2, generator=generator).requires_grad_() for _ in range(3)]
wanted = self_attention(x, W_q, W_k, W_v)[0]
descent = torch.optim.SGD(learned, lr=0.5)
for step in range(1001):
    loss = (self_attention(x, *learned)[0] - wanted).square().mean()
    descent.zero_grad()
    loss.backward()
    descent.step()
    if step % 250 == 0:
        print(f"step {step:4}: loss {loss.item():.5f}")

# %% [markdown]
# ### Predict: the learned matrix
#
# The trained matrices give nearly the same outputs as the hand-made ones. Is the learned `W_q` nearly the hand-made one?

# %%
# The learned W_q is "nearly ours" or "a different matrix"
predict("the learned W_q", ...)

# %% tags=["demo"]
print("hand-made W_q:", W_q, sep="\n")
print("learned W_q:", learned[0].detach().round(decimals=1) + 0.0, sep="\n")

# %% [markdown]
# <details><summary>Why</summary>
#
# Queries and keys meet only in the score, $s_{ij} = \mathbf{x}_i \mathbf{W}_q \mathbf{W}_k^\top \mathbf{x}_j^\top$. Multiply
# one matrix by ten and divide the other by ten, or rotate the rows of both in the same way: every score stays the same. A
# query has a meaning only together with its keys.
#
# </details>
#
# ### Predict: a bias
#
# `nn.Linear` adds a bias unless you pass `bias=False`: one learned vector, added to every row, as in
# $\mathbf{q}_i = \mathbf{x}_i \mathbf{W}_q + \mathbf{b}_q$. Add one to the queries only, the keys only or the values only.
# Which bias changes neither weights nor output?

# %%
# Which bias changes nothing? "queries", "keys" or "values"
predict("the bias that changes nothing", ...)

# %% tags=["demo"]
bias = torch.tensor([0.5, -1.0])
query, key, value = project_qkv(x, W_q, W_k, W_v)
biased = {
    "queries": attention(query + bias, key, value),
    "keys": attention(query, key + bias, value),
    "values": attention(query, key, value + bias),
}
for name, (with_bias, moved) in biased.items():
    change = [(one - other).abs().max().item() for one, other in ((moved, found), (with_bias, output))]
    print(f"bias on the {name:8} weights change by up to {change[0]:.2f}, the output by up to {change[1]:.2f}")

# %% [markdown]
# <details><summary>Why, and what models do</summary>
#
# A bias on the keys adds $\mathbf{q}_i \cdot \mathbf{b}_k$ to every score of query $i$, the same for all keys. A bias on the
# queries adds $\mathbf{b}_q \cdot \mathbf{k}_j$, which differs from key to key. A bias on the values adds $\mathbf{b}_v$ to the output.
# The speech model [Whisper](https://github.com/openai/whisper) has biases on queries and values, but not on keys. Our
# projections, like those of many newer models, have none.
#
# </details>
#
# ## 6. Two sentences: cross-attention
#
# In translation the queries come from the text that is being written, and keys and values from the text that is being read.
# This is **cross-attention**.
#
# Take the French "bateau a atteint", "boat has reached", with hand-made queries, and keys and values from our sentence.

# %%
french = ["bateau", "a", "atteint"]
french_queries = torch.tensor([[2.0, 2.0, -2.0], [-1.0, 2.0, 0.0], [-1.0, 2.5, 0.0]])  # (T, D)

# %% tags=["demo"]
translated, alignment = attention(french_queries, x, x @ W_v)
print("queries", tuple(french_queries.shape), " keys", tuple(x.shape), " output", tuple(translated.shape))

# %% tags=["demo"]
# @title Three French words attend to six English ones
figures.show(figures.qkv.two_languages(alignment, french, words))

# %% [markdown]
# Two French words attend to *reached*, while *The*, *the* and *bank* get hardly anything: the weights of a query sum to 1, but
# those that a key receives need not. There is one output per *query*, however long the other sentence is.

# %% [markdown]
# ## 7. Design a query
#
# With our matrices *bank* finds *river*, but *boat* still gets 0.13. Which query finds one key and nothing else? A first
# idea is to copy the key, eight times as long: $\mathbf{q} = 8\, \mathbf{k}_0$. For the average of two values, add two copies:
# $\mathbf{q} = 8\, \mathbf{k}_0 + 8\, \mathbf{k}_2$. This works if all keys have length 1 and are perpendicular to each other.


# %%
def copy_the_keys(keys, targets):
    """A first idea: eight times the sum of the wanted keys."""
    return 8 * sum(keys[target] for target in targets)


square_keys = torch.eye(3)
slanted_keys = torch.tensor([[1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])

# %% [markdown]
# ### Predict: a copied key
#
# The keys are $(1, 0, 0)$, $(2, 1, 0)$ and $(0, 1, 1)$, and the query copies key 0: $(8, 0, 0)$. Which key gets the largest
# weight?

# %%
# The largest weight: "key 0", "key 1" or "key 2"
predict("a copied key", ...)

# %% tags=["demo"]
# @title The weights of a query that copies key 0, for both sets of keys
drawn = figures.qkv.copies(attention, copy_the_keys, square_keys, slanted_keys)
figures.show(drawn)

# %% [markdown]
# ### Step: the wanted scores
#
# *Difficulty ★☆☆ · about 2 minutes*
#
# A query must match the keys you want *and* avoid the others. So choose the scores first: a number `high` for each target, 0
# for every other key. `keys.new_zeros(n)` makes `n` zeros with the dtype and device of `keys`. Worked example: three keys,
# targets `[2, 0]` and `high=10.0` give $\mathbf{s} = (10, 0, 10)$.


# %%
def wanted_scores(keys: torch.Tensor, targets: list[int], high: float) -> torch.Tensor:
    """The scores that a query for the targets should give.

    keys: (S, K); targets: indices into the rows of keys. Returns (S,): high for targets, 0 for the rest.
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(wanted_scores)

# %% [markdown]
# ### Exercise 5: `query_for(keys, targets)`
#
# *Difficulty ★★★ · about 13 minutes*
#
# The scores of one query $\mathbf{q}$, written as a column, are $\mathbf{K} \mathbf{q}$. So the query solves a system of
# linear equations, one per key:
#
# $$\mathbf{K} \mathbf{q} = \mathbf{s}, \qquad s_j = \begin{cases} c & \text{if } j \text{ is a target} \\
# 0 & \text{otherwise} \end{cases}$$
#
# Worked example: keys $(1, 0)$ and $(1, 1)$, target 0, $c = 10$. You want $q_0 = 10$ and $q_0 + q_1 = 0$, so
# $\mathbf{q} = (10, -10)$, which is perpendicular to the unwanted key.
#
# There is a solution for every $\mathbf{s}$ if the keys are **linearly independent**, that is, if no key is a sum of multiples
# of the others. With as many keys as entries there is one solution; with fewer keys there are many. `torch.linalg.lstsq` and
# `torch.linalg.pinv` find one in both cases.
#
# Any query is right that gives all targets the same weight, to within 0.001, and together at least 0.99. You choose $c$:
# together, $n$ targets among $S$ keys get the weight $n e^c / (n e^c + S - n)$. (The keys' **condition number**, which is large
# if they are nearly dependent, is below 100, so rounding does no harm.)


# %% nbgrader={"grade": false, "grade_id": "query_for", "locked": false, "schema_version": 3, "solution": true, "task": false}
def query_for(keys: torch.Tensor, targets: list[int]) -> torch.Tensor:
    """A query with which unscaled attention retrieves the average of the targets' values.

    keys: (S, K), with linearly independent rows (so S <= K), condition number under 100.
    targets: distinct indices into the rows of keys, at least one.
    Returns (K,). The targets get equal weights, to within 1e-3, and together at least 0.99.
    """
    ### BEGIN SOLUTION
    scores = keys.new_zeros(len(keys))
    scores[targets] = 20.0  # e^20 to 1 against each of the other keys
    return torch.linalg.pinv(keys) @ scores
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_query_for", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(query_for)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(query_for)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: a key between two others
#
# Take the keys $(1, 0)$, $(0, 1)$ and, halfway between them, $(\tfrac12, \tfrac12)$. Can a query give the third key a higher
# weight than both others?

# %%
# "yes" or "no"
predict("the key halfway between two others", ...)

# %% tags=["demo"]
# @title The key that gets the highest weight, for queries in all directions
figures.show(figures.qkv.hidden_key())

# %% [markdown]
# ### One query, one average
#
# With $d_k$ entries, $d_k$ independent keys can each be found, and so can any group of them. More keys than entries can each
# be found, too, if none is a weighted average of the others (as on the circle), but not every group of them.
#
# But one query fetches only *one* average. Four values are the corners of a square, each with its own key. Ask for the average
# of $\mathbf{v}_0$ and $\mathbf{v}_2$, then of $\mathbf{v}_1$ and $\mathbf{v}_3$:

# %% tags=["demo"]
# @title The outputs: one query, another, and two separate ones
figures.show(figures.qkv.fetched(attention, query_for))

# %% [markdown]
# Both averages are the centre of the square, so a later layer cannot tell which pair the output came from. No single query can
# do better, since its output is one point of the shaded square. A **head** is one attention with its own projections; lesson 6
# builds several.

# %% [markdown]
# ## 8. In a trained language model
#
# In the small language model of lessons 1 and 2, each word vector has 96 entries, and each head has three matrices of shape
# `(96, 24)`. Your functions compute what the model computes:

# %% tags=["demo"]
lm = small_lm.load()
head = lm.look("The boat reached the river bank", layer=0, head=0)
its_query, its_key, its_value = project_qkv(head.x, head.W_q, head.W_k, head.W_v)
print("x", tuple(head.x.shape), " W_q", tuple(head.W_q.shape), " queries", tuple(its_query.shape))
print("the model's queries:", torch.allclose(its_query, head.q, atol=1e-5))
print("the model's scores: ", torch.allclose(its_query / 24**0.5 @ its_key.T, head.scores, atol=1e-4))  # √24: lesson 4

# %% [markdown]
# Does the model predict as well with *your* functions in every layer and head? `lm.compare` swaps them in, one at a time. It
# scales the queries first (lesson 4), and gives each query only the keys up to its position (lesson 5).

# %% tags=["demo"]
losses = [lm.compare(embed=embed), lm.compare(project_qkv=project_qkv), lm.compare(attention=attention)]

# %% [markdown]
# ## Your experiment (extra)
#
# *Difficulty ★★☆ · about 7 minutes · not graded*
#
# `simple_attention` was mutual: $s_{ij} = s_{ji}$. **How mutual is attention in a trained model?** For one head, compare
# $s_{ij}$ with $s_{ji}$ over all pairs $i < j$ of a text. Their correlation is 1 if attention is mutual, and about 0 if one
# score says nothing about the other. Compute it for each of the four heads of layer 0 and draw the four numbers as bars. Put
# their mean in place of the dots.

# %% tags=["demo"]
text = small_lm.held_out().splitlines()[0]
S = lm.look(text, layer=0, head=0).scores  # (T, T), before the mask
i, j = torch.triu_indices(len(S), len(S), offset=1)  # all pairs i < j
# The correlation of two lists of numbers a and b: torch.corrcoef(torch.stack([a, b]))[0, 1]
# Four numbers as bars: figures.bars(four, ["head 0", "head 1", "head 2", "head 3"])

finding = ...

# %% tags=["demo"]
check("experiment", finding)

# %% [markdown]
# ## 9. Where attention is used (extra)
#
# **Why not a recurrent network?** Before 2017, most models of text were **recurrent neural networks** (RNNs). An RNN reads
# one word after another and keeps one vector, its state. Everything about the earlier words has to fit into it, and each step
# has to wait for the one before, so a GPU cannot process the positions at the same time. Attention computes all positions at
# once, and any two words are one step apart. The price is the number of scores, $T^2$ for $T$ words (lessons 9 and 10).
#
# **Three kinds of model** differ in what a query may see:
#
# | model | a query sees | trained to |
# |---|---|---|
# | encoder (BERT) | all positions | fill in hidden words |
# | decoder (GPT) | itself and earlier positions (lesson 5) | predict the next token |
# | encoder-decoder (the first transformer) | each part as above; the decoder also the encoder's output, by cross-attention (lesson 12) | translate |
#
# **Beyond text.** Attention only needs a list of vectors: patches of an image (ViT), slices of a recording (Whisper), the
# amino acids of a protein (AlphaFold). In Stable Diffusion, queries come from the image, keys and values from the prompt.
#
# ## 10. PyTorch's own module (extra)
#
# `nn.MultiheadAttention` projects and attends in one call. `module(x, x, x)` says from which *words* it makes queries, keys and
# values; cross-attention is `module(x, other, other)`. The three matrices are its own.
#
# ### Step: matrices from a packed weight (extra)
#
# *Difficulty ★☆☆ · about 4 minutes*
#
# `nn.Linear` stores its weight transposed, as (out, in), and computes `x @ weight.T`. `nn.MultiheadAttention`, PyTorch's own
# module, stores three such weights in one tensor of shape `(3 * D, D)`: $\mathbf{W}_q^\top$ on top, then
# $\mathbf{W}_k^\top$, then $\mathbf{W}_v^\top$. Return $\mathbf{W}_q$, $\mathbf{W}_k$ and $\mathbf{W}_v$, ready for
# `project_qkv`. (`t.chunk(n)` cuts a tensor `t` into `n` equal parts along dimension 0.) Worked example:
#
# $$\begin{pmatrix} 1 & 2 \\ 3 & 4 \\ \vdots & \vdots \end{pmatrix} \quad\longrightarrow\quad
# \mathbf{W}_q = \begin{pmatrix} 1 & 3 \\ 2 & 4 \end{pmatrix}, \dots$$


# %%
def unpack(packed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """W_q, W_k and W_v from a packed weight as nn.MultiheadAttention stores it.

    packed: (3 * D, D). Returns three matrices (D, D), stored as (in, out).
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(unpack)

# %% [markdown]
# Without the transpose you get an error if $d \ne d_k$, but silently wrong results if the matrix is square. (GPT-2 stores its
# weights as (in, out): [huggingface/transformers#311](https://github.com/huggingface/transformers/issues/311), lesson 11.)
#
# These are the module's parameters:

# %% tags=["demo"]
layer = nn.MultiheadAttention(embed_dim=3, num_heads=1, bias=False, batch_first=True)
for name, parameter in layer.named_parameters():
    print(f"{name:16}", tuple(parameter.shape))
print("nn.Linear(3, 2) stores", tuple(nn.Linear(3, 2).weight.shape), " our W_q is", tuple(W_q.shape))

# %% [markdown]
# ### `nn.MultiheadAttention` beside ours
#
# | ours | `nn.MultiheadAttention` |
# |---|---|
# | any `K` and `V` | always `embed_dim // num_heads`, in each of `num_heads` heads (lesson 6) |
# | `W_q`, `W_k`, `W_v` | `in_proj_weight`, packed and transposed; biases unless `bias=False`; `kdim`, `vdim` for other widths of the vectors behind keys and values |
# | `(..., T, D)` | `(B, T, D)` with `batch_first=True`; the default is `(T, B, D)` |
# | output and weights | the output, projected once more by `out_proj`; the weights averaged over heads, or None with `need_weights=False` |
# | no scaling, no mask | scores divided by $\sqrt{d_k}$ (lesson 4); `attn_mask`, `key_padding_mask` (lesson 5), `dropout` |
#
# `F.scaled_dot_product_attention` neither projects nor returns weights. With the identity matrix as values, its output is the
# weights.
#
# Unpack the module's matrices and divide the queries by $\sqrt{d_k}$, and your functions give its weights:

# %% tags=["demo"]
query, key, value = project_qkv(x, *unpack(layer.in_proj_weight))
_, our_weights = attention(query / 3**0.5, key, value)
_, its_weights = layer(x, x, x)
print("the same weights:", torch.allclose(our_weights, its_weights, atol=1e-6))

# %% [markdown]
# ## 11. A bug that shipped (extra)
#
# In a widely read collection of annotated papers, weights of shape (batch, query, key, head) were normalised along dimension 1.
# So the weights of each *key* summed to 1, and some queries received almost no weight:
#
# ```diff
# - weights = scores.softmax(dim=1)   # scores: (batch, query, key, head)
# + weights = scores.softmax(dim=2)
# ```
#
# No shape was wrong, and no loss showed it: trained both ways, the model produced images of about the same quality
# ([labmlai#146](https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146)). Two years after the fix,
# somebody even reported the *right* line as the mistake
# ([#282](https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/282)). One test finds it: do the
# weights of each query sum to 1?
#
# More bugs that shipped are in the notebook `bug_museum.ipynb`.

# %% [markdown]
# ## One model, from here to lesson 8
#
# You build one model, which reads text letter by letter. It grows with every lesson, and in lesson 8 you train it to write.
# So far it has a table, three matrices and attention. Each part is **yours once it passes**, and the course's until then. Later
# lessons find your answers in the notebooks beside them. In Colab, drag those into the *Files* panel, or paste an answer into
# its own cell.

# %% tags=["demo"]
# @title The model so far, and where its letters look
from course import staged_model

figures.show(figures.staged_model.built_so_far(staged_model.current_model()))

# %% [markdown]
# A letter attends almost only to itself and its copies: its highest scores are so large that they get nearly all the weight
# (lesson 4). It also sees the letters after it (lesson 5).
#
# ## Your attention, alive
#
# Type a sentence to see the weights and the output of your `attention` in one head of the small language model.

# %% tags=["demo"]
# @title Your attention on a sentence that you type
alive.show(attention=attention)

# %% [markdown]
# ## Challenge: `remember(memory, key, value)` (extra)
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# Attention keeps every key and value, so its memory grows with the text. A matrix $\mathbf{M}$ of shape `(K, V)` is a memory
# that keeps its size: a query fetches the row $\mathbf{q} \mathbf{M}$ from it. Write a key $\mathbf{k}$ and its value
# $\mathbf{v}$ into it. Only one matrix $\mathbf{M}'$ fulfils both conditions:
#
# - the key fetches exactly the value: $\mathbf{k} \mathbf{M}' = \mathbf{v}$, whatever it fetched before;
# - a query perpendicular to the key fetches the same as before: $\mathbf{q} \mathbf{M}' = \mathbf{q} \mathbf{M}$ wherever
#   $\mathbf{q} \cdot \mathbf{k} = 0$.
#
# Return $\mathbf{M}'$ as a new tensor. All three arguments have the same leading dimensions.
#
# Two lines are enough. Worked example: the memory $\begin{pmatrix} 0 & 0 \\ 0 & 0 \end{pmatrix}$ is empty, the key is
# $(2, 0)$ and the value $(4, 6)$. The key fetches twice row 0. Which row must that be? And what is row 1, from which $(0, 1)$
# must fetch nothing?
#
# This is the **delta rule**. Some language models use it to read texts of any length
# ([Schlag, Irie and Schmidhuber 2021](https://arxiv.org/abs/2102.11174)). The price: only $d_k$ keys can be perpendicular to
# each other, so with more keys a new value changes old ones.


# %%
def remember(memory: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """The memory after one change: the key fetches the value, and queries perpendicular to it what they fetched before.

    memory: (..., K, V), fetched from by `query @ memory`; key: (..., K), not zero; value: (..., V).
    Returns (..., K, V), a new tensor.
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(remember)

# %% [markdown]
# ## Summary
#
# 1. An embedding table turns token ids into vectors.
# 2. Every query gets the average of all values, weighted by how well their keys match it.
# 3. Query, key and value are three learned vectors per word: what it looks for, how others find it, what it returns.
# 4. Queries may come from another sentence. There is one output per query, as wide as the values.
# 5. You can design a query for any group of independent keys, but it returns only one average.
#
# $$\operatorname{attention}(\mathbf{Q}, \mathbf{K}, \mathbf{V}) =
# \operatorname{softmax}\!\left(\mathbf{Q} \mathbf{K}^\top\right) \mathbf{V}$$

# %% tags=["demo"]
# @title The diagram up to here, with this lesson's numbers
figures.show(figures.qkv.so_far("queries, keys, values", attention, *project_qkv(x, W_q, W_k, W_v)))

# %% [markdown]
# **To read on:** [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2;
# [Neural Machine Translation by Jointly Learning to Align and Translate](https://arxiv.org/abs/1409.0473), the first
# attention between two sentences;
# [`F.scaled_dot_product_attention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html).
#
# Next: scores grow with the width $d_k$. Lesson 4 measures this and corrects it with a square root.

# %% tags=["demo"]
progress()
