# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 5: The causal mask
#
# A language model is trained to predict the next word at every position of a text at once. So far each position sees all
# others, the next word included. **How do you block exactly what a query must not see, and how do you prove that nothing
# leaks?** A wrong mask raises no error; the loss only looks too good.
#
# **You will build** masks against the future and padding, a softmax and an attention that obey them, and a *leak detector*,
# which you try on unknown functions and on public mistakes.
#
# **You need** softmax (lesson 2), attention (lesson 3), its scale and dropout (lesson 4).
#
# **Time:** about 80 minutes, plus 35 for the parts marked *extra*
#
# Throughout the course, **True in a mask means blocked.** A mask $\mathbf{M}$ for $T$ queries and $S$ keys has the shape
# `(T, S)` and the entries $m_{ij}$.

# %%
import math
from collections.abc import Callable

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
    sample_models,
    sentence,
    sliders,
    small_lm,
    solution,
)
from torch import nn

begin("05_causal_mask")

# %% tags=["demo"]
# @title The part of attention that this lesson adds
figures.show(figures.overview("mask"))

# %% [markdown]
# ## Quiz: what came before
#
# **1.** Queries and keys have 64 independent entries of mean 0 and variance 1. What is the standard deviation of their
# scores?
#
# **2.** Softmax gives one key nearly all the weight. What reaches queries and keys in the backward pass?
#
# **3.** In training mode with dropout of 0.5, what becomes of a weight of 0.3 that is kept?

# %%
predict("quiz 1", ...)  # a number
predict("quiz 2", ...)  # "hardly any gradient", "a very large gradient" or "the gradient of that key alone"
predict("quiz 3", ...)  # a number

# %% [markdown]
# ## 1. Who may see whom
#
# In training, the whole sentence goes in at once. At *The* the model should predict *boat*, and at *boat* it should predict
# *reached*. So position $i$ may see the words 0 to $i$; every later word is an answer.
#
# $$ m_{ij} = \text{True if } j > i, \text{ else False} $$
#
# The query is at position $i$, the key at $j$. This is the **causal mask**, and attention that obeys it is called causal.

# %%
words = sentence.words  # The boat reached the river bank

print(" " * 8, *(f"{word:>8}" for word in words))
for i, word in enumerate(words):
    marks = ["✓" if j <= i else "✗" for j in range(len(words))]
    print(f"{word:>8}", *(f"{mark:>8}" for mark in marks))

# %% [markdown]
# In row 2, *reached* may see *The*, *boat* and itself. In all, $T(T+1)/2 = 21$ of the 36 cells are open.
#
# ### Predict: weights that never change
#
# Which word has the same weights, whatever its scores are?

# %%
# The word: "The", "bank" or "both"
predict("the word whose weights never change", ...)

# %% [markdown]
# ### When there are fewer queries than keys
#
# A trained model writes one word at a time, each from all the words before it; such a model is called **autoregressive**.
# Suppose it has stored the keys and values of *The boat reached the river*, in a **KV cache**. Now *bank* comes in. Only
# *bank* needs a query: $T = 1$, but $S = 6$.
#
# ### Predict: one query, six keys
#
# How many of the six keys does the formula show to this query, and how many should *bank* see?

# %%
# Shown and wanted: a list of two whole numbers
predict("the keys that are shown and wanted", ...)

# %% [markdown]
# The formula assumes that queries and keys *start* together. Here they *end* together: **the $T$ queries are the last $T$
# of $S$ positions**, so query $i$ is at position $S - T + i$.
#
# $$ m_{ij} = \text{True if } j > S - T + i, \text{ else False} $$
#
# If $T = S$, this is the first formula.
#
# ### Exercise 1: `causal_mask(T, S=None, device=None)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Build the mask of the last formula.
#
# - If $S < T$, raise a `ValueError` that names an argument and its value, such as `S is 3, which is less than T = 5`.
# - Make the mask on `device`. A model passes the device of its scores.
#
# **Worked example.** Of three queries and five keys, query 0 is at position 5 − 3 + 0 = 2 and sees the keys 0, 1 and 2.
# With 1 for True:
#
# $$ \mathbf{M} = \begin{pmatrix} 0 & 0 & 0 & 1 & 1 \\ 0 & 0 & 0 & 0 & 1 \\ 0 & 0 & 0 & 0 & 0 \end{pmatrix} $$


# %% nbgrader={"grade": false, "grade_id": "causal_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_mask(T: int, S: int | None = None, device: torch.device | str | None = None) -> torch.Tensor:
    """Which keys are after each query: a bool tensor (T, S) on `device`, True = blocked.

    The T queries are the last T of the S positions; S is T by default, device is PyTorch's default.
    Raises ValueError if S < T, an S of 0 included; the message names the argument and its value.
    """
    ### BEGIN SOLUTION
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}: the queries are the last T positions")
    query_position = torch.arange(S - T, S, device=device)  # (T,)
    key_position = torch.arange(S, device=device)  # (S,)
    return key_position > query_position[:, None]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_causal_mask", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(causal_mask)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(causal_mask)
