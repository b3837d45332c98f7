# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 4: Scaling
#
# In lesson 3 your attention worked on vectors of three numbers. Give the very same code vectors of 256 numbers, and
# it goes numb: every query stares at a single key, and hardly any gradient comes back to tell it that it stares at the
# wrong one. One division cures it, $\text{scores} / \sqrt{d_k}$, where $d_k$ is the width of the vectors. **Why does
# attention fail when vectors get wide, and why is the cure a square root, rather than $d_k$ or nothing at all?**
#
# This lesson is an experiment. You will build two instruments, one that measures how widely scores spread and one
# that measures how much gradient softmax lets through. With them you will watch attention break, derive the cure on
# paper, and check it. Then you will write scaled dot-product attention, the equation of every transformer, and turn
# it into a module with dropout.
#
# **You need** softmax and entropy (lesson 2), queries, keys and values (lesson 3). Nothing from your earlier notebooks
# has to be copied.
#
# **Time:** about 65 minutes
#
# | letter | in shapes and code | meaning |
# |---|---|---|
# | $T$, $S$ | `T`, `S` | how many queries, how many keys |
# | $d_k$ | `K` | the width of a query and of a key: how many numbers it holds |
# | $d_v$ | `V` | the width of a value |
# | | `...` | any leading dimensions, such as a batch; there may be none |

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, progress, sliders, use
from torch import nn

begin("04_scaling")

# %% [markdown]
# ## Review: three questions on what came before
#
# *Review* · about 3 minutes. Answer each in your head or on paper before you unfold its answer. Where one will not
# come back, look at the summary of the lesson that it is from.
#
# **1.** Three projections make queries, keys and values. Which two of them meet in a dot product, and what becomes of
# the third?
#
# <details><summary>Answer</summary>
#
# Queries with keys: they give the scores, and softmax makes weights of them. The output is the sum of the *values* by
# these weights.
#
# </details>
#
# **2.** Queries are `(2, 5, 8)`, keys `(2, 7, 8)`, values `(2, 7, 3)`. What are the shapes of the weights and of the
# output?
#
# <details><summary>Answer</summary>
#
# Weights `(2, 5, 7)`, output `(2, 5, 3)`: one row for each query, as wide as the values.
#
# </details>
#
# **3.** All keys are equal. What are a query's weights, and what is its output?
#
# <details><summary>Answer</summary>
#
# The scores are equal, so the weights are $1/S$ each, and the output is the mean of the values.
#
# </details>

# %% [markdown]
# ## 1. How widely do scores spread?
#
# A score is a dot product: $d_k$ products, added up. For query $i$ and key $j$,
#
# $$ s_{ij} = \sum_{r=1}^{d_k} q_{ir}\, k_{jr} $$
#
# where $q_{ir}$ is number $r$ of query $i$ and $k_{jr}$ is number $r$ of key $j$. In an untrained model both are
# close to random numbers with mean 0 and variance 1: layers are initialised, and normalised, to make it so. So let us
# draw them, and look at the scores that come out.
#
# To keep the samples large, `queries_and_keys` makes 200 independent little problems at once. Each has one query and
# 16 keys.


