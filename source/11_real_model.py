# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 11: A real model opened
#
# Everything that you have built so far you have built yourself, down to the numbers. The models that people talk about
# come the other way: as a file of numbers that somebody else has trained. **What is in such a file, how does it get
# into your own attention, and what can you find out about a model once it is there?**
#
# First you load a checkpoint in the format of GPT-2 into a model of this course's own names, and prove that it
# computes what it should. Then you open it: you read what each layer would say, find by a score the heads that look
# for repetitions, take them out and measure what is lost, and write down one head's questions as a single matrix. The
# model is a small one that this project has trained and ships, so that all of it runs here, in seconds; the code is the
# one for the real GPT-2, which you can fetch at the end if you have a network.
#
# **You need** heads (lesson 6), the transformer block and cross-entropy (lesson 8); that a softmax of logits gives
# probabilities. Nothing from your earlier notebooks has to be copied.
#
# **Time:** about 80 minutes
#
# | letter | meaning |
# |---|---|
# | $B$, $T$ | the batch: how many texts at once; how many tokens each has |
# | $L$, $H$ | the number of layers; the number of heads in each |
# | `D`, `K` | the width of the model; the width of one head, `K = D / H` |
# | `N` | the vocabulary: how many tokens there are |
# | $\mathbf{x}$ | what runs through the model at one place of a text, `(D,)`: the **residual stream** |
# | `...` | any leading dimensions, such as layers, a batch and heads; there may be none |

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, progress, sliders, torch_fallbacks, use
from torch import nn

begin("11_real_model")

# %% [markdown]
# ## Review: three questions on what came before
#
# *Review* · about 3 minutes. Answer each in your head or on paper before you unfold its answer. Where one will not
# come back, look at the summary of the lesson that it is from.
#
# **1.** `nn.Linear(4, 16)` computes $\mathbf{x} \mathbf{W}^\top + \mathbf{b}$. Which shape has its `weight`?
#
# <details><summary>Answer</summary>
#
# `(16, 4)`: (out, in). One row for each result, and so, in lesson 6, `K` neighbouring rows for each head.
#
# </details>
#
# **2.** What does a pre-norm block add to what comes in, and what does it leave as it was?
#
# <details><summary>Answer</summary>
#
# It adds `attention(norm_1(x))`, then `mlp(norm_2(x))`. It never replaces `x`: what goes in runs through to the end,
# and every layer adds to it.
#
# </details>
#
# **3.** A model guesses evenly among 61 letters. What is its loss, in nats?
#
# <details><summary>Answer</summary>
#
# $\ln 61 \approx 4.11$. Whatever is known about the text brings it down.
#
# </details>

# %%
from course import gpt

# %% [markdown]
# ## 1. What a checkpoint holds
#
# A **checkpoint** is a dictionary: names, and tensors under them. In a file of the format *safetensors* it lies as a
# list of names, shapes and places, and then nothing but numbers: opening one runs no code, as opening a pickle does.
# Ours has been trained by this project, half on made-up tales from the harbour of lesson 8, half on random letters that
# repeat. It has 61 letters for tokens, three layers of four heads and a width of 64, takes 0.7 MB, and comes under the
# course's own licence, MIT. Its names, shapes and layout are those of the GPT-2 that OpenAI published in 2019.

# %%
checkpoint, sizes, letters = gpt.load_bundled_model()
print(sizes, "\n")
for name, tensor in checkpoint.items():
    if name.startswith("h.0") or not name.startswith("h."):
        print(f"{name:22} {tuple(tensor.shape)!s:16} {str(tensor.dtype).removeprefix('torch.')}")

# %% [markdown]
# `wte` and `wpe` are the tables of tokens and of places, `ln_f` is the last norm. There is no table to *unembed* with:
# GPT-2 uses `wte` again. Each layer `h.0`, `h.1`, … has two norms, an attention of two matrices and an mlp of two. And
# it has something under the name `attn.bias` that is no bias at all: it is the causal mask, which somebody's code once
# kept among the weights, so that files have it to this day.
#
# Here is where the same numbers live in a model with the names of this course, `course.models.gpt.GPT`. It is made of what
# you have written: embeddings, pre-norm blocks as in lesson 8, heads as in lesson 6 and the mask of lesson 5. Only the
# places are learned vectors that are added, since GPT-2 is older than RoPE, and projections have biases.
#
# | in the file | in our model | as `nn.Linear` and others have it |
# |---|---|---|
# | `wte.weight` | `tokens.weight` | `(N, D)` |
# | `wpe.weight` | `places.weight` | `(block_size, D)` |
# | `h.{i}.ln_1`, `h.{i}.ln_2` | `blocks.{i}.norm_1`, `blocks.{i}.norm_2` | `(D,)` each |
# | `h.{i}.attn.c_attn` | `blocks.{i}.attention.W_q`, `….W_k`, `….W_v` | `(D, D)` each |
# | `h.{i}.attn.c_proj` | `blocks.{i}.attention.W_o` | `(D, D)` |
# | `h.{i}.mlp.c_fc` | `blocks.{i}.mlp.0` | `(4 * D, D)` |
# | `h.{i}.mlp.c_proj` | `blocks.{i}.mlp.2` | `(D, 4 * D)` |
# | `ln_f` | `norm` | `(D,)` each |
#
# Each but the first two has a `weight` and a `bias`.

# %%
empty = sizes.model()  # a gpt.GPT of these sizes, its numbers drawn at random
for name, parameter in empty.named_parameters():
    if "blocks.0" in name or "blocks" not in name:
        print(f"{name:30} {tuple(parameter.shape)}")

# %% [markdown]
# ### Predict first
#
# Compare the shapes: `mlp.c_fc.weight` is `(64, 256)` in the file and `(256, 64)` here. GPT-2's code calls its layers
# `Conv1D`; they compute `x @ weight + bias`, with the weight stored (in, out). Suppose that you forget to turn a weight
# over. For which of the four weights of a layer would nothing complain?
#
# <details><summary>Answer</summary>
#
# For `attn.c_proj`: it is `(64, 64)`, and a square fits either way round. (So do the three squares that `c_attn` is cut
# into.) The model then runs, and says nonsense.
#
# </details>

