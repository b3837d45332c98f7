"""Published models of GPT-2's form from the Hugging Face hub, for lesson 11: fetched only where somebody asks for one.

Does not cover: how a checkpoint comes into a model, which is the lesson's exercise.
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

ADDRESS = "https://huggingface.co/{model}/resolve/main/{file}"
FILES = ("config.json", "vocab.json", "merges.txt", "model.safetensors")
CACHE = Path("~/.cache/attention-course")
# A piece of text that no token reaches across: a word, a number or signs, with a space before it, or other spaces
PIECE = re.compile(r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s+")


@dataclass(frozen=True)
class PretrainedModel:
    """A checkpoint without the prefix that some files have, its sizes, and its tokeniser."""

    checkpoint: Checkpoint
    sizes: Sizes
    tokens: BytePairTokenizer


def fetch(model: str, folder: Path | None = None) -> PretrainedModel:
    """A published model by its name, e.g. "openai-community/gpt2": from `folder` (a cache in the home folder unless
    given), or into it from the hub, which takes some minutes and says how far it is.

    Raises OSError where a file can be neither found nor fetched, saying which; what came half is not kept.
    """
    held = (folder or CACHE.expanduser()) / model.replace("/", "--")
    held.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        if not (held / name).exists():
            _download(ADDRESS.format(model=model, file=name), held / name)
    return read(held)


def read(folder: Path) -> PretrainedModel:
    """A published model from the four FILES in a folder."""
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
    partly = path.with_name(path.name + ".part")
    print(f"fetching {address}", flush=True)
    try:
        with urllib.request.urlopen(address, timeout=60) as reply, partly.open("wb") as file:
            shutil.copyfileobj(reply, file, 1 << 20)
    except OSError as error:
        partly.unlink(missing_ok=True)
        raise OSError(
            f"{address} could not be fetched ({error}): is there a network, and a model of this name?"
        ) from error
    partly.replace(path)


@dataclass(frozen=True)
class BytePairTokenizer:
    """GPT-2's tokeniser: bytes, written as letters, of which the pair that was merged first is merged first.

    vocabulary  token -> id; merges  pair of tokens -> its rank
    """

    vocabulary: dict[str, int]
    merges: dict[tuple[str, str], int]

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        letters = _letters_of_bytes()
        pieces = ([letters[byte] for byte in piece.encode()] for piece in PIECE.findall(text))
        return [self.vocabulary[token] for piece in pieces for token in self._merged(piece)]

    def decode(self, ids: Sequence[int]) -> list[str]:
        """The text of each token."""
        tokens = {i: token for token, i in self.vocabulary.items()}
        bytes_of = {letter: byte for byte, letter in _letters_of_bytes().items()}
        return [bytes(bytes_of[letter] for letter in tokens[i]).decode(errors="replace") for i in ids]

    def _merged(self, parts: list[str]) -> list[str]:
        while len(parts) > 1:
            pairs = list(pairwise(parts))
            first = min(pairs, key=lambda pair: self.merges.get(pair, len(self.merges)))
            if first not in self.merges:
                break
            at = pairs.index(first)
            parts = [*parts[:at], "".join(first), *parts[at + 2 :]]
        return parts


def _letters_of_bytes() -> dict[int, str]:
    """Every byte as a letter that can be seen: printable ones as they are, the others from 256 on."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = (byte for byte in range(256) if byte not in seen)
    return {byte: chr(byte) for byte in seen} | {byte: chr(256 + i) for i, byte in enumerate(hidden)}
