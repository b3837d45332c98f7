# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 2: Softmax
#
# Lesson 1 ended with scores: one number for each pair of words, any sign, any size. Attention does not use them as
# they are. It needs *shares*: how much of its one unit of attention a word gives to each of the others. **How do you
# turn any list of numbers into shares, so that nothing is lost, nothing overflows, and a gradient comes back through
# it?** The answer is one short function, and it sits in every attention layer and in the loss of every classifier.
#
# **You will build** four functions: `softmax`, `log_softmax`, `softmax_with_temperature` and `entropy`.
#
# **You need** lesson 1, tensors and broadcasting, and the functions $e^x$ and $\ln x$ from school.
#
# **Time:** about 55 minutes

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, progress, sliders, use
from torch import nn

begin("02_softmax")

# %% [markdown]
# ## Review: three questions on what came before
#
# *Review* · about 3 minutes. Answer each in your head or on paper before you unfold its answer. Where one will not
# come back, look at the summary of the lesson that it is from.
#
# **1.** A query is `[1, 0, 2]`, a key is `[3, 5, -1]`. What is their dot product, and what does its sign say?
#
# <details><summary>Answer</summary>
#
# $3 + 0 - 2 = 1$: above zero, so on the whole they point the same way, if only just. The 5 does not count, because
# the query has a 0 there.
#
# </details>
#
# **2.** Queries are `(4, 8)`, keys are `(6, 8)`. What is the shape of the scores of every query with every key, and
# how is it written?
#
# <details><summary>Answer</summary>
#
# `(4, 6)`, one row for each query: `queries @ keys.transpose(-2, -1)`. The 8 is summed over and gone.
#
# </details>
#
# **3.** A key is made ten times as long. What happens to its dot product with a query, and what to its cosine
# similarity?
#
# <details><summary>Answer</summary>
#
# The dot product is ten times as large; the cosine similarity stays, since each vector is divided by its length
# first.
#
# </details>

# %% [markdown]
# ## 1. Six scores, one unit of attention
#
# Take the sentence *The boat reached the river bank*. What does *bank* mean here? The other words decide it, and
# *river* most of all. Suppose that the dot products of lesson 1 gave *bank* these scores with the six words:

# %%
words = ["The", "boat", "reached", "the", "river", "bank"]
scores = torch.tensor([-1.0, 2.0, 0.5, -1.0, 3.0, 1.5])  # one score for each of the 6 words

# %% [markdown]
# To share out one unit of attention, we want weights $p_1, \dots, p_n$ that are
#
# - **positive**: nobody gets less than nothing,
# - **one in all**: $p_1 + \dots + p_n = 1$, so that a weighted sum of vectors keeps their size,
# - **in the order of the scores**: a higher score never gets a smaller share,
# - **smooth**: a small change of any score changes the weights a little, so that a gradient can teach the scores.
#
# ### Predict first
#
# The simplest idea is to divide each score by the sum of the scores. Which of the four wishes does it break here?
#
# <details><summary>Answer</summary>
#
# The first: *The* has the score −1, and gets a negative share. And it hangs by a thread: had the scores added up to
# 0, it would divide by zero. Run the next cell.
#
# </details>

# %%
print("shares:", scores / scores.sum())

# %% [markdown]
# ## 2. Exponentiate, then divide
#
# The exponential function repairs this. $e^x$ is positive for every $x$, it keeps the order, it is as smooth as a
# function can be. So: exponentiate each score, then divide by the sum. For scores $\mathbf{s} = (s_1, \dots, s_n)$,
#
# $$ p_i = \operatorname{softmax}(\mathbf{s})_i = \frac{e^{s_i}}{\sum_{j=1}^{n} e^{s_j}} . $$
#
# Here $s_i$ is the score of word $i$, $p_i$ is its weight, and $n$ is the number of words, here 6. (The functions of
# this lesson call their scores `x`, as PyTorch's do.) Scores that are about to go through a softmax are also called
# **logits**. The picture shows the two steps.

# %% tags=["demo"]
# @title The scores, their exponentials, and the weights
powers = torch.exp(scores)
fig, axes = figures.row(3, height=2.9)
figures.bars(scores, words, ax=axes[0], title="scores $s$")
figures.bars(powers, words, ax=axes[1], title="$e^s$", limit=24)
figures.bars(powers / powers.sum(), words, ax=axes[2], title="weights: $e^s$ / sum", limit=1.1)
for ax in axes:
    ax.tick_params(axis="x", rotation=40)
