# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 4: Scaling
#
# In lesson 3 your attention compared vectors of two or three entries. With 256 entries, the same code gives nearly all of
# a query's weight to one key, and almost no gradient comes back to correct it. One division prevents this:
# $\text{scores} / \sqrt{d_k}$, where $d_k$ is the number of entries. **Why does attention fail when vectors get wide, and
# why is a square root the cure?**
#
# **You will build** `score_std` and `softmax_gradient_norm`, which measure the problem;
# `scaled_dot_product_attention`, the equation of every transformer; and a module with dropout. At the end, you take the
# square root out of a trained language model.
#
# **You need** modules (lesson 0), softmax and entropy (lesson 2), queries, keys and values (lesson 3).
#
# **Time:** about 65 minutes, plus 45 for the parts marked *extra*

# %%
import math
from dataclasses import replace

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
    sentence,
    sliders,
    small_lm,
    solution,
)
from course.models.modern_lm import BUILT_IN
from course.models.river_town import generate_stories
from torch import nn

begin("04_scaling")

# %% tags=["demo"]
# @title The part of attention that this lesson adds
figures.show(figures.overview("scaling"))

# %% [markdown]
# ## Quiz: what came before
#
# **1.** Two of queries, keys and values are multiplied to make the scores. Which one is not?
#
# **2.** Queries are `(2, 5, 8)`, keys `(2, 7, 8)`, values `(2, 7, 3)`. What is the shape of the output?
#
# **3.** All keys are equal. What does a query get?

# %%
predict("quiz 1", ...)  # "queries", "keys" or "values"
predict("quiz 2", ...)  # a shape
predict("quiz 3", ...)  # "the mean of the values", "the sum of the values" or "the value of key 0"

# %% [markdown]
# ## 1. How widely do scores spread?
#
# A score is the sum of $d_k$ products. For query $i$ and key $j$,
#
# $$ s_{ij} = \sum_{r} q_{ir}\, k_{jr} $$
#
# where $r$ runs over the $d_k$ entries. We call $d_k$ the **width** of queries and keys; in code it is `K`. In an
# untrained model, the entries are close to independent random numbers with mean 0. Let their variance be 1.
# `queries_and_keys` makes 200 draws of one query and 16 keys each.


# %%
def queries_and_keys(K, n=200, S=16, seed=0):
    """n draws of one query, as (n, 1, K), and S keys, as (n, S, K); all entries have mean 0 and variance 1."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, 1, K, generator=generator), torch.randn(n, S, K, generator=generator)


widths = [1, 4, 16, 64, 256, 1024]

# %% [markdown]
# ### Predict: wide vectors
#
# Each product is as likely to be negative as positive. In wider vectors, a score adds up more of them. What happens to the
# scores?

# %%
# The scores of wider vectors: "spread out", "stay as they are" or "approach 0"
predict("the scores of wider vectors", ...)

# %% tags=["demo"]
# @title The scores of random queries and keys of two widths
figures.show(figures.scaling.of_widths(queries_and_keys, (16, 1024)))

# %% [markdown]
# ### The standard deviation
#
# The **standard deviation** of $n$ scores $s_i$ measures how far they spread around their mean $\bar s$. In this lesson
# we call it the *spread*:
#
# $$ \operatorname{std} = \sqrt{\frac{1}{n} \sum_{i} (s_i - \bar s)^2 } $$
#
# It divides by $n$ and is called the *population* standard deviation. The *sample* standard deviation divides by $n - 1$,
# to estimate the spread of a larger population. Find out which one PyTorch computes by default.
#
# ### Exercise 1: `score_std(query, key)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# Compute the population standard deviation of all unscaled scores. In a batch, each element has its own queries and
# keys. The result is still one number, over the scores of the whole batch.
#
# **Worked example.** Two queries and two keys, $d_k = 2$:
#
# $$ \mathbf{Q} = \begin{pmatrix} 1 & 2 \\ 1 & -2 \end{pmatrix}, \quad
#    \mathbf{K} = \begin{pmatrix} 1 & 1 \\ 1 & -1 \end{pmatrix}, \quad
#    \mathbf{Q} \mathbf{K}^\top = \begin{pmatrix} 3 & -1 \\ -1 & 3 \end{pmatrix} $$
#
# The four scores have the mean 1, and each differs from it by 2, so the result is 2. (Dividing by $n - 1$ gives 2.31.)


# %% nbgrader={"grade": false, "grade_id": "score_std", "locked": false, "schema_version": 3, "solution": true, "task": false}
def score_std(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    """The population standard deviation over all unscaled scores.

    query: (..., T, K), key: (..., S, K). Returns a tensor of shape (), of their dtype.
    """
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1)  # (..., T, S)
    return scores.std(correction=0)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_score_std", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(score_std)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(score_std)
### END HIDDEN TESTS


# %% [markdown]
# ## 2. What softmax makes of wide scores
#
# Softmax turns the scores into weights. Larger scores act like a lower temperature (lesson 2), so wider vectors sharpen
# the weights. By how much?
#
# ### Predict: 256 entries
#
# Draw a random query and eight random keys of 256 entries. How large is the largest of the eight weights, on average over
# many draws?

# %%
# The largest of eight weights: "0.13", "0.4" or "more than 0.9"
predict("the largest of eight weights", ...)

# %% tags=["demo"]
# @title Two sliders: the width, and which random query and keys are drawn
sliders.slider(figures.scaling.one_query, queries_and_keys)

# %% [markdown]
# At $d_k = 256$, a query no longer mixes values. It picks one at random, because nothing has been learned yet. The softmax
# is saturated (lesson 2), and the entropy of the weights is usually near 0. For eight equal weights it would be
# $\ln 8 \approx 2.08$.
#
# A model can recover from a bad start if its gradients lead out of it. Do they?

# %% [markdown]
# ## 3. What saturation does to the gradient
#
# Training changes the scores in the direction that lowers the loss. It finds this direction only if the weights change
# when the scores do.
#
# ### Step: nudge each score
#
# *Step ★★☆ · about 4 minutes.* Measure how fast each weight changes with each score. Add `by` to one score at a time,
# and divide the changes of all weights by `by`. `scores` is `(S,)`. Return `(S, S)`: the entry in row $i$ and column $j$
# is the change of weight $i$ per unit of score $j$. (`scores + by * torch.eye(len(scores))` holds all nudged scores. Which
# of its dimensions is $j$?)
#
# **Worked example.** The scores $(0, 0)$ have the weights $(\tfrac12, \tfrac12)$. With `by` $= \ln 3 \approx 1.10$,
# raising score 0 gives $(\tfrac34, \tfrac14)$. So column 0 is
# $(\tfrac14, -\tfrac14) / \ln 3 \approx (0.23, -0.23)$, and column 1 is $(-0.23, 0.23)$.


# %%
def nudged(scores: torch.Tensor, by: float) -> torch.Tensor:
    """How fast each weight (row) changes with each score (column), found by adding `by` to one score at a time.

    scores: (S,). Returns (S, S).
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(nudged)

