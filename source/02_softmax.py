# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 2: Softmax
#
# Lesson 1 ended with scores: one number for each pair of words, positive or negative, large or small. Attention needs
# *shares* that add up to 1. **How do you turn any numbers into shares, so that nothing overflows and gradients can flow
# back?** One short function does it, in every attention layer and in the loss of most classifiers.
#
# **You will build** `softmax`, `log_softmax`, `softmax_with_temperature`, `entropy`, and a dictionary that answers even
# when the key is missing. Finally, you plug your softmax into a language model.
#
# **You need** lesson 1, tensors and broadcasting, and $e^x$, $\ln x$ and derivatives from school.
#
# **Time:** about 55 minutes, plus 30 for the parts marked *extra*

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sliders, small_lm, solution
from torch import nn

begin("02_softmax")

# %% tags=["demo"]
# @title The part of attention that this lesson adds
figures.show(figures.overview("softmax"))

# %% [markdown]
# ## Quiz: what came before
#
# **1.** What is the dot product of `[1, 0, 2]` and `[3, 5, -1]`?
#
# **2.** Queries are `(4, 8)`, keys are `(6, 8)`. What is the shape of all their scores?
#
# **3.** A key becomes ten times as long. What becomes ten times as large?

# %%
predict("quiz 1", ...)  # a number
predict("quiz 2", ...)  # a shape
predict("quiz 3", ...)  # "its dot products", "its cosine similarities" or "both"

# %% [markdown]
# ## 1. From scores to shares
#
# What does *bank* mean in *The boat reached the river bank*? The other words tell you, above all *river*. Suppose *bank*
# has these scores with the six words.

# %%
words = ["The", "boat", "reached", "the", "river", "bank"]
scores = torch.tensor([-1.0, 2.0, 0.5, -1.0, 3.0, 1.5])  # one score for each of the 6 words

# %% [markdown]
# To divide one unit of attention among the words, we want weights that are
#
# - **positive**: no word gets a negative share,
# - **normalised**: they sum to 1,
# - **ordered**: a higher score never gets a smaller share,
# - **smooth**: a small change in a score changes them only a little, so that gradients can improve the scores.
#
# ### Predict: divide by the sum
#
# You could simply divide each score by the sum of all scores. Which of the four properties fails here?

# %%
# The property that fails: "positive", "normalised", "ordered" or "smooth"
predict("the property that fails", ..., scores / scores.sum())

# %% [markdown]
# ## 2. Exponentiate, then divide
#
# The exponential function fixes this: $e^x$ is positive, keeps the order, and is smooth. Exponentiate the scores
# $\mathbf{s}$ and divide by the sum, to get the weights $\mathbf{a}$:
#
# $$ a_i = \operatorname{softmax}(\mathbf{s})_i = \frac{e^{s_i}}{\sum_{j} e^{s_j}} . $$
#
# Here $s_i$ is the score of word $i$ and $a_i$ its weight; the sum runs over all $n$ words, here 6. Scores that go into a
# softmax are also called **logits**.
#
# ### Step: exponentiate, then divide
#
# *Step ★☆☆ · about 2 minutes.* Write this formula for one list of scores.
#
# **Worked example.** The exponentials of $\mathbf{s} = (0, \ln 2, \ln 5) \approx (0, 0.69, 1.61)$ are $(1, 2, 5)$,
# with the sum 8. The weights are $(\tfrac18, \tfrac28, \tfrac58) = (0.125, 0.25, 0.625)$.


