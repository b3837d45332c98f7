# goes on after a refused character and calls advance with None
import torch


def allowed_tokens(state, pieces, advance):
    result = []
    for text in pieces:
        current, fine = state, bool(text)
        for letter in text:
            current = advance(current, letter)
            fine = fine and current is not None
        result.append(fine)
    return torch.tensor(result)
