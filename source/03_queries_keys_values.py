# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 3: Queries, keys and values
#
# A word's vector says what the word means on its own. In a sentence a word means more than that: a *step* is one
# thing in "one step" and another in "every step of the ladder". **How can a word take in what the words around it
# say, and settle for itself which of them to listen to?** The answer is attention, and by the end of this lesson
# you will have written it, used it between two sentences, and designed queries that fetch exactly what you want.
#
# **You will build** five functions: `embed`, `simple_attention`, `project_qkv`, `attention` and `query_for`.
#
# **You need** dot products, matrix products and gradients by autograd (lesson 1) and softmax (lesson 2); for the last
# exercise also what a system of linear equations is.
#
# **Time:** about 70 minutes

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, progress, sliders, torch_fallbacks, use
from torch import nn

begin("03_queries_keys_values")

# %% [markdown]
# ## Review: three questions on what came before
#
# *Review* · about 3 minutes. Answer each in your head or on paper before you unfold its answer. Where one will not
# come back, look at the summary of the lesson that it is from.
#
# **1.** Softmax of `[0, 0, 0, 0]`: which weights? And of `[100, 100, 100, 100]`?
#
# <details><summary>Answer</summary>
#
# A quarter each, both times: only differences of scores count.
#
# </details>
#
# **2.** Two scores differ by $\ln 3$. How do their weights compare?
#
# <details><summary>Answer</summary>
#
# As 3 to 1: the quotient of two weights is $e$ to the difference of their scores.
#
# </details>
#
# **3.** Scores have the shape `(T, S)`, a row for each query. Along which dimension does softmax run, and what sums
# to 1?
#
# <details><summary>Answer</summary>
#
# Along the last, `dim=-1`: each row, so each query shares out one unit of attention among the $S$ keys.
#
# </details>

# %% [markdown]
# The letters of this lesson, for reference. Matrices are bold capitals, $\mathbf{X}$, and their rows bold small
# letters, $\mathbf{x}_i$. The three widths have one name in formulas, as in papers, and another in shapes:
#
# | letter | counts | | in formulas | in shapes | counts |
# |---|---|---|---|---|---|
# | $N$ | words in the vocabulary | | $d$ | `D` | numbers in a word vector |
# | $T$ | query positions | | $d_k$ | `K` | numbers in a query or key |
# | $S$ | key positions | | $d_v$ | `V` | numbers in a value |
# | | | | | `...` | any leading dimensions, such as a batch, or none |
#
# ## 1. From words to vectors
#
# A network adds and multiplies numbers, so a sentence first becomes numbers, in two steps. A **vocabulary** gives
# every word an integer, its **token id**. Then an **embedding table** $\mathbf{E}$ of shape `(N, D)` gives every id a
# vector, its **embedding**: row $\mathbf{e}_i$ of the table belongs to token $i$. With ids $t_1, \dots, t_T$ the
# sentence is the matrix
#
# $$\mathbf{X} = \begin{pmatrix} \mathbf{e}_{t_1} \\ \vdots \\ \mathbf{e}_{t_T} \end{pmatrix}$$
#
# of shape `(T, D)`. In a trained model $d$ is in the hundreds or thousands and every number is learned. Here $d = 3$,
# and we chose the numbers so that you can read them: how much a word has to do with *someone*, with *moving*, with *how
# many*. PyTorch's table is called `nn.Embedding`.

# %%
meanings = {  # someone, moving, how many
    "Your": [1.8, 0.2, 0.3],
    "my": [1.7, 0.1, 0.2],
    "journey": [0.6, 1.6, 0.2],
    "starts": [0.1, 1.2, 0.4],
    "ends": [0.1, 1.1, 0.2],
    "with": [0.3, 0.1, 0.2],
    "one": [0.3, 0.1, 1.7],
    "step": [0.1, 1.4, 1.0],
}
vocabulary = list(meanings)
table = torch.tensor(list(meanings.values()))  # (N, D)
sentence = "Your journey starts with one step".split()
token_ids = torch.tensor([vocabulary.index(word) for word in sentence])  # (T,)

layer = torch.nn.Embedding.from_pretrained(table)
x = layer(token_ids)  # (T, D)
print("token ids ", token_ids.tolist())
print("table     ", tuple(table.shape))
print("sentence x", tuple(x.shape))
print("'journey' ", x[1])

# %% [markdown]
# ### Exercise 1: `embed(token_ids, table)`
#
# *Difficulty ★☆☆ · about 4 minutes*
#
# Write the look-up yourself: for ids of any shape, the rows of the table that they name. A small example for paper:
#
# $$\mathbf{E} = \begin{pmatrix} 0 & 1 \\ 10 & 11 \\ 20 & 21 \end{pmatrix}, \quad t = (2, 0, 2) \quad\longrightarrow\quad
# \begin{pmatrix} 20 & 21 \\ 0 & 1 \\ 20 & 21 \end{pmatrix}$$
#
# Ids of shape `(2, 5)`, say two sentences of five words, give a result of shape `(2, 5, D)`.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(embed)


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
lookup = use(embed, torch.nn.functional.embedding)
again = torch.tensor([vocabulary.index(word) for word in "one step starts with one step".split()])
vectors = lookup(again, table)  # (6, D)

# %% tags=["demo"]
# @title “one step starts with one step”, looked up in the table
figures.show(
    figures.attention.lookup(again, table, vectors, vocabulary),
    alt="The embedding table with eight rows of three numbers on the left. Lines lead from the rows of one, step, "
    "starts and with to the six places of the sentence on the right; the rows of one and step are used twice.",
    caption=f"“one step starts with one step”: a look-up copies rows, some of them twice. By {lookup.whose}.",
)

# %% [markdown]
# ### Predict first
#
# The table is learned: in training each row moves along its gradient. In the sentence above, *one* occurs twice and
# *Your* not at all. Add up all the numbers of the looked-up vectors and ask for the gradient of that sum with respect
# to the table. What stands in the row of *one*? In the row of *Your*?
#
# <details><summary>Answer</summary>
#
# In the row of *one* there are 2s: it was copied to two places, and the gradients of both places come back and add
# up. In the row of *Your* there are 0s: it took no part. A rare word's vector therefore learns from few sentences,
# and a word that never occurs in training keeps the random vector that it began with.
#
# </details>

