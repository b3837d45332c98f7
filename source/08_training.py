# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 8: Training
#
# You have built attention, with a mask, heads and positions. But with random weights its output means nothing. **How does a
# model learn to write, and which parts should it have?**
#
# **You will build** batches, the loss, two transformer blocks, a schedule for the learning rate, the training step,
# evaluation, text generation and the training loop. With them you train a small language model on this computer, in about a
# minute. Later lessons use *your* model.
#
# **You need** log-softmax and temperature (lesson 2), the causal mask (lesson 5), heads (lesson 6) and RoPE (lesson 7).
#
# **Time:** about 120 minutes, plus 45 for the parts marked *extra*

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sliders, small_lm, solution
from torch import nn

begin("08_training")

# %% tags=["demo"]
# @title The part of attention that this lesson adds
figures.show(figures.overview("block"))

# %% [markdown]
# In shapes, `B` is the batch, `T` the number of tokens, `D` the width, `H` the number of heads, `K` a head's width, `N` the
# size of the vocabulary and `L` the length of a text.

# %% [markdown]
# ## Quiz: what came before
#
# **1.** A query is at position 5, a key at position 2. Both move on by 100. What does their score under RoPE do?
#
# **2.** Which of queries, keys and values does RoPE rotate?
#
# **3.** In self-attention without positions or mask, you shuffle the words. What happens to the outputs?

# %%
predict("quiz 1", ...)  # "it stays", "it falls" or "it changes sign"
predict("quiz 2", ...)  # "queries and keys", "queries, keys and values" or "queries only"
predict("quiz 3", ...)  # "they are shuffled alike", "nothing" or "each of them changes"

# %%
import itertools
import time

from course.notebook.progress_bars import TrainingProgress

device = "cuda" if torch.cuda.is_available() else "cpu"  # random generators stay on the CPU
print("Training on:", torch.cuda.get_device_name() if device == "cuda" else "the CPU")

# %% [markdown]
# ## 1. Learning to copy (extra)
#
# Training repeats four things: compute outputs, measure how wrong they are, compute the gradient, and move every parameter a
# little against its gradient. Here is a small example. A layer of attention with two heads sits between an embedding table and
# a matrix that returns logits (lesson 2), one score for each of 26 letters. The task is to repeat the input, eight different
# letters.