# %% [markdown]
# ### Predict: five scores and their multiples
#
# Take the scores $(0.6, -0.4, 0.2, -0.9, 0.4)$, four times these scores, and sixteen times these scores. In which case do
# the weights respond least to the scores?

# %%
# The weights respond least to: "the scores", "4 times the scores" or "16 times the scores"
predict("the weights that respond least", ...)

# %% tags=["demo"]
# @title How fast each weight changes, for five scores and their multiples
figures.show(figures.scaling.responses(nudged))

# %% [markdown]
# The largest rates are in the middle. There, two keys are close rivals, and a nudge moves weight from one to the other.
# On the right, one weight is almost 1, and nudging any score changes very little.
#
# This matrix is the **Jacobian** of softmax (lesson 2). With the weights
# $\mathbf{a} = \operatorname{softmax}(\mathbf{s})$ its entries are
#
# $$ J_{ij} = \frac{\partial a_i}{\partial s_j} =
#    \begin{cases} a_i\,(1 - a_i) & \text{if } i = j \\ -\,a_i\, a_j & \text{if } i \ne j \end{cases} $$
#
# A higher score raises its own weight, and lowers every other weight in proportion to that weight. If one weight is 1 and
# all others are 0, every entry is 0, because one of its two factors is.
#
# The **Frobenius norm** gives the size of the Jacobian as one number:
#
# $$ \lVert \mathbf{J} \rVert = \sqrt{\textstyle\sum_{i} \sum_{j} J_{ij}^2} $$
#
# ### Exercise 2: `softmax_gradient_norm(scores)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# Compute this norm at the given scores. The result must be differentiable. Nudging is too inaccurate: use the formula, or
# let autograd compute the Jacobian.
#
# **Worked example.** For the scores $(0, 0)$ the weights are $(\tfrac12, \tfrac12)$, all four entries of $\mathbf{J}$
# are $\pm\tfrac14$, and the norm is $\sqrt{4 \cdot \tfrac1{16}} = \tfrac12$. For the scores $(0, \ln 3)$ the weights are
# $(\tfrac14, \tfrac34)$, the entries are $\pm\tfrac3{16}$, and the norm is $\tfrac38$.


# %% nbgrader={"grade": false, "grade_id": "softmax_gradient_norm", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax_gradient_norm(scores: torch.Tensor) -> torch.Tensor:
    """The Frobenius norm of the Jacobian of softmax at the given scores.

    scores: (S,). Returns a tensor of shape (), of the same dtype, differentiable with respect to `scores`.
    """
    ### BEGIN SOLUTION
    weights = torch.softmax(scores, dim=-1)
    jacobian = torch.diag(weights) - torch.outer(weights, weights)  # (S, S)
    return torch.linalg.norm(jacobian)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_softmax_gradient_norm", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(softmax_gradient_norm)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(softmax_gradient_norm)
### END HIDDEN TESTS


