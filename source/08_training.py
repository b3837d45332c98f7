# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 8: Training
#
# You have built attention, given it a mask, heads and a sense of place. With random weights it is a machine for turning
# noise into noise. **How does a heap of random numbers learn to write?** The answer is a loop of five lines. It is the
# same loop for the smallest model and for the largest; every line of it can be wrong in a way that nothing reports; and
# a curve that falls is no proof that you got it right.
#
# You will write every part of that loop yourself: cutting a text into batches, measuring surprise, the block that
# transformers are stacked from, the learning rate, the step, the honest measurement, and the writing. Then you train a
# small language model on a story, on this computer, in a minute, with your own functions, and compare it with three
# lines that it must beat. After that you watch a head form that learns to look back, and you meet nine bugs by their
# curves.
#
# **You need** log-softmax and temperature (lesson 2), the causal mask (lesson 5), heads (lesson 6), and from lesson 7
# why attention has to be told about positions. Nothing from your earlier notebooks has to be copied; where they lie
# beside this one, section 9 trains the attention that you wrote there, too.
#
# **Time:** about 120 minutes
#
# | letter | meaning |
# |---|---|
# | $L$ | how many tokens the whole text has; here a token is a letter, a space or a mark |
# | $N$ | the vocabulary: how many different tokens there are |
# | $B$ | the batch: how many pieces of text at once |
# | $T$ | how many tokens a piece has; `block_size` is the most that the model can take |
# | $w_0, w_1, \dots$ | the tokens of a text, one after the other |
# | $\mathbf{z}$, $p$ | the logits of one place `(N,)`, and the probabilities that softmax makes of them |
# | `D`, $H$, `K` | in shapes, the width of the model, the number of heads, the width of a head; in formulas $d_k = d / H$ |
# | $\theta$, $\eta$, $\tau$ | all parameters of a model; the learning rate; the temperature |

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, progress, sliders, use
from torch import nn

begin("08_training")

# %% [markdown]
# ## Review: three questions on what came before
#
# *Review* · about 3 minutes. Answer each in your head or on paper before you unfold its answer. Where one will not
# come back, look at the summary of the lesson that it is from.
#
# **1.** A query stands at place 5 and a key at place 2; both move on by 100. What becomes of their score under RoPE?
#
# <details><summary>Answer</summary>
#
# It stays: both are turned by the same angles more, and the score depends on the gap alone.
#
# </details>
#
# **2.** Which of queries, keys and values does RoPE turn, and before or after heads are split?
#
# <details><summary>Answer</summary>
#
# Queries and keys, inside each head, so after the split. Values are left alone: what is fetched should not depend on
# where it stood.
#
# </details>
#
# **3.** Self-attention without positions: the words of a sentence are shuffled. What becomes of the outputs?
#
# <details><summary>Answer</summary>
#
# They are shuffled in the same way and otherwise the same. Without a mask or positions, attention does not see order.
#
# </details>

# %%
import itertools
from importlib.resources import files

from course.notebook.training_progress import TrainingProgress

device = "cuda" if torch.cuda.is_available() else "cpu"  # a GPU is taken where there is one; generators stay here
print("Training on:", torch.cuda.get_device_name() if device == "cuda" else "the CPU")

# %% [markdown]
# ## 1. Learning to copy
#
# Start with the smallest training that deserves the name. A layer of attention stands between a table that turns
# letters into vectors and a matrix that turns vectors into **logits**, one number for each letter of the alphabet: the
# greater, the more likely the model holds this letter to be. The task is to say again what it hears: eight different
# letters in, the same eight out.
#
# Training means: measure how wrong the model is, ask for each of its numbers in which direction it should move (that is
# the gradient), move all of them a little, and start again. (*Review:* lessons 4 to 7 have used such loops.) Here are
# two hundred such steps.
#
# ### Predict first
#
# The layer knows nothing of positions. Can it learn to copy? And where will its two heads look?
#
# <details><summary>Answer</summary>
#
# It can. To say a letter again it does not matter where the letter stands; each place has to find itself, and with
# eight different letters "the place that holds my letter" is a question about content. So look for weights on the
# diagonal. But it is enough if *one* of the two heads finds the letter, and they may share the alphabet between them.
#
# </details>


# %% tags=["demo"]
def learn_to_copy(steps=200, width=32):
    """Train attention with two heads to say eight letters again.

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
        loss = F.cross_entropy(read(output).flatten(0, 1), ids.flatten())  # how wrong it is
        optimizer.zero_grad()
        loss.backward()  # which way each number should move
        optimizer.step()  # move them
        losses.append(loss.item())
    return losses, before, look(keyboard)


keyboard = torch.tensor([ord(letter) - ord("a") for letter in "keyboard"])
copying, before, after = learn_to_copy()

# %% tags=["demo"]
# @title The loss of copying, and where each letter looks before and after
figures.show(
    figures.losses({"loss of copying": copying}, {"guessing, ln 26": math.log(26)}, ylabel="loss in nats"),
    caption=f"The loss of each of {len(copying)} steps.",
)
figures.show(
    figures.training.heads({"before": before, "after": after}, "keyboard"),
    caption="Where each letter looks, in each of the two heads.",
)

# %% [markdown]
# At first the loss is that of a guess among 26 letters; at the end hardly a letter is wrong. Nobody told the heads
# about the diagonal: looking there is what made the loss fall. Where one head looks elsewhere, the other has the
# letter.
#
# That is all there is to it. You also know from lesson 6 that copying proves little: two layers with scrambled heads
# learned it as well. So now a task worth learning, and every part of the loop with care.

# %% [markdown]
# ## 2. A batch of windows
#
# A **language model** reads a text and says, at every place, what may come next. To train one you need nothing but
# text: the next letter is its own answer. Ours is a story about a harbour and a lamp, 47,000 letters long, that was
# written for this course.

# %%
text = files("course").joinpath("text/harbour.txt").read_text(encoding="utf-8")
letters = sorted(set(text))
N = len(letters)
number = {letter: i for i, letter in enumerate(letters)}


def encode(words):
    """A text as ids, int64 (L,)."""
    return torch.tensor([number[letter] for letter in words], device=device)


def decode(ids):
    """Ids (L,) as a text."""
    return "".join(letters[i] for i in ids.tolist())


ids = encode(text)
train_ids, held_out = ids[: int(0.9 * len(ids))], ids[int(0.9 * len(ids)) :]
print(text[:272], "…\n")
print(f"{len(ids):,} letters, {N} different ones; {len(train_ids):,} to train on, {len(held_out):,} held out")

# %% [markdown]
# The last tenth of the story is **held out**: the model never trains on it. A model with a hundred thousand numbers
# could learn a good part of the story by heart, which is called **overfitting**; how it does on pages that it has never
# seen is the only thing that tells whether it has learned the language.
#
# The whole text does not fit through the model at once. So training cuts **windows** of $T$ letters out of it, at
# random places. The most that a model can take, here `block_size` letters, is its **context length**. Let
# $w_0, w_1, \dots, w_{L-1}$ be the text. A window that starts at $s$ has
#
# $$ \text{inputs } (w_s, \dots, w_{s+T-1}), \qquad \text{targets } (w_{s+1}, \dots, w_{s+T}) $$
#
# The target of every place is the letter after it. With a causal mask one window is therefore not one question but
# $T$: what comes after the first letter, what after the first two, and so on up to all $T$.

# %% tags=["demo"]
# @title A batch of three windows, drawn
starts = [33, 391, 1007]
figures.show(
    figures.training.batch([text[s : s + 20] for s in starts], [text[s + 1 : s + 21] for s in starts]),
    caption="A batch of three windows of twenty letters. Read a column: below each letter stands the one that should be predicted.",
)

# %% [markdown]
# ### Exercise 1: `get_batch(data, block_size, batch_size, generator)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Draw `batch_size` windows, with replacement, every start that fits being equally likely. All randomness comes from
# `generator`, so that the same generator gives the same batch; it lives on the CPU, also where `data` lies on a GPU.
# If not a single window fits, raise a `ValueError` that names the argument that was wrong, and its length or value.
#
# **On paper.** The text 5, 6, 7, 8 and `block_size` 3. A window and its targets together take four tokens, so it can
# only start at the 5: inputs 5, 6, 7 and targets 6, 7, 8. How many starts are there in a text of six tokens? (Three.
# Most wrong answers are off by one here, and either never learn the last letter or now and then run past it.)

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(get_batch)


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

# %% [markdown]
# Does every start get its turn? A text of thirteen tokens has nine windows of four; nine hundred draws should hit each
# about a hundred times. Until your function passes, a stand-in takes its place that does not draw at all: it cuts the
# text into pieces, and hands them out one after the other.

# %%
turn = itertools.count()


def in_order(data, block_size, batch_size, generator):
    """Stand-in: the text in fixed pieces, one after the other, round and round. Nothing is random."""
    pieces = data.unfold(0, block_size + 1, block_size)  # (number of pieces, block_size + 1)
    rows = pieces[[next(turn) % len(pieces) for _ in range(batch_size)]]
    return rows[:, :-1], rows[:, 1:]


batch = use(get_batch, otherwise=in_order)

# %% tags=["demo"]
# @title How often each start is drawn
inputs, targets = batch(torch.arange(13), 4, 900, torch.Generator().manual_seed(0))
figures.show(
    figures.training.starts(torch.bincount(inputs[:, 0], minlength=9), draws=900),
    caption=f"How often each window was drawn, by {batch.whose}.",
)

# %% [markdown]
# ## 3. How surprised is it?
#
# For every place the model puts out $N$ logits. A softmax turns them into probabilities, and then the real next letter
# shows up. If the model had given it probability $p$, we say that its **surprise** is $-\ln p$: nothing where it was
# certain and right, 0.69 (which is $\ln 2$) at even odds, and without limit where it had ruled out what then happened.
# The loss is the mean surprise over all places that count:
#
# $$ \mathcal{L} = - \frac{1}{|C|} \sum_{(b,t) \in C} \ln p_{b,t}(y_{b,t}), \qquad
#    p_{b,t} = \operatorname{softmax}(\mathbf{z}_{b,t}) $$
#
# Here $\mathbf{z}_{b,t}$ are the $N$ logits at place $t$ of window $b$, $y_{b,t}$ is the target there, and $C$ is the
# set of places that count. Usually all of them do; where a batch was filled up with padding, or a letter cannot be
# predicted, the target is set to a number that means "ignore", by custom −100. The unit is the **nat**, since the
# logarithm is the natural one.
#
# This loss is called **cross-entropy** or **negative log-likelihood**. Three facts make it the right one: it is
# smallest if the probabilities are the true ones; it has a gradient everywhere; and its meaning does not depend on the
# model. A loss of 2.2 is a loss of 2.2, whether a counting table reached it or a transformer.
#
# ### Exercise 2: `language_model_loss(logits, targets, ignore_index=-100)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# Logits are `(B, T, N)` and may be as large as 10,000: do not compute a probability first and take its logarithm then
# (lesson 2 has shown why). PyTorch's `cross_entropy` and `nll_loss` are not allowed; `log_softmax` is. If every target
# is ignored, the loss is 0, and `backward()` works all the same.
#
# **On paper.** Two places and two tokens, both with the logits $(\ln 3, 0)$: probabilities $\tfrac34$ and $\tfrac14$.
# The targets are 0 and 1. The surprises are $\ln\tfrac43 = 0.288$ and $\ln 4 = 1.386$, the loss is their mean, 0.837.
# If the second target is −100, the loss is 0.288.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(language_model_loss)


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
check(language_model_loss)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(language_model_loss)
### END HIDDEN TESTS

# %% [markdown]
# Now three lines that every model has to beat, each from a model that needs no training, only counting:
#
# - **uniform**: every letter is equally likely. Its loss is $\ln N$ on any text.
# - **unigram**: each letter as often as it is in the training text. It knows that there are many more e than q.
# - **bigram**: what came how often after *this* letter. It knows that u follows q.
#
# They are written as logits, and it is your function that measures them, on the held-out pages. (A tenth is added to
# each count of the pairs, so that a pair that never occurred is not held to be impossible.)


# %%
def by_torch(logits, targets, ignore_index=-100):
    """Stand-in: PyTorch's own, which the exercise does not allow. It wants the N logits in the second dimension."""
    return F.cross_entropy(logits.mT, targets, ignore_index=ignore_index)