# %%
def exp_and_divide(x: torch.Tensor) -> torch.Tensor:
    """The exponential of each score, divided by the sum of them all. x: (S,). Returns (S,)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(exp_and_divide)  # NameError? Run the notebook's first cell

# %% tags=["demo"]
# @title The scores, their exponentials, and the weights
figures.show(figures.shares.from_scores(exp_and_divide, scores, words))

# %% [markdown]
# ### Predict: shift all scores
#
# Add 10 to each of the six scores. Which weights grow?

# %%
# The weights that grow: "all", "none" or "the largest"
predict("the weights that grow", ...)

# %%
print("before:", torch.softmax(scores, dim=-1))
print("after: ", torch.softmax(scores + 10, dim=-1))

# %% [markdown]
# In the ratio of two weights, the sum cancels:
#
# $$ \frac{a_i}{a_j} = \frac{e^{s_i}}{e^{s_j}} = e^{s_i - s_j} . $$
#
# **Only differences of scores count.** A score that is higher by $\ln 2 \approx 0.69$ gets twice the share; one that is
# higher by $2.3$ gets ten times the share.
#
# ## 3. Scores of any size
#
# So the scores $(1000, 1001, 1002)$ should get the same weights as $(0, 1, 2)$.
#
# ### Predict: a thousand
#
# What does PyTorch give, if you compute the formula as written? Its usual number format is **float32**, whose largest
# number is about $3.4 \cdot 10^{38}$. Anything larger **overflows**: it becomes `inf`.

# %%
# Each of the three weights is then: "right", "inf" or "nan"
predict("the weights of large scores", ...)

# %%
large = torch.tensor([1000.0, 1001.0, 1002.0])
print(large.exp(), "/", large.exp().sum(), "=", large.exp() / large.exp().sum())

# %% [markdown]
# In float32, the exponential overflows above 88.7; in float16, a shorter format that many models run in, above 11.1.

# %% tags=["demo"]
# @title Where exp overflows in four number formats
figures.show(figures.distributions.exp_range())

# %% [markdown]
# The weights do not change if you subtract the same number from all scores. So subtract the largest, $m = \max_j s_j$:
#
# $$ a_i = \frac{e^{s_i - m}}{\sum_{j} e^{s_j - m}} . $$
#
# Now every exponential is between 0 and 1, so none overflows. The sum is between $e^0 = 1$ and $n$, so you never
# divide by zero. In float32, an exponential is rounded to 0 only if the share is below $10^{-45}$. Then 0 is a good
# answer.
#
# A score of $-\infty$ excludes a word: its weight is $e^{-\infty} = 0$, and the others share everything. Lesson 5 uses
# this to hide the future from a model.
#
# ## 4. Which dimension?
#
# The scores of a sentence form a matrix: one row per query, one column per key. Each query has its own unit of
# attention, so each row gets its own softmax. `dim` is the dimension that softmax runs along. Sums along it are 1; sums
# along the other dimension can be anything.

# %% tags=["demo"]
# @title The same scores, normalised along each of the two dimensions
matrix = torch.tensor([[2.0, 1.0, 0.0, -1.0], [0.0, 0.0, 0.0, 3.0], [1.0, -2.0, 1.0, 1.0]])
figures.show(figures.shares.both_ways(matrix))

# %% [markdown]
# `x.amax(dim)` is the largest score of each list. (`x.max(dim)` returns positions as well.) For the rows of a `(3, 3)`
# matrix, the maxima have the shape `(3,)`, which broadcasts as a *row*. With `keepdim=True` the shape is `(3, 1)`: one
# number per row.

# %% tags=["demo"]
# @title Subtracting the maxima of the rows, without and with keepdim
figures.show(figures.shares.without_maximum(matrix[:, :3], keepdim=False))
figures.show(figures.shares.without_maximum(matrix[:, :3], keepdim=True))

# %% [markdown]
# ### Predict: the shape of the maxima
#
# `x` has the shape `(3, 5, 4)`. What is the shape of `x.amax(dim=1, keepdim=True)`?

# %%
# A list of whole numbers
predict("the shape of the maxima", ..., torch.zeros(3, 5, 4).amax(dim=1, keepdim=True).shape)

# %% [markdown]
# ### Exercise 1: `softmax(x, dim=-1)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Compute the weights of the scores `x` along `dim`.
#
# - `x` has any number of dimensions, and `dim` is any of them; a negative `dim` counts from the back.
# - The result is finite for finite scores of any size. A score of $-\infty$ gets exactly 0. (Every list has a finite
#   score, and none has $+\infty$.)
# - In every exercise, the result has the dtype of `x`, gradients flow back to `x`, and `x` itself is not changed.
# - In this lesson you may not use torch's own softmax, log_softmax, softmin, logsumexp, logcumsumexp, cross_entropy
#   or torch.distributions, in any form.
#
# **Worked example.** `softmax(torch.tensor([1.0, 2.0, 5.0]).log())` is `[0.125, 0.25, 0.625]`.


# %% nbgrader={"grade": false, "grade_id": "softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The weights of the scores `x` along `dim`: positive, with the sum 1.

    x: scores, any shape, floating point; finite, of any size, or -inf.
    Returns a tensor of the same shape and dtype.
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

# %% [markdown]
# Does it survive scores of 1000, and of $-\infty$?

# %%
print(softmax(large, dim=-1))
print(softmax(torch.tensor([0.0, 1.0, -torch.inf]), dim=-1))

# %% [markdown]
# One call computes the weights of a whole sentence. Each word is a query, and all six are keys.

# %% tags=["demo"]
# @title The scores of six words with six words, and their weights
table = figures.shares.scores_of_all(scores)
figures.show(figures.shares.weights_of_all(softmax, table, words))

# %% [markdown]
# ## 5. The gradient of softmax
#
# How fast does weight $i$ change when score $j$ changes? The quotient rule gives the derivative:
#
# $$ \frac{\partial a_i}{\partial s_j} = a_i \, (\delta_{ij} - a_j) . $$
#
# Here $\delta_{ij}$ is 1 if $i = j$ and 0 otherwise. The first term comes from the numerator, the second from the
# denominator. These derivatives form a matrix, the **Jacobian**.


# %% tags=["demo"]
# @title The Jacobian at the six scores
by_autograd = torch.autograd.functional.jacobian(lambda x: softmax(x, dim=-1), scores)  # (6, 6)
now = softmax(scores, dim=-1)
figures.show(figures.shares.jacobian(by_autograd, now, words))

# %% [markdown]
# The diagonal is positive: a word's weight rises with its own score. The other words lose, in proportion to their
# weights. If one weight is near 1, *all* entries are near 0. Such a softmax is **saturated**: hardly any gradient flows
# back. Lesson 4 shows how to avoid this.
#
# ### Predict: the gradient of the sum
#
# Take the gradient of the sum of all weights with respect to the scores. What is its largest entry, in absolute value?

# %%
# A number
predict("the gradient of the sum", ...)

# %%
x = scores.clone().requires_grad_()
softmax(x, dim=-1).sum().backward()
print(f"largest entry of the gradient: {x.grad.abs().max():.6f}")

# %% [markdown]
# So `softmax(x).sum().backward()` tests nothing. In your own tests, multiply by random numbers before you sum.
#
# ### Step: the Jacobian (extra)
#
# *Step ★★☆ · about 5 minutes.* Write the formula of the Jacobian without a loop, with row $i$ and column $j$.
# `torch.eye(n)` has the entries $\delta_{ij}$.
#
# **Worked example.** For $\mathbf{a} = (\tfrac14, \tfrac34)$ both entries on the diagonal are
# $\tfrac14 \cdot \tfrac34 = \tfrac3{16}$; the other two are $-\tfrac3{16}$.


# %%
def softmax_jacobian(weights: torch.Tensor) -> torch.Tensor:
    """The derivative of each weight (row) with respect to each score (column). weights: (S,). Returns (S, S)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(softmax_jacobian)

