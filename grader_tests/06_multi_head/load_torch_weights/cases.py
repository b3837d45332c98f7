"""What the cases of `load_torch_weights` are made of, and how some are judged."""

import torch

from grading.judge.exercise import SUBJECT, Script, helper, method, ref, specimen

TOLD = ref("loaded"), ref("given")  # what ours and the result hold right after the call


def loading(
    ours_state,
    theirs_state,
    n_heads,
    batch_first=False,
    order=("W_q", "W_k", "W_v", "W_o"),
    *,
    told=False,
    training=False,
    **inputs,
):
    """A script with the inputs ours and theirs, in which the exercise has been called as "result".

    told      TOLD can be observed
    training  theirs is in training mode
    """
    width = len(ours_state["W_q.weight"])
    s = Script(
        ours=specimen("Projections", ours_state, width=width, n_heads=n_heads, order=list(order)),
        theirs=specimen("torch_attention", theirs_state, width=width, n_heads=n_heads, batch_first=batch_first),
        **inputs,
    )
    if training:
        s.call(method(s.theirs, "train"))
    s.call(SUBJECT, s.ours, s.theirs, name="result")
    if told:
        s.call(helper("state_of"), s.ours, name="loaded")
        s.call(helper("state_of"), ref("result"), name="given")
    return s


def went_backward(s, module, *inputs):
    """Add a backward() from the sum of the module's squared output; "gradients" is what it gives."""
    s.call(module, *inputs, name="out")
    s.call(method(ref("out", 0), "square"), name="squares")
    s.call(method(ref("squares"), "sum"), name="total")
    s.call(helper("backward"), ref("total"))
    s.call(helper("gradients_of"), module, name="gradients")


def loaded(theirs, judge):
    """`judge`, where numbers of theirs came over at all, into ours or into the result, wherever in it: what nothing was
    loaded into cannot be spoilt by loading."""
    numbers = torch.cat([one.flatten() for one in theirs.values()])

    def both(seen, exact):
        held = [*seen.values["loaded"].items(), *seen.values["given"].items()]
        weights = [weight for name, weight in held if name not in theirs]
        if not any(torch.isin(weight, numbers).double().mean() > 0.5 for weight in weights):
            return "nothing came over, neither into ours nor into the result"
        return judge(seen, exact)

    return both


def theirs_are_as_they_were(seen, exact):
    """Their weights to the bit; the gradients, where they were asked for, as far as rounding goes."""
    for name, right in exact.values["kept"].items():
        if not torch.equal(seen.values["kept"][name].double(), right):
            return f"{name} of theirs was changed"
    for name, right in exact.values.get("gradients", {}).items():
        got = seen.values["gradients"].get(name)
        if got is None or not torch.allclose(got.double(), right, rtol=1e-3, atol=1e-4 * float(right.abs().max())):
            return f"no gradient, or a wrong one, reaches {name} of theirs"
    return None if seen.values.get("modes") == exact.values.get("modes") else "theirs is in another mode than before"


def ours_are_as_they_were(seen, exact):
    before, after = seen.values["loaded"], seen.values["after"]
    same = all(torch.equal(before[name], after[name]) for name in exact.values["after"])
    return None if same else "ours changes where theirs is changed"


def ours_and_trainable(seen, exact):
    for name, right in exact.values["filled"].items():
        got = seen.values["filled"].get(name)
        if got is None or not torch.equal(got.double(), right):
            return "the result is not ours: filling ours with 9 does not fill it"
        gradient = seen.values["gradients"].get(name)
        if gradient is None or not gradient.any():
            return f"no gradient reaches {name} of ours: it cannot be trained"
    return None


def two_states(draw, width, dtype=torch.float32):
    ours = {f"W_{name}.weight": draw.normal(width, width, dtype=dtype) for name in "qkvo"}
    theirs = {
        "in_proj_weight": draw.normal(3 * width, width, dtype=dtype),
        "out_proj.weight": draw.normal(width, width, dtype=dtype),
    }
    return ours, theirs


def of_zeros(width):
    return {f"W_{name}.weight": torch.zeros(width, width) for name in "qkvo"}
