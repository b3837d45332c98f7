"""Known mistakes in `train`."""

from ...shared.families import arguments, scores, shapes
from .contract import train

right = train.reference_answer("""
def train(model, data, steps, batch_size, generator, peak=3e-3):
    def rate(step):
        warmup = steps // 10
        if step < warmup:
            return peak * (step + 1) / warmup
        return peak * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2

    def batch():
        T = model.block_size
        starts = torch.randint(len(data) - T, (batch_size,), generator=generator)
        place = starts[:, None] + torch.arange(T)
        return data[place], data[place + 1]

    optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        inputs, targets = batch()
        model.train()
        optimizer.zero_grad()
        logits = model(inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses
""")

right.mistake("only_measures", loses=("the trained", "AdamW", "a list")).patch("""
- loss.backward()
- nn.utils.clip_grad_norm_(model.parameters(), 1.0)
- optimizer.step()
""").feedback("You never change the model: the optimizer takes no step.")
right.mistake("piles_gradients_up", loses="the trained", when="not cleared").patch("""
- optimizer.zero_grad()
""").feedback(
    "You never clear the gradients, so every step follows the sum of all gradients before it. The loss falls, but "
    "settles much too high."
)
right.mistake("learns_to_repeat", {"place + 1": "place"}, loses="the trained", when="the token itself").feedback(
    "You do not shift the targets, so the model learns to repeat what it sees. Its training loss goes to 0, but on "
    "real targets it is worse than an untrained model."
)
right.mistake(
    "skips_a_token", {"data[place + 1]": "data[place + 1].roll(-1, 1)"}, loses="the trained", when="two ahead"
).feedback("You shift the targets twice: the model learns what comes after the next token.")
right.mistake("learns_one_batch_by_heart", loses="the trained", when="one batch").patch("""
  losses = []
+ inputs, targets = batch()
@@
- inputs, targets = batch()
""").feedback("You draw one batch before the loop, and the model learns it by heart. Draw a new one in each step.")
right.mistake("learns_three_batches_by_heart", loses="the trained", when="a few batches").patch("""
  losses = []
+ batches = [batch() for _ in range(3)]
@@
- inputs, targets = batch()
+ inputs, targets = batches[step % 3]
""").feedback(
    "You reuse a few batches that you draw before the loop, until the model knows them by heart. Draw a new one in "
    "each step."
)
right.mistake(
    "reads_half_of_the_text", {"len(data) - T": "len(data) // 2 - T"}, loses="the trained", when="half of the text"
).feedback("You draw windows only from the first half of the text. The model should learn from all of it.")
right.mistake("forgets_the_averages", loses="the trained").patch("""
  for step in range(steps):
+     optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
""").feedback(
    "You create a new optimizer in each step. AdamW keeps averages of all gradients so far; a new one has lost them "
    "and takes a step of the full learning rate wherever the last batch points."
)
right.mistake(
    "decays_by_the_gradient", {"AdamW": "Adam", "lr=peak": "lr=peak, weight_decay=0.01"}, loses="the trained"
).feedback(
    "You use Adam with weight_decay, which adds the weights to the gradient and then divides by its size. AdamW "
    "keeps the two apart."
)
right.mistake(
    "trains_the_last_position_only", {".flatten(0, 1), targets.flatten()": "[:, -1], targets[:, -1]"}, loses="a list"
).feedback(
    "You train only the last position of each window. Every position has its target, and training them all costs "
    "nothing more."
)
right.mistake("smooths_the_curve", loses="a list").patch("""
- return losses
+ return [sum(losses[: i + 1]) / (i + 1) for i in range(steps)]
""").feedback("You return averages of the losses so far. The list should hold the loss of each step.")
right.mistake(arguments.argument_changed(what="the data"), loses="a list").patch("""
+ data.copy_(data.flip(0) + 1)
  return losses
""")
right.mistake(scores.softmax_before_loss, {"(inputs)": "(inputs).softmax(-1)"}, loses=("the trained", "a list"))
right.mistake("mixes_positions_up", {"targets.flatten()": "targets.t().flatten()"}, loses="the trained").feedback(
    "You flatten logits and targets in different orders, so each position is compared with another one's target."
)
right.mistake("descends_plainly", {"optim.AdamW": "optim.SGD"}, loses=("the trained", "AdamW")).feedback(
    "You use plain gradient descent; the exercise asks for AdamW. With a gradient of norm 1 at most, plain gradient "
    "descent hardly moves at these rates."
)
right.mistake("trains_a_copy", loses=("the trained", "AdamW")).patch("""
  def train(model, data, steps, batch_size, generator, peak=3e-3):
+     import copy
+
+     model = copy.deepcopy(model)
""").feedback("You train a copy of the model; the model that you were given stays as it was.")
right.mistake(
    "keeps_the_rate", {"torch.optim.AdamW": "torch.optim.KIND", "= rate(step)": "= peak"}, loses="AdamW"
).for_each(KIND=("AdamW", "Adam")).feedback(
    "You use peak as the learning rate in every step, without warm-up or decay. Check that the rate you compute "
    "reaches the optimizer's param_groups."
)
right.mistake("keeps_a_rate_of_its_own", loses=("the trained", "AdamW")).patch("""
- optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
+ optimizer = torch.optim.MADE
@@
- for group in optimizer.param_groups:
-     group["lr"] = rate(step)
""").for_each(
    MADE=(
        "Adam(model.parameters(), lr=3e-3)",
        "Adam(model.parameters())",
        "AdamW(model.parameters(), lr=3e-3)",
        "AdamW(model.parameters())",
    )
).feedback(
    "You use one learning rate of your own in every step, whatever `peak` is. Give the optimizer the schedule's rate "
    "before each step."
)
right.mistake("sets_the_rate_after_the_step", loses="AdamW").patch("""
- for group in optimizer.param_groups:
-     group["lr"] = rate(step)
@@
  optimizer.step()
+ for group in optimizer.param_groups:
+     group["lr"] = rate(step)
""").feedback(
    "You set the learning rate after the step, so the first step has the full peak and each later one the rate of the "
    "step before. Set it before `optimizer.step()`."
)
right.mistake("never_warms_up", loses="AdamW").patch("""
- if step < warmup:
-     return peak * (step + 1) / warmup
- return peak * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2
+ return peak * (1 + math.cos(math.pi * step / steps)) / 2
""").feedback("You leave out the warm-up: your learning rate decays from the first step.")
right.mistake(
    "never_decays", {"peak * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2": "peak"}, loses="AdamW"
).feedback("You leave the rate at its peak after the warm-up. A cosine should take it down to 0.")
right.mistake("decays_linearly", loses="AdamW").patch("""
- return peak * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2
+ return peak * (steps - step) / (steps - warmup)
""").feedback("You let the rate decay in a straight line; the exercise asks for half a cosine.")
right.mistake("stops_at_a_floor", loses="AdamW").patch("""
- return peak * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2
+ return peak * (FLOOR + (1 - FLOOR) * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2)
""").for_each(FLOOR=(0.1, 0.2)).feedback(
    "You end the decay at a fraction of the peak, a tenth or more. It should go down to 0."
)
right.mistake("warms_up_for_half", {"steps // 10": "steps // PARTS"}, loses="AdamW").for_each(PARTS=(2, 4)).feedback(
    "You spend about a quarter or a half of the steps on the warm-up. Only the first tenth is warm-up."
)
right.mistake("warms_up_for_a_twentieth", {"steps // 10": "steps // PARTS"}, loses="AdamW").for_each(
    PARTS=(20, 50)
).feedback("You spend a twentieth of the steps or less on the warm-up. The first tenth is warm-up.")
right.mistake("knows_one_peak", loses="AdamW").patch("""
  def train(model, data, steps, batch_size, generator, peak=3e-3):
+     peak = 3e-3
""").feedback("You do not use peak: your learning rate is always that of the default.")
right.mistake("goes_too_fast", {"= rate(step)": "= FACTOR * rate(step)"}, loses="AdamW").for_each(
    FACTOR=(10, 2)
).feedback("Your optimizer has a learning rate several times too high.")
right.mistake("draws_batches_elsewhere", loses="a list", when="not of the generator").patch("""
+ import random
+
+ dice = random.Random(1)  # a seed, so that the recorded results are the same again
+
- starts = torch.randint(len(data) - T, (batch_size,), generator=generator)
+ starts = DRAW
""").for_each(
    DRAW=(
        "torch.randint(len(data) - T, (batch_size,))",
        "torch.tensor([dice.randrange(len(data) - T) for _ in range(batch_size)])",
    )
).feedback(
    "You do not draw the batches from the generator, so nobody can repeat the run. PyTorch's global state, NumPy and "
    "Python's `random` do not know it."
)
right.mistake(
    "returns_the_last_loss", {"return losses": "return losses[-1]"}, loses="a list", when="the last loss"
).feedback("You return only the last loss. Return the list of all losses, the training curve.")
right.mistake("collects_tensors", {"loss.item()": "loss.detach()"}, loses="a list", when="losses are tensors").feedback(
    "You return losses that are tensors, each with everything that it was computed from. They should be floats."
)
right.mistake("trains_the_last_layer", loses="a list", when="a part is trained").patch("""
- optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
+ optimizer = torch.optim.AdamW(list(model.parameters())[-1:], lr=peak)
""").feedback("You give the optimizer only some of the parameters, so the rest of the model never changes.")
right.mistake(
    "returns_a_tensor_of_losses", {"return losses": "return torch.tensor(losses)"}, loses="a list", when="one tensor"
).feedback("You return a tensor; the losses should be a list of floats.")
right.mistake("keeps_the_losses", loses="a list", when="nothing is returned").patch("""
- return losses
""").feedback("You return nothing: return the list of losses.")
right.mistake(
    "takes_a_step_too_few", {"range(steps)": "range(steps - 1)"}, loses="a list", when="a step too few"
).feedback("You take one step too few.")
right.mistake(
    "takes_a_step_more", {"range(steps)": "[*range(steps), steps - 1]"}, loses="a list", when="a step more"
).feedback("You take one step too many.")
right.mistake("trains_a_resting_model", loses="a list", when="not in training mode").patch("""
- model.train()
""").feedback("You train the model in eval mode, or in whatever mode it came in. In eval mode its dropout is off.")
right.mistake("has_its_own_batch_size", {"(batch_size,)": "(8,)"}, loses="a list").feedback(
    "You do not use batch_size."
)
right.mistake("divides_by_a_warm_up_of_no_steps", loses="a list").patch("""
- if step < warmup:
-     return peak * (step + 1) / warmup
- return peak * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2
+ share = max(0, step - warmup) / (steps - warmup)
+ return peak * min((step + 1) / warmup, (1 + math.cos(math.pi * share)) / 2)
""").feedback("You divide by 0 when there are fewer than ten steps: a tenth of them, rounded down, is 0.")
right.mistake(
    "divides_by_one_less_than_the_warm_up", {"peak * (step + 1) / warmup": "peak * step / (warmup - 1)"}, loses="a list"
).feedback("You divide by 0 when there are ten steps: one is warm-up, and you divide by one less than that.")
right.mistake("squares_the_peak", {"= rate(step)": "= peak * rate(step)"}, loses=("the trained", "AdamW")).feedback(
    "You multiply by the peak twice, so the rate is hardly above 0 all the time. Print the learning rate that the "
    "optimizer has in the middle of the training."
)
right.mistake(
    "looks_back", {"data[place + 1]": "data[place - 1]"}, loses="the trained", when="what comes before"
).feedback("You shift the targets the wrong way: the model learns what came *before* each token.")
right.mistake("stays_in_the_first_corner", loses="the trained", when="the first corner").patch("""
- starts = torch.randint(len(data) - T, (batch_size,), generator=generator)
+ starts = torch.randint(min(len(data) - T, FEW), (batch_size,), generator=generator)
""").for_each(FEW=("batch_size", "T")).feedback(
    "You start all windows near the beginning of the text. The upper bound of the draw is not computed from the "
    "length of the data. Print the greatest of a thousand starts."
)
right.mistake(shapes.classes_reshaped, loses="the trained").patch("""
- loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
+ loss = F.cross_entropy(logits.reshape(len(logits), logits.shape[2], -1), targets)
""")