# %% tags=["demo"]
def learn_to_copy(steps=200, width=32):
    """Train attention with two heads to repeat eight letters.

    Returns the losses, and the weights (2, 8, 8) for the letters of "keyboard" before and after the training.
    """
    generator = torch.Generator().manual_seed(1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        table, read = nn.Embedding(26, width), nn.Linear(width, 26)
        attention = nn.MultiheadAttention(width, 2, bias=False, batch_first=True)

    @torch.no_grad()
    def look(ids):
        x = table(ids)[None]
        return attention(x, x, x, average_attn_weights=False)[1][0]

    before, losses = look(keyboard), []
    optimizer = torch.optim.Adam([*table.parameters(), *attention.parameters(), *read.parameters()], lr=3e-3)
    for _ in range(steps):
        ids = torch.rand(64, 26, generator=generator).argsort(-1)[:, :8]  # (64, 8): eight different letters each
        x = table(ids)
        output, _ = attention(x, x, x)
        loss = F.cross_entropy(read(output).flatten(0, 1), ids.flatten())  # how wrong the outputs are
        optimizer.zero_grad()
        loss.backward()  # the gradient
        optimizer.step()  # the move
        losses.append(loss.item())
    return losses, before, look(keyboard)


keyboard = torch.tensor([ord(letter) - ord("a") for letter in "keyboard"])
copying, before, after = learn_to_copy()

# %% tags=["demo"]
# @title The loss of copying, and what each letter attends to
figures.show(figures.training_runs.copying(copying))
figures.show(figures.training_runs.copied(before, after))

# %% [markdown]
# Nothing in the code mentions the diagonal. The heads attend to it because this lowers the loss. Where one head attends to
# other letters, the other head attends to the right one.

# %% [markdown]
# ## 2. A batch of windows
#
# A **language model** gives, at each position of a text, the probabilities of the next token. To train one you need only text,
# because the text itself contains each next token. Ours is the one that the course's small model was trained on. A token here
# is a word or a punctuation mark; `¶` marks the end of a story.

# %%
course_model = small_lm.empty()  # the small model before training; here it only encodes and decodes
words = course_model.words  # the token with the id i is words[i]
N = len(words)
train_ids = small_lm.training_ids(300_000).to(device)  # int64 (L,)
held_out = course_model.encode(small_lm.held_out(5_000)).to(device)
print(course_model.decode(train_ids[:95]), "…\n")
print(f"{len(train_ids):,} tokens to train on, {len(held_out):,} held out; {N} in the vocabulary")

# %% [markdown]
# The stories in `held_out` are **held out**: the model never trains on them. A model can memorise its training text and still
# predict other texts badly, which is called **overfitting**. Only the loss on held-out text shows what it has learned about
# the language.
#
# We cut **windows**, runs of $T$ consecutive tokens, out of the text, at random positions. The largest $T$ that a model
# accepts, its `block_size`, is its **context length**. If the text is $w_0, w_1, \dots, w_{L-1}$, the window that starts at
# $s$ has
#
# $$ \text{inputs } (w_s, \dots, w_{s+T-1}), \qquad \text{targets } (w_{s+1}, \dots, w_{s+T}) $$

# %% tags=["demo"]
# @title A batch of three windows
figures.show(figures.training_runs.windows(train_ids, words))

# %% [markdown]
# ### Predict: questions in a window
#
# The model has a causal mask. How many predictions does it learn from in one window of 64 tokens?

# %%
# The number of predictions
predict("the predictions in a window", ...)

# %% [markdown]
# ### Exercise 1: `get_batch(data, block_size, batch_size, generator)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Draw `batch_size` windows with replacement; every start that fits is equally likely. Return inputs and targets, both
# `(batch_size, block_size)`. All randomness comes from `generator`, which is on the CPU even if `data` is on a GPU. If no
# window fits, raise a `ValueError` that names the wrong argument and its length or value.
#
# **Worked example.** The text is 5, 6, 7, 8, and `block_size` is 3. A window with its targets takes four tokens, so it can only
# start at 0: inputs 5, 6, 7 and targets 6, 7, 8. A text of six tokens has three starts.


# %% nbgrader={"grade": false, "grade_id": "get_batch", "locked": false, "schema_version": 3, "solution": true, "task": false}
def get_batch(
    data: torch.Tensor, block_size: int, batch_size: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw windows of a text, with replacement, and their targets, one step ahead.

    data: int64 (L,), a text as token ids. Returns (inputs, targets), both int64 (batch_size, block_size), on the
    device of data. Every start that fits is equally likely; all randomness comes from generator, on the CPU.
    Raises ValueError if data is too short for one window and its targets.
    """
    ### BEGIN SOLUTION
    n_starts = len(data) - block_size
    if n_starts < 1:
        raise ValueError(f"data has {len(data)} tokens, too few for block_size {block_size} and one target more")
    starts = torch.randint(n_starts, (batch_size, 1), generator=generator)
    places = (starts + torch.arange(block_size)).to(data.device)  # (batch_size, block_size)
    return data[places], data[places + 1]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_get_batch", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(get_batch)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(get_batch)
### END HIDDEN TESTS

# %%
# %% tags=["demo"]
# @title How often each start is drawn from a text of 13 tokens
figures.show(figures.training_runs.drawn_starts(get_batch))

# %% [markdown]
# ## 3. How surprised is it?
#
# At each position the model returns $N$ logits, one per token of the vocabulary, and a softmax turns them into probabilities.
# If it gave the token that really comes next the probability $p$, its **surprise** is $-\ln p$: 0 for $p = 1$, 0.69 for $p =
# \tfrac12$, and larger without limit as $p$ approaches 0. The loss is the mean surprise over all positions that count:
#
# $$ \mathcal{L} = - \frac{1}{|C|} \sum_{(b,t) \in C} \ln p_{b,t}(y_{b,t}), \qquad
#    p_{b,t} = \operatorname{softmax}(\mathbf{z}_{b,t}) $$
#
# Here $\mathbf{z}_{b,t}$, `(N,)`, are the logits at position $t$ of window $b$, $y_{b,t}$ is the target, and $C$ is the set of
# positions that count. A position does not count if its target is a number that means "ignore", usually −100. Padding gets
# such targets. The unit is the **nat**, because the logarithm is the natural one. This loss is called **cross-entropy** or
# **negative log-likelihood**.
#
# ### Predict: a model that knows nothing
#
# A model gives each of the 952 tokens the same probability. What is its loss? (You may type an expression, such as
# `math.sqrt(2)`.)

# %%
# The loss in nats
predict("the loss of a model that knows nothing", ...)

# %% [markdown]
# ### Exercise 2: `language_model_loss(logits, targets, ignore_index=-100)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# - Return $\mathcal{L}$, `()`, for logits `(B, T, N)` and targets `(B, T)`.
# - The logits may be as large as 10,000, so do not compute a probability first and then its logarithm (lesson 2).
# - `log_softmax` is allowed, but not PyTorch's `cross_entropy` or `nll_loss`.
# - If every target is ignored, the loss is 0, and `backward()` still works.
#
# **Worked example.** Two positions and two tokens, both with the logits $(\ln 3, 0)$: the probabilities are $\tfrac34$ and
# $\tfrac14$. The targets are 0 and 1. The surprises are $\ln\tfrac43 = 0.288$ and $\ln 4 = 1.386$, and the loss is their mean,
# 0.837. If the second target is −100, the loss is 0.288.


# %% nbgrader={"grade": false, "grade_id": "language_model_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def language_model_loss(logits: torch.Tensor, targets: torch.Tensor, ignore_index: int = -100) -> torch.Tensor:
    """Mean negative log-likelihood of the targets, in nats.

    logits: (B, T, N), targets: int64 (B, T). Returns (): the mean over the targets that are not ignore_index, 0 if
    all are. Right to 0.01 for logits as large as 1e4. Not allowed: cross_entropy, nll_loss.
    """
    ### BEGIN SOLUTION
    counts = targets != ignore_index
    safe = targets.masked_fill(~counts, 0)  # -100 is no index
    log_likelihood = logits.log_softmax(-1).gather(-1, safe[..., None])[..., 0]  # (B, T)
    return -log_likelihood.masked_fill(~counts, 0).sum() / counts.sum().clamp(min=1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_language_model_loss", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(language_model_loss)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(language_model_loss)
### END HIDDEN TESTS

# %% [markdown]
# A **baseline** is a simple method whose loss every model should beat. Three of them need no training, only counting:
#
# - **uniform**: all tokens are equally likely;
# - **unigram**: each token is as likely as it is frequent in the training text;
# - **bigram**: each token is as likely as it is frequent *after the token before it*.


# %%
pairs = torch.zeros(N, N, device=device)
pairs.index_put_((train_ids[:-1], train_ids[1:]), torch.ones(len(train_ids) - 1, device=device), accumulate=True)
counted = {  # (N, N): the logits of what follows each token; a small number keeps unseen pairs possible
    "uniform": torch.zeros(N, N, device=device),
    "unigram": torch.bincount(train_ids, minlength=N).add(1).log().expand(N, N),
    "bigram": (pairs + 0.01).log(),
}
some = held_out[:3001]
lines = {name: language_model_loss(table[some[:-1]][None], some[None, 1:]).item() for name, table in counted.items()}
for name, loss in lines.items():
    print(f"{name:8} {loss:.2f} nats per token, like a choice among {math.exp(loss):5.1f} equally likely tokens")

# %% [markdown]
# The last number of each line, $e^{\mathcal{L}}$, is the **perplexity**. The next picture shows the surprise token by token.


# %% tags=["demo"]
# @title The surprise at each token of a held-out story
quote = held_out[:24]
by_counting = {name: counted[name][quote[:-1]] for name in ("unigram", "bigram")}
drawn = figures.training_runs.surprises(language_model_loss, quote, words, by_counting)
figures.show(drawn, caption="The beginning of a held-out story, by two baselines.")

# %% [markdown]
# ## 4. A block, and a model
#
# Attention moves information between positions. A transformer alternates it with the **MLP** (*multi-layer perceptron*), two
# linear layers with a nonlinear function between them, which works on each position separately. Both together are a **block**.
# With $\mathbf{X}$ for its input, `(T, D)`:
#
# $$ \begin{aligned} \mathbf{X} &\leftarrow \mathbf{X} + \operatorname{attention}(\operatorname{norm}_1(\mathbf{X})) \\
#    \mathbf{X} &\leftarrow \mathbf{X} + \operatorname{mlp}(\operatorname{norm}_2(\mathbf{X})) \end{aligned} $$

# %% tags=["demo"]
# @title The block of GPT-2
figures.show(figures.training.block())

# %% [markdown]
# Two ideas make deep models trainable:
#
# - A **residual connection** adds what a part computes to the part's input. So gradients reach the first layer directly,
#   however many blocks there are.
# - A **norm** before each part gives it numbers of the same size in every block. `nn.LayerNorm(D)`, **layer normalization**,
#   brings the `D` numbers of each position to mean 0 and variance 1, then multiplies each by a learned gain and adds a learned
#   bias. The transformer of 2017 put the norm *after* the addition. With the norm before each part, called **pre-norm**, deep
#   models train more easily.
#
# ### Predict: where the parameters are (extra)
#
# Attention has four matrices of shape `(D, D)`. The MLP has one from `D` to `4 * D` and one back. Which part has more
# parameters?

# %%
# The part: "attention", "the MLP" or "the same"
predict("the part with more parameters", ...)

# %% [markdown]
# ### Exercise 3: `TransformerBlock(d_model, n_heads, dropout=0.0)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# Here you may use PyTorch's attention. `__init__` makes these parts, after `super().__init__()`, and `forward` passes
# $\mathbf{X}$ through them:
#
# | name | what |
# |---|---|
# | `norm_1`, `norm_2` | `nn.LayerNorm` over the width |
# | `attention` | `nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)` |
# | `mlp` | `nn.Sequential` of a Linear to `4 * d_model`, `nn.GELU()`, which is a smooth nonlinear function, and a Linear back, both Linears with bias |
#
# `mask` is boolean, `(T, T)`, `True` is blocked; if it is `None`, nothing is blocked. `nn.MultiheadAttention` has the same
# convention, and calls it `attn_mask`.
#
# **Worked example.** Width 2, one position, $\mathbf{x} = (3, 1)$. The mean is 2 and the standard deviation 1, so
# $\operatorname{norm}_1(\mathbf{x}) = (1, -1)$. A single position attends only to itself. If all of attention's matrices are
# the identity, it returns $(1, -1)$, and $\mathbf{x}$ becomes $(4, 0)$. If the MLP's last Linear is all 0, the block returns
# $(4, 0)$.


# %% nbgrader={"grade": false, "grade_id": "TransformerBlock", "locked": false, "schema_version": 3, "solution": true, "task": false}
class TransformerBlock(nn.Module):
    """Self-attention and an mlp, each normalised beforehand and added to what came in.

    Parts: norm_1, attention, norm_2, mlp, as in the text. dropout: of the attention weights, in training mode.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        self.norm_2 = nn.LayerNorm(d_model)
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))
        ### END SOLUTION

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """x: (B, T, D), mask: bool (T, T), True is blocked. Returns (B, T, D)."""
        ### BEGIN SOLUTION
        normed = self.norm_1(x)
        attended, _ = self.attention(normed, normed, normed, attn_mask=mask, need_weights=False)
        x = x + attended
        return x + self.mlp(self.norm_2(x))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_TransformerBlock", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(TransformerBlock)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(TransformerBlock)
