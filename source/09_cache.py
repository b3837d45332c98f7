# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 9: The cache and its price
#
# In lesson 8 your model wrote a text. For each new word it read everything before it again, from the first word on, and used
# only the last row of the result. **What does the next token need from those before it, what does it cost to keep that, and how
# do models afford a million tokens?**
#
# **You will build** a cache of keys and values and let your model write from it. You count what this saves and what it costs,
# and then make the cache smaller in two ways that today's models use: a window that slides, and heads that share keys and
# values.
#
# **You need** masks (lesson 5), heads (lesson 6), rotary positions (lesson 7) and a model that writes (lesson 8; without it,
# this lesson uses the course's model).
#
# **Time:**

# %%
import copy
import math
import time

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sentence, sliders, small_lm, solution
from course.models.cached_lm import CachedLM
from course.models.cost_counter import measure_cost
from torch import nn

begin("09_cache")

# %% tags=["picture"]
# @title The part of attention that this lesson adds
figures.show(figures.overview("cache"))

# %% [markdown]
# In shapes, `B` is the batch, `H` the number of heads, `T` the number of new tokens, `S` the number of keys, `D` the model's
# width and `K` a head's. In formulas, the widths are $d$ and $d_k$, $L$ is the number of layers and $n$ the number of tokens so
# far. $G$ is the number of heads that keys and values have: so far $G = H$, but many models have a smaller $G$ (section 8).

# %% [markdown]
# ## Quiz: what came before
#
# **1.** Two queries, five keys, a causal mask. How many keys may the first query see?
#
# **2.** With RoPE, a query at position 9 meets a key at position 4. Both move on by 100. Which gap counts now?
#
# **3.** The model of lesson 8 writes a token after 30 others. How many rows of logits does it compute, and how many of
# them does `generate` use?

# %%
predict("quiz 1", ...)  # a number
predict("quiz 2", ...)  # a number
predict("quiz 3", ...)  # a list of two numbers

# %% [markdown]
# ## 1. The same work again and again
#
# With a causal mask, a later token changes no earlier row (lesson 5). So when a token is added, the keys and values of the
# earlier tokens stay the same, in every layer. Only one new row has to be computed: one query, one key and one value. The new
# query needs the keys and values of all tokens so far, and nothing else from the earlier tokens.
#
# Count the multiplications of one attention layer that computes $T$ new rows for $S$ keys in total. The matrices
# $\mathbf{W}_q$, $\mathbf{W}_k$, $\mathbf{W}_v$ and $\mathbf{W}_o$ take $4 T d^2$, the scores $T S d$, and the weighted sum of
# values $T S d$ again. For the next token, $T = S = n$ without a cache; with a cache, $T = 1$ and $S = n$.
#
# ### Exercise: multiplications of a layer
#
# *Difficulty ★☆☆, importance ●○○, about 1 minute.* Return the number of multiplications for `T` new rows and `S` keys,
# at width `d`.
#
# **Worked example.** For $d = 10$ and one new token after two others, `layer_products(1, 3, 10)` is $400 + 30 + 30 = 460$.


# %%
def layer_products(T: int, S: int, d: int) -> int:
    """Multiplications of one attention layer of width d, for T new rows and S keys in all, the new ones included."""
    raise NotImplementedError  # replace this line


# %%
check(layer_products)  # NameError? Run the notebook's first cell

# %% [markdown]
# ### Predict: a thousand tokens
#
# A layer of width 512 writes 1,000 tokens, one after the other. How many times as many multiplications does it make without a
# cache as with one?

# %%
# The ratio: "about 10", "about 550" or "about 1,000,000"
predict("a thousand tokens", ...)

# %% tags=["code"]
written = range(1, 1001)
from_scratch = torch.tensor([layer_products(n, n, 512) for n in written])
with_cache = torch.tensor([layer_products(1, n, 512) for n in written])
print(f"at n = 1,000: {from_scratch[-1] / with_cache[-1]:.0f} times as many multiplications without a cache")
print(f"for all 1,000 tokens: {from_scratch.sum() / with_cache.sum():.0f} times")

# %% tags=["picture"]
# @title Multiplications for each new token, with a cache and without
drawn = figures.cache.multiplications(written, from_scratch, with_cache)
figures.show(drawn)

# %% [markdown]
# With $n$ tokens so far, the ratio is exactly $n$: without a cache the layer computes all $n$ rows and uses one. A **KV cache**
# is memory that holds the keys and values of all tokens so far, in every layer. It does not change the result; its price is
# memory.

# %% [markdown]
# ## 2. What a cache costs
#
# For each token, each layer keeps a key and a value for each of $G$ heads, with $d_k$ numbers each. For $B$ texts of $n$ tokens
# and $b$ bytes per number (4 in float32, 2 in half precision, in which most models run), the cache takes
#
# $$ 2 \cdot L \cdot G \cdot d_k \cdot n \cdot B \cdot b \quad \text{bytes.} $$
#
# ### Exercise: `cache_bytes(n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2)`
#
# *Difficulty ★☆☆, importance ●●○, about 3 minutes.*
#
# Return the number of bytes of the cache. If an argument is below 0, raise a `ValueError` that names the argument and its
# value. An empty cache is not an error: it takes 0 bytes.
#
# **Worked example.** One layer, one head of width 4, ten tokens: $2 \cdot 4 \cdot 10 = 80$ numbers of two bytes, so 160 bytes.


# %% nbgrader={"grade": false, "grade_id": "cache_bytes", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cache_bytes(
    n_layers: int, n_kv_heads: int, d_head: int, length: int, batch_size: int = 1, element_bytes: int = 2
) -> int:
    """Bytes of the keys and values that a model keeps for `length` tokens of each of `batch_size` sequences.

    Raises ValueError where a number is below 0; the message names the argument and its value.
    """
    ### BEGIN SOLUTION
    numbers = {"n_layers": n_layers, "n_kv_heads": n_kv_heads, "d_head": d_head, "length": length}
    numbers |= {"batch_size": batch_size, "element_bytes": element_bytes}
    for name, number in numbers.items():
        if number < 0:
            raise ValueError(f"{name} is {number}: there cannot be less than none")
    return 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_cache_bytes", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(cache_bytes)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(cache_bytes)
### END HIDDEN TESTS

# %% [markdown]
# Two published models are nearly the same size. Each has 32 layers with heads 128 wide. A layer of Llama 2 7B has 32 heads of
# keys and values, one of Llama 3 8B has 8 (from their `config.json`, 2023 and 2024). In half precision, the weights of Llama 2
# 7B take 13.5 GB.

# %% tags=["code"]
LLAMAS = {"Llama 2 7B": 32, "Llama 3 8B": 8}  # heads of keys and values
for name, n_kv_heads in LLAMAS.items():
    print(f"{name}: {cache_bytes(32, n_kv_heads, 128, 1) / 2**10:.0f} KiB per token")

# %% [markdown]
# ### Predict: sixteen conversations
#
# Llama 2 7B holds 16 conversations of 4,096 tokens each. How large are their caches, compared with the weights?

# %%
# The caches: "an eighth of the weights", "about as large" or "more than twice as large"
predict("sixteen conversations", ...)

