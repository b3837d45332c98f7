# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 7: Rotary positions
#
# *Dog bites man* and *man bites dog* have the same three words, but you know who was bitten in each. **Does attention see the
# order of words, and how far apart they are?**
#
# **You will build** a test for functions that ignore order, and **rotary position embeddings**, RoPE, which most of today's
# language models use: each query and key is rotated by an angle that grows with its position. At the end, you make a trained
# model read texts twice as long as those it was trained on.
#
# **You need** scaled attention (lesson 4) and heads (lesson 6); sine, cosine and radians ($2\pi$ is a full turn).
#
# **Time:** about 75 minutes, plus 45 for the parts marked *extra*

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sentence, sliders, small_lm, solution
from torch import nn

begin("07_rope")

# %% tags=["demo"]
# @title The part of attention that this lesson adds
figures.show(figures.overview("rotation"))

# %% [markdown]
# In shapes, `B` is the batch, `H` the number of heads, `T` the number of tokens, `D` the model's width and `K` a head's. In
# formulas, a query is at position $m$ and a key at position $n$.

# %% [markdown]
# ## Quiz: what came before
#
# **1.** `d_model` is 512, with 8 heads. By what are the scores divided?
#
# **2.** How many weights do $\mathbf{W}_q$, $\mathbf{W}_k$, $\mathbf{W}_v$ and $\mathbf{W}_o$ have together for
# `d_model` = 512 and 8 heads?
#
# **3.** `x` is `(2, 10, 512)`. What is the shape of `split_heads(x, 8)`?

# %%
predict("quiz 1", ...)  # a number
predict("quiz 2", ...)  # "about 130,000", "about a million" or "about eight million"
predict("quiz 3", ...)  # a shape

# %% [markdown]
# ## 1. Attention does not see the order
#
# In the simplest self-attention, the words of a sentence, $\mathbf{X}$ of shape `(T, D)`, serve as queries, keys and values:
#
# $$ \operatorname{attend}(\mathbf{X}) =
#    \operatorname{softmax}\!\left( \frac{\mathbf{X} \mathbf{X}^\top}{\sqrt{D}} \right) \mathbf{X} $$
#
# A **permutation** is a list that contains each position exactly once. In `X[permutation]`, the word at position `t` is the one
# that was at `permutation[t]`.


# %%
def plain_weights(x):
    """The weights of `plain`, (T, T)."""
    return torch.softmax(x @ x.mT / x.shape[-1] ** 0.5, dim=-1)


def plain(x):
    """Self-attention without positions: x (T, D) -> output (T, D)."""
    return plain_weights(x) @ x


words, X = sentence.words, sentence.x  # X: (T, D)
permutation = torch.tensor([3, 5, 1, 0, 4, 2])
scrambled_words = [words[i] for i in permutation.tolist()]
before, after = plain(X)[words.index("boat")], plain(X[permutation])[scrambled_words.index("boat")]
print(" ".join(words), " →  ", " ".join(scrambled_words))

# %% [markdown]
# ### Predict: the output of *boat*
#
# What is the output of *boat* in the scrambled sentence?

# %%
# The output: "the same", "that of another word" or "new"
predict("the output of boat", ..., (before - after).abs().max())

# %% tags=["demo"]
# @title The weights of both sentences
figures.show(figures.rope.two_orders(plain_weights(X), plain_weights(X[permutation]), words, scrambled_words))

# %% [markdown]
# Each weight is the same as before; only rows and columns have moved. No position occurs in the formula, and a sum does not
# depend on the order of its terms. A function $f$ is **order-blind** (in mathematics, *permutation equivariant*) if permuting
# its input by $\sigma$ only permutes its output. The outputs move with their words:
#
# $$ f(\mathbf{X}[\sigma]) = f(\mathbf{X})[\sigma] $$
#
# ### Exercise 1: `is_order_blind(attention, x, permutation)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# Return whether `attention`, a function from `(T, D)` to `(T, D)`, is order-blind for this `x` and this `permutation`, int64
# `(T,)`. Differences under 1e-5 are rounding. A real difference is above 1e-2 in at least one entry.
#
# **Worked example.** Three tokens of one number each, 2, 4 and 9; the permutation $(1, 2, 0)$ makes them 4, 9, 2.
#
# | function | $f(\mathbf{X})$ | $f(\mathbf{X})[\sigma]$ | $f(\mathbf{X}[\sigma])$ | order-blind? |
# |---|---|---|---|---|
# | the mean of all tokens, for each | 5, 5, 5 | 5, 5, 5 | 5, 5, 5 | yes |
# | each token minus the mean | −3, −1, 4 | −1, 4, −3 | −1, 4, −3 | yes |
# | the mean of everything up to and including it | 2, 3, 5 | 3, 5, 2 | 4, 6.5, 5 | no |


# %% nbgrader={"grade": false, "grade_id": "is_order_blind", "locked": false, "schema_version": 3, "solution": true, "task": false}
def is_order_blind(attention, x: torch.Tensor, permutation: torch.Tensor) -> bool:
    """Whether permuting the input only permutes the output.

    attention: a function from (T, D) to (T, D); x: (T, D); permutation: int64 (T,).
    Differences under 1e-5 are rounding, real ones are above 1e-2. Returns a plain bool.
    """
    ### BEGIN SOLUTION
    moved, kept = attention(x[permutation]), attention(x)[permutation]  # both (T, D)
    return bool((moved - kept).abs().max() < 1e-4)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_is_order_blind", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(is_order_blind)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(is_order_blind)
### END HIDDEN TESTS

# %% [markdown]
# Try it on four functions:


# %%
def causal(x):
    """`plain` with a causal mask: word i sees the words 0 … i."""
    future = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
    return torch.softmax((x @ x.mT / x.shape[-1] ** 0.5).masked_fill(future, -torch.inf), dim=-1) @ x


