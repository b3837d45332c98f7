"""Measures of lesson 12 for a model that translates: its alignment, its free running, and two searches.

A sentence is a row of ids, filled up with 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

Function = Callable[..., Any]


def report_alignment(
    error: Function, weights: Tensor, targets: Tensor, alignment: Tensor, words: Sequence[str], kinds: Mapping[str, Any]
) -> None:
    """Print the mean `error(weights, alignment)` of a sentence, and that of each kind of word.

    weights             (B, T, S)
    targets, alignment  (B, T): ids of `words`, and source positions
    kinds               kind -> its words
    """
    errors = torch.stack([error(w, a) for w, a in zip(weights, alignment, strict=True)])
    print(f"The mean error of a sentence is {errors.mean():.0%}. By kind of word:")
    for kind, names in kinds.items():
        of_kind = torch.isin(targets, torch.tensor([words.index(name) for name in names]))  # (B, T)
        print(f"  {kind:10} {error(weights[of_kind], alignment[of_kind]):4.0%} of {int(of_kind.sum())}")


def translate(sources: Tensor, write: Callable[[Tensor], Sequence[int]], length: int) -> Tensor:
    """The translations (B, length) of sources (B, S); `write` maps one source (1, S') to ids, the first not counted."""
    written = torch.zeros(len(sources), length, dtype=torch.int64)
    for i, row in enumerate(sources):
        ids = write(row[row != 0][None])[1:]
        written[i, : len(ids)] = torch.tensor(ids)
    return written


def report_words(targets: Tensor, predicted: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Print the shares of right words and sentences of predictions (B, T); return those of words by position, (T,)."""
    real = targets != 0
    shares = {}
    for name, ids in predicted.items():
        right = (ids == targets) & real
        whole = (right | ~real).all(1).float().mean()
        print(f"{name:16} {right.sum() / real.sum():.0%} of words right, {whole:.0%} of sentences right in every word")
        shares[name] = right.sum(0) / real.sum(0)
    return shares


def compare_searches(
    sources: Tensor, step_of: Callable[[Tensor], Function], greedy: Function, beam: Function, mean: Function, words: Any
) -> None:
    """Print how greedy search and a beam search with a width of 2 differ in sentences with "often".

    sources       (B, S)
    step_of       one source (1, S') -> the `step` that both searches take; they return ids, `begin` first
    mean          (step, ids) -> the mean log-probability per token
    words         the words of the ids
    """
    begun, better, example = {"greedy": 0, "width 2": 0}, 0, list[str]()
    for row in sources:
        step = step_of(row[row != 0][None])
        found = {"greedy": greedy(step), "width 2": beam(step)}
        means = {name: mean(step, ids) for name, ids in found.items()}
        for name, ids in found.items():
            begun[name] += words[ids[1]] == "ifa"
        better += bool(means["width 2"] > means["greedy"] + 1e-6)
        example = example or [
            f"  {name:8} {means[name]:6.3f}  {' '.join(words[i] for i in ids[1:-1])}" for name, ids in found.items()
        ]
    print(
        f"Translations that begin with ifa: {begun['greedy']} by greedy search, {begun['width 2']} with a width of 2."
    )
    print(f"With a width of 2, {better} of {len(sources)} have a better mean.")
    print("The first sentence, with the mean log-probability per token:", *example, sep="\n")
