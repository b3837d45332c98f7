# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 6: Multi-head attention
#
# Which bank is meant in *The boat reached the river bank*? Two words help: *river*, and *boat*, the thing that arrives. But one
# set of weights gives *bank* only one average of them. **How can a word ask several questions at once, and keep the answers
# apart?**
#
# **You will build** `MultiHeadAttention`: the `SelfAttention` of lesson 3, with several *heads*.
#
# **You need** queries, keys and values (lesson 3), the scale and dropout (4), and masks (5).
#
# **Time:**

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sentence, small_lm, solution
from course.models import head_studies
from course.notebook import growth
from torch import nn

begin("06_multi_head")

# %% [markdown]
# ## Quiz: what came before
#
# **1.** Blocked weights are set to 0 *after* the softmax. What do the weights of a row with blocked keys sum to?

# %%
predict("quiz 1", ...)  # "less than 1", "1" or "more than 1"

# %% [markdown]
# ## 1. What one head cannot do
#
# A **head** is one attention with its own queries, keys and values. Give it a task: from two words, return **the colour of word
# 0 and the shape of word 1**. The value of word 0 is $(1, 0)$, all colour and no shape, and that of word 1 is $(0, 1)$. So the
# wanted output is $(1, 1)$. One head has one pair of weights, $a$ and $1 - a$. Two heads have two pairs, so one can return the
# colour and the other the shape.
#
# ### Predict: the reach of one head
#
# Which points (colour, shape) can one head produce?

# %%
# The points: "the segment from word 0 to word 1", "a square" or "the whole plane"
predict("the reach of one head", ...)

# %% tags=["picture"]
# @title What one head and what two heads can reach
figures.show(figures.multi_head.reach())

# %% [markdown]
# A matrix after the head can double it to $(1, 1)$, but none is right for all words, which pass through the same
# one.
#
# ## 2. Two heads, in a loop
#
# **Multi-head attention** runs $H$ heads side by side. Head $h$ has its own three matrices, `(D, Dk)`. For the words
# $\mathbf{X}$, `(T, D)`, it computes
#
# $$ \mathbf{O}_h = \operatorname{softmax}\!\left( \frac{\mathbf{Q}_h \mathbf{K}_h^\top}{\sqrt{d_k}} \right) \mathbf{V}_h,
#    \qquad \mathbf{Q}_h = \mathbf{X} \mathbf{W}_q^{(h)}, \quad \mathbf{K}_h = \mathbf{X} \mathbf{W}_k^{(h)}, \quad
#    \mathbf{V}_h = \mathbf{X} \mathbf{W}_v^{(h)} . $$
#
# In formulas, `D` is $d$ and `Dk` is $d_k$, and we choose $d_k = d / H$, for values too. So the $H$ outputs side by side are as
# wide as a word again, and one last matrix $\mathbf{W}_o$, `(D, D)`, combines them in each entry:
#
# $$ \operatorname{MultiHead}(\mathbf{X}) = [\, \mathbf{O}_0,\; \mathbf{O}_1,\; \dots,\; \mathbf{O}_{H-1} \,]\; \mathbf{W}_o . $$
#
# Here are two heads for our sentence, by lesson 5's `masked_attention`. Their matrices are random, so their weights don't mean
# anything yet:

# %% tags=["code"]
words = sentence.words  # The boat reached the river bank
T, D, H = 6, 8, 2
Dk = D // H
X, heads, W_o = head_studies.two_random_heads(sentence.x)  # (T, D); W_q, W_k, W_v (D, Dk) of each; (D, D)

outputs = []
for W_q, W_k, W_v in heads:
    output, weights = masked_attention(X @ W_q, X @ W_k, X @ W_v)  # (T, Dk), (T, T)
    print("weights of bank:", weights[5].numpy().round(2), "  output:", output[5].numpy().round(2))
    outputs.append(output)
by_loop = torch.cat(outputs, dim=-1) @ W_o  # (T, D)

# %% tags=["picture"]
# @title Two heads: queries, keys, weights, values, outputs
drawn = figures.multi_head.two_heads(masked_attention, X, heads, words)
figures.show(drawn)

# %% [markdown]
# ### One matrix for all heads
#
# Put the $\mathbf{W}_q$ of both heads side by side. The result is one matrix `(D, D)`, and one product gives all queries:
#
# $$ \mathbf{X}\, [\, \mathbf{W}_q^{(0)},\; \mathbf{W}_q^{(1)} \,] =
#    [\, \mathbf{X} \mathbf{W}_q^{(0)},\; \mathbf{X} \mathbf{W}_q^{(1)} \,] . $$
#
# Each *column* of a product depends only on the same column of the matrix on the right. So each head owns a band of columns,
# and the heads stay independent.

