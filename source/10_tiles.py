# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 10: Attention in tiles
#
# A text of 100,000 tokens has ten billion pairs of a query and a key. One head's weights for it fill 40 gigabytes in float32,
# and they are made only to be multiplied with the values and thrown away. **Can you compute attention without ever holding all
# of its weights, and get the same output?**
#
# **You will build** attention that reads the keys a *tile* at a time, that is, a few keys together. Between tiles, it keeps
# one output and one extra number per query. A causal version skips the parts in which everything is blocked, and at the end
# you write a backward pass that needs as little memory. This is the algorithm of FlashAttention.
#
# **You need** softmax (lesson 2), scaled attention (lesson 4) and masks (lesson 5); for the last exercise, the gradient of a
# matrix product, which is recalled there.
#
# **Time:** about 95 minutes, plus 30 for the parts marked *extra*

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sliders, small_lm, solution
from course.harness.allocation_probe import AllocationProbe
from torch import nn

begin("10_tiles")

# %% tags=["demo"]
# @title The part of attention that this lesson changes
figures.show(figures.overview("tiles"))

# %% [markdown]
# In shapes, `T` is the number of queries, `S` the number of keys, `K` the width of queries and keys and `V` that of values;
# `...` stands for any leading dimensions, such as a batch and heads. In formulas, $s_{ij}$ is the score of query $i$ with key
# $j$, after scaling, $a_{ij}$ is its weight, and $d_k$ is `K`. Queries, keys and tiles are counted from 0.
#
# Your functions must not use `torch.logsumexp`, `logaddexp`, `logcumsumexp`, any softmax, or PyTorch's own attention. The
# cells between the exercises compare your functions with these.

# %% [markdown]
# ## Quiz: what came before
#
# **1.** Two scores are 1000 and 1001. Which weight should the second get, to two decimals?
#
# **2.** Queries and keys are 64 wide, values 32. By what do you divide the scores?
#
# **3.** All keys of a query are blocked. What is its output in this course?

# %%
predict("quiz 1", ...)  # a number
predict("quiz 2", ...)  # a number
predict("quiz 3", ...)  # "0", "NaN" or "the mean of the values"

# %% [markdown]
# ## 1. One number for a whole row
#
# Take the scores $s_0, s_1, \dots$ of one query. Softmax divides each exponential by the sum of all exponentials of the row.
# Write that sum as an exponential, too:
#
# $$ \ell = \log \sum_{j} e^{s_j}
#    \qquad\text{so that}\qquad
#    a_j = \frac{e^{s_j}}{e^{\ell}} = e^{s_j - \ell} . $$
#
# The number $\ell$ is the **log-sum-exp** of the row. It is at least the largest score, and at most $\log S$ above it. With
# $\ell$, you can compute each weight of the row from its own score, without the others. The whole lesson builds on this.
#
# If a score is large, the sum overflows. So take out the largest score $m$, as in lesson 2:
#
# $$ \ell = m + \log \sum_{j} e^{s_j - m} $$
#
# ### Predict: the log-sum-exp of two equal scores
#
# What is the log-sum-exp of the scores 1000 and 1000, to two decimals? You can enter an expression, such as `2 * math.log(5)`.

# %%
# The log-sum-exp: a number
predict("the log-sum-exp of two equal scores", ...)

# %% tags=["demo"]
for row in ([0.0, 0.0], [1000.0, 1000.0], [5.0, -5.0, -5.0]):
    scores = torch.tensor(row)
    plain = scores.exp().sum().log()
    print(f"{row!s:18} direct formula {plain:8.4f}, torch.logsumexp {torch.logsumexp(scores, -1):9.4f}")

# %% [markdown]
# ### A row of nothing
#
# A blocked score is $-\infty$, and $e^{-\infty} = 0$ adds nothing to the sum. If *all* scores of a row are $-\infty$, the sum
# is 0, and $\log 0 = -\infty$ is the right result. But then $m$ is $-\infty$ as well, and $-\infty - (-\infty)$ is NaN. The
# backward pass has a similar problem: the derivative of the logarithm at 0 is infinite, and $0 \cdot \infty$ is NaN again. In
# both cases, replace the number that causes the NaN by a finite one *before* you compute with it, and put in the right result
# at the end.
#
# ### Exercise 1: `logsumexp_of(scores)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Return the log-sum-exp over the last dimension: scores `(..., S)` → `(...)`. The result must be right for any finite scores.
# A score of $-\infty$ adds nothing to the sum. If all scores of a row are $-\infty$, so is the result, and the gradient of
# this row is 0. Neither the result nor the gradient may be NaN.
#
# **Worked example.** The scores $\log 1, \log 2, \log 5$ have the exponentials 1, 2 and 5. Their sum is 8, so the result is
# $\log 8 \approx 2.079$.


