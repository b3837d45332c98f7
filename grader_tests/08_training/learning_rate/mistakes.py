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
    "Your first step has a learning rate of 0 and is wasted. Steps count from 0, so the share is (step + 1) / warmup."
)
right.mistake("warms_up_from_the_floor", {"peak *": "floor + (peak - floor) *"}, loses="a straight").feedback(
    "You start the warm-up at floor. It is a straight line through 0: floor is for the end."
)
right.mistake(
    "lifts_the_warm_up", {"peak * (step + 1) / warmup": "max(floor, peak * (step + 1) / warmup)"}, loses="a straight"
).feedback("You never let the warm-up go below floor. It is a straight line through 0: floor is for the end.")
right.mistake("divides_by_one_too_many", {"/ warmup": "/ (warmup + 1)"}, loses="a straight").feedback(
    "Your warm-up reaches the peak one step too late. It should be there at step = warmup - 1, so the divisor is "
    "warmup."
)
right.mistake("skips_the_warm_up", loses="a straight").patch("""
- if step < warmup:
-     return peak * (step + 1) / warmup
- r = min(1.0, (step - warmup) / (total - warmup))
+ r = min(1.0, max(0, step - warmup) / (total - warmup))
""").feedback("You leave out the warm-up: while step < warmup, the rate grows step by step.")
right.mistake(
    "warms_up_a_step_too_long", {"step < warmup": "step <= warmup", "/ warmup": "/ (warmup + 0)"}, loses="floor"
).feedback("You count the first step after the warm-up as part of it. The cosine begins at step = warmup.")
right.mistake(
    "counts_the_decay_from_zero", {"step - warmup": "step", "total - warmup": "total"}, loses="half a cosine"
).feedback("You count the decay from step 0, so the rate jumps down after the warm-up. r is 0 at step = warmup.")
right.mistake("stretches_the_decay", {"total - warmup": "total"}, loses="half a cosine").feedback(
    "You make the decay total steps long, so it ends after the training does. It has total - warmup steps."
)
right.mistake(
    "decays_in_a_straight_line", {"(1 + math.cos(math.pi * r)) / 2": "(1 - r)"}, loses="half a cosine"
).feedback("You let the rate decay in a straight line; it should be half a cosine.")
right.mistake("forgets_to_lift_the_cosine", loses="half a cosine").patch("""
- return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2
+ return floor + (peak - floor) * math.cos(math.pi * r)
""").feedback(
    "You do not shift the cosine up: cos alone goes from 1 to -1, which gives a negative rate. (1 + cos) / 2 goes "
    "from 1 to 0."
)
right.mistake("forgets_the_half", {") / 2": ")"}, loses="half a cosine").feedback(
    "You leave out the half: 1 + cos goes from 2 to 0, so the rate jumps to twice the peak."
)
right.mistake("takes_a_quarter_of_a_cosine", loses="half a cosine").patch("""
- return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2
+ return floor + (peak - floor) * math.cos(math.pi * r / 2)
""").feedback("You use a quarter of a cosine, cos(pi * r / 2), instead of half of one. It leaves the peak too slowly.")
right.mistake("forgets_pi", {"math.pi * r": "r"}, loses="half a cosine").feedback(
    "Your cosine only goes from 1 to 0.54, so the rate never comes near floor. Check how many radians half a turn has."
)
right.mistake("counts_in_degrees", {"math.pi": "180"}, loses="half a cosine").feedback(
    "You use degrees, but math.cos takes radians: half a turn is pi, not 180."
)
right.mistake("decays_a_step_early", {"step -": "step + 1 -"}, loses="half a cosine").feedback(
    "Your decay is one step ahead: r should be 0 at step = warmup and reach 1 only at step = total."
)
right.mistake("ends_a_step_early", {"(total": "max(1, total - 1"}, loses="half a cosine").feedback(
    "You end the decay at step total - 1. It has total - warmup steps and ends at total."
)
right.mistake(
    "rises_again", {"min(1.0, (step - warmup) / (total - warmup))": "(step - warmup) / (total - warmup)"}, loses="floor"
).feedback("You let the rate rise again past the end, as the cosine does. r must not exceed 1.")
right.mistake("drops_to_zero", loses="floor").patch("""
- r = min(1.0, (step - warmup) / (total - warmup))
+ if step > total:
+     return 0.0
+ r = (step - warmup) / (total - warmup)
""").feedback("You return 0 past the end. The rate stays at floor.")
right.mistake("ignores_the_floor", {"floor + (peak - floor)": "peak"}, loses="floor").feedback("You do not use floor.")
right.mistake("puts_the_floor_on_top", {"peak - floor": "peak"}, loses="floor").feedback(
    "You add floor on top, so the decay starts above the peak: the cosine should shrink peak - floor."
)
right.mistake("cuts_off_at_the_floor", loses="floor").patch("""
- return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2
+ return max(floor, peak * (1 + math.cos(math.pi * r)) / 2)
""").feedback("You cut the decay off at floor (`max`). It should arrive there: floor is where the cosine ends.")
right.mistake(arguments.valid_refused("refuses_no_warm_up"), {"0 <= warmup": "0 < warmup"}, loses="floor").feedback(
    "You refuse warmup = 0, which is allowed and means: start at the peak."
)
right.mistake("divides_by_no_warm_up", loses="floor").patch("""
- if step < warmup:
-     return peak * (step + 1) / warmup
+ up = UP
+ if step < warmup:
+     return up
""").for_each(UP=("peak * (step + 1) / warmup", "peak * ((step + 1) / warmup)")).feedback(
    "You divide by warmup before you know whether the step is in the warm-up, but warmup = 0 is allowed."
)
right.mistake(arguments.valid_refused("refuses_the_end"), loses=("floor", "half a cosine")).patch("""
+ if step >= total:
+     raise ValueError(f"step is {step}, total is {total}")
  if step < warmup:
@@
- r = min(1.0, (step - warmup) / (total - warmup))
+ r = (step - warmup) / (total - warmup)
""").feedback("You refuse steps past the end. From total on, the rate stays at floor.")
right.mistake(arguments.unchecked("checks_no_warm_up"), loses="a float").patch("""
- if not 0 <= warmup < total:
-     raise ValueError(f"warmup is {warmup}, total is {total}")
@@
- r = min(1.0, (step - warmup) / (total - warmup))
+ r = min(1.0, (step - warmup) / max(1, total - warmup))
""").feedback("You accept a warmup and a total that do not go together. Raise a ValueError unless 0 <= warmup < total.")
right.mistake(
    arguments.unchecked("allows_warm_up_to_the_end"),
    {"0 <= warmup < total": "0 <= warmup <= total", "total - warmup": "max(1, total - warmup)"},
    loses="a float",
).feedback("You accept warmup = total, which is an error too: it leaves no steps for the decay.")
right.mistake(arguments.unchecked("checks_after_the_warm_up"), loses="a float").patch("""
- if not 0 <= warmup < total:
-     raise ValueError(f"warmup is {warmup}, total is {total}")
  if step < warmup:
      return peak * (step + 1) / warmup
+ if not 0 <= warmup < total:
+     raise ValueError(f"warmup is {warmup}, total is {total}")
""").feedback(
    "You return before you check the arguments if the step is in the warm-up. Bad arguments are an error whatever "
    "the step."
)
right.mistake(
    arguments.unchecked("allows_a_negative_warm_up"), {"not 0 <= warmup <": "warmup >="}, loses="a float"
).feedback("You accept a negative warmup, which is an error too.")
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
        "You do not check the arguments, and where warmup equals total you divide by 0. Raise a ValueError unless "
        "0 <= warmup < total."
    ),
    loses="a float",
)
learning_rate.mistake("stays_the_same", loses=("a straight", "half a cosine")).full_code("""
def learning_rate(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    return float(peak)
""").feedback("Your rate does not change from step to step: it is the peak in all of them.")
right.mistake("divides_in_whole_numbers", loses=("a straight", "half a cosine")).patch("""
- return peak * (step + 1) / warmup
+ return peak * ((step + 1) // warmup)
@@
- r = min(1.0, (step - warmup) / (total - warmup))
+ r = min(1.0, (step - warmup) // (total - warmup))
""").feedback(
    "You divide by `//`, which rounds down, so the rate is 0 in the warm-up or stays at the peak. Divide by `/`."
)
learning_rate.mistake("stays_at_the_peak", loses="half a cosine").full_code("""
def learning_rate(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    return peak * (step + 1) / warmup if step < warmup else float(peak)
""").feedback("You leave the rate at the peak after the warm-up; half a cosine should take it down to floor.")
right.mistake("climbs_to_the_peak", {"(1 + math.cos": "(1 - math.cos"}, loses="half a cosine").feedback(
    "Your rate starts at floor after the warm-up and rises: the sign of the cosine is wrong."
)
right.mistake("rounds_the_rate", loses=("a straight", "half a cosine")).patch("""
- return peak * (step + 1) / warmup
+ return round(peak * (step + 1) / warmup, 6)
@@
- return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2
+ return round(floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2, 6)
""").feedback(
    "You round the learning rate, which leaves little of a small one. A rate of 3e-5 is usual for training a trained "
    "model further."
)
right.mistake("squares_the_peak", loses=("a straight", "half a cosine")).patch("""
  def learning_rate(step, warmup, total, peak, floor=0.0):
+     peak = peak * peak
""").feedback("You multiply by the peak twice, so the rate climbs to its square. Try a peak of 0.5.")
right.mistake(
    "spreads_from_zero_to_the_peak", {"(step + 1) / warmup": "step / max(1, warmup - 1)"}, loses="a straight"
).feedback(
    "Your warm-up goes from 0 to the peak like `linspace`, so its first step is wasted. The share is (step + 1) / "
    "warmup."
)