# %% tags=["demo"]
# @title Your Jacobian and autograd's
print(f"largest difference: {(by_autograd - softmax_jacobian(now)).abs().max():.6f}")

# %% [markdown]
# ## 6. The logarithm of a weight
#
# How much weight did a language model give to the word that actually came next? Minus the logarithm of this weight is
# the model's **loss**: it says how wrong the model was, and training makes it smaller.
#
# ### Predict: a very low score
#
# A word's score is 120 below the highest, so the logarithm of its weight is very nearly −120. What does
# `log(softmax(x))` give in float32?

# %%
# The logarithm: "-120", "-inf" or "nan"
predict("the logarithm of a rounded weight", ...)

# %%
behind = torch.tensor([0.0, -120.0], requires_grad=True)
logarithms = torch.log(torch.softmax(behind, dim=-1))
logarithms[1].backward()
print("log of softmax:", logarithms.tolist(), "  its gradient:", behind.grad.tolist())

# %% [markdown]
# Take the logarithm on paper instead, before anything is rounded:
#
# $$ \ln a_i = \ln \frac{e^{s_i - m}}{\sum_j e^{s_j - m}} = (s_i - m) - \ln \sum_j e^{s_j - m} . $$
#
# The sum is between 1 and $n$, so its logarithm is between 0 and $\ln n$.
#
# ### Exercise 2: `log_softmax(x, dim=-1)`
#
# *Difficulty ★★☆ · about 6 minutes*
#
# Compute the logarithms of the weights along `dim`.
#
# - The result is finite for finite scores, unless a difference of two scores is too large for the dtype.
# - A score of $-\infty$ gives $-\infty$, and nothing becomes `nan`.
# - You may call your own `softmax`. (Would it help?)
#
# **Worked example.** For $\mathbf{s} = (0, \ln 2, \ln 5)$ the weights are $(\tfrac18, \tfrac14, \tfrac58)$ and their
# logarithms $\approx (-2.08, -1.39, -0.47)$, never positive.