# %% nbgrader={"grade": false, "grade_id": "logsumexp_of", "locked": false, "schema_version": 3, "solution": true, "task": false}
def logsumexp_of(scores: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum of exponentials over the last dimension.

    scores: (..., S), finite or -inf. Returns (...); -inf where all scores of a row are.
    """
    ### BEGIN SOLUTION
    highest = scores.amax(-1, keepdim=True)  # (..., 1)
    empty = highest.isneginf()
    highest = highest.masked_fill(empty, 0.0)
    total = torch.exp(scores - highest).sum(-1, keepdim=True).masked_fill(empty, 1.0)
    return (highest + total.log()).masked_fill(empty, -torch.inf).squeeze(-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_logsumexp_of", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(logsumexp_of)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(logsumexp_of)
### END HIDDEN TESTS

# %% [markdown]
# ### Step: weights from the log-sum-exp
#
# *Step ★☆☆ · about 2 minutes.* Return the weights $e^{s_{ij} - \ell_i}$: `scores` is `(..., S)`, and `lse`, `(...)`, has one
# log-sum-exp per row. Where `lse` is $-\infty$, all scores of the row are $-\infty$, too. The weights are then 0, not NaN.
#
# **Worked example.** The scores $\log 1$ and $\log 3$ with $\ell = \log 4$ have the weights $\tfrac14$ and $\tfrac34$. If the
# row has further keys, so that $\ell = \log 8$, the weights of these two are $\tfrac18$ and $\tfrac38$.


# %%
def weights_from(scores: torch.Tensor, lse: torch.Tensor) -> torch.Tensor:
    """The weights of scores (..., S) by the log-sum-exps (...) of their rows. Returns (..., S)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(weights_from)

# %% [markdown]
# How does $\ell$ change with one score? Its derivative is $\partial \ell / \partial s_j = e^{s_j} / e^{\ell}$, which is the
# weight $a_j$. So the gradient of the log-sum-exp is the softmax:

# %%
scores = torch.tensor([2.0, 0.0, 1.0, -3.0], requires_grad=True)
weights = weights_from(scores, logsumexp_of(scores))
(slope,) = torch.autograd.grad(logsumexp_of(scores), scores)
torch.testing.assert_close(weights, torch.softmax(scores, -1))
torch.testing.assert_close(slope, torch.softmax(scores, -1))
print("weights, equal to softmax:", [round(w, 4) for w in weights.tolist()])
print("gradient of the log-sum-exp:", [round(w, 4) for w in slope.tolist()])

# %% [markdown]
# ## 2. A part of the keys
#
# Suppose a query sees only the first hundred of a thousand keys. Its weights sum to 1, and its output is right *for these
# keys*. To combine this output with that of the other nine hundred keys later, you also need the sum of the exponentials. So
# return two results, the output and the logarithm of that sum:
#
# $$ \mathbf{o}_i = \sum_{j} e^{s_{ij} - \ell_i}\, \mathbf{v}_j , \qquad
#    \ell_i = \log \sum_{j} e^{s_{ij}} , \qquad
#    s_{ij} = \frac{\mathbf{q}_i \cdot \mathbf{k}_j}{\sqrt{d_k}} $$
#
# Here $j$ runs over the keys of this part only.
#
# ### A part that sees nothing
#
# With a mask, a query may see no key of a part: with a causal mask, query 0 sees only key 0. Its output for any other part is
# 0, and its log-sum-exp is $-\infty$, the logarithm of an empty sum. In $e^{s - \ell}$, both $s$ and $\ell$ are then
# $-\infty$.
#
# ### Exercise 2: `partial_attention(query, key, value, mask=None)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# `query` is `(..., T, K)`, `key` `(..., S, K)`, `value` `(..., S, V)`. `mask` broadcasts to `(..., T, S)`, and True is
# *blocked*. Return `(output, lse)`, `(..., T, V)` and `(..., T)`: scaled attention to these keys, and the log-sum-exp of the
# scaled scores that are not blocked. Scores are between −10,000 and 10,000. You may call your `logsumexp_of`; a mistake in it
# costs no points here.
#
# **Worked example.** One query, $(2, 0, 0, 0)$, is 4 wide, so scores are divided by 2. The keys $(0, 1, 0, 0)$ and
# $(\log 3, 0, 0, 0)$ have the scaled scores $0$ and $\log 3$, whose exponentials are 1 and 3. With the values 4 and 8, the
# output is $\tfrac14 \cdot 4 + \tfrac34 \cdot 8 = 7$, and the log-sum-exp is $\log 4 \approx 1.386$. If key 1 is blocked, the
# output is 4 and the log-sum-exp $\log 1 = 0$. If both keys are blocked, these are 0 and $-\infty$.


# %% nbgrader={"grade": false, "grade_id": "partial_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def partial_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scaled attention to these keys alone, and the log-sum-exp of the scaled scores that are not blocked.

    query: (..., T, K), key: (..., S, K), value: (..., S, V); mask broadcasts to (..., T, S), True = blocked.
    Returns (output (..., T, V), lse (..., T)); 0 and -inf where all keys are blocked.
    """
    ### BEGIN SOLUTION
    scores = query @ key.mT / math.sqrt(query.shape[-1])  # (..., T, S)
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    lse = logsumexp_of(scores)
    weights = torch.exp(scores - lse.masked_fill(lse.isneginf(), 0.0)[..., None])
    return weights @ value, lse
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_partial_attention", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(partial_attention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(partial_attention)
### END HIDDEN TESTS

# %%
generator = torch.Generator().manual_seed(10)
query, key, value = (torch.randn(n, 8, generator=generator) for n in (6, 12, 12))  # (T, K), (S, K), (S, V)
output, lse = partial_attention(query, key, value)
torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value), rtol=1e-4, atol=1e-5)
print(f"output {tuple(output.shape)}, equal to PyTorch's; lse {tuple(lse.shape)}.")

# %% [markdown]
# ## 3. Two parts into one
#
# You have two results for the same query: $(\mathbf{o}, \ell)$ from some keys, and $(\mathbf{o}', \ell')$ from others. What is
# the result of attention to all of these keys? Undo the divisions: $e^{\ell} \mathbf{o}$ is a sum of values, weighted by
# exponentials, and two such sums can be added. Then divide by the total of the exponentials:
#
# $$ \ell_{\text{both}} = \log\left( e^{\ell} + e^{\ell'} \right) , \qquad
#    \mathbf{o}_{\text{both}} = e^{\ell - \ell_{\text{both}}}\, \mathbf{o} + e^{\ell' - \ell_{\text{both}}}\, \mathbf{o}' $$
#
# The two factors are the **shares** of the parts, and they sum to 1. They are a softmax of the two log-sum-exps.
#
# ### Predict: a thousand against one
#
# One part has 1,000 keys. The other has a single key, whose score is 20 above the largest of the thousand. Which part has the
# larger share?

# %%
# The larger share: "the thousand keys", "the single key" or "about equal"
predict("a thousand against one", ...)

# %% [markdown]
# ### Nothing, merged with something
#
# If a query sees no key of a part, this part has $\ell = -\infty$. Its share is $e^{-\infty} = 0$, so it changes nothing. Only
# if *both* parts are like this does the formula subtract $-\infty$ from $-\infty$. Then the output is 0, and the log-sum-exp
# $-\infty$.
#
# ### Exercise 3: `merge(output, lse, other_output, other_lse)`
#
# *Difficulty ★★☆ · about 6 minutes*
#
# The outputs are `(..., T, V)` and the log-sum-exps `(..., T)`. Return the pair `(output, lse)` for all keys together. The
# order of the two parts must not matter; nor, apart from rounding, must the order in which several parts are merged.
# Log-sum-exps are between −10,000 and 10,000, so `exp` of one of them can overflow.
#
# **Worked example.** One part has the output $(4, 0)$ and $\ell = \log 1$, the other $(8, 4)$ and $\ell' = \log 3$. The sums
# of exponentials are 1 and 3, so the shares are $\tfrac14$ and $\tfrac34$. The output is $(7, 3)$, and
# $\ell_{\text{both}} = \log 4$.


# %% nbgrader={"grade": false, "grade_id": "merge", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge(
    output: torch.Tensor, lse: torch.Tensor, other_output: torch.Tensor, other_lse: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Two results of `partial_attention`, of the same queries and different keys, as one.

    output, other_output: (..., T, V); lse, other_lse: (..., T). Returns (output (..., T, V), lse (..., T)) for all
    keys together. A part whose lse is -inf changes nothing.
    """
    ### BEGIN SOLUTION
    together = logsumexp_of(torch.stack([lse, other_lse], dim=-1))  # (..., T)
    safe = together.masked_fill(together.isneginf(), 0.0)
    share, other_share = torch.exp(lse - safe), torch.exp(other_lse - safe)
    return share[..., None] * output + other_share[..., None] * other_output, together
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_merge", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(merge)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(merge)
### END HIDDEN TESTS

# %%
pieces = [partial_attention(query, key[part], value[part]) for part in (slice(0, 5), slice(5, 6), slice(6, 12))]
left = merge(*merge(*pieces[0], *pieces[1]), *pieces[2])
right = merge(*pieces[0], *merge(*pieces[1], *pieces[2]))
reverse = merge(*pieces[2], *merge(*pieces[1], *pieces[0]))
for found in (left, right, reverse):
    torch.testing.assert_close(found[0], output, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found[1], lse, rtol=1e-4, atol=1e-5)
print("5, 1 and 6 keys, merged in three orders: each time the output for all 12.")

# %% [markdown]
# So the keys may be anywhere: in tiles that are read one after another, or on eight GPUs that each hold an eighth of a long
# text. Each GPU can attend to its own keys, and send one output and one log-sum-exp per query. (In *ring attention*, [Liu et
# al. 2023](https://arxiv.org/abs/2310.01889), the keys and values travel from GPU to GPU instead.)

# %% [markdown]
# ## 4. All keys, a tile at a time
#
# Begin with the smallest tile, one key. Read the keys one by one, and keep three things for each query: the largest score so
# far, $m$; the sum $z = \sum e^{s_j - m}$; and the sum of values with the same factors,
# $\mathbf{u} = \sum e^{s_j - m}\, \mathbf{v}_j$. When a larger score arrives, $z$ and $\mathbf{u}$ still refer to the old
# maximum, so both are multiplied by $e^{m_{\text{old}} - m_{\text{new}}}$. At any time, the output for the keys so far is
# $\mathbf{u} / z$, and $\ell = m + \log z$. This is the **online softmax** ([Milakov and Gimelshein
# 2018](https://arxiv.org/abs/1805.02867), for $m$ and $z$).
#
# ### Step: read one key
#
# *Step ★★☆ · about 4 minutes.* Update these three for one more key. `highest` is $m$, `total` is $z$ and `weighted`, `(V,)`,
# is $\mathbf{u}$; before the first key they are $-\infty$, 0 and zeros. `score` is a finite scalar, `value` is `(V,)`. Return
# the new `(highest, total, weighted)`.
#
# **Worked example.** After one key with the score $0$ and the value $(4)$, the three are $0$, $1$ and $(4)$. The next key has
# the score $\log 2$ and the value $(8)$. The new maximum is $\log 2$, so the old sums are halved: $\tfrac12 + 1 = \tfrac32$
# and $2 + 8 = 10$. The output is $10 / \tfrac32 = \tfrac{20}{3}$.


# %%
def read_key(
    highest: torch.Tensor, total: torch.Tensor, weighted: torch.Tensor, score: torch.Tensor, value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The largest score (), the sum () and the weighted sum of values (V,), after one more key.

    highest, total: (); weighted: (V,); score: (), finite; value: (V,).
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(read_key)

# %%
row_scores = torch.tensor([1.0, -0.5, 2.0, 0.5, 4.0, 1.5, 3.0, -1.0])  # one query's scores with eight keys
row_values = torch.tensor([1.0, 5.0, 2.0, 3.0, 6.0, 0.0, 4.0, 5.0])  # their values, each one number wide

# %% [markdown]
# ### Predict: the largest score so far
#
# The scores of keys 0 to 3 are 1, −0.5, 2 and 0.5. Now key 4 is read, with the score 4. What happens to $z$, the sum that is
# kept?

# %%
# The sum: "rises", "stays" or "falls"
predict("the sum when the largest score arrives", ...)

# %% tags=["demo"]
# @title Slider: what is kept as the keys are read
sliders.slider(figures.tiles.after_keys, read_key, row_scores, row_values)

# %% [markdown]
# After the last key, the output equals that of softmax over all eight scores, and the eight weights were never in memory
# together.
#
# Reading key by key is slow, because computers are fastest at large matrix products. So read a **tile** at once, a fixed
# number of neighbouring keys. Its scores are `(..., T, tile)`. Compute the `partial_attention` to the tile, and `merge` the
# result with that of the tiles before.

# %% tags=["demo"]
# @title The scores in memory at one time
figures.show(figures.tiles.alive(T=8, S=24, tile=6, at=2))

# %% [markdown]
# ### Exercise 4: `tiled_attention(query, key, value, mask=None, tile=64)`
#
# *Difficulty ★★★ · about 12 minutes*
#
# Return the same pair as `partial_attention` to all keys, apart from rounding. `tile` is any number from 1 on; it may be
# larger than $S$, and need not divide it.
#
# - Read the keys `tile` at a time, each once. No tensor may have more than `T × tile` scores or weights for each leading
#   index, and you may not collect the results of all tiles. `check` counts the multiplications, and notes the size of every
#   floating-point tensor. (The mask, which may be `(T, S)`, does not count.)
# - The mask broadcasts to `(..., T, S)`; its last dimension may be 1.
# - If `tile` is less than 1, raise a `ValueError` that names `tile` and its value.
# - You may call your `partial_attention` and `merge`; a mistake in them costs no points here.
#
# **Worked example.** Take the query and the two keys of exercise 2, and as key 2 a copy of key 1 with the value 1; `tile=2`.
# Tile 0 gives 7 and $\log 4$. Tile 1 has only key 2, so it gives 1 and $\log 3$. The shares are $\tfrac47$ and $\tfrac37$, so
# the output is $\tfrac47 \cdot 7 + \tfrac37 \cdot 1 = \tfrac{31}{7}$, and the log-sum-exp is $\log 7$.


# %% nbgrader={"grade": false, "grade_id": "tiled_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def tiled_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None, tile: int = 64
) -> tuple[torch.Tensor, torch.Tensor]:
    """`partial_attention` of all keys, which are read `tile` at a time, each once.

    Shapes as there. No tensor on the way has more than T * tile scores or weights for each leading index.
    Returns (output (..., T, V), lse (..., T)). Raises ValueError if tile < 1.
    """
    ### BEGIN SOLUTION
    if tile < 1:
        raise ValueError(f"tile is {tile}, and must be at least 1")
    S = key.shape[-2]
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], S)
    result = None
    for start in range(0, S, tile):
        part = slice(start, start + tile)
        blocked = None if mask is None else mask[..., part]
        found = partial_attention(query, key[..., part, :], value[..., part, :], blocked)
        result = found if result is None else merge(*result, *found)
    return result
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_tiled_attention", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(tiled_attention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(tiled_attention)
### END HIDDEN TESTS