# %% tags=["code"]
for name, n_kv_heads in LLAMAS.items():
    one, sixteen = (cache_bytes(32, n_kv_heads, 128, 4096, batch) / 1e9 for batch in (1, 16))
    print(f"{name}: {one:.1f} GB for one conversation of 4,096 tokens, {sixteen:.1f} GB for 16")

# %% [markdown]
# So the caches can need more memory than the model itself, and limit how many conversations fit on one machine. The later model
# keeps only a quarter as much per token. Move the sliders:


# %% tags=["picture"]
# @title Sliders: the caches of all conversations on a machine
sliders.slider(figures.cache.of_conversations, cache_bytes)

# %% [markdown]
# ## 3. Fill it and read from it
#
# In this section the cache of one layer is a pair, `(keys (B, H, S, K), values (B, H, S, V))`, or None before the first token.
# Here `S` is the number of tokens in the cache, and `V` is the width of a value.
#
# ### Exercise: `append_to_cache(cache, key, value)`
#
# *Difficulty ★☆☆, importance ●●○, about 5 minutes.*
#
# Return the pair with the new keys and values after the old ones. Do not change the arguments, so that two different texts can
# continue from the same cache. If batch, heads or widths differ from the cache's, raise a `ValueError` that names `key` or
# `value` and its shape.
#
# **Worked example.** The cache has one token with the key $(1, 2)$; a new one has the key $(10, 20)$. The keys are then $((1,
# 2), (10, 20))$, of shape `(1, 1, 2, 2)`.