# %% tags=["demo"]
loss_of = use(language_model_loss, otherwise=by_torch)
pairs = torch.zeros(N, N, device=device)
pairs.index_put_((train_ids[:-1], train_ids[1:]), torch.ones(len(train_ids) - 1, device=device), accumulate=True)
counting = {  # (N, N): the logits of what follows each letter
    "uniform": torch.zeros(N, N, device=device),
    "unigram": torch.bincount(train_ids, minlength=N).add(1).log().expand(N, N),
    "bigram": (pairs + 0.1).log(),
}
lines = {  # logits (1, L - 1, N), targets (1, L - 1)
    name: loss_of(table[held_out[:-1]][None], held_out[None, 1:]).item() for name, table in counting.items()
}
for name, loss in lines.items():
    print(f"{name:8} {loss:.3f} nats a letter, as much doubt as between {math.exp(loss):4.1f} equally likely letters")
print("Measured by", loss_of.whose)

# %% [markdown]
# The last column is $e^{\mathcal{L}}$, the **perplexity**. Where is all the surprise? Letter by letter:


# %% tags=["demo"]
def letter_by_letter(logits, ids):
    """The surprise of each letter but the first, (L - 1,): logits (L - 1, N) predict ids[1:]."""
    surprise = [loss_of(z[None, None], y[None, None]) for z, y in zip(logits, ids[1:], strict=True)]
    return torch.stack(surprise).detach().cpu()


quoted = '"It is quite small," said Mara.'
quote = encode(quoted)
by_counting = {name: letter_by_letter(counting[name][quote[:-1]], quote) for name in ("unigram", "bigram")}

# %% tags=["demo"]
# @title The surprise at each letter of a line
figures.show(
    figures.training.surprise(quoted[1:], by_counting),
    caption="A line from the held-out pages. The bigram knows what follows q or a blank; how a word goes on it can only guess.",
)

# %% [markdown]
# ## 4. A block, and a model
#
# Attention moves information between places. It cannot do much *with* it: an average of values, times a matrix. So a
# transformer alternates two things: attention, in which places talk to each other, and a small network of two layers,
# the **MLP** (*multi-layer perceptron*; `mlp` in code), in which each place thinks for itself. Together they are a
# **block**. With $\mathbf{X}$ for what comes in, one row for each place, `(T, D)`:
#
# $$ \begin{aligned} \mathbf{X} &\leftarrow \mathbf{X} + \operatorname{attention}(\operatorname{norm}_1(\mathbf{X})) \\
#    \mathbf{X} &\leftarrow \mathbf{X} + \operatorname{mlp}(\operatorname{norm}_2(\mathbf{X})) \end{aligned} $$

# %% tags=["demo"]
# @title A block, drawn
figures.show(
    figures.training.block(),
    caption="A block. What comes in goes straight through; attention and mlp look at it and add something.",
)

# %% [markdown]
# Two ideas in this picture made deep models trainable.
#
# - **Adding** instead of replacing: a **residual connection**. However many blocks are stacked, a straight way leads
#   from the loss back to the first table, and gradients do not fade on it. A block that has learned nothing yet does
#   little harm.
# - **Normalising** before each detour. `nn.LayerNorm(D)`, **layer normalisation**, brings the `D` numbers of each place
#   to mean 0 and variance 1 (and then stretches and shifts each by something learned), so that attention and mlp see
#   numbers of the same size in the first block and in the last. The paper of 2017 normalised *after* adding; before,
#   called **pre-norm**, trains more willingly and is what nearly everybody does now.
#
# ### Exercise 3: `TransformerBlock(d_model, n_heads, dropout=0.0)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# You have built attention three times. Here you take the built-in one. `__init__` makes the parts, after the usual
# first line `super().__init__()`, and `forward` leads $\mathbf{X}$ through them. The parts have these names:
#
# | name | what |
# |---|---|
# | `norm_1`, `norm_2` | `nn.LayerNorm` over the width |
# | `attention` | `nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)` |
# | `mlp` | `nn.Sequential` of a Linear to `4 * d_model`, `nn.GELU()`, and a Linear back, both Linears with bias |
#
# `mask` is boolean, `(T, T)`, True = blocked: the convention of `nn.MultiheadAttention`, which calls it `attn_mask`.
#
# **On paper.** Width 2, one place, $\mathbf{x} = (3, 1)$. The mean is 2 and the deviation 1, so
# $\operatorname{norm}_1(\mathbf{x}) = (1, -1)$. A single place can only attend to itself; if all of attention's
# matrices are the identity it gives back $(1, -1)$, and $\mathbf{x}$ becomes $(4, 0)$. If the mlp's last Linear is all
# 0, the block returns $(4, 0)$. (What would come out if you forgot to add? And if you added the normalised
# $\mathbf{x}$?)

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(TransformerBlock)


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
check(TransformerBlock)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(TransformerBlock)
### END HIDDEN TESTS

# %% [markdown]
# ## 5. A block of today
#
# ### Step: normalise without a mean

