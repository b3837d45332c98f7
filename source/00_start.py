# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 0: Attention in one sitting
#
# You read *The boat reached the river bank*, and you know which bank is meant. A language model starts with the same numbers for every
# *bank*. **How does it find out?** By **attention**: each word decides how much of the others it takes in.
#
# **You will build** attention in five short answers, and a small trained model will write with it.
#
# **You need** Python and a little PyTorch. If you have never used PyTorch, start with the warm-up, `90_tensors`.
#
# **Time:**

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sentence, small_lm, solution
from torch import nn

begin("00_start")

# %% [markdown]
# ## 1. Your guess
#
# How much should each word count for *bank*? Change the numbers, and run the cell with Shift+Enter. Only their ratios matter.

# %% tags=["code"]
words = sentence.words  # The boat reached the river bank
guess = [1, 1, 1, 1, 1, 1]  # one number per word

# %% [markdown]
# A model knows a word as a **vector**, a list of numbers. Real ones are learned and long; ours are made up, and say how much a word has
# to do with *water*, *motion* and *place*. Their table `x` has the shape `(T, D)`: `T` words, one row each, with `D` entries.

# %% tags=["code"]
x = sentence.x
print("x has the shape", tuple(x.shape))
for word, vector in zip(words, x):
    print(f"{word:8}", vector)

# %% [markdown]
# ## 2. The plain average
#
# The simplest way to take in a sentence is to average it.
#
# ### Predict: the average for another word
#
# The cell prints what *bank* would get. What would *river* get? To *predict*, replace the `...` with your guess, and then run the
# cell.

# %%
print(x.mean(dim=0))
# "the same vector", "more water" or "more place"
predict("the average for river", ...)

# %% [markdown]
# The average is the same for every word, and *the* counts as much as *river*. So let each word choose.
#
# ## 3. One word asks
#
# First *bank* compares itself with every word by a **dot product**: multiply two vectors entry by entry and add up. It is large if both
# are large in the same entries. For *river* this **score** is $1 \cdot 1.5 + 0 \cdot 0.5 + 1.5 \cdot 1 = 3$.
#
# ### Predict: the highest score
#
# Which word does *bank* give the highest score?

# %%
# "river", "boat" or "bank"
predict("the highest score", ...)

# %% tags=["code"]
bank, scores = [1.0, 0.0, 1.5], []
for word, vector in zip(words, x.tolist()):
    scores.append(sum(a * b for a, b in zip(bank, vector)))
    print(f"{word:8} {scores[-1]:.2f}")

# %% [markdown]
# Then **softmax** turns scores into **weights**: it takes $e^{\text{score}}$, which is positive and grows with the score, and divides
# by the sum, so that they sum to 1. The **context** of *bank* is the sum of all vectors, each times its weight.

# %% tags=["code"]
powers = [math.exp(score) for score in scores]
weights = [power / sum(powers) for power in powers]
print("weights:", [round(weight, 2) for weight in weights])
context = [0.0, 0.0, 0.0]
for weight, vector in zip(weights, x.tolist()):
    context = [so_far + weight * entry for so_far, entry in zip(context, vector)]
print("context:", [round(entry, 2) for entry in context])

# %% [markdown]
# ### Exercise: `attend_once(query, x)`
#
# *Difficulty ★☆☆, importance ●●●, about 4 minutes.*
#
# Do this in PyTorch for any vector that asks, the `query`. `A @ b` gives the dot products of `b` with the rows of `A`; `b @ A` sums the
# rows of `A`, each times its entry of `b`. `torch.softmax` needs `dim=0`, the only dimension.
#
# **Worked example.** The query $(1, 0)$ asks two words, $(2, 0)$ and $(2, 5)$: scores 2 and 2, weights 0.5 and 0.5, context
# $(2, 2.5)$.
#
# `check` tries your answer and names the mistake if it knows it. If you are stuck, run `hint(attend_once)` in a new cell.