figures.show(
    fig,
    alt="Three bar charts of the six words. The scores run from -1 to 3. Their exponentials are all positive: "
    "20.1 for river, 7.4 for boat, 0.4 for The. The weights have the same shape and add up to 1: 0.58 for river.",
    caption="The second and the third panel differ by one factor only: division sets the scale, not the shape.",
)

# %% [markdown]
# **On paper.** Exponentials are awkward by hand, unless the scores are logarithms. Take
# $\mathbf{s} = (0, \ln 2, \ln 5) \approx (0, 0.69, 1.61)$. The exponentials are $(1, 2, 5)$, their sum is 8, so the
# weights are $(\tfrac18, \tfrac28, \tfrac58) = (0.125, 0.25, 0.625)$.
#
# One consequence is worth a line of its own. Divide two weights by each other: the sum drops out, and
#
# $$ \frac{p_i}{p_j} = \frac{e^{s_i}}{e^{s_j}} = e^{s_i - s_j} . $$
#
# **Only differences of scores count.** Leading by $\ln 2 \approx 0.69$ doubles a share, leading by $2.3$ makes it ten
# times as large, wherever on the number line the two scores lie.
#
# ### Predict first
#
# Add 10 to each of the six scores. Which weights grow?
#
# <details><summary>Answer</summary>
#
# None. All differences stay what they were, so all weights do. In the formula: each $e^{s_i + 10}$ is
# $e^{10} \cdot e^{s_i}$, and the factor $e^{10}$ stands above and below the fraction bar.
#
# </details>

# %%
print("before:", torch.softmax(scores, dim=-1))
print("after: ", torch.softmax(scores + 10, dim=-1))

# %% [markdown]
# ## 3. A thousand is too much
#
# So the scores $(1000, 1001, 1002)$ have the same weights as $(0, 1, 2)$. On paper. Here is the formula, word for
# word, in float32.
#
# ### Predict first
#
# What will the cell print?
#
# <details><summary>Answer</summary>
#
# `nan` three times. $e^{1000}$ is a number with 435 digits; the largest that float32 can hold has 39. So each
# exponential becomes `inf`, their sum is `inf`, and `inf / inf` is not a number.
#
# </details>

# %%
large = torch.tensor([1000.0, 1001.0, 1002.0])
print(large.exp(), "/", large.exp().sum(), "=", large.exp() / large.exp().sum())

# %% [markdown]
# How soon does that happen? Very soon: at 88.7 in float32, and at 11.1 in float16, which much of today's training
# uses.

# %% tags=["demo"]
# @title Four number formats, and what exp makes of scores in them
figures.show(
    figures.distributions.exp_range(),
    alt="For each of four number formats a bar over the scores from -130 to 130. In the middle of it exp(s) is a number; "
    "to the left it is rounded to 0; to the right it is infinity. The middle runs from -104 to 88.7 in float32, "
    "from -92.9 to 88.7 in bfloat16, from -17.3 to 11.1 in float16, and beyond the picture (-745 to 710) in float64.",
    caption="Dotted: exp(s) is rounded to 0. Hatched: exp(s) is infinite. float64 only moves the cliff to 709.8.",
)

# %% [markdown]
# The way out is the fact that you have just met. Weights do not change when the same number is subtracted from every
# score, so *choose* the number. With $m = \max_j s_j$, the largest of the scores,
#
# $$ p_i = \frac{e^{s_i - m}}{\sum_{j} e^{s_j - m}} . $$
#
# Now the largest score is 0 and all others lie below it. Every exponential is between 0 and 1: no overflow. The sum
# contains $e^0 = 1$, so it lies between 1 and $n$: no division by zero. Exponentials may still be rounded to 0, on
# the left of the picture, but only for a word whose share would be less than $10^{-45}$ (in float32), and there 0 is
# a good answer.
#
# That last remark has a use. A score of $-\infty$ says *not this one*: $e^{-\infty} = 0$, so the weight is 0 exactly,
# and the others share the whole. Lesson 5 hides the future from a model in just this way.
#
# ## 4. Which dimension?
#
# In attention the scores of a whole sentence form a matrix, one row for each word that asks, one column for each word
# that is asked. Softmax then works on many lists at once, and `dim` says which way the lists run. Sums taken along
# `dim` are 1; sums across it are anything.

# %% tags=["demo"]
# @title The same scores, shared out along each of the two dimensions
matrix = torch.tensor([[2.0, 1.0, 0.0, -1.0], [0.0, 0.0, 0.0, 3.0], [1.0, -2.0, 1.0, 1.0]])
fig, axes = figures.row(2, width=4.2, height=2.9)
for ax, dim in zip(axes, (-1, 0)):
    figures.distributions.sums(torch.softmax(matrix, dim), ax=ax, title=f"softmax(x, dim={dim})")
