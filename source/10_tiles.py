# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 10: Attention in tiles
#
# A text of 100,000 tokens has ten billion pairs of a query and a key. One head's weights for it, in float32, fill 40
# gigabytes; and they are made only to be multiplied with the values and thrown away. **Can attention be computed without
# its weights ever being there, all at once, and come out the same?**
#
# It can, exactly, and every large model of today relies on it. You will go over the keys a *tile* at a time, keep of each
# tile an output and one more number for each query, and learn to put two such results together. That number is the
# **log-sum-exp**. It will turn out to be all that the way back needs, too: at the end you write the gradients of
# attention by hand, in the same small memory. This is the algorithm of FlashAttention, without the GPU.
#
# **You need** softmax (lesson 2), scaled attention (lesson 4), masks (lesson 5); for the last exercise the gradient of
# a product of matrices, which is recalled there. Nothing from your earlier notebooks has to be copied.
#
# **Time:** about 95 minutes
#
# | letter | meaning |
# |---|---|
# | $T$, $S$ | how many queries, how many keys |
# | `K`, `V` | the width of queries and keys, the width of values |
# | $\mathbf{q}_t$, $\mathbf{k}_s$, $\mathbf{v}_s$ | a query `(K,)`, a key `(K,)`, a value `(V,)` |
# | $x_{ts}$ | a score, $\mathbf{q}_t \cdot \mathbf{k}_s / \sqrt{d_k}$; one row of scores is $x_0, \dots, x_{S-1}$ |
# | $\ell_t$ | the log-sum-exp of row $t$; `lse` in code, `(..., T)` |
# | $\mathbf{o}_t$ | the output for query $t$, `(V,)` |
# | `tile` | how many keys are read at a time |
# | `...` | any leading dimensions, such as a batch and heads; there may be none |
#
# In this lesson `torch.logsumexp`, `logaddexp`, `logcumsumexp`, every softmax and PyTorch's own attention are not
# allowed in your answers. In demonstrations they are what yours is compared with.

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, progress, sliders, torch_fallbacks, use
from torch import nn

begin("10_tiles")

# %% [markdown]
# ## Review: three questions on what came before
#
# *Review* · about 3 minutes. Answer each in your head or on paper before you unfold its answer. Where one will not
# come back, look at the summary of the lesson that it is from.
#
# **1.** Two scores are 1000 and 1001. What does softmax make of them, and what must be done before `exp`?
#
# <details><summary>Answer</summary>
#
# The same as of 0 and 1: about 0.27 and 0.73. Only differences count, so the largest score is subtracted first; `exp(1000)`
# is more than float32 can hold.
#
# </details>
#
# **2.** Queries and keys are 64 wide, values 32. By what are scores divided?
#
# <details><summary>Answer</summary>
#
# By 8, the root of the width of queries and keys. Values have no part in scores.
#
# </details>
#
# **3.** All keys of a query are blocked. What are its weights and its output, and what would the plain formula give?
#
# <details><summary>Answer</summary>
#
# All 0 in this course. The plain formula divides 0 by 0, which is NaN.
#
# </details>

# %%
from course.harness.allocation_probe import AllocationProbe

# %% [markdown]
# ## 1. One number for a whole row
#
# A row of softmax divides by the sum of all its exponentials. Write that sum as an exponential itself:
#
# $$ \ell = \log \sum_{s} e^{x_s}
#    \qquad\text{so that}\qquad
#    \operatorname{softmax}(x)_s = \frac{e^{x_s}}{e^{\ell}} = e^{x_s - \ell} . $$
#
# $\ell$ is called the **log-sum-exp** of the row. It is a soft kind of maximum: at least the largest score, and at most
# $\log S$ above it. Whoever knows $\ell$ can make any weight of the row from its score alone, without looking at the other
# scores. Keep that in mind; the whole lesson hangs on it.
#
# Computed as it stands, the sum overflows. Take the largest score $m$ out of it, as lesson 2 did for softmax:
#
# $$ \ell = m + \log \sum_{s} e^{x_s - m} $$
#
# ### Predict first
#
# What is the log-sum-exp of the scores 1000 and 1000?
#
# <details><summary>Answer</summary>
#
# $1000 + \log 2 \approx 1000.69$. Two equal scores: twice the sum, and so $\log 2$ more than one of them alone.
#
# </details>

# %% tags=["demo"]
for scores in ([0.0, 0.0], [1000.0, 1000.0], [5.0, -5.0, -5.0]):
    x = torch.tensor(scores)
    print(f"{scores!s:20} plain formula {x.exp().sum().log():8.4f}, torch.logsumexp {torch.logsumexp(x, -1):9.4f}")

