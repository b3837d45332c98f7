# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 1: Dot products
#
# In lesson 0 you wrote a line like `scores = q @ k.T`. But why should a product of matrices know which words fit together? Here
# you take the line apart, and see where it breaks.
#
# **You will build** the dot product, the scores of a whole batch, the cosine, and a lookup of the most similar vector.
#
# **You need** Python and tensors, for which `90_tensors.ipynb` is a warm-up.
#
# **Time:**

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sentence, sliders, small_lm, solution
from torch import nn

begin("01_dot_products")

# %% [markdown]
# ## 1. Multiply, then add
#
# Each score compares two vectors. A **vector** is a list of numbers, its **entries**: a tensor of shape `(D,)`, where formulas
# write $d$ for `D`. The **dot product** of two vectors multiplies them entry by entry, and adds up the products:
#
# $$\mathbf{a} \cdot \mathbf{b} = \sum_{r=0}^{d-1} a_r b_r = a_0 b_0 + a_1 b_1 + \dots + a_{d-1} b_{d-1}$$
#
# Each position has a vote: *for* where the signs agree, *against* where they differ, and large entries have a loud voice.

# %% tags=["picture"]
# @title Two vectors of three entries, multiplied and added
figures.show(figures.vectors.votes())

# %% [markdown]
# ### Exercise: `dot(a, b)`
#
# *Difficulty ★☆☆, importance ●●●, about 3 minutes.*
#
# Return the dot product, a tensor of shape `()`. Use `*` and a sum, without PyTorch's own products (`@`, `torch.dot`, `einsum`
# and the like), and without `.item()` or `float(…)`, which cut a result off from training.
#
# **Worked example.** For `a = [2, 0, -1]` and `b = [3, 7, 4]` the products are `6, 0, -4`, so `dot(a, b)` is `2`.