figures.show(
    fig,
    alt="Two heat maps of weights of the same 3 by 4 scores, each with the sums of its rows and columns. With dim -1 "
    "each row sums to 1 and the columns to 1.02, 0.30, 0.46 and 1.23; with dim 0 each column sums to 1 and the rows "
    "to 1.60, 1.43 and 0.97.",
    caption="The same scores, shared out along each row (left) and along each column (right). Sums of 1 are bold.",
)

# %% [markdown]
# "Along `dim`" also settles which maximum to subtract: each list has its own. And it explains the argument that you
# will need most in this course: `keepdim=True`. A sum over the last dimension of a `(3, 4)` tensor has the shape
# `(3,)`, which broadcasts as a *row*; with `keepdim=True` it is `(3, 1)`, which lines up with the lists that it came
# from.
#
# ### Exercise 1: `softmax(x, dim=-1)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# Write the weights of the scores `x` along `dim`, as a tensor of the same shape.
#
# - `x` has any number of dimensions, and `dim` may be any of them, counted from the front or (negative) from the back.
# - The result is finite for any finite scores, however large, and a score of $-\infty$ gets the weight 0 exactly. (You
#   may count on at least one finite score in each list, and on no $+\infty$.)
# - The result has the dtype of `x`, gradients flow back through it to `x`, and `x` itself is not changed. (So it is in
#   every exercise.)
# - Not allowed in this lesson are torch's own softmax, log_softmax, softmin, logsumexp, logcumsumexp, cross_entropy
#   and torch.distributions, in any spelling.
#
# The example from above, `softmax(torch.tensor([1.0, 2.0, 5.0]).log())`, is `[0.125, 0.25, 0.625]`; you can use it
# to try your answer.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(softmax)


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
check(softmax)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(softmax)
### END HIDDEN TESTS

# %% [markdown]
# Does it keep its head at a thousand? And a score of $-\infty$ among the others?

# %%
weigh = use(softmax, torch.softmax)
print(weigh(large, dim=-1))
print(weigh(torch.tensor([0.0, 1.0, -torch.inf]), dim=-1), "by", weigh.whose)

# %% [markdown]
# With it, a whole sentence is weighed in one call. Each word asks all six, including itself; the row of *bank* holds
# the scores that you know.

# %% tags=["demo"]
# @title The scores of six words with six words, and their weights
mine = use(softmax, torch.softmax)
table = torch.tensor(
    [
        [1.0, 1.5, 0.0, 0.5, 0.0, 0.0],
        [0.0, 2.0, 1.5, -1.0, 2.0, 1.0],
        [-1.0, 2.5, 1.0, -1.0, 1.5, 2.5],
        [0.5, 0.0, 0.0, 1.0, 1.5, 1.5],
        [-1.0, 1.5, 0.0, 0.5, 2.0, 3.0],
        scores.tolist(),
    ]
)
fig, axes = figures.row(2, width=4.4, height=3.9)
figures.heat_map(table, ax=axes[0], rows=words, columns=words, kind="scores", title="scores")
figures.heat_map(mine(table, dim=-1), ax=axes[1], rows=words, columns=words, title="weights")
figures.show(
    fig,
    alt="Two 6 by 6 heat maps with the words as rows and columns. Left the scores, between -1 and 3. Right the weights: "
    "each row sums to 1, and the row of bank gives 0.58 to river, 0.22 to boat and 0.13 to itself.",
    caption=f"Drawn with {mine.whose}.",
)

# %% [markdown]
# ## 5. What comes back through it
#
# Softmax was to be smooth, so that scores can learn. Let us look at what a gradient sees. The derivative of weight
# $i$ with respect to score $j$, that is how fast the one moves when the other does, is
#
# $$ \frac{\partial p_i}{\partial s_j} = p_i \, (\delta_{ij} - p_j) , $$
#
# where $\delta_{ij}$ is 1 if $i = j$ and 0 otherwise. All $n \times n$ of them make a matrix, the **Jacobian**.
# Autograd (lesson 1) computes it from your code; the picture is what it found.

