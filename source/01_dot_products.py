# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 1: Dot products
#
# Attention is a way of looking things up: a **query**, which asks, is compared with many **keys**, which answer, and
# what is most alike counts most.
# So before there can be any attention, one number has to say **how alike two lists of numbers are**. Which number is
# that, what exactly does it measure, and how do you get it for all queries and all keys at once?
#
# **You will build** four small functions: the dot product of two vectors, cosine similarity, the matrix of all scores
# between queries and keys (the first half of every attention layer there is), and a lookup that finds the most similar
# key for each query.
#
# **You need** Python and a first acquaintance with PyTorch tensors, as lesson 0 gives it: making one, its `shape`, adding
# and multiplying. No linear algebra is taken for granted.
#
# **Time:** about 55 minutes
#
# Run the cells from top to bottom. Where it says *Predict first*, do: a guess that turns out wrong teaches more than
# an answer that you merely read.

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, progress, sliders, use
from torch import nn

begin("01_dot_products")

# %% [markdown]
# ## 1. Multiply, then add
#
# A **vector** here is a list of $d_k$ numbers, a tensor of shape `(K,)`. (Both are the same count: formulas write $d_k$
# for it, as papers do, where the small $k$ is for *key*; code and shapes write `K`.) The **dot product** of two vectors
# $\mathbf{a}$ and $\mathbf{b}$ with equally many numbers multiplies them place by place and adds up the products:
#
# $$\mathbf{a} \cdot \mathbf{b} = \sum_{r=1}^{d_k} a_r b_r = a_1 b_1 + a_2 b_2 + \dots + a_{d_k} b_{d_k}$$
#
# Two vectors go in and **one number** comes out. The sum is what makes it a verdict: every place casts a vote,
# positive where both numbers have the same sign, negative where the signs differ, and larger where both are large.

# %% tags=["demo"]
# @title Two vectors of three numbers, multiplied and added
first, second = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, -5.0, 6.0])
figure = figures.vectors.multiply_and_add(first, second, total=float(torch.dot(first, second)))
figures.show(
    figure,
    alt="Three rows of numbers. a is 1, 2, 3; b is 4, minus 5, 6; their products are 4, minus 10, 18. The sum is 12.",
    caption="4 − 10 + 18 = 12. The second place votes against; the third outvotes it.",
)

# %% [markdown]
# ### Predict first
#
# In PyTorch, `a * b` multiplies place by place. That works so smoothly that it goes on working when it should not.
# Here `row` has the shape `(3,)` and `column` the shape `(3, 1)`. Both hold three numbers. What is the shape of
# `row * column`, and how many numbers does it hold?
#
# <details><summary>Answer</summary>
#
# The shape is `(3, 3)`: nine numbers. PyTorch lines shapes up from the right and stretches every dimension of size 1
# (**broadcasting**). `(3,)` is read as `(1, 3)`, stretched to `(3, 3)`, and so is `(3, 1)`. You get every number times
# every number, and if you then add everything up, you get a perfectly ordinary-looking number that is wrong.
#
# Nothing warns you. That is why the function that you write next has to look at the shapes itself.
#
# </details>

# %%
row = torch.tensor([1.0, 2.0, 3.0])
column = torch.tensor([[4.0], [-5.0], [6.0]])
print("row * column has the shape", tuple((row * column).shape))
print("and adds up to", (row * column).sum().item(), "where the dot product is 12")

# %% [markdown]
# ### Exercise 1: `dot(a, b)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# Write the dot product of two vectors, and refuse anything else.
#
# - `a` and `b` have the shape `(K,)`. Return a tensor of shape `()`: one number, still a tensor, so that gradients can
#   flow through it.
# - Raise a `ValueError` if the shapes differ or are not one-dimensional. Its message names an argument that was wrong
#   and its shape, for example `b has the shape (3, 1); it should be (3,)`.
# - Build it from multiplication and addition. Not allowed is everything in PyTorch that would do it for you: `dot`,
#   `vdot`, `inner`, `matmul` and `@`, `mv`, `mm`, `bmm` and their `add…` relatives, `einsum`, `tensordot`,
#   `linalg.vecdot`, `linear`, `bilinear`.
#
# On paper: with `a = [2, 0, -1]` and `b = [3, 7, 4]` the products are `6, 0, -4`, so `dot(a, b)` is `2`.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(dot)


