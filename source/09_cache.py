# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 9: The cache and its price
#
# In lesson 8 your model wrote: for each new letter it read the whole text again, from the first letter on, and threw
# all of it away but the last row. **What does the next token really need from those before it, what does it cost to
# keep that, and how do models with a million tokens afford it?**
#
# You will count what a cache takes, fill one, write attention that reads from it and prove that nothing changes but
# the rounding; then you will make it smaller in the two ways that today's models use: a window that slides, and heads
# that share their keys and values.
#
# **You need** masks (lesson 5), heads (lesson 6), rotation (lesson 7), writing (lesson 8). Nothing from your earlier
# notebooks has to be copied.
#
# **Time:** about 80 minutes
#
# | letter | meaning |
# |---|---|
# | $B$, $H$ | sequences in a batch, heads of queries |
# | $G$ | heads of keys and values, called groups; it divides $H$, and until section 5 it is $H$ |
# | $T$, $S$ | how many new positions there are, how many keys there are for them |
# | `D`, `K` | in shapes, the width of the model and of one head; $d$ and $d_k$ in formulas |
# | $L$, $n$ | layers of a model, tokens written so far |

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, progress, sentence, sliders, staged_model, torch_fallbacks, use
from torch import nn

begin("09_cache")

# %% [markdown]
# ## Review: three questions on what came before
#
# *Review* · about 3 minutes. Answer each in your head or on paper before you unfold its answer. Where one will not
# come back, look at the summary of the lesson that it is from.
#
# **1.** Two queries, five keys, a causal mask. Which keys may the first query see?
#
# <details><summary>Answer</summary>
#
# The first four. The queries are the *last* two of five places, so the first of them stands at place 3, counted from 0.
#
# </details>
#
# **2.** With rotary positions, a query at place 9 meets a key at place 4. Both move on by a hundred places. What happens to
# their score?
#
# <details><summary>Answer</summary>
#
# Nothing: it depends on the gap, which is still 5.
#
# </details>
#
# **3.** The model of lesson 8 writes a letter after 30 others. How many rows of logits does it compute, and how many does
# `generate` use?
#
# <details><summary>Answer</summary>
#
# It computes 30, one for each letter that it reads, and uses the last one alone. The other 29 were computed for the letters
# before, too.
#
# </details>

# %%
import time

# %% [markdown]
# ## 1. The same work again and again
#
# A decoder with a causal mask has a property that you proved in lesson 5: what comes later moves nothing that came
# before. So when the model has read $n$ tokens and one more comes in, the keys and values of the first $n$ are what
# they were, in every layer. Only one new row has to be computed: one query, one key, one value.
#
# Count multiplications in one attention layer, with $d$ for the model's width. For $n$ tokens the four matrices take
# $4 n d^2$, the scores $n^2 d$ and the sum of values $n^2 d$ again. Whoever starts from scratch at each token pays
# that for every $n$; who keeps keys and values pays for one row: $4 d^2 + 2 n d$.
#
# ### Predict first
#
# A model of width 512 writes 1,000 tokens. How many times as much does it multiply when it starts from scratch at each
# of them: 10 times, 100 times, 500 times or 1,000 times?
#
# <details><summary>Answer</summary>
#
# Some 500 times. At token $n$ the ratio is just $n$, whatever the width: without a cache the layer does for all $n$ rows
# what it needs for one. The mean of 1 to 1,000 is 500; and since late tokens cost more than early ones, and have the
# larger ratios, it is a little more.
#
# </details>

# %% tags=["demo"]
# @title Multiplications for each new token, with a cache and without, drawn
written = torch.arange(1, 1001)
width = 512
from_scratch = 4 * written * width**2 + 2 * written**2 * width
with_a_cache = 4 * width**2 + 2 * written * width
figures.show(
    figures.lines.curves(
        written,
        {"from scratch": from_scratch, "with a cache": with_a_cache},
        xlabel="tokens so far, $n$",
        ylabel="multiplications",
        title="for the next token, one layer",
        log="y",
        names="legend",
    ),
    alt="Two curves over the number of tokens, on a logarithmic scale. From scratch: from a million up to two billion. "
    "With a cache: nearly level, from one million to two.",
    caption=f"For all 1,000 tokens together: {from_scratch.sum() / with_a_cache.sum():.0f} times as many from scratch.",
)

# %% [markdown]
# That is the **KV cache**: keys and values of all tokens so far, kept for every layer. It is not an approximation. It
# is work that is not done twice, and it is paid for in memory.
#
# ## 2. What it costs
#
# For each token, each layer keeps a key and a value for each head, $d_k$ numbers each:
#
# $$ \text{bytes} = 2 \cdot L \cdot G \cdot d_k \cdot n \cdot B \cdot b $$
#
# with $b$ bytes for a number: 4 in float32, 2 in the half precision that models run in.
#
# ### Exercise 1: `cache_bytes(n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2)`
#
# *Difficulty ★☆☆ · about 5 minutes*
#
# **On paper.** One layer, one head of width 4, ten tokens: 2 · 4 · 10 numbers of two bytes, which makes 160. A number
# below 0 is an error in the call: raise a `ValueError` whose message names the argument and its value. A cache of no
# tokens is no error: it takes 0 bytes.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(cache_bytes)


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
check(cache_bytes)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(cache_bytes)
### END HIDDEN TESTS

