# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 2: Softmax
#
# In lesson 0 you wrote `torch.softmax(scores, dim=-1)`, for scores between −20 and 20. **How does it make shares of any
# scores, why in this way, and where does it break?**
#
# **You will build** `softmax`, `log_softmax`, `softmax_with_temperature`, `entropy`, and a dictionary that answers even
# when the key is missing.
#
# **You need** lesson 1, broadcasting (warm-up: `90_tensors`), $e^x$ and $\ln x$.
#
# **Time:**

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sliders, small_lm, solution
from torch import nn

begin("02_softmax")

# %% [markdown]
# ## Quiz: what came before
#
# **1.** Queries are `(4, 8)`, keys are `(6, 8)`. What is the shape of all their scores?
#
# **2.** A key becomes ten times as long. What grows as much?

# %%
predict("quiz 1", ...)  # a shape
predict("quiz 2", ...)  # "its dot products", "its cosine similarities" or "both"

# %% [markdown]
# ## 1. From scores to shares
#
# Let *bank* have these scores with the six words of *The boat reached the river bank*.

# %% tags=["code"]
words = ["The", "boat", "reached", "the", "river", "bank"]
scores = torch.tensor([-1.0, 2.0, 0.5, -1.0, 3.0, 1.5])  # one score for each of the 6 words

# %% [markdown]
# *Bank* has one unit of attention to give away, so its weights should be positive and sum to 1. A higher score should get a
# larger share, and shares should change smoothly, or training could not improve the scores. The obvious way is to divide by
# the sum:

# %% tags=["code"]
print(scores / scores.sum())

# %% [markdown]
# They sum to 1, but *The* gets −0.2.
#
# ## 2. Exponentiate, then divide
#
# The exponential $e^x$ is always positive, smooth, and grows with $x$. So exponentiate the scores $\mathbf{s}$ before you
# divide. The result is their **softmax**, the weights $\mathbf{a}$:
#
# $$ a_i = \operatorname{softmax}(\mathbf{s})_i = \frac{e^{s_i}}{\sum_{j} e^{s_j}} . $$
#
# Word $i$ of $n$ has the score $s_i$ and the weight $a_i$. Scores that go into a softmax are also called **logits**.
#
# ### Exercise: exponentiate, then divide
#
# *Difficulty ★☆☆, importance ●●○, about 2 minutes.* Write this formula for one list of scores, from now on without anything
# in PyTorch that contains a softmax.
#
# **Worked example.** The exponentials of $(0, \ln 2, \ln 5)$ are $(1, 2, 5)$, with the sum 8. So the weights are
# $(\tfrac18, \tfrac28, \tfrac58) = (0.125, 0.25, 0.625)$.


# %%
def exp_and_divide(x: torch.Tensor) -> torch.Tensor:
    """The exponential of each score, divided by the sum of them all. x: S scores, (S,). Returns (S,)."""
    raise NotImplementedError  # replace this line


# %%
check(exp_and_divide)  # NameError? Run the notebook's first cell

# %% tags=["picture"]
# @title The scores, their exponentials, and the weights
figures.show(figures.shares.from_scores(exp_and_divide, scores, words))

# %% [markdown]
# ### Predict: shift all scores
#
# Add 10 to each score. Which weights grow?

# %%
# The weights that grow: "all", "none" or "the largest"
predict("the weights that grow", ...)

# %% tags=["code"]
print("before:", exp_and_divide(scores))
print("after: ", exp_and_divide(scores + 10))

# %% [markdown]
# In the ratio of two weights, the sum cancels:
#
# $$ \frac{a_i}{a_j} = \frac{e^{s_i}}{e^{s_j}} = e^{s_i - s_j} . $$
#
# **Only differences of scores count.** A score that is higher by $\ln 2 \approx 0.69$ gets twice the share.
#
# ## 3. Scores of any size
#
# So the scores $(1000, 1001, 1002)$ should get the same weights as $(0, 1, 2)$.
#
# ### Predict: a thousand
#
# What does your formula make of them? PyTorch's usual numbers, **float32**, end at about $3.4 \cdot 10^{38}$. Anything larger
# **overflows**: it becomes `inf`.