# %% [markdown]
# ### A row of nothing
#
# A blocked score is $-\infty$ (lesson 5), and $e^{-\infty} = 0$: it adds nothing. Where *all* scores of a row are
# $-\infty$ the sum is 0, and $\log 0 = -\infty$ is the right answer, "I saw nothing". But $m$ is $-\infty$ then, and
# $-\infty - (-\infty)$ is NaN. And if you get round that, there is a second trap behind the first: the logarithm is
# infinitely steep at 0, so that a gradient of 0 on its way back becomes $0 \cdot \infty$, which is NaN again. Both are cured
# in the same way: put a harmless number in the place of the bad one *before* it does harm, and the right result in at the
# end.
#
# ### Exercise 1: `logsumexp_of(scores)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# Scores `(..., S)` to `(...)`: the log-sum-exp over the last dimension, for any finite scores. $-\infty$ adds nothing;
# only where all scores of a row are $-\infty$ the result is $-\infty$. It is never NaN, and neither is its gradient, which
# is 0 for a row of nothing.
#
# **On paper.** Scores $\log 1, \log 2, \log 5$: the exponentials are 1, 2 and 5, their sum is 8, and the result
# $\log 8 \approx 2.079$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(logsumexp_of)


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
# From here on `log_of_sum` is your function once it passes; until then it is PyTorch's.

# %%
log_of_sum = use(logsumexp_of, otherwise=torch_fallbacks.logsumexp)
x = torch.tensor([2.0, 0.0, 1.0, -3.0])
weights = torch.exp(x - log_of_sum(x))  # e^(x - lse), nothing else
torch.testing.assert_close(weights, torch.softmax(x, -1))
print(f"weights {[round(w, 4) for w in weights.tolist()]}, equal to softmax. By {log_of_sum.whose}.")

# %% [markdown]
# ### Its gradient is softmax
#
# How much does $\ell$ rise when one score rises? On paper, $\partial \ell / \partial x_s = e^{x_s} / \sum e^{x} $, which is
# the weight of that score. So the slope of a log-sum-exp is a softmax, and one line shows it:

# %%
x = torch.tensor([2.0, 0.0, 1.0, -3.0], requires_grad=True)
(slope,) = torch.autograd.grad(log_of_sum(x), x)
torch.testing.assert_close(slope, torch.softmax(x, -1))
print("the gradient of the log-sum-exp:", [round(s, 4) for s in slope.tolist()])

# %% [markdown]
# ## 2. A part of the keys
#
# Suppose a query is allowed to see some of the keys only: the first hundred of a thousand, say. What attention makes of
# them is an honest result *for those keys*, with weights that sum to 1. It cannot be the result for all of them, since
# nobody knows yet how much weight the other nine hundred will want. What is missing is one number: how large the sum of
# exponentials was by which we divided. So return it, too, as its logarithm:
#
# $$ \mathbf{o}_t = \sum_{s} e^{x_{ts} - \ell_t}\, \mathbf{v}_s , \qquad
#    \ell_t = \log \sum_{s} e^{x_{ts}} , \qquad
#    x_{ts} = \frac{\mathbf{q}_t \cdot \mathbf{k}_s}{\sqrt{d_k}} $$
#
# The weights are not returned. They are what we want to be rid of.
#
# ### A part that sees nothing
#
# With a mask it happens all the time that a query may see no key of a part: with a causal mask the first query sees none
# but the first key. Its output is then 0, and its log-sum-exp $-\infty$, the logarithm of the empty sum. In
# $e^{x - \ell}$ both would be $-\infty$, so look out.
#
# ### Exercise 2: `partial_attention(query, key, value, mask=None)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# `query` `(..., T, K)`, `key` `(..., S, K)`, `value` `(..., S, V)`; `mask` broadcasts to `(..., T, S)`, and True is
# *blocked*. Return `(output, lse)`, `(..., T, V)` and `(..., T)`: scaled attention to these keys, and the log-sum-exp of the
# scaled scores that are not blocked. Scores go up to ±10,000. You may call your `logsumexp_of`; if it is wrong, that does not
# cost you here again.
#
# **On paper.** One query $(2, 0, 0, 0)$, so the root is 2. Two keys, $(0, 1, 0, 0)$ and $(\log 3, 0, 0, 0)$: the scaled
# scores are $0$ and $\log 3$, their exponentials 1 and 3. With the values 4 and 8 the output is
# $\tfrac14 \cdot 4 + \tfrac34 \cdot 8 = 7$, and the log-sum-exp $\log 4 \approx 1.386$. If the second key is blocked: output
# 4, log-sum-exp $\log 1 = 0$. If both are: 0 and $-\infty$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(partial_attention)


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
check(partial_attention)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(partial_attention)
### END HIDDEN TESTS

# %%
attend = use(partial_attention, otherwise=torch_fallbacks.partial_attention)

generator = torch.Generator().manual_seed(10)
query, key, value = (torch.randn(n, 8, generator=generator) for n in (6, 12, 12))  # (T, K), (S, K), (S, V)
output, lse = attend(query, key, value)
torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value), rtol=1e-4, atol=1e-5)
print(f"output {tuple(output.shape)}, equal to PyTorch's; lse {tuple(lse.shape)}. By {attend.whose}.")

