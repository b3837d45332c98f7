"""Known mistakes in `gradient_step`."""

from .contract import gradient_step

STEP = "one step downhill"

right = gradient_step.base("""
def gradient_step(weights, x, y, rate):
    w = weights.detach().clone().requires_grad_()
    loss = (x @ w - y).square().mean()
    loss.backward()
    return w.detach() - rate * w.grad
""")

right.mistake("uphill", {"- rate * w.grad": "+ rate * w.grad"}, shows=STEP).says(
    "You go *up*: the gradient points to where the loss grows. Go against it."
)
right.mistake("no_rate", {"rate * w.grad": "w.grad"}, shows=STEP).says(
    "The whole gradient is taken away, whatever the rate. A step is rate times gradient."
)
right.mistake("sum_of_squares", {"square().mean()": "square().sum()"}, shows=STEP).says(
    "Your loss is the *sum* of the squared errors, so with more examples every step gets longer. Take their mean."
)
right.mistake("half_the_mean", {"square().mean()": "square().mean() / 2"}, shows=STEP).says(
    "Your step is half as long as asked for: some texts halve the mean squared error so that the 2 of the derivative "
    "drops out. Here the loss is the mean itself."
)
right.mistake("absolute_errors", {".square().mean()": ".abs().mean()"}, shows=STEP).says(
    "Your loss is the mean of the *absolute* errors. Squared ones pull harder, the further off they are."
)
right.mistake("does_not_square", {".square().mean()": ".mean()"}, shows=STEP).says(
    "The errors are not squared: errors above and below cancel, and the loss has no least value."
)
right.mistake("root_of_the_mean", {"square().mean()": "square().mean().sqrt()"}, shows=STEP).says(
    "Your loss is the *root* of the mean squared error; its gradient is another one."
)
right.mistake("square_of_the_mean", {"square().mean()": "mean().square()"}, shows=STEP).says(
    "The mean is taken before the square: errors above and below cancel. Square each error first."
)
right.mistake("every_error_with_every_target", {"x @ w - y": "x @ w[:, None] - y"}, shows=STEP).says(
    "Predictions of shape `(B, 1)` less targets of shape `(B,)` make `(B, B)`: every prediction against every target. "
    "Nothing warns you. Both have to be `(B,)`.",
    see="2. Shapes that stretch",
)
right.mistake("hands_out_the_gradient", {"w.detach() - rate * w.grad": "w.grad"}, shows=STEP).says(
    "This is the gradient. Asked for are the weights after the step."
)
right.mistake("hands_out_the_loss", {"w.detach() - rate * w.grad": "loss.detach()"}, shows=STEP).says(
    "This is the loss before the step. Asked for are the weights after it."
)
right.mistake("stays", {"w.detach() - rate * w.grad": "w.detach()"}, shows=STEP).says(
    "The weights come back as they were: the gradient was found and not used."
)
right.mistake(
    "a_step_of_one_length", {"rate * w.grad": "rate * w.grad / w.grad.norm().clamp(min=1e-12)"}, shows=STEP
).says("Your step has the same length however steep it is: the gradient was divided by its own length.")
right.mistake("changes_the_weights", shows="arguments").patch("""
- return w.detach() - rate * w.grad
+ return weights.detach().sub_(rate * w.grad)
""").says("The caller's own weights are changed: `sub_` and `-=` work in place. Make new ones.")
gradient_step.mistake("without_a_copy", shows="one step after").whole("""
def gradient_step(weights, x, y, rate):
    w = weights.requires_grad_()
    loss = (x @ w - y).square().mean()
    loss.backward()
    return w.detach() - rate * w.grad
""").says(
    "You mark the caller's own weights, so the next call from the same weights adds its gradient to the "
    "old one. Work on a copy: "
    "`weights.detach().clone()`."
)
gradient_step.mistake("marks_the_weights", shows="arguments").whole("""
def gradient_step(weights, x, y, rate):
    weights.requires_grad_().grad = None
    loss = (x @ weights - y).square().mean()
    loss.backward()
    return weights.detach() - rate * weights.grad
""").says(
    "You mark the caller's own weights, and leave a gradient with them. All arguments stay as they were: work on a "
    "copy, `weights.detach().clone()`."
)
right.mistake(
    "always_float32",
    {"return w.detach() - rate * w.grad": "return (w.detach() - rate * w.grad).float()"},
    shows="float64",
).says("The result is always float32. Let it have the dtype of the weights.")
