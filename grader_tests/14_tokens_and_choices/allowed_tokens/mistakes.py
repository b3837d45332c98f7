"""Known mistakes in `allowed_tokens`."""

from ...shared.families import arguments, results
from .contract import allowed_tokens

EVERY, KINDS, FORM = "every", "states", "a bool"

right = allowed_tokens.reference_answer("""
def allowed_tokens(state, pieces, advance):
    allowed = []
    for piece in pieces:
        reached = state if piece else None
        for character in piece:
            reached = advance(reached, character)
            if reached is None:
                break
        allowed.append(reached is not None)
    return torch.tensor(allowed, dtype=torch.bool)
""")

right.mistake(
    "the_first_character_is_enough", {"for character in piece:": "for character in piece[:1]:"}, loses=EVERY
).feedback(
    "You allow a piece as soon as its first character is allowed. All of its characters must be allowed, one after the "
    "other."
)
right.mistake(
    "looks_at_the_last_character", {"for character in piece:": "for character in piece[-1:]:"}, loses=EVERY
).feedback(
    "You look only at the last character of a piece. All of its characters must be allowed, one after the other."
)
right.mistake(
    "asks_in_the_first_state",
    {"reached = advance(reached, character)": "reached = advance(state, character)"},
    loses=EVERY,
).feedback(
    "You check every character in the given state. Check each one in the state that the character before it led to."
)
right.mistake("goes_on_from_the_last_piece", loses=EVERY).patch("""
- for piece in pieces:
-     reached = state if piece else None
-     for character in piece:
-         reached = advance(reached, character)
-         if reached is None:
-             break
-     allowed.append(reached is not None)
+ for piece in pieces:
+     ok = len(piece) > 0
+     for character in piece:
+         after = advance(state, character)
+         ok = after is not None
+         if not ok:
+             break
+         state = after
+     allowed.append(ok)
""").feedback(
    "You begin a piece in the state in which the one before it ended. Each piece begins in the given state: use "
    "another variable for the state within a piece."
)
right.mistake("any_character_is_enough", loses=EVERY).patch("""
- reached = state if piece else None
- for character in piece:
-     reached = advance(reached, character)
-     if reached is None:
-         break
- allowed.append(reached is not None)
+ reached, found = state, False
+ for character in piece:
+     after = advance(reached, character)
+     found = found or after is not None
+     reached = NEXT
+ allowed.append(found)
""").for_each(NEXT=("state", "reached if after is None else after")).feedback(
    "You allow a piece if any of its characters is allowed. All of them must be, one after the other."
)
right.mistake("skips_what_is_not_allowed", loses=EVERY).patch("""
- reached = state if piece else None
- for character in piece:
-     reached = advance(reached, character)
-     if reached is None:
-         break
- allowed.append(reached is not None)
+ reached, after = state, None
+ for character in piece:
+     after = advance(reached, character)
+     reached = reached if after is None else after
+ allowed.append(after is not None)
""").feedback("You go on after a character that is not allowed. The piece is not allowed then, whatever follows.")
right.mistake("asks_for_whole_pieces", {"for character in piece:": "for character in [piece]:"}, loses=EVERY).feedback(
    "You give `advance` a whole piece. It takes one character at a time."
)
right.mistake("asks_backwards", {"for character in piece:": "for character in reversed(piece):"}, loses=EVERY).feedback(
    "You go through a piece from its end. Begin with its first character."
)
right.mistake(
    "leaves_out_the_last_character", {"for character in piece:": "for character in piece[:-1]:"}, loses=EVERY
).feedback("You leave out the last character of a piece.")
right.mistake("asks_bytes", {"for character in piece:": "for character in BYTES:"}, loses=EVERY).for_each(
    BYTES=("piece.encode()", "map(chr, piece.encode())")
).feedback("You go through the bytes of a piece. `advance` takes its characters: go through the string itself.")
right.mistake("goes_on_in_the_state_none", loses=EVERY, clause="end").patch("""
- if reached is None:
-     break
""").feedback("You call `advance` with the state None. Once it has returned None, nothing can follow: stop there.")
right.mistake("strips_the_pieces", {"for piece in pieces:": "for piece in map(CLEAN, pieces):"}, loses=EVERY).for_each(
    CLEAN=('lambda piece: piece.strip("[")', 'lambda piece: piece.rstrip("],")', 'lambda piece: piece.replace("?", "")')
).feedback("You remove characters from the pieces first. Every character of a piece counts.")
right.mistake(
    "single_characters_only",
    {
        "reached = state if piece else None": "reached = state if len(piece) == 1 else None",
        "for character in piece:": "for character in piece if len(piece) == 1 else ():",
    },
    loses=EVERY,
).feedback("You allow only pieces of one character. A piece of several is allowed if they are, one after the other.")
right.mistake(
    "repeated_characters_once", {"for character in piece:": "for character in dict.fromkeys(piece):"}, loses=EVERY
).feedback(
    "You check each different character only once. A character that occurs twice must be checked twice, in the states "
    "reached there."
)
right.mistake("allows_the_empty_piece", {"state if piece else None": "state"}, loses=KINDS, clause="nothing").feedback(
    "You allow an empty piece. It has no character that could be allowed, and a model could repeat it without end."
)
right.mistake("takes_false_states_for_none", loses=KINDS).patch("""
- if reached is None:
+ if not reached:
@@
- allowed.append(reached is not None)
+ allowed.append(bool(reached))
""").feedback(
    "You take a state such as 0 or the empty string for None, because `if state` is false for it. Compare with `is "
    "None`."
)
right.mistake(
    "takes_false_ends_for_none", {"allowed.append(reached is not None)": "allowed.append(bool(reached))"}, loses=KINDS
).feedback(
    "You take a last state such as 0 or the empty string for None, because it is false. Compare with `is not None`."
)
right.mistake("stops_at_false_states", {"if reached is None:": "if not reached:"}, loses=KINDS).feedback(
    "You stop at a state such as 0 or the empty string, because `if not state` is true for it. Compare with `is None`."
)
right.mistake("remembers_states_in_a_dict", loses=KINDS, clause="states").patch("""
- allowed = []
+ allowed, known = [], {}
@@
- reached = advance(reached, character)
+ key = (reached, character)
+ known[key] = known[key] if key in known else advance(reached, character)
+ reached = known[key]
""").feedback("You use states as keys of a dict. A state may be any object, such as a list, which has no hash.")
right.mistake(
    "compares_states_with_numbers", {"(reached is not None)": "(reached is not None and reached > 0)"}, loses=KINDS
).feedback("You compare states with numbers. A state may be any object: the only question is whether it is None.")
right.mistake("marks_the_first_of_equal_pieces", loses=EVERY).patch("""
- allowed.append(reached is not None)
+ allowed.append(reached is not None and pieces.index(piece) == len(allowed))
""").feedback(
    "You mark only one of several equal pieces, as `pieces.index(piece)` finds the first of them only. Each position "
    "of `pieces` needs its own answer: count positions with `enumerate`."
)
right.mistake("marks_the_last_of_equal_pieces", loses=EVERY).patch("""
- allowed.append(reached is not None)
+ allowed.append(reached is not None and piece not in pieces[len(allowed) + 1 :])
""").feedback(
    "You mark only the last of several equal pieces, as a dict from pieces to positions does. Each position of "
    "`pieces` needs its own answer."
)
right.mistake("takes_an_unchanged_state_for_a_refusal", loses=(EVERY, KINDS)).patch("""
- reached = advance(reached, character)
- if reached is None:
-     break
+ before = reached
+ reached = advance(reached, character)
+ if reached is None or SAME:
+     reached = None
+     break
""").for_each(SAME=("reached is before", "reached == before", "reached == state")).feedback(
    "You take a character that leads to the same state again for one that is not allowed. Only None says that it is "
    "not allowed."
)
right.mistake("only_those_that_end", loses=EVERY).patch("""
- allowed.append(reached is not None)
+ ended = reached is not None and all(advance(reached, c) is None for c in "0123456789,][")
+ allowed.append(ended)
""").feedback("You allow only pieces after which the text is complete. A piece may leave something open.")
right.mistake("returns_what_is_not_allowed", {"reached is not None)": "reached is None)"}, loses=EVERY).feedback(
    "You return which pieces are *not* allowed. True means allowed here."
)
right.mistake("returns_numbers", {"dtype=torch.bool": "dtype=KIND"}, loses=FORM).for_each(
    KIND=("torch.int64", "torch.float32")
).feedback("You return 0 and 1 as numbers. Return a bool tensor, so that `~allowed` blocks the others.")
right.mistake("returns_a_list", {"torch.tensor(allowed, dtype=torch.bool)": "allowed"}, loses=FORM).feedback(
    "You return a list. Return a bool tensor, (N,)."
)
right.mistake(
    "returns_indices", {"torch.tensor(allowed, dtype=torch.bool)": "torch.tensor(allowed).nonzero()[:, 0]"}, loses=EVERY
).feedback("You return the ids of the allowed pieces. Return one True or False for each piece.")
right.mistake(
    "returns_a_mask_to_add",
    {"torch.tensor(allowed, dtype=torch.bool)": "torch.where(torch.tensor(allowed), 0.0, -torch.inf)"},
    loses=EVERY,
).feedback("You return a mask of 0 and −∞, to add to logits. Return a bool tensor: True means allowed.")
right.mistake(
    "returns_states",
    {
        "allowed.append(reached is not None)": "allowed.append(reached)",
        "torch.tensor(allowed, dtype=torch.bool)": "allowed",
    },
    loses=EVERY,
).feedback("You return the states that are reached. Return whether each piece is allowed.")
right.mistake(arguments.argument_changed("sorts_the_pieces", what="`pieces`"), loses=FORM).patch("""
- return torch.tensor(allowed, dtype=torch.bool)
+ pieces.sort()
+ return torch.tensor(allowed, dtype=torch.bool)
""").feedback("You sort the caller's list of pieces in place. Its order is that of the vocabulary: leave it alone.")
right.mistake("strips_white_space", {"for piece in pieces:": "for piece in map(CLEAN, pieces):"}, loses=EVERY).for_each(
    CLEAN=(
        "str.strip",
        "str.rstrip",
        "str.lstrip",
        'lambda piece: "".join(piece.split())',
        'lambda piece: "" if piece.isspace() else piece',
    )
).feedback("You remove spaces and line ends from the pieces. They are characters for the grammar like all others.")
right.mistake(
    "stops_at_the_first_bad_piece",
    {
        "(reached is not None)": "(reached is not None)\n        if reached is None:\n            break",
        "torch.tensor(allowed, dtype": "torch.tensor(allowed + [False] * (REST), dtype",
    },
    loses=EVERY,
).for_each(REST=("len(pieces) - len(allowed)", "0")).feedback(
    "You stop at the first piece that is not allowed. The pieces after it may be allowed: go on with the next one."
)
right.mistake(results.nothing_returned, {"return torch.tensor": "torch.tensor"}, loses=EVERY)
right.mistake(
    "compares_with_equals",
    {"if reached is None:": "if reached == None:", "(reached is not None)": "(not reached == None)"},
    loses=KINDS,
).feedback("You compare a state with None by `==`, which a state may answer as it likes. Compare with `is None`.")
right.mistake(
    "copies_the_state",
    {"reached = state if piece else None": 'reached = __import__("copy").deepcopy(state) if piece else None'},
    loses=KINDS,
).feedback(
    "You copy the state. Not every object can be copied, and a copy need not be the same to `advance`: pass it on as "
    "it is."
)
right.mistake("sorts_the_pieces_first", {"allowed = []": "pieces.sort()\n    allowed = []"}, loses=EVERY).feedback(
    "You sort the caller's list of pieces. Its order is that of the vocabulary, and that of your result: leave it "
    "alone."
)
allowed_tokens.mistake("remembers_pieces", loses=EVERY).full_code("""
known = {}


def allowed_tokens(state, pieces, advance):
    for piece in pieces:
        if piece not in known:
            reached = state if piece else None
            for character in piece:
                reached = advance(reached, character)
                if reached is None:
                    break
            known[piece] = reached is not None
    return torch.tensor([known[piece] for piece in pieces], dtype=torch.bool)
""").feedback(
    "You keep from one call to the next whether a piece is allowed. In another state, or for another grammar, it is "
    "another question."
)
