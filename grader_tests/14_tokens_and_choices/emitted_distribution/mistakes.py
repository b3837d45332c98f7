"""Known mistakes in `emitted_distribution`."""

from ...shared.families import arguments, numbers, results
from .contract import emitted_distribution

RIGHT, WRONG, EXACT, FORM = "a right", "a wrong", "exact to", "a tensor"

right = emitted_distribution.reference_answer("""
def emitted_distribution(verify, draft, target):
    emitted = torch.zeros_like(draft)
    both = torch.stack([target, target])
    for token in range(len(draft)):
        low, high, instead = 0.0, 1.0, torch.zeros_like(draft)
        for _ in range(20):
            middle = (low + high) / 2
            chances = torch.full((1,), middle, dtype=draft.dtype)
            n_accepted, probabilities = verify(torch.tensor([token]), draft[None], both, chances)
            if n_accepted == 1:
                low = middle
            else:
                high = middle
                instead = probabilities
        emitted[token] += draft[token] * high
        emitted += draft[token] * (1 - high) * instead
    return emitted
""")

right.mistake("returns_the_target", loses=(RIGHT, WRONG)).patch("""
- return emitted
+ return target.clone()
""").feedback(
    "You return the target, or what a right `verify` would emit, which is the same. The function that you are given "
    "may decide differently: call it."
)
right.mistake("takes_the_ratio_for_the_threshold", loses=WRONG).patch("""
- emitted[token] += draft[token] * high
+ high = min(1.0, float(target[token] / draft[token]))
+ chances = torch.full((1,), (1 + high) / 2, dtype=draft.dtype)
+ n_accepted, asked = verify(torch.tensor([token]), draft[None], both, chances)
+ instead = OTHER
+ emitted[token] += draft[token] * high
""").for_each(OTHER=("instead", "asked", "asked if n_accepted == 0 else torch.zeros_like(draft)")).feedback(
    "You compute the threshold from the two distributions. The function that you are given may have other "
    "thresholds: find them by calling it."
)
right.mistake("corrects_by_itself", loses=WRONG).patch("""
- emitted += draft[token] * (1 - high) * instead
+ lacking = (target - draft).clamp(min=0)
+ emitted += draft[token] * (1 - high) * (lacking / lacking.sum() if lacking.sum() > 0 else target)
""").feedback(
    "You compute the correction yourself. The function that you are given may give another distribution when it "
    "rejects: use that one."
)
right.mistake("leaves_out_what_is_rejected", loses=(RIGHT, WRONG)).patch("""
- emitted += draft[token] * (1 - high) * instead
""").feedback("You leave out the tokens that are emitted after a rejection, so the result does not sum to 1.")
right.mistake("leaves_out_what_is_accepted", loses=(RIGHT, WRONG)).patch("""
- emitted[token] += draft[token] * high
""").feedback("You leave out the drafted tokens that are accepted, so the result does not sum to 1.")
right.mistake("rescales_what_is_accepted", loses=(RIGHT, WRONG)).patch("""
- emitted += draft[token] * (1 - high) * instead
@@
- return emitted
+ return emitted / emitted.sum()
""").feedback(
    "You rescale what is accepted. A rejection emits a token too: one from the distribution that `verify` gives."
)
right.mistake(
    "does_not_weight_by_the_draft",
    {"draft[token] * high": "high / len(draft)", "draft[token] * (1 - high)": "(1 - high) / len(draft)"},
    loses=(RIGHT, WRONG),
).feedback("You give every token the same weight. A token is drafted with its probability in `draft`.")
right.mistake(
    "weights_by_the_target",
    {"draft[token] * high": "target[token] * high", "draft[token] * (1 - high)": "target[token] * (1 - high)"},
    loses=WRONG,
).feedback("You weight by the target. The drafted token is drawn from `draft`.")
right.mistake(
    "forgets_to_weight_rejections",
    {"emitted += draft[token] * (1 - high) * instead": "emitted += draft[token] * instead"},
    loses=(RIGHT, WRONG),
).feedback(
    "You add the correction with its full weight. It is used only if the token is rejected, which has the probability "
    "1 minus the threshold."
)
right.mistake(
    "accepts_everything", {"draft[token] * high": "draft[token]", "(1 - high)": "0.0"}, loses=(RIGHT, WRONG)
).feedback("You return the draft, as if every token were accepted.")
right.mistake("asks_once", {"range(20)": "range(1)"}, loses=(WRONG, EXACT)).feedback(
    "You ask for one chance only, so a token counts as accepted always or never. Find the threshold."
)
emitted_distribution.mistake("too_coarse", loses=EXACT).full_code("""
def emitted_distribution(verify, draft, target):
    rounds, bound = HOW
    emitted = torch.zeros_like(draft)
    both = torch.stack([target, target])
    for token in range(len(draft)):
        low, high, instead = 0.0, 1.0, torch.zeros_like(draft)
        for _ in range(rounds):
            middle = (low + high) / 2
            chances = torch.full((1,), middle, dtype=draft.dtype)
            n_accepted, probabilities = verify(torch.tensor([token]), draft[None], both, chances)
            if n_accepted == 1:
                low = middle
            else:
                high, instead = middle, probabilities
        threshold = (low, (low + high) / 2, high)[bound]
        emitted[token] += draft[token] * threshold
        emitted += draft[token] * (1 - threshold) * instead
    return emitted
""").for_each(HOW=[f"{rounds}, {bound}" for rounds in (2, 3, 4, 5, 6) for bound in range(2)]).feedback(
    "You stop too early: your thresholds are not exact to 1e-3. Each halving of the interval doubles the precision."
)
emitted_distribution.mistake("few_chances", loses=EXACT).full_code("""
def emitted_distribution(verify, draft, target):
    steps, shift, way = HOW
    grid = [(k + shift) / steps for k in range(steps)]
    emitted = torch.zeros_like(draft)
    both = torch.stack([target, target])
    for token in range(len(draft)):
        accepted, instead = [], torch.zeros_like(draft)
        for chance in grid:
            chances = torch.full((1,), chance, dtype=draft.dtype)
            n_accepted, probabilities = verify(torch.tensor([token]), draft[None], both, chances)
            if n_accepted == 1:
                accepted.append(chance)
            else:
                instead = probabilities
        share = len(accepted) / steps if way == "count" else max(accepted, default=0.0)
        emitted[token] += draft[token] * share
        emitted += draft[token] * (1 - share) * instead
    return emitted
""").for_each(
    HOW=[f"{steps}, {shift}, 'count'" for steps in (4, 5, 10, 11, 20, 50) for shift in (0, 0.5, 1)]
    + [f"{steps}, {shift}, 'last'" for steps in (5, 10, 20) for shift in (0, 1)]
).feedback("You try too few chances for a result that is exact to 1e-3. Halving an interval needs far fewer calls.")
emitted_distribution.mistake("draws_samples", loses=(WRONG, EXACT), when="draws samples").full_code("""
def emitted_distribution(verify, draft, target):
    emitted = torch.zeros_like(draft)
    both = torch.stack([target, target])
    for _ in range(COUNT):
        token = torch.multinomial(draft, 1)
        n_accepted, probabilities = verify(token, draft[None], both, torch.rand(1, dtype=draft.dtype))
        emitted[token if n_accepted == 1 else torch.multinomial(probabilities, 1)] += 1 / COUNT
    return emitted
""").for_each(COUNT=(100, 300)).feedback(
    "You draw samples, which give the distribution only approximately. For a result that is exact to 1e-3 you would "
    "need about a million. Compute it from the threshold of each token."
)
right.mistake("counts_probabilities_after_acceptance", loses=WRONG).patch("""
- emitted[token] += draft[token] * high
+ emitted += draft[token] * high * NEXT
""").for_each(NEXT=("target", "draft", "torch.full_like(target, 1 / len(target))")).feedback(
    "If the token is accepted you count the distribution that `verify` returns. That one is for the token after it: "
    "the first token is the drafted one."
)
right.mistake("keeps_the_correction_of_another_token", loses=WRONG).patch("""
- for token in range(len(draft)):
-     low, high, instead = 0.0, 1.0, torch.zeros_like(draft)
+ instead = torch.zeros_like(draft)
+ for token in range(len(draft)):
+     low, high = 0.0, 1.0
@@
- instead = probabilities
+ instead = probabilities if token == 0 or float(instead.sum()) == 0 else instead
""").feedback("You use the correction of the first rejected token for all others. Each token may have its own.")
right.mistake(
    "threshold_of_another_token",
    {
        "for token in range(len(draft)):": "for token in reversed(range(len(draft))):",
        "verify(torch.tensor([token])": "verify(torch.tensor([(token + 1) % len(draft)])",
    },
    loses=(RIGHT, WRONG),
).feedback("You ask about another token than the one that you weight.")
emitted_distribution.mistake("follows_one_token_only", loses=(WRONG, EXACT, FORM)).full_code("""
def emitted_distribution(verify, draft, target):
    both = torch.stack([target, target])
    token = int(CHOICE.argmax())
    low, high, instead = 0.0, 1.0, torch.zeros_like(draft)
    for _ in range(20):
        middle = (low + high) / 2
        chances = torch.full((1,), middle, dtype=draft.dtype)
        n_accepted, probabilities = verify(torch.tensor([token]), draft[None], both, chances)
        if n_accepted == 1:
            low = middle
        else:
            high, instead = middle, probabilities
    emitted = (1 - high) * instead
    emitted[token] += high
    return emitted
""").for_each(CHOICE=("draft", "target", "(target - draft)", "(draft - target)")).feedback(
    "You follow one drafted token only. Each token may be drafted, with its probability in `draft`: add up what comes "
    "out for all of them."
)
right.mistake(
    "takes_what_the_last_call_gives",
    {
        "both = torch.stack([target, target])": "both = torch.stack([target, SECOND])",
        "high = middle\n                instead = probabilities": "high = middle\n            instead = probabilities",
    },
    loses=(WRONG, EXACT),
).for_each(SECOND=("target", "draft", "torch.full_like(target, 1 / len(target))")).feedback(
    "You weight the rejections by what the last call of `verify` gave, which may have been an acceptance. Keep the "
    "distribution of a call that rejects."
)
right.mistake(
    "lowest_token_only", {"verify(torch.tensor([token])": "verify(torch.tensor([0])"}, loses=(RIGHT, WRONG)
).feedback("You always ask about token 0. Each token has a threshold of its own.")
right.mistake(
    "one_minus_the_threshold",
    {
        "emitted = torch.zeros_like(draft)": "(rounds, bound), emitted = (HOW), torch.zeros_like(draft)",
        "range(20)": "range(rounds)",
        "emitted[token] += draft[token] * high": "high = 1 - (low, high)[bound]\n"
        "        emitted[token] += draft[token] * high",
    },
    loses=(RIGHT, WRONG),
).for_each(HOW=("20, 1", "20, 0", "14, 0", "13, 0")).feedback(
    "You take the share that is rejected for the one that is accepted. `verify` accepts *below* its threshold."
)
right.mistake("halves_the_wrong_way", {"if n_accepted == 1:": "if n_accepted == 0:"}, loses=(RIGHT, WRONG)).feedback(
    "You keep the wrong half of the interval. If a chance is accepted, the threshold is above it."
)
right.mistake("asks_without_a_row", {"draft[None], both": "SHAPES"}, loses=(RIGHT, WRONG)).for_each(
    SHAPES=("draft, target", "draft[None], target[None]", "draft, both")
).feedback("You call `verify` with other shapes. With one drafted token, `draft` is (1, N) and `target` is (2, N).")
right.mistake(
    "asks_with_plain_numbers",
    {"verify(torch.tensor([token]), draft[None], both, chances)": "verify(GIVEN)"},
    loses=(RIGHT, WRONG),
).for_each(GIVEN=("token, draft[None], both, chances", "torch.tensor(token), draft[None], both, chances[0]")).feedback(
    "You call `verify` with a single number. `drafted` and `chances` are tensors of the shape (1,)."
)
right.mistake(
    "draft_and_target_exchanged",
    {"draft[None], both": "target[None], torch.stack([draft, draft])"},
    loses=(RIGHT, WRONG),
).feedback("You have swapped draft and target in the call of `verify`.")
right.mistake(
    "uniform_target",
    {"torch.stack([target, target])": "torch.full_like(target, 1 / len(target)).repeat(2, 1)"},
    loses=(RIGHT, WRONG),
).feedback("You call `verify` with another target. Its first row has to be `target`; only the second is free.")
right.mistake("returns_counts", {"    return emitted": "    return emitted * 1000"}, loses=(RIGHT, WRONG)).feedback(
    "Your result does not sum to 1. Return probabilities."
)
right.mistake(
    "returns_whether_it_is_right",
    {"    return emitted": "    return bool(torch.allclose(emitted, target, atol=1e-3))"},
    loses=(RIGHT, WRONG),
).feedback("You return whether the emitted distribution is the target. Return the distribution.")
right.mistake(
    "returns_the_thresholds",
    {
        "emitted[token] += draft[token] * high": "emitted[token] = high",
        "    emitted += draft[token] * (1 - high) * instead\n": "",
    },
    loses=(RIGHT, WRONG),
).feedback("You return the threshold of each token. Return the distribution of the first token that is emitted.")
right.mistake(numbers.always_float32(of="`draft`"), {"    return emitted": "    return emitted.float()"}, loses=FORM)
right.mistake(numbers.always_float64(of="`draft`"), {"    return emitted": "    return emitted.double()"}, loses=FORM)
right.mistake("returns_a_list", {"    return emitted": "    return emitted.tolist()"}, loses=FORM).feedback(
    "You return a list. Return a tensor (N,)."
)
right.mistake(arguments.argument_changed("adds_to_the_draft", what="`draft`"), loses=FORM).patch("""
- return emitted
+ draft.copy_(emitted)
+ return emitted
""").feedback("You write into the caller's `draft`. Begin with a new tensor of zeros.")
emitted_distribution.mistake("decides_by_one_chance", loses=(WRONG, EXACT)).full_code("""
def emitted_distribution(verify, draft, target):
    emitted = torch.zeros_like(draft)
    both = torch.stack([target, target])
    for token in range(len(draft)):
        chances = torch.full((1,), CHANCE, dtype=draft.dtype)
        n_accepted, probabilities = verify(torch.tensor([token]), draft[None], both, chances)
        if n_accepted == 1:
            emitted[token] += draft[token]
        else:
            emitted += draft[token] * probabilities
    return emitted
""").for_each(CHANCE=(0.5, 0.25, 0.6, 0.9)).feedback(
    "You ask for one chance only, so a token counts as accepted always or never. Find the threshold."
)
right.mistake(results.nothing_returned, {"    return emitted": "    print(emitted)"}, loses=(RIGHT, WRONG))
right.mistake(
    "a_row_that_is_no_distribution",
    {"both = torch.stack([target, target])": "both = torch.stack([target, ROW])"},
    loses=(RIGHT, WRONG),
    clause="second",
).for_each(ROW=("torch.zeros_like(target)", "torch.ones_like(target)")).feedback(
    "The second row of `target` that you give to `verify` is not a distribution. It has to be one, of the "
    "token after the drafted one."
)
right.mistake("stops_the_search_early", {"range(20)": "range(ROUNDS)"}, loses=EXACT, clause="exact").for_each(
    ROUNDS=(2, 3, 4, 5, 6)
).feedback(
    "You stop too early: your thresholds are above the right ones. Each halving of the interval doubles the precision."
)