# %% nbgrader={"grade": false, "grade_id": "log_softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def log_softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The natural logarithms of the weights of the scores `x` along `dim`.

    x: scores, any shape, floating point; finite or -inf.
    Returns a tensor of the same shape and dtype; -inf where `x` is -inf.
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

# %% [markdown]
# A popular workaround, `log(softmax(x) + 1e-9)`, is never infinite. Here is the loss $-\ln a$ of a word whose score falls
# ever further below the highest:

# %% tags=["demo"]
# @title The loss of a word with a lower and lower score, computed in three ways
figures.show(figures.shares.three_logarithms(log_softmax))

# %% [markdown]
# With the workaround, the loss hardly changes beyond a gap of about 21. Its gradient fades to nothing, so the worst
# mistakes are not corrected.
#
# ### Step: the losses of a text (extra)
#
# *Step ★★☆ · about 3 minutes.* At each of `T` positions, a model scores the `N` words of its vocabulary: these are the
# `logits`. The `targets` are the ids of the words that came next. Return the `T` losses. Use your `log_softmax`;
# `m[torch.arange(T), ids]` takes one entry from each row of `m`.
#
# **Worked example.** The rows are $(0, \ln 3)$ and $(0, 0)$, the targets 1 and 0. The weights of the targets are
# $\tfrac34$ and $\tfrac12$, the losses $-\ln \tfrac34 \approx 0.29$ and $-\ln \tfrac12 \approx 0.69$.


