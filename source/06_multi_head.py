# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 6: Multi-head attention
#
# Read "bank" in *The boat reached the river bank*. To know which kind of bank is meant, you look at the word before it
# (*river*), and at the thing that arrives there (a *boat*). Those are two questions. Attention as you have built it
# asks one: each word gets one set of weights, and so one average of everything it looks at. **How can a word ask
# several questions at once, and keep the answers apart, for the price of one?**
#
# You will first see what one set of weights cannot do, however it is trained. Then you build attention with several
# *heads*, three times over: from bare tensors, as an `nn.Module`, and with PyTorch's own layer. All three will hold
# the same weights and give the same numbers, and you will know how to prove it. On the way you meet a bug that trains
# beautifully, and learn to catch it.
#
# **You need** queries, keys and values (lesson 3), the scale and modules (lesson 4), masks (lesson 5). Nothing from
# your earlier notebooks has to be copied.
#
# **Time:** about 80 minutes
#
# | letter | meaning |
# |---|---|
# | $B$ | the batch: how many sentences at once |
# | $T$, $S$ | how many queries, how many keys; equal where a sentence attends to itself |
# | `D` | in shapes, the width of the model: how many numbers describe a word; $d$ in formulas |
# | $H$ | the number of heads |
# | `K` | in shapes, the width of one head; in formulas $d_k = d / H$ |
# | $\mathbf{X}$ | a sentence `(T, D)`: matrices are bold |
# | $\mathbf{W}_q, \mathbf{W}_k, \mathbf{W}_v, \mathbf{W}_o$ | the learned matrices for queries, keys, values and the output |

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, progress, sentence, sliders, use
from torch import nn

begin("06_multi_head")

# %% [markdown]
# ## Review: three questions on what came before
#
# *Review* · about 3 minutes. Answer each in your head or on paper before you unfold its answer. Where one will not
# come back, look at the summary of the lesson that it is from.
#
# **1.** Five tokens attend causally. How many of the 25 scores are blocked?
#
# <details><summary>Answer</summary>
#
# Ten: after the first token come 4 keys, after the next 3, then 2, 1 and none. The other 15 are open.
#
# </details>
#
# **2.** Why is the mask applied to the scores, before softmax, and not to the weights afterwards?
#
# <details><summary>Answer</summary>
#
# Blocked scores of $-\infty$ get the weight 0, and what is open shares the whole. Zeros put in afterwards leave rows
# that sum to less than 1, and the blocked scores have already had their say in the sum.
#
# </details>
#
# **3.** A row of a mask is blocked throughout. What are its weights and its output in this course, and what would
# plain softmax give?
#
# <details><summary>Answer</summary>
#
# All 0, by agreement; softmax of nothing but $-\infty$ is NaN, and so is its gradient.
#
# </details>

# %%
words = sentence.words  # The boat reached the river bank

# %% [markdown]
# ## 1. What one head cannot do
#
# Take the smallest case there is. Two words lie before you. Each is described by two facts, its *colour* and its
# *shape*; so a value is a point $(\text{colour}, \text{shape})$ in the plane. You want **the colour of word 0 and the
# shape of word 1**. Say that word 0 has colour 1 and no shape, $(1, 0)$, and word 1 has shape 1 and no colour, $(0,
# 1)$. Then you want $(1, 1)$.
#
# One **head**, which is one attention as you know it, has one pair of weights, $a$ and $1 - a$. Two heads have two
# pairs: let one head carry the colours and the other the shapes, each with weights of its own.
#
# ### Predict first
#
# Try every possible weight. Which points of the plane can one head reach? Which can two?
#
# <details><summary>Answer</summary>
#
# One head reaches the straight line between the two values, and nothing else: an average of two points lies between
# them. Two heads choose the first coordinate and the second one independently. They reach the whole square, and its
# corner $(1, 1)$.
#
# </details>

# %% tags=["demo"]
# @title What one head and what two heads can reach
generator = torch.Generator().manual_seed(0)
values = torch.tensor([[1.0, 0.0], [0.0, 1.0]])  # (S, 2): colour and shape of word 0, of word 1
a = torch.rand(250, 2, generator=generator)  # 250 times: the weight each of two heads gives word 0

one = a[:, :1] * values[0] + (1 - a[:, :1]) * values[1]  # (250, 2): one weight for both facts
two = a * values[0] + (1 - a) * values[1]  # (250, 2): a weight for the colour and one for the shape
figures.show(
    figures.multi_head.reach({"one head": one, "two heads": two}, values, torch.tensor([1.0, 1.0])),
    alt="Two panels with colour across and shape upwards. With one head the dots lie on the straight "
    "line from value 0 at (1, 0) to value 1 at (0, 1), and miss the star at (1, 1). With two "
    "heads they fill the square, star included.",
    caption="Each dot is what attention puts out for one choice of weights.",
)

# %% [markdown]
# One head averages; it cannot mix and match. Could a clever $\mathbf{W}_v$ or $\mathbf{W}_o$ rescue it? No, and the
# reason takes three lines.
#
# <details><summary>Why no matrix helps</summary>
#
# Let $\mathbf{W}$ be everything that happens to a value on its way out, $\mathbf{W} = \mathbf{W}_v \mathbf{W}_o$. With
# weights $a$ and $b$ one head puts out $a\,\mathbf{x}_0 \mathbf{W} + b\,\mathbf{x}_1 \mathbf{W}$: both words go through
# the *same* matrix, apart from a factor. To keep the colour of word 0 you need $a \mathbf{W} = \begin{pmatrix} 1 & 0 \\
# 0 & 0 \end{pmatrix}$, and to keep the shape of word 1 $b \mathbf{W} = \begin{pmatrix} 0 & 0 \\ 0 & 1 \end{pmatrix}$.
# Those two are not multiples of each other, so no $a$, $b$ and $\mathbf{W}$ will do. Two heads have two matrices, and
# the equation has a solution at once.
#
# </details>
#
# In section 7 you will watch this happen in training: a single head gets stuck at a loss that we can compute
# beforehand. What will a second head do to it, without a single additional parameter?

# %% [markdown]
# ## 2. Two heads by hand
#
# So give attention several heads: this is **multi-head attention**. Head $h$ has its own three matrices, each of shape
# `(D, K)`, and does on its own what you know from lesson 4. With $\mathbf{X}$ the sentence, `(T, D)`:
#
# $$ \text{head}_h = \operatorname{softmax}\!\left( \frac{\mathbf{Q}_h \mathbf{K}_h^\top}{\sqrt{d_k}} \right) \mathbf{V}_h,
#    \qquad \mathbf{Q}_h = \mathbf{X} \mathbf{W}_q^{(h)}, \quad \mathbf{K}_h = \mathbf{X} \mathbf{W}_k^{(h)}, \quad
#    \mathbf{V}_h = \mathbf{X} \mathbf{W}_v^{(h)} $$
#
# Each head returns `(T, K)`. Its width is $d_k = d / H$, so that the $H$ answers, laid side by side, are as wide as a
# word again. One last matrix $\mathbf{W}_o$, `(D, D)`, mixes them:
#
# $$ \operatorname{MultiHead}(\mathbf{X}) =
#    [\, \text{head}_0,\; \text{head}_1,\; \dots,\; \text{head}_{H-1} \,]\; \mathbf{W}_o $$
#
# Here are two heads, with every matrix written out.

# %%
T, D, H = 6, 8, 2
K = D // H
generator = torch.Generator().manual_seed(6)


def matrix(rows, columns):
    """A random matrix (rows, columns) that keeps the size of what it is multiplied with."""
    return torch.randn(rows, columns, generator=generator) * rows**-0.5


