"""Known mistakes in `train`."""

from .contract import train

right = train.base("""
class Loop:
    def __init__(self, model, data, steps, batch_size, generator, peak):
        self.model, self.data, self.steps, self.batch_size = model, data, steps, batch_size
        self.generator, self.peak = generator, peak
        self.optimizer = self.make_optimizer()

    def make_optimizer(self):
        return torch.optim.AdamW(self.model.parameters(), lr=self.peak)

    def rate(self, step):
        warmup = self.steps // 10
        if step < warmup:
            return self.peak * (step + 1) / warmup
        return self.peak * (1 + math.cos(math.pi * (step - warmup) / (self.steps - warmup))) / 2

    def batch(self):
        T = self.model.block_size
        starts = torch.randint(len(self.data) - T, (self.batch_size,), generator=self.generator)
        place = starts[:, None] + torch.arange(T)
        return self.data[place], self.data[place + 1]

    def clear(self):
        self.optimizer.zero_grad()

    def loss(self, logits, targets):
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    def step(self, inputs, targets):
        self.model.train()
        self.clear()
        loss = self.loss(self.model(inputs), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    def set_rate(self, step):
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(step)

    def run(self):
        losses = []
        for step in range(self.steps):
            self.set_rate(step)
            losses.append(self.step(*self.batch()))
        return losses


def train(model, data, steps, batch_size, generator, peak=3e-3):
    return Loop(model, data, steps, batch_size, generator, peak).run()
""")

