# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 11: A real model opened
#
# Other people's models come as a file of numbers. **What is in such a file, how do you load it, and how do you find out what a
# trained model does?**
#
# **You will build** a loader for GPT-2's files, and tools that open a model: the logit lens, a score that finds heads,
# ablation, activation patching, and a search for heads without which a behaviour is gone. You open your own model from lesson
# 8, and one that consists of attention alone, in which you can follow a computation from head to head.
#
# **You need** heads (lesson 6), blocks and cross-entropy (lesson 8).
#
# **Time:**

# %%
import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from course import attention_only, begin, check, figures, gpt, hint, predict, progress, sliders, small_lm, solution
from torch import nn

begin("11_real_model")

# %% tags=["picture"]
# @title The diagram of attention: all of it is in the models that you open
figures.show(figures.overview("tiles", complete=True))

# %% [markdown]
# In shapes, `B` is the batch, `L` the number of layers, `H` the number of heads in each, `T` the number of tokens, and `N` the
# size of the vocabulary; `D` is the model's width, `K` a head's. The **residual stream** is the vector at one position as it
# runs through the model, `(D,)`: it begins as the token's embedding, and each layer adds something to it.

# %% [markdown]
# ## Quiz: what came before
#
# **1.** `nn.Linear(4, 16)` computes $\mathbf{x} \mathbf{W}^\top + \mathbf{b}$. What is the shape of its `weight`?
#
# **2.** What does a pre-norm block do to its input `x`?
#
# **3.** A model guesses evenly among 26 letters. What is its loss, in nats?

# %%
predict("quiz 1", ...)  # a shape
predict("quiz 2", ...)  # "it adds to it", "it replaces it" or "it normalises it"
predict("quiz 3", ...)  # a number

# %% [markdown]
# ## 1. What a checkpoint holds
#
# A **checkpoint** is a dictionary from names to tensors: the numbers of a trained model. A file in the format *safetensors* has
# names, shapes and then only numbers, so opening it runs no code. (A pickle, the older format, can run any code.)
#
# The checkpoint below was trained for the course, under its licence, MIT. It has 61 characters as tokens and three layers of four
# heads. Its names and its layout are those of the GPT-2 that OpenAI published in 2019.

# %% tags=["code"]
checkpoint, sizes, letters = gpt.load_bundled_model()
print(sizes, "\n")
for name, tensor in checkpoint.items():
    if name.startswith("h.0") or not name.startswith("h."):
        print(f"{name:22} {tuple(tensor.shape)!s:16} {str(tensor.dtype).removeprefix('torch.')}")

# %% [markdown]
# `wte` and `wpe` are the tables of tokens and positions, and `ln_f` is the last norm. `wte` also **unembeds**: it turns the
# last vector of the stream into logits, one per token. `attn.bias` is not a bias but the causal mask, which early code kept
# among the weights.
#
# A `gpt.GPT` is a model of the same form with this course's names. Unlike lesson 8's, it adds a learned vector for each
# position, because GPT-2 is older than RoPE, and its linear layers have biases.
#
# | in the file | in our model | shape in our model |
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
# All but the first two rows have a `weight` and a `bias`. For linear layers the last column has the shape of the weight.
#
# ### Predict: a transpose that you forget
#
# GPT-2's linear layers compute `x @ weight + bias`, so their weights are stored (in, out). `nn.Linear` has (out, in). Suppose
# that you copy one weight of the file, whole and without a transpose, into an `nn.Linear` with the same inputs and outputs. For
# which weight do you get *no* error?

# %%
# The weight: "c_attn", "attn.c_proj", "mlp.c_fc" or "mlp.c_proj"
predict("the transpose that you forget", ...)

# %% [markdown]
# ## 2. Three matrices in one
#
# GPT-2 makes queries, keys and values with a single product. Its matrix has all three side by side:
#
# $$ \mathbf{x}\, \mathbf{W}_{\text{attn}} + \mathbf{b}_{\text{attn}} =
#    \bigl[\; \mathbf{q} \;\big|\; \mathbf{k} \;\big|\; \mathbf{v} \;\bigr],
#    \qquad \mathbf{W}_{\text{attn}} : (D, 3D). $$
#
# The first $D$ *columns* make the query, the next $D$ the key, the last $D$ the value, for all heads.
#
# ### Exercise: `split_qkv(weight, bias)`
#
# *Difficulty ★☆☆, importance ●●○, about 5 minutes.*
#
# Cut `c_attn`'s weight `(D, 3 * D)` and bias `(3 * D,)` into three pairs `((W_q, b_q), (W_k, b_k), (W_v, b_v))`. Each `W` is
# `(D, D)`, (out, in), and each `b` is `(D,)`. Return copies, which do not change when the checkpoint does.
#
# **Worked example.** With $D = 2$ and
#
# $$ \begin{pmatrix} 0 & 1 & 2 & 3 & 4 & 5 \\ 6 & 7 & 8 & 9 & 10 & 11 \end{pmatrix}, $$
#
# `W_q` is $\begin{pmatrix} 0 & 6 \\ 1 & 7 \end{pmatrix}$ and `W_k` is $\begin{pmatrix} 2 & 8 \\ 3 & 9 \end{pmatrix}$.


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
# Does a vector get the same query as from the file? (`F.linear` computes what `nn.Linear` does.)