# %%
def queries_and_keys(K, n=200, S=16, seed=0):
    """n problems of one query (n, 1, K) and S keys (n, S, K); all numbers have mean 0, variance 1."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, 1, K, generator=generator), torch.randn(n, S, K, generator=generator)


def middle_two_thirds(query, key):
    """A rough ruler: how far the middle two thirds of all scores reach from their centre."""
    scores = torch.matmul(query, key.mT).flatten()
    low, high = torch.quantile(scores, torch.tensor([1 / 6, 5 / 6]))
    return (high - low) / 2


# %% [markdown]
# ### Predict first
#
# With $d_k = 16$ the middle two thirds of the scores lie between about −4 and 4. With $d_k = 1024$ each score is a sum
# of 64 times as many terms. How far do they reach now: about as far, 8 times as far, or 64 times as far?
#
# <details><summary>Answer</summary>
#
# About 8 times as far. Most of the products cancel, since about half of them are negative; but not all do. What is
# left over grows, though slower than the number of terms. Section 5 says exactly how fast.
#
# </details>

# %% tags=["demo"]
# @title The scores of random queries and keys of four widths
samples, reach = {}, {}
for K in (16, 64, 256, 1024):
    query, key = queries_and_keys(K)
    samples[K], reach[K] = torch.matmul(query, key.mT), middle_two_thirds(query, key)
figures.show(
    figures.scaling.ridges(samples, reach),
    caption="Each histogram holds 3,200 scores. The bar under it: the middle two thirds.",
)

# %% [markdown]
# ### Your first instrument
#
# The ruler above is a rough one. The usual measure of spread is the **standard deviation**: with $n$ scores
# $s_1, \dots, s_n$ and their mean $\bar s$,
#
# $$ \operatorname{std} = \sqrt{\frac{1}{n} \sum_{i=1}^{n} (s_i - \bar s)^2 } $$
#
# This one, which divides by $n$, is called the *population* standard deviation. There is another, which divides by
# $n - 1$ to estimate the spread of a larger population from a sample; here the scores at hand are all that we ask
# about. Know which of the two your library gives you by default.
#
# ### Exercise 1: `score_std(query, key)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# Measure the spread of all unscaled scores of some queries with some keys, in one number.
#
# **On paper.** Two queries and two keys, $d_k = 2$:
#
# $$ \mathbf{Q} = \begin{pmatrix} 1 & 2 \\ 1 & -2 \end{pmatrix}, \quad
#    \mathbf{K} = \begin{pmatrix} 1 & 1 \\ 1 & -1 \end{pmatrix}, \quad
#    \mathbf{Q} \mathbf{K}^\top = \begin{pmatrix} 3 & -1 \\ -1 & 3 \end{pmatrix} $$
#
# The mean of the four scores is 1, and each lies 2 away from it, so the answer is 2. (An answer of 2.31 comes from
# dividing by $n - 1$.)
#
# With leading dimensions, each batch element has its own queries and keys, and the result is still one number, over
# all scores of the whole batch.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(score_std)


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
# From here on, `spread` is your function once it passes. Until then `from_differences` stands in for it, which guesses
# the spread from how far neighbouring scores lie apart; every picture says which of the two has drawn it. Here is the
# spread against $d_k$. Both axes are logarithmic, so that a power of $d_k$ becomes a straight line, and the exponent
# its slope.


# %%
def from_differences(query, key):
    """A stand-in for `score_std`: two independent scores differ by about √2 times their standard deviation."""
    scores = torch.matmul(query, key.mT).flatten()
    return (scores - scores.roll(1)).norm() / (2 * len(scores)) ** 0.5


spread = use(score_std, otherwise=from_differences)
widths = [1, 4, 16, 64, 256, 1024]

# %% tags=["demo"]
# @title The spread of the scores for six widths
measured = [float(spread(*queries_and_keys(K))) for K in widths]
ax = figures.curves(widths, {"spread": measured}, xlabel="width dₖ", ylabel="spread of the scores", log="both")
figures.show(
    ax,
    alt=f"A straight line on logarithmic axes, from {measured[0]:.2f} at width 1 to {measured[-1]:.1f} at width 1024.",
    caption=f"Measured with {spread.whose}. For every factor 4 in width the line climbs by a factor of about 2.",
)

# %% [markdown]
# ## 2. What softmax makes of wide scores
#
# Is a wide spread bad? Scores are not used as they are: softmax turns them into weights. Lesson 2 showed what it does
# when scores grow: multiplying all scores by a constant is *lowering the temperature*, and the weights sharpen until
# one key takes everything. Making vectors wider does exactly that, without anybody having asked for it.
#
# The slider draws the scores of one query with eight keys, and the weights that softmax gives them, as $d_k$ grows. The
# query and the keys are random every time; none of the keys is special.


# %% tags=["demo"]
# @title A slider: one query's scores and weights at each width
def one_query(K):
    """A picture of one random query's scores with eight keys and of their weights."""
    query, key = queries_and_keys(K, n=1, S=8, seed=23)
    scores = torch.matmul(query, key.mT)[0, 0]  # (8,)
    return figures.scaling.scores_and_weights(scores, torch.softmax(scores, dim=-1), reach=75)


sliders.slider(one_query, strip=[1, 16, 256], K=widths)

# %% [markdown]
# At $d_k = 256$ the query no longer mixes values. It *picks* one, at random, and with full confidence: nothing has been
# learned yet. We say that softmax is **saturated**. Entropy says it in one number: $\ln 8 \approx 2.08$ for equal
# weights, 0 when one key has everything.
#
# A model can survive a bad start, if it is told in which direction to move. So the real question is: what does a
# saturated softmax tell it?

# %% [markdown]
# ## 3. What saturation does to the gradient
#
# Training moves the scores a little at a time, in the direction that helps. It can only know that direction if moving
# a score moves a weight. So nudge one score at a time, and watch how fast every weight moves. That is a table of
# $S \times S$ numbers: in row $i$ and column $j$, how fast weight $i$ moves when score $j$ does.


# %%
def nudged(scores, by=0.01):
    """Roughly how fast each weight moves with each score, (S, S), found by nudging one score at a time."""
    weights = torch.softmax(scores, dim=-1)  # (S,)
    moved = torch.softmax(scores + by * torch.eye(len(scores)).to(scores), dim=-1)  # row j: score j was nudged
    return ((moved - weights) / by).T


# %% [markdown]
# ### Predict first
#
# Below are the tables for the five scores $(0.6, -0.4, 0.2, -0.9, 0.4)$, for four times these
# scores, and for sixteen times these scores. Which of the three tables has the largest numbers in it, and which the
# smallest?
#
# <details><summary>Answer</summary>
#
# The largest stand in the second: there two keys are in a close race, and a nudge moves weight from one to the other.
# The smallest stand in the third. There the race is over: one weight is almost 1, the others are almost 0, and nudging
# any score moves almost nothing.
#
# </details>

# %% tags=["demo"]
# @title How fast each weight moves, for five scores and their multiples
five = torch.tensor([0.6, -0.4, 0.2, -0.9, 0.4])
rates = {f"scores × {factor}": nudged(factor * five) for factor in (1, 4, 16)}
figures.show(
    figures.scaling.responses(rates),
    caption="How fast each weight moves with each score, on one scale of colours.",
)