### END HIDDEN TESTS

# %% [markdown]
# The rest of a language model is short. One table has a vector for each token and another a vector for each position, as in
# GPT-2. The blocks follow, then a last norm. The logits are dot products with the rows of the token table, so this table is
# used twice.


# %%
class LanguageModel(nn.Module):
    """Ids (B, T), with T up to block_size -> logits (B, T, N) of the next token at each position."""

    def __init__(self, block, n_tokens=N, block_size=64, d_model=96, n_heads=4, n_blocks=3, dropout=0.0):
        super().__init__()
        self.block_size = block_size
        self.tokens, self.positions = nn.Embedding(n_tokens, d_model), nn.Embedding(block_size, d_model)
        nn.init.normal_(self.tokens.weight, std=0.06)
        nn.init.normal_(self.positions.weight, std=0.02)
        self.blocks = nn.ModuleList(block(d_model, n_heads, dropout) for _ in range(n_blocks))
        self.norm = nn.LayerNorm(d_model)
        # A buffer moves to a GPU with the model, but is not trained
        self.register_buffer("mask", torch.ones(block_size, block_size, dtype=torch.bool).triu(1))

    def forward(self, ids):
        T = ids.shape[1]
        x = self.tokens(ids) + self.positions.weight[:T]
        for block in self.blocks:
            x = block(x, self.mask[:T, :T])
        return self.norm(x) @ self.tokens.weight.mT


def make_model(seed=0, kind=LanguageModel, **sizes):
    """A model with reproducible weights, on the device."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind(TransformerBlock, **sizes).to(device)


# %% [markdown]
# Two checks find many bugs. Before training, the loss should be close to the uniform baseline: if it is far above, the initial
# logits are too large; if it is far below, the targets leak into the inputs. And if you change the last token, the logits
# before it must not change.

# %% tags=["demo"]
model = make_model()
at_first = language_model_loss(model(train_ids[None, :64]), train_ids[None, 1:65]).item()
print(f"{sum(p.numel() for p in model.parameters()):,} parameters; loss {at_first:.2f}, uniform {lines['uniform']:.2f}")
changed = train_ids[:64].clone()
changed[-1] = (changed[-1] + 1) % N
with torch.no_grad():
    moved = (model(changed[None]) - model(train_ids[None, :64]))[0].abs().amax(-1)  # (T,)
print(f"With another last token, logits change by {moved[-1]:.2f} there, by {moved[:-1].max():.0e} before it.")

# %% [markdown]
# ## 5. A block of today
#
# `TransformerBlock` is the block of GPT-2 (2019), except that GPT-2's attention has biases as well. Llama and most open models
# since 2023 changed four things:
#
# | | GPT-2 | Llama | why |
# |---|---|---|---|
# | norm | LayerNorm | [RMSNorm](https://arxiv.org/abs/1910.07467) | less to compute |
# | MLP | GELU | [SwiGLU](https://arxiv.org/abs/2002.05202) | a lower loss with as many parameters |
# | positions | a learned table | [RoPE](https://arxiv.org/abs/2104.09864) | scores depend on gaps only |
# | biases | yes | [none](https://arxiv.org/abs/2204.02311) | more stable training of large models |
#
# The reasons are those of the linked papers. [Llama's paper](https://arxiv.org/abs/2302.13971), of February 2023, lists the
# first three changes. Section 10 measures all four.

# %% tags=["demo"]
# @title The block of Llama
figures.show(figures.training.block("modern"))

# %% [markdown]
# **RMSNorm** divides a vector by its *root mean square* and multiplies each entry by a learned gain, $\boldsymbol{\gamma}$
# `(D,)`. It subtracts no mean and adds no bias. With $d$ for `D`:
#
# $$ \operatorname{norm}(\mathbf{x}) = \frac{\mathbf{x}}{\sqrt{\tfrac1d \sum_i x_i^2 + 10^{-6}}} \odot \boldsymbol{\gamma} $$
#
# ### Predict: ten times as large (extra)
#
# All entries of $\mathbf{x}$ become ten times as large. What happens to $\operatorname{norm}(\mathbf{x})$?

# %%
# The norm of 10 x: "ten times as large", "the same" or "a tenth"
predict("the norm of a larger input", ...)

# %% [markdown]
# ### Step: normalise without a mean
#
# *Step ★☆☆ · about 3 minutes.* Write RMSNorm for `x`, `(..., D)`, along the last dimension.
#
# **Worked example.** $\mathbf{x} = (3, 1)$: the mean of the squares is 5, its root 2.236. With the gain $(1, 2)$ the result is
# $(1.342, 0.894)$.


# %%
def rms_norm(x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
    """x (..., D) divided by its root mean square over the last dimension, with 1e-6 under the root, times gain (D,)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(rms_norm)

# %% [markdown]
# **SwiGLU** is an MLP of three layers instead of two. One layer (*up*) computes `hidden` numbers. A second computes a **gate**
# for each of them, a factor that lets much or little of it through. The products go through the third (*down*):
#
# $$ \operatorname{mlp}(\mathbf{x}) = \mathbf{W}_{\text{down}} \bigl( \operatorname{silu}(\mathbf{W}_{\text{gate}}\, \mathbf{x}) \odot
#    \mathbf{W}_{\text{up}}\, \mathbf{x} \bigr), \qquad \operatorname{silu}(z) = z \cdot \operatorname{sigmoid}(z) $$
#
# With `hidden` $= \tfrac83 d$ instead of $4d$, the three matrices have as many parameters as the MLP's two.
#
# ### Step: a gate
#
# *Step ★★☆ · about 3 minutes.* The matrices are as `nn.Linear` keeps them, with `F` for `hidden`: `W_gate` and `W_up` are
# `(F, D)`, `W_down` is `(D, F)`. PyTorch has silu as `torch.nn.functional.silu`.
#
# **Worked example.** $D = 2$, $F = 3$, $\mathbf{x} = (1, 2)$. If $\mathbf{W}_{\text{gate}}\, \mathbf{x} = (1, -1, 0)$, then
# silu gives $(0.731, -0.269, 0)$. With $\mathbf{W}_{\text{up}}\, \mathbf{x} = (2, 1, 3)$ the products are $(1.462, -0.269,
# 0)$: the third gate is shut. `W_down` turns the three products into two numbers.


# %%
def swiglu(x: torch.Tensor, W_gate: torch.Tensor, W_up: torch.Tensor, W_down: torch.Tensor) -> torch.Tensor:
    """The gated layer: x (..., D), W_gate and W_up (F, D), W_down (D, F), as nn.Linear keeps them. Returns (..., D)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(swiglu)

# %% [markdown]
# ### Step: rotate by the position (extra)
#
# *Step ★★☆ · about 3 minutes.* *Review* of lesson 7: rotate row $t$ of `x`, `(..., T, K)`, by RoPE at position $t$, with base
# 10,000 and neighbouring pairs. You may copy your `apply_rope` and `rope_frequencies` into this cell and call them.
#
# **Worked example.** Two rows $(2, 0)$: row 0 stays, row 1 becomes $(2\cos 1, 2\sin 1) = (1.08, 1.68)$.


# %%
def rotate(x: torch.Tensor) -> torch.Tensor:
    """RoPE with base 10000: row t of x (..., T, K) is rotated by position t, neighbouring pairs. Returns (..., T, K)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(rotate)

