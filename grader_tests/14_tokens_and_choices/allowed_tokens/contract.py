"""`allowed_tokens`: which tokens a grammar allows next."""

import torch

from grading.exercises.exercise import call, exercise, sample_model

allowed_tokens = exercise(
    "allowed_tokens",
    see="Exercise 8: `allowed_tokens(state, pieces, advance)`",
    hints=(
        "After `[1` a grammar of lists allows a digit, `,` or `]`. Is the token `,]` allowed? Which state do you ask "
        "about its second character?",
        "Each piece begins in the given state. Ask for its characters one by one, each in the state that the one "
        "before led to, and stop where the answer is None.",
        "A loop over the pieces; in it a variable for the state within the piece, which begins as `state`, and a loop "
        "over the characters, which ends at None. Mind the empty piece, and states such as 0, which are false in an "
        "`if`.",
    ),
)


@allowed_tokens.oracle
def allowed_tokens_oracle(state, pieces, advance):
    def follows(reached, rest):
        return rest == "" or ((after := advance(reached, rest[0])) is not None and follows(after, rest[1:]))

    return torch.tensor([piece != "" and follows(state, piece) for piece in pieces], dtype=torch.bool)


# Lists such as [1,20]: 0 nothing yet, 1 after "[", 2 within a number, 3 after ",", 4 the end
LISTS = [
    {"[": 1},
    dict.fromkeys("0123456789", 2) | {"]": 4},
    dict.fromkeys("0123456789", 2) | {",": 3, "]": 4},
    dict.fromkeys("0123456789", 2),
    {},
]
PIECES = ["[", "]", "[]", ",", "1", "23", "4,5", "[6", "7]", ",,", "8,", "", "[9]", "a", "[1,2]", "]]", "0[", ",3]"]


def at(number, form="number"):
    """The state of this number in that form."""
    if form == "strict":
        return sample_model("State", number=number)
    return {"number": number, "text": "s" * number, "list": [number]}[form]


def drawn_grammar(draw, states=4, letters="abcd"):
    """Rules in which each state allows about half of the letters."""
    rules = []
    for _ in range(states):
        open_ = draw.chance(0.6, len(letters)).tolist()
        after = draw.integers(0, states, len(letters)).tolist()
        rules.append({letter: to for letter, may, to in zip(letters, open_, after, strict=True) if may})
    return rules


def drawn_pieces(draw, count, letters="abcd"):
    """Pieces of one to four letters; every fourth of them has an unknown one."""
    made = []
    for place in range(count):
        piece = "".join(letters[int(i)] for i in draw.integers(0, len(letters), draw.integer(1, 5)))
        cut = draw.integer(0, len(piece) + 1)
        made.append(f"{piece[:cut]}?{piece[cut:]}" if place % 4 == 3 else piece)
    return made


def shuffled(draw, pieces):
    return [pieces[int(i)] for i in draw.permutation(len(pieces))]


A_LIST = sample_model("grammar", rules=LISTS)

allowed_tokens.example("at the start of a list", call(0, ["[", "]", "1", "[]", "[1"], A_LIST))
allowed_tokens.example("within a number", call(2, ["5", ",", "5]", ",]", "[", ""], A_LIST))
allowed_tokens.example("after the end", call(4, ["]", "1"], A_LIST))
allowed_tokens.example("a bool tensor", call(1, ["]", "12"], A_LIST), check_types=True)