# %% [markdown]
# *Review.* This table is the **Jacobian** of softmax; you met it, and its formula, in section 5 of lesson 2. With
# weights $\mathbf{p} = \operatorname{softmax}(\mathbf{s})$,
#
# $$ J_{ij} = \frac{\partial p_i}{\partial s_j} =
#    \begin{cases} p_i\,(1 - p_i) & \text{if } i = j \\ -\,p_i\, p_j & \text{if } i \ne j \end{cases} $$
#
# Read it: raising a key's own score helps its weight, and takes from every other key in proportion to what that key
# has. And see why it dies: every entry is a product of two numbers of which, once one weight is 1 and the others are
# 0, at least one is 0.
#
# To follow a whole table by one number, take its **Frobenius norm**: the length of the table, read as one long vector.
#
# $$ \lVert \mathbf{J} \rVert = \sqrt{\textstyle\sum_{i} \sum_{j} J_{ij}^2} $$
#
# ### Exercise 2: `softmax_gradient_norm(scores)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# **On paper.** For the scores $(0, 0)$ the weights are $(\tfrac12, \tfrac12)$, all four entries of $\mathbf{J}$ are
# $\pm\tfrac14$, and the norm is $\sqrt{4 \cdot \tfrac1{16}} = \tfrac12$. For the scores $(0, \ln 3)$ the weights are
# $(\tfrac14, \tfrac34)$, the entries are $\pm\tfrac3{16}$, and the norm is $\tfrac38$.
#
# The result is itself differentiable, as everything in this course is. Nudging is too rough to pass; use the formula,
# or let autograd build the table.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(softmax_gradient_norm)


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
check(softmax_gradient_norm)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(softmax_gradient_norm)
### END HIDDEN TESTS

# %% [markdown]
# ## 4. The experiment
#
# Both instruments are ready: `spread` and `gradient_norm`. Entropy comes from PyTorch: `torch.special.entr(p)` is
# $-p_i \ln p_i$, entry by entry.
#
# `measure` takes the three readings for one width. Its argument `scale` multiplies the scores; 1 leaves them as
# they are. Of the 200 problems it reports the *median* gradient, because the mean would be made by the few problems in
# which two keys happen to be nearly tied, and would hide what the typical query gets.


# %%
def nudged_norm(scores):
    """Roughly the length of the table that `nudged` finds: what the pictures use until your function passes."""
    return nudged(scores).norm()


gradient_norm = use(softmax_gradient_norm, otherwise=nudged_norm)


def measure(K, scale=1.0):
    """Spread of the scores, mean entropy of the weights, median gradient norm, for 200 random problems, as (3,)."""
    query, key = queries_and_keys(K)
    scores = torch.matmul(scale * query, key.mT)[:, 0]  # (200, 16)
    entropy = torch.special.entr(torch.softmax(scores, dim=-1)).sum(-1)  # (200,)
    gradients = torch.stack([gradient_norm(row) for row in scores])  # (200,)
    return torch.stack([spread(scale * query, key), entropy.mean(), gradients.median()])


# %% tags=["demo"]
# @title Spread, entropy and gradient against the width
unscaled = torch.stack([measure(K) for K in widths])  # (6, 3)
figures.show(
    figures.scaling.experiment(widths, {"unscaled": unscaled}, keys=16),
    caption=f"Spread by {spread.whose}; gradient by {gradient_norm.whose}.",
)

# %% [markdown]
# Read the panels from left to right; they are one chain of causes. The scores spread; so the weights lose their
# entropy; so the gradient dies. At $d_k = 1024$ not even a thousandth is left of what the typical query gets at
# $d_k = 16$. This is what the authors of the transformer suspected when they wrote that large dot products
# push softmax "into regions where it has extremely small gradients" (Vaswani et al. 2017, section 3.2.1).
#
# Cut the chain at its first link: keep the spread where it is, whatever $d_k$ is. What must the scores be divided by?

# %% [markdown]
# ## 5. Where the square root comes from
#
# Take one query $\mathbf{q}$ and one key $\mathbf{k}$. Their $2 d_k$ numbers are independent, each with the mean 0 and
# the variance 1. Write $E[\cdot]$ for the mean over many draws. One product, say of the numbers in place $r$, has mean
# $E[q_r k_r] = E[q_r]\,E[k_r] = 0$ and variance
#
# $$ \operatorname{Var}[q_r k_r] = E[q_r^2 k_r^2] - 0^2 = E[q_r^2]\; E[k_r^2] = 1 \cdot 1 = 1 . $$
#
# Two products in different places $r \ne r'$ have nothing to do with each other: $E[q_r k_r \, q_{r'} k_{r'}] = 0$.
# Variances of such terms simply add up, so
#
# $$ \operatorname{Var}\Big[\sum_{r=1}^{d_k} q_r k_r\Big] = \sum_{r=1}^{d_k} 1 = d_k
#    \qquad\Longrightarrow\qquad \operatorname{std} = \sqrt{d_k} . $$
#
# It is the *variance* that grows like $d_k$. The spread, its root, grows like $\sqrt{d_k}$; and dividing every score by
# $\sqrt{d_k}$ brings it back to 1, for every width. That is all there is to it. Does the measurement agree?

# %% tags=["demo"]
spreads = [float(spread(*queries_and_keys(K))) for K in widths]
for K, s in zip(widths, spreads, strict=True):
    print(f"K = {K:4}   variance = {s**2:7.2f}   spread = {s:5.2f}   spread / √K = {s / K**0.5:.3f}")