# %% nbgrader={"grade": false, "grade_id": "dot", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The dot product of two vectors: the sum of the products of their entries.

    a, b: (D,)
    returns: (), a tensor
    """
    ### BEGIN SOLUTION
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
# `torch.dot(a, b)` gives the same number, and so does `a @ b`. What does the number mean? A vector of two entries is an arrow
# in the plane. The thick bar is the **shadow** that $\mathbf{b}$ casts on the line through $\mathbf{a}$, in light at a right
# angle to it.

# %% tags=["picture"]
# @title The arrow a with three arrows b, and their shadows
figures.show(figures.vectors.shadows(dot))

# %% [markdown]
# The dot product is **the length of $\mathbf{a}$ times the length of the shadow**, with a minus sign if the shadow points away
# from $\mathbf{a}$. So it is positive for similar directions, 0 for perpendicular and negative for opposite ones. The **length**
# (or *norm*) comes from Pythagoras, and is made of a dot product too:
#
# $$\|\mathbf{a}\| = \sqrt{a_0^2 + \dots + a_{d-1}^2} = \sqrt{\mathbf{a} \cdot \mathbf{a}}$$
#
# If $\theta$ is the angle between the arrows, the shadow of $\mathbf{b}$, with its sign, is $\|\mathbf{b}\| \cos\theta$, so
#
# $$\mathbf{a} \cdot \mathbf{b} = \|\mathbf{a}\| \, \|\mathbf{b}\| \cos\theta$$
#
# <details><summary>Why does a sum of products contain a cosine? (extra)</summary>
#
# Take the triangle with the sides $\mathbf{a}$, $\mathbf{b}$ and $\mathbf{a} - \mathbf{b}$. Multiply out:
# $\|\mathbf{a} - \mathbf{b}\|^2 = \|\mathbf{a}\|^2 + \|\mathbf{b}\|^2 - 2\,\mathbf{a} \cdot \mathbf{b}$. The law of cosines
# says $\|\mathbf{a} - \mathbf{b}\|^2 = \|\mathbf{a}\|^2 + \|\mathbf{b}\|^2 - 2\,\|\mathbf{a}\|\,\|\mathbf{b}\| \cos\theta$. So
# the last terms are equal. Two vectors with 500 entries span a triangle too.
#
# </details>
#
# ### Predict: an arrow twice as long
#
# Turn $\mathbf{b}$ once round the circle. Over the angle, the dot product is a wave: highest at 0°, lowest at 180°. What
# happens to this wave if $\mathbf{b}$ is twice as long?

# %%
# "nothing", "every value doubles" or "the zeros move"
predict("b twice as long", ...)


# %% tags=["picture"]
# @title The dot product while b goes once round the circle
figures.show(figures.vectors.around_the_circle(dot))

# %% [markdown]
# The direction decides the sign, but the length counts as well. Turn and stretch $\mathbf{b}$:

# %% tags=["picture"]
# @title Two sliders: angle and length of b
sliders.slider(figures.vectors.at_angle, dot)

# %% [markdown]
# ## 3. One query, six words
#
# In attention, a **query** is compared with many **keys**. Here the keys are six words with vectors made by hand, whose entries
# mean animal, vehicle, food and large.

# %% tags=["code"]
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
# By hand, *cat* scores $1.0 \cdot 0.9 + (-0.5)(-0.3) + (-0.3)(-0.2) + (-0.3)(-0.5) = 1.26$.
#
# ### Exercise: score every key
#
# *Difficulty ★☆☆, importance ●●○, about 3 minutes.*
#
# Return the score of each key, without `@`: by a loop, your `dot`, and `torch.stack`, which joins a list of tensors.
#
# **Worked example.** The query `[1, 2]` and the keys `[[3, 4], [0, 5], [-1, 1]]` give `[11, 10, 1]`.


# %%
def score_each(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """The dot product of one query with each key.

    query: (D,)
    keys: (S, D)
    returns: (S,)
    """
    raise NotImplementedError  # replace this line


# %%
check(score_each)

# %% [markdown]
# ### Predict: the best match for `pet`
#
# Which word has the largest dot product with `pet`?

# %%
# One of the six words
predict("the largest dot product with pet", ...)

# %% tags=["picture"]
for word, score in zip(words, score_each(pet, vectors)):
    print(f"{word:7}{score:6.2f}")

# %% [markdown]
# *Dog* has a long vector. Attention uses dot products, so it pays attention to length as well: a long key can win over one with a
# better direction.
#
# ## 4. All pairs at once
#
# Let $T$ queries $\mathbf{q}_i$ be the rows of a matrix $\mathbf{Q}$, `(T, D)`, and $S$ keys $\mathbf{k}_j$ the rows of
# $\mathbf{K}$, `(S, D)`. Then the **scores** have one row per query and one column per key:
#
# $$s_{ij} = \mathbf{q}_i \cdot \mathbf{k}_j
# \qquad\text{all at once:}\qquad \mathbf{S} = \mathbf{Q} \, \mathbf{K}^\top$$
#
# A **matrix product**, `@` in Python, takes the dot product of every *row* on the left with every *column* on the right. Keys
# are rows, so $\mathbf{K}$ is **transposed** first (the small $\top$): its rows become columns. So your code is nothing but
# $T \cdot S$ dot products:

# %% tags=["code"]
ride, snack = torch.tensor([-0.6, 1.0, -0.4, 0.6]), torch.tensor([-0.4, -0.5, 1.0, -0.5])
queries = torch.stack([pet, ride, snack])  # (T, D)
scores = queries @ vectors.T  # (T, S)
assert torch.allclose(scores, torch.stack([score_each(query, vectors) for query in queries]))

# %% [markdown]
# Choose a query and a key:

# %% tags=["picture"]
# @title Two sliders: which query, and which key
sliders.slider(figures.vectors.one_cell, queries, vectors, scores, ["pet", "ride", "snack"], words, meanings)

# %% [markdown]
# ### Predict: transposing a batch
#
# Where does this code break? A model reads several sentences at once, a **batch**. Let `keys` have the shape `(2, 6, 4)`: two
# sentences with six keys of four entries. What is the shape of `keys.T`?

# %%
keys = torch.zeros(2, 6, 4)
# The shape: numbers in brackets, such as (3,)
predict("the shape of keys.T", ..., keys.numpy().T.shape)  # NumPy's .T, which does what PyTorch's does

# %% [markdown]
# So it works until the first batch arrives. Which dimensions should swap? `help(torch.transpose)` shows how to name
# them.
#
# ### Exercise: `similarity_scores(queries, keys)`
#
# *Difficulty ★☆☆, importance ●●●, about 3 minutes.*
#
# Return the dot product of every query with every key. The `...` of a shape are any leading dimensions: none, one or several.
# From here on you may use everything, even `@`.
#
# **Worked example.** `queries = [[1, 2]]` and `keys = [[3, 4], [0, 5], [-1, 1]]` give `[[11, 10, 1]]`.


# %% nbgrader={"grade": false, "grade_id": "similarity_scores", "locked": false, "schema_version": 3, "solution": true, "task": false}
def similarity_scores(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """The dot product of every query with every key, for each element of a batch by itself.

    queries: (..., T, D)
    keys: (..., S, D), the same leading dimensions
    returns: (..., T, S), at [..., i, j] the dot product of query i and key j
    """
    ### BEGIN SOLUTION
    return queries @ keys.transpose(-2, -1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_similarity_scores", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(similarity_scores)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(similarity_scores)
### END HIDDEN TESTS

# %% [markdown]
# Now *The boat reached the river bank* asks itself:

# %% tags=["picture"]
# @title The scores of a sentence with itself
drawn = figures.vectors.of_a_sentence(similarity_scores(sentence.x, sentence.x), sentence.words)
figures.show(drawn)

# %% [markdown]
# Queries and keys are the same six vectors here, so a swap of the two would not show: test with different sizes.
#
# ## 5. Direction only: cosine similarity
#
# Sometimes the length says nothing useful: if you count the words of two articles, the longer article gets the longer vector.
# Divide by both lengths (**normalise** the vectors), and only the cosine of the angle is left:
#
# $$\cos(\mathbf{a}, \mathbf{b}) = \frac{\mathbf{a} \cdot \mathbf{b}}{\|\mathbf{a}\| \, \|\mathbf{b}\|}$$
#
# It goes from 1 for the same direction to −1 for the opposite one, and stays the same if you stretch or shrink a vector. To
# divide many vectors at once, each by its own length, you need shapes that fit.
#
# ### Predict: a row times a column
#
# `row` has the shape `(3,)`, `column` the shape `(3, 1)`. What is the shape of `row * column`?

# %%
row = torch.tensor([1.0, 2.0, 3.0])
column = torch.tensor([[4.0], [-5.0], [6.0]])
# The shape: numbers in brackets
predict("the shape of row * column", ..., (row * column).shape)

# %% tags=["picture"]
# @title How the two shapes are stretched
figures.show(figures.broadcast(row, column, "×", names=("row", "column")))

# %% [markdown]
# **Broadcasting** stretches a dimension of size 1, or one that is missing on the left, to the other's size. It can spoil a dot
# product without a warning: these nine products add up to 30, not 12. But it also divides all vectors at once, if their
# lengths are a *column*, `(S, 1)`, beside the rows of `(S, D)`. `keepdim=True` makes a column:

# %% tags=["code"]
batch = torch.tensor([[3.0, 4.0], [5.0, 12.0], [0.0, 1.0]])  # three vectors of two entries
print("sum of everything:       ", batch.sum())
print("sum of each vector, (3,):", batch.sum(dim=-1))
print("with keepdim, (3, 1):    ", batch.sum(dim=-1, keepdim=True).tolist())

# %% [markdown]
# ### Exercise: the length of every vector
#
# *Difficulty ★☆☆, importance ●●○, about 2 minutes.*
#
# Return the lengths, so that `x / lengths(x)` divides each vector by its own. You need `*`, `.sum` and `.sqrt()`.
#
# **Worked example.** `[[3, 4], [5, 12]]` gives `[[5], [13]]`.


# %%
def lengths(x: torch.Tensor) -> torch.Tensor:
    """The length of every vector along the last dimension.

    x: (..., D)
    returns: (..., 1)
    """
    raise NotImplementedError  # replace this line


# %%
check(lengths)

# %% [markdown]
# PyTorch's `x.norm(dim=-1, keepdim=True)` returns the same.
#
# ### Exercise: `cosine_similarity(a, b)`
#
# *Difficulty ★★☆, importance ●●○, about 8 minutes.*
#
# Return the cosine of each pair of vectors, without PyTorch's own `cosine_similarity`.
#
# **Worked example.** `a = [3, 4]` and `b = [4, 3]` both have the length 5, so their cosine is 24/25 = 0.96.


# %% nbgrader={"grade": false, "grade_id": "cosine_similarity", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cosine_similarity(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The cosine of the angle between vectors along the last dimension.

    a, b: (..., D), no vector all zeros; leading dimensions broadcast, so (4, 1, D) and (6, D) give (4, 6)
    returns: (...), the same for vectors that are stretched or shrunk
    """
    ### BEGIN SOLUTION
    length_a = a.norm(dim=-1)
    length_b = b.norm(dim=-1)
    return (a * b).sum(dim=-1) / (length_a * length_b)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_cosine_similarity", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(cosine_similarity)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(cosine_similarity)