# %%
# Each of the three weights is then: "right", "inf" or "nan"
predict("the weights of large scores", ...)

# %% tags=["code"]
large = torch.tensor([1000.0, 1001.0, 1002.0])
print(large.exp(), "/", large.exp().sum(), "=", large.exp() / large.exp().sum())

# %% [markdown]
# The exponential overflows above 88.7. But since only differences count, you may subtract the largest score,
# $m = \max_j s_j$, from all of them:
#
# $$ a_i = \frac{e^{s_i - m}}{\sum_{j} e^{s_j - m}} . $$
#
# Now no exponent is above 0, so nothing overflows, and the sum is at least $e^0 = 1$. A score of $-\infty$ excludes a word,
# because $e^{-\infty} = 0$. So your triangle in lesson 0 hid the future.
#
# ## 4. Which dimension?
#
# The scores of a sentence are a matrix, with one row per query. Since each query has its own unit of attention, each row gets
# its own softmax. Your `dim=-1` in lesson 0 said so: `dim` is the dimension along which the weights sum to 1.

# %% tags=["picture"]
# @title The same scores, normalised along each of the two dimensions
matrix = torch.tensor([[2.0, 1.0, 0.0, -1.0], [0.0, 0.0, 0.0, 3.0], [1.0, -2.0, 1.0, 1.0]])
figures.show(figures.shares.both_ways(matrix))

# %% [markdown]
# <details><summary>A bug that shipped: every weight is 1 (extra)</summary>
#
# The attention of a library gave every word the weight 1, whatever the scores were
# ([PyTorch-NLP#2](https://github.com/PetrochukM/PyTorch-NLP/issues/2), 2018). Its softmax ran along dimension 0 instead of the
# last one. In the report, dimension 0 had the size 1, so that each list held a single score, and a single score gets the
# whole unit. With more rows, queries would compete with each other, and nothing would look wrong.
#
# </details>

# %% [markdown]
# The largest score of each list is `x.amax(dim, keepdim=True)`. (`x.max(dim)` returns positions as well.) Without `keepdim`,
# the three maxima of a `(3, 3)` matrix broadcast as a *row*, and no error warns you.
#
# ### Exercise: `softmax(x, dim=-1)`
#
# *Difficulty ★★☆, importance ●●●, about 8 minutes.*
#
# Compute the weights of the scores `x` along `dim`, whatever their size.
#
# **Worked example.** `softmax(torch.tensor([1.0, 2.0, 5.0]).log())` is `[0.125, 0.25, 0.625]`.


# %% nbgrader={"grade": false, "grade_id": "softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The weights of the scores `x` along `dim`: positive, with the sum 1.

    x: scores, any shape, floating point. Finite and of any size, even 1e8, or -inf, which gets exactly 0. Every list
    along `dim` has a finite score.
    dim: any dimension of `x`; a negative one counts from the back.
    Returns a tensor of the same shape and dtype. Gradients flow back to `x`, and `x` itself is not changed.
    """
    ### BEGIN SOLUTION
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_softmax", "locked": true, "points": 7, "schema_version": 3, "solution": false, "task": false}
check(softmax)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(softmax)
### END HIDDEN TESTS

# %% tags=["code"]
print(softmax(large, dim=-1), softmax(torch.tensor([0.0, 1.0, -torch.inf]), dim=-1))

# %% tags=["picture"]
# @title One call for a whole sentence: each word is a query, and all six are keys
table = figures.shares.scores_of_all(scores)
figures.show(figures.shares.weights_of_all(softmax, table, words))

# %% [markdown]
# ## 5. The logarithm of a weight
#
# A language model shares one unit among all words that could come next. Its **loss** is minus the logarithm of the share
# that the right word got. Let this word's score be 120 below the highest:

# %% tags=["code"]
behind = torch.tensor([0.0, -120.0])
print(softmax(behind, dim=-1).log())

# %% [markdown]
# The weight, about $10^{-52}$, was rounded to 0. So take the logarithm on paper, before anything is rounded:
#
# $$ \ln a_i = \ln \frac{e^{s_i - m}}{\sum_j e^{s_j - m}} = (s_i - m) - \ln \sum_j e^{s_j - m} . $$
#
# ### Exercise: `log_softmax(x, dim=-1)`
#
# *Difficulty ★★☆, importance ●●○, about 6 minutes.* Compute the logarithms of the weights along `dim`.
#
# **Worked example.** For $(0, \ln 2, \ln 5)$ they are $\approx (-2.08, -1.39, -0.47)$, never positive.


# %% nbgrader={"grade": false, "grade_id": "log_softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def log_softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The natural logarithms of the weights of the scores `x` along `dim`.

    x, dim: as for `softmax`. Finite scores give a finite result, however large (1e17) or far apart they are, unless
    their difference overflows. A score of -inf gives -inf.
    Returns a tensor of the same shape and dtype.
    """
    ### BEGIN SOLUTION
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_log_softmax", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(log_softmax)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(log_softmax)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title The loss of a word far behind: yours, and two other ways
figures.show(figures.shares.three_logarithms(log_softmax))