# %% tags=["code"]
weight, bias = checkpoint["h.0.attn.c_attn.weight"], checkpoint["h.0.attn.c_attn.bias"]
(W_q, b_q), *_ = split_qkv(weight, bias)
x = torch.randn(5, sizes.d_model, generator=torch.Generator().manual_seed(0))
from_file = (x @ weight + bias)[:, : sizes.d_model]
print(f"Queries differ by up to {(F.linear(x, W_q, b_q) - from_file).abs().max():.0e}.")

# %% [markdown]
# ## 3. Every number in its place
#
# A good loader follows two rules:
#
# - **Say what is wrong**: which name is missing, or which shape does not fit.
# - **All or nothing**: look at everything first, then copy. A half-filled model looks like a model.
#
# ### Predict: how many tensors are copied (extra)
#
# Many programs use `load_state_dict(checkpoint, strict=False)`. It copies the tensors whose names both sides have, and ignores
# all others. How many tensors of this checkpoint does it copy into a `gpt.GPT`?

# %%
# The number of tensors that are copied
predict("the tensors that are copied", ..., len(checkpoint.keys() & sizes.model().state_dict().keys()))

# %% [markdown]
# The model stays as random as it was, without an error. Only the value that `load_state_dict` returns lists the names that did
# not fit, and most programs ignore it.
#
# ### Exercise: `load_gpt2(model, checkpoint)`
#
# *Difficulty ★★★, importance ●●●, about 15 minutes.*
#
# Copy a checkpoint into a `gpt.GPT` according to the table in section 1, and return the model. Its logits are then those of the
# model that the checkpoint is from, to 1e-4. Model and checkpoint share no memory.
#
# - If the checkpoint lacks a name that the model needs, raise a `KeyError` with that name.
# - If a shape does not fit, raise a `ValueError` with the name in the file and two shapes: the checkpoint's, and the one that it
#   should have (as stored, or transposed).
# - After an error nothing has been copied. Ignore what else is in the checkpoint, such as masks.
#
# `model.state_dict()` has our names and tensors, and `len(model.blocks)` is the number of layers. You may call your
# `split_qkv`; a mistake in it costs no points here.
#
# **Worked example.** A model of two layers needs 28 names: two tables, two of `ln_f`, and for each layer twelve (six parts with
# a `weight` and a `bias`). Our model has four more per layer, because `c_attn` becomes three.


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
check(load_gpt2)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(load_gpt2)
### END HIDDEN TESTS

# %% [markdown]
# Now test it. `gpt.model_over_checkpoint` computes with the file's own tensors, by `x @ weight + bias` as GPT-2 does. Both
# models must give the same logits.


# %% tags=["code"]
model = load_gpt2(sizes.model(), checkpoint)
tale = "One evening Jonas walked to the old mill, and a fog lay there. There he found a green bottle."
tale_ids = torch.tensor([letters.encode(tale)])  # (1, T)
with torch.no_grad():
    logits = model(tale_ids)
    expected = gpt.model_over_checkpoint(checkpoint, sizes.n_heads)(tale_ids)
torch.testing.assert_close(logits, expected, rtol=0, atol=1e-4)
loss = F.cross_entropy(logits[0, :-1], tale_ids[0, 1:]).item()
print(f"The logits agree. Loss per letter of a tale: {loss:.2f} nats; of guessing: {math.log(sizes.n_tokens):.2f}")

# %% [markdown]
# ## 4. What would each layer predict?
#
# Now open *your* model of lesson 8, or the course's if you have not trained one. `lm.run(ids)` returns all that the model
# computes. Its `hidden` is the residual stream, `(L + 1, B, T, D)`: first the embeddings, then the output of each layer.

# %% tags=["code"]
lm = small_lm.load(yours=True)
print(f"{len(lm.blocks)} layers of {lm.n_heads} heads, {len(lm.words)} words.")

# %% [markdown]
# After the last layer, the stream is normalised and unembedded to logits. But each layer only *adds* to it, so you can unembed
# it after any layer. The **logit lens** treats the output of each layer as if it were the last:
#
# $$ \operatorname{lens}(\mathbf{x}) = \operatorname{norm}(\mathbf{x})\, \mathbf{E}^\top $$
#
# Here $\mathbf{x}$ is the stream at one position after any layer, and $\mathbf{E}$, `(N, D)`, is the matrix that unembeds. In
# your model it is the table of embeddings.
#
# ### Exercise: `logit_lens(hidden, norm, unembedding)`
#
# *Difficulty ★☆☆, importance ●●○, about 4 minutes.*
#
# `hidden` is `(L, B, T, D)`, the stream at each layer; `norm` is a module, the model's last norm, of whatever kind;
# `unembedding` is `(N, D)`. Return the logits of all layers, `(L, B, T, N)`.
#
# **Worked example.** One position, $D = 2$, $\mathbf{x} = (1, 3)$. A layer norm with weights 1 and biases 0 gives $(-1, 1)$:
# minus the mean 2, divided by the standard deviation 1. If the rows for three tokens are $(1, 0)$, $(0, 1)$ and $(1, -1)$, the
# logits are $-1$, $1$ and $-2$.


# %% nbgrader={"grade": false, "grade_id": "logit_lens", "locked": false, "schema_version": 3, "solution": true, "task": false}
def logit_lens(hidden: torch.Tensor, norm: nn.Module, unembedding: torch.Tensor) -> torch.Tensor:
    """The logits that each layer would give if it were the last.

    hidden: (L, B, T, D); norm: a module that keeps the shape; unembedding: (N, D). Returns (L, B, T, N).
    """
    ### BEGIN SOLUTION
    return norm(hidden) @ unembedding.T
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_logit_lens", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(logit_lens)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(logit_lens)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: the lens before the first layer
#
# `hidden[0]` is what goes *into* the first layer: the embeddings. Which word does the lens show there, at nearly every
# position?

