"""Right answers to `allowed_tokens` in other styles."""

import torch


# %% with_a_helper
def reaches(state, piece, advance):
    for character in piece:
        state = advance(state, character)
        if state is None:
            return False
    return len(piece) > 0


def allowed_tokens(state, pieces, advance):
    return torch.tensor([reaches(state, piece, advance) for piece in pieces])


# %% for_and_else
def allowed_tokens(state, pieces, advance):
    allowed = torch.zeros(len(pieces), dtype=torch.bool)
    for i, piece in enumerate(pieces):
        reached = state
        for character in piece:
            reached = advance(reached, character)
            if reached is None:
                break
        else:
            allowed[i] = piece != ""
    return allowed


# %% folded
def allowed_tokens(state, pieces, advance):
    from functools import reduce

    def step(reached, character):
        return None if reached is None else advance(reached, character)

    ends = [reduce(step, piece, state) if piece else None for piece in pieces]
    return torch.tensor([end is not None for end in ends], dtype=torch.bool)


# %% recursively
def allowed_tokens(state, pieces, advance):
    def fits(reached, piece):
        if not piece:
            return True
        after = advance(reached, piece[0])
        return after is not None and fits(after, piece[1:])

    return torch.BoolTensor([bool(piece) and fits(state, piece) for piece in pieces])


# %% pieces_in_a_tree
def allowed_tokens(state, pieces, advance):
    tree = {}
    for i, piece in enumerate(pieces):
        node = tree
        for character in piece:
            node = node.setdefault(character, {})
        if piece:
            node.setdefault("", []).append(i)
    found, todo = [], [(state, tree)]
    while todo:
        reached, node = todo.pop()
        found += node.get("", [])
        for character, below in node.items():
            if character and (after := advance(reached, character)) is not None:
                todo.append((after, below))
    return torch.tensor([i in set(found) for i in range(len(pieces))])


# %% states_in_a_list uses often
def allowed_tokens(state, pieces, advance):
    longest = max(map(len, pieces), default=0)
    reached = [[state] if piece else [] for piece in pieces]  # a list of one state, or of none
    for place in range(longest):
        for i, piece in enumerate(pieces):
            if place < len(piece) and reached[i]:
                after = advance(reached[i][0], piece[place])
                reached[i] = [] if after is None else [after]
    return torch.tensor([len(one) == 1 for one in reached], dtype=torch.bool)
