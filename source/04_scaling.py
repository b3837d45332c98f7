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
# wrong one. One division cures it, $\text{scores} / \sqrt{K}$. **Why does attention fail when vectors get wide, and
# why is the cure a square root, rather than $K$ or nothing at all?**
#
# This lesson is an experiment. You will build two instruments, one that measures how widely scores spread and one
# that measures how much gradient softmax lets through. With them you will watch attention break, derive the cure on
# paper, and check it. Then you will write scaled dot-product attention, the equation of every transformer, and turn
# it into a module with dropout.
#
# **Time:** about 50 minutes (8 for each of the four exercises, 18 of reading at 200 words a minute, half a minute of
# running). **You need:** softmax and entropy (lesson 2), queries, keys and values (lesson 3). Nothing from your
# earlier notebooks has to be copied.
#
# | letter | meaning |
# |---|---|
# | $T$, $S$ | how many queries, how many keys |
# | $K$ | the width of a query and of a key: how many numbers it holds. Papers call it $d_k$ |
# | $V$ | the width of a value |
# | `...` | any leading dimensions, such as a batch; there may be none |

# %%
import torch
from course import begin, check, figures, hint, interactive, progress, use

begin("04_scaling")

# %%
import torch.nn.functional as F
from torch import nn

# %% [markdown]
# ## 1. How widely do scores spread?
#
# A score is a dot product: $K$ products, added up. For query $i$ and key $j$,
#
# $$ s_{ij} = \sum_{k=1}^{K} q_{ik}\, k_{jk} $$
#
# where $q_{ik}$ is number $k$ of query $i$ and $k_{jk}$ is number $k$ of key $j$. In an untrained model both are
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
# **Predict first.** With $K = 16$ the middle two thirds of the scores lie between about −4 and 4. With $K = 1024$ each
# score is a sum of 64 times as many terms. How far do they reach now: about as far, 8 times as far, or 64 times as far?
#
# <details><summary>Answer, once you have decided</summary>
#
# About 8 times as far. Most of the products cancel, since about half of them are negative; but not all do. What is
# left over grows, though slower than the number of terms. Section 5 says exactly how fast.
#
# </details>

# %% tags=["demo"]
samples, reach = {}, {}
for K in (16, 64, 256, 1024):
    query, key = queries_and_keys(K)
    samples[K], reach[K] = torch.matmul(query, key.mT), middle_two_thirds(query, key)
figures.show(
    figures.scaling.ridges(samples, reach),
    caption="The wider the vectors, the farther the scores stray from 0. Under each histogram: the middle two thirds.",
)

# %% [markdown]
# ### Your first instrument
#
# The ruler above is a rough one. The usual measure of spread is the **standard deviation**: with $n$ scores $s_1, …,
# s_n$ and their mean $\bar s$,
#
# $$ \operatorname{std} = \sqrt{\frac{1}{n} \sum_{i=1}^{n} (s_i - \bar s)^2 } $$
#
# This one, which divides by $n$, is called the *population* standard deviation. There is another, which divides by
# $n - 1$ to estimate the spread of a larger population from a sample; here the scores at hand are all that we ask
# about. Know which of the two your library gives you by default.
#
# ### Exercise 1: `score_std`
#
# Measure the spread of all unscaled scores of some queries with some keys, in one number.
#
# **On paper.** Two queries and two keys, $K = 2$:
#
# $$ Q = \begin{pmatrix} 1 & 2 \\ 1 & -2 \end{pmatrix}, \quad
#    \text{keys} = \begin{pmatrix} 1 & 1 \\ 1 & -1 \end{pmatrix}, \quad
#    \text{scores} = \begin{pmatrix} 3 & -1 \\ -1 & 3 \end{pmatrix} $$
#
# The mean of the four scores is 1, and each lies 2 away from it, so the answer is 2. (An answer of 2.31 comes from
# dividing by $n - 1$.)
#
# With leading dimensions, each batch element has its own queries and keys, and the result is still one number, over
# all scores of the whole batch.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint.
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
check(score_std)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(score_std)
### END HIDDEN TESTS

