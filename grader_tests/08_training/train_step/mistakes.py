"""Known mistakes in `train_step`."""

from ...shared.families import scores, shapes
from .contract import train_step

EVERYWHERE = ("returns", "an SGD")  # what an answer loses whose every result is wrong

right = train_step.reference_answer("""
def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()
""")

right.mistake("never_clears", loses=("old gradients", "any optimizer")).patch("""
- optimizer.zero_grad()
""").feedback(
    "You do not clear the old gradients. backward() adds to what is there, so every step follows the sum of all "
    "gradients so far."
)
right.mistake("clears_afterwards", loses="old gradients", clause="cleared").patch("""
- optimizer.zero_grad()
@@
  optimizer.step()
+ optimizer.zero_grad()
""").feedback(
    "You clear the gradients only after the step, so the first step includes whatever was left over from before."
)
right.mistake(
    "clears_after_backward",
    {"optimizer.zero_grad()": "pass", "loss.backward()": "BACKWARD"},
    loses=("an SGD", "old gradients", "any optimizer"),
).for_each(
    BACKWARD=(
        "loss.backward(); optimizer.zero_grad()",
        "loss.backward(); model.zero_grad()",
        "loss.backward(); optimizer.zero_grad(set_to_none=False)",
    )
).feedback(
    "You clear the gradients after backward(), so the optimizer finds none. Clear the old ones before backward(), "
    "which makes those that the step needs."
)
right.mistake("never_differentiates", loses=("an SGD", "old gradients", "any optimizer")).patch("""
- loss.backward()
""").feedback("You never call backward(), so the optimizer finds no gradients. `loss.backward()` computes them.")
right.mistake("never_clips", loses="an SGD").patch("""
- nn.utils.clip_grad_norm_(model.parameters(), 1.0)
""").feedback(
    "You let the optimizer step along an unclipped gradient, but its norm must not exceed 1. There is something to "
    "clip only after backward(), and it must be clipped before the step."
)
right.mistake("clips_values", {"nn.utils.clip_grad_norm_": "nn.utils.clip_grad_value_"}, loses="an SGD").feedback(
    "You clip each entry of the gradient on its own, which changes its direction. Clip the norm of the whole."
)
right.mistake("clips_each_parameter", loses="an SGD").patch("""
- nn.utils.clip_grad_norm_(model.parameters(), 1.0)
+ for p in model.parameters():
+     nn.utils.clip_grad_norm_([p], 1.0)
""").feedback("You clip each parameter's gradient on its own. The norm is that of all of them together.")
right.mistake(
    "clips_the_first_group", {"model.parameters()": 'optimizer.param_groups[0]["params"]'}, loses="any optimizer"
).feedback(
    "You clip only the first group of the optimizer's parameters. There may be several groups: the norm is that of "
    "the whole gradient."
)
right.mistake("always_rescales", loses=("an SGD", "old gradients")).patch("""
- nn.utils.clip_grad_norm_(model.parameters(), 1.0)
+ norm = nn.utils.clip_grad_norm_(model.parameters(), math.inf)
+ for p in model.parameters():
+     p.grad /= norm
""").feedback("You scale every gradient to norm 1, even short ones. Only gradients longer than 1 are shortened.")
right.mistake("clips_another_norm", {"1.0": "1.0, norm_type=math.inf"}, loses="an SGD").feedback(
    "You use another norm of the gradient, such as its greatest entry. Its length is the root of the sum of squares."
)
train_step.mistake("steps_for_each_sentence", loses=("an SGD", "old gradients", "any optimizer")).full_code("""
def train_step(model, optimizer, inputs, targets):
    model.train()
    losses = []
    for row, wanted in zip(inputs, targets, strict=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(row[None])[0], wanted)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)
""").feedback("You take a step for each sentence. A batch is one step, along the gradient of the mean over all of it.")
right.mistake("clips_to_a_tenth", {"1.0": "NORM"}, loses="an SGD").for_each(NORM=(0.1, 0.5, 2.0)).feedback(
    "You clip the norm of the gradient to a number other than 1."
)
right.mistake("never_steps", loses=("an SGD", "old gradients", "any optimizer")).patch("""
- optimizer.step()
""").feedback(
    "You leave the model unchanged: there are gradients, but the optimizer never steps. Call `optimizer.step()`."
)
right.mistake(
    "steps_twice", {"return": "optimizer.step()\n    return"}, loses=("an SGD", "old gradients", "any optimizer")
).feedback("You step the optimizer twice along the same gradient.")
right.mistake("descends_by_hand", loses="any optimizer", clause="optimizer").patch("""
- optimizer.step()
+ with torch.no_grad():
+     for p in model.parameters():
+         p -= optimizer.param_groups[0]["lr"] * p.grad
""").feedback(
    "You take the step yourself, as plain gradient descent. Leave it to the optimizer, which may have a memory."
)
right.mistake("leaves_the_mode", loses="in training", clause="mode").patch("""
- model.train()
""").feedback(
    "You do not put the model into training mode. It may come straight from an evaluation, and then its dropout is off."
)
right.mistake("trains_in_eval_mode", {"model.train": "model.eval"}, loses="in training").feedback(
    "You put the model into eval mode, but dropout is needed in training."
)
right.mistake("sets_the_flag_only", {"model.train()": "model.training = True"}, loses="in training").feedback(
    "You set `model.training = True`, which reaches the model itself but none of its parts. `model.train()` reaches "
    "them all."
)
right.mistake("returns_the_tensor", {"loss.item()": "loss"}, loses="returns", clause="loss").feedback(
    "You return a tensor, which keeps everything that it was computed from. `.item()` makes it a float."
)
right.mistake("returns_nothing", loses=("returns", "any optimizer")).patch("""
- return loss.item()
""").feedback("You return nothing: return the loss as a float.")
right.mistake("measures_afterwards", loses=("returns", "any optimizer")).patch("""
- return loss.item()
+ with torch.no_grad():
+     return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
""").feedback("You return the loss after the step. Return the one before it, which needs no second pass.")
right.mistake(
    "adds_up_the_positions", {"targets.flatten())": 'targets.flatten(), reduction="sum")'}, loses=EVERYWHERE
).feedback("You use the sum over the positions as the loss; it should be their mean.")
right.mistake(scores.softmax_before_loss, {"model(inputs)": "model(inputs).softmax(-1)"}, loses=EVERYWHERE)
right.mistake("trains_the_last_position", loses=EVERYWHERE).patch("""
- loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
+ loss = F.cross_entropy(model(inputs)[:, -1], targets[:, -1])
""").feedback("You train only the last position. Every position of every window has its own target.")
right.mistake("flattens_batch_and_time_differently", {"flatten()": "t().flatten()"}, loses=EVERYWHERE).feedback(
    "You flatten logits and targets in different orders, so each position is compared with another one's target."
)
right.mistake("shifts_in_the_step", loses=EVERYWHERE).patch("""
- loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
+ loss = F.cross_entropy(model(inputs)[:, :-1].flatten(0, 1), targets[:, 1:].flatten())
""").feedback("You shift the targets once more, but they are already one step ahead.")
right.mistake("climbs", {"loss.backward": "(-loss).backward"}, loses="an SGD").feedback(
    "You step along the gradient instead of against it, so the loss rises. The optimizer already takes care of the "
    "sign."
)
right.mistake(shapes.classes_reshaped, loses=EVERYWHERE).patch("""
- loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
+ logits = model(inputs)
+ loss = F.cross_entropy(logits.reshape(len(logits), logits.shape[2], -1), targets)
""")
right.mistake("leaves_the_classes_last", loses=EVERYWHERE).patch("""
- loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
+ loss = F.cross_entropy(model(inputs), targets)
""").feedback(
    "`F.cross_entropy` looks for the classes in the second dimension, and your logits have the positions there. "
    "Flatten batch and positions into one dimension, or swap the two."
)
