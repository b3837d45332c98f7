"""Figures of lesson 03: the look-up, the shapes, one query step by step, two sentences, and what a query can fetch.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from ..sample_models import sentence
from .attention import in_the_plane, lookup, moves, who_looks_at_whom
from .attention import step as draw_step
from .base import row, with_alt_text, with_choices
from .diagram import overview
from .panels import heat_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Function = Callable[..., Any]
ASKS, RETURNS = (
    ("who?", "which?"),
    ("water", "motion"),
)  # what the entries of queries and keys, and of values, are about
ASKERS = ("boat", "reached", "bank")


def looked_up(embed: Function, token_ids: torch.Tensor, table: torch.Tensor, words: Sequence[str]) -> Figure:
    """The rows of the lesson's table (8, D) that `embed` selects for `token_ids` (6,)."""
    return with_alt_text(
        lookup(token_ids, table, embed(token_ids, table), words),
        "The embedding table with eight rows of three numbers on the left. Lines lead from the rows of the, boat, "
        "reached, river and bank to the six positions of the sentence on the right; the row of the is used twice.",
        "A lookup copies rows, here one of them twice.",
    )


def shapes_to_scores(query: torch.Tensor, key: torch.Tensor, words: Sequence[str]) -> Figure:
    """The queries (3, 2) of three of the words times all keys (6, 2), with the shapes."""
    asked = query[[words.index(word) for word in ASKERS]]
    figure, axes = row(3, width=3.4, height=2.2, ratios=[5, 8, 9])
    heat_map(asked, ax=axes[0], part="q", rows=ASKERS, columns=ASKS, title="Q  (T, Dk) = (3, 2)")
    heat_map(key.mT, ax=axes[1], part="k", rows=ASKS, columns=words, title="@ Kᵀ  (Dk, S) = (2, 6)")
    title = "= scores  (T, S) = (3, 6)"
    heat_map(asked @ key.mT, ax=axes[2], part="scores", rows=ASKERS, columns=words, title=title)
    return with_alt_text(
        figure,
        "Q (T, Dk) = (3, 2), times K transposed (Dk, S) = (2, 6), is the scores (T, S) = (3, 6). Softmax makes A "
        "from them.",
    )


def shapes_to_output(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, words: Sequence[str]) -> Figure:
    """The weights (3, 6) of the same three queries times all values (6, 2), with the shapes."""
    asked = query[[words.index(word) for word in ASKERS]]
    weights = torch.softmax(asked @ key.mT, dim=-1)
    output = weights @ value
    figure, axes = row(3, width=3.4, height=3.1, ratios=[9, 5, 4])
    heat_map(weights, ax=axes[0], part="weights", rows=ASKERS, columns=words, title="A  (T, S) = (3, 6)")
    heat_map(value, ax=axes[1], part="v", rows=words, columns=RETURNS, title="@ V  (S, Dv) = (6, 2)")
    heat_map(output, ax=axes[2], part="output", rows=ASKERS, columns=RETURNS, title="= O  (T, Dv) = (3, 2)")
    return with_alt_text(
        figure,
        f"A (T, S) = (3, 6), times V (S, Dv) = (6, 2), is O (T, Dv) = (3, 2). Its row for bank is {output[2, 0]:.2f} "
        f"water, {output[2, 1]:.2f} motion.",
        "Above, the scores of boat, reached and bank with all six keys. Below, their softmax, A, averages the values.",
    )


@with_choices(
    word=sentence.words,
    step=[1, 2, 3, 4],
    start={"word": "bank", "step": 1},
    strip=[{"step": number} for number in (1, 2, 3, 4)],
)
def one_query(
    attend: Function, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *, word: str, step: int
) -> Figure:
    """One step of the attention, by `attend`, of a word of the sentence, whose queries are (6, Dk)."""
    output, weights = attend(query, key, value)
    i = sentence.words.index(word)
    return draw_step(step, query[i], key, value, weights[i], output[i], sentence.words, word, (ASKS, RETURNS))


