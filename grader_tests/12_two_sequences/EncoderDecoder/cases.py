"""Building blocks of the test cases of `EncoderDecoder`: an encoder, a decoder, sentences."""

import torch

from grading.exercises.exercise import EXERCISE, Script, method, sample_model


def parts(draw, N=6, D=5, **kind):
    """A list of an encoder and a decoder with random weights."""
    table = {"table.weight": draw.normal(N, D)}
    written = {"table.weight": draw.normal(N + 1, D), "out.weight": draw.normal(N + 1, D)}
    encoder = sample_model("Reader", table, n_tokens=N, width=D, **kind)
    return [encoder, sample_model("Writer", written, n_tokens=N + 1, width=D)]


def unnamed(draw, **kind):
    """The same, of modules that take their arguments by position only, the mask always."""
    return [sample_model(f"Positional{node.name}", node.state, **node.kwargs) for node in parts(draw, **kind)]


def sentences(draw, B, S, T, N=6, padded=True):
    """source (B, S), targets_in (B, T) and a padding mask (B, S).

    Each row of the mask has an open and a padded position. Without `padded` none is padded, so the handling of padding
    does not matter.
    """
    mask = draw.chance(0.4, B, S)
    for row in mask:
        order = draw.permutation(S)
        row[order[0]], row[order[-1]] = False, True
    if not padded:
        mask[:] = False
    return {
        "source": draw.integers(0, N, B, S),
        "targets_in": draw.integers(0, N + 1, B, T),
        "source_mask": mask,
    }


def translated(draw, B, S, T, *, masked=True, padded=False, by_name=False, halves=False, **kind):
    """A script that calls the whole module, or its halves, on sentences: "logits".

    masked  with a mask, which blocks positions if the sentences are `padded`
    kind    kind of memory, see `course.sample_models.Reader`
    """
    encoder, decoder = parts(draw, **kind)
    given = sentences(draw, B, S, T, padded=padded)
    if not masked:
        del given["source_mask"]
    s = Script(encoder=encoder, decoder=decoder, **given)
    m = s.call(EXERCISE, s.encoder, s.decoder, name="module")
    mask = (s.source_mask,) if masked else ()
    if halves:
        memory = s.call(method(m, "encode"), s.source, *mask, name="memory")
        s.call(method(m, "decode"), s.targets_in, memory, *mask, name="logits")
    elif by_name:
        s.call(
            m,
            source=s.source,
            targets_in=s.targets_in,
            **({"source_mask": s.source_mask} if masked else {}),
            name="logits",
        )
    else:
        s.call(m, s.source, s.targets_in, *mask, name="logits")
    return s


# For the visible examples
TABLE = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]])
SAID = torch.tensor([[0.5, 0.0], [0.0, -0.5], [1.0, 1.0]])


def simple(paired=False):
    reader = sample_model("Reader", {"table.weight": TABLE}, n_tokens=3, width=2, paired=paired)
    writer = sample_model("Writer", {"table.weight": SAID, "out.weight": TABLE.flip(0)}, n_tokens=3, width=2)
    return reader, writer