# %% [markdown]
# Two published models of nearly the same size, by the numbers in their configuration files: Llama 2 7B has 32 layers
# with 32 heads of keys and values, Llama 3 8B has 32 layers with 8, all of width 128.
#
# ### Predict first
#
# Each has read 4,096 tokens in half precision. Is the cache small beside the model, whose weights take some 15 GB? And
# if 16 people talk to it at once?
#
# <details><summary>Answer</summary>
#
# For one person it is: 2 GiB for the first model, half a GiB for the second. For 16 conversations the first model's caches
# take 32 GiB, twice as much as the model itself, and the second one's 8. It is the
# memory, not the multiplications, that decides how many people one machine can serve, and that is why the second model
# keeps a quarter as much. Section 5 shows how.
#
# </details>

# %%
bytes_of = use(cache_bytes, torch_fallbacks.cache_bytes)
print("Counted by", bytes_of.whose)
for name, n_kv_heads in {"Llama 2 7B": 32, "Llama 3 8B": 8}.items():
    each = bytes_of(32, n_kv_heads, 128, 1)
    print(f"{name}: {each / 2**10:.0f} KiB a token, {bytes_of(32, n_kv_heads, 128, 4096) / 2**30:.1f} GiB for 4,096")

# %% [markdown]
# Move the sliders. What else could become smaller, apart from the number of heads?


# %% tags=["demo"]
# @title Sliders: what the conversations of a machine keep
def kept_by(conversations, tokens):
    """Bars of what a model of 32 layers with heads of width 128 keeps, in GiB, for three numbers of heads."""
    count = use(cache_bytes, torch_fallbacks.cache_bytes)
    sizes = {f"{G} heads" if G > 1 else "1 head": count(32, G, 128, tokens, conversations) / 2**30 for G in (32, 8, 1)}
    bars = figures.bars(list(sizes.values()), list(sizes), title=f"GiB, {conversations} × {tokens:,} tokens")
    told = ", ".join(f"{size:.3g} with {name}" for name, size in sizes.items())
    return figures.with_alt_text(bars, f"Three bars: what is kept in GiB, {told}. By {count.whose}.")


sliders.slider(
    kept_by,
    strip=[
        {"conversations": 1, "tokens": 4096},
        {"conversations": 16, "tokens": 4096},
        {"conversations": 1, "tokens": 131072},
    ],
    conversations=[1, 4, 16, 64],
    tokens=[1024, 4096, 32768, 131072],
)

# %% [markdown]
# ## 3. Fill it, and read from it
#
# The cache of one layer is a pair, `(keys (B, H, S, K), values (B, H, S, V))`, or None before the first token.
#
# ### Exercise 2: `append_to_cache(cache, key, value)`
#
# *Difficulty ★☆☆ · about 8 minutes*
#
# Return the pair with the new keys and values after the old ones. Nothing that was handed in is changed, so that a
# conversation can branch: two answers may go on from one cache. Where batch, heads or widths differ from the cache's,
# raise a `ValueError` that names `key` or `value` and its shape.
#
# **On paper.** Kept is one token with the key (1, 2); a new one comes with the key (10, 20). The keys are then
# ((1, 2), (10, 20)), of the shape (1, 1, 2, 2).

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(append_to_cache)


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
check(append_to_cache)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(append_to_cache)
### END HIDDEN TESTS

# %% [markdown]
# Now attention reads from it. New positions come one at a time while a model writes, and many at once when it reads
# your question: that first large bite is called the **prefill**, and what follows, token by token, **decoding**. One
# function does both.
#
# *Review:* when there are fewer queries than keys, the queries are the *last* $T$ of the $S$ places (lesson 5).
#
# ### Exercise 3: `attend_with_cache(query, key, value, cache=None)`
#
# *Difficulty ★★☆ · about 12 minutes*
#
# Scaled, causal attention of the new positions to all that is kept and to themselves. Return the output, the weights
# on *all* keys, and the cache, which now holds the new keys and values, too. PyTorch's attention functions are not
# allowed, your own `append_to_cache` is.
#
# **On paper.** One query (2, 0, 0, 0), so $\sqrt{d_k} = 2$. Kept is the key (4, 0, 0, 0), the new key is (1, 0, 0, 0):
# the scaled scores are (4, 1), and the weights (0.95, 0.05).

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(attend_with_cache)


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
check(attend_with_cache)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(attend_with_cache)
### END HIDDEN TESTS