@allowed_tokens.criterion("every character, one after the other", points=0.75, tries="characters nothing end")
def _(draw):
    for number in range(4):
        advance = sample_model("grammar", rules=LISTS, form="text")
        yield call(at(number, "text") or "", shuffled(draw, PIECES), advance).label(
            f"18 pieces in state {number} of a grammar of lists"
        )
    for _ in range(3):
        rules, states = drawn_grammar(draw), 4
        pieces = drawn_pieces(draw, 24)
        number = draw.integer(1, states)
        yield call(number, pieces, sample_model("grammar", rules=rules)).label(
            f"24 pieces in state {number} of a drawn grammar"
        )
    spaced = [{" ": 1, "a": 1}, {"a": 2, "\n": 0}, {" ": 2, "b": 0}]
    pieces = [" ", " a", "a", "a ", "aa ", " \n", "\n", "a\na", " a b", "aab", "a b", "aa b", " a\n", "\n "]
    yield call(0, shuffled(draw, pieces), sample_model("grammar", rules=spaced)).label(
        "14 pieces with spaces and line ends, which this grammar allows in some states"
    )
    twice = draw.permutation(12).tolist()
    yield call(
        1, [["1", "]", ",", "2,", "x", "12]"][i % 6] for i in twice], sample_model("grammar", rules=LISTS)
    ).label("6 pieces, each of them two times")
    long = [{"a": 1}, {"b": 2}, {"c": 3}, {"d": 4}, {"e": 0}]
    words = ["abcdeabcde", "abcdeabcdf", "abcdeabcd", "bcde", "abcdea", "abxde", "a", "e"]
    yield call(0, shuffled(draw, words), sample_model("grammar", rules=long))
    letters = [{"é": 1, "日": 1}, {"🙂": 0, "é": 1}]
    words = ["é", "e\u0301", "日é", "日🙂", "🙂", "é🙂日", "ÉÉ", "日日", "日éé🙂é"]
    yield call(0, shuffled(draw, words), sample_model("grammar", rules=letters))


@allowed_tokens.criterion("states of any kind; an empty piece is not allowed", points=0.5, tries="states end")
def _(draw):
    for form in ("number", "text", "list", "strict"):
        rules = [{"a": 0, "b": 1}, {"a": 1, "c": 0}, {}]
        advance = sample_model("grammar", rules=rules, form=form)
        pieces = ["a", "b", "c", "ab", "ba", "bca", "aab", "bc", "cb", "bcb", "bb", "ac", "bcc", "aca"]
        for number in range(2):
            yield call(at(number, form), shuffled(draw, pieces), advance).label(
                f"14 pieces in a state that is equal to everything, has no hash and cannot be copied, number {number}"
                if form == "strict"
                else f"14 pieces in the state {at(number, form)!r}"
            )
    advance = sample_model("grammar", rules=LISTS)
    yield call(1, ["", "5", "", "]"], advance).tries("nothing")
    yield call(4, ["", "]"], advance).tries("nothing")
    yield call(0, ["", "["], sample_model("grammar", rules=[{"[": 0}])).tries("nothing")


@allowed_tokens.criterion(
    "a bool tensor; `pieces` and `state` are left as they were", points=0.5, tries="end", check_types=True
)
def _(draw):
    pieces = ["1", "x", "[", "2,", "3]", "4", ",", "5x", "6]]"]
    yield call(1, shuffled(draw, pieces), sample_model("grammar", rules=LISTS))
    yield call(state=1, pieces=["1", "x", ",", "2,"], advance=sample_model("grammar", rules=LISTS))
    yield call(4, ["1", "]", ""], sample_model("grammar", rules=LISTS)).tries("nothing")
    yield (
        call([3], shuffled(draw, pieces), sample_model("grammar", rules=LISTS, form="list"))
        .tries("states", "end")
        .does_not_mutate()
    )
    yield call(3, ["7"], sample_model("grammar", rules=LISTS))


@allowed_tokens.sizes(points=0.25, count=(1, 9, 300), longest=(1, 3, 300))
def _(draw, count, longest):
    rules = [{"a": 1, "b": 0}, {"a": 0, "c": 1}]
    pieces = []
    for _ in range(count):
        state, piece = 0, ""
        for place in range(longest):
            letters = "abc" if place == longest - 1 else list(rules[state])  # of the last ones, one in three is refused
            piece += letters[draw.integer(0, len(letters))]
            state = rules[state].get(piece[-1])
        pieces.append(piece)
    advance = sample_model("grammar", rules=rules)
    return call(0, pieces, advance).label(f"{count} pieces of {longest} characters")
