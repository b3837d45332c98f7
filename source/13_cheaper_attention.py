# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 13: Cheaper attention
#
# In lesson 9 you kept keys and values, and saw that reading them takes most of the time of a new token. A model that serves
# many people keeps a cache for each of them. **What does a served token cost, and what may be dropped?**
#
# **You will build** attention to compressed keys and values, in a form that never makes the keys. You measure what your small
# model does when the first positions leave its window, keep the caches of several texts in shared pages, and round keys and
# values to eight bits.
#
# **You need** RoPE (lesson 7), the cache (lesson 9) and the habit of counting multiplications (lesson 10).
#
# **Time:**

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, small_lm, solution
from course.models.cost_counter import measure_cost
from course.models.modern_lm import Parts, attend
from torch import nn

begin("13_cheaper_attention")

# %% tags=["picture"]
# @title The parts of attention that this lesson makes cheaper
figures.show(figures.overview("cache"))

# %% [markdown]
# The letters are those of lesson 9: `B` texts, `H` heads, `T` queries, `S` keys, model width `D`, head width `K`, and $G$ heads
# of keys and values. New are `C`, the width of a *latent* vector (section 3), and `R`, the width of a rotated part; `R` is even.
# In formulas, $d_c$ is `C` and $d_r$ is `R`. You may not use `F.scaled_dot_product_attention`, `nn.MultiheadAttention` or
# `F.multi_head_attention_forward`.

# %% [markdown]
# ## Quiz: what came before
#
# **1.** With 32 layers, 8 heads of keys and values of width 128, and two bytes per number, how much does a cache take
# per token?
#
# **2.** With RoPE, a query at position 300 meets a key at position 10. On which number does their score depend, apart
# from their vectors?
#
# **3.** How many multiplications does the product of an $m \times k$ and a $k \times n$ matrix take?

# %%
predict("quiz 1", ...)  # "4 KiB", "64 KiB" or "128 KiB"
predict("quiz 2", ...)  # a number
predict("quiz 3", ...)  # "m · n", "m · k · n" or "m · k + k · n"

# %% [markdown]
# ## 1. What a served token costs
#
# When a model writes one token, it reads its parameters once for all texts that it serves, and the cache of each text (lesson
# 9). So the cost that grows with every user and every token is the cache. There are four ways to make it smaller: keep fewer
# numbers per token, keep fewer tokens, share what several texts have in common, and use fewer bits per number. This lesson takes
# them in this order.
#
# The first way is **multi-head latent attention**: each layer keeps one vector of width $d_c$ per position, and all heads compute
# their keys and values from it. *Latent* means hidden: the vector is neither an input nor an output of the layer. Beside it,
# the layer keeps one key of width $d_r$ that RoPE has rotated. Section 3 builds both.
#
# ### Exercise: the bytes of a latent cache
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.* Return the bytes of the latent vectors and rotated keys of `length`
# positions in all layers. There is no factor of 2: one latent vector serves for keys and values.
#
# **Worked example.** Two layers, $d_c = 6$, $d_r = 4$, ten positions of two bytes per number: $2 \cdot (6 + 4) \cdot 10 \cdot 2 =
# 400$ bytes.


# %%
def latent_cache_bytes(n_layers: int, d_latent: int, d_rope: int, length: int, element_bytes: int = 2) -> int:
    """Bytes of the latent vectors (C,) and the rotated keys (R,) of `length` positions in all layers."""
    raise NotImplementedError  # replace this line


# %%
check(latent_cache_bytes)  # NameError? Run the notebook's first cell

# %% [markdown]
# ### Predict: one vector for 128 heads
#
# DeepSeek-V3 ([report](https://arxiv.org/abs/2412.19437), December 2024) has 61 layers with 128 heads. The keys of a head have
# 192 numbers, its values 128. Instead of these, the model keeps $d_c + d_r = 512 + 64$ numbers per position and layer. How many times
# smaller does this make the cache?

# %%
# The cache is smaller: "about 7 times", "about 70 times" or "about 700 times"
predict("one vector for 128 heads", ...)

# %% tags=["code"]
sizes = {  # bytes per token, in half precision
    "Llama 2 7B, 32 heads": cache_bytes(32, 32, 128, 1),
    "Llama 3 8B, 8 groups": cache_bytes(32, 8, 128, 1),
    "DeepSeek-V3, all heads": 61 * 128 * (192 + 128) * 2,
    "DeepSeek-V3, latent": latent_cache_bytes(61, 512, 64, 1),
}
for name, size in sizes.items():
    read = 1e3 * size * 2**17 / 3.35e12  # an H100 (SXM) reads at most 3.35 TB per second
    print(f"{name:23} {size / 2**10:7.1f} KiB per token; {read:6.1f} ms to read 131,072 tokens once")

# %% tags=["picture"]
# @title KiB per token
figures.show(figures.cheaper.per_token(sizes))

# %% [markdown]
# DeepSeek-V3, with 671 billion parameters, keeps about half as much per token as Llama 3 8B. If it kept the keys and values
# of all heads, one token would take almost 5 MiB.
#
# ## 2. Scores that grow
#
# A short detour before the cache gets smaller: the scores. Nothing limits the length of queries and keys, and in long trainings of
# large models they grow. Large scores make the softmax saturate (lesson 4), gradients vanish, and half precision loses digits.
# Two small changes keep scores in bounds. A vision model of 22 billion parameters used a form of the first, with layer
# normalization, because training diverged at about 8 billion parameters without it ([Dehghani et
# al.](https://arxiv.org/abs/2302.05442), February 2023). Gemma 2 used the second ([report](https://arxiv.org/abs/2408.00118),
# 2024).
#
# **QK-norm** divides each query and each key by its root mean square, and multiplies it by a learned *gain* $\mathbf{g}$ with one
# number per column:
#
# $$ \hat{\mathbf{q}} = \frac{\mathbf{q}}{\sqrt{\operatorname{mean}(\mathbf{q}^2) + 10^{-6}}} \odot \mathbf{g}_q , \qquad
#    s_{ij} = \frac{\hat{\mathbf{q}}_i \cdot \hat{\mathbf{k}}_j}{\sqrt{d_k}} $$
#
# Here $\odot$ multiplies number by number. With gains of 1, no score is above $\sqrt{d_k}$.
#
# ### Exercise: `qk_norm_scores(query, key, gain_q, gain_k)`
#
# *Difficulty ★☆☆, importance ●●○, about 5 minutes.*
#
# Return the scores, `(..., T, S)`, of `query` `(..., T, K)` and `key` `(..., S, K)`. The gains are `(K,)`.
#
# **Worked example.** The query $(3, 4)$ has the root mean square $\sqrt{12.5} \approx 3.54$, and becomes $(0.85, 1.13)$. The key
# $(10, 0)$ becomes $(1.41, 0)$. With gains of 1 the score is $0.85 \cdot 1.41 / \sqrt 2 = 0.85$.