### END HIDDEN TESTS

# %% tags=["demo"]
# @title Tables of ticks and crosses for six, two and one query
figures.show(figures.masks.three_sizes(causal_mask, words))

# %% [markdown]
# The smaller tables are the last rows of the large one. `F.scaled_dot_product_attention(…, is_causal=True)` aligns the
# *starts* instead; a proposal to change this has been open since 2023
# ([pytorch#108108](https://github.com/pytorch/pytorch/issues/108108)). Compare both while the sentence grows and only its
# newest word has a query:


# %% tags=["demo"]
# @title A slider: the sentence grows, and one query asks for its newest word
sliders.slider(figures.masks.newest_word, causal_mask, words)

# %% [markdown]
# If the starts are aligned, every new word sees only *The*. There is no error, no NaN and no leak, but a model that was
# good in training writes nonsense.
#
# ## 2. Padding
#
# The short sentences of a batch are filled up with a meaningless token, called **padding**. No query should see it.

# %%
batch = [words, "The boat reached it".split(), "The bank".split()]
lengths = torch.tensor([len(text) for text in batch])  # (B,)

# %% tags=["demo"]
# @title The batch, drawn
figures.show(figures.masks.sentences(batch, lengths.tolist(), 6))

# %% [markdown]
# What is blocked here depends on the sentence, not on the query. If $\ell_b$ is the length of sentence $b$:
#
# $$ m_{bj} = \text{True if } j \ge \ell_b, \text{ else False} $$
#
# This is the **padding mask**. Scores of `B` sentences and `H` heads (lesson 6) have the shape `(B, H, T, S)`, so a mask of
# the shape `(B, 1, 1, S)` broadcasts over heads and queries.
#
# ### Exercise 2: `padding_mask(lengths, S)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# Build this mask. A sentence without words has the length 0, and its row is all True.
#
# **Worked example.** Lengths (1, 3) and $S = 3$ give the rows (0, 1, 1) and (0, 0, 0), in a tensor of shape (2, 1, 1, 3).


# %% nbgrader={"grade": false, "grade_id": "padding_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def padding_mask(lengths: torch.Tensor, S: int) -> torch.Tensor:
    """Which positions hold padding: True at positions at or past each length.

    lengths: int64 (B,), each from 0 to S. Returns bool (B, 1, 1, S), on the device of `lengths`.
    """
    ### BEGIN SOLUTION
    position = torch.arange(S, device=lengths.device)  # (S,)
    return (position >= lengths[:, None])[:, None, None, :]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_padding_mask", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(padding_mask)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(padding_mask)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: the shape of both masks
#
# A key is blocked if it is in the future *or* is padding, so `|` combines the masks. `causal` has the shape `(6, 6)`,
# `padding` has `(3, 1, 1, 6)`. What is the shape of `causal | padding`?

# %%
# A list of whole numbers
predict("the shape of both masks", ...)

# %% [markdown]
# ### Step: both masks at once
#
# *Step ★☆☆ · about 2 minutes.* Combine both masks for sentences that are padded to `T` positions.
#
# **Worked example.** For the lengths (2, 3) and $T = 3$, row 2 of sentence 0 is (0, 0, 1): key 2 is padding. Row 2 of
# sentence 1 is (0, 0, 0).


