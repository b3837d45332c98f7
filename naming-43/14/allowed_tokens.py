# %% wrong: first_character_only | Looks only at the first character of each piece.
import torch

def allowed_tokens(state, pieces, advance):
    result = []
    for piece in pieces:
        result.append(len(piece) > 0 and advance(state, piece[0]) is not None)
    return torch.tensor(result)

# %% wrong: state_not_advanced | Tries every character from the first state and never moves on to the next one.
import torch

def allowed_tokens(state, pieces, advance):
    return torch.tensor([
        bool(piece) and all(advance(state, c) is not None for c in piece) for piece in pieces
    ])

# %% wrong: falsy_state_refused | Tests the truth of the state, so that a state such as 0, "" or () counts as not allowed.
import torch

def _fits(state, piece, advance):
    if piece == "":
        return False
    for char in piece:
        state = advance(state, char)
        if not state:
            return False
    return True

def allowed_tokens(state, pieces, advance):
    return torch.tensor([_fits(state, p, advance) for p in pieces], dtype=torch.bool)

# %% wrong: empty_piece_allowed | Allows an empty piece, because the loop over its characters never meets one that is not allowed.
import torch

def allowed_tokens(state, pieces, advance):
    mask = torch.zeros(len(pieces), dtype=torch.bool)
    for i, piece in enumerate(pieces):
        s = state
        for c in piece:
            s = advance(s, c)
            if s is None:
                break
        else:
            mask[i] = True
    return mask

# %% wrong: state_carried_over | Goes on from the state that the piece before has reached instead of starting each piece from state.
import torch

def allowed_tokens(state, pieces, advance):
    allowed = []
    for piece in pieces:
        ok = piece != ""
        for character in piece:
            following = advance(state, character)
            if following is None:
                ok = False
                break
            state = following
        allowed.append(ok)
    return torch.tensor(allowed)

# %% wrong: returns_list | Returns a list of bools instead of a tensor.
def allowed_tokens(state, pieces, advance):
    def ok(s, piece):
        if not piece:
            return False
        for c in piece:
            s = advance(s, c)
            if s is None:
                return False
        return True
    return [ok(state, piece) for piece in pieces]

# %% wrong: whole_piece_at_once | Passes the whole piece to advance as if it were one character.
import torch

def allowed_tokens(state, pieces, advance):
    out = torch.zeros(len(pieces), dtype=torch.bool)
    for n, piece in enumerate(pieces):
        if piece:
            out[n] = advance(state, piece) is not None
    return out

# %% wrong: goes_on_after_none | Calls advance with the state None after a character that is not allowed and looks only at the last result.
from functools import reduce
import torch

def allowed_tokens(state, pieces, advance):
    flags = []
    for piece in pieces:
        end = reduce(advance, piece, state)
        flags.append(len(piece) > 0 and end is not None)
    return torch.tensor(flags, dtype=torch.bool)

# %% wrong: equals_none | Compares the state with == None instead of "is None", which goes wrong for objects with an == of their own, such as arrays.
import torch

def allowed_tokens(state, pieces, advance):
    result = torch.ones(len(pieces), dtype=torch.bool)
    for i in range(len(pieces)):
        if len(pieces[i]) == 0:
            result[i] = False
        current = state
        for ch in pieces[i]:
            current = advance(current, ch)
            if current == None:
                result[i] = False
                break
    return result

# %% wrong: float_mask | Returns 1.0 and 0.0 instead of bools.
import torch

def allowed_tokens(state, pieces, advance):
    mask = torch.zeros(len(pieces))
    for i, piece in enumerate(pieces):
        s = state
        for c in piece:
            s = advance(s, c)
            if s is None:
                break
        if piece and s is not None:
            mask[i] = 1
    return mask

# %% wrong: true_means_blocked | Returns True for the tokens that are not allowed, as in an attention mask.
import torch

def allowed_tokens(state, pieces, advance):
    blocked = []
    for piece in pieces:
        s, bad = state, piece == ""
        for c in piece:
            s = advance(s, c)
            if s is None:
                bad = True
                break
        blocked.append(bad)
    return torch.tensor(blocked)

