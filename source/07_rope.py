# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 7: Rotary positions
#
# *Dog bites man* and *man bites dog* have the same three words, but you know who was bitten. Your line from lesson 0,
# `scores = q @ k.T`, compares each word with every other, and nothing in it says which came first. **How can attention see the
# order of words, and how far apart they are?**
#
# **You will build** rotary position embeddings, RoPE, which most of today's language models use: each query and key is rotated by
# an angle that grows with its position.
#
# **You need** the scale (lesson 4), masks (5) and heads (6); sine, cosine and radians ($2\pi$ is a full turn).
#
# **Time:**
#
# In shapes, `D` is the width of the model and `Dk` that of one head. A query is at position $m$, a key at position $n$.

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sentence, sliders, small_lm, solution
from course.models.one_before import train_to_name_the_one_before
from course.notebook import growth
from torch import nn

begin("07_rope")

# %% [markdown]
# ## Quiz: what came before
#
# **1.** `d_model` is 512, with 8 heads. By what are the scores divided?

# %%
predict("quiz 1", ...)  # a number

# %% [markdown]
# ## 1. Attention does not see the order
#
# Take the simplest self-attention, in which the words $\mathbf{X}$ of a sentence, `(T, D)`, are queries, keys and values:
#
# $$ \operatorname{attend}(\mathbf{X}) =
#    \operatorname{softmax}\!\left( \frac{\mathbf{X} \mathbf{X}^\top}{\sqrt{D}} \right) \mathbf{X} $$
#
# A **permutation** is a list that contains each position exactly once. In `X[permutation]`, the word at position `t` is the one
# that was at `permutation[t]`.


# %% tags=["code"]
def plain(x):
    return scaled_dot_product_attention(x, x, x)[0]  # of lesson 4: (T, D)


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
# The output: "the same", "that of another word" or "new". After your guess, the largest difference is shown
predict("the output of boat", ..., (before - after).abs().max())

# %% tags=["picture"]
# @title The weights of both sentences
figures.show(figures.rope.two_orders(scaled_dot_product_attention, X, permutation, words))

# %% [markdown]
# The same two words have the same weight. The output of a word $\mathbf{x}$ is a quotient of two sums over all words
# $\mathbf{x}_j$,
#
# $$ \frac{\sum_j e^{\mathbf{x} \cdot \mathbf{x}_j / \sqrt{D}}\; \mathbf{x}_j}
#         {\sum_j e^{\mathbf{x} \cdot \mathbf{x}_j / \sqrt{D}}} \, , $$
#
# and a permutation only changes the order of their terms. A function $f$ is **order-blind** (*permutation equivariant*) if, for all $\mathbf{X}$ and all permutations $\sigma$, each output just moves with its word:
#
# $$ f(\mathbf{X}[\sigma]) = f(\mathbf{X})[\sigma] $$
#
# ### Exercise: `is_order_blind(attention, x, permutation)`
#
# *Difficulty ★☆☆, importance ●●○, about 6 minutes.*
#
# Find out whether this equation holds for the given `x` and `permutation`.
#
# **Worked example.** Three tokens of one number each, 2, 4 and 9; the permutation $(1, 2, 0)$ makes them 4, 9, 2.
#
# | function | $f(\mathbf{X})$ | $f(\mathbf{X})[\sigma]$ | $f(\mathbf{X}[\sigma])$ | order-blind? |
# |---|---|---|---|---|
# | each token minus the mean | −3, −1, 4 | −1, 4, −3 | −1, 4, −3 | yes |
# | the mean of everything up to the token | 2, 3, 5 | 3, 5, 2 | 4, 6.5, 5 | no |


# %% nbgrader={"grade": false, "grade_id": "is_order_blind", "locked": false, "schema_version": 3, "solution": true, "task": false}
def is_order_blind(attention, x: torch.Tensor, permutation: torch.Tensor) -> bool:
    """Whether permuting the input only permutes the output, as a plain True or False.

    attention: a function from (T, D) to (T, D); x: (T, D), perhaps one token; permutation: int64 (T,).
    Differences under 1e-5 are rounding; a real one is above 1e-2 in at least one entry.
    """
    ### BEGIN SOLUTION
    moved, kept = attention(x[permutation]), attention(x)[permutation]  # both (T, D)
    return bool((moved - kept).abs().max() < 1e-4)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_is_order_blind", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(is_order_blind)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(is_order_blind)