# %% tags=["demo"]
# @title The Jacobian at the six scores
mine = use(softmax, torch.softmax)
jacobian = torch.autograd.functional.jacobian(lambda x: mine(x, dim=-1), scores)  # (6, 6)
now = mine(scores, dim=-1)
ax = figures.heat_map(
    jacobian,
    rows=[f"{word}  {share:.2f}" for word, share in zip(words, now.tolist())],
    columns=words,
    kind="scores",
    limit=0.25,
    title="change of weight i (row) with score j (column)",
    size=(6.0, 4.2),
)
figures.show(
    ax,
    alt="The 6 by 6 Jacobian, beside each row the weight: positive on the diagonal, greatest for river with 0.24 and boat "
    "with 0.17; negative elsewhere, -0.13 between river and boat; nearly zero for the two articles, whose weights are 0.01.",
    caption=f"Beside each word stands its weight. Differentiated through {mine.whose}.",
)

# %% [markdown]
# Read three things off it. The diagonal is positive: raise a word's score, and its weight grows. Everything else is
# negative: what one word gains, the others lose, each in proportion to what it has. And a weight near 0 (or near 1)
# has almost no derivative at all: a word that is ignored completely hardly learns to be noticed. Lesson 4 is about
# keeping softmax out of that corner.
#
# ### Predict first
#
# What is the gradient of `softmax(x).sum()`?
#
# <details><summary>Answer</summary>
#
# Zero, for every `x`: the sum is always 1, and a constant has no slope. (Each column of the Jacobian adds up to 0.
# What a computer prints may be off by rounding, less than a millionth.) Remember it when you test your own code:
# `softmax(x).sum().backward()` is satisfied by *any* formula whose sum is constant, right or wrong. Multiply by
# random numbers before you sum.
#
# </details>

# %%
x = scores.clone().requires_grad_()
use(softmax, torch.softmax)(x, dim=-1).sum().backward()
print("gradient of the sum:", x.grad)

# %% [markdown]
# ## 6. The logarithm of a weight
#
# A language model is trained by asking how much weight it gave to the word that really came next, and the **loss**, a
# number that says how wrong the model was, is minus the logarithm of that weight. Probabilities of whole sentences are
# products of many such weights, and become sums of their logarithms. So the logarithm of softmax deserves a function of
# its own. Why not simply `log(softmax(x))`?
#
# ### Predict first
#
# A word is 120 behind the best one. What is the logarithm of its weight, and what does float32 make of it?
#
# <details><summary>Answer</summary>
#
# The truth is very nearly −120, an ordinary number. But the weight is $e^{-120} \approx 10^{-52}$, which float32
# rounds to 0, and $\ln 0 = -\infty$. An infinite loss, and in the gradient `nan`.
#
# </details>

# %%
behind = torch.tensor([0.0, -120.0], requires_grad=True)
logarithms = torch.log(torch.softmax(behind, dim=-1))
logarithms[1].backward()
print("log of softmax:", logarithms.tolist(), "  its gradient:", behind.grad.tolist())

# %% [markdown]
# The repair is to take the logarithm on paper, before any rounding. With $m = \max_j s_j$ as before,
#
# $$ \ln p_i = \ln \frac{e^{s_i - m}}{\sum_j e^{s_j - m}} = (s_i - m) - \ln \sum_j e^{s_j - m} . $$
#
# The exponential of $s_i$ itself has gone. What is left of exponentials is the sum, and that is between 1 and $n$, so
# its logarithm is between 0 and $\ln n$: harmless.
#
# **On paper.** For $\mathbf{s} = (0, \ln 2, \ln 5)$ again: the weights are $(\tfrac18, \tfrac14, \tfrac58)$, so the
# result is $(-\ln 8, -\ln 4, \ln \tfrac58) \approx (-2.08, -1.39, -0.47)$. Logarithms of weights are never positive.
#
# ### Exercise 2: `log_softmax(x, dim=-1)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Write the logarithms of the weights along `dim`, as a tensor of the same shape.
#
# - The result is finite for finite scores, as long as the dtype can hold their differences.
# - A score of $-\infty$ gives $-\infty$, and nothing in that list becomes `nan`.
# - You may use your own `softmax`, though whether that helps is another matter.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(log_softmax)


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
check(log_softmax)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(log_softmax)
### END HIDDEN TESTS

# %% [markdown]
# There is a popular patch: add a tiny number, `log(softmax(x) + 1e-9)`, and the infinity is gone. The picture shows
# the loss $-\ln p$ of a word that falls further and further behind the best one, in three ways.