# %% tags=["demo"]
# @title The measured variance beside the one that the derivation promises
variances = {"measured": [s**2 for s in spreads], "variance = dₖ": widths}
figures.show(
    figures.curves(widths, variances, xlabel="width dₖ", ylabel="variance of the scores", log="both"),
    alt=f"The variance against the width on logarithmic axes, from {spreads[0] ** 2:.2f} at 1 to {spreads[-1] ** 2:.0f} at "
    "1024, beside the straight line of variances that equal the width.",
    caption=f"The square of the spread, against the line that the derivation promises. Measured with {spread.whose}.",
)

# %% [markdown]
# ### Predict first
#
# What would the spread be if all numbers in queries and keys were twice as large?
#
# <details><summary>Answer</summary>
#
# Each product is four times as large, so the spread is $4\sqrt{d_k}$, and dividing by $\sqrt{d_k}$ leaves 4. The root
# takes care of the *width* only. That the numbers themselves have variance 1 is the business of initialisation and
# normalisation, and once training begins nobody guarantees it. Try it: `spread(2 * query, 2 * key)`.
#
# </details>
#
# ### And why not divide by $d_k$?
#
# (By the width, that is: $d_k$.) It would surely keep the scores small. Too small: their spread would be
# $\sqrt{d_k} / d_k = 1/\sqrt{d_k}$, and falling. Look at all three choices side by side before you read on. Which panel
# tells you what is wrong with $1/d_k$?

# %% tags=["demo"]
# @title Spread, entropy and gradient for three scales
choices = {"× 1": lambda K: 1.0, "/ √dₖ": lambda K: K**-0.5, "/ dₖ": lambda K: 1 / K}
results = {}
for name, scale in choices.items():
    results[name] = torch.stack([measure(K, scale(K)) for K in widths])
figures.show(
    figures.scaling.experiment(widths, results, keys=16),
    caption=f"Spread by {spread.whose}; gradient by {gradient_norm.whose}.",
)

# %% [markdown]
# With $1/\sqrt{d_k}$ all three readings are level: a model can be made wider without changing how its attention starts.
#
# With $1/d_k$ the middle panel gives it away. The entropy sits at its maximum: all keys get the same weight, whatever
# the query says. Softmax's own gradient looks healthy, but it is not the whole way back. From the scores to the query
# the gradient passes through the scale once more, so the query receives a gradient that shrinks as the scale does.
# One choice picks at random; the other averages blindly; in both, the query learns slowly.
#
# <details><summary>Does anybody divide by the width itself?</summary>
#
# Yes, and for a reason that our assumption shows. We took queries and keys to be *independent*. Training makes them
# agree, and the score of two vectors that agree grows like $d_k$ itself. Yang et al. ([arXiv:2203.03466](
# https://arxiv.org/abs/2203.03466)) therefore divide by $d_k$, times a constant, so that settings tuned on a narrow
# model carry over to a wide one. Others give queries and keys length 1 and learn the scale (Henry et al.,
# [arXiv:2010.04245](https://arxiv.org/abs/2010.04245)). A scale is a choice; what you must know is what it does.
#
# </details>

# %% [markdown]
# %%answer why_the_root

# %% [markdown]
# ## 6. Scaled dot-product attention
#
# Here it is, the equation that this course is about:
#
# $$ \operatorname{attention}(\mathbf{Q}, \mathbf{K}, \mathbf{V}) = \mathbf{A} \mathbf{V} \qquad\text{with}\qquad
#    \mathbf{A} = \operatorname{softmax}\!\left( \frac{\mathbf{Q} \mathbf{K}^\top}{\sqrt{d_k}} \right) $$
#
# with queries $\mathbf{Q}$ of shape `(T, K)`, keys $\mathbf{K}$ of shape `(S, K)`, values $\mathbf{V}$ of shape
# `(S, V)` and weights $\mathbf{A}$ of shape `(T, S)`. The width $d_k$ is that of *one query*, the last dimension of the
# tensor that you are given. It is not the width of the model, nor the number of keys.
#
# ### Exercise 3: `scaled_dot_product_attention(query, key, value, scale=None)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# As `attention` in lesson 3, but the scores are multiplied by `scale` before the softmax. Left out, it is
# $1/\sqrt{d_k}$. Given, it is used as it stands, and `scale=0.0` is a legal one: all scores become 0, all weights
# equal.
#
# **On paper.** One query $(2, 0, 0, 0)$, so $d_k = 4$ and $\sqrt{d_k} = 2$; two keys, $(\ln 3, 0, 0, 0)$ and
# $(0, 0, 0, 0)$; their values 8 and 4.
#
# | | key 0 | key 1 |
# |---|---|---|
# | scores | $2 \ln 3$ | $0$ |
# | scaled by $1/2$ | $\ln 3$ | $0$ |
# | weights | $3/4$ | $1/4$ |
#
# The output is $\tfrac34 \cdot 8 + \tfrac14 \cdot 4 = 7$. Unscaled, the weights would be $9/10$ and $1/10$ and the
# output 7.6; with `scale=0.0` it is 6.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(scaled_dot_product_attention)


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
check(scaled_dot_product_attention)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(scaled_dot_product_attention)
### END HIDDEN TESTS

