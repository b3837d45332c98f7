# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 1: Dot products
#
# Attention is a lookup: each word of a sentence searches the others, and the most similar ones count most. For that you need
# one number that measures **how similar two vectors are**. Which number is it?
#
# **You will build** the dot product, cosine similarity, a matrix of dot products (the first half of every attention layer)
# and a lookup of the most similar vector. Your dot products then run in a trained language model.
#
# **You need** Python and the tensors of lesson 0; no linear algebra.
#
# **Time:** about 55 minutes, plus 35 for the parts marked *extra*
#
# At each *Predict*, replace the dots with your guess before you run the cell. Only exercises earn points.

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sentence, sliders, small_lm, solution
from torch import nn

begin("01_dot_products")

# %% tags=["demo"]
# @title The part of attention that this lesson adds
figures.show(
    figures.overview("dot products"), caption="Later lessons explain the pale parts; you need none of them yet."
)

# %% [markdown]
# ## 1. Multiply, then add
#
# A **vector** is a list of $K$ numbers, its **entries**: a tensor of shape `(K,)`. The **dot product** of two vectors of the
# same size multiplies them entry by entry and adds the products:
#
# $$\mathbf{a} \cdot \mathbf{b} = \sum_{r=0}^{K-1} a_r b_r = a_0 b_0 + a_1 b_1 + \dots + a_{K-1} b_{K-1}$$
#
# The result is one number. Every position casts a vote: positive where the signs agree, negative where they differ, and
# larger where the entries are larger.

# %% tags=["demo"]
# @title Two vectors of three entries, multiplied and added
figures.show(figures.vectors.votes())

# %% [markdown]
# ### Predict: a row times a column
#
# `a * b` multiplies entry by entry, and sometimes accepts different shapes. `row` has the shape `(3,)`, `column` the shape
# `(3, 1)`. What is the shape of `row * column`?

# %%
row = torch.tensor([1.0, 2.0, 3.0])
column = torch.tensor([[4.0], [-5.0], [6.0]])
# The shape: numbers in brackets, such as (3,)
predict("the shape of row * column", ..., (row * column).shape)

# %% [markdown]
# Broadcasting stretches both to `(3, 3)`. The nine products add up to 30, which looks as plausible as the correct 12.
# PyTorch gives no warning, so your function must check the shapes.

# %% tags=["demo"]
# @title How the two shapes are stretched
figures.show(
    figures.broadcast(row, column, "×", names=("row", "column")), caption="The sum of the nine products is 30, not 12."
)

# %% [markdown]
# ### Exercise 1: `dot(a, b)`
#
# *Difficulty ★☆☆ · about 7 minutes*
#
# - `a` and `b` have the shape `(K,)`. Return a tensor of shape `()`. Gradients must flow through it, and autograd loses
#   track at `.item()` and `float(...)`.
# - Raise a `ValueError` if the shapes differ or are not one-dimensional. The message names a wrong argument and its
#   shape, for example `b has the shape (3, 1); it should be (3,)`.
# - Multiply and add. You may not use torch's own products: `dot`, `vdot`, `inner`, `matmul` or `@`, `mv`, `mm`, `bmm`,
#   their `add…` variants, `einsum`, `tensordot`, `linalg.vecdot`, `linear` or `bilinear`.
#
# **Worked example.** For `a = [2, 0, -1]` and `b = [3, 7, 4]` the products are `6, 0, -4`, so `dot(a, b)` is `2`.


