"""Known mistakes in `learning_rate`."""

from ...shared.families import arguments
from .contract import learning_rate

right = learning_rate.reference_answer("""
def learning_rate(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2
""")

right.mistake("starts_at_zero", {"step + 1": "step"}, loses="a straight").feedback(
    "Your first step has a learning rate of 0 and is wasted: step counts from 0, so the share is (step + 1) / warmup."
)
right.mistake("warms_up_from_the_floor", {"peak *": "floor + (peak - floor) *"}, loses="a straight").feedback(
    "Your warm-up starts at floor. It is a straight line through 0: floor is for the end."
)
right.mistake(
    "lifts_the_warm_up", {"peak * (step + 1) / warmup": "max(floor, peak * (step + 1) / warmup)"}, loses="a straight"
).feedback("Your warm-up never goes below floor. It is a straight line through 0: floor is for the end.")
right.mistake("divides_by_one_too_many", {"/ warmup": "/ (warmup + 1)"}, loses="a straight").feedback(
    "Your line reaches its peak a step too late: at step = warmup - 1 it is there, so it is divided by warmup."
)
right.mistake("skips_the_warm_up", loses="a straight").patch("""
- if step < warmup:
-     return peak * (step + 1) / warmup
- r = min(1.0, (step - warmup) / (total - warmup))
+ r = min(1.0, max(0, step - warmup) / (total - warmup))
""").feedback("There is no warm-up: while step < warmup the rate grows step by step.")
right.mistake(
    "warms_up_a_step_too_long", {"step < warmup": "step <= warmup", "/ warmup": "/ (warmup + 0)"}, loses="floor"
).feedback("The first step after the warm-up is taken for part of it. At step = warmup the cosine begins.")
right.mistake(
    "counts_the_decay_from_zero", {"step - warmup": "step", "total - warmup": "total"}, loses="half a cosine"
).feedback("Your decay starts counting at step 0, so after the warm-up the rate jumps down. r is 0 at step = warmup.")
right.mistake("stretches_the_decay", {"total - warmup": "total"}, loses="half a cosine").feedback(
    "Your decay is total steps long and ends after the training does: it has total - warmup steps."
)
right.mistake(
    "decays_in_a_straight_line", {"(1 + math.cos(math.pi * r)) / 2": "(1 - r)"}, loses="half a cosine"
).feedback("Your decay is a straight line; it should be half a cosine.")
right.mistake("forgets_to_lift_the_cosine", loses="half a cosine").patch("""
- return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2
+ return floor + (peak - floor) * math.cos(math.pi * r)
""").feedback("Your cosine is not lifted: (1 + cos) / 2 goes from 1 to 0, cos alone from 1 to -1, a negative rate.")
right.mistake("forgets_the_half", {") / 2": ")"}, loses="half a cosine").feedback(
    "1 + cos goes from 2 to 0: without the half the rate jumps to twice the peak."
)
right.mistake("takes_a_quarter_of_a_cosine", loses="half a cosine").patch("""
- return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2
+ return floor + (peak - floor) * math.cos(math.pi * r / 2)
""").feedback("A quarter of a cosine, cos(pi * r / 2), is no half: it leaves the peak too slowly.")
right.mistake("forgets_pi", {"math.pi * r": "r"}, loses="half a cosine").feedback(
    "Your cosine goes from 1 to 0.54 only, and the rate never comes near floor. How many radians are half a turn?"
)
right.mistake("counts_in_degrees", {"math.pi": "180"}, loses="half a cosine").feedback(
    "math.cos counts in radians: half a turn is pi, not 180."
)
right.mistake("decays_a_step_early", {"step -": "step + 1 -"}, loses="half a cosine").feedback(
    "Your decay is a step ahead: r is 0 at step = warmup, and 1 at step = total, not before."
)
right.mistake("ends_a_step_early", {"(total": "max(1, total - 1"}, loses="half a cosine").feedback(
    "Your decay ends at step total - 1. It has total - warmup steps, and ends at total."
)
right.mistake(
    "rises_again", {"min(1.0, (step - warmup) / (total - warmup))": "(step - warmup) / (total - warmup)"}, loses="floor"
).feedback("Past the end your rate rises again, for so does the cosine. r must not grow beyond 1.")
right.mistake("drops_to_zero", loses="floor").patch("""
- r = min(1.0, (step - warmup) / (total - warmup))
+ if step > total:
+     return 0.0
+ r = (step - warmup) / (total - warmup)
""").feedback("Past the end your rate is 0. It stays at floor.")
right.mistake("ignores_the_floor", {"floor + (peak - floor)": "peak"}, loses="floor").feedback(
    "floor is taken and not used."
)
right.mistake("puts_the_floor_on_top", {"peak - floor": "peak"}, loses="floor").feedback(
    "floor is added on top, so the rate starts its decay above the peak: it is peak - floor that the cosine shrinks."
)
right.mistake("cuts_off_at_the_floor", loses="floor").patch("""
- return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2
+ return max(floor, peak * (1 + math.cos(math.pi * r)) / 2)
""").feedback("The decay is cut off at floor (`max`). It should arrive there: floor is where the cosine ends.")
right.mistake(arguments.valid_refused("refuses_no_warm_up"), {"0 <= warmup": "0 < warmup"}, loses="floor").feedback(
    "warmup = 0 is legal and means: start at the peak. You refuse it."
)
right.mistake("divides_by_no_warm_up", loses="floor").patch("""
- if step < warmup:
-     return peak * (step + 1) / warmup
+ up = UP
+ if step < warmup:
+     return up
""").for_each(UP=("peak * (step + 1) / warmup", "peak * ((step + 1) / warmup)")).feedback(
    "warmup = 0 is legal, and you divide by it before you know whether the step is one of the warm-up."
)
right.mistake(arguments.valid_refused("refuses_the_end"), loses=("floor", "half a cosine")).patch("""
+ if step >= total:
+     raise ValueError(f"step is {step}, total is {total}")
  if step < warmup:
@@
- r = min(1.0, (step - warmup) / (total - warmup))
+ r = (step - warmup) / (total - warmup)
""").feedback("You refuse steps past the end. From total on the rate is floor, for as long as anybody asks.")
right.mistake(arguments.unchecked("checks_no_warm_up"), loses="a float").patch("""
- if not 0 <= warmup < total:
-     raise ValueError(f"warmup is {warmup}, total is {total}")
@@
- r = min(1.0, (step - warmup) / (total - warmup))
+ r = min(1.0, (step - warmup) / max(1, total - warmup))
""").feedback(
    "A warmup and a total that do not go together are let through: raise a ValueError unless 0 <= warmup < total."
)
right.mistake(
    arguments.unchecked("allows_warm_up_to_the_end"),
    {"0 <= warmup < total": "0 <= warmup <= total", "total - warmup": "max(1, total - warmup)"},
    loses="a float",
).feedback("A warm-up of total steps leaves none for the decay: warmup = total is an error, too.")
right.mistake(arguments.unchecked("checks_after_the_warm_up"), loses="a float").patch("""
- if not 0 <= warmup < total:
-     raise ValueError(f"warmup is {warmup}, total is {total}")
  if step < warmup:
      return peak * (step + 1) / warmup
+ if not 0 <= warmup < total:
+     raise ValueError(f"warmup is {warmup}, total is {total}")
""").feedback("In a step of the warm-up you return before you check. Bad arguments are an error whatever the step.")
right.mistake(
    arguments.unchecked("allows_a_negative_warm_up"), {"not 0 <= warmup <": "warmup >="}, loses="a float"
).feedback("A negative warmup is an error, too.")
right.mistake(arguments.error_without_name(), loses="a float")
right.mistake("returns_a_rate_tensor", loses="a float").patch("""
  if step < warmup:
-     return peak * (step + 1) / warmup
- r = min(1.0, (step - warmup) / (total - warmup))
- return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2
+     return torch.tensor(peak * (step + 1) / warmup)
+ r = torch.tensor(min(1.0, (step - warmup) / (total - warmup)))
+ return floor + (peak - floor) * (1 + torch.cos(torch.pi * r)) / 2
""").feedback("You return a tensor. An optimizer's learning rate is a plain float.")
right.mistake(arguments.asserts(), loses="a float")
right.mistake(
    arguments.not_refused(
        "You check nothing, and where warmup equals total the division by total - warmup fails by itself. Raise a "
        "ValueError unless 0 <= warmup < total."
    ),
    loses="a float",
)
learning_rate.mistake("stays_at_the_peak", loses="half a cosine").full_code("""
def learning_rate(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    return peak * (step + 1) / warmup if step < warmup else float(peak)
""").feedback("After the warm-up your rate stays at the peak: half a cosine leads down to floor.")
right.mistake("climbs_to_the_peak", {"(1 + math.cos": "(1 - math.cos"}, loses="half a cosine").feedback(
    "After the warm-up your rate begins at floor and rises. The sign of the cosine is wrong."
)
right.mistake("rounds_the_rate", loses=("a straight", "half a cosine")).patch("""
- return peak * (step + 1) / warmup
+ return round(peak * (step + 1) / warmup, 6)
@@
- return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2
+ return round(floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2, 6)
""").feedback(
    "You round the learning rate. Of a small one, and 3e-5 is usual where a trained model is trained on, little is "
    "left."
)
right.mistake("squares_the_peak", loses=("a straight", "half a cosine")).patch("""
  def learning_rate(step, warmup, total, peak, floor=0.0):
+     peak = peak * peak
""").feedback("The peak is multiplied in twice, so that the rate climbs to its square. Try a peak of 0.5.")
right.mistake(
    "spreads_from_zero_to_the_peak", {"(step + 1) / warmup": "step / max(1, warmup - 1)"}, loses="a straight"
).feedback(
    "Your line begins at 0 and has reached the peak at the last step of the warm-up, as `linspace` would have it: the "
    "first step is wasted. The share is (step + 1) / warmup."
)