# %% nbgrader={"grade": false, "grade_id": "dot", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The dot product of two vectors: the sum of their products, place by place.

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
# Two numbers are a point in the plane, and an arrow from the origin to it. So let us look at dot products. Below,
# $\mathbf{a}$ stays where it is and $\mathbf{b}$ takes three positions. The thick bar is the **shadow** that
# $\mathbf{b}$ throws on the line through $\mathbf{a}$ when the light falls straight onto that line.

# %% tags=["demo"]
# @title The arrow a with three arrows b, and their shadows
my_dot = use(dot, torch.dot)
a = torch.tensor([2.0, 1.0])
positions = {"similar": [1.0, 2.0], "perpendicular": [-1.0, 2.0], "opposite": [-2.0, -1.5]}
figure, axes = figures.row(3, width=3.0, height=3.4)
for ax, (name, position) in zip(axes, positions.items()):
    b = torch.tensor(position)
    figures.vectors.arrows(a, b, ax=ax, title=f"{name}: a · b = {my_dot(a, b).item():g}")
figures.show(
    figure,
    alt="Three panels with the arrows a and b. Similar directions: the shadow of b on the line "
    "through a lies along a, and the dot product is 4. Perpendicular: no shadow, 0. Opposite: the "
    "shadow points away from a, minus 5.5.",
    caption=f"Positive, zero, negative. Dot products by {my_dot.whose}.",
)

# %% [markdown]
# The dot product is **the length of $\mathbf{a}$ times the length of the shadow**, and it is negative where the shadow
# points away from $\mathbf{a}$. The shadow of an arrow of length $\|\mathbf{b}\|$ at an angle $\theta$ to $\mathbf{a}$
# has the length $\|\mathbf{b}\| \cos\theta$. Therefore
#
# $$\mathbf{a} \cdot \mathbf{b} = \|\mathbf{a}\| \, \|\mathbf{b}\| \cos\theta
# \qquad\text{with}\qquad \|\mathbf{a}\| = \sqrt{\mathbf{a} \cdot \mathbf{a}} = \sqrt{a_1^2 + \dots + a_{d_k}^2}.$$
#
# $\|\mathbf{a}\|$ is the **length** (or *norm*) of the vector; it is Pythagoras' theorem with $d_k$ sides.
#
# <details><summary>Why are a sum of products and a cosine the same thing?</summary>
#
# Look at the triangle with the sides $\mathbf{a}$, $\mathbf{b}$ and $\mathbf{a} - \mathbf{b}$, and write the square of
# its third side in two ways. Multiplying out, $\|\mathbf{a} - \mathbf{b}\|^2 = \|\mathbf{a}\|^2 + \|\mathbf{b}\|^2 -
# 2\,\mathbf{a} \cdot \mathbf{b}$. The law of cosines says $\|\mathbf{a} - \mathbf{b}\|^2 = \|\mathbf{a}\|^2 +
# \|\mathbf{b}\|^2 - 2\,\|\mathbf{a}\|\,\|\mathbf{b}\| \cos\theta$. The last terms have to be equal. Nothing in this
# needs two dimensions: two vectors with 500 numbers each still span a triangle, and have one angle between them.
#
# </details>
#
# ### Predict first
#
# Turn $\mathbf{b}$ once round the whole circle. At which angles is the dot product largest, zero, smallest? And what
# changes if $\mathbf{b}$ is twice as long?
#
# <details><summary>Answer</summary>
#
# Largest at 0°, zero at 90° and 270°, smallest at 180°: a cosine. If $\mathbf{b}$ is twice as long, so is every value,
# and the zeros stay where they are. The dot product mixes two things, **direction** and **length**. Keep that in
# mind; it will surprise you in section 4.
#
# </details>


# %% tags=["demo"]
# @title The dot product while b goes once round the circle
def turned(angle: float, length: float) -> torch.Tensor:
    """An arrow of a given length, turned counter-clockwise by an angle in degrees."""
    radians = torch.deg2rad(torch.tensor(float(angle)))
    return length * torch.stack([torch.cos(radians), torch.sin(radians)])


my_dot = use(dot, torch.dot)
angles = range(0, 361, 15)
values = {
    f"length {length:g}": [my_dot(turned(0, 1), turned(angle, length)).item() for angle in angles] for length in (1, 2)
}
ax = figures.curves(angles, values, xlabel="angle between a and b, in degrees", ylabel="a · b")
ax.set_xticks(range(0, 361, 90))
figures.show(
    ax,
    alt="Two cosine curves over the angle from 0 to 360 degrees. The one for length 2 goes twice "
    "as high and as low as the one for length 1; both are zero at 90 and 270 degrees.",
    caption=f"a has length 1, b the length named. Direction sets the sign. Computed by {my_dot.whose}.",
)