# %% [markdown]
# From here on, `spread` is your function once it passes, and the rough ruler until then; every picture says which.
# Here is the spread against $K$. Both axes are logarithmic, so that a power of $K$ becomes a straight line, and the
# exponent its slope.

# %%
spread = use(score_std, otherwise=middle_two_thirds)
widths = [1, 4, 16, 64, 256, 1024]

# %% tags=["demo"]
measured = [float(spread(*queries_and_keys(K))) for K in widths]
ax = figures.curves(widths, {"spread": measured}, xlabel="K", ylabel="spread of the scores", log="both")
figures.show(
    ax,
    alt=f"A straight line on logarithmic axes, from {measured[0]:.2f} at K = 1 to {measured[-1]:.1f} at K = 1024.",
    caption=f"Measured with {spread.whose}. For every factor 4 in K the line climbs by a factor of about 2.",
)

# %% [markdown]
# ## 2. What softmax makes of wide scores
#
# Is a wide spread bad? Scores are not used as they are: softmax turns them into weights. Lesson 2 showed what it does
# when scores grow: multiplying all scores by a constant is *lowering the temperature*, and the weights sharpen until
# one key takes everything. Making vectors wider does exactly that, without anybody having asked for it.
#
# The slider draws the scores of one query with eight keys, and the weights that softmax gives them, as $K$ grows. The
# query and the keys are random every time; none of the keys is special.


# %%
def one_query(K):
    """A picture of one random query's scores with eight keys and of their weights."""
    query, key = queries_and_keys(K, n=1, S=8, seed=23)
    scores = torch.matmul(query, key.mT)[0, 0]  # (8,)
    return figures.scaling.scores_and_weights(scores, torch.softmax(scores, dim=-1), reach=75)


# %% tags=["demo"]
interactive.slider(one_query, strip=[1, 16, 256], K=widths)

# %% [markdown]
# At $K = 256$ the query no longer mixes values. It *picks* one, at random, and with full confidence: nothing has been
# learned yet. We say that softmax is **saturated**. Entropy says it in one number: $\log 8 \approx 2.08$ for equal
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
# **Predict first.** Below are the tables for the five scores $(0.6, -0.4, 0.2, -0.9, 0.4)$, for four times these
# scores, and for sixteen times these scores. Which of the three tables has the largest numbers in it, and which the
# smallest?
#
# <details><summary>Answer, once you have decided</summary>
#
# The largest stand in the second: there two keys are in a close race, and a nudge moves weight from one to the other.
# The smallest stand in the third. There the race is over: one weight is almost 1, the others are almost 0, and nudging
# any score moves almost nothing.
#
# </details>

# %% tags=["demo"]
five = torch.tensor([0.6, -0.4, 0.2, -0.9, 0.4])
rates = {f"scores × {factor}": nudged(factor * five) for factor in (1, 4, 16)}
figures.show(
    figures.scaling.responses(rates),
    caption="How fast each weight moves with each score. The colours fade as the scores spread: hardly anything moves any more.",
)

# %% [markdown]
# This table is the **Jacobian** of softmax, and it has a formula. With weights $w = \operatorname{softmax}(s)$,
#
# $$ J_{ij} = \frac{\partial w_i}{\partial s_j} =
#    \begin{cases} w_i\,(1 - w_i) & \text{if } i = j \\ -\,w_i\, w_j & \text{if } i \ne j \end{cases} $$
#
# Read it: raising a key's own score helps its weight, and takes from every other key in proportion to what that key
# has. And see why it dies: every entry is a product of two numbers of which, once one weight is 1 and the others are
# 0, at least one is 0.
#
# To follow a whole table by one number, take its **Frobenius norm**: the length of the table, read as one long vector.
#
# $$ \lVert J \rVert = \sqrt{\textstyle\sum_{i} \sum_{j} J_{ij}^2} $$
#
# ### Exercise 2: `softmax_gradient_norm`
#
# **On paper.** For the scores $(0, 0)$ the weights are $(\tfrac12, \tfrac12)$, all four entries of $J$ are
# $\pm\tfrac14$, and the norm is $\sqrt{4 \cdot \tfrac1{16}} = \tfrac12$. For the scores $(0, \log 3)$ the weights are
# $(\tfrac14, \tfrac34)$, the entries are $\pm\tfrac3{16}$, and the norm is $\tfrac38$.
#
# The result is itself differentiable, as everything in this course is. Nudging is too rough to pass; use the formula,
# or let autograd build the table.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint.
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
check(softmax_gradient_norm)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(softmax_gradient_norm)
### END HIDDEN TESTS

