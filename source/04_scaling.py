# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 4: Scaling
#
# In lesson 0 you wrote `q @ k.T / math.sqrt(q.shape[-1])`. Without the root, attention starts badly once vectors get wide: with
# 256 entries, a query gives nearly all its weight to one key, picked by chance, and hardly any gradient comes back to correct it.
# **Why is that, and why is a square root the cure?**
#
# **You will build** `scaled_dot_product_attention` and a module that adds dropout, and take the root out of a trained model.
#
# **You need** softmax (lesson 2) and attention (lesson 3).
#
# **Time:**

# %%
import math

import torch
import torch.nn.functional as F
from course import alive, begin, check, figures, hint, predict, progress, sliders, small_lm, solution
from course.notebook import growth
from torch import nn

begin("04_scaling")

# %% [markdown]
# ## Quiz: what came before
#
# **1.** A query's scores differ. If all are multiplied by 10, what happens to its largest weight?

# %%
predict("quiz 1", ...)  # "it grows", "it shrinks" or "it stays as it is"

# %% [markdown]
# ## 1. How far scores spread
#
# A score adds up one product for each entry of query $i$ and key $j$:
#
# $$ s_{ij} = \sum_{r} q_{ir}\, k_{jr} $$
#
# There are $d_k$ of them, the **width** of queries and keys (in shapes `Dk`, and `Dv` for values). If each entry is $+1$ or
# $-1$ by chance, each product is a step up or down, and the score is where the walk ends. The query $(1, -1, 1, 1)$ and the key
# $(1, -1, -1, 1)$ have the products $1, 1, -1, 1$ and the score $2$.
#
# ### Predict: 64 times as wide
#
# The **spread** of scores is their standard deviation: how far a typical score is from their mean. At width 16 it is about 4.
# What is it at width 1024, after 64 times as many steps?

# %%
predict("the spread at width 1024", ...)  # a number

# %% tags=["picture"]
# @title The scores of random queries and keys of four widths
figures.show(figures.scaling.of_widths((16, 64, 256, 1024)))

# %% [markdown]
# Steps cancel, but not completely. If entries are independent, with mean 0 and variance 1, a product has the mean
# $E[q_r k_r] = E[q_r]\,E[k_r] = 0$ and the variance $E[q_r^2]\,E[k_r^2] = 1$, where $E$ is the mean over many draws. Products at
# different $r$ are uncorrelated, so their variances add up:
#
# $$ \operatorname{Var}\Big[\sum_{r} q_r k_r\Big] = \sum_{r} 1 = d_k
#    \qquad\Longrightarrow\qquad \text{spread} = \sqrt{d_k} $$

# %% tags=["picture"]
for Dk in (1, 16, 256, 1024):
    query, key = (torch.randn(10_000, Dk, generator=torch.Generator().manual_seed(seed)) for seed in (0, 1))
    spread = (query * key).sum(-1).std().item()  # of 10,000 scores
    print(f"Dk = {Dk:4}   spread = {spread:5.2f}   spread / √Dk = {spread / Dk**0.5:.2f}")

# %% [markdown]
# ## 2. What softmax makes of it
#
# Large scores sharpen the weights (lesson 2). Make the vectors wider:

# %% tags=["picture"]
# @title Two sliders: the width, and which random query and keys are drawn
sliders.slider(figures.scaling.one_query)

# %% [markdown]
# At $d_k = 256$ the query copies one value, although nothing has been learned. The softmax is **saturated**: one weight is almost
# 1, all others almost 0. Does the gradient lead out of that? A weight $a_i$ changes with its own score $s_i$, and with another
# score $s_j$, at the rates
#
# $$ \frac{\partial a_i}{\partial s_i} = a_i\,(1 - a_i), \qquad \frac{\partial a_i}{\partial s_j} = -\,a_i\, a_j . $$
#
# For two equal weights, the first is $\tfrac14$; for a weight of $0.999$, it is $0.001$. Backpropagation multiplies by these
# rates, so where softmax is saturated the gradient **vanishes**, even if a wrong key has the weight.
#
# ## 3. Root or width?
#
# Dividing the scores by $\sqrt{d_k}$ brings their spread back to 1. Dividing by $d_k$ makes them smaller still. Isn't that safer?
#
# ### Predict: divided by the width
#
# At width 1024, divide the scores of 16 keys by 1024. How does the query share its weight?

# %%
predict("divided by the width", ...)  # "one key has nearly all", "a few keys share" or "all are nearly equal"

# %% tags=["picture"]
# @title Spread, entropy and gradient at three scales
figures.show(figures.scaling.three_scales())