# %% tags=["demo"]
# @title The loss of a word that falls behind, computed in three ways
mine = use(log_softmax, torch.log_softmax)
gap = torch.arange(0.0, 151.0, 2.0)
pairs = torch.stack([torch.zeros_like(gap), -gap], dim=-1)  # (76, 2): the best word, and one that is `gap` behind
loss = -mine(pairs, dim=-1)[:, 1]
small = torch.softmax(pairs, dim=-1)[:, 1]
fig, axes = figures.row(1, width=6.6, height=3.3)
figures.curves(
    gap,
    {"log_softmax": loss, "": -small.log(), "with 1e-9 added": -(small + 1e-9).log()},
    ax=axes[0],
    xlabel="how far the word is behind",
    ylabel="loss, $-\\ln p$",
    title="Three ways to take the logarithm, in float32",
)
axes[0].annotate(
    "log of softmax ends here:\nthen it is infinite",
    (102, 102),
    (14, -48),
    textcoords="offset points",
    arrowprops={"arrowstyle": "->"},
)
figures.show(
    fig,
    alt="The loss against the gap from 0 to 150. log_softmax is a straight line to 150. The log of softmax follows it to "
    "about 103 and then ends, where it becomes infinite. With 1e-9 added the curve bends at 20.7 and stays flat.",
    caption=f"log_softmax is {mine.whose}. Where a curve is flat its gradient is 0: the worst mistakes teach nothing.",
)

# %% [markdown]
# The patch has removed the symptom and kept the disease. From a gap of 21 on, the loss no longer says how wrong the
# model is, and its gradient is zero: exactly the words that are most wrong are not corrected.
#
# One detail more, which even PyTorch once had wrong: it computed $s_i - (m + \ln \sum)$ where the formula above says
# $(s_i - m) - \ln \sum$. On paper the two are the same. In float32, for two equal scores of $10^8$, the sum in the
# parentheses is rounded to $10^8$, the $\ln 2$ is lost, and a user found that the
# [cross-entropy of a coin toss was 0](https://github.com/pytorch/pytorch/issues/11752) instead of 0.69.
#
# ## 7. Temperature
#
# Softmax is a compromise between "the winner takes all" and "equal shares for all". The **temperature** $\tau > 0$
# moves it between the two: divide all scores by $\tau$ first,
#
# $$ p_i = \frac{e^{s_i / \tau}}{\sum_j e^{s_j / \tau}} . $$
#
# The name comes from physics, where the same formula says how often the particles of a gas are found at each energy:
# when it is cold they gather at the lowest, when it is hot they are everywhere. When a language model writes text,
# $\tau$ is the knob between careful and adventurous.
#
# ### Predict first
#
# Dividing by a small $\tau$ makes the differences of scores larger. What becomes of the weights as $\tau$ goes to 0?
# And as $\tau$ grows without bound?
#
# <details><summary>Answer</summary>
#
# $\tau \to 0$: differences grow without bound, and the highest score takes everything (equal highest scores share it).
# $\tau \to \infty$: all differences shrink to 0, and everyone gets $1/n$. At $\tau = 1$ it is plain softmax.
#
# </details>
#
# **On paper.** Take $\mathbf{s} = (0, \ln 3)$, with the weights $(\tfrac14, \tfrac34)$ at $\tau = 1$. At
# $\tau = \tfrac12$ the scores become $(0, 2 \ln 3) = (0, \ln 9)$: weights $(\tfrac1{10}, \tfrac9{10})$. Halving the
# temperature squares the ratios.
#
# ### Exercise 3: `softmax_with_temperature(x, temperature, dim=-1)`
#
# *Difficulty ★☆☆ · about 5 minutes*
#
# Write the softmax of `x / temperature` along `dim`.
#
# - A `temperature` that is not greater than 0 makes no sense. Raise a `ValueError` that names `temperature` and its
#   value. `nan` is not greater than 0 either.
# - All else is as in exercise 1: any dimension, $-\infty$, large scores. You may call your `softmax`. (If it is
#   wrong, that costs nothing here: this exercise is judged with a right one.)

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(softmax_with_temperature)


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
check(softmax_with_temperature)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(softmax_with_temperature)
### END HIDDEN TESTS

# %% [markdown]
# Turn the knob. (Where there is no running kernel, the three pictures above the slider stand for it.)

# %% tags=["demo"]
# @title A slider: the weights of the six words at each temperature
sharpen = use(softmax_with_temperature, lambda x, temperature: torch.softmax(x / temperature, dim=-1))


def draw(temperature):
    return figures.distributions.budget(sharpen(scores, temperature), words, f"temperature {temperature}")


sliders.slider(
    draw,
    start={"temperature": 1.0},
    strip=[0.3, 1.0, 5.0],
    temperature=[0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0],
)
print("Drawn with", sharpen.whose)

