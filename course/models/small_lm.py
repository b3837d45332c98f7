"""The course's small language model, for lessons 00 to 14.

    lm = small_lm.load()
    lm.next_scores("The boat reached the river")    # logits of the next word, (N,)
    lm.look("The boat reached the river bank")      # queries, keys, values, scores and weights of one head
    lm.compare(softmax=softmax)                     # the loss with your softmax beside the loss with the built-in
    lm.write("The boat reached the river", my_attention)  # text that it writes with your attention

A token is a word or a sign of the stories in `course.models.river_town`. `tools/train_small_lm.py` trained the model
on them; in lesson 08 learners train the same model, and `load(yours=True)` then opens theirs. Model and text have the
course's own licence.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.resources import as_file, files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from .data_folder import data_file
from .modern_lm import BUILT_IN, Block, ModernLM
from .river_town import capitalized, generate_stories
from .swapped_parts import Refused, compare, parts_with
from .write_file import PRIVATE, write_file

FILE = "models/small_lm.safetensors"
WITHOUT_TRIANGLE = "models/without_triangle.json"  # recorded by tools/train_small_lm.py
KEPT = "small_lm.safetensors"  # the learner's, in their data folder
ROWS, ROW = 4, 48  # `compare` takes this many texts of this many tokens
CONTEXT = 128  # tokens; `loss` cuts longer texts. The texts of training had 96
TEXT_SEED, HELD_OUT_SEED = 1, 2  # of the stories of training, and of those that are held out
TOKEN = re.compile(r"'s\b|[^\W\d_]+|\d+|\n+|[^\w\s]")
PARAGRAPH = "¶"  # the token between two stories
NO_SPACE_BEFORE = {".", "!", "?", ",", ":", "'s"}
REINSTALL = "Install the course's wheel again, with pip's option --force-reinstall"


class SmallLM(ModernLM):
    """A `ModernLM` with its words.

    words   its N words, the most frequent first: a word's index is its id
    notes   how it was trained: seed, seconds, held-out loss, digests
    """

    def __init__(self, words: Sequence[str], notes: Mapping[str, str]) -> None:
        super().__init__(len(words))
        self.words, self.notes = list(words), dict(notes)
        self._id = {word.lower(): i for i, word in enumerate(words)}

    @property
    def embedding(self) -> Tensor:
        """The embeddings of all words, (N, D)."""
        return self.tokens.weight.detach()

    def encode(self, text: str) -> Tensor:
        """The ids of a text, int64 (T,). Raises ValueError, naming words that the model does not know."""
        tokens = split_words(text)
        strange = dict.fromkeys(token for token in tokens if token.lower() not in self._id)
        if strange:
            named = ", ".join(repr(token) + self._like(token) for token in strange)
            raise ValueError(f"the model does not know {named}; `lm.words` lists the {len(self.words)} words it knows")
        return torch.tensor([self._id[token.lower()] for token in tokens], dtype=torch.int64)

    def decode(self, ids: Tensor | Sequence[int]) -> str:
        """The text of these ids, with a capital where a sentence begins."""
        return join_words([self.words[int(i)] for i in ids])

    @torch.no_grad()
    def next_scores(self, text: str) -> Tensor:
        """The logits of the token that follows a text, (N,)."""
        scores: Tensor = self(self._encode_at_least(text, 1))[-1]
        return scores

    @torch.no_grad()
    def loss(self, text: str) -> float:
        """Mean loss per token of a text, in nats.

        Each paragraph is a text of its own, and is cut after CONTEXT tokens. The first token of each is not predicted.
        """
        ids = [self._encode_at_least(paragraph, 2) for paragraph in text.strip().splitlines() if paragraph.strip()]
        pieces = [piece for paragraph in ids for piece in paragraph.split(CONTEXT) if len(piece) > 1]
        return float(torch.cat([self.losses(piece[None])[0] for piece in pieces]).mean())

    @torch.no_grad()
    def look(self, text: str, layer: int = 0, head: int = 0) -> SimpleNamespace:
        """Return the tensors of one head for a text of T tokens.

        words       the T words and signs, as they are in the text
        x           (T, D): input of the attention, after RMSNorm; in layer 0, embeddings
        W_q, W_k, W_v  (D, Dk): the head's matrices, in this model with Dv = Dk
        q, k, v     (T, Dk): x times the matrices; in layers 1 and 2, q and k are then rotated
        scores      (T, T): q @ k.T / √Dk, before the mask
        weights     (T, T): softmax of the scores, with the mask
        output      (T, Dv): weights @ v
        """
        ids = self._encode_at_least(text, 1)
        if layer not in range(len(self.blocks)) or head not in range(self.n_heads):
            raise ValueError(
                f"layer is {layer} and head is {head}; "
                f"layers are 0 to {len(self.blocks) - 1}, heads are 0 to {self.n_heads - 1}"
            )
        hidden = BUILT_IN.embed(ids[None], self.tokens.weight)
        for before in self.blocks[:layer]:
            hidden = before(hidden)
        block = self.blocks[layer]
        assert isinstance(block, Block)
        x = block.norm_1(hidden)
        q, k, v = block.attention.heads(x)
        q, k, v = (vectors[0, head] for vectors in (block.attention.rotated(q), block.attention.rotated(k), v))
        scores = BUILT_IN.scores(q, k) * q.shape[-1] ** -0.5
        weights = BUILT_IN.weights(scores, BUILT_IN.mask(len(ids)))
        columns = slice(head * q.shape[-1], (head + 1) * q.shape[-1])
        matrices = block.attention.state_dict()
        W_q, W_k, W_v = (matrices[f"W_{letter}.weight"][columns].T for letter in "qkv")
        return SimpleNamespace(
            words=split_words(text), x=x[0], W_q=W_q, W_k=W_k, W_v=W_v,
            q=q, k=k, v=v, scores=scores, weights=weights, output=weights @ v,
        )  # fmt: skip

    def compare(self, **yours: Any) -> tuple[float, float]:
        """Put your functions into the model; print its held-out loss with them and with the built-in ones.

        Each argument is named in `course.models.swapped_parts.SWAPS`: `compare(softmax=softmax)`. Returns both losses,
        yours first. If your function raises an error, it is printed, and the first loss is NaN.
        """
        paragraphs = [self.encode(story) for story in held_out().splitlines()]
        return compare(self, torch.stack([ids[:ROW] for ids in paragraphs if len(ids) >= ROW][:ROWS]), yours)

    @torch.no_grad()
    def write(self, start: str, my_attention: Callable[..., Any], words: int = 30, seed: int = 0) -> str:
        """Continue a text by this many words, drawn one by one, with your attention in all heads; return all of it.

        my_attention  (q, k, v), each (T, Dk), of one head -> (output, weights), as in lesson 00

        If your function fails, a sentence that says so is returned instead.
        """
        ids, generator = self._encode_at_least(start, 1), torch.Generator().manual_seed(seed)
        parts = parts_with({"my_attention": my_attention})
        for _ in range(words):
            try:
                logits = self(ids, parts)[-1]
            except Refused as failure:
                return f"{failure}."
            if not logits.isfinite().all():
                return "my_attention: a result has NaN or infinity in it."
            drawn = torch.multinomial(torch.softmax(logits, dim=-1), 1, generator=generator)
            ids = torch.cat([ids, drawn])
        return self.decode(ids)

    @torch.no_grad()
    def losses_with(self, ids: Tensor, **yours: Any) -> Tensor:
        """Loss of each token but the first, in nats, with your functions in the model: ids (B, T) -> (B, T - 1).

        The arguments are those of `compare`. Raises `Refused` if your function fails.
        """
        return self.losses(ids, parts_with(yours))

    def _encode_at_least(self, text: str, tokens: int) -> Tensor:
        ids = self.encode(text)
        if len(ids) < tokens:
            raise ValueError(f"text is {text!r}; expected at least {tokens} word{'s' * (tokens > 1)}")
        return ids

    def _like(self, word: str) -> str:
        close = difflib.get_close_matches(word.lower(), self._id, n=1, cutoff=0.75)
        return f" (but knows {self.words[self._id[close[0]]]!r})" if close else ""


def load(yours: bool = False) -> SmallLM:
    """Load the trained model, in float32 and without gradients; each call returns a new one.

    With `yours`, load the model that the learner trained and kept. If there is none, or its file cannot be used, it is
    the course's, which is printed. Raises FileNotFoundError if the course's file is missing, and ValueError if it is
    damaged.
    """
    with _shipped() as path:
        weights, notes = read_weights(path, "the small language model")
    with torch.random.fork_rng(devices=[]):  # the caller's next random numbers stay the same
        model = SmallLM(json.loads(notes["words"]), {name: note for name, note in notes.items() if name != "words"})
    model.load_state_dict({name: stored.float() for name, stored in weights.items()})
    kept = data_file(KEPT) if yours else None
    if yours and not (kept and kept.is_file()):
        print("This is the course's model, until you keep yours in lesson 8.")
    elif kept:
        try:
            weights, notes = read_weights(kept, "your model")
            model.load_state_dict(weights)
            model.notes = notes
        except (OSError, ValueError, RuntimeError):
            print(f"Your model cannot be used ({kept} is damaged, or of another version). This is the course's.")
    return model.requires_grad_(False).eval()


def empty(seed: int = 0) -> SmallLM:
    """Return the model before training: random weights from a seed, with gradients, in training mode."""
    with _shipped() as path:
        notes = read_weights(path, "the small language model")[1]
    return untrained(json.loads(notes["words"]), seed)


@torch.no_grad()
def untrained(words: Sequence[str], seed: int) -> SmallLM:
    """Return a model of these words with random weights from a seed.

    Queries and keys begin equal, so that equal words attract each other. W_o begins as the transpose of W_v, so that a
    head copies what it attends to. With both, heads that continue repetitions form sooner.
    """
    with torch.random.fork_rng(devices=[]):  # the caller's next random numbers stay the same
        torch.manual_seed(seed)
        model = SmallLM(words, {})
        for name, parameter in model.named_parameters():
            if parameter.ndim == 2:
                std = 0.1 if name.endswith("W_q.weight") else 0.02 if name.endswith("W_down.weight") else 0.06
                torch.nn.init.normal_(parameter, std=std)
    for block in model.blocks:
        assert isinstance(block, Block)
        block.attention.W_k.weight.copy_(block.attention.W_q.weight)
        block.attention.W_o.weight.copy_(block.attention.W_v.weight.T)
    return model


def keep(model: SmallLM, made_with: Iterable[Any] = ()) -> None:
    """Keep a learner's trained model for `load(yours=True)` in later lessons and sessions; print where.

    Nothing is kept, which is printed, if one of the functions that it was made with is not the learner's.

    Raises TypeError unless it is a `SmallLM`, ValueError if its weights have other names or shapes than those of
    `empty()`, or are not finite. If saving is off, or fails, this is printed.
    """
    if missing := [f"`{f.__name__}`" for f in made_with if not getattr(f, "passes", True)]:
        print(f"Nothing is kept until your {' and '.join(missing)} pass{'' if len(missing) > 1 else 'es'}.")
        return
    if not isinstance(model, SmallLM):
        raise TypeError(f"expected the model that small_lm.empty() returned, got {type(model).__name__}")
    weights = {name: weight.detach().float().contiguous().cpu() for name, weight in model.state_dict().items()}
    expected = {name: weight.shape for name, weight in empty().state_dict().items()}
    for name in weights | expected:
        shape, wanted = weights[name].shape if name in weights else None, expected.get(name)
        if shape != wanted:
            raise ValueError(f"{name}: expected {_shape(wanted)}, got {_shape(shape)}")
        if not weights[name].isfinite().all():
            raise ValueError(f"{name}: expected finite numbers, got NaN or infinity")
    path = data_file(KEPT)
    try:
        if path:
            write_file(path, save(weights, {"format": "pt", "weights": digest(weights)}), PRIVATE)
    except OSError as error:
        print(f"Your model cannot be kept: {path} ({error.strerror}). Later lessons use the course's.")
    else:
        where = f"kept in {path}" if path else "not kept: saving is off here"
        print(f"Your model is {where}.")


def without_triangle() -> str:
    """What is recorded of the same model, trained without the triangle: its loss, and a text that it wrote."""
    found = json.loads(files("course").joinpath(WITHOUT_TRIANGLE).read_text(encoding="utf-8"))
    return (
        f"Trained without the triangle for {found['steps']} steps ({found['date']}).\n"
        f"Loss where it sees the next word: {found['seen']:.3f}; where it does not: {found['unseen']:.2f}.\n"
        f"It writes: {found['text']}"
    )


def training_ids(words: int = 300_000) -> Tensor:
    """The ids of the text that the model was trained on, int64 (L,): its first stories, of this many words in all."""
    return load().encode(generate_stories(words, TEXT_SEED))


def held_out(words: int = 1000) -> str:
    """Stories that the model was not trained on, one per line, of at least this many words in all."""
    return generate_stories(words, HELD_OUT_SEED)


def split_words(text: str) -> list[str]:
    """The tokens of a text: words, signs, and PARAGRAPH for the end of a line."""
    return [PARAGRAPH if token.startswith("\n") else token for token in TOKEN.findall(text.strip())]


def join_words(tokens: Sequence[str]) -> str:
    """The text of tokens, with spaces, and capitals where sentences begin."""
    text, quoted, space = "", False, ""
    for token in tokens:
        if token == PARAGRAPH:
            text, quoted, space = text + "\n", False, ""
            continue
        opens, closes = token == '"' and not quoted, token == '"' and quoted
        text += token if closes or token in NO_SPACE_BEFORE else space + token
        quoted, space = opens or (quoted and not closes), "" if opens else " "
    return "\n".join(capitalized(line) for line in text.split("\n"))


def digest(weights: Mapping[str, Tensor]) -> str:
    """The SHA-256 digest of tensors: of their names and bytes, in the order of the names."""
    found = hashlib.sha256()
    for name in sorted(weights):
        found.update(name.encode() + weights[name].contiguous().numpy().tobytes())
    return found.hexdigest()


def _shipped() -> AbstractContextManager[Path]:
    return as_file(files("course").joinpath(FILE))


def _shape(shape: Sequence[int] | None) -> str:
    return "no such weight" if shape is None else str(tuple(shape))


def read_weights(path: Path, model: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The weights and notes of a file; `model` names it in errors, those of `load`."""
    if not path.is_file():
        raise FileNotFoundError(f"{model} is missing: no file {path}. {REINSTALL}")
    try:
        with safe_open(path, framework="pt") as file:
            notes = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    except SafetensorError as error:
        raise ValueError(f"{model} is damaged: {path} is unreadable ({error}). {REINSTALL}") from None
    if digest(weights) != notes.get("weights"):
        raise ValueError(f"{model} is damaged: {path} does not match its digest. {REINSTALL}")
    return weights, notes
