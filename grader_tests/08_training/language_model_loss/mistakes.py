"""Known mistakes in `language_model_loss`."""

from ...shared.families import gradients, numbers, results, shapes
from .contract import language_model_loss

right = language_model_loss.reference_answer("""
def language_model_loss(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    safe = targets.where(counts, torch.zeros_like(targets))
    picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).sum() / counts.sum().clamp(min=1)
""")

right.mistake("forgets_the_minus", {"-(": "("}, loses=("the mean", "logits")).feedback(
    "Your loss has the wrong sign: log-probabilities are negative, and the loss is minus their mean."
)
right.mistake("sums", {"() / counts.sum().clamp(min=1)": "()"}, loses=("the mean", "ignored")).feedback(
    "You return the sum of the losses, not their mean."
)
right.mistake("keeps_the_positions", loses="the mean").patch("""
- picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
- return -(picked * counts).sum() / counts.sum().clamp(min=1)
+ return -logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1) * counts
""").feedback("You return one loss for each position. The loss is a single number, their mean.")
right.mistake("normalises_over_positions", {"(-1).": "(1)."}, loses="the mean").feedback(
    "Your probabilities sum to 1 along the positions, not along the vocabulary: check the `dim` of the softmax."
)
right.mistake("takes_the_softmax_twice", {"picked = logits": "picked = logits.softmax(-1)"}, loses="the mean").feedback(
    "You apply one softmax too many: log_softmax takes the logits as they are. If it is given probabilities, the "
    "loss can hardly fall."
)
right.mistake("forgets_to_normalise", {"logits.log_softmax(-1)": "logits"}, loses="the mean").feedback(
    "You pick the logit of each target, not its log-probability: normalise the logits first."
)
language_model_loss.mistake("flattens_in_another_order", loses="the mean").full_code("""
def language_model_loss(logits, targets, ignore_index=-100):
    flat, wanted = logits.reshape(-1, logits.shape[-1]), targets.t().reshape(-1)
    counts = wanted != ignore_index
    safe = wanted.where(counts, torch.zeros_like(wanted))
    picked = flat.log_softmax(-1).gather(-1, safe[:, None])[:, 0]
    return -(picked * counts).sum() / counts.sum().clamp(min=1)
""").feedback(
    "You flatten logits and targets in different orders, so each position is compared with another one's target."
)
right.mistake("shifts_inside", loses="the mean").patch("""
  def language_model_loss(logits, targets, ignore_index=-100):
+     logits, targets = logits[:, :-1], targets[:, 1:]
""").feedback(
    "You shift the targets once more inside the loss. They are already one step ahead; position t belongs to "
    "targets[:, t]."
)
right.mistake("counts_in_bits", {".squeeze(-1)": ".squeeze(-1) / math.log(2)"}, loses="the mean").feedback(
    "You use the logarithm to base 2, so your loss is in bits. In this lesson it is in nats, from the natural "
    "logarithm."
)
right.mistake("averages_probabilities", loses="the mean").patch("""
- return -(picked * counts).sum() / counts.sum().clamp(min=1)
+ if not counts.any():
+     return (picked * counts).sum()
+ return -(torch.logsumexp(picked[counts], 0) - counts.sum().log())
""").feedback("You average the probabilities and then take the logarithm. Average the logarithms instead.")
right.mistake(results.perplexity, loses=("the mean", "0 where")).patch("""
- return -(picked * counts).sum() / counts.sum().clamp(min=1)
+ return torch.exp(-(picked * counts).sum() / counts.sum().clamp(min=1))
""")
right.mistake(
    "divides_by_all", {"counts.sum().clamp(min=1)": "counts.numel()"}, loses="ignored", clause="ignored"
).feedback("You divide by the number of all targets. The mean is over those that are not ignored.")
right.mistake("averages_sentence_by_sentence", loses="ignored").patch("""
- return -(picked * counts).sum() / counts.sum().clamp(min=1)
+ return (-(picked * counts).sum(1) / counts.sum(1).clamp(min=1)).mean()
""").feedback(
    "You average within each sentence, and then average these means. The result differs if sentences have different "
    "numbers of targets: every target counts equally."
)
language_model_loss.mistake("counts_the_ignored", loses=("ignored", "0 where")).full_code("""
def language_model_loss(logits, targets, ignore_index=-100):
    safe = targets.where(targets != ignore_index, torch.zeros_like(targets))
    return -logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1).mean()
""").feedback(
    "You count ignored targets in the mean: you replace them with a token and go on. They must not reach the mean."
)
language_model_loss.mistake("knows_no_ignoring", loses=("ignored", "0 where")).full_code("""
def language_model_loss(logits, targets, ignore_index=-100):
    return -logits.log_softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1).mean()
""").feedback("You do not use ignore_index, so an ignored target is used as an index.")
right.mistake("knows_minus_100_only", {"!= ignore_index": "!= -100"}, loses=("ignored", "0 where")).feedback(
    "You ignore -100 whatever ignore_index is. Compare with the argument."
)
right.mistake(
    numbers.float32_on_the_way("computes_in_float32"),
    {"picked = logits": "picked = logits.float()"},
    loses="gradients",
    clause="dtype",
).feedback(
    "You convert the logits to float32 whatever their dtype, so with float64 the loss keeps half of its digits. "
    "Leave the dtype as it is."
)
right.mistake(
    "ignores_what_is_negative",
    {"targets != ignore_index": "targets >= 0", "where(counts, torch.zeros_like(targets))": "clamp(min=0)"},
    loses="ignored",
).feedback("You ignore every negative target, and no other. ignore_index may be any number, even that of a token.")
right.mistake(
    "replaces_only_negative_targets", {"where(counts, torch.zeros_like(targets))": "clamp(min=0)"}, loses="ignored"
).feedback(
    "You replace ignored targets before picking only if they are negative. ignore_index may also be a number beyond "
    "the vocabulary, which is not a valid index either."
)
right.mistake("takes_zero_for_padding", loses=("the mean", "gradients")).patch("""
- counts = targets != ignore_index
+ counts = (targets != ignore_index) & (targets != 0)
""").feedback("You never count targets of 0. Token 0 is a token like any other: only ignore_index is ignored.")
language_model_loss.mistake("divides_by_nothing", loses="0 where", clause="none").full_code("""
def language_model_loss(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    return -logits[counts].log_softmax(-1).gather(-1, targets[counts][:, None]).mean()
""").feedback("You divide 0 by 0 when all targets are ignored. The loss should be 0 then, and so should its gradient.")
right.mistake("mends_the_value_only", loses="0 where").patch("""
- return -(picked * counts).sum() / counts.sum().clamp(min=1)
+ mean = -(picked * counts).sum() / counts.sum()
+ return torch.where(counts.any(), mean, 0.0 * picked.sum())
""").feedback(
    "You replace the NaN only afterwards when all targets are ignored. The value is then 0, but the gradient is "
    "still NaN."
)
language_model_loss.mistake("returns_a_plain_zero", loses="0 where").full_code("""
def language_model_loss(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    if not counts.any():
        return 0.0
    return -logits[counts].log_softmax(-1).gather(-1, targets[counts][:, None]).mean()
""").feedback(
    "You return a Python number when all targets are ignored. The result must always be a tensor: 0 times something "
    "that depends on the logits has the right dtype and device."
)
language_model_loss.mistake("returns_a_new_zero", loses="0 where").full_code("""
def language_model_loss(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    if not counts.any():
        return torch.tensor(0.0)
    return -logits[counts].log_softmax(-1).gather(-1, targets[counts][:, None]).mean()
""").feedback(
    "You return a new float32 zero when all targets are ignored, whatever the dtype and device of the logits."
)
right.mistake(numbers.one_maximum_for_all, loses="logits").patch("""
- picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
+ shifted = logits - logits.max()
+ logp = shifted - shifted.exp().sum(-1, keepdim=True).log()
+ picked = logp.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
""")
right.mistake("overflows", loses="logits", clause="large").patch("""
- picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
+ logp = logits - logits.exp().sum(-1, keepdim=True).log()
+ picked = logp.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
""").feedback(
    "Your exponentials overflow: for logits of 1e4 they are infinite. Let log_softmax or logsumexp do it, or "
    "subtract the maximum first."
)
right.mistake("takes_the_logarithm_of_softmax", loses="logits").patch("""
- picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
+ picked = PICKED.squeeze(-1)
""").for_each(
    PICKED=(
        "logits.softmax(-1).log().gather(-1, safe.unsqueeze(-1))",
        "logits.softmax(-1).gather(-1, safe.unsqueeze(-1)).log()",
    )
).feedback(
    "You take the logarithm of the softmax, which is infinite where a probability is too small for the dtype. Use "
    "log_softmax."
)
right.mistake("adds_a_small_number", {"logits.log_softmax(-1)": "BOUNDED.log()"}, loses="logits").for_each(
    BOUNDED=[
        bounded.format(eps)
        for eps in (1e-9, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5)
        for bounded in ("(logits.softmax(-1) + {})", "logits.softmax(-1).clamp(min={})")
    ]
).feedback(
    "You add a small number to the probability before the logarithm, or clamp the probability from below. This "
    "bounds the loss: a very wrong prediction costs no more than a wrong one and has no gradient."
)
right.mistake(
    gradients.cut(what="the logits"),
    {"= logits": "= logits.detach()"},
    loses=("gradients", "ignored"),
    clause="gradients",
)
right.mistake(
    "overwrites_the_targets",
    {"safe = targets.where(counts, torch.zeros_like(targets))": "targets[~counts] = 0", "1, safe": "1, targets"},
    loses="gradients",
    clause="purity",
).feedback(
    "You write into targets to replace the ignored ones, which changes the caller's tensor. Work on a new tensor."
)
language_model_loss.mistake(shapes.view_of_strided, loses="gradients").full_code("""
def language_model_loss(logits, targets, ignore_index=-100):
    flat, wanted = logits.view(-1, logits.shape[-1]), targets.view(-1)
    counts = wanted != ignore_index
    picked = flat.log_softmax(-1).gather(-1, wanted.where(counts, torch.zeros_like(wanted))[:, None])[:, 0]
    return -(picked * counts).sum() / counts.sum().clamp(min=1)
""")
language_model_loss.mistake("returns_a_zero_without_a_past", loses="0 where").full_code("""
def language_model_loss(logits, targets, ignore_index=-100):
    counts = targets != ignore_index
    if not counts.any():
        return logits.new_zeros(())
    return -logits[counts].log_softmax(-1).gather(-1, targets[counts][:, None]).mean()
""").feedback(
    "Your 0 does not depend on the logits when all targets are ignored, so `backward()` fails on it. Training would "
    "end there. 0 times something computed from the logits does not fail."
)
right.mistake(
    numbers.default_device(where="the logits", what="zeros", how="`torch.zeros_like`, or the number 0.0"),
    {"(picked * counts)": "torch.where(counts, picked, torch.zeros(counts.shape, dtype=logits.dtype))"},
    loses="gradients",
    clause="device",
)
right.mistake("counts_in_powers_of_ten", {"clamp(min=1)": "clamp(min=1) / math.log(10)"}, loses="the mean").feedback(
    "You use the logarithm to base ten; the exercise asks for the natural one, `log`, not `log10`."
)
right.mistake(
    shapes.classes_reshaped,
    {"logits.log_softmax(-1)": "logits.reshape(*logits.shape[:-2], *logits.shape[:-3:-1]).mT.log_softmax(-1)"},
    loses="the mean",
)
right.mistake("divides_infinities", loses="logits").patch("""
- picked = logits.log_softmax(-1).gather(-1, safe.unsqueeze(-1)).squeeze(-1)
+ picked = (logits.exp() / logits.exp().sum(-1, keepdim=True)).log().gather(-1, safe.unsqueeze(-1)).squeeze(-1)
""").feedback(
    "Your exponentials overflow: for logits of 1e4 you divide infinity by infinity. Let log_softmax do it, or "
    "subtract the maximum first."
)
right.mistake(
    "cuts_large_logits_off", {"logits.log_softmax": "logits.clamp(-LIMIT, LIMIT).log_softmax"}, loses="logits"
).for_each(LIMIT=(50.0, 20.0, 30.0, 80.0, 88.0, 100.0)).feedback(
    "You clip large logits, which loses the differences between them. Only differences matter to a softmax: subtract "
    "the largest logit of each position, and none overflows."
)
right.mistake(
    "averages_the_probabilities", {"logits.log_softmax(-1)": "logits.softmax(-1)"}, loses="the mean"
).feedback("You average the probabilities of the targets. The loss takes their logarithms, which log_softmax returns.")
