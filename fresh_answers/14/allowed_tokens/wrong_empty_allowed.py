# an empty piece is allowed
import torch


def allowed_tokens(state, pieces, advance):
    out = torch.ones(len(pieces), dtype=torch.bool)
    for i, piece in enumerate(pieces):
        s = state
        for ch in piece:
            s = advance(s, ch)
            if s is None:
                out[i] = False
                break
    return out
