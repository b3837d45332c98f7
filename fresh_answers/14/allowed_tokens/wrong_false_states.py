# a state that is false (0, an empty tuple) is taken for a refusal
import torch


def allowed_tokens(state, pieces, advance):
    flags = []
    for piece in pieces:
        s = state
        for c in piece:
            s = advance(s, c)
            if not s:
                break
        flags.append(bool(s) and bool(piece))
    return torch.tensor(flags, dtype=torch.bool)