# %% [markdown]
# Compare it with attention to all keys at once: for several tile sizes, with a causal mask, and for a query that sees nothing.

# %%
future = torch.ones(6, 12, dtype=torch.bool).triu(7)  # six queries, at the last six of twelve positions
future[2] = True  # query 2 sees nothing
for tile in (1, 2, 5, 12, 64):
    found = tiled_attention(query, key, value, tile=tile)
    torch.testing.assert_close(found[0], F.scaled_dot_product_attention(query, key, value), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found[1], torch.logsumexp(query @ key.mT / 8**0.5, -1), rtol=1e-4, atol=1e-5)
    blocked = tiled_attention(query, key, value, future, tile=tile)
    torch.testing.assert_close(blocked[0], partial_attention(query, key, value, future)[0], rtol=1e-4, atol=1e-5)
    assert not blocked[0][2].any() and blocked[1][2] == -torch.inf
print("Tiles of 1, 2, 5, 12 and 64 keys give the same result.")

# %% [markdown]
# ## 5. What memory it takes
#
# `AllocationProbe`, which `check` also uses, watches every operator that PyTorch runs. It notes the largest tensor, and counts the
# multiplications of the matrix products.


# %%
def whole(query, key, value):
    """Attention with all its weights at once."""
    return torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, dim=-1) @ value