# %% nbgrader={"grade": false, "grade_id": "dot", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The dot product of two vectors: the sum of the products of their entries.

    a, b: (K,)
    returns: ()
    raises: ValueError, naming an argument and its shape, if the shapes differ or are not
        one-dimensional
    """
    ### BEGIN SOLUTION
    if a.ndim != 1:
        raise ValueError(f"a has the shape {tuple(a.shape)}; it should be one-dimensional, (K,)")
    if b.shape != a.shape:
        raise ValueError(f"b has the shape {tuple(b.shape)}; it should be {tuple(a.shape)}, like a")
    return (a * b).sum()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_dot", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(dot)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(dot)
### END HIDDEN TESTS

# %% [markdown]
# ## 2. What the number says
#
# A vector of two numbers is an arrow in the plane, from the origin to a point. The thick bar below is the **shadow** that
# $\mathbf{b}$ casts on the line through $\mathbf{a}$ when light shines at a right angle to that line.

# %% tags=["demo"]
# @title The arrow a with three arrows b, and their shadows
figures.show(figures.vectors.shadows(dot))

# %% [markdown]
# The dot product is **the length of $\mathbf{a}$ times the length of the shadow**. It is negative where the shadow points
# away from $\mathbf{a}$. The **length** (or *norm*) of a vector comes from Pythagoras' theorem, with $K$ squares:
#
# $$\|\mathbf{a}\| = \sqrt{\mathbf{a} \cdot \mathbf{a}} = \sqrt{a_0^2 + \dots + a_{K-1}^2}$$
#
# ### Step: the shadow (extra)
#
# *Step ★☆☆ · about 3 minutes · tools: your `dot`, `.sqrt()`*
#
# `a` and `b` are `(K,)`, and `a` is not all zeros. Return the length, `()`, of the shadow that `b` casts on the line through
# `a`, with a minus sign where the shadow points away from `a`.
#
# **Worked example.** `a = [3, 4]` and `b = [5, 0]` have the dot product 15, and `a` has the length 5. The shadow is 3.


# %%
def shadow(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(shadow)

# %% [markdown]
# If $\theta$ is the angle between the arrows, the shadow of $\mathbf{b}$ has the length $\|\mathbf{b}\| \cos\theta$. Therefore
#
# $$\mathbf{a} \cdot \mathbf{b} = \|\mathbf{a}\| \, \|\mathbf{b}\| \cos\theta$$
#
# <details><summary>Why does a sum of products contain a cosine?</summary>
#
# Take the triangle with the sides $\mathbf{a}$, $\mathbf{b}$ and $\mathbf{a} - \mathbf{b}$. Multiply out:
# $\|\mathbf{a} - \mathbf{b}\|^2 = \|\mathbf{a}\|^2 + \|\mathbf{b}\|^2 - 2\,\mathbf{a} \cdot \mathbf{b}$. The law of cosines
# says $\|\mathbf{a} - \mathbf{b}\|^2 = \|\mathbf{a}\|^2 + \|\mathbf{b}\|^2 - 2\,\|\mathbf{a}\|\,\|\mathbf{b}\| \cos\theta$. So
# the last terms are equal. Two vectors with 500 entries span a triangle too.
#
# </details>
#
# ### Predict: once round the circle
#
# Turn $\mathbf{b}$ once round the circle, starting in the direction of $\mathbf{a}$. At which angle is the dot product lowest
# (most negative)? And what happens to the whole curve if $\mathbf{b}$ is twice as long?

# %%
# The angle, in degrees
predict("the angle of the lowest dot product", ...)

# %%
# With b twice as long: "nothing", "every value doubles" or "the zeros move"
predict("b twice as long", ...)


# %% tags=["demo"]
# @title The dot product while b goes once round the circle
figures.show(figures.vectors.around_the_circle(dot))

# %% [markdown]
# The dot product depends on **direction** and **length**. Turn and stretch $\mathbf{b}$:

# %% tags=["demo"]
# @title Two sliders: angle and length of b
sliders.slider(figures.vectors.at_angle, dot, shadow)

# %% [markdown]
# ### Predict: the gradient of a dot product
#
# *Review* of lesson 0: the gradient says how fast $y$ grows with each entry. How fast does $y = a_0 b_0 + a_1 b_1 + a_2 b_2$
# grow with $a_0$? So what is its gradient with respect to `a`?

# %%
a = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)  # autograd records what is computed from a
b = torch.tensor([3.0, 1.0, -2.0])
y = dot(a, b)
y.backward()  # from y back to a
# Three numbers, as a list
predict("the gradient of a · b with respect to a", ..., a.grad)

# %% [markdown]
# ## 3. Direction only: cosine similarity
#
# Sometimes the length tells you nothing useful: frequent words tend to get longer vectors, and so do longer texts on the
# same subject. Divide by both lengths (**normalise** the vectors), and only the cosine of the angle is left:
#
# $$\cos(\mathbf{a}, \mathbf{b}) = \frac{\mathbf{a} \cdot \mathbf{b}}{\|\mathbf{a}\| \, \|\mathbf{b}\|}$$
#
# It is 1 for the same direction, 0 for perpendicular vectors and −1 for opposite ones. Stretch or shrink a vector, and its
# cosines stay the same.
#
# From here on, vectors come in **batches**: `(..., K)` holds them along its last dimension. With `dim=-1` you work on each
# vector separately:

# %%
batch = torch.tensor([[3.0, 4.0], [6.0, 8.0], [0.0, 0.0]])  # three vectors of two entries
print("sum of everything:       ", batch.sum())
print("sum of each vector, (3,):", batch.sum(dim=-1))
print("with keepdim, (3, 1):    ", batch.sum(dim=-1, keepdim=True).tolist())

# %% [markdown]
# ### Step: the length of every vector
#
# *Step ★☆☆ · about 2 minutes · tools: `*`, `.sum` with `dim` and `keepdim`, `.sqrt()`*
#
# `x` is `(..., K)`. Return the lengths as `(..., 1)`, so that `x / lengths(x)` divides each vector by its own.
#
# **Worked example.** `[[3, 4], [5, 12]]` gives `[[5], [13]]`.


# %%
def lengths(x: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(lengths)

# %% [markdown]
# PyTorch's `x.norm(dim=-1, keepdim=True)` returns the same.
#
# ### A vector of zeros has no direction
#
# The third vector of `batch` has the length 0, and `0 / 0` is NaN, *not a number*. One NaN can spread through a whole
# network. A vector of zeros is not similar to anything, so we define its similarity to every vector as **0**.
#
# ### Predict: a careful repair
#
# `torch.where(length > 0, product / length, 0)` returns 0 for a vector of zeros and the quotient otherwise, so the value is
# right. What is the gradient at a vector of zeros?

# %%
nothing = torch.zeros(3, requires_grad=True)
something = torch.tensor([1.0, 2.0, 3.0])
length = nothing.norm()
value = torch.where(length > 0, (nothing * something).sum() / length, torch.tensor(0.0))
value.backward()
# Each entry of the gradient: "0", "NaN" or "the entry of something"
predict("the gradient after the repair", ..., nothing.grad)

# %% [markdown]
# <details><summary>The way out</summary>
#
# Two operations make the gradient NaN, even where the value is right:
#
# - **A division by 0**, in either branch. Replace the length *before* you divide: `safe = torch.where(length > 0, length, 1)`.
# - **A root of 0.** At a vector of zeros, `(x * x).sum().sqrt()` has the gradient NaN, even if you replace the length
#   afterwards. `norm` has the gradient 0.
#
# A repair in DeepMind's *optax* had correct similarities but
# [NaN gradients](https://github.com/google-deepmind/optax/pull/946).
#
# </details>
#
# ### Exercise 2: `cosine_similarity(a, b)`
#
# *Difficulty ★★☆ · about 13 minutes*
#
# - `a` and `b` have the shape `(..., K)`; return `(...)`, one number per pair of vectors.
# - The leading dimensions broadcast: `(4, 1, K)` and `(6, K)` give `(4, 6)`.
# - Where either vector is all zeros, return 0. Neither the result nor the gradients may contain NaN: unfold *The way out*.
# - Treat only vectors of zeros specially. A small constant added to the lengths would change the cosines of short vectors,
#   and even a vector of length 0.00001 has a direction.
# - You may not use PyTorch's own `cosine_similarity`, in any spelling.
#
# **Worked example.** `a = [3, 4]` and `b = [4, 3]` both have the length 5. Their dot product is 24 and their cosine
# 24/25 = 0.96.


# %% nbgrader={"grade": false, "grade_id": "cosine_similarity", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cosine_similarity(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The cosine of the angle between vectors along the last dimension.

    a, b: (..., K), leading dimensions broadcast
    returns: (...), 0 where either vector is all zeros
    """
    ### BEGIN SOLUTION
    length_a = a.norm(dim=-1, keepdim=True)
    length_b = b.norm(dim=-1, keepdim=True)
    unit_a = a / torch.where(length_a == 0, 1, length_a)
    unit_b = b / torch.where(length_b == 0, 1, length_b)
    return (unit_a * unit_b).sum(dim=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_cosine_similarity", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(cosine_similarity)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(cosine_similarity)
### END HIDDEN TESTS

# %% [markdown]
# ## 4. One query, six words
#
# A lookup compares one vector, the **query**, with many others, the **keys**. In a language model every **token** (a word or
# a piece of one) has a vector. Here are vectors for six words, made by hand. Their entries say how much each word is an
# **animal**, a **vehicle** or a **food**, and how **large** it is. *Dog* has the longest vector, as common words often do.

# %%
words = ["cat", "kitten", "dog", "car", "bus", "apple"]
meanings = ["animal", "vehicle", "food", "large"]
vectors = torch.tensor(
    [
        [0.9, -0.3, -0.2, -0.5],  # cat
        [0.8, -0.4, -0.1, -0.9],  # kitten
        [1.8, -0.4, -0.4, 0.2],  # dog
        [-0.5, 0.9, -0.6, 0.4],  # car
        [-0.5, 1.0, -0.5, 0.9],  # bus
        [-0.3, -0.6, 1.0, -0.6],  # apple
    ]
)
pet = torch.tensor([1.0, -0.5, -0.3, -0.3])  # a query: an animal, no vehicle, no food, not large

# %% [markdown]
# ### Predict: the best match for `pet`
#
# Which word has the largest dot product with `pet`, and which the largest cosine? Compare signs first, then lengths.

# %%
# One of the six words
predict("the largest dot product with pet", ...)

# %%
# One of the six words
predict("the largest cosine with pet", ...)

# %% [markdown]
# ### Step: score every key
#
# *Step ★☆☆ · about 3 minutes · tools: your `dot`, `for`, `torch.stack`, which joins a list of tensors into one*
#
# `query` is `(K,)`, `keys` is `(S, K)`. Loop over the keys, and return the dot product of the query with each, `(S,)`.
#
# **Worked example.** The query `[1, 2]` and the keys `[[3, 4], [0, 5], [-1, 1]]` give `[11, 10, 1]`.


# %%
def score_each(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(score_each)


# %% tags=["demo"]
# @title Six words compared with pet, as bars
def torch_cosine(a, b):
    return torch.cosine_similarity(a, b, dim=-1)


figures.show(
    figures.vectors.rankings(words, score_each(pet, vectors), cosine_similarity(pet, vectors)),
)

# %% [markdown]
# The two rankings differ. Attention uses dot products.
#
# ## 5. All pairs at once
#
# Put $T$ queries into the rows of a matrix $\mathbf{Q}$, `(T, K)`, and $S$ keys into the rows of a matrix $\mathbf{K}$,
# `(S, K)`. Bold $\mathbf{K}$ is this matrix; plain `K` is still the number of entries, the **width** ($d_k$ in papers). The
# dot products of all pairs are the **scores**, with one row per query and one column per key:
#
# $$s_{ij} = \mathbf{q}_i \cdot \mathbf{k}_j
# \qquad\text{all at once:}\qquad \mathbf{S} = \mathbf{Q} \, \mathbf{K}^\top$$
#
# Bold lower-case letters are the rows of these matrices. A **matrix product**, `@` in Python, takes the dot product of every
# *row* on the left with every *column* on the right. Keys are rows, so $\mathbf{K}$ is **transposed** first (the small
# $\top$): its rows become columns.
#
# Choose a query and a key. Their score is the dot product of two rows.

# %% tags=["demo"]
# @title Two sliders: which query, and which key
ride, snack = torch.tensor([-0.6, 1.0, -0.4, 0.6]), torch.tensor([-0.4, -0.5, 1.0, -0.5])
queries = torch.stack([pet, ride, snack])
scores = torch.stack([score_each(query, vectors) for query in queries])  # (T, S)
sliders.slider(figures.vectors.one_cell, queries, vectors, scores, ["pet", "ride", "snack"], words, meanings)

# %% [markdown]
# ### Predict: transposing a batch
#
# For a matrix, `.T` swaps the two dimensions. Let `keys` be a batch, `(2, 6, 4)`: two sentences with six keys of four entries.
# What is the shape of `keys.T`?

# %%
keys = torch.zeros(2, 6, 4)
# The shape: numbers in brackets
predict("the shape of keys.T", ..., keys.numpy().T.shape)  # NumPy's .T, which does what PyTorch's does

# %% [markdown]
# <details><summary>What you want instead</summary>
#
# Swap only the last two dimensions: `help(torch.Tensor.mT)` and `help(torch.transpose)` show two ways. For a single matrix
# they agree with `.T`, so you notice a wrong `.T` only with the first batch. NumPy accepts it silently; PyTorch warns, and
# will raise an error in a later version.
#
# </details>
#
# ### Exercise 3: `similarity_scores(queries, keys)`
#
# *Difficulty ★☆☆ · about 3 minutes*
#
# - `queries` has the shape `(..., T, K)`, `keys` the shape `(..., S, K)`, with the same leading dimensions. Return
#   `(..., T, S)`: the entry at `[..., i, j]` is the dot product of query `i` and key `j`.
# - You may use everything, even `@`.
#
# **Worked example.** `queries = [[1, 2]]` and `keys = [[3, 4], [0, 5], [-1, 1]]` give `[[11, 10, 1]]`, of shape `(1, 3)`.


# %% nbgrader={"grade": false, "grade_id": "similarity_scores", "locked": false, "schema_version": 3, "solution": true, "task": false}
def similarity_scores(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """The dot product of every query with every key.

    queries: (..., T, K)
    keys: (..., S, K), the same leading dimensions
    returns: (..., T, S)
    """
    ### BEGIN SOLUTION
    return queries @ keys.transpose(-2, -1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_similarity_scores", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(similarity_scores)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(similarity_scores)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: the row of *cat*
#
# Compare all six words with all six. Which one has the largest dot product with *cat*?

# %%
# One of the six words
predict("the largest dot product in the row of cat", ...)

# %% tags=["demo"]
# @title Six words against six words, twice
figures.show(
    figures.vectors.dots_and_cosines(similarity_scores, cosine_similarity, vectors, words),
)

# %% [markdown]
# Both matrices are **symmetric**: row $i$ equals column $i$. The queries and the keys are the same vectors here; in lesson 3
# they differ. With six of each, the shape does not show whether you have swapped **queries** (rows) and **keys** (columns).
# Test with different sizes.
#
# One sentence appears in every lesson: *The boat reached the river bank*, with three entries per word. Scoring it against
# itself gives a first idea of which words belong together.

# %% tags=["demo"]
# @title The scores of a sentence with itself
drawn = figures.vectors.of_a_sentence(similarity_scores(sentence.x, sentence.x), sentence.words)
figures.show(drawn)

# %% [markdown]
# ## 6. Looking something up
#
# For each query, find the key with the highest cosine. `argmax` returns the *index* (0, 1, 2, …) of the largest value along a
# dimension. Where several are equal, it returns the first.
#
# $$\text{most similar}(\mathbf{q}_i) = \underset{j}{\text{argmax}} \; \cos(\mathbf{q}_i, \mathbf{k}_j)$$
#
# ### Exercise 4: `most_similar(queries, keys)`
#
# *Difficulty ★★☆ · about 9 minutes*
#
# - `queries` has the shape `(..., T, K)`, `keys` the shape `(..., S, K)`, with the same leading dimensions. Return the
#   index of the most similar key for each query: `int64`, of shape `(..., T)`.
# - Similarity is the **cosine**. A key of zeros has similarity 0, so it still beats a key that points away from the query.
# - If equal keys tie, the lowest index wins.
# - You may call your earlier functions. If one is wrong, `check` uses a correct one in its place.
# - To compare all pairs by broadcasting, give *both* arguments a dimension of size 1: `(..., T, 1, K)` and `(..., 1, S, K)`.
#
# **Worked example.** With `queries = [[1, 0], [0, 2]]` and `keys = [[5, 5], [3, 0], [-1, 2]]` the first query has the
# cosines 0.71, 1 and −0.45, the second 0.71, 0 and 0.89: the result is `[1, 2]`. Dot products would give `[0, 0]`, since the
# first key is the longest.


# %% nbgrader={"grade": false, "grade_id": "most_similar", "locked": false, "schema_version": 3, "solution": true, "task": false}
def most_similar(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """For each query, the index of the key with the highest cosine similarity.

    queries: (..., T, K)
    keys: (..., S, K), the same leading dimensions
    returns: (..., T), int64; of equal keys the one with the lowest index
    """
    ### BEGIN SOLUTION
    similarity = cosine_similarity(queries.unsqueeze(-2), keys.unsqueeze(-3))  # (..., T, S)
    return similarity.argmax(dim=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_most_similar", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(most_similar)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(most_similar)
### END HIDDEN TESTS

# %% [markdown]
# Each ring shows which of five keys is found, for queries in 360 directions. Look for the short key C in both.


# %% tags=["demo"]
# @title Five keys, and the one found in each direction


figures.show(
    figures.vectors.lookups(most_similar, similarity_scores),
)

# %% [markdown]
# With the cosine, every key wins for the queries around it. With the dot product, no query finds C: a longer neighbour always
# scores higher. So there are two ways to change which queries find a key: *turn* it, or change its *length*. Attention uses
# both from lesson 3 on.
#
# ## 7. Your functions in a real model
#
# The course comes with a small language model, trained on stories about a river town. Its attention scores are dot products
# of queries and keys.

# %% tags=["demo"]
lm = small_lm.load()

# %% [markdown]
# ### Predict: the loss with your functions
#
# `lm.compare` computes these scores with your `dot`, then with your `cosine_similarity`. It prints the **loss** on 23 words of
# a text that the model has not seen: how badly it predicts the next word. What happens to the loss each time?

# %%
# "lower", "the same up to rounding" or "much higher"
predict("the loss with my dot", ...)

# %%
# "lower", "the same up to rounding" or "much higher"
predict("the loss with cosines", ...)

# %% tags=["demo"]
dot_loss, builtin_loss = lm.compare(dot_product=dot)
cosine_loss, _ = lm.compare(dot_product=cosine_similarity)

# %% [markdown]
# ## 8. Words with similar vectors (extra)
#
# `lm.embedding` has one row of 96 entries per word in `lm.words`, all learned in training.

# %% tags=["demo"]
print(len(lm.words), "words; embedding", tuple(lm.embedding.shape))

# %% [markdown]
# ### Step: neighbours of a word (extra)
#
# *Step ★★☆ · about 4 minutes · tools: your `cosine_similarity`, `argsort`*
#
# `table` is `(N, K)`. Return the indices, `(count,)`, of the `count` rows whose cosine with row `i` is largest: best first,
# without `i` itself.
#
# **Worked example.** In the table `[[1, 0], [0, 1], [9, 8]]`, row 0 has the cosines 1, 0 and 0.75 with the three. For
# `count = 2` the result is `[2, 1]`.


# %%
def neighbours(i: int, table: torch.Tensor, count: int) -> torch.Tensor:
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(neighbours)

# %% [markdown]
# ### Predict: the neighbours of *river* (extra)
#
# The model has read nothing but stories. Which words are nearest to *river*, by cosine?

# %%
# "other waters, such as lake", "boat" or "the"
predict("the words nearest to river", ...)

# %% tags=["demo"]
for word in ("river", "boat", "bread", "red", "three", "Monday", "ate"):
    near = neighbours(lm.words.index(word), lm.embedding, 5)
    print(f"{word:7}", ", ".join(lm.words[i] for i in near))

# %% tags=["demo"]
# @title The ten neighbours of bank
near = neighbours(lm.words.index("bank"), lm.embedding, 10)
figures.show(figures.vectors.neighbours(lm, "bank", near))

# %% [markdown]
# Words used in the same way have similar vectors: lakes and bays, or colours, or numbers. *Bank* has one vector, whether a
# sentence means a riverbank or a place for money. From lesson 3 on, attention takes the surrounding words into account.

# %% [markdown]
# ## 9. Your experiment (extra)
#
# *Experiment ★★☆ · about 6 minutes*
#
# In the plane, two random arrows can have any angle. What happens with more entries? For each width `K` below, sample 1,000
# pairs of vectors with `torch.randn`, and take their cosines with your function. Their standard deviation, `.std()`, measures
# how far they spread around 0. Plot it against `K` with `figures.curves(widths, {"spread": spreads}, log="both")` (both axes
# logarithmic). Your finding is the standard deviation for `K = 100`.

# %%
widths = [2, 5, 10, 20, 50, 100, 200, 500]
spreads = []  # one standard deviation per width

# %%
finding = ...  # the standard deviation of the cosines for K = 100
check("experiment", finding)

# %% [markdown]
# ## 10. A bug that shipped (extra)
#
# NIST, the US standards institute, publishes a tool that compares texts by their cosine similarity:
#
# ```diff
# - dot(a, b) / (length(b) * length(b))
# + dot(a, b) / (length(a) * length(b))
# ```
#
# Its tests passed, because they compared only equal texts, texts with nothing in common, and texts whose vectors are equally
# long. For other texts the "cosine" was 2.0 in one order and 0.4 in the other
# ([oscal-deep-diff #100](https://github.com/usnistgov/oscal-deep-diff/pull/100)). Two tests catch it: is the measure symmetric,
# and is it the same for `a` and `10 * a`?
#
# More bugs that shipped are in the notebook `bug_museum.ipynb`.

# %% [markdown]
# ## Challenge: `squared_distances(queries, keys)` (extra)
#
# *Challenge ★★ · not graded · about 15 minutes*
#
# How far is every query from every key? Subtracting each key from each query makes $T \cdot S$ vectors: for 1,000 queries
# and 1,000 keys of 1,000 entries, 4 GB for a result of 4 MB. But a squared distance is a dot product,
# $\|\mathbf{q} - \mathbf{k}\|^2 = (\mathbf{q} - \mathbf{k}) \cdot (\mathbf{q} - \mathbf{k})$. Multiply it out: you need
# only `similarity_scores` and the dot product of each vector with itself.
#
# **Worked example.** The query $(1, 2)$ and the key $(4, 6)$ differ by $(3, 4)$, so the result is 25. Their dot products
# with themselves are 5 and 52, and with each other 16: $5 - 2 \cdot 16 + 52 = 25$.
#
# Rounding spoils this in two ways:
#
# - The squared distance of a vector from itself can become slightly negative, and its root NaN. **Never return a negative
#   number.**
# - Far from zero, only the rounding errors of large numbers remain. Your result must stay accurate for vectors **a few
#   thousand times farther from zero** than from each other. Dot products change if you move all vectors by the same amount.
#   Do distances?
#
# `queries` is `(..., T, K)`, `keys` is `(..., S, K)`, with the same leading dimensions. Return `(..., T, S)`, and never make
# a tensor of shape `(..., T, S, K)`. You may not use torch's `cdist`, `pdist`, `dist` or `pairwise_distance`. Try to do
# without a loop.


# %%
def squared_distances(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """The squared distance of every query from every key, by dot products.

    queries: (..., T, K); keys: (..., S, K), the same leading dimensions.
    Returns (..., T, S), never below 0, without a tensor of shape (..., T, S, K) on the way.
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(squared_distances)

# %% [markdown]
# ## Summary
#
# 1. The dot product is one number: positive for similar, 0 for perpendicular, negative for opposite vectors.
# 2. Cosine similarity divides by both lengths. For a vector of zeros it is 0, without NaN in the value or the gradient.
# 3. One matrix product compares all queries with all keys. Swap only the last two dimensions of the keys.
# 4. A longer key gets a dot product farther from 0; its cosine stays the same.
#
# $$\mathbf{a} \cdot \mathbf{b} = \sum_{r=0}^{K-1} a_r b_r = \|\mathbf{a}\| \, \|\mathbf{b}\| \cos\theta
# \qquad\qquad \mathbf{S} = \mathbf{Q} \, \mathbf{K}^\top$$

# %% tags=["demo"]
# @title What you have built so far
figures.show(figures.overview("dot products", complete=True, q=queries, k=vectors, scores=scores))

# %% [markdown]
# **To read on:** [PyTorch on broadcasting](https://pytorch.org/docs/stable/notes/broadcasting.html) ·
# [3Blue1Brown](https://www.3blue1brown.com/lessons/dot-products) on why a sum of products is a shadow ·
# [the Word2vec paper](https://arxiv.org/abs/1301.3781) on where the vectors of words come from.
#
# Next: scores can be any number. In lesson 2 you turn them into weights that add up to 1.

# %% tags=["demo"]
progress()
