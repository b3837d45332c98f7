"""Known mistakes in `continuation_log_probability`."""

from ...shared.families import gradients, numbers, results
from .contract import continuation_log_probability

SUM, ONCE, SMALL, FORM = "the sum", "the model", "improbable", "differentiable"

right = continuation_log_probability.reference_answer("""
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logits = model(ids[None])[0]
    first = len(prompt) - 1
    rows = logits[first : first + len(continuation)]
    logs = torch.log_softmax(rows, dim=-1)
    return logs.gather(-1, continuation[:, None]).sum()
""")

right.mistake(
    "one_position_too_late",
    {"first : first + len(continuation)": "first + 1 : first + 1 + len(continuation)"},
    loses=SUM,
).feedback(
    "You read the logits at the position of each token itself. Logits at a position are for the token *after* it."
)
right.mistake(
    "one_position_too_early",
    {"rows = logits[first : first + len(continuation)]": "rows = logits.roll(1, 0)[first : first + len(continuation)]"},
    loses=SUM,
).feedback(
    "You read the logits one position too early. The last position of the prompt predicts the first token of the "
    "continuation."
)
right.mistake(
    "leaves_out_the_first_token",
    {"logs.gather(-1, continuation[:, None]).sum()": "logs[1:].gather(-1, continuation[1:, None]).sum()"},
    loses=SUM,
).feedback("You leave out the first token of the continuation. The prompt predicts it.")
right.mistake(
    "leaves_out_the_last_token",
    {"logs.gather(-1, continuation[:, None]).sum()": "logs[:-1].gather(-1, continuation[:-1, None]).sum()"},
    loses=SUM,
).feedback("You leave out the last token of the continuation.")
right.mistake(
    "counts_the_last_token_only",
    {"logs.gather(-1, continuation[:, None]).sum()": "logs.gather(-1, continuation[:, None])[-1, 0]"},
    loses=SUM,
).feedback("You return the log-probability of the last token. Add those of all tokens of the continuation.")
right.mistake(
    "counts_the_first_token_only",
    {"logs.gather(-1, continuation[:, None]).sum()": "logs.gather(-1, continuation[:, None])[0, 0]"},
    loses=SUM,
).feedback("You return the log-probability of the first token. Add those of all tokens of the continuation.")
right.mistake("counts_the_prompt_too", loses=SUM).patch("""
- first = len(prompt) - 1
- rows = logits[first : first + len(continuation)]
- logs = torch.log_softmax(rows, dim=-1)
- return logs.gather(-1, continuation[:, None]).sum()
+ logs = torch.log_softmax(logits[:-1], dim=-1)
+ return logs.gather(-1, ids[1:, None]).sum()
""").feedback(
    "You add the log-probabilities of the prompt's own tokens as well. The prompt is given: count the continuation "
    "only."
)
right.mistake(
    "bounds_log_probabilities",
    {"torch.log_softmax(rows, dim=-1)": "torch.log_softmax(rows, dim=-1).clamp(min=BOUND)"},
    loses="improbable",
).for_each(BOUND=("-20.0", "-50.0", "-100.0")).feedback(
    "You bound each log-probability from below, so a text that is less probable looks as good. Add them as they are."
)
right.mistake("forgets_the_prompt", loses=SUM).patch("""
- ids = torch.cat([prompt, continuation])
- logits = model(ids[None])[0]
- first = len(prompt) - 1
- rows = logits[first : first + len(continuation)]
+ ids = torch.cat([prompt[-1:], continuation])
+ rows = model(ids[None])[0, :-1]
""").feedback("You show the model only the end of the prompt. Every token is given *all* tokens before it.")
right.mistake("reads_the_prompt_only", loses=SUM).patch("""
- ids = torch.cat([prompt, continuation])
- logits = model(ids[None])[0]
- first = len(prompt) - 1
- rows = logits[first : first + len(continuation)]
+ logits = model(prompt[None])[0]
+ rows = logits[WHICH].expand(len(continuation), -1)
""").for_each(WHICH=("-1", "0")).feedback(
    "You give the model the prompt alone, and use the same logits for every token. Each token of the continuation is "
    "given the ones before it as well: the model has to read them."
)
right.mistake("reads_the_continuation_only", loses=SUM).patch("""
- ids = torch.cat([prompt, continuation])
- logits = model(ids[None])[0]
- first = len(prompt) - 1
- rows = logits[first : first + len(continuation)]
+ logits = model(continuation[None])[0]
+ continuation = continuation[SHIFT:]
+ rows = logits[: len(continuation)]
""").for_each(SHIFT=("0", "1")).feedback(
    "You give the model the continuation alone. Each of its tokens is given the whole prompt: put both together."
)
right.mistake("continuation_first", {"[prompt, continuation])": "[continuation, prompt])"}, loses=SUM).feedback(
    "You put the continuation before the prompt."
)
right.mistake("mean_instead_of_sum", {"[:, None]).sum()": "[:, None]).mean()"}, loses=SUM).feedback(
    "You return the mean over the tokens. The log-probability of a text is the *sum* over its tokens."
)
right.mistake("with_the_wrong_sign", {"return logs": "return -logs"}, loses=SUM).feedback(
    "You return the loss, which is minus the log-probability. A log-probability is never above 0."
)
right.mistake("returns_the_probability", {"[:, None]).sum()": "[:, None]).sum().exp()"}, loses=SUM).feedback(
    "You return the probability. Return its logarithm: a product of many probabilities underflows."
)
right.mistake(
    "returns_the_perplexity",
    {
        "return logs.gather(-1, continuation[:, None]).sum()": "return torch.exp(-logs.gather(-1, continuation[:, "
        "None]).mean())"
    },
    loses=SUM,
).feedback("You return the perplexity. Return the sum of the log-probabilities.")
right.mistake("in_bits", {"[:, None]).sum()": "[:, None]).sum() / math.log(BASE)"}, loses=SUM).for_each(
    BASE=(2, 10)
).feedback("You use the logarithm to the base 2 or 10. For nats, use the natural logarithm.")
right.mistake(
    "sums_probabilities", {"torch.log_softmax(rows, dim=-1)": "torch.softmax(rows, dim=-1)"}, loses=SUM
).feedback("You add probabilities. Probabilities of successive tokens are multiplied, so their logarithms are added.")
right.mistake(
    "logarithm_of_the_sum",
    {"torch.log_softmax(rows, dim=-1)": "torch.softmax(rows, dim=-1)", "[:, None]).sum()": "[:, None]).sum().log()"},
    loses=SUM,
).feedback("You take the logarithm of a sum of probabilities. Add the logarithms.")
right.mistake("no_softmax", {"torch.log_softmax(rows, dim=-1)": "rows"}, loses=SUM).feedback(
    "You add logits. `log_softmax` over the vocabulary turns them into log-probabilities."
)
right.mistake("softmax_over_positions", {"torch.log_softmax(rows, dim=-1)": "LOGS"}, loses=SUM).for_each(
    LOGS=(
        "torch.log_softmax(rows, dim=0)",
        "torch.log_softmax(logits, dim=0)[first : first + len(continuation)]",
        "torch.log_softmax(logits[:-1], dim=0)[first : first + len(continuation)]",
    )
).feedback("Your softmax runs over the positions. It has to run over the vocabulary, the last dimension.")
right.mistake(
    "takes_the_most_probable", {"logs.gather(-1, continuation[:, None]).sum()": "logs.amax(-1).sum()"}, loses=SUM
).feedback("You add the log-probabilities of the *most probable* tokens. Take those of the tokens that do follow.")
right.mistake(
    "indexes_all_pairs", {"logs.gather(-1, continuation[:, None]).sum()": "logs[:, continuation].sum()"}, loses=SUM
).feedback(
    "You take every token of the continuation at every position. At each position count the one token that follows."
)
right.mistake(
    "gathers_along_positions",
    {
        "logs.gather(-1, continuation[:, None]).sum()": "logs.gather(0, (continuation % len(rows))[:, "
        "None].expand_as(logs)).sum()"
    },
    loses=SUM,
).feedback(
    "You gather along the positions. Choose one entry of each row: along the last dimension, with one index for each "
    "row."
)
right.mistake("asks_without_a_batch", {"model(ids[None])[0]": "model(ids)"}, loses=SUM).feedback(
    "You call the model with ids of the shape (T,). It takes a batch, (B, T): here with B = 1."
)
right.mistake("asks_for_tokens_as_a_batch", {"model(ids[None])[0]": "model(ids[:, None])[:, 0]"}, loses=SUM).feedback(
    "You give the model a batch of single tokens, so none of them sees the ones before it. Give it one text."
)
continuation_log_probability.mistake("asks_for_each_token", loses=ONCE, clause="call").full_code("""
def continuation_log_probability(model, prompt, continuation):
    ids, total = prompt, 0.0
    for token in continuation:
        logits = model(ids[None])[0, -1]
        total = total + torch.log_softmax(logits, dim=-1)[token]
        ids = torch.cat([ids, token[None]])
    return total
""").feedback(
    "You call the model once for each token. One call gives the logits at all positions: no token sees a later one."
)
right.mistake("asks_twice", loses=ONCE).patch("""
- logits = model(ids[None])[0]
+ model(prompt[None])
+ logits = model(ids[None])[0]
""").feedback("You call the model for the prompt first, and then again for the whole text. One call is enough.")
right.mistake(
    "reads_one_token_more", {"model(ids[None])": "model(torch.cat([ids, ids[-1:]])[None])"}, loses=ONCE
).feedback(
    "You give the model more tokens than prompt and continuation have. A model has room for a limited number of "
    "positions."
)
right.mistake(
    "logarithm_of_softmax",
    {"torch.log_softmax(rows, dim=-1)": "torch.log(torch.softmax(rows, dim=-1)EPS)"},
    loses=SMALL,
    clause="improbable",
).for_each(EPS=("", " + 1e-9", " + 1e-10", " + 1e-12")).feedback(
    "You take the logarithm after softmax, which rounds small probabilities to 0. `log_softmax` computes the "
    "logarithms directly."
)
right.mistake(
    "logarithm_of_the_product",
    {"torch.log_softmax(rows, dim=-1)": "torch.softmax(rows, dim=-1)", "[:, None]).sum()": "[:, None]).prod().log()"},
    loses=SMALL,
).feedback(
    "You multiply probabilities before you take the logarithm, so the product underflows to 0. Add the logarithms."
)
right.mistake(
    "exponentials_overflow",
    {"torch.log_softmax(rows, dim=-1)": "rows - rows.exp().sum(-1, keepdim=True).log()"},
    loses=SMALL,
).feedback(
    "Large logits give NaN or ∞, because `exp` overflows above 88.7 in float32. Let `log_softmax` or `logsumexp` do it."
)
right.mistake("a_tensor_of_one_number", {"[:, None]).sum()": "[:, None]).sum(0)"}, loses=SUM).feedback(
    "Your result has the shape (1,). It has to be a single number, of the shape ()."
)
right.mistake("one_for_each_token", {"[:, None]).sum()": "[:, None])[:, 0]"}, loses=SUM).feedback(
    "You return a log-probability for each token. Return their sum."
)
right.mistake(results.python_number, {"[:, None]).sum()": "[:, None]).sum().item()"}, loses=FORM)
right.mistake(
    gradients.cut("cuts_gradients_off", what="the model's parameters"),
    {"model(ids[None])[0]": "model(ids[None])[0].detach()"},
    loses=FORM,
)
right.mistake(
    gradients.treated_as_constant("takes_the_log_sum_exp_for_a_constant", what="the log-sum-exp", of="the parameters"),
    {"torch.log_softmax(rows, dim=-1)": "rows - rows.detach().logsumexp(-1, keepdim=True)"},
    loses=FORM,
)
right.mistake(numbers.result_float32, loses=FORM)
right.mistake(
    numbers.float32_on_the_way(what="the logits"),
    {"torch.log_softmax(rows, dim=-1)": "torch.log_softmax(rows.float(), dim=-1).to(rows.dtype)"},
    loses=FORM,
)
right.mistake(
    "softmax_over_the_batch", {"torch.log_softmax(rows, dim=-1)": "torch.log_softmax(rows[None], dim=0)[0]"}, loses=SUM
).feedback("Your softmax runs over the batch. With one text each probability is 1: it has to run over the vocabulary.")
right.mistake(results.nothing_returned, {"return logs": "logs"}, loses=SUM)
right.mistake("asks_for_more_than_the_logits", {"model(ids[None])": "ASKED"}, loses=SUM, clause="function").for_each(
    ASKED=("model.forward(ids[None])", "model(ids[None].to(next(model.parameters()).device))")
).feedback(
    "You ask the model for more than its logits, such as its parameters. It may be a plain function, which has only a "
    "call: `model(ids)`."
)
right.mistake(
    "puts_the_model_into_evaluation_mode", {"logs = ": "model.eval()\n    logs = "}, loses=(SUM, FORM)
).feedback(
    "You call `model.eval()`. The model may be a plain function, which has no such method, and its mode "
    "is not yours to change."
)
right.mistake("asks_with_other_integers", {"model(ids[None])": "model(ids[None].int())"}, loses=SUM).feedback(
    "You give the model ids that are not int64. The ids that you get are: pass them on in their dtype."
)
right.mistake("names_the_argument", {"model(ids[None])": "model(NAME=ids[None])"}, loses=SUM).for_each(
    NAME=("ids", "input_ids", "x")
).feedback("You give the model its ids by a name. A function may call its argument anything: pass them by position.")
right.mistake("squeezes_the_logits", {"model(ids[None])[0]": "model(ids[None, :-1]).squeeze()"}, loses=SUM).feedback(
    "You squeeze the logits, which also drops the dimension of the positions if there is only one. Take the first of "
    "the batch, `[0]`."
)