def measured(function, T):
    """The largest tensor in megabytes, and the multiplications, for T queries and keys of width 16 in float32."""
    query, key, value = torch.randn(3, T, 16, generator=torch.Generator().manual_seed(T))
    with AllocationProbe() as making:
        function(query, key, value)
    return making.most * 4 / 1e6, making.products


# %% [markdown]
# ### Predict: twice the text
#
# With twice as many queries and keys, all scores together take four times the memory. By what factor does the largest tensor
# of `tiled_attention` grow, with the same `tile`?

# %%
# The factor: a number
predict("twice the text, in tiles", ...)

# %% [markdown]
# ### Predict: the multiplications
#
# How many multiplications does `tiled_attention` take, compared with attention to all keys at once?

# %%
# The multiplications: "fewer", "as many" or "more"
predict("the multiplications in tiles", ...)

# %%
lengths = [256, 512, 1024, 2048]
found = {
    "all at once": [measured(whole, T) for T in lengths],
    "tiles of 64": [measured(tiled_attention, T) for T in lengths],
}
largest = {name: [size for size, _ in rows] for name, rows in found.items()}
for name, rows in found.items():
    print(
        f"{name}: "
        + ", ".join(f"{size:.2f} MB and {n / 1e6:.0f} million at {T}" for T, (size, n) in zip(lengths, rows))
    )
print("Each entry: the largest tensor, and the multiplications, for this many queries and keys.")

# %% tags=["demo"]
# @title The largest tensor against the length of the text
drawn = figures.tiles.largest_tensors(lengths, largest)
figures.show(drawn)

# %% [markdown]
# Every query is still multiplied with every key, so tiles save memory, but no multiplications. Now put your function into
# the small language model, in tiles of 16 keys:

# %%
lm = small_lm.load(yours=True)
in_tiles, built_in = lm.compare(tiled_attention=tiled_attention)

# %% [markdown]
# ## 6. Tiles of queries, and blocks that are skipped
#
# `T × tile` scores still grow with the number of queries. So cut the queries into tiles as well: a **block** has `tile`
# queries and `tile` keys, however long the text is. Tiles of queries do not need each other's results, so a GPU computes many
# of them at the same time. With a causal mask, no query of a block above the diagonal sees any of its keys, so you can skip
# such a block entirely.
#
# ### Step: the kind of a block
#
# *Step ★☆☆ · about 2 minutes.* A block has the queries `first_query` to `last_query` and the keys `first_key` to `last_key`, both
# ends included. Return `"open"` if every query sees every key, `"blocked"` if no query sees any key, and `"mixed"` otherwise. The
# mask is causal: query $i$ sees key $j$ if $j \le i$.
#
# **Worked example.** With the queries 4 to 7, the keys 0 to 3 form an open block, the keys 4 to 7 a mixed one, and the keys 8
# to 11 a blocked one.


