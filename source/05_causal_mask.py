# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 5: The causal mask
#
# In lesson 0, a triangle hid the later words of one sentence. A model in training predicts the next word at every position at
# once, and a position that sees its answer copies it instead of learning. No error tells you; the loss only looks too good.
# **How do you block exactly what a query must not see, and find every leak?**
#
# **You will build** attention that obeys masks, and a *leak detector* for eight suspects.
#
# **You need** softmax (lesson 2), attention (3), its scale (4).
#
# **Time:**
#
# **In this course, True in a mask means blocked.** A mask $\mathbf{M}$ for $T$ queries and $S$ keys is `(T, S)`. Its entry
# $m_{ij}$ is for the query at position $i$ and the key at $j$.

# %%
import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sample_models, sentence, sliders, small_lm, solution
from course.models.noise import blocked_by_a_number, train_on_noise
from course.notebook import growth
from torch import nn

begin("05_causal_mask")

# %% [markdown]
# ## Quiz: what came before
#
# **1.** Queries and keys have 64 independent entries of mean 0 and variance 1. What is the standard deviation of their unscaled
# scores?

# %%
predict("quiz 1", ...)  # a number

# %% [markdown]
# ## 1. Each word sees only the past
#
# *The* has to predict *boat*, and *boat* has to predict *reached*. So position $i$ may see the words 0 to $i$, because every
# later word is an answer:
#
# $$ m_{ij} = \text{True if } j > i, \text{ else False} $$
#
# This is the **causal mask**: what is above the diagonal is blocked.

# %% tags=["code"]
words = sentence.words  # The boat reached the river bank

print(" " * 8, *(f"{word:>8}" for word in words))
for i, word in enumerate(words):
    marks = ["✓" if j <= i else "✗" for j in range(len(words))]
    print(f"{word:>8}", *(f"{mark:>8}" for mark in marks))

# %% [markdown]
# ### Exercise: `causal_mask(T)`
#
# *Difficulty ★☆☆, importance ●●●, about 3 minutes.*
#
# Build this mask for $T$ words.
#
# **Worked example.** For $T = 3$, with 1 for True:
#
# $$ \mathbf{M} = \begin{pmatrix} 0 & 1 & 1 \\ 0 & 0 & 1 \\ 0 & 0 & 0 \end{pmatrix} $$


# %% nbgrader={"grade": false, "grade_id": "causal_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_mask(T: int) -> torch.Tensor:
    """Which keys are after each query: a new bool tensor (T, T), True = blocked."""
    ### BEGIN SOLUTION
    position = torch.arange(T)
    return position > position[:, None]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_causal_mask", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(causal_mask)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(causal_mask)
### END HIDDEN TESTS

# %% [markdown]
# ## 2. From a mask to weights
#
# The obvious way is to set the weights of later words to 0. Here is the row of *reached*, for two different last words:


# %% tags=["code"]
def zeroed_afterwards(scores, mask):
    return torch.softmax(scores, dim=-1).masked_fill(mask, 0.0)


mask = causal_mask(6)
scores = sentence.x @ sentence.x.T / 3**0.5  # (6, 6); each word has 3 numbers
for name, change in {"bank": 0.0, "another word": 2.0}.items():
    changed = scores + change * torch.tensor([0, 0, 0, 0, 0, 1])  # the column of the last word
    row = zeroed_afterwards(changed, mask)[2]
    print(f"{name:>12}:", *(f"{weight:.2f}" for weight in row.tolist()), f"  sum {row.sum():.2f}")

# %% [markdown]
# No later value is used, and yet *reached* feels the last word, because every later score is still in the sum that softmax
# divides by. That is a **leak**: an output that depends on a later input. Blocked keys have to go *before* the softmax:
#
# $$ a_{ij} = \frac{e^{s_{ij}}}{\sum_{k \text{ not blocked}} e^{s_{ik}}} \text{ if } j \text{ is not blocked}, \quad
#    a_{ij} = 0 \text{ if it is} $$
#
# Here $s_{ij}$ is a score and $a_{ij}$ its weight. In code, you replace each blocked score by a number that softmax turns
# into 0.
#
# ### Predict: which number?
#
# Four keys have the scores (2, 1, −1, 3). Which of `0`, `-1e-12`, `-1e9` and `-inf`, in place of the 3, make the last weight 0
# to four decimal places?