# %% [markdown]
# ## 4. The experiment
#
# Both instruments are ready: `spread` and `gradient_norm`. Entropy comes from PyTorch: `torch.special.entr(w)` is
# $-w \log w$, entry by entry.
#
# `measure` takes the three readings for one width $K$. Its argument `scale` multiplies the scores; 1 leaves them as
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
unscaled = torch.stack([measure(K) for K in widths])  # (6, 3)
figures.show(
    figures.scaling.experiment(widths, {"unscaled": unscaled}, keys=16),
    caption=f"Spread by {spread.whose}; gradient by {gradient_norm.whose}.",
)

# %% [markdown]
# Read the panels from left to right; they are one chain of causes. The scores spread; so the weights lose their
# entropy; so the gradient dies. At $K = 1024$ not even a thousandth is left of what the typical query gets at
# $K = 16$. This is what the authors of the transformer suspected when they wrote that large dot products
# push softmax "into regions where it has extremely small gradients" (Vaswani et al. 2017, section 3.2.1).
#
# Cut the chain at its first link: keep the spread where it is, whatever $K$ is. What must the scores be divided by?

# %% [markdown]
# ## 5. Where the square root comes from
#
# Take one query $q$ and one key $k$. Their $2K$ numbers are independent, each with mean 0 and variance 1. Write
# $E[\cdot]$ for the mean over many draws. One product, say of the numbers in place $a$, has mean
# $E[q_a k_a] = E[q_a]\,E[k_a] = 0$ and variance
#
# $$ \operatorname{Var}[q_a k_a] = E[q_a^2 k_a^2] - 0^2 = E[q_a^2]\; E[k_a^2] = 1 \cdot 1 = 1 . $$
#
# Two products in different places $a \ne b$ have nothing to do with each other: $E[q_a k_a \, q_b k_b] = 0$. Variances
# of such terms simply add up, so
#
# $$ \operatorname{Var}\Big[\sum_{a=1}^{K} q_a k_a\Big] = \sum_{a=1}^{K} 1 = K
#    \qquad\Longrightarrow\qquad \operatorname{std} = \sqrt{K} . $$
#
# It is the *variance* that grows like $K$. The spread, its root, grows like $\sqrt K$; and dividing every score by
# $\sqrt K$ brings it back to 1, for every $K$. That is all there is to it. Does the measurement agree?

# %% tags=["demo"]
spreads = [float(spread(*queries_and_keys(K))) for K in widths]
variances = {"measured": [s**2 for s in spreads], "variance = K": widths}
figures.show(
    figures.curves(widths, variances, xlabel="K", ylabel="variance of the scores", log="both"),
    alt=f"The variance against K on logarithmic axes, from {spreads[0] ** 2:.2f} at K = 1 to {spreads[-1] ** 2:.0f} at "
    "K = 1024, beside the straight line variance = K.",
    caption=f"The square of the spread, against the line that the derivation promises. Measured with {spread.whose}.",
)
for K, s in zip(widths, spreads, strict=True):
    print(f"K = {K:4}   variance = {s**2:7.2f}   spread = {s:5.2f}   spread / √K = {s / K**0.5:.3f}")