# %% [markdown]
# ### Exercise 4: `generate_with_cache(model, prompt, n_tokens)`
#
# *Difficulty ★★☆ · about 12 minutes*
#
# Let a model write with a cache whose memory is made once. The model has two functions for it:
#
# - `model.new_cache(batch_size, length)` makes the memory: a tensor of zeros `(L, 2, B, G, length, K)`, with room for the
#   keys and the values of `length` positions in each layer.
# - `model(ids, cache, start)` takes int64 ids `(B, T)`, which stand at the positions `start … start + T - 1`, and returns
#   logits `(B, T, N)`. It writes their keys and values into `cache`, in place, and attends to all positions so far.
#
# `prompt` is int64 `(B, T)`. Return it with `n_tokens` more tokens, `(B, T + n_tokens)`; each is the one with the highest
# logit. The judge counts: `n_tokens` calls of the model, the first with the whole prompt, the others with one token; and one
# cache, with room for `T + n_tokens` positions or for one less (the last token is not read any more). Compute
# no gradients.
#
# **On paper.** A prompt of 3 tokens and `n_tokens=4`: the calls have 3, 1, 1 and 1 tokens, and begin at the positions 0, 3,
# 4 and 5. That is 6 positions in all; without a cache it would be 3 + 4 + 5 + 6 = 18.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(generate_with_cache)


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
check(generate_with_cache)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(generate_with_cache)
### END HIDDEN TESTS

# %% [markdown]
# ### Nothing changes but the rounding
#
# A claim such as "it is not an approximation" wants a proof. Cut one sequence of 12 tokens into pieces in every way
# that comes to mind, run the pieces one after another through the cache, and compare with all twelve at once.


# %%
def in_pieces(attend, query, key, value, sizes):
    """Outputs of all positions, which came in pieces of these sizes, and the cache at the end."""
    cache, outputs = None, []
    for q, k, v in zip(*(t.split(sizes, dim=-2) for t in (query, key, value)), strict=True):
        output, _, cache = attend(q, k, v, cache)
        outputs.append(output)
    return torch.cat(outputs, -2), cache


attend = use(attend_with_cache, torch_fallbacks.attend_with_cache)
generator = torch.Generator().manual_seed(9)
query, key, value = torch.randn(3, 2, 4, 12, 8, generator=generator)  # each (B, H, T, K)
whole = torch_fallbacks.attend_with_cache(query, key, value)[0]
print("Attention:", attend.whose)
for sizes in ([12], [1] * 12, [7, 1, 1, 1, 1, 1], [3, 4, 5]):
    output, _ = in_pieces(attend, query, key, value, sizes)
    torch.testing.assert_close(output, whole)
    print(f"in pieces of {sizes}: differs by {(output - whole).abs().max():.0e}")

# %% [markdown]
# Rounding, and no more. Here are the weights of one more way, in pieces of 7, 1, 1 and 3: each piece adds rows below,
# and the rows are those of one large triangle.

# %% tags=["demo"]
# @title The weights of a prefill of seven tokens and of the five that follow
attend = use(attend_with_cache, torch_fallbacks.attend_with_cache)
cache, panels = None, {}
for begin_at, size in ((0, 7), (7, 1), (8, 1), (9, 3)):
    piece = [t[:1, :1, begin_at : begin_at + size] for t in (query, key, value)]
    _, weights, cache = attend(*piece, cache)
    panels[f"{size} new, {begin_at} kept"] = (weights[0, 0], torch_fallbacks.causal_mask(size, begin_at + size))
figures.show(
    figures.masks.weights(panels, per_row=2, cell=0.36, stairs=True),
    alt="Four maps of weights. Seven new tokens: a triangle of seven rows. One new token, seven kept: one row of eight. "
    "One more: a row of nine. Three at once, nine kept: three rows of twelve, with a small triangle at their end. "
    "What lies in the future is hatched.",
    caption=f"The orange stairs stand where the future begins; hatched cells are blocked. Attention: {attend.whose}.",
)

# %% [markdown]
# ### Measured
#
# And does it save what section 1 promised? Below, one layer of attention with four heads of width 64 adds one token to
# those that are there, timed on this machine, each way. Times wobble; what counts is the shape.


# %% tags=["demo"]
# @title Time for the next token, measured on this machine
def milliseconds(step, times=7):
    """How long the shortest of a few runs took."""
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        step()
        spent.append(1000 * (time.perf_counter() - started))
    return min(spent)


def both_ways(n):
    """Milliseconds for token n, from scratch and with a cache of those before it."""
    attend = use(attend_with_cache, torch_fallbacks.attend_with_cache)
    x = torch.randn(1, 4, n, 64, generator=torch.Generator().manual_seed(1))
    old, new = x[:, :, :-1], x[:, :, -1:]
    return milliseconds(lambda: attend(x, x, x)), milliseconds(lambda: attend(new, new, new, (old, old)))


so_many = range(60, 601, 60)
with torch.no_grad():
    both_ways(60)  # the first call of all is slow
    measured = torch.tensor([both_ways(n) for n in so_many]).T
figures.show(
    figures.curves(
        so_many,
        {"from scratch": measured[0], "with a cache": measured[1]},
        xlabel="tokens so far",
        ylabel="milliseconds",
        names="legend",
    ),
    alt="Two measured curves over the number of tokens. From scratch: rises ever faster. With a cache: stays low and "
    "nearly level.",
    caption="Time for the next token in one layer of attention, without its four matrices. From scratch it grows with the "
    "square of the length, with a cache with the length itself: so little that other things take longer. "
    f"Attention: {use(attend_with_cache, torch_fallbacks.attend_with_cache).whose}.",
)