### END HIDDEN TESTS


# %% tags=["code"]
added = torch.randn(6, 3, generator=torch.Generator().manual_seed(7))  # (T, D): a vector for each position
for name, function in {
    "plain self-attention": plain,
    "with a causal mask": lambda x: masked_attention(x, x, x, causal_mask(len(x)))[0],
    "with a vector added for each position": lambda x: plain(x + added),
}.items():
    print(f"{name:38} order-blind: {is_order_blind(function, X, permutation)}")

# %% [markdown]
# ## 2. Positions that are added
#
# With a causal mask, one layer sees which words come before, but not in what order. The obvious cure is to *add* a vector
# $\mathbf{p}_t$ to the word at position $t$, before queries and keys are made. Where does $\mathbf{p}_t$ come from?
#
# - GPT-2 **learns** it: a table with one row for each of 1,024 positions, an `nn.Embedding` as for tokens. For position 1,024
#   there is no row.
# - The transformer of 2017 computes it from sine waves, so any position has a vector. The entries of these **sinusoids** come in
#   pairs, each with a wave of its own:
#
# $$ p_{t,2i} = \sin(t\,\theta_i), \qquad p_{t,2i+1} = \cos(t\,\theta_i), \qquad \theta_i = 10000^{-2i/D} $$
#
# Fast waves tell neighbours apart, slow ones the beginning of a text from its end.

# %% tags=["picture"]
# @title Sinusoids, and the score of two words that are three positions apart
figures.show(figures.rope.sinusoids())

# %% [markdown]
# Both ways work. But on the right, the same two words, always three positions apart, get another score at each place, because
# $(\mathbf{x}_m + \mathbf{p}_m) \cdot (\mathbf{x}_n + \mathbf{p}_n)$ contains $\mathbf{x}_m \cdot \mathbf{p}_n$ and
# $\mathbf{p}_m \cdot \mathbf{x}_n$, a word times a position. Often only the distance matters: a noun belongs to the adjective
# before it, at position 3 as at 3000. So we want **a score that depends only on the two vectors and on the gap $m - n$.**

# %% [markdown]
# ## 3. Turn a vector by its position
#
# Start with two numbers, which you can draw. Turning $(x_0, x_1)$ counter-clockwise by an angle $\alpha$ gives
#
# $$ \begin{pmatrix} \cos\alpha & -\sin\alpha \\ \sin\alpha & \cos\alpha \end{pmatrix}
#    \begin{pmatrix} x_0 \\ x_1 \end{pmatrix} =
#    \begin{pmatrix} x_0 \cos\alpha - x_1 \sin\alpha \\ x_0 \sin\alpha + x_1 \cos\alpha \end{pmatrix} . $$
#
# We call the matrix $\mathbf{R}(\alpha)$.
#
# ### Exercise: turn by an angle
#
# *Difficulty ★☆☆, importance ●●○, about 2 minutes.* Turn all vectors by the same angle.
#
# **Worked example.** A quarter turn, $\alpha = \pi/2$, has $\cos\alpha = 0$ and $\sin\alpha = 1$: $(2, 1)$ becomes
# $(-1, 2)$.


# %%
def turn(x: torch.Tensor, angle: float) -> torch.Tensor:
    """The vectors x (..., 2), turned counter-clockwise by `angle` radians. Returns (..., 2)."""
    raise NotImplementedError  # replace this line


# %%
check(turn)

# %% [markdown]
# RoPE turns a vector of two numbers at position $m$ by $m$ radians:

# %% tags=["picture"]
# @title One vector at six positions
figures.show(figures.rope.six_positions(turn))

# %% [markdown]
# Now turn a query at position $m$ and a key at $n$, and take their dot product. What changes the score?

# %% tags=["picture"]
# @title Sliders: the positions of a query and of a key
sliders.slider(figures.rope.two_positions, turn)