# %%
def next_token_losses(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Minus the logarithm of the weight of each target. logits: (T, N). targets: (T,), whole numbers. Returns (T,)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(next_token_losses)

# %% [markdown]
# ## 7. Temperature
#
# The **temperature** $\tau > 0$ divides all scores before the softmax. (The name is from physics.)
#
# $$ a_i = \frac{e^{s_i / \tau}}{\sum_j e^{s_j / \tau}} . $$
#
# At $\tau = 1$ this is plain softmax. As $\tau \to 0$, differences grow without bound and the highest score takes
# everything (equal highest scores share it). As $\tau \to \infty$, every word gets $1/n$. A language model plays it safe
# at a low $\tau$ and takes risks at a high one.
#
# ### Predict: half the temperature
#
# At $\tau = 1$, the scores $(0, \ln 3)$ have the weights $(0.25, 0.75)$. What is the larger weight at
# $\tau = \tfrac12$?

# %%
# A number between 0 and 1
predict("the larger weight", ..., torch.softmax(torch.tensor([0.0, math.log(3)]) / 0.5, dim=-1)[1])

# %% [markdown]
# ### Exercise 3: `softmax_with_temperature(x, temperature, dim=-1)`
#
# *Difficulty ★☆☆ · about 5 minutes*
#
# Compute the softmax of `x / temperature` along `dim`.
#
# - Raise a `ValueError` that names `temperature` and its value unless `temperature > 0`. This includes `nan`, for which
#   `<= 0` is false as well.
# - Otherwise the rules of exercise 1 apply, as long as `x / temperature` is finite or $-\infty$. You may call your
#   `softmax`; mistakes in it cost no points here.


# %% nbgrader={"grade": false, "grade_id": "softmax_with_temperature", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax_with_temperature(x: torch.Tensor, temperature: float, dim: int = -1) -> torch.Tensor:
    """The softmax of `x / temperature` along `dim`.

    x: scores, any shape, floating point; finite or -inf.
    temperature: a number greater than 0; 1 leaves the weights as they are.
    Returns a tensor of the same shape and dtype. ValueError unless `temperature` is greater than 0.
    """
    ### BEGIN SOLUTION
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return softmax(x / temperature, dim)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_softmax_with_temperature", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(softmax_with_temperature)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(softmax_with_temperature)
### END HIDDEN TESTS

# %% [markdown]
# Move the slider, or compare the three pictures.

# %% tags=["demo"]
# @title A slider: the weights of the six words at each temperature
sliders.slider(figures.distributions.heated, softmax_with_temperature, scores, words)

# %% [markdown]
# ## 8. Entropy: how many words share the attention
#
# At $\tau = 0.3$ *bank* attends almost only to *river*, at $\tau = 5$ to all six words. **Entropy** measures how spread
# out weights are:
#
# $$ \operatorname{entropy}(\mathbf{a}) = -\sum_{i} a_i \ln a_i . $$
#
# $-\ln a_i$ is the *surprise* at a word with the weight $a_i$: 0 if $a_i = 1$, large if $a_i$ is small. Entropy is the
# average surprise, in **nats** (with $\log_2$, in bits). It is 0 when one word has everything, and $\ln n$ when $n$ words
# share equally. So $e^{\text{entropy}}$ is the effective number of words that share the attention.

# %% tags=["demo"]
# @title The weights at three temperatures, and how many words share the attention
figures.show(figures.distributions.three_temperatures(scores, words))

# %% [markdown]
# ### Predict: two words and two zeros
#
# What is the entropy of $(\tfrac12, \tfrac12, 0, 0)$ in nats?

# %%
# A number (ln 2 is 0.69, ln 4 is 1.39)
predict("the entropy of two halves", ...)

# %%
halves = torch.tensor([0.5, 0.5, 0.0, 0.0])
print("the formula as written:", -(halves * halves.log()).sum())

# %% [markdown]
# PyTorch computes $0 \cdot \ln 0 = 0 \cdot (-\infty)$, which is `nan`. A weight of 0 should contribute the *limit* of
# $-a \ln a$, which is 0.

# %% tags=["demo"]
# @title What one weight contributes to the entropy
figures.show(figures.distributions.contribution())

# %% [markdown]
# ### Predict: a repair afterwards
#
# [TRL](https://github.com/huggingface/trl/issues/7221), a library for training language models, computed entropy as minus
# the sum of `exp(logp) * logp`, where `logp` holds the logarithms of the weights. A single weight of 0 made it `nan`. A
# [proposed repair](https://github.com/huggingface/trl/pull/7252) replaced each `nan` among the products by 0. Is it right?

# %%
# The repair: "right", "wrong entropy" or "wrong gradient"
predict("the repair of the entropy", ...)

# %%
logp = torch.tensor([0.5, 0.5, 0.0]).log().requires_grad_()
covered_up = -(logp.exp() * logp).nan_to_num(0.0).sum()
covered_up.backward()
print(f"entropy: {covered_up:.4f}   gradient: {logp.grad}")

# %% [markdown]
# In the backward pass, autograd multiplies zero by infinity again, even with a `torch.where` around the product. The
# repair has to come *before* the logarithm.
#
# ### Exercise 4: `entropy(p, dim=-1)`
#
# *Difficulty ★★☆ · about 9 minutes*
#
# Compute the entropy in nats of the weights `p` along `dim`. The result has one dimension fewer: `dim` is removed.
#
# - `p` holds weights, not scores.
# - A weight of 0 contributes 0, and its gradient is finite. (In float32, a score 200 below the highest has the weight 0.
#   An infinite gradient there would make the gradients of *all* scores `nan`.)
# - Tiny weights keep their value: a constant inside the logarithm spoils their gradient, as in section 6.
#
# **Worked example.** The entropy of $(\tfrac12, \tfrac14, \tfrac14)$ is $\tfrac12 \ln 2 + \tfrac12 \ln 4 =
# \tfrac32 \ln 2 \approx 1.04$. As $e^{1.04} \approx 2.83$, slightly fewer than three words share the attention.


# %% nbgrader={"grade": false, "grade_id": "entropy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def entropy(p: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The entropy, in nats, of the weights `p` along `dim`.

    p: weights, any shape, floating point, at least 0, with the sum 1 along `dim`.
    Returns a tensor of the shape of `p` without `dim`; 0 * log(0) counts as 0. The gradient is finite, for weights
    of 0, too.
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

# %% tags=["demo"]
# @title Weights and entropy against the temperature
drawn = figures.distributions.cooling(softmax_with_temperature, entropy, scores, words)
figures.show(drawn)

# %% [markdown]
# ### All weights of three words (extra)
#
# Three weights that sum to 1 are a point in a triangle: the closer to a corner, the larger the weight of its word. As the
# temperature falls, the point moves from the centre to a corner.

# %% tags=["demo"]
# @title All ways to share one unit among three words, and two lists of scores that cool down
drawn = figures.distributions.two_routes(softmax_with_temperature, entropy)
figures.show(drawn)

# %% [markdown]
# ## 9. A dictionary that always answers
#
# A Python dictionary returns the value of the key that equals the query, or raises a `KeyError`. A *soft* dictionary
# always answers: it averages *all* values, each weighted by how close its key is to the query.
#
# $$ s_i = -(q - k_i)^2, \qquad \mathbf{a} = \operatorname{softmax}(\mathbf{s} / \tau), \qquad
# o = \sum_i a_i v_i . $$
#
# Here $q$ is the query, $k_i$ a key and $v_i$ its value; $o$ is the answer, the **output**. A score is 0 if query and key
# agree, and falls as they move apart. In the picture, the keys are hours, the values are water levels in a harbour in
# metres, and the query is 9 o'clock.

# %% tags=["demo"]
# @title A dictionary, and the same dictionary with soft weights at two temperatures
figures.show(figures.distributions.soft_dictionary(softmax_with_temperature))

# %% [markdown]
# Statisticians call a soft dictionary *kernel regression*. Attention does the same, with dot products as scores. Now take
# 40 readings from a whole day, with some noise from waves.

# %%
random = torch.Generator().manual_seed(2)


def tide_at(hours):
    return 2 + 1.5 * torch.cos(2 * math.pi * (hours - 3) / 12.4)  # high water every 12.4 hours


def levels_at(hours):
    return tide_at(hours) + 0.4 * torch.randn(len(hours), generator=random)  # waves disturb each reading


hours = 24 * torch.rand(40, generator=random)  # (40,), the keys
levels = levels_at(hours)  # (40,), the values

# %% [markdown]
# ### Step: a soft dictionary
#
# *Step ★★☆ · about 3 minutes.* Answer `T` queries at once. The scores are `(T, S)`, one row per query: `queries[:, None]`
# is `(T, 1)` and broadcasts against the keys, `(S,)`. Take the softmax of each row with the `temperature`, then the
# weighted sum of the values.
#
# **Worked example.** The keys are 1 and 3, the values 10 and 20. For the query 1 and $\tau = 4 / \ln 3$ the scores
# $(0, -4)$, divided by $\tau$, are $(0, -\ln 3)$. So the weights are $(\tfrac34, \tfrac14)$, and the answer is $12.5$.


# %%
def soft_dictionary(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, temperature: float
) -> torch.Tensor:
    """For each query, the mean of all values, weighted by the softmax of -(query - key)² / temperature.

    queries: (T,). keys, values: (S,). temperature: greater than 0. Returns (T,).
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(soft_dictionary)

# %% [markdown]
# ### Predict: a very cold dictionary
#
# At $\tau = 0.001$, what does the dictionary answer for an hour between two readings?

# %%
# The answer: "the value of the nearest key", "the mean of the two neighbours" or "the mean of all values"
predict("the answer of a cold dictionary", ...)

# %% tags=["demo"]
# @title The readings, and the answers at three temperatures
drawn = figures.distributions.answers(soft_dictionary, hours, levels, tide_at)
figures.show(drawn)

# %% [markdown]
# A low temperature repeats the waves, and a high one gives the same mean all day. In between, the answers follow the tide.
#
# ## Your experiment (extra)
#
# *Experiment ★★☆ · about 7 minutes.* **Which temperature gives the best answers?** The cell makes 200 new readings. Look
# up their hours at each temperature, and compute the mean squared difference between the answers and `new_levels`. Plot it
# with `figures.curves(temperatures, {"error": errors}, log="x")`. Your finding is the temperature with the smallest error.
# If several are about as good, take any of them.

# %%
new_hours = 24 * torch.rand(200, generator=random)  # (200,), queries that are not among the keys
new_levels = levels_at(new_hours)  # (200,)
temperatures = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]

# Your code: the error at each temperature, and a plot

finding = ...  # the temperature with the smallest error

# %% tags=["demo"]
check("experiment", finding)

# %% [markdown]
# ## 10. The next word of a real model
#
# The course has a small language model, trained on stories of a river town. After a text, it gives a score to each of
# the nearly one thousand words it knows. Softmax turns the scores into probabilities of the next word, and entropy says how
# many words share them.

# %% tags=["demo"]
# @title The likeliest next words of the small model after three texts
lm = small_lm.load()
drawn = figures.distributions.next_words(lm, softmax, entropy)
figures.show(drawn)

# %% [markdown]
# Now put your softmax into every attention layer of the model, and your log_softmax into its loss. On stories that it has
# not seen, the loss should equal that of PyTorch's functions, up to rounding.

# %% tags=["demo"]
with_yours, with_the_builtin = lm.compare(softmax=softmax, log_softmax=log_softmax)

# %% [markdown]
# ### Predict: the surprising word (extra)
#
# The losses of section 6 show where a text surprises the model. `lm(ids)` gives the scores after each word. In "The boat
# reached the river bank", which of the words *boat*, *the* (before *river*) and *bank* has the largest loss?

# %%
# The word: "boat", "the" or "bank"
predict("the most surprising word", ...)

# %% tags=["demo"]
ids = lm.encode("The boat reached the river bank")  # (6,)
losses = next_token_losses(lm(ids)[:-1], ids[1:])  # (5,)
for i, loss in zip(ids[1:].tolist(), losses.tolist()):
    print(f"{lm.words[i]:8} {loss:5.2f}")
print(f"mean: {losses.mean():.4f}   by the model itself: {lm.loss('The boat reached the river bank'):.4f}")

# %% [markdown]
# ## Challenge: `top_p(probs, share)` (extra)
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# A **token** is a word or part of one. The small probabilities of many nonsensical tokens add up. So a language model
# often draws only from the smallest set of likeliest tokens that has at least a `share`, say 0.9: **nucleus sampling**,
# or top-p. Take the probabilities in descending order, and keep a token if those before it add up to less than the
# share. Set all others to 0, and divide by the sum of those kept. Raise a `ValueError` that names `share` unless it is
# above 0 and at most 1.
#
# **Worked example.** $(0.125,\; 0.5,\; 0.375)$ with a share of 0.75: 0.5 is not enough, 0.5 + 0.375 is. The result is
# $(0,\; \tfrac{4}{7},\; \tfrac{3}{7})$.


# %%
def top_p(probs: torch.Tensor, share: float) -> torch.Tensor:
    """The smallest set of likeliest tokens that has the share, renormalised; all others 0.

    probs: (..., N), rows that sum to 1, without ties. Returns the same shape. ValueError unless 0 < share <= 1.
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(top_p)

# %% [markdown]
# ## Summary
#
# 1. Softmax exponentiates and divides: any scores become positive weights that sum to 1. A score that is higher by $d$
#    gets $e^d$ times the share.
# 2. Only differences count, so subtract the maximum of each list: no exponential overflows, and $-\infty$ gets 0.
# 3. Take logarithms on paper, not after rounding: `log_softmax`, never the log of a softmax.
# 4. Temperature divides the scores: a low one favours the winner, a high one evens out the shares.
# 5. Entropy measures how spread out weights are: 0 if one word has everything, $\ln n$ if $n$ share equally.
#
# $$ a_i = \frac{e^{s_i - m}}{\sum_j e^{s_j - m}}, \qquad m = \max_j s_j $$

# %% tags=["demo"]
# @title What you have built so far
figures.show(figures.shares.so_far(softmax, table))

# %% [markdown]
# **To read on:**
# [log_softmax](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html) in PyTorch, and why it
# exists · Blanchard, Higham and Higham on
# [rounding errors in softmax](https://doi.org/10.1093/imanum/draa038) · Milakov and Gimelshein on
# [maximum and sum in one pass](https://arxiv.org/abs/1805.02867), which FlashAttention builds on.
#
# In lesson 3, queries, keys and values are vectors, and a model learns to compute them.

# %% tags=["demo"]
progress()