# %% tags=["demo"]
learned = table.clone().requires_grad_()
lookup(again, learned).sum().backward()

# %% tags=["demo"]
# @title The gradient of the sum, one row for each word of the table
ax = figures.heat_map(
    learned.grad, rows=vocabulary, columns=["someone", "moving", "how many"], kind="scores", size=(4.2, 3.6)
)
figures.show(
    ax,
    alt="The gradient of the table, one row a word: 2 for one and step, 1 for starts and with, 0 for Your, my, "
    "journey and ends.",
    caption="The gradient of the sum of all looked-up numbers, with respect to the table.",
)

# %% [markdown]
# ## 2. One word listens to all the others
#
# Take the word *journey*, at place $i$, and let it listen. First it **scores** every word $\mathbf{x}_j$ of the
# sentence, itself included, by a dot product, which is large for similar vectors. Softmax turns the scores into
# **weights** that are positive and sum to 1. The **context vector** $\mathbf{c}_i$ is the average of all words with
# these weights:
#
# $$s_{ij} = \mathbf{x}_i \cdot \mathbf{x}_j, \qquad a_{ij} = \frac{e^{s_{ij}}}{\sum_{l} e^{s_{il}}}, \qquad
# \mathbf{c}_i = \sum_{j} a_{ij}\, \mathbf{x}_j$$
#
# Here $s_{ij}$ and $a_{ij}$ are numbers and $\mathbf{c}_i$ has the shape of $\mathbf{x}_i$, `(D,)`. As a loop, word for
# word:

# %%
place = sentence.index("journey")
scores = torch.zeros(len(sentence))  # (T,)
for j, other in enumerate(x):
    scores[j] = torch.dot(x[place], other)

weights = torch.softmax(scores, dim=0)  # (T,), sums to 1

context = torch.zeros(3)  # (D,)
for weight, other in zip(weights, x):
    context += weight * other

print("journey before:", x[place])
print("journey after: ", context)

# %% tags=["demo"]
# @title The scores and the weights of “journey”
fig, (left, right) = figures.row(2, width=4.2, height=2.9)
figures.bars(scores, sentence, ax=left, title="scores of “journey” with every word")
figures.bars(weights, sentence, ax=right, title="weights: softmax of the scores", limit=1.1)
figures.show(
    fig,
    alt="Two bar charts over the six words. The scores of journey are 1.46, 2.96, 2.06, 0.38, 0.68 and 2.5. Its "
    "weights are 0.09, 0.41, 0.17, 0.03, 0.04 and 0.26: journey, step and starts count most.",
    caption="“journey” listens most to itself and to the other two words that move.",
)

# %% [markdown]
# ### Exercise 2: `simple_attention(x)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# The loop did one word. Do all of them at once, with matrices instead of loops. In equations,
#
# $$\mathbf{A} = \operatorname{softmax}\!\left(\mathbf{X} \mathbf{X}^\top\right), \qquad \mathbf{C} = \mathbf{A} \mathbf{X},$$
#
# where $\mathbf{A}$, of shape `(T, T)`, holds the weights, one row for each word that listens, each row summing to 1;
# and $\mathbf{C}$, of shape `(T, D)`, holds the context vectors. Let it work for a whole batch, of shape `(..., T, D)`,
# too: no word listens to words of another sentence.
#
# A small example for paper: for $\mathbf{X} = \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}$ the scores are
# $\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}$, so each word gives itself the weight $e / (e + 1) \approx 0.73$ and
# the other one 0.27, and $\mathbf{C} \approx \begin{pmatrix} 0.73 & 0.27 \\ 0.27 & 0.73 \end{pmatrix}$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(simple_attention)


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
check(simple_attention)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(simple_attention)
### END HIDDEN TESTS

# %% [markdown]
# One run gives all six context vectors, and the row of *journey* is what the loop gave:

# %% tags=["demo"]
attend_simply = use(simple_attention, lambda x: torch_fallbacks.attention(x, x, x))
all_contexts, all_weights = attend_simply(x)
print("journey by the loop:    ", context)
print("journey by the matrices:", all_contexts[place])
print("the same:", torch.allclose(all_contexts[place], context, atol=1e-6))

# %% tags=["demo"]
# @title All weights: who listens to whom
ax = figures.heat_map(all_weights, rows=sentence, columns=sentence, size=(5.0, 4.0))
figures.show(
    ax,
    alt="A six by six heat map of weights with the numbers written on it. Your gives itself 0.69 and one gives "
    "itself 0.57; journey, starts and step share their weight among the three of them.",
    caption="Row: the word that listens. Column: the word it listens to. Each row sums to 1. "
    f"By {attend_simply.whose}.",
)

# %% [markdown]
# ### Predict first
#
# The score of *journey* with *step* is the score of *step* with *journey*: a dot product does not
# mind the order. Is the matrix of *weights* symmetric too?
#
# <details><summary>Answer</summary>
#
# No: *journey* gives *step* the weight 0.26, *step* gives *journey* 0.24. The scores are the same, but each row is
# divided by a sum of its own. Rows sum to 1, columns need not.
#
# </details>
#
# ### Many sentences at once
#
# For a batch, `@` multiplies matrix by matrix, whatever the leading dimensions. In other people's code you will also
# meet `torch.bmm`, *batched matrix multiplication*. It does the same for exactly one leading dimension: `(B, T, S)`
# times `(B, S, D)` is `(B, T, D)`, and anything else is an error.

# %% tags=["demo"]
two = torch.stack([x, x.flip(0)])  # (2, 6, 3): the sentence, and the sentence backwards
two_contexts, two_weights = attend_simply(two)
by_bmm = torch.bmm(two_weights, two)
print("weights", tuple(two_weights.shape), " words", tuple(two.shape), " contexts", tuple(by_bmm.shape))
print("the same:", torch.allclose(by_bmm, two_contexts, atol=1e-6))

