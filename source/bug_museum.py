# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # The bug museum
#
# Each of these bugs shipped in public code, and most of them raised no error. **Here you see what somebody saw from outside. Can
# you find what is wrong?**
#
# The halls are sorted by symptom. At each specimen, read what was seen, run the specimen and the cell below it, and correct the
# specimen until that cell says ✓. Then unfold what it was. Specimens are rebuilt in a few lines; the links lead to the originals.
# Nothing here has points or is handed in, and you can begin in any hall.
#
# | hall | what you see |
# |---|---|
# | 1 | The loss or the accuracy is too good to be true |
# | 2 | The model learns, but badly, or stops early |
# | 3 | NaN, or an error for something that is right |
# | 4 | Right alone, wrong in a batch |
# | 5 | Right at first, wrong in a long text |
# | 6 | Right weights, wrong outputs |
# | 7 | Numbers that look plausible |
# | 8 | Reported as a bug, and none |

# %% tags=["code"]
import math

import torch
import torch.nn.functional as F
from torch import nn

x = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))  # six tokens of width 4
future = torch.ones(6, 6, dtype=torch.bool).triu(1)  # True: the key is after the query


def attend(scores, value):
    """The values, averaged with the softmax of the scores."""
    return scores.softmax(-1) @ value


def scores_of(query, key):
    """Scaled scores, (T, S)."""
    return query @ key.mT / query.shape[-1] ** 0.5


def leak(attention, x=x):
    """By how much the first outputs change if only the last token does. Causal attention: 0."""
    changed = torch.cat([x[:-1], x[-1:] + 1])
    return (attention(changed)[:-1] - attention(x)[:-1]).abs().max().item()


def numbers(tensor):
    """The numbers of a vector, rounded."""
    return [round(number, 3) for number in tensor.tolist()]


def verdict(repaired, seen):
    """Say whether a specimen is repaired, and what it shows now."""
    print("✓ repaired:" if repaired else "✗ still broken:", seen)


# %% [markdown]
# ## Nine curves
#
# Before you enter: a small model, like lesson 8's, was trained nine times, each time with one bug. All else is right. The held-out
# loss is measured without the bug, but the model without a mask has none there, either. Which bugs would you notice if you saw
# only the training loss, without the grey curve?

# %% tags=["picture"]
from course import figures
from course.models import training_bugs

figures.show(figures.training.training_bugs(training_bugs.load()))

# %% [markdown]
# <details><summary>What the curves show</summary>
#
# - **Too good to be true** (3, 5, 8). Without the shift, the model repeats what it reads; a batch that is always the same is learned
#   by heart. In both, the held-out loss rises. Without a mask the model sees the next token in both measurements, so both losses are
#   low, and only the text that it writes gives the bug away.
# - **Stuck** (2, 6, 7). With `zero_grad` after `backward`, there are no gradients when the optimizer steps. After a softmax the
#   logits are from 0 to 1, and the loss cannot fall more than 1 below the uniform baseline. In 7, nearly every target belongs to
#   another position, so only frequencies can be learned: a curve that stops at a baseline shows what the model does not get.
# - **Merely worse** (1, 4, 9). Without the grey curve you would hardly notice these. In 4 the model learns the token after the next
#   one; if the measurement had the same bug, both curves would look right.
#
# Four checks find most of the nine: the loss before the first step, a single batch learned by heart, logits before a token that you
# change, and the baselines. For those that are merely worse, keep the curve of a training that you trust.
#
# </details>

# %% [markdown]
# ## 1. The loss or the accuracy is too good to be true
#
# ### Accuracy of 100 %
#
# A reader replaced a tutorial's attention layer by the framework's own. Accuracy quickly rose to 100 %, with a loss of almost 0.


# %% tags=["exercise"]
def by_the_framework(x):
    return F.scaled_dot_product_attention(x, x, x, attn_mask=future)


# %% tags=["exercise"]
verdict(leak(by_the_framework) < 1e-6, f"changing the last token moves earlier outputs by {leak(by_the_framework):.2f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# In the tutorial's layer, True meant *blocked*. In the framework's, it means *may be seen*. The debugging took hours
# ([tensorflow/text#894](https://github.com/tensorflow/text/pull/894)). Because of PyTorch's own two conventions, a mask in the
# notebooks of a book was inverted, too ([LLMs-from-scratch#1061](https://github.com/rasbt/LLMs-from-scratch/issues/1061)).
#
# ```diff
# -     return F.scaled_dot_product_attention(x, x, x, attn_mask=future)
# +     return F.scaled_dot_product_attention(x, x, x, attn_mask=~future)
# ```
#
# </details>
#
# ### A loss that falls to 0 in fine-tuning
#
# Every other layer of a model sees only a sliding window. In fine-tuning, its loss quickly fell to 0.


# %% tags=["exercise"]
def in_a_window(x, width=3):
    too_far = torch.ones(6, 6).tril(-width)  # 1: the key is too far back
    mask = torch.zeros(6, 6).masked_fill(future, torch.finfo(x.dtype).min)
    mask = mask * too_far
    return attend(scores_of(x, x) + mask, x)


# %% tags=["exercise"]
reach = torch.autograd.functional.jacobian(in_a_window, x).abs().amax((1, 3))  # (6, 6): of input j on output i
verdict(
    leak(in_a_window) < 1e-6 and (reach.tril(-3) == 0).all(),
    f"{int((reach > 0).sum())} of 36 pairs of tokens are connected, and 15 should be",
)

# %% [markdown]
# <details><summary>What it was</summary>
#
# The mask for the window was multiplied into the mask for the future, which turned its large negative numbers into 0. So the
# layer blocked nothing at all ([transformers#31673](https://github.com/huggingface/transformers/issues/31673)).
#
# ```diff
# -     mask = mask * too_far
# +     mask = mask.masked_fill(too_far.bool(), torch.finfo(x.dtype).min)
# ```
#
# </details>
#
# ### A perplexity of 5 instead of 16
#
# A small published model seemed three times better than it is, but only with one of its two attention routines.


# %% tags=["exercise"]
def default_routine(x, padding=None):
    mask = torch.zeros_like(future)
    if padding is not None:
        mask = future | padding
    return attend(scores_of(x, x).masked_fill(mask, -torch.inf), x)


# %% tags=["exercise"]
verdict(
    leak(default_routine) < 1e-6,
    f"without padding, the last token moves earlier outputs by {leak(default_routine):.2f}",
)

# %% [markdown]
# <details><summary>What it was</summary>
#
# Without padding there was no causal mask either
# ([transformers#48748](https://github.com/huggingface/transformers/issues/48748)). A tutorial on language models called its
# encoder without a mask as well: a perplexity of 2.9, in validation *and* test, and not one sensible next word
# ([pytorch/tutorials#2478](https://github.com/pytorch/tutorials/issues/2478)). To test your own model, train it on random
# tokens, which nobody can predict. A user did that in 2026 and found that four models of one library had lost their mask
# ([transformers#48745](https://github.com/huggingface/transformers/issues/48745)). In another library, the mask was lost only
# *with* padding, because the padding mask replaced it: the loss was 3.93 where a reference gave 7.49
# ([unsloth-zoo#963](https://github.com/unslothai/unsloth-zoo/pull/963)). A mask in training mode only was reported for a model of
# time series ([Kronos#199](https://github.com/shiyu-coder/Kronos/issues/199)).
#
# ```diff
# -     mask = torch.zeros_like(future)
# +     mask = future
# ```
#
# </details>
#
# ### Causal, as long as nothing is dropped
#
# This layer passes every test for leaks whose dropout is 0. In training, the results were too good.


# %% tags=["exercise"]
def with_dropout(x, p=0.2):
    if p == 0:
        return F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True)[0]
    torch.manual_seed(0)
    return F.dropout(scores_of(x, x).softmax(-1), p) @ x


# %% tags=["exercise"]
moved = {p: leak(lambda x, p=p: with_dropout(x, p)) for p in (0, 0.2)}
verdict(
    moved[0.2] < 1e-6,
    f"the last token moves earlier outputs by {moved[0.2]:.2f} with dropout, by {moved[0]:.2f} without",
)

# %% [markdown]
# <details><summary>What it was</summary>
#
# The fast routine was causal, but a call with dropout took the slow one, which had no mask. A user of Keras reported this in June
# 2026 ([keras#23038](https://github.com/keras-team/keras/issues/23038)); to ask for the weights had the same effect. From outside
# it looks like overfitting: the loss is far too good in training mode, and bad in eval mode, where nothing is dropped.
#
# ```diff
# -     return F.dropout(scores_of(x, x).softmax(-1), p) @ x
# +     return F.dropout(scores_of(x, x).masked_fill(future, -torch.inf).softmax(-1), p) @ x
# ```
#
# </details>
#
# ### Everything is masked, it says
#
# One model's training code blocks the future, as you can read below. Without FlashAttention, its loss was far too low.


# %% tags=["exercise"]
def as_written(x):
    scores = scores_of(x, x)
    scores.masked_fill(future, -torch.inf)
    return attend(scores, x)