# %% [markdown]
# Follow *× 1* to the right: scores spread, so weights lose their entropy, so the gradient vanishes. With $1/\sqrt{d_k}$ all three
# stay level, and attention starts alike at every width. With $1/d_k$, softmax passes the gradient on, but the tiny scale then
# shrinks it.
#
# ## 4. Scaled dot-product attention
#
# This is the attention of the original transformer, and of most since:
#
# $$ \operatorname{attention}(\mathbf{Q}, \mathbf{K}, \mathbf{V}) = \operatorname{softmax}\!\left( \frac{\mathbf{Q}
#    \mathbf{K}^\top}{\sqrt{d_k}} \right) \mathbf{V} $$
#
# Queries, keys and values are the rows of $\mathbf{Q}$, $\mathbf{K}$ and $\mathbf{V}$, and $d_k$ is the last dimension of the
# queries, not the model's width.

# %% tags=["picture"]
# @title Your `attention` of lesson 3, to copy
growth.show("attention")

# %% [markdown]
# ### Exercise: `scaled_dot_product_attention(query, key, value, scale=None)`
#
# *Difficulty ★★☆, importance ●●●, about 5 minutes.*
#
# Copy your `attention` into the cell, and add what is new: the scores are multiplied by `scale`, by default $1/\sqrt{d_k}$.
#
# **Worked example.** One query, $(2, 0, 0, 0)$, so $\sqrt{d_k} = 2$. With the keys $(\ln 3, 0, 0, 0)$ and $(0, 0, 0, 0)$, its
# scores are $2 \ln 3$ and $0$, scaled $\ln 3$ and $0$. The weights are $\tfrac34$ and $\tfrac14$, so the values 8 and 4 give 7.
# Unscaled they give 7.6; with `scale=0.0`, 6.