# %% tags=["picture"]
# @title One packed matrix, and the columns of each head
figures.show(figures.multi_head.packed(n_heads=2, tokens=6, width=8))

# %% tags=["code"]
W_q, W_k, W_v = (torch.cat(matrices, dim=1) for matrices in zip(*heads))  # each (D, D)
torch.testing.assert_close((X @ W_q)[:, Dk:], X @ heads[1][0])
print("Columns 4 to 7 of X @ W_q are the queries of head 1.")

# %% [markdown]
# Can the loop go, too? Attention treats leading dimensions as a batch, so with `(B, H, T, Dk)` it computes all heads of all
# sentences at once. What is missing is a way to split packed tensors into heads, and to merge the outputs.
#
# ## 3. Splitting and merging
#
# A projected batch is `(B, T, D)`: the row of each word has `Dk` numbers of head 0, then those of head 1, and so on. Here are
# four words of six numbers, without a batch. The numbers count up in the order in which they are in memory:

# %% tags=["code"]
small = torch.arange(24).view(4, 6)  # (T, D)
wanted = torch.stack([small[:, :3], small[:, 3:]])  # (H, T, Dk): the columns of head 0, then those of head 1
print(small)

# %% [markdown]
# ### Predict: reshape alone
#
# `small.reshape(2, 4, 3)` has the wanted shape `(H, T, Dk)`, and raises no error. What does head 0 get?

# %%
# Head 0 gets: "the first half of every word", "the first two words" or "every other number"
predict("what reshape gives head 0", ...)

# %% tags=["picture"]
# @title After reshape alone, and the heads that you want
figures.show(figures.multi_head.cut_by_reshape(small))

# %% [markdown]
# `reshape` never looks at columns. It cuts the numbers, row after row, into pieces of the new sizes. So first cut each word's row
# into $H$ pieces, and only then swap words and heads, with `transpose`.
#
# ### Exercise: `split_heads(x, n_heads)`
#
# *Difficulty ★★☆, importance ●●●, about 8 minutes.*
#
# Do this for a batch. Where $H$ doesn't divide the width, as for `D = 10` and `H = 4`, raise a `ValueError` that names
# `n_heads` and its value.
#
# **Worked example.** One sentence of two words, $(1, 2, 3, 4)$ and $(5, 6, 7, 8)$, and two heads. Head 0 gets
# $\begin{pmatrix} 1 & 2 \\ 5 & 6 \end{pmatrix}$ and head 1 gets $\begin{pmatrix} 3 & 4 \\ 7 & 8 \end{pmatrix}$.


# %% nbgrader={"grade": false, "grade_id": "split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Cut every word's row into one piece for each head.

    x: (B, T, D); each size may be 1. Returns (B, H, T, D // H) with H = n_heads: piece h of each row goes to head h.
    Raises ValueError unless n_heads is a whole number of at least 1 that divides D.
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
# To merge the heads, swap back, and write the pieces of each word side by side.
#
# ### Predict: view
#
# The outputs of the heads are a new tensor of shape `(2, 4, 3)`, in memory row after row. `view` changes the shape as `reshape`
# does, but it never moves a number. What does `.transpose(0, 1).view(4, 6)` give?

# %%
# "the merged heads", "mixed-up numbers" or "an error"
predict("view after a transpose", ...)

# %% tags=["code"]
found = wanted.clone()  # (H, T, Dk), contiguous: in memory row after row
try:
    found.transpose(0, 1).view(4, 6)
except RuntimeError as error:
    print("view:", str(error).split(" (")[0])
print("reshape:", found.transpose(0, 1).reshape(4, 6)[0])

# %% [markdown]
# `transpose` moves nothing in memory, so the two pieces of a word are still far apart, and `view` can't join them. `reshape`
# copies where it has to; `.contiguous()` copies on request.
#
# ### Exercise: `merge_heads(x)`
#
# *Difficulty ★☆☆, importance ●●●, about 6 minutes.*
#
# Undo `split_heads`: write the heads side by side, head 0 first.
#
# **Worked example.** With $\begin{pmatrix} 1 & 2 \\ 5 & 6 \end{pmatrix}$ in head 0 and
# $\begin{pmatrix} 3 & 4 \\ 7 & 8 \end{pmatrix}$ in head 1, word 0 is $(1, 2, 3, 4)$ again, and word 1 is $(5, 6, 7, 8)$.


# %% nbgrader={"grade": false, "grade_id": "merge_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Write the pieces of every word side by side, head 0 first: undoes `split_heads`.

    x: (B, H, T, Dv), in memory in any order; each size may be 1. Returns (B, T, H * Dv).
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)  # (B, T, H, Dv) -> (B, T, H * Dv); copies where it has to
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_merge_heads", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(merge_heads)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(merge_heads)
### END HIDDEN TESTS