# %% [markdown]
# ## 2. Three matrices in one
#
# GPT-2 makes queries, keys and values by one product, with one matrix that holds all three side by side:
#
# $$ \mathbf{x}\, \mathbf{W}_{\text{attn}} + \mathbf{b}_{\text{attn}} =
#    \bigl[\; \mathbf{q} \;\big|\; \mathbf{k} \;\big|\; \mathbf{v} \;\bigr],
#    \qquad \mathbf{W}_{\text{attn}} : (D, 3D). $$
#
# The first $D$ *columns* make the query, the next $D$ the key, the last the value, all heads of each.
#
# ### Exercise 1: `split_qkv(weight, bias)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# Cut `c_attn`'s weight `(D, 3 * D)` and bias `(3 * D,)` into three pairs `((W_q, b_q), (W_k, b_k), (W_v, b_v))`, each
# as an `nn.Linear` has them: `W` of shape `(D, D)`, (out, in), and `b` of shape `(D,)`. They are copies: whoever
# changes the checkpoint afterwards does not change them.
#
# **On paper.** With $D = 2$ and
#
# $$ \begin{pmatrix} 0 & 1 & 2 & 3 & 4 & 5 \\ 6 & 7 & 8 & 9 & 10 & 11 \end{pmatrix}, $$
#
# `W_q` is $\begin{pmatrix} 0 & 6 \\ 1 & 7 \end{pmatrix}$ and `W_k` is $\begin{pmatrix} 2 & 8 \\ 3 & 9 \end{pmatrix}$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(split_qkv)


# %% nbgrader={"grade": false, "grade_id": "split_qkv", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_qkv(weight: torch.Tensor, bias: torch.Tensor) -> tuple[tuple[torch.Tensor, torch.Tensor], ...]:
    """The three projections in c_attn, as nn.Linear has them.

    weight: (D, 3 * D), (in, out); bias: (3 * D,); in the order q, k, v.
    Returns ((W_q, b_q), (W_k, b_k), (W_v, b_v)), each W (D, D), (out, in), and each b (D,), all of them copies.
    """
    ### BEGIN SOLUTION
    pieces = zip(weight.chunk(3, dim=1), bias.chunk(3))  # (D, D) and (D,) each
    return tuple((W.T.clone(), b.clone()) for W, b in pieces)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_split_qkv", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(split_qkv)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(split_qkv)
### END HIDDEN TESTS

# %% [markdown]
# Use it on the first layer of the file, and see whether a vector gets the same query both ways. Until your function
# passes, one stands in that cuts and neither turns nor copies.


# %%
def only_cut(weight, bias):
    """Stand-in: the three pieces as they are stored."""
    return tuple(zip(weight.chunk(3, dim=1), bias.chunk(3)))


split = use(split_qkv, otherwise=only_cut)
weight, bias = checkpoint["h.0.attn.c_attn.weight"], checkpoint["h.0.attn.c_attn.bias"]
(W_q, b_q), *_ = split(weight, bias)
x = torch.randn(5, sizes.d_model, generator=torch.Generator().manual_seed(0))
stored = (x @ weight + bias)[:, : sizes.d_model]
apart = (F.linear(x, W_q, b_q) - stored).abs().max()
print(f"Queries by nn.Linear and by the file differ by up to {apart:.0e}, split by {split.whose}")

# %% [markdown]
# ## 3. Every number in its place
#
# Now the whole file. Two rules make loading safe, and both are broken in many a program that people use.
#
# - **Say what is wrong.** A name that is missing, a shape that does not fit: an error that tells which, and both shapes.
#   `load_state_dict(checkpoint, strict=False)` does the opposite. It copies what has a name in common, here nothing,
#   and is content.
# - **All or nothing.** Look first, copy afterwards. A model that was filled by half and then refused is worse than an
#   empty one, since it looks like a model.
#
# ### Exercise 2: `load_gpt2(model, checkpoint)`
#
# *Difficulty ★★★ · about 20 minutes*
#
# Copy a checkpoint, a dictionary with the names of the file, into a `gpt.GPT` with our names, by the table in section
# 1, and return the model. Its logits are then those of the published model, to 1e-4.
#
# - A name that the model needs and the checkpoint lacks: `KeyError` with that name.
# - A tensor of another shape than the model needs: `ValueError` with the name in the file and both shapes, the one in
#   the checkpoint and the one that it should have (as it is stored or turned over, as you like).
# - After an error nothing has been copied.
# - What the checkpoint holds besides, masks for example, is left out. Afterwards model and checkpoint share no memory.
#
# **On paper.** How many names does a model of two layers need? Two tables, two of `ln_f`, and twelve for each layer
# (six parts with a `weight` and a `bias`): 28. Our model has four more for each layer, as `c_attn` is cut into three.
#
# `model.state_dict()` is a dictionary of our names and tensors, and `len(model.blocks)` the number of layers. You may
# call your `split_qkv`; if it is wrong, that does not cost you here again.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(load_gpt2)