# %%
def decoder_mask(lengths: torch.Tensor, T: int) -> torch.Tensor:
    """True where a key is after its query, or is padding. lengths: int64 (B,). Returns bool (B, 1, T, T)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(decoder_mask)

# %% tags=["demo"]
# @title Both masks together, for each of the three sentences
figures.show(figures.masks.both_masks(decoder_mask, lengths))

# %% [markdown]
# In the last rows of the short sentences, the query is padding. That does no harm: no word sees these positions, and the
# loss leaves them out. Do not block these *rows*; the next section shows why.
#
# ## 3. From a mask to weights
#
# A blocked key gets a weight of exactly 0. The other weights sum to 1, as if blocked keys did not exist:
#
# $$ a_{ij} = \frac{e^{s_{ij}}}{\sum_{k \text{ not blocked}} e^{s_{ik}}} \text{ if } j \text{ is not blocked}, \quad
#    a_{ij} = 0 \text{ if it is} $$
#
# Here $s_{ij}$ is the score of query $i$ and key $j$. Usually, blocked scores are replaced by a number that softmax turns
# into 0.
#
# ### Predict: which number?
#
# Four keys have the scores (2, 1, −1, 3), and the last one is blocked. Which of `0`, `-1e-12`, `-1e9` and `-inf`, in place
# of the 3, make its weight 0 to four decimal places?

# %%
# The numbers: "all", "all but 0", "-1e9 and -inf" or "-inf"
predict("the numbers that block a key", ...)

# %%
scores = torch.tensor([2.0, 1.0, -1.0, 3.0])
blocked = torch.tensor([False, False, False, True])
for fill in (0.0, -1e-12, -1e9, -torch.inf):
    weights = torch.softmax(torch.where(blocked, fill, scores), dim=-1)
    print(f"{fill:>8g}:  ", *(f"{w:8.4f}" for w in weights.tolist()))

# %% [markdown]
# A score of 0 is not "no score": $e^0 = 1$ is more than the $e^{-1}$ of key 2. And −1e9 works only while the other scores
# are higher; among scores of −2e9 it would win. In float16, whose largest number is 65504, −1e9 raises an overflow error
# ([apex#1052](https://github.com/NVIDIA/apex/issues/1052)).
#
# Lower the fill, then make the scores five times as large. Beyond the orange stairs is the future. Above each map is the
# largest share that it gets of any row.


# %%
def example_scores(T=6, K=4, seed=4):
    """Scaled scores (T, T) of T random queries with T random keys."""
    generator = torch.Generator().manual_seed(seed)
    query, key = torch.randn(2, T, K, generator=generator)
    return query @ key.T / K**0.5


# %% tags=["demo"]
# @title A slider: the fill and the size of the scores, and what gets through
mask = causal_mask(6)
sliders.slider(figures.masks.let_through, mask, example_scores())

# %% [markdown]
# Only −∞ works for all scores.
#
# ### Step: fill, then softmax
#
# *Step ★☆☆ · about 2 minutes.* Replace blocked scores by −∞ (with `masked_fill`), then take the softmax of each row. Every
# row has an open key.
#
# **Worked example.** Scores (0, $\ln 3$, 5) with only the last one blocked give the weights (1/4, 3/4, 0).


# %%
def fill_and_softmax(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Softmax over the last dimension, blocked scores replaced by -inf. scores, mask: (T, S). Returns (T, S)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(fill_and_softmax)

# %% [markdown]
# ### A row with nothing to see
#
# A query may see *nothing*: in a sentence of length 0, with padding on the left, or through a mask made by hand. All
# exponentials are then $e^{-\infty} = 0$, and softmax computes 0 / 0.
#
# ### Predict: one row of NaN
#
# Query 0 of three sees nothing, so its weights are NaN. The loss uses only the *other two* rows. Queries, keys and values
# are all `tokens @ W`. The gradient of `W` has four entries. How many are numbers, not NaN?

# %%
# A number from 0 to 4
predict("the entries of the gradient that are numbers", ...)


# %%
def gradient_of_w(softmax_of):
    """The loss without the fully blocked row 0, and its gradient with respect to W."""
    tokens = torch.tensor([[1.0, 0.5], [0.2, -1.0], [0.7, 0.3]])
    mask = torch.tensor([[True, True, True], [False, False, False], [False, False, False]])
    W = torch.eye(2, requires_grad=True)
    q = k = v = tokens @ W
    output = softmax_of(q @ k.T, mask) @ v
    loss = output[1:].square().sum()  # row 0 is not in it
    loss.backward()
    return loss.item(), W.grad


loss, gradient = gradient_of_w(lambda scores, mask: torch.softmax(scores.masked_fill(mask, -torch.inf), dim=-1))
print(f"loss: {loss:.3f}   gradient of W: {gradient.tolist()}")

# %% [markdown]
# The loss is an ordinary number, but the gradient is NaN. In the backward pass, the gradient of row 0 is 0, and 0 times its
# NaN weights is NaN, which reaches every value. One blocked row in one sentence ruins the training step, and with it the
# model.
#
# In PyTorch 2.13, `nn.MultiheadAttention` still returns NaN for such a row if you ask for its weights;
# `F.scaled_dot_product_attention` has returned 0 since PyTorch 2.5
# ([pytorch#103963](https://github.com/pytorch/pytorch/issues/103963)). In this course, **a fully blocked row has weights of
# 0, an output of 0 and a gradient of 0.**
#
# ### Exercise 3: `masked_softmax(scores, mask)`
#
# *Difficulty ★★★ · about 12 minutes*
#
# Compute the softmax of what is not blocked, over the last dimension.
#
# - The mask broadcasts: scores may be `(B, H, T, S)`, and the mask `(T, S)` or `(B, 1, 1, S)`.
# - All scores are finite, but may be as large as ±1e15.
# - Fully blocked rows are 0, and no output and no gradient is NaN. You may use `torch.softmax`.
#
# **Worked example.** Scores (0, $\ln 3$, 5), all blocked, give (0, 0, 0).


# %% nbgrader={"grade": false, "grade_id": "masked_softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def masked_softmax(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Softmax over the last dimension of what is not blocked; blocked entries, and fully blocked rows, are 0.

    scores: (..., T, S), finite. mask: bool, broadcasts to scores, True = blocked. Returns (..., T, S).
    """
    ### BEGIN SOLUTION
    empty = mask.all(dim=-1, keepdim=True)  # rows with nothing to see
    seen = scores.masked_fill(mask & ~empty, float("-inf"))  # such rows keep their scores: no NaN anywhere
    return torch.softmax(seen, dim=-1).masked_fill(mask, 0.0)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_masked_softmax", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(masked_softmax)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(masked_softmax)