# %% [markdown]
# Move the arrow yourself. (On a page without a running notebook the sliders rest, and the strip of pictures stands in
# for them.)

# %% tags=["demo"]
# @title Two sliders: angle and length of b
my_dot = use(dot, torch.dot)


def draw(angle, length):
    a, b = torch.tensor([2.0, 0.0]), turned(angle, length)
    value = round(my_dot(a, b).item(), 2) + 0.0  # a zero without a minus sign
    figure, (ax,) = figures.row(1, width=3.0, height=3.2)
    figures.vectors.arrows(a, b, ax=ax, title=f"a · b = {value:.2f}")
    return figures.with_alt_text(
        figure, f"b is {length:g} long, at {angle} degrees to a; the dot product is {value:.2f}."
    )


sliders.slider(
    draw,
    angle=(0, 360, 15),
    length=(0.5, 3.0, 0.5),
    start={"angle": 60, "length": 2.0},
    strip={"angle": [0, 60, 90, 150]},
)

# %% [markdown]
# ### Gradients, found for you
#
# *Review* of lesson 0. A network learns by changing its numbers a little, in the direction that helps. The
# **gradient** of a result $y$ with respect to a tensor holds that direction: for each number in the tensor, how fast
# $y$ grows when that number does. A gradient of 6 says that a step of 0.01 raises $y$ by about 0.06. PyTorch's
# **autograd** computes it from your code. You mark a tensor with `requires_grad=True`, calculate $y$ as you always
# would, and call `y.backward()`; afterwards the gradient lies in the tensor's `.grad`. For $y = x^2$, whose slope at
# 3 is 6:

# %% tags=["demo"]
x = torch.tensor(3.0, requires_grad=True)  # autograd watches what becomes of x
y = x**2
y.backward()  # from y back to x
print("gradient by autograd:   ", x.grad.item())
print("rise for a step of 0.01:", round(3.01**2 - 3.0**2, 4))

# %% [markdown]
# This works for everything built of tensor operations that autograd can follow, your functions included, as long as
# they stay with tensors: `.item()` and `float(...)` make a plain number, and there the trail ends. That is why results
# in this course remain tensors, even those of shape `()`.
#
# Now the gradient of a dot product. Of $\mathbf{a} \cdot \mathbf{b} = a_1 b_1 + a_2 b_2 + \dots$ the number $a_1$ meets
# $b_1$ and nothing else, so raising it by 1 raises the sum by $b_1$. Place by place, the gradient with respect to
# $\mathbf{a}$ is simply $\mathbf{b}$. This is why neural networks like the measure so much: to make a query more like a
# key, training moves it *towards that key*. Nothing could be simpler to learn with.

# %%
query = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
key = torch.tensor([3.0, 1.0, -2.0])
use(dot, torch.dot)(query, key).backward()
print("gradient at the query:", query.grad.tolist())
print("the key:              ", key.tolist())

# %% [markdown]
# ## 3. Direction only: cosine similarity
#
# Sometimes length is noise. A word that is used often tends to get a longer vector, and a long text a longer one than
# a short text on the same subject. Divide both lengths out, and what remains is the cosine of the angle:
#
# $$\cos(\mathbf{a}, \mathbf{b}) = \frac{\mathbf{a} \cdot \mathbf{b}}{\|\mathbf{a}\| \, \|\mathbf{b}\|}$$
#
# It is 1 for the same direction, 0 for perpendicular vectors, −1 for opposite ones, and never outside −1 to 1 (but for
# the last digit, as you will see in section 7). Making a vector ten times as long, or a million times as short,
# changes nothing.
#
# From here on vectors come in bunches. A tensor of shape `(5, 3, K)` holds $5 \times 3$ vectors of $d_k$ numbers, and the
# vectors lie along its **last** dimension. We write `(..., K)`: any leading dimensions, or none. To work on every
# vector at once, name the last dimension and leave the others alone:

# %%
bunch = torch.tensor([[3.0, 4.0], [6.0, 8.0], [0.0, 0.0]])  # three vectors of two numbers
print("sum of everything:   ", bunch.sum())
print("sum of each vector:  ", bunch.sum(dim=-1))
print("length of each:      ", bunch.norm(dim=-1))
print("the same, kept (3, 1):", tuple(bunch.norm(dim=-1, keepdim=True).shape))