# %% nbgrader={"grade": false, "grade_id": "attend_once", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attend_once(query: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The scores, the weights and the context vector of one query.

    query: (D,); x: (T, D), one row per word. Scores are between -20 and 20.
    Returns scores (T,), weights (T,) and context (D,), in this order.
    """
    ### BEGIN SOLUTION
    scores = x @ query
    weights = torch.softmax(scores, dim=0)
    return scores, weights, weights @ x
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_attend_once", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(attend_once)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(attend_once)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title Your guess beside the weights of “bank”
figures.show(figures.sitting.beside(guess, attend_once(x[5], x)[1], words))

# %% [markdown]
# This is attention. But *bank* finds itself most; section 5 changes that.
#
# ## 4. Every word asks
#
# If each row of `x` asks, the scores are a table `(T, T)`: a row for each word that asks. One product computes it: `A @ B`
# takes the rows of `A` and the *columns* of `B`, and `.T` swaps rows and columns.
#
# ### Exercise: `attend_all(x)`
#
# *Difficulty ★☆☆, importance ●●●, about 3 minutes.*
#
# Return all contexts, called the **output**, and the weights. Each row of weights sums to 1; `dim=-1` runs along a row.
#
# **Worked example.** The words $(2, 0)$ and $(0, 1)$ have the scores $\begin{pmatrix} 4 & 0 \\ 0 & 1 \end{pmatrix}$, about the weights
# $\begin{pmatrix} 0.98 & 0.02 \\ 0.27 & 0.73 \end{pmatrix}$, and the output $\begin{pmatrix} 1.96 & 0.02 \\ 0.54 & 0.73 \end{pmatrix}$.


# %% nbgrader={"grade": false, "grade_id": "attend_all", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attend_all(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of every word to all words.

    x: (T, D), one row per word. Scores are between -20 and 20.
    Returns output (T, D) and weights (T, T), in this order.
    """
    ### BEGIN SOLUTION
    weights = torch.softmax(x @ x.T, dim=-1)
    return weights @ x, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_attend_all", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(attend_all)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(attend_all)
### END HIDDEN TESTS

# %% tags=["picture"]
output, weights = attend_all(x)
print("bank alone:  ", attend_once(x[5], x)[2])
print("row 5 of all:", output[5])
assert torch.allclose(output[5], attend_once(x[5], x)[2], atol=1e-5)

# %% tags=["picture"]
# @title The weights of all words
figures.show(figures.sitting.weights_of(weights, words))

# %% [markdown]
# ## 5. Asking, being found, and giving
#
# A word asks with the vector by which it is found, so it finds itself. Give it three: the **query** is what it looks for, the **key**
# is how others find it, the **value** is what it gives when found. Each is the word's vector times a matrix that training finds. Ours
# are made by hand: entry 0 of queries and keys is about *who?*, entry 1 about *which?*.

# %% tags=["code"]
W_q = torch.tensor([[-0.5, 0.0], [1.5, -0.5], [0.0, 2.0]])  # (D, Dk): asks "who?", "which?"
W_k = torch.tensor([[1.0, 2.0], [1.0, -1.0], [-1.0, -0.5]])  # (D, Dk): answers them
W_v = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])  # (D, Dv): gives water and motion
print("bank asks:   ", x[5] @ W_q)
print("river offers:", x[4] @ W_k)

# %% [markdown]
# ### Exercise: `attend_by_roles(x, W_q, W_k, W_v)`
#
# *Difficulty ★★☆, importance ●●●, about 4 minutes.*
#
# Attend as before, but score queries against keys, and sum values.
#
# **Worked example.** For the words $(1)$ and $(2)$ with $\mathbf{W}_q = (0)$, $\mathbf{W}_k = (1)$ and
# $\mathbf{W}_v = (10 \;\; 1)$, all scores are 0 and all weights 0.5. The values are $(10, 1)$ and $(20, 2)$, so both outputs are
# $(15, 1.5)$.