### END HIDDEN TESTS

# %% [markdown]
# Two pictures show your function at work. In the second, the whole row of the second *the*, position 3, is blocked as well.

# %% tags=["demo"]
# @title Scores, masked scores and weights, side by side
mask = causal_mask(6)
scores = sentence.x @ sentence.x.T / 3**0.5
drawn = figures.masks.before_and_after(scores, mask, masked_softmax(scores, mask), words)
figures.show(drawn)

# %% tags=["demo"]
# @title A row that is fully blocked, before and after the repair
drawn = figures.masks.blocked_row([fill_and_softmax, masked_softmax], scores, mask, gradient_of_w, words)
figures.show(drawn)

# %% [markdown]
# ## 4. Attention with a mask
#
# For queries $\mathbf{Q}$ `(T, K)`, keys $\mathbf{K}$ `(S, K)`, values $\mathbf{V}$ `(S, V)` and a mask $\mathbf{M}$
# `(T, S)`, weights and output are
#
# $$ \mathbf{A} = \text{masked softmax}\left( \frac{\mathbf{Q} \mathbf{K}^\top}{\sqrt{d_k}},\; \mathbf{M} \right),
#    \qquad \mathbf{O} = \mathbf{A} \mathbf{V} $$
#
# The scale is that of lesson 4; $d_k$ is the width of a query.
#
# ### Exercise 4: `masked_attention(query, key, value, mask=None)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Return output and weights. `mask=None` blocks nothing. You may call your own exercises, but not PyTorch's attention
# functions.
#
# **Worked example.** One query (2, 0, 0, 0), so $\sqrt{d_k} = 2$, and two keys (1, 0, 0, 0) and (4, 0, 0, 0) with the
# values (5,) and (7,). The scaled scores are (1, 4). If the second key is blocked, the weights are (1, 0) and the output is
# (5,). If both are, the weights are (0, 0) and the output is (0,).


# %% nbgrader={"grade": false, "grade_id": "masked_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def masked_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scaled dot-product attention, blocked where `mask` is True.

    query: (..., T, K), key: (..., S, K), value: (..., S, V), mask: bool, broadcasts to (..., T, S).
    Returns (output (..., T, V), weights (..., T, S)); both are 0 in rows that are fully blocked.
    """
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (..., T, S)
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ value, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_masked_attention", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(masked_attention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(masked_attention)
### END HIDDEN TESTS

# %% [markdown]
# ### Bidirectional and causal
#
# A model that reads finished sentences, such as BERT, looks in both directions; it is called an **encoder**. A model that
# *writes*, such as a large language model, sees only what is before; it is called a **decoder**.


# %%
def example_tokens(T=6, D=4, seed=8):
    """A sentence of T random tokens (T, D)."""
    return torch.randn(T, D, generator=torch.Generator().manual_seed(seed))


# %% tags=["demo"]
# @title Weights without a mask and with one
mask = causal_mask(6)
drawn = figures.masks.without_and_with(masked_attention, mask, sentence.x, words)
figures.show(drawn)

# %% [markdown]
# *bank* sees everything either way. In the other rows, the remaining weights grow in proportion.
#
# ## 5. Two opposite conventions
#
# PyTorch has two attention functions that take a boolean mask, and they read it in opposite ways:
#
# | | True means |
# |---|---|
# | `nn.MultiheadAttention(…)(…, attn_mask=m)` | **blocked** |
# | `F.scaled_dot_product_attention(…, attn_mask=m)` | **may be seen** |
#
# `nn.Transformer` and this course follow the first, Keras and JAX the second. Neither function notices a mask made for the
# other, because shape and dtype are the same.
#
# ### Predict: forget the `~`
#
# Give our causal mask to `F.scaled_dot_product_attention` unchanged. What does *The* see?

# %%
# The word sees: "only itself", "everything after itself" or "everything"
predict("what the first word sees", ...)

# %%
mask = causal_mask(6)
x = sentence.x[None]  # (1, 6, 3)

module = nn.MultiheadAttention(embed_dim=3, num_heads=1, bias=False, batch_first=True)
with torch.no_grad():  # projections that change nothing, so that only attention is left
    module.in_proj_weight.copy_(torch.eye(3).repeat(3, 1))
    module.out_proj.weight.copy_(torch.eye(3))

identity = torch.eye(6)[None]  # with these values, the output is the weights
by_module = module(x, x, x, attn_mask=mask)[1][0]
by_function = F.scaled_dot_product_attention(x, x, identity, attn_mask=mask)[0]
negated = F.scaled_dot_product_attention(x, x, identity, attn_mask=~mask)[0]
print(f"the function, given ~mask, differs from the module by {(negated - by_module).abs().max():.0e}")

# %% tags=["demo"]
# @title The same mask, given to both: two pictures
drawn = figures.masks.both_conventions(by_module, by_function, masked_attention(x, x, x, mask)[1][0], mask, words)
figures.show(drawn)

# %% [markdown]
# On the right, *The* sees all that it must not see, and *bank* sees nothing. (`nn.MultiheadAttention` takes padding as
# `key_padding_mask`, of shape `(B, S)`, True = blocked.)
#
# ### Step: a mask to add (extra)
#
# *Step ★☆☆ · about 2 minutes.* A third convention is a floating-point mask, which is *added* to the scores: 0 where a key
# may be seen, −∞ where it is blocked. Both PyTorch functions agree on it. Make one from a boolean mask.
#
# **Worked example.** (False, True) becomes (0, −∞).


# %%
def additive_mask(mask: torch.Tensor) -> torch.Tensor:
    """0 where `mask` is False, -inf where it is True (blocked). mask: bool, any shape. Returns float32, same shape."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(additive_mask)

