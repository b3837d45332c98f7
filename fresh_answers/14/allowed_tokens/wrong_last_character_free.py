# the last character of a longer piece is not tried
import torch


def allowed_tokens(state, pieces, advance):
    mask = []
    for piece in pieces:
        s, i = state, 0
        while i < max(len(piece) - 1, 1) and i < len(piece) and s is not None:
            s = advance(s, piece[i])
            i += 1
        mask.append(bool(piece) and s is not None)
    return torch.tensor(mask)
