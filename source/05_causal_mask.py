# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 5: The causal mask
#
# A language model learns by guessing, at every place of a text at once, which token comes next. Attention as you have
# built it lets every place look at every other, so the answer to each guess lies open on the table. **How do you
# cover exactly what a query must not see, no less and no more, and how do you prove that nothing shines through?**
#
# You will build the two masks that every transformer uses, one against the future and one against padding; a softmax
# that keeps its balance under any mask, even one that blocks everything; attention with a mask; and at the end an
# instrument, a *leak detector*. You will turn it on eight attention functions that you have not seen before. Most of
# them peek, and not all of those look as if they did.
#
# **You need** softmax (lesson 2), attention (lesson 3) and its scale (lesson 4). Nothing from your earlier notebooks
# has to be copied.
#
# **Time:** about 75 minutes
#
# | letter | meaning |
# |---|---|
# | $B$, $H$ | sentences in a batch, heads (lesson 6; here they are just more leading dimensions) |
# | $T$, $S$ | how many queries, how many keys |
# | `D` | in shapes, the width of a token's vector; $d$ in formulas |
# | `K`, `V` | in shapes, the width of a query or key and the width of a value; $d_k$ and $d_v$ in formulas |
# | $\mathbf{Q}$, $\mathbf{K}$, $\mathbf{V}$ | matrices, in bold: all queries `(T, K)`, all keys `(S, K)`, all values `(S, V)` |
# | $\mathbf{M}$ | a mask `(T, S)`: its entry $m_{ij}$ is true or false for query $i$ and key $j$ |
#
# One convention holds from here to the end of the course: **in a mask, True means blocked.** Section 5 meets a
# function that has it the other way round.

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, progress, sentence, sliders, torch_fallbacks, use
from torch import nn

begin("05_causal_mask")

# %% [markdown]
# ## Review: three questions on what came before
#
# *Review* · about 3 minutes. Answer each in your head or on paper before you unfold its answer. Where one will not
# come back, look at the summary of the lesson that it is from.
#
# **1.** Queries and keys have 64 independent numbers of mean 0 and variance 1. What is the standard deviation of
# their scores, and by what are they divided?
#
# <details><summary>Answer</summary>
#
# $\sqrt{64} = 8$: variances add up. Divided by $\sqrt{d_k} = 8$, the scores have the standard deviation 1 again.
#
# </details>
#
# **2.** Why is it bad for learning when softmax gives one key nearly everything?
#
# <details><summary>Answer</summary>
#
# There its Jacobian $\operatorname{diag}(p) - p\,p^\top$ is nearly 0, so hardly any gradient comes back to queries
# and keys.
#
# </details>
#
# **3.** With dropout of 0.5 on the weights, in training mode: what becomes of a weight of 0.3?
#
# <details><summary>Answer</summary>
#
# 0 half of the time, and 0.6 otherwise, so that its mean stays 0.3. In eval mode it is 0.3.
#
# </details>

# %%
from course import sample_models

# %% [markdown]
# ## 1. Who may see whom
#
# Take the sentence of lesson 3. While the model learns, all six words go in at once, and each place has its own
# little exam: at *The* the right answer is *boat*, at *boat* it is *reached*, and so on. The answer to place
# $i$ is the word at place $i + 1$. So at place $i$ the model may look at the words 0 to $i$, itself included: its own
# word is a question, not an answer. Everything after it is an answer to something.
#
# $$ m_{ij} = \text{True, if } j > i; \quad \text{else False} $$
#
# where $i$ is the place of the query and $j$ the place of the key, both counted from 0. This is the **causal mask**,
# and an attention that obeys it is called causal: what comes later cannot have been the cause of what came before.

# %%
words = sentence.words  # The boat reached the river bank

print(" " * 8, *(f"{word:>8}" for word in words))
for i, word in enumerate(words):
    marks = ["✓" if j <= i else "✗" for j in range(len(words))]
    print(f"{word:>8}", *(f"{mark:>8}" for mark in marks))

# %% [markdown]
# Read it by rows: *reached* may see *The*, *boat* and itself.
#
# ### Predict first
#
# How many of the 36 cells are open? And for which word is the outcome of attention certain, before
# you know a single number of the model?
#
# <details><summary>Answer</summary>
#
# 1 + 2 + … + 6 = 21, or $T(T+1)/2$: a little more than half. And *The* can see only itself. Its weights are
# (1, 0, 0, 0, 0, 0) whatever its scores are, since softmax over a single score is 1. Nothing can be learned about how
# the first word looks around.
#
# </details>
#
# ### When there are fewer queries than keys
#
# A trained model writes word by word, each from all the words before it; such a model is called **autoregressive**. It
# has read *The boat reached the river*, kept the keys and values of those words (the place where they are kept is its
# **KV cache**), and now the new word *bank* comes in. Only *bank* needs a query, $T = 1$, but there are six keys,
# $S = 6$. Which of the keys may this one query see?
#
# All six, of course: every one of them came before it, or is itself. But the formula above says that query 0 sees key
# 0 and nothing else. It had quietly assumed that queries and keys start together. When earlier keys have been kept,
# they *end* together: **the $T$ queries are the last $T$ of the $S$ places**, and query $i$ stands at place
# $S - T + i$.
#
# $$ m_{ij} = \text{True, if } j > S - T + i; \quad \text{else False} $$
#
# With $T = S$ this is the first formula again.
#
# ### Exercise 1: `causal_mask(T, S=None, device=None)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Build the mask for $T$ queries and $S$ keys.
#
# **On paper.** Three queries and five keys. The first query stands at place 5 − 3 + 0 = 2, so it sees the keys 0, 1
# and 2:
#
# $$ \mathbf{M} = \begin{pmatrix} 0 & 0 & 0 & 1 & 1 \\ 0 & 0 & 0 & 0 & 1 \\ 0 & 0 & 0 & 0 & 0 \end{pmatrix} $$
#
# with 1 for True and 0 for False. There cannot be more queries than places, so $S < T$ is an error in the call:
# raise a `ValueError` whose message names an argument and its value, such as `S is 3, which is less than T = 5`.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(causal_mask)