# %% [markdown]
# And if a trained model gets the wrong split? Guessing among the 1,001 words of the small language model gives a loss of 6.9:

# %% tags=["model"]
lm = small_lm.load()
yours = lm.compare(split=split_heads, merge=merge_heads)
wrong = lm.compare(split=lambda x, n_heads: x.reshape(len(x), n_heads, x.shape[1], -1))

# %% [markdown]
# It is now sure of wrong words, which is worse than guessing.
#
# ## 4. A module
#
# `__init__` makes the layers, and `forward` computes with them. You write one after the other.
#
# Each packed matrix becomes an `nn.Linear(D, D, bias=False)`, which computes `x @ weight.T`. Its weight is square, so nothing
# complains if you copy a matrix without `.T`.
#
# ### Exercise: `HeadLayers(d_model, n_heads, dropout=0.0)`
#
# *Difficulty ★☆☆, importance ●●●, about 7 minutes.*
#
# Make the four layers `W_q`, `W_k`, `W_v` and `W_o`, and `dropout`, an `nn.Dropout`. Refuse an $H$ that doesn't divide
# `d_model` here, not only in `forward`, which comes next.
#
# **Worked example.** `HeadLayers(8, 2)` has four parameters, `W_q.weight` and so on, each $(8, 8)$. `HeadLayers(10, 4)` raises
# a `ValueError`.