added = torch.randn(6, 3, generator=torch.Generator().manual_seed(7))  # (T, D): a vector for each position
for name, function in {
    "plain self-attention": plain,
    "its outputs, doubled": lambda x: 2 * plain(x),
    "with a causal mask": causal,
    "with a vector added for each position": lambda x: plain(x + added),
}.items():
    print(f"{name:38} order-blind: {is_order_blind(function, X, permutation)}")

# %% [markdown]
# A causal mask lets attention see some of the order. The transformer of 2017 added a vector for its position to each word,
# learned or made of sine waves. But distance often matters more than position: an adjective belongs to the noun after it,
# whether at position 3 or at 3000. So we want **a score that depends only on the two vectors and on the gap $n - m$.**

# %% [markdown]
# ## 2. Turn a vector by its position
#
# Start with vectors of two numbers, which you can draw. Turning $(x_0, x_1)$ counter-clockwise by an angle $\alpha$ gives
#
# $$ \begin{pmatrix} \cos\alpha & -\sin\alpha \\ \sin\alpha & \cos\alpha \end{pmatrix}
#    \begin{pmatrix} x_0 \\ x_1 \end{pmatrix} =
#    \begin{pmatrix} x_0 \cos\alpha - x_1 \sin\alpha \\ x_0 \sin\alpha + x_1 \cos\alpha \end{pmatrix} . $$
#
# We call the matrix $\mathbf{R}(\alpha)$.
#
# ### Step: turn by an angle
#
# *Step ★☆☆ · about 2 minutes.* Turn the vectors `x`, `(..., 2)`, all by the same `angle`, in radians.
#
# **Worked example.** A quarter turn, $\alpha = \pi/2$, has $\cos\alpha = 0$ and $\sin\alpha = 1$: $(2, 1)$ becomes
# $(-1, 2)$.


