# %% wrong: state_not_advanced | Every character is tried from the initial state; the state is not carried on from character to character.
def allowed_tokens(state, pieces, advance):
    return torch.tensor([len(p) > 0 and all(advance(state, c) is not None for c in p) for p in pieces])

# %% right: helper
def allowed_tokens(state, pieces, advance):
    def fits(piece):
        now = state
        for c in piece:
            now = advance(now, c)
            if now is None:
                return False
        return len(piece) > 0
    return torch.tensor([fits(p) for p in pieces], dtype=torch.bool)

# %% wrong: state_leaks_between_pieces | The state is not set back, so that a piece begins where the previous one has ended.
def allowed_tokens(state, pieces, advance):
    mask = torch.zeros(len(pieces), dtype=torch.bool)
    for n, piece in enumerate(pieces):
        ok = bool(piece)
        for ch in piece:
            nxt = advance(state, ch)
            if nxt is None:
                ok = False
                break
            state = nxt
        mask[n] = ok
    return mask

# %% wrong: first_character_only | Only the first character of a piece is checked.
def allowed_tokens(state, pieces, advance):
    return torch.tensor([p != "" and advance(state, p[0]) is not None for p in pieces])

# %% wrong: empty_allowed | An empty piece counts as allowed, since none of its characters is refused.
def allowed_tokens(state, pieces, advance):
    result = []
    for piece in pieces:
        s, ok = state, True
        for ch in piece:
            s = advance(s, ch)
            if s is None:
                ok = False
                break
        result.append(ok)
    return torch.tensor(result, dtype=torch.bool)

# %% wrong: falsy_state_refused | A state that is false (0, an empty tuple) is taken for None.
def allowed_tokens(state, pieces, advance):
    mask = torch.zeros(len(pieces), dtype=torch.bool)
    for n, piece in enumerate(pieces):
        s = state
        for ch in piece:
            s = advance(s, ch)
            if not s:
                break
        else:
            mask[n] = len(piece) > 0
    return mask

# %% right: recursion
def allowed_tokens(state, pieces, advance):
    def walk(s, rest):
        if rest == "":
            return True
        following = advance(s, rest[0])
        return following is not None and walk(following, rest[1:])
    mask = torch.zeros(len(pieces), dtype=torch.bool)
    for i in range(len(pieces)):
        mask[i] = pieces[i] != "" and walk(state, pieces[i])
    return mask

# %% wrong: equality_with_none | The state is compared by == None, which calls the state's own comparison, instead of by `is None`.
def allowed_tokens(state, pieces, advance):
    out = []
    for piece in pieces:
        s = state
        good = piece != ""
        for ch in piece:
            s = advance(s, ch)
            if s == None:
                good = False
                break
        out.append(good)
    return torch.tensor(out, dtype=torch.bool)

# %% wrong: goes_on_with_none | After a refused character, advance is called with the state None.
def allowed_tokens(state, pieces, advance):
    from functools import reduce
    return torch.tensor([bool(p) and reduce(advance, p, state) is not None for p in pieces])

# %% wrong: float_mask | The result is a tensor of floats, 1.0 and 0.0, not of bools.
def allowed_tokens(state, pieces, advance):
    mask = torch.zeros(len(pieces))
    for i, piece in enumerate(pieces):
        s = state
        for k, ch in enumerate(piece):
            s = advance(s, ch)
            if s is None:
                break
            if k == len(piece) - 1:
                mask[i] = 1.0
    return mask

# %% wrong: token_ids_instead_of_mask | The ids of the allowed tokens are returned instead of a mask over all N.
def allowed_tokens(state, pieces, advance):
    keep = []
    for i, piece in enumerate(pieces):
        s = state
        for ch in piece:
            s = advance(s, ch)
            if s is None:
                break
        if piece and s is not None:
            keep.append(i)
    return torch.tensor(keep, dtype=torch.long)

