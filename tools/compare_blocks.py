"""Compare two transformer blocks, and what each of four changes contributes, at equal CPU seconds.

`python -m tools.compare_blocks course/models/block_comparison.json`

Small language models with six kinds of blocks learn the stories of `course.models.river_town`, three seeds each. One
step of each kind is timed in turn, many times over; each kind then trains for as many steps as take `SECONDS`, with
the same peak and schedule. Lesson 08 draws the held-out losses. The file also has machine, date and settings.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import platform
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from course.models import small_lm
from course.models.modern_lm import RMSNorm
from course.models.right_functions.lesson_07 import apply_rope

SECONDS, SEEDS, PEAK = 20.0, (0, 1, 2), 3e-3
WIDTH, HEADS, BLOCKS, LENGTH, ROWS = 96, 4, 3, 64, 16
WORDS, HELD_OUT_WORDS = 400_000, 8_000
TIMED = 30  # steps of each kind
LOOKS = 8  # measurements of the held-out loss in a training


@dataclass(frozen=True)
class Kind:
    """Which of the four changes a block has."""

    rms_norm: bool = False
    swiglu: bool = False
    rope: bool = False
    no_biases: bool = False


KINDS = {
    "plain": Kind(),
    "RMSNorm": Kind(rms_norm=True),
    "SwiGLU": Kind(swiglu=True),
    "RoPE": Kind(rope=True),
    "no biases": Kind(no_biases=True),
    "modern": Kind(rms_norm=True, swiglu=True, rope=True, no_biases=True),
}


class Attention(nn.Module):
    """Causal self-attention, the same for all kinds but for the rotation."""

    def __init__(self, rope: bool) -> None:
        super().__init__()
        self.rope = rope
        self.W_qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.W_o = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D)"""
        query, key, value = self.W_qkv(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        if self.rope:
            positions = torch.arange(x.shape[1])
            query, key = apply_rope(query, positions), apply_rope(key, positions)
        output = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        result: Tensor = self.W_o(output.transpose(1, 2).flatten(2))
        return result


class SwiGLU(nn.Module):
    """A gated MLP with as many weights as the plain one."""

    def __init__(self, bias: bool) -> None:
        super().__init__()
        hidden = 8 * WIDTH // 3
        self.W_gate, self.W_up = (nn.Linear(WIDTH, hidden, bias=bias) for _ in range(2))
        self.W_down = nn.Linear(hidden, WIDTH, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)"""
        result: Tensor = self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))
        return result


def norm(kind: Kind) -> nn.Module:
    """A norm of this kind."""
    return RMSNorm(WIDTH) if kind.rms_norm else nn.LayerNorm(WIDTH, bias=not kind.no_biases)


def mlp(kind: Kind) -> nn.Module:
    """An MLP of this kind."""
    bias = not kind.no_biases
    if kind.swiglu:
        return SwiGLU(bias)
    return nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH, bias=bias), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH, bias=bias))


class Block(nn.Module):
    """A pre-norm block of this kind."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = norm(kind), norm(kind)
        self.attention, self.mlp = Attention(kind.rope), mlp(kind)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D)"""
        x = x + self.attention(self.norm_1(x))
        result: Tensor = x + self.mlp(self.norm_2(x))
        return result


class Model(nn.Module):
    """Ids (B, T) -> logits (B, T, N). Without RoPE, a learned vector is added for each position."""

    def __init__(self, kind: Kind, n_tokens: int) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(n_tokens, WIDTH), None
        nn.init.normal_(self.tokens.weight, std=0.06)
        if not kind.rope:
            self.positions = nn.Embedding(LENGTH, WIDTH)
            nn.init.normal_(self.positions.weight, std=0.02)
        self.blocks = nn.ModuleList(Block(kind) for _ in range(BLOCKS))
        self.norm = norm(kind)

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T) -> (B, T, N)"""
        x = self.tokens(ids)
        if self.positions is not None:
            x = x + self.positions.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.norm(x) @ self.tokens.weight.mT
        return logits


def made(name: str, seed: int, n_tokens: int) -> Model:
    """A model before training."""
    torch.manual_seed(seed)
    return Model(KINDS[name], n_tokens)