# %% [markdown]
# ## 4. Reading an exponent off a plot (extra)
#
# If $y$ grows like a power of $x$, $y = c\, x^\alpha$, then $\ln y = \ln c + \alpha \ln x$. On logarithmic axes the curve
# is a straight line, and the exponent $\alpha$ is its slope.
#
# ### Step: the exponent (extra)
#
# *Step ★☆☆ · about 2 minutes.* Return the slope between the first and the last point,
# $\ln(y_\text{last} / y_\text{first}) / \ln(x_\text{last} / x_\text{first})$. Both `x` and `y` are `(n,)`; the result has
# shape `()`. **Worked example.** $x = (1, 4, 16)$ and $y = (3, 6, 12)$ give $\ln 4 / \ln 16 = \tfrac12$, because
# $y = 3 \sqrt x$.


# %%
def exponent(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The exponent of a power law y = c * x**exponent. x, y: (n,), positive. Returns a tensor of shape ()."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(exponent)

# %% [markdown]
# ## Your experiment (extra)
#
# *Experiment ★★☆ · about 10 minutes.* **By which power of the width must you divide the scores to get the same
# spread at every width?** For each of the `widths`, draw queries and keys, and measure two things: the variance of the
# scores, which is the square of the spread, and the median gradient norm of the 200 draws. (Not the mean norm: a few draws
# with two close rivals would dominate it.) Plot both against the width with
# `figures.curves(widths, {...}, log="both")`. Your finding is the $\alpha$ in $\text{scores} / d_k^\alpha$.

# %%
# torch.matmul(query, key.mT)[:, 0] has one row of 16 scores per draw, (200, 16)
# Your code: the variance and the median gradient norm at each width, a plot, and the exponent

finding = ...  # the power of the width by which to divide the scores

# %% tags=["demo"]
check("experiment", finding)

# %% [markdown]
# ## 5. Where the square root comes from
#
# How fast does the spread grow? Guess it first, then derive it.
#
# ### Predict: 64 times as wide
#
# The spread is about 4 at width 16. At width 1024, each score is the sum of 64 times as many products. What is the spread
# there?

# %%
# A number
predict("the spread at width 1024", ...)

# %% tags=["demo"]
# @title The scores of random queries and keys of four widths
drawn = figures.scaling.of_widths(queries_and_keys, (16, 64, 256, 1024), score_std)
figures.show(drawn)

# %% [markdown]
# The products cancel, but not completely. To see how much is left, take one query $\mathbf{q}$ and one key $\mathbf{k}$,
# whose $2 d_k$ entries are independent, each with mean 0 and variance 1. Write $E[\cdot]$ for the mean over many draws. A
# single product has the mean $E[q_r k_r] = E[q_r]\,E[k_r] = 0$ and the variance
#
# $$ \operatorname{Var}[q_r k_r] = E[q_r^2 k_r^2] - 0^2 = E[q_r^2]\; E[k_r^2] = 1 \cdot 1 = 1 . $$
#
# Two products at different $r \ne r'$ are uncorrelated: $E[q_r k_r \, q_{r'} k_{r'}] = 0$. The variances of uncorrelated
# terms add up, so
#
# $$ \operatorname{Var}\Big[\sum_{r} q_r k_r\Big] = \sum_{r} 1 = d_k
#    \qquad\Longrightarrow\qquad \operatorname{std} = \sqrt{d_k} . $$
#
# Dividing every score by $\sqrt{d_k}$ brings the spread back to 1 at every width.

# %% tags=["demo"]
for K in widths:
    s = score_std(*queries_and_keys(K)).item()
    print(f"K = {K:4}   variance = {s**2:7.2f}   spread = {s:5.2f}   spread / √K = {s / K**0.5:.3f}")

# %% [markdown]
# ### Predict: larger entries
#
# All entries of queries and keys are twice as large. What is the spread *after* the division by $\sqrt{d_k}$?

# %%
# A number
predict("the spread of doubled entries", ...)

# %%
query, key = queries_and_keys(256)
print(f"spread / √K: {score_std(2 * query, 2 * key).item() / 256**0.5:.2f}")

# %% [markdown]
# The root corrects for the *width* only. Keeping the variance of the entries near 1 is the task of initialisation and
# normalisation, and training can change it.
#
# ### Why not divide by $d_k$?
#
# That would keep the scores small, too. `measure` multiplies the scores by `scale` and measures three things.


# %%
def measure(K, scale=1.0):
    """Spread of the scores, mean entropy of the weights, median gradient norm of 200 draws, as (3,)."""
    query, key = queries_and_keys(K)
    scores = torch.matmul(scale * query, key.mT)[:, 0]  # (200, 16)
    entropy = torch.special.entr(torch.softmax(scores, dim=-1)).sum(-1)  # (200,)
    gradients = torch.stack([softmax_gradient_norm(row) for row in scores])  # (200,)
    return torch.stack([score_std(scale * query, key), entropy.mean(), gradients.median()])


# %% [markdown]
# ### Predict: divided by $d_k$
#
# Queries and keys have 1024 random entries, and the scores are divided by 1024. How does a query distribute its weight
# over the 16 keys?

# %%
# The weights: "one key has nearly everything", "a few keys share" or "all are nearly equal"
predict("the weights after a division by the width", ...)

# %% tags=["demo"]
# @title Spread, entropy and gradient for three scales
drawn = figures.scaling.experiment(widths, measure)
figures.show(drawn)

# %% [markdown]
# Follow the curve × 1 from left to right. The scores spread, so the weights lose their entropy, so the gradient
# vanishes: at $d_k = 1024$ a typical query gets less than a thousandth of what it gets at 16. The authors of the
# transformer suspected this (Vaswani et al. 2017, section 3.2.1).
#
# With $1/\sqrt{d_k}$ all three readings stay level, so attention starts in the same way at every width. With $1/d_k$
# the spread falls like $1/\sqrt{d_k}$, and each query averages all values. The gradient of softmax stays large, but on
# its way back to the query it is multiplied by `scale`. With $1/d_k$ the gradient of a query is therefore $\sqrt{d_k}$
# times smaller than with the root, and the query learns slowly.
#
# <details><summary>Does anybody divide by the width itself? (extra)</summary>
#
# Yes. Training makes queries and keys agree, and the score of two vectors that agree grows like $d_k$. Yang et al.
# ([arXiv:2203.03466](https://arxiv.org/abs/2203.03466)) therefore divide by $d_k$, times a constant, so that settings
# tuned on a narrow model work for a wide one. Henry et al. ([arXiv:2010.04245](https://arxiv.org/abs/2010.04245))
# normalise queries and keys to length 1 and learn the scale.
#
# </details>

# %% [markdown]
# %%answer why_the_root

# %% [markdown]
# ## 6. Scaled dot-product attention
#
# This is the equation of every transformer:
#
# $$ \operatorname{attention}(\mathbf{Q}, \mathbf{K}, \mathbf{V}) = \mathbf{A} \mathbf{V} \qquad\text{with}\qquad
#    \mathbf{A} = \operatorname{softmax}\!\left( \frac{\mathbf{Q} \mathbf{K}^\top}{\sqrt{d_k}} \right) $$
#
# $\mathbf{Q}$ is `(T, K)`, $\mathbf{K}$ is `(S, K)`, $\mathbf{V}$ is `(S, V)` and $\mathbf{A}$ is `(T, S)`. The width
# $d_k$ is the size of the last dimension of the given queries, not the width of the model and not the number of keys.
#
# ### Exercise 3: `scaled_dot_product_attention(query, key, value, scale=None)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Multiply the scores by `scale` before the softmax; the rest is `attention` from lesson 3. The default of `scale` is
# $1/\sqrt{d_k}$. Any other value is used as given. With 0.0, all scores become 0 and all weights equal.
#
# **Worked example.** One query $(2, 0, 0, 0)$, so $\sqrt{d_k} = 2$. Two keys, $(\ln 3, 0, 0, 0)$ and $(0, 0, 0, 0)$, with
# the values 8 and 4.
#
# | | key 0 | key 1 |
# |---|---|---|
# | scores | $2 \ln 3$ | $0$ |
# | scaled by $1/2$ | $\ln 3$ | $0$ |
# | weights | $3/4$ | $1/4$ |
#
# The output is $\tfrac34 \cdot 8 + \tfrac14 \cdot 4 = 7$. Without scaling, the weights are $9/10$ and $1/10$ and the
# output is 7.6; with `scale=0.0` it is 6.


# %% nbgrader={"grade": false, "grade_id": "scaled_dot_product_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_dot_product_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention with its scores multiplied by `scale`.

    query: (..., T, K), key: (..., S, K), value: (..., S, V).
    scale: a number, 0.0 included; None stands for 1 / sqrt(K).
    Returns (output, weights), of shapes (..., T, V) and (..., T, S).
    Not allowed: F.scaled_dot_product_attention, nn.MultiheadAttention, F.multi_head_attention_forward.
    """
    ### BEGIN SOLUTION
    if scale is None:
        scale = query.shape[-1] ** -0.5
    scores = query @ key.transpose(-2, -1) * scale  # (..., T, S)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_scaled_dot_product_attention", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(scaled_dot_product_attention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(scaled_dot_product_attention)
### END HIDDEN TESTS

# %% [markdown]
# PyTorch has this function, too. Its fast versions never hold all weights at once, so it returns only the output. With
# the identity matrix as values, the output *is* the weights (lesson 3). Does yours agree with it?


# %%
generator = torch.Generator().manual_seed(0)
query = torch.randn(2, 3, 5, 64, generator=generator)  # batch 2, 3 heads, T = 5, K = 64
key = torch.randn(2, 3, 7, 64, generator=generator)  # S = 7
value = torch.randn(2, 3, 7, 10, generator=generator)  # V = 10

# %%
for scale in (None, 0.0, 0.3):
    output, weights = scaled_dot_product_attention(query, key, value, scale=scale)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value, scale=scale))
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 5))
print("Equal to F.scaled_dot_product_attention, up to rounding.")

# %% [markdown]
# `assert_close` raises an error unless all elements agree.
#
# The slider sets the scale to $d_k^{-\alpha}$ for $d_k = 64$. At $\alpha = 0$ nothing is scaled, at $\tfrac12$ the scores
# are divided by $\sqrt{d_k}$, at 1 by $d_k$. Watch the queries first pick one key, then mix several, then average all.

# %% tags=["demo"]
# @title A slider: five queries' weights for seven keys, at each scale
sliders.slider(figures.scaling.with_power, scaled_dot_product_attention, query[0, 0], key[0, 0], value[0, 0])

# %% [markdown]
# ### Does it matter for learning? (extra)
#
# Train an attention layer to look things up: given one of 16 items, it returns the item's value. Only two matrices are
# trained, $\mathbf{W}_q$ and $\mathbf{W}_k$, which make queries and keys of width 256 from the items.
#
# ### Step: look up (extra)
#
# *Step ★★☆ · about 4 minutes.* `items` is `(B, S, D)`, one list of $S$ items per problem; `asked` is `(B, D)`, one item
# per problem; `values` is `(B, S, V)`. Make queries from `asked` and keys from `items`. Return the output of your scaled
# attention with the given `scale`, as `(B, V)`. (Each problem has one query, so $T = 1$. `asked[:, None]` is
# `(B, 1, D)`.)
#
# **Worked example.** One problem has the items $(1, 0)$ and $(0, 1)$ with the values 4 and 8, and asks for $(1, 0)$. With
# identity matrices and `scale` $= \ln 3$ the scaled scores are $(\ln 3, 0)$, the weights $(\tfrac34, \tfrac14)$, and the
# output is 5.


# %%
def look_up(
    items: torch.Tensor,
    asked: torch.Tensor,
    values: torch.Tensor,
    W_q: torch.Tensor,
    W_k: torch.Tensor,
    scale: float | None = None,
) -> torch.Tensor:
    """The values of the items that are asked for, by scaled attention with one query per problem.

    items: (B, S, D). asked: (B, D). values: (B, S, V). W_q, W_k: (D, K). Returns (B, V).
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(look_up)

# %% [markdown]
# The optimizer is **Adam** (lesson 0), the usual choice for transformers. It keeps running means of each parameter's
# gradient and of its square, and divides the first by the root of the second. So each entry moves by about the learning
# rate per step, however large its gradients are. Try it on a loss that is steep in one entry and almost flat in the
# other. (`SGD` with a larger rate would diverge in the steep direction.)

# %% tags=["demo"]
for kind, rate in ((torch.optim.SGD, 0.005), (torch.optim.Adam, 0.02)):
    point = nn.Parameter(torch.ones(2))
    optimizer = kind([point], lr=rate)
    for _ in range(200):
        loss = 100 * point[0] ** 2 + 0.01 * point[1] ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{kind.__name__:4} after 200 steps: {point[0].item():.3f}, {point[1].item():.3f}")

# %% [markdown]
# Now try three scales with the same start, data and optimizer. The values have variance 1. A model that averages all 16
# of them therefore has a loss of $15/16 \approx 0.94$. A model that picks one at random has a loss of
# $15/8 \approx 1.88$, twice as much.


# %%
def learn(scale, steps=300, K=256, S=16, D=32):
    """Losses of an attention that learns to look up one of S items, its scores multiplied by `scale`."""
    generator = torch.Generator().manual_seed(0)
    W_q, W_k = (torch.randn(D, K, generator=generator).div(D**0.5).requires_grad_() for _ in range(2))
    optimizer = torch.optim.Adam([W_q, W_k], lr=1e-3)
    losses = []
    for _ in range(steps):
        items = torch.randn(32, S, D, generator=generator)  # 32 problems
        values = torch.randn(32, S, 8, generator=generator)
        wanted = torch.arange(32), torch.randint(S, (32,), generator=generator)
        loss = F.mse_loss(look_up(items, items[wanted], values, W_q, W_k, scale), values[wanted])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses).unfold(0, 10, 1).mean(-1)  # (291,), each the mean of ten steps