# %% wrong: blocked_is_true | The mask is the other way round: True where the piece is refused.
def allowed_tokens(state, pieces, advance):
    blocked = torch.ones(len(pieces), dtype=torch.bool)
    for i, piece in enumerate(pieces):
        s = state
        for ch in piece:
            s = advance(s, ch)
            if s is None:
                break
        else:
            blocked[i] = len(piece) == 0
    return blocked

# %% right: trie
def allowed_tokens(state, pieces, advance):
    reached = {"": state}          # prefix -> state, None where refused
    def after(prefix):
        if prefix not in reached:
            before = after(prefix[:-1])
            reached[prefix] = None if before is None else advance(before, prefix[-1])
        return reached[prefix]
    return torch.tensor([bool(p) and after(p) is not None for p in pieces], dtype=torch.bool)

# %% wrong: prefix_is_enough | A piece counts as soon as one of its characters is allowed, even if a later one is refused.
def allowed_tokens(state, pieces, advance):
    mask = []
    for piece in pieces:
        s, allowed = state, False
        for ch in piece:
            s = advance(s, ch)
            if s is None:
                break
            allowed = True
        mask.append(allowed)
    return torch.tensor(mask)

# %% wrong: memo_by_state | Results are kept in a dictionary under the state, which fails for a state that has no hash.
def allowed_tokens(state, pieces, advance):
    memo = {}
    def step(s, ch):
        if (s, ch) not in memo:
            memo[s, ch] = advance(s, ch)
        return memo[s, ch]
    def ok(piece):
        s = state
        for ch in piece:
            s = step(s, ch)
            if s is None:
                return False
        return piece != ""
    return torch.tensor([ok(p) for p in pieces], dtype=torch.bool)

# %% wrong: strips_spaces | Spaces at the ends of a piece are cut off before the check, though they are characters like others.
def allowed_tokens(state, pieces, advance):
    def ok(piece):
        piece = piece.strip()
        if not piece:
            return False
        s = state
        for ch in piece:
            s = advance(s, ch)
            if s is None:
                return False
        return True
    return torch.tensor([ok(p) for p in pieces], dtype=torch.bool)

# %% wrong: duplicates_by_index | The place of a piece is looked up by list.index, so that of two equal pieces only the first is marked.
def allowed_tokens(state, pieces, advance):
    mask = torch.zeros(len(pieces), dtype=torch.bool)
    for piece in pieces:
        s = state
        for ch in piece:
            s = advance(s, ch)
            if s is None:
                break
        if piece and s is not None:
            mask[pieces.index(piece)] = True
    return mask

# %% right: exception_flow
class Refused(Exception):
    pass

def run(state, piece, advance):
    if not piece:
        raise Refused
    for letter in piece:
        state = advance(state, letter)
        if state is None:
            raise Refused
    return state

def allowed_tokens(state, pieces, advance):
    verdict = torch.empty(len(pieces), dtype=torch.bool)
    for row, piece in enumerate(pieces):
        try:
            run(state, piece, advance)
            verdict[row] = True
        except Refused:
            verdict[row] = False
    return verdict

# %% wrong: stays_means_refused | A character that leaves the state as it is counts as refused.
def allowed_tokens(state, pieces, advance):
    result = torch.zeros(len(pieces), dtype=torch.bool)
    for i, piece in enumerate(pieces):
        s, moved = state, len(piece) > 0
        for ch in piece:
            new = advance(s, ch)
            if new is None or new is s:
                moved = False
                break
            s = new
        result[i] = moved
    return result

# %% right: all_pieces_in_step
def allowed_tokens(state, pieces, advance):
    alive = {i: state for i, p in enumerate(pieces) if len(p)}
    for k in range(max((len(p) for p in pieces), default=0)):
        survivors = {}
        for i, s in alive.items():
            if k < len(pieces[i]):
                s = advance(s, pieces[i][k])
                if s is None:
                    continue
            survivors[i] = s
        alive = survivors
    return torch.tensor([i in alive for i in range(len(pieces))], dtype=torch.bool)
