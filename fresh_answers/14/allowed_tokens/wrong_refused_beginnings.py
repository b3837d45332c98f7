# an empty piece is noted as refused, and then every piece begins with a refused one
import torch


def allowed_tokens(state, pieces, advance):
    refused, mask = [], []
    for piece in pieces:
        if any(piece.startswith(bad) for bad in refused):
            mask.append(False)
            continue
        s = state if piece else None
        for c in piece:
            s = advance(s, c)
            if s is None:
                break
        if s is None:
            refused.append(piece)
        mask.append(s is not None)
    return torch.tensor(mask)
