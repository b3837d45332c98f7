# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 8: Training
#
# In lesson 0, a small model wrote with your lines in it. With random weights, they write nonsense. **How does a model learn to
# write?**
#
# **You will build** the loss, a *block* round your own attention, one step of training, and the loop that writes. With them you
# train a model, and watch its text grow.
#
# **You need** softmax (lesson 2), Adam (4), the causal mask (5), heads (6), rotary positions (7).
#
# **Time:**

# %%
import math
import textwrap

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sliders, small_lm, solution
from course.models.own_blocks import OwnBlocksLM, with_repeats
from course.notebook.progress_bars import TrainingProgress
from torch import nn

begin("08_training")

# %% [markdown]
# ## Quiz: what came before
#
# **1.** A query is at position 5, a key at position 2. Both move on by 100. What does their score under RoPE do?
#
# **2.** Which of queries, keys and values does RoPE rotate?

# %%
predict("quiz 1", ...)  # "it stays", "it falls" or "it changes sign"
predict("quiz 2", ...)  # "queries and keys", "queries, keys and values" or "queries only"

# %% [markdown]
# ## 1. A text contains its own answers
#
# A **language model** gives, at each position of a text, the probabilities of the next token. To train one you need nothing but
# text, because each next token is already there. Here tokens are words and signs; `¶` ends a story.

# %% tags=["code"]
device = "cuda" if torch.cuda.is_available() else "cpu"  # random generators stay on the CPU
untrained = small_lm.empty()  # the model of lesson 0 before training
words = untrained.words  # the token with the id i is words[i]
N = len(words)
train_ids = small_lm.training_ids(300_000).to(device)  # int64 (L,): 300,000 words, and their signs
held_out = untrained.encode(small_lm.held_out(5_000)).to(device)
print(textwrap.fill(untrained.decode(train_ids[:60]), 100), "…\n")
print(f"{len(train_ids):,} tokens to train on, {len(held_out):,} held out; {N} in the vocabulary")

# %% [markdown]
# A small program makes the stories from templates, so a low loss is easier here than in English. Some are **held out**: the model
# never trains on them. If it learns its own text by heart, it predicts these badly, which is called **overfitting**.
#
# Training reads **windows** of $T$ tokens from random places. With $w_i$ for token $i$ of the text and $s$ for the start:
#
# $$ \text{inputs } (w_s, \dots, w_{s+T-1}), \qquad \text{targets } (w_{s+1}, \dots, w_{s+T}) $$


# %% tags=["code"]
def get_batch(data, block_size, batch_size, generator):
    """Random windows of a text (L,), and their targets, both (batch_size, block_size)."""
    starts = torch.randint(len(data) - block_size, (batch_size, 1), generator=generator)
    places = (starts + torch.arange(block_size)).to(data.device)
    return data[places], data[places + 1]


# %% tags=["picture"]
# @title A batch of three windows
figures.show(figures.training_runs.windows(train_ids, words))

# %% [markdown]
# Without the `+ 1`, it would learn to repeat what it reads, with a loss of 0.
#
# ### Predict: questions in a window
#
# The model has a causal mask. From how many predictions does it learn in one window of 64 tokens?

# %%
# The number of predictions
predict("the predictions in a window", ...)

# %% [markdown]
# ## 2. How surprised is it?
#
# At each position the model returns $N$ logits, one per token; softmax turns them into probabilities. If the token that comes next
# got the probability $p$, the model's **surprise** is $-\ln p$: 0 for $p = 1$, 0.69 for $p = \tfrac12$, and without limit as $p$
# approaches 0. The loss is the mean surprise:
#
# $$ \mathcal{L} = - \frac{1}{|C|} \sum_{(b,t) \in C} \ln p_{b,t}(y_{b,t}), \qquad
#    p_{b,t} = \operatorname{softmax}(\mathbf{z}_{b,t}) $$
#
# Here $\mathbf{z}_{b,t}$, `(N,)`, are the logits at position $t$ of window $b$, and $y_{b,t}$ is the target. $C$ is the set of the
# $|C|$ positions that count: padding has a special target, usually −100, and is skipped. This loss is called **cross-entropy**;
# its unit is the **nat**.
#
# ### Predict: a model that knows nothing
#
# A model gives each of the 1,001 tokens the same probability. What is its loss?