# %% [markdown]
# ## 3. Two parts into one
#
# Now you hold two results for the same queries: $(\mathbf{o}, \ell)$ from some of the keys, $(\mathbf{o}', \ell')$ from the
# others. What would attention to all of them have given? Undo the divisions: $e^{\ell} \mathbf{o}$ is the sum of values,
# weighted by plain exponentials, and such sums can simply be added. Then divide by the sum of both sums.
#
# $$ \ell_{\text{both}} = \log\left( e^{\ell} + e^{\ell'} \right) , \qquad
#    \mathbf{o}_{\text{both}} = e^{\ell - \ell_{\text{both}}}\, \mathbf{o} + e^{\ell' - \ell_{\text{both}}}\, \mathbf{o}' $$
#
# Each side gets a **share**; the two shares sum to 1. It is softmax once more, over two parts instead of over keys.
#
# ### Predict first
#
# One side has seen 1,000 keys, the other a single one, whose score is higher than all the others by 20. Which side has the
# larger share?
#
# <details><summary>Answer</summary>
#
# The single key, by far. A thousand scores have at most the sum of $1000 \cdot e^{m}$, and $\log 1000 \approx 6.9$; the one
# key has $e^{m + 20}$. Its share is at least $1 - e^{-13}$. How many keys a side has seen is not what counts.
#
# </details>
#
# ### Nothing, merged with something
#
# A side that saw nothing has $\ell = -\infty$ and the share $e^{-\infty} = 0$: it changes nothing, without a special case.
# Only where *both* sides saw nothing is $\ell_{\text{both}} = -\infty$ subtracted from $-\infty$. The output is 0 then, the
# log-sum-exp $-\infty$: nothing and nothing is nothing.
#
# ### Exercise 3: `merge(output, lse, other_output, other_lse)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# Outputs are `(..., T, V)`, log-sum-exps `(..., T)`. Return the pair for all keys together. It must not matter which side
# comes first, nor, to rounding, in which order several parts are merged. Log-sum-exps reach ±10,000, so that `exp` of one
# by itself will not do.
#
# **On paper.** Output $(4, 0)$ with $\ell = \log 1$, and output $(8, 4)$ with $\ell' = \log 3$. The sums are 1 and 3, so the
# shares are $\tfrac14$ and $\tfrac34$: the output is $(7, 3)$, and $\ell_{\text{both}} = \log 4$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(merge)