# %% [markdown]
# ### The same as PyTorch's
#
# PyTorch has this function too, as `F.scaled_dot_product_attention`. It returns the output only, since the fast
# versions never hold all weights at once. To see its weights nevertheless, hand it the identity matrix as values, as in
# lesson 3 (review): a weighted sum of the rows of the identity *is* the row of weights.


# %%
def built_in(query, key, value, scale=None):
    """PyTorch's attention as (output, weights): the weights are its output for the identity as values."""
    S = key.shape[-2]
    identity = torch.eye(S, dtype=key.dtype).expand(*key.shape[:-2], S, S)
    return tuple(F.scaled_dot_product_attention(query, key, v, scale=scale) for v in (value, identity))


attend = use(scaled_dot_product_attention, otherwise=built_in)

# %%
generator = torch.Generator().manual_seed(0)
query = torch.randn(2, 3, 5, 64, generator=generator)  # batch 2, 3 heads, T = 5, K = 64
key = torch.randn(2, 3, 7, 64, generator=generator)  # S = 7
value = torch.randn(2, 3, 7, 10, generator=generator)  # V = 10
for scale in (None, 0.0, 0.3):
    output, weights = attend(query, key, value, scale=scale)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value, scale=scale))
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 5))
print("Equal to F.scaled_dot_product_attention, to rounding:", attend.whose)

# %% [markdown]
# `assert_close` raises an error unless every element agrees. A printed `True` can be overlooked; an error cannot.
#
# Now play with the scale. In the slider it is $d_k^{-\alpha}$ with $d_k = 64$: at $\alpha = 0$ the scores are not
# scaled, at $\alpha = \tfrac12$ they are divided by $\sqrt{d_k}$, at $\alpha = 1$ by $d_k$. Watch the rows go from
# picking, over mixing, to averaging.


# %% tags=["demo"]
# @title A slider: five queries' weights for seven keys, at each scale
def with_power(alpha):
    scale = 64**-alpha
    weights = attend(query[0, 0], key[0, 0], value[0, 0], scale=scale)[1]  # (5, 7)
    return figures.scaling.weight_maps({f"scores × {scale:.3g}": weights}, per_row=1)


powers = [0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 1.0]
sliders.slider(with_power, start={"alpha": 0.5}, strip=[0.0, 0.25, 0.5, 1.0], alpha=powers)
print("Drawn with", attend.whose)

# %% [markdown]
# ### Does it matter for learning?
#
# All this concerned the first moment of a model's life. So let one live. The task is to look something up: of 16 items
# one is asked for, by showing it again, and its value must be returned. The model is a single attention with two
# matrices, `W_q` and `W_k`, which make queries and keys of width $d_k = 256$. Nothing but the scale differs between the
# runs: same start, same data, same optimizer.
#
# *Review:* in lesson 3 every matrix took a step against its gradient, all numbers with the same step size. An
# **optimizer** of PyTorch (lesson 0) takes that step for all parameters that you hand it: `zero_grad()` clears the
# old gradients, `loss.backward()` finds new ones, `step()` moves. `SGD` does what lesson 3 did. New is **Adam**, the
# usual choice for transformers. It keeps a running mean of each number's gradient and of its square, and divides the
# one by the root of the other: each number moves about `lr` a step, whether its own gradients are large or tiny. Here
# is a loss that is steep in one number and almost flat in the other; its lowest point is (0, 0).

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
# A larger rate would throw `SGD` out of the steep valley; Adam walks down both slopes at once. So to the experiment.
# Two levels help in reading the loss. A model that averages all values blindly reaches about 0.94. One that picks a
# random value with full confidence reaches about 1.88: twice as bad as knowing nothing.


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
        output, _ = attend(items[wanted][:, None] @ W_q, items @ W_k, values, scale=scale)  # (32, 1, 8)
        loss = F.mse_loss(output[:, 0], values[wanted])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses).unfold(0, 10, 1).mean(-1)  # (291,), each the mean of ten steps


# %% tags=["demo"]
losses = {"× 1": learn(1.0), "/ √dₖ": learn(256**-0.5), "/ dₖ": learn(1 / 256)}
figures.show(
    figures.losses(losses, {"averages all": 15 / 16, "picks at random": 15 / 8}, names="ends"),
    caption=f"Learning to look up, vectors of width 256, with {attend.whose}.",
)

# %% [markdown]
# All three would get there in the end, and that is the dangerous part: a wrong scale does not stop a model from
# learning. It costs time, or quality, and nobody sees what it cost unless somebody measures.

# %% [markdown]
# ## 7. Is it a bug?
#
# The paper divides the *scores* by the square root. Yet in some widely used models you find
#
# ```python
# query = query / math.sqrt(K)
# scores = query @ key.transpose(-2, -1)
# ```
#
# In 2023 somebody reported it as an error to three projects at once: only the queries are scaled, the keys are not
# ([facebookresearch/XLM#357](https://github.com/facebookresearch/XLM/issues/357)). **Decide before you run the cell:
# is it a bug?** And what of a library that divides both queries and keys by $d_k^{1/4}$?