# %%
# The numbers: "all", "all but 0", "-1e9 and -inf" or "-inf"
predict("the numbers that block a key", ...)

# %% tags=["code"]
four = torch.tensor([2.0, 1.0, -1.0, 3.0])
blocked = torch.tensor([False, False, False, True])
for fill in (0.0, -1e-12, -1e9, -torch.inf):
    print(f"{fill:>8g}:  ", *(f"{w:8.4f}" for w in torch.softmax(four.masked_fill(blocked, fill), dim=-1).tolist()))

# %% [markdown]
# A score of 0 has a weight, because $e^0 = 1$, and −1e9 works only while the other scores are higher. Lower the fill, then make
# the scores larger. Above each map is the most weight that any row gives the future:

# %% tags=["picture"]
# @title A slider for random scores: the fill, their size, and what gets through
query, key = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(4))
sliders.slider(figures.masks.let_through, mask, query @ key.T / 2)

# %% [markdown]
# Only −∞ works for all scores.
#
# ### Exercise: `masked_softmax(scores, mask)`
#
# *Difficulty ★☆☆, importance ●●○, about 3 minutes.*
#
# Replace blocked scores by −∞ (`masked_fill` returns a new tensor), then take the softmax of each row.
#
# **Worked example.** Scores (0, $\ln 3$, 5) with only the last one blocked give the weights (1/4, 3/4, 0).


