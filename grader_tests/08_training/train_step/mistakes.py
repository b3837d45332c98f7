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
    "The old gradients are not cleared: backward() adds to what is there, so every step goes along the sum of all "
    "gradients so far."
)
right.mistake("clears_afterwards", loses="old gradients").patch("""
- optimizer.zero_grad()
@@
  optimizer.step()
+ optimizer.zero_grad()
""").feedback("The gradients are cleared after the step only: what lay about before the first one is still in it.")
right.mistake("never_clips", loses="an SGD").patch("""
- nn.utils.clip_grad_norm_(model.parameters(), 1.0)
""").feedback(
    "The optimizer steps along a gradient that nobody clipped: its norm may not be greater than 1. There is something "
    "to clip after backward(), and it must be done before the step."
)
right.mistake("clips_values", {"nn.utils.clip_grad_norm_": "nn.utils.clip_grad_value_"}, loses="an SGD").feedback(
    "You clip every number of the gradient on its own. That turns its direction; clip the norm of the whole."
)
right.mistake("clips_each_parameter", loses="an SGD").patch("""
- nn.utils.clip_grad_norm_(model.parameters(), 1.0)
+ for p in model.parameters():
+     nn.utils.clip_grad_norm_([p], 1.0)
""").feedback("You clip each parameter's gradient on its own. The norm is that of all of them together.")
right.mistake(
    "clips_the_first_group", {"model.parameters()": 'optimizer.param_groups[0]["params"]'}, loses="any optimizer"
).feedback(
    "You clip the first group of the optimizer's parameters. It may have several: the norm is that of the whole "
    "gradient."
)
right.mistake("always_rescales", loses=("an SGD", "old gradients")).patch("""
- nn.utils.clip_grad_norm_(model.parameters(), 1.0)
+ norm = nn.utils.clip_grad_norm_(model.parameters(), math.inf)
+ for p in model.parameters():
+     p.grad /= norm
""").feedback("You make every gradient 1 long, short ones too. Only those that are longer than 1 are shortened.")
right.mistake("clips_another_norm", {"1.0": "1.0, norm_type=math.inf"}, loses="an SGD").feedback(
    "The gradient's length is the root of the sum of squares. You take another norm, such as its greatest number."
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
    "The gradient's norm is clipped to another number than 1."
)
right.mistake("never_steps", loses=("an SGD", "old gradients", "any optimizer")).patch("""
- optimizer.step()
""").feedback(
    "The model stays as it is: no gradients come from backward(), the optimizer never steps, or they are cleared in "
    "between."
)
right.mistake(
    "steps_twice", {"return": "optimizer.step()\n    return"}, loses=("an SGD", "old gradients", "any optimizer")
).feedback("The optimizer steps twice along the same gradient.")
right.mistake("descends_by_hand", loses="any optimizer").patch("""
- optimizer.step()
+ with torch.no_grad():
+     for p in model.parameters():
+         p -= optimizer.param_groups[0]["lr"] * p.grad
""").feedback(
    "You take the step yourself, as plain gradient descent. It is the optimizer's to take: it may have a memory."
)
right.mistake("leaves_the_mode", loses="in training").patch("""
- model.train()
""").feedback(
    "The model is not put into training mode. It may come straight from an evaluation, and then its dropout is off."
)
right.mistake("trains_in_eval_mode", {"model.train": "model.eval"}, loses="in training").feedback(
    "The model is put into eval mode: dropout is for training."
)
right.mistake("sets_the_flag_only", {"model.train()": "model.training = True"}, loses="in training").feedback(
    "`model.training = True` reaches the model itself and none of its parts. `model.train()` reaches them all."
)
right.mistake("returns_the_tensor", {"loss.item()": "loss"}, loses="returns").feedback(
    "You return a tensor, and with it all that it was computed from. `.item()` makes it a float."
)
right.mistake("returns_nothing", loses=("returns", "any optimizer")).patch("""
- return loss.item()
""").feedback("Nothing is returned: return the loss as a float.")
right.mistake("measures_afterwards", loses=("returns", "any optimizer")).patch("""
- return loss.item()
+ with torch.no_grad():
+     return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
""").feedback("You return the loss after the step. The one before it needs no second pass.")
right.mistake(
    "adds_up_the_positions", {"targets.flatten())": 'targets.flatten(), reduction="sum")'}, loses=EVERYWHERE
).feedback("Your loss is the sum over the positions. It is their mean.")
right.mistake(scores.softmax_before_loss, {"model(inputs)": "model(inputs).softmax(-1)"}, loses=EVERYWHERE)
right.mistake("trains_the_last_position", loses=EVERYWHERE).patch("""
- loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
+ loss = F.cross_entropy(model(inputs)[:, -1], targets[:, -1])
""").feedback("Only the last position is trained. Every position of every window has its target.")
right.mistake("flattens_batch_and_time_differently", {"flatten()": "t().flatten()"}, loses=EVERYWHERE).feedback(
    "Logits and targets are laid flat in different orders, so each position is held to another one's target."
)
right.mistake("shifts_in_the_step", loses=EVERYWHERE).patch("""
- loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
+ loss = F.cross_entropy(model(inputs)[:, :-1].flatten(0, 1), targets[:, 1:].flatten())
""").feedback("You shift once more. The targets you are given are one step ahead already.")
right.mistake("climbs", {"loss.backward": "(-loss).backward"}, loses="an SGD").feedback(
    "The loss climbs: you step along the gradient instead of against it. The optimizer already takes care of the sign."
)
right.mistake(shapes.classes_reshaped, loses=EVERYWHERE).patch("""
- loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
+ logits = model(inputs)
+ loss = F.cross_entropy(logits.reshape(len(logits), logits.shape[2], -1), targets)
""")