# %% [markdown]
# What is paid for it can be measured, too. Count the bytes of the tensors that are really kept after each of these
# tokens, and lay the formula of section 2 beside them.

# %%
attend = use(attend_with_cache, torch_fallbacks.attend_with_cache)
bytes_of = use(cache_bytes, torch_fallbacks.cache_bytes)
cache = None
for n in range(1, 1001):
    token = torch.zeros(1, 4, 1, 64)  # keys and values of one layer; what is in them does not matter here
    _, _, cache = attend(token, token, token, cache)
    if n in (1, 10, 100, 1000):
        found = sum(kept.numel() * kept.element_size() for kept in cache)
        print(f"{n:5} tokens: {found:9,} bytes are kept, {bytes_of(1, 4, 64, n, element_bytes=4):9,} by the formula")

# %% [markdown]
# ### Is it a bug?
#
# A colleague reads your code. "With a cache there is one query, and it is the last token. It may see everything. So the
# mask does nothing, and you can drop it." The outputs agree to the last digit, and the tests are green.
# **Decide before you run the cell: may the mask go?** It tries her version with tokens one by one, and with a prefill of
# seven.


# %%
def without_a_mask(query, key, value, cache=None):
    if cache is not None:
        key, value = torch.cat([cache[0], key], -2), torch.cat([cache[1], value], -2)
    output, weights = torch_fallbacks.masked_attention(query, key, value)
    return output, weights, (key, value)


for sizes in ([1] * 12, [7, 1, 1, 1, 1, 1]):
    output, _ = in_pieces(without_a_mask, query, key, value, sizes)
    print(f"in pieces of {sizes}: differs by {(output - whole).abs().max():.2f}")

# %% [markdown]
# <details><summary>The verdict</summary>
#
# While tokens come one at a time it is no bug: one row, and nothing lies after it. The prefill is where it breaks, for
# there seven queries come together and six of them can see ahead. In a model it is worse than one wrong row, since
# those rows make the next layer's keys and values, which the cache then keeps for good. Whoever tests a cache must
# test it with several new tokens at once, with and without something that is kept.
#
# </details>

# %% [markdown]
# %%answer what_a_cache_costs

# %% [markdown]
# ## 4. A window that slides
#
# The cache grows with every token. Does a token need all of them? In a **sliding window** each query sees its own
# place and the `window - 1` before it; what fell out of the window need not be kept any more, so that the cache stops
# growing:
#
# $$ m_{ij} = \text{True, if } j > p_i \text{ or } j \le p_i - w; \quad \text{else False}, \qquad p_i = S - T + i $$
#
# where $p_i$ is the place of query $i$ and $w$ the window.
#
# ### Exercise 5: `sliding_window_mask(T, window, S=None, device=None)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# The causal mask of lesson 5 with one more reason to block a key. (Who took the challenge `sliding_window` there has half
# of it: its queries and keys were as many.) Refuse $S < T$ and a window below 1 with a
# `ValueError` that names the argument and its value.
#
# **On paper.** Two queries, five keys, a window of three. The queries stand at the places 3 and 4; the first sees 1, 2
# and 3, the second 2, 3 and 4:
#
# $$ \mathbf{M} = \begin{pmatrix} 1 & 0 & 0 & 0 & 1 \\ 1 & 1 & 0 & 0 & 0 \end{pmatrix} $$

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(sliding_window_mask)


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
check(sliding_window_mask)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(sliding_window_mask)
### END HIDDEN TESTS


# %%
window_for = use(sliding_window_mask, torch_fallbacks.sliding_window_mask)
words = sentence.words  # The boat reached the river bank

# %% tags=["demo"]
# @title Three windows over the sentence
window_for = use(sliding_window_mask, torch_fallbacks.sliding_window_mask)
figures.show(
    figures.masks.tables({f"window {w}": window_for(6, w) for w in (1, 3, 6)}, words),
    alt="Three tables of ticks and crosses over six words. Window 1: ticks on the diagonal only. Window 3: a band of "
    "three ticks along the diagonal. Window 6: all of the causal triangle.",
    caption=f"✓ may be seen, ✗ is blocked. Mask: {window_for.whose}.",
)

# %% [markdown]
# ### Predict first
#
# A model has 4 layers, each with a window of 3. Its last layer writes the token at place 20. Which is the earliest
# token that can have had any influence on it: 18, 16, 12 or 0?
#
# <details><summary>Answer</summary>
#
# 12. A window of 3 reaches back 2 places, and in the layer above those places have already heard of what lies 2 places
# before *them*: after $L$ layers it is $L (w - 1)$ places. A model with 32 layers and a window of 4,096 has, on paper,
# heard of 131,000 tokens, and keeps 4,096. On paper, for what is passed on from hand to hand is never passed on whole.
#
# </details>


