# each piece gets a deep copy of the state, which not every object allows
import copy

import torch


def allowed_tokens(state, pieces, advance):
    oks = []
    for piece in pieces:
        s = copy.deepcopy(state)
        oks.append(bool(piece))
        for c in piece:
            s = advance(s, c)
            if s is None:
                oks[-1] = False
                break
    return torch.tensor(oks)