def one_head(query, key, value):
    """(..., T, K), (..., S, K), (..., S, K) -> output (..., T, K), weights (..., T, S)."""
    weights = (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)
    return weights @ value, weights


X = sentence.x @ matrix(3, D)  # (T, D): the three numbers of each word, spread over eight
W_q0, W_k0, W_v0 = 3 * matrix(D, K), matrix(D, K), matrix(D, K)  # head 0
W_q1, W_k1, W_v1 = 3 * matrix(D, K), matrix(D, K), matrix(D, K)  # head 1
W_o = matrix(D, D)

out_0, weights_0 = one_head(X @ W_q0, X @ W_k0, X @ W_v0)  # (T, K), (T, T)
out_1, weights_1 = one_head(X @ W_q1, X @ W_k1, X @ W_v1)
by_hand = torch.cat([out_0, out_1], dim=-1) @ W_o  # (T, D)
print("each head:", tuple(out_0.shape), "  side by side and mixed:", tuple(by_hand.shape))

# %% tags=["demo"]
# @title The weights of both heads
figures.show(
    figures.multi_head.side_by_side(torch.stack([weights_0, weights_1]), rows=words),
    alt="Two heat maps of weights over the six words, one for each head. Their dark cells are in different places.",
    caption="Same sentence, same words, two heads: each row sums to 1 in either map, and the two maps "
    "have nothing to do with each other.",
)

# %% [markdown]
# The matrices are random, so neither pattern means anything yet. The point is that there are two of them.
#
# ### One matrix for all heads
#
# Two heads made two products $\mathbf{X} \mathbf{W}_q^{(0)}$ and $\mathbf{X} \mathbf{W}_q^{(1)}$. Put the two matrices
# side by side, as one matrix $\mathbf{W}_q$ of shape `(D, D)`, and a single product gives both:
#
# $$ \mathbf{X}\, [\, \mathbf{W}_q^{(0)},\; \mathbf{W}_q^{(1)} \,] =
#    [\, \mathbf{X} \mathbf{W}_q^{(0)},\; \mathbf{X} \mathbf{W}_q^{(1)} \,] $$
#
# For that is how a matrix product works: each *column* of the result needs only the same column of the right-hand
# matrix. The heads never touch each other; they merely share a table.

# %% tags=["demo"]
# @title One packed matrix, and who owns which columns
figures.show(
    figures.multi_head.packed(n_heads=2, tokens=T, width=D),
    alt="X, a plain grid of 6 by 8, times W_q, a grid of 8 by 8 whose left half belongs to head 0 "
    "and right half to head 1, equals Q, a grid of 6 by 8 with the same two halves.",
    caption="Every head owns a band of columns, in the matrix and in the result.",
)

# %%
W_q, W_k, W_v = (torch.cat(pair, dim=1) for pair in [(W_q0, W_q1), (W_k0, W_k1), (W_v0, W_v1)])


def from_tensors(x, W_q, W_k, W_v, W_o, n_heads):
    """Level 1: x (..., T, D), matrices (D, D) -> output (..., T, D), weights (..., H, T, T)."""
    bands = [(x @ W).chunk(n_heads, dim=-1) for W in (W_q, W_k, W_v)]  # each: H tensors (..., T, K)
    outputs, weights = zip(*(one_head(q, k, v) for q, k, v in zip(*bands)))
    return torch.cat(outputs, dim=-1) @ W_o, torch.stack(weights, dim=-3)


packed, packed_weights = from_tensors(X, W_q, W_k, W_v, W_o, n_heads=2)
torch.testing.assert_close(packed, by_hand)
torch.testing.assert_close(packed_weights, torch.stack([weights_0, weights_1]))
print("The packed matrices give the same numbers as the separate ones.")

# %% [markdown]
# `from_tensors` is the whole of multi-head attention in one function: from $\mathbf{X}$ and the four matrices to the
# output. One thing is still clumsy in it: the loop over heads. Matrix products in PyTorch treat all leading dimensions
# as a batch: each pair of matrices is multiplied on its own. `torch.bmm` does it for exactly one such dimension, `@`
# for any number of them.

# %%
queries = torch.stack([X @ W_q0, X @ W_q1])  # (H, T, K)
keys = torch.stack([X @ W_k0, X @ W_k1])  # (H, T, K)
scores = torch.bmm(queries, keys.mT)  # (H, T, T): one product for each head
torch.testing.assert_close(scores[1], (X @ W_q1) @ (X @ W_k1).T)
torch.testing.assert_close(scores, queries @ keys.mT)
print("bmm, @ and the two products by hand agree:", tuple(scores.shape))

# %% [markdown]
# So if the heads were a dimension of their own, in a tensor `(B, H, T, K)`, a single `one_head` would serve every head
# of every sentence at once. All that is missing is a way to get there, and a way back.

# %% [markdown]
# ## 3. Splitting and merging
#
# A projected sentence is `(B, T, D)`, and `D = H * K`: in each word's row stand the `K` numbers of head 0, then
# the `K` numbers of head 1, and so on. We want `(B, H, T, K)`.
#
# ### Predict first
#
# `Q.reshape(B, H, T, K)` has exactly the shape we want, and runs without complaint. In the table of
# six words and eight numbers, which numbers does head 0 get?
#
# <details><summary>Answer</summary>
#
# The first three words, whole. A tensor lies in memory as one long tape, row after row, and `reshape` moves nothing:
# it cuts the tape into pieces of the new sizes. The first half of the tape is "The", "boat" and "reached", with all
# of their eight numbers; so head 0 sees half the sentence, chopped into six pieces that it takes for six words, and
# head 1 the other half. Head 0 was to get *half of every word*.
#
# </details>

# %% tags=["demo"]
# @title Which head gets which number
whole_words = torch.arange(T * D).div(T * K, rounding_mode="floor").view(T, D)
bands = torch.arange(D).div(K, rounding_mode="floor").expand(T, D)
figures.show(
    figures.multi_head.owners({"what we want": bands, "reshape(B, H, T, K)": whole_words}, words),
    alt="Two tables of six words by eight numbers, the head that owns each number written into it. "
    "What we want: head 0 owns the left four columns, head 1 the right four. Reshape alone: head "
    "0 owns the first three rows, head 1 the last three.",
    caption="Which head gets which number. Both cuts have the right shape.",
)

# %% [markdown]
# This is the best known mistake in multi-head attention, and its danger is that *nothing happens*: no error, the right
# shape, and, as section 8 shows, a loss that falls. People ask for good reason whether the detour is needed at all
# ([hyunwoongko/transformer#15](https://github.com/hyunwoongko/transformer/issues/15)).
#
# The remedy has two steps. First cut each word's row into $H$ pieces and leave the words where they are; that is what
# the tape looks like. Then exchange two dimensions.
#
# ### Exercise 1: `split_heads(x, n_heads)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# **On paper.** One sentence of two words, width `D = 4`, and `H = 2` heads:
#
# | | number 0 | number 1 | number 2 | number 3 |
# |---|---|---|---|---|
# | word 0 | 1 | 2 | 3 | 4 |
# | word 1 | 5 | 6 | 7 | 8 |
#
# Head 0 gets $\begin{pmatrix} 1 & 2 \\ 5 & 6 \end{pmatrix}$ and head 1 gets $\begin{pmatrix} 3 & 4 \\ 7 & 8
# \end{pmatrix}$. (If your head 0 holds 1, 2, 3 and 4, you have cut between words.)
#
# Not every width can be shared out: with `D = 10` and `H = 4` no whole `K` exists. Raise a `ValueError` then, and name
# in its message the argument that was wrong, and its value.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(split_heads)