# %% nbgrader={"grade": false, "grade_id": "load_gpt2", "locked": false, "schema_version": 3, "solution": true, "task": false}
def load_gpt2(model: nn.Module, checkpoint: dict[str, torch.Tensor]) -> nn.Module:
    """Copy a checkpoint in GPT-2's names into a gpt.GPT, and return the model.

    Raises KeyError for a name that is missing, ValueError for a tensor of another shape; then nothing was copied.
    """
    ### BEGIN SOLUTION
    own, new = model.state_dict(), {}

    def take(name, shape):
        numbers = checkpoint[name]  # a KeyError names what is missing
        if numbers.shape != torch.Size(shape):
            raise ValueError(f"{name} has the shape {tuple(numbers.shape)}, and the model needs {tuple(shape)}")
        return numbers

    def layer(ours, theirs, turned=False):
        shape = own[f"{ours}.weight"].shape
        weight = take(f"{theirs}.weight", shape[::-1] if turned else shape)
        new[f"{ours}.weight"] = weight.T if turned else weight
        new[f"{ours}.bias"] = take(f"{theirs}.bias", own[f"{ours}.bias"].shape)

    new["tokens.weight"] = take("wte.weight", own["tokens.weight"].shape)
    new["places.weight"] = take("wpe.weight", own["places.weight"].shape)
    layer("norm", "ln_f")
    D = model.tokens.weight.shape[1]
    for i in range(len(model.blocks)):
        layer(f"blocks.{i}.norm_1", f"h.{i}.ln_1")
        layer(f"blocks.{i}.norm_2", f"h.{i}.ln_2")
        layer(f"blocks.{i}.attention.W_o", f"h.{i}.attn.c_proj", turned=True)
        layer(f"blocks.{i}.mlp.0", f"h.{i}.mlp.c_fc", turned=True)
        layer(f"blocks.{i}.mlp.2", f"h.{i}.mlp.c_proj", turned=True)
        weight = take(f"h.{i}.attn.c_attn.weight", (D, 3 * D))
        bias = take(f"h.{i}.attn.c_attn.bias", (3 * D,))
        for letter, (W, b) in zip("qkv", split_qkv(weight, bias)):
            new[f"blocks.{i}.attention.W_{letter}.weight"] = W
            new[f"blocks.{i}.attention.W_{letter}.bias"] = b
    model.load_state_dict(new)  # copies
    return model
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_load_gpt2", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(load_gpt2)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(load_gpt2)
### END HIDDEN TESTS

# %% [markdown]
# The proof: `gpt.model_over_checkpoint` is a model that reads the file's tensors where they lie, with `x @ weight + bias` as GPT-2
# does, and copies nothing. Both must give the same logits. (Until your function passes, that model stands in for the
# loaded one, and agrees with itself.)


# %%
def as_stored(model, checkpoint):
    """Stand-in: a model that computes with the checkpoint itself; `model` stays empty."""
    return gpt.model_over_checkpoint(checkpoint, sizes.n_heads)


loading = use(load_gpt2, otherwise=as_stored)
model = loading(sizes.model(), checkpoint)
text = "One evening Jonas walked to the old mill, and a fog lay there. There he found a green bottle."
ids = torch.tensor([letters.encode(text)])  # (1, T)
with torch.no_grad():
    logits = model(ids)
    torch.testing.assert_close(logits, gpt.model_over_checkpoint(checkpoint, sizes.n_heads)(ids), rtol=0, atol=1e-4)
    loss = F.cross_entropy(logits[0, :-1], ids[0, 1:]).item()
print(f"Loaded by {loading.whose}: the logits agree.")
print(f"Loss on a tale: {loss:.2f} nats for each letter; guessing has {math.log(sizes.n_tokens):.2f}.")

# %% [markdown]
# ### A sentence of your own
#
# Type what you like instead of the sentence below (letters, spaces and simple punctuation, at most 96 of them) and see
# how the model goes on, and where its heads look. It knows one harbour and six people; of everything else it has never
# heard. Its attention is yours: `masked_attention` of lesson 5 from your own notebook, if that lies beside this one.

# %% tags=["demo"]
from course.notebook.prior_answers import find_prior_answer

sentence = "Ida walked to the lamp, and Ida"
mine = find_prior_answer("masked_attention", torch_fallbacks.masked_attention)
for block in model.blocks:
    block.attention.attend = mine


@torch.no_grad()
def continued(sentence, n_letters=40):
    """The sentence, with the likeliest letter after it, again and again."""
    ids = letters.encode(sentence)[-sizes.block_size :]
    for _ in range(n_letters):
        seen = torch.tensor([ids[-sizes.block_size :]])
        ids.append(int(model(seen)[0, -1].argmax()))
    return "".join(letters.decode(ids))


print(continued(sentence))
print(f"Attention by {mine.whose}")


# %% tags=["demo"]
# @title Sliders: where the heads of a layer look, in your sentence
def two_heads(layer, head):
    """The maps of a head and of the next one, over the last 40 letters of the sentence."""
    shown = sentence[-40:]
    with torch.no_grad():
        weights = model.run(torch.tensor([letters.encode(shown)])).weights[layer, 0]
    chosen = [head, (head + 1) % sizes.n_heads]
    return figures.inspection.attention_maps(weights[chosen], list(shown), [f"layer {layer}, head {h}" for h in chosen])


sliders.slider(
    two_heads,
    start={"layer": 1, "head": 1},
    strip=[{"layer": 0, "head": 2}, {"layer": 1, "head": 1}],
    layer=(0, sizes.n_layers - 1, 1),
    head=(0, sizes.n_heads - 1, 1),
)

# %% [markdown]
# ## 4. What would each layer say?
#
# The residual stream starts as a token's embedding and ends as what is unembedded to logits, and every layer *adds* to
# it. So at every layer it has the shape of something that can be unembedded. The **logit lens** does just that: it
# treats what comes out of each layer as if it were the last.
#
# $$ \operatorname{lens}(\mathbf{x}_\ell) = \operatorname{norm}(\mathbf{x}_\ell)\, \mathbf{E}^\top,
#    \qquad \mathbf{E} : (N, D) \text{ the unembedding} $$
#
# ### Exercise 3: `logit_lens(hidden, norm, unembedding)`
#
# *Difficulty ★☆☆ · about 5 minutes*
#
# `hidden` is `(L, B, T, D)`, what comes out of each layer. `norm` is a module, the model's last norm (what kind it is,
# is its own business), and `unembedding` is `(N, D)`. Return the logits of all layers, `(L, B, T, N)`.
#
# **On paper.** One place, $D = 2$, $\mathbf{x} = (1, 3)$. A layer norm with weights 1 and biases 0 makes $(-1, 1)$ of
# it: minus the mean 2, divided by the standard deviation 1. With the rows $(1, 0)$, $(0, 1)$ and $(1, -1)$ for three
# tokens the logits are $-1$, $1$ and $-2$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(logit_lens)