# %%
# The loss in nats
predict("the loss of a model that knows nothing", ...)

# %% [markdown]
# ### Exercise: `language_model_loss(logits, targets, ignore_index=-100)`
#
# *Difficulty ★★☆, importance ●●●, about 10 minutes.*
#
# Write $\mathcal{L}$. The logarithm of a softmax fails for large logits (lesson 2); `log_softmax` is allowed.
#
# **Worked example.** Two positions, both with the logits $(\ln 3, 0)$, so the probabilities are $\tfrac34$ and $\tfrac14$. The
# targets are 0 and 1, the surprises $\ln\tfrac43 = 0.288$ and $\ln 4 = 1.386$, and the loss is 0.837. If the second target is
# −100, it is 0.288.


# %% nbgrader={"grade": false, "grade_id": "language_model_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def language_model_loss(logits: torch.Tensor, targets: torch.Tensor, ignore_index: int = -100) -> torch.Tensor:
    """Mean negative log-likelihood of the targets, in nats.

    logits: (B, T, N), targets: int64 (B, T). Returns (): the mean over the targets that are not ignore_index, which may
    be any number. If every target is ignore_index, the loss is 0 (not 0 / 0), its gradient is 0, and backward() works.
    Right to 0.01 for logits as large as 1e4. Not allowed: cross_entropy, nll_loss.
    """
    ### BEGIN SOLUTION
    counts = targets != ignore_index
    safe = targets.masked_fill(~counts, 0)  # -100 is no index
    log_likelihood = logits.log_softmax(-1).gather(-1, safe[..., None])[..., 0]  # (B, T)
    return -log_likelihood.masked_fill(~counts, 0).sum() / counts.sum().clamp(min=1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_language_model_loss", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(language_model_loss)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(language_model_loss)
### END HIDDEN TESTS

# %% [markdown]
# What is a good loss? Three **baselines** need no training: in *uniform* all tokens are equally likely, in *unigram* each is as
# likely as it is frequent, and in *bigram* as it is frequent *after the token before it*.


# %% tags=["code"]
pairs = torch.zeros(N, N, device=device)  # how often each token follows each
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
# The last number, $e^{\mathcal{L}}$, is the **perplexity**. Token by token:


# %% tags=["picture"]
# @title The surprise at each token of a held-out story
rows = {name: counted[name][held_out[:23]] for name in ("unigram", "bigram")}
figures.show(figures.training_runs.surprises(language_model_loss, held_out[:24], words, rows))

# %% [markdown]
# ## 3. A block round your attention
#
# Attention moves information between positions. The **MLP** (*multi-layer perceptron*), linear layers with a nonlinear function
# between them, works on each position by itself. One of each makes a **block**, with the input $\mathbf{X}$, `(T, D)`:
#
# $$ \begin{aligned} \mathbf{X} &\leftarrow \mathbf{X} + \operatorname{attention}(\operatorname{norm}_1(\mathbf{X})) \\
#    \mathbf{X} &\leftarrow \mathbf{X} + \operatorname{mlp}(\operatorname{norm}_2(\mathbf{X})) \end{aligned} $$

# %% tags=["picture"]
# @title A block
figures.show(figures.training.block())

# %% [markdown]
# A **residual connection** adds what a part computes to $\mathbf{X}$, so gradients reach the first layer directly. A **norm**
# brings the vectors that a part reads to one size. A stack of blocks is a **transformer**. Most open models of today differ from
# GPT-2:
#
# | | GPT-2 (2019) | since [Llama](https://arxiv.org/abs/2302.13971) (2023) |
# |---|---|---|
# | norm | LayerNorm, which also subtracts the mean | [RMSNorm](https://arxiv.org/abs/1910.07467) |
# | MLP | two layers, a curve (GELU) between | [SwiGLU](https://arxiv.org/abs/2002.05202) |
# | positions | a learned table, added | RoPE |
# | biases | yes | none |
#
# You build today's. **RMSNorm** divides a vector by its *root mean square* and multiplies ($\odot$) each entry by a learned gain,
# $\boldsymbol{\gamma}$ `(D,)`. With $d$ for `D`:
#
# $$ \operatorname{norm}(\mathbf{x}) = \frac{\mathbf{x}}{\sqrt{\tfrac1d \sum_i x_i^2 + 10^{-6}}} \odot \boldsymbol{\gamma} $$
#
# ### Exercise: normalise without a mean
#
# *Difficulty ★☆☆, importance ●●○, about 3 minutes.* Write RMSNorm for `x`, `(..., D)`, along the last dimension. (PyTorch has
# `nn.RMSNorm`.)
#
# **Worked example.** For $(3, 1)$, the mean square is 5, its root 2.236. With the gain $(1, 2)$ the result is $(1.342, 0.894)$.


# %%
def rms_norm(x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
    """x (..., D) divided by its root mean square over the last dimension, with 1e-6 under the root, times gain (D,)."""
    raise NotImplementedError  # replace this line


# %%
check(rms_norm)

# %% [markdown]
# In **SwiGLU**, one layer (*up*) computes `hidden` numbers, a second (*gate*) the factors that let much or little of each through,
# and a third (*down*) leads back to the width:
#
# $$ \operatorname{mlp}(\mathbf{x}) = \bigl( \operatorname{silu}(\mathbf{x} \mathbf{W}_{\text{gate}}) \odot
#    \mathbf{x} \mathbf{W}_{\text{up}} \bigr) \mathbf{W}_{\text{down}}, \qquad \operatorname{silu}(z) = \frac{z}{1 + e^{-z}} $$
#
# ### Exercise: `TransformerBlock(attention, d_model, hidden)`
#
# *Difficulty ★★☆, importance ●●●, about 11 minutes.*
#
# Build the block round a given attention, such as `RotarySelfAttention(96, 4)`, kept as `self.attention`. It is called as
# `attention(x, mask=mask)` and returns output and weights. `gain_1` and `gain_2` are tensors of ones, `(D,)`, which
# `nn.Parameter(…)` makes parameters. Three `nn.Linear` have no bias: `W_gate` and `W_up` from `D` to `hidden`, `W_down` back to
# `D`. You may call your `rms_norm`, and `F.silu`.
#
# **Worked example.** One position, $\mathbf{x} = (1, 7)$, so $\operatorname{norm}(\mathbf{x}) = (0.2, 1.4)$. If attention returns
# its input, $\mathbf{x}$ becomes $(1.2, 8.4)$. If `W_down` is all 0, the block returns this.


# %% nbgrader={"grade": false, "grade_id": "TransformerBlock", "locked": false, "schema_version": 3, "solution": true, "task": false}
class TransformerBlock(nn.Module):
    """Attention and a gated MLP, each normalised beforehand and added to what came in; no biases.

    attention: a module of any class, called as attention(x, mask=mask); returns (output (B, T, D), weights).
    Parameters, and no others: those of self.attention, gain_1 and gain_2 (D,), ones at first, and those of the nn.Linear
    layers W_gate, W_up and W_down.
    """

    def __init__(self, attention: nn.Module, d_model: int, hidden: int) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        self.attention = attention
        self.gain_1, self.gain_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_gate = nn.Linear(d_model, hidden, bias=False)
        self.W_up = nn.Linear(d_model, hidden, bias=False)
        self.W_down = nn.Linear(hidden, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """x: (B, T, D), any T; mask: goes to attention as it is, None included. Returns (B, T, D)."""
        ### BEGIN SOLUTION

        def normalised(x, gain):
            return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * gain

        attended, _ = self.attention(normalised(x, self.gain_1), mask=mask)
        x = x + attended
        a = normalised(x, self.gain_2)
        return x + self.W_down(F.silu(self.W_gate(a)) * self.W_up(a))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_TransformerBlock", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(TransformerBlock)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(TransformerBlock)
### END HIDDEN TESTS

# %% [markdown]
# ### The model, made of your parts
#
# A table has a vector for each token. Three blocks follow: block 0 goes by words alone, with your attention of lesson 6, the others
# by positions, too, with that of lesson 7. All have your `causal_mask`. After a last norm, the logits are dot products with the
# table's rows. With the weights of lesson 0's model, and with random ones:

# %% tags=["model"]
parts = TransformerBlock, MultiHeadAttention, RotarySelfAttention, causal_mask  # yours, or the course's if not here
window, answers = held_out.cpu()[None, :64], held_out.cpu()[None, 1:65]
for name, lm in {"trained": small_lm.load(), "random": untrained}.items():
    own = OwnBlocksLM(*parts, weights=lm)
    loss, built_in = language_model_loss(own(window), answers), language_model_loss(lm(window), answers)
    print(f"{name:8} weights: loss {loss:.4f} with your parts, {built_in:.4f} with the built-in")

# %% [markdown]
# Look at the loss before training: if it is far below that of a model that knows nothing, the targets leak.
#
# ## 4. One step
#
# The gradient points to where the loss rises fastest, so **gradient descent** goes the opposite way. With $\theta$ for all
# parameters, and the **learning rate** $\eta$:
#
# $$ \theta \leftarrow \theta - \eta \, \nabla_\theta \mathcal{L} $$

# %% tags=["picture"]
# @title Slider: eight steps down a parabola
sliders.slider(figures.training_runs.descend)

# %% [markdown]
# An optimizer takes this step. The usual one for transformers is **AdamW**, lesson 4's Adam with **weight decay**: each step also
# draws all parameters a little towards 0. (A newer one for matrices is [Muon](https://kellerjordan.github.io/posts/muon/), which
# trained [Kimi K2](https://arxiv.org/abs/2507.20534) in 2025.)
#
# Against unusual batches, the gradient is **clipped**: if that of *all* parameters, as one vector, is longer than 1, it is shortened
# to length 1. A step has six parts, the second because `backward()` *adds* to `.grad`:
#
# 1. put the model into training mode;
# 2. clear the old gradients;
# 3. compute the loss, over all positions;
# 4. call `backward()`;
# 5. clip (`nn.utils.clip_grad_norm_`);
# 6. let the optimizer step.
#
# ### Exercise: `train_step(model, optimizer, inputs, targets)`
#
# *Difficulty ★★☆, importance ●●●, about 8 minutes.*
#
# Do these six things, with any optimizer. Return the loss of item 3 as a plain `float`. `F.cross_entropy`, of logits `(n, N)` and
# targets `(n,)`, is allowed here.
#
# **Worked example.** Plain gradient descent, `torch.optim.SGD`, with $\eta = 0.1$. The gradient $(3, 4)$ has the length 5, so it is
# clipped to $(0.6, 0.8)$, and the parameters move by $(-0.06, -0.08)$. $(0.3, 0.4)$ would not be clipped.


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


# %% nbgrader={"grade": true, "grade_id": "check_train_step", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(train_step)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(train_step)
### END HIDDEN TESTS


# %% [markdown]
# First **overfit a single batch**. A model that cannot learn that by heart is broken.


# %% tags=["code"]
few = get_batch(train_ids, 32, 8, torch.Generator().manual_seed(8))  # inputs and targets, (8, 32)
others = get_batch(held_out, 32, 32, torch.Generator().manual_seed(9))

# %% tags=["picture"]
# @title Sixty steps on one batch
small = OwnBlocksLM(*parts, block_size=32).to(device)
figures.show(figures.training_runs.one_batch(small, train_step, language_model_loss, few, others, lines["uniform"]))

# %% [markdown]
# On held-out stories the loss rises: overfitting, on purpose.
#
# ## 5. Writing
#
# A model that predicts can write: draw a token, append it, and ask again. Such a model is called **autoregressive**. With $\sim$
# for “is drawn from”, $\mathbf{z}_t$ for the logits of the *last* position, and the temperature $\tau$:
#
# $$ w_{t+1} \sim \operatorname{softmax}\!\left( \frac{\mathbf{z}_t(w_0, \dots, w_t)}{\tau} \right) $$
#
# $\tau = 0$ means the likeliest token, which is called **greedy**. A model writes in eval mode, where dropout is off, and under
# `torch.no_grad()`, which saves memory. Neither replaces the other.
#
# ### Exercise: `generate(model, prompt, n_tokens, temperature=1.0, generator=None)`
#
# *Difficulty ★★★, importance ●●●, about 15 minutes.*
#
# Continue several texts, `(B, T)`, by `n_tokens` each. Show the model at most the *last* `block_size` tokens, its **context
# length**. Draw with `torch.multinomial` and `generator`, on the CPU. Leave the model in the mode in which it was.
#
# **Worked example.** A model predicts 1 after 0, 2 after 1, 3 after 2, and 0 after 3. Greedy, with the prompts $(0)$ and $(2)$ and
# five tokens to add, the rows become $(0, 1, 2, 3, 0, 1)$ and $(2, 3, 0, 1, 2, 3)$.


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


# %% nbgrader={"grade": true, "grade_id": "check_generate", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(generate)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(generate)
### END HIDDEN TESTS

# %% [markdown]
# ## 6. It learns to write
#
# Training is your step, many times. The learning rate (`learning_rate` is given, and an extra below) rises over the first tenth of
# the steps, the **warm-up**, while Adam's averages are of few gradients. It falls along half a cosine, so that the parameters
# settle.


# %% tags=["code"]
def train(model, data, steps, batch_size, generator, peak=4e-3):
    """Train a model on a text (L,), and on words that repeat; returns the loss of each step."""
    optimizer = torch.optim.AdamW(model.parameters())
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps // 10, steps, peak)
        inputs, targets = get_batch(data, model.block_size, batch_size, generator)
        inputs, targets = with_repeats(inputs, targets, N, generator)  # in every fourth row
        losses.append(train_step(model, optimizer, inputs, targets))
    return losses


def evaluate(model, inputs, targets):
    """The loss of a model in eval mode, without gradients."""
    was_training = model.training
    with torch.no_grad():
        loss = language_model_loss(model.eval()(inputs), targets)
    model.train(was_training)
    return loss.item()


# %% [markdown]
# In one row of four, random words repeat, so that heads learn to look back. Such heads form sooner because your
# weights begin with $\mathbf{W}_k = \mathbf{W}_q$: equal words attract each other. While it trains, your model continues the prompt of lesson 0:

# %% tags=["model"]
# Takes about 95 seconds
model = OwnBlocksLM(*parts, weights=untrained).to(device)
unseen = get_batch(held_out, 64, 48, torch.Generator().manual_seed(1))
prompt = untrained.encode("Mara told Tom about the river, but then the bank")[None].to(device)
seen_at, held_out_losses = [], []
steps = 900


def look(done):
    seen_at.append(done)
    held_out_losses.append(evaluate(model, *unseen))
    if done in (0, 100, 300, steps):
        text = generate(model, prompt, 30, 0.7, torch.Generator().manual_seed(2))[0]
        print(textwrap.fill(f"After {done} steps: {untrained.decode(text)}", 100), "\n")
    return f"held out {held_out_losses[-1]:.2f}"


with TrainingProgress(model, steps, look, every=100):
    training_losses = train(model, train_ids, steps, 16, torch.Generator().manual_seed(0))

# %% tags=["picture"]
# @title The loss in training and on held-out stories, with three baselines
seen = seen_at, held_out_losses
figures.show(figures.training_runs.course_of_training(training_losses, seen, lines))

# %% [markdown]
# The model first learns how frequent tokens are, then pairs. Far below the bigram baseline, it uses earlier tokens, too, by
# attention. The training loss is higher, because nobody can guess random words before they repeat. Overfitting is small: it reads
# each token of the stories 1.8 times on average.

# %% tags=["picture"]
# @title Slider: what your model writes at each temperature
sliders.slider(figures.training_runs.written, generate, model, untrained)

# %% [markdown]
# The words are real because the tokens are words. Their order is learned.

# %% tags=["model"]
mine = model.to_small_lm()
small_lm.keep(mine, made_with=[TransformerBlock, train_step])
for name, each in {"your model": mine, "the course's, trained for longer": small_lm.load()}.items():
    print(f"{each.loss(small_lm.held_out(1_000)):.2f} nats per token on held-out stories: {name}")

# %% tags=["picture"]
# @title Where its heads look, in block 2
figures.show(figures.training_runs.of_block(mine, 2))

# %% [markdown]
# ## A bug that shipped (extra)
#
# If a large batch does not fit into memory, one adds up the gradients of small ones. For years, libraries took the mean of their
# mean losses:


# %% tags=["code"]
logits = torch.randn(2, 4, N, generator=torch.Generator().manual_seed(0))
targets = torch.tensor([[5, 6, 7, 8], [9, -100, -100, -100]])  # the second window is mostly padding
means = [language_model_loss(logits[b : b + 1], targets[b : b + 1]) for b in (0, 1)]
print(f"mean of the means {sum(means) / 2:.3f}, one large batch {language_model_loss(logits, targets):.3f}")

# %% [markdown]
# One token of the short window weighs as much as four of the other
# ([transformers#34191](https://github.com/huggingface/transformers/pull/34191)). Sum over all, and divide once. A forgotten
# `zero_grad` and others are in the bug museum.
#
# ## Learning to copy (extra)
#
# Can one *see* attention learn? Your heads of lesson 6 and your step learn the simplest task there is: repeat eight letters. For
# 200 steps with Adam:


# %% tags=["model"]
class Copier(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.table, self.attention = nn.Embedding(26, width), MultiHeadAttention(width, 2)
        self.read = nn.Linear(width, 26)

    def forward(self, ids):
        output, self.weights = self.attention(self.table(ids))
        return self.read(output)


torch.manual_seed(0)
copier, keyboard = Copier(), torch.tensor([[ord(letter) - ord("a") for letter in "keyboard"]])
optimizer, generator = torch.optim.Adam(copier.parameters(), lr=1e-2), torch.Generator().manual_seed(1)
copying, maps = [], []
for step in range(201):
    if step % 200 == 0:
        copier(keyboard)
        maps.append(copier.weights[0].detach())
    ids = torch.rand(64, 26, generator=generator).argsort(-1)[:, :8]  # eight different letters each
    copying.append(train_step(copier, optimizer, ids, ids))

# %% tags=["picture"]
# @title The loss of copying, and what each letter attends to, before and after
figures.show(figures.training_runs.copying(copying[:200]))
figures.show(figures.training_runs.copied(*maps))

# %% [markdown]
# Nothing in the code mentions the diagonal. The heads find it because it lowers the loss, and where one of them looks elsewhere, the
# other looks at the right letter.
#
# ## Which block? (extra)
#
# Is today's block better than GPT-2's? We recorded both on an earlier text, at equal cost: 20 CPU seconds with three seeds each,
# and each of the four changes of section 3 alone. So this ranks how fast a small model starts to learn, not how well it ends.
#
# ### Predict: the better block (extra)
#
# Which of the two blocks has the lower losses? “Too close to tell” means that the ranges of their seeds overlap.

# %% tags=["code"]
from course.models import block_comparison

recorded = block_comparison.load()

# %%
# The block with the lower held-out losses: "plain", "modern" or "too close to tell"
predict("the better block", ...)

# %% tags=["picture"]
# @title The recorded comparison
figures.show(figures.training.comparison(recorded))

# %% [markdown]
# Two changes put every seed below every plain one: RoPE, and no biases, which also makes steps cheaper. RMSNorm written by hand
# costs more time than PyTorch's LayerNorm, and so ends last.
#
# ## Exercise: `learning_rate(step, warmup, total, peak, floor=0.0)` (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 6 minutes.*
#
# Write the schedule of section 6. With $n$ for the step, counted from 0, and $n_{\text{warm}}$ and $n_{\text{total}}$ for `warmup`
# and `total`:
#
# $$ \eta_n = \begin{cases} \eta_{\text{peak}} \, \dfrac{n + 1}{n_{\text{warm}}} & n < n_{\text{warm}} \\[1.2ex]
#    \eta_{\text{floor}} + (\eta_{\text{peak}} - \eta_{\text{floor}}) \, \dfrac{1 + \cos(\pi r)}{2}
#    & n \ge n_{\text{warm}} \end{cases}
#    \qquad r = \min\!\left(1, \frac{n - n_{\text{warm}}}{n_{\text{total}} - n_{\text{warm}}}\right) $$
#
# Unless `0 <= warmup < total`, raise a `ValueError` that names both and their values.
#
# **Worked example.** Four steps of warm-up, twelve in all, peak 0.1. Step 0 has $0.1 \cdot \tfrac14 = 0.025$, step 3 has $0.1$,
# and so has step 4, where $r = 0$. At step 8, $r = \tfrac12$ and the cosine is 0: $0.05$.


# %%
def learning_rate(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The learning rate of a step: a straight line up to peak, then half a cosine down to floor.

    step counts from 0. warmup: how many steps go up, 0 for none; total: the step at which floor is reached, and kept.
    Raises ValueError unless 0 <= warmup < total.
    """
    raise NotImplementedError  # replace this line


# %%
check(learning_rate)

# %% tags=["picture"]
# @title Three schedules
figures.show(figures.training_runs.schedules(learning_rate))

# %% [markdown]
# ## Your experiment (extra)
#
# *Difficulty ★★☆, importance ●○○, about 8 minutes.* **Which peak is best?** Train a small model for 60 steps with each of the
# peaks 0.0001, 0.001, 0.01 and 1, with `train`. Each time take a `deepcopy(beginner)`, a new generator with seed 0, and 16 windows
# per batch. Plot the held-out losses, `evaluate(…, *others)`. Your finding is the peak with the lowest loss.

# %% tags=["model"]
from copy import deepcopy

beginner = OwnBlocksLM(*parts, block_size=32, d_model=32, n_heads=2, n_blocks=1).to(device)

# %% tags=["experiment"]
# Your code: the held-out loss for each peak, and a plot

finding = ...  # a peak

# %%
check("experiment", finding)

# %% [markdown]
# ## The end of the core (extra)
#
# A large language model has the parts that you have built. Beyond them it has size, data, a tokenizer, post-training and a great
# deal of engineering. From here you can
#
# - **go on in this course**, with lessons 9 to 14: a cache that makes writing fast, attention in tiles, a model opened, two
#   sequences at once, cheaper attention, and tokens;
# - **make your model better**: give it more blocks, or train it longer, and look at the baselines;
# - **read a real one**: [nanoGPT](https://github.com/karpathy/nanoGPT) does what section 6 does, on GPUs, in two short files.
#
# On a computer of your own, the next cell writes a page to keep, `attention.html`, next to this notebook.

# %% tags=["picture"]
# @title A page to keep: what you built, and what your model looks at
from course import keepsake

keepsake(figures.training_runs.to_keep(mine))

# %% [markdown]
# ## Summary
#
# 1. A text contains its own targets: at each position, the next token.
# 2. The loss is the mean surprise in nats; counting gives baselines.
# 3. A block adds attention's output to its input, then an MLP's; both read normalised vectors.
# 4. A step clears gradients, computes the loss, differentiates, clips, and moves the parameters.
# 5. A falling curve proves little: look at step 0, overfit one batch, measure on held-out text.
#
# $$ \mathcal{L} = - \frac{1}{|C|} \sum_{(b,t) \in C} \ln p_{b,t}(y_{b,t}), \qquad
#    \theta \leftarrow \theta - \eta \, \nabla_\theta \mathcal{L} $$

# %% tags=["picture"]
# @title What you have built so far
figures.show(figures.training_runs.so_far(mine))

# %% [markdown]
# In lesson 9 your model writes faster. **To read on:** [the 2017 paper](https://arxiv.org/abs/1706.03762), section 5 · Karpathy's
# [recipe](https://karpathy.github.io/2019/04/25/recipe/) for training.

# %%
progress()