# %% nbgrader={"grade": false, "grade_id": "scaled_dot_product_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_dot_product_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention with its scores multiplied by `scale`; you may scale the queries or keys instead.

    query: (..., T, Dk), key: (..., S, Dk), value: (..., S, Dv). Scaled scores are within ±200.
    scale: any number, 0.0 and negative ones included; None stands for 1 / sqrt(Dk).
    Returns (output, weights), of shapes (..., T, Dv) and (..., T, S).
    Not allowed: F.scaled_dot_product_attention, nn.MultiheadAttention, F.multi_head_attention_forward.
    """
    ### BEGIN SOLUTION
    if scale is None:
        scale = query.shape[-1] ** -0.5
    scores = query @ key.transpose(-2, -1) * scale  # (..., T, S)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_scaled_dot_product_attention", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
check(scaled_dot_product_attention)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(scaled_dot_product_attention)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title Your `attention`, and what you added to it
growth.show("attention", "scaled_dot_product_attention")

# %% [markdown]
# PyTorch's own function returns only the output. Does yours agree?

# %% tags=["code"]
generator = torch.Generator().manual_seed(0)
sizes = (5, 64), (7, 64), (7, 10)  # T = 5 queries, S = 7 keys and values; Dk = 64, Dv = 10
query, key, value = (torch.randn(2, 3, *size, generator=generator) for size in sizes)  # a batch of 2, with 3 heads
for scale in (None, 0.0, 0.3):
    output, _ = scaled_dot_product_attention(query, key, value, scale=scale)
    expected = F.scaled_dot_product_attention(query, key, value, scale=scale)
    torch.testing.assert_close(output, expected)  # raises an error unless all are nearly equal
print("Equal to F.scaled_dot_product_attention, up to rounding.")

# %% tags=["picture"]
# @title Scores and weights without the root, and with it
figures.show(figures.scaling.side_by_side(scaled_dot_product_attention, query[0, 0], key[0, 0], value[0, 0]))

# %% [markdown]
# ## 5. Does it matter for learning?
#
# Let attention learn to look things up: asked for one of 16 items, it should return its value. Only $\mathbf{W}_q$ and
# $\mathbf{W}_k$ are trained.
#
# **Adam** changes the matrices. It divides a running mean of each entry's gradient by the root of a running mean of its square,
# so each moves by about the learning rate `lr`, even if its gradient is small: wrong scales learn, too.


# %% tags=["code"]
def learn(scale, steps=300, Dk=256, S=16, D=32):
    """Losses of an attention that learns to look up one of S items, with its scores multiplied by `scale`."""
    generator = torch.Generator().manual_seed(0)
    # Autograd keeps the gradients of both
    W_q, W_k = (torch.randn(D, Dk, generator=generator).div(D**0.5).requires_grad_() for _ in range(2))
    optimizer = torch.optim.Adam([W_q, W_k], lr=1e-3)
    losses = []
    for _ in range(steps):
        items, values = (torch.randn(32, S, width, generator=generator) for width in (D, 8))  # 32 problems
        wanted = torch.arange(32), torch.randint(S, (32,), generator=generator)
        found, _ = scaled_dot_product_attention(items[wanted][:, None] @ W_q, items @ W_k, values, scale)
        loss = F.mse_loss(found[:, 0], values[wanted])
        optimizer.zero_grad()  # forget the gradients of the last step
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses).unfold(0, 10, 1).mean(-1)  # means of ten steps


# %% tags=["model"]
# @title Learning to look up, at three scales
figures.show(figures.scaling.learned(learn))

# %% [markdown]
# Without the root, each query starts with one random key; with $1/d_k$, with all. Both learn, but later: a
# wrong scale raises no error, it costs time.
#
# ## 6. Dropout, in a module
#
# In training, **dropout** sets each weight to 0 with the probability $p_{\text{drop}}$, so that no query relies on a single key,
# and enlarges the others:
#
# $$ \tilde a_{ij} = \begin{cases} 0 & \text{with probability } p_{\text{drop}} \\
#    a_{ij} \,/\, (1 - p_{\text{drop}}) & \text{otherwise} \end{cases} $$
#
# The division keeps the mean. `module.eval()` turns dropout off, and `module.train()` on.

# %% tags=["picture"]
dropping = nn.Dropout(0.5)  # PyTorch's dropout, a module
with torch.random.fork_rng():  # leaves PyTorch's random numbers as they were
    torch.manual_seed(0)
    print("train:", dropping(torch.ones(6)), "\nagain:", dropping(torch.ones(6)))
print("eval: ", dropping.eval()(torch.ones(6)))

# %% [markdown]
# ### Exercise: drop weights (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.* Write the formula above. `kept` is True where a weight survives.
# **Worked example.** From $(\tfrac12, \tfrac14, \tfrac14)$ with $p_{\text{drop}} = \tfrac12$, without the middle one:
# $(1, 0, \tfrac12)$.


# %%
def drop(weights: torch.Tensor, kept: torch.Tensor, p: float) -> torch.Tensor:
    """The weights after dropout with the probability p. weights: (..., S). kept: bool, the same shape."""
    raise NotImplementedError  # replace this line


# %%
check(drop)

# %% [markdown]
# ### Exercise: `ScaledDotProductAttention(dropout=0.0)`
#
# *Difficulty ★★☆, importance ●●○, about 12 minutes.*
#
# Write the module. `forward` may get the weights from your `scaled_dot_product_attention`. Return the output and the weights that
# multiplied the values: in training mode, those after dropout.
#
# **Worked example.** The weights $\tfrac12, \tfrac14, \tfrac14$ meet the values 2, 4, 8. If dropout with
# $p_{\text{drop}} = \tfrac12$ drops the middle one, they become $1, 0, \tfrac12$ and give $2 + 4 = 6$. In eval mode they always
# give $1 + 1 + 2 = 4$.


# %% nbgrader={"grade": false, "grade_id": "ScaledDotProductAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class ScaledDotProductAttention(nn.Module):
    """Scaled dot-product attention with dropout on its weights.

    dropout: the probability, 0 <= dropout < 1, with which each weight is dropped in training mode, independently.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """query: (..., T, Dk), key: (..., S, Dk), value: (..., S, Dv).

        Returns (output, weights), of shapes (..., T, Dv) and (..., T, S); the weights are the ones applied.
        Not allowed: F.scaled_dot_product_attention, nn.MultiheadAttention, F.multi_head_attention_forward.
        """
        ### BEGIN SOLUTION
        _, weights = scaled_dot_product_attention(query, key, value)
        weights = self.dropout(weights)
        return weights @ value, weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_ScaledDotProductAttention", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