# %% nbgrader={"grade": false, "grade_id": "qk_norm_scores", "locked": false, "schema_version": 3, "solution": true, "task": false}
def qk_norm_scores(query: torch.Tensor, key: torch.Tensor, gain_q: torch.Tensor, gain_k: torch.Tensor) -> torch.Tensor:
    """Scores of normalised queries and keys.

    query: (..., T, K), key: (..., S, K), gain_q, gain_k: (K,). Returns (..., T, S): dot products of the queries and
    keys, each divided by its root mean square and multiplied by its gain, times 1/√K.
    """

    ### BEGIN SOLUTION
    def normalised(x, gain):
        return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-6) * gain

    scores = normalised(query, gain_q) @ normalised(key, gain_k).transpose(-2, -1)
    return scores / query.shape[-1] ** 0.5
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_qk_norm_scores", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(qk_norm_scores)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(qk_norm_scores)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: queries a hundred times as long
#
# Multiply all queries by 100. What happens to the scores of QK-norm?

# %%
# The scores become: "100 times as large", "10 times as large" or "the same"
predict("queries a hundred times as long", ...)

# %% tags=["code"]
some_queries, some_keys = torch.randn(2, 6, 16, generator=torch.Generator().manual_seed(2))
gain = torch.ones(16)
for factor in (1, 10, 100):
    plain = (factor * some_queries @ some_keys.T / 4).abs().max()
    bounded = qk_norm_scores(factor * some_queries, some_keys, gain, gain).abs().max()
    print(f"queries times {factor:3}: largest score {plain:6.1f}, with QK-norm {bounded:.2f}")

# %% [markdown]
# **Soft-capping** leaves queries and keys as they are, and bends each score: $\text{cap} \cdot \tanh(s / \text{cap})$. Small
# scores hardly change. Blocked scores are $-\infty$, and must stay so.
#
# ### Exercise: `soft_cap(scores, cap)`
#
# *Difficulty ★☆☆, importance ●●○, about 4 minutes.*
#
# Return the capped scores, of the same shape. A score of −∞ stays −∞, and its gradient is 0. Unless `cap` is above 0, raise a
# `ValueError` that names `cap` and its value.
#
# **Worked example.** With a cap of 10: the score 1 becomes $10 \cdot \tanh(0.1) = 0.997$, the score 100 becomes 10.0.


# %% nbgrader={"grade": false, "grade_id": "soft_cap", "locked": false, "schema_version": 3, "solution": true, "task": false}
def soft_cap(scores: torch.Tensor, cap: float) -> torch.Tensor:
    """Scores (...) pressed smoothly between -cap and cap: cap * tanh(scores / cap). A score of -inf stays -inf.

    Raises ValueError unless cap > 0; the message names cap and its value.
    """
    ### BEGIN SOLUTION
    if not cap > 0:
        raise ValueError(f"cap is {cap}; it must be greater than 0")
    capped = cap * torch.tanh(scores / cap)
    return capped.masked_fill(scores == float("-inf"), float("-inf"))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_soft_cap", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(soft_cap)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(soft_cap)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: the largest capped score
#
# Gemma 2 uses a cap of 50. Which number does a score of 1,000 become?

# %%
# The number
predict("the largest capped score", ...)

# %% tags=["picture"]
# @title Scores before and after soft-capping
figures.show(figures.cheaper.capped(soft_cap))

# %% [markdown]
# Gemma 3 uses QK-norm in place of soft-capping ([report](https://arxiv.org/abs/2503.19786), March 2025). A practical
# difference: a fused attention kernel computes scores in tiles (lesson 10) and has to apply `tanh` itself, whereas QK-norm is
# finished before the kernel begins.
#
# ## 3. One vector for all heads
#
# In multi-head latent attention, a layer computes from each input $\mathbf{x}$, with `D` numbers, the latent vector
# $\mathbf{c} = \mathbf{W}_c \mathbf{x}$ with `C` numbers. From it come all keys and values: $\mathbf{k} = \mathbf{W}_k
# \mathbf{c}$ and $\mathbf{v} = \mathbf{W}_v \mathbf{c}$, `D` numbers each, `K` for each head. Only $\mathbf{c}$ is kept.
# (DeepSeek-V3 also compresses the queries, and normalises $\mathbf{c}$; this lesson leaves both out.)
#
# RoPE needs a second, small part. Section 4 shows why. The query of each head has a second part $\mathbf{q}^r$ with `R`
# numbers, from $\mathbf{W}_{qr}$. All heads share one further key $\mathbf{k}^r$ with `R` numbers, from $\mathbf{W}_{kr}$. Only
# these parts are rotated, which is called *decoupled* RoPE. The score of a head adds the dot products of both parts:
#
# $$ s_{ij} = \frac{\mathbf{q}_i \cdot \mathbf{k}_j + \operatorname{RoPE}(\mathbf{q}^r_i) \cdot
#    \operatorname{RoPE}(\mathbf{k}^r_j)}{\sqrt{d_k + d_r}} $$

# %% tags=["picture"]
# @title What the layer keeps, and what it computes again
figures.show(figures.cheaper.latent_layer())

# %% [markdown]
# ### Exercise: `MultiHeadLatentAttention(d_model, n_heads, d_latent, d_rope)`
#
# *Difficulty ★★★, importance ●●●, about 15 minutes.*
#
# Write the layer. All layers are `nn.Linear` without bias; `nn.Linear(D, C)` is written D → C here:
#
# | | `W_q` | `W_qr` | `W_c` | `W_k`, `W_v` | `W_kr` | `W_o` |
# |---|---|---|---|---|---|---|
# | size | D → D | D → H · R | D → C | C → D | D → R | D → D |
#
# In the rows of `W_q`, `W_qr`, `W_k` and `W_v`, head 0 comes first, then head 1, and so on. `forward` returns the output and
# the weights. The queries and keys of head $h$ are `[q_h ; RoPE(qr_h)]` and `[k_h ; RoPE(kr)]`, with `K + R` numbers, and
# scores are divided by $\sqrt{d_k + d_r}$. Positions are 0 … T-1; the method `rotate` is given. The weights of a fully blocked
# row are 0. Raise a `ValueError` unless `n_heads` is at least 1 and divides `d_model`, and `d_rope` is even and at least 0.
#
# **Worked example.** `MultiHeadLatentAttention(8, 2, 3, 2)`: heads are 4 wide. The weight of `W_c` is `(3, 8)`, of `W_k` `(8,
# 3)`, of `W_qr` `(4, 8)`, and of `W_kr` `(2, 8)`. For each position the cache holds $3 + 2 = 5$ numbers instead of 16, and
# scores are divided by $\sqrt 6$.


