# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 7: Rotary positions
#
# *Dog bites man* and *man bites dog* hold the same three words. You know who was bitten; attention as you have built it
# does not. Unless a mask gives something away, it hands every word exactly the same output in both sentences. **How can
# attention know where a word stands, and how far one word is from another, without having learned every pair of places
# one by one?**
#
# First you will build a test that finds out whether a function sees the order of its input, and catch attention being
# blind. Then you cure it with **rotary position embeddings**, RoPE for short, which most of today's language models use:
# every query and every key is turned by an angle that grows with its position. You will prove, on paper and to the last
# digits that a float has, that a score then depends on nothing but the gap between two positions. At the end stands a
# self-attention module that can tell dog from man.
#
# **You need** scaled attention (lesson 4) and heads (lesson 6); from school, sine, cosine, and that a full turn is
# $2\pi$ radians. Nothing from your earlier notebooks has to be copied.
#
# **Time:** about 75 minutes
#
# | letter | meaning |
# |---|---|
# | $B$, $H$ | the batch: how many sentences at once; the number of heads |
# | $T$ | how many tokens a sentence has |
# | `D` | in shapes, the width of the model: how many numbers describe a token; $d$ in formulas |
# | `K` | in shapes, the width of one head; in formulas $d_k = d / H$ |
# | `dim` | the width of whatever is rotated: `K` once heads are split |
# | $\mathbf{X}$, $\mathbf{q}$, $\mathbf{k}$ | a sentence `(T, D)`, its rows the tokens; a query and a key `(K,)` |
# | $m$, $n$ | positions: $m$ of a query, $n$ of a key |
# | `...` | any leading dimensions, such as a batch and heads; there may be none |

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, progress, sentence, sliders, use
from torch import nn

begin("07_rope")

# %% [markdown]
# ## Review: three questions on what came before
#
# *Review* · about 3 minutes. Answer each in your head or on paper before you unfold its answer. Where one will not
# come back, look at the summary of the lesson that it is from.
#
# **1.** `d_model` is 512 and there are 8 heads. How wide is a head, and by what are its scores divided?
#
# <details><summary>Answer</summary>
#
# 64 wide, so by $\sqrt{64} = 8$: the width of the head, not of the model.
#
# </details>
#
# **2.** How many weights do $W_q$, $W_k$, $W_v$ and $W_o$ have together, for `d_model` = 512? Does it matter how many
# heads there are?
#
# <details><summary>Answer</summary>
#
# $4 \cdot 512^2$, about a million, whatever the number of heads: they share out the same matrices.
#
# </details>
#
# **3.** `x` is `(2, 10, 512)`. What is its shape after `split_heads(x, 8)`, and which step comes after `reshape`?
#
# <details><summary>Answer</summary>
#
# `(2, 8, 10, 64)`: reshaped to `(2, 10, 8, 64)` first, and then dimensions 1 and 2 change places. A `view` straight
# to the last shape mixes tokens with heads.
#
# </details>

# %%
from functools import partial

# %% [markdown]
# ## 1. Attention does not see the order
#
# Here is self-attention at its plainest, on one sentence $\mathbf{X}$ of shape `(T, D)`: queries, keys and values are
# the words themselves.
#
# $$ \operatorname{attend}(\mathbf{X}) =
#    \operatorname{softmax}\!\left( \frac{\mathbf{X} \mathbf{X}^\top}{\sqrt{d}} \right) \mathbf{X} $$
#
# Look for the place where the position of a word comes in. There is none. Word $i$ gets an average over all words, with
# weights that depend on *which* words there are. A sum does not care in what order its terms come.
#
# Take a sentence, and scramble it. A **permutation** is a list of places: `permutation[t]` says which of the old words
# stands at place $t$ now, and `X[permutation]` is the scrambled sentence.


# %%
def plain(x):
    """Self-attention without positions: x (T, D) -> output (T, D)."""
    return plain_weights(x) @ x


def plain_weights(x):
    """The weights of `plain`, (T, T)."""
    return torch.softmax(x @ x.mT / x.shape[-1] ** 0.5, dim=-1)


generator = torch.Generator().manual_seed(7)
words, X = sentence.words, sentence.x  # X: (T, D)
permutation = torch.tensor([3, 5, 1, 0, 4, 2])
scrambled_words = [words[i] for i in permutation.tolist()]
print(" ".join(words), " →  ", " ".join(scrambled_words))

# %% [markdown]
# ### Predict first
#
# In the sentence as it was, *boat* looks at the six words with certain weights, and an output
# comes of it. What happens to the weights that *boat* gives in the scrambled sentence, and what to its output?
#
# <details><summary>Answer</summary>
#
# It gives every word the weight that it gave before; the weights stand in other columns, because the words do. And the
# output of *boat* is the same vector, number for number, but for rounding. It now stands in row 2, where *boat*
# stands.
#
# </details>

# %% tags=["demo"]
# @title The weights of both sentences
panels = {"as it was": plain_weights(X), "scrambled": plain_weights(X[permutation])}
figures.show(
    figures.rope.maps(panels, {"as it was": words, "scrambled": scrambled_words}),
    caption="Find the row of boat in both maps, and compare it word by word.",
)

# %%
before, after = plain(X)[words.index("boat")], plain(X[permutation])[scrambled_words.index("boat")]
print("The output of boat differs by at most", f"{(before - after).abs().max().item():.0e}")

# %% [markdown]
# The same numbers stand at other places. So a scrambled sentence gives scrambled outputs, and nothing else happens. For
# a function $f$ from `(T, D)` to `(T, D)` and a permutation $\sigma$ let us call that **order-blind**:
#
# $$ f(\mathbf{X}[\sigma]) = f(\mathbf{X})[\sigma] $$
#
# Mathematicians say *permutation equivariant*. Mind where the $\sigma$ stands on the right: the outputs are not the
# same as before, they have moved along with their words.
#
# ### Exercise 1: `is_order_blind(attention, x, permutation)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# Write a test. It gets a function `attention`, an input `x` of shape `(T, D)` and a permutation, int64 of shape `(T,)`,
# and says whether permuting the input *only* permutes the output, for this input and this permutation. Computers round,
# and sums in another order round differently: differences under 1e-5 are rounding. Real ones are above 1e-2 somewhere,
# if perhaps at one place only.
#
# **On paper.** Three tokens of one number each, 2, 4 and 9, and the permutation $(1, 2, 0)$, which makes them 4, 9, 2.
#
# | function | $f(\mathbf{X})$ | $f(\mathbf{X})[\sigma]$ | $f(\mathbf{X}[\sigma])$ | order-blind? |
# |---|---|---|---|---|
# | the mean of all tokens, for each | 5, 5, 5 | 5, 5, 5 | 5, 5, 5 | yes |
# | each token minus the mean | −3, −1, 4 | −1, 4, −3 | −1, 4, −3 | yes |
# | the mean of what came up to it | 2, 3, 5 | 3, 5, 2 | 4, 6.5, 5 | no |

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(is_order_blind)