# %% nbgrader={"grade": false, "grade_id": "split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Cut every word's row into one piece for each head.

    x: (B, T, D). Returns (B, H, T, D // H) with H = n_heads: piece h of each row goes to head h.
    Raises ValueError unless n_heads is at least 1 and divides D.
    """
    ### BEGIN SOLUTION
    batch, tokens, width = x.shape
    if n_heads < 1 or width % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide the width {width} of x")
    return x.reshape(batch, tokens, n_heads, width // n_heads).transpose(1, 2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_split_heads", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(split_heads)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(split_heads)
### END HIDDEN TESTS

# %% [markdown]
# The way back undoes it: exchange the two dimensions again, and write the pieces of each word one after the other. A
# trap lies on it. `transpose` does not move a number either; it only changes the *strides*, the notes on how far to
# walk along the tape for the next row, the next column. After it, the tape is in the old order, and the new order
# exists in the notes alone.

# %%
small = torch.arange(8).view(1, 2, 2, 2)  # (B, H, T, K)
print("before:", small.stride(), "  after transpose(1, 2):", small.transpose(1, 2).stride())
try:
    small.transpose(1, 2).view(1, 2, 4)
except RuntimeError as error:
    print("view:", error)

# %% [markdown]
# `view` promises never to move a number, and merging two dimensions whose numbers do not lie side by side would have
# to. So it refuses. `reshape` makes the same promise only as long as it can keep it, and copies otherwise;
# `.contiguous()` copies explicitly. The error is a friend: it stands exactly where a silent mistake would be easy.
#
# ### Exercise 2: `merge_heads(x)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# **On paper.** Take the result of exercise 1 back. With head 0 holding $\begin{pmatrix} 1 & 2 \\ 5 & 6 \end{pmatrix}$
# and head 1 holding $\begin{pmatrix} 3 & 4 \\ 7 & 8 \end{pmatrix}$, word 0 is $(1, 2, 3, 4)$ again, and word 1 is
# $(5, 6, 7, 8)$. The heads come in order, and what you are given may lie in memory in any order.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(merge_heads)


# %% nbgrader={"grade": false, "grade_id": "merge_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Write the pieces of every word one after the other, head 0 first: undoes `split_heads`.

    x: (B, H, T, K), contiguous or not. Returns (B, T, H * K).
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)  # (B, T, H, K) -> (B, T, H * K); copies where it has to
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_merge_heads", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(merge_heads)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(merge_heads)
### END HIDDEN TESTS

# %% [markdown]
# Now the loop can go. Below, all heads are computed at once, with your two functions as soon as they pass; until then
# with a stand-in that knows how to cut for two heads, and for nothing else. The result must be what the separate
# matrices gave.

# %%
split = use(split_heads, otherwise=lambda x, n_heads: torch.stack([x[..., :K], x[..., K:]], dim=1))
merge = use(merge_heads, otherwise=lambda x: torch.cat([x[:, 0], x[:, 1]], dim=-1))

batch = X[None]  # (1, T, D): a batch of one sentence
query, key, value = (split(batch @ W, 2) for W in (W_q, W_k, W_v))  # each (1, H, T, K)
output, weights = one_head(query, key, value)  # (1, H, T, K), (1, H, T, T)
torch.testing.assert_close(merge(output)[0] @ W_o, by_hand)
torch.testing.assert_close(weights[0], packed_weights)
print(f"All heads at once: the same numbers again. (split: {split.whose}; merge: {merge.whose}.)")

# %% [markdown]
# ## 4. A module
#
# *Review* of lessons 0 and 4: a layer that is to be trained needs parameters, and a place to keep them. A **parameter**
# is a tensor that its module knows of: wrap one of our matrices in `nn.Parameter`, make it an attribute, and
# `parameters()` hands it to the optimizer; `state_dict()` saves it, `to(...)` moves it. A bare tensor as an attribute
# is none of that: it works in `forward`, and nobody trains it.


# %%
class Projection(nn.Module):
    """x (..., D) -> x @ W, with a matrix that can be trained, and one that only looks like it."""

    def __init__(self, W):
        super().__init__()
        self.W = nn.Parameter(W.clone())
        self.forgotten = W.clone()  # no parameter: no optimizer ever sees it

    def forward(self, x):
        return x @ self.W


learnable = Projection(W_q)
print("parameters:", [(name, tuple(tensor.shape)) for name, tensor in learnable.named_parameters()])

linear = nn.Linear(D, D, bias=False)  # the same, ready made
with torch.no_grad():
    linear.weight.copy_(W_q.T)
torch.testing.assert_close(linear(X), learnable(X))
print("nn.Linear with the transposed matrix gives the same.")

# %% [markdown]
# `nn.Linear(D, D)` is such a projection, ready made. It keeps its matrix as (what comes out, what goes in), the other
# way round from a matrix that is written to the right of $\mathbf{X}$: so $\mathbf{X} \mathbf{W}$ becomes `x @
# weight.T`. For square matrices no shape warns you if you forget it.
#
# Here is the whole way of a sentence through the module that you are about to write, with the shape after each step:

# %% tags=["demo"]
# @title From x to the output, with all shapes
figures.show(
    figures.multi_head.shapes(
        [
            ("", "x\n(B, T, D)"),
            ("W_q, W_k,\nW_v", "q, k, v\n(B, T, D)"),
            ("split", "(B, H, T, K)"),
            ("q · kᵀ / √dₖ", "scores\n(B, H, T, S)"),
            ("mask,\nsoftmax,\ndropout", "weights\n(B, H, T, S)"),
            ("· v", "(B, H, T, K)"),
            ("merge", "(B, T, D)"),
            ("W_o", "output\n(B, T, D)"),
        ]
    ),
    alt="Eight boxes in a row with the shapes on the way: x (B, T, D); queries, keys and values (B, "
    "T, D); split into (B, H, T, K); scores (B, H, T, S); weights (B, H, T, S); times the values "
    "(B, H, T, K); merged (B, T, D); output (B, T, D).",
    caption="From x to output. Keys and values have S rows instead of T where they come from another sentence.",
)

# %% [markdown]
# Three details decide whether it is right.
#
# - **The scale** is that of one head, $1/\sqrt{d_k}$ with $d_k = d/H$. Dividing by $\sqrt{d}$ is the commonest mistake
#   of all: nothing fails, the heads are merely blurred.
# - **The context.** Queries come from `x`. Keys and values come from `context`, `(B, S, D)`, where one is given
#   (**cross-attention**: a translation looks at the sentence that it translates), and from `x` where none is
#   (**self-attention**).
# - **The mask** is the one of lesson 5 (*review*): boolean, `True` = blocked. It need not be `(B, H, T, S)`, only
#   *broadcast* to it. A causal mask `(T, S)` is good for every head of every sentence, a padding mask `(B, 1, 1, S)`
#   for every head and every query. A row that is blocked throughout has weights 0 and output 0, never NaN.
#
# ### Exercise 3: `MultiHeadAttention(d_model, n_heads, dropout=0.0)`
#
# *Difficulty ★★★ · about 20 minutes*
#
# There are two methods to write. `__init__` makes the parts and keeps what `forward` will need; `forward` uses them.
# Write the first, make a module and print it, before you begin the second. The four projections are `nn.Linear(d_model,
# d_model, bias=False)` and have the names `W_q`, `W_k`, `W_v` and `W_o`. Dropout falls on the weights, as in lesson 4:
# in training mode only, entry by entry, and the weights that you return are the ones that you applied. You may use
# `split_heads` and `merge_heads`, `torch.softmax`, and `nn.Dropout`; not allowed are `F.scaled_dot_product_attention`,
# `nn.MultiheadAttention` and `F.multi_head_attention_forward`.
#
# **On paper.** `D = 2`, `H = 2`, so `K = 1`, and all four matrices are the identity. One sentence of two words:
# $\mathbf{x}_0 = (0, 0)$ and $\mathbf{x}_1 = (\ln 3, 8)$.
#
# | | scores of word 0 | its weights | scores of word 1 | its weights |
# |---|---|---|---|---|
# | head 0 sees $0$ and $\ln 3$ | $0,\; 0$ | $\tfrac12,\; \tfrac12$ | $0,\; (\ln 3)^2 = 1.21$ | $0.23,\; 0.77$ |
# | head 1 sees $0$ and $8$ | $0,\; 0$ | $\tfrac12,\; \tfrac12$ | $0,\; 64$ | $0.00,\; 1.00$ |
#
# So the output is $\bigl(\tfrac12 \ln 3,\; 4\bigr) = (0.55, 4)$ for word 0, and $(0.77 \ln 3,\; 8) = (0.85, 8)$ for
# word 1. Each head kept to its own column.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(MultiHeadAttention)


# %% nbgrader={"grade": false, "grade_id": "MultiHeadAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttention(nn.Module):
    """Attention with several heads, over a sentence or from one sentence to another.

    Parameters: W_q, W_k, W_v, W_o, each an nn.Linear(d_model, d_model, bias=False).
    Dropout falls on the weights. Raises ValueError unless n_heads is at least 1 and divides d_model.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0):
        super().__init__()
        ### BEGIN SOLUTION
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, which does not divide d_model, {d_model}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(
        self, x: torch.Tensor, context: torch.Tensor | None = None, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend from x, (B, T, D), to context, (B, S, D), or to x itself where context is None.

        mask: bool, broadcasts to (B, H, T, S), True = blocked.
        Returns the output (B, T, D) and the weights that were applied (B, H, T, S).
        """
        ### BEGIN SOLUTION
        context = x if context is None else context
        query = split_heads(self.W_q(x), self.n_heads)  # (B, H, T, K)
        key = split_heads(self.W_k(context), self.n_heads)  # (B, H, S, K)
        value = split_heads(self.W_v(context), self.n_heads)  # (B, H, S, K)
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, H, T, S)
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:  # blocked twice: the second time empties the rows in which everything was blocked
            lowest = torch.finfo(scores.dtype).min
            weights = torch.softmax(scores.masked_fill(mask, lowest), dim=-1).masked_fill(mask, 0.0)
        weights = self.dropout(weights)
        return self.W_o(merge_heads(weights @ value)), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_MultiHeadAttention", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
check(MultiHeadAttention)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(MultiHeadAttention)
### END HIDDEN TESTS

# %% [markdown]
# ## 5. Three levels, one result
#
# PyTorch has this layer built in, as `nn.MultiheadAttention` (with a small h in "head"). Once you have written your
# own you can read its manual with profit, because you know which questions to ask:
#
# | | from tensors | your module | `nn.MultiheadAttention` |
# |---|---|---|---|
# | you write | every product | `forward`, once | nothing |
# | parameters | tensors that you look after | `W_q`, `W_k`, `W_v`, `W_o` | `in_proj_weight` `(3D, D)` and `out_proj.weight` `(D, D)` |
# | a matrix is | `(D, D)`, used as `x @ W` | `nn.Linear.weight`, used as `x @ weight.T` | the same; queries', keys' and values' rows stacked, in this order |
# | input | `(…, T, D)` | `(B, T, D)` | `(T, B, D)`, unless `batch_first=True` |
# | a mask for each sentence | up to you | broadcasts | a mask for each head of each sentence, `(B * H, T, S)` |
# | a fully blocked row | up to you | 0 | NaN |
# | weights returned | `(…, H, T, S)` | `(B, H, T, S)` | `(B, T, S)`, the *mean* over heads, unless `average_attn_weights=False` |
# | use it to | understand | try something new | go fast |
#
# Two of these differences have cost people days. Without `batch_first=True` the first dimension is taken for the
# words and the second for the batch: attention then runs *across* unrelated sentences, every shape is right, and the
# result depends on who else is in the batch ([om-ai-lab/OmDet#19](https://github.com/om-ai-lab/OmDet/issues/19)). And
# the default average over heads throws away exactly what the heads were made to keep apart.
#
# To compare the three, dress the built-in layer in our conventions:


# %%
class BuiltIn(nn.Module):
    """Level 3: PyTorch's layer, called as this lesson calls attention."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.layer = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        if mask is not None:  # one mask (T, S) for each head of each sentence
            heads = self.layer.num_heads
            mask = mask.expand(len(x), heads, x.shape[1], context.shape[1]).flatten(0, 1)
        return self.layer(x, context, context, attn_mask=mask, average_attn_weights=False)


@torch.no_grad()
def give_weights(module, W_q, W_k, W_v, W_o):
    """Copy four matrices (D, D), each used as x @ W, into level 2 or 3. Returns the module."""
    if isinstance(module, BuiltIn):
        module.layer.in_proj_weight.copy_(torch.cat([W_q.T, W_k.T, W_v.T]))  # (3D, D)
        module.layer.out_proj.weight.copy_(W_o.T)
    else:
        for name, W in {"W_q": W_q, "W_k": W_k, "W_v": W_v, "W_o": W_o}.items():
            getattr(module, name).weight.copy_(W.T)
    return module


Heads = use(MultiHeadAttention, otherwise=BuiltIn)  # your class once it passes

# %% [markdown]
# (The transposes are those of section 4.) Now the proof. All three levels get the same four matrices and the same two
# sentences. At every step they must agree: the output, the weights of every head, and, going back, the gradient that
# reaches the input.

# %%
levels = {
    "from tensors": lambda x: from_tensors(x, W_q, W_k, W_v, W_o, n_heads=H),
    "module": give_weights(Heads(D, H), W_q, W_k, W_v, W_o),
    "built-in": give_weights(BuiltIn(D, H), W_q, W_k, W_v, W_o),
}
sentences = torch.randn(2, T, D, generator=generator)
direction = torch.randn(2, T, D, generator=generator)  # the gradient that arrives at the output
results = {}
for name, attention in levels.items():
    x = sentences.clone().requires_grad_()
    output, weights = attention(x)
    (gradient,) = torch.autograd.grad(output, x, direction)
    results[name] = {"output": output, "weights": weights, "gradient": gradient}

for name in ("module", "built-in"):
    for what, expected in results["from tensors"].items():
        torch.testing.assert_close(results[name][what], expected)
        error = (results[name][what] - expected).abs().max().item()
        print(f"{name:9} {what:9} {tuple(expected.shape)!s:15} at most {error:.0e} from level 1")
print("Level 2 is", Heads.whose)

# %% [markdown]
# Differences of a few units in the seventh digit are rounding: the same sums, added up in another order. And these are
# the parameters, by name and shape. Count the numbers: the same four matrices, packed differently once level 2 is
# yours.

# %%
for name in ("module", "built-in"):
    for parameter, tensor in levels[name].named_parameters():
        print(f"{name:9} {parameter:22} {tuple(tensor.shape)}")

# %% [markdown]
# ### With a bias
#
# *Review* of lesson 3: by default `nn.Linear` and `nn.MultiheadAttention` add a **bias**, a learned vector, to what
# they project: $\mathbf{X} \mathbf{W}_q + \mathbf{b}_q$, and so on. This course leaves biases out, as many newer
# models do, and one of them at least is no loss.
#
# ### Predict first
#
# Four biases, for queries, keys, values and the output. One of them changes nothing at all, whatever its numbers are.
# Which?

# %%
biased = nn.MultiheadAttention(D, H, bias=True, batch_first=True)
parts = {"queries": slice(0, D), "keys": slice(D, 2 * D), "values": slice(2 * D, 3 * D)}
with torch.no_grad():
    unbiased = biased(X[None], X[None], X[None])[0]  # its biases begin at 0
    for name, third in parts.items():
        biased.in_proj_bias[third] = torch.randn(D, generator=generator)
        moved = (biased(X[None], X[None], X[None])[0] - unbiased).abs().max().item()
        print(f"a bias for the {name:8} moves the output by {moved:.0e}")
        biased.in_proj_bias.zero_()

# %% [markdown]
# <details><summary>Answer</summary>
#
# The keys'. A bias $\mathbf{b}_k$ adds the same number, $\mathbf{q}_i \cdot \mathbf{b}_k$, to all scores of query $i$,
# and softmax does not care about a number that is added to all (lesson 2). A bias of the queries adds $\mathbf{b}_q
# \cdot \mathbf{k}_j$ to the scores with key $j$: it makes some keys more sought after, whoever asks. A bias of the
# values adds itself to every output, since weights sum to 1, and so does one of the output.
#
# </details>
#
# ### Full size
#
# Two sentences of 32 words, width 512, eight heads; then the same sentences attending to others, of 20 words.

# %%
layer = Heads(512, 8)
long = torch.randn(2, 32, 512, generator=generator)
others = torch.randn(2, 20, 512, generator=generator)
with torch.no_grad():
    for name, context in {"itself": None, "another sentence": others}.items():
        output, weights = layer(long, context)
        print(f"attending to {name}: output {tuple(output.shape)}, weights {tuple(weights.shape)}")

# %% [markdown]
# ### Exercise 4: `load_torch_weights(ours, theirs)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Above, weights went from our matrices into the built-in layer. You will want the other direction more often: somebody
# trained a model with `nn.MultiheadAttention`, and you want to look inside with your own code.
#
# Copy the weights of `theirs`, an `nn.MultiheadAttention(D, H, bias=False)`, into `ours`, a module with `W_q`, `W_k`,
# `W_v` and `W_o`, and return `ours`. Afterwards both compute the same, and each lives its own life: training one must
# not move the other. So *copy numbers into* the parameters that are there.
#
# **On paper.** `D = 1`: `theirs.in_proj_weight` is $(2, 3, 5)^\top$, of shape $(3, 1)$, and `theirs.out_proj.weight`
# is $(7)$. Then `W_q.weight` becomes $(2)$, `W_k.weight` $(3)$, `W_v.weight` $(5)$ and `W_o.weight` $(7)$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(load_torch_weights)


# %% nbgrader={"grade": false, "grade_id": "load_torch_weights", "locked": false, "schema_version": 3, "solution": true, "task": false}
def load_torch_weights(ours: nn.Module, theirs: nn.MultiheadAttention) -> nn.Module:
    """Copy the weights of PyTorch's layer into a module with W_q, W_k, W_v and W_o.

    theirs: nn.MultiheadAttention(D, H, bias=False), left as it is; in_proj_weight is (3 * D, D).
    Returns ours, which then computes the same as theirs and shares no memory with it.
    """
    ### BEGIN SOLUTION
    packed = theirs.in_proj_weight.chunk(3)  # rows of the queries, the keys, the values: (D, D)
    weights = dict(zip(("W_q", "W_k", "W_v"), packed), W_o=theirs.out_proj.weight)
    with torch.no_grad():
        for name, weight in weights.items():
            getattr(ours, name).weight.copy_(weight)
    return ours
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_load_torch_weights", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(load_torch_weights)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(load_torch_weights)
### END HIDDEN TESTS

# %% [markdown]
# Does it hold at full size, and with a mask? Eight heads, width 512, no word seeing a later one. Note that both
# layers take `True` for "blocked"; `F.scaled_dot_product_attention`, one level below, would take it for "may look".


# %%
def by_state_dict(ours, theirs):
    """Until your function passes: the built-in layer once more, with the same state."""
    ours = BuiltIn(theirs.embed_dim, theirs.num_heads)
    ours.layer.load_state_dict(theirs.state_dict())
    return ours


load = use(load_torch_weights, otherwise=by_state_dict)
theirs = nn.MultiheadAttention(512, 8, bias=False, batch_first=True)
ours = load(Heads(512, 8), theirs)
causal = torch.ones(32, 32, dtype=torch.bool).triu(diagonal=1)
with torch.no_grad():
    output, weights = ours(long, mask=causal)
    expected, average = theirs(long, long, long, attn_mask=causal)  # average: (B, T, S)
torch.testing.assert_close(output, expected, atol=1e-5, rtol=1e-4)
torch.testing.assert_close(weights.mean(dim=1), average, atol=1e-5, rtol=1e-4)
print(f"Equal outputs {tuple(output.shape)};", end=" ")
print(f"weights {tuple(weights.shape)} against {tuple(average.shape)}.")
print("Weights moved by", load.whose)

# %% [markdown]
# ### Predict first
#
# *Review* of dropout (lesson 4): in training mode, what do the weights of one query sum to?
#
# <details><summary>Answer</summary>
#
# To almost anything; to 1 only on average. Dropout strikes out some entries of the row and enlarges all others by `1 /
# (1 - dropout)`. Nothing normalises afterwards, and nothing should: that the *expected* sum is 1 is the point of the
# factor. It surprises people often enough to be reported as a bug
# ([pytorch#42929](https://github.com/pytorch/pytorch/issues/42929)).
#
# </details>

# %% tags=["demo"]
with torch.random.fork_rng(devices=[]), torch.no_grad():
    torch.manual_seed(1)
    noisy = Heads(D, H, dropout=0.25).train()
    print("training:  ", noisy(sentences)[1][0, 0].sum(-1))
    print("evaluating:", noisy.eval()(sentences)[1][0, 0].sum(-1))

# %% [markdown]
# ## 6. Where heads look
#
# What would a head do with its freedom? Let us set four heads by hand, each with a clear question, and see them side
# by side. Each word is described by 16 numbers: its place (4 numbers), its kind (determiner, noun, verb or
# other; 4 numbers), a constant 1, and seven zeros.
#
# - Head 0 asks for **the word before**. A place is coded as two points on circles, and one step back is a rotation;
#   lesson 7 makes a whole method of this idea.
# - Head 1 asks for **the word after**: the same rotation, the other way.
# - Head 2 asks for **words of the same kind**.
# - Head 3 asks for **the first word**, whoever is asking.


# %%
def place(position):
    """Two points on circles, (T, 4): one turns by 30 degrees a word, the other by 60."""
    angle = position[:, None] * torch.tensor([torch.pi / 6, torch.pi / 3])  # (T, 2)
    return torch.cat([angle.cos(), angle.sin()], dim=-1)


position = torch.arange(6.0)
kinds = torch.tensor([0, 1, 2, 0, 1, 1])  # The, the: 0; boat, river, bank: 1; reached: 2
kind = F.one_hot(kinds, 4).float()  # (6, 4)
described = torch.cat([place(position), kind, torch.ones(6, 1), torch.zeros(6, 7)], dim=-1)
described = described[None]  # (1, 6, 16): a batch of one

# With these matrices every head looks at places or at kinds; a rotation by one step is a (4, 4) matrix.
back, ahead = (torch.linalg.lstsq(place(position), place(position + step)).solution for step in (-1, 1))
questions, answers = torch.zeros(16, 16), torch.zeros(16, 16)  # W_q, W_k; 4 columns for each head
questions[0:4, 0:4], answers[0:4, 0:4] = 20 * back, torch.eye(4)
questions[0:4, 4:8], answers[0:4, 4:8] = 20 * ahead, torch.eye(4)
questions[4:8, 8:12], answers[4:8, 8:12] = 20 * torch.eye(4), torch.eye(4)
questions[8, 12:16], answers[0:4, 12:16] = 20 * place(torch.zeros(1))[0], torch.eye(4)
asking = ["the word before", "the word after", "the same kind", "the first word"]

four_heads = give_weights(Heads(16, 4), questions, answers, torch.eye(16), torch.eye(16))
with torch.no_grad():
    _, looks = four_heads(described)  # (1, 4, 6, 6)

# %% tags=["demo"]
# @title Four heads side by side, and their mean
figures.show(
    figures.multi_head.side_by_side(looks[0], rows=words, titles=asking),
    alt="Four heat maps over the six words. The word before: a dark line just under the diagonal. "
    "The word after: a dark line just over it. The same kind: The and the share their weight, so do "
    "boat, river and bank, and reached keeps its own. The first word: a dark first column.",
    caption=f"Four heads, four patterns, one layer: {Heads.whose}. At the edges a head takes the nearest word it can find.",
)
figures.show(
    figures.multi_head.side_by_side(looks[0].mean(0)[None], rows=words, titles=["mean over heads"]),
    alt="One heat map, the mean of the four. Its first column is somewhat darker than the rest; "
    "the four patterns can no longer be told apart.",
    caption="The same layer as nn.MultiheadAttention shows it by default. None of the four questions can be read from it.",
)

# %% [markdown]
# Choose a word and follow its lines: four questions, four answers, at the same time. The thickness of a line is the
# weight.


# %%
def lines_from(word):
    """The figure of where one word looks, head by head."""
    place_of_word = words.index(word)
    fig = figures.multi_head.looks(looks[0], words, place_of_word, asking)
    most = [words[int(row.argmax())] for row in looks[0, :, place_of_word]]
    seen = ", ".join(f"{question}: {answer}" for question, answer in zip(asking, most))
    return figures.with_alt_text(fig, f"Lines from the word {word} in four panels, the thickest ones to: {seen}.")


# %% tags=["demo"]
# @title Slider: where each word looks
sliders.slider(lines_from, strip=["bank"], start={"word": "reached"}, word=words)

# %% [markdown]
# Real heads are not set by hand, and most are less tidy than these. But "the word before", "the word after" and "the
# token that opens the text, whoever is asking" are among the patterns that people do find in trained models
# ([Clark et al. 2019](https://arxiv.org/abs/1906.04341)). In lesson 8 you will see one grow.

# %% [markdown]
# ## 7. Two questions, measured
#
# Now section 1 as an experiment. Each of eight words carries six random numbers and knows its place. The task: report
# the numbers of the word before, **and** those of the word before that one. Those are two questions. The layer has
# width 32, and so $4 \cdot 32^2$ parameters, however many heads share them.
#
# For a single head the loss that remains can be computed beforehand.
#
# <details><summary>Why a single head stops at 0.5</summary>
#
# Say it gives weight $a$ to the word before, whose numbers are $c_1$, and $b$ to the one before that, $c_2$; all
# numbers have mean 0 and variance 1. All it can hand on are multiples of $a c_1 + b c_2$. The best guess for $c_1$ from
# this leaves the mean squared error $1 - \frac{a^2}{a^2 + b^2}$; the best guess for $c_2$ leaves $1 -
# \frac{b^2}{a^2 + b^2}$. The two always add up to 1. So whatever the weights, the mean over both halves of the answer
# is exactly $\frac12$: the head may choose *which* question to answer, or answer both badly, and it is all the same.
#
# </details>
#
# ### Predict first
#
# One head stops at 0.5. What about 2 heads, 4, 8, 16 and 32, in a layer of width 32?
#
# <details><summary>Answer</summary>
#
# Two heads are enough, and more do no harm, up to a point. With 32 heads each has width 1: a query that is a
# single number can say "more" or "less", but hardly "the third of eight". Each head is then too narrow to ask its
# question precisely. Heads are free in parameters, not in width.
#
# </details>


# %% tags=["demo"]
def learn_two_questions(n_heads, steps=300):
    """Train a layer of width 32 to report the two words before; returns losses, last weights."""
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layer, read = Heads(32, n_heads), nn.Linear(32, 12)
    optimizer = torch.optim.Adam([*layer.parameters(), *read.parameters()], lr=0.01)
    places = torch.eye(8).expand(64, 8, 8)
    losses = []
    for _ in range(steps):
        content = torch.randn(64, 8, 6, generator=generator)
        x = F.pad(torch.cat([content, places], dim=-1), (0, 18))  # (64, 8, 32)
        wanted = torch.cat([content.roll(back, dims=1) for back in (1, 2)], dim=-1)  # (64, 8, 12)
        output, weights = layer(x)
        loss = F.mse_loss(read(output), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, weights.detach()


runs = {n: learn_two_questions(n) for n in (1, 2, 4, 8, 16, 32)}

# %% tags=["demo"]
# @title Loss curves of one head and of two, and the loss that each number of heads reaches
figures.show(
    figures.multi_head.by_number({n: losses for n, (losses, _) in runs.items()}, floor=0.5),
    caption=f"Trained with {Heads.whose}. Every layer here has the same number of parameters.",
)

# %% [markdown]
# And where do its heads look after training, in the layer that has two?

# %% tags=["demo"]
# @title The weights of the two heads after training
numbered = [f"place {i}" for i in range(8)]
figures.show(
    figures.multi_head.side_by_side(runs[2][1].mean(0), rows=numbered, columns="01234567"),
    alt="The weights of the two heads after training, over eight places, mean over 64 sentences. One "
    "head has a dark line one step under the diagonal, the other two steps under it; both "
    "lines continue at the top right corner.",
    caption="What the two heads learned, unasked: they divided the two questions between them.",
)

# %% [markdown]
# Nobody told head 0 to take one question and head 1 the other. Whichever head is a little better at one of them by
# chance gets the stronger gradient for it, and the other is left with what remains.

# %% [markdown]
# %%answer what_a_head_does

# %% [markdown]
# ## 8. A bug that trains
#
# You know the wrong split from section 3: cut by `reshape` alone. There is a wrong merge to match it: put the heads
# together by `reshape` alone, without exchanging heads and words first. Here are both. The first splits wrongly, and
# merges in the same wrong way, so that at least every number returns to its place. The second splits rightly and merges
# wrongly.


# %%
class WrongHeads(nn.Module):
    """Multi-head attention with one of two mistakes, "split" or "merge". Every shape is right."""

    def __init__(self, d_model, n_heads, mistake):
        super().__init__()
        self.n_heads, self.mistake = n_heads, mistake
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, context=None, mask=None):
        B, T, D = x.shape
        allowed = None if mask is None else ~mask  # this function takes True for "may look"
        queries_keys_values = [projection(x) for projection in (self.W_q, self.W_k, self.W_v)]
        if self.mistake == "split":  # whole words go to each head
            cut = [t.reshape(B, self.n_heads, T, D // self.n_heads) for t in queries_keys_values]
            heads = F.scaled_dot_product_attention(*cut, attn_mask=allowed)
        else:
            bands = zip(*(t.chunk(self.n_heads, dim=-1) for t in queries_keys_values))
            outputs = [F.scaled_dot_product_attention(*b, attn_mask=allowed) for b in bands]
            heads = torch.stack(outputs, dim=1)
        # (B, H, T, K), written out head after head instead of word after word
        return self.W_o(heads.reshape(B, T, D)), None


makers = {
    "right": lambda: Heads(32, 4),
    "wrong split": lambda: WrongHeads(32, 4, "split"),
    "wrong merge": lambda: WrongHeads(32, 4, "merge"),
}

# %% [markdown]
# Train all three on three tasks, with sentences of eight random words out of sixteen. **Copy**: say the sentence
# again. **Reverse**: say it backwards. **Predict**: with a causal mask, say the next word; since the words are random,
# nobody can do better than guess, and the loss of guessing is $\ln 16 = 2.77$.
#
# ### Predict first
#
# For each task: will the loss curve give the two bugs away?

# %% tags=["demo"]
tasks = {  # ids (B, 9) -> inputs (B, 8), targets (B, 8), mask
    "copy": lambda ids: (ids[:, :8], ids[:, :8], None),
    "reverse": lambda ids: (ids[:, :8], ids[:, :8].flip(1), None),
    "predict": lambda ids: (ids[:, :8], ids[:, 1:], torch.ones(8, 8, dtype=torch.bool).triu(1)),
}


def learn(make, task, steps=200):
    """Train embedding, attention and read-out on one task; returns the losses."""
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        embedding, places = nn.Embedding(16, 32), nn.Embedding(8, 32)
        attention, read = make(), nn.Linear(32, 16)
    parts = nn.ModuleList([embedding, places, attention, read])
    optimizer = torch.optim.Adam(parts.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        inputs, targets, mask = task(torch.randint(16, (64, 9), generator=generator))
        output, _ = attention(embedding(inputs) + places.weight, mask=mask)
        loss = F.cross_entropy(read(output).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


trained = {name: {which: learn(make, task) for which, make in makers.items()} for name, task in tasks.items()}

# %% tags=["demo"]
# @title The losses of all three on each task
guessing = {"guessing, ln 16": torch.tensor(16.0).log().item()}
fig, axes = figures.row(3, width=3.4, height=3.0)
for ax, (name, curves) in zip(axes, trained.items()):
    figures.losses(curves, guessing, every=10, ax=ax, ylabel="", title=name)
axes[0].set_ylabel("training loss")
figures.show(
    fig,
    alt="Loss curves of three layers in three tasks. Copy: all three fall to 0 within forty steps. "
    "Reverse: right and wrong merge fall to 0, wrong split stays at 2.77. Predict: right and "
    "wrong split stay at 2.77, wrong merge falls to "
    f"{trained['predict']['wrong merge'][-1]:.2f}, which is impossible without seeing the "
    "future.",
    caption=f'"right" is {Heads.whose}.',
)

# %% [markdown]
# Read the three panels slowly. No single task gives both bugs away, and copying, the usual first test, gives away none.
#
# - **Copy** is learned by everybody. The layers around a scrambled one learn to unscramble it. If a falling loss is
#   your test, both bugs pass.
# - **Reverse** stops the wrong split: each of its four heads sees two whole words of eight, and the word it needs is in
#   another one. The wrong merge passes again.
# - **Predict** stops the wrong merge, in the opposite direction. Its loss *falls*, where it must not. The merge writes
#   numbers of late words into early words, past the mask. On real text you would see a wonderful training loss, and a
#   model that cannot write.
#
# ### How to catch it
#
# Not by training. Look at what the layer *does*, with random weights, before the first step. Three questions, each a
# line or two long:
#
# 1. **Shuffle** the words. Attention that knows no places must shuffle its output in the same way.
# 2. **Change the last word** under a causal mask. No earlier output may move.
# 3. **Compare** with a layer that you trust, given the same weights. This is what sections 2, 3 and 5 did all along.


# %% tags=["demo"]
@torch.no_grad()
def examine(attention):
    """The largest difference that each question finds, for a layer of width 32 with 4 heads."""
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(4, 8, 32, generator=generator)
    order = torch.randperm(8, generator=generator)
    causal = torch.ones(8, 8, dtype=torch.bool).triu(1)
    changed = torch.cat([x[:, :-1], torch.randn(4, 1, 32, generator=generator)], dim=1)
    matrices = [torch.randn(32, 32, generator=generator) / 32**0.5 for _ in range(4)]
    give_weights(attention, *matrices)
    reference = give_weights(BuiltIn(32, 4), *matrices)

    def apart(a, b):
        return (a - b).abs().max().item()

    return {
        "shuffle": apart(attention(x[:, order])[0], attention(x)[0][:, order]),
        "change the last word": apart(attention(x, mask=causal)[0][:, :-1], attention(changed, mask=causal)[0][:, :-1]),
        "compare": apart(attention(x)[0], reference(x)[0]),
    }


for name, make in makers.items():
    found = examine(make())
    marks = (f"{what}: {'✗' if size > 1e-4 else '✓'} {size:.0e}" for what, size in found.items())
    print(f"{name:12}", "   ".join(marks))

# %% [markdown]
# The wrong split even passes the second question: it keeps the words in order, so nothing leaks backwards. Only
# comparing and shuffling catch both, in a hundredth of a second, before any training. A test that compares two ways to
# compute the same thing is worth more than any loss curve.

# %% [markdown]
# ## 9. What heads cost
#
# ### Predict first
#
# A layer of width 512 has one head. You give it eight. How many parameters does that add?
#
# <details><summary>Answer</summary>
#
# None. Eight heads of width 64 share the same four matrices of $512 \times 512$ that one head of width 512 uses: $4
# \cdot 512^2 = 1\,048\,576$ parameters either way. The products for queries, keys, values and output cost the same,
# too. What does grow is the number of attention weights: $H$ maps of $T \times S$ instead of one.
#
# </details>
#
# To be sure, count. And count well, since "how many parameters does it have?" has two traps. *Frozen* parameters
# (`requires_grad=False`) are not trained. And a parameter may be *tied*: used in two places, but there is only one of
# it, as when a language model reads words in and writes words out with the same table.
#
# ### Exercise 5: `count_parameters(module)`
#
# *Difficulty ★☆☆ · about 4 minutes*
#
# **On paper.** `nn.Linear(3, 2)` has $3 \cdot 2$ weights and 2 biases: 8. With its bias frozen: 6. `nn.Sequential(a,
# a)`, where both entries are the same `nn.Linear(3, 3, bias=False)`: 9, not 18.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(count_parameters)


# %% nbgrader={"grade": false, "grade_id": "count_parameters", "locked": false, "schema_version": 3, "solution": true, "task": false}
def count_parameters(module: nn.Module) -> int:
    """How many numbers training can change, as an int.

    These are the elements of all trainable parameters, each parameter counted once.
    """
    ### BEGIN SOLUTION
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_count_parameters", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(count_parameters)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(count_parameters)
### END HIDDEN TESTS


# %%
def by_flattening(module):
    """Until your function passes: all parameters (none is frozen here) in one long vector."""
    return nn.utils.parameters_to_vector(module.parameters()).numel()


count = use(count_parameters, otherwise=by_flattening)
for heads in (1, 2, 8, 64):
    layer = Heads(512, heads)
    print(f"width 512, {heads:2} heads of width {512 // heads:3}: {count(layer):,} parameters")
table = nn.Embedding(1000, 64)
read_out = nn.Linear(64, 1000, bias=False)
untied = count(nn.ModuleList([table, read_out]))
read_out.weight = table.weight  # one table for reading in and for writing out
tied = count(nn.ModuleList([table, read_out]))
print(f"a table of 1000 words, and its read-out: {untied:,}; tied: {tied:,}")
print("Counted by", count.whose)

# %% [markdown]
# ## 10. Is it a bug?
#
# Somebody reads the paper ("project the queries, keys and values $h$ times with different, learned linear
# projections"), then PyTorch's source. There the projection of the queries has the shape `(D, D)`, whatever the number
# of heads is. The report: **`nn.MultiheadAttention` does not handle `n_heads`; there is one projection for all heads,
# and there ought to be `n_heads` of them, `(D, D * H)` in all**
# ([pytorch#60445](https://github.com/pytorch/pytorch/issues/60445)).
#
# **Decide, and then run the cell:** is it a bug? It takes each head's own share out of the packed matrix, runs the
# heads one by one, each with matrices that no other head uses, and compares.

# %%
width, n_heads = 24, 3
theirs = nn.MultiheadAttention(width, n_heads, bias=False, batch_first=True)
x = torch.randn(1, 5, width, generator=generator)
with torch.no_grad():
    outputs = []
    for h in range(n_heads):
        mine = slice(h * width // n_heads, (h + 1) * width // n_heads)  # head h's rows of each third
        thirds = theirs.in_proj_weight.view(3, width, width)  # queries, keys, values
        q, k, v = (x @ third[mine].T for third in thirds)  # each (1, 5, 8)
        outputs.append(one_head(q, k, v)[0])
    one_by_one = torch.cat(outputs, dim=-1) @ theirs.out_proj.weight.T
    torch.testing.assert_close(one_by_one, theirs(x, x, x)[0])
print("Heads one by one, each with its own (24, 8) projections: the same output.")

# %% [markdown]
# <details><summary>Answer</summary>
#
# Not a bug. The `(D, D)` matrix *is* $H$ different projections, each of shape `(D, K)` with `K = D / H`, side by side:
# the picture of section 2. The same doubt was raised against other implementations
# ([SamLynnEvans/Transformer#4](https://github.com/SamLynnEvans/Transformer/issues/4)), and PyTorch's manual says since
# then that the width is split across the heads. Heads of the full width `D` would be possible, too; they would need
# $H$ times the parameters, and in the paper as well $d_k = d_{\text{model}} / h$.
#
# The real bug lies close by: one *head-sized* projection, `nn.Linear(K, K)`, that all heads share. Then the heads do
# not have different projections, and each sees only its own slice of the word
# ([aladdinpersson/Machine-Learning-Collection#3](https://github.com/aladdinpersson/Machine-Learning-Collection/issues/3)).
#
# </details>

# %% [markdown]
# ## 11. Seen in the wild
#
# **Split by view alone, in three models at once.** [FuxiCTR](https://github.com/reczoo/FuxiCTR/issues/30), a library
# of recommendation models, cut heads like this, following a blog post:
#
# ```diff
# - query = query.view(batch * heads, -1, width)
# + query = query.view(batch, length, heads, width).transpose(1, 2)
# ```
#
# Seen from outside: nothing. The models trained, and their scores looked like scores. With one head both lines do the
# same; the bug needs `num_heads > 1`.
#
# **Merged by reshape alone, and the test passed.** In
# [jsbaan/transformer-from-scratch](https://github.com/jsbaan/transformer-from-scratch/pull/6) the heads were put
# together without exchanging dimensions first. The test trained the model to copy, and it learned to copy: your first
# panel in section 8. A reader found the missing line by reading, not by running.
#
# ```diff
# - values = values.reshape(batch, length, width)
# + values = values.permute(0, 2, 1, 3).reshape(batch, length, width)
# ```
#
# **Everybody else's mask.** PyTorch's layer wants one mask for each head of each sentence, `(B * H, T, S)`, all
# heads of the first sentence first. [CLIP4Clip](https://github.com/ArrowLuo/CLIP4Clip/issues/22) repeated the masks in
# the other order, so that heads got the padding mask of another sentence:
#
# ```diff
# - mask = mask.repeat(n_heads, 1, 1)                    # M0 M1 M2 M0 M1 M2
# + mask = mask.repeat_interleave(n_heads, dim=0)        # M0 M0 M1 M1 M2 M2
# ```
#
# Seen from outside: the result for a sentence depends on who shares its batch, and with a batch of one all is well.
# (`BuiltIn` above does it by `expand` and `flatten`, which cannot get the order wrong.)

# %% [markdown]
# ## The model so far
#
# In the model that grows from lesson 3 to lesson 8 your `MultiHeadAttention` takes the place of the projections and of
# the one attention. The matrices are the same; two heads share their columns.

# %% tags=["demo"]
# @title The model so far, and where its letters look
from course import staged_model

so_far = staged_model.current_model()
figures.show(
    figures.staged_model.built_so_far(so_far, "then the hen"),
    caption=f"The letters and numbers of lessons 3 to 5, in two heads. Hatched: blocked. {so_far.whose}",
)

# %% [markdown]
# Both heads still look for like letters, but each judges by its own half of the numbers, and they do not always agree
# on what is alike. With trained matrices they would ask different questions altogether.

# %% [markdown]
# ## Summary
#
# $$ \operatorname{MultiHead}(\mathbf{X}) = [\, \text{head}_0, \dots, \text{head}_{H-1} \,]\; \mathbf{W}_o, \qquad
#    \text{head}_h = \operatorname{softmax}\!\left( \frac{\mathbf{Q}_h \mathbf{K}_h^\top}{\sqrt{d_k}} \right) \mathbf{V}_h,
#    \qquad d_k = d / H $$
#
# 1. One head averages, and answers one question at a time; several heads answer several, and $\mathbf{W}_o$ mixes the
#    answers.
# 2. All heads' matrices lie side by side in one `(D, D)` matrix, so heads add no parameters; they divide the width.
# 3. Split by cutting each word's row and *then* exchanging two dimensions; merge by the same steps backwards.
# 4. The scale, the softmax, the mask and the dropout belong to each head on its own.
# 5. A falling loss proves little. Two computations of the same thing, with the same weights, prove a lot.
#
# **To read on:** [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.2, where heads come from ·
# [Are Sixteen Heads Really Better than One?](https://arxiv.org/abs/1905.10650), in which trained models lose most of
# their heads and hardly notice ·
# [`nn.MultiheadAttention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html), whose
# manual you can now read with a critical eye.

# %% [markdown]
# ## Challenge: `value_output_matrices(W_v, W_o, n_heads)`
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# A challenge is for those who want more. The same judge checks it, no grade knows of it, and you may leave it as it is.
#
# Four matrices make a layer of attention: in how many of its parts can what it *does* be told apart? The weights of a head
# say from which words it takes something; what it takes, and where it puts it, is the way of a word through
# $\mathbf{W}_v$, then through $\mathbf{W}_o$, with no softmax between the two. So each head has **one** matrix
# $\mathbf{M}_h$, `(D, D)`, and the layer's output is a sum over the heads:
#
# $$ \text{output} = \sum_{h=0}^{H-1} \mathbf{A}_h\, \mathbf{X}\, \mathbf{M}_h $$
#
# where $\mathbf{A}_h$, `(T, T)`, holds the weights of head $h$. Nothing is concatenated any more: heads only ever add.
# $\mathbf{M}_h$ has $d^2$ numbers, but it was made through $d_k$ of them, so its **rank** is at most $d_k$: that is what a
# narrow head gives up. Who takes a trained model apart reads these matrices and not the two that made them, which may be
# changed together without changing anything.
#
# Return the matrices of all heads, `(H, D, D)`. `W_v` and `W_o` are weights of `nn.Linear`, `(D, D)`, with which a word
# `x` becomes `x @ W_v.T`; heads are cut as by `split_heads`. Raise a `ValueError` that names `n_heads` unless it divides $d$.
#
# **On paper.** $d = 2$, two heads of one number each, `W_v = [[1, 2], [3, 4]]` and `W_o = [[5, 6], [7, 8]]`. The word
# $(1, 0)$ has the value 1 in head 0. The output that head 0 makes of it is $(5, 7)$, which is the first row of
# $\mathbf{M}_0$. What is the second, for the word $(0, 1)$?

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(value_output_matrices)


# %%
def value_output_matrices(W_v: torch.Tensor, W_o: torch.Tensor, n_heads: int) -> torch.Tensor:
    """What each head does to a word it looks at, as one matrix: the head adds its weights times `x @ matrix`.

    W_v, W_o: weights of nn.Linear, (D, D). Returns (H, D, D). ValueError unless n_heads is at least 1 and
    divides D.
    """
    raise NotImplementedError  # take this line out, and write yours


# %% tags=["demo"]
check(value_output_matrices)

# %% tags=["demo"]
progress()