# %% nbgrader={"grade": false, "grade_id": "MultiHeadLatentAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadLatentAttention(nn.Module):
    """Self-attention whose keys and values are computed from one latent vector per position."""

    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_rope: int) -> None:
        """Makes W_q, W_qr, W_c, W_k, W_v, W_kr and W_o.

        Raises ValueError unless n_heads is at least 1 and divides d_model, and d_rope is even and at least 0.
        """
        ### BEGIN SOLUTION
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, which does not divide d_model = {d_model}")
        if d_rope < 0 or d_rope % 2:
            raise ValueError(f"d_rope is {d_rope}; it must be even and at least 0")
        self.n_heads, self.width, self.d_rope = n_heads, d_model // n_heads, d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        ### END SOLUTION

    def rotate(self, x: torch.Tensor) -> torch.Tensor:
        """RoPE as in lesson 7: x (..., T, R), rotated by the positions 0 … T - 1. This method is given."""
        T, R = x.shape[-2:]
        turns = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
        angles = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * turns  # (T, R / 2)
        cos, sin, x0, x1 = angles.cos(), angles.sin(), x[..., 0::2], x[..., 1::2]
        return torch.stack([x0 * cos - x1 * sin, x0 * sin + x1 * cos], dim=-1).flatten(-2)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """x: (B, T, D); mask: bool, broadcasts to (B, H, T, T). Returns (output (B, T, D), weights (B, H, T, T))."""

        ### BEGIN SOLUTION
        def heads(vectors, width):  # (B, T, H * width) -> (B, H, T, width)
            return vectors.unflatten(-1, (self.n_heads, width)).transpose(1, 2)

        latent = self.W_c(x)  # (B, T, C)
        key, value = heads(self.W_k(latent), self.width), heads(self.W_v(latent), self.width)
        query, rotated_query = heads(self.W_q(x), self.width), self.rotate(heads(self.W_qr(x), self.d_rope))
        rotated_key = self.rotate(self.W_kr(x))[:, None]  # (B, 1, T, R), one for all heads
        scores = query @ key.transpose(-2, -1) + rotated_query @ rotated_key.transpose(-2, -1)
        scores = scores / (self.width + self.d_rope) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask, 0.0)
        return self.W_o((weights @ value).transpose(1, 2).flatten(2)), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_MultiHeadLatentAttention", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(MultiHeadLatentAttention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(MultiHeadLatentAttention)
### END HIDDEN TESTS

# %% tags=["code"]
torch.manual_seed(13)
layer = MultiHeadLatentAttention(96, 4, 32, 8)  # the width and the heads of the small language model
x = torch.randn(1, 6, 96)
with torch.no_grad():
    output, weights = layer(x, causal_mask(6))
print(f"output {tuple(output.shape)}, weights {tuple(weights.shape)}; rows sum to {weights.sum(-1).min():.3f}")
print(
    f"a cache of the small model: {3 * 2 * 96 * 2} bytes per token, with this layer {latent_cache_bytes(3, 32, 8, 1)}"
)

# %% [markdown]
# The table compares caches of the small language model (3 layers, 4 heads of width 24) for one token, at two bytes per number.
# The first three rows are caches of lesson 9:
#
# | | numbers per layer | KiB per token |
# |---|--:|--:|
# | 4 heads, as it is | 192 | 1.13 |
# | 2 groups | 96 | 0.56 |
# | 1 group | 48 | 0.28 |
# | latent, $d_c = 32$, $d_r = 8$ | 40 | 0.23 |
#
# With one group, all heads read the *same* key. With the latent vector each head still has keys of its own, computed by its rows of
# $\mathbf{W}_k$, although it needs less memory.
#
# ## 4. Never make the keys
#
# So far the layer keeps less, but computes more: for each new token it would make the keys and values of all earlier positions
# again. This can be avoided, because matrix products can be grouped in another way. For one head, with its `K` rows of
# $\mathbf{W}_k$:
#
# $$ \mathbf{q} \cdot \mathbf{k}_j = \mathbf{q}^\top (\mathbf{W}_k \mathbf{c}_j) = (\mathbf{W}_k^\top \mathbf{q}) \cdot
#    \mathbf{c}_j $$
#
# The query is multiplied by $\mathbf{W}_k^\top$ once, and then meets the latent vectors themselves. On the other side the weighted
# sum comes first: $\sum_j a_{ij} \mathbf{W}_v \mathbf{c}_j = \mathbf{W}_v \sum_j a_{ij} \mathbf{c}_j$. This is the **absorbed form**:
# the matrices of keys and values have moved to the query and to the output.

# %% tags=["picture"]
# @title The absorbed form
figures.show(figures.cheaper.latent_layer(absorbed=True))

# %% [markdown]
# ### Exercise: `absorbed_attention(query, latent, W_k, W_v, mask=None)`
#
# *Difficulty ★★★, importance ●●○, about 15 minutes.*
#
# Each head has `K` rows of `W_k` and of `W_v`, `(H * K, C)`. They define its keys and values: products with `latent`, `(B, S,
# C)`. Return the output, `(B, H, T, K)`, and the weights, `(B, H, T, S)`, of attention to these keys and values, without making
# them. The scale is $1 / \sqrt{d_k}$, and nothing is rotated. `check` counts multiplications (at most
# `2 · B · H · T · C · (K + S)`, and a fifth more is allowed) and looks at the size of the largest tensor.
#
# Note that `@` copies what it broadcasts: `query @ latent[:, None].mT` copies the latent vectors for every head. Instead, treat
# the rows of all heads as rows of one matrix, `(B, H * T, C) @ (B, C, S)`, as in lesson 9's `shared_scores`.
#
# **Worked example.** One head, $d_k = 1$, $d_c = 2$: $\mathbf{W}_k = (1, 2)$, $\mathbf{W}_v = (3, 0)$, the query $(2)$, and latent vectors
# $(1, 0)$ and $(0, 1)$. The absorbed query is $(2, 4)$, so the scores are 2 and 4 and the weights 0.12 and 0.88. The mixed latent
# vector is $(0.12, 0.88)$ and the output $3 \cdot 0.12 = 0.36$.