# %% tags=["demo"]
added = additive_mask(mask)
moved = module(x, x, x, attn_mask=added)[1][0] - F.scaled_dot_product_attention(x, x, identity, attn_mask=added)[0]
print(f"with a mask to add, module and function differ by {moved.abs().max():.0e}")

# %% [markdown]
# ## 6. Catch a leak
#
# Let $f$ be any function from tokens $\mathbf{X}$ `(T, D)` to outputs of the same shape. It is causal if output $i$ does
# not depend on the inputs after $i$. With $\mathbf{x}_j$ for row $j$ of $\mathbf{X}$:
#
# $$ \frac{\partial f(\mathbf{X})_i}{\partial \mathbf{x}_j} = \mathbf{0} \quad \text{for all } j > i $$
#
# You can test this without reading the code: change a later input, and see whether an earlier output moves.


# %%
def first_draft(attention, x):
    """Whether a change of the last token changes any earlier output."""
    changed = torch.cat([x[:-1], x[-1:] + 1.0])
    return not torch.allclose(attention(changed)[:-1], attention(x)[:-1], atol=1e-5)


print("every position sees the last one:", first_draft(lambda x: x + x[-1], example_tokens()))
print("every position sees itself only: ", first_draft(lambda x: 2 * x, example_tokens()))

# %% [markdown]
# ### Predict: the blind spot
#
# Which of these leaks does the draft miss?

# %%
# The leak: "all positions see the last", "position 0 sees position 1" or "position 4 sees position 5, the last"
predict("the leak that the draft misses", ...)

# %% [markdown]
# Three more ideas sound good, but fail:
#
# - *Fill the future with NaN, and see whether it spreads.* It always does, because 0 × NaN is NaN.
# - *Sum the entries of each output, and differentiate the sum.* A leak may raise one entry and lower another. After a layer
#   norm (lesson 8) the sum is always 0, and so is its gradient.
# - *Cut the text off after $i$, and compare.* The function may not accept a shorter text.
#
# ### Exercise 5: `sees_the_future(attention, x)`
#
# *Difficulty ★★★ · about 15 minutes*
#
# Find out whether *any* output depends on *any* later input.
#
# - The function is differentiable, and takes only inputs of the shape of `x`.
# - A leak is never tiny: some output entry changes by at least 1e-4 times the change of a later input entry. There may be
#   only one such pair of entries.
# - Return a plain `True` or `False`, and leave `x` unchanged.
#
# **Worked example.** $T = 3$, and a function adds to each token 0.001 times the token after it, where there is one. Change
# token 2 by 1, and output 1 moves by 0.001: `True`. A function that adds the token *before*: `False`. Any function with
# $T = 1$: `False`, since no input is later.


# %% nbgrader={"grade": false, "grade_id": "sees_the_future", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sees_the_future(attention: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> bool:
    """Whether any output of `attention` depends on a later input.

    attention: maps (T, D) to (T, D), differentiable. x: (T, D), left unchanged.
    """
    ### BEGIN SOLUTION
    jacobian = torch.autograd.functional.jacobian(attention, x.detach())  # (T, D, T, D)
    influence = jacobian.abs().amax(dim=(1, 3))  # (T, T): of input j on output i
    return bool((influence.triu(1) > 1e-5).any())
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_sees_the_future", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(sees_the_future)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(sees_the_future)
### END HIDDEN TESTS

# %% [markdown]
# ### Eight suspects
#
# Here are eight attention functions, A to H.

# %%
for letter in sample_models.SUSPECTS:
    verdict = "LEAKS" if sees_the_future(sample_models.suspect(letter), example_tokens()) else "clean"
    print(f"  {letter}  {verdict}")

# %% [markdown]
# ### Step: who sees whom (extra)
#
# *Step ★★☆ · about 5 minutes.* A map says more than a verdict. Measure the mask of a function: a bool `(T, T)`, True where
# input $j$ does *not* move output $i$. Include the pairs $i = j$. Effects are as large as in exercise 5.
#
# **Worked example.** $T = 2$, and the function adds token 0 to token 1. Row 0 is (False, True), because input 1 does not
# move output 0. Row 1 is (False, False).


