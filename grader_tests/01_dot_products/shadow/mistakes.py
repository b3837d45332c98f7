"""Known mistakes in `shadow`."""

from .contract import shadow

right = shadow.reference_answer("""
def shadow(a, b):
    length = (a * a).sum().sqrt()
    return (b * a).sum() / length
""")

right.mistake("returns_the_dot_product", {" / length": ""}).feedback(
    "You return the dot product, which is the length of `a` times the length of the shadow. Divide by the length of "
    "`a`."
)
right.mistake("divides_by_the_other_length", {"(a * a)": "(b * b)"}).feedback(
    "You divide by the length of `b`. That gives the shadow of `a` on the line through `b`. Divide by the length of "
    "`a`."
)
right.mistake("divides_by_the_squared_length", {".sum().sqrt()": ".sum()"}).feedback(
    "You divide by the *squared* length of `a`. Take the square root of `a · a` first."
)
right.mistake("returns_the_cosine", {"/ length": "/ (length * (b * b).sum().sqrt())"}).feedback(
    "You divide by both lengths, which gives the cosine of the angle. A longer `b` casts a longer shadow."
)
right.mistake("loses_the_sign", {"return (b * a).sum()": "return (b * a).sum().abs()"}).feedback(
    "Your shadow has lost its sign. It is negative where it points away from `a`."
)
right.mistake("returns_the_foot", {"/ length": "/ length**2 * a"}).feedback(
    "You return the shadow as a vector. Return its signed length, one number of shape `()`."
)
right.mistake("multiplies_by_the_length", {"/ length": "* length"}).feedback(
    "You multiply by the length of `a`. The dot product already contains it: divide."
)
right.mistake("measures_the_length_of_b", {"(b * a).sum() / length": "(b * b).sum().sqrt()"}).feedback(
    "You return the length of `b`, which is the length of the shadow only where `b` has the direction of `a`."
)