### END HIDDEN TESTS

# %% [markdown]
# <details><summary>And a vector of zeros? (extra)</summary>
#
# It has no direction, and 0 / 0 is NaN, *not a number*. PyTorch's own `cosine_similarity` takes lengths for at least $10^{-8}$, so
# it returns 0 there, as many programs do. One of them returned 0 and still stopped the training: look for *The similarity is 0,
# and its gradient is NaN* in the notebook `bug_museum.ipynb`.
#
# </details>
#
# ### Predict: `pet` by direction
#
# Which of the six words has the largest *cosine* with `pet`?

# %%
# One of the six words
predict("the largest cosine with pet", ...)

# %% tags=["picture"]
# @title Six words compared with pet, as bars
ranked = [similarity_scores(pet[None], vectors)[0], cosine_similarity(pet, vectors)]
figures.show(figures.vectors.rankings(words, *ranked))

# %% [markdown]
# ## 6. Looking something up
#
# A search finds, for each query, the key with the highest cosine. `argmax` returns the *index* of the largest value:
#
# $$\text{most similar}(\mathbf{q}_i) = \underset{j}{\text{argmax}} \; \cos(\mathbf{q}_i, \mathbf{k}_j)$$
#
# ### Exercise: `most_similar(queries, keys)`
#
# *Difficulty ★★☆, importance ●●○, about 9 minutes.*
#
# Return these indices. You may call your earlier functions. Could a single matrix product give you all cosines?
#
# **Worked example.** With `queries = [[1, 0]]` and `keys = [[5, 5], [3, 0], [-1, 2]]` the cosines are 0.71, 1 and −0.45, so the
# result is `[1]`.