# %% [markdown]
# ### Exercise 4: `ModernBlock(d_model, n_heads, hidden, rotates=True)`
#
# *Difficulty ★★★ · about 12 minutes*
#
# Build the block, with your own attention. It keeps nothing from one call to the next: any `T` may follow any other.
#
# - The parameters are `gain_1` and `gain_2`, `(D,)`, ones at first, and seven `nn.Linear` without bias: `W_q`, `W_k`, `W_v`,
#   `W_o` from `D` to `D`, `W_gate` and `W_up` from `D` to `hidden`, `W_down` back to `D`.
# - `forward(x)` computes the two lines of section 4, with RMSNorm and SwiGLU.
# - Attention is causal and has `n_heads` heads, whose queries and keys are rotated unless `rotates` is False. You may use
#   `F.scaled_dot_product_attention(…, is_causal=True)`, which scales by $1/\sqrt{d_k}$.
# - You may call your steps; a mistake in them costs no points here.
#
# **Worked example.** Width 2, one head, one position, $\mathbf{x} = (1, 7)$, all matrices of attention the identity. At
# position 0 nothing turns, and a single position attends to itself, so attention returns $\operatorname{norm}(\mathbf{x}) =
# (0.2, 1.4)$, and $\mathbf{x}$ becomes $(1.2, 8.4)$. If `W_down` is all 0, the block returns this.


# %% nbgrader={"grade": false, "grade_id": "ModernBlock", "locked": false, "schema_version": 3, "solution": true, "task": false}
class ModernBlock(nn.Module):
    """Causal self-attention and a gated layer, each normalised beforehand and added to what came in; no biases.

    Parameters: gain_1, gain_2 (D,), ones at first; nn.Linear W_q, W_k, W_v, W_o, W_gate, W_up, W_down, as in the text.
    rotates: whether queries and keys are rotated by their positions, 0 to T - 1.
    """

    def __init__(self, d_model: int, n_heads: int, hidden: int, rotates: bool = True) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        self.n_heads, self.rotates = n_heads, rotates
        self.gain_1, self.gain_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.W_up, self.W_gate = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
        self.W_down = nn.Linear(hidden, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (B, T, D). Returns (B, T, D)."""
        ### BEGIN SOLUTION

        def normalised(x, gain):
            return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * gain

        def turned(heads):  # (B, H, T, K)
            T, K = heads.shape[-2:]
            frequencies = 10000.0 ** (-torch.arange(0, K, 2, device=x.device) / K)
            angles = torch.arange(T, device=x.device)[:, None] * frequencies
            cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
            even, odd = heads[..., 0::2], heads[..., 1::2]
            return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)

        a = normalised(x, self.gain_1)
        q, k, v = (W(a).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v))
        if self.rotates:
            q, k = turned(q), turned(k)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.W_o(mixed.transpose(1, 2).flatten(2))
        a = normalised(x, self.gain_2)
        return x + self.W_down(F.silu(self.W_gate(a)) * self.W_up(a))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_ModernBlock", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(ModernBlock)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(ModernBlock)
### END HIDDEN TESTS

# %% [markdown]
# The course's small model consists of three such blocks. (Its block 0 does not rotate.) The next cell copies its trained
# weights into blocks of your class, by name, and compares the losses:

# %%
from course.models.own_blocks import OwnBlocksLM

with_yours = OwnBlocksLM(ModernBlock, weights=small_lm.load())
as_shipped = small_lm.load()
some_windows = held_out.cpu()[: 8 * 64].view(8, 64)
with torch.no_grad():
    losses = [F.cross_entropy(m(some_windows)[:, :-1].mT, some_windows[:, 1:]) for m in (with_yours, as_shipped)]
print(f"Loss with ModernBlock: {losses[0]:.4f}. With the built-in: {losses[1]:.4f}.")

# %% [markdown]
# ## 6. How large a step?
#
# *Review* of lessons 0 and 3: the gradient is the direction in which the loss rises fastest. **Gradient descent** goes the
# opposite way. The **learning rate** $\eta$, a number that you choose, scales the step:
#
# $$ \theta \leftarrow \theta - \eta \, \nabla_\theta \mathcal{L} $$
#
# Here $\theta$ stands for all parameters. Suppose there is only one, and the loss is $\tfrac12 \theta^2$. Its gradient is
# $\theta$, so each step multiplies $\theta$ by $1 - \eta$.
#
# ### Predict: too fast
#
# What is the smallest $\eta > 0$ with which $\theta$ never gets closer to 0?

# %%
# The learning rate
predict("the rate from which it never arrives", ...)


# %% tags=["demo"]
# @title Slider: eight steps down a parabola
sliders.slider(figures.training_runs.descend)

# %% [markdown]
# If the loss curves twice as sharply, this limit is half as large. The loss of a model curves differently in each direction,
# so you find a good rate by trying several. You also change the rate during training. At the beginning the gradients are large
# and change quickly, so the rate rises from almost 0 over some steps, which is called **warm-up**. At the end, small steps let
# the parameters settle.
#
# The usual schedule is a straight line up to $\eta_{\text{peak}}$, then half a cosine down to $\eta_{\text{floor}}$. With $n$
# for the step, counted from 0, $n_{\text{warm}}$ for the number of warm-up steps and $n_{\text{total}}$ for the number of all
# steps,
#
# $$ \eta_n = \begin{cases} \eta_{\text{peak}} \, \dfrac{n + 1}{n_{\text{warm}}} & n < n_{\text{warm}} \\[1.2ex]
#    \eta_{\text{floor}} + (\eta_{\text{peak}} - \eta_{\text{floor}}) \, \dfrac{1 + \cos(\pi r)}{2}
#    & n \ge n_{\text{warm}} \end{cases}
#    \qquad r = \min\!\left(1, \frac{n - n_{\text{warm}}}{n_{\text{total}} - n_{\text{warm}}}\right) $$
#
# ### Exercise 5: `learning_rate(step, warmup, total, peak, floor=0.0)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# Return $\eta_n$ for $n$ = `step`. Raise a `ValueError` unless `0 <= warmup < total`. Without warm-up (`warmup=0`), step 0 has
# the peak.
#
# **Worked example.** Four steps of warm-up, twelve in all, peak 0.1. Step 0 has $0.1 \cdot \tfrac14 = 0.025$, step 3 has $0.1$,
# and so has step 4, where $r = 0$. At step 8, $r = \tfrac12$ and the cosine is 0: $0.05$.


# %% nbgrader={"grade": false, "grade_id": "learning_rate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def learning_rate(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The learning rate of a step: a straight line up to peak, then half a cosine down to floor.

    step counts from 0. warmup: how many steps go up, 0 for none; total: the step at which floor is reached, and kept.
    Raises ValueError unless 0 <= warmup < total.
    """
    ### BEGIN SOLUTION
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup} and total is {total}; 0 <= warmup < total is needed")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_learning_rate", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(learning_rate)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(learning_rate)
### END HIDDEN TESTS


# %% tags=["demo"]
# @title Three schedules
figures.show(figures.training_runs.schedules(learning_rate))

# %% [markdown]
# ## 7. One step
#
# In PyTorch gradients *add up*: `backward()` adds to `.grad` instead of replacing it. So a step is
#
# 1. put the model into training mode (dropout on, if it has any);
# 2. clear the old gradients;
# 3. compute the loss;
# 4. `backward()`: the gradient of the loss with respect to every parameter;
# 5. **clip** it;
# 6. let the optimizer step.
#
# Clipping guards against enormous gradients. Treat the gradients of *all* parameters as one vector $\mathbf{g}$. If it is
# longer than 1, shorten it to length 1:
#
# $$ \mathbf{g} \leftarrow \mathbf{g} \cdot \min\!\left(1, \frac{1}{\lVert \mathbf{g} \rVert}\right) $$
#
# Plain gradient descent is `torch.optim.SGD`. Transformers are usually trained with **AdamW**. It keeps two running means for
# each parameter, of its gradient and of the gradient's square, and divides the first by the root of the second. So all
# parameters take steps of about the size $\eta$, whatever the size of their gradients. The W stands for **weight decay**: in
# each step every parameter also shrinks a little towards 0.
#
# (In the challenge at the end you write AdamW.)
#
# ### Exercise 6: `train_step(model, optimizer, inputs, targets)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Do these six things, with the optimizer that you are given. Return the loss of item 3, over all positions, as a plain
# `float`. You may use your `language_model_loss` or PyTorch's `cross_entropy`.
#
# **Worked example.** Two parameters with the gradient $(3, 4)$, SGD with $\eta = 0.1$. Its length is 5, so the clipped
# gradient is $(0.6, 0.8)$, and the parameters move by $(-0.06, -0.08)$. The gradient $(0.3, 0.4)$ would not be clipped.