# %% [markdown]
# If both move by the same number, the whole picture turns, but the dot product stays the same, because it depends on the two
# lengths and on the angle *between* the vectors. With another gap the score is different.

# %% [markdown]
# ## 4. Many clocks
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
# So one hand cannot tell a gap of 44 from 0. Clocks have slower hands for this, and so has RoPE. It cuts a vector of `dim` numbers
# into pairs of neighbours, $(x_0, x_1), (x_2, x_3), \dots$, and turns pair $i$ by
#
# $$ \theta_i = \text{base}^{-2i/\text{dim}}, \qquad i = 0, 1, \dots, \tfrac{\text{dim}}{2} - 1 $$
#
# radians per position. For `dim` $= D$ and the base 10,000, these **frequencies** are those of the sinusoids. The first is 1, each
# is smaller than the one before by the same factor, and one pair more would have $1/\text{base}$.
#
# ### Exercise: `rope_frequencies(dim, base=10000.0)`
#
# *Difficulty ★☆☆, importance ●●●, about 4 minutes.*
#
# Return the frequencies of all pairs.
#
# **Worked example.** For `dim = 8` and `base = 16` the exponents are $0, -\tfrac14, -\tfrac12, -\tfrac34$, and the frequencies $1,
# \tfrac12, \tfrac14, \tfrac18$.


# %% nbgrader={"grade": false, "grade_id": "rope_frequencies", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rope_frequencies(dim: int, base: float = 10000.0) -> torch.Tensor:
    """Radians per position of each pair: base ** (-2 * i / dim) for pair i = 0, 1, …, float32 (dim // 2,).

    dim: even; base: a number above 1.
    """
    ### BEGIN SOLUTION
    exponents = -torch.arange(0, dim, 2, dtype=torch.float32) / dim
    return base**exponents
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_rope_frequencies", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(rope_frequencies)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(rope_frequencies)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title The clocks of four pairs
figures.show(figures.rope.clocks(rope_frequencies(8), [0, 1, 10, 100, 1000]))

# %% [markdown]
# The hand of pair 0 has been round once after 6.3 positions. That of pair 3 is still on its first turn at position 1000, so no two
# positions look alike.

# %% [markdown]
# ## 5. Turn all pairs at once
#
# A vector $\mathbf{x}$ of `dim` numbers at position $m$ becomes
#
# $$ \bigl(x_{2i},\, x_{2i+1}\bigr) \;\longmapsto\;
#    \bigl(x_{2i} \cos m\theta_i - x_{2i+1} \sin m\theta_i,\;\; x_{2i} \sin m\theta_i + x_{2i+1} \cos m\theta_i\bigr)
#    \qquad \text{for every pair } i . $$
#
# This is one rotation, $\mathbf{R}_m \mathbf{x}$: the matrix $\mathbf{R}_m$ has $\mathbf{R}(m\theta_0), \mathbf{R}(m\theta_1),
# \dots$ along its diagonal, and 0 elsewhere.
#
# ### Exercise: `apply_rope(x, positions, frequencies=None)`
#
# *Difficulty ★★★, importance ●●●, about 12 minutes.*
#
# Turn every vector of `x` by its position, without a loop: `x[..., 0::2]` has the first numbers of all pairs. Two lines are
# there already.
#
# **Worked example.** The vector $(1, 2, 3, 4)$ at position 2, with the frequencies $\tfrac\pi2$ and $\tfrac\pi4$. The first pair
# makes half a turn: $(1, 2)$ becomes $(-1, -2)$. The second makes a quarter turn, which takes $(x, y)$ to $(-y, x)$: $(3, 4)$
# becomes $(-4, 3)$. The result is $(-1, -2, -4, 3)$.


