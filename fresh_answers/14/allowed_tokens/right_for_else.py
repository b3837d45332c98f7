# a loop with else for each piece
import torch


def allowed_tokens(state, pieces, advance):
    verdicts = []
    for piece in pieces:
        now = state
        for character in piece:
            now = advance(now, character)
            if now is None:
                verdicts.append(False)
                break
        else:
            verdicts.append(piece != "")
    return torch.tensor(verdicts, dtype=torch.bool)