# %% nbgrader={"grade": false, "grade_id": "train_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def train_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, inputs: torch.Tensor, targets: torch.Tensor
) -> float:
    """One step of training, in training mode: inputs and targets are int64 (B, T).

    Old gradients are cleared, the cross-entropy over all positions is differentiated, the gradient is clipped to
    norm 1.0, the optimizer steps. Returns the loss before the step.
    """
    ### BEGIN SOLUTION
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_train_step", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(train_step)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(train_step)
### END HIDDEN TESTS


# %% [markdown]
# Before you train on everything, **overfit a single batch**. A model with 400,000 parameters can memorise a few hundred
# tokens, down to a loss near 0. If it does not, something between the data and the optimizer is broken.


# %%
few = get_batch(train_ids, 32, 8, torch.Generator().manual_seed(8))  # inputs and targets, (8, 32)
others = get_batch(held_out, 32, 32, torch.Generator().manual_seed(9))  # from held-out stories

# %% tags=["demo"]
# @title Sixty steps on one batch
drawn = figures.training_runs.one_batch(make_model, train_step, language_model_loss, few, others, lines["uniform"])
figures.show(drawn)

# %% [markdown]
# ## 8. Looking without touching
#
# On a single batch, the training loss goes to 0, but the held-out loss soon rises. So the held-out loss is the one that
# counts. Measuring it must not change the model:
#
# - `model.eval()` switches dropout off. It has no effect on gradients.
# - `torch.no_grad()` computes without keeping a computation graph: faster, with much less memory. It has no effect on dropout.
# - Afterwards the model must be in the same mode as before, training or eval.
#
# ### Predict: twenty measurements
#
# A model with dropout is in training mode. You measure its loss on the same batch twenty times, without a step in between. How
# many different numbers do you get?

# %%
# The number of different losses
predict("twenty measurements", ...)

# %% [markdown]
# ### Exercise 7: `evaluate(model, inputs, targets)`
#
# *Difficulty ★★☆ · about 6 minutes*
#
# Return the mean loss over all positions of `inputs` and `targets`, both `(B, T)`, as a plain `float`, in eval mode and without
# gradients. Leave the model in the mode in which it was.
#
# **Worked example.** A model that was in training mode is in training mode afterwards, and one that was in eval mode is in
# eval mode. The loss is the same number in both cases.


# %% nbgrader={"grade": false, "grade_id": "evaluate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def evaluate(model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> float:
    """The mean loss on inputs and targets, int64 (B, T), in eval mode and without gradients.

    The model is left in the mode, training or eval, in which it was.
    """
    ### BEGIN SOLUTION
    was_training = model.training
    model.eval()
    with torch.no_grad():
        loss = language_model_loss(model(inputs), targets)
    model.train(was_training)
    return loss.item()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_evaluate", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(evaluate)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(evaluate)
### END HIDDEN TESTS


# %%
def in_any_mode(model, inputs, targets):
    """The loss in whatever mode the model is."""
    with torch.no_grad():
        return F.cross_entropy(model(inputs).mT, targets).item()


# %% tags=["demo"]
# @title Twenty measurements in each mode
def train_leaky(model, optimizer, generator):
    train_step(model, optimizer, *get_batch(train_ids, 32, 16, generator))


measured = in_any_mode, evaluate, others, "evaluate"
figures.show(
    figures.training_runs.twenty_measurements(make_model, train_leaky, *measured),
)

# %% [markdown]
# ## 9. Writing
#
# A model that predicts the next token can write: draw a token from its probabilities, append it, and ask the model again. Such
# a model is called **autoregressive**. With $\sim$ for “is drawn from”:
#
# $$ w_{t+1} \sim \operatorname{softmax}\!\left( \frac{\mathbf{z}_t(w_0, \dots, w_t)}{\tau} \right) $$
#
# Here $\mathbf{z}_t$ are the logits of the *last* position and $\tau$ is the temperature of lesson 2. At a low temperature the
# model nearly always takes likely tokens. $\tau = 0$ means always taking the likeliest token, which is called **greedy**. When
# the text is longer than `block_size`, show the model the *last* `block_size` tokens.
#
# ### Exercise 8: `generate(model, prompt, n_tokens, temperature=1.0, generator=None)`
#
# *Difficulty ★★★ · about 15 minutes*
#
# `prompt` is `(B, T)`, several texts at once. The result has `n_tokens` more tokens in each row. All randomness comes from
# `generator`, which is on the CPU (so on a GPU, move the probabilities to the CPU to draw). As in `evaluate`, compute in eval
# mode and without gradients, and leave the mode as it was.
#
# **Worked example.** After 0 this model predicts 1, after 1 it predicts 2, after 2 it predicts 3, after 3 it predicts 0.
# Greedy, with the prompts $(0)$ and $(2)$ and five tokens to add, the rows become $(0, 1, 2, 3, 0, 1)$ and $(2, 3, 0, 1, 2,
# 3)$.


