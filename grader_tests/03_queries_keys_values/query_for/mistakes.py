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
    "This is the sum of the wanted keys. It is too weak (softmax looks at differences of scores, and 99 % takes a "
    "difference of five or more), and a longer key that points partly the same way gets more than the wanted one."
)
query_for.mistake("copies_the_keys", loses=EVERYWHERE).full_code("""
def query_for(keys, targets):
    return FACTOR * keys[targets].sum(dim=0)
""").for_each(FACTOR=(8, 2, 3, 4, 5, 10, 12, 15, 30, 50, 100)).feedback(
    "Copies of the wanted keys, made longer, do only for keys of equal length at right angles. Another key that "
    "points partly the same way and is longer wins. Think of the scores that you want, of *all* keys."
)
right.mistake("transposes_instead_of_solving", {"torch.linalg.pinv(keys)": "keys.mT"}, loses=EVERYWHERE).feedback(
    "Multiplying by the transpose does not undo `keys`, unless they have length 1 and stand at right angles. "
    "Undo them: with a pseudo-inverse, or by solving the system of equations."
)
query_for.mistake("copies_normalised_keys", loses=EVERYWHERE).full_code("""
def query_for(keys, targets):
    return FACTOR * F.normalize(keys, dim=-1)[targets].sum(dim=0)
""").for_each(FACTOR=(20, 1, 5, 10, 15, 30, 50, 100)).feedback(
    "The wanted keys were brought to length 1 and copied. Their length is not the trouble, their angles are: other "
    "keys point partly the same way."
)
right.mistake("wants_scores_of_1", {"20.0": "SCORE"}, loses=EVERYWHERE).for_each(SCORE=(1.0, 2.0, 3.0, 4.0)).feedback(
    "The scores are 1 or so for the targets and 0 for the rest: equal, and too close together. A difference of 1 is a "
    "factor of e only. How large a difference gives 99 %?"
)
right.mistake("takes_weights_for_scores", {"20.0": "1.0 / len(targets)"}, loses="the average").feedback(
    "You solved for the *weights* that you want. The equations give scores, and softmax comes after them."
)
right.mistake("wants_scores_of_5", {"20.0": "SCORE"}, loses="many keys").for_each(SCORE=(5.0, 6.0, 7.0)).feedback(
    "A difference of 5 or so in the scores is enough against one other key, and not against many. The more keys there "
    "are, the larger it must be."
)
right.mistake("fetches_the_first_only", {"[targets]": "[targets[0]]", "20.0": "SCORE"}, loses="the average").for_each(
    SCORE=(20.0, 10.0, 15.0, 25.0, 30.0, 50.0)
).feedback("The query fetches the first target only. All of them must get the same weight.")
right.mistake("fetches_two_at_most", {"[targets]": "[targets[:2]]"}, loses="the average").feedback(
    "Two targets are fetched, and a third is not. The list may have any length."
)
right.mistake("gives_targets_rising_scores", loses="the average").patch("""
- scores[targets] = 20.0
+ for place, target in enumerate(targets):
+     scores[target] = 20.0 + STEP * place
""").for_each(STEP=(1.0, 0.1)).feedback(
    "The scores rise with the targets' order or number. Softmax turns the smallest difference into a factor: equal "
    "weights need equal scores."
)
right.mistake("averages_the_queries", {"20.0": "SCORE / len(targets)"}, loses="the average").for_each(
    SCORE=(10.0, 15.0, 20.0)
).feedback(
    "The average of good queries, each for one target, is a weaker query: each target's score is divided by how "
    "many they are. Make up for it, or add the queries up."
)
right.mistake("avoids_the_targets", {"20.0": "SCORE"}, loses=EVERYWHERE).for_each(SCORE=(-20.0, -10.0, -30.0)).feedback(
    "The sign is turned round: the targets get the *lowest* scores."
)
right.mistake("inverts_square_matrices_only", {"torch.linalg.pinv": "torch.linalg.inv"}, loses="fewer").feedback(
    "This works for as many keys as dimensions only. With fewer keys the matrix is not square and has no inverse; "
    "it has a pseudo-inverse all the same."
)
right.mistake("solves_square_systems_only", {"pinv(keys) @ scores": "solve(keys, scores)"}, loses="fewer").feedback(
    "This works for as many keys as dimensions only: `torch.linalg.solve` wants a square matrix. A pseudo-inverse "
    "exists for any shape."
)
right.mistake("returns_the_wanted_scores", {"torch.linalg.pinv(keys) @ scores": "scores"}, loses=EVERYWHERE).feedback(
    "These are the scores that you want, one number a key. The query that brings them about has one number a dimension."
)
right.mistake("wants_scores_of_a_million", {"20.0": "SCORE"}, loses="the average").for_each(
    SCORE=(1e6, 1e5, 1e9)
).feedback(
    "The scores are so large that rounding decides between the targets: in float32 a score of a million is right to "
    "about a tenth. A few tens are enough."
)
right.mistake(
    "wants_infinite_scores",
    {"keys.new_zeros(len(keys))": "keys.new_full((len(keys),), -torch.inf)", "20.0": "0.0"},
    loses=EVERYWHERE,
).feedback(
    "The query is NaN. Infinity, or the logarithm of 0, is no score that a finite query could bring about: a few "
    "tens are enough."
)
right.mistake("makes_float32_scores", {"keys.new_zeros": "torch.zeros"}, loses="float64").feedback(
    "float64 keys fail, because the wanted scores are float32: make them of the dtype of the keys."
)
right.mistake("smooths_the_inverse", loses="float64").patch("""
- return torch.linalg.pinv(keys) @ scores
+ return keys.mT @ torch.linalg.solve(keys @ keys.mT + EPS * torch.eye(len(keys)).to(keys), scores)
""").for_each(EPS=(1e-2, 1e-4, 1e-3, 0.1)).feedback(
    "The smallest directions of the keys were thrown away as if they were noise (a tolerance, or a small number "
    "added before inverting). Nearly dependent keys are told apart by exactly these."
)
right.mistake(
    "takes_small_keys_for_noise", {"pinv(keys)": "pinv(keys, atol=TOLERANCE, rtol=0.0)"}, loses="keys of any"
).for_each(TOLERANCE=(1e-3, 1e-2)).feedback(
    "Keys below a fixed tolerance were thrown away as if they were noise. Keys may be as small as you like: what "
    "counts is how small one is beside the others."
)
right.mistake(arguments.argument_changed("empties_the_list_of_targets"), loses="arguments").patch("""
- scores[targets] = 20.0
+ while targets:
+     scores[targets.pop()] = 20.0
""").feedback("An argument was changed: `keys` in place, or the list of targets emptied. Work on new ones.")
right.mistake("returns_a_column", {"len(keys)": "len(keys), 1"}, loses=EVERYWHERE).feedback(
    "A column of shape (K, 1) comes back, as solvers for several right-hand sides give it. A query has the shape (K,)."
)
right.mistake(
    "fetches_the_neighbours", {"[targets]": "[[target - 1 for target in targets]]"}, loses=EVERYWHERE
).feedback("The targets were counted from 1: the query fetches each one's neighbour. Indices count from 0.")
query_for.mistake("returns_one_query_for_each", loses="the average").full_code("""
def query_for(keys, targets):
    return 20.0 * torch.linalg.pinv(keys)[:, targets]
""").feedback(
    "One query for each target comes back, side by side. One query is to fetch them all: what is the sum of two "
    "solutions a solution of?"
)
query_for.mistake("asks_for_the_targets_only", loses="one value").full_code("""
def query_for(keys, targets):
    wanted = keys[targets]
    return torch.linalg.pinv(wanted) @ wanted.new_full((len(wanted),), 20.0)
""").feedback(
    "Only the targets' scores were asked for, and those of the other keys fell out as they liked. Ask for all of "
    "them, and for 0 where a key is not wanted."
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
    "A score of log 99 gives a target 99 % against *one* other key. Every further key takes its share: count them."
)
right.mistake("normalises_the_query", loses="one value").patch("""
- return torch.linalg.pinv(keys) @ scores
+ return 20.0 * F.normalize(torch.linalg.pinv(keys) @ scores, dim=0)
""").feedback(
    "The query was brought to one length at the end. Its length decides how sharp the weights are: leave it as it "
    "came out."
)
right.mistake("fetches_all_between", {"[targets]": "[min(targets) : max(targets) + 1]"}, loses="the average").feedback(
    "All keys from the first target to the last are fetched. The list names single keys."
)
right.mistake(
    numbers.default_device(where="`keys`", what="the wanted scores", how="`device=keys.device`"),
    {"keys.new_zeros(len(keys))": "torch.zeros(len(keys), dtype=keys.dtype)"},
    loses="float64",
)
right.mistake(
    "returns_a_row", {"torch.linalg.pinv(keys) @ scores": "(torch.linalg.pinv(keys) @ scores)[None]"}, loses=EVERYWHERE
).feedback("A matrix of one row, (1, K), comes back. A query has the shape (K,).")
right.mistake(shapes.result_squeezed, loses="many keys")
