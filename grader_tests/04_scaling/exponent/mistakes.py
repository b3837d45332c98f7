"""Known mistakes in `exponent`."""

from .contract import exponent

right = exponent.alternative("from_two_quotients")
four = exponent.alternative("from_four_logarithms")

right.mistake("slope_without_logarithms").patch("""
- return torch.log(y[-1] / y[0]) / torch.log(x[-1] / x[0])
+ return (y[-1] - y[0]) / (x[-1] - x[0])
""").feedback("You return the slope on ordinary axes. Take the logarithms of `x` and `y` first.")
right.mistake("upside_down").patch("""
- return torch.log(y[-1] / y[0]) / torch.log(x[-1] / x[0])
+ return torch.log(x[-1] / x[0]) / torch.log(y[-1] / y[0])
""").feedback("Your quotient is upside down: divide the logarithm of y's growth by that of x's.")
right.mistake("quotient_of_the_quotients").patch("""
- return torch.log(y[-1] / y[0]) / torch.log(x[-1] / x[0])
+ return (y[-1] / y[0]) / (x[-1] / x[0])
""").feedback("You divide the two quotients themselves. Divide their logarithms.")
right.mistake("logarithm_of_the_quotient").patch("""
- return torch.log(y[-1] / y[0]) / torch.log(x[-1] / x[0])
+ return torch.log((y[-1] / y[0]) / (x[-1] / x[0]))
""").feedback("You take the logarithm of a quotient of quotients. Take both logarithms first, and then divide.")
right.mistake("takes_last_for_first").patch("""
- return torch.log(y[-1] / y[0]) / torch.log(x[-1] / x[0])
+ return torch.log(y[0] / y[-1]) / torch.log(x[-1] / x[0])
""").feedback("The sign is wrong: you divide the last by the first in `x`, but the first by the last in `y`.")
right.mistake("last_point_only").patch("""
- return torch.log(y[-1] / y[0]) / torch.log(x[-1] / x[0])
+ return torch.log(y[-1]) / torch.log(x[-1])
""").feedback("You use the last point alone, which is right only if the curve starts at (1, 1). Use the first, too.")
four.mistake("logarithm_of_y_only", {"across, up = x.log(), y.log()": "across, up = x, y.log()"}).feedback(
    "You take the logarithm of `y` only. Both axes are logarithmic."
)
