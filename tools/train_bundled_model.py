"""Train the course's model for lesson 11.

`python -m tools.train_bundled_model FILE.safetensors`

Half of each batch is text from `tools.story_corpus`, half is repeated random letters, which only an induction
head can continue. Seeds are fixed; training takes about ten minutes on two cores. The file has GPT-2's published names
and layout. Model and training text have the course's own licence.
"""

from __future__ import annotations

import math
import string
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from course.models.gpt import GPT, Checkpoint, Heads, Sizes
from tools.story_corpus import generate_stories

D_MODEL, N_LAYERS, N_HEADS, BLOCK_SIZE = 64, 3, 4, 96
STEPS, BATCH, PEAK = 3000, 32, 3e-3
LETTERS = 400_000


def alphabet() -> str:
    """The stories' letters and other common ones, which only random letters teach."""
    return "".join(sorted(set(generate_stories(LETTERS)) | set(string.ascii_letters) | set(" ,.?!'-")))


def repeated(rows: int, length: int, n_tokens: int, generator: torch.Generator) -> Tensor:
    """Repeating random tokens, int64 (rows, length), with periods 6 to length / 2."""
    periods = torch.randint(6, length // 2 + 1, (rows, 1), generator=generator)
    drawn = torch.randint(n_tokens, (rows, length), generator=generator)
    return drawn.gather(1, torch.arange(length) % periods)


def trained(steps: int = STEPS) -> tuple[GPT, str]:
    """Train for this many steps; print progress; return the model and its alphabet."""
    letters = alphabet()
    text = torch.tensor([letters.index(letter) for letter in generate_stories(LETTERS)])
    generator = torch.Generator().manual_seed(11)
    model = begun(Sizes(len(letters), D_MODEL, N_LAYERS, N_HEADS, BLOCK_SIZE))
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, steps))
    for step in range(steps):
        starts = torch.randint(len(text) - BLOCK_SIZE, (BATCH // 2, 1), generator=generator)
        stories = text[starts + torch.arange(BLOCK_SIZE + 1)]
        ids = torch.cat([stories, repeated(BATCH // 2, BLOCK_SIZE + 1, len(letters), generator)])
        losses = F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:], reduction="none")
        optimizer.zero_grad()
        losses.mean().backward()
        clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 99:
            of_tales, of_repeats = losses[: BATCH // 2].mean(), losses[BATCH // 2 :, BLOCK_SIZE // 2 :].mean()
            print(f"step {step + 1} of {steps}: loss of tales {of_tales:.3f}, of repeats {of_repeats:.3f}", flush=True)
    return model, letters


def begun(sizes: Sizes) -> GPT:
    """A model before training, with small weights, from a fixed seed."""
    with torch.random.fork_rng():
        torch.manual_seed(11)
        model = sizes.model(_built_in)
        for parameter in model.parameters():
            if parameter.ndim == 2:
                torch.nn.init.normal_(parameter, std=0.05)
    return model


def published(model: GPT) -> Checkpoint:
    """The model's weights in GPT-2's names and layout: `(in, out)`, q, k and v in one."""
    found = {"wte.weight": model.tokens.weight, "wpe.weight": model.places.weight}
    found |= _named("ln_f", model.norm)
    for i, block in enumerate(model.blocks):
        attention, mlp = block.get_submodule("attention"), block.get_submodule("mlp")
        found |= _named(f"h.{i}.ln_1", block.get_submodule("norm_1"))
        found |= _named(f"h.{i}.ln_2", block.get_submodule("norm_2"))
        found |= _turned(f"h.{i}.attn.c_attn", *(attention.get_submodule(f"W_{letter}") for letter in "qkv"))
        found |= _turned(f"h.{i}.attn.c_proj", attention.get_submodule("W_o"))
        found |= _turned(f"h.{i}.mlp.c_fc", mlp.get_submodule("0")) | _turned(
            f"h.{i}.mlp.c_proj", mlp.get_submodule("2")
        )
        found[f"h.{i}.attn.bias"] = torch.ones(model.block_size, model.block_size, dtype=torch.uint8).tril()[None, None]
    return {name: numbers.detach().contiguous() for name, numbers in found.items()}


def write(model: GPT, alphabet: str, path: Path) -> None:
    """Save as safetensors, with metadata for what shapes do not show."""
    heads = model.blocks[0].get_submodule("attention")
    assert isinstance(heads, Heads)
    save_file(published(model), path, {"format": "pt", "n_head": str(heads.n_heads), "alphabet": alphabet})


def _named(name: str, part: torch.nn.Module) -> Checkpoint:
    return {f"{name}.{kind}": part.get_parameter(kind) for kind in ("weight", "bias")}


def _turned(name: str, *parts: torch.nn.Module) -> Checkpoint:
    weight = torch.cat([part.get_parameter("weight").T for part in parts], dim=1)
    return {f"{name}.weight": weight, f"{name}.bias": torch.cat([part.get_parameter("bias") for part in parts])}


def _rate(step: int, steps: int, warmup: int = 100) -> float:
    """Learning rate with warm-up and cosine decay, as a share of the peak."""
    done = min(1.0, step / steps)
    return min(1.0, (step + 1) / warmup) * (0.02 + 0.98 * (1 + math.cos(math.pi * done)) / 2)


def _built_in(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """PyTorch's attention without weights, which training does not need."""
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=~mask)
    return output, output.new_zeros(())


if __name__ == "__main__":
    write(*trained(), Path(sys.argv[1]))