# %% nbgrader={"grade": false, "grade_id": "HeadLayers", "locked": false, "schema_version": 3, "solution": true, "task": false}
class HeadLayers(nn.Module):
    """The layers of multi-head attention: W_q, W_k, W_v and W_o, from d_model to d_model, without bias, and dropout.

    dropout: the probability of the nn.Dropout of this name, 0 <= dropout < 1. There are no other parameters.
    Raises ValueError unless n_heads is a whole number of at least 1 that divides d_model.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, which does not divide d_model, {d_model}")
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_HeadLayers", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(HeadLayers)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(HeadLayers)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: eight heads instead of one
#
# A layer of width 512 has one head. You give it eight. How many parameters does that add?

# %%
# A number
predict("the parameters that eight heads add", ...)

# %% tags=["code"]
for n_heads in (1, 8, 64):
    parameters = dict(HeadLayers(512, n_heads).named_parameters())
    print(f"{n_heads:2} heads:", f"{sum(weight.numel() for weight in parameters.values()):,} in all")
for name, weight in parameters.items():
    print(f"{name}  {tuple(weight.shape)}  {weight.numel():,}")

# %% [markdown]
# Heads share the width, so all matrix products cost the same, too. Only the attention weights grow: $H$ maps instead of one.

# %% tags=["picture"]
# @title From x to the output, with all shapes
figures.show(figures.multi_head.shapes())

# %% [markdown]
# Three details decide whether `forward` is right.
#
# - **The scale** is that of one head, $1/\sqrt{d_k}$. If you divide by $\sqrt{d}$, nothing fails, but the weights are too even.
# - **The context**, `(B, S, D)`: keys and values come from it if there is one (cross-attention), and else from `x`, as queries
#   always do.
# - **The mask** is that of lesson 5, and broadcasts to `(B, H, T, S)`.
#
# Your parts from earlier lessons do most of this already:

# %% tags=["picture"]
# @title Your `SelfAttention` of lesson 3 and your `masked_attention` of lesson 5, to copy
growth.show("SelfAttention")
growth.show("masked_attention")

# %% [markdown]
# ### Exercise: `MultiHeadAttention(d_model, n_heads, dropout=0.0)`
#
# *Difficulty ★★☆, importance ●●●, about 13 minutes.*
#
# Copy your `masked_attention` above the class. Then write `forward`. As in lesson 4, drop weights before they multiply the
# values: take its weights, not its output. Return those after dropout.
#
# **Worked example.** `D = H = 2`, so $d_k = 1$, and all matrices are the identity. The words are $(0, 0)$ and $(\ln 3, 8)$, so
# head 0 sees $0$ and $\ln 3$, and head 1 sees $0$ and $8$. Word 0 has the scores 0, so weights of $\tfrac12$ and the output
# $(\tfrac12 \ln 3,\; 4)$. Word 1 has in head 0 the scores $0$ and $(\ln 3)^2 = 1.21$, so the weights $0.23$ and $0.77$, and in
# head 1 the scores $0$ and $64$. Its output is $(0.77 \ln 3,\; 8)$.


# %% nbgrader={"grade": false, "grade_id": "MultiHeadAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
# Here goes your `masked_attention` of lesson 5


class MultiHeadAttention(nn.Module):
    """Attention with several heads, over a sentence or from one sentence to another.

    Has the layers of HeadLayers and no other parameters. dropout: the probability with which each weight is dropped in
    training mode, independently. A call does not affect later ones.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        layers = HeadLayers(d_model, n_heads, dropout)  # yours; you may also make the layers here
        self.W_q, self.W_k, self.W_v, self.W_o = layers.W_q, layers.W_k, layers.W_v, layers.W_o
        self.n_heads, self.dropout = n_heads, layers.dropout

    def forward(
        self, x: torch.Tensor, context: torch.Tensor | None = None, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend from x, (B, T, D), to context, (B, S, D), or to x itself where context is None.

        mask: bool, broadcasts to (B, H, T, S), True = blocked; in a fully blocked row, a head's weights and
        output are 0, never NaN. Scores may be as large as 1e13, blocked ones too: only -inf blocks them.
        Returns the output (B, T, D) and the weights that were applied (B, H, T, S).
        Not allowed: F.scaled_dot_product_attention, nn.MultiheadAttention, F.multi_head_attention_forward.
        """
        ### BEGIN SOLUTION
        context = x if context is None else context
        query = split_heads(self.W_q(x), self.n_heads)  # (B, H, T, Dk)
        key = split_heads(self.W_k(context), self.n_heads)  # (B, H, S, Dk)
        value = split_heads(self.W_v(context), self.n_heads)  # (B, H, S, Dv)
        scores = query @ key.mT / query.shape[-1] ** 0.5  # (B, H, T, S)
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:  # blocked twice: the second time empties the rows in which everything was blocked
            weights = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1).masked_fill(mask, 0.0)
        weights = self.dropout(weights)
        return self.W_o(merge_heads(weights @ value)), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_MultiHeadAttention", "locked": true, "points": 9, "schema_version": 3, "solution": false, "task": false}
check(MultiHeadAttention)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(MultiHeadAttention)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title Your `SelfAttention`, and what you added to it
growth.show("SelfAttention", "MultiHeadAttention")

# %% [markdown]
# Does your module, with the two heads of section 2, agree with the loop?

# %% tags=["code"]
module, matrices = MultiHeadAttention(D, H), {"W_q": W_q, "W_k": W_k, "W_v": W_v, "W_o": W_o}
state = {f"{name}.weight": W.T for name, W in matrices.items()}  # a layer with this weight computes x @ W
module.load_state_dict(state, strict=False)  # a module that also keeps its HeadLayers has more names
torch.testing.assert_close(module(X[None])[0][0], by_loop)
print("Your module and the loop give the same numbers.")

# %% tags=["picture"]
# @title Both heads, without a mask and with a causal one
figures.show(figures.multi_head.without_and_with(module, X, causal_mask(T), words))

# %% [markdown]
# Now it becomes layer 0 of the small language model. (Other layers also rotate queries and keys: lesson 7.)

# %% tags=["model"]
losses = lm.compare(module=MultiHeadAttention)

# %% [markdown]
# ## 5. Three levels, one result
#
# PyTorch has this layer built in, so there are three levels to work at:
#
# | level | matrices | you look after |
# |---|---|---|
# | tensors | used as `x @ W` | everything |
# | your module | layers, used as `x @ weight.T` | split, scale, mask, merge |
# | `nn.MultiheadAttention` | queries, keys, values packed into one, `(3D, D)`; `out_proj` | its conventions |
#
# And these conventions are traps:
#
# | | by default | as in your module |
# |---|---|---|
# | input | `(T, B, D)`, so `(B, T, D)` attends across sentences | `batch_first=True` |
# | weights | the mean over the heads | `average_attn_weights=False`, in the call |
# | biases | in all four layers | `bias=False` |
#
# With the same weights, it must agree with yours:

# %% tags=["code"]
ours, theirs = MultiHeadAttention(512, 8), nn.MultiheadAttention(512, 8, bias=False, batch_first=True)
packed = torch.cat([ours.W_q.weight, ours.W_k.weight, ours.W_v.weight])  # (3D, D)
theirs.load_state_dict({"in_proj_weight": packed, "out_proj.weight": ours.W_o.weight})
x, causal = torch.randn(2, 32, 512), causal_mask(32)
output, weights = ours(x, mask=causal)
expected, mean = theirs(x, x, x, attn_mask=causal)
torch.testing.assert_close(output, expected, atol=1e-5, rtol=1e-4)
torch.testing.assert_close(weights.mean(dim=1), mean, atol=1e-5, rtol=1e-4)
print("Equal. The shape of their mean weights:", tuple(mean.shape), "and of your steps:")
q, k, v = (split_heads(layer(x), 8) for layer in (ours.W_q, ours.W_k, ours.W_v))
steps = {"x": x, "W_q(x)": ours.W_q(x), "split": q, "scores": q @ k.mT, "weights": weights, "heads": weights @ v}
steps["merged"], steps["output"] = merge_heads(weights @ v), output
for name, tensor in steps.items():
    print(f"{name:8} {tuple(tensor.shape)}")

# %% [markdown]
# ## 6. What heads look for
#
# Nobody tells a head what to look for. Here are four of the twelve heads of the small language model:

# %% tags=["picture"]
# @title Four heads of a trained model, side by side
figures.show(figures.multi_head.four_heads(lm))

# %% [markdown]
# One finds the clue to a meaning, *river* for *bank*. One looks at its **neighbour**, the word before. One does some **grammar**:
# it finds the verb. Others follow **references** to earlier words. Give the model twelve random words twice:

# %% tags=["picture"]
# @title Twelve heads: the mean weight on the word itself, the word before, and the last time
figures.show(figures.multi_head.twelve_heads(lm))

# %% [markdown]
# The heads of layer 2 look at the word that came *after* the same word last time, which is the word to predict. They are called
# **induction heads**. BERT has heads that go from a verb's object to the verb, or from a pronoun to its noun ([Clark et al.
# 2019](https://arxiv.org/abs/1906.04341)). The mean over heads, PyTorch's default, hides this:

# %% tags=["picture"]
# @title The mean over the heads of layer 1
figures.show(figures.multi_head.mean_of_heads(lm))

# %% [markdown]
# Even one head's map has limits. A name is only a summary: from *river*, the neighbour head skips *the* and goes to *reached*.
# And a weight says where a value comes from, but not whether the model needs it. To know that, take the head away (the
# experiment below). Nor are more heads always better, since each gets narrower.
#
# ## 7. A bug that trains (extra)
#
# A transformer written from scratch merged its heads without the transpose
# ([jsbaan](https://github.com/jsbaan/transformer-from-scratch/pull/6)). Its test was to copy its input, and it passed.
#
# ```diff
# - values = values.reshape(batch, length, width)
# + values = values.permute(0, 2, 1, 3).reshape(batch, length, width)
# ```
#
# Train your layer, and one with this merge, on random words, with vectors for their positions added. **Copy**: repeat them.
# **Reverse**: repeat them backwards. **Predict**: with a causal mask, give the next word, which nobody can know: the best loss
# is $\ln 16 = 2.77$.
#
# ### Predict: the task that gives it away
#
# Which of the three shows that the merge is wrong?

# %%
# The task: "copy", "reverse" or "predict"
predict("the task that gives away the wrong merge", ...)

# %% tags=["model"]
# Takes about 12 seconds
trained = head_studies.learn_three_tasks(MultiHeadAttention)

# %% tags=["picture"]
# @title The losses of both on each task
figures.show(figures.multi_head.three_tasks(trained))

# %% [markdown]
# Copying and reversing train well, because each query learns to fetch the word that is wanted where its answer ends up. But the
# loss of *predict* falls *below* guessing, because numbers of later words get into earlier positions, past the mask. Compare with a
# layer that you trust, as in section 5.
#
# ## The model so far (extra)
#
# In the model that grows until lesson 8, your module replaces projections and attention.

# %% tags=["picture"]
# @title The model so far, and where its letters look
from course import staged_model

figures.show(figures.staged_model.built_so_far(staged_model.current_model()))

# %% [markdown]
# ## Your experiment (extra)
#
# *Difficulty ★★☆, importance ●○○, about 8 minutes.* All four heads of layer 2 are induction heads. **Can the model do without
# one of them, or without all four?**
#
# `head_studies.loss_without(lm, 2, [0])` is the model's loss while head 0 of layer 2 is silent. Your
# finding is the growth of the loss with all four silent, divided by the *sum* of the growths with each one alone. If it is 1,
# each head does work of its own; if it is larger, they stand in for each other.

# %% tags=["experiment"]
print("no head silent:", head_studies.loss_without(lm, 2, []))

# Your code: five growths of the loss. As bars: figures.bars(numbers, labels)

finding = ...  # the growth for all four, divided by the sum of the four

# %%
check("experiment", finding)

# %% [markdown]
# ## Weights on demand (extra)
#
# A layer that returns one tensor fits into `nn.Sequential`. So many libraries return the weights only if you ask:


# %% tags=["code"]
class AttentionLayer(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def forward(self, x, mask=None, return_attention=False):
        output, weights = self.attention(x, mask=mask)
        return (output, weights) if return_attention else output


layer = AttentionLayer(MultiHeadAttention(8, 2))
print(tuple(layer(X[None]).shape), [tuple(tensor.shape) for tensor in layer(X[None], return_attention=True)])

# %% [markdown]
# ## Exercise: `load_torch_weights(ours, theirs)` (extra)
#
# *Difficulty ★★☆, importance ●○○, about 8 minutes.*
#
# Copy the weights of PyTorch's layer into `ours`, a module with `W_q`, `W_k`, `W_v` and `W_o`, and return `ours`. Training one
# must not change the other, so *copy the numbers into* the existing parameters.
#
# **Worked example.** `D = 1`: `theirs.in_proj_weight` is $(2, 3, 5)^\top$ and `theirs.out_proj.weight` is $(7)$. The weights of
# `W_q`, `W_k`, `W_v` and `W_o` become $(2)$, $(3)$, $(5)$ and $(7)$.


# %%
def load_torch_weights(ours: nn.Module, theirs: nn.MultiheadAttention) -> nn.Module:
    """Copy the weights of PyTorch's layer into a module with W_q, W_k, W_v and W_o.

    theirs: nn.MultiheadAttention(D, H, bias=False), left as it is; in_proj_weight is (3 * D, D).
    Returns ours, which then computes the same as theirs and shares no memory with it.
    """
    raise NotImplementedError  # replace this line


# %%
check(load_torch_weights)

# %% [markdown]
# ## Exercise: `count_parameters(module)` (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 4 minutes.*
#
# How many numbers can training change? Leave out *frozen* parameters (`requires_grad=False`), and count a *tied* one, which is
# used in two places, once.
#
# **Worked example.** `nn.Linear(3, 2)` has $3 \cdot 2$ weights and 2 biases: 8. With its bias frozen: 6. `nn.Sequential(a, a)`,
# where both entries are the same `nn.Linear(3, 3, bias=False)`: 9, not 18.


# %%
def count_parameters(module: nn.Module) -> int:
    """How many numbers training can change, as an int.

    These are the elements of all trainable parameters, each parameter counted once.
    """
    raise NotImplementedError  # replace this line


# %%
check(count_parameters)

# %% [markdown]
# ## Eight times as expensive? (extra)

# %% [markdown]
# %%answer what_a_head_does

# %% [markdown]
# ## Summary
#
# 1. One head asks one question. Several ask several, and $\mathbf{W}_o$ mixes the answers.
# 2. The matrices of all heads are side by side in one, so heads add no parameters.
# 3. Split: cut each word's row, *then* swap words and heads. Merge: backwards.
# 4. Scale, softmax, mask and dropout apply to each head separately.
# 5. Compare with a layer that you trust, given the same weights.
#
# $$ \operatorname{MultiHead}(\mathbf{X}) = [\, \mathbf{O}_0, \dots, \mathbf{O}_{H-1} \,]\; \mathbf{W}_o, \qquad
#    \mathbf{O}_h = \operatorname{softmax}\!\left( \frac{\mathbf{Q}_h \mathbf{K}_h^\top}{\sqrt{d_k}} \right) \mathbf{V}_h,
#    \qquad d_k = d / H $$

# %% tags=["picture"]
# @title The diagram up to here, with the numbers of head 0
figures.show(figures.multi_head.so_far(masked_attention, X, heads[0]))

# %% [markdown]
# **Next:** lesson 7 tells attention the order of the words. **To read on:** [Attention Is All You
# Need](https://arxiv.org/abs/1706.03762) (2017), section 3.2.2 · [Are Sixteen Heads Really Better than
# One?](https://arxiv.org/abs/1905.10650)

# %%
progress()
