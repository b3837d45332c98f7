"""Published GPT-2 models for lesson 11, fetched from Hugging Face on request.

Does not cover: how to load a checkpoint into a model, which is the lesson's exercise.
"""

from __future__ import annotations

import json
import re
import shutil
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from safetensors.torch import load_file

from .gpt import Checkpoint, Sizes
from .write_file import open_replacement

ADDRESS = "https://huggingface.co/{model}/resolve/main/{file}"
FILES = ("config.json", "vocab.json", "merges.txt", "model.safetensors")
CACHE = Path("~/.cache/attention-course")
# Pieces of text, whose borders no token crosses: a word, number or signs, with a space before, or other whitespace
PIECE = re.compile(r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s+")


@dataclass(frozen=True)
class PretrainedModel:
    """A checkpoint (without "transformer." in its names), its sizes, its tokenizer."""

    checkpoint: Checkpoint
    sizes: Sizes
    tokens: BytePairTokenizer


def fetch(model: str, folder: Path | None = None) -> PretrainedModel:
    """Read a published model, e.g. "openai-community/gpt2", or download it first.

    Downloads to `folder` (by default a cache in the home folder), which takes several minutes and prints each address.
    Raises OSError with the name of a file that cannot be fetched; partial files are deleted.
    """
    target = (folder or CACHE.expanduser()) / model.replace("/", "--")
    target.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        if not (target / name).exists():
            _download(ADDRESS.format(model=model, file=name), target / name)
    return read(target)


def read(folder: Path) -> PretrainedModel:
    """Read a published model from the four FILES in a folder."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    stored = load_file(folder / "model.safetensors")
    checkpoint = {name.removeprefix("transformer."): numbers for name, numbers in stored.items()}
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    lines = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()
    pairs = [tuple(line.split(" ")) for line in lines if line and not line.startswith("#version")]
    merges = {(left, right): rank for rank, (left, right) in enumerate(pairs)}
    return PretrainedModel(
        checkpoint, Sizes.of(checkpoint, int(config["n_head"])), BytePairTokenizer(vocabulary, merges)
    )


def _download(address: str, path: Path) -> None:
    print(f"fetching {address}", flush=True)
    try:
        with urllib.request.urlopen(address, timeout=60) as reply, open_replacement(path) as file:
            shutil.copyfileobj(reply, file, 1 << 20)
    except OSError as error:
        raise OSError(
            f"{address} could not be fetched ({error}): is there a network, and a model of this name?"
        ) from error


@dataclass(frozen=True)
class BytePairTokenizer:
    """GPT-2's tokenizer, which merges pairs of bytes, written as letters, by rank.

    vocabulary  token -> id
    merges      pair of tokens -> its rank
    """

    vocabulary: dict[str, int]
    merges: dict[tuple[str, str], int]

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        letters = _letters_of_bytes()
        pieces = ([letters[byte] for byte in piece.encode()] for piece in PIECE.findall(text))
        return [self.vocabulary[token] for piece in pieces for token in self._merge(piece)]

    def decode(self, ids: Sequence[int]) -> list[str]:
        """The text of each token."""
        tokens = {i: token for token, i in self.vocabulary.items()}
        bytes_of = {letter: byte for byte, letter in _letters_of_bytes().items()}
        return [bytes(bytes_of[letter] for letter in tokens[i]).decode(errors="replace") for i in ids]

    def _merge(self, parts: list[str]) -> list[str]:
        while len(parts) > 1:
            pairs = list(pairwise(parts))
            first = min(pairs, key=lambda pair: self.merges.get(pair, len(self.merges)))
            if first not in self.merges:
                break
            at = pairs.index(first)
            parts = [*parts[:at], "".join(first), *parts[at + 2 :]]
        return parts


def _letters_of_bytes() -> dict[int, str]:
    """A visible letter for every byte: printable ones stay, the others are 256 and up."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = (byte for byte in range(256) if byte not in seen)
    return {byte: chr(byte) for byte in seen} | {byte: chr(256 + i) for i, byte in enumerate(hidden)}