# %% nbgrader={"grade": false, "grade_id": "logit_lens", "locked": false, "schema_version": 3, "solution": true, "task": false}
def logit_lens(hidden: torch.Tensor, norm: nn.Module, unembedding: torch.Tensor) -> torch.Tensor:
    """The logits that each layer would give if it were the last.

    hidden: (L, B, T, D); norm: a module that keeps the shape; unembedding: (N, D). Returns (L, B, T, N).
    """
    ### BEGIN SOLUTION
    return norm(hidden) @ unembedding.T
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_logit_lens", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(logit_lens)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(logit_lens)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict first
#
# `model.run(ids).hidden` is `(L + 1, B, T, D)`: it begins with what goes *into* the first layer, the sum of token and
# place. What will the lens say there, which token does it expect at each place?
#
# <details><summary>Answer</summary>
#
# The token that was read. Nothing has been predicted yet, and since the same table embeds and unembeds, a vector is
# most like its own row. (Places add a little, which does not matter here.)
#
# </details>
#
# Until your function passes, a rough lens stands in that leaves out the norm.


# %%
def without_norm(hidden, norm, unembedding):
    """Stand-in: unembedded as it is, not normalised."""
    return torch.einsum("lbtd,nd->lbtn", hidden, unembedding)


lens = use(logit_lens, otherwise=without_norm)
text = "There he found a blue stone."
with torch.no_grad():
    ids = torch.tensor([letters.encode(text)])
    run = model.run(ids)
    expected = lens(run.hidden, model.norm, model.tokens.weight)  # (L + 1, 1, T, N)
for layer, logits in enumerate(expected):
    loss = F.cross_entropy(logits[0, :-1], ids[0, 1:]).item()
    print(f"after {layer} layers: a loss of {loss:5.2f}")
print(f"Seen through {lens.whose}")

# %% tags=["demo"]
# @title The lens on a sentence, layer by layer
sure, best = expected[:, 0, :-1].softmax(-1).max(-1)  # (L + 1, T - 1) each
said = [letters.decode(line.tolist()) for line in best]
figures.show(
    figures.inspection.lens(said, sure, list(text[:-1]), list(text[1:])),
    caption=f"What each layer would say next; the darker the cell, the higher its probability. Seen through {lens.whose}.",
)

# %% [markdown]
# Read a column from top to bottom: a guess takes shape. Where a word has only begun, no layer can know which one it
# will be; its last letters are settled early. A lens is an honest instrument with a blur: nobody has trained the
# middle layers to be read so, and in other models it shows little before the last ones.

# %% [markdown]
# ## 5. A head found by its score
#
# What can a model do with a text that it has never seen, of random letters? Nothing, the first time. When the same
# letters come again, much: whoever finds where the present letter stood before only has to say what came after it. A
# head that looks there is called an **induction head**; you have seen one appear in lesson 8. In a big model there are
# hundreds of heads, and nobody looks through all their maps. They are found by a score.
#
# Take a text that repeats with a period $P$, all letters within a period being different. Query $t \ge P$ has seen its
# letter at $t - P$, and what came after it stands at $t - P + 1$. The score of a head is its mean weight there:
#
# $$ \text{score} = \frac{1}{T - P} \sum_{t = P}^{T - 1} \text{weights}_{t,\; t - P + 1} $$
#
# ### Exercise 4: `induction_score(weights, period)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# `weights` is `(..., T, T)`, queries in rows; return the score of each map, `(...)`. A `ValueError` that names `period`
# and its value, unless $1 \le$ `period` $< T$: otherwise no query has seen its letter.
#
# **On paper.** A B C A B C, the period is 3. Query 3 (the second A) should look at 1 (the B), query 4 at 2, query 5 at
# 3. With the weights $0.9$, $0.6$ and $0.3$ there the score is $0.6$. Which entries are these? They lie on one diagonal
# of the map, but not all of that diagonal.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(induction_score)


