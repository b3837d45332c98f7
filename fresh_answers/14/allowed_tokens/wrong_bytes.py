# advance gets the bytes of a piece and not its characters
import torch


def allowed_tokens(state, pieces, advance):
    out = []
    for piece in pieces:
        raw, s = piece.encode("utf-8"), state
        for b in raw:
            s = advance(s, chr(b))
            if s is None:
                break
        out.append(len(raw) > 0 and s is not None)
    return torch.tensor(out)