# %% tags=["demo"]
root = 64**0.5
transposed = key.transpose(-2, -1)
ways = {
    "scores / √K": torch.matmul(query, transposed) / root,
    "(queries / √K) · keys": torch.matmul(query / root, transposed),
    "both / K^¼": torch.matmul(query / root**0.5, transposed / root**0.5),
    "both / √K": torch.matmul(query / root, transposed / root),
}
for name, scores in ways.items():
    print(f"{name:24} greatest difference from the first: {(scores - ways['scores / √K']).abs().max():.7f}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# Not a bug. A dot product is linear in each of its two vectors, so
# $(c\,\mathbf{q}) \cdot \mathbf{k} = c\,(\mathbf{q} \cdot \mathbf{k})$: the factor may stand on the query, on the key,
# or on the score. The differences are rounding. Splitting it into two fourth roots is right as well; to divide *both*
# by $\sqrt{d_k}$ would be the bug, since then the scores are divided by $d_k$. The maintainers of one of the three
# projects answered just so ([getalp/Flaubert#45](https://github.com/getalp/Flaubert/issues/45)). Another merged the
# change, and had to take it back when training broke
# ([huggingface/transformers#22444]( https://github.com/huggingface/transformers/pull/22444)): "correcting" what is
# right has a price, too.
#
# It is even the better way. There are $T \cdot d_k$ numbers in the queries and $T \cdot S$ in the scores, so with more
# keys than $d_k$ it saves work. And in half precision, where 65504 is the largest number, it can save the result, as
# the next cell shows.
#
# </details>

# %% tags=["demo"]
long = torch.full((1, 64), 40.0, dtype=torch.float16)  # a query and a key of 64 numbers, all of them 40
print("scores scaled: ", (torch.matmul(long, long.T) / 8).item(), "  (64 · 40 · 40 = 102400 does not fit)")
print("queries scaled:", torch.matmul(long / 8, long.T).item())

# %% [markdown]
# ## 8. A module, and dropout
#
# ### What a module is
#
# *Review* of lesson 0. A function computes and forgets. A layer of a network has something to keep: its parameters,
# and settings. In PyTorch it is a **module**, a class derived from `nn.Module` with two methods, written apart:
#
# - `__init__` runs once, when the module is made. It calls `super().__init__()` *first* and then stores the parts as
#   attributes. Whatever is an `nn.Parameter` or itself a module is found and listed from then on.
# - `forward` runs at each use, and computes the result from the arguments and the parts. You do not call it by name:
#   `module(x)` calls `module.forward(x)`.


# %% tags=["demo"]
class Stretch(nn.Module):
    """Multiplies by a learned number."""

    def __init__(self, start):
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(start))

    def forward(self, x):
        return self.factor * x


twice = Stretch(2.0)
print("used:      ", twice(torch.tensor([1.0, 3.0])))
print("parameters:", [(name, parameter.item()) for name, parameter in twice.named_parameters()])
print("training:  ", twice.training)

# %% [markdown]
# ### Dropout
#
# Most models train attention with **dropout**: at every step some weights are set to 0, at random, so that no query can
# rely on a single key. With the probability $p_{\text{drop}}$ of being dropped, every weight $a_{ij}$ becomes
#
# $$ \tilde a_{ij} = \frac{m_{ij}\, a_{ij}}{1 - p_{\text{drop}}}, \qquad
#    m_{ij} = \begin{cases} 0 & \text{with probability } p_{\text{drop}} \\ 1 & \text{otherwise} \end{cases} $$
#
# independently for each entry, every time anew. The division makes up for what is lost, on average:
# $E[\tilde a_{ij}] = (1 - p_{\text{drop}}) \cdot a_{ij} / (1 - p_{\text{drop}}) = a_{ij}$. So nothing has to be
# corrected later, when dropout is off.
#
# And it must be off when the model is used. A module knows which of the two it is doing: `module.train()` and
# `module.eval()` set `module.training` to `True` and to `False`, for the module and for all modules inside it. A new
# module starts in training mode. PyTorch has dropout as a module, `nn.Dropout`; here it falls on six ones:

# %% tags=["demo"]
drop = nn.Dropout(0.5)
with torch.random.fork_rng():  # draws, and leaves PyTorch's generator as it was
    torch.manual_seed(0)
    print("train:", drop(torch.ones(6)))
    print("again:", drop(torch.ones(6)))
print("eval: ", drop.eval()(torch.ones(6)))

# %% [markdown]
# **On paper.** The weights $(\tfrac12, \tfrac14, \tfrac14)$ with $p_{\text{drop}} = \tfrac12$: each survivor doubles.
# If the dice drop the second, what is applied is $(1, 0, \tfrac12)$, and with the values 2, 4, 8 the output is
# $2 + 4 = 6$. In eval mode, it is $1 + 1 + 2 = 4$, every time.
#
# ### Exercise 4: `ScaledDotProductAttention(dropout=0.0)`
#
# *Difficulty ★★☆ · about 12 minutes*
#
# Write the module. `forward` returns `(output, weights)`, where the weights are *the ones applied*: after dropout, in
# training mode. You may call your function from exercise 3; if that one is wrong, it does not cost you here again.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(ScaledDotProductAttention)


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
check(ScaledDotProductAttention)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(ScaledDotProductAttention)
### END HIDDEN TESTS

# %% [markdown]
# ### Dropout at work
#
# Until your module passes, the pictures use PyTorch's `nn.MultiheadAttention` with its projections set to the
# identity; what is left of it then is this lesson's attention with dropout. (Lesson 6 takes it apart.)