# %% nbgrader={"grade": false, "grade_id": "apply_rope", "locked": false, "schema_version": 3, "solution": true, "task": false}
def apply_rope(x: torch.Tensor, positions: torch.Tensor, frequencies: torch.Tensor | None = None) -> torch.Tensor:
    """Turn pair i of each vector, (x[..., 2i], x[..., 2i+1]), counter-clockwise by position * frequencies[i] radians.

    x: (..., T, dim), dim even. positions: (T,), whole numbers or fractions in any order, also repeated or negative, up
    to about 10,000. frequencies: (dim // 2,), any numbers; None stands for rope_frequencies(dim).
    Returns a new tensor with the shape and dtype of x. Angles in float32 are exact enough, also for float64 vectors.
    """
    if frequencies is None:
        frequencies = rope_frequencies(x.shape[-1]).to(x.device)
    ### BEGIN SOLUTION
    angles = positions[:, None] * frequencies  # (T, dim // 2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]  # (..., T, dim // 2) each
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)  # (..., T, dim // 2, 2)
    return turned.flatten(-2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_apply_rope", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check(apply_rope)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(apply_rope)
### END HIDDEN TESTS

# %% [markdown]
# The small language model rotates in all layers but layer 0. Compare its loss with your rotation and without one:

# %% tags=["model"]
lm = small_lm.load()
lm.compare(rope=apply_rope)
no_rotation, _ = lm.compare(rope=lambda x, positions: x)

# %% [markdown]
# ## 6. Only the gap counts
#
# Transposing only moves the minus sign: $\mathbf{R}(\alpha)^\top = \mathbf{R}(-\alpha)$. The angles of two rotations add up:
# $\mathbf{R}(\alpha) \mathbf{R}(\beta) = \mathbf{R}(\alpha + \beta)$. Both hold for each block of $\mathbf{R}_m$. So for a
# query $\mathbf{q}$ at $m$ and a key $\mathbf{k}$ at $n$, both columns,
#
# $$ (\mathbf{R}_m \mathbf{q})^\top (\mathbf{R}_n \mathbf{k}) =
#    \mathbf{q}^\top \mathbf{R}_m^\top \mathbf{R}_n\, \mathbf{k} = \mathbf{q}^\top \mathbf{R}_{n-m}\, \mathbf{k} . $$
#
# Both positions are gone; only the gap is left.


# %% tags=["picture"]
def score(q, k, m, n):
    """The score of the query q, at position m, with the key k, at position n."""
    return (apply_rope(q[None], torch.tensor([m])) @ apply_rope(k[None], torch.tensor([n])).mT).item()


q, k = torch.randn(2, 64, generator=torch.Generator().manual_seed(1))
for pairs in (
    [(4, 1), (13, 10), (53, 50), (103, 100), (4003, 4000), (9003, 9000)],  # the same gap
    [(1, 1), (2, 1), (6, 1), (40, 10), (1, 4)],  # other gaps; the last key comes after its query
):
    for m, n in pairs:
        print(f"query at {m:4}, key at {n:4}, gap {m - n:2}: score {score(q, k, m, n):8.4f}")
    print()

# %% [markdown]
# At most the last digits differ, where an angle of thousands of radians is rounded.
#
# ### Predict: a hundred positions further on
#
# Add 100 to every position in the small model. What happens to its loss?

# %%
# The loss: "rises", "stays" or "falls"
predict("the loss a hundred positions further on", ...)

# %% tags=["model"]
moved_on, as_before = lm.compare(rope=lambda x, positions: apply_rope(x, positions + 100))

# %% [markdown]
# ### The curve of a score (extra)
#
# Where the peak is depends on $\mathbf{q}$ and $\mathbf{k}$, so the gap that a head prefers is learned.

# %% tags=["picture"]
# @title The score against the gap, around three positions
figures.show(figures.rope.against_gap(apply_rope, q, k))

# %% [markdown]
# ## 7. Self-attention that sees the order
#
# Where does the rotation belong in your module of lesson 6?
#
# - **Split first, then rotate.** Otherwise the first head would get the fast pairs, and the last the slow ones.
# - **Do not rotate the values.** Weights depend on gaps alone, but turned values would bring the positions into the output.
# - **Positions** are $0, 1, \dots, T - 1$ unless they are given: the token after 500 others is at position 500, even if
#   passed alone.

# %% tags=["picture"]
# @title Your module of lesson 6 and the functions it may call, to copy
for name in ("MultiHeadAttention", "HeadLayers", "split_heads", "merge_heads", "masked_attention"):
    growth.show(name)

# %% [markdown]
# ### Exercise: `RotarySelfAttention(d_model, n_heads)`
#
# *Difficulty ★★☆, importance ●●●, about 12 minutes.*
#
# Copy your `MultiHeadAttention` into the cell, with what it calls. Take out `context` and dropout, and add positions and the
# rotation. (In Colab, open your lesson 6 as well and copy from there; cells that are not yours use the course's functions.)
#
# **Worked example.** `D = 2`, one head, all matrices the identity, the same word twice: $\mathbf{x}_0 = \mathbf{x}_1 = (2, 0)$.
# At position 0 nothing turns; at position 1 query and key become $(2\cos 1, 2\sin 1)$. Each word scores $4/\sqrt2$ with itself and
# $4\cos(1)/\sqrt2$ with the other, so the weights are $0.79$ and $0.21$. The output is $(2, 0)$ for both, because values are not
# rotated.


# %% nbgrader={"grade": false, "grade_id": "RotarySelfAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class RotarySelfAttention(nn.Module):
    """Self-attention with several heads whose queries and keys are turned by their positions, values not.

    Parameters: W_q, W_k, W_v and W_o, each an nn.Linear(d_model, d_model, bias=False), and no others. n_heads divides
    d_model, and the width of a head is even.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        ### END SOLUTION

    def forward(
        self, x: torch.Tensor, positions: torch.Tensor | None = None, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """x: (B, T, D); positions: (T,), as in `apply_rope`, by default 0 … T-1; scores may be large.

        mask: bool, broadcasts to (B, H, T, T), True = blocked. Where it blocks a whole row, weights and output are 0,
        and no gradient is NaN. Returns the output (B, T, D) and the weights (B, H, T, T).
        Not allowed: F.scaled_dot_product_attention, nn.MultiheadAttention, F.multi_head_attention_forward.
        """
        ### BEGIN SOLUTION
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        query, key, value = (
            layer(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, T, Dk)
            for layer in (self.W_q, self.W_k, self.W_v)
        )
        query, key = apply_rope(query, positions), apply_rope(key, positions)
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, H, T, T)
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            weights = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1).masked_fill(mask, 0.0)
        output = (weights @ value).transpose(1, 2).flatten(2)  # (B, T, D)
        return self.W_o(output), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_RotarySelfAttention", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check(RotarySelfAttention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(RotarySelfAttention)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title Your `MultiHeadAttention`, and what you added to it
growth.show("MultiHeadAttention", "RotarySelfAttention")

# %% [markdown]
# Put your module into the small model. Its layer 0 does not rotate, so all positions are 0 there:

# %% tags=["model"]
with_yours, with_the_builtin = lm.compare(module=RotarySelfAttention)

# %% [markdown]
# ### To be or not to be
#
# Two words occur twice here. If all positions are 0, nothing turns, so both *to* have the same query and the same output:

# %% tags=["picture"]
# @title The weights of one head, without positions and with them
figures.show(figures.rope.to_be(RotarySelfAttention))

# %% [markdown]
# ### One to the left (extra)
#
# This task needs the order: name the token *before* each token but the first. All texts have the same eight tokens, shuffled, so
# without order you can only guess among seven, a loss of $\ln 7 \approx 1.95$. Training uses positions 0 to 7 only.

# %% tags=["model"]
runs = {name: train_to_name_the_one_before(RotarySelfAttention, name) for name in ("all positions 0", "in order")}
for start in (0, 100, 5000):
    print(f"in order, texts at {start} … {start + 7}: {runs['in order'].named_at(start):.1%} named correctly")

# %% tags=["picture"]
# @title The losses of both
figures.show(figures.rope.named(runs))

# %% [markdown]
# It works as well at 5000: it has learned "one to the left", not "position 3 looks at position 2".
#
# ## 8. A bug that shipped
#
# Meta's library xformers rotated along dimension −2. It was called with `(B, T, H, Dk)`, where dimension −2 counts the heads:
#
# ```diff
# - q, k = rotary(q, k)                                    # (B, T, H, Dk): turns head h by h
# + q, k = rotary(q.transpose(1, 2), k.transpose(1, 2))    # (B, H, T, Dk): turns token t by t
# ```
#
# All tokens of a head were turned alike, so there were no positions at all, and no error
# ([facebookresearch/xformers#841](https://github.com/facebookresearch/xformers/issues/841)). Your `is_order_blind` finds it:
# without a mask, such attention is order-blind again. More such bugs are in `bug_museum.ipynb`.

# %% [markdown]
# ## Two layouts in memory (extra)
#
# Which numbers form a pair is a convention. The paper, Meta's code for Llama and this course pair **neighbours**; the transformers
# library pairs **halves**, $(x_0, x_{\text{dim}/2}), (x_1, x_{\text{dim}/2+1}), \dots$. Both are right, but weights that were
# trained with one are useless in the other, and no error warns you.

# %% tags=["picture"]
# @title Eight numbers in both layouts
figures.show(figures.rope.layouts(8))

# %% [markdown]
# ### Exercise: `to_half_split(x)`
#
# *Difficulty ★☆☆, importance ●○○, about 3 minutes.*
#
# Reorder neighbours into halves. **Worked example.** $(x_0, x_1, x_2, x_3, x_4, x_5)$ becomes $(x_0, x_2, x_4,\; x_1, x_3, x_5)$.


# %%
def to_half_split(x: torch.Tensor) -> torch.Tensor:
    """Reorder the last dimension of x (..., dim): the first members of all pairs, in order, then all second ones."""
    raise NotImplementedError  # replace this line


# %%
check(to_half_split)

# %% [markdown]
# To move a model, reorder the *rows* of $\mathbf{W}_q$ and $\mathbf{W}_k$ inside each head. No score changes:


# %% tags=["picture"]
def rotate_halves(x, positions):  # as in the transformers library
    angles = (positions[:, None] * rope_frequencies(x.shape[-1])).repeat(1, 2)
    first, second = x.chunk(2, dim=-1)
    return x * angles.cos() + torch.cat([-second, first], dim=-1) * angles.sin()


x, W_q, W_k = torch.randn(3, 8, 8, generator=torch.Generator().manual_seed(4))  # 8 tokens; one head, Dk = 8
at = torch.tensor([0, 1, 2, 10, 11, 12, 400, 401])
expected = apply_rope(x @ W_q.mT, at) @ apply_rope(x @ W_k.mT, at).mT
moved = rotate_halves(x @ to_half_split(W_q.mT), at) @ rotate_halves(x @ to_half_split(W_k.mT), at).mT
careless = rotate_halves(x @ W_q.mT, at) @ rotate_halves(x @ W_k.mT, at).mT
print(f"Scores differ by {(moved - expected).abs().max():.5f} with reordered rows,")
print(f"and by up to {(careless - expected).abs().max():.1f} with the rows as they were.")

# %% [markdown]
# ## Longer texts than in training (extra)
#
# The small model was trained on 96 tokens at a time. Give it 192.

# %% tags=["model"]
TRAINED = 96  # tokens
texts = lm.encode(small_lm.held_out(4000))[: 16 * 2 * TRAINED].view(16, 2 * TRAINED)


def losses_at(frequencies, ids=texts):
    """The small model's loss of each word but the first, rotating with 12 frequencies. ids (B, T) -> (B, T - 1)."""
    return lm.losses_with(ids, rope=lambda x, positions: apply_rope(x, positions, frequencies))


# %% [markdown]
# ### Predict: twice as long
#
# Words in the second half have more text before them. How does their loss compare with the first half's?

# %%
# The loss in the second half: "smaller", "about the same" or "about three times as large"
predict("the loss in the second half", ...)

# %% [markdown]
# Longer texts have longer gaps. In training, the fast pairs made many turns, so the model knows all their angles. The slow ones
# made only a part of one, so longer gaps mean new angles. Three remedies for texts `factor` times as long change the frequencies:
#
# - **position interpolation** divides all of them by `factor`, which squeezes the text into the trained positions;
# - **a larger base** slows the slowest pair down by `factor`, and pair 0 not at all;
# - **by parts**, as in Llama 3.1, keeps pairs that made 4 turns or more in training, divides those that made 1 or fewer, and mixes
#   in between. **YaRN** has 32 for 4, and also multiplies scores by $(0.1 \ln \text{factor} + 1)^2$.

# %% tags=["model"]
dim, factor, theta = 24, 2, rope_frequencies(24)  # the model's heads have 24 numbers
turns = TRAINED * theta / (2 * math.pi)  # of each pair, in training
keep = ((turns - 1) / (4 - 1)).clamp(0, 1)
readings = {
    "as trained": losses_at(theta),
    "interpolation": losses_at(theta / factor),
    # the slowest pair has the power -(dim - 2) / dim of the base, which this base divides by factor
    "larger base": losses_at(rope_frequencies(dim, 10000 * factor ** (dim / (dim - 2)))),
    "by parts": losses_at(keep * theta + (1 - keep) * theta / factor),
}

# %% tags=["picture"]
# @title The loss by position, with the frequencies of training and three remedies
figures.show(figures.rope.by_position(readings, TRAINED))

# %% [markdown]
# Interpolation slows down the pairs that tell neighbours apart, so the first half gets worse. The larger base slows the middle
# pairs too little: they still reach new angles, only later. By parts, the loss stays low to the end.
#
# <details><summary>In real models (extra)</summary>
#
# | model | base | first length | later |
# |---|---|---|---|
# | [Llama 2](https://arxiv.org/abs/2307.09288) (2023) | 10,000 | 4,096 | |
# | [Llama 3.1](https://huggingface.co/meta-llama/Llama-3.1-8B) (2024) | 500,000 | 8,192 | 131,072: parts, factor 8 |
# | [DeepSeek-V3](https://arxiv.org/abs/2412.19437) (2024) | 10,000 | 4,096 | 131,072: YaRN, factor 40 |
#
# The factors are settings, not ratios of lengths. From these pages and configuration files, November 2026; Llama 2's base is from
# [Code Llama's paper](https://arxiv.org/abs/2308.12950).
#
# </details>
#
# ## Your experiment (extra)
#
# *Difficulty ★★☆, importance ●○○, about 7 minutes.* **Which pair does the small model need most?** Set the frequency of one pair at
# a time to 0, and take the mean of `losses_at(frequencies, texts[:, :96])`. Your finding is the pair with the highest loss, counted
# from 0.

# %% tags=["experiment"]
frequencies = rope_frequencies(24)  # (12,)

# Your code: the loss with each pair stopped

finding = ...  # the number of a pair

# %%
check("experiment", finding)

# %% [markdown]
# ## The model so far (extra)
#
# Your `RotarySelfAttention` joins the model that grows from lesson 3 to lesson 8.

# %% tags=["picture"]
# @title The model so far, and what its letters attend to
from course import staged_model

figures.show(figures.staged_model.built_so_far(staged_model.current_model()))

# %% [markdown]
# ## Summary
#
# 1. Attention without positions is order-blind: scramble its input, and it only scrambles its output.
# 2. Positions can be added to the words, learned or as sinusoids.
# 3. RoPE turns pair $i$ of a head's query or key at position $m$ by $m\,\theta_i$. It never turns values.
# 4. So a score depends on two vectors and their gap alone.
# 5. Fast pairs tell neighbours apart, slow ones near from far.
#
# $$ (\mathbf{R}_m \mathbf{q})^\top (\mathbf{R}_n \mathbf{k}) = \mathbf{q}^\top \mathbf{R}_{n-m}\, \mathbf{k} $$

# %% tags=["picture"]
# @title What you have built so far
figures.show(figures.rope.so_far(RotarySelfAttention, apply_rope))

# %% [markdown]
# In lesson 8 the whole model learns. **To read on:** Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762),
# section 3.5 · Su et al., [RoFormer](https://arxiv.org/abs/2104.09864), section 3 · Biderman et al.,
# [Rotary Embeddings](https://blog.eleuther.ai/rotary-embeddings/) · Peng et al., [YaRN](https://arxiv.org/abs/2309.00071).

# %%
progress()
