"""Known mistakes in `query_for`."""

from ...shared.families import arguments, numbers, shapes
from .contract import query_for

EVERYWHERE = ("one value", "the average")  # what an answer loses whose every result is wrong

right = query_for.reference_answer("""
def query_for(keys, targets):
    scores = keys.new_zeros(len(keys))
    scores[targets] = 20.0
    return torch.linalg.pinv(keys) @ scores
""")

query_for.mistake("adds_up_the_keys", loses=EVERYWHERE).full_code("""
def query_for(keys, targets):
    return keys[targets].sum(dim=0)
""").feedback(
    "You return the sum of the wanted keys, which is too weak. A weight of 99 % needs a difference of scores of "
    "five or more. Also, a longer key that points partly the same way gets more weight than the wanted one."
)
query_for.mistake("copies_the_keys", loses=EVERYWHERE).full_code("""
def query_for(keys, targets):
    return FACTOR * keys[targets].sum(dim=0)
""").for_each(FACTOR=(8, 2, 3, 4, 5, 10, 12, 15, 30, 50, 100)).feedback(
    "You lengthen copies of the wanted keys, which is enough only for keys of equal length at right angles. A "
    "longer key that points partly the same way wins. Think of the scores that you want for *all* keys."
)
right.mistake("transposes_instead_of_solving", {"torch.linalg.pinv(keys)": "keys.mT"}, loses=EVERYWHERE).feedback(
    "You multiply by the transpose, which undoes `keys` only if they have length 1 and are at right angles. Undo "
    "them with a pseudo-inverse, or by solving the system of equations."
)
query_for.mistake("copies_normalised_keys", loses=EVERYWHERE).full_code("""
def query_for(keys, targets):
    return FACTOR * F.normalize(keys, dim=-1)[targets].sum(dim=0)
""").for_each(FACTOR=(20, 1, 5, 10, 15, 30, 50, 100)).feedback(
    "You copy the wanted keys at length 1, but the problem is the angles between keys, not their lengths. Other "
    "keys point partly the same way."
)
right.mistake("wants_scores_of_1", {"20.0": "SCORE"}, loses=EVERYWHERE).for_each(SCORE=(1.0, 2.0, 3.0, 4.0)).feedback(
    "Your scores are about 1 for the targets and 0 for the rest, which is too close together. A difference of 1 is "
    "only a factor of e. How large a difference gives 99 %?"
)
right.mistake("takes_weights_for_scores", {"20.0": "1.0 / len(targets)"}, loses="the average").feedback(
    "You solve for the *weights* that you want. The equations give scores, and softmax comes after them."
)
right.mistake("wants_scores_of_5", {"20.0": "SCORE"}, loses="many keys").for_each(SCORE=(5.0, 6.0, 7.0)).feedback(
    "Your scores differ by about 5, which is enough against one other key, but not against many. The more keys "
    "there are, the larger the difference must be."
)
right.mistake("fetches_the_first_only", {"[targets]": "[targets[0]]", "20.0": "SCORE"}, loses="the average").for_each(
    SCORE=(20.0, 10.0, 15.0, 25.0, 30.0, 50.0)
).feedback("Your query fetches only the first target. All targets must get the same weight.")
right.mistake("fetches_two_at_most", {"[targets]": "[targets[:2]]"}, loses="the average").feedback(
    "Your query fetches two targets, but not a third. The list may have any length."
)
right.mistake("gives_targets_rising_scores", loses="the average").patch("""
- scores[targets] = 20.0
+ for place, target in enumerate(targets):
+     scores[target] = 20.0 + STEP * place
""").for_each(STEP=(1.0, 0.1)).feedback(
    "You give the targets rising scores, by their order or number. Softmax turns the smallest difference into a "
    "factor: equal weights need equal scores."
)
right.mistake("averages_the_queries", {"20.0": "SCORE / len(targets)"}, loses="the average").for_each(
    SCORE=(10.0, 15.0, 20.0)
).feedback(
    "You average the queries for single targets, so each target's score is divided by the number of targets. "
    "Compensate for that, or add the queries up."
)
right.mistake("avoids_the_targets", {"20.0": "SCORE"}, loses=EVERYWHERE).for_each(SCORE=(-20.0, -10.0, -30.0)).feedback(
    "You give the targets the *lowest* scores: the sign is wrong."
)
right.mistake("inverts_square_matrices_only", {"torch.linalg.pinv": "torch.linalg.inv"}, loses="fewer").feedback(
    "Your function works only for as many keys as dimensions. With fewer keys the matrix is not square and has no "
    "inverse, but it has a pseudo-inverse."
)
right.mistake("solves_square_systems_only", {"pinv(keys) @ scores": "solve(keys, scores)"}, loses="fewer").feedback(
    "Your function works only for as many keys as dimensions, because `torch.linalg.solve` needs a square matrix. "
    "A pseudo-inverse exists for any shape."
)
right.mistake("returns_the_wanted_scores", {"torch.linalg.pinv(keys) @ scores": "scores"}, loses=EVERYWHERE).feedback(
    "You return the scores that you want, one number per key. The query that produces them has one number per "
    "dimension."
)
right.mistake("wants_scores_of_a_million", {"20.0": "SCORE"}, loses="the average").for_each(
    SCORE=(1e6, 1e5, 1e9)
).feedback(
    "Your scores are so large that rounding decides between the targets. In float32 a score of a million is "
    "accurate to about a tenth. A few tens are enough."
)
right.mistake(
    "wants_infinite_scores",
    {"keys.new_zeros(len(keys))": "keys.new_full((len(keys),), -torch.inf)", "20.0": "0.0"},
    loses=EVERYWHERE,
).feedback(
    "Your query is NaN. A finite query cannot produce infinity, or the logarithm of 0, as a score: a few tens are "
    "enough."
)
right.mistake("makes_float32_scores", {"keys.new_zeros": "torch.zeros"}, loses="float64").feedback(
    "Your function fails for float64 keys, because the wanted scores are float32. Make them with the dtype of the keys."
)
right.mistake("smooths_the_inverse", loses="float64").patch("""
- return torch.linalg.pinv(keys) @ scores
+ return keys.mT @ torch.linalg.solve(keys @ keys.mT + EPS * torch.eye(len(keys)).to(keys), scores)
""").for_each(EPS=(1e-2, 1e-4, 1e-3, 0.1)).feedback(
    "You discard the smallest directions of the keys as if they were noise. A tolerance does this, or a small "
    "number added before inverting. Exactly these directions distinguish nearly dependent keys."
)
right.mistake(
    "takes_small_keys_for_noise", {"pinv(keys)": "pinv(keys, atol=TOLERANCE, rtol=0.0)"}, loses="keys of any"
).for_each(TOLERANCE=(1e-3, 1e-2)).feedback(
    "You discard keys below a fixed tolerance as if they were noise. Keys may be as small as you like: what counts "
    "is how small one is compared with the others."
)
right.mistake(arguments.argument_changed("empties_the_list_of_targets"), loses="arguments").patch("""
- scores[targets] = 20.0
+ while targets:
+     scores[targets.pop()] = 20.0
""").feedback("You change an argument: `keys` in place, or the list of targets, which you empty. Work on new ones.")
right.mistake("returns_a_column", {"len(keys)": "len(keys), 1"}, loses=EVERYWHERE).feedback(
    "You return a column of shape (Dk, 1), as solvers for several right-hand sides do. A query has shape (Dk,)."
)
right.mistake(
    "fetches_the_neighbours", {"[targets]": "[[target - 1 for target in targets]]"}, loses=EVERYWHERE
).feedback("You count the targets from 1, so the query fetches each target's neighbour. Indices count from 0.")
query_for.mistake("returns_one_query_for_each", loses="the average").full_code("""
def query_for(keys, targets):
    return 20.0 * torch.linalg.pinv(keys)[:, targets]
""").feedback(
    "You return one query per target, side by side. A single query must fetch them all. Think about what the sum "
    "of two solutions solves."
)
query_for.mistake("asks_for_the_targets_only", loses="one value").full_code("""
def query_for(keys, targets):
    wanted = keys[targets]
    return torch.linalg.pinv(wanted) @ wanted.new_full((len(wanted),), 20.0)
""").feedback(
    "You choose the scores of the targets only, so the other keys get arbitrary scores. Set all of them, with 0 "
    "for each key that is not wanted."
)
right.mistake(
    numbers.always_float64(of="the keys"),
    {"new_zeros(len(keys))": "new_zeros(len(keys)).double()", "pinv(keys)": "pinv(keys.double())"},
    loses="float64",
)
right.mistake(
    numbers.always_float32(of="the keys"),
    {"new_zeros(len(keys))": "new_zeros(len(keys)).float()", "pinv(keys)": "pinv(keys.float())"},
    loses="float64",
)
right.mistake("counts_one_other_key", {"20.0": "math.log(RATIO)"}, loses=("one value", "many keys")).for_each(
    RATIO=(99.0, 100.0)
).feedback(
    "Your score of log 99 gives a target 99 % against *one* other key. Every further key takes its share: count them."
)
right.mistake("normalises_the_query", loses="one value").patch("""
- return torch.linalg.pinv(keys) @ scores
+ return 20.0 * F.normalize(torch.linalg.pinv(keys) @ scores, dim=0)
""").feedback(
    "You scale the query to one fixed length at the end. Its length decides how sharp the weights are, so leave it "
    "unchanged."
)
right.mistake("fetches_all_between", {"[targets]": "[min(targets) : max(targets) + 1]"}, loses="the average").feedback(
    "Your query fetches all keys from the first target to the last. The list names single keys."
)
right.mistake(
    numbers.default_device(where="`keys`", what="the wanted scores", how="`device=keys.device`"),
    {"keys.new_zeros(len(keys))": "torch.zeros(len(keys), dtype=keys.dtype)"},
    loses="float64",
)
right.mistake(
    "returns_a_row", {"torch.linalg.pinv(keys) @ scores": "(torch.linalg.pinv(keys) @ scores)[None]"}, loses=EVERYWHERE
).feedback("You return a matrix of one row, (1, Dk). A query has shape (Dk,).")
right.mistake(shapes.result_squeezed, loses="many keys")