# %% nbgrader={"grade": false, "grade_id": "generate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def generate(
    model: nn.Module,
    prompt: torch.Tensor,
    n_tokens: int,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Continue a text: prompt is int64 (B, T), the result (B, T + n_tokens).

    In eval mode and without gradients; the model is left in the mode in which it was. It is shown all tokens so far,
    but never more than the last model.block_size. temperature 0: the likeliest token; else one is drawn from
    softmax(logits / temperature), with all randomness from generator, on the CPU.
    """
    ### BEGIN SOLUTION
    was_training = model.training
    model.eval()
    tokens = prompt
    with torch.no_grad():
        for _ in range(n_tokens):
            logits = model(tokens[:, -model.block_size :])[:, -1]  # (B, N), of the last position
            if temperature == 0:
                chosen = logits.argmax(-1, keepdim=True)
            else:
                shares = torch.softmax(logits / temperature, dim=-1).cpu()
                chosen = torch.multinomial(shares, 1, generator=generator).to(tokens.device)
            tokens = torch.cat([tokens, chosen], dim=1)
    model.train(was_training)
    return tokens
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_generate", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(generate)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(generate)
### END HIDDEN TESTS


# %%
@torch.no_grad()
def foresight(model, ids):
    """Logits (L - 1, N) of what comes after each token of a text (L,), from at most block_size tokens before it."""
    T = model.block_size
    model.eval()
    first = model(ids[None, :T])[0]
    return torch.cat([first, model(ids[1:].unfold(0, T, 1))[:, -1]])[: len(ids) - 1] if len(ids) > T else first[:-1]


def page(model, temperature, prompt="The captain", n_tokens=70):
    """A picture of what the model writes after a prompt."""
    generator = torch.Generator().manual_seed(11)
    ids = generate(model, course_model.encode(prompt)[None].to(device), n_tokens, temperature, generator)[0]
    surprise = -foresight(model, ids).log_softmax(-1).gather(-1, ids[1:, None])[:, 0]  # (L - 1,)
    pieces = [course_model.decode(ids[:i]) for i in range(len(ids) + 1)]
    added = [after[len(before) :] for before, after in itertools.pairwise(pieces)]
    return figures.training.page(added, F.pad(surprise, (1, 0)).cpu(), f"temperature {temperature}")


# %% tags=["demo"]
# @title What the untrained model writes
figures.show(page(model, 1.0))

# %% [markdown]
# ## 10. Training it
#
# ### Exercise 9: `train(model, data, steps, batch_size, generator, peak=3e-3)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# Make *one* AdamW optimizer for the model's parameters. Then, `steps` times: set the learning rate of this step, draw a batch
# of windows of `model.block_size`, and do one step.
#
# - An optimizer has its rate in `optimizer.param_groups`, a list of dictionaries, under `"lr"`.
# - The warm-up is the first tenth of the steps, and the floor is 0.
# - Return all losses, a list of floats.
# - You may call your functions from above; mistakes in them cost no points here. What counts is the loss of the trained model
#   on text that it has not seen.
#
# **Worked example.** With `steps=10` there is one step of warm-up. The rates of steps 0, 1 and 2 are 1, 1 and 0.97 times the
# peak.


# %% nbgrader={"grade": false, "grade_id": "train", "locked": false, "schema_version": 3, "solution": true, "task": false}
def train(
    model: nn.Module,
    data: torch.Tensor,
    steps: int,
    batch_size: int,
    generator: torch.Generator,
    peak: float = 3e-3,
) -> list[float]:
    """Train a model on a text, int64 (L,), for so many steps; returns their losses.

    AdamW; the learning rate warms up over the first tenth of the steps and falls to 0 along half a cosine. Batches
    of windows of model.block_size come from generator.
    """
    ### BEGIN SOLUTION
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps // 10, steps, peak)
        inputs, targets = get_batch(data, model.block_size, batch_size, generator)
        losses.append(train_step(model, optimizer, inputs, targets))
    return losses
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_train", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(train)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(train)
### END HIDDEN TESTS


# %%
def all_windows(ids, T):
    """A text in consecutive windows: inputs and targets, (n, T) each."""
    n = (len(ids) - 1) // T
    return ids[: n * T].view(n, T), ids[1 : n * T + 1].view(n, T)


unseen = all_windows(held_out[:3_000], 64)

# %% [markdown]
# ### Choose a block
#
# Which block should your model have: the *plain* one, your `TransformerBlock`, or the *modern* one, your `ModernBlock`?
# Compare them on the same computer, at the same cost: **equal CPU seconds**. With equal numbers of steps, the slower block
# would get more time. The next cell trains one model of each kind for four CPU seconds.


# %% tags=["demo"]
def trained_for(model, seconds, peak=2e-3):
    """Train for so many CPU seconds, with a short warm-up. Returns the number of steps and the held-out loss."""
    optimizer = torch.optim.AdamW(model.parameters())
    generator, begun, steps = torch.Generator().manual_seed(0), time.process_time(), 0
    while time.process_time() - begun < seconds:
        for group in optimizer.param_groups:
            group["lr"] = peak * min(1.0, (steps + 1) / 10)
        train_step(model, optimizer, *get_batch(train_ids, model.block_size, 16, generator))
        steps += 1
    return steps, float(evaluate(model, *unseen))


for name, model in {"plain": make_model(), "modern": OwnBlocksLM(ModernBlock).to(device)}.items():
    steps, loss = trained_for(model, seconds=4)
    print(f"{name:6} {steps:3} steps in 4 CPU seconds, held-out loss {loss:.2f}")

# %% [markdown]
# Four seconds and a single seed prove little. So we recorded a longer comparison: each kind of block for 20 CPU seconds, with
# three seeds. It also has each of the four changes alone, in an otherwise plain block.
#
# ### Predict: the better block
#
# Which of the two blocks has the lower losses? “Too close to tell” means that the ranges of their seeds overlap.

# %%
from course.models import block_comparison

recorded = block_comparison.load()

# %%
# The block with the lower held-out losses: "plain", "modern" or "too close to tell"
predict("the better block", ...)

# %% [markdown]
# ### Predict: the change that counts
#
# Which of the four changes, alone in an otherwise plain block, gives the lowest mean loss?

# %%
# The change: "RMSNorm", "SwiGLU", "RoPE" or "no biases"
predict("the change that counts", ...)

# %% tags=["demo"]
# @title The recorded comparison
figures.show(figures.training.comparison(recorded))

# %% tags=["demo"]
print(f"{'block':10} {'steps':>6} {'mean':>6} {'spread':>7}   mean minus plain's")
for name, kind in recorded.kinds.items():
    change = kind.mean - recorded.kinds["plain"].mean
    print(f"{name:10} {kind.steps:6} {kind.mean:6.3f} {kind.spread:7.3f}   {change:+.3f}")

# %% [markdown]
# The spread is the largest loss minus the smallest. The mean of the modern block is below that of the plain one, but their
# seeds overlap, so three seeds do not decide. Two of the changes put every seed below every plain one: RoPE, and no biases,
# which also makes steps cheaper. RoPE alone even has every seed below every modern one.
#
# The mean for SwiGLU differs from plain by less than the seeds do. A hand-written RMSNorm takes *longer* than PyTorch's
# LayerNorm on a CPU, so it gets fewer steps, and its mean is the highest. On a GPU, or in a model a thousand times as large,
# the result may be different, so measure at the size that you use.
#
# Choose the block of your model. Its training takes about a minute. (Later lessons need the modern block, with all four
# changes, as most open models have them. With "plain" they use the course's model.)

# %%
chosen = "modern"  # or "plain"

# %% [markdown]
# ### Your model
#
# The modern model has the sizes of the course's small model: three blocks, width 96, four heads. It begins with the weights of
# `small_lm.empty()`. They are random, but $\mathbf{W}_k = \mathbf{W}_q$, so that equal words have high scores from the start,
# and `W_o` is the transpose of `W_v`, so that a head copies what it attends to. `TrainingProgress` shows how many steps are
# done, and calls `look` about ten times to measure the held-out loss.

# %% tags=["demo"]
model = make_model() if chosen == "plain" else OwnBlocksLM(ModernBlock, weights=small_lm.empty()).to(device)
seen_at, held_out_losses = [], []
steps = 600


def look(done):
    seen_at.append(done)
    held_out_losses.append(float(evaluate(model, *unseen)))
    return f"held out {held_out_losses[-1]:.2f}"


with TrainingProgress(model, steps, look, every=steps // 10):
    found = train(model, train_ids, steps, 16, torch.Generator().manual_seed(0), 4e-3)
training_losses = [float(loss) for loss in found]

# %% tags=["demo"]
# @title The loss in training and on held-out stories, with three baselines
drawn = figures.training_runs.course_of_training(training_losses, (seen_at, held_out_losses), lines)
figures.show(drawn)

# %% [markdown]
# The model first learns how frequent each token is, and reaches the unigram baseline. Then it learns pairs. Below the bigram
# baseline it *must* use more than the last token, and that takes attention. The two curves stay close, because the model sees
# each part of the text less than twice on average, too rarely to memorise it.
#
# What does it write now?

# %% tags=["demo"]
# @title Slider: what the trained model writes at each temperature
sliders.slider(figures.training_runs.written, page, model)

# %% [markdown]
# The words are real because the tokens are words. But their order is learned: quotations open and close, sentences end, and
# people and things return. At temperature 1.3 the story loses its sense. Here is the beginning of the held-out story from
# section 3 again:

# %% tags=["demo"]
# @title The same tokens, by the bigram baseline and by the trained model
both = {"bigram": by_counting["bigram"], "the trained model": foresight(model, quote)}
drawn = figures.training_runs.surprises(language_model_loss, quote, words, both)
figures.show(drawn, caption="The surprise at each token of the same held-out story.")

# %% [markdown]
# The next cell keeps your model for later lessons, and compares it with the course's own, which was trained for five times as
# many steps.

# %% tags=["demo"]
mine = model.to_small_lm() if chosen != "plain" else None
if mine:
    small_lm.keep(mine, made_with=[train, ModernBlock])
else:
    print("Nothing is kept: later lessons need the modern block.")
for name, each in {"this model": mine, "the course's model": small_lm.load()}.items():
    if each:
        print(
            f"{name:18} {each.loss(small_lm.held_out(1_000)):.2f} nats per token on held-out stories, from their start"
        )

# %% [markdown]
# ### Where it looks (extra)
#
# These are the attention weights of every head, block by block, after training. (With the plain block, they are those of the
# course's model.)

# %% tags=["demo"]
# @title The weights of all heads of the trained model
for layer in range(3):
    figures.show(figures.training_runs.of_block(mine or small_lm.load(), layer))

# %% [markdown]
# Do not read too much into a single map. It shows where a head takes information from, not what the model does with it.
#
# ### How much text? (extra)
#
# A smaller model is trained three times, for 150 steps each: on the first 1,000 tokens, on the first 10,000, and on all of
# them.


# %%
def learnt_from(n_tokens, steps=150):
    """The loss of a model on its training text in the last steps, and on held-out stories."""
    made = OwnBlocksLM(ModernBlock, block_size=32, d_model=48, n_blocks=2).to(device)
    found = train(made, train_ids[:n_tokens], steps, 16, torch.Generator().manual_seed(0), 1e-2)
    return sum(map(float, found[-20:])) / 20, float(evaluate(made, *all_windows(held_out[:3_000], 32)))


# %% [markdown]
# ### Predict: the lowest training loss (extra)
#
# Which of the three has the lowest loss on its *own training text*?

# %%
# The length: "1,000", "10,000" or "all"
predict("the lowest training loss", ...)


# %% tags=["demo"]
lengths = [1_000, 10_000, len(train_ids)]
of_length = {n_tokens: learnt_from(n_tokens) for n_tokens in lengths}
for n_tokens, (seen, elsewhere) in of_length.items():
    print(f"{n_tokens:7,} tokens: training {seen:.2f}, held out {elsewhere:.2f} nats per token")

# %% [markdown]
# The least text gives the lowest training loss and by far the highest held-out loss: the model has memorised it. Without
# held-out stories you would have chosen the worst of the three.

# %% [markdown]
# ## 11. A head that looks back (extra)
#
# In a model of text, it is hard to say what a head does. Here is a task in which you can. A sequence consists of a few
# different letters in random order, repeated until the window is full:
#
#     x k c d q v | x k c d q v | x k c …
#
# In the first round there is little to predict from. After it, every letter can be predicted: find the earlier position of the
# current letter, and take the letter after it. A head that does this is called an **induction head** ([Olsson et al.
# 2022](https://arxiv.org/abs/2209.11895)).
#
# ### Predict: how many blocks (extra)
#
# A query should find the position *after* the earlier occurrence of its own letter. How many blocks does this take?

# %%
# The number of blocks: 1 or 2
predict("the blocks of an induction head", ...)

# %% [markdown]
# Let $w_i$ be the letter at position $i$. For a query at $i$ whose letter occurred before, add up its weights on the positions
# right after the earlier occurrences, and take the mean over the set $R$ of all such $i$:
#
# $$ \text{score} = \frac{1}{|R|} \sum_{i \in R} \;\; \sum_{j \le i,\; w_{j-1} = w_i} a_{ij} $$
#
# Here $a_{ij}$ is the weight that the query at $i$ gives the key at $j$. A perfect induction head has the score 1; one with
# equal weights on all positions that it sees has about 0.08 here.


# %%
def repeated(batch_size, generator, T=32):
    """Windows of 6 to 16 different letters repeated: inputs and targets (B, T), and the targets that can be predicted.

    In the third, all other targets are -100.
    """
    period = torch.randint(6, 17, (batch_size, 1), generator=generator)
    order = torch.rand(batch_size, 26, generator=generator).argsort(-1)  # the alphabet, shuffled
    ids = order.gather(1, torch.arange(T + 1) % period)  # (B, T + 1)
    predictable = ids[:, 1:].masked_fill(torch.arange(1, T + 1) < period, -100)
    return [t.to(device) for t in (ids[:, :-1], ids[:, 1:], predictable)]


def after_earlier(ids):
    """bool (T, T): whether position s is right after an earlier occurrence of the letter at position t, ids (T,)."""
    same = ids[:, None] == ids[None, :].roll(1, -1)
    same[:, 0] = False  # nothing is before position 0
    return same.tril()


def induction_score(maps, windows):
    """The score of every head of a block, (H,): maps (B, H, T, T) for windows (B, T)."""
    wanted = torch.stack([after_earlier(ids) for ids in windows]).cpu()  # (B, T, T)
    return (maps * wanted[:, None]).sum((0, 2, 3)) / wanted.any(-1).sum()


@torch.no_grad()
def attention_maps(model, ids):
    """The weights of all heads for ids (B, T): one (B, H, T, T) for each block."""
    inputs = []  # each attention is called with its normed input
    attentions = [part for part in model.train().modules() if isinstance(part, nn.MultiheadAttention)]
    hooks = [part.register_forward_pre_hook(lambda _, given: inputs.append(given[0])) for part in attentions]
    model(ids)
    for hook in hooks:
        hook.remove()
    options = {"attn_mask": model.mask[: ids.shape[1], : ids.shape[1]], "average_attn_weights": False}
    return [part(x, x, x, **options)[1].cpu() for part, x in zip(attentions, inputs, strict=True)]


# %% [markdown]
# The model has two blocks. A fixed vector of sines and cosines is added for each position, as in the transformer of 2017, but
# with base 10 instead of 10,000, because the windows are short.


# %% tags=["demo"]
class Copier(LanguageModel):
    """A model of 26 letters, with fixed waves for positions and a matrix of its own for the logits."""

    def __init__(self, block):
        super().__init__(block, n_tokens=26, block_size=32, d_model=64, n_heads=2, n_blocks=2)
        nn.init.normal_(self.tokens.weight, std=0.5)
        angles = torch.arange(32)[:, None] * 10.0 ** (-torch.arange(0, 64, 2) / 64)
        self.positions = nn.Embedding.from_pretrained(torch.cat([angles.sin(), angles.cos()], dim=-1) / 2)
        self.read = nn.Linear(64, 26)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x, self.mask[: ids.shape[1], : ids.shape[1]])
        return self.read(self.norm(x))


copier = make_model(kind=Copier)
optimizer = torch.optim.AdamW(copier.parameters(), lr=6e-3)
generator = torch.Generator().manual_seed(0)
probe, _, predictable = repeated(32, torch.Generator().manual_seed(99))
history = {"step": [], "loss": [], "before": [], "after": [], "map": []}
steps = 300


def look(done):
    below, above = attention_maps(copier, probe)
    after = induction_score(above, probe)  # (H,)
    best = int(after.argmax())
    with torch.no_grad():
        loss = language_model_loss(copier(probe), predictable).item()
    history["step"].append(done)
    history["loss"].append(loss)
    history["before"].append(below.diagonal(-1, -2, -1).mean((0, 2)).max().item())
    history["after"].append(after[best].item())
    history["map"].append(above[0, best])
    return f"score {after[best]:.2f}"


with TrainingProgress(copier, steps, look, every=steps // 20):
    for i in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = float(learning_rate(i, steps // 10, steps, 6e-3))
        train_step(copier, optimizer, *repeated(32, generator)[:2])

# %% tags=["demo"]
# @title The loss, and the scores of the best heads, while it trains
figures.show(figures.training_runs.induction_forms(history))

# %% [markdown]
# At first almost nothing happens. Then the loss drops, and at the same time the score of a head in block 1 rises. The head
# needs both blocks: a query of block 1 can find the letter after the earlier occurrence only once block 0 writes into each
# position which letter came before it. Olsson et al. found the same moment in larger language models, where the loss curve has
# a bump.

# %% tags=["demo"]
# @title Slider: the map of the best head while it trains
stages = [history["step"][i] for i in (0, len(history["step"]) // 3, -1)]
look = {"start": stages[-1], "strip": stages, "steps": history["step"]}
sliders.slider(figures.training_runs.best_head, history, probe[0, :20], after_earlier, **look)

# %% [markdown]
# The frames mark the cells to which an induction head attends. A query whose letter has no earlier occurrence must attend to
# something else. In lesson 11 you find such heads in a model that was trained on text.

# %% [markdown]
# ## Your experiment (extra)
#
# *Experiment ★★☆ · about 8 minutes.* **Which peak is best?** Train a small model for 60 steps with each of the
# peaks 0.0001, 0.001, 0.01 and 1. Use your `train`. Each time take a new
# `make_model(block_size=32, d_model=32, n_heads=2, n_blocks=1)` and a new generator with seed 0, and 16 windows per batch.
#
# Plot the held-out losses, measured on `all_windows(held_out[:1_000], 32)`. Your finding is the peak with the lowest loss.

# %%
# Your code: the held-out loss for each peak, and a plot

finding = ...  # a peak

# %% tags=["demo"]
check("experiment", finding)

# %% [markdown]
# ## 12. A bug that shipped (extra)
#
# To train with large batches on a small machine, one adds up the gradients of several small batches. For years, the most used
# libraries took the mean loss of each small batch, and then the mean of those
# ([huggingface/transformers#34191](https://github.com/huggingface/transformers/pull/34191),
# [torchtune#1875](https://github.com/meta-pytorch/torchtune/pull/1875)).
#
# ```diff
# - loss = sum(batch_loss.mean() for batch_loss in parts) / len(parts)
# + loss = sum(batch_loss.sum() for batch_loss in parts) / number_of_tokens_that_count
# ```
#
# The two agree only if all small batches have the same number of tokens that count. So with padding, the curve was above that of
# the same training in large batches. Your `language_model_loss` sums over all positions that count, and divides once.
#
# More bugs that shipped are in the notebook `bug_museum.ipynb`.

# %% [markdown]
# ## Challenge: `adamw_step(theta, gradient, m, v, n)` (extra)
#
# *Challenge ★★ · not graded · about 12 minutes*
#
# Write the step of AdamW for one parameter tensor. $\mathbf{m}$ and $\mathbf{v}$ are the running means of the gradient
# $\mathbf{g}$ and of its square, and $\beta_1$ and $\beta_2$ say how much of the old means is kept. With $n$ for the step,
# counted from 0:
#
# $$ \begin{aligned} \mathbf{m} &\leftarrow \beta_1 \mathbf{m} + (1 - \beta_1)\, \mathbf{g}, \qquad
#    \mathbf{v} \leftarrow \beta_2 \mathbf{v} + (1 - \beta_2)\, \mathbf{g}^2 \\
#    \theta &\leftarrow \theta - \eta \left( \frac{\mathbf{m} / (1 - \beta_1^{\,n+1})}
#    {\sqrt{\mathbf{v} / (1 - \beta_2^{\,n+1})} + \varepsilon} + \lambda\, \theta \right) \end{aligned} $$
#
# The two divisions correct the running means, which begin at 0. A small $\varepsilon$ avoids a division by 0, and $\lambda$ is
# the weight decay, `decay` in code ([Loshchilov and Hutter 2017](https://arxiv.org/abs/1711.05101)). Return the new `theta`,
# `m` and `v`, and leave the arguments unchanged.
#
# **Worked example.** $\theta = 1$, $g = 3$, $m = 1$, $v = 7$, $n = 1$, $\eta = 0.1$, $\beta_1 = \beta_2 = \tfrac12$,
# $\varepsilon = 0$, $\lambda = \tfrac12$. Then $m = 2$ and $v = 8$, both divided by $1 - \tfrac14$: $\tfrac83$ and
# $\tfrac{32}3$. The step is $0.1 \cdot (0.816 + 0.5)$, so $\theta = 0.868$.


# %%
def adamw_step(
    theta: torch.Tensor,
    gradient: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    n: int,
    rate: float = 1e-3,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    eps: float = 1e-8,
    decay: float = 0.01,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Step n (from 0) of AdamW. theta, gradient, m, v: (...). Returns the new theta, m and v."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(adamw_step)

# %% [markdown]
# ## Challenge: `top_k(logits, k)` (extra)
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# `generate` may draw any token, however unlikely, and in a long text it sometimes draws a bad one. So one often draws only
# among the `k` likeliest tokens, which is called **top-k sampling**: all others get the probability 0, and those of the `k`
# are rescaled to sum to 1.
#
# `logits` is `(..., N)`, and so is the result, the probabilities. A token whose logit equals the k-th largest of its row is
# kept, even if more than `k` are kept then. If `k` is greater than $N$, all are kept. Every row has at least one finite logit;
# a logit of −∞ has the probability 0. Raise a `ValueError` that names `k` if it is below 1.
#
# **Worked example.** The logits $(\ln 1, \ln 4, \ln 2, \ln 3)$ and k = 2: the second and the fourth are kept, with
# probabilities $(0,\; \tfrac47,\; 0,\; \tfrac37)$.


# %%
def top_k(logits: torch.Tensor, k: int) -> torch.Tensor:
    """The probabilities of the tokens whose logit is among the k greatest of its row, equals included; all others 0.

    logits: (..., N), a finite one in every row. Returns the same shape. ValueError if k < 1.
    """
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(top_k)

# %% [markdown]
# ## Summary
#
# 1. Text contains its own targets: cut windows, and let the target of each position be the next token.
# 2. The loss is the mean surprise in nats. It starts near $\ln N$, and counting gives baselines.
# 3. A model learns to write in steps: clear the gradients, compute the loss, differentiate, clip, move the parameters. The
#    rate goes up in a line and down in half a cosine.
# 4. Which parts a model should have is measured: at equal cost, with several seeds, on held-out text. Here RoPE and no biases
#    helped; RMSNorm and SwiGLU gave no clear gain.
# 5. A falling curve proves little: overfit one batch, look at step 0, change the last token.
#
# $$ \mathcal{L} = - \frac{1}{|C|} \sum_{(b,t) \in C} \ln p_{b,t}(y_{b,t}), \qquad
#    \theta \leftarrow \theta - \eta_n \, \nabla_\theta \mathcal{L} $$

# %% tags=["demo"]
# @title What you have built so far
figures.show(figures.training_runs.so_far(mine or small_lm.load()))

# %% [markdown]
# **To read on:** Karpathy, [A Recipe for Training Neural Networks](https://karpathy.github.io/2019/04/25/recipe/) · Shazeer,
# [GLU Variants Improve Transformer](https://arxiv.org/abs/2002.05202) · Xiong et al., [On Layer Normalization in the
# Transformer Architecture](https://arxiv.org/abs/2002.04745): why before, not after.
#
# In lesson 9 your model writes faster: it keeps keys and values.

# %% [markdown]
# ## The end of the core (extra)
#
# This is what you have built:
#
# | lesson | you built | it answers |
# |---|---|---|
# | 1 | dot products, cosine similarity | how similar are two vectors? |
# | 2 | softmax, entropy | how do scores become shares of 1? |
# | 3 | embeddings, queries, keys, values, attention | how does a word use the others? |
# | 4 | the scale, dropout | why divide by $\sqrt{d_k}$? |
# | 5 | masks, and a detector of leaks | what may a word not see? |
# | 6 | heads | how are several questions asked at once? |
# | 7 | rotary positions | where is a word? |
# | 8 | two blocks, batches, loss, training, writing | how does it learn? |
#
# A large language model has these parts. Beyond them it has size, data, a great deal of engineering, a tokenizer and
# post-training. From here you can
#
# - **go on in this course.** Lessons 9 to 14, in any order that their needs allow: a cache that makes writing fast, attention in
#   tiles, a model opened, two sequences at once, cheaper attention, and tokens.
# - **make your model better.** Give it more blocks, or train it longer. The baselines of section 3 show whether it helped.
# - **read a real one.** [nanoGPT](https://github.com/karpathy/nanoGPT) does what section 10 does, on GPUs, in two short files.
#
# If you work on a computer of your own and an exercise has passed, the next cell writes a page to keep, `attention.html`, next
# to this notebook.

# %% tags=["demo"]
# @title A page to keep: what you built, and what your model looks at
from course import keepsake

keepsake(figures.training_runs.to_keep(mine or small_lm.load()))

# %% tags=["demo"]
progress()
