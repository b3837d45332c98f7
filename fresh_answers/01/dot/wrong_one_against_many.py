# a vector of one entry is broadcast against a longer one, where a ValueError is asked
def dot(a, b):
    for name, vector in (("a", a), ("b", b)):
        if vector.dim() != 1:
            raise ValueError(f"{name} must have one dimension, but its shape is {tuple(vector.shape)}")
    try:
        return (a * b).sum()
    except RuntimeError:
        raise ValueError(f"a of shape {tuple(a.shape)} does not fit b") from None
