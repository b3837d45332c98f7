# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 6: Multi-head attention
#
# Which bank is meant in *The boat reached the river bank*? Two words help: *river*, just before it, and *boat*, the thing
# that arrives. To use both, *bank* has to ask two questions. But a single attention gives each word only one set of weights,
# and so one average. **How can a word ask several questions at once, and keep the answers apart, at no extra cost?**
#
# **You will build** attention with several *heads*: in a loop, all at once, and as an `nn.Module`. All three give the same
# numbers, and so does PyTorch's layer. You then look at the heads of a trained language model, and meet a bug that
# training hides.
#
# **You need** queries, keys and values (lesson 3), the scale, modules and dropout (lesson 4), and masks (lesson 5).
#
# **Time:** about 80 minutes, plus 45 for the parts marked *extra*

# %%
import contextlib
import io
import itertools
import math

import torch
import torch.nn.functional as F
from course import (
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

begin("06_multi_head")

# %% tags=["demo"]
# @title The part of attention that this lesson adds
figures.show(figures.overview("heads"))

# %% [markdown]
# ## Quiz: what came before
#
# **1.** Five tokens attend causally. How many of the 25 scores are blocked?
#
# **2.** Blocked weights are set to 0 *after* the softmax. What do the weights of a row with blocked keys sum to?
#
# **3.** All keys of a query are blocked by scores of −∞. What does a plain softmax give?

# %%
predict("quiz 1", ...)  # a number
predict("quiz 2", ...)  # "less than 1", "1" or "more than 1"
predict("quiz 3", ...)  # "NaN", "0 everywhere" or "equal weights"

# %% [markdown]
# ## 1. What one head cannot do
#
# A **head** is one attention with its own queries, keys and values. Here is a task for it: for a sentence of two words,
# return **the colour of word 0 and the shape of word 1**. The value of word 0 is $(1, 0)$, all colour and no shape; the
# value of word 1 is $(0, 1)$. So the wanted output is $(1, 1)$. One head has one pair of weights, $a$ and $1 - a$. Two heads
# have two pairs: one head can return the colour, and the other the shape.
#
# ### Predict: the reach of one head
#
# Which points (colour, shape) can one head produce?

# %%
# The points: "a line from word 0 to word 1", "a square" or "the whole plane"
predict("the reach of one head", ...)

# %% tags=["demo"]
# @title What one head and what two heads can reach
figures.show(figures.multi_head.reach())

# %% [markdown]
# Can a clever $\mathbf{W}_v$, or a matrix after the head, rescue one head? No.
#
# <details><summary>Why no matrix helps</summary>
#
# Let $\mathbf{W}$ be the product of $\mathbf{W}_v$ and the matrix after the head. One head with the weights $a$ and $b$
# returns $a\,\mathbf{x}_0 \mathbf{W} + b\,\mathbf{x}_1 \mathbf{W}$. To get the colour of word 0 and the shape of word 1,
# you need $a \mathbf{W} = \begin{pmatrix} 1 & 0 \\ 0 & 0 \end{pmatrix}$ and $b \mathbf{W} = \begin{pmatrix} 0 & 0 \\ 0 & 1
# \end{pmatrix}$. But these two are not multiples of one matrix. Two heads have two matrices.
#
# </details>
#
# ## 2. Two heads, in a loop
#
# **Multi-head attention** runs $H$ heads side by side. Head $h$ has its own three matrices of shape `(D, K)`. For a
# sentence $\mathbf{X}$ of shape `(T, D)` it computes
#
# $$ \mathbf{O}_h = \operatorname{softmax}\!\left( \frac{\mathbf{Q}_h \mathbf{K}_h^\top}{\sqrt{d_k}} \right) \mathbf{V}_h,
#    \qquad \mathbf{Q}_h = \mathbf{X} \mathbf{W}_q^{(h)}, \quad \mathbf{K}_h = \mathbf{X} \mathbf{W}_k^{(h)}, \quad
#    \mathbf{V}_h = \mathbf{X} \mathbf{W}_v^{(h)} . $$
#
# Each output is `(T, K)`. In formulas, `D` is $d$, `K` is $d_k$, and $d_k = d / H$. So the $H$ outputs side by side are as
# wide as a word again. One last matrix $\mathbf{W}_o$, `(D, D)`, mixes them:
#
# $$ \operatorname{MultiHead}(\mathbf{X}) = [\, \mathbf{O}_0,\; \mathbf{O}_1,\; \dots,\; \mathbf{O}_{H-1} \,]\; \mathbf{W}_o . $$
#
# ### Step: one head
#
# *Step ★☆☆ · about 2 minutes.* *Review* of lesson 4: scaled attention, without a mask. Return the output and the weights.
#
# **Worked example.** For $\mathbf{q} = (1, 0, 0, 0)$ and the keys $(2 \ln 3, 0, 0, 0)$ and $(0, 5, 0, 0)$, the scores are
# $(2 \ln 3, 0) / \sqrt4 = (\ln 3, 0)$, and the weights $(\tfrac34, \tfrac14)$. The values 4 and 8 give the output 5.


# %%
def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Scaled attention. query: (..., T, K). key: (..., S, K). value: (..., S, V). Returns output and weights."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(attend)  # NameError? Run the notebook's first cell

# %% [markdown]
# ### Step: heads in a loop
#
# *Step ★☆☆ · about 3 minutes.* Now write the formula above, without $\mathbf{W}_o$. `heads` is a list with the three
# matrices `(W_q, W_k, W_v)` of each head. Return the outputs side by side.
#
# **Worked example.** Two words, $(1, 2)$ and $(3, 6)$, and two heads. All $\mathbf{W}_q$ and $\mathbf{W}_k$ are 0, so
# every weight is $\tfrac12$. The values of head 0 are column 0, those of head 1 column 1. The result is $\begin{pmatrix} 2
# & 4 \\ 2 & 4 \end{pmatrix}$.


# %%
def heads_by_loop(x: torch.Tensor, heads: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """The outputs of all heads, side by side. x: (T, D). heads: (W_q, W_k, W_v), each (D, K). Returns (T, H * K)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(heads_by_loop)

# %% [markdown]
# Here are two heads for our sentence, with random matrices. Their weights mean nothing yet.

# %%
words = sentence.words  # The boat reached the river bank
T, D, H = 6, 8, 2
K = D // H
generator = torch.Generator().manual_seed(6)


def matrix(rows, columns):
    """A random matrix (rows, columns) that keeps the size of what it is multiplied with."""
    return torch.randn(rows, columns, generator=generator) * rows**-0.5


X = sentence.x @ matrix(3, D)  # (T, D): the three numbers of each word, spread over eight
# W_q, W_k, W_v of each head; the factor 3 makes the weights less even
heads = [(3 * matrix(D, K), matrix(D, K), matrix(D, K)) for _ in range(H)]
W_o = matrix(D, D)

by_loop = heads_by_loop(X, heads) @ W_o  # (T, D)
print("two heads, side by side and mixed:", tuple(by_loop.shape))

# %% tags=["demo"]
# @title Two heads: queries, keys, weights, values, outputs
drawn = figures.multi_head.two_heads(attend, X, heads, words)
figures.show(drawn)

# %% [markdown]
# ### One matrix for all heads
#
# Put the $\mathbf{W}_q$ of both heads side by side. The result is one matrix of shape `(D, D)`, and one product gives all
# queries:
#
# $$ \mathbf{X}\, [\, \mathbf{W}_q^{(0)},\; \mathbf{W}_q^{(1)} \,] =
#    [\, \mathbf{X} \mathbf{W}_q^{(0)},\; \mathbf{X} \mathbf{W}_q^{(1)} \,] . $$
#
# Each *column* of a product depends only on the same column of the right-hand matrix. So each head owns a band of columns,
# and the heads stay independent.

# %% tags=["demo"]
# @title One packed matrix, and the columns of each head
figures.show(figures.multi_head.packed(n_heads=2, tokens=T, width=D))

# %%
W_q, W_k, W_v = (torch.cat(matrices, dim=1) for matrices in zip(*heads))  # each (D, D)
torch.testing.assert_close((X @ W_q)[:, K:], X @ heads[1][0])
print("Columns 4 to 7 of X @ W_q are the queries of head 1.")

# %% [markdown]
# Now drop the loop. `@` treats all leading dimensions as a batch, so `attend` computes all heads of all sentences at once,
# from tensors of shape `(B, H, T, K)`. What remains is to split packed tensors into heads, and to merge the outputs.
#
# ## 3. Splitting and merging
#
# A projected batch is `(B, T, D)`: the row of each word has the `K` numbers of head 0, then those of head 1, and so on. Take
# an example without a batch: four words of six numbers, and two heads. The entries count up from 0, so each number also
# shows where it is in memory.

# %%
small = torch.arange(24).view(4, 6)  # (T, D)
wanted = torch.stack([small[:, :3], small[:, 3:]])  # (H, T, K): the columns of head 0, then those of head 1
print(small)

# %% [markdown]
# ### Predict: reshape alone
#
# `small.reshape(2, 4, 3)` has the wanted shape `(H, T, K)`, and raises no error. What does head 0 get?

# %%
# Head 0 gets: "the first half of every word", "the first two words" or "every other number"
predict("what reshape gives head 0", ...)

# %% [markdown]
# Nothing warns you: there is no error, the shape is right, and the loss of a model in training falls (section 8).
#
# A tensor's numbers are in memory one after the other, at the addresses 0, 1, 2, … Each dimension has a **stride**: the
# address grows by this number when the index grows by 1. With the strides $(s_0, s_1, s_2)$, the entry $[i, j, k]$ has the
# address $i s_0 + j s_1 + k s_2$.
#
# ### Step: addresses (extra)
#
# *Step ★★☆ · about 4 minutes.* Compute the addresses of all entries of a tensor with three dimensions.
#
# **Worked example.** With the shape `(2, 2, 2)` and the strides `(2, 4, 1)`, the entry $[1, 0, 1]$ has the address
# $2 + 0 + 1 = 3$. All addresses: `[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]`.


# %%
def addresses(shape: tuple[int, int, int], strides: tuple[int, int, int]) -> torch.Tensor:
    """The address in memory of each entry of a tensor with this shape and these strides. Returns int64, `shape`."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(addresses)

# %% tags=["demo"]
# @title The addresses after reshape alone, and in the heads that you want
figures.show(figures.multi_head.cut_by_reshape(addresses, small))

# %% [markdown]
# ### Predict: the right transpose
#
# `reshape` cuts the memory, in its order, into pieces of the new sizes. `transpose` swaps two sizes *and* their strides.
# Neither moves a number in memory here. Now a puzzle: turn `small` into `wanted` with one `reshape` and one `transpose`. Try
# your line in a new cell before you commit.

# %%
# One line of code between quotation marks: "small.reshape(...).transpose(...)"
predict("the right transpose", ...)

# %% tags=["demo"]
# @title All ways to (2, 4, 3) with a reshape and a reordering of its dimensions
figures.show(figures.multi_head.six_ways(small, wanted))

# %% [markdown]
# So first cut each word's row into $H$ pieces. Then swap words and heads.
#
# ### Exercise 1: `split_heads(x, n_heads)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Do this for a batch. If `K` would not be a whole number, as for `D = 10` and `H = 4`, raise a `ValueError` that names the
# wrong argument and its value.
#
# **Worked example.** One sentence of two words, $(1, 2, 3, 4)$ and $(5, 6, 7, 8)$, with `D = 4` and `H = 2`. Head 0 gets
# $\begin{pmatrix} 1 & 2 \\ 5 & 6 \end{pmatrix}$ and head 1 gets $\begin{pmatrix} 3 & 4 \\ 7 & 8 \end{pmatrix}$. (If your
# head 0 has 1, 2, 3 and 4, you have cut between words.)
#


# %% nbgrader={"grade": false, "grade_id": "split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Cut every word's row into one piece for each head.

    x: (B, T, D). Returns (B, H, T, D // H) with H = n_heads: piece h of each row goes to head h.
    Raises ValueError unless n_heads is at least 1 and divides D.
    """
    ### BEGIN SOLUTION
    batch, tokens, width = x.shape
    if n_heads < 1 or width % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide the width {width} of x")
    return x.reshape(batch, tokens, n_heads, width // n_heads).transpose(1, 2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_split_heads", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(split_heads)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(split_heads)
### END HIDDEN TESTS

# %% [markdown]
# To merge the heads, swap heads and words back. Then write the pieces of each word side by side.
#
# ### Predict: view
#
# The outputs of the heads are a new tensor of shape `(2, 4, 3)`, in memory row after row. `view` changes the shape as
# `reshape` does, but it never moves a number. What does `.transpose(0, 1).view(4, 6)` give?

# %%
# "the merged heads", "mixed-up numbers" or "an error"
predict("view after a transpose", ...)

# %%
outputs = wanted.clone()  # (H, T, K), contiguous
print("strides:", outputs.stride(), "  after transpose(0, 1):", outputs.transpose(0, 1).stride())
try:
    outputs.transpose(0, 1).view(4, 6)
except RuntimeError as error:
    print("view:", error)
print("reshape:", outputs.transpose(0, 1).reshape(4, 6)[0])

# %% [markdown]
# The pieces of a word are not next to each other in memory. `reshape` copies in this case; `.contiguous()` copies
# explicitly.
#
# ### Exercise 2: `merge_heads(x)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# Undo `split_heads`: write the heads side by side, head 0 first. The input may be in memory in any order.
#
# **Worked example.** With $\begin{pmatrix} 1 & 2 \\ 5 & 6 \end{pmatrix}$ in head 0 and
# $\begin{pmatrix} 3 & 4 \\ 7 & 8 \end{pmatrix}$ in head 1, word 0 is $(1, 2, 3, 4)$ again, and word 1 is $(5, 6, 7, 8)$.


# %% nbgrader={"grade": false, "grade_id": "merge_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Write the pieces of every word one after the other, head 0 first: undoes `split_heads`.

    x: (B, H, T, K), contiguous or not. Returns (B, T, H * K).
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)  # (B, T, H, K) -> (B, T, H * K); copies where it has to
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_merge_heads", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(merge_heads)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(merge_heads)
### END HIDDEN TESTS

# %% [markdown]
# ### Step: all heads at once
#
# *Step ★★☆ · about 3 minutes.* Write the whole layer without a loop: project, split, attend, merge, and project with
# $\mathbf{W}_o$. Use your three functions. All matrices are `(D, D)` and used as `x @ W`.
#
# **Worked example.** The words $(1, 2)$ and $(3, 6)$ again, and two heads. `W_q` is 0 and the other three are the
# identity. All weights are $\tfrac12$, and the output is $(2, 4)$ for both words.


# %%
def multi_head(
    x: torch.Tensor, W_q: torch.Tensor, W_k: torch.Tensor, W_v: torch.Tensor, W_o: torch.Tensor, n_heads: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Multi-head attention. x: (B, T, D), matrices (D, D). Returns output (B, T, D) and weights (B, H, T, T)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(multi_head)

# %% [markdown]
# ### Step: letters instead of transposes (extra)
#
# *Step ★★★ · about 6 minutes.* In `torch.einsum`, each dimension has a letter, and every letter that is missing from the
# result is summed over: `"btd,dk->btk"` is `x @ W`. Give $\mathbf{W}_q$ a dimension for the heads, `W_q.unflatten(1,
# (n_heads, -1))`, `(D, H, K)`, and one call projects *and* splits. Write `multi_head` with `einsum`, and without
# `split_heads`, `merge_heads` and transposes.
#
# **Worked example.** `torch.einsum("bhtk,bhsk->bhts", query, key)` gives the scores: the sum runs over `k`, within each
# head.


# %%
def multi_head_by_einsum(
    x: torch.Tensor, W_q: torch.Tensor, W_k: torch.Tensor, W_v: torch.Tensor, W_o: torch.Tensor, n_heads: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same as `multi_head`, without a transpose."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(multi_head_by_einsum)

# %%
at_once, weights = multi_head(X[None], W_q, W_k, W_v, W_o, H)  # (1, T, D), (1, H, T, T)
by_einsum, _ = multi_head_by_einsum(X[None], W_q, W_k, W_v, W_o, H)
torch.testing.assert_close(at_once[0], by_loop)
torch.testing.assert_close(by_einsum[0], by_loop)
print("The loop, split and merge, and einsum give the same numbers.")

# %% [markdown]
# ### Predict: a wrong split in a trained model
#
# The small language model has three layers with four heads each. Its loss is 0.67 nats per word; guessing among its 952
# words costs $\ln 952 = 6.9$. What is its loss if its heads are split by `reshape` alone?

# %%
lm = small_lm.load()


def split_by_reshape(x, n_heads):
    return x.reshape(len(x), n_heads, x.shape[1], -1)


# %%
# The loss: "about 0.7", "about 6.9" or "about 9"
predict("the loss with a wrong split", ...)

# %% tags=["demo"]
wrong = lm.compare(split=split_by_reshape)
yours = lm.compare(split=split_heads, merge=merge_heads)

# %% [markdown]
# A model that is *trained* with the wrong split behaves differently: see section 8.

# %% [markdown]
# ## 4. A module
#
# *Review* of lesson 4: an `nn.Module` keeps trainable tensors as parameters. `nn.Linear(D, D, bias=False)` has one,
# `weight`, (out, in): the layer computes `x @ weight.T`. If you forget the transpose here, no shape warns you.

# %% tags=["demo"]
# @title From x to the output, with all shapes
figures.show(figures.multi_head.shapes())

# %% [markdown]
# Three details decide whether the module is right.
#
# - **The scale** is that of one head, $1/\sqrt{d_k}$ with $d_k = d/H$. If you divide by $\sqrt{d}$, nothing fails, but the
#   weights are too even.
# - **The context**, `(B, S, D)`: if there is one, keys and values come from it (cross-attention). Otherwise they come from
#   `x` (self-attention). Queries always come from `x`.
# - **The mask** is that of lesson 5, `True` = blocked. It *broadcasts* to `(B, H, T, S)`: a causal mask is `(T, S)`, a
#   padding mask `(B, 1, 1, S)`. A fully blocked row has weights 0 and output 0, never NaN.
#
# ### Exercise 3: `MultiHeadAttention(d_model, n_heads, dropout=0.0)`
#
# *Difficulty ★★★ · about 20 minutes*
#
# Write `__init__` first, make a module and print it. Then write `forward`.
#
# - The four projections are `nn.Linear(d_model, d_model, bias=False)`, named `W_q`, `W_k`, `W_v` and `W_o`.
# - Dropout applies to each weight independently, in training mode only. Return the weights that multiply the values.
# - You may use `split_heads`, `merge_heads`, `torch.softmax` and `nn.Dropout`. You may not use
#   `F.scaled_dot_product_attention`, `nn.MultiheadAttention` or `F.multi_head_attention_forward`.
#
# **Worked example.** `D = 2`, `H = 2`, so `K = 1`; all four matrices are the identity. One sentence of two words:
# $\mathbf{x}_0 = (0, 0)$ and $\mathbf{x}_1 = (\ln 3, 8)$.
#
# | | scores of word 0 | its weights | scores of word 1 | its weights |
# |---|---|---|---|---|
# | head 0 sees $0$ and $\ln 3$ | $0,\; 0$ | $\tfrac12,\; \tfrac12$ | $0,\; (\ln 3)^2 = 1.21$ | $0.23,\; 0.77$ |
# | head 1 sees $0$ and $8$ | $0,\; 0$ | $\tfrac12,\; \tfrac12$ | $0,\; 64$ | $0.00,\; 1.00$ |
#
# The output is $\bigl(\tfrac12 \ln 3,\; 4\bigr) = (0.55, 4)$ for word 0, and $(0.77 \ln 3,\; 8) = (0.85, 8)$ for word 1.


# %% nbgrader={"grade": false, "grade_id": "MultiHeadAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttention(nn.Module):
    """Attention with several heads, over a sentence or from one sentence to another.

    Parameters: W_q, W_k, W_v, W_o, each an nn.Linear(d_model, d_model, bias=False).
    Dropout falls on the weights. Raises ValueError unless n_heads is at least 1 and divides d_model.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0):
        super().__init__()
        ### BEGIN SOLUTION
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, which does not divide d_model, {d_model}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(
        self, x: torch.Tensor, context: torch.Tensor | None = None, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend from x, (B, T, D), to context, (B, S, D), or to x itself where context is None.

        mask: bool, broadcasts to (B, H, T, S), True = blocked.
        Returns the output (B, T, D) and the weights that were applied (B, H, T, S).
        """
        ### BEGIN SOLUTION
        context = x if context is None else context
        query = split_heads(self.W_q(x), self.n_heads)  # (B, H, T, K)
        key = split_heads(self.W_k(context), self.n_heads)  # (B, H, S, K)
        value = split_heads(self.W_v(context), self.n_heads)  # (B, H, S, K)
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, H, T, S)
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:  # blocked twice: the second time empties the rows in which everything was blocked
            lowest = torch.finfo(scores.dtype).min
            weights = torch.softmax(scores.masked_fill(mask, lowest), dim=-1).masked_fill(mask, 0.0)
        weights = self.dropout(weights)
        return self.W_o(merge_heads(weights @ value)), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_MultiHeadAttention", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
check(MultiHeadAttention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(MultiHeadAttention)
### END HIDDEN TESTS

# %% [markdown]
# Now your class becomes layer 0 of the small language model, with the model's weights. (Layers 1 and 2 also rotate queries
# and keys, which is lesson 7.)

# %% tags=["demo"]
losses = lm.compare(module=MultiHeadAttention)

# %% [markdown]
# ### Step: a module that shows its weights (extra)
#
# *Step ★☆☆ · about 3 minutes.* Most layers return one tensor, so that `nn.Sequential` can pass it on. Many libraries
# therefore return the weights only on demand. Write a module that keeps an attention module and calls it with `x` and
# `mask`. It returns the output, or output and weights with `return_attention=True`.
#
# **Worked example.** With `layer = AttentionLayer(MultiHeadAttention(8, 2))`, `layer(x)` is a tensor, and
# `output, weights = layer(x, return_attention=True)`.


# %%
class AttentionLayer(nn.Module):
    """An attention module that returns its weights only with return_attention=True."""

    def __init__(self, attention: nn.Module):
        super().__init__()
        raise NotImplementedError  # replace this line

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor | None = None, return_attention: bool = False
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """x: (B, T, D). Returns the output (B, T, D); with return_attention also the weights."""
        raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(AttentionLayer)

# %% [markdown]
# ## 5. Three levels, one result
#
# PyTorch has this layer built in, as `nn.MultiheadAttention` (with a small h in "head"):
#
# | | from matrices | your module | `nn.MultiheadAttention` |
# |---|---|---|---|
# | parameters | tensors that you look after | `W_q`, `W_k`, `W_v`, `W_o` | `in_proj_weight` `(3D, D)`, `out_proj.weight` `(D, D)`, and biases unless `bias=False` |
# | a matrix is | `(D, D)`, used as `x @ W` | `nn.Linear.weight`, used as `x @ weight.T` | the same; rows for queries, keys and values stacked, in this order |
# | input | `(B, T, D)` | `(B, T, D)` | `(T, B, D)`, unless `batch_first=True` |
# | a mask for each sentence | up to you | broadcasts | a mask for each head of each sentence, `(B * H, T, S)` |
# | a fully blocked row | up to you | 0 | NaN |
# | weights returned | `(B, H, T, T)` | `(B, H, T, S)` | `(B, T, S)`, the *mean* over heads, unless `average_attn_weights=False` |
#
# Two of these differences are traps. Without `batch_first=True`, attention runs *across* the unrelated sentences of a
# batch, with the right shapes. And the mean mixes what the heads keep apart.
#
# This class wraps the built-in layer, so that it follows our conventions:


# %%
class BuiltIn(nn.Module):
    """Level 3: PyTorch's layer, called as this lesson calls attention."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.layer = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        if mask is not None:  # one mask (T, S) for each head of each sentence
            heads = self.layer.num_heads
            mask = mask.expand(len(x), heads, x.shape[1], context.shape[1]).flatten(0, 1)
        return self.layer(x, context, context, attn_mask=mask, average_attn_weights=False)


@torch.no_grad()
def give_weights(module, W_q, W_k, W_v, W_o):
    """Copy four matrices (D, D), each used as x @ W, into level 2 or 3. Returns the module."""
    if isinstance(module, BuiltIn):
        module.layer.in_proj_weight.copy_(torch.cat([W_q.T, W_k.T, W_v.T]))  # (3D, D)
        module.layer.out_proj.weight.copy_(W_o.T)
    else:
        for name, W in {"W_q": W_q, "W_k": W_k, "W_v": W_v, "W_o": W_o}.items():
            getattr(module, name).weight.copy_(W.T)
    return module


# %% [markdown]
# With the same matrices, all three levels must agree in the output, in the weights of every head, and in the gradient that
# reaches the input.

# %%
levels = {
    "matrices": lambda x: multi_head(x, W_q, W_k, W_v, W_o, H),
    "module": give_weights(MultiHeadAttention(D, H), W_q, W_k, W_v, W_o),
    "built-in": give_weights(BuiltIn(D, H), W_q, W_k, W_v, W_o),
}
sentences = torch.randn(2, T, D, generator=generator)
direction = torch.randn(2, T, D, generator=generator)  # the gradient that arrives at the output
results = {}
for name, attention in levels.items():
    x = sentences.clone().requires_grad_()
    output, weights = attention(x)
    (gradient,) = torch.autograd.grad(output, x, direction)
    results[name] = {"output": output, "weights": weights, "gradient": gradient}

for name in ("module", "built-in"):
    for what, expected in results["matrices"].items():
        torch.testing.assert_close(results[name][what], expected)
        error = (results[name][what] - expected).abs().max().item()
        print(f"{name:9} {what:9} {tuple(expected.shape)!s:15} at most {error:.0e} from level 1")
    for parameter, tensor in levels[name].named_parameters():
        print(f"{'':9} {parameter:22} {tuple(tensor.shape)}")

# %% [markdown]
# Differences of a few units in the seventh digit are rounding. (By default, PyTorch's layer also has biases. Lesson 3
# showed that the one on the keys changes nothing.)
#
# ### Exercise 4: `load_torch_weights(ours, theirs)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# You want to look inside a trained `nn.MultiheadAttention` with your own code. Copy the weights of `theirs`, an
# `nn.MultiheadAttention(D, H, bias=False)`, into `ours`, a module with `W_q`, `W_k`, `W_v` and `W_o`. Return `ours`. Both
# then compute the same, but training one must not change the other: *copy the numbers into* the existing parameters.
#
# **Worked example.** `D = 1`: `theirs.in_proj_weight` is $(2, 3, 5)^\top$, of shape $(3, 1)$, and `theirs.out_proj.weight`
# is $(7)$. Then `W_q.weight` becomes $(2)$, `W_k.weight` $(3)$, `W_v.weight` $(5)$ and `W_o.weight` $(7)$.


# %% nbgrader={"grade": false, "grade_id": "load_torch_weights", "locked": false, "schema_version": 3, "solution": true, "task": false}
def load_torch_weights(ours: nn.Module, theirs: nn.MultiheadAttention) -> nn.Module:
    """Copy the weights of PyTorch's layer into a module with W_q, W_k, W_v and W_o.

    theirs: nn.MultiheadAttention(D, H, bias=False), left as it is; in_proj_weight is (3 * D, D).
    Returns ours, which then computes the same as theirs and shares no memory with it.
    """
    ### BEGIN SOLUTION
    packed = theirs.in_proj_weight.chunk(3)  # rows of the queries, the keys, the values: (D, D)
    weights = dict(zip(("W_q", "W_k", "W_v"), packed), W_o=theirs.out_proj.weight)
    with torch.no_grad():
        for name, weight in weights.items():
            getattr(ours, name).weight.copy_(weight)
    return ours
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_load_torch_weights", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(load_torch_weights)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(load_torch_weights)
### END HIDDEN TESTS

# %% [markdown]
# Now compare at full size, with a causal mask, and as cross-attention:


# %%
theirs = nn.MultiheadAttention(512, 8, bias=False, batch_first=True)
ours = load_torch_weights(MultiHeadAttention(512, 8), theirs)
long = torch.randn(2, 32, 512, generator=generator)
others = torch.randn(2, 20, 512, generator=generator)
causal = torch.ones(32, 32, dtype=torch.bool).triu(diagonal=1)
with torch.no_grad():
    for context, mask in ((long, causal), (others, None)):
        output, weights = ours(long, context, mask)
        expected, average = theirs(long, context, context, attn_mask=mask)  # average: (B, T, S)
        torch.testing.assert_close(output, expected, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(weights.mean(dim=1), average, atol=1e-5, rtol=1e-4)
        print(f"equal: output {tuple(output.shape)}, weights {tuple(weights.shape)} against {tuple(average.shape)}")

# %% [markdown]
# ### Predict: a row of weights in training mode
#
# *Review* of lesson 4. A module with dropout is in training mode. What is the sum of the weights of one query?

# %%
# The sum: "always 1", "1 on average" or "always below 1"
predict("the sum of a row in training mode", ...)

# %% tags=["demo"]
with torch.random.fork_rng(devices=[]), torch.no_grad():
    torch.manual_seed(1)
    noisy = MultiHeadAttention(D, H, dropout=0.25).train()
    print("training:  ", noisy(sentences)[1][0, 0].sum(-1))
    print("evaluating:", noisy.eval()(sentences)[1][0, 0].sum(-1))

# %% [markdown]
# ## 6. The heads of a trained model
#
# Nobody tells a head what to look for. What have the twelve heads of the small language model learned? Give it twelve
# random words, and then the same twelve again.

# %%
random_words = "midnight told more sad present pears daughters last comes thought church sugar"
twice = f"{random_words} {random_words}"  # positions 0 to 11, then 12 to 23
ids = lm.encode(twice)  # (24,)

# %% [markdown]
# ### Predict: where the answer is
#
# The model has read the words up to position 20. Which position should it look at to guess the word at position 21?

# %%
# A position, counted from 0
predict("the position with the answer", ...)

# %% tags=["demo"]
losses = F.cross_entropy(lm(ids)[:-1], ids[1:], reduction="none")  # of the words at positions 1 to 23
print(f"loss per word: {losses[:11].mean():.2f} the first time, {losses[12:].mean():.2f} the second time")

# %% [markdown]
# ### Step: how much goes back (extra)
#
# *Step ★☆☆ · about 2 minutes.* Which heads look there? Measure the mean weight on the word `distance` positions back, over
# all queries that have such a word.
#
# **Worked example.** In $\begin{pmatrix} 1 & 0 & 0 \\ 0.75 & 0.25 & 0 \\ 0.5 & 0.25 & 0.25 \end{pmatrix}$ and for a distance
# of 1, query 1 gives 0.75 to word 0, and query 2 gives 0.25 to word 1. The mean is 0.5.


# %%
def share_back(weights: torch.Tensor, distance: int) -> torch.Tensor:
    """The mean weight on the word `distance` positions back. weights: (T, T). Returns a tensor without dimensions."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(share_back)

# %% tags=["demo"]
# @title Twelve heads: the mean weight on the word itself, the word before, and the last time
figures.show(figures.multi_head.twelve_heads(lm, twice, share_back))

# %% [markdown]
# ### What each head looks at
#
# The map gives the heads names:
#
# | layer, head | looks at |
# |---|---|
# | 0, heads 0 to 2 | the same word: itself, and earlier copies of it |
# | 0, head 3 | many words at once |
# | 1, head 2, and head 0 for the most part | the word before |
# | 1, heads 1 and 3 | mostly the word itself |
# | 2, all four | the word that came *after* the same word last time: an **induction head** |
#
# An induction head needs help from an earlier layer, which notes at each position what the word before it was. The induction
# head then looks for the right note. So take away the two heads of layer 1 that look at the word before, by setting their
# columns of $\mathbf{W}_o$ to 0:

# %% tags=["demo"]
for silent in ([0, 2], [1, 3]):
    changed = small_lm.load()
    for head in silent:
        changed.blocks[1].attention.W_o.weight[:, 24 * head : 24 * (head + 1)] = 0.0
    losses = F.cross_entropy(changed(ids)[:-1], ids[1:], reduction="none")
    print(f"layer 1 without the heads {silent}: loss {losses[12:].mean():.2f} the second time")

# %% [markdown]
# The induction heads need these two heads, and barely need the other two.
#
# On real text the names fit less well. In our sentence, head 2 of layer 1 skips *the*: from *river*, it goes to *reached*.
# Head 1 finds the verb.

# %% tags=["demo"]
# @title Four heads on our sentence
figures.show(figures.multi_head.four_heads(lm))

# %% [markdown]
# Choose a word and follow its lines. A thicker line is a higher weight.


# %% tags=["demo"]
# @title Slider: where each word looks
sliders.slider(figures.multi_head.where_it_looks, lm)

# %% tags=["demo"]
# @title The mean over the heads of layer 1
figures.show(figures.multi_head.mean_of_heads(lm))

# %% [markdown]
# BERT may look ahead. It has heads for the word before, for the word after, and for the token that opens the text ([Clark
# et al. 2019](https://arxiv.org/abs/1906.04341)). In lesson 8 you watch an induction head form.
#
# ## Your experiment (extra)
#
# *Experiment ★★☆ · about 8 minutes.* All four heads of layer 2 look at the same thing. **Can the model do without one of
# them, or without all four?**
#
# ### Step: silent heads (extra)
#
# *Step ★☆☆ · about 2 minutes.* Return the outputs of all heads, `(B, H, T, K)`, with 0 for the named heads. Do not change
# the argument.
#
# **Worked example.** For one sentence of one word, `[[[[1, 2]], [[3, 4]]]]` with `heads=[0]` becomes
# `[[[[0, 0]], [[3, 4]]]]`.


# %%
def silence(outputs: torch.Tensor, heads: list[int]) -> torch.Tensor:
    """The outputs of all heads, those of `heads` set to 0. outputs: (B, H, T, K). Returns the same shape."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(silence)

# %% [markdown]
# `loss_without(layer, heads)` below gives the model's loss with silent heads. Silence each head of layer 2 alone, and note
# the growth: this loss minus the loss with no head silent. Then silence all four together. Plot the five numbers with
# `figures.bars(numbers, labels)`. Your finding is the growth for all four together, divided by the *sum* of the four single
# growths. It is 1 if each head does work of its own.


# %%
def loss_without(layer, heads):
    """The small model's loss on held-out stories while these heads of one layer are silent; [] silences none."""
    calls = itertools.count()  # the model merges once in each of its three layers

    def merge_without(outputs):
        return merge_heads(silence(outputs, heads) if next(calls) % 3 == layer else outputs)

    with contextlib.redirect_stdout(io.StringIO()):
        return lm.compare(merge=merge_without)[0]


print("no head silent:", loss_without(2, []))

# Your code: five growths of the loss, and a plot

finding = ...  # the growth for all four, divided by the sum of the four

# %% tags=["demo"]
check("experiment", finding)

# %% [markdown]
# ## 7. Two questions, measured (extra)
#
# Now measure what section 1 claims. Eight words are in a circle, so each has a word before it. Every word carries six
# random numbers and knows its position. The task: report the numbers of the word before, **and** those of the word before
# that one. The layer has width 32, so $4 \cdot 32^2$ parameters for any number of heads. All numbers have mean 0 and
# variance 1, so always guessing 0 has the mean squared error 1.


# %%
def learn_two_questions(n_heads, steps=300):
    """Train a layer of width 32 to report the two words before; returns losses, last weights."""
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layer, read = MultiHeadAttention(32, n_heads), nn.Linear(32, 12)
    optimizer = torch.optim.Adam([*layer.parameters(), *read.parameters()], lr=0.01)
    positions = torch.eye(8).expand(64, 8, 8)
    losses = []
    for _ in range(steps):
        content = torch.randn(64, 8, 6, generator=generator)
        x = F.pad(torch.cat([content, positions], dim=-1), (0, 18))  # (64, 8, 32)
        wanted_words = [content.roll(back, dims=1) for back in (1, 2)]  # the last word is before the first
        output, weights = layer(x)
        loss = F.mse_loss(read(output), torch.cat(wanted_words, dim=-1))  # (64, 8, 12)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, weights.detach()


# %% [markdown]
# ### Predict: one head
#
# At what loss does a single head stop improving?

# %%
# A number between 0 and 1
predict("the loss of one head", ...)

# %% [markdown]
# <details><summary>Why</summary>
#
# Say the head gives weight $a$ to the word before, with the numbers $c_1$, and $b$ to the one before that, with $c_2$. It
# can only pass on multiples of $a c_1 + b c_2$. The best guess for $c_1$ from this has the mean squared error $1 -
# \frac{a^2}{a^2 + b^2}$; the best guess for $c_2$ has $1 - \frac{b^2}{a^2 + b^2}$. The two add up to 1, so their mean is
# $\frac12$, whatever the weights are.
#
# </details>
#
# ### Predict: many heads
#
# With width 32, which number of heads does worst after one: 2, 8 or 32?

# %%
# A number of heads: 2, 8 or 32
predict("the worst number of heads", ...)

# %% tags=["demo"]
# @title Loss curves of one head and of two, and the loss that each number of heads reaches
runs = {n: learn_two_questions(n) for n in (1, 2, 4, 8, 16, 32)}
drawn = figures.multi_head.by_number({n: losses for n, (losses, _) in runs.items()}, floor=0.5)
figures.show(drawn)

# %% tags=["demo"]
# @title The weights of the two heads after training
figures.show(figures.multi_head.two_questions(runs[2][1]))

# %% [markdown]
# Nobody assigned the questions. By chance, one head is a little better at one of them. It gets the stronger gradient for
# that question, and the other head takes the other one.

# %% [markdown]
# %%answer what_a_head_does

# %% [markdown]
# ## 8. A bug that trains
#
# You know the wrong split: `reshape` alone. The merge can go wrong in the same way. It did in a transformer written from
# scratch ([jsbaan](https://github.com/jsbaan/transformer-from-scratch/pull/6)), whose only test was to copy its input; a reader
# of the code found the missing line.
#
# ```diff
# - values = values.reshape(batch, length, width)
# + values = values.permute(0, 2, 1, 3).reshape(batch, length, width)
# ```
#
# The class below makes one of two mistakes. With "split", it splits *and* merges by `reshape` alone, so that each number
# returns to its position. With "merge", only the merge is wrong.


# %%
class WrongHeads(nn.Module):
    """Multi-head attention with one of two mistakes, "split" or "merge". Every shape is right."""

    def __init__(self, d_model, n_heads, mistake):
        super().__init__()
        self.n_heads = n_heads
        self.split = split_by_reshape if mistake == "split" else split_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, context=None, mask=None):
        q, k, v = (self.split(projection(x), self.n_heads) for projection in (self.W_q, self.W_k, self.W_v))
        allowed = None if mask is None else ~mask  # this function takes True for "may look"
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.W_o(heads.reshape(x.shape)), None  # in memory head after head, not word after word


makers = {
    "right": lambda: MultiHeadAttention(32, 4),
    "wrong split": lambda: WrongHeads(32, 4, "split"),
    "wrong merge": lambda: WrongHeads(32, 4, "merge"),
}

# %% [markdown]
# Train all three layers on three tasks, with eight random words out of sixteen. **Copy**: repeat them. **Reverse**: repeat
# them backwards. **Predict**: with a causal mask, give the next word. The words are random, so this can only be guessed, at
# a loss of $\ln 16 = 2.77$.
#
# ### Predict: the task that gives it away
#
# Which task gives the wrong *merge* away?

# %%
# The task: "copy", "reverse" or "predict"
predict("the task that gives away the wrong merge", ...)

# %% tags=["demo"]
tasks = {  # ids (B, 9) -> inputs (B, 8), targets (B, 8), mask
    "copy": lambda ids: (ids[:, :8], ids[:, :8], None),
    "reverse": lambda ids: (ids[:, :8], ids[:, :8].flip(1), None),
    "predict": lambda ids: (ids[:, :8], ids[:, 1:], torch.ones(8, 8, dtype=torch.bool).triu(1)),
}


def learn(make, task, steps=200):
    """Train embedding, attention and read-out on one task; returns the losses."""
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        embedding, positions = nn.Embedding(16, 32), nn.Embedding(8, 32)
        attention, read = make(), nn.Linear(32, 16)
    parts = nn.ModuleList([embedding, positions, attention, read])
    optimizer = torch.optim.Adam(parts.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        inputs, targets, mask = task(torch.randint(16, (64, 9), generator=generator))
        output, _ = attention(embedding(inputs) + positions.weight, mask=mask)
        loss = F.cross_entropy(read(output).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


trained = {name: {which: learn(make, task) for which, make in makers.items()} for name, task in tasks.items()}

# %% tags=["demo"]
# @title The losses of all three on each task
figures.show(figures.multi_head.three_tasks(trained))

# %% [markdown]
# No task exposes both bugs. Copying, a usual first test, exposes neither.
#
# - **Copy**: all three learn it. The matrices around the scrambled heads learn to unscramble them.
# - **Reverse** exposes the wrong split. Each head sees two of the eight words, and never the one that it needs.
# - **Predict** exposes the wrong merge. Its loss *falls* below guessing, because it writes numbers of later words into
#   earlier positions, past the mask. On real text you would see an excellent training loss, and a model that cannot write.
#
# ### How to catch it
#
# Test the layer with random weights, before the first step of training:
#
# 1. **Shuffle** the words. Attention that knows no positions must shuffle its output in the same way.
# 2. **Change the last word** under a causal mask. No earlier output may change.
# 3. **Compare** with a layer that you trust, given the same weights, as in section 5.
#
# ### Step: the shuffle test (extra)
#
# *Step ★☆☆ · about 2 minutes.* For `x`, `(B, T, D)`, a layer returned `output`. For `x[:, order]`, it returned
# `output_of_shuffled`. Return the largest absolute difference between what the second call should return and what it did
# return.
#
# **Worked example.** For the output $(1, 2, 3)$ and `order` $(1, 2, 0)$, the shuffled output should be $(2, 3, 1)$. If it is
# $(1, 2, 3)$, the largest difference is 2.


# %%
def shuffle_error(output: torch.Tensor, output_of_shuffled: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """How far a layer is from shuffling its output as its words. outputs: (B, T, D). order: (T,), int64."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(shuffle_error)

# %% tags=["demo"]
# @title The largest difference that each of the three tests finds
from course.models import layer_tests

layers = {name: make() for name, make in makers.items()}
layer_tests.report(layers, BuiltIn(32, 4), give_weights, shuffle_error)

# %% [markdown]
# ### What the tests find
#
# The wrong split passes the second test: it keeps the words in order, so nothing leaks backwards. The other two tests
# catch both bugs, without any training. More bugs that shipped are in the notebook `bug_museum.ipynb`.
#
# ## 9. What heads cost
#
# ### Predict: eight heads instead of one
#
# A layer of width 512 has one head. You give it eight. How many parameters does that add?

# %%
# A number
predict("the parameters that eight heads add", ...)

# %% [markdown]
# The four products cost the same, too. Only the number of attention weights grows: there are $H$ maps of $T \times S$
# instead of one.
#
# Now count parameters yourself. There are two traps. *Frozen* parameters (`requires_grad=False`) are not trained. And a
# *tied* parameter is used in two places, as when a language model reads words in and writes words out with the same table.
#
# ### Exercise 5: `count_parameters(module)`
#
# *Difficulty ★☆☆ · about 4 minutes*
#
# Return how many numbers training can change, as an `int`.
#
# **Worked example.** `nn.Linear(3, 2)` has $3 \cdot 2$ weights and 2 biases: 8. With its bias frozen: 6.
# `nn.Sequential(a, a)`, where both entries are the same `nn.Linear(3, 3, bias=False)`: 9, not 18.


# %% nbgrader={"grade": false, "grade_id": "count_parameters", "locked": false, "schema_version": 3, "solution": true, "task": false}
def count_parameters(module: nn.Module) -> int:
    """How many numbers training can change, as an int.

    These are the elements of all trainable parameters, each parameter counted once.
    """
    ### BEGIN SOLUTION
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_count_parameters", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(count_parameters)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(count_parameters)
### END HIDDEN TESTS


# %%
for n_heads in (1, 2, 8, 64):
    layer = MultiHeadAttention(512, n_heads)
    print(f"width 512, {n_heads:2} heads of width {512 // n_heads:3}: {count_parameters(layer):,} parameters")
table = nn.Embedding(1000, 64)
read_out = nn.Linear(64, 1000, bias=False)
untied = count_parameters(nn.ModuleList([table, read_out]))
read_out.weight = table.weight  # one table for reading in and for writing out
tied = count_parameters(nn.ModuleList([table, read_out]))
print(f"a table of 1000 words, and its read-out: {untied:,}; tied: {tied:,}")

# %% [markdown]
# ## The model so far
#
# In the model that grows from lesson 3 to lesson 8, your `MultiHeadAttention` replaces projections and attention. The
# matrices are the same; each of two heads gets half of their columns.

# %% tags=["demo"]
# @title The model so far, and where its letters look
from course import staged_model

figures.show(figures.staged_model.built_so_far(staged_model.current_model()))

# %% [markdown]
# Both heads still look for equal letters. But each compares only its half of the numbers, so they do not always agree.

# %% [markdown]
# ## Challenge: `value_output_matrices(W_v, W_o, n_heads)` (extra)
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# How many of a layer's four matrices can you identify from what the layer does? A word that a head looks at goes through
# $\mathbf{W}_v$ and then through $\mathbf{W}_o$, with no softmax between. So each head has **one** matrix $\mathbf{M}_h$,
# `(D, D)`, and the output is a sum over the heads:
#
# $$ \text{output} = \sum_{h=0}^{H-1} \mathbf{A}_h\, \mathbf{X}\, \mathbf{M}_h $$
#
# where $\mathbf{A}_h$, `(T, T)`, holds the weights of head $h$. $\mathbf{M}_h$ is a product through $d_k$ numbers, so its
# **rank** is at most $d_k$. People who dissect trained models study these matrices and not the two factors, which can
# change together without any effect.
#
# Return the matrices of all heads, `(H, D, D)`. `W_v` and `W_o` are weights of `nn.Linear`, `(D, D)`: a word `x` becomes
# `x @ W_v.T`. Heads are split as by `split_heads`. Raise a `ValueError` that names `n_heads` unless it divides $d$.
#
# **Worked example.** $d = 2$, two heads of one number each, `W_v = [[1, 2], [3, 4]]` and `W_o = [[5, 6], [7, 8]]`. The word
# $(1, 0)$ has the value 1 in head 0. The output that head 0 makes of it is $(5, 7)$, which is the first row of
# $\mathbf{M}_0$. What is the second, for the word $(0, 1)$?


# %%
def value_output_matrices(W_v: torch.Tensor, W_o: torch.Tensor, n_heads: int) -> torch.Tensor:
    """What each head does to a word it looks at, as one matrix: the head adds its weights times `x @ matrix`.

    W_v, W_o: weights of nn.Linear, (D, D). Returns (H, D, D). ValueError unless n_heads is at least 1 and
    divides D.
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(value_output_matrices)

# %% [markdown]
# ## Summary
#
# 1. One head answers one question at a time. Several heads answer several, and $\mathbf{W}_o$ mixes the answers.
# 2. The matrices of all heads are side by side in one `(D, D)` matrix. Heads divide the width and add no parameters.
# 3. Split: cut each word's row, *then* swap words and heads. Merge: the same steps backwards.
# 4. Scale, softmax, mask and dropout apply to each head separately.
# 5. A falling loss proves little. Two computations that agree, with the same weights, prove a lot.
#
# $$ \operatorname{MultiHead}(\mathbf{X}) = [\, \mathbf{O}_0, \dots, \mathbf{O}_{H-1} \,]\; \mathbf{W}_o, \qquad
#    \mathbf{O}_h = \operatorname{softmax}\!\left( \frac{\mathbf{Q}_h \mathbf{K}_h^\top}{\sqrt{d_k}} \right) \mathbf{V}_h,
#    \qquad d_k = d / H $$

# %% tags=["demo"]
# @title The diagram up to here, with the numbers of head 0
figures.show(figures.multi_head.so_far(attend, X, heads[0]))

# %% [markdown]
# **To read on:** [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.2, where heads come from · [Are
# Sixteen Heads Really Better than One?](https://arxiv.org/abs/1905.10650): trained models that lose most of their heads and
# hardly notice · [`nn.MultiheadAttention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html).

# %% tags=["demo"]
progress()