# %% nbgrader={"grade": false, "grade_id": "induction_score", "locked": false, "schema_version": 3, "solution": true, "task": false}
def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    """The mean weight that queries give to what came after their own token, one period ago.

    weights: (..., T, T) over a text that repeats with this period. Returns (...).
    Raises ValueError unless 1 <= period < T.
    """
    ### BEGIN SOLUTION
    T = weights.shape[-1]
    if not 1 <= period < T:
        raise ValueError(f"period is {period}, and must be at least 1 and less than {T}")
    t = torch.arange(period, T, device=weights.device)  # the queries that have seen their token
    return weights[..., t, t - period + 1].mean(-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_induction_score", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(induction_score)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(induction_score)
### END HIDDEN TESTS

# %% [markdown]
# Sixteen texts of twenty random letters, three times over. Until your function passes, a rough score stands in, which
# asks the last query only.


# %%
def of_the_last_query(weights, period):
    """Stand-in: what the last query of 60 gives to place 40, where its letter of 20 letters ago was followed."""
    return weights[..., 59, 40]


score = use(induction_score, otherwise=of_the_last_query)
period, generator = 20, torch.Generator().manual_seed(5)
once = torch.stack([torch.randperm(sizes.n_tokens, generator=generator)[:period] for _ in range(16)])
repeated = once.repeat(1, 3)  # (16, 60)
with torch.no_grad():
    run = model.run(repeated)
    scores = score(run.weights, period).mean(1)  # (L, B, H) -> (L, H)


def losses_of(run):
    """The loss on the first time that the letters come, and on the second and third."""
    each = F.cross_entropy(run.logits[:, :-1].transpose(1, 2), repeated[:, 1:], reduction="none")  # (16, 59)
    return each[:, : period - 1].mean().item(), each[:, period:].mean().item()


first, again = losses_of(run)
print(f"loss the first time {first:.2f}, when the letters come again {again:.2f}")
best = divmod(int(scores.argmax()), sizes.n_heads)
print(f"the highest score, {scores.max():.2f}: layer {best[0]}, head {best[1]}, by {score.whose}")

# %% tags=["demo"]
# @title The score of every head, and the map of the best
figures.show(
    figures.inspection.heads(scores, title="induction score"),
    caption=f"Mean over sixteen texts of random letters. Measured by {score.whose}.",
)
tokens = letters.decode(repeated[0].tolist())
previous = run.weights[0].diagonal(-1, dim1=-2, dim2=-1).mean((0, -1)).argmax()  # in layer 0, (H,)
chosen = torch.stack([run.weights[0, 0, previous], run.weights[best[0], 0, best[1]]])
figures.show(
    figures.inspection.attention_maps(
        chosen, tokens, [f"layer 0, head {previous}", f"layer {best[0]}, head {best[1]}"]
    ),
    caption="The first of the sixteen texts. Where do the dark cells of the right map lie, and where those of the left?",
)

# %% [markdown]
# The whole second layer, layer 1, looks for repetitions, and no other does. (From the third time on its weight is
# shared out between two earlier places, of which the score counts the nearer one.) It could not be the first layer: to
# look for the place *after* a letter, a head must be told, at each place, which letters stood *before* it. That is
# what heads of layer 0 do on the left, blurred: they look at their own place and the few before it and write down what
# they found. The two work together. An induction head is always at least one layer above such a head; in larger models
# it is a sharp **previous-token head**, which looks back by exactly one.

# %% [markdown]
# ## 6. Take a head out
#
# A score says where a head looks, not whether it matters. For that one takes it out and measures what is lost. This is
# an **ablation**. What the heads of a layer hand on, `(B, H, T, K)`, goes through $\mathbf{W}_o$ into the residual
# stream; put a head's part to zero, and it says nothing any more. Zero may be an odd thing to say, though, for a head
# that always says something. The gentler way puts its *mean* there, measured over many texts: then it says what it
# says on average.
#
# ### Exercise 5: `ablate(head_outputs, heads, mean=None)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# `head_outputs` is `(B, H, T, K)`, `heads` a list of numbers of heads, maybe empty. Return a tensor of the same shape
# in which these heads are zero, or at every text and token their row of `mean`, `(H, K)`, where that is given. The
# others are as they were, with their gradient. The model goes on using what you were given: leave it as it is.
#
# **On paper.** One text, three heads, one token, `K = 2`: $(1, 2), (3, 4), (5, 6)$. With `heads=[1]` they become
# $(1, 2), (0, 0), (5, 6)$; with the row $(7, 8)$ for head 1 in `mean`, $(1, 2), (7, 8), (5, 6)$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(ablate)


# %% nbgrader={"grade": false, "grade_id": "ablate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ablate(head_outputs: torch.Tensor, heads: list[int], mean: torch.Tensor | None = None) -> torch.Tensor:
    """What the heads hand on, some of them taken out.

    head_outputs: (B, H, T, K); heads: numbers of heads; mean: None, or (H, K).
    Returns (B, H, T, K): these heads at zero, or at their mean, the others as they were. Changes nothing in place.
    """
    ### BEGIN SOLUTION
    out = head_outputs.clone()
    out[:, heads] = 0.0 if mean is None else mean[heads][:, None]  # (heads, 1, K)
    return out
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_ablate", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(ablate)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(ablate)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict first
#
# On the repeated letters the model has a loss of 0.04 when they come again, and guessing has 4.11. All four heads of
# layer 1 are induction heads. You take out the one with the highest score. What will the loss be: as before, about half
# way, or that of guessing? And with all four gone?
#
# <details><summary>Answer</summary>
#
# With one gone it rises to about 0.4: the others do its work nearly as well. With two it is about 2. With three and
# with all four it is *worse* than guessing, about 5 and 8: what comes after relies on their having something to say,
# and draws wrong conclusions from silence. (The first two numbers are those for your own score. Until it passes, other
# heads are thought the best, and less is lost with one or two of them.) How much a head matters depends on who else is
# there.
#
# </details>

# %%
taken = use(ablate, otherwise=torch_fallbacks.without_heads)
order = scores[best[0]].argsort(descending=True).tolist()  # the heads of that layer, the highest score first


def without(heads, at=best[0], mean=None):
    """The losses of the model on the repeated letters without these heads of one layer."""

    def change(layer, head_outputs):
        return taken(head_outputs, heads, mean) if layer == at else head_outputs

    with torch.no_grad():
        return losses_of(model.run(repeated, change))


# %% tags=["demo"]
# @title The loss with ever more induction heads taken out
steps = {"none": []} | {f"{n} head{'s' * (n > 1)}": order[:n] for n in (1, 2, 3, 4)}
lost = {name: without(heads)[1] for name, heads in steps.items()}
figure, (left, right) = figures.row(2, width=4.4, height=3.0)
figures.bars(list(lost.values()), list(lost), ax=left, title=f"heads of layer {best[0]} taken out")
others = {f"layer {layer}": without(list(range(sizes.n_heads)), layer)[1] for layer in range(sizes.n_layers)}
figures.bars(list(others.values()), list(others), ax=right, title="all heads of a layer taken out")
left.set_ylabel("loss on what comes again")
told = ", ".join(f"{name}: {value:.2f}" for name, value in (lost | others).items())
figures.show(figure, alt=f"Bars of the loss on repeated letters. {told}.", caption=f"Heads at zero, by {taken.whose}.")

# %% [markdown]
# And with the mean in place of zero? `mean_of` measures it on the same texts. (Until your `ablate` passes, heads go to
# zero both times.)

# %%
mean_of = run.heads[best[0]].mean((0, 2))  # (B, H, T, K) -> (H, K)
for n in (1, 2, 4):
    zero, average = without(order[:n])[1], without(order[:n], mean=mean_of)[1]
    print(f"{n} head{'s' * (n > 1)} taken out: loss {zero:.2f} at zero, {average:.2f} at their mean")
print(f"By {taken.whose}")

# %% [markdown]
# ### Exercise 6: `necessary_heads(loss_without, scores, chance)`
#
# *Difficulty ★★★ · about 20 minutes*
#
# Which heads does a behaviour need? You name them, and the grader removes exactly these heads in a model that you have
# not seen and measures the loss. `loss_without(heads)` does the same for you: it takes a list of pairs `(layer, head)`,
# possibly empty, and returns the model's loss with these heads removed. The behaviour is gone where the loss is at
# least `chance`, the loss of guessing. `scores`, of shape `(L, H)`, has the induction score of every head.
#
# Return a list of pairs `(layer, head)` for which two things are true:
#
# 1. with all of them removed, the behaviour is gone;
# 2. with any one of them put back, and the others still removed, it is not gone.
#
# The second rule keeps a claim honest: it names no head that adds nothing to the removal of the others. Often several
# lists are right, and you return one of them. Where the behaviour is gone with all heads in place, the list is empty.
# Raise a `ValueError` that names `chance` if the loss stays below it without all `L * H` heads: then no head explains
# the behaviour. Removing more heads never brings the behaviour back.
#
# **On paper.** Three heads, and `chance` is 2. Without any one of them the loss is 0.1; without `(1, 0)` and `(1, 1)`
# together it is 2.5, and so it is without all three; without `(0, 0)` and one other it is 0.1. No head matters alone,
# and the answer is `[(1, 0), (1, 1)]`.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(necessary_heads)


# %% nbgrader={"grade": false, "grade_id": "necessary_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
from collections.abc import Callable


def necessary_heads(
    loss_without: Callable[[list[tuple[int, int]]], float], scores: torch.Tensor, chance: float
) -> list[tuple[int, int]]:
    """The heads without which a behaviour is gone, and no head more.

    loss_without: list of pairs (layer, head) -> loss without these heads; scores: (L, H), their induction scores;
    chance: the loss from which on the behaviour is gone.
    Returns pairs (layer, head): without them the loss is at least chance; with any one of them put back it is below.
    Raises ValueError if the loss without all heads is below chance.
    """
    ### BEGIN SOLUTION
    n_layers, n_heads = scores.shape
    named = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]
    if loss_without(named) < chance:
        raise ValueError(f"chance is {chance}, and without any head the loss is only {loss_without(named):.2f}")
    for pair in list(named):
        fewer = [other for other in named if other != pair]
        if loss_without(fewer) >= chance:  # this head adds nothing to the removal of the others
            named = fewer
    return named
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_necessary_heads", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(necessary_heads)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(necessary_heads)
### END HIDDEN TESTS

