"""Known mistakes in `gradient_step`."""

from ...shared.families import arguments, numbers, shapes
from .contract import gradient_step

STEP = "one step downhill"

right = gradient_step.reference_answer("""
def gradient_step(weights, x, y, rate):
    w = weights.detach().clone().requires_grad_()
    loss = (x @ w - y).square().mean()
    loss.backward()
    return w.detach() - rate * w.grad
""")

right.mistake("uphill", {"- rate * w.grad": "+ rate * w.grad"}, loses=STEP).feedback(
    "You step along the gradient, which points to where the loss grows. Step against it."
)
right.mistake("no_rate", {"rate * w.grad": "w.grad"}, loses=STEP).feedback(
    "You subtract the whole gradient, whatever the rate. A step is the rate times the gradient."
)
right.mistake("sum_of_squares", {"square().mean()": "square().sum()"}, loses=STEP).feedback(
    "Your loss is the *sum* of the squared errors, so every step gets longer with more examples. Take their mean."
)
right.mistake("half_the_mean", {"square().mean()": "square().mean() / 2"}, loses=STEP).feedback(
    "Your step is half as long as it should be. Some texts halve the loss to cancel the 2 of the derivative. Here it "
    "is the mean itself."
)
right.mistake("absolute_errors", {".square().mean()": ".abs().mean()"}, loses=STEP).feedback(
    "Your loss is the mean of the *absolute* errors. Take the mean of their squares."
)
right.mistake("does_not_square", {".square().mean()": ".mean()"}, loses=STEP).feedback(
    "You do not square the errors, so positive and negative ones cancel and the loss has no minimum."
)
right.mistake("root_of_the_mean", {"square().mean()": "square().mean().sqrt()"}, loses=STEP).feedback(
    "Your loss is the *root* of the mean squared error, which has a different gradient."
)
right.mistake("square_of_the_mean", {"square().mean()": "mean().square()"}, loses=STEP).feedback(
    "You take the mean before you square, so positive and negative errors cancel. Square each error first."
)
right.mistake("every_error_with_every_target", {"x @ w - y": "x @ w[:, None] - y"}, loses=STEP).feedback(
    "You compare every prediction with every target, without a warning from PyTorch. `(B, 1)` minus `(B,)` broadcasts "
    "to `(B, B)`. Both must have shape `(B,)`.",
    see="2. Shapes that stretch",
)
right.mistake("hands_out_the_gradient", {"w.detach() - rate * w.grad": "w.grad"}, loses=STEP).feedback(
    "You return the gradient. Return the weights after the step."
)
right.mistake("hands_out_the_loss", {"w.detach() - rate * w.grad": "loss.detach()"}, loses=STEP).feedback(
    "You return the loss before the step. Return the weights after it."
)
right.mistake("stays", {"w.detach() - rate * w.grad": "w.detach()"}, loses=STEP).feedback(
    "You return the weights unchanged. You compute the gradient but do not use it."
)
right.mistake(
    "a_step_of_one_length", {"rate * w.grad": "rate * w.grad / w.grad.norm().clamp(min=1e-12)"}, loses=STEP
).feedback("You divide the gradient by its own length, so every step has the same length.")
right.mistake(arguments.argument_changed(what="the weights"), loses="arguments", clause="purity").patch("""
- return w.detach() - rate * w.grad
+ return weights.detach().sub_(rate * w.grad)
""")
right.mistake(arguments.argument_changed("without_a_copy"), {".detach().clone()": ""}, loses="one step after").feedback(
    "You switch gradients on in the caller's own weights, so the next call adds its gradient to the old one. "
    "Work on a copy: `weights.detach().clone()`."
)
gradient_step.mistake(arguments.argument_changed("marks_the_weights"), loses="arguments").full_code("""
def gradient_step(weights, x, y, rate):
    weights.requires_grad_().grad = None
    loss = (x @ weights - y).square().mean()
    loss.backward()
    return weights.detach() - rate * weights.grad
""").feedback(
    "You switch gradients on in the caller's own weights and leave a gradient in them. Work on a copy: "
    "`weights.detach().clone()`."
)
right.mistake(numbers.result_float32(of="the weights"), loses="float64")
right.mistake(shapes.squeezed, {"x @ w": "x.squeeze() @ w"}, loses="any number", clause="any")
right.mistake("mean_over_the_weights", {"square().mean()": "square().sum() / len(weights)"}, loses=STEP).feedback(
    "You divide the sum of squares by D, the number of weights. Divide by B, the number of examples, `len(y)`."
)
right.mistake("divides_by_the_rate", {"rate * w.grad": "w.grad / rate"}, loses=STEP).feedback(
    "You divide the gradient by the rate, so a small rate makes a long step. Multiply them."
)
gradient_step.mistake("steps_after_each_example", loses=STEP).full_code("""
def gradient_step(weights, x, y, rate):
    w = weights.detach().clone().requires_grad_()
    for row, target in zip(x, y):
        (row @ w - target).square().backward()
        with torch.no_grad():
            STEP
    return w.detach()
""").for_each(
    STEP=(
        "w -= rate * w.grad / len(y)",
        "w -= rate * w.grad",
        "w -= rate * w.grad / len(y); w.grad = None",
        "w -= rate * w.grad; w.grad = None",
    )
).feedback(
    "You take a step after every example, so the next example sees other weights. Take one, with the gradient of the "
    "mean over all examples."
)
right.mistake("leaves_out_an_example", {"(x @ w - y).square().mean()": "LOSS"}, loses=STEP).for_each(
    LOSS=(
        "(x[1:] @ w - y[1:]).square().sum() / len(y)",
        "(x[:-1] @ w - y[:-1]).square().sum() / len(y)",
        "(x[1:] @ w - y[1:]).square().sum() / max(1, len(y) - 1)",
        "(x[:-1] @ w - y[:-1]).square().sum() / max(1, len(y) - 1)",
    )
).feedback("You leave out the first or the last example. Check where your `range` or slice begins and ends.")
right.mistake("leaves_the_targets_out", {"x @ w - y": "x @ w"}, loses=STEP).feedback(
    "You do not use the targets `y`, so your loss is the mean of the squared predictions."
)
right.mistake("one_example_only", {"x @ w - y": "x[ONE] @ w - y[ONE]"}, loses=STEP).for_each(ONE=(0, -1)).feedback(
    "You use only one example. The loss is the mean over all of them, and `x @ w` has a prediction for each."
)
gradient_step.mistake("takes_several_steps", loses=STEP).full_code("""
def gradient_step(weights, x, y, rate):
    w = weights.detach().clone()
    for _ in range(STEPS):
        w.requires_grad_()
        loss = (x @ w - y).square().mean()
        w = (w - rate * torch.autograd.grad(loss, w)[0]).detach()
    return w
""").for_each(STEPS=(2, 3, 10, 100, "len(y)")).feedback("You take several steps in a loop. Take one.")
right.mistake("another_optimizer", {"w.detach() - rate * w.grad": "stepped(w, rate)"}, loses=STEP).patch("""
  def gradient_step(weights, x, y, rate):
+     def stepped(w, rate):
+         torch.optim.KIND([w], lr=rate).step()
+         return w.detach()
+
""").for_each(KIND=("Adam", "AdamW", "RMSprop", "Adagrad")).feedback(
    "Your optimizer changes the gradient before it steps, for example by dividing by its size. The step is the rate "
    "times the gradient, as in `torch.optim.SGD`."
)