# %%
def rms_norm(x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
    """x (..., D) divided by its root mean square over the last dimension, with 1e-6 under the root, times gain (D,)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(rms_norm)

# %% [markdown]
# ### Step: a gate


# %%
def swiglu(x: torch.Tensor, W_gate: torch.Tensor, W_up: torch.Tensor, W_down: torch.Tensor) -> torch.Tensor:
    """The gated layer: x (..., D), W_gate and W_up (F, D), W_down (D, F), as nn.Linear keeps them. Returns (..., D)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(swiglu)

# %% [markdown]
# ### Step: rotate by the position


# %%
def rotate(x: torch.Tensor) -> torch.Tensor:
    """RoPE with base 10000: row t of x (..., T, K) is rotated by position t, neighbouring pairs. Returns (..., T, K)."""
    raise NotImplementedError  # replace this line


# %% tags=["demo"]
check(rotate)

# %% [markdown]
# ### Exercise 4: `ModernBlock(d_model, n_heads, hidden, rotates=True)`
#
# *Difficulty ★★★ · about 15 minutes*

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(ModernBlock)


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
        self.W_gate, self.W_up = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
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
check(ModernBlock)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(ModernBlock)
### END HIDDEN TESTS

# %% [markdown]
# The rest of a language model is short. A table gives each letter a vector, and each place has a vector of its own,
# made of sine waves as in the paper of 2017 (they are the clocks of lesson 7: added to the words here, where RoPE would
# turn queries and keys). The blocks follow, a last norm, and a matrix that reads out $N$ logits. The causal mask is the
# one of lesson 5 (*review*), so this is a decoder.


# %%
class BuiltInBlock(nn.TransformerEncoderLayer):
    """Stand-in: PyTorch's own block, set to pre-norm and GELU. It has no biases, and drops out in more places."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        sizes = {"nhead": n_heads, "dim_feedforward": 4 * d_model, "dropout": dropout}
        # `F.gelu` itself makes PyTorch 2.2 take a short cut that needs biases
        how = {"activation": lambda x: F.gelu(x), "batch_first": True, "norm_first": True, "bias": False}
        super().__init__(d_model, **sizes, **how)

    def forward(self, x, mask=None):
        return super().forward(x, src_mask=mask)


Block = use(TransformerBlock, otherwise=BuiltInBlock)


class LanguageModel(nn.Module):
    """Ids (B, T), with T up to block_size -> logits (B, T, N) of what comes next at each place."""

    def __init__(self, block, n_tokens=N, block_size=64, d_model=64, n_heads=4, n_blocks=2, dropout=0.0):
        super().__init__()
        self.block_size, self.n_heads = block_size, n_heads
        self.tokens = nn.Embedding(n_tokens, d_model)
        nn.init.normal_(self.tokens.weight, std=0.5)
        # A buffer belongs to the model and goes with it to a GPU, but is not trained
        angles = torch.arange(block_size)[:, None] * 10.0 ** (-torch.arange(0, d_model, 2) / d_model)
        self.register_buffer("places", torch.cat([angles.sin(), angles.cos()], dim=-1) / 2)  # (block_size, D)
        self.register_buffer("mask", torch.ones(block_size, block_size, dtype=torch.bool).triu(1))
        self.blocks = nn.ModuleList(block(d_model, n_heads, dropout) for _ in range(n_blocks))
        self.norm, self.read = nn.LayerNorm(d_model), nn.Linear(d_model, n_tokens)

    def forward(self, ids):
        T = ids.shape[1]
        x = self.tokens(ids) + self.places[:T]
        for block in self.blocks:
            x = block(x, self.mask[:T, :T])
        return self.read(self.norm(x))


def make_model(seed=0, **sizes):
    """A model with reproducible weights, on the device; of PyTorch's blocks, should yours fail at this size."""
    for block in (Block, BuiltInBlock):
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(seed)
            model = LanguageModel(block, **sizes).to(device)
            try:
                for T in (model.block_size, 2):
                    model(torch.zeros(1, T, dtype=torch.int64, device=device))
                break
            except Exception as error:
                print(f"Your TransformerBlock stumbles over a text of {T}, so PyTorch's is taken: {error}")
    return model


# %% [markdown]
# ### Predict first
#
# What is the loss of a model that has not been trained at all? Less than the uniform line, more, or
# about the same?
#
# <details><summary>Answer</summary>
#
# About the same, a little above: $\ln N$ is the loss of somebody who knows nothing and says so. A new model knows
# nothing and has slight, random opinions, and they cost a little. It is the first check of every training: a loss at
# step 0 far above $\ln N$ means that the logits begin too large, one far below means that the answer leaks in.
#
# </details>

# %% tags=["demo"]
model = make_model()
at_first = loss_of(model(train_ids[None, :64]), train_ids[None, 1:65]).item()
print(f"{sum(p.numel() for p in model.parameters()):,} parameters; loss {at_first:.2f}, uniform {lines['uniform']:.2f}")
print("Blocks:", Block.whose)

changed = train_ids[:64].clone()
changed[-1] = (changed[-1] + 1) % N
with torch.no_grad():
    moved = (model(changed[None]) - model(train_ids[None, :64]))[0].abs().amax(-1)  # (T,)
print(
    f"After a change of the last letter, logits move by {moved[-1]:.2f} there and by {moved[:-1].max():.0e} before it."
)

# %% [markdown]
# The last line is the second check, from lesson 5: change the last letter, and no logits before it may move. It takes a
# moment, and it would have caught the most embarrassing of the bugs in section 13.

# %% [markdown]
# ## 5. How large a step?
#
# *Review* of lessons 0 and 3: the gradient says in which direction the loss rises. **Gradient descent** goes the other
# way, by a step of a size that you choose, the **learning rate** $\eta$:
#
# $$ \theta \leftarrow \theta - \eta \, \nabla_\theta \mathcal{L} $$
#
# where $\theta$ stands for all parameters. Suppose there is one, and the loss is $\tfrac12 \theta^2$. Its gradient is
# $\theta$ itself, so each step multiplies $\theta$ by $1 - \eta$.
#
# ### Predict first
#
# For which $\eta$ does it arrive at the bottom at once? From which $\eta$ on does it never arrive? Decide, then run the
# cells and move the slider.


# %%
def descend(rate):
    """A picture of eight steps down a parabola."""
    path = [2.0]
    for _ in range(8):
        path.append(path[-1] - rate * path[-1])
    return figures.training.descent(path, f"learning rate {rate}")


# %% tags=["demo"]
# @title Slider: eight steps down a parabola
sliders.slider(
    descend,
    start={"rate": 0.5},
    strip=[0.1, 1.0, 1.8, 2.1],
    rate=[0.02, 0.1, 0.3, 0.5, 0.8, 1.0, 1.3, 1.6, 1.8, 1.9, 2.0, 2.1],
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# At $\eta = 1$ it arrives in one step. Below, it creeps; between 1 and 2 it overshoots, and still arrives; at 2 it
# jumps to and fro for ever, and beyond 2 every step makes things worse. And 2 is a property of *this* parabola: where
# the loss bends twice as sharply, 1 is the limit. A model has directions of every sharpness at once, and nobody knows
# the sharpest.
#
# </details>
#
# So one tries rates, and changes them on the way. At the beginning all is random and gradients are large and
# contradictory: **warm up** from almost nothing. In the middle go as fast as you can. Towards the end steps must become
# small, to settle down into the valley instead of jumping across it. A line up and half a cosine down is the usual
# shape. With $n$ for the step, counted from 0, $n_{\text{warm}}$ for the steps of warm-up and $n_{\text{total}}$ for
# all steps,
#
# $$ \eta_n = \begin{cases} \eta_{\text{peak}} \, \dfrac{n + 1}{n_{\text{warm}}} & n < n_{\text{warm}} \\[1.2ex]
#    \eta_{\text{floor}} + (\eta_{\text{peak}} - \eta_{\text{floor}}) \, \dfrac{1 + \cos(\pi r)}{2}
#    & n \ge n_{\text{warm}} \end{cases}
#    \qquad r = \min\!\left(1, \frac{n - n_{\text{warm}}}{n_{\text{total}} - n_{\text{warm}}}\right) $$
#
# ### Exercise 4: `learning_rate(step, warmup, total, peak, floor=0.0)`
#
# *Difficulty ★☆☆ · about 6 minutes*
#
# **On paper.** Four steps of warm-up, twelve in all, peak 0.1. Step 0 has $0.1 \cdot \tfrac14 = 0.025$, step 3 has
# $0.1$, and so has step 4, where $r = 0$. Half-way down, at step 8, $r = \tfrac12$ and the cosine is 0: $0.05$. Without
# warm-up (`warmup=0`) step 0 has the peak. Raise a `ValueError` unless `0 <= warmup < total`.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(learning_rate)


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
check(learning_rate)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(learning_rate)
### END HIDDEN TESTS


# %%
def in_stairs(step, warmup, total, peak, floor=0.0):
    """Stand-in: half the peak while it warms up, then from the peak to the floor in five stairs."""
    if step < warmup:
        return peak / 2
    stair = min(4, 5 * (step - warmup) // (total - warmup))  # 0 … 4
    return peak + (floor - peak) * stair / 4


rate = use(learning_rate, otherwise=in_stairs)

# %% tags=["demo"]
# @title Three schedules
shapes = {"warm-up 100": (100, 0.0), "no warm-up": (0, 0.0), "warm-up 400, floor 0.001": (400, 1e-3)}
figures.show(
    figures.curves(
        range(1000),
        {name: [rate(n, warmup, 1000, 4e-3, floor) for n in range(1000)] for name, (warmup, floor) in shapes.items()},
        xlabel="step",
        ylabel="learning rate",
    ),
    alt=f"Three curves of the learning rate over 1000 steps with a peak of 0.004, by {rate.whose}. Each begins low for as "
    "long as it warms up, if it does, and comes down from the peak to its floor afterwards.",
    caption=f"The learning rate over a thousand steps, by {rate.whose}.",
)

# %% [markdown]
# ## 6. One step
#
# Now the step itself. In PyTorch gradients *add up*: `backward()` adds to what lies in `.grad`, it does not replace it.
# That is useful for batches that do not fit into memory, and a trap for everybody else. So a step is
#
# 1. put the model into training mode (dropout on, if it has any);
# 2. clear the old gradients;
# 3. compute the loss;
# 4. `backward()`: the gradient of the loss with respect to every parameter;
# 5. **clip** it;
# 6. let the optimizer step.
#
# Clipping guards against the one batch in a thousand whose gradient is enormous. Take *all* gradients as one long
# vector $g$. If it is longer than 1, shorten it to length 1 and keep its direction:
#
# $$ g \leftarrow g \cdot \min\!\left(1, \frac{1}{\lVert g \rVert}\right) $$
#
# And the optimizer? Plain gradient descent is `torch.optim.SGD`. For transformers people take **AdamW**, a variant of
# the Adam of earlier lessons. It keeps a running mean of each parameter's gradient and of its square, and divides one
# by the root of the other: so a parameter with small gradients takes steps as large as one with great ones, and $\eta$
# is about the size of a step, whatever the loss is. The W stands for **weight decay**: in every step each parameter
# also shrinks towards 0 by a very small share, so that what the loss does not ask for fades away. Your function need
# not know: it gets the optimizer ready made.
#
# ### Exercise 5: `train_step(model, optimizer, inputs, targets)`
#
# *Difficulty ★★☆ · about 8 minutes*
#
# Return the loss as a plain `float`: the one that you computed in 3, before the step. Over all positions, without
# exception. You may use your `language_model_loss` or PyTorch's `cross_entropy`.
#
# **On paper.** Two parameters with the gradient $(3, 4)$, SGD with $\eta = 0.1$. The length is 5, clipped the gradient
# is $(0.6, 0.8)$, and the parameters move by $(-0.06, -0.08)$. With the gradient $(0.3, 0.4)$ nothing is clipped.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(train_step)


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
check(train_step)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(train_step)
### END HIDDEN TESTS

# %% [markdown]
# Before you train on everything, **learn one batch by heart**. It is the best test that training has to offer, and it
# takes seconds: a model with a hundred thousand parameters must be able to memorise a few hundred letters, down to a
# loss near 0. If it cannot, something between the data and the optimizer is broken, and no amount of text will mend it.
# Until your function passes, the step of lessons 6 and 7 stands in: it neither clips nor cares about modes.


# %%
def plain_step(model, optimizer, inputs, targets):
    """Stand-in: the step of lessons 6 and 7."""
    logits = model(inputs)
    loss = F.cross_entropy(logits.mT, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# %% tags=["demo"]
step = use(train_step, otherwise=plain_step)
parrot = make_model(block_size=32)
optimizer = torch.optim.AdamW(parrot.parameters(), lr=3e-3)
few = batch(train_ids, 32, 8, torch.Generator().manual_seed(8))  # inputs and targets, (8, 32)
others = batch(held_out, 32, 64, torch.Generator().manual_seed(9))  # from pages it does not train on
by_heart, elsewhere = [], []
for i in range(100):
    if i % 10 == 0:
        with torch.no_grad():
            elsewhere.append(loss_of(parrot(others[0]), others[1]).item())
    by_heart.append(float(step(parrot, optimizer, *few)))

# %% tags=["demo"]
# @title The loss on the one batch, and on pages that were held out
figures.show(
    figures.losses(
        {"the one batch": by_heart, "held out": (range(0, 100, 10), elsewhere)},
        {"uniform": lines["uniform"]},
        ylabel="loss in nats",
    ),
    caption=f"One batch, a hundred times, by {step.whose}. The batch is known by heart; about the rest of the story the model "
    "has learned little, and it is more and more surely wrong.",
)

# %% [markdown]
# ## 7. Looking without touching
#
# The second curve of that picture is the one that counts. To measure it you have to look without touching: no
# gradients, no dropout, and afterwards everything as it was.
#
# - `model.eval()` switches dropout off (and makes layers like batch norm use their running statistics instead of this
#   batch). It says nothing about gradients.
# - `torch.no_grad()` computes without noting down how: faster, with much less memory. It says nothing about dropout.
# - And somebody is in the middle of training. If the model was in training mode, it must be so again when you return;
#   if it was in eval mode, it must stay there.
#
# ### Predict first
#
# A model with dropout is in training mode. You measure its loss on the same text twenty times,
# without any training in between. How many different numbers do you get? Are they greater or smaller than the one of
# eval mode?
#
# <details><summary>Answer</summary>
#
# Twenty, since dropout strikes out other weights each time. And nearly all greater: a model with pieces missing is a
# worse model. The picture below the exercise shows it for a model with some training, once your function passes.
#
# </details>
#
# ### Exercise 6: `evaluate(model, inputs, targets)`
#
# *Difficulty ★★☆ · about 6 minutes*
#
# Return the mean loss over all positions of `inputs` and `targets`, both `(B, T)`, as a plain `float`.
#
# **On paper.** Three questions to your code. The model comes in training mode: in which mode is it when you leave? It
# comes in eval mode: and now? Does anything in your function call `backward`, or could it?

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(evaluate)


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
check(evaluate)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(evaluate)
### END HIDDEN TESTS


# %%
def as_it_stands(model, inputs, targets):
    """Stand-in: the loss in whatever mode the model is in."""
    with torch.no_grad():
        return F.cross_entropy(model(inputs).mT, targets).item()


# %% tags=["demo"]
measure = use(evaluate, otherwise=as_it_stands)
with torch.random.fork_rng(devices=[]):
    torch.manual_seed(3)
    leaky = make_model(block_size=32, dropout=0.3)
    optimizer = torch.optim.AdamW(leaky.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(3)
    for _ in range(60):
        step(leaky, optimizer, *batch(train_ids, 32, 16, generator))
    leaky.train()
    noisy = [as_it_stands(leaky, *others) for _ in range(20)]
    steady = [float(measure(leaky, *others)) for _ in range(20)]

# %% tags=["demo"]
# @title Twenty measurements of either kind
figures.show(
    figures.training.modes(noisy, steady, measured=measure.whose),
    caption="One model, one text, twenty measurements each."
    + ("" if measure.passes else " The stand-in leaves the model in training mode: both rows should look alike."),
)

# %% [markdown]
# ## 8. Writing
#
# A model that says what comes next can write: draw a letter from its probabilities, append it, ask again. Each letter
# is predicted from all that stands before it, the ones that the model has just written included (it is
# *autoregressive*, in the word of lesson 5):
#
# $$ w_{t+1} \sim \operatorname{softmax}\!\left( \frac{\mathbf{z}_t(w_0, \dots, w_t)}{\tau} \right) $$
#
# where $\mathbf{z}_t$ are the logits of the *last* place and $\tau$ is the **temperature** of lesson 2. At 1 the model
# writes as it thinks; below, it keeps to what is likely; $\tau = 0$ is short for always taking the likeliest letter,
# called **greedy** (dividing by 0 is a bad way to get there). Two things are easy to miss. The model takes at most
# `block_size` tokens: when the text grows longer, show it the *last* ones. And writing is looking without touching,
# just as measuring is.
#
# ### Exercise 7: `generate(model, prompt, n_tokens, temperature=1.0, generator=None)`
#
# *Difficulty ★★★ · about 15 minutes*
#
# The prompt is `(B, T)`, several texts at once; the result is the prompts with `n_tokens` more in each row. All
# randomness comes from `generator`, which lives on the CPU (so on a GPU, bring the probabilities to the CPU to draw).
#
# **On paper.** A model knows only this: after 0 comes 1, after 1 comes 2, after 2 comes 3, and after 3 comes 0. Greedy,
# with the prompts $(0)$ and $(2)$ and five tokens to add, the rows become $(0, 1, 2, 3, 0, 1)$ and $(2, 3, 0, 1, 2,
# 3)$.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(generate)


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
check(generate)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(generate)
### END HIDDEN TESTS

# %% [markdown]
# Until your function passes, a stand-in writes that knows no probabilities: it takes the likeliest letter or, now and
# then, the second, the more often the higher the temperature. Here is what a model writes that has learned nothing yet.
# The darker the ground, the more surprising was the letter to the model itself; more than 3 nats are underlined.


# %%
def first_or_second(model, prompt, n_tokens, temperature=1.0, generator=None):
    """Stand-in: each next letter is the likeliest one or, with a chance of temperature / 5, the second."""
    text = prompt
    for _ in range(n_tokens):
        with torch.no_grad():
            two = model(text[:, -model.block_size :])[:, -1].topk(2).indices  # (B, 2)
        second = torch.rand(len(text), 1, generator=generator) < temperature / 5
        text = torch.hstack([text, two.gather(1, second.long().to(text.device))])
    return text


@torch.no_grad()
def foresight(model, ids):
    """Logits (L - 1, N) for what comes after each letter of a text (L,), from the block_size letters before it."""
    T = model.block_size
    model.eval()
    first = model(ids[None, :T])[0]  # what comes after the first letters
    return torch.cat([first, model(ids[1:].unfold(0, T, 1))[:, -1]])[: len(ids) - 1] if len(ids) > T else first[:-1]


write = use(generate, otherwise=first_or_second)


# %% tags=["demo"]
# @title A page by the untrained model
def page(model, temperature, prompt="In the ", n_letters=240):
    """What the model writes after a prompt: the picture of it."""
    generator = torch.Generator().manual_seed(11)
    ids = write(model, encode(prompt)[None], n_letters, temperature, generator)[0]
    likely = foresight(model, ids).log_softmax(-1).gather(-1, ids[1:, None])[:, 0]  # (L - 1,)
    surprise = F.pad(-likely, (1, 0)).cpu()  # nothing predicts the first letter
    return figures.training.page(decode(ids), surprise, f"temperature {temperature},\nby {write.whose}", width=40)


figures.show(page(model, 1.0), caption="Before training.")

# %% [markdown]
# ## 9. Training it
#
# Everything is ready. What remains is the loop that puts the parts together.
#
# ### Exercise 8: `train(model, data, steps, batch_size, generator, peak=3e-3)`
#
# *Difficulty ★★☆ · about 10 minutes*
#
# Make an AdamW optimizer for the model's parameters. Then, `steps` times: set the learning rate of this step (an
# optimizer keeps it in `optimizer.param_groups`, a list of dictionaries, under `"lr"`), with a warm-up over the first
# tenth of the steps and a floor of 0; draw a batch of windows as long as `model.block_size`; do one step. Return all
# losses, a list of floats. You may call everything that you have written; what is wrong in an earlier exercise does not
# cost you here again. What counts is how well the trained model does on a text that it has not seen.
#
# **On paper.** With `steps=10` there is one step of warm-up. The rates of the steps 0, 1 and 2, as shares of the peak,
# are 1, 1 and 0.97. How many times is your optimizer made? (Once. One that is made anew in every step forgets its
# running means, and the rate with them.)

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(train)


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
check(train)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(train)
### END HIDDEN TESTS

# %% [markdown]
# And now for real: two blocks of four heads, width 64, a thousand steps with sixteen windows of 64 letters. On a CPU it
# takes about half a minute; on a GPU the same cell takes the GPU. The bar counts the steps of the optimizer from
# outside, so it works with your loop as it is. Every hundred steps it calls `look`, which measures the held-out pages.
#
# ### Predict first
#
# Write down two numbers: the held-out loss after a thousand steps, and the loss on the training text.


# %% tags=["demo"]
def plain_training(model, data, steps, batch_size, generator, peak=3e-3):
    """Stand-in: a loop without a schedule."""
    optimizer = torch.optim.Adam(model.parameters(), lr=peak / 2)
    return [step(model, optimizer, *batch(data, model.block_size, batch_size, generator)) for _ in range(steps)]


def all_windows(ids, T):
    """A text in consecutive windows: inputs and targets, (n, T) each."""
    n = (len(ids) - 1) // T
    return ids[: n * T].view(n, T), ids[1 : n * T + 1].view(n, T)


# %% tags=["demo"]
learn = use(train, otherwise=plain_training)
unseen = all_windows(held_out, model.block_size)
untrained = {name: value.clone() for name, value in model.state_dict().items()}
seen_at, held_out_losses = [], []
steps = 1000
model.train()


def look(done):
    seen_at.append(done)
    held_out_losses.append(float(measure(model, *unseen)))
    return f"held out {held_out_losses[-1]:.2f}"


with TrainingProgress(model, steps, look, every=steps // 10):
    losses = learn(model, train_ids, steps, 16, torch.Generator().manual_seed(0), 4e-3)
training_losses = [float(loss) for loss in losses]
reached = held_out_losses[-1]

# %% tags=["demo"]
# @title The loss in training and on the held-out pages, with three lines to beat
figures.show(
    figures.losses(
        {"training": training_losses, "held out": (seen_at, held_out_losses)}, lines, every=20, ylabel="loss in nats"
    ),
    caption=f"Trained by {learn.whose}. Held out {reached:.2f}, which is {lines['bigram'] - reached:.2f} below the bigram.",
)

# %% tags=["demo"]
print(
    f"held out: {reached:.3f} nats a letter; bigram {lines['bigram']:.3f}, unigram {lines['unigram']:.3f}, uniform",
    end=" ",
)
print(f"{lines['uniform']:.3f}. Training, last 50 steps: {sum(training_losses[-50:]) / 50:.3f}")

# %% [markdown]
# Read the curve from the left. In the first steps the model learns how frequent the letters are and falls onto the
# unigram line. Then it learns pairs, and passes the bigram line within a hundred steps or two: from there on it
# *must* be using more than the last letter, which means attention. Later the two curves part: the model begins to
# overfit. What it now learns of the training text by heart is of no use on pages it has not seen; with a text this
# short that comes soon. Had you trained without holding anything out, you would be proud of the wrong number.
#
# What does it write now? The slider changes the temperature; the prompt is the one from before.

# %% tags=["demo"]
# @title Slider: what the trained model writes at each temperature
temperatures = [0, 0.3, 0.6, 0.8, 1.0, 1.3]
sliders.slider(lambda temperature: page(model, temperature), start=0.6, strip=[0, 0.6, 1.3], temperature=temperatures)

# %% [markdown]
# It makes no sense, and yet: every letter of it comes from a model that began with noise, saw forty thousand letters
# and was never told what a word is. Now many of its words are words, with blanks between them, and what follows a full
# stop begins with a capital. At temperature 0 a model as small as this runs in circles; at 1.3 it loses itself.
#
# The line from section 3 again, with the bigram and with the model that you trained:

# %% tags=["demo"]
# @title The line once more, by bigram and by model
by_model = letter_by_letter(foresight(model, quote), quote)
figures.show(
    figures.training.surprise(quoted[1:], {"bigram": by_counting["bigram"], "the trained model": by_model}),
    caption="The same held-out line. What surprise is left stands mostly where a word begins, or could go on in several ways.",
)

# %% [markdown]
# ### With your own attention
#
# Your blocks have PyTorch's attention inside. You have written your own since lesson 3, so let it stand in its place:
# the `RotarySelfAttention` of lesson 7, with the `causal_mask` of lesson 5. Both are looked for in this notebook, and in
# the saved notebooks of those lessons beside it; what is not found, or does not pass there, PyTorch does. The sine waves
# are switched off: turning queries and keys tells the places.
#
# To know whether yours is right, train its **twin** beside it: the same blocks, the same random numbers to begin with,
# the same batches, and inside, instead of your code, PyTorch's operations.
#
# Both get another text, with more in it than the story: tales from the same harbour, made up by a small program, as many
# as you like.
#
# ### Predict first
#
# Sixty steps each. How far apart will the two curves be: a tenth of a nat, a hundredth, less than a thousandth?

# %% tags=["demo"]
from course import staged_model, torch_fallbacks
from course.models.story_corpus import generate_stories

rotary = staged_model.find_prior_answer("RotarySelfAttention", otherwise=torch_fallbacks.RotarySelfAttention)
mask_for = staged_model.find_prior_answer("causal_mask", otherwise=torch_fallbacks.causal_mask)


def rotating(attention):
    """A new model with this attention in its blocks, and without sine waves."""
    made = staged_model.with_new_attention(make_model(block_size=32), attention)
    made.places.zero_()
    made.mask.copy_(mask_for(32))
    return made


told = encode(generate_stories(400_000))
told_ids, told_unseen = told[:396_000], all_windows(told[396_000:], 32)
own, twin = rotating(rotary), rotating(torch_fallbacks.RotarySelfAttention)
twin.load_state_dict(own.state_dict())
own_losses, twin_losses = [], []
for each, found in ((own, own_losses), (twin, twin_losses)):
    turn = itertools.count()  # where `in_order` stands in it begins anew, so that both get the same batches
    found += map(float, learn(each, told_ids, 60, 16, torch.Generator().manual_seed(0), 6e-3))
apart = max(abs(a - b) for a, b in zip(own_losses, twin_losses, strict=True))

# %% tags=["demo"]
# @title The two curves
figures.show(
    figures.losses({"with your attention" if rotary.passes else "yours to come": own_losses, "the twin": twin_losses}),
    caption=f"Inside the blocks: {rotary.whose}, and for the twin PyTorch. Mask: {mask_for.whose}. "
    f"The curves are nowhere more than {apart:.6f} nats apart.",
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# A few hundred thousandths at the most, and all of it rounding: sums in another order, which each step hands on to the
# next. (Where PyTorch stands in for yours, the two are the same, and nothing separates them.) Two computations of the
# same thing with the same weights *must* agree, not in their shape but in their digits. A curve that merely looks like
# the other would have proved nothing, as lesson 6 has shown.
#
# </details>
#
# ### How much text?
#
# The story is short, and what the model wrote from it were words at best. Now the same model, with the attention from
# above, learns from 2,000 letters of the tales, from 20,000, and from 396,000: each time with three hundred steps.
#
# ### Predict first
#
# Which of the three has the lowest loss on its *training* text? Which on pages that none of them has seen?


# %% tags=["demo"]
def learnt_from(n_letters, steps=300):
    """The model that so many letters of the tales make, its loss in the last steps, and on pages it has not seen."""
    made = rotating(rotary)
    found = learn(made, told_ids[:n_letters], steps, 16, torch.Generator().manual_seed(0), 6e-3)
    return made, sum(map(float, found[-20:])) / 20, float(measure(made, *told_unseen))


lengths = [2_000, 20_000, 396_000]
of_length = {n_letters: learnt_from(n_letters) for n_letters in lengths}
for n_letters, (_, seen, unseen_loss) in of_length.items():
    print(f"{n_letters:7,} letters: training {seen:.2f}, held out {unseen_loss:.2f} nats a letter")

# %% tags=["demo"]
# @title The loss against the length of the text
figures.show(
    figures.curves(
        lengths,
        {"training": [of_length[n][1] for n in lengths], "held out": [of_length[n][2] for n in lengths]},
        xlabel="letters to train on",
        ylabel="loss in nats",
        limits=(0, 1.2 * max(of_length[n][2] for n in lengths)),
        log="x",
    ),
    alt="Two losses against the length of the training text. "
    + " ".join(f"{n:,} letters: training {of_length[n][1]:.2f}, held out {of_length[n][2]:.2f}." for n in lengths),
    caption=f"Three hundred steps each, by {learn.whose}.",
)

# %% [markdown]
# The least text gives the lowest training loss and by far the highest loss on unseen pages: it was learned by heart. The
# more text there is, the closer the two come to each other. From 20,000 letters on they are hardly apart here, since
# the tales repeat themselves more than people do; what is left of the loss is what nobody can know, which thing is
# found and what is said about it.
#
# And this is what the model of the longest text writes. It sees no more than 32 letters at once: so with your `generate`
# most of its sentences are whole, but who found what is forgotten a sentence later.

# %% tags=["demo"]
# @title A page by the model of 396,000 letters
begun = "One morning Mara walked to the "
figures.show(page(of_length[lengths[-1]][0], 0.5, begun), caption=f"It went on from: {begun}…")

# %% [markdown]
# ### Where it looks
#
# The weights of all heads, before and after. A block gets $x$; your lessons 3 to 6 tell what its attention does with
# it, so the weights can be recomputed from the parameters in a few lines, whoever wrote the block.


# %%
def weights_of(block, x, mask, n_heads):
    """Recompute the attention weights of a block for its input x (T, D): (H, T, T)."""
    part = {name.replace("self_attn", "attention"): value for name, value in block.named_parameters()}
    part = {name.replace("norm1", "norm_1"): value for name, value in part.items()}  # PyTorch's names, and ours
    x = F.layer_norm(x, x.shape[-1:], part["norm_1.weight"], part.get("norm_1.bias"))
    query, key, _ = (x @ part["attention.in_proj_weight"].mT).unflatten(-1, (3, n_heads, -1)).permute(1, 2, 0, 3)
    scores = query @ key.mT / query.shape[-1] ** 0.5  # (H, T, T)
    return scores.masked_fill(mask, -torch.inf).softmax(-1)


@torch.no_grad()
def attention_maps(model, ids):
    """The weights of every head for a text of T ids: one (H, T, T) for each block."""
    came_in = []  # a hook is called with whatever its block is given
    hooks = [block.register_forward_pre_hook(lambda _, given: came_in.append(given[0][0])) for block in model.blocks]
    model.eval()
    model(ids[None])
    for hook in hooks:
        hook.remove()
    mask = model.mask[: len(ids), : len(ids)]
    return [weights_of(*pair, mask, model.n_heads).cpu() for pair in zip(model.blocks, came_in, strict=True)]


# %% tags=["demo"]
# @title The maps of all heads, before and after
phrase = "by the harbour"
newborn = make_model()
newborn.load_state_dict(untrained)
maps_before, maps_after = (attention_maps(m, encode(phrase)) for m in (newborn, model))
for i, (before, after) in enumerate(zip(maps_before, maps_after, strict=True)):
    figures.show(
        figures.training.heads({"before": before, "after": after}, phrase),
        caption=f"Block {i}: four heads over {len(phrase)} letters. Row: who looks; column: what is looked at.",
    )
for i, maps in enumerate(maps_after):
    print(f"block {i}: mean weight on the letter before, head by head:", end=" ")
    print("  ".join(f"{head.diagonal(-1).mean():.2f}" for head in maps))

# %% [markdown]
# Before training every letter looks at all letters so far about equally. Afterwards the heads have divided the work:
# some look at the letter before or the one before that, others at the beginning of the word or at the spaces. Do not
# read too much into a single map. It shows where information was taken from, not what was done with it.

# %% [markdown]
# ## 10. A head that looks back
#
# For text, a head's use is hard to name. So here is a task for which only one idea works. A sequence is a few different
# letters in random order, repeated until the window is full:
#
#     x k c d q v | x k c d q v | x k c …
#
# The first time round nothing can be predicted. From then on everything can: find the place where your letter stood
# before, and say what came after it. Nothing about single letters can be learned by heart, since every sequence is new.
#
# A head that does it is called an **induction head** ([Olsson et al. 2022](https://arxiv.org/abs/2209.11895)). It has a
# difficulty that you can work out. The place it has to look at is the one *after* the earlier occurrence, and that
# place holds another letter. How is a query to find it?
#
# <details><summary>Answer</summary>
#
# It takes two blocks. A head in the first looks at the letter before and writes into each place "my predecessor is a
# k". Then, in the second block, a place that holds a k asks "who has a k for predecessor?", and finds it. A single
# block cannot do it: its queries and keys know their own letter only.
#
# </details>
#
# So we can say what to measure. For a query at $t$ whose letter occurred before, add up the weights on the places right
# after its earlier occurrences, and take the mean over the set $R$ of all places whose letter has one:
#
# $$ \text{score} = \frac{1}{|R|} \sum_{t \in R} \;\; \sum_{s \le t,\; w_{s-1} = w_t} a_{ts} $$
#
# where $a_{ts}$ is the weight that the head's query at $t$ gives the key at $s$. 1 is a perfect induction head; one
# that looks anywhere has about 0.1 here.


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
    """bool (T, T): whether place s stands right after an earlier occurrence of the letter at place t, ids (T,)."""
    same = ids[:, None] == ids[None, :].roll(1, -1)
    same[:, 0] = False  # nothing stands before the first place
    return same.tril()


def induction_score(maps, windows):
    """The score of every head of a block, (H,): maps (B, H, T, T) for windows (B, T)."""
    wanted = torch.stack([after_earlier(ids) for ids in windows]).cpu()  # (B, T, T)
    return (maps * wanted[:, None]).sum((0, 2, 3)) / wanted.any(-1).sum()


# %% tags=["demo"]
copier = make_model(n_tokens=26, block_size=32, n_heads=2)
optimizer = torch.optim.AdamW(copier.parameters(), lr=6e-3)
generator = torch.Generator().manual_seed(0)
probe, _, predictable = repeated(32, torch.Generator().manual_seed(99))
history = {"step": [], "loss": [], "before": [], "after": [], "map": []}
steps = 500


def look(done):
    below, above = (torch.stack(block) for block in zip(*(attention_maps(copier, ids) for ids in probe)))
    after = induction_score(above, probe)  # (H,)
    best = int(after.argmax())
    with torch.no_grad():
        loss = loss_of(copier(probe), predictable).item()
    history["step"].append(done)
    history["loss"].append(loss)
    history["before"].append(below.diagonal(-1, -2, -1).mean((0, 2)).max().item())
    history["after"].append(after[best].item())
    history["map"].append(above[0, best])
    return f"score {after[best]:.2f}"


with TrainingProgress(copier, steps, look, every=steps // 20):
    for i in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = float(rate(i, steps // 10, steps, 6e-3))
        step(copier, optimizer, *repeated(32, generator)[:2])

# %% tags=["demo"]
# @title The loss, and the scores of the best heads, while it trains
figures.show(
    figures.training.forming(
        history["step"],
        history["loss"],
        {"block 1: after an earlier occurrence": history["after"], "block 0: the letter before": history["before"]},
        math.log(26),
    ),
    caption=f"Left, the loss on the letters that can be predicted. Right, the score of the best head of block 1, at last "
    f"{history['after'][-1]:.2f}, and the mean weight that the best head of block 0 gives the letter before.",
)

# %% [markdown]
# At first next to nothing happens. Then, within some fifty steps, the loss falls off a cliff, and in the same moment
# the score of a head in block 1 shoots up. Half an induction head is worth nothing: to look after the earlier
# occurrence is of no use before the first block marks predecessors, and marking them is of no use before somebody asks.
# (The marks are rough: the best head of block 0 spreads its weight over a few letters before. Since all letters of a
# sequence differ, that is exact enough.) Large models go through the same moment, and their loss curves have a bump
# there.
#
# Watch the map form. Framed are the cells where an induction head would look; a letter that has no earlier occurrence
# has to look somewhere, and most choose the first place.

# %% tags=["demo"]
# @title Slider: the map of the best head while it trains
shown = probe[0, :20]
framed = after_earlier(shown).cpu()


def forming_map(steps):
    """The map of the best head of block 1 after so many steps."""
    i = history["step"].index(steps)
    title = f"after {steps} steps: score {history['after'][i]:.2f}"
    return figures.training.induction(history["map"][i][:20, :20], [chr(97 + c) for c in shown.tolist()], framed, title)


stages = [history["step"][i] for i in sorted({0, len(history["step"]) // 5, len(history["step"]) - 1})]
sliders.slider(forming_map, start=stages[-1], strip=stages, steps=history["step"])

# %% [markdown]
# Then a sequence that it has never seen, for it to continue:

# %% tags=["demo"]
start = "mzyqhwbtmzyqh"
told = write(copier, torch.tensor([[ord(c) - 97 for c in start]], device=device), 12, temperature=0)[0, len(start) :]
print(f"{start} → {''.join(chr(97 + i) for i in told.tolist())}    (right: wbtmzyqhwbtm), by {write.whose}")
fresh, _, wanted = repeated(200, torch.Generator().manual_seed(123))
with torch.no_grad():
    right = (copier(fresh).argmax(-1) == wanted)[wanted != -100].float().mean().item()
print(f"In 200 new sequences, {right:.1%} of the letters that can be predicted are.")

# %% [markdown]
# Nobody wrote an algorithm for looking back. A loop of five lines, two blocks and a task in which looking back pays:
# the rest was found by going downhill. Much of what is called **in-context learning**, picking up a pattern from the
# prompt alone, is believed to begin with heads like this one.

# %% [markdown]
# ## 11. Nine bugs and their curves
#
# Most bugs in training raise no error. What you see is a curve. Below is one small model, trained nine times for two
# hundred steps, each time with another single line wrong.
#
# ### Predict first
#
# Which of these give a loss near 0? Which never fall at all? Which look entirely healthy? (1) no `zero_grad`; (2)
# `zero_grad` after `backward`; (3) targets not shifted; (4) targets shifted twice; (5) no causal mask; (6) a softmax
# before the cross-entropy; (7) logits and targets flattened in different orders; (8) always the same batch; (9) a
# learning rate thirty times too high.


# %% tags=["demo"]
def run_with(bug, steps=200, peak=1e-2):
    """Train a small model with one bug. Returns its training losses, and (steps, held-out losses)."""
    small = make_model(block_size=32, d_model=32, n_heads=2, n_blocks=1)
    if bug == "no causal mask":
        small.mask.zero_()
    peak = 30 * peak if bug == "rate 30 times too high" else peak
    optimizer = torch.optim.AdamW(small.parameters(), peak)
    generator = torch.Generator().manual_seed(0)
    first = batch(train_ids, 32, 16, generator)
    losses, looked_at, unseen_losses = [], [], []
    for i in range(steps):
        if i % 20 == 0:
            looked_at.append(i)
            unseen_losses.append(float(measure(small, *all_windows(held_out, 32))))
            small.train().requires_grad_()  # whatever the measurement has done to it
        for group in optimizer.param_groups:
            group["lr"] = float(rate(i, 20, steps, peak))
        inputs, targets = first if bug == "always the same batch" else batch(train_ids, 32, 16, generator)
        if bug == "targets not shifted":
            targets = inputs
        if bug == "targets shifted twice":
            inputs, targets = inputs[:, :-1], targets[:, 1:]
        logits = small(inputs)
        if bug == "softmax before the loss":
            logits = logits.softmax(-1)
        if bug == "flattened differently":
            targets = targets.mT
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        if bug != "no zero_grad":
            optimizer.zero_grad()
        loss.backward()
        if bug == "zero_grad after backward":
            optimizer.zero_grad()
        nn.utils.clip_grad_norm_(small.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return {"training": losses, "held out": (looked_at, unseen_losses)}


# %% tags=["demo"]
bugs = [
    "no zero_grad",
    "zero_grad after backward",
    "targets not shifted",
    "targets shifted twice",
    "no causal mask",
    "softmax before the loss",
    "flattened differently",
    "always the same batch",
    "rate 30 times too high",
]
healthy = run_with("")
gallery = {f"{i}. {bug}": run_with(bug) for i, bug in enumerate(bugs, 1)}

# %% tags=["demo"]
# @title The nine curves
figures.show(
    figures.training.gallery(gallery, healthy["training"], lines, every=10),
    caption="Nine runs, each with its bug. Held out is measured rightly in all.",
)

# %% tags=["demo"]
for name, curves in {"0. right": healthy, **gallery}.items():
    training, unseen_loss = curves["training"], curves["held out"][1][-1]
    print(f"{name:28} training {sum(training[-20:]) / 20:5.2f}   held out {unseen_loss:5.2f}")

# %% [markdown]
# - **Too good to be true** (3, 5 and 8). Not shifted: the model repeats its input, which it sees. The same batch: known
#   by heart. In both the held-out curve leaves its panel at the top, and does not come back. No mask: the model looks
#   one place ahead. Note that its *held-out* loss is splendid, too, since the bug sits in the model and cheats there as
#   well; only its writing would give it away.
# - **Stuck** (2, 6 and 7). `zero_grad` after `backward`: all gradients are gone, and nothing moves. Softmax first:
#   for the loss the numbers between 0 and 1 are logits, which never get far from the uniform line. To get even there
#   the model drives its own logits far apart, and measured rightly, without that softmax, its held-out loss leaves
#   the panel at the top. Flattened differently: every target belongs to another place, so all that can be learned is
#   how frequent letters are, and the curve sits down on the *unigram* line. A curve that stops at one of your lines
#   tells you what information is missing.
# - **Merely worse** (1, 4 and 9). No `zero_grad`, shifted twice, a rate too high: they fall. Without the curve of the
#   right loop beside them, nobody would look twice. Shifted twice is the meanest: it learns to predict the letter after
#   next. Here an honest measurement betrays it; measured with the same mistake, both curves would look healthy.
#
# So look at the loss of step 0, learn one batch by heart, change one letter under the mask, and compare what you reach
# with your lines: it is a minute's work, and it catches most of the nine. For those that are merely worse, keep the
# curve of a run that you trust, and lay the new one over it.

# %% [markdown]
# ## 12. Is it a bug?
#
# **"The last window runs past the end."** In the script of a much-watched lecture a start is drawn from $0, \dots, L -
# T - 1$, inputs are `data[i : i + T]` and targets `data[i + 1 : i + T + 1]`. For the last start the targets reach to
# index $L$, which does not exist; Python cuts slices silently, so the last targets would be one letter short. The
# report proposes to draw from one start less
# ([karpathy/ng-video-lecture#56](https://github.com/karpathy/ng-video-lecture/issues/56)). **Decide, and then run the
# cell.**

# %%
data, T = torch.arange(20), 8
for start in (len(data) - T - 2, len(data) - T - 1, len(data) - T):
    piece, goal = data[start : start + T], data[start + 1 : start + T + 1]
    print(f"start {start:2}: {len(piece)} inputs, {len(goal)} targets, the last target is {goal[-1].item()}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# Not a bug. The end of a slice is not part of it: with the last start, $L - T - 1$, the targets end *before* index $L$,
# so at the last letter. The "correction" would make the last letter of the text one that is never a target. One start
# more, and the targets are indeed one short, as the third line shows. With a bound in a formula, try the last value by
# hand.
#
# </details>
#
# **"The validation loss is lower than the training loss, so something leaks."** It has been asked for as long as there
# are libraries ([keras-team/keras#472](https://github.com/keras-team/keras/issues/472)). How can a model do better on
# what it has not seen? **Decide.** Then run the cell: it trains a model with dropout, and compares the loss that the
# last steps reported with the loss on held-out pages.

# %% tags=["demo"]
with torch.random.fork_rng(devices=[]):
    torch.manual_seed(4)
    dropping = make_model(block_size=32, dropout=0.4)
    optimizer = torch.optim.AdamW(dropping.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(4)
    reported = []
    for _ in range(200):
        reported.append(float(step(dropping.train(), optimizer, *batch(train_ids, 32, 16, generator))))
    dropping.eval()
    unseen_loss = measure(dropping, *all_windows(held_out, 32))
    trained_on = measure(dropping, *all_windows(train_ids[: len(held_out)], 32))
print(f"reported while training, mean of the last 50 steps: {sum(reported[-50:]) / 50:.3f}")
print(f"held out, in eval mode:                             {unseen_loss:.3f}")
print(f"the same amount of training text, in eval mode:     {trained_on:.3f}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# Not a bug. The two numbers are not measured in the same way. The reported loss is of a model with pieces missing, and
# an average over steps in which it was worse than it is now; the held-out loss is of the whole model, now. Measured
# alike, in eval mode and at the same time, the training text has the lower loss again, as it should (last line). Only
# if *that* comparison is upside down, look for a leak.
#
# </details>

# %% [markdown]
# ## 13. Seen in the wild
#
# **A tutorial without a mask.** PyTorch's own tutorial on language models with transformers built an encoder, and for a
# while called it without a mask
# ([pytorch/tutorials#2478](https://github.com/pytorch/tutorials/issues/2478)).
#
# ```diff
# - output = self.transformer_encoder(src)
# + output = self.transformer_encoder(src, causal_mask)
# ```
#
# From outside: a perplexity of 2.9 on validation *and* test, on English words, which is too good to be true; and not
# one sensible next word when a reader tried it. It is panel 5.
#
# **Shifted twice, by two people who each meant well.** In a library the model shifted the targets, and called a loss
# function that had been rewritten to shift them as well
# ([huggingface/transformers#47394](https://github.com/huggingface/transformers/issues/47394)).
#
# ```diff
#   labels = labels[:, 1:]                     # first shift
# - loss = self.loss_function(logits, labels)  # shifts once more
# + loss = self.loss_function(logits, labels=None, shift_labels=labels)
# ```
#
# From outside: no error, since lengths were padded to fit; a loss that fell; a model trained to predict the word after
# next. It was in every release for more than a year. Panel 4.
#
# **Dropout that never sleeps.** nanoGPT called attention as a function, and a function does not know about
# `model.eval()` ([karpathy/nanoGPT#240](https://github.com/karpathy/nanoGPT/pull/240)).
#
# ```diff
# - y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout, is_causal=True)
# + y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0, is_causal=True)
# ```
#
# From outside: a validation loss that depended on the dropout, which it must not. It is the lower row of the picture in
# section 7. The same line was found in other libraries afterwards
# ([timm#1978](https://github.com/huggingface/pytorch-image-models/pull/1978)).
#
# **A mean of means.** To train with large batches on small machines, gradients of several small ones are added up. Many
# libraries took the *mean* loss of each small batch, and then the mean of those
# ([huggingface/transformers#34191](https://github.com/huggingface/transformers/pull/34191),
# [torchtune#1875](https://github.com/meta-pytorch/torchtune/pull/1875)). That is the mean over all tokens only if every
# small batch has as many tokens that count.
#
# ```diff
# - loss = sum(batch_loss.mean() for batch_loss in parts) / len(parts)
# + loss = sum(batch_loss.sum() for batch_loss in parts) / number_of_tokens_that_count
# ```
#
# From outside: with padding, a curve that lay above the one of the same training in large batches, in several
# libraries, for years. Your `language_model_loss` divides by the number of targets that count; whoever adds up several
# of them must know that number.

# %% [markdown]
# ## Summary
#
# 1. A text is its own teacher: cut windows, and let the target of every place be the letter after it.
# 2. The loss is the mean surprise in nats. It starts near $\ln N$, and counting gives lines to compare with.
# 3. A step clears, computes, differentiates, clips, moves; a schedule goes up in a line and down in half a cosine.
# 4. Measure and write in eval mode, without gradients, on text that was held out, and leave the model as it was.
# 5. Curves lie. Learn one batch by heart, look at step 0, change the last letter, and compare with something you trust.
#
# $$ \mathcal{L} = - \frac{1}{|C|} \sum_{(b,t) \in C} \ln p_{b,t}(y_{b,t}), \qquad
#    \theta \leftarrow \theta - \eta_n \, \nabla_\theta \mathcal{L} $$
#
# **To read on:**
#
# - Karpathy, [A Recipe for Training Neural Networks](https://karpathy.github.io/2019/04/25/recipe/): how to distrust a
#   training, step by step
# - Olsson et al., [In-context Learning and Induction Heads](https://arxiv.org/abs/2209.11895)
# - Xiong et al., [On Layer Normalization in the Transformer Architecture](https://arxiv.org/abs/2002.04745): why
#   before, not after

# %% [markdown]
# ## Challenge: `top_k(logits, k)`
#
# *Challenge ★★ · not graded · about 10 minutes*
#
# A challenge is for those who want more. The same judge checks it, no grade knows of it, and you may leave it as it is.
#
# Your `generate` may draw any token, however unlikely, and in a long text it will: of 1,000 letters, each with one chance
# in a hundred to be nonsense, about ten are. So one often draws among the `k` likeliest only, which is called **top-k
# sampling**: all others get a share of exactly 0, and what is left sums to 1.
#
# `logits` is `(..., N)`, and so is the result, the probabilities. Two things are to be decided, and here they are decided
# so: a token whose logit equals the k-th greatest of its row is kept, too, even if they are then more than `k`, for nothing
# would tell which to drop; and where `k` is greater than $N$, all are kept. Every row has at least one finite logit; a logit
# may be −∞, and its share is 0 in any case. Raise a `ValueError` that names `k` if it is below 1.
#
# **On paper.** The logits $(\ln 1, \ln 4, \ln 2, \ln 3)$ and k = 2: the second and the fourth are kept, and the
# probabilities are $(0,\; \tfrac47,\; 0,\; \tfrac37)$. Of $(\ln 2, \ln 2, \ln 1)$ and k = 1, what is left?
#
# Once it passes, put it into your `generate` in the place of the softmax, with the logits divided by the temperature, and
# let the model write with a k of 3 and of 20.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(top_k)


# %%
def top_k(logits: torch.Tensor, k: int) -> torch.Tensor:
    """The probabilities of the tokens whose logit is among the k greatest of its row, equals included; all others 0.

    logits: (..., N), a finite one in every row. Returns the same shape. ValueError if k < 1.
    """
    raise NotImplementedError  # take this line out, and write yours


# %% tags=["demo"]
check(top_k)

# %% [markdown]
# ## The end of the core
#
# Eight lessons ago a dot product was a sum. This is what you have built since, every line of it tested:
#
# | lesson | you built | it answers |
# |---|---|---|
# | 1 | dot products, cosine similarity | how alike are two vectors? |
# | 2 | softmax, entropy | how do scores become shares of one whole? |
# | 3 | embeddings, queries, keys, values, attention | how does a word take from others what it needs? |
# | 4 | the scale, dropout | why divide by $\sqrt{d_k}$? |
# | 5 | masks, and a detector of leaks | what may a word not see? |
# | 6 | heads | how are several questions asked at once? |
# | 7 | rotary positions | where does a word stand? |
# | 8 | batches, loss, block, step, training, writing | how does it learn? |
#
# A large language model is made of these parts. What it has beyond them is size, data, and much engineering to keep
# thousands of machines busy. Four ways on from here:
#
# - **Go on in this course.** Lessons 9 to 12, in any order: a cache that makes writing fast, attention in tiles, a
#   model of GPT-2's form opened, and two sequences at once.
# - **Make this one better.** Show it more letters at once, give it more blocks, a longer story of your own; try dropout
#   against knowing by heart. The lines of section 3 tell you whether it helped.
# - **Read a real one.** [nanoGPT](https://github.com/karpathy/nanoGPT) is your section 9 on a whole GPU, in two short
#   files; [The Annotated Transformer](https://nlp.seas.harvard.edu/annotated-transformer/) walks through the paper line
#   by line.
# - **Look inside.** [A Mathematical Framework for Transformer
#   Circuits](https://transformer-circuits.pub/2021/framework/index.html) takes models of two blocks apart, as you did
#   in section 10.
#
# And a page to keep. It is written to `attention.html` beside this notebook as soon as an exercise passes, on a computer of
# your own.

# %% tags=["demo"]
# @title A page to keep: what you built, and what your model looks at
from course import keepsake

keepsake(
    figures.training.heads({"after training": maps_after[-1]}, phrase),
    alt=f"The weights of the last block's heads over the letters of '{phrase}', each letter looking back.",
    caption=f"Where the heads of the last block look in “{phrase}”. Trained by {learn.whose}.",
)

# %% tags=["demo"]
progress()