# %% [markdown]
# ## 7. What a head asks for, and what it passes on
#
# A head has four matrices, but it does only two things, and each of them is one matrix of the size `(D, D)`. Write head
# $h$'s query and key as products with its own `K` rows of the weights:
#
# $$ \mathbf{q} \cdot \mathbf{k} = (\mathbf{W}_q^{h} \mathbf{x}_q)^\top (\mathbf{W}_k^{h} \mathbf{x}_k) =
#    \mathbf{x}_q^\top \underbrace{{\mathbf{W}_q^{h}}^\top \mathbf{W}_k^{h}}_{\mathbf{M}} \mathbf{x}_k . $$
#
# $\mathbf{M}$ is the **QK circuit**: who looks at whom. Likewise $\mathbf{x}\, {\mathbf{W}_v^{h}}^\top
# {\mathbf{W}_o^{h}}^\top$ with the head's own columns of $\mathbf{W}_o$ is the **OV circuit**: what is passed on from
# where it looks. Neither knows of `K` numbers in between; a head is a pair of matrices of low rank. (Biases are left
# out, here and below.)
#
# ### Exercise 7: `qk_circuit(W_q, W_k, head, n_heads)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# From two weights `(D, D)`, as `nn.Linear` has them, make the matrix `M`, `(D, D)`, with `x_q @ M @ x_k` the unscaled
# score of that head. *Review of lesson 6:* head $h$ owns rows `h * K` to `(h + 1) * K - 1` of both. A `ValueError` that names
# what was wrong, and its value, unless `n_heads` is at least 1 and divides `D`, and `0 <= head < n_heads`.
#
# **On paper.** `D = 2`, two heads, so `K = 1`, and head 1 owns the last row of each: $(3, 4)$ of $\mathbf{W}_q$ and
# $(7, 8)$ of $\mathbf{W}_k$. Then
#
# $$ \mathbf{M} = \begin{pmatrix} 3 \\ 4 \end{pmatrix} \begin{pmatrix} 7 & 8 \end{pmatrix} =
#    \begin{pmatrix} 21 & 24 \\ 28 & 32 \end{pmatrix} . $$

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(qk_circuit)


# %% nbgrader={"grade": false, "grade_id": "qk_circuit", "locked": false, "schema_version": 3, "solution": true, "task": false}
def qk_circuit(W_q: torch.Tensor, W_k: torch.Tensor, head: int, n_heads: int) -> torch.Tensor:
    """The matrix M with x_q @ M @ x_k the unscaled score of a head.

    W_q, W_k: (D, D), as nn.Linear has them. Returns (D, D).
    Raises ValueError unless n_heads is at least 1 and divides D, and 0 <= head < n_heads.
    """
    ### BEGIN SOLUTION
    D = W_q.shape[0]
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {D}")
    if not 0 <= head < n_heads:
        raise ValueError(f"head is {head}, and must be from 0 to {n_heads - 1}")
    K = D // n_heads
    rows = slice(head * K, (head + 1) * K)
    return W_q[rows].T @ W_k[rows]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_qk_circuit", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(qk_circuit)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(qk_circuit)
### END HIDDEN TESTS

# %% [markdown]
# Two readings of such matrices. **Left:** the QK circuit of a head of layer 0, between *places* alone, whatever
# letters stand there: $\mathbf{P} \mathbf{M} \mathbf{P}^\top$ with the table of places $\mathbf{P}$, normalised as the
# layer does it, then scaled, masked and put through softmax. **Right:** the OV circuit of a head of layer 2 between
# *letters*: in row $a$ and column $b$ stands by how much the logit of $b$ rises where the head looks at an $a$.

# %%
circuit = use(qk_circuit, otherwise=torch_fallbacks.circuit)
K = sizes.d_model // sizes.n_heads


@torch.no_grad()
def between_places(layer, head, n_places=24):
    """Who would look at whom by the places alone: weights (n_places, n_places)."""
    block = model.blocks[layer]
    places = block.norm_1(model.places.weight[:n_places])
    M = circuit(block.attention.W_q.weight, block.attention.W_k.weight, head, sizes.n_heads)
    future = torch.ones(n_places, n_places, dtype=torch.bool).triu(1)
    return (places @ M @ places.T / K**0.5).masked_fill(future, -torch.inf).softmax(-1)