# %% tags=["demo"]
losses = {"× 1": learn(1.0), "/ √dₖ": learn(256**-0.5), "/ dₖ": learn(1 / 256)}
figures.show(
    figures.losses(losses, {"averages all": 15 / 16, "picks at random": 15 / 8}, names="ends"),
    caption="Learning to look up, with vectors of width 256.",
)

# %% [markdown]
# After 1,500 steps, all three losses are below 0.01. A wrong scale costs time or quality, but raises no error.

# %% [markdown]
# ## 7. Scaled queries
#
# The paper divides the *scores* by the root. Some widely used models do this instead:
#
# ```python
# query = query / math.sqrt(K)
# scores = query @ key.transpose(-2, -1)
# ```
#
# ### Predict: scaled queries
#
# Is it a bug?

# %%
# Only the queries are scaled: "a bug" or "not a bug"
predict("only the queries are scaled", ...)

# %%
root = 64**0.5
transposed = key.transpose(-2, -1)
ways = {
    "scores / √K": torch.matmul(query, transposed) / root,
    "(queries / √K) · keys": torch.matmul(query / root, transposed),
    "both / K^¼": torch.matmul(query / root**0.5, transposed / root**0.5),
    "both / √K": torch.matmul(query / root, transposed / root),
}
for name, scores in ways.items():
    print(f"{name:24} largest difference from the first: {(scores - ways['scores / √K']).abs().max():.7f}")

