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
    "You go *up*: the gradient points to where the loss grows. Go against it."
)
right.mistake("no_rate", {"rate * w.grad": "w.grad"}, loses=STEP).feedback(
    "The whole gradient is taken away, whatever the rate. A step is rate times gradient."
)
right.mistake("sum_of_squares", {"square().mean()": "square().sum()"}, loses=STEP).feedback(
    "Your loss is the *sum* of the squared errors, so with more examples every step gets longer. Take their mean."
)
right.mistake("half_the_mean", {"square().mean()": "square().mean() / 2"}, loses=STEP).feedback(
    "Your step is half as long as asked for: some texts halve the mean squared error so that the 2 of the derivative "
    "drops out. Here the loss is the mean itself."
)
right.mistake("absolute_errors", {".square().mean()": ".abs().mean()"}, loses=STEP).feedback(
    "Your loss is the mean of the *absolute* errors. Squared ones pull harder, the further off they are."
)
right.mistake("does_not_square", {".square().mean()": ".mean()"}, loses=STEP).feedback(
    "The errors are not squared: errors above and below cancel, and the loss has no least value."
)
right.mistake("root_of_the_mean", {"square().mean()": "square().mean().sqrt()"}, loses=STEP).feedback(
    "Your loss is the *root* of the mean squared error; its gradient is another one."
)
right.mistake("square_of_the_mean", {"square().mean()": "mean().square()"}, loses=STEP).feedback(
    "The mean is taken before the square: errors above and below cancel. Square each error first."
)
right.mistake("every_error_with_every_target", {"x @ w - y": "x @ w[:, None] - y"}, loses=STEP).feedback(
    "Predictions of shape `(B, 1)` less targets of shape `(B,)` make `(B, B)`: every prediction against every target. "
    "Nothing warns you. Both have to be `(B,)`.",
    see="2. Shapes that stretch",
)
right.mistake("hands_out_the_gradient", {"w.detach() - rate * w.grad": "w.grad"}, loses=STEP).feedback(
    "This is the gradient. Asked for are the weights after the step."
)
right.mistake("hands_out_the_loss", {"w.detach() - rate * w.grad": "loss.detach()"}, loses=STEP).feedback(
    "This is the loss before the step. Asked for are the weights after it."
)
right.mistake("stays", {"w.detach() - rate * w.grad": "w.detach()"}, loses=STEP).feedback(
    "The weights come back as they were: the gradient was found and not used."
)
right.mistake(
    "a_step_of_one_length", {"rate * w.grad": "rate * w.grad / w.grad.norm().clamp(min=1e-12)"}, loses=STEP
).feedback("Your step has the same length however steep it is: the gradient was divided by its own length.")
right.mistake(arguments.argument_changed(what="the weights"), loses="arguments").patch("""
- return w.detach() - rate * w.grad
+ return weights.detach().sub_(rate * w.grad)
""")
right.mistake(arguments.argument_changed("without_a_copy"), {".detach().clone()": ""}, loses="one step after").feedback(
    "You mark the caller's own weights, so the next call from the same weights adds its gradient to the old one. Work "
    "on a copy: `weights.detach().clone()`."
)
gradient_step.mistake(arguments.argument_changed("marks_the_weights"), loses="arguments").full_code("""
def gradient_step(weights, x, y, rate):
    weights.requires_grad_().grad = None
    loss = (x @ weights - y).square().mean()
    loss.backward()
    return weights.detach() - rate * weights.grad
""").feedback(
    "You mark the caller's own weights, and leave a gradient with them. All arguments stay as they were: work on a "
    "copy, `weights.detach().clone()`."
)
right.mistake(numbers.result_float32(of="the weights"), loses="float64")
right.mistake(shapes.squeezed, {"x @ w": "x.squeeze() @ w"}, loses="any number")
right.mistake("mean_over_the_weights", {"square().mean()": "square().sum() / len(weights)"}, loses=STEP).feedback(
    "You divide the sum of squares by the number of weights, D. The mean is over the examples: divide by B, `len(y)`."
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
    "You step after every example, and the next one sees other weights. Take one step: along the gradient of the mean "
    "over all examples, at the weights as they came."
)
right.mistake("leaves_out_an_example", {"(x @ w - y).square().mean()": "LOSS"}, loses=STEP).for_each(
    LOSS=(
        "(x[1:] @ w - y[1:]).square().sum() / len(y)",
        "(x[:-1] @ w - y[:-1]).square().sum() / len(y)",
        "(x[1:] @ w - y[1:]).square().sum() / max(1, len(y) - 1)",
        "(x[:-1] @ w - y[:-1]).square().sum() / max(1, len(y) - 1)",
    )
).feedback(
    "The first or the last example does not count. Where does your `range` or slice begin, and where does it end?"
)
right.mistake("leaves_the_targets_out", {"x @ w - y": "x @ w"}, loses=STEP).feedback(
    "The targets `y` do not count: your loss is the mean of the squared predictions. An error is a prediction less its "
    "target."
)
right.mistake("one_example_only", {"x @ w - y": "x[ONE] @ w - y[ONE]"}, loses=STEP).for_each(ONE=(0, -1)).feedback(
    "Only one example counts. The loss is the mean over all of them: `x @ w` has a prediction for each."
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
    "This optimizer does not step along the gradient itself: it divides by its size, or changes the weights besides. "
    "The step is the rate times the gradient, as `torch.optim.SGD` takes it."
)