check(ScaledDotProductAttention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(ScaledDotProductAttention)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: sums in training mode
#
# In training mode, the weights of a query need not sum to 1. Is that a bug?

# %%
predict("sums in training mode", ...)  # "a bug" or "not a bug"

# %% tags=["picture"]
# @title The weights in eval mode, twice, and in training mode, twice
figures.show(figures.scaling.in_modes(ScaledDotProductAttention(dropout=0.3)))

# %% [markdown]
# Dividing each row by its sum *would* be a bug: a lone survivor would get everything.
#
# ## 7. In a trained model
#
# With your attention in the small language model:

# %% tags=["model"]
lm = small_lm.load()
losses = lm.compare(scale=scaled_dot_product_attention)

# %% [markdown]
# ### Predict: the model without the root
#
# Take the root out. In heads of width 24, scores become $\sqrt{24} \approx 4.9$ times as large. What happens to the loss?

# %%
predict("the loss without the root", ...)  # "it stays", "it rises" or "it rises to that of blind guessing"

# %% tags=["model"]
for name, factor in ("none", 1.0), ("as for keys of 64", 1 / 8), ("model's width", 96**-0.5), ("24, no root", 1 / 24):
    print(name, end=": ")
    lm.compare(scale=factor)
print(f"Blind guessing: {math.log(len(lm.words)):.2f}")

# %% tags=["picture"]
# @title What “bank” attends to in three heads, at three scales
figures.show(figures.scaling.three_heads(lm, scaled_dot_product_attention))

# %% [markdown]
# ## In any sentence (extra)
#
# Type *The boat left the bank*, and compare `scale=1.0` with yours.

# %% tags=["picture"]
alive.show(scale=scaled_dot_product_attention, layer=0, head=3)

# %% [markdown]
# The model that you build now has scaled attention, too.

# %% tags=["picture"]
# @title The model so far, and where its letters look
from course import staged_model

figures.show(figures.staged_model.built_so_far(staged_model.current_model()))

# %% [markdown]
# ## Your experiment (extra)
#
# *Difficulty ★☆☆, importance ●●○, about 4 minutes.* **After 1,500 steps, which of the two wrong scales is worse?** Guess first.
# Then call `learn(scale, steps=1500)` for each scale, and compare the last losses. Your finding is a list of the three names, the
# smallest loss first.

# %% tags=["experiment"]
# Takes about 20 seconds
# Your code: the last of the losses at each scale

finding = ...  # such as ["none", "1 / Dk", "root"]

# %%
check("experiment", finding)

# %% [markdown]
# ## A bug that shipped (extra)
#
# The most common bug of all takes the width of the model for that of a head. With 6 heads, a model of width 384 has $d_k = 64$:
#
# ```diff
# - weights = q @ k.transpose(-2, -1) * n_embd ** -0.5       # 384
# + weights = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5  # 64
# ```
#
# It was in a much-watched lecture ([karpathy/ng-video-lecture#6](https://github.com/karpathy/ng-video-lecture/issues/6)): scores
# $\sqrt 6 \approx 2.4$ times too small, weights that look plausible, and a model that trains. To find it, compare with another
# implementation, as in section 4. More such bugs are in `bug_museum.ipynb`.
#
# ## Exercise: `scale_for_entropy(scores, nats)` (extra)
#
# *Difficulty ★★★, importance ●○○, about 15 minutes.*
#
# Which scale makes attention as sharp as you want? For every entropy between 0 and $\ln S$, one positive scale gives it to
# $S$ scores. A larger one gives a smaller entropy.
#
# For each row of `scores`, return the scale with which `softmax(scale * row)` has the entropy `nats`, to 0.1 %. Scores may be as
# small as 0.00001 or as large as 100,000.
#
# **Worked example.** With the scale 1, the scores $(0, \ln 3)$ give an entropy of 0.562; with 2, of 0.325. You want 0.4. Which
# scale do you try next?


# %%
def scale_for_entropy(scores: torch.Tensor, nats: float) -> torch.Tensor:
    """For each row, the scale with which the softmax of its scores has an entropy of `nats`.

    scores: (..., S), one of each row clearly the largest. nats: between 0 and ln S.
    Returns (...), positive, accurate to 0.1 %.
    """
    raise NotImplementedError  # replace this line


# %%
check(scale_for_entropy)

# %% [markdown]
# %%answer why_the_root

# %% [markdown]
# ## Summary
#
# 1. A score is a sum of $d_k$ products, so random vectors give the spread $\sqrt{d_k}$.
# 2. Widely spread scores saturate softmax, and its gradient vanishes.
# 3. So the scores are divided by $\sqrt{d_k}$:
#    $\operatorname{softmax}\!\left( \mathbf{Q} \mathbf{K}^\top / \sqrt{d_k} \right) \mathbf{V}$.
# 4. Divided by $d_k$ itself, they give nearly equal weights.
# 5. Dropout falls on the weights, only in training, and keeps their mean.

# %% tags=["picture"]
# @title The diagram up to here, with the sentence and matrices of lesson 3
figures.show(figures.qkv.so_far("scaling", scaled_dot_product_attention, *figures.qkv.of_sentence()))

# %% [markdown]
# **Next:** lesson 5 hides the future. **To read on:** [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section
# 3.2.1.

# %%
progress()
