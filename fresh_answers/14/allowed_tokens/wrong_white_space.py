# a piece of white space alone is treated as empty
import torch


def allowed_tokens(state, pieces, advance):
    marks = [False] * len(pieces)
    for n, piece in enumerate(pieces):
        if not piece.strip():
            continue
        s = state
        for c in piece:
            if (s := advance(s, c)) is None:
                break
        marks[n] = s is not None
    return torch.tensor(marks)