# %%
# The word: "the word just read", "the right next word" or "the"
predict("the lens before the first layer", ...)


# %% tags=["code"]
stories = [lm.encode(story)[:48] for story in small_lm.held_out(2000).splitlines()]
held_out = torch.stack([ids for ids in stories if len(ids) == 48])  # (B, 48): stories that the model has not seen
with torch.no_grad():
    by_layer = logit_lens(lm.run(held_out).hidden, lm.norm, lm.tokens.weight)  # (L + 1, B, T, N)
print(f"Guessing among {len(lm.words)} words: a loss of {math.log(len(lm.words)):.2f}")
for layer, logits in enumerate(by_layer):
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), held_out[:, 1:].flatten()).item()
    own = (logits.argmax(-1) == held_out).float().mean().item()
    print(f"after {layer} layers: loss {loss:5.2f}; the word just read comes first at {own:.0%} of positions")

# %% tags=["picture"]
# @title The lens on a sentence, layer by layer
picture = figures.inspection.layer_by_layer(lm, 'Mara found a red key near the garden. "Whose key is this?', logit_lens)
figures.show(picture)

# %% [markdown]
# Before the first layer, the lens has a loss far *above* that of guessing. It gives the word just read a probability near 1, but a
# word is almost never followed by itself. So the right word has a probability near 0, and the loss is minus its logarithm: to be
# sure and wrong costs more than to guess.
#
# Read a column of the picture from top to bottom. The first layer replaces the word by guesses about what follows such a word.
# What depends on words further back comes later, such as *key* after *Whose* in the course's model. Nobody trained the middle
# layers to be read this way, so a low probability does not show that a layer knows nothing.

# %% [markdown]
# ### A sentence of your own (extra)
#
# Replace the sentence below; `lm.words` lists the words that the model knows. Where does each head look?

# %% tags=["code"]
sentence = "The boat reached the river bank. The captain tied the boat to a tree."

# %% tags=["picture"]
# @title Sliders: where the heads look in your sentence
sliders.slider(figures.inspection.two_heads, lm, sentence)

# %% [markdown]
# ## 5. A head found by its score
#
# Give a model random tokens, and then the same tokens again. The first time it can only guess. The second time it can look up
# what came after the same token the first time. An **induction head** is a head that looks there, and a score finds it.
#
# Look for induction heads in a second model, whose tokens are letters. It has two layers of four heads and *nothing but
# attention*: no MLPs, no norms, no biases. So its stream is exactly the sum of the embedding and of what eight heads add. The
# course trained it for a minute, on random letters that repeat.

# %% tags=["code"]
tiny = attention_only.load()
period = 8
once = torch.rand(64, 26, generator=torch.Generator().manual_seed(5)).argsort(-1)[:, :period]
repeated = once.repeat(1, 2)  # (64, 16): eight different letters, twice