# %% nbgrader={"grade": false, "grade_id": "absorbed_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def absorbed_attention(
    query: torch.Tensor, latent: torch.Tensor, W_k: torch.Tensor, W_v: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of each head to the keys and values that W_k and W_v make of latent, without making them.

    query: (B, H, T, K), latent: (B, S, C), W_k, W_v: (H * K, C), mask: bool, broadcasts to (B, H, T, S).
    Returns (output (B, H, T, K), weights (B, H, T, S)). Scores are multiplied by 1/√K.
    """
    ### BEGIN SOLUTION
    (B, H, T, K), S = query.shape, latent.shape[1]
    of_keys, of_values = (weight.unflatten(0, (H, K)) for weight in (W_k, W_v))  # (H, K, C)
    absorbed = torch.einsum("bhtk,hkc->bhtc", query, of_keys).reshape(B, H * T, -1)  # the rows of all heads: one head
    scores = (absorbed @ latent.transpose(1, 2)).view(B, H, T, S) / K**0.5
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    mixed = (weights.reshape(B, H * T, S) @ latent).view(B, H, T, -1)  # (B, H, T, C)
    return torch.einsum("bhtc,hkc->bhtk", mixed, of_values), weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_absorbed_attention", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(absorbed_attention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(absorbed_attention)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: one new token
#
# A layer with 8 heads of width 32 and latent vectors of width 64 decodes one token. 1,000 positions are kept. How many times as many
# multiplications does it take to make all keys and values again, compared with the absorbed form?

# %%
# The ratio: "about 1", "about 30" or "about 1,000"
predict("one new token", ...)

# %% [markdown]
# ### Predict: the whole prompt
#
# Now 1,000 queries come at once, as in a prefill. Which form takes fewer multiplications?

# %%
# Fewer: "making the keys", "absorbed" or "both the same"
predict("the whole prompt", ...)


# %% tags=["code"]
def with_keys(query, latent, W_k, W_v, mask=None):
    """The same attention by the plain way: all heads' keys and values are made."""
    key, value = (split_heads(latent @ matrix.T, query.shape[1]) for matrix in (W_k, W_v))
    return masked_attention(query, key, value, mask)


torch.manual_seed(4)
to_keys, to_values, kept = torch.randn(8 * 32, 64) / 8, torch.randn(8 * 32, 64) / 8, torch.randn(1, 1000, 64)
counted = {}
for new in (1, 1000):
    q = torch.randn(1, 8, new, 32)
    results, costs = zip(*(measure_cost(form, q, kept, to_keys, to_values) for form in (with_keys, absorbed_attention)))
    torch.testing.assert_close(results[0][0], results[1][0])
    counted[new] = [cost.products for cost in costs]
    print(
        f"{new:4} new: {costs[0].products:,} multiplications with keys, {costs[1].products:,} absorbed; equal outputs"
    )

# %% [markdown]
# For one token, the absorbed form saves a factor of more than 30. For a whole prompt it takes almost twice as many multiplications, because
# each score is a product of width `C` instead of `K`, while the keys are made once for all queries. So servers such as vLLM
# prefill with keys and decode with the absorbed form. Both give the same outputs, up to rounding.
#
# ### Predict: a rotation in between (extra)
#
# Suppose keys were rotated after $\mathbf{W}_k$, as in lesson 7. A score is then $\mathbf{q}_i^\top \mathbf{R}_{j-i}
# \mathbf{W}_k \mathbf{c}_j$, where $\mathbf{R}_{j-i}$, `(K, K)`, is lesson 7's matrix of the rotation by $j - i$ positions. How
# many absorbed matrices, in place of the one $\mathbf{W}_k^\top$, would a head need for 1,000 positions?

# %%
# The matrices: "one" or "one for each distance"
predict("a rotation in between", ...)

# %% tags=["code"]
pair = torch.eye(2)
turned = [apply_rope(pair, torch.full((2,), distance)) for distance in (1, 2)]
products = [turn @ torch.tensor([[1.0, 2.0], [0.5, -1.0]]) for turn in turned]
print(f"rotation times W_k at distances 1 and 2 differs by {(products[0] - products[1]).abs().max():.2f}")

# %% [markdown]
# The rotation is between the query and $\mathbf{W}_k$, and differs for each distance. That is why the rotated part has keys
# of its own, which do not pass through $\mathbf{W}_k$, and why it is kept small. The scores of both parts are added.
#
# ## 5. Texts longer than the window
#
# The second way is to keep fewer tokens. The small model was trained on texts of 96 tokens. What happens to it in a text of 320?

# %% tags=["code"]
lm = small_lm.load()
ids = lm.encode(small_lm.held_out(4000))[: 12 * 320].view(12, 320)
PARTS_OF_TEXT = {
    "32 to 63": (31, 63),
    "64 to 95": (63, 95),
    "96 to 127": (95, 127),
    "128 to 255": (127, 255),
    "256 to 319": (255, 319),
}


def by_position(losses):
    """Mean losses of the tokens at these positions; losses: (B, T - 1)."""
    return [float(losses[:, first:last].mean()) for first, last in PARTS_OF_TEXT.values()]


whole_text = by_position(lm.losses_with(ids, mask=causal_mask))
for positions, loss in zip(PARTS_OF_TEXT, whole_text):
    print(f"tokens at positions {positions}: loss {loss:.2f}")

# %% [markdown]
# Past the length of training the loss rises, in the end above 5 nats; a uniform guess would cost 6.9. The model has never seen
# such distances. A window of 64 would avoid them: no key is more than 63 positions back. But then the first words leave the
# window.
#
# ### Predict: the first words leave
#
# In published models, many heads give the first positions much of their weight, and a window makes them fail as soon as these leave
# ([Xiao et al.](https://arxiv.org/abs/2309.17453), September 2023). What happens to the loss of the small model at positions 256 to
# 319, with a window of 64, compared with positions 64 to 95?

# %%
# The loss: "stays about the same", "doubles" or "is that of guessing"
predict("the first words leave", ...)

# %% [markdown]
# ### Attention sinks
#
# Softmax gives each query weights that sum to 1, so a head that has nothing to contribute must still put its weight somewhere.
# Many trained heads give it to the first positions, which every later query can see, and whose value vectors are often short.
# Such positions are called **attention sinks**. If they leave the window, their weight goes to other keys, and the head's
# outputs become unlike those of training. So the repair is a window that always keeps the first few positions.
#
# ### Exercise: `sink_window_mask(T, window, sinks, S=None, device=None)`
#
# *Difficulty ★★☆, importance ●●○, about 6 minutes.*
#
# Return the mask, bool `(T, S)`, True = blocked. Query $i$ is at position $S - T + i$. A key is blocked if it is after the query, or
# if it is `window` or more positions before it and is not one of the first `sinks` positions. Raise a `ValueError` if $S < T$, `window`
# is below 1 or `sinks` below 0.
#
# **Worked example.** Two queries, six keys, a window of 2, one sink. Queries 0 and 1 are at positions 4 and 5. Query 0 sees
# keys 0, 3 and 4; query 1 sees keys 0, 4 and 5. With 1 for True:
#
# $$ \mathbf{M} = \begin{pmatrix} 0 & 1 & 1 & 0 & 0 & 1 \\ 0 & 1 & 1 & 1 & 0 & 0 \end{pmatrix} $$