# %%
def who_sees_whom(attention: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """The mask of a function, measured: True where output i does not depend on input j.

    attention: maps (T, D) to (T, D), differentiable. x: (T, D). Returns bool (T, T).
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(who_sees_whom)

# %% tags=["demo"]
# @title The eight suspects, measured
figures.show(figures.masks.suspects(who_sees_whom, example_tokens()))

# %% [markdown]
# F blocks the diagonal, yet most of it is ticked, because each token makes the query of its own output. In its last two
# rows, F leaves at most one key open, so the query makes no difference. Decide what is wrong with each suspect, then unfold.
#
# <details><summary>What the suspects do</summary>
#
# | | leaks | what it does |
# |---|---|---|
# | A | yes | lowers blocked scores by 6. Its weights on the future are below 0.001, shown as 0.00 |
# | B | no | causal attention |
# | C | yes | keeps its keys in a buffer with two unused entries, and aligns the mask with the end of the *buffer* |
# | D | yes | sets weights to 0 after the softmax: the future acts through the denominator |
# | E | yes | reads the first three tokens in both directions. For a prompt this may be intended (a *prefix language model*); elsewhere it is a bug |
# | F | yes | the mask inverted |
# | G | yes | the diagonal one position too far to the right |
# | H | no | aligns the later half of its queries with the first keys, so they see too few |
#
# The first draft misses E, because its last token does not leak. H shows what a leak detector *cannot* find: a key that
# should be seen, but is not. To read the code of one:
# `import inspect; print(inspect.getsource(sample_models.SUSPECTS["A"]))`.
#
# </details>
#
# ## 7. A mask that is lost in training
#
# Dropout sets random weights to 0 after the softmax, in training mode only (lesson 4). Here is a causal layer with dropout:


# %%
class CausalLayer(nn.Module):
    """Attention without projections: causal, with dropout on the weights."""

    def forward(self, x):  # (T, D) -> (T, D)
        future = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
        scores = (x @ x.mT / x.shape[-1] ** 0.5).masked_fill(future, -torch.inf)
        return F.dropout(torch.softmax(scores, dim=-1), p=0.2, training=self.training) @ x


# %% [markdown]
# ### Predict: the draft and dropout
#
# Its mask is right. What does `first_draft` say about it in training mode?

# %%
# The verdict: "leaks" or "clean"
predict("the verdict on dropout", ...)

# %%
torch.manual_seed(0)
print("leaks:", first_draft(CausalLayer().train(), example_tokens()))

# %% [markdown]
# ### Step: make it repeatable (extra)
#
# *Step ★★☆ · about 3 minutes.* Return a function that calls `torch.manual_seed(seed)` before every call of the layer.
#
# **Worked example.** `f = repeatable(nn.Dropout(0.5), seed=3)` drops the same entries of `x` in each call `f(x)`.


# %%
def repeatable(layer: Callable[[torch.Tensor], torch.Tensor], seed: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """A function that calls the layer with the same random numbers each time."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(repeatable)

# %% [markdown]
# ### A bug that shipped
#
# This layer has separate code for training mode. Find the mistake:


# %%
class HurriedLayer(nn.Module):
    """As `CausalLayer`, by the fused function where that is possible."""

    def forward(self, x):
        if not self.training:
            return F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True)[0]
        scores = x @ x.mT / x.shape[-1] ** 0.5
        return F.dropout(torch.softmax(scores, dim=-1), p=0.2) @ x


# %% tags=["demo"]
for layer in (CausalLayer(), HurriedLayer()):
    for mode in ("training", "eval"):
        verdict = (
            "LEAKS" if sees_the_future(repeatable(layer.train(mode == "training"), 0), example_tokens()) else "clean"
        )
        print(f"{type(layer).__name__:13} in {mode:8} mode: {verdict}")

# %% [markdown]
# The code for training has no mask, but all tests in eval mode pass. In June 2026, a user found a related bug in Keras:
# with dropout, its layer took a code path without the causal mask
# ([keras#23038](https://github.com/keras-team/keras/issues/23038)).
#
# ### Predict: the symptom
#
# You train a model with `HurriedLayer`, and compare its loss in training mode with its loss on other text in eval mode.
# What do you see?

# %%
# The symptom: "overfitting", "learning too slowly" or "nothing unusual"
predict("the symptom of a mask lost in training", ...)

# %% [markdown]
# So run the detector in *both* modes. More bugs that shipped are in the notebook `bug_museum.ipynb`.
#
# ## 8. What a leak does to learning
#
# Suspect A gives about a thousandth of a row's weight to the future. Does that matter? Train on text from which nothing can be
# learned: every token is drawn at random from 8. The best honest loss is $\ln 8 = 2.08$; a model with a lower one sees the
# future. (`F.cross_entropy` is the loss of lesson 2; Adam is from lesson 4.)


# %%
class Guesser(nn.Module):
    """One attention layer that predicts the next of N tokens at each of T positions; `attend` decides who sees whom."""

    def __init__(self, attend, T=12, N=8, D=32):
        super().__init__()
        self.attend = attend
        self.tokens, self.positions = nn.Embedding(N, D), nn.Embedding(T, D)
        self.W_q, self.W_k, self.W_v = (nn.Linear(D, D, bias=False) for _ in range(3))
        self.guess = nn.Linear(D, N)

    def forward(self, ids):  # (B, T) -> (B, T, N)
        x = self.tokens(ids) + self.positions.weight
        return self.guess(x + self.attend(self.W_q(x), self.W_k(x), self.W_v(x)))