# %% [markdown]
# **Predict first.** What would the spread be if all numbers in queries and keys were twice as large?
#
# <details><summary>Answer, once you have decided</summary>
#
# Each product is four times as large, so the spread is $4\sqrt K$, and dividing by $\sqrt K$ leaves 4. The root takes
# care of the *width* only. That the numbers themselves have variance 1 is the business of initialisation and
# normalisation, and once training begins nobody guarantees it. Try it: `spread(2 * query, 2 * key)`.
#
# </details>
#
# ### And why not divide by $K$?
#
# It would surely keep the scores small. Too small: their spread would be $\sqrt K / K = 1/\sqrt K$, and falling. Look
# at all three choices side by side before you read on. Which panel tells you what is wrong with $1/K$?

# %% tags=["demo"]
choices = {"× 1": lambda K: 1.0, "/ √K": lambda K: K**-0.5, "/ K": lambda K: 1 / K}
results = {}
for name, scale in choices.items():
    results[name] = torch.stack([measure(K, scale(K)) for K in widths])
figures.show(
    figures.scaling.experiment(widths, results, keys=16),
    caption=f"Spread by {spread.whose}; gradient by {gradient_norm.whose}.",
)

# %% [markdown]
# With $1/\sqrt K$ all three readings are level: a model can be made wider without changing how its attention starts.
#
# With $1/K$ the middle panel gives it away. The entropy sits at its maximum: all keys get the same weight, whatever
# the query says. Softmax's own gradient looks healthy, but it is not the whole way back. From the scores to the query
# the gradient passes through the scale once more, so the query receives a gradient that shrinks as the scale does.
# One choice picks at random; the other averages blindly; in both, the query learns slowly.
#
# <details><summary>Does anybody divide by K?</summary>
#
# Yes, and for a reason that our assumption shows. We took queries and keys to be *independent*. Training makes them
# agree, and the score of two vectors that agree grows like $K$ itself. Yang et al. ([arXiv:2203.03466](
# https://arxiv.org/abs/2203.03466)) therefore divide by $K$, times a constant, so that settings tuned on a narrow
# model carry over to a wide one. Others give queries and keys length 1 and learn the scale (Henry et al.,
# [arXiv:2010.04245](https://arxiv.org/abs/2010.04245)). A scale is a choice; what you must know is what it does.
#
# </details>