# %% [markdown]
# ### A vector of zeros has no direction
#
# The third vector above has the length 0, and dividing by it gives `0 / 0`, which is NaN, *not a number*. One NaN is
# enough to turn a whole network into NaNs. A vector of zeros points nowhere and is like nothing, so its similarity
# with anything is defined to be **0**.
#
# ### Predict first
#
# Here is a careful-looking repair: where the length is 0, answer 0, and otherwise divide. The value comes out right.
# Does the gradient?
#
# <details><summary>Answer</summary>
#
# No: it is NaN. `torch.where` chooses between two results, but both were computed, and on the way back both get a
# gradient. The branch that was not chosen is handed a gradient of 0, and passes on `0 / 0`. The NaN has only moved
# from the answer to the gradient, where it is harder to see. Someone repairing the contrastive loss of DeepMind's
# *optax* ran into exactly this: with the zeros replaced in the usual way the similarities were right and
# [the gradients were NaN](https://github.com/google-deepmind/optax/pull/946).
#
# The way out: see to it that the division itself never meets a zero, in whichever branch.
#
# </details>

# %%
nothing = torch.zeros(3, requires_grad=True)
something = torch.tensor([1.0, 2.0, 3.0])
length = nothing.norm()
value = torch.where(length > 0, (nothing * something).sum() / length, torch.tensor(0.0))
value.backward()
print("value:   ", value.item())
print("gradient:", nothing.grad.tolist())

# %% [markdown]
# ### Exercise 2: `cosine_similarity(a, b)`
#
# *Difficulty ★★☆ · about 12 minutes*
#
# - `a` and `b` have the shape `(..., K)`; return the shape `(...)`, one number for each pair of vectors.
# - The leading dimensions broadcast, so that `(4, 1, K)` and `(6, K)` give `(4, 6)`.
# - Where either vector is all zeros the answer is 0, and no NaN reaches the answer or the gradients.
# - Only a vector of zeros is special. One of length 0.00001 has a direction like any other, and a small constant added
#   to the lengths would bend the answer there.
# - Not allowed: PyTorch's own `cosine_similarity`, in any spelling.
#
# On paper: `a = [3, 4]` has the length 5, `b = [4, 3]` too, and their dot product is 24. So the cosine is 24/25 = 0.96.
# For `a = [3, 4]` and `b = [-6, -8]` it is −1.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(cosine_similarity)


# %% nbgrader={"grade": false, "grade_id": "cosine_similarity", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cosine_similarity(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The cosine of the angle between vectors that lie along the last dimension.

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
check(cosine_similarity)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(cosine_similarity)
### END HIDDEN TESTS

# %% [markdown]
# ## 4. One question, six words
#
# In a language model every word (every **token**, to be exact: a word or a piece of one) is a vector; lesson 3 looks
# up real ones. Let us make six by hand, with four numbers each, so that you can see what every number means: how much
# of an **animal** the word is, how much of a **vehicle**, how much of a **food**, and how **large**.
#
# One thing is deliberately uneven: the vector of *dog* is longer than the others, as the vectors of common words
# often are.

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
pet = torch.tensor([1.0, -0.5, -0.3, -0.3])  # a question: an animal, no vehicle, no food, not large


def torch_cosine(a, b):
    return torch.cosine_similarity(a, b, dim=-1)  # PyTorch's own, until yours passes


# %% [markdown]
# ### Predict first
#
# Compare the query `pet` with each word, once by the dot product and once by cosine similarity. Which word wins each
# time? You need no calculator: look at the signs first, then at the lengths.
#
# <details><summary>Answer</summary>
#
# The dot product prefers *dog*, by a wide margin: its vector is nearly twice as long, and length pays. By the cosine
# *cat* is nearest: its direction fits best. Neither is wrong. They answer different questions, and attention uses
# the first, so that a key can make itself heard by being long.
#
# </details>

# %% tags=["demo"]
my_dot = use(dot, torch.dot)
my_cosine = use(cosine_similarity, torch_cosine)
by_dot, by_cosine = [], []
for vector in vectors:  # one comparison at a time
    by_dot.append(my_dot(pet, vector))
    by_cosine.append(my_cosine(pet, vector))

# %% tags=["demo"]
# @title Both comparisons as bars
figure, axes = figures.row(2, width=4.6, height=2.9)
figures.bars(torch.stack(by_dot), words, ax=axes[0], title="dot product with pet")
figures.bars(torch.stack(by_cosine), words, ax=axes[1], title="cosine with pet", limit=1.25)
figures.show(
    figure,
    alt="Bars for six words. By dot product with the query pet, dog leads with 2.06 before kitten "
    "1.30 and cat 1.26. By cosine similarity cat leads with 0.97 before dog 0.91 and kitten 0.85. "
    "Car, bus and apple are negative in both.",
    caption=f"The query pet and six words. Left by {my_dot.whose}; right by {my_cosine.whose}.",
)