# %%
def reach(mask, layers):
    """Which inputs can have moved each output after so many layers: bool (T, T)."""
    sees = (~mask).float()
    return torch.linalg.matrix_power(sees, layers) > 0


window_for = use(sliding_window_mask, torch_fallbacks.sliding_window_mask)
for layers in (1, 2, 3, 4):
    earliest = reach(window_for(21, 3), layers)[20].nonzero().min().item()
    print(f"layers: {layers}. Place 20 hears of place {earliest} and later")
print("Mask:", window_for.whose)

# %% [markdown]
# Move the slider to let layers be added.


# %% tags=["demo"]
# @title Slider: who can have heard of whom, layer over layer
def heard(layers, window):
    window_for = use(sliding_window_mask, torch_fallbacks.sliding_window_mask)
    picture = figures.masks.tables({f"layers: {layers}, window: {window}": ~reach(window_for(8, window), layers)})
    return figures.with_alt_text(
        picture,
        f"With {layers} of the layers and a window of {window} a band of "
        f"{min(8, layers * (window - 1) + 1)} places is reached. Mask: {window_for.whose}.",
    )


sliders.slider(heard, strip={"layers": [1, 2, 4]}, layers=(1, 5, 1), window=[2, 3, 4])

# %% [markdown]
# ### What fell out of the window need not be kept
#
# The mask blocks what lies too far back; a cache that is cut to the window has never heard of it. Is that the same? Below,
# tokens come one by one, and after each the cache is cut down to the last $w - 1$, which is all that the next one may see
# beside itself.


# %%
def cut_to(window, query, key, value):
    """Outputs of all positions, one by one, with a cache of the last `window - 1` tokens, and the cache at the end."""
    cache, outputs = None, []
    for q, k, v in zip(*(t.split(1, dim=-2) for t in (query, key, value)), strict=True):
        output, _, cache = attend(q, k, v, cache)
        cache = tuple(kept[..., max(0, kept.shape[-2] - (window - 1)) :, :] for kept in cache)
        outputs.append(output)
    return torch.cat(outputs, -2), cache


window_for = use(sliding_window_mask, torch_fallbacks.sliding_window_mask)
cut, cache = cut_to(4, query, key, value)
by_a_mask, _ = torch_fallbacks.masked_attention(query, key, value, window_for(12, 4))
torch.testing.assert_close(cut, by_a_mask)
print(f"kept after 12 tokens: {cache[0].shape[-2]}; differs from the mask by {(cut - by_a_mask).abs().max():.0e}")
print("Attention:", attend.whose, "· mask:", window_for.whose)

# %% [markdown]
# ## 5. Fewer keys than queries
#
# The other way to a smaller cache: let several heads of queries read the *same* keys and values. With one head of keys
# and values for all it is called **multi-query attention**, with some in between **grouped-query attention**. With $H$
# heads of queries and $G$ groups, head $h$ reads group
#
# $$ g = \left\lfloor \frac{h}{H / G} \right\rfloor $$
#
# so that heads that follow each other share. The cache is $H / G$ times smaller, and nothing else in the formula of
# section 2 has changed.
#
# Most models of today are trained that way from the start. A finished model with $H$ heads can also be turned into one:
# replace the keys of each group by their mean, the values too, and train on a little.
#
# ### Exercise 6: `mean_heads(weight, n_heads, n_groups)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# `weight` is the matrix of keys (or values) as `nn.Linear` holds it, `(H * K, D)`: the rows of head 0, then those of
# head 1, and so on. Return `(G * K, D)`, in which each group is the mean of its heads.
#
# **On paper.** Four heads of width 1, one column, rows (0, 1, 2, 3), two groups: ((0 + 1)/2, (2 + 3)/2) = (0.5, 2.5).

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(mean_heads)


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
check(mean_heads)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(mean_heads)
### END HIDDEN TESTS

# %% [markdown]
# ### Exercise 7: `GroupedQueryAttention(d_model, n_heads, n_groups)`
#
# *Difficulty ★★★ · about 15 minutes*
#
# Self-attention as in lesson 6, without dropout, with smaller matrices `W_k` and `W_v`. Scores are divided by the root
# of a head's width $d_k = d / H$; a row that is blocked throughout is 0; `weights` has a map for each of the $H$ heads.
# Refuse numbers below 1, and numbers that do not divide, with a `ValueError`.
#
# | | rows of `W_q` | of `W_k`, `W_v` | keys |
# |---|---|---|---|
# | before | $H \cdot d_k$ | $H \cdot d_k$ | `(B, H, T, K)` |
# | here | $H \cdot d_k$ | $G \cdot d_k$ | `(B, G, T, K)` |
#
# **On paper.** `GroupedQueryAttention(8, 4, 2)`: heads are 2 wide, `W_q` is (8, 8), `W_k` and `W_v` are (4, 8). The heads
# 0 and 1 read group 0, the heads 2 and 3 group 1.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(GroupedQueryAttention)


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
check(GroupedQueryAttention)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(GroupedQueryAttention)
### END HIDDEN TESTS