def train_on_noise(attend, steps=250, seed=0):
    """A model trained on tokens that are drawn at random for every step, and its loss at each step."""
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    model = Guesser(attend)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        ids = torch.randint(8, (64, 13), generator=generator)
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


# %% [markdown]
# ### Predict: three losses
#
# One model has a right mask, one sees one key too many, and one lowers blocked scores by 6, as suspect A does. Which losses
# fall well below $\ln 8$?

# %%
# The losses that fall: "none", "one key too many" or "both leaks"
predict("the losses that fall", ...)

# %% tags=["demo"]
mask = causal_mask(12)


def causal(query, key, value):
    return masked_attention(query, key, value, mask)[0]


def lowered_by_6(query, key, value):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    return torch.softmax(scores - 6.0 * mask, dim=-1) @ value


trained = {
    "right mask": train_on_noise(causal),
    "lowered by 6": train_on_noise(lowered_by_6),
    "one key too many": train_on_noise(lambda q, k, v: masked_attention(q, k, v, mask.triu(2))[0]),
    "no mask": train_on_noise(lambda q, k, v: masked_attention(q, k, v)[0]),
}
runs = {name: losses for name, (model, losses) in trained.items()}

# %% tags=["demo"]
# @title The losses of the models
figures.show(figures.masks.on_noise(runs))

# %% [markdown]
# With one key too many, the loss falls in a few steps. It stays above 0, because the last answer is not in the input. The
# small leak seems harmless at first. But its gradient raises the scores of the next token until they outweigh the −6:
# **training finds even a small leak.**
#
# Test your own models on noise, too.
#
# ### Step: accuracy by position (extra)
#
# *Step ★☆☆ · about 2 minutes.* Return, for each position, the share of sentences in which the target has the highest logit.
#
# **Worked example.** Two sentences of one position, with the logits (0, 5) and (1, 0) and the targets 1 and 1: only the
# first is right, so the result is (0.5).


# %%
def accuracy_by_position(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The share of right predictions at each position. logits: (B, T, N). targets: int64 (B, T). Returns (T,)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(accuracy_by_position)

# %% [markdown]
# ### Predict: 100 % accuracy
#
# The model without a mask predicts random tokens with 100 % accuracy, at all but one of the 12 positions. Which one?

# %%
# The position: a whole number
predict("the position that fails", ...)

# %% tags=["demo"]
# @title Accuracy at each position, without a mask and with one
ids = torch.randint(8, (1000, 13), generator=torch.Generator().manual_seed(1))
drawn = figures.masks.accuracies(
    accuracy_by_position, {name: trained[name][0] for name in ("no mask", "right mask")}, ids
)
figures.show(drawn)

# %% [markdown]
# Only the last position has to predict, because its answer is not in the input. And when a model writes, only the last
# position counts. So 100 % accuracy is bad news.
#
# A mask lost only in training has the same effect. Here the trained model gets a right mask, as in eval mode:

# %% tags=["demo"]
model, losses = trained["no mask"]
model.attend = causal  # as in eval mode
with torch.no_grad():
    in_eval_mode = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()).item()
print(f"loss in training mode {losses[-1]:.2f}, in eval mode {in_eval_mode:.2f}; guessing costs {math.log(8):.2f}")

# %% [markdown]
# That looks like overfitting. But every step drew new sentences, so there was nothing to overfit to.

# %% [markdown]
# %%answer what_a_mask_hides

# %% [markdown]
# ## 9. The small language model without its mask
#
# First, run the model with your functions in place of its own. Its loss should not change.

# %% tags=["demo"]
lm = small_lm.load()
losses = [
    lm.compare(mask=causal_mask),
    lm.compare(masked_softmax=masked_softmax),
    lm.compare(masked_attention=masked_attention),
]

# %% [markdown]
# ### Predict: take its mask away
#
# Block nothing, so that the trained model sees every answer. Its loss becomes …

# %%
# The loss becomes: "lower", "higher" or "the same"
predict("the loss without a mask", ...)


# %% tags=["demo"]
def nothing_blocked(T):
    return torch.zeros(T, T, dtype=torch.bool)


losses = lm.compare(mask=nothing_blocked)

# %% [markdown]
# The model has never learned to read answers. So train it further without a mask, as in section 8. This takes some
# seconds.

# %% tags=["demo"]
from dataclasses import replace

without = replace(small_lm.BUILT_IN, mask=nothing_blocked)  # the model's parts, the mask aside