# %% [markdown]
# ## 8. Entropy: how many words is it looking at?
#
# At $\tau = 0.3$ *bank* looks at one word, at $\tau = 5$ at six. In between, at how many? **Entropy** puts a number on
# it. For weights $\mathbf{p} = (p_1, \dots, p_n)$,
#
# $$ \operatorname{entropy}(\mathbf{p}) = -\sum_{i=1}^{n} p_i \ln p_i . $$
#
# Read $-\ln p_i$ as the *surprise* at seeing an outcome to which you gave the weight $p_i$: none if $p_i = 1$, large if
# $p_i$ is small. Entropy is the average surprise. With the natural logarithm its unit is the *nat* (with $\log_2$ it
# would be the bit). It is 0 when one word has everything, and greatest, $\ln n$, when all $n$ have the same. So
# $e^{\text{entropy}}$ lies between 1 and $n$, and you can read it as the number of words that share the attention.
#
# **On paper.** For $\mathbf{p} = (\tfrac12, \tfrac14, \tfrac14)$ the entropy is $\tfrac12 \ln 2 + \tfrac14 \ln 4 +
# \tfrac14 \ln 4 = \tfrac32 \ln 2 \approx 1.04$, and $e^{1.04} \approx 2.83$: a little less than three words.
#
# ### Predict first
#
# What is the entropy of $(\tfrac12, \tfrac12, 0, 0)$? And what would a computer say that takes the formula at its word?
#
# <details><summary>Answer</summary>
#
# $\ln 2 \approx 0.69$: two words, equal shares. The two zeros should change nothing. But each contributes
# $0 \cdot \ln 0$, and a computer says that $0 \cdot (-\infty)$ is `nan`. What it should be is the *limit*: $-p \ln p$
# goes to 0 as $p$ does, as the picture shows.
#
# </details>

# %% tags=["demo"]
# @title What one weight contributes to the entropy
p = torch.linspace(0.0, 1.0, 1001)[1:]
fig, axes = figures.row(1, width=5.4, height=2.9)
figures.curves(p, {"$-p$ ln $p$": -p * p.log()}, ax=axes[0], xlabel="weight $p$", ylabel="contribution (nats)")
axes[0].plot(0, 0, "o", markersize=8, markerfacecolor="white", markeredgecolor="black", zorder=5)
axes[0].annotate("the limit for $p$ → 0", (0, 0), (18, 2), textcoords="offset points")
figures.show(
    fig,
    alt="The curve of -p ln p for p from 0 to 1: it starts at 0, rises steeply to 0.37 at p = 0.37, and falls to 0 at 1. "
    "An open circle at the origin marks the limit.",
    caption="Weights near 0 and weights near 1 contribute little: in both cases there is little doubt.",
)

# %% [markdown]
# ### Exercise 4: `entropy(p, dim=-1)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Write the entropy in nats of the weights `p` along `dim`. That dimension is gone from the
# result.
#
# - `p` holds weights, not scores: they are at least 0 and sum to 1 along `dim`.
# - A weight of 0 contributes 0. Nothing becomes `nan`, whatever stands beside it.
# - The gradient is finite, for a weight of 0, too: the softmax of a score of −200 is 0 in float32, and an infinite
#   gradient there would make those of all scores `nan`.
# - A tiny weight is not 0, and counts as what it is. A constant like 1e-8 inside the logarithm would bend the gradient
#   there, just as it bent the loss in section 6.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(entropy)


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
check(entropy)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(entropy)
### END HIDDEN TESTS

# %% [markdown]
# Now temperature and entropy in one picture: the weights of the six words, and beside them their entropy, as the
# temperature goes from 0.1 to 100.

# %% tags=["demo"]
# @title Weights and entropy against the temperature
sharpen = use(softmax_with_temperature, lambda x, temperature: torch.softmax(x / temperature, dim=-1))
spread = use(entropy, lambda p: torch.distributions.Categorical(probs=p).entropy())
temperatures = torch.logspace(-1, 2, 41)
weights = torch.stack([sharpen(scores, tau) for tau in temperatures.tolist()])  # (41, 6)
figures.show(
    figures.distributions.cooling(temperatures, weights, spread(weights), words),
    caption=f"Drawn with {sharpen.whose} and {spread.whose}. (“the” has the same curve as “The”.)",
)

# %% [markdown]
# For three words you can see *all* possible weights at once, because three numbers that add up to 1 are a point in a
# triangle: a corner is "this word takes all", the centre is "equal shares", and the colour is the entropy. A list of
# scores is then not a point but a path: it starts in the centre, very hot, passes through its softmax at $\tau = 1$,
# and ends in a corner, frozen.