@torch.no_grad()
def between_letters(layer, head, alphabet):
    """By how much each logit rises where the head looks at a letter: (letters, letters)."""
    block, rows = model.blocks[layer], slice(head * K, (head + 1) * K)
    vectors = model.tokens.weight[letters.encode(alphabet)]
    OV = block.attention.W_v.weight[rows].T @ block.attention.W_o.weight[:, rows].T  # (D, D)
    return block.norm_1(vectors) @ OV @ vectors.T


# %% tags=["demo"]
# @title A QK circuit between places, and an OV circuit between letters
figure, (left, right) = figures.row(2, width=4.6, height=4.1)
alphabet = "abcdefghijklmnopqrstuvwxyz"
looks, adds = between_places(0, 3), between_letters(2, 0, alphabet)
future = torch.ones_like(looks).triu(1).bool()
figures.heat_map(
    looks, ax=left, part="weights", blocked=future, numbers=False, title="layer 0, head 3: places (weights)"
)
figures.heat_map(
    adds,
    ax=right,
    rows=list(alphabet),
    columns=list(alphabet),
    part="scores",
    numbers=False,
    title="layer 2, head 0: letters (logits)",
)
right.tick_params(labelsize=6)
back = looks.diagonal(-1).mean()
figures.show(
    figure,
    alt=f"Left, weights between 24 places: near the diagonal, {back:.2f} on the place just before, and in the middle "
    f"rows weight in the first column, too. Right, 26 letters by 26: "
    f"the diagonal has {adds.diagonal().mean():.1f} on the average, all cells {adds.mean():.1f}.",
    caption=f"Left made by {circuit.whose}; right by the lesson.",
)

# %% [markdown]
# On the left, places alone make the head look at its own place and a few before it, before a single letter was read;
# in the middle rows much goes to the very first place as well. On the right the diagonal is *negative*, throughout: a
# letter that this head looks at becomes less likely. It does not copy, it holds back. Textbooks say that an induction
# head's own OV circuit has a *positive* diagonal. In models that have nothing but attention it has; ours passes what it
# finds to an mlp, which says it. What holds in one model need not hold in the next, and that is why one looks.

# %% [markdown]
# ## 8. A published model
#
# Your `load_gpt2` is the real thing. `course.models.pretrained` fetches a published model of this format from the Hugging Face hub,
# with its tokeniser: `openai-community/gpt2`, which OpenAI published under the MIT licence, is 550 MB;
# `distilbert/distilgpt2` (Apache 2.0) is 350 MB. Nothing is fetched unless you take away the `#`: you need a network,
# some patience and 2 GB of memory.

# %% tags=["demo"]
from course import pretrained

published = None
# published = hub.fetch("openai-community/gpt2")

if published:
    theirs = load_gpt2(published.sizes.model(), published.checkpoint)
    sentence = "When Mary and John went to the store, John gave a drink to"
    seen = torch.tensor([published.tokens.encode(sentence)])
    with torch.no_grad():
        likely = theirs(seen)[0, -1].softmax(-1).topk(5)
    for chance, token in zip(likely.values.tolist(), published.tokens.decode(likely.indices.tolist()), strict=True):
        print(f"{chance:.2f}  {token!r}")
else:
    print("Not fetched. Our own small model has the same names, shapes and layout, and goes through the same code.")

# %% [markdown]
# Try the score of section 5 on it, with random tokens: of its 144 heads a handful, around the middle of its twelve
# layers, are induction heads.

# %% [markdown]
# ## 9. Is it a bug?
#
# **"`nn.GELU` must not be used for GPT-2's weights."** GPT-2's own code computes its nonlinearity by a formula with a
# tanh. Somebody proposed to put PyTorch's `nn.GELU` in its place in nanoGPT, which is faster; the author hesitated,
# since published weights were made for the formula
# ([karpathy/nanoGPT#2](https://github.com/karpathy/nanoGPT/issues/2),
# [#274](https://github.com/karpathy/nanoGPT/pull/274)). **Decide before you run the cell:** is the plain `nn.GELU()`
# the same function? And how much would it matter?


# %% tags=["demo"]
def logits_with(gelu):
    """The loaded model's logits on the sentence, with another GELU in all blocks."""
    before = [block.mlp[1] for block in model.blocks]
    for block in model.blocks:
        block.mlp[1] = gelu
    with torch.no_grad():
        logits = model(torch.tensor([letters.encode(text)]))
    for block, old in zip(model.blocks, before, strict=True):
        block.mlp[1] = old
    return logits


