"""Building blocks of the test cases of `MultiHeadLatentAttention`."""

from grading.exercises.exercise import EXERCISE, Script, helper, method, ref


def weights(draw, D, H, C, R):
    """A state dict whose enlarged queries give unequal weights, not one-hot."""
    rows = {"q": (D, D), "qr": (H * R, D), "c": (C, D), "k": (D, C), "v": (D, C), "kr": (R, D), "o": (D, D)}
    state = {f"W_{name}.weight": draw.normal(n, wide, scale=wide**-0.5) for name, (n, wide) in rows.items()}
    for name in ("q", "qr"):
        state[f"W_{name}.weight"] *= 1.5
    return state


def attend(state, n_heads, *, training=False, exactly=False, earlier=(), **inputs):
    """A module called with -x and with `earlier`, then with x and the other inputs: "out"."""
    s = Script(**inputs)
    sizes = len(state["W_o.weight"]), n_heads, len(state["W_c.weight"]), len(state["W_kr.weight"])
    m = s.call(EXERCISE, *sizes, name="module")
    s.call(helper("load_weights"), m, state, training=training, exactly=exactly)
    s.call(m, s.call(method(s.x, "neg"), name="other"))  # an earlier call must leave no trace
    if earlier:
        s.call(m, *earlier)
    s.call(m, s.x, **{name: ref(name) for name in inputs if name != "x"}, name="out")
    return s.case(ref("out"))


def turned(case, far):
    """Allow the error of float32 angles at positions up to `far`."""
    return case.tolerance(1e-4, max(2e-5, 2e-6 * far))