# %%
def built_in_module(dropout=0.0, width=8):
    """PyTorch's attention module with one head, its four projections set to the identity."""
    module = nn.MultiheadAttention(width, 1, dropout=dropout, bias=False, batch_first=True)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(width).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(width))
    return module


make_module = use(ScaledDotProductAttention, otherwise=built_in_module)
generator = torch.Generator().manual_seed(3)
narrow_query, narrow_key, narrow_value = (torch.randn(n, 8, generator=generator) for n in (4, 6, 6))

# %% tags=["demo"]
# @title The weights in eval mode, twice, and in training mode, twice
module = make_module(dropout=0.3)
maps = {}
with torch.random.fork_rng(), torch.no_grad():
    torch.manual_seed(1)
    for title, training in {"eval": False, "eval again": False, "train": True, "train again": True}.items():
        maps[title] = module.train(training)(narrow_query, narrow_key, narrow_value)[1]
figures.show(
    figures.scaling.weight_maps(maps, per_row=2),
    caption=f"Dropout with probability 0.3 by {make_module.whose}. Beside each row, its sum.",
)

# %% [markdown]
# ### Is it a bug? The rows no longer sum to 1
#
# In training mode the weights of a query sum to anything but 1. Should attention weights not sum to 1? This has been
# reported as a bug as well ([huggingface/transformers#31468](
# https://github.com/huggingface/transformers/issues/31468)). **Decide, then run the cell**, which averages the output
# over more and more draws, and measures how far that mean is from the output in eval mode.

# %% tags=["demo"]
module = make_module(dropout=0.3)
example = narrow_query, narrow_key, narrow_value
with torch.random.fork_rng(), torch.no_grad():
    torch.manual_seed(0)
    exact = module.eval()(*example)[0]  # (4, 8)
    outputs = torch.stack([module.train()(*example)[0] for _ in range(4096)])  # (4096, 4, 8)
