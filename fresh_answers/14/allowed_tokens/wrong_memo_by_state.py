# results are kept in a dict by state: a list as a state cannot be a key
import torch


def allowed_tokens(state, pieces, advance):
    memo = {}

    def step(s, c):
        if (s, c) not in memo:
            memo[s, c] = advance(s, c)
        return memo[s, c]

    answer = []
    for piece in pieces:
        s = state
        for c in piece:
            s = step(s, c)
            if s is None:
                break
        answer.append(s is not None and piece != "")
    return torch.tensor(answer)