def losses_of(run, ids, period):
    """The mean loss of tokens that are new, and of tokens that repeat."""
    each = F.cross_entropy(run.logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")  # (B, T - 1)
    return each[:, : period - 1].mean().item(), each[:, period:].mean().item()


with torch.no_grad():
    whole = tiny.run(repeated)  # weights (L, B, H, T, T), heads (L, B, H, T, K)
print("one of the 64 texts:", "".join(tiny.letters.decode(repeated[0].tolist())))
new, again = losses_of(whole, repeated, period)
print(f"loss of new letters {new:.2f}, of repeated ones {again:.2f}; of guessing {math.log(26):.2f}")

# %% [markdown]
# ### Exercise: `induction_score(weights, period)`
#
# *Difficulty ★★☆, importance ●●○, about 5 minutes.*
#
# A text repeats with a period $P$. Query $t \ge P$ has seen its token at $t - P$; what came after it is at $t - P + 1$. The
# **induction score** of a head is its mean weight there, where $a_{ij}$ is the weight of query $i$ on key $j$:
#
# $$ \text{score} = \frac{1}{T - P} \sum_{t = P}^{T - 1} a_{t,\; t - P + 1} $$
#
# `weights` is `(..., T, T)`, one row per query; return one score per map, `(...)`. Unless $1 \le$ `period` $< T$, raise a
# `ValueError` that names `period` and its value.
#
# **Worked example.** A B C A B C has the period 3. Query 3 (the second A) should look at 1 (the B), query 4 at 2, query 5 at 3.
# With the weights $0.9$, $0.6$ and $0.3$ there the score is $0.6$. These entries are a part of one diagonal of the map.


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
check(induction_score)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(induction_score)
### END HIDDEN TESTS

# %% [markdown]
# ### Predict: the layer of the induction heads
#
# To find the position *after* an earlier letter, a head compares its own letter with the letter *before* each key. So its keys
# must show which letter that is. In which layer can induction heads be?

# %%
# The layer: "layer 0", "layer 1" or "both"
predict("the layer of the induction heads", ...)

# %% [markdown]
# ### Exercise: look one back (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.* Some heads look at the position before their own. Return the mean
# weight of queries 1 to $T - 1$ on the position before, one number per map: `(..., T, T)` → `(...)`.
#
# **Worked example.** With three tokens, it is the mean of $a_{1,0}$ and $a_{2,1}$.


# %%
def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    """The mean weight of each query but the first on the position before. weights: (..., T, T). Returns (...)."""
    raise NotImplementedError  # replace this line


# %%
check(previous_token_score)

# %% [markdown]
# ### Which head does what
#
# The *previous-token score* of a head is the mean weight of its queries on the position before. The next pictures show both
# scores of each head, and the maps of the two heads that stand out:


# %% tags=["code"]
scores = induction_score(whole.weights, period).mean(1)  # (L, B, H) -> (L, H)
before = previous_token_score(whole.weights).mean(1)  # (L, H)
looks_back = int(before[0].argmax())  # the head of layer 0 that looks most at the position before
best = int(scores[1].argmax())  # the head of layer 1 with the highest induction score

# %% tags=["picture"]
# @title Both scores of every head, and the maps of two
picture = figures.inspection.head_maps({"previous-token score": before, "induction score": scores})
figures.show(picture, caption="Both are means over 64 texts.")
pair = torch.stack([whole.weights[0, 0, looks_back], whole.weights[1, 0, best]])
names = [f"layer 0, head {looks_back}", f"layer 1, head {best}"]
picture = figures.inspection.attention_maps(pair, tiny.letters.decode(repeated[0].tolist()), names)
figures.show(picture, caption="The weights of two heads on one of the 64 texts: eight letters, twice.")

# %% [markdown]
# All four heads of layer 1 are induction heads. Head 1 of layer 0 is a **previous-token head**: from nearly every position it
# looks one back. The second map shows an induction head. While letters are new, it mostly looks at its own position. When they
# repeat, it looks at what came after the same letter the first time.
#
# The same scores in your model of words:

# %% tags=["code"]
generator = torch.Generator().manual_seed(5)
twelve = torch.stack([torch.randperm(len(lm.words), generator=generator)[:12] for _ in range(16)])
random_words = twelve.repeat(1, 2)  # (16, 24): twelve random words, twice
with torch.no_grad():
    of_words = lm.run(random_words)
word_scores = induction_score(of_words.weights, 12).mean(1)  # (L, H)
word_new, word_again = losses_of(of_words, random_words, 12)
print(f"loss of new words {word_new:.2f}, of repeated ones {word_again:.2f}")
print("induction scores, one row per layer:")
print("\n".join("  ".join(f"{value:.2f}" for value in row) for row in word_scores.tolist()))

# %% [markdown]
# Layer 2 has induction heads: all four in the course's model, some in one that you trained. A quarter of the texts that either
# read were random words that repeat. The loss of *new* words is above that of guessing, 6.91: as long as nothing repeats, the
# model seems to expect a story, and to be sure and wrong costs more than to guess.

# %% [markdown]
# ## 6. Remove a head
#
# A score says where a head looks, not whether it matters. To find out, remove the head and measure the loss. An **ablation**
# removes a part of a model to see what changes. A head whose output is zero adds nothing to the stream. But zero may be an
# unusual output for a head, so another way is to put its *mean* over many texts there.
#
# ### Exercise: `ablate(head_outputs, heads, mean=None)`
#
# *Difficulty ★★☆, importance ●●○, about 5 minutes.*
#
# `head_outputs` is `(B, H, T, K)`, and `heads` is a list of head indices, possibly empty. Return a tensor of the same shape in
# which the outputs of these heads are zero. If `mean`, `(H, K)`, is given, each of these heads gets its row of `mean` instead,
# at every position of every text. The other heads are unchanged, and keep their gradient. Change nothing in place: the model
# still uses its tensor.
#
# **Worked example.** One text, three heads, one token, `K = 2`: $(1, 2), (3, 4), (5, 6)$. With `heads=[1]` they become $(1, 2),
# (0, 0), (5, 6)$. If row 1 of `mean` is $(7, 8)$, they become $(1, 2), (7, 8), (5, 6)$.


# %% nbgrader={"grade": false, "grade_id": "ablate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ablate(head_outputs: torch.Tensor, heads: list[int], mean: torch.Tensor | None = None) -> torch.Tensor:
    """The outputs of the heads, with some of them removed.

    head_outputs: (B, H, T, K); heads: head indices; mean: None, or (H, K).
    Returns (B, H, T, K): these heads at zero, or at their mean, the others unchanged. Changes nothing in place.
    """
    ### BEGIN SOLUTION
    out = head_outputs.clone()
    out[:, heads] = 0.0 if mean is None else mean[heads][:, None]  # (heads, 1, K)
    return out
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_ablate", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(ablate)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(ablate)
### END HIDDEN TESTS


# %% tags=["code"]
def measure(model, ids, period):
    """Returns a function: a list of pairs (layer, head) -> the loss of repeated tokens without these heads."""

    def loss_without(heads):
        def change(layer, outputs):
            return ablate(outputs, [head for at, head in heads if at == layer])

        with torch.no_grad():
            return losses_of(model.run(ids, change), ids, period)[1]

    return loss_without


loss_without = measure(tiny, repeated, period)
every = [(layer, head) for layer in range(2) for head in range(4)]

# %% [markdown]
# ### Predict: one induction head less
#
# With all heads, the loss of repeated letters is 0.01; guessing has a loss of 3.26. Remove one induction head of layer 1 at a
# time. How high does the loss rise for the one that matters most?

# %%
# The loss: "0.01", "about 0.6" or "about 3.3"
predict("one induction head less", ...)

# %% [markdown]
# ### Predict: the previous-token head
#
# Now remove only the previous-token head, in layer 0. What happens to the induction scores in layer 1?

# %%
# The four scores: "stay as they were", "fall below a half" or "fall to 0"
predict("the previous-token head", ...)

# %% tags=["code"]
alone = [loss_without([pair]) for pair in every]
with torch.no_grad():
    blind = tiny.run(repeated, lambda layer, outputs: ablate(outputs, [looks_back]) if layer == 0 else outputs)
print("induction scores of layer 1:", [round(value, 2) for value in scores[1].tolist()])
print(
    f"without head {looks_back} of layer 0:",
    [round(value, 2) for value in induction_score(blind.weights, period).mean(1)[1].tolist()],
)
for layer in (0, 1):
    print(f"loss without layer {layer}: {loss_without([pair for pair in every if pair[0] == layer]):.2f}")
print(f"loss without any head:  {loss_without(every):.2f}; of new letters: {new:.2f}")

# %% tags=["picture"]
# @title The loss without one head
figures.show(figures.inspection.without_each_head(alone))

# %% [markdown]
# Without the previous-token head the model guesses. Little in the keys now shows which letter came before, so the induction
# heads do not find their position. No single induction head matters as much, because three others look at the same position.
# What a head is worth depends on which other heads are there.
#
# Without all of layer 1 the loss is even *higher* than without all eight heads. Section 9 measures why: all four heads of layer
# 0 lower the logits of letters that they look at. While letters are new, this helps, because a letter that was read does not
# come again soon. When they repeat, it is wrong, and layer 1 is no longer there to correct it.
#
# ### Zero or mean (extra)
#
# Does it matter what is put in a head's place?

# %% tags=["code"]
means = whole.heads.mean((1, 3))  # (L, B, H, T, K) -> (L, H, K)


def loss_at_mean(heads):
    """The loss of repeated letters with these heads at their mean."""

    def change(layer, outputs):
        return ablate(outputs, [head for at, head in heads if at == layer], means[layer])

    with torch.no_grad():
        return losses_of(tiny.run(repeated, change), repeated, period)[1]


groups = {
    "previous-token head": [(0, looks_back)],
    "the rest of layer 0": [(0, head) for head in range(4) if head != looks_back],
    "layer 1": [(1, head) for head in range(4)],
}
for name, heads in groups.items():
    print(f"{name:20} at zero: loss {loss_without(heads):.2f}; at their mean: {loss_at_mean(heads):.2f}")

# %% [markdown]
# For the rest of layer 0, the mean is worse than zero, so neither way is neutral. When you make a claim, say which one you used.

# %% [markdown]
# ## 7. Move an activation
#
# Ablation does not show which information goes through a head. **Activation patching** replaces an activation (a value that the
# model computes) in one run by the same activation of another run. Run the model on two texts that differ in one token, a
# *clean* and a *corrupted* one. Then run it on the corrupted text again, with one activation from the clean run. If the clean
# answer comes back, the difference between the texts goes through this activation.

# %% tags=["code"]
drawn = torch.rand(64, 26, generator=torch.Generator().manual_seed(3)).argsort(-1)  # 64 orders of the alphabet
clean = torch.cat([drawn[:, :10], drawn[:, 2:3]], dim=1)  # (64, 11): ten letters, then the one of position 2 again
corrupted = clean.clone()
corrupted[:, 2] = drawn[:, 20]  # another letter at position 2
right = clean[:, 3]  # what came after it
for name, texts in (("clean", clean), ("corrupted", corrupted)):
    print(f"{name:10}", "".join(tiny.letters.decode(texts[0].tolist())), "→", tiny.letters.alphabet[right[0]])


def right_logit(run):
    """The mean logit of the right letter at the last position."""
    return run.logits[:, -1].gather(1, right[:, None]).mean().item()


with torch.no_grad():
    clean_run, corrupted_run = tiny.run(clean), tiny.run(corrupted)
low, high = right_logit(corrupted_run), right_logit(clean_run)
print(f"logit of the right letter: clean {high:.1f}, corrupted {low:.1f}")

# %% [markdown]
# ### Exercise: patch one head at one position
#
# *Difficulty ★☆☆, importance ●○○, about 3 minutes.* `outputs` and `clean` are the heads' outputs of one layer in the
# corrupted and in the clean run, `(B, H, T, K)`. Return a copy of `outputs` in which one head at one position has its
# vectors from `clean`, for all texts.
#
# **Worked example.** One text, two heads, two positions, `K = 1`: `outputs` is $(1, 2), (3, 4)$ and `clean` is $(5, 6), (7,
# 8)$. Patch head 1 at position 0: the result is $(1, 2), (7, 4)$.


# %%
def patch_head(outputs: torch.Tensor, clean: torch.Tensor, head: int, position: int) -> torch.Tensor:
    """A copy of `outputs` in which this head at this position is as in `clean`. Both: (B, H, T, K)."""
    raise NotImplementedError  # replace this line


# %%
check(patch_head)

# %% [markdown]
# ### Predict: where the difference goes
#
# The texts differ only at position 2. Patch the previous-token head of layer 0 at one position. At which position does this
# bring back most of the right letter's logit?

# %%
# The position: 2, 3 or 10
predict("the position to patch", ...)


# %% tags=["code"]
def restored(layer, head, position):
    """The share of the logit's difference that one patch brings back: 0 is none of it, 1 is all of it."""

    def change(at, outputs):
        return patch_head(outputs, clean_run.heads[layer], head, position) if at == layer else outputs

    with torch.no_grad():
        return (right_logit(tiny.run(corrupted, change)) - low) / (high - low)


shares = torch.tensor([[restored(layer, head, t) for t in range(11)] for layer, head in every])  # (8, 11)

# %% tags=["picture"]
# @title The share that each patch brings back
names = [f"layer {layer}, head {head}" for layer, head in every]
figures.show(figures.inspection.patching(shares, names, 2))

# %% tags=["code"]
last = shares[4:, 10]
print(f"layer 0, head {looks_back}, position {shares[looks_back].argmax()}: {shares[looks_back].max():.2f}")
print("layer 1, position 10:", [round(share, 2) for share in last.tolist()], f"together {last.sum():.2f}")

# %% [markdown]
# You have read a **circuit**: a group of heads that compute something together, because one reads what another wrote. At
# position 3 the previous-token head writes which letter is at position 2. With this, the four heads of layer 1 at the last
# position find position 3, and copy its letter to the logits. The other heads of layer 0 bring back at most 0.1 each. The
# shares of layer 1 add up to 1, because the logit is a sum, and its difference comes through these four heads.

# %% [markdown]
# ## 8. A claim that can fail
#
# "These heads do it" is easily written under a picture. Make it a claim that can fail: "without these heads the behaviour is
# gone, and with any one of them back it is not". Then remove them and measure. Here, *gone* means that the loss of repeated
# tokens is at least that of new ones.
#
# ### Exercise: `necessary_heads(loss_without, scores, chance)`
#
# *Difficulty ★★★, importance ●●○, about 11 minutes.*
#
# Name heads without which a behaviour is gone. The grader removes exactly these in a model that you have not seen, and measures
# the loss. You can do the same: `loss_without(heads)` takes a list of pairs `(layer, head)`, possibly empty, and returns the
# loss with these heads removed. `scores`, `(L, H)`, has the induction scores.
#
# The behaviour is gone if the loss is at least `chance`. Return a list of pairs for which both are true:
#
# 1. Without all of them, the behaviour is gone.
# 2. With any one of them put back, and the others still removed, it is not gone.
#
# Such a list need not name all heads of a circuit. Of two heads in a row, such as the only previous-token head and the only
# induction head, either one alone is a right answer. If several lists are right, return any of them.
#
# If the behaviour is gone with all heads in place, return an empty list. If the loss without all `L * H` heads is below
# `chance`, raise a `ValueError` that names `chance`. In the grader's models, removing more heads never brings a behaviour back.
#
# **Worked example.** Three heads, and `chance` is 2. Without any single one the loss is 0.1. Without `(1, 0)` and `(1, 1)` it
# is 2.5, and without all three as well; without `(0, 0)` and one other it is 0.1. No head matters alone, and the only right
# answer is `[(1, 0), (1, 1)]`.


# %% nbgrader={"grade": false, "grade_id": "necessary_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
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
check(necessary_heads)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(necessary_heads)
### END HIDDEN TESTS


# %% tags=["code"]
models = {
    "letters": (loss_without, scores, new),
    "words": (measure(lm, random_words, 12), word_scores, word_new),
}
for name, (without, of_heads, chance) in models.items():
    try:
        claim = necessary_heads(without, of_heads, chance)
        print(
            f"{name}: {claim}\n    loss {without([]):.2f}, without these heads {without(claim):.2f}, of new tokens {chance:.2f}"
        )
        print("    with one put back:", [round(without([o for o in claim if o != pair]), 2) for pair in claim])
    except ValueError as error:
        print(f"{name}: no claim ({error})")

# %% [markdown]
# For the model of letters, more than one claim is right. Measure four:

# %% tags=["code"]
claims = {
    "the head with the highest score": [(1, best)],
    "all of layer 1": [(1, head) for head in range(4)],
    "the previous-token head": [(0, looks_back)],
    "the previous-token head and the best": [(0, looks_back), (1, best)],
}
for name, heads in claims.items():
    print(f"{name:38} loss {loss_without(heads):.2f} {'gone' if loss_without(heads) >= new else 'not gone'}")

# %% [markdown]
# The first claim fails. The second and the third are right, with different heads. Neither names the whole circuit, because a
# chain breaks at any link. The fourth names a head too many: put the best head back, and the behaviour is still gone.
#
# So a list of necessary heads is *an* answer, for one kind of removal on one kind of text. In large models, later layers partly
# compensate for a removal ([McGrath et al. 2023](https://arxiv.org/abs/2307.15771)), so claims about a single part often fail.

# %% [markdown]
# ## 9. What a head asks for, and what it passes on
#
# A head has four matrices, but it does only two things, and a single matrix, `(D, D)`, describes each. With head $h$'s own `K`
# rows of the weights, a score before scaling is
#
# $$ \mathbf{q} \cdot \mathbf{k} = (\mathbf{W}_q^{h} \mathbf{x}_i)^\top (\mathbf{W}_k^{h} \mathbf{x}_j) =
#    \mathbf{x}_i^\top \underbrace{{\mathbf{W}_q^{h}}^\top \mathbf{W}_k^{h}}_{\text{QK circuit}} \mathbf{x}_j . $$
#
# The **QK circuit** decides which position looks at which. The **OV circuit**, ${\mathbf{W}_v^{h}}^\top
# {\mathbf{W}_o^{h}}^\top$ with the head's own columns of $\mathbf{W}_o$, turns the vector that the head looks at into the
# vector that it adds to the stream.
#
# ### Exercise: `qk_circuit(W_q, W_k, head, n_heads)`
#
# *Difficulty ★★☆, importance ●●○, about 6 minutes.*
#
# Make the QK circuit of one head, `(D, D)`, from two weights `(D, D)` as `nn.Linear` has them: the matrix `M` for which `x_q @
# M @ x_k` is the unscaled score. *Review:* head $h$ owns rows `h * K` to `(h + 1) * K - 1` of both. Unless `n_heads` is at
# least 1 and divides `D`, and `0 <= head < n_heads`, raise a `ValueError` that names what was wrong, and its value.
#
# **Worked example.** `D = 2`, two heads, so `K = 1`. Head 1 owns the last rows, $(3, 4)$ of $\mathbf{W}_q$ and $(7, 8)$ of
# $\mathbf{W}_k$. Its QK circuit is
#
# $$ \begin{pmatrix} 3 \\ 4 \end{pmatrix} \begin{pmatrix} 7 & 8 \end{pmatrix} =
#    \begin{pmatrix} 21 & 24 \\ 28 & 32 \end{pmatrix} . $$


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
check(qk_circuit)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(qk_circuit)
### END HIDDEN TESTS

# %% [markdown]
# Layer 1 of the model of letters does not rotate queries and keys, and there are no norms. So its scores are exactly
# $\mathbf{x}_i^\top {\mathbf{W}_q^{h}}^\top \mathbf{W}_k^{h}\, \mathbf{x}_j / \sqrt{d_k}$, and each $\mathbf{x}$ is a sum. Take
# one term on each side: for the query the embedding of its letter, for the key what a head of layer 0 writes when it looks at a
# letter. This gives a map of letters by letters.

# %% tags=["code"]
embedded = tiny.tokens.weight  # (26, 64): one row per letter


def moves(layer, head):
    """The OV circuit of a head, (D, D): x @ moves is what it adds to the stream when it looks at x."""
    attention, rows = tiny.blocks[layer], slice(16 * head, 16 * head + 16)
    return attention.W_v.weight[rows].T @ attention.W_o.weight[:, rows].T


def looks_for(head, written):
    """Scores of a head of layer 1, (26, 26): the query has letter a, the key's stream has row b of `written`."""
    M = qk_circuit(tiny.blocks[1].W_q.weight, tiny.blocks[1].W_k.weight, head, 4)
    return embedded @ M @ written.T / 16**0.5


# %% [markdown]
# ### Predict: the diagonals
#
# Head 0 of layer 1 has two such maps: one for keys that contain their own letter, one for keys that contain what the
# previous-token head wrote. Which map has a clearly positive diagonal?

# %%
# The map: "the key's own letter", "what was written" or "both"
predict("the map with a positive diagonal", ...)

# %% tags=["code"]
own_letter = looks_for(0, embedded)
written_before = looks_for(0, embedded @ moves(0, looks_back))  # (26, 26)
unembed = tiny.unembed.weight.T
copies = {(layer, head): embedded @ moves(layer, head) @ unembed for layer, head in every}  # (26, 26) each
print("Mean of the diagonals, and of all entries:")
print(f"  scores, the key's own letter:         {own_letter.diagonal().mean():5.1f} {own_letter.mean():5.1f}")
print(
    f"  scores, written by head {looks_back} of layer 0:  {written_before.diagonal().mean():5.1f} {written_before.mean():5.1f}"
)
for (layer, head), logits in copies.items():
    print(f"  logits, OV circuit of layer {layer}, head {head}: {logits.diagonal().mean():5.1f} {logits.mean():5.1f}")

# %% tags=["picture"]
# @title What a head of layer 1 looks for, and what all four copy
picture = figures.inspection.wanted_letters(written_before, tiny.letters.alphabet)
figures.show(picture)
figures.show(figures.inspection.copied_letters([copies[1, head] for head in range(4)], tiny.letters.alphabet))

# %% [markdown]
# In the first map, the head looks for positions after the query's *own* letter, for all 26 letters. Two heads of two layers
# make one circuit, through a matrix product.
#
# In the second map, each head copies only some letters. All four look at the same position and share the alphabet, so that
# together they raise every logit by 9 to 12. That is why the claim "all of layer 1" in section 8 needs each of them. The heads
# of layer 0 *lower* the logit of a letter that they look at, which explains the high loss without layer 1 in section 6.

# %% [markdown]
# ## Your experiment (extra)
#
# *Difficulty ★★☆, importance ●○○, about 7 minutes.* **What comes through layer 0?** In section 7 you corrupted the
# letter to look *for*. Now corrupt the letter to *copy* instead: position 3 of `clean` becomes `drawn[:, 20]`, and the
# right letter is still `right`.
#
# Patch all four heads of layer 0 at *all* positions from the clean run, with `right_logit` and a `change` as in section 7. What
# share of the difference in the right letter's logit comes back? Guess before you run it; for the corrupted text of section 7 it
# is 0.96.

# %% tags=["experiment"]
other = clean.clone()
other[:, 3] = drawn[:, 20]

# Your code: the logit in this corrupted run, and with layer 0 patched

finding = ...  # a share: 0 is none of the difference, 1 is all of it

# %%
check("experiment", finding)

# %% [markdown]
# ## 10. A published model (extra)
#
# Your `load_gpt2` works for the real GPT-2, too. `pretrained.fetch` downloads a model of this format from the Hugging Face hub,
# with its tokenizer: `openai-community/gpt2` (MIT licence, 550 MB) or `distilbert/distilgpt2` (Apache 2.0, 350 MB). Remove the
# `#` to fetch it. You need a network connection and 2 GB of memory.

# %% tags=["picture"]
from course import pretrained

published = None
# published = pretrained.fetch("openai-community/gpt2")

if published:
    theirs = load_gpt2(published.sizes.model(), published.checkpoint)
    prompt = "When Mary and John went to the store, John gave a drink to"
    seen = torch.tensor([published.tokens.encode(prompt)])
    with torch.no_grad():
        likely = theirs(seen)[0, -1].softmax(-1).topk(5)
    for chance, token in zip(likely.values.tolist(), published.tokens.decode(likely.indices.tolist()), strict=True):
        print(f"{chance:.2f}  {token!r}")
else:
    print("Not fetched. The model of section 1 has the same names and layout, and goes through the same code.")

# %% [markdown]
# The prompt is from Wang et al., [Interpretability in the Wild](https://arxiv.org/abs/2211.00593). By patching, they found
# which heads of GPT-2 lead to the answer *Mary*; induction heads are among them. Try `induction_score` on random tokens.

# %% [markdown]
# ## 11. A bug that shipped (extra)
#
# A model that had been trained with `nn.Linear` was given to a program that expects GPT-2's layout.
#
# ```diff
# - new[name] = weight
# + new[name] = weight.T    # c_attn, c_fc and c_proj are stored (in, out)
# ```
#
# The answer was a page of *size mismatch* errors ([karpathy/nanoGPT#190](https://github.com/karpathy/nanoGPT/issues/190)). The
# square `attn.c_proj` is missing from that page. If you transpose only what raises an error, you get a model that loads and
# writes nonsense.
#
# More bugs that shipped are in the notebook `bug_museum.ipynb`.

# %% [markdown]
# ## Exercise: `head_contributions(head_outputs, W_o, direction)` (extra)
#
# *Difficulty ★★☆, importance ●○○, about 10 minutes.*
#
# Ablation runs the model again for each set of heads. **Direct logit attribution** measures all heads in one run. A logit is a
# dot product of the stream with a row of the unembedding, and the stream is a *sum* to which each head adds a vector. So the
# amount by which a model prefers one token to another is a sum too, with one term per head.
#
# `head_outputs` is `(B, H, T, K)`, as in `ablate`; `W_o` is `(D, D)`, as `nn.Linear` has it (out, in), without its
# bias; `direction` is `(D,)`, for instance the row of one token minus that of the other. Return `(B, H, T)`: the dot
# product of the direction with what each head adds to the stream at each position. You need no loop, and no tensor with
# a vector of width $D$ for each head.
#
# **Worked example.** Two heads of width 1 gave 3 and 5, $\mathbf{W}_o = \begin{pmatrix} 1 & 2 \\ 3 & 1 \end{pmatrix}$, the
# direction is $(1, -1)$. Head 0 adds $3 \cdot (1, 3)$, which counts $3 - 9 = -6$. Head 1 adds $5 \cdot (2, 1)$, which counts
# $5$. Together they are $-1$, and so is the layer's $(13, 14)$ along the direction.
#
# These are the *direct* contributions: what a head does through later layers is not included. (The last norm is left out. It
# divides all terms of a position by one number; its weights, which are linear, can be part of the direction.) Ablation counts
# everything. If the two disagree, a later layer read what the head wrote.


# %%
def head_contributions(head_outputs: torch.Tensor, W_o: torch.Tensor, direction: torch.Tensor) -> torch.Tensor:
    """What each head adds to the residual stream, measured along `direction`; the sum over heads is what the layer adds.

    head_outputs: (B, H, T, K); W_o: (D, D), as nn.Linear stores it, D = H * K; direction: (D,). Returns (B, H, T).
    """
    raise NotImplementedError  # replace this line


# %%
check(head_contributions)

# %% [markdown]
# ## Summary
#
# 1. A checkpoint is names and tensors. In GPT-2's, one matrix makes queries, keys and values, and weights are stored (in, out).
# 2. Check everything, then copy; say what is missing; prove the loaded model by its logits.
# 3. Each layer adds to the residual stream, so the norm and the unembedding read every layer: the logit lens.
# 4. A score finds a head, ablation shows what is gone without it, and patching shows which information goes through it.
# 5. A head is two matrices: the QK circuit decides where it looks, the OV circuit what it adds.
#
# $$ \operatorname{score}(\mathbf{x}_i, \mathbf{x}_j) =
#    \mathbf{x}_i^\top {\mathbf{W}_q^{h}}^\top \mathbf{W}_k^{h}\, \mathbf{x}_j / \sqrt{d_k} $$
#
# **To read on:** Elhage et al., [A Mathematical Framework for Transformer
# Circuits](https://transformer-circuits.pub/2021/framework/index.html): QK and OV circuits, in models of attention alone ·
# Olsson et al., [In-context Learning and Induction Heads](https://arxiv.org/abs/2209.11895): where the score comes from ·
# nostalgebraist, [interpreting GPT: the logit
# lens](https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens).
#
# In lesson 12 attention connects two sequences.

# %%
progress()