# %% nbgrader={"grade": false, "grade_id": "causal_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_mask(T: int, S: int | None = None, device: torch.device | str | None = None) -> torch.Tensor:
    """Which keys lie after each query: a bool tensor (T, S) on `device`, True = blocked.

    The T queries are the last T of the S places; S is T by default, device is PyTorch's default.
    Raises ValueError if S < T, an S of 0 included; the message names the argument and its value.
    """
    ### BEGIN SOLUTION
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}: the queries are the last T places")
    query_place = torch.arange(S - T, S, device=device)  # (T,)
    key_place = torch.arange(S, device=device)  # (S,)
    return key_place > query_place[:, None]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_causal_mask", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(causal_mask)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(causal_mask)
### END HIDDEN TESTS

# %% [markdown]
# From here on your mask draws the pictures, once it passes; PyTorch's does until then. Each caption says which.

# %% tags=["demo"]
# @title Tables of ticks and crosses for six, two and one query
mask_for = use(causal_mask, torch_fallbacks.causal_mask)
sizes = {f"T = {n}, S = {len(words)}": mask_for(n, len(words)) for n in (6, 2, 1)}
figures.show(
    figures.masks.tables(sizes, words),
    alt="Three tables of ticks and crosses over six keys. Six queries: crosses fill the triangle above "
    "the diagonal. Two queries, river and bank: a single cross, where river meets bank. One query, "
    "bank: no cross at all.",
    caption=f"✓ may be seen, ✗ is blocked. Mask: {mask_for.whose}.",
)

# %% [markdown]
# The tables end together at the right: the smaller ones are the last rows of the large one. Many a library lets them
# *start* together instead. PyTorch's `F.scaled_dot_product_attention(…, is_causal=True)` does, and people have been
# asking for the other way since 2023
# ([pytorch#108108](https://github.com/pytorch/pytorch/issues/108108)). Move the slider to let the sentence grow word
# by word, with one query for the newest word, and see what each of the two lets it see.


# %% tags=["demo"]
# @title Slider: the sentence grows, and one query asks for its newest word
def newest_word(S):
    mask_for = use(causal_mask, torch_fallbacks.causal_mask)
    panels = {"ends aligned": mask_for(1, S), "starts aligned": mask_for(S)[:1]}
    picture = figures.masks.tables(panels, words[:S], per_row=1)
    alt = f"{words[S - 1]} sees all {S} words if the ends are aligned, only The if the starts are."
    return figures.with_alt_text(picture, alt)


sliders.slider(newest_word, strip=[2, 4, 6], S=(1, 6, 1))

# %% [markdown]
# With the starts aligned, every new word sees *The* and nothing else. No error, no NaN, no leak: only a model that
# was good while it was trained and writes nonsense afterwards.
#
# ## 2. Padding
#
# Sentences differ in length, tensors do not. To make a batch, short sentences are filled up with a padding token that
# means nothing. Nobody should listen to it.

# %%
batch = [words, "The boat reached it".split(), "The bank".split()]
lengths = torch.tensor([len(text) for text in batch])  # (B,)

# %% tags=["demo"]
# @title The batch, drawn
figures.show(
    figures.masks.sentences(batch, lengths.tolist(), 6),
    alt="A batch of three sentences in six columns: six words; four words and two pads; two words and four pads.",
    caption="Three sentences, padded to S = 6. Hatched places hold no word.",
)

# %% [markdown]
# Here what is blocked depends on the sentence, not on the query. With $\ell_b$ for the length of sentence $b$,
#
# $$ m_{bj} = \text{True, if } j \ge \ell_b; \quad \text{else False} $$
#
# This is the **padding mask**, a table of shape `(B, S)`. Scores, though, will have the shape `(B, H, T, S)` when there
# are several heads. A mask of shape `(B, 1, 1, S)` fits onto them by broadcasting: the same for all heads, the same for
# all queries.
#
# ### Predict first
#
# `causal` has the shape `(T, T)` and `padding` the shape `(B, 1, 1, T)`. What is the shape of
# `causal | padding`, and what does the `|` say about a cell?
#
# <details><summary>Answer</summary>
#
# `(B, 1, T, T)`: both are stretched to it. A cell is blocked if *either* mask blocks it. That is a good reason for
# True = blocked: reasons to block something add up.
#
# </details>
#
# ### Exercise 2: `padding_mask(lengths, S)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# **On paper.** Lengths (1, 3) and $S = 3$ give the two rows (0, 1, 1) and (0, 0, 0), with 1 for True, in a tensor of
# shape (2, 1, 1, 3). A length may be 0, for a sentence without words: its row is all True.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(padding_mask)


# %% nbgrader={"grade": false, "grade_id": "padding_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def padding_mask(lengths: torch.Tensor, S: int) -> torch.Tensor:
    """Which places hold padding: True at places at or past each length.

    lengths: int64 (B,), each from 0 to S. Returns bool (B, 1, 1, S), on the device of `lengths`.
    """
    ### BEGIN SOLUTION
    place = torch.arange(S, device=lengths.device)  # (S,)
    return (place >= lengths[:, None])[:, None, None, :]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_padding_mask", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(padding_mask)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(padding_mask)
### END HIDDEN TESTS

# %%
mask_for = use(causal_mask, torch_fallbacks.causal_mask)
padding_for = use(padding_mask, lambda lengths, S: torch_fallbacks.padding(batch, S))
both = mask_for(6) | padding_for(lengths, 6)
print("causal | padding:", tuple(both.shape))

# %% tags=["demo"]
# @title Both masks together, for each of the three sentences
figures.show(
    figures.masks.tables({f"length {n}": both[b, 0] for b, n in enumerate(lengths.tolist())}),
    alt="Three tables of six queries and six keys. Length 6: crosses above the diagonal. Length 4: also "
    "the last two columns are all crosses. Length 2: the last four columns are all crosses.",
    caption=f"causal | padding, for the three sentences. Masks: {mask_for.whose}; {padding_for.whose}.",
)