# %% tags=["demo"]
# @title All ways to share one unit among three words, and two lists of scores that cool down
sharpen = use(softmax_with_temperature, lambda x, temperature: torch.softmax(x / temperature, dim=-1))
spread = use(entropy, lambda p: torch.distributions.Categorical(probs=p).entropy())
hot_to_cold = torch.logspace(2, -1.3, 80).tolist()
starts = {"river 3, boat 2, bank 1.5": [3.0, 2.0, 1.5], "river 1, boat 2, bank 1.8": [1.0, 2.0, 1.8]}
first, second = map(torch.tensor, starts.values())
routes = [torch.stack([sharpen(three, tau) for tau in hot_to_cold]) for three in (first, second)]
stops = [
    (f"τ = {tau}", sharpen(three, tau))
    for three, tau in ((first, 1.0), (first, 0.5), (second, 1.0), (second, 0.3), (second, 0.1))
]
fig, axes = figures.row(1, width=6.4, height=4.6)
figures.distributions.triangle(spread, routes, ["river", "boat", "bank"], stops=stops, ax=axes[0])
figures.show(
    fig,
    alt="A triangle with the corners river, boat and bank, coloured by entropy: highest in the centre, 0 in the corners. "
    "Two paths leave the centre. One bends into the corner of river. The other heads for the middle of the edge between "
    "boat and bank, whose scores are close, and turns along the edge to boat only at low temperatures.",
    caption=f"Two lists of scores, cooling down: {', and dashed '.join(starts)}. Coloured by {spread.whose}.",
)

# %% [markdown]
# ## 9. Is it a bug?
#
# Two reports from real projects. Decide first, then open, then run the proof.
#
# **"The temperature is applied too late."** A speech model takes `log_softmax` of its scores, divides *that* by the
# temperature, exponentiates, and draws a token with `torch.multinomial`. A
# [pull request](https://github.com/MoonshotAI/Kimi-Audio/pull/161) says: temperature belongs on the raw scores; after
# log_softmax it gives a mathematically different distribution, so all samples were wrong.
#
# <details><summary>Answer</summary>
#
# Not a bug: the samples come from the right distribution. `log_softmax(x)` is the scores minus *one number*,
# $\ln \sum_j e^{s_j}$. Divided by $\tau$ it is $\mathbf{s} / \tau$ minus one number. And softmax does not care about a
# number that is subtracted from every score. The exponentials alone do not add up to 1, that much is true, but
# `torch.multinomial` divides by their sum. (One grain of truth is left: at a very low temperature *all* the
# exponentials can be rounded to 0. Where have you seen the repair?)
#
# </details>

# %%
tau = 0.5
unscaled = torch.exp(use(log_softmax, torch.log_softmax)(scores, dim=-1) / tau)
print("sum before dividing:", unscaled.sum().item())
print("too late: ", unscaled / unscaled.sum())
print("in time:  ", torch.softmax(scores / tau, dim=-1))

# %% [markdown]
# **"The softmax forgets half of the matrix."** Attention scores form a matrix, writes a reader of a well-known
# [vision transformer](https://github.com/lucidrains/vit-pytorch/issues/44). Yet the code takes `softmax(dim=-1)`, of
# each row by itself. Should it not flatten the matrix and take one softmax over all of it?
#
# <details><summary>Answer</summary>
#
# Not a bug. Each row belongs to one word that asks, and each of them has its own unit of attention to spend. With one
# softmax over the whole matrix the words would compete for a single unit: a word whose scores are all low would get
# next to nothing, from anybody, and its output would be next to the zero vector. The sums of the rows show it.
#
# </details>

# %%
two_rows = torch.tensor([[5.0, 4.0, 3.0], [0.0, -1.0, -2.0]])  # the same differences, five lower
print("each row:    ", torch.softmax(two_rows, dim=-1).sum(dim=-1))
print("whole matrix:", torch.softmax(two_rows.flatten(), dim=0).view(2, 3).sum(dim=-1))

