"""Images of drawn signs, and an encoder that reads them, of lesson 12."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

SIGNS = ["", "begin", "end", "cross", "ring", "bar", "corner"]  # by id
SHAPES = torch.tensor(
    [
        [[1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]],
        [[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]],
        [[0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]],
        [[1, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]],
    ]
).float()


def images_of(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw n images (n, 1, 12, 12) with three signs each, and what there is to read: ids (n, 4), `end` last."""
    squares = torch.rand(n, 9, generator=generator).argsort(-1)[:, :3].sort(-1).values  # (n, 3)
    signs = torch.randint(4, (n, 3), generator=generator)
    images = 0.15 * torch.rand(n, 1, 12, 12, generator=generator)
    for image, where, kinds in zip(images, squares.tolist(), signs.tolist(), strict=True):
        for square, kind in zip(where, kinds, strict=True):
            row, column = divmod(square, 3)
            image[0, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4] += SHAPES[kind]
    return images, torch.cat([signs + 3, torch.full((n, 1), SIGNS.index("end"))], 1)


def train_reader(
    reader: nn.Module, train: Callable[..., Any], inputs_for: Callable[..., Tensor]
) -> tuple[Tensor, Tensor]:
    """Train `reader(images, inputs)` on 2000 images, and print what share of 200 others it reads correctly.

    train       (model, (images, ids, mask (n, 9)), steps) trains it
    inputs_for  (ids, begin) -> the inputs for these targets
    Returns the 200 images and their ids, which the reader has read last.
    """
    images, ids = images_of(2000, torch.Generator().manual_seed(3))
    train(reader, (images, ids, torch.zeros(len(images), 9, dtype=torch.bool)), steps=300)
    images, ids = images_of(200, torch.Generator().manual_seed(4))
    with torch.no_grad():
        read = reader(images, inputs_for(ids, SIGNS.index("begin"))).argmax(-1)
    print(f"{(read == ids).all(-1).float().mean():.0%} of 200 unseen images are read correctly.")
    return images, ids


class ImageEncoder(nn.Module):
    """(B, 1, 12, 12) -> memory (B, 9, D), by `patches(images, size)`; an image has no padding."""

    def __init__(self, d_model: int, patches: Callable[[Tensor, int], Tensor]) -> None:
        super().__init__()
        self.patches = patches
        self.squares, self.positions = nn.Linear(16, d_model), nn.Embedding(9, d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, images: Tensor, source_mask: Tensor | None = None) -> Tensor:
        memory: Tensor = self.norm(self.squares(self.patches(images, 4)) + self.positions.weight)
        return memory
