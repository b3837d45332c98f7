"""Known mistakes in `evaluate`."""

from ...shared.families import gradients, results, scores, shapes
from .contract import evaluate

EVERYWHERE = ("the mean", "in eval")  # what an answer loses whose every result is wrong

right = evaluate.reference_answer("""
def evaluate(model, inputs, targets):
    was = model.training
    model.eval()
    with torch.no_grad():
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
    model.train(was)
    return loss
""")

evaluate.mistake("forgets_eval_mode", loses="in eval", when="dropout falls").full_code("""
def evaluate(model, inputs, targets):
    with torch.no_grad():
        return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
""").feedback("You evaluate the model in whatever mode it is in; in training mode, dropout distorts the loss.")
evaluate.mistake("stays_in_eval_mode", loses="the mode").full_code("""
def evaluate(model, inputs, targets):
    model.eval()
    with torch.no_grad():
        return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
""").feedback(
    "You leave the model in eval mode. If it was being trained, the training continues without dropout and nobody "
    "notices. Remember the mode before you change it."
)
right.mistake("always_goes_on_training", loses="the mode").patch("""
- was = model.training
@@
- model.train(was)
+ model.train()
""").feedback(
    "You always put the model into training mode afterwards. It may have been in eval mode before: remember which."
)
right.mistake("restores_the_flag_only", {"model.train(was)": "model.training = was"}, loses="the mode").feedback(
    "You restore the mode of the model itself but not of its parts, so dropout stays off. `model.train(mode)` "
    "reaches them all."
)
right.mistake("switches_the_flag_only", loses="in eval", when="dropout falls").patch("""
- was = model.training
- model.eval()
+ was, model.training = model.training, False
@@
- model.train(was)
+ model.training = was
""").feedback(
    "You set `model.training = False`, which reaches the model itself but none of its parts: dropout stays on. Use "
    "model.eval()."
)
right.mistake(
    "switches_the_parts_only", {"model.eval": "for part in model.children():\n        part.eval"}, loses="in eval"
).feedback(
    "You switch only the model's parts (or only its dropout layers), but not the model itself. `model.eval()` "
    "reaches the model and all its parts."
)
right.mistake("takes_the_dropout_out", loses="without").patch("""
  was = model.training
+ for part in model.modules():
+     if isinstance(part, nn.Dropout):
+         part.p = 0.0
""").feedback(
    "You set the dropout of the layers to 0 and never restore it. In eval mode they drop nothing anyway, and "
    "afterwards they work as before."
)
right.mistake(gradients.gradients_switched_off, loses="without").patch("""
- with torch.no_grad():
-     loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
+ torch.set_grad_enabled(False)
+ loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
""")
right.mistake(
    "evaluates_in_training_mode", {"model.eval": "model.train"}, loses="in eval", when="dropout falls"
).feedback("You switch the mode the wrong way round: you evaluate in training mode.")
right.mistake("keeps_gradients_on", loses="without").patch("""
- with torch.no_grad():
-     loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
+ loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
""").feedback(
    "You leave gradients on: eval mode does not switch them off. Without torch.no_grad() every evaluation stores "
    "what a backward() would need."
)
right.mistake("goes_backward", loses="without", when="gradients are added").patch("""
- with torch.no_grad():
-     loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
+ loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
+ loss.backward()
@@
- return loss
+ return loss.item()
""").feedback("You call backward(), but an evaluation must leave the gradients alone.")
right.mistake(
    "clears_the_gradients", {"eval()": "eval()\n    model.zero_grad()"}, loses="without", when="gradients are cleared"
).feedback("You clear the model's gradients, but an evaluation must leave them alone.")
right.mistake("freezes_the_model", loses="without").patch("""
- model.eval()
- with torch.no_grad():
-     loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
+ model.eval().requires_grad_(False)
+ loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
""").feedback("You freeze the parameters and leave them frozen, so nothing can be trained afterwards.")
right.mistake("returns_a_loss_tensor", {".item()": ""}, loses="the mean").feedback(
    "You return a tensor; `.item()` makes it a float."
)
right.mistake(
    "totals_the_loss", {"targets.flatten())": 'targets.flatten(), reduction="sum")'}, loses=EVERYWHERE
).feedback("You return the sum over the positions; the exercise asks for the mean.")
right.mistake("returns_the_accuracy", loses="the mean").patch("""
- loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
+ hits = (model(inputs).argmax(-1) == targets).float().mean().item()
@@
- return loss
+ return hits
""").feedback("You return the share of targets that were predicted correctly; the exercise asks for the loss.")
right.mistake(results.perplexity, {".item(": ".exp().item("}, loses=EVERYWHERE)
right.mistake(scores.softmax_before_loss, {"model(inputs)": "model(inputs).softmax(-1)"}, loses=EVERYWHERE)
right.mistake("lays_them_flat_differently", {"targets.flatten": "targets.T.flatten"}, loses=EVERYWHERE).feedback(
    "You flatten logits and targets in different orders, so each position is compared with another one's target."
)
right.mistake("shifts_what_is_shifted", loses=EVERYWHERE).patch("""
- loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
+ loss = F.cross_entropy(model(inputs)[:, :-1].flatten(0, 1), targets[:, 1:].flatten()).item()
""").feedback("You shift the targets once more, but they are already one step ahead of the inputs.")
right.mistake("averages_unequal_parts", loses="the mean").patch("""
  model.eval()
+ losses = []
@@
- loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
+ for x, y in zip(inputs.split(PART), targets.split(PART), strict=True):
+     losses.append(F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item())
@@
- return loss
+ return sum(losses) / len(losses)
""").for_each(PART=(2, 3, 4)).feedback(
    "You average the means of a few windows at a time, although the last part is smaller. A window in it then counts "
    "for more: weigh each part by its size, or add up and divide once."
)
right.mistake("turns_the_mode_round", {"(was)": "(not was)"}, loses="the mode").feedback(
    "You leave the model in the opposite mode. Remember its mode before you switch, and restore that one."
)
right.mistake("judges_the_last_position", loses=EVERYWHERE).patch("""
- loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
+ loss = F.cross_entropy(model(inputs)[:, -1], targets[:, -1]).item()
""").feedback("You evaluate only the last position of each window. All positions count.")
right.mistake(shapes.classes_reshaped, loses="the mean").patch("""
- loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
+ logits = model(inputs)
+ loss = F.cross_entropy(logits.reshape(len(logits), logits.shape[2], -1), targets).item()
""")