# %% [markdown]
# ## 5. All pairs at once
#
# A sentence has many words, and each of them will ask its own question. Put $T$ queries into the rows of a matrix
# $\mathbf{Q}$ of shape `(T, K)`, and $S$ keys into the rows of a matrix $\mathbf{K}$ of shape `(S, K)`. (Bold capitals
# are matrices, $\mathbf{q}_i$ and $\mathbf{k}_j$ their rows; the `K` in a shape is no matrix but the count $d_k$.) We
# want the matrix of all dot products, the **scores**, with one row for each query and one column for each key:
#
# $$s_{ij} = \mathbf{q}_i \cdot \mathbf{k}_j
# \qquad\text{which is}\qquad \text{scores} = \mathbf{Q} \, \mathbf{K}^\top$$
#
# A **matrix product**, `@` in Python, dots every *row* of the left matrix with every *column* of the right one. Our
# keys lie in rows, so their matrix has to be turned over first, rows into columns; that is the little $\top$, for
# *transpose*. Without it, queries would be dotted with the columns of $\mathbf{K}$, and those hold no keys: the first
# holds the animal-numbers of all words.
#
# First by two loops, one dot product at a time:

# %% tags=["demo"]
ride, snack = torch.tensor([-0.6, 1.0, -0.4, 0.6]), torch.tensor([-0.4, -0.5, 1.0, -0.5])
questions = torch.stack([pet, ride, snack])
my_dot = use(dot, torch.dot)
scores = torch.stack([torch.stack([my_dot(q, k) for k in vectors]) for q in questions])  # (T, S)
print("queries", tuple(questions.shape), " keys", tuple(vectors.shape), " scores", tuple(scores.shape))

# %% [markdown]
# Step through the cells: every score is one row against one row.


# %% tags=["demo"]
# @title Two sliders: which query, and which key
def draw(query, key):
    names = {"query_names": ["pet", "ride", "snack"], "key_names": words, "meanings": meanings}
    return figures.vectors.one_cell(questions, vectors, scores, query, key, **names)


places = [{"query": 0, "key": 2}, {"query": 1, "key": 4}]
sliders.slider(draw, query=(0, 2, 1), key=(0, 5, 1), strip=places)

# %% [markdown]
# ### Predict first
#
# Real queries and keys come in **batches**, several sentences at once: `(B, T, K)` and `(B, S, K)`. For a matrix, `.T`
# swaps the two dimensions. Let `keys` have the shape `(2, 6, 4)`: a batch of two, six keys each, four numbers each.
# What is the shape of `keys.T`?
#
# <details><summary>Answer</summary>
#
# `(4, 6, 2)`: `.T` reverses *all* dimensions, and the batch ends up last. (NumPy does so without a word. PyTorch warns
# of it, and means to refuse in a version to come.) What you want is `(2, 4, 6)`: only the last two dimensions swapped,
# the batch left alone. PyTorch has two ways to say that; `help(torch.Tensor.mT)` and `help(torch.transpose)` tell you
# both.
#
# With a single matrix, all of them agree. That is how `.T` survives until the day the first batch arrives.
#
# </details>

# %%
keys = torch.zeros(2, 6, 4)
print("keys:  ", tuple(keys.shape))
print("keys.T:", keys.numpy().T.shape)  # NumPy's, which does what PyTorch's does

# %% [markdown]
# ### Exercise 3: `similarity_scores(queries, keys)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# The dot product of every query with every key.
#
# - `queries` has the shape `(..., T, K)`, `keys` the shape `(..., S, K)`, with the same leading dimensions, any number
#   of them or none. Return `(..., T, S)`: the entry at `[..., i, j]` is query `i` dotted with key `j`.
# - Everything is allowed here, `@` too. Two loops over `dot` would be right as well, and slow: for 1,000 queries and
#   1,000 keys that is a million calls where one will do.
#
# On paper: with `queries = [[1, 2]]` and `keys = [[3, 4], [0, 5], [-1, 1]]` the scores are `[[11, 10, 1]]`, of the
# shape `(1, 3)`.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(similarity_scores)


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
check(similarity_scores)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(similarity_scores)
### END HIDDEN TESTS