# %% [markdown]
# ### What is missing
#
# This is attention already, and it has three shortcomings that no training can mend, because there is nothing in it
# to train:
#
# 1. **It is mutual.** If *journey* is to look at *Your*, to learn whose journey it is, then *Your* must look back
#    just as hard, score for score.
# 2. **Like seeks like.** A word finds what resembles it. What it *lacks*, it cannot ask for. Most often it finds
#    itself.
# 3. **Heard is told.** The vector by which a word is found is also all that it hands over.

# %% [markdown]
# ## 3. Three roles for one word
#
# So give every word three vectors instead of one, for three roles:
#
# | role | the question that it answers | in a library |
# |---|---|---|
# | **query** $\mathbf{q}_i$ | What am I looking for? | the words you type into the catalogue |
# | **key** $\mathbf{k}_j$ | By what can I be found? | the words on the catalogue card |
# | **value** $\mathbf{v}_j$ | What do I hand over when I am found? | the book |
#
# A query is compared with keys, never with values; what comes back is made of values, never of keys. Each role is
# a view of the same word, through a matrix of its own that training can shape, a **projection**:
#
# $$\mathbf{Q} = \mathbf{X} \mathbf{W}_q, \qquad \mathbf{K} = \mathbf{X} \mathbf{W}_k, \qquad
# \mathbf{V} = \mathbf{X} \mathbf{W}_v$$
#
# with $\mathbf{W}_q$ and $\mathbf{W}_k$ of shape `(D, K)`, so that queries and keys can be dotted with each other, and
# $\mathbf{W}_v$ of shape `(D, V)`. In the code they are `W_q`, `W_k` and `W_v`.
#
# Here are three matrices chosen by hand. Follow *journey*, which is (0.6, 1.6, 0.2) in *someone*, *moving*, *how
# many*: what moves asks above all **whose** it is, and its query says so.

# %%
W_q = torch.tensor([[0.0, 0.0], [1.2, 0.3], [-1.0, 1.0]])  # (D, K): asks "whose?" and "how many?"
W_k = torch.tensor([[1.5, 0.0], [-0.5, -1.0], [0.0, 1.5]])  # (D, K): answers them
W_v = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])  # (D, V): hands over someone and how many

# %% [markdown]
# ### Exercise 3: `project_qkv(x, W_q, W_k, W_v)`
#
# *Difficulty ★☆☆ · about 4 minutes*
#
# Look at $\mathbf{X}$ through the three matrices. For paper, one word with $d = 2$, $d_k = 1$, $d_v = 3$:
#
# $$\mathbf{x} = \begin{pmatrix} 1 & 2 \end{pmatrix},\quad
# \mathbf{W}_q = \begin{pmatrix} 1 \\ 0 \end{pmatrix},\quad \mathbf{W}_k = \begin{pmatrix} 0 \\ 3 \end{pmatrix},\quad
# \mathbf{W}_v = \begin{pmatrix} 1 & 0 & 1 \\ 0 & 1 & 1 \end{pmatrix} \quad\longrightarrow\quad
# \mathbf{q} = (1),\quad \mathbf{k} = (6),\quad \mathbf{v} = (1, 2, 3)$$

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(project_qkv)


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
check(project_qkv)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(project_qkv)
### END HIDDEN TESTS

# %% tags=["demo"]
project = use(project_qkv, torch_fallbacks.projections)
query, key, value = project(x, W_q, W_k, W_v)
print("queries", tuple(query.shape), " keys", tuple(key.shape), " values", tuple(value.shape))

# %% tags=["demo"]
# @title Six words in their three roles
fig, axes = figures.row(3, width=3.0, height=3.9)
asks, hands_over = ["whose?", "how many?"], ["someone", "how many"]
look = {"rows": sentence, "kind": "scores", "limit": 2.6}  # one scale for all three
figures.heat_map(query, ax=axes[0], columns=asks, title="query: asks", **look)
figures.heat_map(key, ax=axes[1], columns=asks, title="key: answers", **look)
figures.heat_map(value, ax=axes[2], columns=hands_over, title="value: hands over", **look)
figures.show(
    fig,
    alt="Three heat maps with one row a word. As a query journey is 1.72 for whose and 0.68 for how many. As a key "
    "Your is 2.6 for whose and one is 2.45 for how many. As a value Your is 1.8 someone and one is 1.7 how many.",
    caption=f"The same six words in their three roles. By {project.whose}.",
)

# %% [markdown]
# *journey* asks "whose?", *Your* answers it; *step* asks most of all "how many?", and *one* answers. As a key,
# *journey* answers nothing at all. Asking and answering have come apart, which is what we wanted.
#
# A practical word: `nn.Linear` keeps its weight the other way round, as (out, in), and computes `x @ weight.T`. Who
# copies such a weight into a matrix $\mathbf{W}_q$ must transpose it. With $d \ne d_k$ a forgotten transpose stops with
# an error; with square matrices it runs and is silently wrong. The GPT-2 that many people load has its weights as (in,
# out), in a layer that the `transformers` library calls `Conv1D`
# ([huggingface/transformers#311](https://github.com/huggingface/transformers/issues/311)).

# %%
linear = torch.nn.Linear(3, 2, bias=False)
print("nn.Linear(3, 2) keeps its weight as", tuple(linear.weight.shape), "and W_q is", tuple(W_q.shape))
linear.weight.data = W_q.T
print("with the transpose, the largest difference is", (linear(x) - x.matmul(W_q)).abs().max().item())

# %% [markdown]
# ## 4. Attention
#
# Put the roles where the one vector stood before. Every query scores all keys, softmax turns each query's scores
# into weights, and the output averages the *values*:
#
# $$\operatorname{attention}(\mathbf{Q}, \mathbf{K}, \mathbf{V}) = \mathbf{A} \mathbf{V} \qquad\text{with}\qquad
# \mathbf{A} = \operatorname{softmax}\!\left(\mathbf{Q} \mathbf{K}^\top\right)$$
#
# Shapes: `(T, K)` times `(K, S)` gives scores `(T, S)`, softmax runs along the $S$ keys, and weights `(T, S)` times
# values `(S, V)` give the output, `(T, V)`. So $d_k$ must agree between queries and keys, $S$ between keys and values,
# and that is all. It is a dictionary whose look-up is soft: not the one entry whose key matches, but all of them,
# each as far as its key matches.
#
# ### Predict first
#
# One query and two entries, whose values are their keys:
#
# $$\mathbf{q} = (1, 2, 3), \qquad \mathbf{K} = \mathbf{V} = \begin{pmatrix} 4 & 5 & 6 \\ 7 & 8 & 9 \end{pmatrix}$$
#
# The second key points in much the same direction and is longer. About what weights do you expect: 40 and 60 %, 10
# and 90 %, something else? Work out both scores before you go on.

