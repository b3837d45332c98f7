# the tensor is of dtype uint8 and not bool
import torch


def allowed_tokens(state, pieces, advance):
    out = torch.zeros(len(pieces), dtype=torch.uint8)
    for i, piece in enumerate(pieces):
        s, chars = state, list(piece)
        while chars and s is not None:
            s = advance(s, chars.pop(0))
        out[i] = piece != "" and s is not None
    return out