# %% [markdown]
# Now compare all six words with all six words, in one call.
#
# ### Predict first
#
# Which entry of the row *cat* will be the largest: among the dot products, and among the cosines?
#
# <details><summary>Answer</summary>
#
# By dot products, *cat* is more like *dog* (1.72) than like itself (1.19)! Among the cosines, where lengths are divided
# out, the diagonal is 1, as it should be for a measure of likeness.
#
# </details>

# %% tags=["demo"]
# @title Six words against six words, twice
my_scores = use(similarity_scores, F.linear)  # F.linear(x, w) is x times w turned over
my_cosine = use(cosine_similarity, torch_cosine)
figure, axes = figures.row(2, width=4.5, height=4.1)
both = {"dot products": my_scores(vectors, vectors), "cosines": my_cosine(vectors[:, None], vectors)}
for ax, (title, matrix) in zip(axes, both.items()):
    figures.heat_map(matrix, ax=ax, rows=words, columns=words, kind="scores", title=title)
figures.show(
    figure,
    alt="Two 6 by 6 heat maps of words against words. Both show a block of animals, a block of "
    "vehicles, and apple by itself. Among the dot products the row cat has its largest value, "
    "1.72, at dog, not at cat, 1.19. Among the cosines every word has 1 with itself.",
    caption=f"Left by {my_scores.whose}; right by {my_cosine.whose}.",
)

# %% [markdown]
# Three things are worth seeing in such a matrix, for you will look at many:
#
# - It has **blocks**: animals with animals, vehicles with vehicles. Similarity is structure.
# - It is **symmetric**, but only because queries and keys are the same vectors here. In lesson 3 they part.
# - Its rows belong to **queries** and its columns to **keys**. With six of each, nothing tells you when you have
#   swapped them. Use different sizes when you test.

# %% [markdown]
# ## 6. Looking something up
#
# With scores in hand, a lookup is one step more: for each query, take the key that scores highest. `argmax` gives the
# *place* of the largest value along a dimension, and of several equal ones the first.
#
# $$\text{most similar}(\mathbf{q}_i) = \underset{j}{\text{argmax}} \; \cos(\mathbf{q}_i, \mathbf{k}_j)$$
#
# ### Exercise 4: `most_similar(queries, keys)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# - `queries` has the shape `(..., T, K)`, `keys` the shape `(..., S, K)`, with the same leading dimensions. Return the
#   indices of the winning keys, `int64`, of shape `(..., T)`.
# - Likeness is **cosine similarity**. A vector of zeros has the similarity 0 with everything, so such a key still beats
#   one that points the other way.
# - If equal keys tie, the lowest index wins.
# - You may call your earlier functions. A mistake in one of them costs you nothing here.
#
# On paper: with `queries = [[1, 0], [0, 2]]` and `keys = [[5, 5], [3, 0], [-1, 2]]` the first query has the cosines
# 0.71, 1 and −0.45, the second 0.71, 0 and 0.89. So the answer is `[1, 2]`. The plain dot product would say `[0, 0]`:
# the first key is the longest.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(most_similar)


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
check(most_similar)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(most_similar)
### END HIDDEN TESTS

# %% [markdown]
# Here is your lookup at work on five keys in the plane. The ring asks 360 queries, one in each direction, and shows
# who answers. Look for key C, the short one, on the right.


# %% tags=["demo"]
# @title Five keys, and who answers a query in each direction
def nearest_angle(queries, keys):
    """A lookup for the plane only, where a direction is one angle."""
    of_keys = torch.atan2(keys[:, 1], keys[:, 0])
    of_queries = torch.atan2(queries[:, 1], queries[:, 0])
    return torch.cos(of_keys - of_queries[:, None]).argmax(dim=-1)


around = torch.deg2rad(torch.arange(360.0))
directions = torch.stack([torch.cos(around), torch.sin(around)], dim=-1)  # (360, 2)
five = torch.tensor([[2.1, 0.2], [1.1, 1.7], [0.9, 0.5], [-1.6, 0.9], [-0.3, -1.8]])
my_lookup, my_scores = use(most_similar, nearest_angle), use(similarity_scores, torch.nn.functional.linear)
winners = {
    "highest cosine wins": my_lookup(directions, five),
    "highest dot product wins": my_scores(directions, five).argmax(dim=-1),
}
figures.show(
    figures.vectors.who_answers(five, "ABCDE", winners),
    caption=f"Left by {my_lookup.whose}; right by {my_scores.whose}.",
)

