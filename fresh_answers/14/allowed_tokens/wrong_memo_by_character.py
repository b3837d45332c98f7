# what a character leads to is kept by the character alone, whatever the state
import torch


def allowed_tokens(state, pieces, advance):
    leads = {}
    mask = []
    for piece in pieces:
        s, good = state, piece != ""
        for c in piece:
            if c not in leads:
                leads[c] = advance(s, c)
            s = leads[c]
            if s is None:
                good = False
                break
        mask.append(good)
    return torch.tensor(mask)