# %%
def kind_of_block(first_query: int, last_query: int, first_key: int, last_key: int) -> str:
    """Whether causal attention sees all of a block ("open"), nothing ("blocked") or a part ("mixed")."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(kind_of_block)

# %% [markdown]
# ### Predict: the blocks that are left
#
# 64 queries and 64 keys are cut into tiles of 8, so there are $8 \times 8 = 64$ blocks. How many of them must causal attention
# compute?

# %%
# The blocks: a number
predict("the blocks that are left", ...)

# %% tags=["demo"]
# @title The blocks of causal attention
figures.show(figures.tiles.causal_blocks(kind_of_block))

# %% [markdown]
# With $n$ tiles in each direction, $n(n + 1)/2$ of $n^2$ blocks are left. Only the $n$ blocks on the diagonal need a mask.
#
# ### Exercise 5: `causal_tiled_attention(query, key, value, tile=64)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# Return the same pair as `partial_attention` with a causal mask, for `T` queries and `T` keys: query $i$ sees the keys 0 to
# $i$.
#
# - Work in blocks of at most `tile` queries and `tile` keys. No tensor may have more elements than one block, `tile × tile`
#   for each leading index, or, if that is larger, than the largest argument or result.
# - Skip the blocks in which everything is blocked. `check` counts the multiplications, and expects those of the blocks on and
#   below the diagonal.
# - If `tile` is less than 1, raise a `ValueError` that names `tile` and its value.
# - You may call your earlier functions; a mistake in them costs no points here.
#
# **Worked example.** Three queries and three keys, `tile=2`. The queries 0 and 1 form a mixed block with the keys 0 and 1;
# their block with key 2 is skipped. Query 2 forms an open block with the keys 0 and 1, and a block on the diagonal with key 2.
# So 3 of 4 blocks are computed.


# %% nbgrader={"grade": false, "grade_id": "causal_tiled_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_tiled_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, tile: int = 64
) -> tuple[torch.Tensor, torch.Tensor]:
    """`partial_attention` with a causal mask, in blocks of at most tile x tile scores; blocked blocks are skipped.

    query, key: (..., T, K), value: (..., T, V); query i sees the keys 0 to i.
    Returns (output (..., T, V), lse (..., T)). Raises ValueError if tile < 1.
    """
    ### BEGIN SOLUTION
    if tile < 1:
        raise ValueError(f"tile is {tile}, and must be at least 1")
    outputs, lses = [], []
    for first in range(0, query.shape[-2], tile):
        q = query[..., first : first + tile, :]
        size = q.shape[-2]
        diagonal = torch.ones(size, size, dtype=torch.bool, device=query.device).triu(1)
        result = partial_attention(q, key[..., first : first + tile, :], value[..., first : first + tile, :], diagonal)
        for start in range(0, first, tile):  # the blocks below the diagonal are open
            found = partial_attention(q, key[..., start : start + tile, :], value[..., start : start + tile, :])
            result = merge(*result, *found)
        outputs.append(result[0])
        lses.append(result[1])
    return torch.cat(outputs, dim=-2), torch.cat(lses, dim=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_causal_tiled_attention", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(causal_tiled_attention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(causal_tiled_attention)
### END HIDDEN TESTS

# %%
for T in (256, 512, 1024, 2048):
    size, products = measured(causal_tiled_attention, T)
    print(
        f"{T:4} queries: largest tensor {size:.3f} MB, {products / T**2 / 32:.0%} of the multiplications of all pairs"
    )
in_blocks, built_in = lm.compare(causal_tiled_attention=causal_tiled_attention)

# %% [markdown]
# In long texts, the largest tensor of your function is an argument or a result, not a block, so it grows only in proportion to
# the text. A block of 64 by 64 weights takes 16 KB, also for the text at the beginning, whose weights fill 40 GB. The last
# line is from the small language model again, with blocks of 16 by 16.

# %% [markdown]
# ## 7. The backward pass
#
# You can train with `tiled_attention`: autograd computes its gradients. For these, it stores the tensors that the backward
# pass of each operation needs. The next function adds up their sizes. (You need not follow its code.)


# %%
def kept_for_backward(function, T=512):
    """How many floats autograd keeps, in units of T * T, for queries and keys of width 4."""
    query, key, value = torch.randn(3, T, 4, generator=torch.Generator().manual_seed(T)).requires_grad_().unbind()
    kept = {}

    def note(tensor):
        if tensor.is_floating_point():
            kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes() // tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = function(query, key, value)
    del result
    return sum(kept.values()) / T**2


# %% [markdown]
# ### Predict: what autograd keeps
#
# After `tiled_attention` has read all keys, how many of the $T \times S$ weights does autograd keep in memory?

# %%
# How many: "one tile of them", "about half" or "all of them"
predict("what autograd keeps", ...)


# %%
for name, function in {"all at once": whole, "in tiles of 64": tiled_attention}.items():
    print(f"{name:15} autograd keeps {kept_for_backward(function):.2f} x T x S floats")

# %% [markdown]
# The remedy is to keep none of the weights, and to compute them **again** in the backward pass (*recomputation*). The scores
# follow from the queries and keys, and the weights are $e^{s_{ij} - \ell_i}$, as in your `weights_from`. So one number per
# query replaces $S$ weights.
#
# Let $\mathbf{g}_i$, `(V,)`, be the gradient of the loss with respect to the output $\mathbf{o}_i$. Recall the gradients of a
# matrix product: if $\mathbf{G}$ is the gradient with respect to $\mathbf{O} = \mathbf{A}\mathbf{V}$, then
# $\mathbf{G}\mathbf{V}^\top$ is the gradient with respect to $\mathbf{A}$, and $\mathbf{A}^\top\mathbf{G}$ that with respect
# to $\mathbf{V}$. Work backwards from the output; “gets” means “has the gradient”:
#
# 1. The output is the product of weights and values. So $\mathbf{v}_j$ gets $\sum_i a_{ij}\, \mathbf{g}_i$, and the weight
#    $a_{ij}$ gets $b_{ij} = \mathbf{g}_i \cdot \mathbf{v}_j$.
# 2. Before that comes softmax: if one score rises, its weight rises and the others fall. The score $s_{ij}$ gets
#    $a_{ij} (b_{ij} - c_i)$, where $c_i = \sum_j a_{ij}\, b_{ij}$ is the weighted average of the row.
# 3. Scores are dot products times $1/\sqrt{d_k}$. So $\mathbf{q}_i$ gets $\tfrac{1}{\sqrt{d_k}} \sum_j a_{ij}(b_{ij} - c_i)\,
#    \mathbf{k}_j$, and $\mathbf{k}_j$ gets $\tfrac{1}{\sqrt{d_k}} \sum_i a_{ij}(b_{ij} - c_i)\, \mathbf{q}_i$.
#
# All of this works tile by tile, except that $c_i$ is an average over *all* keys. But you can compute it in another way:
#
# $$ c_i = \sum_j a_{ij} \, (\mathbf{g}_i \cdot \mathbf{v}_j) = \mathbf{g}_i \cdot \sum_j a_{ij}\, \mathbf{v}_j
#        = \mathbf{g}_i \cdot \mathbf{o}_i $$
#
# This is a dot product with the output, which you already have.
#
# ### Step: through softmax (extra)
#
# *Step ★★☆ · about 4 minutes.* Point 2 for whole rows: `weights` and `grad_weights`, both `(..., S)`, are $a$ and $b$. Return the
# gradient with respect to the scores, `(..., S)`.
#
# **Worked example.** The weights $\tfrac14, \tfrac34$ have the gradients 4 and 8. The average is $1 + 6 = 7$, so the scores
# get $\tfrac14(4 - 7) = -\tfrac34$ and $\tfrac34(8 - 7) = \tfrac34$. They sum to 0.


# %%
def through_softmax(weights: torch.Tensor, grad_weights: torch.Tensor) -> torch.Tensor:
    """The gradient with respect to the scores, from softmax's weights and the gradient with respect to these. (..., S)"""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(through_softmax)