# %% [markdown]
# ## 6. Temperature
#
# How much more should the highest score get? Divide all scores by a number $\tau > 0$, the **temperature**:
#
# $$ \mathbf{a} = \operatorname{softmax}(\mathbf{s} / \tau) . $$
#
# A low temperature magnifies the differences, until the highest score takes everything. A high one shrinks them, until all
# get the same.
#
# <details><summary>Why e, and not 2? (extra)</summary>
#
# Any base above 1 keeps the order of the scores. Powers of 2 even give a softmax that you know: since $2^{s} = e^{s \ln 2}$,
# they are the exponentials at the temperature $1 / \ln 2 \approx 1.44$. So the base is only another way to choose the
# temperature, and $e$ has the simplest derivative. Squares would not do, because a score of −3 would get more than one of 1.
#
# </details>
#
# ### Predict: half the temperature
#
# At $\tau = 1$, the scores $(0, \ln 3)$ have the weights $(0.25, 0.75)$. What is the larger weight at
# $\tau = \tfrac12$?

# %%
# A number between 0 and 1
predict("the larger weight", ..., torch.softmax(torch.tensor([0.0, math.log(3)]) / 0.5, dim=-1)[1])

# %% [markdown]
# ### Exercise: `softmax_with_temperature(x, temperature, dim=-1)`
#
# *Difficulty ★☆☆, importance ●●○, about 2 minutes.* Compute the softmax of `x / temperature` along `dim`.
#
# **Worked example.** At $\tau = 2$, the scores $(0, 2 \ln 3)$ have the weights $(0.25, 0.75)$.


# %% nbgrader={"grade": false, "grade_id": "softmax_with_temperature", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax_with_temperature(x: torch.Tensor, temperature: float, dim: int = -1) -> torch.Tensor:
    """The softmax of `x / temperature` along `dim`.

    x, dim: as for `softmax`; `x / temperature` does not overflow.
    temperature: a plain number above 0, also a whole one, and as small or large as 1e-6 or 1e6.
    Returns a tensor of the same shape and dtype. You may call your `softmax`: its mistakes cost no points here.
    """
    ### BEGIN SOLUTION
    return softmax(x / temperature, dim)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_softmax_with_temperature", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(softmax_with_temperature)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(softmax_with_temperature)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title A slider: the weights of the six words at each temperature
sliders.slider(figures.distributions.heated, softmax_with_temperature, scores, words)

# %% [markdown]
# ## 7. Entropy: how many words share the attention
#
# How does the picture count that 3.2 words share the attention at $\tau = 1$? The *surprise* at a word,
# $-\ln a_i$, is large if its weight is small. **Entropy** is the average surprise, weighted by the weights, in
# **nats**, the unit of $\ln$:
#
# $$ \operatorname{entropy}(\mathbf{a}) = -\sum_{i} a_i \ln a_i . $$
#
# It is 0 if one word has everything, and $\ln n$ if $n$ words share equally. So $e^{\text{entropy}}$ is a number of words.
#
# ### Exercise: `entropy(p, dim=-1)`
#
# *Difficulty ★★☆, importance ●●○, about 9 minutes.* Compute the entropy of the weights `p` along `dim`. A weight of 0
# contributes nothing, although PyTorch computes $0 \cdot \ln 0$ as `nan`. Tool: `torch.where(condition, a, b)`.
#
# **Worked example.** The entropy of $(\tfrac12, \tfrac14, \tfrac14)$ is $\tfrac12 \ln 2 + \tfrac12 \ln 4 =
# \tfrac32 \ln 2 \approx 1.04$, and $e^{1.04} \approx 2.83$.