# %% nbgrader={"grade": false, "grade_id": "is_order_blind", "locked": false, "schema_version": 3, "solution": true, "task": false}
def is_order_blind(attention, x: torch.Tensor, permutation: torch.Tensor) -> bool:
    """Whether permuting the input only permutes the output.

    attention: a function from (T, D) to (T, D); x: (T, D); permutation: int64 (T,).
    Differences under 1e-5 are rounding, real ones are above 1e-2. Returns a plain bool.
    """
    ### BEGIN SOLUTION
    moved, kept = attention(x[permutation]), attention(x)[permutation]  # both (T, D)
    return bool((moved - kept).abs().max() < 1e-4)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_is_order_blind", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(is_order_blind)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(is_order_blind)
### END HIDDEN TESTS

# %% [markdown]
# Put your test to use on four functions. Until it passes, a rough one stands in, which only asks whether the output of
# the first token turns up anywhere in the permuted result.


# %%
def first_output_turns_up(attention, x, permutation):
    """Rough: whether what the first token got is among the outputs for the permuted input."""
    return bool((attention(x[permutation]) - attention(x)[0]).abs().amax(-1).min() < 1e-4)


def causal(x):
    """`plain` with a causal mask: word i sees the words 0 … i."""
    future = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
    return torch.softmax((x @ x.mT / x.shape[-1] ** 0.5).masked_fill(future, -torch.inf), dim=-1) @ x


places = torch.randn(6, 3, generator=generator)  # (T, D): a vector for each place
blind = use(is_order_blind, otherwise=first_output_turns_up)
for name, function in {
    "plain self-attention": plain,
    "its outputs, doubled": lambda x: 2 * plain(x),
    "with a causal mask": causal,
    "a vector added for each place": lambda x: plain(x + places),
}.items():
    print(f"{name:30} order-blind: {blind(function, X, permutation)}")
print("Judged by", blind.whose)

# %% [markdown]
# Two ways out already. A causal mask (*review* of lesson 5) gives a little away, since each word sees only those that
# stand before it. And the transformer of 2017 added a vector to each word that depended on its place, learned or made
# of sine waves. Both tell a word *where* it is. What matters in language is mostly *how far apart* two words are: an
# adjective belongs to the noun behind it, be it at place 3 or at place 3000. With added vectors a model has to work
# that out for every pair of places anew, and places that it never met in training mean nothing to it.
#
# So here is the wish: **the score of a query at position $m$ with a key at position $n$ should depend on the two
# vectors and on the gap $n - m$, and on nothing else.**

# %% [markdown]
# ## 2. Turn a vector by its position
#
# Begin with vectors of two numbers. They can be drawn, and they can be turned. Turning $(x_0, x_1)$ counter-clockwise
# by an angle $\alpha$ gives
#
# $$ \begin{pmatrix} \cos\alpha & -\sin\alpha \\ \sin\alpha & \cos\alpha \end{pmatrix}
#    \begin{pmatrix} x_0 \\ x_1 \end{pmatrix} =
#    \begin{pmatrix} x_0 \cos\alpha - x_1 \sin\alpha \\ x_0 \sin\alpha + x_1 \cos\alpha \end{pmatrix} $$
#
# To remember where the minus stands, turn $(1, 0)$ a little: it must become $(\cos\alpha, \sin\alpha)$, both positive.
# Call the matrix $\mathbf{R}(\alpha)$. The idea of RoPE is to take the *position* for the angle: a vector at position
# $m$ is turned by $m$ radians.


# %%
def rotation(angle):
    """The matrix (2, 2) that turns a vector counter-clockwise by `angle` radians: rotation(angle) @ vector."""
    cos, sin = math.cos(angle), math.sin(angle)
    return torch.tensor([[cos, -sin], [sin, cos]])


vector = torch.tensor([2.0, 0.5])

# %% tags=["demo"]
# @title One vector at six positions
six = torch.stack([rotation(position) @ vector for position in range(6)])  # (6, 2)
figures.show(
    figures.rope.turned(six, range(6)),
    caption="One vector at the positions 0 to 5. Each step turns it by one radian, 57 degrees; its length stays what it was.",
)

# %% [markdown]
# Now let a query stand at position $m$ and a key at position $n$, both turned, and take their dot product. Move the
# sliders. What must you do to change the score, and what can you do without changing it?


# %%
def query_and_key(query_at, key_at):
    """A picture of a query and a key, each turned by its position."""
    query, key = torch.tensor([1.5, 0.4]), torch.tensor([1.0, 0.9])
    return figures.rope.pair(rotation(query_at) @ query, rotation(key_at) @ key, (query_at, key_at))


# %% tags=["demo"]
# @title Sliders: the positions of a query and of a key
sliders.slider(
    query_and_key,
    start={"query_at": 1, "key_at": 2},
    strip=[{"query_at": m, "key_at": n} for m, n in ((1, 2), (4, 5), (11, 12), (1, 3))],
    query_at=(0, 12, 1),
    key_at=(0, 12, 1),
)

# %% [markdown]
# In the first three pictures of the strip the gap is 1. The whole picture has been turned, like a plate, and a dot
# product does not notice: it is made of two lengths and the angle *between* the vectors. In the fourth the gap is 2;
# the angle between them is another, and so is the score.

# %% [markdown]
# ## 3. Many clocks
#
# One turning pair is not enough. It is a clock with a single hand.
#
# ### Predict first
#
# Two tokens stand 44 positions apart. Why does our pair of numbers hold them for neighbours?
#
# <details><summary>Answer</summary>
#
# A full turn is $2\pi \approx 6.28$ radians, and $44 / 2\pi \approx 7.003$: after 44 positions the hand has been round
# seven times and stands where it stood, to a fiftieth of a radian. A gap of 44 looks like a gap of 0.
#
# </details>
#
# Clockmakers met this problem long ago, and added hands. A second hand tells neighbouring moments apart, and is useless
# for hours; an hour hand is the reverse; together they name every second of the day. So cut a vector of `dim` numbers
# into pairs of neighbours, $(x_0, x_1), (x_2, x_3), \dots$, and turn each pair at a pace of its own. Pair $i$, counted
# from 0, turns by
#
# $$ \theta_i = \text{base}^{-2i/\text{dim}}, \qquad i = 0, 1, \dots, \tfrac{\text{dim}}{2} - 1 $$
#
# radians for each position; these are the **frequencies**. The first is $\theta_0 = 1$ whatever the base is, the others
# fall by the same factor from pair to pair, and the last comes close to $1/\text{base}$. The usual base is 10,000.
#
# ### Exercise 2: `rope_frequencies(dim, base=10000.0)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# **On paper.** For `dim = 4` there are two pairs: $\theta_0 = 10000^{0} = 1$ and $\theta_1 = 10000^{-2/4} = 1/100$. For
# `dim = 8` and `base = 16` the exponents are $0, -\tfrac14, -\tfrac12, -\tfrac34$, the frequencies $1, \tfrac12,
# \tfrac14, \tfrac18$.
#
# An odd `dim` would leave one number without a partner. Raise a `ValueError` then, and name in its message the argument
# that was wrong, and its value.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(rope_frequencies)


