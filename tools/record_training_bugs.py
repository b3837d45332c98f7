"""Train a small model with each of nine bugs, and record the curves for the bug museum.

`python -m tools.record_training_bugs course/models/training_bugs.json`

The model is lesson 08's with one block, made of right parts, so the curves are those of the bugs alone. Each run has
the same seed, the same windows of the stories of `course.models.river_town` and the same schedule. The held-out loss
is measured without the bug, except that a model without a causal mask has none there either.
"""

from __future__ import annotations

import json
import math
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from course.models import small_lm
from course.models.own_blocks import OwnBlocksLM
from course.models.right_functions.lesson_05 import causal_mask
from course.models.right_functions.lesson_06 import MultiHeadAttention
from course.models.right_functions.lesson_07 import RotarySelfAttention
from course.models.right_functions.lesson_08 import TransformerBlock
from course.models.training_bugs import BUGS

STEPS, ROWS, LENGTH, PEAK, TOO_HIGH = 300, 16, 32, 1e-2, 30
MEAN, LOOK = 10, 50  # training losses are means over so many steps; the held-out loss is measured after so many
WORDS, HELD_OUT_WORDS, SEED = 300_000, 2_000, 2


def windows(ids: Tensor, starts: Tensor) -> tuple[Tensor, Tensor]:
    """The windows (B, LENGTH) of a text that begin at starts (B, 1), and their targets."""
    places = starts + torch.arange(LENGTH)
    return ids[places], ids[places + 1]


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean cross-entropy over all positions."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def run_with(bug: str, ids: Tensor, unseen: tuple[Tensor, Tensor]) -> dict[str, list[float]]:
    """Train with a bug, or with none: means of the training losses, and held-out losses."""
    parts = TransformerBlock, MultiHeadAttention, RotarySelfAttention, causal_mask
    model = OwnBlocksLM(*parts, seed=SEED, block_size=LENGTH, d_model=32, n_heads=2, n_blocks=1)
    if bug == "no causal mask":
        model.mask.zero_()
    peak = PEAK * (TOO_HIGH if bug == "learning rate too high" else 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
    generator = torch.Generator().manual_seed(SEED)
    first = torch.randint(len(ids) - LENGTH, (ROWS, 1), generator=generator)
    training, held_out = [], []
    for step in range(STEPS + 1):
        if step % LOOK == 0:
            with torch.no_grad():
                held_out.append(loss_of(model(unseen[0]), unseen[1]).item())
        if step == STEPS:
            break
        warmup = STEPS // 10
        share = (step - warmup) / (STEPS - warmup)
        rate = (step + 1) / warmup if step < warmup else (1 + math.cos(math.pi * share)) / 2
        optimizer.param_groups[0]["lr"] = peak * rate
        drawn = torch.randint(len(ids) - LENGTH, (ROWS, 1), generator=generator)
        inputs, targets = windows(ids, first if bug == "always the same batch" else drawn)
        if bug == "targets not shifted":
            targets = inputs
        if bug == "targets shifted twice":
            inputs, targets = inputs[:, :-1], targets[:, 1:]
        logits = model(inputs)
        if bug == "softmax before the loss":
            logits = logits.softmax(-1)
        loss = loss_of(logits, targets.mT if bug == "flattened differently" else targets)
        if bug != "no zero_grad":
            optimizer.zero_grad()
        loss.backward()
        if bug == "zero_grad after backward":
            optimizer.zero_grad()
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        training.append(loss.item())
    means = [sum(training[i : i + MEAN]) / MEAN for i in range(0, STEPS, MEAN)]
    return {"training": [round(loss, 3) for loss in means], "held out": [round(loss, 3) for loss in held_out]}


def baselines(ids: Tensor, unseen: tuple[Tensor, Tensor], n_tokens: int) -> dict[str, float]:
    """The held-out losses of counting, as in lesson 08."""
    pairs = torch.zeros(n_tokens, n_tokens)
    pairs.index_put_((ids[:-1], ids[1:]), torch.ones(len(ids) - 1), accumulate=True)
    tables = {
        "uniform": torch.zeros(n_tokens, n_tokens),
        "unigram": torch.bincount(ids, minlength=n_tokens).add(1).log().expand(n_tokens, n_tokens),
        "bigram": (pairs + 0.01).log(),
    }
    return {name: round(loss_of(table[unseen[0]], unseen[1]).item(), 3) for name, table in tables.items()}


def main(path: Path) -> None:
    """Record all runs in a JSON file, and print how each ends."""
    torch.set_num_threads(1)
    lm = small_lm.load()
    ids, text = small_lm.training_ids(WORDS), lm.encode(small_lm.held_out(HELD_OUT_WORDS))
    unseen = windows(text, torch.arange(0, len(text) - LENGTH, LENGTH)[:, None])
    found = {
        "date": datetime.now(UTC).date().isoformat(),
        "made with": f"PyTorch {torch.__version__}, {torch.get_num_threads()} thread, {platform.machine()}",
        "every": [MEAN, LOOK],
        "baselines": baselines(ids, unseen, len(lm.words)),
        "runs": {},
    }
    for bug in ("no bug", *BUGS):
        found["runs"][bug] = run = run_with(bug, ids, unseen)
        print(f"{bug:26} training {run['training'][-1]:6.2f}   held out {run['held out'][-1]:6.2f}", flush=True)
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
