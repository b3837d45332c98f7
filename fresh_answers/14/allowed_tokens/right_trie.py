# a trie, so that a beginning that pieces share is tried once
import torch


def allowed_tokens(state, pieces, advance):
    tree = {}
    for number, piece in enumerate(pieces):
        node = tree
        for c in piece:
            node = node.setdefault(c, {})
        node.setdefault("", []).append(number)
    mask = torch.zeros(len(pieces), dtype=torch.bool)
    waiting = [(state, tree)]
    while waiting:
        s, node = waiting.pop()
        for c, below in node.items():
            if c == "":
                continue
            follow = advance(s, c)
            if follow is not None:
                mask[below.get("", [])] = True
                waiting.append((follow, below))
    return mask