# %% [markdown]
# ### Exercise 6: `tiled_backward(query, key, value, output, lse, grad_output, tile=64)`
#
# *Difficulty ★★★ · about 15 minutes*
#
# `output` and `lse` are what `tiled_attention` returned for these queries, keys and values, without a mask. `grad_output`,
# `(..., T, V)`, is the gradient with respect to the output. Return `(grad_query, grad_key, grad_value)`, with the shapes of
# `query`, `key` and `value`. Read the keys `tile` at a time, with the same limit on memory as in exercise 4. You may not use
# autograd, and your results need not be differentiable.
#
# **Worked example.** Take exercise 2 again: weights $\tfrac14, \tfrac34$, values 4 and 8, output 7. Let $g$ be 1. The values
# get $\tfrac14$ and $\tfrac34$. The weights get $b = (4, 8)$, the average is $c = 1 \cdot 7$, and so the scores get
# $-\tfrac34$ and $\tfrac34$. Scores are divided by 2, and the keys are $(0, 1, 0, 0)$ and $(\log 3, 0, 0, 0)$: the query gets
# $\bigl(\tfrac38 \log 3, -\tfrac38, 0, 0\bigr)$. The query is $(2, 0, 0, 0)$: the keys get $(-\tfrac34, 0, 0, 0)$ and
# $(\tfrac34, 0, 0, 0)$.