# %%
def turn(x: torch.Tensor, angle: float) -> torch.Tensor:
    """The vectors x (..., 2), turned counter-clockwise by `angle` radians. Returns (..., 2)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(turn)

# %% tags=["demo"]
# @title A slider: one vector, turned by hand
sliders.slider(figures.rope.one_angle, turn)
print("Dashed: the vector before it is turned.")

# %% [markdown]
# RoPE turns a vector of two numbers at position $m$ by $m$ radians:

# %% tags=["demo"]
# @title One vector at six positions
figures.show(figures.rope.six_positions(turn))

# %% [markdown]
# Now turn a query at position $m$ and a key at position $n$, and take their dot product. What changes the score?

# %% tags=["demo"]
# @title Sliders: the positions of a query and of a key
sliders.slider(figures.rope.two_positions, turn)

# %% [markdown]
# In the first three pictures of the strip the gap is 1. The whole picture turns, but the dot product stays the same, because it
# depends on the two lengths and the angle *between* the vectors. In the fourth the gap is 2, and the score is different.

# %% [markdown]
# ## 3. Many clocks
#
# A vector of two numbers is like a clock with one hand: after $2\pi \approx 6.28$ positions it starts again.
#
# ### Predict: far away and yet close
#
# At which of the positions 6, 22 and 44 does a vector point most nearly the same way as at position 0?

# %%
# The gap: 6, 22 or 44
predict("the gap that looks like 0", ...)

# %% [markdown]
# So one hand cannot tell a gap of 44 from a gap of 0. A clock has slower hands for this, and so has RoPE. It cuts a vector of
# `dim` numbers into pairs of neighbours, $(x_0, x_1), (x_2, x_3), \dots$, and turns pair $i$ by
#
# $$ \theta_i = \text{base}^{-2i/\text{dim}}, \qquad i = 0, 1, \dots, \tfrac{\text{dim}}{2} - 1 $$
#
# radians per position. The $\theta_i$ are the **frequencies**. They begin with $\theta_0 = 1$, shrink by the same factor from
# pair to pair, and end near $1/\text{base}$.
#
# ### Exercise 2: `rope_frequencies(dim, base=10000.0)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# Return the frequencies, float32 `(dim // 2,)`. If `dim` is odd, raise a `ValueError` that names `dim` and its value.
#
# **Worked example.** For `dim = 4` there are two pairs: $\theta_0 = 10000^{0} = 1$ and $\theta_1 = 10000^{-2/4} = 1/100$. For
# `dim = 8` and `base = 16` the exponents are $0, -\tfrac14, -\tfrac12, -\tfrac34$, the frequencies $1, \tfrac12,
# \tfrac14, \tfrac18$.


# %% nbgrader={"grade": false, "grade_id": "rope_frequencies", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rope_frequencies(dim: int, base: float = 10000.0) -> torch.Tensor:
    """Radians per position of each pair: base ** (-2 * i / dim) for pair i = 0, 1, …

    Returns (dim // 2,), float32. Raises ValueError if dim is odd.
    """
    ### BEGIN SOLUTION
    if dim % 2:
        raise ValueError(f"expected an even dim, got {dim}")
    exponents = -torch.arange(0, dim, 2, dtype=torch.float32) / dim
    return base**exponents
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_rope_frequencies", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(rope_frequencies)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(rope_frequencies)
### END HIDDEN TESTS

# %% tags=["demo"]
# @title The clocks of four pairs
figures.show(figures.rope.clocks(rope_frequencies(8), [0, 1, 10, 100, 1000]))

# %%
rounds = 2 * math.pi / rope_frequencies(64)  # (32,)
print(f"With 64 numbers a full turn takes between {rounds[0]:.1f} and {rounds[-1]:,.0f} positions.")

# %% [markdown]
# The hand on the left repeats after a few positions. The one on the right is still on its first turn, so no two rows are alike.

# %% [markdown]
# ## 4. Turn all pairs at once
#
# A vector $\mathbf{x}$ of `dim` numbers at position $m$ becomes
#
# $$ \bigl(x_{2i},\, x_{2i+1}\bigr) \;\longmapsto\;
#    \bigl(x_{2i} \cos m\theta_i - x_{2i+1} \sin m\theta_i,\;\; x_{2i} \sin m\theta_i + x_{2i+1} \cos m\theta_i\bigr)
#    \qquad \text{for every pair } i . $$
#
# This is one rotation, $\mathbf{R}_m \mathbf{x}$. The matrix $\mathbf{R}_m$ has the small matrices
# $\mathbf{R}(m\theta_0), \mathbf{R}(m\theta_1), \dots$ along its diagonal, and 0 elsewhere.
#
# ### Exercise 3: `apply_rope(x, positions, base=10000.0)`
#
# *Difficulty ★★★ · about 15 minutes*
#
# Turn every vector of `x`, `(..., T, dim)`, by its position.
#
# - `positions` is `(T,)`, in any order, with gaps, repeats and fractions, up to about 10,000.
# - Angles in float32 are exact enough, even for float64 inputs; the result has the dtype of `x`.
# - Your frequencies are on the CPU: move them to where `x` is with `.to(x.device)`. Nothing else here depends on the device.
# - You may call your `rope_frequencies`; a mistake in it costs no points here.
#
# **Worked example.** One vector $(1, 2, 3, 4)$, with base 4. The frequencies are $1$ and $4^{-1/2} = \tfrac12$. At
# position $\pi$ the first pair makes half a turn: $(1, 2)$ becomes $(-1, -2)$. The second makes a quarter turn, which takes
# $(x, y)$ to $(-y, x)$: $(3, 4)$ becomes $(-4, 3)$. The result is $(-1, -2, -4, 3)$.


# %% nbgrader={"grade": false, "grade_id": "apply_rope", "locked": false, "schema_version": 3, "solution": true, "task": false}
def apply_rope(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    """Turn every vector by its position: pair i, (x[..., 2i], x[..., 2i+1]), by position * base ** (-2 * i / dim).

    x: (..., T, dim) with an even dim; positions: (T,), whole numbers or fractions.
    Returns a new tensor with the shape and dtype of x.
    """
    ### BEGIN SOLUTION
    frequencies = rope_frequencies(x.shape[-1], base).to(x.device)
    angles = positions[:, None] * frequencies  # (T, dim // 2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]  # (..., T, dim // 2) each
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)  # (..., T, dim // 2, 2)
    return turned.flatten(-2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_apply_rope", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(apply_rope)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(apply_rope)
### END HIDDEN TESTS

# %% [markdown]
# The course's small language model rotates queries and keys in layers 1 and 2. (Layer 0 sees no positions; some published
# models have such layers too.) Compare its loss with your rotation and without it:

# %%
lm = small_lm.load()
lm.compare(rope=apply_rope)
no_rotation, _ = lm.compare(rope=lambda x, positions: x)

# %% [markdown]
# ## 5. Only the gap counts
#
# The transpose of a rotation undoes it: $\mathbf{R}(\alpha)^\top = \mathbf{R}(-\alpha)$. The angles of two rotations add up:
# $\mathbf{R}(\alpha) \mathbf{R}(\beta) = \mathbf{R}(\alpha + \beta)$. So for a query $\mathbf{q}$ at $m$ and a key
# $\mathbf{k}$ at $n$,
#
# $$ (\mathbf{R}_m \mathbf{q})^\top (\mathbf{R}_n \mathbf{k}) =
#    \mathbf{q}^\top \mathbf{R}_m^\top \mathbf{R}_n\, \mathbf{k} = \mathbf{q}^\top \mathbf{R}_{n-m}\, \mathbf{k} . $$
#
# Both positions are gone; only $n - m$ is left.
#
# ### Step: one score (extra)
#
# *Step ★☆☆ · about 3 minutes.* Turn `q` by position `m` and `k` by position `n`, and return their dot product. Both vectors
# are `(dim,)`; call your `apply_rope`.
#
# **Worked example.** For $\mathbf{q} = \mathbf{k} = (1, 0)$, $m = 3$ and $n = 4$ the vectors end up 1 radian apart, so the
# score is $\cos 1 \approx 0.54$.


# %%
def gap_score(q: torch.Tensor, k: torch.Tensor, m: int, n: int) -> torch.Tensor:
    """The score of the query q at position m with the key k at position n. q, k: (dim,). Returns a scalar."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(gap_score)

# %%
q, k = torch.randn(2, 64, generator=torch.Generator().manual_seed(1))
print("the same gap:")
for m, n in ((1, 4), (10, 13), (50, 53), (100, 103), (4000, 4003), (9000, 9003)):
    print(f"  query at {m:4}, key at {n:4}, gap {n - m:2}: score {gap_score(q, k, m, n).item():8.4f}")
print("\nother gaps:")
for m, n in ((1, 1), (1, 2), (1, 6), (4, 1), (10, 40)):
    print(f"  query at {m:4}, key at {n:4}, gap {n - m:2}: score {gap_score(q, k, m, n).item():8.4f}")

# %% [markdown]
# ### Predict: a hundred positions further on
#
# Add 100 to every position in the small model. What happens to its loss?

# %%
# The loss: "rises", "stays" or "falls"
predict("the loss a hundred positions further on", ...)

# %%
moved_on, as_before = lm.compare(rope=lambda x, positions: apply_rope(x, positions + 100))

# %% [markdown]
# ### How exact? (extra)
#
# Far out, scores with the same gap differ in their last digits. Is that only rounding? Near 9,000, neighbouring float32 numbers
# are about 0.001 apart, so each angle may be wrong by half of that, and the score by at most $0.001 \cdot
# \|\mathbf{q}\|\,\|\mathbf{k}\|$. Most errors partly cancel and are smaller. The next cell measures their mean over 300 pairs
# of vectors, at 40 positions each. (You need not follow its code.)


# %%
def gap_error(start):
    """The error of a score at the gap 3 from `start` on, in units of |q| |k|: the mean and the largest."""
    q, k = torch.randn(2, 300, 1, 64, generator=torch.Generator().manual_seed(1))
    at, frequencies = torch.arange(start, start + 40), rope_frequencies(64)

    def score_of(m, n, dtype):  # with pairs as complex numbers; the angles are in this dtype
        turns = [
            torch.polar(torch.ones_like(a), a) for a in (x[:, None].to(dtype) * frequencies.to(dtype) for x in (m, n))
        ]
        placed = [torch.view_as_complex(x.to(dtype).unflatten(-1, (-1, 2))) * turn for x, turn in zip((q, k), turns)]
        return (placed[0] * placed[1].conj()).real.sum(-1)

    exact = score_of(torch.tensor([0]), torch.tensor([3]), torch.float64)  # (300, 1)
    errors = (score_of(at, at + 3, torch.float32) - exact).abs() / (q.norm(dim=-1) * k.norm(dim=-1))  # (300, 40)
    return errors.mean().item(), errors.max().item()


# %% [markdown]
# ### Predict: eight times as far (extra)
#
# How large is the error around position 8000, compared with position 1000, on average?

# %%
# The error: "the same", "about 8 times as large" or "about 64 times as large"
predict("the error far out", ...)


# %% tags=["demo"]
print("In millionths, with the step from one float32 number to the next:")
for start in (10, 100, 1000, 2000, 4000, 8000, 16000):
    mean, largest = gap_error(start)
    step = 2.0 ** (math.floor(math.log2(start)) - 23)
    print(
        f"from position {start:5}: mean error {mean * 1e6:5.2f}, largest {largest * 1e6:4.1f}, step {step * 1e6:4.0f}"
    )

# %% [markdown]
# ### Predict: a table of scores (extra)
#
# Make a table of the scores of one query with one key: one row per position of the query, one column per position of the key.
# Along which lines are the numbers equal?

# %%
# The lines: "rows", "columns", "falling diagonals" (top left to bottom right) or "rising diagonals"
predict("the lines of equal scores", ...)


# %%
def score_table(rotate_query, rotate_key, T=8):
    """Scores (T, T) of one query with one key: row m has the query at position m, column n the key at position n."""
    query, key = torch.tensor([[2.0, 0.5, 0.6, 0.9], [0.8, 1.2, 0.9, -0.7]])
    return rotate_query(query.repeat(T, 1)) @ rotate_key(key.repeat(T, 1)).mT


def counted(x):
    """x (T, dim) rotated by the positions 0 … T-1."""
    return apply_rope(x, torch.arange(x.shape[-2]))


# %% tags=["demo"]
# @title The scores at all pairs of positions
drawn = figures.rope.score_tables({"query and key rotated": score_table(counted, counted)})
figures.show(drawn, caption="One query, one key, at 8 times 8 positions.")

# %% tags=["demo"]
# @title The score against the gap, around three positions
figures.show(figures.rope.against_gap(apply_rope, q, k))

# %% [markdown]
# The curve is not symmetric, and it is not highest at the gap 0. The gap that a head prefers depends on $\mathbf{q}$ and
# $\mathbf{k}$, so it is learned.

# %% [markdown]
# ## 6. Two layouts in memory
#
# Which numbers form a pair is a convention. The paper, Meta's code for Llama and this course pair **neighbours**. The
# transformers library, and most models published with it, pair **halves**: $(x_0, x_{\text{dim}/2}), (x_1, x_{\text{dim}/2+1}),
# \dots$, because code that cuts and joins halves is simpler. Both are right, but weights that were trained with one are useless
# in the other, and no error warns you. So the library reorders the
# rows of the weights when it converts a model.

# %% tags=["demo"]
# @title Eight numbers in both layouts
figures.show(figures.rope.layouts(8))

# %% [markdown]
# ### Exercise 4: `to_half_split(x)`
#
# *Difficulty ★☆☆ · about 3 minutes*
#
# Reorder the last dimension of `x`, `(..., dim)`, from neighbours to halves: the first members of all pairs, in order, then all
# second members.
#
# **Worked example.** $(x_0, x_1, x_2, x_3, x_4, x_5)$ becomes $(x_0, x_2, x_4,\; x_1, x_3, x_5)$.


# %% nbgrader={"grade": false, "grade_id": "to_half_split", "locked": false, "schema_version": 3, "solution": true, "task": false}
def to_half_split(x: torch.Tensor) -> torch.Tensor:
    """Reorder neighbouring pairs into halves: (x0, x2, …, x1, x3, …) along the last dimension.

    x: (..., dim) with an even dim. Returns a tensor of the same shape and dtype.
    """
    ### BEGIN SOLUTION
    return torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_to_half_split", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(to_half_split)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(to_half_split)
### END HIDDEN TESTS

# %% [markdown]
# ### As matrices (extra)
#
# Here are a rotation of neighbours, the permutation, and the rotation of halves that results.


# %%
turned_units = apply_rope(torch.eye(8)[:, None], torch.tensor([1]), 4.0)[:, 0]  # (8, 8): row i is unit vector i, turned
R_neighbours = turned_units.mT
P = to_half_split(torch.eye(8)).mT
R_halves = P @ R_neighbours @ P.mT

# %% tags=["demo"]
# @title The rotation of neighbours, the permutation, and the rotation of halves
drawn = figures.rope.as_matrices(R_neighbours, P, R_halves)
figures.show(drawn)

# %% [markdown]
# ### Step: rotate in the other layout (extra)
#
# *Step ★★☆ · about 5 minutes.* Rotate vectors that are in halves already: entry $i$ is paired with entry $i +
# \text{dim}/2$. You may call your `rope_frequencies`.
#
# **Worked example.** $(1, 3, 2, 4)$ with base 4 at position $\pi$: the pair $(1, 2)$ becomes $(-1, -2)$ and $(3, 4)$ becomes
# $(-4, 3)$, as in exercise 3. The result is $(-1, -4, -2, 3)$.


# %%
def rotate_halves(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    """RoPE in the other layout: entry i is paired with entry i + dim // 2. x: (..., T, dim), positions: (T,)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(rotate_halves)

# %% [markdown]
# Now reorder and then rotate halves, or rotate neighbours and then reorder. The result is the same:

# %%
x = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(3))  # (..., T, dim)
positions = torch.tensor([3, 0, 17, 5, 250])
reordered = (rotate_halves(to_half_split(x), positions) - to_half_split(apply_rope(x, positions))).abs().max()
mixed_up = (rotate_halves(x, positions) - apply_rope(x, positions)).abs().max()
print(f"Largest difference, reordered: {reordered:.6f}; mixed up: {mixed_up:.1f}")

# %% [markdown]
# If you reorder queries *and* keys, every score stays the same: a dot product does not depend on the order of its terms.

# %% [markdown]
# ## 7. Self-attention that sees the order
#
# Two things differ from lesson 6's module. First, queries, keys and values come from **one** packed layer, `W_qkv`, whose rows
# are in this order. Second, queries and keys are rotated, after the heads are split.
#
# - **Split first, then rotate.** Otherwise the first head would get the fast pairs and the last head the slow ones.
# - **Do not rotate the values.** A value means the same at any position.
# - **Positions** are $0, 1, \dots, T - 1$ unless they are given. The token after a text of 500 tokens is at position 500, even
#   if you pass it alone.
#
# ### Exercise 5: `RotarySelfAttention(d_model, n_heads, base=10000.0)`
#
# *Difficulty ★★★ · about 15 minutes*
#
# - `__init__` makes two layers without bias: `W_qkv` from `D` to `3D`, `W_o` from `D` to `D`.
# - `forward` takes `x`, `(B, T, D)`, and returns the output, `(B, T, D)`, and the weights, `(B, H, T, T)`.
# - *Review:* `mask` is boolean, `True` is blocked, and broadcasts to the weights' shape. A fully blocked row has weights 0 and
#   output 0, never NaN.
# - You may call your `apply_rope`, but not `F.scaled_dot_product_attention`, `nn.MultiheadAttention` or
#   `F.multi_head_attention_forward`.
#
# **Worked example.** `D = 2`, one head, all matrices the identity, the same word twice: $\mathbf{x}_0 = \mathbf{x}_1 = (2, 0)$.
# At position 0 nothing turns; at position 1 the query and key become $(2\cos 1, 2\sin 1)$. Each word scores $4/\sqrt2$ with
# itself and $4\cos(1)/\sqrt2$ with the other, so the weights are $0.79$ and $0.21$. The output is $(2, 0)$ for both, because
# values are not rotated.


# %% nbgrader={"grade": false, "grade_id": "RotarySelfAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class RotarySelfAttention(nn.Module):
    """Self-attention with several heads whose queries and keys are rotated by position.

    Parameters: W_qkv, an nn.Linear(d_model, 3 * d_model, bias=False), rows in the order q, k, v, and W_o, an
    nn.Linear(d_model, d_model, bias=False). base is handed on to the rotation.
    """

    def __init__(self, d_model: int, n_heads: int, base: float = 10000.0):
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads, self.base = n_heads, base
        self.W_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        ### END SOLUTION

    def forward(
        self, x: torch.Tensor, positions: torch.Tensor | None = None, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """x: (B, T, D); positions: (T,), 0 … T-1 by default; mask: bool, broadcasts to (B, H, T, T), True = blocked.

        Returns the output (B, T, D) and the weights (B, H, T, T).
        """
        ### BEGIN SOLUTION
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        query, key, value = (
            part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, T, K)
            for part in self.W_qkv(x).chunk(3, dim=-1)
        )
        query, key = apply_rope(query, positions, self.base), apply_rope(key, positions, self.base)
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, H, T, T)
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:  # blocked twice: the second time empties the rows in which everything was blocked
            lowest = torch.finfo(scores.dtype).min
            weights = torch.softmax(scores.masked_fill(mask, lowest), dim=-1).masked_fill(mask, 0.0)
        output = (weights @ value).transpose(1, 2).flatten(2)  # (B, T, D)
        return self.W_o(output), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_RotarySelfAttention", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(RotarySelfAttention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(RotarySelfAttention)
### END HIDDEN TESTS


# %%
def make_rotary(d_model, n_heads, seed=0):
    """A module with reproducible weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return RotarySelfAttention(d_model, n_heads)


# %% [markdown]
# Put your module into all three layers of the small model:

# %% tags=["demo"]
with_yours, with_the_builtin = lm.compare(module=RotarySelfAttention)

# %% [markdown]
# ### Two equal words (extra)
#
# "To be or not to be" has two words that occur twice. Without positions, the second *to* has the same query as the first, and
# so the same output. To take the positions away, make all of them 0: then nothing turns.

# %%
hamlet = "to be or not to be".split()
vocabulary = sorted(set(hamlet))
table = torch.randn(len(vocabulary), 16, generator=torch.Generator().manual_seed(2))
spoken = table[[vocabulary.index(word) for word in hamlet]][None]  # (1, T, 16): the same word, the same vector
attention = make_rotary(16, 2)
with torch.no_grad():
    attention.W_qkv.weight[:32] *= 2  # larger queries and keys, so that there is something to see
    same_place, same_weights = attention(spoken, torch.zeros(6, dtype=torch.int64))
    in_order, order_weights = attention(spoken)

scrambled = torch.tensor([4, 2, 0, 5, 1, 3])
for name, output, where in (("all 0", same_place, torch.zeros(6)), ("0 … 5", in_order, torch.arange(6))):
    apart = (output[0, 0] - output[0, 4]).norm().item()
    sees = not is_order_blind(lambda x, where=where: attention(x[None], where)[0][0].detach(), spoken[0], scrambled)
    print(f"positions {name}: the two 'to' are {apart:.3f} apart; sees the order: {sees}")

# %% tags=["demo"]
# @title The weights of the first head, without and with positions
drawn = figures.rope.with_positions(same_weights[0, 0], order_weights[0, 0], hamlet)
figures.show(drawn)

# %% [markdown]
# ### Does it learn? (extra)
#
# Here is a task that needs the order: for each token, name the token *before* it. Every text has the same eight tokens in
# random order, so without the order you can only guess among seven: a loss of $\ln 7 \approx 1.95$. Train two copies of the
# module, one with all positions 0, one with positions in order.

# %% tags=["demo"]
codes = torch.eye(8, 32)  # (8, 32): one vector for each of eight tokens


def train_on_the_one_before(in_order, steps=200, T=8):
    """Trains a module and a readout to name the token before each. Returns (losses, module, readout)."""
    generator = torch.Generator().manual_seed(0)
    module, readout = make_rotary(32, 2), nn.Linear(32, 8)
    readout.load_state_dict({"weight": torch.zeros(8, 32), "bias": torch.zeros(8)})
    positions = torch.arange(T) if in_order else torch.zeros(T, dtype=torch.int64)
    optimizer = torch.optim.Adam([*module.parameters(), *readout.parameters()], lr=1e-2)
    losses = []
    for _ in range(steps):
        ids = torch.rand(32, T, generator=generator).argsort(-1)  # (32, T): 32 permutations of the tokens
        logits = readout(module(4 * codes[ids], positions)[0])  # (32, T, 8)
        loss = F.cross_entropy(logits[:, 1:].flatten(0, 1), ids[:, :-1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, module, readout


runs = {name: train_on_the_one_before(name == "in order") for name in ("all positions 0", "in order")}
figures.show(
    figures.losses({name: run[0] for name, run in runs.items()}, {"guessing, ln 7": math.log(7)}, every=10),
    caption="Naming the token before.",
)

# %% tags=["demo"]
trained, readout = runs["in order"][1:]
ids = torch.rand(200, 8, generator=torch.Generator().manual_seed(5)).argsort(-1)  # texts that were not trained on
with torch.no_grad():
    for start in (0, 100, 5000):
        named = readout(trained(4 * codes[ids], start + torch.arange(8))[0])[:, 1:].argmax(-1)
        print(f"text at {start:4} … {start + 7:4}: {(named == ids[:, :-1]).float().mean():.1%} named correctly")

# %% [markdown]
# The module was trained at positions 0 to 7 only, and it works as well at 5000. It has learned "one to the left", not "position
# 3 looks at position 2".
#
# ### Step: move the weights (extra)
#
# *Step ★★☆ · about 5 minutes.* A model that rotates halves needs the rows of $\mathbf{W}_q$ and $\mathbf{W}_k$ in another
# order, *inside each head*. `W` is `(D, D)`, its rows sorted by head. Your `to_half_split` works on the last dimension; `.mT`
# exchanges the last two.
#
# **Worked example.** With `D = 8` and 2 heads, the rows come in the order 0, 2, 1, 3, 4, 6, 5, 7.


# %%
def rows_to_halves(W: torch.Tensor, n_heads: int) -> torch.Tensor:
    """The rows of W (D, ...) reordered from neighbours to halves inside each of n_heads heads."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(rows_to_halves)

# %%
tokens = torch.randn(3, 7, 16, generator=torch.Generator().manual_seed(4))  # (B, T, D)
where = torch.tensor([0, 1, 2, 10, 11, 400, 401])


def scores_with(W_q, W_k, turned):
    """The scores (B, H, T, T) of two heads whose queries and keys are rotated by `turned`."""
    query, key = (turned((tokens @ W.mT).unflatten(-1, (2, -1)).transpose(1, 2), where) for W in (W_q, W_k))
    return query @ key.mT


W_q, W_k, _ = attention.W_qkv.weight.detach().chunk(3)
expected = scores_with(W_q, W_k, apply_rope)
moved = scores_with(rows_to_halves(W_q, 2), rows_to_halves(W_k, 2), rotate_halves)
careless = scores_with(W_q, W_k, rotate_halves)
print(f"Scores differ by {(moved - expected).abs().max():.6f} with reordered rows,")
print(f"and by up to {(careless - expected).abs().max():.1f} with the rows as they were.")

# %% [markdown]
# ## 8. Texts that are longer than in training
#
# The small model was trained on 96 tokens at a time. Give it 192 tokens of stories that it has not seen.

# %%
TRAINED = 96  # tokens
texts = lm.encode(small_lm.held_out(4000))[: 16 * 2 * TRAINED].view(16, 2 * TRAINED)
as_trained = lm.losses_with(texts, rope=apply_rope)  # (16, 191): the loss of each word but the first
first_half, second_half = as_trained[:, : TRAINED - 1].mean().item(), as_trained[:, TRAINED - 1 :].mean().item()

# %% [markdown]
# ### Predict: twice as long
#
# Words in the second half have more text before them. How does their loss compare with the first half's?

# %%
# The loss in the second half: "smaller", "about the same" or "about three times as large"
predict("the loss in the second half", ...)

# %%
print(f"loss of positions 1 to 95: {first_half:.2f}; of positions 96 to 191: {second_half:.2f}")

# %% [markdown]
# Longer texts have longer gaps. In the 96 positions of training, the fast pairs made many turns, so the model has met all their
# angles. The slow pairs made only a fraction of a turn, and longer gaps turn them to new angles.

# %%
turns = TRAINED * rope_frequencies(24) / (2 * math.pi)  # the model's heads have 24 numbers
print("turns in 96 positions:", ", ".join(f"pair {i}: {made:.1f}" for i, made in enumerate(turns[:7].tolist())), "…")

# %% [markdown]
# Three remedies change only the frequencies. For texts longer by a `factor`, here 2,
#
# - **position interpolation** divides all frequencies by the factor. The text is squeezed into the trained positions.
# - **a larger base**, the base times $\text{factor}^{\text{dim}/(\text{dim}-2)}$, slows down the slowest pair by exactly the
#   factor, and pair 0 not at all.
# - **YaRN** counts the turns that a pair made in training, $r_i = \text{length} \cdot \theta_i / 2\pi$. With `high` turns or
#   more, a pair keeps its frequency. With `low` or fewer, its frequency is divided by the factor. In between, the two
#   frequencies are mixed, and $g_i$ is the share of the old one:
#
# $$ g_i = \frac{r_i - \text{low}}{\text{high} - \text{low}} \;\text{ (at least 0, at most 1)}, \qquad
#    \theta_i' = g_i\, \theta_i + (1 - g_i)\, \frac{\theta_i}{\text{factor}} $$
#
# ### Exercise 6: `scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0)`
#
# *Difficulty ★★☆ · about 9 minutes*
#
# Return the frequencies for texts that are `factor` times as long as the `length` positions of training, float32 `(dim // 2,)`.
# `dim` is even and at least 4, `factor` at least 1. If `method` is none of `"base"`, `"interpolation"` and `"yarn"`, raise a
# `ValueError` that names `method` and its value. You may call your `rope_frequencies`; a mistake in it costs no points here.
#
# **Worked example.** `dim = 8`, base 16, factor 2: the frequencies are $1, \tfrac12, \tfrac14, \tfrac18$. Interpolation gives
# $\tfrac12, \tfrac14, \tfrac18, \tfrac1{16}$. For YaRN with `length` $= 8\pi$, `low` 1 and `high` 3, the pairs turn 4, 2, 1
# and ½ times, so $g$ is $1, \tfrac12, 0, 0$ and the result $1, \tfrac38, \tfrac18, \tfrac1{16}$. For `dim = 4` the larger base
# is $16 \cdot 2^{4/2} = 64$, which gives $1, \tfrac18$ instead of $1, \tfrac14$.


# %% nbgrader={"grade": false, "grade_id": "scaled_frequencies", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_frequencies(
    dim: int, method: str, factor: float, length: float, base: float = 10000.0, low: float = 1.0, high: float = 32.0
) -> torch.Tensor:
    """The frequencies with which a model reads texts `factor` times as long as those of its training.

    dim: even, at least 4; method: "base", "interpolation" or "yarn"; factor: at least 1; length: positions in training.
    low, high: turns in training, for YaRN: with `low` or fewer a frequency is divided, with `high` or more it is kept.
    Returns (dim // 2,), float32. ValueError for another method.
    """
    ### BEGIN SOLUTION
    frequencies = rope_frequencies(dim, base)
    if method == "base":
        return rope_frequencies(dim, base * factor ** (dim / (dim - 2)))
    if method == "interpolation":
        return frequencies / factor
    if method == "yarn":
        turns = length * frequencies / (2 * math.pi)
        keep = ((turns - low) / (high - low)).clamp(0, 1)
        return keep * frequencies + (1 - keep) * frequencies / factor
    raise ValueError(f"method is {method!r}; expected 'base', 'interpolation' or 'yarn'")
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_scaled_frequencies", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(scaled_frequencies)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(scaled_frequencies)
### END HIDDEN TESTS

# %% [markdown]
# ### Step: rotate with any frequencies (extra)
#
# *Step ★★☆ · about 4 minutes.* Your `apply_rope` makes its own frequencies. But a vector of two numbers has one pair, whose
# frequency is 1, so at position $p$ it turns by $p$ radians. Cut `x`, `(..., T, dim)`, into pairs, rotate pair $i$ at the
# "positions" `positions * frequencies[i]`, and join the pairs again with `torch.cat`.
#
# **Worked example.** $(1, 2, 3, 4)$ at position 2 with the frequencies $\tfrac\pi2, \tfrac\pi4$ makes half a turn and a
# quarter turn: $(-1, -2, -4, 3)$.


# %%
def rope_with(x: torch.Tensor, positions: torch.Tensor, frequencies: torch.Tensor) -> torch.Tensor:
    """Turn pair i by position * frequencies[i]. x: (..., T, dim), positions: (T,), frequencies: (dim // 2,)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(rope_with)

# %% [markdown]
# ### Before and after
#
# The same weights read the same texts, without further training. Here `high` is 4: with the default, 32, no pair would keep its
# frequency.


# %%
def losses_at(frequencies, ids=texts):
    """The small model's loss of each word but the first, rotating with these 12 frequencies. ids (B, T) -> (B, T - 1)."""
    return lm.losses_with(ids, rope=lambda x, positions: rope_with(x, positions, frequencies))


readings = {"as trained": losses_at(rope_frequencies(24))}
for method in ("interpolation", "base", "yarn"):
    readings[method] = losses_at(scaled_frequencies(24, method, 2.0, TRAINED, high=4.0))
for method, losses in readings.items():
    halves = [half.mean().item() for half in (losses[:, : TRAINED - 1], losses[:, TRAINED - 1 :])]
    print(f"{method:14} loss in the first half {halves[0]:.2f}, in the second {halves[1]:.2f}")

# %% tags=["demo"]
# @title The loss by position: before, and with three remedies
drawn = figures.rope.by_position(readings, TRAINED)
figures.show(drawn)

# %% [markdown]
# Interpolation slows down the pairs that tell neighbours apart, so the first half gets worse. The larger base keeps those
# pairs, but slows down the middle ones too little, so new angles only come later. YaRN keeps the fast pairs and divides the
# slow ones. Now the second half has the lower loss, as it should: its words have more text before them.
#
# ### The base in real models (extra)
#
# Many real models use a larger base, YaRN, or both. "By parts" is YaRN's formula above; `low` and `high` are in parentheses.
# "Then" is a second, shorter training with the change in the last column.
#
# | model | released | base | trained length | for longer texts |
# |---|---|---|---|---|
# | [Llama 2](https://arxiv.org/abs/2307.09288) | July 2023 | 10,000 | 4,096 | |
# | [Code Llama](https://arxiv.org/abs/2308.12950) | August 2023 | 1,000,000 | 4,096, then 16,384 | larger base (before: 10,000) |
# | [Llama 3](https://huggingface.co/meta-llama/Meta-Llama-3-8B) | April 2024 | 500,000 | 8,192 | |
# | [Llama 3.1](https://huggingface.co/meta-llama/Llama-3.1-8B) | July 2024 | 500,000 | 8,192, then 131,072 | by parts (1, 4), factor 8 |
# | [Qwen2.5](https://qwen.readthedocs.io/en/latest/deployment/vllm.html) | September 2024 | 1,000,000 | 32,768 | YaRN, factor 4, if you switch it on |
# | [DeepSeek-V3](https://arxiv.org/abs/2412.19437) | December 2024 | 10,000 | 4,096, then 131,072 | YaRN (1, 32), factor 40 |
#
# The numbers are from these pages, from the models' configuration files (`config.json`) and, for the second training of Llama
# 3.1, from [its paper](https://arxiv.org/abs/2407.21783), as of November 2026. Llama 2's base is from Code Llama's paper.
# [Chen et al.](https://arxiv.org/abs/2306.15595) proposed interpolation, [Peng et al.](https://arxiv.org/abs/2309.00071) YaRN,
# both in 2023. The full YaRN also multiplies queries and keys by $0.1 \ln(\text{factor}) + 1$. And in most code for YaRN, the
# share $g_i$ falls evenly with $i$, not with the turns.
#
# ## Your experiment (extra)
#
# *Experiment ★★☆ · about 7 minutes.* **Which pair does the small model need most?** Stop one pair at a time: set its frequency
# to 0. Compute the mean of `losses_at(frequencies, texts[:, :96])` for each of the 12 pairs, and plot it. Your finding is the
# number of the pair, counted from 0, that raises the loss most when it is stopped. Compare it with the turns in section 8.

# %%
frequencies = rope_frequencies(24)  # (12,)

# Your code: the loss with each pair stopped, and a plot

finding = ...  # the number of a pair

# %% tags=["demo"]
check("experiment", finding)

# %% [markdown]
# ## 9. A bug that shipped (extra)
#
# Meta's library xformers rotated along dimension −2. It was called with `(B, T, H, K)`, where dimension −2 counts the heads.
#
# ```diff
# - q, k = rotary(q, k)                                    # (B, T, H, K): turns head h by h
# + q, k = rotary(q.transpose(1, 2), k.transpose(1, 2))    # (B, H, T, K): turns token t by t
# ```
#
# All tokens of a head were then turned alike, so there were no positions at all. Yet there was no error: training looked normal,
# and some runs diverged ([facebookresearch/xformers#841](https://github.com/facebookresearch/xformers/issues/841),
# [mlfoundations/open_lm#4](https://github.com/mlfoundations/open_lm/issues/4); again in
# [NVIDIA/audio-flamingo#27](https://github.com/NVIDIA/audio-flamingo/issues/27)). One test finds it: move all positions by the
# same number, then only the keys. Only the second may change the scores, and it must.
#
# More bugs that shipped are in the notebook `bug_museum.ipynb`.

# %% [markdown]
# ## The model so far (extra)
#
# Your `RotarySelfAttention` replaces the heads without positions in the model that has grown since lesson 3.

# %% tags=["demo"]
# @title The model so far, and what its letters attend to
from course import staged_model

figures.show(figures.staged_model.built_so_far(staged_model.current_model()))

# %% [markdown]
# Its weights are random. In lesson 8 this layer learns to write, inside a block that you build there.

# %% [markdown]
# ## Challenge: `alibi_bias(n_heads, T)` (extra)
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# Positions can enter attention without rotation: add a number to every score. **Attention with linear biases**, ALiBi ([Press
# et al. 2021](https://arxiv.org/abs/2108.12409)), subtracts more the further away a key is. Each head has its own slope:
#
# $$ b_{hij} = - m_h \, |i - j|, \qquad m_h = 2^{-8h/H}, \qquad h = 1, \dots, H $$
#
# A head with a large slope sees only its neighbours, one with a small slope nearly everything. A model that was trained with it
# on short texts can read longer ones.
#
# Return the biases of all heads, float32 `(H, T, T)`, to be added to scores before the softmax. (The mask blocks the future.)
#
# **Worked example.** Eight heads: the slopes are $\tfrac12, \tfrac14, \dots, \tfrac1{256}$. In the second head, a query and a
# key three positions apart get $-\tfrac34$.


# %%
def alibi_bias(n_heads: int, T: int) -> torch.Tensor:
    """The biases of attention with linear biases, float32 (H, T, T): minus the slope of each head times the distance."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(alibi_bias)

# %% [markdown]
# ## Summary
#
# 1. Attention without positions is order-blind: scramble its input, and it only scrambles its output.
# 2. RoPE turns pair $i$ of a head's query or key at position $m$ by $m\,\theta_i$. It never turns values.
# 3. So a score depends on two vectors and their gap alone.
# 4. Weights fit one layout, neighbours or halves. Reorder their rows for the other.
# 5. Longer texts have new angles. Keep the fast pairs and slow down the slow ones.
#
# $$ (\mathbf{R}_m \mathbf{q})^\top (\mathbf{R}_n \mathbf{k}) = \mathbf{q}^\top \mathbf{R}_{n-m}\, \mathbf{k} $$

# %% tags=["demo"]
# @title What you have built so far
drawn = figures.rope.so_far(attention, spoken, apply_rope)
figures.show(drawn)

# %% [markdown]
# **To read on:** Su et al., [RoFormer](https://arxiv.org/abs/2104.09864), sections 3.2 and 3.4 · Biderman et al., [Rotary
# Embeddings: A Relative Revolution](https://blog.eleuther.ai/rotary-embeddings/) · Peng et al.,
# [YaRN](https://arxiv.org/abs/2309.00071), which compares the remedies of section 8.
#
# In lesson 8 the whole model learns.

# %% tags=["demo"]
progress()