# %% nbgrader={"grade": false, "grade_id": "most_similar", "locked": false, "schema_version": 3, "solution": true, "task": false}
def most_similar(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """For each query, the index of the key with the highest cosine similarity, whatever the lengths.

    queries: (..., T, D)
    keys: (..., S, D), the same leading dimensions; no vector is all zeros
    returns: (..., T), int64; of equal keys the one with the lowest index
    """
    ### BEGIN SOLUTION
    unit_queries = queries / queries.norm(dim=-1, keepdim=True)
    unit_keys = keys / keys.norm(dim=-1, keepdim=True)
    return similarity_scores(unit_queries, unit_keys).argmax(dim=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_most_similar", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(most_similar)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(most_similar)
### END HIDDEN TESTS

# %% [markdown]
# Each ring shows which of five keys is found by queries in 360 directions. Look for C.

# %% tags=["picture"]
# @title Five keys, and the one found in each direction
figures.show(figures.vectors.lookups(most_similar, similarity_scores))

# %% [markdown]
# With the dot product nobody finds poor C, because in every direction a longer key scores higher. So a key can *turn* or *grow* to be
# found, and attention learns both.
#
# ## 7. Your functions in a real model
#
# The course's small language model was trained on stories about a river town. `lm.compare` computes the model's scores with
# your functions, and prints the **loss** on 23 words of a new text: how badly the model predicts the next word.

# %% tags=["model"]
lm = small_lm.load()

# %% [markdown]
# ### Predict: the loss with cosines
#
# With your `dot` the loss stays as it is. What happens to it if the scores are cosines?

# %%
# "lower", "the same up to rounding" or "much higher"
predict("the loss with cosines", ...)

# %% tags=["model"]
dot_loss, builtin_loss = lm.compare(dot_product=dot)
cosine_loss, _ = lm.compare(dot_product=cosine_similarity)

# %% [markdown]
# ## 8. A bug that shipped (extra)
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
# ([oscal-deep-diff #100](https://github.com/usnistgov/oscal-deep-diff/pull/100)). Two tests would have caught it: is the
# measure symmetric, and is it the same for `a` and `10 * a`?
#
# More bugs that shipped are in the notebook `bug_museum.ipynb`.
#
# ## 9. Words with similar vectors (extra)
#
# The small language model has a vector for each word that it knows. Nobody made these by hand; training did. Your cosines find
# the neighbours of *river* among them:

# %% tags=["picture"]
# @title The five words with the largest cosines with river
figures.show(figures.vectors.neighbours(lm, cosine_similarity, "river"))

# %% [markdown]
# Words that are used in the same way have similar vectors, as [Word2vec](https://arxiv.org/abs/1301.3781) made famous. But
# *bank* has a single one, whether a sentence means the bank of the river or the one with the money. From lesson 3 on, attention
# lets the words around it decide.
#
# ## 10. Your experiment (extra)
#
# *Difficulty ★★☆, importance ●○○, about 6 minutes.*
#
# In the plane, two random arrows can have any angle. What happens with more entries? For each width `D` below, sample 1,000
# pairs of vectors with `torch.randn`, and take their cosines with your function. Their standard deviation, `.std()`, measures
# how far they spread around 0. Plot it against `D` with `figures.curves(widths, {"spread": spreads}, log="both")` (both axes
# logarithmic). Your finding is the standard deviation for `D = 100`.

# %% tags=["code"]
widths = [2, 5, 10, 20, 50, 100, 200, 500]
spreads = []  # one standard deviation per width

# %%
finding = ...  # the standard deviation of the cosines for D = 100
check("experiment", finding)

# %% [markdown]
# ## Summary
#
# 1. A dot product is positive for similar vectors, 0 for perpendicular and negative for opposite ones.
# 2. A longer vector gets a dot product farther from 0; its cosine stays the same.
# 3. One matrix product gives all scores, a row per query and a column per key.
# 4. In a batch, swap only the last two dimensions of the keys.
# 5. Shapes that do not fit may broadcast without a warning.
#
# $$\mathbf{a} \cdot \mathbf{b} = \sum_{r=0}^{d-1} a_r b_r = \|\mathbf{a}\| \, \|\mathbf{b}\| \cos\theta
# \qquad\qquad \mathbf{S} = \mathbf{Q} \, \mathbf{K}^\top$$

# %% tags=["picture"]
# @title What you have built so far
figures.show(figures.overview("dot products", complete=True, q=queries, k=vectors, scores=scores))

# %% [markdown]
# **To read on:** [3Blue1Brown](https://www.3blue1brown.com/lessons/dot-products) on why a sum of products is a shadow.
#
# Next: scores can be any number. In lesson 2 you turn them into weights that add up to 1.

# %%
progress()