# %%
def masked_softmax(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Softmax over the last dimension of what is not blocked; blocked weights are exactly 0.

    scores: (..., T, S), finite, up to ±1e15. mask: bool, broadcasts to scores, True = blocked; every row has an open
    key. Returns (..., T, S).
    """
    raise NotImplementedError  # replace this line


# %%
check(masked_softmax)

# %% tags=["picture"]
# @title Scores, masked scores and weights, side by side
figures.show(figures.masks.before_and_after(scores, mask, masked_softmax(scores, mask), words))

# %% [markdown]
# ## 3. Attention with a mask
#
# The mask joins lesson 4's attention. For queries $\mathbf{Q}$ `(T, Dk)`, keys $\mathbf{K}$ `(S, Dk)`, values $\mathbf{V}$
# `(S, Dv)` and $d_k$, which is `Dk`:
#
# $$ \mathbf{A} = \text{masked softmax}\left( \frac{\mathbf{Q} \mathbf{K}^\top}{\sqrt{d_k}},\; \mathbf{M} \right),
#    \qquad \mathbf{O} = \mathbf{A} \mathbf{V} $$
#
# ### A row with nothing to see
#
# If *all* keys of a query are blocked, as in an empty sentence, all exponentials are 0, and softmax computes 0 / 0.
#
# ### Predict: one row of NaN
#
# Query 0 of three sees nothing, so its weights are NaN, but the loss uses only the *other two* rows. Queries, keys and values are
# `tokens @ W`. How many of the four entries of the gradient of `W` are numbers, not NaN?

# %%
# A number from 0 to 4
predict("the entries of the gradient that are numbers", ...)

# %% tags=["code"]
tokens = torch.tensor([[1.0, 0.5], [0.2, -1.0], [0.7, 0.3]])
nothing = torch.tensor([[True], [False], [False]])  # row 0 is blocked
W = torch.eye(2, requires_grad=True)  # autograd keeps its gradient
x = tokens @ W
weights = torch.softmax((x @ x.mT).masked_fill(nothing, -torch.inf), dim=-1)
(weights @ x)[1:].square().sum().backward()  # row 0 is not in the loss
print(W.grad)

# %% [markdown]
# For the gradient of the values, the backward pass multiplies NaN weights by 0, and 0 × NaN is NaN. So one empty row ruins a
# training step. In this course, **a fully blocked row has weights of 0, an output of 0 and a gradient of 0.**

# %% tags=["picture"]
# @title Your `scaled_dot_product_attention` of lesson 4, to copy
growth.show("scaled_dot_product_attention")

# %% [markdown]
# ### Exercise: `masked_attention(query, key, value, mask=None)`
#
# *Difficulty ★★☆, importance ●●●, about 12 minutes.*
#
# Copy your attention, and add the mask. You may call your `masked_softmax`. Repair fully blocked rows.
#
# **Worked example.** One query (2, 0, 0, 0), so $\sqrt{d_k} = 2$; keys (1, 0, 0, 0) and (4, 0, 0, 0); values (5,) and (7,). The
# scaled scores are (1, 4). If the second key is blocked, the weights are (1, 0) and the output is (5,). If both are, all are 0.


# %% nbgrader={"grade": false, "grade_id": "masked_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def masked_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scaled dot-product attention, blocked where `mask` is True; None blocks nothing.

    query: (..., T, Dk), key: (..., S, Dk), value: (..., S, Dv), mask: bool, broadcasts to (..., T, S), or (S,) for all.
    Returns (output (..., T, Dv), weights (..., T, S)); both are 0 in rows that are fully blocked, and no gradient is
    NaN. Scores may be as large as the dtype can hold. PyTorch's own attention functions are not allowed.
    """
    ### BEGIN SOLUTION
    scores = query @ key.mT / query.shape[-1] ** 0.5  # (..., T, S)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        weights = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1).masked_fill(mask, 0.0)
    return weights @ value, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_masked_attention", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
check(masked_attention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(masked_attention)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title Your `scaled_dot_product_attention`, and what you added to it
growth.show("scaled_dot_product_attention", "masked_attention")

# %% tags=["code"]
W.grad, x = None, tokens @ W
masked_attention(x, x, x, nothing)[0][1:].square().sum().backward()
print(W.grad)

# %% [markdown]
# The repair may come after the softmax: `masked_fill` passes no gradient back to the scores that it replaced, and in an empty row
# that is all of them.
#
# ### Bidirectional and causal
#
# A model that reads finished sentences, such as BERT, looks in both directions and is called an **encoder**. One that *writes*,
# such as GPT, is called a **decoder**: when it writes, nothing comes after.

# %% tags=["picture"]
# @title Weights without a mask and with one
figures.show(figures.masks.without_and_with(masked_attention, mask, sentence.x, words))

# %% [markdown]
# ### Two opposite conventions (extra)
#
# PyTorch has two attention functions that take a boolean mask. In `nn.MultiheadAttention`, as here, True means **blocked**. In
# `F.scaled_dot_product_attention`, True means **may be seen**. Neither notices a mask that was made for the other.

# %% tags=["code"]
q, identity = sentence.x[None], torch.eye(6)[None]  # with these values, the output is the weights
for name, given in {"mask": mask, "~mask": ~mask}.items():
    row = F.scaled_dot_product_attention(q, q, identity, attn_mask=given)[0, 0]
    print(f'attn_mask={name:5}: "The" sees', *(word for word, weight in zip(words, row) if weight > 0))

# %% [markdown]
# ## 4. Fewer queries than keys
#
# A model that writes keeps the keys and values of *The boat reached the river* in a **KV cache**, to compute them only once. When
# *bank* comes in, only *bank* needs a query: $T = 1$, $S = 6$. By section 1 this query has $i = 0$ and sees only *The*. So count
# from the end: **the $T$ queries are the last $T$ of $S$ positions**, and query $i$ is at $S - T + i$.
#
# $$ m_{ij} = \text{True if } j > S - T + i, \text{ else False} $$
#
# ### Exercise: `last_queries_mask(T, S)`
#
# *Difficulty ★★☆, importance ●●●, about 5 minutes.*
#
# Build this mask.
#
# **Worked example.** Of three queries and five keys, query 0 is at position 5 − 3 + 0 = 2 and sees the keys 0, 1 and 2:
#
# $$ \mathbf{M} = \begin{pmatrix} 0 & 0 & 0 & 1 & 1 \\ 0 & 0 & 0 & 0 & 1 \\ 0 & 0 & 0 & 0 & 0 \end{pmatrix} $$


# %% nbgrader={"grade": false, "grade_id": "last_queries_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def last_queries_mask(T: int, S: int) -> torch.Tensor:
    """Which keys are after each query: bool (T, S), True = blocked. The T queries are the last T of the S positions."""
    ### BEGIN SOLUTION
    query_position = torch.arange(S - T, S)  # (T,)
    key_position = torch.arange(S)  # (S,)
    return key_position > query_position[:, None]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_last_queries_mask", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(last_queries_mask)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(last_queries_mask)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title Tables of ticks and crosses for six, two and one query
figures.show(figures.masks.three_sizes(last_queries_mask, words))

# %% [markdown]
# PyTorch's `is_causal=True` aligns the *starts*. There is no error and no leak, but a model that was good in training writes
# nonsense:

# %% tags=["picture"]
# @title A slider: the sentence grows, and one query asks for its newest word
sliders.slider(figures.masks.newest_word, last_queries_mask, words)

# %% [markdown]
# ## 5. Padding
#
# In a batch, short sentences are filled up with a meaningless token, called **padding**, which no query should see. Scores of `B`
# sentences and `H` heads (lesson 6) are `(B, H, T, S)`. So a **padding mask** `(B, 1, 1, S)` broadcasts, and `|` combines it
# with the causal mask:

# %% tags=["code"]
batch = [words, "The boat reached it".split(), "The bank".split()]
padding = torch.tensor([[j >= len(text) for j in range(6)] for text in batch])[:, None, None, :]
both = causal_mask(6) | padding
print(f"padding {tuple(padding.shape)}, causal {tuple(causal_mask(6).shape)}, both {tuple(both.shape)}")

# %% tags=["picture"]
# @title The batch, drawn
figures.show(figures.masks.sentences(batch, [len(text) for text in batch], 6))

# %% tags=["picture"]
# @title Both masks together, for each of the three sentences
figures.show(figures.masks.both_masks(both))

# %% [markdown]
# In short sentences, the last queries are padding. Their rows stay open, because the loss ignores them.
#
# ### Exercise: `padding_mask(lengths, S)` (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 6 minutes.*
#
# Build the padding mask for a whole batch, without a loop over positions. If $\ell_b$ is the length of sentence $b$, position
# $j$ is blocked where $j \ge \ell_b$. A sentence without words has the length 0.
#
# **Worked example.** Lengths (1, 3) and $S = 3$ give the rows (0, 1, 1) and (0, 0, 0), in a tensor of shape (2, 1, 1, 3).


# %%
def padding_mask(lengths: torch.Tensor, S: int) -> torch.Tensor:
    """Which positions hold padding: True at positions at or past each length.

    lengths: int64 (B,), each from 0 to S. Returns bool (B, 1, 1, S), on the device of `lengths`.
    """
    raise NotImplementedError  # replace this line


# %%
check(padding_mask)

# %% [markdown]
# ## 6. Catch a leak
#
# You can find a leak without reading code. A function from tokens `(T, D)` to outputs of the same shape is causal if output $i$
# depends only on the inputs 0 to $i$. So change a later input, and see whether an earlier output moves:


# %% tags=["code"]
def first_draft(attention, x):
    """Whether a change of the last token changes any earlier output."""
    changed = torch.cat([x[:-1], x[-1:] + 1.0])
    return not torch.allclose(attention(changed)[:-1], attention(x)[:-1], atol=1e-5)


tokens = torch.randn(6, 4, generator=torch.Generator().manual_seed(8))  # (T, D)
print("if every position sees the last one, it says", first_draft(lambda x: x + x[-1], tokens))
print("if every position sees itself only,  it says", first_draft(lambda x: 2 * x, tokens))

# %% [markdown]
# ### Predict: the blind spot
#
# Which of these leaks does the draft miss?

# %%
# The leak: "all positions see the last", "position 0 sees position 1" or "position 4 sees position 5, the last"
predict("the leak that the draft misses", ...)

# %% [markdown]
# Don't put NaN into the future: 0 × NaN is NaN, even where nothing leaks. And don't compare *sums*, in which one entry may rise
# while another falls.
#
# ### Exercise: `sees_the_future(attention, x)`
#
# *Difficulty ★★★, importance ●●○, about 15 minutes.*
#
# Find out whether *any* output depends on *any* later input. A leak may be of one input entry into one output entry. If the
# first changes by $c$, the second moves by at least $0.0001\,c$; without a leak, only by rounding.
#
# **Worked example.** A function adds to each of three tokens 0.001 times the next one, where there is one. If token 2 changes by
# 1, output 1 moves by 0.001: `True`. A function that adds the token *before*: `False`.


# %% nbgrader={"grade": false, "grade_id": "sees_the_future", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sees_the_future(attention: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> bool:
    """Whether any output of `attention` depends on a later input, as a plain True or False.

    attention: any function from (T, D) to (T, D); differentiable, takes any tensor of the shape of x. x: (T, D), left
    unchanged. With one token, no input is later.
    """
    ### BEGIN SOLUTION
    jacobian = torch.autograd.functional.jacobian(attention, x.detach())  # (T, D, T, D)
    influence = jacobian.abs().amax(dim=(1, 3))  # (T, T): of input j on output i
    return bool((influence.triu(1) > 1e-5).any())
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_sees_the_future", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(sees_the_future)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(sees_the_future)
### END HIDDEN TESTS

# %% [markdown]
# ### Eight suspects
#
# Which of these attention functions leak, and how?

# %% tags=["code"]
for letter in sample_models.SUSPECTS:
    print(f"  {letter}  {'LEAKS' if sees_the_future(sample_models.suspect(letter), tokens) else 'clean'}")

# %% tags=["picture"]
# @title The eight suspects, measured
figures.show(figures.masks.suspects(tokens))

# %% [markdown]
# <details><summary>What the suspects do (extra)</summary>
#
# - A lowers blocked scores by 6, so their exponentials are 403 times smaller, not 0.
# - B is right.
# - C keeps its keys in a buffer with two unused entries, and aligns the mask with the end of the *buffer*.
# - D sets weights to 0 after the softmax.
# - E reads the first three tokens in both directions. Its last token does not leak.
# - F inverts the mask: a token sees later ones, not itself. Query 4 has one open key, and query 5 none; the others
#   are ticked on the diagonal because a token makes its own query.
# - G has its diagonal one position too far to the right.
# - H aligns its later queries with the first keys, so they see too few. No leak detector finds that.
#
# </details>
#
# ## 7. A bug that shipped
#
# This layer takes a padding mask, and is causal without one:


# %% tags=["code"]
def layer(x, padding=None):
    mask = causal_mask(len(x)) if padding is None else padding
    return masked_attention(x, x, x, mask)[0]


nothing_padded = torch.zeros(6, dtype=torch.bool)
print("without a padding mask, leaks:", sees_the_future(layer, tokens))
print("with one, leaks:              ", sees_the_future(lambda x: layer(x, nothing_padded), tokens))

# %% [markdown]
# The padding mask *replaces* the causal one, where `|` should combine them. Tests without a padding mask pass. A library did
# this in training until July 2026; the clue was a loss of 3.93, *below* the 7.49 of a reference
# ([unsloth-zoo#963](https://github.com/unslothai/unsloth-zoo/pull/963)).
#
# ## 8. What a leak does to learning
#
# Does a tiny leak matter? Train one attention layer on tokens drawn at random from 8. The best honest loss is
# $\ln 8 = 2.08$, because nothing can be learned.
#
# Hugging Face's GPT-2 set blocked scores to −10,000. In 2022, in a user's training, the scores of *open*
# keys fell as low (minGPT's issue 75). Our third model starts there.
#
# ### Predict: three losses
#
# One model has a right mask, one sees one key too many, and one has such scores. Which losses fall well below $\ln 8$?

# %%
# The losses that fall: "none", "one key too many" or "both leaks"
predict("the losses that fall", ...)

# %% tags=["model"]
mask = causal_mask(12)
trained = {
    "right mask": train_on_noise(lambda q, k, v: masked_attention(q, k, v, mask)[0]),
    "−10,000": train_on_noise(blocked_by_a_number),  # https://github.com/karpathy/minGPT/issues/75
    "one key too many": train_on_noise(lambda q, k, v: masked_attention(q, k, v, mask.triu(2))[0]),
    "no mask": train_on_noise(lambda q, k, v: masked_attention(q, k, v)[0]),
}

# %% tags=["picture"]
# @title The losses of the models
figures.show(figures.masks.on_noise({name: losses for name, (model, losses) in trained.items()}))

# %% [markdown]
# With one key too many, the loss falls at once. With −10,000 the leak seems harmless, but each step pushes the open scores
# down, until they are under −10,000: **training makes a small leak larger.** So test your own models on noise.
#
# ### 100 % accuracy (extra)

# %% tags=["picture"]
# @title Accuracy at each position, without a mask and with one
figures.show(figures.masks.accuracies({name: trained[name][0] for name in ("no mask", "right mask")}))

# %% [markdown]
# Without a mask, random tokens are predicted at every position but the last, whose answer is not in the input. When a model
# writes, only the last position counts. So 100 % accuracy at a position is bad news.
#
# ## 9. The small language model without its mask
#
# Your functions should not change its loss. Without a mask it sees all answers, but has never learned to read them:

# %% tags=["model"]
lm = small_lm.load()
losses = lm.compare(mask=causal_mask), lm.compare(masked_attention=masked_attention)
without = lm.compare(mask=lambda T: torch.zeros(T, T, dtype=torch.bool))

# %% [markdown]
# ## Your experiment (extra)
#
# *Difficulty ★★☆, importance ●○○, about 8 minutes.* **Which earlier words does the small model need?** Besides the
# future, hide one key from every query: the one at the distance $d = i - j$. Plot the held-out loss for $d$ from 1 to
# 10 with `figures.curves(distances, {"loss": losses})`. What is the smallest distance whose hidden key raises the loss
# by less than 0.1?

# %% tags=["experiment"]
distances = torch.arange(1, 11)

# Your code: a function hide(d) that returns a function from T to a mask (T, T), in which the future is blocked, and the key
# at distance d. Then lm.compare(mask=hide(d))[0] is the loss for one distance. Last, a plot

finding = ...  # the smallest distance whose key costs less than 0.1

# %%
check("experiment", finding)

# %% [markdown]
# ## A friend's mask (extra)

# %% [markdown]
# %%answer what_a_mask_hides

# %% [markdown]
# ## The model so far (extra)
#
# The model that grows from lesson 3 to lesson 8 gets the mask. Below it, try your functions on a sentence that you type.

# %% tags=["picture"]
# @title The model so far, and where its letters look
from course import alive, staged_model

figures.show(figures.staged_model.built_so_far(staged_model.current_model()))

# %% tags=["picture"]
# @title Your mask and your softmax, alive
alive.show(softmax=masked_softmax, mask=causal_mask, head=3)

# %% [markdown]
# ## Summary
#
# 1. A causal mask blocks every key after its query.
# 2. Blocked scores become −∞ *before* the softmax; a fully blocked row has weights of 0.
# 3. With fewer queries than keys, the queries are the *last* $T$ of $S$ positions.
# 4. A padding mask blocks positions without a word; `|` combines masks.
# 5. A function leaks if an output depends on a later input. Training makes a small leak larger.
#
# $$ \mathbf{O} = \text{masked softmax}\left( \frac{\mathbf{Q} \mathbf{K}^\top}{\sqrt{d_k}},\; \mathbf{M} \right)
#    \mathbf{V}, \qquad m_{ij} = \text{True if } j > S - T + i $$

# %% tags=["picture"]
# @title What you have built so far
figures.show(figures.masks.so_far(masked_attention, causal_mask(6), sentence.x))

# %% [markdown]
# **Next:** lesson 6 lets a word ask several questions. **To read on:** [Attention Is All You
# Need](https://arxiv.org/abs/1706.03762), section 3.2.3.

# %%
progress()