# %% [markdown]
# ## 6. Scaled dot-product attention
#
# Here it is, the equation that this course is about:
#
# $$ \operatorname{Attention}(Q, K, V) = \operatorname{softmax}\!\left( \frac{Q K^\top}{\sqrt{d_k}} \right) V $$
#
# In the papers' notation the letters $Q$, $K$, $V$ stand for the whole matrices, $(T, d_k)$, $(S, d_k)$ and
# $(S, d_v)$; the width that we call $K$ is their $d_k$. It is the width of *one query*, the last dimension of the
# tensor that you are given. It is not the width of the model, nor the number of keys.
#
# ### Exercise 3: `scaled_dot_product_attention`
#
# As `attention` in lesson 3, but the scores are multiplied by `scale` before the softmax. Left out, it is
# $1/\sqrt{K}$. Given, it is used as it stands, and `scale=0.0` is a legal one: all scores become 0, all weights equal.
#
# **On paper.** One query $(2, 0, 0, 0)$, so $K = 4$ and $\sqrt K = 2$; two keys, $(\log 3, 0, 0, 0)$ and
# $(0, 0, 0, 0)$; their values 8 and 4.
#
# | | key 0 | key 1 |
# |---|---|---|
# | scores | $2 \log 3$ | $0$ |
# | scaled by $1/2$ | $\log 3$ | $0$ |
# | weights | $3/4$ | $1/4$ |
#
# The output is $\tfrac34 \cdot 8 + \tfrac14 \cdot 4 = 7$. Unscaled, the weights would be $9/10$ and $1/10$ and the
# output 7.6; with `scale=0.0` it is 6.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint.
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
check(scaled_dot_product_attention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(scaled_dot_product_attention)
### END HIDDEN TESTS

# %% [markdown]
# ### The same as PyTorch's
#
# PyTorch has this function too, as `F.scaled_dot_product_attention`. It returns the output only, since the fast
# versions never hold all weights at once. To see its weights nevertheless, hand it the identity matrix as values: a
# weighted sum of the rows of the identity *is* the row of weights.


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
# Now play with the scale. In the slider it is $K^{-p}$ with $K = 64$: at $p = 0$ the scores are not scaled, at
# $p = \tfrac12$ they are divided by $\sqrt K$, at $p = 1$ by $K$. Watch the rows go from picking, over mixing, to
# averaging.


# %%
def with_power(p):
    """A picture of five queries' weights for seven keys, scores multiplied by 64 ** -p; its description."""
    weights = attend(query[0, 0], key[0, 0], value[0, 0], scale=64**-p)[1]  # (5, 7)
    return figures.scaling.weight_maps({f"scores × {64**-p:.3g}": weights}, per_row=1)


# %% tags=["demo"]
powers = [0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 1.0]
interactive.slider(with_power, start={"p": 0.5}, strip=[0.0, 0.25, 0.5, 1.0], p=powers)

# %% [markdown]
# ### Does it matter for learning?
#
# All this concerned the first moment of a model's life. So let one live. The task is to look something up: of 16 items
# one is asked for, by showing it again, and its value must be returned. The model is a single attention with two
# matrices, `W_q` and `W_k`, which make queries and keys of width $K = 256$. Nothing but the scale differs between the
# runs: same start, same data, same optimizer.
#
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
losses = {"× 1": learn(1.0), "/ √K": learn(256**-0.5), "/ K": learn(1 / 256)}
figures.show(
    figures.losses(losses, {"averages all": 15 / 16, "picks at random": 15 / 8}, names="ends"),
    caption=f"Learning to look up, K = 256, with {attend.whose}.",
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
# is it a bug?** And what of a library that divides both queries and keys by $K^{1/4}$?

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
# <details><summary>Verdict</summary>
#
# Not a bug. A dot product is linear in each of its two vectors, so $(c\,q) \cdot k = c\,(q \cdot k)$: the factor may
# stand on the query, on the key, or on the score. The differences are rounding. Splitting it into two fourth roots is
# right as well; to divide *both* by $\sqrt K$ would be the bug, since then the scores are divided by $K$. The maintainers
# of one of the three projects answered just so ([getalp/Flaubert#45](https://github.com/getalp/Flaubert/issues/45)).
# Another merged the change, and had to take it back when training broke ([huggingface/transformers#22444](
# https://github.com/huggingface/transformers/pull/22444)): "correcting" what is right has a price, too.
#
# It is even the better way. There are $T \cdot K$ numbers in the queries and $T \cdot S$ in the scores, so with more keys
# than $K$ it saves work. And in half precision, where 65504 is the largest number, it can save the result, as the next
# cell shows.
#
# </details>

# %% tags=["demo"]
long = torch.full((1, 64), 40.0, dtype=torch.float16)  # a query and a key of 64 numbers, all of them 40
print("scores scaled: ", (torch.matmul(long, long.T) / 8).item(), "  (64 · 40 · 40 = 102400 does not fit)")
print("queries scaled:", torch.matmul(long / 8, long.T).item())

# %% [markdown]
# ## 8. A module, and dropout
#
# Real models wrap attention in an `nn.Module`, and most of them train it with **dropout**: at every step some weights
# are set to 0, at random, so that no query can rely on a single key. With a dropout probability $p$, every weight
# $w_{ij}$ becomes
#
# $$ \tilde w_{ij} = \frac{m_{ij}\, w_{ij}}{1 - p}, \qquad
#    m_{ij} = \begin{cases} 0 & \text{with probability } p \\ 1 & \text{with probability } 1 - p \end{cases} $$
#
# independently for each entry, every time anew. The division makes up for what is lost, on average:
# $E[\tilde w_{ij}] = (1 - p) \cdot w_{ij} / (1 - p) = w_{ij}$. So nothing has to be corrected later, when dropout is
# off.
#
# And it must be off when the model is used. A module knows which of the two it is doing: `module.train()` and
# `module.eval()` set `module.training` to `True` and to `False`, for the module and for all modules inside it. A new
# module starts in training mode.
#
# **On paper.** The weights $(\tfrac12, \tfrac14, \tfrac14)$ with $p = \tfrac12$: each survivor doubles. If the dice drop
# the second, what is applied is $(1, 0, \tfrac12)$, and with the values 2, 4, 8 the output is $2 + 4 = 6$. In eval
# mode, it is $1 + 1 + 2 = 4$, every time.
#
# ### Exercise 4: `ScaledDotProductAttention`
#
# Write the module. `forward` returns `(output, weights)`, where the weights are *the ones applied*: after dropout, in
# training mode. You may call your function from exercise 3; if that one is wrong, it does not cost you here again.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint.
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
check(ScaledDotProductAttention)
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
module = make_module(dropout=0.3)
maps = {}
with torch.random.fork_rng(), torch.no_grad():
    torch.manual_seed(1)
    for title, training in {"eval": False, "eval again": False, "train": True, "train again": True}.items():
        maps[title] = module.train(training)(narrow_query, narrow_key, narrow_value)[1]
figures.show(
    figures.scaling.weight_maps(maps, per_row=2),
    caption=f"Dropout with p = 0.3 by {make_module.whose}. Beside each row, its sum.",
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
# <details><summary>Verdict</summary>
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
# The scores are multiplied by $\sqrt K$ where they should be divided by it: $K$ times too large
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
# **Predict first.** Here is the same attention six times, with six scales. One of them is right. Which one, and what
# happened to the others?

# %% tags=["demo"]
q, k, v = query[0, 0], key[0, 0], value[0, 0]  # T = 5, S = 7, K = 64
scales = {"A": 8.0, "B": 384**-0.5, "C": 1.0, "D": 64**-0.5, "E": 1 / 64}
maps = {name: attend(q, k, v, scale=scale)[1] for name, scale in scales.items()}
maps["F"] = attend(q, k, v, scale=1.0)[1] / 8
figures.show(
    figures.scaling.weight_maps(maps),
    caption=f"The same queries and keys, six scales, by {attend.whose}. Beside each row, its sum.",
)

# %% [markdown]
# <details><summary>Answer, once you have decided</summary>
#
# A is multiplied by $\sqrt K$ where it should be divided. B has the width of the model, 6 heads of 64 each: flatter than
# it should be, and of the same look. C is not scaled. **D is right.** E is divided by $K$; so it looks, too, when
# somebody scales the queries and then calls a function that scales once more. F was scaled after the softmax: as sharp
# as C, and its rows sum to $1/8$.
#
# Only F breaks a rule that can be checked without knowing the answer. All others are proper weights, and nobody could
# be sure of D by looking. That is what the test in section 6 is for: compare with an independent implementation, on
# shapes that differ from one another, and let it raise an error.
#
# </details>

# %% [markdown]
# ## Summary
#
# 1. A score is a sum of $K$ products. For independent numbers of variance 1 its variance is $K$, its spread $\sqrt K$.
# 2. Wide scores saturate softmax: one weight near 1, entropy near 0, a Jacobian near 0, nothing to learn from.
# 3. Dividing by $\sqrt K$ keeps the spread at 1 for every width. Dividing by $K$ overdoes it: attention averages blindly.
# 4. $K$ is the width of one query in one head. The factor may stand on the scores or on the queries; it is the same.
# 5. Dropout falls on the weights, in training only; survivors are divided by $1 - p$, so that the mean is unchanged.
#
# $$ \operatorname{Attention}(Q, K, V) = \operatorname{softmax}\!\left( \frac{Q K^\top}{\sqrt{d_k}} \right) V $$
#
# - Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.1 and its footnote 4
# - [`F.scaled_dot_product_attention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html)
#   in PyTorch's documentation, with an equivalent in plain Python
# - Srivastava et al., [Dropout](https://jmlr.org/papers/v15/srivastava14a.html), where the idea comes from

# %%
progress()