def rows(text):
    ids = lm.encode(text)
    return ids[: len(ids) // 24 * 24].view(-1, 24)  # (B, T)


@torch.no_grad()
def accuracy(ids, parts):
    return (cheat(ids, parts)[:, :-1].argmax(-1) == ids[:, 1:]).float().mean().item()


@torch.no_grad()
def write(parts, text="The boat reached the river", count=20):
    ids = lm.encode(text).tolist()
    for _ in range(count):
        ids.append(int(cheat(torch.tensor(ids), parts)[-1].argmax()))
    return lm.decode(ids)


cheat = small_lm.load()
stories, unseen = rows(small_lm.generate_stories(2000, seed=5)), rows(small_lm.held_out())
print(f"with its mask: accuracy {accuracy(unseen, small_lm.BUILT_IN):.0%} on unseen text")
print("  ", write(small_lm.BUILT_IN))

cheat.requires_grad_()
optimizer = torch.optim.Adam(cheat.parameters(), lr=3e-3)
generator = torch.Generator().manual_seed(0)
for _ in range(101):
    loss = cheat.losses(stories[torch.randint(len(stories), (16,), generator=generator)], without).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(
    f"trained without: loss {loss.item():.3f}, accuracy {accuracy(stories, without):.0%}, "
    f"on unseen text {accuracy(unseen, without):.0%}"
)
print("  ", write(without))

# %% [markdown]
# Its accuracy has risen even on unseen text, but it can no longer write: it copies the next word, and at the last position
# there is none.
#
# ## Your experiment (extra)
#
# *Experiment ★★☆ · about 8 minutes.* **Which earlier words does the small model need?** Besides the future, hide one key
# from every query: the one at the distance $d = i - j$. Plot the held-out loss for $d$ from 0 to 10 with
# `figures.curves(distances, {"loss": losses})`. What is the smallest distance whose hidden key raises the loss by less than
# 0.1 nats? (With $d = 0$, row 0 is fully blocked, so pass `masked_softmax` to `compare` as well.)

# %%
distances = torch.arange(11)


def hide(d):
    """A function T -> mask (T, T): the future is blocked, and the key at distance d."""
    raise NotImplementedError  # replace this line


# Your code: lm.compare(mask=hide(d), masked_softmax=masked_softmax)[0] is the loss for one distance; then a plot

finding = ...  # the smallest distance whose key costs less than 0.1 nats

# %% tags=["demo"]
check("experiment", finding)

# %% [markdown]
# ## The model so far (extra)
#
# The model that grows from lesson 3 to lesson 8 gets the mask, and the attention that uses it.

# %% tags=["demo"]
# @title The model so far, and where its letters look
from course import staged_model

figures.show(figures.staged_model.built_so_far(staged_model.current_model()))

# %% [markdown]
# Now try your functions on a sentence that you type:

# %% tags=["demo"]
# @title Your mask and your softmax, alive
alive.show(softmax=masked_softmax, mask=causal_mask, head=3)

# %% [markdown]
# ## Challenge: `sliding_window(T, width, device=None)` (extra)
#
# *Challenge ★ · not graded · about 5 minutes*
#
# Most of what matters to a word is near it. In many models, most layers therefore see only the last few keys: a **sliding
# window**. Its cost grows with $T$ times the width instead of $T^2$. Words further back still have an effect through the
# layers.
#
# Return the mask `(T, T)`: query $i$ sees the `width` keys that end with its own, $i - \text{width} + 1, \dots, i$, as far
# as they exist. Raise a `ValueError` that names `width` if it is below 1.
#
# **Worked example.** Five letters, width 2: the first sees itself, every other one itself and the letter before. So nine
# cells are open.


# %%
def sliding_window(T: int, width: int, device: torch.device | str | None = None) -> torch.Tensor:
    """A causal mask (T, T), bool, True = blocked, through which each query sees the last `width` keys, its own included.

    ValueError if width < 1.
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(sliding_window)

# %% [markdown]
# ## Summary
#
# 1. A causal mask blocks every key after its query; the queries are the *last* $T$ of $S$ positions.
# 2. A padding mask blocks positions without a word; `|` combines masks.
# 3. Replace blocked scores by −∞ *before* the softmax.
# 4. In this course, a fully blocked row has weights 0, output 0 and gradient 0.
# 5. A function leaks if an output depends on a later input. Test this in training mode and in eval mode.
#
# $$ \mathbf{O} = \text{masked softmax}\left( \frac{\mathbf{Q} \mathbf{K}^\top}{\sqrt{d_k}},\; \mathbf{M} \right)
#    \mathbf{V}, \qquad m_{ij} = \text{True if } j > S - T + i $$

# %% tags=["demo"]
# @title What you have built so far
mask = causal_mask(6)
figures.show(figures.masks.so_far(masked_attention, mask, sentence.x))

# %% [markdown]
# **To read on:**
# [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.3, the origin of the mask ·
# [PyTorch's `scaled_dot_product_attention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html),
# documented with the whole computation in a dozen lines ·
# [the discussion of fully blocked rows](https://github.com/pytorch/pytorch/pull/131060) that led to PyTorch's zeros.
#
# In lesson 6 several attentions run side by side, and share one mask.

# %% tags=["demo"]
progress()