def one_step(model: Model, optimizer: torch.optim.Optimizer, ids: Tensor, generator: torch.Generator) -> None:
    """One step of training on a random batch."""
    rows = torch.randint(len(ids) - LENGTH, (ROWS, 1), generator=generator) + torch.arange(LENGTH)
    loss = F.cross_entropy(model(ids[rows]).flatten(0, 1), ids[rows + 1].flatten())
    optimizer.zero_grad()
    loss.backward()
    clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def seconds_per_step(ids: Tensor, n_tokens: int) -> dict[str, float]:
    """CPU seconds of one step of each kind: the median of many, timed in turn."""
    generator = torch.Generator().manual_seed(0)
    models = {name: made(name, 0, n_tokens) for name in KINDS}
    optimizers = {name: torch.optim.AdamW(model.parameters(), lr=PEAK) for name, model in models.items()}
    times: dict[str, list[float]] = {name: [] for name in KINDS}
    for _ in range(TIMED):
        for name, model in models.items():
            begun = time.process_time()
            one_step(model, optimizers[name], ids, generator)
            times[name].append(time.process_time() - begun)
    return {name: statistics.median(found) for name, found in times.items()}


@torch.no_grad()
def held_out_loss(model: Model, windows: Tensor) -> float:
    """Mean loss in nats on windows (n, LENGTH + 1)."""
    parts = [
        F.cross_entropy(model(part[:, :-1]).flatten(0, 1), part[:, 1:].flatten(), reduction="sum").item()
        for part in windows.split(32)
    ]
    return sum(parts) / windows[:, 1:].numel()


def train(name: str, seed: int, steps: int, ids: Tensor, windows: Tensor, n_tokens: int) -> list[tuple[int, float]]:
    """Train a model; return (step, held-out loss) a few times on the way, and at the end."""
    model, generator = made(name, seed, n_tokens), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK)
    warmup, found = steps // 10, []
    looks = {round(steps * i / LOOKS) for i in range(1, LOOKS + 1)}
    for step in range(steps):
        share = (step - warmup) / (steps - warmup)
        rate = (step + 1) / warmup if step < warmup else (1 + math.cos(math.pi * share)) / 2
        optimizer.param_groups[0]["lr"] = PEAK * rate
        one_step(model, optimizer, ids, generator)
        if step + 1 in looks:
            found.append((step + 1, held_out_loss(model, windows)))
    return found


def of_seed(seed: int, steps: dict[str, int]) -> dict[str, list[tuple[int, float]]]:
    """Train one model of each kind, and return their curves."""
    torch.set_num_threads(1)
    n_tokens, ids, windows = texts()
    found = {}
    for name in KINDS:
        found[name] = train(name, seed, steps[name], ids, windows, n_tokens)
        print(f"seed {seed}, {name}: {found[name][-1][1]:.3f} after {steps[name]} steps", flush=True)
    return found


def texts() -> tuple[int, Tensor, Tensor]:
    """The size of the vocabulary, the text of training (L,), and held-out windows (n, LENGTH + 1)."""
    lm = small_lm.load()
    unseen = lm.encode(small_lm.held_out(HELD_OUT_WORDS))
    windows = unseen[: (len(unseen) - 1) // LENGTH * LENGTH + 1].unfold(0, LENGTH + 1, LENGTH)
    return len(lm.words), small_lm.training_ids(WORDS), windows


def processor() -> str:
    """The processor's name, where the system tells it."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def main(path: Path) -> None:
    """Time all kinds, then train them, one process per seed, and write the file."""
    torch.set_num_threads(1)
    n_tokens, ids, _ = texts()
    times = seconds_per_step(ids, n_tokens)
    steps = {name: round(SECONDS / times[name]) for name in KINDS}
    with ProcessPoolExecutor(len(SEEDS), get_context("spawn")) as pool:
        curves = list(pool.map(of_seed, SEEDS, itertools.repeat(steps)))
    kinds = {
        name: {
            "changes": asdict(kind),
            "parameters": sum(p.numel() for p in made(name, 0, n_tokens).parameters()),
            "seconds per step": round(times[name], 5),
            "steps": steps[name],
            "curves": [[[step, round(loss, 4)] for step, loss in each[name]] for each in curves],
        }
        for name, kind in KINDS.items()
    }
    found = {
        "machine": f"{processor()}, one thread; {os.cpu_count()} processors",
        "torch": torch.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "seconds": SECONDS,
        "seeds": list(SEEDS),
        "peak": PEAK,
        "batch": [ROWS, LENGTH],
        "model": f"{BLOCKS} blocks, width {WIDTH}, {HEADS} heads, {n_tokens} tokens",
        "kinds": kinds,
    }
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