# %% nbgrader={"grade": false, "grade_id": "tiled_backward", "locked": false, "schema_version": 3, "solution": true, "task": false}
def tiled_backward(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    output: torch.Tensor,
    lse: torch.Tensor,
    grad_output: torch.Tensor,
    tile: int = 64,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradients of `tiled_attention` without a mask, from what it returned, `tile` keys at a time.

    query: (..., T, K), key: (..., S, K), value: (..., S, V); output and lse as they were returned;
    grad_output: (..., T, V), the gradient with respect to the output.
    Returns (grad_query, grad_key, grad_value), in the shapes of query, key and value.
    """
    ### BEGIN SOLUTION
    scale = query.shape[-1] ** -0.5
    average = (grad_output * output).sum(-1, keepdim=True)  # (..., T, 1)
    grad_query, grad_keys, grad_values = torch.zeros_like(query), [], []
    for start in range(0, key.shape[-2], tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        weights = torch.exp(query @ k.mT * scale - lse[..., None])  # (..., T, tile)
        grad_scores = weights * (grad_output @ v.mT - average) * scale
        grad_query = grad_query + grad_scores @ k
        grad_keys.append(grad_scores.mT @ query)
        grad_values.append(weights.mT @ grad_output)
    return grad_query, torch.cat(grad_keys, dim=-2), torch.cat(grad_values, dim=-2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_tiled_backward", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(tiled_backward)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(tiled_backward)
### END HIDDEN TESTS

# %% [markdown]
# Compare the gradients with autograd's, for three tile sizes:

# %%
inputs = [x.clone().requires_grad_() for x in (query, key, value)]
grad_output = torch.randn(6, 8, generator=generator)
exact = torch.autograd.grad(F.scaled_dot_product_attention(*inputs), inputs, grad_output)
output, lse = tiled_attention(query, key, value)
for tile in (1, 5, 64):
    found = tiled_backward(query, key, value, output, lse, grad_output, tile=tile)
    for gradient, autograds in zip(found, exact, strict=True):
        torch.testing.assert_close(gradient, autograds, rtol=1e-3, atol=1e-5)
print("The gradients of queries, keys and values equal autograd's.")

# %% [markdown]
# ### Forward and backward in one function (extra)
#
# In PyTorch, you can define an operation together with its backward pass, as an `autograd.Function`. Its `forward` saves what
# `tiled_backward` needs: here the three inputs, the output, and one number per query.


# %%
class Tiled(torch.autograd.Function):
    """Attention in tiles, with its backward pass: query (T, K), key (S, K), value (S, V) -> output (T, V)."""

    @staticmethod
    def forward(ctx, query, key, value):
        output, lse = tiled_attention(query, key, value)
        ctx.save_for_backward(query, key, value, output, lse)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        return tiled_backward(*ctx.saved_tensors, grad_output)


def multiplications(function, T=256):
    """The multiplications of a forward and a backward pass, with queries, keys and values of width 16."""
    query, key, value = torch.randn(3, T, 16, generator=torch.Generator().manual_seed(T)).requires_grad_().unbind()
    with AllocationProbe() as making:
        function(query, key, value).sum().backward()
    return making.products


# %% [markdown]
# ### Predict: the price of less memory (extra)
#
# How many multiplications does `Tiled` take in the forward and backward pass together, compared with attention to all keys at
# once?

# %%
# The multiplications: "as many", "a sixth more" or "twice as many"
predict("the price of less memory", ...)

# %%
for name, function in {"all at once": whole, "in tiles, with your backward pass": Tiled.apply}.items():
    kept, products = kept_for_backward(function), multiplications(function)
    print(f"{name:34} keeps {kept:.3f} x T x S floats; {products / 1e6:.1f} million multiplications")

# %% [markdown]
# The only extra matrix product is that of the scores, which are computed in both passes: seven products instead of six.

# %% [markdown]
# ## Your experiment (extra)
#
# *Experiment ★★☆ · about 8 minutes.* **How often does the largest score so far rise?** Each time it does, the online softmax
# must multiply its sums by $e^{m_{\text{old}} - m_{\text{new}}}$.
#
# Take 1000 queries with 1000 random scores each. Count, for each query, how many of its keys have a larger score than all keys
# before them; the first key counts. (`torch.cummax(scores, -1)` gives the largest score so far.) Plot how the mean count grows
# with the number of keys. Your finding is the mean count after all 1000 keys.

# %%
scores = torch.randn(1000, 1000, generator=torch.Generator().manual_seed(4))  # (T, S)

# Your code: the mean count for 1, 2, …, 1000 keys, and a plot

finding = ...  # the mean number of keys per query that raise the maximum

# %% tags=["demo"]
check("experiment", finding)

# %% [markdown]
# FlashAttention-4 (2025), a recent program for GPUs, makes use of this. It multiplies the sums only if the maximum has risen
# enough to matter, and reportedly saves nine in ten of these multiplications ([Modal, September
# 2025](https://modal.com/blog/reverse-engineer-flash-attention-4)).

# %% [markdown]
# ## 8. What a GPU gains
#
# On a GPU, attention in tiles can also be several times as fast, although the backward pass multiplies more. The reason is
# memory. A GPU has one large memory beside its chip, and on the chip a small one for each of its many computing units
# (*multiprocessors*):
#
# | | large memory | small memories, together |
# |---|---|---|
# | A100 (2020) | 40 GB, 1.5 TB/s | 20 MB, 19 TB/s |
# | H100 (2022) | 80 GB, 3.35 TB/s | 30 MB (228 KiB for each of 132 multiprocessors), 31 TB/s |
#
# (A100: figure 1 of the [FlashAttention paper](https://arxiv.org/abs/2205.14135), June 2022. H100: table 1 of the
# [FlashAttention-3 paper](https://arxiv.org/abs/2407.08608), July 2024. Checked in November 2026.)
#
# Attention to all keys at once writes $T \times S$ scores into the large memory, reads them for softmax, writes the weights,
# and reads those for the product with the values. The next cell compares this traffic with the arithmetic, on an H100, which
# makes up to 989 · 10¹² operations per second on 16-bit numbers (lesson 9).

# %%
T, width, number = 8192, 64, 2  # number of queries and of keys in one head, their width, bytes per bfloat16
arithmetic = 2 * T * T * (width + width) / 989e12  # seconds: a multiplication and an addition per pair and dimension
traffic = {"scores and weights, each written and read": 4 * T * T, "queries, keys, values and output": 4 * T * width}
print(f"arithmetic: {1e6 * arithmetic:5.1f} microseconds")
for name, numbers in traffic.items():
    print(f"{name:42} {number * numbers / 1e6:5.1f} MB, {1e6 * number * numbers / 3.35e12:6.1f} microseconds")

# %% [markdown]
# So without tiles, the GPU waits for its memory most of the time. **FlashAttention** ([Dao et al.
# 2022](https://arxiv.org/abs/2205.14135)) makes the tiles so small that a block of scores, with its queries, keys and values,
# fits into a small memory. One program does the work of your Python loop, and scores never reach the large memory. (Keys and
# values are read again for each tile of queries, mostly from a cache between the two.)
#
# ### A kernel to read (extra)
#
# A program that runs on a GPU is called a *kernel*. The next one is exercise 5, written in [Triton](https://triton-lang.org),
# a language for kernels that looks like Python. It is run once for each tile of queries, whose number is `tl.program_id(0)`,
# on many multiprocessors at a time. `tl.load` reads a tile from the large memory and `tl.store` writes a result there;
# everything in between stays on the chip.
#
# The kernel keeps $m$, $z$ and $\mathbf{u}$, as in your `read_key`, for a whole tile of queries, and divides once at the end.
# Find the line that skips the blocked blocks.

# %% tags=["demo"]
try:
    import triton
    import triton.language as tl
except ImportError:  # Triton is installed with PyTorch for CUDA on Linux
    triton = None

if triton is not None:

    @triton.jit
    def attend_to_tiles(query, key, value, output, lse, T, scale, WIDTH: tl.constexpr, TILE: tl.constexpr):
        """The output and the log-sum-exp of one tile of queries, causal; matrices are (T, WIDTH)."""
        first = tl.program_id(0) * TILE
        rows, columns = first + tl.arange(0, TILE), tl.arange(0, WIDTH)
        q = tl.load(query + rows[:, None] * WIDTH + columns[None, :], mask=rows[:, None] < T, other=0.0)
        m = tl.full([TILE], -float("inf"), tl.float32)
        z = tl.zeros([TILE], tl.float32)
        u = tl.zeros([TILE, WIDTH], tl.float32)
        for start in range(0, first + TILE, TILE):
            keys = start + tl.arange(0, TILE)
            k = tl.load(key + keys[:, None] * WIDTH + columns[None, :], mask=keys[:, None] < T, other=0.0)
            v = tl.load(value + keys[:, None] * WIDTH + columns[None, :], mask=keys[:, None] < T, other=0.0)
            s = tl.dot(q, tl.trans(k)) * scale  # (TILE, TILE)
            s = tl.where(keys[None, :] <= rows[:, None], s, -float("inf"))
            new = tl.maximum(m, tl.max(s, 1))
            shrink, added = tl.exp(m - new), tl.exp(s - new[:, None])
            z = z * shrink + tl.sum(added, 1)
            u = u * shrink[:, None] + tl.dot(added.to(v.dtype), v)
            m = new
        o = (u / z[:, None]).to(q.dtype)
        tl.store(output + rows[:, None] * WIDTH + columns[None, :], o, mask=rows[:, None] < T)
        tl.store(lse + rows, m + tl.log(z), mask=rows < T)


if triton is not None and torch.cuda.is_available() and torch.cuda.get_device_capability() >= (7, 0):
    q, k, v = torch.randn(3, 1000, 64, device="cuda", dtype=torch.float16)
    found, sums = torch.empty_like(q), torch.empty(1000, device="cuda")
    attend_to_tiles[(triton.cdiv(1000, 64),)](q, k, v, found, sums, 1000, 64**-0.5, 64, 64)
    expected = F.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None], is_causal=True)[0, 0]
    print(
        f"The kernel differs from PyTorch's attention by at most {(found - expected).abs().max():.4f}, in half precision."
    )
else:
    print("The kernel was not run: it needs Triton and an NVIDIA GPU of 2017 or later.")

# %% [markdown]
# ### What came after (extra)
#
# **FlashAttention-2** ([Dao 2023](https://arxiv.org/abs/2307.08691)) works on many tiles of queries at the same time, divides
# only at the end, as the kernel above does, and keeps only $\ell$ of each row for the backward pass. **FlashAttention-3**
# ([Shah et al. 2024](https://arxiv.org/abs/2407.08608)) is for the H100, where a copy unit can load the next tile during the
# multiplications. It also computes the softmax of one tile during the matrix products of another, because an H100 computes
# exponentials much more slowly than products, and it can work with 8-bit numbers. The paper reports up to 740 · 10¹²
# operations per second in half precision, 75% of what the chip can do; FlashAttention-2 reached 35% on it.
#
# These kernels support only a few kinds of mask. **FlexAttention** (in PyTorch since 2.5,
# [documentation](https://docs.pytorch.org/docs/stable/nn.attention.flex_attention.html)) makes a kernel for *your* mask. You
# write a function of two positions. PyTorch determines which blocks are open, mixed or blocked, as your `kind_of_block` did.
# It then compiles a Triton kernel that skips the blocked blocks and applies the mask only in the mixed ones:
#
# ```python
# from torch.nn.attention.flex_attention import create_block_mask, flex_attention
#
# def sees(batch, head, i, j):
#     return j <= i  # True = may look: the opposite of this course's masks
#
# block_mask = create_block_mask(sees, None, None, T, T)
# output = torch.compile(flex_attention)(query, key, value, block_mask=block_mask)
# ```
#
# `F.scaled_dot_product_attention` uses a tiled kernel where it has one, also on CPUs. The next cell measures its time, on a
# GPU if there is one. The milliseconds depend on the machine; look at their ratio.

# %% tags=["demo"]
# @title How long it takes, all at once and in PyTorch's tiles
from course.models import stopwatch

stopwatch.compare_attention(whole)

# %% [markdown]
# ## 9. A bug that shipped (extra)
#
# vLLM, a server for language models, reads long prompts in parts and merges the results of attention to them. For some queries,
# both parts had no keys.
#
# ```diff
# - highest = maximum(lse, other)                    # -inf, and then -inf - (-inf)
# + highest = maximum(lse, other).clamp(min=-1e30)
# ```
#
# So models such as DeepSeek-V3 failed at random, with NaN, under heavy load
# ([vllm-project/vllm#27491](https://github.com/vllm-project/vllm/issues/27491);
# [#39148](https://github.com/vllm-project/vllm/pull/39148) proposes this clamp for one kernel, and reports tests that found
# thousands of NaN without it). You met this case in exercise 3.
#
# More bugs that shipped are in the notebook `bug_museum.ipynb`.

# %% [markdown]
# ## Challenge: `merge_all(outputs, lses)` (extra)
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# When a model generates a token, it has one query per head and, in a long conversation, a hundred thousand keys. If one
# multiprocessor of a GPU reads them tile by tile, the others are idle. So each attends to a part of the keys, and at the end
# $P$ results become one. You could merge them two by two, but one step is enough: take the log-sum-exps as *scores* and the
# outputs as *values*.
#
# `outputs` is `(P, ..., T, V)`, `lses` `(P, ..., T)`: $P$ results of `partial_attention`, of the same queries and of different
# keys. Return the pair for all keys together, `(output (..., T, V), lse (..., T))`. A part whose `lse` is −∞ changes nothing.
# Where all are −∞, the output is 0 and the `lse` −∞, never NaN; there, the gradients only have to be finite. You may call your
# own functions, but not those that are excluded at the beginning of the lesson.
#
# **Worked example.** Three parts with the log-sum-exps $\log 1$, $\log 2$ and $\log 5$ have the shares $\tfrac18, \tfrac28,
# \tfrac58$. With the outputs $(4, 0)$, $(8, 4)$ and $(0, 2)$, the result is $(2.5,\; 2.25)$ and $\log 8$.


# %%
def merge_all(outputs: torch.Tensor, lses: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """P results of attention to different keys as one: (output (..., T, V), lse (..., T)).

    outputs: (P, ..., T, V), lses: (P, ..., T). A part whose lse is -inf changes nothing; where all are: 0 and -inf.
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(merge_all)

# %% [markdown]
# ## Summary
#
# 1. With the log-sum-exp $\ell_i$ of its row, each weight follows from its own score alone: $e^{s_{ij} - \ell_i}$.
# 2. Attention to a part of the keys gives an output and a log-sum-exp. Such results are merged by their shares, in any order.
# 3. So you never hold all weights at once, and the output is the same, apart from rounding. Tiles save memory; skipped blocks
#    save multiplications.
# 4. In the backward pass, the weights are computed again, and $\mathbf{g}_i \cdot \mathbf{o}_i$ gives the average that softmax
#    needs.
# 5. FlashAttention keeps each block in a small, fast memory of the GPU, so it is faster as well.
#
# $$ \ell_{\text{both}} = \log\left( e^{\ell} + e^{\ell'} \right) , \qquad
#    \mathbf{o}_{\text{both}} = e^{\ell - \ell_{\text{both}}}\, \mathbf{o} + e^{\ell' - \ell_{\text{both}}}\, \mathbf{o}' $$

# %% tags=["demo"]
# @title What you have built so far
figures.show(figures.tiles.so_far(lm, causal_tiled_attention))

# %% [markdown]
# **To read on:** Milakov and Gimelshein, [Online normalizer calculation for softmax](https://arxiv.org/abs/1805.02867) · Rabe and
# Staats, [Self-attention does not need O(n²) memory](https://arxiv.org/abs/2112.05682), a page of code · Dao et al.,
# [FlashAttention](https://arxiv.org/abs/2205.14135), both passes, and why a GPU is faster.
#
# In lesson 11 you open the model and find out what its heads do.

# %% tags=["demo"]
progress()