# %% nbgrader={"grade": false, "grade_id": "sink_window_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sink_window_mask(
    T: int, window: int, sinks: int, S: int | None = None, device: torch.device | str | None = None
) -> torch.Tensor:
    """The mask of a sliding window that never blocks the first positions: bool (T, S) on `device`, True = blocked.

    The T queries are the last T of the S positions (S is T by default). Each sees `window` positions, its own the last,
    and of the first `sinks` positions those that are not after it.
    Raises ValueError if S < T, window < 1 or sinks < 0; the message names the argument and its value.
    """
    ### BEGIN SOLUTION
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}: the queries are the last T positions")
    if window < 1:
        raise ValueError(f"window is {window}; it must be at least 1")
    if sinks < 0:
        raise ValueError(f"sinks is {sinks}; it must be at least 0")
    keys = torch.arange(S, device=device)
    back = keys[S - T :, None] - keys  # (T, S): how far each key is before each query
    return (back < 0) | ((back >= window) & (keys >= sinks))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_sink_window_mask", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(sink_window_mask)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(sink_window_mask)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title A window of three, without and with sinks
figures.show(figures.cheaper.sinks(sink_window_mask))

# %% [markdown]
# First, look at a head with a sink, made by hand. Every query has a high score with key 0, whose value is 0, so the head's
# outputs are nearly 0.

# %% tags=["code"]
random = torch.Generator().manual_seed(13)
head_keys, head_queries, head_values = 0.7 * torch.randn(3, 24, 8, generator=random)
head_keys[:, 0], head_queries[:, 0] = -1.0, 3.0
head_keys[0], head_values[0] = torch.tensor([4.0] + 7 * [0.0]), 0.0
outputs, maps = {}, {}
for sinks in (0, 1):
    mask = sink_window_mask(24, 8, sinks)
    result, of_sinks = masked_attention(head_queries, head_keys, head_values, mask)
    outputs[f"{sinks} sinks"], maps[f"window 8, {sinks} sinks"] = result.norm(dim=-1), (of_sinks, mask)
    print(
        f"{sinks} sinks: mean length of outputs 0 to 7 {result[:8].norm(dim=-1).mean():.2f}, 8 to 23 {result[8:].norm(dim=-1).mean():.2f}"
    )

# %% tags=["picture"]
# @title The weights of this head
figures.show(figures.cheaper.head_with_sink(maps))

# %% [markdown]
# When key 0 leaves the window, this head's outputs become many times as long. With one sink they stay short.
#
# And the small model? Measure.
#
# ### Predict: four sinks (extra)
#
# Keep the first four positions of the small model, in a window of 64. Compared with the window alone, the loss at positions 256 to 319
# will be …

# %%
# The loss: "lower", "about the same" or "higher"
predict("four sinks", ...)

# %% tags=["code"]
streams = {"all positions": whole_text}
for sinks in (0, 4):
    streams[f"window 64, {sinks} sinks"] = by_position(
        lm.losses_with(ids, mask=lambda T, s=sinks: sink_window_mask(T, 64, s))
    )
resting = lm.run(ids[:, :96]).weights[..., 32:, 0].mean(dim=(1, 3))  # of the key at position 0: one per layer and head
print(f"weight of position 0 in the twelve heads: at most {resting.max():.3f}; an equal share would be 0.017")
for name, losses in streams.items():
    print(f"{name:20}", "  ".join(f"{loss:.2f}" for loss in losses))

# %% [markdown]
# In this model, position 0 is no sink: no head gives it more than an equal share. A likely reason is that the model was trained
# on pieces that begin anywhere in a text. So the window alone is enough.
#
# The four kept positions even *harm* it. Their distance grows with the text and was never trained. Xiao et al. avoid this: they keep keys
# before the rotation and count positions *in the cache*. The distance between a query and a sink is then less than the window
# plus the number of sinks, however long the text is.
#
# ### Exercise: rows that stay
#
# *Difficulty ★★☆, importance ●○○, about 4 minutes.* `kept` is `(..., S, K)`. Return the rows of the first `sinks`
# positions and of the last `window`, in order and each once.
#
# **Worked example.** Rows 0 to 5, one sink, a window of 2: rows 0, 4 and 5 stay. With three sinks and a window of 4, all six stay.


# %%
def keep_sinks(kept: torch.Tensor, sinks: int, window: int) -> torch.Tensor:
    """The rows of kept (..., S, K) of the first `sinks` positions and of the last `window`, in order, each once."""
    raise NotImplementedError  # replace this line


# %%
check(keep_sinks)

# %% tags=["code"]
window, sinks = 64, 4


def counted_in_the_cache(attention, x):
    """A layer that streams: positions count in the cache, in which sinks come first."""
    query, key, value = attention.heads(x)
    outputs = []
    for t in range(x.shape[1]):
        keys, values = (keep_sinks(rows[..., : t + 1, :], sinks, window) for rows in (key, value))
        q, last = query[..., t : t + 1, :], keys.shape[-2] - 1
        if attention.rotates:
            q, keys = apply_rope(q, torch.tensor([last])), apply_rope(keys, torch.arange(last + 1))
        outputs.append(masked_attention(q, keys, values)[0])
    return attention.W_o(merge_heads(torch.cat(outputs, dim=-2)))


with torch.no_grad():
    streams["4 sinks, counted in the cache"] = by_position(lm.losses(ids[:4], Parts(whole=counted_in_the_cache)))
    alone = by_position(lm.losses_with(ids[:4], mask=lambda T: sink_window_mask(T, 64, 0)))
print("the same four texts, window alone:", "  ".join(f"{loss:.2f}" for loss in alone))
print(
    "4 sinks, counted in the cache:    ", "  ".join(f"{loss:.2f}" for loss in streams["4 sinks, counted in the cache"])
)

# %% tags=["picture"]
# @title The loss in a text that is longer than those of training
drawn = figures.cheaper.streams({name: losses for name, losses in streams.items() if "cache" not in name})
figures.show(drawn)

# %% [markdown]
# Counted in the cache, sinks do no harm. So not every model needs sinks. A window is safe if no head depends on the positions
# that leave it, and you can measure whether one does.
#
# ## 6. Pages
#
# The third way is to share. A server does not know how long a text will be. If it made room for the longest possible text of each user,
# most of the memory would stay empty. And many texts begin alike: the same instructions, the same document, several answers to one
# question.
#
# The remedy is an old one from operating systems ([Kwon et al.](https://arxiv.org/abs/2309.06180), September 2023). The memory
# is cut into **pages**, each with room for a fixed number of positions (the paper calls them blocks). Each text has a **block
# table**, the list of its pages in order. The pages of a text can be anywhere, and two texts can share a page.
#
# ### Exercise: where a position is
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.* Return the page that holds a position, and the row in it.
#
# **Worked example.** With pages of 4 positions and the table `[7, 2]`, position 5 is in page 2, row 1.


# %%
def page_and_row(position: int, table: list[int], page_size: int) -> tuple[int, int]:
    """The page of the pool that holds this position of a text, and the row in it."""
    raise NotImplementedError  # replace this line


# %%
check(page_and_row)