# %% nbgrader={"grade": false, "grade_id": "merge", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge(
    output: torch.Tensor, lse: torch.Tensor, other_output: torch.Tensor, other_lse: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Two results of `partial_attention`, of the same queries and different keys, as one.

    output, other_output: (..., T, V); lse, other_lse: (..., T). Returns (output (..., T, V), lse (..., T)) for all
    keys together. A side whose lse is -inf changes nothing.
    """
    ### BEGIN SOLUTION
    together = logsumexp_of(torch.stack([lse, other_lse], dim=-1))  # (..., T)
    safe = together.masked_fill(together.isneginf(), 0.0)
    share, other_share = torch.exp(lse - safe), torch.exp(other_lse - safe)
    return share[..., None] * output + other_share[..., None] * other_output, together
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_merge", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(merge)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(merge)
### END HIDDEN TESTS

# %%
join = use(merge, otherwise=torch_fallbacks.merge)

pieces = [attend(query, key[part], value[part]) for part in (slice(0, 5), slice(5, 6), slice(6, 12))]
left = join(*join(*pieces[0], *pieces[1]), *pieces[2])
right = join(*pieces[0], *join(*pieces[1], *pieces[2]))
backwards = join(*pieces[2], *join(*pieces[1], *pieces[0]))
for whole in (left, right, backwards):
    torch.testing.assert_close(whole[0], output, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(whole[1], lse, rtol=1e-4, atol=1e-5)
print(f"5, 1 and 6 keys, merged in three orders: each time the output for all 12. Merged by {join.whose}.")

# %% [markdown]
# That this can be done in any order is worth a moment. It means that the keys may lie anywhere: in tiles that come one after
# another, on eight GPUs that each hold an eighth of a long text (*ring attention*), or half in a cache that many users share
# and half in each user's own. Everybody attends to what they have, and pairs of an output and a number a query are all that
# travels.

# %% [markdown]
# ## 4. All keys, a tile at a time
#
# Begin with the smallest tile there is, one key, and look at what is kept as the keys go by. Of what has been read so far
# there are the largest score $m$, the sum $\textstyle\sum e^{x - m}$, and the output. When a larger score comes along, the
# sum and the output so far were made with the old maximum: they shrink by $e^{m_{\text{old}} - m_{\text{new}}}$. This is the
# **online softmax** ([Milakov and Gimelshein 2018](https://arxiv.org/abs/1805.02867)); with $\ell = m + \log \text{sum}$ it
# is a merge with a part of one key. Move the slider over the keys, and watch the step from 4 keys to 5.


# %%
row_scores = torch.tensor([1.0, -0.5, 2.0, 0.5, 4.0, 1.5, 3.0, -1.0])  # one query's scores with eight keys
row_values = torch.tensor([1.0, 5.0, 2.0, 3.0, 6.0, 0.0, 4.0, 5.0])  # a value of one number each


def after(keys_read):
    """A picture of what is kept after so many keys."""
    kept = torch.full((), -torch.inf), torch.zeros(()), torch.zeros(())  # maximum, sum, output
    history = []
    for score, number in zip(row_scores[:keys_read], row_values[:keys_read], strict=True):
        highest, total, mean = kept
        new = torch.maximum(highest, score)
        shrink, added = torch.exp(highest - new), torch.exp(score - new)
        new_total = total * shrink + added
        kept = new, new_total, (mean * total * shrink + number * added) / new_total
        history.append(kept)
    return figures.tiles.running(row_scores, row_values, history)


# %% tags=["demo"]
# @title Slider: what is kept as the keys go by
sliders.slider(after, strip=[{"keys_read": n} for n in (2, 4, 5, 8)], start={"keys_read": 2}, keys_read=(1, 8, 1))

# %% [markdown]
# After the last key the output is that of softmax over all eight, and no list of eight weights was ever made. The sum may
# fall, as it does at the fifth key, key 4: it is counted in units of $e^{m}$, and the unit has grown.
#
# Key by key is slow: computers are good at large products of matrices. So take a tile of keys at once: scores
# `(..., T, tile)`, a `partial_attention` of them, and a `merge` with what there is so far.
#
# ### Exercise 4: `tiled_attention(query, key, value, mask=None, tile=64)`
#
# *Difficulty ★★★ · about 15 minutes*
#
# The same pair as `partial_attention` of all keys, to rounding, for any `tile` from 1 on, also where it does not divide $S$ or
# is larger. The keys are read `tile` at a time, each once. On the way no tensor has more than `T × tile` scores or weights
# for each leading index. The judge sees that: it notes the size of every tensor of fractions that your code makes, and how
# often queries are multiplied with keys. (A mask of `(T, S)` may be there; it was handed to you.
# Nor may the results of all tiles be collected and merged at the end: they grow with the number of tiles.) If `tile` is less
# than 1, raise a `ValueError` that names it and its value.
#
# The mask broadcasts to `(..., T, S)`, as ever: its last dimension may be 1. You may call your `partial_attention` and
# `merge`; if one is wrong, that does not cost you here again.
#
# **On paper.** The query and the two keys of exercise 2, and a third key like the second, with the value 1; `tile=2`. The
# first tile gives 7 and $\log 4$. The second tile has one key: output 1, log-sum-exp $\log 3$. The shares are
# $\tfrac47$ and $\tfrac37$, the output is $\tfrac47 \cdot 7 + \tfrac37 \cdot 1 = \tfrac{31}{7}$, and the log-sum-exp
# $\log 7$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(tiled_attention)


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
check(tiled_attention)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(tiled_attention)
### END HIDDEN TESTS

# %% [markdown]
# Is it the same? To rounding it is: whatever the tile, with a causal mask, and where a query sees nothing.

# %%
tiled = use(tiled_attention, otherwise=torch_fallbacks.tiled_attention)
future = torch.ones(6, 12, dtype=torch.bool).triu(7)  # six queries, the last of twelve positions
future[2] = True  # and one that sees nothing
for tile in (1, 2, 5, 12, 64):
    found = tiled(query, key, value, tile=tile)
    torch.testing.assert_close(found[0], F.scaled_dot_product_attention(query, key, value), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found[1], torch.logsumexp(query @ key.mT / 8**0.5, -1), rtol=1e-4, atol=1e-5)
    blocked = tiled(query, key, value, future, tile=tile)
    torch.testing.assert_close(blocked[0], attend(query, key, value, future)[0], rtol=1e-4, atol=1e-5)
    assert not blocked[0][2].any() and blocked[1][2] == -torch.inf
print(f"Tiles of 1, 2, 5, 12 and 64 keys: the full pass, each time. By {tiled.whose}.")

# %% [markdown]
# ### Exercise 5: `causal_tiled_attention(query, key, value, tile=64)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# `partial_attention` with a causal mask, for as many queries as keys: query $i$ sees the keys 0 to $i$. Cut the queries into
# tiles, too: a block is the scores of at most `tile` queries and `tile` keys. A block above the diagonal has keys that all
# come after all of its queries: skip it, so that none of its scores is computed. Blocks on the diagonal need a mask, and
# blocks below it need none.
#
# The judge counts as in exercise 4. No tensor of fractions is larger than one block, `tile × tile` for each leading index, or
# than the largest argument; and there are no more multiplications than the blocks on and below the diagonal need. You may
# call your `partial_attention` and `merge`. If `tile` is less than 1, raise a `ValueError` that names it and its value.
#
# **On paper.** Five queries, five keys, `tile=2`: three tiles of queries and three of keys, so nine blocks. Three are above the
# diagonal. The last query has a tile for itself; it takes the keys 0–1, 2–3 and 4.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(causal_tiled_attention)


# %% nbgrader={"grade": false, "grade_id": "causal_tiled_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_tiled_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, tile: int = 64
) -> tuple[torch.Tensor, torch.Tensor]:
    """`partial_attention` where query i sees keys 0 ... i, in blocks of tile x tile; blocks above the diagonal are skipped.

    query, key: (..., T, K), value: (..., T, V). Returns (output (..., T, V), lse (..., T)). Raises ValueError if tile < 1.
    """
    ### BEGIN SOLUTION
    if tile < 1:
        raise ValueError(f"tile is {tile}, and must be at least 1")
    T = query.shape[-2]
    position = torch.arange(T, device=query.device)
    rows = []
    for first in range(0, T, tile):
        queries = slice(first, first + tile)
        result = None
        for start in range(0, first + 1, tile):  # later tiles of keys are above the diagonal
            keys = slice(start, start + tile)
            mask = position[keys] > position[queries, None] if start == first else None
            found = partial_attention(query[..., queries, :], key[..., keys, :], value[..., keys, :], mask)
            result = found if result is None else merge(*result, *found)
        rows.append(result)
    outputs, lses = zip(*rows, strict=True)
    return torch.cat(outputs, dim=-2), torch.cat(lses, dim=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_causal_tiled_attention", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(causal_tiled_attention)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(causal_tiled_attention)
### END HIDDEN TESTS

# %% [markdown]
# ## 5. What memory it takes
#
# ### Predict first
#
# 100,000 queries and as many keys, one head, float32. How many bytes are all scores, and how many those of one tile of 64
# keys? How do both grow when the text becomes twice as long?
#
# <details><summary>Answer</summary>
#
# $10^5 \cdot 10^5 \cdot 4$ bytes are 40 gigabytes. A tile has $10^5 \cdot 64 \cdot 4$, which is 26 megabytes. Twice the
# text: four times the scores, and twice the tile.
#
# </details>
#
# Now measured. PyTorch lets one look at every operator as it runs; `AllocationProbe`, which the grader uses, notes the largest tensor
# that a call makes.


# %%
def whole(query, key, value):
    """Attention with all its weights at once."""
    return torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, dim=-1) @ value


def megabytes(function, T):
    """The largest tensor that `function` makes for T queries and keys of width 16, in float32."""
    query, key, value = torch.randn(3, T, 16, generator=torch.Generator().manual_seed(T))
    with AllocationProbe() as making:
        function(query, key, value)
    return making.most * 4 / 1e6


lengths = [256, 512, 1024, 2048, 4096]
largest = {
    "all at once": [megabytes(whole, T) for T in lengths],
    "tiles of 64": [megabytes(tiled, T) for T in lengths],
}
for name, sizes in largest.items():
    print(f"{name}: " + ", ".join(f"{size:.2f} MB at {T}" for T, size in zip(lengths, sizes, strict=True)))

# %% tags=["demo"]
# @title The largest tensor against the length of the text
ax = figures.curves(lengths, largest, log="both", xlabel="T = S", ylabel="largest tensor, MB")
ax.set_xticks(lengths, [str(T) for T in lengths])
ax.set_xticks([], minor=True)
figures.show(
    ax,
    alt="Two straight lines over the length of the text from 256 to 4096, both axes logarithmic. "
    f"All at once climbs from {largest['all at once'][0]:.2f} to {largest['all at once'][-1]:.0f} megabytes, twice as "
    f"steeply as the tiles, which go from {largest['tiles of 64'][0]:.2f} to {largest['tiles of 64'][-1]:.2f}.",
    caption=f"Both axes logarithmic, so that a square is twice as steep as a straight line. Tiles by {tiled.whose}.",
)

# %% [markdown]
# On these axes a power is a straight line, and its exponent the slope: all at once $T^2$, in tiles $T$. (The stand-in, until
# your function passes, is PyTorch's own attention, which has tiles inside.) What does *not* change is the work: every query
# still meets every key. Tiles save memory; they do not make attention cheaper than $T \times S$ products.

# %% tags=["demo"]
# @title Which scores are there at the same time
figures.show(
    figures.tiles.alive(T=8, S=24, tile=6, at=2),
    caption="8 queries, 24 keys, tiles of 6. Only the scores of one tile are there; those before it have been "
    "merged into one output and one log-sum-exp for each query.",
)

# %% [markdown]
# ## 6. The way back
#
# You can train with `tiled_attention` as it is; autograd goes back through all of it. But look at what autograd keeps for
# that purpose.
#
# ### Predict first
#
# For its way back autograd stores what each operation will need. When `tiled_attention` has gone over all keys, how much of
# the weights is in memory?
#
# <details><summary>Answer</summary>
#
# All of them. `weights @ value` needs its weights for the gradient of the values, so those of every tile are kept, and
# together they are $T \times S$. Other steps keep something of every tile, too: an `exp` keeps its result. The memory
# that was saved on the way there is back, and more.
#
# </details>


# %%
def kept_for_the_way_back(function, T=512):
    """How many fractions autograd keeps, in units of T * T, for queries and keys of width 4."""
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


# %% tags=["demo"]
for name, function in {"all at once": whole, "in tiles of 64": tiled}.items():
    print(f"{name:15} autograd keeps {kept_for_the_way_back(function):.2f} times T x S fractions")
print(f"Tiles by {tiled.whose}.")

# %% [markdown]
# The cure is to keep nothing and make the weights **again**: in the backward pass the queries and keys are still there,
# scores are made from them as before, and the weights are $e^{x_{ts} - \ell_t}$. No maximum has to be looked for and no sum
# taken, for $\ell_t$ knows both. That is why the log-sum-exp is all that has to be kept: one number a query instead of $S$.
#
# Now the gradients. Let $\mathbf{g}_t$ be the gradient that reaches the output $\mathbf{o}_t$, and $p_{ts}$ the weights.
# Recall that where $\mathbf{C} = \mathbf{A}\mathbf{B}$, a gradient $\mathbf{G}$ of $\mathbf{C}$ makes
# $\mathbf{G}\mathbf{B}^\top$ for $\mathbf{A}$ and $\mathbf{A}^\top\mathbf{G}$ for $\mathbf{B}$. Step by step, from the output
# backwards:
#
# 1. The output is weights times values: $\mathbf{v}_s$ gets $\sum_t p_{ts}\, \mathbf{g}_t$, and the weight $p_{ts}$ gets
#    $a_{ts} = \mathbf{g}_t \cdot \mathbf{v}_s$.
# 2. Through softmax: raising one weight lowers the others, since they share one unit. The score $x_{ts}$ gets
#    $p_{ts} \bigl(a_{ts} - D_t\bigr)$, with the average $D_t = \sum_s p_{ts}\, a_{ts}$. (The letter is that of
#    FlashAttention's authors; it has nothing to do with the width `D` of other lessons.)
# 3. Scores are products times $1/\sqrt{d_k}$: $\mathbf{q}_t$ gets $\tfrac{1}{\sqrt{d_k}} \sum_s p_{ts}(a_{ts} - D_t)\,
#    \mathbf{k}_s$, and $\mathbf{k}_s$ the same sum over $t$ with $\mathbf{q}_t$.
#
# Everything fits into tiles but one thing: $D_t$ is an average over *all* keys. Here is the trick.
#
# $$ D_t = \sum_s p_{ts} \, (\mathbf{g}_t \cdot \mathbf{v}_s) = \mathbf{g}_t \cdot \sum_s p_{ts}\, \mathbf{v}_s
#        = \mathbf{g}_t \cdot \mathbf{o}_t $$
#
# The average over all keys is a product with the output, which we have. No pass over the keys is needed for it.
#
# ### Exercise 6: `tiled_backward(query, key, value, output, lse, grad_output, tile=64)`
#
# *Difficulty ★★★ · about 20 minutes*
#
# `output` and `lse` are what `tiled_attention` returned for these queries, keys and values, without a mask; `grad_output`
# `(..., T, V)` is the gradient that reaches the output. Return `(grad_query, grad_key, grad_value)`, in the shapes of the
# three. Go over the keys `tile` at a time, within the same memory as forwards. Nothing of autograd is allowed: you *are*
# autograd here. What you return need not be differentiable itself.
#
# **On paper.** Exercise 2 once more: weights $\tfrac14, \tfrac34$, values 4 and 8, output 7; let the gradient $g$ be 1. The
# values get $\tfrac14$ and $\tfrac34$. The weights get $a = (4, 8)$, the average is $D = 1 \cdot 7$, and so the scores get
# $\tfrac14(4 - 7) = -\tfrac34$ and $\tfrac34(8 - 7) = \tfrac34$, which sum to 0. The root is 2 and the keys are
# $(0, 1, 0, 0)$ and $(\log 3, 0, 0, 0)$: the query gets $\bigl(\tfrac38 \log 3, -\tfrac38, 0, 0\bigr)$. The query is
# $(2, 0, 0, 0)$: the keys get $(-\tfrac34, 0, 0, 0)$ and $(\tfrac34, 0, 0, 0)$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(tiled_backward)


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
    grad_output: (..., T, V), the gradient that reaches the output.
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
check(tiled_backward)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(tiled_backward)
### END HIDDEN TESTS

# %% [markdown]
# Autograd is the judge of it: the same gradients, for three tiles.

# %%
backward = use(tiled_backward, otherwise=torch_fallbacks.tiled_backward)
inputs = [x.clone().requires_grad_() for x in (query, key, value)]
grad_output = torch.randn(6, 8, generator=generator)
exact = torch.autograd.grad(F.scaled_dot_product_attention(*inputs), inputs, grad_output)
output, lse = tiled(query, key, value)
for tile in (1, 5, 64):
    found = backward(query, key, value, output, lse, grad_output, tile=tile)
    for ours, theirs in zip(found, exact, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-5)
print(f"The gradients of queries, keys and values are autograd's. By {backward.whose}.")

# %% [markdown]
# ### One function of both
#
# Forwards and backwards make an operation of their own. PyTorch calls that an `autograd.Function`: `forward` says what is
# kept, `backward` what comes back. Kept are the three inputs, the output and one number a query.


# %%
class Tiled(torch.autograd.Function):
    """Attention in tiles, both ways: query (T, K), key (S, K), value (S, V) -> output (T, V)."""

    @staticmethod
    def forward(ctx, query, key, value):
        output, lse = tiled(query, key, value)
        ctx.save_for_backward(query, key, value, output, lse)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        return backward(*ctx.saved_tensors, grad_output)


for name, function in {"all at once": whole, "in tiles, both ways": Tiled.apply}.items():
    print(f"{name:20} kept for the way back: {kept_for_the_way_back(function):.3f} times T x S")

# %% [markdown]
# The price is that scores are multiplied out twice, once each way: seven products of matrices where there were six. That
# memory can be bought with so little work, and that the whole can even become *faster*, is the next section.

# %% [markdown]
# ## 7. What a GPU gains
#
# On a GPU the same algorithm is not only smaller but several times as fast, although it multiplies more. The reason is that
# a GPU has two memories. The large one, tens of gigabytes, moves about 1.5 to 3 terabytes a second. The small one lies beside
# the arithmetic, about 200 kilobytes for each of a hundred and more processors, and is about ten times as fast. Attention
# all at once writes $T \times S$ scores into the large memory, reads them for the softmax, writes the weights, and reads
# those for the product with the values. The multiplications wait for that traffic.
#
# **FlashAttention** ([Dao et al. 2022](https://arxiv.org/abs/2205.14135)) chooses tiles so small that a tile of queries, one
# of keys and values, and their scores fit into the small memory, and does in one program what you did in a Python loop:
# scores, online softmax, product with the values. Scores never see the large memory at all. It adds to your lesson
#
# - tiles of queries as well, which go to different processors, each with its own loop over the keys;
# - tiles that a causal mask blocks wholly are skipped, which saves half of the work;
# - the backward pass of exercise 5, with $\ell$ and $D$ as its only memory;
# - in its second version ([Dao 2023](https://arxiv.org/abs/2307.08691)) the division is left to the end, and the pair that
#   is kept is the one that you keep, $(\mathbf{o}, \ell)$.
#
# PyTorch's `F.scaled_dot_product_attention` calls such a program where it has one, on CPUs too. Source to read:
# [Dao-AILab/flash-attention](https://github.com/Dao-AILab/flash-attention). The next cell measures on a GPU, where there is
# one, and on this machine otherwise: read the ratio, not the milliseconds.


# %% tags=["demo"]
# @title How long it takes, all at once and in PyTorch's tiles
device = "cuda" if torch.cuda.is_available() else "cpu"
T = 8192 if device == "cuda" else 2048
dtype = torch.bfloat16 if device == "cuda" else torch.float32
q, k, v = torch.randn(3, 1, 8, T, 64, device=device, dtype=dtype)


def milliseconds(function, times=5):
    """The shortest of some calls."""
    import time

    found = []
    for _ in range(times):
        start = time.perf_counter()
        function(q, k, v)
        if device == "cuda":
            torch.cuda.synchronize()
        found.append(1000 * (time.perf_counter() - start))
    return min(found)


took = {"all at once": milliseconds(whole, 3), "PyTorch's attention": milliseconds(F.scaled_dot_product_attention, 3)}
where = torch.cuda.get_device_name() if device == "cuda" else "a CPU: no GPU was found here"
print(f"8 heads of width 64, {T} queries and keys, {dtype}, on {where}")
for name, ms in took.items():
    print(f"{name:20} {ms:8.1f} ms")
slow, fast = took.values()
print(f"ratio {slow / fast:.1f}")
del q, k, v

# %% [markdown]
# ## 8. Is it a bug?
#
# **"It does not give the same numbers."** Again and again somebody compares FlashAttention with the plain formula, finds
# differences in the third digit in half precision, and reports it
# ([Dao-AILab/flash-attention#410](https://github.com/Dao-AILab/flash-attention/issues/410),
# [#1445](https://github.com/Dao-AILab/flash-attention/issues/1445)). The algorithm claims to be exact. **Decide: is it a
# bug? And what would you compare to find out?**

# %% tags=["demo"]
generator = torch.Generator().manual_seed(3)
q, k, v = torch.randn(3, 64, 32, generator=generator)
truth = whole(q.double(), k.double(), v.double())
for dtype in (torch.float32, torch.bfloat16):
    low = [x.to(dtype) for x in (q, k, v)]
    exact = whole(*(x.double() for x in low))  # what these rounded inputs should give
    plain = (whole(*low).double() - exact).abs().max().item()
    tiles = (F.scaled_dot_product_attention(*(x[None, None] for x in low))[0, 0].double() - exact).abs().max().item()
    apart = (whole(*low) - F.scaled_dot_product_attention(*(x[None, None] for x in low))[0, 0]).abs().max().item()
    print(f"{dtype!s:15} apart by {apart:.0e}; off the truth: plain {plain:.0e}, in PyTorch's tiles {tiles:.0e}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# Not a bug. Sums in another order round differently, and neither of the two is the truth. Compare *both* with the same
# computed in higher precision: if the tiles are about as far off as the plain formula is, all is well. That is what the
# authors of FlashAttention answer, and how their tests are written.
#
# </details>
#
# **"Half of the output is 0."** With 2048 queries, 1024 keys and a causal mask, half of a result came out as zeros
# ([Dao-AILab/flash-attention#1778](https://github.com/Dao-AILab/flash-attention/issues/1778)). **Decide: is it a bug?**
#
# <details><summary>Answer</summary>
#
# No. There the queries are the last of the keys' positions (*Review* of lesson 5): query $i$ stands at $S - T + i$, which is
# negative for the first 1024 of them. They stand before all keys, see nothing, and their output is 0. Your function gives the
# same, if you hand it that mask. The surprise is the convention, bottom right and not top left; the zeros follow from it.
#
# </details>

# %% tags=["demo"]
mask = torch.arange(4)[None] > torch.arange(8)[:, None] + 4 - 8  # 8 queries, 4 keys, aligned at the bottom right
q, k, v = (torch.randn(n, 4, generator=generator) for n in (8, 4, 4))
rows = tiled(q, k, v, mask)[0].abs().sum(-1)
print("queries whose output is 0:", [t for t in range(8) if rows[t] == 0], f"(by {tiled.whose})")

# %% [markdown]
# ## 9. Seen in the wild
#
# **Nothing merged with nothing.** A server for language models merged the attention to a shared beginning with that to the
# rest of each text. Where both were empty the result was NaN.
#
# ```diff
# - shrink = exp(lse - maximum(lse, other))                 # -inf - (-inf)
# + shrink = exp(lse - maximum(lse, other).clamp(min=-1e30))
# ```
#
# From outside: thousands of NaN in places that padding filled, and only where a chunk happened to be empty
# ([vllm-project/vllm#39148](https://github.com/vllm-project/vllm/pull/39148)). You have met this case in exercise 3.
#
# **The sign of nothing.** A kernel returned $+\infty$ as the log-sum-exp of queries that had seen no key.
#
# ```diff
# - lse = +inf if nothing was seen
# + lse = -inf if nothing was seen    # the logarithm of an empty sum
# ```
#
# From outside: nothing at all, until somebody merged such results: a share of $e^{+\infty}$
# ([Dao-AILab/flash-attention#978](https://github.com/Dao-AILab/flash-attention/pull/978)).
#
# **A shift that softmax does not see.** A fast kernel subtracted the mean of all keys from each key before it rounded them.
# All scores of a row fall by the same number then, weights and output stay what they were; but the log-sum-exp falls, too.
#
# ```diff
# - return output, lse
# + return output, lse + scale * (query @ mean_key)
# ```
#
# From outside: right by itself, and in every test of the output. Split over several GPUs, each with another mean, the shares
# were wrong, and generated videos had slow waves in them ([ROCm/aiter#3334](https://github.com/ROCm/aiter/pull/3334)). A
# second result wants a test of its own.
#
# **The gradient of nothing.** `torch.logsumexp` of nothing but $-\infty$ is $-\infty$, as it should be, and its gradient is NaN
# ([pytorch/pytorch#31829](https://github.com/pytorch/pytorch/issues/31829),
# [#49724](https://github.com/pytorch/pytorch/issues/49724)). From outside: a loss that is finite, and weights that are NaN
# after the next step. The cell below shows it, beside yours once it passes; until then
# PyTorch's stands there twice.

# %% tags=["demo"]
for name, function in {"torch.logsumexp": torch_fallbacks.logsumexp, f"{log_of_sum.whose}": log_of_sum}.items():
    x = torch.full((3,), -torch.inf, requires_grad=True)
    result = function(x)
    result.backward()
    print(f"{name}: value {result.item()}, gradient {x.grad.tolist()}")

# %% [markdown]
# ## Summary
#
# 1. The log-sum-exp of a row of scores is the one number from which each weight can be made by itself: $e^{x - \ell}$.
# 2. Attention to a part of the keys is an output and a log-sum-exp. Two parts merge by shares $e^{\ell - \ell_{\text{both}}}$,
#    in any order.
# 3. So keys can be read in tiles, each once, and no $T \times S$ weights are ever there. The result is the same to rounding.
# 4. Backwards, the weights are made again from $\ell$, and the average that softmax needs is $\mathbf{g}_t \cdot
#    \mathbf{o}_t$: memory stays linear, for one product of matrices more.
# 5. A GPU keeps a tile in its small fast memory, and so it is faster as well: FlashAttention.
#
# $$ \ell_{\text{both}} = \log\left( e^{\ell} + e^{\ell'} \right) , \qquad
#    \mathbf{o}_{\text{both}} = e^{\ell - \ell_{\text{both}}}\, \mathbf{o} + e^{\ell' - \ell_{\text{both}}}\, \mathbf{o}' $$
#
# **To read on:**
#
# - Milakov and Gimelshein, [Online normalizer calculation for softmax](https://arxiv.org/abs/1805.02867): one pass
# - Rabe and Staats, [Self-attention does not need O(n²) memory](https://arxiv.org/abs/2112.05682): tiles, in a page of code
# - Dao et al., [FlashAttention](https://arxiv.org/abs/2205.14135): tiles, both ways, and why a GPU likes them

# %% [markdown]
# ## Challenge: `merge_all(outputs, lses)`
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# A challenge is for those who want more. The same judge checks it, no grade knows of it, and you may leave it as it is.
#
# A model that writes has a single query and, in a long conversation, a hundred thousand keys. Going over them tile by tile, one
# worker would be busy and all others of the GPU idle. So the keys are dealt out: each worker attends to a part, and at the
# end $P$ results become one. You could merge them two by two. It can be done in one step for all, and you have known the step
# since lesson 3: look at the log-sum-exps as *scores* and at the outputs as *values*.
#
# `outputs` is `(P, ..., T, V)`, `lses` `(P, ..., T)`: $P$ results of `partial_attention`, of the same queries and of different
# keys. Return the pair for all keys together, `(output (..., T, V), lse (..., T))`. A part whose `lse` is −∞ changes nothing,
# and where all are, the output is 0 and the `lse` −∞, never NaN; gradients only have to be finite there. What is not allowed
# in this lesson is not allowed here; your own functions are.
#
# **On paper.** Three parts with the log-sum-exps $\ln 1$, $\ln 2$ and $\ln 5$: their shares are $\tfrac18, \tfrac28,
# \tfrac58$. With the outputs $(4, 0)$, $(8, 4)$ and $(0, 2)$ that makes $(2.5,\; 2.25)$, and the log-sum-exp of all is?

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(merge_all)


# %%
def merge_all(outputs: torch.Tensor, lses: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """P results of attention to different keys as one: (output (..., T, V), lse (..., T)).

    outputs: (P, ..., T, V), lses: (P, ..., T). A part whose lse is -inf changes nothing; where all are: 0 and -inf.
    """
    raise NotImplementedError  # take this line out, and write yours


# %% tags=["demo"]
check(merge_all)

# %% tags=["demo"]
progress()