# %% [markdown]
# Look at the last rows of the short sentences: the padding itself still asks questions. That does no harm. Nobody
# listens to its places, and its own outputs are left out of the loss. Blocking those *rows* as well would be a
# mistake, and the next section shows what it leads to.
#
# ## 3. From a mask to weights
#
# Blocked keys should get a weight of exactly 0, and the others should share the whole 1 among them, as if the blocked
# keys had never been there:
#
# $$ a_{ij} = \frac{e^{s_{ij}}}{\sum_{k \text{ not blocked}} e^{s_{ik}}} \text{ if } j \text{ is not blocked}, \quad
#    a_{ij} = 0 \text{ if it is} $$
#
# where $s_{ij}$ is the score of query $i$ with key $j$. The usual trick is to put a score in place of the blocked ones
# that softmax turns into 0.
#
# ### Predict first
#
# One query, four keys with scores (2, 1, −1, 3). The last one is blocked, and it happens to have
# the highest score. Which of these values, put in its place, makes its weight 0: `0`, `-1e-12`, `-1e9`, `-inf`?

# %%
scores = torch.tensor([2.0, 1.0, -1.0, 3.0])
blocked = torch.tensor([False, False, False, True])
for fill in (0.0, -1e-12, -1e9, float("-inf")):
    weights = torch.softmax(torch.where(blocked, fill, scores), dim=-1)
    print(f"{fill:>8g}:  ", *(f"{w:8.4f}" for w in weights.tolist()))

# %% [markdown]
# <details><summary>Answer</summary>
#
# The last two. A score of 0 is not "no score": $e^0 = 1$, which here is worth more than the −1 of the third key. And
# −1e−12 is a typing error for −1e12 that makes almost no difference to 0; it shipped in a well-known implementation
# (see *Seen in the wild*).
#
# Is −1e9 as good as −∞, then? Here it is, since the other scores are small. Among scores of −2e9 it would be the
# greatest of all. In half precision it cannot even be written down: the largest such number is 65504, and PyTorch
# stops with *value cannot be converted to type Half without overflow*
# ([apex#1052](https://github.com/NVIDIA/apex/issues/1052)).
#
# </details>
#
# How negative is negative enough? Lower the fill, and watch what still gets through: above each picture stands the
# greatest share of a row that lies on the future, beyond the orange stairs. Then make the scores five times as large:
# what was enough may no longer be.


# %%
def example_scores(T=6, K=4, seed=4):
    """Scaled scores (T, T) of T random queries with T random keys."""
    generator = torch.Generator().manual_seed(seed)
    query, key = torch.randn(2, T, K, generator=generator)
    return query @ key.T / K**0.5


# %% tags=["demo"]
# @title Slider: the fill and the size of the scores, and what gets through
def filled(fill, times):
    mask = use(causal_mask, torch_fallbacks.causal_mask)(6)
    weights = torch.softmax(torch.where(mask, fill, times * example_scores()), dim=-1)
    through = (weights * mask).sum(-1).max()
    picture = figures.masks.weights({f"on the future: {through:.4f}": (weights, None)}, stairs=True)
    return figures.with_alt_text(
        picture, f"Weights, blocked scores set to {fill}: {through:.4f} of a row above the diagonal."
    )


sliders.slider(
    filled,
    strip={"fill": [0.0, -4.0, float("-inf")]},
    fill=[0.0, -1.0, -2.0, -4.0, -6.0, -8.0, -16.0, -32.0, float("-inf")],
    times=[1, 5, 25],
)

# %% [markdown]
# Only −∞ is enough for all scores: it asks nothing of them.
#
# ### A row with nothing to see
#
# −∞ has its own trap. What if a query may see *nothing*? It happens: a sentence of length 0 in a batch; padding on
# the left, where the first queries find only padding before them; a mask made by hand. Then softmax divides
# $e^{-\infty} + e^{-\infty} + \dots = 0$ by itself.

# %%
nothing = torch.full((3,), float("-inf"))
print(torch.softmax(nothing, dim=-1))

# %% [markdown]
# One NaN in one row: bad, but could one not ignore that row?
#
# ### Predict first
#
# Below, the first of three queries sees nothing. The loss is made from the *other two* only. `W` is
# a weight matrix that all three go through. How much of the gradient of `W` is still usable?

# %%
tokens = torch.tensor([[1.0, 0.5], [0.2, -1.0], [0.7, 0.3]])
bias = torch.zeros(3, 3)
bias[0] = float("-inf")  # the first query sees nothing
W = torch.eye(2, requires_grad=True)

weights = torch.softmax(tokens @ W @ tokens.T + bias, dim=-1)
loss = (weights @ tokens)[1:].square().sum()  # the first row is not in it
loss.backward()
print("loss:", loss.item())
print("gradient of W:", W.grad.tolist())

# %% [markdown]
# <details><summary>Answer</summary>
#
# The loss is a healthy number, and the gradient is NaN from end to end. On the way back the first row receives a
# gradient of 0 and multiplies it by its NaN weights; 0 × NaN is NaN, not 0; and `W` collects it from there. One
# blocked row in one sentence of a batch ruins the whole step, and after it the whole model.
#
# So it is in real code. As late as in PyTorch 2.13 `nn.MultiheadAttention` gives NaN for such a row when you ask for
# its weights, while `F.scaled_dot_product_attention` gave NaN before PyTorch 2.5 and gives 0 since
# ([pytorch#103963](https://github.com/pytorch/pytorch/issues/103963)).
#
# </details>
#
# So somebody must decide what "attend to nothing" means. The course decides: **a fully blocked row has weights of 0,
# an output of 0, and a gradient of 0.** It has seen nothing, it says nothing, it learns nothing.
#
# ### Exercise 3: `masked_softmax(scores, mask)`
#
# *Difficulty ★★★ · about 12 minutes*
#
# Softmax over the last dimension of what is not blocked. The mask fits by broadcasting: scores may be `(B, H, T, S)`
# and the mask `(T, S)` or `(B, 1, 1, S)`. Scores are finite, but may be as large as ±1e15, blocked ones too, and no
# output and no gradient may become NaN. `torch.softmax` is allowed here.
#
# **On paper.** Scores (0, $\ln 3$, 5) with only the last one blocked: weights (1/4, 3/4, 0). The same scores, all
# blocked: (0, 0, 0).

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(masked_softmax)