# %% [markdown]
# ### Exercise: `PagedCache(n_pages, page_size, n_kv_heads, d_head)`
#
# *Difficulty ★★★, importance ●●●, about 25 minutes.*
#
# Write the class. `keys` and `values` are the pool, `(n_pages, page_size, G, K)` each, float32, made once. Each text has an id,
# a number that `new` or `fork` returns; no id is used twice.
#
# - `append(text, key, value)` writes `(T, G, K)` after the text's positions, and takes new pages as needed. If the first new
#   position falls on a page that another text has too, copy this page first, and let only this text use the copy (*copy on write*).
# - `read(text)` returns copies of the keys and values, `(S, G, K)` each.
# - `fork(text)` returns a new text with the same pages. It copies nothing.
# - `free(text)` forgets the text. Its pages are free again, except those that another text has.
# - `table(text)` returns a copy of the block table, and `n_free` is the number of free pages.
#
# Raise a `KeyError` for a text that does not exist (Python's dictionaries do it for you), a `MemoryError` if too few pages are free, a
# `ValueError` for keys or values of another shape, and in the constructor unless all four numbers are at least 1. After an error
# everything is as before. Gradients are not kept.
#
# **Worked example.** Pages of 4, a text of 6 positions: 2 pages. Fork it: still 2 pages. Append one position to the fork: the second page,
# with positions 4 and 5, is copied, and position 6 is written into the copy. Now 3 pages are used.