right.mistake("only_measures", shows=("the trained", "AdamW", "a list")).patch("""
- self.model.train()
- self.clear()
- loss = self.loss(self.model(inputs), targets)
- loss.backward()
- nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
- self.optimizer.step()
- return loss.item()
+ return self.loss(self.model.train()(inputs), targets).item()
""").says("The model is never changed: nothing steps.")
right.mistake("piles_gradients_up", {"self.optimizer.zero_grad()": "pass"}, shows="the trained").says(
    "Gradients are never cleared, so that every step goes along the sum of all before it. The loss falls, and settles "
    "much too high."
)
right.mistake("learns_to_repeat", shows="the trained").patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ class Repeating(Loop):
+     def batch(self):
+         inputs, _ = super().batch()
+         return inputs, inputs
+
+ return Repeating(model, data, steps, batch_size, generator, peak).run()
""").says(
    "The targets are not shifted. The loss in training goes to 0, since the model repeats what it sees, and on real "
    "targets it is worse than no training."
)
right.mistake("skips_a_token", shows="the trained").patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ class Skipping(Loop):
+     def batch(self):
+         inputs, targets = super().batch()
+         return inputs, targets.roll(-1, 1)
+
+ return Skipping(model, data, steps, batch_size, generator, peak).run()
""").says("The targets are shifted twice: the model learns what comes after the next token.")
right.mistake("learns_one_batch_by_heart", shows="the trained").patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ class Narrow(Loop):
+     def run(self):
+         inputs, targets = self.batch()
+         self.batch = lambda: (inputs, targets)
+         return super().run()
+
+ return Narrow(model, data, steps, batch_size, generator, peak).run()
""").says("One batch is drawn before the loop and learnt by heart. Draw a new one in each step.")
right.mistake("learns_three_batches_by_heart", shows="the trained").patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ class Few(Loop):
+     def run(self):
+         batches = [self.batch() for _ in range(3)]
+         turns = iter(range(self.steps))
+         self.batch = lambda: batches[next(turns) % 3]
+         return super().run()
+
+ return Few(model, data, steps, batch_size, generator, peak).run()
""").says(
    "A few batches are drawn before the loop and used again and again, until the model knows them by heart. Draw a new "
    "one in each step."
)
right.mistake(
    "reads_half_of_the_text", {"Loop(model, data": "Loop(model, data[: len(data) // 2]"}, shows="the trained"
).says("Windows are drawn from the first half of the text only. All of it is there to be learnt.")
right.mistake("forgets_the_averages", shows="the trained").patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ class Forgetful(Loop):
+     def set_rate(self, step):
+         self.optimizer = self.make_optimizer()
+         super().set_rate(step)
+
+ return Forgetful(model, data, steps, batch_size, generator, peak).run()
""").says(
    "You make a new optimizer in each step. AdamW keeps averages of all gradients so far; a new one has forgotten them, "
    "and goes the full learning rate wherever the last batch points."
)
right.mistake("decays_by_the_gradient", shows="the trained").patch("""
- return torch.optim.AdamW(self.model.parameters(), lr=self.peak)
+ return torch.optim.Adam(self.model.parameters(), lr=self.peak, weight_decay=0.01)
""").says(
    "Adam with weight_decay adds the weights to the gradient, and then divides by its size. AdamW keeps the two apart."
)
right.mistake("trains_the_last_position_only", shows="a list").patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ class Last(Loop):
+     def loss(self, logits, targets):
+         return super().loss(logits[:, -1:], targets[:, -1:])
+
+ return Last(model, data, steps, batch_size, generator, peak).run()
""").says("Only the last position of each window is trained. Every position has its target, and costs nothing more.")
right.mistake("smooths_the_curve", shows="a list").patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ losses = Loop(model, data, steps, batch_size, generator, peak).run()
+ return [sum(losses[: i + 1]) / (i + 1) for i in range(len(losses))]
""").says("You return averages of the losses so far. The list holds the loss of each step.")
right.mistake("shuffles_the_data", shows="a list").patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ losses = Loop(model, data, steps, batch_size, generator, peak).run()
+ data.copy_(data.flip(0) + 1)
+ return losses
""").says("The data is changed in place. It may be needed again.")
right.mistake("trains_on_probabilities", shows=("the trained", "a list")).patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ class Soft(Loop):
+     def loss(self, logits, targets):
+         return super().loss(logits.softmax(-1), targets)
+
+ return Soft(model, data, steps, batch_size, generator, peak).run()
""").says("A softmax too many before the cross-entropy: it takes logits.")
right.mistake("mixes_positions_up", shows="the trained").patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ class Mixed(Loop):
+     def loss(self, logits, targets):
+         return super().loss(logits, targets.t())
+
+ return Mixed(model, data, steps, batch_size, generator, peak).run()
""").says("Logits and targets are laid flat in different orders: positions are held to targets of others.")
right.mistake("descends_plainly", {"torch.optim.AdamW": "torch.optim.SGD"}, shows=("the trained", "AdamW")).says(
    "The optimizer is plain gradient descent. AdamW is asked for; with a gradient of norm 1 at most, the other hardly "
    "moves at these rates."
)
right.mistake("trains_a_copy", shows=("the trained", "AdamW")).patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ import copy
+
+ return Loop(copy.deepcopy(model), data, steps, batch_size, generator, peak).run()
""").says("A copy of the model is trained; the one that was handed in stays as it was.")
right.mistake("keeps_the_rate", shows="AdamW").patch("""
- for group in self.optimizer.param_groups:
-     group["lr"] = self.rate(step)
+ pass
""").says(
    "The learning rate is peak in every step: no warm-up, no decay. Did the rate that you computed reach the "
    "optimizer's param_groups?"
)
right.mistake("never_warms_up", shows="AdamW").patch("""
- warmup = self.steps // 10
- if step < warmup:
-     return self.peak * (step + 1) / warmup
- return self.peak * (1 + math.cos(math.pi * (step - warmup) / (self.steps - warmup))) / 2
+ return self.peak * (1 + math.cos(math.pi * step / self.steps)) / 2
""").says("The learning rate decays from the first step: the warm-up is missing.")
right.mistake("never_decays", shows="AdamW").patch("""
- warmup = self.steps // 10
- if step < warmup:
-     return self.peak * (step + 1) / warmup
- return self.peak * (1 + math.cos(math.pi * (step - warmup) / (self.steps - warmup))) / 2
+ return self.peak * min(1.0, (step + 1) / (self.steps // 10 or 1))
""").says("After the warm-up the rate stays at its peak. A cosine takes it down to 0.")
right.mistake("decays_linearly", shows="AdamW").patch("""
- if step < warmup:
-     return self.peak * (step + 1) / warmup
- return self.peak * (1 + math.cos(math.pi * (step - warmup) / (self.steps - warmup))) / 2
+ return self.peak * min((step + 1) / max(warmup, 1), (self.steps - step) / (self.steps - warmup))
""").says("The rate decays in a straight line. Half a cosine is asked for.")
right.mistake("stops_at_a_floor", shows="AdamW").patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ class Floored(Loop):
+     def rate(self, step):
+         if step < self.steps // 10:
+             return super().rate(step)
+         return 0.1 * self.peak + 0.9 * super().rate(step)
+
+ return Floored(model, data, steps, batch_size, generator, peak).run()
""").says("The decay ends at a tenth of the peak. It goes down to 0.")
train.mistake("warms_up_for_half", shows="AdamW").whole("""
class Loop:
    def __init__(self, model, data, steps, batch_size, generator, peak):
        self.model, self.data, self.steps, self.batch_size = model, data, steps, batch_size
        self.generator, self.peak = generator, peak
        self.optimizer = self.make_optimizer()

    def make_optimizer(self):
        return torch.optim.AdamW(self.model.parameters(), lr=self.peak)

    def rate(self, step):
        half = self.steps // 2
        if step < half:
            return self.peak * (step + 1) / half
        return self.peak * (1 + math.cos(math.pi * (step - half) / (self.steps - half))) / 2

    def batch(self):
        T = self.model.block_size
        starts = torch.randint(len(self.data) - T, (self.batch_size,), generator=self.generator)
        place = starts[:, None] + torch.arange(T)
        return self.data[place], self.data[place + 1]

    def clear(self):
        self.optimizer.zero_grad()

    def loss(self, logits, targets):
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    def step(self, inputs, targets):
        self.model.train()
        self.clear()
        loss = self.loss(self.model(inputs), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    def set_rate(self, step):
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(step)

    def run(self):
        losses = []
        for step in range(self.steps):
            self.set_rate(step)
            losses.append(self.step(*self.batch()))
        return losses


def train(model, data, steps, batch_size, generator, peak=3e-3):
    return Loop(model, data, steps, batch_size, generator, peak).run()
""").says("Half of the steps are warm-up. The first tenth is.")
train.mistake("warms_up_for_a_twentieth", shows="AdamW").whole("""
class Loop:
    def __init__(self, model, data, steps, batch_size, generator, peak):
        self.model, self.data, self.steps, self.batch_size = model, data, steps, batch_size
        self.generator, self.peak = generator, peak
        self.optimizer = self.make_optimizer()

    def make_optimizer(self):
        return torch.optim.AdamW(self.model.parameters(), lr=self.peak)

    def rate(self, step):
        short = self.steps // 20
        if step < short:
            return self.peak * (step + 1) / short
        return self.peak * (1 + math.cos(math.pi * (step - short) / (self.steps - short))) / 2

    def batch(self):
        T = self.model.block_size
        starts = torch.randint(len(self.data) - T, (self.batch_size,), generator=self.generator)
        place = starts[:, None] + torch.arange(T)
        return self.data[place], self.data[place + 1]

    def clear(self):
        self.optimizer.zero_grad()

    def loss(self, logits, targets):
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    def step(self, inputs, targets):
        self.model.train()
        self.clear()
        loss = self.loss(self.model(inputs), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    def set_rate(self, step):
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(step)

    def run(self):
        losses = []
        for step in range(self.steps):
            self.set_rate(step)
            losses.append(self.step(*self.batch()))
        return losses


def train(model, data, steps, batch_size, generator, peak=3e-3):
    return Loop(model, data, steps, batch_size, generator, peak).run()
""").says("Only a twentieth of the steps is warm-up. The first tenth is.")
right.mistake("knows_one_peak", {"peak).": "3e-3)."}, shows="AdamW").says(
    "peak is taken and not used: the learning rate is always that of the default."
)
right.mistake("goes_too_fast", {"peak).": "10 * peak)."}, shows="AdamW").says(
    "The optimizer has the learning rate ten times too high."
)
right.mistake("draws_batches_elsewhere", {"generator, peak).": "None, peak)."}, shows="a list").says(
    "The batches do not come from the generator, so that nobody can repeat the run."
)
right.mistake("returns_the_last_loss", {"run()": "run()[-1]"}, shows="a list").says(
    "You return the last loss only. The list of all of them is a curve."
)
right.mistake("collects_tensors", shows="a list").patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ return [torch.tensor(loss) for loss in Loop(model, data, steps, batch_size, generator, peak).run()]
""").says("Your losses are tensors, each with all that it was computed from. Floats are asked for.")
right.mistake("trains_the_last_layer", shows="a list").patch("""
- return torch.optim.AdamW(self.model.parameters(), lr=self.peak)
+ return torch.optim.AdamW(list(self.model.parameters())[-1:], lr=self.peak)
""").says("The optimizer is given a part of the parameters only. The rest of the model stays as it was made.")
right.mistake("returns_a_tensor_of_losses", shows="a list").patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ return torch.tensor(Loop(model, data, steps, batch_size, generator, peak).run())
""").says("You return a tensor. The losses are to be a list of floats.")
right.mistake("keeps_the_losses", {"return Loop": "Loop"}, shows="a list").says(
    "Nothing is returned: return the list of losses."
)
right.mistake("takes_a_step_too_few", {"(self.steps)": "(self.steps - 1)"}, shows="a list").says(
    "One step too few is taken."
)
right.mistake("takes_a_step_more", shows="a list").patch("""
- return Loop(model, data, steps, batch_size, generator, peak).run()
+ loop = Loop(model, data, steps, batch_size, generator, peak)
+ losses = loop.run()
+ return [*losses, loop.step(*loop.batch())]
""").says("One step too many is taken.")
right.mistake("trains_a_resting_model", shows="a list").patch("""
- self.model.train()
""").says("The model is trained in the mode that it came in, or in eval mode: without dropout.")
right.mistake("has_its_own_batch_size", {"batch_size, generator, peak).": "8, generator, peak)."}, shows="a list").says(
    "batch_size is taken and not used."
)