# %% nbgrader={"grade": false, "grade_id": "masked_softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def masked_softmax(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Softmax over the last dimension of what is not blocked; blocked entries, and fully blocked rows, are 0.

    scores: (..., T, S), finite. mask: bool, broadcasts to scores, True = blocked. Returns (..., T, S).
    """
    ### BEGIN SOLUTION
    empty = mask.all(dim=-1, keepdim=True)  # rows with nothing to see
    seen = scores.masked_fill(mask & ~empty, float("-inf"))  # such rows keep their scores: no NaN anywhere
    return torch.softmax(seen, dim=-1).masked_fill(mask, 0.0)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_masked_softmax", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(masked_softmax)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(masked_softmax)
### END HIDDEN TESTS

# %% [markdown]
# Scores before and after masking, and the weights they become. Below it, the same with a mask that leaves the
# second *the* nothing to see.

# %% tags=["demo"]
# @title Scores, masked scores and weights, side by side
softmax_of = use(masked_softmax, torch_fallbacks.masked_softmax)
mask = use(causal_mask, torch_fallbacks.causal_mask)(6)
scores = sentence.x @ sentence.x.T / 3**0.5
figures.show(
    figures.masks.before_and_after(scores, mask, softmax_of(scores, mask), words),
    alt="Three maps. All 36 scores; the same with the triangle above the diagonal hatched; the weights, "
    "1.00 in the first cell, every row sharing 1 among the cells up to the diagonal.",
    caption=f"Weights: {softmax_of.whose}.",
)
row_blocked = mask | (torch.arange(6) == 3)[:, None]
empty_row = softmax_of(scores, row_blocked)
figures.show(
    figures.masks.before_and_after(scores, row_blocked, empty_row, words),
    alt="The same three maps, with the whole fourth row hatched: there are no weights in it, and the "
    "other rows are as before.",
    caption=f"One row fully blocked. Sums of the rows: {[round(total, 2) for total in empty_row.sum(-1).tolist()]}.",
)

# %% [markdown]
# ## 4. Attention with a mask
#
# All that is left is to put the pieces together. With queries $\mathbf{Q}$ of shape `(T, K)`, keys $\mathbf{K}$
# `(S, K)`, values $\mathbf{V}$ `(S, V)` and a mask $\mathbf{M}$ `(T, S)`, the weights $\mathbf{A}$ and the output are
#
# $$ \mathbf{A} = \text{masked softmax}\left( \frac{\mathbf{Q} \mathbf{K}^\top}{\sqrt{d_k}},\; \mathbf{M} \right),
#    \qquad \text{output} = \mathbf{A} \mathbf{V} $$
#
# *Review:* $d_k$ is the width of one query, the `K` of its shape, and dividing by its root keeps scores of wide queries
# from saturating the softmax (lesson 4). The scale comes before the mask: scaled or not, −∞ is −∞.
#
# ### Exercise 4: `masked_attention(query, key, value, mask=None)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Return the output and the weights. `mask=None` blocks nothing. PyTorch's attention functions are not allowed, your
# own earlier exercises are.
#
# **On paper.** One query (2, 0, 0, 0), so $\sqrt{d_k} = 2$, and two keys (1, 0, 0, 0) and (4, 0, 0, 0) with the values
# (5,) and (7,). The scaled scores are (1, 4). With the second key blocked: weights (1, 0), output (5,). With both
# blocked: weights (0, 0), output (0,).

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(masked_attention)


# %% nbgrader={"grade": false, "grade_id": "masked_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def masked_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scaled dot-product attention, blocked where `mask` is True.

    query: (..., T, K), key: (..., S, K), value: (..., S, V), mask: bool, broadcasts to (..., T, S).
    Returns (output (..., T, V), weights (..., T, S)); both are 0 in rows that are fully blocked.
    """
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (..., T, S)
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ value, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_masked_attention", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(masked_attention)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(masked_attention)
### END HIDDEN TESTS

# %% [markdown]
# ### Bidirectional beside causal
#
# Without a mask every word looks in both directions. That is not wrong; it depends on what you ask of the model. To
# *understand* a finished sentence, as BERT does, one wants both directions; a model of that kind is called an
# **encoder**. To *write* one, there is no other direction yet. A model that writes under a causal mask is called a
# **decoder**, and the large language models are decoders.


# %%
def example_tokens(T=6, D=4, seed=8):
    """A sentence of T random tokens (T, D)."""
    return torch.randn(T, D, generator=torch.Generator().manual_seed(seed))


# %% tags=["demo"]
# @title Weights without a mask and with one
attend = use(masked_attention, torch_fallbacks.masked_attention)
mask = use(causal_mask, torch_fallbacks.causal_mask)(6)
x = sentence.x
panels = {
    "bidirectional": (attend(x, x, x)[1], None),
    "causal": (attend(x, x, x, mask)[1], mask),
}
figures.show(
    figures.masks.weights(panels, words),
    alt="Two maps of weights over the same sentence. Bidirectional: all 36 cells are filled. Causal: the "
    "triangle above the diagonal is hatched, and each row's weights are spread over what is left.",
    caption=f"The same words, without and with a mask. Attention: {attend.whose}.",
)