# %% nbgrader={"grade": false, "grade_id": "append_to_cache", "locked": false, "schema_version": 3, "solution": true, "task": false}
def append_to_cache(
    cache: tuple[torch.Tensor, torch.Tensor] | None, key: torch.Tensor, value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values so far, the new ones last.

    cache: None, or (keys (B, H, S, K), values (B, H, S, V)). key: (B, H, T, K), value: (B, H, T, V).
    Returns (keys (B, H, S + T, K), values (B, H, S + T, V)). Raises ValueError where batch, heads or widths differ.
    """
    ### BEGIN SOLUTION
    if cache is None:
        return key, value
    keys, values = cache
    for name, old, new in (("key", keys, key), ("value", values, value)):
        if old.shape[:2] != new.shape[:2] or old.shape[-1] != new.shape[-1]:
            raise ValueError(f"{name} has the shape {tuple(new.shape)}, and {tuple(old.shape)} is kept")
    return torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_append_to_cache", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(append_to_cache)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(append_to_cache)
### END HIDDEN TESTS

# %% [markdown]
# New tokens come one at a time while a model writes, and many at once when it reads the prompt. Reading the prompt is called
# the **prefill**; writing the text after it, token by token, is called **decoding**. One function can do both.
#
# ### Exercise: `attend_with_cache(query, key, value, cache=None)`
#
# *Difficulty ★★☆, importance ●●●, about 10 minutes.*
#
# Compute scaled, causal attention of the new tokens to all tokens in the cache and to themselves. Return the output, the
# weights on *all* keys, and the cache with the new keys and values. The queries are at the *last* `T` of the `S + T` positions.
# You may call your `append_to_cache`, but not `F.scaled_dot_product_attention`, `nn.MultiheadAttention` or
# `F.multi_head_attention_forward`.
#
# **Worked example.** One query $(2, 0, 0, 0)$, so $\sqrt{d_k} = 2$. The cache has the key $(4, 0, 0, 0)$, the new key is $(1,
# 0, 0, 0)$. The scaled scores are $(4, 1)$, and the weights $(0.95, 0.05)$.


# %% nbgrader={"grade": false, "grade_id": "attend_with_cache", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attend_with_cache(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, cache: tuple[torch.Tensor, torch.Tensor] | None = None
) -> tuple[torch.Tensor, torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """Causal attention of T new positions to the S that are kept and to themselves.

    query, key: (B, H, T, K), value: (B, H, T, V), cache: None or (keys (B, H, S, K), values (B, H, S, V)).
    Returns (output (B, H, T, V), weights (B, H, T, S + T), cache with the new keys and values last).
    """
    ### BEGIN SOLUTION
    keys, values = cache = append_to_cache(cache, key, value)
    T, S = query.shape[-2], keys.shape[-2]
    place = torch.arange(S, device=query.device)
    later = place > place[S - T :, None]  # (T, S): the queries are the last T places
    scores = query @ keys.transpose(-2, -1) / keys.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(later, float("-inf")), dim=-1)
    return weights @ values, weights, cache
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_attend_with_cache", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(attend_with_cache)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(attend_with_cache)
### END HIDDEN TESTS

# %% [markdown]
# ### Only rounding differs
#
# The next cell cuts a sequence of 12 tokens into pieces in several ways. It passes the pieces through the cache one after
# another, and compares the outputs with those of all 12 tokens at once.


# %% tags=["code"]
def in_pieces(attend, query, key, value, sizes):
    """The outputs of all positions, if the tokens come in pieces of these sizes."""
    cache, outputs = None, []
    for q, k, v in zip(*(x.split(sizes, dim=-2) for x in (query, key, value))):
        output, _, cache = attend(q, k, v, cache)
        outputs.append(output)
    return torch.cat(outputs, dim=-2)


query, key, value = torch.randn(3, 2, 4, 12, 8, generator=torch.Generator().manual_seed(9))  # each (B, H, T, K)
whole = attend_with_cache(query, key, value)[0]
for sizes in ([12], [1] * 12, [7, 1, 1, 1, 1, 1], [3, 4, 5]):
    output = in_pieces(attend_with_cache, query, key, value, sizes)
    torch.testing.assert_close(output, whole)
    print(f"in pieces of {sizes}: differs by {(output - whole).abs().max():.0e}")

# %% tags=["picture"]
# @title The weights of a prefill of seven tokens, and of the five that follow
figures.show(figures.cache.prefill(attend_with_cache, query, key, value))

# %% [markdown]
# ### Predict: "The mask does nothing" (extra)
#
# A colleague reviews your code: "With a cache there is one query, and it is the last token. It may see everything, so leave out
# the mask." She tests two ways of cutting the sequence. In which of them are the outputs wrong without the mask?

# %%
# Wrong: "one token at a time", "seven at once, then one at a time" or "neither"
predict("the mask does nothing", ...)


# %% tags=["code"]
def without_mask(query, key, value, cache=None):
    """Attention with a cache, but without a mask."""
    key, value = append_to_cache(cache, key, value)
    return *masked_attention(query, key, value), (key, value)


for sizes in ([1] * 12, [7, 1, 1, 1, 1, 1]):
    difference = (in_pieces(without_mask, query, key, value, sizes) - whole).abs().max()
    print(f"without a mask, in pieces of {sizes}: differs by {difference:.2f}")

# %% [markdown]
# In the prefill seven queries come together, and without a mask six of them see later tokens. In a model, more goes wrong than
# these rows: the next layer computes keys and values from them, which stay in its cache. So test with several new tokens at
# once, both with an empty cache and with a filled one.

# %% [markdown]
# ## 4. Append, or make room first?
#
# `torch.cat` cannot extend a tensor. It makes a new one and copies everything into it, for every token and every layer. The
# alternative is to **preallocate** the cache: before the first token, make one tensor with room for all positions, and then
# write each new row at its position.
#
# ### Exercise: write at a position
#
# *Difficulty ★☆☆, importance ●○○, about 3 minutes.* `kept` is `(..., length, K)`, with `start` rows filled. Write
# `new`, `(..., T, K)`, into the next `T` rows *in place*, and return a view of all filled rows, `(..., start + T, K)`.
# A slice on the left of `=` writes in place; a slice on the right is a view, and copies nothing.
#
# **Worked example.** `kept` has the rows $1, 2, 0, 0$ and `start` is 2. After writing the row $3$, it has the rows $1, 2, 3,
# 0$, and the view has $1, 2, 3$.


# %%
def write_to_cache(kept: torch.Tensor, new: torch.Tensor, start: int) -> torch.Tensor:
    """Write new (..., T, K) into kept (..., length, K) from row `start` on; return a view of all rows so far."""
    raise NotImplementedError  # replace this line


# %%
check(write_to_cache)

# %% [markdown]
# How much does copying cost? `measure_cost(function, …)` calls a function and counts the multiplications, the bytes that are
# read and written, and the peak memory: the most bytes that the function's tensors take at once.

# %% tags=["code"]
row = torch.zeros(1, 4, 1, 24)  # one token's keys, (B, H, 1, K): 384 bytes


def by_appending(n):
    """A cache of n tokens, each appended."""
    cache = None
    for _ in range(n):
        cache = append_to_cache(cache, row.clone(), row.clone())
    return cache


def by_writing(n):
    """A cache of n tokens, each written into memory that was made once."""
    cache = torch.empty(2, 1, 4, n, 24)
    for position in range(n):
        write_to_cache(cache[0], row, position), write_to_cache(cache[1], row, position)
    return cache


# %% [markdown]
# ### Predict: what appending writes
#
# Both functions fill a cache of 400 tokens, one by one. How many times as many bytes does appending write as writing in place?

# %%
# The ratio: "about 2", "about 200" or "about 160,000"
predict("what appending writes", ...)

# %% tags=["code"]
for n in (100, 400):
    print(f"{n} tokens; the cache takes {cache_bytes(1, 4, 24, n, element_bytes=4):,} bytes by the formula")
    for fill in (by_appending, by_writing):
        cost = measure_cost(fill, n)[1]
        print(f"  {fill.__name__:12} writes {cost.written:12,} bytes and needs {cost.peak:9,} bytes at once")

# %% [markdown]
# Appending $n$ tokens writes $1 + 2 + \dots + n \approx n^2 / 2$ rows; writing in place writes $n$. And while the copy is made,
# old and new tensors exist together, so appending needs twice the memory. `torch.cat` is a good choice only while the cache is
# small.

# %% tags=["picture"]
# @title Appending and writing, token by token
figures.show(figures.cache.append_or_write(5))

# %% [markdown]
# ## 5. Your model writes from its cache
#
# Now use a cache in the whole model. `CachedLM` runs a small language model with a cache of all layers in one tensor:
#
# - `model.new_cache(batch_size, length)` returns zeros `(L, 2, B, G, length, K)`: room for the keys and values of `length`
#   positions.
# - `model(ids, cache, start)` takes new ids, int64 `(B, T)`, at the positions `start … start + T - 1`. It rotates their queries
#   and keys by these positions (except in layer 0), writes keys and values into `cache` in place, applies causal attention to
#   all positions so far, and returns logits `(B, T, N)`; `N` is the size of the vocabulary.
#
# ### Exercise: `generate_with_cache(model, prompt, n_tokens)`
#
# *Difficulty ★★☆, importance ●●●, about 12 minutes.*
#
# Continue `prompt`, int64 `(B, T)`, by `n_tokens` tokens, each the one with the highest logit, and return the prompt with its
# continuation, `(B, T + n_tokens)`. Compute no gradients.
#
# `check` counts calls and memory. Make *one* cache, with room for `T + n_tokens` positions, or for one less, because the model
# never reads the last token. Call the model `n_tokens` times, first with the whole prompt, then with one token each time.
#
# **Worked example.** A prompt of 3 tokens and `n_tokens = 4`: the calls have 3, 1, 1 and 1 tokens and start at 0, 3, 4 and 5.
# The model reads 6 tokens in all; without a cache it would be $3 + 4 + 5 + 6 = 18$.


# %% nbgrader={"grade": false, "grade_id": "generate_with_cache", "locked": false, "schema_version": 3, "solution": true, "task": false}
def generate_with_cache(model: nn.Module, prompt: torch.Tensor, n_tokens: int) -> torch.Tensor:
    """Prompt (B, T), int64, and the likeliest next token, n_tokens times: (B, T + n_tokens).

    Calls model(ids, cache, start) n_tokens times, first with the whole prompt, then with one token each time. All calls
    share one cache of model.new_cache(batch_size, length).
    """
    ### BEGIN SOLUTION
    B, T = prompt.shape
    cache = model.new_cache(B, T + n_tokens)
    tokens, new = prompt, prompt
    with torch.no_grad():
        for _ in range(n_tokens):
            logits = model(new, cache, tokens.shape[1] - new.shape[1])
            new = logits[:, -1].argmax(dim=-1, keepdim=True)  # (B, 1)
            tokens = torch.cat([tokens, new], dim=1)
    return tokens
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_generate_with_cache", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(generate_with_cache)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(generate_with_cache)
### END HIDDEN TESTS

# %% [markdown]
# Let your model from lesson 8 write, with a cache and without. If you have not trained one, the course's model writes.


# %% tags=["code"]
def without_cache(model, prompt, n_tokens):
    """The same text, with everything read again for each token."""
    tokens = prompt
    with torch.no_grad():
        for _ in range(n_tokens):
            tokens = torch.cat([tokens, model(tokens)[:, -1:].argmax(dim=-1)], dim=1)
    return tokens


lm = small_lm.load(yours=True)
model = CachedLM(lm, write=write_to_cache)
prompt = lm.encode("The boat reached the river bank.")[None]  # (1, T)
text, same_text = generate_with_cache(model, prompt, 60), without_cache(lm, prompt, 60)
print(lm.decode(text[0]))
print(f"\nwith and without a cache: {(text == same_text).sum()} of {text.numel()} tokens agree")

# %% [markdown]
# ### Counted
#
# Compare each count with its formula. Each of the $L$ layers has four matrices of attention, $4 d^2$ numbers in total, and an
# MLP of three matrices, $3 d f$ numbers, with the hidden width $f = 256$. The embedding table, $N d$ numbers, also gives the
# logits. So one new token, with $n$ keys in total, takes
#
# $$ L \, (4 d^2 + 3 d f + 2 n d) + N d \quad \text{multiplications.} $$
#
# It must read every parameter once and the whole cache once. With $P$ parameters of 4 bytes each, this makes $4P + 2 L G d_k n
# \cdot 4$ bytes.

# %% tags=["code"]
parameters = sum(p.numel() for p in lm.parameters())
stories = lm.encode(small_lm.held_out(2000))[None]  # (1, T)


def costs_of_next(n):
    """What one token after n - 1 others costs: (with a cache, without, multiplications by formula, bytes by formula)."""
    ids, cache = stories[:, :n], model.new_cache(1, n)
    with torch.no_grad():
        model(ids[:, :-1], cache, 0)  # the prefill
    costs = measure_cost(model, ids[:, -1:], cache, n - 1)[1], measure_cost(lm, ids)[1]
    multiplied = 3 * (4 * 96**2 + 3 * 96 * 256 + 2 * n * 96) + len(lm.words) * 96
    return *costs, multiplied, 4 * parameters + cache_bytes(3, 4, 24, n, element_bytes=4)


for n in (16, 96):
    cached, scratch, multiplied, read = costs_of_next(n)
    memory = cache_bytes(3, 4, 24, n, element_bytes=4)
    print(f"n = {n}                 with the cache   by the formula   without it")
    print(f"  multiplications {cached.products:17,} {multiplied:16,} {scratch.products:12,}")
    print(f"  bytes read      {cached.read:17,} {read:16,} {scratch.read:12,}")
    print(f"  bytes at once   {memory + cached.peak:17,} {memory:16,} {scratch.peak:12,}")

# %% [markdown]
# The multiplications agree exactly. The bytes read are a few per cent above the formula, which leaves out the activations; the
# memory is the cache plus the activations of one token. Without the cache, $n = 96$ takes 96 times the multiplications, but
# only a few times the bytes: the parameters are read once in both cases, and in the small model they are most of what is read
# with the cache.

# %% [markdown]
# ### Measured (extra)
#
# Is it also faster? The next cell measures the time for the next token on your machine. Times vary; look at the shape of the
# curves.


# %% tags=["picture"]
# @title Time for the next token, measured on this machine
from course.models import stopwatch

drawn = figures.cache.measured(*stopwatch.next_tokens(model, lm, stories))
figures.show(drawn, caption="The time for the next token, on this machine.")

# %% [markdown]
# ### Positions go on counting (extra)
#
# Keys are rotated once, when they are written, and kept rotated. So a new token must be rotated by *its* position, which is the
# number of tokens before it, not by 0, although it is row 0 of its tensor.
#
# ### Predict: the first wrong position (extra)
#
# A version with a bug counts positions from 0 in every call. It reads a prompt of 7 tokens and then 5 more, one at a time.
# Which is the first position with a wrong output?

# %%
# The position, counted from 0
predict("the first wrong position", ...)


# %% tags=["code"]
def rotated_pieces(start_of):
    """Outputs of 12 rotated tokens, seven at once and then one by one; start_of(n): the first position after n tokens."""
    cache, outputs, n = None, [], 0
    for size in (7, 1, 1, 1, 1, 1):
        q, k, v = (x[..., n : n + size, :] for x in (query, key, value))
        positions = start_of(n) + torch.arange(size)
        output, _, cache = attend_with_cache(apply_rope(q, positions), apply_rope(k, positions), v, cache)
        outputs.append(output)
        n += size
    return torch.cat(outputs, dim=-2)


at_once = attend_with_cache(apply_rope(query, torch.arange(12)), apply_rope(key, torch.arange(12)), value)[0]
torch.testing.assert_close(rotated_pieces(lambda n: n), at_once)
wrong = (rotated_pieces(lambda n: 0) - at_once).abs().amax(dim=(0, 1, 3))
print("differences, if each call counts from 0:", [round(number, 2) for number in wrong.tolist()])

# %% [markdown]
# A test that compares only the first call never finds this bug.

# %% [markdown]
# %%answer what_a_cache_costs

# %% [markdown]
# ## 6. Why one token is bound by memory
#
# A processor multiplies only numbers that are on its chip, and the chip has little memory. Parameters and cache are in a larger
# and slower memory, and must be brought to the chip again for each token.

# %% tags=["picture"]
# @title Three levels of memory
figures.show(figures.cache.hierarchy())

# %% [markdown]
# An H100, a GPU for servers, makes up to 989 trillion operations per second in half precision, where each multiplication and
# each addition counts as one operation. It reads 3.35 TB per second from its large memory
# ([NVIDIA](https://www.nvidia.com/en-us/data-center/h100/), SXM version, 2022, without sparsity). So it can make $989 / 3.35
# \approx 295$ operations in the time it takes to read one byte. For the newer B200 the figures are 2,250 trillion and 8 TB, a
# ratio of 281 ([NVIDIA](https://www.nvidia.com/en-us/data-center/hgx/), 2024).
#
# How many operations does a model make per byte? A matrix of parameters has two bytes per number, and each number takes part in
# one multiplication and one addition per token: one operation per byte for each token. So for one token, the processor makes at
# most a 295th of the operations that it could make.

# %% tags=["code"]
PEAK, BANDWIDTH = 989e12, 3.35e12  # of an H100: operations and bytes per second


def matrix_seconds(tokens, width=4096):
    """The least time that a width × width matrix takes, in half precision, for so many tokens at once."""
    operations = 2 * tokens * width**2
    moved = 2 * (width**2 + 2 * tokens * width)  # the matrix, and each token's input and output
    return max(operations / PEAK, moved / BANDWIDTH)


# %% [markdown]
# ### Predict: eight tokens at once
#
# How long does the matrix take for eight tokens at once, compared with one token?

# %%
# The time: "about the same", "about twice as long" or "about eight times as long"
predict("eight tokens at once", ...)

# %% tags=["code"]
for tokens in (1, 8, 64, 512):
    print(f"{tokens:4} tokens: {1e6 * matrix_seconds(tokens):5.1f} microseconds")

# %% tags=["picture"]
# @title The roofline of an H100
figures.show(figures.cache.situations())

# %% [markdown]
# A **roofline** is a plot of the highest speed that a processor can reach against the operations per byte. In a prefill,
# thousands of tokens share one reading of the parameters, so the processor is the limit. Decoding is **bound by memory**: the
# time that reading takes is the limit. A server therefore decodes many conversations together. But they share only the
# parameters; the cache of each conversation must be read as well, again for every token.
#
# ### Where the time of one step goes (extra)
#
# Which takes longer to read, the parameters or the caches? Count the bytes.
#
# ### Exercise: bytes of one step (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.* How many bytes are read when each of `batch_size` conversations of
# `length` tokens gets one more token? The parameters are read once for all, the caches once each. You may call your
# `cache_bytes`.
#
# **Worked example.** 100 parameters of two bytes, and two caches of one layer, one head of width 4 and ten tokens: $200 + 2
# \cdot 160 = 520$.


# %%
def step_bytes(
    n_parameters: int,
    n_layers: int,
    n_kv_heads: int,
    d_head: int,
    length: int,
    batch_size: int = 1,
    element_bytes: int = 2,
) -> int:
    """Bytes read for one new token in each of batch_size texts: all parameters once, and every cache once."""
    raise NotImplementedError  # replace this line


# %%
check(step_bytes)

# %% tags=["code"]
weights = 8_030_000_000  # parameters of Llama 3 8B
situations = {
    "1 conversation of 4,096 tokens": (4096, 1),
    "64 of 4,096 tokens": (4096, 64),
    "1 of 131,072 tokens": (131072, 1),
}
spent = {}
for name, (length, batch) in situations.items():
    total = step_bytes(weights, 32, 8, 128, length, batch)
    operations = 2 * batch * (weights + 2 * 32 * length * 4096)  # the parameters, then scores and sums of all layers
    spent[name] = [1e3 * 2 * weights / BANDWIDTH, 1e3 * (total - 2 * weights) / BANDWIDTH, 1e3 * operations / PEAK]
    print(f"{name:31} at least {1e3 * total / BANDWIDTH:5.1f} ms of reading, {spent[name][2]:5.2f} ms of computing")

# %% tags=["picture"]
# @title Where the time of one step goes
drawn = figures.cache.time_bars(spent, ("reading the parameters", "reading the caches", "computing"))
text = "The least time for one more token in each conversation: Llama 3 8B on an H100."
figures.show(drawn, caption=f"{text}")

# %% [markdown]
# A step for 64 conversations takes three times as long as for one, not 64 times, and most of it is reading the caches. For one
# conversation, 131,072 tokens take twice as long as 4,096. So a smaller cache saves memory *and* time.

# %% [markdown]
# ## 7. A window that slides
#
# Does a token need all earlier tokens? With a **sliding window**, each query sees only its own position and the `window - 1`
# positions before it. The $T$ queries are at the last of $S$ positions, so query $i$ is at position $S - T + i$ (lesson 5).
# With a window of $w$, key $j$ is blocked if
#
# $$ j > S - T + i \quad \text{or} \quad j \le S - T + i - w . $$
#
# ### Exercise: `sliding_window_mask(T, window, S=None, device=None)`
#
# *Difficulty ★★☆, importance ●●○, about 6 minutes.*
#
# Return the mask, bool `(T, S)`, in which `True` is blocked: the causal mask of lesson 5, which now also blocks every key
# before the window. Raise a `ValueError` that names the argument and its value if $S < T$ or if the window is below 1.
#
# **Worked example.** Two queries, five keys, a window of three. The queries are at positions 3 and 4. The first sees 1, 2 and
# 3, the second 2, 3 and 4. With 1 for True:
#
# $$ \mathbf{M} = \begin{pmatrix} 1 & 0 & 0 & 0 & 1 \\ 1 & 1 & 0 & 0 & 0 \end{pmatrix} $$


# %% nbgrader={"grade": false, "grade_id": "sliding_window_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sliding_window_mask(
    T: int, window: int, S: int | None = None, device: torch.device | str | None = None
) -> torch.Tensor:
    """Which keys lie after each query, or too far before it: a bool tensor (T, S) on `device`, True = blocked.

    The T queries are the last T of the S places (S is T by default); each sees `window` places, its own the last.
    Raises ValueError if S < T or window < 1; the message names the argument and its value.
    """
    ### BEGIN SOLUTION
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}: the queries are the last T places")
    if window < 1:
        raise ValueError(f"window is {window}: a query sees its own place at least")
    back = torch.arange(S - T, S, device=device)[:, None] - torch.arange(S, device=device)  # (T, S)
    return (back < 0) | (back >= window)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_sliding_window_mask", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(sliding_window_mask)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(sliding_window_mask)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title Three windows over the sentence
figures.show(figures.cache.windows(sliding_window_mask, sentence.words))

# %% [markdown]
# Keys and values that have left the window are never read again. So `window` rows of memory are enough for a text of any
# length. A **rolling buffer** is a cache in which each new row is written over the oldest one.
#
# ### How far back? (extra)
#
# Layers with windows are stacked, and each reads the outputs of the one below.
#
# ### Predict: the earliest token (extra)
#
# A model has 4 layers, each with a window of 3. What is the position of the earliest token that can influence the last layer's
# output at position 20?

# %%
# The position: 18, 16, 12 or 0
predict("the earliest token", ...)


# %% tags=["code"]
def reach(mask, layers):
    """Which inputs can influence each output after so many layers: bool (T, T)."""
    return torch.linalg.matrix_power((~mask).float(), layers) > 0


for layers in (1, 2, 3, 4):
    earliest = reach(sliding_window_mask(21, 3), layers)[20].nonzero().min()
    print(f"layers: {layers}; the output at position 20 depends on positions {earliest} to 20")

# %% [markdown]
# A window of 3 reaches back 2 positions, and each layer adds 2 more: $L (w - 1)$ after $L$ layers. But information from far
# back has passed through several weighted averages.
#
# ### A rolling buffer (extra)
#
# In a rolling buffer of $w$ rows, position $p$ is written to row $p \bmod w$, over the key that has just left the window.
#
# ### Exercise: write into a rolling buffer (extra)
#
# *Difficulty ★★☆, importance ●○○, about 3 minutes.* `kept` is `(..., window, K)`. Write `new`, `(..., T, K)`, for the
# positions `start … start + T - 1`, in place, and return `kept`. `T` is at most `window`. You can index with a tensor
# of row numbers: `kept[..., rows, :] = new`.
#
# **Worked example.** A buffer of 3 rows has the positions 0, 1, 2 in its rows. Positions 3 and 4 are written to rows 0 and 1,
# so the rows now have 3, 4, 2.


# %%
def write_rolling(kept: torch.Tensor, new: torch.Tensor, start: int) -> torch.Tensor:
    """Write new (..., T, K) into kept (..., window, K): position p to row p % window. Returns kept."""
    raise NotImplementedError  # replace this line


# %%
check(write_rolling)

# %% tags=["picture"]
# @title A rolling buffer of four rows
figures.show(figures.cache.rolling(write_rolling))

# %% [markdown]
# The rows are no longer in order. That does no harm: attention does not see the order of keys (lesson 7), and a model rotates
# keys by their true positions before it writes them. The next cell compares the buffer with the mask, without rotation.

# %% tags=["code"]
window, outputs = 4, []
kept_keys, kept_values = torch.zeros(2, 2, 4, window, 8)  # each (B, H, window, K)
for p in range(12):
    q, k, v = (x[..., p : p + 1, :] for x in (query, key, value))
    filled = min(p + 1, window)
    keys, values = write_rolling(kept_keys, k, p)[..., :filled, :], write_rolling(kept_values, v, p)[..., :filled, :]
    outputs.append(masked_attention(q, keys, values)[0])
rolled = torch.cat(outputs, dim=-2)
with_mask = masked_attention(query, key, value, sliding_window_mask(12, window))[0]
print(
    f"12 tokens, {kept_keys.shape[-2]} rows; differs from attention with the mask by {(rolled - with_mask).abs().max():.0e}"
)

# %% [markdown]
# ## 8. Fewer heads of keys and values
#
# The other way to a smaller cache is that several query heads read the *same* keys and values. In **multi-query attention** all
# query heads share one head of keys and values ([Shazeer 2019](https://arxiv.org/abs/1911.02150)). In **grouped-query
# attention** the query heads form groups, and each group shares one ([Ainslie et al. 2023](https://arxiv.org/abs/2305.13245)).
# With $G$ groups, query head $h$ reads the keys and values of group
#
# $$ g = \left\lfloor \frac{h}{H / G} \right\rfloor , $$
#
# so neighbouring heads share. The cache is $H / G$ times smaller. Most models with groups have them from the start of training.
# To convert a trained model without groups, replace the key matrices of each group by their mean, do the same with the value
# matrices, and train a little more.
#
# ### Exercise: `mean_heads(weight, n_heads, n_groups)`
#
# *Difficulty ★★☆, importance ●●○, about 5 minutes.*
#
# `weight` is the matrix of keys or values as `nn.Linear` stores it, `(H * K, D)`: the rows of head 0, then those of head 1, and
# so on. Return `(G * K, D)`: for each group, the mean of its heads' matrices. Raise a `ValueError` that names `n_heads` or
# `n_groups`, and its value, unless both are at least 1, `n_groups` divides `n_heads`, and `n_heads` divides the number of rows.
#
# **Worked example.** Four heads of width 1, one column, rows $(0, 1, 2, 3)$, two groups: $\bigl(\tfrac{0 + 1}2, \tfrac{2 +
# 3}2\bigr) = (0.5, 2.5)$.


# %% nbgrader={"grade": false, "grade_id": "mean_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mean_heads(weight: torch.Tensor, n_heads: int, n_groups: int) -> torch.Tensor:
    """The mean of the heads of each group.

    weight: (H * K, D), head after head. Returns (G * K, D), group after group.
    Raises ValueError unless both numbers are at least 1, n_groups divides n_heads, and n_heads the rows; the message
    names one of them.
    """
    ### BEGIN SOLUTION
    if n_heads < 1 or weight.shape[0] % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide the rows of weight {tuple(weight.shape)}")
    if n_groups < 1 or n_heads % n_groups:
        raise ValueError(f"n_groups is {n_groups}, which does not divide n_heads = {n_heads}")
    heads = weight.unflatten(0, (n_groups, n_heads // n_groups, -1))  # (G, H / G, K, D)
    return heads.mean(dim=1).flatten(0, 1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_mean_heads", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(mean_heads)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(mean_heads)
### END HIDDEN TESTS

# %% [markdown]
# ### Exercise: `GroupedQueryAttention(d_model, n_heads, n_groups)`
#
# *Difficulty ★★★, importance ●●●, about 12 minutes.*
#
# Write the self-attention of lesson 6, without dropout, with smaller matrices `W_k` and `W_v`. Scores are divided by
# $\sqrt{d_k}$ with $d_k = d / H$. The weights of a fully blocked row are 0; `weights` has a map for each of the $H$ heads.
# Raise a `ValueError` unless `n_heads` and `n_groups` are at least 1, `n_heads` divides `d_model`, and `n_groups` divides
# `n_heads`.
#
# | | rows of `W_q` | of `W_k`, `W_v` | keys |
# |---|---|---|---|
# | lesson 6 | $H \cdot d_k$ | $H \cdot d_k$ | `(B, H, T, K)` |
# | here | $H \cdot d_k$ | $G \cdot d_k$ | `(B, G, T, K)` |
#
# **Worked example.** `GroupedQueryAttention(8, 4, 2)`: heads are 2 wide, `W_q` is `(8, 8)`, `W_k` and `W_v` are `(4, 8)`. Heads
# 0 and 1 read group 0, heads 2 and 3 group 1.


# %% nbgrader={"grade": false, "grade_id": "GroupedQueryAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class GroupedQueryAttention(nn.Module):
    """Self-attention with H heads of queries and G of keys and values; head h reads group h // (H / G)."""

    def __init__(self, d_model: int, n_heads: int, n_groups: int) -> None:
        """Makes W_q, W_k, W_v and W_o.

        Raises ValueError unless both numbers are at least 1, n_heads divides d_model, and n_groups n_heads.
        """
        ### BEGIN SOLUTION
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, which does not divide d_model = {d_model}")
        if n_groups < 1 or n_heads % n_groups:
            raise ValueError(f"n_groups is {n_groups}, which does not divide n_heads = {n_heads}")
        self.n_heads, self.n_groups, self.width = n_heads, n_groups, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, n_groups * self.width, bias=False)
        self.W_v = nn.Linear(d_model, n_groups * self.width, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """x: (B, T, D); mask: bool, broadcasts to (B, H, T, T). Returns (output (B, T, D), weights (B, H, T, T))."""
        ### BEGIN SOLUTION
        query = self.W_q(x).unflatten(-1, (self.n_heads, self.width)).transpose(1, 2)  # (B, H, T, K)
        each = self.n_heads // self.n_groups
        key, value = (
            layer(x).unflatten(-1, (self.n_groups, self.width)).transpose(1, 2).repeat_interleave(each, dim=1)
            for layer in (self.W_k, self.W_v)
        )
        scores = query @ key.transpose(-2, -1) / self.width**0.5
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))  # takes no gradient back, NaN neither
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask, 0.0)
        return self.W_o((weights @ value).transpose(1, 2).flatten(2)), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_GroupedQueryAttention", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(GroupedQueryAttention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(GroupedQueryAttention)
