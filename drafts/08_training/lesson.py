# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 8: Training

# %%
try:
    import course
except ModuleNotFoundError:  # a fresh Colab machine
    get_ipython().run_line_magic("pip", "install -q attention-course")
import torch
from course import begin, check, figures, hint, interactive, progress, use

begin("08_training")

# %%
import math

import torch.nn.functional as F
from torch import nn

# %% [markdown]
# ## 2. A batch of windows

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
check(get_batch)
### BEGIN HIDDEN TESTS
from grading.judge import grade
grade(get_batch)
### END HIDDEN TESTS

# %% [markdown]
# ## 3. How surprised is it?

# %% nbgrader={"grade": false, "grade_id": "language_model_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def language_model_loss(
    logits: torch.Tensor, targets: torch.Tensor, ignore_index: int = -100
) -> torch.Tensor:
    """Mean negative log-likelihood of the targets, in nats.

    logits: (B, T, N), targets: int64 (B, T). Returns (): the mean over the targets that are not ignore_index, 0 if
    all are. Right to 0.01 for logits as large as 1e4. Not allowed: cross_entropy, nll_loss.
    """
    ### BEGIN SOLUTION
    counts = targets != ignore_index
    safe = targets.masked_fill(~counts, 0)  # -100 is no index
    log_likelihood = logits.log_softmax(-1).gather(-1, safe[..., None])[..., 0]  # (B, T)
    return -(log_likelihood * counts).sum() / counts.sum().clamp(min=1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check_language_model_loss", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(language_model_loss)
### BEGIN HIDDEN TESTS
from grading.judge import grade
grade(language_model_loss)
### END HIDDEN TESTS

# %% [markdown]
# ## 4. A block, and a model

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

# %% nbgrader={"grade": true, "grade_id": "check_TransformerBlock", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(TransformerBlock)
### BEGIN HIDDEN TESTS
from grading.judge import grade
grade(TransformerBlock)
### END HIDDEN TESTS

# %% [markdown]
# ## 5. How large a step?

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

# %% [markdown]
# ## 6. One step

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
# ## 7. Looking without touching

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

# %% [markdown]
# ## 8. Writing

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

# %% nbgrader={"grade": true, "grade_id": "check_generate", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(generate)
### BEGIN HIDDEN TESTS
from grading.judge import grade
grade(generate)
### END HIDDEN TESTS

# %% [markdown]
# ## 9. Training it

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
progress()