# %% [markdown]
# ### What sharing costs
#
# Take a layer of eight heads of lesson 6 with random weights (yours, where that notebook lies beside this one), make
# groups of its keys and values by `mean_heads`, and look at how far its output moves.
#
# ### Predict first
#
# With which number of groups, 8, 4, 2 or 1, does nothing move at all? With one group for all, does the output move by
# some 10 % of its length, by some 50 %, or by nearly all of it?
#
# <details><summary>Answer</summary>
#
# With eight: as many groups as heads is the layer of lesson 6, and nothing is averaged. With one group it moves by nearly
# its whole length. The values are averaged as well as the keys, and the mean of eight vectors that have nothing in common
# is short: little is left of what came out before.
#
# </details>


# %%
def grouped(layer, n_groups, means, make):
    """The layer with its keys and values averaged in groups."""
    smaller = make(64, 8, n_groups)
    with torch.no_grad():
        for name in ("W_q", "W_o"):
            getattr(smaller, name).weight.copy_(getattr(layer, name).weight)
        for name in ("W_k", "W_v"):
            getattr(smaller, name).weight.copy_(means(getattr(layer, name).weight, 8, n_groups))
    return smaller


make = use(GroupedQueryAttention, torch_fallbacks.GroupedQueryAttention)
means = use(mean_heads, torch_fallbacks.mean_heads)
heads_of_6 = staged_model.find_prior_answer("MultiHeadAttention", otherwise=torch_fallbacks.MultiHeadAttention)
with torch.random.fork_rng(devices=[]):
    torch.manual_seed(3)
    layer, x = heads_of_6(64, 8), 2 * torch.randn(2, 10, 64)
print("Heads:", heads_of_6.whose)
with torch.no_grad():
    full = layer(x)[0]
    moved = {g: ((grouped(layer, g, means, make)(x)[0] - full).norm() / full.norm()).item() for g in (8, 4, 2, 1)}

# %% tags=["demo"]
# @title Two heads before they share their keys and values, and after
with torch.no_grad():
    short = x[:1, :6]
    before, after = layer(short)[1][0], grouped(layer, 4, means, make)(short)[1][0]
figures.show(
    figures.masks.weights(
        {
            f"head {h}, {told}": (maps[h], None)
            for told, maps in (("its own keys", before), ("shared", after))
            for h in (0, 1)
        },
        per_row=2,
    ),
    alt="Four maps of weights, 6 by 6. Above, two heads with keys of their own: they look at different places. Below, the same "
    "heads with the mean of both heads' keys: other maps than above, and still not the same as each other.",
    caption=f"Eight heads became four groups, so heads 0 and 1 share. Layer: {make.whose}. Means: {means.whose}.",
)

# %% [markdown]
# Heads that share their keys still ask with queries of their own, and so they still look at different places. How far
# does the output move, and what is it worth?

# %% tags=["demo"]
# @title The price of fewer groups: how far the output moves, and what is kept
assert moved[8] < 1e-5  # as many groups as heads: the layer of lesson 6
kept = {g: use(cache_bytes, torch_fallbacks.cache_bytes)(1, g, 8, 1000) / 1000 for g in moved}
_, panels = figures.row(2, width=7.4, height=2.8)
figures.bars(
    [100 * value for value in moved.values()], [str(g) for g in moved], ax=panels[0], title="output moves by, in %"
)
figures.bars(list(kept.values()), [str(g) for g in kept], ax=panels[1], title="kept, in kB for 1,000 tokens")
for ax in panels:
    ax.set_xlabel("groups")
figures.show(
    panels[0].figure,
    alt="Two rows of bars over 8, 4, 2 and 1 groups. The output moves by nothing with 8 groups, and by more and more with "
    "fewer. What is kept halves from each to the next.",
    caption=f"A layer with random weights. Layer: {make.whose}. Means: {means.whose}.",
)

# %% [markdown]
# A layer with random weights is the worst case: its heads have nothing in common, and their mean is like none of them.
# In trained models heads resemble each other, and a little more training repairs the rest: the authors of
# [grouped-query attention](https://arxiv.org/abs/2305.13245) spent a twentieth of the first training on it.
#
# ## 6. Positions go on counting
#
# *Review:* with rotation (lesson 7) a query and a key are turned by their places before they meet. Keys are turned
# once, when they come in, and kept turned. So the new token must be turned by *its* place, which is as many as are
# kept, and not by 0, although it is the first and only row of its tensor.


# %%
def turned(x, positions, base=10000.0):
    """Neighbouring pairs turned by their place, as in lesson 7. x: (..., T, K), positions: (T,)."""
    rates = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = positions[:, None] * rates
    even, odd = x[..., 0::2], x[..., 1::2]
    pairs = even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()
    return torch.stack(pairs, -1).flatten(-2)


rotate = staged_model.find_prior_answer("apply_rope", otherwise=turned)