def who_looks(weights: torch.Tensor, words: Sequence[str]) -> Figure:
    """The weights (6, 6) of the sentence, as lines and as a map."""
    return with_alt_text(
        who_looks_at_whom(weights, words, words),
        "On the left, lines from every word as a query to every word as a key, wider for larger weights: reached leads "
        "to boat and bank to river. On the right, the same weights as a heat map.",
        "Attention through W_q and W_k.",
    )


def two_sentences(
    attend: Function, embed: Function, table: torch.Tensor, words: Sequence[str], *matrices: torch.Tensor
) -> Figure:
    """The contexts of bank in the sentence with the river, and in one with money.

    `embed(token_ids, table)` looks up the vectors in the table (N, D) of `words`, the matrices W_q, W_k and W_v project
    them, and `attend(query, key, value)` computes the contexts.
    """
    ends, found = {}, []
    for text in ("The boat reached the river bank", "the money left the bank"):
        ids = torch.tensor([words.index(word) for word in text.lower().split()])
        x = embed(ids, table)
        output, weights = attend(*(x @ matrix for matrix in matrices))
        ends[f"“{text}”"] = output[-1]
        found.append(weights[-1])
    dots = {word: table[words.index(word)] @ matrices[-1] for word in ("the", "boat", "river", "bank", "money")}
    return with_alt_text(
        moves(dots, dots["bank"], ends, axes=("water", "motion"), title="the contexts of “bank”"),
        "The values of the words as points, by water and motion. Two arrows start at bank: one, for the sentence with "
        "the river, leads to river; the other, for the sentence with money, leads down towards money.",
        f"bank gives river {found[0][4]:.2f} in one sentence, and money {found[1][1]:.2f} in the other.",
    )


def two_languages(weights: torch.Tensor, asking: Sequence[str], answering: Sequence[str]) -> Figure:
    """The weights (3, 6) of three French words on six English ones."""
    return with_alt_text(
        who_looks_at_whom(weights, asking, answering),
        "Lines from the three French words to the six English ones, and a heat map of three rows and six columns: "
        f"bateau gives boat {weights[0, 1]:.2f}, a gives reached {weights[1, 2]:.2f}, and atteint gives reached "
        f"{weights[2, 2]:.2f}.",
        "T = 3 queries, S = 6 keys.",
    )


def fetched(attend: Function, query_for: Function) -> Figure:
    """The outputs of queries by `query_for` for one or two of four values at the corners of a square."""
    corners = torch.tensor([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])  # (S, Dv)
    keys = torch.eye(4)  # (S, Dk)

    def fetch(*targets: int) -> torch.Tensor:
        output: torch.Tensor = attend(query_for(keys, list(targets))[None], keys, corners)[0][0]
        return output

    asked = {
        "one query for v0 and v2": {"its output": fetch(0, 2)},
        "one query for v1 and v3": {"its output": fetch(1, 3)},
        "a query for v0, one for v2": {"output for v0": fetch(0), "output for v2": fetch(2)},
    }
    figure, axes = row(3, width=3.1, height=3.2)
    for ax, (title, outputs) in zip(axes, asked.items(), strict=True):
        in_the_plane(ax, corners, outputs, title=title)
    return with_alt_text(
        figure,
        "Three squares with values at their corners. For v0 and v2 the output is in the centre; for v1 and v3 it is in "
        "the centre, too. Two queries that ask for v0 and v2 separately have their outputs on those corners.",
        "The first two outputs are the same; two queries keep v0 and v2 apart.",
    )


def of_sentence() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries, keys and values (6, 2) of the sentence, with the matrices of lesson 03."""
    W_q = torch.tensor([[-0.5, 0.0], [1.5, -0.5], [0.0, 2.0]])
    W_k = torch.tensor([[1.0, 2.0], [1.0, -1.0], [-1.0, -0.5]])
    return sentence.x @ W_q, sentence.x @ W_k, sentence.x[:, :2]


def so_far(part: str, attend: Function, *qkv: torch.Tensor) -> Figure:
    """The diagram up to lesson 03 or 04, with the sentence, its queries, keys and values, and `attend(q, k, v)`."""
    q, k, v = qkv
    output, weights = attend(q, k, v)
    values = {"q": q, "k": k, "v": v, "scores": q @ k.mT, "weights": weights, "output": output}
    return overview(part, complete=True, x=sentence.x, **values)