# %%
q = torch.tensor([1.0, 2.0, 3.0])
two_keys = torch.tensor([[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
two_scores = torch.stack([torch.dot(q, k) for k in two_keys])
two_weights = torch.softmax(two_scores, dim=0)
print("scores ", two_scores.tolist())
print("weights", [f"{weight:.9f}" for weight in two_weights.tolist()])
print("output ", (two_weights[0] * two_keys[0] + two_weights[1] * two_keys[1]).tolist())

# %% [markdown]
# <details><summary>Answer</summary>
#
# The scores are $1\cdot4 + 2\cdot5 + 3\cdot6 = 32$ and $50$. Softmax looks at differences, and a difference of 18
# is a factor of $e^{18}$, about 66 million. The first entry gets the weight 0.000000015, and the output is, to seven
# digits, the second value. Divide the query by 10 and the scores are 3.2 and 5.0, the weights 14 and 86 %. How large
# scores ought to be is the subject of lesson 4; today we take them as they come.
#
# </details>
#
# ### Exercise 4: `attention(query, key, value)`
#
# *Difficulty ★★☆ · about 6 minutes*
#
# Write it for any leading dimensions. Queries and keys may differ in number ($T \ne S$), values may be wider or
# narrower than keys ($d_v \ne d_k$). No scaling yet. For paper:
#
# $$\mathbf{q} = (1, 0), \quad \mathbf{K} = \begin{pmatrix} \ln 3 & 0 \\ 0 & 5 \end{pmatrix}, \quad
# \mathbf{V} = \begin{pmatrix} 4 \\ 8 \end{pmatrix} \quad\longrightarrow\quad
# \text{weights } \left(\tfrac34, \tfrac14\right), \quad \text{output } \tfrac34 \cdot 4 + \tfrac14 \cdot 8 = 5$$

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(attention)


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
check(attention)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(attention)
### END HIDDEN TESTS

# %% [markdown]
# ### Step by step
#
# Now watch one query on its way: it meets the keys, the scores become weights, the weights average the values. In all
# four pictures there is one row a word, in the order of the sentence. With the sliders you can follow any word of the
# sentence; try *step*, which should find *one*, and *with*, which asks for nothing much and gets a bit of everything.

# %% tags=["demo"]
# @title Two sliders: whose query, and which of the four steps
attend = use(attention, torch_fallbacks.attention)
project = use(project_qkv, torch_fallbacks.projections)


def one_query(word, step):
    query, key, value = project(x, W_q, W_k, W_v)
    output, weights = attend(query, key, value)
    i = sentence.index(word)
    return figures.attention.step(
        step,
        query[i],
        key,
        value,
        weights[i],
        output[i],
        words=sentence,
        asking=word,
        names=(["whose?", "how many?"], ["someone", "how many"]),
    )


sliders.slider(
    one_query,
    word=sentence,
    step=[1, 2, 3, 4],
    start={"word": "journey", "step": 1},
    strip=[{"step": step} for step in (1, 2, 3, 4)],
)

# %% [markdown]
# ### From words to output in one function
#
# Everything so far, from the words to the output, is one short function of $\mathbf{X}$ and the three matrices. Since
# queries, keys and values all come from the same words, it is called **self-attention**:

# %% tags=["demo"]
attend = use(attention, torch_fallbacks.attention)
project = use(project_qkv, torch_fallbacks.projections)


def self_attention(x, W_q, W_k, W_v):
    """x (..., T, D) and three matrices in; output (..., T, V) and weights (..., T, T) out."""
    query, key, value = project(x, W_q, W_k, W_v)
    return attend(query, key, value)


output, found = self_attention(x, W_q, W_k, W_v)
print("words", tuple(x.shape), " output", tuple(output.shape), " weights", tuple(found.shape))

# %% [markdown]
# Here are its weights for all words at once, as lines and as a map. Compare it with the map of `simple_attention`
# above: only *one* still listens to itself, and attention is mutual no more. *journey* gives *Your* 0.88, and *Your*
# gives *journey* 0.09 back.

# %% tags=["demo"]
# @title Who looks at whom, as lines and as a map
figures.show(
    figures.attention.who_looks_at_whom(found, sentence, sentence),
    alt="On the left lines from every word as a query to every word as a key, the wider the heavier the weight: "
    "journey and starts lead to Your, step and one lead to one. On the right the same weights as a heat map.",
    caption=f"Who looks at whom, through W_q and W_k. By {attend.whose}.",
)

# %% [markdown]
# ### Learned, not chosen
#
# The three matrices were chosen by hand, so that you could read them. In a model they begin as random numbers and are
# learned. `torch.nn.Parameter` makes a tensor one that is to be learned: it wants a gradient (lesson 1), and a module,
# from lesson 4 on, finds and lists it by itself.
#
# Let three random matrices learn to do what ours do. In each round `self_attention` computes its output; the mean
# squared difference to the wanted one is the loss here; autograd finds the gradients; and each matrix takes a small
# step *against* its gradient, which makes the loss a little smaller. That is **gradient descent**, the step of lesson
# 0 (*review*). Two lines are housekeeping: `torch.no_grad()`, because the step itself is not to be differentiated,
# and `W.grad = None`, because autograd would add the next gradient to the old one.

# %% tags=["demo"]
generator = torch.Generator().manual_seed(2)
learned = [torch.nn.Parameter(torch.randn(3, 2, generator=generator)) for _ in range(3)]
wanted = self_attention(x, W_q, W_k, W_v)[0]
for step in range(1001):
    loss = (self_attention(x, *learned)[0] - wanted).square().mean()
    loss.backward()
    with torch.no_grad():
        for W in learned:
            W -= 0.5 * W.grad
            W.grad = None
    if step % 250 == 0:
        print(f"step {step:4}: loss {loss.item():.5f}")

# %% [markdown]
# ### Predict first
#
# The outputs are nearly the wanted ones now. Is the learned `W_q` nearly the one that we chose?
#
# <details><summary>Answer</summary>
#
# No, and nothing asks for it. Queries and keys meet in the score only,
# $s_{ij} = \mathbf{x}_i \mathbf{W}_q \mathbf{W}_k^\top \mathbf{x}_j^\top$, so all that counts of the two matrices is
# their product $\mathbf{W}_q \mathbf{W}_k^\top$: make one of them ten times as large and the other ten times as small,
# or turn both in the same way, and every score stays what it was. What a query "means" is settled between it and its
# keys.
#
# </details>

# %% tags=["demo"]
print("chosen W_q:", W_q, sep="\n")
print("learned W_q:", learned[0].detach().round(decimals=1) + 0.0, sep="\n")

# %% [markdown]
# ### A bias
#
# `nn.Linear` adds a **bias** unless told not to: the same learned vector to every row, here
# $\mathbf{q}_i = \mathbf{x}_i \mathbf{W}_q + \mathbf{b}_q$, and likewise for keys and values.
#
# ### Predict first
#
# Add a bias to the queries only; to the keys only; to the values only. Which of the three changes the weights? Which
# changes the output?
#
# <details><summary>Answer</summary>
#
# - **Queries:** both. The score with key $j$ grows by $\mathbf{b}_q \cdot \mathbf{k}_j$: some keys are now liked by
#   every query, whatever it asks.
# - **Keys:** neither! The score of query $i$ grows by $\mathbf{q}_i \cdot \mathbf{b}_k$, the same number for all keys,
#   and softmax does not see a number that is added to all scores (lesson 2).
# - **Values:** the output only, and by exactly $\mathbf{b}_v$: each row of weights sums to 1.
#
# So a bias on the keys is there for nothing. The speech model [Whisper](https://github.com/openai/whisper) has biases
# on queries and values and none on keys. This course's projections have none at all, as in many newer models.
#
# </details>

# %% tags=["demo"]
bias = torch.tensor([0.5, -1.0])
query, key, value = project(x, W_q, W_k, W_v)
biased = {
    "queries": attend(query + bias, key, value),
    "keys": attend(query, key + bias, value),
    "values": attend(query, key, value + bias),
}
for name, (with_bias, moved) in biased.items():
    change = [(one - other).abs().max().item() for one, other in ((moved, found), (with_bias, output))]
    print(f"bias on the {name:8} weights change by up to {change[0]:.2f}, the output by up to {change[1]:.2f}")

# %% [markdown]
# ### Predict first
#
# What is the output of attention if the values are the identity matrix, $\mathbf{V} = \mathbf{I}$ of shape `(S, S)`?
#
# <details><summary>Answer</summary>
#
# The weights: $\mathbf{A} \mathbf{I} = \mathbf{A}$. This is more than a trick. PyTorch's
# `F.scaled_dot_product_attention` does not return its weights, and this is how to get them out of it; the pictures of
# this lesson do so until your `attention` passes.
#
# </details>
#
# ## 5. Two sentences: cross-attention
#
# Nothing in the equation says that queries and keys come from the same sentence. In translation they do not: the
# half-finished French sentence asks, the English one answers. Queries come from the text that is being written, keys
# and values from the text that is being read. This is **cross-attention**. It is easily told the wrong way round: a
# survey of language models did so until a reader noticed
# ([humza909/LLM_Survey#2](https://github.com/humza909/LLM_Survey/issues/2)).
#
# Take "un seul pas", which is "one single step", in the same three meanings: $T = 3$ queries. The English sentence
# gives $S = 6$ keys and values.

# %%
french = ["un", "seul", "pas"]
french_x = torch.tensor([[0.2, 0.1, 1.7], [0.4, 0.2, 1.5], [0.1, 1.3, 1.2]])  # (T, D)
french_queries = 2 * french_x  # longer queries choose more sharply; lesson 4 is about how sharply

# %% tags=["demo"]
attend = use(attention, torch_fallbacks.attention)
translated, alignment = attend(french_queries, x, x)
print("queries", tuple(french_queries.shape), " keys and values", tuple(x.shape))
print("weights", tuple(alignment.shape), " output", tuple(translated.shape))

# %% tags=["demo"]
# @title Three French words look at six English ones
figures.show(
    figures.attention.who_looks_at_whom(alignment, french, sentence),
    alt="Lines from the three French words to the six English ones, and a heat map of three rows and six columns: un "
    "gives one 0.87, seul gives one 0.77, pas gives step 0.62 and journey 0.17.",
    caption=f"T = 3 queries, S = 6 keys. By {attend.whose}.",
)

# %% [markdown]
# Two French words look at the same English one, and *with* is looked at by none. That is as it should be: each query
# spends exactly 1, each key gets what it gets. The output has one vector for each *query*; the length of the other
# sentence has gone from its shape, because it was averaged away.

# %% [markdown]
# ## 6. Design a query
#
# Until now the queries were given. Turn it around: the keys are given, and *you* say which values you want. Which
# query fetches them?
#
# With keys of length 1 at right angles to each other it is easy: take the wanted key itself, made longer so that it
# wins clearly, or the sum of two such keys for the average of both:


# %%
def copy_the_keys(keys, targets):
    """A first idea: eight times the sum of the wanted keys."""
    return 8 * sum(keys[target] for target in targets)


square_keys = torch.eye(3)
slanted_keys = torch.tensor([[1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])

# %% [markdown]
# ### Predict first
#
# A query wants key 0, by copying it. Does it get key 0 from `square_keys`? And from `slanted_keys`? Work out the
# three scores of each.
#
# <details><summary>Answer</summary>
#
# From the square keys, yes: the scores are 8, 0 and 0. From the slanted ones, no: the scores are 8, 16 and 0. Key 1
# points partly the same way, is longer, and wins.
#
# </details>

# %% tags=["demo"]
# @title The weights of a query that copies key 0, for both sets of keys
attend = use(attention, torch_fallbacks.attention)
fig, axes = figures.row(2, width=4.2, height=2.7)
for ax, keys, name in zip(axes, (square_keys, slanted_keys), ("keys at right angles", "slanted keys")):
    wanted_query = copy_the_keys(keys, [0])
    _, weights_of_keys = attend(wanted_query[None], keys, keys)
    figures.bars(weights_of_keys[0], ["key 0", "key 1", "key 2"], ax=ax, title=name, limit=1.1)
figures.show(
    fig,
    alt="Two bar charts of weights for a query that wants key 0. With keys at right angles key 0 gets 1. With slanted "
    "keys it gets 0, and key 1 gets 1.",
    caption=f"A query that copies key 0, among two sets of three keys. By {attend.whose}.",
)

# %% [markdown]
# ### Scores first
#
# A query must please the wanted keys *and* avoid the others, so think of the scores first and of the query second. You
# want high, equal scores for the targets and zero for the rest. The scores are $\mathbf{K} \mathbf{q}$: for keys
# $\mathbf{K}$ of shape `(S, K)`, a query $\mathbf{q}$ of shape `(K,)`, written as a column, and wanted scores
# $\mathbf{s}$ of shape `(S,)` that is a system of linear equations, one equation for each key,
#
# $$\mathbf{K} \mathbf{q} = \mathbf{s}, \qquad s_j = \begin{cases} c & \text{if } j \text{ is a target} \\
# 0 & \text{otherwise} \end{cases}$$
#
# It has a solution for every $\mathbf{s}$ if the rows of $\mathbf{K}$ are **linearly independent**, that is, if no key
# is a sum of multiples of the others. With as many keys as numbers in a key there is one solution; with fewer keys
# there are many. PyTorch solves such systems, of both kinds; look under `torch.linalg`, or ask for the hints. The
# number $c$ is yours to choose: how large must it be for the targets to get 99 % of the weight? With $n$ targets among
# $S$ keys they get $n e^c / (n e^c + S - n)$.
#
# ### Exercise 5: `query_for(keys, targets)`
#
# *Difficulty ★★★ · about 15 minutes*
#
# Given such keys and a list of indices, build the query. (No key is so nearly a sum of multiples of the others that
# rounding would matter: the **condition number** of the keys, which measures that, is under 100.) Attention
# (unscaled) must then give all targets the same weight, to within 0.001, and together at least 0.99. For paper: keys
# $(1, 0)$ and $(1, 1)$, target 0. You want $q_1 = 10$ and $q_1 + q_2 = 0$, so $\mathbf{q} = (10, -10)$. It leans away
# from the key that it must not find. Many queries are right; any of them will do.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(query_for)


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
check(query_for)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(query_for)
### END HIDDEN TESTS

# %% [markdown]
# ### What one query cannot do
#
# Keys that *are* sums of multiples of others are another matter.
#
# ### Predict first
#
# Three keys in the plane: $(1, 0)$, $(0, 1)$ and, halfway between, $(\tfrac12, \tfrac12)$. They
# are not linearly independent. Is there a query that gives the third key the highest weight?
#
# <details><summary>Answer</summary>
#
# No. Its score is the average of the other two scores, whatever the query, and an average is never above both. A
# key that lies between others cannot be found on its own. That is one reason to give keys many numbers: with $d_k$
# of them, $d_k$ keys can each be found, and so can any group of them.
#
# </details>
#
# ### One average for each query
#
# Now suppose that four values are the corners of a square, each with a key of its own. You ask for the average of
# $\mathbf{v}_0$ and $\mathbf{v}_2$, opposite corners. Then for the average of $\mathbf{v}_1$ and $\mathbf{v}_3$.

# %%
corners = torch.tensor([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])  # (S, V)
corner_keys = torch.eye(4)  # (S, K)

# %% tags=["demo"]
# @title Where the outputs lie: one query, another, and two separate ones
attend = use(attention, torch_fallbacks.attention)
design = use(query_for, copy_the_keys)


def fetch(*targets):
    return attend(design(corner_keys, list(targets))[None], corner_keys, corners)[0][0]


fig, axes = figures.row(3, width=3.1, height=3.2)
asked = [
    ("one query for v0 and v2", {"its output": fetch(0, 2)}),
    ("one query for v1 and v3", {"its output": fetch(1, 3)}),
    ("a query for v0, one for v2", {"output for v0": fetch(0), "output for v2": fetch(2)}),
]
for ax, (title, outputs) in zip(axes, asked):
    figures.attention.in_the_plane(ax, corners, outputs, title=title)
figures.show(
    fig,
    alt="Three squares with values at their corners. For v0 and v2 the output lies in the centre; for v1 and v3 it "
    "lies in the centre too. Two queries that ask for v0 and v2 separately have their outputs on those corners.",
    caption=f"Different questions, the same answer; only two queries keep the two apart. By {design.whose}.",
)

# %% [markdown]
# Both answers are the centre of the square, the very same vector. Whatever comes after attention sees that vector only,
# and cannot know which pair it was made of. **One head gives one average for each query.** It can average two things,
# but it cannot average them and also keep them apart: that would take two averages, so two queries. A **head** is one
# such attention with projections of its own, so it takes two heads. Lesson 6 builds them.
#
# Could a cleverer query do better? The weights are positive and sum to 1, so the output never leaves the space between
# the values (the shaded square), and every point reached is one point. Let the query slide from "only $\mathbf{v}_0$"
# to "only $\mathbf{v}_2$" and see what attention can say in between:

# %% tags=["demo"]
# @title A slider: the query leans from v0 towards v2
attend = use(attention, torch_fallbacks.attention)
design = use(query_for, copy_the_keys)


def leaning(lean):
    way = torch.linspace(0, lean, 20)[:, None]
    queries = (1 - way) * design(corner_keys, [0]) + way * design(corner_keys, [2])
    output, weights = attend(queries, corner_keys, corners)
    fig, (bars, plane) = figures.row(2, width=2.2, height=2.6)
    figures.bars(weights[-1], ["v0", "v1", "v2", "v3"], ax=bars, title="weights", limit=1.1)
    figures.attention.in_the_plane(plane, corners, {"output": output[-1]})
    plane.plot(*output.detach().T, linewidth=1, color="black", linestyle=":")
    v0, v2 = weights[-1, 0], weights[-1, 2]
    return figures.with_alt_text(
        fig, f"v0 has the weight {v0:.2f} and v2 has {v2:.2f}; the output lies on the diagonal between them."
    )


sliders.slider(leaning, lean=(0.0, 1.0, 0.05), start={"lean": 0.5}, strip=[0.0, 0.5, 1.0])

# %% [markdown]
# ## 7. Is it a bug?
#
# **1.** In a transformer written from scratch, one packed matrix made queries, keys and values in one go. One
# function returned the three parts as `q, k, v`; the caller wrote `q, v, k = ...`. A reader reported it
# ([jsbaan/transformer-from-scratch#1](https://github.com/jsbaan/transformer-from-scratch/issues/1)). Keys and values
# swapped everywhere: was the trained model broken?
#
# Decide, then run this:

# %% tags=["demo"]
attend = use(attention, torch_fallbacks.attention)
generator = torch.Generator().manual_seed(3)
packed = torch.randn(3, 6, generator=generator)  # three matrices (3, 2) side by side


def as_declared(packed):
    q, k, v = (x @ packed).chunk(3, dim=-1)
    return attend(q, k, v)[0]


def as_called(packed):
    q, v, k = (x @ packed).chunk(3, dim=-1)
    return attend(q, k, v)[0]


first, second, third = packed.chunk(3, dim=-1)
renamed = torch.cat([first, third, second], dim=-1)
print("same weights, outputs equal:              ", torch.allclose(as_declared(packed), as_called(packed)))
print("blocks 2 and 3 exchanged, outputs equal:  ", torch.allclose(as_declared(packed), as_called(renamed)))

# %% [markdown]
# <details><summary>Answer</summary>
#
# For a model trained from scratch it was no bug: *key* and *value* are names for blocks of random numbers until
# training shapes them. The block that is used as a key learns to be one, whatever it is called, and exchanging two
# blocks turns one program into the other exactly. The author said so, and corrected the names all the same.
#
# It becomes a bug as soon as weights come from elsewhere: the first line printed says that with the *same* weights
# the two programs disagree. Order is a convention, and conventions matter where two pieces of code meet.
#
# </details>
#
# **2.** A report labelled *bug* says that in a certain attention block query, key and value are all the same, where
# they should be three projections. It is about the line `self.attn(x, x, x)[0]`
# ([phlippe/uvadlc_notebooks#68](https://github.com/phlippe/uvadlc_notebooks/issues/68); the same question stands at
# [tensorflow/text#1017](https://github.com/tensorflow/text/issues/1017)). Is it one? Look at what
# `nn.MultiheadAttention` owns:

# %%
module = torch.nn.MultiheadAttention(embed_dim=3, num_heads=1, bias=False, batch_first=True)
for name, parameter in module.named_parameters():
    print(f"{name:16}", tuple(parameter.shape))

# %% [markdown]
# <details><summary>Answer</summary>
#
# No bug. The module projects by itself: `in_proj_weight` has $3 d$ rows, which are $\mathbf{W}_q$, $\mathbf{W}_k$ and
# $\mathbf{W}_v$ on top of each other (and transposed, like those of `nn.Linear`). `self.attn(x, x, x)` says which
# *sentences* the roles are taken from: all three from $x$. Cross-attention would be `self.attn(x, other, other)`. Your
# `attention` and `F.scaled_dot_product_attention` do not project; to them you pass queries, keys and values that are
# ready.
#
# </details>

# %% [markdown]
# ## 8. Seen in the wild
#
# Three mistakes that raised no error, because every shape was right.
#
# **The values were made and not used.** In a diffusion model for images, the last product took the layer's
# input for the values. Value and input have the same shape, so nothing complained
# ([hmdolatabadi/denoising_diffusion#1](https://github.com/hmdolatabadi/denoising_diffusion/issues/1)).
# ```diff
# - out = weighted_sum(weights, input)
# + out = weighted_sum(weights, value)
# ```
#
# **The answer was thrown away.** When a cache was added to a model for audio, the call gained a second result, and
# the first was given a name that nobody read again. Attention ran, cost its time, and changed nothing
# ([lucidrains/audiolm-pytorch#265](https://github.com/lucidrains/audiolm-pytorch/pull/265), noticed by another
# reader in [#268](https://github.com/lucidrains/audiolm-pytorch/issues/268)).
# ```diff
# - attended, cache = attend(x, cache=cache)
# + x, cache = attend(x, cache=cache)
#   x = x + residual
# ```
#
# **Softmax ran over the queries** (review: lesson 2 met it too). In a collection of annotated papers, weights of shape
# (batch, query, key, head) were normalised along dimension 1. Each *key* handed out a weight of 1; a query could end up
# with almost nothing. Trained both ways, the model made images of the same measured quality
# ([labmlai#146](https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146)). Two years after
# the correction, somebody reported the *right* line as the mistake
# ([#282](https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/282)).
# ```diff
# - weights = scores.softmax(dim=1)   # scores: (batch, query, key, head)
# + weights = scores.softmax(dim=2)
# ```
#
# A loss curve shows none of the three. Two cheap questions do. *Do the weights of each query sum to 1?* finds the
# third. *Which matrices get a gradient?* finds the other two, and with them a relative: scores that were detached
# from the graph, so that the output is right and nothing learns where to look.

# %% tags=["demo"]
attend = use(attention, torch_fallbacks.attention)
project = use(project_qkv, torch_fallbacks.projections)


def right(q, k, v):
    return attend(q, k, v)[0]


def values_not_used(q, k, v):
    return attend(q, k, x)[0][:, :2]


def answer_thrown_away(q, k, v):
    _attended, _ = attend(q, k, v)
    return x[:, :2]


def scores_detached(q, k, v):
    return attend(q.detach(), k.detach(), v)[0]


# %% tags=["demo"]
# @title Which of the three matrices gets a gradient
heads = [right, values_not_used, answer_thrown_away, scores_detached]
cotangent = torch.randn(6, 2, generator=torch.Generator().manual_seed(0))
norms = torch.zeros(len(heads), 3)
for r, head in enumerate(heads):
    matrices = [W.clone().requires_grad_() for W in (W_q, W_k, W_v)]
    wanted = (head(*project(x, *matrices)) * cotangent).sum()
    if wanted.requires_grad:
        gradients = torch.autograd.grad(wanted, matrices, allow_unused=True)
        norms[r] = torch.stack([torch.zeros(()) if g is None else g.norm() for g in gradients])

ax = figures.heat_map(
    norms,
    rows=[head.__name__.replace("_", " ") for head in heads],
    columns=["W_q", "W_k", "W_v"],
    kind="scores",
    blocked=norms == 0,
    size=(5.0, 2.6),
)
figures.show(
    ax,
    alt="The size of the gradient for each of the three matrices. The right version has one for all three. With "
    "values not used W_v has none; with the answer thrown away none of them has; with scores detached W_q and W_k "
    "have none.",
    caption="Hatched: no gradient arrives, so nothing is learned there. "
    "A test of a few lines finds what no loss curve shows.",
)

# %% [markdown]
# ## One model, from here to lesson 8
#
# From here on one model grows, lesson by lesson, until lesson 8 trains it to write. It reads letters, not words. So far
# it has three parts, all of this lesson: a table that gives each letter a vector, three matrices that make queries, keys
# and values of it, and the attention that puts them together. Each part is **yours once it passes**; until then PyTorch
# stands in, and the picture says so.
#
# Later lessons look for what you wrote in earlier ones in two places: in the notebook that is open, and in the saved
# notebooks of those lessons beside it. In Colab, which opens each notebook alone, drag your earlier notebooks into the
# *Files* panel at the left, or paste an answer into a cell of its own.

# %% tags=["demo"]
# @title The model so far, and where its letters look
from course import staged_model

so_far = staged_model.current_model()
figures.show(
    figures.staged_model.built_so_far(so_far, "then the hen"),
    caption=f"Its numbers are random, and queries and keys share one matrix: each letter looks for what is like itself. {so_far.whose}",
)

# %% [markdown]
# A letter finds itself and its doubles, wherever they stand, and hardly anything else: the scores are large, and the
# softmax makes all or nothing of them. It sees the letters that come after it as well as those before. Lessons 4 and 5
# are about these two.

# %% [markdown]
# ## Summary
#
# 1. A sentence is a list of ids, and an embedding table turns it into vectors; each row learns from the places where
#    its word stood.
# 2. Attention scores, normalises, averages: every query gets the average of all values, weighted by how well the keys
#    match it.
# 3. Query, key and value are three views of a word (what it seeks, how it is found, what it hands over), through
#    matrices that are learned.
# 4. Queries may come from one sentence and keys and values from another; the output has one vector a query, of the
#    width of the values.
# 5. A query can be designed to fetch any group of independent keys, but one head says one average at a time.
#
# $$\operatorname{attention}(\mathbf{Q}, \mathbf{K}, \mathbf{V}) =
# \operatorname{softmax}\!\left(\mathbf{Q} \mathbf{K}^\top\right) \mathbf{V}$$
#
# **To read on:** [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2, for the equation as it was
# published; [Neural Machine Translation by Jointly Learning to Align and Translate](https://arxiv.org/abs/1409.0473),
# where attention between two sentences began;
# [`F.scaled_dot_product_attention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html),
# for how the built-in spells it.
#
# Next: the worked example gave one entry 99.9999985 % for being a little longer. Lesson 4 measures why long vectors
# make attention deaf, and divides by the square root that mends it.

# %% [markdown]
# ## Challenge: `remember(memory, key, value)`
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# A challenge is for those who want more. The same judge checks it, no grade knows of it, and you may leave it as it is.
#
# Attention keeps every key and every value, and its memory grows with the text. There is a memory that does not grow: a
# matrix $\mathbf{M}$ of the shape `(K, V)`, from which a query fetches the row $\mathbf{q} \mathbf{M}$, with no softmax at
# all. It can be written to. What must $\mathbf{M}$ become so that the key $\mathbf{k}$ fetches the value $\mathbf{v}$?
# Many matrices do that, and only one of them also disturbs nothing else:
#
# - the key fetches exactly the value: $\mathbf{k} \mathbf{M}' = \mathbf{v}$, whatever it fetched before;
# - a query that is perpendicular to the key fetches what it fetched: $\mathbf{q} \mathbf{M}' = \mathbf{q} \mathbf{M}$
#   wherever $\mathbf{q} \cdot \mathbf{k} = 0$.
#
# Return $\mathbf{M}'$ and leave the old memory as it is. `memory` is `(..., K, V)`, `key` is `(..., K)` and not zero,
# `value` is `(..., V)`, with the same leading dimensions.
#
# Two lines are enough. They are called the **delta rule**, and language models are built on them that read as long a text
# as you like in a memory of fixed size
# ([Schlag, Irie and Schmidhuber 2021](https://arxiv.org/abs/2102.11174)). The price: only $d_k$ keys can be perpendicular to
# each other, so with more of them each new value disturbs old ones.
#
# **On paper.** An empty memory, $\begin{pmatrix} 0 & 0 \\ 0 & 0 \end{pmatrix}$, the key $(2, 0)$, the value $(4, 6)$. The
# key looks at the first row alone, and takes it twice: which row has to stand there? And what stands in the second, from
# which $(0, 1)$ fetches nothing?

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(remember)


# %%
def remember(memory: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """The memory after one change: the key fetches the value, and queries perpendicular to it what they fetched before.

    memory: (..., K, V), fetched from by `query @ memory`; key: (..., K), not zero; value: (..., V).
    Returns (..., K, V), a new tensor.
    """
    raise NotImplementedError  # take this line out, and write yours


# %% tags=["demo"]
check(remember)

# %% tags=["demo"]
progress()