# %% [markdown]
# ## 10. Seen in the wild
#
# **The wrong maximum.** A
# [solution to a course on computer vision](https://github.com/linxiaow/EECS498-Deep-Learning-for-Vision/issues/2)
# subtracted one maximum from a whole batch of scores, for "numeric stability":
#
# ```diff
# - shifted = scores - (the largest score of the batch)
# + shifted = scores - (the largest score of each row)
# ```
#
# In a row far below that maximum every exponential is rounded to 0, and 0 / 0 is `nan`, and it stood in the
# published notebook for years. The Julia library NNlib, under Flux, had a
# [cousin of it](https://github.com/FluxML/NNlib.jl/pull/43): it subtracted `max(0, maximum)`. Tests with large
# positive scores passed; the scores (−10000, −10000) gave `nan`. A test of stability needs large scores of *both*
# signs, in rows that differ.
#
# **The wrong dimension.** The attention layer of
# [PyTorch-NLP](https://github.com/PetrochukM/PyTorch-NLP/issues/2) had its scores in rows, one for each query of the
# batch, and normalised them down the columns:
#
# ```diff
# - nn.Softmax(dim=0)
# + nn.Softmax(dim=-1)
# ```
#
# With one query in the batch each column has one entry, so *every weight was 1*, whatever the input. That is how a user
# noticed. Where there are more rows it can go unseen: in an
# [annotated diffusion model](https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146) the
# softmax ran along the queries instead of the keys. A reader corrected it, trained both versions, and found no
# difference in image quality. Networks learn around bugs; a loss that goes down proves little. Row sums do.
#
# **Zero times infinity.** [TRL](https://github.com/huggingface/trl/issues/7221), a library for training language
# models with rewards, measured the entropy of a model's next word as minus the sum of `exp(logp) * logp`. For a word
# that is masked out that is $0 \cdot (-\infty)$, and the entropy of the whole distribution became `nan`. One of the
# [proposed repairs](https://github.com/huggingface/trl/pull/7252) replaced each `nan` by 0 afterwards. A review
# pointed out what is left: the numbers are right, and the *gradient* is still `nan`, because it goes through the
# multiplication that was covered up. Try it:

# %%
logp = torch.tensor([0.5, 0.5, 0.0]).log().requires_grad_()
covered_up = -(logp.exp() * logp).nan_to_num(0.0).sum()
covered_up.backward()
print("entropy:", covered_up.item(), "  gradient:", logp.grad.tolist())

# %% [markdown]
# ## Summary
#
# 1. Softmax exponentiates and divides: any scores become positive weights with the sum 1, and a lead of $d$ makes a
#    share $e^d$ times as large.
# 2. Only differences count, so subtract the maximum of each list: nothing overflows, and $-\infty$ becomes exactly 0.
# 3. Take logarithms on paper, not after rounding: `log_softmax`, never the log of a softmax.
# 4. Temperature divides the scores: towards 0 the winner takes all, towards infinity everyone gets the same.
# 5. Entropy says how spread out weights are: 0 for one word, $\ln n$ for $n$ equal ones; $0 \ln 0$ is 0.
#
# $$ p_i = \frac{e^{s_i - m}}{\sum_j e^{s_j - m}}, \qquad m = \max_j s_j $$
#
# **To read on:**
# [torch.nn.functional.log_softmax](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html),
# and why it exists · Blanchard, Higham and Higham,
# [Accurately computing the log-sum-exp and softmax functions](https://doi.org/10.1093/imanum/draa038), on how much is
# lost to rounding · Milakov and Gimelshein,
# [Online normalizer calculation for softmax](https://arxiv.org/abs/1805.02867), on softmax in one pass, the idea that
# FlashAttention is built on.
#
# In lesson 3 the scores come from queries and keys, and the weights that you can now compute fetch the values.

# %% [markdown]
# ## Challenge: `top_p(probs, share)`
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# A challenge is for those who want more. The same judge checks it, no grade knows of it, and you may leave it as it is.
#
# A language model gives every token some probability, nonsense included, and nonsense in large numbers adds up. So when
# it writes, one often draws only among the likeliest: from the smallest set of tokens that together have at least a
# `share`, say 0.9. It is called **nucleus sampling**, or top-p. Sort the probabilities from the greatest down, and keep
# each one before which the sum is still below the share: so the first is always kept, and the one that reaches the share
# is the last. All others become 0, and what is left is divided by its sum.
#
# `probs` is `(..., N)`, each row sums to 1, and no two probabilities of a row are equal; the result has the same shape.
# Raise a `ValueError` that names `share` unless it is above 0 and at most 1.
#
# **On paper.** $(0.125,\; 0.5,\; 0.375)$ and a share of 0.75: first 0.5, which is not enough; then 0.375, and the sum is
# 0.875. The third is dropped: $(0,\; \tfrac{4}{7},\; \tfrac{3}{7})$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(top_p)


# %%
def top_p(probs: torch.Tensor, share: float) -> torch.Tensor:
    """The smallest set of likeliest tokens that has the share, renormalised; all others 0.

    probs: (..., N), rows that sum to 1, without ties. Returns the same shape. ValueError unless 0 < share <= 1.
    """
    raise NotImplementedError  # take this line out, and write yours


# %% tags=["demo"]
check(top_p)

# %% tags=["demo"]
progress()