# %% [markdown]
# Dividing *both* by $\sqrt{d_k}$ divides the scores by $d_k$; dividing both by its fourth root is right.
#
# Scaling the queries even has advantages. It takes $T \cdot d_k$ multiplications instead of $T \cdot S$, fewer if there
# are more keys than entries in a key. And in half precision (float16), whose largest number is 65,504, it can prevent an
# overflow.
#
# ### Step: scores in half precision (extra)
#
# *Step ★☆☆ · about 2 minutes.* Compute the scaled scores of `query` `(T, K)` and `key` `(S, K)` in their own dtype. If
# the scaled scores fit into it, nothing on the way to them may overflow. **Worked example.** All 64 entries of a query
# and a key are 40. The product is $64 \cdot 40 \cdot 40 = 102{,}400$, which float16 cannot hold. The scaled score,
# 12,800, fits.


# %%
def half_precision_scores(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    """Scores divided by the square root of K, which do not overflow on the way. query: (T, K). key: (S, K)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(half_precision_scores)

# %% tags=["demo"]
long = torch.full((1, 64), 40.0, dtype=torch.float16)
print("scores scaled:", (torch.matmul(long, long.T) / 8).item())
print("by half_precision_scores:", half_precision_scores(long, long).item())

# %% [markdown]
# ## 8. A module, and dropout
#
# Attention with settings is a module, as in lesson 0: `__init__` calls `super().__init__()` first and stores the parts,
# and `forward` computes.
#
# ### Dropout
#
# **Dropout** sets some attention weights to 0 at random in every step of training, so that no query relies on a single
# key. If a weight is dropped with the probability $p_{\text{drop}}$, each weight $a_{ij}$ becomes
#
# $$ \tilde a_{ij} = \frac{m_{ij}\, a_{ij}}{1 - p_{\text{drop}}}, \qquad
#    m_{ij} = \begin{cases} 0 & \text{with probability } p_{\text{drop}} \\ 1 & \text{otherwise} \end{cases} $$
#
# independently for each entry and each call. The division keeps the mean unchanged:
# $E[\tilde a_{ij}] = (1 - p_{\text{drop}}) \cdot a_{ij} / (1 - p_{\text{drop}}) = a_{ij}$. So nothing has to be corrected
# when dropout is off.
#
# ### Step: drop weights
#
# *Step ★☆☆ · about 2 minutes.* Write this formula. `kept` is a boolean tensor with the shape of `weights`, True where
# $m_{ij} = 1$. **Worked example.** From the weights $(\tfrac12, \tfrac14, \tfrac14)$ with $p_{\text{drop}} = \tfrac12$
# the middle one is dropped. The result is $(1, 0, \tfrac12)$.


# %%
def drop(weights: torch.Tensor, kept: torch.Tensor, p: float) -> torch.Tensor:
    """The weights after dropout with the probability p. weights: (..., S). kept: bool, the same shape."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(drop)

# %% [markdown]
# Dropout belongs to training only. `module.train()` sets `module.training` to `True`, for the module and all modules in
# it, and `module.eval()` sets it to `False`. A new module is in training mode. PyTorch's dropout is the module
# `nn.Dropout`:

# %% tags=["demo"]
dropping = nn.Dropout(0.5)
with torch.random.fork_rng():  # leaves PyTorch's generator unchanged
    torch.manual_seed(0)
    print("train:", dropping(torch.ones(6)))
    print("again:", dropping(torch.ones(6)))
print("eval: ", dropping.eval()(torch.ones(6)))

# %% [markdown]
# ### Exercise 4: `ScaledDotProductAttention(dropout=0.0)`
#
# *Difficulty ★★☆ · about 12 minutes*
#
# Write the module. `forward` returns `(output, weights)` with the weights that were *applied*: in training mode, those
# after dropout. You may call your function of exercise 3; a mistake in it costs no points here.
#
# **Worked example.** The weights of the step apply to the values 2, 4 and 8. In training mode with $(1, 0, \tfrac12)$,
# the output is $2 + 4 = 6$. In eval mode, it is always $1 + 1 + 2 = 4$.


# %% nbgrader={"grade": false, "grade_id": "ScaledDotProductAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class ScaledDotProductAttention(nn.Module):
    """Scaled dot-product attention with dropout on its weights.

    dropout: the probability, 0 <= dropout < 1, with which a weight is dropped in training mode.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """query: (..., T, K), key: (..., S, K), value: (..., S, V).

        Returns (output, weights), of shapes (..., T, V) and (..., T, S); the weights are the ones applied.
        Not allowed: F.scaled_dot_product_attention, nn.MultiheadAttention, F.multi_head_attention_forward.
        """
        ### BEGIN SOLUTION
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (..., T, S)
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights @ value, weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_ScaledDotProductAttention", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(ScaledDotProductAttention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(ScaledDotProductAttention)
### END HIDDEN TESTS


# %%
generator = torch.Generator().manual_seed(3)
example = [torch.randn(n, 8, generator=generator) for n in (4, 6, 6)]  # queries, keys and values of width 8

# %% tags=["demo"]
# @title The weights in eval mode, twice, and in training mode, twice
drawn = figures.scaling.in_modes(ScaledDotProductAttention(dropout=0.3), example)
figures.show(drawn)

# %% [markdown]
# ### Rows that no longer sum to 1
#
# In training mode, the weights of a query need not sum to 1.
#
# ### Predict: sums in training mode
#
# Is it a bug?

# %%
# Rows that do not sum to 1 in training mode: "a bug" or "not a bug"
predict("sums in training mode", ...)

# %% tags=["demo"]
# @title The mean output of more and more draws, compared with the output in eval mode
drawn = figures.scaling.settling(ScaledDotProductAttention(dropout=0.3), example)
figures.show(drawn)

# %% [markdown]
# Dividing each row by its sum would be a bug. A single key that survives would get the full weight, and the mean would no
# longer be the weights of eval mode.
#
# ## 9. A bug that shipped (extra)
#
# The most common bug of all takes the width of the model for that of a head. With 6 heads, a model of width 384 has heads of
# width 64, so $d_k = 64$.
#
# ```diff
# - weights = q @ k.transpose(-2, -1) * n_embd ** -0.5       # 384
# + weights = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5  # 64
# ```
#
# It was in the code of a much-watched lecture on transformers ([karpathy/ng-video-lecture#6](
# https://github.com/karpathy/ng-video-lecture/issues/6)), in a popular collection of vision transformers
# ([lucidrains/vit-pytorch#65](https://github.com/lucidrains/vit-pytorch/issues/65)) and in a Rust library
# ([coreylowman/dfdx#171](https://github.com/coreylowman/dfdx/issues/171)). The scores are $\sqrt 6 \approx 2.4$ times too
# small, and the model still trains. Somebody found the bug by comparing the code with the paper.
# Nobody could see it by looking at the weights. To find it yourself, compare with an independent implementation, as in section 6,
# on shapes that differ from one another.
#
# More bugs that shipped are in the notebook `bug_museum.ipynb`.

# %% [markdown]
# ## 10. In a trained model
#
# The small language model has heads of width 24. Put your attention into all of them. The loss should not change:

# %%
lm = small_lm.load()

# %% tags=["demo"]
losses = lm.compare(scale=scaled_dot_product_attention)

# %% [markdown]
# ### Predict: the model without the root
#
# Now take the division out. All scores become $\sqrt{24} \approx 4.9$ times as large as in training. With the root, the
# loss on stories that the model has not seen is 0.67 nats per word. Blind guessing among its 952 words costs
# $\ln 952 \approx 6.86$. What is the loss without the root?

# %%
# The loss without the root: "about 0.7", "about 1.2" or "about 6.9"
predict("the loss without the root", ...)

# %% tags=["demo"]
for factor in (1.0, 96**-0.5, 1 / 24, 0.0):  # not scaled; by the width of the model; by the width; all scores 0
    losses = lm.compare(scale=factor)

# %% tags=["demo"]
# @title What “bank” attends to in three heads, at three scales
figures.show(figures.scaling.three_heads(lm, scaled_dot_product_attention))

# %% [markdown]
# The model hides later words from each word (lesson 5), so only the last one, *bank*, sees all six. The widget hides
# none. Try other sentences, layers and heads, or put `scale=1.0` in place of your function:

# %% tags=["demo"]
# @title Your scaled attention on a sentence that you type
alive.show(scale=scaled_dot_product_attention, layer=0, head=3)

# %% [markdown]
# ### Predict: the spread after training (extra)
#
# The scaled scores of independent queries and keys have a spread of 1. What is it in this trained model, on average over
# its twelve heads?

# %%
story = small_lm.held_out().splitlines()[0]


def spreads(model):
    """The spread of the unscaled scores in each layer and head of the small model, (3, 4)."""
    seen = [[model.look(story, layer, head) for head in range(4)] for layer in range(3)]
    return torch.stack([torch.stack([score_std(head.q, head.k) for head in layer]) for layer in seen])


# %%
# The spread of the scaled scores after training: "about 1", "smaller" or "larger"
predict("the spread after training", ...)

# %%
print("one row per layer, one column per head:", (spreads(lm) / 24**0.5).round(decimals=1), sep="\n")

# %% [markdown]
# Training has made queries and keys agree where sharp attention helps. The root gives a good *start*; it does not keep
# the spread at 1.
#
# ### A minute of training without it (extra)
#
# Your colleague of section 5 expects the model to make its scores smaller. Try it: `fine_tune` trains the model for
# another hundred steps, with its scores multiplied by `scale`. (A new optimizer disturbs a trained model, so the loss
# rises a little even with the right scale.)


# %%
def fine_tune(scale, steps=100, rows=16, length=48):
    """Train the small model further, with its scores times `scale`. Returns its held-out losses and the model."""
    model = small_lm.load().requires_grad_()
    parts = replace(BUILT_IN, scale=scale)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    texts = [model.encode(text)[:length] for text in small_lm.held_out().splitlines()]
    unseen = torch.stack([ids for ids in texts if len(ids) == length])
    stories = model.encode(generate_stories(30_000, seed=5))  # one long list of ids
    generator = torch.Generator().manual_seed(0)
    losses = []
    for step in range(steps + 1):
        if step % 10 == 0:
            with torch.no_grad():
                losses.append(model.losses(unseen, parts).mean().item())
        starts = torch.randint(len(stories) - length, (rows, 1), generator=generator)
        loss = model.losses(stories[starts + torch.arange(length)], parts).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses, model


# %% [markdown]
# ### Predict: the scores after a hundred steps (extra)
#
# How large are the unscaled scores after a hundred steps without the root?

# %%
# The scores: "about 4.9 times smaller", "about half as large" or "about as large as before"
predict("the scores after a hundred steps", ...)

# %% tags=["demo"]
# @title Three scales for a hundred steps, which takes up to a minute
figures.show(figures.scaling.fine_tuned(fine_tune, spreads, lm))

# %% [markdown]
# Divided by 24, the unscaled scores grow, which makes up for part of the small scale. Without the root, most of the gap in
# the loss closes as well, but the scores do not shrink. Other parts of the model learn to work with sharp weights: with the
# old $\mathbf{W}_q$ and $\mathbf{W}_k$ put back, the loss is still about 0.84.
#
# ## One model, from here to lesson 8
#
# Your scaled attention replaces the plain one in the model that grows from lesson 3 to lesson 8.

# %% tags=["demo"]
# @title The model so far, and where its letters look
from course import staged_model

figures.show(figures.staged_model.built_so_far(staged_model.current_model()))

# %% [markdown]
# The largest weights are where they were at the end of lesson 3, but now other letters have a share, too. A letter still
# sees the letters after it. Lesson 5 blocks them.

# %% [markdown]
# ## Challenge: `scale_for_entropy(scores, nats)` (extra)
#
# *Challenge ★★★ · not graded · about 15 minutes*
#
# The square root suits random queries and keys, but trained ones are not random. How sharp do you *want* attention to
# be, and which scale makes it so? With an entropy of $h$ nats, about $e^h$ words share the attention of a query. For
# every $h$ between 0 and $\ln S$, exactly one scale gives the weights of a row of $S$ scores this entropy. There is no
# formula for it, but a larger scale always gives a smaller entropy.
#
# `scores` is `(..., S)`. In each row, one score is clearly larger than all others. Return the scales, positive and of shape
# `(...)`: for each row the one with which `softmax(scale * row)` has the entropy `nats`, accurate to a relative error of
# 0.001. Scores may be as small as 0.00001 or as large as 100,000. Unless `nats` is between 0 and $\ln S$, raise a
# `ValueError` whose message has `nats` and its value, or `scores` and its shape. No gradient is needed.
#
# **Worked example.** With the scale 1, the scores $(0, \ln 3)$ have the weights $(\tfrac14, \tfrac34)$ and the entropy
# 0.562. With the scale 2 they have $(\tfrac1{10}, \tfrac9{10})$ and 0.325. You want 0.4. Which scale do you try next?


# %%
def scale_for_entropy(scores: torch.Tensor, nats: float) -> torch.Tensor:
    """For each row, the scale with which the softmax of its scores has an entropy of `nats`.

    scores: (..., S). Returns (...), positive, accurate to 0.1 %. ValueError unless 0 < nats < ln S.
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(scale_for_entropy)

# %% [markdown]
# ## Summary
#
# 1. A score is a sum of $d_k$ products. If the entries are independent, with mean 0 and variance 1, the scores have the
#    spread $\sqrt{d_k}$.
# 2. Widely spread scores saturate softmax: one weight is near 1, and hardly any gradient comes back.
# 3. Dividing by $\sqrt{d_k}$ keeps the spread at 1 for every width. Dividing by $d_k$ makes all weights nearly equal.
# 4. $d_k$ is the width of a query in one head. You may scale the scores or the queries.
# 5. Dropout applies to the weights, and only in training. Survivors are divided by $1 - p_{\text{drop}}$, so the mean is
#    unchanged.
#
# $$ \operatorname{attention}(\mathbf{Q}, \mathbf{K}, \mathbf{V}) = \operatorname{softmax}\!\left( \frac{\mathbf{Q}
#    \mathbf{K}^\top}{\sqrt{d_k}} \right) \mathbf{V} $$

# %% tags=["demo"]
# @title The diagram up to here, with the sentence and matrices of lesson 3
drawn = figures.qkv.so_far("scaling", scaled_dot_product_attention, *figures.qkv.of_sentence())
figures.show(drawn)

# %% [markdown]
# **To read on:** Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.1 and its
# footnote 4;
# [`F.scaled_dot_product_attention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html);
# Srivastava et al., [Dropout](https://jmlr.org/papers/v15/srivastava14a.html).

# %% tags=["demo"]
progress()
