"""Train the attention-only model for lesson 11.

`python -m tools.train_attention_only course/models/attention_only.safetensors`

Each text is random letters, all different, that repeat. Only an induction head can continue it, and with nothing but
attention, it needs a head in the layer below that looks at the letter before. Seeds are fixed, and on one thread the
same machine and PyTorch give the same weights; training takes about a minute of an idle core. The weights are stored in
float16; seed, time, losses and digest are printed and stored beside them.
"""

from __future__ import annotations

import platform
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from course.models.attention_only import AttentionOnly
from course.models.small_lm import digest
from tools.train_small_lm import learning_rate

SEED = 2
STEPS, ROWS, LENGTH, PEAK = 2500, 32, 48, 5e-3
TESTED, PERIOD = 64, 12  # texts for the notes' losses, and their period


def repeated_letters(rows: int, length: int, n_tokens: int, generator: torch.Generator) -> Tensor:
    """Repeating random letters, int64 (rows, length): all letters of a period differ. Periods are 4 to length / 2."""
    periods = torch.randint(4, length // 2 + 1, (rows, 1), generator=generator)
    drawn = torch.rand(rows, n_tokens, generator=generator).argsort(-1)
    return drawn.gather(1, torch.arange(length) % periods)


def start() -> AttentionOnly:
    """A model before training, from a fixed seed."""
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        model = AttentionOnly()
        for name, parameter in model.named_parameters():
            torch.nn.init.normal_(parameter, std=0.3 if name == "tokens.weight" else 0.1)
    return model


def train(steps: int = STEPS) -> AttentionOnly:
    """Train for this many steps, and print progress."""
    generator = torch.Generator().manual_seed(SEED)
    model = start()
    n_tokens = len(model.letters.alphabet)
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: learning_rate(step, steps))
    for step in range(steps):
        batch = repeated_letters(ROWS, LENGTH + 1, n_tokens, generator)
        losses = F.cross_entropy(model(batch[:, :-1]).transpose(1, 2), batch[:, 1:], reduction="none")
        optimizer.zero_grad()
        losses.mean().backward()
        clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        schedule.step()
        if step % 500 == 499 or step == steps - 1:
            print(f"step {step + 1} of {steps}: loss of repeats {losses[:, LENGTH // 2 :].mean():.3f}", flush=True)
    return model


@torch.no_grad()
def tested(model: AttentionOnly) -> tuple[float, float]:
    """The loss of new texts before their letters repeat, and after."""
    generator = torch.Generator().manual_seed(SEED + 1)
    once = torch.rand(TESTED, len(model.letters.alphabet), generator=generator).argsort(-1)[:, :PERIOD]
    ids = once.repeat(1, 2)
    losses = F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:], reduction="none")
    return losses[:, : PERIOD - 1].mean().item(), losses[:, PERIOD:].mean().item()


def write(model: AttentionOnly, seconds: float, path: Path) -> dict[str, str]:
    """Save the weights in float16; return the notes saved beside them."""
    weights = {name: parameter.detach().half().contiguous() for name, parameter in model.state_dict().items()}
    stored = AttentionOnly()
    stored.load_state_dict({name: weight.float() for name, weight in weights.items()})
    first, again = tested(stored)
    notes = {
        "seed": str(SEED),
        "seconds": f"{seconds:.0f}",
        "made with": f"PyTorch {torch.__version__}, {torch.get_num_threads()} thread, {platform.machine()}",
        "loss of new letters": f"{first:.4f}",
        "loss of repeated letters": f"{again:.4f}",
        "weights": digest(weights),
    }
    save_file(weights, path, {"format": "pt", **notes})
    return notes


def main(path: Path) -> None:
    """Train, save to a file, and print how."""
    torch.set_num_threads(1)
    began = time.process_time()
    model = train()
    for name, note in write(model, time.process_time() - began, path).items():
        print(f"{name}: {note}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