# %% nbgrader={"grade": false, "grade_id": "entropy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def entropy(p: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The entropy, in nats, of the weights `p` along `dim`.

    p: weights, any shape, floating point, at least 0, with the sum 1 along `dim`; 0 * log(0) counts as 0.
    Returns a tensor of the shape of `p` without `dim`. Its gradient is right for all weights above 0, also for 4e-11.
    """
    ### BEGIN SOLUTION
    surprise = -torch.log(torch.where(p > 0, p, 1.0))
    return (p * surprise).sum(dim)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_entropy", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(entropy)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(entropy)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title Weights and entropy against the temperature
drawn = figures.distributions.cooling(softmax_with_temperature, entropy, scores, words)
figures.show(drawn)

# %% [markdown]
# ## 8. A dictionary that always answers
#
# A Python dictionary fails if no key equals the query. A *soft* dictionary averages *all* values, each weighted by how close
# its key is.
#
# $$ s_j = -(q - k_j)^2, \qquad \mathbf{a} = \operatorname{softmax}(\mathbf{s} / \tau), \qquad
# o = \sum_j a_j v_j . $$
#
# Here $q$ is the query, $k_j$ a key, $v_j$ its value, and $o$ the **output**.

# %% tags=["picture"]
# @title A dictionary of water levels in a harbour, and the same with soft weights at two temperatures
figures.show(figures.distributions.soft_dictionary(softmax_with_temperature))

# %% [markdown]
# This is your attention of lesson 0, with a distance in place of the dot product. Minus half its square
# orders the keys in the same way; multiply it out:
#
# $$ -\tfrac12 \lVert \mathbf{q} - \mathbf{k}_j \rVert^2
# = \mathbf{q} \cdot \mathbf{k}_j - \tfrac12 \lVert \mathbf{q} \rVert^2 - \tfrac12 \lVert \mathbf{k}_j \rVert^2 . $$
#
# 1. The term with only $\mathbf{q}$ is the same for every key, so softmax ignores it.
# 2. If all keys are equally long, it ignores the last term, too.
# 3. What is left is $\mathbf{q} \cdot \mathbf{k}_j$: the dot product finds close keys as well, but it favours long ones.

# %% tags=["code"]
random = torch.Generator().manual_seed(2)


def tide_at(hours):
    return 2 + 1.5 * torch.cos(2 * math.pi * (hours - 3) / 12.4)  # high water every 12.4 hours


def levels_at(hours):
    return tide_at(hours) + 0.4 * torch.randn(len(hours), generator=random)  # waves disturb each reading


hours = 24 * torch.rand(40, generator=random)  # (40,), the keys: when somebody looked, in one day
levels = levels_at(hours)  # (40,), the values: what they read

# %% [markdown]
# ### Exercise: a soft dictionary
#
# *Difficulty ★★☆, importance ●●○, about 3 minutes.* Answer `T` queries at once. With `S` keys, the scores are
# `(T, S)`, because `queries[:, None]` is `(T, 1)` and broadcasts against the keys.
#
# **Worked example.** The keys are 1 and 3, the values 10 and 20, and $\tau = 1$. The query 1 has the scores $(0, -4)$,
# weights $\approx (0.98, 0.02)$ and the output $\approx 10.18$.


# %%
def soft_dictionary(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, temperature: float
) -> torch.Tensor:
    """For each query, the mean of all values, weighted by the softmax of -(query - key)² / temperature.

    queries: (T,). keys, values: (S,). temperature: greater than 0. Returns (T,).
    """
    raise NotImplementedError  # replace this line


# %%
check(soft_dictionary)

# %% [markdown]
# ### Predict: a very cold dictionary
#
# At $\tau = 0.001$, what does the dictionary answer for an hour between two readings?

# %%
# The answer: "the value of the nearest key", "the mean of the two neighbours" or "the mean of all values"
predict("the answer of a cold dictionary", ...)

# %% tags=["picture"]
# @title The readings, and the answers at three temperatures
drawn = figures.distributions.answers(soft_dictionary, hours, levels, tide_at)
figures.show(drawn)

# %% [markdown]
# ## 9. The next word of a real model
#
# The course has a small language model, trained on stories of a river town. It scores each word that could come next, and
# your softmax makes probabilities of the scores.

# %% tags=["picture"]
# @title The likeliest next words of the small model after three texts
lm = small_lm.load()
drawn = figures.distributions.next_words(lm, softmax, entropy)
figures.show(drawn)

# %% [markdown]
# Put your softmax into its attention, and your log_softmax into its loss, on stories that it has not seen.

# %% tags=["model"]
with_yours, with_the_builtin = lm.compare(softmax=softmax, log_softmax=log_softmax)

# %% [markdown]
# ## Your experiment (extra)
#
# *Difficulty ★★☆, importance ●○○, about 7 minutes.* **Which temperature gives the best answers?** The cell makes 200
# new readings. Look up their hours at each temperature, and compute the mean squared difference between the answers and
# `new_levels`. Plot it with `figures.curves(temperatures, {"error": errors}, log="x")`. Your finding is the temperature
# with the smallest error.

# %% tags=["experiment"]
new_hours = 24 * torch.rand(200, generator=random)  # (200,), queries that are not among the keys
new_levels = levels_at(new_hours)  # (200,)
temperatures = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]

# Your code: the error at each temperature, and a plot

finding = ...  # the temperature with the smallest error

# %%
check("experiment", finding)

# %% [markdown]
# ## The gradient of softmax (extra)
#
# How fast does weight $i$ change when score $j$ changes? The quotient rule gives the derivative:
#
# $$ \frac{\partial a_i}{\partial s_j} = a_i \, (\delta_{ij} - a_j) . $$
#
# Here $\delta_{ij}$ is 1 if $i = j$ and 0 otherwise. The first term comes from the numerator, the second from the
# denominator. These derivatives form a matrix, the **Jacobian**, here computed by autograd from your softmax.

# %% tags=["picture"]
# @title The Jacobian at the six scores
changes = torch.autograd.functional.jacobian(lambda x: softmax(x, dim=-1), scores)  # (6, 6)
figures.show(figures.shares.jacobian(changes, softmax(scores, dim=-1), words))

# %% [markdown]
# The diagonal is positive, because a word's weight rises with its own score. The other words lose, in proportion to their
# weights, so each column sums to 0. If one weight is near 1, *all* entries are near 0. Such a softmax is **saturated**:
# hardly any gradient flows back. Lesson 4 shows how to avoid this.
#
# ## Summary
#
# 1. Softmax exponentiates and divides, which makes positive weights that sum to 1.
# 2. Only differences count, so subtract the maximum, and nothing overflows.
# 3. Use `log_softmax`, never the logarithm of a softmax.
# 4. A low temperature favours the winner; a high one evens out the shares, so that the entropy rises.
# 5. A soft dictionary that scores by dot products is attention.
#
# $$ a_i = \frac{e^{s_i - m}}{\sum_j e^{s_j - m}}, \qquad m = \max_j s_j $$

# %% tags=["picture"]
# @title What you have built so far
figures.show(figures.shares.so_far(softmax, table))

# %% [markdown]
# <details><summary>To read on (extra)</summary>
#
# [log_softmax](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html) in PyTorch, and why it
# exists · Milakov and Gimelshein on [maximum and sum in one pass](https://arxiv.org/abs/1805.02867), which FlashAttention
# builds on.
#
# </details>

# %% [markdown]
# In lesson 3, queries, keys and values are vectors, and a model learns to compute them.

# %%
progress()