# %% nbgrader={"grade": false, "grade_id": "PagedCache", "locked": false, "schema_version": 3, "solution": true, "task": false}
class PagedCache:
    """Keys and values of several texts in one pool of pages; texts with the same beginning share its pages.

    keys, values  the pool: (n_pages, page_size, G, K) each, float32, made once; gradients are not kept
    n_free        the number of free pages

    After an error everything is as before.
    """

    def __init__(self, n_pages: int, page_size: int, n_kv_heads: int, d_head: int) -> None:
        """Raises ValueError unless all four numbers are at least 1; the message names one that is not."""
        ### BEGIN SOLUTION
        sizes = {"n_pages": n_pages, "page_size": page_size, "n_kv_heads": n_kv_heads, "d_head": d_head}
        for name, size in sizes.items():
            if size < 1:
                raise ValueError(f"{name} is {size}; it must be at least 1")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.tables, self.lengths, self.next_text = {}, {}, 0
        self.users = [0] * n_pages  # how many texts have each page
        self.free_pages = list(range(n_pages))
        ### END SOLUTION

    @property
    def n_free(self) -> int:
        """The number of pages that no text has."""
        ### BEGIN SOLUTION
        return len(self.free_pages)
        ### END SOLUTION

    def new(self) -> int:
        """The id of a new, empty text, never used before. It has no page."""
        ### BEGIN SOLUTION
        text, self.next_text = self.next_text, self.next_text + 1
        self.tables[text], self.lengths[text] = [], 0
        return text
        ### END SOLUTION

    def append(self, text: int, key: torch.Tensor, value: torch.Tensor) -> None:
        """Write key and value, (T, G, K) each, after the text's positions.

        Copies the page of the first new position before it writes to it, if another text has this page too.
        Raises KeyError for an unknown text, ValueError for a wrong shape, MemoryError if too few pages are free.
        """
        ### BEGIN SOLUTION
        table, length = self.tables[text], self.lengths[text]
        for name, rows in (("key", key), ("value", value)):
            if rows.ndim != 3 or rows.shape[1:] != self.keys.shape[2:] or len(rows) < 1 or len(rows) != len(key):
                raise ValueError(f"{name} has the shape {tuple(rows.shape)}; expected (T, G, K), one T for both")
        end, row = length + len(key), length % self.page_size
        copies = row > 0 and self.users[table[-1]] > 1
        missing = math.ceil(end / self.page_size) - len(table)
        if copies + missing > self.n_free:
            raise MemoryError(f"{copies + missing} pages are needed, and {self.n_free} are free")
        taken = [self.free_pages.pop() for _ in range(copies + missing)]
        for page in taken:
            self.users[page] = 1
        if copies:
            shared, table[-1] = table[-1], taken.pop()
            self.keys[table[-1], :row], self.values[table[-1], :row] = (
                self.keys[shared, :row],
                self.values[shared, :row],
            )
            self.users[shared] -= 1
        table += taken
        positions = torch.arange(length, end)
        pages, rows = torch.tensor(table)[positions // self.page_size], positions % self.page_size
        self.keys[pages, rows], self.values[pages, rows] = (rows.detach().float() for rows in (key, value))
        self.lengths[text] = end
        ### END SOLUTION

    def read(self, text: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Copies of the text's keys and values, (S, G, K) each, in the order of its positions."""
        ### BEGIN SOLUTION
        pages = torch.tensor(self.tables[text], dtype=torch.int64)
        return tuple(pool[pages].flatten(0, 1)[: self.lengths[text]].clone() for pool in (self.keys, self.values))
        ### END SOLUTION

    def fork(self, text: int) -> int:
        """The id of a new text with the same positions on the same pages. Nothing is copied."""
        ### BEGIN SOLUTION
        table = self.tables[text]
        twin = self.new()
        self.tables[twin], self.lengths[twin] = list(table), self.lengths[text]
        for page in table:
            self.users[page] += 1
        return twin
        ### END SOLUTION

    def free(self, text: int) -> None:
        """Forget the text. Its pages are free again, except those that another text has."""
        ### BEGIN SOLUTION
        for page in self.tables.pop(text):
            self.users[page] -= 1
            if not self.users[page]:
                self.free_pages.append(page)
        del self.lengths[text]
        ### END SOLUTION

    def table(self, text: int) -> list[int]:
        """A copy of the text's block table: the numbers of its pages, in order."""
        ### BEGIN SOLUTION
        return list(self.tables[text])
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_PagedCache", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(PagedCache)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(PagedCache)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: two continuations
#
# A text has 10 positions, in pages of 4. It is forked, and then both texts get one more position. How many pages are used in total?

# %%
# The number of pages
predict("two continuations", ...)

# %% tags=["code"]
pool = PagedCache(8, 4, 2, 3)
rows = torch.randn(11, 2, 3, generator=torch.Generator().manual_seed(6))
first = pool.new()
pool.append(first, rows[:10], rows[:10])
second = pool.fork(first)
forked = {"A": (pool.table(first), 10), "B": (pool.table(second), 10)}
print(f"after the fork: {8 - pool.n_free} pages; tables {pool.table(first)} and {pool.table(second)}")
for text in (first, second):
    pool.append(text, rows[10:], rows[10:])
continued = {"A": (pool.table(first), 11), "B": (pool.table(second), 11)}
print(f"after one more position each: {8 - pool.n_free} pages; tables {pool.table(first)} and {pool.table(second)}")
assert torch.equal(pool.read(first)[0], rows) and torch.equal(pool.read(second)[1], rows)
pool.free(first)
print(f"text A is gone: {8 - pool.n_free} pages.")

# %% tags=["picture"]
# @title The pool after the fork
figures.show(figures.cheaper.pages(forked, 8, 4), caption="Hatched: pages that both texts have. Nothing was copied.")

# %% tags=["picture"]
# @title The pool after one more position each
drawn = figures.cheaper.pages(continued, 8, 4)
figures.show(drawn, caption="Only the page that was not full exists twice.")

# %% [markdown]
# If the two texts continued a document of 10,000 positions, the copy would still be one page. When a text is freed, the pages
# that another text still has stay. `read` returns the same as a contiguous cache would; the `assert` below the prediction
# compared it with the rows.

# %% [markdown]
# ## 7. Eight bits
#
# The fourth way is fewer bits per number. Half precision uses 16. To **quantize** numbers is to store them as whole numbers,
# here from −127 to 127, in units of a *scale*. Numbers that share a scale share its coarseness: one large number, an
# **outlier**, makes the unit large for all others. So it matters *which* numbers share a scale.
#
# ### Exercise: `quantize(x, dim)`
#
# *Difficulty ★★☆, importance ●●○, about 8 minutes.*
#
# The scale is the largest absolute value over `dim` (an int or a tuple of ints), divided by 127. It has the dtype of `x`, and size 1 in
# `dim`. The codes are `x / scale`, rounded, as int8. Where all numbers over `dim` are 0, scale and codes are 0. Return `(codes, scale)`,
# without gradients.
#
# **Worked example.** $(1, -2, 4)$ over `dim=-1`: the scale is $4 / 127 = 0.0315$, and the codes are 32, −64 and 127 (31.75 and −63.5 are
# rounded; ties go to the even number).


# %% nbgrader={"grade": false, "grade_id": "quantize", "locked": false, "schema_version": 3, "solution": true, "task": false}
def quantize(x: torch.Tensor, dim: int | tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    """Round x to whole numbers from -127 to 127, in units of a scale: the largest absolute value over `dim` / 127.

    Returns (codes, scale): codes is int8, of the shape of x; scale has the dtype of x, and size 1 in `dim`. Where all
    numbers over `dim` are 0, scale and codes are 0. Neither has a gradient.
    """
    ### BEGIN SOLUTION
    x = x.detach()
    scale = x.abs().amax(dim=dim, keepdim=True) / 127
    codes = torch.round(x / scale.masked_fill(scale == 0, 1.0))  # ties to even
    return codes.clamp(-127, 127).to(torch.int8), scale
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_quantize", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(quantize)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(quantize)
### END HIDDEN TESTS

# %% [markdown]
# ### Exercise: back to numbers
#
# *Difficulty ★☆☆, importance ●○○, about 1 minute.* Return `codes * scale` in the dtype of `scale`.
#
# **Worked example.** The code −4 with the scale 0.5 stands for −2.0.


# %%
def dequantize(codes: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """The numbers that codes (int8) stand for, in the dtype of scale."""
    raise NotImplementedError  # replace this line


# %%
check(dequantize)

# %% [markdown]
# ### Predict: which scale for keys
#
# Keys of one head are `(S, K)`: a row per token, a column per *channel*. Either each token has a scale (`dim=-1`), or each channel
# (`dim=-2`). Which has the smaller error for the keys of the small model's layer 1?

# %%
# The smaller error: "a scale per token", "a scale per channel" or "equal"
predict("which scale for keys", ...)

# %% tags=["code"]
texts = lm.encode(small_lm.held_out(4000))[: 16 * 96].view(16, 96)
hidden = lm.run(texts).hidden


def rounding_error(x, dim):
    """The error of int8, as a share of the numbers themselves (root mean squares)."""
    return float((dequantize(*quantize(x, dim)) - x).square().mean().sqrt() / x.square().mean().sqrt())


errors = {}
for number, block in enumerate(lm.blocks):
    _, key, value = block.attention.heads(block.norm_1(hidden[number]))
    for name, x in (("keys", key), ("values", value)):
        errors[number, name] = rounding_error(x, -1), rounding_error(x, -2)
        print(
            f"layer {number}, {name:6}: error {errors[number, name][0]:.2%} per token, {errors[number, name][1]:.2%} per channel"
        )

# %% tags=["picture"]
# @title Where the outliers are
_, key, value = lm.blocks[1].attention.heads(lm.blocks[1].norm_1(hidden[1]))
figures.show(figures.cheaper.outliers(key[0, 0], value[0, 0]))

# %% [markdown]
# In layers 1 and 2 the outliers of keys are in channels: a few are large for every token. There a scale per channel has the
# smaller error; for values, a scale per token has. Liu et al. found the same in large models and use it for two bits
# ([KIVI](https://arxiv.org/abs/2402.02750), February 2024). A scale per channel has a price: a new token may exceed it, so such
# caches wait for a group of tokens before they quantize.
#
# ### Predict: eight bits in the loss
#
# Round all keys and values of the model to int8, per token. By how much does the loss rise?

# %%
# The loss rises by: "less than 0.005", "about 0.05" or "more than 0.5"
predict("eight bits in the loss", ...)


# %% tags=["code"]
def rounded(x, dim, levels=127):
    """x rounded to whole numbers from -levels to levels, with a scale over dim; 127 levels are int8."""
    scale = x.abs().amax(dim, keepdim=True) / levels
    return (x / scale).round() * scale


def loss_with(levels, key_dim=-1, value_dim=-1):
    """The model's loss with rounded keys and values."""
    parts = Parts(attend=lambda p, q, k, v: attend(p, q, rounded(k, key_dim, levels), rounded(v, value_dim, levels)))
    with torch.no_grad():
        return float(lm.losses(texts, parts).mean())


exact = float(lm.losses_with(texts, mask=causal_mask).mean())
for levels, bits in ((127, 8), (7, 4), (1, 2)):
    print(
        f"{bits} bits: loss {loss_with(levels) - exact:+.4f} per token, {loss_with(levels, -2, -1) - exact:+.4f} with keys per channel"
    )

# %% [markdown]
# Eight bits hardly change the loss. Four bits cost about 0.03 nats; two bits make the model useless. At four
# bits a scale per token is slightly better here in the loss, although a scale per channel has the smaller error in the keys of
# two layers. One difference: a channel's scale is shared by 96 tokens, a token's by 24 numbers. An error in the numbers is not
# yet an error in the loss; measure both.

# %% [markdown]
# %%answer what_may_be_dropped

# %% [markdown]
# ## Your experiment (extra)
#
# *Difficulty ★★☆, importance ●○○, about 7 minutes.* **How few levels do keys and values tolerate?** Find the smallest
# whole number of `levels` for which `loss_with(levels)` is less than 0.05 above `exact`. Keys and values both have a
# scale per token.

# %% tags=["experiment"]
# Your code: the loss for different numbers of levels

finding = ...  # a number of levels

# %%
check("experiment", finding)

# %% [markdown]
# ## 8. What to look at next (extra)
#
# This section is about what other models drop. It was written in November 2026; dates are those of the first publication.
#
# **Sparse attention** drops keys: each query attends to some of them only. A window is one pattern. Fixed patterns add every $n$-th position
# ([Child et al.](https://arxiv.org/abs/1904.10509), April 2019). Newer methods choose keys for each query: Native Sparse
# Attention ([Yuan et al.](https://arxiv.org/abs/2502.11089), February 2025) chooses blocks of keys, beside a window and
# compressed keys. The cache stays as large as before; only less of it is read.

# %% tags=["picture"]
# @title Three patterns
figures.show(figures.cheaper.patterns())

# %% [markdown]
# **Linear attention** drops the softmax. Without it,
# $\sum_j (\mathbf{q} \cdot \mathbf{k}_j) \mathbf{v}_j = (\sum_j \mathbf{k}_j \mathbf{v}_j^\top)^\top \mathbf{q}$: the
# sum over the past is a matrix $\mathbf{F}$ of `(K, V)` numbers, called the **state**, and does not grow with the text
# (in a more general form, [Katharopoulos et al.](https://arxiv.org/abs/2006.16236), June 2020). What it holds is
# limited: keys that are not orthogonal disturb each other. The **delta rule** corrects this. Before it writes a value,
# it reads what the state already has under this key, and writes only the difference ([Schlag et
# al.](https://arxiv.org/abs/2102.11174), February 2021; trained in parallel by [Yang et
# al.](https://arxiv.org/abs/2406.06484), June 2024). Some models mix such layers with full attention: Kimi Linear
# ([report](https://arxiv.org/abs/2510.26692), October 2025) has three layers with a gated delta rule for each layer of
# full attention. The exercise below is the delta rule without gates.

# %% tags=["picture"]
# @title What a layer keeps as the text grows
figures.show(figures.cheaper.kept_per_layer())

# %% [markdown]
# **Mixture of experts** drops parameters, for each token. A layer has many feed-forward networks, the *experts*, and a small *router* that
# chooses a few of them for each token ([Shazeer et al.](https://arxiv.org/abs/1701.06538), January 2017). All experts are kept,
# but few are used for a token. It makes the feed-forward part cheaper, but not attention.

# %% tags=["picture"]
# @title Parameters in all, and used for one token
figures.show(figures.cheaper.experts())

# %% [markdown]
# ### The answer
#
# **What does a served token cost?** Its share of reading the parameters, and the reading of its cache. The cache takes 512 KiB per token in
# Llama 2 7B, 128 KiB in Llama 3 8B, and 69 KiB in the much larger DeepSeek-V3.
#
# **What may be dropped?**
#
# - *Keys and values of their own for each head*: in DeepSeek-V3 the cache is 71 times smaller with latent vectors. The absorbed
#   form makes no keys, and needs 31 times fewer multiplications for one token in our example, with equal outputs.
# - *Old tokens*: the small model's loss stays at 0.6 nats in a window of 64, where without a window it rises above 5. Models with sinks need
#   their first positions, too, at distances that they know.
# - *Copies*: two continuations of one text share all its full pages.
# - *Half of the bits*: with int8 the loss changes by less than 0.005 nats, with four bits by about 0.01 to 0.02.
#
# ## 9. A bug that shipped (extra)
#
# The streaming cache of a much-used library kept keys after RoPE, and turned them back by one position for each new token. A
# user reported that the newest key kept its position in the text, while the older keys had their positions in the cache
# ([transformers#35350](https://github.com/huggingface/transformers/issues/35350)). So the gaps between them were wrong as soon
# as the window was full. Keys that are stored before the rotation avoid this.
#
# More bugs that shipped are in the notebook `bug_museum.ipynb`.

# %% [markdown]
# ## Exercise: `delta_rule(query, key, value, beta, state=None)` (extra)
#
# *Difficulty ★★☆, importance ●○○, about 15 minutes.*
#
# The state $\mathbf{F}$, `(..., K, V)`, begins with zeros or with `state`. For each position $t$, in order, with a number $\beta_t$ from 0 to 1:
#
# $$ \mathbf{F} \leftarrow \mathbf{F} + \beta_t \, \mathbf{k}_t \bigl( \mathbf{v}_t - \mathbf{F}^\top \mathbf{k}_t \bigr)^\top ,
#    \qquad \mathbf{o}_t = \mathbf{F}^\top \mathbf{q}_t $$
#
# `query` and `key` are `(..., T, K)`, `value` is `(..., T, V)`, `beta` is `(..., T)`. Keys are used as they are, and outputs are not scaled. Return
# the outputs, `(..., T, V)`, and the last state. You may not use the three functions that are excluded at the beginning of the lesson.
#
# **Worked example.** Two positions with the same key and query $(1, 0)$, values 4 and 10, $\beta = 1$ and $\beta = 0.5$. After the first, the state
# gives 4 for this key. The difference to 10 is 6, and half of it is added: the outputs are 4 and 7.


# %%
def delta_rule(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    beta: torch.Tensor,
    state: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Linear attention with the delta rule, one position after another.

    query, key: (..., T, K), value: (..., T, V), beta: (..., T), state: (..., K, V), zeros if None.
    Returns (output (..., T, V), the state after the last position (..., K, V)).
    """
    raise NotImplementedError  # replace this line


# %%
check(delta_rule)

# %% [markdown]
# ## Summary
#
# 1. The cost of a served token is reading: the parameters once for all, the cache for each text.
# 2. Latent attention keeps one vector for all heads. RoPE gets a small part of its own, so that the matrices can be absorbed.
# 3. A window is safe if no head depends on the positions that leave it. Otherwise keep the first few as sinks, with
#    positions counted in the cache.
# 4. Pages and block tables let texts share what they have in common; a page is copied only when one of them writes to it.
# 5. Int8 hardly changes the loss of the small model. Where the outliers are decides which numbers should share a scale.
#
# $$ \mathbf{q} \cdot (\mathbf{W}_k \mathbf{c}_j) = (\mathbf{W}_k^\top \mathbf{q}) \cdot \mathbf{c}_j $$

# %% tags=["picture"]
# @title What you have built so far
figures.show(figures.overview("tiles", complete=True))

# %% [markdown]
# **To read on:** DeepSeek-AI, [DeepSeek-V2](https://arxiv.org/abs/2405.04434), which introduced latent attention · Kwon et al.,
# [PagedAttention](https://arxiv.org/abs/2309.06180) · Xiao et al., [Attention sinks](https://arxiv.org/abs/2309.17453).
#
# In lesson 14 the question is what a model reads, and who chooses what it says.

# %%
progress()
