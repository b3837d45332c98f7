"""Train the small language model for lessons 00 to 14.

`python -m tools.train_small_lm course/models/small_lm.safetensors`
`python -m tools.train_small_lm --continue course/models/small_lm.safetensors`
`python -m tools.train_small_lm --without-triangle course/models/without_triangle.json`

Most of each batch is text from `course.models.river_town`. One row in four is a repeated list of random words, which
only an induction head can continue. Seeds are fixed, and on one thread the same machine and PyTorch give the same
weights; training takes some minutes of an idle core. The weights are stored in float16; seed, time, loss and
digests are printed and stored beside them.

One head is trained to find the clue that decides what a word with two meanings does: after "the river", the bank may
flood; after "the money", it may close. Eight rows begin with such a sentence, and the share of attention that the head
gives the clue is part of the loss. In four of these rows the head is silent, and what the word does is drawn by lot, so
that no other head learns to find the clue.

The second command begins with the course's weights, so that heads keep their places when the text has changed; words
that are new begin at random. The weights of the course were made by the first command before the text had clues, and by
the second after it. The third trains the model for fewer steps without the causal mask, and records what lesson 00
quotes: the loss where later words can be seen, the loss where they cannot, and a text that it writes.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from course.models.modern_lm import BUILT_IN, Parts
from course.models.own_blocks import random_repeats
from course.models.river_town import double_meanings, generate_stories
from course.models.small_lm import PARAGRAPH, TEXT_SEED, SmallLM, digest, held_out, load, split_words, untrained

SEED = 40
WORDS = 1_200_000
STEPS, STEPS_MORE, PEAK, PEAK_MORE = 3000, 1500, 5e-3, 3e-3
ROWS, REPEATED, LENGTH = 16, 4, 96
CLUES, SILENT = 8, 4  # rows that begin with a clue, and those of them in which the head that finds clues is silent
LAYER, HEAD, SHARE = 0, 3, 0.1  # the head that finds clues, and its share of the loss
HELD_OUT_WORDS = 10_000
STEPS_WITHOUT, WORDS_WITHOUT = 400, 300_000  # without the triangle
START, TEXTS = "The boat reached the river", 8


def vocabulary(text: str) -> list[str]:
    """The words of a text, the most frequent first; capitals only where a word never goes without."""
    counts = Counter(split_words(text))
    spelt = {word.lower(): word for word in sorted(counts)}  # small letters come last
    total: Counter[str] = Counter()
    for word, count in counts.items():
        total[word.lower()] += count
    return [spelt[word] for word in sorted(total, key=lambda word: (-total[word], word))]


@dataclass(frozen=True)
class Meaning:
    """One meaning of a word with two, as ids: the word, the clues that decide for it, and what may follow the word."""

    word: int
    clues: Tensor
    follow: Tensor

    def decides(self, ids: Tensor) -> Tensor:
        """Whether each of the ids (B, T + 1) is the word, and the next one follows from this meaning: bool (B, T)."""
        return (ids[:, :-1] == self.word) & torch.isin(ids[:, 1:], self.follow)


def meanings_in(ids_of: dict[str, int]) -> list[Meaning]:
    """The meanings of words with two meanings, in a vocabulary."""

    def known(words: Iterable[str]) -> Tensor:
        return torch.tensor([ids_of[word] for word in words if word in ids_of], dtype=torch.int64)

    return [
        Meaning(ids_of[word], known(clues), known(follow))
        for word, meanings in double_meanings().items()
        for follow, clues in meanings.items()
        if word in ids_of and len(known(follow))
    ]


def draw_by_lot(ids: Tensor, meanings: list[Meaning], generator: torch.Generator) -> Tensor:
    """The ids (B, T + 1), but what follows a word with two meanings is drawn from both."""
    drawn = ids.clone()
    for meaning in meanings:
        follow = torch.cat([each.follow for each in meanings if each.word == meaning.word])
        lots = follow[torch.randint(len(follow), ids[:, 1:].shape, generator=generator)]
        drawn[:, 1:] = torch.where(meaning.decides(ids), lots, drawn[:, 1:])
    return drawn


def attention_to_clues(weights: Tensor, ids: Tensor, meanings: list[Meaning]) -> Tensor:
    """The attention that words with two meanings give their clues: weights (B, T, T), ids (B, T + 1) -> (n,)."""
    given = [
        (weights * torch.isin(ids[:, None, :-1], meaning.clues)).sum(-1)[meaning.decides(ids)] for meaning in meanings
    ]
    return torch.cat(given)


def without_triangle(parts: Parts, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """PyTorch's attention in which every word sees every word, as one of the model's parts."""
    return F.scaled_dot_product_attention(query, key, value)


def with_the_weights_of(known: SmallLM, words: list[str]) -> SmallLM:
    """A model of these words that begins with the weights of another; the embeddings of words new to it are random."""
    model = untrained(words, SEED)
    weights, rows = known.state_dict(), {word.lower(): row for word, row in zip(known.words, known.tokens.weight)}
    drawn = model.tokens.weight.detach() * (known.tokens.weight.std() / model.tokens.weight.std())
    weights["tokens.weight"] = torch.stack([rows.get(word.lower(), new) for word, new in zip(words, drawn)])
    model.load_state_dict(weights)
    return model


def train(
    model: SmallLM, text: str, steps: int, peak: float = PEAK, attend: Callable[..., Tensor] | None = None
) -> None:
    """Train a model for this many steps, and print progress. With another attention, no head is to find clues."""
    words = model.words
    ids_of = {word.lower(): i for i, word in enumerate(words)}
    ids, meanings = torch.tensor([ids_of[word.lower()] for word in split_words(text)]), meanings_in(ids_of)
    ends = torch.tensor([word in (".", PARAGRAPH, "?", "!") for word in words])
    begins = 1 + ends[ids[: -LENGTH - 1]].nonzero()  # a text begins where a sentence or a quotation ends
    decided = torch.stack([meaning.decides(ids[None])[0] for meaning in meanings]).any(0).nonzero()[:, 0]
    with_clue = begins[torch.searchsorted(begins[:, 0], decided, right=True) - 1]  # where these sentences begin
    generator = torch.Generator().manual_seed(SEED)
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak, betas=(0.9, 0.98), weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: learning_rate(step, steps))
    heard = torch.ones(ROWS, model.n_heads, 1, 1)
    heard[:SILENT, HEAD] = 0
    began = time.perf_counter()
    for step in range(steps):
        starts = [
            among[torch.randint(len(among), (rows,), generator=generator)]
            for among, rows in ((with_clue, CLUES), (begins, ROWS - CLUES - REPEATED))
        ]
        stories = ids[torch.cat(starts) + torch.arange(LENGTH + 1)]
        repeats = random_repeats(REPEATED, LENGTH + 1, LENGTH // 5, len(words), generator)
        batch = torch.cat([draw_by_lot(stories[:SILENT], meanings, generator), stories[SILENT:], repeats])
        if attend is None:
            run = model.run(batch[:, :-1], lambda layer, heads: heads * heard if layer == LAYER else heads)
            logits = run.logits
            given = attention_to_clues(run.weights[LAYER, SILENT:, HEAD], batch[SILENT:], meanings)
        else:
            logits, given = model(batch[:, :-1], replace(BUILT_IN, attend=attend)), torch.ones(1)
        losses = F.cross_entropy(logits.transpose(1, 2), batch[:, 1:], reduction="none")
        found = given[given > 0]  # a few sentences have no clue
        optimizer.zero_grad()
        (losses.mean() - SHARE * found.log().sum() / max(len(found), 1)).backward()
        clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 99 or step == steps - 1:
            of_stories, of_repeats = losses[SILENT:-REPEATED].mean(), losses[-REPEATED:, LENGTH // 2 :].mean()
            print(
                f"step {step + 1} of {steps}: loss of stories {of_stories:.3f}, of repeats {of_repeats:.3f}, "
                f"attention to clues {found.mean():.2f}, {time.perf_counter() - began:.0f} s", flush=True,
            )  # fmt: skip


def write(model: SmallLM, text: str, seconds: float, path: Path, unseen: str | None = None) -> dict[str, str]:
    """Save the weights in float16; return the notes saved beside them, such as the loss on an unseen text."""
    weights = {name: parameter.detach().half().contiguous() for name, parameter in model.state_dict().items()}
    stored = SmallLM(model.words, {})
    stored.load_state_dict({name: weight.float() for name, weight in weights.items()})
    notes = {
        "seed": str(SEED),
        "seconds": f"{seconds:.0f}",
        "made with": f"PyTorch {torch.__version__}, {torch.get_num_threads()} thread, {platform.machine()}",
        "text": hashlib.sha256(text.encode()).hexdigest(),
        "held-out loss": f"{stored.loss(unseen or held_out(HELD_OUT_WORDS)):.4f}",
        "weights": digest(weights),
    }
    save_file(weights, path, {"format": "pt", **notes, "words": json.dumps(model.words, ensure_ascii=False)})
    return notes


def learning_rate(step: int, steps: int, warmup: int = 50) -> float:
    """Learning rate with warm-up and cosine decay, as a share of the peak."""
    return min(1.0, (step + 1) / warmup) * (0.01 + 0.99 * (1 + math.cos(math.pi * step / steps)) / 2)


@torch.no_grad()
def record_without_triangle(path: Path, steps: int = STEPS_WITHOUT) -> None:
    """Train without the triangle; record both losses and a text as JSON, and print them."""
    torch.set_num_threads(1)
    model, parts = untrained(load().words, SEED), replace(BUILT_IN, attend=without_triangle)
    with torch.enable_grad():
        train(model, generate_stories(WORDS_WITHOUT, TEXT_SEED), steps, attend=without_triangle)
    texts = [model.encode(story)[:LENGTH] for story in held_out(HELD_OUT_WORDS).splitlines()[:TEXTS]]
    seen = [model.losses(ids[None], parts)[0] for ids in texts]
    # At the last word of a text so far, the next one is not there to be seen
    unseen = [-torch.log_softmax(model(ids[:t], parts)[-1], -1)[ids[t]] for ids in texts for t in range(1, len(ids))]

    def attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        weights = torch.softmax(q @ k.T * q.shape[-1] ** -0.5, dim=-1)
        return weights @ v, weights

    found = {
        "steps": steps,
        "seen": round(float(torch.cat(seen).mean()), 4),
        "unseen": round(float(torch.stack(unseen).mean()), 4),
        "text": model.write(START, attention),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "made with": f"PyTorch {torch.__version__}, {torch.get_num_threads()} thread, {platform.machine()}",
    }
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1, ensure_ascii=False))


def main(path: Path, more: bool) -> None:
    """Train, from the course's weights or from nothing, save to a file, and print how."""
    torch.set_num_threads(1)
    text = generate_stories(WORDS, TEXT_SEED)
    words = vocabulary(text)
    print(f"{WORDS:,} words of text, {len(words)} different", flush=True)
    began = time.perf_counter()
    model = with_the_weights_of(load(), words) if more else untrained(words, SEED)
    train(model, text, STEPS_MORE if more else STEPS, PEAK_MORE if more else PEAK)
    for name, note in write(model, text, time.perf_counter() - began, path).items():
        print(f"{name}: {note}")


if __name__ == "__main__":
    *option, file = sys.argv[1:]
    if option == ["--without-triangle"]:
        record_without_triangle(Path(file))
    else:
        main(Path(file), more=option == ["--continue"])