def writing(attend, go_on):
    """Twelve tokens, seven at once and then one by one, turned by their places."""
    cache, outputs, n = None, [], 0
    for size in (7, 1, 1, 1, 1, 1):
        q, k, v = (t[..., n : n + size, :] for t in (query, key, value))
        positions = torch.arange(size) + (n if go_on else 0)
        output, _, cache = attend(rotate(q, positions), rotate(k, positions), v, cache)
        outputs.append(output)
        n += size
    return torch.cat(outputs, -2)


attend = use(attend_with_cache, torch_fallbacks.attend_with_cache)
everywhere = torch.arange(12)
whole = torch_fallbacks.attend_with_cache(rotate(query, everywhere), rotate(key, everywhere), value)[0]
torch.testing.assert_close(writing(attend, go_on=True), whole)
print("Rotation:", rotate.whose)
wrong = (writing(attend, go_on=False) - whole).abs().amax(dim=(0, 1, 3))
print("difference by place, counted from 0 each time:", [round(number, 2) for number in wrong.tolist()])

# %% [markdown]
# The prompt is right, and everything after it is wrong: the classic look of a broken cache. Nobody
# who compares only the first pass will ever see it.
#
# ## 7. Sentences of unequal length
#
# A server answers many at once, and their prompts are not equally long. All rows of a tensor are, so short ones are
# filled up, and it pays to fill them up *in front*: then the last column holds the last token of every row, and each
# new token is one more column for all. Two things have to be right, row by row.
#
# - **The filling is blocked**, for as long as it is kept: a mask `(B, 1, 1, S)` that grows by a column with each token,
#   beside the causal one.
# - **Positions count from the first real token**: with $f$ places filled, column $j$ stands at place $j - f$.
#
# The proof is as before. Three sentences of 3, 7 and 5 tokens are prefilled together and go on for four tokens; each is
# compared with itself alone, without filling and without a cache.

# %%
lengths, T_prompt, T_all = torch.tensor([3, 7, 5]), 7, 11
filled = T_prompt - lengths  # (B,): how many places of each row hold nothing
generator = torch.Generator().manual_seed(10)
queries, keys, values = torch.randn(3, 3, 4, T_all, 8, generator=generator)  # each (B, H, T, K); of fillings: anything
masked = staged_model.find_prior_answer("masked_attention", otherwise=torch_fallbacks.masked_attention)
mask_for = staged_model.find_prior_answer("causal_mask", otherwise=torch_fallbacks.causal_mask)


def by_rows(x, first):
    """Each row turned by places that count from its own first token; column 0 of x is column `first` of all."""
    columns = torch.arange(first, first + x.shape[-2])
    return torch.stack([rotate(row, columns - f) for row, f in zip(x, filled, strict=True)])


def go_on(blocks_filling=True):
    """Outputs of all columns: a prefill of seven, then one by one, from a cache."""
    kept_keys, kept_values, outputs, n = keys[..., :0, :], values[..., :0, :], [], 0
    for size in (T_prompt, 1, 1, 1, 1):
        q, k, v = (t[..., n : n + size, :] for t in (queries, keys, values))
        kept_keys = torch.cat([kept_keys, by_rows(k, n)], -2)
        kept_values = torch.cat([kept_values, v], -2)
        n += size
        blocked = mask_for(size, n)  # (T, S)
        if blocks_filling:
            blocked = blocked | (torch.arange(n) < filled[:, None])[:, None, None]  # (B, 1, T, S)
        outputs.append(masked(by_rows(q, n - size), kept_keys, kept_values, blocked)[0])
    return torch.cat(outputs, -2)


def alone(b):
    """The outputs of sentence b by itself: no filling, no cache."""
    q, k, v = (t[b : b + 1, :, filled[b] :] for t in (queries, keys, values))
    places = torch.arange(q.shape[-2])
    return torch_fallbacks.attend_with_cache(rotate(q, places), rotate(k, places), v)[0][0]


print("Attention:", masked.whose)
together, careless = go_on(), go_on(blocks_filling=False)
for b, length in enumerate(lengths.tolist()):
    torch.testing.assert_close(together[b, :, filled[b] :], alone(b))
    off = (careless[b, :, filled[b] :] - alone(b)).abs().max()
    print(f"a sentence of {length}: equal to itself alone; without the mask for fillings it would be off by {off:.2f}")

# %% [markdown]
# The longest sentence never shows the bug, for it has no filling. Whoever tests with one sentence, or with sentences of one
# length, tests nothing of this.

# %% tags=["demo"]
# @title Who may see whom as the shortest sentence goes on
blocked = {}
for size, n in ((7, 7), (1, 8), (1, 9)):
    rows = torch.arange(n) < filled[0]
    blocked["prefill" if size == 7 else f"token {n - 7} after it"] = mask_for(size, n) | rows
figures.show(
    figures.masks.tables(blocked, [*4 * ["–"], "then", "the", "hen", "came", "home"], stairs=True),
    alt="Three tables of ticks and crosses. In the first, seven by seven, the four columns of fillings are crossed out, and of "
    "the three real words each sees itself and those before it. The two others are single rows: the fillings stay crossed "
    "out, all real words are ticked.",
    caption="A dash is a filling. Rows of fillings see nothing: their outputs are 0, and nobody reads them. "
    f"Mask: {mask_for.whose}.",
)