# %% nbgrader={"grade": false, "grade_id": "attend_by_roles", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attend_by_roles(
    x: torch.Tensor, W_q: torch.Tensor, W_k: torch.Tensor, W_v: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention in which every word has a query, a key and a value.

    x: (T, D); W_q and W_k: (D, Dk); W_v: (D, Dv). Scores are between -20 and 20.
    Returns output (T, Dv) and weights (T, T), in this order.
    """
    ### BEGIN SOLUTION
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    weights = torch.softmax(q @ k.T, dim=-1)
    return weights @ v, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_attend_by_roles", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(attend_by_roles)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(attend_by_roles)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title The weights with three roles
figures.show(figures.sitting.weights_of(attend_by_roles(x, W_q, W_k, W_v)[1], words))

# %% [markdown]
# Now *bank* finds *river*, and *reached* finds *boat*.
#
# ## 6. The root
#
# Real queries and keys are long, so each score is a sum of many products.
#
# ### Predict: the largest weight
#
# Sixteen words get random queries and keys with 1,024 entries. How large is the largest weight of a row, on average?

# %%
torch.manual_seed(0)
# "about 0.1", "about 0.5" or "about 1"
predict("the largest weight", ...)

# %% [markdown]
# Such scores are far apart, so one word gets nearly everything. Therefore divide each score by the square root of `Dk`, the number
# of entries of a key (lesson 4 shows why).
#
# ### Exercise: `rooted_scores(q, k)`
#
# *Difficulty ★☆☆, importance ●●●, about 2 minutes.*
#
# Return the scores of all queries with all keys, divided so.
#
# **Worked example.** The query $(1, 1, 1, 1)$ and the key $(5, 1, 0, 0)$ have the dot product 6. The root of 4 is 2, so the score is 3.


# %% nbgrader={"grade": false, "grade_id": "rooted_scores", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rooted_scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """The dot products of all queries with all keys, divided by the root of Dk.

    q: (T, Dk), one query per row; k: (T, Dk), one key per row.
    Returns (T, T): one row per query.
    """
    ### BEGIN SOLUTION
    return q @ k.T / math.sqrt(q.shape[-1])
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_rooted_scores", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(rooted_scores)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(rooted_scores)
### END HIDDEN TESTS

# %% tags=["picture"]
for Dk in (4, 64, 1024):
    q, k = torch.randn(16, Dk), torch.randn(16, Dk)
    plain, rooted = (torch.softmax(s, -1).amax(-1).mean() for s in (q @ k.T, rooted_scores(q, k)))
    print(f"Dk = {Dk:4}: largest weight {plain:.2f} without the root, {rooted:.2f} with it")

# %% [markdown]
# ## 7. The triangle
#
# A model that writes learns to guess the next word at every position at once. If *river* saw *bank*, it would have nothing
# left to guess.
# So each word sees only itself and the words before it: in the table of scores, a triangle.
#
# ### Exercise: `past_weights(scores)`
#
# *Difficulty ★★☆, importance ●●●, about 4 minutes.*
#
# Turn scores into weights that are exactly 0 to the right of the diagonal, while each row still sums to 1. Which score has the
# exponential 0? Tools: `torch.ones_like`, `.triu(1)`, which keeps only what is to the right of the diagonal, `.bool()`,
# `.masked_fill(mask, number)` and `torch.inf`.
#
# **Worked example.** The scores $\begin{pmatrix} 0 & 9 \\ 4 & 4 \end{pmatrix}$ become
# $\begin{pmatrix} 1 & 0 \\ 0.5 & 0.5 \end{pmatrix}$.


# %% nbgrader={"grade": false, "grade_id": "past_weights", "locked": false, "schema_version": 3, "solution": true, "task": false}
def past_weights(scores: torch.Tensor) -> torch.Tensor:
    """The softmax of each row, over the columns up to the diagonal.

    scores: (T, T), one row per query, between -20 and 20.
    Returns (T, T). Weights to the right of the diagonal are exactly 0.
    """
    ### BEGIN SOLUTION
    later = torch.ones_like(scores).triu(1).bool()
    scores = scores.masked_fill(later, -torch.inf)
    return torch.softmax(scores, dim=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_past_weights", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(past_weights)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(past_weights)
### END HIDDEN TESTS

# %% [markdown]
# ## 8. Two heads of a trained model
#
# A small language model learned from stories that a program writes, so its language is easier than English. It has twelve **heads**, each
# one attention with its own matrices. Your functions compute two:

# %% tags=["picture"]
lm = small_lm.load()
heads = [lm.look("The boat reached the river bank", layer, head) for layer, head in ((0, 3), (1, 1))]
maps = [past_weights(rooted_scores(head.q, head.k)) for head in heads]
print("as in the model:", [torch.allclose(mine, head.weights, atol=1e-5) for mine, head in zip(maps, heads)])
figures.show(figures.sitting.two_heads(maps, words))

# %% [markdown]
# On the left, *bank* finds *river*. In *The money left the bank* it finds *money*: this head was trained to find the word that decides.
# On the right, all later words look at *reached*. A head asks one kind of question, so a model has several.

# %% tags=["picture"]
# @title Your guess beside the left head's weights of “bank”
figures.show(figures.sitting.beside(guess, maps[0][5], words))

# %% [markdown]
# ## 9. It writes
#
# Your last two functions make the attention of a language model, here in all twelve heads:


# %% tags=["model"]
def my_attention(q, k, v):
    weights = past_weights(rooted_scores(q, k))
    return weights @ v, weights


losses = lm.compare(my_attention=my_attention)
start = "Mara told Tom about the river, but then the bank"
print(lm.write(start, my_attention, seed=2))

# %% [markdown]
# The **loss** says how badly the model guesses the next word. Now leave out the root:


# %% tags=["model"]
def without_the_root(q, k, v):
    weights = past_weights(q @ k.T)
    return weights @ v, weights


print(lm.write(start, without_the_root, seed=2))

# %% [markdown]
# ### Predict: without the triangle
#
# The model learned with the root, and without it the text falls to pieces. Now the root is back, and the triangle is gone. How does it
# write?


# %%
def without_the_triangle(q, k, v):
    weights = torch.softmax(rooted_scores(q, k), dim=-1)
    return weights @ v, weights


# "in fragments" or "nearly as well"
predict("without the triangle", ...)

# %% tags=["model"]
print(lm.write(start, without_the_triangle, seed=2))

# %% [markdown]
# When it writes, nothing comes after the last word. But change it, and the outputs of earlier words move:

# %% tags=["picture"]
other = torch.cat([x[:5], x[1:2]])  # "boat" as the last word
for attention in (my_attention, without_the_triangle):
    first, second = (attention(t @ W_q, t @ W_k, t @ W_v)[0] for t in (x, other))
    print(f"{attention.__name__}: the first five words move by up to {(second - first)[:5].abs().max():.2f}")

# %% [markdown]
# In training this is fatal. The same model, trained without the triangle:

# %% tags=["model"]
print(small_lm.without_triangle())

# %% [markdown]
# It learned to copy the next word. When it writes, there is nothing to copy.
#
# ## Summary
#
# 1. Dot products score all words, and softmax turns scores into weights.
# 2. The output is the sum of all values, each times its weight.
# 3. Queries ask, keys are found, values are given.
# 4. The root lets several words be heard.
# 5. The triangle hides later words. The formula without it:
#
# $$\operatorname{attention}(\mathbf{Q}, \mathbf{K}, \mathbf{V}) =
# \operatorname{softmax}\!\left(\frac{\mathbf{Q} \mathbf{K}^\top}{\sqrt{d_k}}\right) \mathbf{V}$$
#
# Rows of $\mathbf{Q}$, $\mathbf{K}$, $\mathbf{V}$ are queries, keys, values; $d_k$ is `Dk`. It is from
# [Attention Is All You Need](https://arxiv.org/abs/1706.03762) (2017).

# %%
progress()