# %% nbgrader={"grade": false, "grade_id": "rope_frequencies", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rope_frequencies(dim: int, base: float = 10000.0) -> torch.Tensor:
    """By how many radians each pair turns for each position: base ** (-2 * i / dim) for pair i = 0, 1, …

    Returns (dim // 2,), float32. Raises ValueError if dim is odd.
    """
    ### BEGIN SOLUTION
    if dim % 2:
        raise ValueError(f"dim is {dim}, and must be even")
    exponents = -torch.arange(0, dim, 2, dtype=torch.float32) / dim
    return base**exponents
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_rope_frequencies", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(rope_frequencies)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(rope_frequencies)
### END HIDDEN TESTS

# %% [markdown]
# Here are the clocks of a vector of eight numbers. Until your function passes, the clocks of a simpler maker stand in:
# from 1 down to a thousandth by equal factors, however many there are.


# %%
def down_to_a_thousandth(dim, base=10000.0):
    """Stand-in: the last pair turns a thousand times as slowly as the first, whatever `dim` and `base` are."""
    return torch.logspace(0, -3, dim // 2)


speeds = use(rope_frequencies, otherwise=down_to_a_thousandth)

# %% tags=["demo"]
# @title The clocks of four pairs
figures.show(
    figures.rope.clocks(speeds(8), [0, 1, 10, 100, 1000]),
    caption=f"The hands of four pairs at five positions; all start at the right. The speeds are from {speeds.whose}.",
)

# %%
rounds = 2 * math.pi / speeds(64)  # (32,)
print(f"With 64 numbers, once round takes from {rounds[0]:.1f} positions to {rounds[-1]:,.0f}.")

# %% [markdown]
# Read a row: it is a position, written in hands. Read a column downwards: the hand on the left has lost count after a
# few positions, the one on the right is still on its first round. As long as the slowest hand has not been round once,
# no row of hands comes back.

# %% [markdown]
# ## 4. Turn all pairs at once
#
# Now put it together. A vector $\mathbf{x}$ of `dim` numbers at position $m$ becomes
#
# $$ \bigl(x_{2i},\, x_{2i+1}\bigr) \;\longmapsto\;
#    \bigl(x_{2i} \cos m\theta_i - x_{2i+1} \sin m\theta_i,\;\; x_{2i} \sin m\theta_i + x_{2i+1} \cos m\theta_i\bigr)
#    \qquad \text{for every pair } i . $$
#
# All of it is one big rotation, $\mathbf{R}_m \mathbf{x}$, where $\mathbf{R}_m$ holds the small matrices
# $\mathbf{R}(m\theta_0), \mathbf{R}(m\theta_1), \dots$ along its diagonal. Nobody builds that matrix: most of it is 0.
#
# ### Exercise 3: `apply_rope(x, positions, base=10000.0)`
#
# *Difficulty ★★★ · about 15 minutes*
#
# `x` has the shape `(..., T, dim)`: any number of leading dimensions, none included. `positions`, of shape
# `(T,)`, says where each of the $T$ vectors stands. They need not be $0, 1, 2, \dots$: they may come in any order, with
# gaps, twice, and as fractions, and go to about 10,000. Angles in float32 are exact enough, for float64 inputs too; the
# result has the dtype of `x`.
#
# **On paper.** One vector $(1, 2, 3, 4)$, with base 4. The frequencies are $1$ and $4^{-1/2} = \tfrac12$. At the
# position $\pi$ the first pair turns by $\pi$, half a turn: $(1, 2)$ becomes $(-1, -2)$. The second turns by $\pi/2$, a
# quarter, which makes $(x, y)$ into $(-y, x)$: so $(3, 4)$ becomes $(-4, 3)$. The result is $(-1, -2, -4, 3)$.
#
# You may call your `rope_frequencies`; if it is wrong, that does not cost you here again.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(apply_rope)


# %% nbgrader={"grade": false, "grade_id": "apply_rope", "locked": false, "schema_version": 3, "solution": true, "task": false}
def apply_rope(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    """Turn every vector by its position: pair i, (x[..., 2i], x[..., 2i+1]), by position * base ** (-2 * i / dim).

    x: (..., T, dim) with an even dim; positions: (T,), whole numbers or fractions.
    Returns a new tensor with the shape and dtype of x.
    """
    ### BEGIN SOLUTION
    frequencies = rope_frequencies(x.shape[-1], base).to(x.device)
    angles = positions[:, None] * frequencies  # (T, dim // 2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]  # (..., T, dim // 2) each
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)  # (..., T, dim // 2, 2)
    return turned.flatten(-2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_apply_rope", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(apply_rope)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(apply_rope)
### END HIDDEN TESTS

# %% [markdown]
# From here on `rotate` is your function once it passes. Until then it is a poor relation of RoPE, which turns the first
# pair only and leaves all others alone.


# %%
def first_pair_only(x, positions, base=10000.0):
    """Stand-in: the first two numbers of each vector turned by its position, the others as they are."""
    turns = torch.stack([rotation(position) for position in positions.tolist()]).to(x)  # (T, 2, 2)
    first = torch.einsum("tij,...tj->...ti", turns, x[..., :2])
    return torch.cat([first, x[..., 2:]], dim=-1)


rotate = use(apply_rope, otherwise=first_pair_only)

# %% [markdown]
# ## 5. Only the gap counts
#
# Was the wish granted? On paper it takes two lines. A rotation is undone by turning back, which is also what
# transposing its matrix does: $\mathbf{R}(\alpha)^\top = \mathbf{R}(-\alpha)$. And two rotations one after the other
# add up: $\mathbf{R}(\alpha) \mathbf{R}(\beta) = \mathbf{R}(\alpha + \beta)$. So, for a query $\mathbf{q}$ at $m$ and a
# key $\mathbf{k}$ at $n$,
#
# $$ (\mathbf{R}_m \mathbf{q})^\top (\mathbf{R}_n \mathbf{k}) =
#    \mathbf{q}^\top \mathbf{R}_m^\top \mathbf{R}_n\, \mathbf{k} = \mathbf{q}^\top \mathbf{R}_{n-m}\, \mathbf{k} . $$
#
# Both positions are gone; only $n - m$ is left. Now by measurement. `q` and `k` are two random vectors of 64 numbers,
# the same ones in every line.

# %%
generator = torch.Generator().manual_seed(1)
q, k = torch.randn(2, 64, generator=generator)


def score(query_at, key_at):
    """The score of q at one position with k at another, a plain number."""
    turned_q = rotate(q[None], torch.tensor([query_at]))  # (1, 64)
    turned_k = rotate(k[None], torch.tensor([key_at]))
    return (turned_q @ turned_k.mT).item()


print(f"Rotated by {rotate.whose}\n\nthe same gap:")
for m, n in ((1, 4), (10, 13), (50, 53), (100, 103), (4000, 4003), (9000, 9003)):
    print(f"  query at {m:4}, key at {n:4}, gap {n - m:2}: score {score(m, n):8.4f}")
print("\nother gaps:")
for m, n in ((1, 1), (1, 2), (1, 6), (4, 1), (10, 40)):
    print(f"  query at {m:4}, key at {n:4}, gap {n - m:2}: score {score(m, n):8.4f}")

# %% [markdown]
# The first six agree, but for the last digits of those far out. (The stand-in turns by cosines in double precision, and
# knows no such difference.) Is that rounding, or are we cheated? An angle near 9,000 radians in float32 has a spacing
# of $2^{-10} \approx 0.001$ to the next one that can be written down. So each pair may be off by about that angle, and
# the score by at most $0.001 \cdot \|\mathbf{q}\|\,\|\mathbf{k}\|$ for each of the two. That is a bound one can assert;
# and since it grows with the position, the measured error should grow with it, and stay below.

# %%
reach = (q.norm() * k.norm()).item()  # |q| |k|, the largest score that two vectors of these lengths can have
for start in (10, 50, 100, 1000, 4000, 9000):
    error = abs(score(start, start + 3) - score(1, 4))
    spacing = 2.0 ** (math.floor(math.log2(start + 3)) - 23)  # from one float32 number to the next, at this size
    assert error <= 2 * spacing * reach + 1e-6 * reach
    print(f"query at {start:4}: off by {error / reach:.0e} of |q| |k|; a step of float32 there is {spacing:.0e}")

# %% [markdown]
# So it holds, to rounding, at positions in the thousands. Now look at all pairs of positions at once.
#
# ### Predict first
#
# In a table with the position of the query downwards and of the key across, where do equal numbers stand?
#
# <details><summary>Answer</summary>
#
# Along the diagonals from top left to bottom right: one step down and one to the right leaves the gap as it is.
#
# </details>


# %%
def score_table(rotate_query, rotate_key, T=8):
    """Scores (T, T) of one query with one key: row m has the query at position m, column n the key at position n."""
    query, key = torch.tensor([[2.0, 0.5, 0.6, 0.9], [0.8, 1.2, 0.9, -0.7]])
    return rotate_query(query.repeat(T, 1)) @ rotate_key(key.repeat(T, 1)).mT


def counted(x):
    """x (T, dim) rotated by the positions 0 … T-1."""
    return rotate(x, torch.arange(x.shape[-2]))


# %% tags=["demo"]
# @title The scores at all pairs of positions
figures.show(
    figures.rope.score_tables({"query and key rotated": score_table(counted, counted)}),
    caption=f"One query, one key, at 8 times 8 positions. Rotated by {rotate.whose}.",
)

# %% [markdown]
# Every diagonal is constant. And here is the score against the gap, for one query and one key starting at three very
# different places. If only the gap counts, the three curves lie on each other.

# %% tags=["demo"]
# @title The score against the gap, around three positions
gaps = torch.arange(-40, 41)
curves = {}
for start in (100, 1000, 9000):
    around = rotate(k.expand(len(gaps), 64), start + gaps)  # (81, 64): the key at each position around the query's
    curves[f"query at {start}"] = around @ rotate(q[None], torch.tensor([start]))[0]
figures.show(
    figures.curves(gaps, curves, xlabel="gap n − m", ylabel="score"),
    alt="Three curves of the score against the gap, from -40 to 40, for a query at 100, at 1000 and at 9000. They lie on "
    f"each other: they differ by {(curves['query at 100'] - curves['query at 9000']).abs().max():.3f} at most.",
    caption=f"The score of one query with one key against the gap. Rotated by {rotate.whose}.",
)

# %% [markdown]
# The curve is not symmetric: a key three places *after* the query is something else than one three places *before* it.
# And it is not a bump at 0. Which gap a head likes best is in $\mathbf{q}$ and $\mathbf{k}$, and so in the weights that
# make them, which are learned.
#
# ### A picture that catches mistakes
#
# The table above is a test. It needs no reference implementation, since you know beforehand what it must look like.
# Here are six tables. In one all is well; in the others
#
# - only the queries are rotated,
# - queries are rotated one way and keys the other,
# - nothing is rotated, or each *head* by its number rather than each word by its place,
# - the positions, 1000 to 1007 here, were kept in half precision (bfloat16),
# - each number was paired with its partner in the *other half* of the vector, instead of its neighbour.
#
# ### Predict first
#
# Which is which? And which two can this test not tell apart?


# %% tags=["demo"]
# @title Six tables, A to F
def halves_paired(x):
    """x (T, dim) rotated by the positions 0 … T-1, in pairs of numbers that are half a vector apart."""
    mixed = x.unflatten(-1, (2, -1)).mT.flatten(-2)  # neighbours are now what were partners in the halves
    return counted(mixed).unflatten(-1, (-1, 2)).mT.flatten(-2)


coarse = torch.arange(1000, 1008).bfloat16().float()
tables = {
    "A": score_table(counted, lambda x: x),
    "B": score_table(lambda x: rotate(x, coarse), lambda x: rotate(x, coarse)),
    "C": score_table(halves_paired, halves_paired),
    "D": score_table(lambda x: x, lambda x: x),
    "E": score_table(counted, lambda x: rotate(x, -torch.arange(8))),
    "F": score_table(counted, counted),
}
figures.show(figures.rope.score_tables(tables), caption=f"Six tables, one of them right. Rotated by {rotate.whose}.")

# %% [markdown]
# <details><summary>Answer</summary>
#
# **A**: only the queries are rotated. The key's position changes nothing, so each row is constant. **B**: half
# precision. Between 512 and 1024 bfloat16 knows every fourth number only, so neighbours fall together and the table
# consists of blocks. **C**: the other half. **D**: nothing is rotated; all scores are one number. **E**: opposite
# directions. What counts is the *sum* $m + n$, so the other diagonals are constant. **F** is right.
#
# C and F both pass. Pairing with the other half is a perfectly good rotation; it is merely another one. No property
# will tell you that your weights were made for it, and section 6 shows what to do about that.
#
# </details>

# %% [markdown]
# ## 6. Two layouts in memory
#
# Which numbers make a pair is a convention, and there are two. The paper, Meta's own code for Llama, and this course
# pair **neighbours**: $(x_0, x_1), (x_2, x_3), \dots$ The transformers library, and most models published with it,
# pair the **halves**: $(x_0, x_{\text{dim}/2}), (x_1, x_{\text{dim}/2+1}), \dots$, since two halves are cut and
# joined by simpler code.
#
# Neither is wrong, and neither is better. But weights that were trained with one are useless in the other, and nothing
# tells you: all shapes fit. People have asked which of the two is the bug
# ([huggingface/transformers#25199](https://github.com/huggingface/transformers/issues/25199)). The answer is that the
# library reorders the rows of the weights when it loads them. That is what you will do now.

# %% tags=["demo"]
# @title Eight numbers in both layouts
figures.show(
    figures.rope.layouts(8),
    caption="Eight numbers in both layouts. Each pair keeps its two numbers, its order and its clock; only the places differ.",
)

# %% [markdown]
# ### Exercise 4: `to_half_split(x)`
#
# *Difficulty ★☆☆ · about 3 minutes*
#
# Reorder the last dimension from neighbours to halves: the first members of all pairs, in order, then all second
# members.
#
# **On paper.** $(x_0, x_1, x_2, x_3, x_4, x_5)$ becomes $(x_0, x_2, x_4,\; x_1, x_3, x_5)$. (With four numbers, there
# and back are the same; try your function on six.)

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(to_half_split)


# %% nbgrader={"grade": false, "grade_id": "to_half_split", "locked": false, "schema_version": 3, "solution": true, "task": false}
def to_half_split(x: torch.Tensor) -> torch.Tensor:
    """Reorder neighbouring pairs into halves: (x0, x2, …, x1, x3, …) along the last dimension.

    x: (..., dim) with an even dim. Returns a tensor of the same shape and dtype.
    """
    ### BEGIN SOLUTION
    return torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_to_half_split", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(to_half_split)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(to_half_split)
### END HIDDEN TESTS

# %% [markdown]
# Below is rotation in the other layout, in the form in which most models have it: `x * cos + partner * sin`. It asks
# your own function for the cosines and sines: the pair $(1, 0)$, turned, *is* $(\cos\alpha, \sin\alpha)$. Then the
# claim: reordering and rotating in halves is the same as rotating neighbours and reordering.


# %%
def rotate_halves(x, positions, base=10000.0):
    """RoPE in the other layout: number i is paired with number i + dim // 2. x: (..., T, dim)."""
    half = x.shape[-1] // 2
    probe = torch.tensor([1.0, 0.0]).repeat(half).expand(len(positions), -1).to(x)
    turned = rotate(probe, positions, base)  # (T, dim): cos, sin, cos, sin, …
    cos, sin = turned[:, 0::2].repeat(1, 2), turned[:, 1::2].repeat(1, 2)  # (T, dim) each
    partner = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
    return x * cos + partner * sin


def eight_numbers_only(x):
    """Stand-in: the reordering for vectors of eight numbers, and for no others."""
    return x[..., [0, 2, 4, 6, 1, 3, 5, 7]]


halve = use(to_half_split, otherwise=eight_numbers_only)

x = torch.randn(2, 5, 8, generator=generator)  # (..., T, dim)
positions = torch.tensor([3, 0, 17, 5, 250])
torch.testing.assert_close(rotate_halves(halve(x), positions), halve(rotate(x, positions)), rtol=0, atol=1e-3)
mixed_up = (rotate_halves(x, positions) - rotate(x, positions)).abs().max()
print(f"Reordered, the two layouts agree ({halve.whose}). Mixed up, they differ by as much as {mixed_up:.1f}.")

# %% [markdown]
# A dot product does not care in which order its terms are added. So if queries *and* keys are reordered alike, every
# score stays what it was. And a projection's output is reordered by reordering the **rows** of its weight. In the next
# section you will move the weights of a whole attention module in this way.

# %% [markdown]
# ## 7. Self-attention that sees the order
#
# The module is the one of lesson 6 with two changes. Queries, keys and values come from **one** packed layer, `W_qkv`,
# with the rows of the queries first, then those of the keys, then those of the values. And after the heads are split,
# queries and keys are rotated.
#
# - **Split first, then rotate.** A head is a vector of `K` numbers and has all the clocks. Rotated before the split,
#   the first head would get the fast ones and the last head the slow ones.
# - **The values are not rotated.** Positions decide who looks where. What is then passed on is the value itself: a word
#   means the same at place 3 and at place 3000.
# - **Positions** are $0, 1, \dots, T - 1$ unless they are given. They are given, for example, when a text is continued:
#   a token that comes after 500 others stands at 500, even if it is handed over alone.
#
# ### Exercise 5: `RotarySelfAttention(d_model, n_heads, base=10000.0)`
#
# *Difficulty ★★★ · about 15 minutes*
#
# Two layers without bias, `W_qkv` from `D` to `3D` and `W_o` from `D` to `D`. As in lesson 6, `__init__` makes the
# parts and `forward` uses them; write and try them one after the other. `forward(x, positions=None, mask=None)` takes
# `x` of shape `(B, T, D)` and returns the output, `(B, T, D)`, and the weights, `(B, H, T, T)`. *Review:* `mask` is
# boolean, `True` is blocked, and broadcasts to the shape of the weights; a row that is blocked throughout has weights 0
# and output 0, never NaN. You may call your `apply_rope`. Not allowed, as in lesson 6, are
# `F.scaled_dot_product_attention`, `nn.MultiheadAttention` and `F.multi_head_attention_forward`.
#
# **On paper.** `D = 2`, one head, all matrices the identity, and the same word twice:
# $\mathbf{x}_0 = \mathbf{x}_1 = (2, 0)$. At position
# 0 nothing turns; at position 1 the word becomes $(2\cos 1, 2\sin 1)$. Each word scores $4/\sqrt2$ with itself and
# $4\cos(1)/\sqrt2$ with the other, so the weights are $0.79$ and $0.21$ instead of one half each. The output is $(2,
# 0)$ for both: the values are not rotated.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(RotarySelfAttention)


# %% nbgrader={"grade": false, "grade_id": "RotarySelfAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class RotarySelfAttention(nn.Module):
    """Self-attention with several heads whose queries and keys are rotated by position.

    Parameters: W_qkv, an nn.Linear(d_model, 3 * d_model, bias=False), rows in the order q, k, v, and W_o, an
    nn.Linear(d_model, d_model, bias=False). base is handed on to the rotation.
    """

    def __init__(self, d_model: int, n_heads: int, base: float = 10000.0):
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads, self.base = n_heads, base
        self.W_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        ### END SOLUTION

    def forward(
        self, x: torch.Tensor, positions: torch.Tensor | None = None, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """x: (B, T, D); positions: (T,), 0 … T-1 by default; mask: bool, broadcasts to (B, H, T, T), True = blocked.

        Returns the output (B, T, D) and the weights (B, H, T, T).
        """
        ### BEGIN SOLUTION
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        query, key, value = (
            part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, T, K)
            for part in self.W_qkv(x).chunk(3, dim=-1)
        )
        query, key = apply_rope(query, positions, self.base), apply_rope(key, positions, self.base)
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, H, T, T)
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:  # blocked twice: the second time empties the rows in which everything was blocked
            lowest = torch.finfo(scores.dtype).min
            weights = torch.softmax(scores.masked_fill(mask, lowest), dim=-1).masked_fill(mask, 0.0)
        output = (weights @ value).transpose(1, 2).flatten(2)  # (B, T, D)
        return self.W_o(output), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_RotarySelfAttention", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(RotarySelfAttention)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(RotarySelfAttention)
### END HIDDEN TESTS

# %% [markdown]
# Until your module passes, one stands in that leaves the attending to PyTorch. As in lesson 4, the weights are what
# PyTorch's function gives for the identity as values.


# %%
def attend_built_in(x, W_qkv, W_o, n_heads, turn):
    """PyTorch's attention with `turn` applied to queries and keys, (B, H, T, K). Returns (output, weights)."""
    (B, T, D), K = x.shape, W_o.shape[0] // n_heads
    query, key, value = (x @ W_qkv.mT).view(B, T, 3, n_heads, K).permute(2, 0, 3, 1, 4)  # (B, H, T, K) each
    one_hot = torch.eye(T).to(x).expand(B, n_heads, T, T)
    mixed, weights = (F.scaled_dot_product_attention(turn(query), turn(key), v) for v in (value, one_hot))
    return mixed.transpose(1, 2).reshape(B, T, D) @ W_o.mT, weights


class BuiltIn(nn.Module):
    """Stand-in: self-attention by PyTorch, its queries and keys turned by `rotate`."""

    def __init__(self, d_model, n_heads, base=10000.0):
        super().__init__()
        self.n_heads, self.base = n_heads, base
        self.W_qkv, self.W_o = (nn.Linear(d_model, n * d_model, bias=False) for n in (3, 1))

    def forward(self, x, positions=None):
        positions = torch.arange(x.shape[1]) if positions is None else positions
        turn = partial(rotate, positions=positions, base=self.base)
        return attend_built_in(x, self.W_qkv.weight, self.W_o.weight, self.n_heads, turn)


Rotary = use(RotarySelfAttention, otherwise=BuiltIn)  # your class once it passes


def make_rotary(d_model, n_heads, seed=0):
    """A module with reproducible weights."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Rotary(d_model, n_heads)


# %% [markdown]
# ### Telling apart what it could not
#
# "To be or not to be" has two words that occur twice. Attention without positions *cannot* treat the second *to*
# otherwise than the first: same word, same query, same output. To take positions away, put all words at the same place,
# `positions` all 0. Nothing is turned then, and the module is the one of lesson 6.

# %%
hamlet = "to be or not to be".split()
vocabulary = sorted(set(hamlet))
table = torch.randn(len(vocabulary), 16, generator=torch.Generator().manual_seed(2))
spoken = table[[vocabulary.index(word) for word in hamlet]][None]  # (1, T, 16): the same word, the same vector
attention = make_rotary(16, 2)
with torch.no_grad():
    attention.W_qkv.weight[:32] *= 2  # larger queries and keys, so that there is something to see
    same_place, same_weights = attention(spoken, torch.zeros(6, dtype=torch.int64))
    in_order, order_weights = attention(spoken)

scrambled = torch.tensor([4, 2, 0, 5, 1, 3])
for name, output, where in (("all at one place", same_place, torch.zeros(6)), ("0 … 5", in_order, torch.arange(6))):
    apart = (output[0, 0] - output[0, 4]).norm().item()
    sees = not blind(lambda x, where=where: attention(x[None], where)[0][0].detach(), spoken[0], scrambled)
    print(f"positions {name:16}: the two 'to' are {apart:.3f} apart; sees the order: {sees}")
print(f"By {Rotary.whose}")

# %% tags=["demo"]
# @title The weights of the first head, without and with positions
panels = {"all at one place": same_weights[0, 0], "positions 0 … 5": order_weights[0, 0]}
figures.show(
    figures.rope.maps(panels, dict.fromkeys(panels, hamlet)),
    caption="Head 0. Left, both rows of to are the same, and so are both columns. Right, no two rows are alike.",
)

# %% [markdown]
# ### Does it learn?
#
# A task that nobody can do without the order: for each token, name the token *before* it. Every text consists of the
# same eight tokens in random order, so whoever cannot see the order can only guess among the seven others. That gives a
# loss of $\ln 7 \approx 1.95$ at best. The same module learns it twice, once with all positions 0 and once in order.
# The loop of training is the one that you have met before (*review*): gradients by `backward`, a step by Adam.

# %%
codes = torch.eye(8, 32)  # (8, 32): a vector of its own for each of eight tokens


def train_on_the_one_before(in_order, steps=200, T=8):
    """Trains a module and a readout to name the token before each. Returns (losses, module, readout)."""
    generator = torch.Generator().manual_seed(0)
    module, readout = make_rotary(32, 2), nn.Linear(32, 8)
    readout.load_state_dict({"weight": torch.zeros(8, 32), "bias": torch.zeros(8)})
    positions = torch.arange(T) if in_order else torch.zeros(T, dtype=torch.int64)
    optimizer = torch.optim.Adam([*module.parameters(), *readout.parameters()], lr=1e-2)
    losses = []
    for _ in range(steps):
        ids = torch.rand(32, T, generator=generator).argsort(-1)  # (32, T): 32 permutations of the tokens
        logits = readout(module(4 * codes[ids], positions)[0])  # (32, T, 8)
        loss = F.cross_entropy(logits[:, 1:].flatten(0, 1), ids[:, :-1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, module, readout


# %%
runs = {name: train_on_the_one_before(name == "in order") for name in ("all at one place", "in order")}

# %% tags=["demo"]
# @title The losses of both
figures.show(
    figures.losses({name: run[0] for name, run in runs.items()}, {"guessing, ln 7": math.log(7)}, every=10),
    caption=f"Naming the token before, with {Rotary.whose}.",
)

# %%
trained, readout = runs["in order"][1:]
ids = torch.rand(200, 8, generator=torch.Generator().manual_seed(5)).argsort(-1)  # texts that were not trained on
with torch.no_grad():
    for start in (0, 100, 5000):
        named = readout(trained(4 * codes[ids], start + torch.arange(8))[0])[:, 1:].argmax(-1)
        print(f"text at {start:4} … {start + 7:4}: {(named == ids[:, :-1]).float().mean():.1%} named rightly")

# %% [markdown]
# The last lines are what the gap is good for. The module was trained at the positions 0 to 7 and nowhere else. Move the
# whole text to position 5000, and it does its work as before: it has learned "one to the left", not "place 3 looks at
# place 2". (That is not to say that a model trained on short texts can read long ones. There new *gaps* turn up, which
# it has never met.)
#
# ### Moving the weights
#
# Now the promise of section 6. The module below turns neighbours. A second attention turns halves, and is given the
# same weights with the rows of the queries and keys reordered *inside each head*. Output and weights must be the same.


# %%
def rows_to_halves(W_qkv, n_heads):
    """W_qkv (3D, D) for neighbours -> for halves: rows of queries and keys reordered in each head, values kept."""
    D = W_qkv.shape[1]
    heads = W_qkv[: 2 * D].unflatten(0, (2 * n_heads, -1))  # (2H, K, D): heads of the queries, then of the keys
    return torch.cat([halve(heads.mT).mT.flatten(0, 1), W_qkv[2 * D :]])  # `halve` works on the last dimension


tokens = torch.randn(3, 7, 16, generator=generator)  # (B, T, D)
where = torch.tensor([0, 1, 2, 10, 11, 400, 401])


def turn_halves(t):
    return rotate_halves(t, where)


with torch.no_grad():
    expected = attention(tokens, where)  # two heads of eight numbers
    W_qkv, W_o = attention.W_qkv.weight, attention.W_o.weight
    moved = attend_built_in(tokens, rows_to_halves(W_qkv, 2), W_o, 2, turn_halves)
    careless = attend_built_in(tokens, W_qkv, W_o, 2, turn_halves)

for ours, theirs in zip(moved, expected, strict=True):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=2e-3)  # an angle near 401 in float32: steps of 3e-5
difference = (careless[1] - expected[1]).abs().max().item()
print(f"With reordered rows: the same output, the same weights. As they were: weights wrong by up to {difference:.2f}.")

# %% [markdown]
# ## 8. Texts that are longer than in training
#
# ### Exercise 6: `scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0)`

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint.
# hint(scaled_frequencies)


# %% nbgrader={"grade": false, "grade_id": "scaled_frequencies", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_frequencies(
    dim: int, method: str, factor: float, length: float, base: float = 10000.0, low: float = 1.0, high: float = 32.0
) -> torch.Tensor:
    """The frequencies with which a model reads texts `factor` times as long as those of its training.

    dim: even, at least 4; method: "base", "interpolation" or "yarn"; factor: at least 1; length: positions in training.
    low, high: turns in training up to which YaRN divides a frequency, and from which on it keeps it.
    Returns (dim // 2,), float32. ValueError for another method.
    """
    ### BEGIN SOLUTION
    frequencies = rope_frequencies(dim, base)
    if method == "base":
        return rope_frequencies(dim, base * factor ** (dim / (dim - 2)))
    if method == "interpolation":
        return frequencies / factor
    if method == "yarn":
        turns = length * frequencies / (2 * math.pi)
        keep = ((turns - low) / (high - low)).clamp(0, 1)
        return keep * frequencies + (1 - keep) * frequencies / factor
    raise ValueError(f"method is {method!r}; expected 'base', 'interpolation' or 'yarn'")
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_scaled_frequencies", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(scaled_frequencies)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(scaled_frequencies)
### END HIDDEN TESTS

# %% [markdown]
# ## 9. Is it a bug?
#
# **"Positions must start at 0."** One library counts $0, 1, 2, \dots$, another $1, 2, 3, \dots$ Somebody reports that
# the second turns every vector by one step too many. **Decide before you run the cell.** And if queries counted from 1
# and keys from 0?

# %% tags=["demo"]
with torch.no_grad():
    from_zero = attention(spoken, torch.arange(6))[1]
    from_one = attention(spoken, torch.arange(6) + 1)[1]
    heads = attention.W_qkv(spoken).unflatten(-1, (3, 2, 8)).permute(2, 0, 3, 1, 4)  # (3, B, H, T, K)
    mixed = rotate(heads[0], torch.arange(6) + 1) @ rotate(heads[1], torch.arange(6)).mT / 8**0.5
print(f"all from 1:                 weights differ by up to {(from_one - from_zero).abs().max():.7f}")
print(f"queries from 1, keys from 0: weights differ by up to {(mixed.softmax(-1) - from_zero).abs().max():.7f}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# Not a bug. Every gap stays what it was, and only gaps count; what is left is rounding. It becomes one as soon as
# queries and keys count differently: then all gaps are off by one. That is how it usually happens, when keys come out
# of a cache and the new query is told a position that was counted elsewhere.
#
# </details>
#
# **"It rotates the wrong way."** nanochat, a much-read implementation, turns every pair *clockwise*: it adds where the
# textbook subtracts. A reader sent a correction
# ([karpathy/nanochat#489](https://github.com/karpathy/nanochat/pull/489), and
# [#264](https://github.com/karpathy/nanochat/issues/264)). **Decide: is it a bug?** Two questions help. Do scores still
# depend on the gap alone? And can weights be found that give the same scores with the other direction?


# %% tags=["demo"]
# @title Scores, turned one way and the other
def counter_clockwise(x):
    return rotate(x, torch.arange(8))


def clockwise(x):
    return rotate(x, -torch.arange(8))


def mirrored(turn):
    """The rotation `turn` of vectors in which every second number has its sign changed."""
    return lambda x: turn(x * torch.tensor([1.0, -1.0]).repeat(x.shape[-1] // 2))


tables = {
    "counter-clockwise": score_table(counter_clockwise, counter_clockwise),
    "clockwise": score_table(clockwise, clockwise),
    "clockwise, weights mirrored": score_table(mirrored(clockwise), mirrored(clockwise)),
}
figures.show(
    figures.rope.score_tables(tables), caption=f"One query, one key, two directions. Rotated by {rotate.whose}."
)
torch.testing.assert_close(tables["counter-clockwise"], tables["clockwise, weights mirrored"], rtol=0, atol=1e-4)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Not a bug, for a model that is trained so. Scores still depend on the gap alone; a gap of $+3$ now has the score that
# $-3$ had. And a mirror image that turns clockwise is a thing that turns counter-clockwise: change the sign of every
# second number, in queries and keys alike, and all scores are the old ones (the third table; unfold the cell above to
# see how it is made). Those signs can be put into the rows of the
# weights, so whatever one direction can learn, the other can.
#
# For weights that exist already it *would* be a bug to change it, and the author declined for that reason: every
# trained model would have broken, silently. It is the story of section 6 again. A convention that is kept is right.
#
# </details>

# %% [markdown]
# ## 10. Seen in the wild
#
# **The other layout.** A small language model was trained with halves and then run by a program whose default was
# neighbours.
#
# ```diff
# - even, odd = x[..., 0::2], x[..., 1::2]    # what the program paired
# + first, second = x.chunk(2, dim=-1)        # what the weights were made for
# ```
#
# From outside: it loaded without complaint and wrote gibberish ([jzhang38/TinyLlama#24](
# https://github.com/jzhang38/TinyLlama/issues/24)). Nothing in the model's configuration named the layout.
#
# **The wrong dimension.** A library's rotation took dimension −2 for the tokens. It was called before heads and tokens
# had changed places, with `(B, T, H, K)`.
#
# ```diff
# - q, k = rotary(q, k)                                    # (B, T, H, K): turns head h by h
# + q, k = rotary(q.transpose(1, 2), k.transpose(1, 2))    # (B, H, T, K): turns token t by t
# ```
#
# Every token of a head is then turned alike, so there are no positions at all: table D in section 5. From outside: no
# error, training that looked like training, some runs that blew up. It came out when somebody tried positions of
# another kind, compared the curves and read the code
# ([facebookresearch/xformers#841](https://github.com/facebookresearch/xformers/issues/841),
# [mlfoundations/open_lm#4](https://github.com/mlfoundations/open_lm/issues/4); again in
# [NVIDIA/audio-flamingo#27](https://github.com/NVIDIA/audio-flamingo/issues/27)).
#
# **Half precision.** Frequencies and positions were kept in the dtype of the model.
#
# ```diff
# - t = torch.arange(length).type_as(inv_freq)    # half precision once the model is
# + t = torch.arange(length, dtype=torch.float32)
# ```
#
# From outside: an angle of 1044.3 at position 1857 that became 1045, cosines wrong by up to 0.78
# ([EleutherAI/gpt-neox#1003](https://github.com/EleutherAI/gpt-neox/issues/1003)), and a training loss a little higher
# than that of the same model elsewhere
# ([huggingface/transformers#29285](https://github.com/huggingface/transformers/pull/29285)). Short texts look fine. Run
# the next cell to see what bfloat16 makes of positions.
#
# **A formula off by one.** Papers count pairs from 1, code from 0. A course handout printed the exponent $(2k-1)/d$
# where $2(k-1)/d$ was meant
# ([stanford-cs336/assignment1-basics#22](https://github.com/stanford-cs336/assignment1-basics/issues/22)); a notebook
# took the 1 off an index that began at 0
# ([bkitano/llama-from-scratch#8](https://github.com/bkitano/llama-from-scratch/issues/8)). From outside: nothing. A
# model trained with slightly other clocks is as good as any, until weights are exchanged or a test compares numbers.

# %% tags=["demo"]
whole = torch.arange(9000, 9008)
print("positions        ", whole.tolist())
print("in float32       ", whole.float().long().tolist())
print("in bfloat16      ", whole.bfloat16().long().tolist())

# %% [markdown]
# ## The model so far
#
# The last part that lesson 8 needs: in the model that has grown since lesson 3 your `RotarySelfAttention` takes the
# place of the heads without places.

# %% tags=["demo"]
# @title The model so far, and where its letters look
from course import staged_model

so_far = staged_model.current_model()
figures.show(
    figures.staged_model.built_so_far(so_far, "then the hen"),
    caption=f"The letters and numbers of lessons 3 to 6, now with places. Hatched: blocked. {so_far.whose}",
)

# %% [markdown]
# The same two heads as in lesson 6, and other weights: two letters that are alike are on the whole the less alike the further
# apart they stand, since their vectors have been turned by different angles. In lesson 8 this layer, with the mask of lesson 5
# and the block that you write there, learns to write.

# %% [markdown]
# ## Summary
#
# 1. Attention without positions is order-blind: scramble the input, and the same outputs come out, scrambled.
# 2. RoPE turns pair $i$ of a query or key at position $m$ by $m\,\theta_i$, with $\theta_i =
#    \text{base}^{-2i/\text{dim}}$: one clock for each pair, from fast to slow.
# 3. A dot product sees the angle between two vectors only. So the score depends on the gap, wherever in the text it is.
# 4. Rotate queries and keys, after the heads are split, in float32, and never the values.
# 5. Neighbours or halves, clockwise or not: conventions. Weights belong to one of them, and move to the other by
#    reordering rows.
#
# $$ (\mathbf{R}_m \mathbf{q})^\top (\mathbf{R}_n \mathbf{k}) = \mathbf{q}^\top \mathbf{R}_{n-m}\, \mathbf{k} $$
#
# **To read on:**
#
# - Su et al., [RoFormer: Enhanced Transformer with Rotary Position Embedding](https://arxiv.org/abs/2104.09864),
#   sections 3.2 and 3.4
# - Biderman et al., [Rotary Embeddings: A Relative Revolution](https://blog.eleuther.ai/rotary-embeddings/), with
#   experiments and code
# - Touvron et al., [LLaMA](https://arxiv.org/abs/2302.13971), section 2.2: RoPE in a model that everybody built on

# %% [markdown]
# ## Challenge: `alibi_bias(n_heads, T)`
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# A challenge is for those who want more. The same judge checks it, no grade knows of it, and you may leave it as it is.
#
# There is a way to tell attention about places that turns nothing: add to every score a number that depends on the
# distance alone. **Attention with linear biases**, ALiBi ([Press et al. 2021](https://arxiv.org/abs/2108.12409)),
# takes off the more the further a key is away, and every head has a slope of its own:
#
# $$ b_{hij} = - m_h \, |i - j|, \qquad m_h = 2^{-8h/H}, \qquad h = 1, \dots, H $$
#
# A head with a large slope sees its neighbours only, one with a small slope nearly everything. A model that was trained
# with it on short texts can read longer ones, since no distance is entirely new to it.
#
# Return the biases of all heads, float32 `(H, T, T)`, to be added to scores before the softmax. (The future is the
# mask's business.)
#
# **On paper.** Eight heads: the slopes are $\tfrac12, \tfrac14, \dots, \tfrac1{256}$. In the second head a query and a key
# that stand three places apart get $-\tfrac34$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(alibi_bias)


# %%
def alibi_bias(n_heads: int, T: int) -> torch.Tensor:
    """The biases of attention with linear biases, float32 (H, T, T): minus the slope of each head times the distance."""
    raise NotImplementedError  # take this line out, and write yours


# %% tags=["demo"]
check(alibi_bias)

# %% tags=["demo"]
progress()