# %% [markdown]
# By cosine every key owns the directions around it. By dot product C is never found, whatever you ask: for each
# question one of its longer neighbours has a better answer. So a network that compares by dot products can do two
# things with a key: *turn* it towards the questions that it should answer, and *lengthen* or *shorten* it, to be
# heard more or less. Attention, from lesson 3 on, does both.
#
# ## 7. Is it a bug?
#
# Five reports by real people, in our words. For each, decide before you run the cell, which meets the same numbers with
# vectors of its own: is something broken?
#
# 1. *"The inner products that my search returns are all around 400. A dot product lies between −1 and 1!"*
#    ([faiss #812](https://github.com/facebookresearch/faiss/issues/812))
# 2. *"Cosine similarity returned −0.26. It should be between 0 and 1!"*
#    ([pytorch #45309](https://github.com/pytorch/pytorch/issues/45309))
# 3. *"The cosine of a vector with itself is 1.0000001!"*
#    ([pytorch #18057](https://github.com/pytorch/pytorch/issues/18057))
# 4. *"The cosine of some ones with other ones, of different shapes, is 1.7321!"*
#    ([pytorch #109333](https://github.com/pytorch/pytorch/issues/109333))
# 5. *"For the same two vectors PyTorch says 0.84 and NumPy says 0.91!"*
#    ([pytorch #115786](https://github.com/pytorch/pytorch/issues/115786))

# %%
my_cosine = use(cosine_similarity, torch_cosine)
search = torch.tensor([12.0, -8.0, 14.0])
right, left = torch.tensor([1.0, 3.0]), torch.tensor([3.0, -2.0])
ramp = torch.arange(84.0)
tall = torch.tensor([-1.0, 1.0, 3.0], dtype=torch.float64)
tiny = torch.tensor([1.0, 2.0, 9.0], dtype=torch.float64) * 1e-9
print("1. (12, -8, 14) dotted with itself:   ", torch.dot(search, search).item())
print("2. cosine of (1, 3) and (3, -2):      ", torch_cosine(right, left).item())
print("3. cosine of 0, 1, ..., 83 with itself:", torch_cosine(ramp, ramp).item())
print("4. cosines of ones(2, 3) and ones(1, 1):", torch_cosine(torch.ones(2, 3), torch.ones(1, 1)))
print("5. PyTorch:    ", torch_cosine(tall, tiny).item())
print("   the formula:", (torch.dot(tall, tiny) / (tall.norm() * tiny.norm())).item())
print(f"   {my_cosine.whose}:", my_cosine(tall, tiny).item())

