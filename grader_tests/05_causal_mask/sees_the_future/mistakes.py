"""Known mistakes in `sees_the_future`."""

from ...shared.families import arguments, results
from .contract import sees_the_future

EVERYWHERE = ("right", "a leak at one")  # what an answer loses whose every result is wrong

right = sees_the_future.reference_answer("""
def sees_the_future(attention, x):
    influence = torch.autograd.functional.jacobian(attention, x).abs().amax((1, 3))
    return bool((influence.triu(1) > 1e-5).any())
""")

sees_the_future.mistake("changes_the_last_token_only", loses="a leak at one").full_code("""
def sees_the_future(attention, x):
    changed = torch.cat([x[:-1], x[-1:] + 1.0])
    return bool((attention(changed) - attention(x))[:-1].abs().gt(1e-5).any())
""").feedback(
    "You change only the last token. A leak may come from any later token, and may reach one position only.",
    see="6. Catch a leak",
)
sees_the_future.mistake("looks_at_the_first_output_only", loses="a leak at one").full_code("""
def sees_the_future(attention, x):
    jacobian = torch.autograd.functional.jacobian(attention, x)
    return bool((jacobian[0, :, 1:].abs() > 1e-5).any())
""").feedback("You look only at the first output. Any output may leak.", see="6. Catch a leak")
right.mistake("tries_the_next_token_only", {"influence.triu": "influence.diagonal"}, loses="a leak at one").feedback(
    "You try only the next token for each output. A leak may come from a token further away.", see="6. Catch a leak"
)
sees_the_future.mistake("tries_the_second_token_only", loses="a leak at one").full_code("""
def sees_the_future(attention, x):
    changed = x.clone()
    changed[1:2] += 1.0
    return bool((attention(changed) - attention(x))[:1].abs().gt(1e-5).any())
""").feedback("You change only the first tokens. A leak may come from any later token.", see="6. Catch a leak")
right.mistake("finds_the_past", {"influence.triu(1)": "influence.tril(-1)"}, loses=EVERYWHERE).feedback(
    "Your function finds dependence on the *past* instead of the future. Check which index of the Jacobian is the "
    "output and which is the input."
)
right.mistake("counts_the_diagonal", {"influence.triu(1)": "influence.triu()"}, loses=EVERYWHERE).feedback(
    "You count the diagonal as a leak, but an output may depend on its own input."
)
sees_the_future.mistake("compares_all_outputs", loses=EVERYWHERE).full_code("""
def sees_the_future(attention, x):
    changed = [torch.cat([x[:j], x[j:] + 1.0]) for j in range(1, len(x))]
    return not all(torch.allclose(attention(one), attention(x), atol=1e-5) for one in changed)
""").feedback("You compare all outputs, including those at and after the change. Those are meant to change.")
right.mistake("overlooks_a_thousandth", {"1e-5": "LIMIT"}, loses="weak leaks").for_each(
    LIMIT=(1e-2, 1e-3, 0.1)
).feedback(
    "Your threshold is too high, so you miss weak leaks. A leak of 1e-4 per unit of input counts, and is far above "
    "rounding error."
)
sees_the_future.mistake("takes_rounding_for_a_leak", loses="weak leaks", clause="rounding").full_code("""
def sees_the_future(attention, x):
    before = attention(x)
    for j in range(1, len(x)):
        for change in torch.eye(x.shape[1]).to(x):
            changed = x.clone()
            changed[j] += change
            if (attention(changed) - before)[:j].MOVED.any():
                return True
    return False
""").for_each(MOVED=("ne(0)", "abs().gt(1e-9)")).feedback(
    "You count every difference as a leak. Where nothing leaks, an output may still move by rounding, which is far "
    "below 1e-4 per unit of input.",
    see="6. Catch a leak",
)
sees_the_future.mistake("adds_up_the_parts_of_an_output", loses="a leak in some").full_code("""
def sees_the_future(attention, x):
    influence = torch.autograd.functional.jacobian(lambda x: attention(x).sum(1), x)
    return any(bool((influence[i, i + 1 :].abs() > 1e-5).any()) for i in range(len(x)))
""").feedback(
    "You add up the entries of each output before you differentiate. They may change in opposite directions: "
    "after a layer norm, their sum is always 0.",
    see="6. Catch a leak",
)
sees_the_future.mistake("adds_up_the_outputs", loses="a leak in some").full_code("""
def sees_the_future(attention, x):
    for j in range(1, len(x)):
        changed = x.clone()
        changed[j] += 1.0
        if float((attention(changed) - attention(x))[:j].sum(0).abs().max()) > 5e-5:
            return True
    return False
""").feedback(
    "You add up the outputs before you compare them, so opposite changes cancel.",
    see="6. Catch a leak",
)
sees_the_future.mistake("watches_the_first_feature_only", loses="a leak in some", clause="entries").full_code("""
def sees_the_future(attention, x):
    jacobian = torch.autograd.functional.jacobian(attention, x)[:, 0, :, 0]
    return bool((jacobian.abs().triu(1) > 1e-5).any())
""").feedback(
    "You change only the first entry of each token, or look only at the first entry of each output. A leak may go "
    "through any entry."
)
right.mistake("forgets_the_sign", {"abs().": ""}, loses=("a leak at one", "weak leaks")).feedback(
    "You miss negative influence. Take the magnitude before you compare it with a threshold."
)
right.mistake("asks_whether_all_leak", loses=("a leak at one", "a leak in some")).patch("""
- return bool((influence.triu(1) > 1e-5).any())
+ return len(x) > 1 and all(bool((influence[i, i + 1 :] > 1e-5).any()) for i in range(len(x) - 1))
""").feedback("You return True only if *every* output leaks. One is enough.")
sees_the_future.mistake("injects_nan", loses=EVERYWHERE).full_code("""
def sees_the_future(attention, x):
    for j in range(1, len(x)):
        changed = x.clone()
        changed[j:] = float("nan")
        if attention(changed)[:j].isnan().any():
            return True
    return False
""").feedback(
    "You put NaN into the future, but NaN spreads through a correct mask too. The weight of a blocked key is 0, "
    "and 0 · NaN is NaN.",
    see="6. Catch a leak",
)
sees_the_future.mistake("cuts_the_text_off", loses=EVERYWHERE).full_code("""
def sees_the_future(attention, x):
    return any(not torch.allclose(attention(x[:n]), attention(x)[:n], atol=1e-5) for n in range(1, len(x)))
""").feedback(
    "You cut the text off and compare the outputs. That tests whether the function gives the same outputs for a "
    "shorter text, which it may not even accept.",
    see="6. Catch a leak",
)
right.mistake(results.tensor_for_bool, loses="True or", clause="bool").patch("""
- return bool((influence.triu(1) > 1e-5).any())
+ return (influence.triu(1) > 1e-5).any()
""")
sees_the_future.mistake("changes_x", loses="True or").full_code("""
def sees_the_future(attention, x):
    before, found = attention(x), False
    for j in range(len(x) - 1, 0, -1):
        x[j] += 1.0
        found |= bool((attention(x) - before)[:j].abs().gt(1e-5).any())
    return found
""").feedback("You change `x`, and it is still changed after the call. Change a copy: `x.clone()`.")
right.mistake(arguments.argument_changed("marks_x"), loses="True or").patch("""
  def sees_the_future(attention, x):
+     x.requires_grad_()
""").feedback(
    "After the call, `x` requires gradients, which it did not before. `requires_grad_` changes its tensor, like every "
    "method whose name ends in `_`. Work on a copy."
)
right.mistake("fails_on_one_token", loses="True or", clause="single").patch("""
- return bool((influence.triu(1) > 1e-5).any())
+ rows, columns = torch.triu_indices(len(x), len(x), 1)
+ return bool(influence[rows, columns].max() > 1e-5)
""").feedback("Your function fails for a text of one token. One token has no future, so the answer is False.")
right.mistake("says_the_opposite", {"bool(": "not bool("}, loses=EVERYWHERE).feedback(
    "You have swapped True and False. True means that the function *does* leak."
)
sees_the_future.mistake("always_true", loses=EVERYWHERE).full_code("""
def sees_the_future(attention, x):
    return True
""").feedback(
    "You return True for functions in which nothing leaks. Try your function on one that adds to each token the "
    "one *before* it."
)
sees_the_future.mistake("always_false", loses=EVERYWHERE).full_code("""
def sees_the_future(attention, x):
    return False
""").feedback(
    "You return False for functions that leak. Try your function on one that adds to each token the one after it."
)
sees_the_future.mistake("shifts_all_features_alike", loses="a leak in some").full_code("""
def sees_the_future(attention, x):
    for j in range(1, len(x)):
        changed = x.clone()
        changed[j] += 1.0
        if bool((attention(changed) - attention(x))[:j].abs().gt(5e-5).any()):
            return True
    return False
""").feedback(
    "You add the same number to all entries of a token. A leak that depends only on their differences, as after a "
    "layer norm, does not show. Change the entries one by one, or at random.",
    see="6. Catch a leak",
)
sees_the_future.mistake("turns_the_sign", loses="a leak in some").full_code("""
def sees_the_future(attention, x):
    for j in range(1, len(x)):
        changed = x.clone()
        changed[j] = -x[j]
        if bool((attention(changed) - attention(x))[:j].abs().gt(5e-5).any()):
            return True
    return False
""").feedback(
    "You replace a later token with its opposite and try nothing else. A leak through the token's square, or its "
    "length, does not change with the sign.",
    see="6. Catch a leak",
)
right.mistake("differentiates_at_zero", {"x).abs": "torch.zeros_like(x)).abs"}, loses="a leak in some").feedback(
    "You differentiate where all tokens are 0 instead of at `x`. At 0 the derivative of a square is 0, whatever it "
    "is elsewhere.",
    see="6. Catch a leak",
)
sees_the_future.mistake("silences_the_future", loses="a leak in some").full_code("""
def sees_the_future(attention, x):
    for j in range(1, len(x)):
        changed = x.clone()
        changed[j:] = 0.0
        if bool((attention(changed) - attention(x))[:j].abs().gt(1e-5).any()):
            return True
    return False
""").feedback(
    "You replace the future with zeros, or with a multiple of itself, and try nothing else. If it was 0 before, "
    "nothing changes. Try other numbers, or differentiate.",
    see="6. Catch a leak",
)
sees_the_future.mistake("differentiates_the_sum_of_all", loses=EVERYWHERE).full_code("""
def sees_the_future(attention, x):
    x = x.detach().clone().requires_grad_()
    attention(x).sum().backward()
    return bool((x.grad[1:].abs() > 1e-5).any())
""").feedback(
    "You add up all outputs before you differentiate. A token always affects its own output, and may affect those "
    "after it. Take the derivative of one output at a time, with respect to the tokens after it.",
    see="6. Catch a leak",
)
sees_the_future.mistake("moves_all_later_tokens_alike", loses="a leak in some").full_code("""
def sees_the_future(attention, x):
    for i in range(len(x) - 1):
        changed = x.clone()
        changed[i + 1 :] += STEP
        if bool((attention(changed) - attention(x))[i].abs().gt(5e-5).any()):
            return True
    return False
""").for_each(STEP=("torch.linspace(1.0, 2.0, x.shape[1]).to(x)", "1.0")).feedback(
    "You change all later tokens by the same amount, or add up their derivatives. A leak that depends only on how "
    "they differ does not show. Change them one by one, or at random.",
    see="6. Catch a leak",
)
right.mistake("adds_up_with_signs", {"abs().amax((1, 3))": "sum((1, 3)).abs()"}, loses="a leak in some").feedback(
    "You add up the entries of the Jacobian with their signs, so that opposite ones cancel. Take the magnitude of "
    "each entry first.",
    see="6. Catch a leak",
)
right.mistake("takes_features_for_places", {"amax((1, 3))": "amax((0, 2))"}, loses=EVERYWHERE).feedback(
    "You take the maximum over the positions, so your table shows which *entry* affects which. Look at the shape "
    "of the Jacobian, and find the dimensions of the positions.",
    see="6. Catch a leak",
)
right.mistake(
    "stops_before_the_last_two", {"influence.triu": "influence[:-2].triu"}, loses="a leak at one", clause="pair"
).feedback(
    "You never check the last pair: the second-to-last output may see the last token. Check where your `range` ends.",
    see="6. Catch a leak",
)
sees_the_future.mistake("compares_the_first_output_only", loses="a leak at one").full_code("""
def sees_the_future(attention, x):
    changed = torch.cat([x[:-1], x[-1:] + 1.0])
    return bool((attention(changed) - attention(x))[0].abs().gt(1e-5).any())
""").feedback(
    "You change only the last token and look only at the first output. Any later token may reach any output before it."
)
sees_the_future.mistake("adds_up_changes_in_x", loses=EVERYWHERE).full_code("""
def sees_the_future(attention, x):
    before = attention(x)
    for j in range(1, len(x)):
        x[CHANGED] += 1.0
        if bool((attention(x) - before)[j - 1].abs().gt(1e-5).any()):
            return True
    return False
""").for_each(CHANGED=("j:", "j")).feedback(
    "You change `x` itself, so every change is still there when you try the next one. `changed = x` is a second "
    "name for the same tensor. Start each time from a copy, `x.clone()`."
)