counts = [1, 4, 16, 64, 256, 1024]
means = [outputs.unflatten(0, (-1, n)).mean(1) for n in counts]  # each (4096 / n, 4, 8)
distances = [(mean - exact).square().mean().sqrt().item() for mean in means]
figures.show(
    figures.scaling.settling(counts, distances),
    caption=f"The mean of n outputs in training mode against the output in eval mode, by {make_module.whose}.",
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Not a bug. No single draw sums to 1, but the mean over many draws is exactly the output without dropout; the distance
# falls like $1/\sqrt n$, as the error of any honest average does. Making each row sum to 1 again would bring a bug in:
# a key that survives alone would get the full weight, and the mean would no longer be the weights of eval mode.
#
# </details>

# %% [markdown]
# ## 9. Seen in the wild
#
# **The width of the model, for the width of a head.** The commonest bug of all. With 6 heads, a model of width 384 has
# heads of width 64, and 64 is what counts.
#
# ```diff
# - weights = q @ k.transpose(-2, -1) * n_embd ** -0.5       # 384
# + weights = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5  # 64
# ```
#
# It stood in the code to one of the most watched lectures on transformers ([karpathy/ng-video-lecture#6](
# https://github.com/karpathy/ng-video-lecture/issues/6)), in a popular collection of vision transformers
# ([lucidrains/vit-pytorch#65](https://github.com/lucidrains/vit-pytorch/issues/65)) and in a library written in Rust
# ([coreylowman/dfdx#171](https://github.com/coreylowman/dfdx/issues/171)). From outside: nothing. The scores are
# $\sqrt 6 \approx 2.4$ times too small, and the model trains all the same. Nothing that it printed gave the mistake
# away; somebody read the code beside the paper.
#
# **Divided by a scale that was already inverted.**
#
# ```diff
#   scale = head_dim ** -0.5
# - scores = q @ k.transpose(-2, -1) / scale
# + scores = q @ k.transpose(-2, -1) * scale
# ```
#
# The scores are multiplied by $\sqrt{d_k}$ where they should be divided by it: $d_k$ times too large
# ([esceptico/perceiver-io#9](https://github.com/esceptico/perceiver-io/issues/9)). From outside: a model that learns
# badly. Name a number after what is done with it, and this cannot happen.
#
# **Dropout that never stops.**
#
# ```diff
# - y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout)
# + y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0)
# ```
#
# A function knows nothing of `model.eval()`, so it drops weights when the model is used, too
# ([karpathy/nanoGPT#240](https://github.com/karpathy/nanoGPT/issues/240), and many others; PyTorch's page has carried a
# warning since [pytorch/pytorch#124464](https://github.com/pytorch/pytorch/issues/124464)). From outside: the loss on
# held-out text is a little too high, and the same prompt gives another answer each time.
#
# **Zero taken for "not given".** A library wrote its default as `scale = 0`, meaning "choose for me", and one of its
# backends took the 0 at its word: all weights were equal, the shapes were right, and nothing complained
# ([SKaiNET#880](https://github.com/SKaiNET-developers/SKaiNET/issues/880)). In Python the same trap is spelled
# `scale or K ** -0.5`. That is why `None` is the default here, and why 0.0 means 0.0.
#
# ### Predict first
#
# Here is the same attention six times, with six scales, for $d_k = 64$. One of them is right. Which one, and what
# happened to the others? Decide before you unfold the code or the answer below the picture.

# %% tags=["demo"]
# @title Six scales, A to F
q, k, v = query[0, 0], key[0, 0], value[0, 0]  # T = 5, S = 7, K = 64
scales = {"A": 8.0, "B": 384**-0.5, "C": 1.0, "D": 64**-0.5, "E": 1 / 64}
maps = {name: attend(q, k, v, scale=scale)[1] for name, scale in scales.items()}
maps["F"] = attend(q, k, v, scale=1.0)[1] / 8
figures.show(
    figures.scaling.weight_maps(maps),
    caption=f"The same queries and keys, six scales, by {attend.whose}. Beside each row, its sum.",
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# A is multiplied by $\sqrt{d_k}$ where it should be divided. B has the width of the model, 6 heads of 64 each: flatter
# than it should be, and of the same look. C is not scaled. **D is right.** E is divided by $d_k$; so it looks, too,
# when somebody scales the queries and then calls a function that scales once more. F was scaled after the softmax: as
# sharp as C, and its rows sum to $1/8$.
#
# Only F breaks a rule that can be checked without knowing the answer. All others are proper weights, and nobody could
# be sure of D by looking. That is what the test in section 6 is for: compare with an independent implementation, on
# shapes that differ from one another, and let it raise an error.
#
# </details>

# %% [markdown]
# ## The model so far
#
# The model that grows from lesson 3 to lesson 8, with your scaled attention in the place of the plain one. The text, the
# random numbers and the matrices are those of lesson 3.

# %% tags=["demo"]
# @title The model so far, and where its letters look
from course import staged_model

so_far = staged_model.current_model()
figures.show(
    figures.staged_model.built_so_far(so_far, "then the hen"),
    caption=f"The same letters and numbers as in lesson 3, with scaled scores. {so_far.whose}",
)

# %% [markdown]
# Compare with the end of lesson 3: the same cells are the lightest, but others have got a share, too. Something can be
# learned from them now. What is left is that a letter sees its future.

# %% [markdown]
# ## Summary
#
# 1. A score is a sum of $d_k$ products. For independent numbers of variance 1 its variance is $d_k$, its spread
#    $\sqrt{d_k}$.
# 2. Wide scores saturate softmax: one weight near 1, entropy near 0, a Jacobian near 0, nothing to learn from.
# 3. Dividing by $\sqrt{d_k}$ keeps the spread at 1 for every width. Dividing by $d_k$ overdoes it: attention averages
#    blindly.
# 4. $d_k$ is the width of one query in one head. The factor may stand on the scores or on the queries; it is the same.
# 5. Dropout falls on the weights, in training only; survivors are divided by
#    $1 - p_{\text{drop}}$, so that the mean is unchanged.
#
# $$ \operatorname{attention}(\mathbf{Q}, \mathbf{K}, \mathbf{V}) = \mathbf{A} \mathbf{V} \qquad\text{with}\qquad
#    \mathbf{A} = \operatorname{softmax}\!\left( \frac{\mathbf{Q} \mathbf{K}^\top}{\sqrt{d_k}} \right) $$
#
# **To read on:**
#
# - Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.1 and its footnote 4
# - [`F.scaled_dot_product_attention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html)
#   in PyTorch's documentation, with an equivalent in plain Python
# - Srivastava et al., [Dropout](https://jmlr.org/papers/v15/srivastava14a.html), where the idea comes from

# %% [markdown]
# ## Challenge: `scale_for_entropy(scores, nats)`
#
# *Challenge ★★★ · not graded · about 15 minutes*
#
# A challenge is for those who want more. The same judge checks it, no grade knows of it, and you may leave it as it is.
#
# The square root gives scores the right spread if queries and keys are random numbers, and trained ones are not. So turn
# the question round: how sharp do you *want* attention to be, and which scale makes it so? An entropy of $h$ nats means
# that a query listens to about $e^h$ words. For every $h$ between 0 and $\ln S$ there is exactly one scale with which the
# weights of a row of $S$ scores have that entropy, and no formula gives it. But the larger the scale, the smaller the
# entropy, and that is all you need to find it. (t-SNE, which draws maps of data in many dimensions, does the same for
# each of its points: its *perplexity* is $e^h$.)
#
# `scores` is `(..., S)`; in each row one score is the largest, and none of the others comes near it. Return the scales,
# positive, `(...)`: each row has its own, right to a thousandth of itself, with which `softmax(scale * row)` has the
# entropy `nats`. Scores may be a hundred-thousandth or a hundred thousand. Raise a `ValueError` that names `nats` or
# `scores` unless `nats` lies between 0 and $\ln S$. No gradient is asked for.
#
# **On paper.** The scores $(0, \ln 3)$: with the scale 1 the weights are $(\tfrac14, \tfrac34)$, and their entropy is
# 0.562; with the scale 2 they are $(\tfrac1{10}, \tfrac9{10})$, and it is 0.325. You want 0.4. Which scale do you try
# next?

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(scale_for_entropy)


# %%
def scale_for_entropy(scores: torch.Tensor, nats: float) -> torch.Tensor:
    """For each row the scale with which the softmax of its scores has an entropy of `nats`.

    scores: (..., S). Returns (...), positive, right to a thousandth. ValueError unless 0 < nats < ln S.
    """
    raise NotImplementedError  # take this line out, and write yours


# %% tags=["demo"]
check(scale_for_entropy)

# %% tags=["demo"]
progress()
