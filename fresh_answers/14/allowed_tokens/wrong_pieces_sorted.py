# the list of pieces is sorted in place, so that the mask and the list have another order
import torch


def allowed_tokens(state, pieces, advance):
    pieces.sort()
    mask = torch.zeros(len(pieces), dtype=torch.bool)
    for i in range(len(pieces)):
        s = state
        for c in pieces[i]:
            s = advance(s, c)
            if s is None:
                break
        mask[i] = s is not None and len(pieces[i]) > 0
    return mask
