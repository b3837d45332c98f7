# an object that remembers where each beginning of a piece leads to
import torch


class _Walk:
    def __init__(self, state, advance):
        self.reached = {"": state}
        self.advance = advance

    def __call__(self, text):
        known = len(text)
        while text[:known] not in self.reached:
            known -= 1
        for end in range(known, len(text)):
            here = self.reached[text[:end]]
            self.reached[text[:end + 1]] = None if here is None else self.advance(here, text[end])
        return self.reached[text] is not None


def allowed_tokens(state, pieces, advance):
    walk = _Walk(state, advance)
    return torch.as_tensor([bool(piece) and walk(piece) for piece in pieces])