### END HIDDEN TESTS

# %% [markdown]
# ### What sharing costs (extra)
#
# Convert the course's small model with `mean_heads`, and measure its loss without any further training.
#
# ### Predict: half the keys (extra)
#
# The model has 4 heads and a held-out loss of about 0.9 nats on these texts; guessing among its 1,001 words costs $\ln 1001
# \approx 6.9$. In all layers, give heads 0 and 1 the mean of their keys and the mean of their values, and heads 2 and 3
# likewise. What is the loss now?

# %%
# The loss: "about 0.9", "about 1.5" or "above 5"
predict("half the keys", ...)

# %% tags=["code"]
shipped = small_lm.load()
texts = shipped.encode(small_lm.held_out(4000))[: 16 * 96].view(16, 96)


def with_groups(model, n_groups):
    """A copy of the model in which the heads of a group have the mean of their keys and values."""
    model = copy.deepcopy(model)
    for block in model.blocks:
        for layer in (block.attention.W_k, block.attention.W_v):
            shared = mean_heads(layer.weight, 4, n_groups).unflatten(0, (n_groups, -1))  # (G, K, D)
            layer.weight.data = shared.repeat_interleave(4 // n_groups, dim=0).flatten(0, 1)
    return model


for G in (4, 2, 1):
    with torch.no_grad():
        loss = with_groups(shipped, G).losses(texts).mean()
    print(f"groups: {G}; {cache_bytes(3, G, 24, 1, element_bytes=4)} bytes per token, loss {loss:.2f}")

# %% [markdown]
# These heads have little in common, so their mean is like none of them. The mean is only a starting point: Ainslie et al.
# trained further, for 5 % of the original number of steps, and came close to the original quality.

# %% tags=["picture"]
# @title Two heads before they share their keys and values, and after
drawn = figures.cache.shared_keys(shipped, GroupedQueryAttention, mean_heads)
figures.show(drawn)

# %% [markdown]
# Heads that share keys still have their own queries, so they still attend to different words.
#
# ### Exercise: share without copying (extra)
#
# *Difficulty ★★☆, importance ●○○, about 4 minutes.* `repeat_interleave` copies the keys $H / G$ times, and then the
# copies are read. So a smaller cache alone does not mean less reading. Compute the scores, `(B, H, T, S)`, of `query`
# `(B, H, T, K)` and `keys` `(B, G, S, K)` without repeating the keys and without scaling. *Hint:* one head with $H / G$
# times as many rows of queries has the same scores as the $H / G$ heads of a group. Which `reshape` makes it?
#
# **Worked example.** Two heads, one group, $K = 1$: the queries $(2)$ and $(3)$ and the keys $(1, 10)$ give the scores $(2,
# 20)$ and $(3, 30)$.


# %%
def shared_scores(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """Dot products of query (B, H, T, K) with keys (B, G, S, K): (B, H, T, S), head h with group h // (H / G)."""
    raise NotImplementedError  # replace this line


# %%
check(shared_scores)

# %% tags=["code"]
some_queries, some_keys = torch.randn(1, 32, 1, 128), torch.randn(1, 8, 1000, 128)
for name, function in {
    "repeated": lambda q, k: q @ k.repeat_interleave(4, dim=1).mT,
    "shared": shared_scores,
}.items():
    cost = measure_cost(function, some_queries, some_keys)[1]
    print(f"{name:9} {cost.products:,} multiplications, {cost.read:,} bytes read, {cost.peak:,} bytes at once")
print(f"the keys have {some_keys.numel() * 4:,} bytes")

# %% [markdown]
# ## 9. A million tokens
#
# ### Predict: a million tokens
#
# How much memory would the cache of one text of a million tokens take in a model with the sizes of Llama 2 7B: 32 layers, 32
# heads of width 128, half precision? (It was trained for 4,096 tokens.)

# %%
# The cache: "about 5 GB", "about 50 GB" or "about 500 GB"
predict("a million tokens", ...)

# %% [markdown]
# ### Models with a million tokens
#
# Models for such long texts combine several ways to a smaller cache. Many mix two kinds of layers: most have a window,
# and a few see all tokens. After the exercise, a cell computes the caches of some published models for a million
# tokens.
#
# ### Exercise: the cache of a mixed model (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 3 minutes.* `windows` has one entry per layer: a window, or None for a layer
# that keeps every token. Return the bytes of the caches of all layers. A layer with a window keeps at most that many
# tokens. You may call your `cache_bytes` for each layer.
#
# **Worked example.** Two layers, windows `[10, None]`, one head of width 4, 100 tokens: $160 + 1600 = 1760$.


# %%
def mixed_cache_bytes(
    windows: list[int | None], n_kv_heads: int, d_head: int, length: int, element_bytes: int = 2
) -> int:
    """Bytes of a cache for `length` tokens in layers with these windows; None: a layer that keeps all tokens."""
    raise NotImplementedError  # replace this line


# %%
check(mixed_cache_bytes)

# %% tags=["code"]
MILLION = 2**20
forms = {  # windows of the layers, heads of keys and values, their width
    "Llama 2 7B (2023)": ([None] * 32, 32, 128),
    "Llama 3 8B (2024)": ([None] * 32, 8, 128),
    "Qwen2.5 7B 1M (2025)": ([None] * 28, 4, 128),
    "Gemma 3 27B (2025), no window": ([None] * 62, 16, 128),
    "Gemma 3 27B (2025)": (([1024] * 5 + [None]) * 10 + [1024] * 2, 16, 128),
}
for name, form in forms.items():
    size = mixed_cache_bytes(*form, MILLION)
    per_token = 1e3 * size / BANDWIDTH
    print(f"{name:31} {size / 1e9:6.1f} GB for a million tokens; an H100 needs {per_token:5.1f} ms to read them once")

# %% [markdown]
# The layers, heads and windows are from the models' `config.json` and, for Gemma 3, from [its
# report](https://arxiv.org/abs/2503.19786): five layers with a window of 1,024 for each layer that sees all tokens. "A million"
# is $2^{20}$ here. Only the Qwen model was made for so many tokens ([Qwen2.5-1M](https://qwenlm.github.io/blog/qwen2.5-1m),
# January 2025); for the others, this is what their sizes would need.
#
# ### The answer
#
# **What does the next token need from those before it?** Their keys and values in each layer, and nothing else. With these,
# each layer computes only one row: a layer of width 512 writes 1,000 tokens with a 550th of the multiplications.
#
# **What does it cost to keep that?** $2 L G d_k b$ bytes per token: half a megabyte in Llama 2 7B, 2.3 kB in your model. All of
# it is read again for each new token, and reading takes nearly all the time: for one token, an H100 makes at most a 295th of
# the operations that it could make.
#
# **How do models afford a million tokens?** They combine several savings. With the sizes of Llama 2 7B, the cache takes 550 GB.
# Groups of four heads (Llama 3) leave 137 GB; groups of seven and fewer layers (Qwen2.5) leave 60 GB. In Gemma 3, windows in
# five of six layers make the cache six times smaller. Some models go further *(extra)*:
#
# - **Fewer numbers per token.** DeepSeek-V3 keeps one vector of 576 numbers per token and layer, from which all heads compute
#   their keys and values ([DeepSeek-V3](https://arxiv.org/abs/2412.19437), December 2024): 61 layers take 74 GB for a million
#   tokens.
# - **Fewer entries than tokens.** DeepSeek-V4 also merges the entries of several tokens into one. For a million tokens its
#   authors report that the larger model, V4-Pro, needs a tenth of the cache of DeepSeek-V3.2, which keeps such vectors
#   ([DeepSeek-V4](https://arxiv.org/abs/2606.19348), released in April 2026).
# - **Fewer bytes per number.** Eight bits or four instead of 16.

# %% [markdown]
# ## 10. Texts of different lengths (extra)
#
# A server continues many texts at once, and their prompts differ in length. Short ones are padded (lesson 5), and for decoding
# they are padded on the *left*: then the last column has the last token of every text, and each step adds one column for all of
# them. Two things must be right in each row:
#
# - **Padding is blocked** for as long as it is in the cache, by a mask `(B, 1, 1, S)` that grows with each token.
# - **Positions count from the first real token**: in a row with four columns of padding, column 4 is position 0.
#
# The next cell prefills three texts of 3, 7 and 5 tokens together and continues them by four tokens. It compares each with the
# same text alone, without padding and without a cache.

# %% tags=["code"]
lengths, T_prompt, T_all = torch.tensor([3, 7, 5]), 7, 11
padding = T_prompt - lengths  # (B,): columns of padding in each row
queries, keys, values = torch.randn(3, 3, 4, T_all, 8, generator=torch.Generator().manual_seed(10))  # each (B, H, T, K)


def rotate_rows(x, first):
    """Each row rotated by positions that count from its own first token; column 0 of x is column `first` of all."""
    columns = torch.arange(first, first + x.shape[-2])
    return torch.stack([apply_rope(row, columns - f) for row, f in zip(x, padding)])


def continued(block_padding=True):
    """The outputs of all columns: a prefill of seven, then one by one, from a cache."""
    kept_keys, kept_values, outputs, n = keys[..., :0, :], values[..., :0, :], [], 0
    for size in (T_prompt, 1, 1, 1, 1):
        q, k, v = (x[..., n : n + size, :] for x in (queries, keys, values))
        kept_keys = torch.cat([kept_keys, rotate_rows(k, n)], dim=-2)
        kept_values = torch.cat([kept_values, v], dim=-2)
        n += size
        blocked = last_queries_mask(size, n)  # (T, S)
        if block_padding:
            blocked = blocked | (torch.arange(n) < padding[:, None])[:, None, None]  # (B, 1, T, S)
        outputs.append(masked_attention(rotate_rows(q, n - size), kept_keys, kept_values, blocked)[0])
    return torch.cat(outputs, dim=-2)


def alone(b):
    """The outputs of text b alone: no padding, no cache."""
    q, k, v = (x[b : b + 1, :, padding[b] :] for x in (queries, keys, values))
    positions = torch.arange(q.shape[-2])
    return attend_with_cache(apply_rope(q, positions), apply_rope(k, positions), v)[0][0]


together, careless = continued(), continued(block_padding=False)
for b, length in enumerate(lengths.tolist()):
    torch.testing.assert_close(together[b, :, padding[b] :], alone(b))
    off = (careless[b, :, padding[b] :] - alone(b)).abs().max()
    print(f"prompt of {length} tokens: the same as alone; without the padding mask it differs by {off:.2f}")

# %% [markdown]
# The longest prompt never shows this bug, because it has no padding. For the same reason, a test whose prompts all have the
# same length cannot find it.

# %% tags=["picture"]
# @title What the shortest text may see while it is continued
figures.show(figures.cache.beside_padding(last_queries_mask, padding[0]))

# %% [markdown]
# ## Your experiment (extra)
#
# *Difficulty ★★☆, importance ●○○, about 7 minutes.* **How small a window does the small model tolerate?** It was
# trained without one. The function `shipped.losses_with(texts, mask=…)` takes a function that maps `T` to a mask, such
# as `lambda T: sliding_window_mask(T, 8)`, and returns the loss of each token of these held-out texts of 96 tokens. Compute the
# mean for windows from 1 to 96 and plot it. Your finding is the smallest window whose mean loss is less than 0.05 nats
# above the loss with a window of 96.

# %% tags=["experiment"]
# Your code: the mean loss for windows from 1 to 96, and a plot

finding = ...  # a window

# %%
check("experiment", finding)

# %% [markdown]
# ## 11. A bug that shipped (extra)
#
# PyTorch's library for models on phones took the angles of RoPE from the start of its table, for every new token
# ([executorch#2010](https://github.com/pytorch/executorch/pull/2010)):
#
# ```diff
# - angles = table[:seq_len]
# + angles = table[start_pos : start_pos + seq_len]
# ```
#
# With a cache, `seq_len` is 1, so each new query and key was at position 0. Training cannot show this, because it uses no cache.
# The test of section 3 does: compare the outputs with and without the cache.
#
# More bugs that shipped are in the notebook `bug_museum.ipynb`.

# %% [markdown]
# ## Exercise: `speculate(target, draft)` (extra)
#
# *Difficulty ★★☆, importance ●○○, about 15 minutes.*
#
# For a large model, five new tokens at once take hardly longer than one (section 6), but it needs each token before it can
# compute the next. So a small, fast model, the *draft*, proposes five, and the large one, the *target*, checks all of them in
# one call. Each proposal is accepted or replaced at random, such that the result has *exactly* the large model's distribution,
# however bad the small one is. This is called **speculative decoding** ([Leviathan et al.
# 2022](https://arxiv.org/abs/2211.17192)).
#
# The small model proposes word $i$ of the vocabulary with probability $q_i$; the large one would draw it with probability
# $p_i$. Accept it with a probability $a_i$ that is as high as possible; otherwise draw a word from a distribution $\mathbf{r}$,
# such that
#
# $$ q_i \, a_i + c \, r_i = p_i \quad \text{for every } i, \qquad c = 1 - \sum_j q_j \, a_j . $$
#
# Here $c$ is the probability that a proposal is rejected. Find $\mathbf{a}$ and $\mathbf{r}$. (In this exercise, $q_i$
# and $a_i$ are probabilities, not queries and weights.) `target` is $\mathbf{p}$ and `draft` is $\mathbf{q}$,
# `(..., N)`, with rows that sum to 1. Return the pair `(accepted, corrected)`, which is $\mathbf{a}$ and $\mathbf{r}$,
# both of that shape.
#
# For a word that is never proposed, $a_i = 1$. Where the two models agree, $\mathbf{r}$ is the target.
#
# **Worked example.** The target is $(\tfrac12, \tfrac12)$, the draft $(\tfrac34, \tfrac14)$. Word 1 is always accepted, word 0
# in two of three cases. After a rejection, word 1 is drawn: $\mathbf{r} = (0, 1)$. Check word 0: $\tfrac34 \cdot \tfrac23 =
# \tfrac12$.


# %%
def speculate(target: torch.Tensor, draft: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The probability of accepting each proposed token, and the distribution to draw from if it is rejected.

    target, draft: (..., N), rows that sum to 1. Returns (accepted (..., N), corrected (..., N)): accepted is 1 where draft
    is 0; the rows of corrected sum to 1, and are the target's where the two agree.
    """
    raise NotImplementedError  # replace this line


# %%
check(speculate)

# %% [markdown]
# ## Summary
#
# 1. With a causal mask, earlier keys and values never change. If they are kept, the next token needs only one new row.
# 2. A cache takes $2 L G d_k n B b$ bytes. Preallocate it: appending copies the whole cache for every token.
# 3. The outputs do not depend on how a text is cut into pieces. Test this with several new tokens at once.
# 4. Decoding is bound by memory: one token takes as long as reading the parameters and the cache.
# 5. A window limits how large the cache can grow; groups of heads make it $H / G$ times smaller.
#
# $$ \mathbf{o} = \operatorname{softmax}\left( \frac{\mathbf{q} \, [\mathbf{K}_{\text{kept}}; \mathbf{k}]^\top}{\sqrt{d_k}}
#    \right) [\mathbf{V}_{\text{kept}}; \mathbf{v}] $$
#
# Here $[\,\cdot\,;\,\cdot\,]$ puts the new row below the rows that are kept.

# %% tags=["picture"]
# @title What you have built so far
figures.show(figures.cache.so_far(lm))

# %% [markdown]
# **To read on:** Pope et al., [Efficiently Scaling Transformer Inference](https://arxiv.org/abs/2211.05102), which counts
# operations and bytes as this lesson does · Ainslie et al., [GQA](https://arxiv.org/abs/2305.13245), with the conversion by the
# mean · Jiang et al., [Mistral 7B](https://arxiv.org/abs/2310.06825), with a window, a rolling buffer and groups.
#
# In lesson 10, counting what is read and written decides how attention itself is computed.

# %%
progress()