# %% [markdown]
# In the last row the two maps agree: *bank* sees everything either way. Everywhere else, the weights that stood on
# the future have been shared out among what remains, in proportion.
#
# ## 5. Two opposite conventions
#
# You now hold a boolean mask and PyTorch has two attention functions that take one. They do not mean the same by it.
#
# | | True means |
# |---|---|
# | `nn.MultiheadAttention(…)(…, attn_mask=m)` | **blocked** |
# | `F.scaled_dot_product_attention(…, attn_mask=m)` | **may be seen** |
#
# `nn.Transformer` and this course side with the first, Keras and JAX with the second. Neither function complains about
# the other's masks: the shapes agree and so do the types.

# %%
attend = use(masked_attention, torch_fallbacks.masked_attention)
mask = use(causal_mask, torch_fallbacks.causal_mask)(6)
x = example_tokens()
ours = attend(x, x, x, mask)[0]

functional = F.scaled_dot_product_attention(x[None], x[None], x[None], attn_mask=~mask)[0]  # note the ~

module = nn.MultiheadAttention(embed_dim=4, num_heads=1, bias=False, batch_first=True)
with torch.no_grad():  # projections that change nothing, so that only attention is left
    module.in_proj_weight.copy_(torch.eye(4).repeat(3, 1))
    module.out_proj.weight.copy_(torch.eye(4))
packaged = module(x[None], x[None], x[None], attn_mask=mask)[0][0]

print(f"{attend.whose}, compared with")
print(f"  F.scaled_dot_product_attention(attn_mask=~mask): differs by {(ours - functional).abs().max():.0e}")
print(f"  nn.MultiheadAttention(attn_mask=mask):           differs by {(ours - packaged).abs().max():.0e}")

# %% [markdown]
# ### Predict first
#
# Forget the `~`: hand our mask to `F.scaled_dot_product_attention` as it is. What does *The* see?
# What does *bank* see?