approximate = nn.GELU(approximate="tanh")
by_formula = logits_with(approximate)
plain = logits_with(nn.GELU())
x = torch.linspace(-6, 6, 1001)
formula = 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
print(f"tanh formula and nn.GELU(approximate='tanh') differ by up to {(formula - approximate(x)).abs().max():.0e}")
print(f"tanh formula and nn.GELU() differ by up to                   {(formula - nn.GELU()(x)).abs().max():.0e}")
print(
    f"logits of the model, of a size of {by_formula.abs().max():.0f}, differ by up to {(plain - by_formula).abs().max():.0e}"
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Half a bug. `nn.GELU(approximate="tanh")` *is* the formula. The plain `nn.GELU()` is another function, if by less
# than a thousandth: nobody would hear the difference in a text, but the logits are off by more than rounding, so a
# test to 1e-4 fails, and you can no longer tell whether something else is wrong, too. Use the one that the weights
# were made with.
#
# </details>
#
# **"The keys' bias can be left out."** Set `b_k` to zero in every layer. **Decide:** do the logits change?

# %% tags=["demo"]
with torch.no_grad():
    ids = torch.tensor([letters.encode(text)])
    before = model(ids)
    kept = [block.attention.W_k.bias.clone() for block in model.blocks]
    for block in model.blocks:
        block.attention.W_k.bias.zero_()
    change = (model(ids) - before).abs().max()
    for block, bias in zip(model.blocks, kept, strict=True):
        block.attention.W_k.bias.copy_(bias)
    biases = max(bias.abs().max() for bias in kept)
print(f"biases of the keys up to {biases:.2f}; without them the logits change by up to {change:.0e}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# They do not, but for rounding. A query's scores become $\mathbf{q} \cdot (\mathbf{k}_s + \mathbf{b}_k) = \mathbf{q}
# \cdot \mathbf{k}_s + \mathbf{q} \cdot \mathbf{b}_k$: the same number is added for every key, and softmax does not
# notice. So a model can lose a tensor on the way and pass every test of its logits. A copy is a copy only if every
# number is there, and the grader asks for each.
#
# </details>

# %% [markdown]
# ## 10. Seen in the wild
#
# **The other way round.** A model trained with `nn.Linear` was handed to a program that expects GPT-2's `Conv1D`.
#
# ```diff
# - new[name] = weight
# + new[name] = weight.T    # c_attn, c_fc and c_proj are stored (in, out)
# ```
#
# From outside: a page of *size mismatch* ([karpathy/nanoGPT#190](https://github.com/karpathy/nanoGPT/issues/190)).
# Read the page again and see who is missing from it: `attn.c_proj`, the square one. Whoever turns only what complains
# has a model that loads, and babbles.
#
# **A mask among the weights.** `attn.bias` and `attn.masked_bias` were saved for years and then no longer.
#
# ```diff
# - model.load_state_dict(checkpoint)
# + model.load_state_dict({name: checkpoint[theirs] for name, theirs in needed.items()})
# ```
#
# From outside: *unexpected key(s)* with files that are perfectly good
# ([huggingface/transformers#24581](https://github.com/huggingface/transformers/issues/24581)), or an assertion that
# counts names and finds too few ([karpathy/minGPT#122](https://github.com/karpathy/minGPT/pull/122)). Take what you
# need, by name.
#
# **A lens with the wrong norm.** A library for looking into models normalised every layer by the scale that the *last*
# layer happened to have.
#
# ```diff
# - normalised = (x - x.mean(-1, keepdim=True)) / last_scale
# + normalised = norm(x)
# ```
#
# From outside: pictures in which early layers seemed to know nothing at all, since what is divided by too large a
# scale gives even probabilities
# ([TransformerLensOrg/TransformerLens#1076](https://github.com/TransformerLensOrg/TransformerLens/issues/1076)). Two
# years before, somebody had unembedded the last layer so and found that it was not the model's logits
# ([#523](https://github.com/TransformerLensOrg/TransformerLens/issues/523)). That is a test for every lens: its last
# row must be what the model says. Beware of the reverse, too: some libraries hand out the last hidden state
# *normalised already* ([huggingface/transformers#26142](https://github.com/huggingface/transformers/pull/26142)), and
# then the norm comes twice.

# %%
with torch.no_grad():
    run = model.run(ids)
    last = lens(run.hidden, model.norm, model.tokens.weight)[-1]
print(f"The lens's last row and the logits differ by up to {(last - run.logits).abs().max():.0e} ({lens.whose})")

# %% [markdown]
# ## Summary
#
# 1. A checkpoint is names and tensors. GPT-2's has queries, keys and values in one, weights stored (in, out), and masks among
#    them.
# 2. Look first, copy afterwards; say what is missing; and prove the loaded model by its logits.
# 3. Every layer adds to the residual stream, so every layer can be read by the norm and the unembedding: the logit lens.
# 4. Heads are found by a score on texts made for it. What one is worth is told by taking it out, and depends on the others.
# 5. A head is two matrices: the QK circuit says who looks at whom, the OV circuit what is passed on.
#
# $$ \operatorname{score}(\mathbf{x}_q, \mathbf{x}_k) = \mathbf{x}_q^\top {\mathbf{W}_q^{h}}^\top \mathbf{W}_k^{h}\, \mathbf{x}_k $$
#
# **To read on:**
#
# - Elhage et al., [A Mathematical Framework for Transformer Circuits](https://transformer-circuits.pub/2021/framework/index.html):
#   QK and OV circuits
# - Olsson et al., [In-context Learning and Induction Heads](https://arxiv.org/abs/2209.11895), where the score comes from
# - nostalgebraist, [interpreting GPT: the logit lens](https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens)

# %% [markdown]
# ## Challenge: `head_contributions(head_outputs, W_o, direction)`
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# A challenge is for those who want more. The same judge checks it, no grade knows of it, and you may leave it as it is.
#
# Section 6 ran the model anew for each set of heads that it took out. There is a way to ask all heads at once, without
# running anything again. A logit is a dot product of the residual stream with a row of the unembedding, and the
# stream is a *sum*, to which every head has added a vector. So by how much the model prefers one token to another is a sum,
# too, with a number for each head: **direct logit attribution**.
#
# `head_outputs` is `(B, H, T, K)`, what the heads of a layer gave, as in exercise 5; `W_o` is `(D, D)`, stored as `nn.Linear`
# stores it (out, in), without its bias; `direction` is `(D,)`: for instance the row of the one token less that of the other.
# Return `(B, H, T)`: the dot product of the direction with what each head adds to the stream at each place. No loop is
# needed, nor a tensor in which every head has a vector of width $D$.
#
# **On paper.** Two heads of width 1 gave 3 and 5, $\mathbf{W}_o = \begin{pmatrix} 1 & 2 \\ 3 & 1 \end{pmatrix}$, the direction
# is $(1, -1)$. Head 0 adds $3 \cdot (1, 3)$, which counts $3 - 9 = -6$. What does head 1 add, and do both together
# give what the layer does? (The layer adds $(13, 14)$.)
#
# These are the *direct* contributions: what a head does by way of later layers is not among them. And the last norm is left
# out: it divides all parts of a place by one number, and the rest of it, which is linear, can be put into the direction.
# Ablation counts everything. Where the two disagree, a later layer was listening.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(head_contributions)


# %%
def head_contributions(head_outputs: torch.Tensor, W_o: torch.Tensor, direction: torch.Tensor) -> torch.Tensor:
    """What each head adds to the residual stream, measured along `direction`; the sum over heads is what the layer adds.

    head_outputs: (B, H, T, K); W_o: (D, D), as nn.Linear stores it, D = H * K; direction: (D,). Returns (B, H, T).
    """
    raise NotImplementedError  # take this line out, and write yours


# %% tags=["demo"]
check(head_contributions)

# %% tags=["demo"]
progress()