# %% [markdown]
# <details><summary>Answer</summary>
#
# 1. **No bug.** A dot product can be any number at all; only *cosines* are confined. Divide every vector by its length
#    before they go into the index, and the inner products become cosines.
# 2. **No bug.** An angle of more than 90° has a negative cosine. (Between 0 and 1 is what you get if all numbers in
#    both vectors are positive, as word counts are. Hence the belief.)
# 3. **No bug in the formula: rounding.** `1.0000001192…` is the very next float32 after 1. Even so it breaks programs:
#    `torch.acos` makes NaN of it, and a loss that insists on 0 to 1 stops. Clamp before you take such a step, and never
#    compare floats with `==`.
# 4. **A bug,** in a released version: the lengths were taken *before* the shapes had been broadcast, so a single 1
#    counted as a vector of length 1 where it stood for (1, 1, 1), of length 1.7321. Your version prints 1 if it has
#    been mended there. A cosine of 1.7 can only be a mistake in the code.
# 5. **Documented, and still not the cosine.** PyTorch treats a length below `eps`, $10^{-8}$, as if it were $10^{-8}$,
#    and so escapes the division by zero. The cosines of vectors shorter than that come out too small. That is a trade,
#    not a law: does your own function do better? A vector database took lengths below 0.00034 for zero and
#    [put its answers in the wrong order](https://github.com/qdrant/qdrant/issues/10465).
#
# </details>
#
# ## 8. Seen in the wild
#
# **Only one side normalised.** A published fashion search model came with a helper like this one:
#
# ```diff
# - return unit(images) @ texts.T
# + return unit(images) @ unit(texts).T
# ```
#
# Nothing crashed, and the numbers looked like similarities. But a label with a long vector drew images to itself, and
# the built-in classifier was worse than the same three steps done by hand. A user noticed by doing them by hand
# ([fashion-clip #31](https://github.com/patrickjohncyh/fashion-clip/issues/31)). Elsewhere the second vector was
# divided by the length of the *first* ([quaterion #81](https://github.com/qdrant/quaterion/issues/81)).
#
# **The same length twice.** A tool of NIST, the standards institute of the United States, compared texts by
#
# ```diff
# - dot(a, b) / (length(b) * length(b))
# + dot(a, b) / (length(a) * length(b))
# ```
#
# Its tests passed: they compared equal texts, texts with nothing in common, and two of the same length. For an
# uneven pair the "cosine" was 2.0 one way round and 0.4 the other
# ([oscal-deep-diff #100](https://github.com/usnistgov/oscal-deep-diff/pull/100)). Two tests that catch it for good:
# is the measure symmetric, and is it the same for `a` and `10 * a`?
#
# **`(n,)` times `(n, 1)`.** The trap of section 1, in the heart of a training loop: a policy's probability ratios had
# the shape `(batch,)`, the advantages `(batch, 1)`. Their product was `(batch, batch)`, every state with every other
# state's reward, and then `mean()` made one number of it
# ([DeepRL_Algorithms #13](https://github.com/RITCHIEHuang/DeepRL_Algorithms/issues/13)). It trained, only worse, and
# that is the nasty part. So many people lost time to this that `nn.MSELoss` now warns of it
# ([pytorch #16045](https://github.com/pytorch/pytorch/issues/16045)). Your own `dot` refuses.
#
# ## Summary
#
# 1. The dot product multiplies place by place and adds: one number for two vectors.
# 2. It is length × length × cosine of the angle: positive for alike, 0 for perpendicular, negative for opposite.
# 3. Cosine similarity divides the lengths out; where a vector is all zeros it is 0, with no NaN in the gradient either.
# 4. All queries against all keys is one matrix product, row $i$, column $j$, and only the last two dimensions turn.
# 5. By dot product a long key is heard more; by cosine all keys are equally loud.
#
# $$\mathbf{a} \cdot \mathbf{b} = \sum_{r=1}^{d_k} a_r b_r = \|\mathbf{a}\| \, \|\mathbf{b}\| \cos\theta
# \qquad\qquad \text{scores} = \mathbf{Q} \, \mathbf{K}^\top$$
#
# **To read on:** [PyTorch on broadcasting](https://pytorch.org/docs/stable/notes/broadcasting.html), whose rules you
# will need in every lesson · [3Blue1Brown on dot products](https://www.3blue1brown.com/lessons/dot-products), for why a
# sum of products is a shadow · [the Word2vec paper](https://arxiv.org/abs/1301.3781), for where
# the vectors of words come from.
#
# Next: scores can be anything from −∞ to ∞. In lesson 2 you turn them into weights that add up to 1.

# %% [markdown]
# ## Challenge: `squared_distances(queries, keys)`
#
# *Challenge ★★ · not graded · about 15 minutes*
#
# A challenge is for those who want more. The same judge checks it, no grade knows of it, and you may leave it as it is.
#
# How far does every query lie from every key? The plain way subtracts each key from each query, and makes $T \cdot S$
# vectors on the way: for 1,000 queries and 1,000 keys of 1,000 numbers that takes 4 GB, for a result of 4 MB. But a
# squared distance is a dot product, $\|\mathbf{q} - \mathbf{k}\|^2 = (\mathbf{q} - \mathbf{k}) \cdot (\mathbf{q} -
# \mathbf{k})$, and can be multiplied out. So your `similarity_scores`, and the dot product of each vector with itself, are
# all that you need. Programs that search millions of vectors do it like this, and two things go wrong in them:
#
# - Rounding makes the distance of a vector from itself a little less than 0, and its root NaN. Yours is **never below 0**.
# - If all vectors lie together, far from zero, large numbers are subtracted and only their rounding errors are left. Dot
#   products change when everything is moved; do distances? Yours are right even **a few thousand times further out** than
#   they are apart.
#
# `queries` is `(..., T, K)`, `keys` is `(..., S, K)`, with the same leading dimensions. Return `(..., T, S)`, and make no
# tensor on the way that is larger. Not allowed: torch's `cdist`, `pdist`, `dist`, `pairwise_distance`. (A loop that takes
# one query after another gets there as well. The puzzle is to do without.)
#
# **On paper.** The query $(1, 2)$ and the key $(4, 6)$ are $(3, 4)$ apart, so 25 is right. Their dot products with
# themselves are 5 and 52, with each other 16. Which sum of the three is 25?

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(squared_distances)


# %%
def squared_distances(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """The squared distance of every query from every key, by dot products.

    queries: (..., T, K); keys: (..., S, K), the same leading dimensions.
    Returns (..., T, S), never below 0; nothing larger is made on the way.
    """
    raise NotImplementedError  # take this line out, and write yours


# %% tags=["demo"]
check(squared_distances)

# %% tags=["demo"]
progress()