# %% tags=["exercise"]
verdict(leak(as_written) < 1e-6, f"the last token moves earlier outputs by {leak(as_written):.2f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# `masked_fill` returns a new tensor, and nobody kept it; `masked_fill_` changes the old one
# ([Qwen#933](https://github.com/QwenLM/Qwen/issues/933)).
#
# ```diff
# -     scores.masked_fill(future, -torch.inf)
# +     scores = scores.masked_fill(future, -torch.inf)
# ```
#
# </details>
#
# ### Perfect, until it has to write
#
# With a high learning rate, both training and validation loss went to almost 0. On incomplete texts the model was terrible.


# %% tags=["exercise"]
def with_a_low_number(scores, value):
    return attend(scores.masked_fill(future, -1e4), value)


# %% tags=["exercise"]
trained = torch.full((6, 6), -15_000.0)  # what the scores had become
weights = with_a_low_number(trained, torch.eye(6))
verdict((weights * future).sum() == 0, f"token 0 gives {weights[0, 1:].sum():.2f} of its weight to later tokens")

# %% [markdown]
# <details><summary>What it was</summary>
#
# A score of −10,000 is not −∞. Training found out that it only has to push all *other* scores below it, and then read the
# answers ([karpathy/minGPT#75](https://github.com/karpathy/minGPT/issues/75)).
#
# ```diff
# -     return attend(scores.masked_fill(future, -1e4), value)
# +     return attend(scores.masked_fill(future, -torch.inf), value)
# ```
#
# </details>
#
# ### A loss of 0.0000
#
# After a few hundred steps, a model that describes pictures has a training loss of 0.0000. It learned nothing.


# %% tags=["exercise"]
def loss_of_text(logits, ids):
    return F.cross_entropy(logits, ids)


# %% tags=["exercise"]
ids = torch.tensor([3, 1, 4, 1, 5, 2])
copies = loss_of_text(20.0 * F.one_hot(ids, 6), ids)  # the logits of a model that repeats the token it reads
verdict(copies > 1, f"a model that only repeats its input has a loss of {copies:.4f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# Each position was compared with the token that it had just read, not with the next one
# ([KempnerForge#154](https://github.com/KempnerInstitute/KempnerForge/issues/154);
# [MONAI GenerativeModels#314](https://github.com/Project-MONAI/GenerativeModels/issues/314)).
#
# ```diff
# -     return F.cross_entropy(logits, ids)
# +     return F.cross_entropy(logits[:-1], ids[1:])
# ```
#
# </details>
#
# ### A loss of exactly 0, for a coin toss
#
# Two classes have equal scores, so the loss should be ln 2 = 0.69. For very large scores, a framework gave 0.


# %% tags=["exercise"]
def log_softmax(scores):
    highest = scores.max()
    return scores - (highest + (scores - highest).exp().sum().log())


# %% tags=["exercise"]
loss = log_softmax(torch.tensor([1e8, 1e8]))[0].abs()
verdict(abs(loss - math.log(2)) < 1e-6, f"the loss for two scores of 1e8 is {loss:.2f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# On paper the formula is right. In float32, $10^8 + 0.69$ is rounded to $10^8$, and the logarithm is lost. PyTorch had it
# ([pytorch#11752](https://github.com/pytorch/pytorch/issues/11752)). Subtract the two large numbers first.
#
# ```diff
# -     return scores - (highest + (scores - highest).exp().sum().log())
# +     return (scores - highest) - (scores - highest).exp().sum().log()
# ```
#
# </details>

# %% [markdown]
# ## 2. The model learns, but badly, or stops early
#
# ### A validation loss stuck near 1
#
# With four classes, the validation loss quickly came close to 1 and hardly fell from there. The training loss looked fine.


# %% tags=["exercise"]
def validation_loss(logits, targets):
    probabilities = logits.softmax(-1)
    return F.cross_entropy(probabilities, targets)


# %% tags=["exercise"]
perfect = validation_loss(50.0 * torch.eye(4), torch.arange(4))
verdict(perfect < 0.01, f"a model that is always right and certain has a loss of {perfect:.2f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# `cross_entropy` takes logits and has a softmax of its own. Numbers between 0 and 1 are poor logits: with four classes, even
# certainty costs 0.74 ([SciCo#2](https://github.com/ariecattan/SciCo/issues/2)).
#
# ```diff
# -     probabilities = logits.softmax(-1)
# -     return F.cross_entropy(probabilities, targets)
# +     return F.cross_entropy(logits, targets)
# ```
#
# </details>
#
# ### Steps that grow
#
# A training loop has two branches, one for 16-bit numbers and one for 32. Both train.


# %% tags=["exercise"]
def train_step(model, optimizer, x, y, bfloat16):
    if bfloat16:
        with torch.autocast("cpu", torch.bfloat16):
            loss = F.mse_loss(model(x), y)
        loss.backward()
    else:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
    optimizer.step()


# %% tags=["exercise"]
def gradient_after(steps):
    """The gradient of the last of some steps with a rate of 0, so that each step has the same gradient."""
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    with torch.no_grad():
        model.weight.fill_(1.0)
        model.bias.zero_()
    for _ in range(steps):
        train_step(model, optimizer, x, torch.zeros(6, 1), bfloat16=True)
    return model.weight.grad.norm()


times = gradient_after(5) / gradient_after(1)
verdict(abs(times - 1) < 0.01, f"the gradient of the fifth step is {times:.1f} times that of the first")

# %% [markdown]
# <details><summary>What it was</summary>
#
# One branch lacked `zero_grad`, so it added each gradient to all earlier ones
# ([facebookresearch/nwm#16](https://github.com/facebookresearch/nwm/issues/16)).
#
# ```diff
# -             loss = F.mse_loss(model(x), y)
# -         loss.backward()
# +             loss = F.mse_loss(model(x), y)
# +         optimizer.zero_grad()
# +         loss.backward()
# ```
#
# </details>
#
# ### A loss that does not move
#
# A model learned nothing until one line of its training loop was moved up.


# %% tags=["exercise"]
def one_step(model, optimizer, x, y):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()


# %% tags=["exercise"]
line = nn.Linear(4, 1)
first = line.weight.detach().clone()
one_step(line, torch.optim.SGD(line.parameters(), lr=0.1), x, torch.ones(6, 1))
moved = (line.weight - first).abs().max()
verdict(moved > 0, f"in one step, the weights move by {moved:.4f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# `zero_grad` between `backward` and `step` throws away what the step needs
# ([sacmehta/EdgeNets#14](https://github.com/sacmehta/EdgeNets/issues/14)). No error says so, because an optimizer skips parameters
# without a gradient.
#
# ```diff
# -     loss.backward()
# -     optimizer.zero_grad()
# +     optimizer.zero_grad()
# +     loss.backward()
# ```
#
# </details>
#
# ### A loss that falls, in many releases
#
# A model that describes pictures learns without an error, and its loss falls. Nobody saw anything wrong in many releases.


# %% tags=["exercise"]
def library_loss(logits, labels):
    """What the library calls: it compares the logits at t with the label at t + 1."""
    return F.cross_entropy(logits[:-1], labels[1:])


def model_loss(logits, labels):
    logits, labels = logits[:-1], labels[1:]
    return library_loss(logits, labels)


# %% tags=["exercise"]
ids = torch.tensor([3, 1, 4, 1, 5, 2])
right_next = 20.0 * F.one_hot(ids.roll(-1), 6)  # the logits of a model that always knows the next token
verdict(
    model_loss(right_next, ids) < 0.01,
    f"a model that knows each next token has a loss of {model_loss(right_next, ids):.2f}",
)

# %% [markdown]
# <details><summary>What it was</summary>
#
# The model shifted the labels, and then called a loss that had been rewritten to shift them, too. So each position learned the
# word after the next ([transformers#47394](https://github.com/huggingface/transformers/issues/47394)). A search for the same
# pattern found it in models that shift their decoder's inputs as well
# ([#46898](https://github.com/huggingface/transformers/pull/46898),
# [#46901](https://github.com/huggingface/transformers/issues/46901)).
#
# ```diff
# -     logits, labels = logits[:-1], labels[1:]
# -     return library_loss(logits, labels)
# +     return library_loss(logits, labels)
# ```
#
# </details>
#
# ### Learning slowly
#
# A program that learns to play games gets better, but more slowly than others that do the same.


# %% tags=["exercise"]
def squared_error(predicted, wanted):  # predicted: (n, 1), wanted: (n,)
    return ((predicted - wanted) ** 2).mean()


# %% tags=["exercise"]
wanted = torch.tensor([1.0, 2.0, 3.0])
error = squared_error(wanted[:, None], wanted)
verdict(error == 0, f"the error of exact predictions is {error:.2f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# `(n, 1)` minus `(n,)` makes an `(n, n)` table: each prediction was compared with each target, and the mean hid it
# ([DeepRL_Algorithms#13](https://github.com/RITCHIEHuang/DeepRL_Algorithms/issues/13)). `nn.MSELoss` now warns about it
# ([pytorch#16045](https://github.com/pytorch/pytorch/issues/16045)).
#
# ```diff
# -     return ((predicted - wanted) ** 2).mean()
# +     return ((predicted[:, 0] - wanted) ** 2).mean()
# ```
#
# </details>
#
# ### Three models that share a blog post
#
# Three recommendation models of one library train, and their scores look plausible. With one head they are right.


# %% tags=["exercise"]
def split(x, n_heads):  # (B, T, D) -> (B * H, T, D / H)
    B, T, D = x.shape
    return x.view(B * n_heads, T, D // n_heads)


# %% tags=["exercise"]
numbered = (10 * torch.arange(3.0)[:, None] + torch.arange(2.0)[:, None, None]).repeat(
    1, 1, 4
)  # token t of text b: 10 t + b
heads = split(numbered, 2)
verdict(
    (heads[:, 1] >= 10).all() and (heads[:, 1] < 20).all(),
    f"row 1 of the heads holds the tokens {heads[:, 1, 0].tolist()}",
)

# %% [markdown]
# <details><summary>What it was</summary>
#
# `view` alone cuts the numbers as they are in memory, so a head gets half of the *tokens*, not half of each token's numbers
# ([FuxiCTR#30](https://github.com/reczoo/FuxiCTR/issues/30)).
#
# ```diff
# -     return x.view(B * n_heads, T, D // n_heads)
# +     return x.view(B, T, n_heads, D // n_heads).transpose(1, 2).flatten(0, 1)
# ```
#
# </details>
#
# ### Heads that agree
#
# A module in a widely used collection of tutorials has several heads. It trains, and every shape is right.


# %% tags=["exercise"]
class Projection(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.width = n_heads, d_model // n_heads
        self.queries = nn.Linear(self.width, self.width, bias=False)

    def forward(self, x):  # (T, D) -> (T, H, D / H)
        return self.queries(x.unflatten(-1, (self.n_heads, self.width)))


# %% tags=["exercise"]
queries = Projection(4, 2)
slopes = torch.autograd.functional.jacobian(lambda row: queries(row[None])[0], x[0])  # (H, D / H, D)
seen = [int((slopes[h].abs().amax(0) > 0).sum()) for h in range(2)]
verdict(seen == [4, 4], f"of the 4 numbers of a token, the two heads see {seen}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# One projection as wide as *one head* served all heads. So each head saw only its own slice of a token, through the same matrix
# ([Machine-Learning-Collection#3](https://github.com/aladdinpersson/Machine-Learning-Collection/issues/3)).
#
# ```diff
# -         self.queries = nn.Linear(self.width, self.width, bias=False)
# +         self.queries = nn.Linear(d_model, d_model, bias=False)
# -         return self.queries(x.unflatten(-1, (self.n_heads, self.width)))
# +         return self.queries(x).unflatten(-1, (self.n_heads, self.width))
# ```
#
# </details>
#
# ### A matrix that never changes
#
# Three matrices make queries, keys and values for a diffusion model. Every shape is right, and training works.


# %% tags=["exercise"]
def with_values(x, W_q, W_k, W_v):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    weights = scores_of(query, key).softmax(-1)
    return weights @ x


# %% tags=["exercise"]
def without_a_gradient(attention):
    """The matrices that get no gradient."""
    matrices = {name: torch.eye(4).requires_grad_() for name in ("W_q", "W_k", "W_v")}
    result = (attention(x, *matrices.values()) * x.flip(0)).sum()
    found = (
        torch.autograd.grad(result, list(matrices.values()), allow_unused=True) if result.requires_grad else [None] * 3
    )
    return [name for name, gradient in zip(matrices, found, strict=True) if gradient is None or not gradient.any()]


verdict(
    not without_a_gradient(with_values), f"matrices without a gradient: {without_a_gradient(with_values) or 'none'}"
)

# %% [markdown]
# <details><summary>What it was</summary>
#
# The last product took the layer's input in place of the values
# ([denoising_diffusion#1](https://github.com/hmdolatabadi/denoising_diffusion/issues/1)). Ask of every model which parameters
# get a gradient: this also finds scores that were detached, whose outputs are right.
#
# ```diff
# -     return weights @ x
# +     return weights @ value
# ```
#
# </details>
#
# ### Attention that takes time and does nothing
#
# With a cache, the attention of an audio model returned two values. It was slow, and its weights did not matter.


# %% tags=["exercise"]
def block(x, W_q, W_k, W_v):
    residual = x
    attended, _cache = attend(scores_of(x @ W_q, x @ W_k), x @ W_v), None
    return x + residual


# %% tags=["exercise"]
verdict(not without_a_gradient(block), f"matrices without a gradient: {without_a_gradient(block) or 'none'}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# The output was assigned to a new name, which no later line used
# ([audiolm-pytorch#265](https://github.com/lucidrains/audiolm-pytorch/pull/265); another reader saw it in
# [#268](https://github.com/lucidrains/audiolm-pytorch/issues/268)).
#
# ```diff
# -     attended, _cache = attend(scores_of(x @ W_q, x @ W_k), x @ W_v), None
# +     x, _cache = attend(scores_of(x @ W_q, x @ W_k), x @ W_v), None
# ```
#
# </details>
#
# ### Weights that are sharp from the start
#
# A model learns badly. In another library, latent attention made training unstable.


# %% tags=["exercise"]
def scaled(q, k):
    scale = q.shape[-1] ** -0.5
    return q @ k.mT / scale


# %% tags=["exercise"]
wide = torch.randn(2, 200, 64, generator=torch.Generator().manual_seed(1))
spread = scaled(*wide).std()
verdict(abs(spread - 1) < 0.1, f"scores of random queries and keys have the spread {spread:.1f}, and should have 1")

# %% [markdown]
# <details><summary>What it was</summary>
#
# The scale was inverted already, and then divided by: the scores were $d_k$ times too large
# ([perceiver-io#9](https://github.com/esceptico/perceiver-io/issues/9);
# [maxtext#1370](https://github.com/AI-Hypercomputer/maxtext/issues/1370)). Name a factor *scale* only if you multiply by it.
#
# ```diff
# -     return q @ k.mT / scale
# +     return q @ k.mT * scale
# ```
#
# </details>
#
# ### Weights that stay too even
#
# A transformer with six heads trains, but learns slowly. Its weights look plausible.


# %% tags=["exercise"]
def head_scores(x, W_q, W_k, n_heads):
    T, D = x.shape
    q, k = ((x @ W).view(T, n_heads, -1).transpose(0, 1) for W in (W_q, W_k))  # (heads, T, D / heads)
    return q @ k.mT * D**-0.5


# %% tags=["exercise"]
generator = torch.Generator().manual_seed(2)
tokens, *matrices = (
    torch.randn(n, 96, generator=generator) / scale for n, scale in ((200, 1), (96, 96**0.5), (96, 96**0.5))
)
spread = head_scores(tokens, *matrices, 6).std()
verdict(abs(spread - 1) < 0.15, f"scores of random tokens have the spread {spread:.1f}, and should have about 1")

# %% [markdown]
# <details><summary>What it was</summary>
#
# The scores of each head were divided by the root of the *model's* width
# ([vit-pytorch#65](https://github.com/lucidrains/vit-pytorch/issues/65), [dfdx#171](https://github.com/coreylowman/dfdx/issues/171)).
# With six heads they were $\sqrt 6$ times too small. Take the width from the queries that are multiplied.
#
# ```diff
# -     return q @ k.mT * D**-0.5
# +     return q @ k.mT * q.shape[-1] ** -0.5
# ```
#
# </details>
#
# ### All weights are equal
#
# On one backend of a library, every query attends to all keys alike. On the others it does not.


# %% tags=["exercise"]
def scale_of(width, scale=0.0):  # 0 means "choose for me"
    return scale


# %% tags=["exercise"]
verdict(scale_of(64) == 0.125 and scale_of(64, 0.5) == 0.5, f"the scale for the width 64 is {scale_of(64)}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# A default of 0 meant "choose for me", and one backend multiplied by it
# ([SKaiNET#860](https://github.com/SKaiNET-developers/SKaiNET/issues/860)). In Python, `scale or width ** -0.5` has the opposite
# fault: nobody can ask for 0. Let the default be `None`.
#
# ```diff
# - def scale_of(width, scale=0.0):  # 0 means "choose for me"
# -     return scale
# + def scale_of(width, scale=None):
# +     return width**-0.5 if scale is None else scale
# ```
#
# </details>
#
# ### Another loss each time you measure
#
# In eval mode, the loss on the same text differs from one measurement to the next, and is a little too high.


# %% tags=["exercise"]
class Layer(nn.Module):
    def forward(self, x):
        return F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)


# %% tags=["exercise"]
layer = Layer().eval()
apart = (layer(x[None]) - layer(x[None])).abs().max()
verdict(apart == 0, f"two outputs in eval mode differ by up to {apart:.2f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# A function does not know about `model.eval()`. nanoGPT had this line
# ([#240](https://github.com/karpathy/nanoGPT/issues/240)), and so had timm
# ([#1978](https://github.com/huggingface/pytorch-image-models/pull/1978)). PyTorch's documentation now warns of it
# ([pytorch#124464](https://github.com/pytorch/pytorch/issues/124464)).
#
# ```diff
# -         return F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)
# +         return F.scaled_dot_product_attention(x, x, x, dropout_p=0.5 if self.training else 0.0)
# ```
#
# </details>

# %% [markdown]
# ## 3. NaN, or an error for something that is right
#
# ### NaN in some rows of a batch
#
# A softmax for a whole batch is stable, and gives NaN for rows that are far below the others.


# %% tags=["exercise"]
def stable_softmax(scores):  # (B, N)
    shifted = scores - scores.max()
    exponentials = shifted.exp()
    return exponentials / exponentials.sum(-1, keepdim=True)


# %% tags=["exercise"]
rows = stable_softmax(torch.tensor([[1000.0, 1001.0], [1.0, 2.0]]))
verdict(
    torch.allclose(rows[0], rows[1]),
    f"both rows have a difference of 1; they give {numbers(rows[0])} and {numbers(rows[1])}",
)

# %% [markdown]
# <details><summary>What it was</summary>
#
# One maximum was subtracted from the whole batch. In a row far below it, every exponential is 0. This solution to a course
# was public for years ([EECS498#2](https://github.com/linxiaow/EECS498-Deep-Learning-for-Vision/issues/2)).
#
# ```diff
# -     shifted = scores - scores.max()
# +     shifted = scores - scores.amax(-1, keepdim=True)
# ```
#
# </details>
#
# ### Large scores are fine, large negative scores are not
#
# The tests of a numerical library pass scores of +10,000. A user's scores of −10,000 give NaN.


# %% tags=["exercise"]
def safe_softmax(scores):
    exponentials = (scores - scores.max().clamp(min=0)).exp()
    return exponentials / exponentials.sum()


# %% tags=["exercise"]
low, high = safe_softmax(torch.tensor([-1e4, -1e4])), safe_softmax(torch.tensor([1e4, 1e4]))
verdict(torch.equal(low, high), f"two scores of 10,000 give {numbers(high)}, two of −10,000 {numbers(low)}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# NNlib, on which the Julia library Flux builds, subtracted `max(0, maximum)`
# ([NNlib.jl#43](https://github.com/FluxML/NNlib.jl/pull/43)). Test with large scores of *both* signs.
#
# ```diff
# -     exponentials = (scores - scores.max().clamp(min=0)).exp()
# +     exponentials = (scores - scores.max()).exp()
# ```
#
# </details>
#
# ### The loss is finite, and one step later everything is NaN
#
# All keys of one query are blocked. The forward pass treats such a query as an author wants it.


# %% tags=["exercise"]
def log_of_sum(scores):
    return torch.logsumexp(scores, -1)


# %% tags=["exercise"]
nothing = torch.full((3,), -torch.inf, requires_grad=True)
(slope,) = torch.autograd.grad(log_of_sum(nothing), nothing)
verdict(slope.isfinite().all(), f"value {log_of_sum(nothing).item()}, gradient {slope.tolist()}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# The value of `torch.logsumexp` is right, −∞, and its gradient is 0 / 0
# ([pytorch#31829](https://github.com/pytorch/pytorch/issues/31829),
# [#49724](https://github.com/pytorch/pytorch/issues/49724)). Repair the input, not the result: a repaired result still has the
# old gradient.
#
# ```diff
# -     return torch.logsumexp(scores, -1)
# +     empty = scores.isneginf().all(-1, keepdim=True)
# +     return torch.logsumexp(scores.masked_fill(empty, 0.0), -1).masked_fill(empty[..., 0], -torch.inf)
# ```
#
# </details>
#
# ### The similarity is 0, and its gradient is NaN
#
# A vector of zeros has no direction, so its cosine with every vector is to be 0. It is, and training still stops with NaN.


# %% tags=["exercise"]
def cosine_or_zero(a, b):
    lengths = a.norm(dim=-1) * b.norm(dim=-1)
    return torch.where(lengths > 0, (a * b).sum(-1) / lengths, 0.0)


# %% tags=["exercise"]
zeros = torch.zeros(3, requires_grad=True)
(slope,) = torch.autograd.grad(cosine_or_zero(zeros, torch.ones(3)), zeros)
verdict(slope.isfinite().all(), f"value {cosine_or_zero(zeros, torch.ones(3)).item()}, gradient {slope.tolist()}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# `torch.where` computes both branches. In the backward pass the one that was not chosen gets a gradient of 0, divides it by the
# length 0, and passes on NaN. A repair in *optax* had right similarities and NaN gradients
# ([optax#946](https://github.com/google-deepmind/optax/pull/946)). Replace the length *before* you divide.
#
# ```diff
# -     return torch.where(lengths > 0, (a * b).sum(-1) / lengths, 0.0)
# +     return (a * b).sum(-1) / torch.where(lengths > 0, lengths, 1.0)
# ```
#
# </details>
#
# ### An entropy that becomes NaN
#
# A library trains language models and looks at the entropy of their next token. It is right until one token is excluded.


# %% tags=["exercise"]
def entropy_of(logp):
    return -(logp.exp() * logp).sum(-1)


# %% tags=["exercise"]
logp = torch.tensor([0.5, 0.5, 0.0]).log().requires_grad_()
(slope,) = torch.autograd.grad(entropy_of(logp), logp)
verdict(
    entropy_of(logp).isfinite() and slope.isfinite().all(),
    f"of two halves and a zero: {entropy_of(logp).item():.4f}, gradient {slope.tolist()}",
)

# %% [markdown]
# <details><summary>What it was</summary>
#
# TRL multiplied each probability by its logarithm, and 0 times −∞ is NaN
# ([trl#7221](https://github.com/huggingface/trl/issues/7221)). A proposed repair replaced NaN in the products by 0
# ([#7252](https://github.com/huggingface/trl/pull/7252)). The entropy is right then, but its gradient is still NaN, because
# the backward pass multiplies by both factors. Replace the logarithm *before* the product.
#
# ```diff
# -     return -(logp.exp() * logp).sum(-1)
# +     return -(logp.exp() * logp.masked_fill(logp.isneginf(), 0.0)).sum(-1)
# ```
#
# </details>
#
# ### It only breaks if a picture is padded
#
# No test of a library of image models fails, because pictures are seldom padded, and recent versions take another branch.


# %% tags=["exercise"]
def old_branch(scores, value, mask):
    weights = scores.softmax(-1)
    weights = weights.masked_fill(mask, -torch.inf)
    return weights @ value


# %% tags=["exercise"]
padded = old_branch(scores_of(x, x), x, mask=torch.arange(6) > 3)
verdict(padded.isfinite().all(), f"{int(padded.isfinite().sum())} of 24 outputs are finite numbers")

# %% [markdown]
# <details><summary>What it was</summary>
#
# Two lines had changed places: the −∞ went into the *weights*
# ([pytorch-image-models#2236](https://github.com/huggingface/pytorch-image-models/pull/2236)).
#
# ```diff
# -     weights = scores.softmax(-1)
# -     weights = weights.masked_fill(mask, -torch.inf)
# +     weights = scores.masked_fill(mask, -torch.inf)
# +     weights = weights.softmax(-1)
# ```
#
# </details>
#
# ### Unexpected keys
#
# A file of weights is right, and was made by the same library, some versions ago. Loading it fails.


# %% tags=["exercise"]
def load(model, file):
    model.load_state_dict(file)


# %% tags=["exercise"]
file = {"weight": torch.eye(4), "bias": torch.zeros(4), "mask": torch.ones(4, 4)}  # a mask was among the weights
model = nn.Linear(4, 4)
try:
    load(model, file)
    verdict(torch.equal(model.weight, torch.eye(4)), "no error")
except RuntimeError as error:
    verdict(False, " ".join(str(error).split()))

# %% [markdown]
# <details><summary>What it was</summary>
#
# For years, the masks of GPT-2 were saved with its weights. Then they were not
# ([transformers#24581](https://github.com/huggingface/transformers/issues/24581)); another program counted the names and
# stopped ([minGPT#122](https://github.com/karpathy/minGPT/pull/122)). Take what you need, by name, and say what is missing.
#
# ```diff
# -     model.load_state_dict(file)
# +     model.load_state_dict({name: file[name] for name in model.state_dict()})
# ```
#
# </details>

# %% [markdown]
# ## 4. Right alone, wrong in a batch
#
# ### Pictures that see each other
#
# A model finds objects in pictures. What it finds in one depends on which others are in the batch.


# %% tags=["exercise"]
class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2)

    def forward(self, x):  # (B, T, D)
        return self.attention(x, x, x)[0]


# %% tags=["exercise"]
detector, batch = Detector().eval(), torch.stack([x, x.flip(1)])
apart = (detector(batch)[0] - detector(batch[:1])[0]).abs().max()
verdict(apart < 1e-5, f"alone and in a batch, the outputs for one picture differ by up to {apart:.2f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# PyTorch's module takes the *second* dimension for the batch, unless you say otherwise. So attention ran across the batch, with
# the right shapes ([OmDet#19](https://github.com/om-ai-lab/OmDet/issues/19)).
#
# ```diff
# -         self.attention = nn.MultiheadAttention(4, 2)
# +         self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
# ```
#
# </details>
#
# ### The mask of another sentence
#
# A model for videos and texts is right with a batch of one. With larger batches, heads see padding.


# %% tags=["exercise"]
def mask_for_heads(mask, n_heads):  # (B, T, T) -> (B * H, T, T), all heads of sentence 0 first
    return mask.repeat(n_heads, 1, 1)


# %% tags=["exercise"]
names = mask_for_heads(torch.arange(3)[:, None, None], 2).flatten().tolist()
verdict(names == [0, 0, 1, 1, 2, 2], f"the heads of sentences 0, 0, 1, 1, 2, 2 get the masks of {names}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# `repeat` repeats the whole list, `repeat_interleave` each entry
# ([CLIP4Clip#22](https://github.com/ArrowLuo/CLIP4Clip/issues/22)).
#
# ```diff
# -     return mask.repeat(n_heads, 1, 1)
# +     return mask.repeat_interleave(n_heads, dim=0)
# ```
#
# </details>
#
# ### Wrong, depending on the other texts
#
# A server keeps the pages of beginnings that many texts share. In a batch where one text finds its beginning there and another
# does not, the other's answer is wrong, or the program stops.


# %% tags=["exercise"]
def block_tables(pages, found):  # for each text: its pages, and how many of them were found
    if not any(found):
        return pages
    longest = max(map(len, pages))
    return [own if n else [0] * longest for own, n in zip(pages, found, strict=True)]


# %% tags=["exercise"]
tables = block_tables([[1, 2, 3, 4], [5, 6, 7, 8]], found=[2, 0])
verdict(tables == [[1, 2, 3, 4], [5, 6, 7, 8]], f"the texts read the pages {tables}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# As soon as one text had found something, the kernel read all keys by the tables, and the tables of the others were zeros
# ([vllm#7018](https://github.com/vllm-project/vllm/pull/7018)).
#
# ```diff
# -     return [own if n else [0] * longest for own, n in zip(pages, found, strict=True)]
# +     return [own + [0] * (longest - len(own)) for own in pages]
# ```
#
# </details>

# %% [markdown]
# ## 5. Right at first, wrong in a long text
#
# ### Correct until the first enlargement
#
# A cache has room for some tokens of each layer. When it is full it grows. From then on, the later layers know nothing.


# %% tags=["exercise"]
def grow(cache, length):  # (layers, T, K) -> (layers, length, K)
    return cache.clone().resize_(cache.shape[0], length, cache.shape[2])


# %% tags=["exercise"]
cache = torch.arange(1.0, 13.0).view(2, 3, 2)
verdict(
    torch.equal(grow(cache, 5)[:, :3], cache),
    f"layer 1 began with {cache[1, 0].tolist()}, now {grow(cache, 5)[1, 0].tolist()}",
)

# %% [markdown]
# <details><summary>What it was</summary>
#
# `resize_` keeps the numbers in their order in memory, but not at their indices
# ([nanochat#186](https://github.com/karpathy/nanochat/pull/186)).
#
# ```diff
# -     return cache.clone().resize_(cache.shape[0], length, cache.shape[2])
# +     larger = cache.new_zeros(cache.shape[0], length, cache.shape[2])
# +     larger[:, : cache.shape[1]] = cache
# +     return larger
# ```
#
# </details>
#
# ### A conversation that goes wrong after the window
#
# A rolling buffer keeps the newest tokens of a conversation. If the last answer is taken back, the next one is nonsense, but
# only in long conversations.


# %% tags=["exercise"]
class Rolling:
    """The newest `width` tokens; token t is in slot t % width."""

    def __init__(self, width):
        self.width, self.slots, self.count = width, [], 0

    def append(self, token):
        if self.count < self.width:
            self.slots.append(token)
        else:
            self.slots[self.count % self.width] = token
        self.count += 1

    def take_back(self, n):
        self.slots = self.slots[: len(self.slots) - n]
        self.count -= n


# %% tags=["exercise"]
rolling = Rolling(4)
for token in range(6):
    rolling.append(token)
rolling.take_back(1)
kept = sorted(token for token in rolling.slots if token is not None)
verdict(5 not in kept and {3, 4} <= set(kept), f"tokens 0 to 5, the last one taken back; the buffer holds {kept}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# Slots were cut off the end of the list. Once the buffer has been overwritten, the newest token can be in any slot
# ([ollama#14912](https://github.com/ollama/ollama/pull/14912),
# [mlx-vlm#1715](https://github.com/Blaizzy/mlx-vlm/issues/1715)). What was overwritten is lost, so a window of fewer tokens
# remains.
#
# ```diff
# -         self.slots = self.slots[: len(self.slots) - n]
# -         self.count -= n
# +         for t in range(self.count - n, self.count):
# +             self.slots[t % self.width] = None
# +         self.count -= n
# ```
#
# </details>
#
# ### 128 or 129?
#
# A model has a window of some tokens. Its outputs with a cache differ a little from those without one.


# %% tags=["exercise"]
def window_mask(T, width):  # True: blocked
    distance = torch.arange(T)[:, None] - torch.arange(T)
    return (distance < 0) | (distance > width)


# %% tags=["exercise"]
open_keys = int((~window_mask(10, 4))[9].sum())
verdict(open_keys == 4, f"the cache keeps 4 keys, and the mask opens {open_keys}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# Does the window count the query's own token? Mask and cache disagreed
# ([mlx-lm#390](https://github.com/ml-explore/mlx-lm/pull/390)), and in another library one kernel disagreed with the other
# ([transformers#39408](https://github.com/huggingface/transformers/issues/39408)).
#
# ```diff
# -     return (distance < 0) | (distance > width)
# +     return (distance < 0) | (distance >= width)
# ```
#
# </details>
#
# ### Short texts are fine
#
# In training the loss is a little too high. Up to a few hundred tokens, nothing is wrong.


# %% tags=["exercise"]
def angles(length, frequency, dtype):
    position = torch.arange(length).to(dtype)
    return position * frequency.to(dtype)


# %% tags=["exercise"]
exact = torch.arange(2000) * 0.5625
error = (angles(2000, torch.tensor(0.5625), torch.bfloat16).float().cos() - exact.cos()).abs()
verdict(
    error.max() < 0.01, f"cosines are wrong by up to {error[:100].max():.2f} in 100 tokens, {error.max():.2f} in 2,000"
)

# %% [markdown]
# <details><summary>What it was</summary>
#
# Frequencies and positions were kept in the dtype of the model. At position 1857, an angle of 1044.3 became 1045
# ([gpt-neox#1003](https://github.com/EleutherAI/gpt-neox/issues/1003);
# [transformers#29285](https://github.com/huggingface/transformers/pull/29285)).
#
# ```diff
# -     position = torch.arange(length).to(dtype)
# -     return position * frequency.to(dtype)
# +     return torch.arange(length) * frequency.float()
# ```
#
# </details>

# %% [markdown]
# ## 6. Right weights, wrong outputs
#
# ### It loads, and writes gibberish
#
# A trained model is opened by another program. There is no error, and not one sensible word.


# %% tags=["exercise"]
def rotate(x, position):  # the weights were made for pairs (0, 2) and (1, 3)
    turn = position * torch.tensor([1.0, 0.1])
    first, second = x[0::2], x[1::2]
    turned = first * turn.cos() - second * turn.sin(), first * turn.sin() + second * turn.cos()
    return torch.stack(turned, dim=-1).flatten()


# %% tags=["exercise"]
turned = rotate(torch.tensor([1.0, 0.0, 0.0, 0.0]), 1.0)
verdict(abs(turned[2] - math.sin(1)) < 1e-6, f"(1, 0, 0, 0), turned by 1 radian, is {numbers(turned)}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# The model had been trained with halves as pairs, and the program's default was neighbours. Nothing in the model's configuration
# named the layout ([TinyLlama#24](https://github.com/jzhang38/TinyLlama/issues/24)). Users ask which of the two is wrong
# ([transformers#25199](https://github.com/huggingface/transformers/issues/25199)). Neither is, with its own weights.
#
# ```diff
# -     first, second = x[0::2], x[1::2]
# +     first, second = x.chunk(2)
# -     return torch.stack(turned, dim=-1).flatten()
# +     return torch.cat(turned)
# ```
#
# </details>
#
# ### The same model in two formats
#
# Four heads share two groups of keys. A model gives other outputs after it was exported, with the same weights.


# %% tags=["exercise"]
def group_of(head, n_heads, n_groups):
    return head % n_groups


# %% tags=["exercise"]
groups = [group_of(h, 4, 2) for h in range(4)]
verdict(groups == [0, 0, 1, 1], f"heads 0 to 3 read the groups {groups}; in PyTorch, neighbours share")

# %% [markdown]
# <details><summary>What it was</summary>
#
# A standard for exchanging models said 0 1 0 1, PyTorch says 0 0 1 1 ([onnx#7274](https://github.com/onnx/onnx/pull/7274)).
#
# ```diff
# -     return head % n_groups
# +     return head // (n_heads // n_groups)
# ```
#
# </details>
#
# ### Weights that fit nobody else's code
#
# A model with rotary positions trains as well as others. Only when weights are exchanged is anything wrong.


# %% tags=["exercise"]
def frequencies(width, base=10_000.0):
    pair = torch.arange(1, width // 2 + 1)  # the paper counts from 1
    return base ** (-(2 * pair - 1) / width)


# %% tags=["exercise"]
first = frequencies(8)[0]
verdict(first == 1, f"pair 0 turns by {first:.2f} radians per position, and should turn by 1")

# %% [markdown]
# <details><summary>What it was</summary>
#
# Papers count pairs from 1, code from 0. A course handout printed $(2k - 1) / d$ for $2 (k - 1) / d$
# ([assignment1-basics#22](https://github.com/stanford-cs336/assignment1-basics/issues/22)), and a notebook subtracted 1 from an
# index that began at 0 ([llama-from-scratch#8](https://github.com/bkitano/llama-from-scratch/issues/8)).
#
# ```diff
# -     return base ** (-(2 * pair - 1) / width)
# +     return base ** (-2 * (pair - 1) / width)
# ```
#
# </details>
#
# ### A model that talks in circles
#
# A model with latent attention runs in a fast form that never makes its keys. It calls tools wrongly, and repeats itself.


# %% tags=["exercise"]
def absorbed_scores(query, latent, W_k):  # (T, K), (S, C), (K, C)
    absorbed = query @ W_k  # (T, C)
    return absorbed @ latent.T * absorbed.shape[-1] ** -0.5


# %% tags=["exercise"]
query, latent, W_k = (
    torch.randn(n, m, generator=torch.Generator().manual_seed(n)) for n, m in ((3, 4), (5, 16), (4, 16))
)
apart = (absorbed_scores(query, latent, W_k) - scores_of(query, latent @ W_k.T)).abs().max()
verdict(apart < 1e-4, f"the fast form and the plain one differ by up to {apart:.2f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# It divided by the root of the latent vectors' width. The product is still that of queries and keys, and training had used
# *their* width ([ollama#13893](https://github.com/ollama/ollama/pull/13893)).
#
# ```diff
# -     return absorbed @ latent.T * absorbed.shape[-1] ** -0.5
# +     return absorbed @ latent.T * query.shape[-1] ** -0.5
# ```
#
# </details>
#
# ### Early layers that know nothing
#
# A tool reads off what each layer of a model would predict. All but the last seem to guess.


# %% tags=["exercise"]
def lens(streams):  # (layers, D): each is to be normalised, then read
    scale = streams[-1].std(unbiased=False)
    return (streams - streams.mean(-1, keepdim=True)) / scale


# %% tags=["exercise"]
layers = torch.tensor([0.1, 1.0, 10.0])[:, None] * x[0]  # three layers with the same opinion, said more and more loudly
spreads = lens(layers).std(-1, unbiased=False)
verdict(torch.allclose(spreads, torch.ones(3)), f"after the norm the layers have the spreads {numbers(spreads)}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# Every layer was divided by the scale of the *last* one
# ([TransformerLens#1076](https://github.com/TransformerLensOrg/TransformerLens/issues/1076)). Test that the last row is the
# model's own result ([#523](https://github.com/TransformerLensOrg/TransformerLens/issues/523)), and whether your library has
# normalised the last state already ([transformers#26142](https://github.com/huggingface/transformers/pull/26142)).
#
# ```diff
# -     scale = streams[-1].std(unbiased=False)
# +     scale = streams.std(-1, unbiased=False, keepdim=True)
# ```
#
# </details>
#
# ### Cut, joined, and not the same
#
# A model that makes images cuts them into patches and joins them again. Cutting and joining does not give the image back, and
# yet the model learns.


# %% tags=["exercise"]
def cut(image):  # (C, 4, 4) -> four patches (4, C * 4)
    return image.unflatten(1, (2, 2)).unflatten(3, (2, 2)).permute(1, 3, 0, 2, 4).flatten(2).flatten(0, 1)


def join(patches, channels):
    return patches.view(2, 2, 2, 2, channels).permute(4, 0, 2, 1, 3).reshape(channels, 4, 4)


# %% tags=["exercise"]
image = torch.arange(48.0).view(3, 4, 4)
moved = int((join(cut(image), 3) != image).sum())
verdict(moved == 0, f"{moved} of 48 numbers have another place in the image that was cut and joined")

# %% [markdown]
# <details><summary>What it was</summary>
#
# One function had the channel first, the other last ([minRF#6](https://github.com/cloneofsimo/minRF/issues/6)). A linear layer
# after the cutting learns to undo that, as the author answered, but trained weights fit one order only.
#
# ```diff
# -     return patches.view(2, 2, 2, 2, channels).permute(4, 0, 2, 1, 3).reshape(channels, 4, 4)
# +     return patches.view(2, 2, channels, 2, 2).permute(2, 0, 3, 1, 4).reshape(channels, 4, 4)
# ```
#
# </details>
#
# ### A text that does not come back
#
# A tokenizer has an id for every byte. Its users find that spaces are missing from their texts.


# %% tags=["exercise"]
def decode(ids):
    text = bytes(ids).decode()
    return text.replace(" '", "'").replace(" .", ".")


# %% tags=["exercise"]
text = "the word 'social'"
verdict(decode(text.encode()) == text, f"{text!r} comes back as {decode(text.encode())!r}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# By default, a step after decoding removed spaces before punctuation
# ([transformers#40088](https://github.com/huggingface/transformers/issues/40088)). Test `decode(encode(text)) == text` with
# unusual texts as well.
#
# ```diff
# -     return text.replace(" '", "'").replace(" .", ".")
# +     return text
# ```
#
# </details>
#
# ### A small error that ruins a model
#
# Keys are rounded to four bits. On average they are hardly changed, but the perplexity of the model rises from 12 to 10,000.


# %% tags=["exercise"]
def rounded(keys):  # (T, K)
    scale = keys.abs().amax(-1, keepdim=True) / 7
    return (keys / scale).round() * scale


# %% tags=["exercise"]
keys = torch.randn(50, 8, generator=torch.Generator().manual_seed(3)) * torch.tensor([30.0, 1, 1, 1, 1, 1, 1, 1])
lost = (rounded(keys)[:, 1:] - keys[:, 1:]).norm() / keys[:, 1:].norm()
verdict(lost < 0.2, f"apart from the loud channel 0, {lost:.0%} of the keys is lost")

# %% [markdown]
# <details><summary>What it was</summary>
#
# A few channels of keys are far louder than the rest. With a scale per *key*, they make all others 0; with one per channel the
# perplexity is about 15 ([turboquant-pro#98](https://github.com/ahb-sjsu/turboquant-pro/pull/98)). Measure the loss of the
# model, not the error of its numbers.
#
# ```diff
# -     scale = keys.abs().amax(-1, keepdim=True) / 7
# +     scale = keys.abs().amax(0, keepdim=True) / 7
# ```
#
# </details>

# %% [markdown]
# ## 7. Numbers that look plausible
#
# ### Every row sums to 1
#
# A widely read transformer blocks the future with `e`, a small number that was there to keep divisions from failing. It was
# public for three years before somebody compared the line with the paper.


# %% tags=["exercise"]
def blocked(scores, e=1e-12):
    return scores.masked_fill(future, -e)


# %% tags=["exercise"]
shares = blocked(scores_of(x, x)).softmax(-1)
verdict(
    (shares * future).sum() == 0,
    f"row 0 sums to {shares[0].sum():.2f}, and {shares[0, 1:].sum():.2f} of it is the future",
)

# %% [markdown]
# <details><summary>What it was</summary>
#
# The minus sign was meant for the exponent: for softmax, $-10^{-12}$ is 0
# ([hyunwoongko/transformer#10](https://github.com/hyunwoongko/transformer/issues/10)).
#
# ```diff
# -     return scores.masked_fill(future, -e)
# +     return scores.masked_fill(future, -torch.inf)
# ```
#
# </details>
#
# ### A cosine of 1.7321
#
# PyTorch's cosine of two tensors of ones with different shapes was 1.7321, for vectors that point the same way.


# %% tags=["exercise"]
def cosine(a, b):
    length_a, length_b = a.norm(dim=-1), b.norm(dim=-1)
    return (a * b).sum(-1) / (length_a * length_b)


# %% tags=["exercise"]
same = cosine(torch.ones(2, 3), torch.ones(1, 1))
verdict(torch.allclose(same, torch.ones(2)), f"the cosines of ones(2, 3) and ones(1, 1): {numbers(same)}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# The lengths were taken before the shapes were broadcast. A single 1 has the length 1; stretched to three, it has 1.7321
# ([pytorch#109333](https://github.com/pytorch/pytorch/issues/109333)).
#
# ```diff
# -     length_a, length_b = a.norm(dim=-1), b.norm(dim=-1)
# +     a, b = torch.broadcast_tensors(a, b)
# +     length_a, length_b = a.norm(dim=-1), b.norm(dim=-1)
# ```
#
# </details>
#
# ### Some texts win too often
#
# A model matches fashion images with texts. Its own classifier does worse than the same three steps by hand.


# %% tags=["exercise"]
def match(images, texts):
    images = images / images.norm(dim=-1, keepdim=True)
    return images @ texts.T


# %% tags=["exercise"]
image, texts = torch.tensor([[1.0, 0.1]]), torch.tensor([[1.0, 0.0], [5.0, 5.0]])
verdict(
    match(image, texts).argmax() == 0, f"an image at (1, 0.1) belongs to {texts[match(image, texts).argmax()].tolist()}"
)

# %% [markdown]
# <details><summary>What it was</summary>
#
# Only the images were divided by their length, so a text with a long vector won too many of them
# ([fashion-clip#31](https://github.com/patrickjohncyh/fashion-clip/issues/31)).
#
# ```diff
# -     return images @ texts.T
# +     return images @ (texts / texts.norm(dim=-1, keepdim=True)).T
# ```
#
# </details>
#
# ### A result that nobody uses yet
#
# Besides its output, a kernel returns the log-sum-exp of each query's scores. All outputs are right.


# %% tags=["exercise"]
def lse_of(scores):  # (S,), S may be 0
    return torch.logsumexp(scores, -1) if len(scores) else torch.tensor(torch.inf)


# %% tags=["exercise"]
some, none = lse_of(torch.tensor([1.0, 2.0])), lse_of(torch.tensor([]))
share = (none - torch.logaddexp(some, none)).exp()
verdict(share == 0, f"merged with a part of two keys, a part without keys gets the share {share:.2f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# The logarithm of an empty sum is −∞, not +∞. It mattered only when such results were merged
# ([flash-attention#978](https://github.com/Dao-AILab/flash-attention/pull/978) proposes the change;
# [vllm#15492](https://github.com/vllm-project/vllm/pull/15492) accepts both signs).
#
# ```diff
# -     return torch.logsumexp(scores, -1) if len(scores) else torch.tensor(torch.inf)
# +     return torch.logsumexp(scores, -1) if len(scores) else torch.tensor(-torch.inf)
# ```
#
# </details>
#
# ### Patterns in generated videos
#
# A fast kernel subtracts the mean of all keys before it rounds them. On one GPU every output is right. On several, videos have
# large patterns that should not be there.


# %% tags=["exercise"]
def partial(query, key, value):  # one part of the keys, on one GPU
    centred = key - key.mean(0)
    scores = scores_of(query, centred)
    return attend(scores, value), torch.logsumexp(scores, -1)


# %% tags=["exercise"]
parts = [partial(x, x[half], x[half]) for half in (slice(0, 3), slice(3, 6))]
shares = torch.stack([lse for _, lse in parts]).softmax(0)[..., None]
apart = (
    (sum(share * output for share, (output, _) in zip(shares, parts, strict=True)) - attend(scores_of(x, x), x))
    .abs()
    .max()
)
verdict(apart < 1e-5, f"merged from two GPUs, the output is wrong by up to {apart:.2f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# Softmax does not see that all scores of a row were lowered by the same number, but the log-sum-exp does. Each GPU had a mean
# of its own, so the shares were wrong ([aiter#3334](https://github.com/ROCm/aiter/pull/3334)).
#
# ```diff
# -     return attend(scores, value), torch.logsumexp(scores, -1)
# +     return attend(scores, value), torch.logsumexp(scores, -1) + scores_of(query, key.mean(0, keepdim=True))[:, 0]
# ```
#
# </details>
#
# ### Texts that are less varied than promised
#
# Top-p draws from the likeliest tokens that together have the share $p$. Nothing fails.


# %% tags=["exercise"]
def top_p(probabilities, p):  # in descending order
    sums = probabilities.cumsum(-1)
    return probabilities[sums <= p]


# %% tags=["exercise"]
nucleus = top_p(torch.tensor([0.5, 0.25, 0.125, 0.125]), 0.9)
verdict(nucleus.sum() >= 0.9, f"for a share of 0.9 it keeps tokens with {nucleus.sum():.3f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# It compares $p$ with a sum that *includes* the token, so it drops the one with which the sum reaches $p$
# ([reasoning-from-scratch#164](https://github.com/rasbt/reasoning-from-scratch/issues/164),
# [esm#360](https://github.com/Biohub/esm/pull/360)).
#
# ```diff
# -     return probabilities[sums <= p]
# +     return probabilities[sums - probabilities < p]
# ```
#
# </details>
#
# ### A draft that was not drawn
#
# Speculative decoding should not change what a model says. These texts are less varied.


# %% tags=["exercise"]
def proposal(draft):
    """The probability with which each token is proposed."""
    return F.one_hot(draft.argmax(), len(draft)).float()


# %% tags=["exercise"]
target, draft = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.6, 0.3, 0.1])
accepted = proposal(draft) * (target / draft).clamp(max=1)
correction = (target - draft).clamp(min=0)
result = accepted + (1 - accepted.sum()) * correction / correction.sum()
verdict(torch.allclose(result, target), f"wanted {numbers(target)}, got {numbers(result)}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# The draft's likeliest token was proposed, and then judged as if it had been drawn
# ([speculative-sampling#3](https://github.com/jaymody/speculative-sampling/issues/3)).
#
# ```diff
# -     return F.one_hot(draft.argmax(), len(draft)).float()
# +     return draft
# ```
#
# </details>

# %% [markdown]
# ## 8. Reported as a bug, and none
#
# Here nothing is to be repaired. Decide whether the report is right, then run the cell, then unfold.
#
# ### "Cosine similarity returned −0.26. It should be between 0 and 1!"
#
# And: *"the cosine of a vector with itself is 1.0000001!"* And: *"for the same two vectors, PyTorch says 0.84 and NumPy 0.91!"*

# %% tags=["picture"]
print(
    "(1, 3) and (3, -2):        ",
    F.cosine_similarity(torch.tensor([1.0, 3.0]), torch.tensor([3.0, -2.0]), dim=0).item(),
)
print("the float32 number after 1:", torch.nextafter(torch.tensor(1.0), torch.tensor(2.0)).item())
tall, tiny = torch.tensor([-1.0, 1.0, 3.0]).double(), 1e-9 * torch.tensor([1.0, 2.0, 9.0]).double()
print("a vector of length 1e-8:   ", F.cosine_similarity(tall, tiny, dim=0).item())
print("by the formula:            ", (tall @ tiny / tall.norm() / tiny.norm()).item())

# %% [markdown]
# <details><summary>What it was</summary>
#
# No, three times. An angle of more than 90° has a negative cosine; only vectors without negative entries stay above 0
# ([pytorch#45309](https://github.com/pytorch/pytorch/issues/45309)). The last digit is rounded; clamp before `acos`
# ([#18057](https://github.com/pytorch/pytorch/issues/18057)). And PyTorch takes a length below `eps`, 1e-8, for 1e-8, as its
# documentation says ([#115786](https://github.com/pytorch/pytorch/issues/115786)). A vector database that left short vectors
# unnormalised did have a bug ([qdrant#10465](https://github.com/qdrant/qdrant/issues/10465)).
#
# </details>
#
# ### "The temperature is applied too late"
#
# A speech model divides the `log_softmax` of its scores by the temperature, exponentiates, and lets `torch.multinomial` draw.

# %% tags=["picture"]
scores, tau = torch.tensor([-1.0, 2.0, 0.5, 3.0]), 0.5
late = (scores.log_softmax(-1) / tau).exp()
print(f"late:  {numbers(late / late.sum())}, before dividing {late.sum():.2f}")
print(f"early: {numbers((scores / tau).softmax(-1))}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# No. The exponentials do not sum to 1, but `torch.multinomial` divides by their sum
# ([Kimi-Audio#161](https://github.com/MoonshotAI/Kimi-Audio/pull/161)).
#
# </details>
#
# ### "The softmax should run over the whole matrix"
#
# A reader of a vision transformer expects all weights of a picture to sum to 1.

# %% tags=["picture"]
print("sums of the rows, over the keys:      ", numbers(scores_of(x, x).softmax(-1).sum(-1)))
print("sums of the rows, over the whole table:", numbers(scores_of(x, x).flatten().softmax(-1).view(6, 6).sum(-1)))

# %% [markdown]
# <details><summary>What it was</summary>
#
# No. Each query divides one unit of attention among its keys. Over the whole table, all queries would share one unit
# ([vit-pytorch#44](https://github.com/lucidrains/vit-pytorch/issues/44)). Softmax over the *queries* is a bug, which a user of
# another library noticed because, with one query, every weight was 1
# ([PyTorch-NLP#2](https://github.com/PetrochukM/PyTorch-NLP/issues/2)).
#
# </details>
#
# ### "Keys and values are swapped"
#
# A function returns `q, k, v`, and the caller writes `q, v, k = ...`. The model was trained with this code.

# %% tags=["picture"]
packed = torch.randn(4, 12, generator=torch.Generator().manual_seed(5))  # three matrices side by side


def as_declared(packed):
    q, k, v = (x @ packed).chunk(3, -1)
    return attend(scores_of(q, k), v)


def as_called(packed):
    q, v, k = (x @ packed).chunk(3, -1)
    return attend(scores_of(q, k), v)


first, second, third = packed.chunk(3, -1)
print("same weights, outputs equal:          ", torch.allclose(as_declared(packed), as_called(packed)))
print(
    "blocks 1 and 2 swapped, outputs equal:",
    torch.allclose(as_declared(packed), as_called(torch.cat([first, third, second], -1))),
)

# %% [markdown]
# <details><summary>What it was</summary>
#
# No: the block that is used as a key learns to be one, whatever its name. It becomes a bug as soon as weights come from
# elsewhere ([transformer-from-scratch#1](https://github.com/jsbaan/transformer-from-scratch/issues/1)).
#
# </details>
#
# ### "One tensor is query, key and value"
#
# The line is `self.attn(x, x, x)`, with an `nn.MultiheadAttention`. There ought to be three projections.

# %% tags=["picture"]
for name, parameter in nn.MultiheadAttention(4, 2, bias=False).named_parameters():
    print(name, tuple(parameter.shape))

# %% [markdown]
# <details><summary>What it was</summary>
#
# No. The module projects, with three matrices in one. Its arguments say from which *words* it makes queries, keys and values
# ([uvadlc_notebooks#68](https://github.com/phlippe/uvadlc_notebooks/issues/68),
# [tensorflow/text#1017](https://github.com/tensorflow/text/issues/1017)).
#
# </details>
#
# ### "There is one projection for all heads"
#
# *"The paper says $h$ different projections, so the weight of the queries should be `(D, D * H)`, not `(D, D)`."*

# %% tags=["picture"]
W = torch.randn(4, 4, generator=torch.Generator().manual_seed(6))
print("at once:", numbers((x @ W)[0]))
print("by head:", numbers((x @ W[:, :2])[0]), numbers((x @ W[:, 2:])[0]))

# %% [markdown]
# <details><summary>What it was</summary>
#
# No. The matrices of all heads are side by side, each `(D, D / H)`, as in the paper, where $d_k = d / h$
# ([pytorch#60445](https://github.com/pytorch/pytorch/issues/60445),
# [SamLynnEvans/Transformer#4](https://github.com/SamLynnEvans/Transformer/issues/4)).
#
# </details>
#
# ### "It scales the queries, not the scores"
#
# In 2023 a user reported this to three projects at once.

# %% tags=["picture"]
print("largest difference:", ((x / 2) @ x.T - x @ x.T / 2).abs().max().item())

# %% [markdown]
# <details><summary>What it was</summary>
#
# No, a product can be divided at either end ([XLM#357](https://github.com/facebookresearch/XLM/issues/357),
# [Flaubert#45](https://github.com/getalp/Flaubert/issues/45)). One project merged the change, and took it back when training
# broke ([transformers#22444](https://github.com/huggingface/transformers/pull/22444)).
#
# </details>
#
# ### "The weights do not sum to 1"
#
# In training mode, a user finds rows of weights with a sum other than 1.

# %% tags=["picture"]
with torch.random.fork_rng(devices=[]):
    torch.manual_seed(0)
    dropped = F.dropout(scores_of(x, x).softmax(-1).expand(2000, 6, 6), 0.3)
print("sums of one draw:", numbers(dropped[0].sum(-1)))
print(f"mean of all sums: {dropped.sum(-1).mean():.3f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# No. Dropout sets weights to 0 and divides the others by $1 - p$, so only the mean is 1. To divide each row by its sum *would*
# be a bug: its mean is not the row of eval mode
# ([transformers#31468](https://github.com/huggingface/transformers/issues/31468),
# [pytorch#42929](https://github.com/pytorch/pytorch/issues/42929)).
#
# </details>
#
# ### "The mask comes too late"
#
# A model takes the softmax over everything, sets the weights of padding to 0, and divides each row by its new sum.


# %% tags=["picture"]
def renormalised(scores, mask):
    weights = scores.softmax(-1) * ~mask
    return weights / weights.sum(-1, keepdim=True)


last = torch.tensor([False, False, False, True])
for row in (torch.tensor([2.0, 1.0, -1.0, 3.0]), torch.tensor([2.0, 1.0, -1.0, 200.0])):
    print(
        "mask first:",
        numbers(row.masked_fill(last, -torch.inf).softmax(-1)),
        " renormalised:",
        numbers(renormalised(row, last)),
    )

# %% [markdown]
# <details><summary>What it was</summary>
#
# On paper it is not: the sum over blocked keys cancels, as the reader worked out
# ([pointer-generator#88](https://github.com/abisee/pointer-generator/issues/88)). But it is fragile. If a blocked score is by
# far the highest, all others are rounded to 0, and 0 / 0 is NaN.
#
# </details>
#
# ### "Positions start at 1"
#
# A program counts positions for RoPE from 1.

# %% tags=["picture"]
turns = torch.polar(torch.ones(9), 0.5 * torch.arange(9.0))  # the rotation of each position
for name, gaps in {
    "from 0": turns[5] * turns[2].conj(),
    "from 1": turns[6] * turns[3].conj(),
    "only queries": turns[6] * turns[2].conj(),
}.items():
    print(f"{name:13} cosine of the angle between query and key: {gaps.real:.4f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# For RoPE it is not, because only gaps count. It is one if queries and keys count differently, or if something else reads the
# positions, for which one trainer was corrected ([prime-rl#3466](https://github.com/PrimeIntellect-ai/prime-rl/pull/3466)).
#
# </details>
#
# ### "It rotates the wrong way"
#
# A widely read implementation turns every pair clockwise: it adds where the textbook subtracts.

# %% tags=["picture"]
q, k = torch.complex(x[0, 0], x[0, 1]), torch.complex(x[1, 0], x[1, 1])  # one pair of a query and of a key
print("counter-clockwise:         ", (q * turns[5] * (k * turns[2]).conj()).real.item())
print("clockwise:                 ", (q * turns[5].conj() * (k * turns[2].conj()).conj()).real.item())
print("clockwise, weights mirrored:", (q.conj() * turns[5].conj() * (k.conj() * turns[2].conj()).conj()).real.item())

# %% [markdown]
# <details><summary>What it was</summary>
#
# No. If every second number of queries and keys changes its sign, the old scores return, and these signs can be part of the
# weights. So a model learns the same either way. For weights that *are* trained, a change would be a bug, and the author
# declined it ([nanochat#489](https://github.com/karpathy/nanochat/pull/489),
# [#264](https://github.com/karpathy/nanochat/issues/264)).
#
# </details>
#
# ### "The last window runs past the end"
#
# A script draws a start $i$ from $0, \dots, L - T - 1$, with inputs `data[i : i + T]` and targets `data[i + 1 : i + T + 1]`.

# %% tags=["picture"]
data, T = torch.arange(20), 8
for i in (len(data) - T - 2, len(data) - T - 1, len(data) - T):
    print(
        f"start {i}: {len(data[i : i + T])} inputs, {len(data[i + 1 : i + T + 1])} targets, the last is {data[i + 1 : i + T + 1][-1]}"
    )

# %% [markdown]
# <details><summary>What it was</summary>
#
# No. With one start fewer, the last token would never be a target
# ([ng-video-lecture#56](https://github.com/karpathy/ng-video-lecture/issues/56)).
#
# </details>
#
# ### "The validation loss is lower, so something leaks"
#
# A model with dropout has a lower loss on held-out text than its training reports.

# %% tags=["picture"]
with torch.random.fork_rng(devices=[]):
    torch.manual_seed(0)
    features, labels = torch.randn(4000, 20), torch.randint(2, (4000,))
    labels[features[:, 0] > 0] = 1
    net = nn.Sequential(nn.Linear(20, 50), nn.ReLU(), nn.Dropout(0.8), nn.Linear(50, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(40):
        loss = F.cross_entropy(net(features[:2000]), labels[:2000])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        noisy = F.cross_entropy(net.train()(features[:2000]), labels[:2000])
        quiet = [
            F.cross_entropy(net.eval()(features[part]), labels[part]) for part in (slice(0, 2000), slice(2000, 4000))
        ]
print(f"training text: with dropout {noisy:.2f}, without {quiet[0]:.2f}; held-out text without: {quiet[1]:.2f}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# No: the reported loss is that of a model with dropout, averaged over earlier steps. To compare, measure both texts in eval
# mode, at the same moment ([keras#472](https://github.com/keras-team/keras/issues/472)).
#
# </details>
#
# ### "The logits differ with the cache"
#
# In float32 they differ in the sixth digit. In half precision, the model sometimes writes another text. Others report that
# FlashAttention, which claims to be exact, has other numbers than the plain formula.

# %% tags=["picture"]
q, k = torch.randn(2, 300, 64, generator=torch.Generator().manual_seed(7))
for dtype in (torch.float64, torch.float32, torch.bfloat16):
    at_once, by_rows = q.to(dtype) @ k.to(dtype).T, torch.cat([row[None].to(dtype) @ k.to(dtype).T for row in q])
    exact = q.double() @ k.double().T
    print(
        f"{dtype!s:15} error at once {(at_once - exact).abs().max():.0e}, row by row {(by_rows - exact).abs().max():.0e}"
    )

# %% [markdown]
# <details><summary>What it was</summary>
#
# No. A more precise dtype would not help against a bug, and here it does: products of other shapes add their terms in another
# order ([transformers#25420](https://github.com/huggingface/transformers/issues/25420)). Compare *both* with a result in
# higher precision ([flash-attention#410](https://github.com/Dao-AILab/flash-attention/issues/410),
# [#1445](https://github.com/Dao-AILab/flash-attention/issues/1445)).
#
# </details>
#
# ### "Half of the output is 0"
#
# With 2048 queries, 1024 keys and a causal mask that is aligned at the bottom right, half of the outputs are 0.

# %% tags=["picture"]
mask = torch.arange(4) > torch.arange(8)[:, None] + 4 - 8  # 8 queries, 4 keys: the last query sees all of them
print("keys that each query sees:", (~mask).sum(-1).tolist())

# %% [markdown]
# <details><summary>What it was</summary>
#
# No. The first queries see no key at all, and an output without keys is 0
# ([flash-attention#1778](https://github.com/Dao-AILab/flash-attention/issues/1778)).
#
# </details>
#
# ### "`nn.GELU` is wrong for GPT-2's weights"
#
# GPT-2 computes its nonlinearity by a formula with a tanh. Somebody proposes the plain `nn.GELU`, which is faster.

# %% tags=["picture"]
grid = torch.linspace(-6, 6, 1001)
print(f"they differ by up to {(F.gelu(grid) - F.gelu(grid, approximate='tanh')).abs().max():.0e}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# Half of one. Hardly anybody would see it in a text, but a comparison to 1e-4 fails, and then hides whatever else is wrong
# ([nanoGPT#2](https://github.com/karpathy/nanoGPT/issues/2), [#274](https://github.com/karpathy/nanoGPT/pull/274)). Use the
# function that the weights were trained with.
#
# </details>
#
# ### "The bias of the keys is missing"
#
# A model for images has a bias on queries and values. That of the keys is always 0.

# %% tags=["picture"]
bias = torch.randn(4, generator=torch.Generator().manual_seed(8))
moved = scores_of(x, x + bias).softmax(-1) - scores_of(x, x).softmax(-1)
print(f"with a bias of the keys, the weights change by up to {moved.abs().max():.0e}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# No. The bias adds the same number to all scores of a query, and softmax ignores it
# ([unilm#510](https://github.com/microsoft/unilm/issues/510)). So a program that loses this tensor passes every test of its
# outputs.
#
# </details>
#
# ### "Padding of the target takes part in attention"
#
# A user plots the attention of a translation model, whose mask covers the padding of the *source* only.

# %% tags=["picture"]
longer = torch.cat([x, torch.zeros(3, 4)])  # three padded tokens at the end
causal = torch.ones(9, 9, dtype=torch.bool).triu(1)
with_padding = attend(scores_of(longer, longer).masked_fill(causal, -torch.inf), longer)[:6]
without = attend(scores_of(x, x).masked_fill(future, -torch.inf), x)
print(f"the outputs of real words differ by up to {(with_padding - without).abs().max():.0e}")

# %% [markdown]
# <details><summary>What it was</summary>
#
# No, because of the causal mask: no real word sees what comes after it
# ([joeynmt#151](https://github.com/joeynmt/joeynmt/issues/151)). It becomes one if the padding comes first, or if the loss
# counts padded positions.
#
# </details>