# %% [markdown]
# ## Seen in the wild
#
# **Sensible at first, then garbage.** A library's generation turned to babble as soon as its cache was switched on:
# *BIANCA: Pardon, my lord* without it, and letters thrown together with it
# ([x-transformers#219](https://github.com/lucidrains/x-transformers/issues/219)). No training shows such a thing, for a
# cache is not used there. The test that finds it is the one of section 3: with and without, compared
# number by number.
#
# **The position of the first row.** A model for telephones took the rotation's angles from the start of its table for
# each new token:
#
# ```diff
# - angles = table[:seq_len]
# + angles = table[start_pos : start_pos + seq_len]
# ```
#
# ([executorch#2010](https://github.com/pytorch/executorch/pull/2010)).
#
# **128 or 129?** Does a window of 128 count the query's own place? One library's mask let each query see 129 keys while
# its cache kept 128 ([mlx-lm#390](https://github.com/ml-explore/mlx-lm/pull/390)); another's window was one place wider
# with one attention kernel than with the other
# ([transformers#39408](https://github.com/huggingface/transformers/issues/39408)). No single answer is wrong. Two parts
# that answer differently are.
#
# **Which head reads which group?** The standard for exchanging models wrote grouped heads with a *tile*, 0 1 0 1, where
# PyTorch repeats each in place, 0 0 1 1. The shapes agree, and so does everything else, until weights that were trained
# for the one are run by the other ([onnx#7274](https://github.com/onnx/onnx/pull/7274)).
#
# ## Summary
#
# 1. Under a causal mask old keys and values never change: they are kept, and the next token costs one row of work.
# 2. A cache takes $2 L G d_k n B b$ bytes; it, not the multiplications, decides how many a machine can serve.
# 3. Cut a sequence as you like: with a cache the outputs are those of the whole. Test it with several new tokens at once.
# 4. A window stops the cache from growing, and layer over layer it still hears of what lies far back.
# 5. Heads that follow each other may share keys and values: the cache shrinks by $H / G$.
#
# $$ \text{output} = \text{softmax}\left( \frac{\mathbf{q} \, [\mathbf{K}_{\text{kept}}; \mathbf{k}]^\top}{\sqrt{d_k}}
#    \right) [\mathbf{V}_{\text{kept}}; \mathbf{v}] $$
#
# **To read on:**
# [Fast Transformer Decoding](https://arxiv.org/abs/1911.02150), which had one head of keys for all, and counts as
# section 1 does; [GQA](https://arxiv.org/abs/2305.13245), with groups in between, and the conversion by means;
# [Mistral 7B](https://arxiv.org/abs/2310.06825), a model with a window and with groups.

# %% [markdown]
# ## Challenge: `speculate(target, draft)`
#
# *Challenge ★★ · not graded · about 15 minutes*
#
# A challenge is for those who want more. The same judge checks it, no grade knows of it, and you may leave it as it is.
#
# With a cache, five new tokens at once cost a large model hardly more than one, since most of the time goes into reading
# its weights. But when it writes it needs each token before the next. So let a small, quick model, the *draft*, propose
# five, and let the large one, the *target*, look at all of them in one pass. Every proposal is accepted or corrected by
# chance, in such a way that what comes out is drawn from the large model's distribution *exactly*, however bad the small
# one is. It is called **speculative decoding** ([Leviathan et al. 2022](https://arxiv.org/abs/2211.17192)).
#
# Say the small model proposes token $i$ with the probability $q_i$, and the large one would draw it with $p_i$. Accept it
# with a probability $a_i$ that is as high as it may be, or else draw a token from a distribution $\mathbf{r}$, so that
#
# $$ q_i \, a_i + c \, r_i = p_i \quad \text{for every } i, \qquad c = 1 - \sum_j q_j \, a_j $$
#
# ($c$ is how often a proposal is rejected.) Find $\mathbf{a}$ and $\mathbf{r}$. `target` and `draft` are `(..., N)`, rows that
# sum to 1; return the pair `(accepted, corrected)`, both of that shape. A token that is never proposed counts as accepted:
# $a_i = 1$. Where the two models agree nothing is ever corrected, and $\mathbf{r}$ is to be the target.
#
# **On paper.** The target is $(\tfrac12, \tfrac12)$, the draft $(\tfrac34, \tfrac14)$: the second token is always accepted and
# the first in two of three cases. Who is rejected becomes the second, $\mathbf{r} = (0, 1)$. Check the first: $\tfrac34 \cdot
# \tfrac23 = \tfrac12$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(speculate)


# %%
def speculate(target: torch.Tensor, draft: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """With which probability each token, when proposed, is accepted, and what is drawn from when it is not.

    target, draft: (..., N), rows that sum to 1. Returns (accepted (..., N), corrected (..., N)): accepted is 1 where draft
    is 0; the rows of corrected sum to 1, and are the target's where the two agree.
    """
    raise NotImplementedError  # take this line out, and write yours


# %% tags=["demo"]
check(speculate)

# %% tags=["demo"]
progress()