# %% tags=["demo"]
# @title Weights of F.scaled_dot_product_attention, with the ~ and without
mask = use(causal_mask, torch_fallbacks.causal_mask)(6)
x, identity = sentence.x, torch.eye(6)[None]
panels = {
    title: (F.scaled_dot_product_attention(x[None], x[None], identity, attn_mask=m)[0], None)
    for title, m in {"attn_mask=~mask": ~mask, "attn_mask=mask": mask}.items()
}
figures.show(
    figures.masks.weights(panels, words, stairs=True),
    alt="Two maps of the weights that F.scaled_dot_product_attention uses. With ~mask they fill the "
    "triangle below the stairs; with mask they fill the one above, and the last row is empty.",
    caption="Left as it should be; right without the ~. The stairs stand where the future begins.",
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# *The* sees all that it must not, and *bank* sees nothing: its row is fully blocked. Each word sees precisely the
# future. A model that is trained this way reaches 100 % accuracy within minutes, since the answer to place $i$ is the
# very first thing that it sees. And then it cannot write a word.
#
# </details>
#
# ## 6. Is it a bug?
#
# A well-known summarisation model masks its padding like this: first softmax over *everything*, then set the blocked
# weights to 0, then divide each row by what is left of it. A reader opened an issue: the mask comes after the softmax;
# should it not come before? ([pointer-generator#88](https://github.com/abisee/pointer-generator/issues/88))
#
# Everybody has learned that a mask after the softmax is a bug. **Decide before you run the cell: is it one here?**


# %%
def zeroed_and_renormalised(scores, mask):
    weights = torch.softmax(scores, dim=-1) * ~mask
    return weights / weights.sum(dim=-1, keepdim=True)


softmax_of = use(masked_softmax, torch_fallbacks.masked_softmax)
mask = torch.tensor([[False, False, False, True]])
for scores in (torch.tensor([[2.0, 1.0, -1.0, 3.0]]), torch.tensor([[2.0, 1.0, -1.0, 200.0]])):
    print("scores", scores[0].tolist())
    print("   mask first:  ", softmax_of(scores, mask)[0].tolist())
    print("   renormalised:", zeroed_and_renormalised(scores, mask)[0].tolist())

# %% [markdown]
# <details><summary>Answer</summary>
#
# On paper it is no bug. Both weights have the same denominator $Z = \sum_k e^{s_{ik}}$, blocked keys included, and it
# cancels:
#
# $$ \frac{e^{s_{ij}} / Z}{\sum_{k \text{ not blocked}} e^{s_{ik}} / Z}
#    = \frac{e^{s_{ij}}}{\sum_{k \text{ not blocked}} e^{s_{ik}}} $$
#
# The reader found out for himself, and closed the issue with *it turns out that I am wrong*. Without the division it
# *is* a bug: the rows no longer sum to 1, and $Z$ tells every row how large the blocked scores were. It leaks, as you
# are about to see.
#
# In floating point it is fragile, as the second line shows. When the highest score is a blocked one, everything else
# may be rounded to 0, and then 0 is divided by 0. That is why `masked_softmax` must not be written this way: blocked
# scores may be anything.
#
# </details>
#
# ## 7. A field guide to wrong masks
#
# Most wrong masks can be recognised at a glance, once you have seen them. These are weights for the same six words;
# the orange stairs stand where the future begins.

# %%
attend = use(masked_attention, torch_fallbacks.masked_attention)
x, every = sentence.x, torch.ones(6, 6, dtype=torch.bool)
future = every.triu(1)
scores = x @ x.T / x.shape[-1] ** 0.5
guide = {
    "1  as it should be": attend(x, x, x, future)[1],
    "2  diagonal blocked too": attend(x, x, x, every.triu())[1],
    "3  one key too many": attend(x, x, x, every.triu(2))[1],
    "4  inverted": attend(x, x, x, ~future)[1],
    "5  scores × mask": torch.softmax(scores * ~future, -1),
    "6  filled with −2": torch.softmax(torch.where(future, -2.0, scores), -1),
    "7  zeroed after softmax": torch.softmax(scores, -1) * ~future,
    "8  softmax over queries": torch.softmax(scores.masked_fill(future, float("-inf")), 0),
}

# %% tags=["demo"]
# @title The eight masks at work
figures.show(
    figures.masks.weights({title: (w, None) for title, w in guide.items()}, per_row=4, cell=0.4, stairs=True),
    alt="Eight maps of weights. 1: a filled lower triangle. 2: the same without its diagonal, the first "
    "row empty. 3: one more diagonal filled, beyond the stairs. 4: only the upper triangle is "
    "filled. 5 and 6: everything is filled. 7: a lower triangle, paler at the top. 8: a lower "
    "triangle whose columns, not rows, sum to 1.",
    caption=f"Attention: {attend.whose}.",
)

# %% [markdown]
# | | what you see | what it does |
# |---|---|---|
# | 2 | the first row is empty (NaN, in most code), and no word hears itself | no leak; the first word is lost |
# | 3 | a step beyond the stairs | every word sees the next one, which is the answer |
# | 4 | the other half | section 5 |
# | 5 | the same weight all over the future of a row | a score of 0 is a vote |
# | 6 | a faint veil | the vote is smaller, and still there |
# | 7 | a clean triangle, but the top rows are pale | rows sum to less than 1, by an amount that depends on the future |
# | 8 | a clean triangle, columns that sum to 1 | each key shares itself out among queries, later ones included |
#
# Numbers 7 and 8 look clean, and they leak. **A picture of weights cannot show every leak**, for two reasons: a weight
# of 0.0004 is drawn as 0.00, and the future may act through a number that is not in the picture, such as a
# denominator. So do not look at the weights. Ask the function.
#
# ## 8. Catch a leak
#
# Take any function that maps tokens $\mathbf{X}$ of shape `(T, D)` to outputs of the same shape. Call it $f$. It is
# causal if output $i$ stays the same whatever you do to the inputs after $i$; in terms of derivatives,
#
# $$ \frac{\partial f(\mathbf{X})_i}{\partial \mathbf{x}_j} = \mathbf{0} \quad \text{for all } j > i $$
#
# where $\mathbf{x}_j$ is row $j$ of $\mathbf{X}$.
#
# You can test that without knowing what is inside: change a later input, and look whether an earlier output moves. A
# first draft:


# %%
def first_draft(attention, x):
    """Whether another last token changes any output before it."""
    changed = torch.cat([x[:-1], x[-1:] + 1.0])
    return not torch.allclose(attention(changed)[:-1], attention(x)[:-1], atol=1e-5)


print("every place sees the last one:", first_draft(lambda x: x + x[-1], example_tokens()))
print("every place sees itself only: ", first_draft(lambda x: 2 * x, example_tokens()))

# %% [markdown]
# ### Predict first
#
# The draft is right about those two. For which leaking function does it say False?
#
# <details><summary>Answer</summary>
#
# For any in which the leak does not come from the *last* token: for instance one where place 0 sees place 1, and
# nothing else is wrong. You would find the draft blind to mistakes at the start of a text, or in one block of it.
#
# </details>
#
# Three more ideas that seem good, and what is wrong with them:
#
# - *Fill the future with NaN, and see whether it spreads.* It always does. The weight of a blocked key is 0, and
#   0 × NaN is NaN: even an honest function looks guilty.
# - *Sum each output and differentiate the sum.* The parts of an output may move against each other: after a layer
#   norm the sum is 0 whatever happens, and its gradient too.
# - *Cut the sentence off after $i$ and compare.* That asks another question: whether the function behaves the same on
#   a shorter text. It need not even take one.
#
# ### Exercise 5: `sees_the_future(attention, x)`
#
# *Difficulty ★★★ · about 15 minutes*
#
# Find out whether *any* output depends on *any* later input. The function is differentiable, and takes any `x` of the
# given shape, but no other shape. A leak moves some output by at least 1e-4 per unit of input; it may be at one
# place only. Return a plain `True` or `False`, and leave `x` as it was.
#
# **On paper.** $T = 3$, and a function that adds to each token 0.001 times the token after it, where there is one.
# Change token 2 by 1, and output 1 moves by 0.001: `True`. A function that adds the token *before* it: `False`. With
# $T = 1$ there is no later input: `False`, whatever the function does.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(sees_the_future)

# %% nbgrader={"grade": false, "grade_id": "sees_the_future", "locked": false, "schema_version": 3, "solution": true, "task": false}
from collections.abc import Callable


def sees_the_future(attention: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> bool:
    """Whether any output of `attention` depends on a later input.

    attention: maps (T, D) to (T, D), differentiable. x: (T, D), left unchanged.
    """
    ### BEGIN SOLUTION
    jacobian = torch.autograd.functional.jacobian(attention, x.detach())  # (T, D, T, D)
    influence = jacobian.abs().amax(dim=(1, 3))  # (T, T): of input j on output i
    return bool((influence.triu(1) > 1e-5).any())
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_sees_the_future", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(sees_the_future)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(sees_the_future)
### END HIDDEN TESTS

# %% [markdown]
# ### Eight suspects
#
# Now the instrument is in your hands. Here are eight attention functions, A to H. What they do is not shown, and you
# need not know it. Until your detector passes, the first draft takes its place, with its blind spot.

# %%
detector = use(sees_the_future, first_draft)
print("Detector:", detector.whose)
for letter in sample_models.SUSPECTS:
    verdict = "LEAKS" if detector(sample_models.suspect(letter), example_tokens()) else "clean"
    print(f"  {letter}  {verdict}")

# %% [markdown]
# A verdict for the whole is good, and a map is better. To ask about one pair, output $i$ and input $j$, let the rest
# of the sentence stand still and pack the question into a tiny function of two tokens, whose first output must not
# see its second input:


# %%
def just_two(attention, x, i, j):
    """A function of two tokens (2, D): is output i of `attention` moved by input j, all others being held?"""

    def tiny(pair):
        changed = torch.cat([x[:j], pair[1:], x[j + 1 :]])
        return torch.stack([attention(changed)[i], pair[1]])

    return tiny


def who_sees_whom(detector, attention, x):
    """A mask (T, T), measured: True where output i is not moved by input j."""
    places = range(len(x))
    moved = [[detector(just_two(attention, x, i, j), x[[i, j]]) for j in places] for i in places]
    return ~torch.tensor(moved)


# %% [markdown]
# So your detector can draw the table of section 1 for a function that nobody has shown you.

# %% tags=["demo"]
# @title The eight suspects, measured pair by pair
detector = use(sees_the_future, first_draft)
measured = {
    f"suspect {letter}": who_sees_whom(detector, sample_models.suspect(letter), example_tokens())
    for letter in sample_models.SUSPECTS
}
figures.show(
    figures.masks.tables(measured, per_row=4, stairs=True),
    alt="Eight tables of ticks and crosses, measured. A and D: ticks everywhere. B: ticks below the "
    "stairs only. C: two steps beyond the stairs. E: the first three places see one another. F: "
    "ticks on and above the diagonal, none in the last row. G: one step beyond the stairs. H: below "
    "the stairs, but the lower three rows see only the first keys and themselves.",
    caption=f"✓ this output moves when that input is changed. Measured by {detector.whose}.",
)

# %% [markdown]
# Why is the diagonal ticked even for F, which blocks it? Because each output depends on its own token, which asks the
# question. Only where there is no choice, in the last two rows of F, does the question make no difference. Now compare
# with the field guide, and say what is wrong with each, before you unfold the list.
#
# <details><summary>What the suspects do</summary>
#
# | | leaks | what it does |
# |---|---|---|
# | A | yes | lowers blocked scores by 6 instead of removing them: a finite fill. Its weights on the future are below 0.001, and a heat map shows 0.00 |
# | B | no | causal attention as it should be |
# | C | yes | keeps its keys in a buffer with two unused places at the end, and aligns the mask with the end of the *buffer*: $T \ne S$, aligned wrongly |
# | D | yes | softmax first, zeroes afterwards, without renormalising: the future acts through the denominator |
# | E | yes | reads the first three tokens in both directions, then goes on causally. For a prompt that is a design (a *prefix language model*); anywhere else it is a bug |
# | F | yes | the mask inverted |
# | G | yes | the diagonal one place too far to the right |
# | H | no | aligns the later half of its queries with the first keys: too blind rather than too curious |
#
# E is the one that the first draft missed: its last token gives nothing away. H shows what a leak detector *cannot* do.
# It says that nothing shines through, not that enough light comes in.
#
# </details>
#
# To read how one is made: `import inspect; print(inspect.getsource(sample_models.SUSPECTS["A"]))`.
#
# ### What a leak does to learning
#
# Suspect A puts a thousandth of a row on the future, or less. Does that matter? Let us train on text in which nothing
# can be learned: every token is drawn at random from 8, so the best possible loss for the next one is $\ln 8 = 2.08$. A
# model that gets below that line has not learned something about the text. It has found the crack.
#
# *Review:* `F.cross_entropy` is the mean of $-\ln p$, where $p$ is the probability that the model gave the token which
# then came (lesson 2). In each step `loss.backward()` asks for the gradient of every parameter, and the optimizer, here
# Adam (lesson 4), moves each of them a little in the direction in which the loss falls; `zero_grad` forgets the
# gradients of the step before. Lesson 8 takes this loop apart, line by line.


# %%
class Guesser(nn.Module):
    """One attention layer that guesses the next of N tokens at each of T places; `attend` decides who sees whom."""

    def __init__(self, attend, T=12, N=8, D=32):
        super().__init__()
        self.attend = attend
        self.tokens, self.places = nn.Embedding(N, D), nn.Embedding(T, D)
        self.W_q, self.W_k, self.W_v = (nn.Linear(D, D, bias=False) for _ in range(3))
        self.guess = nn.Linear(D, N)

    def forward(self, ids):  # (B, T) -> (B, T, N)
        x = self.tokens(ids) + self.places.weight
        return self.guess(x + self.attend(self.W_q(x), self.W_k(x), self.W_v(x)))


def losses_on_noise(attend, steps=250, seed=0):
    """The loss at each step of training on tokens that are drawn afresh, at random, for every step."""
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    model = Guesser(attend)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        ids = torch.randint(8, (64, 13), generator=generator)
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% [markdown]
# ### Predict first
#
# Three models: one with a right mask, one that sees one key too many, and one whose blocked scores
# are lowered by 6. Where will their losses go?

# %%
attend = use(masked_attention, torch_fallbacks.masked_attention)
mask = use(causal_mask, torch_fallbacks.causal_mask)(12)


def lowered_by_6(query, key, value):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    return torch.softmax(scores - 6.0 * mask, dim=-1) @ value


runs = {
    "right mask": losses_on_noise(lambda q, k, v: attend(q, k, v, mask)[0]),
    "lowered by 6": losses_on_noise(lowered_by_6),
    "one key too many": losses_on_noise(lambda q, k, v: attend(q, k, v, mask.triu(2))[0]),
}

# %% tags=["demo"]
# @title The losses of the three models
figures.show(
    figures.losses(
        runs,
        {"nothing can be learned, ln 8": torch.tensor(8.0).log().item()},
        names="ends",
        ylabel="loss (nats per token)",
    ),
    alt="Loss against training step. With a right mask it stays at 2.08. With one key too many it falls "
    "to 0.2 in a few steps. With blocked scores lowered by 6 it stays at 2.08 for about 80 steps, "
    "then falls below 1.",
    caption=f"Training on random tokens. Right mask and attention: {attend.whose}.",
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# With a right mask nothing can be learned, and nothing is: the loss stays on the line. With one key too many it is
# over in a few steps. (It stops near 0.2, not 0: at the last place the next token is not in the input at all.)
#
# The third curve is the one to remember. For a while the tiny leak seems harmless. But the gradient feels it, and
# raises the scores of the next token until they outweigh the −6. **A leak is not noise. It is the best clue in the
# whole data, and training will find it.** In a real run the loss curve merely looks better than expected.
#
# </details>

# %% [markdown]
# %%answer what_a_mask_hides

# %% [markdown]
# ## 9. Seen in the wild
#
# **A minus sign in the exponent.** A much-read implementation of the transformer took an argument `e=1e-12`, the usual
# tiny number that keeps divisions from failing, and filled its blocked scores with `-e`:
#
# ```diff
# - score = score.masked_fill(mask == 0, -e)
# + score = score.masked_fill(mask == 0, -10000)
# ```
#
# −1e−12 is 0 for all purposes, and a score of 0 is a vote: number 5 of the field guide. Nothing crashed, every weight
# was a proper weight, and it stood there for three years until somebody compared the line with the paper
# ([hyunwoongko/transformer#10](https://github.com/hyunwoongko/transformer/issues/10)).
#
# **100 % accuracy.** A tutorial wrote its own attention layer, in which a mask of 1 meant *blocked*. A reader replaced
# it with the one that the framework meanwhile brought along, in which 1 means *may be seen*, and kept the mask:
#
# ```diff
# - attention = MultiHeadAttention(...)             # the tutorial's: 1 is blocked
# + attention = keras.layers.MultiHeadAttention(...)  # the framework's: 1 may be seen
#   attention(x, x, x, attention_mask=look_ahead_mask)
# ```
#
# From outside: 100 % accuracy and a loss of almost 0, very quickly, and hours of debugging
# ([tensorflow/text#894](https://github.com/tensorflow/text/pull/894)). The same two conventions, inside PyTorch,
# turned a mask round in the notebooks of a book about building language models
# ([LLMs-from-scratch#1061](https://github.com/rasbt/LLMs-from-scratch/issues/1061)).
#
# **A mask after the softmax,** in the most used library of image models. Two lines had changed places, so that the −∞
# went into the *weights*:
#
# ```diff
# - weights = softmax(scores)
#   masked = masked_fill(…, ~mask, -inf)
# + weights = softmax(masked)
# ```
#
# No test failed. Pictures are seldom padded, and whoever had a recent PyTorch went through another branch, which handed
# the mask to `F.scaled_dot_product_attention` and was right. *Weird, wonder how that happened*, wrote the maintainer
# ([pytorch-image-models#2236](https://github.com/huggingface/pytorch-image-models/pull/2236)).
#
# **A perplexity of 5 instead of 16.** A small published language model could be run with either of two attention
# routines. With the default one the causal mask was left out whenever no sentence of the batch was padded, and the
# model scored three times better than it is. The other routine had the mask, which is how it came out
# ([transformers#48748](https://github.com/huggingface/transformers/issues/48748)). Your detector would have said so at
# once.

# %% [markdown]
# ## The model so far
#
# The model that grows from lesson 3 to lesson 8 gets two parts of this lesson: the mask, and the attention that heeds
# it. A model that is to predict the next letter may not be shown it.

# %% tags=["demo"]
# @title The model so far, and where its letters look
from course import staged_model

so_far = staged_model.current_model()
figures.show(
    figures.staged_model.built_so_far(so_far, "then the hen"),
    caption=f"The letters and numbers of lessons 3 and 4. Hatched: blocked. {so_far.whose}",
)

# %% [markdown]
# The first letter has nobody but itself to look at, and each later one has one more. Rows are as they were, up to the
# diagonal, and what was blocked is shared out among the rest. This is a decoder's attention.

# %% [markdown]
# ## Summary
#
# 1. A causal mask blocks every key that lies after its query; the queries are the *last* $T$ of $S$ places.
# 2. A padding mask blocks what is no word; masks are combined with `|`, and broadcast over heads and queries.
# 3. Blocked scores become −∞ *before* the softmax: not 0, not −1e9, not afterwards.
# 4. A fully blocked row has weights 0, output 0 and gradient 0, because somebody decided so and wrote it.
# 5. Whether a function leaks is a question about its derivatives; ask the function, not the picture.
#
# $$ \text{output} = \text{masked softmax}\left( \frac{\mathbf{Q} \mathbf{K}^\top}{\sqrt{d_k}},\; \mathbf{M} \right)
#    \mathbf{V}, \qquad m_{ij} = \text{True, if } j > S - T + i $$
#
# **To read on:**
# [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.3, where the mask comes from;
# [PyTorch's `scaled_dot_product_attention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html),
# whose documentation contains the whole computation in a dozen lines;
# [the discussion of fully blocked rows](https://github.com/pytorch/pytorch/pull/131060) that led to PyTorch's zeros.

# %% [markdown]
# ## Challenge: `sliding_window(T, width, device=None)`
#
# *Challenge ★ · not graded · about 5 minutes*
#
# A challenge is for those who want more. The same judge checks it, no grade knows of it, and you may leave it as it is.
#
# In a long text nearly all that matters is near. Many models therefore let most of their layers see only the last few
# keys: a **sliding window**. Its cost grows with $T$ times the width instead of with $T^2$; what is further back comes
# through the layers, a window at a time.
#
# Return the mask `(T, T)`, boolean, True = blocked: query $i$ sees the `width` keys that end with its own, $i - width +
# 1, \dots, i$, as far as they exist, and nothing after itself. Raise a `ValueError` that names `width` if it is below 1.
#
# **On paper.** Five letters, width 2. The first letter sees itself, every other one itself and the letter before: how
# many cells are open? (Nine.)

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(sliding_window)


# %%
def sliding_window(T: int, width: int, device: torch.device | str | None = None) -> torch.Tensor:
    """A causal mask (T, T), bool, True = blocked, through which each query sees the last `width` keys, its own included.

    ValueError if width < 1.
    """
    raise NotImplementedError  # take this line out, and write yours


# %% tags=["demo"]
check(sliding_window)

# %% tags=["demo"]
progress()