# %% wrong: remembers_by_state | Uses the state as a key of a dict to save calls, which fails for states that cannot be hashed, such as lists.
import torch

def allowed_tokens(state, pieces, advance):
    memory = {}

    def step(s, c):
        if (s, c) not in memory:
            memory[s, c] = advance(s, c)
        return memory[s, c]

    out = []
    for piece in pieces:
        s = state
        for c in piece:
            s = step(s, c)
            if s is None:
                break
        out.append(piece != "" and s is not None)
    return torch.tensor(out, dtype=torch.bool)

# %% wrong: stops_at_first_bad_piece | Leaves the loop over the pieces at the first one that is not allowed, so all later ones stay False.
import torch

def allowed_tokens(state, pieces, advance):
    keep = torch.zeros(len(pieces), dtype=torch.bool)

    def walk(piece):
        s = state
        for c in piece:
            s = advance(s, c)
            if s is None:
                return False
        return piece != ""

    for i, piece in enumerate(pieces):
        if not walk(piece):
            break
        keep[i] = True
    return keep

# %% wrong: white_space_ignored | Strips white space from the pieces before it checks them, though spaces are characters for the grammar as well.
import torch

def allowed_tokens(state, pieces, advance):
    def follow(s, text):
        if text == "":
            return s
        s = advance(s, text[0])
        return None if s is None else follow(s, text[1:])

    stripped = [piece.strip() for piece in pieces]
    return torch.tensor([p != "" and follow(state, p) is not None for p in stripped])

# %% wrong: returns_indices | Returns the ids of the allowed tokens instead of a mask over all N tokens.
import torch

def allowed_tokens(state, pieces, advance):
    ids = []
    for i, piece in enumerate(pieces):
        s = state
        ok = bool(piece)
        for c in piece:
            s = advance(s, c)
            if s is None:
                ok = False
                break
        if ok:
            ids.append(i)
    return torch.tensor(ids, dtype=torch.long)

# %% right: for_break
import torch

def allowed_tokens(state, pieces, advance):
    result = []
    for piece in pieces:
        s = state
        for c in piece:
            s = advance(s, c)
            if s is None:
                break
        result.append(piece != "" and s is not None)
    return torch.tensor(result, dtype=torch.bool)

# %% right: for_else
import torch

def allowed_tokens(state, pieces, advance):
    mask = torch.zeros(len(pieces), dtype=torch.bool)
    for i, piece in enumerate(pieces):
        if not piece:
            continue
        current = state
        for character in piece:
            current = advance(current, character)
            if current is None:
                break
        else:
            mask[i] = True
    return mask

# %% right: recursive
import torch

def allowed_tokens(state, pieces, advance):
    def ok(s, piece):
        following = advance(s, piece[0])
        if following is None:
            return False
        return len(piece) == 1 or ok(following, piece[1:])
    return torch.tensor([len(p) > 0 and ok(state, p) for p in pieces])

# %% right: trie
import torch

class Node:
    def __init__(self):
        self.children = {}
        self.ends = []

def allowed_tokens(state, pieces, advance):
    root = Node()
    for i, piece in enumerate(pieces):
        node = root
        for c in piece:
            node = node.children.setdefault(c, Node())
        if piece:
            node.ends.append(i)
    out = torch.zeros(len(pieces), dtype=torch.bool)
    todo = [(root, state)]
    while todo:
        node, s = todo.pop()
        out[node.ends] = True
        for c, child in node.children.items():
            following = advance(s, c)
            if following is not None:
                todo.append((child, following))
    return out

# %% right: reduce
from functools import reduce
import torch

def allowed_tokens(state, pieces, advance):
    step = lambda s, c: None if s is None else advance(s, c)
    ends = [reduce(step, piece, state) for piece in pieces]
    return torch.tensor([e is not None and len(p) > 0 for e, p in zip(ends, pieces)], dtype=torch.bool)
